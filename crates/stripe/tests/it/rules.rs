//! Rules of docs/reference/protocol.md at one end of a session, frame by frame; and clocks that jump.

use stripe::optimizer::Tuner;
use stripe::session::{Gauge, Pool, Role, Session, Settings, code};
use stripe::wire::{Ack, Data, Destination, Frame, FrameReader, Item};
use stripe::{Config, StreamId};
use units::{BitRate, Bytes, Time};

const ONE: StreamId = StreamId(1);
const SECOND: Time = Time::from_secs(1);

fn session(role: Role) -> Session {
    using(role, 1)
}
/// A session that uses so many streams, and has the first.
fn using(role: Role, streams: u32) -> Session {
    let settings = Settings {
        connection: Config { credit: Bytes::new(256 << 10), peer_credit: Bytes::new(1 << 20), ..Config::default() },
        max_payload: 256 << 10,
        max_streams: 4,
        connections: 10,
        memory: 8 << 20,
        patience: SECOND * 30,
        keep_alive: SECOND * 10,
        warm: 1,
        datagrams: None,
    };
    let mut session =
        Session::new(Time::ZERO, role, settings, Tuner::Fixed(streams), &Pool::new(64 << 20)).expect("there is memory");
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
/// Frames that it sends now, in order; of DATA the header alone.
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

/// P-11: OPENs to one destination go one behind the other, also where another stream has become faster; others go on
/// the stream that is faster, and so do those that come after an answer.
#[test]
fn opens_to_one_destination_do_not_overtake_each_other() {
    let mut near = using(Role::Near, 2);
    let two = StreamId(2);
    let gauge = |rtt| Gauge { rtt: Time::from_ms(rtt), rate: BitRate::from_mbps(100), ..Gauge::default() };
    near.add_stream(Time::ZERO, two, 0, gauge(20));
    let opens = |near: &mut Session, stream| {
        let mut bytes = Vec::new();
        near.flush(SECOND);
        near.take(SECOND, stream, &mut bytes, 100_000);
        let (mut reader, mut input, mut opened) = (FrameReader::new(256 << 10), bytes.as_slice(), Vec::new());
        while let Some(item) = reader.next(&mut input).expect("right") {
            if let Item::Frame { connection, frame: Frame::Open(_) } = item {
                opened.push(connection);
            }
        }
        opened
    };
    // The session's own frames are out of the way.
    assert_eq!([opens(&mut near, ONE), opens(&mut near, two)], [vec![], vec![]]);
    let elsewhere = || Destination::Name("web.example".to_owned(), 443);
    let first = near.connect(somewhere()).expect("room");
    assert_eq!([opens(&mut near, ONE), opens(&mut near, two)], [vec![first], vec![]]);
    near.measure(SECOND, ONE, gauge(200));
    let [second, other, third] = [somewhere(), elsewhere(), somewhere()].map(|to| near.connect(to).expect("room"));
    assert_eq!([opens(&mut near, ONE), opens(&mut near, two)], [vec![second, third], vec![other]]);
    for connection in [first, second, third] {
        hears(&mut near, SECOND, connection, Frame::Opened);
    }
    let fourth = near.connect(somewhere()).expect("room");
    assert_eq!([opens(&mut near, ONE), opens(&mut near, two)], [vec![], vec![fourth]]);
}

/// P-12: DATA may overtake OPEN.
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

/// P-22 and P-24: PONG does not wait behind payload.
#[test]
fn an_answer_does_not_wait_behind_payload() {
    let mut near = session(Role::Near);
    let connection = near.connect(somewhere()).expect("room");
    near.write(connection, &vec![1; 500_000]);
    near.flush(Time::ZERO);
    // OPEN, the session's own frames, and the first segment. Others wait behind it.
    sends(&mut near, Time::ZERO, 1000);
    assert!(near.has_output(ONE));
    hears(&mut near, SECOND, 0, Frame::Ping { token: 77 });
    let next = sends(&mut near, SECOND, 1000);
    assert_eq!(next.first(), Some(&Frame::Pong { token: 77 }));
    assert!(matches!(next.last(), Some(Frame::Data(_))), "{next:?}");
}

/// Direct delivery: what arrives while nothing is held goes to the program at once, as far as it takes it. Segments
/// that overtake others are held, and so is all that arrives until the program has had its turn.
#[test]
fn what_is_next_goes_to_the_program_at_once() {
    let mut far = session(Role::Far);
    hears(&mut far, Time::ZERO, 1, Frame::Open(somewhere()));
    far.accept(1);
    let all: Vec<u8> = (0..1000_u32).map(|at| (at * 7) as u8).collect();
    let mut taken = Vec::new();
    // Start, end, bytes that the program takes of what it is offered, and whether its task has to look.
    let steps =
        [(0, 100, 100, false), (100, 200, 30, true), (200, 300, 9, true), (400, 500, 9, true), (300, 400, 9, true)];
    for (from, to, takes, looks) in steps {
        let data = Data { offset: from as u64, len: (to - from) as u32, end: false };
        let item = Item::Payload { connection: 1, data, payload: &all[from..to] };
        far.effects();
        let deliver = |connection, bytes: &[u8]| {
            assert_eq!(connection, 1);
            taken.extend_from_slice(&bytes[..takes]);
            takes as u64
        };
        far.on_item_for(SECOND, ONE, &item, deliver).expect("within credit");
        far.flush(SECOND);
        assert_eq!(far.effects().connections.contains(&1), looks, "{from}");
    }
    assert_eq!(taken, all[..130]);
    assert_eq!(far.readable(1).collect::<Vec<_>>().concat(), all[130..500]);
    assert_eq!(far.memory().1, Bytes::new(370));
    far.consume(SECOND, 1, 370);
    // The program has had its turn. A segment that repeats some bytes and has the end goes to it directly again. Its
    // task has to look, since this was all.
    let data = Data { offset: 450, len: 550, end: true };
    let mut rest = Vec::new();
    let deliver = |_, bytes: &[u8]| {
        rest.extend_from_slice(bytes);
        bytes.len() as u64
    };
    far.effects();
    far.on_item_for(SECOND, ONE, &Item::Payload { connection: 1, data, payload: &all[450..] }, deliver).expect("right");
    assert_eq!(rest, all[500..]);
    assert!(far.effects().connections.contains(&1) && far.state(1).is_some_and(|state| state.finished));
    assert_eq!((far.readable(1).count(), far.memory().1), (0, Bytes::ZERO));
}

/// P-28: an OPEN that has crossed LEAVE is taken.
#[test]
fn an_open_that_has_crossed_a_leave_is_taken() {
    let mut far = session(Role::Far);
    far.leave(Time::ZERO);
    far.flush(Time::ZERO);
    assert!(sends(&mut far, Time::ZERO, 1000).contains(&Frame::Leave));
    hears(&mut far, SECOND, 1, Frame::Open(somewhere()));
    assert_eq!(far.effects().openings, [(1, somewhere())]);
}

/// A host was suspended for a day. Its streams are asked before they are given up, and what they carry is not lost.
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
    // P-10: without a stream the session is over in time, whatever the clock did before.
    near.lose_stream(tomorrow + SECOND * 26, ONE);
    near.on_timer(tomorrow * 2);
    assert!(near.is_over());
}

/// No clock of a gateway goes back (CLOCK_MONOTONIC). If one did, nothing would break.
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

/// P-33: SHARE holds for connections that begin after it, until an ACK raises their limit.
#[test]
fn a_new_connection_begins_with_the_share_that_the_peer_asks_for() {
    let mut near = session(Role::Near);
    let sent = |near: &mut Session, now: Time| -> u64 {
        // A stream takes no more at once than it transmits in 10 ms.
        let frames = (0..4).flat_map(|_| sends(near, now, 1 << 20));
        frames.map(|frame| if let Frame::Data(data) = frame { u64::from(data.len) } else { 0 }).sum()
    };
    hears(&mut near, Time::ZERO, 0, Frame::Share { bytes: 20_000 });
    let connection = near.connect(somewhere()).expect("room");
    near.write(connection, &vec![1; 300_000]);
    near.flush(Time::ZERO);
    assert_eq!(sent(&mut near, Time::ZERO), 20_000);
    let ack = Ack { next: 20_000, limit: 70_000, ..Ack::default() };
    hears(&mut near, SECOND, connection, Frame::Ack(ack));
    assert_eq!(sent(&mut near, SECOND), 50_000);
    // The peer's HELLO allows 1 MiB: SHARE cannot add to that.
    hears(&mut near, SECOND, 0, Frame::Share { bytes: 1 << 30 });
    let connection = near.connect(somewhere()).expect("room");
    near.write(connection, &vec![1; 300_000]);
    near.flush(SECOND);
    assert_eq!(sent(&mut near, SECOND), 300_000);
}

/// P-33 and P-30: programs that read nothing make shares small, while the allowance follows what arrives. What HELLO
/// has allowed is accepted nevertheless.
#[test]
fn unread_bytes_make_shares_small_and_take_nothing_back() {
    let mut far = session(Role::Far);
    let (mut share, mut allowed) = (256 << 10, 4 << 20);
    let first = vec![7; 256 << 10];
    for connection in 1..=8 {
        hears(&mut far, SECOND, connection, Frame::Open(somewhere()));
        far.accept(connection);
        let data = Data { offset: 0, len: first.len() as u32, end: false };
        far.on_item(SECOND, ONE, &Item::Payload { connection, data, payload: &first }).expect("HELLO's credit");
        far.flush(SECOND);
        for frame in sends(&mut far, SECOND, 1 << 20) {
            match frame {
                Frame::Share { bytes } => share = bytes,
                Frame::Allow { limit } => allowed = limit,
                _ => {}
            }
        }
    }
    // 2 of 8 MiB are unread, so three quarters are left: 9/16 of 256 KiB is 144 KiB. Steps of less than a quarter are
    // not announced.
    assert!((108 << 10..=192 << 10).contains(&share), "{share}");
    // 2 MiB have arrived. Of the 4 MiB above that a quarter may not be announced.
    assert!((5 << 20..=6 << 20).contains(&allowed), "{allowed}");
}

/// Opens a connection, and sends it every second byte of the first 32,000.
fn leave_holes(far: &mut Session, connection: u32) -> Result<(), stripe::Violation> {
    hears(far, SECOND, connection, Frame::Open(somewhere()));
    far.accept(connection);
    for hole in 0..16_000 {
        let data = Data { offset: 2 * hole + 1, len: 1, end: false };
        far.on_item(SECOND, ONE, &Item::Payload { connection, data, payload: b"x" })?;
    }
    Ok(())
}

/// P-21: 131,072 holes in all connections together. Eight times 16,000 are below that, nine times are above.
#[test]
fn holes_of_all_connections_are_bounded() {
    let mut far = session(Role::Far);
    for connection in 1..=8 {
        leave_holes(&mut far, connection).expect("128,000 are within the rules");
    }
    assert!(leave_holes(&mut far, 9).is_err());
}

/// P-17, P-21: a reset discards holes, whether the connection has ended or not.
#[test]
fn a_reset_connection_leaves_no_holes() {
    let mut far = session(Role::Far);
    for connection in 1..=9 {
        leave_holes(&mut far, connection).expect("those of the connections before are gone");
        hears(&mut far, SECOND, connection, Frame::Reset { code: code::RESET, end: 32_000 });
    }
    assert_eq!(far.connection_count(), 9);
}

/// P-17, P-18: both byte streams are reset, and the peer has acknowledged our reset.
#[test]
fn a_connection_that_both_ends_have_reset_ends() {
    let mut far = session(Role::Far);
    leave_holes(&mut far, 1).expect("16,000 are within the rules");
    hears(&mut far, SECOND, 1, Frame::Reset { code: code::RESET, end: 32_000 });
    hears(&mut far, SECOND, 1, Frame::Stop { code: code::RESET });
    far.abandon(SECOND, 1, code::RESET);
    far.release(SECOND, 1);
    far.flush(SECOND);
    assert!(sends(&mut far, SECOND, 1 << 20).contains(&Frame::Reset { code: code::RESET, end: 0 }));
    assert_eq!(far.connection_count(), 1);
    hears(&mut far, SECOND, 1, Frame::Ack(Ack { next: 0, limit: 0, end: false, reset: true, ranges: Vec::new() }));
    far.flush(SECOND);
    assert_eq!(far.connection_count(), 0);
    for connection in 2..=9 {
        leave_holes(&mut far, connection).expect("128,000 are within the rules");
    }
    assert!(leave_holes(&mut far, 10).is_err());
}
