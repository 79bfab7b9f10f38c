//! Whether the links of a graph topology let every node reach every other, when only switches forward.

use super::network::{node_name, node_number};
use super::{GraphLink, Scenario};
use std::collections::{BTreeMap, BTreeSet};

/// Two nodes without a path between them.
pub fn apart(scenario: &Scenario) -> Option<(String, String)> {
    let links = scenario.network.links(scenario.cluster.workers);
    let islands = islands(&links);
    let mut reach: BTreeMap<u32, BTreeSet<usize>> =
        (0..=scenario.cluster.workers).map(|node| (node, BTreeSet::new())).collect();
    let mut neighbours = BTreeSet::new();
    for link in &links {
        match (node_number(&link.from), node_number(&link.to)) {
            (Some(a), Some(b)) => neighbours.extend([(a, b), (b, a)]),
            (Some(node), None) => reach.entry(node).or_default().extend(islands.get(link.to.as_str())),
            (None, Some(node)) => reach.entry(node).or_default().extend(islands.get(link.from.as_str())),
            (None, None) => {}
        }
    }
    // The usual case, at once: one island that all nodes are on.
    if reach.get(&0).is_some_and(|first| first.iter().any(|island| reach.values().all(|on| on.contains(island)))) {
        return None;
    }
    for (a, on_a) in &reach {
        for (b, on_b) in reach.range(a + 1..) {
            if on_a.is_disjoint(on_b) && !neighbours.contains(&(*a, *b)) {
                return Some((node_name(*a), node_name(*b)));
            }
        }
    }
    None
}

/// Which switches are connected through switches: the same number for all of an island.
fn islands(links: &[GraphLink]) -> BTreeMap<&str, usize> {
    let mut index: BTreeMap<&str, usize> = BTreeMap::new();
    let mut parent: Vec<usize> = Vec::new();
    for name in links.iter().flat_map(|link| [&link.from, &link.to]).filter(|name| node_number(name).is_none()) {
        index.entry(name).or_insert_with(|| {
            parent.push(parent.len());
            parent.len() - 1
        });
    }
    let root = |parent: &[usize], mut at: usize| {
        while parent[at] != at {
            at = parent[at];
        }
        at
    };
    for link in links {
        if let (Some(a), Some(b)) = (index.get(link.from.as_str()), index.get(link.to.as_str())) {
            let (a, b) = (root(&parent, *a), root(&parent, *b));
            parent[a] = b;
        }
    }
    index.into_iter().map(|(name, at)| (name, root(&parent, at))).collect()
}
