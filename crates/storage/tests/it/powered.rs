//! A store whose disks rest: who waits, what it draws, and that the ledger is whole.

use proptest::prelude::*;
use storage::power::{Budget, Cause, Depth, Hint, Phase, Policy, PowerState, Profile, Rest, Settings, Transition};
use storage::{
    ArraySpec, CacheSpec, DiskSpec, Lateness, Op, RaidLevel, Request, RotatingSpec, Store, Stream, VolumeSpec,
};
use units::{BitRate, Bytes, Energy, Power, Time};

const MB: u64 = 1_000_000;
const S: Time = Time::from_secs(1);

/// 100 MB/s, no positioning.
fn disk() -> DiskSpec {
    let rate = BitRate::from_bps(800_000_000);
    DiskSpec::Rotating(RotatingSpec::flat(Time::ZERO, rate, rate))
}

/// 10 W in use, 8 W idle, 1 W in standby; a stop takes 1 s and 5 J, a start 10 s and 200 J.
fn profile() -> Profile {
    let joules = Energy::from_joules;
    let standby = Rest {
        power: Power::from_watts(1.0),
        down: Transition { time: S, energy: joules(5.0) },
        up: Transition { time: S * 10, energy: joules(200.0) },
    };
    Profile {
        read: Power::from_watts(10.0),
        write: Power::from_watts(10.0),
        idle: Power::from_watts(8.0),
        rests: [None, None, Some(standby)],
        start_limit: None,
        load_limit: None,
    }
}

fn after(timeout: u64) -> Settings {
    Settings { spin_ups: Budget::per_day(10_000), ..Settings::of(Policy::Timeout(Some(S * timeout))) }
}

fn request(op: Op, id: u64, megabytes: u64, tag: u64) -> Request<u64> {
    let stream = Stream { node: 0, id, part: 0 };
    Request { op, stream, offset: Bytes::ZERO, bytes: Bytes::new(megabytes * MB), places: 1, tag }
}

fn run_until(store: &mut Store<u64>, until: Time) -> Vec<(Time, u64)> {
    let (mut all, mut done) = (Vec::new(), Vec::new());
    while store.deadline() <= until && store.deadline() < Time::MAX {
        let now = store.deadline();
        store.on_timer(now, &mut done);
        all.extend(done.drain(..).map(|tag| (now, tag)));
    }
    all
}

/// Idle from 0 s, at rest from 20 s on, down by 21 s. A read of 100 MB at 100 s finds the motor stopped: it starts
/// until 110 s, and the read ends at 111 s. Twenty seconds later the disk goes to rest again.
#[test]
fn a_request_to_a_disk_at_rest_waits_for_its_start() {
    let mut store = Store::new(&[disk()], CacheSpec::none());
    store.set_power(Time::ZERO, after(20), &[Some((profile(), 1))]).unwrap();
    assert_eq!(run_until(&mut store, S * 100), vec![]);
    store.submit(S * 100, 0, request(Op::Read, 1, 100, 7));
    assert_eq!(run_until(&mut store, S * 200), vec![(S * 111, 7)]);
    let power = store.power().unwrap();
    let own = power.disk(0);
    let times = own.times(S * 200);
    let of = |state: PowerState| times[state.index()];
    // 20 s before the first rest and 20 s before the second, which is down from 132 s on.
    assert_eq!(of(PowerState::Idle), S * 40);
    assert_eq!(of(PowerState::Read), S);
    assert_eq!(of(PowerState::Down(Depth::Standby)), S * 2);
    assert_eq!(of(PowerState::Rest(Depth::Standby)), S * 79 + S * 68);
    assert_eq!(of(PowerState::Up(Depth::Standby)), S * 10);
    let joules = 8.0 * 40.0 + 10.0 + 5.0 * 2.0 + 147.0 + 200.0;
    assert!((own.energy(S * 200).as_joules() - joules).abs() < 1e-6);
    assert_eq!(own.wakes(Depth::Standby)[Cause::Read.kind()], 1);
    assert_eq!(power.lateness(0), Lateness { times: 1, sum: S * 10, most: S * 10 });
    // Without rest: 199 s idle and 1 s of reading. An oracle may rest from 0 s on and once more behind the read.
    let bounds = power.bounds(0, S * 200);
    assert!((bounds.always_on.as_joules() - (8.0 * 199.0 + 10.0)).abs() < 1e-6);
    assert!(bounds.least <= bounds.energy && bounds.energy < bounds.always_on, "{bounds:?}");
}

/// What is written into memory wakes its disk when the cache writes it back, 30 s later; nobody waits for it.
#[test]
fn a_write_wakes_its_disk_when_memory_writes_back() {
    let memory = CacheSpec::linux(Bytes::from_mib(1024));
    let mut store = Store::new(&[disk()], memory);
    store.set_power(Time::ZERO, after(5), &[Some((profile(), 1))]).unwrap();
    run_until(&mut store, S * 50);
    store.submit_for(S * 50, 0, request(Op::Write, 1, 20, 3), Some(Cause::Recovery));
    // A copy at 2 GB/s.
    assert_eq!(run_until(&mut store, S * 79), vec![(S * 50 + Time::from_ms(10), 3)]);
    assert_eq!(store.power().unwrap().disk(0).starts(), 0);
    run_until(&mut store, S * 95);
    let power = store.power().unwrap();
    let changes = power.disk(0).changes();
    let wake = changes.iter().find(|change| change.cause.is_some()).unwrap();
    assert_eq!((wake.at, wake.cause), (S * 80, Some(Cause::Recovery)));
    assert_eq!(store.disk_counters(S * 95, 0, 0).written, Bytes::from_mb(20));
}

/// Two disks at rest are asked at 50 and 51 s; the second waits for the first one's motor, which would run at 60 s, and
/// the first fails at 55 s. So the second starts then, and its read of 100 MB ends at 66 s.
#[test]
fn a_disk_that_fails_while_it_starts_gives_way_to_the_next() {
    let mut store = Store::new(&[disk(), disk()], CacheSpec::none());
    store.set_power(Time::ZERO, after(20), &[Some((profile(), 1)); 2]).unwrap();
    run_until(&mut store, S * 50);
    store.submit(S * 50, 0, request(Op::Read, 1, 100, 1));
    store.submit(S * 51, 1, request(Op::Read, 2, 100, 2));
    run_until(&mut store, S * 55);
    assert_eq!(store.fail_member(S * 55, 0, 0), Some(vec![1]));
    assert_eq!(run_until(&mut store, S * 1000), vec![(S * 66, 2)]);
}

/// A spare of a RAID 5 fails while it is filled: what is written afterwards does not wait for it.
#[test]
fn nobody_waits_for_a_spare_that_has_failed() {
    let array =
        ArraySpec { level: RaidLevel::Raid5, members: 4, unit: Bytes::new(64 << 10), rebuild: ArraySpec::SYNC_SPEED };
    let mut store = Store::new(&[VolumeSpec { disk: disk(), array: Some(array) }], CacheSpec::none());
    store.set_power(Time::ZERO, after(20), &[Some((profile(), 0))]).unwrap();
    store.fail_member(S, 0, 1);
    run_until(&mut store, S * 2);
    store.replace_member(S * 2, 0, 1);
    run_until(&mut store, S * 30);
    assert!(store.rebuilt(0).is_some_and(|part| part > 0.0));
    store.fail_member(S * 30, 0, 1);
    run_until(&mut store, S * 31);
    store.submit(S * 31, 0, request(Op::Write, 1, 100, 1));
    store.submit(S * 31, 0, request(Op::Read, 2, 100, 2));
    let mut done: Vec<u64> = run_until(&mut store, S * 60).into_iter().map(|(_, tag)| tag).collect();
    done.sort_unstable();
    assert_eq!(done, [1, 2]);
}

/// A read of a whole row of a RAID 5 wakes all its members, motor by motor.
#[test]
fn one_read_wakes_the_disks_of_an_array() {
    let array =
        ArraySpec { level: RaidLevel::Raid5, members: 4, unit: Bytes::new(64 << 10), rebuild: ArraySpec::SYNC_SPEED };
    let volume = VolumeSpec { disk: disk(), array: Some(array) };
    let mut store = Store::new(&[volume], CacheSpec::none());
    store.set_power(Time::ZERO, after(5), &[Some((profile(), 1))]).unwrap();
    run_until(&mut store, S * 50);
    assert_eq!(store.power().unwrap().depth(0), 3);
    store.submit(S * 50, 0, request(Op::Read, 1, 4, 1));
    let done = run_until(&mut store, S * 100);
    let starts: Vec<u32> = (0..4).map(|member| store.power().unwrap().disk(member).starts()).collect();
    assert_eq!(starts, [1; 4]);
    // One after the other, 10 s each.
    assert!(done[0].0 >= S * 90 && done[0].0 < S * 91, "{done:?}");
}

/// A disk that has failed draws nothing more, and one without power neither; with power again it starts.
#[test]
fn a_disk_without_power_draws_nothing() {
    let mut store: Store<u64> = Store::new(&[disk(), disk()], CacheSpec::none());
    store.set_power(Time::ZERO, Settings::always_on(), &[Some((profile(), 0)), Some((profile(), 1))]).unwrap();
    store.fail_member(S * 10, 1, 0);
    store.switch(S * 50, false);
    store.submit(S * 60, 0, request(Op::Read, 1, 100, 1));
    store.switch(S * 70, true);
    assert_eq!(run_until(&mut store, S * 200), vec![(S * 81, 1)]);
    let power = store.power().unwrap();
    let joules = |disk: u32| power.disk(disk).energy(S * 100).as_joules();
    assert!((joules(0) - (8.0 * 50.0 + 200.0 + 10.0 + 8.0 * 19.0)).abs() < 1e-6, "{}", joules(0));
    assert!((joules(1) - 80.0).abs() < 1e-6, "{}", joules(1));
    assert_eq!(power.disk(0).wakes(Depth::Standby)[Cause::PowerOn.kind()], 1);
    // A disk that never rests has to start with its power, too: no policy has lost or saved anything by it.
    for disk in 0..2 {
        let bounds = power.bounds(disk, S * 100);
        assert_eq!((bounds.always_on, bounds.least), (bounds.energy, bounds.energy));
    }
}

/// The power comes back to two disks at once, and their motors start one after the other: until 80 and 90 s. If it goes
/// again at 85 s, a half of the second start has been drawn.
#[test]
fn motors_start_one_after_the_other_when_power_comes_back() {
    for goes_again in [false, true] {
        let mut store: Store<u64> = Store::new(&[disk(), disk()], CacheSpec::none());
        let profiles = [Some((profile(), 0)), Some((profile(), 1))];
        store.set_power(Time::ZERO, Settings::always_on(), &profiles).unwrap();
        store.switch(S * 50, false);
        for disk in 0..2 {
            store.submit(S * 60, disk, request(Op::Read, u64::from(disk), 100, u64::from(disk)));
        }
        store.switch(S * 70, true);
        let mut done = run_until(&mut store, S * 85);
        if goes_again {
            store.switch(S * 85, false);
        }
        done.extend(run_until(&mut store, S * 100));
        // In standby until its turn, then the start, a second of reading and nine without work.
        let (served, joules) = if goes_again {
            (vec![(S * 81, 0)], 8.0 * 50.0 + 10.0 + 100.0)
        } else {
            (vec![(S * 81, 0), (S * 91, 1)], 8.0 * 50.0 + 10.0 + 200.0 + 10.0 + 8.0 * 9.0)
        };
        assert_eq!(done, served);
        let bounds = store.power().unwrap().bounds(1, S * 100);
        assert!((bounds.energy.as_joules() - joules).abs() < 1e-6, "{bounds:?}");
        assert_eq!((bounds.always_on, bounds.least), (bounds.energy, bounds.energy));
    }
}

const HINTS: [Hint; 10] = [
    Hint::LastBlock,
    Hint::JobOver,
    Hint::PrimaryFailed,
    Hint::FailureExpected,
    Hint::Gears(1),
    Hint::Gears(2),
    Hint::Phase(Phase::Recovery),
    Hint::Phase(Phase::Jobs),
    Hint::WriteIntensive(true),
    Hint::WriteIntensive(false),
];

/// Any requests under any policy and any hints: each is answered, states fill the time, the policy's time in use is
/// that of the disks' mechanics, and no policy beats the oracle.
fn is_whole(
    asks: &[(u64, u64, bool, u64)],
    policy: Policy,
    hints: &[(u64, u8)],
    memory: bool,
) -> Result<(), TestCaseError> {
    let settings = Settings {
        policy,
        primaries: Some(Depth::Standby),
        backups: Some(Depth::Standby),
        spin_ups: Budget::per_day(24),
        loads: Budget::per_day(329),
        stagger: 1,
    };
    let cache = if memory { CacheSpec::linux(Bytes::from_mib(64)) } else { CacheSpec::none() };
    let spec = |_| VolumeSpec { disk: DiskSpec::st3160318as(), array: None };
    let array =
        ArraySpec { level: RaidLevel::Raid5, members: 3, unit: Bytes::new(64 << 10), rebuild: ArraySpec::SYNC_SPEED };
    let mut volumes: Vec<VolumeSpec> = (0..2).map(spec).collect();
    volumes.push(VolumeSpec { array: Some(array), ..volumes[0] });
    let mut store = Store::new(&volumes, cache);
    let profiles = [(profile(), 0), (profile(), 1), (profile(), 1)].map(Some);
    store.set_power(Time::ZERO, settings, &profiles).unwrap();
    let mut steps: Vec<(u64, usize, bool)> = asks.iter().enumerate().map(|(n, ask)| (ask.0, n, true)).collect();
    steps.extend(hints.iter().enumerate().map(|(n, hint)| (hint.0, n, false)));
    steps.sort_unstable();
    let mut answered = Vec::new();
    for (at, number, asks_now) in steps {
        let now = Time::from_ms(at);
        answered.extend(run_until(&mut store, now));
        if asks_now {
            let (_, place, write, megabytes) = asks[number];
            let op = if write { Op::Write } else { Op::Read };
            store.submit(now, place as u32 % 3, request(op, place, megabytes, number as u64));
        } else {
            store.hint(now, HINTS[hints[number].1 as usize]);
        }
    }
    let end = S * 20_000;
    answered.extend(run_until(&mut store, end));
    let mut tags: Vec<u64> = answered.into_iter().map(|(_, tag)| tag).collect();
    tags.sort_unstable();
    prop_assert_eq!(tags, (0..asks.len() as u64).collect::<Vec<_>>());
    let power = store.power().unwrap();
    for (volume, member) in [(0, 0), (1, 0), (2, 0), (2, 1), (2, 2)] {
        let seat = power.seat(volume, member).unwrap();
        let times = power.disk(seat).times(end);
        prop_assert_eq!(times.iter().copied().sum::<Time>(), end);
        let used = times[PowerState::Read.index()] + times[PowerState::Write.index()];
        prop_assert_eq!(used, store.disk_counters(end, volume, member).busy);
        let bounds = power.bounds(seat, end);
        let slack = 1e-6 * bounds.always_on.as_joules();
        prop_assert!(bounds.energy.as_joules() >= bounds.least.as_joules() - slack, "{:?}", bounds);
        prop_assert!(power.disk(seat).starts() <= 24);
    }
    Ok(())
}

proptest! {
    #[test]
    fn the_ledger_of_disks_is_whole(
        asks in prop::collection::vec((0_u64..6_000_000, 0_u64..9, any::<bool>(), 1_u64..40), 1..40),
        policy in prop::sample::select(vec![
            Policy::AlwaysOn, Policy::Timeout(None), Policy::Timeout(Some(S * 3)), Policy::Adaptive, Policy::AsPrinted,
            Policy::Predicted { margin: S }, Policy::Phased { timeout: None }, Policy::Gears,
        ]),
        hints in prop::collection::vec((0_u64..6_000_000, 0_u8..10), 0..6),
        memory in any::<bool>(),
    ) {
        is_whole(&asks, policy, &hints, memory)?;
    }
}
