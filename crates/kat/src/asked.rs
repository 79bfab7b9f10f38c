//! What a plan is asked for.

use placement::{
    Bucketing, Combiner, Engine, Hash, KeyRule, KeyType, Layout, Node, Plan, Planned, Profile, parse_nodes,
};
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
    /// The job has a combiner: partial results of a key can be merged.
    pub combiner: bool,
    /// The data are in HDFS already, and are written anew.
    pub present: bool,
    /// Another key for the same data.
    pub second: Option<KeyRule>,
    /// The second key's type; that of `key_type` where left out.
    pub second_type: Option<KeyType>,
    /// Copies of the second file, at least one less than all.
    pub second_copies: u32,
    /// Records modified since the earlier plan, and after how many they are redistributed.
    pub modified: Option<Modified>,
    /// Rate of a node's interface.
    pub rate: BitRate,
    /// A block of HDFS.
    pub block: Bytes,
    /// An earlier plan of the same data: what has room where it stands stays there.
    pub previous: Option<PathBuf>,
}

/// Records that were modified since an earlier plan, and stand where they were written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modified {
    /// How many.
    pub records: u64,
    /// After how many they are redistributed; as many as fill a block on each node where left out.
    pub after: Option<u64>,
}

impl Asked {
    /// Refuses what contradicts itself.
    pub(crate) fn check(&self, bucketing: Bucketing) -> Result<(), Error> {
        let wrong = |what: String| Err(Error::Input(what));
        if self.combiner && !combines(bucketing.hash()) {
            return wrong(format!(
                "--combiner: a table's bucket by {} of {} is read by one task, so nothing merges parts of it; \
                 mapreduce has combiners, and spark combines on the map side in RDDs (--hash rdd, pyspark)",
                bucketing.hash(),
                self.engine
            ));
        }
        if let (true, Some(part)) = (self.combiner, self.sample.filter(|part| *part < 1.0)) {
            return wrong(format!(
                "--combiner with --sample {part}: a part of the records does not say how many different keys a block \
                 has, so all are read; of much data name some of its files"
            ));
        }
        if self.modified.is_some() && self.previous.is_none() {
            return wrong("records are modified since an earlier plan, and none is named".to_owned());
        }
        if self.second.is_some() && !(1..self.replicas).contains(&self.second_copies) {
            return wrong(if self.replicas < 2 {
                "--second takes one of the copies, and there is but one: --replicas 2 or more has another".to_owned()
            } else {
                format!(
                    "--second-copies {} of --replicas {}: the first file keeps one at least, so 1 to {} fit",
                    self.second_copies,
                    self.replicas,
                    self.replicas - 1
                )
            });
        }
        Ok(())
    }

    /// The part of the records to read: all where a combiner's pairs are counted.
    pub(crate) fn part(&self) -> Option<f64> {
        if self.combiner { Some(1.0) } else { self.sample }
    }

    /// Of no record yet.
    pub(crate) fn profile(&self, rule: KeyRule, bucketing: Bucketing) -> Profile<KeyRule> {
        let combiner = self.combiner.then(|| Combiner::new(self.block.get(), self.engine == Engine::MapReduce));
        Profile::new(rule, bucketing, self.layout, self.value).with_combiner(combiner)
    }

    /// Places what a profile has found, or goes on from an earlier plan.
    pub(crate) fn place(
        &self,
        before: Option<&Plan>,
        profile: &Profile<KeyRule>,
        nodes: Vec<Node>,
        copies: u32,
    ) -> Result<Planned, Error> {
        let placed = if let Some(plan) = before {
            plan.on(nodes)
        } else {
            // Where nothing merges partial results, all of a key stands in one place, however heavy it is.
            let split = if self.combiner { profile.heaviest() } else { Vec::new() };
            Plan::place(profile.bucketing(), nodes, copies as usize, &profile.weights, &split)
        };
        placed.map_err(|error| Error::Input(error.to_string()))
    }

    /// The engine's buckets of keys of a type that is said, or of the one that they have in their files.
    pub(crate) fn bucketing(&self, said: Option<KeyType>, in_files: KeyType, nodes: usize) -> Result<Bucketing, Error> {
        let buckets = self.buckets.unwrap_or((nodes * BUCKETS_A_NODE) as u32);
        Bucketing::new(self.engine, self.hash, said.unwrap_or(in_files), buckets).map_err(|error| {
            let hint = if said.is_none() && in_files != KeyType::Text { "; --type says another, as text" } else { "" };
            Error::Input(format!("{error}{hint}"))
        })
    }
}

/// Whether jobs that partition by this hash may combine. A bucket of a table is read by one task, and no other makes a
/// partial result of it.
pub(crate) const fn combines(hash: Hash) -> bool {
    match hash {
        Hash::HashPartitioner | Hash::SparkRdd | Hash::PySpark | Hash::PySpark310 => true,
        Hash::SparkMurmur3 | Hash::HiveV1 | Hash::HiveV2 | Hash::IcebergBucket => false,
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
