//! The folder that a study leaves. Unlike a run's it fills while the study runs, so that one that was interrupted goes on from it.

use crate::failure::Failure;
use sim::study::{PlannedRun, Record, SCHEMA};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A study's folder.
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Opens it, or makes it; something that is not a study's folder is left as it is.
    pub fn open(path: &Path, study: &str) -> Result<Self, Failure> {
        let folder = Self { path: path.to_owned() };
        let ours = || fs::read_to_string(path.join("study.json")).is_ok_and(|text| text.contains(SCHEMA));
        let empty = || fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
        if path.exists() && !ours() && !empty() {
            let message = format!("{} exists and is not a study's folder; it is left as it is", path.display());
            return Err(Failure::Output(message));
        }
        fs::create_dir_all(path.join("runs")).map_err(|error| Failure::writing(path, &error))?;
        if !ours() {
            // By this the folder is known while the study runs.
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
    pub fn keep(&self, run: &PlannedRun, text: &str) -> Result<(), Failure> {
        self.file(&format!("runs/{}", Record::file_name(run)), text.as_bytes())
    }

    /// Writes a file.
    pub fn file(&self, name: &str, content: &[u8]) -> Result<(), Failure> {
        write_whole(&self.path, name, content)
    }
}

/// Writes a file of a folder whole or not at all: beside its place first, then moved there.
pub fn write_whole(folder: &Path, name: &str, content: &[u8]) -> Result<(), Failure> {
    let (path, beside) = (folder.join(name), folder.join(format!("{name}.partial-{}", std::process::id())));
    let written = || -> io::Result<()> {
        File::create(&beside)?.write_all(content)?;
        fs::rename(&beside, &path)
    };
    written().map_err(|error| {
        let _ = fs::remove_file(&beside);
        Failure::writing(&path, &error)
    })
}
