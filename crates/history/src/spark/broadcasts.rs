//! What executors get of the driver for joins of SQL whose one side it broadcasts.
//!
//! No log says how large that is: the metric `data size` is the memory that it takes, in pages of megabytes. The driver
//! has collected the same rows from tasks, as their results, compressed by the same codec (`SparkPlan.getByteArrayRdd`,
//! `TorrentBroadcast.blockifyObject`); with their keys it broadcasts some bytes more for each.

use super::{Application, TaskEnd};
use std::collections::BTreeMap;

/// What a row has beyond when it is broadcast by its key, compressed, in bytes: the key, its length and its place.
/// Eleven tables of 5,000 and of 50,000 rows, and that of a recorded query, have 3 to 15 (`docs/models/spark.md`).
const KEY: u64 = 8;

/// Spark broadcasts no more of a table (`BroadcastExchangeExec`).
const MOST: u64 = 8 << 30;

/// By number: the stages whose executors get a broadcast before their first task, and its bytes. Executors keep it, so
/// that the first of the stages that read it gets it.
pub fn broadcasts(of: &Application) -> BTreeMap<u32, u64> {
    let succeeded = || of.tasks.iter().filter(|task| task.end == TaskEnd::Succeeded);
    // A result has what its task counted, too.
    let least = succeeded().map(|task| task.metrics.result_bytes).min().unwrap_or(0);
    let mut results: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    for task in succeeded() {
        let result = results.entry(task.stage).or_default();
        *result = result.saturating_add(task.metrics.result_bytes - least);
    }
    let mut collected: BTreeMap<usize, u64> = BTreeMap::new();
    let mut first: BTreeMap<usize, u32> = BTreeMap::new();
    for stage in &of.stages {
        let result = results.get(&(stage.id, stage.attempt)).copied().unwrap_or(0);
        for place in &stage.collected {
            let bytes = collected.entry(*place).or_default();
            *bytes = result.saturating_add(*bytes);
        }
        for place in &stage.read {
            first.entry(*place).and_modify(|first| *first = stage.id.min(*first)).or_insert(stage.id);
        }
    }
    let mut got: BTreeMap<u32, u64> = BTreeMap::new();
    for (place, bytes) in collected {
        let (Some(stage), Some(broadcast)) = (first.get(&place), of.broadcasts.get(place)) else { continue };
        let keys = if broadcast.keyed { broadcast.rows.saturating_mul(KEY) } else { 0 };
        let all = got.entry(*stage).or_default();
        *all = all.saturating_add(bytes.saturating_add(keys).min(MOST));
    }
    got
}
