//! Spark on a cluster: its daemons, and how an application is started.
//!
//! Standalone, Workers start executors on their own hosts; on YARN they are in containers. Applications run in client
//! mode: the driver is on the master.

use super::layout::{CLIENT, Layout};
use super::settings::{JVM, milliseconds};
use scenario::{Scenario, Spark, SparkYarn};
use std::path::{Path, PathBuf};
use std::process::Command;
use units::Bytes;

/// The Master's port for Workers and drivers, and that of its web server.
pub const MASTER: u16 = 7_077;
pub const MASTER_HTTP: u16 = 8_080;
/// What starts an application.
const SUBMIT: &str = "org.apache.spark.deploy.SparkSubmit";
/// The class of our own applications.
pub const OWN_CLASS: &str = "SparkJobs";
/// Heap of an executor where a scenario does not say. Spark refuses less than 450 MiB.
pub const EXECUTOR: Bytes = Bytes::from_mib(600);
/// The Scala of the jars.
const SCALA: &str = "2.13";
/// Modules that Spark looks into, as its own scripts open them.
const OPENED: [&str; 11] = [
    "java.lang",
    "java.lang.invoke",
    "java.lang.reflect",
    "java.io",
    "java.net",
    "java.nio",
    "java.util",
    "java.util.concurrent",
    "java.util.concurrent.atomic",
    "sun.nio.ch",
    "sun.util.calendar",
];

/// Arguments of the Master.
pub fn of_master(host: &str) -> Vec<String> {
    let (port, http) = (MASTER.to_string(), MASTER_HTTP.to_string());
    ["--host", host, "--port", &port, "--webui-port", &http].map(str::to_owned).into()
}

/// Arguments of a Worker, which has what the scenario's executors of a node take.
pub fn of_worker(host: &str, master: &str, spark: &Spark, folder: &Path) -> Vec<String> {
    let cores = (spark.executors * spark.executor_cores).to_string();
    let memory = format!("{}m", (spark.executor_memory.get() >> 20) * u64::from(spark.executors));
    let (folder, master) = (folder.display().to_string(), format!("spark://{master}:{MASTER}"));
    ["--host", host, "--cores", &cores, "--memory", &memory, "--work-dir", &folder, &master].map(str::to_owned).into()
}

/// Options of Spark's JVMs on a cluster, daemons' and drivers'.
pub fn jvm(layout: &Layout) -> Vec<String> {
    let opened = OPENED.map(|module| format!("--add-opens=java.base/{module}=ALL-UNNAMED"));
    opened.into_iter().chain(JVM.map(str::to_owned)).chain([layout.temporary_option()]).collect()
}

/// The environment of Spark's JVMs. `own` is the folder of a host, for shuffle files.
pub fn surround(command: &mut Command, layout: &Layout, own: &Path) {
    command.env("SPARK_HOME", layout.spark()).env("SPARK_SCALA_VERSION", SCALA);
    command.env("SPARK_LOCAL_DIRS", own).env("SPARK_LOG_DIR", own);
}

/// All tasks that the scenario's executors run at once.
pub fn cores(scenario: &Scenario, spark: &Spark) -> u32 {
    let standalone = || scenario.cluster.workers.saturating_mul(spark.executors);
    let executors = spark.yarn.as_ref().map_or_else(standalone, |yarn| yarn.instances);
    executors.saturating_mul(spark.executor_cores)
}

/// An application as it is submitted.
#[derive(Debug)]
pub struct Submission<'a> {
    /// The cluster's scenario, and its settings of Spark.
    pub scenario: &'a Scenario,
    pub spark: &'a Spark,
    /// The name of the master's host.
    pub master: &'a str,
    /// Where the event log goes; none for an application that is not measured.
    pub events: Option<&'a Path>,
    /// The jar, and its main class where the jar does not name one.
    pub jar: PathBuf,
    pub class: Option<&'a str>,
    /// Properties of the user's, `name=value`, which go before ours.
    pub properties: &'a [String],
    pub arguments: Vec<String>,
}

impl Submission<'_> {
    /// The driver's class, and its arguments.
    pub fn command(self, layout: &Layout) -> (&'static str, Vec<String>) {
        let standalone = || format!("spark://{}:{MASTER}", self.master);
        let master = self.spark.yarn.as_ref().map_or_else(standalone, |_| "yarn".to_owned());
        let mut words: Vec<String> = ["--master", &master, "--deploy-mode", "client"].map(str::to_owned).into();
        let own = self.own(layout).into_iter().map(|(name, value)| format!("{name}={value}"));
        for property in own.chain(self.properties.iter().cloned()) {
            // The last of a name holds.
            words.extend(["--conf".to_owned(), property]);
        }
        if let Some(class) = self.class {
            words.extend(["--class".to_owned(), class.to_owned()]);
        }
        words.push(self.jar.display().to_string());
        words.extend(self.arguments);
        (SUBMIT, words)
    }

    /// The properties that the cluster has an application run with.
    fn own(&self, layout: &Layout) -> Vec<(&'static str, String)> {
        let Spark { executor_cores, locality_wait, reduce_locality, .. } = self.spark;
        let options = format!("{} {}", JVM.join(" "), layout.temporary_option());
        let mut properties = match &self.spark.yarn {
            None => standalone(cores(self.scenario, self.spark)),
            Some(yarn) => on_yarn(yarn, layout, &options),
        };
        properties.extend([
            ("spark.executor.cores", executor_cores.to_string()),
            ("spark.executor.memory", mib(self.spark.executor_memory)),
            ("spark.executor.extraJavaOptions", options),
            ("spark.driver.host", self.master.to_owned()),
            ("spark.ui.enabled", "false".to_owned()),
            ("spark.locality.wait", format!("{}ms", milliseconds(*locality_wait))),
            ("spark.shuffle.reduceLocality.enabled", reduce_locality.to_string()),
            ("spark.scheduler.revive.interval", format!("{}ms", milliseconds(self.spark.revive_interval))),
            ("spark.reducer.maxSizeInFlight", format!("{}b", self.spark.reducer_max_size_in_flight.get())),
            ("spark.reducer.maxReqsInFlight", self.spark.reducer_max_reqs_in_flight.to_string()),
            (
                "spark.reducer.maxBlocksInFlightPerAddress",
                self.spark.reducer_max_blocks_in_flight_per_address.to_string(),
            ),
            // A bare number is of KiB, and so is what Spark keeps.
            ("spark.broadcast.blockSize", format!("{}k", self.spark.broadcast_block_size.get().div_ceil(1024))),
            ("spark.eventLog.enabled", self.events.is_some().to_string()),
        ]);
        if self.spark.speculation {
            properties.extend([
                ("spark.speculation", "true".to_owned()),
                ("spark.speculation.interval", format!("{}ms", milliseconds(self.spark.speculation_interval))),
                ("spark.speculation.multiplier", self.spark.speculation_multiplier.to_string()),
                ("spark.speculation.quantile", self.spark.speculation_quantile.to_string()),
                (
                    "spark.speculation.minTaskRuntime",
                    format!("{}ms", milliseconds(self.spark.speculation_min_task_runtime)),
                ),
            ]);
        }
        if let Some(wait) = self.spark.locality_wait_node {
            properties.push(("spark.locality.wait.node", format!("{}ms", milliseconds(wait))));
        }
        if let Some(events) = self.events {
            properties.extend([
                ("spark.eventLog.dir", format!("file://{}", events.display())),
                // One file, by Zstandard as is Spark's default.
                ("spark.eventLog.rolling.enabled", "false".to_owned()),
                ("spark.eventLog.compress", "true".to_owned()),
            ]);
        }
        properties
    }
}

/// What an application is told on a standalone cluster of so many cores.
fn standalone(cores: u32) -> Vec<(&'static str, String)> {
    vec![
        ("spark.cores.max", cores.to_string()),
        // The first stage waits for all executors: without them where its tasks run would be chance.
        ("spark.scheduler.minRegisteredResourcesRatio", "1.0".to_owned()),
        ("spark.scheduler.maxRegisteredResourcesWaitingTime", "60s".to_owned()),
    ]
}

/// What an application is told on YARN.
fn on_yarn(yarn: &SparkYarn, layout: &Layout, options: &str) -> Vec<(&'static str, String)> {
    let mut properties = vec![
        ("spark.executor.instances", yarn.instances.to_string()),
        ("spark.yarn.am.memory", mib(yarn.am_memory)),
        ("spark.yarn.am.cores", yarn.am_cores.to_string()),
        ("spark.yarn.am.extraJavaOptions", options.to_owned()),
        ("spark.yarn.maxAppAttempts", yarn.max_attempts.to_string()),
        ("spark.yarn.scheduler.heartbeat.interval-ms", milliseconds(yarn.heartbeat)),
        ("spark.yarn.scheduler.initial-allocation.interval", format!("{}ms", milliseconds(yarn.initial_allocation))),
        ("spark.scheduler.minRegisteredResourcesRatio", yarn.min_registered.to_string()),
        ("spark.scheduler.maxRegisteredResourcesWaitingTime", format!("{}ms", milliseconds(yarn.max_registered_wait))),
        // All hosts see them: nothing is put into HDFS and fetched from there, as with an archive that nodes have kept.
        ("spark.yarn.jars", format!("local:{}/*", layout.spark_jars().display())),
    ];
    let overheads = [
        ("spark.executor.memoryOverhead", yarn.executor_memory_overhead),
        ("spark.yarn.am.memoryOverhead", yarn.am_memory_overhead),
    ];
    properties.extend(overheads.into_iter().filter_map(|(name, overhead)| Some((name, mib(overhead?)))));
    if let Some(wait) = yarn.locality_wait_rack {
        properties.push(("spark.locality.wait.rack", format!("{}ms", milliseconds(wait))));
    }
    properties
}

/// Memory as Spark takes it, in whole MiB.
fn mib(bytes: Bytes) -> String {
    format!("{}m", bytes.get() >> 20)
}

/// The folder of an application's event log, on the master; `at_ms` makes it its own.
pub fn events(layout: &Layout, at_ms: u64) -> PathBuf {
    layout.node(CLIENT).join(format!("events-{at_ms}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_s_settings_are_spark_s_properties() {
        let text = "[cluster]\nworkers = 3\n[spark]\nexecutors = 2\nexecutor-cores = 4\nlocality-wait = \"500 ms\"\n\
            reducer-max-size-in-flight = \"1 MiB\"\nexecutor-memory = \"600 MiB\"\n[[spark.stage]]\nname = \"none\"\n";
        let scenario = Scenario::parse("s.toml", text, &[]).expect("it is valid");
        let spark = scenario.spark.as_ref().expect("it has Spark");
        let layout = Layout::new("/tmp/x".into(), "nobody");
        let submission = Submission {
            scenario: &scenario,
            spark,
            master: "master",
            events: Some(Path::new("/tmp/x/events")),
            jar: "/tmp/a.jar".into(),
            class: Some("Main"),
            properties: &["spark.locality.wait=9s".to_owned()],
            arguments: vec!["in".to_owned()],
        };
        let (class, words) = submission.command(&layout);
        assert!(class.ends_with("SparkSubmit"));
        let all = words.join(" ");
        for part in [
            "--master spark://master:7077 ",
            "spark.cores.max=24 ",
            "spark.executor.cores=4 ",
            "spark.reducer.maxSizeInFlight=1048576b ",
            "spark.eventLog.dir=file:///tmp/x/events ",
            "-Djava.io.tmpdir=/tmp/x/",
        ] {
            assert!(all.contains(part), "{part}: {all}");
        }
        // What the user asks for comes behind, and holds.
        assert!(all.find("spark.locality.wait=500ms") < all.find("spark.locality.wait=9s"), "{all}");
        assert!(all.ends_with("--class Main /tmp/a.jar in"), "{all}");
        let worker = of_worker("worker-2", "master", spark, Path::new("/tmp/x/w")).join(" ");
        assert_eq!(worker, "--host worker-2 --cores 8 --memory 1200m --work-dir /tmp/x/w spark://master:7077");
    }

    #[test]
    fn a_scenario_s_settings_of_yarn_are_spark_s_properties() {
        let text = "[cluster]\nworkers = 3\n[mapreduce]\nnode-memory = \"4 GiB\"\nnode-vcores = 8\n[spark]\n\
            executor-cores = 2\n[spark.yarn]\ninstances = 3\nexecutor-memory-overhead = \"200 MiB\"\n\
            heartbeat = \"1 s\"\n[[spark.stage]]\nname = \"none\"\n";
        let scenario = Scenario::parse("s.toml", text, &[]).expect("it is valid");
        let spark = scenario.spark.as_ref().expect("it has Spark");
        assert_eq!(cores(&scenario, spark), 6);
        let (properties, arguments) = (&[], Vec::new());
        let (jar, class, master, events) = ("/tmp/a.jar".into(), None, "master", None);
        let submission = Submission { scenario: &scenario, spark, master, events, jar, class, properties, arguments };
        let all = submission.command(&Layout::new("/tmp/x".into(), "nobody")).1.join(" ");
        for part in [
            "--master yarn --deploy-mode client ",
            "spark.executor.instances=3 ",
            "spark.executor.memory=1024m ",
            "spark.executor.memoryOverhead=200m ",
            "spark.yarn.am.memory=512m ",
            "spark.yarn.scheduler.heartbeat.interval-ms=1000 ",
            "spark.yarn.scheduler.initial-allocation.interval=200ms ",
            "spark.scheduler.minRegisteredResourcesRatio=0.8 ",
            "spark.yarn.jars=local:/tmp/x/spark/jars/* ",
        ] {
            assert!(all.contains(part), "{part}: {all}");
        }
        for absent in ["spark.cores.max", "spark.yarn.am.memoryOverhead", "spark.locality.wait.rack"] {
            assert!(!all.contains(absent), "{absent}: {all}");
        }
    }
}
