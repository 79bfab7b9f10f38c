//! A folder that fills while its runs are made, so that an interrupted call can go on: a study's, an advice's.

use crate::Error;
use crate::partial::{remove_all_abandoned, write_beside};
use std::fs;
use std::path::{Path, PathBuf};

/// Such a folder: the results, and a record of each finished run below `runs`.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
}

/// What such a folder holds, by its main file.
#[derive(Clone, Copy, Debug)]
pub struct Holds {
    /// The main file, JSON with a `schema`.
    pub file: &'static str,
    /// Its schema.
    pub schema: &'static str,
    /// What it is, for messages: "a study's folder".
    pub what: &'static str,
}

impl Journal {
    /// Opens or makes it. Fails on a path that is something else.
    pub fn open(path: &Path, holds: Holds, name: &str) -> Result<Self, Error> {
        let journal = Self { path: path.to_owned() };
        let Holds { file, schema, what } = holds;
        let ours = || fs::read_to_string(path.join(file)).is_ok_and(|text| text.contains(schema));
        let empty = || fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
        if path.exists() && !ours() && !empty() {
            let message = format!("{} exists and is not {what}; it is left as it is", path.display());
            return Err(Error::Output(message));
        }
        fs::create_dir_all(path.join("runs")).map_err(|error| Error::writing(path, &error))?;
        remove_all_abandoned(path);
        remove_all_abandoned(&path.join("runs"));
        if !ours() {
            // Marks the folder as ours while it fills.
            let mark = serde_json::json!({ "schema": schema, "name": name, "unfinished": true });
            journal.file(file, format!("{mark:#}\n").as_bytes())?;
        }
        Ok(journal)
    }

    /// The record of that name that an earlier call kept.
    pub fn record(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.path.join("runs").join(name)).ok()
    }

    /// Keeps the record of a run.
    pub fn keep(&self, name: &str, text: &str) -> Result<(), Error> {
        self.file(&format!("runs/{name}"), text.as_bytes())
    }

    /// Writes a file.
    pub fn file(&self, name: &str, content: &[u8]) -> Result<(), Error> {
        write_beside(&self.path.join(name), content)
    }
}
