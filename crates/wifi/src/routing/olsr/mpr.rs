//! Multipoint relays: few neighbours who together reach everyone two hops away (RFC 3626, section 8.3.1).

use crate::routing::Node;
use std::collections::{BTreeMap, BTreeSet};

/// How gladly a node relays for others (section 18.8: 0, 1, 3, 6 and 7).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Willingness {
    /// `WILL_NEVER`: never chosen as relay.
    Never,
    /// `WILL_LOW`.
    Low,
    /// `WILL_DEFAULT`.
    #[default]
    Default,
    /// `WILL_HIGH`.
    High,
    /// `WILL_ALWAYS`: always chosen as relay.
    Always,
}

/// Chooses relays for a node whose symmetric neighbours are `neighbours`, each with its willingness and its own
/// symmetric neighbours other than that node.
pub fn multipoint_relays(me: Node, neighbours: &BTreeMap<Node, (Willingness, BTreeSet<Node>)>) -> BTreeSet<Node> {
    let strict = |node: &Node| *node != me && !neighbours.contains_key(node);
    // Whom each neighbour reaches of those exactly two hops away, and the other way round.
    let reaches: BTreeMap<Node, BTreeSet<Node>> = neighbours
        .iter()
        .filter(|(_, (willingness, _))| *willingness > Willingness::Never)
        .map(|(node, (_, theirs))| (*node, theirs.iter().copied().filter(strict).collect()))
        .collect();
    let mut reached_by: BTreeMap<Node, Vec<Node>> = BTreeMap::new();
    for (neighbour, theirs) in &reaches {
        for node in theirs {
            reached_by.entry(*node).or_default().push(*neighbour);
        }
    }
    let willingness = |node: &Node| neighbours.get(node).map_or(Willingness::Never, |(willingness, _)| *willingness);

    let mut relays: BTreeSet<Node> =
        reaches.keys().copied().filter(|node| willingness(node) == Willingness::Always).collect();
    relays.extend(reached_by.values().filter(|by| by.len() == 1).flatten());
    let mut uncovered: BTreeSet<Node> = reached_by
        .iter()
        .filter(|(_, by)| !by.iter().any(|node| relays.contains(node)))
        .map(|(node, _)| *node)
        .collect();
    while !uncovered.is_empty() {
        // Willing first, then who reaches most that are not yet reached, then who reaches most at all; the lowest
        // number among equals.
        let rank = |(node, theirs): &(&Node, &BTreeSet<Node>)| {
            (willingness(node), theirs.intersection(&uncovered).count(), theirs.len(), std::cmp::Reverse(**node))
        };
        let useful = reaches.iter().filter(|(_, theirs)| !theirs.is_disjoint(&uncovered));
        let Some((node, theirs)) = useful.max_by_key(rank) else { break };
        relays.insert(*node);
        uncovered.retain(|node| !theirs.contains(node));
    }
    // Drop who has become superfluous, the least willing first.
    let mut candidates: Vec<Node> =
        relays.iter().copied().filter(|node| willingness(node) < Willingness::Always).collect();
    candidates.sort_by_key(|node| (willingness(node), *node));
    for candidate in candidates {
        let needed = |node: &Node| {
            reached_by.get(node).is_some_and(|by| !by.iter().any(|by| *by != candidate && relays.contains(by)))
        };
        if !reaches.get(&candidate).is_some_and(|theirs| theirs.iter().any(needed)) {
            relays.remove(&candidate);
        }
    }
    relays
}
