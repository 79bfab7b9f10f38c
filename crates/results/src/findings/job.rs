//! A job as the rules look at it: its tasks, its critical path, and what a cause is worth there.

use super::{Finding, Rule, Severity};
use crate::{Attempt, AttemptState, CriticalSegment, Job, Phase, RunResult, TaskKind};
use scenario::{Generation, Scenario, TopologyKind};
use std::collections::BTreeSet;
use units::Time;

/// An attempt that succeeded.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// Its row in `attempts`.
    pub row: u32,
    /// The attempt that did the task.
    pub attempt: &'a Attempt,
    /// How long it worked: a reducer's time from the end of the last map on.
    pub took: Time,
}

/// A job of a run.
pub struct JobView<'a> {
    pub run: &'a RunResult,
    pub scenario: &'a Scenario,
    pub number: u32,
    pub job: &'a Job,
    /// Rows of all its attempts.
    pub attempts: &'a [u32],
    pub maps: Vec<Task<'a>>,
    pub reduces: Vec<Task<'a>>,
    /// From submission to its end, or the run's.
    pub length: Time,
    /// The end of its last map.
    pub maps_done: Time,
    /// Time on the critical path of each attempt, in the order of `attempts`.
    on_path: Vec<Time>,
}

impl<'a> JobView<'a> {
    pub fn new(
        run: &'a RunResult,
        scenario: &'a Scenario,
        number: u32,
        job: &'a Job,
        attempts: &'a [u32],
    ) -> JobView<'a> {
        let done = |kind: TaskKind| {
            let rows = attempts.iter().map(move |row| (*row, &run.attempts[*row as usize]));
            rows.filter(move |(_, attempt)| attempt.kind == kind && attempt.state == AttemptState::Succeeded)
        };
        let maps_done = done(TaskKind::Map).map(|(_, map)| map.finish).max().unwrap_or(job.submit);
        let task = |from: Time| {
            move |(row, attempt): (u32, &'a Attempt)| Task {
                row,
                attempt,
                took: attempt.finish.saturating_sub(attempt.start.max(from)),
            }
        };
        let mut on_path = vec![Time::ZERO; attempts.len()];
        for segment in &job.critical_path {
            let at = segment.attempt.and_then(|row| attempts.binary_search(&row).ok());
            if let Some(sum) = at.and_then(|at| on_path.get_mut(at)) {
                *sum += segment.finish - segment.start;
            }
        }
        Self {
            run,
            scenario,
            number,
            job,
            attempts,
            maps: done(TaskKind::Map).map(task(Time::ZERO)).collect(),
            reduces: done(TaskKind::Reduce).map(task(maps_done)).collect(),
            length: job.finish.unwrap_or(run.ended_at).saturating_sub(job.submit),
            maps_done,
            on_path,
        }
    }

    /// Whether its nodes are on the air, where keys of wires have no effect.
    pub fn is_wireless(&self) -> bool {
        self.scenario.network.topology == TopologyKind::Wifi
    }

    pub fn tasks(&self, kind: TaskKind) -> &[Task<'a>] {
        if kind == TaskKind::Map { &self.maps } else { &self.reduces }
    }

    pub fn attempt(&self, row: u32) -> &'a Attempt {
        &self.run.attempts[row as usize]
    }

    /// An attempt and its node in words: `m_000003_0 on worker-2`.
    pub fn named(&self, row: u32) -> String {
        let attempt = self.attempt(row);
        format!("{} on {}", attempt.title(), self.node(attempt.node))
    }

    pub fn node(&self, node: u32) -> &str {
        self.run.nodes.get(node as usize).map_or("?", |node| node.name.as_str())
    }

    /// Workers of the cluster.
    pub fn workers(&self) -> u32 {
        self.scenario.cluster.workers
    }

    /// Cores of the workers; those of a machine on which several run are counted once.
    pub fn cores(&self) -> u32 {
        let nodes = self.scenario.nodes();
        let workers = nodes.iter().skip(1);
        match &self.scenario.cluster.host {
            Some(host) => host.cores * workers.filter_map(|node| node.host).collect::<BTreeSet<_>>().len() as u32,
            None => workers.map(|node| node.hardware.cores).sum(),
        }
    }

    pub fn is_yarn(&self) -> bool {
        self.scenario.cluster.generation == Generation::Yarn
    }

    /// How many tasks of a kind the cluster runs at once: its slots, or the containers that fit.
    pub fn slots(&self, kind: TaskKind) -> u32 {
        let settings = &self.scenario.mapreduce;
        let map = kind == TaskKind::Map;
        if !self.is_yarn() {
            return self.workers() * if map { settings.map_slots } else { settings.reduce_slots };
        }
        let wanted = if map { settings.map_memory } else { settings.reduce_memory };
        let container = settings.granted(wanted).get();
        let fits = |node: &scenario::NodeSpec| {
            let memory = settings.node_memory.unwrap_or_else(|| self.scenario.node_memory(node));
            u32::try_from(memory.get() / container).unwrap_or(u32::MAX).min(settings.node_vcores)
        };
        self.scenario.nodes().iter().skip(1).map(fits).sum()
    }

    /// Time of the critical path that belongs to an attempt.
    pub fn on_path(&self, row: u32) -> Time {
        self.attempts.binary_search(&row).map_or(Time::ZERO, |at| self.on_path[at])
    }

    /// Time of the critical path of the segments that count.
    pub fn path(&self, counts: impl Fn(&CriticalSegment) -> bool) -> Time {
        self.job.critical_path.iter().filter(|segment| counts(segment)).map(|s| s.finish - s.start).sum()
    }

    /// Time of the critical path within spans that do not overlap, of the segments that count.
    pub fn path_within(&self, spans: &[(Time, Time)], counts: impl Fn(&CriticalSegment) -> bool) -> Time {
        let shared = |segment: &CriticalSegment, (from, to): (Time, Time)| {
            segment.finish.min(to).saturating_sub(segment.start.max(from))
        };
        let of = |segment: &CriticalSegment| spans.iter().map(|span| shared(segment, *span)).sum::<Time>();
        self.job.critical_path.iter().filter(|segment| counts(segment)).map(of).sum()
    }

    /// Time of the critical path in some phases of an attempt, of the segments that count.
    pub fn path_in_phases(&self, row: u32, phases: &[Phase], counts: impl Fn(&CriticalSegment) -> bool) -> Time {
        let intervals = self.attempt(row).intervals.iter().filter(|interval| phases.contains(&interval.phase));
        let spans = united(intervals.map(|interval| (interval.start, interval.finish)).collect());
        self.path_within(&spans, |segment| segment.attempt == Some(row) && counts(segment))
    }

    pub fn share(&self, cost: Time) -> f64 {
        cost.as_secs_f64() / self.length.as_secs_f64().max(1e-9)
    }

    /// The severity of what costs so much of the job's time.
    pub fn stake(&self, cost: Time) -> Option<Severity> {
        Severity::rising(self.share(cost), Severity::SHARES)
    }

    /// A finding without a node or an attempt, if its cost matters; no more severe than `most`.
    pub fn finding(&self, rule: Rule, most: Severity, cost: Time, texts: Texts) -> Option<Finding> {
        let severity = self.stake(cost)?.min(most);
        let Texts { summary, evidence, advice, property, key } = texts;
        // Hadoop 1 has the names from before 0.21.
        let names = property.split(", ").map(|name| if self.is_yarn() { name } else { history::name_in_hadoop1(name) });
        let property = names.collect::<Vec<_>>().join(", ");
        let (stage, node, attempt) = (None, None, None);
        let job = Some(self.number);
        Some(Finding { job, stage, rule, severity, summary, evidence, advice, node, attempt, cost, property, key })
    }

    /// "41.2 s of 90.3 s".
    pub fn of_length(&self, cost: Time) -> String {
        format!("{} of {}", seconds(cost), seconds(self.length))
    }
}

/// What a finding says.
pub struct Texts {
    pub summary: String,
    pub evidence: String,
    pub advice: String,
    /// By their names since Hadoop 0.21.
    pub property: &'static str,
    pub key: &'static str,
}

/// Spans in order, those that overlap joined.
pub fn united(mut spans: Vec<(Time, Time)>) -> Vec<(Time, Time)> {
    spans.sort_unstable();
    let mut out: Vec<(Time, Time)> = Vec::new();
    for (from, to) in spans {
        match out.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => out.push((from, to)),
        }
    }
    out
}

/// A time in words: tenths of a second, hundredths below ten.
pub fn seconds(time: Time) -> String {
    let seconds = time.as_secs_f64();
    if seconds < 9.995 { format!("{seconds:.2} s") } else { format!("{seconds:.1} s") }
}

pub fn mean(times: impl Iterator<Item = Time>) -> Time {
    let (mut sum, mut count) = (0.0, 0_u32);
    for time in times {
        sum += time.as_secs_f64();
        count += 1;
    }
    if count == 0 { Time::ZERO } else { Time::from_secs_f64(sum / f64::from(count)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_that_touch_become_one() {
        let s = Time::from_secs;
        let spans = vec![(s(5), s(6)), (s(0), s(2)), (s(1), s(3)), (s(3), s(4))];
        assert_eq!(united(spans), [(s(0), s(4)), (s(5), s(6))]);
    }
}
