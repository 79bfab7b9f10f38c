//! The folder of a study. Unlike a run's it fills during the study, so that an interrupted study can continue.

use crate::{Error, write_whole};
use std::fs;
use std::path::{Path, PathBuf};
use study::{PlannedRun, Record, SCHEMA};

/// A study's folder.
pub(crate) struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Opens or makes it. Fails on a path that is something else.
    pub fn open(path: &Path, study: &str) -> Result<Self, Error> {
        let folder = Self { path: path.to_owned() };
        let ours = || fs::read_to_string(path.join("study.json")).is_ok_and(|text| text.contains(SCHEMA));
        let empty = || fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
        if path.exists() && !ours() && !empty() {
            let message = format!("{} exists and is not a study's folder; it is left as it is", path.display());
            return Err(Error::Output(message));
        }
        fs::create_dir_all(path.join("runs")).map_err(|error| Error::writing(path, &error))?;
        if !ours() {
            // Marks the folder as a study's while the study runs.
            let unfinished =
                format!("{{\n  \"schema\": \"{SCHEMA}\",\n  \"name\": \"{study}\",\n  \"unfinished\": true\n}}\n");
            folder.file("study.json", unfinished.as_bytes())?;
        }
        Ok(folder)
    }

    /// The record of a run that an earlier call of this build kept.
    pub fn record(&self, run: &PlannedRun, program: &str) -> Option<Record> {
        let text = fs::read_to_string(self.path.join("runs").join(Record::file_name(run))).ok()?;
        Record::read(&text, run, program)
    }

    /// Keeps the record of a run.
    pub fn keep(&self, run: &PlannedRun, text: &str) -> Result<(), Error> {
        self.file(&format!("runs/{}", Record::file_name(run)), text.as_bytes())
    }

    /// Writes a file.
    pub fn file(&self, name: &str, content: &[u8]) -> Result<(), Error> {
        write_whole(&self.path.join(name), content)
    }
}
