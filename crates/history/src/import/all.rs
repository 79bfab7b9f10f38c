//! All jobs of a trace as one scenario: each job as an import of it alone makes it, submitted when it was.
//!
//! What a scenario says once for all jobs (machines, slots, start-up, settings) is that of the job with the most
//! attempts, because its estimates rest on the most. Workers are the hosts of all jobs. A recorded plan is of one job
//! alone: the scheduler places the attempts.

use super::many::{Extent, ImportedMany};
use super::{Assumption, Hosts, ImportError, Imported, Settings, Sources, import, printable, significant};
use crate::{JobHistory, JobState};
use hadoop::workload::Workload;
use scenario::{Job, Nodes, PlannedEnd, PlannedKind};
use std::collections::BTreeMap;
use units::{Bytes, Time};

/// Jobs left out that are named one by one.
const NAMED: usize = 5;
/// Assumptions of single jobs that are named, those of the most jobs first.
const ASSUMED: usize = 12;
/// A run ends this long after the last submission at the latest.
const PATIENCE: Time = Time::from_secs(86_400);

/// Imports the jobs, each with its own settings if it has some, that are submitted within an extent, which counts from
/// the first submission of all.
pub fn all(
    name: &str,
    jobs: &[(&JobHistory, Option<Settings>)],
    sources: &Sources,
    extent: &Extent,
) -> Result<ImportedMany, ImportError> {
    let first = jobs.iter().map(|(job, _)| job.submit_ms).min().unwrap_or_default();
    let submit = |job: &JobHistory| Time::from_ms(u64::try_from(job.submit_ms.saturating_sub(first)).unwrap_or(0));
    let mut taken: Vec<_> = jobs.iter().filter(|(job, _)| extent.contains(submit(job))).collect();
    taken.sort_by_key(|(job, _)| job.submit_ms);
    let (mut imported, mut left_out): (Vec<(&JobHistory, Imported)>, Vec<(&str, ImportError)>) = Default::default();
    for &(job, ref own) in taken {
        let settings = own.clone().or_else(|| sources.settings.clone());
        match import(job, &Sources { settings, ..*sources }) {
            Ok(one) => imported.push((job, one)),
            Err(error) => left_out.push((&job.id, error)),
        }
    }
    let attempts =
        |job: &JobHistory| job.maps.iter().chain(&job.reduces).map(|task| task.attempts.len()).sum::<usize>();
    // Of equal ones the first.
    let Some((largest, model)) = imported.iter().rev().max_by_key(|(job, _)| attempts(job)) else {
        return Err(left_out.into_iter().next().map_or(ImportError::Window(jobs.len()), |(_, error)| error));
    };
    let mut scenario = model.scenario.clone();
    name.clone_into(&mut scenario.name);
    let histories: Vec<&JobHistory> = imported.iter().map(|(job, _)| *job).collect();
    let given = sources.cluster.map(|_| scenario.cluster.workers);
    let hosts = Hosts::of_all(&histories, given);
    if given.is_none() {
        scenario.cluster.workers = hosts.workers();
    } else if hosts.workers() > scenario.cluster.workers {
        return Err(ImportError::Workers(scenario.cluster.workers, hosts.workers()));
    }
    let mut seen = BTreeMap::new();
    scenario.job.clear();
    for (job, one) in &imported {
        let times: &mut u32 = seen.entry(job.id.as_str()).or_default();
        *times += 1;
        let number = if *times > 1 { format!("#{times}") } else { String::new() };
        for part in &one.scenario.job {
            let submit = submit(job).saturating_sub(extent.from).saturating_add(part.submit);
            let name = format!("{}{number}", printable(&job.id));
            scenario.job.push(Job { name, submit, ..unplanned(moved(part, &one.hosts, &hosts)) });
        }
    }
    let last = scenario.job.iter().map(|job| job.submit).max().unwrap_or_default();
    scenario.run.until = scenario.run.until.max(last.saturating_add(PATIENCE));

    let mut heading = vec![format!(
        "{} of {} jobs, submitted {} after the first, on {} hosts.",
        imported.len(),
        jobs.len(),
        extent.text(),
        hosts.iter().count()
    )];
    heading.extend(left_out.iter().take(NAMED).map(|(_, error)| format!("Left out: {error}.")));
    if left_out.len() > NAMED {
        heading.push(format!("Left out: {} more jobs.", left_out.len() - NAMED));
    }
    let whose = format!("those of {}", printable(&largest.id));
    let why = "what is said once for all jobs is of the one with the most attempts";
    let mut assumed = vec![Assumption::new("cluster's settings and start-up", whose, why)];
    let ended = imported.iter().filter(|(job, _)| job.state != JobState::Succeeded).count();
    if ended > 0 {
        let why = "a plan, which says where attempts fail, is of one job alone";
        assumed.push(Assumption::new("failed and killed jobs", format!("{ended} run to their end"), why));
    }
    let mut assumptions: BTreeMap<(&str, &str, &str), usize> = BTreeMap::new();
    for Assumption { key, value, why } in imported.iter().flat_map(|(_, one)| &one.assumed) {
        *assumptions.entry((key, value, why)).or_default() += 1;
    }
    let mut assumptions: Vec<_> = assumptions.into_iter().collect();
    assumptions.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    for ((key, value, why), count) in assumptions.iter().take(ASSUMED) {
        assumed.push(Assumption::new(key, *value, format!("{why} ({count} jobs)")));
    }
    if assumptions.len() > ASSUMED {
        let rest = format!("{} more", assumptions.len() - ASSUMED);
        assumed.push(Assumption::new("of single jobs", rest, "--job ID says those of one"));
    }
    if given.is_none() {
        let why = "not in a history: --cluster FILE names your own";
        assumed.push(Assumption::new("machines and network", "the defaults", why));
    }
    ImportedMany::new(scenario, heading, assumed, BTreeMap::new())
}

/// A job without its plan. Recorded durations that the plan adds to the costs become part of them: the work of all
/// tasks stays, their differences go.
fn unplanned(mut job: Job) -> Job {
    let Some(plan) = job.plan.take() else { return job };
    let (mut of_maps, mut of_reduces) = (0.0, 0.0);
    // Of attempts at one task the last that succeeded counts.
    let done = plan.attempt.iter().filter(|attempt| attempt.end.is_none_or(|end| end == PlannedEnd::Succeeded));
    let tasks: BTreeMap<_, _> =
        done.map(|attempt| ((attempt.kind == PlannedKind::Map, attempt.task), attempt)).collect();
    for ((is_map, _), attempt) in tasks {
        let [map, copy, sort, reduce] =
            [attempt.map, attempt.copy, attempt.sort, attempt.reduce].map(|time| time.map_or(0.0, Time::as_secs_f64));
        if is_map {
            of_maps += map + sort;
        } else {
            of_reduces += copy + sort + reduce;
        }
    }
    let splits: Bytes = job.splits.iter().copied().sum();
    let input = if job.splits.is_empty() { job.input } else { splits }.get().max(1) as f64;
    let shuffled: f64 = job.shares.iter().sum();
    let shuffled = if shuffled >= 1.0 { shuffled } else { (input * job.map_ratio.unwrap_or(1.0)).max(1.0) };
    let costs = Workload::generic().costs;
    let with = |cost: Option<f64>, base: f64, seconds: f64, bytes: f64| {
        let more = significant(cost.unwrap_or(base * 1e9) + seconds / bytes * 1e9).min(MOST_COST);
        if seconds > 0.0 { Some(more) } else { cost }
    };
    job.map_cpu = with(job.map_cpu, costs.map, of_maps, input);
    job.reduce_cpu = with(job.reduce_cpu, costs.reduce, of_reduces, shuffled);
    job
}

/// The greatest cost of a byte, in nanoseconds, that a scenario takes.
const MOST_COST: f64 = 1e9;

/// A job whose hosts have the numbers of all jobs' hosts.
fn moved(job: &Job, own: &Hosts, all: &Hosts) -> Job {
    let names: BTreeMap<u32, &str> = own.iter().map(|(name, number)| (number, name)).collect();
    let number = |number: &u32| names.get(number).and_then(|name| all.number(name)).unwrap_or(*number);
    let nodes = |nodes: &Nodes| match nodes {
        Nodes::List(list) => Nodes::List(list.iter().map(number).collect()),
        other => other.clone(),
    };
    Job {
        split_hosts: job.split_hosts.iter().map(nodes).collect(),
        file_writers: job.file_writers.iter().map(number).collect(),
        ..job.clone()
    }
}
