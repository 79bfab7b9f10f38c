//! The event loop: one queue, one `match`.

use crate::air::AirSpec;
use crate::cluster::{self, Driver, Outside};
use crate::energy::{Look, Meters, Used};
use crate::hosts;
use crate::throttle;
use des::EventQueue;
use hadoop::{Input, NodeId};
use net::{ARRIVAL, BOND, LinkId, SpecError, TRANSMISSION_DONE, Topology};
use results::TrafficOutcome;
use thiserror::Error;
use traffic::{FLOW_START, SESSION, Traffic, TrafficLook, TrafficSpec};
use transport::{DUE, FlowTransport, GATE, Owner, PacketTransport, TIMER, Transport, Upcall};
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

/// Event kind: time to look at nodes' charges, and at what slows processors down.
const LOOK: u8 = 14;

/// Something that changes at a given time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Change {
    /// A node crashes or comes back.
    Node {
        /// Which: a position in the topology's hosts.
        node: u32,
        /// Whether it is up from now on.
        up: bool,
    },
    /// An access point is switched off, or on again.
    AccessPoint {
        /// Which, from 0.
        point: u32,
        /// Whether it is on from now on.
        up: bool,
    },
    /// A node's cores go on at this part of their own speed.
    Speed {
        /// Which.
        node: u32,
        /// 1 is its own speed.
        factor: f64,
    },
    /// A cable goes down or up, both ways.
    Link {
        /// One of its directions.
        link: LinkId,
        /// Whether it is up from now on.
        up: bool,
    },
    /// One direction of a link carries nothing, without a sign of it at its ends, or it does again.
    Silent {
        /// Which.
        link: LinkId,
        /// Whether it is silent from now on.
        silent: bool,
    },
    /// One direction of a link gets another rate.
    Rate {
        /// Which.
        link: LinkId,
        /// The rate; not zero.
        rate: BitRate,
    },
}

/// A world that cannot be as described.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum WorldError {
    /// A link.
    #[error(transparent)]
    Link(#[from] SpecError),
    /// The air.
    #[error(transparent)]
    Air(#[from] MediumError),
}

/// How finely messages between nodes are simulated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fidelity {
    /// Packet by packet, with TCP.
    #[default]
    Packets,
    /// As whole messages that share nodes' interfaces.
    Flows,
}

/// What a world is made of.
#[derive(Clone, Debug, Default)]
pub struct WorldSpec {
    /// The graph; its hosts are the nodes.
    pub topology: Topology,
    /// What carries messages on it.
    pub fidelity: Fidelity,
    /// Bytes on the wire of each packet beyond its IP length.
    pub framing: Bytes,
    /// What is between the nodes where they are on the air.
    pub air: Option<AirSpec>,
    /// Plain traffic.
    pub traffic: Vec<TrafficSpec>,
    /// When the figures called warm begin.
    pub warm_up: Time,
    /// Changes at their times.
    pub changes: Vec<(Time, Change)>,
    /// Seed of all random streams.
    pub seed: u64,
}

/// Everything that is simulated.
#[derive(Debug)]
pub struct World {
    now: Time,
    events: EventQueue,
    handled: u64,
    pauses: u32,
    transport: Transport,
    traffic: Traffic,
    /// Hadoop, where the run has jobs.
    driver: Option<Driver>,
    air: Option<AirSpec>,
    changes: Vec<(Time, Change)>,
    /// Where it is known what nodes draw.
    meters: Option<Meters>,
    /// Nodes tell their charge in their heartbeats.
    tells_charges: bool,
    /// Reused for what the transport has to tell.
    upcalls: Vec<Upcall>,
}

impl World {
    /// A world at time zero.
    pub fn new(spec: &WorldSpec) -> Result<Self, WorldError> {
        let mut events = EventQueue::new();
        for (index, (at, _)) in spec.changes.iter().enumerate() {
            events.push(*at, FAULT, index as u32, 0);
        }
        if spec.warm_up > Time::ZERO {
            events.push(spec.warm_up, WARM, 0, 0);
        }
        let transport = match spec.fidelity {
            Fidelity::Packets => {
                let mut packets = PacketTransport::new(spec.topology.clone(), spec.framing, spec.seed)?;
                packets.start(&mut events);
                if let Some(air) = &spec.air {
                    packets.set_air(air.carrier(spec.seed)?, &mut events);
                }
                Transport::Packets(Box::new(packets))
            }
            Fidelity::Flows => Transport::Flows(Box::new(FlowTransport::new(spec.topology.clone(), spec.framing))),
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
        driver.feed(self.now, Input::Start, outside);
        self.driver = Some(driver);
    }

    /// Counts what nodes draw; one whose battery is empty goes down. Heartbeats tell charges if `told`.
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
            self.handled += 1;
            match event.kind() {
                ARRIVAL | TIMER | TRANSMISSION_DONE | GATE | BOND | DUE | PPDU_ENDS | ALARM | WIRE | ROUTER => {
                    self.transport.on_event(&event, &mut self.events);
                }
                FLOW_START => self.traffic.on_flow_start(&event, &mut self.transport, &mut self.events),
                SESSION => self.traffic.on_session(&event, &mut self.transport, &mut self.events),
                WARM => self.traffic.on_warm(&self.transport),
                FAULT => self.apply(self.changes[event.index as usize].1),
                BATTERY => self.look_at_battery(event.index),
                LOOK => self.look_at_nodes(),
                PAUSE if event.index == self.pauses => return self.is_finished(),
                cluster::TIMER | hosts::PROCESSOR | hosts::STORE => {
                    if let Some(driver) = &mut self.driver {
                        let outside = &mut Outside { transport: &mut self.transport, events: &mut self.events };
                        driver.on_event(&event, outside);
                        if driver.is_finished() && self.is_finished() {
                            return true;
                        }
                    }
                }
                // The pause of an earlier run that ended before it.
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

    /// Tells owners what happened to their connections, until nothing more happens of it.
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
    /// Every so often: processors slow down or no longer do, and nodes have their charge to tell.
    fn look_at_nodes(&mut self) {
        let (Some(meters), Some(driver)) = (&mut self.meters, &mut self.driver) else { return };
        let now = self.now;
        for node in 0..self.transport.topology().hosts().len() as u32 {
            let used = used(now, node, Some(&*driver), &self.transport);
            let clock = meters.govern(now, node, used);
            let level = meters.get(node).and_then(|meter| meter.level(now, used)).filter(|_| self.tells_charges);
            if let Some(factor) = clock {
                driver.hosts.set_clock(now, NodeId(node), factor, &mut self.events);
            }
            if let Some(level) = level {
                let level = (level * 1000.0) as u16;
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
                let station = self.transport.topology().hosts().len() as u32 + point;
                if let Some(packets) = self.transport.packets_mut() {
                    packets.set_station(self.now, station, up, &mut self.events);
                }
            }
            Change::Speed { node, factor } => {
                if let Some(driver) = &mut self.driver {
                    driver.hosts.set_speed(self.now, NodeId(node), factor, &mut self.events);
                }
            }
            Change::Link { link, up } => self.transport.set_link_up(self.now, link, up, &mut self.events),
            Change::Silent { link, silent } => {
                if let Some(packets) = self.transport.packets_mut() {
                    packets.set_link_silent(link, silent);
                }
            }
            Change::Rate { link, rate } => {
                // Rates are checked with the scenario; the network refuses only zero, which leaves the old rate.
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
    /// Connections, links, and where every packet went.
    pub fn transport(&self) -> &Transport {
        &self.transport
    }
    /// Links, queues and TCP, where packets are simulated.
    pub fn packets(&self) -> Option<&PacketTransport> {
        self.transport.packets()
    }
    /// The transport, to open connections or take captured packets.
    pub fn transport_mut(&mut self) -> (&mut Transport, &mut EventQueue) {
        (&mut self.transport, &mut self.events)
    }
    /// What changes during the run, and when.
    pub fn changes(&self) -> &[(Time, Change)] {
        &self.changes
    }
    /// What is between the nodes where they are on the air.
    pub fn air(&self) -> Option<&AirSpec> {
        self.air.as_ref()
    }
    pub(crate) fn driver(&self) -> Option<&Driver> {
        self.driver.as_ref()
    }
    /// What can be watched of the plain traffic at this instant, in its order.
    pub(crate) fn traffic_looks(&self) -> impl Iterator<Item = Option<TrafficLook>> {
        self.traffic.looks(&self.transport)
    }
    /// What has become of the plain traffic.
    pub fn traffic_outcomes(&self) -> Vec<TrafficOutcome> {
        self.traffic.outcomes(self.now, &self.transport)
    }
}

fn used<'a>(now: Time, node: u32, driver: Option<&Driver>, transport: &'a Transport) -> Used<'a> {
    let cores = driver.map_or(Time::ZERO, |driver| driver.hosts.used(now, NodeId(node)));
    Used { cores, radio: transport.packets().and_then(|packets| packets.radio_times(node)) }
}
