//! A recorded job's placement and start times as a plan that a run follows.

use super::hosts::Hosts;
use crate::JobHistory;
use scenario::{Plan, PlannedAttempt, PlannedKind, node_name};
use std::collections::BTreeSet;
use units::Time;

/// Hosts that a message names.
const NAMED: usize = 5;

/// The plan of a job: its attempts on the nodes of its hosts, at their recorded times after submission.
///
/// Attempts that never got a container are left out. An attempt or AppMaster on a host that is none of `hosts` is an
/// error: a plan without it would never end.
pub fn replay(job: &JobHistory, hosts: &Hosts) -> Result<Plan, UnknownHosts> {
    let since_submission = |ms: i64| Time::from_ms((ms - job.submit_ms).max(0) as u64);
    let mut unknown: BTreeSet<&str> = BTreeSet::new();
    let mut node = |host| {
        let number = hosts.number(host);
        if number.is_none() {
            unknown.insert(host);
        }
        number.map(node_name)
    };
    let mut plan = Plan { launch: Some(since_submission(job.launch_ms)), ..Plan::default() };
    if let Some(master) = job.masters.last().filter(|master| !master.host.is_empty()) {
        (plan.master, plan.master_start) = (node(&master.host), since_submission(master.start_ms));
    }
    for (kind, tasks) in [(PlannedKind::Map, &job.maps), (PlannedKind::Reduce, &job.reduces)] {
        for task in tasks {
            for attempt in &task.attempts {
                let Some(start) = attempt.start_ms.filter(|_| !attempt.host.is_empty()) else { continue };
                let Some(node) = node(&attempt.host) else { continue };
                let start = since_submission(start);
                plan.attempt.push(PlannedAttempt { kind, task: task.number, node, start, ..Default::default() });
            }
        }
    }
    if unknown.is_empty() {
        return Ok(plan);
    }
    Err(UnknownHosts(unknown.into_iter().map(str::to_owned).collect()))
}

/// Hosts of a job that are no workers of the scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownHosts(pub Vec<String>);

impl std::fmt::Display for UnknownHosts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self(hosts) = self;
        let named: Vec<&str> = hosts.iter().take(NAMED).map(String::as_str).collect();
        let more = if hosts.len() > NAMED { ", ..." } else { "" };
        write!(f, "its attempts ran on hosts that are no workers of the scenario: {}{more}", named.join(", "))
    }
}

impl std::error::Error for UnknownHosts {}
