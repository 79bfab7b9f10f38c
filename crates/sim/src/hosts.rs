//! The physical machines: the processor and the storage that their nodes share, and the events that drive both.

use crate::scenario::{DiskPreset, NodeSpec, Scenario, Storage};
use des::{Event, EventQueue, RandomStream};
use hadoop::{DiskOp, NodeId, Tag};
use storage::{CacheSpec, DiskCounters, DiskSpec, Op, Processor, Request, Store, Stream};
use units::{Bytes, Time};

/// Event kind: a host's processor may have finished work.
pub(crate) const PROCESSOR: u8 = 17;
/// Event kind: a host's storage may have finished requests.
pub(crate) const STORE: u8 = 18;

/// A read or write as the cluster asks for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transfer {
    pub disk: u32,
    pub op: DiskOp,
    pub stream: u64,
    pub offset: Bytes,
    pub bytes: Bytes,
    pub tag: Tag,
}

/// A part's one pending event: it may fire early, never late.
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
}

/// What a node's speed is made of.
#[derive(Clone, Copy, Debug)]
struct Pace {
    own: f64,
    /// By faults, and by its clock.
    fault: f64,
    clock: f64,
}

/// All machines of a cluster.
#[derive(Debug)]
pub(crate) struct Hosts {
    machines: Vec<Host>,
    /// Of each node: its host and its number there.
    places: Vec<(usize, usize)>,
    paces: Vec<Pace>,
    work_done: Vec<(usize, u64)>,
    requests_done: Vec<(NodeId, Tag)>,
}

impl Hosts {
    /// The machines of a scenario: a node has one of its own unless it shares a host.
    pub fn new(scenario: &Scenario) -> Self {
        let nodes = scenario.nodes();
        let mut machines: Vec<Host> = Vec::new();
        let mut shared: Vec<Option<usize>> = Vec::new();
        let mut places = Vec::new();
        let mut paces = Vec::new();
        for (number, node) in nodes.iter().enumerate() {
            let position = if let Some(host) = node.host {
                let host = host as usize;
                shared.resize(shared.len().max(host + 1), None);
                *shared[host].get_or_insert_with(|| {
                    machines.push(Host::shared(scenario, node, machines.len() as u32, host));
                    machines.len() - 1
                })
            } else {
                machines.push(Host::own(scenario, node, machines.len() as u32));
                machines.len() - 1
            };
            let host = &mut machines[position];
            // Nodes of one machine are all as fast as it is in this run.
            let draw = RandomStream::new(scenario.run.seed, "host/speed", position as u64).normal();
            let speed = node.hardware.speed * (1.0 + node.hardware.variation * draw).max(0.1);
            places.push((position, host.processor.add_node(f64::from(node.hardware.cores), speed)));
            paces.push(Pace { own: speed, fault: 1.0, clock: 1.0 });
            host.nodes.push(NodeId(number as u32));
        }
        Self { machines, places, paces, work_done: Vec::new(), requests_done: Vec::new() }
    }

    /// Moves bytes at a disk of a node.
    pub fn transfer(&mut self, now: Time, node: NodeId, transfer: Transfer, events: &mut EventQueue) {
        let Transfer { disk, op, stream, offset, bytes, tag } = transfer;
        let op = match op {
            DiskOp::Read => Op::Read,
            DiskOp::Write => Op::Write,
        };
        let stream = Stream { node: node.0, id: stream };
        let (host, _) = self.place(node);
        host.store.submit(now, disk, Request { op, stream, offset, bytes, tag: (node, tag) });
        host.store_alarm.cover(host.store.deadline(), events);
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

    /// A fault makes a node go at `factor` times its own speed from now on.
    pub fn set_speed(&mut self, now: Time, node: NodeId, factor: f64, events: &mut EventQueue) {
        self.paces[node.0 as usize].fault = factor;
        self.settle_pace(now, node, events);
    }
    /// Its processor runs at `factor` times its own clock from now on.
    pub fn set_clock(&mut self, now: Time, node: NodeId, factor: f64, events: &mut EventQueue) {
        self.paces[node.0 as usize].clock = factor;
        self.settle_pace(now, node, events);
    }
    fn settle_pace(&mut self, now: Time, node: NodeId, events: &mut EventQueue) {
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

    /// Every disk: its name, the first node it belongs to, and what it has done.
    pub fn disks(&self, now: Time) -> impl Iterator<Item = (String, NodeId, DiskCounters)> {
        self.machines.iter().flat_map(move |host| {
            (0..host.store.disk_count()).map(move |disk| {
                (format!("{} disk {disk}", host.name), host.nodes[0], host.store.disk_counters(now, disk))
            })
        })
    }

    fn place(&mut self, node: NodeId) -> (&mut Host, usize) {
        let (host, number) = self.places[node.0 as usize];
        (&mut self.machines[host], number)
    }
}

impl Host {
    fn own(scenario: &Scenario, node: &NodeSpec, index: u32) -> Self {
        Self::new(scenario, node, index, node.name.clone(), node.hardware.cores, node.hardware.disks)
    }

    fn shared(scenario: &Scenario, first: &NodeSpec, index: u32, number: usize) -> Self {
        let (cores, disks) = scenario.cluster.host.as_ref().map_or((1, 1), |host| (host.cores, host.disks));
        Self::new(scenario, first, index, format!("host-{number}"), cores, disks)
    }

    fn new(scenario: &Scenario, node: &NodeSpec, index: u32, name: String, cores: u32, disks: u32) -> Self {
        let spec = disk_spec(node.hardware.disk, &scenario.storage);
        Self {
            processor: Processor::new(cores),
            processor_alarm: Alarm::new(PROCESSOR, index),
            store: Store::new(&vec![spec; disks as usize], CacheSpec::linux(node.hardware.memory)),
            store_alarm: Alarm::new(STORE, index),
            nodes: Vec::new(),
            cores: f64::from(cores),
            name,
        }
    }
}

/// The disk of a preset with the scenario's overrides.
fn disk_spec(preset: DiskPreset, overrides: &Storage) -> DiskSpec {
    let spec = match preset {
        DiskPreset::Sata2009 => DiskSpec::st3160318as(),
        DiskPreset::Ssd => DiskSpec::f40a(),
        DiskPreset::NandFlash => DiskSpec::nexus7_flash(),
        DiskPreset::Virtual => DiskSpec::virtual_disk(),
    };
    match spec {
        DiskSpec::Rotating(mut rotating) => {
            rotating.seek = overrides.position.unwrap_or(rotating.seek);
            rotating.revolution = if overrides.position.is_some() { Time::ZERO } else { rotating.revolution };
            rotating.read_rate = overrides.read.unwrap_or(rotating.read_rate);
            rotating.write_rate = overrides.write.unwrap_or(rotating.write_rate);
            DiskSpec::Rotating(rotating)
        }
        DiskSpec::Flash(mut flash) => {
            flash.read_latency = overrides.position.unwrap_or(flash.read_latency);
            flash.write_latency = overrides.position.unwrap_or(flash.write_latency);
            flash.read_rate = overrides.read.unwrap_or(flash.read_rate);
            flash.write_rate = overrides.write.unwrap_or(flash.write_rate);
            DiskSpec::Flash(flash)
        }
    }
}
