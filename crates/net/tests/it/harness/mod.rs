//! Drives a network with a schedule of packets and changes.

use des::EventQueue;
use net::{ARRIVAL, BOND, FlowKey, Ledger, LinkId, Network, TRANSMISSION_DONE, Topology, VertexId};
use proptest::prelude::*;
use units::{BitRate, Time};

const SEND: u8 = 10;
const CHANGE: u8 = 11;

#[derive(Clone, Copy, Debug)]
pub enum Change {
    Up(LinkId, bool),
    Rate(LinkId, BitRate),
    Silent(LinkId, bool),
    Halted(VertexId, bool),
}

#[derive(Clone, Debug)]
pub struct Flow {
    pub at: Time,
    pub from: VertexId,
    pub to: VertexId,
    pub bytes: u32,
}

/// What meets the trunk of a dumbbell of three pairs: packets (microseconds since the last one, lengths in 125 B,
/// pair), a change of its rate (microseconds, Mbit/s), an outage (from, for so long).
#[derive(Clone, Debug)]
pub struct Schedule {
    sends: Vec<(u64, u32, usize)>,
    rate_change: Option<(u64, u64)>,
    outage: Option<(u64, u64)>,
}

/// Whole multiples of 1 us at 1 Gbit/s and 125 B: arrivals and ends of transmissions often coincide.
pub fn schedules() -> impl Strategy<Value = Schedule> {
    let sends = prop::collection::vec((0_u64..14, 1_u32..=12, 0_usize..3), 1..120);
    let rate_change = prop::option::of((0_u64..600, 100_u64..4_000));
    let outage = prop::option::of((0_u64..600, 0_u64..100));
    (sends, rate_change, outage).prop_map(|(sends, rate_change, outage)| Schedule { sends, rate_change, outage })
}

/// Which packet arrived when.
pub type Arrivals = Vec<(usize, Time)>;

pub struct Driver {
    pub network: Network<usize>,
    pub events: EventQueue,
    pub arrivals: Arrivals,
    flows: Vec<Flow>,
    changes: Vec<Change>,
    pub now: Time,
}

impl Driver {
    pub fn new(topology: &Topology, seed: u64) -> Self {
        let mut network = Network::new(topology, seed).unwrap();
        let mut events = EventQueue::new();
        network.start(&mut events);
        Self { network, events, arrivals: Vec::new(), flows: Vec::new(), changes: Vec::new(), now: Time::ZERO }
    }

    pub fn send(&mut self, flow: Flow) {
        self.events.push(flow.at, SEND, self.flows.len() as u32, 0);
        self.flows.push(flow);
    }

    pub fn schedule(&mut self, topology: &Topology, schedule: &Schedule) {
        let (mut at, hosts) = (Time::ZERO, topology.hosts());
        for (gap, length, pair) in &schedule.sends {
            at += Time::from_us(*gap);
            self.send(Flow { at, from: hosts[*pair], to: hosts[pair + 3], bytes: length * 125 });
        }
        if let Some((at, mbps)) = schedule.rate_change {
            self.change(Time::from_us(at), Change::Rate(LinkId(0), BitRate::from_mbps(mbps)));
        }
        if let Some((at, length)) = schedule.outage {
            self.change(Time::from_us(at), Change::Up(LinkId(0), false));
            self.change(Time::from_us(at + length), Change::Up(LinkId(0), true));
        }
    }

    pub fn change(&mut self, at: Time, change: Change) {
        self.events.push(at, CHANGE, self.changes.len() as u32, 0);
        self.changes.push(change);
    }

    /// Runs until `until`, or until nothing is left to happen.
    pub fn run(&mut self, until: Time) -> Ledger {
        while self.events.next_time().is_some_and(|next| next <= until) {
            let Some(event) = self.events.pop() else { break };
            self.now = event.time();
            match event.kind() {
                ARRIVAL => {
                    if let Some((packet, flow)) = self.network.on_arrival(&event, &mut self.events) {
                        assert_eq!(flow as usize, *self.network.packet(packet));
                        self.arrivals.push((*self.network.packet(packet), self.now));
                        self.network.finish(packet);
                    }
                }
                BOND => {
                    self.network.on_bond(&event, &mut self.events);
                }
                TRANSMISSION_DONE => self.network.on_transmission_done(&event, &mut self.events),
                SEND => {
                    let flow = &self.flows[event.index as usize];
                    let key = FlowKey { from: flow.from, to: flow.to, from_port: event.index as u16, to_port: 80 };
                    let route = self.network.route(key);
                    self.network.send(
                        self.now,
                        &(event.index as usize),
                        (event.index, flow.bytes),
                        route,
                        &mut self.events,
                    );
                }
                _ => match self.changes[event.index as usize] {
                    Change::Up(link, up) => self.network.set_up(self.now, link, up, &mut self.events),
                    Change::Rate(link, rate) => self.network.set_rate(self.now, link, rate, &mut self.events).unwrap(),
                    Change::Silent(link, silent) => self.network.set_silent(link, silent),
                    Change::Halted(vertex, halted) => {
                        self.network.set_halted(self.now, vertex, halted, &mut self.events);
                    }
                },
            }
        }
        let ledger = self.network.ledger();
        ledger.check().unwrap();
        ledger
    }
}
