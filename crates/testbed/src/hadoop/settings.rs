//! A scenario's settings as Hadoop's properties.

use super::layout::{Layout, NODE};
use super::s3a;
use super::spark::{WORKERS, of_workers};
use super::store::Credentials;
use scenario::Scenario;
use std::fmt::Write;
use units::{Bytes, Time};

/// Ports of the master.
pub const NAME_NODE_HTTP: u16 = 9_870;
pub const RESOURCE_MANAGER_HTTP: u16 = 8_088;
pub const HISTORY_HTTP: u16 = 19_888;
/// HDFS, as files of it are named in full.
pub const HDFS: &str = "hdfs://master:8020";
/// Where HDFS keeps histories.
pub const HISTORY: &str = "/history";

/// The NameNode's policy: that of `hadoop/`.
const PLACEMENT_POLICY: &str = "org.apache.hadoop.hdfs.server.blockmanagement.KeyAwareBlockPlacementPolicy";
const LOCALITY_APP_MASTER: &str = "org.apache.hadoop.mapreduce.v2.app.LocalityAppMaster";
/// The input format of files that are laid out by key.
const PLACED_TEXT: &str = "trunkline.hadoop.PlacedTextInputFormat";

/// Options of every JVM: small, and started fast.
pub const JVM: [&str; 6] = [
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Xss512k",
    "-XX:-UsePerfData",
    "-Djava.net.preferIPv4Stack=true",
    "-Djava.awt.headless=true",
];

pub(super) type Properties = Vec<(&'static str, String)>;

/// The files of a cluster's configuration: names and contents. `jobs` adds to what its jobs are told.
pub fn files(scenario: &Scenario, layout: &Layout, key: Option<&Credentials>) -> Vec<(String, String)> {
    let xml = |name: &str, properties: Properties| (format!("{name}.xml"), written(&properties));
    let mut files = vec![
        xml("core-site", [core(scenario, layout), s3a::properties(scenario, key)].concat()),
        xml("hdfs-site", hdfs(scenario, layout)),
        xml("yarn-site", yarn(scenario, layout)),
        xml("mapred-site", mapred(scenario, layout)),
        xml("capacity-scheduler", capacity(scenario)),
        ("log4j.properties".to_owned(), LOG.to_owned()),
    ];
    if let Some(spark) = &scenario.spark {
        files.push(("log4j2.properties".to_owned(), SPARK_LOG.to_owned()));
        files.push((WORKERS.to_owned(), of_workers(spark)));
    }
    files
}

fn core(scenario: &Scenario, layout: &Layout) -> Properties {
    vec![
        ("fs.defaultFS", HDFS.to_owned()),
        ("hadoop.tmp.dir", layout.of_node("tmp")),
        // Tasks and clients are started without the daemons' system property.
        (NODE, "client".to_owned()),
        ("hadoop.http.staticuser.user", layout.user.clone()),
        ("ipc.client.connect.max.retries.on.timeouts", "3".to_owned()),
        ("ipc.server.handler.queue.size", scenario.master.queue.to_string()),
    ]
}

fn hdfs(scenario: &Scenario, layout: &Layout) -> Properties {
    let hdfs = &scenario.hdfs;
    let at = |port: u16| format!("${{{NODE}}}:{port}");
    let mut properties = vec![
        ("dfs.namenode.rpc-address", "master:8020".to_owned()),
        ("dfs.namenode.http-address", format!("master:{NAME_NODE_HTTP}")),
        ("dfs.namenode.name.dir", layout.of_node_url("name")),
        ("dfs.datanode.data.dir", layout.of_node_url("data")),
        ("dfs.datanode.address", at(9_866)),
        ("dfs.datanode.ipc.address", at(9_867)),
        ("dfs.datanode.http.address", at(9_864)),
        ("dfs.datanode.hostname", format!("${{{NODE}}}")),
        ("dfs.replication", hdfs.replication.to_string()),
        ("dfs.blocksize", hdfs.block.get().to_string()),
        ("dfs.client-write-packet-size", hdfs.packet.get().to_string()),
        ("dfs.heartbeat.interval", seconds(hdfs.heartbeat)),
        ("dfs.blockreport.intervalMsec", milliseconds(hdfs.block_report)),
        ("dfs.namenode.heartbeat.recheck-interval", milliseconds(hdfs.recheck)),
        ("dfs.client.socket-timeout", milliseconds(hdfs.socket_timeout)),
        ("dfs.namenode.handler.count", hdfs.handlers.to_string()),
        ("dfs.datanode.handler.count", "3".to_owned()),
        ("dfs.namenode.safemode.extension", "0".to_owned()),
        ("dfs.permissions.enabled", "false".to_owned()),
        ("dfs.blockreport.initialDelay", "0".to_owned()),
        ("dfs.namenode.edits.noeditlogchannelflush", "true".to_owned()),
        ("dfs.client.block.write.locateFollowingBlock.initial.delay.ms", "20".to_owned()),
        ("dfs.namenode.fs-limits.min-block-size", "512".to_owned()),
        // Files that are not laid out by key stand where HDFS's own policy puts them, which it asks.
        ("dfs.block.replicator.classname", PLACEMENT_POLICY.to_owned()),
        // The balancer leaves blocks where their writer asked for the nodes.
        ("dfs.datanode.block-pinning.enabled", "true".to_owned()),
    ];
    if let Some(coding) = hdfs.erasure_coding {
        // The default policy is an enabled one; folders get it when the cluster is up.
        properties.push(("dfs.namenode.ec.system.default.policy", coding.policy().to_owned()));
    }
    properties
}

fn yarn(scenario: &Scenario, layout: &Layout) -> Properties {
    let mapreduce = &scenario.mapreduce;
    let node = format!("${{{NODE}}}");
    let memory = mapreduce.node_memory.unwrap_or(Bytes::from_mib(1_024));
    let heartbeat = mapreduce.heartbeat.unwrap_or(Time::from_secs(1));
    let mut properties = vec![
        ("yarn.resourcemanager.hostname", "master".to_owned()),
        ("yarn.nodemanager.hostname", node),
        // One that starts again is known by its port.
        ("yarn.nodemanager.address", format!("${{{NODE}}}:8041")),
        ("yarn.nodemanager.aux-services", "mapreduce_shuffle".to_owned()),
        ("yarn.nodemanager.aux-services.mapreduce_shuffle.class", "org.apache.hadoop.mapred.ShuffleHandler".to_owned()),
        ("yarn.nodemanager.local-dirs", layout.of_node("local")),
        ("yarn.nodemanager.log-dirs", layout.of_node("logs")),
        ("yarn.nodemanager.resource.memory-mb", mib(memory)),
        ("yarn.nodemanager.resource.cpu-vcores", mapreduce.node_vcores.to_string()),
        ("yarn.scheduler.minimum-allocation-mb", mib(mapreduce.minimum_allocation)),
        ("yarn.scheduler.maximum-allocation-mb", mib(memory)),
        ("yarn.scheduler.maximum-allocation-vcores", mapreduce.node_vcores.to_string()),
        ("yarn.nodemanager.pmem-check-enabled", "false".to_owned()),
        ("yarn.nodemanager.vmem-check-enabled", "false".to_owned()),
        ("yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage", "100".to_owned()),
        ("yarn.application.classpath", layout.class_path()),
        ("yarn.log-aggregation-enable", "false".to_owned()),
        // Logs of tasks stay until the cluster is gone: one that failed is looked up there.
        ("yarn.nodemanager.delete.debug-delay-sec", "0".to_owned()),
        ("yarn.nodemanager.log.retain-seconds", "86400".to_owned()),
        ("yarn.nodemanager.resourcemanager.minimum.version", "NONE".to_owned()),
        ("yarn.resourcemanager.nodemanagers.heartbeat-interval-ms", milliseconds(heartbeat)),
        ("yarn.nm.liveness-monitor.expiry-interval-ms", milliseconds(mapreduce.node_expiry)),
        ("yarn.nodemanager.env-whitelist", "JAVA_HOME,HADOOP_CONF_DIR".to_owned()),
        ("yarn.nodemanager.admin-env", "MALLOC_ARENA_MAX=2".to_owned()),
        (
            "yarn.resourcemanager.scheduler.class",
            "org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler".to_owned(),
        ),
    ];
    if let Some(handlers) = scenario.master.handlers {
        properties.push(("yarn.resourcemanager.resource-tracker.client.thread-count", handlers.to_string()));
    }
    properties
}

/// Options of a JVM with this heap.
fn opts(heap: Bytes) -> String {
    format!("-Xmx{}m {}", mib(heap), JVM.join(" "))
}

/// Options of AppMasters' JVMs.
fn am_opts(scenario: &Scenario) -> String {
    let of = &scenario.mapreduce;
    opts(of.am_heap.unwrap_or(of.am_memory * 2 / 3))
}

/// The properties, `name=value`, by which a job of this cluster runs its tasks where its data are laid out by key, one
/// map for several of their files. `fallback` is how long a task waits for its nodes.
pub fn locality(scenario: &Scenario, fallback: Time) -> [String; 3] {
    [
        format!("mapreduce.job.inputformat.class={PLACED_TEXT}"),
        format!("yarn.app.mapreduce.am.command-opts={} {LOCALITY_APP_MASTER}", am_opts(scenario)),
        format!("trunkline.locality.fallback-ms={}", milliseconds(fallback)),
    ]
}

fn mapred(scenario: &Scenario, layout: &Layout) -> Properties {
    let of = &scenario.mapreduce;
    let reduce_heap = of.reduce_heap.unwrap_or(of.reduce_memory * 4 / 5);
    let small = of.uber.max_bytes.unwrap_or(scenario.hdfs.block);
    // A job that fails by itself is not tried again; one whose AppMaster is killed is, as by default.
    let attempts = if scenario.faults.is_empty() { 1 } else { 2 };
    vec![
        ("mapreduce.framework.name", "yarn".to_owned()),
        ("mapreduce.application.classpath", layout.class_path()),
        ("mapreduce.jobhistory.address", "master:10020".to_owned()),
        ("mapreduce.jobhistory.webapp.address", format!("master:{HISTORY_HTTP}")),
        ("mapreduce.jobhistory.admin.address", "master:10033".to_owned()),
        ("mapreduce.jobhistory.intermediate-done-dir", format!("{HISTORY}/new")),
        ("mapreduce.jobhistory.done-dir", format!("{HISTORY}/done")),
        ("yarn.app.mapreduce.am.staging-dir", "/user".to_owned()),
        ("yarn.app.mapreduce.am.resource.mb", mib(of.am_memory)),
        ("yarn.app.mapreduce.am.command-opts", am_opts(scenario)),
        ("yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms", milliseconds(of.am_heartbeat)),
        ("mapreduce.am.max-attempts", attempts.to_string()),
        ("mapreduce.map.memory.mb", mib(of.map_memory)),
        ("mapreduce.map.java.opts", opts(of.map_memory * 4 / 5)),
        ("mapreduce.reduce.memory.mb", mib(of.reduce_memory)),
        ("mapreduce.reduce.java.opts", opts(reduce_heap)),
        ("mapreduce.job.reduces", of.reducers.to_string()),
        ("mapreduce.job.reduce.slowstart.completedmaps", of.slowstart.to_string()),
        ("mapreduce.task.io.sort.mb", mib(of.io_sort)),
        ("mapreduce.map.sort.spill.percent", of.spill_percent.to_string()),
        ("mapreduce.task.io.sort.factor", of.sort_factor.to_string()),
        ("mapreduce.reduce.shuffle.parallelcopies", of.parallel_copies.to_string()),
        ("mapreduce.reduce.shuffle.input.buffer.percent", of.shuffle_buffer_percent.to_string()),
        ("mapreduce.reduce.shuffle.merge.percent", of.shuffle_merge_percent.to_string()),
        ("mapreduce.reduce.merge.inmem.threshold", of.merge_in_memory_threshold.to_string()),
        ("mapreduce.reduce.input.buffer.percent", of.reduce_buffer_percent.to_string()),
        ("mapreduce.map.speculative", of.speculative.to_string()),
        ("mapreduce.reduce.speculative", of.speculative.to_string()),
        ("mapreduce.task.timeout", milliseconds(of.task_timeout)),
        ("mapreduce.map.maxattempts", of.max_attempts.to_string()),
        ("mapreduce.reduce.maxattempts", of.max_attempts.to_string()),
        ("mapreduce.job.maxtaskfailures.per.tracker", of.node_failures.to_string()),
        ("mapreduce.client.submit.file.replication", of.submit_replication.to_string()),
        ("mapreduce.client.progressmonitor.pollinterval", milliseconds(of.client_poll)),
        ("mapreduce.job.ubertask.enable", of.uber.enable.to_string()),
        ("mapreduce.job.ubertask.maxmaps", of.uber.max_maps.to_string()),
        ("mapreduce.job.ubertask.maxreduces", of.uber.max_reduces.to_string()),
        ("mapreduce.job.ubertask.maxbytes", small.get().to_string()),
        // What a job leaves holds no key.
        ("mapreduce.job.redacted-properties", format!("{},{}", s3a::ACCESS, s3a::SECRET)),
    ]
}

fn capacity(scenario: &Scenario) -> Properties {
    let prefix = [
        ("yarn.scheduler.capacity.root.queues", "default"),
        ("yarn.scheduler.capacity.root.default.capacity", "100"),
        ("yarn.scheduler.capacity.root.default.maximum-capacity", "100"),
        ("yarn.scheduler.capacity.maximum-am-resource-percent", "0.5"),
        (
            "yarn.scheduler.capacity.resource-calculator",
            "org.apache.hadoop.yarn.util.resource.DefaultResourceCalculator",
        ),
    ];
    let mut properties: Properties = prefix.map(|(name, value)| (name, value.to_owned())).into();
    let of = &scenario.mapreduce;
    properties.push(("yarn.scheduler.capacity.node-locality-delay", of.locality_delay.to_string()));
    properties.push(("yarn.scheduler.capacity.schedule-asynchronously.enable", of.asynchronous.to_string()));
    if let Some(most) = of.containers_per_heartbeat {
        let most = if most == 0 { "-1".to_owned() } else { most.to_string() };
        properties.push(("yarn.scheduler.capacity.per-node-heartbeat.maximum-container-assignments", most));
    }
    let anywhere = of.off_switch_per_heartbeat.to_string();
    properties.push(("yarn.scheduler.capacity.per-node-heartbeat.maximum-offswitch-assignments", anywhere));
    properties
}

const LOG: &str = "log4j.rootLogger=INFO,console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.target=System.err
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d{ISO8601} %p %c{2}: %m%n
log4j.logger.BlockStateChange=WARN
log4j.logger.org.apache.hadoop.util.NativeCodeLoader=ERROR
";

/// Spark's own, but for the milliseconds.
const SPARK_LOG: &str = "rootLogger.level = info
rootLogger.appenderRef.stderr.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{yy/MM/dd HH:mm:ss.SSS} %p %c{1}: %m%n%ex
";

/// Whole MiB, at least one.
fn mib(bytes: Bytes) -> String {
    (bytes.get() >> 20).max(1).to_string()
}

pub(super) fn milliseconds(time: Time) -> String {
    (time.as_us() / 1_000).max(u64::from(time > Time::ZERO)).to_string()
}

/// Whole seconds, at least one: HDFS takes no part of one here.
fn seconds(time: Time) -> String {
    (time.as_us() / 1_000_000).max(1).to_string()
}

fn written(properties: &[(&str, String)]) -> String {
    let mut text = "<?xml version=\"1.0\"?>\n<configuration>\n".to_owned();
    for (name, value) in properties {
        // Writing to a string does not fail.
        let _ = writeln!(text, "  <property><name>{name}</name><value>{}</value></property>", escaped(value));
    }
    text + "</configuration>\n"
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_s_settings_are_hadoop_s_properties() {
        let text = "[hdfs]\nblock = \"8 MiB\"\nreplication = 2\nheartbeat = \"1 s\"\n[mapreduce]\n\
            node-memory = \"1 GiB\"\nio-sort = \"48 MiB\"\nslowstart = 0.5\n\
            map-memory = \"256 MiB\"\nam-memory = \"1 GiB\"\n[job]\n";
        let scenario = Scenario::parse("s.toml", text, &[]).expect("it is valid");
        let layout = Layout::new("/tmp/a & b".into(), "nobody");
        let files = files(&scenario, &layout, None);
        let all: String = files.iter().map(|(_, text)| text.as_str()).collect();
        for (name, value) in [
            ("dfs.blocksize", "8388608"),
            ("dfs.replication", "2"),
            ("dfs.heartbeat.interval", "1"),
            ("yarn.nodemanager.resource.memory-mb", "1024"),
            ("mapreduce.task.io.sort.mb", "48"),
            ("mapreduce.job.reduce.slowstart.completedmaps", "0.5"),
            ("mapreduce.map.memory.mb", "256"),
            ("yarn.scheduler.capacity.schedule-asynchronously.enable", "false"),
            ("hadoop.tmp.dir", "/tmp/a &amp; b/nodes/${trunkline.node}/tmp"),
        ] {
            let line = format!("<property><name>{name}</name><value>{value}</value></property>");
            assert!(all.contains(&line), "{line}");
        }
        assert!(all.contains("-Xmx204m "), "four fifths of a map's container are its heap");
    }
}
