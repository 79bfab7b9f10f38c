//! An application that ran on YARN: its containers, and workers with room for as many as ran on a host.

use super::Application;
use super::settings::{size, time};
use scenario::{Generation, Scenario, Spark, SparkYarn};
use units::{Bytes, Time};

/// The most that a node has for containers.
const MOST_MEMORY: Bytes = Bytes::from_mib(1 << 30);

/// Where the log says so, the scenario's application runs on YARN: as many executors as were on each host, and room for
/// no more of them there; beside them the ApplicationMaster's.
pub(super) fn on_yarn(of: &Application, scenario: &mut Scenario, spark: &mut Spark, notes: &mut Vec<String>) {
    let is_yarn = of.property("spark.master").is_some_and(|master| master.trim().starts_with("yarn"));
    if !is_yarn || scenario.cluster.generation == Generation::Hadoop1 {
        spark.yarn = None;
        return;
    }
    let mut yarn = spark.yarn.take().unwrap_or_default();
    let each = spark.executors;
    yarn.instances = each.saturating_mul(scenario.cluster.workers).clamp(1, 100_000);
    containers(of, spark, &mut yarn);
    let granted = |memory| scenario.mapreduce.granted(memory).get();
    let (cores, am_cores) = (spark.executor_cores, yarn.am_cores);
    let am = granted(yarn.am_container());
    spark.yarn = Some(yarn);
    let memory = granted(spark.executor_container()).saturating_mul(each.into()).saturating_add(am);
    scenario.mapreduce.node_memory = Some(Bytes::new(memory).min(MOST_MEMORY));
    scenario.mapreduce.node_vcores = cores.saturating_mul(each).saturating_add(am_cores).clamp(1, 10_000);
    spark.executors = 1;
    notes.push(format!(
        "it ran on YARN: `mapreduce.node-memory` and `node-vcores` are what {each} executors and the ApplicationMaster \
         need on each host, as no log says what the nodes had"
    ));
    if of.property("spark.submit.deployMode").is_some_and(|mode| mode.trim() == "cluster") {
        notes.push("its driver ran in the ApplicationMaster's container; here it is on the master".to_owned());
    }
    if of.property("spark.dynamicAllocation.enabled").is_some_and(|enabled| enabled.trim() == "true") {
        notes.push("its executors came and went by dynamic allocation; here all are asked for at the start".to_owned());
    }
}

/// The sizes of containers and the times between heartbeats that were set, as far as they are understood.
fn containers(of: &Application, spark: &mut Spark, yarn: &mut SparkYarn) {
    // Memory of containers counts in MiB where no unit is given.
    let memory = |name: &str, least: u64, most: u64| {
        let bytes = size(of.property(name)?, 1 << 20)?;
        Some(Bytes::from_mib((bytes.get() >> 20).clamp(least, most)))
    };
    let overhead = |names: &[&str]| names.iter().find_map(|name| memory(name, 0, 1 << 27));
    if let Some(memory) = memory("spark.executor.memory", 450, 1 << 28) {
        spark.executor_memory = memory;
    }
    let of_executors = ["spark.executor.memoryOverhead", "spark.yarn.executor.memoryOverhead"];
    yarn.executor_memory_overhead = overhead(&of_executors).or(yarn.executor_memory_overhead);
    yarn.am_memory_overhead = overhead(&["spark.yarn.am.memoryOverhead"]).or(yarn.am_memory_overhead);
    if let Some(memory) = memory("spark.yarn.am.memory", 1, 1 << 28) {
        yarn.am_memory = memory;
    }
    let interval = |name: &str| Some(time(of.property(name)?)?.max(Time::from_ms(1)).min(Time::from_secs(3_600)));
    if let Some(heartbeat) = interval("spark.yarn.scheduler.heartbeat.interval-ms") {
        yarn.heartbeat = heartbeat;
    }
    if let Some(wait) = of.property("spark.scheduler.maxRegisteredResourcesWaitingTime").and_then(time) {
        yarn.max_registered_wait = wait;
    }
    let ratio = of.property("spark.scheduler.minRegisteredResourcesRatio").and_then(|ratio| ratio.trim().parse().ok());
    if let Some(ratio) = ratio.filter(|ratio| (0.0..=1.0).contains(ratio)) {
        yarn.min_registered = ratio;
    }
    if let Some(initial) = interval("spark.yarn.scheduler.initial-allocation.interval") {
        yarn.initial_allocation = initial;
    }
    yarn.locality_wait_rack = of.property("spark.locality.wait.rack").and_then(time).or(yarn.locality_wait_rack);
}
