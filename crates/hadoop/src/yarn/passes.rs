//! The ResourceManager's scheduling thread (`CapacityScheduler.AsyncScheduleThread`), which offers the nodes to the
//! applications over and over, whether heartbeats come or not: pass by pass from a random node on. A pass offers its
//! first node again at its end.

use super::Yarn;
use super::allocate::Choice;
use super::application::Application;
use super::{Request, Role};
use crate::context::Context;
use crate::ids::NodeId;
use crate::numbers::draw;
use des::RandomStream;
use units::Time;

/// From one pass to the next (`yarn.scheduler.capacity.schedule-asynchronously.scheduling-interval-ms`).
const INTERVAL: Time = Time::from_ms(5);
/// A node whose heartbeat has been missing for so many intervals is passed over
/// (`yarn.scheduler.skip.node.multiplier`).
const SKIPPED_AFTER: u64 = 2;

/// When the thread passes, and where it begins.
#[derive(Debug)]
pub(super) struct Passes {
    due: bool,
    starts: RandomStream,
}

impl Passes {
    pub fn new(seed: u64) -> Self {
        Self { due: false, starts: RandomStream::new(seed, "yarn/scheduling-pass", 0) }
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
    /// The thread offers every node that speaks once, and the first of them twice. One container an offer.
    pub(super) fn pass(&mut self, ctx: &mut Context) {
        self.passes.due = false;
        let nodes: Vec<NodeId> = ctx.nodes.workers().collect();
        let first = draw(&mut self.passes.starts, nodes.len());
        let before = self.declined();
        let mut granted = false;
        for &node in nodes[first..].iter().chain(&nodes[..=first]) {
            if !self.tracker.spoke_within(ctx.now, node, self.config.node_heartbeat * SKIPPED_AFTER) {
                continue;
            }
            if let Some((container, Choice { role, .. })) = self.offer(ctx, node, true) {
                granted = true;
                if role == Role::Master {
                    self.start_master(ctx, container);
                }
            }
        }
        if granted || self.declined() > before {
            self.pass_soon(ctx);
        }
    }
    /// Offers that applications have let pass.
    fn declined(&self) -> u64 {
        self.applications.iter().map(|application| u64::from(application.missed.count())).sum()
    }
}
