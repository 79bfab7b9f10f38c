//! The racks of a cluster, as its jobs' histories name them.

use super::{Assumption, Hosts, listed};
use crate::JobHistory;
use scenario::{Group, Scenario, TopologyKind};
use std::collections::{BTreeMap, BTreeSet};

/// The most racks of a scenario.
const MOST: usize = 10_000;

/// Puts the workers into the racks that the histories name, each behind a switch of its own. A cluster of one rack, or
/// of which no rack is known, has one switch.
///
/// Hosts without a known rack stand in that of the host before them in the order of names, which mostly is that of
/// places. Where most have none, no rack is taken for known. Returns the racks' names by number, from 1.
pub fn apply(
    scenario: &mut Scenario,
    hosts: &Hosts,
    jobs: &[&JobHistory],
    notes: &mut BTreeMap<String, String>,
    assumed: &mut Vec<Assumption>,
) -> Vec<String> {
    scenario.cluster.group.clear();
    scenario.network.topology = TopologyKind::Star;
    let named: BTreeMap<u32, &String> = hosts
        .iter()
        .filter_map(|(host, number)| Some((number, jobs.iter().find_map(|job| job.racks.get(host))?)))
        .collect();
    let racks: Vec<&String> = named.values().copied().collect::<BTreeSet<_>>().into_iter().collect();
    let all = hosts.iter().count();
    let unknown = all - named.len();
    if !(2..=MOST).contains(&racks.len()) || unknown > named.len() {
        return Vec::new();
    }
    let mut last = *named.values().next().unwrap_or(&racks[0]);
    let mut of_worker = Vec::new();
    for worker in 1..=scenario.cluster.workers {
        last = named.get(&worker).unwrap_or(&last);
        of_worker.push(racks.binary_search(&last).map_or(1, |index| index as u32 + 1));
    }
    let group = |run: &[u32]| Group { count: run.len() as u32, rack: Some(run[0]), ..Group::default() };
    scenario.cluster.group = of_worker.chunk_by(|a, b| a == b).map(group).collect();
    scenario.network.topology = TopologyKind::Tree;
    scenario.network.racks = racks.len() as u32;
    notes.insert("network.racks".into(), "racks of the hosts that the history names".into());
    let why = "a history names racks, but neither their switches nor the rates between them: see network.core";
    assumed.push(Assumption::new("network.topology", "tree, as fast as a rack's hosts", why));
    if unknown > 0 {
        let value = format!("of the host before, for {unknown} of {all} hosts");
        assumed.push(Assumption::new("cluster.group.rack", value, "the history does not say where they stand"));
    }
    racks.into_iter().cloned().collect()
}

/// Which rack has which number, for a scenario's heading.
pub fn line(racks: &[String]) -> Option<String> {
    let named = racks.iter().zip(1..).map(|(name, number)| (name.as_str(), format!("rack {number}")));
    (!racks.is_empty()).then(|| format!("Racks: {}.", listed(named)))
}
