//! Executors that come and go as tasks need them: the settings of that, where a cluster's scenario wants it so.

use super::Application;
use super::settings::{time, time_of_seconds};
use scenario::SparkAllocation;
use units::Time;

/// Whether executors came and went so.
pub(super) fn is_dynamic(of: &Application) -> bool {
    of.property("spark.dynamicAllocation.enabled").is_some_and(|enabled| enabled.trim() == "true")
}

/// Whether a service had the shuffle files of executors.
pub(super) fn has_service(of: &Application) -> bool {
    of.property("spark.shuffle.service.enabled").is_some_and(|enabled| enabled.trim() == "true")
}

/// The settings as the log has them, in place of a cluster's; with a shuffle service or without.
pub(super) fn allocation(
    of: &Application,
    mut allocation: SparkAllocation,
    has_service: bool,
    notes: &mut Vec<String>,
) -> SparkAllocation {
    let property = |name: &str| of.property(&format!("spark.dynamicAllocation.{name}")).map(str::trim);
    let mut refused = Vec::new();
    let mut understood = |name: &str, is: bool| {
        if !is {
            refused.push(format!("`spark.dynamicAllocation.{name}` is not understood; the default is assumed"));
        }
    };
    let mut count = |name: &str, set: &mut dyn FnMut(u32)| {
        if let Some(value) = property(name) {
            let parsed = value.parse::<u32>().ok();
            understood(name, parsed.is_some());
            parsed.into_iter().for_each(set);
        }
    };
    count("minExecutors", &mut |least| allocation.min_executors = least.min(100_000));
    // What is no bound is left out.
    count("maxExecutors", &mut |most| allocation.max_executors = (most <= 100_000).then_some(most.max(1)));
    let mut initial = allocation.initial_executors;
    count("initialExecutors", &mut |first| initial = Some(first.min(100_000)));
    let instances = of.property("spark.executor.instances").and_then(|instances| instances.trim().parse::<u32>().ok());
    allocation.initial_executors = initial.max(instances.map(|instances| instances.min(100_000)));
    allocation.max_executors = allocation.max_executors.map(|most| most.max(allocation.min_executors));
    if let Some(ratio) = property("executorAllocationRatio").and_then(|ratio| ratio.parse::<f64>().ok()) {
        allocation.executor_allocation_ratio = ratio.clamp(1e-6, 1.0);
    }
    let mut patience = |name: &str, least: Time, set: &mut dyn FnMut(Time)| {
        if let Some(value) = property(name) {
            let parsed = time_of_seconds(value);
            understood(name, parsed.is_some());
            parsed.map(|time| time.max(least)).into_iter().for_each(set);
        }
    };
    let ms = Time::from_ms(1);
    patience("schedulerBacklogTimeout", ms, &mut |time| allocation.scheduler_backlog_timeout = time);
    patience("sustainedSchedulerBacklogTimeout", ms, &mut |time| {
        allocation.sustained_scheduler_backlog_timeout = Some(time);
    });
    patience("executorIdleTimeout", Time::ZERO, &mut |time| allocation.executor_idle_timeout = time);
    patience("cachedExecutorIdleTimeout", Time::ZERO, &mut |time| {
        allocation.cached_executor_idle_timeout = Some(time);
    });
    if let Some(timeout) = property("shuffleTracking.timeout").and_then(time) {
        allocation.shuffle_tracking_timeout = Some(timeout);
    }
    // Before Spark 3.4 it was off where nothing was said, and there was no other way than a service.
    allocation.shuffle_tracking = has_service || property("shuffleTracking.enabled") != Some("false");
    if !allocation.shuffle_tracking {
        allocation.shuffle_tracking = true;
        refused.push(
            "shuffle files of executors that went were not kept by any way that is modelled; here executors with such \
             files stay (`shuffle-tracking`)"
                .to_owned(),
        );
    }
    notes.extend(refused);
    allocation
}
