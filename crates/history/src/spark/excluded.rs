//! Executors that got no tasks as some failed there: the settings of that, as Spark 3.1 and later or versions before
//! have them, and what a log says of it.

use super::Application;
use super::executors::is_local;
use super::settings::{property, take};
use scenario::spark_properties::time;
use scenario::{Spark, SparkExclusion, SparkGroup, SparkUnit};
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

/// The settings, where executors were excluded: as was set, or as events of a log say of which the settings are
/// missing.
pub(super) fn exclusion(of: &Application, spark: &mut Spark, notes: &mut Vec<String>) {
    spark.exclude_on_failure = None;
    let switch = |name: &str| property(of, name).and_then(|value| value.parse::<bool>().ok());
    let before = property(of, "spark.scheduler.executorTaskExcludeOnFailureTime");
    let before = before.and_then(|timeout| time(timeout, SparkUnit::Milliseconds));
    let enabled = switch("spark.excludeOnFailure.enabled").or_else(|| before.map(|timeout| timeout > Time::ZERO));
    let (stages, application) = Exclusions::of(of).both();
    let is_on = |name: &str, seen: bool| switch(name).or(enabled).unwrap_or(seen);
    let mut exclusion = SparkExclusion {
        application: is_on("spark.excludeOnFailure.application.enabled", application),
        task_and_stage: is_on("spark.excludeOnFailure.taskAndStage.enabled", stages),
        ..SparkExclusion::default()
    };
    if !exclusion.application && !exclusion.task_and_stage {
        return;
    }
    // A process of local mode fails its job with the first failure.
    let most = spark.task_max_failures;
    if is_local(of) || most < 2 {
        notes.push(
            "tasks that failed excluded executors, which is left out: a job failed with the first of them".to_owned(),
        );
        return;
    }
    exclusion.timeout = before.filter(|timeout| *timeout > Time::ZERO).unwrap_or(exclusion.timeout);
    spark.exclude_on_failure = Some(exclusion);
    take(of, spark, notes, |property| property.group == SparkGroup::Exclusion);
    if let Some(exclusion) = &mut spark.exclude_on_failure {
        exclusion.task_attempts_per_node = exclusion.task_attempts_per_node.min(most - 1);
    }
}
