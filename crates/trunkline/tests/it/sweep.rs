//! `trunkline sweep` as its users meet it, and as a machine that dies does.

use crate::support::{Scratch, code, json, names, printed, said, signal};
use std::fs;
use std::path::Path;

const SCENARIO: &str = r#"
[cluster]
workers = 4
[[traffic]]
kind = "long"
[run]
until = "2 s"
"#;

const SWEEP: &str = "title = \"Rates and controls\"\nscenario = \"long.toml\"\nseeds = 2\n\
    [sweep]\nnetwork.rate = { from = \"50 Mbit/s\", to = \"200 Mbit/s\", factor = 2 }\n\
    tcp.control = [\"cubic\", \"bbr\"]\n";

fn scratch(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.file("long.toml", SCENARIO);
    scratch.file("s.toml", SWEEP);
    scratch
}

/// The finished runs of a folder; what a killed process has begun to write is none.
fn records(folder: &Path) -> Vec<String> {
    let all = if folder.is_dir() { names(folder) } else { Vec::new() };
    all.into_iter().filter(|name| !name.starts_with('.')).collect()
}

#[test]
fn a_killed_sweep_goes_on_where_it_was() {
    let scratch = scratch("sweep-killed");
    let words = ["sweep", "s.toml", "--threads", "1", "--out", "out"];
    let mut killed = scratch.start(&words);
    let runs = scratch.0.join("out/runs");
    scratch.wait_for(|_| records(&runs).len() >= 2);
    signal(&killed, "-KILL");
    killed.wait().expect("it ends");
    let kept = records(&runs);
    assert!((2..12).contains(&kept.len()), "{kept:?}");
    let texts: Vec<String> = kept.iter().map(|name| scratch.read(&format!("out/runs/{name}"))).collect();
    assert!(!scratch.has("out/sweep.parquet"));

    let output = scratch.trunkline(&words);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let reused = format!("{} of 12 runs were finished by an earlier call; --fresh makes them again", kept.len());
    assert!(said(&output).contains(&reused), "{}", said(&output));
    for (name, text) in kept.iter().zip(&texts) {
        assert_eq!(scratch.read(&format!("out/runs/{name}")), *text, "not made again");
    }
    // As if nothing had happened.
    let whole = scratch.trunkline(&["sweep", "s.toml", "--out", "whole", "--quiet"]);
    assert_eq!((code(&whole), said(&whole)), (0, String::new()));
    for file in ["sweep.json", "sweep.parquet", "report.html"] {
        let read = |folder: &str| fs::read(scratch.0.join(folder).join(file)).expect(file);
        assert!(read("out") == read("whole"), "{file}");
    }
    assert_eq!(records(&runs), records(&scratch.0.join("whole/runs")), "named by what they are");
}

#[test]
fn an_interrupted_sweep_says_how_to_go_on() {
    let scratch = scratch("sweep-interrupted");
    let words = ["sweep", "s.toml", "--threads", "1", "--out", "out"];
    let mut command = scratch.command(&words);
    let child = command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let child = child.spawn().expect("it starts");
    let runs = scratch.0.join("out/runs");
    scratch.wait_for(|_| !records(&runs).is_empty());
    signal(&child, "-INT");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(code(&output), 130, "{}", said(&output));
    let kept = records(&runs).len();
    let note = format!("interrupted: {kept} of 12 runs are kept in out; the same command goes on from there");
    assert!(said(&output).contains(&note), "{}", said(&output));
}

#[test]
fn the_answer_is_a_table_a_page_and_a_summary() {
    let scratch = scratch("sweep");
    let output = scratch.trunkline(&["sweep", "s.toml", "--set", "run.until=200 ms"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let text = printed(&output);
    for part in [
        "Rates and controls: 12 runs, 3 x 2 points, 2 seeds each",
        "network.rate, tcp.control",
        "100 Mbit/s, bbr",
        "least",
        "results/sweep-s/sweep.parquet",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let again = scratch.trunkline(&["sweep", "s.toml", "--set", "run.until=200 ms", "--json", "--quiet"]);
    let surface = json(&printed(&again));
    assert_eq!(surface["schema"], "trunkline-sweep/1");
    assert_eq!(
        (surface["points"].as_array().map(Vec::len), surface["axes"][0]["unit"].as_str()),
        (Some(6), Some("Mbit/s"))
    );
    assert_eq!(scratch.read("results/sweep-s/sweep.json"), printed(&again));
    assert!(scratch.has("results/sweep-s/report.html"));
}

#[test]
fn a_plan_is_lines_and_its_shares_are_the_whole() {
    let scratch = scratch("sweep-plan");
    let set = ["--set", "run.until=100 ms"];
    let plan = scratch.trunkline(&[&["sweep", "s.toml", "--plan"][..], &set].concat());
    let lines: Vec<_> = printed(&plan).lines().map(json).collect();
    assert_eq!((lines.len(), scratch.has("results")), (12, false));
    assert_eq!(lines[4]["values"]["network.rate"], "100 Mbit/s");
    for share in ["1/2", "2/2"] {
        let output = scratch.trunkline(&[&["sweep", "s.toml", "--only", share, "--out", "out"][..], &set].concat());
        assert_eq!(code(&output), 0, "{}", said(&output));
        let said = printed(&output);
        assert_eq!(said.contains("6 of 12 runs are in out, 6 of them made by this call"), share == "1/2", "{said}");
        assert_eq!(scratch.has("out/sweep.parquet"), share == "2/2", "the last share makes the table");
    }
    let named: Vec<String> =
        lines.iter().map(|line| format!("{}.json", line["run"].as_str().expect("a name"))).collect();
    assert!(named.iter().all(|name| scratch.has(&format!("out/runs/{name}"))));
    let output = scratch.trunkline(&["sweep", "s.toml", "--only", "3/2"]);
    assert!(code(&output) == 2 && said(&output).contains("written K/N"), "{}", said(&output));
}

#[test]
fn wrong_sweeps_are_refused_with_their_place() {
    let scratch = scratch("sweep-wrong");
    scratch.file("wrong.toml", &SWEEP.replace("network.rate", "network.rat"));
    let output = scratch.trunkline(&["sweep", "wrong.toml"]);
    assert_eq!(code(&output), 2);
    for part in ["wrong.toml:5:9", "did you mean `network.rate`?", "rat = {"] {
        assert!(said(&output).contains(part), "{part}: {}", said(&output));
    }
    let output = scratch.fed(&["sweep", "-", "--plan"], SWEEP);
    assert_eq!((code(&output), printed(&output).lines().count()), (0, 12), "{}", said(&output));
    assert!(!scratch.has("results"));
}

/// Every sweep that comes with Trunkline is right.
#[test]
fn the_sweeps_of_the_tree_are_right() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/sweeps");
    let scratch = Scratch::new("sweep-tree");
    let mut count = 0;
    for name in names(&folder) {
        let path = folder.join(&name).display().to_string();
        let output = scratch.trunkline(&["sweep", &path, "--plan"]);
        assert!(code(&output) == 0 && printed(&output).lines().count() > 10, "{name}: {}", said(&output));
        count += 1;
    }
    assert!(count >= 2, "{count}");
}
