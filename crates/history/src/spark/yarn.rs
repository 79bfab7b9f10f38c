//! An application that ran on YARN: its containers, and workers with room for as many as ran on a host.

use super::Application;
use super::allocated::is_dynamic;
use super::settings::take;
use super::stages::whole_ms;
use super::work::Machines;
use scenario::key::Section;
use scenario::spark_properties::size;
use scenario::{Generation, Scenario, Spark, SparkDeployMode, SparkGroup, SparkProperty, SparkUnit, SparkYarn};
use units::{Bytes, Time, many};

/// The most that a node has for containers.
const MOST_MEMORY: Bytes = Bytes::from_mib(1 << 30);

/// How executors came before the first job.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    /// From the `ApplicationMaster` to the last of them, in seconds.
    pub last: f64,
    /// When there were enough of them for the program to go on, in milliseconds since 1970.
    pub enough: i64,
}

/// Whether it ran on YARN.
pub(super) fn is_on_yarn(of: &Application) -> bool {
    of.property("spark.master").is_some_and(|master| master.trim().starts_with("yarn"))
}

/// Where the log says so, the scenario's application runs on YARN: as many executors as were on each host, and room for
/// no more of them there; beside them the ApplicationMaster's. Nodes have for containers what a cluster's scenario of
/// Spark on YARN says, if there is one.
pub(super) fn on_yarn(
    of: &Application,
    (scenario, spark): (&mut Scenario, &mut Spark),
    (count, machines): (usize, &Machines),
    notes: &mut Vec<String>,
) -> Option<Start> {
    if !is_on_yarn(of) || scenario.cluster.generation == Generation::Hadoop1 {
        spark.yarn = None;
        return None;
    }
    let is_known = spark.yarn.is_some();
    spark.yarn.get_or_insert_default();
    let wanted = |property: &SparkProperty| {
        let instances = property.name == "spark.executor.instances";
        property.group == SparkGroup::Yarn && !instances || property.name == "spark.executor.memory"
    };
    take(of, spark, notes, wanted);
    let mut yarn = spark.yarn.take().unwrap_or_default();
    let each = spark.executors;
    yarn.instances = units::count(count).clamp(1, 100_000);
    master(of, &mut yarn);
    let (cores, am_cores, am) = (spark.executor_cores, yarn.am_cores, yarn.am_container());
    let is_dynamic = is_dynamic(of);
    let start = if is_dynamic { None } else { start(of, &yarn, machines, scenario) };
    spark.yarn = Some(yarn);
    if !is_known {
        let granted = |memory| scenario.mapreduce.granted(memory).get();
        let executor = granted(spark.executor_container());
        let memory = executor.saturating_mul(each.into()).saturating_add(granted(am));
        scenario.mapreduce.node_memory = Some(Bytes::new(memory).min(MOST_MEMORY));
        scenario.mapreduce.node_vcores = cores.saturating_mul(each).saturating_add(am_cores).clamp(1, 10_000);
        notes.push(format!(
            "it ran on YARN: `mapreduce.node-memory` and `node-vcores` are what {} and the \
             ApplicationMaster need on each host, as no log says what the nodes had",
            many(each, "executor")
        ));
    }
    spark.executors = 1;
    if is_dynamic && spark.dynamic_allocation.is_none() {
        notes.push(
            "dynamic allocation was on, and its executors were there for all jobs: here all are asked for at the start"
                .to_owned(),
        );
    }
    start
}

/// How executors came, and what that says of the start of a process (`mapreduce.jvm-start`): they begin when the
/// `ApplicationMaster` is there, and share cores until they are registered. Where a container is granted at a node's
/// heartbeat, only the first of them did not wait for others.
fn start(of: &Application, yarn: &SparkYarn, machines: &Machines, scenario: &mut Scenario) -> Option<Start> {
    let (master, first) = (of.master_ms?, of.jobs.iter().map(|job| job.submit_ms).min()?);
    let came = of.executors.iter().filter(|executor| (master..=first).contains(&executor.added_ms));
    let mut came: Vec<(i64, &str)> = came.map(|executor| (executor.added_ms, &*executor.host)).collect();
    came.sort_unstable();
    let hosts: Vec<&str> = came.iter().map(|(_, host)| *host).collect();
    let latency = scenario.mapreduce.launch_latency.as_secs_f64();
    let work = |(&(at, _), share): (&(i64, &str), f64)| ((at - master) as f64 / 1e3 - latency).max(0.0) * share;
    let mut works: Vec<f64> = came.iter().zip(machines.shares(&hosts)).map(work).collect();
    if !scenario.mapreduce.asynchronous {
        works.truncate(1);
    }
    let (last, _) = came.last()?;
    let mean = whole_ms(works.iter().sum::<f64>() * 1e3 / works.len() as f64);
    scenario.mapreduce.jvm_start = mean.min(Time::from_secs(3_600));
    let enough = (yarn.min_registered * f64::from(yarn.instances)).ceil() as usize;
    let enough = if enough == 0 { None } else { came.get(enough - 1) };
    Some(Start { last: (last - master) as f64 / 1e3, enough: enough.map_or(first, |(at, _)| *at) })
}

/// Where the driver ran and how large the ApplicationMaster's container was, as far as that is understood: in cluster
/// mode it is the driver's.
fn master(of: &Application, yarn: &mut SparkYarn) {
    // Memory of containers counts in MiB where no unit is given.
    let memory = |name: &str| size(of.property(name)?, SparkUnit::Mib);
    let says = |name: &str, what: &str| of.property(name).is_some_and(|value| value.trim() == what);
    // Spark 1 had it in the master's name.
    let is_cluster = says("spark.submit.deployMode", "cluster") || says("spark.master", "yarn-cluster");
    let (of_heap, of_cores, of_overhead) = if is_cluster {
        let overhead = ["spark.driver.memoryOverhead", "spark.yarn.driver.memoryOverhead"];
        ("spark.driver.memory", "spark.driver.cores", overhead)
    } else {
        ("spark.yarn.am.memory", "spark.yarn.am.cores", ["spark.yarn.am.memoryOverhead"; 2])
    };
    let default = if is_cluster { Bytes::from_mib(1_024) } else { yarn.am_memory };
    yarn.deploy_mode = if is_cluster { SparkDeployMode::Cluster } else { SparkDeployMode::Client };
    yarn.am_memory = memory(of_heap).unwrap_or(default);
    yarn.am_memory_overhead = of_overhead.into_iter().find_map(memory).or(yarn.am_memory_overhead);
    yarn.am_cores = of.property(of_cores).and_then(|cores| cores.trim().parse().ok()).unwrap_or(yarn.am_cores);
    yarn.clamp();
}
