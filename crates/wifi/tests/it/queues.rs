//! Transmit queues: limits, occupancy, lifetime, fairness; access categories.

use crate::harness::{Saturation, area, free_space, rest};
use des::{Ecn, EventQueue};
use units::{BitRate, Time};
use wifi::mac::{Aggregation, DropPolicy, FairSpec, MacConfig, Reason, StationId};
use wifi::medium::{Medium, StationSpec, Traffic};
use wifi::phy::{AccessCategory, Settings, Standard};
use wifi::propagation::{Dbm, Radio};
use wifi::rate::RateSpec;

const PACKET: u32 = 1_500;
const FLOW: (StationId, StationId) = (StationId(0), StationId(1));

fn ofdm(mbps: u64) -> MacConfig {
    let phy = Settings::new(Standard::A);
    MacConfig::new(phy, phy.at_rate(BitRate::from_mbps(mbps)).unwrap())
}

fn ht() -> MacConfig {
    let phy = Settings::new(Standard::N5);
    MacConfig::new(phy, phy.mcs(7).unwrap())
}

fn pair(mac: &MacConfig) -> Medium<u32> {
    let specs = [0.0, 3.0].map(|x| StationSpec::new(rest(x, 0.0), mac.clone()));
    Medium::new(&specs, &area(), free_space(), 1).unwrap()
}

type Arrival = (Time, u32);
type Loss = (u32, Reason);

/// Sends `count` packets at once; returns when each that arrived did, and those that were dropped with their reason.
fn burst(medium: &mut Medium<u32>, count: u32) -> (Vec<Arrival>, Vec<Loss>) {
    let mut events = EventQueue::new();
    for packet in 0..count {
        let traffic = Traffic { bytes: PACKET, category: AccessCategory::BestEffort, flow: 0, ecn: Ecn::default() };
        medium.send(Time::ZERO, packet, FLOW, traffic, &mut events);
    }
    let (mut arrived, mut dropped) = (Vec::new(), Vec::new());
    loop {
        dropped.extend(medium.take_dropped().map(|dropped| (dropped.packet, dropped.reason)));
        let Some(event) = events.pop() else { break };
        medium.on_event(&event, &mut events);
        arrived.extend(medium.take_delivered().map(|delivered| (event.time(), delivered.packet)));
    }
    medium.ledger().check().unwrap();
    assert_eq!(medium.ledger().slab, 0);
    (arrived, dropped)
}

#[test]
fn a_full_queue_drops_its_tail_or_its_head() {
    let tail = MacConfig { queue_limit: 10, ..ofdm(54) };
    let (arrived, dropped) = burst(&mut pair(&tail), 25);
    assert_eq!(arrived.iter().map(|(_, packet)| *packet).collect::<Vec<_>>(), (0..10).collect::<Vec<_>>());
    assert_eq!(dropped, (10..25).map(|packet| (packet, Reason::QueueFull)).collect::<Vec<_>>());
    let head = MacConfig { drop_policy: DropPolicy::Head, ..tail };
    let (arrived, dropped) = burst(&mut pair(&head), 25);
    assert_eq!(arrived.iter().map(|(_, packet)| *packet).collect::<Vec<_>>(), (15..25).collect::<Vec<_>>());
    assert_eq!(dropped, (0..15).map(|packet| (packet, Reason::QueueFull)).collect::<Vec<_>>());
}

#[test]
fn occupancy_is_exact() {
    let mut medium = pair(&ofdm(54));
    let (arrived, _) = burst(&mut medium, 100);
    // A packet leaves with its acknowledgement, SIFS and 28 us after it has arrived.
    let answer = Time::from_us(16 + 28);
    let waited: Time = arrived.iter().map(|(when, _)| *when + answer).sum();
    let end = Time::from_secs(1);
    let (mean, most) = medium.station(StationId(0)).queue(AccessCategory::BestEffort).occupancy().mean_and_maximum(end);
    assert_eq!(most, 100);
    assert!((mean - waited.as_secs_f64()).abs() < 1e-9, "{mean}, by the packets {}", waited.as_secs_f64());
}

#[test]
fn what_waits_beyond_its_lifetime_is_given_up() {
    let lifetime = Time::from_ms(5);
    let (arrived, dropped) = burst(&mut pair(&MacConfig { lifetime, ..ofdm(6) }), 20);
    // A frame of 2.1 ms and what is around it: the third begins before 5 ms have passed, the fourth would not.
    assert_eq!((arrived.len(), dropped.len()), (3, 17));
    assert!(dropped.iter().all(|(_, reason)| *reason == Reason::Lifetime));
}

/// Saturates categories from station 0 to 1 and says how many packets of each arrived within 5 s.
fn categories(mac: &MacConfig, categories: &[AccessCategory]) -> Vec<u64> {
    let (mut medium, mut events) = (pair(mac), EventQueue::new());
    let mut arrived = vec![0; categories.len()];
    let refill = |medium: &mut Medium<u32>, now, events: &mut EventQueue| {
        for (index, category) in categories.iter().enumerate() {
            while medium.station(StationId(0)).queue(*category).len() < 100 {
                let traffic = Traffic { bytes: PACKET, category: *category, flow: 0, ecn: Ecn::default() };
                medium.send(now, index as u32, FLOW, traffic, events);
            }
        }
    };
    refill(&mut medium, Time::ZERO, &mut events);
    while let Some(event) = events.pop().filter(|event| event.time() <= Time::from_secs(5)) {
        medium.on_event(&event, &mut events);
        for delivered in medium.take_delivered() {
            arrived[delivered.packet as usize] += 1;
        }
        refill(&mut medium, event.time(), &mut events);
    }
    medium.ledger().check().unwrap();
    arrived
}

#[test]
fn a_transmission_opportunity_holds_as_many_exchanges_as_fit() {
    // One packet of 1538 bytes at 65 Mbit/s: 36 us and 48 symbols; its ACK 28 us after SIFS.
    let exchange = 36.0 + 48.0 * 4.0 + 16.0 + 28.0;
    let mac = MacConfig { aggregation: Aggregation::NONE, ..ht() };
    for (category, limit, aifs, window) in
        [(AccessCategory::Video, 3_008.0, 34.0, 7.0), (AccessCategory::Voice, 1_504.0, 34.0, 3.0)]
    {
        let held = ((limit + 16.0) / (exchange + 16.0_f64)).floor();
        let period = aifs + 9.0 * window / 2.0 + held * exchange + (held - 1.0) * 16.0;
        let expected = 5e6 / period * held;
        let found = categories(&mac, &[category])[0] as f64;
        assert!((found / expected - 1.0).abs() < 0.003, "{category:?}: {found} packets, expected {expected}");
    }
}

#[test]
fn higher_categories_go_first() {
    let mac = MacConfig { aggregation: Aggregation::NONE, ..ht() };
    let all = [AccessCategory::Background, AccessCategory::BestEffort, AccessCategory::Video, AccessCategory::Voice];
    let found = categories(&mac, &all);
    // Voice has the smallest window, but video holds the medium twice as long.
    assert!(found[3] > 3 * found[1] && found[2] > 3 * found[1] && found[1] > 3 * found[0], "{found:?}");
    // Two categories of one station contend inside it as two stations do outside; without TXOP and with equal windows
    // they share alike.
    let mut alike = mac;
    alike.access[0] = alike.access[1];
    let found = categories(&alike, &all[..2]);
    let share = found[0] as f64 / (found[0] + found[1]) as f64;
    // Where both are due at once the higher one goes.
    assert!((0.42..0.5).contains(&share), "{found:?}");
}

/// Saturated downlink to a near and a far receiver, whose rates differ by the ratio of signal to noise; packets each
/// has received within 5 s.
fn anomaly(drop_policy: DropPolicy, near: bool, far: bool) -> Vec<u64> {
    let mac = MacConfig { rate: RateSpec::Ideal, drop_policy, queue_limit: 400, ..ofdm(54) };
    let radio = Radio { sensitivity: Dbm(-92.0), cca_signal: Dbm(-92.0), ..Radio::default() };
    let specs = [0.0, 3.0, 800.0].map(|x| StationSpec { radio, ..StationSpec::new(rest(x, 0.0), mac.clone()) });
    let flows = [(near, 1), (far, 2)].into_iter().filter(|(wanted, _)| *wanted);
    let flows: Vec<_> = flows.map(|(_, to)| (StationId(0), StationId(to))).collect();
    let mut saturation = Saturation::new(&specs, flows, PACKET, 1);
    saturation.depth = 390;
    saturation.run_in_turn(Time::from_secs(5));
    saturation.medium.ledger().check().unwrap();
    saturation.delivered
}

#[test]
fn fair_queueing_shares_the_time_on_the_air_where_a_fifo_shares_packets() {
    let fair = DropPolicy::Fair(FairSpec { target: Time::from_secs(10), ..FairSpec::default() });
    let alone = (anomaly(fair, true, false)[0] as f64, anomaly(fair, false, true)[0] as f64);
    assert!(alone.0 > 2.5 * alone.1, "{alone:?}");
    let fifo = anomaly(DropPolicy::Tail, true, true);
    assert!((fifo[0] as f64 / fifo[1] as f64 - 1.0).abs() < 0.05, "{fifo:?}");
    let shared = anomaly(fair, true, true);
    // Alike is the time that frames of data take. DIFS, 7.5 slots, SIFS and an answer of 28 us (32 to the far one) are
    // not charged.
    let (exchange, overhead) = ([5e6 / alone.0, 5e6 / alone.1], [145.5, 149.5]);
    let data = [exchange[0] - overhead[0], exchange[1] - overhead[1]];
    let near = 5e6 / (exchange[0] + exchange[1] * data[0] / data[1]);
    let expected = [near, near * data[0] / data[1]];
    for (found, expected) in shared.iter().zip(expected) {
        assert!((*found as f64 / expected - 1.0).abs() < 0.03, "{shared:?}, expected {expected:.0}; alone {alone:?}");
    }
}

#[test]
fn codel_keeps_a_standing_queue_short() {
    let mac = |drop_policy| MacConfig { drop_policy, queue_limit: 1_000, ..ofdm(6) };
    let run = |drop_policy, ecn| {
        let specs = [0.0, 3.0].map(|x| StationSpec::new(rest(x, 0.0), mac(drop_policy)));
        let (mut medium, mut events) =
            (Medium::<Time>::new(&specs, &area(), free_space(), 1).unwrap(), EventQueue::new());
        // 8 Mbit/s on a channel that carries 5.3.
        let (mut next, mut longest, mut told) = (Time::ZERO, Time::ZERO, 0);
        let half = Time::from_secs(10);
        while next < half * 2 {
            let traffic = Traffic { bytes: PACKET, category: AccessCategory::BestEffort, flow: 0, ecn };
            medium.send(next, next, FLOW, traffic, &mut events);
            next += Time::from_us(1_500);
            while events.next_time().is_some_and(|at| at <= next)
                && let Some(event) = events.pop()
            {
                medium.on_event(&event, &mut events);
                for delivered in medium.take_delivered() {
                    told += u64::from(delivered.marked);
                    if event.time() > half {
                        longest = longest.max(event.time().saturating_sub(delivered.packet));
                    }
                }
            }
        }
        medium.ledger().check().unwrap();
        let marks = medium.marks(StationId(0));
        assert!(told <= marks && marks - told <= 64, "{told} of {marks} have arrived");
        (longest, medium.ledger().dropped[Reason::Delay as usize], marks)
    };
    let codel = DropPolicy::Fair(FairSpec::default());
    let (by_codel, dropped, none) = run(codel, Ecn::NotEct);
    let (by_fifo, ..) = run(DropPolicy::Tail, Ecn::Ect);
    // A FIFO of 1000 packets of 2.2 ms; CoDel needs a while against what does not give way, and then drops a third.
    assert!(by_fifo > Time::from_ms(2_000), "{by_fifo}");
    assert!(by_codel < by_fifo / 2, "{by_codel} with CoDel, {by_fifo} without");
    assert!(dropped > 1_000 && none == 0, "{dropped}, {none} marked");
    // What can be marked is not dropped; what then does not give way fills the queue.
    let (by_marks, dropped, marks) = run(codel, Ecn::Ect);
    assert!(dropped == 0 && marks > 1_000 && by_marks > by_codel, "{by_marks}, {dropped} dropped, {marks} marked");
}

#[test]
fn a_queue_marks_what_finds_it_longer_than_its_threshold() {
    let mac = MacConfig { queue_limit: 10, mark_above: Some(4), ..ofdm(54) };
    let (mut medium, mut events) = (pair(&mac), EventQueue::new());
    for packet in 0..12 {
        let ecn = if packet % 2 == 0 { Ecn::Ect } else { Ecn::NotEct };
        let traffic = Traffic { bytes: PACKET, category: AccessCategory::BestEffort, flow: 0, ecn };
        medium.send(Time::ZERO, packet, FLOW, traffic, &mut events);
    }
    let mut arrived = Vec::new();
    while let Some(event) = events.pop() {
        medium.on_event(&event, &mut events);
        arrived.extend(medium.take_delivered().map(|delivered| (delivered.packet, delivered.marked)));
    }
    let expected: Vec<(u32, bool)> = (0..10).map(|packet| (packet, [4, 6, 8].contains(&packet))).collect();
    assert_eq!((arrived, medium.marks(StationId(0))), (expected, 3));
    assert_eq!(medium.take_dropped().map(|dropped| dropped.packet).collect::<Vec<_>>(), [10, 11]);
}
