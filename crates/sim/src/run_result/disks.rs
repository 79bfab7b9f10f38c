//! What disks drew, and whether the ledger of their states holds.

use crate::cluster::Driver;
use results::{Balance, DiskChange, DiskPower, Offload};
use storage::power::{Cause, Change, Depth, PowerState};
use storage::{Bounds, OffloadCounters, StorePower};
use units::{Bytes, Time};

const DAY: Time = Time::from_secs(86_400);

/// The power of a disk: a row of the disks, on a seat of its store.
pub(super) fn power(
    disk: u32,
    (store, seat): (&StorePower, u32),
    offloaded: Option<(OffloadCounters, Bytes)>,
    now: Time,
) -> DiskPower {
    let (own, late) = (store.disk(seat), store.lateness(seat));
    let Bounds { energy, always_on, least } = store.bounds(seat, now);
    let times = own.times(now);
    let mut by_name: Vec<(&'static str, Time)> = Vec::new();
    for state in PowerState::ALL {
        let time = times[state.index()];
        match by_name.iter_mut().find(|(name, _)| *name == state.name()) {
            Some((_, sum)) => *sum += time,
            None => by_name.push((state.name(), time)),
        }
    }
    by_name.retain(|(_, time)| *time > Time::ZERO);
    let causes = |depths: &[Depth]| {
        let of = |kind: usize| depths.iter().map(|depth| own.wakes(*depth)[kind]).sum::<u32>();
        let all = (0..Cause::KINDS).map(|kind| (Cause::kind_name(kind), of(kind)));
        all.filter(|(_, wakes)| *wakes > 0).collect::<Vec<_>>()
    };
    let change = |change: &Change| DiskChange {
        disk,
        at: change.at,
        state: change.state.name(),
        cause: change.cause.map_or("", Cause::name),
    };
    DiskPower {
        gear: store.controller().gear(seat),
        energy,
        always_on,
        least,
        times: by_name,
        starts: causes(&[Depth::Standby]),
        loads: causes(&[Depth::IdleB, Depth::IdleC]),
        starts_most: starts_most(own.changes()),
        late_times: late.times,
        late: late.sum,
        late_most: late.most,
        changes: own.changes().iter().map(change).collect(),
        offload: offloaded.map(|(done, owed)| Offload { logged: done.logged, owed, lost: done.lost }),
        series: Vec::new(),
    }
}

/// Most starts of a motor within any 24 hours.
fn starts_most(changes: &[Change]) -> u32 {
    let starts = changes.iter().filter(|change| change.state == PowerState::Up(Depth::Standby));
    let starts: Vec<Time> = starts.map(|change| change.at).collect();
    let mut first = 0;
    let mut most = 0;
    for (last, at) in starts.iter().enumerate() {
        while starts[first].saturating_add(DAY) <= *at {
            first += 1;
        }
        most = most.max(last + 1 - first);
    }
    units::count(most)
}

/// Each disk's states fill the run, and its time in use is the same by its policy's ledger as by its own mechanics.
pub(super) fn laws(driver: &Driver, now: Time) -> Vec<Balance> {
    let (mut disks, mut whole, mut alike) = (0, 0, 0);
    for disk in driver.hosts.disks(now) {
        let Some((store, seat)) = disk.power else { continue };
        let times = store.disk(seat).times(now);
        let used = times[PowerState::Read.index()] + times[PowerState::Write.index()];
        disks += 1;
        whole += u64::from(times.iter().copied().sum::<Time>() == now);
        alike += u64::from(used == disk.counters.busy);
    }
    if disks == 0 {
        return Vec::new();
    }
    let law = |what: &str, how: &str, count: u64| Balance {
        what: what.to_owned(),
        offered: disks,
        accounted: vec![(how.to_owned(), count)],
    };
    vec![
        law("disks with a power, by time in their states", "as long as the run", whole),
        law("disks with a power, by time in use", "as long as by their mechanics", alike),
    ]
}
