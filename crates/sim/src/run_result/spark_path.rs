//! The critical path of an application of Spark: backwards from its end, at each time what was waited for.
//!
//! A task that was launched when a core of its executor became free waited for the attempt before on that core; one that
//! was launched when its stage began, for the stage's parents. Where a core was free before that, the driver held it
//! back for a better place.

use super::critical::Waits;
use ::spark::{ExecutorRecord, JobRecord, Locality, StageSpec, TaskEnd, TaskRecord};
use results::{SparkSegment, SparkStage, Waiting};
use units::Time;

/// What is known of an application that the path goes by.
pub(super) struct Known<'a> {
    pub specs: &'a [StageSpec],
    pub stages: &'a [SparkStage],
    pub tasks: &'a [TaskRecord],
    pub jobs: &'a [JobRecord],
    pub executors: &'a [ExecutorRecord],
}

/// Why a task was launched when it was.
enum Cause {
    /// Its stage had begun.
    Stage,
    /// This attempt on its executor had ended.
    Core(usize),
    /// Its executor had come.
    Executor,
    /// This attempt at it had not succeeded.
    Attempt(usize),
    /// This attempt at it, of which it is a copy, was slow.
    Slow(usize),
}

impl Known<'_> {
    /// The path from the first job's submission to the end of the last job; none where the application has not ended.
    pub(super) fn path(&self, waits: &Waits<'_>) -> Vec<SparkSegment> {
        let Some(finish) = self.jobs.last().and_then(|job| job.finish) else { return Vec::new() };
        let Some(submit) = self.jobs.first().and_then(|job| job.submit) else { return Vec::new() };
        let mut walk = Walk { path: Vec::new(), at: finish, first: submit };
        let mut job = self.jobs.len();
        let by_end = Ends::of(self);
        while job > 0 && walk.at > submit {
            job -= 1;
            if let Some(last) = by_end.last_of_job(self, job, walk.at) {
                walk.to(self.tasks[last].finish.unwrap_or(walk.at), Waiting::Driver, None, None);
                self.chain(last, &by_end, waits, &mut walk);
            }
            // What is left before its first stage is the driver's, and the pause before it the program's.
            walk.to(
                job.checked_sub(1).and_then(|before| self.jobs[before].finish).unwrap_or(submit),
                Waiting::Driver,
                None,
                None,
            );
        }
        walk.path.reverse();
        walk.path
    }

    /// From the end of an attempt back to where its job began.
    fn chain(&self, last: usize, ends: &Ends, waits: &Waits<'_>, walk: &mut Walk) {
        let mut task = last;
        loop {
            let record = &self.tasks[task];
            self.run(task, waits, walk);
            let (at, cause) = self.cause(task, ends);
            let held = self.specs[record.stage].reads.is_some() || ends.prefers[record.stage];
            let waited = match cause {
                Cause::Slow(_) => Waiting::SecondAttempt,
                _ if held => Waiting::Locality,
                _ => Waiting::Driver,
            };
            let own = (Some(record.stage), Some(task));
            walk.to(at, waited, own.0, own.1);
            match cause {
                Cause::Core(before) | Cause::Attempt(before) | Cause::Slow(before) => task = before,
                Cause::Executor | Cause::Stage => {
                    let begun = self.stages[record.stage].submit.unwrap_or(walk.first);
                    walk.to(begun, Waiting::StartUp, own.0, own.1);
                    let Some(parent) = ends.last_of_parents(self, record.stage, begun) else { return };
                    walk.to(self.tasks[parent].finish.unwrap_or(begun), Waiting::Driver, own.0, None);
                    task = parent;
                }
            }
            if walk.at <= walk.first {
                return;
            }
        }
    }

    /// An attempt from its end, as the driver knew of it, to its launch.
    fn run(&self, task: usize, waits: &Waits<'_>, walk: &mut Walk) {
        let record = &self.tasks[task];
        let own = (Some(record.stage), Some(task));
        if record.ended != TaskEnd::Success {
            return walk.to(record.launch, Waiting::SecondAttempt, own.0, own.1);
        }
        let end = record.end.unwrap_or(walk.at).min(walk.at);
        walk.to(end, Waiting::Driver, own.0, own.1);
        let told = record.told.unwrap_or(record.launch).min(end);
        let start = record.start.unwrap_or(told).clamp(told, end);
        // What else it did from its start on was to wait for the network. The causes stand one after the other, as it
        // changed between them many times.
        let length = end.saturating_sub(start);
        let disk = record.disk_time.min(length);
        let warm = record.warm_time.min(length - disk);
        let cpu = record.cpu_time.min(length - disk - warm);
        let network = length - disk - warm - cpu;
        walk.back(disk, Waiting::Disk, own);
        walk.back(cpu, Waiting::Cpu, own);
        for (waiting, part) in waits.split(record.node.0, start, end, network).into_iter().rev() {
            walk.back(part, waiting, own);
        }
        walk.back(warm, Waiting::StartUp, own);
        // Code, broadcast variables, where its parents' output is, and what others have kept for it.
        for (waiting, part) in waits.split(record.node.0, told, start, start - told).into_iter().rev() {
            walk.back(part, waiting, own);
        }
        walk.to(record.launch, Waiting::Driver, own.0, own.1);
    }

    /// From when on a task could have run on its executor, and what that waited for.
    fn cause(&self, task: usize, ends: &Ends) -> (Time, Cause) {
        let record = &self.tasks[task];
        let launch = record.launch;
        // Attempts stand in the order of their launch. Only what was launched before can have been waited for, also where
        // one ended at the instant at which it was launched: so the path comes to an end.
        let earlier = ends.attempts_at(record).filter(|other| *other < task);
        let mut best = (self.stages[record.stage].submit.unwrap_or(launch).min(launch), Cause::Stage);
        let mut consider = |at: Time, cause: Cause| {
            if at > best.0 && at <= launch {
                best = (at, cause);
            }
        };
        if let Some(registered) = self.executors.get(record.executor).and_then(|executor| executor.registered) {
            consider(registered, Cause::Executor);
        }
        if let Some(before) = ends.before(record.executor, launch).filter(|before| *before < task) {
            consider(self.tasks[before].finish.unwrap_or(launch), Cause::Core(before));
        }
        for other in earlier {
            let before = &self.tasks[other];
            if record.speculative && before.launch < launch && before.finish.is_none_or(|finish| finish > launch) {
                return (before.launch, Cause::Slow(other));
            }
            if before.ended != TaskEnd::Success
                && let Some(finish) = before.finish
            {
                consider(finish, Cause::Attempt(other));
            }
        }
        best
    }
}

/// Attempts by what the path asks for.
struct Ends {
    /// By executor: ends of its attempts as the driver knew of them, and the attempts, in their order.
    of_executor: Vec<Vec<(Time, usize)>>,
    /// By stage: ends of its attempts, and the attempts, in their order.
    of_stage: Vec<Vec<(Time, usize)>>,
    /// Attempts with their stages and places before them, in their order.
    attempts: Vec<((usize, usize), usize)>,
    /// By stage: whether a task of it ran anywhere but where it could be without a preference.
    prefers: Vec<bool>,
}

impl Ends {
    fn of(known: &Known<'_>) -> Self {
        let mut ends = Self {
            of_executor: vec![Vec::new(); known.executors.len()],
            of_stage: vec![Vec::new(); known.stages.len()],
            attempts: Vec::with_capacity(known.tasks.len()),
            prefers: vec![false; known.stages.len()],
        };
        for (number, task) in known.tasks.iter().enumerate() {
            ends.attempts.push(((task.stage, task.index), number));
            ends.prefers[task.stage] |= task.locality != Locality::Process;
            let Some(finish) = task.finish else { continue };
            if let Some(own) = ends.of_executor.get_mut(task.executor) {
                own.push((finish, number));
            }
            ends.of_stage[task.stage].push((finish, number));
        }
        ends.attempts.sort_unstable();
        ends.of_executor.iter_mut().chain(&mut ends.of_stage).for_each(|own| own.sort_unstable());
        ends
    }

    fn last_until(of: &[(Time, usize)], at: Time) -> Option<(Time, usize)> {
        of[..of.partition_point(|(finish, _)| *finish <= at)].last().copied()
    }

    /// The attempt on an executor that ended last until then.
    fn before(&self, executor: usize, at: Time) -> Option<usize> {
        Self::last_until(self.of_executor.get(executor)?, at).map(|(_, task)| task)
    }

    fn attempts_at(&self, record: &TaskRecord) -> impl Iterator<Item = usize> {
        let own = (record.stage, record.index);
        let from = self.attempts.partition_point(|(place, _)| *place < own);
        self.attempts[from..].iter().take_while(move |(place, _)| *place == own).map(|(_, attempt)| *attempt)
    }

    /// The task that ended last of a stage's parents until then.
    fn last_of_parents(&self, known: &Known<'_>, stage: usize, at: Time) -> Option<usize> {
        let parents = known.specs[stage].parents.iter();
        parents.filter_map(|parent| self.last_success(known, *parent, at)).max().map(|(_, task)| task)
    }

    /// The task of a stage that was done last until then.
    fn last_success(&self, known: &Known<'_>, stage: usize, at: Time) -> Option<(Time, usize)> {
        let ended = &self.of_stage[stage];
        let until = ended[..ended.partition_point(|(finish, _)| *finish <= at)].iter().rev();
        until.copied().find(|(_, task)| known.tasks[*task].ended == TaskEnd::Success)
    }

    /// The attempt with which a job ended: the last that succeeded until then, or, of a job that failed, the last.
    fn last_of_job(&self, known: &Known<'_>, job: usize, at: Time) -> Option<usize> {
        let own = (0..self.of_stage.len()).filter(|stage| known.specs[*stage].job == job);
        let last = |stage: usize| {
            if known.jobs[job].failed {
                Self::last_until(self.of_stage[stage].as_slice(), at)
            } else {
                self.last_success(known, stage, at)
            }
        };
        own.filter_map(last).max().map(|(_, task)| task)
    }
}

/// A path that is walked backwards.
struct Walk {
    path: Vec<SparkSegment>,
    /// Where it begins so far.
    at: Time,
    /// Where it will begin.
    first: Time,
}

impl Walk {
    /// Goes back to a time; nowhere where that is not before.
    fn to(&mut self, time: Time, waiting: Waiting, stage: Option<usize>, task: Option<usize>) {
        let start = time.max(self.first);
        if start < self.at {
            self.path.push(SparkSegment { start, finish: self.at, waiting, stage, task });
            self.at = start;
        }
    }

    fn back(&mut self, length: Time, waiting: Waiting, (stage, task): (Option<usize>, Option<usize>)) {
        self.to(self.at.saturating_sub(length), waiting, stage, task);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hadoop::NodeId;

    /// Two attempts at one task on one executor, both over at the instant at which they were launched: the later one
    /// waited for the earlier, and that for its stage.
    #[test]
    fn attempts_of_one_instant_do_not_wait_for_each_other() {
        let at = Time::from_secs(5);
        let attempt = || {
            let launched = TaskRecord::new((0, 0, 1), 0, NodeId(1), Locality::Any, at);
            TaskRecord { ended: TaskEnd::Failed, finish: Some(at), ..launched }
        };
        let executor = ExecutorRecord {
            node: NodeId(1),
            granted: None,
            registered: Some(Time::ZERO),
            lost: None,
            killed: false,
            excluded: None,
        };
        let stage = SparkStage { submit: Some(Time::from_secs(1)), ..SparkStage::default() };
        let (specs, tasks) = ([StageSpec::default()], [attempt(), attempt()]);
        let known = Known { specs: &specs, stages: &[stage], tasks: &tasks, jobs: &[], executors: &[executor] };
        let ends = Ends::of(&known);
        assert!(matches!(known.cause(1, &ends), (when, Cause::Core(0) | Cause::Attempt(0)) if when == at));
        assert!(matches!(known.cause(0, &ends), (when, Cause::Stage) if when == Time::from_secs(1)));
    }
}
