//! A recorded run whose input was laid out by key is simulated by the plan that it has left.

use crate::kat::Scratch;
use crate::support::{code, json, printed, said, traces};
use serde_json::{Value, json};
use std::fs;
use std::process::Command;

/// A recorded word count without a combiner, as if its four workers had had a layout: the bytes that the workers'
/// interfaces receive by the simulation.
fn received(scratch: &Scratch, plan: Option<&Value>) -> f64 {
    let folder = scratch.0.join("run");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).expect("a folder");
    for file in ["run.toml", "job_1795217314114_0002.jhist"] {
        fs::copy(traces().join("wordcount-nocombine-unshaped").join(file), folder.join(file)).expect("copied");
    }
    let cluster = fs::read_to_string(traces().join("cluster.toml")).expect("a cluster");
    scratch.file("run/cluster.toml", format!("{cluster}\n[hdfs.placement]\nkind = \"by-key\"\n"));
    if let Some(plan) = plan {
        scratch.file("run/plan.json", plan.to_string());
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_trunkline"));
    command.args(["compare", "run", "--fidelity", "flow,real", "--runs", "1", "--json", "-q"]);
    let output = command.current_dir(&scratch.0).output().expect("it starts");
    assert_eq!(code(&output), 0, "{}", said(&output));
    let compared = json(&printed(&output));
    let figure = |name: &str| {
        let rows = compared["figures"].as_array().expect("figures");
        let row = rows.iter().find(|row| row["name"] == name).expect("a figure");
        row["predicted"][0]["median"].as_f64().expect("a number")
    };
    // 386.2 MB were recorded, and are made wherever the words stand.
    assert!((figure("map output") / 386.2e6 - 1.0).abs() < 0.001, "{}", figure("map output"));
    figure("workers' interfaces, received")
}

/// Words that are at home leave the network to replicas and control. Without a plan the recorded splits are laid out, whose
/// maps wander where a node has more of them. If all words are one that stands on all four workers, three quarters of the
/// map output travel to its reducer.
#[test]
fn a_run_by_key_is_simulated_by_its_own_plan() {
    let scratch = Scratch::new("recorded");
    let plan = |bytes: u64, split: Value| {
        let nodes: Vec<Value> = (1..=4).map(|node| json!({ "name": format!("w{node}"), "weight": 1.0 })).collect();
        let buckets: Vec<Value> = (0..4).map(|node| json!({ "bytes": bytes, "nodes": [node] })).collect();
        json!({ "trunkline_plan": 1, "engine": "mapreduce", "hash": "hash-partitioner", "key_type": "text",
                "key": "line", "layout": "whole", "replicas": 1, "bytes": 1000, "bytes_read": 1000,
                "nodes": nodes, "buckets": buckets, "split": split })
    };
    let even = received(&scratch, None);
    let at_home = received(&scratch, Some(&plan(250, json!([]))));
    assert!(at_home < 40e6 && at_home < even, "{at_home}, {even}");
    let parts: Vec<Value> = (0..4).map(|node| json!({ "bytes": 249, "nodes": [node] })).collect();
    let word = json!([{ "key": "6162", "text": "ab", "bucket": 0, "bytes": 996, "parts": parts }]);
    let travels = received(&scratch, Some(&plan(1, word))) - at_home;
    // 52 bytes of headers for 1,448 of data, and as many for each ACK, of one or two segments.
    assert!((1.0..1.08).contains(&(travels / (0.75 * 386.2e6))), "{travels}");
}
