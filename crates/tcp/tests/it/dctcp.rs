//! DCTCP: the estimate and the cut against RFC 8257's formulas, the receiver's echo, and the queue against the analysis
//! of the paper.

use crate::support::control::{MSS, ack, window};
use crate::support::{Fate, Side, Wire, plain};
use tcp::control::{Control, ControlKind, Dctcp, Window};
use tcp::{Config, Endpoint, Flags, Output, Segment};
use units::{BitRate, Time};

const SMSS: u64 = MSS as u64;

#[test]
fn alpha_follows_the_share_of_marked_bytes() {
    // Twenty segments are always outstanding, so an acknowledgement of more than the twenty sent by the end of the last
    // window is the 21st since. The first of all ends the window that began with the connection.
    let marked = |n: u64| n % 5 == 1 || (100..150).contains(&n) || n.is_multiple_of(7) && n < 400;
    let (mut dctcp, mut alpha) = (Dctcp::default(), 1.0);
    assert_eq!(dctcp.alpha(), alpha);
    for n in 0..1000 {
        let una = 1 + (n + 1) * SMSS;
        dctcp.on_marks(SMSS, marked(n), una, una + 20 * SMSS);
        if n % 21 == 0 {
            let window = n.saturating_sub(20)..=n;
            let share = window.clone().filter(|n| marked(*n)).count() as f64 / window.count() as f64;
            alpha = alpha * (1.0 - 1.0 / 16.0) + share / 16.0;
        }
        assert!((dctcp.alpha() - alpha).abs() < 1e-12, "{n}: {} {alpha}", dctcp.alpha());
    }
}

#[test]
fn the_cut_is_half_of_alpha() {
    let mut dctcp = Dctcp::default();
    for windows in 1..40 {
        // Nothing marked: alpha falls by a sixteenth a window.
        dctcp.on_marks(SMSS, false, 1 + windows * SMSS, 1 + windows * SMSS);
        let alpha = (15.0_f64 / 16.0).powi(windows as i32);
        let mut w = window(100, false);
        dctcp.on_echo(&mut w, Time::ZERO, 100 * SMSS);
        let expected = 100.0 * (1.0 - alpha / 2.0);
        assert!((w.cwnd as f64 / f64::from(MSS) - expected).abs() < 0.002, "{} {expected}", w.cwnd);
        assert_eq!(w.ssthresh, w.cwnd);
    }
    let mut w = window(2, false);
    Dctcp::default().on_echo(&mut w, Time::ZERO, 2 * SMSS);
    assert_eq!(w.cwnd, 2 * SMSS);
}

#[test]
fn losses_and_growth_are_renos() {
    let (mut dctcp, mut w) = (Dctcp::default(), window(20, false));
    for windows in 1..100 {
        dctcp.on_marks(SMSS, false, 1 + windows * SMSS, 1 + windows * SMSS);
    }
    // However small alpha is.
    dctcp.on_loss(&mut w, Time::ZERO, 20 * SMSS);
    assert_eq!((w.cwnd, w.ssthresh), (10 * SMSS, 10 * SMSS));
    for _ in 0..10 {
        let it = ack(Time::ZERO, SMSS, &w);
        dctcp.on_ack(&mut w, &it);
    }
    assert_eq!(w.cwnd, 11 * SMSS);
    dctcp.on_timeout(&mut w, Time::ZERO, 11 * SMSS, false);
    assert_eq!((w.cwnd, w.ssthresh), (SMSS, 11 * SMSS / 2));
}

#[test]
fn it_counts_anew_after_an_echo() {
    // Linux, `tcp_enter_cwr`: nine of the ten segments that open the window are acknowledged when it is halved to five,
    // alpha being one. The fifth from then on opens it.
    let (mut dctcp, mut w) = (Dctcp::default(), window(10, false));
    let acknowledge = |dctcp: &mut Dctcp, w: &mut Window| {
        let it = ack(Time::ZERO, SMSS, w);
        dctcp.on_ack(w, &it);
        w.cwnd / SMSS
    };
    for _ in 0..9 {
        assert_eq!(acknowledge(&mut dctcp, &mut w), 10);
    }
    dctcp.on_echo(&mut w, Time::ZERO, 10 * SMSS);
    let cwnds: Vec<u64> = (0..5).map(|_| acknowledge(&mut dctcp, &mut w)).collect();
    assert_eq!(cwnds, [5, 5, 5, 5, 6]);
}

fn config() -> Config {
    Config { control: ControlKind::Dctcp, initial_window: 10, ..plain() }
}

#[test]
fn it_turns_ecn_on_and_its_syns_are_capable() {
    let mut wire = Wire::new(&config(), &config(), Time::from_ms(1));
    wire.with(Side::Client, Endpoint::open);
    wire.run();
    assert!(wire.client.ecn().is_some() && wire.server.ecn().is_some());
    // Section 3.6.
    assert!(wire.log[..2].iter().all(|sent| sent.segment.flags.contains(Flags::SYN | Flags::ECT)));
}

/// The acknowledgements (position, echo) that a receiver sends for a stream of segments with these marks, 1 ms apart.
fn echoes(marks: &[bool], delayed: Option<Time>) -> Vec<(u64, bool)> {
    let receiver = Config { delayed_ack: delayed, quick_acks: 0, ..config() };
    let (mut endpoint, mut out) = (Endpoint::listen(&receiver), Output::default());
    let mut syn = Segment::new(Flags::SYN | Flags::ECE | Flags::CWR, 0, 0);
    (syn.mss, syn.window) = (MSS as u16, 65_535);
    endpoint.on_segment(Time::ZERO, &syn, &mut out);
    out.clear();
    let mut now = Time::from_ms(1);
    for (n, marked) in (0..).zip(marks) {
        while endpoint.deadline() <= now {
            let at = endpoint.deadline();
            endpoint.on_timer(at, &mut out);
        }
        let mut data = Segment::new(Flags::ACK | Flags::ECT, 1 + n * SMSS, 1);
        (data.len, data.window) = (MSS, 65_535);
        if *marked {
            data.flags |= Flags::CE;
        }
        endpoint.on_segment(now, &data, &mut out);
        now += Time::from_ms(1);
    }
    endpoint.on_timer(now + Time::from_secs(1), &mut out);
    out.segments.iter().map(|ack| ((ack.ack - 1) / SMSS, ack.flags.contains(Flags::ECE))).collect()
}

#[test]
fn the_receiver_follows_the_two_states() {
    let bits = |text: &str| -> Vec<bool> { text.chars().map(|c| c == 'X').collect() };
    let slow = Some(Time::from_ms(100));
    // Without changes: every second segment.
    assert_eq!(echoes(&bits("......"), slow), [(2, false), (4, false), (6, false)]);
    assert_eq!(echoes(&bits("XXXX"), slow)[1..], [(3, true), (4, true)]);
    // A change with one segment waiting: an acknowledgement of that one as before, and one of the change.
    assert_eq!(echoes(&bits("...XX.."), slow), [(2, false), (3, false), (4, true), (5, true), (6, false), (7, false)]);
    // A change with none waiting.
    assert_eq!(echoes(&bits("..XXX..."), slow), [(2, false), (3, true), (5, true), (6, false), (8, false)]);
    // Every segment acknowledged: every acknowledgement carries its segment's mark.
    let marks = bits(".X..XXX.X");
    let expected: Vec<(u64, bool)> = (1..).zip(marks.iter().copied()).collect();
    assert_eq!(echoes(&marks, None), expected);
}

#[test]
fn the_sender_can_rebuild_every_mark() {
    // What makes the echo precise: each acknowledgement's flag is true of all the bytes that it acknowledges, delayed
    // or not.
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    for round in 0..200 {
        let marks: Vec<bool> = (0..50)
            .map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                state % 8 < round % 9
            })
            .collect();
        let delayed = (round % 2 == 0).then(|| Time::from_us(500 + 700 * (round % 5)));
        let mut rebuilt = Vec::new();
        for (position, echo) in echoes(&marks, delayed) {
            while (rebuilt.len() as u64) < position {
                rebuilt.push(echo);
            }
        }
        assert_eq!(rebuilt, marks);
    }
}

#[test]
fn one_flow_over_a_threshold_queue_swings_as_the_paper_says() {
    // Alizadeh et al. (SIGCOMM 2010), section 3.3: with W* = C x RTT + K, alpha = sqrt(2 / W*) for one flow, its window
    // swings by D = (W* + 1) alpha / 2, and the queue between K + 1 - D and K + 1. There a cut takes place at once. On
    // hosts it is spread, marks last for more than a round trip, and a second cut follows (`sim`'s fidelity page).
    let config = Config { proportional_reduction: false, ..config() };
    for (rate, rtt, k) in [(1000, 400, 40_usize), (1000, 800, 60), (100, 4000, 50)] {
        let rate = BitRate::from_mbps(rate);
        let mut wire = Wire::new(&config, &config, Time::from_us(rtt) / 2).bottleneck(rate, 1000).marking(k);
        wire.keep_log = false;
        wire.with(Side::Client, Endpoint::open);
        wire.write(Side::Client, 1 << 40);
        let packet = rate.transmission_time(units::Bytes::new(1040));
        let settle = (Time::from_us(rtt) + packet * k as u64) * 4000;
        wire.run_until(settle);
        let segment = packet.as_secs_f64();
        let product = Time::from_us(rtt).as_secs_f64() / segment + 1.0;
        let (mut least, mut most) = (u64::MAX, 0);
        let sent = wire.server.received();
        let span = packet * 40_000;
        while wire.now < settle + span {
            wire.run_until(wire.now + packet * 3);
            let cwnd = wire.client.window().cwnd;
            (least, most) = (least.min(cwnd), most.max(cwnd));
        }
        let critical = product + k as f64;
        let alpha = (2.0 / critical).sqrt();
        let swing = (critical + 1.0) * alpha / 2.0;
        let measured = (most - least) as f64 / 1000.0;
        let top = most as f64 / 1000.0;
        assert_eq!(wire.drops, 0);
        // The top overshoots by what grows in the round trip until the echo comes: the packet in transmission, and a
        // segment or two.
        assert!((top - critical).abs() < 4.0, "{rate} {rtt} {k}: top {top}, W* {critical}");
        assert!((measured / swing - 1.0).abs() < 0.25, "{rate} {rtt} {k}: swing {measured}, by the analysis {swing}");
        // K above C x RTT / 7 keeps the link busy (equation 13).
        let carried = (wire.server.received() - sent) as f64 / 1000.0 * segment / span.as_secs_f64();
        assert!(carried > 0.999, "{rate} {rtt} {k}: {carried}");
    }
}

#[test]
fn many_flows_of_marks_cost_less_than_losses() {
    // The same path for Reno by marks: it halves, DCTCP does not.
    let least = |control| {
        let config = Config { control, ecn: true, ..config() };
        let rate = BitRate::from_mbps(1000);
        let mut wire = Wire::new(&config, &config, Time::from_us(200)).bottleneck(rate, 1000).marking(40);
        wire.keep_log = false;
        wire.with(Side::Client, Endpoint::open);
        wire.write(Side::Client, 1 << 40);
        wire.run_until(Time::from_secs(2));
        let mut least = u64::MAX;
        while wire.now < Time::from_secs(3) {
            wire.run_until(wire.now + Time::from_us(50));
            least = least.min(wire.client.window().cwnd);
        }
        least
    };
    let (reno, dctcp) = (least(ControlKind::Reno), least(ControlKind::Dctcp));
    assert!(dctcp as f64 > 1.6 * reno as f64, "{dctcp} {reno}");
}

#[test]
fn an_overflow_is_answered_as_renos() {
    // Both at once: marks from 20 on, drops at 30, so that a burst of slow start loses.
    let mut wire = Wire::new(&config(), &config(), Time::from_ms(5)).bottleneck(BitRate::from_mbps(10), 30).marking(20);
    wire.with(Side::Client, Endpoint::open);
    wire.write(Side::Client, 3_000_000);
    wire.set_script(|side, number, _| if (side, number) == (Side::Client, 900) { Fate::Drop } else { Fate::Deliver });
    wire.run();
    assert_eq!(wire.server.received(), 3_000_000);
    assert!(wire.client.counters().fast_recoveries >= 1 && wire.client.counters().timeouts == 0);
}
