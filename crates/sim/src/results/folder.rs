//! The folder that a run leaves: whole or not at all.

use super::tables::{TableFile, flow_table};
use super::{Flow, RunResult, tables, to_json};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why results could not be written.
#[derive(Debug, Error)]
pub enum FolderError {
    /// Something that is not a result folder stands there.
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
    #[error("cannot write {}: {}", path.display(), source)]
    Table {
        /// The table's file.
        path: PathBuf,
        /// Why not.
        source: parquet::errors::ParquetError,
    },
}

/// The cause without the system's error number.
fn plain(error: &io::Error) -> String {
    if error.kind() == io::ErrorKind::AlreadyExists {
        return "it is not a folder".to_owned();
    }
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}

/// Results being written beside their place; they move there when all are written.
#[derive(Debug)]
pub struct Folder {
    target: PathBuf,
    temporary: PathBuf,
}

impl Folder {
    /// Makes sure that results can stand at `target`, and opens a folder beside it to write them into.
    pub fn create(target: &Path) -> Result<Self, FolderError> {
        let name = target.file_name().map(|name| name.to_string_lossy().into_owned());
        let (Some(name), false) = (name, is_foreign(target)) else {
            return Err(FolderError::NotResults(target.to_owned()));
        };
        let parent = match target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let temporary = parent.join(format!(".{name}.partial-{}", std::process::id()));
        // Left by a process of this number that was killed.
        let _ = fs::remove_dir_all(&temporary);
        fs::create_dir_all(parent)
            .and_then(|()| fs::create_dir(&temporary))
            .map_err(|source| FolderError::Io { path: parent.to_owned(), source })?;
        Ok(Self { target: target.to_owned(), temporary })
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
        let path = self.temporary.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        File::create(path)
    }

    /// The error of a file that could not be written, named by its final place.
    pub fn failed(&self, name: &str, source: io::Error) -> FolderError {
        FolderError::Io { path: self.target.join(name), source }
    }

    /// A table of connections under `prefix`, of nodes of these names, to be written while they end.
    pub fn flows(&self, prefix: &str, nodes: Vec<String>) -> FlowFile<'_> {
        FlowFile { folder: self, name: format!("{prefix}flows.parquet"), nodes, state: FlowState::Unopened }
    }

    /// Writes the summary and the tables of a run under `prefix` ("" or "seed-3/").
    pub fn run(&self, prefix: &str, result: &RunResult) -> Result<(), FolderError> {
        self.file(&format!("{prefix}result.json"), to_json(result).as_bytes())?;
        for table in tables(result) {
            let name = format!("{prefix}{}.parquet", table.name);
            let mut file = self.open(&name).map_err(|source| self.failed(&name, source))?;
            table.write(&mut file).map_err(|source| FolderError::Table { path: self.target.join(&name), source })?;
            file.sync_all().map_err(|source| self.failed(&name, source))?;
        }
        Ok(())
    }

    /// Moves the folder to its place; earlier results there go.
    pub fn commit(self) -> Result<(), FolderError> {
        let failed = |source| FolderError::Io { path: self.target.clone(), source };
        if !self.target.exists() {
            return fs::rename(&self.temporary, &self.target).map_err(failed);
        }
        // Checked again: the run may have taken long.
        if is_foreign(&self.target) {
            return Err(FolderError::NotResults(self.target.clone()));
        }
        let earlier = self.temporary.with_extension("earlier");
        fs::rename(&self.target, &earlier).map_err(failed)?;
        if let Err(source) = fs::rename(&self.temporary, &self.target) {
            let _ = fs::rename(&earlier, &self.target);
            return Err(failed(source));
        }
        let _ = fs::remove_dir_all(&earlier);
        Ok(())
    }
}

/// The table of connections of a run that has too many to hold them.
pub struct FlowFile<'a> {
    folder: &'a Folder,
    name: String,
    nodes: Vec<String>,
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
        let path = || self.folder.target.join(&self.name);
        let refused = |source| FolderError::Table { path: path(), source };
        let rows = flow_table(flows, &self.nodes);
        if matches!(self.state, FlowState::Unopened) {
            let file = self.folder.open(&self.name).map_err(|source| self.folder.failed(&self.name, source))?;
            self.state = FlowState::Open(rows.begin(file).map_err(refused)?);
        }
        match &mut self.state {
            FlowState::Open(file) => file
                .append(rows)
                .map_err(|source| FolderError::Table { path: self.folder.target.join(&self.name), source }),
            _ => Ok(()),
        }
    }
    /// Ends the table, if there is one.
    pub fn finish(self) -> Result<(), FolderError> {
        match self.state {
            FlowState::Unopened => Ok(()),
            FlowState::Failed(error) => Err(error),
            FlowState::Open(file) => {
                let path = self.folder.target.join(&self.name);
                file.finish().map_err(|source| FolderError::Table { path, source })
            }
        }
    }
}

impl Drop for Folder {
    /// What was not committed goes.
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.temporary);
    }
}

/// Whether something stands there that is neither an empty folder nor earlier results.
fn is_foreign(target: &Path) -> bool {
    if !target.exists() {
        return target.is_symlink();
    }
    let ours = |name| fs::read_to_string(target.join(name)).is_ok_and(|text| text.contains("\"schema\": \"trunkline-"));
    let empty = || fs::read_dir(target).is_ok_and(|mut entries| entries.next().is_none());
    !(target.is_dir() && (empty() || ours("result.json") || ours("runs.json")))
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
            folder.run("", &RunResult { seed, ..RunResult::default() }).expect("written");
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
