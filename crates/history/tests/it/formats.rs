//! Every format is found by looking, compressed or not, and its oddities are read.

use crate::samples::{FAILED, job, jobs, load};
use history::{AttemptState, Format, HistoryError, JobState, Problem, read};

#[test]
fn compressed_histories_are_those_that_were_compressed() {
    // By gzip, in one member and in two; by bzip2; by zstd; by pzstd, which begins with a frame to be skipped.
    let plain = job("hadoop-1.2-killed.log");
    for file in ["killed.gz", "killed-members.gz", "killed.bz2", "killed.zst", "killed.pzst"] {
        assert_eq!(job(&format!("compressed/{file}")), plain, "{file}");
    }
}

#[test]
fn a_compressed_history_cut_anywhere_is_truncated() {
    for file in ["killed.gz", "killed.bz2", "killed.zst"] {
        let whole = load(&format!("compressed/{file}"));
        for cut in (20..whole.len()).step_by(29) {
            let error = read(&whole[..cut]).expect_err(file);
            assert!(matches!(error.problem, Problem::Truncated { .. }), "{file} cut at {cut}: {error}");
        }
    }
}

#[test]
fn a_damaged_byte_of_a_compressed_history_is_noticed() {
    let plain = job("hadoop-1.2-killed.log");
    for file in ["killed.gz", "killed.bz2", "killed.zst"] {
        let whole = load(&format!("compressed/{file}"));
        for at in (30..whole.len()).step_by(11) {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x10;
            if let Ok((_, jobs)) = read(&damaged) {
                assert_eq!(jobs, std::slice::from_ref(&plain), "{file} at {at}: a bit that says nothing");
            }
        }
        // Its last bytes are the checksum, but for bzip2, whose last bits may be none.
        let mut damaged = whole.clone();
        let last = damaged.len() - if file == "killed.gz" { 6 } else { 2 };
        damaged[last] ^= 0x10;
        let error = read(&damaged).expect_err(file);
        assert!(matches!(error.problem, Problem::Malformed { .. }), "{file}: {error}");
    }
}

#[test]
fn what_becomes_more_than_is_read_is_refused() {
    // 400 MB of zeros in 306 bytes, and 257 MiB in 8,298.
    for file in ["bomb.bz2", "bomb.zst"] {
        let error = read(&load(&format!("compressed/{file}"))).expect_err(file);
        assert!(matches!(error.problem, Problem::Limit(_)), "{error}");
        assert!(error.to_string().contains("become more than 256 MiB"), "{error}");
    }
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    for _ in 0..257 {
        std::io::Write::write_all(&mut gzip, &vec![b' '; 1 << 20]).unwrap();
    }
    let error = read(&gzip.finish().unwrap()).unwrap_err();
    assert!(error.to_string().contains("of gzip become more than 256 MiB"), "{error}");
}

#[test]
fn what_is_compressed_twice_is_named() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, &load("compressed/killed.bz2")).unwrap();
    let error = read(&gzip.finish().unwrap()).unwrap_err().to_string();
    assert!(error.contains("compressed twice, bzip2 within gzip"), "{error}");
}

#[test]
fn foreign_files_are_called_by_their_names() {
    for (bytes, words) in [
        (&b"PK\x03\x04\x14\0"[..], "a zip archive: unpack it first"),
        (b"\xfd7zXZ\0\0\x04", "compressed by xz"),
        (b"<?xml version=\"1.0\"?><configuration/>", "a configuration"),
        (b"{\"name\": \"a package\"}", "JSON without a job"),
        (b"Job done\n", "found `Job done"),
    ] {
        let error: HistoryError = read(bytes).unwrap_err();
        assert!(matches!(error.problem, Problem::UnknownFormat { .. }), "{error}");
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[test]
fn a_failed_job_is_read_with_its_words_and_unknown_events_are_passed_over() {
    let (format, jobs) = jobs(FAILED);
    let job = &jobs[0];
    assert_eq!((format, job.state, job.uber), (Format::AvroJson, JobState::Failed, true));
    assert_eq!(job.diagnostics, "Task failed task_1700000000000_0007_m_000000");
    assert_eq!((job.launch_ms, job.finish_ms), (1_700_000_004_000, Some(1_700_000_030_000)));
    let task = &job.maps[0];
    assert_eq!((task.state, task.finish_ms), (AttemptState::Failed, Some(1_700_000_016_500)));
    let attempt = &task.attempts[0];
    assert_eq!((attempt.state, attempt.finish_ms), (AttemptState::Failed, Some(1_700_000_016_000)));
    assert_eq!((attempt.host.as_str(), job.racks["w1"].as_str()), ("w1", "/rack1"));
    assert!(attempt.error.starts_with("Error: Java heap space"), "{}", attempt.error);
}

#[test]
fn sls_of_hadoop_3_leaves_out_what_it_may() {
    let (format, jobs) = jobs("sls-hadoop3.json");
    assert_eq!((format, jobs.len()), (Format::Sls, 3), "one job, and one that counts for two");
    let job = &jobs[0];
    assert_eq!((job.id.as_str(), job.submit_ms, job.maps.len(), job.reduces.len()), ("job_9", 1000, 4, 1));
    assert_eq!(job.maps[0].attempts[0].host, "node1");
    // Three containers of 4 s without a start, from the job's start on.
    let times = |task: &history::Task| (task.attempts[0].start_ms, task.attempts[0].finish_ms);
    assert_eq!(job.maps[1..].iter().map(times).collect::<Vec<_>>(), [(Some(1000), Some(5000)); 3]);
    assert_eq!(times(&job.reduces[0]), (Some(6000), Some(7500)));
    assert_eq!(job.finish_ms, Some(7500), "the end of its last container");
    assert_eq!((jobs[1].id.as_str(), jobs[2].id.as_str()), ("job_2", "job_3"));
}

#[test]
fn rumens_escapes_go_and_its_properties_are_kept() {
    let job = job("rumen-escaped.json");
    assert_eq!((job.state, job.reduces.len()), (JobState::Failed, 0));
    assert_eq!(job.maps[0].preferred_hosts, ["node1369.megatron.com"]);
    let attempt = &job.maps[0].attempts[0];
    assert_eq!(attempt.host, "node1396.megatron.com");
    // Of the attempt's host, and of the split's.
    let racks: Vec<_> = job.racks.iter().map(|(host, rack)| (host.as_str(), rack.as_str())).collect();
    assert_eq!(racks, [("node1369.megatron.com", "/192.30.126.128"), ("node1396.megatron.com", "/192.30.126.128")]);
    assert_eq!(job.properties.get("mapreduce.task.io.sort.mb").as_deref(), Some("64"));
    // A JobTracker stamped its end before its TaskTracker's clock said that it began.
    assert_eq!((attempt.start_ms, attempt.finish_ms), (Some(1_240_335_966_647), Some(1_240_335_966_647)));
}
