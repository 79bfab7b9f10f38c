//! Event logs of Spark among files and folders.

use crate::input::shown;
use crate::{Error, Inputs, Stop};
use history::spark::{Application, LogPart, LogReader, looks_like_log, open};
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

/// Bytes of a log by which it is known.
const LOOK_BYTES: u64 = 4096;

/// A source that fails when a stop is asked for.
struct Stopping<'a, R> {
    source: R,
    stop: &'a Stop,
}

impl<R: Read> Read for Stopping<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.requested() {
            return Err(io::Error::other("interrupted"));
        }
        self.source.read(buffer)
    }
}

impl Inputs<'_> {
    /// The application of an event log: a file, or a folder of a rolling log. None where the path is something else.
    pub fn event_log(&self, path: &Path) -> Result<Option<Application>, Error> {
        let files = if path.is_dir() {
            parts(path)?
        } else if is_log(path) {
            vec![path.to_owned()]
        } else {
            Vec::new()
        };
        if files.is_empty() {
            return Ok(None);
        }
        let mut reader = LogReader::default();
        for file in &files {
            let said = |error: &dyn std::fmt::Display| Error::Input(format!("{}: {error}", shown(file)));
            let source = File::open(file).map_err(|error| Error::reading(file, &error))?;
            let source = Stopping { source, stop: self.stop() };
            let fed = match open(BufReader::with_capacity(1 << 16, source)) {
                Ok(source) => reader.feed(source).map_err(|error| said(&error)),
                Err(error) => Err(said(&error)),
            };
            self.stop().look()?;
            fed?;
        }
        reader.finish().map(Some).map_err(|error| Error::Input(format!("{}: {error}", shown(path))))
    }
}

/// Whether a file is a log by its first bytes. What cannot be read is not: the other readers say why.
fn is_log(file: &Path) -> bool {
    if !file.is_file() {
        return false;
    }
    let start = || -> io::Result<Vec<u8>> {
        let mut start = Vec::new();
        let source = open(BufReader::new(File::open(file)?))?;
        // A compressed file may be cut within its first block: what is there decides.
        let _ = source.take(LOOK_BYTES).read_to_end(&mut start);
        Ok(start)
    };
    start().is_ok_and(|start| looks_like_log(&start))
}

/// The files of a rolling log in their order; none where the folder is something else. A compacted file stands for all
/// before it.
fn parts(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut parts = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| Error::reading(folder, &error))? {
        let entry = entry.map_err(|error| Error::reading(folder, &error))?;
        if let Some(part) = entry.file_name().to_str().and_then(LogPart::of) {
            parts.push((part, entry.path()));
        }
    }
    parts.sort();
    if let Some(last) = parts.iter().rposition(|(part, _)| part.compact) {
        let (last, _) = parts[last];
        parts.retain(|(part, _)| *part >= last);
    }
    Ok(parts.into_iter().map(|(_, path)| path).collect())
}
