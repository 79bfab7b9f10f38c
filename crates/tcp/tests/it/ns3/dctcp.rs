//! `src/internet/test/tcp-dctcp-test.cc` and `tcp-dctcp-loss-test-suite.cc`.

use crate::support::control::ack;
use crate::support::{Side, Wire, plain};
use tcp::control::{Ack, Control, ControlKind, Dctcp, Window};
use tcp::{Config, Endpoint, Flags};
use units::Time;

const MSS: u64 = 1446;

fn config(control: ControlKind) -> Config {
    Config { control, ecn: true, mss: MSS as u16, initial_window: 10, ..plain() }
}

/// Whether what `side` sends is ECN-capable: its SYN, its pure acknowledgements, its data. The client sends ten
/// segments.
fn capable(control: ControlKind, side: Side) -> [Option<bool>; 3] {
    let mut wire = Wire::new(&config(control), &config(control), Time::from_ms(50));
    wire.with(Side::Client, Endpoint::open);
    wire.run();
    wire.write(Side::Client, 10 * MSS);
    wire.run();
    let kind = |segment: &tcp::Segment| {
        let syn = segment.flags.contains(Flags::SYN);
        if syn { 0 } else { 1 + usize::from(segment.len > 0) }
    };
    let mut found = [None; 3];
    for sent in wire.log.iter().filter(|sent| sent.from == side) {
        let ect = sent.segment.flags.contains(Flags::ECT);
        let slot = &mut found[kind(&sent.segment)];
        assert!(slot.is_none_or(|before| before == ect), "{control:?} {side:?}: {:?}", sent.segment);
        *slot = Some(ect);
    }
    found
}

/// With DCTCP every packet is ECN-capable; with another control only data is.
#[test]
fn what_is_ecn_capable() {
    assert_eq!(capable(ControlKind::Dctcp, Side::Client), [Some(true), Some(true), Some(true)]);
    assert_eq!(capable(ControlKind::Dctcp, Side::Server), [Some(true), Some(true), None]);
    assert_eq!(capable(ControlKind::Reno, Side::Client), [Some(false), Some(false), Some(true)]);
    assert_eq!(capable(ControlKind::Reno, Side::Server), [Some(false), Some(false), None]);
}

/// The receiver echoes the one mark once, though the sender never answers with CWR.
#[test]
fn one_mark_is_echoed_once() {
    let mut wire = Wire::new(&config(ControlKind::Dctcp), &config(ControlKind::Dctcp), Time::from_ms(50)).established();
    wire.mark(&[0]);
    wire.write(Side::Client, 10 * MSS);
    wire.run();
    let echoes: Vec<bool> =
        wire.pure_acks(Side::Server).iter().map(|ack| ack.segment.flags.contains(Flags::ECE)).collect();
    assert_eq!(echoes.iter().filter(|echo| **echo).count(), 1, "{echoes:?}");
}

/// Slow start adds what an acknowledgement covers: two segments to two.
#[test]
fn slow_start_is_renos() {
    let mut window = Window { cwnd: 2 * MSS, ssthresh: 4 * MSS, ..Window::new(MSS as u32, 1) };
    let it = Ack { slow_start_limit: None, ..ack(Time::ZERO, 2 * MSS, &window) };
    Dctcp::default().on_ack(&mut window, &it);
    assert_eq!(window.cwnd, 4 * MSS);
}

/// A loss halves what is in flight, however small alpha has become: 20 segments to 10.
#[test]
fn a_loss_halves_without_marks() {
    let mut dctcp = Dctcp::default();
    for windows in 1..=400 {
        dctcp.on_marks(MSS, false, 1 + windows * MSS, 1 + windows * MSS);
    }
    assert!(dctcp.alpha() < 1e-10);
    let mut window = Window { cwnd: 20 * MSS, ssthresh: 20 * MSS, ..Window::new(MSS as u32, 1) };
    dctcp.on_loss(&mut window, Time::ZERO, 20 * MSS);
    assert_eq!(window.ssthresh, 10 * MSS);
}
