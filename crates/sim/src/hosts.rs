//! Physical machines: processor and storage, shared by their nodes, with their events.

use des::{Event, EventQueue};
use hadoop::{DiskOp, DiskStream, NodeId, Tag};
use storage::{CacheSpec, DiskCounters, Op, Processor, Request, Store, Stream, VolumeSpec};
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
        Self { machines, places, paces, work_done: Vec::new(), requests_done: Vec::new() }
    }

    /// Moves bytes at a disk of a node; false if the disk is gone.
    pub fn transfer(&mut self, now: Time, node: NodeId, transfer: Transfer, events: &mut EventQueue) -> bool {
        let Transfer { disk, op, stream, offset, bytes, tag } = transfer;
        let op = match op {
            DiskOp::Read => Op::Read,
            DiskOp::Write => Op::Write,
        };
        let stream = Stream { node: node.0, id: stream.file, part: stream.part };
        let (host, _) = self.place(node);
        if host.store.is_gone(disk) {
            return false;
        }
        host.store.submit(now, disk, Request { op, stream, offset, bytes, tag: (node, tag) });
        host.store_alarm.cover(host.store.deadline(), events);
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
        host.store.drop_node(node.0);
        host.processor_alarm.cover(host.processor.deadline(), events);
        host.store_alarm.cover(host.store.deadline(), events);
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
                })
            })
        })
    }
    /// Time that each disk has spent serving, machine by machine.
    pub fn disks_busy(&self, now: Time) -> impl Iterator<Item = Time> {
        self.machines.iter().flat_map(move |host| {
            host.store.members().enumerate().flat_map(move |(disk, members)| {
                (0..members).map(move |member| host.store.disk_counters(now, disk, member).busy)
            })
        })
    }

    fn place(&mut self, node: NodeId) -> (&mut Host, usize) {
        let (host, number) = self.places[node.0 as usize];
        (&mut self.machines[host], number)
    }
}

impl Host {
    fn new(spec: MachineSpec, index: u32) -> Self {
        let disks: Vec<VolumeSpec> = spec.disks.iter().map(|disk| disk.spec).collect();
        Self {
            processor: Processor::with_load(spec.cores, spec.load),
            processor_alarm: Alarm::new(PROCESSOR, index),
            store: Store::new(&disks, CacheSpec::linux(spec.memory)),
            store_alarm: Alarm::new(STORE, index),
            nodes: Vec::new(),
            cores: f64::from(spec.cores),
            name: spec.name,
            roles: spec.disks.into_iter().map(|disk| disk.role).collect(),
        }
    }
}
