//! What no single key of an application of Spark shows: values that contradict each other, that are more than memory
//! holds, or that have no effect.

use super::check::{Check, MOST};
use super::network::node_number;
use super::spark_yarn::MOST_EXECUTORS;
use super::{Scenario, Spark, SparkEnd, SparkLevel, SparkPlace, SparkStage};
use std::collections::{BTreeMap, BTreeSet};
use units::{Bytes, Quantity, Time};

/// No more blocks of shuffles: of each it is known whether its reader has it.
const MOST_BLOCKS: u64 = 10 * MOST;
/// No more data sets, each computed from the one before, behind a stage.
const MOST_LINEAGE: usize = 200;
/// No more bytes of one kind in a stage: as many as one key may have.
const MOST_OF_STAGE: u64 = Bytes::from_mib(1 << 30).get();
/// No more bytes in all stages together, so that no sum of them overflows.
const MOST_BYTES: u64 = 1 << 60;

/// What is wrong with an application.
pub(super) fn check(check: &mut Check<'_>) {
    let scenario: &Scenario = check.scenario;
    let Some(spark) = &scenario.spark else { return };
    if !scenario.job.is_empty() {
        let message = "an application of Spark and jobs of MapReduce do not share a cluster here";
        check.says("spark", message, "leave out one of them");
    }
    if spark.stage.is_empty() {
        check.says("spark", "an application without a stage does nothing", "add [[spark.stage]]");
    }
    super::spark_yarn::check(check, spark);
    super::spark_exclusion::check(check, spark);
    super::spark_allocation::check(check, spark);
    listed(check, spark);
    let executors = executors(scenario, spark);
    if executors > MOST_EXECUTORS {
        let message =
            format!("{} on each of {} workers are {executors} executors", spark.executors, scenario.cluster.workers);
        check.says("spark.executors", message, format!("at most {MOST_EXECUTORS} together"));
    }
    for (i, fault) in scenario.faults.iter().enumerate() {
        if fault.disk.is_some() && fault.slow.is_none() {
            let message = "an executor that loses a disk with shuffle files is not modelled";
            check.says(&format!("faults.{i}"), message, "`slow` for a disk, or a fault of its node");
        }
    }
    let jobs = spark.jobs();
    if spark.pause.len() > jobs as usize {
        let message = format!("{} pauses are before {jobs} jobs", spark.pause.len());
        check.says("spark.pause", message, "at most one for each job");
    }
    let mut before = BTreeMap::new();
    for (i, stage) in spark.stage.iter().enumerate() {
        of_stage(check, i, stage, &before);
        before.entry(stage.name.as_str()).or_insert(stage);
    }
    lineages(check, spark);
    volumes(check, spark);
}

/// What is wrong with executors that are listed.
fn listed(check: &mut Check<'_>, spark: &Spark) {
    let workers = check.scenario.cluster.workers;
    if spark.yarn.is_some() && !spark.executor.is_empty() {
        let message = "on YARN the ResourceManager says where executors are and when";
        check.says("spark.executor", message, "no `[spark.yarn]`, or no [[spark.executor]]");
    }
    for (i, executor) in spark.executor.iter().enumerate() {
        let path = |key: &str| format!("spark.executor.{i}.{key}");
        if node_number(&executor.node).is_none_or(|number| number == 0 || number > workers) {
            let message = format!("there is no worker `{}`", executor.node);
            check.says(&path("node"), message, format!("worker-1 to worker-{workers}"));
        }
        let same = executor.job == executor.until_job;
        if executor.until.is_some_and(|until| same && until <= executor.from) {
            let from = executor.from.exact();
            check.says(
                &path("until"),
                format!("it would go before it is there, at {from}"),
                format!("later than {from}"),
            );
        }
        if executor.until.is_some() && executor.until_job < executor.job {
            check.says(&path("until-job"), "it would go before it is there", "`job`, or a later one");
        }
        if executor.until_job.is_some() && executor.until.is_none() {
            check.says(&path("until-job"), "it does not say when after its submission", "`until`");
        }
        if executor.lost && executor.until.is_none() {
            check.says(&path("lost"), "it does not say when", "`until`");
        }
    }
}

/// Its executors, those aside that take the place of lost ones.
fn executors(scenario: &Scenario, spark: &Spark) -> u64 {
    let standalone = u64::from(spark.executors) * u64::from(scenario.cluster.workers);
    let standalone = if spark.executor.is_empty() { standalone } else { spark.executor.len() as u64 };
    match (&spark.yarn, &spark.dynamic_allocation) {
        (None, _) => standalone,
        (Some(yarn), None) => yarn.instances.into(),
        (Some(yarn), Some(allocation)) => {
            let room = super::spark_yarn::room(scenario, spark, yarn);
            room.min(allocation.max_executors.map_or(room, |most| most.max(allocation.initial()).into()))
        }
    }
}

/// What is wrong with a stage behind others.
fn of_stage(check: &mut Check<'_>, i: usize, stage: &SparkStage, before: &BTreeMap<&str, &SparkStage>) {
    let path = |key: &str| format!("spark.stage.{i}.{key}");
    if stage.name.is_empty() {
        check.says(&format!("spark.stage.{i}"), "the stage has no name", "`name = \"count\"`, say");
    } else if before.contains_key(stage.name.as_str()) {
        check.says(&path("name"), "another stage has this name", "names are unique");
    }
    let mut named = BTreeSet::new();
    for parent in &stage.parents {
        if !named.insert(parent) {
            let message = format!("`{parent}` is named twice, and its output is read once");
            check.says(&path("parents"), message, "each parent once");
        }
        match before.get(parent.as_str()) {
            None => {
                let near = units::nearest(parent, before.keys().copied());
                let help = match near {
                    Some(near) => format!("did you mean `{near}`?"),
                    None if before.is_empty() => "the first stage has none".to_owned(),
                    None => "one of the stages that stand before it".to_owned(),
                };
                check.says(&path("parents"), format!("there is no stage `{parent}` before this one"), help);
            }
            Some(parent) if parent.job > stage.job => {
                check.says(&path("parents"), "a parent is of a later job", "order the jobs by their stages");
            }
            Some(_) => {}
        }
    }
    reads(check, i, stage, before);
    attempts(check, i, stage);
    super::spark_adaptive::check(check, i, stage);
    let tasks = stage.tasks as usize;
    let lists = [
        ("inputs", stage.inputs.len()),
        ("works", stage.works.len()),
        ("shuffle-writes", stage.shuffle_writes.len()),
        ("shares", stage.shares.len()),
        ("outputs", stage.outputs.len()),
        ("kept-sizes", stage.kept_sizes.len()),
    ];
    for (key, length) in lists.into_iter().filter(|(_, length)| *length != 0 && *length != tasks) {
        check.says(&path(key), format!("{length} values are for {tasks} tasks"), "one for each task");
    }
    if !stage.shares.is_empty() && stage.shares.iter().all(|share| *share == 0.0) {
        check.says(&path("shares"), "all shares are zero", "at least one above zero");
    }
    let size = |bytes: Bytes| (bytes > Bytes::ZERO).then(|| bytes.exact());
    let work = (stage.work > Time::ZERO).then(|| stage.work.exact());
    let twice = [
        ("input", !stage.inputs.is_empty(), size(stage.input)),
        ("work", !stage.works.is_empty(), work),
        ("shuffle-write", !stage.shuffle_writes.is_empty(), size(stage.shuffle_write)),
        ("output", !stage.outputs.is_empty(), size(stage.output)),
        ("kept-size", !stage.kept_sizes.is_empty(), size(stage.kept_size)),
    ];
    for (key, _, value) in twice.into_iter().filter(|(_, listed, _)| *listed) {
        let Some(value) = value else { continue };
        let message = format!("it is said twice: {value} here, and task by task in `{key}s`");
        check.says(&path(key), message, "leave out one of them");
    }
    let each = [
        ("inputs", &stage.inputs),
        ("shuffle-writes", &stage.shuffle_writes),
        ("outputs", &stage.outputs),
        ("kept-sizes", &stage.kept_sizes),
    ];
    for (key, values) in each.into_iter().filter(|(_, values)| sum(values) > MOST_OF_STAGE) {
        let message = format!("they are {} together", Bytes::new(sum(values)).exact());
        check.says(&path(key), message, format!("at most {} together", Bytes::new(MOST_OF_STAGE).exact()));
    }
}

/// What is wrong with a stage's attempts that do not succeed.
fn attempts(check: &mut Check<'_>, i: usize, stage: &SparkStage) {
    let workers = check.scenario.cluster.workers;
    for (k, attempt) in stage.attempt.iter().enumerate() {
        let path = |key: &str| format!("spark.stage.{i}.attempt.{k}.{key}");
        if attempt.of_task().is_some_and(|task| task >= stage.tasks) {
            let message = format!("the stage has {} tasks, and this is none of them", stage.tasks);
            check.says(&path("task"), message, format!("0 to {}", stage.tasks - 1));
        }
        if let Some(nodes) = &attempt.only_on {
            check.nodes(&path("only-on"), nodes);
            if nodes.contains(0) {
                let message = "the master has no executor, and no attempt begins there";
                check.says(&path("only-on"), message, "workers alone");
            }
        }
        let fetches = attempt.end == SparkEnd::FetchFailed;
        if fetches && stage.parents.is_empty() && stage.reads.is_empty() {
            check.says(&path("end"), "the stage reads no shuffle", "`parents`, or `end = \"failed\"`");
        }
        let Some(node) = &attempt.node else { continue };
        if !fetches {
            check.says(&path("node"), "it says whose shuffle files are lost", "`end = \"fetch-failed\"`, or no `node`");
        }
        if node_number(node).is_none_or(|number| number == 0 || number > workers) {
            check.says(&path("node"), format!("there is no worker `{node}`"), format!("worker-1 to worker-{workers}"));
        }
    }
}

/// What is wrong with the data set that a stage reads.
fn reads(check: &mut Check<'_>, i: usize, stage: &SparkStage, before: &BTreeMap<&str, &SparkStage>) {
    if stage.reads.is_empty() {
        return;
    }
    let path = |key: &str| format!("spark.stage.{i}.{key}");
    let Some(keeper) = before.get(stage.reads.as_str()) else {
        let near = units::nearest(&stage.reads, before.keys().copied());
        let help = near.map_or_else(
            || "one of the stages that stand before it".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        return check.says(&path("reads"), format!("there is no stage `{}` before this one", stage.reads), help);
    };
    let name = &keeper.name;
    if keeper.persist == SparkLevel::None {
        check.says(&path("reads"), format!("the stage `{name}` keeps nothing"), format!("`persist` in `{name}`"));
    }
    if keeper.job >= stage.job {
        let message =
            format!("the stage `{name}` is not of an earlier job: nothing of it is kept when this one begins");
        check.says(&path("reads"), message, "a later `job` for this stage");
    }
    if keeper.tasks != stage.tasks {
        let message = format!("its {} tasks read a partition each, and `{name}` keeps {}", stage.tasks, keeper.tasks);
        check.says(&path("tasks"), message, "as many as there are partitions");
    }
    if whole(stage.input, &stage.inputs) > 0 {
        let message = format!("it reads files, and what `{name}` has kept");
        check.says(&path("reads"), message, "one of them, or two stages");
    }
}

/// How many data sets each stage's own is made of, one of the other; more than Spark has stack for are refused
/// (`RDD.checkpoint` is for these).
fn lineages(check: &mut Check<'_>, spark: &Spark) {
    let mut lengths: Vec<usize> = Vec::with_capacity(spark.stage.len());
    for (i, keeper) in spark.reads().into_iter().enumerate() {
        // A stage that does not stand before is refused elsewhere.
        let length = keeper.and_then(|keeper| lengths.get(keeper)).map_or(0, |before| before + 1);
        if length > MOST_LINEAGE {
            let message = format!("what it reads is computed from {length} kept data sets, one after the other");
            check.says(&format!("spark.stage.{i}.reads"), message, format!("at most {MOST_LINEAGE}"));
            return;
        }
        lengths.push(length);
    }
}

/// What all stages together are too much of.
fn volumes(check: &mut Check<'_>, spark: &Spark) {
    let (mut tasks, mut blocks, mut bytes, mut in_hdfs) = (0_u64, 0_u64, 0_u64, 0_u64);
    let (executors, workers) = (executors(check.scenario, spark), check.scenario.cluster.workers);
    let piece = spark.broadcast_block_size.get();
    let (mut pieces, mut named) = (0_u64, 0_u64);
    let block = check.scenario.hdfs.block.get();
    let archive = spark.yarn.as_ref().map_or(0, |yarn| yarn.archive.get());
    in_hdfs += archive.div_ceil(block);
    bytes += archive;
    let (all_parents, all_reads) = (spark.parents(), spark.reads());
    for (i, stage) in spark.stage.iter().enumerate() {
        // What is not kept is read of the parents of the stages that should have kept it.
        let before = |keeper: &usize| all_reads[*keeper].filter(|next| next < keeper);
        let first = all_reads[i].filter(|keeper| *keeper < i);
        let lineage = std::iter::successors(first, before).take(MOST_LINEAGE).flat_map(|keeper| &all_parents[keeper]);
        let parents = &all_parents[i];
        let count = u64::from(stage.tasks);
        tasks += count;
        let nodes = stage.attempt.iter().filter_map(|attempt| attempt.only_on.as_ref());
        named += nodes.map(|nodes| nodes.numbers(workers).len() as u64).sum::<u64>();
        let written = |stage: &SparkStage| whole(stage.shuffle_write, &stage.shuffle_writes);
        let input = whole(stage.input, &stage.inputs);
        let kept = whole(stage.kept_size, &stage.kept_sizes);
        let broadcast = stage.broadcast.get().saturating_mul(executors);
        pieces = pieces.saturating_add(stage.broadcast.get().div_ceil(piece).saturating_mul(executors));
        for of in [input, written(stage), stage.spill.get(), whole(stage.output, &stage.outputs), kept, broadcast] {
            bytes = bytes.saturating_add(of);
        }
        for parent in parents.iter().chain(lineage).map(|parent| &spark.stage[*parent]) {
            blocks = blocks.saturating_add(count * u64::from(parent.tasks));
            bytes = bytes.saturating_add(written(parent));
        }
        if SparkPlace::Hdfs == stage.input_from {
            // Each file of a task's part ends with a block that may not be full.
            let ends = count.saturating_mul(stage.input_files.into());
            in_hdfs = in_hdfs.saturating_add((input / block).saturating_add(ends));
        }
    }
    let whole = Bytes::new(bytes).exact();
    let (block, piece) = (Bytes::new(block).exact(), spark.broadcast_block_size.exact());
    let too_much = [
        (tasks > Spark::MOST_TASKS, format!("all stages have {tasks} tasks"), format!("at most {}", Spark::MOST_TASKS)),
        (
            blocks > MOST_BLOCKS,
            format!("{blocks} blocks of shuffles are more than memory holds"),
            format!("at most {MOST_BLOCKS}: of each stage its tasks, times those of each of its parents"),
        ),
        (bytes > MOST_BYTES, format!("all stages read and write {whole}"), "at most 1 EiB".to_owned()),
        (
            in_hdfs > MOST,
            format!("input in blocks of {block} is {in_hdfs} blocks"),
            format!("at most {MOST}: a larger `hdfs.block`"),
        ),
        (
            pieces > MOST,
            format!("what {executors} executors get of broadcasts in pieces of {piece} is {pieces} pieces"),
            format!("at most {MOST}: a larger `spark.broadcast-block-size`"),
        ),
        (named > MOST, format!("`only-on` of all attempts names {named} nodes"), format!("at most {MOST} together")),
    ];
    for (_, message, help) in too_much.into_iter().filter(|(is, ..)| *is) {
        check.says("spark.stage", message, help);
    }
}

fn sum(values: &[Bytes]) -> u64 {
    values.iter().fold(0, |sum, value| sum.saturating_add(value.get()))
}

/// What tasks have together, or each for itself.
fn whole(together: Bytes, each: &[Bytes]) -> u64 {
    if each.is_empty() { together.get() } else { sum(each) }
}

/// Settings of speculation that have no effect.
fn speculation(check: &mut Check<'_>, spark: &Spark) {
    if !spark.speculation {
        for key in ["interval", "multiplier", "quantile", "min-task-runtime"] {
            let path = format!("spark.speculation-{key}");
            if check.states(&path) {
                check.says(&path, "it has no effect: `speculation` is off", "leave it out, or `speculation = true`");
            }
        }
        return;
    }
    let path = "spark.speculation";
    if check.scenario.cluster.workers < 2 {
        let message = "it has no effect: a copy runs on another node, and there is one worker";
        check.says(path, message, "more workers, or leave it out");
    } else if spark.stage.iter().all(|stage| stage.tasks < 2) {
        let message = "it has no effect: a task is slow beside others of its stage, and each stage has one";
        check.says(path, message, "more tasks, or leave it out");
    } else if spark.speculation_quantile >= 1.0 {
        let message = "it has no effect: copies are launched when all tasks of a stage are done";
        check.says("spark.speculation-quantile", message, "less than 1");
    }
}

/// Settings of what is kept that have no effect.
fn caching(check: &mut Check<'_>, spark: &Spark) {
    let in_memory = |stage: &SparkStage| !matches!(stage.persist, SparkLevel::None | SparkLevel::DiskOnly);
    let keeps = spark.stage.iter().any(in_memory);
    let reads = spark.stage.iter().any(|stage| !stage.reads.is_empty());
    let none = "no stage has a `persist` in memory";
    let said = "`storage-memory` says it";
    let idle = [
        ("locality-wait-process", reads, "no stage `reads` what another has kept"),
        ("storage-memory", keeps, none),
        (
            "executor-memory",
            spark.yarn.is_some() || keeps && spark.storage_memory.is_none(),
            if keeps { said } else { none },
        ),
        ("memory-fraction", keeps && spark.storage_memory.is_none(), if keeps { said } else { none }),
    ];
    for (key, heeded, why) in idle {
        let path = format!("spark.{key}");
        if !heeded && check.states(&path) {
            check.says(&path, format!("it has no effect: {why}"), "leave it out");
        }
    }
}

/// Attempts of a stage that fail on workers alone on which no executor is.
fn hosts(check: &mut Check<'_>, spark: &Spark, i: usize) {
    let is_there = |number| spark.executor.iter().any(|executor| node_number(&executor.node) == Some(number));
    for (k, attempt) in spark.stage[i].attempt.iter().enumerate() {
        let Some(nodes) = attempt.only_on.as_ref().filter(|_| !spark.executor.is_empty()) else { continue };
        if !nodes.numbers(check.scenario.cluster.workers).into_iter().any(is_there) {
            let message = "it has no effect: no [[spark.executor]] is on these workers";
            check.says(&format!("spark.stage.{i}.attempt.{k}.only-on"), message, "workers with an executor");
        }
    }
}

/// What has no effect.
pub(super) fn warn(check: &mut Check<'_>) {
    let Some(spark) = &check.scenario.spark else { return };
    let reads = spark.stage.iter().any(|stage| !stage.reads.is_empty());
    let process = reads && spark.locality_wait_process.is_none();
    let rack = spark.yarn.as_ref().is_some_and(|yarn| yarn.locality_wait_rack.is_none());
    if spark.locality_wait_node.is_some() && !process && !rack && check.states("spark.locality-wait") {
        let message = match spark.yarn {
            None => "it has no effect: a standalone cluster has no racks, and `locality-wait-node` says the rest",
            Some(_) => "it has no effect: `locality-wait-node` and `locality-wait-rack` say all of it",
        };
        check.says("spark.locality-wait", message, "one of the two");
    }
    super::spark_yarn::warn(check, spark);
    super::spark_exclusion::warn(check, spark);
    super::spark_allocation::warn(check, spark);
    if !spark.executor.is_empty() && check.states("spark.executors") {
        check.says("spark.executors", "it has no effect: [[spark.executor]] says which there are", "leave it out");
    }
    caching(check, spark);
    speculation(check, spark);
    let broadcasts = spark.stage.iter().any(|stage| stage.broadcast > Bytes::ZERO);
    if !broadcasts && check.states("spark.broadcast-block-size") {
        let message = "it has no effect: no stage has a `broadcast`";
        check.says("spark.broadcast-block-size", message, "leave it out");
    }
    super::spark_adaptive::warn(check, spark);
    for (i, stage) in spark.stage.iter().enumerate() {
        hosts(check, spark, i);
        let input = whole(stage.input, &stage.inputs) > 0;
        let output = whole(stage.output, &stage.outputs) > 0;
        let shuffles = !stage.parents.is_empty();
        let reads = input || shuffles || !stage.reads.is_empty();
        let nothing = "the stage reads nothing, having neither `input` nor `parents`";
        let persists = stage.persist != SparkLevel::None;
        let kept = whole(stage.kept_size, &stage.kept_sizes) > 0;
        let idle = [
            ("input-from", input, "the stage has no `input`"),
            ("input-format", input && SparkPlace::Hdfs == stage.input_from, "the stage has no `input` from HDFS"),
            ("input-files", input && SparkPlace::Hdfs == stage.input_from, "the stage has no `input` from HDFS"),
            ("output-to", output, "the stage has no `output`"),
            ("shares", shuffles, "the stage has no `parents` whose output it could divide"),
            ("reduce-locality", shuffles, "the stage has no `parents`"),
            ("work-per-mb", reads, nothing),
            ("streamed", reads, nothing),
            ("persist", kept || !persists, "the stage has no `kept-size`"),
            ("kept-size", persists, "the stage does not `persist` what it computes"),
            ("kept-sizes", persists, "the stage does not `persist` what it computes"),
        ];
        for (key, heeded, why) in idle {
            let path = format!("spark.stage.{i}.{key}");
            if !heeded && check.states(&path) {
                check.says(&path, format!("it has no effect: {why}"), "leave it out");
            }
        }
    }
}
