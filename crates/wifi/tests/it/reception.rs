//! Receivers: what they follow, when the channel is busy, and what comes through, against sums worked by hand.

use des::RandomStream;
use proptest::prelude::*;
use units::Time;
use wifi::phy::{
    Band, Capture, Code, DsssRate, Ended, ErrorModel, ErrorTable, Guard, Ht, HtFormat, Mode, OfdmRate, Preamble,
    Receiver, ReceiverModel, Reception, ReceptionSpec, Settings, Signal, Standard, ThresholdReception, Thresholds,
    Understands, Width,
};
use wifi::propagation::{Dbm, Radio};

const SLOW: Mode = Mode::Ofdm(OfdmRate::R6, Band::Ghz5);
const FAST: Mode = Mode::Ofdm(OfdmRate::R54, Band::Ghz5);

fn us(us: u64) -> Time {
    Time::from_us(us)
}

fn signal(id: u32, dbm: f64, mode: Mode) -> Signal {
    Signal { id, milliwatts: Dbm(dbm).milliwatts(), mode }
}

/// Receivers by the NIST model, where every bit of a frame has the same error rate: sums over parts of a frame are then
/// easily worked by hand.
fn bounds() -> ReceptionSpec {
    ReceptionSpec { errors: ErrorModel::Nist, ..ReceptionSpec::default() }
}

fn receiver(capture: Capture) -> Reception {
    let spec = ReceptionSpec { capture, ..bounds() };
    Reception::new(&Radio::default(), &Settings::new(Standard::N2_4), &spec, RandomStream::new(1, "wifi/phy", 0))
}

/// Noise of the default radio over 20 MHz: -101 dBm and 7 dB.
fn noise() -> f64 {
    Radio::default().noise(20e6).milliwatts()
}

#[test]
fn a_strong_signal_alone_comes_through() {
    let mut receiver = receiver(Capture::Off);
    assert!(!receiver.busy());
    assert!(receiver.begin(us(100), &signal(1, -50.0, FAST)));
    assert!(receiver.busy());
    assert_eq!(receiver.following(), Some(1));
    assert_eq!(receiver.end(us(100) + FAST.duration(1_500), 1), Ended::Payload);
    assert!(!receiver.busy());
    assert!(receiver.mpdu(0, 1_500));
    assert!((10.0 * libm::log10(receiver.snr()) - 43.96).abs() < 0.02, "{}", receiver.snr());
}

#[test]
fn a_weak_signal_is_neither_followed_nor_noticed() {
    // Sensitivity is -82 dBm, and so is the threshold of carrier sense.
    let mut receiver = receiver(Capture::Off);
    assert!(!receiver.begin(us(0), &signal(1, -82.1, SLOW)));
    assert!(!receiver.busy());
    assert_eq!(receiver.end(us(500), 1), Ended::Unheard);
    assert!(receiver.begin(us(600), &signal(2, -81.9, SLOW)));
    assert!(receiver.busy());
}

#[test]
fn a_sender_is_deaf_but_feels_energy() {
    let mut receiver = receiver(Capture::Anytime(10.0));
    receiver.send(true);
    assert!(receiver.busy());
    assert!(!receiver.begin(us(10), &signal(1, -70.0, SLOW)));
    assert!(!receiver.begin(us(12), &signal(2, -61.0, SLOW)));
    receiver.send(false);
    // Both preambles are past; -61 dBm of energy is above -62, -70 is not.
    assert!(receiver.busy());
    assert_eq!(receiver.end(us(500), 2), Ended::Unheard);
    assert!(!receiver.busy());
    assert_eq!(receiver.end(us(510), 1), Ended::Unheard);
    // Sending cuts off what is being received.
    assert!(receiver.begin(us(600), &signal(3, -50.0, SLOW)));
    receiver.send(true);
    receiver.send(false);
    assert_eq!(receiver.end(us(900), 3), Ended::Unheard);
}

#[test]
fn interference_adds_up() {
    // Signals of -64 dBm make energy of -61 dBm together.
    let mut receiver = receiver(Capture::Off);
    receiver.send(true);
    receiver.begin(us(0), &signal(1, -64.0, SLOW));
    receiver.begin(us(1), &signal(2, -64.0, SLOW));
    receiver.send(false);
    assert!(receiver.busy());
    receiver.end(us(5), 1);
    assert!(!receiver.busy());
    receiver.end(us(6), 2);

    // Of eight interferers at -20 dB each leaves 6 Mbit/s alone, all together do not: 11 dB remain, too little for 24
    // Mbit/s.
    let mode = Mode::Ofdm(OfdmRate::R24, Band::Ghz5);
    assert!(receiver.begin(us(100), &signal(9, -50.0, mode)));
    for id in 10..18 {
        assert!(!receiver.begin(us(110), &signal(id, -70.0, SLOW)));
    }
    assert_eq!(receiver.end(us(100) + mode.duration(1_500), 9), Ended::Payload);
    let sinr = 1e-5 / (8e-7 + noise());
    let table = ErrorTable::of(ErrorModel::Nist);
    let expected = table.success(mode, sinr, 16.0 + 12_000.0);
    assert!(expected > 0.0 && expected < 0.9, "{expected}");
    assert!((receiver.probability(0, 1_500) - expected).abs() < 1e-9, "{} {expected}", receiver.probability(0, 1_500));
    let (one, eight) = (table.success(mode, 1e-5 / (1e-7 + noise()), 12_016.0), expected);
    assert!(one > 0.999 && eight < one);
}

#[test]
fn each_mpdu_has_the_interference_of_its_time() {
    // MCS 7: 260 bits in 4 us, payload from 36 us on. 1000 bytes and 16 bits of service take 123.3 us, a further 1000
    // 123.1 us.
    let mode = Mode::ht(7, Width::Mhz20, Guard::Long, Band::Ghz5).expect("MCS 7");
    let mut receiver = receiver(Capture::Off);
    let mut end = us(0);
    let mut run = |from: u64, to: u64, dbm: f64| {
        let start = end;
        receiver.begin(start, &signal(1, -60.0, mode));
        receiver.begin(start + us(from), &signal(2, dbm, SLOW));
        assert_eq!(receiver.end(start + us(to), 2), Ended::Unheard);
        end = start + mode.duration(3_000);
        assert_eq!(receiver.end(end, 1), Ended::Payload);
        [0, 1_000, 2_000].map(|offset| receiver.probability(offset, 1_000))
    };
    // Interference within the second MPDU: 159.4 to 282.5 us.
    let [first, second, third] = run(170, 270, -62.0);
    assert!(first > 0.999_999 && third > 0.999_999 && second < 1e-9, "{first} {second} {third}");
    // Weaker, over the last 100 us of the first and the first 60 of the second: by the bits that it meets.
    let at = |sinr: f64, bits: f64| ErrorTable::of(ErrorModel::Nist).success(mode, sinr, bits);
    let (clear, poor) = (1e-6 / noise(), 1e-6 / (Dbm(-83.8).milliwatts() + noise()));
    let first_ends = 36.0 + (16.0 + 8_000.0) * 4.0 / 260.0;
    let from = 59.0;
    let to = 219.0;
    let [first, second, third] = run(59, 219, -83.8);
    let (bad, good) = ((first_ends - from) * 65.0, (from - 36.0) * 65.0);
    let expected = at(poor, bad) * at(clear, good);
    assert!(expected > 0.1 && expected < 0.9, "{expected}");
    assert!((first - expected).abs() < 1e-6, "{first} not {expected}");
    let bad = (to - first_ends) * 65.0;
    let expected = at(poor, bad) * at(clear, 8_000.0 - bad);
    assert!((second - expected).abs() < 1e-6, "{second} not {expected}");
    assert!((third - at(clear, 8_000.0)).abs() < 1e-9);
}

#[test]
fn frames_are_lost_as_often_as_reckoned() {
    // At 21.9 dB a frame at 54 Mbit/s is lost now and then; with a weaker code word at 6 Mbit/s the header is, too.
    let radio = Radio { sensitivity: Dbm(-95.0), ..Radio::default() };
    for (mode, snr_db, bytes) in
        [(FAST, 22.0, 500_u32), (SLOW, 4.0, 1_000), (Mode::dsss(DsssRate::R11, Preamble::Short), 7.0, 1_000)]
    {
        let noise = radio.noise(mode.bandwidth_hz());
        let spec = ReceptionSpec { capture: Capture::Off, ..bounds() };
        let mut receiver =
            Reception::new(&radio, &Settings::new(Standard::N2_4), &spec, RandomStream::new(2, "wifi/phy", 0));
        let table = ErrorTable::of(ErrorModel::Nist);
        let sinr = libm::pow(10.0, snr_db / 10.0);
        let (header, service) = match mode {
            Mode::Dsss(..) => (table.success(Mode::dsss(DsssRate::R2, Preamble::Short), sinr, 48.0), 0.0),
            _ => (table.success(SLOW, sinr, 24.0), 16.0),
        };
        let expected = header * table.success(mode, sinr, service + 8.0 * f64::from(bytes));
        let (mut right, tries) = (0, 20_000);
        let mut now = us(0);
        for id in 0..tries {
            assert!(receiver.begin(now, &signal(id, noise.0 + snr_db, mode)), "{mode}");
            now += mode.duration(bytes);
            right += u32::from(receiver.end(now, id) == Ended::Payload && receiver.mpdu(0, bytes));
        }
        let (share, deviation) =
            (f64::from(right) / f64::from(tries), libm::sqrt(expected * (1.0 - expected) / f64::from(tries)));
        assert!(expected > 0.1 && expected < 0.99, "{mode}: {expected}");
        assert!((share - expected).abs() < 4.0 * deviation, "{mode}: {share} not {expected}");
    }
}

#[test]
fn each_mpdu_goes_by_the_curve_of_its_length() {
    // At 19.5 dB MCS 7 loses 0.1234 of frames of 1,458 bytes and 0.0053 of those of 32 (published points). As MPDUs of
    // one PPDU the same; the first has 16 bits of service besides. LDPC loses next to nothing there.
    let run = |code| {
        let ht = Ht::new(7, Width::Mhz20, Guard::Long, Band::Ghz5).expect("MCS 7").with_code(code);
        let mode = Mode::Ht(ht);
        let phy = Settings { code, ..Settings::new(Standard::N5) };
        let spec = ReceptionSpec::default();
        let mut receiver = Reception::new(&Radio::default(), &phy, &spec, RandomStream::new(1, "wifi/phy", 0));
        let noise_dbm = Radio::default().noise(20e6).0;
        assert!(receiver.begin(us(0), &signal(1, noise_dbm + 19.5, mode)));
        assert_eq!(receiver.end(mode.duration(3_000), 1), Ended::Payload);
        [(100, 1_458), (1_600, 32), (1_700, 729)].map(|(offset, bytes)| 1.0 - receiver.probability(offset, bytes))
    };
    let [long, short, half] = run(Code::Convolutional);
    assert!((long - 0.1234).abs() < 0.002 && (short - 0.0053).abs() < 0.000_1, "{long} {short}");
    // Half as long: the square root of the success.
    assert!((half - (1.0 - libm::sqrt(1.0 - 0.1234))).abs() < 0.002, "{half}");
    assert!(run(Code::Ldpc).iter().all(|lost| *lost < 1e-3));
    // A station without LDPC knows how long such a frame is, and no more.
    let coded = Ht::new(7, Width::Mhz20, Guard::Long, Band::Ghz5).expect("MCS 7").with_code(Code::Ldpc);
    assert_eq!(Settings::new(Standard::N5).understands(Mode::Ht(coded)), Understands::Preamble);
}

#[test]
fn two_antennas_carry_two_streams() {
    let table = ErrorTable::of(ErrorModel::Nist);
    let probability = |mcs, antennas| {
        let mode = Mode::ht(mcs, Width::Mhz20, Guard::Long, Band::Ghz5).expect("an MCS");
        let phy = Settings { streams: antennas, ..Settings::new(Standard::N5) };
        let mut receiver = Reception::new(&Radio::default(), &phy, &bounds(), RandomStream::new(1, "wifi/phy", 0));
        assert!(receiver.begin(us(0), &signal(1, -93.97 + 23.5, mode)));
        let ended = receiver.end(mode.duration(1_000), 1);
        assert_eq!(ended, if mode.streams() <= u32::from(antennas) { Ended::Payload } else { Ended::Broken });
        (receiver.probability(0, 1_000), mode)
    };
    let (one, mode) = probability(7, 1);
    let sinr = Dbm(-93.97 + 23.5).milliwatts() / noise();
    assert!((one - table.success(mode, sinr, 8_016.0)).abs() < 1e-6 && one > 0.1 && one < 0.9, "{one}");
    // Two streams to two antennas as one to one; one stream to two antennas has 3 dB more; one antenna cannot tell two
    // streams.
    assert!((probability(15, 2).0 - one).abs() < 1e-9);
    assert!((probability(7, 2).0 - table.success(mode, 2.0 * sinr, 8_016.0)).abs() < 1e-6);
    probability(15, 1);
}

#[test]
fn older_stations_understand_less() {
    use Understands::{Energy, Payload, Preamble as Length};
    let dsss = Mode::dsss(DsssRate::R1, Preamble::Long);
    let ofdm = Mode::Ofdm(OfdmRate::R6, Band::Ghz2_4);
    let ht = |mcs, width| Ht::new(mcs, width, Guard::Long, Band::Ghz2_4).expect("an MCS");
    let (one, two, wide) = (ht(0, Width::Mhz20), ht(8, Width::Mhz20), ht(0, Width::Mhz40));
    let modes =
        [dsss, ofdm, Mode::Ht(one), Mode::Ht(one.with_format(HtFormat::Greenfield)), Mode::Ht(two), Mode::Ht(wide)];
    for (standard, expected) in [
        (Standard::B, [Payload, Energy, Energy, Energy, Energy, Energy]),
        (Standard::G, [Payload, Payload, Length, Energy, Length, Length]),
        (Standard::N2_4, [Payload, Payload, Payload, Payload, Length, Length]),
    ] {
        let phy = Settings::new(standard);
        assert_eq!(modes.map(|mode| phy.understands(mode)), expected, "{standard}");
        for (mode, expected) in modes.into_iter().zip(expected) {
            let mut receiver =
                Reception::new(&Radio::default(), &phy, &ReceptionSpec::default(), RandomStream::new(1, "wifi/phy", 0));
            assert_eq!(receiver.begin(us(0), &signal(1, -65.0, mode)), expected != Energy);
            assert_eq!(receiver.busy(), expected != Energy, "{standard} {mode}");
            let ended = [Ended::Unheard, Ended::Broken, Ended::Payload][expected as usize];
            assert_eq!(receiver.end(mode.duration(100), 1), ended, "{standard} {mode}");
        }
    }
}

#[test]
fn capture() {
    // A signal of -70 dBm is followed; one of -58 or of -66 dBm comes so much later. Which is followed then?
    let follows = |capture, later_us, dbm| {
        let mut receiver = receiver(capture);
        receiver.begin(us(0), &signal(1, -70.0, SLOW));
        receiver.begin(us(later_us), &signal(2, dbm, SLOW));
        receiver.following()
    };
    let (first, second) = (Some(1), Some(2));
    for (capture, at) in [
        (Capture::Off, [first, first, first, first]),
        (Capture::Preamble(10.0), [second, second, first, first]),
        (Capture::Anytime(10.0), [second, second, second, first]),
    ] {
        let strong = [0, 10, 30].map(|later| follows(capture, later, -58.0));
        assert_eq!([strong[0], strong[1], strong[2], follows(capture, 10, -66.0)], at, "{capture:?}");
    }
    // Preambles that begin together: the stronger, if it stands out of the other by the 4 dB of detection.
    assert_eq!(follows(Capture::Preamble(10.0), 0, -65.0), second);
    assert_eq!(follows(Capture::Preamble(10.0), 3, -67.0), first);
    assert_eq!(follows(Capture::Preamble(10.0), 5, -65.0), first);

    // What was left meanwhile is interference, and unheard at its end.
    let mut receiver = receiver(Capture::Anytime(10.0));
    receiver.begin(us(0), &signal(1, -70.0, SLOW));
    assert!(receiver.begin(us(100), &signal(2, -50.0, SLOW)));
    assert_eq!(receiver.end(us(300), 1), Ended::Unheard);
    assert_eq!(receiver.end(us(100) + SLOW.duration(200), 2), Ended::Payload);
    let expected = ErrorTable::of(ErrorModel::Nist).success(SLOW, 1e-5 / (1e-7 + noise()), 1_616.0);
    assert!((receiver.probability(0, 200) - expected).abs() < 1e-9);
}

#[test]
fn equal_signals_destroy_each_other() {
    let mut receiver = receiver(Capture::Preamble(10.0));
    receiver.begin(us(0), &signal(1, -60.0, FAST));
    receiver.begin(us(0), &signal(2, -60.0, FAST));
    let end = FAST.duration(1_500);
    let ends = [receiver.end(end, 1), receiver.end(end, 2)];
    assert!(ends == [Ended::Broken, Ended::Unheard] && receiver.probability(0, 1_500) < 1e-100);

    // Neither preamble is detected, even if one signal is so short that the other's payload is alone, and headers get
    // through at 0 dB by link curves. A signal after the 4 us of detection does not undo it.
    for (later_us, ended) in [(0, Ended::Broken), (3, Ended::Broken), (5, Ended::Payload)] {
        let mut receiver = Reception::new(
            &Radio::default(),
            &Settings::new(Standard::N5),
            &ReceptionSpec { capture: Capture::Off, ..ReceptionSpec::default() },
            RandomStream::new(1, "wifi/phy", 0),
        );
        assert!(receiver.begin(us(0), &signal(1, -60.0, SLOW)));
        assert!(!receiver.begin(us(later_us), &signal(2, -61.0, SLOW)));
        assert!(receiver.busy());
        receiver.end(us(later_us + 44), 2);
        assert_eq!(receiver.end(SLOW.duration(1_500), 1), ended, "{later_us} us");
    }
}

fn thresholds() -> ThresholdReception {
    ThresholdReception::new(&Thresholds { reception: Dbm(-64.0), carrier_sense: Dbm(-78.0), capture_db: 10.0 })
}

#[test]
fn thresholds_decide_as_in_ns2() {
    let mut receiver = thresholds();
    // Between the thresholds: busy, and broken. Below: not there.
    assert!(receiver.begin(&signal(1, -70.0, SLOW)));
    assert!(receiver.busy());
    assert!(!receiver.begin(&signal(2, -79.0, SLOW)));
    assert_eq!((receiver.end(2), receiver.end(1)), (Ended::Unheard, Ended::Broken));
    assert!(!receiver.busy());
    // The first survives a signal 10 dB weaker, which keeps the channel busy to its own end.
    receiver.begin(&signal(3, -60.0, SLOW));
    receiver.begin(&signal(4, -70.0, SLOW));
    assert_eq!(receiver.end(3), Ended::Payload);
    assert!(receiver.busy());
    assert_eq!(receiver.end(4), Ended::Unheard);
    assert!(!receiver.busy());
    // A second that is stronger does not: both are lost, which is told once.
    receiver.begin(&signal(5, -63.0, SLOW));
    receiver.begin(&signal(6, -40.0, SLOW));
    assert_eq!((receiver.end(5), receiver.end(6)), (Ended::Unheard, Ended::Broken));
    // Sending breaks what comes, and what has come.
    receiver.begin(&signal(7, -60.0, SLOW));
    receiver.send(true);
    receiver.send(false);
    assert_eq!(receiver.end(7), Ended::Broken);
    receiver.send(true);
    receiver.begin(&signal(8, -60.0, SLOW));
    receiver.send(false);
    assert_eq!(receiver.end(8), Ended::Broken);
    assert!(!receiver.busy());
}

proptest! {
    /// Whatever overlaps: when all is over the channel is idle and nothing is followed, of all signals that overlap at
    /// most one comes through without capture, and a signal alone always does.
    #[test]
    fn whatever_overlaps(frames in prop::collection::vec((0_u64..3_000, 1_u32..1_500, -75.0..-40.0_f64), 1..20), simple in any::<bool>()) {
        let model = if simple {
            ReceiverModel::Threshold(Thresholds { reception: Dbm(-82.0), carrier_sense: Dbm(-82.0), capture_db: 10.0 })
        } else {
            ReceiverModel::Interference(ReceptionSpec { capture: Capture::Off, ..ReceptionSpec::default() })
        };
        let mut receiver = Receiver::new(&Radio::default(), &Settings::new(Standard::N2_4), &model, RandomStream::new(1, "wifi/phy", 1));
        let mode = SLOW;
        let spans: Vec<(Time, Time)> = frames.iter().map(|(start, bytes, _)| (us(*start), us(*start) + mode.duration(*bytes))).collect();
        let mut events: Vec<(Time, bool, usize)> = (0..frames.len()).flat_map(|i| [(spans[i].0, true, i), (spans[i].1, false, i)]).collect();
        events.sort_unstable();
        let mut payloads = Vec::new();
        for (now, begins, i) in events {
            if begins {
                receiver.begin(now, &signal(i as u32, frames[i].2, mode));
                prop_assert!(receiver.busy() || !simple);
            } else if receiver.end(now, i as u32) == Ended::Payload && receiver.mpdu(0, frames[i].1) {
                payloads.push(i);
            }
        }
        prop_assert!(!receiver.busy());
        let overlap = |a: usize, b: usize| spans[a].0 < spans[b].1 && spans[b].0 < spans[a].1;
        for (place, &a) in payloads.iter().enumerate() {
            prop_assert!(payloads[..place].iter().all(|&b| !overlap(a, b)));
        }
        for i in 0..frames.len() {
            if (0..frames.len()).all(|other| other == i || !overlap(i, other)) {
                prop_assert!(payloads.contains(&i), "frame {} was alone", i);
            }
        }
    }
}
