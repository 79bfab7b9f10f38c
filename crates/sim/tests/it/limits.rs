//! A limit that a key accepts is a promise: at either end of its range a scenario runs, or the end stands below with
//! what speaks against it.

use scenario::Scenario;
use scenario::key::Section;
use sim::RunError;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// What a run may take before it is stopped.
const PATIENCE: Duration = Duration::from_millis(30);
const SPARK: &str = "[spark.stage]\nname = \"a\"\n";
const JOB: &str = "[job]\ninput = \"64 MB\"\n[hdfs]\nreplication = 1\n";
const TRAFFIC: &str = "[traffic]\nfrom = \"worker-1\"\nto = \"worker-2\"\n";
const WIFI: &str = "[job]\ninput = \"1 MB\"\n[hdfs]\nreplication = 1\n[network]\ntopology = \"wifi\"\n";

/// What a key, or one of its ends, needs around it: the first entry that names a part of `path=end` counts.
struct Need {
    part: &'static str,
    text: &'static str,
    sets: &'static [&'static str],
}

const fn need(part: &'static str, text: &'static str, sets: &'static [&'static str]) -> Need {
    Need { part, text, sets }
}

/// A drive that draws as much idle as in use.
const DRAWS_MUCH: [&str; 4] =
    ["node.preset=xeon-2009", "power.profile.read=1 kW", "power.profile.write=1 kW", "power.profile.idle=1 kW"];

const NEEDS: &[Need] = &[
    need(
        "cluster.group.node.disk.array.members=2",
        JOB,
        &["cluster.group.count=3", "cluster.group.node.disk.array.level=raid-1"],
    ),
    need("cluster.master.disk.array.members=2", JOB, &["cluster.master.disk.array.level=raid-1"]),
    need("node.disk.array.members=2", JOB, &["node.disk.array.level=raid-1"]),
    need("faults.disk=", JOB, &["faults.node=worker-1", "faults.slow=0.5", "node.disks=1000"]),
    need(
        "faults.member=",
        JOB,
        &["faults.node=worker-1", "faults.disk=0", "faults.slow=0.5", "node.disk.array.members=64"],
    ),
    need("cluster.group.node.memory=\"1 MiB\"", JOB, &["cluster.group.count=3", "mapreduce.node-memory=8 GiB"]),
    need("cluster.group.node.throttle.", JOB, &GROUP_THROTTLE),
    need("cluster.group.rack", JOB, &["cluster.group.count=3", "network.topology=leaf-spine", "network.racks=10000"]),
    need("cluster.group.", JOB, &["cluster.group.count=3"]),
    need("cluster.master.throttle.", JOB, &MASTER_THROTTLE),
    need("node.throttle.", JOB, &NODE_THROTTLE),
    need("node.memory=\"1 MiB\"", JOB, &["mapreduce.node-memory=8 GiB"]),
    need("power.profile.idle=", JOB, &["node.preset=xeon-2009", "power.profile.read=1 kW", "power.profile.write=1 kW"]),
    need("power.profile.idle-b=", JOB, &DRAWS_MUCH),
    need("power.profile.idle-c=", JOB, &DRAWS_MUCH),
    need("power.profile.standby=", JOB, &DRAWS_MUCH),
    need("power.profile.", JOB, &["node.preset=xeon-2009", "power.profile.read=1 kW", "power.profile.write=1 kW"]),
    need(
        "power.guard.on=\"1 bit/s\"",
        JOB,
        &["node.preset=xeon-2009", "power.drive=barracuda-7200.7", "power.guard.off=0 bit/s"],
    ),
    need(
        "power.guard.off=",
        JOB,
        &["node.preset=xeon-2009", "power.drive=barracuda-7200.7", "power.guard.on=1000 Gbit/s"],
    ),
    need("spark.stage.broadcast=\"1024 TiB\"", SPARK, &["spark.broadcast-block-size=2047 MiB"]),
    need(
        "spark.yarn.archive=\"1 TiB\"",
        SPARK,
        &["hdfs.block=1 GiB", "mapreduce.node-memory=1024 TiB", "mapreduce.node-vcores=10000"],
    ),
    need("spark.yarn.", SPARK, &["mapreduce.node-memory=1024 TiB", "mapreduce.node-vcores=10000"]),
    need("spark.dynamic-allocation.min-executors=100000", SPARK, &["spark.dynamic-allocation.max-executors=100000"]),
    need("spark.dynamic-allocation.shuffle-tracking=false", SPARK, &["spark.shuffle-service=true"]),
    need("spark.exclude-on-failure.task-attempts-per-node=999", SPARK, &["spark.task-max-failures=1000"]),
    need("spark.executor.until-job=", SPARK, &["spark.executor.until=1 s"]),
    need("spark.stage.attempt.task=999999", SPARK, &["spark.stage.tasks=1000000"]),
    need("spark.", SPARK, &[]),
    need("power.", JOB, &["node.preset=xeon-2009", "power.drive=barracuda-7200.7"]),
    need(
        "storage.background.jitter=",
        JOB,
        &["node.preset=xeon-2009", "power.drive=barracuda-7200.7", "storage.background.every=30 d"],
    ),
    need("storage.background.", JOB, &["node.preset=xeon-2009", "power.drive=barracuda-7200.7"]),
    need("storage.window=", JOB, &["node.preset=xeon-2009", "power.drive=barracuda-7200.7"]),
    need("storage.offload=", JOB, &["node.preset=xeon-2009", "power.drive=barracuda-7200.7", "storage.window=1 min"]),
    need("network.port.", JOB, &["network.port.link=worker-1"]),
    need("network.mss=\"65495 B\"", JOB, &["network.mtu=65535 B"]),
    need(
        "network.link.",
        TRAFFIC,
        &["network.topology=graph", "network.link.from=master..worker-3", "network.link.to=switch"],
    ),
    need("network.bond.to-rate=\"1 bit/s\"", JOB, &["network.bond.nodes=workers", "network.bond.rate=1 bit/s"]),
    need("network.bond.to-rate=", JOB, &["network.bond.nodes=workers", "network.bond.rate=10000 Gbit/s"]),
    need("network.bond.", JOB, &["network.bond.nodes=workers"]),
    need(
        "network.wifi.access-point.",
        WIFI,
        &["network.wifi.mode=infrastructure", "network.wifi.access-point.at=[\"1 m\", \"1 m\"]", WIDE],
    ),
    need("network.wifi.power-save.", WIFI, &["network.wifi.mode=infrastructure"]),
    need("network.wifi.propagation.m=", WIFI, &["network.wifi.propagation.fading=nakagami"]),
    need("network.wifi.propagation.around", WIFI, &["network.wifi.propagation.fading=correlated"]),
    need("network.wifi.rate=\"1 Mbit/s\"", WIFI, &["network.wifi.standard=b", "network.wifi.rate-control=fixed"]),
    need("network.wifi.", WIFI, &[]),
    need("mobility.node.", WIFI, &["mobility.node.node=worker-1", WIDE]),
    need("mobility.", WIFI, &[]),
    need("queue-restart", JOB, &["tcp.queue-threshold=1000000"]),
    need("min-rto=\"1 h\"", JOB, &["tcp.max-rto=1 h"]),
    need("tcp.initial-rto=\"1 h\"", JOB, &["tcp.max-rto=1 h"]),
    need("tcp.max-rto=\"1 us\"", JOB, &["tcp.min-rto=1 us", "tcp.initial-rto=1 us"]),
    need("tcp.vegas-alpha=10000", JOB, &["tcp.vegas-beta=10000"]),
    need("tcp.vegas-beta=0", JOB, &["tcp.vegas-alpha=0"]),
    need("tcp.hystart-delay-min=\"10 s\"", JOB, &["tcp.hystart-delay-max=10 s"]),
    need("tcp.hystart-delay-max=\"0 s\"", JOB, &["tcp.hystart-delay-min=0 s"]),
    need("object-store.s3a.multipart-threshold=\"5 MiB\"", JOB, &["object-store.s3a.multipart-size=5 MiB", IN, OUT]),
    need("object-store.s3a.multipart-size=\"5 GiB\"", JOB, &["object-store.s3a.multipart-threshold=5 GiB", IN, OUT]),
    need("job.read-range", JOB, &[STORE, IN]),
    need("job.read-gap", JOB, &[STORE, IN, "job.read-range=1 MiB"]),
    need("object-store.s3a.block=\"512 B\"", JOB, &["job.input=1 MB", IN]),
    need("object-store.", JOB, &[IN, OUT]),
    need("hdfs.balancer.capacity", JOB, &["hdfs.balancer.threshold=0.5"]),
    need("hdfs.balancer.", JOB, &["hdfs.balancer.capacity=1 TiB"]),
    need("hdfs.block=\"512 B\"", JOB, &["hdfs.packet=512 B", "job.input=1 MB"]),
    need("replication=512", "[job]\ninput = \"1 MB\"\n", &["cluster.workers=512"]),
    need("mapreduce.map-memory=\"1 MiB\"", JOB, &["mapreduce.io-sort=1 MiB", "mapreduce.node-memory=8 GiB"]),
    need("mapreduce.map-memory", JOB, &["mapreduce.node-memory=1024 TiB"]),
    need("mapreduce.reduce-memory", JOB, &["mapreduce.node-memory=1024 TiB"]),
    need("mapreduce.am-memory", JOB, &["mapreduce.node-memory=1024 TiB"]),
    need("mapreduce.minimum-allocation", JOB, &["mapreduce.node-memory=1024 TiB"]),
    need("mapreduce.io-sort", JOB, &["mapreduce.node-memory=1024 TiB", "mapreduce.map-memory=2 TiB"]),
    need("mapreduce.reduce-heap", JOB, &["mapreduce.node-memory=1024 TiB", "mapreduce.reduce-memory=1024 TiB"]),
    need("mapreduce.spare-batteries", JOB, &["node.idle-power=1 W", "node.battery=1 kJ"]),
    need("job.input=\"1048576 TiB\"", JOB, &["hdfs.block=1 TiB"]),
    need("job.splits=\"1048576 TiB\"", JOB, &["hdfs.block=1 TiB"]),
    need("job.keys.exponent", JOB, &["job.workload=sort", "job.keys.distinct=1000000000000"]),
    need("job.keys.", JOB, &["job.workload=sort"]),
    need("job.file-writers=", JOB, &["job.workload=dfsio-read", "cluster.workers=100000"]),
    need("job.plan.attempt.after=", JOB, &["job.plan.attempt.node=worker-1", "job.plan.attempt.end=failed"]),
    need("job.plan.attempt.copy=", JOB, &["job.plan.attempt.node=worker-1", "job.plan.attempt.kind=reduce"]),
    need("job.plan.attempt.reduce=", JOB, &["job.plan.attempt.node=worker-1", "job.plan.attempt.kind=reduce"]),
    need("job.plan.attempt.", JOB, &["job.plan.attempt.node=worker-1"]),
    need("traffic.coflow.", TRAFFIC, &["traffic.kind=coflow"]),
    need("traffic.data-scale", TRAFFIC, &["traffic.kind=coflow", "traffic.coflow.name=one"]),
    need("traffic.load=", TRAFFIC, &["traffic.kind=poisson"]),
    need("traffic.stripe.credit=", TRAFFIC, &["traffic.kind=stripe", "traffic.stripe.max-credit=16 GiB"]),
    need("traffic.stripe.max-credit=\"1 B\"", TRAFFIC, &["traffic.kind=stripe", "traffic.stripe.credit=1 B"]),
    need("traffic.stripe.", TRAFFIC, &["traffic.kind=stripe"]),
    need("traffic.", TRAFFIC, &[]),
    need("faults.slow-for", JOB, &["faults.node=worker-1", "faults.slow=0.5"]),
    need("faults.", JOB, &["faults.node=worker-1"]),
];
const GROUP_THROTTLE: [&str; 4] = [
    "cluster.group.count=3",
    "cluster.group.node.idle-power=1 W",
    "cluster.group.node.battery=1 kJ",
    "cluster.group.node.throttle.sustained=1 W",
];
const MASTER_THROTTLE: [&str; 3] =
    ["cluster.master.idle-power=1 W", "cluster.master.battery=1 kJ", "cluster.master.throttle.sustained=1 W"];
const NODE_THROTTLE: [&str; 3] = ["node.idle-power=1 W", "node.battery=1 kJ", "node.throttle.sustained=1 W"];

/// Ends that no scenario can have by themselves, and what is said of them.
const REFUSED: [(&str, &str); 7] = [
    ("network.shape.burst=\"1 B\"", "could never pass this bucket"),
    ("network.wifi.rate=\"1 Gbit/s\"", "as set has no rate of 1 Gbit/s"),
    ("mapreduce.node-memory=\"1 MiB\"", "fits on no worker"),
    ("mapreduce.map-memory=\"1 MiB\"", "a sort buffer of 1 MiB does not fit"),
    ("job.shares=0", "all shares are zero"),
    ("spark.stage.shares=0", "all shares are zero"),
    ("traffic.stop=\"0 s\"", "before it starts"),
];

/// A job on the object store.
const STORE: &str = "object-store.prefixes=1";
const IN: &str = "job.input-store=object-store";
const OUT: &str = "job.output-store=object-store";

/// The largest area.
const WIDE: &str = "mobility.area=[\"1000 km\", \"1000 km\"]";

/// A key with an end of its range, as `--set` takes it.
fn ends() -> Vec<String> {
    let mut ends = Vec::new();
    for row in Scenario::reference() {
        let Some((_, range)) = row.kind.rsplit_once(", ") else { continue };
        let Some((low, high)) = range.split_once(" to ") else { continue };
        let quoted = |end: &str| if end.parse::<f64>().is_ok() { end.to_owned() } else { format!("\"{end}\"") };
        let is_pair = row.path == "mobility.speed" || row.kind.starts_with("list: distance");
        let value = |end: &str| if is_pair { format!("[{0}, {0}]", quoted(end)) } else { quoted(end) };
        ends.extend([low, high].map(|end| format!("{}={}", row.path, value(end))));
    }
    ends
}

/// A scenario in which the key means something, with its end.
fn with(end: &str) -> (String, Vec<String>) {
    let found = NEEDS.iter().find(|need| end.contains(need.part));
    let (text, sets) = found.map_or((JOB, &[][..]), |need| (need.text, need.sets));
    let workers = if end.starts_with("cluster.group") { "" } else { "[cluster]\nworkers = 3\n" };
    let mut sets: Vec<_> = sets.iter().map(|set| (*set).to_owned()).collect();
    // A discipline's settings are for queues of its kind.
    let path: Vec<_> = end.split('=').next().unwrap_or_default().split('.').collect();
    for (i, part) in path.iter().enumerate().filter(|(_, part)| ["red", "codel", "fq-codel", "pie"].contains(part)) {
        let queue = path[..i].join(".");
        sets.push(format!("{queue}.kind={part}"));
        if part.ends_with("codel") {
            sets.extend([format!("{queue}.{part}.target=1 us"), format!("{queue}.{part}.interval=100 s")]);
        }
    }
    sets.push(end.to_owned());
    (format!("{workers}{text}[run]\nuntil = \"30 s\"\n"), sets)
}

/// What speaks against a scenario, or against what came of it.
fn objection(text: &str, sets: &[String]) -> Option<String> {
    let scenario = match sim::parse("limits.toml", text, sets) {
        Ok(scenario) => scenario,
        Err(error) => return Some(error.to_string()),
    };
    #[expect(clippy::disallowed_methods, reason = "a run is stopped after a moment of real time")]
    let began = Instant::now();
    let ended = sim::run(&scenario, &mut |_| {
        if began.elapsed() > PATIENCE { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    match ended {
        Ok(result) => {
            result.violations().map(|balance| balance.what.clone()).reduce(|all, one| format!("{all}, {one}"))
        }
        Err(RunError::Interrupted) => None,
        Err(error) => Some(error.to_string()),
    }
}

#[test]
fn a_scenario_runs_at_each_end_of_a_range() {
    let ends = ends();
    assert!(ends.len() > 600, "{} ends are few: has the reference another form?", ends.len());
    let mut wrong = Vec::new();
    for end in &ends {
        let (text, sets) = with(end);
        let said = objection(&text, &sets);
        let expected = REFUSED.iter().find(|(refused, _)| refused == end).map(|(_, reason)| *reason);
        match (said, expected) {
            (Some(said), None) => wrong.push(format!("{end}: {said}")),
            (Some(said), Some(reason)) if !said.contains(reason) => wrong.push(format!("{end}: {said}, not {reason}")),
            (None, Some(_)) => wrong.push(format!("{end} runs")),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), ends.len(), wrong.join("\n"));
}
