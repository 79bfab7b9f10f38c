//! Scenarios from files, and runs of them over seeds on several threads.

use crate::args::{Change, Effort};
use crate::failure::Failure;
use crate::interrupt;
use crate::progress::Meter;
use sim::results::{Folder, RunResult};
use sim::scenario::Scenario;
use sim::{RunError, TakeFlows, Tap};
use std::fs;
use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Reads a scenario's file and lays the command line over it.
pub fn load(path: &Path, change: &Change) -> Result<Scenario, Failure> {
    let bytes = fs::read(path).map_err(|error| Failure::reading(path, &error))?;
    let Ok(text) = String::from_utf8(bytes) else {
        return Err(Failure::Input(format!("{} is not text", path.display())));
    };
    let seed = change.seed.map(|seed| format!("run.seed={seed}"));
    let assignments: Vec<_> = change.assignments.iter().cloned().chain(seed).collect();
    let name = path.display().to_string();
    let mut scenario = Scenario::parse(&name, &text, &assignments).map_err(Failure::Scenario)?;
    for (traffic, file) in scenario.flow_files() {
        let file = path.parent().unwrap_or(Path::new(".")).join(file);
        let text = fs::read_to_string(&file).map_err(|error| Failure::reading(&file, &error))?;
        scenario.take_flows(traffic, &file.display().to_string(), &text).map_err(Failure::Scenario)?;
    }
    for (traffic, file) in scenario.size_files() {
        let file = path.parent().unwrap_or(Path::new(".")).join(file);
        let text = fs::read_to_string(&file).map_err(|error| Failure::reading(&file, &error))?;
        scenario.take_sizes(traffic, &file.display().to_string(), &text).map_err(Failure::Scenario)?;
    }
    if let Some(file) = scenario.movement_file() {
        let file = path.parent().unwrap_or(Path::new(".")).join(file);
        let text = fs::read_to_string(&file).map_err(|error| Failure::reading(&file, &error))?;
        scenario.take_movements(&text);
    }
    Ok(scenario)
}

/// The scenario with each of `runs` seeds, from its own on.
pub fn seeds(scenario: &Scenario, runs: u32) -> Vec<Scenario> {
    let seeded = |offset| {
        let mut scenario = scenario.clone();
        scenario.run.seed = scenario.run.seed.wrapping_add(offset) & i64::MAX as u64;
        scenario
    };
    (0..u64::from(runs)).map(seeded).collect()
}

/// Runs every scenario, each on one thread, and gives each result to `take` as it comes; what `take` answers is returned
/// in the order of the scenarios, whatever the number of threads. The first failure stops the runs that are left.
pub fn run_all<T: Send>(
    scenarios: &[Scenario],
    effort: &Effort,
    take: impl Fn(usize, RunResult) -> Result<T, Failure> + Sync,
) -> Result<Vec<T>, Failure> {
    run_all_into(None, scenarios, effort, take)
}

/// The prefix in a folder of several runs of one of them.
pub fn prefix(scenario: &Scenario) -> String {
    format!("seed-{}/", scenario.run.seed)
}

/// The same; tables of connections that a run cannot hold go into `folder` during it.
pub fn run_all_into<T: Send>(
    folder: Option<&Folder>,
    scenarios: &[Scenario],
    effort: &Effort,
    take: impl Fn(usize, RunResult) -> Result<T, Failure> + Sync,
) -> Result<Vec<T>, Failure> {
    let meter = Meter::new(scenarios.len(), effort.quiet);
    let cores = || thread::available_parallelism().map_or(1, NonZero::get);
    let threads = effort.threads.map_or_else(cores, |threads| threads as usize).min(scenarios.len());
    let next = AtomicUsize::new(0);
    let outcomes: Mutex<Vec<Option<T>>> = Mutex::new(scenarios.iter().map(|_| None).collect());
    let failure: Mutex<Option<Failure>> = Mutex::new(None);
    let work = || {
        while failure.lock().unwrap_or_else(PoisonError::into_inner).is_none() {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(scenario) = scenarios.get(index) else { return };
            let result = match folder {
                Some(folder) => run_into((folder, &prefix(scenario)), scenario, index, None, &meter),
                None => run_one(scenario, index, None, None, &meter),
            };
            match result.and_then(|result| take(index, result)) {
                Ok(outcome) => outcomes.lock().unwrap_or_else(PoisonError::into_inner)[index] = Some(outcome),
                Err(error) => {
                    failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                }
            }
        }
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        work();
        // A panic of a thread goes on here, and is caught once, in `main`.
        for other in others {
            if let Err(panic) = other.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
    meter.finish();
    match failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(failure) => Err(failure),
        None => Ok(outcomes.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().flatten().collect()),
    }
}

/// Runs one scenario whose table of connections, if it cannot be held, goes into a folder under a prefix.
pub fn run_into(
    (folder, prefix): (&Folder, &str),
    scenario: &Scenario,
    index: usize,
    tap: Option<Tap<'_>>,
    meter: &Meter,
) -> Result<RunResult, Failure> {
    let mut flows = folder.flows(prefix, scenario.nodes().into_iter().map(|node| node.name).collect());
    let result = run_one(scenario, index, tap, Some(&mut |rows| flows.take(rows)), meter)?;
    flows.finish()?;
    Ok(result)
}

/// Runs one scenario; an imbalance of its ledger is a failure.
pub fn run_one(
    scenario: &Scenario,
    index: usize,
    tap: Option<Tap<'_>>,
    flows: Option<TakeFlows<'_>>,
    meter: &Meter,
) -> Result<RunResult, Failure> {
    let result = sim::run_with(scenario, tap, flows, &mut |progress| {
        meter.update(index, progress);
        interrupt::check()
    })?;
    let violations: Vec<_> = result.violations().cloned().collect();
    if violations.is_empty() { Ok(result) } else { Err(RunError::Ledger(violations).into()) }
}
