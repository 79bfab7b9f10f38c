//! Keys of a job's map output: reducers' shares natively, and where the planner of `placement` has put them.

use placement::{Bucketing, Engine, HeavyKey, KeyLaw, KeyType, Node, Plan};
use results::{AttemptState, JobState, RunResult, TaskKind, imbalances};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Sorted records of 100 bytes, over flows, without partitions so small that their frames count.
const SORT: &str = r#"
[cluster]
workers = 4
[hdfs]
block = "32 MiB"
replication = 1
[mapreduce]
reducers = 4
speculative = false
[job]
workload = "generic"
input = "256 MiB"
[run]
fidelity = "flow"
"#;

/// A combiner whose records have the length of those that it folds.
const SUMS: [&str; 2] = ["job.combiner=true", "job.combine-record=100"];

fn run(assignments: &[&str]) -> RunResult {
    let assignments: Vec<String> = assignments.iter().map(ToString::to_string).collect();
    let scenario = sim::parse("test.toml", SORT, &assignments).unwrap_or_else(|error| panic!("{error:?}"));
    let result = sim::run(&scenario, &mut |_| ControlFlow::Continue(())).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(result.jobs[0].state, JobState::Succeeded, "{}", result.jobs[0].reason);
    result
}

/// Each reducer's part of what all took in.
fn shares(result: &RunResult) -> Vec<f64> {
    let won = |attempt: &&results::Attempt| attempt.state == AttemptState::Succeeded;
    let mut reduces: Vec<(u32, f64)> = result
        .attempts
        .iter()
        .filter(|attempt| attempt.kind == TaskKind::Reduce)
        .filter(won)
        .map(|attempt| (attempt.task, attempt.input.get() as f64))
        .collect();
    reduces.sort_by_key(|(task, _)| *task);
    let whole: f64 = reduces.iter().map(|(_, bytes)| bytes).sum();
    reduces.into_iter().map(|(_, bytes)| bytes / whole).collect()
}

fn greatest(shares: &[f64]) -> f64 {
    shares.iter().copied().fold(0.0, f64::max)
}

/// The greatest over the mean of a load of the workers.
fn spread(result: &RunResult, name: &str) -> f64 {
    let row = imbalances(&result.nodes).into_iter().find(|row| row.name == name).expect("a load");
    row.greatest_over_mean().expect("bytes")
}

fn remote(result: &RunResult) -> f64 {
    let bytes = &result.jobs[0].bytes;
    bytes.shuffle_remote.get() as f64 / (bytes.shuffle_local + bytes.shuffle_remote).get() as f64
}

/// 2^-e + 3^-e = 1 for e = 0.787884911: the first of three keys has half of the records. By a program in Python that
/// hashes the texts as `Text.hashCode` is defined, `xdicbozijhpj` is reducer 3's of four, and the other two reducer
/// 0's.
#[test]
fn a_key_with_half_of_the_records_is_half_of_its_reducer() {
    let shares = shares(&run(&["job.keys.distinct=3", "job.keys.exponent=0.78788491102586978"]));
    for (share, expected) in shares.iter().zip([0.5, 0.0, 0.0, 0.5]) {
        assert!((share - expected).abs() < 1e-6, "{shares:?}");
    }
}

/// A million equal keys divide evenly: the fullest of four has 0.250279 by that program. What else a job without keys
/// has is left as it was, to the byte.
#[test]
fn many_equal_keys_are_as_none() {
    let (even, equal) = (run(&[]), run(&["job.keys.distinct=1000000"]));
    assert!((greatest(&shares(&equal)) - 0.250_279).abs() < 1e-6, "{:?}", shares(&equal));
    let all = |result: &RunResult| (result.jobs[0].bytes.shuffle_local + result.jobs[0].bytes.shuffle_remote).get();
    assert_eq!(all(&even), all(&equal));
    let time = |result: &RunResult| result.jobs[0].finish.expect("finished").as_secs_f64();
    assert!((time(&equal) / time(&even) - 1.0).abs() < 0.01, "{} against {}", time(&equal), time(&even));
}

/// A hundred thousand keys by Zipf's law with exponent 1.2, a reducer on each of 64 nodes. The heaviest key
/// alone outweighs 12.57 nodes, whatever the hash. With that of `Text` the fullest reducer has 14.2393 times the mean,
/// by the program in Python.
#[test]
fn hashed_keys_of_a_heavy_law_overload_a_reducer() {
    let law = ["cluster.workers=64", "mapreduce.reducers=64", "job.keys.distinct=100000", "job.keys.exponent=1.2"];
    let native = run(&law);
    assert!((greatest(&shares(&native)) * 64.0 - 14.239_3).abs() < 1e-3, "{}", greatest(&shares(&native)) * 64.0);
}

/// Keys on 64 nodes, a reducer for each of 1,024 buckets. Tasks wait for their own node, however long.
const LAW: [&str; 11] = [
    "cluster.generation=\"hadoop1\"",
    "mapreduce.scheduler=\"fair\"",
    "mapreduce.locality-wait=3600 s",
    "hdfs.placement.patience=86400 s",
    "cluster.workers=64",
    "mapreduce.reducers=1024",
    "job.keys.distinct=100000",
    "job.keys.exponent=1.2",
    "job.input=1 GiB",
    "hdfs.block=12 MiB",
    "hdfs.placement.kind=by-key",
];

/// The keys of `LAW`, each by itself.
fn keys(whole: u64) -> Vec<HeavyKey> {
    let norm: f64 = (1..=100_000).map(|rank| libm::pow(f64::from(rank), -1.2)).sum();
    let of = |rank: u32| (libm::pow(f64::from(rank), -1.2) / norm * whole as f64) as u64;
    (1..=100_000)
        .map(|rank| HeavyKey { key: KeyLaw::key(rank.into()).to_vec(), most: of(rank), least: of(rank) })
        .collect()
}

/// A plan of these keys, of a histogram that is counted key by key.
fn plan(keys: &[HeavyKey]) -> Plan {
    let bucketing = Bucketing::new(Engine::MapReduce, None, KeyType::Text, 1024).expect("a bucketing");
    let mut weights = vec![0; 1024];
    for key in keys {
        weights[bucketing.bucket(&key.key).expect("text") as usize] += key.most;
    }
    let nodes = (1..=64).map(|worker| Node { rack: "rack-1".to_owned(), ..Node::named(format!("worker-{worker}")) });
    Plan::place(bucketing, nodes.collect(), 1, &weights, &keys[..4096]).expect("a plan").plan
}

/// With results that can be merged no node has more than 1.05 times the mean of the input, as the planner plans it, and
/// what travels are partial results: each map sends one record of each split key that is not reduced on its node, as
/// the maps of each node are counted from the plan that is made of the keys one by one.
#[test]
fn heavy_keys_are_split_where_their_results_can_be_merged() {
    let placed = run(&[&LAW[..], &SUMS].concat());
    assert!(spread(&placed, "stored_at_start") <= 1.05, "{}", spread(&placed, "stored_at_start"));

    let keys = keys(1 << 50);
    let plan = plan(&keys);
    let (loads, whole) = (plan.loads(), 1_u64 << 50);
    let input = |node: usize| loads[node] as f64 / whole as f64 * f64::from(1 << 30);
    let (block, record) = (f64::from(12 << 20), 100.0);
    let of_reducer: Vec<u32> =
        plan.parts().iter().filter(|part| part.of_key.is_none()).map(|part| part.group[0]).collect();
    // Of a node's keys: how many, their sum of different ones a map, and of those that are reduced elsewhere.
    let (mut all, mut away) = (0.0, 0.0);
    let mut of_node: Vec<Vec<(f64, bool)>> = vec![Vec::new(); 64];
    let split: BTreeMap<&[u8], u32> = plan.split().iter().map(|key| key.key.as_slice()).zip(0..).collect();
    for key in &keys {
        match split.get(key.key.as_slice()) {
            None => {
                let bucket = plan.bucketing().bucket(&key.key).expect("text");
                of_node[of_reducer[bucket as usize] as usize].push((key.most as f64, true));
            }
            Some(number) => {
                let mut here: BTreeMap<u32, u64> = BTreeMap::new();
                let parts = plan.parts().iter().filter(|part| part.of_key.is_some_and(|(key, _)| key == *number));
                parts.for_each(|part| *here.entry(part.group[0]).or_default() += part.bytes);
                let home = of_reducer[plan.split()[*number as usize].bucket as usize];
                for (node, bytes) in here {
                    of_node[node as usize].push((bytes as f64, node == home));
                }
            }
        }
    }
    for (node, keys) in of_node.iter().enumerate() {
        let load: f64 = keys.iter().map(|(bytes, _)| bytes).sum();
        // Maps of equal length, as near a block as may be, of 1.1 at most.
        let maps = (input(node) / (1.1 * block)).ceil().max((input(node) / block).round());
        for _ in 0..maps as u32 {
            let records = input(node) / maps / record;
            for (bytes, is_home) in keys {
                let met = 1.0 - libm::pow(1.0 - bytes / load, records);
                all += met;
                away += if *is_home { 0.0 } else { met };
            }
        }
    }
    assert!(away > 0.0 && plan.split().len() > 10);
    let expected = away / all;
    assert!((remote(&placed) / expected - 1.0).abs() < 0.02, "{}, by the plan {expected}", remote(&placed));
}

/// Without a combiner all records of a split key would travel to its one reducer: it stays whole on one node, which has
/// 12.57 times the mean and more, and nothing is remote.
#[test]
fn heavy_keys_stay_whole_where_their_results_cannot_be_merged() {
    let placed = run(&LAW);
    assert!(remote(&placed) < 1e-3, "{}", remote(&placed));
    let most = spread(&placed, "stored_at_start");
    assert!((12.57..13.0).contains(&most), "{most}");
    let shares = shares(&placed);
    assert!((12.57..13.0).contains(&(greatest(&shares) * 64.0)), "{}", greatest(&shares) * 64.0);
}

/// A record of ten keys stands with one of them. The others are reduced where any key is: of a plan whose nodes have
/// equal parts, 63 in 64 of them elsewhere.
#[test]
fn the_other_keys_of_a_record_travel() {
    let equal = [&LAW[..], &["job.keys.exponent=0", "job.keys-per-record=10"]].concat();
    let placed = run(&equal);
    assert!((remote(&placed) / (0.9 * 63.0 / 64.0) - 1.0).abs() < 0.01, "{}", remote(&placed));
}

/// A word count natively: a reducer with a heavy key gets no more of it than one record a map. Ten keys, of which each
/// map has all: reducers' shares are those of how many keys they have, whatever the keys weigh.
#[test]
fn a_combiner_makes_heavy_keys_light() {
    let law = ["job.keys.distinct=10", "job.keys.exponent=2", "mapreduce.reducers=3"];
    let combined = shares(&run(&[&law[..], &SUMS].concat()));
    let tenths: Vec<f64> = combined.iter().map(|share| share * 10.0).collect();
    // Of ten records in a thousand bytes reducers have whole bytes.
    assert!(tenths.iter().all(|tenths| (tenths - tenths.round()).abs() < 0.01), "{tenths:?}");
    // 1 / (1 + 1/4 + ... + 1/100) is 0.645.
    assert!(greatest(&shares(&run(&law))) > 0.645);
}

#[test]
fn keys_that_do_nothing_are_warned_of() {
    let warned = |assignments: &[&str]| {
        let assignments: Vec<String> = assignments.iter().map(ToString::to_string).collect();
        let (_, warnings) = sim::parse_with_warnings("test.toml", SORT, &assignments).expect("it can run");
        format!("{warnings:?}")
    };
    for (assignments, says) in [
        (&["job.keys.distinct=7", "job.reducers=0"][..], "no reducer takes a key"),
        (&["job.keys.distinct=3"], "3 keys leave some of 4 reducers without any"),
        (
            &["job.keys.distinct=7", "job.reducers=2", "hdfs.placement.kind=by-key"],
            "the keys of a reducer stand on one node, and 2 nodes are not all of 4",
        ),
        (&["job.keys.distinct=7", "job.keys.plan=plan.json"], "a plan has the weights of its buckets"),
    ] {
        let said = warned(assignments);
        assert!(said.contains(says), "{assignments:?}: {said}");
        assert!(!warned(&["job.keys.distinct=7"]).contains(says));
    }
}

/// A plan as `kat plan -o` writes it (`docs/reference/plan.md`), by hand: 1,000 bytes of keys in four buckets on four
/// nodes. Half of a split key of 200 bytes, which is bucket 1's, stands on the fourth node.
const PLAN: &str = r#"{ "trunkline_plan": 1, "engine": "mapreduce", "hash": "hash-partitioner", "key_type": "text",
    "key": "column:1", "layout": "whole", "replicas": 1, "bytes": 1000, "bytes_read": 1000,
    "nodes": [{ "name": "worker-1", "weight": 1.0 }, { "name": "worker-2", "weight": 1.0 },
              { "name": "worker-3", "weight": 1.0 }, { "name": "worker-4", "weight": 1.0 }],
    "buckets": [{ "bytes": 100, "nodes": [0] }, { "bytes": 200, "nodes": [1] },
                { "bytes": 300, "nodes": [2] }, { "bytes": 200, "nodes": [0] }],
    "split": [{ "key": "6162", "text": "ab", "bucket": 1, "bytes": 200,
                "parts": [{ "bytes": 100, "nodes": [3] }, { "bytes": 100, "nodes": [1] }] }] }"#;

/// Read as the scenario's file would be.
fn by_plan(text: &str, assignments: &[&str]) -> Result<scenario::Scenario, String> {
    let assignments: Vec<String> =
        assignments.iter().map(ToString::to_string).chain(["job.keys.plan=plan.json".to_owned()]).collect();
    let mut scenario = sim::parse("test.toml", SORT, &assignments).unwrap_or_else(|error| panic!("{error:?}"));
    assert_eq!(scenario.plan_files(), [(0, "plan.json".to_owned())]);
    scenario.take_plan(0, text);
    sim::check_plans(&scenario).map(|()| scenario)
}

/// Natively the reducers' shares are those of their buckets' bytes. Placed, each node has the input that stands there,
/// and of a job without a combiner the split key's records travel from the fourth node to the second: a tenth of all.
#[test]
fn a_plan_stands_as_it_was_written() {
    let strict = &LAW[..4];
    let native = [strict, &["hdfs.placement.kind=native"]].concat();
    let by = |assignments: &[&str]| {
        let scenario = by_plan(PLAN, assignments).expect("a plan");
        sim::run(&scenario, &mut |_| ControlFlow::Continue(())).expect("a run")
    };
    let close = |are: &[f64], expected: &[f64]| {
        assert!(are.iter().zip(expected).all(|(is, should)| (is - should).abs() < 1e-6), "{are:?}");
    };
    close(&shares(&by(&native)), &[0.1, 0.4, 0.3, 0.2]);
    let placed = by(&[strict, &["hdfs.placement.kind=by-key"]].concat());
    close(&shares(&placed), &[0.1, 0.4, 0.3, 0.2]);
    let whole = f64::from(256 << 20);
    let of = |load: fn(&results::NodeLoad) -> units::Bytes| -> Vec<f64> {
        placed.nodes[1..].iter().map(|node| load(&node.load.expect("a worker")).get() as f64).collect()
    };
    close(
        &of(|load| load.stored_at_start).iter().map(|bytes| bytes / whole).collect::<Vec<_>>(),
        &[0.3, 0.3, 0.3, 0.1],
    );
    let taken = of(|load| load.reduce_input);
    let sum: f64 = taken.iter().sum();
    close(&taken.iter().map(|bytes| bytes / sum).collect::<Vec<_>>(), &[0.3, 0.4, 0.3, 0.0]);
    assert!((remote(&placed) - 0.1).abs() < 1e-6, "{}", remote(&placed));
}

/// Two copies of each bucket and part, on the nodes that the plan names: of 1,000 bytes the first node has 100 and 200
/// of its own, 300 of the third and 100 of the second. Joined, three nodes have 0.3 of 256 MiB, three maps of 25.6 MiB
/// (two of 1.1 blocks of 32 MiB would not hold them), and the fourth has one as long.
#[test]
fn a_plans_copies_stand_on_its_groups_and_its_files_are_joined() {
    let text = PLAN
        .replace(r#""bytes": 100, "nodes": [0]"#, r#""bytes": 100, "nodes": [0, 1]"#)
        .replace(r#""bytes": 200, "nodes": [1]"#, r#""bytes": 200, "nodes": [1, 2]"#)
        .replace(r#""bytes": 300, "nodes": [2]"#, r#""bytes": 300, "nodes": [2, 0]"#)
        .replace(r#""bytes": 200, "nodes": [0]"#, r#""bytes": 200, "nodes": [0, 3]"#)
        .replace(r#""bytes": 100, "nodes": [3]"#, r#""bytes": 100, "nodes": [3, 2]"#)
        .replace(r#""bytes": 100, "nodes": [1]"#, r#""bytes": 100, "nodes": [1, 0]"#)
        .replace(r#""replicas": 1"#, r#""replicas": 2"#);
    let strict = [&LAW[..4], &["hdfs.placement.kind=by-key"]].concat();
    let placed =
        sim::run(&by_plan(&text, &strict).expect("a plan"), &mut |_| ControlFlow::Continue(())).expect("a run");
    for (node, should) in placed.nodes[1..].iter().zip([0.7, 0.4, 0.6, 0.3]) {
        let is = node.load.expect("a worker").stored_at_start.get() as f64 / f64::from(256 << 20);
        assert!((is - should).abs() < 1e-6, "{is}, {should}");
    }
    let maps: Vec<f64> = placed
        .attempts
        .iter()
        .filter(|attempt| attempt.kind == TaskKind::Map && attempt.state == AttemptState::Succeeded)
        .map(|attempt| attempt.input.get() as f64 / f64::from(1 << 20))
        .collect();
    assert_eq!(maps.len(), 10);
    assert!(maps.iter().all(|length| (length - 25.6).abs() < 1e-3), "{maps:?}");
}

/// Bucket 1 has one key, of which the fourth node has three quarters: there its reducer is, 200 of 800 bytes, and not
/// where the plan has the keys that the bucket does not have.
#[test]
fn a_reducer_of_split_keys_alone_is_where_most_of_them_is() {
    let parts = r#"{ "bytes": 50, "nodes": [0] }, { "bytes": 150, "nodes": [3] }"#;
    let text = PLAN
        .replace(r#"{ "bytes": 200, "nodes": [1] }"#, r#"{ "bytes": 0, "nodes": [1] }"#)
        .replace(r#"{ "bytes": 100, "nodes": [3] }, { "bytes": 100, "nodes": [1] }"#, parts);
    let placed = by_plan(&text, &[&LAW[..4], &["hdfs.placement.kind=by-key"]].concat()).expect("a plan");
    let placed = sim::run(&placed, &mut |_| ControlFlow::Continue(())).expect("a run");
    let taken = placed.nodes[1..].iter().map(|node| node.load.expect("a worker").reduce_input.get() as f64);
    let taken: Vec<f64> = taken.collect();
    let sum: f64 = taken.iter().sum();
    for (is, should) in taken.iter().map(|bytes| bytes / sum).zip([0.375, 0.0, 0.375, 0.25]) {
        assert!((is - should).abs() < 1e-6, "{taken:?}");
    }
}

#[test]
fn a_plan_that_is_none_or_another_clusters_is_refused() {
    let refused = |text: &str, assignments: &[&str]| by_plan(text, assignments).expect_err("refused");
    for (text, assignments, says) in [
        (
            "{}".to_owned(),
            &[][..],
            "job.keys.plan, plan.json: it is no plan of `trunkline kat plan`: its engine is none",
        ),
        ("no".to_owned(), &[], "it is no plan of `trunkline kat plan`: expected"),
        (PLAN.replace("mapreduce", "hive").replace("hash-partitioner", "hive-v2"), &[], "it is a plan for hive"),
        (PLAN.to_owned(), &["job.reducers=3"], "its 4 buckets are no multiple of 3 reducers; `--buckets 3`"),
        (PLAN.to_owned(), &["cluster.workers=3"], "it is for 4 nodes, not all of which are among 3 workers"),
    ] {
        let said = refused(&text, assignments);
        assert!(said.contains(says), "{said}");
    }
    // Other names stand for the workers in their order, and a plan for some of the workers leaves the others empty.
    assert!(by_plan(&PLAN.replace("worker-", "host"), &[]).is_ok());
    assert!(by_plan(PLAN, &["cluster.workers=5"]).is_ok());
    assert!(by_plan(PLAN, &["job.reducers=2"]).is_ok());
}

/// What is changed of a scenario that holds its plan, as advice does, is checked against it; what has not read it does
/// not run. Keys are never left out in silence.
#[test]
fn a_changed_scenario_keeps_to_its_plan() {
    let scenario = by_plan(PLAN, &[]).expect("a plan");
    let changed = |assignment: &str| sim::parse("test.toml", &scenario.to_toml(), &[assignment.to_owned()]);
    assert!(changed("job.0.reducers=2").is_ok());
    let refused = changed("job.0.reducers=3").expect_err("refused").to_string();
    assert!(refused.contains("its 4 buckets are no multiple of 3 reducers; `--buckets 3`"), "{refused}");
    let unread = sim::parse("test.toml", SORT, &["job.keys.plan=plan.json".to_owned()]).expect("a scenario");
    let refused = sim::run(&unread, &mut |_| ControlFlow::Continue(())).expect_err("refused").to_string();
    assert!(refused.contains("job.keys.plan, plan.json: it is no plan of `trunkline kat plan`"), "{refused}");
}

#[test]
fn keys_that_defeat_each_other_are_refused() {
    let error = |assignments: &[&str]| {
        let assignments: Vec<String> = assignments.iter().map(ToString::to_string).collect();
        let error = sim::parse("test.toml", SORT, &assignments).expect_err("refused");
        format!("{error:?}")
    };
    for (set, says) in [
        ("job.skew=1", "the reducers' shares follow from `keys`"),
        ("job.shares=[1, 2, 3, 4]", "the reducers' shares follow from `keys`"),
        ("job.combine-keys=7", "the combiner folds the keys of `keys`"),
        ("job.workload=terasort", "cuts the keys into ranges of equal weight"),
        ("job.workload=teragen", "have no output with keys"),
    ] {
        let said = error(&["job.keys.distinct=7", set]);
        assert!(said.contains(says), "{set}: {said}");
    }
    let said = error(&["job.keys.exponent=1"]);
    assert!(said.contains("it does not say how many keys there are"), "{said}");
    let said = error(&["job.keys.distinct=7", "hdfs.placement.kind=by-key", "job.splits=[\"1 MB\"]"]);
    assert!(said.contains("placement by key makes its own"), "{said}");
}
