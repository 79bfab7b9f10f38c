//! Traffic: what is refused and with which words, and the files it names.

use crate::support::{parse, refused};
use scenario::SizeKind;
use units::{Bytes, Time};

#[test]
fn what_contradicts_itself_is_refused() {
    let poisson = "[[traffic]]\nkind = \"poisson\"\nname = \"web\"\n";
    for (keys, words) in [
        ("sizes = { kind = \"uniform\", least = \"2 MB\", most = \"1 MB\" }", vec!["no size lies from"]),
        ("sizes = { kind = \"cdf\" }", vec!["no `file`"]),
        ("sizes = { kind = \"web-serch\" }", vec!["did you mean `web-search`"]),
        ("load = 0.5\ninterval = \"1 ms\"", vec!["`interval` says already"]),
        ("load-link = \"worker-1\"", vec!["does not say which load"]),
        ("after = \"wev\"", vec!["there is no traffic `wev`", "did you mean `web`"]),
        ("stop = \"1 s\"\nafter = \"web\"", vec!["it waits for `web`"]),
        ("stop = \"1 s\"\nafter = \"long-2\"\n[[traffic]]", vec!["traffic `long-2` never ends"]),
    ] {
        refused(&format!("{poisson}{keys}"), &[], &words);
    }
    refused(
        "[[traffic]]\nbytes = \"1 MB\"\nafter = \"b\"\nname = \"a\"\n[[traffic]]\nname = \"b\"\nafter = \"a\"\nbytes = \"1 MB\"",
        &[],
        &["it waits for `b`", "it waits for `a`"],
    );
    refused("[[traffic]]\nload = 0.5", &[], &["long traffic has no `load`"]);
    refused("[[traffic]]\nsizes = { kind = \"pareto\" }", &[], &["long traffic sends `bytes`"]);
    refused("[[traffic]]\nkind = \"partition-aggregate\"\nrequest = \"0 B\"", &[], &["a request of nothing"]);
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

#[test]
fn a_list_of_flows_may_name_its_columns_and_wrong_ones_are_named() {
    let scenario = || parse("[[traffic]]\nkind = \"csv\"\nfile = \"flows.csv\"", &[]).expect("right");
    let mut named = scenario();
    let text = "from,to,bytes,start\nworker-1,worker-2,1000,0.5\n";
    named.take_flows(0, "flows.csv", text).expect("right");
    let mut plain = scenario();
    plain.take_flows(0, "flows.csv", "0.5,worker-1,worker-2,1000").expect("right");
    assert_eq!(named, plain);
    for header in ["src,dst,size,time", "start,from,to", "start,from,to,bytes,priority"] {
        let error = scenario().take_flows(0, "flows.csv", &format!("{header}\n0,worker-1,worker-2,5\n"));
        let error = error.expect_err(header).to_string();
        assert!(error.contains("are not those of a list of flows"), "{error}");
        assert!(error.contains("start, from, to, bytes") && error.contains("flows.csv:1"), "{error}");
    }
}

#[test]
fn a_distribution_comes_from_a_file_as_shares_or_per_cent() {
    let scenario = || {
        parse("[[traffic]]\nkind = \"poisson\"\nsizes = { kind = \"cdf\", file = \"sizes.txt\" }", &[]).expect("right")
    };
    assert_eq!(scenario().size_files(), [(0, "sizes.txt".to_owned())]);
    let mut shares = scenario();
    shares.take_sizes(0, "sizes.txt", "# bytes share\n0 0\n1000 0.5\n9000, 1\n").expect("right");
    let mut percent = scenario();
    percent.take_sizes(0, "sizes.txt", "0 0\n1000 50\n9000 100\n").expect("right");
    assert_eq!(shares, percent);
    let points: Vec<_> = shares.traffic[0].sizes.point.iter().map(|point| (point.bytes.get(), point.share)).collect();
    assert_eq!(points, [(0, 0.0), (1_000, 0.5), (9_000, 1.0)]);
    assert_eq!(shares.traffic[0].sizes.kind, SizeKind::Cdf);
    assert_eq!(parse(&shares.to_toml(), &[]).as_ref(), Ok(&shares), "it needs its file no longer");
    for (text, words) in [
        ("1000 0.5\n500 1\n", "point 2 lies below the one before it"),
        ("1000 0.5\n", "the last share is 0.5"),
        ("1000\n", "a point has 2 fields, and this line 1"),
        ("1000 half\n", "`half` is not a share"),
        ("", "at least one point"),
    ] {
        let error = scenario().take_sizes(0, "sizes.txt", text).expect_err(text).to_string();
        assert!(error.contains(words), "{text}: {error}");
    }
}

const TWO: &str = r#"
[cluster]
workers = 4
[network]
rate = "100 Mbit/s"
[[traffic]]
name = "shuffles"
kind = "coflow"
[[traffic.coflow]]
name = "one"
from = ["worker-1", "worker-2"]
to = ["worker-3"]
bytes = ["10 MB"]
[[traffic.coflow]]
start = "60 s"
from = ["worker-1", "worker-2"]
to = ["worker-3", "worker-1"]
bytes = ["6 MB", "2 MB"]
"#;

#[test]
fn a_wrong_coflow_is_named() {
    for (set, expected) in [
        ("traffic.0.coflow=[]", "coflow traffic has no `coflow`"),
        ("traffic.0.coflow.0.to=[\"worker-9\"]", "there is no `worker-9`"),
        ("traffic.0.coflow.1.bytes=[\"1 MB\", \"2 MB\", \"3 MB\"]", "3 sizes for 2 receivers"),
    ] {
        refused(TWO, &[set], &[expected]);
    }
    let all = ["cluster.workers=4000", "traffic.0.coflow.0.from=workers", "traffic.0.coflow.0.to=workers"];
    refused(TWO, &all, &["these are 16000000 flows", "at most 10000000"]);
}

/// One stream over several connections.
#[test]
fn a_wrong_stripe_is_named() {
    for (keys, words) in [
        ("streams = 0", vec!["0 is out of range: from 1 to 1024", "cluster.toml:"]),
        ("streams = \"autp\"", vec!["`autp` is not", "did you mean `auto`"]),
        ("streams = true", vec!["a number, \"auto\" or \"paper\""]),
        ("policy = \"greed\"", vec!["did you mean `greedy`"]),
        ("credit = \"1 MB\", max-credit = \"500 KB\"", vec!["less than `credit`"]),
    ] {
        refused(&format!("[[traffic]]\nkind = \"stripe\"\nfrom = \"worker-2\"\nstripe = {{ {keys} }}"), &[], &words);
    }
    // 100,000 pairs of 1,024 connections each.
    let many = "[cluster]\nworkers = 100000\n[[traffic]]\nkind = \"stripe\"\nto = \"master\"\n";
    for streams in ["streams = 1024", "most = 1024"] {
        let text = format!("{many}stripe = {{ {streams} }}");
        refused(&text, &[], &["these are 102400000 flows", "at most 10000000"]);
    }
    let text = "[[traffic]]\nkind = \"long\"\nstripe = { streams = 2 }";
    refused(text, &[], &["long traffic has no `stripe`"]);
}
