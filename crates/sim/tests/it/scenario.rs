//! Scenarios as people write them: what is right resolves, what is wrong is said with its place.

use scenario::{Control, DiskPreset, Nodes, QueueLimit, Scenario, schema};
use units::{BitRate, Bytes, Time};

/// The example of the design, whose names are binding.
const EXAMPLE: &str = r#"
[cluster]
workers = 4
generation = "yarn"
[cluster.host]
cores = 2
disks = 1
[node]
preset = "xeon-2009"
cores = 4
[network]
topology = "star"
rate = "1 Gbit/s"
delay = "25 us"
queue = { kind = "drop-tail", limit = "128 packets" }
[[network.shape]]
nodes = "workers"
direction = "both"
rate = "10 Mbit/s"
burst = "32 KB"
limit = "400 ms"
[tcp]
control = "cubic"
min-rto = "200 ms"
receive-buffer = "4 MB"
[hdfs]
block = "64 MB"
replication = 3
[mapreduce]
reducers = 4
map-slots = 2
[job]
workload = "terasort"
input = "10 GB"
[[traffic]]
kind = "long"
[[faults]]
at = "120 s"
node = "worker-3"
down-for = "60 s"
[run]
seed = 1
until = "1 h"
"#;

fn parse(text: &str, sets: &[&str]) -> Result<Scenario, String> {
    let sets: Vec<_> = sets.iter().map(|set| (*set).to_owned()).collect();
    sim::parse("cluster.toml", text, &sets).map_err(|error| error.to_string())
}

/// A workload that the documents describe, or that Hadoop's model has, is one that a scenario may name.
#[test]
fn every_documented_workload_is_taken() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/workloads.md");
    let page = std::fs::read_to_string(page).expect("docs/reference/workloads.md");
    let (_, volumes) = page.split_once("## Volumes").expect("a table of volumes");
    let rows = volumes.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
    let rows = rows.take_while(|line| line.starts_with("| "));
    let documented: Vec<&str> = rows.filter_map(|line| line.split('|').nth(1)).map(str::trim).collect();
    assert!(documented.contains(&"wordcount-nocombine") && documented.len() >= 9, "{documented:?}");
    for name in documented.into_iter().chain(hadoop::workload::PRESETS) {
        parse("[job]\n", &[&format!("job.workload={name}")]).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn the_design_example_resolves() {
    let scenario = parse(EXAMPLE, &[]).expect("the example is right");
    assert_eq!(scenario.name, "cluster");
    assert_eq!((scenario.node.cores, scenario.node.memory), (4, Bytes::from_mib(2048)), "the preset, overridden");
    assert_eq!(scenario.node.disk[0].preset, DiskPreset::Sata2009);
    assert_eq!(scenario.network.queue.limit, QueueLimit::Packets(128));
    assert_eq!(scenario.network.shape[0].rate, BitRate::from_mbps(10));
    assert_eq!(scenario.network.shape[0].limit, QueueLimit::Delay(Time::from_ms(400)));
    assert_eq!(scenario.tcp.control, Control::Cubic);
    assert_eq!(scenario.tcp.delayed_ack_timeout, Time::from_ms(40), "a default");
    assert_eq!(scenario.job[0].input, Bytes::from_mb(10_000));
    assert_eq!(scenario.faults[0].down_for, Some(Time::from_secs(60)));
    let nodes = scenario.nodes();
    assert_eq!(nodes.len(), 5);
    assert_eq!((nodes[4].name.as_str(), nodes[4].rack, nodes[4].host), ("worker-4", 1, Some(0)));
    assert_eq!(scenario.node_memory(&nodes[1]), Bytes::from_mib(2048), "no more than the node has");
}

#[test]
fn what_is_resolved_reads_back_as_the_same_scenario() {
    let scenario = parse(EXAMPLE, &["cluster.workers=7", "name = \"a \\\"b\\\" \\\\ c\""]).expect("right");
    for text in [scenario.to_toml(), scenario.to_short_toml()] {
        assert_eq!(parse(&text, &[]).as_ref(), Ok(&scenario), "{text}");
    }
    assert!(scenario.to_short_toml().lines().count() < scenario.to_toml().lines().count() / 2);
    let other_seed =
        parse(EXAMPLE, &["cluster.workers=7", "name = \"a \\\"b\\\" \\\\ c\"", "run.seed=2"]).expect("right");
    assert_eq!(scenario.digest(), other_seed.digest(), "a digest names the scenario, not the draw");
    assert_ne!(scenario.digest(), parse(EXAMPLE, &[]).expect("right").digest());
}

#[test]
fn groups_and_racks_resolve() {
    let text = r#"
        [network]
        topology = "tree"
        racks = 3
        [node]
        preset = "opteron-2425"
        [[cluster.group]]
        count = 2
        node = "nexus7"
        rack = 3
        [[cluster.group]]
        count = 1
        node = { preset = "epyc-vm", cores = 8 }
        [[cluster.group]]
        count = 3
        [cluster.host]
        nodes = 2
        master = false
        [[traffic]]
    "#;
    let nodes = parse(text, &[]).expect("right").nodes();
    let summary: Vec<_> = nodes.iter().map(|node| (node.rack, node.hardware.cores, node.host)).collect();
    let expected = [
        (1, 12, None),
        (3, 4, Some(0)),
        (3, 4, Some(0)),
        (2, 8, Some(1)),
        (2, 12, Some(1)),
        (3, 12, Some(2)),
        (3, 12, Some(2)),
    ];
    assert_eq!(summary, expected);
}

#[test]
fn assignments_override_at_any_depth() {
    let scenario = parse(
        EXAMPLE,
        &[
            "network.shape.0.rate=50 Mbit/s",
            "hdfs.block=32MiB",
            "tcp.control=bbr",
            "mapreduce.speculative=false",
            "network.queue.limit=64 KB",
            "job.reducers=9",
            "traffic.0.from=[\"worker-1\", \"worker-2..worker-3\"]",
        ],
    )
    .expect("right");
    assert_eq!(scenario.network.shape[0].rate, BitRate::from_mbps(50));
    assert_eq!(scenario.hdfs.block, Bytes::from_mib(32));
    assert_eq!(scenario.tcp.control, Control::Bbr);
    assert!(!scenario.mapreduce.speculative);
    assert_eq!(scenario.network.queue.limit, QueueLimit::Bytes(Bytes::new(64_000)));
    assert_eq!(scenario.job[0].reducers, Some(9));
    assert_eq!(scenario.traffic[0].from, Nodes::List(vec![1, 2, 3]));
}

/// Each wrong text, where that is said to be, and what the message must hold.
#[test]
fn what_goes_against_expectation_is_said_with_its_place() {
    let warnings = |text: &str| {
        let (_, warnings) = sim::parse_with_warnings("cluster.toml", text, &[]).unwrap_or_else(|e| panic!("{e}"));
        warnings.to_string()
    };
    let cases = [
        ("[tcp]\ninitial-rto = \"100 ms\"\n[job]", "2:15", "`initial-rto`, 100 ms, is below `min-rto`, 200 ms"),
        ("[tcp]\nmin-rto = \"2 s\"\n[job]", "2:11", "`initial-rto`, 1 s, is below `min-rto`, 2 s"),
        ("[tcp]\nmin-rto = \"10 ms\"\n[job]", "2:11", "below the 40 ms for which receivers delay an acknowledgement"),
        ("[[tcp.node]]\nmin-rto = \"10 ms\"\n[job]", "2:11", "below the 40 ms"),
        ("[tcp]\nsack = true\ncontrol = \"newreno\"\n[job]", "2:8", "control newreno turns SACK off"),
        ("[tcp]\nsack = false\ncontrol = \"sack-reno\"\n[job]", "2:8", "control sack-reno turns SACK on"),
        ("[job]\nmap-compression-ratio = 0.3", "2:25", "no effect without a codec in `map-compression`"),
        ("[job]\noutput-compression = \"gzip\"", "2:22", "workload terasort writes its output uncompressed"),
        ("[job]\nuber = true", "2:8", "an input of 1 GB is more than 128 MiB: tasks get containers"),
        ("[job]\nuber = true\ninput = \"1 MB\"\nreducers = 2", "2:8", "2 reducers are more than 1"),
        (
            "[mapreduce]\nuber = { enable = true }\nreduce-memory = \"2 GiB\"\n[job]\ninput = \"1 MB\"",
            "2:19",
            "an AppMaster of 1536 MiB is too small for tasks of 2 GiB",
        ),
        ("[cluster]\ngeneration = \"hadoop1\"\n[job]\nuber = true", "4:8", "Hadoop 1 has no AppMaster"),
        ("[job]\nreducers = 0\nmap-compression = \"lz4\"", "3:19", "a job without reducers has no map outputs"),
        (
            "[[faults]]\nat = \"2 min\"\nnode = \"worker-1\"\n[run]\nuntil = \"1 min\"\n[job]",
            "2:6",
            "the run ends at 1 min, before this fault, 2 min",
        ),
        (
            "[run]\nfidelity = \"flow\"\n[network]\nqueue = { limit = \"64 KB\" }\n[job]",
            "4:9",
            "flows have no queues, and of TCP only windows, rates and timeouts",
        ),
        ("[run]\nfidelity = \"flow\"\n[tcp]\nnagle = false\n[job]", "4:9", "it has no effect"),
        ("[tcp]\nstart-at-ssthresh = true\n[job]", "2:21", "no effect without `abc-limit`"),
        ("[hdfs]\nrepair = \"1 h\"\n[job]", "2:10", "no disk has a `failure-rate`"),
        (
            "[[node.disk]]\narray = { level = \"raid-5\", replace = \"1 h\" }\n[job]",
            "2:39",
            "the array's disks have no `failure-rate`",
        ),
        (
            "[node]\ndisk = { failure-rate = 0.01 }\n[[cluster.group]]\ncount = 4\n\
             node.disk = { array = { level = \"raid-5\", replace = \"1 h\" } }\n[job]",
            "5:53",
            "the array's disks have no `failure-rate`",
        ),
        ("[cost]\nenergy = 0.3\n[job]", "2:10", "what nodes draw is not known, so energy costs nothing"),
        ("[cost]\nstore-writes = 0.005\n[job]", "2:16", "there is no object store"),
        ("[cost]\nincrement = \"1 h\"\n[job]", "2:13", "nodes have no price"),
        (
            "[node]\nprice = 0.2\n[[cluster.group]]\ncount = 4\nnode = \"xeon-2009\"\n[job]",
            "2:9",
            "worker-1 and 3 others have no price, and count as free",
        ),
    ];
    for (text, place, says) in cases {
        let warning = warnings(text);
        assert!(warning.starts_with(&format!("cluster.toml:{place}: ")) && warning.contains(says), "{text}\n{warning}");
        assert_eq!(warning.lines().count(), 1, "{warning}");
    }
    for text in [
        EXAMPLE,
        "[tcp]\nmin-rto = \"10 ms\"\ndelayed-ack = false\n[job]",
        "[tcp]\nsack = false\ncontrol = \"newreno\"\n[job]",
        "[tcp]\nsack = false\n[job]",
        "[node]\nprice = 0.2\n[cost]\nincrement = \"1 min\"\n[job]",
        "[run]\nfidelity = \"flow\"\n[tcp]\nreceive-buffer = \"64 KiB\"\n[job]",
        // Lossy wires and the controls' laws under losses are what flows have, too.
        "[run]\nfidelity = \"flow\"\n[network]\nloss = 0.01\n[tcp]\ncontrol = \"bbr\"\n[job]",
    ] {
        assert_eq!(warnings(text), "", "{text}");
    }
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let cases = [
        ("[cluster]\nworkers = 0\n[job]", "2:11", "0 is out of range: from 1 to 100000"),
        ("[hdfs]\nreplicaton = 3\n[job]", "2:1", "did you mean `replication`?"),
        ("[hdsf]\nblock = \"1 MB\"\n[job]", "1:2", "did you mean `hdfs`?"),
        ("[hdfs]\nreplication = 5\n[job]", "2:15", "5 replicas of each block do not fit on 4 workers"),
        ("[hdfs]\nblock = \"0 MB\"\n[job]", "2:9", "\"0 MB\" is out of range: from 512 B to 1 TiB"),
        ("[hdfs]\nblock = 64\n[job]", "2:9", "this number has no unit"),
        ("[hdfs]\nblock = \"64 Mb\"\n[job]", "2:9", "`Mb` is not a unit of a size, did you mean `MB`?"),
        ("[mapreduce]\nmap-slots = 0\n[job]", "2:13", "0 is out of range"),
        ("[network]\nrate = \"-10 Mbit/s\"\n[job]", "2:8", "negative"),
        ("[network]\nrate = \"10 Mbits\"\n[job]", "2:8", "did you mean `Mbit/s`"),
        ("[network]\nrate = \"10 MB\"\n[job]", "2:8", "did you mean `MB/s`"),
        ("[network]\nqueue = { limit = \"128 packet5\" }\n[job]", "2:19", "did you mean `packets`?"),
        ("[network]\nqueue = { limit = \"0 packets\" }\n[job]", "2:19", "from 1 to 100000000 packets"),
        ("[network]\ntopology = \"two-rack\"\n[job]", "2:12", "did you mean `two-racks`?"),
        ("[tcp]\ncontrol = \"qbic\"\n[job]", "2:11", "did you mean `cubic`?"),
        ("[tcp]\nmin-rto = \"200 s\"\n[job]", "2:11", "it exceeds `max-rto`, 2 min"),
        ("[tcp]\nvegas-alpha = 4\n[job]", "2:15", "it exceeds `vegas-beta`, 3 segments"),
        ("[tcp]\nhystart-delay-min = \"1 s\"\n[job]", "2:21", "it exceeds `hystart-delay-max`, 16 ms"),
        ("[tcp]\nqueue-restart = 5\n[job]", "2:17", "TCP never stops, so it cannot restart"),
        ("[tcp]\nqueue-threshold = 4\nqueue-restart = 5\n[job]", "3:17", "it exceeds `queue-threshold`, 4"),
        ("[[tcp.node]]\nnodes = \"worker-9\"\n[job]", "2:9", "there is no `worker-9`"),
        ("[[tcp.node]]\nnodes = \"worker-1\"\nqueue-treshold = 5\n[job]", "3:1", "did you mean `queue-threshold`?"),
        ("[[tcp.node]]\nqueue-restart = 5\n[job]", "2:17", "TCP never stops, so it cannot restart"),
        (
            "[tcp]\nqueue-threshold = 20\nqueue-restart = 10\n[[tcp.node]]\nqueue-threshold = 5\n[job]",
            "5:19",
            "it is below `queue-restart`, 10",
        ),
        ("[tcp]\nmax-rto = \"1 s\"\n[[tcp.node]]\nmin-rto = \"2 s\"\n[job]", "4:11", "it exceeds `max-rto`, 1 s"),
        ("[[tcp.node]]\ncontrol = \"dctcp\"\n[job]", "2:11", "no queue marks packets"),
        ("[tcp]\nsack = 1\n[job]", "2:8", "this must be true or false, and is a whole number"),
        ("[node]\npreset = \"xeon\"\n[job]", "2:10", "`xeon` is not a value here; one of: epyc-vm"),
        ("node = \"nexus8\"\n[job]", "1:8", "did you mean `nexus7`?"),
        (
            "[mapreduce]\nnode-memory = \"1 GiB\"\n[job]",
            "2:15",
            "a container of `am-memory` (granted 2 GiB) fits on no worker",
        ),
        ("[mapreduce]\nmap-memory = \"16 GiB\"\n[job]", "2:14", "fits on no worker: the largest offers 8 GiB"),
        ("[mapreduce]\nio-sort = \"2 GiB\"\n[job]", "2:11", "a sort buffer of 2 GiB does not fit into a map's 1 GiB"),
        ("[[faults]]\nnode = \"worker-5\"\n[job]", "2:8", "there is no node `worker-5`"),
        ("[[faults]]\nat = \"1 s\"\n[job]", "1:1", "neither a node nor a link"),
        ("[[faults]]\nnode = \"worker-1\"\nslow = 0\n[job]", "3:8", "0 is out of range: from 0.0001 to 1"),
        ("[[traffic]]\nfrom = \"worker-9\"", "2:8", "there is no `worker-9`"),
        ("[[traffic]]\nkind = \"barrier\"\nto = \"workers\"", "3:6", "barrier traffic has one receiver"),
        ("[[traffic]]\nkind = \"csv\"", "1:1", "csv traffic has no `file`"),
        ("[[network.shape]]\nburst = \"100 B\"\n[job]", "2:9", "could never pass this bucket"),
        ("[[network.link]]\nfrom = \"a\"\nto = \"b\"\n[job]", "1:1", "topology star has its own links"),
        (
            "[network]\ntopology = \"graph\"\n[[network.link]]\nfrom = \"master\"\nto = \"worker-1\"\n[[traffic]]",
            "3:1",
            "there is no path from master to worker-2",
        ),
        (
            "[[faults]]\nlink = \"rack-1 -- cor\"\n[network]\ntopology = \"tree\"\n[job]",
            "2:8",
            "did you mean `rack-1 -- core`?",
        ),
        ("[network]\nqueue = { limit = \"1 KB\" }\n[job]", "2:19", "a full packet of 1538 B would never fit"),
        ("[network]\nqueue = { kind = \"threshold\" }\n[job]", "2:18", "a threshold queue needs `mark-above`"),
        ("[network]\nqueue = { mark-above = \"20 packets\" }\n[job]", "2:24", "drop-tail has no `mark-above`"),
        (
            "[network]\nqueue = { kind = \"red\", limit = \"60 packets\", red = { min = \"20 packets\", max = \"80 packets\" } }\n[job]",
            "2:53",
            "RED's upper threshold, 80 packets, is not below the queue's limit, 60 packets",
        ),
        (
            "[network.core.queue]\nkind = \"red\"\nred.min = \"20 packets\"\nred.max = \"10 packets\"\n[job]",
            "3:1",
            "lower threshold, 20 packets, is not below its upper one, 10 packets",
        ),
        ("[network]\nqueue = { codel = { target = \"1 ms\" } }\n[job]", "2:19", "kind drop-tail has no `codel`"),
        (
            "[network]\nqueue = { kind = \"codel\", codel = { target = \"1 s\" } }\n[job]",
            "2:35",
            "target must lie above zero and not exceed its interval",
        ),
        ("[network]\nqueue = { kind = \"pie\", pie = { target = \"0 s\" } }\n[job]", "2:42", "out of range"),
        ("[network]\nqueue = { kind = \"priority\" }\n[job]", "2:18", "all packets would be of one class"),
        ("[network]\npriority = [\"rpc\"]\n[job]", "2:12", "no queue is of kind priority"),
        (
            "[network]\ntopology = \"wifi\"\n[network.wifi.propagation]\nshadowing = \"-4 dB\"\n[job]",
            "4:13",
            "a standard deviation is not negative",
        ),
        ("[[job]]\nplan = {}\n[[job]]", "2:8", "take no turn among those that the scheduler places"),
        ("[[job]]\n[[job]]\nplan = {}", "3:8", "take no turn among those that the scheduler places"),
        ("[network]\npriority = [\"rcp\"]\nqueue = { kind = \"priority\" }\n[job]", "2:13", "did you mean `rpc`?"),
        (
            "[network]\ntopology = \"dumbbell\"\n[[network.port]]\nlink = \"left -> rihgt\"\n[job]",
            "4:8",
            "did you mean `left -- right`?",
        ),
        (
            "[network]\ntopology = \"fat-tree\"\nports = 5\n[job]",
            "3:9",
            "even number of ports, at least 2, not 5; 4 or 6",
        ),
        (
            "[cluster]\nworkers = 40\n[network]\ntopology = \"fat-tree\"\n[job]",
            "3:1",
            "room for 16 nodes, and there are 41; 6 ports",
        ),
        (
            "[network]\ntopology = \"dcell\"\ncell = 6\nlevel = 3\n[job]",
            "4:9",
            "DCell(6, 3) has none or more than 200000 servers",
        ),
        (
            "[cluster]\nworkers = 20\n[network]\ntopology = \"dcell\"\ncell = 4\n[job]",
            "5:8",
            "DCell(4, 1) has room for 20 nodes, and there are 21",
        ),
        (
            "[[cluster.group]]\ncount = 4\nrack = 2\n[network]\ntopology = \"parking-lot\"\n[job]",
            "3:8",
            "nodes in order of their numbers; leave `rack` out",
        ),
        (
            "[network]\nhost-queue = { kind = \"threshold\", mark-above = \"2 MB\" }\n[job]",
            "2:49",
            "marking threshold, 2000000 B, is not below the queue's limit, 128 packets",
        ),
        ("[job]\ninput = \"10 TB\"\n[hdfs]\nblock = \"64 KiB\"", "2:9", "152587891 blocks"),
        ("[cluster]\nworkers = 10000\n[[traffic]]\nkind = \"all-to-all\"", "3:1", "these are 100000000 flows"),
        ("[job]\nshares = [1, 2]", "2:10", "2 shares for 1 reducers"),
        ("[run]\nuntil = \"1 fortnight\"\n[job]", "2:9", "`fortnight` is not a unit of a duration"),
        ("[run]\nseed = -1\n[job]", "2:8", "-1 is out of range"),
        ("[run]\nseed = 99999999999999999999999999999999999999999\n[job]", "2:8", "must be a whole number"),
        ("[cluster]\nworkers = 3\n[[cluster.group]]\ncount = 4\n[job]", "2:11", "leave `workers` out"),
        ("", "1:1", "there is nothing to run"),
        ("[cluster\nworkers = 3", "1:9", "unclosed table"),
        ("workers == 3", "1:10", "extra `=`"),
    ];
    for (text, place, message) in cases {
        let error = parse(text, &[]).expect_err(text);
        let first = error.lines().next().unwrap_or_default();
        assert!(first.starts_with(&format!("cluster.toml:{place}: ")), "{text:?} said: {error}");
        assert!(first.contains(message), "{text:?} said: {error}");
    }
}

/// What lies just within a limit is right, and what a check is not about is left alone.
#[test]
fn the_last_value_within_a_limit_is_taken() {
    let points = "[network]\ntopology = \"wifi\"\n[network.wifi]\nmode = \"infrastructure\"\n\
                  access-point = [{ at = [\"1 m\", \"1 m\"] }, { at = [\"5 m\", \"1 m\"] }]\n[[traffic]]\n[[faults]]\n";
    let priorities = |count: usize| {
        let services = vec!["\"rpc\""; count].join(", ");
        format!("[network]\npriority = [{services}]\nqueue = {{ kind = \"priority\" }}\n[job]")
    };
    let blocks = |kib: u64| format!("[job]\ninput = \"{kib} KiB\"\n[hdfs]\nblock = \"64 KiB\"");
    let reducers = |count: u32| format!("[mapreduce]\nreduce-memory = \"16 GiB\"\nreducers = {count}\n[job]");
    let sizes = |most: u32| {
        format!(
            "[[traffic]]\nkind = \"poisson\"\nsizes = {{ kind = \"uniform\", least = \"9 B\", most = \"{most} B\" }}"
        )
    };
    let queue = |limit: u32| format!("[network]\nqueue = {{ limit = \"{limit} B\" }}\n[job]");
    let fault = |node: &str| format!("{points}node = \"{node}\"\ndown-for = \"1 s\"");
    let slow = format!("{points}node = \"ap-2\"\nslow = 0.5");
    let shadowing =
        |sigma: u32| format!("[network]\ntopology = \"wifi\"\nwifi.propagation.shadowing = \"{sigma} dB\"\n[job]");
    let pairs = [
        (priorities(254), priorities(255), "these are more than 254 services"),
        (blocks(64 * 9_999_999), blocks(64 * 10_000_000), "10000001 blocks"),
        (reducers(0), reducers(1), "`reduce-memory` (granted 16 GiB) fits on no worker"),
        (sizes(9), sizes(8), "no size lies from 9 B on"),
        (queue(1538), queue(1537), "a full packet of 1538 B would never fit"),
        (fault("ap-2"), fault("ap-3"), "there is no node `ap-3`"),
        (fault("ap-1"), slow, "an access point has no cores"),
        (shadowing(0), "[network]\nloss = 2\n[job]".to_owned(), "out of range"),
        // Each job may have a plan of its own; it was for the only job before.
        (
            "[[job]]\nplan = {}\n[[job]]\nplan = {}".to_owned(),
            "[[job]]\nplan = {}\n[[job]]".to_owned(),
            "a plan for each job",
        ),
    ];
    for (right, wrong, message) in pairs {
        parse(&right, &[]).unwrap_or_else(|error| panic!("{right}\n{error}"));
        let error = parse(&wrong, &[]).expect_err(&wrong);
        assert!(error.contains(message), "{wrong}\n{error}");
    }
}

/// A message is about a stretch of the text, and says what helps in its place.
#[test]
fn a_problem_is_about_these_words() {
    let cases = [
        ("[hdfs]\nreplicaton = 3\n[job]", "replicaton", "did you mean `replication`?"),
        (
            "[tcp]\ncontrol = \"dctcp\"\n[job]",
            "\"dctcp\"",
            "`network.queue = { kind = \"threshold\", mark-above = \"20 packets\" }`",
        ),
        (
            "[tcp]\ncontrol = \"dctcp\"\n[network]\ntopology = \"wifi\"\n[job]",
            "\"dctcp\"",
            "`network.wifi.queue = { mark-above = 20 }`",
        ),
    ];
    for (text, words, help) in cases {
        let error = sim::parse("cluster.toml", text, &[]).expect_err(text);
        assert_eq!(error.problems.len(), 1, "{error}");
        assert_eq!(&text[error.problems[0].span.range.clone()], words);
        assert!(error.to_string().contains(help), "{error}");
    }
    let mut scenario = parse("[[traffic]]\nkind = \"csv\"\nfile = \"flows.csv\"", &[]).expect("right");
    let flows = "1,worker-1, worker-9 ,5";
    let error = scenario.take_flows(0, "flows.csv", flows).expect_err(flows);
    assert_eq!(&flows[error.problems[0].span.range.clone()], "worker-9");
}

#[test]
fn all_problems_are_said_at_once_in_the_order_of_the_text() {
    let error = parse("[cluster]\nworkers = 0\nrack = 1\n[tcp]\ncontrol = \"reno\"\n[job]\ninput = 3", &["run.seed=x"])
        .unwrap_err();
    let places: Vec<_> = error.lines().map(|line| line.split(": ").next().unwrap_or_default()).collect();
    assert_eq!(
        places,
        ["cluster.toml:2:11", "cluster.toml:3:1", "cluster.toml:5:11", "cluster.toml:7:9", "--set:1:10"],
        "{error}"
    );
}

#[test]
fn a_wrong_assignment_is_named() {
    let said = |set: &str| parse(EXAMPLE, &[set]).unwrap_err();
    assert!(
        said("hdfs.blok=1 MB").starts_with("--set:1:6: `blok` is not a key here; did you mean `block`?"),
        "{}",
        said("hdfs.blok=1 MB")
    );
    assert!(said("hdfs.block=1 Mb").starts_with("--set:1:12: `Mb` is not a unit"), "{}", said("hdfs.block=1 Mb"));
    assert!(said("hdfs.block").contains("write `--set section.key=value`"));
    assert!(said("hdfs.replication=9").starts_with("--set:1:18: 9 replicas"), "{}", said("hdfs.replication=9"));
    assert!(
        said("network.shape.3.rate=1 bit/s").contains("the list has 1 entries"),
        "{}",
        said("network.shape.3.rate=1 bit/s")
    );
    assert!(said("=3").contains("empty key"));
}

#[test]
fn the_schema_names_every_key_with_its_meaning() {
    fn walk(schema: &serde_json::Value, path: &str, count: &mut usize) {
        for branch in ["anyOf"] {
            if let Some(first) = schema.get(branch).and_then(|branches| branches.as_array()).and_then(|all| all.last())
            {
                walk(first, path, count);
            }
        }
        for (key, inner) in schema.get("properties").and_then(|p| p.as_object()).into_iter().flatten() {
            *count += 1;
            let doc = inner.get("description").and_then(|doc| doc.as_str()).unwrap_or_default();
            assert!(doc.len() > 4, "{path}.{key} has no meaning");
            walk(inner, &format!("{path}.{key}"), count);
        }
    }
    let mut count = 0;
    walk(&schema(), "", &mut count);
    assert!(count > 150, "{count} keys");
}

/// Every scenario's hosts, and how its links run: name, rate in Mbit/s, delay in us, loss, per mille.
fn links(text: &str) -> Vec<String> {
    let scenario = parse(text, &[]).expect("right");
    let topology = sim::topology(&scenario);
    let hosts: Vec<_> = topology.hosts().iter().map(|host| topology.name(*host)).collect();
    let nodes = scenario.nodes();
    assert_eq!(hosts, nodes.iter().map(|node| node.name.as_str()).collect::<Vec<_>>(), "hosts are the nodes in order");
    (0..topology.cables().len() as u32)
        .flat_map(|cable| [net::LinkId(2 * cable), net::LinkId(2 * cable + 1)])
        .map(|link| {
            let spec = topology.spec(link);
            format!("{} {} {} {:?}", topology.link_name(link), spec.rate, spec.delay, spec.limit)
        })
        .collect()
}

#[test]
fn a_star_with_a_bucket_on_one_worker() {
    let text = "[cluster]\nworkers = 2\n[network]\nrate = \"100 Mbit/s\"\n[[network.shape]]\nnodes = \"worker-2\"\ndirection = \"ingress\"\n[[traffic]]";
    let expected = [
        "master->switch 100 Mbit/s 25 us Packets(1000)",
        "switch->master 100 Mbit/s 25 us Packets(128)",
        "worker-1->switch 100 Mbit/s 25 us Packets(1000)",
        "switch->worker-1 100 Mbit/s 25 us Packets(128)",
        "worker-2->switch 100 Mbit/s 25 us Packets(1000)",
        "switch->worker-2 100 Mbit/s 25 us Delay(400 ms)",
    ];
    assert_eq!(links(text), expected);
}

/// Nodes in a fat tree of `ports` ports fill edge switches of half as many; in a DCell, cells of `cell` servers.
#[test]
fn a_fabric_has_racks_of_its_own() {
    let racks = |network: &str| {
        let nodes = parse(&format!("[cluster]\nworkers = 8\n[network]\n{network}\n[job]"), &[]).expect("right").nodes();
        nodes.iter().map(|node| node.rack).collect::<Vec<_>>()
    };
    assert_eq!(racks("topology = \"fat-tree\"\nports = 6"), [1, 1, 1, 2, 2, 2, 3, 3, 3]);
    assert_eq!(racks("topology = \"dcell\"\ncell = 4"), [1, 1, 1, 1, 2, 2, 2, 2, 3]);
}

#[test]
fn groups_of_nodes_have_their_members() {
    let members = |nodes: Nodes| (0..4).filter(|node| nodes.contains(*node)).collect::<Vec<_>>();
    assert_eq!(members(Nodes::All), [0, 1, 2, 3]);
    assert_eq!(members(Nodes::Master), [0]);
    assert_eq!(members(Nodes::Workers), [1, 2, 3]);
}

/// Reno's and Tahoe's papers have no SACK, whatever `sack` says; a control of its name has it.
#[test]
fn some_controls_decide_on_sack() {
    let uses = |control: &str, sack: bool| {
        let text = format!("[tcp]\ncontrol = \"{control}\"\nsack = {sack}\n[job]");
        parse(&text, &[]).expect("right").tcp.uses_sack()
    };
    let both = |control| [uses(control, false), uses(control, true)];
    assert_eq!(
        ["newreno", "tahoe", "sack-reno", "cubic"].map(both),
        [[false, false], [false, false], [true, true], [false, true]]
    );
}

#[test]
fn core_links_follow_the_oversubscription() {
    let text = "[cluster]\nworkers = 8\n[network]\ntopology = \"leaf-spine\"\nspines = 2\n[network.core]\noversubscription = 2\ndelay = \"5 us\"\n[[traffic]]";
    let core: Vec<_> = links(text).into_iter().filter(|link| link.contains("spine")).collect();
    // Rack 1 has the master and four workers: 5 Gbit/s over 2 spines at 2 to 1; rack 2 has four.
    assert_eq!(core[0], "rack-1->spine-1 1.25 Gbit/s 5 us Packets(128)");
    assert_eq!(core[6], "rack-2->spine-2 1 Gbit/s 5 us Packets(128)");
    assert_eq!(core.len(), 8);
}

#[test]
fn nodes_of_a_machine_share_its_card() {
    let text = "[cluster]\nworkers = 3\n[cluster.host]\nnodes = 2\nrate = \"1 Gbit/s\"\n[network]\nrate = \"10 Gbit/s\"\n[[traffic]]";
    let names: Vec<_> =
        links(text).iter().step_by(2).map(|link| link.split("it/s").next().unwrap_or_default().to_owned()).collect();
    assert_eq!(
        names,
        [
            "host-1->switch 1 Gb",
            "master->host-1 10 Gb",
            "worker-1->host-1 10 Gb",
            "host-2->switch 1 Gb",
            "worker-2->host-2 10 Gb",
            "worker-3->host-2 10 Gb",
        ]
    );
}

#[test]
fn a_dumbbell_has_its_bottleneck_in_the_core() {
    let text = "[cluster]\nworkers = 2\n[network]\ntopology = \"dumbbell\"\n[network.core]\nrate = \"10 Mbit/s\"\ndelay = \"18 ms\"\nqueue = { limit = \"33 packets\" }\n[[traffic]]\nfrom = \"worker-1\"\nto = \"worker-2\"";
    let links = links(text);
    assert_eq!(links[0], "left->right 10 Mbit/s 18 ms Packets(33)");
    assert!(
        links[4].starts_with("worker-1->left 1 Gbit/s") && links[6].starts_with("worker-2->right 1 Gbit/s"),
        "{links:?}"
    );
}

#[test]
fn a_graph_forwards_through_switches_only() {
    let link = |from: &str, to: &str| format!("[[network.link]]\nfrom = \"{from}\"\nto = \"{to}\"\n");
    let text = |links: &[(&str, &str)]| {
        let links: String = links.iter().map(|(from, to)| link(from, to)).collect();
        format!("[cluster]\nworkers = 2\n[network]\ntopology = \"graph\"\n{links}[[traffic]]")
    };
    assert!(parse(&text(&[("master", "a"), ("worker-1", "b"), ("worker-2", "b"), ("a", "b")]), &[]).is_ok());
    assert!(
        parse(&text(&[("master", "a"), ("worker-1", "a"), ("worker-2", "worker-1"), ("worker-2", "master")]), &[])
            .is_ok()
    );
    let error = parse(&text(&[("master", "worker-1"), ("worker-1", "worker-2")]), &[]).unwrap_err();
    assert!(error.contains("there is no path from master to worker-2"), "{error}");
}

#[test]
fn a_file_of_flows_becomes_part_of_the_scenario() {
    let mut scenario = parse("[[traffic]]\nkind = \"csv\"\nfile = \"flows.csv\"", &[]).expect("right");
    assert_eq!(scenario.flow_files(), [(0, "flows.csv".to_owned())]);
    scenario
        .take_flows(
            0,
            "flows.csv",
            "# start,from,to,bytes\n0.5, worker-1, master, 1000\n\n2,master,worker-4,7 # last\n",
        )
        .expect("right");
    let flows: Vec<_> =
        scenario.traffic[0].flow.iter().map(|flow| (flow.start, flow.from.as_str(), flow.bytes)).collect();
    assert_eq!(
        flows,
        [(Time::from_ms(500), "worker-1", Bytes::new(1000)), (Time::from_secs(2), "master", Bytes::new(7))]
    );
    assert_eq!(parse(&scenario.to_toml(), &[]).as_ref(), Ok(&scenario), "it needs its file no longer");
    let error = scenario
        .take_flows(0, "flows.csv", "1,worker-1,worker-9,5\n-1,master,worker-2,0\n3,4")
        .unwrap_err()
        .to_string();
    let places: Vec<_> = error.lines().map(|line| line.split(": ").next().unwrap_or_default()).collect();
    assert_eq!(places, ["flows.csv:1:12", "flows.csv:2:1", "flows.csv:2:20", "flows.csv:3:1"], "{error}");
}

/// The reference page is what the declarations say.
#[test]
fn the_reference_page_is_current() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/scenario.md");
    let page = std::fs::read_to_string(path).expect("docs/reference/scenario.md is part of the tree");
    assert!(
        page == scenario::reference(),
        "docs/reference/scenario.md is out of date: `trunkline schema --reference` prints it"
    );
}

#[test]
fn a_link_may_stand_for_one_of_each_of_several_nodes() {
    let text = |links: &str| {
        format!(
            "[cluster]\nworkers = 3\n[network]\ntopology = \"graph\"\n[[network.link]]\nfrom = \"master\"\nto = \"a\"\n{links}[[traffic]]"
        )
    };
    let one = |node: u32, rate: &str| {
        format!("[[network.link]]\nfrom = \"worker-{node}\"\nto = \"a\"\nrate = \"{rate} Mbit/s\"\n")
    };
    let wires = |links: &str| {
        let topology = sim::topology(&parse(&text(links), &[]).unwrap_or_else(|error| panic!("{error}")));
        let ways = (0..2 * topology.cables().len() as u32).map(net::LinkId);
        ways.map(|way| format!("{:?} {:?}", topology.ends(way), topology.spec(way))).collect::<Vec<_>>()
    };
    let each = [one(1, "10"), one(2, "10"), one(3, "10")].concat();
    assert_eq!(wires(&one(1, "10").replace("worker-1", "workers")), wires(&each));
    let two = one(1, "10").replace("worker-1", "worker-1..worker-2") + &one(3, "20");
    assert_eq!(wires(&two), wires(&[one(1, "10"), one(2, "10"), one(3, "20")].concat()));
    for (end, problem) in [
        ("worker-1..worker-4", "there is no `worker-1..worker-4`"),
        ("worker-3..worker-1", "`worker-3..worker-1` is not a range of nodes"),
    ] {
        let error = parse(&text(&one(1, "10").replace("worker-1", end)), &[]).unwrap_err();
        assert!(error.contains(problem), "{error}");
    }
    let both = one(1, "10").replace("worker-1", "workers").replace("\"a\"", "\"worker-1..worker-2\"");
    let error = parse(&text(&both), &[]).unwrap_err();
    assert!(error.contains("says not which with which"), "{error}");
}
