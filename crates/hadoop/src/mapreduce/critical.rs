//! Where a job's time went: the chain of attempts that its end waited for, walked back from the end to the submission.
//!
//! The job's end waited for its last attempt. A reduce waited for the map whose output came last, from when that map
//! was done; an attempt waited for the one before it in its slot; a second attempt for the end of the first; the first
//! ones for the job's launch. Every moment from submission to finish is on the path exactly once, so the parts sum to
//! the job's time.

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
    let mut next = walk.last(finish);
    while let Some(id) = next {
        next = walk.through(id, launch);
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
    fn last(&self, finish: Time) -> Option<AttemptId> {
        self.ids()
            .filter(|(_, record)| record.job == self.job && record.finish <= finish)
            .filter(|(_, record)| matches!(record.state, AttemptState::Succeeded | AttemptState::Failed))
            .max_by_key(|(id, record)| (record.finish, record.kind, *id))
            .map(|(id, _)| id)
    }
    fn emit_until(&mut self, from: Time, waiting: Waiting, attempt: Option<AttemptId>, source: Option<AttemptId>) {
        if from < self.at {
            self.back.push(Stretch { from, to: self.at, waiting, attempt, source });
            self.at = from;
        }
    }
    /// Explains the time back to when `id` was given its slot, or its last input was made; returns the attempt that
    /// this waited for.
    fn through(&mut self, id: AttemptId, launch: Time) -> Option<AttemptId> {
        let record = self.record(id);
        let (finish, allocated, requested) =
            (record.finish, record.allocated.max(launch), record.requested.max(launch));
        let node = record.node;
        let source = (record.kind == TaskKind::Reduce).then_some(record.last_map).flatten();
        let other_job = record.job != self.job;
        // What came after its end was waiting to notice that its output was gone.
        let noticed = record.output_lost.map(|_| id);
        self.emit_until(finish, Waiting::Timeout, noticed, None);
        let made = source.map(|map| self.record(map).finish).filter(|&made| made > allocated && made < self.at);
        self.emit_attempt(id, made.unwrap_or(allocated), source, other_job);
        if made.is_some() {
            return source;
        }
        // The slot was another attempt's, or the request was answered at the next heartbeat.
        let at = self.at;
        let before = self
            .ids()
            .filter(|(other, record)| {
                *other != id && record.node == node && record.finish <= at && record.finish > requested
            })
            .max_by_key(|(other, record)| (record.finish, *other))
            .map(|(other, _)| other);
        if before.is_some() {
            return before;
        }
        self.emit_until(requested, Waiting::Timeout, None, None);
        // A second attempt was asked for when the first ended or its output was lost, a reduce when enough maps were
        // done.
        let at = self.at;
        let ended = |record: &AttemptRecord| record.finish == at || record.output_lost == Some(at);
        let cause = |record: &AttemptRecord| record.job == self.job && ended(record) && record.allocated < at;
        self.ids().filter(|(other, record)| *other < id && at > launch && cause(record)).map(|(other, _)| other).last()
    }
    fn emit_attempt(&mut self, id: AttemptId, until: Time, source: Option<AttemptId>, other_job: bool) {
        let stretches: Vec<_> = self.record(id).stretches().collect();
        for (from, _, waiting) in stretches.into_iter().rev() {
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
