//! What a run costs: hours of nodes, energy at the wall, requests to the object store.

use super::energy;
use crate::world::World;
use hadoop::object_store::Method;
use results::{Cost, Job, RunResult};
use scenario::{Cost as Prices, Scenario};
use units::Time;

/// `None` where the scenario says no price.
pub(super) fn of(scenario: &Scenario, world: &World, result: &RunResult) -> Option<Cost> {
    if !scenario.has_prices() {
        return None;
    }
    let prices = scenario.prices();
    let span = span(result);
    let paid = prices.increment.map_or(span.1.saturating_sub(span.0), |increment| {
        increment * span.1.saturating_sub(span.0).as_ps().div_ceil(increment.as_ps())
    });
    let hours = paid.as_secs_f64() / 3600.0;
    let per_hour: Vec<f64> = scenario.nodes().iter().filter_map(|node| node.hardware.price).collect();
    let requests = result.object_store.as_ref().map(|store| {
        let price =
            |(method, (_, count)): (&Method, &(_, u64))| *count as f64 / 1000.0 * per_thousand(*method, &prices);
        Method::ALL.iter().zip(&store.requests).map(price).sum()
    });
    Some(Cost {
        currency: prices.currency,
        nodes: (!per_hour.is_empty()).then(|| per_hour.iter().sum::<f64>() * hours),
        energy: prices.energy.and_then(|price| Some(energy::at_the_wall(world, result, span)? / 3.6e6 * price)),
        requests,
    })
}

/// The price of 1,000 requests: which are billed as writes is as in S3's price list.
const fn per_thousand(method: Method, prices: &Prices) -> f64 {
    match method {
        Method::Put | Method::Post | Method::Copy | Method::List => prices.store_writes,
        Method::Get | Method::Head => prices.store_reads,
        Method::Delete => 0.0,
    }
}

/// From the submission of a single job to its end; else, and where it has none, the whole run.
fn span(result: &RunResult) -> (Time, Time) {
    match result.jobs.as_slice() {
        [Job { submit, finish: Some(finish), .. }] => (*submit, *finish),
        _ => (Time::ZERO, result.ended_at),
    }
}
