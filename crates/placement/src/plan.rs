//! The plan: buckets and parts of heavy keys on groups of nodes.

use crate::filled::Filled;
use crate::hash::Bucketing;
use crate::histogram::{HeavyKey, mixed, sketch_hash};
use crate::nodes::Node;
use crate::place::{CAP, Group, Item, Placed, place, replace};
use std::collections::BTreeMap;
use thiserror::Error;

/// A key is split if it weighs more than this part of what a node holds on average. Lighter keys fit below the cap,
/// also when nodes leave.
const SPLIT_ABOVE: f64 = 1.0 / 16.0;
/// The parts weigh at most this.
const PART: f64 = 1.0 / 32.0;
/// Where the cap is not kept, lighter keys are split too, by halves down to this.
const FINEST: f64 = 1.0 / 128.0;
/// The most parts of a key: a node has at most a few.
const MOST_PARTS: u32 = 1 << 16;

/// What is placed as a whole: the light keys of a bucket, or a part of a heavy key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The bucket.
    pub bucket: u32,
    /// Of a heavy key: its place in the list of split keys, and the part's number.
    pub of_key: Option<(u32, u32)>,
    /// Bytes of its records, of those that were counted.
    pub bytes: u64,
    /// The nodes that keep its copies, the first of which processes it, by their place in the list of nodes.
    pub group: Group,
}

/// A key that is too heavy for a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitKey {
    /// The key.
    pub key: Vec<u8>,
    /// Its bucket.
    pub bucket: u32,
    /// Its bytes, estimated.
    pub bytes: u64,
    /// Into so many parts, which [`Filled`] fills evenly.
    pub parts: u32,
}

/// Which node keeps which records.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    nodes: Vec<Node>,
    bucketing: Bucketing,
    replicas: usize,
    split: Vec<SplitKey>,
    parts: Vec<Part>,
    /// The part of a bucket's light keys.
    of_bucket: Vec<u32>,
    /// The first part of each split key.
    of_split: Vec<u32>,
    by_key: BTreeMap<Vec<u8>, u32>,
    /// Whether a bucket has split keys.
    has_split: Vec<bool>,
}

/// A plan with what it means for the nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// The plan.
    pub plan: Plan,
    /// The highest load of a node, over its share.
    pub imbalance: f64,
    /// Bytes of copies that move, of all copies, because nodes have come or gone.
    pub moved: u64,
}

/// There is no plan.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlanError {
    /// No nodes.
    #[error("a plan needs a node")]
    NoNodes,
    /// Bytes for another number of buckets than there are.
    #[error("{given} weights of buckets, where there are {buckets} buckets")]
    Buckets {
        /// How many weights were given.
        given: usize,
        /// How many buckets the hash has.
        buckets: u32,
    },
    /// All nodes of an earlier plan have gone.
    #[error("the earlier plan is for {before}, none of which is among the nodes now: {now}")]
    AllGone {
        /// Its nodes.
        before: String,
        /// The nodes.
        now: String,
    },
}

impl Plan {
    /// Places buckets of these weights in bytes. `heavy` are the heaviest keys, whose weight is part of their bucket's:
    /// those of them that are too heavy for a node are split. A job whose partial results nothing merges (no combiner)
    /// has all of a key in one place, and none here.
    ///
    /// # Errors
    ///
    /// If there are no nodes, or weights of another number of buckets.
    pub fn place(
        bucketing: Bucketing,
        nodes: Vec<Node>,
        replicas: usize,
        weights: &[u64],
        heavy: &[HeavyKey],
    ) -> Result<Planned, PlanError> {
        if nodes.is_empty() {
            return Err(PlanError::NoNodes);
        }
        if weights.len() != bucketing.buckets() as usize {
            return Err(PlanError::Buckets { given: weights.len(), buckets: bucketing.buckets() });
        }
        let mean = weights.iter().map(|bytes| *bytes as f64).sum::<f64>() / nodes.len() as f64;
        let mut above = SPLIT_ABOVE;
        loop {
            let (split, parts) = cut(bucketing, weights, heavy, mean, above);
            let placed = place(&items(&parts, &split), &nodes, replicas);
            above /= 2.0;
            if placed.imbalance <= CAP || above < FINEST {
                return Ok(Self::made(bucketing, nodes, replicas, split, parts, placed));
            }
        }
    }

    /// The same parts on other nodes: those that stand where they have room stay there.
    ///
    /// # Errors
    ///
    /// If there are no nodes, or if none of the plan's is among them.
    pub fn on(&self, nodes: Vec<Node>) -> Result<Planned, PlanError> {
        if nodes.is_empty() {
            return Err(PlanError::NoNodes);
        }
        let now: BTreeMap<&str, u32> = nodes.iter().zip(0..).map(|(node, place)| (node.name.as_str(), place)).collect();
        let place_now: Vec<Option<u32>> = self.nodes.iter().map(|node| now.get(node.name.as_str()).copied()).collect();
        if place_now.iter().all(Option::is_none) {
            return Err(PlanError::AllGone { before: names(&self.nodes), now: names(&nodes) });
        }
        let before: Vec<Vec<Option<u32>>> =
            self.parts.iter().map(|part| part.group.iter().map(|node| place_now[*node as usize]).collect()).collect();
        let placed = replace(&items(&self.parts, &self.split), &nodes, self.replicas, &before);
        Ok(Self::made(self.bucketing, nodes, self.replicas, self.split.clone(), self.parts.clone(), placed))
    }

    fn made(
        bucketing: Bucketing,
        nodes: Vec<Node>,
        replicas: usize,
        split: Vec<SplitKey>,
        mut parts: Vec<Part>,
        placed: Placed,
    ) -> Planned {
        for (part, group) in parts.iter_mut().zip(placed.groups) {
            part.group = group;
        }
        let plan = Self::of_parts(bucketing, nodes, replicas, split, parts);
        Planned { plan, imbalance: placed.imbalance, moved: placed.moved }
    }

    /// A plan that is known part by part: those of buckets in their order, then those of the split keys in theirs.
    pub fn of_parts(
        bucketing: Bucketing,
        nodes: Vec<Node>,
        replicas: usize,
        split: Vec<SplitKey>,
        parts: Vec<Part>,
    ) -> Self {
        let buckets = bucketing.buckets() as usize;
        let (mut of_bucket, mut of_split) = (vec![0; buckets], vec![0; split.len()]);
        for (place, part) in (0..).zip(&parts) {
            match part.of_key {
                None => of_bucket[part.bucket as usize] = place,
                Some((key, 0)) => of_split[key as usize] = place,
                Some(_) => {}
            }
        }
        let mut has_split = vec![false; buckets];
        for key in &split {
            has_split[key.bucket as usize] = true;
        }
        let by_key = split.iter().map(|key| key.key.clone()).zip(0..).collect();
        Self { nodes, bucketing, replicas, split, parts, of_bucket, of_split, by_key, has_split }
    }

    /// The nodes.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// From keys to buckets.
    pub const fn bucketing(&self) -> Bucketing {
        self.bucketing
    }

    /// Copies of each record.
    pub const fn replicas(&self) -> usize {
        self.replicas
    }

    /// The keys that are split, the heaviest first.
    pub fn split(&self) -> &[SplitKey] {
        &self.split
    }

    /// All parts: those of buckets, in their order, then those of split keys.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Where a key belongs: its bucket, and its place in the list of split keys if it is one; `None` if it is no value
    /// of the type.
    #[inline]
    pub fn of_key(&self, key: &[u8]) -> Option<(u32, Option<u32>)> {
        let bucket = self.bucketing.bucket(key)?;
        let split = if self.has_split[bucket as usize] { self.by_key.get(key).copied() } else { None };
        Some((bucket, split))
    }

    /// The part to which the next record of a key belongs, one of so many bytes; `None` if the key is no value of the
    /// type.
    #[inline]
    pub fn part_of(&self, key: &[u8], bytes: u64, filled: &mut Filled) -> Option<&Part> {
        let place = match self.of_key(key)? {
            (bucket, None) => self.of_bucket[bucket as usize],
            (_, Some(split)) => self.of_split[split as usize] + filled.next(split, bytes)?,
        };
        self.parts.get(place as usize)
    }

    /// Bytes that each node processes.
    pub fn loads(&self) -> Vec<u64> {
        let mut loads = vec![0; self.nodes.len()];
        for part in &self.parts {
            if let Some(first) = part.group.first() {
                loads[*first as usize] += part.bytes;
            }
        }
        loads
    }

    /// The node of each of so many reducers, of which a bucket's is its number modulo theirs: the one that has most of
    /// the reducer's keys that are not split. Partial results of split keys travel to it, since a combiner leaves
    /// little of them. Where all keys are split, the node that has most of their parts.
    pub fn reducers(&self, reducers: u32) -> Vec<u32> {
        let mut on = vec![[BTreeMap::<u32, u64>::new(), BTreeMap::new()]; reducers as usize];
        for part in &self.parts {
            let first = part.group.first().copied().unwrap_or(0);
            let of = usize::from(part.of_key.is_some());
            *on[(part.bucket % reducers) as usize][of].entry(first).or_default() += part.bytes;
        }
        let most = |on: &BTreeMap<u32, u64>| {
            on.iter().fold((0, 0), |best, (node, bytes)| if *bytes > best.1 { (*node, *bytes) } else { best })
        };
        let node = |([light, split], bucket): (&[BTreeMap<u32, u64>; 2], u32)| match (most(light), most(split)) {
            ((node, 1..), _) | (_, (node, 1..)) => node,
            _ => self.parts[self.of_bucket[bucket as usize] as usize].group.first().copied().unwrap_or(0),
        };
        on.iter().zip(0..).map(node).collect()
    }

    /// Parts of split keys that another node than their key's reducer processes: their partial results travel.
    pub fn away(&self) -> impl Iterator<Item = &Part> {
        let reducers = self.reducers(self.bucketing.buckets());
        let is_away = move |part: &&Part| part.group.first() != Some(&reducers[part.bucket as usize]);
        self.parts.iter().filter(|part| part.of_key.is_some()).filter(is_away)
    }
}

fn names(nodes: &[Node]) -> String {
    const SHOWN: usize = 5;
    let shown: Vec<&str> = nodes.iter().take(SHOWN).map(|node| node.name.as_str()).collect();
    let more = if nodes.len() > SHOWN { format!(" and {} more", nodes.len() - SHOWN) } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

/// Buckets without the keys that are split, and these keys' parts.
fn cut(bucketing: Bucketing, weights: &[u64], heavy: &[HeavyKey], mean: f64, above: f64) -> (Vec<SplitKey>, Vec<Part>) {
    let mut left = weights.to_vec();
    let mut split = Vec::new();
    for key in heavy {
        // What is certain of it: a key that only may be heavy is not worth a merge.
        if (key.least as f64) <= above * mean || mean <= 0.0 {
            continue;
        }
        let Some(bucket) = bucketing.bucket(&key.key) else { continue };
        let bytes = key.most.min(left[bucket as usize]);
        let parts = (bytes as f64 / (mean * PART.min(above / 2.0))).ceil() as u32;
        let parts = parts.clamp(2, MOST_PARTS).next_power_of_two();
        left[bucket as usize] -= bytes;
        split.push(SplitKey { key: key.key.clone(), bucket, bytes, parts });
    }
    let mut parts: Vec<Part> = (0..)
        .zip(&left)
        .map(|(bucket, bytes)| Part { bucket, of_key: None, bytes: *bytes, group: Group::new() })
        .collect();
    for (number, key) in (0..).zip(&split) {
        let each = key.bytes / u64::from(key.parts);
        let rest = key.bytes % u64::from(key.parts);
        parts.extend((0..key.parts).map(|part| Part {
            bucket: key.bucket,
            of_key: Some((number, part)),
            bytes: each + u64::from(u64::from(part) < rest),
            group: Group::new(),
        }));
    }
    (split, parts)
}

/// Parts as items, whose names do not depend on how many there are.
fn items(parts: &[Part], split: &[SplitKey]) -> Vec<Item> {
    let id = |part: &Part| match part.of_key {
        None => mixed(u64::from(part.bucket)),
        Some((key, number)) => mixed(sketch_hash(&split[key as usize].key).wrapping_add(u64::from(number) + 1)),
    };
    parts.iter().map(|part| Item { id: id(part), bytes: part.bytes, is_bucket: part.of_key.is_none() }).collect()
}
