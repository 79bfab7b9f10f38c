//! The closed forms of saturation against Bianchi's own, a Markov chain solved numerically, a slot-by-slot simulation,
//! and what ns-2 and ns-3 measured.

use des::RandomStream;
use units::{BitRate, Bytes, Time};
use wifi::bianchi::{Backoff, Exchange, aggregate_bytes, aggregate_limit};
use wifi::phy::{Mode, Settings, Standard};

const DCF: Backoff = Backoff { cw_min: 15, cw_max: 1023, transmissions: Some(7) };

#[test]
fn attempts_are_bianchis_when_nothing_is_given_up() {
    // Bianchi (2000), equation 7, with W = 32 and m stages.
    for (m, cw_max) in [(0, 31), (3, 255), (5, 1023)] {
        let backoff = Backoff { cw_min: 31, cw_max, transmissions: None };
        for p in [0.0, 0.1, 0.3, 0.49, 0.7, 0.95] {
            let w = 32.0;
            let tau = 2.0 * (1.0 - 2.0 * p)
                / ((1.0 - 2.0 * p) * (w + 1.0) + p * w * (1.0 - libm::pow(2.0 * p, f64::from(m))));
            assert!((backoff.attempt(p) - tau).abs() < 1e-12, "m {m} p {p}: {} not {tau}", backoff.attempt(p));
        }
    }
}

/// The share of slots with a transmission in the chain of (stage, counter), by 4000 steps from a fresh frame and the
/// mean of the last 2000.
fn chain(backoff: &Backoff, p: f64) -> f64 {
    let stages = backoff.transmissions.expect("a finite chain") as usize;
    let windows: Vec<usize> = (0..stages)
        .map(|stage| (((backoff.cw_min as usize + 1) << stage) - 1).min(backoff.cw_max as usize) + 1)
        .collect();
    let mut state: Vec<Vec<f64>> = windows.iter().map(|&window| vec![0.0; window]).collect();
    state[0][0] = 1.0;
    let mut sum = 0.0;
    for step in 0..40_000 {
        let mut next: Vec<Vec<f64>> = windows.iter().map(|&window| vec![0.0; window]).collect();
        for stage in 0..stages {
            for counter in 1..windows[stage] {
                next[stage][counter - 1] += state[stage][counter];
            }
            let transmits = state[stage][0];
            let fails = if stage + 1 < stages { p } else { 0.0 };
            let share = transmits * (1.0 - fails) / windows[0] as f64;
            next[0].iter_mut().for_each(|entry| *entry += share);
            if stage + 1 < stages {
                let share = transmits * fails / windows[stage + 1] as f64;
                next[stage + 1].iter_mut().for_each(|entry| *entry += share);
            }
        }
        state = next;
        if step >= 20_000 {
            sum += state.iter().map(|stage| stage[0]).sum::<f64>();
        }
    }
    sum / 20_000.0
}

#[test]
fn attempts_with_a_limit_are_those_of_the_chain() {
    let backoff = Backoff { cw_min: 7, cw_max: 31, transmissions: Some(4) };
    for p in [0.0, 0.2, 0.6, 1.0] {
        let (tau, exact) = (backoff.attempt(p), chain(&backoff, p));
        assert!((tau - exact).abs() < 1e-3 * exact, "p {p}: {tau} not {exact}");
    }
}

/// Stations that count down in every slot, busy ones too, as Bianchi has it: (throughput in bit/s, share of
/// transmissions that collide).
fn by_slots(stations: usize, backoff: &Backoff, exchange: &Exchange) -> (f64, f64) {
    let mut random = RandomStream::new(1, "wifi/bianchi", 0);
    let mut draw = |cw: u32| random.below(u64::from(cw) + 1);
    let mut state: Vec<(u32, u32, u64)> = (0..stations).map(|_| (backoff.cw_min, 1, draw(backoff.cw_min))).collect();
    let (mut time, mut successes, mut transmissions) = (Time::ZERO, 0_u64, 0_u64);
    for _ in 0..1_000_000 {
        let ready = state.iter().filter(|station| station.2 == 0).count();
        transmissions += ready as u64;
        successes += u64::from(ready == 1);
        time += match ready {
            0 => exchange.slot,
            1 => exchange.success,
            _ => exchange.collision,
        };
        for (cw, tries, counter) in &mut state {
            if *counter > 0 {
                *counter -= 1;
                continue;
            }
            if ready == 1 || Some(*tries) == backoff.transmissions {
                (*cw, *tries) = (backoff.cw_min, 1);
            } else {
                (*cw, *tries) = ((2 * *cw + 1).min(backoff.cw_max), *tries + 1);
            }
            *counter = draw(*cw);
        }
    }
    let bits = successes * exchange.payload.get() * 8;
    (bits as f64 / time.as_secs_f64(), 1.0 - successes as f64 / transmissions as f64)
}

#[test]
fn saturation_is_that_of_a_simulation_by_slots() {
    let settings = Settings::new(Standard::A);
    let mode = settings.at_rate(BitRate::from_mbps(54)).expect("OFDM");
    let exchange = Exchange::basic(&settings, mode, 1_536, Bytes::new(1_472), settings.timing().difs);
    // That p is independent of the past is nearly true: the more, the more stations there are.
    for (stations, close) in [(1, 0.001), (2, 0.02), (5, 0.01), (10, 0.01), (30, 0.01)] {
        let closed = DCF.saturation(stations, &exchange);
        let (throughput, collision) = by_slots(stations as usize, &DCF, &exchange);
        let ratio = throughput / closed.throughput.as_bps() as f64;
        assert!((ratio - 1.0).abs() < close, "{stations} stations: {ratio}");
        assert!((collision - closed.collision).abs() < 0.02, "{stations} stations: {collision} {}", closed.collision);
    }
}

#[test]
fn times_are_those_of_bianchis_table() {
    // Bianchi's example: payload 8184 bits, headers 272 + 128, ACK 112 + 128, SIFS 28, DIFS 128, all at 1 Mbit/s,
    // without its 1 us of propagation: T_s = 8982 of which 2 are propagation, T_c = 8713 of which 1. With W = 32 and
    // three doublings the throughput hardly depends on n (figure 6).
    let (slot, payload) = (Time::from_us(50), Bytes::new(1_023));
    let exchange = Exchange { slot, payload, success: Time::from_us(8_982), collision: Time::from_us(8_713) };
    let backoff = Backoff { cw_min: 31, cw_max: 255, transmissions: None };
    let share = |n| backoff.saturation(n, &exchange).throughput.as_bps() as f64 / 1e6;
    // One station: 15.5 slots and the exchange.
    assert!((share(1) - 8_184.0 / (15.5 * 50.0 + 8_982.0)).abs() < 1e-6);
    assert!(share(5) > share(10) && share(10) > share(20) && share(20) > share(50));
    assert!(backoff.saturation(50, &exchange).collision > backoff.saturation(5, &exchange).collision);
}

#[test]
fn aggregates_are_bounded_by_bytes_time_and_window() {
    let n = Settings::new(Standard::N5);
    let mcs = |mcs| n.mcs(mcs).expect("one stream");
    // 4 + 1538 is padded to 1544.
    assert_eq!(aggregate_bytes(1_538, 3), 2 * 1_544 + 1_542);
    // MCS 7: 1362 symbols of 260 bits fit in 5.484 ms: 44262 bytes, 28 MPDUs. MCS 0: 4426 bytes, 2.
    assert_eq!(aggregate_limit(mcs(7), 1_538), 28);
    assert_eq!(aggregate_limit(mcs(0), 1_538), 2);
    // Short ones: the window of 64. In 40 MHz with four streams: 65535 bytes.
    assert_eq!(aggregate_limit(mcs(7), 100), 64);
    let wide = Settings { streams: 4, width: wifi::phy::Width::Mhz40, ..n };
    assert_eq!(aggregate_limit(wide.mcs(31).expect("four streams"), 1_538), 42);
}

struct Row {
    simulator: String,
    standard: String,
    mode: String,
    aggregate: bool,
    senders: u32,
    rts: bool,
    mbps: f64,
}

fn rows() -> Vec<Row> {
    include_str!("../data/udp_saturation.csv")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .skip(1)
        .map(|line| {
            let field: Vec<&str> = line.split(',').collect();
            Row {
                simulator: field[0].into(),
                standard: field[1].into(),
                mode: field[2].into(),
                aggregate: field[3] == "1",
                senders: field[4].parse().expect("a count"),
                rts: field[5] == "1",
                mbps: field[8].parse().expect("a rate"),
            }
        })
        .collect()
}

/// What the closed form says of a row of ns-3: LLC 8, IP and UDP 28 bytes, MAC header and FCS 28 (with QoS 30).
fn predicted(row: &Row) -> f64 {
    let standard = match row.standard.as_str() {
        "a" => Standard::A,
        "b" => Standard::B,
        _ => Standard::N5,
    };
    let settings = Settings::new(standard);
    let timing = settings.timing();
    let payload = Bytes::new(1_472);
    let backoff = Backoff { cw_min: timing.cw_min, cw_max: timing.cw_max, transmissions: Some(7) };
    let exchange = if standard == Standard::N5 {
        let mode = settings.mcs(row.mode.parse().expect("an MCS")).expect("one stream");
        let aifs = timing.sifs + timing.slot * 3;
        let mpdu = 1_472 + 36 + 30;
        if row.aggregate {
            Exchange::aggregate(&settings, mode, mpdu, aggregate_limit(mode, mpdu), payload, aifs)
        } else {
            Exchange::basic(&settings, mode, mpdu, payload, aifs)
        }
    } else {
        let mode = settings.at_rate(BitRate::from_mbps(row.mode.parse().expect("Mbit/s"))).expect("a rate");
        let exchange = Exchange::basic(&settings, mode, 1_472 + 36 + 28, payload, timing.difs);
        // ns-3 sent RTS, and with it CTS, at its control rate of 6 Mbit/s.
        let slowest: Mode = settings.slowest();
        if row.rts { exchange.after_rts(&settings, slowest, slowest, timing.difs) } else { exchange }
    };
    backoff.saturation(row.senders, &exchange).throughput.as_bps() as f64 / 1e6
}

#[test]
fn one_sender_of_ns3_is_within_half_a_percent() {
    let single: Vec<Row> = rows().into_iter().filter(|row| row.simulator == "ns3" && row.senders == 1).collect();
    assert_eq!(single.len(), 23);
    for row in single {
        let ratio = row.mbps / predicted(&row);
        let what = format!("{} {} aggregate {} rts {}", row.standard, row.mode, row.aggregate, row.rts);
        assert!((ratio - 1.0).abs() < 0.005, "{what}: {} Mbit/s, ratio {ratio}", row.mbps);
    }
}

#[test]
fn one_sender_of_ns2_is_within_half_a_percent() {
    // ns-2: headers of 34 bytes and 28 of UDP and IP, no LLC; rates without symbols or whole us; ACK, RTS at the basic
    // rate; backoff from 0..CW-1 (its mean is half a slot less): here as a window smaller by one.
    let single: Vec<Row> = rows().into_iter().filter(|row| row.simulator == "ns2" && row.senders == 1).collect();
    assert_eq!(single.len(), 8);
    for row in single {
        let b = row.standard == "b";
        let (slot, sifs, plcp, basic, cw_min) = if b { (20, 10, 192, 1, 30) } else { (9, 16, 20, 6, 14) };
        let bits = |bytes: u64, rate: BitRate| Time::from_us(plcp) + rate.transmission_time(Bytes::new(bytes));
        let rate = BitRate::from_bps((row.mode.parse::<f64>().expect("Mbit/s") * 1e6) as u64);
        let basic = BitRate::from_mbps(basic);
        let (slot, sifs) = (Time::from_us(slot), Time::from_us(sifs));
        let mut success = bits(1_534, rate) + sifs + bits(14, basic) + sifs + slot * 2;
        if row.rts {
            success += bits(20, basic) + sifs + bits(14, basic) + sifs;
        }
        let exchange = Exchange { slot, success, collision: success, payload: Bytes::new(1_472) };
        let closed = Backoff { cw_min, cw_max: 1023, transmissions: Some(7) }.saturation(1, &exchange);
        let ratio = row.mbps / (closed.throughput.as_bps() as f64 / 1e6);
        assert!((ratio - 1.0).abs() < 0.005, "{} {} rts {}: ratio {ratio}", row.standard, row.mode, row.rts);
    }
}

#[test]
fn several_senders_of_ns3_are_as_near_as_bianchi_comes() {
    // Real stations do not count down in a busy slot, and their collisions end sooner than EIFS: ns-3 is -1 to +4 %
    // off. What collides of an A-MPDU differs from one to the next, for which he has no term.
    for row in rows().iter().filter(|row| row.simulator == "ns3" && row.senders > 1 && !row.aggregate) {
        let ratio = row.mbps / predicted(row);
        let what = format!("{} {} with {}", row.standard, row.mode, row.senders);
        assert!((0.98..1.05).contains(&ratio), "{what}: ratio {ratio}");
    }
}
