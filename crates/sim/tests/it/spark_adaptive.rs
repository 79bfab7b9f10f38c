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

/// A join of a left side, whose map tasks write so many KB each, and a right one of two. Of ten partitions one has 82 % of
/// each side, the others 2 %. Partitions of more than 2.5 MB are split into parts of 640 KB.
fn join(left: &[u32], right: u32, sides: &str) -> String {
    let writes: Vec<String> = left.iter().map(|kb| format!("\"{kb} KB\"")).collect();
    let (tasks, writes) = (left.len(), writes.join(", "));
    format!(
        "adaptive-skewed-partition-threshold = \"2500 KB\"\nadaptive-advisory-partition-size = \"640 KB\"\n\
         adaptive-min-partition-size = \"10 KB\"\npause = [\"0 s\", \"300 s\"]\n\
         [[spark.stage]]\nname = \"left\"\nsql = true\ntasks = {tasks}\nshuffle-writes = [{writes}]\n\
         [[spark.stage]]\nname = \"right\"\nsql = true\ntasks = 2\nshuffle-write = \"{right} KB\"\n\
         [[spark.stage]]\nname = \"join\"\nsql = true\nparents = [\"left\", \"right\"]\ntasks = 10\nskew-join = [{sides}]\n\
         work-per-mb = \"1 s\"\nshares = [1, 1, 1, 41, 1, 1, 1, 1, 1, 1]\noutput = \"10 MB\"\njob = 1\n"
    )
}

/// Eight map tasks of the left side have 410 KB each for the large partition, told as 425,995: no two are a part, so eight
/// tasks read one each, and all 82 KB of the right side. The three partitions before are joined, and the six behind: ten
/// tasks, as many as there were partitions. Work goes with what is read, output is divided.
#[test]
fn skewed_partitions_of_joins_are_split() {
    let stages = join(&[500; 8], 100, "\"left\", \"right\"");
    let result = run(&stages, &[]);
    assert_eq!(shape(&result, 2), (10, 10));
    let whole = |partitions: u64| partitions * (80_000 + 2_000);
    let expected: Vec<u64> = [whole(3)].into_iter().chain([410_000 + 82_000; 8]).chain([whole(6)]).collect();
    assert_eq!(read(&result, 2), expected);
    let outputs: Vec<u64> = tasks(&result, 2).iter().map(|task| task.output.get()).collect();
    assert_eq!(outputs, [&[3_000_000][..], &[125_000; 8], &[6_000_000]].concat());
    for task in &tasks(&result, 2)[1..9] {
        let worked = task.end.expect("an end").saturating_sub(task.start.expect("a start"));
        near(worked.as_secs_f64(), 0.492, 0.05);
    }
    // Seven tasks more read the 82 KB of the right side.
    let offered = |result: &RunResult, side: &str| {
        let of = format!("shuffle of {side} for join: offered, bytes");
        result.ledger.iter().find(|balance| balance.what == of).expect("books").offered
    };
    assert_eq!([offered(&result, "left"), offered(&result, "right")], [4_000_000, 100_000 + 7 * 82_000]);
    // Whole where it may not be split, or is not more than 300 times larger than the median; then three tasks are left.
    for set in ["spark.adaptive-skew-join=false", "spark.adaptive-skewed-partition-factor=300"] {
        assert_eq!(shape(&run(&stages, &[set]), 2), (10, 3), "{set}");
    }
    assert_eq!(shape(&run(&join(&[500; 8], 100, "\"right\""), &[]), 2), (10, 3));
    // Where nothing is joined the other partitions stay as they are.
    assert_eq!(shape(&run(&stages, &["spark.adaptive-coalesce-partitions=false"]), 2), (10, 17));
}

/// Of sixteen map tasks with 205 KB each, told as 218,603, two are a part of 640 KB, and three are not: eight parts. Where
/// both sides have a large partition each part of one is read with each of the other's.
#[test]
fn parts_of_both_sides_are_read_with_each_other() {
    let tasks_of = |left: &[u32], right: u32| shape(&run(&join(left, right, "\"left\", \"right\""), &[]), 2).1;
    assert_eq!(tasks_of(&[250; 16], 100), 1 + 8 + 1);
    let result = run(&join(&[500; 8], 4_000, "\"left\", \"right\""), &[]);
    let split: Vec<u64> = read(&result, 2).into_iter().filter(|bytes| *bytes == 410_000 + 1_640_000).collect();
    assert_eq!(split.len(), 8 * 2);
    let output: u64 = tasks(&result, 2).iter().map(|task| task.output.get()).sum();
    assert_eq!(output, 10_000_000);
}

/// Eight parts of one side with two of the other, the three partitions before as one and the six behind, 960 KB, as two: 19
/// tasks of ten partitions. A stage that is no SQL's reads what each of them wrote, by many tasks.
#[test]
fn a_stage_reads_of_more_tasks_than_there_were_partitions() {
    let after =
        "shuffle-write = \"18 MB\"\n[[spark.stage]]\nname = \"after\"\nparents = [\"join\"]\njob = 1\ntasks = 100\n";
    let result = run(&(join(&[500; 8], 4_000, "\"left\", \"right\"") + after), &[]);
    assert_eq!((shape(&result, 2), shape(&result, 3)), ((10, 19), (100, 100)));
    // A hundredth of each file, but for bytes that are not divisible.
    let of_tasks = read(&result, 3);
    assert_eq!(of_tasks.iter().sum::<u64>(), 18_000_000);
    assert!(of_tasks.iter().all(|bytes| bytes.abs_diff(180_000) < 20), "{of_tasks:?}");
}

/// A node dies as parts are worked on: what it had is made again, and what is read is all the same.
#[test]
fn parts_are_read_again_after_a_loss() {
    let crash = "[[faults]]\nat = \"300300 ms\"\nnode = \"worker-1\"\n";
    let result = run(&(join(&[500; 8], 100, "\"left\"") + crash), &[]);
    let app = spark(&result);
    assert_eq!((app.lost, shape(&result, 2)), (1, (10, 10)));
    assert!(app.stages[0].attempts > 1 && app.tasks.iter().any(|task| task.stage == 2 && task.attempt > 1));
    assert_eq!(read(&result, 2).iter().sum::<u64>(), 4_000_000 + 100_000 + 7 * 82_000);
}

/// Each of 500 map tasks of either side has a part for itself: 250,000 tasks with 1,000 blocks each are too many.
#[test]
fn too_many_parts_fail_the_application() {
    let side = |name: &str| {
        format!("[[spark.stage]]\nname = \"{name}\"\nsql = true\ntasks = 500\nshuffle-write = \"500 MB\"\n")
    };
    let stages = format!(
        "adaptive-skewed-partition-threshold = \"1 MB\"\nadaptive-advisory-partition-size = \"100 KB\"\n{}{}\
         [[spark.stage]]\nname = \"join\"\nsql = true\nparents = [\"left\", \"right\"]\ntasks = 10\n\
         skew-join = [\"left\", \"right\"]\nshares = [0, 0, 0, 1, 0, 0, 0, 0, 0, 0]\n",
        side("left"),
        side("right")
    );
    let result = run(&stages, &[]);
    let app = result.spark.as_ref().expect("an application");
    assert_eq!(app.state, results::JobState::Failed);
    assert!(app.reason.starts_with("stage join: its skewed partitions have more parts"), "{}", app.reason);
}
