//! Adaptive execution of SQL: how many tasks partitions become, by hand from what map statuses tell of blocks, and what
//! that changes of times.

use crate::spark::{run, spark, took};
use crate::spark_loss::near;
use results::{RunResult, SparkTask};
use units::{Bytes, Time};

/// Four map tasks write 20 MB each: a block of 100,000 bytes for each of 200 partitions, each of 20 ms of work.
const QUERY: &str = r#"
[[spark.stage]]
name = "map"
tasks = 4
sql = true
shuffle-write = "80 MB"
[[spark.stage]]
name = "reduce"
parents = ["map"]
tasks = 200
sql = true
work = "20 ms"
output = "4 MB"
"#;

/// Partitions and tasks of a stage.
fn shape(result: &RunResult, stage: usize) -> (u32, u32) {
    let stage = &spark(result).stages[stage];
    (stage.partitions, stage.tasks)
}

/// The tasks of a stage that ended well, by their places.
fn tasks(result: &RunResult, stage: usize) -> Vec<SparkTask> {
    let done = |task: &&SparkTask| task.stage == stage && task.ended.name() == "Success";
    let mut tasks: Vec<SparkTask> = spark(result).tasks.iter().filter(done).copied().collect();
    tasks.sort_by_key(|task| task.index);
    tasks
}

fn read(result: &RunResult, stage: usize) -> Vec<u64> {
    tasks(result, stage).iter().map(|task| (task.shuffle_local + task.shuffle_remote).get()).collect()
}

/// A block of 100,000 bytes is told as 101,979, a partition as four times that, and a core's part of 200 of these is 50:
/// four tasks of a second read a quarter each. The driver takes 10 ms for each launch and each end.
#[test]
fn partitions_become_as_many_tasks_as_cores() {
    let costs = ["spark.launch-cost=10 ms", "spark.status-cost=10 ms"];
    let joined = run(QUERY, &costs);
    assert_eq!((shape(&joined, 0), shape(&joined, 1)), ((4, 4), (200, 4)));
    assert_eq!(read(&joined, 1), [20_000_000; 4]);
    assert!(tasks(&joined, 1).iter().all(|task| task.output == Bytes::from_mb(1)));
    // 15 MB come in over each link at 1 Gbit/s in 0.12 s, while the tasks work.
    assert!(took(&joined) > 1.0 && took(&joined) < 1.5, "{}", took(&joined));
    // 200 tasks keep the driver busy for 4 s.
    let single = run(QUERY, &[&costs[..], &["spark.adaptive=false"]].concat());
    assert_eq!(shape(&single, 1), (200, 200));
    assert!(took(&single) > 4.0, "{}", took(&single));
    for off in ["spark.adaptive-coalesce-partitions=false", "spark.stage.1.sql=false"] {
        assert_eq!(shape(&run(QUERY, &[off]), 1), (200, 200), "{off}");
    }
}

/// As many tasks as there are cores, two at least, while a task reads a MiB: a partition is told as 407,916 bytes.
#[test]
fn tasks_are_as_many_as_cores_and_read_a_megabyte() {
    let tasks = |sets: &[&str]| shape(&run(QUERY, sets), 1).1;
    // A core's part is 25 partitions.
    assert_eq!(tasks(&["spark.executor-cores=2", "node.cores=2"]), 8);
    // Of a single core two tasks.
    assert_eq!(tasks(&["cluster.workers=1"]), 2);
    // With 400 cores a task reads a MiB at least, which three partitions are and two are not; the last two, which are less,
    // go to the three before.
    assert_eq!(tasks(&["spark.executor-cores=100", "node.cores=100"]), 66);
    // Without such a least no two partitions are a core's part.
    assert_eq!(tasks(&["spark.executor-cores=100", "node.cores=100", "spark.adaptive-min-partition-size=1 KiB"]), 200);
    // As much as is advised: 64 MiB hold 164 partitions; 4 MB nine, by what is told, where ten have 4 MB.
    assert_eq!(tasks(&["spark.adaptive-parallelism-first=false"]), 2);
    let advised =
        run(QUERY, &["spark.adaptive-parallelism-first=false", "spark.adaptive-advisory-partition-size=4 MB"]);
    // The two that are left, less than a MiB, go to the nine before.
    assert_eq!(shape(&advised, 1), (200, 22));
    assert_eq!((read(&advised, 1)[0], read(&advised, 1)[21]), (3_600_000, 4_400_000));
}

/// One of eight partitions has 70 % of the bytes: it has a task for itself, its neighbours share one. What a task does is
/// what its partitions ask for, in whatever way the stage says it; the empty ones at the end are nobody's.
#[test]
fn a_large_partition_stays_alone() {
    let stages = r#"
[[spark.stage]]
name = "map"
tasks = 2
sql = true
shuffle-write = "20 MB"
[[spark.stage]]
name = "reduce"
parents = ["map"]
tasks = 10
sql = true
shares = [5, 5, 5, 70, 5, 5, 3, 2, 0, 0]
works = ["1 s", "2 s", "3 s", "4 s", "5 s", "6 s", "7 s", "8 s", "9 s", "10 s"]
shuffle-writes = ["1 MB", "2 MB", "3 MB", "4 MB", "5 MB", "6 MB", "7 MB", "8 MB", "0 B", "0 B"]
outputs = ["1 B", "2 B", "4 B", "8 B", "16 B", "32 B", "64 B", "128 B", "256 B", "512 B"]
spill = "10 MB"
[[spark.stage]]
name = "last"
parents = ["reduce"]
tasks = 1
sql = true
"#;
    let result = run(stages, &[]);
    // Of the four cores' part of 5 MB and some the first three partitions have 3 MB, the last five 3 MB.
    assert_eq!((shape(&result, 1), read(&result, 1)), ((10, 3), vec![3_000_000, 14_000_000, 3_000_000]));
    let of = |task: &SparkTask| (task.shuffle_write.get() / 1_000_000, task.output.get(), task.spill.get() / 1_000_000);
    let done: Vec<_> = tasks(&result, 1).iter().map(of).collect();
    assert_eq!(done, [(6, 7, 3), (4, 8, 1), (26, 1_008, 6)]);
    let worked = |task: &SparkTask| task.end.expect("an end").saturating_sub(task.start.expect("a start"));
    let worked: Vec<f64> = tasks(&result, 1).iter().map(worked).map(Time::as_secs_f64).collect();
    for (worked, expected) in worked.iter().zip([6.0, 4.0, 45.0]) {
        near(*worked, expected, 0.3);
    }
    assert_eq!(read(&result, 2), [36_000_000]);
}

/// Sides of a join are joined alike, by the sum of their parts: each partition has 8 blocks, told as 101,979 and 5,313.
#[test]
fn shuffles_that_are_read_together_are_joined_alike() {
    let stages = QUERY.replace(
        "[[spark.stage]]\nname = \"reduce\"\nparents = [\"map\"]",
        "[[spark.stage]]\nname = \"side\"\ntasks = 4\nsql = true\nshuffle-write = \"4 MB\"\n\
         [[spark.stage]]\nname = \"join\"\nparents = [\"map\", \"side\"]",
    );
    let advised = |size: &str| {
        let settings = "spark.adaptive-parallelism-first=false spark.adaptive-min-partition-size=1KB";
        format!("{settings} spark.adaptive-advisory-partition-size={size}")
    };
    let run = |stages: &str, size: &str| run(stages, &advised(size).split(' ').collect::<Vec<_>>());
    let result = run(&stages, "1300KB");
    // 429,168 bytes a partition: three are 1,287,504, and of the larger side alone three are 1,223,748.
    assert_eq!(shape(&result, 2), (200, 67));
    assert_eq!(read(&result, 2)[..2], [1_260_000; 2]);
    assert_eq!((shape(&run(&stages, "1250KB"), 2), shape(&run(QUERY, "1250KB"), 1)), ((200, 100), (200, 67)));
}

/// Nodes are preferred by the partitions that there were: with 1,000 of them nobody computes preferences, however few
/// tasks they become. And map statuses have all their sizes: four executors get 4 x (40 + 900) bytes and some.
#[test]
fn what_depends_on_the_number_of_partitions_still_does() {
    let localities = |partitions: u32| {
        let result = run(QUERY, &[&format!("spark.stage.1.tasks={partitions}")]);
        assert_eq!(shape(&result, 1), (partitions, 4));
        tasks(&result, 1).iter().map(|task| task.locality.name()).collect::<Vec<_>>()
    };
    assert_eq!(localities(1_000), ["PROCESS_LOCAL"; 4]);
    assert_eq!(localities(999), ["NODE_LOCAL"; 4]);
    let told = |partitions: u32| -> u64 {
        let result = run(QUERY, &[&format!("spark.stage.1.tasks={partitions}")]);
        result
            .flows
            .iter()
            .filter(|flow| flow.service == "spark")
            .map(|flow| (flow.bytes + flow.bytes_back).get())
            .sum()
    };
    assert_eq!(told(900) - told(200), 4 * 4 * 700);
}

/// Stages of queries are jobs, in the order in which they are submitted. A shuffle of four tasks of a second and one of
/// eight are, at once; what reads the first is submitted after a second, behind both. Where all are one job it comes before
/// the second, as it is listed.
#[test]
fn shuffles_that_were_submitted_before_get_cores_first() {
    let stages = |sql: bool| {
        let stage = |name: &str, tasks: u32, parents: &str| {
            format!(
                "[[spark.stage]]\nname = \"{name}\"\n{parents}tasks = {tasks}\nwork = \"1 s\"\nsql = {sql}\n\
                 shuffle-write = \"40 MB\"\n"
            )
        };
        stage("first", 4, "") + &stage("reader", 4, "parents = [\"first\"]\n") + &stage("second", 8, "")
    };
    let ends = |sql: bool| {
        let result = run(&stages(sql), &["spark.locality-wait=0 s"]);
        let end = |stage: usize| spark(&result).stages[stage].finish.expect("an end").as_secs_f64();
        [end(0), end(1), end(2)].map(f64::round)
    };
    assert_eq!(ends(true), [1.0, 4.0, 3.0]);
    assert_eq!(ends(false), [1.0, 3.0, 4.0]);
}

/// Queries that Spark 4.1.1 itself ran on four cores with 200 partitions, by what their map tasks wrote. Its sizes of
/// partitions differ a little, where those of the model are alike and are all rounded alike: up to a tenth.
#[test]
fn recorded_queries_become_as_many_tasks() {
    let advised: &[&str] = &["spark.adaptive-parallelism-first=false", "spark.adaptive-advisory-partition-size=2 MiB"];
    let stage = |name: &str, writes: &[u64]| {
        let writes: Vec<String> = writes.iter().map(|bytes| format!("\"{bytes} B\"")).collect();
        let (tasks, writes) = (writes.len(), writes.join(", "));
        format!("[[spark.stage]]\nname = \"{name}\"\ntasks = {tasks}\nsql = true\nshuffle-writes = [{writes}]\n")
    };
    let reader =
        |parents: &str| format!("[[spark.stage]]\nname = \"reader\"\nparents = [{parents}]\ntasks = 200\nsql = true\n");
    let one = |writes: &[u64]| stage("maps", writes) + &reader("\"maps\"");
    let large = [9_637_582, 9_663_001, 9_699_931, 9_804_150];
    let sides = stage("left", &[6_464_218, 6_464_881, 6_569_405])
        + &stage("right", &[996_248, 996_046, 995_032, 1_167_036, 995_089])
        + &reader("\"left\", \"right\"");
    let cases: [(String, &[&str], f64); 4] = [
        (one(&[157_770, 157_076, 157_770, 157_076]), &[], 1.0),
        (one(&large), &[], 4.0),
        (one(&large), advised, 20.0),
        (sides, advised, 12.0),
    ];
    for (stages, sets, recorded) in cases {
        let result = run(&stages, sets);
        let tasks = spark(&result).stages.last().expect("a stage").tasks;
        near(f64::from(tasks), recorded, recorded * 0.1);
    }
}

/// A second job reads 5 minutes later, when the driver knows that a node is lost: three cores, for which the partitions are
/// 67, 67 and 66. What the node had written is written anew before. Where a node dies as its task works, what it had and
/// its output are made again, by as many tasks.
#[test]
fn lost_executors_leave_fewer_tasks() {
    let later = QUERY.replace("name = \"reduce\"", "name = \"reduce\"\njob = 1");
    let crash = |at: &str| format!("[[faults]]\nat = \"{at}\"\nnode = \"worker-1\"\n");
    let result = run(&format!("pause = [\"0 s\", \"300 s\"]\n{later}{}", crash("10 s")), &[]);
    let app = spark(&result);
    assert_eq!((app.lost, app.stages[0].attempts, shape(&result, 1)), (1, 2, (200, 3)));
    let result = run(&format!("pause = [\"0 s\", \"300 s\"]\n{later}{}", crash("300700 ms")), &[]);
    let app = spark(&result);
    assert_eq!((app.lost, app.stages[0].attempts, shape(&result, 1)), (1, 2, (200, 4)));
    assert_eq!(read(&result, 1).iter().sum::<u64>(), 80_000_000);
    assert!(app.tasks.iter().any(|task| task.stage == 1 && task.ended.name() != "Success"));
}

/// A stage that reads files, too, keeps its partitions.
#[test]
fn a_stage_that_reads_files_keeps_its_partitions() {
    let result = run(&format!("{QUERY}input = \"2 MB\"\n"), &[]);
    assert_eq!(shape(&result, 1), (200, 200));
}

/// The same scenario and seed give the same results, with what is joined and split among stages that read the same shuffle.
#[test]
fn joined_partitions_are_the_same_each_time() {
    let stages = format!(
        "{QUERY}[[spark.stage]]\nname = \"other\"\nparents = [\"map\", \"reduce\"]\ntasks = 13\n\
         [[spark.stage]]\nname = \"third\"\njob = 1\nparents = [\"map\"]\ntasks = 300\nsql = true\n"
    );
    let (one, other) = (run(&stages, &["spark.speculation=true"]), run(&stages, &["spark.speculation=true"]));
    assert_eq!(results::to_json(&one), results::to_json(&other));
    assert_eq!((shape(&one, 2), shape(&one, 3)), ((13, 13), (300, 4)));
}
