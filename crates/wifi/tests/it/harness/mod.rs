//! A medium with stations about a point, saturated senders, and what came of it.

use des::{Ecn, Event, EventQueue};
use units::{BitRate, Time};
use wifi::mac::{AccessPointSpec, MacConfig, StationId};
use wifi::medium::{Dropped, Medium, Role, StationSpec, Traffic, WireSpec};
use wifi::mobility::{Area, Mobility, Position};
use wifi::phy::{AccessCategory, ReceiverModel};
use wifi::propagation::{Fading, PathLoss, Propagation, Radio, Shadowing};

/// Bytes of the packets of a [`Run`].
pub const PACKET: u32 = 1_500;

/// Free space at 5.18 GHz, without chance.
pub fn free_space() -> Propagation {
    Propagation::new(1, 5.18e9, PathLoss::FreeSpace, Shadowing::None, Fading::None).unwrap()
}

/// A square of 10 km.
pub fn area() -> Area {
    Area::new(10_000.0, 10_000.0).unwrap()
}
/// A node that rests, `x` and `y` metres from the middle of the area.
pub fn rest(x: f64, y: f64) -> Mobility {
    Mobility::fixed(Position::ground(5_000.0 + x, 5_000.0 + y), &area()).unwrap()
}

/// An access point as hostapd has it.
pub fn access_point() -> Role {
    Role::AccessPoint(AccessPointSpec::default())
}

/// A packet of best effort.
pub fn best_effort(bytes: u32, flow: u32) -> Traffic {
    Traffic { bytes, category: AccessCategory::BestEffort, flow, ecn: Ecn::default() }
}

/// Senders that always have something to send.
pub struct Saturation {
    pub medium: Medium<u32>,
    pub events: EventQueue,
    /// From, to.
    pub flows: Vec<(StationId, StationId)>,
    /// Length of a packet.
    pub bytes: u32,
    /// Packets that each flow keeps queued.
    pub depth: usize,
    /// Delivered packets per flow.
    pub delivered: Vec<u64>,
    pub dropped: Vec<u64>,
}

impl Saturation {
    /// `senders` 3 m about one receiver, station 0.
    pub fn star(senders: usize, config: &MacConfig, bytes: u32, seed: u64) -> Self {
        let radio = Radio::default();
        let mut specs = vec![StationSpec {
            radio,
            mobility: rest(0.0, 0.0),
            receiver: ReceiverModel::default(),
            mac: config.clone(),
            role: Role::AdHoc,
            driver: None,
        }];
        for sender in 0..senders {
            let angle = sender as f64 / senders as f64 * std::f64::consts::TAU;
            let mobility = rest(3.0 * libm::cos(angle), 3.0 * libm::sin(angle));
            specs.push(StationSpec {
                radio,
                mobility,
                receiver: ReceiverModel::default(),
                mac: config.clone(),
                role: Role::AdHoc,
                driver: None,
            });
        }
        let flows = (1..=senders as u32).map(|sender| (StationId(sender), StationId(0))).collect();
        Self::new(&specs, flows, bytes, seed)
    }
    pub fn new(specs: &[StationSpec], flows: Vec<(StationId, StationId)>, bytes: u32, seed: u64) -> Self {
        let medium = Medium::new(specs, &area(), free_space(), seed).unwrap();
        let (delivered, dropped) = (vec![0; flows.len()], vec![0; flows.len()]);
        Self { medium, events: EventQueue::new(), flows, bytes, depth: 8, delivered, dropped }
    }
    /// Runs from `now` to `until`.
    pub fn run(&mut self, now: Time, until: Time) {
        for flow in 0..self.flows.len() {
            self.fill(now, flow);
        }
        while self.events.next_time().is_some_and(|next| next <= until)
            && let Some(event) = self.events.pop()
        {
            self.step(&event);
        }
    }
    /// The same from the start, with flows of one sender queued in turn: the queue holds of each what comes of it.
    pub fn run_in_turn(&mut self, until: Time) {
        let mut queued = vec![0_usize; self.flows.len()];
        let fill = |this: &mut Self, now, queued: &mut Vec<usize>| {
            let share = this.depth / this.flows.len();
            for (flow, queued) in queued.iter_mut().enumerate() {
                while *queued < share {
                    *queued += 1;
                    let traffic = best_effort(this.bytes, flow as u32);
                    this.medium.send(now, flow as u32, this.flows[flow], traffic, &mut this.events);
                }
            }
        };
        fill(self, Time::ZERO, &mut queued);
        while let Some(event) = self.events.pop().filter(|event| event.time() <= until) {
            self.medium.on_event(&event, &mut self.events);
            for delivered in self.medium.take_delivered() {
                self.delivered[delivered.packet as usize] += 1;
                queued[delivered.packet as usize] -= 1;
            }
            for dropped in self.medium.take_dropped() {
                self.dropped[dropped.packet as usize] += 1;
                queued[dropped.packet as usize] -= 1;
            }
            fill(self, event.time(), &mut queued);
        }
    }
    fn step(&mut self, event: &Event) {
        let now = event.time();
        self.medium.on_event(event, &mut self.events);
        let delivered: Vec<u32> = self.medium.take_delivered().map(|delivered| delivered.packet).collect();
        let dropped: Vec<u32> = self.medium.take_dropped().map(|dropped| dropped.packet).collect();
        for flow in &delivered {
            self.delivered[*flow as usize] += 1;
        }
        for flow in &dropped {
            self.dropped[*flow as usize] += 1;
        }
        for flow in delivered.into_iter().chain(dropped) {
            self.fill(now, flow as usize);
        }
    }
    fn fill(&mut self, now: Time, flow: usize) {
        let (from, to) = self.flows[flow];
        // Acknowledgements come after deliveries: one packet may still be on its way out of the queue.
        while self.medium.station(from).queued() < self.depth {
            let traffic = best_effort(self.bytes, flow as u32);
            self.medium.send(now, flow as u32, (from, to), traffic, &mut self.events);
        }
    }
    pub fn packets(&self) -> u64 {
        self.delivered.iter().sum()
    }
}

/// A run with a log of what arrived, when, packet, where; of who joined whom; of what was given up.
pub struct Run {
    pub medium: Medium<u32>,
    pub events: EventQueue,
    pub arrived: Vec<(Time, u32, StationId)>,
    pub moves: Vec<(Time, StationId, Option<StationId>)>,
    pub dropped: Vec<(Time, Dropped<u32>)>,
}

impl Run {
    pub fn new(specs: &[StationSpec]) -> Self {
        let medium = Medium::new(specs, &area(), free_space(), 1).unwrap();
        let wire = WireSpec { rate: BitRate::from_gbps(1), delay: Time::from_us(50) };
        let mut medium = medium.with_wire(wire).unwrap();
        let mut events = EventQueue::new();
        medium.start(Time::ZERO, &mut events);
        Self { medium, events, arrived: Vec::new(), moves: Vec::new(), dropped: Vec::new() }
    }
    pub fn send(&mut self, now: Time, packet: u32, from: u32, to: u32) {
        let flow = (StationId(from), StationId(to));
        self.medium.send(now, packet, flow, best_effort(PACKET, from), &mut self.events);
    }
    /// Runs up to `until`; `each` is called after every event.
    pub fn until(&mut self, until: Time, mut each: impl FnMut(&mut Self, Time)) {
        while self.events.next_time().is_some_and(|next| next <= until)
            && let Some(event) = self.events.pop()
        {
            let now = event.time();
            self.medium.on_event(&event, &mut self.events);
            self.note(now);
            each(self, now);
        }
        self.medium.ledger().check().unwrap();
    }
    /// Switches a station off or on now.
    pub fn power(&mut self, now: Time, station: u32, on: bool) {
        self.medium.set_power(now, StationId(station), on, &mut self.events);
        self.note(now);
        self.medium.ledger().check().unwrap();
    }
    fn note(&mut self, now: Time) {
        self.arrived.extend(self.medium.take_delivered().map(|delivered| (now, delivered.packet, delivered.at)));
        self.moves.extend(self.medium.take_moves().map(|(station, ap)| (now, station, ap)));
        self.dropped.extend(self.medium.take_dropped().map(|dropped| (now, dropped)));
    }
    /// Sends a packet every `interval` up to `until`.
    pub fn steadily(&mut self, from: u32, to: u32, start: Time, interval: Time, until: Time) {
        let (mut next, mut packet) = (start, 0);
        while next <= until {
            self.until(next, |_, _| {});
            self.send(next, packet, from, to);
            packet += 1;
            next += interval;
        }
    }
}
