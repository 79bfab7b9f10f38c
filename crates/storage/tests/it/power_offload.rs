//! The off-load log's rule under a kill at each step, and the guard against many writes.

use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use storage::power::offload::{Copy, Effect, OffloadLog, TooFewLogs, Write};
use storage::power::{GuardSpec, WriteGuard};
use units::{BitRate, Bytes, Time};

/// Disks: what they have flushed survives, what is on its way does not.
#[derive(Clone, Debug, Default)]
struct Disks {
    durable: BTreeSet<(Write, Copy)>,
    on_the_way: Vec<Effect>,
    acknowledged: BTreeSet<Write>,
}

impl Disks {
    /// One thing on its way happens.
    fn step(&mut self, log: &mut OffloadLog, which: usize) {
        let effect = self.on_the_way.remove(which % self.on_the_way.len());
        match effect {
            Effect::Store(write, copy) => {
                self.durable.insert((write, copy));
                log.durable(write, copy, &mut self.on_the_way);
            }
            Effect::Acknowledge(write) => drop(self.acknowledged.insert(write)),
            Effect::Discard(write, copy) => drop(self.durable.remove(&(write, copy))),
        }
    }
    /// Every acknowledged write has this many durable copies, each on a disk of its own.
    fn check(&self, replicas: usize) {
        for write in &self.acknowledged {
            let disks: BTreeSet<_> =
                self.durable.iter().filter(|(other, _)| other == write).map(|(_, copy)| copy.disk()).collect();
            assert!(disks.len() >= replicas, "write {write} has {disks:?}: {self:?}");
        }
    }
    /// A kill here, then all homes awake: everything that was acknowledged comes home, and no log keeps anything.
    fn kill(&self, homes: &BTreeMap<Write, Vec<u32>>) {
        let mut disks = self.clone();
        disks.on_the_way.clear();
        disks.check(3);
        let mut log = OffloadLog::recover(&disks.durable, &mut disks.on_the_way);
        for disk in 0..12 {
            log.awake(disk, &mut disks.on_the_way);
        }
        while !disks.on_the_way.is_empty() {
            disks.step(&mut log, 0);
            disks.check(3);
        }
        assert!(log.is_empty() && disks.durable.iter().all(|(_, copy)| matches!(copy, Copy::Home(_))), "{disks:?}");
        for write in &disks.acknowledged {
            assert!(homes[write].iter().all(|home| disks.durable.contains(&(*write, Copy::Home(*home)))), "{disks:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Writes to three of six homes, some at rest, logs on six other disks; flushes end in any order, homes come and
    /// go. A kill at every step loses no acknowledged write.
    #[test]
    fn a_kill_at_any_step_loses_nothing_that_was_acknowledged(
        actions in prop::collection::vec((0..8_u32, 0..6_u32, any::<u8>(), 0..100_usize), 1..60),
    ) {
        let (mut log, mut disks, mut homes) = (OffloadLog::default(), Disks::default(), BTreeMap::new());
        let mut next = 0;
        for (action, first, awake, which) in actions {
            match action {
                0 | 1 => {
                    let three: Vec<_> =
                        (0..3).map(|number| ((first + number) % 6, awake >> number & 1 == 1)).collect();
                    homes.insert(next, three.iter().map(|(home, _)| *home).collect::<Vec<_>>());
                    let logs: Vec<_> = (6..12).map(|disk| 6 + (disk + first) % 6).collect();
                    log.begin(next, &three, &logs, &mut disks.on_the_way).unwrap();
                    next += 1;
                }
                2 => log.awake(first, &mut disks.on_the_way),
                _ if !disks.on_the_way.is_empty() => disks.step(&mut log, which),
                _ => {}
            }
            disks.check(3);
            disks.kill(&homes);
        }
    }
}

/// Steps of one write by hand: home 0 is ready, homes 1 and 2 rest; disks 7 and 8 have logs.
#[test]
fn a_write_is_acknowledged_when_every_copy_is_safe_and_logs_are_kept_until_it_is_home() {
    let (mut log, mut out) = (OffloadLog::default(), Vec::new());
    log.begin(5, &[(0, true), (1, false), (2, false)], &[0, 7, 7, 8, 9], &mut out).unwrap();
    let logs = [Copy::Log { on: 7, home: 1 }, Copy::Log { on: 8, home: 2 }];
    let expected = [Copy::Home(0), logs[0], logs[1]].map(|copy| Effect::Store(5, copy));
    assert_eq!(out, expected);
    out.clear();
    log.durable(5, Copy::Home(0), &mut out);
    log.durable(5, logs[1], &mut out);
    log.awake(1, &mut out);
    assert_eq!(out, [], "its log has nothing yet that could go home");
    log.durable(5, logs[0], &mut out);
    assert_eq!(out, [Effect::Acknowledge(5)]);
    out.clear();
    log.awake(1, &mut out);
    assert_eq!((out.as_slice(), log.owed(1)), ([Effect::Store(5, Copy::Home(1))].as_slice(), 1));
    out.clear();
    log.durable(5, Copy::Home(1), &mut out);
    assert_eq!((out.as_slice(), log.owed(1)), ([Effect::Discard(5, logs[0])].as_slice(), 0));
    let error = log.begin(6, &[(0, false), (1, false)], &[0, 9], &mut out).unwrap_err();
    assert_eq!(error, TooFewLogs { asleep: 2, logs: 1 });
    assert!(error.to_string().ends_with("wake 1 of the homes"));
}

/// 100 MB/s begin it, 50 MB/s end it, over windows of 10 s: 1 GB and 0.5 GB.
#[test]
fn the_guard_does_not_switch_to_and_fro() {
    let rate = |mb: u64| BitRate::from_bps(mb * 8_000_000);
    let spec = GuardSpec { on: rate(100), off: rate(50), window: Time::from_secs(10) };
    assert!(WriteGuard::new(GuardSpec { off: rate(100), ..spec }, Time::ZERO).is_none());
    let mut guard = WriteGuard::new(spec, Time::ZERO).unwrap();
    let mut windows = Vec::new();
    for (window, mb) in [900, 1_000, 1_001, 900, 500, 499, 900, 1_001].into_iter().enumerate() {
        guard.wrote(Bytes::from_mb(mb));
        let end = Time::from_secs(10 * (window as u64 + 1));
        assert_eq!(guard.deadline(), end);
        windows.push(guard.on_timer(end));
    }
    assert_eq!(windows, [None, None, Some(true), None, None, Some(false), None, Some(true)]);
}
