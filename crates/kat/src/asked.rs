//! What a plan is asked for.

use placement::{Bucketing, Engine, Hash, KeyRule, KeyType, Layout, Node, parse_nodes};
use runs::{Error, Inputs};
use std::path::{Path, PathBuf};
use units::{BitRate, Bytes};

/// Buckets for each node where nobody says how many: enough that a node comes or goes with little moved.
const BUCKETS_A_NODE: usize = 64;

/// Called with the bytes that have been read, and those that there are: 0 where that is not known.
pub type Tell<'a> = &'a dyn Fn(u64, u64);

/// The question: which records, on which nodes, for whom.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Files of records, or folders of them; `-` is text on standard input.
    pub files: Vec<PathBuf>,
    /// Where the key of a record is; the usual place of the format where left out.
    pub key: Option<KeyRule>,
    /// The key's type in the engine; that of the files where left out.
    pub key_type: Option<KeyType>,
    /// Who runs the job.
    pub engine: Engine,
    /// The hash by which it partitions; the engine's usual one where left out.
    pub hash: Option<Hash>,
    /// The nodes: a number, names between commas, or a file of names.
    pub nodes: String,
    /// Buckets; 64 a node where left out.
    pub buckets: Option<u32>,
    /// Copies of each record.
    pub replicas: u32,
    /// The part of the records to read, above 0 and up to 1; all up to 1 GB, else 0.01, where left out.
    pub sample: Option<f64>,
    /// What is laid out.
    pub layout: Layout,
    /// Bytes of the value that the job emits with each key; the whole record where left out.
    pub value: Option<u64>,
    /// The data are in HDFS already, and are written anew.
    pub present: bool,
    /// Another key for the same data.
    pub second: Option<KeyRule>,
    /// The second key's type; that of `key_type` where left out.
    pub second_type: Option<KeyType>,
    /// Rate of a node's interface.
    pub rate: BitRate,
    /// A block of HDFS.
    pub block: Bytes,
    /// An earlier plan of the same data: what has room where it stands stays there.
    pub previous: Option<PathBuf>,
}

impl Asked {
    /// The engine's buckets of keys of a type that is said, or of the one that they have in their files.
    pub(crate) fn bucketing(&self, said: Option<KeyType>, in_files: KeyType, nodes: usize) -> Result<Bucketing, Error> {
        let buckets = self.buckets.unwrap_or((nodes * BUCKETS_A_NODE) as u32);
        Bucketing::new(self.engine, self.hash, said.unwrap_or(in_files), buckets).map_err(|error| {
            let hint = if said.is_none() && in_files != KeyType::Text { "; --type says another, as text" } else { "" };
            Error::Input(format!("{error}{hint}"))
        })
    }
}

/// Nodes from a number, from names, or from a file of names.
pub fn nodes(inputs: &Inputs<'_>, text: &str) -> Result<Vec<Node>, Error> {
    let path = Path::new(text);
    let named = |error: placement::NodesError| Error::Input(format!("--nodes {text}: {error}"));
    if text.parse::<u64>().is_err() && path.is_file() {
        return parse_nodes(&inputs.text(path)?).map_err(named);
    }
    parse_nodes(text).map_err(named)
}

/// A part of a whole, above 0 and up to 1.
pub fn part(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(part) if part > 0.0 && part <= 1.0 => Ok(part),
        _ => Err("a part is above 0 and at most 1, as 0.01".to_owned()),
    }
}

/// A rate at which an import can be reckoned with.
pub fn rate(text: &str) -> Result<BitRate, String> {
    let rate: BitRate = text.parse().map_err(|error: units::ParseError| error.to_string())?;
    if rate.as_bps() < 1000 { Err("a rate is 1 kbit/s or more, as 1 Gbit/s".to_owned()) } else { Ok(rate) }
}

/// A block's size.
pub fn block(text: &str) -> Result<Bytes, String> {
    let block: Bytes = text.parse().map_err(|error: units::ParseError| error.to_string())?;
    if block.get() < 1_000_000 { Err("a block has 1 MB or more, as 128 MB".to_owned()) } else { Ok(block) }
}

/// One of several by its name. `what`: of which question.
pub fn one_of<T: Copy>(what: &str, all: &[T], name: impl Fn(T) -> &'static str, word: &str) -> Result<T, Error> {
    all.iter().copied().find(|one| name(*one) == word).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|one| name(*one)).collect();
        Error::Input(format!("{what}: {word} is none of {}", names.join(", ")))
    })
}
