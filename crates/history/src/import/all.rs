//! All jobs of a trace as one scenario: each job as an import of it alone makes it, submitted when it was.
//!
//! What a scenario says once for all jobs (machines, slots, start-up, settings) is that of the job with the most
//! attempts, because its estimates rest on the most. Workers are the hosts of all jobs. A recorded plan is of one job
//! alone: the scheduler places the attempts.

use super::many::{Assumption, Extent, ImportedMany};
use super::{Hosts, ImportError, Imported, Settings, Sources, import, printable};
use crate::JobHistory;
use scenario::{Job, Nodes};
use std::collections::BTreeMap;
use units::Time;

/// Jobs left out that are named one by one.
const NAMED: usize = 5;
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
            scenario.job.push(Job { name, submit, plan: None, ..moved(part, &one.hosts, &hosts) });
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
    let mut assumptions: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, one) in &imported {
        for assumption in &one.calibration.assumed {
            *assumptions.entry(assumption).or_default() += 1;
        }
    }
    for (text, count) in assumptions {
        assumed.push(Assumption::new(format!("of {count} jobs"), text, "the history does not say it"));
    }
    if given.is_none() {
        let why = "not in a history: --cluster FILE names your own";
        assumed.push(Assumption::new("machines and network", "the defaults", why));
    }
    ImportedMany::new(scenario, heading, assumed, BTreeMap::new())
}

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
