//! The event loop: one queue, one `match`.

use crate::air::AirSpec;
use crate::chores;
use crate::cluster::{self, Driver, Outside};
use crate::energy::{Look, Meters, Used};
use crate::hosts;
use crate::manager;
use crate::throttle;
use des::EventQueue;
use hadoop::{Input, NodeId};
use net::{ARRIVAL, BOND, LinkId, SpecError, TRANSMISSION_DONE, Topology};
use results::TrafficOutcome;
use thiserror::Error;
use traffic::{FLOW_START, SESSION, Traffic, TrafficLook, TrafficSpec};
use transport::{DUE, FlowTransport, Owner, PacketTransport, QUEUE_ROOM, TIMER, Transport, Upcall};
use units::{BitRate, Bytes, Time};
use wifi::medium::{ALARM, MediumError, PPDU_ENDS, WIRE};
use wifi::mesh::ROUTER;

/// Event kind: the end of the warm-up.
const WARM: u8 = 5;
/// Event kind: a fault begins or ends.
const FAULT: u8 = 6;
/// Event kind: the run pauses.
const PAUSE: u8 = 7;
/// Event kind: a node's battery may be empty.
const BATTERY: u8 = 13;

/// Event kind: governors are polled, and nodes report their charge.
const LOOK: u8 = 14;

/// What becomes of a disk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DiskState {
    /// It goes at this part of its speed.
    Speed(f64),
    /// It is gone.
    Failed,
    /// A spare has taken its place in its array.
    Replaced,
}

/// A change of the world at a given time, such as a fault.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Change {
    /// A node crashes or comes back.
    Node {
        /// The node: a position in the topology's hosts.
        node: u32,
        /// Whether it is up from now on.
        up: bool,
    },
    /// An access point is switched off, or on again.
    AccessPoint {
        /// The access point, from 0.
        point: u32,
        /// Whether it is on from now on.
        up: bool,
    },
    /// The speed of a node's cores changes.
    Speed {
        /// The node: a position in the topology's hosts.
        node: u32,
        /// Factor on the node's own speed; 1 restores it.
        factor: f64,
    },
    /// A disk fails, is replaced, or changes its speed.
    Disk {
        /// The node: a position in the topology's hosts.
        node: u32,
        /// Which of its disks, and which member where that is an array.
        disk: (u32, u32),
        /// What becomes of it.
        state: DiskState,
    },
    /// A cable goes down or up, both ways.
    Link {
        /// One of its directions.
        link: LinkId,
        /// Whether it is up from now on.
        up: bool,
    },
    /// One direction of a link loses every packet while both ends still see a carrier, or is restored.
    Silent {
        /// The direction.
        link: LinkId,
        /// Whether it is silent from now on.
        silent: bool,
    },
    /// The rate of one direction of a link changes.
    Rate {
        /// The direction.
        link: LinkId,
        /// The rate; not zero.
        rate: BitRate,
    },
}

/// Why a world cannot be built.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum WorldError {
    /// A link's specification is wrong.
    #[error(transparent)]
    Link(#[from] SpecError),
    /// The wireless network's specification is wrong.
    #[error(transparent)]
    Air(#[from] MediumError),
}

/// How finely messages between nodes are simulated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fidelity {
    /// Packet by packet, with TCP.
    #[default]
    Packets,
    /// As streams that share links max-min fairly below TCP's limits.
    Flows,
}

/// Specification of a world.
#[derive(Clone, Debug, Default)]
pub struct WorldSpec {
    /// The network's topology; its hosts are the nodes.
    pub topology: Topology,
    /// Packet level or flow level.
    pub fidelity: Fidelity,
    /// Bytes on the wire of each packet beyond its IP length.
    pub framing: Bytes,
    /// The wireless network between nodes; `None` where they are wired.
    pub air: Option<AirSpec>,
    /// Plain traffic.
    pub traffic: Vec<TrafficSpec>,
    /// End of the warm-up: figures named "warm" count from here.
    pub warm_up: Time,
    /// Changes at their times.
    pub changes: Vec<(Time, Change)>,
    /// Seed of all random streams.
    pub seed: u64,
}

/// A simulation: all its parts, and the event queue.
#[derive(Debug)]
pub struct World {
    now: Time,
    events: EventQueue,
    handled: u64,
    pauses: u32,
    transport: Transport,
    traffic: Traffic,
    /// The Hadoop cluster, if the run has jobs.
    driver: Option<Driver>,
    air: Option<AirSpec>,
    changes: Vec<(Time, Change)>,
    /// Energy meters, where the power of nodes is known.
    meters: Option<Meters>,
    /// Heartbeats carry the state of charge.
    tells_charges: bool,
    /// Buffer for upcalls, reused.
    upcalls: Vec<Upcall>,
}

impl World {
    /// A world at time zero.
    pub fn new(spec: &WorldSpec) -> Result<Self, WorldError> {
        let mut events = EventQueue::new();
        for (index, (at, _)) in spec.changes.iter().enumerate() {
            events.push(*at, FAULT, units::count(index), 0);
        }
        if spec.warm_up > Time::ZERO {
            events.push(spec.warm_up, WARM, 0, 0);
        }
        let transport = match spec.fidelity {
            Fidelity::Packets => {
                let mut packets = PacketTransport::new(spec.topology.clone(), spec.framing, spec.seed)?;
                packets.start(&mut events);
                if let Some(air) = &spec.air {
                    packets.set_air(air.wireless(spec.seed)?, &mut events);
                }
                Transport::Packets(Box::new(packets))
            }
            Fidelity::Flows => {
                Transport::Flows(Box::new(FlowTransport::new(spec.topology.clone(), spec.framing, spec.seed)))
            }
        };
        let traffic = Traffic::new(&spec.traffic, spec.warm_up, spec.seed, &mut events);
        Ok(Self {
            now: Time::ZERO,
            handled: 0,
            pauses: 0,
            transport,
            traffic,
            driver: None,
            air: spec.air.clone(),
            changes: spec.changes.clone(),
            meters: None,
            tells_charges: false,
            upcalls: Vec::new(),
            events,
        })
    }

    /// Puts a Hadoop cluster on the nodes. It starts now.
    pub(crate) fn add_cluster(&mut self, mut driver: Driver) {
        let outside = &mut Outside { transport: &mut self.transport, events: &mut self.events };
        driver.start(self.now, outside);
        self.driver = Some(driver);
    }

    /// Meters the energy of nodes. A node whose battery is empty goes down. If `told`, heartbeats carry the state of
    /// charge.
    pub(crate) fn add_meters(&mut self, meters: Meters, told: bool) {
        self.tells_charges = told;
        if told || meters.has_governors() {
            self.events.push(Time::ZERO, LOOK, 0, 0);
        }
        for (node, at) in meters.batteries() {
            self.events.push(at, BATTERY, node, 0);
        }
        self.meters = Some(meters);
    }

    /// Runs until `until`, or until all jobs and all traffic that has an end are done; returns whether they are.
    pub fn run(&mut self, until: Time) -> bool {
        let finished = self.run_events(until);
        if let Some(packets) = self.transport.packets_mut() {
            packets.resolve_dropped();
        }
        finished
    }

    fn run_events(&mut self, until: Time) -> bool {
        self.pauses += 1;
        self.events.push(until, PAUSE, self.pauses, 0);
        while let Some(event) = self.events.pop() {
            self.now = event.time();
            self.transport.pass(self.now);
            self.handled += 1;
            match event.kind() {
                ARRIVAL | TIMER | TRANSMISSION_DONE | QUEUE_ROOM | BOND | DUE | PPDU_ENDS | ALARM | WIRE | ROUTER => {
                    self.transport.on_event(&event, &mut self.events);
                }
                FLOW_START => self.traffic.on_flow_start(&event, &mut self.transport, &mut self.events),
                SESSION => self.traffic.on_session(&event, &mut self.transport, &mut self.events),
                WARM => self.traffic.on_warm(&self.transport),
                FAULT => self.apply(self.changes[event.index as usize].1),
                BATTERY => self.look_at_battery(event.index),
                LOOK => self.look_at_nodes(),
                PAUSE if event.index == self.pauses => return self.is_finished(),
                cluster::TIMER | hosts::PROCESSOR | hosts::STORE | manager::LOOK | chores::CHORE => {
                    if let Some(driver) = &mut self.driver {
                        let outside = &mut Outside { transport: &mut self.transport, events: &mut self.events };
                        driver.on_event(&event, outside);
                        if driver.is_finished() && self.is_finished() {
                            return true;
                        }
                    }
                }
                // A stale pause, of an earlier call that ended before it.
                _ => {}
            }
            if self.transport.has_upcalls() {
                self.tell();
                if self.is_finished() {
                    return true;
                }
            }
        }
        true
    }

    /// Whether all jobs and all traffic that has an end are done.
    pub fn is_finished(&self) -> bool {
        self.traffic.is_finished() && self.driver.as_ref().is_none_or(Driver::is_finished)
    }

    /// Delivers upcalls to owners until there are none left.
    fn tell(&mut self) {
        let mut upcalls = std::mem::take(&mut self.upcalls);
        while self.transport.has_upcalls() {
            self.transport.take_upcalls(&mut upcalls);
            for upcall in upcalls.drain(..) {
                match upcall.owner {
                    Owner::Traffic => self.traffic.on_upcall(self.now, &upcall, &mut self.transport, &mut self.events),
                    Owner::Cluster => {
                        if let Some(driver) = &mut self.driver {
                            let outside = &mut Outside { transport: &mut self.transport, events: &mut self.events };
                            driver.on_upcall(self.now, &upcall, outside);
                        }
                    }
                }
            }
        }
        self.upcalls = upcalls;
    }

    fn look_at_battery(&mut self, node: u32) {
        let used = used(self.now, node, self.driver.as_ref(), &self.transport);
        match self.meters.as_mut().and_then(|meters| meters.look(self.now, node, used)) {
            Some(Look::At(at)) => self.events.push(at, BATTERY, node, 0),
            Some(Look::Empty) => self.apply(Change::Node { node, up: false }),
            None => {}
        }
    }
    /// Polls governors, and tells the cluster the nodes' state of charge.
    fn look_at_nodes(&mut self) {
        let (Some(meters), Some(driver)) = (&mut self.meters, &mut self.driver) else { return };
        let now = self.now;
        for node in 0..units::count(driver.cluster.context().nodes.len()) {
            let used = used(now, node, Some(&*driver), &self.transport);
            let clock = meters.govern(now, node, used);
            let level = meters.get(node).and_then(|meter| meter.level(now, used)).filter(|_| self.tells_charges);
            if let Some(factor) = clock {
                driver.hosts.set_clock(now, NodeId(node), factor, &mut self.events);
            }
            if let Some(level) = level {
                let level = u16::try_from(units::whole(level * 1000.0)).unwrap_or(u16::MAX);
                let outside = &mut Outside { transport: &mut self.transport, events: &mut self.events };
                driver.feed(now, Input::Charge { node: NodeId(node), level }, outside);
            }
        }
        self.events.push(now + throttle::LOOK, LOOK, 0, 0);
    }
    /// What a node has used of its processor and its radio.
    pub(crate) fn used(&self, node: u32) -> Used<'_> {
        used(self.now, node, self.driver.as_ref(), &self.transport)
    }
    pub(crate) fn meters(&self) -> Option<&Meters> {
        self.meters.as_ref()
    }

    fn apply(&mut self, change: Change) {
        match change {
            Change::Node { node, up } => {
                if !self.meters.as_mut().is_none_or(|meters| meters.set_up(self.now, node, up)) {
                    return;
                }
                self.transport.set_node(self.now, node, up, &mut self.events);
                if let Some(driver) = &mut self.driver {
                    let outside = &mut Outside { transport: &mut self.transport, events: &mut self.events };
                    driver.set_node(self.now, node, up, outside);
                }
            }
            Change::AccessPoint { point, up } => {
                let station = units::count(self.transport.topology().hosts().len()) + point;
                if let Some(packets) = self.transport.packets_mut() {
                    packets.set_station(self.now, station, up, &mut self.events);
                }
            }
            Change::Speed { node, factor } => {
                if let Some(driver) = &mut self.driver {
                    driver.hosts.set_speed(self.now, NodeId(node), factor, &mut self.events);
                }
            }
            Change::Disk { node, disk, state } => {
                if let Some(driver) = &mut self.driver {
                    let outside = &mut Outside { transport: &mut self.transport, events: &mut self.events };
                    driver.change_disk(self.now, node, disk, state, outside);
                }
            }
            Change::Link { link, up } => self.transport.set_link_up(self.now, link, up, &mut self.events),
            Change::Silent { link, silent } => {
                if let Some(packets) = self.transport.packets_mut() {
                    packets.set_link_silent(link, silent);
                }
            }
            Change::Rate { link, rate } => {
                // The scenario check has excluded a rate of zero, the only one that the network refuses.
                let _ = self.transport.set_link_rate(self.now, link, rate, &mut self.events);
            }
        }
    }

    /// The simulated time.
    pub fn now(&self) -> Time {
        self.now
    }
    /// How many events have been handled.
    pub fn handled(&self) -> u64 {
        self.handled
    }
    /// The message transport.
    pub fn transport(&self) -> &Transport {
        &self.transport
    }
    /// The packet-level transport: links, queues, TCP. `None` where messages are flows.
    pub fn packets(&self) -> Option<&PacketTransport> {
        self.transport.packets()
    }
    /// The transport, mutable, with the event queue that its calls need.
    pub fn transport_mut(&mut self) -> (&mut Transport, &mut EventQueue) {
        (&mut self.transport, &mut self.events)
    }
    /// Changes during the run, with their times.
    pub fn changes(&self) -> &[(Time, Change)] {
        &self.changes
    }
    /// The wireless network between nodes; `None` where they are wired.
    pub fn air(&self) -> Option<&AirSpec> {
        self.air.as_ref()
    }
    pub(crate) fn driver(&self) -> Option<&Driver> {
        self.driver.as_ref()
    }
    /// Instantaneous readings of plain traffic, in the order of the scenario.
    pub(crate) fn traffic_looks(&self) -> impl Iterator<Item = Option<TrafficLook>> {
        self.traffic.looks(&self.transport)
    }
    /// Results of plain traffic so far.
    pub fn traffic_outcomes(&self) -> Vec<TrafficOutcome> {
        self.traffic.outcomes(self.now, &self.transport)
    }
}

fn used<'a>(now: Time, node: u32, driver: Option<&Driver>, transport: &'a Transport) -> Used<'a> {
    let cores = driver.map_or(Time::ZERO, |driver| driver.hosts.used(now, NodeId(node)));
    Used { cores, radio: transport.packets().and_then(|packets| packets.radio_times(node)) }
}
