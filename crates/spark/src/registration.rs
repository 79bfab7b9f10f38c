//! How an executor whose process is up becomes one of the application: it registers with the driver, hears that it is,
//! and says that it can work (`CoarseGrainedExecutorBackend`).

use crate::application::{Errand, Spark};
use crate::driver::MESSAGE;
use crate::executor::Executor;
use hadoop::{End, NodeId, Platform, Service};
use units::Bytes;

/// A message on the way of an executor to work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// It asks the driver to be taken (`RegisterExecutor`).
    Register,
    /// It is.
    Registered,
    /// It is refused, and exits.
    Refused,
    /// It can work (`LaunchedExecutor`).
    Ready,
}

impl Spark {
    /// An executor that has a connection to the driver, and no core yet.
    pub(crate) fn add_executor(&mut self, platform: &mut Platform, node: NodeId) -> usize {
        let driver = platform.ctx.drive_open(node, self.driver_node(platform), Service::SparkDriver);
        let number = self.executors.len();
        self.executors.push(Executor::new(node, self.config.cores, driver));
        self.cache.add(self.config.storage_memory);
        number
    }

    /// Its process is up, and speaks to the driver.
    pub(crate) fn register(&mut self, platform: &mut Platform, executor: usize) {
        self.say(platform, executor, Step::Register);
    }

    /// An executor exits that was refused. Standalone, its Worker tells the Master, which launches another in its place.
    fn on_refused(&mut self, platform: &mut Platform, executor: usize) {
        self.executors[executor].is_killed = true;
        match self.executors[executor].container {
            Some(container) => self.end_process(platform, container),
            None if self.executors[executor].is_dead => {}
            None => {
                self.end_executor(platform, executor);
                self.exited_on_worker(platform, executor);
            }
        }
    }

    fn say(&mut self, platform: &mut Platform, executor: usize, step: Step) {
        let message = self.errands.send(Errand::Registration(executor, step));
        let conn = self.executors[executor].driver;
        platform.ctx.drive_send(conn, End::Client, Bytes::new(MESSAGE), message);
    }

    /// A message of an executor's, or to it, has come.
    pub(crate) fn on_registration(&mut self, platform: &mut Platform, executor: usize, step: Step) {
        self.expire_exclusion(platform.ctx.now);
        match step {
            // Whoever has started it may not know that its node is excluded: it is refused, and exits.
            Step::Register if self.health.excludes_node(self.executors[executor].node) => {
                self.tell(platform, executor, Bytes::new(MESSAGE), Errand::Registration(executor, Step::Refused));
            }
            Step::Refused => self.on_refused(platform, executor),
            Step::Register => {
                let of = &mut self.executors[executor];
                (of.registered, of.idle.since) = (Some(platform.ctx.now), Some(platform.ctx.now));
                let answer = Errand::Registration(executor, Step::Registered);
                self.tell(platform, executor, Bytes::new(MESSAGE), answer);
            }
            Step::Registered => self.say(platform, executor, Step::Ready),
            Step::Ready => {
                let of = &mut self.executors[executor];
                if of.is_gone() {
                    return;
                }
                of.free = of.cores;
                self.recompute_levels();
                self.offer(platform, vec![executor], false);
            }
        }
    }
}
