//! `trunkline run`.

use crate::args::Run;
use crate::failure::{self, Failure};
use crate::interrupt::STOP;
use crate::progress::Meter;
use crate::screen::Screen;
use crate::{emit, estimates, summary};
use history::import::Counted;
use history::spark::SparkImported;
use results::to_json;
use runs::{Effort, Inputs, Likeness, Recorded, Told, failure_in, file_name};
use scenario::Scenario;
use std::io::{self, Write as _};
use std::path::Path;

/// Simulates a scenario once or over several seeds.
pub fn run(args: &Run) -> Result<(), Failure> {
    let inputs = Inputs::new(&STOP);
    let (mut scenario, warnings) = inputs.scenario(&args.scenario, &args.change.to_change())?;
    failure::warn(&warnings);
    let recorded = match &args.replay {
        Some(file) => Some(Recorded {
            job: inputs.replay(&mut scenario, file)?,
            likeness: Likeness::Replayed,
            counted: match &args.recorded {
                Some(file) => inputs.settings(file)?.counted,
                None => Counted::default(),
            },
            remark: None,
        }),
        None => own_record(&inputs, &scenario, args),
    };
    if args.replay.is_some() && args.runs == 1 {
        // One run stands for all: its attempts take what equal ones take on average.
        scenario.mapreduce.task_variation = 0.0;
    }
    let application = own_application(&inputs, &scenario, args);
    let told =
        Told { recorded: recorded.as_ref(), application: application.as_ref(), changes: &args.change.assignments };
    if args.pcap.is_some() && args.runs > 1 {
        return Err(Failure::Input("--pcap is for a single run".to_owned()));
    }
    let target = args.out.clone().unwrap_or_else(|| Path::new("results").join(file_name(&scenario.name)));
    if args.runs == 1 { once(args, &scenario, told, &target) } else { many(args, &scenario, told, &target) }
}

/// The recorded job that an imported scenario was made of. Without its history the run is as good, and the page shows
/// less.
fn own_record(inputs: &Inputs<'_>, scenario: &Scenario, args: &Run) -> Option<Recorded> {
    let changed = !args.change.assignments.is_empty();
    inputs.own_record(scenario, &args.scenario, changed).unwrap_or_else(|error| {
        let text = format!("note: the page does not show the recorded job (job.history): {error}\n");
        let _ = io::stderr().lock().write_all(text.as_bytes());
        None
    })
}

/// The recorded application of Spark that an imported scenario was made of. Without its log the run is as good, and
/// shows less.
fn own_application(inputs: &Inputs<'_>, scenario: &Scenario, args: &Run) -> Option<SparkImported> {
    let changed = !args.change.assignments.is_empty();
    inputs.own_application(scenario, &args.scenario, changed).unwrap_or_else(|error| {
        let text = format!("note: what was recorded is not shown beside the run (spark.history): {error}\n");
        let _ = io::stderr().lock().write_all(text.as_bytes());
        None
    })
}

fn once(args: &Run, scenario: &Scenario, told: Told<'_>, target: &Path) -> Result<(), Failure> {
    let meter = Meter::new(1, args.effort.quiet);
    let progress = |run: usize, progress: &sim::Progress| meter.update(run, progress);
    let effort = Effort { threads: args.effort.threads, stop: &STOP, progress: &progress };
    let single = runs::single(scenario, told, args.pcap.as_deref(), target, &effort);
    meter.finish();
    let single = single?;
    let result = &single.result;
    if args.json {
        emit(&to_json(result))?;
    } else {
        let screen = Screen::of_output();
        emit(&summary::of(result, &screen))?;
        if let Some(comparison) = &single.comparison {
            emit(&summary::of_comparison(comparison, &screen))?;
        }
        emit(&format!("\nresults: {0}\nthe page: {0}/report.html\n", target.display()))?;
    }
    if let Some(stall) = &result.stall {
        return Err(Failure::Job(stall.to_string()));
    }
    failure_in(result).map_or(Ok(()), |reason| Err(Failure::Job(reason)))
}

fn many(args: &Run, scenario: &Scenario, told: Told<'_>, target: &Path) -> Result<(), Failure> {
    let meter = Meter::new(args.runs as usize, args.effort.quiet);
    let progress = |run: usize, progress: &sim::Progress| meter.update(run, progress);
    let effort = Effort { threads: args.effort.threads, stop: &STOP, progress: &progress };
    let many = runs::many(scenario, args.runs, told, target, args.fresh, &effort);
    meter.finish();
    let many = many?;
    if many.reused > 0 && !args.effort.quiet {
        let (reused, runs) = (many.reused, args.runs);
        let text = format!("{reused} of {runs} runs were finished by an earlier call; --fresh makes them again");
        let text = format!("{}\n", Screen::of_output().wrapped(&text, 0));
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }
    let summary = many.summary();
    if args.json {
        emit(&summary.to_json())?;
    } else {
        emit(&estimates::of(&summary, &Screen::of_output()))?;
        emit(&format!("\nresults: {0}\nthe page: {0}/report.html\n", target.display()))?;
    }
    summary.failure().map_or(Ok(()), |reason| Err(Failure::Job(reason.to_owned())))
}
