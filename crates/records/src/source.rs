//! A file of records, whatever its format.

use crate::avro::Avro;
use crate::cursor::Input;
use crate::parquet_file::ParquetFile;
use crate::sequence::SequenceFile;
use crate::{Codec, Error, Sample, Sink, Step, text};
use placement::{KeyRule, KeyType};
use std::fmt;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Text with one record a line.
    Text,
    /// Hadoop's pairs of a key and a value.
    SequenceFile,
    /// Avro's container files.
    Avro,
    /// Columns in row groups, described by the file's foot.
    Parquet,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "text",
            Self::SequenceFile => "SequenceFile",
            Self::Avro => "Avro",
            Self::Parquet => "Parquet",
        })
    }
}

/// An open file of records.
#[derive(Debug)]
pub struct Source(Inner);

#[derive(Debug)]
enum Inner {
    Text { file: File, length: u64, codec: Option<Codec> },
    SequenceFile(Box<SequenceFile>),
    Avro(Box<Avro>),
    Parquet(Box<ParquetFile>),
}

impl Source {
    /// Opens a file by its first bytes, or by its name's ending for compressions that have none of their own.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or if its head is broken.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        let mut head = Vec::new();
        (&mut file).take(text::LOOKED_AT as u64).read_to_end(&mut head)?;
        file.rewind()?;
        // Text may begin with these letters too, and has no bytes as these formats have behind them.
        let binary = head.contains(&0) || !head.is_ascii();
        Ok(Self(match head.get(..4) {
            Some([b'S', b'E', b'Q', ..]) if binary => {
                Inner::SequenceFile(Box::new(SequenceFile::open(Input::new(file, length))?))
            }
            Some(b"Obj\x01") => Inner::Avro(Box::new(Avro::open(Input::new(file, length))?)),
            Some(b"PAR1") if binary => Inner::Parquet(Box::new(ParquetFile::open(file, length)?)),
            _ => {
                let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
                let codec = Codec::of_bytes(&head).or_else(|| Codec::of_extension(extension));
                Inner::Text { file, length, codec }
            }
        }))
    }

    /// The format.
    pub const fn format(&self) -> Format {
        match self.0 {
            Inner::Text { .. } => Format::Text,
            Inner::SequenceFile(_) => Format::SequenceFile,
            Inner::Avro(_) => Format::Avro,
            Inner::Parquet(_) => Format::Parquet,
        }
    }

    /// The rule by which keys are found where nobody or somebody says one, and the type that they have in the file.
    ///
    /// # Errors
    ///
    /// If the rule is not for the format; the error says which are.
    pub fn key(&self, rule: Option<&KeyRule>) -> Result<(KeyRule, KeyType), Error> {
        match &self.0 {
            Inner::Text { .. } => of_text(rule),
            Inner::SequenceFile(file) => file.key(rule),
            Inner::Avro(file) => file.key(rule),
            Inner::Parquet(file) => file.key(rule),
        }
    }

    /// Hands out the records, or a sample of them. Returns the bytes of all its records, uncompressed: counted where
    /// all are read, else estimated.
    ///
    /// # Errors
    ///
    /// If the file is broken, or what the sink answers.
    pub fn scan(self, rule: &KeyRule, sample: Sample, sink: &mut impl Sink, step: &mut Step<'_>) -> Result<u64, Error> {
        match self.0 {
            Inner::Text { file, length, codec: None } => text::scan(file, length, sample, sink, step),
            Inner::Text { file, codec, .. } => text::read_stream(file, codec, sample, sink, step),
            Inner::SequenceFile(open) => open.scan(rule, sample, sink, step),
            Inner::Avro(open) => open.scan(rule, sample, sink, step),
            Inner::Parquet(open) => open.scan(rule, sample, sink, step),
        }
    }
}

/// The rule for lines of text.
pub fn of_text(rule: Option<&KeyRule>) -> Result<(KeyRule, KeyType), Error> {
    match rule {
        None => Ok((KeyRule::FirstTab, KeyType::Text)),
        Some(KeyRule::Field(name)) => {
            let wrong = format!("lines of text have no column `{name}`: column:2 or column:2:, is one by its number");
            Err(Error::Key(wrong))
        }
        Some(KeyRule::Own) => {
            let wrong = "lines of text have no key beside them: --key first-tab is the text before the first tab";
            Err(Error::Key(wrong.to_owned()))
        }
        Some(rule) => Ok((rule.clone(), KeyType::Text)),
    }
}
