//! The words of `trunkline sweep`.

use crate::args::Effort;
use crate::number::whole;
use clap::ValueHint;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct Sweep {
    /// The sweep, a TOML file: a scenario, keys with lists or ranges of values, seeds; `-` is standard input
    #[arg(value_name = "SWEEP", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// Set a key of the scenario in all runs, after those that the file sets
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub assignments: Vec<String>,
    /// Seeds of each point, in place of the file's
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=10_000))]
    pub seeds: Option<u32>,
    /// The folder of the table and the page [default: results/sweep-NAME]; finished runs there are not made again
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
    /// Print the runs as lines of JSON, and make none
    #[arg(long, conflicts_with_all = ["only", "from", "fresh", "json"])]
    pub plan: bool,
    /// Make only the K-th of N shares of the runs; shares of one folder, or joined by --from, make the whole
    #[arg(long, value_name = "K/N")]
    pub only: Option<sweep::Share>,
    /// Take over the finished runs of this folder, too: another share's; again for more of them
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub from: Vec<PathBuf>,
    /// Have the runs made by the Dask cluster of this scheduler (tcp://HOST:PORT), through the Python package with
    /// its extra `dask`
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["plan", "only", "from"])]
    pub dask: Option<String>,
    /// With --dask: a folder, by any path that fsspec knows (s3://...), that fills with rows of runs as Parquet files
    #[arg(long, value_name = "PATH", requires = "dask")]
    pub dataset: Option<String>,
    /// Make all runs, also those that an earlier call has finished
    #[arg(long)]
    pub fresh: bool,
    /// Print sweep.json instead of the summary
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub effort: Effort,
}
