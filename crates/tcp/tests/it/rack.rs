//! RACK-TLP (RFC 8985): when a segment counts as lost, and what is done about a lost tail.

use crate::support::{Fate, Side, Wire, plain};
use tcp::{Config, Endpoint, Flags, Output, Recovery, Segment};
use units::Time;

const DELAY: Time = Time::from_ms(50);
const MSS: u64 = 1000;

fn config(segments: u32) -> Config {
    Config { recovery: Recovery::Rack, initial_window: segments, proportional_reduction: false, ..plain() }
}

fn established(segments: u32) -> Wire {
    Wire::new(&config(segments), &config(segments), DELAY).established()
}

/// (milliseconds, segment number) of everything that the client sent after `start`.
fn later(wire: &Wire, start: Time) -> Vec<(u64, u64)> {
    let sent = wire.data(Side::Client).into_iter().map(|(at, seq, _)| ((at - start).as_ms(), (seq - 1) / MSS));
    sent.filter(|(at, _)| *at > 0).collect()
}

// === The tail (section 7) ===

#[test]
fn a_lost_last_segment_is_probed_after_two_round_trips() {
    let mut wire = established(10);
    let start = wire.now;
    wire.lose(&[9]);
    wire.write(Side::Client, 10 * MSS);
    wire.run();
    // Nine acknowledgements come at 100 ms and set the probe to 2 x SRTT later.
    assert_eq!(later(&wire, start), [(300, 9)]);
    let counters = wire.client.counters();
    assert_eq!((counters.tail_probes, counters.timeouts, counters.fast_recoveries), (1, 0, 0));
    // cwnd was full, and each of the ten acknowledgements has added a segment. That it was a loss, and not a lost
    // acknowledgement, shows with the next data: no DSACK has come. cwnd is halved then.
    assert_eq!((wire.client.window().cwnd, wire.client.window().ssthresh), (20 * MSS, u64::MAX));
    // Ten segments on their way when the acknowledgement of the first of them comes: nine are left, half of which is
    // the new threshold.
    wire.write(Side::Client, 10 * MSS);
    wire.run_until(wire.now + DELAY * 2);
    assert_eq!(wire.client.window().ssthresh, 4_500);
}

#[test]
fn a_probe_that_was_not_needed_costs_nothing() {
    let mut wire = established(10);
    let start = wire.now;
    // The last segment comes 250 ms late, after its probe: the receiver reports a duplicate.
    wire.set_script(
        |side, number, _| {
            if (side, number) == (Side::Client, 9) { Fate::Late(Time::from_ms(310)) } else { Fate::Deliver }
        },
    );
    wire.write(Side::Client, 10 * MSS);
    wire.run();
    assert_eq!(later(&wire, start), [(300, 9)]);
    wire.write(Side::Client, MSS);
    wire.run();
    assert_eq!(wire.client.window().ssthresh, u64::MAX);
    assert_eq!(wire.server.counters().duplicate_segments, 1);
}

#[test]
fn a_single_segment_waits_for_a_delayed_acknowledgement_too() {
    let config = Config { delayed_ack: Some(Time::from_ms(40)), quick_acks: 0, ..config(10) };
    let mut wire = Wire::new(&config, &config, DELAY).established();
    let start = wire.now;
    wire.lose(&[0]);
    wire.write(Side::Client, MSS);
    wire.run();
    // 2 x SRTT + max_ack_delay, which Linux takes to be its smallest RTO: 100 x 2 + 200 ms. The retransmission timer is
    // due after 100 + 200 ms, and no probe comes later than that (RFC 8985, section 7.2).
    assert_eq!(later(&wire, start), [(300, 0)]);
    assert_eq!((wire.client.counters().tail_probes, wire.client.counters().timeouts), (1, 0));
}

#[test]
fn a_lost_tail_is_repaired_without_a_timeout() {
    let mut wire = established(10);
    let start = wire.now;
    wire.lose(&[7, 8, 9]);
    wire.write(Side::Client, 10 * MSS);
    wire.run();
    // The probe's SACK shows that 7 and 8, sent long before it, are lost.
    assert_eq!(later(&wire, start), [(300, 9), (400, 7), (400, 8)]);
    let counters = wire.client.counters();
    assert_eq!((counters.timeouts, counters.fast_recoveries), (0, 1));
}

#[test]
fn new_data_is_the_better_probe() {
    let mut wire = established(2);
    let start = wire.now;
    wire.lose(&[0, 1]);
    wire.write(Side::Client, 5 * MSS);
    wire.run();
    // The window holds 2 to 4 back; the probe is 2 all the same. Its SACK tells of 0 and 1; the window is two segments
    // (the least).
    assert_eq!(later(&wire, start)[..3], [(200, 2), (300, 0), (300, 1)]);
    assert_eq!(wire.client.counters().timeouts, 0);
    assert_eq!(wire.server.received(), 5 * MSS);
}

#[test]
fn a_lost_probe_leaves_the_rest_to_the_timer() {
    let mut wire = established(10);
    let start = wire.now;
    wire.lose(&[0, 1]);
    wire.write(Side::Client, MSS);
    wire.run();
    // The timer runs anew from the probe: SRTT + 4 RTTVAR = 100 + 4 x 50 ms after the handshake's round trip.
    assert_eq!(later(&wire, start), [(200, 0), (500, 0)]);
    assert_eq!((wire.client.counters().tail_probes, wire.client.counters().timeouts), (1, 1));
}

#[test]
fn no_second_probe_without_a_round_trip_between() {
    // Every transmission of the first segment is lost for two seconds: one probe, then only the timer with its
    // back-off.
    let mut wire = established(10);
    let start = wire.now;
    wire.set_script(move |side, number, _| if side == Side::Client && number < 4 { Fate::Drop } else { Fate::Deliver });
    wire.write(Side::Client, MSS);
    wire.run();
    assert_eq!(later(&wire, start), [(200, 0), (500, 0), (1100, 0), (2300, 0)]);
}

// === By time (section 6) ===

#[test]
fn a_lost_retransmission_is_found_by_what_was_sent_after_it() {
    let losses = |recovery| {
        let config = Config { recovery, ..config(10) };
        let mut wire = Wire::new(&config, &config, DELAY).established();
        let start = wire.now;
        // The first segment, and its retransmission: the thirteenth segment sent, after two new ones by limited
        // transmit.
        let mut times = 0;
        wire.set_script(move |side, _, segment| {
            let first = side == Side::Client && segment.seq == 1 && segment.len > 0;
            times += u64::from(first);
            if first && times <= 2 { Fate::Drop } else { Fate::Deliver }
        });
        wire.write(Side::Client, 60 * MSS);
        wire.run();
        let firsts: Vec<u64> = later(&wire, start).iter().filter(|(_, n)| *n == 0).map(|(at, _)| *at).collect();
        (firsts, wire.client.counters().timeouts)
    };
    // New data sent with the retransmission at 100 ms is SACKed at 200 ms.
    assert_eq!(losses(Recovery::Rack), (vec![100, 200], 0));
    let (firsts, timeouts) = losses(Recovery::Rfc6675);
    assert!(firsts[1] > 300 && timeouts == 1, "{firsts:?}");
}

/// A sender with ten segments outstanding since 100 ms, that is handed acknowledgements directly.
fn sender(bytes: u64) -> (Endpoint, Output) {
    let (mut endpoint, mut out) = (Endpoint::connect(&config(10)), Output::default());
    endpoint.open(Time::ZERO, &mut out);
    let mut syn = Segment::new(Flags::SYN | Flags::ACK | Flags::SACK_PERMITTED, 0, 1);
    (syn.window, syn.mss, syn.window_scale) = (65_535, MSS as u16, 7);
    endpoint.on_segment(Time::from_ms(100), &syn, &mut out);
    endpoint.write(Time::from_ms(100), bytes, true, &mut out).unwrap();
    out.clear();
    (endpoint, out)
}

fn at(n: u64) -> u64 {
    1 + MSS * n
}

fn ack(position: u64, blocks: &[(u64, u64)]) -> Segment {
    let mut segment = Segment::new(Flags::ACK, 1, position);
    segment.window = 1_000_000;
    for (start, end) in blocks {
        segment.push_sack(*start, *end);
    }
    segment
}

/// Segment numbers below ten that are in `out`.
fn again(out: &Output) -> Vec<u64> {
    out.segments.iter().map(|segment| (segment.seq - 1) / MSS).filter(|n| *n < 10).collect()
}

#[test]
fn a_late_segment_has_a_quarter_of_the_least_round_trip() {
    let (mut endpoint, mut out) = sender(100 * MSS);
    endpoint.on_segment(Time::from_ms(200), &ack(1, &[(at(1), at(2))]), &mut out);
    // RACK.rtt is 100 ms, the window 25 ms: the first segment is due by 225 ms.
    assert_eq!(endpoint.deadline(), Time::from_ms(225));
    // Another, that took 104 ms: 229 ms.
    endpoint.on_segment(Time::from_ms(204), &ack(1, &[(at(1), at(3))]), &mut out);
    assert_eq!(endpoint.deadline(), Time::from_ms(229));
    assert!(again(&out).is_empty());
    endpoint.on_timer(Time::from_ms(229), &mut out);
    assert_eq!(again(&out), [0]);
    assert!(endpoint.in_recovery());
}

#[test]
fn three_segments_above_it_are_enough_while_nothing_was_reordered() {
    let (mut endpoint, mut out) = sender(100 * MSS);
    endpoint.on_segment(Time::from_ms(200), &ack(1, &[(at(1), at(3))]), &mut out);
    assert!(again(&out).is_empty());
    endpoint.on_segment(Time::from_ms(201), &ack(1, &[(at(1), at(4))]), &mut out);
    assert_eq!(again(&out), [0]);
}

#[test]
fn once_reordering_is_seen_only_time_counts() {
    let (mut endpoint, mut out) = sender(100 * MSS);
    endpoint.on_segment(Time::from_ms(200), &ack(1, &[(at(1), at(2))]), &mut out);
    // The first comes after all: reordering.
    endpoint.on_segment(Time::from_ms(210), &ack(at(2), &[]), &mut out);
    // Five segments above the third: not lost before its time, 100 + 111 + 25 ms.
    endpoint.on_segment(Time::from_ms(211), &ack(at(2), &[(at(3), at(8))]), &mut out);
    assert!(again(&out).is_empty() && !endpoint.in_recovery());
    assert_eq!(endpoint.deadline(), Time::from_ms(236));
    endpoint.on_timer(Time::from_ms(236), &mut out);
    assert_eq!(again(&out), [2]);
}

#[test]
fn the_order_within_one_acknowledgement_is_no_reordering() {
    let (mut endpoint, mut out) = sender(100 * MSS);
    // Acknowledgements were lost; one tells of 0 to 2, and of 4.
    endpoint.on_segment(Time::from_ms(200), &ack(at(3), &[(at(4), at(5))]), &mut out);
    // So three segments above 3 are still enough.
    endpoint.on_segment(Time::from_ms(201), &ack(at(3), &[(at(4), at(7))]), &mut out);
    assert_eq!(again(&out), [3]);
}

#[test]
fn duplicates_that_the_receiver_reports_widen_the_window_once_a_round_trip() {
    let (mut endpoint, mut out) = sender(100 * MSS);
    // Reordering seen, as above.
    endpoint.on_segment(Time::from_ms(200), &ack(1, &[(at(1), at(2))]), &mut out);
    endpoint.on_segment(Time::from_ms(210), &ack(at(2), &[]), &mut out);
    // Three DSACKs in the same round trip: (1 + 1) x 25 ms; the segment after the gap took 112 ms.
    for _ in 0..3 {
        endpoint.on_segment(Time::from_ms(211), &ack(at(2), &[(at(0), at(1))]), &mut out);
    }
    endpoint.on_segment(Time::from_ms(212), &ack(at(2), &[(at(3), at(4))]), &mut out);
    assert_eq!(endpoint.deadline(), Time::from_ms(100 + 112 + 50));
}

#[test]
fn it_learns_to_stand_reordering_that_duplicates_cannot() {
    // Every 40th segment is overtaken by 40 ms: two fifths of the round trip.
    let run = |recovery| {
        let config = Config { recovery, timestamps: true, receive_buffer: units::Bytes::new(60_000), ..config(10) };
        let mut wire = Wire::new(&config, &config, DELAY).bottleneck(units::BitRate::from_mbps(20), 1000);
        wire.keep_log = false;
        wire.set_script(|side, number, _| {
            let late = side == Side::Client && number % 40 == 39;
            if late { Fate::Late(Time::from_ms(40)) } else { Fate::Deliver }
        });
        wire.with(Side::Client, Endpoint::open);
        wire.write(Side::Client, 20_000 * MSS);
        wire.run();
        (wire.client.counters().retransmissions, wire.now.as_secs_f64())
    };
    let ((few, fast), (many, slow)) = (run(Recovery::Rack), run(Recovery::Rfc6675));
    // One for each step of the window up to 50 ms, until 16 recoveries without a duplicate have made it forget.
    assert!(few <= 10 && many > 100, "{few} {many}");
    assert!(fast < 0.6 * slow, "{fast} {slow}");
}

#[test]
fn the_timer_marks_what_is_overdue() {
    // All ten are lost, and the probe: the timer finds all overdue, and slow start sends them again.
    let mut wire = established(10);
    let start = wire.now;
    wire.lose(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    wire.write(Side::Client, 10 * MSS);
    wire.run();
    let expected =
        [(200, 9), (500, 0), (600, 1), (600, 2), (700, 3), (700, 4), (700, 5), (700, 6), (800, 7), (800, 8), (800, 9)];
    assert_eq!(later(&wire, start), expected);
}

/// TLP_process_ack (RFC 8985, section 7.4.2): a duplicate without data and SACK blocks says that the original and the
/// probe have arrived. One that carries data says nothing: the next acknowledgement beyond the probe tells of a loss.
#[test]
fn data_of_the_peer_does_not_speak_for_a_probe() {
    for (len, ssthresh) in [(0, u64::MAX), (1000, 2 * MSS)] {
        let (mut endpoint, mut out) = sender(MSS);
        endpoint.on_timer(endpoint.deadline(), &mut out);
        assert_eq!((again(&out), endpoint.counters().tail_probes), (vec![0], 1));
        endpoint.on_segment(Time::from_ms(400), &ack(at(1), &[]), &mut out);
        let mut duplicate = ack(at(1), &[]);
        duplicate.len = len;
        endpoint.on_segment(Time::from_ms(401), &duplicate, &mut out);
        endpoint.write(Time::from_ms(402), MSS, true, &mut out).unwrap();
        let mut next = ack(at(2), &[]);
        next.seq += u64::from(len);
        endpoint.on_segment(Time::from_ms(502), &next, &mut out);
        // A segment was outstanding: the least threshold is two.
        assert_eq!(endpoint.window().ssthresh, ssthresh, "{len} bytes");
    }
}

/// After a timeout cwnd is one segment. Where a segment just sent fills it, the lost one goes all the same.
#[test]
fn a_timeout_retransmits_whatever_is_still_believed_in_flight() {
    let (mut endpoint, mut out) = sender(MSS);
    // RACK.rtt is 100 ms: what is younger is not overdue.
    endpoint.on_segment(Time::from_ms(200), &ack(at(1), &[]), &mut out);
    endpoint.write(Time::from_ms(200), MSS, true, &mut out).unwrap();
    // The probe, and then the timer.
    endpoint.on_timer(endpoint.deadline(), &mut out);
    let expiry = endpoint.deadline();
    endpoint.write(expiry - Time::from_ms(1), MSS, true, &mut out).unwrap();
    assert_eq!(endpoint.deadline(), expiry);
    out.clear();
    endpoint.on_timer(expiry, &mut out);
    assert_eq!((endpoint.counters().timeouts, again(&out)), (1, vec![1]));
}
