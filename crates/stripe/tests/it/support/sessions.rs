//! Two sessions, the streams between them, and programs that write and check a pattern.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use stripe::optimizer::Tuner;
use stripe::session::{Gauge, Pool, Role, Session, Settings};
use stripe::wire::{Destination, Frame, FrameReader, Item};
use stripe::{Config, StreamId};
use units::{BitRate, Bytes, Time};

/// One direction of a stream: bytes arrive `delay` after they have been transmitted at `rate`.
#[derive(Default)]
pub struct Direction {
    pub queue: VecDeque<(Time, Vec<u8>)>,
    pub free_at: Time,
    pub given: u64,
    pub arrived: u64,
}

pub struct Pipe {
    pub rate: BitRate,
    pub delay: Time,
    pub directions: [Direction; 2],
    pub readers: [FrameReader; 2],
    pub swallows: bool,
    /// The transport, or a proxy on its path, acknowledges what it swallows.
    pub acknowledges: bool,
    /// Each frame that may come twice does.
    pub repeats: bool,
    pub shut: [bool; 2],
}

pub struct Side {
    pub session: Session,
    /// What the programs are to write and have read, by connection.
    pub plans: BTreeMap<u32, Plan>,
    pub openings: Vec<(u32, Destination)>,
    pub refuses: Option<u32>,
}

#[derive(Default)]
pub struct Plan {
    pub length: u64,
    pub written: u64,
    pub finished: bool,
    pub read: u64,
    pub ended: bool,
    /// Bytes that its program reads per step; `None` without limit.
    pub pace: Option<u64>,
}

pub struct Net {
    pub now: Time,
    pub sides: [Side; 2],
    pub pipes: BTreeMap<StreamId, Pipe>,
    pub next: u32,
}

pub fn settings() -> Settings {
    Settings {
        connection: Config { credit: Bytes::new(256 << 10), peer_credit: Bytes::new(256 << 10), ..Config::default() },
        max_payload: 256 << 10,
        max_streams: 16,
        connections: 100,
        memory: 32 << 20,
        patience: Time::from_secs(30),
        keep_alive: Time::from_secs(10),
        warm: 2,
        datagrams: None,
    }
}

pub fn byte(connection: u32, side: usize, position: u64) -> u8 {
    ((position + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15 ^ (u64::from(connection) << 8) ^ side as u64) >> 40) as u8
}

pub fn destination() -> Destination {
    Destination::Name("db.example".to_owned(), 3306)
}

/// Frames that state what holds, rather than an event. Another stream may bring them again.
fn may_repeat(item: &Item<'_>) -> bool {
    let Item::Frame { frame, .. } = item else { return true };
    matches!(frame, Frame::Data(_) | Frame::Ack(_) | Frame::Allow { .. } | Frame::Open(_) | Frame::Opened)
}

impl Net {
    pub fn new(settings: [Settings; 2]) -> Self {
        Self::with_pools(settings, &[Pool::new(256 << 20), Pool::new(256 << 20)])
    }
    pub fn with_pools(settings: [Settings; 2], pools: &[Arc<Pool>; 2]) -> Self {
        let mut roles = [(Role::Near, &pools[0]), (Role::Far, &pools[1])].into_iter();
        let sides = settings.map(|settings| {
            let (role, pool) = roles.next().expect("two");
            let session = Session::new(Time::ZERO, role, settings, Tuner::Fixed(2), pool).expect("memory");
            Side { session, plans: BTreeMap::new(), openings: Vec::new(), refuses: None }
        });
        Self { now: Time::ZERO, sides, pipes: BTreeMap::new(), next: 1 }
    }
    pub fn gauge(pipe: &Pipe, side: usize) -> Gauge {
        let direction = &pipe.directions[side];
        Gauge {
            rtt: pipe.delay * 2,
            rto: (pipe.delay * 3).max(Time::from_ms(200)),
            rate: pipe.rate,
            unacknowledged: direction.given - direction.arrived,
            mss: 1448,
            window: 64 << 10,
            ..Gauge::default()
        }
    }
    pub fn add(&mut self, mbps: u64, delay_ms: u64) -> StreamId {
        self.add_on(0, mbps, delay_ms)
    }
    pub fn add_on(&mut self, path: u32, mbps: u64, delay_ms: u64) -> StreamId {
        let id = StreamId(self.next);
        self.next += 1;
        let pipe = Pipe {
            rate: BitRate::from_mbps(mbps),
            delay: Time::from_ms(delay_ms),
            directions: Default::default(),
            readers: [FrameReader::new(256 << 10), FrameReader::new(256 << 10)],
            swallows: false,
            acknowledges: false,
            repeats: false,
            shut: [false; 2],
        };
        for side in 0..2 {
            let gauge = Self::gauge(&pipe, side);
            self.sides[side].session.add_stream(self.now, id, path, gauge);
        }
        self.pipes.insert(id, pipe);
        id
    }
    /// Breaks a stream: one end finds out, and whatever was on its way is lost.
    pub fn kill(&mut self, id: StreamId, finder: usize) {
        if let Some(pipe) = self.pipes.get_mut(&id) {
            pipe.swallows = true;
            self.sides[finder].session.lose_stream(self.now, id);
        }
    }
    pub fn open(&mut self, lengths: [u64; 2]) -> u32 {
        let connection = self.sides[0].session.connect(destination()).expect("room");
        for (side, length) in lengths.into_iter().enumerate() {
            self.sides[side].plans.insert(connection, Plan { length, ..Plan::default() });
        }
        connection
    }

    /// Programs read and write what they can.
    pub fn programs(&mut self, side: usize) {
        let Side { session, plans, openings, refuses } = &mut self.sides[side];
        for (connection, to) in session.effects().openings {
            assert_eq!(to, destination());
            if let Some(code) = refuses {
                session.refuse(self.now, connection, *code);
                session.release(self.now, connection);
            } else {
                openings.push((connection, to));
                session.accept(connection);
            }
        }
        for (connection, plan) in plans {
            let Some(state) = session.state(*connection) else { continue };
            if side == 0 || openings.iter().any(|(opened, _)| opened == connection) {
                let room = session.room(*connection).min(plan.length - plan.written).min(50_000);
                let bytes: Vec<u8> = (0..room).map(|at| byte(*connection, side, plan.written + at)).collect();
                session.write(*connection, &bytes);
                plan.written += room;
                if plan.written == plan.length && !plan.finished {
                    plan.finished = true;
                    session.finish(*connection);
                }
            }
            let mut count = 0;
            let pace = plan.pace.unwrap_or(u64::MAX) as usize;
            for got in session.readable(*connection).flatten().take(pace) {
                assert_eq!(*got, byte(*connection, 1 - side, plan.read + count), "position {}", plan.read);
                count += 1;
            }
            plan.read += count;
            session.consume(self.now, *connection, count);
            if state.finished && session.readable(*connection).next().is_none() && !plan.ended {
                plan.ended = true;
                session.release(self.now, *connection);
            }
        }
    }
    /// Does everything that is due at this time.
    pub fn step(&mut self) {
        for side in 0..2 {
            if self.sides[side].session.deadline() <= self.now {
                self.measure(side);
                self.sides[side].session.on_timer(self.now);
            }
            self.programs(side);
            self.sides[side].session.flush(self.now);
        }
        let mut ended = Vec::new();
        for (id, pipe) in &mut self.pipes {
            for side in 0..2 {
                let session = &mut self.sides[side].session;
                // A transport takes something while little is unsent.
                let mut bytes = Vec::new();
                if pipe.directions[side].free_at <= self.now + Time::from_ms(5) {
                    session.take(self.now, *id, &mut bytes, 16 << 10);
                }
                let direction = &mut pipe.directions[side];
                if !bytes.is_empty() {
                    direction.given += bytes.len() as u64;
                    let time = pipe.rate.transmission_time(Bytes::new(bytes.len() as u64));
                    direction.free_at = direction.free_at.max(self.now) + time;
                    direction.queue.push_back((direction.free_at + pipe.delay, bytes));
                }
                if session.wants_shut(*id) && !pipe.shut[side] && direction.queue.is_empty() {
                    pipe.shut[side] = true;
                    session.on_shut(self.now, *id);
                    if !pipe.swallows {
                        ended.push((*id, 1 - side));
                    }
                }
                while let Some((_, bytes)) = pipe.directions[side].queue.pop_front_if(|(at, _)| *at <= self.now) {
                    if !pipe.swallows || pipe.acknowledges {
                        pipe.directions[side].arrived += bytes.len() as u64;
                    }
                    if pipe.swallows {
                        continue;
                    }
                    let peer = &mut self.sides[1 - side].session;
                    // Frames arrive cut.
                    for part in bytes.chunks(1 + bytes.len() / 3) {
                        let mut input = part;
                        while let Some(item) = pipe.readers[1 - side].next(&mut input).expect("own frames are right") {
                            let times = if pipe.repeats && may_repeat(&item) { 2 } else { 1 };
                            for _ in 0..times {
                                peer.on_item(self.now, *id, &item).expect("the peer keeps to the protocol");
                            }
                        }
                    }
                }
            }
        }
        for (id, side) in ended {
            self.sides[side].session.on_stream_end(self.now, id);
        }
        for side in 0..2 {
            self.measure(side);
            self.sides[side].session.flush(self.now);
        }
    }
    pub fn measure(&mut self, side: usize) {
        for (id, pipe) in &self.pipes {
            self.sides[side].session.measure(self.now, *id, Self::gauge(pipe, side));
        }
    }
    pub fn run(&mut self, ms: u64) {
        for _ in 0..ms {
            self.now += Time::from_ms(1);
            self.step();
        }
    }
    /// Runs in steps of 100 ms, for times in which little happens.
    pub fn wait(&mut self, seconds: u64) {
        for _ in 0..10 * seconds {
            self.now += Time::from_ms(100);
            self.step();
        }
    }
    pub fn is_done(&self) -> bool {
        self.sides.iter().all(|side| side.plans.values().all(|plan| plan.ended))
    }
    pub fn run_to_end(&mut self, most_ms: u64) {
        for _ in 0..most_ms {
            if self.is_done() {
                return;
            }
            self.run(1);
        }
        assert!(self.is_done(), "not done after {most_ms} ms");
    }
    pub fn check_end(&self) {
        for side in 0..2 {
            for (connection, plan) in &self.sides[side].plans {
                assert_eq!(plan.read, self.sides[1 - side].plans[connection].length);
            }
            assert_eq!(self.sides[side].session.connection_count(), 0, "side {side}");
            assert_eq!(self.sides[side].session.memory(), (Bytes::ZERO, Bytes::ZERO));
        }
    }
}
