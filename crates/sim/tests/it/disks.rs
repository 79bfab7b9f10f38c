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
containers-per-heartbeat = 1
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

/// Three workers with two disks each, and three replicas of everything, so that each lost replica can be made again.
const TWO_DISKS: &str = "disks = 2\n[run]\nuntil = \"2000 s\"\n";

fn events<'a>(result: &'a RunResult, kind: &'a str) -> impl Iterator<Item = &'a results::Event> {
    result.events.iter().filter(move |event| event.kind == kind)
}

/// A disk is lost in the middle of a job: the job goes on, with attempts that had files there made again, and the
/// blocks that were there are copied to other disks, but nothing else is.
#[test]
fn a_lost_disk_costs_its_replicas_and_attempts_and_not_the_job() {
    let healthy = run(&format!("{SORT}{TWO_DISKS}"));
    let fault = "[[faults]]\nat = \"8 s\"\nnode = \"worker-1\"\ndisk = 0\n";
    let result = run(&format!("{SORT}{TWO_DISKS}{fault}"));
    assert_eq!(result.jobs[0].state, JobState::Succeeded, "{}", result.jobs[0].reason);
    assert_eq!(events(&result, "disk-failed").count(), 1);
    assert_eq!(events(&result, "node-down").count(), 0, "the node lives");
    assert!(result.jobs[0].finish >= healthy.jobs[0].finish);
    // 16 replicas of 256 MiB twice on six disks: worker-1's two hold about 85 MiB each of the input, made again on the
    // others by reading them there.
    let lost = &result.disks[2];
    assert_eq!(lost.name, "worker-1 disk 0");
    let whole = &healthy.disks[2];
    assert!(lost.read + lost.written < whole.read + whole.written, "it serves nobody any more");
    let copied = |result: &RunResult| result.nodes.iter().map(|node| node.interface_received.get()).sum::<u64>();
    assert!(copied(&result) > copied(&healthy), "replicas are made again");
}

/// A member of a mirror is lost, and replaced: nobody above notices, but the others are read to fill the spare. It
/// is away for so short a time that it misses less than what fills it.
#[test]
fn a_mirror_outlives_a_member() {
    let array = "[[node.disk]]\narray = { level = \"raid-1\", members = 2 }\npreset = \"ssd\"\n";
    let fault = "[[faults]]\nat = \"8 s\"\nnode = \"worker-1\"\ndisk = 0\nmember = 1\ndown-for = \"2 s\"\n";
    let result = run(&format!("{SORT}{array}{fault}"));
    assert_eq!(result.jobs[0].state, JobState::Succeeded, "{}", result.jobs[0].reason);
    assert!(result.attempts.iter().all(|attempt| attempt.reason.is_empty()), "no attempt fails");
    assert_eq!((events(&result, "disk-failed").count(), events(&result, "disk-replaced").count()), (1, 1));
    assert_eq!(result.disks.len(), 8);
    let of = |name: &str| result.disks.iter().find(|disk| disk.name == name).expect("a member");
    let (kept, spare) = (of("worker-1 disk 0 #0"), of("worker-1 disk 0 #1"));
    assert!(spare.written > kept.written, "a spare is filled besides");
    assert!(kept.read > of("worker-2 disk 0 #0").read, "from the one that was kept");
}

/// A disk at a tenth of its speed while the input is read from it.
#[test]
fn a_slow_disk_is_slow() {
    let disk = "[[node.disk]]\npreset = \"sata-2009\"\n";
    let busy = |fault: &str| run(&format!("{SORT}{disk}{fault}")).disks[1].busy.as_secs_f64();
    let fault = "[[faults]]\nat = \"0 s\"\nnode = \"worker-1\"\ndisk = 0\nslow = 0.1\n";
    let (plain, slow) = (busy(""), busy(fault));
    assert!(slow > 3.0 * plain, "{slow} s against {plain} s");
}

#[test]
fn faults_of_disks_that_cannot_be_are_errors() {
    let fault = |keys: &str| format!("{SORT}{TWO_DISKS}[[faults]]\nat = \"8 s\"\nnode = \"worker-1\"\n{keys}\n");
    let said = problem(&fault("disk = 2"));
    assert!(said.contains("worker-1 has no disk 2; 0 to 1"), "{said}");
    let said = problem(&fault("disk = 0\nmember = 1"));
    assert!(said.contains("has 1 members; 0 to 0"), "{said}");
    let said = problem(&fault("member = 1"));
    assert!(said.contains("it does not say of which disk"), "{said}");
    let said = problem(&fault("disk = 0\ndown-for = \"5 s\""));
    assert!(said.contains("does not come back"), "{said}");
    let said = problem(&fault("disk = 0").replace("disks = 2", ""));
    assert!(said.contains("no other disk of worker-1 holds first replicas of input"), "{said}");
    let said = problem(&format!("{SORT}[[node.disk]]\narray = {{ members = 2 }}\n"));
    assert!(said.contains("raid-5 of 2 disks is no array; at least 3 `members`"), "{said}");
    let mirror = "[[node.disk]]\narray = { level = \"raid-1\", members = 2 }\n";
    let spare = fault("disk = 0\nmember = 1\ndown-for = \"5 s\"").replace("disks = 2\n", mirror);
    assert!(problem(&spare).contains("the size of a `virtual` is not known"), "{}", problem(&spare));
    let said = problem(&format!("{SORT}{mirror}failure-rate = 0.05\n"));
    assert!(said.contains("is not known, so a spare is never filled; `array.replace`"), "{said}");
    let said = problem(&format!("{SORT}[[node.disk]]\nscheduler = \"ncq\"\n"));
    assert!(said.contains("has no head"), "{said}");
}

/// A disk that is written as a log moves the same bytes. Where memory holds little, a log saves the seeks between
/// writers and spends them when what it holds is read again.
#[test]
fn a_log_structured_disk_moves_the_same_bytes() {
    let of = |layout: &str| {
        let disk = format!("[[node.disk]]\npreset = \"sata-2009\"\nlayout = \"{layout}\"\n");
        let result = run(&format!("{SORT}{disk}"));
        let job = &result.jobs[0];
        assert_eq!(job.state, JobState::Succeeded, "{layout}: {}", job.reason);
        (job.bytes.map_input, job.bytes.spilled, job.bytes.written)
    };
    assert_eq!(of("in-place"), of("log"));
    let said = problem(&format!("{SORT}[[node.disk]]\npreset = \"ssd\"\nlayout = \"log\"\n"));
    assert!(said.contains("a `ssd` writes wherever it has erased cells"), "{said}");
    let said = problem(&format!("{SORT}[[node.disk]]\npreset = \"sata-2009\"\nlayout = \"log\"\narray = {{}}\n"));
    assert!(said.contains("an array's members do not see the log"), "{said}");
}
