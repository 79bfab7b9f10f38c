//! A stage in the course of a run.

use crate::config::StageSpec;
use crate::exclusion::StageExclusion;
use crate::planned::Planned;
use crate::reads::Adapted;
use crate::record::{Exchange, StageRecord};
use crate::shuffle::{Outputs, Partition};
use crate::speculation::Attempts;
use crate::task_set::TaskSet;
use hadoop::NodeId;
use hadoop::hdfs::BlockId;
use std::collections::{BTreeMap, BTreeSet};
use units::Bytes;

/// A stage whose data set another may have to compute anew: it keeps what that one reads, or what such a stage has
/// read.
#[derive(Debug)]
pub struct Ancestor {
    pub stage: usize,
    /// Where its parents end among those of the one that computes.
    pub parents_end: usize,
    /// How it divides their output.
    pub partition: Partition,
}

/// A stage.
#[derive(Debug)]
pub struct Stage {
    pub spec: StageSpec,
    pub record: StageRecord,
    /// What its tasks have written for those that read it.
    pub outputs: Outputs,
    /// How the output of its parents is divided among its tasks.
    pub partition: Partition,
    /// How many parents are its own; behind them are those of its ancestors.
    pub own_parents: usize,
    /// The stage whose data set it reads, the one whose data set that one has read, and so on.
    pub lineage: Vec<Ancestor>,
    /// What its tasks read, where adaptive execution has joined or split partitions.
    pub adapted: Option<Adapted>,
    /// Of SQL's stages in adaptive execution, which was submitted before which; of others 0.
    pub turn: usize,
    /// Its tasks that wait for cores, from its submission on.
    pub set: Option<TaskSet>,
    /// Whether its tasks are with the scheduler, or will be after its delay.
    pub is_active: bool,
    /// A stage waits for outputs of it that were lost.
    pub is_needed: bool,
    /// Whether others read its shuffle.
    pub has_readers: bool,
    /// Tasks that were done, and whose output was lost with their executor.
    pub lost: BTreeSet<usize>,
    /// What speculation goes by, where it is on.
    pub attempts: Attempts,
    /// Attempts that have yet to fail, as planned.
    pub planned: Planned,
    /// By task: attempts in its stage's current one that have failed.
    pub failures: BTreeMap<usize, u32>,
    /// Where attempts in its current one have failed, and which executors get no more of them.
    pub excluded: StageExclusion,
    /// How often in a row it has failed as outputs could not be fetched.
    pub failed_in_a_row: u32,
    /// No task was held back for a better place since its wait began anew (`noRejectsSinceLastReset`).
    pub no_rejects: bool,
    /// By task: the blocks of its input in HDFS.
    pub blocks: Vec<Vec<BlockId>>,
    /// By parent: which blocks its tasks have got, map task by map task.
    pub got: Vec<Got>,
    /// By parent: the bytes of these.
    pub books: Vec<Exchange>,
}

impl Stage {
    /// The stage of this number, whose parents have so many tasks each. The first of them are its own, the others those
    /// of its ancestors.
    pub fn new(
        number: usize,
        spec: StageSpec,
        parents: &[usize],
        (own_parents, lineage): (usize, Vec<Ancestor>),
    ) -> Self {
        let books = |parent: &usize| Exchange { stage: number, parent: *parent, ..Exchange::default() };
        let partitions = spec.tasks.len();
        let mut stage = Self {
            partition: Partition::new(&spec.shares, partitions),
            own_parents,
            lineage,
            outputs: Outputs::default(),
            record: StageRecord { partitions: units::count(partitions), ..StageRecord::default() },
            adapted: None,
            turn: 0,
            set: None,
            is_active: false,
            is_needed: false,
            has_readers: false,
            lost: BTreeSet::new(),
            attempts: Attempts::default(),
            planned: Planned::new(&spec.failing),
            failures: BTreeMap::new(),
            excluded: StageExclusion::default(),
            failed_in_a_row: 0,
            no_rejects: true,
            blocks: Vec::new(),
            got: Vec::new(),
            books: spec.parents.iter().map(books).collect(),
            spec,
        };
        stage.resize(parents);
        stage
    }

    /// It has as many tasks as are in its settings, none of which has begun, and parents with so many tasks each.
    pub fn resize(&mut self, parents: &[usize]) {
        let tasks = self.spec.tasks.len();
        self.record.tasks = units::count(tasks);
        self.outputs = Outputs(vec![None; tasks]);
        self.got = parents.iter().map(|maps| Got::new(*maps, tasks)).collect();
    }

    /// If that stage is a parent of it: it has so many tasks now, of which nothing has been read.
    pub fn parent_has(&mut self, parent: usize, maps: usize) {
        for (got, of) in self.got.iter_mut().zip(&self.spec.parents) {
            if *of == parent {
                *got = Got::new(maps, got.reduces);
            }
        }
    }

    /// How many partitions the shuffles have that it reads.
    pub fn partitions(&self) -> usize {
        self.adapted.as_ref().map_or(self.spec.tasks.len(), Adapted::partitions)
    }

    /// Whether a task reads a block of a map task of its parent at this place.
    pub fn reads(&self, task: usize, parent: usize, map: usize) -> bool {
        self.adapted.as_ref().is_none_or(|adapted| adapted.reads(task, parent, map))
    }

    /// The nodes that a task prefers for what it reads of its parent at this place, which has these outputs.
    pub fn preferred(&self, outputs: &Outputs, parent: usize, task: usize) -> Vec<NodeId> {
        match &self.adapted {
            Some(adapted) => adapted.preferred(outputs, parent, task),
            None => outputs.preferred(&self.partition, task),
        }
    }

    /// Where a task's block lies in a file of a parent.
    pub fn block(&self, parent: usize, length: Bytes, task: usize) -> (Bytes, Bytes) {
        let ancestor = self.lineage.iter().find(|ancestor| parent < ancestor.parents_end);
        let of_ancestor = ancestor.filter(|_| parent >= self.own_parents);
        of_ancestor.map_or(&self.partition, |ancestor| &ancestor.partition).block(length, task)
    }

    /// The parents that a task reads which computes what so many ancestors should have kept.
    pub fn parents_behind(&self, missing: usize) -> &[usize] {
        let last = missing.checked_sub(1).and_then(|last| self.lineage.get(last));
        &self.spec.parents[..last.map_or(self.own_parents, |last| last.parents_end)]
    }

    /// The block in which a task's last line ends, if its input is followed by more of its file.
    pub fn next_block(&self, task: usize, block_size: Bytes) -> Option<BlockId> {
        let is_whole = self.spec.tasks[task].input.get().is_multiple_of(block_size.get());
        let next = self.blocks.get(task + 1).and_then(|blocks| blocks.first().copied());
        next.filter(|_| self.spec.reads_on && self.spec.files == 1 && is_whole)
    }

    /// Whether a task of it, or a copy of one, waits for a core.
    pub fn waits(&self) -> bool {
        self.set.as_ref().is_some_and(TaskSet::wants)
    }

    pub const fn is_done(&self) -> bool {
        self.record.finish.is_some()
    }

    /// Whether others can read all of its output.
    pub fn is_available(&self) -> bool {
        self.is_done() && self.lost.is_empty()
    }

    /// Whether a task of it is done, and its output there.
    pub fn has(&self, index: usize) -> bool {
        self.outputs.0[index].is_some() && !self.lost.contains(&index)
    }
}

/// Which blocks of a shuffle have come to their tasks.
#[derive(Clone, Debug)]
pub struct Got {
    reduces: usize,
    bits: Vec<u64>,
}

impl Got {
    fn new(maps: usize, reduces: usize) -> Self {
        Self { reduces, bits: vec![0; (maps * reduces).div_ceil(64)] }
    }
    /// A block has come; true if it had before.
    pub fn mark(&mut self, map: usize, reduce: usize) -> bool {
        let place = map * self.reduces + reduce;
        let had = self.has(map, reduce);
        self.bits[place / 64] |= 1 << (place % 64);
        had
    }
    pub fn has(&self, map: usize, reduce: usize) -> bool {
        let place = map * self.reduces + reduce;
        self.bits[place / 64] & 1 << (place % 64) != 0
    }
}
