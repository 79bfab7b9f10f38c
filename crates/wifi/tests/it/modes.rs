//! Modes against the rate tables and the TXTIME formulas of the standard, worked by hand.

use units::{BitRate, Time};
use wifi::phy::{Band, Code, DsssRate, Guard, Ht, HtFormat, Mode, OfdmRate, Preamble, Width};

fn ht(mcs: u8, width: Width, guard: Guard) -> Mode {
    Mode::ht(mcs, width, guard, Band::Ghz5).expect("MCS 0-31")
}

fn ofdm(rate: OfdmRate) -> Mode {
    Mode::Ofdm(rate, Band::Ghz5)
}

fn long(rate: DsssRate) -> Mode {
    Mode::dsss(rate, Preamble::Long)
}

fn us(us: u64) -> Time {
    Time::from_us(us)
}

#[test]
fn rates_are_those_of_the_tables() {
    let kbps = |mode: Mode| mode.rate().as_bps() / 1_000;
    assert_eq!(DsssRate::ALL.map(|r| kbps(long(r))), [1_000, 2_000, 5_500, 11_000]);
    assert_eq!(OfdmRate::ALL.map(|r| kbps(ofdm(r)) / 1_000), [6, 9, 12, 18, 24, 36, 48, 54]);
    // Tables 20-30 to 20-37: one stream of 20 and 40 MHz, long and short guard interval, in kbit/s (the standard prints
    // one decimal of Mbit/s).
    let tables = [
        (Width::Mhz20, Guard::Long, [6_500, 13_000, 19_500, 26_000, 39_000, 52_000, 58_500, 65_000]),
        (Width::Mhz20, Guard::Short, [7_222, 14_444, 21_666, 28_888, 43_333, 57_777, 65_000, 72_222]),
        (Width::Mhz40, Guard::Long, [13_500, 27_000, 40_500, 54_000, 81_000, 108_000, 121_500, 135_000]),
        (Width::Mhz40, Guard::Short, [15_000, 30_000, 45_000, 60_000, 90_000, 120_000, 135_000, 150_000]),
    ];
    for (width, guard, rates) in tables {
        for (mcs, rate) in rates.into_iter().enumerate() {
            assert_eq!(kbps(ht(mcs as u8, width, guard)), rate, "MCS {mcs} {width:?} {guard:?}");
        }
    }
    // Two to four streams multiply the rate.
    assert_eq!([15, 23, 31].map(|mcs| kbps(ht(mcs, Width::Mhz20, Guard::Long))), [130_000, 195_000, 260_000]);
    assert_eq!([15, 23, 31].map(|mcs| kbps(ht(mcs, Width::Mhz40, Guard::Short))), [300_000, 450_000, 600_000]);
    assert_eq!([7, 8, 16, 31].map(|mcs| ht(mcs, Width::Mhz20, Guard::Long).streams()), [1, 2, 3, 4]);
    assert_eq!(Mode::ht(32, Width::Mhz40, Guard::Long, Band::Ghz5), None);
    assert_eq!(long(DsssRate::R5_5).rate(), BitRate::from_bps(5_500_000));
}

#[test]
fn frames_of_dsss_last_whole_microseconds() {
    // 1500 bytes and 28 of MAC: 12224 bits at 11 Mbit/s are 1111.3 us.
    assert_eq!(long(DsssRate::R11).duration(1_528), us(192 + 1_112));
    assert_eq!(Mode::dsss(DsssRate::R11, Preamble::Short).duration(1_528), us(96 + 1_112));
    // 14 bytes of ACK: 112 us at 1 Mbit/s, 56 at 2, 20.4 at 5.5.
    assert_eq!(long(DsssRate::R1).duration(14), us(304));
    assert_eq!(long(DsssRate::R2).duration(14), us(248));
    assert_eq!(long(DsssRate::R5_5).duration(14), us(213));
    // There is no short preamble at 1 Mbit/s.
    assert_eq!(Mode::dsss(DsssRate::R1, Preamble::Short), long(DsssRate::R1));
}

#[test]
fn frames_of_ofdm_last_whole_symbols() {
    // 16 + 8 x 1528 + 6 = 12246 bits of 216 per symbol: 57 symbols.
    assert_eq!(ofdm(OfdmRate::R54).duration(1_528), us(248));
    // 16 + 112 + 6 = 134 bits: 6 symbols of 24, 3 of 48, 2 of 96.
    assert_eq!(ofdm(OfdmRate::R6).duration(14), us(44));
    assert_eq!(ofdm(OfdmRate::R12).duration(14), us(32));
    assert_eq!(ofdm(OfdmRate::R24).duration(14), us(28));
    // A byte more than fits two symbols of 24 bits (26 bits of data: 3 bytes) begins the third.
    assert_eq!(ofdm(OfdmRate::R6).duration(3), us(28));
    assert_eq!(ofdm(OfdmRate::R6).duration(4), us(32));
    // At 2.4 GHz the signal extension follows.
    let erp = Mode::Ofdm(OfdmRate::R54, Band::Ghz2_4);
    assert_eq!(erp.duration(1_528), us(254));
    assert_eq!((erp.preamble(), erp.payload(1_528), erp.signal_extension()), (us(20), us(234), us(6)));
}

#[test]
fn frames_of_ht_have_training_fields_by_streams() {
    // Mixed format: 36 us with one stream, 40 with two, 48 with three and with four.
    let preambles = [7, 15, 23, 31].map(|mcs| ht(mcs, Width::Mhz20, Guard::Long).preamble());
    assert_eq!(preambles, [us(36), us(40), us(48), us(48)]);
    // Greenfield: 8 + 8 + 8, and 4 for each further training field.
    let greenfield = [7, 15, 23, 31].map(|mcs| {
        let ht = Ht::new(mcs, Width::Mhz20, Guard::Long, Band::Ghz5).expect("MCS 0-31");
        Mode::Ht(ht.with_format(HtFormat::Greenfield)).preamble()
    });
    assert_eq!(greenfield, [us(24), us(28), us(36), us(36)]);
}

#[test]
fn frames_of_ht_last_whole_symbols() {
    // 16 + 8 x 1538 + 6 = 12326 bits of 260: 48 symbols.
    assert_eq!(ht(7, Width::Mhz20, Guard::Long).duration(1_538), us(36 + 192));
    // 48 x 3.6 = 172.8 us, of which mixed format makes 176.
    assert_eq!(ht(7, Width::Mhz20, Guard::Short).duration(1_538), us(36 + 176));
    let short = Ht::new(7, Width::Mhz20, Guard::Short, Band::Ghz5).expect("MCS 0-31");
    assert_eq!(Mode::Ht(short.with_format(HtFormat::Greenfield)).duration(1_538), Time::from_ns(24_000 + 172_800));
    // 540 bits per symbol in 40 MHz: 23 symbols. At 2.4 GHz 6 us more.
    assert_eq!(ht(7, Width::Mhz40, Guard::Long).duration(1_538), us(36 + 92));
    let at_2_4 = Mode::ht(7, Width::Mhz40, Guard::Long, Band::Ghz2_4).expect("MCS 0-31");
    assert_eq!(at_2_4.duration(1_538), us(36 + 92 + 6));
    // The longest A-MPDU with two streams: 524302 bits of 520: 1009 symbols.
    assert_eq!(ht(15, Width::Mhz20, Guard::Long).duration(65_535), us(40 + 4_036));
}

#[test]
fn above_300_mbps_two_encoders_have_two_tails() {
    // 267 bytes at MCS 31 in 40 MHz (2160 bits per symbol): 2152 bits with service and tail, 2164 with two tails: two
    // symbols.
    assert_eq!(ht(31, Width::Mhz40, Guard::Long).duration(267), us(48 + 8));
    // 240 bytes at MCS 20 in 40 MHz (972 bits, 243 Mbit/s): 1942 bits fill two symbols; with two tails it would be
    // three.
    assert_eq!(ht(20, Width::Mhz40, Guard::Long).duration(240), us(48 + 8));
    // MCS 21 in 40 MHz (1296 bits, 324 Mbit/s) has two: 2 x 1296 - 24 = 2568 bits are 321 bytes.
    assert_eq!(ht(21, Width::Mhz40, Guard::Long).duration(321), us(48 + 12));
    assert_eq!(ht(21, Width::Mhz40, Guard::Long).duration(320), us(48 + 8));
}

#[test]
fn modes_print_as_people_say_them() {
    assert_eq!(long(DsssRate::R5_5).to_string(), "5.5 Mbit/s (DSSS)");
    assert_eq!(ofdm(OfdmRate::R54).to_string(), "54 Mbit/s (OFDM)");
    assert_eq!(ht(15, Width::Mhz40, Guard::Short).to_string(), "300 Mbit/s (MCS 15, 40 MHz, short guard interval)");
}

#[test]
fn ldpc_frames_are_as_long_as_their_code_words() {
    // 20.3.11.7.5, worked by hand; service bits are 16, a symbol of 4 us has 26 data bits at MCS 0, 260 at MCS 7.
    let rows = [
        // 128 bits in 5 symbols: one word of 648 for 260 coded bits, 196 shortened, 192 punctured. That is more than a
        // tenth of 324 parity bits, and shortened less than 1.2 times: a sixth symbol.
        (0, 14, 6),
        // 520 bits fill 2 symbols: a word of 648, 20 shortened, 4 punctured. BCC has tail bits, and a third symbol.
        (7, 63, 2),
        // 12,016 bits in 47 symbols: 8 words of 1,944, 944 shortened, none punctured.
        (7, 1_500, 47),
        // 11,680 bits in 45 symbols: 8 words, 1,280 shortened, 232 punctured of 2,592 parity bits.
        (7, 1_458, 45),
    ];
    for (mcs, bytes, symbols) in rows {
        let mode = Ht::new(mcs, Width::Mhz20, Guard::Long, Band::Ghz5).expect("an MCS").with_code(Code::Ldpc);
        assert_eq!(Mode::Ht(mode).payload(bytes), us(4 * symbols), "MCS {mcs}, {bytes} bytes");
    }
    assert_eq!(ht(7, Width::Mhz20, Guard::Long).payload(63), us(12));
    // Never two symbols more or fewer than in the convolutional code.
    for mcs in 0..8 {
        for bytes in 1..4_000 {
            let plain = Ht::new(mcs, Width::Mhz20, Guard::Long, Band::Ghz5).expect("an MCS");
            let [bcc, ldpc] =
                [Code::Convolutional, Code::Ldpc].map(|code| Mode::Ht(plain.with_code(code)).payload(bytes));
            assert!(ldpc <= bcc + us(4) && bcc <= ldpc + us(4), "MCS {mcs}, {bytes} bytes: {bcc:?} {ldpc:?}");
        }
    }
}
