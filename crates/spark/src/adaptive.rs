//! Adaptive execution of SQL: where all shuffles that a stage reads are there, neighbouring partitions of them are joined
//! for its tasks, and skewed ones split (`CoalesceShufflePartitions`, `ShufflePartitionsUtil` and `MapStatus` of Spark 4.1).
//!
//! Each shuffle of a query is a job of its own, submitted when what it reads is there (`ShuffleQueryStageExec`). What that
//! changes is whose tasks get cores first: those of the job that was submitted first.

use crate::application::Spark;
use crate::config::Coalesce;
use crate::reads::Reads;
use crate::shuffle::{Outputs, Partition};
use crate::skew::split;
use hadoop::Platform;
use std::collections::BTreeMap;
use std::ops::Range;
use units::Bytes;

/// Of more partitions than this a map status has not each one's size
/// (`spark.shuffle.minNumPartitionsToHighlyCompress`).
pub const FEW_PARTITIONS: usize = 2_000;
/// But for those of blocks of this size and more (`spark.shuffle.accurateBlockThreshold`).
const ACCURATE_BLOCK: u64 = Bytes::from_mib(100).get();
/// No more blocks for tasks that read parts of partitions: of each it is known whether its reader has it. As many as a
/// scenario may have without parts.
const MOST_BLOCKS: usize = 100_000_000;
/// Sizes of blocks are told as powers of this, in one byte (`MapStatus.LOG_BASE`).
const BASE: f64 = 1.1;

/// What map statuses tell of blocks: their sizes as powers of 1.1, rounded up, and of very many blocks the mean
/// (`MapStatus`, `HighlyCompressedMapStatus`).
#[derive(Debug)]
pub struct MapStatus {
    powers: Vec<f64>,
}

impl Default for MapStatus {
    fn default() -> Self {
        Self { powers: std::iter::successors(Some(1.0), |power| Some(power * BASE)).take(256).collect() }
    }
}

impl MapStatus {
    /// A block's size when a byte has told it (`compressSize`, `decompressSize`).
    pub fn rounded(&self, size: u64) -> u64 {
        if size == 0 {
            return 0;
        }
        let power = self.powers[1..].partition_point(|power| *power < size as f64) + 1;
        units::whole(self.powers[power.min(self.powers.len() - 1)])
    }

    /// The sizes of a map task's blocks as its status tells them.
    pub fn told(&self, blocks: &[u64]) -> Vec<u64> {
        if blocks.len() <= FEW_PARTITIONS {
            return blocks.iter().map(|size| self.rounded(*size)).collect();
        }
        let small = || blocks.iter().filter(|size| (1..ACCURATE_BLOCK).contains(*size));
        let mean = small().sum::<u64>() / (small().count() as u64).max(1);
        let told = |size: &u64| match *size {
            0 => 0,
            size if size >= ACCURATE_BLOCK => self.rounded(size),
            _ => mean,
        };
        blocks.iter().map(told).collect()
    }

    /// The sizes of a partition's blocks, map task by map task.
    fn blocks(&self, outputs: &Outputs, partition: &Partition, reduce: usize) -> Vec<u64> {
        let of = |length| {
            if partition.len() <= FEW_PARTITIONS {
                return self.rounded(partition.block(length, reduce).1.get());
            }
            self.told(&blocks(partition, length))[reduce]
        };
        outputs.0.iter().map(|output| output.map_or(0, |output| of(output.length))).collect()
    }

    /// The sizes of partitions, over all map tasks (`MapOutputTrackerMaster.getStatistics`).
    fn sizes(&self, outputs: &Outputs, partition: &Partition) -> Vec<u64> {
        // Many map tasks have written as much as others, and their statuses are alike.
        let mut lengths: BTreeMap<Bytes, u64> = BTreeMap::new();
        for output in outputs.0.iter().flatten() {
            *lengths.entry(output.length).or_default() += 1;
        }
        let mut sizes = vec![0_u64; partition.len()];
        for (length, times) in lengths {
            for (size, told) in sizes.iter_mut().zip(self.told(&blocks(partition, length))) {
                *size += told * times;
            }
        }
        sizes
    }
}

/// The sizes of the blocks of a file.
fn blocks(partition: &Partition, length: Bytes) -> Vec<u64> {
    (0..partition.len()).map(|reduce| partition.block(length, reduce).1.get()).collect()
}

/// How much a task shall read, of `total` bytes: as many tasks as `parallelism` have their part, but for what
/// is advised at most and worth a task at least.
pub fn target(total: u64, parallelism: u64, advised: Bytes, coalesce: &Coalesce) -> u64 {
    let tasks = if coalesce.parallelism_first { parallelism.max(1) } else { 1 };
    total.div_ceil(tasks).min(advised.get()).max(coalesce.min_size.get())
}

/// Which neighbours of partitions of such sizes are read by one task: as many as are `target` together. What is less than
/// `least` goes to the smaller one of the two beside it, even where that is more than `target` then. Empty partitions at
/// which a task would begin and end are read by none.
pub fn coalesced(sizes: &[u64], target: u64, least: u64) -> Vec<Range<usize>> {
    let mut tasks: Vec<Range<usize>> = Vec::new();
    // The partitions from `begin` on are of the task that is not full, which has `size`; the one before it has `before`.
    let (mut begin, mut size, mut before) = (0, 0_u64, 0_u64);
    for (at, next) in sizes.iter().copied().enumerate() {
        let fits = at == begin || size + next <= target;
        let is_small = size < least;
        let to_last = is_small && before > 0 && before < next;
        if fits || (is_small && !to_last) {
            size += next;
            continue;
        }
        if let Some(last) = tasks.last_mut().filter(|_| to_last) {
            last.end = at;
            before += size;
        } else {
            if size > 0 {
                tasks.push(begin..at);
            }
            before = size;
        }
        (begin, size) = (at, next);
    }
    if let Some(last) = tasks.last_mut().filter(|_| size < least && before > 0) {
        last.end = sizes.len();
    } else if size > 0 || tasks.is_empty() {
        tasks.push(begin..sizes.len());
    }
    tasks
}

impl Spark {
    /// All that a stage reads is there, for the first time: a stage of SQL takes its place behind those that were submitted
    /// before, and its partitions are joined and split.
    pub(crate) fn adapt(&mut self, platform: &mut Platform, number: usize) {
        if !self.stages[number].spec.adaptive {
            return;
        }
        self.turns += 1;
        self.stages[number].turn = self.turns;
        let spec = &self.stages[number].spec;
        // A stage that reads files, too, has as many tasks as these have parts (`collectCoalesceGroups`).
        if spec.parents.is_empty() || spec.tasks.iter().any(|task| task.input > Bytes::ZERO) {
            return;
        }
        let Some(tasks) = self.adapted(number) else {
            let reason = format!(
                "stage {}: its skewed partitions have more parts than memory holds, of all sides together more than \
                 {MOST_BLOCKS} blocks: advise larger partitions (spark.sql.adaptive.advisoryPartitionSizeInBytes)",
                spec.name
            );
            return self.fail(platform, reason);
        };
        if tasks.len() != spec.tasks.len() || tasks.iter().any(|task| !task.is_single()) {
            let parents = spec.parents.iter().map(|parent| self.stages[*parent].spec.tasks.len()).collect::<Vec<_>>();
            let maps = tasks.len();
            self.stages[number].adapt(tasks, &parents);
            // Those that read it have not begun.
            for reader in &mut self.stages {
                reader.parent_has(number, maps);
            }
        }
    }

    /// What a stage's tasks read: skewed partitions by parts, and what is between these joined. None where it is too much.
    fn adapted(&self, number: usize) -> Option<Vec<Reads>> {
        let stage = &self.stages[number];
        let status = MapStatus::default();
        let of_parent = |parent: &usize| status.sizes(&self.stages[*parent].outputs, &stage.partition);
        let by_parent: Vec<Vec<u64>> = stage.spec.parents.iter().map(of_parent).collect();
        let sizes: Vec<u64> = (0..stage.partition.len()).map(|at| by_parent.iter().map(|of| of[at]).sum()).collect();
        let target = self.config.coalesce.map(|coalesce| {
            (
                target(sizes.iter().sum(), self.parallelism(), self.config.advisory_size, &coalesce),
                coalesce.min_size.get(),
            )
        });
        let skewed = self.skewed(number, &by_parent, &status)?;
        let mut tasks = Vec::new();
        let mut begin = 0;
        for at in skewed.keys().copied().chain([sizes.len()]) {
            let between = &sizes[begin..at];
            let is_empty = between.iter().all(|size| *size == 0) && !skewed.is_empty();
            match target {
                Some(_) if is_empty => {}
                Some((target, least)) => {
                    let joined = coalesced(between, target, least).into_iter();
                    tasks.extend(joined.map(|of| Reads::whole(begin + of.start..begin + of.end)));
                }
                None => tasks.extend((begin..at).map(|partition| Reads::whole(partition..partition + 1))),
            }
            tasks.extend(skewed.get(&at).into_iter().flatten().cloned());
            begin = at + 1;
        }
        Some(tasks)
    }

    /// By partition that is skewed: what its tasks read, which are more than one. Each part of one side of the join is
    /// read with each of the other's. None where these are too many.
    fn skewed(&self, number: usize, by_parent: &[Vec<u64>], status: &MapStatus) -> Option<BTreeMap<usize, Vec<Reads>>> {
        let stage = &self.stages[number];
        let mut skewed = BTreeMap::new();
        let (Some(skew), &[left, right]) = (self.config.skew, &stage.spec.parents[..]) else { return Some(skewed) };
        let limits = [0, 1].map(|side| {
            let of_side = stage.spec.splittable.contains(&side);
            of_side.then(|| crate::skew::limits(&by_parent[side], self.config.advisory_size, &skew))
        });
        let maps = self.stages[left].outputs.0.len() + self.stages[right].outputs.0.len();
        let mut blocks = 0;
        let is_skewed =
            |side: usize, partition: usize| limits[side].is_some_and(|(most, _)| by_parent[side][partition] > most);
        for partition in (0..stage.partition.len()).filter(|at| is_skewed(0, *at) || is_skewed(1, *at)) {
            let sides = [(0, left), (1, right)].map(|(side, parent)| {
                let outputs = &self.stages[parent].outputs;
                let whole = 0..outputs.0.len();
                let parts = match limits[side] {
                    Some((_, target)) if is_skewed(side, partition) => {
                        split(&status.blocks(outputs, &stage.partition, partition), target)
                    }
                    _ => vec![whole],
                };
                let bytes = |maps: &Range<usize>| outputs.part(&stage.partition, partition, maps.clone());
                parts.into_iter().map(|maps| (maps.clone(), bytes(&maps))).collect::<Vec<_>>()
            });
            let tasks = sides[0].len() * sides[1].len();
            if tasks > 1 {
                blocks += tasks * maps;
                if blocks > MOST_BLOCKS {
                    return None;
                }
                skewed.insert(partition, products(partition, &sides));
            }
        }
        Some(skewed)
    }

    /// Cores of executors that the driver knows of, and no less than two (`CoarseGrainedSchedulerBackend`).
    fn parallelism(&self) -> u64 {
        let alive = self.executors.iter().filter(|executor| executor.is_up());
        alive.map(|executor| u64::from(executor.cores)).sum::<u64>().max(2)
    }
}

/// What tasks read of a partition of which each side of a join has such parts: map tasks and their bytes. A task's work goes
/// with what it reads, what it writes with its part of what both sides make together.
fn products(partition: usize, sides: &[Vec<(Range<usize>, Bytes)>; 2]) -> Vec<Reads> {
    let sums = [0, 1].map(|side| sides[side].iter().map(|(_, bytes)| *bytes).sum::<Bytes>());
    let ratio =
        |part: Bytes, whole: Bytes| if whole > Bytes::ZERO { part.get() as f64 / whole.get() as f64 } else { 1.0 };
    let mut tasks = Vec::new();
    let mut written = 0.0;
    for (left, left_bytes) in &sides[0] {
        for (right, right_bytes) in &sides[1] {
            let part = ratio(*left_bytes, sums[0]) * ratio(*right_bytes, sums[1]);
            let parts = [(0, left), (1, right)].into_iter().filter(|(side, _)| sides[*side].len() > 1);
            tasks.push(Reads {
                partitions: partition..partition + 1,
                maps: parts.map(|(side, maps)| (side, maps.clone())).collect(),
                work: ratio(*left_bytes + *right_bytes, sums[0] + sums[1]),
                writes: (written, written + part),
            });
            written += part;
        }
    }
    if let Some(last) = tasks.last_mut() {
        last.writes.1 = 1.0;
    }
    tasks
}
