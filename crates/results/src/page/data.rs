//! What the page reads. `report/src/data.ts` mirrors it; the two change together.

use super::FieldData;
use serde::Serialize;
use std::collections::BTreeMap;

/// Everything on the page.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ReportData {
    /// [`super::SCHEMA`].
    pub schema: &'static str,
    /// The scenario's name.
    pub title: String,
    /// What was laid over its file, as `network.rate = 10 Mbit/s`.
    pub changes: Vec<String>,
    /// How the run was set up.
    pub setup: Vec<Fact>,
    /// The scenario's text, what differs from the defaults alone; empty if not known.
    pub scenario: String,
    /// How finely messages were simulated, as in `run.fidelity`: `packet` or `flow`.
    pub fidelity: &'static str,
    /// End of the shared time axis.
    pub end_s: f64,
    /// Jobs in the order of the scenario; none for plain traffic.
    pub jobs: Vec<Job>,
    /// An application of Spark; left out where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spark: Option<Spark>,
    /// Of many jobs, how long those of each class of size took, and behind them all; left out of few.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub job_classes: Vec<JobClass>,
    /// Of a run that was given up: who waited for what; left out of others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stalled: Option<Stalled>,
    /// Packet and TCP counters, in the order to show them.
    pub network: Vec<Count>,
    /// What the run cost, all of it and by what it is for; left out where the scenario has no prices.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cost: Vec<Fact>,
    /// The conservation laws.
    pub ledger: Vec<Balance>,
    /// Predicted beside recorded, for a run that re-does a recorded one.
    pub comparison: Option<Comparison>,
    /// What became of plain traffic.
    pub traffic: Vec<Traffic>,
    /// The master, then the workers.
    pub nodes: Vec<Node>,
    /// How evenly jobs' loads are spread over the workers; left out where there are no jobs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub imbalance: Vec<Imbalance>,
    /// States of disks; left out where the scenario does not say what they draw.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disks: Option<Disks>,
    /// Where wireless nodes were; left out where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<FieldData>,
    /// Task attempts.
    pub attempts: Attempts,
    /// Those of the recorded job that the run re-does, on the same axis: its launch is at that of the simulated job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Attempts>,
    /// Series over simulated time.
    pub charts: Vec<Chart>,
    /// Flows.
    pub flows: Flows,
    /// What happened to nodes and links.
    pub events: Vec<Happening>,
}

/// A label and a text.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fact {
    /// "Network".
    pub label: String,
    /// "star, 1 Gbit/s".
    pub value: String,
}

/// A label and a number.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Count {
    /// What is counted.
    pub label: String,
    /// How many.
    pub value: u64,
}

/// A job.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Job {
    /// Its name.
    pub name: String,
    /// `succeeded`, `failed` or `unfinished`.
    pub state: &'static str,
    /// Why, if it did not succeed.
    pub reason: String,
    /// Submission.
    pub submit_s: f64,
    /// Launch, if it came to that.
    pub launch_s: Option<f64>,
    /// Its end, or that of the run.
    pub finish_s: f64,
    /// Its phases, of successful attempts.
    pub phases: Vec<Phase>,
    /// Its volumes in bytes.
    pub bytes: Vec<Count>,
    /// What it waited for, stretch by stretch. Beyond the longest of many jobs a stretch is all time of one cause, one
    /// behind the other from submission on.
    pub critical_path: Vec<Segment>,
    /// Why it took as long as it did, the costliest causes first.
    pub findings: Vec<Finding>,
}

/// An application of Spark.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Spark {
    /// `succeeded`, `failed` or `unfinished`.
    pub state: &'static str,
    /// Why, if it did not succeed.
    pub reason: String,
    /// From the first job's submission to the last one's end, if it came to that.
    pub took_s: Option<f64>,
    /// On YARN: after how long its program could go on, if it came to that.
    pub ready_s: Option<f64>,
    /// Its executors, as far as its driver took them.
    pub executors: u32,
    /// Those of them that it lost.
    pub lost: u32,
    /// Speculative copies that it launched, and those of them that were first.
    pub copies: [u64; 2],
    /// Bytes of kept data sets that tasks read from their own executors, from others, and computed anew.
    pub cached: [u64; 3],
    /// Bytes that its executors got of what is broadcast: from the driver, and from each other.
    pub broadcast: [u64; 2],
    /// Its stages; of very many, those that took longest.
    pub stages: Vec<SparkStage>,
    /// How many others there are.
    pub left_out: u32,
    /// Executors and nodes that got no more tasks as some failed there; of very many, the first.
    pub exclusions: Vec<SparkExclusion>,
    /// How many others there were.
    pub exclusions_left_out: u32,
    /// When its first job was submitted, and when its last one was done or the run ended.
    pub span_s: [f64; 2],
    /// What each moment of it waited for, one stretch behind the other; empty where it has not ended.
    pub critical_path: Vec<Segment>,
    /// Why it took as long as it did, the costliest causes first.
    pub findings: Vec<Finding>,
}

/// From when until when an executor or a node got no more tasks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SparkExclusion {
    /// The executor's number, from 0; none: the node, with all of its executors.
    pub executor: Option<usize>,
    /// Its node.
    pub node: String,
    /// The stage from which it was excluded; none: from the application.
    pub stage: Option<String>,
    /// From when on.
    pub at_s: f64,
    /// Until when; none: it still was when the run ended.
    pub until_s: Option<f64>,
}

/// A stage of Spark. Volumes are in bytes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SparkStage {
    /// Its name.
    pub name: String,
    /// Its tasks.
    pub tasks: u32,
    /// Its partitions, which adaptive execution may have joined or split for its tasks.
    pub partitions: u32,
    /// Tasks that are done.
    pub done: u32,
    /// When its tasks were handed to the scheduler, if they were.
    pub submit_s: Option<f64>,
    /// When the last of them was done.
    pub finish_s: Option<f64>,
    /// What its tasks read of files.
    pub input: u64,
    /// What they read of shuffles.
    pub shuffle_read: u64,
    /// That part of it that came over the network.
    pub shuffle_remote: u64,
    /// What they wrote for shuffles.
    pub shuffle_write: u64,
    /// How long a task had no shuffle block to work on, as a mean.
    pub fetch_wait_s: f64,
}

/// A cause of a job's length.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// `silent-node`, `spills`, ...
    pub rule: &'static str,
    /// `low`, `moderate`, `severe` or `critical`.
    pub severity: &'static str,
    /// The time of the critical path that it accounts for.
    pub cost_s: f64,
    /// The cause, in a sentence.
    pub summary: String,
    /// The figures behind it.
    pub evidence: String,
    /// What to change.
    pub advice: String,
    /// Hadoop's properties, separated by commas.
    pub property: String,
    /// The scenario's keys, separated by commas.
    pub key: &'static str,
    /// The attempt that it shows in: a row of `attempts`, or -1.
    pub attempt: i64,
    /// The node that it is about, or -1.
    pub node: i64,
}

/// The jobs of a class of size. Times are of those that succeeded, from submission to finish.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JobClass {
    /// "up to 100 MB", read, shuffled and written together; "all".
    pub label: String,
    /// How many.
    pub jobs: u64,
    /// How many succeeded.
    pub succeeded: u64,
    /// The mean time.
    pub mean_s: f64,
    /// The median.
    pub p50_s: f64,
    /// The 95th percentile.
    pub p95_s: f64,
    /// The 99th percentile.
    pub p99_s: f64,
    /// The longest.
    pub max_s: f64,
}

/// Jobs that made no progress.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stalled {
    /// When they last made some.
    pub since_s: f64,
    /// Who waited for what when the run was given up, longest first.
    pub waits: Vec<Waits>,
}

/// Somebody waits.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Waits {
    /// Who.
    pub who: String,
    /// For what.
    pub what: String,
    /// Since when.
    pub since_s: f64,
}

/// A phase of a job.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Phase {
    /// `map`, `shuffle` or `reduce`.
    pub name: &'static str,
    /// From when.
    pub start_s: f64,
    /// To when.
    pub end_s: f64,
}

/// A stretch of the critical path.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Segment {
    /// One of the page's causes: `cpu`, `disk`, `transfer`, ...
    pub cause: &'static str,
    /// From when.
    pub start_s: f64,
    /// To when.
    pub end_s: f64,
    /// The resource in words; empty if there is none to name.
    #[serde(rename = "where")]
    pub place: String,
    /// What was going on, in words.
    pub detail: String,
    /// The connection that carried it: a row of `flows`, or -1.
    pub flow: i64,
}

/// A conservation law.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Balance {
    /// What is conserved, with its unit.
    pub what: String,
    /// Whether its two sides agree.
    pub holds: bool,
    /// What was put in.
    pub offered: u64,
    /// Where it went.
    pub accounted: Vec<Count>,
}

/// Predictions beside what happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The section's heading.
    pub title: String,
    /// How the prediction was made.
    pub note: String,
    /// One line each.
    pub rows: Vec<ComparisonRow>,
}

/// One prediction.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparisonRow {
    /// "job, launch to finish".
    pub name: String,
    /// `s` or `B`.
    pub unit: &'static str,
    /// What the simulation says.
    pub predicted: f64,
    /// What was recorded.
    pub actual: f64,
    /// The 90 % interval of the prediction over seeds.
    pub interval: Option<(f64, f64)>,
}

/// What became of one `[[traffic]]`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Traffic {
    /// Its name.
    pub name: String,
    /// Flows, sessions or rounds begun.
    pub begun: u64,
    /// Of these, complete.
    pub completed: u64,
    /// Payload delivered in order, bytes.
    pub delivered: u64,
    /// Payload rate in bits per second.
    pub goodput: u64,
    /// Median completion time.
    pub completion_p50_s: f64,
    /// 95th percentile.
    pub completion_p95_s: f64,
    /// 99th percentile.
    pub completion_p99_s: f64,
    /// 99.9th percentile, of a thousand or more.
    pub completion_p999_s: Option<f64>,
    /// The longest.
    pub completion_max_s: f64,
    /// Cumulative distribution of completion times: seconds, share of the complete.
    pub completion: Vec<(f64, f64)>,
    /// Jain's fairness index.
    pub jain: f64,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Its rack.
    pub rack: u32,
    /// Bytes received, headers included.
    pub received: u64,
    /// Bytes sent, headers included.
    pub sent: u64,
    /// Seconds of one core at speed 1.
    pub cpu_work_s: f64,
    /// Of a worker of jobs, what of their bytes is its own: its loads in the order of `imbalance`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub loads: Vec<u64>,
    /// What it drew; left out where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub energy: Option<Drawn>,
}

/// The spread of a load over the workers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Imbalance {
    /// The load in words.
    pub label: String,
    /// The greatest over the mean; null where there is nothing.
    pub max_over_mean: Option<f64>,
    /// The coefficient of variation.
    pub variation: Option<f64>,
}

/// What a node drew, in joules.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Drawn {
    /// In all.
    pub total_j: f64,
    /// For being on, its screen aside.
    pub idle_j: f64,
    /// For its screen.
    pub screen_j: f64,
    /// For the work of its cores.
    pub cpu_j: f64,
    /// For its radio.
    pub radio_j: f64,
    /// For its disks, where that is not part of `idle_j`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disks_j: Option<f64>,
    /// What part of its battery is left, if it has one.
    pub battery: Option<f64>,
    /// When that was empty, if it was.
    pub empty_s: Option<f64>,
}

/// States of disks over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Disks {
    /// The states' names by number: "ready", "standby", ...
    pub states: Vec<&'static str>,
    /// The disks; of very many, those that were woken most often.
    pub lanes: Vec<DiskLane>,
    /// How many others are left out.
    pub left_out: usize,
    /// What all of them drew, in joules.
    pub drawn_j: f64,
    /// What they would have drawn for the same requests without rest.
    pub always_on_j: f64,
    /// The least that they could have drawn for these.
    pub least_j: f64,
}

/// A disk over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DiskLane {
    /// Its name.
    pub name: String,
    /// Row of `nodes`.
    pub node: u32,
    /// What it holds.
    pub role: String,
    /// What it drew, in joules.
    pub drawn_j: f64,
    /// What it would have drawn for the same requests without rest.
    pub always_on_j: f64,
    /// The least that it could have drawn for these.
    pub least_j: f64,
    /// Starts of its motor.
    pub starts: u64,
    /// How long requests waited for it to be ready.
    pub late_s: f64,
    /// When it came into each state.
    pub at_s: Vec<f64>,
    /// Which state.
    pub state: Vec<u8>,
    /// Why it was woken; empty if it was not.
    pub cause: Vec<String>,
}

/// Task attempts by column.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Attempts {
    /// As Hadoop names them: `m_000003_0`.
    pub name: Vec<String>,
    /// Row of `nodes`.
    pub node: Vec<u32>,
    /// 0 map, 1 reduce.
    pub kind: Vec<u8>,
    /// 0 succeeded, 1 failed, 2 killed, 3 running.
    pub outcome: Vec<u8>,
    /// 1 for a speculative one.
    pub speculative: Vec<u8>,
    /// Start.
    pub start_ms: Vec<u64>,
    /// End.
    pub end_ms: Vec<u64>,
    /// Bytes in.
    pub bytes_in: Vec<u64>,
    /// Bytes out.
    pub bytes_out: Vec<u64>,
    /// Attempt i has the phases from `phase_at[i]` up to `phase_at[i + 1]`.
    pub phase_at: Vec<u32>,
    /// Which phase.
    pub phase_kind: Vec<u8>,
    /// Its start.
    pub phase_start_ms: Vec<u64>,
    /// Its end.
    pub phase_end_ms: Vec<u64>,
    /// Why an attempt did not succeed, by its row.
    pub note: BTreeMap<usize, String>,
}

/// Series that share one grid: value i covers the time from i to i + 1 steps.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Chart {
    /// A short stable name.
    pub id: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// The label of its y axis, without the unit.
    pub label: String,
    /// `share`, `bit/s`, `B`, `s` or `count`.
    pub unit: &'static str,
    /// How a value came from finer ones: `mean`, `peak` or `sum`.
    pub holds: &'static str,
    /// Length of a step.
    pub step_s: f64,
    /// What 1 is worth in the unit.
    pub scale: f64,
    /// The series; of very many, the busiest.
    pub series: Vec<Series>,
    /// How many quieter ones are left out.
    pub left_out: usize,
}

/// One series.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// What it is of.
    pub name: String,
    /// The node that it belongs to, -1 for none.
    pub node: i64,
    /// Its values.
    pub values: Vec<u64>,
}

/// The largest flows by column, and how long all of them took.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Flows {
    /// How many there were.
    pub total: u64,
    /// The sender of most of the payload.
    pub from: Vec<String>,
    /// Its receiver.
    pub to: Vec<String>,
    /// What it was for.
    pub service: Vec<String>,
    /// Start.
    pub start_us: Vec<u64>,
    /// End.
    pub end_us: Vec<u64>,
    /// 0 complete, 1 open at the end of the run, 2 reset.
    pub end_kind: Vec<u8>,
    /// Payload, both ways.
    pub bytes: Vec<u64>,
    /// Segments sent again.
    pub retransmissions: Vec<u64>,
    /// Retransmission timeouts.
    pub timeouts: Vec<u64>,
    /// Packets that queues dropped, both ways.
    pub drops: Vec<u64>,
    /// The last smoothed round-trip time of the sender, -1 if not known.
    pub rtt_us: Vec<i64>,
    /// The least one, -1 if not known.
    pub least_rtt_us: Vec<i64>,
    /// What kept the sender from sending more: a place in `crate::Limits::NAMES`, -1 if nobody looked.
    pub limit: Vec<i8>,
    /// At which part of the samples, per mille.
    pub limit_share: Vec<u16>,
    /// Its largest cwnd at a sample, in bytes; 0 if not known.
    pub window_max: Vec<u64>,
    /// How many completed flows the distribution is over.
    pub completed: u64,
    /// Cumulative distribution of completion times: seconds, share of flows.
    pub completion: Vec<(f64, f64)>,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Happening {
    /// When it happened, in seconds.
    pub at_s: f64,
    /// To which node, -1 for none.
    pub node: i64,
    /// A short stable name.
    pub kind: String,
    /// In words.
    pub text: String,
}
