//! Executors that come and go as tasks need them: the settings of that, where a cluster's scenario wants it so.

use super::Application;
use super::settings::take;
use scenario::{Spark, SparkGroup};

/// Whether executors came and went so.
pub(super) fn is_dynamic(of: &Application) -> bool {
    of.property("spark.dynamicAllocation.enabled").is_some_and(|enabled| enabled.trim() == "true")
}

/// Whether a service had the shuffle files of executors.
pub(super) fn has_service(of: &Application) -> bool {
    of.property("spark.shuffle.service.enabled").is_some_and(|enabled| enabled.trim() == "true")
}

/// The settings as the log has them, in place of a cluster's.
pub(super) fn settings(of: &Application, spark: &mut Spark, notes: &mut Vec<String>) {
    let shuffle_tracking = "spark.dynamicAllocation.shuffleTracking.enabled";
    take(of, spark, notes, |property| property.group == SparkGroup::Allocation && property.name != shuffle_tracking);
    let number = |name: &str| of.property(name).and_then(|value| value.trim().parse::<u32>().ok());
    let Some(allocation) = &mut spark.dynamic_allocation else { return };
    // What is no bound is left out.
    let no_bound = number("spark.dynamicAllocation.maxExecutors").is_some_and(|most| most > 100_000);
    let most = allocation.max_executors.filter(|_| !no_bound);
    allocation.max_executors = most.map(|most| most.max(allocation.min_executors));
    let instances = number("spark.executor.instances").map(|instances| instances.min(100_000));
    allocation.initial_executors = allocation.initial_executors.max(instances);
    // Before Spark 3.4 it was off where nothing was said, and there was no other way than a service.
    allocation.shuffle_tracking = true;
    if !spark.shuffle_service && of.property(shuffle_tracking).map(str::trim) == Some("false") {
        notes.push(
            "shuffle files of executors that went were not kept by any way that is modelled; here executors with such \
             files stay (`shuffle-tracking`)"
                .to_owned(),
        );
    }
}
