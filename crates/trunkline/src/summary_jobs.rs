//! Many jobs as text: times by class of size, the slowest of them, and what all of them waited for.

use crate::screen::Screen;
use crate::summary::{breakdown, line};
use crate::table::Table;
use results::{Job, JobState, RunResult, breakdown_of_all, job_classes};
use std::fmt::Write;
use units::Time;

/// At most this many jobs are listed: those that took longest, and those that did not succeed.
const LISTED: usize = 10;

/// Adds the jobs of a run.
pub fn of_jobs(text: &mut String, result: &RunResult, screen: &Screen) {
    let jobs = &result.jobs;
    let counted = |state| (jobs.iter().filter(|job| job.state == state).count(), state);
    let states: Vec<_> = [JobState::Succeeded, JobState::Failed, JobState::Unfinished]
        .map(counted)
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, state)| format!("{count} {}", state.name()))
        .collect();
    let first = jobs.iter().map(|job| job.submit).min().unwrap_or_default();
    let last = jobs.iter().map(|job| job.finish.unwrap_or(result.ended_at)).max().unwrap_or_default();
    let rest = format!(", {:.1} from the first submission to the last end", last.saturating_sub(first));
    let good = jobs.iter().all(|job| job.state == JobState::Succeeded);
    let paint = if good { Screen::good } else { Screen::bad };
    let head = format!("{} jobs: {}", jobs.len(), states.join(", "));
    let _ = writeln!(text, "\n{}", screen.wrapped_after(&head, paint, &rest, 0));
    let sum = |of: fn(&Job) -> units::Bytes| jobs.iter().map(of).sum::<units::Bytes>();
    let stored: units::Bytes = jobs.iter().filter_map(|job| job.bytes.store_read).sum();
    let stored =
        if stored == units::Bytes::ZERO { String::new() } else { format!(" and {stored:.1} from the object store") };
    let volumes = format!(
        "read {:.1} from HDFS{stored}, shuffled {:.1}, {:.1} of it over the network, job output {:.1} before replication",
        sum(|job| job.bytes.hdfs_read_local + job.bytes.hdfs_read_remote),
        sum(|job| job.bytes.shuffle_local + job.bytes.shuffle_remote),
        sum(|job| job.bytes.shuffle_remote),
        sum(|job| job.bytes.written),
    );
    line(text, screen, &volumes);
    of_classes(text, jobs, screen);
    let mut longest: Vec<&Job> = jobs.iter().filter(|job| job.state == JobState::Succeeded).collect();
    longest.sort_by_key(|job| std::cmp::Reverse(job.took()));
    list(text, "longest jobs", &longest, result, screen);
    let failed: Vec<&Job> = jobs.iter().filter(|job| job.state != JobState::Succeeded).collect();
    list(text, "jobs that did not succeed", &failed, result, screen);
    for job in failed.iter().take(LISTED).filter(|job| !job.reason.is_empty()) {
        line(text, screen, &format!("{}: {}", job.name, job.reason));
    }
    breakdown(text, result, &breakdown_of_all(jobs), "where the time of all jobs went (critical paths)", screen);
}

fn of_classes(text: &mut String, jobs: &[Job], screen: &Screen) {
    let mut table = Table::new(["jobs by bytes moved", "jobs", "mean", "median", "95 %", "99 %", "longest"])
        .indented(2)
        .optional(&[5, 2]);
    for class in job_classes(jobs) {
        let times = [class.mean, class.p50, class.p95, class.p99, class.max];
        let times = times.map(|time| if class.succeeded == 0 { "-".to_owned() } else { short(time) });
        table.row([class.name(), class.jobs.to_string()].into_iter().chain(times));
    }
    let _ = write!(text, "\n{}", table.shown(screen));
}

fn list(text: &mut String, head: &str, jobs: &[&Job], result: &RunResult, screen: &Screen) {
    if jobs.is_empty() {
        return;
    }
    let heads = [head, "submitted", "took", "maps", "reducers", "moved", "mostly"];
    let mut table = Table::new(heads).indented(2).optional(&[4, 3, 1]);
    for job in jobs.iter().take(LISTED) {
        let mostly = job
            .mostly()
            .map_or_else(|| "-".to_owned(), |(waiting, part)| format!("{} {:.0} %", waiting.name(), part * 100.0));
        table.row([
            job.name.clone(),
            short(job.submit),
            short(job.took().unwrap_or_else(|| result.ended_at.saturating_sub(job.submit))),
            job.maps.to_string(),
            job.reduces.to_string(),
            format!("{:.1}", job.size()),
            mostly,
        ]);
    }
    let _ = write!(text, "\n{}", table.shown(screen));
    if jobs.len() > LISTED {
        line(text, screen, &format!("and {} more", jobs.len() - LISTED));
    }
}

/// A time in seconds, to a tenth.
pub fn short(time: Time) -> String {
    format!("{:.1} s", time.as_secs_f64())
}
