//! Executors of a log: those that only its tasks name, how many tasks each runs at once, and when they came and went.

use super::stages::ms;
use super::{Application, Executor, TaskEnd};
use scenario::spark_properties::time;
use scenario::{SparkExecutor, SparkUnit, node_name};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use units::Time;

/// Whether an executor is the driver itself, as in local mode; Spark 1 wrote its name so.
pub fn is_driver(id: &str) -> bool {
    matches!(id, "driver" | "<driver>")
}

/// Whether the application ran within one process, its driver.
pub fn is_local(of: &Application) -> bool {
    !of.executors.is_empty() && of.executors.iter().all(|executor| is_driver(&executor.id))
}

/// When tasks of an executor begin or end, and by how many more run then.
type Change = (i64, i64);

/// Executors that run tasks and whose own events are not in the log: Spark drops events that come too fast, and logs
/// are cut. Each has a core for each task that it ran at once. The driver is one only where there are no others.
pub fn unnamed(of: &Application) -> Vec<Executor> {
    let known: BTreeSet<&str> = of.executors.iter().map(|executor| &*executor.id).collect();
    let mut runs: BTreeMap<&Arc<str>, (&str, Vec<Change>)> = BTreeMap::new();
    for task in of.tasks.iter().filter(|task| !known.contains(&*task.executor)) {
        let (_, moments) = runs.entry(&task.executor).or_insert((&task.host, Vec::new()));
        // An end comes before a launch at the same time.
        moments.push((task.launch_ms, 1));
        moments.extend(task.finish_ms.map(|finish| (finish.max(task.launch_ms + 1), -1)));
    }
    let alone = known.is_empty() && runs.keys().all(|id| is_driver(id));
    let mut found = Vec::new();
    for (id, (host, mut moments)) in runs.into_iter().filter(|(id, _)| alone || !is_driver(id)) {
        moments.sort_unstable();
        let mut running = 0;
        let most = moments.iter().map(|(_, change)| {
            running += change;
            running
        });
        let cores = u32::try_from(most.max().unwrap_or(1).max(1)).unwrap_or(1).saturating_mul(task_cpus(of));
        let added_ms = moments.first().map_or(of.start_ms, |(at, _)| *at);
        found.push(Executor { id: Arc::clone(id), host: host.to_owned(), cores, added_ms, ..Executor::default() });
    }
    found
}

/// Cores for each task (`spark.task.cpus`).
fn task_cpus(of: &Application) -> u32 {
    of.property("spark.task.cpus").and_then(|cpus| cpus.trim().parse().ok()).unwrap_or(1).max(1)
}

/// How many tasks an executor of so many cores runs at once, by its cores and by each other resource that tasks ask for
/// (`spark.task.resource.gpu.amount`): of a whole one, several tasks may have parts.
pub fn slots(of: &Application, cores: u32) -> u32 {
    let amount = |name: &str| of.property(name)?.trim().parse::<f64>().ok().filter(|amount| *amount > 0.0);
    let of_resource = |property: &String| {
        let name = property.strip_prefix("spark.task.resource.")?.strip_suffix(".amount")?;
        let (each, all) = (amount(property)?, amount(&format!("spark.executor.resource.{name}.amount"))?);
        // A part such as 0.33 is a third.
        Some(if each <= 1.0 { (1.0 / each + 1e-9).floor() * all } else { (all / each).floor() })
    };
    let others = of.properties.keys().filter_map(of_resource).fold(f64::INFINITY, f64::min);
    let slots = cores / task_cpus(of);
    if others < f64::from(slots) { (others as u32).max(1) } else { slots.max(1) }
}

/// The executors that jobs of a log had.
pub struct Course<'a> {
    /// In the order in which they came, each with when it came and went.
    executors: Vec<(&'a Executor, i64, Option<i64>)>,
    /// How many tasks each runs at once.
    slots: Vec<u32>,
    /// When jobs, as a scenario has them, were submitted, and when the last one ended.
    submits: Vec<i64>,
    last: i64,
    /// Whether some came after the first task's launch, or went before the end.
    pub changes: bool,
    /// Whether hosts had different numbers of them, or they had different numbers of cores.
    pub differ: bool,
}

impl<'a> Course<'a> {
    /// Of a log with jobs that were submitted at these times, in their order, and of which the last one ended then. An
    /// executor was there while tasks ran on it that ended well, whatever its own events say; and one was there until
    /// the end.
    pub fn new(of: &'a Application, submits: Vec<i64>, last: i64) -> Self {
        let first = submits.first().copied().unwrap_or(0);
        let mut ran: BTreeMap<&str, (i64, i64)> = BTreeMap::new();
        for task in of.tasks.iter().filter(|task| task.end == TaskEnd::Succeeded) {
            let finish = task.finish_ms.unwrap_or(task.launch_ms);
            let (launched, ended) = ran.entry(&task.executor).or_insert((task.launch_ms, finish));
            (*launched, *ended) = (task.launch_ms.min(*launched), finish.max(*ended));
        }
        let course = |executor: &'a Executor| {
            let (launched, ended) = ran.get(&*executor.id).copied().unwrap_or((i64::MAX, i64::MIN));
            let removed = executor.removed_ms.map(|removed| removed - told_later(of, &executor.reason));
            (executor, executor.added_ms.min(launched), removed.map(|removed| removed.max(ended)))
        };
        let mut executors: Vec<_> = of.executors.iter().map(course).collect();
        executors.sort_by_key(|(_, added, _)| *added);
        let was_there = |(_, added, removed): &(&Executor, i64, Option<i64>)| {
            *added < last && removed.is_none_or(|removed| removed > first)
        };
        if executors.iter().any(was_there) {
            executors.retain(was_there);
        } else {
            // Times of executors that are none of the jobs' say nothing.
            for (_, added, removed) in &mut executors {
                (*added, *removed) = (first, None);
            }
        }
        if executors.iter().all(|(.., removed)| removed.is_some_and(|removed| removed < last))
            && let Some((.., removed)) = executors.iter_mut().max_by_key(|(.., removed)| *removed)
        {
            *removed = None;
        }
        let launch =
            of.tasks.iter().map(|task| task.launch_ms).filter(|launch| *launch >= first).min().unwrap_or(first);
        let goes = |removed: Option<i64>| removed.is_some_and(|removed| removed < last);
        let changes = executors.iter().any(|(_, added, removed)| *added > launch || goes(*removed));
        let mut by_host: BTreeMap<&str, u32> = BTreeMap::new();
        for (executor, ..) in &executors {
            *by_host.entry(&executor.host).or_default() += 1;
        }
        let cores = executors.first().map_or(0, |(executor, ..)| executor.cores);
        let each = by_host.values().next().copied().unwrap_or(0);
        let differ = by_host.values().any(|count| *count != each)
            || executors.iter().any(|(executor, ..)| executor.cores != cores);
        let slots = executors.iter().map(|(executor, ..)| slots(of, executor.cores)).collect();
        Self { executors, slots, submits, last, changes, differ }
    }

    /// Their hosts.
    pub fn hosts(&self) -> BTreeSet<&'a str> {
        self.executors.iter().map(|(executor, ..)| &*executor.host).collect()
    }

    /// How many there were.
    pub fn count(&self) -> usize {
        self.executors.len()
    }

    /// What they had for tasks between two times, in milliseconds of a task: as a scenario has them, from the start on
    /// where they do not come and go.
    pub fn slots_between(&self, from: i64, to: i64) -> f64 {
        let there = |(_, added, removed): &(&Executor, i64, Option<i64>)| {
            let added = if self.changes { *added } else { from };
            (removed.unwrap_or(i64::MAX).min(to) - from.max(added)).max(0) as f64
        };
        self.executors.iter().zip(&self.slots).map(|(executor, slots)| there(executor) * f64::from(*slots)).sum()
    }

    /// The most tasks at once of all executors on a host, and the most executors.
    pub fn most_on_a_host(&self, of: &Application) -> (u32, u32) {
        let mut changes: BTreeMap<&str, Vec<(i64, i64, i64)>> = BTreeMap::new();
        for (executor, added, removed) in &self.executors {
            let (from, slots) =
                ((*added).max(self.submits.first().copied().unwrap_or(0)), i64::from(slots(of, executor.cores)));
            let of_host = changes.entry(&executor.host).or_default();
            of_host.push((from, slots, 1));
            of_host.extend(removed.map(|removed| (removed.max(from + 1), -slots, -1)));
        }
        let mut most = (0, 0);
        for mut of_host in changes.into_values() {
            of_host.sort_unstable();
            let mut now = (0, 0);
            for (_, slots, count) in of_host {
                now = (now.0 + slots, now.1 + count);
                most = (now.0.max(most.0), now.1.max(most.1));
            }
        }
        let whole = |most: i64| u32::try_from(most).unwrap_or(u32::MAX).max(1);
        (whole(most.0), whole(most.1))
    }

    /// A time, as a scenario has it: from the submission of the last job before it on; from the start of the run before
    /// the first.
    fn moment(&self, at: i64) -> (Option<u32>, Time) {
        match self.submits.partition_point(|submit| *submit <= at) {
            0 => (None, Time::ZERO),
            place => (Some(units::count(place - 1)), ms(at - self.submits[place - 1])),
        }
    }

    /// Each as a scenario has it, on the workers of these numbers.
    pub fn listed(&self, of: &Application, hosts: &BTreeMap<String, u32>) -> Vec<SparkExecutor> {
        let most = self.executors.iter().map(|(executor, ..)| slots(of, executor.cores)).max();
        let as_listed = |(executor, added, removed): &(&Executor, i64, Option<i64>)| {
            let (job, from) = self.moment(*added);
            // Not within the millisecond in which it came.
            let went =
                removed.filter(|removed| *removed < self.last).map(|removed| self.moment(removed.max(added + 1)));
            let slots = slots(of, executor.cores);
            SparkExecutor {
                node: node_name(hosts.get(&executor.host).copied().unwrap_or(1)),
                cores: (Some(slots) != most).then_some(slots),
                from,
                job,
                until: went.map(|(_, until)| until.max(Time::from_ms(1))),
                until_job: went.and_then(|(job, _)| job),
                lost: went.is_some() && !is_given_back(&executor.reason),
            }
        };
        self.executors.iter().map(as_listed).collect()
    }

    /// How many were lost before the end, and how many given back.
    pub fn went(&self) -> (usize, usize) {
        let went = self.executors.iter().filter(|(.., removed)| removed.is_some_and(|at| at < self.last));
        let (mut lost, mut back) = (0, 0);
        for (executor, ..) in went {
            *if is_given_back(&executor.reason) { &mut back } else { &mut lost } += 1;
        }
        (lost, back)
    }
}

/// How long after it had asked for an executor's end the driver took it for gone, in milliseconds: standalone it waits
/// for the Master to say why, which does not (`spark.standalone.executorRemoveDelayOnDisconnection`, since Spark 3.4).
fn told_later(of: &Application, reason: &str) -> i64 {
    let mut version = of.version.split('.').map_while(|part| part.parse::<u32>().ok());
    let version = (version.next().unwrap_or(0), version.next().unwrap_or(0));
    let is_standalone = of.property("spark.master").is_some_and(|master| master.trim().starts_with("spark:"));
    if !is_standalone || version < (3, 4) || !reason.to_ascii_lowercase().contains("killed by driver") {
        return 0;
    }
    let delay = of.property("spark.standalone.executorRemoveDelayOnDisconnection");
    let delay = delay.and_then(|delay| time(delay, SparkUnit::Milliseconds));
    i64::try_from(delay.unwrap_or(Time::from_secs(5)).as_ms()).unwrap_or(0)
}

/// Whether an executor went because the driver wanted it to, by Spark's words: it was idle, or its node is wanted for
/// something else and it went in order. Other reasons are those of a process that ended.
fn is_given_back(reason: &str) -> bool {
    let reason = reason.to_ascii_lowercase();
    [
        "killed by driver",
        "decommission",
        "explicit termination request",
        "deleted by a user or the framework",
        "idle",
        "dynamic allocation",
    ]
    .iter()
    .any(|words| reason.contains(words))
}
