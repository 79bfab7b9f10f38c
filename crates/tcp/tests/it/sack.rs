//! Selective acknowledgement: what the receiver reports (RFC 2018, RFC 2883), how the sender recovers (RFC 6675, RFC
//! 6937).

use crate::support::{Fate, Side, Wire, plain};
use tcp::{Config, Endpoint, Flags, Output, Recovery, Segment};
use units::Time;

const DELAY: Time = Time::from_ms(50);
const MSS: u64 = 1000;

/// An open connection with a window of `segments`.
fn established(segments: u32) -> Wire {
    let config = Config { initial_window: segments, proportional_reduction: false, ..plain() };
    Wire::new(&config, &config, DELAY).established()
}

/// Position of the segment number `n` of the stream.
fn at(n: u64) -> u64 {
    1 + MSS * n
}

/// (milliseconds, segment number) of everything that the client sent from `start` on.
fn sent(wire: &Wire, start: Time) -> Vec<(u64, u64)> {
    wire.data(Side::Client).iter().map(|(time, seq, _)| ((*time - start).as_ms(), (seq - 1) / MSS)).collect()
}

// === Sender: RFC 6675 ===

#[test]
fn one_loss_is_repaired_in_one_round_trip() {
    let mut wire = established(10);
    let start = wire.now;
    wire.lose(&[2]);
    wire.write(Side::Client, 10 * MSS);
    wire.run();
    // The third duplicate acknowledgement comes with those of the first two, one round trip after the flight.
    let expected: Vec<_> = (0..10).map(|n| (0, n)).chain([(100, 2)]).collect();
    assert_eq!(sent(&wire, start), expected);
    let counters = wire.client.counters();
    assert_eq!((counters.fast_recoveries, counters.retransmissions, counters.timeouts), (1, 1, 0));
    assert_eq!(counters.recovery_time, DELAY * 2);
    // Ten segments and the two that slow start had added: FlightSize is what was outstanding, eight.
    assert_eq!(wire.client.window().ssthresh, 4 * MSS);
    assert_eq!(wire.client.window().cwnd, 4 * MSS);
}

#[test]
fn pipe_clocks_out_new_data_during_recovery() {
    let mut wire = established(10);
    let start = wire.now;
    wire.lose(&[0]);
    wire.write(Side::Client, 100 * MSS);
    wire.run_until(start + DELAY * 2);
    // Nine duplicates: the first two release one new segment each (limited transmit: pipe 9, then 8, of 10), the third
    // cuts the window to 5 and retransmits. Then pipe = 12 outstanding - 9 SACKed - 1 lost + 1 retransmitted = 3: two
    // more go.
    let expected: Vec<_> =
        (0..10).map(|n| (0, n)).chain([(100, 10), (100, 11), (100, 0), (100, 12), (100, 13)]).collect();
    assert_eq!(sent(&wire, start), expected);
    assert_eq!((wire.client.pipe(), wire.client.window().cwnd), (5 * MSS, 5 * MSS));
    assert!(wire.client.in_recovery());
    wire.run();
    assert_eq!(wire.server.received(), 100 * MSS);
    assert_eq!(wire.client.counters().retransmissions, 1);
}

#[test]
fn several_losses_are_repaired_in_the_same_round_trip() {
    let mut wire = established(16);
    let start = wire.now;
    wire.lose(&[1, 4, 5, 9]);
    wire.write(Side::Client, 16 * MSS);
    wire.run();
    let again: Vec<_> = sent(&wire, start).into_iter().filter(|(time, _)| *time > 0).collect();
    assert_eq!(again, [(100, 1), (100, 4), (100, 5), (100, 9)]);
    assert_eq!(wire.client.counters().fast_recoveries, 1);
    assert_eq!(wire.now, start + DELAY * 4);
}

#[test]
fn a_lost_retransmission_waits_for_the_timer() {
    let mut wire = established(10);
    wire.lose(&[0, 10]);
    wire.write(Side::Client, 10 * MSS);
    wire.run();
    let counters = wire.client.counters();
    assert_eq!((counters.fast_recoveries, counters.timeouts, counters.retransmissions), (1, 1, 2));
    assert_eq!(wire.server.received(), 10 * MSS);
}

#[test]
fn what_was_sacked_is_not_sent_again_after_a_timeout() {
    let mut wire = established(10);
    let start = wire.now;
    // The first, its retransmission, and the last are lost.
    wire.lose(&[0, 9, 10]);
    wire.write(Side::Client, 10 * MSS);
    wire.run();
    let again: Vec<_> = sent(&wire, start).into_iter().skip(10).map(|(_, n)| n).collect();
    // 0 by fast retransmit, 0 by the timer, and 9; not what lies between.
    assert_eq!(again, [0, 0, 9]);
}

#[test]
fn rescue_retransmission_of_a_lost_tail() {
    let mut wire = established(10);
    let start = wire.now;
    // Nothing above the last segment can be SACKed, so nothing tells that it was lost.
    wire.lose(&[4, 9]);
    wire.write(Side::Client, 10 * MSS);
    wire.run();
    let again: Vec<_> = sent(&wire, start).into_iter().skip(10).collect();
    // Not before the first retransmission is acknowledged (step 4.3).
    assert_eq!(again, [(100, 4), (200, 9)]);
    assert_eq!(wire.client.counters().timeouts, 0);
}

#[test]
fn hole_not_yet_lost_is_filled_when_there_is_nothing_new() {
    let mut wire = established(10);
    let start = wire.now;
    // Above segment 7 only 8 and 9 are SACKed: not lost by IsLost (more than two segments, or three ranges), but rule
    // 3.
    wire.lose(&[2, 7]);
    wire.write(Side::Client, 10 * MSS);
    wire.run();
    let again: Vec<_> = sent(&wire, start).into_iter().skip(10).collect();
    assert_eq!(again, [(100, 2), (100, 7)]);
    assert_eq!(wire.client.counters().timeouts, 0);
}

/// A sender that is handed acknowledgements directly.
fn sender(segments: u32, bytes: u64) -> (Endpoint, Output) {
    sender_with(&Config { initial_window: segments, ..plain() }, bytes)
}

fn sender_with(config: &Config, bytes: u64) -> (Endpoint, Output) {
    let (mut endpoint, mut out) = (Endpoint::connect(config), Output::default());
    endpoint.open(Time::ZERO, &mut out);
    let mut syn = Segment::new(Flags::SYN | Flags::ACK | Flags::SACK_PERMITTED, 0, 1);
    (syn.window, syn.mss, syn.window_scale) = (65_535, MSS as u16, 7);
    endpoint.on_segment(DELAY * 2, &syn, &mut out);
    out.clear();
    endpoint.write(DELAY * 2, bytes, true, &mut out).unwrap();
    (endpoint, out)
}

fn ack(position: u64, blocks: &[(u64, u64)]) -> Segment {
    let mut segment = Segment::new(Flags::ACK, 1, position);
    segment.window = 1_000_000;
    for (start, end) in blocks {
        segment.push_sack(*start, *end);
    }
    segment
}

#[test]
fn one_acknowledgement_can_tell_enough() {
    // Two acknowledgements were lost: the first that comes SACKs more than two segments (IsLost by bytes).
    let (mut endpoint, mut out) = sender(10, 10 * MSS);
    out.clear();
    endpoint.on_segment(Time::from_ms(200), &ack(1, &[(at(1), at(4))]), &mut out);
    assert!(endpoint.in_recovery());
    assert_eq!(out.segments[0].seq, 1);
    // Two segments are not enough.
    let (mut endpoint, mut out) = sender(10, 10 * MSS);
    out.clear();
    endpoint.on_segment(Time::from_ms(200), &ack(1, &[(at(1), at(3))]), &mut out);
    assert!(!endpoint.in_recovery() && out.segments.is_empty());
    // Three separate ranges are, however small.
    let blocks = [(at(2), at(2) + 10), (at(4), at(4) + 10), (at(6), at(6) + 10)];
    let (mut endpoint, mut out) = sender(10, 10 * MSS);
    out.clear();
    endpoint.on_segment(Time::from_ms(200), &ack(1, &blocks), &mut out);
    assert!(endpoint.in_recovery());
}

#[test]
fn the_same_blocks_again_are_no_duplicate_acknowledgement() {
    let (mut endpoint, mut out) = sender(10, 10 * MSS);
    out.clear();
    for _ in 0..5 {
        endpoint.on_segment(Time::from_ms(200), &ack(1, &[(at(3), at(4))]), &mut out);
    }
    assert!(!endpoint.in_recovery());
    assert_eq!(endpoint.counters().duplicate_acks, 1);
}

#[test]
fn reneging_forgets_what_was_sacked() {
    let (mut endpoint, mut out) = sender(10, 10 * MSS);
    // Everything but the first is SACKed, then the first is acknowledged and nothing of the rest.
    endpoint.on_segment(Time::from_ms(200), &ack(1, &[(at(1), at(10))]), &mut out);
    endpoint.on_segment(Time::from_ms(210), &ack(at(1), &[]), &mut out);
    assert_eq!(endpoint.pipe(), 0);
    out.clear();
    let deadline = endpoint.deadline();
    endpoint.on_timer(deadline, &mut out);
    assert_eq!(out.segments.len(), 1);
    assert_eq!((out.segments[0].seq, endpoint.pipe(), endpoint.outstanding()), (at(1), MSS, 9 * MSS));
}

#[test]
fn no_second_recovery_before_the_timeout_is_repaired() {
    let mut wire = established(10);
    // Limited transmit sends 10 and 11; the retransmission of 0 is lost too. What arrives during the timeout's repair
    // brings duplicates enough for another recovery.
    wire.lose(&[0, 1, 12]);
    wire.write(Side::Client, 30 * MSS);
    wire.run();
    assert_eq!(wire.client.counters().timeouts, 1);
    assert_eq!(wire.client.counters().fast_recoveries, 1);
    assert_eq!(wire.server.received(), 30 * MSS);
}

#[test]
fn without_limited_transmit_the_first_duplicates_release_nothing() {
    let config = Config { initial_window: 10, limited_transmit: false, proportional_reduction: false, ..plain() };
    let mut wire = Wire::new(&config, &config, DELAY).established();
    let start = wire.now;
    wire.lose(&[0]);
    wire.write(Side::Client, 100 * MSS);
    wire.run_until(start + DELAY * 2);
    // 10 outstanding - 9 SACKed - 1 lost + 1 retransmitted = 1 of 5.
    let again: Vec<_> = sent(&wire, start).into_iter().skip(10).map(|(_, n)| n).collect();
    assert_eq!(again, [0, 10, 11, 12, 13]);
}

// === Proportional rate reduction: RFC 6937 ===

#[test]
fn the_window_goes_down_in_step_with_what_is_delivered() {
    // Twenty outstanding, the first lost: nineteen SACKs, one segment each.
    let (mut endpoint, mut out) = sender(20, 100 * MSS);
    let (mut delivered, mut sent, mut recover_flight) = (0, 0, 0);
    for n in 1..20 {
        out.clear();
        endpoint.on_segment(Time::from_ms(200), &ack(1, &[(at(1), at(n + 1))]), &mut out);
        let bytes: u64 = out.segments.iter().map(|segment| u64::from(segment.len)).sum();
        if n < 3 {
            assert_eq!(bytes, MSS, "limited transmit");
            continue;
        }
        if n == 3 {
            // Less the two that were SACKed before (RFC 9937, section 6.1; RFC 6937 had counted them).
            recover_flight = 20 * MSS;
            assert_eq!(endpoint.window().ssthresh, 10 * MSS);
        }
        delivered += MSS;
        let pipe = endpoint.pipe() - bytes;
        let allowed = if pipe > 10 * MSS {
            // CEIL(prr_delivered * ssthresh / RecoverFS) - prr_out, a part of a segment as a whole one (Linux).
            let due = (delivered * 10 * MSS).div_ceil(recover_flight);
            (due.div_ceil(MSS) * MSS).saturating_sub(sent)
        } else {
            // Slow start reduction bound.
            (10 * MSS - pipe).min((delivered - sent).max(MSS) + MSS)
        };
        // Whole segments of it go; the first retransmission goes whatever is allowed.
        let first = if n == 3 { MSS } else { 0 };
        assert_eq!(bytes, (allowed / MSS * MSS).max(first), "after {n}");
        sent += bytes;
    }
    // Down to the threshold at the end of the round trip, without a pause and without a burst.
    assert!(endpoint.pipe().abs_diff(10 * MSS) <= MSS, "{}", endpoint.pipe());
    out.clear();
    endpoint.on_segment(Time::from_ms(300), &ack(endpoint.sent() + 1, &[]), &mut out);
    // The acknowledgement that ends the recovery delivers a window: one segment more (`tests/exchanges`, Linux 6.18).
    assert_eq!((endpoint.in_recovery(), endpoint.window().cwnd), (false, 11 * MSS));
}

#[test]
fn after_heavy_losses_the_window_grows_back_without_a_burst() {
    // Of forty segments only the last ten arrive, in one acknowledgement: pipe falls far below the threshold of twenty.
    let (mut endpoint, mut out) = sender(40, 200 * MSS);
    out.clear();
    endpoint.on_segment(Time::from_ms(200), &ack(1, &[(at(30), at(40))]), &mut out);
    // PRR-SSRB: what was delivered and one segment more, beside none; RFC 6675 alone would send twenty.
    let bytes: u64 = out.segments.iter().map(|segment| u64::from(segment.len)).sum();
    assert!((10 * MSS..=11 * MSS).contains(&bytes), "{bytes}");
    let config = Config { initial_window: 40, proportional_reduction: false, ..plain() };
    let (mut endpoint, mut out) = sender_with(&config, 200 * MSS);
    out.clear();
    endpoint.on_segment(Time::from_ms(200), &ack(1, &[(at(30), at(40))]), &mut out);
    assert_eq!(out.segments.len(), 20);
}

/// Of twenty segments the first four are lost; what each duplicate acknowledgement from the third on sends, by segment
/// number.
fn sent_after_four_losses(recovery: Recovery) -> (Vec<Vec<u64>>, Endpoint, Output) {
    let config =
        Config { initial_window: 20, limited_transmit: false, proportional_reduction: false, recovery, ..plain() };
    let (mut endpoint, mut out) = sender_with(&config, 200 * MSS);
    let mut sent = Vec::new();
    for n in 4..20 {
        out.clear();
        endpoint.on_segment(Time::from_ms(200), &ack(1, &[(at(4), at(n + 1))]), &mut out);
        sent.push(out.segments.iter().map(|segment| (segment.seq - 1) / MSS).collect());
    }
    (sent, endpoint, out)
}

#[test]
fn fall_and_floyds_pipe_keeps_what_is_lost_until_its_retransmission_is_acknowledged() {
    // The window is 10. RFC 6675: pipe is 20 - 3 SACKed - 4 lost + 1 retransmitted = 14 at the third duplicate; the
    // fifth after it finds room.
    let (sent, ..) = sent_after_four_losses(Recovery::Rfc6675);
    let expected: Vec<Vec<u64>> = [vec![], vec![], vec![0], vec![], vec![], vec![], vec![]]
        .into_iter()
        .chain([1, 2, 3].map(|n| vec![n]))
        .collect();
    assert_eq!(sent[..10], expected);
    assert_eq!(sent[10..], (20..26).map(|n| vec![n]).collect::<Vec<_>>());

    // Fall and Floyd: 20 - 3 = 17, the first retransmission not counted; the eighth after it finds room.
    let (sent, mut endpoint, mut out) = sent_after_four_losses(Recovery::FallFloyd);
    let expected: Vec<Vec<u64>> = [vec![], vec![], vec![0]]
        .into_iter()
        .chain(vec![vec![]; 7])
        .chain([1, 2, 3, 20, 21, 22].map(|n| vec![n]))
        .collect();
    assert_eq!(sent, expected);
    assert_eq!(endpoint.pipe(), 10 * MSS);
    // A partial acknowledgement takes two out: two new segments.
    out.clear();
    endpoint.on_segment(Time::from_ms(300), &ack(at(1), &[(at(4), at(20))]), &mut out);
    let new: Vec<u64> = out.segments.iter().map(|segment| (segment.seq - 1) / MSS).collect();
    assert_eq!(new, [23, 24]);
}

// === Receiver: RFC 2018 and RFC 2883 ===

/// A receiver that is handed segments directly; returns the SACK blocks of its answer, by segment number.
struct Receiver(Endpoint, Output);

impl Receiver {
    fn new(config: &Config, options: Flags) -> Self {
        let mut out = Output::default();
        let mut endpoint = Endpoint::listen(config);
        let mut syn = Segment::new(Flags::SYN | options, 0, 0);
        syn.mss = MSS as u16;
        endpoint.on_segment(Time::ZERO, &syn, &mut out);
        endpoint.on_segment(Time::ZERO, &Segment::new(Flags::ACK | options, 1, 1), &mut out);
        Self(endpoint, out)
    }
    fn data(&mut self, n: u64) -> (u64, Vec<(u64, u64)>) {
        let mut segment = Segment::new(Flags::ACK, at(n), 1);
        segment.len = MSS as u32;
        self.1.clear();
        self.0.on_segment(Time::from_ms(n), &segment, &mut self.1);
        let [answer] = self.1.segments[..] else { panic!("one acknowledgement, not {:?}", self.1) };
        let number = |position: u64| (position - 1) / MSS;
        (number(answer.ack), answer.sack_blocks().map(|(start, end)| (number(start), number(end))).collect())
    }
}

#[test]
fn blocks_come_most_recent_first() {
    let mut receiver = Receiver::new(&plain(), Flags::SACK_PERMITTED);
    assert_eq!(receiver.data(0), (1, vec![]));
    assert_eq!(receiver.data(2), (1, vec![(2, 3)]));
    assert_eq!(receiver.data(4), (1, vec![(4, 5), (2, 3)]));
    assert_eq!(receiver.data(6), (1, vec![(6, 7), (4, 5), (2, 3)]));
    // A range grows: it is the most recent one now.
    assert_eq!(receiver.data(3), (1, vec![(2, 5), (6, 7)]));
    assert_eq!(receiver.data(8), (1, vec![(8, 9), (2, 5), (6, 7)]));
    assert_eq!(receiver.data(10), (1, vec![(10, 11), (8, 9), (2, 5), (6, 7)]));
    // Four fit; the one not touched for longest gives way.
    assert_eq!(receiver.data(12), (1, vec![(12, 13), (10, 11), (8, 9), (2, 5)]));
    // The hole closes, the ranges above stay.
    assert_eq!(receiver.data(1), (5, vec![(12, 13), (10, 11), (8, 9), (6, 7)]));
}

#[test]
fn beside_timestamps_three_blocks_fit() {
    let config = Config { timestamps: true, count_options: true, ..plain() };
    let mut receiver = Receiver::new(&config, Flags::SACK_PERMITTED | Flags::TIMESTAMPS);
    receiver.data(2);
    receiver.data(4);
    receiver.data(6);
    assert_eq!(receiver.data(8).1, [(8, 9), (6, 7), (4, 5)]);
    // 20 + 20 + 12 + 4 + 3 x 8.
    assert_eq!(receiver.1.segments[0].header_bytes(), 80);
}

/// Blocks that ride along come out of the payload (RFC 6691): 4 bytes, and 8 for each block.
#[test]
fn data_beside_blocks_is_shorter_by_these() {
    let payload = |arrivals: &[u64], in_order: u64| {
        let mut receiver = Receiver::new(&Config { count_options: true, ..plain() }, Flags::SACK_PERMITTED);
        for number in arrivals {
            receiver.data(*number);
        }
        let Receiver(endpoint, out) = &mut receiver;
        let mut update = Segment::new(Flags::ACK, at(in_order), 1);
        update.window = 60_000;
        endpoint.on_segment(Time::from_ms(100), &update, out);
        out.clear();
        endpoint.write(Time::from_ms(100), 5000, true, out).unwrap();
        out.segments[0].len
    };
    assert_eq!([payload(&[0], 1), payload(&[0, 2], 1), payload(&[0, 2, 4], 1)], [1000, 988, 980]);
}

#[test]
fn a_duplicate_is_reported_first() {
    let mut receiver = Receiver::new(&plain(), Flags::SACK_PERMITTED);
    receiver.data(0);
    // Below the acknowledgement (RFC 2883, section 4.1), and inside a range already held (section 4.2).
    assert_eq!(receiver.data(0), (1, vec![(0, 1)]));
    receiver.data(2);
    receiver.data(3);
    assert_eq!(receiver.data(2), (1, vec![(2, 3), (2, 4)]));
    assert_eq!(receiver.0.counters().duplicate_segments, 2);
}

#[test]
fn without_permission_no_blocks() {
    let mut receiver = Receiver::new(&plain(), Flags::NONE);
    receiver.data(0);
    assert_eq!(receiver.data(2), (1, vec![]));
    let mut receiver = Receiver::new(&Config { sack: false, ..plain() }, Flags::SACK_PERMITTED);
    assert_eq!(receiver.data(2), (0, vec![]));
}

#[test]
fn reordering_within_the_threshold_costs_nothing() {
    let mut wire = established(10);
    // One segment is overtaken by two.
    wire.set_script(
        |side, number, _| {
            if side == Side::Client && number == 3 { Fate::Late(Time::from_us(1)) } else { Fate::Deliver }
        },
    );
    wire.rate = Some(units::BitRate::from_gbps(16));
    wire.write(Side::Client, 100 * MSS);
    wire.run();
    assert_eq!(wire.client.counters().retransmissions, 0);
    assert!(wire.client.counters().duplicate_acks > 0);
}
