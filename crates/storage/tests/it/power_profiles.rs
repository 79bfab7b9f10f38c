//! Profiles of drives against what others have published of them.

use storage::Op;
use storage::power::{
    Cause, DRIVES, Depth, DiskPower, Drive, PowerState, Profile, ProfileError, Rest, StartEstimate, Transition,
};
use units::{Energy, Power, Time};

fn profile(name: &str) -> Profile {
    Drive::named(name).unwrap().profile(StartEstimate::Typical)
}

fn break_even(name: &str, estimate: StartEstimate) -> f64 {
    Drive::named(name).unwrap().profile(estimate).break_even(Depth::Standby).unwrap().as_secs_f64()
}

/// 15.2 s is the figure of the literature for this drive (Deng 2011).
#[test]
fn the_ultrastar_breaks_even_after_15_2_seconds() {
    assert!((break_even("ultrastar-36z15", StartEstimate::Typical) - 15.2).abs() < 0.05);
}

/// A collection of manuals (`docs/models/energy.md`) has these bounds, of a start at 60 % of the peak for 12 s and of
/// one at the peak for 20 s, rounded to seconds. The drives' powers are entered from the manuals' currents.
#[test]
fn break_even_times_lie_where_others_compute_them() {
    for (name, low, high) in [
        ("constellation-es3-4tb", 29.0, 82.0),
        ("constellation-es3-2tb", 43.0, 122.0),
        ("constellation-es2-3tb", 25.0, 73.0),
        ("constellation-es1-1tb", 46.0, 134.0),
        ("barracuda-7200.7", 38.0, 108.0),
        ("diamondmax-21", 30.0, 84.0),
    ] {
        let found = [StartEstimate::Typical, StartEstimate::Worst].map(|estimate| break_even(name, estimate));
        assert!((found[0] - low).abs() < 1.0 && (found[1] - high).abs() < 1.0, "{name}: {found:?}");
    }
}

/// 8.0 W idle and 1.2 W in standby, three replicas: 56.7 % of the idle power is the most (the document's "at least
/// 50 %" is (r - 1) / r of a standby that draws nothing).
#[test]
fn what_standby_alone_can_save_has_a_ceiling() {
    let mut drive = profile("constellation-es3-4tb");
    drive.idle = Power::from_mw(8_000);
    assert!((drive.ceiling(Depth::Standby, 1, 3).unwrap() - 0.567).abs() < 0.0005);
    assert_eq!(drive.ceiling(Depth::Standby, 1, 1), Some(0.0));
    let nothing = Rest { power: Power::default(), down: Transition::default(), up: Transition::default() };
    drive.rests[2] = Some(nothing);
    assert_eq!(drive.ceiling(Depth::Standby, 1, 2), Some(0.5));
}

/// 7.97 and 1.20 W. Of RS-6-3 and RS-3-2 readers need six parts of nine and three of five: 0.849 / 3 and 0.849 x 0.4.
#[test]
fn an_erasure_code_has_a_lower_ceiling() {
    let drive = profile("constellation-es3-4tb");
    for (needed, all, expected) in [(6, 9, 0.283), (3, 5, 0.340), (10, 14, 0.243)] {
        let found = drive.ceiling(Depth::Standby, needed, all).unwrap();
        assert!((found - expected).abs() < 0.0005, "{needed} of {all}: {found}");
    }
}

/// Constellation ES.1, SAS manual, Rev. G, table 3, 3 Gb/s: from Idle_C to active at most 0.60 A at 5 V and 2.04 A at
/// 12 V. Taken as a start, whose peak is 0.57 and 1.93 A, that is within a fifteenth.
#[test]
fn the_way_back_from_idle_c_peaks_as_a_start_does() {
    let printed = 5.0 * 0.60 + 12.0 * 2.04;
    let drive = Drive::named("constellation-es1-1tb").unwrap().profile(StartEstimate::Worst);
    let up = drive.rest(Depth::IdleC).unwrap().up;
    let drawn = up.energy.as_joules() / up.time.as_secs_f64();
    assert!((drawn / printed - 1.0).abs() < 1.0 / 15.0, "{drawn} W for {printed} W");
}

/// `Idle_C` gives 39 to 47 % of the idle power back.
#[test]
fn idle_c_saves_what_manuals_say() {
    for name in ["constellation-es3-4tb", "constellation-es3-2tb", "constellation-es2-3tb", "constellation-es1-1tb"] {
        let drive = profile(name);
        let saved = 1.0 - drive.rest(Depth::IdleC).unwrap().power.as_watts() / drive.idle.as_watts();
        assert!((0.39..0.475).contains(&saved), "{name}: {saved}");
    }
}

#[test]
fn every_drive_is_a_drive_and_says_where_it_is_from() {
    for drive in &DRIVES {
        for estimate in [StartEstimate::Typical, StartEstimate::Worst] {
            drive.profile(estimate).check().unwrap();
        }
        assert!(!drive.source.is_empty() && !drive.what.is_empty());
        assert_eq!(drive.real, drive.name != "as-printed");
    }
    assert_eq!(Drive::named("barracuda"), None);
}

#[test]
fn a_profile_that_no_drive_has_is_refused() {
    let drive = profile("constellation-es3-4tb");
    let rest = *drive.rest(Depth::Standby).unwrap();
    let with = |rest: Rest| Profile { rests: [None, None, Some(rest)], ..drive };
    let above = with(Rest { power: Power::from_mw(7_971), ..rest });
    assert!(matches!(above.check(), Err(ProfileError::Upside { depth: "standby", above: "idle", .. })));
    let text = above.check().unwrap_err().to_string();
    assert_eq!(text, "standby (7.971 W) draws more than idle (7.97 W): a deeper state draws less");
    let equal = with(Rest { power: drive.idle, up: Transition::at(drive.read, Time::from_secs(9)), ..rest });
    assert_eq!((equal.check(), equal.break_even(Depth::Standby)), (Ok(()), None));
    let idle = Profile { idle: Power::from_mw(10_431), ..drive };
    assert!(matches!(idle.check(), Err(ProfileError::IdleAboveActive { .. })));
    let energy = Energy::from_joules(1.0);
    let sudden = with(Rest { up: Transition { time: Time::ZERO, energy }, ..rest });
    assert_eq!(sudden.check(), Err(ProfileError::NoTime("spin-up")));
    let free = with(Rest { down: Transition { time: Time::from_secs(2), energy }, ..rest });
    assert!(matches!(free.check(), Err(ProfileError::Free { depth: "standby", .. })));
    // Between depths, too.
    let mut steps = drive;
    steps.rests[1] = Some(Rest { power: Power::from_mw(1_199), ..rest });
    assert!(matches!(steps.check(), Err(ProfileError::Upside { above: "idle-c", .. })));
}

const S: Time = Time::from_secs(1);

/// An Ultrastar reads for 10 s, idles for 20 s, stops (1.5 s, 13 J), stands by until 100 s, starts (10.9 s, 135 J),
/// writes for 5 s: 13.5 x 10 + 10.2 x 20 + 13 + 2.5 x 68.5 + 135 + 13.5 x 5 joules.
#[test]
fn a_disk_draws_by_its_states() {
    let mut disk = DiskPower::new(profile("ultrastar-36z15"), Time::ZERO);
    disk.serve(Time::ZERO, Op::Read);
    assert!(!disk.rest(S * 5, Depth::Standby), "in use");
    disk.stop(S * 10);
    assert!(disk.rest(S * 30, Depth::Standby) && !disk.rest(S * 30, Depth::IdleC));
    assert_eq!(disk.deadline(), Time::from_ms(31_500));
    assert!(!disk.on_timer(disk.deadline()));
    assert_eq!(disk.state(), PowerState::Rest(Depth::Standby));
    assert!(disk.wake(S * 100, Cause::Read) && !disk.wake(S * 101, Cause::Write));
    let ready = disk.deadline();
    assert_eq!(ready, Time::from_ms(110_900));
    assert!(disk.on_timer(ready) && disk.is_ready());
    disk.serve(ready, Op::Write);
    let end = ready + S * 5;
    let expected = 13.5 * 10.0 + 10.2 * 20.0 + 13.0 + 2.5 * 68.5 + 135.0 + 13.5 * 5.0;
    assert!((disk.energy(end).as_joules() - expected).abs() < 1e-6, "{}", disk.energy(end).as_joules());
    assert_eq!(disk.times(end).into_iter().sum::<Time>(), end);
    assert_eq!((disk.starts(), disk.wakes(Depth::Standby)[Cause::Read.kind()]), (1, 1));
    let states: Vec<_> = disk.changes().iter().map(|change| (change.at, change.state, change.cause)).collect();
    assert_eq!(states[2], (S * 100, PowerState::Up(Depth::Standby), Some(Cause::Read)));
}

/// A request that comes while the motor is stopping waits until it stands, and for the start.
#[test]
fn a_stopping_disk_stops_first() {
    let mut disk = DiskPower::new(profile("ultrastar-36z15"), Time::ZERO);
    assert!(disk.rest(Time::ZERO, Depth::Standby) && disk.wake(S, Cause::Helping));
    assert!(!disk.on_timer(Time::from_ms(1_500)) && !disk.is_resting());
    assert_eq!(disk.deadline(), Time::from_ms(12_400));
    assert!(disk.on_timer(Time::from_ms(12_400)));
    assert_eq!(disk.wakes(Depth::Standby)[Cause::Helping.kind()], 1);
}
