//! Executors that are listed with when they come and go, as a log has recorded it: those of a cluster that grows and
//! shrinks by dynamic allocation, and those whose processes end.
//!
//! The list says when, and the rest is as in Spark. An executor is given back no sooner than it is idle while no task waits,
//! and not the last one where no other will come, as `ExecutorAllocationManager` would ask for another then.

use crate::application::{Errand, Spark};
use crate::standalone::Step;
use hadoop::Platform;
use units::Time;

/// How often it is looked whether one that may go is idle (`intervalMillis` of `ExecutorAllocationManager`).
const LOOK: Time = Time::from_ms(100);

impl Spark {
    /// The run begins: executors that are there, and when others come.
    pub(crate) fn start_listed(&mut self, platform: &mut Platform) {
        self.standalone.come = vec![None; self.config.listed.len()];
        for (place, of) in self.config.listed.clone().into_iter().enumerate() {
            if of.from > platform.ctx.now {
                self.listed_at(platform, of.from, Step::Come(place));
            } else {
                let executor = self.add_registered(platform, of.node);
                (self.executors[executor].cores, self.executors[executor].free) = (of.cores, of.cores);
                self.is_on_worker(of.node, Some(executor));
                self.standalone.come[place] = Some(executor);
            }
            if let Some(until) = of.until {
                self.listed_at(platform, until, Step::Go(place));
            }
        }
    }

    fn listed_at(&mut self, platform: &mut Platform, at: Time, step: Step) {
        let errand = self.errands.send(Errand::Standalone(step));
        platform.ctx.drive_timer(at, errand);
    }

    /// The process of one is up, unless its node has crashed.
    pub(crate) fn on_come(&mut self, platform: &mut Platform, place: usize) {
        let of = self.config.listed[place];
        if self.is_on_worker(of.node, None) {
            let executor = self.add_executor(platform, of.node);
            self.executors[executor].cores = of.cores;
            self.is_on_worker(of.node, Some(executor));
            self.standalone.come[place] = Some(executor);
            self.register(platform, executor);
        }
    }

    /// One goes: it is lost, or given back when it can be.
    pub(crate) fn on_go(&mut self, platform: &mut Platform, place: usize) {
        let Some(number) = self.standalone.come[place].filter(|number| !self.executors[*number].is_gone()) else {
            return;
        };
        if self.config.listed[place].lost {
            return self.lose(platform, number, false);
        }
        let executor = &self.executors[number];
        let waits = self.stages.iter().any(crate::stage::Stage::waits);
        let others = self.executors.iter().enumerate().any(|(other, of)| other != number && of.is_up());
        if executor.free < executor.cores || waits || !(others || self.come_later(platform.ctx.now)) {
            return self.listed_at(platform, platform.ctx.now + LOOK, Step::Go(place));
        }
        self.executors[number].is_given_back = true;
        self.recompute_levels();
    }

    /// Whether executors are still to come.
    pub(crate) fn come_later(&self, now: Time) -> bool {
        self.config.listed.iter().any(|of| of.from > now)
    }
}
