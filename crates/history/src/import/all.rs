//! All jobs of a trace as one scenario: each job as an import of it alone makes it, submitted when it was.
//!
//! What a scenario says once for all jobs (machines, start-up, settings) is that of the job with the most attempts,
//! because its estimates rest on the most. Workers are the hosts of all jobs. Where the recorded durations are the
//! costs of all jobs, each has its plan, and a host has room for what ran side by side on it, of all jobs together.
//! Else the scheduler places the attempts of all.

use super::many::{Extent, ImportedMany};
use super::record::side_by_side;
use super::{
    Assumption, Hosts, ImportError, Imported, Moments, Record, Settings, Sources, durations, import, printable, racks,
    significant,
};
use crate::{JobHistory, JobState};
use scenario::{Job, Network, Nodes, Plan, Scenario, node_name, node_number};
use std::collections::BTreeMap;
use units::{Bytes, Time, many};

/// Jobs left out that are named one by one.
const NAMED: usize = 5;
/// Assumptions of single jobs that are named, those of the most jobs first.
const ASSUMED: usize = 12;
/// The latest submission that a scenario takes.
const LATEST: Time = Time::from_secs(30 * 86_400);
/// Milliseconds that a `Time` holds.
const FARTHEST_MS: u64 = u64::MAX / 1_000_000_000;
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
    let submit = |job: &JobHistory| {
        let since = u64::try_from(job.submit_ms.saturating_sub(first)).unwrap_or(0);
        // Jobs may be years apart, which no `Time` holds: later than the latest is late enough.
        Time::from_ms(since.min(FARTHEST_MS))
    };
    let mut taken: Vec<_> = jobs.iter().filter(|(job, _)| extent.contains(submit(job))).collect();
    taken.sort_by_key(|(job, _)| job.submit_ms);
    let mut imported: Vec<(&JobHistory, Imported)> = Vec::new();
    let mut left_out: Vec<ImportError> = Vec::new();
    for &(job, ref own) in taken {
        let settings = own.clone().or_else(|| sources.settings.clone());
        match import(job, &Sources { settings, ..*sources }) {
            Ok(one) => imported.push((job, one)),
            Err(error) => left_out.push(error),
        }
    }
    let attempts =
        |job: &JobHistory| job.maps.iter().chain(&job.reduces).map(|task| task.attempts.len()).sum::<usize>();
    // Of equal ones the first.
    let Some((largest, model)) = imported.iter().rev().max_by_key(|(job, _)| attempts(job)) else {
        return Err(left_out.into_iter().next().unwrap_or(ImportError::Window(jobs.len())));
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
    let planned = imported.iter().all(|(_, one)| one.record.is_some());
    let (mut notes, mut of_racks, mut racks) = (BTreeMap::new(), Vec::new(), Vec::new());
    if given.is_none() {
        racks = racks::apply(&mut scenario, &hosts, &histories, &mut notes, &mut of_racks);
    }
    if planned {
        let moments = together(&imported, &hosts);
        durations::room(&mut scenario, side_by_side(moments.iter()), given.is_none(), &mut notes);
        machines(&mut scenario, &imported);
    }
    let mut records = Vec::new();
    scenario.job.clear();
    for (job, one) in &imported {
        let times: &mut u32 = seen.entry(job.id.as_str()).or_default();
        *times += 1;
        let number = if *times > 1 { format!("#{times}") } else { String::new() };
        for part in &one.scenario.job {
            let submit = submit(job).saturating_sub(extent.from).saturating_add(part.submit);
            let name = format!("{}{number}", printable(&job.id));
            let part = moved(part, &one.hosts, &hosts);
            let part = if planned { part } else { unplanned(part, one.record.as_ref()) };
            scenario.job.push(Job { name, submit, ..part });
        }
        records.extend(one.record.clone().filter(|_| planned));
    }
    let last = scenario.job.iter().map(|job| job.submit).max().unwrap_or_default();
    if last > LATEST {
        return Err(ImportError::Apart(last));
    }
    scenario.run.until = scenario.run.until.max(last.saturating_add(PATIENCE));

    let mut heading = vec![format!(
        "{} of {} jobs, submitted {} after the first, on {} hosts.",
        imported.len(),
        jobs.len(),
        extent.text(),
        hosts.iter().count()
    )];
    heading.extend(racks::line(&racks));
    heading.extend(left_out.iter().take(NAMED).map(|error| format!("Left out: {error}.")));
    if left_out.len() > NAMED {
        heading.push(format!("Left out: {} more jobs.", left_out.len() - NAMED));
    }
    let whose = format!("those of {}", printable(&largest.id));
    let why = "what is said once for all jobs is of the one with the most attempts";
    let mut assumed = vec![Assumption::new("cluster's settings and start-up", whose, why)];
    let ended = imported.iter().filter(|(job, _)| job.state != JobState::Succeeded).count();
    if ended > 0 && !planned {
        let why = "a plan, which says where attempts fail, is for all jobs or none";
        assumed.push(Assumption::new("failed and killed jobs", format!("{ended} run to their end"), why));
    }
    let mut assumptions: BTreeMap<(&str, &str, &str), usize> = BTreeMap::new();
    assumed.append(&mut of_racks);
    // What is assumed of a plan does not matter without it, and the links and racks are those of all.
    let of_jobs = imported
        .iter()
        .flat_map(|(_, one)| &one.assumed)
        .filter(|of| planned || !of.key.starts_with("job.plan"))
        .filter(|of| !["network.rate", "network.topology", "cluster.group.rack"].contains(&of.key.as_str()));
    for Assumption { key, value, why } in of_jobs {
        *assumptions.entry((key, value, why)).or_default() += 1;
    }
    let mut assumptions: Vec<_> = assumptions.into_iter().collect();
    assumptions.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    for ((key, value, why), count) in assumptions.iter().take(ASSUMED) {
        assumed.push(Assumption::new(key, *value, format!("{why} ({})", many(*count, "job"))));
    }
    if assumptions.len() > ASSUMED {
        let rest = format!("{} more", assumptions.len() - ASSUMED);
        assumed.push(Assumption::new("of single jobs", rest, "--job ID says those of one"));
    }
    if given.is_none() {
        let why = "not in a history: --cluster FILE names your own";
        let rate = scenario.network.rate;
        let shown = if planned && rate != Network::default().rate {
            format!("links of {rate}, which a job's shuffle shows")
        } else {
            "the defaults".to_owned()
        };
        assumed.push(Assumption::new("machines and network", shown, why));
    }
    let mut many = ImportedMany::new(scenario, heading, assumed, notes)?;
    many.records = records;
    Ok(many)
}

/// The attempts of all jobs on one clock and with the numbers of all jobs' hosts.
fn together(imported: &[(&JobHistory, Imported)], hosts: &Hosts) -> Vec<Moments> {
    let first = imported.iter().map(|(job, _)| job.submit_ms).min().unwrap_or_default();
    let mut all = Vec::new();
    for (job, one) in imported {
        let since = job.submit_ms.saturating_sub(first);
        let number = renumbered(&one.hosts, hosts);
        for attempt in one.record.iter().flat_map(|record| &record.attempts) {
            let (start, end) = (attempt.start.saturating_add(since), attempt.end.saturating_add(since));
            all.push(Moments { node: number(attempt.node), start, end, ..attempt.clone() });
        }
    }
    all
}

/// Machines that suffice for each job: the most disks and memory, and the fastest links, that one needs. Links that a
/// shuffle shows are known, and stand before those that are assumed.
fn machines(scenario: &mut Scenario, imported: &[(&JobHistory, Imported)]) {
    let each = || imported.iter().map(|(_, one)| &one.scenario);
    scenario.node.disks = each().map(|one| one.node.disks).max().unwrap_or(1);
    scenario.node.memory = each().map(|one| one.node.memory).chain([scenario.node.memory]).max().unwrap_or_default();
    let assumed = Network::default().rate;
    let rates = || each().map(|one| one.network.rate);
    let shown = rates().filter(|rate| *rate < assumed).max();
    if let Some(rate) = shown.filter(|_| rates().all(|rate| rate <= assumed)).or(rates().max()) {
        scenario.network.rate = rate;
    }
    scenario.run.until = each().map(|one| one.run.until).max().unwrap_or(scenario.run.until);
    scenario.run.no_progress = each().map(|one| one.run.no_progress).max().unwrap_or(scenario.run.no_progress);
}

/// A job without its plan. Where recorded durations stand in for costs, their sums become costs of a byte: the work of
/// all tasks stays, their differences go. Of a reduce that is what comes after its shuffle.
fn unplanned(mut job: Job, record: Option<&Record>) -> Job {
    job.plan = None;
    let Some(record) = record else { return job };
    // Of attempts at one task that succeeded the last counts.
    let done = record.attempts.iter().filter(|attempt| attempt.succeeded());
    let tasks: BTreeMap<_, _> = done.map(|attempt| ((attempt.map, attempt.task), attempt)).collect();
    let (mut of_maps, mut of_reduces) = (0.0, 0.0);
    for ((is_map, _), attempt) in tasks {
        if is_map {
            of_maps += attempt.end.saturating_sub(attempt.start).max(0) as f64 / 1e3;
        } else {
            let from = attempt.first_end.unwrap_or(attempt.start);
            of_reduces += attempt.end.saturating_sub(from).max(0) as f64 / 1e3;
        }
    }
    let splits: Bytes = job.splits.iter().copied().sum();
    let input = if job.splits.is_empty() { job.input } else { splits }.get().max(1) as f64;
    let shuffled = (input * job.map_ratio.unwrap_or(1.0)).max(1.0);
    let cost = |seconds: f64, bytes: f64| Some(significant((seconds / bytes * 1e9).min(MOST_COST)));
    job.map_cpu = cost(of_maps, input);
    job.reduce_cpu = cost(of_reduces, shuffled);
    job
}

/// The greatest cost of a byte, in nanoseconds, that a scenario takes.
const MOST_COST: f64 = 1e9;

/// A job whose hosts have the numbers of all jobs' hosts.
fn moved(job: &Job, own: &Hosts, all: &Hosts) -> Job {
    let number = renumbered(own, all);
    let nodes = |nodes: &Nodes| match nodes {
        Nodes::List(list) => Nodes::List(list.iter().map(|node| number(*node)).collect()),
        other => other.clone(),
    };
    let named = |node: &str| node_number(node).map_or_else(|| node.to_owned(), |node| node_name(number(node)));
    let plan = |plan: &Plan| {
        let mut plan = plan.clone();
        plan.master = plan.master.as_deref().map(named);
        for attempt in &mut plan.attempt {
            attempt.node = named(&attempt.node);
        }
        plan
    };
    Job {
        split_hosts: job.split_hosts.iter().map(nodes).collect(),
        file_writers: job.file_writers.iter().map(|node| number(*node)).collect(),
        plan: job.plan.as_ref().map(plan),
        ..job.clone()
    }
}

/// The number among all jobs' hosts of a host of one job.
fn renumbered(own: &Hosts, all: &Hosts) -> impl Fn(u32) -> u32 {
    let numbers: BTreeMap<u32, u32> =
        own.iter().filter_map(|(name, number)| Some((number, all.number(name)?))).collect();
    move |number| numbers.get(&number).copied().unwrap_or(number)
}
