//! Which links a flow takes, for who has no packets.

use crate::bond::Distribution;
use crate::routing::Routing;
use crate::{FlowKey, LinkId, Topology, VertexId};
use std::collections::BTreeSet;

/// The paths of flows over the links that are up, as packets take them: shortest, with equal-cost multipath and bonds'
/// members by hash. Bonds have agreed from the start, and lose a member when its carrier goes.
#[derive(Debug)]
pub struct Paths {
    routing: Routing,
    /// Both ends of each bond: its links, and whether packets take turns.
    ends: Vec<(Vec<LinkId>, bool)>,
    /// Cables that are down.
    down: BTreeSet<u32>,
}

impl Paths {
    /// The paths of a topology whose links are all up.
    pub fn new(topology: &Topology) -> Self {
        let ends = topology.bonds().iter().flat_map(|bond| {
            let turns = bond.ends.map(|end| matches!(end.distribution, Distribution::RoundRobin));
            let back = bond.members.iter().map(|member| member.reverse()).collect();
            [(bond.members.clone(), turns[0]), (back, turns[1])]
        });
        Self { routing: Routing::new(topology), ends: ends.collect(), down: BTreeSet::new() }
    }

    /// The links of a flow, each with the number of links among which its packets take turns (1 but for round robin).
    /// `None` where no path leads. Through the switch `via`, if there is one.
    pub fn links(&mut self, key: FlowKey, via: Option<VertexId>) -> Option<Vec<(LinkId, u32)>> {
        let route = match via {
            Some(via) => self.routing.route_via(key, via)?,
            None => self.routing.route(key)?,
        };
        let mut links = Vec::new();
        for place in self.routing.places(route) {
            let Some((end, class)) = self.routing.bond_for(place) else {
                links.push((LinkId(place), 1));
                continue;
            };
            let (members, turns) = &self.ends[end];
            let usable: Vec<LinkId> =
                members.iter().copied().filter(|link| !self.down.contains(&(link.0 / 2))).collect();
            if *turns {
                links.extend(usable.iter().map(|link| (*link, usable.len() as u32)));
            } else {
                links.push((*usable.get(class as usize % usable.len().max(1))?, 1));
            }
        }
        Some(links)
    }

    /// One direction of each cable that is down.
    pub fn down(&self) -> impl Iterator<Item = LinkId> {
        self.down.iter().map(|cable| LinkId(2 * cable))
    }
    /// Takes both directions of a cable down or up. Paths must be asked for again.
    pub fn set_up(&mut self, link: LinkId, up: bool) {
        if up {
            self.down.remove(&(link.0 / 2));
        } else {
            self.down.insert(link.0 / 2);
        }
        self.routing.set_down(link, !up);
        self.routing.set_down(link.reverse(), !up);
        for (number, (members, _)) in self.ends.iter().enumerate() {
            if members.iter().any(|member| member.0 / 2 == link.0 / 2) {
                let usable = members.iter().any(|member| !self.down.contains(&(member.0 / 2)));
                self.routing.set_down(self.routing.bond_link(number), !usable);
            }
        }
    }
}
