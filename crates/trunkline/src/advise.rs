//! `trunkline advise`.

use crate::advise_args::Advise;
use crate::failure::{self, Failure};
use crate::interrupt::STOP;
use crate::screen::Screen;
use crate::table::Table;
use crate::{advise_text, emit};
use ::advise::{Asked, Limits, Remedies, advise as search};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use runs::{Effort, Error, Inputs, file_name};
use scenario::Scenario;
use scenario::key::Section;
use serde_json::json;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::time::Duration;
use units::Time;

/// How long a search takes where nobody says it.
const BUDGET: Time = Time::from_secs(120);

/// Searches among remedies for a scenario.
pub fn advise(args: &Advise) -> Result<(), Failure> {
    let inputs = Inputs::new(&STOP);
    let mut remedies = Remedies::embedded().map_err(|error| Failure::Internal(error.to_string()))?;
    if let Some(path) = &args.remedies {
        let text = inputs.text(path)?;
        remedies = remedies.with(Remedies::read(&path.display().to_string(), &text).map_err(Error::Scenario)?);
    }
    if !args.only.is_empty() {
        remedies.keep(&args.only).map_err(Failure::Input)?;
    }
    remedies.leave_out(&args.without).map_err(Failure::Input)?;
    if args.list {
        return list(&remedies, args.json);
    }
    let Some(path) = &args.scenario else { return Err(Failure::Input("there is no scenario".to_owned())) };
    let (scenario, warnings) = inputs.scenario(path, &args.change.to_change())?;
    failure::warn(&warnings);
    if let Some(key) = args.keep.iter().find(|key| !is_known(key)) {
        return Err(Failure::Input(format!("--keep {key}: the scenario language has no such key")));
    }
    let budget = args.budget.unwrap_or(BUDGET);
    if budget == Time::ZERO {
        return Err(Failure::Input(
            "--budget is not more than nothing: give it a time, as 2min, or say --all".to_owned(),
        ));
    }
    let asked = Asked {
        objective: args.objective,
        seeds: args.runs,
        budget: (!args.all).then(|| Duration::from_secs_f64(budget.as_secs_f64())),
        limits: Limits { keep: args.keep.clone() },
    };
    let target =
        args.out.clone().unwrap_or_else(|| Path::new("results").join(file_name(&format!("advise-{}", scenario.name))));
    let bar = bar(args.effort.quiet);
    let progress = |_: usize, _: &sim::Progress| bar.tick();
    let effort = Effort { threads: args.effort.threads, stop: &STOP, progress: &progress };
    let mut tell = |what: &str, made: usize, of: usize| bar.set_message(format!("{what}: {made} of {of} runs so far"));
    let advice = search(&scenario, remedies, &asked, &target, &effort, &mut tell);
    bar.finish_and_clear();
    let advice = advice?;
    if args.json {
        return emit(&advice.to_json());
    }
    emit(&advise_text::of(&advice, &Screen::of_output()))?;
    emit(&format!("\nresults: {0}\nthe page: {0}/report.html\n", target.display()))
}

/// Whether the language has a key, or a section of that name; entries of lists have numbers.
fn is_known(key: &str) -> bool {
    let path: Vec<&str> = key.split('.').filter(|part| part.parse::<u32>().is_err()).collect();
    Scenario::reference().iter().any(|doc| doc.path == path.join("."))
}

fn bar(quiet: bool) -> ProgressBar {
    let hidden = quiet || !io::stderr().is_terminal();
    let target = if hidden { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr_with_hz(8) };
    let bar = ProgressBar::with_draw_target(None, target);
    if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed}  {msg}") {
        bar.set_style(style);
    }
    bar
}

fn list(remedies: &Remedies, as_json: bool) -> Result<(), Failure> {
    if as_json {
        let of = |remedy: &::advise::Remedy| {
            json!({ "id": remedy.id, "name": remedy.name, "when": remedy.when, "set": remedy.set,
                "costs": remedy.costs, "apply": remedy.apply, "source": remedy.source, "yardstick": remedy.yardstick })
        };
        return emit(&format!("{:#}\n", json!(remedies.all.iter().map(of).collect::<Vec<_>>())));
    }
    let mut table = Table::new(["remedy", "what it is", "sets"]).of_texts().optional(&[2]);
    for remedy in &remedies.all {
        table.row([remedy.id.clone(), remedy.name.clone(), remedy.set.join(", ")]);
    }
    emit(&table.shown(&Screen::of_output()))
}

#[cfg(test)]
mod tests {
    use super::is_known;

    #[test]
    fn keys_that_a_scenario_leaves_out_are_known() {
        for key in ["hdfs", "hdfs.replication", "job.0.output-replication", "tcp.queue-threshold"] {
            assert!(is_known(key), "{key}");
        }
        for key in ["hdf", "hdfs.replicas", "job.0.outputs"] {
            assert!(!is_known(key), "{key}");
        }
    }
}
