//! Many jobs at a glance: how long those of each class of size took, and what they waited for in all.

use super::job::{Breakdown, Job, JobState, Waiting};
use units::{Bytes, Time};

/// Up to so many jobs are told one by one; more are summed up. The page has the same number (`summary.ts`).
pub const FEW_JOBS: usize = 3;
/// Upper ends of the classes of size but the last: interactive, small, medium and large jobs.
const CLASSES: [Bytes; 4] = [Bytes::from_mb(1), Bytes::from_mb(100), Bytes::from_mb(10_000), Bytes::from_mb(1_000_000)];

/// The jobs of a class of size. A job's size is what it reads from HDFS, shuffles and writes to HDFS, together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobClass {
    /// The greatest size in it; none for the last, which has no end, and for that of all jobs.
    pub most: Option<Bytes>,
    /// Whether it is that of all jobs.
    pub all: bool,
    /// Jobs in it.
    pub jobs: u64,
    /// Jobs that succeeded. The times are theirs, from submission to finish.
    pub succeeded: u64,
    /// The mean time.
    pub mean: Time,
    /// The median; quantiles are those of the nearest rank.
    pub p50: Time,
    /// The 95th percentile.
    pub p95: Time,
    /// The 99th percentile.
    pub p99: Time,
    /// The longest.
    pub max: Time,
}

impl Job {
    /// What it reads from HDFS, shuffles and writes to HDFS, together.
    pub fn size(&self) -> Bytes {
        let bytes = &self.bytes;
        let read = bytes.hdfs_read_local + bytes.hdfs_read_remote;
        read + bytes.shuffle_local + bytes.shuffle_remote + bytes.written
    }

    /// From submission to finish.
    pub fn took(&self) -> Option<Time> {
        Some(self.finish?.saturating_sub(self.submit))
    }

    /// What most of its time was waited for, and that part of it, 0 to 1.
    pub fn mostly(&self) -> Option<(Waiting, f64)> {
        let total = self.breakdown.total();
        let most = Waiting::ALL.into_iter().rev().max_by_key(|waiting| self.breakdown.of(*waiting))?;
        (total > Time::ZERO).then(|| (most, self.breakdown.of(most).as_secs_f64() / total.as_secs_f64()))
    }
}

/// The classes of size that have jobs, and behind them all jobs.
pub fn job_classes(jobs: &[Job]) -> Vec<JobClass> {
    let class_of = |job: &Job| CLASSES.iter().position(|most| job.size() <= *most).unwrap_or(CLASSES.len());
    let mut classes: Vec<JobClass> = (0..=CLASSES.len())
        .map(|number| {
            let most = CLASSES.get(number).copied();
            JobClass { most, ..class(jobs.iter().filter(|job| class_of(job) == number)) }
        })
        .filter(|class| class.jobs > 0)
        .collect();
    classes.push(JobClass { all: true, ..class(jobs.iter()) });
    classes
}

fn class<'a>(jobs: impl Iterator<Item = &'a Job>) -> JobClass {
    let (mut count, mut times) = (0, Vec::new());
    for job in jobs {
        count += 1;
        times.extend(job.took().filter(|_| job.state == JobState::Succeeded));
    }
    times.sort_unstable();
    // The nearest rank, in per cent.
    let quantile = |percent: usize| times.get((times.len() * percent).div_ceil(100).max(1) - 1).copied();
    let sum: u128 = times.iter().map(|time| u128::from(time.as_ps())).sum();
    let mean = sum / (times.len() as u128).max(1);
    JobClass {
        most: None,
        all: false,
        jobs: count,
        succeeded: times.len() as u64,
        mean: Time::from_ps(u64::try_from(mean).unwrap_or(u64::MAX)),
        p50: quantile(50).unwrap_or_default(),
        p95: quantile(95).unwrap_or_default(),
        p99: quantile(99).unwrap_or_default(),
        max: times.last().copied().unwrap_or_default(),
    }
}

impl JobClass {
    /// Its name: "up to 100 MB", "above 1 TB", "all".
    pub fn name(&self) -> String {
        match (self.all, self.most) {
            (true, _) => "all".to_owned(),
            (false, Some(most)) => format!("up to {most:.0}"),
            (false, None) => format!("above {:.0}", CLASSES[CLASSES.len() - 1]),
        }
    }
}

/// The lengths of all critical paths together, by cause of waiting.
pub fn breakdown_of_all(jobs: &[Job]) -> Breakdown {
    let mut all = Breakdown::default();
    for job in jobs {
        for waiting in Waiting::ALL {
            all.add(waiting, job.breakdown.of(waiting));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::JobBytes;

    fn job(size: u64, seconds: u64) -> Job {
        Job {
            state: JobState::Succeeded,
            submit: Time::from_secs(10),
            finish: Some(Time::from_secs(10 + seconds)),
            bytes: JobBytes {
                hdfs_read_local: Bytes::new(size / 2),
                written: Bytes::new(size - size / 2),
                ..JobBytes::default()
            },
            ..Job::default()
        }
    }

    #[test]
    fn jobs_are_classed_by_size_and_the_last_class_is_all() {
        let mut jobs: Vec<Job> = (1..=100).map(|k| job(1_000_000, k)).collect();
        jobs.push(job(1_000_001, 500));
        jobs.push(Job { state: JobState::Failed, ..job(2_000_000, 900) });
        let classes = job_classes(&jobs);
        let secs = Time::from_secs;
        assert_eq!(classes.len(), 3);
        let small = classes[0];
        assert_eq!((small.most, small.jobs, small.succeeded), (Some(Bytes::from_mb(1)), 100, 100));
        // The k-th of a hundred is the k-th percentile.
        assert_eq!((small.p50, small.p95, small.p99, small.max), (secs(50), secs(95), secs(99), secs(100)));
        assert_eq!(small.mean, Time::from_ms(50_500));
        // A failed job counts, its time does not.
        assert_eq!((classes[1].most, classes[1].jobs, classes[1].succeeded), (Some(Bytes::from_mb(100)), 2, 1));
        assert_eq!((classes[1].p50, classes[1].max), (secs(500), secs(500)));
        assert!(classes[2].all && classes[2].jobs == 102);
    }

    #[test]
    fn most_of_a_time_has_a_cause() {
        let mut jobs = [job(1, 10), job(1, 10)];
        jobs[0].breakdown.add(Waiting::Disk, Time::from_secs(3));
        jobs[0].breakdown.add(Waiting::Cpu, Time::from_secs(1));
        jobs[1].breakdown.add(Waiting::Cpu, Time::from_secs(5));
        assert_eq!(jobs[0].mostly(), Some((Waiting::Disk, 0.75)));
        assert_eq!(breakdown_of_all(&jobs).of(Waiting::Cpu), Time::from_secs(6));
        assert_eq!(Job::default().mostly(), None);
    }
}
