//! A recorded plan: where and when a job's AppMaster and its attempts started.

use super::key::{choice, section};
use units::Time;

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
        /// The attempts.
        attempt: Vec<PlannedAttempt> = Vec::new();
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
    /// The start of one attempt.
    pub struct PlannedAttempt {
        /// Map or reduce.
        kind: PlannedKind = PlannedKind::Map;
        /// The task's number among those of its kind, from 0.
        task: u32 = 0, 0..=10_000_000;
        /// The worker that runs it.
        node: String = String::new();
        /// Its start, after submission.
        start: Time = Time::ZERO, MOMENTS;
    }
}
