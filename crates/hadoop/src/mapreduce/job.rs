//! A job as its master sees it: tasks, what they wait for, which maps are done, which nodes to avoid.

use super::JobCompression;
use super::cohorts::Cohorts;
use super::config::FetchLimit;
use super::file_system::FileSystem;
use super::packing::Packing;
use super::split::{JobInput, Keyed, Split, hosts_of, of_objects, splits};
use crate::context::Nodes;
use crate::hdfs::Hdfs;
use crate::ids::{ApplicationId, AttemptId, JobId, NodeId, WriteId};
use crate::numbers::count;
use crate::object_store::Stride;
use crate::platform::Platform;
use crate::record::{JobRecord, JobState, Locality, TaskKind};
use crate::workload::{Partitions, Workload};
use crate::yarn::Locations;
use std::collections::{BTreeMap, VecDeque};
use units::{Bytes, Time};

/// A job to run.
#[derive(Clone, PartialEq, Debug)]
pub struct JobSpec {
    /// Its name.
    pub name: String,
    /// What it does to its data.
    pub workload: Workload,
    /// What it reads.
    pub input: JobInput,
    /// A split holds a whole file (TestDFSIO) instead of a block.
    pub whole_files: bool,
    /// `mapreduce.job.reduces`.
    pub reducers: u32,
    /// When the client submits it.
    pub submit: Time,
    /// What the client reads of the input before that, in equal parts of up to ten splits at once
    /// (`mapreduce.terasort.partitions.sample` records); zero for nothing.
    pub sample: Bytes,
    /// Its weight under fair sharing.
    pub weight: f64,
    /// `mapreduce.job.ubertask.enable`: its tasks run in its AppMaster if they are few and small (YARN).
    pub uber: bool,
    /// What of it is compressed.
    pub compression: JobCompression,
    /// How it reads `JobInput::Files`.
    pub packing: Packing,
    /// Its files are placed by key; none if HDFS places them.
    pub keyed: Option<Keyed>,
    /// Where its input is.
    pub input_store: FileSystem,
    /// Which bytes of its input in an object store its maps read; none if all.
    pub stride: Option<Stride>,
    /// Where its output goes.
    pub output_store: FileSystem,
}

/// One task.
#[derive(Debug, Clone, Default)]
pub(crate) struct Task {
    /// Attempts asked for and not yet placed.
    pub wanted: u32,
    /// Whether the attempt asked for is a speculative one.
    pub speculate: bool,
    /// Attempts that run, as far as the master knows.
    pub running: Vec<AttemptId>,
    pub done: Option<AttemptId>,
    pub failures: u32,
    pub attempts: u32,
    pub requested: Time,
}

/// News for the reducers, in order: a map's output is there, or is no longer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MapEvent {
    pub map: AttemptId,
    pub lost: bool,
}

/// Maps that wait, by where their input is. An entry is stale when its map no longer waits; stale ones are dropped when
/// met.
#[derive(Debug, Default)]
struct WaitingMaps {
    by_node: Vec<Vec<u32>>,
    by_rack: BTreeMap<u32, Vec<u32>>,
    any: VecDeque<u32>,
    /// Maps to run again go first, and anywhere.
    again: VecDeque<u32>,
}

#[derive(Debug)]
pub(crate) struct Job {
    pub id: JobId,
    /// What it is to YARN.
    pub application: ApplicationId,
    pub spec: JobSpec,
    pub record: JobRecord,
    pub splits: Vec<Split>,
    pub partitions: Partitions,
    /// How the output of a map divides whose split is placed by key, by the split's home; else empty.
    pub by_home: Vec<Partitions>,
    pub maps: Vec<Task>,
    pub reduces: Vec<Task>,
    pub maps_done: u32,
    pub reduces_done: u32,
    pub events: Vec<MapEvent>,
    /// Which outputs stand for which others where reducers fetch.
    pub cohorts: Cohorts,
    /// When its attempts are next looked at for timeouts.
    pub timeout_at: Time,
    /// Its reducers have been asked for.
    pub reduces_released: bool,
    /// The requests by which its AppMaster makes its output's folders, while they are under way.
    pub set_up: Option<WriteId>,
    /// Its tasks may begin.
    pub begun: bool,
    /// Its output in the object store is there to see.
    pub committed: bool,
    waiting: WaitingMaps,
    waiting_reduces: VecDeque<u32>,
    /// By kind of task, the sum of what its tasks want: each heartbeat asks for it.
    wanted: [u32; 2],
    failures_by_node: BTreeMap<NodeId, u32>,
    blacklist: Vec<NodeId>,
    /// Reports of failed fetches by map attempt.
    pub fetch_failures: BTreeMap<AttemptId, u32>,
    /// Durations of successful attempts: count, sum, sum of squares (seconds), for maps and reduces.
    pub durations: [Durations; 2],
}

/// Moments of the durations of successful attempts, in seconds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Durations {
    pub count: u32,
    sum: f64,
    squares: f64,
}

impl Durations {
    pub fn add(&mut self, seconds: f64) {
        self.count += 1;
        self.sum += seconds;
        self.squares += seconds * seconds;
    }
    pub fn mean(&self) -> f64 {
        self.sum / f64::from(self.count.max(1))
    }
    pub fn deviation(&self) -> f64 {
        let mean = self.mean();
        libm::sqrt((self.squares / f64::from(self.count.max(1)) - mean * mean).max(0.0))
    }
}

impl Job {
    pub fn new(
        id: JobId,
        application: ApplicationId,
        spec: JobSpec,
        platform: &mut Platform,
        (seed, fetches): (u64, Option<FetchLimit>),
    ) -> Self {
        let mut splits =
            if spec.reads_objects() { of_objects(&spec, platform) } else { splits(&spec, platform.ctx, platform.hdfs) };
        let mut before = Bytes::ZERO;
        for split in &mut splits {
            split.before = before;
            before += split.bytes;
        }
        let nodes = platform.ctx.nodes.len();
        let reducers = spec.reducers;
        // Outputs of maps at different keys do not divide alike.
        let fetches = fetches.filter(|_| spec.keyed.is_none());
        let cohorts = Cohorts::new(count(splits.len()), reducers, fetches);
        let record = JobRecord {
            name: spec.name.clone(),
            workload: spec.workload.name.clone(),
            state: JobState::Running,
            reason: String::new(),
            submit: spec.submit,
            master_start: None,
            launch: None,
            commit: None,
            finish: None,
            client_wall: None,
            uber: false,
            maps: count(splits.len()),
            reduces: reducers,
            outputs_per_fetch: cohorts.size(),
            ledger: crate::record::JobLedger::default(),
        };
        Self {
            id,
            application,
            partitions: spec.workload.partitions(reducers, seed),
            by_home: by_home(&spec, platform.ctx.nodes.worker_count()),
            cohorts,
            record,
            maps: vec![Task::default(); splits.len()],
            reduces: vec![Task::default(); reducers as usize],
            splits,
            spec,
            maps_done: 0,
            reduces_done: 0,
            events: Vec::new(),
            timeout_at: Time::MAX,
            reduces_released: false,
            set_up: None,
            begun: false,
            committed: false,
            waiting: WaitingMaps { by_node: vec![Vec::new(); nodes], ..WaitingMaps::default() },
            waiting_reduces: VecDeque::new(),
            wanted: [0; 2],
            failures_by_node: BTreeMap::new(),
            blacklist: Vec::new(),
            fetch_failures: BTreeMap::new(),
            durations: [Durations::default(); 2],
        }
    }

    /// Finds where the splits are now: replicas may have moved, or have been made again, since the run began.
    pub fn locate(&mut self, hdfs: &Hdfs) {
        // Maps of named files run near the small files that name them.
        if matches!(self.spec.input, JobInput::Named(_)) {
            return;
        }
        // An input format that combines has chosen the nodes.
        if matches!(self.spec.packing, Packing::Combined { .. }) {
            return;
        }
        for split in self.splits.iter_mut().filter(|split| split.home.is_none()) {
            if let Some(piece) = split.blocks.first() {
                split.hosts = hosts_of(hdfs, piece.block);
            }
        }
    }

    pub fn task(&self, kind: TaskKind, task: u32) -> &Task {
        match kind {
            TaskKind::Map => &self.maps[task as usize],
            TaskKind::Reduce => &self.reduces[task as usize],
        }
    }
    pub fn task_mut(&mut self, kind: TaskKind, task: u32) -> &mut Task {
        match kind {
            TaskKind::Map => &mut self.maps[task as usize],
            TaskKind::Reduce => &mut self.reduces[task as usize],
        }
    }
    pub fn tasks(&self, kind: TaskKind) -> &[Task] {
        match kind {
            TaskKind::Map => &self.maps,
            TaskKind::Reduce => &self.reduces,
        }
    }
    pub fn is_over(&self) -> bool {
        self.record.state != JobState::Running
    }
    pub fn is_launched(&self) -> bool {
        self.record.launch.is_some() && !self.is_over()
    }
    /// Whether every task is done.
    pub fn is_complete(&self) -> bool {
        self.maps_done as usize == self.maps.len() && self.reduces_done as usize == self.reduces.len()
    }
    /// Whether so many maps are done that reducers may start.
    pub fn passed_slow_start(&self, slow_start: f64) -> bool {
        f64::from(self.maps_done) >= libm::ceil(slow_start * self.maps.len() as f64)
    }

    /// Asks for one attempt more at a task.
    pub fn want(&mut self, kind: TaskKind, task: u32, nodes: &Nodes, now: Time) {
        let again = {
            let state = self.task_mut(kind, task);
            if state.wanted == 0 {
                state.requested = now;
            }
            state.wanted += 1;
            state.attempts > 0 && !state.speculate
        };
        self.wanted[kind as usize] += 1;
        match kind {
            TaskKind::Reduce => self.waiting_reduces.push_back(task),
            TaskKind::Map if again => self.waiting.again.push_back(task),
            TaskKind::Map => {
                let mut racks = Vec::new();
                for &host in &self.splits[task as usize].hosts {
                    self.waiting.by_node[host.0 as usize].push(task);
                    let rack = nodes.rack(host);
                    if !racks.contains(&rack) {
                        racks.push(rack);
                        self.waiting.by_rack.entry(rack).or_default().push(task);
                    }
                }
                self.waiting.any.push_back(task);
            }
        }
    }
    /// Attempts asked for and not yet placed.
    pub fn wanted(&self, kind: TaskKind) -> u32 {
        self.wanted[kind as usize]
    }
    /// Asks for no more attempts at a task.
    pub fn want_no_more(&mut self, kind: TaskKind, task: u32) {
        self.wanted[kind as usize] -= std::mem::take(&mut self.task_mut(kind, task).wanted);
    }
    /// Asks for no more attempts at any task.
    pub fn want_nothing(&mut self) {
        for task in self.maps.iter_mut().chain(&mut self.reduces) {
            task.wanted = 0;
        }
        self.wanted = [0; 2];
    }
    /// Maps that must run again and go before all others.
    pub fn wants_again(&self) -> bool {
        self.waiting.again.iter().any(|&task| self.maps[task as usize].wanted > 0)
    }
    /// How many waiting maps have a replica on each node, and in each rack. S3A says of a split that it is on
    /// `localhost` (`FileSystem.getFileBlockLocations`).
    pub fn locations(&self, nodes: &Nodes) -> Locations {
        let mut locations = Locations::nowhere(nodes.len());
        for (task, split) in self.maps.iter().zip(&self.splits).filter(|(task, _)| task.wanted > 0) {
            match split.object {
                Some(_) => locations.add_localhost(task.wanted, nodes),
                None => locations.add(task.wanted, &split.hosts, nodes),
            }
        }
        locations
    }
    pub fn locality(&self, map: u32, node: NodeId, nodes: &Nodes) -> Locality {
        let Split { hosts, object, .. } = &self.splits[map as usize];
        if object.is_some() {
            return if nodes.only_rack().is_some() { Locality::Rack } else { Locality::Remote };
        }
        if hosts.contains(&node) || hosts.is_empty() {
            Locality::Node
        } else if hosts.iter().any(|&host| nodes.rack(host) == nodes.rack(node)) {
            Locality::Rack
        } else {
            Locality::Remote
        }
    }

    /// Takes the best map for a node that waits, no farther from its input than `farthest`.
    pub fn take_map(&mut self, node: NodeId, farthest: Locality, nodes: &Nodes) -> Option<(u32, Locality)> {
        let Self { waiting, maps, splits, .. } = self;
        let stale = |task: u32| maps[task as usize].wanted == 0;
        let rack = waiting.by_rack.get_mut(&nodes.rack(node));
        let found = next(&mut waiting.again, stale)
            .or_else(|| first(&mut waiting.by_node[node.0 as usize], stale))
            .or_else(|| rack.filter(|_| farthest >= Locality::Rack).and_then(|rack| first(rack, stale)))
            .or_else(|| {
                while waiting.any.front().is_some_and(|&task| stale(task)) {
                    waiting.any.pop_front();
                }
                let anywhere = waiting.any.front().is_some_and(|&task| splits[task as usize].hosts.is_empty());
                if anywhere || farthest == Locality::Remote { waiting.any.pop_front() } else { None }
            })?;
        let locality = self.locality(found, node, nodes);
        self.maps[found as usize].wanted -= 1;
        self.wanted[TaskKind::Map as usize] -= 1;
        Some((found, locality))
    }
    /// How the output of a map divides over the reducers.
    pub fn partitions_of(&self, map: u32) -> &Partitions {
        partitions_of(&self.partitions, &self.by_home, &self.splits[map as usize])
    }
    /// The node whose keys a reduce has, where the input is placed by key. Where there are fewer reducers than nodes,
    /// they have the keys of several.
    pub fn home_of(&self, reduce: u32) -> Option<NodeId> {
        let workers = count(self.by_home.len());
        let layout = self.spec.keyed.as_ref().and_then(|keyed| keyed.layout.as_ref());
        let even = (workers > 0).then(|| NodeId(1 + reduce % workers));
        layout.map_or(even, |layout| layout.of_reducer.get(reduce as usize).copied())
    }
    /// Where the reduces that wait have their keys, if the input is placed by key.
    pub fn homes(&self, nodes: &Nodes) -> Option<Locations> {
        self.spec.keyed.as_ref()?;
        let mut locations = Locations::nowhere(nodes.len());
        for (reduce, task) in (0..).zip(&self.reduces).filter(|(_, task)| task.wanted > 0) {
            locations.add(task.wanted, self.home_of(reduce).as_slice(), nodes);
        }
        Some(locations)
    }
    /// Whether a reduce that has waited since then waits for the node with its keys.
    pub fn insists(&self, since: Time, now: Time) -> bool {
        self.spec.keyed.as_ref().is_some_and(|keyed| since.saturating_add(keyed.patience) > now)
    }
    /// Takes a reduce for a node: the next one; where the input is placed by key, one whose keys are the node's, else
    /// the next one that has waited long enough for its own.
    pub fn take_reduce_on(&mut self, node: NodeId, now: Time) -> Option<u32> {
        if self.spec.keyed.is_none() {
            return self.take_reduce();
        }
        let may = |reduce: u32, job: &Self| {
            let task = &job.reduces[reduce as usize];
            task.wanted > 0 && (job.home_of(reduce) == Some(node) || !job.insists(task.requested, now))
        };
        let own = |reduce: &u32| self.home_of(*reduce) == Some(node) && may(*reduce, self);
        let place = self.waiting_reduces.iter().position(own);
        let place = place.or_else(|| self.waiting_reduces.iter().position(|reduce| may(*reduce, self)))?;
        let reduce = self.waiting_reduces.remove(place)?;
        self.reduces[reduce as usize].wanted -= 1;
        self.wanted[TaskKind::Reduce as usize] -= 1;
        Some(reduce)
    }
    /// Takes the next reduce that waits.
    fn take_reduce(&mut self) -> Option<u32> {
        while let Some(task) = self.waiting_reduces.pop_front() {
            let state = &mut self.reduces[task as usize];
            if state.wanted > 0 {
                state.wanted -= 1;
                self.wanted[TaskKind::Reduce as usize] -= 1;
                return Some(task);
            }
        }
        None
    }
    /// An attempt failed on a node; whether that puts the node on the blacklist.
    pub fn count_failure(&mut self, node: NodeId, limit: u32) -> bool {
        let failures = self.failures_by_node.entry(node).or_default();
        *failures += 1;
        let new = *failures >= limit && !self.blacklist.contains(&node);
        if new {
            self.blacklist.push(node);
        }
        new
    }
    /// The nodes that the job avoids: with too large a part of the nodes on the blacklist, none.
    pub fn avoided(&self, workers: usize, ignore_percent: u32) -> &[NodeId] {
        let few = self.blacklist.len() * 100 < workers * ignore_percent as usize;
        if few { &self.blacklist } else { &[] }
    }
    /// Whether the job avoids a node.
    pub fn avoids(&self, node: NodeId, workers: usize, ignore_percent: u32) -> bool {
        self.avoided(workers, ignore_percent).contains(&node)
    }
}

/// Takes the first entry of a queue that is not stale.
fn next(queue: &mut VecDeque<u32>, stale: impl Fn(u32) -> bool) -> Option<u32> {
    while let Some(task) = queue.pop_front() {
        if !stale(task) {
            return Some(task);
        }
    }
    None
}

/// Takes the first entry of a list that is not stale, and drops those before it.
fn first(list: &mut Vec<u32>, stale: impl Fn(u32) -> bool) -> Option<u32> {
    let Some(place) = list.iter().position(|&task| !stale(task)) else {
        list.clear();
        return None;
    };
    list.drain(..=place).next_back()
}

/// How the output of a map divides over the reducers.
pub(crate) fn partitions_of<'a>(
    everywhere: &'a Partitions,
    by_home: &'a [Partitions],
    split: &Split,
) -> &'a Partitions {
    split.home.and_then(|home| by_home.get(home.0 as usize - 1)).unwrap_or(everywhere)
}

/// For each node the shares of the reducers in the output of maps whose splits have its keys. Those that have the
/// node's keys share in what is at home, all share in the rest. Without a layout the shares of all together are even.
fn by_home(spec: &JobSpec, workers: usize) -> Vec<Partitions> {
    let Some(keyed) = spec.keyed.as_ref().filter(|_| spec.reducers > 0) else { return Vec::new() };
    if let Some(layout) = &keyed.layout {
        return layout.homes.iter().map(|home| Partitions::new(&home.shares)).collect();
    }
    let reducers = spec.reducers as usize;
    let of_home = |home: usize| {
        // With fewer reducers than nodes each has the keys of several nodes.
        let own: Vec<bool> = (0..reducers)
            .map(|reduce| if reducers < workers { home % reducers == reduce } else { reduce % workers == home })
            .collect();
        let owners = own.iter().filter(|own| **own).count() as f64;
        let rest = (1.0 - keyed.at_home) / reducers as f64;
        let weights: Vec<f64> = own.iter().map(|own| rest + if *own { keyed.at_home / owners } else { 0.0 }).collect();
        Partitions::new(&weights)
    };
    (0..workers).map(of_home).collect()
}
