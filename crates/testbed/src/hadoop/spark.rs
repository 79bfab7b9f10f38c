//! Spark on a cluster: its daemons, and how an application is started.
//!
//! Standalone, Workers start executors on their own hosts; on YARN they are in containers. Applications run in client
//! mode: the driver is on the master.

use super::layout::{CLIENT, Layout};
use super::settings::JVM;
use scenario::{Check, Scenario, Spark, SparkProperty};
use std::path::{Path, PathBuf};
use std::process::Command;
use units::Bytes;

/// The Master's port for Workers and drivers, and that of its web server.
pub const MASTER: u16 = 7_077;
pub const MASTER_HTTP: u16 = 8_080;
/// The file of Workers' properties.
pub const WORKERS: &str = "spark-workers.conf";
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
pub fn of_worker(host: &str, master: &str, spark: &Spark, folder: &Path, layout: &Layout) -> Vec<String> {
    let cores = (spark.executors * spark.executor_cores).to_string();
    let memory = format!("{}m", (spark.executor_memory.get() >> 20) * u64::from(spark.executors));
    let (folder, master) = (folder.display().to_string(), format!("spark://{master}:{MASTER}"));
    let file = layout.conf().join(WORKERS).display().to_string();
    let words = ["--host", host, "--cores", &cores, "--memory", &memory, "--work-dir", &folder];
    words.into_iter().chain(["--properties-file", &file, &master]).map(str::to_owned).collect()
}

/// What Workers have of Spark's properties: their service serves the shuffle files of executors that have ended.
pub fn of_workers(spark: &Spark) -> String {
    format!("spark.shuffle.service.enabled {}\n", spark.shuffle_service)
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

    /// The properties that the cluster has an application run with: what the scenario's keys stand for, and the
    /// testbed's own.
    fn own(&self, layout: &Layout) -> Vec<(&'static str, String)> {
        let spark = self.spark;
        let options = format!("{} {}", JVM.join(" "), layout.temporary_option());
        let mut properties = told(spark);
        properties.extend(match &spark.yarn {
            None => standalone(cores(self.scenario, spark), spark),
            Some(_) => vec![
                ("spark.yarn.am.extraJavaOptions", options.clone()),
                // All hosts see them: nothing is put into HDFS and fetched from there, as with an archive that nodes
                // have kept.
                ("spark.yarn.jars", format!("local:{}/*", layout.spark_jars().display())),
            ],
        });
        properties.extend([
            ("spark.executor.extraJavaOptions", options),
            ("spark.driver.host", self.master.to_owned()),
            ("spark.ui.enabled", "false".to_owned()),
            ("spark.eventLog.enabled", self.events.is_some().to_string()),
        ]);
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

/// What a scenario's keys say, as Spark's properties.
fn told(spark: &Spark) -> Vec<(&'static str, String)> {
    // Executors that come and go are asked for in place of a number of them, of which Spark would take the larger.
    let is_asked =
        |property: &&SparkProperty| property.name != "spark.executor.instances" || spark.dynamic_allocation.is_none();
    let properties = SparkProperty::ALL.iter().filter(is_asked);
    let mut told: Vec<_> = properties.filter_map(|property| Some((property.name, property.written(spark)?))).collect();
    // A table that is there is a switch that is on.
    let switches = [
        ("spark.dynamicAllocation.enabled", spark.dynamic_allocation.is_some()),
        ("spark.excludeOnFailure.enabled", spark.exclude_on_failure.is_some()),
    ];
    told.extend(switches.map(|(name, on)| (name, on.to_string())));
    told
}

/// What an application is told on a standalone cluster of so many cores.
fn standalone(cores: u32, spark: &Spark) -> Vec<(&'static str, String)> {
    // The first stage waits for all executors: without them where its tasks run would be chance. Not where they come as
    // tasks need them, which are less than all cores (`StandaloneSchedulerBackend.sufficientResourcesRegistered`).
    let registered = if spark.dynamic_allocation.is_some() { "0.0" } else { "1.0" };
    vec![
        ("spark.cores.max", cores.to_string()),
        ("spark.scheduler.minRegisteredResourcesRatio", registered.to_owned()),
        ("spark.scheduler.maxRegisteredResourcesWaitingTime", "60s".to_owned()),
    ]
}

/// Says what of a scenario's settings Spark cannot be told, each with its place.
pub fn check(check: &mut Check<'_>) {
    let Some(spark) = &check.scenario.spark else { return };
    for property in SparkProperty::ALL {
        if let Some([is, next, unit]) = property.cut_off(spark) {
            let message = format!("Spark counts `{}` in whole units of {unit}, which {is} is not", property.name);
            check.says(&property.key(), message, next);
        }
    }
    if spark.shuffle_service && spark.yarn.is_some() {
        let message = "the testbed's NodeManagers have no shuffle service of Spark's";
        check.says("spark.shuffle-service", message, "leave it out, or `[spark.yarn]`");
    }
    for i in 0..spark.stage.len() {
        let path = format!("spark.stage.{i}.attempt");
        if check.states(&path) {
            let message = "Spark cannot be told which attempts fail: in the testbed they do where the program has them";
            check.says(&path, message, "leave it out and run a jar that fails so, or simulate it by `trunkline run`");
        }
    }
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
            "spark.reducer.maxSizeInFlight=1m ",
            "spark.scheduler.minRegisteredResourcesRatio=1.0 ",
            "spark.dynamicAllocation.enabled=false ",
            "spark.excludeOnFailure.enabled=false ",
            "spark.eventLog.dir=file:///tmp/x/events ",
            "-Djava.io.tmpdir=/tmp/x/",
        ] {
            assert!(all.contains(part), "{part}: {all}");
        }
        // What the user asks for comes behind, and holds.
        assert!(all.find("spark.locality.wait=500ms") < all.find("spark.locality.wait=9s"), "{all}");
        assert!(all.ends_with("--class Main /tmp/a.jar in"), "{all}");
        let worker = of_worker("worker-2", "master", spark, Path::new("/tmp/x/w"), &layout).join(" ");
        assert!(worker.starts_with("--host worker-2 --cores 8 --memory 1200m --work-dir /tmp/x/w "), "{worker}");
        assert!(worker.ends_with("/spark-workers.conf spark://master:7077"), "{worker}");
        assert_eq!(of_workers(spark), "spark.shuffle.service.enabled false\n");
    }

    /// The properties of an application of a scenario, each as `name=value`.
    fn told_to(text: &str) -> Vec<String> {
        let text = format!("[cluster]\nworkers = 3\n{text}\n[[spark.stage]]\nname = \"none\"\n");
        let scenario = Scenario::parse("s.toml", &text, &[]).unwrap_or_else(|error| panic!("{error}"));
        let spark = scenario.spark.as_ref().expect("it has Spark");
        let (properties, arguments) = (&[], Vec::new());
        let (jar, class, master, events) = ("/tmp/a.jar".into(), None, "master", None);
        let submission = Submission { scenario: &scenario, spark, master, events, jar, class, properties, arguments };
        submission
            .own(&Layout::new("/tmp/x".into(), "nobody"))
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect()
    }

    #[test]
    fn executors_that_come_and_go_and_that_are_excluded_are_spark_s_too() {
        let told = told_to(
            "[spark]\nexecutors = 2\ntask-max-failures = 6\nshuffle-service = true\nadaptive = false\n\
             memory-fraction = 0.5\nlocality-wait-process = \"1 s\"\nspeculation = true\n\
             [spark.dynamic-allocation]\nmin-executors = 1\nmax-executors = 5\nexecutor-allocation-ratio = 0.5\n\
             executor-idle-timeout = \"4 s\"\nshuffle-tracking-timeout = \"2500 ms\"\n\
             [spark.exclude-on-failure]\ntask-and-stage = false\ntask-attempts-per-node = 5\ntimeout = \"10 s\"\n\
             kill-excluded-executors = true\nunschedulable-timeout = \"2 min\"\n",
        );
        for property in [
            "spark.cores.max=6",
            "spark.task.maxFailures=6",
            "spark.shuffle.service.enabled=true",
            "spark.sql.adaptive.enabled=false",
            "spark.memory.fraction=0.5",
            "spark.locality.wait.process=1000ms",
            "spark.speculation=true",
            "spark.dynamicAllocation.enabled=true",
            "spark.dynamicAllocation.minExecutors=1",
            "spark.dynamicAllocation.maxExecutors=5",
            "spark.dynamicAllocation.executorAllocationRatio=0.5",
            "spark.dynamicAllocation.schedulerBacklogTimeout=1s",
            "spark.dynamicAllocation.executorIdleTimeout=4s",
            "spark.dynamicAllocation.shuffleTracking.timeout=2500ms",
            // Its first stage waits for no executor that nobody has asked for yet.
            "spark.scheduler.minRegisteredResourcesRatio=0.0",
            "spark.excludeOnFailure.enabled=true",
            "spark.excludeOnFailure.application.enabled=true",
            "spark.excludeOnFailure.taskAndStage.enabled=false",
            "spark.excludeOnFailure.task.maxTaskAttemptsPerNode=5",
            "spark.excludeOnFailure.timeout=10000ms",
            "spark.excludeOnFailure.killExcludedExecutors=true",
            "spark.scheduler.excludeOnFailure.unschedulableTaskSetTimeout=120s",
        ] {
            assert!(told.iter().any(|told| told == property), "{property}: {told:?}");
        }
        // What is left out without a value is Spark's to say.
        for absent in ["initialExecutors", "sustainedScheduler", "cachedExecutor", "wait.node", "spark.yarn"] {
            assert!(!told.iter().any(|told| told.contains(absent)), "{absent}: {told:?}");
        }
        // No property is told twice, but for what is the cluster's own.
        let mut names: Vec<&str> = told.iter().filter_map(|told| Some(told.split_once('=')?.0)).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all, "{told:?}");
        let on_yarn = told_to(
            "[mapreduce]\nnode-memory = \"4 GiB\"\nnode-vcores = 8\n[spark.yarn]\n[spark.dynamic-allocation]\n\
             initial-executors = 1\n",
        );
        assert!(on_yarn.iter().any(|told| told == "spark.dynamicAllocation.initialExecutors=1"), "{on_yarn:?}");
        assert!(!on_yarn.iter().any(|told| told.starts_with("spark.executor.instances")), "{on_yarn:?}");
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
            "spark.yarn.scheduler.heartbeat.interval-ms=1000ms ",
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
