//! The AppMaster's allocator (`RMContainerAllocator`): which of a job's tasks a container goes to, and how many
//! reducers to ask for. Slots of Hadoop 1 find their task here too.

use super::MapReduce;
use super::attempt::Placement;
use super::job::Task;
use crate::context::Context;
use crate::ids::{AttemptId, ContainerId, JobId, NodeId};
use crate::platform::Platform;
use crate::record::{Locality, TaskKind, reason};
use crate::yarn::{Container, Role};
use units::Bytes;

/// Priorities with which the AppMaster asks for containers: reducers before maps. Maps that run again have a priority
/// of their own there; here their request is urgent.
pub(super) const REDUCE: u32 = 10;
pub(super) const MAP: u32 = 20;

impl MapReduce {
    /// The AppMaster gives a container to a task no farther from its input than `farthest`; none if there is none.
    pub(super) fn assign(
        &mut self,
        platform: &mut Platform,
        job: JobId,
        container: ContainerId,
        farthest: Locality,
    ) -> Option<AttemptId> {
        let Container { node, role, granted, .. } = *platform.yarn.container(container);
        let reduce = role == Role::Task(REDUCE);
        let (kind, task, locality) = self.take_task(platform.ctx, job, node, reduce, farthest)?;
        let id = self.place(platform, Placement { job, kind, task, node, locality, allocated: granted });
        self.attempts[id.0 as usize].container = Some(container);
        let place = container.0 as usize;
        self.in_container.resize(self.in_container.len().max(place + 1), None);
        self.in_container[place] = Some(id);
        Some(id)
    }
    /// The nodes on which an attempt runs at every task of a kind that waits: a container there would be given back.
    pub(super) fn useless_nodes(&self, job: JobId, kind: TaskKind) -> Vec<NodeId> {
        let tasks = self.jobs[job.0 as usize].tasks(kind).iter().filter(|task| task.wanted > 0);
        let nodes =
            |task: &Task| task.running.iter().map(|id| self.attempts[id.0 as usize].record.node).collect::<Vec<_>>();
        let mut common: Option<Vec<NodeId>> = None;
        for task in tasks {
            let here = nodes(task);
            match &mut common {
                Some(common) => common.retain(|node| here.contains(node)),
                None => common = Some(here),
            }
            if common.as_ref().is_some_and(Vec::is_empty) {
                break;
            }
        }
        common.unwrap_or_default()
    }
    /// The job's next task for a node, unless the job avoids the node or an attempt at the task already runs there.
    pub(super) fn take_task(
        &mut self,
        ctx: &Context,
        job: JobId,
        node: NodeId,
        reduce: bool,
        farthest: Locality,
    ) -> Option<(TaskKind, u32, Option<Locality>)> {
        let Self { jobs, attempts, config, .. } = self;
        let owner = &mut jobs[job.0 as usize];
        if owner.avoids(node, ctx.nodes.worker_count(), config.blacklist_ignore_percent) {
            return None;
        }
        let (kind, task, locality) = if reduce {
            (TaskKind::Reduce, owner.take_reduce_on(node, ctx.now)?, None)
        } else {
            let (task, locality) = owner.take_map(node, farthest, &ctx.nodes)?;
            (TaskKind::Map, task, Some(locality))
        };
        if owner.task(kind, task).running.iter().any(|id| attempts[id.0 as usize].record.node == node) {
            let requested = owner.task(kind, task).requested;
            owner.want(kind, task, &ctx.nodes, requested);
            return None;
        }
        Some((kind, task, locality))
    }

    /// How many reducers the AppMaster asks for (`RMContainerAllocator.scheduleReduces`). When no map waits, all of
    /// them. Else as many as the part of the maps that is done, up to the ramp-up limit, leaves them; and if maps wait
    /// while reducers hold everything, reducers give way.
    pub(super) fn reduces_to_ask(&mut self, platform: &mut Platform, id: JobId, headroom: Bytes) -> u32 {
        let job = &self.jobs[id.0 as usize];
        let (maps_wanted, wanted) = (job.wanted(TaskKind::Map), job.wanted(TaskKind::Reduce));
        if maps_wanted == 0 {
            return wanted;
        }
        let memory = |kind| platform.yarn.config().normalized(self.config.app_master.task(kind)).memory;
        let (map, reduce) = (memory(TaskKind::Map), memory(TaskKind::Reduce));
        let count = |kind: TaskKind| job.tasks(kind).iter().map(|task| task.running.len() as u64).sum::<u64>();
        let (maps, reduces) = (count(TaskKind::Map), count(TaskKind::Reduce));
        let limit = headroom + map * maps + reduce * reduces;
        if reduces > 0 && limit.saturating_sub(reduce * reduces) < map {
            self.preempt(platform, id, map.get().div_ceil(reduce.get()));
            return 0;
        }
        let done = f64::from(job.maps_done) / job.maps.len().max(1) as f64;
        let ideal = limit.mul_f64(done.min(self.config.app_master.reduce_rampup_limit));
        let unused = (limit - ideal.min(limit)).saturating_sub(map * (maps + u64::from(maps_wanted)));
        let allowed = (ideal + unused).get() / reduce.get();
        wanted.min(u32::try_from(allowed.saturating_sub(reduces)).unwrap_or(u32::MAX))
    }
    /// Reducers with the least progress give their containers up.
    fn preempt(&mut self, platform: &mut Platform, job: JobId, count: u64) {
        let mut reducers: Vec<AttemptId> =
            self.running(job).filter(|id| self.attempts[id.0 as usize].record.kind == TaskKind::Reduce).collect();
        reducers.sort_by(|a, b| {
            let progress = |id: &AttemptId| self.attempts[id.0 as usize].known_progress;
            progress(a).total_cmp(&progress(b)).then(b.cmp(a))
        });
        for id in reducers.into_iter().take(usize::try_from(count).unwrap_or(usize::MAX)) {
            self.kill(platform, id, reason::PREEMPTED);
        }
    }
}
