//! The simulator: builds a world from a scenario, runs it, and collects the results.

#![warn(clippy::cast_possible_truncation)]

mod air;
pub mod bench;
mod chores;
mod cluster;
mod disk_series;
mod energy;
mod flows;
mod hosts;
mod lower;
mod manager;
pub mod power_daemon;
mod run;
mod run_result;
mod sample;
pub mod storage_plan;
mod throttle;
mod watch;
pub mod world;

pub use air::{AirSpec, Routing};
pub use flows::{MOST_FLOWS, SAMPLE, TakeFlows};
pub use lower::{
    Machine, Reach, check_plans, hadoop_config, links, machines, parse, parse_with_warnings, reach, tcp_config,
    topology,
};
pub use run::{Tap, run, run_tapped, run_with};
pub use watch::{Progress, RunError, Watch};
