//! Which node is given which task: YARN's heartbeats, or those of Hadoop 1's TaskTrackers.

use crate::plan::{Gives, Plan};
use hadoop::record::Locality;
use std::collections::VecDeque;

/// A place that has been given and is not yet used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grant {
    pub node: usize,
    pub reducer: bool,
    pub at: f64,
}

/// What waits for places, and who has room.
#[derive(Debug)]
pub(crate) struct Offers<'a> {
    plan: &'a Plan,
    pub blocks: Vec<Vec<usize>>,
    /// Maps that wait, at their nodes and anywhere; those of them that do not wait any more are passed over.
    waits: Vec<bool>,
    at_node: Vec<VecDeque<usize>>,
    anywhere: VecDeque<usize>,
    pub waiting: usize,
    waiting_by: ByPlace,
    /// What the ResourceManager knows of: maps, where they have blocks, and reducers.
    maps: usize,
    by: ByPlace,
    pub reducers: usize,
    missed: usize,
    /// Nodes that the scheduling thread has offered.
    passed: usize,
    room: Vec<f64>,
    reduce_room: Vec<f64>,
    /// Room that has become free and that the node's next heartbeat tells of.
    pub ended: Vec<[f64; 2]>,
    pub granted: Vec<Grant>,
    /// Nodes of places that the AppMaster had no map for: its next heartbeat gives them back.
    pub released: Vec<usize>,
}

/// How many maps have a block on each node, and in each rack.
#[derive(Clone, Debug)]
struct ByPlace {
    node: Vec<usize>,
    rack: Vec<usize>,
}

impl ByPlace {
    fn of(plan: &Plan) -> Self {
        Self { node: vec![0; plan.nodes], rack: vec![0; plan.racks] }
    }
    /// A map waits whose block is on these nodes, or it waits no longer.
    fn count(&mut self, nodes: &[usize], waits: bool) {
        let racks = self.rack.len();
        let change = |count: &mut usize| *count = if waits { *count + 1 } else { *count - 1 };
        for (place, &node) in nodes.iter().enumerate() {
            change(&mut self.node[node]);
            let rack = node % racks;
            if nodes[..place].iter().all(|other| other % racks != rack) {
                change(&mut self.rack[rack]);
            }
        }
    }
    /// A map's place is given on a node.
    fn give(&mut self, node: usize) {
        let rack = node % self.rack.len();
        self.node[node] = self.node[node].saturating_sub(1);
        self.rack[rack] = self.rack[rack].saturating_sub(1);
    }
}

impl<'a> Offers<'a> {
    pub fn new(plan: &'a Plan, blocks: Vec<Vec<usize>>, master: usize) -> Self {
        let mut at_node = vec![VecDeque::new(); plan.nodes];
        let mut waiting_by = ByPlace::of(plan);
        for (map, nodes) in blocks.iter().enumerate() {
            waiting_by.count(nodes, true);
            for &node in nodes {
                at_node[node].push_back(map);
            }
        }
        let mut room = vec![plan.room; plan.nodes];
        room[master] -= plan.master_room;
        Self {
            plan,
            blocks,
            waits: vec![true; plan.maps],
            at_node,
            anywhere: (0..plan.maps).collect(),
            waiting: plan.maps,
            waiting_by,
            maps: 0,
            by: ByPlace::of(plan),
            reducers: 0,
            missed: 0,
            passed: 0,
            room,
            reduce_room: vec![plan.reduce_slots.unwrap_or(0.0); plan.nodes],
            ended: vec![[0.0; 2]; plan.nodes],
            granted: Vec::new(),
            released: Vec::new(),
        }
    }
    /// Another attempt at a map.
    pub fn again(&mut self, map: usize) {
        if !std::mem::replace(&mut self.waits[map], true) {
            self.waiting += 1;
            self.waiting_by.count(&self.blocks[map], true);
            for &node in &self.blocks[map] {
                self.at_node[node].push_back(map);
            }
            self.anywhere.push_back(map);
        }
    }
    /// A map does not wait any more.
    pub fn forget(&mut self, map: usize) {
        if std::mem::take(&mut self.waits[map]) {
            self.waiting -= 1;
            self.waiting_by.count(&self.blocks[map], false);
        }
    }
    /// Whether the node's next heartbeat changes anything.
    pub fn is_due(&self, node: usize) -> bool {
        let takes = || self.fits_reducer(node) || self.fits_map(node);
        self.has_ended(node) || (!matches!(self.plan.gives, Gives::Thread) && takes())
    }
    /// Whether it tells that something has ended.
    pub fn has_ended(&self, node: usize) -> bool {
        self.ended[node].iter().sum::<f64>() > 0.0
    }
    fn fits_map(&self, node: usize) -> bool {
        self.maps > 0 && self.room[node] >= 1.0
    }
    fn fits_reducer(&self, node: usize) -> bool {
        let fits = match self.plan.reduce_slots {
            Some(_) => self.reduce_room[node] >= 1.0,
            None => self.room[node] >= self.plan.reducer_room,
        };
        self.reducers > 0 && fits
    }
    /// A node's heartbeat: it tells what has ended, and is given what there is for it. YARN's tells of one container,
    /// as each that ends is told of at once.
    pub fn heartbeat(&mut self, node: usize, at: f64) {
        let ended = &mut self.ended[node];
        let map = if self.plan.beat.is_some() { ended[0].min(1.0) } else { ended[0] };
        ended[0] -= map;
        self.room[node] += map;
        self.reduce_room[node] += std::mem::take(&mut ended[1]);
        match (self.plan.beat, self.plan.gives) {
            (None, _) => {
                self.give_reducer(node, at);
                self.give_map(node, at);
            }
            (Some(_), Gives::Thread) => self.pass(at),
            (Some(_), Gives::Half) => {
                let room = self.room[node];
                while 2.0 * self.room[node] >= room && self.give(node, at).is_some() {}
            }
            (Some(_), Gives::Heartbeat { most, off_switch }) => {
                let mut anywhere = 0;
                for _ in 0..most {
                    match self.give(node, at) {
                        None => break,
                        Some(Locality::Remote) => anywhere += 1,
                        Some(_) => {}
                    }
                    if anywhere >= off_switch {
                        break;
                    }
                }
            }
        }
    }
    /// The scheduling thread offers the nodes one after the other, until none is given anything and none has let its
    /// offer pass. It begins at any of them; here where it was.
    pub fn pass(&mut self, at: f64) {
        let mut left = self.plan.nodes;
        while left > 0 {
            let node = self.passed % self.plan.nodes;
            self.passed += 1;
            let missed = self.missed;
            let changes = self.give(node, at).is_some() || self.missed > missed;
            left = if changes { self.plan.nodes } else { left - 1 };
        }
    }
    /// What a node's offer is taken for, if it is: reducers go first.
    fn give(&mut self, node: usize, at: f64) -> Option<Locality> {
        if self.give_reducer(node, at) { Some(Locality::Remote) } else { self.give_map(node, at) }
    }
    fn give_reducer(&mut self, node: usize, at: f64) -> bool {
        let fits = self.fits_reducer(node);
        if fits {
            self.reducers -= 1;
            match self.plan.reduce_slots {
                Some(_) => self.reduce_room[node] -= 1.0,
                None => self.room[node] -= self.plan.reducer_room,
            }
            self.granted.push(Grant { node, reducer: true, at });
        }
        fits
    }
    fn give_map(&mut self, node: usize, at: f64) -> Option<Locality> {
        if !self.fits_map(node) {
            return None;
        }
        let locality = self.takes(node)?;
        self.maps -= 1;
        self.room[node] -= 1.0;
        self.by.give(node);
        self.granted.push(Grant { node, reducer: false, at });
        Some(locality)
    }
    /// Whether maps take a node's offer (`RegularContainerAllocator`): for a block of it; for its rack after as many
    /// offers as `node-locality-delay` or there are nodes; for any after as many as maps wait, by the places that they
    /// name over the nodes (`getLocalityWaitFactor`). Hadoop 1's queue and the fair scheduler take all.
    fn takes(&mut self, node: usize) -> Option<Locality> {
        if self.plan.beat.is_none() || self.plan.replicas == 0 {
            return Some(Locality::Remote);
        }
        if self.by.node[node] > 0 {
            self.missed = 0;
            return Some(Locality::Node);
        }
        let offers = self.missed + 1;
        let rack = self.by.rack[node % self.plan.racks] > 0;
        if rack && (self.plan.fair || offers > self.plan.locality_delay.min(self.plan.nodes)) {
            self.missed = 0;
            return Some(Locality::Rack);
        }
        let named = |places: &[usize]| places.iter().filter(|&&maps| maps > 0).count();
        let places = named(&self.by.node) + named(&self.by.rack);
        let nodes = self.plan.nodes as f64;
        let wait = (self.maps as f64 * (places as f64 / nodes).min(1.0)).min(nodes);
        if self.plan.fair || places == 0 || offers as f64 > wait {
            return Some(Locality::Remote);
        }
        self.missed = offers;
        None
    }
    /// What the AppMaster gives back is free.
    pub fn free_released(&mut self) {
        for node in std::mem::take(&mut self.released) {
            self.room[node] += 1.0;
        }
    }
    /// The AppMaster says how many maps still wait, and where.
    pub fn ask(&mut self) {
        self.maps = self.waiting;
        self.by.clone_from(&self.waiting_by);
    }
    /// The map that a node is given: one whose block it has, else one of its rack, else any.
    pub fn take(&mut self, node: usize, local: bool) -> Option<usize> {
        let Self { waits, at_node, anywhere, .. } = self;
        let here = loop {
            match at_node[node].pop_front() {
                Some(map) if waits[map] => break Some(map),
                Some(_) => {}
                None => break None,
            }
        };
        if local && here.is_none() {
            return None;
        }
        let map = here.or_else(|| {
            while anywhere.front().is_some_and(|&map| !waits[map]) {
                anywhere.pop_front();
            }
            let rack = node % self.plan.racks;
            let near = |map: &usize| waits[*map] && self.blocks[*map].iter().any(|n| n % self.plan.racks == rack);
            anywhere.iter().copied().find(near).or_else(|| anywhere.front().copied())
        })?;
        self.forget(map);
        Some(map)
    }
    /// What the ResourceManager takes for free, in room of maps.
    pub fn headroom(&self) -> f64 {
        self.room.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::small;

    /// A word count of two maps whose blocks are on three of four nodes, as real Hadoop 3.5.0 gave out its places: the
    /// node without a block is let pass while 2 x 4 / 4 offers have not been, and once one map has its place only one
    /// is.
    #[test]
    fn offers_that_are_not_local_are_let_pass() {
        let plan = small(4, 1, f64::INFINITY, 2, 3);
        let mut offers = Offers::new(&plan, vec![vec![0, 1, 2], vec![0, 1, 2]], 0);
        offers.ask();
        let mut given = |node: usize| {
            offers.heartbeat(node, 0.0);
            offers.granted.len()
        };
        assert_eq!((given(3), given(3)), (0, 0), "two offers pass");
        assert_eq!(given(3), 1, "the third is taken");
        // One map waits and names three nodes and the rack: 1 x 4 / 4 offers pass, and two have.
        assert_eq!(given(3), 2, "what was given far away does not count anew");
    }

    /// A node has room for eight, the AppMaster's for six: its local maps are given at one heartbeat, or as many as one
    /// may be given.
    #[test]
    fn a_node_is_given_its_local_maps_at_a_heartbeat() {
        for (most, expected) in [(100, [6, 6, 6, 6]), (2, [2, 4, 6, 6])] {
            let mut plan = small(1, 1, f64::INFINITY, 20, 1);
            plan.gives = Gives::Heartbeat { most, off_switch: 1 };
            let mut offers = Offers::new(&plan, vec![vec![0]; 20], 0);
            offers.ask();
            let given = [0.0, 1.0, 2.0, 3.0].map(|at| {
                offers.heartbeat(0, at);
                offers.granted.len()
            });
            assert_eq!(given, expected);
            offers.ended[0][0] = 1.0;
            assert!(offers.is_due(0));
            offers.heartbeat(0, 4.0);
            assert_eq!(offers.granted.len(), 7);
        }
    }

    /// Four of six are the first that are more than half, then two of two.
    #[test]
    fn a_node_is_given_more_than_half_of_its_room() {
        let mut plan = small(1, 1, f64::INFINITY, 20, 1);
        plan.gives = Gives::Half;
        let mut offers = Offers::new(&plan, vec![vec![0]; 20], 0);
        offers.ask();
        let given = [0.0, 1.0, 2.0].map(|at| {
            offers.heartbeat(0, at);
            offers.granted.len()
        });
        assert_eq!(given, [4, 6, 6]);
    }

    /// Reducers may be anywhere, so one of them ends the heartbeat, however many maps wait.
    #[test]
    fn a_reducer_ends_the_heartbeat() {
        let plan = small(1, 1, f64::INFINITY, 20, 1);
        let mut offers = Offers::new(&plan, vec![vec![0]; 20], 0);
        offers.ask();
        offers.reducers = 2;
        let given = [0.0, 1.0, 2.0].map(|at| {
            offers.heartbeat(0, at);
            (offers.granted.len(), offers.granted.iter().filter(|grant| grant.reducer).count())
        });
        assert_eq!(given, [(1, 1), (2, 2), (6, 2)]);
    }

    /// The scheduling thread gives all that there is room for, one to a node at a time, and waits for no heartbeat.
    #[test]
    fn the_thread_spreads_what_it_gives() {
        let mut plan = small(4, 1, f64::INFINITY, 8, 4);
        plan.gives = Gives::Thread;
        let mut offers = Offers::new(&plan, vec![vec![0, 1, 2, 3]; 8], 0);
        offers.ask();
        assert!(!offers.is_due(1));
        offers.pass(0.0);
        let on = |node: usize| offers.granted.iter().filter(|grant| grant.node == node).count();
        assert_eq!([on(0), on(1), on(2), on(3)], [2; 4]);
    }
}
