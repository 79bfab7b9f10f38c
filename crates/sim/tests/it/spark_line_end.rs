//! The end of the last line of a task's input, in the next block of HDFS.

use crate::spark::{run, spark, took};
use results::RunResult;
use units::{Bytes, Time};

const HDFS: [&str; 2] = ["hdfs.block=4 MiB", "hdfs.replication=2"];

/// Four tasks of so long, whose input stands in HDFS.
fn scan(input: &str, format: &str, work: &str, sets: &[&str]) -> RunResult {
    let stage = format!(
        "[[spark.stage]]\nname = \"scan\"\ntasks = 4\ninput = \"{input}\"\ninput-from = \"hdfs\"\ninput-format = \
         \"{format}\"\nwork = \"{work}\"\n"
    );
    run(&stage, &[&HDFS, sets].concat())
}

fn read(result: &RunResult) -> Bytes {
    spark(result).tasks.iter().map(|task| task.input_local + task.input_remote).sum()
}

/// Of four blocks of one file three have a next, of which a packet is read. What is no whole block is the end of a file.
#[test]
fn a_task_reads_a_packet_of_the_next_block() {
    assert_eq!(read(&scan("16 MiB", "text", "1 s", &[])), Bytes::from_mib(16) + Bytes::new(3 * 65_536));
    assert_eq!(read(&scan("32 MiB", "text", "1 s", &[])), Bytes::from_mib(32) + Bytes::new(3 * 65_536));
    assert_eq!(read(&scan("16 MiB", "binary", "1 s", &[])), Bytes::from_mib(16));
    assert_eq!(read(&scan("15 MiB", "text", "1 s", &[])), Bytes::from_mib(15));
}

/// It is read when all before is worked on. With a replica on each worker no byte of it crosses the network, and it takes
/// no more than a disk does; at 10 Mbit/s and from another worker a packet takes 54 ms and more, three at most at once.
#[test]
fn the_end_of_the_line_follows_the_work() {
    let of = |format: &str, sets: &[&str]| {
        took(&scan("16 MiB", format, "5 s", &[sets, &["network.rate=10 Mbit/s", "spark.locality-wait=100 s"]].concat()))
    };
    let everywhere = ["hdfs.replication=4"];
    let far = of("text", &["hdfs.replication=1", "cluster.workers=8"])
        - of("binary", &["hdfs.replication=1", "cluster.workers=8"]);
    let near = of("text", &everywhere) - of("binary", &everywhere);
    assert!((0.0..0.03).contains(&near), "{near}");
    assert!((0.05..0.25).contains(&far), "{far}");
}

/// A worker dies while tasks of 5 s run elsewhere, which have read their blocks. Those whose next block is on it, and on no
/// nearer node, wait for a connection for 60 s (`dfs.client.socket-timeout`) and read the other replica.
#[test]
fn a_dead_datanode_holds_a_task_up_for_a_minute() {
    let waits = |format: &str| -> Vec<f64> {
        let of = |seed: u64| {
            let fault = ["run.seed=".to_owned() + &seed.to_string()];
            let sets: Vec<&str> = fault.iter().map(String::as_str).chain(["cluster.workers=5"]).collect();
            let stage = format!(
                "[[spark.stage]]\nname = \"scan\"\ntasks = 4\ninput = \"16 MiB\"\ninput-from = \"hdfs\"\ninput-format = \
                 \"{format}\"\nwork = \"5 s\"\n[[faults]]\nat = \"2 s\"\nnode = \"worker-1\"\n"
            );
            let result = run(&stage, &[&HDFS[..], &sets].concat());
            let waits = spark(&result).tasks.iter().filter(|task| task.launch < Time::from_secs(1));
            waits.map(|task| task.input_wait.as_secs_f64()).collect::<Vec<_>>()
        };
        (1..=6).flat_map(of).filter(|wait| *wait > 10.0).collect()
    };
    let text = waits("text");
    assert!(!text.is_empty() && text.iter().all(|wait| (60.0..60.5).contains(wait)), "{text:?}");
    assert!(waits("binary").is_empty());
}
