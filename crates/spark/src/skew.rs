//! Skewed partitions of the two shuffles of a join, which adaptive execution splits by their map tasks
//! (`OptimizeSkewedJoin`, `ShufflePartitionsUtil.splitSizeListByTargetSize` of Spark 4.1).

use crate::config::Skew;
use std::ops::Range;
use units::Bytes;

/// A part that is less than this of what a part shall be goes to a neighbour (`SMALL_PARTITION_FACTOR`).
const SMALL: f64 = 0.2;
/// Two parts are one that are less than this together (`MERGED_PARTITION_FACTOR`).
const MERGED: f64 = 1.2;

/// Of a shuffle with partitions of such sizes: the size above which one is skewed, and how much of it a task shall read.
pub fn limits(sizes: &[u64], advised: Bytes, skew: &Skew) -> (u64, u64) {
    let mut sorted = sizes.to_vec();
    sorted.sort_unstable();
    let (half, odd) = (sorted.len() / 2, sorted.len() % 2 == 1);
    let median = match sorted.get(half) {
        Some(middle) if odd => *middle,
        Some(middle) => (middle + sorted[half - 1]) / 2,
        None => 0,
    };
    let threshold = skew.threshold.get().max(units::whole(median.max(1) as f64 * skew.factor));
    let others = || sizes.iter().filter(|size| **size <= threshold);
    let mean = others().sum::<u64>() / (others().count() as u64).max(1);
    (threshold, advised.get().max(mean))
}

/// Neighbouring map tasks whose blocks of a partition, of such sizes, are read together, so that each part is near the
/// target.
pub fn split(sizes: &[u64], target: u64) -> Vec<Range<usize>> {
    let mut parts: Vec<(Range<usize>, u64)> = Vec::new();
    let mut close = |maps: Range<usize>, size: u64| {
        let of = |size: u64, part: f64| (size as f64) < target as f64 * part;
        match parts.last_mut() {
            Some((last, before)) if of(size + *before, MERGED) || of(size, SMALL) || of(*before, SMALL) => {
                last.end = maps.end;
                *before += size;
            }
            _ => parts.push((maps, size)),
        }
    };
    let (mut begin, mut size) = (0, 0);
    for (map, next) in sizes.iter().copied().enumerate() {
        if map > 0 && size + next > target {
            close(begin..map, size);
            (begin, size) = (map, 0);
        }
        size += next;
    }
    close(begin..sizes.len(), size);
    parts.into_iter().map(|(maps, _)| maps).collect()
}
