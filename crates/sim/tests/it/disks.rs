//! Nodes with several disks: what each holds.

use results::{Disk, JobState, RunResult};
use std::ops::ControlFlow;
use units::Bytes;

fn run(text: &str) -> RunResult {
    let scenario = sim::parse("test.toml", text, &[]).unwrap_or_else(|error| panic!("{error:?}"));
    sim::run(&scenario, &mut |_| ControlFlow::Continue(())).unwrap_or_else(|error| panic!("{error}"))
}

/// What is wrong with a scenario, in one text.
fn problem(text: &str) -> String {
    sim::parse("test.toml", text, &[]).expect_err("it is wrong").to_string()
}

/// A job that reads 256 MiB, spills as much and writes as much, twice replicated, on nodes whose memory holds little of
/// it.
const SORT: &str = r#"
[cluster]
workers = 3
[hdfs]
block = "32 MiB"
replication = 2
[mapreduce]
reducers = 3
speculative = false
node-memory = "8 GiB"
[job]
workload = "terasort"
input = "256 MiB"
output-replication = 2
[node]
memory = "64 MiB"
"#;

/// The disks of the workers with a role.
fn of<'a>(result: &'a RunResult, role: &'a str) -> impl Iterator<Item = &'a Disk> {
    result.disks.iter().filter(move |disk| disk.node > 0 && disk.role == role)
}
fn sum(disks: impl Iterator<Item = Bytes>) -> u64 {
    disks.map(Bytes::get).sum()
}

/// Each byte goes to the disk of its kind: input is read from one, output written to another, spills to a third.
#[test]
fn each_kind_of_data_is_on_its_disk() {
    let disks =
        "[[node.disk]]\nrole = \"input\"\n[[node.disk]]\nrole = \"output\"\n[[node.disk]]\nrole = \"intermediate\"\n";
    let result = run(&format!("{SORT}{disks}"));
    let job = &result.jobs[0];
    assert_eq!(job.state, JobState::Succeeded, "{}", job.reason);
    assert_eq!(result.disks.len(), 12, "three for the master and each worker");
    let input = 256 << 20;
    assert!(sum(of(&result, "input").map(|disk| disk.read)) >= input * 9 / 10);
    assert_eq!(sum(of(&result, "input").map(|disk| disk.written)), 0, "nothing is written to the input's disks");
    // Two replicas of what memory does not hold any more.
    let room = 3 * (64 << 20);
    let written = sum(of(&result, "output").map(|disk| disk.written));
    assert!((2 * input - room..=2 * input + (8 << 20)).contains(&written), "{written} bytes of output");
    let spilled = sum(of(&result, "intermediate").map(|disk| disk.written));
    assert!(spilled > 0 && spilled <= job.bytes.spilled.get(), "{spilled} bytes of spills");
}

/// The first replica of a block is on the primary disks, the others on the backup disks, for blocks that are there at
/// the start and for those that the job writes.
#[test]
fn first_replicas_and_the_others_are_apart() {
    let disks = "[[node.disk]]\nrole = [\"primary\", \"intermediate\"]\n[[node.disk]]\nrole = \"backup\"\ncount = 2\n";
    let result = run(&format!("{SORT}{disks}"));
    assert_eq!(result.jobs[0].state, JobState::Succeeded);
    let input = 256_u64 << 20;
    let room = 3 * (64 << 20);
    let backups = sum(of(&result, "backup").map(|disk| disk.written));
    assert!((input - room..=input + (8 << 20)).contains(&backups), "{backups} bytes: one replica of two");
    assert!(of(&result, "backup").all(|disk| disk.written > Bytes::ZERO), "disks that hold the same take turns");
}

#[test]
fn without_roles_every_disk_holds_everything() {
    let one = run(&format!("{SORT}disk = \"sata-2009\"\ndisks = 2\n"));
    let table = run(&format!("{SORT}[[node.disk]]\npreset = \"sata-2009\"\ncount = 2\n"));
    assert_eq!(one.disks.len(), 8);
    assert_eq!(one.disks, table.disks, "the short form and the table mean the same");
    assert!(one.disks.iter().all(|disk| disk.role == "all"));
}

#[test]
fn a_disk_may_have_figures_of_its_own() {
    let slow = run(&format!("{SORT}[[node.disk]]\nread = \"5 MB/s\"\nwrite = \"5 MB/s\"\n"));
    let fast = run(&format!(
        "{SORT}[storage]\nread = \"5 MB/s\"\nwrite = \"5 MB/s\"\n[[node.disk]]\nread = \"1 GB/s\"\nwrite = \"1 GB/s\"\n"
    ));
    // 256 MiB at 5 MB/s from three disks take 18 s at the least.
    let finish = |result: &RunResult| result.jobs[0].finish.expect("it finished").as_secs_f64();
    assert!(finish(&slow) > finish(&fast) + 15.0, "{} s against {} s", finish(&slow), finish(&fast));
}

#[test]
fn a_kind_of_data_without_a_disk_is_an_error() {
    let said = problem(&format!("{SORT}[[node.disk]]\nrole = \"hdfs\"\n"));
    assert!(said.starts_with("test.toml:18:"), "{said}");
    assert!(said.contains("no disk of this node holds intermediate data"), "{said}");
    assert!(said.contains("a disk whose `role` names \"intermediate\""), "{said}");

    let said = problem(&format!("{SORT}[[node.disk]]\nrole = [\"primary\", \"intermediate\"]\n"));
    assert!(
        said.contains("other replicas of input, other replicas of output") && said.contains("\"backup\""),
        "{said}"
    );

    let said = problem(&format!("{SORT}[[node.disk]]\nrole = []\n"));
    assert!(said.contains("holds nothing"), "{said}");

    let said = problem(&format!("{SORT}[cluster.master]\ndisk = []\n"));
    assert!(said.contains("a node without a disk holds nothing"), "{said}");

    let group = "[[cluster.group]]\ncount = 3\nnode = { disk = [{ role = \"input\" }] }\n";
    let said = problem(&format!("{}{group}", SORT.replace("workers = 3", "")));
    assert!(said.contains("first replicas of output, other replicas of output, intermediate data"), "{said}");
}
