//! What is wrong is said with its place, at once, and with what would be right.

use crate::support::{EXAMPLE, parse, refused};
use scenario::Scenario;

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let cases = [
        ("[cluster]\nworkers = 0\n[job]", "2:11", "0 is out of range: from 1 to 100000"),
        ("[hdfs]\nreplicaton = 3\n[job]", "2:1", "did you mean `replication`?"),
        ("[hdsf]\nblock = \"1 MB\"\n[job]", "1:2", "did you mean `hdfs`?"),
        ("[hdfs]\nreplication = 5\n[job]", "2:15", "5 replicas of each block do not fit on 4 workers"),
        ("[hdfs]\nblock = \"0 MB\"\n[job]", "2:9", "\"0 MB\" is out of range: from 512 B to 1 TiB"),
        ("[hdfs]\nblock = 64\n[job]", "2:9", "this number has no unit"),
        ("[hdfs]\nblock = \"64 Mb\"\n[job]", "2:9", "`Mb` is not a unit of a size (did you mean `MB`?)"),
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
        ("[network]\nqueue = { limit = \"1 KB\" }\n[job]", "2:19", "a full packet of 1538 B would never fit"),
        ("[network]\nqueue = { kind = \"threshold\" }\n[job]", "2:18", "a threshold queue needs `mark-above`"),
        ("[network]\nqueue = { mark-above = \"20 packets\" }\n[job]", "2:24", "drop-tail has no `mark-above`"),
        ("[network]\nqueue = { codel = { target = \"1 ms\" } }\n[job]", "2:19", "kind drop-tail has no `codel`"),
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
            "[[cluster.group]]\ncount = 4\nrack = 2\n[network]\ntopology = \"parking-lot\"\n[job]",
            "3:8",
            "nodes in order of their numbers; leave `rack` out",
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
        let error = Scenario::parse("cluster.toml", text, &[]).expect_err(text);
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
    let third = said("network.shape.0.rat=1 bit/s");
    assert!(third.starts_with("--set:1:17: `rat` is not a key here; did you mean `rate`?"), "{third}");
    let within = said("network.queue={ limit = \"9 apples\" }");
    assert!(within.starts_with("--set:1:15: "), "what is wrong in a table is said of all of it: {within}");
    assert!(said("=3").contains("empty key"));
}

/// A name of the field, or a key of another table, is answered by where it belongs.
#[test]
fn a_key_in_the_wrong_place_is_told_where_it_belongs() {
    for (text, help) in [
        ("[energy]\nidle = \"3 W\"", "did you mean `node.idle-power`, `node.core-power`, `power` or `cost.energy`?"),
        ("workers = 3", "did you mean `cluster.workers`?"),
        ("seed = 3", "did you mean `run.seed`?"),
        ("[wifi]\nstandard = \"n\"", "did you mean `network.wifi`?"),
        ("[network]\nbandwidth = \"1 Gbit/s\"", "did you mean `network.rate`?"),
        ("[cluster]\nnodes = 4", "did you mean `cluster.workers` or `cluster.group`?"),
        ("[cluster]\nreplication = 2", "did you mean `hdfs.replication`?"),
        ("[network]\nwhatever = 2", "one of: topology, "),
    ] {
        let said = parse(text, &[]).expect_err(text);
        assert!(said.contains(help), "{text}: {said}");
    }
}

#[test]
fn a_code_needs_a_worker_for_each_part() {
    let text = "[cluster]\nworkers = 5\n[hdfs]\nerasure-coding = \"rs-3-2\"\n[job]";
    parse(text, &[]).unwrap_or_else(|error| panic!("{error}"));
    refused(text, &["cluster.workers=4"], &["3 data and 2 parity parts do not fit on 4 workers"]);
    refused(text, &["cluster.generation=hadoop1"], &["Hadoop 1 has no erasure coding"]);
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

/// What an engine refuses, it says of keys that the text has.
#[test]
fn a_check_knows_the_keys_of_a_table() {
    let text = "[tcp]\ncontrol = \"bbr\"\nsack = true\n[job]\n";
    let mut found = Vec::new();
    let read = Scenario::parse_with("cluster.toml", text, &[], |check| {
        found = ["tcp", "job", "hdfs"].map(|table| check.keys(table)).to_vec();
        check.says("tcp.sack", "it is refused", "leave it out");
    });
    assert_eq!(found, [vec!["control".to_owned(), "sack".to_owned()], Vec::new(), Vec::new()]);
    assert!(read.expect_err("refused").to_string().starts_with("cluster.toml:3:8: it is refused"));
}

#[test]
fn a_word_without_quotes_is_named_with_what_would_be_right() {
    let cases = [
        ("[cluster]\nworkers = four\n", "cluster.toml:2:11: `four` has no quotes", "\"four\""),
        ("[network]\nrate = 10 Mbit/s # slow\n", "cluster.toml:2:8: `10 Mbit/s` has no quotes", "\"10 Mbit/s\""),
        ("[run]\nuntil = 1e5s\n", "cluster.toml:2:9: `1e5s` has no quotes", "\"1e5s\""),
        ("[network]\nshape = [{ rate = fast, nodes = x }]\n", "cluster.toml:2:19: `fast` has no quotes", "\"fast\""),
        ("[tcp]\nsack = True\n", "cluster.toml:2:8: `True` is not a value", "in small letters: true"),
        ("[tcp]\nsack = \n", "cluster.toml:2:8: there is no value", "a text stands in quotes"),
        ("[tcp]\ncontrol = \u{201c}cubic\u{201d}\n", "cluster.toml:2:11:", "these are not straight quotes: \"cubic\""),
        ("cluster:\n  workers: 4\n", "cluster.toml:1:8: a `:` after a key", "between a key and its value stands `=`"),
        ("{\"cluster\": {\"workers\": 4}}", "cluster.toml:1:1: this is JSON, not TOML", "workers = 4"),
        ("Avro-Json\n{\"type\":\"record\"}\n", "cluster.toml:1:1: this is the history of a job", "`trunkline import`"),
        ("\n<?xml version=\"1.0\"?>\n", "cluster.toml:2:1: this is XML", "`trunkline import cluster`"),
    ];
    for (text, message, help) in cases {
        let said = parse(text, &[]).expect_err(text);
        assert!(said.starts_with(message) && said.contains(help), "{text}: {said}");
    }
    // Of a line the first problem is said, of the next line its own.
    let said = parse("[network]\nshape = [{ rate = fast, nodes = x }]\n[cluster]\nworkers = four\n", &[])
        .expect_err("refused");
    assert_eq!(said.lines().count(), 2, "{said}");
}

#[test]
fn a_file_of_another_kind_is_one_problem() {
    let sweep = "scenario = \"a.toml\"\nseeds = 3\n[sweep]\ncluster.workers = [1, 2]\n";
    let said = parse(sweep, &[]).expect_err(sweep);
    assert!(said.starts_with("cluster.toml:3:2: this is the file of a sweep, not a scenario"), "{said}");
    assert!(said.contains("`trunkline sweep` takes this one") && said.lines().count() == 1, "{said}");
    // A scenario with a table that it does not know is a scenario.
    let said = parse("[cluster]\nworkers = 2\n[sweep]\nx = 1\n[job]\n", &[]).expect_err("refused");
    assert!(said.contains("`sweep` is not a key here"), "{said}");
}
