//! The air and who stands in it: stations, their radios, and the PPDUs between them.
//!
//! It is the only part of this crate that knows the event queue. A PPDU costs two events, its beginning (a station's
//! alarm) and its end; those who hear it are served in loops. Signals arrive at once: propagation takes 1 us over 300
//! m, less than the 4 us in which carrier sense must work.

mod air;
mod alarms;
mod fates;
mod frames;
mod infrastructure;
mod ledger;
mod links;
mod node;
mod power;
mod spec;

pub use frames::{FrameFate, FrameRecord};
pub use infrastructure::{Role, WireSpec};
pub use ledger::{Ledger, LedgerError};
pub use spec::{Delivered, Dropped, MediumError, StationSpec, Traffic};

use crate::energy::{RadioState, RadioTimes};
use crate::mac::{Driver, DropPolicy, MacConfig, Move, Output, PacketId, Station, StationId, Wish};
use crate::mobility::{Area, Position};
use crate::phy::{AccessCategory, Receiver};
use crate::propagation::{Dbm, Propagation, Radio};
use crate::space::Space;
use air::OnAir;
pub(crate) use alarms::Alarms;
use des::{Event, EventQueue, Index, Occupancy, RandomStream, Slab};
use frames::Frames;
use infrastructure::{RoleState, Wire};
use links::{Field, Links};
use node::{Content, Held, Node};
use std::sync::Arc;
use units::Time;

/// Event kind: a PPDU ends.
pub const PPDU_ENDS: u8 = 32;
/// Event kind: some station wants to be woken.
pub const ALARM: u8 = 33;
/// Event kind: something comes out of the wire between access points.
pub const WIRE: u8 = 34;

/// Signals this far below the noise change nothing, in dB.
const NEGLIGIBLE_DB: f64 = 10.0;

/// The medium with all its stations; `P` is what the layer above calls a packet.
#[derive(Debug)]
pub struct Medium<P> {
    nodes: Vec<Node>,
    field: Field,
    packets: Slab<PacketId, Held<P>>,
    air: Vec<OnAir>,
    free: Vec<u32>,
    alarms: Alarms,
    out: Output,
    delivered: Vec<Delivered<P>>,
    dropped: Vec<Dropped<P>>,
    released: Vec<P>,
    /// Packets that the MACs of their origins are done with, if somebody wants to know.
    departed: Option<Vec<(StationId, P)>>,
    moves: Vec<(StationId, Option<StationId>)>,
    wishes: Vec<Wish>,
    driven: Vec<Move>,
    wire: Wire,
    /// Power in mW of the PPDU that has just been received.
    power: f64,
    frames: Frames,
    ledger: Ledger,
}

impl<P: Copy> Medium<P> {
    /// A medium of stations in `area`; `seed` decides what is random in their MACs.
    pub fn new(specs: &[StationSpec], area: &Area, propagation: Propagation, seed: u64) -> Result<Self, MediumError> {
        for (station, spec) in specs.iter().enumerate() {
            spec.mac.check().map_err(|error| MediumError::Mac { station, error })?;
            propagation.check(&spec.radio).map_err(|error| MediumError::Radio { station, error })?;
            if spec.driver.is_some() && matches!(spec.mac.drop_policy, DropPolicy::Fair(_)) {
                return Err(MediumError::FairDriver { station });
            }
        }
        let streams: Arc<[u8]> = specs.iter().map(|spec| spec.mac.phy.streams).collect();
        // Behind a driver the MAC is the chip's, with room for few.
        let mac = |spec: &StationSpec| match &spec.driver {
            Some(driver) => MacConfig { queue_limit: driver.chip, ..spec.mac.clone() },
            None => spec.mac.clone(),
        };
        let node = |(index, spec): (usize, &StationSpec)| Node {
            station: Station::new(StationId::from_usize(index), mac(spec), seed).among(streams.clone()),
            receiver: Receiver::new(
                &spec.radio,
                &spec.mac.phy,
                &spec.receiver,
                RandomStream::new(seed, "wifi/reception", index as u64),
            ),
            links: Links::default(),
            role: RoleState::new(&spec.role, index),
            driver: spec.driver.map(|driver| {
                let MacConfig { queue_limit, drop_policy, mark_above, .. } = spec.mac;
                Box::new(Driver::new(driver, queue_limit, drop_policy, mark_above))
            }),
            marks: 0,
            asleep: false,
            off: false,
            radio_times: RadioTimes::new(Time::ZERO, RadioState::Idle),
        };
        let radios: Vec<Radio> = specs.iter().map(|spec| spec.radio).collect();
        let noises = radios.iter().map(|radio| radio.noise(20e6).0);
        let weakest = Dbm(noises.fold(f64::INFINITY, f64::min) - NEGLIGIBLE_DB);
        let range = farthest(&radios, &propagation, weakest);
        let space = Space::new(specs.iter().map(|spec| spec.mobility.clone()).collect(), area, range);
        let mode = crate::phy::Settings::new(crate::phy::Standard::A).slowest();
        Ok(Self {
            nodes: specs.iter().enumerate().map(node).collect(),
            field: Field { radios, space, propagation, weakest: weakest.milliwatts() },
            packets: Slab::new(),
            air: Vec::new(),
            free: Vec::new(),
            alarms: Alarms::new(specs.len()),
            out: Output::new(mode),
            delivered: Vec::new(),
            dropped: Vec::new(),
            released: Vec::new(),
            departed: None,
            moves: Vec::new(),
            wishes: Vec::new(),
            driven: Vec::new(),
            wire: Wire::new(specs.len()),
            power: 0.0,
            frames: Frames::off(),
            ledger: Ledger::default(),
        })
    }

    /// A station's MAC.
    pub fn station(&self, id: StationId) -> &Station {
        &self.nodes[id.as_usize()].station
    }
    /// A station's MAC, to watch its queue anew.
    pub fn station_mut(&mut self, id: StationId) -> &mut Station {
        &mut self.nodes[id.as_usize()].station
    }
    /// How many stations there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }
    /// Whether there is no station.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
    /// Where a station is now.
    pub fn position(&mut self, now: Time, id: StationId) -> Position {
        self.field.space.position(now, id.0)
    }
    /// All stations' places and ways.
    pub fn space_mut(&mut self) -> &mut Space {
        &mut self.field.space
    }
    /// Where every packet has gone.
    pub fn ledger(&self) -> Ledger {
        let counts = |held: &Held<P>| !held.ended && matches!(held.content, Content::Packet(_));
        let held = self.packets.iter().filter(|(_, held)| counts(held)).count() as u64;
        // What drivers have received is not counted: one sent to everyone may wait in several.
        let in_driver = |node: &Node| node.driver.as_ref().map_or(0, |driver| driver.tx_qlen());
        let queued = self.nodes.iter().map(|node| (node.station.queued() + in_driver(node)) as u64).sum();
        Ledger { held, slab: self.packets.len() as u64, queued, ..self.ledger }
    }

    /// Hands a packet to the MAC of `from`, for `to` or for everyone.
    pub fn send(
        &mut self,
        now: Time,
        packet: P,
        (from, to): (StationId, StationId),
        traffic: Traffic,
        events: &mut EventQueue,
    ) {
        self.ledger.accepted += 1;
        let held = Held::new(Content::Packet(packet), from, to, traffic);
        self.forward(now, from, held, events);
        self.alarms.arm(now, ALARM, events);
    }
    /// An event of this module's kinds has come.
    pub fn on_event(&mut self, event: &Event, events: &mut EventQueue) {
        let now = event.time();
        match event.kind() {
            PPDU_ENDS => self.end(now, event.index, events),
            WIRE => self.unwire(now, event.index, events),
            ALARM if self.alarms.ring(event) => {
                while let Some(station) = self.alarms.due(now) {
                    self.wake(now, station, events);
                }
            }
            _ => {}
        }
        self.alarms.arm(now, ALARM, events);
    }
    /// Packets in a station's transmit queue: its driver's, if it has one.
    pub fn transmit_queue(&self, id: StationId) -> usize {
        let node = &self.nodes[id.as_usize()];
        node.driver.as_ref().map_or_else(|| node.station.queued(), |driver| driver.tx_qlen())
    }
    /// Time that the transmit queue has spent at each length; with access categories that of best effort.
    pub fn occupancy(&self, id: StationId) -> &Occupancy {
        let node = &self.nodes[id.as_usize()];
        let of_mac = || node.station.queue(AccessCategory::BestEffort).occupancy();
        node.driver.as_ref().map_or_else(of_mac, |driver| driver.occupancy())
    }
    /// How many packets that queue has marked.
    pub fn marks(&self, id: StationId) -> u64 {
        self.nodes[id.as_usize()].marks
    }
    /// A station's driver.
    pub fn driver(&self, id: StationId) -> Option<&Driver> {
        self.nodes[id.as_usize()].driver.as_deref()
    }
    /// Packets that have arrived since the last call.
    pub fn take_delivered(&mut self) -> std::vec::Drain<'_, Delivered<P>> {
        self.delivered.drain(..)
    }
    /// Stations that have joined an access point, or lost it, since the last call.
    pub fn take_moves(&mut self) -> std::vec::Drain<'_, (StationId, Option<StationId>)> {
        self.moves.drain(..)
    }
    /// Time of a station's radio in each state.
    pub fn radio_times(&self, id: StationId) -> &RadioTimes {
        &self.nodes[id.as_usize()].radio_times
    }
    /// Packets that their senders have given up since the last call, delivered or not.
    pub fn take_dropped(&mut self) -> std::vec::Drain<'_, Dropped<P>> {
        self.dropped.drain(..)
    }
    /// From now on keeps the packets that the MACs of their origins are done with, acknowledged or given up.
    pub fn watch_departures(&mut self) {
        self.departed.get_or_insert_default();
    }
    /// The packets that have departed since the last call, each with its station.
    pub fn take_departed(&mut self) -> impl Iterator<Item = (StationId, P)> {
        self.departed.as_mut().map(|departed| departed.drain(..)).into_iter().flatten()
    }
    /// Packets for everyone that nobody will hear any more, since the last call.
    pub fn take_released(&mut self) -> std::vec::Drain<'_, P> {
        self.released.drain(..)
    }

    /// A station is due.
    fn wake(&mut self, now: Time, station: u32, events: &mut EventQueue) {
        let node = &mut self.nodes[station as usize];
        if node.role.deadline() <= now {
            node.role.on_timer(now, &mut self.wishes);
            self.fulfil(now, station, events);
        } else if node.driver.as_ref().is_some_and(|driver| driver.deadline() <= now) {
            self.drive(now, StationId(station), events);
        } else {
            node.station.on_timer(now, &mut self.out);
            self.effects(now, station, events);
        }
    }
    /// Notes when a station is due next.
    fn rearm(&mut self, now: Time, station: u32) {
        self.update_doze(now, station);
        self.alarms.set(station, self.nodes[station as usize].deadline());
    }
}

/// The farthest at which some radio's signal may arrive at another with `weakest` or more.
fn farthest(radios: &[Radio], propagation: &Propagation, weakest: Dbm) -> f64 {
    // Who sends loudest and who hears best decide; radios of one make need not be compared pair by pair.
    let mut kinds: Vec<&Radio> = Vec::new();
    for radio in radios {
        if !kinds.contains(&radio) {
            kinds.push(radio);
        }
    }
    let pairs = kinds.iter().flat_map(|from| kinds.iter().map(move |to| (from, to)));
    pairs.map(|(from, to)| propagation.reach(from, to, weakest)).fold(0.0, f64::max)
}
