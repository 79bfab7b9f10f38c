//! A recorded plan: where and when a job's AppMaster and its attempts started, what they took and how they ended.

use super::key::{choice, section};
use units::{Bytes, Time};

/// Moments of a plan count from the job's submission.
const MOMENTS: std::ops::RangeInclusive<Time> = Time::ZERO..=Time::from_secs(86_400 * 200);

section! {
    /// Where and when a job's master and attempts start, in place of what the scheduler decides. What follows is
    /// simulated.
    pub struct Plan {
        /// The node of the AppMaster. Left out: the scheduler chooses.
        master: Option<String> = None;
        /// Start of the AppMaster's container, after submission.
        master_start: Time = Time::ZERO, MOMENTS;
        /// Launch of the job, after submission. Left out: when the AppMaster is ready.
        launch: Option<Time> = None, MOMENTS;
        /// Whether starts are the earliest ones: an attempt waits until its node has a slot or memory for it. Else it
        /// starts at its time in any case.
        wait: bool = false;
        /// How the job ended. One that did not succeed ends when all attempts have.
        end: Option<PlannedEnd> = None;
        /// Why it did not succeed.
        reason: String = String::new();
        /// From the end of the last attempt to that of the job: commit and clean-up.
        commit: Time = Time::ZERO, MOMENTS;
        /// The attempts.
        attempt: Vec<PlannedAttempt> = Vec::new();
    }
}

choice! {
    /// How an attempt or a job ended.
    pub enum PlannedEnd {
        /// It did its task.
        Succeeded = "succeeded",
        /// It failed.
        Failed = "failed",
        /// It was killed.
        Killed = "killed",
    }
}

choice! {
    /// The two sorts of task.
    pub enum PlannedKind {
        /// A map.
        Map = "map",
        /// A reduce.
        Reduce = "reduce",
    }
}

section! {
    /// One attempt: its start, and what is recorded of the rest. Times are those of a core of speed 1, beyond what the
    /// job's costs give; reading, fetching and writing are simulated besides.
    pub struct PlannedAttempt {
        /// Map or reduce.
        kind: PlannedKind = PlannedKind::Map;
        /// The task's number among those of its kind, from 0.
        task: u32 = 0, 0..=10_000_000;
        /// The worker that runs it.
        node: String = String::new();
        /// Its start, after submission.
        start: Time = Time::ZERO, MOMENTS;
        /// How it ended. Left out: it succeeds.
        end: Option<PlannedEnd> = None;
        /// After its start it fails or is killed.
        after: Option<Time> = None, MOMENTS;
        /// Of the map function. One that does not succeed takes longer than `after` in any case.
        map: Option<Time> = None, MOMENTS;
        /// Of a reduce after its last fetch, until its shuffle is over.
        copy: Option<Time> = None, MOMENTS;
        /// Of the sort phase: of a map after its function, of a reduce after its shuffle.
        sort: Option<Time> = None, MOMENTS;
        /// Of the reduce function.
        reduce: Option<Time> = None, MOMENTS;
        /// Bytes that it writes to HDFS, in place of what the job's ratios give.
        output: Option<Bytes> = None, Bytes::ZERO..=Bytes::from_mib(1 << 30);
    }
}

impl PlannedAttempt {
    /// Whether it is recorded to succeed.
    pub fn succeeds(&self) -> bool {
        self.end.is_none_or(|end| end == PlannedEnd::Succeeded)
    }
}
