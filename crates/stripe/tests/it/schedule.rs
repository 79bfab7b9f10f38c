//! Schedulers: which stream gets which segment, and how long transfers take.

use crate::support::Net;
use stripe::wire::{Ack, Frame};
use stripe::{Config, Connection, Health, Measured, Output, Scheduler, Segmentation, StreamId, Streams};
use units::{BitRate, Bytes, Time};

fn measured(rtt_ms: u64, mbps: u64, room: u64) -> Measured {
    Measured {
        rtt: Time::from_ms(rtt_ms),
        rtt_min: Time::from_ms(rtt_ms),
        rto: Time::from_ms(200),
        rate: BitRate::from_mbps(mbps),
        window: Bytes::ZERO,
        handed: 0,
        acknowledged: 0,
        room: Bytes::new(room),
    }
}

fn config(scheduler: Scheduler) -> Config {
    Config {
        scheduler,
        segmentation: Segmentation::Fixed(10_000),
        credit: Bytes::from_mb(10),
        max_credit: Bytes::from_mb(10),
        peer_credit: Bytes::from_mb(10),
        pin: Bytes::ZERO,
        copies: 0.0,
        ..Config::default()
    }
}

/// Stream and offset of each segment sent.
fn sends(connection: &mut Connection, streams: &mut Streams, ms: u64) -> Vec<(u32, u64)> {
    let mut out = Output::default();
    connection.transmit(Time::from_ms(ms), streams, &mut out);
    let segment = |(id, frame): (StreamId, Frame)| match frame {
        Frame::Data(data) => Some((id.0, data.offset)),
        _ => None,
    };
    out.frames.drain(..).filter_map(segment).collect()
}

#[test]
fn in_turn_whatever_a_streams_room() {
    let mut connection = Connection::new(&config(Scheduler::RoundRobin));
    let mut streams = Streams::default();
    streams.add(Time::ZERO, StreamId(1), 0, measured(20, 8, 1 << 20));
    streams.add(Time::ZERO, StreamId(2), 0, measured(20, 8, 0));
    streams.add(Time::ZERO, StreamId(3), 0, measured(20, 8, 1 << 20));
    connection.write(60_000);
    // Segments 1 and 4 belong to stream 2, which has no room.
    assert_eq!(sends(&mut connection, &mut streams, 0), [(1, 0), (3, 20_000), (1, 30_000), (3, 50_000)]);
    assert_eq!(connection.waiting(), Bytes::new(20_000));
    streams.update(Time::from_ms(5), StreamId(2), measured(20, 8, 10_000));
    assert_eq!(sends(&mut connection, &mut streams, 5), [(2, 10_000)]);
    // A stream that is being closed loses its turn and the segments assigned to it.
    streams.drain(StreamId(2));
    let rest = sends(&mut connection, &mut streams, 6);
    assert_eq!(rest, [(1, 40_000)]);
    connection.write(30_000);
    assert_eq!(sends(&mut connection, &mut streams, 7), [(1, 60_000), (3, 70_000), (1, 80_000)]);
}

/// The streams that carry 80,000 bytes. There are two, with windows of `window` bytes and round trips of 20 ms that now
/// take `rtt_ms`.
fn spread(window: u64, rtt_ms: u64, app_limited: bool) -> Vec<u32> {
    let window = Bytes::new(window);
    let now = Measured { rtt_min: Time::from_ms(20), window, ..measured(rtt_ms, 8, 1 << 20) };
    let mut streams = Streams::default();
    streams.add(Time::ZERO, StreamId(1), 0, now);
    streams.add(Time::ZERO, StreamId(2), 0, now);
    streams.on_round(app_limited);
    let mut connection = Connection::new(&config(Scheduler::EarliestDelivery));
    connection.write(80_000);
    sends(&mut connection, &mut streams, 0).into_iter().map(|(id, _)| id).collect()
}

#[test]
fn a_connection_fills_the_window_of_its_stream_first() {
    // A segment is 10,020 bytes long: four fit.
    assert_eq!(spread(50_000, 20, true), [1, 1, 1, 1, 2, 2, 2, 2]);
    // A paced stream sends no window at once.
    assert_eq!(spread(0, 20, true), [1, 2, 1, 2, 1, 2, 1, 2]);
}

#[test]
fn an_answer_waits_for_its_own_streams_window_where_others_would_only_lengthen_the_queue() {
    assert_eq!(spread(50_000, 40, true), [1; 8]);
    // Nothing waits if there is much more to send than a window, or if the session is not application-limited.
    assert_eq!(spread(30_000, 40, true)[..3], [1, 1, 2]);
    assert_eq!(spread(50_000, 40, false), [1, 1, 1, 1, 2, 2, 2, 2]);
}

/// After a lost SYN a window is one segment (RFC 5681, section 3.1), at which 10 KB take seven round trips; after an early
/// loss it may be four, at which they take 1.7. It grows only where it is used, so the stream is given something when the
/// other is full, though that would deliver more than a round trip sooner; not a second time before that has arrived.
#[test]
fn a_stream_with_a_window_of_a_few_packets_is_not_left_so() {
    let window = |window: u64, backlog: u64, room| Measured {
        window: Bytes::new(window),
        handed: 50 + backlog,
        acknowledged: 50,
        ..measured(60, 13, room)
    };
    for (packets, backlog) in [(1, 100_000), (4, 50_000)] {
        let mut streams = Streams::default();
        streams.add(Time::ZERO, StreamId(1), 0, window(backlog, backlog, 0));
        let rate = BitRate::from_bps(packets * 193_067);
        streams.add(Time::ZERO, StreamId(2), 0, Measured { rate, ..window(packets * 1_448, 0, 1 << 20) });
        let mut connection = Connection::new(&config(Scheduler::EarliestDelivery));
        connection.write(1_000_000);
        assert_eq!(sends(&mut connection, &mut streams, 0), [(2, 0)]);
        assert_eq!(sends(&mut connection, &mut streams, 10), []);
    }
}

#[test]
fn a_queue_is_remembered_for_a_round_and_the_stream_between_answers() {
    let at = |rtt_ms: u64, handed: u64| Measured {
        rtt_min: Time::from_ms(20),
        window: Bytes::new(50_000),
        handed,
        acknowledged: handed,
        ..measured(rtt_ms, 8, 1 << 20)
    };
    let mut streams = Streams::default();
    streams.add(Time::ZERO, StreamId(1), 0, at(40, 0));
    streams.add(Time::ZERO, StreamId(2), 0, at(20, 0));
    let mut connection = Connection::new(&config(Scheduler::EarliestDelivery));
    let mut answer = |streams: &mut Streams, ms: u64| -> Vec<u32> {
        connection.write(80_000);
        let on = sends(&mut connection, streams, ms).into_iter().map(|(id, _)| id).collect();
        let (mut out, next) = (Output::default(), connection.taken());
        let ack = Ack { next, limit: next + 10_000_000, end: false, reset: false, ranges: Vec::new() };
        connection.on_frame(Time::from_ms(ms), &Frame::Ack(ack), &mut out).expect("what it sent");
        on
    };
    streams.on_round(true);
    // The second stream delivers sooner and begins. The first is on the same path, but has met no queue.
    assert_eq!(answer(&mut streams, 0), [2, 2, 2, 2, 1, 1, 1, 1]);
    // The first stream delivers sooner by now. The second has met a queue, which its latest round-trip time does not
    // show.
    streams.update(Time::from_ms(50), StreamId(1), at(20, 40_080));
    streams.update(Time::from_ms(50), StreamId(2), at(40, 40_080));
    streams.update(Time::from_ms(60), StreamId(2), at(21, 40_080));
    assert_eq!(answer(&mut streams, 60), [2; 8]);
    streams.update(Time::from_ms(120), StreamId(2), at(21, 120_240));
    streams.on_round(true);
    streams.on_round(true);
    assert_eq!(answer(&mut streams, 130), [2, 2, 2, 2, 1, 1, 1, 1]);
}

#[test]
fn the_earliest_delivery_by_hand() {
    // Fast: a round trip of 10 ms, 80 Mbit/s = 10,000 bytes per ms. Slow: 200 ms, 8 Mbit/s. 10,000 bytes take 5 + 1 = 6
    // ms on the fast stream, and 100 + 10 = 110 ms on the slow one.
    let two = |fast_room: u64| {
        let mut streams = Streams::default();
        streams.add(Time::ZERO, StreamId(1), 0, measured(200, 8, 1 << 20));
        streams.add(Time::ZERO, StreamId(2), 0, measured(10, 80, fast_room));
        streams
    };
    let mut streams = two(1 << 20);
    assert_eq!(streams.get(StreamId(2)).map(|fast| fast.eta(10_000)), Some(Time::from_ms(6)));
    assert_eq!(streams.get(StreamId(1)).map(|slow| slow.eta(10_000)), Some(Time::from_ms(110)));
    let mut connection = Connection::new(&config(Scheduler::EarliestDelivery));
    connection.write(10_000);
    assert_eq!(sends(&mut connection, &mut streams, 0), [(2, 0)]);

    // The fast stream takes one segment. It would deliver 900,000 bytes more after 5 + 90 + 1 ms, sooner than the slow
    // one 10,000 bytes.
    let mut streams = two(10_000);
    let mut connection = Connection::new(&config(Scheduler::EarliestDelivery));
    connection.write(910_000);
    assert_eq!(sends(&mut connection, &mut streams, 0), [(2, 0)]);
    // It would not deliver 1,100,000 bytes more sooner. The slow stream gets segments until it is as late as the fast
    // one with all the rest: 5 + (10,020 + rest) / 10,000 against 100 + (10,000 k + 20 (k - 1)) / 1000 ms. k = 2 with a
    // rest of 1,190,000 is 125.0 against 120.02; k = 3 is 124.0 against 130.04.
    let mut streams = two(10_000);
    let mut connection = Connection::new(&config(Scheduler::EarliestDelivery));
    connection.write(1_210_000);
    assert_eq!(sends(&mut connection, &mut streams, 0), [(2, 0), (1, 10_000), (1, 20_000)]);

    // 900,000 bytes again, but the program has more than fits. So there is no end for which the slow stream would be
    // too late. The credit of 10 MB covers what the fast stream carries meanwhile. But the slow stream must not be a
    // round trip later: 100 + 10.02 k - 6 ms for k = 10 and less.
    let mut streams = two(10_000);
    let mut connection = Connection::new(&config(Scheduler::EarliestDelivery));
    connection.write(910_000);
    connection.expect_more(true);
    let first = sends(&mut connection, &mut streams, 0);
    assert_eq!(first[..3], [(2, 0), (1, 10_000), (1, 20_000)]);
    assert_eq!(first.len(), 1 + 10);
    // Of another path only credit counts, for twice the segment's time: 1,000,000 x k bytes at 100 + 10 k ms. k = 38
    // with 9.6 MB.
    let mut streams = Streams::default();
    streams.add(Time::ZERO, StreamId(1), 1, measured(200, 8, 1 << 20));
    streams.add(Time::ZERO, StreamId(2), 0, measured(10, 80, 10_000));
    let mut connection = Connection::new(&config(Scheduler::EarliestDelivery));
    connection.write(910_000);
    connection.expect_more(true);
    let first = sends(&mut connection, &mut streams, 0);
    assert!(first.len().abs_diff(1 + 38) <= 1, "{}", first.len());
    // Now the program says that it has written all.
    let mut streams = two(10_000);
    let mut connection = Connection::new(&config(Scheduler::EarliestDelivery));
    connection.write(910_000);
    connection.expect_more(true);
    connection.finish();
    assert_eq!(sends(&mut connection, &mut streams, 0), [(2, 0)]);

    // The credit is less than what the fast stream delivers until the slow one's segment arrives ((110 - 7) ms x 10,000
    // = about 1 MB). The slow stream would hold the fast one up.
    let mut streams = two(10_000);
    let credit = Bytes::new(900_000);
    let mut connection = Connection::new(&Config { peer_credit: credit, ..config(Scheduler::EarliestDelivery) });
    connection.write(50_000_000);
    assert_eq!(sends(&mut connection, &mut streams, 0), [(2, 0)]);
}

#[test]
fn little_stays_on_one_stream() {
    let mut streams = Streams::default();
    for id in 1..=4 {
        streams.add(Time::ZERO, StreamId(id), 0, measured(20, 8, 1 << 20));
    }
    let pin = Bytes::new(64 << 10);
    let mut connection = Connection::new(&Config { pin, ..config(Scheduler::EarliestDelivery) });
    for at in 0..6 {
        connection.write(10_000);
        assert_eq!(sends(&mut connection, &mut streams, at), [(1, at * 10_000)], "one after the other");
    }
    // With more than 64 KiB in flight the empty streams get the next segment.
    connection.write(10_000);
    assert_eq!(sends(&mut connection, &mut streams, 7), [(2, 60_000)]);
}

#[test]
fn segments_follow_the_rate() {
    let mbps = |mbps| Segmentation::ByRate.longest(BitRate::from_mbps(mbps));
    // 2 ms at 8, 400 and 10,000 Mbit/s are 2,000, 100,000 and 2,500,000 bytes.
    assert_eq!([mbps(8), mbps(400), mbps(10_000)], [16 << 10, 100_000, 256 << 10]);
}

#[test]
fn what_is_late_goes_on_another_stream_too_but_not_much() {
    let mut streams = Streams::default();
    streams.add(Time::ZERO, StreamId(1), 0, measured(20, 8, 1 << 20));
    streams.add(Time::ZERO, StreamId(2), 0, measured(200, 8, 1 << 20));
    let settings = Config { copies: 0.02, ..config(Scheduler::EarliestDelivery) };
    let mut connection = Connection::new(&settings);
    connection.write(10_000);
    // Delivery is expected after 10 + 10 ms. The segment is late after twice that and the delay of an ACK of 5 ms.
    assert_eq!(sends(&mut connection, &mut streams, 0), [(1, 0)]);
    assert_eq!(connection.deadline(), Time::from_ms(45));
    assert_eq!(sends(&mut connection, &mut streams, 44), []);
    assert_eq!(sends(&mut connection, &mut streams, 45), [(2, 0)]);
    assert_eq!(connection.counters().copied, 10_000);
    // Either stream may die now, since the other has the segment too.
    connection.on_stream_lost(Time::from_ms(50), StreamId(1));
    assert_eq!(sends(&mut connection, &mut streams, 50), []);
    connection.on_stream_lost(Time::from_ms(51), StreamId(2));
    assert_eq!(sends(&mut connection, &mut streams, 51).len(), 1);

    // 1 MB is late. No more than 256 KiB and 2 % of what was sent are copied.
    let mut streams = Streams::default();
    streams.add(Time::ZERO, StreamId(1), 0, measured(20, 800, 1 << 30));
    let mut connection = Connection::new(&settings);
    connection.write(1_000_000);
    sends(&mut connection, &mut streams, 0);
    streams.add(Time::from_ms(500), StreamId(2), 0, measured(20, 800, 1 << 30));
    sends(&mut connection, &mut streams, 500);
    let counters = connection.counters();
    assert_eq!((counters.sent - counters.copied, counters.copied / 10_000), (1_000_000, (262_144 + 20_000) / 10_000));
}

/// Where the path loses segments now and then a short message goes on two streams; a longer one, one on a path that
/// loses none, one beside others that fill the streams, and one that would find a queue, on one.
#[test]
fn short_messages_go_twice_where_segments_are_lost() {
    let story = |lossy: bool, app_limited: bool, rtt_ms: u64, bytes: u64| {
        let now = Measured { rtt_min: Time::from_ms(20), window: Bytes::new(50_000), ..measured(rtt_ms, 8, 1 << 20) };
        let mut streams = Streams::default();
        streams.add(Time::ZERO, StreamId(1), 0, now);
        streams.add(Time::ZERO, StreamId(2), 0, now);
        streams.on_round(app_limited);
        if lossy {
            streams.on_random_loss(Time::ZERO);
        }
        let settings = Config { pin: Bytes::new(64 << 10), ..config(Scheduler::EarliestDelivery) };
        let mut connection = Connection::new(&settings);
        connection.write(bytes);
        (sends(&mut connection, &mut streams, 60_000), connection, streams)
    };
    let (sent, mut connection, mut streams) = story(true, true, 20, 1000);
    assert_eq!(sent, [(1, 0), (2, 0)]);
    assert_eq!((connection.counters().twice, connection.counters().copied), (1000, 0));
    // More until 8 KiB are under way; nothing that has gone twice counts as late.
    connection.write(7192);
    assert_eq!(sends(&mut connection, &mut streams, 60_001), [(1, 1000), (2, 1000)]);
    connection.write(1);
    assert_eq!(sends(&mut connection, &mut streams, 60_002), [(1, 8192)]);
    // Either stream may die.
    connection.on_stream_lost(Time::from_ms(60_003), StreamId(2));
    assert_eq!(sends(&mut connection, &mut streams, 60_003), []);

    for (lossy, app_limited, rtt_ms, bytes) in
        [(true, true, 20, 8193), (false, true, 20, 1000), (true, false, 20, 1000), (true, true, 40, 1000)]
    {
        let (sent, connection, _) = story(lossy, app_limited, rtt_ms, bytes);
        assert_eq!(sent, [(1, 0)], "{lossy} {app_limited} {rtt_ms} {bytes}");
        assert_eq!(connection.counters().twice, 0);
    }
    // Ten minutes after the last loss the path counts as sound.
    let (_, _, mut streams) = story(true, true, 20, 100);
    for (ms, on) in [(599_999, 2), (600_000, 1)] {
        let mut connection = Connection::new(&config(Scheduler::EarliestDelivery));
        connection.write(100);
        assert_eq!(sends(&mut connection, &mut streams, ms).len(), on);
    }
}

/// A late segment is copied only when nothing else is to be sent: nothing new, nothing lost, nothing assigned. Stream 1
/// has room for one segment. Everything else waits for stream 1, since stream 2 takes a second.
#[test]
fn what_is_late_is_copied_last() {
    let streams = || {
        let mut streams = Streams::default();
        streams.add(Time::ZERO, StreamId(1), 0, measured(20, 8, 10_000));
        streams.add(Time::ZERO, StreamId(2), 1, measured(2000, 8, 1 << 20));
        streams
    };
    let copying = |scheduler| Connection::new(&Config { copies: 0.02, ..config(scheduler) });
    let again = Measured { handed: 10_020, ..measured(20, 8, 10_000) };

    // Late after 45 ms, as above.
    let (mut new, mut of_new) = (copying(Scheduler::EarliestDelivery), streams());
    new.write(20_000);
    assert_eq!(sends(&mut new, &mut of_new, 0), [(1, 0)]);
    assert_eq!(sends(&mut new, &mut of_new, 45), []);
    of_new.update(Time::from_ms(46), StreamId(1), again);
    assert_eq!(sends(&mut new, &mut of_new, 46), [(1, 10_000), (2, 0)]);

    let (mut lost, mut of_lost) = (copying(Scheduler::EarliestDelivery), streams());
    of_lost.add(Time::ZERO, StreamId(3), 0, measured(20, 8, 10_000));
    lost.write(20_000);
    assert_eq!(sends(&mut lost, &mut of_lost, 0), [(1, 0), (3, 10_000)]);
    of_lost.remove(StreamId(3));
    lost.on_stream_lost(Time::from_ms(1), StreamId(3));
    assert_eq!(sends(&mut lost, &mut of_lost, 1), []);
    assert_eq!(sends(&mut lost, &mut of_lost, 45), []);
    of_lost.update(Time::from_ms(46), StreamId(1), again);
    assert_eq!(sends(&mut lost, &mut of_lost, 46), [(1, 10_000), (2, 0)]);

    // Round robin: the third segment belongs to stream 1.
    let (mut assigned, mut of_assigned) = (copying(Scheduler::RoundRobin), streams());
    assigned.write(30_000);
    assert_eq!(sends(&mut assigned, &mut of_assigned, 0), [(1, 0), (2, 10_000)]);
    assert_eq!(sends(&mut assigned, &mut of_assigned, 45), []);
    of_assigned.update(Time::from_ms(46), StreamId(1), again);
    assert_eq!(sends(&mut assigned, &mut of_assigned, 46), [(1, 20_000), (2, 0)]);
}

#[test]
fn a_stream_that_stands_still_is_suspected_until_it_moves() {
    let mut streams = Streams::default();
    streams.add(Time::ZERO, StreamId(1), 0, measured(20, 8, 1 << 20));
    streams.add(Time::ZERO, StreamId(2), 0, measured(20, 8, 1 << 20));
    let stuck = Measured { handed: 5000, rto: Time::from_ms(500), ..measured(20, 8, 1 << 20) };
    streams.update(Time::from_secs(4), StreamId(1), stuck);
    assert_eq!(streams.deadline(), Time::from_ms(5_000), "two timeouts");
    let mut suspects = Vec::new();
    streams.check(Time::from_ms(4_999), &mut suspects);
    assert!(suspects.is_empty());
    streams.check(Time::from_ms(5_000), &mut suspects);
    assert_eq!(suspects, [StreamId(1)]);
    assert_eq!(streams.get(StreamId(1)).map(stripe::Stream::health), Some(Health::Suspect));
    assert_eq!((streams.usable(), streams.deadline()), (1, Time::MAX));
    // The other stream is the last one.
    streams.update(Time::from_secs(6), StreamId(2), stuck);
    assert!(streams.check(Time::from_secs(60), &mut suspects), "it stands still");
    assert_eq!((streams.usable(), suspects.len()), (1, 1));
    let delivers = |streams: &Streams, id| streams.get(StreamId(id)).is_some_and(stripe::Stream::delivers);
    assert!(!delivers(&streams, 2), "its owner is to open others");
    assert!(!streams.check(Time::from_secs(62), &mut suspects), "it is known");
    // With the first other stream it is one of several that stand still.
    streams.add(Time::from_secs(63), StreamId(3), 0, measured(20, 8, 1 << 20));
    assert!(streams.deadline() <= Time::from_secs(63), "{:?}", streams.deadline());
    streams.check(Time::from_secs(63), &mut suspects);
    assert_eq!(suspects, [StreamId(1), StreamId(2)]);
    assert!(delivers(&streams, 3));
    for id in [1, 2] {
        streams.update(Time::from_secs(64), StreamId(id), Measured { acknowledged: 1, ..stuck });
        assert!(delivers(&streams, id), "it moves again");
    }
}

/// Seconds that `bytes` bytes take over streams of these rates (Mbit/s) and delays (ms).
fn transfer(config: &Config, streams: &[(u64, u64)], bytes: u64) -> f64 {
    let mut net = Net::new([config, config]);
    for (rate, delay) in streams {
        // The buffer covers the stream's bandwidth-delay product.
        let rate = BitRate::from_mbps(*rate);
        let delay = Time::from_ms(*delay);
        net.add(rate, delay, 40_000 + rate.bytes_in(delay * 2).get());
    }
    net.ends[0].connection.write(bytes);
    net.ends[0].connection.finish();
    net.transmit(0);
    assert!(net.run_to(Time::from_secs(1000), |net| net.ends[1].taken == bytes));
    net.now.as_secs_f64()
}

#[test]
fn equal_streams_add_up() {
    let bytes = 20_000_000;
    for scheduler in [Scheduler::RoundRobin, Scheduler::EarliestDelivery] {
        for count in [1, 4, 16] {
            let took = transfer(&config(scheduler), &vec![(10, 20); count], bytes);
            // Frames are 20 bytes longer than their 10,000 of payload. The last one arrives after one delay.
            let expected = bytes as f64 * 1.002 * 8.0 / (10e6 * count as f64) + 0.020;
            assert!((took / expected - 1.0).abs() < 0.02, "{scheduler:?} {count}: {took} s, expected {expected} s");
        }
    }
}

#[test]
fn unequal_streams_add_up_in_earliest_order_and_wait_for_the_slowest_in_turn() {
    let streams = [(40, 10), (10, 50), (2, 100)];
    let bytes = 20_000_000;
    // Credit is no limit: 10 MB.
    let earliest = transfer(&config(Scheduler::EarliestDelivery), &streams, bytes);
    let sum = bytes as f64 * 1.002 * 8.0 / 52e6;
    assert!(earliest > sum && earliest < sum * 1.05 + 0.1, "{earliest} s, sum of the rates {sum} s");
    // With round robin a third of the bytes goes over the slowest stream.
    let turn = transfer(&config(Scheduler::RoundRobin), &streams, bytes);
    let slowest = bytes as f64 / 3.0 * 1.002 * 8.0 / 2e6 + 0.1;
    assert!((turn / slowest - 1.0).abs() < 0.02, "{turn} s, the slowest alone {slowest} s");
}

#[test]
fn a_second_worse_path_does_no_harm_even_with_little_credit() {
    // 400 KB of credit on 40 Mbit/s x 20 ms: enough for the best stream (100 KB), and far from enough for waiting for
    // the other one (40 Mbit/s x 400 ms = 2 MB).
    let little = Bytes::new(400_000);
    let settings =
        Config { credit: little, max_credit: little, peer_credit: little, ..config(Scheduler::EarliestDelivery) };
    let bytes = 10_000_000;
    let alone = transfer(&settings, &[(40, 10)], bytes);
    let both = transfer(&settings, &[(40, 10), (1, 400)], bytes);
    assert!(both <= alone * 1.01, "alone {alone} s, with the slow one {both} s");
}

#[test]
fn a_killed_stream_costs_no_byte_and_less_than_a_second() {
    let settings = config(Scheduler::EarliestDelivery);
    let bytes = 10_000_000;
    let whole = transfer(&settings, &[(10, 20); 3], bytes);
    let mut net = Net::new([&settings, &settings]);
    for _ in 0..4 {
        net.add(BitRate::from_mbps(10), Time::from_ms(20), 65_000);
    }
    net.ends[0].connection.write(bytes);
    net.ends[0].connection.finish();
    net.transmit(0);
    net.run_until(Time::from_ms(500));
    // Neither end is told that the stream stands still.
    net.pipes[1].swallows = true;
    assert!(net.run_to(Time::from_secs(100), |net| net.ends[1].taken == bytes));
    let took = net.now.as_secs_f64();
    assert!(took < whole + 1.0, "{took} s with a fourth stream that died, {whole} s with three");
}
