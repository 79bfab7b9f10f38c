//! `trunkline study` as its users meet it.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

const STUDY: &str = r#"
title = "Drops of an incast"
source = "a test"
seeds = 3
[[figure]]
id = "drops"
title = "Drops"
metric = "network.drops"
label = "drops"
[figure.x]
label = "senders"
set = ["cluster.workers={x}"]
values = [2, 8]
[[figure.series]]
name = "short queue"
[[figure.claim]]
text = "More senders, more drops."
rule = "rises"
"#;

const SCENARIO: &str = r#"
[network]
queue = { limit = "16 packets" }
[[traffic]]
kind = "barrier"
rounds = 20
bytes = "64 KiB"
jitter = "1 ms"
[run]
until = "20 s"
"#;

/// A folder of its own for a test, gone at its end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("trunkline-study-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(path.join("mine")).expect("a scratch folder");
        fs::write(path.join("mine/study.toml"), STUDY).expect("written");
        fs::write(path.join("mine/scenario.toml"), SCENARIO).expect("written");
        Self(path)
    }
    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trunkline"));
        command.arg("study").args(words).current_dir(&self.0);
        command
    }
    fn study(&self, words: &[&str]) -> Output {
        self.command(words).output().expect("it starts")
    }
    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }
    fn runs(&self, out: &str) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.0.join(out).join("runs")) else { return Vec::new() };
        let mut paths: Vec<_> = entries.map(|entry| entry.expect("readable").path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
        paths.sort();
        paths
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}
fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_study_says_its_verdict_and_leaves_a_page() {
    let scratch = Scratch::new("verdict");
    let output = scratch.study(&["mine", "--out", "out"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let text = printed(&output);
    assert!(text.contains("REPRODUCED: More senders, more drops."), "{text}");
    assert!(text.contains("mine: 1 reproduced, 0 not reproduced, 0 cannot tell"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100 || line.contains("results:")), "{text}");
    let json = scratch.study(&["mine", "--out", "out", "--json"]);
    assert_eq!(printed(&json), scratch.read("out/mine/study.json"));
    let page = scratch.read("out/mine/report.html");
    assert!(page.contains("trunkline-study/1") && page.contains("More senders, more drops."));
    assert!(scratch.read("out/mine/timing.json").contains("\"runs\": 0"), "all were kept from the first call");
}

#[test]
fn figures_are_picked_by_their_ids() {
    let scratch = Scratch::new("figure");
    let second = STUDY[STUDY.find("[[figure]]").expect("a figure")..].replace("\"drops\"\ntitle", "\"again\"\ntitle");
    fs::write(scratch.0.join("mine/study.toml"), format!("{STUDY}{second}")).expect("written");
    let output = scratch.study(&["mine", "--figure", "again", "--seeds", "1", "--out", "out"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(printed(&output).contains("mine: 1 reproduced"), "one of two: {}", printed(&output));
    let output = scratch.study(&["mine", "--figure", "agian", "--out", "out"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("no figure `agian`; did you mean `again`?"), "{}", said(&output));
}

#[test]
fn the_number_of_threads_and_a_break_change_nothing() {
    let scratch = Scratch::new("threads");
    for (threads, out) in [("1", "one"), ("3", "three")] {
        let output = scratch.study(&["mine", "--threads", threads, "--out", out]);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    }
    let whole = scratch.read("one/mine/study.json");
    assert_eq!(scratch.read("three/mine/study.json"), whole);
    let runs = scratch.runs("three/mine");
    assert_eq!(runs.len(), 6, "two points of three seeds");
    // As if it had been stopped: two runs are missing, one was half written.
    fs::remove_file(&runs[0]).expect("removed");
    fs::remove_file(&runs[3]).expect("removed");
    fs::write(&runs[5], "{\"schema\":").expect("written");
    let output = scratch.study(&["mine", "--out", "three"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(scratch.read("three/mine/study.json"), whole);
    assert!(scratch.read("three/mine/timing.json").contains("\"runs\": 3"));
}

#[cfg(unix)]
#[test]
fn an_interrupted_study_goes_on_where_it_was() {
    let scratch = Scratch::new("interrupt");
    // The second point takes far longer than the first.
    let scenario = SCENARIO.replace("rounds = 20", "rounds = 100_000_000").replace("20 s", "UNTIL s");
    let long = STUDY
        .replace("cluster.workers={x}\"", "cluster.workers=4\", \"run.until='{x} s'\"")
        .replace("[2, 8]", "[1, 100000]");
    fs::write(scratch.0.join("mine/study.toml"), long).expect("written");
    fs::write(scratch.0.join("mine/scenario.toml"), scenario.replace("UNTIL", "1")).expect("written");
    let mut command = scratch.command(&["mine", "--threads", "1", "--out", "out"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    for _ in 0..3000 {
        if scratch.runs("out/mine").len() >= 3 {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(sent.success());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    assert!(said(&output).contains("3 of 6 runs are kept in out/mine"), "{}", said(&output));
    assert_eq!(scratch.runs("out/mine").len(), 3);
    assert!(scratch.read("out/mine/study.json").contains("\"unfinished\": true"));
}

#[test]
fn bad_input_is_exit_2_and_a_foreign_folder_is_left_alone() {
    let scratch = Scratch::new("bad");
    let output = scratch.study(&["incast-barier"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("did you mean `incast-barrier`?"), "{}", said(&output));
    fs::write(scratch.0.join("mine/study.toml"), STUDY.replace("network.drops", "network.drop")).expect("written");
    let output = scratch.study(&["mine", "--out", "out"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("no figure is called `drop`: did you mean `drops`?"), "{}", said(&output));
    assert!(!scratch.0.join("out").exists(), "nothing runs for a metric that no run has");
    let text = STUDY.replace("network.drops", "link.nowhere.drops");
    fs::write(scratch.0.join("mine/study.toml"), text).expect("written");
    let output = scratch.study(&["mine", "--out", "out"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("there is no link `nowhere`"), "{}", said(&output));
    fs::write(scratch.0.join("mine/study.toml"), STUDY.replace("rule = \"rises\"", "rule = \"rise\""))
        .expect("written");
    let output = scratch.study(&["mine", "--out", "out"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("mine/study.toml:18:8") && said(&output).contains("`rises`"), "{}", said(&output));
    fs::create_dir_all(scratch.0.join("thesis/mine")).expect("made");
    fs::write(scratch.0.join("thesis/mine/thesis.tex"), "years of work").expect("written");
    fs::write(scratch.0.join("mine/study.toml"), STUDY).expect("written");
    let output = scratch.study(&["mine", "--out", "thesis"]);
    assert_eq!(output.status.code(), Some(5));
    assert_eq!(scratch.read("thesis/mine/thesis.tex"), "years of work");
}

#[test]
fn the_list_names_every_study() {
    let scratch = Scratch::new("list");
    let output = scratch.study(&["list"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(printed(&output).lines().any(|line| line.starts_with("incast-barrier ")), "{}", printed(&output));
}
