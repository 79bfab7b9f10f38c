//! What a run costs: hours of nodes, energy at the wall, requests to the object store.

use super::energy;
use crate::world::World;
use results::{Cost, Job, RunResult};
use scenario::Scenario;
use units::Time;

/// What is billed as written to an object store, by S3's price list; the rest, without DELETE, is billed as read.
const WRITES: [&str; 4] = ["put", "post", "copy", "list"];
const FREE: &str = "delete";

/// `None` where the scenario says no price.
pub(super) fn of(scenario: &Scenario, world: &World, result: &RunResult) -> Option<Cost> {
    if !scenario.has_prices() {
        return None;
    }
    let prices = scenario.cost.clone().unwrap_or_default();
    let span = span(result);
    let paid = prices.increment.map_or(span.1.saturating_sub(span.0), |increment| {
        increment * span.1.saturating_sub(span.0).as_ps().div_ceil(increment.as_ps())
    });
    let hours = paid.as_secs_f64() / 3600.0;
    let per_hour: Vec<f64> = scenario.nodes().iter().filter_map(|node| node.hardware.price).collect();
    let requests = result.object_store.as_ref().map(|store| {
        let of = |writes: bool| {
            let billed = store.requests.iter().filter(|(name, _)| *name != FREE && WRITES.contains(name) == writes);
            billed.map(|(_, count)| *count).sum::<u64>() as f64 / 1000.0
        };
        of(true) * prices.store_writes + of(false) * prices.store_reads
    });
    Some(Cost {
        currency: prices.currency,
        nodes: (!per_hour.is_empty()).then(|| per_hour.iter().sum::<f64>() * hours),
        energy: prices.energy.and_then(|price| Some(energy::at_the_wall(world, result, span)? / 3.6e6 * price)),
        requests,
    })
}

/// From the submission of a single job to its end; else, and where it has none, the whole run.
fn span(result: &RunResult) -> (Time, Time) {
    match result.jobs.as_slice() {
        [Job { submit, finish: Some(finish), .. }] => (*submit, *finish),
        _ => (Time::ZERO, result.ended_at),
    }
}
