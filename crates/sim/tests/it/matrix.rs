//! Jobs on a quiet real cluster, slowed down or once more, predicted from the same jobs on the same machine without a
//! limit.
//!
//! Nothing is known of a job but its input, where that lies, and its network. `docs/fidelity.md` has the figures.

use crate::support::chance::misses;
use crate::support::matrix::{Run, runs};
use crate::support::recorded::{interval, predicted};
use scenario::{Fidelity, Scenario};

/// Seeds of an interval.
const SEEDS: u64 = 20;

/// Which maps are far from their input, where replicas go and which reducers share a node is chance, and decides on slow
/// links: a job of two maps takes twice as long if both are far. So the record is one draw, and an interval that has nine
/// tenths of the simulated ones misses one record in ten.
///
/// Flow level predicts the same but for the slowest of jobs at 5 Mbit/s, in a quarter of the time.
#[test]
fn a_quiet_cluster_s_jobs_lie_among_those_predicted_from_its_fast_ones() {
    jobs_lie_among_those_predicted(Fidelity::Flow);
}

#[test]
#[ignore = "the packets of 420 jobs: most of a minute of a core, in scripts/study"]
fn a_quiet_cluster_s_jobs_lie_among_those_predicted_packet_by_packet() {
    jobs_lie_among_those_predicted(Fidelity::Packet);
}

fn jobs_lie_among_those_predicted(fidelity: Fidelity) {
    let runs: Vec<Run> = runs().into_iter().filter(|run| !run.name().starts_with("unshaped/")).collect();
    let mut outside = Vec::new();
    for run in &runs {
        let recorded = run.recorded().job;
        let mut scenario = run.known(false);
        scenario.run.fidelity = fidelity;
        let predicted = predicted(&scenario, SEEDS);
        let (low, middle, high) = interval(predicted.iter().map(|moments| moments.job).collect());
        let name = run.name();
        println!("{name}: recorded {recorded:.1} s, predicted {middle:.1} s ({low:.1} to {high:.1})");
        if !(low..=high).contains(&recorded) {
            outside.push(name);
        }
    }
    let allowed = misses(runs.len());
    assert!(outside.len() <= allowed, "{} of {} at most: {outside:?}", allowed, runs.len());
}

/// Eleven of 45 maps of the first runs were not local on four workers; a scheduler that waits for local nodes had none.
#[test]
fn maps_are_as_often_far_from_their_input_as_they_were() {
    let far = |scenario: &Scenario| {
        let runs = predicted(scenario, SEEDS);
        runs.iter().filter(|moments| moments.remote > 0.0).count()
    };
    let terasort = runs().into_iter().find(|run| run.name() == "10Mbit/terasort-64MB-1").expect("the run");
    let count = far(&terasort.known(false));
    // One of two maps in about every second run.
    assert!((4..=16).contains(&count), "{count} of {SEEDS} runs");
}
