//! Jobs that get nowhere: how far they have come as their masters know, and who waits for what.

use super::{JobId, MapReduce};
use crate::context::Context;
use crate::hdfs::Hdfs;
use crate::ids::NodeId;
use crate::record::{TaskKind, Waiting};
use crate::rpc::Silent;
use des::Index;
use std::fmt;
use units::Time;

/// One line of the ledger: somebody waits for something since a time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wait {
    /// Who waits.
    pub who: String,
    /// For what.
    pub what: String,
    /// Since when.
    pub since: Time,
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} waits for {} since {:.1} s", self.who, self.what, self.since.as_secs_f64())
    }
}

pub(super) fn name(node: NodeId) -> String {
    if node.0 == 0 { "master".to_owned() } else { format!("worker-{}", node.0) }
}

fn waiting(waiting: Waiting) -> &'static str {
    match waiting {
        Waiting::Cpu => "the processor",
        Waiting::Disk => "a disk",
        Waiting::Network => "bytes from the network",
        Waiting::Slot => "a slot",
        Waiting::Timeout => "its master",
        Waiting::SecondAttempt => "a second attempt",
        Waiting::StartUp => "its files and its start",
        Waiting::Maps => "maps that are not done",
    }
}

impl MapReduce {
    /// How far the jobs have come that are submitted and not over: tasks, those that run by the progress that their
    /// masters have heard of. None where there is no such job.
    pub fn headway(&self, now: Time) -> Option<f64> {
        let mut any = false;
        let mut headway = 0.0;
        for job in self.jobs.iter().filter(|job| job.spec.submit <= now) {
            any |= !job.is_over();
            let record = &job.record;
            headway += f64::from(u8::from(record.master_start.is_some()) + u8::from(record.launch.is_some()));
            for task in job.maps.iter().chain(&job.reduces) {
                let best = task.running.iter().map(|id| self.attempts[id.0 as usize].known_progress);
                headway += if task.done.is_some() || job.is_over() { 1.0 } else { best.fold(0.0, f64::max) };
            }
        }
        any.then_some(headway)
    }

    /// What the jobs wait for that are submitted and not over.
    pub(crate) fn waits(&self, now: Time, hdfs: &Hdfs, waits: &mut Vec<Wait>) {
        for (id, job) in self.jobs.iter().enumerate().filter(|(_, job)| job.spec.submit <= now && !job.is_over()) {
            let who = format!("job {}", job.record.name);
            let Some(launch) = job.record.launch else {
                let (what, since) = self.client_waits(hdfs, JobId::from_usize(id)).unwrap_or_else(|| {
                    let what = if job.record.master_start.is_some() { "its launch" } else { "its master" };
                    (what.to_owned(), job.spec.submit)
                });
                waits.push(Wait { who, what, since });
                continue;
            };
            for (kind, tasks, done) in [("maps", &job.maps, job.maps_done), ("reduces", &job.reduces, job.reduces_done)]
            {
                let asked: Vec<Time> = tasks.iter().filter(|task| task.wanted > 0).map(|task| task.requested).collect();
                if let Some(since) = asked.iter().min() {
                    let what =
                        format!("slots for {} of its {} {kind}, {done} of which are done", asked.len(), tasks.len());
                    waits.push(Wait { who: who.clone(), what, since: *since });
                } else if (done as usize) < tasks.len() {
                    let what = format!("{} of its {} {kind}", tasks.len() - done as usize, tasks.len());
                    waits.push(Wait { who: who.clone(), what, since: launch });
                }
            }
            for id in job.maps.iter().chain(&job.reduces).flat_map(|task| &task.running) {
                let record = &self.attempts[id.0 as usize].record;
                let Some((since, what)) = record.timeline.last() else { continue };
                let kind = if record.kind == TaskKind::Map { "map" } else { "reduce" };
                let who = format!("{kind} {}, attempt {} on {}", record.task, record.attempt, name(record.node));
                waits.push(Wait { who, what: waiting(*what).to_owned(), since: *since });
            }
        }
    }
}

/// Nodes that are down, and processes without an answer.
pub(crate) fn silent(ctx: &Context, waits: &mut Vec<Wait>) {
    for silent in ctx.rpc.silent() {
        let Silent { from, to, calls, connected, since } = silent;
        let down = if ctx.nodes.is_up(to.node) { "" } else { ", which is down" };
        let what = if connected {
            let calls = if calls == 1 { "a call".to_owned() } else { format!("{calls} calls") };
            format!("the answer to {calls} to the {} on {}{down}", to.name(), name(to.node))
        } else {
            format!("a connection to the {} on {}{down}", to.name(), name(to.node))
        };
        waits.push(Wait { who: format!("the {} on {}", from.name(), name(from.node)), what, since });
    }
}
