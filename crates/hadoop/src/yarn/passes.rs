//! The ResourceManager's scheduling thread (`CapacityScheduler.AsyncScheduleThread`), which offers the nodes to the
//! applications over and over, whether heartbeats come or not: pass by pass from a random node on. A pass offers its
//! first node again at its end.

use super::Yarn;
use super::allocate::Choice;
use super::application::Application;
use super::{Request, Role};
use crate::context::Context;
use crate::ids::{ApplicationId, NodeId};
use crate::numbers::draw;
use des::RandomStream;
use units::Time;

/// From one pass to the next (`yarn.scheduler.capacity.schedule-asynchronously.scheduling-interval-ms`).
const INTERVAL: Time = Time::from_ms(5);
/// A node whose heartbeat has been missing for so many intervals is passed over
/// (`yarn.scheduler.skip.node.multiplier`).
const SKIPPED_AFTER: u64 = 2;

/// The chance that what has been taken is granted before the next node is offered. It depends on how busy the
/// ResourceManager's host is: on one with ten threads on two cores it was so once in sixteen such moments that a
/// ResourceManager of 3.5.0 logged. In 22 recorded jobs on a quiet one (`crates/history/tests/traces/matrix`) twelve
/// attempts at maps of a block were far from their input; simulated ones are 6.7 in the mean of 20 seeds if it is never so,
/// 8.4 with a chance of 0.3, 9.6 with 0.6, and 10.5 if always.
const COMMITS: f64 = 0.5;

/// When the thread passes, where it begins, and when the other one gets between its offers.
#[derive(Debug)]
pub(super) struct Passes {
    due: bool,
    draws: RandomStream,
}

impl Passes {
    pub fn new(seed: u64) -> Self {
        Self { due: false, draws: RandomStream::new(seed, "yarn/scheduling-pass", 0) }
    }
}

impl Yarn {
    /// Something has changed of which a pass could make a container: the thread's next one is simulated. Those that
    /// would find all as the last one left it are not.
    pub(super) fn pass_soon(&mut self, ctx: &mut Context) {
        let wants = self.applications.iter().any(Application::wants);
        if self.config.asynchronous && wants && !std::mem::replace(&mut self.passes.due, true) {
            let since = ctx.now.as_ps() % INTERVAL.as_ps();
            ctx.timer_in(Time::from_ps(INTERVAL.as_ps() - since), Request::PassDue);
        }
    }
    /// The thread offers every node that speaks once, and the first of them twice. One container an offer. What is
    /// taken another thread grants (`ResourceCommitterService`): until then offers know nothing of it, and what was taken
    /// more than once is granted to the first.
    pub(super) fn pass(&mut self, ctx: &mut Context) {
        self.passes.due = false;
        let nodes: Vec<NodeId> = ctx.nodes.workers().collect();
        let first = draw(&mut self.passes.draws, nodes.len());
        let before = self.declined();
        let silence = self.config.node_heartbeat * SKIPPED_AFTER;
        let mut granted = false;
        let mut taken = Vec::new();
        for &node in nodes[first..].iter().chain(&nodes[..=first]) {
            if self.tracker.spoke_within(ctx.now, node, silence) {
                taken.extend(self.offer(ctx, node).map(|(application, choice)| (application, node, choice)));
            }
            if !taken.is_empty() && self.passes.draws.uniform() < COMMITS {
                granted |= self.commit(ctx, &mut taken);
            }
        }
        granted |= self.commit(ctx, &mut taken);
        if granted || self.declined() > before {
            self.pass_soon(ctx);
        }
    }
    /// Grants what was taken, as far as it is asked for and there is room; returns whether anything was.
    fn commit(&mut self, ctx: &mut Context, taken: &mut Vec<(ApplicationId, NodeId, Choice)>) -> bool {
        let mut granted = false;
        for (application, node, choice) in taken.drain(..) {
            if self.accepts(ctx, application, node, &choice) {
                granted = true;
                let container = self.grant(ctx, application, node, &choice);
                if choice.role == Role::Master {
                    self.start_master(ctx, container);
                }
            }
        }
        granted
    }
    /// Offers that applications have let pass.
    fn declined(&self) -> u64 {
        self.applications.iter().map(|application| u64::from(application.missed.count())).sum()
    }
}
