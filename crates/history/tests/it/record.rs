//! Attempts on their master's clock, by hand: clocks that are wrong, moments that are missing.

use history::import::{Hosts, Record, Sources, import};
use history::{Attempt, AttemptState, JobHistory, JobState, Task};
use scenario::Generation;

/// A moment of 2009, in milliseconds, so many seconds later.
fn at(seconds: i64) -> i64 {
    1_240_336_843_916 + seconds * 1_000
}

fn attempt(host: &str, state: AttemptState, start: i64, end: i64) -> Attempt {
    Attempt { host: host.into(), state, start_ms: Some(at(start)), finish_ms: Some(at(end)), ..Attempt::default() }
}

/// A task that its master had from `start` to `end`.
fn task(start: i64, end: Option<i64>, attempts: Vec<Attempt>) -> Task {
    let numbered = |(number, attempt)| Attempt { number, ..attempt };
    let attempts = (0..).zip(attempts).map(numbered).collect();
    Task { start_ms: Some(at(start)), finish_ms: end.map(at), attempts, ..Task::default() }
}

/// Submitted at 0, launched at 10, ended at 200 s.
fn job(state: JobState, maps: Vec<Task>, reduces: Vec<Task>) -> JobHistory {
    let id = "job_200904211745_0002".to_owned();
    JobHistory {
        id,
        submit_ms: at(0),
        launch_ms: at(10),
        finish_ms: Some(at(200)),
        state,
        maps,
        reduces,
        ..JobHistory::default()
    }
}

fn record(job: &JobHistory) -> Record {
    Record::of(job, &Hosts::of(job, None))
}

/// Start and end of each attempt, in seconds after submission.
fn spans(record: &Record) -> Vec<(i64, i64)> {
    record.attempts.iter().map(|attempt| (attempt.start / 1_000, attempt.end / 1_000)).collect()
}

/// The clock of `slow` is 400 s behind. Its map, of 30 s, was known to be done at 60 s; its failed attempt, of 5 s by
/// the same clock, began at 70 s.
#[test]
fn a_host_whose_clock_is_wrong_follows_its_master() {
    use AttemptState::{Failed, Succeeded};
    let maps = vec![
        task(20, Some(60), vec![attempt("slow", Succeeded, -370, -340)]),
        task(65, Some(120), vec![attempt("slow", Failed, -330, -325), attempt("right", Succeeded, 90, 119)]),
    ];
    let record = record(&job(JobState::Succeeded, maps, Vec::new()));
    assert_eq!(spans(&record), [(30, 60), (70, 75), (90, 120)]);
    assert_eq!(record.shifted, 2);
}

/// A report that comes with the next heartbeat is no wrong clock: the attempt lasts until its master knows.
#[test]
fn an_attempt_lasts_until_its_master_knows() {
    let maps = vec![task(20, Some(52), vec![attempt("a", AttemptState::Succeeded, 21, 50)])];
    let record = record(&job(JobState::Succeeded, maps, Vec::new()));
    assert_eq!(spans(&record), [(21, 52)]);
    assert_eq!((record.shifted, record.tasks_end() / 1_000), (0, 52));
}

/// Attempts without an end were there when the job ended; those without a start never ran; before its launch no job
/// runs anything.
#[test]
fn moments_that_are_missing_follow_from_the_job() {
    use AttemptState::{Killed, Unfinished};
    let never = Attempt { start_ms: None, finish_ms: None, ..attempt("a", Killed, 0, 0) };
    let open = Attempt { finish_ms: None, ..attempt("b", Unfinished, 100, 0) };
    let early = attempt("c", Killed, 5, 30);
    let record = record(&job(JobState::Failed, vec![task(20, None, vec![never, open, early])], Vec::new()));
    assert_eq!(spans(&record), [(10, 30), (100, 200)]);
    assert_eq!((record.left_out, record.reason.as_str()), (1, "it failed, as recorded, though no task did"));
}

/// Three maps on one host at a time and two reduces, of a JobTracker's job: its slots, and no more replicas than hosts.
#[test]
fn slots_generation_and_replicas_follow_from_what_ran() {
    use AttemptState::Succeeded;
    let map = |start| task(start, Some(start + 30), vec![attempt("a", Succeeded, start, start + 30)]);
    let reduce = |start| task(start, Some(start + 90), vec![attempt("b", Succeeded, start, start + 90)]);
    // The fourth starts when the first ends.
    let job = job(JobState::Succeeded, vec![map(20), map(25), map(30), map(50)], vec![reduce(60), reduce(61)]);
    let scenario = import(&job, &Sources::default()).expect("a job").scenario;
    assert_eq!((scenario.cluster.workers, scenario.hdfs.replication), (2, 2));
    assert_eq!(scenario.cluster.generation, Generation::Hadoop1);
    assert_eq!((scenario.mapreduce.map_slots, scenario.mapreduce.reduce_slots), (3, 2));
    let plan = scenario.job[0].plan.as_ref().expect("a plan");
    assert_eq!((plan.attempt.len(), plan.commit.as_secs_f64()), (6, 49.0));
    // A ResourceManager's identifier has milliseconds.
    let yarn = JobHistory { id: "job_1369942127770_1205".into(), ..job };
    assert_eq!(import(&yarn, &Sources::default()).expect("a job").scenario.cluster.generation, Generation::Yarn);
}

/// A job that succeeded without one of its maps is imported without it.
#[test]
fn a_job_does_without_the_tasks_that_it_did_without() {
    use AttemptState::{Failed, Succeeded};
    let maps = vec![
        task(20, None, vec![attempt("a", Failed, 20, 30)]),
        task(20, Some(50), vec![attempt("b", Succeeded, 20, 50)]),
    ];
    let imported = import(&job(JobState::Succeeded, maps, Vec::new()), &Sources::default()).expect("a job");
    let plan = imported.scenario.job[0].plan.as_ref().expect("a plan");
    assert_eq!(plan.attempt.iter().map(|attempt| attempt.task).collect::<Vec<_>>(), [0]);
}
