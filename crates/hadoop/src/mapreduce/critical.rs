//! Where a job's time went: the chain of attempts that its end waited for, walked back from the end to the submission.
//!
//! The job's end waited for its last attempt. A reduce waited for the map whose output came last, from when that map
//! was done; an attempt waited for the one before it in its slot; a second attempt for the end of the first, or until
//! the first was found slow; the first ones for the job's launch. Every moment from submission to finish is on the path
//! exactly once, so the parts sum to the job's time.

use crate::ids::{AttemptId, JobId};
use crate::record::{AttemptRecord, AttemptState, Records, Split, TaskKind, Waiting};
use units::Time;

/// A stretch of the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    /// From when.
    pub from: Time,
    /// To when.
    pub to: Time,
    /// What was waited for.
    pub waiting: Waiting,
    /// The attempt that it belongs to; none for what the job as a whole waited for.
    pub attempt: Option<AttemptId>,
    /// While a reduce fetches: the map attempt whose output it waited for.
    pub source: Option<AttemptId>,
}

/// The path in order of time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CriticalPath {
    /// Its stretches, without gaps from submission to finish.
    pub stretches: Vec<Stretch>,
    /// Its length by what was waited for.
    pub split: Split,
}

/// The critical path of a job that has ended.
pub fn critical_path(records: &Records, job: JobId) -> Option<CriticalPath> {
    let record = records.jobs.get(job.0 as usize)?;
    let (submit, finish) = (record.submit, record.finish?);
    let launch = record.launch.unwrap_or(finish);
    let mut walk = Walk { records, job, at: finish, back: Vec::new() };
    // The commit of output in an object store is requests.
    walk.emit_until(record.commit.unwrap_or(finish), Waiting::Network, None, None);
    let finish = walk.at;
    let mut next = walk.last(finish);
    while let Some(step) = next {
        next = walk.through(step, launch);
    }
    walk.emit_until(launch.min(walk.at), Waiting::Timeout, None, None);
    walk.emit_until(submit, Waiting::StartUp, None, None);
    let mut path = CriticalPath::default();
    for stretch in walk.back.into_iter().rev() {
        path.split.add(stretch.waiting, stretch.to - stretch.from);
        match path.stretches.last_mut() {
            Some(last)
                if (last.waiting, last.attempt, last.source) == (stretch.waiting, stretch.attempt, stretch.source) =>
            {
                last.to = stretch.to;
            }
            _ => path.stretches.push(stretch),
        }
    }
    Some(path)
}

/// The attempt that the path goes on with, backwards.
#[derive(Clone, Copy)]
enum Step {
    /// What it did was waited for.
    Work(AttemptId),
    /// It was found too slow, and another attempt was asked for: all of its time until then was the wait for that.
    Slow(AttemptId),
}

struct Walk<'a> {
    records: &'a Records,
    job: JobId,
    /// Everything from here on is explained.
    at: Time,
    back: Vec<Stretch>,
}

impl Walk<'_> {
    fn record(&self, id: AttemptId) -> &AttemptRecord {
        &self.records.attempts[id.0 as usize]
    }
    fn ids(&self) -> impl Iterator<Item = (AttemptId, &AttemptRecord)> {
        (0..).map(AttemptId).zip(&self.records.attempts)
    }
    /// The attempt of the job that ended last, reduces before maps.
    fn last(&self, finish: Time) -> Option<Step> {
        self.ids()
            .filter(|(_, record)| record.job == self.job && record.finish <= finish)
            .filter(|(_, record)| matches!(record.state, AttemptState::Succeeded | AttemptState::Failed))
            .max_by_key(|(id, record)| (record.finish, record.kind, *id))
            .map(|(id, _)| Step::Work(id))
    }
    fn emit_until(&mut self, from: Time, waiting: Waiting, attempt: Option<AttemptId>, source: Option<AttemptId>) {
        if from < self.at {
            self.back.push(Stretch { from, to: self.at, waiting, attempt, source });
            self.at = from;
        }
    }
    /// Explains the time back to when an attempt was given its slot, or its last input was made; returns the attempt
    /// that this waited for.
    fn through(&mut self, step: Step, launch: Time) -> Option<Step> {
        let (Step::Work(id) | Step::Slow(id)) = step;
        let record = self.record(id);
        let (allocated, requested) = (record.allocated.max(launch), record.requested.max(launch));
        let node = record.node;
        let other_job = record.job != self.job;
        let source = match step {
            _ if record.kind == TaskKind::Map => None,
            Step::Work(_) => record.last_map,
            // It may never have fetched the output of the last map.
            Step::Slow(_) => self.last_map(self.at),
        };
        let made = source.map(|map| self.record(map).finish).filter(|&made| made > allocated && made < self.at);
        match step {
            Step::Work(_) => {
                // After its end came the wait for the job's, or until somebody knew that its output was gone.
                let (finish, lost) = (record.finish, record.output_lost.is_some());
                let noticing = if lost { Waiting::SecondAttempt } else { Waiting::Timeout };
                self.emit_until(finish, noticing, lost.then_some(id), None);
                self.emit_attempt(id, made.unwrap_or(allocated), source, other_job);
            }
            Step::Slow(_) => {
                let waiting = if other_job { Waiting::Slot } else { Waiting::SecondAttempt };
                self.emit_until(made.unwrap_or(allocated), waiting, Some(id), None);
            }
        }
        if made.is_some() {
            return source.map(Step::Work);
        }
        // The slot was another attempt's, or the request was answered at the next heartbeat.
        let at = self.at;
        let before = self
            .ids()
            .filter(|(other, record)| {
                *other != id && record.node == node && record.finish <= at && record.finish > requested
            })
            .max_by_key(|(other, record)| (record.finish, *other))
            .map(|(other, _)| Step::Work(other));
        if before.is_some() {
            return before;
        }
        self.emit_until(requested, Waiting::Timeout, None, None);
        self.asked_by(id, launch)
    }
    /// Why an attempt was asked for when everything before is still to explain: another one at its task was slow; one
    /// ended or its output was lost; or, for a reduce, enough maps were done.
    fn asked_by(&self, id: AttemptId, launch: Time) -> Option<Step> {
        let (at, second) = (self.at, self.record(id));
        let slow = |record: &AttemptRecord| {
            (record.job, record.kind, record.task) == (second.job, second.kind, second.task)
                && record.allocated < at
                && record.finish > at
        };
        let ended = |record: &AttemptRecord| record.finish == at || record.output_lost == Some(at);
        let cause = |record: &AttemptRecord| record.job == self.job && ended(record) && record.allocated < at;
        let last = |counts: &dyn Fn(&AttemptRecord) -> bool| {
            self.ids()
                .filter(|(other, record)| *other < id && at > launch && counts(record))
                .map(|(other, _)| other)
                .last()
        };
        last(&slow).map(Step::Slow).or_else(|| last(&cause).map(Step::Work))
    }
    /// The map of the job that was the last one done by a time.
    fn last_map(&self, by: Time) -> Option<AttemptId> {
        let done = |record: &AttemptRecord| {
            (record.job, record.kind) == (self.job, TaskKind::Map)
                && record.finish < by
                && (record.state == AttemptState::Succeeded || record.output_lost.is_some())
        };
        let maps = self.ids().filter(|(_, record)| done(record));
        maps.max_by_key(|(id, record)| (record.finish, *id)).map(|(id, _)| id)
    }
    fn emit_attempt(&mut self, id: AttemptId, until: Time, source: Option<AttemptId>, other_job: bool) {
        let record = self.record(id);
        let (stretches, fetched): (Vec<_>, _) = (record.stretches().collect(), record.first_phase_end);
        for (from, _, waiting) in stretches.into_iter().rev() {
            // What comes after the last output was fetched is no longer that map's matter.
            let source = source.filter(|_| fetched.is_none_or(|end| from < end));
            if from >= self.at {
                continue;
            }
            let waiting = match waiting {
                _ if other_job => Waiting::Slot,
                // Between the end of a map and the fetch lies the wait for news of it.
                Waiting::Maps => Waiting::Timeout,
                waiting => waiting,
            };
            self.emit_until(from.max(until), waiting, Some(id), source);
            if self.at <= until {
                return;
            }
        }
        self.emit_until(until, Waiting::Timeout, Some(id), None);
    }
}
