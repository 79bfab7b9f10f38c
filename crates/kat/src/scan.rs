//! Reads files of records into a profile: whole, or pieces from all over them.

use crate::asked::Tell;
use crate::plan::name;
use placement::{KeyRule, KeyType, Profile};
use records::{Format, Sample, Source, of_text, read_stream};
use runs::{Error, Stop};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Up to this size files are read whole where nobody says how much.
const WHOLE: u64 = 1_000_000_000;

/// Files of records that are open, and how their keys are found.
pub struct Sources {
    opened: Vec<(PathBuf, Opened)>,
    size: u64,
    /// How keys are found.
    pub rule: KeyRule,
    /// The type of keys in the files.
    pub of: KeyType,
    /// The format of the files.
    pub format: Format,
}

enum Opened {
    File(Source),
    /// Standard input, pipes and devices: read once, from first to last.
    Stream(File),
    StandardInput,
}

/// What was read.
#[derive(Clone, Copy, Debug)]
pub struct Scanned {
    /// Bytes of all files, after decompression; an estimate where blocks or row groups of them were read.
    pub bytes: u64,
    /// The part of the records that was asked for.
    pub sample: f64,
}

impl Sources {
    /// Opens files, and the files of folders. They have one format, and keys of one type.
    pub fn open(files: &[PathBuf], rule: Option<&KeyRule>) -> Result<Self, Error> {
        let (mut opened, mut size) = (Vec::new(), 0);
        let mut first: Option<(PathBuf, KeyRule, KeyType, Format)> = None;
        for path in listed(files)? {
            let (file, length) = open(&path)?;
            size += length;
            let (key, format) = match &file {
                Opened::File(source) => (source.key(rule), source.format()),
                _ => (of_text(rule), Format::Text),
            };
            let (found, of) = key.map_err(|error| failure(&path, error))?;
            match &first {
                None => first = Some((path.clone(), found, of, format)),
                Some((before, _, other, as_before)) if (*other, *as_before) != (of, format) => {
                    return Err(Error::Input(format!(
                        "{} is {format} with keys of type {of}, and {} is {as_before} with keys of type {other}: a \
                         plan is for data of one kind",
                        path.display(),
                        before.display()
                    )));
                }
                Some(_) => {}
            }
            opened.push((path, file));
        }
        let (_, rule, of, format) = first.ok_or_else(|| Error::Input("there are no files in it".to_owned()))?;
        Ok(Self { opened, size, rule, of, format })
    }

    /// Whether they can be read again.
    pub fn can_be_read_again(&self) -> bool {
        self.opened.iter().all(|(_, file)| matches!(file, Opened::File(_)))
    }

    /// Reads them into a profile: a part of the records, or as much as is usual for their size.
    pub fn scan(
        self,
        part: Option<f64>,
        stop: &Stop,
        tell: Tell<'_>,
        profile: &mut Profile<KeyRule>,
    ) -> Result<Scanned, Error> {
        let part = part.unwrap_or(if self.size <= WHOLE { 1.0 } else { 0.01 });
        let sample = Sample::new(part);
        let mut done = 0;
        let mut step = |bytes: u64| {
            done += bytes;
            tell(done, self.size);
            !stop.requested()
        };
        let mut bytes = 0;
        for (path, file) in self.opened {
            let read = match file {
                Opened::File(source) => source.scan(&self.rule, sample, profile, &mut step),
                Opened::Stream(file) => read_stream(file, None, sample, profile, &mut step),
                Opened::StandardInput => read_stream(io::stdin().lock(), None, sample, profile, &mut step),
            };
            bytes += match read {
                Ok(bytes) => bytes,
                Err(records::Error::Stopped) => {
                    stop.look()?;
                    0
                }
                Err(error) => return Err(failure(&path, error)),
            };
        }
        Ok(Scanned { bytes, sample: part })
    }
}

/// Files, and in place of folders the files in them, as Hadoop's `FileInputFormat` takes them: not those whose names
/// begin with `_` or a point.
fn listed(files: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let mut listed = Vec::new();
    for path in files {
        if !path.is_dir() {
            listed.push(path.clone());
            continue;
        }
        let mut within = Vec::new();
        for entry in fs::read_dir(path).map_err(|error| Error::reading(path, &error))? {
            let entry = entry.map_err(|error| Error::reading(path, &error))?;
            let name = entry.file_name();
            let hidden = name.to_string_lossy().starts_with(['_', '.']);
            if !hidden && entry.path().is_file() {
                within.push(entry.path());
            }
        }
        if within.is_empty() {
            return Err(Error::Input(format!("{} is a folder without files of records", path.display())));
        }
        within.sort();
        listed.extend(within);
    }
    Ok(listed)
}

fn open(path: &Path) -> Result<(Opened, u64), Error> {
    if path.as_os_str() == runs::STANDARD_INPUT {
        return Ok((Opened::StandardInput, 0));
    }
    let about = fs::metadata(path).map_err(|error| Error::reading(path, &error))?;
    if about.is_file() {
        let source = Source::open(path).map_err(|error| failure(path, error))?;
        return Ok((Opened::File(source), about.len()));
    }
    File::open(path).map(|file| (Opened::Stream(file), 0)).map_err(|error| Error::reading(path, &error))
}

fn failure(path: &Path, error: records::Error) -> Error {
    match error {
        records::Error::Io(error) => Error::reading(path, &error),
        error => Error::Input(format!("{}: {error}", name(path))),
    }
}
