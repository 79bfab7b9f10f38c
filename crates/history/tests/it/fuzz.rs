//! Fuzzing: any bytes are a history, a configuration or a cluster's files, or are refused. `scripts/fuzz history text
//! 300` looks for inputs that break a target; what it has found is in `__fuzz__` and is replayed here.

use crate::spark_import::log;
use history::import::{Settings, cluster};
use history::spark::{LogReader, import as import_log, open};
use history::{Compression, Format, Properties, job_id_within, read, unpack};

/// What is read makes sense, and what is refused is refused at a place within the file.
fn examine(bytes: &[u8]) {
    match read(bytes) {
        Ok((_, jobs)) => {
            for job in &jobs {
                assert!(job.finish_ms.is_none_or(|finish| finish.checked_sub(job.launch_ms).is_some_and(|ms| ms >= 0)));
            }
        }
        Err(error) => {
            if Compression::detect(bytes).is_none() {
                assert!(error.offset <= bytes.len() as u64, "{error}");
            }
            assert!(!error.to_string().is_empty());
        }
    }
}

/// The text history: the input follows a beginning that says so.
#[test]
fn text() {
    bolero::check!().for_each(|input: &[u8]| {
        examine(&[b"Meta VERSION=\"1\" .\nJob JOBID=\"job_1_1\" SUBMIT_TIME=\"1\" .\n", input].concat());
        examine(&[b"Job JOBID=\"job_1_1\" ", input].concat());
    });
}

/// The JSON of Rumen and of SLS, and the events of a `.jhist`.
#[test]
fn json() {
    bolero::check!().for_each(|input: &[u8]| {
        examine(&[b"{\"jobID\":\"job_1_1\",\"submitTime\":1,\"mapTasks\":[", input].concat());
        examine(&[b"{\"job.tasks\":[", input].concat());
        let schema = br#"{"type":"record","name":"E","fields":[{"name":"type","type":"string"},{"name":"event","type":{"type":"map","values":"long"}}]}"#;
        examine(&[b"Avro-Json\n", &schema[..], b"\n", input].concat());
        examine(&[b"Avro-Binary\n", &schema[..], b"\n", input].concat());
    });
}

/// Any bytes at all, and any bytes of each compression.
#[test]
fn bytes() {
    bolero::check!().for_each(|input: &[u8]| {
        examine(input);
        let _ = Format::may_be(input);
        for magic in [&b"\x1f\x8b\x08\0"[..], b"\x28\xb5\x2f\xfd", b"BZh9", b"\x50\x2a\x4d\x18"] {
            let _ = unpack(&[magic, input].concat());
        }
    });
}

/// A job's configuration, and a cluster's folder in which every file is the input.
#[test]
fn configuration() {
    bolero::check!().for_each(|input: &[u8]| {
        let _ = job_id_within(&String::from_utf8_lossy(input));
        for bytes in [input.to_vec(), [b"<configuration><property>", input, b"</property></configuration>"].concat()] {
            if let Ok(properties) = Properties::read(&bytes, "") {
                let _ = (Settings::of_job(&properties), properties.job_id());
                let _ = cluster("c", |_| Ok(Some(bytes.clone())));
            }
        }
        let sites = b"<configuration/>".to_vec();
        let text =
            cluster("c", |name| Ok(Some(if name.ends_with("-site.xml") { sites.clone() } else { input.to_vec() })));
        // What is written is TOML, whatever hosts are called.
        if let Ok(text) = text {
            assert!(!text.lines().any(|line| line.starts_with("# ") && line.contains('\u{0}')), "{text}");
            let scenario = scenario::Scenario::parse("c", &text, &[]);
            assert!(scenario.is_ok(), "{text}: {scenario:?}");
        }
    });
}

/// An event log: events after a first one, and blocks of each codec.
#[test]
fn spark() {
    bolero::check!().for_each(|input: &[u8]| {
        let start = b"{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"4.1.1\"}\n{\"Event\":\"SparkListener";
        let task = b"TaskEnd\",\"Stage ID\":0,\"Task Info\":{\"Task ID\":0,";
        let job = b"JobStart\",\"Job ID\":0,\"Stage Infos\":[{\"Stage ID\":0,";
        for event in [&b""[..], task, job] {
            let mut reader = LogReader::default();
            match reader.feed(&[start, event, input].concat()[..]).and_then(|()| reader.finish()) {
                Ok(application) => assert!(application.last_ms() >= application.start_ms),
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
        for magic in
            [&b""[..], b"LZ4Block", b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01", b"\x28\xb5\x2f\xfd", b"\x1f\x8b\x08\0"]
        {
            let _ = open(&[magic, input].concat()[..]).map(|source| LogReader::default().feed(source));
        }
    });
}

/// An application of which times and counts are any numbers: what is read is imported, and what is imported is a
/// scenario or is refused as one.
#[test]
fn spark_import() {
    bolero::check!().with_type::<Vec<(u8, i64)>>().for_each(|values| {
        let mut values = values.iter();
        let text = log(&mut |usual| match values.next() {
            Some((kind @ 0..64, value)) => value >> (kind % 64),
            Some((64..96, value)) => usual.wrapping_add(value % 5_000),
            _ => usual,
        });
        let mut reader = LogReader::default();
        if let Ok(application) = reader.feed(text.as_bytes()).and_then(|()| reader.finish())
            && let Ok(imported) = import_log(&application, None)
        {
            assert!(imported.recorded.took >= 0.0 && imported.recorded.stages.iter().all(|(_, length)| *length >= 0.0));
            let _ = scenario::Scenario::parse("log", &imported.scenario.to_short_toml(), &[]);
        }
    });
}
