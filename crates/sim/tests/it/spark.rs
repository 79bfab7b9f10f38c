//! Applications of Spark: times that follow by hand, bytes that are conserved, and recorded ones predicted.

use history::spark::SparkImported;
use results::{JobState, RunResult, SparkApplication};
use units::Bytes;

/// Four workers of one core at 1 Gbit/s, a driver that takes no time.
const CLUSTER: &str = r#"
[cluster]
workers = 4
[node]
cores = 1
[network]
rate = "1 Gbit/s"
[spark]
launch-cost = "0 s"
status-cost = "0 s"
"#;

/// On that cluster, in whose `[spark]` the text begins. Books close.
pub fn run(stages: &str, sets: &[&str]) -> RunResult {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    let scenario = sim::parse("spark.toml", &format!("{CLUSTER}{stages}"), &sets).expect("a scenario");
    let result = sim::run(&scenario, &mut |_| std::ops::ControlFlow::Continue(())).expect("a result");
    for balance in &result.ledger {
        let accounted: u64 = balance.accounted.iter().map(|(_, bytes)| bytes).sum();
        assert_eq!(balance.offered, accounted, "{}: {:?}", balance.what, balance.accounted);
    }
    result
}

pub fn spark(result: &RunResult) -> &SparkApplication {
    let spark = result.spark.as_ref().expect("an application");
    assert_eq!(spark.state, JobState::Succeeded, "{}", spark.reason);
    spark
}

pub fn took(result: &RunResult) -> f64 {
    spark(result).took().expect("an end").as_secs_f64()
}

fn near(value: f64, expected: f64, within: f64) {
    assert!((value / expected - 1.0).abs() < within, "{value}, expected {expected}");
}

/// Eight tasks of a second on four cores: two waves. Messages take a few round trips of 0.1 ms.
#[test]
fn tasks_run_in_waves() {
    let stage = "[[spark.stage]]\nname = \"a\"\ntasks = 8\nwork = \"1 s\"\n";
    near(took(&run(stage, &[])), 2.0, 0.005);
    near(took(&run(stage, &["spark.executor-cores=2", "node.cores=2"])), 1.0, 0.005);
    // Two tasks at once on a core take twice as long.
    near(took(&run(stage, &["spark.executor-cores=2"])), 2.0, 0.005);
    // The driver's thread launches and ends one task after the other: 16 messages of 0.1 s, the last launch of a wave
    // 0.4 s after the first.
    let slow = run(stage, &["spark.launch-cost=100 ms", "spark.status-cost=100 ms"]);
    assert!(took(&slow) > 2.0 + 2.0 * 0.4 && took(&slow) < 2.0 + 1.6 + 0.05, "{}", took(&slow));
}

/// Four map tasks write 10 MB each; each of four reduce tasks reads 2.5 MB of each of them. 7.5 MB come in and go out
/// over each worker's link at 10 Mbit/s: 6.0 s, and 6.3 s with 40 bytes of headers to 1,448 of payload and 38 of
/// Ethernet. The last three blocks come together and are worked on for 50 ms each.
pub const SHUFFLE: &str = r#"
[[spark.stage]]
name = "map"
tasks = 4
shuffle-write = "40 MB"
[[spark.stage]]
name = "reduce"
parents = ["map"]
tasks = 4
work-per-mb = "20 ms"
"#;

#[test]
fn a_shuffle_takes_what_its_bytes_need_on_the_links() {
    let result = run(SHUFFLE, &["network.rate=10 Mbit/s"]);
    let application = spark(&result);
    assert_eq!((application.shuffle_local(), application.shuffle_remote()), (Bytes::from_mb(10), Bytes::from_mb(30)));
    // TCP connections that share a link do not end together: then some links idle before the last is done.
    assert!(took(&result) > 6.3 && took(&result) < 6.3 * 1.3, "{}", took(&result));
    // A task waits while its bytes come, but for the work on those that have come: 10 MB, 20 ms each.
    for task in application.tasks.iter().filter(|task| task.stage == 1) {
        let waited = task.fetch_wait.as_secs_f64();
        assert!(waited > 6.0 - 0.2 && waited < took(&result), "{waited}");
    }
    // As flows, which share links more evenly.
    near(took(&run(SHUFFLE, &["network.rate=10 Mbit/s", "run.fidelity=flow"])), 6.3 + 0.15, 0.08);
}

/// With 1 KB in flight a task asks for one block after the other: each of its 12 blocks waits for the one before.
#[test]
fn fewer_bytes_in_flight_make_a_shuffle_slower() {
    let far = ["network.rate=100 Mbit/s", "network.delay=10 ms"];
    let wide = took(&run(SHUFFLE, &far));
    let narrow = took(&run(SHUFFLE, &[&far[..], &["spark.reducer-max-size-in-flight=1 KB"]].concat()));
    assert!(narrow > wide * 1.5, "{narrow} s with 1 KB, {wide} s with 48 MiB in flight");
    let one = took(&run(SHUFFLE, &[&far[..], &["spark.reducer-max-reqs-in-flight=1"]].concat()));
    assert!(one > wide * 1.2, "{one} s with one request, {wide} s without a bound");
}

/// Every byte that a map task writes is read once by each stage that reads it, on the same node or over the network.
#[test]
fn bytes_are_conserved_and_runs_are_the_same() {
    let stages = format!(
        "{SHUFFLE}shares = [5, 1, 0, 1]\nspill = \"30 MB\"\nshuffle-writes = [\"3 MB\", \"0 B\", \"1 B\", \"7 MB\"]\n\
         [[spark.stage]]\nname = \"again\"\njob = 1\nparents = [\"map\", \"reduce\"]\ntasks = 7\noutput = \"9 MB\"\n\
         output-to = \"hdfs\"\ninput = \"14 MB\"\ninput-from = \"hdfs\"\n"
    );
    let result = run(&stages, &["spark.executors=2", "spark.pause=[\"1 s\", \"2 s\"]"]);
    let application = spark(&result);
    assert_eq!(result.violations().count(), 0);
    let names: Vec<_> = result.ledger.iter().filter(|law| law.what.contains("offered")).collect();
    assert_eq!(names.len(), 3, "{names:?}");
    assert!(names.iter().all(|law| law.accounted.iter().all(|(what, bytes)| what != "never fetched" || *bytes == 0)));
    let all = application.shuffle_local() + application.shuffle_remote();
    assert_eq!(all, Bytes::new(40_000_000 + 40_000_000 + 10_000_001));
    let input: Bytes = application.tasks.iter().map(|task| task.input_local + task.input_remote).sum();
    assert_eq!(input, Bytes::from_mb(14));
    let first = application.jobs[0];
    let second = application.jobs[1];
    let gap = second.submit.expect("it ran").as_secs_f64() - first.finish.expect("it ended").as_secs_f64();
    near(gap, 2.0, 1e-6);
    near(first.submit.expect("it ran").as_secs_f64(), 1.0, 1e-6);
    let again = run(&stages, &["spark.executors=2", "spark.pause=[\"1 s\", \"2 s\"]"]);
    assert_eq!(results::to_json(&result), results::to_json(&again));
}

/// Input in HDFS is read where its replicas are, while cores there are free.
#[test]
fn tasks_run_where_their_input_is() {
    let stage =
        "[[spark.stage]]\nname = \"scan\"\ntasks = 16\ninput = \"64 MB\"\ninput-from = \"hdfs\"\nwork = \"500 ms\"\n";
    let local = |sets: &[&str]| {
        let result = run(stage, sets);
        let application = spark(&result);
        application.tasks.iter().filter(|task| task.locality.name() == "NODE_LOCAL").count()
    };
    assert_eq!(local(&["hdfs.replication=4"]), 16);
    let waiting = local(&["hdfs.replication=1"]);
    let hasty = local(&["hdfs.replication=1", "spark.locality-wait=0 s"]);
    assert!(waiting > hasty, "{waiting} local with a wait of 3 s, {hasty} without");
}

/// Each task works for a second. Those that an executor begins before one of the stage has ended there take two more:
/// on four executors of one core 3 s and then 1 s; of two cores both of the first wave, 3 s.
#[test]
fn first_tasks_of_executors_warm_up() {
    let stage = "[[spark.stage]]\nname = \"a\"\ntasks = 8\nwork = \"1 s\"\nwarm-up = \"2 s\"\n";
    near(took(&run(stage, &[])), 4.0, 0.005);
    near(took(&run(stage, &["spark.executor-cores=2", "node.cores=2"])), 3.0, 0.005);
    // On two of the workers alone each executor warms up once: 3 s, then three times 1 s.
    near(took(&run(stage, &["cluster.workers=2"])), 6.0, 0.005);
    // Another stage has other classes.
    let next =
        format!("{stage}[[spark.stage]]\nname = \"b\"\njob = 1\ntasks = 4\nwork = \"1 s\"\nwarm-up = \"500 ms\"\n");
    near(took(&run(&next, &[])), 5.5, 0.005);
}

/// Executors take 2 s to start, once each: the four tasks of the first stage take 3 s, four of the second 1 s. Where the
/// first has two tasks, on two executors, those of the others take 3 s in the second.
#[test]
fn an_executor_starts_once() {
    let stages = |first: u32| {
        let next = "[[spark.stage]]\nname = \"b\"\njob = 1\ntasks = 4\nwork = \"1 s\"\n";
        format!("[[spark.stage]]\nname = \"a\"\ntasks = {first}\nwork = \"1 s\"\n{next}")
    };
    near(took(&run(&stages(4), &["spark.executor-start=2 s"])), 3.0 + 1.0, 0.005);
    near(took(&run(&stages(2), &["spark.executor-start=2 s"])), 3.0 + 3.0, 0.005);
    near(took(&run(&stages(2), &[])), 1.0 + 1.0, 0.005);
}

/// Four executors with a core each on a machine with two: four tasks of a second at once take two.
#[test]
fn executors_share_the_cores_of_their_machine() {
    let stage = "[[spark.stage]]\nname = \"a\"\ntasks = 4\nwork = \"1 s\"\n";
    near(took(&run(stage, &[])), 1.0, 0.005);
    near(took(&run(stage, &["cluster.host.cores=2"])), 2.0, 0.005);
    // Two of them on a machine of its own.
    near(took(&run(stage, &["cluster.host={ cores = 2, nodes = 2, master = false }"])), 1.0, 0.005);
}

/// A recorded log with its cluster, and a run of what it is imported as.
pub fn recorded(log: &str, cluster: &str) -> (SparkImported, RunResult) {
    recorded_with(log, &std::fs::read_to_string(folder().join(cluster)).expect("a cluster"))
}

fn folder() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../history/tests/spark")
}

/// A recorded log, and a run of what it is imported as with the text of a cluster.
pub fn recorded_with(log: &str, cluster: &str) -> (SparkImported, RunResult) {
    let bytes = std::fs::read(folder().join(log)).expect("a log");
    let mut reader = history::spark::LogReader::default();
    reader.feed(history::spark::open(&bytes[..]).expect("known")).expect("read");
    let application = reader.finish().expect("whole");
    let imported = history::spark::import(&application, Some(("cluster", cluster))).expect("imported");
    let scenario = sim::parse(log, &imported.scenario.to_short_toml(), &[]).expect("it can run");
    assert_eq!(scenario.to_toml(), sim::parse(log, &imported.scenario.to_toml(), &[]).expect("whole").to_toml());
    let result = sim::run(&scenario, &mut |_| std::ops::ControlFlow::Continue(())).expect("a result");
    (imported, result)
}

/// Logs that were recorded at 10 Mbit/s: as a whole within 10 %, with the placement of tasks left to the model.
#[test]
fn recorded_applications_are_reproduced() {
    for log in ["wordcount-10mbit.zstd", "sort-10mbit.zstd"] {
        let (imported, result) = recorded(log, "cluster-10mbit.toml");
        near(took(&result), imported.recorded.took, 0.1);
        let moved = spark(&result).shuffle_local() + spark(&result).shuffle_remote();
        let recorded = imported.recorded.shuffle_local + imported.recorded.shuffle_remote;
        near(moved.get() as f64, recorded as f64, 0.01);
    }
}
