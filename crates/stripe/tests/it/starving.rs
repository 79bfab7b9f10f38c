//! A session whose kernel reports that streams starve, and one whose program has more to write than fits.

use stripe::optimizer::{Law, Limits, Policy, Tuner};
use stripe::session::{Census, Gauge, Pool, Role, Session, Settings};
use stripe::wire::{Destination, Frame, FrameReader, Item};
use stripe::{Config, StreamId};
use units::{BitRate, Bytes, Time};

const ONE: StreamId = StreamId(1);
const TWO: StreamId = StreamId(2);
const ROUND: Time = Time::from_ms(100);

/// A near end with a connection.
fn session(tuner: Tuner) -> (Session, u32) {
    let settings = Settings {
        connection: Config { peer_credit: Bytes::from_mb(50), ..Config::default() },
        max_payload: 256 << 10,
        max_streams: 64,
        connections: 10,
        memory: 64 << 20,
        patience: Time::from_secs(30),
        keep_alive: Time::from_secs(10),
        warm: 1,
        datagrams: None,
    };
    let mut session = Session::new(Time::ZERO, Role::Near, settings, tuner, &Pool::new(256 << 20)).expect("memory");
    let connection = session.connect(Destination::Name("db.example".to_owned(), 3306)).expect("room");
    (session, connection)
}
fn gauge(rtt_ms: u64, mbps: u64) -> Gauge {
    let rtt = Time::from_ms(rtt_ms);
    Gauge { rtt, rtt_min: rtt, rate: BitRate::from_mbps(mbps), mss: 1448, law: Law::Bbr, ..Gauge::default() }
}

/// Number of streams after so many round trips at 100 Mbit/s while more data waits.
fn number_after(rounds: u64, starved: bool) -> u32 {
    let limits = Limits { first: 1, most: 64 };
    let (mut session, connection) = session(Tuner::measuring(Policy::Fill, limits, 1));
    let mut seen = Gauge { window: 1_250_000, starved, ..gauge(100, 100) };
    session.add_stream(Time::ZERO, ONE, 0, seen);
    session.write(connection, &vec![0; 350_000]);
    for round in 1..=rounds {
        let now = ROUND * round;
        seen.census.delivered += 1_250_000;
        seen.census.sent += 863;
        seen.census.busy = now;
        session.measure(now, ONE, seen);
        session.on_timer(now);
        session.flush(now);
        assert!(session.is_hungry());
    }
    session.tuner().target()
}

#[test]
fn streams_that_starve_are_held_back_by_their_buffers() {
    // At the first look, after a round trip, nothing was there to send, so that the next look comes after 300 ms. So
    // the fourth round trip is the first that counts. An epoch of six that is not judged ends with the ninth, and one
    // that is judged ends with the fifteenth.
    assert_eq!(number_after(14, true), 1);
    assert_eq!(number_after(15, true), 4);
    // Streams that do not starve are measured for two epochs, and then doubled.
    assert_eq!(number_after(20, false), 1);
    assert_eq!(number_after(21, false), 2);
}

#[test]
fn a_program_that_is_held_back_has_use_for_a_slow_stream() {
    // All of 350,000 bytes take 5 + 35 ms on the fast stream, and 16 KiB take 100 + 16 ms on the slow one.
    let used = |bytes: usize| {
        let (mut session, connection) = session(Tuner::Fixed(2));
        session.add_stream(Time::ZERO, ONE, 0, gauge(10, 80));
        session.add_stream(Time::ZERO, TWO, 0, gauge(200, 8));
        session.flush(Time::ZERO);
        let bytes = bytes.min(session.room(connection) as usize);
        session.write(connection, &vec![0; bytes]);
        let held_back = session.room(connection) == 0;
        session.flush(Time::ZERO);
        (held_back, session.has_output(ONE), session.has_output(TWO))
    };
    assert_eq!(used(350_000), (false, true, false));
    assert_eq!(used(usize::MAX), (true, true, true));
}

#[test]
fn a_program_that_was_held_back_writes_again_as_soon_as_streams_have_taken_some() {
    let (mut session, connection) = session(Tuner::Fixed(1));
    session.add_stream(Time::ZERO, ONE, 0, gauge(100, 800));
    let allow = Item::Frame { connection: 0, frame: Frame::Allow { limit: 50_000_000 } };
    session.on_item(Time::ZERO, ONE, &allow).expect("right");
    session.flush(Time::ZERO);
    let (mut written, mut taken) = (0, Vec::<u8>::new());
    // Nothing is acknowledged meanwhile: that takes a round trip.
    for _ in 0..20 {
        let room = session.room(connection) as usize;
        session.write(connection, &vec![0; room]);
        written += room;
        assert_eq!(session.room(connection), 0);
        session.effects();
        session.flush(Time::ZERO);
        taken.clear();
        session.take(Time::ZERO, ONE, &mut taken, 64 << 10);
        assert!(session.room(connection) > 0);
        assert!(session.effects().connections.contains(&connection), "told with {written} bytes written");
    }
    assert!(written > 2_000_000, "{written}");
}

/// What a session with nothing else to do sends when a program connects and writes 100 bytes, after two round trips in
/// which a stream has lost this many segments: the kinds of frames on each of two streams.
fn sent_after(lost: u64) -> [Vec<&'static str>; 2] {
    let limits = Limits { first: 2, most: 8 };
    let (mut session, first) = session(Tuner::measuring(Policy::Fill, limits, 2));
    let mut seen = Gauge { window: 64 << 10, ..gauge(100, 100) };
    session.add_stream(Time::ZERO, ONE, 0, seen);
    session.add_stream(Time::ZERO, TWO, 0, seen);
    session.abandon(Time::ZERO, first, 104);
    let taken = |session: &mut Session, now: Time| {
        [ONE, TWO].map(|id| {
            let (mut bytes, mut kinds) = (Vec::new(), Vec::new());
            session.take(now, id, &mut bytes, 1 << 20);
            let mut reader = FrameReader::new(256 << 10);
            let mut input = &bytes[..];
            while let Some(item) = reader.next(&mut input).expect("own frames are right") {
                match item {
                    Item::Frame { frame: Frame::Open(_), .. } => kinds.push("open"),
                    Item::Payload { .. } => kinds.push("data"),
                    Item::Frame { .. } => {}
                }
            }
            kinds
        })
    };
    for round in 1..=8 {
        let now = ROUND * round;
        seen.census.sent += 10;
        seen.census.lost = if round > 6 { lost } else { 0 };
        session.measure(now, ONE, seen);
        session.measure(now, TWO, Gauge { census: Census::default(), ..seen });
        session.on_timer(now);
        session.flush(now);
        taken(&mut session, now);
    }
    let now = ROUND * 8;
    let connection = session.connect(Destination::Name("db.example".to_owned(), 3306)).expect("room");
    session.write(connection, &[0; 100]);
    session.flush(now);
    taken(&mut session, now)
}

/// P-23. Four losses of a stream in a round trip are those of a queue.
#[test]
fn a_request_goes_twice_once_a_segment_was_lost_by_chance() {
    assert_eq!(sent_after(1), [["open", "data"], ["open", "data"]]);
    for lost in [0, 4] {
        let [one, two] = sent_after(lost);
        assert_eq!([one, two].concat(), ["open", "data"], "{lost}");
    }
}
