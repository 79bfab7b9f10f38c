//! How far a job's tasks are, as Hadoop's progress bars show it.

use super::{JobId, MapReduce};
use crate::ids::AttemptId;
use crate::record::TaskKind;

/// Progress is not summed over more tasks than this: who samples it does so some thousand times.
const MOST_TASKS: usize = 10_000;

impl MapReduce {
    /// The mean progress of a job's maps or reduces, from 0 to 1: a task that is done counts as one, a task that runs
    /// by its best attempt (`JobStatus.mapProgress`, `reduceProgress`), as it is now. None for a kind
    /// without tasks, and of more than 10,000.
    pub fn progress_of(&self, job: JobId, kind: TaskKind) -> Option<f64> {
        let tasks = self.jobs[job.0 as usize].tasks(kind);
        if tasks.is_empty() || tasks.len() > MOST_TASKS {
            return None;
        }
        let best = |running: &[AttemptId]| running.iter().map(|id| self.progress_now(*id)).fold(0.0, f64::max);
        let sum: f64 = tasks.iter().map(|task| if task.done.is_some() { 1.0 } else { best(&task.running) }).sum();
        Some(sum / tasks.len() as f64)
    }
}
