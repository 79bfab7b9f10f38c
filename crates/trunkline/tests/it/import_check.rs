//! `trunkline import` says how near its scenario comes to the recorded job.

use crate::support::{Scratch, code, printed, said};
use std::path::Path;

fn sample(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../history/tests/samples").join(name).display().to_string()
}

const JOB: &str = "job_201103030619_0003";

#[test]
fn an_import_prints_predicted_beside_recorded() {
    let scratch = Scratch::new("import-check");
    let history = sample("foreign.rumen.json");
    let import = ["import", "rumen", &history, "--job", JOB];
    let output = scratch.trunkline(&[&import[..], &["-o", "job.toml", "--strict"]].concat());
    assert_eq!(code(&output), 0, "{}", said(&output));
    // The history: launched at 1299145368345, ended at 1299145453293 ms; 59.7 MB were shuffled.
    let table = printed(&output);
    let row = |name: &str| table.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{table}"));
    assert!(row("job, launch to finish").contains("84.9 s"), "{table}");
    assert!(row("shuffled").contains("59.7 MB"), "{table}");
    assert!(said(&output).contains("network.rate"), "{}", said(&output));
    // Without the check nothing is printed; without a file the scenario alone is.
    let output = scratch.trunkline(&[&import[..], &["-o", "unchecked.toml", "--no-check"]].concat());
    assert_eq!((code(&output), printed(&output)), (0, String::new()));
    assert_eq!(scratch.read("unchecked.toml"), scratch.read("job.toml"));
    // A scenario on standard output has no place, and does not say where its history is from there.
    let output = scratch.trunkline(&import);
    let written = scratch.read("job.toml");
    let placeless: Vec<&str> = written.lines().filter(|line| !line.starts_with("history = ")).collect();
    assert_eq!(placeless.len() + 1, written.lines().count(), "{written}");
    assert_eq!(printed(&output).lines().collect::<Vec<_>>(), placeless);
}

/// On links of 500 Kbit/s the shuffle of 50 MB over the network cannot take the recorded seconds: a warning names it,
/// and with `--strict` it is an error.
#[test]
fn a_job_that_is_not_reproduced_is_a_warning() {
    let scratch = Scratch::new("import-far");
    let history = sample("foreign.rumen.json");
    scratch.file(
        "slow.toml",
        "[cluster]\nworkers = 7\ngeneration = \"hadoop1\"\n[network]\nrate = \"500 Kbit/s\"\n[job]\ninput = \"1 MB\"\n",
    );
    let import = ["import", "rumen", &history, "--job", JOB, "--cluster", "slow.toml"];
    let output = scratch.trunkline(&[&import[..], &["-o", "job.toml"]].concat());
    assert_eq!(code(&output), 0, "{}", said(&output));
    assert!(said(&output).contains("warning: the scenario does not reproduce its job"), "{}", said(&output));
    assert!(printed(&output).contains("% *"), "{}", printed(&output));
    let output = scratch.trunkline(&[&import[..], &["-o", "strict.toml", "--strict"]].concat());
    assert_eq!(code(&output), 2, "{}", said(&output));
    assert!(said(&output).contains("error: the scenario does not reproduce its job"), "{}", said(&output));
    assert!(scratch.has("strict.toml"));
}

#[test]
fn a_job_that_failed_runs_to_where_it_did() {
    let scratch = Scratch::new("import-failed");
    let history = sample("failed-0.23.9.jhist");
    let output = scratch.trunkline(&["import", "jhist", &history, "-o", "job.toml"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    assert!(said(&output).contains("the recorded job did not succeed"), "{}", said(&output));
    let output = scratch.trunkline(&["run", "job.toml", "--out", "out"]);
    assert_eq!(code(&output), 3, "{}", said(&output));
    assert!(said(&output).contains("map 1 failed 4 times, as recorded"), "{}", said(&output));
}

/// The scenario names its history, and the page of a run shows the recorded attempts; figures are compared where
/// nothing was changed. Without the file the run is the same.
#[test]
fn a_run_of_an_import_shows_the_recorded_attempts() {
    let scratch = Scratch::new("import-record");
    std::fs::create_dir(scratch.0.join("done")).expect("made");
    std::fs::copy(sample("foreign.rumen.json"), scratch.0.join("done/trace.json")).expect("copied");
    let output = scratch.trunkline(&["import", "done/trace.json", "--job", JOB, "-o", "job.toml", "--no-check"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    assert!(scratch.read("job.toml").contains("history = \"done/trace.json\""), "{}", scratch.read("job.toml"));
    let run = |more: &[&str], out: &str| {
        let output = scratch.trunkline(&[&["run", "job.toml", "--out", out], more].concat());
        assert_eq!(code(&output), 0, "{}", said(&output));
        (output, scratch.read(&format!("{out}/report.html")))
    };
    let (output, page) = run(&[], "plain");
    assert!(page.contains("\"recorded\":{") && !page.contains("\"comparison\":null"));
    assert!(printed(&output).contains("84.9"), "{}", printed(&output));
    let (_, page) = run(&["--set", "network.rate='100 Mbit/s'"], "slower");
    assert!(page.contains("\"recorded\":{") && page.contains("\"comparison\":null"));
    std::fs::remove_dir_all(scratch.0.join("done")).expect("removed");
    let (output, page) = run(&[], "alone");
    assert!(said(&output).contains("job.history") && said(&output).contains("done/trace.json"), "{}", said(&output));
    assert!(!page.contains("\"recorded\":{") && page.contains("\"comparison\":null"));
    assert_eq!(scratch.read("alone/result.json"), scratch.read("plain/result.json"));
}
