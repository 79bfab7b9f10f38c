//! What placement removes, measured and not assumed: records are packed into blocks as `kat` places them, their pairs
//! partitioned by Hadoop's own formula, and the part that is at home goes into a simulated job.

use crate::kat::{Scratch, said};
use placement::{Bucketing, Distributor, Engine, Filled, KeyRule, KeyType, Layout, Node, Plan, Profile, ScanError};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::process::Command;

const NODES: usize = 8;
const BUCKETS: u32 = 512;

/// Sixty thousand visits of two thousand users by Zipf's law with exponent 1: the k-th is drawn as n^u for even u.
fn visits() -> String {
    let (mut text, mut draw) = (String::new(), 1_u64);
    for visit in 0..60_000 {
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let even = (draw >> 11) as f64 / (1_u64 << 53) as f64;
        let user = libm::pow(2000.0, even) as u32;
        let _ = writeln!(text, "user-{user}\t/page/{}\t{visit:012}", visit % 97);
    }
    text
}

/// `Text.hashCode` and `HashPartitioner` of Hadoop.
fn partition(key: &[u8]) -> u32 {
    let hash = key.iter().fold(1_i32, |hash, byte| hash.wrapping_mul(31).wrapping_add(i32::from(*byte as i8)));
    (hash & i32::MAX) as u32 % BUCKETS
}

/// The nodes and the profile of the visits by an engine's hash.
fn profiled(engine: Engine) -> (Vec<Node>, Profile<KeyRule>) {
    let rule: KeyRule = "first-tab".parse().expect("a rule");
    let bucketing = Bucketing::new(engine, None, KeyType::Text, BUCKETS).expect("a bucketing");
    let mut profile = Profile::new(rule, bucketing, Layout::Whole, None);
    visits().lines().for_each(|line| profile.record(line.as_bytes(), line.len() as u64 + 1).expect("a key"));
    ((1..=NODES).map(|node| Node::named(format!("worker-{node}"))).collect(), profile)
}

/// The node that has the light keys of a bucket, and so its reducer.
fn reducer(plan: &Plan, bucket: u32) -> u32 {
    let part = plan.parts().iter().find(|part| part.bucket == bucket && part.of_key.is_none());
    part.expect("a bucket").group[0]
}

/// Bytes of pairs, those of them that a job by Hadoop's partitioner sends to another node, and the load of the fullest
/// node over the mean, where records stand in blocks that are packed by a plan of this engine's hash. The job has no
/// combiner.
fn measured(engine: Engine) -> (u64, u64, f64) {
    let (text, (nodes, profile)) = (visits(), profiled(engine));
    let plan = Plan::place(profile.bucketing(), nodes, 3, &profile.weights, &[]).expect("a plan").plan;
    let reducers: Vec<u32> = (0..BUCKETS).map(|bucket| reducer(&plan, bucket)).collect();
    let (mut all, mut remote, mut load) = (0, 0, [0_u64; NODES]);
    let mut map = |node: u32, block: &[u8]| {
        for record in block.split(|byte| *byte == b'\n').filter(|record| !record.is_empty()) {
            let key = record.split(|byte| *byte == b'\t').next().expect("a key");
            let pair = (key.len() + record.len() + 1) as u64;
            all += pair;
            load[node as usize] += record.len() as u64 + 1;
            if reducers[partition(key) as usize] != node {
                remote += pair;
            }
        }
    };
    let mut distributor = Distributor::new(&plan, "first-tab".parse::<KeyRule>().expect("a rule"), 64 << 10);
    // Packets of a client end anywhere.
    for packet in text.as_bytes().chunks(1449) {
        let done: Result<(), ScanError> = distributor.packet(packet, |packed| map(packed.node, packed.bytes));
        done.expect("lines");
    }
    distributor.end(|packed| map(packed.node, packed.bytes));
    let fullest = *load.iter().max().expect("nodes") as f64 * NODES as f64 / text.len() as f64;
    (all, remote, fullest)
}

/// Natively seven of eight pairs travel. By Hadoop's hash none is left. By Spark's, which is not the engine's, seven of
/// eight stay.
#[test]
fn no_pair_of_a_keyed_file_leaves_its_node() {
    let native = |all: u64| all as f64 * (NODES as f64 - 1.0) / NODES as f64;
    let (all, remote, fullest) = measured(Engine::MapReduce);
    assert!(all > 2_000_000 && remote == 0, "{remote} of {all}");
    // The heaviest user has 9 %, and a node's share is 12.5 %.
    assert!(fullest <= 1.05, "{fullest}");
    let (all, remote, _) = measured(Engine::Spark);
    assert!(remote as f64 > 0.95 * native(all), "{remote} of {all}");
}

/// A job with a combiner, map by map: natively a map has a block of the file, by key a block of the file of a bucket or
/// of a part of a split key, and sends out one pair for each of its keys. `kat plan` says as much of both.
#[test]
fn what_a_combiner_leaves_is_what_the_plan_says() {
    const BLOCK: usize = 1_000_000;
    const VALUE: usize = 8;
    let (text, (nodes, profile)) = (visits(), profiled(Engine::MapReduce));
    let plan = Plan::place(profile.bucketing(), nodes, 3, &profile.weights, &profile.heaviest()).expect("a plan").plan;
    assert!(plan.split().len() > 5);
    let (mut filled, mut begins, mut at) = (Filled::new(&plan), BTreeMap::new(), 0);
    let (mut native, mut by_key) = (BTreeSet::new(), BTreeSet::new());
    for record in text.lines() {
        let (key, length) = (record.split('\t').next().expect("a key"), record.len() + 1);
        native.insert((at / BLOCK, key));
        at += length;
        let part = plan.part_of(key.as_bytes(), length as u64, &mut filled).expect("a key");
        let begin = begins.entry((part.bucket, part.of_key)).or_insert(0);
        if part.group[0] != reducer(&plan, partition(key.as_bytes())) {
            by_key.insert((part.bucket, part.of_key, *begin / BLOCK, key));
        }
        *begin += length;
    }
    let native: usize = native.into_iter().map(|(_, key)| key.len() + VALUE).sum();
    let by_key: usize = by_key.into_iter().map(|(_, _, _, key)| key.len() + VALUE).sum();
    let scratch = Scratch::new("combined");
    scratch.file("visits.tsv", text);
    let found = scratch.json(
        &"visits.tsv --nodes 8 --buckets 512 --combiner --value 8"
            .split(' ')
            .chain(["--block", "1 MB"])
            .collect::<Vec<_>>(),
    );
    assert_eq!(found["remote_bytes_native"], native as u64 * 7 / 8);
    assert_eq!(found["remote_bytes_by_key"], by_key as u64);
    assert!(by_key > 0 && by_key < native / 2, "{by_key} of {native}");
}

const JOB: &str = r#"
[cluster]
workers = 8
[hdfs]
block = "32 MiB"
replication = 3
[mapreduce]
reducers = 8
speculative = false
[job]
workload = "terasort"
input = "1 GiB"
"#;

/// Remote bytes of a simulated job: what reducers fetch and what maps read from other nodes.
fn simulated(scratch: &Scratch, name: &str, keys: &[String]) -> f64 {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trunkline"));
    command.args(["run", "job.toml", "--out", name]).current_dir(&scratch.0);
    for key in keys {
        command.args(["--set", key]);
    }
    let output = command.output().expect("it starts");
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let text = fs::read(scratch.0.join(name).join("result.json")).expect("a result");
    let result: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
    let bytes = |field: &str| result["bytes"][field].as_f64().expect("bytes");
    bytes("shuffle_remote") + bytes("hdfs_read_remote")
}

/// The simulated job has as many keys a record as leave the measured part of its pairs at home, and removes 99 % of the
/// bytes that maps and reducers had from other nodes; with the wrong hash's part it does not.
#[test]
fn a_simulated_job_on_placed_data_has_its_bytes_at_home() {
    let scratch = Scratch::new("measured");
    scratch.file("job.toml", JOB);
    let native = simulated(&scratch, "native", &["hdfs.placement.kind=native".to_owned()]);
    let placed = |engine: Engine| {
        let (all, remote, _) = measured(engine);
        // Of what is not at home a reducer on the same node gets its share.
        let away = remote as f64 / all as f64 * NODES as f64 / (NODES as f64 - 1.0);
        let keys = format!("job.keys-per-record={}", 1.0 / (1.0 - away.min(1.0 - 1.0 / NODES as f64)));
        simulated(&scratch, engine.name(), &["hdfs.placement.kind=by-key".to_owned(), keys])
    };
    let (by_key, by_another) = (placed(Engine::MapReduce), placed(Engine::Spark));
    assert!(by_key <= 0.01 * native, "{by_key} of {native}");
    assert!(by_another >= 0.5 * native, "{by_another} of {native}");
}
