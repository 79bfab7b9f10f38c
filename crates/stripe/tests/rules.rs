//! Rules of docs/protocol.md at one end of a session, frame by frame; and clocks that jump.

use stripe::optimizer::Tuner;
use stripe::session::{Gauge, Pool, Role, Session, Settings};
use stripe::wire::{Data, Destination, Frame, FrameReader, Item};
use stripe::{Config, StreamId};
use units::{BitRate, Bytes, Time};

const ONE: StreamId = StreamId(1);
const SECOND: Time = Time::from_secs(1);

fn session(role: Role) -> Session {
    let settings = Settings {
        connection: Config { credit: Bytes::new(256 << 10), peer_credit: Bytes::new(1 << 20), ..Config::default() },
        max_payload: 256 << 10,
        max_streams: 4,
        connections: 10,
        memory: 8 << 20,
        patience: SECOND * 30,
        keep_alive: SECOND * 10,
        warm: 1,
    };
    let mut session =
        Session::new(Time::ZERO, role, settings, Tuner::Fixed(1), &Pool::new(64 << 20)).expect("there is memory");
    let gauge = Gauge { rtt: Time::from_ms(10), rate: BitRate::from_mbps(100), ..Gauge::default() };
    session.add_stream(Time::ZERO, ONE, 0, gauge);
    session
}
fn somewhere() -> Destination {
    Destination::Name("db.example".to_owned(), 3306)
}
fn hears(session: &mut Session, now: Time, connection: u32, frame: Frame) {
    session.on_item(now, ONE, &Item::Frame { connection, frame }).expect("within the rules");
    session.flush(now);
}
/// What it sends now, in order; of DATA the header alone.
fn sends(session: &mut Session, now: Time, most: usize) -> Vec<Frame> {
    let mut bytes = Vec::new();
    session.take(now, ONE, &mut bytes, most);
    let (mut reader, mut input, mut frames) = (FrameReader::new(256 << 10), bytes.as_slice(), Vec::new());
    while let Some(item) = reader.next(&mut input).expect("right") {
        frames.push(match item {
            Item::Frame { frame, .. } => frame,
            Item::Payload { data, .. } => Frame::Data(data),
        });
    }
    frames
}

/// P-12.
#[test]
fn data_that_overtakes_its_open_is_kept() {
    let mut far = session(Role::Far);
    let data = Data { offset: 0, len: 5, end: false };
    far.on_item(Time::ZERO, ONE, &Item::Payload { connection: 1, data, payload: b"first" }).expect("within credit");
    far.flush(Time::ZERO);
    assert!(far.effects().openings.is_empty());
    hears(&mut far, SECOND, 1, Frame::Open(somewhere()));
    assert_eq!(far.effects().openings, [(1, somewhere())]);
    far.accept(1);
    assert_eq!(far.readable(1).collect::<Vec<_>>().concat(), b"first");
}

/// P-22 and P-24.
#[test]
fn an_answer_does_not_wait_behind_payload() {
    let mut near = session(Role::Near);
    let connection = near.connect(somewhere()).expect("room");
    near.write(connection, &vec![1; 500_000]);
    near.flush(Time::ZERO);
    // OPEN and what belongs to the session, and the first segment: others wait behind it.
    sends(&mut near, Time::ZERO, 1000);
    assert!(near.has_output(ONE));
    hears(&mut near, SECOND, 0, Frame::Ping { token: 77 });
    let next = sends(&mut near, SECOND, 1000);
    assert_eq!(next.first(), Some(&Frame::Pong { token: 77 }));
    assert!(matches!(next.last(), Some(Frame::Data(_))), "{next:?}");
}

/// P-28.
#[test]
fn an_open_that_has_crossed_a_leave_is_taken() {
    let mut far = session(Role::Far);
    far.leave();
    far.flush(Time::ZERO);
    assert!(sends(&mut far, Time::ZERO, 1000).contains(&Frame::Leave));
    hears(&mut far, SECOND, 1, Frame::Open(somewhere()));
    assert_eq!(far.effects().openings, [(1, somewhere())]);
}

/// A host that was suspended for a day: its streams are asked before they are given up, and what they carry is not lost.
#[test]
fn a_clock_that_jumps_forward_kills_nothing_by_itself() {
    let mut near = session(Role::Near);
    let connection = near.connect(somewhere()).expect("room");
    near.write(connection, b"before");
    near.flush(Time::ZERO);
    sends(&mut near, Time::ZERO, 1000);
    let tomorrow = SECOND * 86_400;
    near.on_timer(tomorrow);
    near.flush(tomorrow);
    assert!(near.has_stream(ONE) && !near.is_over());
    let said = sends(&mut near, tomorrow, 1000);
    assert!(said.iter().any(|frame| matches!(frame, Frame::Ping { .. })), "{said:?}");
    hears(&mut near, tomorrow + SECOND, 0, Frame::Pong { token: 1 });
    near.on_timer(tomorrow + SECOND * 25);
    assert!(near.has_stream(ONE) && near.state(connection).is_some_and(|state| state.reset.is_none()));
    // P-10: without a stream it is over when its time is, however long that took.
    near.lose_stream(tomorrow + SECOND * 26, ONE);
    near.on_timer(tomorrow * 2);
    assert!(near.is_over());
}

/// No clock of a gateway goes back (CLOCK_MONOTONIC); if one did, nothing would break.
#[test]
fn a_clock_that_goes_back_breaks_nothing() {
    let mut far = session(Role::Far);
    let late = SECOND * 1000;
    hears(&mut far, late, 1, Frame::Open(somewhere()));
    far.accept(1);
    far.write(1, &vec![3; 100_000]);
    far.flush(late);
    sends(&mut far, late, 1 << 20);
    far.on_timer(SECOND);
    far.flush(SECOND);
    hears(&mut far, SECOND, 0, Frame::Ping { token: 1 });
    assert!(sends(&mut far, SECOND, 1 << 20).contains(&Frame::Pong { token: 1 }));
    far.on_timer(late * 2);
    assert!(far.has_stream(ONE) && !far.is_over());
}
