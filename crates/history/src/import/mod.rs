//! Turns a real job's history into a scenario that runs, or a plan that is replayed.
//!
//! The job's volumes come from its counters. CPU costs come from its counters and the wall time of its phases, settings
//! from its configuration, machines and network from a scenario that describes the cluster. Everything else is a
//! default, and the scenario says so.

mod all;
mod busy;
mod calibrate;
mod cluster;
mod coflows;
mod configured;
mod durations;
mod hosts;
mod many;
mod mapping;
mod network;
mod racks;
mod record;
mod replay;
mod settings;
mod spills;
mod store;
mod work;
mod workload;

pub use all::all;
pub use busy::Contention;
pub use calibrate::{Calibration, Combiner, Costs, Given, Shape, calibrate};
pub use cluster::{ClusterError, cluster};
pub use coflows::coflows;
pub use durations::generation;
pub use hosts::Hosts;
pub(crate) use hosts::order as host_order;
pub use many::{Extent, ImportedMany};
pub use record::{Moments, Record};
pub use replay::{UnknownHosts, replay};
pub use settings::{Codec, Counted, Interface, Settings, SettingsError, Uber};
pub use work::{Machines, Work};
pub use workload::workload;

use crate::{JobHistory, JobState, Task, beyond};
use configured::MapCompression;
use hadoop::hdfs::HdfsConfig;
use scenario::{Generation, Hdfs, InputFormat, Job, Nodes, Scenario, ScenarioError, Shape as Bucket, WorkloadKind};
use std::collections::BTreeMap;
use std::fmt::Write;
use units::{Bytes, Quantity, Time, many};

/// What an import uses beside the history.
#[derive(Clone, Debug, Default)]
pub struct Sources<'a> {
    /// Name and text of a scenario with the cluster's machines, network and settings. Its job is replaced.
    pub cluster: Option<(&'a str, &'a str)>,
    /// The configuration and shaping of the run.
    pub settings: Option<Settings>,
    /// The job that wrote the input files, where a history does not say where they are (TestDFSIO).
    pub writer: Option<&'a JobHistory>,
}

/// An imported job.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The scenario.
    pub scenario: Scenario,
    /// What the history revealed.
    pub calibration: Calibration,
    /// The history's hosts as workers.
    pub hosts: Hosts,
    /// The job on its master's clock, where the recorded durations are its costs: its plan waits to be fitted.
    pub record: Option<Record>,
    /// The recorded job, without tasks that it did without.
    pub job: JobHistory,
    /// What the history does not say and is assumed.
    pub assumed: Vec<Assumption>,
    /// Source of each key's value, by the key's path.
    notes: BTreeMap<String, String>,
    heading: String,
}

/// Something that a history does not say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assumption {
    /// The key that it is about.
    pub key: String,
    /// What is assumed.
    pub value: String,
    /// What it is assumed from, or what the history lacks.
    pub why: String,
}

impl Assumption {
    /// Of a key, with the value and its reason.
    pub fn new(key: &str, value: impl Into<String>, why: impl Into<String>) -> Self {
        Self { key: key.to_owned(), value: value.into(), why: why.into() }
    }
}

/// Why a history cannot be imported.
#[derive(Clone, Debug)]
pub enum ImportError {
    /// The cluster's scenario, or a setting of the run, is invalid.
    Scenario(ScenarioError),
    /// The history has hosts beyond the cluster's workers: workers present, workers needed.
    Workers(u32, u32),
    /// The job has no map task.
    Empty(String),
    /// The rate to which links are shaped is invalid.
    Rate(String),
    /// The writing job did not write these files: its name, and the number of files.
    Writer(String, usize),
    /// Nothing of the trace, so many jobs or coflows, is submitted in the time that is taken.
    Window(usize),
    /// Nothing says how many machines there are.
    Nodes,
    /// The last job was submitted so long after the first that no scenario holds both.
    Apart(Time),
}

impl std::fmt::Display for ImportError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Scenario(error) => error.fmt(f),
            Self::Workers(has, needs) => {
                write!(f, "the history names {needs} hosts, and the cluster has {has} workers: set `cluster.workers`")
            }
            Self::Empty(id) => write!(f, "{id} has no map task"),
            Self::Writer(id, files) => {
                write!(f, "{id} has not written the {files} files on hosts of the cluster, one with each map")
            }
            Self::Window(all) => write!(f, "none of its {all} entries begins in this time: see --from and --for"),
            Self::Apart(time) => {
                let days = time.as_secs_f64() / 86_400.0;
                write!(
                    f,
                    "its jobs were submitted up to {days:.0} days apart, and a scenario holds 30: take a part of \
                           them by --from and --for, or name fewer files"
                )
            }
            Self::Nodes => write!(f, "it does not say how many machines there are: set --nodes"),
            Self::Rate(error) => write!(f, "network_rate_per_worker: {error}"),
        }
    }
}

impl std::error::Error for ImportError {}

/// Imports one job.
pub fn import(job: &JobHistory, sources: &Sources) -> Result<Imported, ImportError> {
    let mut job = durations::needed(job);
    let stored = store::counted(&mut job);
    let job = &job;
    if job.maps.is_empty() {
        return Err(ImportError::Empty(job.id.clone()));
    }
    let by_durations = sources.cluster.is_none() || job.state != JobState::Succeeded || !durations::counts_cpu(job);
    let mut assumed = Vec::new();
    let mut notes = BTreeMap::new();
    // A scenario needs a job to be valid; its values are replaced below.
    let mut assignments = vec!["job.workload=\"generic\"".to_owned()];
    let generation = generation(job);
    let settings = sources.settings.iter().flat_map(|settings| &settings.keys);
    for (key, value, property) in settings.filter(|(key, ..)| generation.heeds(key)) {
        assignments.push(format!("{key}={value}"));
        notes.insert((*key).to_owned(), property.clone());
    }
    if sources.cluster.is_none() {
        let workers = Hosts::of(job, None).workers();
        assignments.push(format!("cluster.workers={workers}"));
        fewer_replicas(workers, &mut assignments, &mut assumed);
        if generation == Generation::Hadoop1 {
            assignments.push("cluster.generation=\"hadoop1\"".to_owned());
            notes.insert("cluster.generation".into(), "the job's identifier is a JobTracker's".into());
        }
        notes.insert(
            "cluster.workers".into(),
            "hosts that the history names; their hardware and network are assumed".into(),
        );
    }
    let (file, text) = sources.cluster.unwrap_or((&job.id, ""));
    let mut scenario = Scenario::parse(file, text, &assignments).map_err(ImportError::Scenario)?;
    let jobs: Vec<&JobHistory> = std::iter::once(job).chain(sources.writer).collect();
    let hosts = Hosts::of_all(&jobs, Some(scenario.cluster.workers));
    if hosts.workers() > scenario.cluster.workers {
        return Err(ImportError::Workers(scenario.cluster.workers, hosts.workers()));
    }
    let mut racks = Vec::new();
    if sources.cluster.is_none() {
        racks = racks::apply(&mut scenario, &hosts, &jobs, &mut notes, &mut assumed);
    }
    if let Some(rate) = sources.settings.as_ref().and_then(|s| s.shaped.as_ref()) {
        let rate = rate.parse().map_err(|e: units::ParseError| ImportError::Rate(e.to_string()))?;
        scenario.network.shape = vec![Bucket { rate, ..Bucket::default() }];
    }

    let generic = hadoop::workload::Workload::preset("generic").map(|w| w.costs);
    let [client, client_of_master] = stored.starts(&scenario);
    let given = Given {
        machines: machines(&scenario),
        heartbeat: scenario.mapreduce.am_heartbeat.as_secs_f64(),
        sort_buffer: scenario.mapreduce.io_sort,
        spill_percent: scenario.mapreduce.spill_percent,
        overhead: scenario.mapreduce.task_overhead,
        sort: generic.map_or(0.0, |c| c.sort * 1e9),
        spill: generic.map_or(0.0, |c| c.spill * 1e9),
        block: stored.block(&scenario),
        replication: scenario.hdfs.replication,
        start: (scenario.mapreduce.jvm_start + client).as_secs_f64(),
        master_start: (scenario.mapreduce.jvm_start + scenario.mapreduce.am_start + client_of_master).as_secs_f64(),
        rate: least_rate(&scenario),
        store_rate: stored.rate(&scenario),
        receive: HdfsConfig::default().receive_cpu * 1e9,
    };
    let compression = MapCompression::of(job, sources.settings.as_ref());
    let calibration = calibrate(&MapCompression::plain(compression.as_ref(), job), &hosts, &given);
    scenario.name = printable(&job.id);
    if let Some(start) = calibration.start_up {
        let start = (start - client.as_secs_f64()).max(0.0);
        scenario.mapreduce.jvm_start = rounded(Time::from_secs_f64(start));
        let is_clear = calibration.contention == Contention::None;
        let why = if is_clear {
            "CPU of maps by wall time and sharing of cores, less what they counted"
        } else {
            "the cluster's: a start is not seen apart"
        };
        notes.insert("mapreduce.jvm-start".into(), why.into());
        // Recorded durations hold the load already.
        if let Contention::Load { per_core, .. } = calibration.contention
            && !by_durations
        {
            scenario.node.load = significant(per_core);
            notes.insert("node.load".into(), "cores that the tasks did not get, by what they counted".into());
        }
        if let Some(master) = calibration.master_start {
            let cores = given.machines.cores_of(job.masters.last().and_then(|master| hosts.number(&master.host)));
            let worked = master * busy::share(cores, 1.0, scenario.node.load);
            let own = worked - start - client_of_master.as_secs_f64();
            scenario.mapreduce.am_start = rounded(Time::from_secs_f64(own.max(0.0)));
            notes.insert(
                "mapreduce.am-start".into(),
                format!("AppMaster's start to the job's launch, {master} s, less a JVM and what S3A takes in it"),
            );
        }
    }
    let delays = |list: &[f64]| list.iter().map(|delay| rounded(Time::from_secs_f64(*delay))).collect();
    (scenario.mapreduce.first_start_delays, scenario.mapreduce.start_delays) =
        (delays(&calibration.start_delays[0]), delays(&calibration.start_delays[1]));
    notes.insert(
        "mapreduce.first-start-delays".into(),
        "starts of the first attempts after the AppMaster's heartbeat".into(),
    );
    notes.insert("mapreduce.start-delays".into(), "starts of later ones after their heartbeat".into());
    if calibration.variation > 0.0 {
        scenario.mapreduce.task_variation = significant(calibration.variation);
        notes.insert("mapreduce.task-variation".into(), "of the work of maps of one size".into());
    }
    if scenario.node.variation > 0.0 {
        // The calibrated run differs from the average by as much as the next run will: the variances add.
        scenario.node.variation *= std::f64::consts::SQRT_2;
        scenario.node.variation = significant(scenario.node.variation);
        notes.insert("node.variation".into(), "of one run against another: that of each by the root of two".into());
    }
    if sources.settings.is_none() {
        scenario.mapreduce.speculative = calibration.speculative;
        notes.insert("mapreduce.speculative".into(), "whether the history has second attempts".into());
    }
    scenario.job = vec![job_section(&job.name, &calibration, given.block, &mut notes)];
    if let Some(compression) = &compression {
        compression.write(&mut scenario.job[0], &mut notes);
    }
    if let (Shape::WholeFiles, Some(writer)) = (calibration.shape, sources.writer) {
        let worker = |task: &Task| hosts.number(&task.successful()?.host);
        let writers: Option<Vec<u32>> = writer.maps.iter().map(worker).collect();
        scenario.job[0].file_writers = writers
            .filter(|writers| writers.len() == calibration.splits.len())
            .ok_or_else(|| ImportError::Writer(writer.id.clone(), calibration.splits.len()))?;
        notes.insert("job.file-writers".into(), format!("hosts of the maps of {}", printable(&writer.id)));
    }
    stored.apply(&mut scenario, &mut notes, &mut assumed);
    let record = by_durations.then(|| Record::of(job, &hosts));
    if let Some(record) = &record {
        let number = |host: &str| hosts.number(host);
        let free = sources.cluster.is_none();
        durations::apply(&mut scenario, job, record, &number, free, &mut notes, &mut assumed);
        clocks(record, &mut assumed);
    } else {
        assumed.extend(calibration.assumed.iter().map(|text| Assumption::new("job", "the presets' costs", *text)));
        contended(calibration.contention, &scenario, &mut assumed);
    }
    let settings = sources.settings.as_ref();
    configured::not_compressed(settings, compression.as_ref(), &mut assumed);
    if let Some(section) = scenario.job.first_mut() {
        configured::output_compression(section, settings, &mut notes, &mut assumed);
        configured::sample(section, job, &mut notes);
    }
    configured::combiner(job, settings, &mut notes, &mut assumed);
    configured::uber(&mut scenario, job, settings, &mut notes);
    let heading = heading(job, &hosts, &racks, by_durations, sources.cluster.map(|(file, _)| file));
    let mut imported = Imported { scenario, calibration, hosts, record, job: job.clone(), assumed, notes, heading };
    // What is written must run: a counter out of range is reported here, not when the scenario runs.
    imported.scenario = Scenario::parse(&job.id, &imported.to_toml(), &[]).map_err(ImportError::Scenario)?;
    Ok(imported)
}

impl Imported {
    /// Names the history in the scenario, by its path from the scenario's folder.
    pub fn refer_to(&mut self, history: String) {
        if let [job] = self.scenario.job.as_mut_slice() {
            job.history = Some(history);
            self.notes.insert("job.history".into(), "for the page: recorded above simulated".into());
        }
    }
}

/// Replicas fall to the hosts that there are: a history may not name all of them.
fn fewer_replicas(workers: u32, assignments: &mut Vec<String>, assumed: &mut Vec<Assumption>) {
    let given = assignments.iter().rev().find_map(|set| set.strip_prefix("hdfs.replication="));
    let replicas = given.map_or(Some(Hdfs::default().replication), |given| given.parse().ok());
    if replicas.is_some_and(|replicas| replicas > workers) {
        assignments.push(format!("hdfs.replication={workers}"));
        let why = "the history names no more hosts";
        assumed.push(Assumption::new("hdfs.replication", workers.to_string(), why));
    }
}

/// What the record of a job had to be mended in.
fn clocks(record: &Record, assumed: &mut Vec<Assumption>) {
    let Record { shifted, homeless, left_out, .. } = record;
    let mut add = |count: usize, key: &str, value: &str, why: &str| {
        if count > 0 {
            assumed.push(Assumption::new(key, format!("{value} {}", many(count, "attempt")), why));
        }
    };
    add(*shifted, "job.plan.attempt.start", "moved, of", "their hosts' clocks contradict the master's");
    add(*homeless, "job.plan.attempt.node", "any, for", "the history names no host of theirs");
    add(*left_out, "job.plan.attempt", "none, for", "they never ran");
}

/// What kept the tasks from the cores, where something did.
fn contended(contention: Contention, scenario: &Scenario, assumed: &mut Vec<Assumption>) {
    let start = scenario.mapreduce.jvm_start.exact();
    match contention {
        Contention::None => {}
        Contention::Load { seconds: [could, known], .. } => {
            let why = format!(
                "other work had the cores: of {could:.1} s that maps could have had they are known to have taken \
                 {known:.1}, and the AppMaster's start took as much longer; 0 is a quiet cluster"
            );
            assumed.push(Assumption::new("node.load", scenario.node.load.to_string(), why));
            let why = "the cluster's: beside other work a start is not seen apart";
            assumed.push(Assumption::new("mapreduce.jvm-start", start, why));
        }
        Contention::Waits { seconds: [could, known] } => {
            let why = format!(
                "the cluster's: of {could:.1} s of cores that maps could have had they are known to have taken \
                 {known:.1}: they waited for the network or disks, or other work had the cores. Costs are what tasks \
                 counted, and the scenario may be faster than its job was"
            );
            assumed.push(Assumption::new("mapreduce.jvm-start", start, why));
        }
    }
}

fn machines(scenario: &Scenario) -> Machines {
    let nodes = scenario.nodes();
    let mut cores = Vec::new();
    let mut of_host = BTreeMap::new();
    let mut of_worker = Vec::new();
    for node in nodes.iter().skip(1) {
        let own = cores.len();
        let machine = node.host.map_or(own, |host| *of_host.entry(host).or_insert(own));
        if machine == own {
            let count = match (&scenario.cluster.host, node.host) {
                (Some(host), Some(_)) => host.cores,
                _ => node.hardware.cores,
            };
            cores.push(f64::from(count) * node.hardware.speed);
        }
        of_worker.push(machine);
    }
    Machines { cores, of_worker, latency: scenario.mapreduce.launch_latency.as_secs_f64(), load: scenario.node.load }
}

/// The rate of a worker's link, or to which it is shaped, in bit/s.
fn least_rate(scenario: &Scenario) -> f64 {
    let rates = scenario.network.shape.iter().map(|bucket| bucket.rate).chain([scenario.network.rate]);
    rates.min().map_or(0.0, |rate| rate.as_bps() as f64)
}

fn job_section(name: &str, calibration: &Calibration, block: Bytes, notes: &mut BTreeMap<String, String>) -> Job {
    let mut note = |key: &str, text: &str| {
        notes.insert(format!("job.{key}"), text.to_owned());
    };
    let c = calibration;
    let mut job = Job { name: printable(name), reducers: Some(c.reducers), ..Job::default() };
    let total: Bytes = c.splits.iter().copied().sum();
    match c.shape {
        Shape::Splits => {
            let mut splits = c.splits.clone();
            if beyond::without(&mut splits, block) == Some(false) {
                job.input_format = Some(InputFormat::Binary);
                note("input-format", "no map read beyond its block");
            }
            job.workload = WorkloadKind::Generic;
            (job.input, job.splits) = (splits.iter().copied().sum(), splits);
            note("input", "all splits");
            note("splits", "HDFS_BYTES_READ less SPLIT_RAW_BYTES of each map, and what is beyond whole blocks");
            if c.split_hosts.iter().all(|hosts| !hosts.is_empty()) {
                job.split_hosts = c.split_hosts.iter().cloned().map(Nodes::List).collect();
                note("split-hosts", "hosts that each task prefers");
            }
        }
        Shape::WholeFiles | Shape::Generated => {
            job.workload =
                if c.shape == Shape::WholeFiles { WorkloadKind::DfsioRead } else { WorkloadKind::DfsioWrite };
            (job.input, job.files) = (total, c.splits.len() as u32);
            let counter = if c.shape == Shape::WholeFiles { "HDFS_BYTES_READ" } else { "HDFS_BYTES_WRITTEN" };
            note("input", &format!("{counter} of the maps"));
            note("files", "a file for each map");
            if c.shape == Shape::WholeFiles && c.split_hosts.iter().all(|hosts| !hosts.is_empty()) {
                job.split_hosts = c.split_hosts.iter().cloned().map(Nodes::List).collect();
                note("split-hosts", "hosts that each task prefers: of its control file");
            }
        }
    }
    job.input_record = c.input_record.map(|r| significant(r.max(1.0)));
    note("input-record", "input by MAP_INPUT_RECORDS");
    job.map_ratio = Some(significant(c.map_ratio));
    note("map-ratio", "MAP_OUTPUT_BYTES by input");
    job.map_record = c.map_record.map(|r| significant(r.max(1.0)));
    note("map-record", "MAP_OUTPUT_BYTES by MAP_OUTPUT_RECORDS");
    if let Some(combiner) = &c.combiner {
        job.combiner = Some(true);
        note("combiner", "COMBINE_INPUT_RECORDS is not zero");
        job.combine_keys = Some(combiner.keys.distinct());
        note("combine-keys", "REDUCE_INPUT_GROUPS of all reducers");
        job.combine_exponent = Some(significant(combiner.keys.exponent()));
        note("combine-exponent", "leaves REDUCE_INPUT_RECORDS after combining");
        job.combine_record = Some(significant(combiner.record));
        note("combine-record", "REDUCE_SHUFFLE_BYTES by REDUCE_INPUT_RECORDS, less overheads");
    }
    job.reduce_ratio = Some(significant(c.reduce_ratio));
    note("reduce-ratio", "HDFS_BYTES_WRITTEN by REDUCE_SHUFFLE_BYTES less 6 B of each partition");
    if c.side_ratio > 0.0 {
        job.side_ratio = Some(significant(c.side_ratio));
        note("side-ratio", "HDFS_BYTES_WRITTEN of maps by their input");
    }
    job.shares.clone_from(&c.shares);
    note("shares", "REDUCE_SHUFFLE_BYTES of each reducer");
    let costs = [
        ("map-cpu", &mut job.map_cpu, c.costs.map, "what remains of CPU_MILLISECONDS after sorting and spilling"),
        ("sort-cpu", &mut job.sort_cpu, c.costs.sort, "of the preset, or less if the sort phases show it"),
        ("spill-cpu", &mut job.spill_cpu, c.costs.spill, "sort phases of maps with one spill, else of the preset"),
        ("combine-cpu", &mut job.combine_cpu, c.costs.combine, "sort phases of maps"),
        ("merge-cpu", &mut job.merge_cpu, c.costs.merge, "sort phases of reducers, and of maps with several spills"),
        ("fetch-cpu", &mut job.fetch_cpu, c.costs.fetch, "what remains of the reducers' CPU_MILLISECONDS"),
        ("reduce-cpu", &mut job.reduce_cpu, c.costs.reduce, "reduce phases of reducers"),
    ];
    for (key, place, cost, text) in costs {
        *place = cost.map(significant);
        note(key, text);
    }
    job
}

fn heading(job: &JobHistory, hosts: &Hosts, racks: &[String], by_durations: bool, cluster: Option<&str>) -> String {
    let how = if by_durations { "The recorded durations and volumes of" } else { "Calibrated on the history of" };
    let mut text = format!("# {how} {}", job.id);
    if !job.name.is_empty() {
        let _ = write!(text, " ({})", printable(&job.name));
    }
    let seconds = job.finish_ms.map_or(0.0, |t| (t - job.launch_ms) as f64 / 1e3);
    let end = match job.state {
        JobState::Succeeded => "took",
        JobState::Failed => "failed after",
        JobState::Killed => "was killed after",
        JobState::Unfinished => "has no end in its history and took at least",
    };
    let _ = writeln!(text, ", which {end} {seconds} s from launch to finish.");
    let workers = hosts.iter().map(|(name, number)| (name, format!("worker-{number}")));
    let _ = writeln!(text, "# Hosts: {}.", listed(workers));
    if let Some(line) = racks::line(racks) {
        let _ = writeln!(text, "# {line}");
    }
    match cluster {
        Some(file) => {
            let _ = writeln!(text, "# Machines and network: those of {file}.");
        }
        None => text.push_str("# Machines and network are not in a history: those below are defaults.\n"),
    }
    text.push('\n');
    text
}

/// What names of a history are in the scenario, the first hundred of them: "w1 is worker-1, w2 is worker-2".
fn listed<'n>(mut names: impl Iterator<Item = (&'n str, String)>) -> String {
    const NAMED: usize = 100;
    let named = names.by_ref().take(NAMED).map(|(name, here)| format!("{} is {here}", printable(name)));
    let mut text = named.collect::<Vec<_>>().join(", ");
    let rest = names.count();
    if rest > 0 {
        let _ = write!(text, ", and {rest} more in the order of their names");
    }
    text
}

/// A name without line breaks or other control characters.
fn printable(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).collect()
}

fn significant(value: f64) -> f64 {
    let text = format!("{value:.4e}");
    text.parse().unwrap_or(value)
}

fn rounded(time: Time) -> Time {
    Time::from_ms((time.as_secs_f64() * 1e3).round() as u64)
}

impl Imported {
    /// The scenario for a person to read: keys that differ from the defaults, each with the source of its value.
    pub fn to_toml(&self) -> String {
        let mut text = annotated(&self.heading, &self.scenario, &self.notes);
        if !self.assumed.is_empty() {
            text.push_str("\n# Assumed, as the history does not say:\n");
        }
        for Assumption { key, value, why } in &self.assumed {
            let _ = writeln!(text, "#   {key:<24} {value:<16} {why}");
        }
        text
    }
}

/// The text of a scenario: a heading, and keys that differ from the defaults, each with the source of its value.
fn annotated(heading: &str, scenario: &Scenario, notes: &BTreeMap<String, String>) -> String {
    let mut text = heading.to_owned();
    let mut section = String::new();
    for line in scenario.to_short_toml().lines() {
        if let Some(name) = line.strip_prefix('[') {
            section.clear();
            section.push_str(name.trim_matches(|c| matches!(c, '[' | ']')));
        }
        text.push_str(line);
        let key = line.split_once(" = ").map_or("", |(key, _)| key);
        let path = if section.is_empty() { key.to_owned() } else { format!("{section}.{key}") };
        if let Some(note) = notes.get(&path) {
            let _ = write!(text, "  # {note}");
        }
        text.push('\n');
    }
    text
}
