//! Stations that are switched off: nothing is heard of them, their packets are accounted for, and they come back.

use crate::harness::{Run, access_point, rest};
use units::Time;
use wifi::energy::RadioState;
use wifi::mac::{ClientSpec, MacConfig, Reason, StationId};
use wifi::medium::{FrameFate, Role, StationSpec};
use wifi::mobility::Mobility;
use wifi::phy::{Settings, Standard};

fn spec(role: Role, mobility: Mobility) -> StationSpec {
    let phy = Settings::new(Standard::N5);
    let mac = MacConfig::new(phy, phy.mcs(7).unwrap());
    StationSpec { role, ..StationSpec::new(mobility, mac) }
}

fn pair() -> Run {
    Run::new(&[spec(Role::AdHoc, rest(0.0, 0.0)), spec(Role::AdHoc, rest(3.0, 0.0))])
}

fn ms(time: u64) -> Time {
    Time::from_ms(time)
}

/// Keeps the queue of station 0 full of packets for station 1 up to `until`.
fn saturate(run: &mut Run, packet: &mut u32, now: Time, until: Time) {
    let mut fill = |run: &mut Run, now: Time| {
        while run.medium.station(StationId(0)).queued() < 100 {
            run.send(now, *packet, 0, 1);
            *packet += 1;
        }
    };
    fill(run, now);
    run.until(until, fill);
}

/// A receiver that is off neither hears nor answers; who sends to it retries and gives up, and reaches it again when it
/// is back.
#[test]
fn a_receiver_that_is_off_acknowledges_nothing() {
    let mut run = pair();
    let mut packet = 0;
    saturate(&mut run, &mut packet, Time::ZERO, ms(1_000));
    let (before, answers) = (run.arrived.len(), run.medium.station(StationId(1)).counters().ppdus);
    assert!(before > 4_000 && answers > 60 && run.dropped.is_empty(), "{before} packets, {answers} answers");
    run.power(ms(1_000), 1, false);
    assert!(!run.medium.is_on(StationId(1)));
    saturate(&mut run, &mut packet, ms(1_000), ms(2_000));
    assert_eq!(run.arrived.len(), before, "nothing arrives at it");
    assert_eq!(run.medium.station(StationId(1)).counters().ppdus, answers, "nothing is heard of it");
    let given_up = run.dropped.iter().filter(|(_, dropped)| dropped.reason == Reason::RetryLimit).count();
    assert!(given_up > 50, "{given_up} given up");
    // What had arrived out of order when it went down is lost there; everything else its sender has.
    let lost = run.dropped.len() - given_up;
    assert!(
        run.dropped.iter().all(|(_, dropped)| dropped.at == StationId(0) || dropped.reason == Reason::Off),
        "{lost}"
    );
    run.power(ms(2_000), 1, true);
    saturate(&mut run, &mut packet, ms(2_000), ms(3_000));
    let after = run.arrived.len() - before;
    assert!((after as f64 / before as f64 - 1.0).abs() < 0.05, "{after} in the second after, {before} in that before");
    let mut packets: Vec<u32> = run.arrived.iter().map(|(_, packet, _)| *packet).collect();
    assert!(packets.is_sorted(), "in order");
    packets.dedup();
    assert_eq!(packets.len(), run.arrived.len(), "each once");
    let radio = run.medium.radio_times(StationId(1));
    assert_eq!(radio.time(ms(3_000), RadioState::Off), ms(1_000));
    let total: Time = RadioState::ALL.map(|state| radio.time(ms(3_000), state)).into_iter().sum();
    assert_eq!(total, ms(3_000));
}

/// What a sender had in its queue ends with it, and the frame that it is sending breaks off.
#[test]
fn a_sender_that_is_switched_off_loses_its_queue() {
    let mut run = pair();
    run.medium.record_frames(Time::ZERO, 1_000);
    let mut packet = 0;
    saturate(&mut run, &mut packet, Time::ZERO, ms(500));
    // In the middle of an A-MPDU: they fill four fifths of the time.
    let mut now = ms(500);
    while run.medium.radio_times(StationId(0)).state() != RadioState::Transmit {
        now += Time::from_us(50);
        saturate(&mut run, &mut packet, now, now);
    }
    let (arrived, queued) = (run.arrived.len(), run.medium.station(StationId(0)).queued());
    run.power(now, 0, false);
    assert_eq!(run.medium.transmit_queue(StationId(0)), 0);
    let off = run.dropped.iter().filter(|(_, dropped)| dropped.reason == Reason::Off).count();
    assert_eq!((off, run.dropped.len()), (queued, queued));
    assert_eq!(run.medium.ledger().dropped[Reason::Off as usize], queued as u64);
    let cut = *run.medium.frames().last().unwrap();
    assert_eq!((cut.from, cut.at + cut.duration, cut.fate), (StationId(0), now, FrameFate::Lost));
    // What it is handed now ends at once.
    run.send(now, packet, 0, 1);
    let sent = run.medium.station(StationId(0)).counters().ppdus;
    run.until(ms(900), |_, _| {});
    assert_eq!(run.arrived.len(), arrived);
    assert_eq!(run.medium.station(StationId(0)).counters().ppdus, sent);
    assert_eq!(run.medium.ledger().dropped[Reason::Off as usize], queued as u64 + 1);
    assert_eq!((run.medium.ledger().held, run.medium.ledger().slab), (0, 0));
    run.power(ms(900), 0, true);
    packet += 1;
    saturate(&mut run, &mut packet, ms(900), ms(1_400));
    assert!(run.arrived.len() > 2 * arrived * 9 / 10, "{} after {arrived}", run.arrived.len());
}

/// An access point sends on to a client that is off, in vain; back again the client looks for it as at first.
#[test]
fn a_client_that_is_off_is_gone_and_joins_anew() {
    let client = || Role::Client(ClientSpec::default());
    let specs = [spec(access_point(), rest(0.0, 0.0)), spec(client(), rest(3.0, 0.0)), spec(client(), rest(-3.0, 0.0))];
    let mut run = Run::new(&specs);
    let (off, on) = (ms(2_000), ms(5_000));
    run.steadily(2, 1, ms(1_000), ms(10), off);
    let before = run.arrived.len();
    assert_eq!(before, 100);
    run.power(off, 1, false);
    assert_eq!(run.moves.last(), Some(&(off, StationId(1), None)));
    assert_eq!(run.medium.access_point(StationId(1)), None);
    let sent = run.medium.station(StationId(1)).counters().ppdus;
    run.steadily(2, 1, off + ms(10), ms(10), on);
    assert_eq!(run.arrived.len(), before);
    assert_eq!(run.medium.station(StationId(1)).counters().ppdus, sent, "not even a probe");
    // Seven attempts at each and seven questions after it, at the access point: what it has not got to yet waits there.
    let by_ap = run.dropped.iter().filter(|(_, dropped)| dropped.at == StationId(0)).count();
    let waiting = run.medium.station(StationId(0)).queued();
    assert!(run.dropped.iter().all(|(_, dropped)| dropped.reason == Reason::RetryLimit));
    assert!(by_ap > 150 && (299..=300).contains(&(by_ap + waiting)), "{by_ap} given up, {waiting} wait");
    run.power(on, 1, true);
    run.steadily(2, 1, on + ms(10), ms(10), ms(6_000));
    let [.., (when, StationId(1), Some(StationId(0)))] = run.moves[..] else { panic!("{:?}", run.moves) };
    // It probes at once and takes the best answer of 20 ms.
    assert!(when > on + ms(20) && when < on + ms(25), "{when}");
    let after = run.arrived.iter().filter(|(at, ..)| *at > on).count();
    assert!(after >= 97, "{after} of the 100 after it came back");
    // The access point had forgotten it from its return to its joining, with all that waited for it.
    let unreachable = run.dropped.iter().filter(|(_, dropped)| dropped.reason == Reason::Unreachable).count();
    assert_eq!(unreachable, waiting + 100 - after);
}
