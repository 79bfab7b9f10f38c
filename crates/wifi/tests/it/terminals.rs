//! Lone, hidden and exposed terminals, lost answers, broadcasts.

use crate::harness::{Saturation, area, free_space, rest};
use des::RandomStream;
use units::{BitRate, Time};
use wifi::mac::{Kind, MacConfig, Reason, StationId};
use wifi::medium::{FrameFate, Role, StationSpec};
use wifi::mobility::Mobility;
use wifi::phy::{ReceiverModel, Settings, Standard};
use wifi::propagation::{Dbm, Radio};

const PACKET: u32 = 1_500;

/// A radio that hears and is heard up to 100 m, and senses nothing beyond.
fn hundred_metres() -> Radio {
    let radio = Radio::default();
    let threshold = free_space().threshold_for(100.0, &radio, &radio).unwrap();
    Radio { sensitivity: threshold, cca_signal: threshold, cca_energy: Dbm(0.0), ..radio }
}

fn ofdm(mbps: u64) -> MacConfig {
    let phy = Settings::new(Standard::A);
    MacConfig::new(phy, phy.at_rate(BitRate::from_mbps(mbps)).unwrap())
}

fn specs(places: &[f64], radio: Radio, mac: &MacConfig) -> Vec<StationSpec> {
    places
        .iter()
        .map(|x| StationSpec {
            radio,
            receiver: ReceiverModel::default(),
            mobility: rest(*x, 0.0),
            mac: mac.clone(),
            role: Role::AdHoc,
            driver: None,
        })
        .collect()
}

fn run(specs: &[StationSpec], flows: &[(u32, u32)], seconds: u64) -> Saturation {
    let flows = flows.iter().map(|(from, to)| (StationId(*from), StationId(*to))).collect();
    let mut saturation = Saturation::new(specs, flows, PACKET, 1);
    saturation.run(Time::ZERO, Time::from_secs(seconds));
    saturation.medium.ledger().check().unwrap();
    saturation
}

#[test]
fn a_lone_terminal_gives_up_after_seven_attempts_with_doubled_windows() {
    let mac = ofdm(24);
    let seconds = 60;
    let lone = run(&specs(&[0.0, 101.0], hundred_metres(), &mac), &[(0, 1)], seconds);
    let ledger = lone.medium.ledger();
    assert_eq!(ledger.delivered, 0);
    let dropped = ledger.dropped[Reason::RetryLimit as usize];
    let counters = lone.medium.station(StationId(0)).counters();
    assert!(counters.ppdus - 7 * dropped < 7, "{} PPDUs for {dropped} packets", counters.ppdus);
    // Each attempt: half its window on average, the frame, and the timeout (SIFS, slot, preamble), which is longer than
    // DIFS.
    let windows = [15, 31, 63, 127, 255, 511, 1_023];
    let slots = f64::from(windows.iter().sum::<u32>()) / 2.0;
    // 22 + 8 * 1536 bits are 129 symbols of 96 bits.
    let frame = 20.0 + 4.0 * 129.0;
    let packet_us = slots * 9.0 + 7.0 * (frame + 16.0 + 9.0 + 20.0);
    let expected = seconds as f64 * 1e6 / packet_us;
    assert!((dropped as f64 / expected - 1.0).abs() < 0.02, "{dropped} given up, expected {expected}");
}

#[test]
fn a_packet_whose_answers_are_lost_is_delivered_once() {
    // The receiver hears but is not heard.
    let mac = ofdm(24);
    let loud = hundred_metres();
    let deaf = Radio { sensitivity: Dbm(0.0), cca_signal: Dbm(0.0), ..loud };
    let mut specs = specs(&[0.0, 50.0], loud, &mac);
    specs[0].radio = deaf;
    let run = run(&specs, &[(0, 1)], 1);
    let ledger = run.medium.ledger();
    assert!(ledger.delivered > 50, "{ledger:?}");
    assert_eq!(ledger.all_dropped(), 0);
    assert!(ledger.delivered - ledger.unacknowledged <= 1, "{ledger:?}");
    let sender = run.medium.station(StationId(0)).counters();
    assert!(sender.mpdus.abs_diff(7 * ledger.delivered) <= 7);
    assert!(sender.retries.abs_diff(6 * ledger.delivered) <= 6);
}

/// One of two senders that do not hear each other, by itself. Times in us.
struct Hidden {
    /// Its countdown begins then, and has so many slots.
    base: f64,
    slots: f64,
    cw: u32,
    attempts: u32,
    /// Up to when its last frame, or the answer to it, takes the receiver.
    busy: f64,
    /// What it sends has arrived already.
    arrived: bool,
}

const SLOT: f64 = 9.0;

impl Hidden {
    fn begin(&self) -> f64 {
        self.base + SLOT * self.slots
    }
    fn fail(&mut self, end: f64, random: &mut RandomStream) {
        self.attempts += 1;
        self.cw = (2 * self.cw + 1).min(1_023);
        if self.attempts == 7 {
            self.next();
        }
        // SIFS, a slot and a preamble pass before it knows.
        self.count(end + 45.0, random);
    }
    fn next(&mut self) {
        (self.cw, self.attempts, self.arrived) = (15, 0, false);
    }
    fn count(&mut self, from: f64, random: &mut RandomStream) {
        (self.base, self.slots) = (from, random.below(u64::from(self.cw) + 1) as f64);
    }
}

/// Two such senders and a receiver between them, attempt by attempt, without PPDUs or events. Returns frames that
/// arrive per second.
fn hidden_model(frame: f64, seconds: f64) -> f64 {
    let (sifs, difs, ack) = (16.0, 34.0, 28.0);
    let mut random = RandomStream::new(7, "test/hidden", 0);
    let mut stations =
        [0, 1].map(|_| Hidden { base: difs, slots: 0.0, cw: 15, attempts: 0, busy: 0.0, arrived: false });
    for station in &mut stations {
        station.count(difs, &mut random);
    }
    let mut arrived = 0.0;
    loop {
        stations.sort_by(|a, b| a.begin().total_cmp(&b.begin()));
        let [first, other] = &mut stations;
        let (begin, end) = (first.begin(), first.begin() + frame);
        if end > seconds * 1e6 {
            return arrived / seconds;
        }
        first.busy = end;
        // Lost if it begins amid the other's frame or answer, or the other begins amid it.
        if other.busy > begin || other.begin() < end {
            first.fail(end, &mut random);
            continue;
        }
        arrived += if first.arrived { 0.0 } else { 1.0 };
        first.arrived = true;
        let (answer, idle) = (end + sifs, end + sifs + ack);
        first.busy = idle;
        if other.begin() < answer {
            // The other's frame, begun before the answer, drowns it at this sender.
            first.fail(end, &mut random);
            continue;
        }
        // The answer stops the other's countdown: whole slots that have passed count.
        let passed = ((answer - other.base) / SLOT).floor().max(0.0);
        other.slots -= passed;
        other.base = other.base.max(idle + difs);
        first.next();
        first.count(idle + difs, &mut random);
    }
}

#[test]
fn hidden_terminals_spoil_each_others_frames_and_rts_saves_them() {
    let mac = ofdm(24);
    let radio = hundred_metres();
    let places = [0.0, 99.0, 198.0];
    let plain = run(&specs(&places, radio, &mac), &[(0, 1), (2, 1)], 20);
    let rate = plain.packets() as f64 / 20.0;
    // 22 + 8 * 1536 bits are 129 symbols of 96 bits.
    let model = hidden_model(20.0 + 4.0 * 129.0, 200.0);
    let alone = run(&specs(&places, radio, &mac), &[(0, 1)], 20).packets() as f64 / 20.0;
    assert!((rate / model - 1.0).abs() < 0.03, "{rate} frames/s, by hand {model}, alone {alone}");
    assert!(rate < 0.8 * alone, "{rate} frames/s of {alone} alone");
    let slow = MacConfig { rts_threshold: 500, ..ofdm(6) };
    let asked = run(&specs(&places, radio, &slow), &[(0, 1), (2, 1)], 20);
    let unasked = run(&specs(&places, radio, &ofdm(6)), &[(0, 1), (2, 1)], 20);
    assert!(asked.packets() > 2 * unasked.packets(), "{} with RTS, {} without", asked.packets(), unasked.packets());
}

#[test]
fn exposed_terminals_share_what_each_could_have() {
    // Receivers on the outer sides, 20 m away: neither is disturbed by the other sender, yet the senders defer to each
    // other.
    let mac = ofdm(54);
    let places = [-20.0, 0.0, 90.0, 110.0];
    let alone = run(&specs(&places, hundred_metres(), &mac), &[(1, 0)], 10).packets() as f64;
    let both = run(&specs(&places, hundred_metres(), &mac), &[(1, 0), (2, 3)], 10);
    let sum = both.packets() as f64;
    assert!((1.0..1.2).contains(&(sum / alone)), "{sum} together, {alone} alone");
    for flow in &both.delivered {
        assert!((*flow as f64 / sum - 0.5).abs() < 0.05, "{:?}", both.delivered);
    }
    // Out of each other's earshot both have it all.
    let apart = [-20.0, 0.0, 1_500.0, 1_520.0];
    let both = run(&specs(&apart, hundred_metres(), &mac), &[(1, 0), (2, 3)], 10);
    assert!((both.packets() as f64 / alone - 2.0).abs() < 0.01);
}

#[test]
fn what_goes_to_everyone_is_heard_by_all_in_range_once_and_not_acknowledged() {
    let mac = ofdm(54);
    let places = [0.0, 30.0, -60.0, 99.0, 101.0];
    let run = {
        let mut saturation = Saturation::new(
            &specs(&places, hundred_metres(), &mac),
            vec![(StationId(0), StationId::BROADCAST)],
            PACKET,
            1,
        );
        saturation.run(Time::ZERO, Time::from_secs(5));
        saturation
    };
    let ledger = run.medium.ledger();
    ledger.check().unwrap();
    assert_eq!(ledger.copies, 3 * ledger.broadcast);
    // At the basic rate of 6 Mbit/s: 513 symbols; 7.5 slots and DIFS before.
    let expected = 5e6 / (34.0 + 7.5 * 9.0 + 20.0 + 4.0 * 513.0);
    assert!((ledger.broadcast as f64 / expected - 1.0).abs() < 0.005, "{} of {expected}", ledger.broadcast);
    assert_eq!(run.medium.station(StationId(1)).counters().ppdus, 0);
}

#[test]
fn a_sender_that_walks_out_of_range_loses_the_receiver_there() {
    // 10 m/s: at 100 m after 10 s.
    let mac = ofdm(54);
    let trace = "$node_(0) set X_ 5000.0\n$node_(0) set Y_ 5000.0\n$node_(0) set Z_ 0.0\n$ns_ at 0.0 \"$node_(0) setdest 5200.0 5000.0 10.0\"\n";
    let walk: Vec<Mobility> = wifi::mobility::read_setdest(trace, 1, &area()).unwrap();
    let mut specs = specs(&[0.0, 0.0], hundred_metres(), &mac);
    specs[0].mobility = walk.into_iter().next().unwrap();
    let mut saturation = Saturation::new(&specs, vec![(StationId(0), StationId(1))], PACKET, 1);
    saturation.run(Time::ZERO, Time::from_ms(9_950));
    let before = saturation.packets();
    saturation.run(Time::from_ms(9_950), Time::from_ms(10_050));
    let at_the_edge = saturation.packets();
    saturation.run(Time::from_ms(10_050), Time::from_secs(12));
    assert!(before > 20_000 && at_the_edge > before, "{before}, {at_the_edge}");
    assert_eq!(saturation.packets(), at_the_edge);
    saturation.medium.ledger().check().unwrap();
}

#[test]
fn the_record_of_frames_says_what_became_of_each() {
    let record = |places: &[f64], flows: Vec<(StationId, StationId)>| {
        let mut saturation = Saturation::new(&specs(places, hundred_metres(), &ofdm(24)), flows, PACKET, 1);
        saturation.medium.record_frames(Time::from_ms(500), 400);
        saturation.run(Time::ZERO, Time::from_secs(2));
        saturation
    };
    let counted = |saturation: &Saturation, kind: Kind, fate: FrameFate| {
        saturation.medium.frames().iter().filter(|frame| frame.kind == kind && frame.fate == fate).count()
    };
    let one = record(&[0.0, 50.0], vec![(StationId(0), StationId(1))]);
    assert_eq!(one.medium.frames().len(), 400);
    assert_eq!(counted(&one, Kind::Data, FrameFate::Received), 200);
    assert_eq!(counted(&one, Kind::Ack, FrameFate::Received), 200);
    let first = one.medium.frames()[0];
    assert!(first.at >= Time::from_ms(500) && first.at < Time::from_ms(502), "{first:?}");
    for pair in one.medium.frames().windows(2) {
        // 20 us and 129 or 2 symbols; SIFS between data and ACK.
        let long = if pair[0].kind == Kind::Data { 536 } else { 28 };
        assert_eq!(pair[0].duration, Time::from_us(long));
        assert_eq!(pair[0].packets, u32::from(pair[0].kind == Kind::Data));
        if pair[0].kind == Kind::Data {
            assert_eq!(pair[1].at, pair[0].at + pair[0].duration + Time::from_us(16));
        }
    }
    let lone = record(&[0.0, 101.0], vec![(StationId(0), StationId(1))]);
    assert_eq!(counted(&lone, Kind::Data, FrameFate::Lost), 400);
    let hidden = record(&[0.0, 99.0, 198.0], vec![(StationId(0), StationId(1)), (StationId(2), StationId(1))]);
    let (lost, collided) =
        (counted(&hidden, Kind::Data, FrameFate::Lost), counted(&hidden, Kind::Data, FrameFate::Collided));
    // A few begin just before the receiver answers the other one.
    assert!(lost < 20 && collided > 100, "{lost} lost, {collided} collided");
}
