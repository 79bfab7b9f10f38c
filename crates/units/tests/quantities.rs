//! What people write is read, what is wrong is explained, what is printed reads back.

use units::{BitRate, Bytes, Distance, Energy, Frequency, Power, Quantity, Speed, Time};

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
    assert!(message("15 kbps").contains("did you mean `Kbit/s`"), "{}", message("15 kbps"));
    assert!(message("10").contains("has no unit"));
    assert!(message("-3 Mbit/s").contains("negative"));
    assert!(message("fast").contains("does not start with a number"));
    assert!("99999999999 TB".parse::<Bytes>().unwrap_err().to_string().contains("too large"));
    assert!("9e9 h".parse::<Time>().is_err());
}

#[test]
fn prints_with_a_unit_and_reads_back() {
    assert_eq!(Time::from_us(1500).to_string(), "1.5 ms");
    assert_eq!(Bytes::from_mb(64).to_string(), "64 MB");
    assert_eq!(BitRate::from_mbps(2500).to_string(), "2.5 Gbit/s");
    assert_eq!(format!("{:>10}", Time::ZERO), "      0 ps");
    assert_eq!(
        format!("{:.1}|{:<9.0}|{:^8}", Time::from_us(1234), Bytes::new(1999), BitRate::from_gbps(1)),
        "1.2 ms|2 KB     |1 Gbit/s"
    );
    for ps in [0, 1, 999, 1_000, 123_000_000, 7_000_000_000_000] {
        assert_eq!(Time::from_ps(ps).to_string().parse(), Ok(Time::from_ps(ps)));
    }
}

#[test]
fn exact_text_reads_back_as_the_same_value() {
    assert_eq!(Bytes::from_mib(128).exact(), "128 MiB");
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
