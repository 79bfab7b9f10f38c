//! Access points: joining, relaying, handing over, power save.

use crate::harness::{PACKET, Run, access_point, area, free_space, rest};
use units::{BitRate, Bytes, Time};
use wifi::bianchi::{Backoff, Exchange};
use wifi::energy::RadioState;
use wifi::mac::{ClientSpec, MacConfig, StationId};
use wifi::medium::{Role, StationSpec};
use wifi::mobility::{Mobility, read_setdest};
use wifi::phy::{Settings, Standard};
use wifi::propagation::{Dbm, Radio};

fn ofdm() -> MacConfig {
    let phy = Settings::new(Standard::A);
    MacConfig::new(phy, phy.at_rate(BitRate::from_mbps(24)).unwrap())
}

fn spec(role: Role, mobility: Mobility) -> StationSpec {
    StationSpec { role, ..StationSpec::new(mobility, ofdm()) }
}

fn client() -> Role {
    Role::Client(ClientSpec::default())
}

#[test]
fn a_client_joins_the_stronger_access_point_in_four_frames() {
    let specs =
        [spec(access_point(), rest(0.0, 0.0)), spec(access_point(), rest(30.0, 0.0)), spec(client(), rest(20.0, 0.0))];
    let mut run = Run::new(&specs);
    run.until(Time::from_secs(1), |_, _| {});
    let [(when, StationId(2), Some(StationId(1)))] = run.moves[..] else { panic!("{:?}", run.moves) };
    assert_eq!(run.medium.access_point(StationId(2)), Some(StationId(1)));
    // It begins to look 104.4 ms after the start and collects answers to its probe for 20 ms.
    assert!(when > Time::from_us(104_400) && when < Time::from_ms(135), "{when}");
    // Probe, authentication, association, and the acknowledgements of two probe responses and two grants.
    assert_eq!(run.medium.station(StationId(2)).counters().ppdus, 3 + 4);
    // A beacon every 102.4 ms makes ten in a second; a probe response and two grants from one of them, a probe response
    // from the other. The probe responses, sent at once to an idle medium, collide: that of the nearer one is heard all
    // the same.
    let counters = [0, 1].map(|ap| *run.medium.station(StationId(ap)).counters());
    assert_eq!(counters.map(|counters| counters.data_ppdus - counters.retries), [10 + 1, 10 + 3]);
    assert!(counters[0].retries > 0);
}

#[test]
fn traffic_between_clients_goes_twice_through_the_air() {
    let specs = [spec(access_point(), rest(0.0, 0.0)), spec(client(), rest(3.0, 0.0)), spec(client(), rest(-3.0, 0.0))];
    let mut run = Run::new(&specs);
    run.until(Time::from_secs(1), |_, _| {});
    let seconds = 10;
    for _ in 0..20 {
        run.send(Time::from_secs(1), 0, 1, 2);
    }
    run.until(Time::from_secs(1 + seconds), |run, now| {
        while run.medium.station(StationId(1)).queued() < 20 {
            run.send(now, 0, 1, 2);
        }
    });
    let found = run.arrived.len() as f64 * f64::from(PACKET) * 8.0 / seconds as f64;
    // Sender and access point contend as two saturated stations, and half of what they carry counts.
    let phy = Settings::new(Standard::A);
    let mode = phy.at_rate(BitRate::from_mbps(24)).unwrap();
    let difs = phy.timing().difs;
    let exchange = Exchange::basic(&phy, mode, ofdm().mpdu_bytes(PACKET), Bytes::new(u64::from(PACKET)), difs);
    let backoff = Backoff { cw_min: 15, cw_max: 1_023, transmissions: Some(7) };
    let expected = backoff.saturation(2, &exchange).throughput.as_bps() as f64 / 2.0;
    assert!((found / expected - 1.0).abs() < 0.05, "{found} bit/s, expected {expected}");
    assert!(run.arrived.iter().all(|(.., at)| *at == StationId(2)));
}

#[test]
fn traffic_follows_a_client_from_one_access_point_to_the_other() {
    // Access points 200 m apart. The client walks from one to the other at 10 m/s, with packets on their way to it all
    // the time.
    let walk = "$node_(0) set X_ 5010.0\n$node_(0) set Y_ 5000.0\n$node_(0) set Z_ 0.0\n$ns_ at 0.0 \"$node_(0) setdest 5190.0 5000.0 10.0\"\n";
    let walk = read_setdest(walk, 1, &area()).unwrap().remove(0);
    let roam_below = free_space().threshold_for(70.0, &Radio::default(), &Radio::default()).unwrap();
    let roaming = Role::Client(ClientSpec { roam_below, hysteresis_db: 3.0, ..ClientSpec::default() });
    let specs = [
        spec(access_point(), rest(0.0, 0.0)),
        spec(access_point(), rest(200.0, 0.0)),
        spec(roaming, walk),
        spec(client(), rest(5.0, 5.0)),
    ];
    let mut run = Run::new(&specs);
    let (start, end) = (Time::from_ms(500), Time::from_secs(20));
    run.steadily(3, 2, start, Time::from_ms(2), end);
    run.until(end + Time::from_secs(1), |_, _| {});

    let moves: Vec<Option<StationId>> =
        run.moves.iter().filter(|(_, station, _)| *station == StationId(2)).map(|(.., ap)| *ap).collect();
    assert_eq!(moves, [Some(StationId(0)), Some(StationId(1))]);
    let when = run.moves.iter().rfind(|(_, station, _)| *station == StationId(2)).map(|(when, ..)| *when).unwrap();
    // 3 dB more from the other one: at 117 m of 200 m in free space, 10.7 s after the start; the mean follows within a
    // few beacons.
    assert!(when > Time::from_ms(10_600) && when < Time::from_ms(12_000), "{when}");

    let mut packets: Vec<u32> = run.arrived.iter().map(|(_, packet, _)| *packet).collect();
    let sent = ((end.as_us() - start.as_us()) / 2_000 + 1) as usize;
    let arrived = packets.len();
    packets.sort_unstable();
    packets.dedup();
    assert_eq!(packets.len(), arrived, "a packet arrived twice");
    assert!(sent - arrived <= 2, "{arrived} of {sent} arrived");
    let gap = run.arrived.windows(2).map(|pair| pair[1].0.saturating_sub(pair[0].0)).max().unwrap();
    assert!(gap < Time::from_ms(50), "nothing arrived for {gap}");
}

#[test]
fn a_client_that_loses_its_access_point_finds_it_again() {
    // The client walks out of range and comes back.
    let deaf = free_space().threshold_for(100.0, &Radio::default(), &Radio::default()).unwrap();
    let radio = Radio { sensitivity: deaf, cca_signal: deaf, cca_energy: Dbm(0.0), ..Radio::default() };
    let walk = "$node_(0) set X_ 5080.0\n$node_(0) set Y_ 5000.0\n$node_(0) set Z_ 0.0\n$ns_ at 1.0 \"$node_(0) setdest 5120.0 5000.0 10.0\"\n$ns_ at 6.0 \"$node_(0) setdest 5080.0 5000.0 10.0\"\n";
    let walk = read_setdest(walk, 1, &area()).unwrap().remove(0);
    let mut specs = [spec(access_point(), rest(0.0, 0.0)), spec(client(), walk)];
    for spec in &mut specs {
        spec.radio = radio;
    }
    let mut run = Run::new(&specs);
    run.steadily(0, 1, Time::from_ms(500), Time::from_ms(10), Time::from_secs(12));
    let moves: Vec<Option<StationId>> = run.moves.iter().map(|(.., ap)| *ap).collect();
    assert_eq!(moves, [Some(StationId(0)), None, Some(StationId(0))]);
    // It leaves at 3 s, seven beacons later it knows; at 8 s it is back, a probe later it joins.
    let (lost, found) = (run.moves[1].0, run.moves[2].0);
    assert!(lost > Time::from_ms(3_600) && lost < Time::from_ms(3_830), "{lost}");
    assert!(found > Time::from_secs(8) && found < Time::from_ms(8_250), "{found}");
    let late = run.arrived.iter().filter(|(when, ..)| *when > found).count();
    assert!(late > 370, "{late} packets arrived after it came back");
}

#[test]
fn a_client_that_dozes_saves_its_radio_and_gets_its_packets_at_beacons() {
    for listen in [1, 5] {
        let saving = Role::Client(ClientSpec { listen_interval: Some(listen), ..ClientSpec::default() });
        let specs =
            [spec(access_point(), rest(0.0, 0.0)), spec(saving, rest(3.0, 0.0)), spec(client(), rest(-3.0, 0.0))];
        let mut run = Run::new(&specs);
        // A packet every 1.7 s.
        let interval = Time::from_ms(1_700);
        run.steadily(2, 1, Time::from_secs(2), interval, Time::from_secs(60));
        run.until(Time::from_secs(62), |_, _| {});
        let now = Time::from_secs(62);
        assert_eq!(run.arrived.len(), 35);
        let beacons = Time::from_us(102_400) * u64::from(listen);
        let mut longest = Time::ZERO;
        for (when, packet, _) in &run.arrived {
            let waited = when.saturating_sub(Time::from_secs(2) + interval * u64::from(*packet));
            assert!(waited < beacons + Time::from_ms(25), "{waited} with a listen interval of {listen}");
            longest = longest.max(waited);
        }
        assert!(longest > beacons / 2, "{longest}");
        let times = run.medium.radio_times(StationId(1));
        let doze = times.time(now, RadioState::Sleep).as_secs_f64() / now.as_secs_f64();
        // Awake for a guard of 0.5 ms and a beacon (112 us and its wait) per listen interval, and 100 ms after each
        // association.
        let awake = 0.0008 / beacons.as_secs_f64() + 0.5 / 62.0;
        assert!(1.0 - doze < awake + 0.005, "awake {} of the time, expected {awake}", 1.0 - doze);
        let total: Time = RadioState::ALL.map(|state| times.time(now, state)).into_iter().sum();
        assert_eq!(total, now);
        let sending = times.time(now, RadioState::Transmit);
        assert_eq!(sending, run.medium.station(StationId(1)).counters().airtime);
    }
}
