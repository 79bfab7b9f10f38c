//! A query over tables in Parquet and CSV that stand in HDFS, recorded by Spark 4.1.1 at 50 Mbit/s
//! (`crates/history/tests/spark`): its scans wait for the network, as tasks read three files each.

use crate::spark::{recorded_with, spark, took};
use results::{RunResult, SparkTask};
use units::Bytes;

const CLUSTER: &str = include_str!("../../../history/tests/spark/cluster-50mbit.toml");

/// Tasks of the scan of the table in Parquet, which is the third stage.
fn scan(result: &RunResult) -> Vec<&SparkTask> {
    assert_eq!(spark(result).stages[2].name, "2: scan parquet text-32000000.parquet");
    spark(result).tasks.iter().filter(|task| task.stage == 2).collect()
}

fn remote(tasks: &[&SparkTask]) -> Bytes {
    tasks.iter().map(|task| task.input_remote).sum()
}

/// 26.7 s from the first submission to the last end. Tasks read what they did: by the log's JSON 21,578,670 B of the table
/// in Parquet and 572,867 B of that in CSV. The workers' interfaces received 14 to 20 MB in two runs at this rate, of
/// which are 2.7 MB of shuffles, what executors fetched of the broadcast table, and blocks of HDFS.
#[test]
fn a_recorded_query_is_reproduced() {
    let (imported, result) = recorded_with("sql-50mbit.zstd", CLUSTER);
    assert_eq!(imported.recorded.took, 26.715);
    assert!((took(&result) / imported.recorded.took - 1.0).abs() < 0.1, "{:.2} s", took(&result));
    let read: Bytes = spark(&result).tasks.iter().map(|task| task.input_local + task.input_remote).sum();
    assert_eq!(read, Bytes::new(21_578_670 + 572_867));
    let far = remote(&scan(&result));
    assert!((Bytes::from_mib(3)..Bytes::from_mib(13)).contains(&far), "{far}");
}

/// At a tenth of the rate a task of the scan takes as long at least as its node's link does for what stands elsewhere, and
/// the application is longer by some of that.
#[test]
fn a_slower_network_holds_a_recorded_query_up() {
    let (_, fast) = recorded_with("sql-50mbit.zstd", CLUSTER);
    let (_, slow) = recorded_with("sql-50mbit.zstd", &CLUSTER.replace("50 Mbit/s", "5 Mbit/s"));
    let waited = |result: &RunResult| -> f64 { scan(result).iter().map(|task| task.input_wait.as_secs_f64()).sum() };
    assert!(remote(&scan(&slow)) > Bytes::from_mib(3));
    for task in scan(&slow) {
        let took = task.finish.expect("an end").saturating_sub(task.launch).as_secs_f64();
        let least = task.input_remote.get() as f64 * 8.0 / 5e6;
        assert!(took >= least, "{took:.1} s for {}, at least {least:.1} s", task.input_remote);
    }
    assert!(waited(&slow) > waited(&fast) + 3.0, "{:.1} s, {:.1} s", waited(&slow), waited(&fast));
    assert!(took(&slow) > took(&fast) + 1.0, "{:.1} s, {:.1} s", took(&slow), took(&fast));
}
