//! A run from a scenario to its result.

use crate::build::build;
use crate::harvest::harvest;
use crate::results::RunResult;
use crate::sample::Sampler;
use crate::scenario::Scenario;
use crate::world::World;
use crate::{Progress, RunError, Watch};
use std::ops::ControlFlow;
use units::Time;

/// Runs a scenario to the end of its jobs and traffic, or to its time limit. `watch` is asked after every step of the samples.
pub fn run(scenario: &Scenario, watch: &mut Watch) -> Result<RunResult, RunError> {
    let mut world = build(scenario)?;
    let mut sampler = Sampler::new(scenario.run.sample, &world);
    let until = scenario.run.until;
    loop {
        let pause = sampler.next().min(until);
        let finished = world.run(pause);
        if finished || pause == until {
            break;
        }
        sampler.take(&world);
        if watch(&progress(&world, until)) == ControlFlow::Break(()) {
            return Err(RunError::Interrupted);
        }
    }
    sampler.take(&world);
    let result = harvest(scenario, &world, &sampler);
    let violations: Vec<_> = result.violations().cloned().collect();
    if violations.is_empty() { Ok(result) } else { Err(RunError::Ledger(violations)) }
}

fn progress(world: &World, until: Time) -> Progress {
    let now = world.now();
    let done = match world.driver() {
        Some(driver) => driver.cluster.mapreduce().progress(),
        None => now.as_secs_f64() / until.as_secs_f64(),
    };
    Progress { now, done, events: world.handled(), hops: world.transport().hops() }
}
