//! The tasks of a stage that wait for cores, and delay scheduling: which of them runs where (`TaskSetManager` of Spark
//! 4.1, with `spark.locality.wait.legacyResetOnTaskLaunch` off, its default). A standalone cluster has no racks:
//! `TaskSchedulerImpl.getRacksForHosts` knows none, and only that of YARN (`YarnScheduler`) overrides it.

use hadoop::NodeId;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use units::Time;

/// How far a task is from what it reads, and up to where a core is offered.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Locality {
    /// On the executor that keeps its data; of a task without a preference as well (`dequeueTask`).
    Process,
    /// On the node of its data.
    Node,
    /// Of an offer: for tasks that prefer no node, too.
    NoPreference,
    /// In the rack of its data, on YARN.
    Rack,
    /// Elsewhere.
    Any,
}

impl Locality {
    /// Spark's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Process => "PROCESS_LOCAL",
            Self::Node => "NODE_LOCAL",
            Self::NoPreference => "NO_PREF",
            Self::Rack => "RACK_LOCAL",
            Self::Any => "ANY",
        }
    }
}

/// What an offer of a core came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Offered {
    /// A task runs there.
    Task(usize, Locality),
    /// A copy of a task runs there.
    Copy(usize, Locality),
    /// A task waits for a better place.
    Held,
    /// Nothing waits.
    Nothing,
}

/// The tasks of a stage that wait for cores.
#[derive(Clone, Debug)]
pub struct TaskSet {
    /// By task: whether it waits.
    waits: Vec<bool>,
    waiting: usize,
    /// Tasks that prefer a node, none, and all. Tasks that no longer wait are dropped when they are met.
    of_node: BTreeMap<NodeId, VecDeque<usize>>,
    /// Tasks that prefer a node of each rack, the rack of each node, and how long they wait for a rack; nothing of it
    /// where Spark knows no racks.
    of_rack: BTreeMap<u32, VecDeque<usize>>,
    racks: Arc<[u32]>,
    rack_wait: Time,
    /// Tasks whose data an executor keeps, and how long they wait for it.
    of_executor: BTreeMap<usize, VecDeque<usize>>,
    process_wait: Time,
    without: VecDeque<usize>,
    all: VecDeque<usize>,
    /// Tasks of which a copy shall run, and the nodes that they prefer; the last first (`pendingSpeculatableTasks`).
    copies: Vec<(usize, Vec<NodeId>)>,
    /// The levels that there are, best first, each with the wait after which the next is allowed.
    levels: Vec<(Locality, Time)>,
    level: usize,
    last_reset: Time,
}

impl TaskSet {
    /// Tasks with the nodes that each prefers, for one of which they wait so long.
    pub fn new(now: Time, preferred: &[Vec<NodeId>], wait: Time) -> Self {
        let mut set = Self {
            waits: vec![true; preferred.len()],
            waiting: preferred.len(),
            of_node: BTreeMap::new(),
            of_rack: BTreeMap::new(),
            racks: Arc::default(),
            rack_wait: Time::ZERO,
            of_executor: BTreeMap::new(),
            process_wait: Time::ZERO,
            without: VecDeque::new(),
            all: (0..preferred.len()).collect(),
            copies: Vec::new(),
            levels: Vec::new(),
            level: 0,
            last_reset: now,
        };
        for (task, nodes) in preferred.iter().enumerate() {
            if nodes.is_empty() {
                set.without.push_back(task);
            }
            for node in nodes {
                set.of_node.entry(*node).or_default().push_back(task);
            }
        }
        set.levels = levels(None, (!set.of_node.is_empty()).then_some(wait), None, !set.without.is_empty());
        set
    }

    /// With racks, each node's by its number, for whose cores tasks wait so long that prefer a node.
    pub fn with_racks(mut self, racks: Arc<[u32]>, wait: Time) -> Self {
        let mut of_rack: BTreeMap<u32, BTreeSet<usize>> = BTreeMap::new();
        for (node, queue) in &self.of_node {
            of_rack.entry(racks[node.0 as usize]).or_default().extend(queue);
        }
        self.of_rack = of_rack.into_iter().map(|(rack, tasks)| (rack, tasks.into_iter().collect())).collect();
        if !self.of_rack.is_empty() {
            let any = self.levels.len() - 1;
            self.levels.insert(any, (Locality::Rack, wait));
        }
        (self.racks, self.rack_wait) = (racks, wait);
        self
    }

    /// Executors keep a task's data, for one of which it waits so long. It prefers their nodes, too.
    pub fn prefer(&mut self, task: usize, executors: &[usize], wait: Time) {
        for executor in executors {
            self.of_executor.entry(*executor).or_default().push_back(task);
            if self.levels[0].0 != Locality::Process {
                self.levels.insert(0, (Locality::Process, wait));
                self.process_wait = wait;
            }
        }
    }

    /// A task waits again, before all others: Spark takes from the end of its lists, where it is put
    /// (`addPendingTask`, `dequeueTaskFromList`).
    pub fn add(&mut self, task: usize, preferred: &[NodeId]) {
        if std::mem::replace(&mut self.waits[task], true) {
            return;
        }
        self.waiting += 1;
        self.all.push_front(task);
        if preferred.is_empty() {
            self.without.push_front(task);
        }
        for node in preferred {
            self.of_node.entry(*node).or_default().push_front(task);
            if let Some(rack) = self.racks.get(node.0 as usize) {
                self.of_rack.entry(*rack).or_default().push_front(task);
            }
        }
    }

    /// A task need not run.
    pub fn drop(&mut self, task: usize) {
        if std::mem::replace(&mut self.waits[task], false) {
            self.waiting -= 1;
        }
        self.copies.retain(|(of, _)| *of != task);
    }

    /// A copy of a task shall run.
    pub fn add_copy(&mut self, task: usize, preferred: Vec<NodeId>) {
        self.copies.push((task, preferred));
    }

    /// Whether a copy of a task shall run.
    pub fn has_copy(&self, task: usize) -> bool {
        self.copies.iter().any(|(of, _)| *of == task)
    }

    /// How many copies wait.
    pub const fn copies(&self) -> usize {
        self.copies.len()
    }

    /// Whether a task or a copy of one waits.
    pub const fn wants(&self) -> bool {
        self.waiting > 0 || !self.copies.is_empty()
    }

    /// The levels anew, where nodes have executors or have none left, and tasks wait or no longer do
    /// (`recomputeLocality`).
    pub fn recompute(&mut self, wait: Time, has_executors: impl Fn(NodeId) -> bool, is_lost: impl Fn(usize) -> bool) {
        let now = self.levels[self.level].0;
        let waits = |queue: &VecDeque<usize>| queue.iter().any(|task| self.waits[*task]);
        let on_nodes = self.of_node.iter().any(|(node, queue)| has_executors(*node) && waits(queue));
        let nodes = (0..).zip(&*self.racks).filter(|(node, _)| has_executors(NodeId(*node)));
        let racks: BTreeSet<u32> = nodes.map(|(_, rack)| *rack).collect();
        let in_racks = self.of_rack.iter().any(|(rack, queue)| racks.contains(rack) && waits(queue));
        let kept = self.of_executor.iter().any(|(executor, queue)| !is_lost(*executor) && waits(queue));
        let (process, rack) = (kept.then_some(self.process_wait), in_racks.then_some(self.rack_wait));
        self.levels = levels(process, on_nodes.then_some(wait), rack, waits(&self.without));
        self.level = self.levels.iter().position(|(level, _)| *level >= now).unwrap_or(0);
    }

    /// How many tasks wait.
    pub const fn waiting(&self) -> usize {
        self.waiting
    }

    /// The levels at which cores are offered to it, best first (`myLocalityLevels`).
    pub fn levels(&self) -> Vec<Locality> {
        self.levels.iter().map(|(level, _)| *level).collect()
    }

    /// The task that waits and would be taken first, if any core would do.
    pub fn first(&self) -> Option<usize> {
        self.all.iter().copied().find(|task| self.waits[*task])
    }

    /// A core of an executor on a node is offered for tasks up to a level (`resourceOffer`) that may run there, and then
    /// for copies that may.
    pub fn offer(
        &mut self,
        now: Time,
        (executor, node): (usize, NodeId),
        most: Locality,
        (may_run, may_copy): (impl Fn(usize) -> bool, impl Fn(usize) -> bool),
    ) -> Offered {
        // Levels at which nothing waits are passed over at once.
        let any = most == Locality::NoPreference || self.waiting == 0;
        let allowed = if any { most } else { self.allowed(now).min(most) };
        if let Some((task, locality)) = self.next((executor, node), allowed, may_run) {
            self.waits[task] = false;
            self.waiting -= 1;
            return Offered::Task(task, locality);
        }
        if let Some((task, locality)) = self.next_copy(node, allowed, may_copy) {
            return Offered::Copy(task, locality);
        }
        if most == Locality::Any && self.wants() { Offered::Held } else { Offered::Nothing }
    }

    /// Everything that was offered was taken: the wait begins anew, at the first level that is no better than the best
    /// of the launched tasks (`resetDelayScheduleTimer`, `getLocalityIndex`).
    pub fn reset(&mut self, now: Time, best: Locality) {
        self.last_reset = now;
        self.level = self.levels.iter().position(|(level, _)| *level >= best).unwrap_or(self.level);
    }

    /// The level up to which tasks may run now (`getAllowedLocalityLevel`). No time is lost on a level at which nothing
    /// waits: that of executors is passed over then, every task that prefers an executor or a node waits at the node's
    /// and the rack's, and the others wait for none.
    fn allowed(&mut self, now: Time) -> Locality {
        while self.level + 1 < self.levels.len() {
            let (level, wait) = self.levels[self.level];
            if level == Locality::Process && !self.waits_for_executor() {
                self.last_reset = now;
                self.level += 1;
                continue;
            }
            if now.saturating_sub(self.last_reset) < wait {
                break;
            }
            self.last_reset += wait;
            self.level += 1;
        }
        self.levels[self.level].0
    }

    /// Whether a task waits whose data an executor keeps.
    fn waits_for_executor(&mut self) -> bool {
        let waits = &self.waits;
        self.of_executor.retain(|_, queue| {
            while queue.front().is_some_and(|task| !waits[*task]) {
                queue.pop_front();
            }
            !queue.is_empty()
        });
        !self.of_executor.is_empty()
    }

    /// The next task for an executor on a node, up to a level (`dequeueTask`). Those that may not run there stay.
    fn next(
        &mut self,
        (executor, node): (usize, NodeId),
        most: Locality,
        may_run: impl Fn(usize) -> bool,
    ) -> Option<(usize, Locality)> {
        let Self { waits, of_node, of_rack, racks, of_executor, without, all, .. } = self;
        let take = |queue: Option<&mut VecDeque<usize>>| {
            let queue = queue?;
            while queue.front().is_some_and(|task| !waits[*task]) {
                queue.pop_front();
            }
            let place = queue.iter().position(|task| waits[*task] && may_run(*task))?;
            queue.remove(place)
        };
        if let Some(task) = take(of_executor.get_mut(&executor)) {
            return Some((task, Locality::Process));
        }
        if most >= Locality::Node
            && let Some(task) = take(of_node.get_mut(&node))
        {
            return Some((task, Locality::Node));
        }
        if most >= Locality::NoPreference
            && let Some(task) = take(Some(without))
        {
            return Some((task, Locality::Process));
        }
        if most >= Locality::Rack
            && let Some(rack) = racks.get(node.0 as usize)
            && let Some(task) = take(of_rack.get_mut(rack))
        {
            return Some((task, Locality::Rack));
        }
        (most >= Locality::Any).then(|| take(Some(all))).flatten().map(|task| (task, Locality::Any))
    }

    /// The next copy for a node, up to a level (`dequeueTaskHelper`).
    fn next_copy(
        &mut self,
        node: NodeId,
        most: Locality,
        may_copy: impl Fn(usize) -> bool,
    ) -> Option<(usize, Locality)> {
        let last = |holds: &dyn Fn(&[NodeId]) -> bool| {
            self.copies.iter().rposition(|(task, preferred)| holds(preferred) && may_copy(*task))
        };
        let here = || last(&|preferred| preferred.contains(&node)).map(|place| (place, Locality::Node));
        let free = || last(&|preferred| preferred.is_empty()).map(|place| (place, Locality::Process));
        let rack_of = |node: &NodeId| self.racks.get(node.0 as usize);
        let in_rack = |preferred: &[NodeId]| {
            rack_of(&node).is_some() && preferred.iter().any(|other| rack_of(other) == rack_of(&node))
        };
        let rack = || last(&in_rack).map(|place| (place, Locality::Rack));
        let any = || last(&|_| true).map(|place| (place, Locality::Any));
        let found = (most >= Locality::Node)
            .then(here)
            .flatten()
            .or_else(|| (most >= Locality::NoPreference).then(free).flatten())
            .or_else(|| (most >= Locality::Rack).then(rack).flatten());
        let (place, locality) = found.or_else(|| (most >= Locality::Any).then(any).flatten())?;
        Some((self.copies.remove(place).0, locality))
    }
}

/// The levels of a set with tasks that wait so long for executors, nodes or racks, and with tasks that prefer none; how
/// long each waits for better.
fn levels(process: Option<Time>, node: Option<Time>, rack: Option<Time>, without: bool) -> Vec<(Locality, Time)> {
    let process = process.map(|wait| (Locality::Process, wait));
    let node = node.map(|wait| (Locality::Node, wait));
    let no_preference = without.then_some((Locality::NoPreference, Time::ZERO));
    let rack = rack.map(|wait| (Locality::Rack, wait));
    process.into_iter().chain(node).chain(no_preference).chain(rack).chain([(Locality::Any, Time::ZERO)]).collect()
}
