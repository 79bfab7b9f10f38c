//! The words of `trunkline testbed`.

use crate::number::whole;
use crate::testbed_hadoop_args::{Hadoop, StarArgs};
use clap::{Subcommand, ValueHint};
use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;
use testbed::link::{DISCIPLINES, QueueLimit, Shape, Share};
use testbed::study::Only;
use units::{BitRate, Time};

#[derive(Debug, clap::Args)]
pub struct Testbed {
    #[command(subcommand)]
    pub command: TestbedCommand,
}

#[derive(Debug, Subcommand)]
pub enum TestbedCommand {
    /// Emulated links between network namespaces: rate, delay, jitter, queue, loss, reordering
    Link(Box<Link>),
    /// Measure real programs over emulated paths: by themselves, through jet, and by its competitors
    #[command(after_help = "Examples:
  trunkline testbed study list
  trunkline testbed study jet-programs --quick
  trunkline testbed study jet-grid --list
  trunkline testbed study jet-grid --only path=r40ms-l0 --only way=plain,jet
  trunkline testbed study jet-programs --only program=mysqldump --only buffers=64KiB
  trunkline testbed study path/to/folder

It has to be run as root, and needs Debian's packages of the programs that it drives; what is not there is named and \
                  left out. A study that is interrupted goes on where it was when the same command is given again.")]
    Study(Study),
    /// A real Hadoop cluster on this machine: HDFS, YARN and a history server on a star of links
    Hadoop(Hadoop),
}

#[derive(Debug, clap::Args)]
pub struct Study {
    /// A study's name (jet-grid, jet-programs), a folder with a testbed.toml, or `list` for the names
    #[arg(required = true, value_hint = ValueHint::DirPath)]
    pub names: Vec<String>,
    /// A few cells, short ones: a look
    #[arg(long)]
    pub quick: bool,
    /// Only cells with these values; again for more keys: path, program, way, buffers, control
    #[arg(long, value_name = "KEY=VALUE[,VALUE]")]
    pub only: Vec<Only>,
    /// How long downloads that are cut off by time are measured after the first twelve round trips, in place of the
    /// study's
    #[arg(long, value_name = "TIME")]
    pub time: Option<Time>,
    /// Measure all of them again
    #[arg(long)]
    pub redo: bool,
    /// Do not measure again those during which the emulator was late, or which failed
    #[arg(long, conflicts_with = "redo")]
    pub keep_late: bool,
    /// The folder of results, one in it for each study [default: results/testbed]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
    /// Where servers' files and databases are made meanwhile: some GB [default: the system's folder for temporary
    /// files]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub scratch: Option<PathBuf>,
    /// List the cells and what is kept of them, and how long the rest takes
    #[arg(long)]
    pub list: bool,
    /// Measure nothing: write and print the tables of what is kept
    #[arg(long, conflicts_with_all = ["redo", "list"])]
    pub tables: bool,
    /// Print results.json instead of the tables
    #[arg(long)]
    pub json: bool,
    /// Show no progress
    #[arg(long, short)]
    pub quiet: bool,
    /// Started in namespaces of its own, with this folder for servers' files
    #[arg(long, value_name = "DIR", hide = true)]
    pub inside: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub struct Link {
    #[command(subcommand)]
    pub command: LinkCommand,
}

#[derive(Debug, Subcommand)]
pub enum LinkCommand {
    /// Make two namespaces, NAME-near and NAME-far, and emulated paths between them
    #[command(after_help = "Examples:
  trunkline testbed link up --rate 155Mbit/s --delay 50ms --loss 0.1%
  trunkline testbed link up three --name wan
  ip netns exec wan-far iperf3 -s &
  ip netns exec wan-near iperf3 -c 198.18.0.2
  trunkline testbed link down wan")]
    Up(Up),
    /// Run a program at the near end of emulated paths, then take everything down; its exit code is the program's
    #[command(after_help = "Examples:
  trunkline testbed link run --rate 10Mbit/s,1Mbit/s --delay 20ms -- ping -c 3 198.18.0.2
  trunkline testbed link run continental -- sh -c 'nsenter --net=$TRUNKLINE_FAR_NAMESPACE iperf3 -s -1 & sleep 1; iperf3 -c $TRUNKLINE_FAR'

The program finds in its environment TRUNKLINE_FAR, the far address of the first path; TRUNKLINE_FAR_NAMESPACE, by which
nsenter enters the far namespace; and TRUNKLINE_PATHS, all paths with their addresses as JSON.")]
    Run(Run),
    /// Run a program among hosts on a star of links, as a scenario's nodes are, then take everything down
    #[command(after_help = "Examples:
  trunkline testbed link star --workers 3 --rate 10Mbit/s -- bash
  trunkline testbed link star cluster.toml --report late.json -- sh -c '
    nsenter --net=$TRUNKLINE_NAMESPACE_WORKER_1 iperf3 -s -1 -D; iperf3 -c $TRUNKLINE_ADDRESS_WORKER_1'

The same scenario drives `testbed hadoop up` and `run`. The program finds in its environment the address and the
namespace of each host, as above, and all of them as JSON in TRUNKLINE_HOSTS; its exit code is that of the command.")]
    Star(StarRun),
    /// Take a link down, or clean away what a killed one has left
    Down(Down),
    /// Show what links have done, and how late their emulator was
    Status(Status),
    /// List the links that are up
    List(List),
}

#[derive(Debug, clap::Args)]
pub struct Up {
    #[command(flatten)]
    pub paths: PathArgs,
    /// The link's name
    #[arg(long, default_value = "link")]
    pub name: String,
    /// Stay, and take the link down at the end: at Ctrl-C or SIGTERM
    #[arg(long)]
    pub foreground: bool,
    /// Started in the background by another one, which waits for a line
    #[arg(long, hide = true, requires = "foreground")]
    pub detached: bool,
    /// Print the link's record as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, clap::Args)]
pub struct Run {
    #[command(flatten)]
    pub paths: PathArgs,
    /// Run the program at the far end
    #[arg(long)]
    pub far: bool,
    /// Write what the paths have done, and how late the emulator was, to this file as JSON
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub report: Option<PathBuf>,
    /// Do not show it on standard error
    #[arg(long, short)]
    pub quiet: bool,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND", value_hint = ValueHint::CommandWithArguments)]
    pub program: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub struct StarRun {
    #[command(flatten)]
    pub star: StarArgs,
    /// The host at which the program runs
    #[arg(long, value_name = "HOST", default_value = "master")]
    pub at: String,
    /// Write what emulated links have done, and how late the emulator was, to this file as JSON
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub report: Option<PathBuf>,
    /// Do not show it on standard error
    #[arg(long, short)]
    pub quiet: bool,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND", value_hint = ValueHint::CommandWithArguments)]
    pub program: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub struct Down {
    /// The link's name
    pub name: String,
}

#[derive(Debug, clap::Args)]
pub struct Status {
    /// The link's name [default: all]
    pub name: Option<String>,
    /// Print records and reports as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, clap::Args)]
pub struct List {
    /// Print the records as JSON
    #[arg(long)]
    pub json: bool,
}

/// Which paths: those of a file, or one, changed by options. Where an option takes one value it holds both ways, of two
/// the second is for the way back.
#[derive(Debug, clap::Args)]
pub struct PathArgs {
    /// Paths from a TOML file, or ready ones: local, metro, continental, satellite, cambridge-beijing, three
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: Option<PathBuf>,
    /// Rate, or two: there,back [default: as fast as it comes]
    #[arg(long, value_name = "RATE[,RATE]")]
    rate: Option<Ways<BitRate>>,
    /// Delay, one way
    #[arg(long, value_name = "TIME[,TIME]")]
    delay: Option<Ways<Time>>,
    /// Variation of the delay, uniform to both sides
    #[arg(long, value_name = "TIME[,TIME]")]
    jitter: Option<Ways<Time>>,
    /// Let frames overtake each other by the jitter
    #[arg(long, requires = "jitter")]
    jitter_reorders: bool,
    /// Share of frames lost at random
    #[arg(long, value_name = "SHARE[,SHARE]")]
    loss: Option<Ways<Share>>,
    /// Lose them in bursts of this mean length in frames
    #[arg(long, value_name = "FRAMES[,FRAMES]")]
    burst: Option<Ways<f64>>,
    /// Share of frames held back for others to overtake
    #[arg(long, value_name = "SHARE[,SHARE]", requires = "reorder_by")]
    reorder: Option<Ways<Share>>,
    /// For how long those are held back
    #[arg(long, value_name = "TIME[,TIME]")]
    reorder_by: Option<Ways<Time>>,
    /// How much waits: "100 packets", "64 KB" or "50 ms" [default: what the path carries in a round trip, at least 100
    /// packets]
    #[arg(long, value_name = "LIMIT[,LIMIT]")]
    queue: Option<Ways<QueueLimit>>,
    /// The queue's discipline
    #[arg(long, value_name = "KIND", value_parser = clap::builder::PossibleValuesParser::new(DISCIPLINES))]
    discipline: Option<String>,
    /// Changes over time: a trace of Mahimahi, or a table with columns time, rate, delay, loss
    #[arg(long, value_name = "FILE[,FILE]", value_hint = ValueHint::FilePath)]
    trace: Option<Ways<PathBuf>>,
    /// What all random draws depend on [default: the file's, else 1]
    #[arg(long, value_name = "N", value_parser = whole::<u64>(0..=u64::MAX))]
    pub seed: Option<u64>,
}

/// A value for both ways, or one there and one back.
#[derive(Clone, Debug)]
struct Ways<T> {
    forth: T,
    back: Option<T>,
}

impl<T: FromStr<Err: Display>> FromStr for Ways<T> {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let parse = |text: &str| text.trim().parse().map_err(|error: T::Err| error.to_string());
        match text.split_once(',') {
            Some((forth, back)) => Ok(Self { forth: parse(forth)?, back: Some(parse(back)?) }),
            None => Ok(Self { forth: parse(text)?, back: None }),
        }
    }
}

impl PathArgs {
    /// What the options say of the way there and of the way back.
    pub fn shapes(&self) -> [Shape; 2] {
        [false, true].map(|back| {
            let mut shape = Shape::default();
            shape.rate = way(self.rate.as_ref(), back);
            shape.delay = way(self.delay.as_ref(), back);
            shape.jitter = way(self.jitter.as_ref(), back);
            shape.jitter_reorders = self.jitter_reorders.then_some(true);
            shape.loss = way(self.loss.as_ref(), back);
            shape.burst = way(self.burst.as_ref(), back);
            shape.reorder = way(self.reorder.as_ref(), back);
            shape.reorder_by = way(self.reorder_by.as_ref(), back);
            shape.queue.limit = way(self.queue.as_ref(), back);
            shape.queue.kind.clone_from(&self.discipline);
            shape.trace = way(self.trace.as_ref(), back);
            shape
        })
    }
}

fn way<T: Clone>(ways: Option<&Ways<T>>, back: bool) -> Option<T> {
    let ways = ways?;
    Some(ways.back.as_ref().filter(|_| back).unwrap_or(&ways.forth).clone())
}
