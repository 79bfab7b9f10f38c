//! Policies by hand-made sequences, and against the optimum over arbitrary ones.

use proptest::prelude::*;
use storage::Op;
use storage::power::day::{Access, Day, DaySpec, ReadOrder, replay};
use storage::power::oracle::{self, Limits, Visit};
use storage::power::{
    Budget, Cause, Controller, Depth, Drive, GearsSpec, Hint, Phase, Policy, PolicyError, PowerState, Profile,
    Settings, StartEstimate,
};
use units::{Energy, Time};

const S: Time = Time::from_secs(1);

fn drive(name: &str) -> Profile {
    Drive::named(name).unwrap().profile(StartEstimate::Typical)
}

/// One primary and one backup disk.
fn pair(policy: Policy) -> Controller {
    let disk = drive("constellation-es3-4tb");
    Controller::new(Settings::of(policy), &[(disk, 0), (disk, 1)], Time::ZERO).unwrap()
}

/// Lets the controller go on until `until`; the disks that have become ready, and when.
fn run(controller: &mut Controller, until: Time) -> Vec<(Time, u32)> {
    let (mut all, mut ready) = (Vec::new(), Vec::new());
    while controller.deadline() <= until {
        let now = controller.deadline();
        controller.on_timer(now, &mut ready);
        all.extend(ready.drain(..).map(|disk| (now, disk)));
    }
    all
}

fn state(controller: &Controller, disk: u32) -> PowerState {
    controller.disk(disk).state()
}

const STANDBY: PowerState = PowerState::Rest(Depth::Standby);

#[test]
fn a_timeout_stops_backup_disks_and_leaves_primaries_alone() {
    let mut pair = pair(Policy::Timeout(Some(S * 600)));
    assert_eq!(run(&mut pair, S * 599), []);
    assert_eq!(state(&pair, 1), PowerState::Idle);
    assert_eq!(run(&mut pair, S * 10_000), []);
    assert_eq!((state(&pair, 0), state(&pair, 1)), (PowerState::Idle, STANDBY));
    assert!(!pair.begin(S * 10_000, 1, Op::Read, Cause::Read));
    assert_eq!(run(&mut pair, S * 10_500), [(S * 10_012, 1)]);
    assert!(pair.begin(S * 10_012, 1, Op::Read, Cause::Read), "and stays ready while it works");
    assert_eq!(run(&mut pair, S * 50_000), []);
    pair.end(S * 50_000, 1);
    run(&mut pair, S * 50_599);
    assert_eq!(state(&pair, 1), PowerState::Idle);
    run(&mut pair, S * 50_600);
    assert_eq!(state(&pair, 1), STANDBY);
}

/// 4.3.3 as printed: at the last primary block the backups start, and stay until the job is over.
#[test]
fn as_printed_the_last_primary_block_wakes_the_backups() {
    let mut pair = pair(Policy::AsPrinted);
    pair.hint(Time::ZERO, Hint::Phase(Phase::Import));
    assert_eq!(run(&mut pair, S * 500), []);
    assert_eq!(state(&pair, 1), PowerState::Idle, "ready throughout the import");
    pair.hint(S * 500, Hint::Phase(Phase::Jobs));
    assert_eq!(state(&pair, 1), STANDBY, "at rest as soon as the replicas are made");
    pair.hint(S * 900, Hint::Progress { left: 1, each: S * 30, helping: true });
    assert_eq!(state(&pair, 1), STANDBY, "the document predicts nothing else");
    pair.hint(S * 1_000, Hint::LastBlock);
    assert_eq!(run(&mut pair, S * 5_000), [(S * 1_012, 1)]);
    assert_eq!(state(&pair, 1), PowerState::Idle);
    pair.hint(S * 5_000, Hint::JobOver);
    assert_eq!(state(&pair, 1), STANDBY);
    assert_eq!(pair.disk(1).wakes(Depth::Standby)[Cause::LastBlock.kind()], 1);
}

/// Ours: 12 s to ready and a margin of 3 s; blocks of 5 s. With three left it starts, with four not; and only to help.
#[test]
fn the_prediction_wakes_in_time_and_only_to_help() {
    let mut pair = pair(Policy::Predicted { margin: S * 3 });
    run(&mut pair, S * 100);
    assert_eq!(state(&pair, 1), STANDBY);
    for (at, left, helping) in [(200, 4, true), (205, 3, false), (210, 0, false)] {
        pair.hint(S * at, Hint::Progress { left, each: S * 5, helping });
        assert_eq!(state(&pair, 1), STANDBY, "{left}");
    }
    pair.hint(S * 300, Hint::Progress { left: 3, each: S * 5, helping: true });
    assert_eq!(run(&mut pair, S * 1_000), [(S * 312, 1)]);
    pair.hint(S * 1_000, Hint::JobOver);
    assert_eq!(state(&pair, 1), STANDBY);
}

#[test]
fn a_failed_primary_wakes_its_backups() {
    for policy in [Policy::Timeout(None), Policy::AsPrinted, Policy::Predicted { margin: S }, Policy::Gears] {
        let mut pair = pair(policy);
        run(&mut pair, S * 1_000);
        assert_eq!(state(&pair, 1), STANDBY, "{policy:?}");
        pair.hint(S * 1_000, Hint::PrimaryFailed);
        assert_eq!(run(&mut pair, S * 9_000), [(S * 1_012, 1)]);
        assert_eq!(state(&pair, 1), PowerState::Idle, "and stay: {policy:?}");
    }
}

/// Until the disk has failed and its replicas are made again, whatever else would let the backups rest.
#[test]
fn an_expected_failure_keeps_the_backups_ready() {
    for policy in [Policy::Timeout(None), Policy::AsPrinted, Policy::Predicted { margin: S }, Policy::Gears] {
        let mut pair = pair(policy);
        run(&mut pair, S * 1_000);
        pair.hint(S * 1_000, Hint::FailureExpected);
        assert_eq!(run(&mut pair, S * 2_000), [(S * 1_012, 1)]);
        for hint in [Hint::JobOver, Hint::Gears(1)] {
            pair.hint(S * 2_000, hint);
        }
        run(&mut pair, S * 9_000);
        assert_eq!(state(&pair, 1), PowerState::Idle, "{policy:?}");
        pair.hint(S * 9_000, Hint::Phase(Phase::Recovery));
        pair.hint(S * 9_100, Hint::Phase(Phase::Jobs));
        run(&mut pair, S * 9_200);
        assert_eq!(state(&pair, 1), STANDBY, "the disk has failed: {policy:?}");
        assert_eq!(pair.disk(1).wakes(Depth::Standby)[Cause::FailureExpected.kind()], 1);
    }
}

#[test]
fn many_writes_keep_backups_ready() {
    let mut pair = pair(Policy::Phased { timeout: None });
    run(&mut pair, S * 1_000);
    pair.hint(S * 1_000, Hint::WriteIntensive(true));
    pair.hint(S * 1_100, Hint::Phase(Phase::Recovery));
    pair.hint(S * 1_200, Hint::Phase(Phase::Jobs));
    run(&mut pair, S * 5_000);
    assert_eq!(state(&pair, 1), PowerState::Idle);
    pair.hint(S * 5_000, Hint::WriteIntensive(false));
    assert_eq!(state(&pair, 1), STANDBY);
}

/// Neither a gear less nor the end of a job ends what keeps backups up for another reason.
#[test]
fn reasons_to_keep_backups_ready_do_not_end_each_other() {
    for policy in [Policy::Timeout(None), Policy::AsPrinted, Policy::Predicted { margin: S }, Policy::Gears] {
        for (why, over) in
            [(Hint::WriteIntensive(true), Hint::WriteIntensive(false)), (Hint::PrimaryFailed, Hint::Phase(Phase::Jobs))]
        {
            let mut pair = pair(policy);
            run(&mut pair, S * 1_000);
            pair.hint(S * 1_000, why);
            if why == Hint::PrimaryFailed {
                pair.hint(S * 1_100, Hint::WriteIntensive(true));
                pair.hint(S * 1_100, Hint::WriteIntensive(false));
            }
            for hint in [Hint::Gears(2), Hint::Gears(1), Hint::JobOver] {
                pair.hint(S * 1_100, hint);
            }
            run(&mut pair, S * 2_000);
            assert_eq!(state(&pair, 1), PowerState::Idle, "{policy:?}, {why:?}");
            if why == Hint::PrimaryFailed {
                pair.hint(S * 2_000, Hint::Phase(Phase::Recovery));
            }
            pair.hint(S * 2_000, over);
            run(&mut pair, S * 3_000);
            assert_eq!(state(&pair, 1), STANDBY, "{policy:?}, {why:?}");
        }
    }
}

/// Two backup disks, one of each further replica. The load needs the first gear, whatever else has kept both up.
#[test]
fn a_gear_in_use_stays_when_writes_are_few_again() {
    let disk = drive("constellation-es3-4tb");
    let settings = Settings { stagger: 2, ..Settings::of(Policy::Gears) };
    for (why, over) in [
        (Hint::WriteIntensive(true), [Hint::WriteIntensive(false); 2]),
        (Hint::PrimaryFailed, [Hint::Phase(Phase::Recovery), Hint::Phase(Phase::Jobs)]),
    ] {
        let mut node = Controller::new(settings, &[(disk, 0), (disk, 1), (disk, 2)], Time::ZERO).unwrap();
        node.hint(S, Hint::Gears(2));
        node.hint(S * 2, why);
        for hint in over {
            node.hint(S * 100, hint);
        }
        run(&mut node, S * 1_000);
        assert_eq!((state(&node, 1), state(&node, 2)), (PowerState::Idle, STANDBY), "{why:?}");
    }
}

/// A gear is in use whatever power its disks have had, and gears change also while there is none.
#[test]
fn a_gear_in_use_is_up_again_with_its_power() {
    let disk = drive("constellation-es3-4tb");
    let settings = Settings { stagger: 2, ..Settings::of(Policy::Gears) };
    for (gears, up) in [(2, [PowerState::Idle, STANDBY]), (3, [PowerState::Idle; 2]), (1, [STANDBY; 2])] {
        let mut node = Controller::new(settings, &[(disk, 0), (disk, 1), (disk, 2)], Time::ZERO).unwrap();
        node.hint(S, Hint::Gears(2));
        for disk in 0..3 {
            node.switch_off(S * 100, disk);
        }
        if gears != 2 {
            node.hint(S * 150, Hint::Gears(gears));
        }
        for disk in 0..3 {
            node.switch_on(S * 200, disk);
        }
        run(&mut node, S * 1_000);
        assert_eq!([state(&node, 1), state(&node, 2)], up, "{gears} gears");
    }
}

/// The timeout doubles after a rest that did not pay: break-even is 28.8 s.
#[test]
fn the_adaptive_timeout_learns() {
    let disk = drive("constellation-es3-4tb");
    let mut one = Controller::new(Settings::of(Policy::Adaptive), &[(disk, 1)], Time::ZERO).unwrap();
    let even = disk.break_even(Depth::Standby).unwrap();
    run(&mut one, even);
    assert_eq!(state(&one, 0), STANDBY);
    assert!(!one.begin(even + S, 0, Op::Read, Cause::Read));
    run(&mut one, even + S * 20);
    let idle = even + S * 20;
    assert!(one.begin(idle, 0, Op::Read, Cause::Read));
    one.end(idle, 0);
    assert_eq!(one.deadline(), idle + even * 2);
}

/// Two motors of a node never start together, and the second waits for the first.
#[test]
fn motors_start_one_after_the_other() {
    let disk = drive("constellation-es3-4tb");
    let settings = Settings::of(Policy::Timeout(None));
    let mut node = Controller::new(settings, &[(disk, 1), (disk, 1), (disk, 2)], Time::ZERO).unwrap();
    run(&mut node, S * 500);
    for number in 0..3 {
        assert!(!node.begin(S * 500, number, Op::Read, Cause::Read));
    }
    assert_eq!(run(&mut node, S * 600), [(S * 512, 0), (S * 524, 1), (S * 536, 2)]);
}

#[test]
fn a_budget_of_nothing_is_an_error_where_one_is_needed() {
    let disk = drive("constellation-es3-4tb");
    let nothing = Settings { spin_ups: Budget::per_day(0), ..Settings::of(Policy::Timeout(None)) };
    let error = Controller::new(nothing, &[(disk, 1)], Time::ZERO).unwrap_err();
    assert_eq!(error, PolicyError::NoBudget("standby"));
    assert!(error.to_string().contains("allow 2 or more in a day"));
    let idle_c = Settings { backups: Some(Depth::IdleC), ..nothing };
    assert!(Controller::new(idle_c, &[(disk, 1)], Time::ZERO).is_ok());
    assert!(Controller::new(Settings { policy: Policy::AlwaysOn, ..nothing }, &[(disk, 1)], Time::ZERO).is_ok());
    let stuck = Settings { stagger: 0, ..Settings::of(Policy::Gears) };
    assert_eq!(Controller::new(stuck, &[(disk, 1)], Time::ZERO).unwrap_err(), PolicyError::NoStarts);
}

/// One disk and its reads: (arrival in ms after the one before, service in ms).
fn day(disk: Profile, settings: Settings, reads: &[(u64, u64)], background: bool) -> (Day, Vec<Visit>, Time) {
    let mut at = Time::ZERO;
    let (mut accesses, mut visits) = (Vec::new(), Vec::new());
    for (number, (gap, service)) in reads.iter().enumerate() {
        at += Time::from_ms(*gap);
        let service = Time::from_ms(*service);
        let deferrable = background && number % 3 == 0;
        accesses.push(Access { at, op: Op::Read, service, homes: vec![0], cause: Cause::Read, deferrable });
        visits.push(Visit { at, service, energy: disk.read.over(service) });
    }
    let work: Time = visits.iter().map(|visit| visit.service).sum();
    let windows = background.then_some(S * 7_200);
    // What waits for a window comes after it: the first one of a lone disk is half a period from the start.
    let last = match windows {
        Some(every) => (0..10_000).map(|turn| every / 2 + every * turn).find(|window| *window >= at).unwrap(),
        None => at,
    };
    let end = last + work + S * 1_000;
    let gears = GearsSpec::of(1);
    let spec = DaySpec {
        nodes: vec![vec![(disk, 1)]],
        settings,
        order: ReadOrder::Awake,
        gears,
        windows,
        offload: false,
        end,
    };
    (replay(&spec, &accesses).unwrap(), visits, end)
}

/// What a gap-by-gap optimum draws in joules beyond standby, without moves that do not fit: each gap is the cheaper of
/// staying idle and of going down and up. Written apart from the programme that it checks.
fn best_of_each_gap(disk: &Profile, visits: &[Visit]) -> f64 {
    let rest = disk.rest(Depth::Standby).unwrap();
    let idle = disk.idle.as_watts() - rest.power.as_watts();
    let moves = (rest.down.time + rest.up.time).as_secs_f64();
    let extra = (rest.down.energy + rest.up.energy).as_joules() - rest.power.as_watts() * moves;
    let (mut free, mut sum) = (0.0_f64, 0.0);
    for visit in visits {
        let gap = visit.at.as_secs_f64() - free;
        if gap > 0.0 {
            sum += if gap >= moves { extra.min(idle * gap) } else { idle * gap };
        }
        free = free.max(visit.at.as_secs_f64()) + visit.service.as_secs_f64();
    }
    sum
}

fn beyond_standby(disk: &Profile, energy: Energy, visits: &[Visit], end: Time) -> f64 {
    let service: f64 = visits.iter().map(|visit| visit.service.as_secs_f64()).sum();
    let used: f64 = visits.iter().map(|visit| visit.energy.as_joules()).sum();
    let standby = disk.rest(Depth::Standby).unwrap().power.as_watts();
    energy.as_joules() - used - standby * (end.as_secs_f64() - service)
}

fn endless() -> Option<Budget> {
    Budget::per_day(100_000)
}

prop_compose! {
    /// Gaps from nothing to hours, most of them about the break-even time.
    fn reads()(all in prop::collection::vec(
        (prop_oneof![0..2_000_u64, 1_000..120_000_u64, 20_000..4_000_000_u64], 1..20_000_u64), 1..60,
    )) -> Vec<(u64, u64)> {
        all
    }
}

fn drives() -> impl Strategy<Value = Profile> {
    let names = ["ultrastar-36z15", "constellation-es3-4tb", "barracuda-7200.7", "constellation-es1-1tb"];
    let estimates = [StartEstimate::Typical, StartEstimate::Worst];
    (prop::sample::select(names.to_vec()), prop::sample::select(estimates.to_vec()))
        .prop_map(|(name, estimate)| Drive::named(name).unwrap().profile(estimate))
}

fn policies() -> impl Strategy<Value = Policy> {
    prop_oneof![
        Just(Policy::AlwaysOn),
        Just(Policy::Timeout(None)),
        // Near zero a policy rests as early as the oracle.
        (0..3_u64).prop_map(|s| Policy::Timeout(Some(S * s))),
        (0..300_u64).prop_map(|s| Policy::Timeout(Some(S * s))),
        Just(Policy::Adaptive),
        Just(Policy::AsPrinted),
        Just(Policy::Predicted { margin: S * 3 }),
        Just(Policy::Phased { timeout: None }),
        Just(Policy::Gears),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Karlin and others 1994: the timeout at break-even draws at most twice what the optimum does beyond standby, and
    /// the costs of one rest, for the rest behind the last request that need not end.
    #[test]
    fn the_timeout_at_break_even_is_two_competitive(disk in drives(), reads in reads()) {
        let single = Profile { rests: [None, None, disk.rests[2]], ..disk };
        let settings = Settings { spin_ups: endless(), ..Settings::of(Policy::Timeout(None)) };
        let (day, visits, end) = day(single, settings, &reads, false);
        let own = beyond_standby(&single, day.disks[0].energy, &visits, end);
        let limits =
            Limits { deepest: Some(Depth::Standby), spin_ups: endless(), stagger: Time::ZERO, patient: false };
        let optimum = beyond_standby(&single, oracle::least(&single, &visits, &limits, end), &visits, end);
        let rest = single.rest(Depth::Standby).unwrap();
        let once = (rest.down.energy + rest.up.energy).as_joules();
        prop_assert!(own <= 2.0 * optimum + once + 1e-6, "{own} > 2 x {optimum} + {once}");
    }

    /// Without a budget and with requests that do not wait, the gaps do not depend on each other.
    #[test]
    fn the_programme_finds_the_best_of_each_gap(disk in drives(), reads in reads()) {
        let single = Profile { rests: [None, None, disk.rests[2]], ..disk };
        let (_, visits, end) = day(single, Settings::always_on(), &reads, false);
        let limits =
            Limits { deepest: Some(Depth::Standby), spin_ups: endless(), stagger: Time::ZERO, patient: false };
        let found = beyond_standby(&single, oracle::least(&single, &visits, &limits, end), &visits, end);
        let rest = single.rest(Depth::Standby).unwrap();
        let down = rest.down.energy.as_joules() - rest.power.as_watts() * rest.down.time.as_secs_f64();
        let expected = best_of_each_gap(&single, &visits) + down;
        prop_assert!((found - expected).abs() < 1e-3, "{found}, expected {expected}");
    }

    /// No policy draws less than the oracle, none breaches its budget, and the ledger of each disk is whole.
    #[test]
    fn no_policy_beats_the_oracle(
        disk in drives(), reads in reads(), policy in policies(), per_day in 2..40_u32, background: bool,
        backups in prop::sample::select(Depth::ALL.to_vec()),
    ) {
        let spin_ups = Budget::per_day(per_day);
        let settings = Settings { spin_ups, backups: Some(backups), ..Settings::of(policy) };
        let (day, _, end) = day(disk, settings, &reads, background);
        let found = &day.disks[0];
        prop_assert_eq!(day.unserved, 0);
        prop_assert!(found.energy.as_nj() + 1_000 >= found.least.as_nj(), "{:?} {:?}", found.energy, found.least);
        prop_assert!(found.least <= found.always_on);
        prop_assert!(found.starts_most <= per_day, "{} > {per_day}", found.starts_most);
        prop_assert_eq!(found.times.into_iter().sum::<Time>(), end);
        let energy: Energy =
            PowerState::ALL.iter().map(|state| state.power(&disk).over(found.times[state.index()])).sum();
        prop_assert_eq!(energy, found.energy);
        if policy == Policy::AlwaysOn {
            prop_assert!(found.energy.as_nj().abs_diff(found.always_on.as_nj()) < 1_000);
        }
    }
}

/// Ten gaps of 60 s, budget for few of them: the programme takes as many as it may, each saving the same. Break-even of
/// the Ultrastar is 15.2 s, so a gap of 60 s saves (60 - 15.19) x 7.7 W.
#[test]
fn the_budget_binds_the_oracle() {
    let disk = drive("ultrastar-36z15");
    let visits: Vec<_> = (1..=10)
        .map(|number| Visit { at: S * (60 * number), service: Time::ZERO, energy: Energy::default() })
        .collect();
    let least = |per_day| {
        let spin_ups = Budget::per_day(per_day);
        let limits = Limits { deepest: Some(Depth::Standby), spin_ups, stagger: Time::ZERO, patient: false };
        oracle::least(&disk, &visits, &limits, S * 600).as_joules()
    };
    let saved = (148.0 - 2.5 * 12.4) / 7.7;
    let each = (60.0 - saved) * 7.7;
    let on = 10.2 * 600.0;
    // A third of the budget at once; nothing more comes within ten minutes.
    for (per_day, rests) in [(2, 1.0), (9, 3.0), (30, 10.0)] {
        assert!((least(per_day) - (on - rests * each)).abs() < 1e-6, "{per_day}: {}", least(per_day));
    }
}

/// Two nodes with a primary and a backup disk each. A write while the backup rests goes to the other primary's log, and
/// home in the window at 2 h; the reads of the log are done there too. Without a log it wakes the backup.
#[test]
fn a_write_for_a_disk_at_rest_goes_to_a_log_and_home_in_the_window() {
    let disk = drive("constellation-es3-4tb");
    let write =
        Access { at: S * 1_000, op: Op::Write, service: S, homes: vec![0, 3], cause: Cause::Write, deferrable: false };
    let found = |offload: bool| {
        let spec = DaySpec {
            nodes: vec![vec![(disk, 0), (disk, 1)]; 2],
            settings: Settings::of(Policy::Timeout(None)),
            order: ReadOrder::Awake,
            gears: GearsSpec::of(2),
            windows: Some(S * 9_000),
            offload,
            end: S * 20_000,
        };
        replay(&spec, std::slice::from_ref(&write)).unwrap()
    };
    let (with, without) = (found(true), found(false));
    assert_eq!((with.offloaded, without.offloaded), (1, 0));
    assert_eq!(with.waits, [Time::ZERO; 2], "both copies at once");
    assert_eq!(without.waits, [Time::ZERO, S * 12]);
    assert_eq!(with.disks.iter().map(|disk| disk.requests).collect::<Vec<_>>(), [1, 0, 2, 1]);
    assert_eq!(with.disks[3].starts[Cause::Flush.kind()], 1);
    assert_eq!(without.disks[3].starts[Cause::Write.kind()], 1);
    let start = with.disks[3].changes.iter().find(|change| change.cause.is_some()).unwrap();
    // Windows of the four disks are spread over the 9,000 s.
    assert_eq!(start.at, S * 7_200);
}

/// What a daemon finds a real disk to do overrules what the model takes it for, and a start that is left over from an
/// earlier life is no more than that.
#[test]
fn what_a_real_disk_is_found_to_do_counts() {
    let disk = drive("constellation-es3-4tb");
    let settings = Settings { spin_ups: Budget::per_day(2), ..Settings::of(Policy::Timeout(Some(S * 60))) };
    let mut one = Controller::new(settings, &[(disk, 1)], Time::ZERO).unwrap();
    assert_eq!(one.starts_left(Time::ZERO, 0), Some(1_000_000), "of two a day one may be used at once");
    run(&mut one, S * 60);
    assert_eq!((state(&one, 0), one.starts_left(S * 60, 0)), (STANDBY, Some(0)));
    // A request wakes it; it is ready long before the 12 s of the manual, and its idle time begins there.
    assert!(!one.begin(S * 100, 0, Op::Read, Cause::Read));
    one.found_ready(S * 103, 0);
    one.end(S * 103, 0);
    assert_eq!(state(&one, 0), PowerState::Idle);
    // One token a day comes back: from the first rest at 60 s, at 86,460 s.
    run(&mut one, S * 86_459);
    assert_eq!(state(&one, 0), PowerState::Idle);
    run(&mut one, S * 86_460);
    assert_eq!(state(&one, 0), STANDBY);
    // Ready by itself, and then in standby by a timer of its own: that takes what there is of a token.
    one.found_ready(S * 86_461, 0);
    run(&mut one, S * 129_660);
    assert_eq!(one.starts_left(S * 129_660, 0), Some(500_000));
    one.found_in_standby(S * 129_660, 0, false);
    one.found_in_standby(S * 129_661, 0, false);
    assert_eq!((state(&one, 0), one.starts_left(S * 129_660, 0)), (STANDBY, Some(0)));
    // An earlier life's rest is a limit, never a gift.
    let mut next = Controller::new(settings, &[(disk, 1)], Time::ZERO).unwrap();
    next.limit_starts(Time::ZERO, 0, 250_000);
    next.limit_starts(Time::ZERO, 0, 900_000);
    assert_eq!(next.starts_left(Time::ZERO, 0), Some(250_000));
    run(&mut next, S * 64_799);
    assert_eq!(state(&next, 0), PowerState::Idle);
    run(&mut next, S * 64_800);
    assert_eq!(state(&next, 0), STANDBY, "three quarters of a day make the other three quarters of a token");
}
