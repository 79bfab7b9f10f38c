//! Executors that got no tasks as some failed there: the settings of that, as Spark 3.1 and later or versions before
//! have them, and what a log says of it.

use super::Application;
use super::executors::is_local;
use super::settings::{time, time_of_seconds};
use scenario::SparkExclusion;
use units::Time;

/// What was excluded, as a log says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Exclusions {
    /// Executors from attempts at stages.
    pub from_stages: usize,
    /// Executors from the application.
    pub from_application: usize,
}

impl Exclusions {
    pub(super) fn of(of: &Application) -> Self {
        let from_stages = of.excluded.iter().filter(|excluded| excluded.stage.is_some()).count();
        Self { from_stages, from_application: of.excluded.len() - from_stages }
    }

    /// Whether there were any of each kind.
    const fn both(self) -> (bool, bool) {
        (self.from_stages > 0, self.from_application > 0)
    }
}

/// A property by its name, or by that before Spark 3.1 (`SparkConf.configsWithAlternatives`).
fn property<'a>(of: &'a Application, name: &str) -> Option<&'a str> {
    let before = match name {
        "spark.excludeOnFailure.killExcludedExecutors" => "spark.blacklist.killBlacklistedExecutors".to_owned(),
        "spark.scheduler.executorTaskExcludeOnFailureTime" => "spark.scheduler.executorTaskBlacklistTime".to_owned(),
        _ => name.replace("excludeOnFailure", "blacklist"),
    };
    of.property(name).or_else(|| of.property(&before)).map(str::trim)
}

/// The settings, where executors were excluded: as was set, or as events of a log say of which the settings are
/// missing. `most` is after how many failures of a task its job fails.
pub(super) fn exclusion(of: &Application, most: u32, notes: &mut Vec<String>) -> Option<SparkExclusion> {
    let switch = |name: &str| property(of, name).and_then(|value| value.parse::<bool>().ok());
    let of_time = |name: &str| property(of, name).and_then(time);
    let before = of_time("spark.scheduler.executorTaskExcludeOnFailureTime");
    let enabled = switch("spark.excludeOnFailure.enabled").or_else(|| before.map(|timeout| timeout > Time::ZERO));
    let (stages, application) = Exclusions::of(of).both();
    let is_on = |name: &str, seen: bool| switch(name).or(enabled).unwrap_or(seen);
    let mut exclusion = SparkExclusion {
        application: is_on("spark.excludeOnFailure.application.enabled", application),
        task_and_stage: is_on("spark.excludeOnFailure.taskAndStage.enabled", stages),
        ..SparkExclusion::default()
    };
    if !exclusion.application && !exclusion.task_and_stage {
        return None;
    }
    // A process of local mode fails its job with the first failure.
    if is_local(of) || most < 2 {
        notes.push(
            "tasks that failed excluded executors, which is left out: a job failed with the first of them".to_owned(),
        );
        return None;
    }
    let mut count = |name: &str, field: &mut u32| {
        let name = format!("spark.excludeOnFailure.{name}");
        match property(of, &name).map(|value| (value, value.parse::<u32>())) {
            Some((_, Ok(value))) => *field = value.clamp(1, 1_000_000),
            Some((value, Err(_))) => {
                notes.push(format!("`{name}` is \"{value}\", which is not understood; the default is assumed"));
            }
            None => {}
        }
    };
    count("task.maxTaskAttemptsPerExecutor", &mut exclusion.task_attempts_per_executor);
    count("task.maxTaskAttemptsPerNode", &mut exclusion.task_attempts_per_node);
    count("stage.maxFailedTasksPerExecutor", &mut exclusion.stage_failed_tasks_per_executor);
    count("stage.maxFailedExecutorsPerNode", &mut exclusion.stage_failed_executors_per_node);
    count("application.maxFailedTasksPerExecutor", &mut exclusion.application_failed_tasks_per_executor);
    count("application.maxFailedExecutorsPerNode", &mut exclusion.application_failed_executors_per_node);
    exclusion.task_attempts_per_node = exclusion.task_attempts_per_node.min(most - 1).min(999);
    if let Some(timeout) = of_time("spark.excludeOnFailure.timeout").or(before).filter(|timeout| *timeout > Time::ZERO)
    {
        exclusion.timeout = timeout;
    }
    exclusion.kill_excluded_executors = switch("spark.excludeOnFailure.killExcludedExecutors").unwrap_or(false);
    exclusion.fetch_failure = switch("spark.excludeOnFailure.application.fetchFailure.enabled").unwrap_or(false);
    let wait = property(of, "spark.scheduler.excludeOnFailure.unschedulableTaskSetTimeout");
    if let Some(wait) = wait.and_then(time_of_seconds) {
        exclusion.unschedulable_timeout = wait;
    }
    Some(exclusion)
}
