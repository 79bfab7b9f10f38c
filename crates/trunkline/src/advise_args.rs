//! The words of `trunkline advise`.

use crate::args::{Change, Effort};
use crate::number::whole;
use clap::ValueHint;
use std::path::PathBuf;
use units::Time;

#[derive(Debug, clap::Args)]
pub struct Advise {
    /// The scenario, a TOML file, such as `trunkline import` makes of a job's history; `-` is standard input
    #[arg(required_unless_present = "list", value_hint = ValueHint::FilePath)]
    pub scenario: Option<PathBuf>,
    #[command(flatten)]
    pub change: Change,
    /// What is to become less: time (of jobs from submission to finish; their mean), energy (J), cost (by the
    /// scenario's prices), or ptc:ALPHA, which weighs energy by ALPHA and time by the rest
    #[arg(long, default_value = "time")]
    pub objective: advise::Objective,
    /// The time for trying remedies: runs that are not over by then are given up, and what was not tried is said; the
    /// scenario as it is runs in any case [default: 2min]
    #[arg(long, value_name = "TIME", value_parser = crate::args::duration, conflicts_with = "all")]
    pub budget: Option<Time>,
    /// Take as long as it takes
    #[arg(long)]
    pub all: bool,
    /// Seeds of what is confirmed
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = whole::<u32>(2..=1000))]
    pub runs: u32,
    /// A key of the scenario that must stay as it is, as hdfs.replication; again for more of them
    #[arg(long, value_name = "KEY")]
    pub keep: Vec<String>,
    /// Only this remedy; again for more of them
    #[arg(long, value_name = "REMEDY", conflicts_with = "without")]
    pub only: Vec<String>,
    /// Not this remedy; again for more of them
    #[arg(long, value_name = "REMEDY")]
    pub without: Vec<String>,
    /// A file of further remedies; one of a known name takes that one's place
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub remedies: Option<PathBuf>,
    /// List the remedies
    #[arg(long)]
    pub list: bool,
    /// The folder of the advice [default: results/advise-NAME]; finished runs there are not made again
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
    /// Print advice.json instead of the summary
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub effort: Effort,
}
