//! Requests of a day on the disks of a cluster under a policy: storage alone, without network and processors.
//!
//! Each disk serves its requests in order of arrival. A read goes to one of the disks that hold its block, a write to
//! all. Background work that may wait does so until its disk is ready for other reasons, or for the disk's planned
//! window. With off-loading ([`super::offload`] has the rule and does it) a copy for a disk at rest is written to a log
//! on a primary disk that is not a home of the block, read there and written home at the same occasions.

use super::controller::Controller;
use super::gears::{Gears, GearsSpec};
use super::machine::{Cause, Change, PowerState};
use super::offload::{Copy, Effect, OffloadLog, Write};
use super::oracle::{self, Limits, Visit};
use super::policy::{Hint, Policy, PolicyError, Settings};
use super::profile::{Depth, Profile};
use crate::disk::Op;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use units::{Energy, Time};

/// A request of the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// When.
    pub at: Time,
    /// Reads of one of the disks, or writes of all.
    pub op: Op,
    /// How long a ready disk works for it.
    pub service: Time,
    /// The disks that have the block, primary first, as numbers over the whole cluster.
    pub homes: Vec<u32>,
    /// What a disk that it wakes is woken for.
    pub cause: Cause,
    /// Whether it may wait for its disk's window.
    pub deferrable: bool,
}

/// Which of a block's disks a read takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ReadOrder {
    /// The least busy of those that are ready; if none is, the one that rests least deep, then the least backup.
    #[default]
    Awake,
    /// The least busy, whether it is ready or not, as a file system does that does not know.
    Blind,
}

/// A cluster's storage and its policy.
#[derive(Clone, Debug)]
pub struct DaySpec {
    /// The disks of each node, with their gears: 0 for primary disks.
    pub nodes: Vec<Vec<(Profile, u32)>>,
    /// The policy and its limits.
    pub settings: Settings,
    /// Which disk a read takes.
    pub order: ReadOrder,
    /// Gears, where the policy has them.
    pub gears: GearsSpec,
    /// Between two planned windows of a disk; `None`: background work wakes its disk.
    pub windows: Option<Time>,
    /// Writes for disks at rest go to logs on primary disks; only with windows, in which they go home.
    pub offload: bool,
    /// The end of the day. Requests end before it.
    pub end: Time,
}

/// What a disk did.
#[derive(Clone, Debug)]
pub struct DiskDay {
    /// Its gear: 0 for a primary disk.
    pub gear: u32,
    /// What it drew.
    pub energy: Energy,
    /// What it would have drawn without ever resting, for the same requests.
    pub always_on: Energy,
    /// The least that it could have drawn.
    pub least: Energy,
    /// Time in each state, by [`PowerState::index`].
    pub times: [Time; PowerState::COUNT],
    /// Starts of its motor, by kind of cause.
    pub starts: [u32; Cause::KINDS],
    /// Loads of its heads, other than those of starts.
    pub loads: u32,
    /// Most starts in any 24 hours.
    pub starts_most: u32,
    /// Its requests.
    pub requests: u64,
    /// Its moves.
    pub changes: Vec<Change>,
}

/// What came out.
#[derive(Clone, Debug)]
pub struct Day {
    /// The disks, node by node.
    pub disks: Vec<DiskDay>,
    /// From arrival to the beginning of service, of each request that may not wait, in order.
    pub waits: Vec<Time>,
    /// Requests that were not served by the end of the day.
    pub unserved: usize,
    /// Most gears in use.
    pub gears_most: u32,
    /// Copies that were off-loaded.
    pub offloaded: u64,
}

/// Why a day cannot be replayed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DayError {
    /// The settings cannot be followed.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// A request names a disk that is not there.
    #[error("a request at {at} is for disk {disk} of {disks}")]
    NoDisk {
        /// When.
        at: Time,
        /// The disk.
        disk: u32,
        /// How many there are.
        disks: usize,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Happening {
    /// A disk has served its first request.
    Served(u32),
    /// A node's controller is due.
    Power(u32),
    /// A window of a disk.
    Window(u32),
    /// The window of the gears ends.
    Gears,
    /// The next request arrives.
    Arrival,
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    at: Time,
    op: Op,
    service: Time,
    cause: Cause,
    counted: bool,
    /// Of an off-loaded write, which copy it is.
    copy: Option<(Write, Copy)>,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Pending>,
    deferred: VecDeque<Pending>,
    serving: bool,
    visits: Vec<Visit>,
}

struct Replay<'a> {
    spec: &'a DaySpec,
    accesses: &'a [Access],
    next: usize,
    nodes: Vec<Controller>,
    /// Node of each disk, and its place there.
    places: Vec<(u32, u32)>,
    first: Vec<u32>,
    queues: Vec<Queue>,
    armed: Vec<Time>,
    gears: Option<Gears>,
    gears_most: u32,
    heap: BinaryHeap<Reverse<(Time, Happening)>>,
    waits: Vec<Time>,
    ready: Vec<u32>,
    primaries: Vec<u32>,
    /// Where the search for a log's disk begins.
    next_log: usize,
    log: OffloadLog,
    effects: Vec<Effect>,
    offloaded: u64,
}

/// Primary disks that are looked at for a log.
const LOOKED_AT: usize = 64;

/// Replays requests, which are in order of arrival.
pub fn replay(spec: &DaySpec, accesses: &[Access]) -> Result<Day, DayError> {
    let mut replay = Replay::new(spec, accesses)?;
    replay.run();
    Ok(replay.result())
}

impl<'a> Replay<'a> {
    fn new(spec: &'a DaySpec, accesses: &'a [Access]) -> Result<Self, DayError> {
        let mut nodes = Vec::new();
        let (mut places, mut first) = (Vec::new(), Vec::new());
        for (number, disks) in spec.nodes.iter().enumerate() {
            nodes.push(Controller::new(spec.settings, disks, Time::ZERO)?);
            first.push(units::count(places.len()));
            places.extend((0..units::count(disks.len())).map(|disk| (units::count(number), disk)));
        }
        for access in accesses {
            if let Some(disk) = access.homes.iter().find(|disk| **disk as usize >= places.len()) {
                return Err(DayError::NoDisk { at: access.at, disk: *disk, disks: places.len() });
            }
        }
        let gears = spec.nodes.iter().flatten().map(|(_, gear)| *gear);
        let primaries: Vec<u32> = (0..).zip(gears).filter(|(_, gear)| *gear == 0).map(|(disk, _)| disk).collect();
        let of_one = units::count(primaries.len());
        let gears = (spec.settings.policy == Policy::Gears).then(|| Gears::new(spec.gears, of_one, Time::ZERO));
        let queues = places.iter().map(|_| Queue::default()).collect();
        let armed = vec![Time::MAX; nodes.len()];
        Ok(Self {
            spec,
            accesses,
            next: 0,
            nodes,
            places,
            first,
            queues,
            armed,
            gears,
            gears_most: 1,
            heap: BinaryHeap::new(),
            waits: Vec::new(),
            ready: Vec::new(),
            primaries,
            next_log: 0,
            log: OffloadLog::default(),
            effects: Vec::new(),
            offloaded: 0,
        })
    }

    fn run(&mut self) {
        if let Some(gears) = &self.gears {
            self.heap.push(Reverse((gears.deadline(), Happening::Gears)));
            self.tell_gears(Time::ZERO, 1);
        }
        if let Some(every) = self.spec.windows {
            // Windows of the disks are spread over the period.
            let disks = self.places.len() as u64;
            for disk in 0..disks {
                let at = Time::from_ps(units::scaled(every.as_ps(), disk + 1, disks + 1));
                self.heap.push(Reverse((at, Happening::Window(units::word(disk)))));
            }
        }
        self.arm_arrival();
        for node in 0..self.nodes.len() {
            self.arm(Time::ZERO, units::count(node));
        }
        while let Some(Reverse((now, happening))) = self.heap.pop() {
            if now > self.spec.end {
                return;
            }
            match happening {
                Happening::Arrival => self.arrive(now),
                Happening::Served(disk) => self.served(now, disk),
                Happening::Power(node) => {
                    if self.armed[node as usize] == now {
                        self.armed[node as usize] = Time::MAX;
                        self.tick(now, node);
                    }
                }
                Happening::Window(disk) => self.window(now, disk),
                Happening::Gears => self.gears_due(now),
            }
        }
    }

    fn arm_arrival(&mut self) {
        if let Some(access) = self.accesses.get(self.next) {
            self.heap.push(Reverse((access.at, Happening::Arrival)));
        }
    }
    fn arm(&mut self, now: Time, node: u32) {
        let due = self.nodes[node as usize].deadline().max(now);
        if due < self.armed[node as usize] && due < Time::MAX {
            self.armed[node as usize] = due;
            self.heap.push(Reverse((due, Happening::Power(node))));
        }
    }
    fn tick(&mut self, now: Time, node: u32) {
        let mut ready = std::mem::take(&mut self.ready);
        self.nodes[node as usize].on_timer(now, &mut ready);
        for place in ready.drain(..) {
            let disk = self.first[node as usize] + place;
            self.send_deferred(now, disk, None);
            self.start(now, disk);
        }
        self.ready = ready;
        self.arm(now, node);
    }

    fn arrive(&mut self, now: Time) {
        let accesses = self.accesses;
        let access = &accesses[self.next];
        self.next += 1;
        self.arm_arrival();
        let pending = Pending {
            at: now,
            op: access.op,
            service: access.service,
            cause: access.cause,
            counted: !access.deferrable,
            copy: None,
        };
        if access.op == Op::Read && access.homes.len() > 1 {
            if let Some(disk) = self.choose(&access.homes) {
                self.submit(now, disk, pending);
            }
            return;
        }
        if access.op == Op::Write && self.spec.offload && self.spec.windows.is_some() && !access.deferrable {
            return self.offload(now, self.next - 1);
        }
        for disk in access.homes.iter().copied() {
            let (node, place) = self.places[disk as usize];
            let ready = self.nodes[node as usize].disk(place).is_ready();
            if access.deferrable && self.spec.windows.is_some() && !ready {
                self.queues[disk as usize].deferred.push_back(pending);
            } else {
                self.submit(now, disk, pending);
            }
        }
    }

    /// A write: copies for disks at rest go to logs on primary disks, as far as there are any.
    fn offload(&mut self, now: Time, number: usize) {
        let access = &self.accesses[number];
        let rank = |disk: u32| {
            let (node, place) = self.places[disk as usize];
            match self.nodes[node as usize].disk(place).state() {
                PowerState::Read | PowerState::Write | PowerState::Idle => Some(0),
                PowerState::Up(_) => Some(1),
                PowerState::Rest(Depth::IdleB | Depth::IdleC) | PowerState::Down(Depth::IdleB | Depth::IdleC) => {
                    Some(2)
                }
                PowerState::Rest(Depth::Standby) | PowerState::Down(Depth::Standby) | PowerState::Off => None,
            }
        };
        let is_awake = |disk: &u32| {
            let (node, place) = self.places[*disk as usize];
            !self.nodes[node as usize].disk(place).is_resting()
        };
        let mut homes: Vec<(u32, bool)> = access.homes.iter().map(|disk| (*disk, is_awake(disk))).collect();
        // The best are those that serve or idle: no more is looked at than there are homes at rest.
        let mut wanted = homes.iter().filter(|(_, ready)| !ready).count();
        let count = self.primaries.len().min(LOOKED_AT);
        let mut logs: Vec<(u32, usize)> = Vec::new();
        for step in 0..count {
            if wanted == 0 {
                break;
            }
            let place = (self.next_log + step) % self.primaries.len();
            if access.homes.contains(&self.primaries[place]) {
                continue;
            }
            if let Some(rank) = rank(self.primaries[place]) {
                logs.push((rank, place));
                wanted -= usize::from(rank == 0);
            }
        }
        logs.sort_by_key(|(rank, _)| *rank);
        let disks: Vec<u32> = logs.iter().map(|(_, place)| self.primaries[*place]).collect();
        let mut effects = std::mem::take(&mut self.effects);
        while let Err(few) = self.log.begin(number as Write, &homes, &disks, &mut effects) {
            // Some homes are woken.
            let asleep = homes.iter_mut().filter(|(_, ready)| !ready);
            asleep.take(few.asleep - few.logs).for_each(|(_, ready)| *ready = true);
        }
        let off = homes.iter().filter(|(_, ready)| !ready).count();
        if let Some((_, last)) = off.checked_sub(1).and_then(|last| logs.get(last)) {
            self.next_log = last + 1;
            self.offloaded += off as u64;
        }
        self.effects = effects;
        self.perform(now);
    }

    /// What the off-load log wants.
    fn perform(&mut self, now: Time) {
        let mut effects = std::mem::take(&mut self.effects);
        for effect in effects.drain(..) {
            // A writer that waits for an acknowledgement is not modelled, and a log's room is not scarce.
            let Effect::Store(write, copy) = effect else { continue };
            let access = &self.accesses[usize::try_from(write).unwrap_or(usize::MAX)];
            let (service, cause) = (access.service, access.cause);
            let mut pending =
                Pending { at: now, op: Op::Write, service, cause, counted: true, copy: Some((write, copy)) };
            if let Copy::Home(home) = copy
                && let Some(log) = self.log.log_of(write, home)
            {
                pending = Pending { cause: Cause::Flush, counted: false, ..pending };
                self.submit(now, log.disk(), Pending { op: Op::Read, copy: None, ..pending });
            }
            self.submit(now, copy.disk(), pending);
        }
        self.effects = effects;
    }

    /// What has waited for a disk goes there, what is in a log by way of it.
    fn send_deferred(&mut self, now: Time, disk: u32, cause: Option<Cause>) {
        for pending in std::mem::take(&mut self.queues[disk as usize].deferred) {
            self.submit(now, disk, Pending { at: now, cause: cause.unwrap_or(pending.cause), ..pending });
        }
        self.log.awake(disk, &mut self.effects);
        self.perform(now);
    }

    /// Which of a block's disks is read.
    fn choose(&self, homes: &[u32]) -> Option<u32> {
        let rank = |disk: &u32| {
            let (node, place) = self.places[*disk as usize];
            let controller = &self.nodes[node as usize];
            let queue = &self.queues[*disk as usize];
            let queued = queue.waiting.len() + usize::from(queue.serving);
            let depth = match controller.disk(place).state() {
                PowerState::Read | PowerState::Write | PowerState::Idle => 0,
                PowerState::Up(_) => 1,
                PowerState::Rest(depth) | PowerState::Down(depth) => 2 + depth.index(),
                PowerState::Off => usize::MAX,
            };
            match self.spec.order {
                ReadOrder::Awake => (depth, queued, controller.gear(place)),
                ReadOrder::Blind => (0, queued, controller.gear(place)),
            }
        };
        homes.iter().copied().min_by_key(|disk| rank(disk))
    }

    fn submit(&mut self, now: Time, disk: u32, pending: Pending) {
        let (node, place) = self.places[disk as usize];
        let profile = self.nodes[node as usize].disk(place).profile();
        let power = if pending.op == Op::Read { profile.read } else { profile.write };
        let queue = &mut self.queues[disk as usize];
        queue.visits.push(Visit { at: now, service: pending.service, energy: power.over(pending.service) });
        queue.waiting.push_back(pending);
        if let Some(gears) = &mut self.gears {
            gears.asked(pending.service);
        }
        self.start(now, disk);
        self.arm(now, node);
    }

    /// A disk with nothing in service takes its next request, if it is ready.
    fn start(&mut self, now: Time, disk: u32) {
        let (node, place) = self.places[disk as usize];
        let queue = &mut self.queues[disk as usize];
        let Some(pending) = queue.waiting.front().filter(|_| !queue.serving) else { return };
        if self.nodes[node as usize].begin(now, place, pending.op, pending.cause) {
            queue.serving = true;
            if pending.counted {
                self.waits.push(now.saturating_sub(pending.at));
            }
            self.heap.push(Reverse((now + pending.service, Happening::Served(disk))));
        }
    }

    fn served(&mut self, now: Time, disk: u32) {
        let (node, place) = self.places[disk as usize];
        let queue = &mut self.queues[disk as usize];
        queue.serving = false;
        let served = queue.waiting.pop_front();
        if queue.waiting.is_empty() {
            self.nodes[node as usize].end(now, place);
        }
        if let Some((write, copy)) = served.and_then(|served| served.copy) {
            self.log.durable(write, copy, &mut self.effects);
            self.perform(now);
        }
        self.start(now, disk);
        self.arm(now, node);
    }

    fn window(&mut self, now: Time, disk: u32) {
        if let Some(every) = self.spec.windows {
            self.heap.push(Reverse((now + every, Happening::Window(disk))));
        }
        self.send_deferred(now, disk, Some(Cause::Window));
    }

    fn gears_due(&mut self, now: Time) {
        let Some(gears) = &mut self.gears else { return };
        let changed = gears.on_timer(now);
        self.heap.push(Reverse((gears.deadline(), Happening::Gears)));
        if let Some(number) = changed {
            self.gears_most = self.gears_most.max(number);
            self.tell_gears(now, number);
        }
    }
    fn tell_gears(&mut self, now: Time, number: u32) {
        for node in 0..self.nodes.len() {
            self.nodes[node].hint(now, Hint::Gears(number));
            self.arm(now, units::count(node));
        }
    }

    fn result(self) -> Day {
        let end = self.spec.end;
        let stagger = self.nodes.iter().map(Controller::waited_most).max().unwrap_or_default();
        let disk = |(disk, queue): (usize, &Queue)| {
            let (node, place) = self.places[disk];
            let controller = &self.nodes[node as usize];
            let power = controller.disk(place);
            let limits = Limits {
                deepest: self.spec.settings.deepest(controller.gear(place)),
                spin_ups: self.spec.settings.spin_ups,
                stagger,
                patient: true,
            };
            // Not what the end has cut off: the oracle need not serve that either.
            let visits = &queue.visits[..queue.visits.len() - queue.waiting.len()];
            let heads = [Depth::IdleB, Depth::IdleC].map(|depth| power.wakes(depth).iter().sum::<u32>());
            DiskDay {
                gear: controller.gear(place),
                energy: power.energy(end),
                always_on: oracle::always_on(power.profile(), visits, end),
                least: oracle::least(power.profile(), visits, &limits, end),
                times: power.times(end),
                starts: *power.wakes(Depth::Standby),
                loads: heads.iter().sum(),
                starts_most: most_in_a_day(power.changes()),
                requests: visits.len() as u64,
                changes: power.changes().to_vec(),
            }
        };
        let disks = self.queues.iter().enumerate().map(disk).collect();
        let unserved = self.queues.iter().map(|queue| queue.waiting.len()).sum();
        Day { disks, waits: self.waits, unserved, gears_most: self.gears_most, offloaded: self.offloaded }
    }
}

/// Most starts of a motor within any 24 hours.
fn most_in_a_day(changes: &[Change]) -> u32 {
    let starts: Vec<Time> = changes
        .iter()
        .filter(|change| change.state == PowerState::Up(Depth::Standby))
        .map(|change| change.at)
        .collect();
    let within = |from: usize| {
        let end = starts[from].saturating_add(Time::from_secs(86_400));
        starts[from..].iter().take_while(|at| **at < end).count()
    };
    units::count((0..starts.len()).map(within).max().unwrap_or(0))
}
