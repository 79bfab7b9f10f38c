//! Executors that end while their nodes live: as the driver has asked for it (`killExecutors`), or by themselves.

use crate::application::Spark;
use crate::executor::Executor;
use crate::task::Step;
use hadoop::{ConnId, End, Platform};

impl Spark {
    /// The driver asks whoever has started an executor to end it. It gets no more tasks, and those that run on it do not
    /// count as failed. Whether another takes its place is a matter of how many are wanted.
    pub(crate) fn kill_executor(&mut self, platform: &mut Platform, executor: usize) {
        let of = &mut self.executors[executor];
        if !of.is_up() || std::mem::replace(&mut of.is_killed, true) {
            return;
        }
        if self.config.yarn.is_some() {
            self.give_back(platform, executor);
        } else {
            self.kill_on_worker(platform, executor);
        }
    }

    /// What of tasks is under way on an executor ends.
    pub(crate) fn stop_tasks(&mut self, platform: &mut Platform, executor: usize) {
        for task in 0..self.tasks.len() {
            if self.tasks[task].record.executor == executor && self.tasks[task].step != Step::Done {
                self.end_work(platform, task);
            }
        }
    }

    /// An executor's process ends on a node that lives, and so do its tasks and connections.
    pub(crate) fn end_executor(&mut self, platform: &mut Platform, executor: usize) {
        if !self.is_finished() && !self.executors[executor].is_dead {
            self.stop_tasks(platform, executor);
            self.dies(platform, executor);
        }
        let own = std::mem::take(&mut self.executors[executor].peers);
        let of_others = |other: &mut Executor| other.peers.remove(&executor);
        let others: Vec<ConnId> = self.executors.iter_mut().filter_map(of_others).collect();
        let services = std::mem::take(&mut self.executors[executor].services);
        let own = own.into_values().chain(services.into_values()).collect();
        for (conns, end) in [(own, End::Client), (others, End::Server)] {
            for conn in conns {
                platform.ctx.abort(conn, end);
                self.disconnected(platform, conn);
            }
        }
        platform.ctx.close(self.executors[executor].driver, End::Client);
    }
}
