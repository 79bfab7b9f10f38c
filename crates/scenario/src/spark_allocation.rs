//! Executors of Spark that come and go as tasks need them, what is wrong with that, and what has no effect. Defaults are
//! those of Spark's configuration (<https://spark.apache.org/docs/4.1.1/configuration.html>).

use super::check::Check;
use super::key::section;
use super::{Spark, SparkLevel};
use units::Time;

const EXECUTORS: std::ops::RangeInclusive<u32> = 0..=100_000;
const PATIENCE: std::ops::RangeInclusive<Time> = Time::ZERO..=Time::from_secs(604_800);
const BACKLOG: std::ops::RangeInclusive<Time> = Time::from_ms(1)..=Time::from_secs(604_800);

section! {
    /// Executors that are asked for when tasks wait, and given back when they have none
    /// (`spark.dynamicAllocation.enabled`). Standalone, a worker has room for `spark.executors`. Left out: all are asked
    /// for at the start, and stay.
    pub struct SparkAllocation {
        /// No fewer executors than this (`spark.dynamicAllocation.minExecutors`).
        min_executors: u32 = 0, EXECUTORS;
        /// No more than this (`spark.dynamicAllocation.maxExecutors`). Left out: as many as there is room for.
        max_executors: Option<u32> = None, 1..=100_000;
        /// Executors that are asked for at first, in place of `spark.yarn.instances`
        /// (`spark.dynamicAllocation.initialExecutors`; in Spark the most of this, the least and
        /// `spark.executor.instances`). Left out: `min-executors`.
        initial_executors: Option<u32> = None, EXECUTORS;
        /// Executors for each that all tasks at once would need (`spark.dynamicAllocation.executorAllocationRatio`).
        executor_allocation_ratio: f64 = 1.0, 1e-6..=1.0;
        /// For how long tasks wait before executors are asked for: one, and then twice as many each time
        /// (`spark.dynamicAllocation.schedulerBacklogTimeout`).
        scheduler_backlog_timeout: Time = Time::from_secs(1), BACKLOG;
        /// For how long they then wait before more are. Left out: `scheduler-backlog-timeout`
        /// (`spark.dynamicAllocation.sustainedSchedulerBacklogTimeout`).
        sustained_scheduler_backlog_timeout: Option<Time> = None, BACKLOG;
        /// For how long an executor has no task before it is given back
        /// (`spark.dynamicAllocation.executorIdleTimeout`).
        executor_idle_timeout: Time = Time::from_secs(60), PATIENCE;
        /// For how long one has no task that keeps data sets. Left out: it stays
        /// (`spark.dynamicAllocation.cachedExecutorIdleTimeout`).
        cached_executor_idle_timeout: Option<Time> = None, PATIENCE;
        /// Whether an executor with shuffle files of the job that runs stays. Without `spark.shuffle-service`
        /// (`spark.dynamicAllocation.shuffleTracking.enabled`).
        shuffle_tracking: bool = true;
        /// For how long one has no task that has other shuffle files. Left out: it stays
        /// (`spark.dynamicAllocation.shuffleTracking.timeout`).
        shuffle_tracking_timeout: Option<Time> = None, PATIENCE;
    }
}

impl SparkAllocation {
    /// How many executors are asked for at first.
    pub fn initial(&self) -> u32 {
        self.initial_executors.unwrap_or(0).max(self.min_executors)
    }
}

/// What is wrong with it.
pub(super) fn check(check: &mut Check<'_>, spark: &Spark) {
    let Some(allocation) = &spark.dynamic_allocation else { return };
    let path = |key: &str| format!("spark.dynamic-allocation.{key}");
    let least = allocation.min_executors;
    if let Some(most) = allocation.max_executors.filter(|most| *most < least) {
        let message = format!("no more than {most} executors, and no fewer than {least}");
        check.says(&path("max-executors"), message, format!("{least} or more, or fewer `min-executors`"));
    }
    if !spark.executor.is_empty() {
        let message = "[[spark.executor]] says when executors come and go";
        check.says("spark.dynamic-allocation", message, "leave out one of the two");
    }
    if !allocation.shuffle_tracking && !spark.shuffle_service {
        let message = "executors that are given back would take shuffle files with them that are needed: Spark refuses to \
                       start";
        check.says(&path("shuffle-tracking"), message, "leave it out, or `spark.shuffle-service = true`");
    }
}

/// What has no effect.
pub(super) fn warn(check: &mut Check<'_>, spark: &Spark) {
    let Some(allocation) = &spark.dynamic_allocation else {
        let without = "executors keep their shuffle files as long as they live, and none is killed";
        let kills = spark.exclude_on_failure.is_some() || !check.scenario.faults.is_empty();
        if spark.shuffle_service && !kills && check.states("spark.shuffle-service") {
            check.says("spark.shuffle-service", format!("it has no effect: {without}"), "leave it out");
        }
        return;
    };
    let path = |key: &str| format!("spark.dynamic-allocation.{key}");
    let keeps = spark.stage.iter().any(|stage| stage.persist != SparkLevel::None);
    let tracks = allocation.shuffle_tracking && !spark.shuffle_service;
    let idle = [
        ("cached-executor-idle-timeout", keeps, "no stage has a `persist`"),
        ("shuffle-tracking-timeout", tracks, "shuffle files are not tracked"),
        ("shuffle-tracking", !spark.shuffle_service, "with `spark.shuffle-service` none need be"),
    ];
    for (key, heeded, why) in idle {
        if !heeded && check.states(&path(key)) {
            check.says(&path(key), format!("it has no effect: {why}"), "leave it out");
        }
    }
    if let Some(most) = allocation.max_executors.filter(|most| *most < allocation.initial()) {
        let message = format!("{} executors are asked for at first, more than the most", allocation.initial());
        check.says(&path("initial-executors"), message, format!("at most {most}"));
    }
    if spark.yarn.is_some() && check.states("spark.yarn.instances") {
        let message = "it has no effect: `spark.dynamic-allocation.initial-executors` says how many there are at first";
        check.says("spark.yarn.instances", message, "leave it out");
    }
    let room = match &spark.yarn {
        Some(yarn) => super::spark_yarn::room(check.scenario, spark, yarn),
        None => u64::from(spark.executors) * u64::from(check.scenario.cluster.workers),
    };
    if u64::from(allocation.initial()) > room {
        let message = format!("{} executors are asked for at first, and at most {room} fit", allocation.initial());
        let key = if allocation.initial() == allocation.min_executors { "min-executors" } else { "initial-executors" };
        check.says(&path(key), message, format!("at most {room}, or more workers"));
    }
}
