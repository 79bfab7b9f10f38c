//! What a run costs.

use super::metrics::{Metrics, figure};

/// The cost of a run, where the scenario says prices: of its one job between submission and end, else of the whole run.
/// Amounts are in the scenario's currency.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cost {
    /// The currency.
    pub currency: String,
    /// For hours of nodes; none where no node has a price.
    pub nodes: Option<f64>,
    /// For energy at the wall; none where it has no price, or is not known.
    pub energy: Option<f64>,
    /// For requests to the object store; none where there is no store.
    pub requests: Option<f64>,
}

impl Cost {
    /// All of it.
    pub fn total(&self) -> f64 {
        self.parts().map(|(_, amount)| amount).sum()
    }
    /// What has a price, by its name.
    pub fn parts(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let parts = [("nodes", self.nodes), ("energy", self.energy), ("requests", self.requests)];
        parts.into_iter().filter_map(|(name, amount)| Some((name, amount?)))
    }
}

/// The unit of amounts among figures, whatever the scenario's currency is.
const CURRENCY: &str = "currency";

/// The cost of a run.
pub static COST: Metrics<Cost> = Metrics {
    name: "cost",
    what: "What the run cost, where the scenario says prices: of its one job from submission to finish, else of the \
           whole run.",
    file: None,
    metrics: &[
        figure("currency", "The currency of all amounts.").text(|cost| cost.currency.clone()),
        figure("total", "All of it.").number(CURRENCY, |cost| cost.total()),
        figure("nodes", "For hours of nodes; null where none has a price.")
            .optional_number(CURRENCY, |cost| cost.nodes),
        figure("energy", "For energy at the wall; null where it has no price.")
            .optional_number(CURRENCY, |cost| cost.energy),
        figure("requests", "For requests to the object store; null where there is none.")
            .optional_number(CURRENCY, |cost| cost.requests),
    ],
};
