//! `trunkline compare`.

use crate::args::Compare;
use crate::compare_real::{REAL, compare_real};
use crate::failure::{self, Failure};
use crate::interrupt::STOP;
use crate::progress::Meter;
use crate::screen::Screen;
use crate::{emit, estimates};
use runs::{Comparison, Effort, Folder, Inputs, RunsPage, SideBySide, change_words, file_name};
use scenario::Scenario;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Simulates scenarios over the same seeds and puts them side by side.
pub fn compare(args: &Compare) -> Result<(), Failure> {
    if args.fidelity.iter().any(|version| version == REAL) {
        return compare_real(args);
    }
    let inputs = Inputs::new(&STOP);
    let versions: Vec<Option<&String>> = match args.fidelity.as_slice() {
        [] => vec![None],
        named => named.iter().map(Some).collect(),
    };
    let repeated = (1..versions.len()).any(|place| versions[..place].contains(&versions[place]));
    if args.scenarios.len() * versions.len() < 2 || repeated {
        let message = "there is nothing to compare: name two scenarios, or `--fidelity packet,flow`";
        return Err(Failure::Input(message.to_owned()));
    }
    let (mut scenarios, mut paths) = (Vec::new(), Vec::new());
    for path in &args.scenarios {
        for version in &versions {
            let mut change = args.change.to_change();
            change.assignments.extend(version.map(|fidelity| format!("run.fidelity={fidelity}")));
            let (mut scenario, warnings) = inputs.scenario(path, &change)?;
            failure::warn(&warnings);
            let mut shown = path.clone();
            if let Some(fidelity) = version {
                scenario.name = format!("{} ({fidelity})", scenario.name);
                shown = PathBuf::from(format!("{} ({fidelity})", path.display()));
            }
            scenarios.push(scenario);
            paths.push(shown);
        }
    }
    let names = distinct_names(&scenarios, &paths);
    let target = args.out.clone().unwrap_or_else(|| default_target(&names));
    // Before the runs, so that a path that cannot be written is found at once.
    let folder = Folder::create(&target).map_err(runs::Error::from)?;
    let meter = Meter::new(scenarios.len() * args.runs as usize, args.effort.quiet);
    let progress = |run: usize, progress: &sim::Progress| meter.update(run, progress);
    let effort = Effort { threads: args.effort.threads, stop: &STOP, progress: &progress };
    let made = SideBySide::run(scenarios, names, args.runs, &effort);
    meter.finish();
    let made = made?;
    let summaries = made.summaries();
    let comparison = Comparison { summaries: &summaries };
    let changes = args.change.assignments.iter().map(|assignment| change_words(assignment)).collect();
    let text = comparison.to_json();
    let written = folder
        .file("comparison.json", text.as_bytes())
        .and_then(|()| folder.file("report.html", RunsPage::side_by_side(&comparison, changes).render().as_bytes()))
        .and_then(|()| folder.commit());
    written.map_err(runs::Error::from)?;
    if args.json {
        emit(&text)?;
    } else {
        let screen = Screen::of_output();
        emit(&if args.scenarios.len() == 1 {
            estimates::disagreement(&comparison, &args.fidelity, &screen)
        } else {
            estimates::side_by_side(&comparison, &screen)
        })?;
        emit(&format!("\nresults: {0}\nthe page: {0}/report.html\n", target.display()))?;
    }
    made.figures.iter().find_map(|run| run.failure.clone()).map_or(Ok(()), |reason| Err(Failure::Job(reason)))
}

/// Where the comparison goes if nobody says it.
pub fn default_target(names: &[String]) -> PathBuf {
    let file = |name: &str| Path::new(name).file_name().map_or_else(String::new, |file| file.to_string_lossy().into());
    let plain = |name: &String| -> String { file(name).trim_end_matches(".toml").to_owned() };
    let names: Vec<String> = names.iter().map(plain).collect();
    Path::new("results").join(file_name(&format!("compare-{}", names.join("-"))))
}

/// The scenarios' names; the paths of their files where two have one name.
fn distinct_names(scenarios: &[Scenario], paths: &[PathBuf]) -> Vec<String> {
    let names: BTreeSet<&str> = scenarios.iter().map(|scenario| scenario.name.as_str()).collect();
    if names.len() == scenarios.len() {
        return scenarios.iter().map(|scenario| scenario.name.clone()).collect();
    }
    paths.iter().map(|path| path.display().to_string()).collect()
}
