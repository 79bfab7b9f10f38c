//! Histories of real jobs: every format, read as an independent decoder reads it; and input that is no history.

use history::{AttemptState, Format, HistoryError, JobHistory, JobState, Problem, read};
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};

fn traces() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces")
}

fn load(file: &str) -> Vec<u8> {
    let path = traces().join(file);
    fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn job(file: &str) -> JobHistory {
    let (_, mut jobs) = read(&load(file)).unwrap_or_else(|e| panic!("{file}: {e}"));
    assert_eq!(jobs.len(), 1, "{file}");
    jobs.remove(0)
}

/// File, maps, reduces, launch to finish in ms, attempts, and the job's CPU_MILLISECONDS and FILE_BYTES_WRITTEN, as a
/// separate Python decoder found them.
#[allow(clippy::type_complexity)] // one table, read once
const JOBS: [(&str, usize, usize, i64, usize, u64, u64); 13] = [
    ("dfsio-read-unshaped/job_1795217314114_0008.jhist", 4, 1, 9_607, 5, 1_580, 1_508_123),
    ("dfsio-write-unshaped/job_1795217314114_0007.jhist", 4, 1, 10_684, 5, 1_880, 1_508_133),
    ("grep-unshaped/job_1795217314114_0005.jhist", 8, 4, 21_118, 13, 13_590, 5_394_104),
    ("grep-unshaped/job_1795217314114_0006.jhist", 4, 1, 9_814, 5, 1_210, 1_734_283),
    ("teragen-unshaped/job_1795217314114_0001.jhist", 2, 0, 7_307, 2, 2_530, 601_544),
    ("terasort-unshaped/job_1795217314114_0004.jhist", 6, 4, 19_955, 11, 12_180, 419_021_990),
    ("terasort-unshaped-2/job_1795217314114_0018.jhist", 6, 4, 20_062, 11, 11_840, 419_021_850),
    ("wordcount-combine-10mbit/job_1795217314114_0010.jhist", 8, 4, 40_471, 14, 46_450, 25_388_698),
    ("wordcount-combine-unshaped/job_1795217314114_0003.jhist", 8, 4, 44_006, 14, 48_700, 25_388_722),
    ("wordcount-nocombine-10mbit/job_1795217314114_0009.jhist", 8, 4, 204_934, 20, 91_980, 1_146_608_360),
    ("wordcount-nocombine-10mbit-2/job_1795217314114_0022.jhist", 8, 4, 204_811, 17, 89_610, 1_146_608_324),
    ("wordcount-nocombine-unshaped/job_1795217314114_0002.jhist", 8, 4, 64_773, 15, 82_720, 1_146_608_384),
    ("wordcount-nocombine-unshaped-2/job_1795217314114_0017.jhist", 8, 4, 60_943, 15, 83_150, 1_146_608_300),
];

#[test]
fn every_trace_reads_as_an_independent_decoder_reads_it() {
    for (file, maps, reduces, ms, attempts, cpu, written) in JOBS {
        let job = job(file);
        assert!(file.contains(&job.id), "{file}: {}", job.id);
        assert_eq!(job.state, JobState::Succeeded, "{file}");
        assert_eq!((job.maps.len(), job.reduces.len()), (maps, reduces), "{file}");
        assert_eq!(job.finish_ms.map(|t| t - job.launch_ms), Some(ms), "{file}");
        let all = || job.maps.iter().chain(&job.reduces);
        assert_eq!(all().map(|t| t.attempts.len()).sum::<usize>(), attempts, "{file}");
        assert_eq!(job.counters.get("CPU_MILLISECONDS"), Some(cpu), "{file}");
        assert_eq!(job.counters.get("FILE_BYTES_WRITTEN"), Some(written), "{file}");
        // What the tasks counted adds up to what the job states.
        let sum: u64 = all().filter_map(|t| t.successful()).map(|a| a.counters.count("CPU_MILLISECONDS")).sum();
        assert_eq!(sum, cpu, "{file}");
        assert!(all().all(|t| t.successful().is_some_and(|a| a.start_ms < a.finish_ms)), "{file}");
    }
}

#[test]
fn attempts_keep_their_moments_hosts_and_counters() {
    let job = job("wordcount-nocombine-10mbit/job_1795217314114_0009.jhist");
    assert_eq!((job.masters.len(), job.masters[0].host.as_str()), (1, "w3"));
    assert_eq!(job.maps[7].preferred_hosts, ["w4", "w3"]);
    let map = job.maps[5].successful().unwrap();
    assert_eq!((map.host.as_str(), map.locality.as_str()), ("w2", "NODE_LOCAL"));
    assert_eq!(job.racks["w2"], "/default-rack");
    assert_eq!(map.counters.get("MAP_OUTPUT_MATERIALIZED_BYTES"), Some(61_762_078));
    assert_eq!(map.cpu_splits_ms, [742, 742, 742, 742, 1363, 448, 449, 2561, 1066, 569, 570, 526]);
    let since_launch = |t: Option<i64>| t.map(|t| t - job.launch_ms);
    let reduce = job.reduces[2].successful().unwrap();
    let moments = [reduce.start_ms, reduce.shuffle_finish_ms, reduce.sort_finish_ms, reduce.finish_ms];
    assert_eq!(moments.map(since_launch), [21_269, 197_711, 200_824, 204_210].map(Some));
    // The copy of it that was started at 121 s on w2, and killed when the job ended.
    let copy = &job.reduces[2].attempts[1];
    assert!(copy.speculative);
    assert_eq!((copy.host.as_str(), copy.state), ("w2", AttemptState::Killed));
    assert_eq!(copy.counters.get("REDUCE_SHUFFLE_BYTES"), Some(87_084_188));
}

#[test]
fn an_attempt_that_never_got_a_container_has_no_host_and_no_start() {
    let job = job("terasort-unshaped/job_1795217314114_0004.jhist");
    let withdrawn = &job.maps[1].attempts[1];
    assert_eq!(withdrawn.state, AttemptState::Killed);
    assert_eq!((withdrawn.host.as_str(), withdrawn.start_ms, withdrawn.finish_ms), ("", None, None));
    assert!(withdrawn.clock_splits_ms.is_empty());
}

#[test]
fn avro_json_agrees_with_avro_binary() {
    for (run, file) in [
        ("terasort-unshaped", "terasort-unshaped/job_1795217314114_0004.jhist"),
        ("wordcount-nocombine-10mbit", "wordcount-nocombine-10mbit/job_1795217314114_0009.jhist"),
    ] {
        let (format, jobs) = read(&load(&format!("samples/{run}.avro-json.jhist"))).unwrap();
        assert_eq!(format, Format::AvroJson);
        assert_eq!(jobs, [job(file)]);
    }
}

#[test]
fn rumen_agrees_in_all_that_it_keeps() {
    let (format, jobs) = read(&load("samples/rumen.json")).unwrap();
    assert_eq!((format, jobs.len()), (Format::Rumen, 2));
    for (rumen, file) in jobs.iter().zip([
        "terasort-unshaped/job_1795217314114_0004.jhist",
        "wordcount-nocombine-10mbit/job_1795217314114_0009.jhist",
    ]) {
        let mut expected = job(file);
        assert_eq!((&rumen.id, &rumen.name, rumen.state), (&expected.id, &expected.name, expected.state));
        assert_eq!((rumen.launch_ms, rumen.finish_ms), (expected.launch_ms, expected.finish_ms));
        // Rumen keeps no locality, no speculation, no end of a map's input, no errors, and 14 counters and the CPU
        // time.
        for task in expected.maps.iter_mut().chain(&mut expected.reduces) {
            for attempt in &mut task.attempts {
                attempt.error = String::new();
                (attempt.locality, attempt.speculative, attempt.map_finish_ms) = (String::new(), false, None);
            }
        }
        for (rumen, expected) in
            rumen.maps.iter().zip(&expected.maps).chain(rumen.reduces.iter().zip(&expected.reduces))
        {
            assert_eq!((rumen.start_ms, rumen.finish_ms), (expected.start_ms, expected.finish_ms));
            assert_eq!(rumen.preferred_hosts, expected.preferred_hosts);
            assert_eq!(rumen.attempts.len(), expected.attempts.len());
            for (rumen, expected) in rumen.attempts.iter().zip(&expected.attempts) {
                for counter in ["CPU_MILLISECONDS", "HDFS_BYTES_READ", "MAP_OUTPUT_BYTES", "REDUCE_SHUFFLE_BYTES"] {
                    assert_eq!(rumen.counters.count(counter), expected.counters.count(counter), "{counter}");
                }
                let mut rumen = rumen.clone();
                rumen.counters = expected.counters.clone();
                assert_eq!(&rumen, expected);
            }
        }
    }
}

#[test]
fn sls_agrees_on_where_and_when_containers_ran() {
    let (format, jobs) = read(&load("samples/sls.json")).unwrap();
    assert_eq!((format, jobs.len()), (Format::Sls, 2));
    let expected = job("wordcount-nocombine-10mbit/job_1795217314114_0009.jhist");
    let sls = &jobs[1];
    assert_eq!(sls.id, expected.id);
    assert_eq!((sls.maps.len(), sls.reduces.len()), (8, 4));
    let base = expected.submit_ms - sls.submit_ms;
    let runs = |job: &JobHistory, base: i64| {
        let mut runs: Vec<_> = job
            .maps
            .iter()
            .chain(&job.reduces)
            .filter_map(|t| t.successful())
            .map(|a| (a.start_ms.unwrap() - base, a.finish_ms.unwrap() - base, a.host.clone()))
            .collect();
        runs.sort();
        runs
    };
    assert_eq!(runs(sls, 0), runs(&expected, base));
    assert_eq!(sls.finish_ms, expected.finish_ms.map(|t| t - base));
}

// === input that is no history ===

#[test]
fn a_history_cut_anywhere_is_an_error_at_the_cut_or_a_job_without_end() {
    let whole = load("grep-unshaped/job_1795217314114_0006.jhist");
    let full = job("grep-unshaped/job_1795217314114_0006.jhist");
    let mut unfinished = 0;
    for cut in (0..whole.len()).step_by(7) {
        match read(&whole[..cut]) {
            // Only between two events, the last of which ends the job.
            Ok((_, jobs)) => {
                assert_eq!((jobs[0].state, &jobs[0].id), (JobState::Unfinished, &full.id));
                unfinished += 1;
            }
            Err(e) => {
                assert!(e.offset <= cut as u64, "cut at {cut}: {e}");
                assert!(
                    matches!(
                        e.problem,
                        Problem::Truncated { .. } | Problem::UnknownFormat { .. } | Problem::Inconsistent(_)
                    ),
                    "cut at {cut}: {e}"
                );
            }
        }
    }
    assert!(unfinished < 30, "{unfinished}");
}

#[test]
fn a_cut_history_says_where_and_in_what_it_ends() {
    let whole = load("terasort-unshaped/job_1795217314114_0004.jhist");
    let error = read(&whole[..20_000]).unwrap_err();
    assert!(error.offset > 19_900 && error.offset <= 20_000, "{error}");
    assert!(error.to_string().ends_with("it is truncated"), "{error}");
    let json = load("samples/terasort-unshaped.avro-json.jhist");
    let error = read(&json[..50_000]).unwrap_err();
    assert!(matches!(error.problem, Problem::Truncated { .. }), "{error}");
}

#[test]
fn foreign_files_are_named_as_such() {
    for foreign in
        [&b""[..], b"\n", b"PAR1\x15\x04", b"Obj\x01\x04\x14avro.codec", b"<?xml version=\"1.0\"?>", b"\x7fELF"]
    {
        let error = read(foreign).unwrap_err();
        assert!(matches!(error.problem, Problem::UnknownFormat { .. }), "{error}");
        assert!(error.to_string().contains("not a job history"), "{error}");
    }
    // What people have beside the history, and take for it.
    for (foreign, words) in [
        ("\nHadoop job: job_1526555215992_0001\n=====\nUser: u\n", "what `mapred job -history` prints"),
        ("{\"hadoopJob\":\"job_1526555215992_0001\",\"user\":\"u\"}", "what `mapred job -history` prints"),
        ("{\"jobs\":{\"job\":[{\"id\":\"job_1326381300833_2_2\"}]}}", "an answer of a server of Hadoop"),
        ("{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"3.5.1\"}\n", "an event log of Spark"),
        ("{\"entity\":\"dag_1_1_1\",\"entitytype\":\"TEZ_DAG_ID\",\"events\":[]}\u{1}\n", "as Tez logs them"),
    ] {
        let error = read(foreign.as_bytes()).unwrap_err();
        assert!(error.to_string().contains(words), "{foreign}: {error}");
    }
    let error = read(b"{\"name\": \"a package\"}").unwrap_err();
    assert!(error.to_string().contains("a job of Rumen"), "{error}");
}

/// Each file of the corpus is refused for the reason that its name begins with.
#[test]
fn the_corpus_of_hostile_files_is_refused() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 14, "{}", files.len());
    for file in files {
        let name = file.file_name().unwrap().to_str().unwrap().to_owned();
        let error: HistoryError = read(&fs::read(&file).unwrap()).map(|_| ()).expect_err(&name);
        let reason = match error.problem {
            Problem::UnknownFormat { .. } => "unknown",
            Problem::Truncated { .. } => "truncated",
            Problem::Malformed { .. } => "malformed",
            Problem::Limit(_) => "limit",
            Problem::Inconsistent(_) => "inconsistent",
        };
        assert!(name.starts_with(reason), "{name}: {error}");
    }
}

/// A whole history is read in finite time and memory whatever is done to it: `Ok` or `Err`, no panic.
fn survives(bytes: &[u8]) -> bool {
    read(bytes).is_ok_and(|(_, jobs)| !jobs.is_empty())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn changed_bytes_do_not_panic(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8), file in 0..4usize) {
        let files = ["teragen-unshaped/job_1795217314114_0001.jhist", "samples/terasort-unshaped.avro-json.jhist", "samples/rumen.json", "samples/sls.json"];
        let mut bytes = load(files[file]);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        survives(&bytes);
    }

    #[test]
    fn spliced_histories_do_not_panic(from in any::<prop::sample::Index>(), to in any::<prop::sample::Index>(), junk in prop::collection::vec(any::<u8>(), 0..64)) {
        let mut bytes = load("teragen-unshaped/job_1795217314114_0001.jhist");
        let (from, to) = (from.index(bytes.len()), to.index(bytes.len()));
        bytes.splice(from.min(to)..from.max(to), junk);
        survives(&bytes);
    }

    #[test]
    fn any_schema_and_any_bytes_do_not_panic(schema in "[ -~]{0,80}", data in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut bytes = format!("Avro-Binary\n{schema}\n").into_bytes();
        bytes.extend(data);
        survives(&bytes);
    }

    #[test]
    fn any_events_after_the_real_schema_do_not_panic(data in prop::collection::vec(any::<u8>(), 0..400)) {
        let real = load("teragen-unshaped/job_1795217314114_0001.jhist");
        let schema_end = real.iter().enumerate().filter(|(_, b)| **b == b'\n').nth(1).unwrap().0;
        let mut bytes = real[..=schema_end].to_vec();
        bytes.extend(data);
        survives(&bytes);
    }
}
