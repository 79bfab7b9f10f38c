//! What a recorded shuffle shows of the hosts' links.
//!
//! A reduce cannot have fetched a map's output before the map ended or before it started itself, and had all of it when
//! its shuffle was over. So the outputs of maps that ended after some moment passed the host's link between that
//! moment and the end of the shuffle: their bytes by that time are a rate that the link has at least. The greatest over
//! all moments is the bound.
//!
//! A bound is the rate itself where hosts of very different volumes show the same one: where fetching waits for maps,
//! or costs the same for each of them, hosts that get more in the same time show more. Hosts that only keep their
//! processors busy may show a common rate too; so the reduces must have counted little processor time meanwhile.

use super::durations::counted;
use super::record::{Moments, Record};
use crate::{JobHistory, Task};
use std::collections::BTreeMap;

/// What is shown, in bits of payload a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shown {
    /// Some host's link carried as much.
    pub at_least: f64,
    /// The rate at which hosts with different volumes all received.
    pub plateau: Option<f64>,
}

/// Moments may be as far, in seconds, from what they stand for: a window is taken to be longer by this.
const UNSURE: f64 = 1.0;
/// A window that shows a plateau lasts so long, in seconds: slow start and news of maps are little beside it.
const LONG: f64 = 10.0;
/// Hosts on a plateau are as near to its height.
const NEAR: f64 = 0.8;
/// The volumes of hosts on a plateau differ by this factor: in the same time they would show rates below [`NEAR`].
const DIFFERENT: f64 = 1.5;
/// A part of the hosts that must be on it.
const PART: usize = 4;
/// Processor time that the reduces counted, by the time of their shuffles, at most.
const IDLE: f64 = 0.05;
/// Windows of a host begin at this many ends of maps at most, and at as many starts of its reduces, evenly chosen.
const BEGINS: usize = 64;

/// A reduce attempt that fetched: seconds, bytes.
struct Fetching {
    start: f64,
    done: f64,
    bytes: f64,
}

/// A window of a host: its rate in bit/s, and its bytes.
#[derive(Clone, Copy, Default)]
struct Window {
    rate: f64,
    bytes: f64,
}

/// What the shuffle of a job shows; none without one of which bytes and moments are recorded.
pub fn shown(job: &JobHistory, record: &Record) -> Option<Shown> {
    let maps = outputs(job, record);
    let mut hosts: BTreeMap<u32, Vec<Fetching>> = BTreeMap::new();
    for reduce in record.attempts.iter().filter(|attempt| !attempt.map) {
        if let Some(fetching) = fetching(reduce) {
            hosts.entry(reduce.node).or_default().push(fetching);
        }
    }
    for reduces in hosts.values_mut() {
        reduces.sort_by(|a, b| a.done.total_cmp(&b.done));
    }
    let mut at_least: f64 = 0.0;
    let mut long = Vec::new();
    for (host, reduces) in &hosts {
        let [any, lasting] = windows(*host, reduces, &maps);
        at_least = at_least.max(any.rate);
        long.push(lasting);
    }
    let height = long.iter().map(|window| window.rate).fold(0.0, f64::max);
    let on_it: Vec<f64> = long.iter().filter(|w| w.rate >= NEAR * height).map(|w| w.bytes).collect();
    let (least, most) = on_it.iter().fold((f64::INFINITY, 0.0), |(a, b): (f64, f64), x| (a.min(*x), b.max(*x)));
    let plateau = height > 0.0
        && on_it.len() >= (hosts.len().div_ceil(PART)).max(2)
        && most >= DIFFERENT * least
        && busy(job).is_some_and(|busy| busy <= IDLE);
    (at_least > 0.0).then_some(Shown { at_least: at_least.max(height), plateau: plateau.then_some(height) })
}

/// Host, end and part of all outputs of each map that succeeded, by their ends.
fn outputs(job: &JobHistory, record: &Record) -> Vec<(u32, f64, f64)> {
    let bytes = |task: &Task| {
        ["MAP_OUTPUT_MATERIALIZED_BYTES", "MAP_OUTPUT_BYTES", "HDFS_BYTES_READ"].iter().find_map(|c| counted(task, c))
    };
    let mut maps: Vec<(u32, f64, f64)> = Vec::new();
    for map in record.succeeded(true) {
        let bytes = job.maps.get(map.task as usize).and_then(bytes).unwrap_or(0) as f64;
        maps.push((map.node, map.end as f64 / 1e3, bytes));
    }
    let all: f64 = maps.iter().map(|(.., bytes)| bytes).sum();
    let count = maps.len().max(1) as f64;
    for (.., bytes) in &mut maps {
        *bytes = if all > 0.0 { *bytes / all } else { 1.0 / count };
    }
    maps.sort_by(|a, b| a.1.total_cmp(&b.1));
    maps
}

fn fetching(reduce: &Moments) -> Option<Fetching> {
    let bytes = reduce.fetched.filter(|bytes| *bytes > 0)? as f64;
    // Of one that was killed while it fetched, the bytes until then are counted.
    let done = match reduce.first_end {
        Some(end) => end,
        None if reduce.succeeded() => return None,
        None => reduce.end,
    };
    Some(Fetching { start: reduce.start as f64 / 1e3, done: done as f64 / 1e3, bytes })
}

/// The windows of a host with the greatest rates: of any length, and of those that last. Its reduces are in the order in
/// which they were done.
fn windows(host: u32, reduces: &[Fetching], maps: &[(u32, f64, f64)]) -> [Window; 2] {
    // The part of all outputs that is on other hosts and was there from each map's end on.
    let mut later = vec![0.0; maps.len() + 1];
    for (place, (node, _, part)) in maps.iter().enumerate().rev() {
        later[place] = later[place + 1] + if *node == host { 0.0 } else { *part };
    }
    let mut starts: Vec<f64> = reduces.iter().map(|reduce| reduce.start).collect();
    starts.sort_by(f64::total_cmp);
    let ends = maps.iter().map(|(_, end, _)| *end).rev().step_by(maps.len().div_ceil(BEGINS).max(1));
    let begins = ends.chain(starts.iter().copied().rev().step_by(starts.len().div_ceil(BEGINS).max(1)));
    let mut best = [Window::default(); 2];
    for begin in begins {
        let part = later[maps.partition_point(|(_, end, _)| *end < begin)];
        let mut bytes = 0.0;
        for reduce in reduces.iter().filter(|reduce| reduce.done > begin) {
            bytes += reduce.bytes * if reduce.start >= begin { later[0] } else { part };
            let length = reduce.done - begin;
            let window = Window { rate: 8.0 * bytes / (length + UNSURE), bytes };
            let lasting = Window { rate: 8.0 * bytes / length, bytes };
            if window.rate > best[0].rate {
                best[0] = window;
            }
            if length >= LONG && lasting.rate > best[1].rate {
                best[1] = lasting;
            }
        }
    }
    best
}

/// Processor time that the reduces counted in their shuffles, by how long these lasted; none if it is not counted.
fn busy(job: &JobHistory) -> Option<f64> {
    let (mut counted, mut lasted) = (0.0, 0.0);
    for reduce in job.reduces.iter().filter_map(Task::successful) {
        let (Some(start), Some(end)) = (reduce.start_ms, reduce.shuffle_finish_ms) else { continue };
        let all = reduce.counters.count("CPU_MILLISECONDS") as f64;
        // The shuffle is a third of a reduce's progress.
        counted += match reduce.cpu_splits_ms.len() {
            0 => all,
            splits => reduce.cpu_splits_ms[..splits / 3].iter().sum::<i64>() as f64,
        };
        lasted += end.saturating_sub(start).max(0) as f64;
    }
    (counted > 0.0 && lasted > 0.0).then(|| counted / lasted)
}
