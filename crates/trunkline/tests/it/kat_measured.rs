//! What placement removes, measured and not assumed: records are packed into blocks as `kat` places them, their pairs
//! partitioned by Hadoop's own formula, and the part that is at home goes into a simulated job.

use crate::kat::{Scratch, said};
use placement::{Bucketing, Distributor, Engine, KeyRule, KeyType, Layout, Node, Plan, Profile, ScanError};
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

/// Bytes of pairs, those of them that a job by Hadoop's partitioner sends to another node, and the load of the fullest
/// node over the mean, where records stand in blocks that are packed by a plan of this engine's hash.
fn measured(engine: Engine) -> (u64, u64, f64) {
    let text = visits();
    let rule: KeyRule = "first-tab".parse().expect("a rule");
    let bucketing = Bucketing::new(engine, None, KeyType::Text, BUCKETS).expect("a bucketing");
    let mut profile = Profile::new(rule.clone(), bucketing, Layout::Whole, None);
    text.lines().for_each(|line| profile.record(line.as_bytes(), line.len() as u64 + 1).expect("a key"));
    let nodes = (1..=NODES).map(|node| Node::named(format!("worker-{node}"))).collect();
    let plan = Plan::place(bucketing, nodes, 3, &profile.weights, &profile.heaviest()).expect("a plan").plan;

    // Reducers are where the plan has their bucket; a split key's are partial ones, one on each node with a part of it.
    let reducer = |bucket: u32| {
        let part = plan.parts().iter().find(|part| part.bucket == bucket && part.of_key.is_none());
        part.expect("a bucket").group[0]
    };
    let is_split = |key: &[u8]| plan.split().iter().any(|split| split.key == key);
    let (mut all, mut remote, mut load) = (0, 0, [0_u64; NODES]);
    let mut map = |node: u32, block: &[u8]| {
        for record in block.split(|byte| *byte == b'\n').filter(|record| !record.is_empty()) {
            let key = record.split(|byte| *byte == b'\t').next().expect("a key");
            let pair = (key.len() + record.len() + 1) as u64;
            all += pair;
            load[node as usize] += record.len() as u64 + 1;
            if !is_split(key) && reducer(partition(key)) != node {
                remote += pair;
            }
        }
    };
    let mut distributor = Distributor::new(&plan, rule, 64 << 10);
    // Packets of a client end anywhere.
    for packet in text.as_bytes().chunks(1449) {
        let done: Result<(), ScanError> = distributor.packet(packet, |packed| map(packed.node, packed.bytes));
        done.expect("lines");
    }
    distributor.end(|packed| map(packed.node, packed.bytes));
    // Each partial result is a pair that goes to where the key's are merged.
    remote += plan.partials() * all / text.lines().count() as u64;
    let fullest = *load.iter().max().expect("nodes") as f64 * NODES as f64 / text.len() as f64;
    (all, remote, fullest)
}

/// Natively seven of eight pairs travel. By Hadoop's hash one in a hundred of them is left at most. By Spark's, which
/// is not the engine's, pairs of split keys alone stay, which are merged wherever they are: two in five.
#[test]
fn nearly_no_pair_of_a_keyed_file_leaves_its_node() {
    let native = |all: u64| all as f64 * (NODES as f64 - 1.0) / NODES as f64;
    let (all, remote, fullest) = measured(Engine::MapReduce);
    assert!(all > 2_000_000 && (remote as f64) < 0.01 * native(all), "{remote} of {all}");
    assert!(fullest <= 1.06, "{fullest}");
    let (all, remote, _) = measured(Engine::Spark);
    assert!(remote as f64 > 0.5 * native(all), "{remote} of {all}");
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
