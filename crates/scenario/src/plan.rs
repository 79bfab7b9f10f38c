//! A recorded plan: where and when a job's AppMaster and its attempts started.

use super::key::{choice, section};
use units::Time;

/// Moments of a plan count from the job's submission.
const MOMENTS: std::ops::RangeInclusive<Time> = Time::ZERO..=Time::from_secs(86_400 * 200);

section! {
    /// Where and when a job's master and attempts start, in place of what the scheduler decides. What follows is
    /// simulated.
    pub struct Plan {
        /// The node of the AppMaster; left out, the scheduler finds one.
        master: Option<String> = None;
        /// When the AppMaster's container starts, after submission.
        master_start: Time = Time::ZERO, MOMENTS;
        /// When the job is launched, after submission; left out, when the AppMaster is ready.
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
        /// Which sort of task.
        kind: PlannedKind = PlannedKind::Map;
        /// The task's number among those of its sort, from 0.
        task: u32 = 0, 0..=10_000_000;
        /// The worker it starts on.
        node: String = String::new();
        /// When, after submission.
        start: Time = Time::ZERO, MOMENTS;
    }
}
