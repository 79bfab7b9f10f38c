//! Executors that are listed with when they come and go, as a log has recorded it: those of a cluster that grows and
//! shrinks by dynamic allocation, and those whose processes end.
//!
//! The list says when, and the rest is as in Spark. An executor is given back no sooner than it is idle while no task
//! waits, and not the last one where no other will come, as `ExecutorAllocationManager` would ask for another then.

use crate::application::{Errand, Spark};
use crate::config::Listed;
use crate::stage::Stage;
use crate::standalone::Step;
use hadoop::Platform;
use units::Time;

/// How often it is looked whether one that may go is idle (`intervalMillis` of `ExecutorAllocationManager`).
const LOOK: Time = Time::from_ms(100);

/// What became so far of an executor that is listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// It has not come.
    Awaited,
    /// It is the executor of this number.
    Come(usize),
    /// It does not come, as its node has crashed.
    Never,
}

impl Spark {
    /// The run begins: executors that are there, and when others come.
    pub(crate) fn start_listed(&mut self, platform: &mut Platform) {
        self.standalone.listed = vec![Progress::Awaited; self.config.listed.len()];
        for (place, of) in self.config.listed.clone().into_iter().enumerate() {
            if of.from.job.is_none() && of.from.after == Time::ZERO {
                let executor = self.add_registered(platform, of.node);
                self.executors[executor].free = of.cores;
                self.has_come(place, executor);
            }
        }
        self.listed_after(platform, None);
    }

    /// A job is submitted, or the run begins: from now on count the times of some.
    pub(crate) fn listed_after(&mut self, platform: &mut Platform, job: Option<usize>) {
        for (place, of) in self.config.listed.clone().into_iter().enumerate() {
            if of.from.job == job && self.standalone.listed[place] == Progress::Awaited {
                self.listed_in(platform, of.from.after, Step::Come(place));
            }
            if let Some(until) = of.until.filter(|until| until.job == job) {
                self.listed_in(platform, until.after, Step::Go(place));
            }
        }
    }

    fn listed_in(&mut self, platform: &mut Platform, after: Time, step: Step) {
        let errand = self.errands.send(Errand::Standalone(step));
        platform.ctx.drive_timer(platform.ctx.now + after, errand);
    }

    /// One is an executor of the application now.
    fn has_come(&mut self, place: usize, executor: usize) {
        let Listed { node, cores, .. } = self.config.listed[place];
        self.executors[executor].cores = cores;
        self.is_on_worker(node, Some(executor));
        self.standalone.listed[place] = Progress::Come(executor);
    }

    /// The process of one is up, unless its node has crashed.
    pub(crate) fn on_come(&mut self, platform: &mut Platform, place: usize) {
        let node = self.config.listed[place].node;
        if self.is_on_worker(node, None) {
            let executor = self.add_executor(platform, node);
            self.has_come(place, executor);
            self.register(platform, executor);
        } else {
            self.standalone.listed[place] = Progress::Never;
        }
    }

    /// One goes: it is lost, or given back when it can be.
    pub(crate) fn on_go(&mut self, platform: &mut Platform, place: usize) {
        let number = match self.standalone.listed[place] {
            Progress::Come(number) if !self.executors[number].is_gone() => number,
            Progress::Awaited => return self.listed_in(platform, LOOK, Step::Go(place)),
            Progress::Come(_) | Progress::Never => return,
        };
        if self.config.listed[place].lost {
            return self.lose(platform, number, false);
        }
        let executor = &self.executors[number];
        let waits = self.stages.iter().any(Stage::waits);
        let others = self.executors.iter().enumerate().any(|(other, of)| other != number && of.is_up());
        if executor.free < executor.cores || waits || !(others || self.come_later()) {
            return self.listed_in(platform, LOOK, Step::Go(place));
        }
        self.executors[number].is_given_back = true;
        self.recompute_levels();
    }

    /// Whether executors are still to come.
    pub(crate) fn come_later(&self) -> bool {
        self.standalone.listed.contains(&Progress::Awaited)
    }
}
