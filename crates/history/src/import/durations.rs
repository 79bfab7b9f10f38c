//! Recorded durations as costs, for a job whose history does not show its costs: no CPU time is counted, the machines
//! are not known, or it did not succeed.
//!
//! The scenario gets the recorded plan. Each attempt starts on its host, at its time or when the host has room, and
//! takes the time that it took, net of what is simulated: `runs` fits that remainder by simulation. Volumes are those
//! that were counted, so that reads, fetches and replicas go through the simulated network. Map output is taken as it
//! was shuffled, after combining and compressing.

use super::calibrate::partitions;
use super::network::{self, Shown};
use super::record::{Moments, Record};
use super::{Assumption, significant};
use crate::{Attempt, JobHistory, JobState, Task};
use hadoop::workload::RECORD_OVERHEAD;
use scenario::{
    Generation, Job, Nodes, Plan, PlannedAttempt, PlannedEnd, PlannedKind, Scenario, WorkloadKind, node_name,
};
use std::collections::{BTreeMap, BTreeSet};
use units::{BitRate, Bytes, Quantity, Time};

/// Output per byte of input is written up to this ratio; where more comes of less, the input is taken for larger.
const MOST_RATIO: f64 = 900.0;
/// A counter above this is wrong: no task moves more.
const LARGEST: u64 = 1 << 44;
/// Part of the links' rate that replicas can have used.
const USABLE: f64 = 0.6;
/// What a disk is taken to move in a second beside other streams.
const DISK: f64 = 100e6;
const MOST_DISKS: f64 = 12.0;
/// The longest run that a scenario may have.
const LONGEST: Time = Time::from_secs(86_400 * 180);

/// The job with the tasks that it needed: one that succeeded without some of its tasks
/// (`mapreduce.map.failures.maxpercent`) does without them.
pub fn needed(job: &JobHistory) -> JobHistory {
    let mut job = job.clone();
    if job.state == JobState::Succeeded {
        job.maps.retain(|task| task.successful().is_some());
        job.reduces.retain(|task| task.successful().is_some());
    }
    job
}

/// The generation that runs a job of this identifier: a JobTracker's begins with the date and time of its start
/// (`job_200904211745_0002`), a ResourceManager's with milliseconds since 1970 (`job_1369942127770_1205`).
pub fn generation(job: &JobHistory) -> Generation {
    let cluster = job.id.split('_').nth(1).unwrap_or_default();
    let is_date = cluster.len() == 12 && cluster.starts_with("20") && cluster.bytes().all(|b| b.is_ascii_digit());
    if is_date && job.masters.is_empty() { Generation::Hadoop1 } else { Generation::Yarn }
}

/// Whether the tasks that succeeded count CPU time.
pub fn counts_cpu(job: &JobHistory) -> bool {
    let tasks = job.maps.iter().chain(&job.reduces);
    tasks.filter_map(|task| task.successful()).any(|attempt| attempt.counters.count("CPU_MILLISECONDS") > 0)
}

/// What the history says of a job's volumes.
struct Volumes {
    splits: Vec<Bytes>,
    /// Map output as it is shuffled: bytes without overheads, and records.
    output: f64,
    records: f64,
    shares: Vec<f64>,
}

/// A counter of the attempt that succeeded, or else the most of any attempt.
pub(super) fn counted(task: &Task, counter: &str) -> Option<u64> {
    let of = |attempt: &Attempt| attempt.counters.get(counter).map(|value| value.min(LARGEST));
    task.successful().map_or_else(|| task.attempts.iter().filter_map(of).max(), of)
}

fn total(tasks: &[Task], counter: &str) -> Option<f64> {
    let values: Vec<f64> = tasks.iter().filter_map(|task| counted(task, counter)).map(|value| value as f64).collect();
    (!values.is_empty()).then(|| values.iter().sum())
}

fn volumes(job: &JobHistory, block: Bytes, assumed: &mut Vec<Assumption>) -> Volumes {
    let splits: Vec<Option<u64>> = job
        .maps
        .iter()
        .map(|task| {
            let read = counted(task, "HDFS_BYTES_READ")
                .map(|read| read.saturating_sub(counted(task, "SPLIT_RAW_BYTES").unwrap_or(0)));
            read.filter(|read| *read > 0).or(counted(task, "MAP_INPUT_BYTES")).or(read)
        })
        .collect();
    let (known, read) = splits.iter().flatten().fold((0_u64, 0), |(count, sum), split| (count + 1, sum + split));
    let any_counter = job.maps.iter().chain(&job.reduces).flat_map(|t| &t.attempts).any(|a| !a.counters.is_empty());
    let default = if let Some(mean) = read.checked_div(known) {
        mean
    } else if any_counter {
        0
    } else {
        assumed.push(Assumption::new("job.splits", block.exact(), "the history counts no bytes: a block for each map"));
        block.get()
    };
    let mut splits: Vec<Bytes> = splits.iter().map(|split| Bytes::new(split.unwrap_or(default).max(1))).collect();

    let maps = job.maps.len() as f64;
    let input: f64 = splits.iter().map(|split| split.get() as f64).sum();
    let of_reduces: Vec<Option<f64>> =
        job.reduces.iter().map(|task| counted(task, "REDUCE_SHUFFLE_BYTES").map(|bytes| bytes as f64)).collect();
    let fetched: Vec<f64> = of_reduces.iter().flatten().copied().collect();
    let mean = fetched.iter().sum::<f64>() / fetched.len().max(1) as f64;
    let shares: Vec<f64> = of_reduces.iter().map(|bytes| bytes.unwrap_or(mean)).collect();
    let mut shuffled: f64 = shares.iter().sum();
    if fetched.is_empty() && !job.reduces.is_empty() {
        shuffled = total(&job.maps, "MAP_OUTPUT_BYTES").unwrap_or(if any_counter { 0.0 } else { input });
        let value = format!("{} of map output", Bytes::new(shuffled as u64).exact());
        assumed.push(Assumption::new("job.map-ratio", value, "the history counts no shuffled bytes"));
    }
    let records = total(&job.reduces, "REDUCE_INPUT_RECORDS")
        .filter(|records| *records > 0.0 && !fetched.is_empty())
        .or(total(&job.maps, "MAP_OUTPUT_RECORDS"))
        .unwrap_or(shuffled / 100.0);
    let overheads = records * RECORD_OVERHEAD + partitions(job);
    let output = if job.reduces.is_empty() { 0.0 } else { (shuffled - overheads).max(0.0) };
    if output > input * MOST_RATIO {
        let more = Bytes::new(((output / MOST_RATIO - input) / maps).ceil() as u64);
        for split in &mut splits {
            *split += more;
        }
        let why = "the maps put out 900 times what they read and more: each is taken to read so much more";
        assumed.push(Assumption::new("job.splits", more.exact(), why));
    }
    let shares = if shares.iter().any(|share| *share > 0.0) { shares } else { Vec::new() };
    Volumes { splits, output, records, shares }
}

/// Workers with a replica of each split: the hosts that its task prefers, or where none is recorded the one that read
/// it.
fn split_hosts(job: &JobHistory, record: &Record, number: &dyn Fn(&str) -> Option<u32>) -> Vec<Nodes> {
    let mut ran: BTreeMap<u32, (bool, u32)> = BTreeMap::new();
    for attempt in record.attempts.iter().filter(|attempt| attempt.map) {
        let place = ran.entry(attempt.task).or_insert((false, attempt.node));
        if attempt.succeeded() && !place.0 {
            *place = (true, attempt.node);
        }
    }
    let of = |(place, task): (u32, &Task)| {
        let hosts: BTreeSet<u32> = task.preferred_hosts.iter().filter_map(|host| number(host)).collect();
        let own = ran.get(&place).map_or(1, |(_, node)| *node);
        Nodes::List(if hosts.is_empty() { vec![own] } else { hosts.into_iter().collect() })
    };
    (0..).zip(&job.maps).map(of).collect()
}

fn time(ms: i64) -> Time {
    Time::from_ms(u64::try_from(ms).unwrap_or(0))
}

/// From a map's end until a reduce has heard of it and its fetches begin: half of two polls of a second.
const HEARD: f64 = 1.0;

/// The plan of a job, with a first guess of what is not simulated: all of the recorded durations but the reduces'
/// shuffle, of which what their bytes need on links of `rate` and the news of the last map are simulated.
///
/// A map that did not succeed is taken to have worked as fast as the others.
pub fn plan(record: &Record, shares: &[f64], rate: BitRate) -> Plan {
    let end = |state: JobState| match state {
        JobState::Succeeded => None,
        JobState::Failed => Some(PlannedEnd::Failed),
        JobState::Killed | JobState::Unfinished => Some(PlannedEnd::Killed),
    };
    Plan {
        master: record.master.map(|(node, _)| node_name(node)),
        master_start: record.master.map_or(Time::ZERO, |(_, start)| time(start)),
        launch: Some(time(record.launch)),
        wait: true,
        end: end(record.state),
        reason: record.reason.clone(),
        commit: time(record.finish - record.tasks_end()),
        attempt: record.attempts.iter().map(|attempt| planned(attempt, record, shares, rate)).collect(),
    }
}

fn planned(attempt: &Moments, record: &Record, shares: &[f64], rate: BitRate) -> PlannedAttempt {
    use crate::AttemptState::{Failed, Killed, Succeeded, Unfinished};
    let mut planned = PlannedAttempt {
        kind: if attempt.map { PlannedKind::Map } else { PlannedKind::Reduce },
        task: attempt.task,
        node: node_name(attempt.node),
        start: time(attempt.start),
        end: match attempt.state {
            Succeeded => None,
            Failed => Some(PlannedEnd::Failed),
            Killed | Unfinished => Some(PlannedEnd::Killed),
        },
        ..PlannedAttempt::default()
    };
    if !attempt.succeeded() {
        planned.after = Some(time(attempt.end - attempt.start));
        planned.map = record.mean_map().filter(|_| attempt.map).map(time);
        return planned;
    }
    // What is zero is left out.
    let lasts = |from: i64, to: i64| Some(time(to - from)).filter(|time| *time > Time::ZERO);
    if attempt.map {
        let function = attempt.first_end.unwrap_or(attempt.end);
        planned.map = lasts(attempt.start, function);
        planned.sort = lasts(function, attempt.end);
    } else {
        // Where no phase is recorded, what follows the last map is the reduce function.
        let after_maps = attempt.start.max(record.maps_end().min(attempt.end));
        let (shuffle, sort) = (attempt.first_end.unwrap_or(after_maps), attempt.sort_end);
        let sort = sort.unwrap_or(shuffle).max(shuffle);
        let bytes = shares.get(attempt.task as usize).copied().unwrap_or(0.0);
        let needs = HEARD + bytes * 8.0 / (USABLE * rate.as_bps() as f64);
        let waited = attempt.start.max(record.maps_end().min(shuffle));
        planned.copy = lasts(waited + (needs * 1e3) as i64, shuffle);
        planned.sort = lasts(shuffle, sort);
        planned.reduce = lasts(sort, attempt.end);
    }
    planned.output = attempt.written.map(|bytes| Bytes::new(bytes.min(LARGEST)));
    planned
}

/// Makes the recorded durations the costs of a scenario's job. `free` says that the machines are not known and follow
/// from the record.
pub fn apply(
    scenario: &mut Scenario,
    job: &JobHistory,
    record: &Record,
    number: &dyn Fn(&str) -> Option<u32>,
    free: bool,
    notes: &mut BTreeMap<String, String>,
    assumed: &mut Vec<Assumption>,
) {
    // The calibration's notes are not about what follows.
    notes.retain(|key, _| !key.starts_with("job."));
    if free {
        network(scenario, network::shown(job, record), notes, assumed);
    }
    let mut note = |key: &str, text: &str| {
        notes.insert(key.to_owned(), text.to_owned());
    };
    let volumes = volumes(job, scenario.hdfs.block, assumed);
    let input: f64 = volumes.splits.iter().map(|split| split.get() as f64).sum();
    let plan = plan(record, &volumes.shares, scenario.network.rate);
    let generated = job.reduces.is_empty() && {
        let written = total(&job.maps, "HDFS_BYTES_WRITTEN").unwrap_or(0.0);
        written > 100.0 * input
    };
    let of_outputs = |map: bool| {
        record.succeeded(map).filter_map(|attempt| attempt.written).map(|bytes| bytes.min(LARGEST) as f64).sum::<f64>()
    };
    let (side, reduced) = (of_outputs(true), of_outputs(false));
    let shuffled = (volumes.shares.iter().sum::<f64>() - partitions(job)).max(0.0);
    let ratio = |a: f64, b: f64| if a > 0.0 && b > 0.0 { significant((a / b).min(1000.0)) } else { 0.0 };
    let mut section = Job {
        name: scenario.job.first().map_or_else(String::new, |job| job.name.clone()),
        workload: WorkloadKind::Generic,
        input: volumes.splits.iter().copied().sum(),
        splits: volumes.splits.clone(),
        split_hosts: split_hosts(job, record, number),
        reducers: Some(job.reduces.len() as u32),
        combiner: Some(false),
        map_ratio: Some(significant(volumes.output / input)),
        map_record: (volumes.records > 0.0 && volumes.output > 0.0)
            .then(|| significant((volumes.output / volumes.records).clamp(1.0, 1e9))),
        reduce_ratio: Some(ratio(reduced, shuffled)),
        side_ratio: Some(if generated { 1.0 } else { ratio(side, input) }),
        shares: volumes.shares,
        map_cpu: Some(0.0),
        sort_cpu: Some(0.0),
        spill_cpu: Some(0.0),
        merge_cpu: Some(0.0),
        fetch_cpu: Some(0.0),
        reduce_cpu: Some(0.0),
        ..Job::default()
    };
    note("job.map-ratio", "shuffled bytes less overheads, by input: after combining and compressing");
    note("job.shares", "REDUCE_SHUFFLE_BYTES of each reducer");
    note("job.map-cpu", "the recorded time of each attempt stands in the plan");
    note("job.splits", "HDFS_BYTES_READ less SPLIT_RAW_BYTES of each map");
    note("job.split-hosts", "hosts that each task prefers, else the one that ran it");
    if generated {
        section.workload = WorkloadKind::DfsioWrite;
        (section.input, section.files) = (Bytes::new((side as u64).max(1)), volumes.splits.len() as u32);
        (section.splits, section.split_hosts, section.map_ratio) = (Vec::new(), Vec::new(), None);
        note("job.input", "HDFS_BYTES_WRITTEN of the maps");
    }
    let has_master = scenario.cluster.generation == Generation::Yarn;
    let settings = &mut scenario.mapreduce;
    settings.speculative = false;
    settings.task_variation = 0.0;
    (settings.jvm_start, settings.launch_latency, settings.task_overhead) = (Time::ZERO, Time::ZERO, Time::ZERO);
    if has_master {
        settings.am_start = Time::ZERO;
    }
    (settings.first_start_delays, settings.start_delays) = (Vec::new(), Vec::new());
    if let Some(store) = &mut scenario.object_store {
        (store.s3a.start, store.s3a.write_start, store.s3a.request_cpu) = (Time::ZERO, Time::ZERO, Time::ZERO);
    }
    let below = if has_master { "three" } else { "two" };
    note("mapreduce.jvm-start", &format!("part of the recorded times, as are the {below} below"));
    note("mapreduce.speculative", "the plan has the second attempts that there were");
    note("job.plan.wait", "starts are the earliest ones: an attempt waits for a slot on its host");
    note("job.plan.commit", "from the last attempt's end to the job's");

    room(scenario, record.side_by_side(), free, notes);
    if free {
        machines(scenario, record, &mut section, (side, reduced, shuffled), notes, assumed);
    }
    section.plan = Some(plan);
    // The recorded times hold both.
    (scenario.node.variation, scenario.node.load) = (0.0, 0.0);
    let span = time(record.finish);
    let enough = |time: Time, times: u64| time.max(span.saturating_mul(times)).min(LONGEST);
    scenario.run.until = enough(scenario.run.until, 20);
    if scenario.run.no_progress > Time::ZERO {
        scenario.run.no_progress = enough(scenario.run.no_progress, 2);
    }
    scenario.job = vec![section];
}

/// A node has room for what ran side by side on one.
pub(super) fn room(
    scenario: &mut Scenario,
    (maps, reduces, both): (u32, u32, u32),
    free: bool,
    notes: &mut BTreeMap<String, String>,
) {
    let settings = &mut scenario.mapreduce;
    let ran = "the most that ran side by side on a host";
    if scenario.cluster.generation == Generation::Hadoop1 {
        let slots = |known: u32, ran: u32| if free { ran.clamp(1, 1000) } else { known.max(ran.min(1000)) };
        (settings.map_slots, settings.reduce_slots) =
            (slots(settings.map_slots, maps), slots(settings.reduce_slots, reduces));
        notes.insert("mapreduce.map-slots".into(), ran.into());
        notes.insert("mapreduce.reduce-slots".into(), ran.into());
    } else {
        let task = settings.granted(settings.map_memory).max(settings.granted(settings.reduce_memory));
        let needs = (task * u64::from(both.max(1))).max(settings.granted(settings.am_memory));
        settings.node_memory = Some(match settings.node_memory {
            Some(known) => known.max(needs),
            None => needs,
        });
        notes.insert("mapreduce.node-memory".into(), format!("containers for {ran}"));
        scenario.node.memory = scenario.node.memory.max(needs);
    }
    if free {
        scenario.node.cores = both.clamp(2, 4096);
        notes.insert("node.cores".into(), format!("{ran}, at least two"));
    }
}

/// Bytes of a full packet on an Ethernet by those of its payload.
const ON_THE_WIRE: f64 = 1538.0 / 1448.0;
/// A bound below this, in bit/s, says nothing: links have been faster for longer than there has been Hadoop.
const LITTLE: f64 = 1e6;
const NOT_SHOWN: &str = "no history states it, and no shuffle shows it";
/// Rates that links have, in bit/s, beyond the default one.
const FASTER: [f64; 5] = [10e9, 25e9, 40e9, 100e9, 400e9];

/// The links' rate: the one that the shuffle shows, or else the default one if that is not less than what it shows.
fn network(
    scenario: &mut Scenario,
    shown: Option<Shown>,
    notes: &mut BTreeMap<String, String>,
    assumed: &mut Vec<Assumption>,
) {
    let rate = &mut scenario.network.rate;
    let of = |bps: f64| BitRate::from_bps(two_digits(bps * ON_THE_WIRE) as u64);
    let why = match shown {
        Some(Shown { at_least, plateau: None }) if at_least < LITTLE => NOT_SHOWN.to_owned(),
        None => NOT_SHOWN.to_owned(),
        Some(Shown { plateau: Some(height), .. }) => {
            *rate = of(height);
            notes.insert("network.rate".into(), "at which the shuffle's bytes came".into());
            "about: hosts fetched different volumes at this rate, and their processors were idle".to_owned()
        }
        Some(Shown { at_least, plateau: None }) => {
            let least = of(at_least);
            if least > *rate {
                let faster = FASTER.iter().copied().find(|faster| *faster >= at_least * ON_THE_WIRE);
                *rate = faster.map_or(least, |faster| BitRate::from_bps(faster as u64));
            }
            format!("no history states it; a host fetched at {least}, so it is at least that")
        }
    };
    assumed.push(Assumption::new("network.rate", rate.exact(), why));
}

fn two_digits(value: f64) -> f64 {
    format!("{value:.1e}").parse().unwrap_or(value)
}

/// Machines that can have moved the recorded bytes in the recorded time.
fn machines(
    scenario: &mut Scenario,
    record: &Record,
    section: &mut Job,
    (side, reduced, shuffled): (f64, f64, f64),
    notes: &mut BTreeMap<String, String>,
    assumed: &mut Vec<Assumption>,
) {
    let rate = scenario.network.rate;
    let nodes: BTreeSet<u32> = record.attempts.iter().filter(|a| a.succeeded()).map(|a| a.node).collect();
    let nodes = nodes.len().max(1) as f64;
    let window = |map: bool| {
        let start = record.succeeded(map).map(|a| a.start).min().unwrap_or(0);
        let end = record.succeeded(map).map(|a| a.end).max().unwrap_or(0);
        ((end - start) as f64 / 1e3).max(1.0)
    };
    // The links that carry the replicas are those of all workers.
    let workers = f64::from(scenario.cluster.workers);
    let passes = |replicas: u32, written: f64, seconds: f64| {
        let remote = written * f64::from(replicas - 1);
        remote * 8.0 / nodes.max(workers.min(nodes * 2.0)) / seconds < USABLE * rate.as_bps() as f64
    };
    let of_job = scenario.hdfs.replication;
    let fits = |replicas: &u32| passes(*replicas, side, window(true)) && passes(*replicas, reduced, window(false));
    let replicas = (1..=of_job).rev().find(fits).unwrap_or(1);
    if replicas < of_job {
        section.output_replication = Some(replicas);
        let why = format!("more replicas do not pass over links of {rate} in the recorded time");
        assumed.push(Assumption::new("job.output-replication", replicas.to_string(), why));
    }
    let replicas = f64::from(replicas);
    let need = |bytes: f64, map: bool| bytes / nodes / window(map) / DISK;
    let need = need(side * replicas + shuffled, true).max(need(reduced * replicas + shuffled, false));
    let disks = need.ceil().clamp(1.0, MOST_DISKS) as u32;
    if disks > scenario.node.disks {
        scenario.node.disks = disks;
        notes.insert("node.disks".into(), "that write the recorded bytes in the recorded time".into());
        let why = "fewer do not write the recorded bytes in the recorded time";
        assumed.push(Assumption::new("node.disks", disks.to_string(), why));
    }
}
