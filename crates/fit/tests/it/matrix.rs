//! Predictions of real jobs: the recorded matrix of jobs on a real cluster, by size and rate.

#[path = "../../../history/tests/matrix/mod.rs"]
mod rule;

use fit::{Checked, Errors, Observation, Rates, Reach, Site, Stage, TERMS, check, leave_out, noise};
use scenario::Scenario;
use std::fs;
use std::path::{Path, PathBuf};

/// A recorded run: its name RATE/JOB-SIZE-REP, and what it was.
struct Recorded {
    name: String,
    run: Observation,
    is_set_aside: bool,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../history/tests/traces/matrix")
}

/// What a file tells by its name: `terasort-64MB-2.jhist.gz` is the second run of its cell, `grep-64MB.1.jhist.gz` the
/// first job of the first.
struct Name<'a> {
    /// Job and size.
    cell: &'a str,
    repetition: u32,
    /// The job, and which one of a run of several.
    job: String,
}

fn name_of(stem: &str) -> Name<'_> {
    let run = stem.trim_end_matches(".1").trim_end_matches(".2");
    let part = &stem[run.len()..];
    let last = run.rsplit_once('-').and_then(|(cell, number)| Some((cell, number.parse().ok()?)));
    let (cell, repetition) = last.unwrap_or((run, 1));
    let job = cell.rsplit_once('-').map_or(cell, |(job, _)| job);
    Name { cell, repetition, job: format!("{job}{part}") }
}

fn recorded() -> Vec<Recorded> {
    let mut all = Vec::new();
    let mut rates: Vec<_> =
        fs::read_dir(folder()).expect("the matrix").map(|entry| entry.expect("a rate").path()).collect();
    rates.sort();
    for rate in rates.into_iter().filter(|path| path.is_dir()) {
        let text = fs::read_to_string(rate.join("cluster.toml")).expect("a cluster");
        let cluster = Scenario::parse("cluster.toml", &text, &[]).unwrap_or_else(|error| panic!("{error}"));
        let rate_name = rate.file_name().expect("a name").to_string_lossy().into_owned();
        let mut files: Vec<_> = fs::read_dir(&rate).expect("runs").map(|entry| entry.expect("a file").path()).collect();
        files.sort();
        for file in files {
            let file_name = file.file_name().expect("a name").to_string_lossy().into_owned();
            let Some(stem) = file_name.strip_suffix(".jhist.gz") else { continue };
            let history = history::read(&fs::read(&file).expect("readable")).expect("a history").1.remove(0);
            let Name { cell, repetition, job } = name_of(stem);
            let name = format!("{rate_name}/{cell}-{repetition}");
            let run = Observation::of(&name, &job, &history, Site::of(&cluster), &|_| None).expect("it can be fitted");
            all.push(Recorded { name, run, is_set_aside: rule::is_set_aside(&rate_name, cell, repetition) });
        }
    }
    all
}

fn told(checked: &[Checked]) {
    for one in checked {
        let beyond = match one.reach {
            Reach::Interpolated => 1.0,
            Reach::Extrapolated { factor } => factor,
        };
        let (name, error) = (&one.name, 100.0 * one.error());
        let placed = 100.0 * one.placed_error();
        println!(
            "{name:32} {:6.1} s, predicted {:6.1} ({:.1} to {:.1}): {error:+6.1} %, \
             placed {placed:+6.1} %, {beyond:.1}x",
            one.recorded_s, one.predicted_s, one.range_s.0, one.range_s.1
        );
    }
}

/// What physics says of rates that nobody told the fit: a link carries its rate, a core a CPU second in a second. TCP's
/// start, other traffic and hyper-threads leave something on either side.
#[test]
fn rates_are_those_of_the_machine() {
    let all = recorded();
    let rates = Rates::of(&all.iter().map(|one| &one.run).collect::<Vec<_>>());
    for (term, rate) in TERMS.iter().zip(rates.values()) {
        println!("{:?} {}: {rate:.3} {}", term.stage, term.name, term.unit);
        let bounds = match (term.stage, term.name) {
            (Stage::Maps | Stage::Shuffle, "network") => 0.85..=1.35,
            (Stage::Maps | Stage::Rest, "cpu") => 0.7..=1.3,
            _ => continue,
        };
        assert!(bounds.contains(rate), "{:?} {}: {rate}", term.stage, term.name);
    }
}

/// Each cell in turn, all its repetitions, from the others: what is left where it is known where tasks ran is model and
/// noise. Of twenty runs with two rates and, but for two jobs, one size each, most cells lie far beyond the others.
#[test]
fn cells_that_are_left_out_are_predicted_from_the_others() {
    let all = recorded();
    let runs: Vec<&Observation> = all.iter().map(|one| &one.run).collect();
    let checked = leave_out(&runs);
    told(&checked);
    assert_eq!(checked.len(), runs.len(), "every job has another cell");
    println!("noise {:?}", noise(&runs));
    let errors = Errors::of(checked.iter(), Checked::placed_error).expect("some");
    println!("{:?}, placed {errors:?}", Errors::of(checked.iter(), Checked::error));
    assert!(errors.median < 0.15, "{errors:?}");
}

/// The rule was stated before anything was fitted, and what it sets aside has no part in rates or volumes.
#[test]
fn runs_that_are_set_aside_are_predicted_from_the_rest() {
    let all = recorded();
    let (aside, rest): (Vec<&Recorded>, Vec<&Recorded>) = all.iter().partition(|one| one.is_set_aside);
    let runs = |of: &[&Recorded]| -> Vec<Observation> { of.iter().map(|one| one.run.clone()).collect() };
    let (aside, rest) = (runs(&aside), runs(&rest));
    let checked = check(&aside.iter().collect::<Vec<_>>(), &rest.iter().collect::<Vec<_>>());
    told(&checked);
    assert!(checked.len() >= 6, "{}", checked.len());
    let errors = Errors::of(checked.iter(), Checked::placed_error).expect("some");
    println!("{:?}, placed {errors:?}", Errors::of(checked.iter(), Checked::error));
    assert!(errors.median < 0.1, "{errors:?}");
}

/// Who has seen the network fast only expects it to carry its rate when it is slow: jobs at 10 Mbit/s from those
/// without a limit, 1,500 times as fast. Those of the same morning: on the second one, from the third repetition on,
/// the machine was a fifth slower, and with its runs the median error is 16 %.
#[test]
fn a_slow_network_is_predicted_from_a_fast_one() {
    let all = recorded();
    let of = |rate: &str| -> Vec<Observation> {
        let those = all.iter().filter(|one| one.name.starts_with(rate));
        those.map(|one| one.run.clone()).collect()
    };
    let (mut fast, slow) = (of("unshaped"), of("10Mbit"));
    fast.retain(|run| !run.name.ends_with("-3") && !run.name.ends_with("-4"));
    let checked = check(&slow.iter().collect::<Vec<_>>(), &fast.iter().collect::<Vec<_>>());
    told(&checked);
    let errors = Errors::of(checked.iter(), Checked::placed_error).expect("some");
    println!("{:?}, placed {errors:?}", Errors::of(checked.iter(), Checked::error));
    assert!(errors.median < 0.15, "{errors:?}");
}

/// Four times the size, from 64 MB to 256 MB on a fast network: eight maps and their JVMs share the two cores that two
/// maps had for themselves, and reducers start beside the last maps. None of these runs is set aside.
#[test]
fn four_times_the_size_is_predicted() {
    let all = recorded();
    let of = |size: &str| -> Vec<&Observation> {
        let those = all.iter().filter(|one| !one.is_set_aside && one.name.starts_with("unshaped"));
        those.filter(|one| one.name.contains(size)).map(|one| &one.run).collect()
    };
    let checked = check(&of("-256MB"), &of("-64MB"));
    told(&checked);
    assert_eq!(checked.len(), 2);
    for one in checked {
        assert!(one.error().abs() < 0.12 && one.placed_error().abs() < 0.105, "{one:?}");
    }
}
