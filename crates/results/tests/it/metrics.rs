//! What every declaration of a figure has, and how one line of it shows in every place.

use super::reference::kinds;
use results::metrics::Row;
use results::{
    LINKS, Link, MASTER, Master, NODES, Node, RunResult, SparkApplication, SparkTask, Value, summary, to_json,
};
use std::collections::BTreeSet;
use units::{BitRate, Bytes, Time};

#[test]
fn every_figure_has_a_name_a_unit_and_a_sentence() {
    for kind in kinds() {
        let (name, docs) = (kind.of.name(), kind.of.docs());
        assert!(!docs.is_empty() && kind.of.what().ends_with('.'), "{name}");
        for doc in &docs {
            let figure = doc.key.or(doc.column).or(doc.path).unwrap_or_else(|| panic!("a figure of {name} is nowhere"));
            assert!(doc.what.ends_with('.') && doc.what.starts_with(|c: char| !c.is_lowercase()), "{name}.{figure}");
            assert!(!doc.unit.is_empty() || doc.inner.is_some(), "{name}.{figure} has no unit");
            assert!(!doc.since.is_empty());
        }
        for (place, of) in [
            ("key", docs.iter().filter_map(|doc| doc.key).collect::<Vec<_>>()),
            ("column", docs.iter().filter(|doc| !doc.is_series()).filter_map(|doc| doc.column).collect()),
            ("series", docs.iter().filter(|doc| doc.is_series()).filter_map(|doc| doc.path).collect()),
        ] {
            let distinct: BTreeSet<_> = of.iter().collect();
            assert_eq!(distinct.len(), of.len(), "two figures of {name} have one {place}: {of:?}");
        }
    }
}

/// Three tasks that wait for 100 days each: 25,920,000 s are more than the 18,446,744 s that 64 bits of picoseconds hold.
#[test]
fn waiting_of_many_tasks_together_is_told() {
    let task = SparkTask {
        fetch_wait: Time::from_secs(8_640_000),
        ..SparkTask::new((0, 0, 1), 0, hadoop::NodeId(1), spark::Locality::Any, Time::ZERO)
    };
    let spark = SparkApplication { tasks: vec![task; 3], ..SparkApplication::default() };
    let result = RunResult { spark: Some(spark), ..run() };
    assert!(to_json(&result).contains("\"fetch_wait_s\": 25920000"), "{}", to_json(&result));
}

/// A link at 8 Mbit/s that transmitted in half of the run.
fn run() -> RunResult {
    let link = Link {
        name: "worker-1 -> switch".to_owned(),
        rate: BitRate::from_mbps(8),
        packets: 500,
        bytes: Bytes::new(500_000),
        used: 0.5,
        queue_mean: 1.5,
        queue_shares: vec![(0, 0.5), (3, 0.46), (7, 0.04)],
        queue_packets: vec![2, 0],
        ..Link::default()
    };
    RunResult {
        ended_at: Time::from_secs(2),
        sample_interval: Time::from_ms(500),
        links: vec![link],
        nodes: vec![Node { name: "master".to_owned(), ..Node::default() }],
        ..RunResult::default()
    }
}

#[test]
fn a_link_reads_the_same_by_key_and_by_path() {
    let run = run();
    let link = summary(&run).get("links").cloned().expect("links");
    let Value::List(links) = link else { panic!("a list") };
    let by_path = |path| LINKS.at_path(path).expect(path).value(Row::new(&run.links[0], &run));
    assert_eq!(links[0].get("packets"), Some(&Value::Count(500)));
    assert_eq!(by_path("packets"), Value::Count(500));
    assert_eq!(links[0].get("queue_mean_packets"), Some(&Value::Number(1.5)));
    assert_eq!(by_path("queue_mean"), Value::Number(1.5));
    // The median is the empty queue, 96 % of the time it was not longer than 3.
    assert_eq!(by_path("queue_p50_packets"), Value::Count(0));
    assert_eq!(by_path("queue_p95_packets"), Value::Count(3));
    assert_eq!(by_path("queue_p99_packets"), Value::Count(7));
    assert_eq!(links[0].get("utilisation"), Some(&Value::Number(0.5)));
    assert_eq!(by_path("utilisation"), Value::Number(0.5));
    assert_eq!(by_path("queue_series"), Value::List(vec![Value::Number(2.0), Value::Number(0.0)]));
    assert_eq!(links[0].get("queue_series"), None, "series stand in tables");
}

#[test]
fn a_series_of_counts_is_a_rate_where_its_unit_is_one() {
    let run = run();
    let master =
        Master { pushed_series: vec![3, 5], zero_windows: 9, zero_window_series: vec![1], ..Master::default() };
    let row = Row::new(&master, &run);
    // Steps of half a second.
    let pushed = MASTER.series_at_path("pushed").expect("a series").value(row);
    assert_eq!(pushed, Value::List(vec![Value::Number(6.0), Value::Number(10.0)]));
    let closed = MASTER.series_at_path("zero_windows").expect("the series, not the sum").value(row);
    assert_eq!(closed, Value::List(vec![Value::Number(2.0)]));
    assert!(NODES.series_at_path("rack").is_none(), "a sum is no series");
}

#[test]
fn what_a_run_does_not_have_is_null_or_absent() {
    let all = summary(&run());
    for null in ["job", "bytes", "energy"] {
        assert_eq!(all.get(null), Some(&Value::Null), "{null}");
    }
    for absent in ["stalled", "master", "bonds"] {
        assert_eq!(all.get(absent), None, "{absent}");
    }
    assert_eq!(all.get("jobs"), Some(&Value::List(Vec::new())));
    let text = to_json(&RunResult { seed: 7, ..run() });
    assert!(text.starts_with("{\n  \"schema\": \"trunkline-result/1\",\n  \"name\": \"\",\n"), "{text}");
    assert!(text.contains("\"seed\": 7,\n  \"simulated_s\": 2.0,\n  \"job\": null,"), "{text}");
}
