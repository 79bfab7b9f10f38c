//! The attempts of a recorded job, to stand above those of the run that re-does it.

use super::data::{Attempts, ReportData};
use super::from_run::milliseconds;
use crate::RunResult;
use history::import::Hosts;
use history::{Attempt, AttemptState, JobHistory, Task};

/// Numbers of phases as the page has them: compute, spill, fetch, merge, reduce.
const COMPUTE: u8 = 2;
const SPILL: u8 = 3;
const FETCH: u8 = 4;
const MERGE: u8 = 5;
const REDUCE: u8 = 6;

impl ReportData {
    /// Adds the recorded attempts. The record's launch is laid on that of the run's first job, and the axis reaches to
    /// the end of whichever took longer.
    pub fn beside(mut self, history: &JobHistory, result: &RunResult) -> Self {
        let Some(job) = result.jobs.first() else { return self };
        let launch = i64::try_from(milliseconds(job.launch.unwrap_or(job.submit))).unwrap_or(i64::MAX);
        let attempts = recorded(history, result.nodes.len() as u32, launch);
        let end = attempts.end_ms.iter().copied().max().unwrap_or(0) as f64 / 1e3;
        self.end_s = self.end_s.max(end);
        self.recorded = (!attempts.name.is_empty()).then_some(attempts);
        self
    }
}

fn recorded(history: &JobHistory, nodes: u32, launch: i64) -> Attempts {
    let hosts = Hosts::of(history, Some(nodes.saturating_sub(1)));
    let mut out = Attempts { phase_at: vec![0], ..Attempts::default() };
    // A clock may say that a container started before its job was launched.
    let at = |ms: i64| u64::try_from(ms - history.launch_ms + launch).unwrap_or(0);
    let last = history.finish_ms.unwrap_or(history.launch_ms);
    let tasks = history.maps.iter().map(|task| (0_u8, task)).chain(history.reduces.iter().map(|task| (1, task)));
    let attempts = tasks.flat_map(|(kind, task): (u8, &Task)| task.attempts.iter().map(move |a| (kind, task, a)));
    for (kind, task, attempt) in attempts {
        // One that never got a container was nowhere.
        let (Some(start), Some(node)) = (attempt.start_ms, hosts.number(&attempt.host)) else { continue };
        if node >= nodes {
            continue;
        }
        let finish = attempt.finish_ms.unwrap_or(last).max(start);
        let letter = if kind == 0 { 'm' } else { 'r' };
        out.name.push(format!("{letter}_{:06}_{}", task.number, attempt.number));
        out.node.push(node);
        out.kind.push(kind);
        out.outcome.push(match attempt.state {
            AttemptState::Succeeded => 0,
            AttemptState::Failed => 1,
            AttemptState::Killed => 2,
            AttemptState::Unfinished => 3,
        });
        out.speculative.push(u8::from(attempt.speculative));
        out.start_ms.push(at(start));
        out.end_ms.push(at(finish));
        let counted = |name: &str| attempt.counters.count(name);
        let (bytes_in, bytes_out) = match kind {
            0 => (counted("HDFS_BYTES_READ"), counted("MAP_OUTPUT_MATERIALIZED_BYTES")),
            _ => (counted("REDUCE_SHUFFLE_BYTES"), counted("HDFS_BYTES_WRITTEN")),
        };
        out.bytes_in.push(bytes_in);
        out.bytes_out.push(bytes_out);
        for (phase, from, to) in phases(kind, attempt, start, finish) {
            out.phase_kind.push(phase);
            out.phase_start_ms.push(at(from));
            out.phase_end_ms.push(at(to));
        }
        out.phase_at.push(out.phase_kind.len() as u32);
    }
    out
}

/// What a history tells of an attempt's course: a map's function and the sorting after it; a reducer's shuffle, merge
/// and function.
fn phases(kind: u8, attempt: &Attempt, start: i64, finish: i64) -> Vec<(u8, i64, i64)> {
    let within = |ms: Option<i64>| ms.filter(|ms| (start..=finish).contains(ms));
    let cuts: Vec<(u8, i64)> = if kind == 0 {
        within(attempt.map_finish_ms).map(|at| (SPILL, at)).into_iter().collect()
    } else {
        let shuffled = within(attempt.shuffle_finish_ms).map(|at| (MERGE, at));
        let sorted = within(attempt.sort_finish_ms).map(|at| (REDUCE, at));
        shuffled.into_iter().chain(sorted).collect()
    };
    let first = if kind == 0 { COMPUTE } else { FETCH };
    let starts: Vec<(u8, i64)> = std::iter::once((first, start)).chain(cuts).collect();
    let ends = starts.iter().skip(1).map(|(_, at)| *at).chain([finish]);
    starts.iter().zip(ends).map(|((phase, from), to)| (*phase, *from, to)).filter(|(_, from, to)| from < to).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Job, Node};
    use units::Time;

    fn task(number: u32, host: &str, [start, first, finish]: [i64; 3]) -> Task {
        let attempt = Attempt {
            host: host.to_owned(),
            start_ms: Some(start),
            map_finish_ms: Some(first),
            shuffle_finish_ms: Some(first),
            finish_ms: Some(finish),
            state: AttemptState::Succeeded,
            ..Attempt::default()
        };
        Task { number, attempts: vec![attempt], ..Task::default() }
    }

    /// The record was launched 2 s before its first map; the run's job 5 s into the run: the map stands at 7 s.
    #[test]
    fn the_record_stands_on_the_axis_of_the_run() {
        let history = JobHistory {
            launch_ms: 100_000,
            finish_ms: Some(160_000),
            maps: vec![task(0, "w1", [102_000, 109_000, 110_000])],
            reduces: vec![task(0, "w2", [111_000, 150_000, 160_000])],
            ..JobHistory::default()
        };
        let job = Job { launch: Some(Time::from_secs(5)), ..Job::default() };
        let nodes = vec![Node::default(); 3];
        let result = RunResult { jobs: vec![job], nodes, ended_at: Time::from_secs(40), ..RunResult::default() };
        let data = ReportData::new(&result, None).beside(&history, &result);
        assert_eq!(data.end_s, 65.0, "60 s after the launch");
        let recorded = data.recorded.expect("attempts");
        assert_eq!((&recorded.start_ms[..], &recorded.end_ms[..]), (&[7_000, 16_000][..], &[15_000, 65_000][..]));
        assert_eq!(recorded.node, [1, 2]);
        assert_eq!(recorded.phase_kind, [COMPUTE, SPILL, FETCH, MERGE]);
        assert_eq!(recorded.phase_start_ms, [7_000, 14_000, 16_000, 55_000]);
        assert_eq!(recorded.phase_at, [0, 2, 4]);
    }
}
