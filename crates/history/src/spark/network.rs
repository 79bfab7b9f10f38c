//! What shuffles show of the links between hosts.

use super::{Locality, Task};
use std::collections::BTreeMap;
use units::BitRate;

/// Bytes of a full packet on an Ethernet by those of its payload.
const ON_THE_WIRE: f64 = 1538.0 / 1448.0;
/// Times are the driver's, and it notes an end some time after: windows are taken to be longer, in seconds.
const UNSURE: f64 = 0.1;
/// Rates that links have, in bit/s, beyond the default one.
const FASTER: [f64; 5] = [10e9, 25e9, 40e9, 100e9, 400e9];

/// A rate in bit/s that the link of some host had at least: of each stage what its tasks on a host read from other
/// executors, by the time from the launch of the first of them to the end of the last. Of a stage is said whether it reads
/// what executors kept, which tasks that run elsewhere read from others, too.
pub fn at_least<'a>(stages: impl Iterator<Item = (bool, Vec<&'a Task>)>) -> f64 {
    let mut most: f64 = 0.0;
    for (keeps, tasks) in stages {
        let mut hosts: BTreeMap<&str, (i64, i64, u64)> = BTreeMap::new();
        for task in tasks {
            let Some(finish) = task.finish_ms else { continue };
            let far = keeps && matches!(task.locality, Locality::Any | Locality::RackLocal);
            let kept = if far { task.metrics.input_bytes } else { 0 };
            // A partition is there before a task computes anything of it.
            let counted = i64::try_from(task.metrics.cpu_ns / 1_000_000).unwrap_or(i64::MAX);
            let alone = (task.launch_ms.saturating_add(counted).min(finish), finish, kept);
            most = most.max(rate(&alone));
            let bytes = task.metrics.read.remote_bytes.saturating_add(kept);
            if bytes > 0 {
                let (first, last, all) = hosts.entry(&task.host).or_insert((task.launch_ms, finish, 0));
                (*first, *last) = (task.launch_ms.min(*first), finish.max(*last));
                *all = all.saturating_add(bytes);
            }
        }
        most = hosts.values().map(rate).fold(most, f64::max);
    }
    most
}

/// The rate of so many bytes between two times.
fn rate((first, last, bytes): &(i64, i64, u64)) -> f64 {
    *bytes as f64 * 8.0 * ON_THE_WIRE / ((last - first) as f64 / 1e3 + UNSURE)
}

/// The rate of the next faster link, where one of this rate cannot have carried so much.
pub fn faster(rate: BitRate, at_least: f64) -> Option<BitRate> {
    if at_least <= rate.as_bps() as f64 {
        return None;
    }
    FASTER.into_iter().find(|faster| *faster >= at_least).map(|faster| BitRate::from_bps(faster as u64))
}
