//! Items (buckets, and parts of heavy keys) onto groups of nodes: weighted rendezvous hashing with bounded load.
//!
//! Each node has a score for each item, -weight / ln(u) of a hash u in (0, 1) (weighted rendezvous hashing: Thaler and
//! Ravishankar 1998; Schindelhauer and Schomaker 2005). An item's first node is the one of the highest score that has
//! room below a cap, as in consistent hashing with bounded loads (Mirrokni, Thorup and Zadimoghaddam 2018). Two loads
//! are bounded: bytes, and buckets, each of which is a reducer to start. Bytes come first: where no other node has room
//! for its bytes, a bucket goes to one that has its share of buckets already. When nodes come or go, what has room
//! where it stands stays there.

use crate::histogram::{mixed, sketch_hash};
use crate::nodes::Node;

/// A node's load is at most this many times its share of the whole.
pub const CAP: f64 = 1.05;
/// What a fresh plan fills a node to: the rest up to [`CAP`] is room for nodes that leave.
const FRESH_CAP: f64 = 1.03;

/// What is placed as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its name, by which a later plan knows it again.
    pub id: u64,
    /// Its weight.
    pub bytes: u64,
    /// A bucket, which has a reducer; a part of a split key has none of its own.
    pub is_bucket: bool,
}

/// The nodes that keep an item's copies, by their place in the list of nodes. The first one processes it.
pub type Group = Vec<u32>;

/// Where items stand.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// Each item's group.
    pub groups: Vec<Group>,
    /// Bytes of copies that had to be made because nodes have come or gone.
    pub moved: u64,
    /// The highest load, over the node's share of the whole.
    pub imbalance: f64,
}

/// Places items for the first time.
pub fn place(items: &[Item], nodes: &[Node], replicas: usize) -> Placed {
    let mut board = Board::new(items, nodes, replicas);
    let order = in_order(items);
    for item in &order {
        let Some(node) = board.any_with_room(*item, FRESH_CAP, &|_| true) else { continue };
        board.groups[*item].push(node);
        board.take(*item, node);
    }
    for item in &order {
        board.add_copies(*item);
    }
    board.placed(0)
}

/// Places items again when nodes have come or gone. `before` has for each item the nodes of its group, by their place
/// in the list of nodes that there are now; `None` is one that has gone. A node with nothing on it has come.
pub fn replace(items: &[Item], nodes: &[Node], replicas: usize, before: &[Vec<Option<u32>>]) -> Placed {
    let mut board = Board::new(items, nodes, replicas);
    for (item, old) in before.iter().enumerate() {
        for (place, node) in old.iter().enumerate() {
            let Some(node) = *node else { continue };
            board.groups[item].push(node);
            board.copies[node as usize] += items[item].bytes;
            if place == 0 {
                board.process(item, node);
            }
        }
    }
    let order = in_order(items);
    let homeless: Vec<usize> =
        order.iter().copied().filter(|item| !matches!(before[*item].first(), Some(Some(_)))).collect();
    let came: Vec<bool> = board.copies.iter().map(|bytes| *bytes == 0).collect();
    let mut moved = board.house(&homeless);
    for item in order {
        moved += board.add_copies(item);
    }
    moved += board.level(&came);
    moved += board.relieve(&came);
    moved += board.fill(&came);
    board.placed(moved)
}

struct Board<'a> {
    items: &'a [Item],
    nodes: &'a [Node],
    replicas: usize,
    racks: Vec<u32>,
    rack_count: usize,
    /// A hash of each node's name.
    names: Vec<u64>,
    /// Each node's part of the whole weight.
    share: Vec<f64>,
    total: f64,
    groups: Vec<Group>,
    /// Bytes that a node processes.
    load: Vec<u64>,
    /// Buckets that it processes.
    buckets: Vec<u32>,
    bucket_count: u32,
    /// Buckets that have a node.
    placed: u32,
    /// Bytes that it keeps.
    copies: Vec<u64>,
}

impl<'a> Board<'a> {
    fn new(items: &'a [Item], nodes: &'a [Node], replicas: usize) -> Self {
        let weight: f64 = nodes.iter().map(|node| node.weight).sum();
        let mut racks: Vec<&str> = nodes.iter().map(|node| node.rack.as_str()).collect();
        racks.sort_unstable();
        racks.dedup();
        let rack_of = |node: &Node| racks.binary_search(&node.rack.as_str()).unwrap_or(0) as u32;
        Self {
            items,
            nodes,
            replicas: replicas.clamp(1, nodes.len().max(1)),
            racks: nodes.iter().map(rack_of).collect(),
            rack_count: racks.len(),
            names: nodes.iter().map(|node| sketch_hash(node.name.as_bytes())).collect(),
            share: nodes.iter().map(|node| node.weight / weight).collect(),
            total: items.iter().map(|item| item.bytes as f64).sum(),
            groups: vec![Group::new(); items.len()],
            load: vec![0; nodes.len()],
            buckets: vec![0; nodes.len()],
            bucket_count: items.iter().filter(|item| item.is_bucket).count() as u32,
            placed: 0,
            copies: vec![0; nodes.len()],
        }
    }

    fn score(&self, item: usize, node: usize) -> f64 {
        let hash = mixed(self.items[item].id ^ self.names[node]);
        let uniform = ((hash >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
        -self.nodes[node].weight / libm::log(uniform)
    }

    fn process(&mut self, item: usize, node: u32) {
        self.load[node as usize] += self.items[item].bytes;
        self.buckets[node as usize] += u32::from(self.items[item].is_bucket);
        self.placed += u32::from(self.items[item].is_bucket);
    }

    fn take(&mut self, item: usize, node: u32) {
        self.process(item, node);
        self.copies[node as usize] += self.items[item].bytes;
    }

    fn has_room(&self, item: usize, node: usize, cap: f64) -> bool {
        (self.load[node] + self.items[item].bytes) as f64 <= cap * self.total * self.share[node]
    }

    /// The node of the highest score among those that may have the item.
    fn best(&self, item: usize, may: impl Fn(usize) -> bool) -> Option<u32> {
        let scored = (0..self.nodes.len()).filter(|node| may(*node)).map(|node| (self.score(item, node), node));
        scored.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1))).map(|(_, node)| node as u32)
    }

    /// Whether it is within its share of the buckets with this item too, of those that have a node. So each has as many
    /// of the heaviest ones as of the lightest.
    fn has_place(&self, item: usize, node: usize) -> bool {
        let with_it = (self.placed + 1).min(self.bucket_count);
        !self.items[item].is_bucket || self.buckets[node] < whole_buckets(f64::from(with_it) * self.share[node])
    }

    /// The node of the highest score among those that may have the item and have room for its bytes, and its reducer.
    fn with_room(&self, item: usize, cap: f64, may: &dyn Fn(usize) -> bool) -> Option<u32> {
        self.best(item, |node| may(node) && self.has_room(item, node, cap) && self.has_place(item, node))
    }

    /// The node with the fewest buckets among those that have room for the item's bytes alone.
    fn with_room_for_bytes(&self, item: usize, cap: f64, may: &dyn Fn(usize) -> bool) -> Option<u32> {
        let with_room = (0..self.nodes.len()).filter(|node| may(*node) && self.has_room(item, *node, cap));
        let buckets = |node: usize| f64::from(self.buckets[node]) / self.share[node];
        with_room.min_by(|a, b| buckets(*a).total_cmp(&buckets(*b))).map(|node| node as u32)
    }

    /// A node with room, or the one of all that the item fills least.
    fn any_with_room(&self, item: usize, cap: f64, may: &dyn Fn(usize) -> bool) -> Option<u32> {
        let for_bytes = || self.with_room_for_bytes(item, cap, may);
        self.with_room(item, cap, may).or_else(for_bytes).or_else(|| self.emptiest(item))
    }

    /// The node that would be least loaded with the item.
    fn emptiest(&self, item: usize) -> Option<u32> {
        let load = |node: usize| (self.load[node] + self.items[item].bytes) as f64 / self.share[node];
        (0..self.nodes.len()).min_by(|a, b| load(*a).total_cmp(&load(*b))).map(|node| node as u32)
    }

    /// Fills an item's group up to its number of copies. As HDFS does, the second copy goes to another rack than the
    /// first, the third into the second's. Returns the bytes of the copies.
    fn add_copies(&mut self, item: usize) -> u64 {
        let mut bytes = 0;
        while !self.groups[item].is_empty() && self.groups[item].len() < self.replicas {
            let group = &self.groups[item];
            let spans = group.iter().any(|node| self.racks[*node as usize] != self.racks[group[0] as usize]);
            let rack_fits = |node: usize| match group.get(1) {
                _ if !spans => self.racks[node] != self.racks[group[0] as usize],
                Some(second) if group.len() == 2 => self.racks[node] == self.racks[*second as usize],
                _ => true,
            };
            let is_new = |node: usize| !group.contains(&(node as u32));
            let most = |node: usize| CAP * self.total * self.replicas as f64 * self.share[node];
            let room = |node: usize| (self.copies[node] + self.items[item].bytes) as f64 <= most(node);
            let found = self
                .best(item, |node| is_new(node) && rack_fits(node) && room(node))
                .or_else(|| self.best(item, |node| is_new(node) && rack_fits(node)))
                .or_else(|| self.best(item, |node| is_new(node) && room(node)))
                .or_else(|| self.best(item, is_new));
            let Some(node) = found else { break };
            self.groups[item].push(node);
            self.copies[node as usize] += self.items[item].bytes;
            bytes += self.items[item].bytes;
        }
        bytes
    }

    /// Finds first nodes for items that have lost theirs: one that keeps a copy already, where it has room.
    fn house(&mut self, homeless: &[usize]) -> u64 {
        let mut moved = 0;
        for item in homeless {
            let item = *item;
            let members = self.groups[item].clone();
            let member = self.with_room(item, CAP, &|node| members.contains(&(node as u32)));
            let spans = |node: usize| members.is_empty() || self.spans_racks(&[&members[..], &[node as u32]].concat());
            let Some(node) = member.or_else(|| self.any_with_room(item, CAP, &spans)) else { continue };
            if members.contains(&node) {
                self.promote(item, node);
                self.process(item, node);
            } else {
                self.groups[item].insert(0, node);
                self.take(item, node);
                moved += self.items[item].bytes;
            }
        }
        moved
    }

    fn promote(&mut self, item: usize, node: u32) {
        let group = &mut self.groups[item];
        if let Some(place) = group.iter().position(|member| *member == node) {
            group[..=place].rotate_right(1);
        }
    }

    /// Takes from nodes above the cap what is too much: to a node that keeps a copy, else to one that has come, else to
    /// any with room.
    fn relieve(&mut self, came: &[bool]) -> u64 {
        let mut moved = 0;
        for node in 0..self.nodes.len() {
            let most = CAP * self.total * self.share[node];
            if self.load[node] as f64 <= most {
                continue;
            }
            let mut own: Vec<usize> =
                (0..self.items.len()).filter(|item| self.groups[*item].first() == Some(&(node as u32))).collect();
            own.sort_by_key(|item| (self.items[*item].bytes, self.items[*item].id));
            for to_members in [true, false] {
                while self.load[node] as f64 > most && !own.is_empty() {
                    let excess = (self.load[node] as f64 - most) as u64;
                    // The lightest item that suffices, else the next lighter ones.
                    let enough = own.partition_point(|item| self.items[*item].bytes < excess);
                    let tried = (enough..own.len()).chain((0..enough).rev());
                    let found = tried.map(|at| (at, own[at])).find_map(|(at, item)| {
                        let members = &self.groups[item];
                        let is_member = |node: usize| members.contains(&(node as u32));
                        let to = if to_members {
                            self.with_room(item, CAP, &|to| to != node && is_member(to))
                        } else {
                            self.with_room(item, CAP, &|to| came[to] && !is_member(to))
                                .or_else(|| self.with_room(item, CAP, &|to| !is_member(to)))
                                .or_else(|| self.with_room_for_bytes(item, CAP, &|to| !is_member(to)))
                        };
                        to.map(|to| (at, item, to))
                    });
                    let Some((at, item, to)) = found else { break };
                    own.remove(at);
                    moved += self.hand_over(item, to);
                }
            }
        }
        moved
    }

    /// Makes a node an item's first one, in place of the present one; returns the bytes copied.
    fn hand_over(&mut self, item: usize, to: u32) -> u64 {
        let bytes = self.items[item].bytes;
        let from = self.groups[item][0];
        self.load[from as usize] -= bytes;
        self.buckets[from as usize] -= u32::from(self.items[item].is_bucket);
        self.placed -= u32::from(self.items[item].is_bucket);
        self.process(item, to);
        if self.groups[item].contains(&to) {
            self.promote(item, to);
            return 0;
        }
        self.groups[item][0] = to;
        self.copies[from as usize] -= bytes;
        self.copies[to as usize] += bytes;
        bytes
    }

    /// Gives nodes that have come their share: first parts of split keys, which level bytes, then buckets.
    fn level(&mut self, came: &[bool]) -> u64 {
        let mut own = vec![Vec::new(); self.nodes.len()];
        for (item, group) in self.groups.iter().enumerate() {
            if let Some(first) = group.first() {
                own[*first as usize].push(item);
            }
        }
        let of_buckets: u64 = self.items.iter().filter(|item| item.is_bucket).map(|item| item.bytes).sum();
        let mut moved = 0;
        for node in (0..self.nodes.len()).filter(|node| came[*node]) {
            let share = self.total * self.share[node];
            let of_parts = share * (1.0 - of_buckets as f64 / self.total);
            for (is_bucket, most) in [(false, of_parts), (true, share)] {
                while let Some((donor, item)) = self.item_for(node, is_bucket, most, &own) {
                    own[donor].retain(|other| *other != item);
                    own[node].push(item);
                    moved += self.hand_over(item, node as u32);
                }
            }
        }
        moved
    }

    /// An item for a node that may be loaded with so many bytes, and the node that has it: one of the fullest
    /// node; of buckets that which weighs most nearly what each should, for as many bytes as buckets to come.
    fn item_for(&self, node: usize, is_bucket: bool, most: f64, own: &[Vec<usize>]) -> Option<(usize, usize)> {
        let share = |node: usize| (self.total * self.share[node], f64::from(self.bucket_count) * self.share[node]);
        let full = |node: usize, more: u32| {
            let ((bytes, buckets), here) = (share(node), f64::from(self.buckets[node] + more));
            if is_bucket {
                (here / buckets).max(self.load[node] as f64 / bytes)
            } else {
                self.load[node] as f64 / bytes
            }
        };
        let after = full(node, 1);
        let mut donors: Vec<(f64, usize)> = (0..self.nodes.len()).map(|donor| (full(donor, 0), donor)).collect();
        donors.retain(|(full, _)| *full > after);
        donors.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let may = |item: usize| {
            let bytes = self.items[item].bytes;
            let has_it = self.groups[item].contains(&(node as u32));
            let copy_fits = (self.copies[node] + bytes) as f64 <= share(node).0 * self.replicas as f64;
            self.items[item].is_bucket == is_bucket
                && (self.load[node] + bytes) as f64 <= most
                && self.has_place(item, node)
                && (has_it || (copy_fits && self.keeps_racks(item, 0, node)))
        };
        let missing = (share(node).1 - f64::from(self.buckets[node])).max(1.0);
        let of_each = (most - self.load[node] as f64) / missing;
        let off = |item: usize| if is_bucket { (self.items[item].bytes as f64 - of_each).abs() } else { 0.0 };
        let near = |a: &usize, b: &usize| {
            off(*a).total_cmp(&off(*b)).then(self.score(*b, node).total_cmp(&self.score(*a, node)))
        };
        donors.into_iter().find_map(|(_, donor)| {
            let item = own[donor].iter().copied().filter(|item| may(*item)).min_by(near)?;
            Some((donor, item))
        })
    }

    /// Gives nodes that have come the copies of which they have a higher score, up to their share.
    fn fill(&mut self, came: &[bool]) -> u64 {
        let mut moved = 0;
        for node in (0..self.nodes.len()).filter(|node| came[*node]) {
            let all = self.total * self.share[node] * self.replicas as f64;
            for item in 0..self.items.len() {
                let bytes = self.items[item].bytes;
                if self.groups[item].contains(&(node as u32)) || (self.copies[node] + bytes) as f64 > all {
                    continue;
                }
                let place = (1..self.groups[item].len()).find(|place| {
                    let other = self.groups[item][*place] as usize;
                    self.score(item, node) > self.score(item, other) && self.keeps_racks(item, *place, node)
                });
                let Some(place) = place else { continue };
                let other = self.groups[item][place] as usize;
                self.groups[item][place] = node as u32;
                self.copies[other] -= bytes;
                self.copies[node] += bytes;
                moved += bytes;
            }
        }
        moved
    }

    /// Whether an item's group would span racks as before with a node at this place of it.
    fn keeps_racks(&self, item: usize, place: usize, node: usize) -> bool {
        let mut group = self.groups[item].clone();
        group[place] = node as u32;
        self.spans_racks(&group) || !self.spans_racks(&self.groups[item])
    }

    fn spans_racks(&self, group: &[u32]) -> bool {
        self.rack_count < 2 || group.iter().any(|node| self.racks[*node as usize] != self.racks[group[0] as usize])
    }

    fn placed(self, moved: u64) -> Placed {
        let relative =
            |node: usize| if self.total > 0.0 { self.load[node] as f64 / (self.total * self.share[node]) } else { 1.0 };
        let imbalance = (0..self.nodes.len()).map(relative).fold(0.0, f64::max);
        Placed { groups: self.groups, moved, imbalance }
    }
}

/// Buckets before parts of split keys, which are small enough to level what the buckets leave; of each kind the
/// heaviest first.
fn in_order(items: &[Item]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by(|a, b| {
        let (a, b) = (&items[*a], &items[*b]);
        b.is_bucket.cmp(&a.is_bucket).then(b.bytes.cmp(&a.bytes)).then(a.id.cmp(&b.id))
    });
    order
}

/// A node's share of the buckets, rounded up to whole ones; beyond the last digits of a fraction.
fn whole_buckets(share: f64) -> u32 {
    libm::ceil(share - 1e-9) as u32
}
