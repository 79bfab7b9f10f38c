//! `trunkline import` of event logs of Spark, and `run` of what it writes.

use crate::support::{Scratch, code, printed, said, traces};
use std::fs;
use std::path::PathBuf;

fn logs() -> PathBuf {
    traces().join("../spark")
}

fn log(name: &str) -> String {
    logs().join(name).display().to_string()
}

#[test]
fn a_log_becomes_a_scenario_that_runs_as_recorded() {
    let scratch = Scratch::new("import-spark");
    let cluster = log("cluster-10mbit.toml");
    let imported = ["import", &log("wordcount-10mbit.lz4"), "--cluster", &cluster, "-o", "app.toml", "--strict"];
    let output = scratch.trunkline(&imported);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let table = printed(&output);
    assert!(table.contains("first submission to last end") && table.contains("36.1 s"), "{table}");
    assert!(table.contains("0: reduceByKey") && table.contains("shuffle, network"), "{table}");
    let text = scratch.read("app.toml");
    assert!(text.starts_with("# From the event log of app-20261126165157-0000: 36.1 s"), "{text}");
    assert_eq!(text.matches("[[spark.stage]]").count(), 3, "{text}");
    let output = scratch.trunkline(&["run", "app.toml", "--out", "out"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let summary = printed(&output);
    assert!(summary.contains("Spark: SUCCEEDED") && !summary.contains(" ps"), "{summary}");
    assert!(scratch.has("out/spark_tasks.parquet"));
    // An executor is lost with its node, which the summary says.
    assert!(!summary.contains("executors lost"), "{summary}");
    let fault = "faults=[{ at = \"15 s\", node = \"worker-1\" }]";
    let output = scratch.trunkline(&["run", "app.toml", "--out", "lost", "--set", fault]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    assert!(printed(&output).contains("executors lost: 1; attempts"), "{}", printed(&output));
    // What is changed is no yardstick.
    assert!(!printed(&output).contains("beside recorded"), "{}", printed(&output));
    // A link of a twentieth of the rate is felt.
    let slow = ["run", "app.toml", "--out", "slow", "--set", "network.shape=[{ rate = \"500 Kbit/s\" }]"];
    assert_eq!(code(&scratch.trunkline(&slow)), 0);
    let took = |folder: &str| {
        let json: serde_json::Value =
            serde_json::from_str(&scratch.read(&format!("{folder}/result.json"))).expect("JSON");
        json["spark"]["took_s"].as_f64().expect("a time")
    };
    assert!(took("slow") > took("out") + 10.0, "{} and {} s", took("slow"), took("out"));
}

/// The scenario that `-o` writes names its log. What the log says stands beside what is predicted: 36.1 s, its stages,
/// and the bytes of its shuffles, as the check of the import has them.
#[test]
fn a_run_shows_what_was_recorded() {
    let scratch = Scratch::new("import-spark-beside");
    fs::copy(log("wordcount-10mbit.lz4"), scratch.file("app.lz4", "")).expect("a copy");
    let cluster = log("cluster-10mbit.toml");
    let imported = scratch.trunkline(&["import", "app.lz4", "--cluster", &cluster, "-o", "app.toml"]);
    assert_eq!(code(&imported), 0, "{}", said(&imported));
    let text = scratch.read("app.toml");
    assert!(text.contains("history = \"app.lz4\""), "{text}");
    let output = scratch.trunkline(&["run", "app.toml", "--out", "out"]);
    let summary = printed(&output);
    let beside = summary.split_once("Predicted beside recorded").expect("a table").1;
    let line = |name: &str| beside.lines().find(|line| line.trim_start().starts_with(name)).unwrap_or_default();
    assert!(line("first submission to last end").contains("36.1 s"), "{beside}");
    let table = printed(&imported);
    for name in ["0: reduceByKey", "shuffle, written", "shuffle, network", "shuffle, same node"] {
        let checked = table.lines().find(|line| line.starts_with(name)).expect("checked");
        let recorded = checked[name.len()..].split_whitespace().next().expect("a figure");
        // 5.0 MB of the check are 5 MB here.
        let recorded = format!(" {} ", recorded.trim_end_matches(".0"));
        assert!(line(name).contains(&recorded), "{checked}: {beside}");
    }
    assert!(scratch.read("out/report.html").contains("Predicted beside recorded"));
    // Without the log, or with that of another application, the run is the same but for that.
    scratch.file("app.toml", &text.replace("0: reduceByKey", "0: other"));
    let other = scratch.trunkline(&["run", "app.toml", "--out", "other"]);
    assert_eq!(code(&other), 0, "{}", said(&other));
    assert!(said(&other).contains("spark.history") && said(&other).contains("other stages"), "{}", said(&other));
    scratch.file("app.toml", &text.replace("app.lz4", "gone.lz4"));
    let gone = scratch.trunkline(&["run", "app.toml", "--out", "gone"]);
    assert_eq!(code(&gone), 0, "{}", said(&gone));
    assert!(said(&gone).contains("spark.history") && said(&gone).contains("gone.lz4"), "{}", said(&gone));
    assert!(!printed(&gone).contains("beside recorded"), "{}", printed(&gone));
}

#[test]
fn a_rolling_log_is_a_folder() {
    let scratch = Scratch::new("import-spark-rolling");
    let bytes = fs::read(logs().join("wordcount-10mbit.lz4")).expect("a log");
    let mut whole = Vec::new();
    let mut source = history::spark::open(&bytes[..]).expect("known");
    std::io::Read::read_to_end(&mut source, &mut whole).expect("whole");
    let at = whole.len() / 2 + whole[whole.len() / 2..].iter().position(|byte| *byte == b'\n').expect("a line") + 1;
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
    fs::create_dir(scratch.file("mark", "").with_file_name("eventlog_v2_app")).expect("a folder");
    scratch.file("eventlog_v2_app/appstatus_app", "");
    scratch.file("eventlog_v2_app/events_1_app", &text(&whole[..at]));
    scratch.file("eventlog_v2_app/events_2_app", &text(&whole[at..]));
    let folder = scratch.trunkline(&["import", "eventlog_v2_app", "--no-check"]);
    assert_eq!(code(&folder), 0, "{}", said(&folder));
    let single = scratch.trunkline(&["import", "spark", &log("wordcount-10mbit.snappy"), "--no-check"]);
    assert_eq!(code(&single), 0, "{}", said(&single));
    assert_eq!(printed(&folder), printed(&single));
}

#[test]
fn what_makes_no_scenario_is_refused_with_its_reason() {
    let scratch = Scratch::new("import-spark-refused");
    let start = "{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"3.5.0\"}\n";
    let job = "{\"Event\":\"SparkListenerJobStart\",\"Job ID\":0,\"Submission Time\":1,\"Stage IDs\":[0]}\n\
               {\"Event\":\"SparkListenerStageCompleted\",\"Stage Info\":{\"Stage ID\":0,\"Number of Tasks\":1,\
               \"Submission Time\":1,\"Completion Time\":2}}\n";
    scratch.file("nowhere", &format!("{start}{job}"));
    scratch.file("broken", &format!("{start}{{\"Event\":\"SparkListenerJobEnd\",\"Job ID\":0}}\n"));
    scratch.file("other", "Meta VERSION=\"1\" .\n");
    let executor =
        r#"{"Event":"SparkListenerExecutorAdded","Timestamp":1,"Executor ID":"0","Executor Info":{"Host":"w",
        "Total Cores":1}}"#
            .replace('\n', " ");
    scratch.file("empty", &format!("{start}{executor}\n"));
    scratch.file("busy.toml", "[job]\ninput = \"1 GB\"\n");
    let busy = log("wordcount-10mbit.lz4");
    let cases: [(&[&str], &str); 5] = [
        (&["import", "nowhere"], "the log names no executor, nor a task of any"),
        (
            &["import", "broken"],
            "broken: at byte 99 (line 2): expected an event of Spark's log, found missing field `Job Result`",
        ),
        (&["import", "spark", "other"], "other is not an event log of Spark"),
        (&["import", "empty"], "no job of the application has succeeded"),
        (&["import", &busy, "--cluster", "busy.toml"], "has a [job], [[traffic]] or [[spark.stage]] of its own"),
    ];
    for (args, expected) in cases {
        let output = scratch.trunkline(args);
        let words = said(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(code(&output), 2, "{args:?}: {words}");
        assert!(words.contains(expected), "{args:?}: {words}");
    }
}
