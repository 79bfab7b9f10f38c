//! Adaptive execution of SQL: where all shuffles that a stage reads are there, neighbouring partitions of them are joined
//! for its tasks (`CoalesceShufflePartitions`, `ShufflePartitionsUtil` and `MapStatus` of Spark 4.1).
//!
//! Each shuffle of a query is a job of its own, submitted when what it reads is there (`ShuffleQueryStageExec`). What that
//! changes is whose tasks get cores first: those of the job that was submitted first.

use crate::application::Spark;
use crate::config::{Coalesce, TaskSpec};
use crate::shuffle::{Outputs, Partition};
use crate::stage::Stage;
use hadoop::NodeId;
use std::collections::BTreeMap;
use std::ops::Range;
use units::{Bytes, Time};

/// Of more partitions than this a map status has not each one's size
/// (`spark.shuffle.minNumPartitionsToHighlyCompress`).
pub const FEW_PARTITIONS: usize = 2_000;
/// But for those of blocks of this size and more (`spark.shuffle.accurateBlockThreshold`).
const ACCURATE_BLOCK: u64 = Bytes::from_mib(100).get();
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

    /// The sizes of partitions, over all map tasks (`MapOutputTrackerMaster.getStatistics`).
    fn sizes(&self, outputs: &Outputs, partition: &Partition) -> Vec<u64> {
        // Many map tasks have written as much as others, and their statuses are alike.
        let mut lengths: BTreeMap<Bytes, u64> = BTreeMap::new();
        for output in outputs.0.iter().flatten() {
            *lengths.entry(output.length).or_default() += 1;
        }
        let mut sizes = vec![0_u64; partition.len()];
        for (length, times) in lengths {
            let blocks: Vec<u64> = (0..sizes.len()).map(|reduce| partition.block(length, reduce).1.get()).collect();
            for (size, told) in sizes.iter_mut().zip(self.told(&blocks)) {
                *size += told * times;
            }
        }
        sizes
    }
}

/// How much a task shall read, of `total` bytes: as many tasks as `parallelism` have their part, but for what
/// is advised at most and worth a task at least.
pub fn target(total: u64, parallelism: u64, coalesce: &Coalesce) -> u64 {
    let tasks = if coalesce.parallelism_first { parallelism.max(1) } else { 1 };
    total.div_ceil(tasks).min(coalesce.advisory_size.get()).max(coalesce.min_size.get())
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

/// Partitions of shuffles that were joined.
#[derive(Debug)]
pub struct Joined {
    /// How they were divided before.
    partition: Partition,
    /// By task: the partitions that it reads.
    tasks: Vec<Range<usize>>,
}

impl Joined {
    /// How many partitions there were.
    pub fn partitions(&self) -> usize {
        self.partition.len()
    }

    /// The nodes that a task prefers: all that any of its partitions does (`ShuffledRowRDD`).
    pub fn preferred(&self, outputs: &Outputs, task: usize) -> Vec<NodeId> {
        let of = |partition| outputs.preferred(&self.partition, partition);
        let mut nodes: Vec<NodeId> = self.tasks[task].clone().flat_map(of).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }
}

impl Spark {
    /// All that a stage reads is there, for the first time: a stage of SQL takes its place behind those that were submitted
    /// before, and partitions are joined for its tasks.
    pub(crate) fn adapt(&mut self, number: usize) {
        if !self.stages[number].spec.adaptive {
            return;
        }
        self.turns += 1;
        self.stages[number].turn = self.turns;
        let stage = &self.stages[number];
        // A stage that reads files, too, has as many tasks as these have parts (`collectCoalesceGroups`).
        let reads_files = stage.spec.tasks.iter().any(|task| task.input > Bytes::ZERO);
        let Some(coalesce) = self.config.coalesce.filter(|_| !stage.spec.parents.is_empty() && !reads_files) else {
            return;
        };
        let (status, mut sizes) = (MapStatus::default(), vec![0; stage.spec.tasks.len()]);
        for parent in &stage.spec.parents {
            let of_parent = status.sizes(&self.stages[*parent].outputs, &stage.partition);
            sizes.iter_mut().zip(of_parent).for_each(|(size, more)| *size += more);
        }
        let target = target(sizes.iter().sum(), self.parallelism(), &coalesce);
        let tasks = coalesced(&sizes, target, coalesce.min_size.get());
        if tasks.len() < sizes.len() {
            let maps: Vec<usize> =
                stage.spec.parents.iter().map(|parent| self.stages[*parent].spec.tasks.len()).collect();
            self.stages[number].join(tasks, &maps);
        }
    }

    /// Cores of executors that the driver knows of, and no less than two (`CoarseGrainedSchedulerBackend`).
    fn parallelism(&self) -> u64 {
        let alive = self.executors.iter().filter(|executor| !executor.is_lost).count() as u64;
        (alive * u64::from(self.config.cores)).max(2)
    }
}

impl Stage {
    /// Its tasks are those that read these partitions, of parents with so many tasks each: each does what all of its
    /// partitions ask for, and has one result.
    fn join(&mut self, tasks: Vec<Range<usize>>, parents: &[usize]) {
        self.spec.tasks = tasks.iter().map(|partitions| joined(&self.spec.tasks[partitions.clone()])).collect();
        let coarse = self.partition.joined(&tasks);
        let partition = std::mem::replace(&mut self.partition, coarse);
        self.resize(parents);
        self.joined = Some(Joined { partition, tasks });
    }
}

/// What a task does that reads the partitions of these.
fn joined(partitions: &[TaskSpec]) -> TaskSpec {
    let bytes = |of: fn(&TaskSpec) -> Bytes| partitions.iter().map(of).sum();
    TaskSpec {
        work: partitions.iter().fold(Time::ZERO, |sum, task| sum.saturating_add(task.work)),
        input: bytes(|task| task.input),
        shuffle_write: bytes(|task| task.shuffle_write),
        spill: bytes(|task| task.spill),
        output: bytes(|task| task.output),
        result: partitions.iter().map(|task| task.result).max().unwrap_or_default(),
    }
}
