//! What the page shows of many jobs, so that it stays as short as that of a few.

use super::connections::Carried;
use super::data::{Job, JobClass, Segment};
use super::from_run::{cause, job_of, seconds};
use crate::{Balance, FEW_JOBS, RunResult, Waiting, job_classes};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use units::Time;

/// So many jobs, the longest, have their critical path stretch by stretch.
const PATHS: usize = 50;

/// All jobs, in the order of the scenario.
pub fn jobs(result: &RunResult, carried: &Carried) -> Vec<Job> {
    let mut order: Vec<usize> = (0..result.jobs.len()).collect();
    let took = |number: usize| {
        let job = &result.jobs[number];
        job.finish.unwrap_or(result.ended_at).saturating_sub(job.submit)
    };
    order.sort_by_key(|&number| (Reverse(took(number)), number));
    let told: BTreeSet<usize> = order.into_iter().take(PATHS).collect();
    let job = |(number, job): (usize, &crate::Job)| {
        let mut shown = job_of(job, number, result, carried);
        if !told.contains(&number) {
            shown.critical_path = by_cause(job);
        }
        shown
    };
    result.jobs.iter().enumerate().map(job).collect()
}

/// A job's critical path as one stretch for each cause, one behind the other.
fn by_cause(job: &crate::Job) -> Vec<Segment> {
    let mut at = job.submit;
    let mut stretch = |waiting: Waiting| {
        let start = at;
        at += job.breakdown.of(waiting);
        let (start_s, end_s) = (seconds(start), seconds(at));
        Segment { cause: cause(waiting), start_s, end_s, place: String::new(), detail: String::new(), flow: -1 }
    };
    let waits = Waiting::ALL.into_iter().filter(|waiting| job.breakdown.of(*waiting) > Time::ZERO);
    waits.map(&mut stretch).collect()
}

/// The classes of size; none of few jobs.
pub fn classes(result: &RunResult) -> Vec<JobClass> {
    if result.jobs.len() <= FEW_JOBS {
        return Vec::new();
    }
    let class = |class: crate::JobClass| JobClass {
        label: class.name(),
        jobs: class.jobs,
        succeeded: class.succeeded,
        mean_s: seconds(class.mean),
        p50_s: seconds(class.p50),
        p95_s: seconds(class.p95),
        p99_s: seconds(class.p99),
        max_s: seconds(class.max),
    };
    job_classes(&result.jobs).into_iter().map(class).collect()
}

/// The conservation laws. Those of many jobs that hold are one, which has their sums.
pub fn ledger(result: &RunResult) -> Vec<Balance> {
    if result.jobs.len() <= FEW_JOBS {
        return result.ledger.clone();
    }
    let names: BTreeSet<String> = result.jobs.iter().map(|job| format!("{}: ", job.name)).collect();
    let law_of_job = |law: &Balance| {
        // A name may have a colon too: the longest that fits is the job's.
        names.iter().rev().find_map(|name| law.what.strip_prefix(name.as_str())).map(str::to_owned)
    };
    let mut sums: BTreeMap<String, (u64, Balance)> = BTreeMap::new();
    let mut laws = Vec::new();
    for law in &result.ledger {
        let Some(what) = law_of_job(law).filter(|_| law.holds()) else {
            laws.push(law.clone());
            continue;
        };
        let (jobs, sum) = sums.entry(what).or_default();
        *jobs += 1;
        sum.offered = sum.offered.saturating_add(law.offered);
        for (label, value) in &law.accounted {
            match sum.accounted.iter_mut().find(|(known, _)| known == label) {
                Some((_, all)) => *all = all.saturating_add(*value),
                None => sum.accounted.push((label.clone(), *value)),
            }
        }
    }
    let summed = sums.into_iter().map(|(what, (jobs, sum))| Balance { what: format!("{jobs} jobs: {what}"), ..sum });
    laws.extend(summed);
    laws
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::JobState;

    fn run() -> RunResult {
        let job = |k: u64| {
            let mut job = crate::Job {
                name: format!("j{k}"),
                state: JobState::Succeeded,
                submit: Time::from_secs(k),
                finish: Some(Time::from_secs(k + 10 + k)),
                ..crate::Job::default()
            };
            job.breakdown.add(Waiting::Cpu, Time::from_secs(4));
            job.breakdown.add(Waiting::Slot, Time::from_secs(6 + k));
            job
        };
        let law = |k: u64, off| Balance {
            what: format!("j{k}: slots"),
            offered: k + off,
            accounted: vec![("returned".to_owned(), k), ("held".to_owned(), 0)],
        };
        RunResult {
            jobs: (0..60).map(job).collect(),
            ledger: (0..60)
                .map(|k| law(k, u64::from(k == 7)))
                .chain([Balance { what: "packets".into(), ..law(3, 0) }])
                .collect(),
            ..RunResult::default()
        }
    }

    #[test]
    fn paths_of_short_jobs_are_one_stretch_for_each_cause() {
        let run = run();
        let shown = jobs(&run, &Carried::new(&run));
        assert_eq!(shown.len(), 60);
        // The ten shortest: jobs 0 to 9. Their stretches follow each other from submission on.
        let stretches: Vec<_> = shown[9].critical_path.iter().map(|s| (s.cause, s.start_s, s.end_s)).collect();
        assert_eq!(stretches, [("cpu", 9.0, 13.0), ("slot", 13.0, 28.0)]);
        assert!(shown[10].critical_path.is_empty(), "told as it is recorded: these jobs record no path");
    }

    #[test]
    fn laws_of_many_jobs_are_summed_and_a_broken_one_stands_out() {
        let laws = ledger(&run());
        let whats: Vec<_> = laws.iter().map(|law| law.what.as_str()).collect();
        assert_eq!(whats, ["j7: slots", "packets", "59 jobs: slots"]);
        // 0 + 1 + ... + 59, less the seven of the broken one.
        assert_eq!((laws[2].offered, laws[2].accounted[0].1), (1_763, 1_763));
        assert!(!laws[0].holds() && laws[2].holds());
        let few = RunResult { jobs: run().jobs[..2].to_vec(), ..run() };
        assert_eq!(ledger(&few).len(), 61);
        assert!(classes(&few).is_empty() && classes(&run()).len() == 2);
    }
}
