//! How an application of Spark runs on YARN, what is wrong with it there, and what has no effect. Defaults are those of
//! Spark's "Running on YARN" (<https://spark.apache.org/docs/4.1.1/running-on-yarn.html>).

use super::check::Check;
use super::key::{choice, section};
use super::{Generation, Scenario, Spark};
use units::{Bytes, Quantity, Time};

/// No more executors than this: as many as a cluster may have workers.
pub(super) const MOST_EXECUTORS: u64 = 100_000;
/// Keys of `[mapreduce]` that are of YARN or of any container, and so of Spark, too.
const OF_YARN: [&str; 12] = [
    "node-memory",
    "node-vcores",
    "minimum-allocation",
    "asynchronous",
    "containers-per-heartbeat",
    "off-switch-per-heartbeat",
    "heartbeat",
    "node-expiry",
    "jvm-start",
    "launch-latency",
    "spare-batteries",
    "spare-patience",
];

/// With its heap a container has no more than a node may have for containers.
const OVERHEADS: std::ops::RangeInclusive<Bytes> = Bytes::ZERO..=Bytes::from_mib(1 << 29);

choice! {
    /// Where the driver of an application on YARN runs (`spark.submit.deployMode`).
    pub enum SparkDeployMode {
        /// With whoever submits it, on the master.
        Client = "client",
        /// In the ApplicationMaster's container, on a worker.
        Cluster = "cluster",
    }
}

section! {
    /// An application of Spark on YARN: its driver on the master or, in cluster mode, with the ApplicationMaster; that
    /// and its executors in containers on the workers, by the same ResourceManager and NodeManagers as jobs (`mapreduce.node-memory`,
    /// `node-vcores`, `minimum-allocation`, `heartbeat` and `node-expiry` say how these are). A process in a container
    /// takes `mapreduce.launch-latency` and `jvm-start`.
    pub struct SparkYarn {
        /// Executors that it asks for (`spark.executor.instances`).
        instances: u32 = 2, 1..=100_000;
        /// What an executor's container has beside `executor-memory` (`spark.executor.memoryOverhead`). Left out: a
        /// tenth of `executor-memory`, and at least 384 MiB.
        executor_memory_overhead: Option<Bytes> = None, OVERHEADS;
        /// What each worker copies from HDFS before its first container of the application starts: Spark's own files, as
        /// `spark.yarn.archive` has them there, and the application's settings (`__spark_conf__.zip`). 0: workers have
        /// kept it.
        archive: Bytes = Bytes::ZERO, Bytes::ZERO..=Bytes::from_mib(1 << 20);
        /// Where its driver runs (`spark.submit.deployMode`).
        deploy_mode: SparkDeployMode = SparkDeployMode::Client;
        /// Memory of the ApplicationMaster (`spark.yarn.am.memory`); in cluster mode the driver's
        /// (`spark.driver.memory`).
        am_memory: Bytes = Bytes::from_mib(512), Bytes::from_mib(1)..=Bytes::from_mib(1 << 29);
        /// What its container has beside that (`spark.yarn.am.memoryOverhead`, in cluster mode
        /// `spark.driver.memoryOverhead`). Left out: a tenth of `am-memory`, and at least 384 MiB.
        am_memory_overhead: Option<Bytes> = None, OVERHEADS;
        /// Cores of the ApplicationMaster's container (`spark.yarn.am.cores`, in cluster mode `spark.driver.cores`).
        am_cores: u32 = 1, 1..=4_096;
        /// Work of the ApplicationMaster from the start of its process until it registers, beyond
        /// `mapreduce.jvm-start`: in cluster mode the program's, until it has its SparkContext. Then it asks for
        /// containers.
        am_start: Time = Time::ZERO, Time::ZERO..=Time::from_secs(86_400);
        /// ApplicationMasters that the application may lose before it fails, the last included
        /// (`spark.yarn.maxAppAttempts`, `yarn.resourcemanager.am.max-attempts`).
        max_attempts: u32 = 2, 1..=1_000;
        /// How often the ApplicationMaster speaks to the ResourceManager
        /// (`spark.yarn.scheduler.heartbeat.interval-ms`).
        heartbeat: Time = Time::from_secs(3), Time::from_ms(1)..=Time::from_secs(3_600);
        /// How long it waits at first while it waits for containers, and then twice as long each time, up to
        /// `heartbeat` (`spark.yarn.scheduler.initial-allocation.interval`).
        initial_allocation: Time = Time::from_ms(200), Time::from_ms(1)..=Time::from_secs(3_600);
        /// The part of the executors that are there before the program goes on
        /// (`spark.scheduler.minRegisteredResourcesRatio`).
        min_registered: f64 = 0.8, 0.0..=1.0;
        /// After how long it goes on without these (`spark.scheduler.maxRegisteredResourcesWaitingTime`).
        max_registered_wait: Time = Time::from_secs(30), Time::ZERO..=Time::from_secs(604_800);
        /// How long a stage waits for a core in the rack of its data. Left out: `spark.locality-wait`
        /// (`spark.locality.wait.rack`).
        locality_wait_rack: Option<Time> = None, Time::ZERO..=Time::from_secs(604_800);
    }
}

/// Memory of a container with what it has beside its heap (`MEMORY_OVERHEAD_FACTOR`, `MEMORY_OVERHEAD_MIN`).
fn with_overhead(memory: Bytes, overhead: Option<Bytes>) -> Bytes {
    let tenth = Bytes::from_mib(memory.get() / 10 / Bytes::from_mib(1).get());
    memory + overhead.unwrap_or_else(|| tenth.max(Bytes::from_mib(384)))
}

impl SparkYarn {
    /// Memory that the ApplicationMaster asks for.
    pub fn am_container(&self) -> Bytes {
        with_overhead(self.am_memory, self.am_memory_overhead)
    }
}

impl Spark {
    /// Memory that it asks for on YARN for each executor.
    pub fn executor_container(&self) -> Bytes {
        with_overhead(self.executor_memory, self.yarn.as_ref().and_then(|yarn| yarn.executor_memory_overhead))
    }
}

/// How many containers of each kind fit on the workers, all empty; memory and cores as the scheduler grants them.
struct Room {
    masters: Vec<u64>,
    /// By worker, without an ApplicationMaster and beside one.
    executors: Vec<(u64, u64)>,
}

impl Room {
    fn new(scenario: &Scenario, spark: &Spark, yarn: &SparkYarn) -> Self {
        let (master, executor) =
            (scenario.mapreduce.granted(yarn.am_container()), scenario.mapreduce.granted(spark.executor_container()));
        let vcores = u64::from(scenario.mapreduce.node_vcores);
        let fit = |memory: u64, vcores: u64, (each, cores): (Bytes, u32)| {
            (memory / each.get().max(1)).min(vcores / u64::from(cores.max(1)))
        };
        let (of_master, of_executor) = ((master, yarn.am_cores), (executor, spark.executor_cores));
        let memories: Vec<u64> = scenario.nodes().iter().skip(1).map(|node| scenario.node_memory(node).get()).collect();
        let left = |memory: u64| memory.saturating_sub(master.get());
        let beside = |memory: u64| fit(left(memory), vcores.saturating_sub(yarn.am_cores.into()), of_executor);
        Self {
            masters: memories.iter().map(|memory| fit(*memory, vcores, of_master)).collect(),
            executors: memories.iter().map(|memory| (fit(*memory, vcores, of_executor), beside(*memory))).collect(),
        }
    }

    /// Executors at most, wherever the ApplicationMaster is.
    fn executors(&self) -> u64 {
        let all: u64 = self.executors.iter().map(|(alone, _)| alone).sum();
        let with = self.masters.iter().zip(&self.executors).filter(|(masters, _)| **masters > 0);
        with.map(|(_, (alone, beside))| all - alone + beside).max().unwrap_or(0)
    }
}

/// How many executors there is room for.
pub(super) fn room(scenario: &Scenario, spark: &Spark, yarn: &SparkYarn) -> u64 {
    Room::new(scenario, spark, yarn).executors()
}

/// What is wrong with an application on YARN.
pub(super) fn check(check: &mut Check<'_>, spark: &Spark) {
    let scenario: &Scenario = check.scenario;
    let Some(yarn) = &spark.yarn else { return };
    if scenario.cluster.generation == Generation::Hadoop1 {
        let message = "Hadoop 1 has no YARN: Spark runs on it standalone";
        return check.says("spark.yarn", message, "`cluster.generation = \"yarn\"`, or no `[spark.yarn]`");
    }
    let room = Room::new(scenario, spark, yarn);
    let executor = spark.executor_container();
    let containers = [
        (
            "spark.yarn.am-memory",
            "the ApplicationMaster",
            yarn.am_container(),
            yarn.am_cores,
            room.masters.iter().sum(),
        ),
        (
            "spark.executor-memory",
            "an executor",
            executor,
            spark.executor_cores,
            room.executors.iter().map(|(alone, _)| alone).sum::<u64>(),
        ),
    ];
    let largest = scenario.nodes().iter().skip(1).map(|node| scenario.node_memory(node)).max().unwrap_or_default();
    let vcores = scenario.mapreduce.node_vcores;
    let mut fits = true;
    for (key, whose, memory, cores, places) in containers {
        if places > 0 {
            continue;
        }
        fits = false;
        let message = format!(
            "the container of {whose} (granted {}, vcores: {cores}) fits on no worker: the largest offers {}, vcores: \
             {vcores}",
            scenario.mapreduce.granted(memory).exact(),
            largest.exact()
        );
        let path = if check.states(key) { key } else { "spark.yarn" };
        let help = format!("a smaller `{key}`, fewer cores, or more `mapreduce.node-memory` or `node-vcores`");
        check.says(path, message, help);
    }
    if fits && room.executors() == 0 {
        let message = "beside the ApplicationMaster's container no worker has room for an executor's";
        check.says("spark.yarn", message, "more workers, or more `mapreduce.node-memory` or `node-vcores`");
    }
}

/// What of an application on YARN has no effect.
pub(super) fn warn(check: &mut Check<'_>, spark: &Spark) {
    let scenario: &Scenario = check.scenario;
    let Some(yarn) = &spark.yarn else { return };
    if check.states("spark.executors") {
        let message = "it has no effect: on YARN there are `spark.yarn.instances` executors, wherever there is room";
        check.says("spark.executors", message, "leave it out");
    }
    for key in check.keys("mapreduce") {
        if !OF_YARN.contains(&key.as_str()) {
            let message = "it has no effect: it is of jobs of MapReduce, and there is none";
            check.says(&format!("mapreduce.{key}"), message, "leave it out");
        }
    }
    let room = room(scenario, spark, yarn);
    if u64::from(yarn.instances) > room && spark.dynamic_allocation.is_none() {
        let enough = room as f64 >= f64::from(yarn.instances) * yarn.min_registered;
        let then = if enough {
            "the others never come".to_owned()
        } else {
            format!("it begins without the others after {}", yarn.max_registered_wait.exact())
        };
        let message = format!("{} containers are asked for, and at most {room} fit: {then}", yarn.instances);
        check.says("spark.yarn.instances", message, format!("at most {room}, or more workers"));
    }
}
