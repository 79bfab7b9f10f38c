//! The words of `trunkline kat`.

use crate::number::whole;
use ::kat::{block, part, rate};
use clap::{ValueHint, builder::PossibleValuesParser};
use placement::{Engine, Hash, KeyRule, KeyType, Layout};
use std::path::PathBuf;
use units::{BitRate, Bytes};

#[derive(Debug, clap::Subcommand)]
pub enum Kat {
    /// Say what placing records by key would save a job's shuffle, what it costs, and when it does not pay
    #[command(after_help = "Examples:
  trunkline kat plan visits.tsv --nodes 16
  trunkline kat plan visits.csv.gz --key column:3:, --engine spark --type long --nodes 16
  trunkline kat plan events.json --key json:$.user.id --engine hive --nodes workers.txt --sample 0.01
  trunkline kat plan book.txt --key tokens --value 4 --layout split --nodes 8
  trunkline kat plan visits.tsv --nodes 16 --value 8 --combiner
  trunkline kat plan visits.tsv --nodes 16 -o plan.json
  trunkline kat plan visits.tsv --nodes 17 --previous plan.json
  trunkline kat plan visits.parquet --key column:user_id --engine spark --nodes 16
  trunkline kat plan out --key key --nodes 8
  trunkline kat plan --history job_1795217314114_0002.jhist.gz --nodes 8

A key is found by: first-tab (the text before the first tab; the default), column:N or column:N:DELIMITER, regex:PATTERN \
                  (its first group, or its match), json:PATH, tokens (the words), line; in files that have them by \
                  column:NAME (Avro, Parquet) or key (SequenceFile).")]
    Plan(Box<KatPlan>),
    /// Write files into HDFS as a plan has them: each record in its bucket's file, whose blocks stand on its nodes
    #[command(after_help = "Examples:
  trunkline kat load plan.json visits.tsv --to /data/visits
  trunkline kat load plan.json hdfs:/raw/visits --to /data/visits --limit 200Mbit/s
  trunkline kat load plan.json words.txt --to /data/words --testbed hadoop

The NameNode needs the policy of trunkline-hadoop.jar (guide: placement on a cluster). The same command goes on where \
                  it was interrupted: files that stand in the folder are whole.")]
    Load(Box<KatLoad>),
    /// Check files that were loaded: each record is in its key's bucket, each block on its nodes
    #[command(after_help = "Example:
  trunkline kat verify plan.json /data/visits

Of MapReduce's layouts Hadoop's own HashPartitioner is asked, too. What is wrong ends with exit code 3.")]
    Verify(Box<KatFolder>),
    /// Bring blocks of files that were loaded back to their nodes, after a node was dead or full
    #[command(after_help = "Example:
  trunkline kat redistribute plan.json /data/visits --limit 200Mbit/s

A file with a block elsewhere is written anew, and takes its place once its blocks have all replicas. The same command \
                  goes on where it was interrupted. HDFS takes a replaced file from under who reads it: maps by \
                  PlacedTextInputFormat read on, other tasks fail and read it in their next attempt, `hdfs dfs -cat` \
                  fails. For other nodes than the plan's, plan with --previous and load hdfs:FOLDER into a new folder. \
                  What still stands elsewhere ends with exit code 3.")]
    Redistribute(Box<KatRedistribute>),
}

/// Which cluster, and how a client of it is started.
#[derive(Debug, clap::Args)]
pub struct ClusterArgs {
    /// The program that runs Hadoop's classes
    #[arg(long, value_name = "PROGRAM", default_value = "hadoop", value_hint = ValueHint::CommandName)]
    pub hadoop: PathBuf,
    /// trunkline-hadoop.jar, as Maven builds it in hadoop/ [default: that of Hadoop's class path]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub jar: Option<PathBuf>,
    /// The cluster of `trunkline testbed hadoop up` of this name, in place of one elsewhere
    #[cfg(feature = "testbed")]
    #[arg(long, value_name = "NAME", conflicts_with_all = ["hadoop", "jar"])]
    pub testbed: Option<String>,
}

#[derive(Debug, clap::Args)]
pub struct KatLoad {
    /// A plan of `trunkline kat plan -o`
    #[arg(value_hint = ValueHint::FilePath)]
    pub plan: PathBuf,
    /// Files of text, a record a line, plain or compressed; those that begin with hdfs: are read from HDFS
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub files: Vec<String>,
    /// The folder in HDFS, which is new or holds a part of the same load
    #[arg(long, value_name = "FOLDER")]
    pub to: String,
    #[command(flatten)]
    pub cluster: ClusterArgs,
    /// The most bits of records a second
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub limit: Option<BitRate>,
    /// So many files are written at a time; for more the input is read again
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = whole::<u32>(1..=4096))]
    pub open: u32,
    /// How many seconds a file's blocks have to get all their replicas
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = whole::<u32>(1..=86_400))]
    pub patience: u32,
    /// Show no progress
    #[arg(long, short)]
    pub quiet: bool,
}

/// A folder that was loaded.
#[derive(Debug, clap::Args)]
pub struct KatFolder {
    /// The plan by which the files were loaded
    #[arg(value_hint = ValueHint::FilePath)]
    pub plan: PathBuf,
    /// Their folder in HDFS
    #[arg(value_name = "FOLDER")]
    pub folder: String,
    #[command(flatten)]
    pub cluster: ClusterArgs,
    /// Show no progress
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Debug, clap::Args)]
pub struct KatRedistribute {
    #[command(flatten)]
    pub loaded: KatFolder,
    /// The most bits a second that are written anew
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub limit: Option<BitRate>,
    /// How many seconds a file's blocks have to get all their replicas
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = whole::<u32>(1..=86_400))]
    pub patience: u32,
}

#[derive(Debug, clap::Args)]
pub struct KatPlan {
    /// Files of records, or folders of them: text with one record a line, plain or compressed, SequenceFile, Avro or
    /// Parquet; `-` is text on standard input
    #[arg(required_unless_present = "history", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,
    /// Where the key of a record is [default: first-tab; of a SequenceFile: key]
    #[arg(long, value_name = "RULE")]
    pub key: Option<KeyRule>,
    /// The key's type in the engine, whose hash of a number is not that of its digits [default: that of the column, or
    /// of the writable; of text: text]
    #[arg(long = "type", value_name = "TYPE", value_parser = words(KeyType::ALL.map(KeyType::name)))]
    pub key_type: Option<String>,
    /// Who runs the job
    #[arg(long, default_value = "mapreduce", value_parser = words(Engine::ALL.map(Engine::name)))]
    pub engine: String,
    /// The hash by which it partitions [default: the engine's usual one]
    #[arg(long, value_parser = words(Hash::ALL.map(Hash::name)))]
    pub hash: Option<String>,
    /// How many nodes, or their names between commas with optional rack and weight (a@rack-1=2), or a file of such
    /// names, as Hadoop's `workers`
    #[arg(long, value_name = "NODES", required = true)]
    pub nodes: String,
    /// Buckets; for a layout that removes the engine's exchange, the engine's own number [default: 64 a node]
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=1_000_000))]
    pub buckets: Option<u32>,
    /// Copies of each record
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = whole::<u32>(1..=16))]
    pub replicas: u32,
    /// The part of the records to read, evenly from all over the files [default: 1 up to 1 GB, else 0.01]
    #[arg(long, value_name = "F", value_parser = part)]
    pub sample: Option<f64>,
    /// What is laid out: whole records by their first key, a record for each key with its value, or the keys alone
    #[arg(long, default_value = "whole", value_parser = words(Layout::ALL.map(Layout::name)))]
    pub layout: String,
    /// Bytes of the value that the job emits with each key [default: the whole record]
    #[arg(long, value_name = "BYTES", value_parser = whole::<u64>(0..=1 << 30))]
    pub value: Option<u64>,
    /// The job has a combiner, or combines on the map side as Spark's reduceByKey: what it leaves is counted, of all
    /// records, and keys too heavy for a node are split, since their reducer merges partial results
    #[arg(long)]
    pub combiner: bool,
    /// The data are in HDFS already, and are written anew
    #[arg(long)]
    pub present: bool,
    /// Another key for the same data: one of the copies is a second file, laid out by it
    #[arg(long, value_name = "RULE")]
    pub second: Option<KeyRule>,
    /// The second key's type [default: as --type's]
    #[arg(long, value_name = "TYPE", requires = "second", value_parser = words(KeyType::ALL.map(KeyType::name)))]
    pub second_type: Option<String>,
    /// Copies of the second file; the first one has the others
    #[arg(long, value_name = "N", requires = "second", default_value_t = 1,
          value_parser = whole::<u32>(1..=15))]
    pub second_copies: u32,
    /// Records modified since the plan of --previous, which stand where they were written
    #[arg(long, value_name = "N", requires = "previous", value_parser = whole::<u64>(0..=u64::MAX))]
    pub modified: Option<u64>,
    /// Redistribute once so many records are modified [default: as fill a block on each node]
    #[arg(long, value_name = "N", requires = "modified", value_parser = whole::<u64>(1..=u64::MAX))]
    pub redistribute_after: Option<u64>,
    /// Rate of a node's interface, for the import's time
    #[arg(long, value_name = "RATE", default_value = "1 Gbit/s", value_parser = rate)]
    pub rate: BitRate,
    /// A block of HDFS
    #[arg(long, value_name = "BYTES", default_value = "128 MB", value_parser = block)]
    pub block: Bytes,
    /// Write the plan, bucket by bucket, as JSON
    #[arg(short, long, value_name = "PLAN", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Overwrite a plan that is there
    #[arg(long, requires = "output")]
    pub force: bool,
    /// An earlier plan of the same data: what has room where it stands stays there
    #[arg(long, value_name = "PLAN", value_hint = ValueHint::FilePath)]
    pub previous: Option<PathBuf>,
    /// Histories of jobs, or folders of them: which of their files, laid out by key, would save which of their shuffles
    #[arg(long, value_name = "FILE", value_hint = ValueHint::AnyPath,
          conflicts_with_all = ["files", "previous", "output", "second", "key"])]
    pub history: Vec<PathBuf>,
    /// Print the figures as JSON
    #[arg(long)]
    pub json: bool,
    /// Show no progress
    #[arg(long, short)]
    pub quiet: bool,
}

fn words<const N: usize>(words: [&'static str; N]) -> PossibleValuesParser {
    PossibleValuesParser::new(words)
}
