//! Runs on a pool of threads.

use crate::{Effort, Error};
use rayon::ThreadPoolBuilder;
use rayon::iter::{ParallelBridge, ParallelIterator};
use results::RunResult;
use scenario::Scenario;
use sim::{TakeFlows, Tap};
use std::sync::{Mutex, PoisonError};

/// Makes a run for each position on a pool of threads. Returns the results in the order of positions, whatever the
/// number of threads. After the first failure no further run begins.
pub fn make_all<T: Send>(
    positions: &[usize],
    effort: &Effort<'_>,
    make: impl Fn(usize) -> Result<T, Error> + Sync,
) -> Result<Vec<T>, Error> {
    let pool = ThreadPoolBuilder::new().num_threads(effort.threads_for(positions.len())).build();
    let pool = pool.map_err(|error| Error::Internal(format!("cannot start threads: {error}")))?;
    let failure: Mutex<Option<Error>> = Mutex::new(None);
    let locked = || failure.lock().unwrap_or_else(PoisonError::into_inner);
    let one = |(place, position): (usize, &usize)| {
        if locked().is_some() {
            return None;
        }
        match make(*position) {
            Ok(made) => Some((place, made)),
            Err(error) => {
                locked().get_or_insert(error);
                None
            }
        }
    };
    // `par_bridge` starts runs in order, so that an interrupted call keeps the first ones.
    let mut made: Vec<(usize, T)> =
        pool.install(|| positions.iter().enumerate().par_bridge().filter_map(one).collect());
    if let Some(error) = failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    made.sort_unstable_by_key(|(place, _)| *place);
    Ok(made.into_iter().map(|(_, made)| made).collect())
}

/// Runs all scenarios. Each result goes to `take` when it is there; the values of `take` are returned in the order of
/// the scenarios.
pub fn run_all<T: Send>(
    scenarios: &[Scenario],
    effort: &Effort<'_>,
    take: impl Fn(RunResult) -> Result<T, Error> + Sync,
) -> Result<Vec<T>, Error> {
    let positions: Vec<usize> = (0..scenarios.len()).collect();
    make_all(&positions, effort, |position| take(run_one(&scenarios[position], position, None, None, effort)?))
}

/// Runs one scenario. `position` names it in reports of progress.
pub fn run_scenario(scenario: &Scenario, position: usize, effort: &Effort<'_>) -> Result<RunResult, Error> {
    run_one(scenario, position, None, None, effort)
}

/// Runs one scenario, with a tap on a link, and with a place for connections where there are too many to hold.
pub(crate) fn run_one(
    scenario: &Scenario,
    position: usize,
    tap: Option<Tap<'_>>,
    flows: Option<TakeFlows<'_>>,
    effort: &Effort<'_>,
) -> Result<RunResult, Error> {
    Ok(sim::run_with(scenario, tap, flows, &mut |progress| {
        (effort.progress)(position, progress);
        effort.stop.check()
    })?)
}
