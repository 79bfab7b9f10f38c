//! Settings of Spark's adaptive execution that have no effect, or another than who has written them may expect.

use super::check::Check;
use super::{Spark, SparkLevel, SparkStage};
use units::{Bytes, Quantity};

/// Whether a setting is idle for this cause, what it is and what helps.
type Cause<'a> = (bool, &'a str, &'a str);

/// What is wrong with a stage whose tasks may change, and with the parents whose partitions these may split.
pub(super) fn check(check: &mut Check<'_>, i: usize, stage: &SparkStage) {
    if stage.sql && (stage.persist != SparkLevel::None || !stage.reads.is_empty()) {
        let message = "a stage whose partitions adaptive execution joins neither keeps a data set here nor reads one";
        check.says(
            &format!("spark.stage.{i}.sql"),
            message,
            "leave it out: the stage then has as many tasks as `tasks`",
        );
    }
    let path = format!("spark.stage.{i}.skew-join");
    for side in stage.skew_join.iter().filter(|side| !stage.parents.contains(*side)) {
        let help = match units::nearest(side, stage.parents.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "parents of the stage".to_owned(),
        };
        check.says(&path, format!("`{side}` is no parent of the stage"), help);
    }
    if !stage.skew_join.is_empty() && stage.parents.len() != 2 {
        let message = format!("it is of a join of two parents, and the stage has {}", stage.parents.len());
        check.says(&path, message, "a stage for each join, or leave it out");
    }
}

pub(super) fn warn(check: &mut Check<'_>, spark: &Spark) {
    let of_sql: Vec<usize> = (0..spark.stage.len()).filter(|stage| spark.stage[*stage].sql).collect();
    let reads = of_sql.iter().any(|stage| !spark.stage[*stage].parents.is_empty());
    let is_join = of_sql.iter().any(|stage| !spark.stage[*stage].skew_join.is_empty());
    let (joins, splits) = (spark.adaptive_coalesce_partitions, spark.adaptive_skew_join && is_join);
    let none = (!reads, "no stage with `parents` says `sql`", "`sql = true` for stages of queries, or leave it out");
    let off = (!spark.adaptive, "`adaptive` is off", "leave it out, or `adaptive = true`");
    let apart =
        (!joins, "`adaptive-coalesce-partitions` is off", "leave it out, or `adaptive-coalesce-partitions = true`");
    let whole = (!is_join, "no stage of SQL says `skew-join`", "`skew-join` of joins, or leave it out");
    let kept =
        (!spark.adaptive_skew_join, "`adaptive-skew-join` is off", "leave it out, or `adaptive-skew-join = true`");
    let settings: [(&str, &[Cause<'_>]); 8] = [
        ("adaptive", &[none]),
        ("adaptive-coalesce-partitions", &[none, off]),
        ("adaptive-advisory-partition-size", &[none, off, (apart.0 && !splits, apart.1, apart.2)]),
        ("adaptive-min-partition-size", &[none, off, apart]),
        ("adaptive-parallelism-first", &[none, off, apart]),
        ("adaptive-skew-join", &[none, off, whole]),
        ("adaptive-skewed-partition-factor", &[none, off, whole, kept]),
        ("adaptive-skewed-partition-threshold", &[none, off, whole, kept]),
    ];
    for (key, causes) in settings {
        let path = format!("spark.{key}");
        if let Some((_, why, help)) = causes.iter().find(|(holds, ..)| *holds)
            && check.states(&path)
        {
            check.says(&path, format!("it has no effect: {why}"), *help);
        }
    }
    for (i, stage) in spark.stage.iter().enumerate().filter(|(_, stage)| !stage.sql && !stage.skew_join.is_empty()) {
        let message = format!("it has no effect: stage `{}` is not of SQL", stage.name);
        check.says(&format!("spark.stage.{i}.skew-join"), message, "`sql = true`, or leave it out");
    }
    if !spark.adaptive || !joins {
        return;
    }
    let (most, least) = (spark.adaptive_advisory_partition_size, spark.adaptive_min_partition_size);
    if reads && !splits && most <= least {
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
