//! What a run costs.

use super::Scenario;
use super::check::Check;
use super::key::section;
use units::Time;

section! {
    /// What a run costs besides the hours of its nodes (`node.price`).
    pub struct Cost {
        /// The currency of all prices, as tables show it.
        currency: String = String::from("USD");
        /// Price of 1 kWh at the wall. Left out: energy is part of `node.price`.
        energy: Option<f64> = None, 0.0..=1e6;
        /// Price of 1,000 requests that write to the object store, or list it: PUT, POST, COPY, LIST.
        store_writes: f64 = 0.0, 0.0..=1e6;
        /// Price of 1,000 requests that read from the object store: GET and HEAD. DELETE costs nothing.
        store_reads: f64 = 0.0, 0.0..=1e6;
        /// Nodes are paid for whole multiples of this time. Left out: for as long as the run takes.
        increment: Option<Time> = None, Time::from_secs(1)..=Time::from_secs(86_400 * 31);
    }
}

impl Scenario {
    /// Whether it says what anything costs.
    pub fn has_prices(&self) -> bool {
        let groups = self.cluster.group.iter().filter_map(|group| group.node.as_ref());
        let mut kinds = groups.chain(&self.cluster.master).chain([&self.node]);
        self.cost.is_some() || kinds.any(|node| node.price.is_some())
    }

    /// The prices besides those of nodes; nothing costs anything where none is said.
    pub fn prices(&self) -> Cost {
        self.cost.clone().unwrap_or_default()
    }
}

/// Prices of nothing, and nodes without one.
pub(super) fn warn(check: &mut Check<'_>) {
    let scenario = check.scenario;
    if !scenario.has_prices() {
        return;
    }
    let nodes = scenario.nodes();
    let free: Vec<&str> =
        nodes.iter().filter(|node| node.hardware.price.is_none()).map(|node| node.name.as_str()).collect();
    if let (Some(first), true) = (free.first(), free.len() < nodes.len()) {
        let others = if free.len() > 1 { format!(" and {} others have", free.len() - 1) } else { " has".to_owned() };
        let message = format!("{first}{others} no price, and count as free");
        let path = if check.tree.get("node.price").is_some() { "node.price" } else { "cluster" };
        check.says(path, message, "give each kind of node its `price`");
    }
    let Some(cost) = &scenario.cost else { return };
    if cost.energy.is_some() && scenario.power.is_none() && nodes.iter().all(|node| node.hardware.idle_power.is_none())
    {
        let message = "what nodes draw is not known, so energy costs nothing";
        check.says("cost.energy", message, "say what they draw: `node.idle-power`, `node.core-power`");
    }
    if scenario.object_store.is_none() {
        for key in ["cost.store-writes", "cost.store-reads"] {
            if check.tree.get(key).is_some() {
                check.says(key, "there is no object store to send requests to", "leave it out, or add [object-store]");
            }
        }
    }
    if cost.increment.is_some() && free.len() == nodes.len() {
        check.says("cost.increment", "nodes have no price", "add `node.price`");
    }
}
