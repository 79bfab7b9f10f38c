//! What slowed a job down, and which setting would change it.
//!
//! Rules look at a run's results. Their kinds, and most thresholds, are those that Dr. Elephant documents for MapReduce
//! (github.com/linkedin/dr-elephant, `app-conf/HeuristicConf.xml`); the account of idle slots is Sparklens' idea. Dr.
//! Elephant sees counters alone and damps a severity by the number of tasks. A simulated run has its critical path, so
//! here the damper is the part of the job's time that a cause accounts for there: a cause off the path is no finding.

mod failures;
mod job;
mod network;
mod shape;
mod skew;
mod spark;
mod store;

use crate::RunResult;
use crate::metrics::{Metrics, figure};
use job::JobView;
use scenario::Scenario;
use units::Time;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// At least 5 % of the job's time.
    Low,
    /// At least 10 %.
    Moderate,
    /// At least 25 %.
    Severe,
    /// At least 50 %.
    Critical,
}

impl Severity {
    /// All of them, rising.
    pub const ALL: [Self; 4] = [Self::Low, Self::Moderate, Self::Severe, Self::Critical];
    /// The part of a job's time from which each one is given.
    const SHARES: [f64; 4] = [0.05, 0.1, 0.25, 0.5];

    /// Its name in tables and on the page.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Moderate => "moderate",
            Self::Severe => "severe",
            Self::Critical => "critical",
        }
    }

    /// The severity of a value against four rising limits; none below the first.
    fn rising(value: f64, limits: [f64; 4]) -> Option<Self> {
        Self::ALL.into_iter().zip(limits).rfind(|(_, limit)| value >= *limit).map(|(severity, _)| severity)
    }

    /// The severity of a value against four falling limits; none above the first.
    fn falling(value: f64, limits: [f64; 4]) -> Option<Self> {
        Self::ALL.into_iter().zip(limits).rfind(|(_, limit)| value <= *limit).map(|(severity, _)| severity)
    }
}

/// A rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// Attempts on a node that was silent, until somebody noticed.
    SilentNode,
    /// Attempts that failed or were killed.
    FailedAttempts,
    /// Attempts that were slow, until a second one was asked for.
    SecondAttempt,
    /// Some maps read much more than others.
    MapBytesSkew,
    /// Some maps take much longer than others.
    MapTimeSkew,
    /// Some reducers get much more than others.
    ReduceBytesSkew,
    /// Some reducers take much longer than others.
    ReduceTimeSkew,
    /// Tasks that are slower than their like, on one node.
    Stragglers,
    /// Maps write their output to disk several times.
    Spills,
    /// The last wave of maps leaves most slots idle.
    SlotWaves,
    /// Too few tasks for the slots that there are.
    IdleSlots,
    /// Maps read their input over the network.
    Locality,
    /// Tasks, or the job's commit, wait for the object store.
    ObjectStore,
    /// Starting tasks takes longer than it should beside their work.
    ShortTasks,
    /// Reducers wait for map output on the network.
    Shuffle,
    /// Reducers, or tasks of Spark, wait for the network to take their output.
    Output,
    /// Retransmission timeouts of TCP.
    TcpTimeouts,
    /// Heartbeats and other intervals of polling.
    Heartbeats,
    /// Tasks of Spark compute.
    Processor,
    /// Tasks of Spark wait for their node's disks.
    Disk,
    /// Executors of Spark start and warm up.
    ExecutorStarts,
    /// Spark's driver: its program, launches of tasks and their ends.
    Driver,
}

impl Rule {
    /// Its name in `result.json`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SilentNode => "silent-node",
            Self::FailedAttempts => "failed-attempts",
            Self::SecondAttempt => "second-attempt",
            Self::MapBytesSkew => "map-bytes-skew",
            Self::MapTimeSkew => "map-time-skew",
            Self::ReduceBytesSkew => "reduce-bytes-skew",
            Self::ReduceTimeSkew => "reduce-time-skew",
            Self::Stragglers => "stragglers",
            Self::Spills => "spills",
            Self::SlotWaves => "slot-waves",
            Self::IdleSlots => "idle-slots",
            Self::Locality => "locality",
            Self::ObjectStore => "object-store",
            Self::ShortTasks => "short-tasks",
            Self::Shuffle => "shuffle",
            Self::Output => "output",
            Self::TcpTimeouts => "tcp-timeouts",
            Self::Heartbeats => "heartbeats",
            Self::Processor => "processor",
            Self::Disk => "disk",
            Self::ExecutorStarts => "executor-starts",
            Self::Driver => "driver",
        }
    }
}

/// A cause of a job's length.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The job: a row of `jobs`; none where it is of the application of Spark.
    pub job: Option<u32>,
    /// The stage of Spark that most of it is in: a row of its stages.
    pub stage: Option<u32>,
    /// The rule that found it.
    pub rule: Rule,
    /// How much it matters.
    pub severity: Severity,
    /// What the cause is, in one sentence.
    pub summary: String,
    /// The figures behind it, with their units.
    pub evidence: String,
    /// What to change, and what there is to gain.
    pub advice: String,
    /// The node that it is about, if it is about one.
    pub node: Option<u32>,
    /// The attempt that it shows in, if it is about one: a row of `attempts`.
    pub attempt: Option<u32>,
    /// The time of the critical path that it accounts for.
    pub cost: Time,
    /// Hadoop's or Spark's properties that change it, by the names of the job's generation, separated by commas.
    pub property: String,
    /// The scenario's keys for these, separated by commas.
    pub key: &'static str,
}

/// The findings of all jobs of a run, or of its application of Spark: of each those that cost most first.
pub fn findings(result: &RunResult, scenario: &Scenario) -> Vec<Finding> {
    let mut attempts: Vec<Vec<u32>> = vec![Vec::new(); result.jobs.len()];
    for (row, attempt) in (0_u32..).zip(&result.attempts) {
        if let Some(own) = attempts.get_mut(attempt.job as usize) {
            own.push(row);
        }
    }
    let mut out = Vec::new();
    for ((number, job), attempts) in (0_u32..).zip(&result.jobs).zip(&attempts) {
        let view = JobView::new(result, scenario, number, job, attempts);
        let mut found = of_job(&view);
        found.sort_by(|a, b| b.cost.cmp(&a.cost).then(b.severity.cmp(&a.severity)).then(a.rule.cmp(&b.rule)));
        out.append(&mut found);
    }
    if let Some(app) = &result.spark {
        let mut found = spark::of_application(result, app, scenario);
        found.sort_by(|a, b| b.cost.cmp(&a.cost).then(a.rule.cmp(&b.rule)));
        out.append(&mut found);
    }
    out
}

fn of_job(view: &JobView<'_>) -> Vec<Finding> {
    let silences = failures::Silences::of(view);
    let mut out = failures::silent_nodes(view, &silences);
    out.extend(failures::failed_attempts(view, &out));
    out.extend(failures::second_attempts(view, &silences));
    let skew = skew::skew(view);
    let uneven = !skew.is_empty();
    out.extend(skew);
    out.extend(shape::spills(view));
    // Uneven tasks leave slots idle at the end too; that is not the number of waves.
    if !uneven {
        out.extend(shape::slot_waves(view));
    }
    out.extend(shape::idle_slots(view));
    out.extend(shape::short_tasks(view));
    out.extend(shape::short_reducers(view));
    out.extend(network::locality(view));
    out.extend(store::object_store(view));
    out.extend(network::shuffle(view));
    out.extend(network::output(view));
    out.extend(network::tcp_timeouts(view));
    out.extend(network::heartbeats(view, &silences.spans()));
    out
}

/// Figures of findings.
pub static FINDINGS: Metrics<Finding> = Metrics {
    name: "findings",
    what: "A cause of a job's length; `docs/models/findings.md` has the rules.",
    file: None,
    metrics: &[
        figure("job", "The job, from 0; null where it is of the application of Spark.")
            .optional_count("number", |finding| finding.job.map(u64::from)),
        figure("stage", "The stage of Spark that most of it is in, from 0.")
            .may_be_absent()
            .optional_count("number", |finding| finding.stage.map(u64::from)),
        figure("rule", "`silent-node`, `reduce-bytes-skew`, `spills`, ...")
            .text(|finding| finding.rule.name().to_owned()),
        figure("severity", "`low`, `moderate`, `severe` or `critical`.")
            .text(|finding| finding.severity.name().to_owned()),
        figure("cost_s", "The time of the critical path that it accounts for.").time(|finding| finding.cost),
        figure("summary", "The cause, in a sentence.").text(|finding| finding.summary.clone()),
        figure("evidence", "The figures behind it.").text(|finding| finding.evidence.clone()),
        figure("advice", "What to change, and what there is to gain.").text(|finding| finding.advice.clone()),
        figure("node", "The node that it is about; empty for none.")
            .text(|finding| finding.node.map(|node| finding.node(node)).unwrap_or_default()),
        figure("attempt", "The attempt that it shows in, as Hadoop names it; empty for none.").text(|finding| {
            let attempt = finding.attempt.and_then(|row| finding.run.attempts.get(row as usize));
            attempt.map(crate::Attempt::title).unwrap_or_default()
        }),
        figure("property", "Hadoop's or Spark's properties that change it; empty where there is none.")
            .text(|finding| finding.property.clone()),
        figure("key", "The scenario's keys for these.").text(|finding| finding.key.to_owned()),
    ],
};

#[cfg(test)]
mod tests {
    use super::Severity;

    #[test]
    fn limits_are_met_from_their_own_value_on() {
        let limits = [2.0, 4.0, 8.0, 16.0];
        let of = |value| Severity::rising(value, limits);
        assert_eq!(
            [of(1.99), of(2.0), of(7.9), of(99.0)],
            [None, Some(Severity::Low), Some(Severity::Moderate), Some(Severity::Critical)]
        );
        let falling = |value| Severity::falling(value, [0.5, 0.4, 0.3, 0.2]);
        assert_eq!([falling(0.51), falling(0.5), falling(0.0)], [None, Some(Severity::Low), Some(Severity::Critical)]);
    }
}
