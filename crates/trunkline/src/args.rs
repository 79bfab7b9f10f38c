//! The command line's words.

use crate::number::whole;
use clap::{Parser, Subcommand, ValueHint};
use std::path::PathBuf;
use units::Time;

/// Predict how a big-data job runs on a network, packet by packet.
#[derive(Debug, Parser)]
#[command(
    name = "trunkline",
    version,
    max_term_width = 100,
    arg_required_else_help = true,
    after_help = "Exit codes: 0 done; 1 internal error; 2 bad input; 3 the simulated job failed; 4 this host lacks a \
                  capability; 5 output could not be written; 130 interrupted."
)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Simulate a scenario, print a summary, leave a folder of results
    #[command(after_help = "Examples:
  trunkline run scenarios/terasort.toml
  trunkline run cluster.toml --set hdfs.block='64 MB' --set network.rate='50 Mbit/s'
  trunkline run cluster.toml --runs 20 --out results/twenty
  trunkline run cluster.toml --pcap worker-1 --out results/captured
  trunkline run cluster.toml --json --quiet | jq .job.finish_s
  trunkline run - < cluster.toml

A call of several runs that is interrupted, or that cannot write, keeps the finished ones, and the same command goes on \
                  from there.")]
    Run(Run),
    /// Simulate several scenarios over the same seeds and put them side by side
    #[command(after_help = "Examples:
  trunkline compare cubic.toml bbr.toml --runs 10
  trunkline compare terasort.toml --fidelity packet,flow
  trunkline compare a.toml b.toml c.toml --set mapreduce.reducers=8")]
    Compare(Compare),
    /// Estimate how long a job takes, with bounds, without simulating it: in milliseconds
    #[command(after_help = "Examples:
  trunkline estimate scenarios/terasort.toml
  trunkline estimate scenarios/terasort.toml --set network.rate='100 Mbit/s' --simulate")]
    Estimate(Estimate),
    /// Fit a cluster's and its jobs' rates to a handful of histories, predict other sizes and rates, propose the next run
    #[command(after_help = "Examples:
  trunkline fit runs/ --predict size=1GB,rate=100Mbit/s
  trunkline fit a.jhist b.jhist --cluster cluster.toml --predict job.toml --job wordcount
  trunkline fit runs/ --against later/
  trunkline fit runs/ --sizes 256MB,1GB --rates 10Mbit/s,1Gbit/s --workers 4,8")]
    Fit(crate::fit_args::Fit),
    /// Print the JSON Schema of a scenario, by which editors complete and check it
    #[command(after_help = "Examples:
  trunkline schema > trunkline.schema.json
  trunkline schema --reference > docs/reference/scenario.md")]
    Schema(Schema),
    /// Turn the history of a real job into a calibrated scenario
    #[command(after_help = "Examples:
  trunkline import job_1795217314114_0002.jhist.gz -o calibrated.toml --cluster cluster.toml
  trunkline import history/done --job job_1795217314114_0002 -o calibrated.toml
  trunkline import trace.json --job job_201_0007 -o calibrated.toml
  trunkline import FB-2009.tsv --nodes 100 --recorded-nodes 600 --for 1h -o workload.toml
  trunkline import cluster /etc/hadoop/conf -o cluster.toml
  trunkline run calibrated.toml --set 'network.shape=[{ rate = \"10 Mbit/s\" }]'")]
    Import(Import),
    /// Re-do a published experiment and say of each claim: reproduced, not reproduced, cannot tell
    #[command(after_help = "Examples:
  trunkline study list
  trunkline study incast-barrier --quick
  trunkline study lee2014 --figure aggregation --figure pair
  trunkline study all --out results/studies
  trunkline study studies/mine

An interrupted study goes on where it was when the same command is given again.")]
    Study(Study),
    /// Rank the remedies that would help a job: what each saves, how sure that is, and what to type
    #[command(after_help = "Examples:
  trunkline advise calibrated.toml
  trunkline advise cluster.toml --objective energy --budget 10min
  trunkline advise cluster.toml --keep hdfs.replication --without bbr --set network.rate='10 Mbit/s'
  trunkline advise --list

A search that is interrupted, or cut by its budget, goes on when the same command is given again.")]
    Advise(crate::advise_args::Advise),
    /// Run a scenario over any of its keys and seeds; leave a table of all runs and a page with the surface
    #[command(after_help = "Examples:
  trunkline sweep scenarios/sweeps/incast.toml
  trunkline sweep scenarios/sweeps/terasort.toml --seeds 2 --set run.fidelity=flow
  trunkline sweep sweep.toml --plan | head -3
  trunkline sweep sweep.toml --only 2/8 --out share-2
  trunkline sweep sweep.toml --from share-1 --from share-2
  trunkline sweep sweep.toml --dask tcp://head:8786

A sweep that is interrupted, or killed, keeps its finished runs, and the same command goes on from there.")]
    Sweep(crate::sweep_args::Sweep),
    /// Carry programs' connections over many streams to a far network
    #[cfg(feature = "jet")]
    #[command(subcommand)]
    Jet(crate::jet::Jet),
    /// Place records by their key, so that the shuffle stays local
    #[command(subcommand)]
    Kat(crate::kat_args::Kat),
    /// Rest of a cluster's disks: what it would save, and what it would cost
    #[command(subcommand)]
    Power(Power),
    /// Measure packet-hops per CPU second and memory on fixed workloads
    #[command(after_help = "Examples:
  trunkline bench
  trunkline bench shuffle-8x64MB --json")]
    Bench(Bench),
    /// Emulated networks on this machine
    #[cfg(feature = "testbed")]
    Testbed(crate::testbed_args::Testbed),
    /// Print a script that completes the command line in a shell
    #[command(after_help = "Examples:
  trunkline completions bash > /etc/bash_completion.d/trunkline
  trunkline completions fish > ~/.config/fish/completions/trunkline.fish")]
    Completions(Completions),
    /// Print the manual page of the program or of a command, or write those of all commands
    #[command(after_help = "Examples:
  trunkline man | man -l -
  trunkline man testbed link up | man -l -
  trunkline man --out /usr/local/share/man/man1")]
    Man(Man),
}

#[derive(Debug, clap::Args)]
pub struct Run {
    /// The scenario, a TOML file; `-` is standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub scenario: PathBuf,
    #[command(flatten)]
    pub change: Change,
    /// Seeds to run, from the scenario's on: each its own results, and the mean with its 95 % interval
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u32>(1..=10_000))]
    pub runs: u32,
    /// The folder of results [default: results/NAME]; earlier results there are replaced
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
    /// Make all of several runs, also those that an earlier call has finished
    #[arg(long)]
    pub fresh: bool,
    /// Capture the packets of a link, both ways, without payload, as LINK.pcapng among the results: a node
    /// (its own link), or two ends like "rack-1 -- core"
    #[arg(long, value_name = "LINK")]
    pub pcap: Option<String>,
    /// Start the attempts of the scenario's job where and when this history of it records
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub replay: Option<PathBuf>,
    #[allow(rustdoc::broken_intra_doc_links, reason = "a TOML table, in a text for the terminal")]
    /// Show what the run's [interface_bytes] counted beside what the simulated interfaces do
    #[arg(long = "run", value_name = "FILE", value_hint = ValueHint::FilePath, requires = "replay")]
    pub recorded: Option<PathBuf>,
    /// Print result.json instead of the summary
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub effort: Effort,
}

#[derive(Debug, clap::Args)]
pub struct Compare {
    /// The scenarios, TOML files, one of which may be `-` for standard input; the first is what the others are compared
    /// with
    #[arg(num_args = 1.., required = true, value_hint = ValueHint::FilePath)]
    pub scenarios: Vec<PathBuf>,
    /// Run each scenario at these fidelities, and show how far the others are from the first: `packet,flow`. With
    /// `real` the one scenario is a recorded job (the folder of a `testbed hadoop run`, or what `import` has written),
    /// and the figures stand beside what happened
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = ["packet", "flow", "real"])]
    pub fidelity: Vec<String>,
    #[command(flatten)]
    pub change: Change,
    /// Seeds to run of each
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = whole::<u32>(1..=10_000))]
    pub runs: u32,
    /// The folder of the page and of the figures [default: results/compare-A-B]; earlier ones there are replaced
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
    /// Print the figures as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub effort: Effort,
}

#[derive(Debug, clap::Args)]
pub struct Estimate {
    /// The scenario, a TOML file; `-` is standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub scenario: PathBuf,
    #[command(flatten)]
    pub change: Change,
    /// Simulate it, too, at the scenario's fidelity, and show both
    #[arg(long)]
    pub simulate: bool,
    /// Print the estimate as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub effort: Effort,
}

#[derive(Debug, clap::Args)]
pub struct Study {
    /// A study's name, a folder with a study.toml, `-` (a study.toml from standard input, its scenarios from this
    /// folder), `all`, or `list` for the names
    #[arg(required = true, value_hint = ValueHint::DirPath)]
    pub names: Vec<String>,
    /// Only this figure, by its id; again for more of them
    #[arg(long = "figure", value_name = "ID")]
    pub figures: Vec<String>,
    /// Fewer points, fewer seeds, shorter runs: a look, not a verdict to quote
    #[arg(long)]
    pub quick: bool,
    /// Seeds of each point, in place of the study's
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=1000))]
    pub seeds: Option<u32>,
    /// The folder of results, one in it for each study [default: results/studies]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
    /// Print study.json (of several studies, a list) instead of the verdicts; of `list`, names, titles and sources
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub effort: Effort,
}

/// What differs from the file.
#[derive(Debug, clap::Args)]
pub struct Change {
    /// Set a key of the scenario; entries of a list by number
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub assignments: Vec<String>,
    /// The first seed, in place of run.seed
    #[arg(long, value_name = "N", value_parser = whole::<u64>(0..=i64::MAX as u64))]
    pub seed: Option<u64>,
}

impl Change {
    /// The change as crate `runs` takes it.
    pub fn to_change(&self) -> runs::Change {
        runs::Change { assignments: self.assignments.clone(), seed: self.seed }
    }
}

/// How to go about it.
#[derive(Debug, clap::Args)]
pub struct Effort {
    /// Runs at the same time [default: the cores of this machine]; the results do not depend on it
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=1024))]
    pub threads: Option<u32>,
    /// Show no progress
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Debug, Subcommand)]
pub enum Power {
    /// Replay a workload's day on the disks of a cluster, under each policy of a plan
    ///
    /// For each policy: energy, what it saves against disks that never rest, that as a part of what an oracle saves
    /// which knows all requests, the ceiling of any policy with these depths, starts of motors, and how long requests
    /// waited for their disk. Then what standby could save at most, with these replicas and with erasure codes.
    #[command(after_help = "Examples:
  trunkline power plan FB-2009.tsv.gz scenarios/power/fb-2009.toml
  trunkline power plan FB-2009.tsv.gz plan.toml --json | jq .policies[].saved")]
    Plan(PowerPlan),
    /// Say what HDFS has to be told so that backup disks may rest, and what that saves at most
    ///
    /// Folders with their storage types, the settings that keep DataNodes from disks that nobody reads, the order of
    /// readers, the storage policy. A cluster whose backup disks do not hold its further replicas is refused.
    #[command(after_help = "Examples:
  trunkline power hdfs cluster.toml
  trunkline power hdfs cluster.toml --out conf")]
    Hdfs(PowerHdfs),
    /// Put this machine's backup disks into standby, and log who wakes them
    ///
    /// It ends on SIGTERM or SIGINT, and wakes its disks before (`at-end`). Its journal keeps what is left of the wear
    /// budgets and which disks rest, for the next start, also after it was killed.
    #[command(after_help = "Examples:
  trunkline power daemon /etc/trunkline/power.toml
  trunkline power daemon power.toml --check")]
    Daemon(PowerDaemon),
    /// Show what the daemon's disks do, what woke them, and what is left of their wear budgets
    #[command(after_help = "Examples:
  trunkline power status
  trunkline power status --json | jq '.disks[] | {name, state, starts_left}'")]
    Status(PowerStatus),
    /// Tell the daemon something, as a job does: a line of JSON
    #[command(after_help = "Examples:
  trunkline power tell '{\"ask\": \"phase\", \"phase\": \"import\"}'
  trunkline power tell '{\"ask\": \"wake\", \"disk\": \"backup-1\"}'")]
    Tell(PowerTell),
}

#[derive(Debug, clap::Args)]
pub struct PowerHdfs {
    /// The cluster's DataNodes and their disks, a TOML file; `-` is standard input
    #[arg(value_name = "CLUSTER", value_hint = ValueHint::FilePath)]
    pub cluster: PathBuf,
    /// Write the properties as files for hdfs-site.xml into this folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub struct PowerDaemon {
    /// The configuration, a TOML file
    #[arg(value_name = "CONFIG", value_hint = ValueHint::FilePath)]
    pub config: PathBuf,
    /// Say what is wrong with the configuration, and do nothing
    #[arg(long)]
    pub check: bool,
}

#[derive(Debug, clap::Args)]
pub struct PowerStatus {
    /// The daemon's socket
    #[arg(long, value_name = "PATH", default_value = "/run/trunkline-power/power.sock", value_hint = ValueHint::FilePath)]
    pub socket: PathBuf,
    /// Print the status as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, clap::Args)]
pub struct PowerTell {
    /// The line
    #[arg(value_name = "LINE")]
    pub line: String,
    /// The daemon's socket
    #[arg(long, value_name = "PATH", default_value = "/run/trunkline-power/power.sock", value_hint = ValueHint::FilePath)]
    pub socket: PathBuf,
}

#[derive(Debug, clap::Args)]
pub struct PowerPlan {
    /// A workload of SWIM, compressed or not; `-` is standard input
    #[arg(value_name = "WORKLOAD", value_hint = ValueHint::FilePath)]
    pub workload: PathBuf,
    /// The plan: nodes, disks, their drive, policies; a TOML file, `-` is standard input
    #[arg(value_name = "PLAN", value_hint = ValueHint::FilePath)]
    pub storage: PathBuf,
    /// Print the figures as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Import {
    #[command(subcommand)]
    pub of: Option<ImportOf>,
    /// Histories of jobs, compressed or not, and folders of them such as a history server's; `-` is standard input. The
    /// format is found by looking; a first word `jhist`, `text`, `rumen` or `sls` refuses any other. A job_*_conf.xml
    /// is found beside its history, or is named too. Or one workload of SWIM or trace of coflows; from standard input
    /// after the word `swim` or `coflow`. Or one event log of Spark, a file or the folder of a rolling one
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub files: Vec<PathBuf>,
    /// Where the scenario goes [default: standard output]
    #[arg(short, long, value_name = "SCENARIO", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Overwrite a scenario that is there
    #[arg(long, requires = "output")]
    pub force: bool,
    /// A scenario whose machines, network and settings are the cluster's
    #[arg(long, value_name = "SCENARIO", value_hint = ValueHint::FilePath)]
    pub cluster: Option<PathBuf>,
    /// The history of the job that wrote the files that this one reads, if its own does not say where they are
    /// (TestDFSIO)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub written_by: Option<PathBuf>,
    #[allow(rustdoc::broken_intra_doc_links, reason = "a TOML table, in a text for the terminal")]
    /// The run's description: a TOML file with Hadoop's properties in [configuration], which precede those of the
    /// job's conf.xml
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub run: Option<PathBuf>,
    /// Which job of several; of two jobs of one identifier, ID#1 or ID#2
    #[arg(long, value_name = "ID")]
    pub job: Option<String>,
    /// All jobs as one scenario, submitted as far apart as they were
    #[arg(long, conflicts_with = "job")]
    pub all: bool,
    /// Workers of the cluster on which a workload is to run [default: those of --cluster, else --recorded-nodes]
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=100_000))]
    pub nodes: Option<u32>,
    /// Machines on which a workload was recorded: its bytes are scaled by the workers over these
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=1_000_000))]
    pub recorded_nodes: Option<u32>,
    /// Where the part of a workload begins that is imported, as 12h
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub from: Option<Time>,
    /// How long that part is [default: to the end]
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    pub length: Option<Time>,
    /// Do not run the scenario once to compare it with the record
    #[arg(long)]
    pub no_check: bool,
    /// Exit with code 2 if the scenario is not within 10 % of the recorded job
    #[arg(long, conflicts_with = "no_check")]
    pub strict: bool,
}

/// A duration; a bare number is one of seconds.
pub fn duration(text: &str) -> Result<Time, units::ParseError> {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        format!("{text} s").parse()
    } else {
        text.parse()
    }
}

/// What else is imported.
#[derive(Debug, clap::Subcommand)]
pub enum ImportOf {
    /// Turn a cluster's configuration into the part of a scenario that describes it
    #[command(after_help = "Example:
  trunkline import cluster /etc/hadoop/conf -o cluster.toml")]
    Cluster(ImportCluster),
}

#[derive(Debug, clap::Args)]
pub struct ImportCluster {
    /// The folder with core-site.xml, hdfs-site.xml, yarn-site.xml and mapred-site.xml, a list of hosts (workers or
    /// slaves) and, for its racks, a table of hosts and racks
    #[arg(value_name = "CONF_DIR", value_hint = ValueHint::DirPath)]
    pub folder: PathBuf,
    /// Where the scenario goes [default: standard output]
    #[arg(short, long, value_name = "SCENARIO", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Overwrite a scenario that is there
    #[arg(long, requires = "output")]
    pub force: bool,
}

#[derive(Debug, clap::Args)]
pub struct Bench {
    /// The workloads; those of seconds where none is named
    #[arg(value_parser = clap::builder::PossibleValuesParser::new(sim::bench::NAMES))]
    pub names: Vec<String>,
    /// Print a list of {name, hops, cpu_s, hops_per_cpu_s, peak_bytes, ...}
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, clap::Args)]
pub struct Schema {
    /// Print the reference of all keys as Markdown instead
    #[arg(long)]
    pub reference: bool,
}

#[derive(Debug, clap::Args)]
pub struct Man {
    /// The command, as `testbed link up`; the program itself where none is named
    pub command: Vec<String>,
    /// Write the pages of the program and of all its commands into this folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "command")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub struct Completions {
    /// The shell
    pub shell: clap_complete::Shell,
}
