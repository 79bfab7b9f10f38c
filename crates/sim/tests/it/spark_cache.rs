//! Data sets that are kept: what stays in memory, what goes, who reads it from where, by hand from Spark's rules.

use crate::spark::{run, spark, took};
use crate::spark_loss::near;
use results::{RunResult, SparkApplication, SparkTask};
use units::Time;

const MB: u64 = 1_000_000;

/// A stage that keeps what its tasks of 10 s compute, so many MB.
fn keeper(name: &str, job: u32, tasks: usize, mb: u64) -> String {
    format!(
        "[[spark.stage]]\nname = \"{name}\"\njob = {job}\ntasks = {tasks}\nwork = \"10 s\"\npersist = \"memory-only\"\n\
         kept-size = \"{mb} MB\"\n"
    )
}

/// A stage of a later job whose tasks of a second read it.
fn reader(of: &str, job: u32, tasks: usize) -> String {
    format!("[[spark.stage]]\nname = \"{of}-{job}\"\njob = {job}\ntasks = {tasks}\nwork = \"1 s\"\nreads = \"{of}\"\n")
}

/// What of a data set that was computed to be kept is in memory, on disk, without room, evicted, and lost.
fn kept(result: &RunResult, name: &str) -> [u64; 5] {
    parts(result, &format!("kept of {name}: computed, bytes"))
}

/// What of what tasks wanted of it they read from own memory, own disk, other executors, computed anew, and did not read.
fn wanted(result: &RunResult, name: &str) -> [u64; 5] {
    parts(result, &format!("kept of {name}: wanted, bytes"))
}

fn parts(result: &RunResult, what: &str) -> [u64; 5] {
    let books = result.ledger.iter().find(|balance| balance.what == what).expect("books");
    let parts: Vec<u64> = books.accounted.iter().map(|(_, bytes)| *bytes / MB).collect();
    parts.try_into().expect("five parts")
}

/// How long a job took.
fn job(app: &SparkApplication, job: usize) -> f64 {
    let job = app.jobs[job];
    (job.finish.expect("an end") - job.submit.expect("a begin")).as_secs_f64()
}

fn of(app: &SparkApplication, stage: usize) -> Vec<SparkTask> {
    let mut tasks: Vec<SparkTask> = app.tasks.iter().filter(|task| task.stage == stage).copied().collect();
    tasks.sort_by_key(|task| task.index);
    tasks
}

/// One worker of one core.
const ALONE: [&str; 2] = ["cluster.workers=1", "spark.storage-memory=250 MB"];

/// Each executor has what its own task has computed: four tasks of a second take a second. Where they had no room, each
/// computes it again, for ten, and has no room again.
#[test]
fn tasks_run_where_their_partitions_are() {
    let text = keeper("a", 0, 4, 400) + &reader("a", 1, 4) + &reader("a", 2, 4);
    let result = run(&text, &[]);
    let app = spark(&result);
    near(job(app, 0), 10.0, 0.01);
    near(job(app, 1), 1.0, 0.01);
    assert_eq!((kept(&result, "a"), wanted(&result, "a")), ([400, 0, 0, 0, 0], [800, 0, 0, 0, 0]));
    for (kept, read) in of(app, 0).iter().zip(of(app, 1)) {
        assert_eq!((read.executor, read.locality.name()), (kept.executor, "PROCESS_LOCAL"));
        assert_eq!(read.cached_local.get(), 100 * MB);
    }
    let result = run(&text, &["spark.storage-memory=99 MB"]);
    near(job(spark(&result), 1), 10.0 + 1.0, 0.01);
    near(job(spark(&result), 2), 10.0 + 1.0, 0.01);
    assert_eq!((kept(&result, "a"), wanted(&result, "a")), ([0, 0, 1200, 0, 0], [0, 0, 0, 800, 0]));
}

/// Spark says of an executor of 1 GiB that its memory store has 434.4 MiB: (1024 - 300) MiB x 0.6 = 455,501,414 B.
#[test]
fn memory_for_data_sets_is_as_spark_has_it() {
    let time = |kept: u64, sets: &[&str]| {
        let kept = format!("spark.stage.0.kept-size={kept} B");
        let sets = [&["cluster.workers=1", &kept], sets].concat();
        job(spark(&run(&(keeper("a", 0, 1, 1) + &reader("a", 1, 1)), &sets)), 1)
    };
    near(time(455_501_414, &[]), 1.0, 0.01);
    near(time(455_501_415, &[]), 11.0, 0.01);
    // 2 GiB and half of it: (2048 - 300) MiB x 0.5.
    let larger = ["spark.executor-memory=2 GiB", "spark.memory-fraction=0.5"];
    near(time(874 << 20, &larger), 1.0, 0.01);
    near(time((874 << 20) + 1, &larger), 11.0, 0.01);
}

/// In 250 MB are `a` and `b` of 100 MB each; `a` is read. `c` of 100 MB takes the place of `b`, which is the one that was
/// used least recently. Reading `b` computes it anew, in the place of `a`, of which the same holds then.
#[test]
fn the_least_recently_used_goes_first() {
    let text = keeper("a", 0, 1, 100) + &keeper("b", 1, 1, 100) + &reader("a", 2, 1) + &keeper("c", 3, 1, 100);
    let text = text + &reader("a", 4, 1) + &reader("c", 5, 1) + &reader("b", 6, 1) + &reader("c", 7, 1);
    let result = run(&text, &ALONE);
    let times: Vec<f64> = (2..8).map(|number| job(spark(&result), number)).collect();
    for (time, expected) in times.iter().zip([1.0, 10.0, 1.0, 1.0, 11.0, 1.0]) {
        near(*time, expected, 0.01);
    }
    assert_eq!(kept(&result, "a"), [0, 0, 0, 100, 0]);
    assert_eq!(kept(&result, "b"), [100, 0, 0, 100, 0]);
    assert_eq!(kept(&result, "c"), [100, 0, 0, 0, 0]);
    assert_eq!(wanted(&result, "b"), [0, 0, 0, 100, 0]);
}

/// Of four partitions of 100 MB two have room in 250 MB, the first two: none goes for others of its data set. One of
/// another takes the place of the first of them. One of 160 MB would need both places and 10 MB more: nothing goes.
#[test]
fn a_data_set_does_not_evict_itself() {
    let text = keeper("a", 0, 4, 400) + &keeper("b", 1, 2, 0) + &reader("a", 2, 4) + &reader("b", 3, 2);
    let text = text.replace("kept-size = \"0 MB\"", "kept-sizes = [\"100 MB\", \"160 MB\"]");
    let result = run(&text, &ALONE);
    // Reading `a`: its second partition is there. The first is computed anew and takes the place of `b`'s; the others have
    // no room again. Reading `b` then computes its first anew, in the place of the second of `a`, which was used before
    // the first; for its second there is still no room.
    assert_eq!((kept(&result, "a"), wanted(&result, "a")), ([100, 0, 400, 200, 0], [100, 0, 0, 300, 0]));
    assert_eq!((kept(&result, "b"), wanted(&result, "b")), ([100, 0, 320, 100, 0], [0, 0, 0, 260, 0]));
}

/// With a level that has disks nothing is computed again: what has no room, and what goes, is on disk.
#[test]
fn what_has_no_room_in_memory_is_on_disk() {
    let text = keeper("a", 0, 4, 400) + &keeper("b", 1, 1, 100) + &reader("a", 2, 4) + &reader("b", 3, 1);
    let on_disk = text.replace("memory-only", "memory-and-disk");
    let result = run(&on_disk, &ALONE);
    assert_eq!((kept(&result, "a"), kept(&result, "b")), ([100, 300, 0, 0, 0], [100, 0, 0, 0, 0]));
    assert_eq!((wanted(&result, "a"), wanted(&result, "b")), ([100, 300, 0, 0, 0], [100, 0, 0, 0, 0]));
    // On disk alone, at 10 MB/s each way, with a page cache of 16 MiB. The first of two partitions of 100 MB is taken at
    // once; the second, a second later, waits until all but a fifth of the memory is written: some 10 s. To read both takes
    // 20 s, beside 10 s in which the second is written, and their tasks two.
    let slow = "[[node.disk]]\nread = \"10 MB/s\"\nwrite = \"10 MB/s\"\n";
    let text = (keeper("a", 0, 2, 200) + &reader("a", 1, 2)).replace("memory-only", "disk-only");
    let text = text.replace("work = \"10 s\"", "work = \"1 s\"");
    let result = run(&(text + slow), &["cluster.workers=1", "node.memory=16 MiB"]);
    assert_eq!((kept(&result, "a"), wanted(&result, "a")), ([0, 200, 0, 0, 0], [0, 200, 0, 0, 0]));
    let app = spark(&result);
    assert!(job(app, 0) > 1.0 + 9.0 && job(app, 0) < 1.0 + 10.5, "{}", job(app, 0));
    assert!(job(app, 1) > 20.0 && job(app, 1) < 2.0 + 20.0 + 11.0, "{}", job(app, 1));
}

/// One executor computes two partitions, while the other computes one for 25 s. In the next job the first has a task of
/// 60 s on its first partition. For the second a core of the other is free after a second; it waits 3 s for the executor
/// (`spark.locality.wait.process`), 3 s for its node, and then runs on the other, which gets 100 MB at 1 Gbit/s.
#[test]
fn a_partition_is_read_from_another_executor() {
    let keep = keeper("a", 0, 3, 300).replace("work = \"10 s\"", "works = [\"1 s\", \"25 s\", \"1 s\"]");
    let read = reader("a", 1, 3).replace("work = \"1 s\"", "works = [\"60 s\", \"1 s\", \"1 s\"]");
    let late = |sets: &[&str]| {
        let result = run(&(keep.clone() + &read), &[&["cluster.workers=2"], sets].concat());
        let app = spark(&result);
        let tasks = of(app, 1);
        assert_eq!(wanted(&result, "a"), [200, 0, 100, 0, 0]);
        assert_eq!((tasks[2].locality.name(), tasks[2].cached_remote.get()), ("ANY", 100 * MB));
        assert!(tasks[2].executor == tasks[1].executor && tasks[2].executor != tasks[0].executor);
        let took = tasks[2].end.expect("an end") - tasks[2].launch;
        // 52 bytes of headers and 38 of Ethernet to 1,448: 5.2 % more than 0.8 s, and the work of a second.
        near(took.as_secs_f64(), 1.0 + 0.8 * 1.052, 0.06);
        assert!(tasks[2].input_wait > Time::from_ms(800));
        (tasks[2].launch - app.jobs[1].submit.expect("a begin")).as_secs_f64()
    };
    near(late(&[]), 3.0 + 3.0, 0.01);
    near(late(&["spark.locality-wait-process=0 s"]), 3.0, 0.01);
    near(late(&["spark.locality-wait=1 s", "spark.locality-wait-node=4 s"]), 1.0 + 4.0, 0.01);
}

/// A node dies between two jobs with a partition. Its task is launched there, as the driver does not know it; once the
/// Master has dropped the Worker, after 60 to 120 s, another executor computes the partition anew and keeps it.
#[test]
fn a_lost_executor_loses_what_it_keeps() {
    let text = keeper("a", 0, 4, 40) + &reader("a", 1, 4) + &reader("a", 2, 4);
    let fault = "[[faults]]\nat = \"15 s\"\nnode = \"worker-2\"\n";
    let result = run(&format!("pause = [\"0 s\", \"10 s\"]\n{text}{fault}"), &[]);
    let app = spark(&result);
    assert_eq!((kept(&result, "a"), app.lost), ([40, 0, 0, 0, 10], 1));
    // That of the task that was never heard of again did not look for it: nobody told it to.
    assert_eq!(wanted(&result, "a"), [30 + 40, 0, 0, 10, 0]);
    let lost = app.tasks.iter().find(|task| task.ended.name() == "ExecutorLostFailure").expect("a task");
    let at = lost.finish.expect("an end");
    let begin = app.jobs[1].submit.expect("a begin");
    assert!(at - begin > Time::from_secs(40), "{at:?}");
    near(job(app, 1), (at - begin).as_secs_f64() + 10.0 + 1.0, 0.1);
    // Two partitions are with one executor of three.
    near(job(app, 2), 2.0, 0.1);
}

/// What a stage computes of a shuffle has no room: who reads it reads the shuffle again. Where it has, the shuffle is
/// read once, and its blocks are never fetched by the second stage.
#[test]
fn a_lineage_with_a_shuffle_is_read_again() {
    let map = "[[spark.stage]]\nname = \"map\"\ntasks = 4\nshuffle-write = \"40 MB\"\n";
    let text =
        map.to_owned() + &keeper("a", 0, 4, 40).replace("persist", "parents = [\"map\"]\npersist") + &reader("a", 1, 4);
    let shuffled = |sets: &[&str]| {
        let result = run(&text, sets);
        let app = spark(&result);
        assert_eq!(app.stages[0].attempts, 1);
        (app.shuffle_local() + app.shuffle_remote()).get() / MB
    };
    assert_eq!(shuffled(&[]), 40);
    assert_eq!(shuffled(&["spark.storage-memory=1 MB"]), 80);
    // Its node takes output of the maps with it, and its partition: the map runs anew, and then the partition.
    let fault = "[[faults]]\nat = \"15 s\"\nnode = \"worker-2\"\n";
    let result = run(&format!("pause = [\"0 s\", \"10 s\"]\n{text}{fault}"), &[]);
    let app = spark(&result);
    assert_eq!((kept(&result, "a"), wanted(&result, "a")[3]), ([40, 0, 0, 0, 10], 10));
    assert!(app.stages[0].attempts == 2 && app.stages[2].attempts >= 2, "{:?}", app.stages);
    assert!(took(&result) > 60.0);
    let again = run(&format!("pause = [\"0 s\", \"10 s\"]\n{text}{fault}"), &[]);
    assert_eq!(results::to_json(&result), results::to_json(&again));
}

/// Input in files is read again, too, with its replicas' nodes as the tasks' preference.
#[test]
fn a_lineage_with_input_is_read_again() {
    let keep = keeper("a", 0, 4, 40).replace("persist", "input = \"80 MB\"\ninput-from = \"hdfs\"\npersist");
    let input = |sets: &[&str]| {
        let result = run(&(keep.clone() + &reader("a", 1, 4)), &[&["hdfs.replication=4"], sets].concat());
        let app = spark(&result);
        let read = of(app, 1).iter().map(|task| (task.input_local + task.input_remote).get() / MB).sum::<u64>();
        let near = of(app, 1).iter().filter(|task| task.locality.name() == "NODE_LOCAL").count();
        (read, near)
    };
    assert_eq!(input(&[]), (0, 0));
    assert_eq!(input(&["spark.storage-memory=1 MB"]), (80, 4));
}

/// Two data sets, one of a shuffle, in a memory that is too small for both, are read twice at 20 Mbit/s with broadcasts, by
/// executors that copy slow tasks and of which one is lost: at any time the application ends, and its books close.
#[test]
fn books_close_whenever_an_executor_is_lost() {
    let stage = |name: &str, job: u32, keys: &str| {
        format!("[[spark.stage]]\nname = \"{name}\"\njob = {job}\nwork = \"1 s\"\nbroadcast = \"3 MB\"\n{keys}\n")
    };
    let text = "speculation = true\nspeculation-quantile = 0.5\nstorage-memory = \"8 MB\"\nlocality-wait = \"1 s\"\n\
                broadcast-block-size = \"1 MiB\"\npause = [\"0 s\", \"5 s\", \"50 s\"]\n"
        .to_owned()
        + &stage("map", 0, "tasks = 6\nshuffle-write = \"12 MB\"")
        + &stage("a", 0, "tasks = 7\nparents = [\"map\"]\npersist = \"memory-only\"\nkept-size = \"14 MB\"")
        + &stage(
            "b",
            0,
            "tasks = 5\ninput = \"10 MB\"\ninput-from = \"hdfs\"\npersist = \"memory-and-disk\"\nkept-size = \"15 MB\"",
        )
        + &stage("a-1", 1, "tasks = 7\nreads = \"a\"\nshuffle-write = \"5 MB\"")
        + &stage("b-1", 1, "tasks = 5\nreads = \"b\"\nparents = [\"map\"]")
        + &stage("b-2", 2, "tasks = 5\nreads = \"b\"\nparents = [\"a-1\"]")
        + &stage("a-2", 2, "tasks = 7\nreads = \"a\"");
    let slow = "[[faults]]\nat = \"0 s\"\nnode = \"worker-3\"\nslow = 0.2\n";
    let (mut of_kept, mut of_wanted) = ([0; 5], [0; 5]);
    for (seed, at) in (1..).zip(["2 s", "5 s", "8 s", "12 s", "20 s", "24 s", "30 s", "80 s"]) {
        let fault = format!("[[faults]]\nat = \"{at}\"\nnode = \"worker-1\"\n");
        let seed = format!("run.seed={seed}");
        let result = run(&format!("{text}{slow}{fault}"), &["network.rate=20 Mbit/s", &seed]);
        let app = spark(&result);
        for (number, tasks) in [6, 7, 5, 7, 5, 5, 7].into_iter().enumerate() {
            let ended = of(app, number);
            let done: std::collections::BTreeSet<usize> =
                ended.iter().filter(|task| task.ended.name() == "Success").map(|task| task.index).collect();
            assert_eq!(done.len(), tasks, "{at}: stage {number}");
        }
        for name in ["a", "b"] {
            of_kept.iter_mut().zip(kept(&result, name)).for_each(|(sum, part)| *sum += part);
            of_wanted.iter_mut().zip(wanted(&result, name)).for_each(|(sum, part)| *sum += part);
        }
    }
    // All that may become of a partition has.
    assert!(of_kept.iter().chain(&of_wanted).all(|part| *part > 0), "{of_kept:?}, {of_wanted:?}");
}
