//! A run from a scenario to its result.

use crate::flows::{FlowKeeper, TakeFlows};
use crate::lower::{links, world};
use crate::run_result::run_result;
use crate::sample::{FIRST_STEP, Sampler};
use crate::watch::look;
use crate::world::World;
use crate::{Progress, RunError, Watch};
use results::{RunResult, Stall};
use scenario::Scenario;
use std::ops::ControlFlow;
use transport::{Captured, PacketTransport};
use units::{Bytes, Time};

/// Events between two calls of the watcher, about.
const EVENTS: u64 = 200_000;

/// A capture of one link's packets.
pub struct Tap<'a> {
    /// The link, named as in `[[faults]]`; both directions are captured.
    pub link: &'a str,
    /// Takes each packet, in the order in which their transmissions began.
    pub take: &'a mut dyn FnMut(&Captured),
}

/// Puts captured packets in the order of their transmission. A packet becomes known when it arrives; it waits here
/// until no packet that began earlier can still arrive.
struct Tapped<'a> {
    tap: Tap<'a>,
    waiting: Vec<Captured>,
    /// The longest time from the start of a packet's transmission to its arrival.
    longest: Time,
}

impl<'a> Tapped<'a> {
    fn new(tap: Tap<'a>, world: &mut World) -> Result<Self, RunError> {
        let Some(transport) = world.transport_mut().0.packets_mut() else {
            return Err(RunError::Scenario(
                "packets are captured where they are simulated: `run.fidelity = \"packet\"`".into(),
            ));
        };
        let named = links(transport.topology(), tap.link);
        if named.is_empty() {
            return Err(RunError::Scenario(format!("there is no link `{}` to capture", tap.link)));
        }
        let mut longest = Time::ZERO;
        for way in named.into_iter().flat_map(|link| [link, link.reverse()]) {
            transport.capture(way);
            let way = transport.link(way);
            longest = longest.max(way.delay() + way.rate().transmission_time(Bytes::new(1 << 16)));
        }
        Ok(Self { tap, waiting: Vec::new(), longest })
    }

    /// Hands out packets whose transmission began before `now` less `longest`; all of them at the `end` of the run.
    fn hand_out(&mut self, world: &mut World, end: bool) {
        if let Some(packets) = world.transport_mut().0.packets_mut() {
            self.waiting.extend(packets.take_captured());
        }
        self.waiting.sort_by_key(|packet| packet.at);
        let sure = world.now().saturating_sub(self.longest);
        let count = if end { self.waiting.len() } else { self.waiting.partition_point(|packet| packet.at < sure) };
        self.waiting.drain(..count).for_each(|packet| (self.tap.take)(&packet));
    }
}

/// Runs a scenario to the end of its jobs and traffic, or to its time limit. `watch` is asked many times a second.
pub fn run(scenario: &Scenario, watch: &mut Watch) -> Result<RunResult, RunError> {
    run_tapped(scenario, None, watch)
}

/// [`run`], with a capture of one link.
pub fn run_tapped(scenario: &Scenario, tap: Option<Tap<'_>>, watch: &mut Watch) -> Result<RunResult, RunError> {
    run_with(scenario, tap, None, watch)
}

/// [`run_tapped`], with the table of connections written during the run where there are more than
/// [`MOST_FLOWS`](crate::MOST_FLOWS): the result then has a sample.
pub fn run_with(
    scenario: &Scenario,
    tap: Option<Tap<'_>>,
    flows: Option<TakeFlows<'_>>,
    watch: &mut Watch,
) -> Result<RunResult, RunError> {
    let mut world = world(scenario, &mut || look(watch, &Progress::default()))?;
    let mut tapped = tap.map(|tap| Tapped::new(tap, &mut world)).transpose()?;
    let mut sampler = Sampler::new(scenario.run.sample.unwrap_or(FIRST_STEP), &world);
    let until = scenario.run.until;
    let mut flows = FlowKeeper::new(scenario, &world, flows);
    let mut headway = Headway::new(scenario.run.no_progress);
    // Simulated time between two calls of the watcher. It is adapted so that about `EVENTS` events fall into it.
    let mut step = sampler.next();
    let mut stall = None;
    loop {
        let sample = sampler.next().min(until);
        let pause = sample.min(world.now().saturating_add(step));
        let before = world.handled();
        let finished = world.run(pause);
        if !finished && pause < until {
            stall = headway.look(&world);
        }
        let over = finished || pause == until || stall.is_some();
        if let Some(tapped) = &mut tapped {
            tapped.hand_out(&mut world, over);
        }
        flows.collect(world.transport_mut().0);
        if over {
            break;
        }
        if pause == sample {
            let windows = look_at_connections(&mut world);
            sampler.take(&world, windows);
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
    let windows = look_at_connections(&mut world);
    sampler.take(&world, windows);
    let at_the_end = progress(&world, until);
    let result = run_result(scenario, &world, (&sampler, flows), stall, &mut || look(watch, &at_the_end))?;
    let violations: Vec<_> = result.violations().cloned().collect();
    if violations.is_empty() { Ok(result) } else { Err(RunError::Ledger(violations)) }
}

/// Looks at Hadoop's connections, where there is Hadoop: the mean cwnd of each node's senders, in bytes.
fn look_at_connections(world: &mut World) -> Vec<u32> {
    if world.driver().is_none() {
        return Vec::new();
    }
    let Some(packets) = world.transport_mut().0.packets_mut() else { return Vec::new() };
    let mean = |(sum, count): (u64, u32)| units::word(sum.checked_div(count.into()).unwrap_or(0));
    packets.look().into_iter().map(mean).collect()
}

/// The progress check: finds out whether the jobs stall.
struct Headway {
    limit: Time,
    next: Time,
    furthest: f64,
    since: Time,
}

impl Headway {
    /// Checks within the time limit of a stall.
    const LOOKS: u64 = 32;

    fn new(limit: Time) -> Self {
        Self { limit, next: limit / Self::LOOKS, furthest: -1.0, since: Time::ZERO }
    }
    fn look(&mut self, world: &World) -> Option<Stall> {
        let now = world.now();
        if self.limit == Time::ZERO || now < self.next {
            return None;
        }
        self.next = now.saturating_add(self.limit / Self::LOOKS);
        let driver = world.driver()?;
        let committed = driver.cluster.object_store().counters().committed as f64;
        match driver.cluster.mapreduce().headway(now).map(|far| far + committed) {
            Some(far) if far <= self.furthest => (now.saturating_sub(self.since) >= self.limit).then(|| Stall {
                since: self.since,
                at: now,
                waits: driver.cluster.waits(now),
            }),
            // Between jobs no progress is expected.
            far => {
                self.furthest = far.unwrap_or(self.furthest);
                self.since = now;
                None
            }
        }
    }
}

fn progress(world: &World, until: Time) -> Progress {
    let now = world.now();
    let done = match world.driver() {
        Some(driver) => match &driver.spark {
            Some(spark) => spark.progress(),
            None => driver.cluster.mapreduce().progress(),
        },
        None => now.as_secs_f64() / until.as_secs_f64(),
    };
    Progress { now, done, events: world.handled(), hops: world.packets().map_or(0, PacketTransport::hops) }
}
