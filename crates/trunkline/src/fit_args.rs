//! The words of `trunkline fit`.

use crate::number::whole;
use clap::ValueHint;
use std::path::PathBuf;
use units::{BitRate, Bytes};

#[derive(Debug, clap::Args)]
pub struct Fit {
    /// Histories of jobs of one cluster, and folders of them. Each has its cluster's description beside it, as
    /// `testbed hadoop run` leaves it (cluster.toml), or --cluster says it for all
    #[arg(required = true, value_name = "HISTORY", value_hint = ValueHint::AnyPath)]
    pub histories: Vec<PathBuf>,
    /// A scenario whose machines, network and settings are the cluster's
    #[arg(long, value_name = "SCENARIO", value_hint = ValueHint::FilePath)]
    pub cluster: Option<PathBuf>,
    /// Predict a job: size=4GB,rate=100Mbit/s,workers=8,reducers=8, what is left out being as it was; or a scenario, of
    /// which these are taken; again for more of them
    #[arg(long, value_name = "WHAT")]
    pub predict: Vec<String>,
    /// Only this job is predicted and proposed, by its name in the table
    #[arg(long, value_name = "NAME")]
    pub job: Option<String>,
    /// Predict these histories, which have no part in the fit, and say how far that is off; again for more of them
    #[arg(long, value_name = "HISTORY", value_hint = ValueHint::AnyPath)]
    pub against: Vec<PathBuf>,
    /// Sizes among which the next run is proposed [default: each job's own, and twice and four times its largest]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub sizes: Vec<Bytes>,
    /// Rates among which it is [default: those there are, and a quarter of the lowest]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub rates: Vec<BitRate>,
    /// Numbers of workers among which it is [default: those there are]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = whole::<u32>(1..=100_000))]
    pub workers: Vec<u32>,
    /// Print all as JSON
    #[arg(long)]
    pub json: bool,
}
