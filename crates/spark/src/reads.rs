//! What tasks read where adaptive execution has joined and split the partitions of their shuffles.

use crate::config::TaskSpec;
use crate::shuffle::{Outputs, Partition};
use crate::stage::Stage;
use hadoop::NodeId;
use std::ops::Range;
use units::{Bytes, Time};

/// What a task reads.
#[derive(Clone, PartialEq, Debug)]
pub struct Reads {
    /// Partitions, one after the other.
    pub partitions: Range<usize>,
    /// Of a single skewed one, by place of a parent: the map tasks whose blocks it reads. Of other parents those of all.
    pub maps: Vec<(usize, Range<usize>)>,
    /// The part of the partitions' work that it has, and the parts of what they write before and after its own.
    pub work: f64,
    pub writes: (f64, f64),
}

impl Reads {
    /// All of these partitions.
    pub const fn whole(partitions: Range<usize>) -> Self {
        Self { partitions, maps: Vec::new(), work: 1.0, writes: (0.0, 1.0) }
    }

    /// Whether it is all of one partition.
    pub fn is_single(&self) -> bool {
        self.partitions.len() == 1 && self.maps.is_empty()
    }

    /// Of a parent, by its place, the map tasks whose blocks it reads; none where of all.
    fn maps(&self, parent: usize) -> Option<&Range<usize>> {
        self.maps.iter().find(|(place, _)| *place == parent).map(|(_, maps)| maps)
    }

    /// What it does, of these partitions' tasks; it has one result.
    fn spec(&self, partitions: &[TaskSpec]) -> TaskSpec {
        let (before, behind) = self.writes;
        let at = |whole: Bytes, part: f64| Bytes::new(units::whole(whole.get() as f64 * part)).min(whole);
        let bytes = |of: fn(&TaskSpec) -> Bytes| {
            let whole: Bytes = partitions.iter().map(of).sum();
            at(whole, behind).saturating_sub(at(whole, before))
        };
        TaskSpec {
            work: partitions.iter().fold(Time::ZERO, |sum, task| sum.saturating_add(task.work)).mul_f64(self.work),
            input: bytes(|task| task.input),
            shuffle_write: bytes(|task| task.shuffle_write),
            spill: bytes(|task| task.spill),
            output: bytes(|task| task.output),
            kept: bytes(|task| task.kept),
            result: partitions.iter().map(|task| task.result).max().unwrap_or_default(),
        }
    }
}

/// What all tasks of a stage read.
#[derive(Debug)]
pub struct Adapted {
    /// How shuffles are divided among partitions.
    partition: Partition,
    tasks: Vec<Reads>,
}

impl Adapted {
    /// How many partitions there are.
    pub fn partitions(&self) -> usize {
        self.partition.len()
    }

    /// Whether some tasks read a part of a partition.
    pub fn splits(&self) -> bool {
        self.tasks.iter().any(|task| !task.maps.is_empty())
    }

    /// Whether a task reads a block of a map task of a parent.
    pub fn reads(&self, task: usize, parent: usize, map: usize) -> bool {
        self.tasks[task].maps(parent).is_none_or(|maps| maps.contains(&map))
    }

    /// The nodes that a task prefers for what it reads of a parent: all that any of its partitions does, or those of the
    /// map tasks of which it reads a part of one (`ShuffledRowRDD`).
    pub fn preferred(&self, outputs: &Outputs, parent: usize, task: usize) -> Vec<NodeId> {
        let task = &self.tasks[task];
        let mut nodes: Vec<NodeId> = match task.maps(parent) {
            Some(maps) => outputs.0[maps.clone()].iter().flatten().map(|output| output.node).collect(),
            None => {
                task.partitions.clone().flat_map(|partition| outputs.preferred(&self.partition, partition)).collect()
            }
        };
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }
}

impl Stage {
    /// Its tasks read these, of parents with so many tasks each.
    pub fn adapt(&mut self, tasks: Vec<Reads>, parents: &[usize]) {
        self.spec.tasks = tasks.iter().map(|task| task.spec(&self.spec.tasks[task.partitions.clone()])).collect();
        let of_tasks = self.partition.of(tasks.iter().map(|task| task.partitions.clone()));
        let partition = std::mem::replace(&mut self.partition, of_tasks);
        self.resize(parents);
        self.adapted = Some(Adapted { partition, tasks });
    }
}
