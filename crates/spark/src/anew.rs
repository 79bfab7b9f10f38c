//! In cluster mode the driver's node is lost on YARN: the ResourceManager finds it silent, stops the executors, and starts
//! another `ApplicationMaster`, in which the program begins anew from its first job (`ApplicationMaster.runDriver`,
//! `spark.yarn.maxAppAttempts`).

use crate::allocation::Idle;
use crate::application::{Errand, Spark};
use crate::blocks::Held;
use crate::driver::Thread;
use crate::exclusion::Health;
use crate::record::{JobRecord, TaskEnd};
use crate::registration;
use crate::yarn::Step;
use hadoop::{NodeId, Platform};

impl Spark {
    /// Whether the driver runs on a node in its `ApplicationMaster`'s container, and so may begin anew elsewhere.
    pub(crate) fn has_driver_on(&self, node: NodeId) -> bool {
        self.config.yarn.is_some_and(|on_yarn| on_yarn.in_cluster) && self.yarn.driver == Some(node)
    }

    /// In cluster mode: no driver is there, not yet or no more.
    pub(crate) fn is_without_driver(&self) -> bool {
        self.config.yarn.is_some_and(|on_yarn| on_yarn.in_cluster) && self.yarn.driver.is_none()
    }

    /// The driver is gone with its node: it does nothing more. Executors go on until they are stopped, and tell nobody.
    pub(crate) fn driver_goes_down(&mut self) {
        self.thread = Thread::default();
        let of_driver = |errand: &Errand| {
            matches!(
                errand,
                Errand::JobDue(_)
                    | Errand::StageDue(_)
                    | Errand::Revive
                    | Errand::Speculate
                    | Errand::Resubmit
                    | Errand::Unschedulable(..)
                    | Errand::Allocate
                    | Errand::Expired(_)
                    | Errand::DriverWorked
                    | Errand::Launch(_)
                    | Errand::Status(_)
                    | Errand::Failed(..)
                    | Errand::Threw(_)
                    | Errand::Kill(_)
                    | Errand::Killed(_)
                    | Errand::Ask(..)
                    | Errand::Answer(..)
                    | Errand::Kept(..)
                    | Errand::Dropped(..)
                    | Errand::Registration(_, registration::Step::Register | registration::Step::Ready)
                    | Errand::Yarn(
                        Step::Look
                            | Step::Hello(_)
                            | Step::Why(_)
                            | Step::NoAnswer(_)
                            | Step::GiveBack(_)
                            | Step::Wanted(_)
                            | Step::Remove(_)
                            | Step::Stop
                            | Step::StopExecutor(_)
                    )
            )
        };
        self.errands.retain(|errand| !of_driver(errand));
        self.yarn.driver_is_gone();
    }

    /// Another `ApplicationMaster` will run the program: of the attempt before nothing counts but when it began. What its
    /// executors had is gone, and its containers are being stopped.
    pub(crate) fn begins_anew(&mut self, platform: &mut Platform) {
        let now = platform.ctx.now;
        let mut workers = platform.ctx.nodes.workers();
        if now >= self.config.returns && !workers.any(|node| platform.ctx.nodes.is_up(node)) {
            return self.fail(platform, "the driver's node has gone down, and no other is left".to_owned());
        }
        for executor in 0..self.executors.len() {
            if !self.executors[executor].is_dead {
                self.stop_tasks(platform, executor);
                self.dies(platform, executor);
            }
            let of = &mut self.executors[executor];
            of.lost.get_or_insert(now);
            (of.is_lost, of.is_without_files, of.free, of.running, of.idle) = (true, true, 0, 0, Idle::default());
        }
        for task in &mut self.tasks {
            if task.record.ended == TaskEnd::Running {
                (task.record.finish, task.record.ended, task.is_over) = (Some(now), TaskEnd::ExecutorLost, true);
            }
            task.forget();
        }
        let blocks: Vec<_> = self.stages.iter_mut().map(|stage| std::mem::take(&mut stage.blocks)).collect();
        let planned: Vec<_> = self.stages.iter_mut().map(|stage| std::mem::take(&mut stage.planned)).collect();
        self.stages = Self::stages_of(&self.config);
        for (stage, (blocks, planned)) in self.stages.iter_mut().zip(blocks.into_iter().zip(planned)) {
            (stage.blocks, stage.planned) = (blocks, planned);
        }
        let first = self.jobs.first().and_then(|job| job.submit);
        self.jobs = vec![JobRecord::default(); self.config.jobs.len()];
        if let Some(job) = self.jobs.first_mut() {
            job.submit = first;
        }
        (self.job, self.turns, self.reviving) = (0, 0, false);
        self.failed.clear();
        self.end_all_exclusions(now);
        self.unschedulable.clear();
        self.wanted_for.clear();
        (self.held, self.health, self.target) = (Held::default(), Health::default(), Self::target_of(&self.config));
        self.speculate_later(platform);
    }
}
