//! The command line as its users meet it: what it prints, its exit codes, and what it leaves behind.

use crate::support::names;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// Eight flows through a small star: done in a moment.
const SMALL: &str = r#"
[cluster]
workers = 4
[[traffic]]
kind = "all-to-all"
from = "worker-1..worker-3"
to = "worker-2..worker-4"
bytes = "200 KB"
jitter = "1 ms"
[run]
until = "10 s"
"#;

/// Hours of simulated time under load.
const ENDLESS: &str = r#"
[[traffic]]
kind = "long"
[run]
until = "10 h"
"#;

/// A small TeraSort on a small cluster.
const JOB: &str = r#"
[cluster]
workers = 3
[hdfs]
block = "8 MiB"
replication = 2
[mapreduce]
reducers = 2
[job]
workload = "terasort"
input = "64 MB"
"#;

/// A folder of its own for a test, gone at its end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("trunkline-command-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a scratch folder");
        Self(path)
    }
    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, text).expect("written");
        path
    }
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).expect("a folder");
        let mut names: Vec<_> =
            entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
    fn trunkline(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("it starts")
    }
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trunkline"));
        command.args(args).current_dir(&self.0).env("NO_COLOR", "1").stdin(Stdio::null());
        command
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or(-1)
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).expect("JSON")
}

/// What a job reads from an object store and writes there is not said to be HDFS's.
#[test]
fn a_summary_says_that_a_job_has_its_data_in_an_object_store() {
    let scratch = Scratch::new("object-store");
    let scenario = "object-store = {}\n[cluster]\nworkers = 3\n[job]\nworkload = \"terasort\"\ninput = \"64 MB\"\n\
                    input-store = \"object-store\"\noutput-store = \"object-store\"\n";
    scratch.file("s3.toml", scenario);
    let output = scratch.trunkline(&["run", "s3.toml"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let summary = printed(&output);
    assert!(summary.contains("read 64 MB from the object store"), "{summary}");
    assert!(summary.contains("job output 64 MB to the object store") && !summary.contains("from HDFS"), "{summary}");
}

#[test]
fn a_run_leaves_a_folder_and_a_summary_of_a_hundred_columns() {
    let scratch = Scratch::new("run");
    scratch.file("small.toml", SMALL);
    let output = scratch.trunkline(&["run", "small.toml", "--set", "traffic.0.bytes=300 KB"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let summary = printed(&output);
    assert!(summary.contains("all-to-all-1") && summary.contains("results/small"), "{summary}");
    assert!(summary.lines().all(|line| line.chars().count() <= 100), "{summary}");
    let folder = scratch.0.join("results/small");
    let result = json(&fs::read_to_string(folder.join("result.json")).expect("a summary"));
    for field in ["schema", "scenario_digest", "seed", "job", "phases", "bytes", "network", "nodes", "energy", "ledger"]
    {
        assert!(result.get(field).is_some(), "{field}");
    }
    // Seven pairs: worker-2 and worker-3 do not send to themselves.
    assert_eq!(result["traffic"][0]["completed"], 7);
    assert_eq!(result["traffic"][0]["delivered"], 7 * 300_000);
    assert_eq!(result["nodes"][0]["name"], "master");
    assert!(
        result["ledger"].as_array().is_some_and(|all| !all.is_empty() && all.iter().all(|law| law["holds"] == true))
    );
    for table in ["tasks", "phases", "flows", "queues", "links", "nodes", "disks", "samples", "events"] {
        let bytes = fs::read(folder.join(format!("{table}.parquet"))).expect("a table");
        assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"), "{table}");
    }
    assert!(fs::read_to_string(folder.join("report.html")).expect("a page").contains("<html"));
    let timing = json(&fs::read_to_string(folder.join("timing.json")).expect("timing"));
    assert!(timing["wall_s"].as_f64().is_some_and(|wall| wall > 0.0));
}

#[test]
fn a_job_is_summed_up_and_its_failure_is_exit_3() {
    let scratch = Scratch::new("job");
    scratch.file("job.toml", JOB);
    let output = scratch.trunkline(&["run", "job.toml", "--out", "out"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let text = printed(&output);
    assert!(text.contains("job terasort: SUCCEEDED") && text.contains("where the time went"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let result = json(&fs::read_to_string(scratch.0.join("out/result.json")).expect("a summary"));
    assert_eq!(result["job"]["state"], "SUCCEEDED");
    assert_eq!((result["bytes"]["map_input"].as_u64(), result["job"]["maps"].as_u64()), (Some(64_000_000), Some(8)));
    for field in ["submit_s", "launch_s", "finish_s"] {
        assert!(result["job"][field].is_number(), "{field}");
    }
    for field in ["map_output", "shuffle_local", "shuffle_remote", "hdfs_read_local", "hdfs_read_remote", "written"] {
        assert!(result["bytes"][field].is_number(), "{field}");
    }
    let balances = result["ledger"].as_array().expect("a list");
    assert!(balances.len() >= 4 && balances.iter().all(|law| law["holds"] == true), "{balances:?}");

    let output = scratch.trunkline(&["run", "job.toml", "--out", "flows", "--set", "run.fidelity=flow"]);
    let text = printed(&output);
    assert!(text.contains("waiting behind other messages") && !text.contains("waiting in queues"), "{text}");

    let output = scratch.trunkline(&["run", "job.toml", "--out", "short", "--set", "run.until=5 s"]);
    assert_eq!(code(&output), 3, "{}", said(&output));
    assert!(said(&output).contains("it had not finished when the run ended"), "{}", said(&output));
    assert!(scratch.0.join("short/report.html").exists(), "what happened until then can be seen");
}

#[test]
fn a_replay_follows_its_history() {
    let scratch = Scratch::new("replay");
    let history = traces().join("wordcount-combine-unshaped/job_1795217314114_0003.jhist").display().to_string();
    let (run, cluster) = (traces().join("wordcount-combine-unshaped/run.toml"), traces().join("cluster.toml"));
    let (run, cluster) = (run.display().to_string(), cluster.display().to_string());
    let output = scratch.trunkline(&[
        "import",
        "jhist",
        &history,
        "--cluster",
        &cluster,
        "--run",
        &run,
        "-o",
        "calibrated.toml",
    ]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let output = scratch.trunkline(&["run", "calibrated.toml", "--replay", &history, "--json", "--out", "out"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    // The attempts stand on the hosts of the history: hadoop's own reader says which.
    let bytes = fs::read(&history).expect("a recorded job");
    let (_, jobs) = history::read(&bytes).expect("a history");
    let resolved = fs::read_to_string(scratch.0.join("out/scenario.toml")).expect("a scenario");
    let scenario = sim::parse("out", &resolved, &[]).unwrap_or_else(|error| panic!("{error}"));
    let plan = scenario.job[0].plan.as_ref().expect("a plan");
    let recorded: usize = jobs[0].maps.iter().chain(&jobs[0].reduces).map(|task| task.attempts.len()).sum();
    assert_eq!(plan.attempt.len(), recorded);
    // Beside the history, what its run counted at the four workers' interfaces: 33.8 MB received.
    let output = scratch.trunkline(&["run", "calibrated.toml", "--replay", &history, "--run", &run, "--out", "out"]);
    let text = printed(&output);
    let row =
        text.lines().find(|line| line.contains("workers' interfaces, received")).unwrap_or_else(|| panic!("{text}"));
    let numbers: Vec<f64> = row.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    assert_eq!(numbers[1], 33.8, "{row}");
    // Where HDFS puts replicas is its own choice.
    assert!((numbers[0] / numbers[1] - 1.0).abs() < 0.5, "{row}");
}

#[test]
fn the_resolved_scenario_gives_the_same_result_bit_for_bit() {
    let scratch = Scratch::new("again");
    scratch.file("small.toml", SMALL);
    let first = scratch.trunkline(&["run", "small.toml", "--out", "first", "--json", "--seed", "7"]);
    let again = scratch.trunkline(&["run", "first/scenario.toml", "--out", "again", "--json"]);
    assert_eq!((code(&first), code(&again)), (0, 0), "{}", said(&again));
    assert_eq!(printed(&first), printed(&again));
    assert_eq!(printed(&first), fs::read_to_string(scratch.0.join("first/result.json")).expect("a summary"));
    for table in ["flows", "links", "queues", "nodes", "samples"] {
        let read = |run: &str| fs::read(scratch.0.join(run).join(format!("{table}.parquet"))).expect("a table");
        assert_eq!(read("first"), read("again"), "{table}");
    }
    let other = scratch.trunkline(&["run", "small.toml", "--out", "other", "--json", "--seed", "8"]);
    assert_ne!(printed(&first), printed(&other), "the seed counts");
}

#[test]
fn many_runs_do_not_depend_on_the_threads() {
    let scratch = Scratch::new("threads");
    scratch.file("small.toml", SMALL);
    let run = |threads: &str| {
        let output =
            scratch.trunkline(&["run", "small.toml", "--runs", "4", "--threads", threads, "--out", threads, "--json"]);
        assert_eq!(code(&output), 0, "{}", said(&output));
        printed(&output)
    };
    let (one, four) = (run("1"), run("4"));
    assert_eq!(one, four);
    let runs = json(&one);
    assert_eq!(runs["seeds"], serde_json::json!([1, 2, 3, 4]));
    let figure = &runs["figures"][0];
    let values: Vec<f64> =
        figure["values"].as_array().expect("a list").iter().filter_map(serde_json::Value::as_f64).collect();
    let mean = values.iter().sum::<f64>() / 4.0;
    let deviation = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 3.0).sqrt();
    assert!((figure["mean"].as_f64().expect("a mean") - mean).abs() < 1e-9 * mean);
    // Student's t of 3 degrees of freedom.
    let half_width = figure["half_width_95"].as_f64().expect("an interval");
    assert!((half_width - 3.182_446 * deviation / 2.0).abs() < 1e-6 * mean, "{figure}");
    for seed in 1..=4 {
        let seeded =
            scratch.trunkline(&["run", "small.toml", "--seed", &seed.to_string(), "--json", "--out", "single"]);
        let path = scratch.0.join(format!("1/seed-{seed}/result.json"));
        assert_eq!(printed(&seeded), fs::read_to_string(path).expect("a summary"), "a run among many is the run alone");
    }
}

#[test]
fn a_comparison_says_what_is_significant() {
    let scratch = Scratch::new("compare");
    scratch.file("fast.toml", SMALL);
    scratch.file("slow.toml", &format!("{SMALL}[network]\nrate = \"100 Mbit/s\"\n"));
    let output = scratch.trunkline(&["compare", "fast.toml", "slow.toml", "--runs", "3"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let text = printed(&output);
    assert!(text.contains("  significant"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let output = scratch.trunkline(&["compare", "fast.toml", "fast.toml", "--runs", "3", "--json"]);
    let figures = json(&printed(&output));
    for figure in figures["figures"].as_array().expect("a list") {
        assert_eq!(figure["scenarios"][1]["difference"], 0.0, "the same scenario over the same seeds");
        assert_eq!(figure["scenarios"][1]["significant"], false);
    }
    // A comparison leaves its figures and one page, as a run does.
    assert_eq!(scratch.names(), ["fast.toml", "results", "slow.toml"]);
    assert_eq!(names(&scratch.0.join("results")), ["compare-fast-fast", "compare-fast-slow"]);
    let folder = scratch.0.join("results/compare-fast-slow");
    assert_eq!(names(&folder), ["comparison.json", "report.html"]);
    let page = fs::read_to_string(folder.join("report.html")).expect("a page");
    assert!(page.contains("trunkline-runs-page/1") && page.contains("fast beside slow"));
    let again = scratch.trunkline(&["compare", "fast.toml", "slow.toml", "--runs", "2", "--quiet"]);
    assert_eq!(code(&again), 0, "earlier figures are replaced: {}", said(&again));
    let elsewhere = scratch.trunkline(&["compare", "fast.toml", "slow.toml", "--runs", "2", "--out", "fast.toml"]);
    assert_eq!(code(&elsewhere), 5, "what is not a result folder stays: {}", said(&elsewhere));
}

#[test]
fn bad_input_is_answered_with_its_place_and_leaves_nothing() {
    let scratch = Scratch::new("bad");
    scratch.file("a.toml", "[hdfs]\nblok = \"64 MB\"\n[job]\n");
    scratch.file("good.toml", SMALL);
    scratch.file("not-text.toml", "");
    fs::write(scratch.0.join("not-text.toml"), [0xff, 0xfe, 0]).expect("written");
    scratch.file("csv.toml", "[[traffic]]\nkind = \"csv\"\nfile = \"none.csv\"\n");
    let before = scratch.names();
    let cases: [(&[&str], &str); 13] = [
        (&["run", "a.toml"], "a.toml:2:1"),
        (&["run", "a.toml"], "did you mean `block`?"),
        (&["run", "none.toml"], "cannot read none.toml: no such file or directory"),
        (&["run", "not-text.toml"], "not-text.toml is not text"),
        (&["run", "csv.toml"], "cannot read none.csv"),
        (&["run", "good.toml", "--set", "cluster.workers=0"], "--set:1:17"),
        (&["run", "good.toml", "--set", "network.rate=1 Mbits"], "did you mean `Mbit/s`"),
        (&["run", "good.toml", "--runs", "0"], "it must be a whole number from 1 to 10000"),
        (&["run", "good.toml", "--seed", "x"], "invalid value 'x' for '--seed <N>'"),
        (&["run", "good.toml", "--pcap", "worker-9"], "there is no link `worker-9` to capture"),
        (&["run", "good.toml", "--pcap", "worker-1", "--runs", "2"], "--pcap is for a single run"),
        (&["compare", "good.toml"], "name two scenarios, or `--fidelity packet,flow`"),
        (&["rum", "good.toml"], "a similar subcommand exists: 'run'"),
    ];
    for (args, message) in cases {
        let output = scratch.trunkline(args);
        assert_eq!(code(&output), 2, "{args:?}: {}", said(&output));
        assert!(said(&output).contains(message), "{args:?}: {}", said(&output));
        assert!(printed(&output).is_empty(), "{args:?}");
    }
    let left: Vec<_> = scratch.names().into_iter().filter(|name| name != "results").collect();
    assert_eq!(left, before, "nothing is left behind");
    assert!(fs::read_dir(scratch.0.join("results")).map_or(true, |mut entries| entries.next().is_none()));
}

#[test]
fn every_problem_is_shown_under_its_line() {
    let scratch = Scratch::new("problems");
    scratch.file("a.toml", "[cluster]\nworkers = 0\n[tcp]\ncontrol = \"qbic\"\n[job]\n");
    let output = scratch.trunkline(&["run", "a.toml"]);
    let text = said(&output);
    for part in
        ["0 is out of range: from 1 to 100000", "a.toml:2:11", "workers = 0", "did you mean `cubic`?", "a.toml:4:11"]
    {
        assert!(text.contains(part), "{text}");
    }
}

/// A job that nobody can work on is given up; what it leaves says who waited for what.
#[test]
fn a_run_that_gets_nowhere_is_exit_3_and_leaves_its_results() {
    let scratch = Scratch::new("stalled");
    let stuck = format!("{JOB}\n[[faults]]\nlink = \"master\"\n[run]\nno-progress = \"20 min\"\n");
    scratch.file("stuck.toml", &stuck);
    let output = scratch.trunkline(&["run", "stuck.toml", "--out", "out"]);
    assert_eq!(code(&output), 3, "{}", said(&output));
    let errors = said(&output);
    assert!(errors.contains("no progress from") && errors.contains("waits for"), "{errors}");
    let text = printed(&output);
    assert!(text.contains("job terasort: FAILED") && text.contains("no progress from"), "{text}");
    let out = scratch.0.join("out");
    let result = json(&fs::read_to_string(out.join("result.json")).expect("a summary"));
    assert_eq!(result["job"]["state"], "FAILED");
    assert!(result["job"]["reason"].as_str().expect("a reason").starts_with("no progress from"));
    let waits = result["stalled"]["waits"].as_array().expect("who waits");
    assert!(waits.iter().any(|wait| wait["who"] == "job terasort"), "{waits:?}");
    assert!(result["ledger"].as_array().expect("a ledger").iter().all(|law| law["holds"] == true));
    let page = fs::read_to_string(out.join("report.html")).expect("a page");
    assert!(page.contains("\"stalled\"") && page.contains("\"waits\""));
    for name in ["scenario.toml", "timing.json", "tasks.parquet"] {
        assert!(out.join(name).is_file(), "{name}");
    }
}

#[test]
fn output_that_cannot_be_written_is_exit_5_and_nothing_is_left() {
    let scratch = Scratch::new("output");
    scratch.file("small.toml", SMALL);
    scratch.file("file", "mine");
    fs::create_dir(scratch.0.join("mine")).expect("a folder");
    fs::write(scratch.0.join("mine/thesis.tex"), "years").expect("written");
    let long = "a".repeat(300);
    for (out, message) in [
        ("file", "file exists and is not a result folder"),
        ("mine", "mine exists and is not a result folder"),
        ("file/below", "it is not a folder"),
        ("/proc/out", "cannot write /proc/out: no folder can be made there"),
        (&long, &format!("cannot write {long}: this name is too long")),
        ("/", "is not a result folder"),
    ] {
        let output = scratch.trunkline(&["run", "small.toml", "--out", out]);
        assert_eq!(code(&output), 5, "{out}: {}", said(&output));
        assert!(said(&output).contains(message), "{out}: {}", said(&output));
    }
    assert_eq!(scratch.names(), ["file", "mine", "small.toml"]);
    assert_eq!(fs::read_to_string(scratch.0.join("mine/thesis.tex")).expect("still there"), "years");
}

/// The master cannot be reached for 50 s, so that the client submits its job after that. A client that takes long to
/// start has its job submitted as soon as it may be.
#[test]
fn a_client_that_waited_is_told_when_it_submitted() {
    let scratch = Scratch::new("submitted");
    scratch.file(
        "job.toml",
        "[cluster]\nworkers = 1\n[hdfs]\nreplication = 1\n[job]\nworkload = \"wordcount\"\ninput = \"1 MB\"\n",
    );
    let cut = "faults=[{ at = \"1 ms\", link = \"master -> switch\", down-for = \"50 s\" }]";
    let output = scratch.trunkline(&["run", "job.toml", "--out", "cut", "--set", cut]);
    let text = printed(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    let result = fs::read_to_string(scratch.0.join("cut/result.json")).expect("written");
    let result: serde_json::Value = serde_json::from_str(&result).expect("JSON");
    let submit = result["job"]["submit_s"].as_f64().expect("a time");
    assert!(submit > 50.0, "{submit} s");
    let words = |at: &str| text.split(at).nth(1).and_then(|rest| rest.split(' ').next()).and_then(|n| n.parse().ok());
    let told: f64 = words("for its client, which submitted it at ").unwrap_or_else(|| panic!("{text}"));
    assert!((told - submit).abs() <= 0.051, "{told} s for {submit} s");
    let late = "mapreduce.client-start=\"40 s\"";
    let text = printed(&scratch.trunkline(&["run", "job.toml", "--out", "late", "--set", late]));
    assert!(text.contains("from submission") && !text.contains("which submitted"), "{text}");
}

/// A file size limit stands in for a full disk: the write fails in the middle of the results.
#[test]
fn a_full_disk_is_exit_5_and_nothing_is_left() {
    let scratch = Scratch::new("full");
    scratch.file("small.toml", SMALL);
    let script =
        format!("ulimit -f 8; trap '' XFSZ; exec '{}' run small.toml --out out", env!("CARGO_BIN_EXE_trunkline"));
    let output = Command::new("bash").args(["-c", &script]).current_dir(&scratch.0).output().expect("bash");
    assert_eq!(code(&output), 5, "{}", said(&output));
    assert!(said(&output).contains("cannot write out/report.html: file too large"), "{}", said(&output));
    assert_eq!(scratch.names(), ["small.toml"]);
}

#[test]
fn earlier_results_are_replaced_whole() {
    let scratch = Scratch::new("replace");
    scratch.file("small.toml", SMALL);
    assert_eq!(code(&scratch.trunkline(&["run", "small.toml", "--out", "out", "--runs", "2"])), 0);
    assert!(scratch.0.join("out/seed-2/result.json").exists());
    assert_eq!(code(&scratch.trunkline(&["run", "small.toml", "--out", "out"])), 0);
    assert!(!scratch.0.join("out/seed-2").exists() && scratch.0.join("out/result.json").exists());
    assert_eq!(scratch.names(), ["out", "small.toml"]);
}

#[cfg(unix)]
#[test]
fn an_interrupt_is_exit_130_and_leaves_nothing() {
    let scratch = Scratch::new("interrupt");
    scratch.file("endless.toml", ENDLESS);
    for signal in ["-INT", "-TERM"] {
        let mut child = scratch
            .command(&["run", "endless.toml", "--out", "out"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        // Its folder is made once it listens and the scenario is read.
        for _ in 0..500 {
            if scratch.names().len() > 1 {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill");
        assert!(sent.success());
        let status = child.wait().expect("it ends");
        assert_eq!(status.code(), Some(130), "{signal}");
        assert_eq!(scratch.names(), ["endless.toml"], "{signal}");
    }
}

#[test]
fn a_reader_that_goes_is_no_error() {
    let scratch = Scratch::new("pipe");
    let script = format!("'{}' schema | head -n 1; exit ${{PIPESTATUS[0]}}", env!("CARGO_BIN_EXE_trunkline"));
    let output = Command::new("bash").args(["-c", &script]).current_dir(&scratch.0).output().expect("bash");
    assert_eq!(code(&output), 0);
    assert_eq!((printed(&output).as_str(), said(&output).as_str()), ("{\n", ""));
}

#[test]
fn a_capture_holds_both_ways_of_a_link() {
    let scratch = Scratch::new("pcap");
    scratch.file("small.toml", SMALL);
    let output = scratch.trunkline(&["run", "small.toml", "--out", "out", "--pcap", "worker-1", "--json"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let bytes = fs::read(scratch.0.join("out/worker-1.pcapng")).expect("a capture");
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes")) as usize;
    let (mut at, mut sent, mut received, mut syns, mut last) = (0, 0, 0, 0, (0, 0));
    while at < bytes.len() {
        if word(at) == 6 {
            assert!((word(at + 12), word(at + 16)) >= last, "in order of time");
            last = (word(at + 12), word(at + 16));
            // Within the block: 28 bytes of its own, 14 of Ethernet, then IPv4 with the sender at 12, then TCP with its
            // flags at 13.
            let from = &bytes[at + 28 + 14 + 12..at + 28 + 14 + 16];
            *(if from == [10, 0, 0, 2] { &mut sent } else { &mut received }) += 1;
            syns += usize::from(bytes[at + 28 + 14 + 20 + 13] & 2 != 0);
        }
        at += word(at + 4);
    }
    let links = json(&printed(&output));
    let node = &links["nodes"][1];
    assert_eq!(node["name"], "worker-1");
    // Worker 1 sends to three others: a SYN each, and the answer to it.
    assert_eq!(syns, 6);
    // 200 KB in segments of 1,448 B are 139 packets each, beside handshakes, ends, and what was sent again.
    assert!(sent >= 3 * 139 && received > 3 * 139 / 2, "{sent} sent, {received} received");
}

#[test]
fn schema_reference_man_and_completions_are_printed() {
    let scratch = Scratch::new("print");
    let schema = json(&printed(&scratch.trunkline(&["schema"])));
    assert_eq!(schema["properties"]["hdfs"]["properties"]["replication"]["default"], 3);
    let reference = printed(&scratch.trunkline(&["schema", "--reference"]));
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/scenario.md");
    assert_eq!(reference, fs::read_to_string(page).expect("docs/reference/scenario.md"));
    assert!(printed(&scratch.trunkline(&["man"])).contains(".TH trunkline"));
    let unknown = said(&scratch.trunkline(&["man", "rum"]));
    assert!(unknown.contains("trunkline has no command `rum`; did you mean `run`?"), "{unknown}");
    for shell in ["bash", "zsh", "fish"] {
        assert!(printed(&scratch.trunkline(&["completions", shell])).contains("pcap"), "{shell}");
    }
    for command in ["run", "compare", "import", "bench", "schema", "completions", "man"] {
        let help = printed(&scratch.trunkline(&[command, "--help"]));
        assert!(help.contains("Example") && help.contains(&format!("trunkline {command}")), "{help}");
    }
}

/// The recorded jobs, as they stand in the tree of `sim`.
fn traces() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../history/tests/traces")
}

#[test]
fn a_history_becomes_a_scenario_that_is_right() {
    let scratch = Scratch::new("import");
    let history = traces().join("wordcount-combine-unshaped/job_1795217314114_0003.jhist");
    let (run, history) = (traces().join("wordcount-combine-unshaped/run.toml"), history.display().to_string());
    let run = run.display().to_string();
    let output = scratch.trunkline(&["import", "jhist", &history, "--run", &run, "-o", "calibrated.toml"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let text = fs::read_to_string(scratch.0.join("calibrated.toml")).expect("a scenario");
    let scenario = sim::parse("calibrated.toml", &text, &[]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((scenario.cluster.workers, scenario.job.len(), scenario.hdfs.replication), (4, 1, 2));
    assert_eq!(scratch.names(), ["calibrated.toml"]);
    let output = scratch.trunkline(&["import", "jhist", &history, "-o", "none/calibrated.toml"]);
    assert_eq!(code(&output), 5, "{}", said(&output));
}

#[test]
fn a_history_that_cannot_be_read_is_exit_2() {
    let scratch = Scratch::new("history");
    let path = traces().join("wordcount-combine-unshaped/job_1795217314114_0003.jhist");
    let bytes = fs::read(&path).expect("a recorded job");
    fs::write(scratch.0.join("cut.jhist"), &bytes[..bytes.len() / 2]).expect("written");
    scratch.file("foreign.jhist", "PK\u{3}\u{4}");
    scratch.file("small.toml", SMALL);
    let other = "cluster.workers = 4\nhdfs.replication = 2\njob = { workload = \"sort\", reducers = 7 }";
    scratch.file("other.toml", other);
    let path = path.display().to_string();
    scratch.file("spark.toml", "[[spark.stage]]\nname = \"count\"");
    let cases: [(&[&str], &str); 9] = [
        (&["run", "spark.toml", "--replay", &path], "an application of Spark"),
        (&["import", "jhist", "cut.jhist"], "cut.jhist: "),
        (&["import", "jhist", "foreign.jhist"], "foreign.jhist: "),
        (&["import", "rumen", &path], "is a history of format jhist"),
        (&["import", "jhist", &path, "--job", "job_1"], "has no job job_1"),
        (&["import", "jhist", "none.jhist"], "cannot read none.jhist"),
        (&["run", "small.toml", "--replay", &path], "--replay is for a scenario of one job"),
        (
            &["run", "other.toml", "--replay", &path],
            "records another job than the scenario's (reducers: 4 there, 7 here)",
        ),
        (&["run", "small.toml", "--run", &path], "--replay <FILE>"),
    ];
    for (args, message) in cases {
        let output = scratch.trunkline(args);
        assert_eq!(code(&output), 2, "{args:?}: {}", said(&output));
        assert!(said(&output).contains(message), "{args:?}: {}", said(&output));
    }
    assert_eq!(scratch.names(), ["cut.jhist", "foreign.jhist", "other.toml", "small.toml", "spark.toml"]);
}

/// Every scenario that comes with Trunkline is right.
#[test]
fn the_scenarios_of_the_tree_are_right() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut count = 0;
    for entry in fs::read_dir(folder).expect("scenarios") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let text = fs::read_to_string(&path).expect("readable");
            let scenario = sim::parse(&path.display().to_string(), &text, &[]);
            let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
            // What a run leaves as `scenario.toml` can be run, and is the same.
            let resolved = sim::parse("scenario.toml", &scenario.to_toml(), &[]);
            let resolved = resolved.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            assert_eq!(resolved.digest(), scenario.digest(), "{}", path.display());
            count += 1;
        }
    }
    assert!(count >= 6, "{count} scenarios");
}
