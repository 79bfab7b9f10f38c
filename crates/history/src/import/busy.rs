//! Whether a recorded job's tasks shared the cores with other work, or waited.
//!
//! A task that is runnable from its start to its end gets min(1, cores / n) of a core among n such tasks. That is what
//! the machine could give it; what it counted, and the start of its JVM, is what it is known to have taken. On a quiet
//! cluster the two are near. Where much is left over, either other work had it, or the tasks waited for the network or
//! a disk and could not take it. The history tells them apart by the AppMaster: its start moves no bytes to speak of,
//! so it lasts longer only where the cores are taken. How long maps wait for the link before an object store is known at
//! least: as long as their bytes take on it.

use super::calibrate::Given;
use super::hosts::Hosts;
use super::work::{Machines, Work, each_attempt, work};
use crate::{Attempt, AttemptState, JobHistory, Task};
use std::collections::BTreeMap;

/// What kept tasks from the cores of their machines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Contention {
    /// Nothing that is seen.
    None,
    /// Other work.
    Load {
        /// Its runnable threads, for each core.
        per_core: f64,
        /// Seconds of a core that the maps could have had, and those that they are known to have taken.
        seconds: [f64; 2],
    },
    /// They waited, or it is not known what they did: core-seconds as above.
    Waits {
        /// Seconds of a core that the maps could have had, and those that they are known to have taken.
        seconds: [f64; 2],
    },
}

/// A start of a JVM may take this many times what the cluster's scenario says; more is no start.
const MOST_STARTS: f64 = 2.0;
/// Daemons, compilers and collectors take up to this part of what tasks could have had, beyond what tasks count.
const UNCOUNTED: f64 = 1.0 / 3.0;
/// The most load that is looked for, in threads for each core.
const MOST_LOAD: f64 = 64.0;
/// Links that are busy for this part of the maps' time are what the maps waited for.
const BUSY_LINK: f64 = 0.5;

/// What the history shows of contention.
pub fn contention(job: &JobHistory, hosts: &Hosts, given: &Given) -> Contention {
    let maps: Vec<&Attempt> = job.maps.iter().filter_map(Task::successful).collect();
    let counted: f64 = maps.iter().map(|map| map.counters.count("CPU_MILLISECONDS") as f64 / 1e3).sum();
    let worked = counted + maps.iter().map(|map| received(map, given)).sum::<f64>();
    let starts = given.start * maps.len() as f64;
    let known = worked + starts;
    let ready = 1.0 - waits_for_store(&maps, counted, given);
    let could = |machines: &Machines| -> f64 {
        let all = work(job, hosts, machines, given.start);
        let maps = each_attempt(job).zip(all).filter(|((map, a), _)| *map && a.state == AttemptState::Succeeded);
        ready * maps.map(|(_, Work { first, second, .. })| first + second).sum::<f64>()
    };
    let quiet = could(&given.machines);
    if counted <= 0.0 || quiet - worked <= MOST_STARTS * starts || quiet - known <= UNCOUNTED * quiet {
        return Contention::None;
    }
    let seconds = [quiet, known];
    let (mut low, mut high) = (0.0, MOST_LOAD);
    for _ in 0..20 {
        let middle = f64::midpoint(low, high);
        let loaded = Machines { load: middle, ..given.machines.clone() };
        if could(&loaded) > known { low = middle } else { high = middle }
    }
    let per_core = low;
    // The AppMaster's start is nearer to what it takes beside that load than to what it takes alone.
    let stretched = job.masters.last().is_some_and(|master| {
        let wall = (job.launch_ms - master.start_ms) as f64 / 1e3 - given.machines.latency;
        let cores = given.machines.cores_of(hosts.number(&master.host));
        let share = share(cores, 1.0, per_core);
        given.master_start > 0.0 && wall / given.master_start >= libm::sqrt(1.0 / share)
    });
    if stretched && !links_were_busy(job, hosts, given) {
        Contention::Load { per_core, seconds }
    } else {
        Contention::Waits { seconds }
    }
}

/// The part of their time in which maps waited for the link before the object store, at least: those that ran side by
/// side while it carried what they read at its full rate, less all that they computed.
fn waits_for_store(maps: &[&Attempt], counted: f64, given: &Given) -> f64 {
    let Some(rate) = given.store_rate.filter(|rate| *rate > 0.0) else { return 0.0 };
    let times = || maps.iter().filter_map(|map| map.start_ms.zip(map.finish_ms));
    let took: f64 = times().map(|(start, finish)| finish.saturating_sub(start) as f64 / 1e3).sum();
    let (begin, end) = (times().map(|(start, _)| start).min(), times().map(|(_, finish)| finish).max());
    let Some((begin, end)) = begin.zip(end).filter(|(begin, end)| end > begin && took > 0.0) else { return 0.0 };
    let side_by_side = took / (end.saturating_sub(begin) as f64 / 1e3);
    let bytes: f64 = maps.iter().map(|map| map.counters.count("HDFS_BYTES_READ") as f64).sum();
    let waited = side_by_side * bytes * 8.0 / rate - counted;
    (waited / took).clamp(0.0, 1.0)
}

/// The part of a core that each of `runnable` tasks gets beside so many threads of other work for each core.
pub fn share(cores: f64, runnable: f64, load: f64) -> f64 {
    (cores / (runnable + load * cores)).min(1.0)
}

/// CPU seconds of the DataNodes that take what an attempt writes.
pub fn received(attempt: &Attempt, given: &Given) -> f64 {
    attempt.counters.count("HDFS_BYTES_WRITTEN") as f64 * f64::from(given.replication) * given.receive * 1e-9
}

/// Whether the maps' bytes alone kept a link of the cluster's rate busy for half of the maps' time.
fn links_were_busy(job: &JobHistory, hosts: &Hosts, given: &Given) -> bool {
    let mut bytes: BTreeMap<u32, f64> = BTreeMap::new();
    let (mut begin, mut end) = (i64::MAX, i64::MIN);
    for task in &job.maps {
        let Some(map) = task.successful() else { continue };
        let (Some(start), Some(finish)) = (map.start_ms, map.finish_ms) else { continue };
        (begin, end) = (begin.min(start), end.max(finish));
        let count = |counter| map.counters.count(counter) as f64;
        let is_local = task.preferred_hosts.contains(&map.host);
        let read = if is_local { 0.0 } else { count("HDFS_BYTES_READ") };
        let sent = count("HDFS_BYTES_WRITTEN") * f64::from(given.replication.saturating_sub(1));
        *bytes.entry(hosts.number(&map.host).unwrap_or_default()).or_default() += read.max(sent);
    }
    let most = bytes.values().copied().fold(0.0, f64::max);
    let window = end.saturating_sub(begin) as f64 / 1e3;
    given.rate > 0.0 && most * 8.0 / given.rate > BUSY_LINK * window
}

/// The work of attempts that waited: no more than what they are known to have taken. The map function waited, and
/// the reduce function, since sorting is local.
pub fn without_waits(
    maps: &mut [Work],
    of_maps: &[&Attempt],
    reduces: &mut [Work],
    of_reduces: &[&Attempt],
    given: &Given,
) {
    let counted = |attempt: &Attempt| attempt.counters.count("CPU_MILLISECONDS") as f64 / 1e3;
    for (work, map) in maps.iter_mut().zip(of_maps) {
        let known = counted(map) + given.start + received(map, given);
        let excess = (work.first + work.second - known).max(0.0);
        let of_first = excess.min(work.first);
        work.first -= of_first;
        work.second = (work.second - (excess - of_first)).max(0.0);
    }
    for (work, reduce) in reduces.iter_mut().zip(of_reduces) {
        let known = counted(reduce) + received(reduce, given);
        let excess = (work.second + work.third - known).max(0.0);
        let of_third = excess.min(work.third);
        work.third -= of_third;
        work.second = (work.second - (excess - of_third)).max(0.0);
    }
}
