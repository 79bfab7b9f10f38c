//! Where replicas go: HDFS's default block placement policy.
//!
//! The rule (HDFS Architecture Guide, "Replica Placement: The First Baby Steps"): the first replica on the writer's
//! node if that is a DataNode, else on a random one; the second on a node of another rack; the third on another node of
//! the second's rack; further ones at random, no rack holding more than (replicas - 1) / racks + 2. With one rack, all
//! are random and distinct.

use crate::context::Nodes;
use crate::ids::NodeId;
use crate::numbers::draw;
use des::{Index, RandomStream};

/// Chooses the targets of `replicas` replicas, of which those on `held` exist already, among the nodes that `usable`
/// accepts. Fewer are returned if there are not enough nodes. The result does not repeat `held`; it is in pipeline
/// order.
pub fn choose(
    nodes: &Nodes,
    writer: Option<NodeId>,
    replicas: u32,
    held: &[NodeId],
    usable: impl Fn(NodeId) -> bool,
    random: &mut RandomStream,
) -> Vec<NodeId> {
    let racks = nodes.rack_count();
    let mut chosen = held.to_vec();
    let cap = if racks > 1 { (replicas as usize - 1) / racks + 2 } else { usize::MAX };
    while chosen.len() < replicas as usize {
        let free = |node: NodeId| {
            let rack = nodes.rack(node);
            usable(node)
                && !chosen.contains(&node)
                && chosen.iter().filter(|other| nodes.rack(**other) == rack).count() < cap
        };
        let same_rack = |a: NodeId, b: NodeId| nodes.rack(a) == nodes.rack(b);
        let next = match chosen.as_slice() {
            [] => writer
                .filter(|node| free(*node))
                .or_else(|| pick_in_rack(nodes, random, writer, free).or_else(|| pick(nodes, random, free))),
            [first] => pick_off_rack(nodes, random, *first, free).or_else(|| pick(nodes, random, free)),
            [first, second] if same_rack(*first, *second) => {
                pick_off_rack(nodes, random, *first, free).or_else(|| pick(nodes, random, free))
            }
            [_, second] => pick_in_rack(nodes, random, Some(*second), free).or_else(|| pick(nodes, random, free)),
            _ => pick(nodes, random, free),
        };
        match next {
            Some(node) => chosen.push(node),
            None => break,
        }
    }
    let mut targets = chosen.split_off(held.len());
    order_pipeline(nodes, writer, &mut targets);
    targets
}

/// Chooses nodes for the parts of an erasure-coded block group, as many as there are, at most `parts`
/// (`BlockPlacementPolicyRackFaultTolerant`): the writer's own first, the others at random, no rack with more than its
/// even share. Where that does not suffice, racks may have more.
pub fn choose_spread(
    nodes: &Nodes,
    writer: Option<NodeId>,
    parts: usize,
    held: &[NodeId],
    usable: impl Fn(NodeId) -> bool,
    random: &mut RandomStream,
) -> Vec<NodeId> {
    let mut chosen = held.to_vec();
    let even = parts.div_ceil(nodes.rack_count().max(1));
    for cap in [even, usize::MAX] {
        while chosen.len() < parts {
            let free = |node: NodeId| {
                let rack = nodes.rack(node);
                usable(node)
                    && !chosen.contains(&node)
                    && chosen.iter().filter(|other| nodes.rack(**other) == rack).count() < cap
            };
            let own = writer.filter(|node| chosen.is_empty() && free(*node));
            match own.or_else(|| pick(nodes, random, free)) {
                Some(node) => chosen.push(node),
                None => break,
            }
        }
    }
    chosen.split_off(held.len())
}

/// A node with the property, each with the same probability. Like HDFS it draws and rejects; where few nodes qualify it
/// counts them.
fn pick(nodes: &Nodes, random: &mut RandomStream, property: impl Fn(NodeId) -> bool) -> Option<NodeId> {
    try_some(nodes, random, &property).or_else(|| one_of(random, nodes.workers().filter(|node| property(*node))))
}
/// A node with the property in the rack of another node, each with the same probability; none where there is no other.
/// A rack's nodes are few among all, so that draws rarely hit them.
fn pick_in_rack(
    nodes: &Nodes,
    random: &mut RandomStream,
    other: Option<NodeId>,
    property: impl Fn(NodeId) -> bool,
) -> Option<NodeId> {
    let rack = other.map(|other| nodes.rack(other));
    let there = |node: NodeId| rack == Some(nodes.rack(node)) && property(node);
    let all = rack.map_or(&[][..], |rack| nodes.in_rack(rack)).iter().copied();
    try_some(nodes, random, &there).or_else(|| one_of(random, all.filter(|node| property(*node))))
}
/// A node with the property in another rack than that of a node, each with the same probability. Where there is one rack
/// nobody need be looked at to know that there is none.
fn pick_off_rack(
    nodes: &Nodes,
    random: &mut RandomStream,
    other: NodeId,
    property: impl Fn(NodeId) -> bool,
) -> Option<NodeId> {
    let off = |node: NodeId| nodes.rack(node) != nodes.rack(other) && property(node);
    let all = (nodes.only_rack().is_none()).then(|| nodes.workers()).into_iter().flatten();
    try_some(nodes, random, &off).or_else(|| one_of(random, all.filter(|node| off(*node))))
}
/// The first of eight nodes drawn that has the property.
fn try_some(nodes: &Nodes, random: &mut RandomStream, property: &impl Fn(NodeId) -> bool) -> Option<NodeId> {
    let workers = nodes.worker_count();
    let mut drawn = (0..if workers == 0 { 0 } else { 8 }).map(|_| NodeId::from_usize(1 + draw(random, workers)));
    drawn.find(|node| property(*node))
}
/// One of the candidates, each with the same probability.
fn one_of(random: &mut RandomStream, candidates: impl Iterator<Item = NodeId>) -> Option<NodeId> {
    let candidates: Vec<_> = candidates.collect();
    (!candidates.is_empty()).then(|| candidates[draw(random, candidates.len())])
}

/// A short path through the targets: from the writer to the nearest, from there to the nearest of the rest, and so on.
fn order_pipeline(nodes: &Nodes, writer: Option<NodeId>, targets: &mut [NodeId]) {
    let Some(mut at) = writer.or(targets.first().copied()) else { return };
    for i in 0..targets.len() {
        if let Some(nearest) = (i..targets.len()).min_by_key(|j| nodes.distance(at, targets[*j])) {
            targets[i..=nearest].rotate_right(1);
            at = targets[i];
        }
    }
}
