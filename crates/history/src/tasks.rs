//! Tasks while they are gathered from a history, and the checks that they make one job.

use super::error::{HistoryError as Error, Problem};
use super::memory::Memory;
use super::{Attempt, AttemptState, JobHistory, JobState, Task, TaskKind, rack_and_host};
use std::collections::BTreeMap;
use std::mem::size_of;

/// Longest time between two moments of one job, in milliseconds: it fits in a simulated time.
pub(crate) const MAX_SPAN_MS: i64 = 200 * 86_400_000;

/// How far a moment within an attempt may lie outside of it, in milliseconds: progress is reported a little late.
const LATE_MS: i64 = 1000;

/// A task's or attempt's identifier: `task_<cluster>_<job>_<m|r>_<task>`, `attempt_<the same>_<attempt>`.
#[derive(Clone, Copy, Debug)]
pub struct Id<'a> {
    /// `<cluster>_<job>`; empty if the format has no such identifiers.
    pub job: &'a str,
    pub kind: TaskKind,
    pub task: u32,
    attempt: Option<&'a str>,
}

impl<'a> Id<'a> {
    /// Of a format without identifiers.
    pub fn unnamed(kind: TaskKind, task: u32) -> Self {
        Self { job: "", kind, task, attempt: None }
    }

    /// Reads an identifier. `None` for setup and cleanup tasks.
    pub fn parse(text: &'a str) -> Result<Option<Self>, Problem> {
        let wrong = || Problem::malformed("an identifier of a task or an attempt", format!("`{text:.80}`"));
        let mut parts = text.split('_');
        let (_, cluster, job) = (parts.next(), parts.next().ok_or_else(wrong)?, parts.next().ok_or_else(wrong)?);
        let kind = match parts.next().ok_or_else(wrong)? {
            "m" => TaskKind::Map,
            "r" => TaskKind::Reduce,
            "s" | "c" | "j" | "t" => return Ok(None),
            _ => return Err(wrong()),
        };
        let task = parts.next().and_then(|n| n.parse().ok()).ok_or_else(wrong)?;
        let from = text.find('_').map_or(0, |at| at + 1);
        Ok(Some(Self { job: &text[from..from + cluster.len() + 1 + job.len()], kind, task, attempt: parts.next() }))
    }

    /// The attempt's number.
    pub fn attempt(&self) -> Result<u32, Problem> {
        let number = self.attempt.and_then(|n| n.parse().ok());
        number.ok_or_else(|| Problem::malformed("an identifier of an attempt", "one of a task"))
    }
}

/// Tasks while they are gathered. The map is sparse, so that a hostile task number does not allocate.
#[derive(Debug)]
pub struct Tasks<'m> {
    pub memory: &'m mut Memory,
    gathered: BTreeMap<(TaskKind, u32), (Task, BTreeMap<u32, Attempt>)>,
    /// Racks by host.
    racks: BTreeMap<String, String>,
    /// Whether a job of this format may leave out where its attempts ran.
    hosts_may_lack: bool,
}

impl<'m> Tasks<'m> {
    pub fn new(memory: &'m mut Memory) -> Self {
        Self { memory, gathered: BTreeMap::new(), racks: BTreeMap::new(), hosts_may_lack: false }
    }

    pub fn without_hosts(memory: &'m mut Memory) -> Self {
        Self { hosts_may_lack: true, ..Self::new(memory) }
    }

    fn entry(&mut self, kind: TaskKind, number: u32) -> Result<&mut (Task, BTreeMap<u32, Attempt>), Problem> {
        let key = (kind, number);
        if !self.gathered.contains_key(&key) {
            // It lies in the map while it is gathered, and in a list of its job in the end.
            let gathered = size_of::<((TaskKind, u32), Task, BTreeMap<u32, Attempt>)>() * 3 / 2;
            self.memory.take(gathered + size_of::<Task>() * 2)?;
        }
        let entry = self.gathered.entry(key).or_default();
        entry.0.number = number;
        Ok(entry)
    }

    pub fn task(&mut self, id: &Id) -> Result<&mut Task, Problem> {
        Ok(&mut self.entry(id.kind, id.task)?.0)
    }

    pub fn attempt(&mut self, id: &Id, number: u32) -> Result<&mut Attempt, Problem> {
        if !self.entry(id.kind, id.task)?.1.contains_key(&number) {
            self.memory.take(size_of::<Attempt>() * 7 / 2)?;
        }
        let attempt = self.entry(id.kind, id.task)?.1.entry(number).or_default();
        attempt.number = number;
        Ok(attempt)
    }

    /// The attempt of a task that succeeded, if it is known yet.
    pub fn successful(&mut self, id: &Id) -> Option<&mut Attempt> {
        let attempts = &mut self.gathered.get_mut(&(id.kind, id.task))?.1;
        attempts.values_mut().find(|attempt| attempt.state == AttemptState::Succeeded)
    }

    /// The hosts of a list of names, of which each may stand behind its rack.
    pub fn hosts<'n>(&mut self, names: impl Iterator<Item = &'n str>) -> Result<Vec<String>, Problem> {
        let mut hosts = Vec::new();
        for name in names {
            let (rack, host) = rack_and_host(name.trim());
            if !host.is_empty() {
                self.memory.take(host.len() + size_of::<String>())?;
                self.stands_in(&host, rack)?;
                hosts.push(host);
            }
        }
        Ok(hosts)
    }

    /// A host stands in a rack, if that is not empty. What is said first holds.
    pub fn stands_in(&mut self, host: &str, rack: String) -> Result<(), Problem> {
        if !host.is_empty() && !rack.is_empty() && !self.racks.contains_key(host) {
            self.memory.take(host.len() + rack.len() + 3 * size_of::<String>())?;
            self.racks.insert(host.to_owned(), rack);
        }
        Ok(())
    }

    /// Moves the tasks into the job, and checks that its times belong together. `offset` is where the job ends.
    pub fn finish(self, mut job: JobHistory, offset: usize) -> Result<JobHistory, Error> {
        let hosts_may_lack = self.hosts_may_lack;
        job.racks = self.racks;
        for ((kind, number), (mut task, attempts)) in self.gathered {
            task.number = number;
            task.attempts = attempts.into_values().collect();
            match kind {
                TaskKind::Map => job.maps.push(task),
                TaskKind::Reduce => job.reduces.push(task),
            }
        }
        // A job that failed or was killed while it was set up ran no task.
        if job.launch_ms <= 0 {
            job.launch_ms = job.submit_ms;
        }
        check_span(&job).map_err(|problem| Error::new(offset, problem))?;
        check(&mut job, hosts_may_lack).map_err(|problem| Error::new(offset, problem))?;
        Ok(job)
    }
}

/// Moments that are centuries apart are no times of one job.
fn check_span(job: &JobHistory) -> Result<(), Problem> {
    let tasks = || job.maps.iter().chain(&job.reduces);
    let attempts = tasks().flat_map(|t| &t.attempts);
    let moments = attempts.flat_map(|a| {
        [a.start_ms, a.finish_ms, a.map_finish_ms, a.shuffle_finish_ms, a.sort_finish_ms].into_iter().flatten()
    });
    let of_tasks = tasks().flat_map(|t| [t.start_ms, t.finish_ms].into_iter().flatten());
    let masters = job.masters.iter().map(|m| m.start_ms);
    for moment in moments.chain(of_tasks).chain(masters).chain([job.launch_ms]).chain(job.finish_ms) {
        if moment.checked_sub(job.submit_ms).is_none_or(|span| span.abs() > MAX_SPAN_MS) {
            let what = format!("times of one job more than 200 days apart: {} and {moment} ms", job.submit_ms);
            return Err(Problem::Inconsistent(what));
        }
    }
    Ok(())
}

/// Order of moments on one clock, ends, and hosts. Different hosts' clocks may differ: histories of JobTrackers have
/// attempts that start before their job.
fn check(job: &mut JobHistory, hosts_may_lack: bool) -> Result<(), Problem> {
    let wrong = |what: String| Err(Problem::Inconsistent(what));
    let id = job.id.clone();
    if let Some(finish) = job.finish_ms.filter(|finish| *finish < job.launch_ms) {
        let launch = job.launch_ms;
        return wrong(format!(
            "{id} finished at {finish} ms, before its launch at {launch} ms: the clock that recorded it ran backwards, \
             and its times cannot be used"
        ));
    }
    let succeeded = job.state == JobState::Succeeded;
    for (word, tasks) in [("map", &mut job.maps), ("reduce", &mut job.reduces)] {
        for task in tasks {
            let mut done = false;
            for attempt in &mut task.attempts {
                let name = || format!("{id}: attempt {} of {word} {}", attempt.number, task.number);
                if attempt.state != AttemptState::Succeeded {
                    // Its end is stamped by the master, its start by the host that it ran on.
                    attempt.finish_ms =
                        attempt.finish_ms.map(|end| attempt.start_ms.map_or(end, |start| end.max(start)));
                    continue;
                }
                done = true;
                let (Some(start), Some(finish)) = (attempt.start_ms, attempt.finish_ms) else {
                    let lacks = if attempt.start_ms.is_none() { "start" } else { "finish" };
                    return wrong(format!(
                        "{} succeeded, and has no {lacks} time: the history is incomplete, fetch it again",
                        name()
                    ));
                };
                if finish < start {
                    return wrong(format!(
                        "{} finished at {finish} ms, before its start at {start} ms: the clock that recorded it ran \
                         backwards, and its times cannot be used",
                        name()
                    ));
                }
                let within = [
                    ("map", &mut attempt.map_finish_ms),
                    ("shuffle", &mut attempt.shuffle_finish_ms),
                    ("sort", &mut attempt.sort_finish_ms),
                ];
                for (phase, moment) in within {
                    let Some(at) = moment else { continue };
                    if !(start - LATE_MS..=finish + LATE_MS).contains(at) {
                        return wrong(format!(
                            "{id}: an attempt of {word} {} ends its {phase} phase at {at} ms, outside of the time from \
                             {start} to {finish} ms in which it ran: the clock that recorded it ran backwards",
                            task.number
                        ));
                    }
                    *at = (*at).clamp(start, finish);
                }
                if attempt.host.is_empty() && !hosts_may_lack {
                    return wrong(format!(
                        "{} names no host, so where it ran is not known: give it its host, or any one name for each host",
                        name()
                    ));
                }
            }
            // Tasks that failed within `mapreduce.map.failures.maxpercent` are no gap.
            let open = |a: &&Attempt| a.state == AttemptState::Unfinished && a.start_ms.is_some();
            if let Some(attempt) = task.attempts.iter().find(open)
                && succeeded
                && !done
            {
                return wrong(format!(
                    "{id}: attempt {} of {word} {} has a start and no finish, though the job succeeded: the history is \
                     incomplete, fetch it again",
                    attempt.number, task.number
                ));
            }
        }
    }
    Ok(())
}

/// A moment, if recorded: histories write 0 or -1 for one that never came.
pub fn stated(ms: i64) -> Option<i64> {
    (ms > 0).then_some(ms)
}
