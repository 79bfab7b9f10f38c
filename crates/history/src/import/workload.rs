//! A workload of SWIM as a scenario of many jobs.
//!
//! SWIM itself replays a workload with one program whose maps and reducers write random records in given ratios
//! (`WorkGen`), on data scaled by the numbers of machines (`GenerateReplayScript`). The scenario has the same volumes.
//! Where a job shuffles nothing its maps write the output; SWIM's replay gives it a reducer.

use super::many::{Extent, ImportedMany, cluster_of, total};
use super::{Assumption, ImportError, printable, significant};
use crate::swim::SwimJob;
use hadoop::workload::{RECORD_OVERHEAD, Workload};
use scenario::{Generation, Job, Scenario, Scheduler, WorkloadKind};
use std::collections::BTreeMap;
use units::{Bytes, Quantity, Time};

/// What maps make from a byte of input at most; beyond it they make their output themselves.
const MOST_RATIO: f64 = 1_000.0;
/// SWIM's block and bytes per reducer, in its instructions (`README`, section 2); Hadoop 0.20's block too.
const BLOCK: Bytes = Bytes::from_mib(64);
/// Heartbeats of TaskTrackers before Hadoop 1.1 (`MRConstants.HEARTBEAT_INTERVAL_MIN`).
const HEARTBEAT: Time = Time::from_secs(3);
/// A run ends this long after the last submission at the latest.
const PATIENCE: Time = Time::from_secs(86_400);

/// Imports the jobs of a workload that are submitted within an extent.
pub fn workload(name: &str, jobs: &[SwimJob], extent: &Extent) -> Result<ImportedMany, ImportError> {
    let taken: Vec<&SwimJob> = jobs.iter().filter(|job| extent.contains(job.submit)).collect();
    if taken.is_empty() {
        return Err(ImportError::Window(jobs.len()));
    }
    let (mut scenario, mut assumed) = cluster_of(name, extent)?;
    let mut notes = BTreeMap::new();
    let mut note = |key: &str, text: String| drop(notes.insert(key.to_owned(), text));
    if extent.cluster.is_none() {
        scenario.cluster.generation = Generation::Hadoop1;
        scenario.hdfs.block = BLOCK;
        scenario.mapreduce.scheduler = Scheduler::Fair;
        scenario.mapreduce.heartbeat = Some(HEARTBEAT);
        assumed.extend([
            Assumption::new("generation", "hadoop1, heartbeats of 3 s", "SWIM reads and replays Hadoop 0.20"),
            Assumption::new("HDFS block", "64 MiB", "of Hadoop 0.20, and of SWIM's replays"),
            Assumption::new("scheduler", "fair", "Facebook's in 2009 (Zaharia and others, EuroSys 2010)"),
        ]);
    }
    let workers = scenario.cluster.workers;
    let recorded = extent.recorded_nodes.unwrap_or(workers);
    scenario.mapreduce.data_scale = f64::from(workers) / f64::from(recorded);
    note("mapreduce.data-scale", format!("{workers} workers for {recorded} recorded machines"));
    if extent.recorded_nodes.is_none() {
        let why = "the file does not say how many there were: --recorded-nodes (FB-2009 600, FB-2010 3000)";
        assumed.push(Assumption::new("recorded machines", format!("{recorded}, bytes not scaled"), why));
    }
    let each = scenario.hdfs.block;
    scenario.mapreduce.bytes_per_reducer = Some(each);
    note("mapreduce.bytes-per-reducer", "an HDFS block, as in SWIM's instructions".to_owned());
    scenario.job = taken.iter().map(|job| of_job(job, extent.from)).collect();
    let last = scenario.job.last().map_or(Time::ZERO, |job| job.submit);
    scenario.run.until = scenario.run.until.max(last.saturating_add(PATIENCE));
    assumed.extend(assumptions(&scenario));

    let sum = |of: fn(&SwimJob) -> Bytes| total(taken.iter().map(|job| of(job).mul_f64(scenario.mapreduce.data_scale)));
    let heading = [
        format!("{} of {} jobs of a SWIM workload, submitted {}.", taken.len(), jobs.len(), extent.text()),
        format!(
            "Bytes times {} (mapreduce.data-scale: {workers} workers for {recorded} recorded machines): {:.1} of input, \
             {:.1} of shuffle, {:.1} of output before replication.",
            significant(scenario.mapreduce.data_scale),
            sum(|job| job.input),
            sum(|job| job.shuffle),
            sum(|job| job.output),
        ),
    ];
    ImportedMany::new(scenario, heading.to_vec(), assumed, notes)
}

/// What a SWIM workload does not say.
fn assumptions(scenario: &Scenario) -> Vec<Assumption> {
    let costs = Workload::generic().costs;
    let ns = |seconds: f64| significant(seconds * 1e9);
    let cpu = format!("{} ns/B for maps, {} ns/B for reducers", ns(costs.map), ns(costs.reduce));
    let generated = scenario.job.iter().filter(|job| job.generated).count();
    let map_only = scenario.job.iter().filter(|job| job.reducers == Some(0)).count();
    let reducers = format!("one for {} of shuffle and output, at most one per worker", scenario.hdfs.block.exact());
    let mut list = vec![
        Assumption::new("CPU costs", cpu, "workload generic; the durations are not in the file"),
        Assumption::new("records", "of 100 B", "workload generic; SWIM's own replay writes records of 10 KB"),
        Assumption::new("files", "each job reads its own, in whole blocks", "no names: none is popular, none cached"),
        Assumption::new("maps", "one for each block", "the number of maps is not in the file"),
        Assumption::new("reducers", reducers, "SWIM's rule; beyond one per machine SWIM takes a fifth of the machines"),
        Assumption::new("skew", "none: equal shares", "not in the file"),
    ];
    if map_only > 0 {
        let why = "no shuffle; SWIM's replay gives them a reducer";
        list.push(Assumption::new("maps write the output", format!("of {map_only} jobs"), why));
    }
    if generated > 0 {
        let why = "they put out more than 1000 times what they read";
        list.push(Assumption::new("maps make the data", format!("of {generated} jobs"), why));
    }
    list
}

fn of_job(job: &SwimJob, from: Time) -> Job {
    let (input, shuffle, output) = (job.input.get() as f64, job.shuffle.get() as f64, job.output.get() as f64);
    let shuffles = shuffle > 0.0;
    // What leaves the maps: to reducers, or as output.
    let (mapped, overhead) = if shuffles { (shuffle, 1.0 + RECORD_OVERHEAD / RECORD) } else { (output, 1.0) };
    let generated = mapped > MOST_RATIO * input.max(1.0);
    let source = if generated { mapped } else { input.max(1.0) };
    Job {
        name: printable(&job.id),
        workload: WorkloadKind::Generic,
        submit: job.submit.saturating_sub(from),
        input: Bytes::new(units::whole(source)),
        generated,
        map_ratio: Some(mapped / source / overhead),
        reduce_ratio: shuffles.then_some(output / shuffle.max(1.0)),
        reducers: (!shuffles).then_some(0),
        ..Job::default()
    }
}

/// Bytes of a record of workload generic.
const RECORD: f64 = 100.0;
