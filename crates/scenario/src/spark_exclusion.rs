//! Executors of Spark that get no tasks as some failed there, what is wrong with that, and what has no effect. Defaults
//! are those of Spark's configuration (<https://spark.apache.org/docs/4.1.1/configuration.html>).

use super::check::Check;
use super::key::section;
use super::{Spark, SparkEnd};
use units::Time;

const COUNTS: std::ops::RangeInclusive<u32> = 1..=1_000_000;

section! {
    /// Executors and nodes that get no tasks as some failed there (`spark.excludeOnFailure.enabled`): of one task, of an
    /// attempt at a stage, or of the whole application. Left out: all executors get tasks, as by Spark's default.
    pub struct SparkExclusion {
        /// Whether they are excluded from the application, too (`spark.excludeOnFailure.application.enabled`).
        application: bool = true;
        /// Whether they are excluded from tasks and stages (`spark.excludeOnFailure.taskAndStage.enabled`).
        task_and_stage: bool = true;
        /// Attempts at a task that fail on an executor before it gets no other
        /// (`spark.excludeOnFailure.task.maxTaskAttemptsPerExecutor`).
        task_attempts_per_executor: u32 = 1, COUNTS;
        /// Attempts at a task that fail on a node before it gets no other; less than `spark.task-max-failures`
        /// (`spark.excludeOnFailure.task.maxTaskAttemptsPerNode`).
        task_attempts_per_node: u32 = 2, 1..=999;
        /// Tasks of a stage that fail on an executor before it gets no more of the stage
        /// (`spark.excludeOnFailure.stage.maxFailedTasksPerExecutor`).
        stage_failed_tasks_per_executor: u32 = 2, COUNTS;
        /// Executors of a node that get no more of a stage before the node gets none
        /// (`spark.excludeOnFailure.stage.maxFailedExecutorsPerNode`).
        stage_failed_executors_per_node: u32 = 2, COUNTS;
        /// Tasks that fail on an executor, in stages that succeed, before it gets no more of the application
        /// (`spark.excludeOnFailure.application.maxFailedTasksPerExecutor`).
        application_failed_tasks_per_executor: u32 = 2, COUNTS;
        /// Executors of a node that get no more of the application before the node gets none
        /// (`spark.excludeOnFailure.application.maxFailedExecutorsPerNode`).
        application_failed_executors_per_node: u32 = 2, COUNTS;
        /// After how long a failure no longer counts for the application, and what is excluded from it gets tasks again
        /// (`spark.excludeOnFailure.timeout`).
        timeout: Time = Time::from_secs(3_600), Time::from_ms(1)..=Time::from_secs(604_800);
        /// Whether executors are killed that are excluded from the application, and all of nodes that are, so that
        /// others take their place (`spark.excludeOnFailure.killExcludedExecutors`).
        kill_excluded_executors: bool = false;
        /// Whether an executor is excluded from the application as soon as one task could not fetch from it; with
        /// `spark.shuffle-service` its node (`spark.excludeOnFailure.application.fetchFailure.enabled`).
        fetch_failure: bool = false;
        /// How long a stage waits for another executor when a task of it may run nowhere and an idle executor was killed
        /// for it (`spark.scheduler.excludeOnFailure.unschedulableTaskSetTimeout`).
        unschedulable_timeout: Time = Time::from_secs(120), Time::ZERO..=Time::from_secs(604_800);
    }
}

/// What is wrong with it.
pub(super) fn check(check: &mut Check<'_>, spark: &Spark) {
    let Some(exclusion) = &spark.exclude_on_failure else { return };
    let (per_node, most) = (exclusion.task_attempts_per_node, spark.task_max_failures);
    // `HealthTracker.validateExcludeOnFailureConfs`.
    if exclusion.application && per_node >= most {
        let message = format!(
            "a node gets {per_node} attempts at a task, and the job fails with {most}: Spark refuses to start, as no \
             other node would be tried"
        );
        let path = "spark.exclude-on-failure.task-attempts-per-node";
        let path = if check.states(path) { path } else { "spark.exclude-on-failure" };
        check.says(path, message, "fewer `task-attempts-per-node`, or more `spark.task-max-failures`");
    }
}

/// What has no effect.
pub(super) fn warn(check: &mut Check<'_>, spark: &Spark) {
    let Some(exclusion) = &spark.exclude_on_failure else { return };
    let path = "spark.exclude-on-failure";
    let (of_stages, of_application) = (exclusion.task_and_stage, exclusion.application);
    if !of_stages && !of_application {
        let message = "it has no effect: neither `application` nor `task-and-stage` is on";
        return check.says(path, message, "one of the two, or leave it out");
    }
    let fails = |end: SparkEnd| spark.stage.iter().flat_map(|stage| &stage.attempt).any(|attempt| attempt.end == end);
    let loses = !check.scenario.faults.is_empty() || spark.executor.iter().any(|executor| executor.lost);
    if !fails(SparkEnd::Failed) && !fails(SparkEnd::FetchFailed) && !loses {
        let message = "it has no effect: no attempt at a task fails";
        return check.says(path, message, "[[spark.stage.attempt]] or [[faults]], or leave it out");
    }
    let of_tasks = [
        "task-attempts-per-executor",
        "task-attempts-per-node",
        "stage-failed-tasks-per-executor",
        "stage-failed-executors-per-node",
    ];
    let of_all = [
        "application-failed-tasks-per-executor",
        "application-failed-executors-per-node",
        "timeout",
        "kill-excluded-executors",
        "fetch-failure",
    ];
    for (keys, is_on, switch) in
        [(&of_tasks[..], of_stages, "task-and-stage"), (&of_all[..], of_application, "application")]
    {
        for key in keys {
            let path = format!("{path}.{key}");
            if !is_on && check.states(&path) {
                check.says(&path, format!("it has no effect: `{switch}` is off"), "leave it out");
            }
        }
    }
    let listed = !spark.executor.is_empty() && exclusion.kill_excluded_executors;
    if listed {
        let message = "executors that are killed have none in their place, as [[spark.executor]] says which there are";
        check.says(&format!("{path}.kill-excluded-executors"), message, "leave out one of the two");
    }
}
