//! Two sessions and the streams between them, with real bytes: what programs write arrives, whatever happens to the streams.

use proptest::prelude::*;
use std::collections::{BTreeMap, VecDeque};
use stripe::optimizer::Tuner;
use stripe::session::{Gauge, Pool, Role, Session, Settings, State, code};
use stripe::wire::{Destination, Frame, FrameReader, Item};
use stripe::{Config, StreamId, Violation};
use units::{BitRate, Bytes, Time};

/// One direction of a stream: bytes arrive `delay` after they have left, at `rate`.
#[derive(Default)]
struct Lane {
    queue: VecDeque<(Time, Vec<u8>)>,
    free_at: Time,
    given: u64,
    arrived: u64,
}

struct Pipe {
    rate: BitRate,
    delay: Time,
    lanes: [Lane; 2],
    readers: [FrameReader; 2],
    swallows: bool,
    shut: [bool; 2],
}

struct Side {
    session: Session,
    /// What the programs are to write, and have got, by connection.
    plans: BTreeMap<u32, Plan>,
    openings: Vec<(u32, Destination)>,
    refuses: Option<u32>,
}

#[derive(Default)]
struct Plan {
    length: u64,
    written: u64,
    finished: bool,
    read: u64,
    ended: bool,
}

struct Net {
    now: Time,
    sides: [Side; 2],
    pipes: BTreeMap<StreamId, Pipe>,
    next: u32,
}

fn settings() -> Settings {
    Settings {
        connection: Config { credit: Bytes::new(256 << 10), peer_credit: Bytes::new(256 << 10), ..Config::default() },
        max_payload: 256 << 10,
        max_streams: 16,
        connections: 100,
        memory: 32 << 20,
        patience: Time::from_secs(30),
        keep_alive: Time::from_secs(10),
        warm: 2,
    }
}

fn byte(connection: u32, side: usize, position: u64) -> u8 {
    ((position + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15 ^ (u64::from(connection) << 8) ^ side as u64) >> 40) as u8
}

fn destination() -> Destination {
    Destination::Name("db.example".to_owned(), 3306)
}

impl Net {
    fn new(settings: [Settings; 2]) -> Self {
        let mut roles = [Role::Near, Role::Far].into_iter();
        let sides = settings.map(|settings| {
            let pool = Pool::new(256 << 20);
            let role = roles.next().expect("two");
            let session = Session::new(Time::ZERO, role, settings, Tuner::Fixed(2), &pool).expect("memory");
            Side { session, plans: BTreeMap::new(), openings: Vec::new(), refuses: None }
        });
        Self { now: Time::ZERO, sides, pipes: BTreeMap::new(), next: 1 }
    }
    fn gauge(pipe: &Pipe, side: usize) -> Gauge {
        let lane = &pipe.lanes[side];
        Gauge {
            rtt: pipe.delay * 2,
            rto: (pipe.delay * 3).max(Time::from_ms(200)),
            rate: pipe.rate,
            unacknowledged: lane.given - lane.arrived,
            mss: 1448,
            window: 64 << 10,
            ..Gauge::default()
        }
    }
    fn add(&mut self, mbps: u64, delay_ms: u64) -> StreamId {
        let id = StreamId(self.next);
        self.next += 1;
        let pipe = Pipe {
            rate: BitRate::from_mbps(mbps),
            delay: Time::from_ms(delay_ms),
            lanes: Default::default(),
            readers: [FrameReader::new(256 << 10), FrameReader::new(256 << 10)],
            swallows: false,
            shut: [false; 2],
        };
        for side in 0..2 {
            let gauge = Self::gauge(&pipe, side);
            self.sides[side].session.add_stream(self.now, id, 0, gauge);
        }
        self.pipes.insert(id, pipe);
        id
    }
    /// A stream breaks: one end finds out, and whatever was on its way is lost.
    fn kill(&mut self, id: StreamId, finder: usize) {
        if let Some(pipe) = self.pipes.get_mut(&id) {
            pipe.swallows = true;
            self.sides[finder].session.lose_stream(self.now, id);
        }
    }
    fn open(&mut self, lengths: [u64; 2]) -> u32 {
        let connection = self.sides[0].session.connect(destination()).expect("room");
        for (side, length) in lengths.into_iter().enumerate() {
            self.sides[side].plans.insert(connection, Plan { length, ..Plan::default() });
        }
        connection
    }

    /// The programs read and write what they can.
    fn programs(&mut self, side: usize) {
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
            for got in session.readable(*connection).flatten() {
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
    /// Everything that can happen at this time does.
    fn step(&mut self) {
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
                // A carrier takes something while little of it is unsent.
                let mut bytes = Vec::new();
                if pipe.lanes[side].free_at <= self.now + Time::from_ms(5) {
                    session.take(self.now, *id, &mut bytes, 16 << 10);
                }
                let lane = &mut pipe.lanes[side];
                if !bytes.is_empty() {
                    lane.given += bytes.len() as u64;
                    let time = pipe.rate.transmission_time(Bytes::new(bytes.len() as u64));
                    lane.free_at = lane.free_at.max(self.now) + time;
                    lane.queue.push_back((lane.free_at + pipe.delay, bytes));
                }
                if session.wants_shut(*id) && !pipe.shut[side] && lane.queue.is_empty() {
                    pipe.shut[side] = true;
                    session.on_shut(self.now, *id);
                    ended.push((*id, 1 - side));
                }
                while let Some((_, bytes)) = pipe.lanes[side].queue.pop_front_if(|(at, _)| *at <= self.now) {
                    if pipe.swallows {
                        continue;
                    }
                    pipe.lanes[side].arrived += bytes.len() as u64;
                    let peer = &mut self.sides[1 - side].session;
                    // Cut anywhere.
                    for part in bytes.chunks(1 + bytes.len() / 3) {
                        let mut input = part;
                        while let Some(item) = pipe.readers[1 - side].next(&mut input).expect("own frames are right") {
                            peer.on_item(self.now, *id, &item).expect("the peer keeps to the protocol");
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
    fn measure(&mut self, side: usize) {
        for (id, pipe) in &self.pipes {
            self.sides[side].session.measure(self.now, *id, Self::gauge(pipe, side));
        }
    }
    fn run(&mut self, ms: u64) {
        for _ in 0..ms {
            self.now += Time::from_ms(1);
            self.step();
        }
    }
    /// A while in which little happens.
    fn wait(&mut self, seconds: u64) {
        for _ in 0..10 * seconds {
            self.now += Time::from_ms(100);
            self.step();
        }
    }
    fn is_done(&self) -> bool {
        self.sides.iter().all(|side| side.plans.values().all(|plan| plan.ended))
    }
    fn run_to_end(&mut self, most_ms: u64) {
        for _ in 0..most_ms {
            if self.is_done() {
                return;
            }
            self.run(1);
        }
        assert!(self.is_done(), "not done after {most_ms} ms");
    }
    fn check_end(&self) {
        for side in 0..2 {
            for (connection, plan) in &self.sides[side].plans {
                assert_eq!(plan.read, self.sides[1 - side].plans[connection].length);
            }
            assert_eq!(self.sides[side].session.connection_count(), 0, "side {side}");
            assert_eq!(self.sides[side].session.memory(), (Bytes::ZERO, Bytes::ZERO));
        }
    }
}

#[test]
fn two_byte_streams_cross_and_the_connection_goes() {
    let mut net = Net::new([settings(), settings()]);
    net.add(100, 10);
    net.add(100, 10);
    let connection = net.open([3_000_000, 2_000_000]);
    // One round trip, and what goes before and behind.
    net.run(30);
    assert!(net.sides[0].session.state(connection).is_some_and(|state| state.opened));
    net.run_to_end(2000);
    // At 200 Mbit/s the three megabytes take 120 ms; opening and credit cost some round trips.
    assert!(net.now < Time::from_ms(400), "{}", net.now.as_ms());
    net.run(100);
    net.check_end();
}

#[test]
fn a_first_write_needs_no_answer_to_its_open() {
    let mut net = Net::new([settings(), settings()]);
    net.add(100, 50);
    let connection = net.open([10, 10]);
    net.run(55);
    assert_eq!(net.sides[1].plans[&connection].read, 10);
    net.run(52);
    assert_eq!(net.sides[0].plans[&connection].read, 10);
}

#[test]
fn a_refusal_says_why_and_leaves_nothing() {
    let mut net = Net::new([settings(), settings()]);
    net.add(100, 10);
    let connection = net.sides[0].session.connect(destination()).expect("room");
    net.sides[0].session.write(connection, &[1; 5000]);
    net.sides[1].refuses = Some(111);
    net.run(40);
    let state = net.sides[0].session.state(connection).expect("not released");
    assert_eq!((state.reset, state.opened), (Some(111), false));
    net.sides[0].session.abandon(net.now, connection, code::RESET);
    net.sides[0].session.release(net.now, connection);
    net.run(100);
    net.check_end();
}

#[test]
fn resets_and_stops_are_told_both_ways() {
    let mut net = Net::new([settings(), settings()]);
    net.add(100, 10);
    let connection = net.open([10_000_000, 10_000_000]);
    net.run(100);
    net.sides[0].plans.clear();
    net.sides[0].session.abandon(net.now, connection, 104);
    net.sides[0].session.release(net.now, connection);
    net.run(30);
    let state = net.sides[1].session.state(connection).expect("not released");
    assert_eq!((state.reset, state.stopped), (Some(104), Some(104)));
    net.sides[1].plans.clear();
    net.sides[1].session.release(net.now, connection);
    net.run(100);
    net.check_end();
}

#[test]
fn without_streams_it_waits_and_then_gives_up() {
    let mut net = Net::new([settings(), settings()]);
    let first = net.add(100, 10);
    let connection = net.open([1_000_000, 0]);
    net.run(30);
    net.kill(first, 0);
    net.sides[1].session.lose_stream(net.now, first);
    net.wait(20);
    // The bytes of the first stream are lost; the session has them still.
    net.add(100, 10);
    net.run_to_end(2000);
    net.run(100);
    net.check_end();
    net.open([1_000_000, 0]);
    let second = StreamId(2);
    net.kill(second, 0);
    net.sides[1].session.lose_stream(net.now, second);
    net.wait(31);
    assert!(net.sides.iter().all(|side| side.session.is_over()));
    let state = net.sides[0].session.state(connection + 1).expect("not released");
    assert_eq!(state, State { reset: Some(104), stopped: Some(104), ..State::default() });
}

#[test]
fn a_stream_that_is_closed_loses_nothing() {
    let mut net = Net::new([settings(), settings()]);
    let first = net.add(100, 10);
    net.add(100, 10);
    net.open([3_000_000, 3_000_000]);
    net.run(40);
    net.sides[0].session.drain_stream(net.now, first);
    net.run_to_end(3000);
    net.run(1000);
    net.check_end();
    assert!(net.sides.iter().all(|side| !side.session.has_stream(first) && side.session.stream_count() == 1));
    assert!(net.sides.iter().all(|side| side.session.census().lost == 0));
}

#[test]
fn silence_is_asked_about_and_a_dead_stream_found() {
    let mut net = Net::new([settings(), settings()]);
    let first = net.add(100, 10);
    let second = net.add(100, 10);
    net.wait(60);
    assert!(net.sides[0].session.has_stream(first), "it answers");
    net.pipes.get_mut(&second).expect("added").swallows = true;
    net.wait(60);
    assert!(net.sides.iter().all(|side| side.session.has_stream(first) && !side.session.has_stream(second)));
}

#[test]
fn a_reader_that_sleeps_bounds_what_is_held() {
    let mut net = Net::new([settings(), settings()]);
    net.add(1000, 5);
    let connection = net.open([100_000_000, 0]);
    net.run(30);
    // Nobody reads at the far side any more.
    let plan = net.sides[1].plans.remove(&connection).expect("opened");
    net.run(3000);
    let credit = 64 << 20;
    let (_, received) = net.sides[1].session.memory();
    assert!(received.get() >= 256 << 10 && received.get() <= credit, "{received:?}");
    let (held, _) = net.sides[0].session.memory();
    assert!(held.get() <= 2 * received.get() + (2 << 20), "{held:?}");
    // It wakes up, and all is there.
    net.sides[1].plans.insert(connection, plan);
    net.run_to_end(10_000);
    net.run(100);
    net.check_end();
}

#[test]
fn many_sleepers_are_bounded_together() {
    let mut few = settings();
    few.memory = 8 << 20;
    let mut net = Net::new([settings(), few]);
    net.add(10_000, 1);
    let connections: Vec<u32> = (0..90).map(|_| net.open([1_000_000, 0])).collect();
    net.run(5);
    let plans = std::mem::take(&mut net.sides[1].plans);
    net.run(2000);
    let (_, received) = net.sides[1].session.memory();
    assert!(received.get() > 3 << 20 && received.get() <= 8 << 20, "{received:?}");
    net.sides[1].plans = plans;
    net.run_to_end(20_000);
    net.run(100);
    net.check_end();
    assert_eq!(connections.len(), 90);
}

#[test]
fn more_connections_than_agreed_are_refused_and_far_more_end_the_session() {
    let mut near = settings();
    near.connections = 1000;
    let mut far = settings();
    far.connections = 10;
    let mut net = Net::new([near, far]);
    net.add(100, 1);
    let connections: Vec<u32> = (0..15).map(|_| net.open([10, 10])).collect();
    net.run(20);
    let refused = |net: &Net| {
        let states = connections.iter().filter_map(|connection| net.sides[0].session.state(*connection));
        states.filter(|state| state.reset == Some(code::NO_ROOM)).count()
    };
    assert_eq!(refused(&net), 5);
    let session = &mut net.sides[1].session;
    let violation = (100..200).find_map(|connection| {
        let item = Item::Frame { connection, frame: Frame::Open(destination()) };
        session.on_item(net.now, StreamId(1), &item).err()
    });
    assert_eq!(violation, Some(Violation::TooManyConnections));
}

#[test]
fn a_gateway_that_leaves_takes_no_more() {
    let mut net = Net::new([settings(), settings()]);
    net.add(100, 5);
    net.open([1_000_000, 1000]);
    net.run(20);
    net.sides[1].session.leave();
    net.run(20);
    assert!(net.sides[0].session.peer_leaves() && net.sides[0].session.connect(destination()).is_err());
    net.run_to_end(2000);
    net.run(100);
    net.check_end();
}

/// What may happen to a session, at some millisecond.
#[derive(Clone, Debug)]
enum Act {
    Open(u64, u64),
    Add(u64, u64),
    Break(proptest::sample::Index, bool),
    Swallow(proptest::sample::Index),
    Drain(proptest::sample::Index),
}

fn acts() -> impl Strategy<Value = Vec<(u64, Act)>> {
    let act = prop_oneof![
        3 => (0_u64..2_000_000, 0_u64..2_000_000).prop_map(|(up, down)| Act::Open(up, down)),
        3 => (1_u64..200, 1_u64..60).prop_map(|(mbps, ms)| Act::Add(mbps, ms)),
        2 => any::<(proptest::sample::Index, bool)>().prop_map(|(which, side)| Act::Break(which, side)),
        1 => any::<proptest::sample::Index>().prop_map(Act::Swallow),
        1 => any::<proptest::sample::Index>().prop_map(Act::Drain),
    ];
    proptest::collection::vec((0_u64..120, act), 1..24)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Each byte arrives once and in order, and nothing is left, as long as there is a stream in the end.
    #[test]
    fn whatever_happens_to_streams_bytes_arrive(acts in acts()) {
        let mut net = Net::new([settings(), settings()]);
        net.add(50, 10);
        for (wait, act) in acts {
            net.run(wait);
            let alive: Vec<StreamId> = net.pipes.iter().filter(|(_, pipe)| !pipe.swallows).map(|(id, _)| *id).collect();
            match act {
                Act::Open(up, down) => { net.open([up, down]); }
                Act::Add(mbps, ms) => { net.add(mbps, ms); }
                Act::Break(which, side) if !alive.is_empty() => net.kill(*which.get(&alive), usize::from(side)),
                Act::Swallow(which) if !alive.is_empty() => {
                    net.pipes.get_mut(which.get(&alive)).expect("alive").swallows = true;
                }
                Act::Drain(which) if !alive.is_empty() => {
                    net.sides[0].session.drain_stream(net.now, *which.get(&alive));
                }
                _ => {}
            }
        }
        net.add(200, 5);
        net.run_to_end(200_000);
        net.wait(130);
        net.check_end();
    }

    /// Frames that no peer of this make sends: a verdict, and no panic; what is held stays bounded.
    #[test]
    fn no_peer_is_too_strange(
        far in any::<bool>(),
        bytes in proptest::collection::vec(prop_oneof![Just(0_u8), Just(1), Just(2), 3_u8..20, any::<u8>()], 0..600),
        frames in proptest::collection::vec((0_u32..4, 1_u8..18, 0_u64..400_000, 0_u8..2), 0..60),
    ) {
        let role = if far { Role::Far } else { Role::Near };
        let pool = Pool::new(64 << 20);
        let mut session = Session::new(Time::ZERO, role, settings(), Tuner::Fixed(1), &pool).expect("memory");
        session.add_stream(Time::ZERO, StreamId(1), 0, Gauge { rtt: Time::from_ms(10), ..Gauge::default() });
        if !far {
            let connection = session.connect(destination()).expect("room");
            session.write(connection, &[5; 3000]);
        }
        // Headers that are nearly right.
        let mut input = Vec::new();
        for (connection, kind, offset, flags) in frames {
            let body: Vec<u8> = match kind {
                2 => vec![9; 700],
                3 => (offset + 300_000).to_be_bytes().to_vec(),
                4 | 5 | 9 => vec![0, 0, 0, 104],
                8 => vec![1; 32],
                10 => vec![4, 0, 80, 127, 0, 0, 1],
                _ => Vec::new(),
            };
            input.extend([kind, flags, 1, 0]);
            input.extend((body.len() as u32).to_be_bytes());
            input.extend(if matches!(kind, 2..=5 | 10..=12) { connection } else { 0 }.to_be_bytes());
            let offset = if matches!(kind, 5 | 7..=12 | 17) { 0 } else { offset };
            input.extend(offset.to_be_bytes());
            input.extend(body);
        }
        input.extend(bytes);
        let mut reader = FrameReader::new(1 << 18);
        let mut now = Time::ZERO;
        'all: for part in input.chunks(97) {
            let mut part = part;
            now += Time::from_ms(700);
            loop {
                match reader.next(&mut part) {
                    Ok(Some(item)) if session.on_item(now, StreamId(1), &item).is_err() => break 'all,
                    Ok(Some(_)) => {}
                    Ok(None) => break,
                    Err(_) => break 'all,
                }
            }
            for (connection, _) in session.effects().openings {
                session.accept(connection);
            }
            session.on_timer(now);
            session.flush(now);
            let mut out = Vec::new();
            session.take(now, StreamId(1), &mut out, 1 << 20);
            let (_, received) = session.memory();
            prop_assert!(received.get() <= 3 << 20, "{:?}", received);
        }
    }
}
