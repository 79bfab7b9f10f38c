//! `trunkline study`.

use crate::args;
use crate::failure::Failure;
use crate::interrupt::STOP;
use crate::progress::Meter;
use crate::screen::Screen;
use crate::table::Table;
use crate::{emit, study_text};
use runs::study::{Form, find, run};
use runs::{Effort, Inputs};
use serde_json::json;
use std::path::{Path, PathBuf};
use study::{Plan, Study, StudyOutcome, names};

/// Runs studies, or lists them.
pub fn study(args: &args::Study) -> Result<(), Failure> {
    let inputs = Inputs::new(&STOP);
    if args.names.iter().any(|name| name == "list") {
        return list(args, &inputs);
    }
    let mut chosen: Vec<String> = Vec::new();
    for name in &args.names {
        match name.as_str() {
            "all" => chosen.extend(names().into_iter().map(str::to_owned)),
            name => chosen.push(name.to_owned()),
        }
    }
    // All are read before the first is run: what is wrong with the last is better known now.
    let mut studies = chosen.iter().map(|name| find(name, &inputs)).collect::<Result<Vec<_>, _>>()?;
    if !args.figures.is_empty() {
        for study in &mut studies {
            study.keep_figures(&args.figures).map_err(Failure::Input)?;
        }
    }
    let screen = Screen::of_output();
    let mut outcomes = Vec::new();
    for study in &studies {
        let target = target(args, study);
        let outcome = one(args, study, &target)?;
        if !args.json {
            emit(&study_text::of(&outcome, &screen))?;
            emit(&format!("\nresults: {0}\nthe page: {0}/report.html\n\n", target.display()))?;
        }
        outcomes.push(outcome);
    }
    match (&outcomes[..], args.json) {
        ([outcome], true) => emit(&outcome.to_json()),
        (outcomes, true) => emit(&format!("{:#}\n", json!(outcomes))),
        ([_], false) => Ok(()),
        (outcomes, false) => emit(&study_text::of_all(outcomes, &screen)),
    }
}

/// The folder of a study's results.
fn target(args: &args::Study, study: &Study) -> PathBuf {
    let out = args.out.clone().unwrap_or_else(|| Path::new("results").join("studies"));
    out.join(if args.quick { format!("{}-quick", study.name) } else { study.name.clone() })
}

fn one(args: &args::Study, study: &Study, target: &Path) -> Result<StudyOutcome, Failure> {
    let form = Form { quick: args.quick, seeds: args.seeds };
    let planned = Plan::new(study, form.quick, form.seeds).map_err(runs::Error::Scenario)?.runs.len();
    let meter = Meter::new(planned, args.effort.quiet);
    let progress = |run: usize, progress: &sim::Progress| meter.update(run, progress);
    let effort = Effort { threads: args.effort.threads, stop: &STOP, progress: &progress };
    let outcome = run(study, form, target, &effort);
    meter.finish();
    Ok(outcome?)
}

/// The studies of the program with their titles.
fn list(args: &args::Study, inputs: &Inputs<'_>) -> Result<(), Failure> {
    let studies = names().into_iter().map(|name| find(name, inputs)).collect::<Result<Vec<_>, _>>()?;
    if args.json {
        let of = |study: &Study| json!({ "name": study.name, "title": study.file.title, "source": study.file.source });
        return emit(&format!("{:#}\n", json!(studies.iter().map(of).collect::<Vec<_>>())));
    }
    let mut table = Table::new(["study", "what it re-does"]).of_texts();
    for study in &studies {
        table.row([study.name.clone(), study.file.title.clone()]);
    }
    emit(&table.shown(&Screen::of_output()))
}
