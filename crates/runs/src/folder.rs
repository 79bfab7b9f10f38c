//! The result folder of a run. It appears complete, or not at all.

use crate::Stop;
use crate::error::cause;
use crate::partial::{Partial, parent, resolve};
use parquet::errors::ParquetError;
use results::{Flow, Node, RunResult, TableFile, flow_table, tables, to_json};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why results could not be written.
#[derive(Debug, Error)]
pub enum FolderError {
    /// The path exists and is not a result folder.
    #[error("{} exists and is not a result folder; it is left as it is", .0.display())]
    NotResults(PathBuf),
    /// The system refused.
    #[error("cannot write {}: {}", path.display(), plain(source))]
    Io {
        /// What was written.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A table could not be encoded or written.
    #[error("cannot write {}: {}", path.display(), of_table(source))]
    Table {
        /// The table's file.
        path: PathBuf,
        /// Why not.
        source: ParquetError,
    },
    /// Somebody asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// The cause without the system's error number.
fn plain(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::AlreadyExists => "it is not a folder".to_owned(),
        io::ErrorKind::InvalidFilename => "this name is too long".to_owned(),
        io::ErrorKind::NotFound => "no folder can be made there".to_owned(),
        _ => cause(error),
    }
}

/// The cause of a table that could not be written, in the system's words where they are its.
fn of_table(error: &ParquetError) -> String {
    match error {
        ParquetError::External(source) => {
            source.downcast_ref().map_or_else(|| source.to_string(), |source: &io::Error| plain(source))
        }
        other => other.to_string(),
    }
}

/// A result folder being written. It is written beside its place and moved there when complete.
#[derive(Debug)]
pub struct Folder {
    /// The path as the caller gave it, for messages.
    target: PathBuf,
    /// That path with symbolic links resolved.
    place: PathBuf,
    temporary: Partial,
}

impl Folder {
    /// Makes sure that results can stand at `target`, and opens a folder beside it to write them into. Where `target`
    /// is a symbolic link, results go to what it points to.
    pub fn create(target: &Path) -> Result<Self, FolderError> {
        Self::at(place_of(target)?, target)
    }

    /// Opens a folder for results that will stand at `place`; messages say `target`.
    pub(crate) fn at(place: PathBuf, target: &Path) -> Result<Self, FolderError> {
        let failed = |source: io::Error| {
            // What the folder refuses is said of the folder; what is wrong with the name, or finds no folder in which
            // names can be made, of the name.
            let of_name = matches!(source.kind(), io::ErrorKind::InvalidFilename | io::ErrorKind::NotFound);
            let path = if of_name { target } else { parent(target) };
            FolderError::Io { path: path.to_owned(), source }
        };
        let temporary = Partial::folder(&place).map_err(failed)?;
        Ok(Self { target: target.to_owned(), place, temporary })
    }

    /// Writes one file of the folder.
    pub fn file(&self, name: &str, content: &[u8]) -> Result<(), FolderError> {
        let written = self.open(name).and_then(|mut file| {
            file.write_all(content)?;
            file.sync_all()
        });
        written.map_err(|source| self.failed(name, source))
    }

    /// Opens a file of the folder for a writer of its own.
    pub fn open(&self, name: &str) -> io::Result<File> {
        File::create(self.temporary.path().join(name))
    }

    /// Where it lies until it is complete.
    pub fn path(&self) -> &Path {
        self.temporary.path()
    }

    /// The error of a file that could not be written, named by its final place.
    pub fn failed(&self, name: &str, source: io::Error) -> FolderError {
        FolderError::Io { path: self.target.join(name), source }
    }

    /// The table of connections, of nodes of these names, to be written while they end; those of a run by flows lack
    /// what only packets show.
    pub fn flows(&self, nodes: Vec<String>, by_flows: bool) -> FlowFile<'_> {
        let node = |name| Node { name, ..Node::default() };
        let nodes = nodes.into_iter().map(node).collect();
        let run = RunResult { nodes, by_flows, ..RunResult::default() };
        FlowFile { folder: self, run, state: FlowState::Unopened }
    }

    /// Writes the summary and the tables of a run. Stops between two tables.
    pub fn run(&self, result: &RunResult, stop: &Stop) -> Result<(), FolderError> {
        let look = || if stop.requested() { Err(FolderError::Interrupted) } else { Ok(()) };
        look()?;
        self.file("result.json", to_json(result).as_bytes())?;
        for table in tables(result) {
            look()?;
            let name = format!("{}.parquet", table.name);
            let mut file = self.open(&name).map_err(|source| self.failed(&name, source))?;
            table.write(&mut file).map_err(|source| FolderError::Table { path: self.target.join(&name), source })?;
            file.sync_all().map_err(|source| self.failed(&name, source))?;
        }
        look()
    }

    /// Moves the folder to its place, and removes earlier results there.
    pub fn commit(self) -> Result<(), FolderError> {
        move_to_place(self.temporary.path(), &self.place, &self.target)
    }
}

/// The place that a target means, if results can stand there.
pub(crate) fn place_of(target: &Path) -> Result<PathBuf, FolderError> {
    let failed = |source| FolderError::Io { path: target.to_owned(), source };
    let place = resolve(target).map_err(failed)?;
    if place.file_name().is_none() || is_foreign(&place) {
        return Err(FolderError::NotResults(target.to_owned()));
    }
    Ok(place)
}

/// Moves a whole folder to its place. Earlier results there are exchanged for it in one step and then removed from
/// where it was, so that there is no moment without results.
pub(crate) fn move_to_place(whole: &Path, place: &Path, target: &Path) -> Result<(), FolderError> {
    let failed = |source| FolderError::Io { path: target.to_owned(), source };
    if !place.exists() {
        return fs::rename(whole, place).map_err(failed);
    }
    // Checked again: the run may have taken long.
    if is_foreign(place) {
        return Err(FolderError::NotResults(target.to_owned()));
    }
    match renameat_with(CWD, whole, CWD, place, RenameFlags::EXCHANGE) {
        Ok(()) => {}
        // The file system cannot do that.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            let mut earlier = whole.as_os_str().to_owned();
            earlier.push("-earlier");
            fs::rename(place, &earlier).map_err(failed)?;
            if let Err(source) = fs::rename(whole, place) {
                let _ = fs::rename(&earlier, place);
                return Err(failed(source));
            }
            let _ = fs::remove_dir_all(&earlier);
            return Ok(());
        }
        Err(error) => return Err(failed(error.into())),
    }
    let _ = fs::remove_dir_all(whole);
    Ok(())
}

/// The table of connections.
const FLOWS: &str = "flows.parquet";

/// The table of connections of a run that has too many to hold them.
pub struct FlowFile<'a> {
    folder: &'a Folder,
    /// The nodes that the connections refer to; the rest is not known yet.
    run: RunResult,
    state: FlowState,
}

enum FlowState {
    Unopened,
    Open(TableFile<File>),
    Failed(FolderError),
}

impl FlowFile<'_> {
    /// Writes rows. An error shows at the end.
    pub fn take(&mut self, flows: &[Flow]) {
        if let Err(error) = self.append(flows) {
            self.state = FlowState::Failed(error);
        }
    }
    fn append(&mut self, flows: &[Flow]) -> Result<(), FolderError> {
        let path = || self.folder.target.join(FLOWS);
        let refused = |source| FolderError::Table { path: path(), source };
        let rows = flow_table(flows, &self.run);
        if matches!(self.state, FlowState::Unopened) {
            let file = self.folder.open(FLOWS).map_err(|source| self.folder.failed(FLOWS, source))?;
            self.state = FlowState::Open(rows.begin(file).map_err(refused)?);
        }
        match &mut self.state {
            FlowState::Open(file) => {
                file.append(rows).map_err(|source| FolderError::Table { path: self.folder.target.join(FLOWS), source })
            }
            _ => Ok(()),
        }
    }
    /// Ends the table, if there is one.
    pub fn finish(self) -> Result<(), FolderError> {
        match self.state {
            FlowState::Unopened => Ok(()),
            FlowState::Failed(error) => Err(error),
            FlowState::Open(file) => {
                let path = self.folder.target.join(FLOWS);
                file.finish().map_err(|source| FolderError::Table { path, source })
            }
        }
    }
}

/// Whether something stands there that is neither an empty folder nor earlier results.
fn is_foreign(target: &Path) -> bool {
    if !target.exists() {
        return false;
    }
    let ours = |name| fs::read_to_string(target.join(name)).is_ok_and(|text| text.contains("\"schema\": \"trunkline-"));
    let empty = || fs::read_dir(target).is_ok_and(|mut entries| entries.next().is_none());
    !(target.is_dir() && (empty() || ["result.json", "runs.json", "comparison.json"].into_iter().any(ours)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("trunkline-folder-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a scratch folder");
        path
    }

    fn names(path: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(path)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn results_appear_whole_and_replace_earlier_ones() {
        let scratch = scratch("whole");
        let target = scratch.join("deep/out");
        for seed in [1, 2] {
            let folder = Folder::create(&target).expect("a place");
            folder.run(&RunResult { seed, ..RunResult::default() }, &Stop::new()).expect("written");
            assert_eq!(target.exists(), seed == 2, "nothing before the commit");
            folder.commit().expect("committed");
            let text = fs::read_to_string(target.join("result.json")).expect("a summary");
            assert!(text.contains(&format!("\"seed\": {seed},")), "{text}");
        }
        assert_eq!(names(&scratch.join("deep")), ["out"], "nothing else is left");
        assert_eq!(names(&target).len(), 13, "a summary and twelve tables");
        fs::remove_dir_all(scratch).expect("cleaned up");
    }

    #[test]
    fn what_is_not_committed_leaves_nothing() {
        let scratch = scratch("dropped");
        let folder = Folder::create(&scratch.join("out")).expect("a place");
        folder.file("result.json", b"{").expect("written");
        drop(folder);
        assert!(names(&scratch).is_empty());
        fs::remove_dir_all(scratch).expect("cleaned up");
    }

    #[test]
    fn a_folder_of_something_else_is_left_alone() {
        let scratch = scratch("foreign");
        fs::write(scratch.join("thesis.tex"), "years of work").expect("written");
        let error = Folder::create(&scratch).expect_err("not ours").to_string();
        assert!(error.contains("is not a result folder"), "{error}");
        let error = Folder::create(&scratch.join("thesis.tex")).expect_err("a file").to_string();
        assert!(error.contains("is not a result folder"), "{error}");
        let error = Folder::create(&scratch.join("thesis.tex/out")).expect_err("below a file").to_string();
        assert!(error.contains("thesis.tex: it is not a folder"), "{error}");
        assert_eq!(names(&scratch), ["thesis.tex"]);
        fs::remove_dir_all(scratch).expect("cleaned up");
    }
}
