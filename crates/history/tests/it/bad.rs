//! Histories that can be read and make no sense: what is wrong, where, and what to do.

use crate::samples::{FAILED, load};
use history::{HistoryError, JobHistory, Memory, Place, Problem, read};
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// A sample with one change.
fn changed(file: &str, from: &str, to: &str) -> Result<JobHistory, HistoryError> {
    let text = String::from_utf8(load(file)).unwrap();
    let broken = text.replacen(from, to, 1);
    assert_ne!(broken, text, "{from}");
    read(broken.as_bytes()).map(|(_, mut jobs)| jobs.remove(0))
}

fn refused(file: &str, from: &str, to: &str, words: &[&str]) {
    let error = changed(file, from, to).expect_err(to);
    assert!(matches!(error.problem, Problem::Inconsistent(_)), "{error}");
    let error = error.to_string();
    for words in words {
        assert!(error.contains(words), "{words}: {error}");
    }
}

#[test]
fn clocks_that_run_backwards() {
    let attempt = "FINISH_TIME=\"1240335976000\" HOSTNAME=\"/rack1/node1";
    refused(
        "hadoop-0.20.log",
        attempt,
        &attempt.replace("976000", "960000"),
        &[
            "job_200904211745_0042: attempt 0 of map 0 finished at 1240335960000 ms, before its start at 1240335969500 ms",
            "the clock that recorded it ran backwards",
        ],
    );
    refused(
        "hadoop-0.20.log",
        "FINISH_TIME=\"1240335992000\"",
        "FINISH_TIME=\"1240335963999\"",
        &["finished at 1240335963999 ms, before its launch at 1240335964000 ms"],
    );
    refused(
        "hadoop-0.20.log",
        "SHUFFLE_FINISHED=\"1240335984000\"",
        "SHUFFLE_FINISHED=\"1240335995000\"",
        &["reduce 0 ends its shuffle phase at 1240335995000 ms", "from 1240335978500 to 1240335990000 ms"],
    );
}

#[test]
fn progress_that_is_reported_a_little_late_is_not_a_clock_that_runs_backwards() {
    let job = changed("hadoop-0.20.log", "SORT_FINISHED=\"1240335984300\"", "SORT_FINISHED=\"1240335990400\"").unwrap();
    assert_eq!(job.reduces[0].attempts[0].sort_finish_ms, Some(1_240_335_990_000), "its attempt's end");
}

#[test]
fn hosts_whose_clocks_differ_from_the_masters_are_read() {
    // Real ones of 2009 start 12 s before their job's submission.
    let start = "START_TIME=\"1240335969500\"";
    let job = changed("hadoop-0.20.log", start, "START_TIME=\"1240335950000\"").unwrap();
    assert!(job.maps[0].attempts[0].start_ms < Some(job.submit_ms));
}

#[test]
fn attempts_without_a_finish() {
    refused(
        "hadoop-0.20.log",
        "FINISH_TIME=\"1240335976000\"",
        "",
        &["attempt 0 of map 0 succeeded, and has no finish time", "fetch it again"],
    );
    // The record that ends it is missing.
    let text = String::from_utf8(load("hadoop-0.20.log")).unwrap();
    let kept: String = text.split_inclusive(" .\n").filter(|r| !r.contains("FINISH_TIME=\"1240335976000\"")).collect();
    let error = read(kept.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("attempt 0 of map 0 has a start and no finish, though the job succeeded"), "{error}");
    // A second attempt that was killed without a record when the job ended is no gap.
    let started = text.split_inclusive(" .\n").find(|r| r.contains("START_TIME=\"1240335969500\"")).unwrap();
    let second = started.replace("m_000000_0", "m_000000_1");
    let whole = text.replacen(started, &format!("{started}{second}"), 1);
    assert_eq!(read(whole.as_bytes()).unwrap().1[0].maps[0].attempts.len(), 2);
}

#[test]
fn hosts_without_names() {
    let text = String::from_utf8(load("hadoop-0.20.log")).unwrap();
    let nameless = text
        .replace("HOSTNAME=\"/rack1/node1\\.example\\.org\"", "HOSTNAME=\"\"")
        .replace("TRACKER_NAME=\"tracker_node1\\.example\\.org:localhost/127\\.0\\.0\\.1:48449\"", "TRACKER_NAME=\"\"");
    let error = read(nameless.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("attempt 0 of map 0 names no host") && error.contains("give it its host"), "{error}");
}

#[test]
fn two_jobs_in_one_history() {
    let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces");
    let load = |file: &str| fs::read(traces.join(file)).unwrap();
    let json = |file: &str| load(&format!("samples/{file}.avro-json.jhist"));
    let (first, second) = (json("terasort-unshaped"), json("wordcount-nocombine-10mbit"));
    let lines = |bytes: &[u8]| bytes.split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>();
    let events = lines(&first).len() - 2;
    // The events of the second behind those of the first.
    let mixed: Vec<u8> = lines(&first).into_iter().chain(lines(&second).into_iter().skip(2)).flatten().collect();
    let error = read(&mixed).unwrap_err();
    assert!(error.to_string().contains("two histories are mixed, put each into a file of its own"), "{error}");
    // The first of them, AM_STARTED, names an application and no job.
    let Some(Place::Event(place)) = error.place else { panic!("{error}") };
    assert!(place as usize > events && place as usize <= events + 2, "{error}, after {events}");
    // One file behind the other, in either encoding.
    let error = read(&[first.clone(), second].concat()).unwrap_err();
    assert!(error.to_string().contains("a second history begins here"), "{error}");
    assert_eq!(error.offset, first.len() as u64, "{error}");
    let first = load("teragen-unshaped/job_1795217314114_0001.jhist");
    let second = load("terasort-unshaped/job_1795217314114_0004.jhist");
    let error = read(&[first.clone(), second].concat()).unwrap_err();
    assert_eq!((error.offset, error.to_string().contains("a second history")), (first.len() as u64, true), "{error}");

    let text = String::from_utf8(crate::samples::load("hadoop-0.20.log")).unwrap();
    let other = text.replace("_0042", "_0043");
    let error = read(format!("{text}{other}").as_bytes()).unwrap_err().to_string();
    assert!(error.contains("a record of job_200904211745_0043 in the history of job_200904211745_0042"), "{error}");
    refused(
        "rumen-escaped.json",
        "attempt_200904211745_0050",
        "attempt_200904211745_0051",
        &["(job 1 of the file)", "tasks of job_200904211745_0050 and of job_200904211745_0051 in one job"],
    );
}

#[test]
fn a_history_without_its_beginning() {
    let error = changed(FAILED, "{\"type\":\"JOB_SUBMITTED\"", "{\"type\":\"SOMETHING_NEW\"").unwrap_err().to_string();
    assert!(error.contains("no JOB_SUBMITTED): its beginning is missing"), "{error}");
    let error = changed("hadoop-1.2-killed.log", "SUBMIT_TIME", "SUBMITTED").unwrap_err().to_string();
    assert!(error.contains("no SUBMIT_TIME): its beginning is missing"), "{error}");
    // A job that was killed while it was set up was never launched.
    let job = changed("hadoop-1.2-killed.log", "LAUNCH_TIME", "LAUNCHED").unwrap();
    assert_eq!(job.launch_ms, job.submit_ms);
}

#[test]
fn jobs_that_would_take_all_memory() {
    // 1.5 million tasks of 30 bytes.
    let mut text = String::from("{\"jobID\":\"job_1_1\",\"submitTime\":1,\"mapTasks\":[");
    for task in 0..1_500_000 {
        let _ = write!(text, "{{\"taskID\":\"task_1_1_m_{task}\"}},");
    }
    text.push_str("{}]}");
    let error = read(text.as_bytes()).unwrap_err();
    assert!(matches!(error.problem, Problem::Limit(_)), "{error}");
    assert!(error.to_string().contains("more than 448 MiB of memory: cut it into several"), "{error}");
    // 20 million containers in 100 bytes.
    let containers = "{\"count\":100000,\"duration.ms\":1},".repeat(200);
    let text = format!("{{\"job.tasks\":[{}]}}", containers.trim_end_matches(','));
    assert!(matches!(read(text.as_bytes()).unwrap_err().problem, Problem::Limit(_)));
    // A million numbers where twelve belong.
    let text = String::from_utf8(load("rumen-escaped.json")).unwrap();
    let text = text.replace("\"hdfsBytesRead\":-1", &format!("\"clockSplits\":[0{}]", ",0".repeat(1_000_000)));
    let error = read(text.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("a list of more than 1000"), "{error}");
    // A schema of three million numbers, and an event of as many.
    let numbers = "1,".repeat(3 << 20);
    let error = read(format!("Avro-Json\n[{numbers}1]\n").as_bytes()).unwrap_err();
    assert!(matches!(error.problem, Problem::Limit(_)), "{error}");
    let head: String = String::from_utf8(load(FAILED)).unwrap().split_inclusive('\n').take(2).collect();
    let error = read(format!("{head}{{\"type\":[{numbers}1]}}\n").as_bytes()).unwrap_err().to_string();
    assert!(error.contains("(event 1): more than 262144 values in one event"), "{error}");
    // Several files share the memory.
    let mut memory = Memory::default();
    while memory.take(1 << 20).is_ok() {}
    assert!(history::read_into(&load("hadoop-0.20.log"), &mut memory).is_err());
}
