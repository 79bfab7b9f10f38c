//! What tasks took of cores: their work, and what their executors' first tasks took beyond.
//!
//! A log says when a task ran and what it counted of processor time. The latter lacks what other threads did for it: the
//! compiler, the collector, a Python worker. So a task's work is the time for which it could run, times the part of a
//! core that it had meanwhile: min(1, cores / n) where n tasks shared a machine's cores.

use super::{Application, Task, is_far};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A machine that several hosts of a log share.
#[derive(Clone, Debug)]
struct Machine {
    /// Its cores.
    cores: f64,
    /// Threads of other work that are always ready to run on it.
    load: f64,
    /// How many tasks could run, from when on, in the order of time.
    steps: Vec<(i64, f64)>,
}

/// The machines of a log's hosts.
#[derive(Clone, Debug, Default)]
pub struct Machines {
    machines: Vec<Machine>,
    /// By host: the place of its machine.
    of_host: BTreeMap<String, usize>,
}

impl Machines {
    /// Of workers that share one: the machine's number, its cores, and threads of other work. `hosts` has the worker of
    /// each host. A host that shares no machine has a core for each of its tasks.
    pub fn new(of: &Application, shared: &BTreeMap<u32, (u32, f64, f64)>, hosts: &BTreeMap<String, u32>) -> Self {
        let mut all = Self::default();
        let mut places = BTreeMap::new();
        for (host, worker) in hosts {
            let Some((number, cores, load)) = shared.get(worker) else { continue };
            let place = *places.entry(number).or_insert_with(|| {
                all.machines.push(Machine { cores: *cores, load: *load, steps: Vec::new() });
                all.machines.len() - 1
            });
            all.of_host.insert(host.clone(), place);
        }
        let mut changes: Vec<BTreeMap<i64, f64>> = vec![BTreeMap::new(); all.machines.len()];
        for task in &of.tasks {
            let (Some(place), Some(finish)) = (all.of_host.get(&*task.host), task.finish_ms) else { continue };
            *changes[*place].entry(task.launch_ms).or_default() += ready(task);
            *changes[*place].entry(finish.max(task.launch_ms)).or_default() -= ready(task);
        }
        for (machine, changes) in all.machines.iter_mut().zip(changes) {
            let mut running = 0.0;
            for (at, change) in changes {
                running += change;
                machine.steps.push((at, running));
            }
        }
        all
    }

    /// The part of a core that processes on these hosts have, each of its own, while all of them run.
    pub fn shares(&self, hosts: &[&str]) -> Vec<f64> {
        let place = |host: &str| self.of_host.get(host);
        let share = |host: &&str| {
            let machine = &self.machines[*place(host)?];
            let beside = hosts.iter().filter(|other| place(other) == place(host)).count();
            Some((machine.cores / (beside as f64 + machine.load)).min(1.0))
        };
        hosts.iter().map(|host| share(host).unwrap_or(1.0)).collect()
    }

    /// The work of processes, in milliseconds of a core, of each of which its host and its time are known: they share
    /// their machine's cores with each other, with tasks and with the machine's other work.
    pub fn of_processes(&self, processes: &[(&str, i64, i64)]) -> Vec<f64> {
        let place = |host: &str| self.of_host.get(host);
        let work = |(host, begin, end): &(&str, i64, i64)| {
            let Some(machine) = place(host).map(|place| &self.machines[*place]) else { return (end - begin) as f64 };
            let others = || processes.iter().filter(|(other, ..)| place(other) == place(host));
            let changes = machine.steps.iter().map(|(at, _)| *at).chain(others().flat_map(|of| [of.1, of.2]));
            let mut times: Vec<i64> = changes.filter(|at| (begin..end).contains(&at)).chain([*begin, *end]).collect();
            times.sort_unstable();
            let worked = |pair: &[i64]| {
                let (from, until) = (pair[0], pair[1]);
                let steps = machine.steps.partition_point(|(at, _)| *at <= from);
                let tasks = steps.checked_sub(1).map_or(0.0, |step| machine.steps[step].1.max(0.0));
                let starting = others().filter(|of| of.1 <= from && until <= of.2).count() as f64;
                (until - from) as f64 * (machine.cores / (tasks + starting + machine.load)).min(1.0)
            };
            times.windows(2).map(worked).sum()
        };
        processes.iter().map(work).collect()
    }

    /// A task's work, in milliseconds of a core.
    pub fn work(&self, task: &Task) -> f64 {
        let ready = ready(task);
        let begin = task.launch_ms;
        let end = task.finish_ms.unwrap_or(begin).max(begin);
        let Some(machine) = self.of_host.get(&*task.host).map(|place| &self.machines[*place]) else {
            return (end - begin) as f64 * ready;
        };
        let first = machine.steps.partition_point(|(at, _)| *at < begin);
        let mut work = 0.0;
        for (place, (at, running)) in machine.steps.iter().enumerate().skip(first) {
            if *at >= end {
                break;
            }
            let until = machine.steps.get(place + 1).map_or(end, |(next, _)| (*next).min(end));
            // While it could run, it ran beside the others and the machine's other work.
            let beside = (running - ready).max(0.0) + machine.load + 1.0;
            work += (until - at) as f64 * ready * (machine.cores / beside).min(1.0);
        }
        work
    }
}

/// The part of a task's time for which it could run: not while it waited for blocks of shuffles or wrote its own.
fn ready(task: &Task) -> f64 {
    let took = task.finish_ms.unwrap_or(task.launch_ms).saturating_sub(task.launch_ms);
    let waited = task.metrics.read.wait_ms.saturating_add(task.metrics.write.time_ns / 1_000_000);
    let took = u64::try_from(took).unwrap_or(0);
    if took == 0 { 0.0 } else { took.saturating_sub(waited) as f64 / took as f64 }
}

/// Where what a stage's tasks read of files of HDFS, or of what executors keep, stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Input {
    /// They read none.
    None,
    /// All that a task reads stands on the same nodes: how near it was says whether it was on its own.
    Together,
    /// A task reads several files, of which it prefers the nodes with most: others may be on other nodes.
    Scattered,
}

/// What a stage's tasks read, but for shuffles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reads {
    pub input: Input,
    /// Whether an executor gets what the driver broadcasts before the first of them.
    pub broadcast: bool,
}

/// The tasks of a stage that ended well, by their places, and what they read.
pub type Ended<'a> = (BTreeMap<u32, &'a Task>, Reads);

/// What a counted second of processor time was of tasks' work, in tasks that waited for no network.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counted(Option<f64>);

impl Counted {
    /// Not known where no task is without the network, or counts nothing.
    pub fn of(stages: &[Ended], machines: &Machines) -> Self {
        let (mut all, mut worked) = (0.0, 0.0);
        for (tasks, reads) in stages.iter().filter(|(_, reads)| reads.input != Input::Scattered) {
            let ended = ended(tasks);
            for task in tasks.values().filter(|task| !awaits_network(task) && !reads.awaits_broadcast(task, &ended)) {
                all += counted(task);
                worked += machines.work(task);
            }
        }
        Self((all > 0.0).then(|| worked / all))
    }
}

impl Reads {
    /// Whether a task waits for a broadcast: those that an executor begins before one of their stage has ended there.
    fn awaits_broadcast(self, task: &Task, ended: &BTreeMap<&Arc<str>, i64>) -> bool {
        self.broadcast && is_first(task, ended)
    }
}

/// Whether something of a task waits for the network that no log counts: its input's blocks, messages to the NameNode
/// and blocks of its output, all of which stand in line behind blocks of shuffles.
fn awaits_network(task: &Task) -> bool {
    let of = &task.metrics;
    is_far(task) || of.output_bytes > 0 || of.read.remote_bytes > 0
}

/// The processor time that a task counted, in milliseconds.
fn counted(task: &Task) -> f64 {
    task.metrics.cpu_ns.saturating_add(task.metrics.deserialize_cpu_ns) as f64 / 1e6
}

/// Tasks that executors began cold: their processes load Spark itself, and compile it.
#[derive(Clone, Debug, Default)]
pub struct Starts {
    /// By executor: when the first of the application's tasks had ended there.
    warm: BTreeMap<Arc<str>, i64>,
    /// What a task that begins before takes beyond, in milliseconds.
    pub start: f64,
}

impl Starts {
    /// Where executors began a stage with their first task of all, and others with their first of the stage, the former
    /// took so much more. Where no stage has both, it is not told from the stage's warming up.
    pub fn of(stages: &[Ended], machines: &Machines, cost: Counted) -> Self {
        let mut starts = Self::default();
        for task in stages.iter().flat_map(|(tasks, _)| tasks.values()) {
            let end = ended_there(task);
            let first = starts.warm.entry(task.executor.clone()).or_insert(end);
            *first = end.min(*first);
        }
        let (mut more, mut count) = (0.0, 0.0);
        for (tasks, reads) in stages {
            let ended = ended(tasks);
            let works = works(tasks, &ended, machines, *reads, cost);
            let mean = |cold: bool| mean(tasks, &works, |task| is_first(task, &ended) && starts.is_cold(task) == cold);
            if let (Some((cold, tasks)), Some((warm, _))) = (mean(true), mean(false)) {
                more += (cold - warm) * tasks;
                count += tasks;
            }
        }
        if count > 0.0 {
            starts.start = (more / count).max(0.0);
        }
        starts
    }

    /// Whether an executor began a task before it had ended any.
    fn is_cold(&self, task: &Task) -> bool {
        self.warm.get(&task.executor).is_some_and(|end| task.launch_ms < *end)
    }
}

/// The work of a stage's tasks.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Works {
    /// By place among the stage's tasks: work in milliseconds, without warming up.
    pub of_tasks: BTreeMap<u32, f64>,
    /// What each task took beyond that began on an executor before one of the stage had ended there, in milliseconds.
    /// Zero where a stage has no later tasks to tell it by.
    pub warm_up: f64,
}

impl Works {
    /// Of the tasks of a stage that ended well.
    pub fn of(tasks: &BTreeMap<u32, &Task>, machines: &Machines, starts: &Starts, cost: Counted, reads: Reads) -> Self {
        let ended = ended(tasks);
        let mut of_tasks = works(tasks, &ended, machines, reads, cost);
        for (index, work) in &mut of_tasks {
            if starts.is_cold(tasks[index]) {
                *work = (*work - starts.start).max(0.0);
            }
        }
        let mean = |firsts: bool| mean(tasks, &of_tasks, |task| is_first(task, &ended) == firsts);
        let (Some((first, _)), Some((later, _))) = (mean(true), mean(false)) else {
            return Self { of_tasks, warm_up: 0.0 };
        };
        let warm_up = (first - later).max(0.0);
        for (index, task) in tasks {
            if is_first(task, &ended)
                && let Some(work) = of_tasks.get_mut(index)
            {
                *work = (*work - warm_up).max(0.0);
            }
        }
        Self { of_tasks, warm_up }
    }
}

/// By place among a stage's tasks: all of what they took of cores.
fn works(
    tasks: &BTreeMap<u32, &Task>,
    ended: &BTreeMap<&Arc<str>, i64>,
    machines: &Machines,
    reads: Reads,
    cost: Counted,
) -> BTreeMap<u32, f64> {
    let awaits_broadcast = |task: &Task| reads.awaits_broadcast(task, ended);
    let mut works = tasks.iter().map(|(index, task)| (*index, machines.work(task))).collect();
    if reads.input != Input::None {
        without_reading(tasks, awaits_broadcast, &mut works);
    }
    if let Counted(Some(cost)) = cost {
        let awaits = |task: &Task| awaits_network(task) || awaits_broadcast(task) || reads.input == Input::Scattered;
        for (index, task) in tasks.iter().filter(|(_, task)| awaits(task)) {
            if let Some(work) = works.get_mut(index) {
                *work = work.min(counted(task) * cost);
            }
        }
    }
    works
}

/// By executor: when the first of a stage's tasks had ended there.
fn ended<'a>(tasks: &BTreeMap<u32, &'a Task>) -> BTreeMap<&'a Arc<str>, i64> {
    let mut ended = BTreeMap::new();
    for task in tasks.values() {
        let end = ended_there(task);
        let first = ended.entry(&task.executor).or_insert(end);
        *first = end.min(*first);
    }
    ended
}

/// Whether a task's executor began it before one of its stage had ended there.
fn is_first(task: &Task, ended: &BTreeMap<&Arc<str>, i64>) -> bool {
    ended.get(&task.executor).is_some_and(|end| task.launch_ms < *end)
}

/// The mean work of those tasks of which something holds, and how many they are; none where there are none.
fn mean(tasks: &BTreeMap<u32, &Task>, works: &BTreeMap<u32, f64>, holds: impl Fn(&Task) -> bool) -> Option<(f64, f64)> {
    let works: Vec<f64> = tasks.iter().filter(|(_, task)| holds(task)).map(|(index, _)| works[index]).collect();
    let count = works.len() as f64;
    (count > 0.0).then(|| (works.iter().sum::<f64>() / count, count))
}

/// When a task had ended on its executor. The driver launches the next one there before it takes the result of this one
/// and notes its end: by its notes no task would begin after another.
fn ended_there(task: &Task) -> i64 {
    let of = &task.metrics;
    let ran = of.deserialize_ms.saturating_add(of.run_ms).saturating_add(of.serialize_ms);
    let noted = task.finish_ms.unwrap_or(i64::MAX);
    if ran == 0 { noted } else { task.launch_ms.saturating_add_unsigned(ran).min(noted) }
}

/// Tasks that read their input over the network waited for it, which no log counts: their work is the processor time
/// that they counted, times what a counted second was of the work of tasks with their input at hand.
fn without_reading(
    tasks: &BTreeMap<u32, &Task>,
    awaits_broadcast: impl Fn(&Task) -> bool,
    works: &mut BTreeMap<u32, f64>,
) {
    let near = || tasks.iter().filter(|(_, task)| !is_far(task) && !awaits_broadcast(task));
    let all: f64 = near().map(|(_, task)| counted(task)).sum();
    let worked: f64 = near().map(|(index, _)| works[index]).sum();
    if all <= 0.0 {
        return;
    }
    for (index, task) in tasks.iter().filter(|(_, task)| is_far(task)) {
        if let Some(work) = works.get_mut(index) {
            *work = work.min(counted(task) * worked / all);
        }
    }
}
