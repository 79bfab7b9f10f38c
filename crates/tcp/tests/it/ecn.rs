//! ECN by RFC 3168: negotiation, which segments are capable, the echo, the answer.

use crate::support::{Fate, Sent, Side, Wire, plain};
use tcp::control::ControlKind;
use tcp::{Config, EcnCounters, Endpoint, Flags};
use units::Time;

const DELAY: Time = Time::from_ms(10);
const MSS: u64 = 1000;

fn capable() -> Config {
    // RFC 3168 cuts the window at once.
    Config { ecn: true, initial_window: 10, proportional_reduction: false, ..plain() }
}

/// Those of ECE, CWR and ECT that are set.
fn bits(sent: &Sent) -> &'static str {
    let flags = sent.segment.flags;
    match (flags.contains(Flags::ECE), flags.contains(Flags::CWR), flags.contains(Flags::ECT)) {
        (false, false, false) => "",
        (true, false, false) => "ECE",
        (true, true, false) => "ECE CWR",
        (false, false, true) => "ECT",
        (false, true, true) => "CWR ECT",
        (true, _, true) => "ECE ECT",
        (false, true, false) => "CWR",
    }
}

#[test]
fn both_ends_must_want_it() {
    // Section 6.1.1: ECE and CWR on the SYN ask, ECE alone on the SYN-ACK grants.
    let off = Config { ecn: false, ..capable() };
    for (client, server, syn, answer) in
        [(capable(), capable(), "ECE CWR", "ECE"), (capable(), off, "ECE CWR", ""), (off, capable(), "", "")]
    {
        let mut wire = Wire::new(&client, &server, DELAY);
        wire.with(Side::Client, Endpoint::open);
        wire.write(Side::Client, 3 * MSS);
        wire.run();
        assert_eq!((bits(&wire.log[0]), bits(&wire.log[1])), (syn, answer));
        let on = client.ecn && server.ecn;
        assert_eq!((wire.client.ecn().is_some(), wire.server.ecn().is_some()), (on, on));
        for sent in wire.log.iter().skip(2) {
            assert_eq!(bits(sent), if on && sent.segment.len > 0 { "ECT" } else { "" });
        }
    }
}

#[test]
fn a_syn_that_reflects_both_bits_grants_nothing() {
    // Section 6.1.1.1: a broken host may send the SYN's reserved bits back as they are.
    use tcp::{Output, Segment};
    let (mut endpoint, mut out) = (Endpoint::connect(&capable()), Output::default());
    endpoint.open(Time::ZERO, &mut out);
    let mut reply = Segment::new(Flags::SYN | Flags::ACK | Flags::ECE | Flags::CWR, 0, 1);
    (reply.window, reply.mss) = (65_535, 1000);
    endpoint.on_segment(DELAY, &reply, &mut out);
    assert!(endpoint.ecn().is_none());
}

#[test]
fn the_echo_stays_until_the_sender_has_reduced() {
    let mut wire = Wire::new(&capable(), &capable(), DELAY).established();
    wire.mark(&[3]);
    let start = wire.now;
    wire.write(Side::Client, 30 * MSS);
    wire.run();
    // Ten segments leave at 0, their acknowledgements come at 20 ms. Those of the first three each add a segment of
    // slow start, two go: 10 to 15. The fourth is an echo: the window falls to half of what is outstanding, and the
    // first new segment after that says CWR.
    let said: Vec<(u64, u64)> = (wire.log.iter())
        .filter(|sent| sent.segment.flags.contains(Flags::CWR))
        .map(|sent| ((sent.at - start).as_ms(), (sent.segment.seq - 1) / MSS))
        .collect();
    assert_eq!(said, [(40, 16)]);
    // Every acknowledgement from the marked segment on is an echo, up to the segment before the one with CWR.
    for ack in wire.pure_acks(Side::Server) {
        let echo = (4..=16).contains(&((ack.segment.ack - 1) / MSS));
        assert_eq!(ack.segment.flags.contains(Flags::ECE), echo, "{}", ack.segment.ack);
    }
    let client = EcnCounters { ce_received: 0, ece_received: 13, reductions: 1 };
    assert_eq!(wire.client.ecn(), Some(&client));
    assert_eq!(wire.server.ecn(), Some(&EcnCounters { ce_received: 1, ..EcnCounters::default() }));
    assert_eq!((wire.client.counters().fast_recoveries, wire.client.counters().retransmissions), (0, 0));
}

#[test]
fn an_echo_halves_the_window_and_lets_it_not_grow() {
    let mut wire = Wire::new(&capable(), &capable(), DELAY).established();
    wire.mark(&[0]);
    wire.write(Side::Client, 100 * MSS);
    wire.run_until(wire.now + DELAY * 2);
    // The very first acknowledgement is an echo; nine more come with it in the same instant, and none lets the window
    // grow.
    assert_eq!((wire.client.window().cwnd, wire.client.window().ssthresh), (5 * MSS, 5 * MSS));
    assert_eq!(wire.client.ecn().map(|ecn| ecn.reductions), Some(1));
}

#[test]
fn marks_of_the_next_window_reduce_again() {
    let mut wire = Wire::new(&capable(), &capable(), DELAY).established();
    // Of the first ten, and of those sent after the first reduction.
    wire.mark(&[0, 4, 9, 12]);
    wire.write(Side::Client, 100 * MSS);
    wire.run_until(wire.now + DELAY * 4 + Time::from_ms(1));
    assert_eq!(wire.client.ecn().map(|ecn| ecn.reductions), Some(2));
    assert_eq!(wire.client.window().ssthresh, 2 * MSS + MSS / 2);
}

#[test]
fn a_loss_in_a_window_already_reduced_does_not_reduce_it_again() {
    // Segment 1 is marked and 5 lost, of the same ten.
    for sack in [true, false] {
        let config = Config { sack, proportional_reduction: false, ..capable() };
        let mut wire = Wire::new(&config, &config, DELAY).established();
        wire.set_script(|side, number, _| match (side, number) {
            (Side::Client, 1) => Fate::Mark,
            (Side::Client, 5) => Fate::Drop,
            _ => Fate::Deliver,
        });
        wire.write(Side::Client, 100 * MSS);
        wire.run_until(wire.now + DELAY * 2);
        assert!(wire.client.in_recovery(), "sack {sack}");
        // Half of eleven: one acknowledgement had let the window grow before.
        let (window, counters) = (*wire.client.window(), wire.client.counters());
        assert_eq!((window.ssthresh, counters.fast_recoveries), (5_500, 1), "sack {sack}");
        assert_eq!(wire.client.ecn().map(|ecn| ecn.reductions), Some(1));
        // The retransmission is not ECN-capable (section 6.1.5).
        let again: Vec<&Sent> = wire.log.iter().filter(|sent| sent.segment.seq == 1 + 5 * MSS).collect();
        assert_eq!((bits(again[0]), bits(again[1])), ("ECT", ""));
        wire.run();
        assert_eq!(wire.server.received(), 100 * MSS);
    }
}

#[test]
fn a_loss_tells_the_receiver_of_the_reduction_too() {
    // Section 6.1.2: CWR follows a reduction for any reason.
    let mut wire = Wire::new(&capable(), &capable(), DELAY).established();
    wire.lose(&[0]);
    wire.write(Side::Client, 100 * MSS);
    wire.run_until(wire.now + DELAY * 4);
    let said = wire.log.iter().filter(|sent| sent.segment.flags.contains(Flags::CWR)).count();
    assert_eq!((said, wire.client.counters().fast_recoveries), (1, 1));
}

#[test]
fn echoes_ride_on_data_too() {
    let mut wire = Wire::new(&capable(), &capable(), DELAY).established();
    wire.mark(&[0]);
    wire.write(Side::Client, MSS);
    wire.run_until(wire.now + DELAY + Time::from_ms(1));
    wire.write(Side::Server, 2 * MSS);
    wire.run();
    let echoes: Vec<&'static str> =
        wire.log.iter().filter(|sent| sent.from == Side::Server && sent.segment.len > 0).map(bits).collect();
    assert_eq!(echoes, ["ECE ECT", "ECE ECT"]);
    // All was acknowledged by the first echo: there was nothing to answer for any more but by that one.
    assert_eq!(wire.client.ecn().map(|ecn| ecn.reductions), Some(1));
}

#[test]
fn a_probe_of_a_closed_window_is_not_capable() {
    let reader = Config { auto_consume: false, receive_buffer: units::Bytes::new(4 * MSS), ..capable() };
    let mut wire = Wire::new(&capable(), &reader, DELAY).established();
    wire.write(Side::Client, 6 * MSS);
    wire.run_until(wire.now + Time::from_secs(2));
    let probes: Vec<&Sent> = wire.log.iter().filter(|sent| sent.segment.len == 1).collect();
    assert!(!probes.is_empty() && probes.iter().all(|sent| bits(sent).is_empty()));
}

#[test]
fn each_control_answers_in_its_own_way() {
    // Ten segments outstanding, the first marked: what is left of ten.
    let answers = [(ControlKind::Reno, 5_000), (ControlKind::Cubic, 7_000), (ControlKind::Vegas, 7_500)];
    for (control, window) in answers {
        let config = Config { control, ..capable() };
        let mut wire = Wire::new(&config, &config, DELAY).established();
        wire.mark(&[0]);
        wire.write(Side::Client, 10 * MSS);
        wire.run_until(wire.now + DELAY * 2);
        assert_eq!(wire.client.window().cwnd, window, "{control:?}");
    }
    // BBR does not.
    let config = Config { control: ControlKind::Bbr, ..capable() };
    let mut wire = Wire::new(&config, &config, DELAY).established();
    wire.mark(&[0, 1, 2]);
    wire.write(Side::Client, 100 * MSS);
    wire.run();
    let counted = wire.client.ecn().copied().unwrap_or_default();
    assert!(counted.reductions == 0 && counted.ece_received > 3, "{counted:?}");
}

/// A timeout leaves a cwnd of one segment, less than the two that an echo cuts it to: the echo does not give the second
/// back. The segment arrives marked, its acknowledgement is lost, and the receiver echoes in the acknowledgement of the
/// retransmission, because no CWR has come (RFC 3168, section 6.1.3). DCTCP's receiver echoes per segment instead, and
/// the retransmission is not marked.
#[test]
fn an_echo_never_widens_the_window() {
    for control in [ControlKind::Reno, ControlKind::Cubic, ControlKind::Westwood] {
        let config = Config { control, ..capable() };
        let mut wire = Wire::new(&config, &config, DELAY).established();
        wire.set_script(|side, number, _| match (side, number) {
            (Side::Client, 0) => Fate::Mark,
            (Side::Server, 0) => Fate::Drop,
            _ => Fate::Deliver,
        });
        wire.write(Side::Client, MSS);
        wire.run();
        assert_eq!(wire.client.counters().timeouts, 1, "{control:?}");
        assert_eq!(wire.client.ecn().map(|ecn| ecn.ece_received), Some(1), "{control:?}");
        assert_eq!(wire.client.window().cwnd, MSS, "{control:?}");
    }
}

#[test]
fn marks_keep_a_queue_without_a_loss() {
    // 20 Mbit/s, 40 ms: a product of 96 packets; marked from 60 waiting on, dropped at 400.
    let run = |ecn| {
        let config = Config { ecn, ..capable() };
        let mut wire =
            Wire::new(&config, &config, DELAY * 2).bottleneck(units::BitRate::from_mbps(20), 400).marking(60);
        wire.keep_log = false;
        wire.with(Side::Client, Endpoint::open);
        wire.write(Side::Client, 1 << 40);
        wire.run_until(Time::from_secs(60));
        (wire.drops, wire.marks, wire.client.counters().retransmissions)
    };
    let (drops, marks, again) = run(true);
    assert!(drops == 0 && again == 0 && marks > 0, "{drops} {marks} {again}");
    let (drops, marks, _) = run(false);
    assert!(drops > 0 && marks == 0);
}
