//! Copies of slow tasks that were first: what their tasks took.
//!
//! What the first attempt would have taken is not known, as it was killed; it is at least the time until then. So a task
//! whose copy was first takes from its first launch to the copy's end, as the stage waited for it.

use super::{Application, Task, TaskEnd};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The application with such tasks in place of copies that were first, and how many these are.
pub fn joined(of: &Application) -> (Cow<'_, Application>, usize) {
    let mut slow: BTreeMap<((u32, u32), u32), &Task> = BTreeMap::new();
    if of.tasks.iter().any(|task| task.speculative && task.end == TaskEnd::Succeeded) {
        for task in of.tasks.iter().filter(|task| task.end != TaskEnd::Succeeded && !task.speculative) {
            let first = slow.entry((task.stage, task.index)).or_insert(task);
            if task.launch_ms > first.launch_ms {
                *first = task;
            }
        }
    }
    if slow.is_empty() {
        return (Cow::Borrowed(of), 0);
    }
    let (mut changed, mut count) = (of.clone(), 0);
    for copy in changed.tasks.iter_mut().filter(|task| task.speculative && task.end == TaskEnd::Succeeded) {
        let Some(first) = slow.get(&(copy.stage, copy.index)) else { continue };
        // One that had failed before is no attempt beside it.
        if first.launch_ms < copy.launch_ms && first.finish_ms.is_none_or(|finish| finish >= copy.launch_ms) {
            let earlier = copy.launch_ms.saturating_sub(first.launch_ms);
            copy.metrics.run_ms = copy.metrics.run_ms.saturating_add(u64::try_from(earlier).unwrap_or(0));
            copy.launch_ms = first.launch_ms;
            (copy.executor, copy.host) = (first.executor.clone(), first.host.clone());
            count += 1;
        }
    }
    (Cow::Owned(changed), count)
}
