//! `trunkline sweep`.

use crate::failure::{self, Failure};
use crate::interrupt::{self, STOP};
use crate::progress::Meter;
use crate::screen::Screen;
use crate::sweep_args::Sweep as Words;
use crate::{emit, sweep_dask, sweep_text};
use ::sweep::{Asked, Changes, Plan, Sweep, make};
use runs::{Effort, Error, Inputs, STANDARD_INPUT, file_name};
use std::io::{self, Write};
use std::path::Path;

/// Makes the runs of a sweep, or prints their plan.
pub fn sweep(words: &Words) -> Result<(), Failure> {
    let from_input = words.file.as_os_str() == STANDARD_INPUT;
    let text = Inputs::new(&STOP).text(&words.file)?;
    let name = if from_input { "stdin".to_owned() } else { words.file.display().to_string() };
    let sweep = Sweep::read(&name, &text).map_err(Error::Scenario)?;
    let folder = words.file.parent().filter(|_| !from_input).unwrap_or(Path::new(""));
    let changes = Changes { set: words.assignments.clone(), seeds: words.seeds };
    let (plan, warnings) = Plan::new(sweep, folder, &changes, &STOP)?;
    if words.plan {
        return (0..plan.runs.len()).filter_map(|position| plan.line(position)).try_for_each(|line| emit(&line));
    }
    failure::warn(&warnings);
    let target = words
        .out
        .clone()
        .unwrap_or_else(|| Path::new("results").join(file_name(&format!("sweep-{}", plan.sweep.name))));
    if let Some(address) = &words.dask {
        if from_input {
            return Err(Failure::Input("a sweep on Dask has a file, not standard input".to_owned()));
        }
        sweep_dask::hand_out(words, &plan, address, &target)?;
        // Whoever interrupts what is left: it has nothing to take down but files that are not whole.
        interrupt::limit(700);
    }
    let meter = Meter::new(plan.runs.len(), words.effort.quiet);
    let progress = |run: usize, progress: &sim::Progress| meter.update(run, progress);
    let effort = Effort { threads: words.effort.threads, stop: &STOP, progress: &progress };
    let asked = Asked { only: words.only, from: words.from.clone(), fresh: words.fresh && words.dask.is_none() };
    let made = make(&plan, &asked, &target, &effort);
    meter.finish();
    let made = made?;
    let all = plan.runs.len();
    let place = target.display();
    let Some(surface) = &made.surface else {
        let text = format!("{} of {all} runs are in {place}, {} of them made by this call; ", made.there, made.made);
        let rest = "the table and the page come with the last of them";
        return emit(&format!("{}\n", Screen::of_output().wrapped(&format!("{text}{rest}"), 0)));
    };
    let reused = made.there - made.made;
    if reused > 0 && !words.effort.quiet {
        let text = format!("{reused} of {all} runs were finished by an earlier call; --fresh makes them again");
        let text = format!("{}\n", Screen::of_output().wrapped(&text, 0));
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }
    if words.json {
        return emit(&surface.to_json());
    }
    emit(&sweep_text::of(surface, &Screen::of_output()))?;
    emit(&format!("\nthe table: {place}/sweep.parquet\nthe page: {place}/report.html\n"))
}
