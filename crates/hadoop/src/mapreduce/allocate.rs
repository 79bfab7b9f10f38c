//! The ResourceManager's scheduler and the AppMaster's allocator: which container goes to which job, and to which of its tasks.

use super::MapReduce;
use super::attempt::Placement;
use super::job::{MapRequests, Task};
use crate::context::{Context, Nodes};
use crate::hdfs::Hdfs;
use crate::ids::{AttemptId, ContainerId, JobId, NodeId};
use crate::record::{Locality, TaskKind};
use crate::yarn::scheduler::{MissedOffers, Share, order};
use crate::yarn::{Container, Resources, Role};
use des::Index;
use units::{Bytes, Time};

/// A job as the ResourceManager sees it.
#[derive(Debug, Default)]
pub(crate) struct App {
    /// It waits for a container for its AppMaster.
    pub wants_master: bool,
    /// AppMasters that it has lost.
    pub masters: u32,
    /// What it asked for when it was last heard, less what was granted since.
    pub asks: MapRequests,
    pub reduces: u32,
    /// Its first maps are re-runs, which go before everything and anywhere.
    pub again: bool,
    /// Nodes of no use to its waiting maps and reduces, as attempts at all of them run there.
    pub useless: [Vec<NodeId>; 2],
    /// The same in the heartbeat under way.
    pub sent: MapRequests,
    pub sent_reduces: u32,
    pub sent_again: bool,
    /// Containers for it since its last heartbeat.
    pub granted: Vec<ContainerId>,
    pub lost_nodes: Vec<NodeId>,
    pub used: Bytes,
    pub missed: MissedOffers,
    pub heard: Time,
    /// It has unregistered.
    pub left: bool,
}

/// Roles of tasks' containers, by the priorities with which the AppMaster asks for them (`RMContainerAllocator`).
pub(crate) const REDUCE: Role = Role::Task(10);
pub(crate) const MAP: Role = Role::Task(20);

impl MapRequests {
    /// Takes granted map containers off the requests of their nodes and racks.
    pub fn forget<'a>(&mut self, granted: impl Iterator<Item = &'a Container>, nodes: &Nodes) {
        for container in granted {
            if let Some(count) = self.by_node.get_mut(container.node.0 as usize) {
                *count = count.saturating_sub(1);
            }
            if let Some(count) = self.by_rack.get_mut(&nodes.rack(container.node)) {
                *count = count.saturating_sub(1);
            }
        }
    }
}

impl MapReduce {
    fn request(&self, role: Role) -> Resources {
        let yarn = &self.config.yarn;
        let (memory, vcores) = match role {
            Role::Master => (yarn.am_memory, 1),
            REDUCE => (yarn.reduce_memory, yarn.task_vcores),
            Role::Task(_) => (yarn.map_memory, yarn.task_vcores),
        };
        Resources { memory: yarn.normalized(memory), vcores }
    }
    fn fits(&self, node: NodeId, role: Role) -> bool {
        self.yarn.fits(node, self.request(role))
    }

    /// Offers a node that has sent its heartbeat to the jobs in order; returns the AppMasters to start.
    pub(crate) fn allocate(&mut self, ctx: &Context, node: NodeId) -> Vec<ContainerId> {
        let mut starts = Vec::new();
        let mut off_switch = 0;
        for _ in 0..self.config.yarn.containers_per_heartbeat {
            let shares = (0..self.jobs.len())
                .filter(|&job| !self.apps.list[job].left && !self.jobs[job].is_over())
                .map(|job| {
                    let spec = &self.jobs[job].spec;
                    Share { job, submit: spec.submit, used: self.apps.list[job].used.get(), weight: spec.weight }
                })
                .collect();
            let granted = order(self.config.policy, shares)
                .into_iter()
                .find_map(|job| self.grant(ctx, JobId::from_usize(job), node, off_switch));
            match granted {
                None => break,
                Some((container, Role::Master, _)) => starts.push(container),
                Some((_, _, Locality::Remote)) => off_switch += 1,
                Some(_) => {}
            }
        }
        starts
    }
    /// Grants a job a container on the node, if it wants one that fits.
    fn grant(
        &mut self,
        ctx: &Context,
        job: JobId,
        node: NodeId,
        off_switch: u32,
    ) -> Option<(ContainerId, Role, Locality)> {
        let number = job.0 as usize;
        if self.apps.list[number].wants_master {
            let pinned = self.config.replay.as_ref().and_then(|replay| replay.master);
            let wrong = pinned
                .is_some_and(|(host, at)| host != node || self.jobs[number].record.submit.saturating_add(at) > ctx.now);
            if wrong || !self.fits(node, Role::Master) || self.leaves(ctx, job, node, Role::Master) {
                return None;
            }
            self.apps.list[number].wants_master = false;
            return Some((self.hand_out(ctx, job, node, Role::Master), Role::Master, Locality::Node));
        }
        if self.jobs[number].avoids(node, ctx.nodes.worker_count(), self.config.blacklist_ignore_percent) {
            return None;
        }
        let anywhere = off_switch < self.config.yarn.off_switch_per_heartbeat;
        let app = &self.apps.list[number];
        let useful = |kind: TaskKind, role: Role| {
            !app.useless[kind as usize].contains(&node) && !self.leaves(ctx, job, node, role)
        };
        let (for_maps, for_reduces) = (useful(TaskKind::Map, MAP), useful(TaskKind::Reduce, REDUCE));
        if app.again && app.asks.any > 0 && anywhere && for_maps && self.fits(node, MAP) {
            return Some((self.hand_out(ctx, job, node, MAP), MAP, Locality::Remote));
        }
        let app = &self.apps.list[number];
        if app.reduces > 0 && anywhere && for_reduces && self.fits(node, REDUCE) {
            return Some((self.hand_out(ctx, job, node, REDUCE), REDUCE, Locality::Remote));
        }
        let app = &self.apps.list[number];
        if app.asks.any == 0 || !for_maps || !self.fits(node, MAP) {
            return None;
        }
        let rack = ctx.nodes.rack(node);
        let named = app.asks.by_node.iter().filter(|&&count| count > 0).count();
        let workers = ctx.nodes.worker_count();
        let farthest = app.missed.farthest(self.config.yarn.locality_delay, workers, app.asks.any, named);
        let locality = if app.asks.by_node.get(node.0 as usize).is_some_and(|&count| count > 0) {
            Locality::Node
        } else if app.asks.by_rack.get(&rack).is_some_and(|&count| count > 0) {
            Locality::Rack
        } else {
            Locality::Remote
        };
        // A request that names no node may go anywhere at once.
        let free = named == 0 && anywhere;
        if locality > farthest && !free || locality == Locality::Remote && !anywhere {
            self.apps.list[number].missed.miss();
            return None;
        }
        self.apps.list[number].missed.assigned(locality);
        Some((self.hand_out(ctx, job, node, MAP), MAP, locality))
    }
    /// Whether a job leaves a node alone for its battery, while others can give it such a container.
    fn leaves(&self, ctx: &Context, job: JobId, node: NodeId, role: Role) -> bool {
        self.spares(ctx, job, node, |other| self.fits(other, role))
    }
    fn hand_out(&mut self, ctx: &Context, job: JobId, node: NodeId, role: Role) -> ContainerId {
        let resources = self.request(role);
        let number = self.yarn.grant(ctx.now, job, node, role, resources);
        self.note_served(ctx, job, node, |this, other| this.fits(other, role));
        let app = &mut self.apps.list[job.0 as usize];
        app.used += resources.memory;
        match role {
            MAP => {
                app.asks.any -= 1;
                app.asks.forget(std::iter::once(self.yarn.container(number)), &ctx.nodes);
                app.granted.push(number);
            }
            REDUCE => {
                app.reduces -= 1;
                app.granted.push(number);
            }
            Role::Master | Role::Task(_) => {}
        }
        number
    }
    /// The ResourceManager knows that a container has ended.
    pub(crate) fn free(&mut self, number: ContainerId) {
        let Some(Container { job, resources, attempt, .. }) = self.yarn.free(number) else { return };
        self.apps.list[job.0 as usize].used -= resources.memory;
        if let Some(id) = attempt {
            self.give_back(id);
        }
    }

    /// The AppMaster gives a container to a task no farther from its input than `farthest`; none if there is none.
    pub(crate) fn assign(
        &mut self,
        ctx: &Context,
        job: JobId,
        number: ContainerId,
        farthest: Locality,
    ) -> Option<AttemptId> {
        let Container { node, role, granted, .. } = *self.yarn.container(number);
        let (kind, task, locality) = self.take_task(ctx, job, node, role == REDUCE, farthest)?;
        let id = self.place(Placement { job, kind, task, node, locality, allocated: granted });
        self.attempts[id.0 as usize].container = Some(number);
        self.yarn.container_mut(number).attempt = Some(id);
        Some(id)
    }
    /// The nodes on which an attempt runs at every task of a kind that waits: a container there would be given back.
    pub(crate) fn useless_nodes(&self, job: JobId, kind: TaskKind) -> Vec<NodeId> {
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
    pub(crate) fn take_task(
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
            (TaskKind::Reduce, owner.take_reduce()?, None)
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

    /// How many reducers the AppMaster asks for (`RMContainerAllocator.scheduleReduces`): all of them when no map waits, else as many as the part of the
    /// maps that is done, up to the ramp-up limit, leaves them; and if maps wait while reducers hold everything, reducers give way.
    pub(crate) fn reduces_to_ask(
        &mut self,
        ctx: &mut Context,
        hdfs: &mut Hdfs,
        id: JobId,
        requests: &MapRequests,
    ) -> u32 {
        let job = &self.jobs[id.0 as usize];
        let wanted = job.wanted(TaskKind::Reduce);
        if requests.any == 0 {
            return wanted;
        }
        let map = self.request(MAP).memory;
        let reduce = self.request(REDUCE).memory;
        let count = |kind: TaskKind| job.tasks(kind).iter().map(|task| task.running.len() as u64).sum::<u64>();
        let (maps, reduces) = (count(TaskKind::Map), count(TaskKind::Reduce));
        let limit = self.headroom(id) + map * maps + reduce * reduces;
        if reduces > 0 && limit.saturating_sub(reduce * reduces) < map {
            self.preempt(ctx, hdfs, id, map.get().div_ceil(reduce.get()));
            return 0;
        }
        let job = &self.jobs[id.0 as usize];
        let done = f64::from(job.maps_done) / job.maps.len().max(1) as f64;
        let ideal = limit.mul_f64(done.min(self.config.yarn.reduce_rampup_limit));
        let unused = (limit - ideal.min(limit)).saturating_sub(map * (maps + u64::from(requests.any)));
        let allowed = (ideal + unused).get() / reduce.get();
        wanted.min(u32::try_from(allowed.saturating_sub(reduces)).unwrap_or(u32::MAX))
    }
    /// Reducers with the least progress give their containers up.
    fn preempt(&mut self, ctx: &mut Context, hdfs: &mut Hdfs, job: JobId, count: u64) {
        let mut reducers: Vec<AttemptId> =
            self.running(job).filter(|id| self.attempts[id.0 as usize].record.kind == TaskKind::Reduce).collect();
        reducers.sort_by(|a, b| {
            let progress = |id: &AttemptId| self.attempts[id.0 as usize].known_progress;
            progress(a).total_cmp(&progress(b)).then(b.cmp(a))
        });
        for id in reducers.into_iter().take(usize::try_from(count).unwrap_or(usize::MAX)) {
            self.kill(ctx, hdfs, id, "preempted for a map");
        }
    }
}
