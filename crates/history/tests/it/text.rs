//! The text history of Hadoop 0.17 to 1.x. Expectations are read by eye in the samples.

use crate::samples::{job, jobs, load};
use history::{AttemptState, Format, JobState, Place, read};

#[test]
fn a_history_of_hadoop_0_20_is_read() {
    let (format, jobs) = jobs("hadoop-0.20.log");
    let job = &jobs[0];
    assert_eq!((format, jobs.len(), job.id.as_str()), (Format::Text, 1, "job_200904211745_0042"));
    assert_eq!(job.name, "count \"the\" words=1", "backslashes go");
    assert_eq!((job.submit_ms, job.launch_ms), (1_240_335_962_000, 1_240_335_964_000));
    assert_eq!((job.finish_ms, job.state), (Some(1_240_335_992_000), JobState::Succeeded));
    // Setup has the number of a map, and is none.
    assert_eq!((job.maps.len(), job.reduces.len()), (2, 1));
    assert_eq!(job.maps[0].preferred_hosts, ["node1.example.org", "node3.example.org", "node4.example.org"]);
    let map = job.maps[0].successful().unwrap();
    assert_eq!((map.host.as_str(), job.racks["node1.example.org"].as_str()), ("node1.example.org", "/rack1"));
    assert_eq!((map.start_ms, map.finish_ms), (Some(1_240_335_969_500), Some(1_240_335_976_000)));
    assert_eq!(map.counters.get("HDFS_BYTES_READ"), Some(148_286));
    assert_eq!(map.counters.get("MAP_OUTPUT_BYTES"), Some(247_925), "not the user's counter of that name");
    assert_eq!(map.counters.get("with (brackets)"), Some(7));
    let reduce = job.reduces[0].successful().unwrap();
    assert_eq!((reduce.shuffle_finish_ms, reduce.sort_finish_ms), (Some(1_240_335_984_000), Some(1_240_335_984_300)));
    assert_eq!(reduce.counters.get("REDUCE_SHUFFLE_BYTES"), Some(705_622));
    assert_eq!(job.counters.get("HDFS_BYTES_READ"), Some(201_925));
}

#[test]
fn a_failed_attempt_keeps_its_words_over_several_lines() {
    let job = job("hadoop-0.20.log");
    let [failed, succeeded] = job.maps[1].attempts.as_slice() else { panic!("two attempts") };
    assert_eq!((failed.state, failed.finish_ms), (AttemptState::Failed, Some(1_240_335_973_000)));
    assert_eq!(failed.host, "node4.example.org");
    assert!(failed.error.starts_with("java.io.IOException: Spill failed\n\tat org.apache"), "{}", failed.error);
    assert!(failed.error.ends_with("Caused by: no space, half ."), "{}", failed.error);
    assert_eq!((succeeded.state, succeeded.number), (AttemptState::Succeeded, 1));
    assert_eq!(job.maps[1].successful().map(|a| a.host.as_str()), Some("node3.example.org"));
}

#[test]
fn a_killed_job_of_hadoop_1_2_says_who_killed_it() {
    let job = job("hadoop-1.2-killed.log");
    assert_eq!((job.state, job.finish_ms), (JobState::Killed, Some(1_372_680_041_000)));
    assert_eq!(job.diagnostics, "Job was killed by user ben");
    let [first, second] = job.maps[0].attempts.as_slice() else { panic!("two attempts") };
    assert_eq!((first.locality.as_str(), first.speculative, first.host.as_str()), ("NODE_LOCAL", false, "slave1"));
    assert_eq!((second.locality.as_str(), second.speculative, second.host.as_str()), ("RACK_LOCAL", true, "slave2"));
    assert_eq!((second.state, second.finish_ms), (AttemptState::Killed, Some(1_372_680_040_100)));
    assert_eq!(job.maps[0].state, AttemptState::Killed);
}

#[test]
fn before_0_20_records_are_lines_and_counters_have_their_displayed_names() {
    let job = job("hadoop-0.18.log");
    assert_eq!((job.id.as_str(), job.state), ("job_200801181120_0007", JobState::Succeeded));
    let map = job.maps[0].successful().unwrap();
    assert_eq!((map.host.as_str(), map.start_ms), ("box.example.org", Some(1_200_648_002_500)));
    // They stand with the task, not with the attempt.
    assert_eq!(map.counters.get("HDFS_BYTES_READ"), Some(1_048_576));
    assert_eq!(map.counters.get("MAP_INPUT_RECORDS"), Some(77));
}

#[test]
fn records_written_again_after_a_restart_change_nothing() {
    let text = String::from_utf8(load("hadoop-0.20.log")).unwrap();
    let mut again: Vec<&str> = text.split_inclusive(" .\n").collect();
    let tail = again.split_off(again.len() - 3);
    let whole: String = again.iter().chain(&again[1..]).chain(&tail).copied().collect();
    let (_, jobs) = read(whole.as_bytes()).unwrap();
    assert_eq!(jobs[0], job("hadoop-0.20.log"));
}

#[test]
fn what_is_wrong_in_a_text_has_its_line() {
    let text = String::from_utf8(load("hadoop-0.20.log")).unwrap();
    for (from, to, line, words) in [
        (
            "SUBMIT_TIME=\"1240335962000\"",
            "SUBMIT_TIME=\"noon\"",
            2,
            "expected milliseconds in SUBMIT_TIME, found `noon`",
        ),
        ("JOB_PRIORITY=\"NORMAL\"", "JOB_PRIORITY=NORMAL", 3, "expected `KEY=\"value\"`"),
        ("Task TASKID=\"task_200904211745_0042_m_000000\"", "Task TASKID=\"m_0\"", 10, "an identifier of a task"),
        ("[(MAP_INPUT_RECORDS)(Map input records)(3601)]", "[(MAP_INPUT_RECORDS)]", 19, "`(` in counters"),
        ("MapAttempt TASK_TYPE=\"MAP\"", "MapAttemt TASK_TYPE=\"MAP\"", 11, "expected a record"),
    ] {
        let broken = text.replacen(from, to, 1);
        assert_ne!(broken, text, "{from}");
        let error = read(broken.as_bytes()).unwrap_err();
        assert_eq!(error.place, Some(Place::Line(line)), "{error}");
        assert!(error.to_string().contains(words), "{error}");
    }
    let cut = &text[..text.find("Caused by").unwrap()];
    let error = read(cut.as_bytes()).unwrap_err().to_string();
    assert!(error.ends_with("(line 14): the file ends within a record: fetch it again, it is truncated"), "{error}");
}
