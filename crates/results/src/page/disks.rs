//! States of disks over time, for the page.

use super::data::{DiskLane, Disks};
use super::from_run::seconds;
use crate::RunResult;
use crate::disk_power::DisksEnergy;
use units::Time;

/// Disks that are shown; of more, those that were woken most often.
const MOST_DISKS: usize = 200;
/// Moves that are shown of each; a run with more has them in its Parquet table.
const MOST_MOVES: usize = 2_000;

/// The states, in the order of their numbers on the page.
const STATES: [&str; 7] = ["ready", "idle-b", "idle-c", "standby", "down", "up", "off"];

fn number(state: &str) -> u8 {
    // Read, write and idle are ready.
    STATES.iter().position(|name| *name == state).map_or(0, |place| u8::try_from(place).unwrap_or(0))
}

/// The disks whose power is known; none where there are none.
pub(super) fn disks(run: &RunResult) -> Option<Disks> {
    let all = DisksEnergy::of(run)?;
    let mut shown: Vec<usize> = (0..run.disks.len()).filter(|disk| run.disks[*disk].power.is_some()).collect();
    let left_out = shown.len().saturating_sub(MOST_DISKS);
    if left_out > 0 {
        let wakes = |disk: &usize| run.disks[*disk].power.as_ref().map_or(0, |power| power.changes.len());
        shown.sort_by_key(|disk| std::cmp::Reverse(wakes(disk)));
        shown.truncate(MOST_DISKS);
        shown.sort_unstable();
    }
    let lane = |disk: usize| {
        let row = &run.disks[disk];
        let power = row.power.as_ref()?;
        let mut lane = DiskLane {
            name: row.name.clone(),
            node: row.node,
            role: row.role.clone(),
            drawn_j: power.energy.as_joules(),
            always_on_j: power.always_on.as_joules(),
            least_j: power.least.as_joules(),
            starts: power.starts.iter().map(|(_, starts)| u64::from(*starts)).sum(),
            late_s: seconds(power.late),
            at_s: vec![0.0],
            state: vec![0],
            cause: vec![String::new()],
        };
        for change in power.changes.iter().take(MOST_MOVES) {
            if change.at == Time::ZERO && change.cause.is_empty() {
                // At rest from the beginning on.
                lane.state[0] = number(change.state);
                continue;
            }
            if change.cause.is_empty() && lane.at_s.last() == Some(&seconds(change.at)) {
                // A move that takes no time is not seen.
                if let Some(state) = lane.state.last_mut() {
                    *state = number(change.state);
                }
                continue;
            }
            lane.at_s.push(seconds(change.at));
            lane.state.push(number(change.state));
            lane.cause.push(change.cause.to_owned());
        }
        Some(lane)
    };
    Some(Disks {
        states: STATES.to_vec(),
        lanes: shown.into_iter().filter_map(lane).collect(),
        left_out,
        drawn_j: all.drawn.as_joules(),
        always_on_j: all.always_on.as_joules(),
        least_j: all.least.as_joules(),
    })
}
