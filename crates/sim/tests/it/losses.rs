//! How often data are to be expected lost, against sums by hand.

use results::{Losses, RunResult, to_json};
use std::ops::ControlFlow;

const YEAR: f64 = 365.25 * 24.0;

fn run(text: &str, sets: &[&str]) -> RunResult {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    let scenario = sim::parse("test", text, &sets).unwrap_or_else(|error| panic!("{error}"));
    sim::run(&scenario, &mut |_| ControlFlow::Continue(())).unwrap_or_else(|error| panic!("{error}"))
}

/// Eight blocks, on both of two nodes each.
const TWO_NODES: &str = r#"
cluster = { workers = 2, generation = "hadoop1", master = { preset = "xeon-2009" } }
hdfs = { block = "1 MiB", replication = 2, repair = "3 h" }
job = { workload = "dfsio-read", input = "8 MiB", files = 8 }
run = { fidelity = "flow" }
"#;

fn near(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-9, "{found}, not {expected}");
}

fn losses(result: &RunResult) -> &Losses {
    result.losses.as_ref().expect("disks have a failure rate")
}

/// Either of the two disks fails twice in a hundred years, and the other within the three hours after it.
#[test]
fn replicas_are_lost_when_all_their_disks_are() {
    let result = run(TWO_NODES, &["node.disk=[{preset='sata-2009', failure-rate=0.02}]"]);
    let blocks = losses(&result).blocks.expect("all disks of workers have a rate");
    let per_hour = 0.02 / YEAR;
    assert_eq!(blocks.sets, 1, "the two disks hold all blocks");
    assert!(blocks.blocks >= 8, "{} blocks: those of the input, and what the job writes", blocks.blocks);
    near(blocks.losses_per_year, 2.0 * per_hour * per_hour * 3.0 * YEAR);
    near(blocks.blocks_per_year, blocks.losses_per_year * blocks.blocks as f64);
    assert_eq!(losses(&result).arrays, []);
    assert!(to_json(&result).contains("\"losses_per_year\""));
}

/// Four disks of 160 GB in RAID 5: n (n - 1) r^2 MTTR, where a spare that comes after two hours is filled in 160 GB over
/// (125 + 61.25) / 2 MB/s. A block is lost with both arrays.
#[test]
fn an_array_is_lost_when_two_of_its_disks_are() {
    let array = "node.disk=[{preset='sata-2009', failure-rate=0.02, array={level='raid-5', members=4, replace='2 h'}}]";
    let result = run(TWO_NODES, &[array]);
    let Losses { arrays, blocks } = losses(&result);
    let names: Vec<&str> = arrays.iter().map(|array| array.name.as_str()).collect();
    assert_eq!(names, ["worker-1 disk 0", "worker-2 disk 0"], "the master's disk has no rate");
    let repair = 2.0 + 160e9 / 93.125e6 / 3600.0;
    let per_hour = 0.02 / YEAR;
    let array = 4.0 * 3.0 * per_hour * per_hour * repair;
    assert!((arrays[0].repair.as_secs_f64() / 3600.0 / repair - 1.0).abs() < 1e-9);
    near(arrays[0].losses_per_year, array * YEAR);
    near(blocks.unwrap().losses_per_year, 2.0 * array * array * 3.0 * YEAR);
}

/// Primaries on one disk, further replicas on a mirror: the rates differ.
#[test]
fn primaries_and_backups_fail_at_their_own_rates() {
    let disks = "node.disk=[{preset='sata-2009', role=['primary','intermediate'], failure-rate=0.05}, \
                 {preset='sata-2009', role='backup', failure-rate=0.01}]";
    let result = run(TWO_NODES, &[disks]);
    let blocks = losses(&result).blocks.unwrap();
    // First replicas stand on either node: two sets, each of the primary disk of one and the backup disk of the other.
    assert_eq!(blocks.sets, 2);
    near(blocks.losses_per_year, 2.0 * 2.0 * (0.05 / YEAR) * (0.01 / YEAR) * 3.0 * YEAR);
}

/// A code of three data and two parity parts on five nodes: three of the five disks, 10 sets of which each is the last of
/// three.
#[test]
fn a_group_is_lost_when_more_parts_are_than_it_has_parity() {
    let text = TWO_NODES
        .replace("workers = 2, generation = \"hadoop1\"", "workers = 5")
        .replace("replication = 2", "erasure-coding = 'rs-3-2'");
    let result = run(&text, &["job.files=1", "job.input=24 MiB", "node.disk=[{preset='sata-2009', failure-rate=0.5}]"]);
    let blocks = losses(&result).blocks.unwrap();
    let per_hour = 0.5 / YEAR;
    let group = 10.0 * 3.0 * per_hour * (per_hour * 3.0) * (per_hour * 3.0) * YEAR;
    // Files of the job itself keep replicas; on five disks three replicas have a third of the combinations' rate each.
    assert!(blocks.losses_per_year >= group * (1.0 - 1e-9), "{} of {group}", blocks.losses_per_year);
    let replicas = blocks.losses_per_year - group;
    let triples = replicas / (3.0 * per_hour * (per_hour * 3.0) * (per_hour * 3.0) * YEAR);
    assert!((triples - triples.round()).abs() < 1e-6, "{triples} sets of three replicas");
}

/// Without `hdfs.repair` copies take as long as the NameNode's looks, or the links: 4 MiB blocks at 10 Mbit/s by one other
/// node.
#[test]
fn the_repair_of_replicas_is_estimated() {
    let text = TWO_NODES.replace(", repair = \"3 h\"", "");
    let disk = "node.disk=[{preset='sata-2009', failure-rate=0.02}]";
    let fast = losses(&run(&text, &[disk, "network.rate=100 Gbit/s"])).blocks.unwrap();
    // Two blocks each three seconds.
    assert_eq!(fast.repair.as_secs_f64(), (fast.blocks as f64 / 2.0).ceil() * 3.0);
    let slow = losses(&run(&text, &[disk, "network.rate=1 Mbit/s"])).blocks.unwrap();
    assert!((67.1..80.0).contains(&slow.repair.as_secs_f64()), "8 MiB at 1 Mbit/s, not {:?}", slow.repair);
}

#[test]
fn nothing_is_said_without_rates() {
    assert_eq!(run(TWO_NODES, &[]).losses, None);
    // Of one of the two workers' disks the rate is not known.
    let groups =
        "cluster={workers=2, generation='hadoop1', group=[{count=1, node={disk=[{failure-rate=0.1}]}}, {count=1}]}";
    let text = TWO_NODES.lines().filter(|line| !line.starts_with("cluster")).collect::<Vec<_>>().join("\n");
    assert_eq!(losses(&run(&text, &[groups])).blocks, None);
}
