//! What a stage leaves for those that read it: for each of its tasks one file with a part for each task of a reader
//! (`SortShuffleManager`, `IndexShuffleBlockResolver`).

use hadoop::{DiskStream, NodeId};
use std::collections::BTreeMap;
use std::ops::Range;
use units::Bytes;

/// How the output of each map task is divided among the reduce tasks: cumulative parts.
#[derive(Clone, PartialEq, Debug)]
pub struct Partition {
    /// By reduce task, the parts of a file before the begin and before the end of its block; the last end is 1.
    parts: Vec<(f64, f64)>,
}

impl Partition {
    /// Parts that are to each other as `shares`; equal ones, `reduces` of them, where there are none.
    pub fn new(shares: &[f64], reduces: usize) -> Self {
        let share = |reduce: usize| shares.get(reduce).copied().unwrap_or(1.0).max(0.0);
        let whole: f64 = (0..reduces).map(share).sum();
        let mut sum = 0.0;
        let mut end = 0.0;
        let mut part = |reduce: usize| {
            sum += share(reduce);
            let begin = end;
            // Even where nobody shall have anything, somebody has the whole.
            end = if reduce + 1 == reduces || whole <= 0.0 { 1.0 } else { (sum / whole).min(1.0) };
            (begin, end)
        };
        Self { parts: (0..reduces).map(&mut part).collect() }
    }

    /// What tasks read, each of which reads what these of its parts make up.
    pub fn of(&self, tasks: impl Iterator<Item = Range<usize>>) -> Self {
        Self { parts: tasks.map(|parts| (self.parts[parts.start].0, self.parts[parts.end - 1].1)).collect() }
    }

    /// How many reduce tasks there are.
    pub fn len(&self) -> usize {
        self.parts.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Where the block of a reduce task lies in a file of `length`: offset and length. Blocks of all reduce tasks make
    /// up the file.
    pub fn block(&self, length: Bytes, reduce: usize) -> (Bytes, Bytes) {
        // All of it exactly, where it is longer than a number of double precision tells.
        let at = |part: f64| if part >= 1.0 { length } else { Bytes::new(units::whole(length.get() as f64 * part)) };
        let (begin, end) = self.parts[reduce];
        let (begin, end) = (at(begin).min(length), at(end).min(length));
        (begin, end.saturating_sub(begin))
    }
}

/// The output of a map task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MapOutput {
    /// The executor that has it.
    pub executor: usize,
    /// Its node.
    pub node: NodeId,
    /// The disk there.
    pub disk: u32,
    /// The file.
    pub file: DiskStream,
    /// Length of the file.
    pub length: Bytes,
}

/// Outputs of a stage, by map task; none where the task is not done.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outputs(pub Vec<Option<MapOutput>>);

/// The node of an executor is preferred that has at least this part of what a task reads (`REDUCER_PREF_LOCS_FRACTION` of
/// `DAGScheduler` and `MapOutputTracker`).
const PREFERRED_PART: f64 = 0.2;
/// No preferences are computed from this many map or reduce tasks on (`SHUFFLE_PREF_MAP_THRESHOLD` and
/// `SHUFFLE_PREF_REDUCE_THRESHOLD`).
const PREFERENCE_LIMIT: usize = 1_000;

impl Outputs {
    /// Bytes of all outputs.
    pub fn bytes(&self) -> Bytes {
        self.0.iter().flatten().map(|output| output.length).sum()
    }

    /// Bytes that these map tasks have for a reduce task.
    pub fn part(&self, partition: &Partition, reduce: usize, maps: Range<usize>) -> Bytes {
        self.0[maps].iter().flatten().map(|output| partition.block(output.length, reduce).1).sum()
    }

    /// The nodes that a reduce task prefers: those of executors with a fifth of what it reads
    /// (`getLocationsWithLargestOutputs`, which sums by block manager).
    pub fn preferred(&self, partition: &Partition, reduce: usize) -> Vec<NodeId> {
        if self.0.len() >= PREFERENCE_LIMIT || partition.len() >= PREFERENCE_LIMIT {
            return Vec::new();
        }
        let mut by_executor: BTreeMap<usize, (NodeId, u64)> = BTreeMap::new();
        for output in self.0.iter().flatten() {
            let bytes = partition.block(output.length, reduce).1.get();
            by_executor.entry(output.executor).or_insert((output.node, 0)).1 += bytes;
        }
        let whole: u64 = by_executor.values().map(|(_, bytes)| bytes).sum();
        let enough = |bytes: u64| bytes > 0 && bytes as f64 >= whole as f64 * PREFERRED_PART;
        let nodes = by_executor.into_values().filter(|(_, bytes)| enough(*bytes)).map(|(node, _)| node);
        let mut nodes: Vec<NodeId> = nodes.collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }
}
