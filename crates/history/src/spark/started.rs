//! How long executors of a standalone cluster take to start that come as tasks need them. No log says when one was
//! asked for; it follows from when tasks began to wait.

use super::stages::{Group, whole_ms};
use super::work::Machines;
use super::{Application, Executor};
use scenario::SparkAllocation;
use units::Time;

/// How executors came.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// Work of a process from when it is asked for until the driver knows of it; none where no executor tells.
    pub process: Option<Time>,
    /// When those that there are to be at first were known to the driver, in the mean, in milliseconds since 1970; none
    /// where none are to be.
    pub first_ms: Option<i64>,
    /// The part of a core that each of these had while they started together.
    pub share: f64,
}

/// Executors are asked for while a job's tasks wait: one when they have waited for long enough, then twice as many each
/// time. The Master numbers them in this order, behind those that there are to be at first.
pub fn start(of: &Application, allocation: &SparkAllocation, groups: &[Group], machines: &Machines) -> Start {
    let mut executors: Vec<(u64, &Executor)> =
        of.executors.iter().filter_map(|executor| Some((executor.id.parse().ok()?, executor))).collect();
    executors.sort_unstable_by_key(|(id, _)| *id);
    let ms = |time: Time| i64::try_from(time.as_ms()).unwrap_or(i64::MAX);
    let first = ms(allocation.scheduler_backlog_timeout);
    let next = ms(allocation.sustained_scheduler_backlog_timeout.unwrap_or(allocation.scheduler_backlog_timeout));
    let (mut at_first, mut hosts) = (Vec::new(), Vec::new());
    let (mut processes, mut of_group) = (Vec::new(), vec![0_u64; groups.len()]);
    for (id, Executor { added_ms, host, .. }) in executors {
        if id < u64::from(allocation.initial()) {
            at_first.push(*added_ms as f64);
            hosts.push(&**host);
        } else if let Some(group) = groups.partition_point(|group| group.submit < *added_ms).checked_sub(1) {
            of_group[group] += 1;
            let asked = groups[group].submit + first + next * i64::from(of_group[group].ilog2());
            // One that was there sooner was asked for by a job before.
            processes.extend((*added_ms > asked).then_some((&**host, asked, *added_ms)));
        }
    }
    let mean = |of: Vec<f64>| (!of.is_empty()).then(|| of.iter().sum::<f64>() / of.len() as f64);
    let process = mean(machines.of_processes(&processes));
    Start {
        process: process.map(|work| whole_ms(work).min(Time::from_secs(3_600))),
        first_ms: mean(at_first).map(|at| at as i64),
        share: mean(machines.shares(&hosts)).unwrap_or(1.0),
    }
}
