//! Saturated UDP through the simulated MAC, held against the closed form and against what ns-2 and ns-3 measured.

use crate::harness::Saturation;
use units::{BitRate, Bytes, Time};
use wifi::bianchi::{Backoff, Exchange, aggregate_limit};
use wifi::mac::{Aggregation, MacConfig};
use wifi::phy::{BasicRates, Mode, OfdmRate, Settings, Standard};
use wifi::rate::RateSpec;

const PAYLOAD: u32 = 1_472;
/// With the headers of UDP and IP.
const PACKET: u32 = PAYLOAD + 28;

struct Row {
    simulator: String,
    standard: Standard,
    mode: String,
    aggregate: bool,
    senders: u32,
    rts: bool,
    mbps: f64,
}

fn rows(simulator: &str) -> Vec<Row> {
    let text = include_str!("../data/udp_saturation.csv");
    let rows = text.lines().filter(|line| !line.starts_with('#')).skip(1).map(|line| {
        let field: Vec<&str> = line.split(',').collect();
        let standard = match field[1] {
            "b" => Standard::B,
            // What ns-2 has of 802.11g are the times of 802.11a.
            "a" | "g" => Standard::A,
            _ => Standard::N5,
        };
        Row {
            simulator: field[0].into(),
            standard,
            mode: field[2].into(),
            aggregate: field[3] == "1",
            senders: field[4].parse().unwrap(),
            rts: field[5] == "1",
            mbps: field[8].parse().unwrap(),
        }
    });
    rows.filter(|row| row.simulator == simulator).collect()
}

impl Row {
    fn mode(&self, phy: &Settings) -> Mode {
        if self.standard == Standard::N5 {
            return phy.mcs(self.mode.parse().unwrap()).unwrap();
        }
        phy.at_rate(BitRate::from_bps((self.mode.parse::<f64>().unwrap() * 1e6) as u64)).unwrap()
    }
    fn config(&self) -> MacConfig {
        let phy = Settings::new(self.standard);
        let aggregation = if self.aggregate { Aggregation::AMPDU } else { Aggregation::NONE };
        MacConfig { aggregation, ..MacConfig::new(phy, self.mode(&phy)) }
    }
    fn name(&self) -> String {
        let Self { simulator, standard, mode, aggregate, senders, rts, .. } = self;
        format!("{simulator} {standard} {mode}, aggregate {aggregate}, {senders} senders, RTS {rts}")
    }
}

/// Goodput in Mbit/s.
fn simulated(config: &MacConfig, packet: u32, senders: u32, seconds: u64) -> f64 {
    let mut saturation = Saturation::star(senders as usize, config, packet, 1);
    saturation.depth = 256;
    saturation.run(Time::ZERO, Time::from_secs(seconds));
    saturation.medium.ledger().check().unwrap();
    saturation.packets() as f64 * f64::from(PAYLOAD) * 8.0 / (seconds as f64 * 1e6)
}

fn fixed(config: &MacConfig) -> Mode {
    let RateSpec::Fixed(mode) = config.rate else { panic!("the rate is fixed here") };
    mode
}

/// The closed form for stations so set.
fn closed(config: &MacConfig, senders: u32) -> f64 {
    let (phy, mode) = (&config.phy, fixed(config));
    let access = config.access[usize::from(config.qos)];
    let (mpdu, payload) = (config.mpdu_bytes(PACKET), Bytes::new(PAYLOAD.into()));
    let exchange = if config.aggregation.mpdus > 1 {
        Exchange::aggregate(phy, mode, mpdu, aggregate_limit(mode, mpdu), payload, access.ifs)
    } else {
        Exchange::basic(phy, mode, mpdu, payload, access.ifs)
    };
    let exchange = if mpdu > config.rts_threshold {
        exchange.after_rts(phy, phy.request(mode), phy.response(phy.request(mode)), access.ifs)
    } else {
        exchange
    };
    let transmissions = Some(u32::from(config.retry_limits.short));
    let backoff = Backoff { cw_min: access.cw_min, cw_max: access.cw_max, transmissions };
    backoff.saturation(senders, &exchange).throughput.as_bps() as f64 / 1e6
}

fn assert_near(what: &str, found: f64, expected: f64, tolerance: f64) {
    let off = found / expected - 1.0;
    assert!(off.abs() < tolerance, "{what}: {found:.3} Mbit/s, {:+.2} % from {expected:.3}", 100.0 * off);
}

#[test]
fn one_sender_is_the_closed_form_and_ns3() {
    for row in rows("ns3").iter().filter(|row| row.senders == 1 && !row.rts) {
        let config = row.config();
        let found = simulated(&config, PACKET, 1, 20);
        assert_near(&format!("closed form, {}", row.name()), found, closed(&config, 1), 0.003);
        assert_near(&row.name(), found, row.mbps, 0.005);
    }
}

#[test]
fn one_sender_as_ns2_sets_it_is_ns2() {
    // ns-2 has no LLC and a header of 34 bytes, answers and asks at the lowest rate, and draws backoff from 0..CW-1.
    // With OFDM it has no service and tail bits (22, about 3 bytes) and no whole symbols: RTS, CTS and ACK last 16/3 us
    // less, by which the data are shortened here.
    for row in rows("ns2").iter().filter(|row| row.senders == 1) {
        let mut config = row.config();
        config.phy.basic = match row.standard {
            Standard::B => BasicRates::default().with_dsss(wifi::phy::DsssRate::R1),
            _ => BasicRates::default().with_ofdm(OfdmRate::R6),
        };
        config.access[0].cw_min -= 1;
        if row.rts {
            config.rts_threshold = 0;
        }
        let short_frames = if row.rts { 3.0 } else { 1.0 };
        let shorter = match row.standard {
            Standard::B => 0.0,
            _ => 3.0 + short_frames * 16.0 / 3.0 * fixed(&config).rate().as_bps() as f64 / 8e6,
        };
        let packet = PACKET + 34 - 36 - shorter as u32;
        assert_near(&row.name(), simulated(&config, packet, 1, 20), row.mbps, 0.005);
    }
}

#[test]
fn several_senders_are_as_bianchi_has_them() {
    for standard in [Standard::A, Standard::B, Standard::N5] {
        for senders in [2, 3, 5, 10] {
            let phy = Settings::new(standard);
            let mode = phy.modes().last().unwrap();
            let config = MacConfig { aggregation: Aggregation::NONE, ..MacConfig::new(phy, mode) };
            let what = format!("{standard} {mode}, {senders} senders");
            assert_near(&what, simulated(&config, PACKET, senders, 20), closed(&config, senders), 0.05);
            let rts = MacConfig { rts_threshold: 0, ..config };
            assert_near(&format!("{what}, RTS"), simulated(&rts, PACKET, senders, 20), closed(&rts, senders), 0.05);
        }
    }
}

#[test]
fn several_senders_are_as_ns3_has_them() {
    for row in rows("ns3").iter().filter(|row| row.senders > 1) {
        assert_near(&row.name(), simulated(&row.config(), PACKET, row.senders, 20), row.mbps, 0.05);
    }
}
