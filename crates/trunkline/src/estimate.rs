//! `trunkline estimate`.

use crate::args::Estimate;
use crate::emit;
use crate::failure::{self, Failure};
use crate::interrupt::STOP;
use crate::progress::Meter;
use crate::screen::Screen;
use crate::table::Table;
use estimate::{JobEstimate, Span};
use results::{JobState, Phase, RunResult};
use runs::{Effort, Inputs, run_all};
use units::Time;

/// Says how long a scenario's job takes, beside mean value analysis and, if asked, the simulation.
pub fn estimate(args: &Estimate) -> Result<(), Failure> {
    let (scenario, warnings) = Inputs::new(&STOP).scenario(&args.scenario, &args.change.to_change())?;
    failure::warn(&warnings);
    let jobs = estimate::estimate(&scenario).map_err(|unable| Failure::Input(unable.to_string()))?;
    let mut simulated = None;
    if args.simulate {
        let meter = Meter::new(1, args.effort.quiet);
        let progress = |run: usize, progress: &sim::Progress| meter.update(run, progress);
        let effort = Effort { threads: args.effort.threads, stop: &STOP, progress: &progress };
        let taken = run_all(std::slice::from_ref(&scenario), &effort, |result| Ok(simulated_spans(&result)));
        meter.finish();
        simulated = taken?.pop();
    }
    let simulated = simulated.unwrap_or_default();
    if args.json {
        return emit(&estimate::to_json(&scenario.name, &jobs, &simulated));
    }
    for (n, job) in jobs.iter().enumerate() {
        emit(&shown(job, simulated.get(n).copied().flatten(), &Screen::of_output()))?;
    }
    Ok(())
}

/// Seconds of maps, shuffle, reduces and all of each job that succeeded.
fn simulated_spans(result: &RunResult) -> Vec<Option<[f64; 4]>> {
    let seconds = |from: Time, to: Time| to.saturating_sub(from).as_secs_f64();
    let spans = |(number, job): (usize, &results::Job)| {
        let (launch, finish) = job.launch.zip(job.finish).filter(|_| job.state == JobState::Succeeded)?;
        let maps = result.attempts.iter().filter(|attempt| attempt.job as usize == number);
        let maps = maps.filter(|attempt| attempt.kind == results::TaskKind::Map);
        let maps = maps.filter(|attempt| attempt.state == results::AttemptState::Succeeded);
        let mapped = maps.map(|attempt| attempt.finish).max().unwrap_or(launch);
        let fetches = job.phases.iter().filter(|interval| interval.phase == Phase::Fetch);
        let fetched = fetches.map(|interval| interval.finish).max().unwrap_or(mapped).max(mapped);
        Some([seconds(launch, mapped), seconds(mapped, fetched), seconds(fetched, finish), seconds(launch, finish)])
    };
    result.jobs.iter().enumerate().map(spans).collect()
}

const STAGES: [&str; 4] = ["maps", "shuffle after them", "reduces", "launch to finish"];

fn stages(job: &JobEstimate) -> [Span; 4] {
    [job.maps, job.shuffle, job.reduces, job.total()]
}

fn shown(job: &JobEstimate, simulated: Option<[f64; 4]>, screen: &Screen) -> String {
    let mut heads = vec![job.name.as_str(), "at least s", "mean s", "at most s", "by MVA s"];
    if simulated.is_some() {
        heads.extend(["simulated s", "off"]);
    }
    let mut table = Table::new(heads).optional(&[4, 1, 3]);
    for (place, (name, span)) in STAGES.into_iter().zip(stages(job)).enumerate() {
        let found = simulated.map(|seconds| seconds[place]);
        let mva = if place == 3 { format!("{:.1}", job.mva) } else { "-".to_owned() };
        let off = found.filter(|found| *found > 0.0).map(|found| 100.0 * (span.mean / found - 1.0));
        let [least, mean, most] = [span.least, span.mean, span.most].map(|seconds| format!("{seconds:.1}"));
        let mut cells = vec![name.to_owned(), least, mean, most, mva];
        if let Some(found) = found {
            cells.extend([format!("{found:.1}"), off.map_or_else(|| "-".to_owned(), |off| format!("{off:+.1} %"))]);
        }
        table.row(cells);
    }
    table.shown(screen)
}
