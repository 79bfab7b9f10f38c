//! Data sets of a log that the program kept (`RDD.persist`): which stage computed one, and which later ones read it. A log
//! says that a data set is to be kept, but neither how large its partitions are nor whether they were there
//! (`Number of Cached Partitions` is 0 in all logs). What a task reads of one counts as its input.

use super::settings::take;
use super::stages::{Group, Ran};
use super::{Application, Locality, Rdd, Stage, Task};
use scenario::{Spark, SparkGroup, SparkLevel};
use std::collections::BTreeMap;
use units::Bytes;

/// Where a data set is kept, if it is.
const fn level(rdd: &Rdd) -> Option<SparkLevel> {
    match (rdd.memory, rdd.disk) {
        (false, false) => None,
        (true, false) => Some(SparkLevel::MemoryOnly),
        (true, true) => Some(SparkLevel::MemoryAndDisk),
        (false, true) => Some(SparkLevel::DiskOnly),
    }
}

/// Stages that read what one of an earlier group has kept: by number, that one's and the level. The first stage with a data
/// set has computed it. Others with it have read it, where tasks had input in their executor's memory.
pub fn readers(groups: &[Group], ran: &Ran) -> BTreeMap<u32, (u32, SparkLevel)> {
    let mut first: BTreeMap<u32, (usize, &Stage)> = BTreeMap::new();
    let mut keepers: BTreeMap<u32, u32> = BTreeMap::new();
    let mut readers: BTreeMap<u32, (u32, SparkLevel)> = BTreeMap::new();
    let staged = groups.iter().enumerate().flat_map(|(number, group)| group.stages.iter().map(move |of| (number, *of)));
    for (number, stage) in staged {
        let tasks = ran.of_stage(stage);
        let here = |task: &&Task| task.metrics.input_bytes > 0 && task.locality == Locality::ProcessLocal;
        let reads = tasks.values().copied().any(|task| here(&task)) && !keepers.contains_key(&stage.id);
        for rdd in &stage.rdds {
            let Some(level) = level(rdd) else { continue };
            let (before, keeper) = *first.entry(rdd.id).or_insert((number, stage));
            let keeps = *keepers.get(&keeper.id).unwrap_or(&rdd.id) == rdd.id && !readers.contains_key(&keeper.id);
            let fits = before < number && keeper.tasks == stage.tasks;
            if reads && keeps && fits && !readers.contains_key(&stage.id) {
                keepers.insert(keeper.id, rdd.id);
                readers.insert(stage.id, (keeper.id, level));
            }
        }
    }
    readers
}

/// How large the partitions are that a stage's tasks have read; of those that are not in the log, their mean.
pub fn sizes(tasks: &BTreeMap<u32, &Task>, count: u32) -> Vec<Bytes> {
    let bytes = |task: &&Task| task.metrics.input_bytes;
    let mean = tasks.values().map(bytes).fold(0_u64, u64::saturating_add) / tasks.len().max(1) as u64;
    (0..count).map(|index| Bytes::new(tasks.get(&index).map_or(mean, bytes))).collect()
}

/// The settings of memory, as the log has them.
pub fn settings(of: &Application, spark: &mut Spark, notes: &mut Vec<String>) {
    if ["spark.executor.memory", "spark.memory.fraction"].iter().any(|name| of.property(name).is_some()) {
        spark.storage_memory = None;
    }
    take(of, spark, notes, |property| property.group == SparkGroup::Kept);
}
