//! Whom a node hears, who hears it, and whom those hear: link sensing and the two-hop neighbourhood (RFC 3626, sections
//! 7 and 8).

use super::mpr::{Willingness, multipoint_relays};
use crate::routing::{Hello, Link, LinkKind, Node};
use std::collections::{BTreeMap, BTreeSet};
use units::Time;

/// One neighbour.
#[derive(Debug, Clone)]
struct Neighbour {
    /// `L_SYM_time`: the link is symmetric until then.
    symmetric: Time,
    /// `L_ASYM_time`: the neighbour counts as received until then.
    asymmetric: Time,
    /// `L_time`: the link is reported, as lost, until then.
    kept: Time,
    willingness: Willingness,
    /// Its symmetric neighbours, and until when each counts.
    theirs: BTreeMap<Node, Time>,
    /// The neighbour has chosen this node as relay (MPR selector) until then.
    selects: Time,
}

/// The neighbourhood of one node.
#[derive(Debug, Clone)]
pub(super) struct Neighbours {
    me: Node,
    all: BTreeMap<Node, Neighbour>,
    relays: BTreeSet<Node>,
}

impl Neighbours {
    pub(super) const fn new(me: Node) -> Self {
        Self { me, all: BTreeMap::new(), relays: BTreeSet::new() }
    }

    /// Takes in a HELLO that holds until `until`, after which a lost link is spoken of for `hold`.
    pub(super) fn on_hello(&mut self, now: Time, from: Node, hello: &Hello, until: Time, hold: Time) {
        let me = self.me;
        let neighbour = self.all.entry(from).or_insert_with(|| Neighbour {
            symmetric: Time::ZERO,
            asymmetric: until,
            kept: until,
            willingness: hello.willingness,
            theirs: BTreeMap::new(),
            selects: Time::ZERO,
        });
        neighbour.asymmetric = until;
        neighbour.willingness = hello.willingness;
        match hello.links.iter().find(|link| link.neighbour == me).map(|link| link.kind) {
            Some(LinkKind::Lost) => neighbour.symmetric = now,
            Some(kind) => {
                neighbour.symmetric = until;
                neighbour.kept = until.saturating_add(hold);
                if kind == LinkKind::Relay {
                    neighbour.selects = until;
                }
            }
            None => {}
        }
        neighbour.kept = neighbour.kept.max(neighbour.asymmetric);
        if neighbour.symmetric > now {
            for link in hello.links.iter().filter(|link| link.neighbour != me) {
                match link.kind {
                    LinkKind::Symmetric | LinkKind::Relay => neighbour.theirs.insert(link.neighbour, until),
                    LinkKind::Asymmetric | LinkKind::Lost => neighbour.theirs.remove(&link.neighbour),
                };
            }
        }
        self.choose(now);
    }

    /// The MAC has given up on a neighbour: the link counts as lost until it is sensed anew.
    pub(super) fn on_broken(&mut self, now: Time, neighbour: Node) {
        if let Some(neighbour) = self.all.get_mut(&neighbour) {
            (neighbour.symmetric, neighbour.asymmetric) = (now, now);
        }
        self.choose(now);
    }

    /// Forgets what has run out, and chooses relays for what is left.
    pub(super) fn choose(&mut self, now: Time) {
        self.all.retain(|_, neighbour| neighbour.kept > now);
        for neighbour in self.all.values_mut() {
            if neighbour.symmetric <= now {
                neighbour.theirs.clear();
                neighbour.selects = Time::ZERO;
            }
            neighbour.theirs.retain(|_, until| *until > now);
        }
        let symmetric = self.all.iter().filter(|(_, neighbour)| neighbour.symmetric > now);
        let around = symmetric
            .map(|(node, neighbour)| (*node, (neighbour.willingness, neighbour.theirs.keys().copied().collect())));
        self.relays = multipoint_relays(self.me, &around.collect());
    }

    /// Neighbours as this node's HELLO states them.
    pub(super) fn links(&self, now: Time) -> Vec<Link> {
        let kind = |node: &Node, neighbour: &Neighbour| {
            if neighbour.symmetric > now {
                if self.relays.contains(node) { LinkKind::Relay } else { LinkKind::Symmetric }
            } else if neighbour.asymmetric > now {
                LinkKind::Asymmetric
            } else {
                LinkKind::Lost
            }
        };
        self.all.iter().map(|(node, neighbour)| Link { neighbour: *node, kind: kind(node, neighbour) }).collect()
    }

    pub(super) fn is_symmetric(&self, now: Time, node: Node) -> bool {
        self.all.get(&node).is_some_and(|neighbour| neighbour.symmetric > now)
    }

    /// Symmetric neighbours, each with whether it relays at all and its own symmetric neighbours.
    pub(super) fn symmetric(&self, now: Time) -> impl Iterator<Item = (Node, bool, impl Iterator<Item = Node>)> {
        self.all.iter().filter(move |(_, neighbour)| neighbour.symmetric > now).map(move |(node, neighbour)| {
            let theirs = neighbour.theirs.iter().filter(move |(_, until)| **until > now).map(|(node, _)| *node);
            (*node, neighbour.willingness > Willingness::Never, theirs)
        })
    }

    /// Whether that neighbour has chosen this node as relay.
    pub(super) fn selected_by(&self, now: Time, node: Node) -> bool {
        self.all.get(&node).is_some_and(|neighbour| neighbour.selects > now && neighbour.symmetric > now)
    }

    /// MPR selectors: the nodes that have chosen this node as relay.
    pub(super) fn selectors(&self, now: Time) -> Vec<Node> {
        self.all.keys().copied().filter(|node| self.selected_by(now, *node)).collect()
    }

    pub(super) const fn relays(&self) -> &BTreeSet<Node> {
        &self.relays
    }
}
