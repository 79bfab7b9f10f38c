//! The streams of a session: closing, replacement, death and loss.

use crate::support::sessions::{Net, destination, settings};
use stripe::StreamId;
use stripe::optimizer::{Limits, Policy, Tuner};
use stripe::session::{Carriage, Gauge, Pool, Role, Session, Settings};
use stripe::wire::{Frame, FrameReader, Item};
use units::{BitRate, Time};

/// P-26: without close_notify the end would be a death.
#[test]
fn a_stream_that_both_ends_close_is_there_until_both_have_said_so() {
    let mut net = Net::new([settings(), settings()]);
    let first = net.add(100, 10);
    net.add(100, 10);
    let session = &mut net.sides[0].session;
    session.drain_stream(net.now, first);
    session.on_timer(Time::from_ms(60));
    assert!(session.wants_shut(first));
    // The peer closes before our transport has had its turn.
    session.on_stream_end(Time::from_ms(61), first);
    assert!(session.has_stream(first));
    session.on_shut(Time::from_ms(62), first);
    assert!(!session.has_stream(first) && session.stream_count() == 1);
}

/// P-2: the only stream is used until another has taken its place.
#[test]
fn a_stream_that_is_replaced_carries_on_until_there_is_another() {
    let mut net = Net::new([settings(), settings()]);
    let first = net.add(100, 10);
    let connection = net.open([5_000_000, 5_000_000]);
    net.run(100);
    let read = |net: &Net| net.sides.each_ref().map(|side| side.plans[&connection].read);
    let before = read(&net);
    for side in &mut net.sides {
        side.session.replace_stream(net.now, first);
        side.session.flush(net.now);
        assert!(side.session.effects().number, "another is to be opened");
    }
    net.run(200);
    // 100 Mbit/s for 200 ms are 2.5 MB.
    let progress = [0, 1].map(|side| read(&net)[side] - before[side]);
    assert!(progress.iter().all(|bytes| *bytes > 1_500_000), "{progress:?}");
    assert!(net.sides.iter().all(|side| side.session.has_stream(first) && side.session.stream_count() == 0));
    net.add(100, 10);
    net.run_to_end(3000);
    net.run(200);
    net.check_end();
    assert!(net.sides.iter().all(|side| !side.session.has_stream(first) && side.session.stream_count() == 1));
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

/// P-25: the peer cannot know that the stream was to be closed, and would count it for as long as TCP retries.
#[test]
fn a_stream_that_is_being_closed_where_the_path_dies_is_given_up() {
    let mut net = Net::new([settings(), settings()]);
    net.add(100, 10);
    let [stays, closes] = [(); 2].map(|()| net.add_on(1, 100, 10));
    net.open([30_000_000, 30_000_000]);
    net.run(40);
    for id in [stays, closes] {
        net.pipes.get_mut(&id).expect("added").swallows = true;
    }
    net.sides[0].session.drain_stream(net.now, closes);
    let known = |net: &Net, id| net.sides.iter().filter(|side| side.session.has_stream(id)).count();
    net.run(400);
    assert_eq!((known(&net, stays), known(&net, closes)), (2, 2), "nobody has found out");
    net.run(400);
    assert_eq!((known(&net, stays), known(&net, closes)), (2, 0));
    net.run_to_end(10_000);
    net.run(2000);
    net.check_end();
}

/// P-25: the stream that carries GONE may die too. Meanwhile the far end takes the first stream for a good one, since
/// all that it sends there is acknowledged. It hears of both one delay after the second was found dead.
#[test]
fn gone_is_said_again_when_its_stream_dies_too() {
    let mut net = Net::new([settings(), settings()]);
    let [first, second, third] = [net.add(100, 10), net.add(100, 20), net.add(100, 30)];
    net.open([0, 20_000_000]);
    net.run(200);
    for id in [first, second] {
        let pipe = net.pipes.get_mut(&id).expect("added");
        (pipe.swallows, pipe.acknowledges) = (true, true);
    }
    net.sides[0].session.lose_stream(net.now, first);
    net.run(10);
    net.sides[0].session.lose_stream(net.now, second);
    let far = |net: &Net| [first, second, third].map(|id| net.sides[1].session.has_stream(id));
    assert_eq!(far(&net), [true; 3]);
    // A one-way delay of 30 ms, after what the transport has taken and not sent (5 ms).
    net.run(40);
    assert_eq!(far(&net), [false, false, true]);
    // 20 MB take 1.6 s at 100 Mbit/s.
    net.run_to_end(2_500);
    net.run(200);
    net.check_end();
}

/// P-25, P-31: control frames on a stream that stands still are repeated on another, before the stream is known to be
/// dead.
#[test]
fn a_stream_that_stands_still_has_its_control_frames_repeated() {
    let [dead, stands_still, last] = [StreamId(1), StreamId(2), StreamId(3)];
    let mut session =
        Session::new(Time::ZERO, Role::Far, settings(), Tuner::Fixed(3), &Pool::new(64 << 20)).expect("memory");
    // GONE goes on the stream with the shortest round trip.
    let gauge = |id: StreamId| Gauge {
        rtt: Time::from_ms(10 * u64::from(id.0)),
        rto: Time::from_ms(250),
        rate: BitRate::from_mbps(100),
        ..Gauge::default()
    };
    for id in [dead, stands_still, last] {
        session.add_stream(Time::ZERO, id, 0, gauge(id));
    }
    let said = |session: &mut Session, now: Time, id: StreamId| {
        session.flush(now);
        let (mut out, mut reader) = (Vec::new(), FrameReader::new(256 << 10));
        session.take(now, id, &mut out, 1 << 20);
        let (mut input, mut frames) = (out.as_slice(), Vec::new());
        while let Some(item) = reader.next(&mut input).expect("its own frames") {
            let Item::Frame { frame, .. } = item else { panic!("payload") };
            frames.push(frame);
        }
        (frames, out.len() as u64)
    };
    said(&mut session, Time::ZERO, dead);
    session.lose_stream(Time::ZERO, dead);
    let (first, unacknowledged) = said(&mut session, Time::ZERO, stands_still);
    assert!(first.contains(&Frame::Gone { stream: 1 }));
    // Two timeouts of 250 ms without progress.
    let late = Time::from_ms(501);
    session.measure(late, stands_still, Gauge { unacknowledged, ..gauge(stands_still) });
    session.on_timer(late);
    let (again, _) = said(&mut session, late, last);
    let repeated =
        |frame: &Frame| matches!(frame, Frame::Gone { stream: 1 } | Frame::Allow { .. } | Frame::Want { streams: 3 });
    assert_eq!(again.iter().filter(|frame| repeated(frame)).count(), 3, "{again:?}");
    // The peer finds the dead stream by itself within 30 s. After 40 s nobody is told of it any more.
    let later = Time::from_secs(41);
    said(&mut session, later, last);
    session.lose_stream(later, last);
    let (frames, _) = said(&mut session, later, stands_still);
    assert!(frames.contains(&Frame::Gone { stream: 3 }) && !frames.contains(&Frame::Gone { stream: 1 }), "{frames:?}");
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

fn near(tuner: Tuner) -> Session {
    let carriage = Carriage { wait: Time::from_ms(100), flows: 20 };
    let settings = Settings { datagrams: Some(carriage), ..settings() };
    let mut session = Session::new(Time::ZERO, Role::Near, settings, tuner, &Pool::new(64 << 20)).expect("memory");
    for id in [1, 2] {
        session.add_stream(Time::ZERO, StreamId(id), 0, quiet(u64::from(id)));
        // ALLOW and FLOWS have left the queue.
        session.flush(Time::ZERO);
        session.take(Time::ZERO, StreamId(id), &mut Vec::new(), 1 << 20);
        session.measure(Time::ZERO, StreamId(id), quiet(u64::from(id)));
    }
    session
}
/// A stream with nothing in flight.
fn quiet(id: u64) -> Gauge {
    let (rtt, rto) = (Time::from_ms(10 * id), Time::from_ms(250));
    Gauge { rtt, rto, rate: BitRate::from_mbps(100), mss: 1448, ..Gauge::default() }
}

/// Each of the four reasons alone makes the owner measure its streams first.
#[test]
fn streams_are_measured_before_conclusions_are_drawn_from_them() {
    let limits = Limits { first: 2, most: 4 };
    let is_due_first_at = |session: &Session, at: Time| {
        assert_eq!(session.deadline(), at);
        assert!(!session.is_measuring(at - Time::from_us(1)) && session.is_measuring(at), "{} ms", at.as_ms());
    };
    // The check of keep-alive is due after 10 s.
    is_due_first_at(&near(Tuner::Fixed(2)), Time::from_secs(10));
    // Without progress for two timeouts of 250 ms a stream is suspect.
    let mut stands_still = near(Tuner::Fixed(2));
    stands_still.measure(Time::ZERO, StreamId(1), Gauge { unacknowledged: 20, ..quiet(1) });
    is_due_first_at(&stands_still, Time::from_ms(500));
    // A round trip of at least 50 ms is over.
    let mut tuned = near(Tuner::measuring(Policy::Fill, limits, 1));
    tuned.on_timer(Time::ZERO);
    is_due_first_at(&tuned, Time::from_ms(50));
    // Stream 2 may have the datagram when it has waited for the difference of the delays, 5 ms, and 1 ms.
    let mut datagrams = near(Tuner::Fixed(2));
    let flows = Item::Frame { connection: 0, frame: Frame::Flows { most: 10 } };
    datagrams.on_item(Time::ZERO, StreamId(1), &flows).expect("no violation");
    let flow = datagrams.open_flow(Time::ZERO, destination()).expect("room");
    assert!(datagrams.send_datagram(Time::ZERO, flow, &[7; 100]));
    datagrams.flush(Time::ZERO);
    is_due_first_at(&datagrams, Time::from_ms(6));
}

/// A stream that is being closed is checked every 50 ms until it can be shut. Then the usual interval applies.
#[test]
fn a_stream_that_is_being_closed_is_looked_at_until_it_is_shut() {
    let mut session = near(Tuner::Fixed(2));
    let ping = Item::Frame { connection: 0, frame: Frame::Ping { token: 1 } };
    session.on_item(Time::ZERO, StreamId(1), &ping).expect("no violation");
    session.drain_stream(Time::ZERO, StreamId(1));
    assert_eq!(session.deadline(), Time::from_ms(50));
    session.on_timer(Time::from_ms(50));
    assert!(!session.wants_shut(StreamId(1)), "it has a PONG to send");
    assert_eq!(session.deadline(), Time::from_ms(100));
    session.take(Time::from_ms(60), StreamId(1), &mut Vec::new(), 1 << 20);
    session.measure(Time::from_ms(60), StreamId(1), quiet(1));
    session.on_timer(Time::from_ms(100));
    assert!(session.wants_shut(StreamId(1)));
    assert_eq!(session.deadline(), Time::from_ms(5_100));
}

/// Counts PINGs on the second of two streams in `ms` milliseconds. If `heard`, the first stream brings a frame every
/// 100 ms.
fn pings(session: &mut Session, now: &mut Time, ms: u64, heard: bool) -> usize {
    let (mut count, mut reader) = (0, FrameReader::new(256 << 10));
    for _ in 0..ms / 10 {
        *now += Time::from_ms(10);
        if heard && now.as_ps().is_multiple_of(Time::from_ms(100).as_ps()) {
            let news = Item::Frame { connection: 0, frame: Frame::Want { streams: 2 } };
            session.on_item(*now, StreamId(1), &news).expect("no violation");
        }
        if session.deadline() <= *now {
            session.on_timer(*now);
        }
        session.flush(*now);
        let mut out = Vec::new();
        session.take(*now, StreamId(2), &mut out, 1 << 20);
        let mut input = out.as_slice();
        while let Some(item) = reader.next(&mut input).expect("its own frames") {
            count += usize::from(matches!(item, Item::Frame { frame: Frame::Ping { .. }, .. }));
        }
    }
    count
}

/// P-24: it is asked once, until it has brought another frame than PONG.
#[test]
fn a_path_that_falls_silent_beside_another_is_asked_once() {
    let started = |paths: [u32; 2]| {
        let mut session =
            Session::new(Time::ZERO, Role::Near, settings(), Tuner::Fixed(2), &Pool::new(64 << 20)).expect("memory");
        for (id, path) in [1, 2].into_iter().zip(paths) {
            let gauge = Gauge { rtt: Time::from_ms(20), rto: Time::from_ms(220), mss: 1448, ..Gauge::default() };
            session.add_stream(Time::ZERO, StreamId(id), path, gauge);
        }
        session
    };
    let (mut now, mut session) = (Time::ZERO, started([0, 1]));
    assert_eq!(pings(&mut session, &mut now, 400, true), 0, "not yet");
    assert_eq!(pings(&mut session, &mut now, 800, true), 1);
    let answer = Item::Frame { connection: 0, frame: Frame::Pong { token: 2 } };
    session.on_item(now, StreamId(2), &answer).expect("no violation");
    assert_eq!(pings(&mut session, &mut now, 5000, true), 0, "it has answered, and has nothing to say");
    let news = Item::Frame { connection: 0, frame: Frame::Want { streams: 2 } };
    session.on_item(now, StreamId(2), &news).expect("no violation");
    assert_eq!(pings(&mut session, &mut now, 2000, true), 1, "it had, and falls silent again");
    // No stream is asked if nothing is heard at all, or because another stream of the same path is better.
    let (mut now, mut session) = (Time::ZERO, started([0, 1]));
    assert_eq!(pings(&mut session, &mut now, 5000, false), 0);
    let (mut now, mut session) = (Time::ZERO, started([0, 0]));
    assert_eq!(pings(&mut session, &mut now, 5000, true), 0);
    // But a program may be waiting for bytes, and this end has nothing in flight that would show the path's death.
    let (mut now, mut session) = (Time::ZERO, started([0, 0]));
    session.connect(destination()).expect("room");
    session.on_item(now, StreamId(2), &news).expect("no violation");
    assert_eq!(pings(&mut session, &mut now, 400, false), 0, "not yet");
    assert_eq!(pings(&mut session, &mut now, 800, false), 1);
    session.on_item(now, StreamId(2), &answer).expect("no violation");
    assert_eq!(pings(&mut session, &mut now, 5000, false), 0, "it has answered, and has nothing to say");
    session.on_item(now, StreamId(2), &news).expect("no violation");
    assert_eq!(pings(&mut session, &mut now, 400, false), 0, "not yet");
    assert_eq!(pings(&mut session, &mut now, 400, false), 1);
}
