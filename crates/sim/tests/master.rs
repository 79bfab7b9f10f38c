//! A weak master: what its one reader does not take in time closes windows, and what follows from that; jobs that get nowhere.

use sim::RunError;
use sim::results::{JobState, Master, RunResult, Stall, to_json};
use sim::scenario::Scenario;
use std::ops::ControlFlow;

/// Ten tablets with Hadoop 1, as in lee2014, Table 3.4; their wireless channel taken as a wired link each.
const TABLETS: &str = r#"
cluster = { workers = 10, generation = "hadoop1" }
node = "nexus7"
network = { rate = "20 Mbit/s", delay = "1 ms" }
hdfs = { block = "16 MiB", replication = 1 }
mapreduce = { reducers = 10 }
job = { workload = "terasort", input = "1 GB" }
run = { sample = "10 s" }
"#;

fn try_run(text: &str, sets: &[&str]) -> Result<RunResult, RunError> {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    let scenario = Scenario::parse("test", text, &sets).unwrap_or_else(|error| panic!("{error}"));
    sim::run(&scenario, &mut |_| ControlFlow::Continue(()))
}

fn run(sets: &[&str]) -> (RunResult, Master) {
    let result = try_run(TABLETS, sets).unwrap_or_else(|error| panic!("{error}"));
    let master = result.master.clone().unwrap();
    (result, master)
}

/// Why a run was given up, and that in words. Its books balance, its job has failed with the reason, and all of it stands in `result.json`.
fn stalled(result: &RunResult) -> (&Stall, String) {
    let stall = result.stall.as_ref().expect("given up");
    assert!(result.violations().next().is_none());
    let job = &result.jobs[0];
    assert_eq!((job.state, job.finish, &job.reason), (JobState::Failed, None, &stall.reason()));
    assert_eq!(result.ended_at, stall.at);
    let json = to_json(result);
    assert!(json.contains("\"stalled\"") && json.contains(&format!("\"who\": \"{}\"", stall.waits[0].who)), "{json}");
    (stall, stall.to_string())
}

/// A receive buffer of 4 KB for each connection: a heartbeat with the status of six tasks is longer.
const SMALL: &str = "master.receive-buffer='4096 B'";

#[test]
fn a_fast_master_handles_its_push_packets_without_closing_a_window() {
    let (result, master) = run(&[SMALL]);
    assert_eq!(result.jobs[0].state, JobState::Succeeded);
    assert_eq!(master.zero_windows, 0);
    // Published are around thirty a second, in and out (lee2014, 5.2 and 6.2.1). Heartbeats of ten DataNodes and ten TaskTrackers every 3 s and their
    // answers are 13; to these come questions for events and calls of tasks to the NameNode.
    let rate = master.pushed as f64 / result.ended_at.as_secs_f64();
    assert!((40.0 / 3.0..30.0).contains(&rate), "{rate} push packets a second");
}

#[test]
fn a_slow_master_closes_windows_and_the_job_takes_longer() {
    let (fast, _) = run(&[SMALL]);
    // 20 ms at the reference's speed are 200 ms on a tablet: five calls a second at each of two readers.
    let slow = "master.read-cost='20 ms'";
    let (result, master) = run(&[SMALL, slow]);
    assert_eq!(result.jobs[0].state, JobState::Succeeded);
    assert!(master.zero_windows > 50, "{}", master.zero_windows);
    assert!(result.ended_at > fast.ended_at + (fast.ended_at / 5), "{} after {}", result.ended_at, fast.ended_at);
    let jobtracker = master.servers.iter().find(|server| server.name == "jobtracker").unwrap();
    assert!(jobtracker.latency_mean.as_secs_f64() > 1.0 && jobtracker.unread > 500, "{jobtracker:?}");

    // As much memory as forty such buffers, shared: those who need more than 4 KB find it.
    let (result, shared) = run(&["master.shared-buffer='160 KiB'", slow]);
    assert_eq!((result.jobs[0].state, shared.zero_windows), (JobState::Succeeded, 0));
    // Heartbeats on their own: less stands in the buffer of each connection.
    let (_, apart) = run(&[SMALL, slow, "master.heartbeat-connections=true"]);
    assert!(apart.zero_windows < master.zero_windows, "{} of {}", apart.zero_windows, master.zero_windows);
}

/// What follows from late heartbeats: nodes are lost that live, their attempts run again, and how patient the master is decides whether the job is ever done.
#[test]
fn an_impatient_and_slow_master_loses_nodes_that_live() {
    let lost = |result: &RunResult| result.events.iter().filter(|event| event.detail.contains("lost")).count();
    let (slow, impatient) = ("master.read-cost='40 ms'", "mapreduce.node-expiry='8 s'");
    let (fast, _) = run(&[SMALL, impatient]);
    let (patient, _) = run(&[SMALL, slow, "mapreduce.node-expiry='10 min'"]);
    for result in [&fast, &patient] {
        assert_eq!((result.jobs[0].state, lost(result)), (JobState::Succeeded, 0));
    }
    let (result, _) = run(&[SMALL, slow, impatient, "run.no-progress='8 min'"]);
    let (stall, error) = stalled(&result);
    // By then the patient one is done. Its maps have been tried again and again.
    assert!(stall.at > patient.ended_at + patient.ended_at / 2, "{error}");
    let waits: Vec<String> = stall.waits.iter().map(ToString::to_string).collect();
    assert!(waits.iter().any(|wait| wait.starts_with("job terasort waits for slots")), "{error}");
    let attempt = |wait: &String| wait.split_once("attempt ")?.1.split(' ').next()?.parse::<u32>().ok();
    assert!(waits.iter().filter_map(attempt).any(|attempt| attempt >= 5), "{error}");
}

#[test]
fn a_job_that_gets_nowhere_fails_with_who_waits_for_what() {
    // No worker can reach the master, ever.
    let text = format!("{TABLETS}\nfaults = [{{ at = '0 s', link = 'master' }}]");
    let result = try_run(&text, &["run.no-progress='30 min'"]).unwrap();
    let (stall, error) = stalled(&result);
    assert!(stall.since.as_secs_f64() < 120.0 && stall.at.as_secs_f64() < 2000.0, "{error}");
    let waits: Vec<String> = stall.waits.iter().map(ToString::to_string).collect();
    let says = |who: &str, what: &str| waits.iter().any(|wait| wait.starts_with(who) && wait.contains(what));
    assert!(says("job terasort waits", "since 0.0 s"), "{error}");
    for worker in 1..=10 {
        let who = format!("the worker daemon on worker-{worker} waits");
        assert!(says(&who, "a connection to the jobtracker on master"), "{error}");
    }
    // Without the limit it is over when its time is.
    let result = try_run(&text, &["run.no-progress='0 s'", "run.until='3 h'"]).unwrap();
    assert_eq!((result.jobs[0].state, result.stall), (JobState::Unfinished, None));
}

#[test]
fn a_job_that_is_slow_is_not_given_up() {
    // Every call costs the JobTracker half a second: heartbeats take minutes, and it gets there.
    let sets = ["master.call-cost='50 ms'", "master.handlers=1", "job.input='64 MiB'", "run.no-progress='20 min'"];
    let (result, _) = run(&sets);
    assert_eq!(result.jobs[0].state, JobState::Succeeded);
}
