//! What of a scenario a testbed can be: what it lays under a scenario, what it refuses, and the memory that it takes.

use super::HadoopError;
use super::daemons::Engine;
use super::spark::EXECUTOR as EXECUTOR_HEAP;
use crate::link::{Links, MOST_MTU};
use scenario::{Check, Control, Generation, Scenario, Spark, TopologyKind, node_number};
use std::fs;
use units::Bytes;

/// The machine and its links where no scenario is given.
macro_rules! base {
    () => {
        "\
name = \"testbed\"

[network]            # virtual Ethernet on one machine, without a limit
rate = \"15 Gbit/s\"
delay = \"12 us\"
framing = \"none\"
# What the receiver's core has not taken yet waits in its backlog of 1,000 buffers of up to 64 KiB: nothing is dropped.
queue = { limit = \"64 MB\" }
host-queue = { limit = \"64 MB\" }

"
    };
}

/// The scenario where none is given: fast links, and no job of its own.
pub const BASE: &str = concat!(base!(), "[job]\nworkload = \"generic\"\n");
/// The same with Spark, and an application that does nothing.
pub const BASE_SPARK: &str = concat!(base!(), "[[spark.stage]]\nname = \"none\"\n");

/// What this machine has.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Its cores.
    pub cores: usize,
    /// Memory that programs can have.
    pub available: Bytes,
    /// The kernel's default congestion control.
    pub control: String,
    /// All that the kernel has.
    pub controls: Vec<String>,
}

/// Memory of the master's daemons, of a worker's, and of a client with what the emulator takes: resident sets measured
/// on Java 17 with the heaps of `daemons.rs`, rounded up.
const MASTER: Bytes = Bytes::from_mib(650);
const WORKER: Bytes = Bytes::from_mib(340);
const CLIENT: Bytes = Bytes::from_mib(350);
/// Memory of an executor of Spark's beside its heap, and of a driver with its heap of 512 MiB: estimated.
const BESIDE_HEAP: Bytes = Bytes::from_mib(250);
const DRIVER: Bytes = Bytes::from_mib(600);
/// Memory of the object store's server.
const STORE: Bytes = Bytes::from_mib(250);
/// Memory per node for containers: where nothing is said, and the least in which a map and a reducer find room beside
/// each other.
const NODE_MEMORY: Bytes = Bytes::from_mib(1_024);
const LEAST_NODE_MEMORY: Bytes = Bytes::from_mib(640);
/// Memory per node for containers of Spark: one executor's, 600 MiB of heap and 384 beside, which is granted as 1,024,
/// and the `ApplicationMaster`'s 512 and 384. Its processes take no more than they need.
const SPARK_NODE_MEMORY: Bytes = Bytes::from_mib(1_920);
/// The most workers: with them the daemons alone take 35 GiB.
const MOST_WORKERS: u32 = 100;

impl Machine {
    /// Looks at this machine.
    pub fn look() -> Result<Self, HadoopError> {
        let read = |file: &str| fs::read_to_string(file).map_err(HadoopError::system(format!("read {file}")));
        let memory = read("/proc/meminfo")?;
        let available = available(&memory).ok_or_else(|| HadoopError::System {
            what: "read /proc/meminfo".to_owned(),
            error: std::io::ErrorKind::InvalidData.into(),
        })?;
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let controls = read("/proc/sys/net/ipv4/tcp_available_congestion_control")?;
        let control = read("/proc/sys/net/ipv4/tcp_congestion_control")?.trim().to_owned();
        let controls = controls.split_ascii_whitespace().map(str::to_owned).collect();
        Ok(Self { cores, available, control, controls })
    }

    /// What holds for a testbed where a scenario does not say otherwise: settings that suit small jobs on one machine.
    /// Keys and values, in the words of `--set`.
    pub fn defaults(&self, scenario: &Scenario) -> Vec<(&'static str, String)> {
        let workers = scenario.cluster.workers;
        // A disk that becomes slow is one node's.
        let own = if scenario.faults.iter().any(|fault| fault.disk.is_some()) { ", own-disks = true" } else { "" };
        let fixed = MASTER + CLIENT + WORKER * u64::from(workers) + of_store(scenario);
        let room = (self.available * 4 / 5).saturating_sub(fixed) / u64::from(workers.max(1));
        let memory = room.clamp(LEAST_NODE_MEMORY, NODE_MEMORY).get() >> 20;
        let replication = workers.min(2);
        let mut defaults = vec![
            ("cluster.host", format!("{{ cores = {}, disks = 1{own} }}", self.cores)),
            ("hdfs.block", "\"32 MiB\"".to_owned()),
            ("hdfs.replication", replication.to_string()),
            ("hdfs.heartbeat", "\"1 s\"".to_owned()),
        ];
        let mib = |memory: u64| format!("\"{memory} MiB\"");
        let of_yarn = [
            ("mapreduce.heartbeat", "\"200 ms\"".to_owned()),
            // As by default in the Hadoop that runs.
            ("mapreduce.asynchronous", "true".to_owned()),
            ("mapreduce.node-vcores", "4".to_owned()),
            ("mapreduce.minimum-allocation", mib(128)),
        ];
        let of_map_reduce = [
            ("mapreduce.reducers", workers.to_string()),
            ("mapreduce.node-memory", mib(memory / 128 * 128)),
            ("mapreduce.map-memory", "\"256 MiB\"".to_owned()),
            ("mapreduce.reduce-memory", "\"384 MiB\"".to_owned()),
            ("mapreduce.reduce-heap", "\"300 MiB\"".to_owned()),
            ("mapreduce.am-memory", "\"256 MiB\"".to_owned()),
            ("mapreduce.am-heap", "\"200 MiB\"".to_owned()),
            ("mapreduce.io-sort", "\"64 MiB\"".to_owned()),
        ];
        let executor = ("spark.executor-memory", mib(EXECUTOR_HEAP.get() >> 20));
        match Engine::of(scenario) {
            Engine::Yarn => {
                defaults.extend(of_yarn);
                defaults.extend(of_map_reduce);
            }
            Engine::Spark => defaults.push(executor),
            Engine::SparkOnYarn => {
                defaults.extend(of_yarn);
                let containers = mib(SPARK_NODE_MEMORY.get() >> 20);
                let instances = ("spark.yarn.instances", workers.to_string());
                defaults.extend([("mapreduce.node-memory", containers), executor, instances]);
            }
        }
        if scenario.object_store.is_some() {
            defaults.push(("object-store.s3a.tls", "false".to_owned()));
        }
        if scenario.hdfs.erasure_coding.is_some() {
            // With the first compiler alone, as the testbed's JVMs run: `RSRawEncoder` of Hadoop 3.5, a 2-core EPYC.
            defaults.push(("hdfs.coding-cost", "\"2 ms\"".to_owned()));
        }
        if let Some(control) = CONTROLS.iter().find(|(_, name)| *name == self.control) {
            defaults.push(("tcp.control", format!("\"{}\"", control.0.word())));
        }
        defaults
    }

    /// Memory that a cluster takes beyond what there is; `None` if it suffices.
    pub fn too_little(&self, scenario: &Scenario) -> Option<HadoopError> {
        let workers = u64::from(scenario.cluster.workers);
        let (client, tasks, help) = match &scenario.spark {
            None => {
                let containers = scenario.mapreduce.node_memory.unwrap_or(NODE_MEMORY);
                (CLIENT, containers * workers, "fewer --workers, or a smaller mapreduce.node-memory")
            }
            Some(Spark { yarn: None, executors, executor_memory, .. }) => {
                let executors = (*executor_memory + BESIDE_HEAP) * u64::from(*executors);
                (DRIVER, executors * workers, "fewer --workers, or fewer spark.executors")
            }
            Some(Spark { yarn: Some(yarn), executor_memory, .. }) => {
                let executors = (*executor_memory + BESIDE_HEAP) * u64::from(yarn.instances);
                (DRIVER, executors + yarn.am_memory, "fewer --workers, or fewer spark.yarn.instances")
            }
        };
        let needed = MASTER + client + WORKER * workers + tasks + of_store(scenario);
        (needed > self.available).then(|| HadoopError::Missing {
            what: format!("memory: {workers} workers need {needed:.1}, {:.1} are available", self.available),
            help: help.to_owned(),
        })
    }

    /// The kernel's name of the scenario's congestion control, if the kernel has it.
    pub fn control(&self, control: Control) -> Option<String> {
        let name = CONTROLS.iter().find(|(known, _)| *known == control)?.1;
        self.controls.iter().any(|known| known == name).then(|| name.to_owned())
    }

    /// Says what of a scenario this machine's testbed cannot be, each with its place.
    pub fn check(&self, check: &mut Check<'_>) {
        let scenario = check.scenario;
        let kernel = "simulate it by `trunkline run`; a testbed has the kernel's own";
        if scenario.cluster.generation != Generation::Yarn {
            check.says("cluster.generation", "the testbed runs Hadoop 3 with YARN", "leave `generation` out");
        }
        if let Some(store) = &scenario.object_store {
            let simulate = "leave it out, or simulate it by `trunkline run`";
            if store.at.as_deref().and_then(node_number).is_some() {
                check.says("object-store.at", "the testbed's store has a host of its own", simulate);
            }
            if store.s3a.tls {
                check.says("object-store.s3a.tls", "the testbed's store speaks no TLS", "`tls = false`");
            }
        }
        if scenario.network.topology != TopologyKind::Star {
            let word = scenario.network.topology.word();
            check.says("network.topology", format!("the testbed has no topology {word}"), "it is a star");
        }
        if scenario.cluster.workers > MOST_WORKERS {
            let message = format!("{} workers are too many for one machine", scenario.cluster.workers);
            check.says("cluster.workers", message, format!("at most {MOST_WORKERS}"));
        }
        if scenario.network.mtu.get() > u64::from(MOST_MTU) || scenario.network.mtu.get() < 576 {
            check.says("network.mtu", "the testbed's links carry no such packets", format!("from 576 to {MOST_MTU} B"));
        }
        if self.control(scenario.tcp.control).is_none() {
            let message = format!("this kernel has no congestion control {}", scenario.tcp.control.word());
            check.says("tcp.control", message, format!("it has {}", self.controls.join(", ")));
        }
        for group in 0..scenario.cluster.group.len() {
            for key in ["node", "rack"] {
                let path = format!("cluster.group.{group}.{key}");
                if check.states(&path) {
                    check.says(&path, "all nodes of the testbed are this one machine", "leave it out");
                }
            }
        }
        for key in check.keys("tcp").into_iter().filter(|key| key != "control") {
            check.says(&format!("tcp.{key}"), "the testbed's TCP is the kernel's", kernel);
        }
        super::faults::check(check);
        super::spark::check(check);
        for (path, message) in REFUSED {
            if check.states(path) {
                check.says(path, message, "leave it out, or simulate it by `trunkline run`");
            }
        }
    }
}

fn of_store(scenario: &Scenario) -> Bytes {
    if scenario.object_store.is_some() { STORE } else { Bytes::ZERO }
}

/// The scenario's controls that Linux has, and its names for them.
const CONTROLS: [(Control, &str); 8] = [
    (Control::Bbr, "bbr"),
    (Control::Cubic, "cubic"),
    (Control::SackReno, "reno"),
    (Control::NewReno, "reno"),
    (Control::Vegas, "vegas"),
    (Control::Dctcp, "dctcp"),
    (Control::Westwood, "westwood"),
    (Control::Scalable, "scalable"),
];

/// Keys of which the testbed can do nothing.
const REFUSED: [(&str, &str); 24] = [
    ("mobility", "the testbed's nodes do not move"),
    ("traffic", "the testbed carries no traffic besides Hadoop's"),
    ("network.link", "the testbed is a star: nodes' links are all that there are"),
    ("network.core", "the testbed is a star: it has no links between switches"),
    ("network.bond", "the testbed has no bonds"),
    ("network.port", "the testbed's queues are all alike"),
    ("network.shared-buffer", "the testbed's ports share no buffer"),
    ("network.priority", "the testbed's packets have no class"),
    ("network.mss", "the testbed's TCP takes the segment size from the MTU"),
    ("network.wifi", "the testbed has no radios"),
    ("master.shared-buffer", "the kernel's connections share no buffer"),
    ("master.receive-buffer", "the kernel sizes receive buffers"),
    ("master.heartbeat-connections", "Hadoop's heartbeats have no connection of their own"),
    ("mapreduce.scheduler", "the testbed has the CapacityScheduler with one queue"),
    ("mapreduce.spare-batteries", "the testbed's nodes have no battery"),
    ("mapreduce.bytes-per-reducer", "Hadoop has no such rule"),
    ("mapreduce.data-scale", "the testbed's jobs have the size that they are given"),
    ("mapreduce.map-slots", "slots are Hadoop 1's"),
    ("mapreduce.reduce-slots", "slots are Hadoop 1's"),
    ("spark.executor", "the testbed's executors are on each worker alike: `executors`, or [spark.dynamic-allocation]"),
    ("spark.storage-memory", "Spark has no such setting: `executor-memory` and `memory-fraction` say it"),
    ("spark.yarn.archive", "the testbed's nodes fetch none of Spark's files"),
    ("spark.yarn.deploy-mode", "the testbed's driver is on its master"),
    ("spark.yarn.am-start", "the testbed's ApplicationMaster takes what it takes"),
];

/// The word for a kind of links.
pub const fn word(links: Links) -> &'static str {
    match links {
        Links::Emulated => "emulated",
        Links::Veth => "veth",
    }
}

/// `MemAvailable` of `/proc/meminfo`, which counts in KiB.
fn available(meminfo: &str) -> Option<Bytes> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(Bytes::new(kib << 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> Machine {
        let controls = ["reno", "cubic", "bbr"].map(str::to_owned).into();
        Machine { cores: 2, available: Bytes::from_mib(20 << 10), control: "bbr".to_owned(), controls }
    }

    fn problems(text: &str) -> String {
        match Scenario::parse_with("s.toml", text, &[], |check| machine().check(check)) {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn what_a_testbed_cannot_be_is_refused_at_its_place() {
        for (text, place) in [
            ("[network]\ntopology = \"tree\"\n[job]\n", "s.toml:2:12: the testbed has no topology tree"),
            ("[cluster]\ngeneration = \"hadoop1\"\n[job]\n", "s.toml:2:14: the testbed runs Hadoop 3"),
            ("[tcp]\ncontrol = \"vegas\"\n[job]\n", "s.toml:2:11: this kernel has no congestion control vegas"),
            ("[tcp]\nrecovery = \"rack\"\n[job]\n", "s.toml:2:12: the testbed's TCP is the kernel's"),
            ("[[faults]]\nat = \"1 s\"\nnode = \"master\"\n[job]\n", "s.toml:3:8: without its master"),
            (
                "[object-store]\nat = \"master\"\n[job]\ninput-store = \"object-store\"\n",
                "s.toml:2:6: the testbed's store",
            ),
            ("[object-store]\n[job]\ninput-store = \"object-store\"\n", "the testbed's store speaks no TLS"),
            ("[network]\nmss = \"500 B\"\n[job]\n", "s.toml:2:7: the testbed's TCP takes the segment size"),
            ("[mapreduce]\nscheduler = \"fair\"\n[job]\n", "s.toml:2:13: the testbed has the CapacityScheduler"),
            (
                "[spark.dynamic-allocation]\nscheduler-backlog-timeout = \"1500 ms\"\n[[spark.stage]]\nname = \"a\"\n",
                "s.toml:2:29: Spark counts `spark.dynamicAllocation.schedulerBacklogTimeout` in whole units of 1 s, which \
                 1500 ms is not",
            ),
            (
                "[spark]\nreducer-max-size-in-flight = \"1 MB\"\n[[spark.stage]]\nname = \"a\"\n",
                "s.toml:2:30: Spark counts `spark.reducer.maxSizeInFlight` in whole units of 1 MiB, which 1 MB is not",
            ),
            (
                "[spark]\nstorage-memory = \"1 MiB\"\n[[spark.stage]]\nname = \"a\"\n",
                "s.toml:2:18: Spark has no such setting: `executor-memory` and `memory-fraction` say it",
            ),
            (
                "[[spark.executor]]\nnode = \"worker-1\"\n[[spark.stage]]\nname = \"a\"\n",
                "s.toml:1:1: the testbed's executors are on each worker alike",
            ),
            (
                "[[spark.stage]]\nname = \"a\"\nattempt = [{ only-on = \"worker-1\" }]\n",
                "s.toml:3:11: Spark cannot be told which attempts fail",
            ),
            (
                "[spark]\nshuffle-service = true\n[spark.yarn]\n[mapreduce]\nnode-memory = \"9 GiB\"\nnode-vcores = 9\n\
                 [[spark.stage]]\nname = \"a\"\n",
                "s.toml:2:19: the testbed's NodeManagers have no shuffle service of Spark's",
            ),
        ] {
            let said = problems(text);
            assert!(said.contains(place), "{text}: {said}");
        }
        assert_eq!(
            problems(
                "[network]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\nloss = 0.01\n[tcp]\ncontrol = \"cubic\"\n[job]\n"
            ),
            ""
        );
    }

    #[test]
    fn both_bases_are_scenarios_and_have_what_they_run_on() {
        let on_yarn = ["spark.yarn={}".to_owned()];
        // The master's daemons, a client or a driver, and four workers with what runs on them.
        for (base, own, engine, needed) in [
            (BASE, &[][..], Engine::Yarn, 650 + 350 + 4 * (340 + 1_024)),
            (BASE_SPARK, &[], Engine::Spark, 650 + 600 + 4 * (340 + 600 + 250)),
            (BASE_SPARK, &on_yarn, Engine::SparkOnYarn, 650 + 600 + 4 * (340 + 600 + 250) + 512),
        ] {
            let plain = Scenario::parse("s.toml", base, own).expect("it is valid");
            let defaults = machine().defaults(&plain).into_iter().map(|(key, value)| format!("{key}={value}"));
            let set: Vec<_> = own.iter().cloned().chain(defaults).collect();
            let scenario = Scenario::parse("s.toml", base, &set).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(Engine::of(&scenario), engine);
            let lacks = |mib| Machine { available: Bytes::from_mib(mib), ..machine() }.too_little(&scenario).is_some();
            assert!(lacks(needed - 1) && !lacks(needed), "{engine:?}");
        }
    }

    #[test]
    fn memory_is_shared_out_and_its_lack_is_named() {
        let node_memory = |mib: u64, workers| {
            let machine = Machine { available: Bytes::from_mib(mib), ..machine() };
            let sized = Scenario::parse("s.toml", &format!("[cluster]\nworkers = {workers}\n[job]\n"), &[]);
            let defaults = machine.defaults(&sized.expect("it is valid"));
            let set: Vec<String> = defaults.iter().map(|(key, value)| format!("{key}={value}")).collect();
            let base = format!("[cluster]\nworkers = {workers}\n{BASE}");
            let text = base.replacen("name = \"testbed\"\n", "", 1);
            let scenario = Scenario::parse("s.toml", &text, &set).unwrap_or_else(|error| panic!("{error}"));
            let memory = scenario.mapreduce.node_memory.expect("it is set").get() >> 20;
            (memory, machine.too_little(&scenario).map(|error| error.to_string()))
        };
        assert_eq!(node_memory(20 << 10, 4), (1_024, None));
        // 80 % of 7 GiB, less 650 + 350 + 4 x 340 MiB, by four: 843, in steps of 128.
        assert_eq!(node_memory(7 << 10, 4), (768, None));
        let (least, lack) = node_memory(4 << 10, 8);
        assert_eq!(least, 640);
        assert!(lack.is_some_and(|lack| lack.contains("8 workers need") && lack.contains("fewer --workers")));
    }
}
