//! The driver of a tablet: rounds on its bus, by hand; and on the air.

use crate::harness::{area, best_effort, free_space, rest};
use des::{Ecn, EventQueue};
use units::{BitRate, Time};
use wifi::mac::{Budget, Driver, DriverSpec, DropPolicy, MacConfig, Move, Offer, PacketId, Scheduling, StationId};
use wifi::medium::{Medium, StationSpec};
use wifi::phy::{AccessCategory, Settings, Standard};

const SPEC: DriverSpec = DriverSpec {
    scheduling: Scheduling::ReceiveFirst,
    max_frames: 4,
    tx_min: 1,
    rx_bound: 3,
    round: Time::from_us(10),
    frame: Time::from_us(100),
    chip: 1_000,
    rx_queue: 1_000,
    budget: Budget::Frames,
};

fn downward(packet: u32) -> Offer {
    let (to, category) = (StationId(1), AccessCategory::BestEffort);
    Offer { packet: PacketId(packet), to, bytes: 1_500, category, flow: 0, ecn: Ecn::default() }
}

/// Runs a driver by itself until it rests, and says when what happened: ('d', packet) went down, ('u', packet) up.
fn run(driver: &mut Driver) -> Vec<(u64, char, u32)> {
    let (mut moves, mut log) = (Vec::new(), Vec::new());
    while driver.deadline() < Time::MAX {
        let now = driver.deadline();
        driver.on_timer(now, &mut moves);
        log.extend(moves.drain(..).map(|step| match step {
            Move::Down(item) => (now.as_us(), 'd', item.packet.0),
            Move::Up(packet) => (now.as_us(), 'u', packet.0),
            Move::Drop(packet) => (now.as_us(), 'x', packet.0),
            Move::Mark(packet) => (now.as_us(), 'm', packet.0),
        }));
    }
    log
}

fn loaded(scheduling: Scheduling, send: u32, receive: u32) -> Driver {
    let mut driver = Driver::new(DriverSpec { scheduling, ..SPEC }, 100, DropPolicy::Tail, None);
    let mut moves = Vec::new();
    for packet in 0..send {
        driver.enqueue(Time::ZERO, downward(packet), &mut moves);
    }
    for packet in 0..receive {
        driver.received(Time::ZERO, PacketId(100 + packet));
    }
    assert!(moves.is_empty());
    driver
}

#[test]
fn a_round_sends_up_to_max_frames_when_nothing_comes_in() {
    let log = run(&mut loaded(Scheduling::ReceiveFirst, 6, 0));
    // A round begins after 10 us; four frames of 100 us; the next round.
    assert_eq!(log, [(110, 'd', 0), (210, 'd', 1), (310, 'd', 2), (410, 'd', 3), (520, 'd', 4), (620, 'd', 5)]);
}

#[test]
fn rounds_that_have_received_send_by_the_levels_of_both_queues() {
    // The first round receives as many as it may and sends the minimum, as one waits; the second receives that one.
    let begin = [(110, 'u', 100), (210, 'u', 101), (310, 'u', 102), (410, 'd', 0), (520, 'u', 103), (620, 'd', 1)];
    // Receive first: it has received, so one goes; the third round receives nothing. Queue level: none waits any more,
    // so half of four go.
    let cases = [
        (Scheduling::ReceiveFirst, 3, vec![(730, 'd', 2)]),
        (Scheduling::QueueLevel, 4, vec![(720, 'd', 2), (830, 'd', 3)]),
    ];
    for (scheduling, frames, rest) in cases {
        let log = run(&mut loaded(scheduling, frames, 4));
        assert_eq!(log, [&begin[..], &rest].concat(), "{scheduling:?}");
    }
}

#[test]
fn a_driver_marks_what_finds_its_queue_longer_than_its_threshold() {
    let mut driver = Driver::new(SPEC, 4, DropPolicy::Tail, Some(2));
    let mut moves = Vec::new();
    for packet in 0..5 {
        let ecn = if packet == 2 { Ecn::NotEct } else { Ecn::Ect };
        driver.enqueue(Time::ZERO, Offer { ecn, ..downward(packet) }, &mut moves);
    }
    assert_eq!(moves, [Move::Mark(PacketId(3)), Move::Drop(PacketId(4))]);
}

#[test]
fn the_chip_takes_as_many_as_it_holds() {
    let mut driver = Driver::new(DriverSpec { chip: 2, ..SPEC }, 3, DropPolicy::Tail, None);
    let mut moves = Vec::new();
    for packet in 0..5 {
        driver.enqueue(Time::ZERO, downward(packet), &mut moves);
    }
    assert_eq!(moves, [Move::Drop(PacketId(3)), Move::Drop(PacketId(4))]);
    assert_eq!(run(&mut driver), [(110, 'd', 0), (210, 'd', 1)]);
    assert_eq!(driver.tx_qlen(), 1);
    driver.done(Time::from_us(1_000), 1, 1_500, BitRate::from_mbps(6));
    assert_eq!(run(&mut driver), [(1_110, 'd', 2)]);
    // Three for 10 + 0 us, as the first begins its way at 10 us; two for 100, one for 900.
    let (mean, most) = driver.occupancy().mean_and_maximum(Time::from_us(1_010));
    let expected = (3.0 * 10.0 + 2.0 * 100.0 + 900.0) / 1_010.0;
    assert!((mean - expected).abs() < 1e-9 && most == 3, "{mean}, {expected}, {most}");
}

#[test]
fn a_budget_of_bytes_or_of_time_leaves_packets_with_the_host() {
    let given = |budget, rate| {
        let mut driver = Driver::new(DriverSpec { budget, max_frames: 100, ..SPEC }, 100, DropPolicy::Tail, None);
        let mut moves = Vec::new();
        driver.enqueue(Time::ZERO, downward(0), &mut moves);
        run(&mut driver);
        driver.done(Time::from_ms(1), 1, 1_500, rate);
        for packet in 1..50 {
            driver.enqueue(Time::from_ms(1), downward(packet), &mut moves);
        }
        run(&mut driver).len()
    };
    let (slow, fast) = (BitRate::from_mbps(6), BitRate::from_mbps(60));
    // 4500 bytes are not within 4500; a packet of 1500 bytes lasts 2 ms or 0.2 ms.
    assert_eq!(given(Budget::Bytes(4_500), slow), 3);
    assert_eq!(given(Budget::Bytes(4_501), slow), 4);
    assert_eq!(given(Budget::Airtime(Time::from_ms(5)), slow), 3);
    assert_eq!(given(Budget::Airtime(Time::from_ms(5)), fast), 25);
    assert_eq!(given(Budget::Frames, slow), 49);
}

/// Two tablets exchange packets: each that arrives at 1 is answered, as data by acknowledgements. Returns data packets
/// per second.
fn exchange(scheduling: Scheduling) -> f64 {
    let phy = Settings::new(Standard::N5);
    let mac = MacConfig::new(phy, phy.mcs(7).unwrap());
    let spec = |x| {
        // Slow enough that the bus is what limits.
        let driver =
            DriverSpec { scheduling, round: Time::from_us(500), frame: Time::from_us(200), ..DriverSpec::default() };
        StationSpec { driver: Some(driver), ..StationSpec::new(rest(x, 0.0), mac.clone()) }
    };
    let mut medium: Medium<bool> = Medium::new(&[spec(0.0), spec(3.0)], &area(), free_space(), 1).unwrap();
    let mut events = EventQueue::new();
    let (data, answer) = ((StationId(0), StationId(1)), (StationId(1), StationId(0)));
    let mut arrived = 0;
    let until = Time::from_secs(5);
    for _ in 0..100 {
        medium.send(Time::ZERO, true, data, best_effort(1_500, 0), &mut events);
    }
    while let Some(event) = events.pop().filter(|event| event.time() <= until) {
        let now = event.time();
        medium.on_event(&event, &mut events);
        let delivered: Vec<bool> = medium.take_delivered().map(|delivered| delivered.packet).collect();
        for is_data in delivered {
            if is_data {
                arrived += 1;
                medium.send(now, false, answer, best_effort(40, 1), &mut events);
            }
        }
        while medium.transmit_queue(StationId(0)) < 100 {
            medium.send(now, true, data, best_effort(1_500, 0), &mut events);
        }
    }
    medium.ledger().check().unwrap();
    f64::from(arrived) / until.as_secs_f64()
}

#[test]
fn on_the_air_receive_first_starves_the_sender_and_queue_level_feeds_it() {
    let (first, level) = (exchange(Scheduling::ReceiveFirst), exchange(Scheduling::QueueLevel));
    // Each data packet and its answer take 0.4 ms of the bus, and rounds of 0.5 ms come on top: one by one where one
    // frame goes a round, shared by up to ten where half of `max_frames` go.
    assert!(level < 1.0 / 0.000_4, "{level}");
    assert!(first < 0.85 * level, "{first} and {level} packets a second");
}

#[test]
fn a_chip_has_room_for_so_many_received_frames() {
    let mut driver = Driver::new(DriverSpec { rx_queue: 3, ..SPEC }, 10, DropPolicy::Tail, None);
    assert_eq!(driver.room_for(0b1101_1000), 0b0101_1000, "the first three");
    driver.received(Time::ZERO, PacketId(0));
    driver.received(Time::ZERO, PacketId(1));
    assert_eq!((driver.room_for(0b110), driver.room_for(0)), (0b010, 0));
    driver.received(Time::ZERO, PacketId(2));
    assert_eq!(driver.room_for(u64::MAX), 0);
    run(&mut driver);
    assert_eq!(driver.room_for(u64::MAX), 0b111);
}

/// What comes when the receiver's chip is full is not acknowledged: it is sent again, and never passes for delivered.
#[test]
fn a_receiver_that_is_too_slow_acknowledges_no_more_than_it_keeps() {
    let phy = Settings::new(Standard::N5);
    let mac = MacConfig::new(phy, phy.mcs(7).unwrap());
    let slow = DriverSpec { rx_queue: 8, frame: Time::from_ms(1), round: Time::ZERO, ..DriverSpec::default() };
    let receiver = StationSpec { driver: Some(slow), ..StationSpec::new(rest(3.0, 0.0), mac.clone()) };
    let stations = [StationSpec::new(rest(0.0, 0.0), mac), receiver];
    let mut medium: Medium<u32> = Medium::new(&stations, &area(), free_space(), 1).unwrap();
    let mut events = EventQueue::new();
    let (until, way) = (Time::from_secs(2), (StationId(0), StationId(1)));
    let (mut now, mut sent, mut arrived) = (Time::ZERO, 0, 0);
    loop {
        while medium.transmit_queue(StationId(0)) < 60 {
            medium.send(now, sent, way, best_effort(1_500, 0), &mut events);
            sent += 1;
        }
        let Some(event) = events.pop().filter(|event| event.time() <= until) else { break };
        now = event.time();
        medium.on_event(&event, &mut events);
        arrived += medium.take_delivered().count();
        assert!(medium.driver(StationId(1)).unwrap().rx_qlen() <= 8);
    }
    medium.ledger().check().unwrap();
    assert!((1_990..=2_000).contains(&arrived), "a frame takes a millisecond: {arrived}");
    let counters = medium.station(StationId(0)).counters();
    assert!(counters.retries > 100 && counters.mpdus - counters.retries < 2_200, "{counters:?}");
}
