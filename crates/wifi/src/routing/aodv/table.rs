//! AODV's routing table: sequence numbers that never run back.
//!
//! The RFC leaves open what happens to a sequence number when a route expires and whether an old error message may
//! lower it; some readings admit loops (van Glabbeek, Höfner, Tan and Portmann, "Sequence Numbers Do Not Guarantee Loop
//! Freedom", MSWiM 2013). Here a number only grows, every route that ends, also one that expires, has its number raised
//! by one if others may have learnt of it, and what was once known of a destination is not forgotten.

use crate::routing::Node;
use std::collections::{BTreeMap, BTreeSet};
use units::Time;

/// A routing table entry: the route to one destination.
#[derive(Debug, Clone)]
pub(super) struct Route {
    /// Nothing older is believed. 0 where the destination was never heard of.
    pub(super) sequence: u32,
    /// Whether this way came with that number, so that others may be told of it.
    pub(super) known: bool,
    /// Whether packets may go this way until `expires`.
    valid: bool,
    pub(super) hops: u8,
    pub(super) next_hop: Node,
    pub(super) expires: Time,
    /// Neighbours who send packets this way, and are told if it breaks.
    pub(super) precursors: BTreeSet<Node>,
}

impl Route {
    fn end(&mut self, at_least: u32) {
        self.valid = false;
        // Nobody has learnt of a way here that came without a number.
        let raised = if self.known { self.sequence.wrapping_add(1) } else { self.sequence };
        self.sequence = if newer(at_least, raised) { at_least } else { raised };
    }
}

/// A route to a destination as a message states it.
#[derive(Debug, Clone, Copy)]
pub(super) struct News {
    pub(super) destination: Node,
    pub(super) sequence: u32,
    pub(super) hops: u8,
    pub(super) next_hop: Node,
    pub(super) expires: Time,
}

/// Whether sequence number `a` is later than `b`, also across the wrap (section 6.1).
pub(super) const fn newer(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}

#[derive(Debug, Clone, Default)]
pub(super) struct Table(BTreeMap<Node, Route>);

impl Table {
    /// The route to use now. One that has expired ends here.
    pub(super) fn active(&mut self, now: Time, destination: Node) -> Option<&mut Route> {
        let route = self.0.get_mut(&destination)?;
        if route.valid && route.expires <= now {
            route.end(0);
            route.precursors.clear();
        }
        route.valid.then_some(route)
    }

    /// What is known, whether or not it can be used.
    pub(super) fn get(&self, destination: Node) -> Option<&Route> {
        self.0.get(&destination)
    }

    /// The next hop of a route that can be used now.
    pub(super) fn next_hop(&self, now: Time, destination: Node) -> Option<Node> {
        self.0.get(&destination).filter(|route| route.valid && route.expires > now).map(|route| route.next_hop)
    }

    /// Refreshes the route to a neighbour from which a message was received (sections 6.5 and 6.7); the message need
    /// not state a sequence number.
    pub(super) fn refresh_neighbour(&mut self, now: Time, neighbour: Node, expires: Time) {
        let _ = self.active(now, neighbour);
        let route = self.0.entry(neighbour).or_insert_with(|| Route {
            sequence: 0,
            known: false,
            valid: false,
            hops: 1,
            next_hop: neighbour,
            expires,
            precursors: BTreeSet::new(),
        });
        route.known &= route.valid;
        route.expires = if route.valid { route.expires.max(expires) } else { expires };
        (route.valid, route.hops, route.next_hop) = (true, 1, neighbour);
    }

    /// Takes over a way if it is newer than what is known, or as new and shorter, or as new and there was none
    /// (sections 6.2 and 6.7); tells whether it did.
    pub(super) fn learn(&mut self, now: Time, news: News) -> bool {
        let News { destination, sequence, hops, next_hop, expires } = news;
        let _ = self.active(now, destination);
        let route = self.0.entry(destination).or_insert_with(|| Route {
            sequence,
            known: false,
            valid: false,
            hops,
            next_hop,
            expires,
            precursors: BTreeSet::new(),
        });
        let better = sequence == route.sequence && (!route.valid || hops < route.hops);
        let unknown = !route.known && !newer(route.sequence, sequence);
        if !(unknown || newer(sequence, route.sequence) || better) {
            return false;
        }
        route.expires = if route.valid && route.next_hop == next_hop { route.expires.max(expires) } else { expires };
        (route.sequence, route.known, route.valid, route.hops, route.next_hop) = (sequence, true, true, hops, next_hop);
        true
    }

    /// A route in use lives on until `expires` at least.
    pub(super) fn extend(&mut self, now: Time, destination: Node, expires: Time) {
        if let Some(route) = self.active(now, destination) {
            route.expires = route.expires.max(expires);
        }
    }

    /// `precursor` sends packets for `destination` this way.
    pub(super) fn add_precursor(&mut self, now: Time, destination: Node, precursor: Node) {
        if let Some(route) = self.active(now, destination) {
            route.precursors.insert(precursor);
        }
    }

    /// Ends the routes over `neighbour` that `concerned` gives a least sequence number for; returns those that others
    /// used, and appends those others to `tell`.
    pub(super) fn end_over(
        &mut self,
        now: Time,
        neighbour: Node,
        concerned: impl Fn(Node) -> Option<u32>,
        tell: &mut BTreeSet<Node>,
    ) -> Vec<(Node, u32)> {
        let mut told = Vec::new();
        for (destination, route) in &mut self.0 {
            let Some(at_least) = concerned(*destination).filter(|_| route.valid && route.next_hop == neighbour) else {
                continue;
            };
            let expired = route.expires <= now;
            route.end(at_least);
            if !expired && !route.precursors.is_empty() {
                told.push((*destination, route.sequence));
                tell.append(&mut route.precursors);
            }
            route.precursors.clear();
        }
        told
    }
}
