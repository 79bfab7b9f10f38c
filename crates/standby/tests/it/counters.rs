//! Texts of the kernel and of programs, taken as they stand.

use standby::{Counters, Seen, hdparm_state, sense_state};

#[test]
fn counters_of_every_linux_are_read() {
    // Linux 6.18, 6.1 and 4.19.
    let new = "   61369     9535  3608498    23054    33629    56185  3659824    32672        0    16240    57244     9211       33   459280     1274     3585      243\n";
    let counters = Counters::parse(new, Some("       2        3\n")).expect("counters");
    assert_eq!((counters.reads, counters.read_sectors, counters.writes), (61_369, 3_608_498, 33_629));
    assert_eq!((counters.written_sectors, counters.discards, counters.flushes), (3_659_824, 9_211, 3_585));
    assert_eq!((counters.reading, counters.writing), (2, 3));
    let old = Counters::parse("1 2 3 4 5 6 7 8 9 10 11\n", None).expect("counters");
    assert_eq!((old.reads, old.written_sectors, old.reading, old.discards, old.flushes), (1, 7, 9, 0, 0));
    let with_discards = Counters::parse("1 2 3 4 5 6 7 8 0 10 11 12 13 14 15\n", None).expect("counters");
    assert_eq!((with_discards.discards, with_discards.flushes), (12, 0));
    for (stat, inflight, said) in [
        ("", None, "field 11 is not a number"),
        ("1 2 3 4 5 6 7 8 9 10\n", None, "field 11"),
        ("1 2 x 4 5 6 7 8 9 10 11\n", None, "field 3"),
        ("1 2 3 4 5 6 7 8 9 10 11\n", Some("1"), "field 2"),
        ("-1 2 3 4 5 6 7 8 9 10 11\n", None, "field 1"),
    ] {
        let error = Counters::parse(stat, inflight).expect_err(stat);
        assert!(error.to_string().starts_with(said), "{error}");
    }
}

#[test]
fn what_came_between_two_readings() {
    let at = |text: &str| Counters::parse(text, Some("0 0")).expect("counters");
    let before = at("10 0 800 0 10 0 800 0 0 0 0 5 0 0 0 7 0");
    let io = at("11 0 808 0 10 0 800 0 0 0 0 5 0 0 0 7 0").since(&before).expect("later");
    assert_eq!((io.reads, io.any(), io.name().as_str()), (1, true, "read"));
    // TEST UNIT READY twice, and a page of 512 bytes.
    let io = at("13 0 801 0 10 0 800 0 0 0 0 5 0 0 0 7 0").since(&before).expect("later");
    assert!(!io.any(), "{io:?}");
    let io = at("10 0 800 0 12 0 816 0 0 0 0 5 0 0 0 8 0").since(&before).expect("later");
    assert_eq!((io.written_bytes, io.name().as_str()), (8_192, "write"));
    let io = at("11 0 808 0 11 0 808 0 0 0 0 6 0 0 0 8 0").since(&before).expect("later");
    assert_eq!(io.name(), "read and write and discard");
    assert_eq!(at("10 0 800 0 10 0 800 0 0 0 0 5 0 0 0 8 0").since(&before).map(|io| io.name()), Some("flush".into()));
    assert_eq!(at("1 0 8 0 10 0 800 0 0 0 0 5 0 0 0 7 0").since(&before), None, "another start of the machine");
}

/// Sense data by SPC-4: 4.5 (formats), annex D (additional sense codes).
#[test]
fn request_sense_tells_the_power_condition() {
    let fixed = |key: u8, code: u8, qualifier: u8| {
        let mut answer = [0; 18];
        (answer[0], answer[2], answer[7], answer[12], answer[13]) = (0x70, key, 10, code, qualifier);
        sense_state(&answer)
    };
    let described = |key: u8, code: u8, qualifier: u8| sense_state(&[0x72, key, code, qualifier, 0, 0, 0, 0]);
    for answer in [fixed, described] {
        assert_eq!(answer(2, 0x04, 0x02), Some(Seen::Standby), "INITIALIZING COMMAND REQUIRED");
        assert_eq!(answer(2, 0x04, 0x11), Some(Seen::Standby), "NOTIFY (ENABLE SPINUP) REQUIRED");
        assert_eq!(answer(0, 0x5e, 0x04), Some(Seen::Standby), "STANDBY CONDITION ACTIVATED BY COMMAND");
        assert_eq!(answer(0, 0x5e, 0x09), Some(Seen::Standby), "STANDBY_Y CONDITION ACTIVATED BY TIMER");
        assert_eq!(answer(0, 0x5e, 0x03), Some(Seen::Awake), "IDLE CONDITION ACTIVATED BY COMMAND");
        assert_eq!(answer(0, 0, 0), None, "TEST UNIT READY has to tell");
        assert_eq!(answer(6, 0x29, 0), None, "a reset");
        for (key, code, qualifier) in [(2, 0x04, 0x01), (2, 0x3a, 0), (2, 0x04, 0x04), (0, 0x5e, 0)] {
            assert!(matches!(answer(key, code, qualifier), Some(Seen::Unknown(_))), "{code:02x}/{qualifier:02x}");
        }
    }
    assert!(matches!(sense_state(b""), Some(Seen::Unknown(_))));
    assert!(matches!(sense_state(b"garbage"), Some(Seen::Unknown(_))));
    assert_eq!(sense_state(&[0x70]), None, "a short one has no code");
}

#[test]
fn hdparm_tells_the_state_or_not() {
    let says = |state: &str| hdparm_state(&format!("\n/dev/sdb:\n drive state is:  {state}\n"));
    assert_eq!((says("standby"), says("sleeping")), (Seen::Standby, Seen::Standby));
    assert_eq!((says("active/idle"), says("idle")), (Seen::Awake, Seen::Awake));
    for unknown in ["unknown", "NVcache_spindown", ""] {
        assert!(matches!(says(unknown), Seen::Unknown(_)), "{unknown}");
    }
    assert!(matches!(hdparm_state("SG_IO: bad/missing sense data"), Seen::Unknown(_)));
}
