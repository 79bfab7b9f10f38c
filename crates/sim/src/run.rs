//! A run from a scenario to its result.

use crate::build::build;
use crate::harvest::harvest;
use crate::results::RunResult;
use crate::sample::Sampler;
use crate::scenario::Scenario;
use crate::transport::Captured;
use crate::world::World;
use crate::{Progress, RunError, Watch};
use std::ops::ControlFlow;
use units::Time;

/// About so many events are handled between two questions to the watcher.
const EVENTS: u64 = 200_000;

/// Packets of a link, for whoever wants to see them.
pub struct Tap<'a> {
    /// The link, as a fault names it; both ways of it.
    pub link: &'a str,
    /// Takes each packet, in order of arrival at the link's ends.
    pub take: &'a mut dyn FnMut(&Captured),
}

/// Runs a scenario to the end of its jobs and traffic, or to its time limit. `watch` is asked many times a second.
pub fn run(scenario: &Scenario, watch: &mut Watch) -> Result<RunResult, RunError> {
    run_tapped(scenario, None, watch)
}

/// The same, with the packets of a link handed out.
pub fn run_tapped(scenario: &Scenario, mut tap: Option<Tap<'_>>, watch: &mut Watch) -> Result<RunResult, RunError> {
    let mut world = build(scenario)?;
    if let Some(tap) = &tap {
        let transport = world.transport_mut().0;
        let Some(link) = Scenario::link(transport.topology(), tap.link) else {
            return Err(RunError::Scenario(format!("there is no link `{}` to capture", tap.link)));
        };
        transport.capture(link);
        transport.capture(link.reverse());
    }
    let mut sampler = Sampler::new(scenario.run.sample, &world);
    let until = scenario.run.until;
    // The watcher is asked at least once in so much simulated time, whatever the step of the samples.
    let mut step = sampler.next();
    loop {
        let sample = sampler.next().min(until);
        let pause = sample.min(world.now().saturating_add(step));
        let before = world.handled();
        let finished = world.run(pause);
        if let Some(tap) = &mut tap {
            world.transport_mut().0.take_captured().iter().for_each(&mut tap.take);
        }
        if finished || pause == until {
            break;
        }
        if pause == sample {
            sampler.take(&world);
        }
        if watch(&progress(&world, until)) == ControlFlow::Break(()) {
            return Err(RunError::Interrupted);
        }
        match world.handled() - before {
            events if events < EVENTS / 2 => step = step.saturating_add(step),
            events if events > EVENTS * 2 => step = (step / 2).max(Time::from_us(1)),
            _ => {}
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
