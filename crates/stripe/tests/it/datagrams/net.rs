//! Two sessions, the streams between them, and flows of datagrams that carry their number.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use stripe::StreamId;
use stripe::optimizer::Tuner;
use stripe::session::{Arrived, Carriage, Gauge, Pool, Role, Session, Settings};
use stripe::wire::{Destination, Frame, FrameReader, Item};
use units::{BitRate, Bytes, Time};

const TICK: Time = Time::from_ms(1);
pub const WAIT: Time = Time::from_ms(100);
pub const CARRIAGE: Carriage = Carriage { wait: WAIT, flows: 20 };
pub const POOL: u64 = 64 << 20;

/// One direction of a stream: what is taken arrives in order, after its transmission and the delay.
#[derive(Default)]
struct Direction {
    queue: VecDeque<(Time, Vec<u8>)>,
    free_at: Time,
    given: u64,
    arrived: u64,
}

struct Pipe {
    rate: BitRate,
    delay: Time,
    directions: [Direction; 2],
    readers: [FrameReader; 2],
    /// Until then nothing is taken and nothing arrives: a segment was lost and is sent again.
    stalled_until: Time,
    /// A proxy on its path acknowledges everything and passes nothing on.
    swallows: bool,
}

pub struct Net {
    pub now: Time,
    pub sides: [Session; 2],
    pub pools: [std::sync::Arc<Pool>; 2],
    pipes: BTreeMap<StreamId, Pipe>,
    next: u32,
    /// Flows that have an owner at the far end; and the numbers of the datagrams that each end received in each flow.
    served: BTreeSet<u32>,
    got: [BTreeMap<u32, Vec<u64>>; 2],
    /// When each datagram was handed over, by side, flow and number; and how many were handed over.
    handed: BTreeMap<(usize, u32, u64), Time>,
    offered: [u64; 2],
    /// Whether the far end sends back what arrives.
    pub echoes: bool,
    /// Bytes that each end has read of the other's connection.
    pub read: [u64; 2],
}

pub fn settings(datagrams: Option<Carriage>) -> Settings {
    Settings { datagrams, ..crate::support::sessions::settings() }
}
pub fn somewhere() -> Destination {
    Destination::Name("dns.example".to_owned(), 53)
}
/// A datagram that carries its number, and bytes by which it can be checked.
fn payload(side: usize, flow: u32, number: u64, length: usize) -> Vec<u8> {
    let mut bytes = number.to_be_bytes().to_vec();
    let seed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(flow) << 3 ^ side as u64;
    bytes.extend((8..length as u64).map(|at| (seed.rotate_left(at as u32 % 64) ^ at) as u8));
    bytes
}

impl Net {
    pub fn new(near: Option<Carriage>, far: Option<Carriage>) -> Self {
        let pools = [Pool::new(POOL), Pool::new(POOL)];
        let session = |role, carriage, pool| {
            Session::new(Time::ZERO, role, settings(carriage), Tuner::Fixed(16), pool).expect("memory")
        };
        Self {
            now: Time::ZERO,
            sides: [session(Role::Near, near, &pools[0]), session(Role::Far, far, &pools[1])],
            pools,
            pipes: BTreeMap::new(),
            next: 1,
            served: BTreeSet::new(),
            got: Default::default(),
            handed: BTreeMap::new(),
            offered: [0; 2],
            echoes: false,
            read: [0; 2],
        }
    }
    pub fn both() -> Self {
        Self::new(Some(CARRIAGE), Some(CARRIAGE))
    }
    fn gauge(pipe: &Pipe, side: usize) -> Gauge {
        let direction = &pipe.directions[side];
        Gauge {
            rtt: pipe.delay * 2,
            rto: (pipe.delay * 3).max(Time::from_ms(200)),
            rate: pipe.rate,
            unacknowledged: direction.given - direction.arrived,
            ..Gauge::default()
        }
    }
    pub fn add(&mut self, kbps: u64, delay_ms: u64) -> StreamId {
        let id = StreamId(self.next);
        self.next += 1;
        let pipe = Pipe {
            rate: BitRate::from_bps(kbps * 1000),
            delay: Time::from_ms(delay_ms),
            directions: Default::default(),
            readers: [FrameReader::new(256 << 10), FrameReader::new(256 << 10)],
            stalled_until: Time::ZERO,
            swallows: false,
        };
        for side in 0..2 {
            let gauge = Self::gauge(&pipe, side);
            self.sides[side].add_stream(self.now, id, 0, gauge);
        }
        self.pipes.insert(id, pipe);
        id
    }
    pub fn streams(&self) -> Vec<StreamId> {
        self.pipes.keys().copied().collect()
    }
    pub fn kill(&mut self, id: StreamId) {
        if self.pipes.remove(&id).is_some() {
            for side in &mut self.sides {
                side.lose_stream(self.now, id);
            }
        }
    }
    pub fn stall(&mut self, id: StreamId, ms: u64) {
        if let Some(pipe) = self.pipes.get_mut(&id) {
            pipe.stalled_until = self.now + Time::from_ms(ms);
        }
    }
    /// From now on a proxy on the stream's path acknowledges everything and passes nothing on.
    pub fn swallow(&mut self, id: StreamId) {
        if let Some(pipe) = self.pipes.get_mut(&id) {
            pipe.swallows = true;
        }
    }
    pub fn flow(&mut self) -> u32 {
        self.sides[0].open_flow(self.now, somewhere()).expect("room")
    }
    pub fn offer(&mut self, side: usize, flow: u32, length: usize) -> bool {
        let number = self.offered[side];
        self.offered[side] += 1;
        self.handed.insert((side, flow, number), self.now);
        self.sides[side].send_datagram(self.now, flow, &payload(side, flow, number, length))
    }
    pub fn heard(&self, side: usize, flow: u32) -> usize {
        self.got[side].get(&flow).map_or(0, Vec::len)
    }

    /// The owners of flows, and of the one connection, read what has arrived.
    fn owners(&mut self, side: usize) {
        let effects = self.sides[side].effects();
        for (connection, _) in effects.openings {
            self.sides[side].accept(connection);
        }
        self.served.extend(effects.flow_openings.iter().map(|(flow, _)| *flow));
        for flow in effects.flows {
            if side == 1 && !self.served.contains(&flow) {
                continue;
            }
            while let Arrived::Datagram(bytes) = self.sides[side].take_datagram(flow) {
                let number = u64::from_be_bytes(bytes[..8].try_into().expect("a number"));
                assert_eq!(bytes, payload(1 - side, flow, number, bytes.len()), "altered");
                let got = self.got[side].entry(flow).or_default();
                assert!(!got.contains(&number), "datagram {number} of flow {flow} came twice");
                got.push(number);
                if side == 1 && self.echoes {
                    self.offer(1, flow, bytes.len());
                }
            }
        }
        let there = self.sides[side].readable(1).map(<[u8]>::len).sum::<usize>() as u64;
        self.read[side] += there;
        self.sides[side].consume(self.now, 1, there);
    }
    /// P-43: no datagram leaves after its deadline.
    fn check_taken(&self, side: usize, bytes: &[u8]) {
        let (mut reader, mut input) = (FrameReader::new(256 << 10), bytes);
        while let Some(item) = reader.next(&mut input).expect("own frames are right") {
            let Item::Frame { connection, frame: Frame::Datagram(datagram) } = item else { continue };
            let number = u64::from_be_bytes(datagram.payload[..8].try_into().expect("a number"));
            let waited = self.now - self.handed[&(side, connection, number)];
            assert!(waited < WAIT, "datagram {number} left after {} ms", waited.as_ms());
        }
    }
    pub fn step(&mut self) {
        self.now += TICK;
        for side in 0..2 {
            if self.sides[side].deadline() <= self.now {
                self.measure(side);
                self.sides[side].on_timer(self.now);
            }
            self.owners(side);
            self.sides[side].flush(self.now);
        }
        for id in self.pipes.keys().copied().collect::<Vec<_>>() {
            for side in 0..2 {
                self.carry(id, side);
            }
        }
        for side in 0..2 {
            self.measure(side);
            self.sides[side].flush(self.now);
        }
    }
    fn carry(&mut self, id: StreamId, side: usize) {
        let (now, Some(pipe)) = (self.now, self.pipes.get_mut(&id)) else { return };
        if now < pipe.stalled_until {
            return;
        }
        let direction = &mut pipe.directions[side];
        let mut bytes = Vec::new();
        // A transport takes more while little is unsent in its socket.
        if direction.free_at <= now + Time::from_ms(5) && self.sides[side].has_output(id) {
            self.sides[side].take(now, id, &mut bytes, 64 << 10);
        }
        let mut arrived = Vec::new();
        if !bytes.is_empty() {
            direction.given += bytes.len() as u64;
            direction.free_at =
                direction.free_at.max(now) + pipe.rate.transmission_time(Bytes::new(bytes.len() as u64));
            direction.queue.push_back((direction.free_at + pipe.delay, bytes.clone()));
        }
        while let Some((_, bytes)) = direction.queue.pop_front_if(|(at, _)| *at <= now) {
            direction.arrived += bytes.len() as u64;
            if !pipe.swallows {
                arrived.push(bytes);
            }
        }
        self.check_taken(side, &bytes);
        let Some(pipe) = self.pipes.get_mut(&id) else { return };
        for bytes in arrived {
            // Frames arrive cut.
            for part in bytes.chunks(1 + bytes.len() / 3) {
                let mut input = part;
                while let Some(item) = pipe.readers[1 - side].next(&mut input).expect("own frames are right") {
                    self.sides[1 - side].on_item(now, id, &item).expect("the peer keeps to the protocol");
                }
            }
        }
    }
    fn measure(&mut self, side: usize) {
        for (id, pipe) in &self.pipes {
            self.sides[side].measure(self.now, *id, Self::gauge(pipe, side));
        }
    }
    pub fn run(&mut self, ms: u64) {
        for _ in 0..ms {
            self.step();
        }
    }
    /// Every datagram handed over has been sent, or dropped and counted, and nothing is held.
    pub fn check_end(&self) {
        for (side, session) in self.sides.iter().enumerate() {
            let tally = session.tally();
            assert_eq!(tally.sent + tally.late + tally.full, self.offered[side], "side {side}: {tally:?}");
            assert_eq!(session.memory().0, Bytes::ZERO, "side {side}");
            assert!(tally.received <= self.sides[1 - side].tally().sent);
        }
    }
}
