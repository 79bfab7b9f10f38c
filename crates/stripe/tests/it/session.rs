//! Two sessions and the streams between them, with real bytes: what programs write arrives, whatever happens to the
//! streams.

use crate::support::sessions::{Net, destination, settings};
use proptest::prelude::*;
use stripe::optimizer::Tuner;
use stripe::session::{Gauge, Pool, Role, Session, Settings, State, code};
use stripe::wire::{Frame, FrameReader, Item};
use stripe::{StreamId, Violation};
use units::{BitRate, Time};

#[test]
fn two_byte_streams_cross_and_the_connection_goes() {
    let mut net = Net::new([settings(), settings()]);
    net.add(100, 10);
    net.add(100, 10);
    let connection = net.open([3_000_000, 2_000_000]);
    // One round trip, and some time to handle its beginning and end.
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
    // The bytes on the first stream are lost. The session still has them.
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
fn a_reader_that_sleeps_bounds_what_is_held() {
    let mut net = Net::new([settings(), settings()]);
    net.add(1000, 5);
    let connection = net.open([100_000_000, 0]);
    net.run(30);
    // The far program stops reading.
    let plan = net.sides[1].plans.remove(&connection).expect("opened");
    net.run(3000);
    let credit = 64 << 20;
    let (_, received) = net.sides[1].session.memory();
    assert!(received.get() >= 256 << 10 && received.get() <= credit, "{received:?}");
    let (held, _) = net.sides[0].session.memory();
    assert!(held.get() <= 2 * received.get() + (2 << 20), "{held:?}");
    // It reads again, and everything arrives.
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
    let now = net.now;
    net.sides[1].session.leave(now);
    net.run(20);
    assert!(net.sides[0].session.peer_leaves() && net.sides[0].session.connect(destination()).is_err());
    net.run_to_end(2000);
    net.run(100);
    net.check_end();
}

/// What may happen to a session.
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

#[test]
fn a_stream_is_left_alone_while_a_segment_waits_for_a_faster_one() {
    let (now, [fast, slow]) = (Time::from_ms(1), [StreamId(1), StreamId(2)]);
    let mut session =
        Session::new(Time::ZERO, Role::Near, settings(), Tuner::Fixed(2), &Pool::new(64 << 20)).expect("memory");
    for (id, rate, rtt) in [(fast, BitRate::from_gbps(1), 1), (slow, BitRate::from_mbps(1), 500)] {
        let gauge = Gauge { rtt: Time::from_ms(rtt), rto: Time::from_ms(600), rate, mss: 1448, ..Gauge::default() };
        session.add_stream(now, id, 0, gauge);
    }
    let connection = session.connect(destination()).expect("room");
    session.write(connection, &vec![7; 262_144]);
    session.flush(now);
    // The first segment is what the fast stream transmits in 2 ms. The slow stream would deliver the rest later,
    // although it has room.
    assert!(session.is_hungry() && session.has_output(fast) && !session.has_output(slow));
    let mut out = Vec::new();
    session.take(now, slow, &mut out, 1 << 20);
    assert!(out.is_empty());
    session.take(now, fast, &mut out, 1 << 20);
    assert!(out.len() > 262_144 && !session.is_hungry() && !session.has_output(fast));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Each byte arrives once and in order, and nothing is left, if there is a good stream in the end.
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

    /// Frames that our own peer never sends: the session accepts or refuses them without a panic, and what it holds
    /// stays bounded.
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

/// P-10: an outage of 16 minutes, longer than TCP's own (924.6 s, and 120 s), in the middle of a transfer.
#[test]
fn a_session_outlives_an_outage_that_nobody_has_caused() {
    let patient = Settings { patience: Time::from_secs(18 * 60), ..settings() };
    let mut net = Net::new([patient.clone(), patient]);
    let stream = net.add(100, 10);
    net.open([3_000_000, 2_000_000]);
    net.run(100);
    net.kill(stream, 0);
    net.sides[1].session.lose_stream(net.now, stream);
    net.wait(16 * 60);
    assert!(net.sides.iter().all(|side| !side.session.is_over()));
    net.add(100, 10);
    net.run_to_end(2000);
    net.run(100);
    net.check_end();
}

/// P-10: 30 s are enough if the peer's system has closed the last stream, or if the peer has begun a new session.
#[test]
fn a_session_whose_other_end_is_gone_is_not_kept_for_long() {
    let patient = Settings { patience: Time::from_secs(18 * 60), ..settings() };
    for broken in [false, true] {
        let mut net = Net::new([patient.clone(), patient.clone()]);
        let stream = net.add(100, 10);
        net.open([3_000_000, 0]);
        net.run(100);
        let now = net.now;
        let session = &mut net.sides[1].session;
        if broken {
            session.break_stream(now, stream);
        } else {
            session.lose_stream(now, stream);
            assert_eq!(session.alone_until(), Some(now + Time::from_secs(18 * 60)));
            session.hurry(now);
        }
        assert_eq!(session.alone_until(), Some(now + Time::from_secs(30)));
        session.on_timer(now + Time::from_ms(29_999));
        assert!(!session.is_over());
        session.on_timer(now + Time::from_secs(30));
        assert!(session.is_over());
    }
}

/// P-10: the last stream to go decides. How an earlier one went does not matter.
#[test]
fn a_stream_that_breaks_beside_others_shortens_nothing() {
    let patient = Settings { patience: Time::from_secs(18 * 60), ..settings() };
    let mut net = Net::new([patient.clone(), patient]);
    let streams = [net.add(100, 10), net.add(100, 10)];
    let now = net.now;
    let session = &mut net.sides[0].session;
    session.break_stream(now, streams[0]);
    assert_eq!(session.alone_until(), None);
    session.lose_stream(now, streams[1]);
    assert_eq!(session.alone_until(), Some(now + Time::from_secs(18 * 60)));
}
