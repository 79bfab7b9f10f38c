//! Settings of MapReduce that the cluster's generation of Hadoop, or its scheduler, has no use for.

use super::check::Check;
use super::{Generation, MapReduce, Scheduler};

const CONTAINERS: &str = "Hadoop 1 has slots, and no containers";
const HEARTBEATS: &str = "in Hadoop 1 a heartbeat is given tasks for slots, not containers";
const MASTERS: &str = "Hadoop 1 has no AppMaster";

/// A key that one generation has, why the other has no use for it, and whether two values of it differ.
type Key = (&'static str, &'static str, fn(&MapReduce, &MapReduce) -> bool);

/// Keys of YARN.
const OF_YARN: [Key; 16] = [
    ("mapreduce.node-memory", CONTAINERS, |a, b| a.node_memory != b.node_memory),
    ("mapreduce.node-vcores", CONTAINERS, |a, b| a.node_vcores != b.node_vcores),
    ("mapreduce.map-memory", CONTAINERS, |a, b| a.map_memory != b.map_memory),
    ("mapreduce.reduce-memory", CONTAINERS, |a, b| a.reduce_memory != b.reduce_memory),
    ("mapreduce.minimum-allocation", CONTAINERS, |a, b| a.minimum_allocation != b.minimum_allocation),
    ("mapreduce.first-start-delays", CONTAINERS, |a, b| a.first_start_delays != b.first_start_delays),
    ("mapreduce.start-delays", CONTAINERS, |a, b| a.start_delays != b.start_delays),
    ("mapreduce.asynchronous", "in Hadoop 1 heartbeats are given tasks, and no thread hands any out", |a, b| {
        a.asynchronous != b.asynchronous
    }),
    ("mapreduce.containers-per-heartbeat", HEARTBEATS, |a, b| a.containers_per_heartbeat != b.containers_per_heartbeat),
    ("mapreduce.off-switch-per-heartbeat", HEARTBEATS, |a, b| a.off_switch_per_heartbeat != b.off_switch_per_heartbeat),
    ("mapreduce.half-per-heartbeat", HEARTBEATS, |a, b| a.half_per_heartbeat != b.half_per_heartbeat),
    ("mapreduce.locality-delay", "in Hadoop 1 jobs wait for a time, `locality-wait`, and count no offers", |a, b| {
        a.locality_delay != b.locality_delay
    }),
    ("mapreduce.am-memory", MASTERS, |a, b| a.am_memory != b.am_memory),
    ("mapreduce.am-heap", MASTERS, |a, b| a.am_heap != b.am_heap),
    ("mapreduce.am-heartbeat", MASTERS, |a, b| a.am_heartbeat != b.am_heartbeat),
    ("mapreduce.am-start", MASTERS, |a, b| a.am_start != b.am_start),
];

/// Keys of Hadoop 1.
const OF_HADOOP1: [Key; 4] = [
    (
        "mapreduce.map-slots",
        "YARN has containers, and no slots: `node-memory` and `map-memory` say how many",
        |a, b| a.map_slots != b.map_slots,
    ),
    (
        "mapreduce.reduce-slots",
        "YARN has containers, and no slots: `node-memory` and `reduce-memory` say how many",
        |a, b| a.reduce_slots != b.reduce_slots,
    ),
    ("mapreduce.jvm-tasks", "a container's JVM runs one task, but for `mapreduce.uber`", |a, b| {
        a.jvm_tasks != b.jvm_tasks
    }),
    ("mapreduce.locality-wait", "in YARN jobs decline offers, `locality-delay`, and count no time", |a, b| {
        a.locality_wait != b.locality_wait
    }),
];

impl Generation {
    /// Whether it has a use for a key, which may be of the other generation only.
    pub fn heeds(self, key: &str) -> bool {
        !self.of_the_other().iter().any(|(other, ..)| *other == key)
    }
    fn of_the_other(self) -> &'static [Key] {
        match self {
            Self::Hadoop1 => &OF_YARN,
            Self::Yarn => &OF_HADOOP1,
        }
    }
}

/// What has no effect.
pub(super) fn warn(check: &mut Check<'_>) {
    let generation = check.scenario.cluster.generation;
    let other = if generation == Generation::Yarn { Generation::Hadoop1 } else { Generation::Yarn };
    // A resolved text states all keys.
    let (of, usual) = (&check.scenario.mapreduce, MapReduce::default());
    for (key, why, differs) in generation.of_the_other() {
        if differs(of, &usual) {
            let help = format!("`cluster.generation = \"{}\"`, or leave it out", other.word());
            check.says(key, format!("it has no effect: {why}"), help);
        }
    }
    match generation {
        Generation::Hadoop1 => in_hadoop1(check),
        Generation::Yarn => in_yarn(check),
    }
}

fn in_hadoop1(check: &mut Check<'_>) {
    let of = &check.scenario.mapreduce;
    if of.scheduler == Scheduler::Fifo && of.locality_wait != MapReduce::default().locality_wait {
        let message = "it has no effect: only the fair scheduler waits for local slots";
        check.says("mapreduce.locality-wait", message, "`mapreduce.scheduler = \"fair\"`, or leave it out");
    }
}

fn in_yarn(check: &mut Check<'_>) {
    let (of, usual) = (&check.scenario.mapreduce, MapReduce::default());
    let by_heartbeat = [
        ("mapreduce.containers-per-heartbeat", of.containers_per_heartbeat.is_some()),
        ("mapreduce.off-switch-per-heartbeat", of.off_switch_per_heartbeat != usual.off_switch_per_heartbeat),
        ("mapreduce.half-per-heartbeat", of.half_per_heartbeat),
    ];
    for (key, _) in by_heartbeat.into_iter().filter(|(_, is_set)| of.asynchronous && *is_set) {
        let message = "it has no effect: a thread hands containers out, not heartbeats";
        check.says(key, message, "`mapreduce.asynchronous = false`, or leave it out");
    }
    let or_fifo = "`mapreduce.scheduler = \"fifo\"`, or leave it out";
    if of.scheduler == Scheduler::Fair && of.locality_delay != usual.locality_delay {
        let message = "it has no effect: the fair scheduler waits for no node";
        check.says("mapreduce.locality-delay", message, or_fifo);
    }
    if of.scheduler == Scheduler::Fair && of.off_switch_per_heartbeat != usual.off_switch_per_heartbeat {
        let message = "it has no effect: the fair scheduler counts all containers alike";
        check.says("mapreduce.off-switch-per-heartbeat", message, or_fifo);
    }
    if of.half_per_heartbeat && of.scheduler == Scheduler::Fifo {
        let message = "it has no effect: only the fair scheduler looks at half of a node";
        check.says("mapreduce.half-per-heartbeat", message, "`mapreduce.scheduler = \"fair\"`, or leave it out");
    }
    if of.half_per_heartbeat && of.containers_per_heartbeat.is_some() {
        let message = "it has no effect beside `half-per-heartbeat`, which says how many";
        check.says("mapreduce.containers-per-heartbeat", message, "one of both");
    }
}
