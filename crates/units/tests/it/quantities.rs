//! What people write is read, what is wrong is explained, what is printed reads back.

use units::{BitRate, Bytes, Distance, Energy, Frequency, Power, Quantity, Speed, Time, nearest};

#[test]
fn reads_what_people_write() {
    assert_eq!("25 us".parse(), Ok(Time::from_us(25)));
    assert_eq!("1.5s".parse(), Ok(Time::from_ms(1500)));
    assert_eq!("2 h".parse(), Ok(Time::from_secs(7200)));
    assert_eq!("64 MB".parse(), Ok(Bytes::new(64_000_000)));
    assert_eq!("64 MiB".parse(), Ok(Bytes::from_mib(64)));
    assert_eq!("10 TB".parse(), Ok(Bytes::from_mb(10_000_000)));
    assert_eq!("10 Mbit/s".parse(), Ok(BitRate::from_mbps(10)));
    assert_eq!("125 MB/s".parse(), Ok(BitRate::from_gbps(1)));
}

#[test]
fn explains_what_is_wrong() {
    let message = |text: &str| text.parse::<BitRate>().unwrap_err().to_string();
    assert!(message("10 Mbits").contains("did you mean `Mbit/s`"), "{}", message("10 Mbits"));
    assert!(message("15 Gbps").contains("did you mean `Gbit/s`"), "{}", message("15 Gbps"));
    assert!(
        message("15 kbps").starts_with("`kbps` is not a unit of a rate (did you mean `Kbit/s`?); a rate is written")
    );
    assert!(message(" ").starts_with("it is empty; a rate is written like"), "{}", message(" "));
    assert!(message("10").contains("has no unit"));
    assert!(message("-3 Mbit/s").contains("negative"));
    assert!(message("fast").contains("does not start with a number"));
    assert!("99999999999 TB".parse::<Bytes>().unwrap_err().to_string().contains("too large"));
    assert!("9e9 h".parse::<Time>().is_err());
}

#[test]
fn prints_with_a_unit_and_reads_back() {
    assert_eq!(Time::from_us(1500).to_string(), "1.5 ms");
    assert_eq!(Time::from_ps(1_234_567).to_string(), "1.235 us");
    assert_eq!(Bytes::from_mb(64).to_string(), "64 MB");
    assert_eq!(BitRate::from_mbps(2500).to_string(), "2.5 Gbit/s");
    assert_eq!(format!("{:>10}", Time::ZERO), "       0 s");
    assert_eq!(
        format!("{:.1}|{:<9.0}|{:^8}", Time::from_us(1234), Bytes::new(1999), BitRate::from_gbps(1)),
        "1.2 ms|2 KB     |1 Gbit/s"
    );
    // What rounds to a thousand is one of the next unit; the greatest has none.
    assert_eq!(
        format!(
            "{:.1}|{:.1}|{}|{:.0}",
            Bytes::new(999_999_999),
            Bytes::new(999_949_999),
            Time::from_ps(999_999_600),
            BitRate::from_bps(999_999_999_999_999)
        ),
        "1 GB|999.9 MB|1 ms|1000000 Gbit/s"
    );
    for ps in [0, 1, 999, 1_000, 123_000_000, 7_000_000_000_000] {
        assert_eq!(Time::from_ps(ps).to_string().parse(), Ok(Time::from_ps(ps)));
    }
}

#[test]
fn exact_text_reads_back_as_the_same_value() {
    assert_eq!(Bytes::from_mib(128).exact(), "128 MiB");
    let ends = |from, to| Time::from_secs(from).exact_ends(Time::from_secs(to));
    assert_eq!(ends(7_200, 7_500), ["120 min", "125 min"]);
    assert_eq!(ends(0, 7_200), ["0 h", "2 h"]);
    assert_eq!(ends(0, 0), ["0 s", "0 s"]);
    assert_eq!(Bytes::new(64_000_000).exact(), "64 MB");
    assert_eq!(BitRate::from_bps(1_234_567).exact(), "1234567 bit/s");
    assert_eq!(BitRate::from_gbps(8).exact(), "8 Gbit/s");
    for ps in [0, 1, 1_234_567_891, 60_000_000_000_000, u64::MAX] {
        assert_eq!(Time::from_ps(ps).exact().parse(), Ok(Time::from_ps(ps)));
    }
}

#[test]
fn a_packet_of_1500_bytes_takes_12_us_at_1_gbit() {
    assert_eq!(BitRate::from_gbps(1).transmission_time(Bytes::new(1500)), Time::from_us(12));
    assert_eq!(BitRate::from_gbps(1).bytes_in(Time::from_us(12)), Bytes::new(1500));
    assert_eq!(BitRate::default().transmission_time(Bytes::new(1)), Time::MAX);
}

#[test]
fn physical_quantities_are_read_and_printed() {
    assert_eq!("100 m".parse(), Ok(Distance::from_metres(100)));
    assert_eq!("1.5 m/s".parse(), Ok(Speed::from_um_per_s(1_500_000)));
    assert_eq!("2.437 GHz".parse(), Ok(Frequency::from_mhz(2437)));
    assert_eq!("281.8 mW".parse(), Ok(Power::from_watts(0.2818)));
    assert_eq!("16 Wh".parse(), Ok(Energy::from_joules(57_600.0)));
    assert_eq!(Distance::from_metres_f64(12.5).to_string(), "12.5 m");
    assert_eq!(Energy::from_joules(57_600.0).to_string(), "57.6 kJ");
    assert_eq!(Power::from_mw(281).exact(), "281 mW");
    assert!("100 metres".parse::<Distance>().unwrap_err().to_string().contains("a distance is written like"));
}

#[test]
fn energy_is_power_over_time_and_lasts_so_long() {
    let energy = Power::from_watts(7.97).over(Time::from_secs(3600));
    assert_eq!(energy, Energy::from_joules(28_692.0));
    assert_eq!(energy.lasts(Power::from_watts(7.97)), Time::from_secs(3600));
    assert_eq!(Energy::from_joules(1.0).lasts(Power::default()), Time::MAX);
    assert_eq!(Power::from_nw(3).over(Time::from_ms(500)), Energy::from_nj(1), "rounded down");
}

/// The definition, in 128 bits, over powers up to 10 MW and times up to half a year.
#[test]
fn energy_is_rounded_down_and_no_further() {
    let (mut power, mut time) = (1_u64, 1_u64);
    for _ in 0..100_000 {
        // Two of L'Ecuyer's generators (Math. Comp. 68, 1999).
        power = power.wrapping_mul(2_862_933_555_777_941_757).wrapping_add(1);
        time = time.wrapping_mul(3_202_034_522_624_059_733).wrapping_add(1);
        // As many small ones as large ones.
        let (nw, ps) = ((power >> 10) >> (power >> 58), (time >> 1) >> (time >> 58));
        if u128::from(nw) * u128::from(ps) / 1_000_000_000_000 <= u128::from(u64::MAX) {
            let exact = (u128::from(nw) * u128::from(ps) / 1_000_000_000_000) as u64;
            assert_eq!(Power::from_nw(nw).over(Time::from_ps(ps)), Energy::from_nj(exact), "{nw} nW for {ps} ps");
        }
    }
}

/// Powers of ten by the SI's prefixes, of two by IEC 80000-13's; a watt-hour is 3,600 J.
#[test]
fn every_unit_is_read_as_it_is_defined() {
    let times = [
        ("1 ps", 1),
        ("1 ns", 1_000),
        ("1 us", 1_000_000),
        ("1 ms", 1_000_000_000),
        ("1 s", 1_000_000_000_000),
        ("1 min", 60_000_000_000_000),
        ("1 h", 3_600_000_000_000_000),
        ("1 d", 86_400_000_000_000_000),
    ];
    for (text, ps) in times {
        assert_eq!(text.parse(), Ok(Time::from_ps(ps)), "{text}");
    }
    let sizes = [
        ("1 B", 1),
        ("1 KB", 1_000),
        ("1 MB", 1_000_000),
        ("1 GB", 1_000_000_000),
        ("1 TB", 1_000_000_000_000),
        ("1 KiB", 1_024),
        ("1 MiB", 1_048_576),
        ("1 GiB", 1_073_741_824),
        ("1 TiB", 1_099_511_627_776),
    ];
    for (text, bytes) in sizes {
        assert_eq!(text.parse(), Ok(Bytes::new(bytes)), "{text}");
    }
    let rates = [
        ("1 bit/s", 1),
        ("1 Kbit/s", 1_000),
        ("1 Mbit/s", 1_000_000),
        ("1 Gbit/s", 1_000_000_000),
        ("1 B/s", 8),
        ("1 KB/s", 8_000),
        ("1 MB/s", 8_000_000),
        ("1 GB/s", 8_000_000_000),
    ];
    for (text, bps) in rates {
        assert_eq!(text.parse(), Ok(BitRate::from_bps(bps)), "{text}");
    }
    for (text, um) in [("1 um", 1), ("1 mm", 1_000), ("1 cm", 10_000), ("1 m", 1_000_000), ("1 km", 1_000_000_000)] {
        assert_eq!(text.parse(), Ok(Distance::from_um(um)), "{text}");
    }
    for (text, um) in [("1 um/s", 1), ("1 mm/s", 1_000), ("1 m/s", 1_000_000), ("1 km/s", 1_000_000_000)] {
        assert_eq!(text.parse(), Ok(Speed::from_um_per_s(um)), "{text}");
    }
    for (text, hz) in [("1 Hz", 1), ("1 kHz", 1_000), ("1 MHz", 1_000_000), ("1 GHz", 1_000_000_000)] {
        assert_eq!(text.parse(), Ok(Frequency::from_hz(hz)), "{text}");
    }
    let powers =
        [("1 nW", 1), ("1 uW", 1_000), ("1 mW", 1_000_000), ("1 W", 1_000_000_000), ("1 kW", 1_000_000_000_000)];
    for (text, nw) in powers {
        assert_eq!(text.parse(), Ok(Power::from_nw(nw)), "{text}");
    }
    let energies = [
        ("1 nJ", 1),
        ("1 uJ", 1_000),
        ("1 mJ", 1_000_000),
        ("1 J", 1_000_000_000),
        ("1 kJ", 1_000_000_000_000),
        ("1 mWh", 3_600_000_000),
        ("1 Wh", 3_600_000_000_000),
        ("1 kWh", 3_600_000_000_000_000),
    ];
    for (text, nj) in energies {
        assert_eq!(text.parse(), Ok(Energy::from_nj(nj)), "{text}");
    }
}

/// The largest unit that leaves at least 1.
#[test]
fn every_unit_is_printed_from_one_on() {
    for text in ["1 ps", "1 ns", "1 us", "1 ms", "1 s", "86400 s"] {
        assert_eq!(text.parse::<Time>().unwrap().to_string(), text);
    }
    for text in ["1 B", "1 KB", "1 MB", "1 GB", "1 TB", "999 GB"] {
        assert_eq!(text.parse::<Bytes>().unwrap().to_string(), text);
    }
    for text in ["1 bit/s", "1 Kbit/s", "1 Mbit/s", "1 Gbit/s", "999 Mbit/s"] {
        assert_eq!(text.parse::<BitRate>().unwrap().to_string(), text);
    }
    for text in ["1 um", "1 mm", "10 mm", "1 m", "1 km"] {
        assert_eq!(text.parse::<Distance>().unwrap().to_string(), text);
    }
    for text in ["1 um/s", "1 mm/s", "1 m/s", "1 km/s"] {
        assert_eq!(text.parse::<Speed>().unwrap().to_string(), text);
    }
    for text in ["1 Hz", "1 kHz", "1 MHz", "1 GHz"] {
        assert_eq!(text.parse::<Frequency>().unwrap().to_string(), text);
    }
    for text in ["1 nW", "1 uW", "1 mW", "1 W", "1 kW"] {
        assert_eq!(text.parse::<Power>().unwrap().to_string(), text);
    }
    for text in ["1 nJ", "1 uJ", "1 mJ", "1 J", "1 kJ"] {
        assert_eq!(text.parse::<Energy>().unwrap().to_string(), text);
    }
    assert_eq!(Time::MAX.to_string(), "never");
    assert_eq!(format!("{:^9}|{:>5}", Bytes::new(1), Bytes::new(1)), "   1 B   |  1 B");
}

/// Exact text keeps to units that people use for the quantity: bits for rates, joules for energies.
#[test]
fn exact_text_has_the_largest_usual_unit_that_divides() {
    assert_eq!(Time::from_secs(86_400).exact(), "1 d");
    assert_eq!(Time::from_secs(60).exact(), "1 min");
    assert_eq!(Bytes::new(1 << 40).exact(), "1 TiB");
    assert_eq!(BitRate::from_bps(8).exact(), "8 bit/s");
    assert_eq!(Distance::from_um(1_000_000_000).exact(), "1 km");
    assert_eq!(Speed::from_um_per_s(1_000_000_000).exact(), "1 km/s");
    assert_eq!(Frequency::from_hz(1_000_000_000).exact(), "1 GHz");
    assert_eq!(Power::from_watts(1_000.0).exact(), "1 kW");
    assert_eq!(Energy::from_nj(3_600_000_000).exact(), "3600 mJ");
    assert_eq!(Energy::from_joules(1_000.0).exact(), "1 kJ");
}

#[test]
fn conversions_and_arithmetic_keep_every_unit() {
    let ten = Time::from_secs(10);
    assert_eq!((ten.as_ms(), ten.as_us(), ten.as_secs_f64()), (10_000, 10_000_000, 10.0));
    assert_eq!((Time::from_ns(2_999).as_us(), Time::from_us(2_999).as_ms()), (2, 2), "rounded down");
    assert_eq!(Time::from_secs_f64(0.25), Time::from_ms(250));
    assert_eq!((Time::from_secs_f64(-1.0), Time::from_secs_f64(1e9)), (Time::ZERO, Time::MAX));
    assert_eq!((ten - Time::from_secs(4), ten + Time::from_secs(4)), (Time::from_secs(6), Time::from_secs(14)));
    assert_eq!(
        (ten / Time::from_secs(3), ten % Time::from_secs(3), ten / 4),
        (3, Time::from_secs(1), Time::from_ms(2_500))
    );
    assert_eq!((Time::from_ps(3).mul_f64(0.5), Bytes::new(10).mul_f64(1.25)), (Time::from_ps(2), Bytes::new(13)));
    let mut sum: Bytes = [Bytes::new(1), Bytes::new(20), Bytes::new(300)].into_iter().sum();
    assert_eq!(sum, Bytes::new(321));
    sum -= Bytes::new(21);
    sum += Bytes::new(4);
    assert_eq!((sum, sum * 3), (Bytes::new(304), Bytes::new(912)));
    assert_eq!((Distance::from_metres(3).as_metres(), Speed::from_metres_per_s(3).as_metres_per_s()), (3.0, 3.0));
    assert_eq!((Power::from_mw(1_500).as_watts(), Energy::from_joules(2.5).as_joules()), (1.5, 2.5));
    assert_eq!(Frequency::from_mhz(2_437).as_hz(), 2_437_000_000);
}

#[test]
fn differences_end_at_zero_and_sums_at_never() {
    let (one, two) = (Time::from_secs(1), Time::from_secs(2));
    assert_eq!((one.saturating_sub(two), two.saturating_sub(one)), (Time::ZERO, one));
    assert_eq!((one.saturating_add(one), Time::MAX.saturating_add(one)), (two, Time::MAX));
    assert_eq!((one.saturating_mul(2), Time::MAX.saturating_mul(2)), (two, Time::MAX));
    assert_eq!(
        (Bytes::new(1).saturating_sub(Bytes::new(2)), Bytes::new(3).saturating_sub(Bytes::new(2))),
        (Bytes::ZERO, Bytes::new(1))
    );
    let (small, large) = (Energy::from_nj(2), Energy::from_nj(5));
    assert_eq!((small.saturating_sub(large), large.saturating_sub(small)), (Energy::default(), Energy::from_nj(3)));
}

/// 8 bits at 3 bit/s take 2.666... s; in 2.666 s 7.998 bits pass, no whole byte.
#[test]
fn a_byte_has_passed_when_its_last_bit_has() {
    let rate = BitRate::from_bps(3);
    let time = Time::from_ps(2_666_666_666_667);
    assert_eq!(rate.transmission_time(Bytes::new(1)), time);
    assert_eq!((rate.bytes_in(time), rate.bytes_in(Time::from_ms(2_666))), (Bytes::new(1), Bytes::ZERO));
    assert_eq!(BitRate::from_bps(1).transmission_time(Bytes::new(u64::MAX)), Time::MAX);
    assert_eq!(Energy::from_joules(1e9).lasts(Power::from_nw(1)), Time::MAX);
}

/// Levenshtein's distances, as textbooks have them: kitten, sitting 3; Saturday, Sunday 3; intention, execution 5.
/// Near enough is one edit, and one more for every three letters.
#[test]
fn a_word_that_is_near_is_meant() {
    assert_eq!(nearest("kitten", ["sitting"]), Some("sitting"));
    assert_eq!(nearest("Saturday", ["Sunday"]), Some("Sunday"));
    assert_eq!(nearest("intention", ["execution"]), None);
    assert_eq!((nearest("abcdef", ["abcxyz"]), nearest("abcdef", ["abwxyz"])), (Some("abcxyz"), None));
    assert_eq!(nearest("delay", ["rate", "dely", "delays", "relay"]), Some("dely"), "the first of those as near");
    assert_eq!(nearest("queu", ["rate", "quue", "queue"]), Some("queue"));
    assert_eq!((nearest("xyrat", ["rat"]), nearest("xyzrat", ["at"])), (Some("rat"), None));
    assert_eq!(nearest("delay", ["delay-us"]), Some("delay-us"), "three edits, of the longer one's eight letters");
    assert_eq!(nearest("anything", []), None);
}

/// As a person would write it: "0 s", not "0 ps".
#[test]
fn zero_is_written_in_the_plain_unit() {
    fn both<Q: Quantity>(zero: &str) {
        let quantity = zero.parse::<Q>().unwrap_or_else(|error| panic!("{zero}: {error}"));
        assert_eq!((quantity.base(), quantity.to_string(), quantity.exact()), (0, zero.to_owned(), zero.to_owned()));
    }
    both::<Time>("0 s");
    both::<Bytes>("0 B");
    both::<BitRate>("0 bit/s");
    both::<Distance>("0 m");
    both::<Speed>("0 m/s");
    both::<Frequency>("0 Hz");
    both::<Power>("0 W");
    both::<Energy>("0 J");
}
