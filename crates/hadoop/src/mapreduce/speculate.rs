//! Which running task should get a second attempt.

use super::Attempt;
use super::config::Generation;
use super::job::Job;
use crate::record::TaskKind;
use units::Time;

/// Least number of copies that may run at once in YARN (`minimum-allowed-tasks`), and the part of all tasks
/// (`speculative-cap-total-tasks`).
const YARN_LEAST: f64 = 10.0;
const YARN_OF_TOTAL: f64 = 0.01;
/// The part of a kind's tasks that must be done before YARN compares (`MINIMUM_COMPLETE_PROPORTION_TO_SPECULATE`).
const YARN_DONE: f64 = 0.05;
/// Hadoop 1 leaves a task alone for its first minute (`SPECULATIVE_LAG`).
const HADOOP1_LAG: Time = Time::from_secs(60);

/// The task of `kind` that would gain most from a copy, if one may start.
///
/// YARN (`DefaultSpeculator`): while a task of the kind waits for a container, there is none. The estimated end is
/// start + elapsed / progress at its last report, a copy is taken to last as long as the mean of the done tasks, and
/// the task whose copy would end earliest before it is chosen. Hadoop 1 as LATE has it (Zaharia and others, OSDI 2008;
/// in Hadoop since 0.21): among tasks whose progress rate is a standard deviation below the mean, the one with the
/// longest estimated time left.
pub(crate) fn candidate(
    job: &Job,
    attempts: &[Attempt],
    kind: TaskKind,
    generation: Generation,
    cap: f64,
    now: Time,
) -> Option<u32> {
    let durations = &job.durations[kind as usize];
    let tasks = job.tasks(kind);
    let least = match generation {
        Generation::Yarn => YARN_DONE * tasks.len() as f64,
        Generation::Hadoop1 => 0.0,
    };
    // Mostly it ends here, without a look at thousands of tasks.
    if durations.count == 0 || f64::from(durations.count) < least || job.wanted(kind) > 0 {
        return None;
    }
    let running: Vec<(u32, &Attempt)> = tasks
        .iter()
        .zip(0..)
        .filter(|(task, _)| task.done.is_none() && task.wanted == 0)
        .filter_map(|(task, number)| match task.running[..] {
            [only] => Some((number, &attempts[only.0 as usize])),
            _ => None,
        })
        .filter(|(_, attempt)| attempt.is_started())
        .collect();
    let copies =
        tasks.iter().filter(|task| task.done.is_none() && (task.running.len() > 1 || task.speculate)).count() as f64;
    let alive = tasks.iter().filter(|task| !task.running.is_empty()).count() as f64;
    let estimate = |attempt: &Attempt| {
        let elapsed = now.saturating_sub(attempt.record.start).as_secs_f64();
        (elapsed, attempt.known_progress)
    };
    let best = |gains: Vec<(u32, f64)>| {
        gains.into_iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0))).map(|(task, _)| task)
    };
    match generation {
        Generation::Yarn => {
            let allowed = YARN_LEAST.max(YARN_OF_TOTAL * tasks.len() as f64).max(cap * alive);
            if copies >= allowed {
                return None;
            }
            let replacement = now.saturating_add(Time::from_secs_f64(durations.mean()));
            best(
                running
                    .into_iter()
                    .filter_map(|(task, attempt)| {
                        let end = attempt.record.start.saturating_add(attempt.estimate?);
                        (end > replacement).then(|| (task, (end - replacement).as_secs_f64()))
                    })
                    .collect(),
            )
        }
        Generation::Hadoop1 => {
            if copies >= (cap * alive).max(1.0) {
                return None;
            }
            let rate = |attempt: &Attempt| {
                let (elapsed, progress) = estimate(attempt);
                progress / elapsed.max(1e-9)
            };
            let mean = 1.0 / durations.mean().max(1e-9);
            let deviation = mean * durations.deviation() / durations.mean().max(1e-9);
            best(
                running
                    .into_iter()
                    .filter(|(_, attempt)| now.saturating_sub(attempt.record.start) > HADOOP1_LAG)
                    .filter(|(_, attempt)| rate(attempt) < mean - deviation)
                    .map(|(task, attempt)| (task, (1.0 - attempt.known_progress) / rate(attempt).max(1e-12)))
                    .collect(),
            )
        }
    }
}
