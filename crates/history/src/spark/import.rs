//! A scenario from an event log: the stages that ran, with what their tasks took, read and wrote.
//!
//! What a task took but for waiting for shuffle blocks and for writing its own is its work, as far as it had a core
//! ([`super::work`]); waiting is the simulation's affair. So the scenario says what another network, or another number
//! of bytes under way, would change. Files that a task reads or writes are in its work, as no log says where they are;
//! those of RDDs and of scans of SQL whose paths are of HDFS are read there, too.

use super::allocated::{self, has_service, is_dynamic};
use super::excluded::{Exclusions, exclusion};
use super::executors::{Course, is_local, slots};
use super::settings::take;
use super::speculative::joined;
use super::stages::{Group, Ran, groups, ms, of_stage, whole_ms};
use super::started;
use super::work::{Counted, Ended, Machines, Starts};
use super::yarn::{is_on_yarn, on_yarn};
use super::{Application, Stage, Task};
use super::{kept, network};
use crate::beyond;
use crate::import::host_order;
use scenario::{NodeSpec, Run, Scenario, ScenarioError, Spark, SparkFormat, SparkGroup, SparkLevel, node_name};
use std::collections::BTreeMap;
use std::fmt;
use units::{Time, many};

/// A scenario, what is recorded of it, and what is assumed in it.
#[derive(Clone, Debug)]
pub struct SparkImported {
    /// The scenario.
    pub scenario: Scenario,
    /// What the log says of the application.
    pub recorded: SparkRecorded,
    /// What a reader should know: sentences.
    pub notes: Vec<String>,
}

impl SparkImported {
    /// Names the log in the scenario, by its path from the scenario's folder.
    pub fn refer_to(&mut self, log: String) {
        if let Some(spark) = &mut self.scenario.spark {
            spark.history = Some(log);
        }
    }
}

/// Recorded figures.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SparkRecorded {
    /// From the first job's submission to the last one's end, in seconds.
    pub took: f64,
    /// Stages, as the scenario lists them: names, and seconds from the launch of the first task to the end of the last.
    pub stages: Vec<(String, f64)>,
    /// Bytes that tasks wrote for shuffles.
    pub shuffle_write: u64,
    /// Shuffle bytes fetched from other executors.
    pub shuffle_remote: u64,
    /// Shuffle bytes read from a task's own executor.
    pub shuffle_local: u64,
    /// On YARN, from the ApplicationMaster to the last executor that was there before the first job, in seconds.
    pub executors: Option<f64>,
    /// Executors that got no tasks as some failed there, if any.
    pub excluded: Option<Exclusions>,
    /// Bytes that the interfaces of all workers received, where they were counted beside the log.
    pub into_workers: Option<u64>,
}

/// Why a log makes no scenario.
#[derive(Clone, Debug)]
pub enum SparkImportError {
    /// The cluster's scenario is invalid.
    Scenario(ScenarioError),
    /// The log names no executor, nor a task of any.
    Nowhere,
    /// No job of it succeeded.
    Empty,
    /// The cluster's scenario has jobs, traffic or stages of its own.
    Occupied,
    /// It has more tasks than a scenario may have.
    TooLarge(u64),
}

impl fmt::Display for SparkImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scenario(error) => error.fmt(f),
            Self::Nowhere => f.write_str(
                "the log names no executor, nor a task of any, so that it says nothing of where the application ran: if it \
                 is a part of a log, import all parts together",
            ),
            Self::Empty => f.write_str("no job of the application has succeeded: there is nothing to predict"),
            Self::Occupied => f.write_str(
                "the cluster's scenario has a [job], [[traffic]] or [[spark.stage]] of its own: name one with machines, \
                 network and settings",
            ),
            Self::TooLarge(tasks) => {
                write!(f, "the application has {tasks} tasks; up to {} are imported", Spark::MOST_TASKS)
            }
        }
    }
}

impl std::error::Error for SparkImportError {}

/// Makes a scenario of an application. `cluster` is the name and the text of a scenario whose network and TCP are the
/// cluster's.
pub fn import(of: &Application, cluster: Option<(&str, &str)>) -> Result<SparkImported, SparkImportError> {
    let mut notes = Vec::new();
    let (joined, copies) = joined(of);
    let of: &Application = &joined;
    let groups = groups(of, &mut notes);
    if groups.is_empty() {
        return Err(SparkImportError::Empty);
    }
    if of.executors.is_empty() {
        return Err(SparkImportError::Nowhere);
    }
    if is_local(of) {
        notes.push(
            "it ran in local mode, within one process: here in an executor on a worker of its own. No network was between \
             its tasks, so nothing checks what it takes on several workers"
                .to_owned(),
        );
    }
    let all = groups.iter().flat_map(|group| &group.stages).map(|stage| u64::from(stage.tasks)).sum();
    if all > Spark::MOST_TASKS {
        return Err(SparkImportError::TooLarge(all));
    }
    let (mut scenario, spark) = base(cluster)?;
    let last = groups.iter().map(|group| group.finish).max().unwrap_or(groups[0].submit);
    let course = Course::new(of, groups.iter().map(|group| group.submit).collect(), last);
    let hosts = machines(of, &course, &mut scenario);
    let mut spark = settings(of, &course, spark, &mut notes);
    let mut recorded = SparkRecorded::default();
    let mut ran = Ran::of(of, Machines::new(of, &shared(&scenario), &hosts), (&course, &hosts));
    let failed = groups.iter().filter(|group| group.failed).count();
    (spark.task_max_failures, spark.catches_failures) = (ran.max_failures, failed > 0);
    exclusion(of, &mut spark, &mut notes);
    // Without exclusion from tasks a task may be tried on a bad host until its job fails.
    if spark.exclude_on_failure.as_ref().is_some_and(|exclusion| exclusion.task_and_stage) {
        ran.tell_hosts(of, &groups);
    }
    recorded.excluded = (!of.excluded.is_empty()).then(|| Exclusions::of(of));
    ran.readers = kept::readers(&groups, &ran);
    if !ran.readers.is_empty() {
        kept::settings(of, &mut spark, &mut notes);
    }
    let is_listed = executors(of, &course, &mut spark, &hosts, &mut notes);
    let start = if is_listed {
        None
    } else {
        on_yarn(of, (&mut scenario, &mut spark), (course.count(), &ran.machines), &mut notes)
    };
    recorded.executors = start.map(|start| start.last);
    let first = groups[0].submit;
    let begin = begin_asked(of, &groups, &ran.machines, (&mut scenario, &spark)).unwrap_or(first);
    let mut places = BTreeMap::new();
    let of_groups = groups.iter().flat_map(|group| &group.stages);
    let stages: Vec<_> = of_groups.map(|stage| (ran.of_stage(stage), ran.reads(stage))).collect();
    if cluster.is_none() {
        let keeps = |stage: &Stage| ran.readers.contains_key(&stage.id);
        let read = groups.iter().flat_map(|group| &group.stages);
        let read = read.zip(&stages).map(|(stage, (tasks, _))| (keeps(stage), tasks.values().copied().collect()));
        let least = network::at_least(read);
        if let Some(rate) = network::faster(scenario.network.rate, least) {
            let least = least / 1e9;
            notes.push(format!(
                "a host read {least:.1} Gbit/s of others: `network.rate` is that of the next faster link"
            ));
            scenario.network.rate = rate;
        }
    }
    costs_of_driver(&mut spark, &stages);
    // What tasks waited for the network can be told from work where it is simulated as it was; and where tasks count
    // all that they compute, which they do not of Python's workers.
    let python = of.stages.iter().flat_map(|stage| &stage.rdds).any(|rdd| rdd.name.contains("Python"));
    if cluster.is_some() && !python {
        ran.cost = Counted::of(&stages, &ran.machines);
    }
    ran.starts = Starts::of(&stages, &ran.machines, ran.cost);
    spark.executor_start = whole_ms(ran.starts.start);
    let mut before = start.map_or(begin, |start| start.enough);
    for (number, group) in groups.iter().enumerate() {
        spark.pause.push(ms(group.submit - before));
        before = group.finish;
        for stage in &group.stages {
            let mut built = of_stage(stage, (number, group), &mut ran, &mut notes);
            let scanned = ran.scanned.get(&stage.id).filter(|_| !built.inputs.is_empty());
            built.input_files = scanned.map_or(1, |scanned| scanned.files_each(stage.tasks));
            let has_ends = scanned.is_some_and(|scanned| !scanned.of_lines);
            if !built.inputs.is_empty()
                && (has_ends || beyond::without(&mut built.inputs, scenario.hdfs.block) == Some(false))
            {
                built.input_format = SparkFormat::Binary;
            }
            if let Some(&(keeper, level)) = ran.readers.get(&stage.id)
                && let Some(keeper) = places.get(&keeper).and_then(|place: &usize| spark.stage.get_mut(*place))
            {
                built.reads.clone_from(&keeper.name);
                if keeper.persist == SparkLevel::None {
                    (keeper.persist, keeper.kept_sizes) = (level, kept::sizes(&ran.of_stage(stage), stage.tasks));
                }
            }
            places.insert(stage.id, spark.stage.len());
            recorded.stages.push((built.name.clone(), ran.length));
            recorded.shuffle_write = recorded.shuffle_write.saturating_add(ran.written);
            recorded.shuffle_remote = recorded.shuffle_remote.saturating_add(ran.remote);
            recorded.shuffle_local = recorded.shuffle_local.saturating_add(ran.local);
            spark.stage.push(built);
        }
    }
    recorded.took = (before - first).max(0) as f64 / 1e3;
    if ran.unknown > 0 {
        notes.push(format!(
            "no end of {} is in the log, from which events were lost: each takes the mean of its stage's others, or, \
             where most are unknown, what the stage's time leaves it",
            many(ran.unknown, "task")
        ));
    }
    let (count, workers) = &ran.on_hosts;
    if *count > 0 {
        let names: Vec<String> = workers.iter().map(|worker| node_name(*worker)).collect();
        notes.push(format!(
            "{} failed on {}, while tasks did well on other hosts: as many fail there here, of whichever \
             tasks begin there (`only-on`)",
            many(*count, "attempt"),
            names.join(", ")
        ));
    }
    if copies > 0 {
        notes.push(format!(
            "copies of slow tasks were first, {copies} of them: each of these tasks takes the time of both attempts \
             together, which the first would have taken at least"
        ));
    }
    let (readers, far) = ran.of_files;
    if 2 * far > readers {
        notes.push(format!(
            "{far} of {} that read files of HDFS had theirs on no host where a core was free: HDFS may have more nodes \
             than the application. Here the files are on the hosts of executors, so that less of them crosses the \
             network than did",
            many(readers, "task")
        ));
    }
    let (count, schemes) = &ran.elsewhere;
    if *count > 0 {
        let schemes: Vec<String> = schemes.iter().filter(|of| !of.is_empty()).map(|of| format!("`{of}:`")).collect();
        let of = if schemes.is_empty() { String::new() } else { format!(" of {}", schemes.join(", ")) };
        notes.push(format!(
            "scans of {} read files{of} that are not known to be in HDFS: what it took to read them is part of their \
             tasks' work, and stays as it is on another network",
            many(*count, "stage")
        ));
    }
    let (count, part, all) = ran.in_part;
    if count > 0 {
        let (part, all) = (part as f64 / 1e6, all as f64 / 1e6);
        notes.push(format!(
            "{} read {part:.0} MB of the {all:.0} MB that their parents wrote, as queries do that need no more; here \
             they read all of it",
            many(count, "stage")
        ));
    }
    left_out(of, &ran, &mut notes);
    if of.adaptive {
        notes.push(
            "stages that read shuffles have the tasks that adaptive execution made of their partitions then, which no log \
             tells: with other cores or bytes there would be others (`sql`, `tasks` of a stage)"
                .to_owned(),
        );
    }
    if of.cut_off || of.finish_ms.is_none() {
        notes.push(
            "the log breaks off before the application's end: its jobs so far are imported, of those that ran the stages \
             that had ended"
                .to_owned(),
        );
    }
    scenario.name.clone_from(&of.id);
    scenario.run.until = Time::from_secs_f64((recorded.took * 20.0).clamp(3_600.0, Run::LATEST.as_secs_f64()));
    scenario.spark = Some(spark);
    Ok(SparkImported { scenario, recorded, notes })
}

/// Attempts at tasks that are not imported, and how much of the time of all they took.
fn left_out(of: &Application, ran: &Ran, notes: &mut Vec<String>) {
    let took = |task: &Task| (task.finish_ms.unwrap_or(task.launch_ms) - task.launch_ms).max(0) as f64 / 1e3;
    let all: f64 = of.tasks.iter().map(took).sum();
    let (count, left) = (of.tasks.len().saturating_sub(ran.taken), (all - ran.time).max(0.0));
    if count > 0 {
        let part = if all > 0.0 { left / all * 100.0 } else { 0.0 };
        notes.push(format!(
            "attempts at tasks that failed, were killed or run again, or were of jobs that did not succeed, are left \
             out, {count} of them: {left:.1} s of executors' cores, {part:.0} % of all that tasks took; others do not \
             wait for these cores here"
        ));
    }
}

/// The driver's work for a task is no more than what is seen: it took launches and ends of all of a stage's tasks, one
/// after the other, while the stage ran.
fn costs_of_driver(spark: &mut Spark, stages: &[Ended]) {
    let least = stages.iter().filter(|(tasks, _)| tasks.len() >= MANY).filter_map(|(tasks, _)| {
        let first = tasks.values().map(|task| task.launch_ms).min()?;
        let last = tasks.values().filter_map(|task| task.finish_ms).max()?;
        Some((last - first).max(1) as f64 / 1e3 / tasks.len() as f64)
    });
    let (least, both) = (least.fold(f64::INFINITY, f64::min), (spark.launch_cost + spark.status_cost).as_secs_f64());
    if least < both {
        let whole = |cost: Time| Time::from_us((cost.as_secs_f64() * least / both * 1e6) as u64);
        (spark.launch_cost, spark.status_cost) = (whole(spark.launch_cost), whole(spark.status_cost));
    }
}

/// So many tasks of a stage tell what the driver takes for each: the wait for the last of them is little beside.
const MANY: usize = 100;

/// The cluster's scenario, which has nothing to run, and its settings of Spark: it is read with a stage that does
/// nothing.
fn base(cluster: Option<(&str, &str)>) -> Result<(Scenario, Spark), SparkImportError> {
    let (name, text) = cluster.unwrap_or(("spark", ""));
    let with = format!("{text}\n[[spark.stage]]\nname = \"none\"\n");
    match Scenario::parse(name, &with, &[]) {
        Ok(mut scenario) => match scenario.spark.take() {
            Some(spark) if spark.stage.len() == 1 && scenario.job.is_empty() && scenario.traffic.is_empty() => {
                Ok((scenario, Spark { stage: Vec::new(), pause: Vec::new(), ..spark }))
            }
            _ => Err(SparkImportError::Occupied),
        },
        Err(error) => match Scenario::parse(name, text, &[]) {
            Ok(_) => Err(SparkImportError::Occupied),
            Err(_) => Err(SparkImportError::Scenario(error)),
        },
    }
}

/// A worker for each host of executors, with a core for each task at once: of those that share a machine by the
/// cluster's scenario, as far as that has cores. Of others what tasks took holds what they shared. The result is the
/// number of each host's worker.
fn machines(of: &Application, course: &Course, scenario: &mut Scenario) -> BTreeMap<String, u32> {
    let mut names: Vec<&str> = course.hosts().into_iter().collect();
    let cluster = &mut scenario.cluster;
    (cluster.workers, cluster.master) = (units::count(names.len()), None);
    cluster.group.clear();
    let node = &mut scenario.node;
    node.cores = course.most_on_a_host(of).0.clamp(1, 4_096);
    (node.speed, node.variation) = (1.0, 0.0);
    if cluster.host.is_none() {
        node.load = 0.0;
    }
    scenario.hdfs.replication = scenario.hdfs.replication.min(cluster.workers);
    names.sort_by_cached_key(|name| host_order(name));
    names.into_iter().map(str::to_owned).zip(1..).collect()
}

/// Executors that came and went, or, but on YARN, hosts that differ: each is listed with its times. On YARN the
/// ResourceManager's grants are in these times, and it is left out.
fn executors(
    of: &Application,
    course: &Course,
    spark: &mut Spark,
    hosts: &BTreeMap<String, u32>,
    notes: &mut Vec<String>,
) -> bool {
    let is_yarn = is_on_yarn(of);
    if let Some(allocation) = spark.dynamic_allocation.take() {
        if is_dynamic(of) {
            spark.shuffle_service = has_service(of);
            spark.dynamic_allocation = Some(allocation);
            allocated::settings(of, spark, notes);
            notes.push(
                "executors come and go as tasks need them, by the log's `spark.dynamicAllocation` settings, and not when \
                 they did there"
                    .to_owned(),
            );
            return false;
        }
        notes.push(
            "dynamic allocation was off: `[spark.dynamic-allocation]` of the cluster's scenario is left out".to_owned(),
        );
    }
    if course.differ && !course.changes && is_yarn {
        notes.push("hosts had different numbers of executors: here YARN places them anew".to_owned());
    }
    let is_listed = course.changes || course.differ && !is_yarn;
    if is_listed {
        (spark.executor, spark.yarn, spark.executors) = (course.listed(of, hosts), None, 1);
    }
    if course.changes {
        let (count, (lost, back)) = (course.count(), course.went());
        let yarn = if is_yarn { ", without YARN's ResourceManager, whose grants are in these times" } else { "" };
        notes.push(format!(
            "its executors came and went: {count} in all, of which {lost} were lost and {back} given back. They come and go \
             as long after jobs are submitted as they did there ([[spark.executor]]){yarn}"
        ));
        if is_dynamic(of) {
            notes.push(
                "dynamic allocation was on: on another cluster, or at another rate, they would come and go at other times. \
                 With an empty `[spark.dynamic-allocation]` in the scenario of `--cluster` they do so here, as tasks need \
                 them"
                    .to_owned(),
            );
        }
    }
    is_listed
}

/// Where executors of a standalone cluster come as tasks need them, what their processes take (`mapreduce.jvm-start`),
/// and when the run begins, so that those that there are to be at first come when they did. On YARN containers wait for
/// grants and heartbeats, which would be part of these times.
fn begin_asked(
    of: &Application,
    groups: &[Group],
    machines: &Machines,
    (scenario, spark): (&mut Scenario, &Spark),
) -> Option<i64> {
    let allocation = spark.dynamic_allocation.as_ref().filter(|_| !is_on_yarn(of))?;
    let start = started::start(of, allocation, groups, machines);
    let process = &mut scenario.mapreduce.jvm_start;
    *process = start.process.unwrap_or(*process);
    let took = (process.as_secs_f64() * 1e3 / start.share) as i64;
    start.first_ms.map(|at| (at - took).min(groups[0].submit))
}

/// Workers that share a machine by the cluster's scenario: the machine's cores, and other threads on it.
fn shared(scenario: &Scenario) -> BTreeMap<u32, (u32, f64, f64)> {
    let cores = scenario.cluster.host.as_ref().map_or(0, |host| host.cores);
    let load = scenario.node.load * f64::from(cores);
    let nodes = scenario.nodes();
    let of = |(number, node): (u32, &NodeSpec)| Some((number, (node.host?, f64::from(cores), load)));
    (0..).zip(&nodes).skip(1).filter_map(of).collect()
}

/// The settings that were set, where the model knows them, in place of the cluster's.
fn settings(of: &Application, course: &Course, mut spark: Spark, notes: &mut Vec<String>) -> Spark {
    spark.executors = course.most_on_a_host(of).1.clamp(1, 1_000);
    let at_once = of.executors.iter().map(|executor| slots(of, executor.cores)).max();
    spark.executor_cores = at_once.unwrap_or(1).clamp(1, 4_096);
    // What waits for each level have, they have of this one where nothing else is said.
    if of.property("spark.locality.wait").is_some() {
        spark.locality_wait_node = None;
    }
    // Before Spark 4 a task was slow sooner.
    let copies = of.property("spark.speculation").is_some_and(|enabled| enabled.trim() == "true");
    if copies && of.version.split('.').next().and_then(|major| major.parse::<u32>().ok()).is_some_and(|major| major < 4)
    {
        (spark.speculation_multiplier, spark.speculation_quantile) = (1.5, 0.75);
    }
    take(of, &mut spark, notes, |property| property.group == SparkGroup::Scheduling);
    spark
}
