//! A job's attempts on its master's clock.
//!
//! In Hadoop 1 an attempt's moments are those of its TaskTracker, a task's those of the JobTracker, and the clocks of
//! hosts may differ by minutes. The end of a task is when its master knew of it, so an attempt that succeeded ends
//! there. Where its own moments contradict that, its host's clock is wrong: its duration is kept, its start follows.
//! Attempts that did not succeed take the difference that those of their host have in the median.

use super::hosts::Hosts;
use crate::{Attempt, AttemptState, JobHistory, JobState, Task};
use std::collections::BTreeMap;

/// A recorded job on its master's clock. Moments are milliseconds after submission.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// When it was launched.
    pub launch: i64,
    /// When it ended; if its history has no end, when the last of its attempts did.
    pub finish: i64,
    /// How it ended.
    pub state: JobState,
    /// Why it did not succeed, in words.
    pub reason: String,
    /// Node and start of its last AppMaster.
    pub master: Option<(u32, i64)>,
    /// Its attempts in the order of their starts.
    pub attempts: Vec<Moments>,
    maps_end: i64,
    mean_map: Option<i64>,
    /// Attempts that are left out, as they never ran.
    pub left_out: usize,
    /// Attempts whose host's clock was wrong by more than the time that a report takes.
    pub shifted: usize,
    /// Attempts of which no host is recorded.
    pub homeless: usize,
}

/// The moments of one attempt.
#[derive(Clone, Debug, PartialEq)]
pub struct Moments {
    /// Whether it is a map.
    pub map: bool,
    /// The place of its task among those of its kind.
    pub task: u32,
    /// The number of its worker.
    pub node: u32,
    /// Its start.
    pub start: i64,
    /// Its end, as its master knew it.
    pub end: i64,
    /// Maps: the end of the map function. Reduces: the end of the shuffle.
    pub first_end: Option<i64>,
    /// Reduces: the end of the sort.
    pub sort_end: Option<i64>,
    /// How it ended.
    pub state: AttemptState,
    /// Bytes that it wrote to HDFS, if counted.
    pub written: Option<u64>,
    /// Bytes that it fetched from maps, if counted.
    pub fetched: Option<u64>,
}

impl Moments {
    /// Whether it did its task.
    pub fn succeeded(&self) -> bool {
        self.state == AttemptState::Succeeded
    }
}

/// A report may be as much later than what it reports: a heartbeat of 3 s, or of a second for each hundred nodes.
fn report_delay(hosts: u32) -> i64 {
    (i64::from(hosts) * 10).max(3_000) + 1_000
}

impl Record {
    /// The record of a job.
    pub fn of(job: &JobHistory, hosts: &Hosts) -> Self {
        let since = |ms: i64| ms.saturating_sub(job.submit_ms).max(0);
        // A task's moments are not checked when a history is read.
        let sound = |ms: &i64| ms.saturating_sub(job.submit_ms).saturating_abs() <= crate::tasks::MAX_SPAN_MS;
        let launch = since(job.launch_ms);
        let delay = report_delay(hosts.workers());
        let differences = differences(job);
        let mut record = Self {
            launch,
            finish: 0,
            state: job.state,
            reason: reason(job),
            master: job.masters.last().and_then(|m| Some((hosts.number(&m.host)?, since(m.start_ms)))),
            attempts: Vec::new(),
            maps_end: launch,
            mean_map: None,
            left_out: 0,
            shifted: 0,
            homeless: 0,
        };
        let finish = job.finish_ms.map(since).filter(|finish| *finish >= launch);
        for (map, tasks) in [(true, &job.maps), (false, &job.reduces)] {
            for (place, task) in (0_u32..).zip(tasks) {
                let winner = task.successful().map(|attempt| attempt.number);
                for attempt in &task.attempts {
                    let won = winner == Some(attempt.number);
                    let known = task.finish_ms.filter(|ms| won && sound(ms)).map(since);
                    let Some(mut moments) = moments(attempt, task, job, known, delay, &differences) else {
                        record.left_out += 1;
                        continue;
                    };
                    // A second success of a task is no success of the job's.
                    if attempt.state == AttemptState::Succeeded && !won {
                        moments.state = AttemptState::Killed;
                    }
                    (moments.map, moments.task) = (map, place);
                    moments.node = hosts.number(&attempt.host).unwrap_or_else(|| {
                        record.homeless += 1;
                        1 + place % hosts.workers()
                    });
                    let drift =
                        attempt.start_ms.map_or(0, |ms| ms.saturating_sub(job.submit_ms).saturating_sub(moments.start));
                    record.shifted += usize::from(drift.saturating_abs() > delay);
                    record.attempts.push(moments);
                }
            }
        }
        let last = record.attempts.iter().map(|attempt| attempt.end).max().unwrap_or(launch);
        record.finish = finish.unwrap_or(last.max(launch));
        for attempt in &mut record.attempts {
            attempt.start = attempt.start.clamp(launch, record.finish.max(launch));
            attempt.end = attempt.end.clamp(attempt.start, record.finish.max(attempt.start));
            let within = |moment: i64| moment.clamp(attempt.start, attempt.end);
            // A shuffle whose end is not recorded ended with the sort at the latest.
            attempt.first_end = attempt.first_end.or(attempt.sort_end.filter(|_| !attempt.map)).map(within);
            attempt.sort_end = attempt.sort_end.map(|end| within(end).max(attempt.first_end.unwrap_or(0)));
        }
        record.attempts.sort_by_key(|a| (a.start, !a.map, a.task));
        let (mut count, mut sum) = (0, 0);
        for map in record.attempts.iter().filter(|attempt| attempt.map && attempt.succeeded()) {
            record.maps_end = record.maps_end.max(map.end);
            (count, sum) = (count + 1, sum + map.end - map.start);
        }
        record.mean_map = (count > 0).then(|| sum / count.max(1));
        record
    }

    /// When the last task was over: the last success of a job that succeeded, the last end of any attempt otherwise.
    pub fn tasks_end(&self) -> i64 {
        let counts = |attempt: &&Moments| self.state != JobState::Succeeded || attempt.succeeded();
        self.attempts.iter().filter(counts).map(|attempt| attempt.end).max().unwrap_or(self.launch)
    }
    /// The end of the last map that succeeded.
    pub const fn maps_end(&self) -> i64 {
        self.maps_end
    }
    /// The mean length of the maps that succeeded.
    pub const fn mean_map(&self) -> Option<i64> {
        self.mean_map
    }
    /// The attempts of a kind that succeeded.
    pub fn succeeded(&self, map: bool) -> impl Iterator<Item = &Moments> {
        self.attempts.iter().filter(move |attempt| attempt.map == map && attempt.succeeded())
    }
    /// The most attempts side by side on one node: maps, reduces, both.
    pub fn side_by_side(&self) -> (u32, u32, u32) {
        side_by_side(self.attempts.iter())
    }
}

/// The most attempts side by side on one node: maps, reduces, both.
pub(super) fn side_by_side<'a>(attempts: impl Iterator<Item = &'a Moments>) -> (u32, u32, u32) {
    let mut changes: BTreeMap<u32, Vec<(i64, i32, bool)>> = BTreeMap::new();
    for attempt in attempts.filter(|attempt| attempt.end > attempt.start) {
        let of_node = changes.entry(attempt.node).or_default();
        of_node.push((attempt.start, 1, attempt.map));
        of_node.push((attempt.end, -1, attempt.map));
    }
    let mut most = (0, 0, 0);
    for of_node in changes.values_mut() {
        // An end before a start of the same moment.
        of_node.sort_unstable();
        let mut now = (0, 0);
        for (_, change, map) in of_node {
            if *map {
                now.0 += *change;
            } else {
                now.1 += *change;
            }
            most = (most.0.max(now.0), most.1.max(now.1), most.2.max(now.0 + now.1));
        }
    }
    (most.0 as u32, most.1 as u32, most.2 as u32)
}

/// By how much the master knew of an attempt's end later than its host did, in the median of each host.
fn differences(job: &JobHistory) -> BTreeMap<&str, i64> {
    let mut all: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
    for task in job.maps.iter().chain(&job.reduces) {
        if let Some(attempt) = task.successful()
            && let (Some(known), Some(ended)) = (task.finish_ms, attempt.finish_ms)
        {
            all.entry(&attempt.host).or_default().push(known.saturating_sub(ended));
        }
    }
    let median = |mut values: Vec<i64>| {
        values.sort_unstable();
        values[values.len() / 2]
    };
    all.into_iter().map(|(host, values)| (host, median(values))).collect()
}

/// The moments of an attempt; none if it never ran. `known` is when its master knew of its success.
fn moments(
    attempt: &Attempt,
    task: &Task,
    job: &JobHistory,
    known: Option<i64>,
    delay: i64,
    differences: &BTreeMap<&str, i64>,
) -> Option<Moments> {
    let since = |ms: i64| ms.saturating_sub(job.submit_ms);
    let sound = |ms: &i64| since(*ms).saturating_abs() <= crate::tasks::MAX_SPAN_MS;
    let scheduled = task.start_ms.filter(sound).map(since);
    let start = match attempt.start_ms {
        Some(start) => since(start),
        None if known.is_some() => scheduled.unwrap_or(since(job.launch_ms)),
        None => return None,
    };
    let ended = attempt.finish_ms.map(since).filter(|end| *end >= start);
    // Its own clock is believed if it agrees with its master's.
    let (start, end, shift) = match (known, ended) {
        (Some(known), Some(ended)) => {
            let late = known - ended;
            let plausible = (0..=delay).contains(&late) && scheduled.is_none_or(|scheduled| start >= scheduled - 1_000);
            if plausible {
                (start, known, 0)
            } else {
                ((start + late).max(scheduled.unwrap_or(start + late)), known, late)
            }
        }
        (Some(known), None) => (start.min(known), known, 0),
        (None, ended) => {
            let shift = differences.get(attempt.host.as_str()).copied().filter(|d| *d < 0 || *d > delay).unwrap_or(0);
            let end = ended.or(job.finish_ms.map(since)).unwrap_or(start);
            (start.saturating_add(shift), end.saturating_add(shift), shift)
        }
    };
    let shifted = |ms: Option<i64>| ms.map(|ms| since(ms).saturating_add(shift));
    let first = attempt.shuffle_finish_ms.or(attempt.map_finish_ms);
    Some(Moments {
        map: false,
        task: 0,
        node: 0,
        start,
        end: end.max(start),
        first_end: shifted(first),
        sort_end: shifted(attempt.sort_finish_ms),
        state: attempt.state,
        written: attempt.counters.get("HDFS_BYTES_WRITTEN"),
        fetched: attempt.counters.get("REDUCE_SHUFFLE_BYTES"),
    })
}

/// Why a job did not succeed.
fn reason(job: &JobHistory) -> String {
    let failures = |task: &Task| task.attempts.iter().filter(|a| a.state == AttemptState::Failed).count();
    let tasks = job.maps.iter().map(|task| ("map", task)).chain(job.reduces.iter().map(|task| ("reduce", task)));
    let open = tasks.filter(|(_, task)| task.successful().is_none()).map(|(kind, task)| (failures(task), kind, task));
    // The first of those that failed most often.
    let worst = open.fold(None, |worst: Option<(usize, &str, &Task)>, this| match worst {
        Some(worst) if worst.0 >= this.0 => Some(worst),
        _ => Some(this),
    });
    match (job.state, worst.filter(|worst| worst.0 > 0)) {
        (JobState::Succeeded, _) => String::new(),
        (JobState::Killed, _) => "it was killed, as recorded".to_owned(),
        (JobState::Unfinished, _) => "its history has no end".to_owned(),
        (JobState::Failed, Some((1, kind, task))) => format!("{kind} {} failed once, as recorded", task.number),
        (JobState::Failed, Some((times, kind, task))) => {
            format!("{kind} {} failed {times} times, as recorded", task.number)
        }
        (JobState::Failed, None) => "it failed, as recorded, though no task did".to_owned(),
    }
}
