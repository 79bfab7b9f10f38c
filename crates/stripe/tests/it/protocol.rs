//! Answers of one end of a connection, frame by frame.

use stripe::wire::{Ack, Data, Frame};
use stripe::{Config, Connection, Measured, Notice, Output, Piece, Span, StreamId, Streams, Violation};
use units::{BitRate, Bytes, Time};

fn config() -> Config {
    Config {
        credit: Bytes::new(10_000),
        max_credit: Bytes::new(10_000),
        peer_credit: Bytes::new(10_000),
        ..Config::paper(1000)
    }
}

fn streams(count: u32) -> Streams {
    let mut streams = Streams::default();
    for id in 1..=count {
        let measured = Measured {
            rtt: Time::from_ms(20),
            rtt_min: Time::from_ms(20),
            rto: Time::from_ms(200),
            rate: BitRate::from_mbps(8),
            window: Bytes::ZERO,
            handed: 0,
            acknowledged: 0,
            room: Bytes::from_mb(1),
        };
        streams.add(Time::ZERO, StreamId(id), 0, measured);
    }
    streams
}

struct Side {
    connection: Connection,
    streams: Streams,
    out: Output,
}

impl Side {
    fn new(config: &Config, count: u32) -> Self {
        Self { connection: Connection::new(config), streams: streams(count), out: Output::default() }
    }
    /// Frames that it sends at this time.
    fn sends(&mut self, ms: u64) -> Vec<(u32, Frame)> {
        self.connection.transmit(Time::from_ms(ms), &mut self.streams, &mut self.out);
        self.out.frames.drain(..).map(|(id, frame)| (id.0, frame)).collect()
    }
    fn hears(&mut self, ms: u64, frame: &Frame) -> Result<(), Violation> {
        self.connection.on_frame(Time::from_ms(ms), frame, &mut self.out)
    }
}

fn data(offset: u64, len: u32, end: bool) -> Frame {
    Frame::Data(Data { offset, len, end })
}
fn ack(next: u64, limit: u64, ranges: &[(u64, u64)]) -> Frame {
    let ranges = ranges.iter().map(|(start, end)| Span::new(*start, *end)).collect();
    Frame::Ack(Ack { next, limit, ranges, ..Ack::default() })
}

#[test]
fn out_of_order_data_is_told_once_and_acknowledged_with_ranges() {
    let mut side = Side::new(&config(), 1);
    side.hears(0, &data(2000, 1000, false)).expect("within credit");
    side.hears(0, &data(1500, 2000, true)).expect("within credit");
    let pieces = [(2000, 1000, 0), (1500, 500, 0), (3000, 500, 1500)];
    let pieces = pieces.map(|(offset, len, skip)| Piece { offset, len, skip });
    assert_eq!(side.out.pieces, pieces);
    assert!(side.connection.readable().is_empty());
    assert_eq!(side.connection.buffered(), Bytes::new(2000));
    // 1,250 bytes, an eighth of the window, have arrived: the ACK is not delayed.
    assert_eq!(side.sends(0), vec![(1, ack(0, 10_000, &[(1500, 3500)]))]);
    side.hears(1, &data(0, 1500, false)).expect("within credit");
    assert_eq!(side.connection.readable(), Span::new(0, 3500));
    assert_eq!(side.out.notices, [Notice::Finished]);
    let whole = Frame::Ack(Ack { next: 3500, limit: 10_000, end: true, ..Ack::default() });
    assert_eq!(side.sends(1), vec![(1, whole.clone())]);
    // The peer repeats because the ACK was lost with its stream. The ACK is sent again, and nothing else happens.
    side.out.clear();
    side.hears(9, &data(1000, 500, false)).expect("within credit");
    assert_eq!((side.out.pieces.len(), side.connection.duplicates()), (0, 1000 + 500));
    assert_eq!(side.sends(9), vec![(1, whole)]);
}

#[test]
fn little_is_acknowledged_after_the_delay_and_credit_follows_the_reader() {
    let mut side = Side::new(&config(), 1);
    side.hears(10, &data(0, 1000, false)).expect("within credit");
    assert_eq!(side.sends(10), vec![]);
    assert_eq!(side.connection.deadline(), Time::from_ms(15));
    assert_eq!(side.sends(15), vec![(1, ack(1000, 10_000, &[]))]);
    // Credit is announced at once when it has grown by a quarter of the window.
    side.connection.consume(Time::from_ms(20), 1000, &side.streams);
    assert_eq!(side.sends(20), vec![]);
    side.hears(21, &data(1000, 1500, false)).expect("within credit");
    assert_eq!(side.sends(21), vec![(1, ack(2500, 11_000, &[]))]);
    side.connection.consume(Time::from_ms(22), 9999, &side.streams);
    assert_eq!(side.connection.readable(), Span::new(2500, 2500));
    assert_eq!(side.sends(22), vec![]);
    side.hears(23, &data(2500, 1000, false)).expect("within credit");
    side.connection.consume(Time::from_ms(23), 1000, &side.streams);
    assert_eq!(side.sends(23), vec![(1, ack(3500, 13_500, &[]))]);
}

#[test]
fn the_end_rides_on_the_last_segment_or_goes_alone() {
    let mut side = Side::new(&config(), 1);
    side.connection.write(1500);
    side.connection.finish();
    assert_eq!(side.sends(0), vec![(1, data(0, 1000, false)), (1, data(1000, 500, true))]);
    let mut side = Side::new(&config(), 1);
    side.connection.write(500);
    assert_eq!(side.sends(0), vec![(1, data(0, 500, false))]);
    side.connection.finish();
    assert_eq!(side.sends(1), vec![(1, data(500, 0, true))]);
    side.hears(40, &ack(500, 10_500, &[])).expect("what was sent");
    assert!(!side.connection.is_sent());
    let end = Frame::Ack(Ack { next: 500, limit: 10_500, end: true, ..Ack::default() });
    side.hears(41, &end).expect("what was sent");
    assert!(side.connection.is_sent() && !side.connection.is_closed());
    // Half closed: the other direction goes on until its own end.
    side.hears(50, &data(0, 100, false)).expect("within credit");
    side.hears(51, &data(100, 0, true)).expect("within credit");
    assert!(!side.connection.is_closed());
    side.connection.consume(Time::from_ms(52), 100, &side.streams);
    assert!(side.connection.is_closed());
}

#[test]
fn a_lost_stream_gives_back_what_only_it_had() {
    let mut side = Side::new(&config(), 3);
    side.connection.write(6000);
    side.connection.finish();
    let turns: Vec<u32> = side.sends(0).iter().map(|(id, _)| *id).collect();
    assert_eq!(turns, [1, 2, 3, 1, 2, 3]);
    // Of the segments 1000..2000 and 4000..5000 on stream 2, the first has arrived, and half of the second.
    side.hears(20, &ack(0, 10_000, &[(1000, 2000), (4000, 4500)])).expect("what was sent");
    side.streams.remove(StreamId(2));
    side.connection.on_stream_lost(Time::from_ms(30), StreamId(2));
    assert_eq!(side.sends(30), vec![(1, data(4500, 500, false))]);
    assert_eq!(side.connection.counters().repeated, 500);
    // The end was on stream 3.
    side.streams.remove(StreamId(3));
    side.connection.on_stream_lost(Time::from_ms(31), StreamId(3));
    assert_eq!(side.sends(31), vec![(1, data(2000, 1000, false)), (1, data(5000, 1000, true))]);
    // Without any stream it waits for the next, and has no deadline.
    side.streams.remove(StreamId(1));
    side.connection.on_stream_lost(Time::from_ms(32), StreamId(1));
    assert_eq!((side.sends(32), side.connection.deadline()), (vec![], Time::MAX));
    let measured = *streams(1).get(StreamId(1)).expect("it was added").measured();
    side.streams.add(Time::from_ms(900), StreamId(4), 0, measured);
    let again: u64 = side.sends(900).iter().map(|(_, frame)| frame.wire_bytes() - 20).sum();
    assert_eq!(again, 6000 - 1000 - 500);
}

#[test]
fn an_acknowledgement_lost_with_its_stream_is_said_again() {
    let mut side = Side::new(&config(), 2);
    side.hears(0, &data(0, 2000, false)).expect("within credit");
    assert_eq!(side.sends(0).len(), 1);
    side.streams.remove(StreamId(1));
    side.connection.on_stream_lost(Time::from_ms(5), StreamId(1));
    assert_eq!(side.sends(5), vec![(2, ack(2000, 10_000, &[]))]);
}

#[test]
fn a_reset_is_carried_until_it_is_acknowledged() {
    let mut side = Side::new(&config(), 2);
    side.connection.write(1500);
    assert_eq!(side.sends(0).len(), 2);
    side.connection.reset(104);
    let frame = Frame::Reset { code: 104, end: 1500 };
    // Stream 2 has a smaller backlog.
    assert_eq!(side.sends(1), vec![(2, frame.clone())]);
    side.streams.remove(StreamId(2));
    side.connection.on_stream_lost(Time::from_ms(2), StreamId(2));
    assert_eq!(side.sends(2), vec![(1, frame.clone())]);

    let mut peer = Side::new(&config(), 1);
    peer.hears(3, &data(0, 1000, false)).expect("within credit");
    peer.hears(4, &frame).expect("after all data");
    assert_eq!((peer.out.notices.as_slice(), peer.connection.buffered()), (&[Notice::Reset(104)][..], Bytes::ZERO));
    let Some((_, answer)) = peer.sends(4).pop() else { panic!("an acknowledgement is due") };
    side.hears(5, &answer).expect("what was sent");
    assert!(side.connection.is_sent());
}

#[test]
fn a_stop_is_answered_with_a_reset() {
    let mut reader = Side::new(&config(), 1);
    reader.hears(0, &data(0, 1000, false)).expect("within credit");
    reader.connection.stop(Time::from_ms(1), 32);
    assert_eq!(reader.sends(1), [(1, Frame::Stop { code: 32 })]);
    let mut writer = Side::new(&config(), 1);
    writer.connection.write(5000);
    writer.sends(0);
    writer.hears(2, &Frame::Stop { code: 32 }).expect("of this connection");
    assert_eq!(writer.out.notices, [Notice::Stopped(32)]);
    assert_eq!(writer.sends(2), vec![(1, Frame::Reset { code: 32, end: 5000 })]);
    // What was in flight is neither kept nor reported.
    reader.out.clear();
    reader.hears(3, &data(1000, 4000, false)).expect("within credit");
    assert!(reader.out.pieces.is_empty());
    reader.hears(4, &Frame::Reset { code: 32, end: 5000 }).expect("after all data");
    reader.connection.finish();
    reader.sends(4);
    assert_eq!(reader.connection.buffered(), Bytes::ZERO);
}

#[test]
fn what_nobody_may_say_is_a_violation() {
    let mut side = Side::new(&config(), 1);
    assert_eq!(side.hears(0, &data(9_500, 501, false)), Err(Violation::Credit { end: 10_001, limit: 10_000 }));
    assert_eq!(side.hears(0, &ack(1, 10_000, &[])), Err(Violation::Ack { position: 1, sent: 0 }));
    side.connection.write(3000);
    side.sends(0);
    assert_eq!(side.hears(1, &ack(0, 10_000, &[(10, 3001)])), Err(Violation::Ack { position: 3001, sent: 3000 }));
    let early = Frame::Ack(Ack { next: 3000, limit: 0, end: true, ..Ack::default() });
    assert_eq!(side.hears(1, &early), Err(Violation::Ack { position: 3000, sent: 3000 }));
    side.hears(2, &data(0, 1000, true)).expect("within credit");
    assert_eq!(side.hears(3, &data(500, 501, false)), Err(Violation::End { known: 1000, other: 1001 }));
    assert_eq!(side.hears(3, &data(0, 10, true)), Err(Violation::End { known: 1000, other: 10 }));
    assert_eq!(side.hears(3, &Frame::Reset { code: 1, end: 999 }), Err(Violation::End { known: 1000, other: 999 }));
    assert_eq!(side.hears(3, &Frame::Gone { stream: 1 }), Err(Violation::Misplaced));
    // An end below what was sent before it.
    let mut side = Side::new(&config(), 1);
    side.hears(0, &data(5000, 1000, false)).expect("within credit");
    assert_eq!(side.hears(1, &data(4000, 500, true)), Err(Violation::End { known: 6000, other: 4500 }));
}

#[test]
fn without_credit_it_asks_from_time_to_time() {
    let mut side = Side::new(&config(), 1);
    side.connection.write(12_000);
    let sent: u64 = side.sends(0).iter().map(|(_, frame)| frame.wire_bytes() - 20).sum();
    assert_eq!((sent, side.connection.blocked()), (10_000, Bytes::new(2000)));
    side.hears(100, &ack(10_000, 10_000, &[])).expect("what was sent");
    assert_eq!(side.sends(100), vec![]);
    // One second after the last news, and then after twice as long.
    for at in [1_100, 3_100, 7_100] {
        assert_eq!(side.connection.deadline(), Time::from_ms(at));
        assert_eq!(side.sends(at), vec![(1, data(10_000, 0, false))]);
    }
    side.hears(7_200, &ack(10_000, 11_500, &[])).expect("what was sent");
    assert_eq!(side.sends(7_200), vec![(1, data(10_000, 1000, false)), (1, data(11_000, 500, false))]);
}
