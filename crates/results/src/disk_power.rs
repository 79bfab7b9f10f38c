//! What disks drew, in which states, and what woke them.

use super::metrics::{Metrics, figure};
use super::value::Value;
use super::{Disk, RunResult};
use std::borrow::Cow;
use units::{Bytes, Energy, Time};

/// The power of a disk in a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DiskPower {
    /// 0 of a disk with first replicas, else the further replica that it is a backup for.
    pub gear: u32,
    /// Energy that it drew.
    pub energy: Energy,
    /// What it would have drawn for the same requests, had it never rested.
    pub always_on: Energy,
    /// The least that it could have drawn for them, had it known them in advance.
    pub least: Energy,
    /// Time in each state, by the state's name, those without any left out.
    pub times: Vec<(&'static str, Time)>,
    /// How often it was woken out of standby, by the name of the cause.
    pub starts: Vec<(&'static str, u32)>,
    /// How often it was woken out of lighter rest, by the name of the cause.
    pub loads: Vec<(&'static str, u32)>,
    /// Most starts within any 24 hours.
    pub starts_most: u32,
    /// How often it was not ready when it was asked for something.
    pub late_times: u32,
    /// How long the first of these requests waited for it, in all.
    pub late: Time,
    /// The longest of these.
    pub late_most: Time,
    /// Its moves: when, the state from then on, and why it was woken if it was.
    pub changes: Vec<DiskChange>,
    /// Writes for it at rest that went to logs, where they are off-loaded; of an array with its first member.
    pub offload: Option<Offload>,
    /// Mean power in each step, in watts.
    pub series: Vec<f32>,
}

/// Writes for a disk at rest that went to logs of other disks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offload {
    /// Bytes that went to logs.
    pub logged: Bytes,
    /// Of these, bytes that logs still had at the end.
    pub owed: Bytes,
    /// Of these, bytes that were lost with the disks of their logs.
    pub lost: Bytes,
}

/// A move of a disk between being ready and at rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskChange {
    /// The disk: a row of `disks`.
    pub disk: u32,
    /// When the move begins.
    pub at: Time,
    /// The state from then on; use is counted as idle.
    pub state: &'static str,
    /// Why it was woken; empty if it was not.
    pub cause: &'static str,
}

/// The disks of a run together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DisksEnergy {
    /// How many draw a known power.
    pub disks: u32,
    /// What they drew.
    pub drawn: Energy,
    /// What they would have drawn for the same requests, had they never rested.
    pub always_on: Energy,
    /// The least that they could have drawn for them.
    pub least: Energy,
    /// Starts of their motors.
    pub starts: u32,
    /// The most of one disk within 24 hours.
    pub starts_most: u32,
    /// How long requests waited for disks at rest.
    pub late: Time,
}

impl DisksEnergy {
    /// Of the disks of a run; none where no disk's power is known.
    pub fn of(run: &RunResult) -> Option<Self> {
        let mut all = Self::default();
        for power in run.disks.iter().filter_map(|disk| disk.power.as_ref()) {
            all.disks += 1;
            all.drawn += power.energy;
            all.always_on += power.always_on;
            all.least += power.least;
            all.starts += power.starts.iter().map(|(_, starts)| starts).sum::<u32>();
            all.starts_most = all.starts_most.max(power.starts_most);
            all.late += power.late;
        }
        (all.disks > 0).then_some(all)
    }
    /// The part of their energy that rest has saved.
    pub fn saved(&self) -> f64 {
        let saved = part(self.always_on, self.drawn);
        // Both are rounded to nanojoules, state by state and as a whole: such a difference is none.
        if saved.abs() < 1e-9 { 0.0 } else { saved }
    }
    /// The part that it could have saved at most: the ceiling.
    pub fn ceiling(&self) -> f64 {
        part(self.always_on, self.least)
    }
    /// What was saved as a part of the ceiling; none where nothing could be.
    pub fn of_ceiling(&self) -> Option<f64> {
        (self.ceiling() > 1e-9).then(|| self.saved() / self.ceiling())
    }
}

fn part(whole: Energy, rest: Energy) -> f64 {
    1.0 - rest.as_joules() / whole.as_joules().max(f64::MIN_POSITIVE)
}

fn by_name(entries: &[(&'static str, u32)]) -> Value {
    Value::sorted(entries.iter().map(|(name, count)| (Cow::Borrowed(*name), u64::from(*count))))
}

/// Figures of a disk's power.
pub static DISK_POWER: Metrics<DiskPower> = Metrics {
    name: "power of a disk",
    what: "What a disk drew and when it rested, where the scenario's `[power]` says it.",
    file: None,
    metrics: &[
        figure("gear", "0 of a disk with first replicas, else the further replica that it is a backup for.")
            .count("number", |power| power.gear.into()),
        figure("drawn_j", "What it drew.").energy(|power| power.energy),
        figure("always_on_j", "What it would have drawn for the same requests, had it never rested.")
            .energy(|power| power.always_on),
        figure("least_j", "The least that it could have drawn for the same requests, had it known them in advance.")
            .energy(|power| power.least),
        figure("times_s", "Time in each of its states; together, the run.").entries("s", |power| {
            Value::Object(
                power.times.iter().map(|(name, time)| (Cow::Borrowed(*name), time.as_secs_f64().into())).collect(),
            )
        }),
        figure("starts", "How often it was woken out of standby, by cause.")
            .entries("times", |power| by_name(&power.starts)),
        figure("loads", "How often it was woken out of lighter rest, by cause.")
            .entries("times", |power| by_name(&power.loads)),
        figure("starts_most", "Most starts within any 24 hours.").count("times", |power| power.starts_most.into()),
        figure("late_times", "How often it was not ready when it was asked for something.")
            .count("times", |power| power.late_times.into()),
        figure("late_s", "How long the first of these requests waited for it, in all.").time(|power| power.late),
        figure("late_most_s", "The longest of these waits.").time(|power| power.late_most),
        figure("offloaded", "Bytes of writes for it at rest that went to logs, where they are off-loaded.")
            .may_be_absent()
            .optional_bytes(|power| Some(power.offload?.logged)),
        figure("offload_owed", "Of these, bytes that logs still had when the run ended.")
            .may_be_absent()
            .optional_bytes(|power| Some(power.offload?.owed)),
        figure("offload_lost", "Of these, bytes that were lost with the disks of their logs.")
            .may_be_absent()
            .optional_bytes(|power| Some(power.offload?.lost)),
    ],
};

/// Figures of all disks together.
pub static DISKS_ENERGY: Metrics<DisksEnergy> = Metrics {
    name: "energy of disks",
    what: "What the disks have drawn, beside what they would have drawn without rest and the least that was possible.",
    file: None,
    metrics: &[
        figure("disks", "How many draw a power that is known.").count("disks", |all| all.disks.into()),
        figure("drawn_j", "What they drew.").energy(|all| all.drawn),
        figure("always_on_j", "What they would have drawn for the same requests, had they never rested.")
            .energy(|all| all.always_on),
        figure("least_j", "The least that they could have drawn for the same requests.").energy(|all| all.least),
        figure("saved", "The part of `always_on_j` that was saved.").number("share", |all| all.saved()),
        figure("ceiling", "The part of `always_on_j` that could have been saved at most.")
            .number("share", |all| all.ceiling()),
        figure("starts", "Starts of their motors.").count("times", |all| all.starts.into()),
        figure("starts_most", "Most starts of one disk within any 24 hours.")
            .count("times", |all| all.starts_most.into()),
        figure("late_s", "How long requests waited for disks at rest.").time(|all| all.late),
    ],
};

/// Moves of disks.
pub static DISK_STATES: Metrics<DiskChange> = Metrics {
    name: "disk states",
    what: "A move of a disk between being ready and at rest, where its power is known.",
    file: Some("disk_states"),
    metrics: &[
        figure("disk", "The disk.").text(|change| {
            let disk: Option<&Disk> = change.run.disks.get(change.disk as usize);
            disk.map(|disk| disk.name.clone()).unwrap_or_default()
        }),
        figure("time_s", "When.").time(|change| change.at),
        figure(
            "state",
            "The state from then on: `idle` (in use or not), `idle-b`, `idle-c`, `standby`, `down`, `up`, `off`.",
        )
        .text(|change| change.state.to_owned()),
        figure("cause", "Why it was woken; empty if it was not.").text(|change| change.cause.to_owned()),
    ],
};
