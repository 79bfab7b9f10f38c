//! The machine by hand-made sequences.

use super::world::{Request, S, World, spec};
use standby::{Event, Seen, Who};
use storage::power::{Budget, Cause, GuardSpec, Hint, Phase, Policy, Settings};
use units::{BitRate, Time};

const WHO: Who = Who { uid: 1_000, pid: 7 };
const TIMEOUT: Policy = Policy::Timeout(Some(Time::from_secs(600)));

#[test]
fn an_idle_disk_rests_after_its_timeout_and_a_read_that_wakes_it_is_named() {
    let mut world = World::new(spec(TIMEOUT));
    world.counted = false;
    world.run(S * 598);
    assert!(world.turns() && world.rests.is_empty());
    world.run(S * 10);
    assert!(world.stands());
    assert_eq!(world.told, [Event::Rest { disk: "backup".to_owned(), own: true }]);
    world.run(S * 10_000);
    assert!(world.stands() && world.told.len() == 1, "nothing but its own looks has come: {:?}", world.told);
    world.request(Request::Read);
    world.run(S * 20);
    let Some(Event::Wake { cause, by: None, io, rested_s, away: false, .. }) = world.told.last() else {
        panic!("{:?}", world.told)
    };
    assert_eq!((cause.as_str(), io.reads, io.writes), ("read", 1, 0));
    assert!((10_000.0..10_020.0).contains(rested_s), "{rested_s}");
    assert_eq!(world.machine.ledger(0).wakes["read"], 1);
}

/// A disk that is in use until just before is not put to rest.
#[test]
fn a_request_between_the_decision_and_the_command_keeps_it_awake() {
    let mut world = World::new(spec(TIMEOUT));
    world.latency = S * 2;
    world.run(S * 600);
    // The state is being asked for.
    world.request(Request::Read);
    world.run(S * 500);
    assert!(world.turns() && world.rests.is_empty(), "{:?}", world.told);
    world.run(S * 120);
    assert!(world.stands());
}

/// What nobody knows the state of is told nothing, whatever the policy and the hints say.
#[test]
fn a_disk_of_unknown_state_is_left_alone() {
    let mut world = World::new(spec(Policy::Predicted { margin: S * 5 }));
    world.blind = true;
    world.run(S * 5_000);
    assert!(world.rests.is_empty() && world.turns());
    assert!(matches!(&world.told[..], [Event::Unknown { .. }]), "once, not each time: {:?}", world.told);
    world.blind = false;
    world.machine.hint(world.now, Hint::JobOver, WHO).expect("counts");
    world.run(S * 400);
    assert!(world.stands());
    // It rests, and then nobody knows: a hint that would wake it waits until somebody does.
    world.blind = true;
    world.run(S * 60);
    world.machine.hint(world.now, Hint::Phase(Phase::Import), WHO).expect("counts");
    world.run(S * 600);
    assert!(world.stands());
    world.blind = false;
    world.run(S * 60);
    assert!(world.turns());
    assert_eq!(world.causes(), ["import"]);
}

#[test]
fn a_hint_wakes_and_the_log_has_who_gave_it() {
    let mut world = World::new(spec(Policy::Predicted { margin: S * 5 }));
    world.machine.hint(world.now, Hint::JobOver, WHO).expect("counts");
    world.run(S * 120);
    assert!(world.stands());
    // 20 blocks of 2 s are 40 s of work; a start and the margin are 12 s and 5 s.
    let progress = |left| Hint::Progress { left, each: S * 2, helping: true };
    world.machine.hint(world.now, progress(20), WHO).expect("counts");
    world.run(S * 30);
    assert!(world.stands());
    world.machine.hint(world.now, progress(8), WHO).expect("counts");
    world.run(S * 30);
    assert!(world.turns());
    let Some(Event::Wake { cause, by, .. }) = world.told.last() else { panic!("{:?}", world.told) };
    assert_eq!((cause.as_str(), *by), ("predicted", Some(WHO)));
}

/// A job that has died with its disks awake does not keep them so for ever.
#[test]
fn hints_lapse_and_those_of_a_failed_primary_do_not() {
    let mut world = World::new(spec(Policy::Phased { timeout: Some(S * 60) }));
    world.run(S * 70);
    assert!(world.stands());
    world.machine.hint(world.now, Hint::Phase(Phase::Import), WHO).expect("counts");
    world.run(S * 3_500);
    assert!(world.turns());
    world.run(S * 300);
    assert!(world.stands());
    world.machine.hint(world.now, Hint::PrimaryFailed, WHO).expect("counts");
    world.run(S * 20_000);
    assert!(world.turns());
    assert_eq!(world.causes(), ["import", "primary failed"]);
}

#[test]
fn a_wanted_window_wakes_a_disk_and_it_rests_again() {
    let mut world = World::new(spec(TIMEOUT));
    world.run(S * 700);
    world.machine.wake(world.now, 0, WHO);
    world.run(S * 30);
    assert!(world.turns());
    assert_eq!(world.causes(), ["window"]);
    world.run(S * 700);
    assert!(world.stands());
}

/// Commands of monitoring programs neither wake it nor count as a cause.
#[test]
fn pages_of_smart_are_no_reads() {
    let mut world = World::new(spec(TIMEOUT));
    for _ in 0..30 {
        world.request(Request::Page);
        world.run(S * 60);
    }
    assert!(world.stands(), "they did not keep it awake");
    world.request(Request::Start);
    world.run(S * 120);
    assert!(world.turns());
    assert_eq!(world.causes(), ["outside"]);
}

#[test]
fn rest_by_a_timer_of_the_drive_is_seen_and_paid_for() {
    let mut world = World::new(spec(Policy::Timeout(Some(S * 100_000))));
    world.run(S * 60);
    let before = world.machine.controller().starts_left(world.now, 0);
    assert_eq!(before, Some(8_000_000));
    world.stop_outside();
    world.run(S * 60);
    assert_eq!(world.told, [Event::Rest { disk: "backup".to_owned(), own: false }]);
    let left = world.machine.controller().starts_left(world.now, 0).expect("it has a budget");
    assert!((7_000_000..7_020_000).contains(&left), "{left}");
}

#[test]
fn many_writes_keep_backups_awake() {
    // 8 sectors of 512 bytes a second are 32.8 kbit/s.
    let (on, off) = (BitRate::from_bps(30_000), BitRate::from_bps(10_000));
    let guard = GuardSpec { on, off, window: S * 30 };
    let mut world = World::new(standby::Spec { guard: Some(guard), ..spec(Policy::Timeout(Some(S * 20))) });
    for _ in 0..60 {
        world.request(Request::Write);
        world.run(S);
    }
    world.run(S * 25);
    assert!(world.turns(), "20 s have passed, and writes were many in the window before");
    world.run(S * 60);
    assert!(world.stands());
    let refused = world.machine.hint(world.now, Hint::WriteIntensive(true), WHO);
    assert_eq!(refused, Err("the guard counts writes itself"));
}

#[test]
fn at_the_end_disks_are_woken_or_stay() {
    for wake_at_end in [true, false] {
        let mut world = World::new(standby::Spec { wake_at_end, ..spec(TIMEOUT) });
        world.run(S * 700);
        world.machine.end(world.now);
        assert!(world.until(S * 60, |world| world.machine.has_ended()));
        assert_eq!((world.turns(), world.causes()), (wake_at_end, if wake_at_end { vec!["end"] } else { vec![] }));
    }
}

/// Killed at any moment: the next life knows who woke the disk meanwhile, and does not invent a wake.
#[test]
fn a_killed_daemon_is_followed_by_one_that_knows() {
    let rested = || {
        let mut world = World::new(spec(TIMEOUT));
        world.run(S * 700);
        assert!(world.stands());
        world.kill(true);
        world
    };
    // Nothing happened.
    let mut world = rested();
    world.pass(S * 100);
    world.start_again("boot-1");
    world.run(S * 100);
    assert!(world.stands() && world.causes().is_empty() && world.told.len() == 1, "{:?}", world.told);
    world.request(Request::Write);
    world.run(S * 20);
    assert_eq!(world.causes(), ["write"]);
    // A read came meanwhile.
    let mut world = rested();
    world.request(Request::Read);
    world.pass(S * 100);
    world.start_again("boot-1");
    world.run(S * 100);
    let Some(Event::Wake { cause, away: true, .. }) = world.told.last() else { panic!("{:?}", world.told) };
    assert_eq!(cause, "read");
    // It was read, and put to rest again by a timer of the drive.
    let mut world = rested();
    world.request(Request::Read);
    world.pass(S * 100);
    world.stop_outside();
    world.start_again("boot-1");
    world.run(S * 100);
    assert_eq!(world.causes(), ["read"]);
    assert_eq!(world.told.last(), Some(&Event::Rest { disk: "backup".to_owned(), own: false }));
    // The machine was started again.
    let mut world = rested();
    world.boot();
    world.start_again("boot-2");
    world.run(S * 100);
    assert_eq!(world.causes(), ["boot"]);
}

/// Killed between the journal and the end of the command: it may rest or not, and no wake is invented.
#[test]
fn a_daemon_killed_in_the_act_leaves_no_false_wake() {
    for reached in [true, false] {
        let mut world = World::new(spec(TIMEOUT));
        world.latency = S * 2;
        assert!(world.until(S * 700, |world| world.kept.disks.get("backup").is_some_and(|disk| disk.rest.is_some())));
        assert!(world.kept.disks["backup"].rest.as_ref().is_some_and(|rest| rest.unsure));
        let left = world.kept.disks["backup"].starts_left;
        world.kill(reached);
        world.start_again("boot-1");
        world.run(S * 60);
        assert_eq!(world.stands(), reached);
        assert_eq!(world.causes(), Vec::<&str>::new());
        let now = world.machine.controller().starts_left(S * 60, 0);
        let (left, now) = (left.expect("kept"), now.expect("a budget"));
        assert!((left..left + 20_000).contains(&now), "paid once: {left} {now}");
    }
    // And while it starts, for a hint.
    let mut world = World::new(spec(Policy::Phased { timeout: Some(S * 60) }));
    world.run(S * 70);
    world.machine.hint(world.now, Hint::Phase(Phase::Import), WHO).expect("counts");
    world.run(S * 2);
    assert!(!world.stands() && !world.turns());
    world.kill(true);
    world.pass(S * 20);
    world.start_again("boot-1");
    world.run(S * 20);
    assert_eq!(world.causes(), ["import"]);
}

/// Two motors at once are too much for a supply: the second disk waits for the first.
#[test]
fn a_budget_of_nothing_is_refused() {
    let none = Settings { spin_ups: Budget::per_day(0), ..Settings::of(TIMEOUT) };
    let spec = standby::Spec { settings: none, ..spec(TIMEOUT) };
    let error = standby::Machine::new(spec, &standby::Journal::new(""), "", Time::ZERO).expect_err("no budget");
    assert!(error.to_string().contains("wear budget"), "{error}");
}

/// What the model takes a start to last is not what it lasts.
#[test]
fn a_slow_drive_is_waited_for() {
    let mut world = World::new(spec(TIMEOUT));
    world.start = S * 45;
    world.run(S * 700);
    world.machine.wake(world.now, 0, WHO);
    world.run(S * 40);
    assert_eq!(world.seen(), Some(&Seen::Standby));
    world.run(S * 20);
    assert_eq!((world.seen(), world.causes()), (Some(&Seen::Awake), vec![Cause::Window.name()]));
    assert!(!world.told.iter().any(|event| matches!(event, Event::Failed { .. })), "{:?}", world.told);
}
