//! Event logs of Spark: recordings of our own (`tests/spark`), and logs that are cut, changed or something else.
//! Expected figures were summed from the recordings' JSON by another program.

use crate::mutated::{Draw, mutate};
use history::HistoryError;
use history::spark::{Application, Codec, Locality, LogPart, LogReader, TaskEnd, looks_like_log, open};
use std::fs;
use std::io::{self, Read};
use std::path::Path;

pub fn log(file: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/spark").join(file)).unwrap()
}

fn plain(bytes: &[u8]) -> Vec<u8> {
    let mut content = Vec::new();
    open(bytes).unwrap().read_to_end(&mut content).unwrap();
    content
}

pub fn application(bytes: &[u8]) -> Result<Application, HistoryError> {
    let mut reader = LogReader::default();
    reader.feed(open(bytes).unwrap())?;
    reader.finish()
}

/// Word count of 24 MB on four executors of one core, at 10 Mbit/s.
#[test]
fn a_recorded_word_count() {
    let of = application(&log("wordcount-10mbit.zstd")).unwrap();
    assert_eq!((of.id.as_str(), of.name.as_str()), ("app-20261126165157-0000", "wc-10mbit-plain"));
    assert_eq!((of.version.as_str(), of.driver.as_str(), of.cut_off), ("4.1.1", "m", false));
    assert_eq!(of.property("spark.executor.memory"), Some("600m"));
    let mut executors: Vec<_> = of.executors.iter().map(|executor| (executor.host.as_str(), executor.cores)).collect();
    executors.sort_unstable();
    assert_eq!(executors, [("w1", 1), ("w2", 1), ("w3", 1), ("w4", 1)]);
    let jobs: Vec<_> = of.jobs.iter().map(|job| (job.finish_ms.unwrap() - job.submit_ms, job.stages.clone())).collect();
    assert_eq!(jobs, [(32_941, vec![0, 1]), (3_080, vec![2, 3])]);
    // The second job needs the shuffle output of the first, and so skips the stage that would make it.
    let stages: Vec<_> = of.stages.iter().map(|s| (s.id, s.tasks, s.parents.clone(), s.submit_ms.is_some())).collect();
    assert_eq!(stages, [(0, 8, vec![], true), (1, 4, vec![0], true), (2, 8, vec![], false), (3, 4, vec![2], true)]);
    assert_eq!((of.tasks.len(), of.tasks.iter().filter(|task| task.end == TaskEnd::Succeeded).count()), (16, 16));
    let sum = |of: fn(&history::spark::Metrics) -> u64, tasks: &[history::spark::Task]| -> u64 {
        tasks.iter().map(|task| of(&task.metrics)).sum()
    };
    assert_eq!(sum(|m| m.input_bytes, &of.tasks), 24_561_357);
    assert_eq!(sum(|m| m.write.bytes, &of.tasks), 5_049_033);
    assert_eq!(
        (sum(|m| m.read.remote_bytes, &of.tasks), sum(|m| m.read.local_bytes, &of.tasks)),
        (7_573_153, 2_524_913)
    );
    // Both jobs read all of it.
    assert_eq!(7_573_153 + 2_524_913, 2 * 5_049_033);
    let first = of.tasks.iter().find(|task| task.id == 1).unwrap();
    assert_eq!((first.stage, &*first.host, first.locality), ((0, 0), "w2", Locality::ProcessLocal));
    assert_eq!((first.finish_ms.unwrap() - first.launch_ms, first.metrics.run_ms), (21_287, 18_069));
    assert_eq!((first.metrics.deserialize_ms, first.metrics.cpu_ns, first.metrics.gc_ms), (3_037, 725_298_412, 461));
    let last = of.tasks.iter().filter(|task| task.stage == (3, 0)).max_by_key(|task| task.finish_ms).unwrap();
    assert_eq!(
        (last.metrics.read.wait_ms, last.metrics.read.remote_blocks, last.locality),
        (1_230, 6, Locality::NodeLocal)
    );
}

/// The codecs that Spark writes with, and those in which people keep files: the same log.
#[test]
fn every_codec_gives_the_same_log() {
    let whole = plain(&log("wordcount-10mbit.zstd"));
    assert_eq!(whole.len(), 98_819);
    for (file, codec) in [("wordcount-10mbit.lz4", Codec::Lz4Block), ("wordcount-10mbit.snappy", Codec::SnappyBlock)] {
        let bytes = log(file);
        assert_eq!(Codec::detect(&bytes), Some(codec));
        assert!(plain(&bytes) == whole, "{file}");
        // A stream that was appended to.
        assert!(plain(&[&bytes[..], &bytes[..]].concat()) == [&whole[..], &whole[..]].concat(), "{file} twice");
    }
    let twice = [log("wordcount-10mbit.zstd"), log("wordcount-10mbit.zstd")].concat();
    assert!(plain(&twice) == [&whole[..], &whole[..]].concat());
    let lzf = open(&b"ZV\x01\x00\x05"[..]).err().unwrap();
    assert!(lzf.to_string().contains("LZF, which is not read"), "{lzf}");
}

/// Rolling logs are files that follow one another, each cut between two events.
#[test]
fn a_rolling_log_is_read_file_after_file() {
    let whole = plain(&log("sort-10mbit.zstd"));
    let at = whole.len() / 2 + whole[whole.len() / 2..].iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let mut reader = LogReader::default();
    reader.feed(&whole[..at]).unwrap();
    reader.feed(&whole[at..]).unwrap();
    assert_eq!(reader.finish().unwrap(), application(&whole).unwrap());

    let part = |number, compact| Some(LogPart { number, compact });
    assert_eq!(LogPart::of("events_12_app-20261126165157-0000.zstd"), part(12, false));
    assert_eq!(LogPart::of("events_2_local-1.compact"), part(2, true));
    assert_eq!(LogPart::of("appstatus_app-20261126165157-0000.inprogress"), None);
    assert_eq!(LogPart::of("job_1_0001.jhist"), None);
}

/// A log that breaks off is read as far as it goes, as Spark's history server does: applications are killed.
#[test]
fn a_log_that_breaks_off_is_read_so_far() {
    let whole = plain(&log("wordcount-10mbit.zstd"));
    let all = application(&whole).unwrap();
    for at in (0..whole.len()).step_by(997).filter(|at| *at > 200) {
        let cut = application(&whole[..at]).unwrap();
        assert_eq!(cut.cut_off, whole[at - 1] != b'\n', "{at}");
        assert!(cut.tasks.len() <= all.tasks.len() && cut.finish_ms.is_none(), "{at}");
    }
    for file in ["wordcount-10mbit.zstd", "wordcount-10mbit.lz4", "wordcount-10mbit.snappy"] {
        let bytes = log(file);
        let cut = application(&bytes[..bytes.len() * 3 / 4]).unwrap();
        assert!(cut.cut_off && !cut.tasks.is_empty() && cut.finish_ms.is_none(), "{file}");
    }
    let mut reader = LogReader::default();
    reader.feed(&whole[..5_000]).unwrap();
    let error = reader.feed(&whole[5_000..]).unwrap_err();
    assert!(error.to_string().contains("the file before this one breaks off"), "{error}");
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    let start = "{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"4.1.1\"}\n";
    let cases = [
        ("", "expected events of Spark"),
        ("a history\n", "at byte 0 (line 1): expected an event of Spark's log, found expected value"),
        (
            "{\"Event\":\"SparkListenerJobEnd\"}\n",
            "(line 1): expected an event of Spark's log, found missing field `Job ID`",
        ),
        (
            &format!("{start}{{\"Event\":\"SparkListenerApplicationEnd\",\"Timestamp\":\"now\"}}\n"),
            "at byte 113 (line 2)",
        ),
        (
            &format!("{start}{{\"Event\":\"SparkListenerJobEnd\",\"Job ID\":-1}}\n"),
            "invalid value: integer `-1`, expected u32",
        ),
        (&format!("{start}{{\"Event\":\"Spark\n{start}"), "(line 2): expected an event of Spark's log, found EOF"),
    ];
    for (text, expected) in cases {
        let error = application(text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(expected), "{text:?}: {error}");
    }
    // A line without an end takes no more than its bound.
    let error = LogReader::default().feed(start.as_bytes().chain(io::repeat(b'{'))).unwrap_err().to_string();
    assert!(error.contains("at byte 58 (line 2): a line of more than 67108864 bytes"), "{error}");
}

#[test]
fn a_log_is_known_by_its_first_event() {
    for start in
        ["{\"Event\":\"SparkListenerLogStart\"", " { \"Event\" : \"SparkListener", "{\"Event\":\"org.apache.spark.sql."]
    {
        assert!(looks_like_log(start.as_bytes()), "{start}");
    }
    for start in ["{\"jobID\":\"job_1_1\"", "{\"Event\":\"other", "{\"Event\"", "", "Avro-Json"] {
        assert!(!looks_like_log(start.as_bytes()), "{start}");
    }
}

/// Changed logs are read or refused.
#[test]
fn mutated_logs_are_read_or_refused() {
    let (mut read, mut refused) = (0, 0);
    for (number, file) in
        ["wordcount-10mbit.zstd", "wordcount-10mbit.lz4", "wordcount-10mbit.snappy"].iter().enumerate()
    {
        for bytes in [log(file), plain(&log(file))] {
            let mut draw = Draw(0x9e37_79b9_7f4a_7c15 ^ (number as u64 + 7));
            for round in 0..35 {
                let mutated = mutate(&bytes, round % 7, &mut draw);
                match open(&mutated[..]).map(|source| {
                    let mut reader = LogReader::default();
                    reader.feed(source).and_then(|()| reader.finish())
                }) {
                    Ok(Ok(of)) => {
                        read += 1;
                        assert!(of.last_ms() >= of.start_ms);
                    }
                    Ok(Err(error)) => {
                        refused += 1;
                        assert!(!error.to_string().is_empty());
                    }
                    Err(_) => refused += 1,
                }
            }
        }
    }
    assert!(read > 50 && refused > 50, "{read} read, {refused} refused");
}
