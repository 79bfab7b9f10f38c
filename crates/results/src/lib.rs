//! Results of a run: plain data in simulated time. Writers and the report read nothing else.
//!
//! Wall time and CPU time never enter it, so the same scenario and seed give the same [`RunResult`] bit for bit. Tables
//! refer to each other by position: `node` is a row of `nodes` (0 is the master), `link` a row of `links`, `job` a row
//! of `jobs`.

mod cost;
mod disk_power;
mod energy;
pub mod field;
pub mod findings;
mod flat;
mod imbalance;
mod job;
mod losses;
mod many_jobs;
mod master;
pub mod metrics;
mod network;
mod object_store;
pub mod page;
mod pcapng;
mod spark;
mod stall;
mod statistics;
mod stripe;
mod summary;
mod tables;
mod traffic;
mod value;

pub use self::spark::{
    SPARK, SPARK_EXCLUSIONS, SPARK_EXECUTORS, SPARK_JOBS, SPARK_STAGES, SPARK_TASKS, SPARK_WANTED, SparkApplication,
    SparkExclusion, SparkExecutor, SparkJob, SparkSegment, SparkStage, SparkTask, SparkTaskEnd, SparkWanted,
};
pub use cost::{COST, Cost};
pub use disk_power::{DISK_STATES, DiskChange, DiskPower, DisksEnergy, Offload};
pub use energy::{EnergyUse, NodeEnergy, RadioUse};
pub use field::Field;
pub use flat::{FlatFigure, flat, unit_of};
pub use imbalance::{BALANCER, Balancing, IMBALANCE, Imbalance, NodeLoad, imbalances};
pub use job::{
    ATTEMPTS, Attempt, AttemptState, Breakdown, CriticalSegment, Interval, JOBS, Job, JobBytes, JobState, Locality,
    Phase, TaskKind, Waiting,
};
pub use losses::{ARRAY_LOSSES, ArrayLosses, BLOCK_LOSSES, BlockLosses, LOSSES, Losses};
pub use many_jobs::{FEW_JOBS, JobClass, breakdown_of_all, job_classes};
pub use master::{MASTER, Master, Namespace, RpcServer};
pub use network::{
    Bond, DISKS, Disk, FLOWS, Flow, LINKS, Limits, Link, LinkEnd, NODES, NetworkTotals, Node, OCCUPANCY, QUEUES,
};
pub use object_store::{NAME as STORE_NAME, OBJECT_STORE, REQUESTS, StoreUse};
pub use pcapng::{Capture, Frame};
pub use stall::Stall;
pub use statistics::{Estimate, t_quantile};
pub use stripe::{StreamCountAt, StreamOutcome, StripeOutcome};
pub use summary::{RUN, SCHEMA, summary, to_json};
pub use tables::{Column, SAMPLES, Table, TableFile, flow_table, tables};
pub use traffic::{
    CLIENTS, COFLOWS, Client, CoflowOutcome, Completions, Deadlines, MessageOutcome, SizeClass, Spread, TRAFFIC,
    TrafficOutcome, jain,
};
pub use value::Value;

use findings::Finding;
use metrics::{Metrics, figure};
use std::borrow::Cow;
use units::Time;

/// All results of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunResult {
    /// The scenario's name.
    pub name: String,
    /// Names the scenario as resolved, seed aside.
    pub scenario_digest: String,
    /// The seed of every random stream.
    pub seed: u64,
    /// The simulated time at which the run ended.
    pub ended_at: Time,
    /// Why it was given up, if it was: its jobs made no progress.
    pub stall: Option<Stall>,
    /// Jobs in the order in which the scenario lists them.
    pub jobs: Vec<Job>,
    /// Task attempts in the order of their start.
    pub attempts: Vec<Attempt>,
    /// What became of each `[[traffic]]` of the scenario.
    pub traffic: Vec<TrafficOutcome>,
    /// Connections in the order of their opening; a sample of them where there are more than `sim::MOST_FLOWS`.
    pub flows: Vec<Flow>,
    /// Number of connections, in the sample or not.
    pub flow_count: u64,
    /// Links, one direction each.
    pub links: Vec<Link>,
    /// Ends of bonds, two for each.
    pub bonds: Vec<Bond>,
    /// The master, then the workers.
    pub nodes: Vec<Node>,
    /// How evenly the jobs' loads are spread over the workers, where the run has jobs.
    pub imbalance: Vec<Imbalance>,
    /// What HDFS's Balancer has done, where one is started.
    pub balancer: Option<Balancing>,
    /// The application of Spark, where there is one.
    pub spark: Option<SparkApplication>,
    /// What became of the requests to the object store, where there is one.
    pub object_store: Option<StoreUse>,
    /// Disks of the nodes, or of the hosts they share.
    pub disks: Vec<Disk>,
    /// Where nodes were, of a wireless run alone.
    pub field: Option<Field>,
    /// Sums over the whole network; none where packets are not modelled (`run.fidelity = "flow"`).
    pub network: Option<NetworkTotals>,
    /// Messages went as flows: what only packets show was not modelled.
    pub by_flows: bool,
    /// The master node's side of calls, where the run has jobs.
    pub master: Option<Master>,
    /// The length of one step of every sampled series; a series holds one value per step from time zero on.
    pub sample_interval: Time,
    /// Retransmitted segments in each step, all flows together.
    pub retransmissions: Vec<u32>,
    /// Retransmission timeouts in each step, all flows together.
    pub timeouts: Vec<u32>,
    /// Energy of nodes, where their power is known.
    pub energy: Option<EnergyUse>,
    /// What it cost, where the scenario says prices.
    pub cost: Option<Cost>,
    /// How often data are to be expected lost, where the scenario says how often disks fail.
    pub losses: Option<Losses>,
    /// Events for the reader: faults, lost nodes, failed attempts, give-ups.
    pub events: Vec<Event>,
    /// The conservation laws, each with its two sides.
    pub ledger: Vec<Balance>,
    /// Why jobs took as long as they did, job by job, the costliest causes first.
    pub findings: Vec<Finding>,
}

impl RunResult {
    /// Whether `flows` is a sample, the whole table having been written during the run.
    pub fn is_sampled(&self) -> bool {
        self.flow_count > self.flows.len() as u64
    }
    /// Whether messages went as packets: otherwise as whole flows, which have no queues, losses or TCP.
    pub const fn has_packets(&self) -> bool {
        self.network.is_some()
    }
    /// The laws that do not hold: any is an internal error.
    pub fn violations(&self) -> impl Iterator<Item = &Balance> {
        self.ledger.iter().filter(|balance| !balance.holds())
    }
}

/// An event of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Time of the event.
    pub at: Time,
    /// A short stable name: `node-down`, `node-up`, `node-lost`, `link-down`, `link-up`, `slow`, `attempt-failed`,
    /// `attempt-killed`, `blacklisted`, `block-lost`, `overflow`, `by-packets`, `fetches-together`,
    /// `large-pieces`, `no-answer`, ...
    pub kind: String,
    /// The node it concerns.
    pub node: Option<u32>,
    /// The link it concerns.
    pub link: Option<u32>,
    /// A text for the reader.
    pub detail: String,
}

/// A conservation law: what was put in equals the sum of what it became.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Balance {
    /// What is conserved, with its unit: "packets", "map output, bytes".
    pub what: String,
    /// The amount put in.
    pub offered: u64,
    /// What it became, by name.
    pub accounted: Vec<(String, u64)>,
}

impl Balance {
    /// Whether the two sides agree.
    pub fn holds(&self) -> bool {
        self.accounted.iter().map(|(_, count)| u128::from(*count)).sum::<u128>() == u128::from(self.offered)
    }
}

/// Figures of an event.
pub static EVENTS: Metrics<Event> = Metrics {
    name: "events",
    what: "Something that happened: faults, members of bonds that leave and join, clients that join and lose access \
           points, empty batteries, failed and killed attempts.",
    file: Some("events"),
    metrics: &[
        figure("at_s", "When it happened.").column("time_s").time(|event| event.at),
        figure("kind", "A short stable name: `node-down`, `link-up`, `attempt-failed`, ...")
            .text(|event| event.kind.clone()),
        figure("node", "The node it concerns, if any.")
            .no_key()
            .text(|event| event.node.map(|node| event.node(node)).unwrap_or_default()),
        figure("link", "The link it concerns, if any.").no_key().text(|event| {
            let link = event.link.and_then(|link| event.run.links.get(link as usize));
            link.map(|link| link.name.clone()).unwrap_or_default()
        }),
        figure("detail", "What happened, in words.").text(|event| event.detail.clone()),
    ],
};

/// The conservation laws.
pub static LEDGER: Metrics<Balance> = Metrics {
    name: "ledger",
    what: "A conservation law; one that does not hold ends the run with exit code 1.",
    file: None,
    metrics: &[
        figure("what", "What is conserved, with its unit.").text(|law| law.what.clone()),
        figure("offered", "How much was put in.").count("as `what` says", |law| law.offered),
        figure("accounted", "Where it went.").entries("as `what` says", |law| {
            Value::sorted(law.accounted.iter().map(|(name, count)| (Cow::Owned(name.clone()), *count)))
        }),
        figure("holds", "Whether the two sides agree.").flag(|law| law.holds()),
    ],
};
