//! Interframe spaces, rates of answers and access categories against the standard's tables.

use units::{BitRate, Time};
use wifi::phy::AccessCategory::{Background, BestEffort, Video, Voice};
use wifi::phy::{
    AccessCategory, BasicRates, DsssRate, Edca, Guard, Mode, OfdmRate, Preamble, Settings, SettingsError, Standard,
    Width,
};

fn us(us: u64) -> Time {
    Time::from_us(us)
}

#[test]
fn interframe_spaces() {
    // slot, SIFS, DIFS = SIFS + 2 slots, EIFS = SIFS + DIFS + ACK at the lowest rate (304 us at 1 Mbit/s, 44 at 6
    // Mbit/s, 50 with the extension).
    let table = [
        (Settings::new(Standard::B), 20, 10, 50, 364, 31),
        (Settings::new(Standard::A), 9, 16, 34, 94, 15),
        (Settings::new(Standard::G), 9, 10, 28, 88, 15),
        (Settings::new(Standard::G).among_dsss(), 20, 10, 50, 364, 31),
        (Settings::new(Standard::N2_4), 9, 10, 28, 88, 15),
        (Settings::new(Standard::N2_4).among_dsss(), 20, 10, 50, 364, 31),
        (Settings::new(Standard::N5), 9, 16, 34, 94, 15),
        (Settings::new(Standard::N5).among_dsss(), 9, 16, 34, 94, 15),
    ];
    for (settings, slot, sifs, difs, eifs, cw_min) in table {
        let timing = settings.timing();
        assert_eq!((timing.slot, timing.sifs, timing.difs), (us(slot), us(sifs), us(difs)), "{settings:?}");
        assert_eq!((timing.eifs, timing.cw_min, timing.cw_max), (us(eifs), cw_min, 1023), "{settings:?}");
    }
    // SIFS, a slot, and the 20 us after which the preamble of OFDM has shown.
    let a = Settings::new(Standard::A);
    assert_eq!(a.response_timeout(a.slowest()), us(16 + 9 + 20));
}

#[test]
fn answers_go_at_the_highest_basic_rate_not_above() {
    let a = Settings::new(Standard::A);
    let answer = |settings: &Settings, mbps| {
        settings.response(settings.at_rate(BitRate::from_mbps(mbps)).expect("a rate of the standard")).rate()
    };
    let answers = [6, 9, 12, 18, 24, 36, 48, 54].map(|rate| answer(&a, rate).as_bps() / 1_000_000);
    assert_eq!(answers, [6, 6, 12, 12, 24, 24, 24, 24]);
    // Basic rates of a careful access point.
    let low = Settings { basic: BasicRates::default().with_ofdm(OfdmRate::R6), ..a };
    assert_eq!(answer(&low, 54), BitRate::from_mbps(6));
    // No basic rate is low enough: the mandatory ones.
    let high = Settings { basic: BasicRates::default().with_ofdm(OfdmRate::R24), ..a };
    assert_eq!(answer(&high, 18), BitRate::from_mbps(12));

    let b = Settings {
        basic: BasicRates::default().with_dsss(DsssRate::R1).with_dsss(DsssRate::R2),
        ..Settings::new(Standard::B)
    };
    assert_eq!(answer(&b, 11), BitRate::from_mbps(2));
    assert_eq!(answer(&Settings::new(Standard::B), 11), BitRate::from_mbps(11));
}

#[test]
fn answers_to_ht_go_in_ofdm() {
    let n = Settings { streams: 2, ..Settings::new(Standard::N5) };
    let answers: Vec<_> = n.modes().map(|mode| n.response(mode).rate().as_bps() / 1_000_000).collect();
    // BPSK 1/2: 6; QPSK: 12; 16-QAM and above: 24; by stream alike (table 9-6).
    assert_eq!(answers, [6, 12, 12, 24, 24, 24, 24, 24, 6, 12, 12, 24, 24, 24, 24, 24]);
    assert!(n.modes().all(|mode| matches!(n.response(mode), Mode::Ofdm(..))));
}

#[test]
fn among_dsss_what_it_cannot_hear_is_announced() {
    let g = Settings { preamble: Preamble::Short, ..Settings::new(Standard::G).among_dsss() };
    let fast = g.at_rate(BitRate::from_mbps(54)).expect("ERP-OFDM");
    assert!(g.needs_protection(fast));
    assert_eq!(g.request(fast), Mode::dsss(DsssRate::R11, Preamble::Short));
    assert_eq!(g.response(fast).rate(), BitRate::from_mbps(24));
    let slow = g.at_rate(BitRate::from_mbps(11)).expect("CCK");
    assert!(!g.needs_protection(slow));

    let alone = Settings::new(Standard::G);
    assert!(!alone.needs_protection(fast));
    assert_eq!(alone.request(fast).rate(), BitRate::from_mbps(24));
}

#[test]
fn access_categories() {
    let at = |settings: Settings, category| {
        let edca = Edca::station(settings.standard, &settings.timing(), category);
        (edca.aifsn, edca.cw_min, edca.cw_max, edca.txop_limit.as_us())
    };
    let n = Settings::new(Standard::N5);
    let of_n = AccessCategory::ALL.map(|category| at(n, category));
    assert_eq!(of_n, [(7, 15, 1023, 0), (3, 15, 1023, 0), (2, 7, 15, 3_008), (2, 3, 7, 1_504)]);
    let of_b = AccessCategory::ALL.map(|category| at(Settings::new(Standard::B), category));
    assert_eq!(of_b, [(7, 31, 1023, 0), (3, 31, 1023, 0), (2, 15, 31, 6_016), (2, 7, 15, 3_264)]);

    let timing = n.timing();
    let best_effort = Edca::access_point(Standard::N5, &timing, BestEffort);
    assert_eq!((best_effort.aifsn, best_effort.cw_min, best_effort.cw_max), (3, 15, 63));
    assert_eq!(best_effort.aifs(&timing), us(16 + 27));
    assert_eq!(Edca::access_point(Standard::N5, &timing, Voice).aifs(&timing), us(16 + 9));

    let by_priority = [0, 1, 2, 3, 4, 5, 6, 7].map(AccessCategory::of_priority);
    assert_eq!(by_priority, [BestEffort, Background, Background, BestEffort, Video, Video, Voice, Voice]);
}

#[test]
fn what_a_standard_does_not_have_is_refused() {
    let b = Settings::new(Standard::B);
    let error = b.at_rate(BitRate::from_mbps(54)).expect_err("no OFDM");
    assert_eq!(
        error.to_string(),
        "802.11b as set has no rate of 54 Mbit/s; it has 1 Mbit/s, 2 Mbit/s, 5.5 Mbit/s, 11 Mbit/s"
    );
    let n = Settings::new(Standard::N2_4);
    let error = n.mcs(8).expect_err("one stream");
    assert_eq!(error.to_string(), "802.11n at 2.4 GHz with 1 spatial streams has no MCS 8; it has MCS 0-7");
    assert!(b.mcs(0).is_err());
    let wide = Settings { streams: 4, width: Width::Mhz40, guard: Guard::Short, ..n };
    assert_eq!(wide.mcs(31).expect("four streams").rate(), BitRate::from_mbps(600));
    assert!(wide.mcs(32).is_err());
    assert_eq!(Settings { streams: 5, ..n }.check(), Err(SettingsError::Streams(5)));
    assert_eq!((b.modes().count(), n.modes().count(), wide.modes().count()), (4, 8, 32));
}
