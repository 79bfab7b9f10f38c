//! Uber jobs: the tasks of a small job run in its AppMaster's JVM, one after the other, maps before reduces
//! (`JobImpl.makeUberDecision`, `LocalContainerAllocator`, `LocalContainerLauncher`).
//!
//! They have no containers and no JVMs of their own, and speak to the AppMaster by calls of methods. A reducer copies
//! map outputs from the AppMaster's disks (`LocalFetcher`). An attempt that fails, fails its job: `makeUberDecision`
//! sets the number of attempts to one. There are no speculative ones.

use super::attempt::{Body, Placement};
use super::split::{CONTROL_FILE, JobInput};
use super::{Generation, MapReduce, MapReduceConfig};
use crate::ids::JobId;
use crate::platform::Platform;
use crate::record::{AttemptState, Phase, TaskKind, Waiting};
use crate::workload::Source;
use units::Bytes;

/// When a job that asks for it is small enough.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UberConfig {
    /// `mapreduce.job.ubertask.maxmaps` (9).
    pub max_maps: u32,
    /// `mapreduce.job.ubertask.maxreduces` (1).
    pub max_reduces: u32,
    /// `mapreduce.job.ubertask.maxbytes`: input; the block size where it is not given.
    pub max_bytes: Option<Bytes>,
}

impl Default for UberConfig {
    fn default() -> Self {
        Self { max_maps: 9, max_reduces: 1, max_bytes: None }
    }
}

impl MapReduceConfig {
    /// Whether a container of the AppMaster holds what a task of the job asks for.
    fn master_holds_task(&self, reducers: u32) -> bool {
        let master = self.app_master.own();
        let fits = |kind: TaskKind| {
            let task = self.app_master.task(kind);
            task.memory <= master.memory && task.vcores <= master.vcores
        };
        fits(TaskKind::Map) && (reducers == 0 || fits(TaskKind::Reduce))
    }
}

impl MapReduce {
    /// The AppMaster decides whether the job's tasks run in it; if so they are scheduled.
    pub(super) fn goes_uber(&mut self, platform: &mut Platform, id: JobId) -> bool {
        let job = &mut self.jobs[id.0 as usize];
        let limits = &self.config.uber;
        // A split that names another file is as long as the control file; one of data to be made has no length.
        let length: Bytes = match (&job.spec.workload.source, &job.spec.input) {
            (Source::Generated { .. }, _) => Bytes::ZERO,
            (Source::File, JobInput::Named(files)) => CONTROL_FILE * files.len() as u64,
            (Source::File, _) => job.splits.iter().map(|split| split.bytes).sum(),
        };
        let max_bytes = limits.max_bytes.unwrap_or(platform.hdfs.config().block_size);
        let small = self.config.generation == Generation::Yarn
            && job.maps.len() <= limits.max_maps as usize
            && job.reduces.len() <= limits.max_reduces as usize
            && length <= max_bytes
            && self.config.master_holds_task(job.spec.reducers);
        job.record.uber = job.spec.uber && small;
        if job.record.uber {
            job.reduces_released = true;
            for task in job.maps.iter_mut().chain(&mut job.reduces) {
                task.requested = platform.ctx.now;
            }
        }
        job.record.uber
    }
    /// The next task of an uber job begins, if none runs and its AppMaster is up.
    pub(super) fn uber_next(&mut self, platform: &mut Platform, id: JobId) {
        let job = &self.jobs[id.0 as usize];
        if !job.record.uber || job.is_over() || self.running(id).next().is_some() {
            return;
        }
        let Some(node) = platform.yarn.master_node(job.application) else { return };
        let waiting = |kind: TaskKind| (0..).zip(job.tasks(kind)).find(|(_, task)| task.done.is_none());
        let map = waiting(TaskKind::Map).map(|(task, _)| (TaskKind::Map, task));
        let next = map.or_else(|| waiting(TaskKind::Reduce).map(|(task, _)| (TaskKind::Reduce, task)));
        let Some((kind, task)) = next else { return };
        let locality = (kind == TaskKind::Map).then(|| job.locality(task, node, &platform.ctx.nodes));
        let allocated = platform.ctx.now;
        let recorded = self.recorded_of(id, kind, task);
        let id = self.place(platform, Placement { job: id, kind, task, node, locality, allocated });
        self.confirm_start(platform.ctx, id);
        let attempt = &mut self.attempts[id.0 as usize];
        attempt.in_master = true;
        attempt.recorded = recorded;
        attempt.body = Body::Starting(None);
        attempt.record.wait(allocated, Waiting::StartUp);
        attempt.record.begin(allocated, Phase::Start);
        self.set_up(platform, id);
    }
    /// The AppMaster of an uber job is lost: so is all that ran in it, and the next one begins anew.
    pub(super) fn uber_lost(&mut self, platform: &mut Platform, id: JobId) {
        let job = &mut self.jobs[id.0 as usize];
        if !job.record.uber || job.is_over() {
            return;
        }
        job.events.clear();
        (job.maps_done, job.reduces_done) = (0, 0);
        for attempt in job.maps.iter_mut().chain(&mut job.reduces).filter_map(|task| task.done.take()) {
            platform.shuffle.withdraw(self.outputs[attempt.0 as usize].output);
            let record = &mut self.attempts[attempt.0 as usize].record;
            record.state = AttemptState::Killed;
            record.reason = "its AppMaster was lost with its output";
            record.output_lost = Some(platform.ctx.now);
        }
    }
}
