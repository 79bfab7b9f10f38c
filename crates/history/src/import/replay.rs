//! A recorded job's placement and start times as a plan that a run follows.

use super::hosts::Hosts;
use crate::JobHistory;
use scenario::{Plan, PlannedAttempt, PlannedKind, node_name};
use units::Time;

/// The plan of a job: its attempts on the nodes of its hosts, at their recorded times after submission.
///
/// Attempts that never got a container are left out.
pub fn replay(job: &JobHistory, hosts: &Hosts) -> Plan {
    let since_submission = |ms: i64| Time::from_ms((ms - job.submit_ms).max(0) as u64);
    let node = |host: &str| hosts.number(host).map(node_name);
    let mut plan = Plan { launch: Some(since_submission(job.launch_ms)), ..Plan::default() };
    if let Some(master) = job.masters.last() {
        (plan.master, plan.master_start) = (node(&master.host), since_submission(master.start_ms));
    }
    for (kind, tasks) in [(PlannedKind::Map, &job.maps), (PlannedKind::Reduce, &job.reduces)] {
        for task in tasks {
            for attempt in &task.attempts {
                if let (Some(node), Some(start)) = (node(&attempt.host), attempt.start_ms) {
                    let start = since_submission(start);
                    plan.attempt.push(PlannedAttempt { kind, task: task.number, node, start });
                }
            }
        }
    }
    plan
}
