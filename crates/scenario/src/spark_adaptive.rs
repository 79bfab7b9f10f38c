//! Settings of Spark's adaptive execution that have no effect, or another than who has written them may expect.

use super::check::Check;
use super::{Spark, SparkStage};
use units::{Bytes, Quantity};

/// Settings of the partitions that are joined.
const OF_JOINED: [&str; 3] =
    ["adaptive-advisory-partition-size", "adaptive-min-partition-size", "adaptive-parallelism-first"];

pub(super) fn warn(check: &mut Check<'_>, spark: &Spark) {
    let of_sql: Vec<usize> = (0..spark.stage.len()).filter(|stage| spark.stage[*stage].sql).collect();
    let reads = of_sql.iter().any(|stage| !spark.stage[*stage].parents.is_empty());
    let mut idle = |key: &str, why: &str, help: &str| {
        let path = format!("spark.{key}");
        if check.states(&path) {
            check.says(&path, format!("it has no effect: {why}"), help);
        }
    };
    if !reads {
        for key in ["adaptive", "adaptive-coalesce-partitions"].into_iter().chain(OF_JOINED) {
            idle(key, "no stage with `parents` says `sql`", "`sql = true` for stages of queries, or leave it out");
        }
        return;
    }
    if !spark.adaptive {
        for key in ["adaptive-coalesce-partitions"].into_iter().chain(OF_JOINED) {
            idle(key, "`adaptive` is off", "leave it out, or `adaptive = true`");
        }
        return;
    }
    if !spark.adaptive_coalesce_partitions {
        for key in OF_JOINED {
            let help = "leave it out, or `adaptive-coalesce-partitions = true`";
            idle(key, "`adaptive-coalesce-partitions` is off", help);
        }
        return;
    }
    let (most, least) = (spark.adaptive_advisory_partition_size, spark.adaptive_min_partition_size);
    if most <= least {
        let message = format!("it has no effect: a task reads {} at least", least.exact());
        check.says("spark.adaptive-advisory-partition-size", message, "more than `adaptive-min-partition-size`");
    }
    let parents = spark.parents();
    for i in of_sql.into_iter().filter(|stage| !parents[*stage].is_empty()) {
        let stage = &spark.stage[i];
        let reads_files = stage.input > Bytes::ZERO || !stage.inputs.is_empty();
        let writes = |parent: &SparkStage| {
            parent.shuffle_write > Bytes::ZERO || parent.shuffle_writes.iter().any(|bytes| *bytes > Bytes::ZERO)
        };
        let path = format!("spark.stage.{i}.sql");
        if reads_files {
            let message = "its partitions are not joined: it reads files, too, and has a task for each part of these";
            check.says(&path, message, "leave it out, or leave out `input`");
        } else if stage.tasks > 1 && !parents[i].iter().any(|parent| writes(&spark.stage[*parent])) {
            let message = "its parents write nothing for it: one task reads all of its partitions, which are empty";
            check.says(&path, message, "`shuffle-write` of its parents");
        }
    }
}
