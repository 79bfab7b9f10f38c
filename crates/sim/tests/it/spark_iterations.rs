//! Data sets that are computed from kept ones and kept themselves, as iterations do.

use crate::spark::{run, spark, took};
use results::{RunResult, SparkApplication};

const MB: u64 = 1_000_000;

/// On four workers of one core: four data sets of four partitions of 10 MB, each of the one before, with tasks of 1, 2, 3
/// and 4 s, each in a job of its own; a last job reads the last of them, with tasks of 1 s.
fn chain(level: &str, pauses: &str) -> String {
    let stage = |number: u64| {
        let reads = number.checked_sub(1).map_or(String::new(), |before| format!("reads = \"d{before}\"\n"));
        let keeps = format!("persist = \"{level}\"\nkept-size = \"40 MB\"\n");
        let (work, keeps) = if number == 4 { (1, String::new()) } else { (number + 1, keeps) };
        format!("[[spark.stage]]\nname = \"d{number}\"\njob = {number}\ntasks = 4\nwork = \"{work} s\"\n{reads}{keeps}")
    };
    format!("pause = [{pauses}]\n") + &(0..5).map(stage).collect::<String>()
}

fn near(value: f64, expected: f64, within: f64) {
    assert!((value - expected).abs() < within, "{value}, expected {expected}");
}

/// How long a job took.
fn job(app: &SparkApplication, number: usize) -> f64 {
    let job = app.jobs[number];
    (job.finish.expect("an end") - job.submit.expect("a begin")).as_secs_f64()
}

/// How much of a data set tasks computed anew.
fn again(result: &RunResult, name: &str) -> u64 {
    let what = format!("kept of {name}: wanted, bytes");
    let books = result.ledger.iter().find(|balance| balance.what == what).expect("books");
    books.accounted[3].1 / MB
}

/// Where all is kept each job does its own work: 1 + 2 + 3 + 4 + 1 s. Where nothing is, each does that of all before, too:
/// 1 + 3 + 6 + 10 + 11 s.
#[test]
fn what_is_kept_is_not_computed_again() {
    near(took(&run(&chain("memory-only", ""), &[])), 11.0, 0.05);
    let result = run(&chain("memory-only", ""), &["spark.storage-memory=1 MB"]);
    near(took(&result), 31.0, 0.1);
    let all: Vec<u64> = (0..4).map(|number| again(&result, &format!("d{number}"))).collect();
    assert_eq!(all, [160, 120, 80, 40]);
}

/// Memory of each executor holds two partitions: the third data set takes the room of the first, which nobody needs any
/// more. Where it holds one, the second has no room beside the first, which its tasks read; all behind are computed from
/// the first: 1 + 2 + (2 + 3) + (2 + 3 + 4) + (2 + 3 + 4 + 1) s.
#[test]
fn an_iteration_takes_the_room_of_one_that_is_not_read() {
    let of = |memory: &str| {
        let result = run(&chain("memory-only", ""), &[&format!("spark.storage-memory={memory}")]);
        (took(&result), [0, 1, 2, 3].map(|number| again(&result, &format!("d{number}"))))
    };
    let (two, of_two) = of("20 MB");
    near(two, 11.0, 0.05);
    assert_eq!(of_two, [0, 0, 0, 0]);
    let (one, of_one) = of("10 MB");
    near(one, 27.0, 0.1);
    assert_eq!(of_one, [0, 120, 80, 40]);
}

/// A node dies before the last job, and the Master has dropped its Worker when that begins. All four data sets had a
/// partition there: the task of the last one's computes them anew, one of the other, for 1 + 2 + 3 + 4 s and its own. It
/// begins at once on one of three executors, or when a task of a second is done there.
#[test]
fn a_lost_partition_is_computed_from_its_ancestors() {
    let text = chain("memory-only", "\"0 s\", \"0 s\", \"0 s\", \"0 s\", \"200 s\"");
    let result = run(&format!("{text}[[faults]]\nat = \"15 s\"\nnode = \"worker-2\"\n"), &[]);
    let app = spark(&result);
    assert_eq!(app.lost, 1);
    let last = job(app, 4);
    assert!((10.9..12.2).contains(&last), "{last} s");
    assert!((0..4).all(|number| again(&result, &format!("d{number}")) == 10));
}

/// The second of three data sets on disk is of a shuffle. Its partition is lost, the shuffle's output beside it is, too: the map
/// runs anew for its part, and one task of the last job reads the shuffle. Where the third is kept elsewhere nothing is.
#[test]
fn a_lineage_ends_where_something_is_kept() {
    let stage = |name: &str, job: u32, keys: &str| {
        format!("[[spark.stage]]\nname = \"{name}\"\njob = {job}\ntasks = 4\nwork = \"1 s\"\n{keys}\n")
    };
    let keep = |level: &str| format!("persist = \"{level}\"\nkept-size = \"4 MB\"");
    let text = "pause = [\"0 s\", \"0 s\", \"0 s\", \"200 s\"]\n".to_owned()
        + &stage("map", 0, "shuffle-write = \"40 MB\"")
        + &stage("a", 0, &keep("memory-only"))
        + &stage("b", 1, &(keep("disk-only") + "\nreads = \"a\"\nparents = [\"map\"]"))
        + &stage("c", 2, &(keep("memory-only") + "\nreads = \"b\""))
        + &stage("d", 3, "reads = \"c\"");
    let read = |sets: &[&str], fault: &str| {
        let result = run(&format!("{text}{fault}"), sets);
        let app = spark(&result);
        let shuffled: u64 = app
            .tasks
            .iter()
            .filter(|task| task.stage == 4)
            .map(|task| (task.shuffle_local + task.shuffle_remote).get())
            .sum();
        (shuffled / MB, app.stages[0].attempts, app.stages[1].attempts)
    };
    assert_eq!(read(&[], ""), (0, 1, 1));
    // What has no room in memory is computed from what is on disk: of b, not of a or the shuffle.
    assert_eq!(read(&["spark.storage-memory=0 B"], ""), (0, 1, 1));
    let fault = "[[faults]]\nat = \"20 s\"\nnode = \"worker-2\"\n";
    assert_eq!(read(&[], fault), (10, 2, 1));
}
