//! Recorded jobs among files and folders, each with the configuration that its cluster left beside it.

use crate::input::{is_standard_input, shown};
use crate::{Error, Inputs};
use history::{Format, HistoryError, JobHistory, Memory, Problem, Properties, unpack};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A recorded job.
#[derive(Clone, Debug)]
pub struct Found {
    /// The job.
    pub job: JobHistory,
    /// The format of its history.
    pub format: Format,
    /// The file of its history.
    pub file: PathBuf,
    /// Its configuration (`job_*_conf.xml`), with the file that holds it.
    pub configuration: Option<(PathBuf, Properties)>,
}

/// Which of several jobs are wanted.
#[derive(Clone, Copy, Debug)]
pub enum Which<'a> {
    /// The only one, or the one of that identifier: `ID`, or `ID#2` for the second of two jobs of one identifier.
    One(Option<&'a str>),
    /// All.
    All,
}

/// A configuration that was named or found in a folder.
struct Configuration {
    file: PathBuf,
    properties: Properties,
    /// The job of which it is, by its own words or by the file's name.
    job: Option<String>,
    paired: bool,
}

/// Files that are looked at in a folder, and folders within folders.
const MOST_FILES: usize = 100_000;
const DEEPEST: usize = 12;

/// At most this many jobs are named in a message.
const NAMED_JOBS: usize = 20;

/// Bytes of a file by which it is told whether it may be a history.
const LOOK_BYTES: u64 = 4096;

/// Endings of compressed files.
const COMPRESSED: [&str; 6] = ["", ".gz", ".zst", ".bz2", ".gzip", ".zstd"];

impl Inputs<'_> {
    /// The only recorded job of files and folders, or the one of that identifier.
    pub fn job(&self, paths: &[PathBuf], id: Option<&str>) -> Result<Found, Error> {
        let one = self.jobs(paths, Which::One(id))?.pop();
        one.ok_or_else(|| Error::Internal("no job of one".to_owned()))
    }

    /// Reads the recorded jobs of files and of folders, such as a history server's `done` folder. A file's kind is
    /// found by looking at its content. A configuration is paired with the history of its job.
    pub fn jobs(&self, paths: &[PathBuf], which: Which) -> Result<Vec<Found>, Error> {
        let (mut files, mut configurations) = (Vec::new(), Vec::new());
        let mut listed = Vec::new();
        for path in paths {
            if !is_standard_input(path) && path.is_dir() {
                let within = in_folder(path)?;
                if within.is_empty() {
                    return Err(Error::Input(format!(
                        "{} holds no history: expected files such as job_1795217314114_0002-....jhist, which a history \
                         server keeps below mapreduce.jobhistory.done-dir",
                        path.display()
                    )));
                }
                listed.extend(within);
            } else {
                files.push((path.clone(), true));
            }
        }
        // Of a folder, only what is wanted is read: it may hold all jobs of a year.
        let (listed_configurations, mut listed): (Vec<_>, Vec<_>) =
            listed.into_iter().partition(|f| is_configuration(f));
        if let Which::One(wanted) = which {
            let wanted = wanted.map(|id| id.split('#').next().unwrap_or(id));
            if listed.iter().any(|file| wanted.is_some() && job_of_name(file) == wanted) {
                listed.retain(|file| job_of_name(file) == wanted);
            } else if wanted.is_none() && listed.len() > 1 && listed.iter().all(|file| job_of_name(file).is_some()) {
                let names: Vec<_> = listed.iter().filter_map(|file| job_of_name(file)).map(str::to_owned).collect();
                let first = paths.first().map(|path| shown(path)).unwrap_or_default();
                return Err(several(&first, &names));
            }
        }
        files.extend(listed.into_iter().map(|file| (file, false)));

        let mut memory = Memory::default();
        let mut found = Vec::new();
        for (file, named) in files {
            let bytes = self.unpacked(&file)?;
            if Properties::looks_like(&bytes) {
                configurations.push(configuration(file, &bytes)?);
                continue;
            }
            match history::read_into(&bytes, &mut memory) {
                Ok((format, jobs)) => found.extend(jobs.into_iter().map(|job| {
                    let file = file.clone();
                    Found { job, format, file, configuration: None }
                })),
                // A folder holds other files too.
                Err(HistoryError { problem: Problem::UnknownFormat { .. }, .. }) if !named => {}
                Err(error) => return Err(Error::Input(format!("{}: {error}", shown(&file)))),
            }
        }
        if found.is_empty() {
            let names: Vec<_> = paths.iter().map(|path| shown(path)).collect();
            return Err(Error::Input(format!("no history among {}: name one, or its folder", names.join(", "))));
        }
        let mut found = match which {
            Which::All => found,
            Which::One(id) => vec![pick(found, paths, id)?],
        };
        for one in &mut found {
            self.pair(one, &mut configurations, &listed_configurations)?;
        }
        if let Some(other) = configurations.iter().find(|c| !c.paired) {
            return Err(of_another_job(&other.file, other.job.as_deref().unwrap_or("another job"), &found[0].job.id));
        }
        Ok(found)
    }

    /// The configuration of a job: one that was named, or found with its history in a folder, or beside its file.
    fn pair(&self, found: &mut Found, named: &mut [Configuration], listed: &[PathBuf]) -> Result<(), Error> {
        let id = found.job.id.clone();
        // One without a name of its own is of the only job there is.
        let only = named.len() == 1;
        let own = named.iter_mut().find(|c| c.job.as_ref().map_or(only, |job| *job == id));
        if let Some(own) = own {
            own.paired = true;
            found.configuration = Some((own.file.clone(), own.properties.clone()));
            return Ok(());
        }
        let listed = listed.iter().find(|file| job_of_name(file) == Some(&id)).cloned();
        let Some(file) = listed.or_else(|| beside(&found.file, &id)) else { return Ok(()) };
        let bytes = self.unpacked(&file)?;
        let own = configuration(file, &bytes)?;
        match own.job {
            Some(job) if job != id => Err(of_another_job(&own.file, &job, &id)),
            _ => {
                found.configuration = Some((own.file, own.properties));
                Ok(())
            }
        }
    }

    /// A file's content, uncompressed. The compressed bytes are not kept beside it.
    pub fn unpacked(&self, file: &Path) -> Result<Vec<u8>, Error> {
        let bytes = self.bytes(file)?;
        match unpack(&bytes) {
            Ok(Cow::Owned(unpacked)) => Ok(unpacked),
            Ok(Cow::Borrowed(_)) => Ok(bytes),
            Err(error) => Err(Error::Input(format!("{}: {error}", shown(file)))),
        }
    }
}

/// Reads a configuration. Its job is the one that it names; if it names none, the one that its file's name does.
fn configuration(file: PathBuf, bytes: &[u8]) -> Result<Configuration, Error> {
    let properties = Properties::read(bytes, "").map_err(|e| Error::Input(format!("{}: {e}", shown(&file))))?;
    let job = properties.job_id().or_else(|| job_of_name(&file).map(str::to_owned));
    Ok(Configuration { file, properties, job, paired: false })
}

fn of_another_job(file: &Path, other: &str, own: &str) -> Error {
    Error::Input(format!(
        "{} is the configuration of {other}, and the history is of {own}: name {own}_conf.xml, or leave it out",
        shown(file)
    ))
}

/// The job that a file's name names.
fn job_of_name(file: &Path) -> Option<&str> {
    history::job_id_within(file.file_name()?.to_str()?)
}

/// Whether a file has the name of a configuration, compressed or not.
fn is_configuration(file: &Path) -> bool {
    let name = file.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    COMPRESSED.iter().any(|ending| name.ends_with(&format!("_conf.xml{ending}")))
}

/// The configuration of a job in the folder of its history: `job_1_2_conf.xml`, or with the JobTracker's name before.
fn beside(history: &Path, id: &str) -> Option<PathBuf> {
    if is_standard_input(history) {
        return None;
    }
    let folder = history.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = fs::read_dir(folder).ok()?.take(MOST_FILES);
    let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
    files.filter(|file| is_configuration(file) && job_of_name(file) == Some(id)).min()
}

/// The files of a folder and of those within it that may be histories or configurations, in the order of their names.
fn in_folder(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let (mut files, mut count) = (Vec::new(), 0);
    let mut folders = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let failed = |error: io::Error| Error::reading(&folder, &error);
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            count += 1;
            if count > MOST_FILES || depth == DEEPEST {
                let folder = folder.display();
                return Err(Error::Input(format!(
                    "{folder}: more than {MOST_FILES} files, or folders nested deeper than {DEEPEST}: name a folder \
                     within it"
                )));
            }
            let (path, kind) = (entry.path(), entry.file_type().map_err(failed)?);
            // Checksums of Hadoop's local file system, `.job_1_2.jhist.crc`, and what editors leave.
            if entry.file_name().as_encoded_bytes().starts_with(b".") {
                continue;
            }
            if kind.is_dir() {
                folders.push((path, depth + 1));
            } else if path.is_file() && may_be_recorded(&path) {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Whether a file in a folder is worth reading, by its name or its first bytes. Summaries are the history server's.
fn may_be_recorded(file: &Path) -> bool {
    let name = file.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    if name.ends_with(".summary") {
        return false;
    }
    let mut start = Vec::new();
    let read = fs::File::open(file).and_then(|file| file.take(LOOK_BYTES).read_to_end(&mut start));
    is_configuration(file) || read.is_ok() && Format::may_be(&start)
}

/// The wanted job of several, of one file or of all that were named.
fn pick(mut found: Vec<Found>, paths: &[PathBuf], id: Option<&str>) -> Result<Found, Error> {
    let file = if found.iter().all(|one| one.file == found[0].file) {
        shown(&found[0].file)
    } else {
        paths.iter().map(|path| shown(path)).collect::<Vec<_>>().join(", ")
    };
    let jobs: Vec<_> = found.iter().map(|one| &one.job).collect();
    let index = pick_index(&file, &jobs, id)?;
    Ok(found.swap_remove(index))
}

/// The job of that identifier among those of a file, or the second of two with `ID#2`; the only one where no identifier
/// is given.
pub fn pick_job(file: &Path, mut jobs: Vec<JobHistory>, id: Option<&str>) -> Result<JobHistory, Error> {
    let index = pick_index(&shown(file), &jobs.iter().collect::<Vec<_>>(), id)?;
    Ok(jobs.swap_remove(index))
}

fn pick_index(file: &str, jobs: &[&JobHistory], id: Option<&str>) -> Result<usize, Error> {
    let Some(id) = id else {
        return if jobs.len() == 1 { Ok(0) } else { Err(several(file, &names(jobs))) };
    };
    let (bare, number) = match id.rsplit_once('#') {
        Some((bare, number)) => (bare, number.parse::<usize>().ok().filter(|number| *number > 0)),
        None => (id, None),
    };
    let places: Vec<usize> = (0..jobs.len()).filter(|place| jobs[*place].id == bare).collect();
    match (places.as_slice(), number) {
        ([], _) => Err(Error::Input(format!("{file} has no job {id}; {}", known(&names(jobs))))),
        ([only], None) => Ok(*only),
        (several, None) => Err(Error::Input(format!(
            "{file} has {} jobs {id}: name one with --job '{id}#1' and so on; {}",
            several.len(),
            known(&names(jobs))
        ))),
        (places, Some(number)) => places.get(number - 1).copied().ok_or_else(|| {
            Error::Input(format!("{file} has {} jobs {bare}, and not {number}; {}", places.len(), known(&names(jobs))))
        }),
    }
}

/// How each job is named with `--job`.
fn names(jobs: &[&JobHistory]) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for job in jobs {
        *counts.entry(&job.id).or_default() += 1;
    }
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut names = Vec::new();
    for job in jobs {
        let number = seen.entry(&job.id).or_default();
        *number += 1;
        names.push(match counts.get(job.id.as_str()) {
            Some(1) => job.id.clone(),
            _ => format!("{}#{number} (submitted at {} ms)", job.id, job.submit_ms),
        });
    }
    names
}

fn several(file: &str, names: &[String]) -> Error {
    Error::Input(format!("{file} has several jobs: name one with --job, or take --all of them; {}", known(names)))
}

fn known(names: &[String]) -> String {
    let more = if names.len() > NAMED_JOBS { ", ..." } else { "" };
    let names: Vec<_> = names.iter().take(NAMED_JOBS).map(String::as_str).collect();
    format!("its jobs: {}{more}", names.join(", "))
}
