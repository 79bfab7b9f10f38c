//! What did not succeed: attempts at tasks, each as a scenario has it, and jobs that failed with one of their tasks.

use super::stages::Group;
use super::{Application, Job, Stage, Task, TaskEnd};
use scenario::{Nodes, SparkAttempt, SparkEnd, node_name};
use std::collections::{BTreeMap, BTreeSet};
use units::Time;

/// Which task failed how often before its job did, by Spark's words of its stage's failure: "Task 51 in stage 34.0
/// failed 4 times, most recent failure: ...".
fn times(failure: &str) -> Option<(u32, u32)> {
    let (before, after) = failure.split_once(" failed ")?;
    let (times, _) = after.split_once(" times")?;
    let (_, task) = before.split_once("Task ")?;
    let task = task.split(' ').next()?.parse().ok()?;
    Some((task, times.trim().parse().ok().filter(|times| *times > 0)?))
}

/// Whether an attempt counts as one that failed: by itself, or with its executor, but not one whose output alone was
/// lost with that.
fn is_in_vain(task: &Task) -> bool {
    task.end == TaskEnd::Failed || task.end == TaskEnd::ExecutorLost && task.error != "Resubmitted"
}

/// What failed as a task did so too often.
pub struct Aborted {
    /// By job, how often that was.
    jobs: BTreeMap<u32, u32>,
    /// By stage, the task.
    tasks: BTreeMap<u32, u32>,
}

impl Aborted {
    /// Of a log that has all of these attempts.
    pub fn of(of: &Application) -> Self {
        let named = of.stages.iter().filter_map(|stage| {
            let (task, times) = times(&stage.failure)?;
            Some((((stage.id, stage.attempt), task), times))
        });
        let mut lacking: BTreeMap<((u32, u32), u32), (u32, u32)> = named.map(|(of, times)| (of, (times, 0))).collect();
        for task in of.tasks.iter().filter(|task| is_in_vain(task)) {
            if let Some((_, count)) = lacking.get_mut(&(task.stage, task.index)) {
                *count += 1;
            }
        }
        lacking.retain(|_, (times, count)| count >= times);
        let by_stage: BTreeMap<u32, u32> =
            lacking.iter().map(|(((stage, _), _), (times, _))| (*stage, *times)).collect();
        let times = |job: &Job| job.stages.iter().find_map(|stage| by_stage.get(stage).copied());
        let failed = of.jobs.iter().filter(|job| job.succeeded == Some(false) && job.finish_ms.is_some());
        Self {
            jobs: failed.filter_map(|job| Some((job.id, times(job)?))).collect(),
            tasks: lacking.into_keys().map(|((stage, _), task)| (stage, task)).collect(),
        }
    }

    /// Whether that is why a job failed.
    pub fn has(&self, job: &Job) -> bool {
        self.jobs.contains_key(&job.id)
    }

    /// After how many failures of a task it did.
    pub fn times(&self) -> Option<u32> {
        self.jobs.values().copied().min()
    }
}

/// How many attempts at a task fail before its job does, in an application none of whose jobs did: as it was set, or
/// what Spark has by default, which in local mode is 1 (`SparkContext.createTaskScheduler`).
pub fn max_failures(of: &Application) -> Option<u32> {
    let master = of.property("spark.master").map(str::trim).unwrap_or_default();
    // Not `local-cluster[2,1,1024]`, whose executors are processes.
    let threads = master.strip_prefix("local[").and_then(|rest| rest.strip_suffix(']'));
    if let Some(threads) = threads.or_else(|| (master == "local").then_some("")) {
        return Some(threads.split_once(',').and_then(|(_, most)| most.trim().parse().ok()).unwrap_or(1));
    }
    of.property("spark.task.maxFailures")?.trim().parse().ok()
}

/// Attempts of a log that failed by themselves, by stage.
#[derive(Debug, Default)]
pub struct Failed<'a>(BTreeMap<u32, Vec<&'a Task>>);

impl<'a> Failed<'a> {
    /// What could not be fetched from an executor that was lost, and what ended with one, is not planned: it follows
    /// from that. But of a task with which its job failed all attempts are, as executors are lost at their times here,
    /// whatever runs on them.
    pub fn of(of: &'a Application, aborted: &Aborted) -> Self {
        let lost: BTreeSet<&str> = of
            .executors
            .iter()
            .filter(|executor| executor.removed_ms.is_some())
            .map(|executor| &*executor.id)
            .collect();
        let is_planned = |task: &&Task| match task.end {
            TaskEnd::Failed => true,
            TaskEnd::ExecutorLost => is_in_vain(task) && aborted.tasks.get(&task.stage.0) == Some(&task.index),
            TaskEnd::FetchFailed => task.keeper.as_ref().is_some_and(|keeper| !lost.contains(&**keeper)),
            _ => false,
        };
        let mut failed: BTreeMap<u32, Vec<&Task>> = BTreeMap::new();
        for task in of.tasks.iter().filter(is_planned) {
            failed.entry(task.stage.0).or_default().push(task);
        }
        for of_stage in failed.values_mut() {
            of_stage.sort_by_key(|task| (task.launch_ms, task.id));
        }
        Self(failed)
    }

    /// Of a stage, no more than so many of one task. An attempt at a stage after the first numbers its tasks anew: in
    /// it, before Spark 3.3, a task's place is not known.
    pub fn of_stage(&self, stage: &Stage, most: u32) -> Vec<(u32, &'a Task)> {
        let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
        let mut attempts = Vec::new();
        for task in self.0.get(&stage.id).into_iter().flatten() {
            let own = (task.stage.1 == stage.attempt).then_some(task.index);
            let Some(place) = own.or(task.partition).filter(|place| *place < stage.tasks) else { continue };
            let count = counts.entry(place).or_default();
            if *count < most {
                *count += 1;
                attempts.push((place, *task));
            }
        }
        attempts
    }
}

/// What became of the tasks of a group of jobs.
#[derive(Default)]
struct Ends {
    /// By stage and place of a task: the attempts that failed by themselves.
    failed: BTreeMap<(u32, u32), Vec<Failure>>,
    /// The workers on which tasks succeeded.
    succeeded: BTreeSet<u32>,
}

/// An attempt that failed by itself.
struct Failure {
    task: u64,
    worker: u32,
}

/// The attempts, by their numbers, that failed for the hosts that ran them: another attempt at the task did well
/// elsewhere, as did all tasks of the job on another host. A task that failed on several hosts failed for itself; and of
/// a job that failed nothing is said, as it has to fail anew.
pub fn of_hosts(of: &Application, groups: &[Group], workers: &BTreeMap<&str, u32>) -> BTreeSet<u64> {
    let whole = groups.iter().enumerate().filter(|(_, group)| !group.failed);
    let group_of: BTreeMap<u32, usize> =
        whole.flat_map(|(number, group)| group.stages.iter().map(move |stage| (stage.id, number))).collect();
    let mut ends: BTreeMap<usize, Ends> = BTreeMap::new();
    for task in &of.tasks {
        let (Some(group), Some(worker)) = (group_of.get(&task.stage.0), workers.get(&*task.executor)) else { continue };
        let ends = ends.entry(*group).or_default();
        match task.end {
            TaskEnd::Failed => {
                let place = (task.stage.0, task.partition.unwrap_or(task.index));
                ends.failed.entry(place).or_default().push(Failure { task: task.id, worker: *worker });
            }
            TaskEnd::Succeeded => {
                ends.succeeded.insert(*worker);
            }
            _ => {}
        }
    }
    let mut of_hosts = BTreeSet::new();
    for Ends { mut failed, succeeded } in ends.into_values() {
        failed.retain(|_, attempts| attempts.iter().all(|attempt| attempt.worker == attempts[0].worker));
        let attempts = || failed.values().flatten();
        let bad: BTreeSet<u32> = attempts().map(|attempt| attempt.worker).collect();
        if !succeeded.is_subset(&bad) {
            of_hosts.extend(attempts().map(|attempt| attempt.task));
        }
    }
    of_hosts
}

/// An attempt as a scenario has it; `workers` has the number of each executor's. If it failed for its host, it is of
/// whichever task begins there.
pub fn attempt(place: u32, of: &Task, workers: &BTreeMap<&str, u32>, is_of_host: bool) -> SparkAttempt {
    let took = of.finish_ms.unwrap_or(of.launch_ms).saturating_sub(of.launch_ms);
    let fetches = of.end == TaskEnd::FetchFailed;
    let keeper = of.keeper.as_deref().filter(|_| fetches);
    let host = workers.get(&*of.executor).filter(|_| is_of_host);
    SparkAttempt {
        task: host.is_none().then_some(place),
        only_on: host.map(|worker| Nodes::List(vec![*worker])),
        end: if fetches { SparkEnd::FetchFailed } else { SparkEnd::Failed },
        after: Time::from_ms(u64::try_from(took).unwrap_or(0).min(604_800_000)),
        node: keeper.and_then(|keeper| workers.get(keeper)).map(|worker| node_name(*worker)),
    }
}
