//! Whatever the text, the parser answers; what it refuses, it refuses at a place within the text.

use proptest::prelude::*;
use std::fmt::Write;
use std::path::Path;

/// Parses, and checks what holds of any answer.
fn examine(text: &str, sets: &[String]) {
    match sim::parse("fuzz.toml", text, sets) {
        Ok(scenario) => {
            let resolved = scenario.to_toml();
            let again = sim::parse("fuzz.toml", &resolved, &[]).map_err(|error| error.to_string());
            assert_eq!(again.as_ref(), Ok(&scenario), "{resolved}");
            assert_eq!(scenario.nodes().len(), scenario.cluster.workers as usize + 1);
        }
        Err(error) => {
            assert!(!error.problems.is_empty());
            for problem in &error.problems {
                let source = &error.sources[problem.span.source];
                assert!(source.text.get(problem.span.range.clone()).is_some(), "{problem:?} in {:?}", source.text);
            }
            assert!(!error.to_string().is_empty());
        }
    }
}

/// The texts in `tests/corpus`: real scenarios, and texts that once were answered badly.
#[test]
fn the_corpus_is_answered() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut count = 0;
    for file in std::fs::read_dir(&folder).expect("the corpus is part of the tree") {
        let text =
            String::from_utf8_lossy(&std::fs::read(file.expect("readable").path()).expect("readable")).into_owned();
        examine(&text, &[]);
        // Every beginning of it too, as a file cut short would be.
        for (at, _) in text.char_indices().step_by(7) {
            examine(&text[..at], &[]);
        }
        count += 1;
    }
    assert!(count >= 8, "{count} texts");
}

fn section() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "cluster",
        "cluster.host",
        "[cluster.group]",
        "node",
        "network",
        "network.core",
        "[network.shape]",
        "[network.link]",
        "tcp",
        "hdfs",
        "mapreduce",
        "job",
        "[job]",
        "[traffic]",
        "[faults]",
        "storage",
        "run",
        "x",
    ])
}

fn key() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "workers",
        "generation",
        "group",
        "host",
        "nodes",
        "cores",
        "disks",
        "rate",
        "count",
        "node",
        "rack",
        "preset",
        "speed",
        "memory",
        "topology",
        "racks",
        "spines",
        "delay",
        "loss",
        "queue",
        "core",
        "mtu",
        "mss",
        "shape",
        "link",
        "from",
        "to",
        "burst",
        "limit",
        "control",
        "sack",
        "min-rto",
        "max-rto",
        "block",
        "replication",
        "packet",
        "reducers",
        "map-slots",
        "node-memory",
        "map-memory",
        "slowstart",
        "workload",
        "input",
        "splits",
        "shares",
        "combiner",
        "kind",
        "bytes",
        "start",
        "stop",
        "at",
        "slow",
        "down-for",
        "slow-for",
        "seed",
        "until",
        "sample",
        "name",
        "master",
        "file",
        "a.b",
        "\"q\"",
    ])
}

fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|n| n.to_string()),
        (0..200i64).prop_map(|n| n.to_string()),
        any::<f64>().prop_map(|x| format!("{x:?}")),
        (
            0..5000u32,
            prop::sample::select(vec![
                "B", "KB", "MiB", "TB", "ms", "us", "s", "h", "bit/s", "Mbit/s", "packets", "", "q"
            ])
        )
            .prop_map(|(n, unit)| format!("\"{n} {unit}\"")),
        prop::sample::select(vec![
            "true",
            "\"star\"",
            "\"graph\"",
            "\"tree\"",
            "\"yarn\"",
            "\"hadoop1\"",
            "\"workers\"",
            "\"master\"",
            "\"worker-1\"",
            "\"worker-2..worker-4\"",
            "[]",
            "[1, 2]",
            "{}",
            "{ kind = \"drop-tail\" }",
            "\"nexus7\"",
            "1979-05-27",
            "\"barrier\"",
            "\"all-to-all\"",
            "\"poisson\"",
            "\"wordcount\"",
            "\"generic\"",
            "[\"1 MB\", 3]",
            "\"\"",
            "[[[]]]",
            "nan",
            "-inf",
        ])
        .prop_map(str::to_owned),
        "\"[ -~]{0,12}\"",
    ]
}

fn document() -> impl Strategy<Value = String> {
    let table = (section(), prop::collection::vec((key(), value()), 0..5));
    prop::collection::vec(table, 0..6).prop_map(|tables| {
        let mut text = String::new();
        for (name, entries) in tables {
            let _ = writeln!(text, "[{name}]");
            for (key, value) in entries {
                let _ = writeln!(text, "{key} = {value}");
            }
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_text_is_answered(text in "\\PC{0,200}") {
        examine(&text, &[]);
    }

    #[test]
    fn any_document_is_answered(text in document()) {
        examine(&text, &[]);
    }

    #[test]
    fn any_assignment_is_answered(text in document(), set in "[a-z.0-9-]{0,20}=?[ -~]{0,12}", at in key(), to in value()) {
        examine(&text, &[set, format!("job.{at}={to}"), format!("network.{at}={to}")]);
    }
}
