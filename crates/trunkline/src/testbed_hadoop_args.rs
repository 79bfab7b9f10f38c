//! The words of `trunkline testbed hadoop`.

use crate::number::whole;
use clap::{Subcommand, ValueEnum, ValueHint};
use std::path::PathBuf;
use testbed::hadoop::Kind;
use testbed::hadoop::faults::LARGEST_DISK;
use testbed::link::Share;
use units::{BitRate, Bytes, Time};

/// Room for logs, tasks' files and some blocks.
const SMALLEST_DISK: Bytes = Bytes::from_mib(256);

#[derive(Debug, clap::Args)]
pub struct Hadoop {
    #[command(subcommand)]
    pub command: HadoopCommand,
}

#[derive(Debug, Subcommand)]
pub enum HadoopCommand {
    /// Bring up HDFS, and YARN or Spark: a master and workers, each a host of its own on a star of links
    #[command(after_help = "Examples:
  trunkline testbed hadoop up --workers 4 --rate 10Mbit/s
  trunkline testbed hadoop up cluster.toml --set network.delay='5 ms'
  trunkline testbed hadoop up --spark --rate 10Mbit/s
  trunkline testbed hadoop up --workers 3 --disk 2GB
  trunkline testbed hadoop status
  trunkline testbed hadoop down

A scenario says of the testbed what it says of a simulation: workers, links, settings of HDFS, YARN and MapReduce. What
a testbed cannot be is refused. A scenario with [spark] has Spark's own Master and Workers in YARN's place. It has to be
run as root. Hadoop is fetched by Maven into the user's cache, Spark by pip.")]
    Up(Box<Up>),
    /// Run a job on a cluster, check its output, and collect its history with what the cluster and the host did
    #[command(after_help = "Examples:
  trunkline testbed hadoop run wordcount-nocombine --input 128MB --reducers 4 --predict
  trunkline testbed hadoop run terasort --limit 10min --out results/terasort
  trunkline testbed hadoop run dfsio-write --input 256MB --maps 8 --property dfs.replication=3
  trunkline testbed hadoop run wordcount-nocombine --kat --predict
  trunkline testbed hadoop run path/to/job.jar -- Main /trunkline/in /out
  trunkline testbed hadoop run spark-join --input 32MB --predict

Jobs: wordcount, wordcount-nocombine, terasort, grep, pi, dfsio-write, dfsio-read, or a jar with its arguments. On a
cluster with Spark: spark-wordcount, spark-sort, spark-join, spark-sql, or an application's jar with its arguments. Text
and records are made where they are not in HDFS yet. Faults of the cluster's scenario come at their times after the
job's submission. A job that fails, or whose output is wrong, ends with exit code 3.")]
    Run(Box<Run>),
    /// Show clusters that are up: their hosts, daemons and links
    Status(Status),
    /// Take a cluster down, or clean away what a killed one has left
    Down(Down),
}

/// A star of hosts and links, as a scenario has it.
#[derive(Debug, clap::Args)]
pub struct StarArgs {
    /// The scenario that it is [default: fast links, four workers]
    #[arg(value_hint = ValueHint::FilePath)]
    pub scenario: Option<PathBuf>,
    /// Number of workers
    #[arg(long, short, value_name = "N", value_parser = whole::<u32>(1..=1_000))]
    pub workers: Option<u32>,
    /// Rate of each worker's link, each way: a token bucket of 32 KB with a queue of 400 ms
    #[arg(long, value_name = "RATE")]
    pub rate: Option<BitRate>,
    /// Propagation delay of each link, one way
    #[arg(long, value_name = "TIME")]
    pub delay: Option<Time>,
    /// Share of packets lost on each link, each way
    #[arg(long, value_name = "SHARE")]
    pub loss: Option<Share>,
    /// Lay a value over the scenario; again for more
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub assignments: Vec<String>,
    /// How links are made [default: by the kernel if they are as fast and near as its own, else emulated]
    #[arg(long, value_name = "KIND")]
    pub links: Option<LinkKind>,
}

#[derive(Debug, clap::Args)]
pub struct Up {
    #[command(flatten)]
    pub star: StarArgs,
    /// Spark's Master and Workers in YARN's place; a scenario says so by its `[spark]`
    #[arg(long, conflicts_with = "scenario")]
    pub spark: bool,
    /// The cluster's name
    #[arg(long, default_value = "hadoop")]
    pub name: String,
    /// Where the cluster's disks are made: some GB [default: the system's folder for temporary files]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub scratch: Option<PathBuf>,
    /// A disk of its own for each worker, of this size [default: all write to one file system, that of --scratch]
    #[arg(long, value_name = "SIZE", value_parser = disk)]
    pub disk: Option<Bytes>,
    /// Stay, and take the cluster down at the end: at Ctrl-C or SIGTERM
    #[arg(long)]
    pub foreground: bool,
    /// Show no progress
    #[arg(long, short)]
    pub quiet: bool,
    /// Started in namespaces of its own
    #[arg(long, hide = true)]
    pub inside: bool,
}

/// The size of a worker's disk.
fn disk(text: &str) -> Result<Bytes, String> {
    let size = text.parse::<Bytes>().map_err(|error| error.to_string())?;
    let range = SMALLEST_DISK..=LARGEST_DISK;
    if range.contains(&size) {
        return Ok(size);
    }
    Err(format!("a worker's disk has {} MiB to {} GiB", SMALLEST_DISK.get() >> 20, LARGEST_DISK.get() >> 30))
}

/// How links are made.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum LinkKind {
    /// By this program: any rate, delay, queue and loss
    Emulated,
    /// By the kernel: only token buckets
    Veth,
}

#[derive(Debug, clap::Args)]
pub struct Run {
    /// The job, or a jar
    pub job: Kind,
    /// The cluster's name
    #[arg(long, default_value = "hadoop")]
    pub name: String,
    /// Size of the input; dfsio: of all files together
    #[arg(long, value_name = "SIZE", default_value = "64MB")]
    pub input: Bytes,
    /// Files of dfsio, maps of pi
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = whole::<u32>(1..=100_000))]
    pub maps: u32,
    /// Number of reducers, or of partitions of Spark's shuffles [default: the cluster's]
    #[arg(long, value_name = "N", value_parser = whole::<u32>(0..=100_000))]
    pub reducers: Option<u32>,
    /// Set a property of Hadoop or Spark for the job; again for more
    #[arg(long, value_name = "NAME=VALUE")]
    pub property: Vec<String>,
    /// Kill a job that takes longer
    #[arg(long, value_name = "TIME")]
    pub limit: Option<Time>,
    /// Import the job's history, simulate it, and show simulated beside real
    #[arg(long)]
    pub predict: bool,
    /// Run the job twice: as it is, and with its input laid out by key and its tasks where that stands
    #[arg(long)]
    pub kat: bool,
    /// Leave out the cluster's faults
    #[arg(long)]
    pub without_faults: bool,
    /// The folder of results [default: results/hadoop/JOB]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
    /// Print result.json instead of the summary
    #[arg(long)]
    pub json: bool,
    /// Show no progress
    #[arg(long, short)]
    pub quiet: bool,
    /// The arguments of a jar
    #[arg(last = true, value_name = "ARGUMENT")]
    pub arguments: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub struct Status {
    /// The cluster's name [default: all]
    pub name: Option<String>,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, clap::Args)]
pub struct Down {
    /// The cluster's name
    #[arg(default_value = "hadoop")]
    pub name: String,
}
