//! A scenario's application of Spark in the terms of `spark`.

use hadoop::NodeId;
use hadoop::yarn::Resources;
use scenario::{
    Scenario, SparkAllocation, SparkAttempt, SparkDeployMode, SparkEnd, SparkExclusion, SparkExecutor, SparkFormat,
    SparkLevel, SparkPlace, SparkStage, SparkYarn, node_number,
};
use spark::{
    Allocation, Coalesce, Config, Exclusion, Failing, Failure, JobSpec, Level, Listed, Moment, OnYarn, Place, Skew,
    Spark, Speculation, StageSpec, TaskSpec,
};
use units::{Bytes, Time};

/// The application, if the scenario has one.
pub(super) fn application(scenario: &Scenario) -> Option<Spark> {
    let spark = scenario.spark.as_ref()?;
    let pause = |job: u32| spark.pause.get(job as usize).copied().unwrap_or_default();
    let config = Config {
        executors: spark.executors,
        listed: spark.executor.iter().filter_map(|executor| listed(executor, spark.executor_cores)).collect(),
        yarn: spark.yarn.as_ref().map(|yarn| on_yarn(scenario, spark, yarn)),
        cores: spark.executor_cores,
        locality_wait_process: spark.locality_wait_process.unwrap_or(spark.locality_wait),
        storage_memory: spark.storage(),
        locality_wait: spark.locality_wait_node.unwrap_or(spark.locality_wait),
        reduce_locality: spark.reduce_locality,
        max_size_in_flight: spark.reducer_max_size_in_flight,
        max_reqs_in_flight: spark.reducer_max_reqs_in_flight,
        max_blocks_in_flight_per_address: spark.reducer_max_blocks_in_flight_per_address,
        revive_interval: spark.revive_interval,
        broadcast_block: spark.broadcast_block_size,
        launch_bytes: spark.launch_size,
        status_bytes: spark.status_size,
        launch_cost: spark.launch_cost,
        status_cost: spark.status_cost,
        max_task_failures: spark.task_max_failures,
        catches_failures: spark.catches_failures,
        allocation: spark.dynamic_allocation.as_ref().map(|of| allocation(of, spark.shuffle_service)),
        shuffle_service: spark.shuffle_service,
        exclusion: spark.exclude_on_failure.as_ref().map(exclusion),
        speculation: spark.speculation.then_some(Speculation {
            interval: spark.speculation_interval,
            multiplier: spark.speculation_multiplier,
            quantile: spark.speculation_quantile,
            min_task_runtime: spark.speculation_min_task_runtime,
        }),
        advisory_size: spark.adaptive_advisory_partition_size,
        coalesce: spark.adaptive_coalesce_partitions.then_some(Coalesce {
            min_size: spark.adaptive_min_partition_size,
            parallelism_first: spark.adaptive_parallelism_first,
        }),
        skew: spark.adaptive_skew_join.then_some(Skew {
            factor: spark.adaptive_skewed_partition_factor,
            threshold: spark.adaptive_skewed_partition_threshold,
        }),
        executor_start: spark.executor_start,
        process_start: scenario.mapreduce.jvm_start,
        returns: returns(scenario),
        jobs: (0..spark.jobs()).map(|job| JobSpec { pause: pause(job) }).collect(),
        stages: Vec::new(),
    };
    let mut stages: Vec<StageSpec> = Vec::new();
    for ((stage, parents), reads) in spark.stage.iter().zip(spark.parents()).zip(spark.reads()) {
        let read: Vec<Bytes> = parents.iter().map(|parent| written(&stages[*parent])).collect();
        let kept = reads.map(|keeper| (keeper, &stages[keeper]));
        let built = of_stage(stage, (parents, read.into_iter().sum()), kept);
        let failing = stage.attempt.iter().map(|attempt| failing(attempt, scenario.cluster.workers)).collect();
        stages.push(StageSpec { adaptive: spark.adaptive && stage.sql, failing, ..built });
    }
    Some(Spark::new(Config { stages, ..config }, scenario.run.seed))
}

/// An executor that is listed; none on a node that is not there, which a scenario does not have.
fn listed(executor: &SparkExecutor, cores: u32) -> Option<Listed> {
    let node = NodeId(node_number(&executor.node)?);
    let cores = executor.cores.unwrap_or(cores);
    let moment = |job: Option<u32>, after| Moment { job: job.map(|job| job as usize), after };
    let from = moment(executor.job, executor.from);
    let until = executor.until.map(|until| moment(executor.until_job, until));
    Some(Listed { node, cores, from, until, lost: executor.lost })
}

/// When executors are asked for and given back.
fn allocation(of: &SparkAllocation, shuffle_service: bool) -> Allocation {
    Allocation {
        least: of.min_executors,
        most: of.max_executors.unwrap_or(u32::MAX),
        initial: of.initial(),
        ratio: of.executor_allocation_ratio,
        backlog: of.scheduler_backlog_timeout,
        sustained_backlog: of.sustained_scheduler_backlog_timeout.unwrap_or(of.scheduler_backlog_timeout),
        idle: of.executor_idle_timeout,
        cached_idle: of.cached_executor_idle_timeout,
        tracks_shuffles: of.shuffle_tracking && !shuffle_service,
        shuffle_idle: of.shuffle_tracking_timeout,
    }
}

/// When executors get no tasks as some failed there; neither of the two switches on is the same as none.
const fn exclusion(of: &SparkExclusion) -> Exclusion {
    Exclusion {
        application: of.application,
        task_and_stage: of.task_and_stage,
        task_attempts_per_executor: of.task_attempts_per_executor,
        task_attempts_per_node: of.task_attempts_per_node,
        stage_tasks_per_executor: of.stage_failed_tasks_per_executor,
        stage_executors_per_node: of.stage_failed_executors_per_node,
        application_tasks_per_executor: of.application_failed_tasks_per_executor,
        application_executors_per_node: of.application_failed_executors_per_node,
        timeout: of.timeout,
        kill: of.kill_excluded_executors,
        fetch_failure: of.fetch_failure,
        unschedulable_timeout: of.unschedulable_timeout,
    }
}

/// When the last node comes back that has crashed.
fn returns(scenario: &Scenario) -> Time {
    let crashes = scenario.faults.iter().filter(|fault| fault.node.is_some() && fault.disk.is_none());
    let back = crashes.filter_map(|fault| Some(fault.at.saturating_add(fault.down_for?)));
    back.max().unwrap_or_default()
}

/// How it runs on YARN.
fn on_yarn(scenario: &Scenario, spark: &scenario::Spark, yarn: &SparkYarn) -> OnYarn {
    OnYarn {
        instances: yarn.instances,
        executor: Resources { memory: spark.executor_container(), vcores: spark.executor_cores },
        master: Resources { memory: yarn.am_container(), vcores: yarn.am_cores },
        files: yarn.archive,
        in_cluster: yarn.deploy_mode == SparkDeployMode::Cluster,
        master_start: yarn.am_start,
        max_attempts: yarn.max_attempts,
        heartbeat: yarn.heartbeat,
        initial_allocation: yarn.initial_allocation,
        min_registered: yarn.min_registered,
        max_registered_wait: yarn.max_registered_wait,
        launch_latency: scenario.mapreduce.launch_latency,
        locality_wait_rack: yarn.locality_wait_rack.unwrap_or(spark.locality_wait),
    }
}

fn written(stage: &StageSpec) -> Bytes {
    stage.tasks.iter().map(|task| task.shuffle_write).sum()
}

const fn place(place: SparkPlace) -> Place {
    match place {
        SparkPlace::Local => Place::Local,
        SparkPlace::Hdfs => Place::Hdfs,
    }
}

const fn level(level: SparkLevel) -> Option<Level> {
    match level {
        SparkLevel::None => None,
        SparkLevel::MemoryOnly => Some(Level::MemoryOnly),
        SparkLevel::MemoryAndDisk => Some(Level::MemoryAndDisk),
        SparkLevel::DiskOnly => Some(Level::DiskOnly),
    }
}

/// A stage that reads so many bytes of its parents, and what a stage of this number has kept.
fn of_stage(
    stage: &SparkStage,
    (parents, read): (Vec<usize>, Bytes),
    keeper: Option<(usize, &StageSpec)>,
) -> StageSpec {
    let count = stage.tasks as usize;
    let partition = spark::shuffle::Partition::new(&stage.shares, count);
    let task = |index: usize| {
        let input = part(stage.input, &stage.inputs, index, count);
        let shuffled = if parents.is_empty() { Bytes::ZERO } else { partition.block(read, index).1 };
        let kept = keeper.map_or(Bytes::ZERO, |(_, keeper)| keeper.tasks[index].kept);
        let megabytes = (input + shuffled + kept).get() as f64 / 1e6;
        let own = stage.works.get(index).copied().unwrap_or(stage.work);
        TaskSpec {
            work: own.saturating_add(stage.work_per_mb.mul_f64(megabytes)),
            input,
            kept: part(stage.kept_size, &stage.kept_sizes, index, count),
            shuffle_write: part(stage.shuffle_write, &stage.shuffle_writes, index, count),
            spill: part(stage.spill, &[], index, count),
            output: part(stage.output, &stage.outputs, index, count),
            result: stage.result,
        }
    };
    let splittable = (0..).zip(&stage.parents).filter(|(_, parent)| stage.skew_join.contains(*parent));
    StageSpec {
        splittable: splittable.map(|(place, _)| place).collect(),
        name: stage.name.clone(),
        job: stage.job as usize,
        tasks: (0..count).map(task).collect(),
        parents,
        shares: stage.shares.clone(),
        reduce_locality: stage.reduce_locality,
        persist: level(stage.persist),
        reads: keeper.map(|(number, _)| number),
        input: place(stage.input_from),
        reads_on: stage.input_format == SparkFormat::Text,
        files: stage.input_files,
        output: place(stage.output_to),
        delay: stage.delay,
        broadcast: stage.broadcast,
        warm_up: stage.warm_up,
        streamed: stage.streamed,
        adaptive: false,
        failing: Vec::new(),
    }
}

/// An attempt that does not succeed.
fn failing(attempt: &SparkAttempt, workers: u32) -> Failing {
    let node = attempt.node.as_deref().and_then(node_number).map(NodeId);
    let fetch = (attempt.end == SparkEnd::FetchFailed).then_some(node);
    let only_on = attempt.only_on.as_ref().map_or_else(Vec::new, |nodes| nodes.numbers(workers));
    Failing {
        task: attempt.of_task().map(|task| task as usize),
        only_on: only_on.into_iter().map(NodeId).collect(),
        failure: Failure { after: attempt.after, fetch },
    }
}

/// A task's part of what is given for all together, or its own.
fn part(whole: Bytes, each: &[Bytes], index: usize, count: usize) -> Bytes {
    let (each_of, more) = (whole.get() / count as u64, whole.get() % count as u64);
    each.get(index).copied().unwrap_or_else(|| Bytes::new(each_of + u64::from((index as u64) < more)))
}
