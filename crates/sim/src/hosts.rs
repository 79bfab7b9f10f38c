//! Physical machines: processor and storage, shared by their nodes, with their events.

use crate::cluster::MASTER;
use des::{Event, EventQueue};
use hadoop::{DiskOp, DiskStream, NodeId, Purpose, Tag};
use storage::power::{Cause, Drawn, Hint, PowerState, Profile, Settings};
use storage::{
    CacheSpec, DiskCounters, DiskUse, OffloadCounters, Op, Processor, Request, Store, StorePower, Stream, VolumeSpec,
};
use units::{Bytes, Time};

/// Event kind: a host's processor may have finished work.
pub(crate) const PROCESSOR: u8 = 17;
/// Event kind: a host's storage may have finished requests.
pub(crate) const STORE: u8 = 18;

/// A physical machine.
#[derive(Clone, Debug)]
pub(crate) struct MachineSpec {
    /// Its name in results: that of its node, or of the host that several nodes share.
    pub name: String,
    pub cores: u32,
    /// Threads of other work that are always ready to run.
    pub load: f64,
    pub disks: Vec<DiskOfMachine>,
    /// Memory for the page cache.
    pub memory: Bytes,
    /// When its disks rest, if the scenario says what they draw.
    pub power: Option<MachinePower>,
}

/// The power of a machine's disks.
#[derive(Clone, Debug)]
pub(crate) struct MachinePower {
    pub settings: Settings,
    /// By disk: its profile and its gear, if the scenario says what it draws.
    pub profiles: Vec<Option<(Profile, u32)>>,
    /// Whether writes for backup disks at rest are off-loaded.
    pub offload: bool,
}

/// A disk of a machine.
#[derive(Clone, Debug)]
pub(crate) struct DiskOfMachine {
    pub spec: VolumeSpec,
    /// What it holds, as results name it.
    pub role: String,
}

/// A node on a machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeOnMachine {
    /// Index of the machine.
    pub machine: usize,
    /// The most cores that the node may use.
    pub cores: f64,
    /// Speed of a core; 1 is that of the preset `epyc-vm`.
    pub speed: f64,
}

/// A disk request of the cluster.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transfer {
    pub disk: u32,
    pub op: DiskOp,
    pub stream: DiskStream,
    pub offset: Bytes,
    pub bytes: Bytes,
    pub places: u32,
    pub purpose: Purpose,
    pub tag: Tag,
}

/// The one pending event of a processor or store. It may fire early, never late.
#[derive(Clone, Copy, Debug)]
struct Alarm {
    kind: u8,
    host: u32,
    set_for: Time,
}

impl Alarm {
    fn new(kind: u8, host: u32) -> Self {
        Self { kind, host, set_for: Time::MAX }
    }
    fn cover(&mut self, deadline: Time, events: &mut EventQueue) {
        if deadline < self.set_for {
            self.set_for = deadline;
            events.push(deadline, self.kind, self.host, 0);
        }
    }
    /// Whether the event is the pending one; an earlier one may have taken its place.
    fn rings(&mut self, event: &Event) -> bool {
        let current = event.time() == self.set_for;
        if current {
            self.set_for = Time::MAX;
        }
        current
    }
}

#[derive(Debug)]
struct Host {
    processor: Processor<u64>,
    processor_alarm: Alarm,
    store: Store<(NodeId, Tag)>,
    store_alarm: Alarm,
    /// Its nodes, by their number on its processor.
    nodes: Vec<NodeId>,
    /// Cores of each of its nodes, for shares of time.
    cores: f64,
    name: String,
    /// By disk: what it holds.
    roles: Vec<String>,
    /// The number of its first disk among those of all machines, members of arrays counted.
    first_disk: usize,
    /// By disk: how deep it rested when the cluster was last told.
    depths: Vec<u8>,
    /// [`StorePower::steps`] when these were looked at.
    power_steps: u64,
    /// Nodes that are down.
    down: Vec<NodeId>,
    /// Bytes of replicas that its nodes have written.
    replicas: Bytes,
}

/// A disk in the course of a run.
#[derive(Debug)]
pub(crate) struct DiskState<'a> {
    /// "worker-1 disk 0", "worker-1 disk 1 #2" of an array.
    pub name: String,
    /// The first node of its machine.
    pub node: NodeId,
    /// What it holds.
    pub role: &'a str,
    pub counters: DiskCounters,
    /// The power of its machine's disks, and its seat there, where the scenario says what it draws.
    pub power: Option<(&'a StorePower, u32)>,
    /// What became of writes for it at rest, and what logs have for it; of an array with its first member.
    pub offloaded: Option<(OffloadCounters, Bytes)>,
}

/// Factors of a node's speed.
#[derive(Clone, Copy, Debug)]
struct Pace {
    own: f64,
    /// Factors of faults, and of clock throttling.
    fault: f64,
    clock: f64,
}

/// All machines of a cluster.
#[derive(Debug)]
pub(crate) struct Hosts {
    machines: Vec<Host>,
    /// By node: its machine, and its number there.
    places: Vec<(usize, usize)>,
    paces: Vec<Pace>,
    work_done: Vec<(usize, u64)>,
    requests_done: Vec<(NodeId, Tag)>,
    /// Disks that have gone to rest or woken, and how deep they rest now.
    rests: Vec<(NodeId, u32, u8)>,
}

impl Hosts {
    /// Idle machines with these nodes, by node number.
    pub fn new(machines: Vec<MachineSpec>, nodes: &[NodeOnMachine]) -> Self {
        let mut machines: Vec<Host> = (0..).zip(machines).map(|(index, spec)| Host::new(spec, index)).collect();
        let mut places = Vec::with_capacity(nodes.len());
        let mut paces = Vec::with_capacity(nodes.len());
        for (number, node) in nodes.iter().enumerate() {
            let host = &mut machines[node.machine];
            places.push((node.machine, host.processor.add_node(node.cores, node.speed)));
            paces.push(Pace { own: node.speed, fault: 1.0, clock: 1.0 });
            host.nodes.push(NodeId(units::count(number)));
        }
        let mut disks = 0;
        for host in &mut machines {
            host.first_disk = disks;
            disks += host.store.members().sum::<usize>();
        }
        Self { machines, places, paces, work_done: Vec::new(), requests_done: Vec::new(), rests: Vec::new() }
    }

    /// Moves bytes at a disk of a node; false if the disk is gone.
    pub fn transfer(&mut self, now: Time, node: NodeId, transfer: Transfer, events: &mut EventQueue) -> bool {
        let Transfer { disk, op, stream, offset, bytes, places, purpose, tag } = transfer;
        let op = match op {
            DiskOp::Read => Op::Read,
            DiskOp::Write => Op::Write,
        };
        let stream = Stream { node: node.0, id: stream.file, part: stream.part };
        let number = self.places[node.0 as usize].0;
        let host = &mut self.machines[number];
        if host.store.is_gone(disk) {
            return false;
        }
        let cause = match purpose {
            Purpose::Own | Purpose::Replica => None,
            Purpose::Helping => Some(Cause::Helping),
            Purpose::Recovery => Some(Cause::Recovery),
        };
        if op == Op::Write && purpose != Purpose::Own {
            host.replicas += bytes;
        }
        host.store.submit_for(now, disk, Request { op, stream, offset, bytes, places, tag: (node, tag) }, cause);
        host.store_alarm.cover(host.store.deadline(), events);
        self.note_rests(number);
        true
    }

    /// A disk of a node fails, or a member of an array. If data are lost, these requests get no answer.
    pub fn fail_disk(
        &mut self,
        now: Time,
        node: NodeId,
        (disk, member): (u32, u32),
        events: &mut EventQueue,
    ) -> Option<Vec<(NodeId, Tag)>> {
        let (host, _) = self.place(node);
        let unanswered = host.store.fail_member(now, disk as usize, member);
        host.store_alarm.cover(host.store.deadline(), events);
        unanswered
    }
    /// A spare takes the place of a member of an array.
    pub fn replace_disk(&mut self, now: Time, node: NodeId, (disk, member): (u32, u32), events: &mut EventQueue) {
        let (host, _) = self.place(node);
        host.store.replace_member(now, disk as usize, member);
        host.store_alarm.cover(host.store.deadline(), events);
    }
    /// What a disk begins from now on goes at `factor` times its speed.
    pub fn set_disk_speed(&mut self, node: NodeId, (disk, member): (u32, u32), factor: f64) {
        let (host, _) = self.place(node);
        host.store.set_slowness(disk as usize, member, 1.0 / factor);
    }
    /// The nodes that share a node's machine, itself among them.
    pub fn neighbours(&self, node: NodeId) -> &[NodeId] {
        &self.machines[self.places[node.0 as usize].0].nodes
    }

    /// Starts a piece of work on a node.
    pub fn compute(&mut self, now: Time, node: NodeId, work: Time, tag: Tag, events: &mut EventQueue) {
        let (host, number) = self.place(node);
        host.processor.submit(now, number, work, tag.0);
        host.processor_alarm.cover(host.processor.deadline(), events);
    }

    /// Forgets a piece of work.
    pub fn cancel(&mut self, now: Time, node: NodeId, tag: Tag, events: &mut EventQueue) {
        let (host, number) = self.place(node);
        host.processor.cancel(now, number, tag.0);
        host.processor_alarm.cover(host.processor.deadline(), events);
    }

    /// A node has crashed: its work and requests are gone.
    pub fn node_down(&mut self, now: Time, node: NodeId, events: &mut EventQueue) {
        let (host, number) = self.place(node);
        host.processor.clear(now, number);
        host.store.drop_node(now, node.0);
        host.down.push(node);
        if host.down.len() == host.nodes.len() {
            host.store.switch(now, false);
        }
        host.processor_alarm.cover(host.processor.deadline(), events);
        host.store_alarm.cover(host.store.deadline(), events);
    }

    /// A node is back.
    pub fn node_up(&mut self, now: Time, node: NodeId, events: &mut EventQueue) {
        let number = self.places[node.0 as usize].0;
        let host = &mut self.machines[number];
        host.down.retain(|other| *other != node);
        host.store.switch(now, true);
        host.store_alarm.cover(host.store.deadline(), events);
        self.note_rests(number);
    }

    /// How many machines there are.
    pub fn machine_count(&self) -> usize {
        self.machines.len()
    }
    /// The machine of a node.
    pub fn machine_of(&self, node: NodeId) -> usize {
        self.places[node.0 as usize].0
    }
    /// Tells the policy of a machine's disks what goes on.
    pub fn hint(&mut self, now: Time, machine: usize, hint: Hint, events: &mut EventQueue) {
        let host = &mut self.machines[machine];
        host.store.hint(now, hint);
        host.store_alarm.cover(host.store.deadline(), events);
        self.note_rests(machine);
    }
    /// The disks of workers' machines that have a power, by machine and number.
    pub fn disks_of_workers(&self) -> Vec<(usize, usize)> {
        let mut disks = Vec::new();
        for (machine, host) in self.machines.iter().enumerate().filter(|(_, host)| host.nodes != [MASTER]) {
            let Some(power) = host.store.power() else { continue };
            disks.extend(
                (0..host.roles.len()).filter(|disk| power.seat(*disk, 0).is_some()).map(|disk| (machine, disk)),
            );
        }
        disks
    }
    /// The planned window of a disk.
    pub fn window(&mut self, now: Time, (machine, disk): (usize, usize), events: &mut EventQueue) {
        let host = &mut self.machines[machine];
        host.store.window(now, disk);
        host.store_alarm.cover(host.store.deadline(), events);
        self.note_rests(machine);
    }
    /// A disk is read besides jobs: of the file of a work, so many bytes from an offset on.
    pub fn chore(
        &mut self,
        now: Time,
        (machine, disk): (usize, usize),
        (work, from, bytes): (u32, Bytes, Bytes),
        cause: Cause,
        waits: bool,
        events: &mut EventQueue,
    ) {
        let host = &mut self.machines[machine];
        if host.down.len() == host.nodes.len() {
            return;
        }
        // Of no node: the machine's own.
        let file = Stream { node: u32::MAX - 1, id: u64::MAX - u64::from(work), part: 0 };
        host.store.chore(now, disk, (file, from), bytes, cause, waits);
        host.store_alarm.cover(host.store.deadline(), events);
        self.note_rests(machine);
    }
    /// Bytes of replicas that a machine's nodes have written so far.
    pub fn replicas_written(&self, machine: usize) -> Bytes {
        self.machines[machine].replicas
    }
    /// Disks that have gone to rest or woken since this was last asked: by node, how deep from 1, or 0 for awake.
    pub fn take_rests(&mut self) -> Vec<(NodeId, u32, u8)> {
        std::mem::take(&mut self.rests)
    }
    fn note_rests(&mut self, machine: usize) {
        let host = &mut self.machines[machine];
        let Some(power) = host.store.power() else { return };
        if std::mem::replace(&mut host.power_steps, power.steps()) == power.steps() {
            return;
        }
        for (disk, told) in host.depths.iter_mut().enumerate() {
            let depth = power.depth(disk);
            if std::mem::replace(told, depth) != depth {
                self.rests.extend(host.nodes.iter().map(|node| (*node, units::count(disk), depth)));
            }
        }
    }
    /// How long the disks of all machines have read or written so far.
    pub fn disks_used(&self, now: Time) -> Time {
        let of_disk = |power: &StorePower, seat: u32| {
            let times = power.disk(seat).times(now);
            times[PowerState::Read.index()] + times[PowerState::Write.index()]
        };
        let of = |power: &StorePower| {
            (0..units::count(power.controller().disk_count())).map(|seat| of_disk(power, seat)).sum::<Time>()
        };
        self.machines.iter().filter_map(|host| host.store.power()).map(of).sum()
    }
    /// How many disks of gear 0 have a profile.
    pub fn primary_disks(&self) -> u32 {
        let controllers = || self.machines.iter().filter_map(|host| host.store.power()).map(StorePower::controller);
        let of = |controller: &storage::power::Controller| {
            (0..units::count(controller.disk_count())).filter(|disk| controller.gear(*disk) == 0).count()
        };
        units::count(controllers().map(of).sum())
    }

    /// Sets the factor of faults: the node runs at `factor` times its own speed from now on.
    pub fn set_speed(&mut self, now: Time, node: NodeId, factor: f64, events: &mut EventQueue) {
        self.paces[node.0 as usize].fault = factor;
        self.update_speed(now, node, events);
    }
    /// Sets the factor of throttling: the processor runs at `factor` times its own clock from now on.
    pub fn set_clock(&mut self, now: Time, node: NodeId, factor: f64, events: &mut EventQueue) {
        self.paces[node.0 as usize].clock = factor;
        self.update_speed(now, node, events);
    }
    fn update_speed(&mut self, now: Time, node: NodeId, events: &mut EventQueue) {
        let Pace { own, fault, clock } = self.paces[node.0 as usize];
        let (host, number) = self.place(node);
        host.processor.set_speed(now, number, own * fault * clock);
        host.processor_alarm.cover(host.processor.deadline(), events);
    }

    /// Handles a [`PROCESSOR`] event: appends the pieces of work that are done.
    pub fn on_processor(&mut self, event: &Event, done: &mut Vec<(NodeId, Tag)>, events: &mut EventQueue) {
        let host = &mut self.machines[event.index as usize];
        if host.processor_alarm.rings(event) {
            host.processor.on_timer(event.time(), &mut self.work_done);
            done.extend(self.work_done.drain(..).map(|(number, tag)| (host.nodes[number], Tag(tag))));
            host.processor_alarm.cover(host.processor.deadline(), events);
        }
    }

    /// Handles a [`STORE`] event: appends the requests that are done.
    pub fn on_store(&mut self, event: &Event, done: &mut Vec<(NodeId, Tag)>, events: &mut EventQueue) {
        let host = &mut self.machines[event.index as usize];
        if host.store_alarm.rings(event) {
            host.store.on_timer(event.time(), &mut self.requests_done);
            done.append(&mut self.requests_done);
            host.store_alarm.cover(host.store.deadline(), events);
            self.note_rests(event.index as usize);
        }
    }

    /// Core time that a node has used.
    pub fn used(&self, now: Time, node: NodeId) -> Time {
        let (host, number) = self.places[node.0 as usize];
        self.machines[host].processor.used(now, number)
    }

    /// The cores that a node may use at most.
    pub fn cores(&self, node: NodeId) -> f64 {
        self.machines[self.places[node.0 as usize].0].cores
    }

    /// All disks, machine by machine.
    pub fn disks(&self, now: Time) -> impl Iterator<Item = DiskState<'_>> {
        self.machines.iter().flat_map(move |host| {
            host.roles.iter().zip(host.store.members()).enumerate().flat_map(move |(disk, (role, members))| {
                (0..members).map(move |member| DiskState {
                    name: match members {
                        1 => format!("{} disk {disk}", host.name),
                        _ => format!("{} disk {disk} #{member}", host.name),
                    },
                    node: host.nodes[0],
                    role,
                    counters: host.store.disk_counters(now, disk, member),
                    power: host.store.power().and_then(|power| Some((power, power.seat(disk, member)?))),
                    offloaded: host.store.offloaded(disk).filter(|_| member == 0),
                })
            })
        })
    }
    /// Hands over each disk's number, use and energy on machines where something has changed; `seen` has what their
    /// [`Store::changes`] were, by machine.
    pub fn read_disks(&self, seen: &mut Vec<u64>, mut found: impl FnMut(usize, DiskUse, Option<Drawn>)) {
        seen.resize(self.machines.len(), u64::MAX);
        for (host, seen) in self.machines.iter().zip(seen) {
            let changes = host.store.changes();
            if std::mem::replace(seen, changes) != changes {
                for (disk, (used, drawn)) in (host.first_disk..).zip(host.store.disks_used()) {
                    found(disk, used, drawn);
                }
            }
        }
    }

    fn place(&mut self, node: NodeId) -> (&mut Host, usize) {
        let (host, number) = self.places[node.0 as usize];
        (&mut self.machines[host], number)
    }
}

impl Host {
    fn new(spec: MachineSpec, index: u32) -> Self {
        let disks: Vec<VolumeSpec> = spec.disks.iter().map(|disk| disk.spec).collect();
        let mut store = Store::new(&disks, CacheSpec::linux(spec.memory));
        if let Some(power) = &spec.power {
            // The check of the scenario has seen that the settings can be followed.
            let _ = store.set_power(Time::ZERO, power.settings, &power.profiles);
            if power.offload {
                store.set_offloading();
            }
        }
        Self {
            processor: Processor::with_load(spec.cores, spec.load),
            processor_alarm: Alarm::new(PROCESSOR, index),
            store,
            store_alarm: Alarm::new(STORE, index),
            nodes: Vec::new(),
            cores: f64::from(spec.cores),
            name: spec.name,
            depths: vec![0; spec.disks.len()],
            power_steps: u64::MAX,
            down: Vec::new(),
            replicas: Bytes::ZERO,
            first_disk: 0,
            roles: spec.disks.into_iter().map(|disk| disk.role).collect(),
        }
    }
}
