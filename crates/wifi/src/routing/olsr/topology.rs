//! The topology from TC messages, and the routes that follow (RFC 3626, sections 9.5 and 10).

use super::neighbours::Neighbours;
use crate::routing::{Node, TopologyControl};
use std::collections::BTreeMap;
use units::Time;

/// Next hop and distance by destination.
pub(super) type Routes = BTreeMap<Node, (Node, u32)>;

/// The topology set: destinations and their last hops.
#[derive(Debug, Clone, Default)]
pub(super) struct Topology {
    /// By the node that said it: the number of its set, and until when each of the set counts.
    said: BTreeMap<Node, (u16, BTreeMap<Node, Time>)>,
}

/// Whether `a` is later than `b`, also across the wrap (section 19).
const fn newer(a: u16, b: u16) -> bool {
    (a.wrapping_sub(b) as i16) > 0
}

impl Topology {
    /// Takes in a TC message that holds until `until`, unless a newer one is known.
    pub(super) fn on_control(&mut self, now: Time, originator: Node, control: &TopologyControl, until: Time) {
        self.expire(now);
        let (number, set) = self.said.entry(originator).or_insert((control.number, BTreeMap::new()));
        if newer(*number, control.number) {
            return;
        }
        if newer(control.number, *number) {
            set.clear();
        }
        *number = control.number;
        set.extend(control.advertised.iter().map(|node| (*node, until)));
    }

    fn expire(&mut self, now: Time) {
        for (_, set) in self.said.values_mut() {
            set.retain(|_, until| *until > now);
        }
        self.said.retain(|_, (_, set)| !set.is_empty());
    }

    /// The next hop and the distance of every node that can be reached: ways with the fewest hops, as far as this node
    /// knows.
    pub(super) fn routes(&self, now: Time, me: Node, neighbours: &Neighbours) -> Routes {
        let mut routes = Routes::new();
        for (node, _, _) in neighbours.symmetric(now) {
            routes.insert(node, (node, 1));
        }
        for (neighbour, relays, theirs) in neighbours.symmetric(now) {
            for node in theirs.filter(|node| relays && *node != me) {
                routes.entry(node).or_insert((neighbour, 2));
            }
        }
        // From here on one ring after the other; what was said by a node at the rim reaches one farther.
        let mut rim: Vec<Node> = routes.iter().filter(|(_, (_, hops))| *hops <= 2).map(|(node, _)| *node).collect();
        while !rim.is_empty() {
            let mut next = Vec::new();
            rim.sort_by_key(|node| (routes.get(node).map_or(u32::MAX, |(_, hops)| *hops), *node));
            for last in rim {
                let Some((next_hop, hops)) = routes.get(&last).copied() else { continue };
                for (node, until) in self.said.get(&last).iter().flat_map(|(_, set)| set) {
                    if *until > now && *node != me && !routes.contains_key(node) {
                        routes.insert(*node, (next_hop, hops + 1));
                        next.push(*node);
                    }
                }
            }
            rim = next;
        }
        routes
    }
}
