//! Recorded jobs predicted: given their placement, and a priori over seeds. `docs/traces.md` has all figures.

#[path = "support/recorded.rs"]
mod support;

use support::{actual, interval, predicted, recorded};

/// Runs, and the run that each is calibrated on.
const RUNS: [(&str, &str); 12] = [
    ("wordcount-nocombine-unshaped", "wordcount-nocombine-10mbit"),
    ("wordcount-nocombine-unshaped", "wordcount-nocombine-10mbit-2"),
    ("wordcount-combine-unshaped", "wordcount-combine-10mbit"),
    ("wordcount-nocombine-unshaped", "wordcount-nocombine-unshaped"),
    ("wordcount-nocombine-unshaped", "wordcount-nocombine-unshaped-2"),
    ("wordcount-combine-unshaped", "wordcount-combine-unshaped"),
    ("terasort-unshaped", "terasort-unshaped"),
    ("terasort-unshaped", "terasort-unshaped-2"),
    ("grep-unshaped", "grep-unshaped"),
    ("teragen-unshaped", "teragen-unshaped"),
    ("dfsio-write-unshaped", "dfsio-write-unshaped"),
    ("dfsio-read-unshaped", "dfsio-read-unshaped"),
];

#[test]
fn given_the_placement_every_job_takes_what_it_took_within_a_tenth() {
    for (basis, run) in RUNS {
        for pair in recorded(basis, run, true) {
            let (ours, theirs) = (predicted(&pair.scenario, 1), actual(run, &pair.job));
            let error = ours.job / theirs.job - 1.0;
            assert!(error.abs() < 0.10, "{run}: {} s, recorded {} s", ours.job, theirs.job);
            for (phase, ours, theirs) in [("maps", ours.maps, theirs.maps), ("shuffle", ours.shuffle, theirs.shuffle)] {
                assert!((ours - theirs).abs() <= 0.15 * theirs, "{run}: {phase} done at {ours} s, recorded {theirs} s");
            }
        }
    }
}

/// Not grep, whose few bytes are mostly the job's own files, nor dfsio-read, whose history does not say where its data is.
#[test]
fn given_the_placement_the_interfaces_see_what_they_saw() {
    for (basis, run) in RUNS.into_iter().filter(|(_, run)| !run.starts_with("grep") && !run.starts_with("dfsio-read")) {
        for pair in recorded(basis, run, true) {
            let (ours, theirs) = (predicted(&pair.scenario, 1), actual(run, &pair.job));
            let error = ours.received / theirs.received - 1.0;
            assert!(error.abs() < 0.12, "{run}: {} MB, recorded {} MB", ours.received, theirs.received);
        }
    }
}

/// Two reducers share a node or none do, and that decides: the interval reaches from the one to the other.
#[test]
fn the_slow_network_is_predicted_from_the_fast_one() {
    let (basis, run) = ("wordcount-nocombine-unshaped", "wordcount-nocombine-10mbit");
    let free = recorded(basis, run, false).remove(0);
    let (low, _, high) = interval((1..=20).map(|seed| predicted(&free.scenario, seed).job).collect());
    for run in [run, "wordcount-nocombine-10mbit-2"] {
        let theirs = actual(run, &recorded(basis, run, false)[0].job).job;
        assert!((low..=high).contains(&theirs), "{run}: {low} to {high} s, recorded {theirs} s");
    }
    // At 10 Mbit/s the busiest worker's share takes 71 s (a reducer each) to 157 s (the largest two) beside 60 s of CPU.
    assert!(low > 120.0 && high < 250.0, "{low} to {high}");
}
