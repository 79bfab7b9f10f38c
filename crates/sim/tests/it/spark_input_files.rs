//! Tasks that read several files of HDFS, as scans of SQL do of small ones.

use crate::spark::{run, spark, took};
use results::RunResult;
use units::Bytes;

/// Four tasks on four workers of one core, with 4 MiB each in so many files, which wait for their nodes.
fn scan(files: u32, sets: &[&str]) -> RunResult {
    let stage = format!(
        "[[spark.stage]]\nname = \"scan\"\ntasks = 4\ninput = \"16 MiB\"\ninput-from = \"hdfs\"\ninput-files = {files}\n\
         work = \"100 ms\"\n"
    );
    let own = ["hdfs.block=4 MiB", "hdfs.replication=1", "spark.locality-wait=100 s"];
    run(&stage, &[&own[..], sets].concat())
}

fn remote(result: &RunResult) -> Bytes {
    spark(result).tasks.iter().map(|task| task.input_remote).sum()
}

/// Eight files of 512 KiB, of one replica each, stand on several of four workers: a task has some of them on its node, which
/// it prefers, and reads the others over the network. One file stands on one node.
#[test]
fn files_that_are_not_on_the_task_s_node_are_read_over_the_network() {
    let file = Bytes::new(512 << 10);
    for seed in ["run.seed=1", "run.seed=2", "run.seed=3"] {
        let result = scan(8, &[seed]);
        for task in &spark(&result).tasks {
            assert_eq!(task.input_local + task.input_remote, Bytes::from_mib(4), "no line ends elsewhere");
            assert!(task.input_local.get().is_multiple_of(file.get()) && task.input_local >= file, "{task:?}");
        }
        // A node has two of eight files in the mean, and one of those with most at least one: of four tasks with eight each,
        // no more than seven are elsewhere, and not less than half.
        let remote = remote(&result);
        assert!((Bytes::from_mib(8)..=Bytes::from_mib(14)).contains(&remote), "{remote}");
        // But for the ends of three lines.
        assert!(self::remote(&scan(1, &[seed])) <= Bytes::new(3 * 65_536));
        assert_eq!(self::remote(&scan(8, &[seed, "hdfs.replication=4"])), Bytes::ZERO);
    }
}

/// At a hundredth of the rate the node that reads most over the network takes as long as its link does for it.
#[test]
fn a_slower_network_holds_the_scan_up() {
    let slow = scan(8, &["network.rate=2 Mbit/s"]);
    let most = spark(&slow).tasks.iter().map(|task| task.input_remote).max().expect("tasks");
    let least = most.get() as f64 * 8.0 / 2e6;
    assert!(took(&slow) >= least && least > 5.0, "{:.1} s, {least:.1} s", took(&slow));
    assert!(took(&scan(8, &[])) < 2.0);
}
