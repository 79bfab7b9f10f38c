//! Stations that got no answer from each other.

use crate::air::station_name;
use results::{Event, RunResult};
use scenario::{RoutingKind, Scenario, TopologyKind, WifiMode};
use std::collections::BTreeMap;
use transport::FlowRecord;
use units::Time;

/// Pairs of stations between which connections were given up before they were made: an event each. Who was down at some
/// time has an event of its own, which says why.
pub(super) fn events(flows: &[FlowRecord], scenario: &Scenario, result: &RunResult) -> Vec<Event> {
    let network = &scenario.network;
    let Some(wifi) = network.wifi.as_ref().filter(|_| network.topology == TopologyKind::Wifi) else {
        return Vec::new();
    };
    let would_connect = match (wifi.mode, wifi.routing) {
        (WifiMode::Infrastructure, _) => "; more access points (network.wifi.access-point) or shorter ways",
        (WifiMode::AdHoc, RoutingKind::None) => "; routing (network.wifi.routing), an access point or shorter ways",
        (WifiMode::AdHoc, RoutingKind::Aodv | RoutingKind::Olsr) => {
            ", although there is routing; stations between them, an access point or shorter ways"
        }
    };
    let down = |node: u32| {
        let kinds = ["node-down", "battery-empty"];
        result.events.iter().any(|event| event.node == Some(node) && kinds.contains(&event.kind.as_str()))
    };
    let mut pairs: BTreeMap<(u32, u32), (Time, u32)> = BTreeMap::new();
    for flow in flows.iter().filter(|flow| flow.reset && flow.connected.is_none() && flow.totals.timeouts > 0) {
        let pair = (flow.from.min(flow.to), flow.from.max(flow.to));
        if down(pair.0) || down(pair.1) {
            continue;
        }
        let (first, count) = pairs.entry(pair).or_insert((flow.opened, 0));
        (*first, *count) = ((*first).min(flow.opened), *count + 1);
    }
    let nodes = result.nodes.len();
    let event = |((a, b), (at, count)): ((u32, u32), (Time, u32))| {
        let (a, b) = (station_name(a as usize, nodes), station_name(b as usize, nodes));
        let tried = if count == 1 { "a connection was".to_owned() } else { format!("{count} connections were") };
        let detail = format!(
            "{a} and {b} do not reach each other: {tried} given up that got no answer{would_connect} would connect them"
        );
        Event { at, kind: "no-answer".to_owned(), node: None, link: None, detail }
    };
    pairs.into_iter().map(event).collect()
}
