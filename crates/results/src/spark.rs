//! An application of Spark: its jobs, stages and tasks.

use super::metrics::{Metrics, figure};
use super::{Breakdown, JobState, Waiting};
pub use ::spark::{
    ExclusionRecord as SparkExclusion, ExecutorRecord as SparkExecutor, JobRecord as SparkJob, TaskEnd as SparkTaskEnd,
    TaskRecord as SparkTask, WantedRecord as SparkWanted,
};
use units::{Bytes, Time};

/// An application.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SparkApplication {
    /// How it ended.
    pub state: JobState,
    /// Why, if it did not succeed.
    pub reason: String,
    /// Its executors in the order in which they came.
    pub executors: Vec<SparkExecutor>,
    /// When its first `ApplicationMaster` spoke to the driver, on YARN.
    pub master: Option<Time>,
    /// When the program could go on, on YARN.
    pub ready: Option<Time>,
    /// Executors that it has lost.
    pub lost: u32,
    /// How often a node was excluded from it, as tasks failed there.
    pub excluded_nodes: u32,
    /// Executors and nodes that were excluded, from it or from a stage, in the order in which that began.
    pub exclusions: Vec<SparkExclusion>,
    /// How many executors it wanted, where they come and go as tasks need them.
    pub wanted: Vec<SparkWanted>,
    /// When its last job was done.
    pub finish: Option<Time>,
    /// Its jobs in their order.
    pub jobs: Vec<SparkJob>,
    /// Its stages in the order of the scenario.
    pub stages: Vec<SparkStage>,
    /// Its tasks in the order of their launch.
    pub tasks: Vec<SparkTask>,
    /// What each stretch of its longest chain of tasks waited for, in order of time.
    pub critical_path: Vec<SparkSegment>,
    /// What tasks read of kept data sets from their own executors.
    pub cached_local: Bytes,
    /// What they read of them from other executors.
    pub cached_remote: Bytes,
    /// What they computed anew, as no executor had it.
    pub recomputed: Bytes,
    /// What was to be kept and is not: it had no room, was evicted, or lost with its executor.
    pub not_kept: Bytes,
    /// What its executors got of broadcast variables and code from the driver.
    pub broadcast_from_driver: Bytes,
    /// What they got of them from each other.
    pub broadcast_from_executors: Bytes,
}

impl SparkApplication {
    /// The length of its critical path by what was waited for.
    pub fn breakdown(&self) -> Breakdown {
        let mut all = Breakdown::default();
        for segment in &self.critical_path {
            all.add(segment.waiting, segment.length());
        }
        all
    }
    /// From the first job's submission to the last one's end.
    pub fn took(&self) -> Option<Time> {
        let submit = self.jobs.first()?.submit?;
        Some(self.finish?.saturating_sub(submit))
    }
    /// Executors that ended as its driver had asked for it.
    pub fn killed(&self) -> u64 {
        self.executors.iter().filter(|executor| executor.killed).count() as u64
    }
    /// Executors that were excluded from it, as tasks failed there.
    pub fn excluded(&self) -> u64 {
        self.executors.iter().filter(|executor| executor.excluded.is_some()).count() as u64
    }
    /// Why it did not succeed.
    pub fn failure(&self) -> Option<String> {
        match self.state {
            JobState::Succeeded => None,
            JobState::Failed => Some(format!("the application: {}", self.reason)),
            JobState::Unfinished => {
                Some("the application: it had not finished when the run ended (run.until)".to_owned())
            }
        }
    }
    fn sum(&self, of: fn(&SparkTask) -> Bytes) -> Bytes {
        self.tasks.iter().map(of).sum()
    }
    /// Speculative copies that it launched, and those of them that were first.
    pub fn copies(&self) -> (u64, u64) {
        let copies = || self.tasks.iter().filter(|task| task.speculative);
        (copies().count() as u64, copies().filter(|task| task.ended == SparkTaskEnd::Success).count() as u64)
    }
    /// Shuffle bytes that tasks read on their own nodes.
    pub fn shuffle_local(&self) -> Bytes {
        self.sum(|task| task.shuffle_local)
    }
    /// Shuffle bytes that tasks fetched over the network.
    pub fn shuffle_remote(&self) -> Bytes {
        self.sum(|task| task.shuffle_remote)
    }
    /// For how long tasks had no shuffle block to work on, together, in seconds: those of many tasks are more than a
    /// [`Time`] holds.
    pub fn fetch_wait(&self) -> f64 {
        self.tasks.iter().map(|task| task.fetch_wait.as_secs_f64()).sum()
    }
}

/// A stretch of an application's critical path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SparkSegment {
    /// Its start.
    pub start: Time,
    /// Its end.
    pub finish: Time,
    /// What was waited for.
    pub waiting: Waiting,
    /// The stage that it is of; none: the program between jobs.
    pub stage: Option<usize>,
    /// The attempt at a task that it belongs to: a row of `tasks`.
    pub task: Option<usize>,
}

impl SparkSegment {
    /// How long it is.
    pub fn length(&self) -> Time {
        self.finish.saturating_sub(self.start)
    }
}

/// A stage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SparkStage {
    /// Its name.
    pub name: String,
    /// The job that it is of, from 0.
    pub job: u32,
    /// Its tasks.
    pub tasks: u32,
    /// Its partitions, which adaptive execution may have joined or split for its tasks.
    pub partitions: u32,
    /// Tasks that are done.
    pub done: u32,
    /// How often it was handed to the scheduler.
    pub attempts: u32,
    /// Executors that got no more of its tasks as some failed there, over all attempts.
    pub excluded_executors: u32,
    /// Nodes that got none.
    pub excluded_nodes: u32,
    /// When its tasks were handed to the scheduler.
    pub submit: Option<Time>,
    /// When the last of them was done.
    pub finish: Option<Time>,
    /// What it has of the application's critical path, by what was waited for.
    pub breakdown: Breakdown,
}

/// Figures of an application.
pub static SPARK: Metrics<SparkApplication> = Metrics {
    name: "spark",
    what: "An application of Spark, where the scenario has one.",
    file: None,
    metrics: &[
        figure("state", "`SUCCEEDED`, `FAILED`, or `UNFINISHED` where the run's time limit came first.")
            .text(|app| app.state.name().to_owned()),
        figure("reason", "Why it did not succeed.").text(|app| app.reason.clone()),
        figure("executors", "Its executors, those that took the place of lost ones included.")
            .count("executors", |app| app.executors.len() as u64),
        figure("lost_executors", "Executors that it lost, with their shuffle files.")
            .count("executors", |app| app.lost.into()),
        figure("killed_executors", "Executors that ended as its driver had asked for it.")
            .count("executors", |app| app.killed()),
        figure("excluded_executors", "Executors that got no more of its tasks for some time, as some failed there.")
            .count("executors", |app| app.excluded()),
        figure("excluded_nodes", "How often a node got no more of its tasks for some time.")
            .count("nodes", |app| app.excluded_nodes.into()),
        figure("copies", "Speculative copies of tasks that it launched.").count("tasks", |app| app.copies().0),
        figure("copies_won", "Those of them that ended before what they were copies of.")
            .count("tasks", |app| app.copies().1),
        figure("took_s", "From the first job's submission to the last one's end.").optional_time(|app| app.took()),
        figure("finish_s", "When its last job was done.").optional_time(|app| app.finish),
        figure(
            "critical_path_s",
            "Its longest chain of tasks, from the first job's submission on, split by what was waited for.",
        )
        .entries("s", |app| app.breakdown().entries()),
        figure("input_local", "Input that tasks read from their own nodes' disks.")
            .bytes(|app| app.sum(|task| task.input_local)),
        figure("input_remote", "Input that they read over the network.").bytes(|app| app.sum(|task| task.input_remote)),
        figure("shuffle_write", "What tasks wrote for shuffles.").bytes(|app| app.sum(|task| task.shuffle_write)),
        figure("shuffle_local", "Shuffle bytes that tasks read on their own nodes.").bytes(|app| app.shuffle_local()),
        figure("shuffle_remote", "Shuffle bytes that tasks fetched over the network.")
            .bytes(|app| app.shuffle_remote()),
        figure("cached_local", "What tasks read of kept data sets from their own executors' memory or disk.")
            .bytes(|app| app.cached_local),
        figure("cached_remote", "What they read of them from other executors.").bytes(|app| app.cached_remote),
        figure("recomputed", "What of them they computed anew, as no executor had it.").bytes(|app| app.recomputed),
        figure("not_kept", "What was to be kept and had no room, was evicted, or was lost with its executor.")
            .bytes(|app| app.not_kept),
        figure("broadcast_from_driver", "What executors got of broadcast variables and code from the driver.")
            .bytes(|app| app.broadcast_from_driver),
        figure("broadcast_from_executors", "What they got of them from each other.")
            .bytes(|app| app.broadcast_from_executors),
        figure("spilled", "What tasks spilled to disk.").bytes(|app| app.sum(|task| task.spill)),
        figure("output", "What tasks wrote to files, one replica counted.").bytes(|app| app.sum(|task| task.output)),
        figure("fetch_wait_s", "Time for which tasks had no shuffle block to work on, over all of them.")
            .number("s", |app| app.fetch_wait()),
        figure("master_s", "When its first ApplicationMaster spoke to the driver, on YARN.")
            .optional_time(|app| app.master),
        figure("ready_s", "When enough executors were there for its program to go on, on YARN.")
            .optional_time(|app| app.ready),
        figure("each_executor", "Its executors in the order in which they came.")
            .inner(&SPARK_EXECUTORS, |app| SPARK_EXECUTORS.list(app.run, &app.executors)),
        figure("exclusions", "Executors and nodes that got no more tasks for some time, as some failed there.")
            .may_be_absent()
            .inner(&SPARK_EXCLUSIONS, |app| SPARK_EXCLUSIONS.list(app.run, &app.exclusions)),
        figure("wanted", "How many executors it wanted, where they come and go as tasks need them.")
            .may_be_absent()
            .inner(&SPARK_WANTED, |app| SPARK_WANTED.list(app.run, &app.wanted)),
        figure("jobs", "Its jobs.").inner(&SPARK_JOBS, |app| SPARK_JOBS.list(app.run, &app.jobs)),
        figure("stages", "Its stages.").inner(&SPARK_STAGES, |app| SPARK_STAGES.list(app.run, &app.stages)),
    ],
};

/// Executors of Spark.
pub static SPARK_EXECUTORS: Metrics<SparkExecutor> = Metrics {
    name: "spark executors",
    what: "An executor of Spark.",
    file: None,
    metrics: &[
        figure("node", "Where it ran.").text(|executor| executor.node(executor.node.0)),
        figure("granted_s", "When the ResourceManager granted its container, on YARN.")
            .optional_time(|executor| executor.granted),
        figure("registered_s", "When the driver knew of it.").optional_time(|executor| executor.registered),
        figure("lost_s", "When the driver knew that it was gone.").optional_time(|executor| executor.lost),
        figure("killed", "Whether the driver had asked for its end.").flag(|executor| executor.killed),
        figure("excluded_s", "When it was first excluded from the application, as tasks failed there.")
            .optional_time(|executor| executor.excluded),
    ],
};

/// Exclusions of Spark.
pub static SPARK_EXCLUSIONS: Metrics<SparkExclusion> = Metrics {
    name: "spark exclusions",
    what: "An executor or a node that got no more tasks of Spark, as some failed there.",
    file: None,
    metrics: &[
        figure("executor", "The executor, from 0; null: the node, with all of its executors.")
            .optional_count("number", |exclusion| exclusion.executor.map(|executor| executor as u64)),
        figure("node", "Its node.").text(|exclusion| exclusion.node(exclusion.node.0)),
        figure("stage", "The stage from an attempt at which it was excluded, from 0; null: from the application.")
            .optional_count("number", |exclusion| exclusion.stage.map(|stage| stage as u64)),
        figure("at_s", "From when on.").time(|exclusion| exclusion.at),
        figure("until_s", "Until when; null where it lasted.").optional_time(|exclusion| exclusion.until),
    ],
};

/// How many executors Spark wanted.
pub static SPARK_WANTED: Metrics<SparkWanted> = Metrics {
    name: "spark wanted",
    what: "How many executors an application of Spark wanted from a time on.",
    file: None,
    metrics: &[
        figure("at_s", "From when on.").time(|wanted| wanted.at),
        figure("executors", "How many.").count("executors", |wanted| wanted.executors.into()),
    ],
};

/// Jobs of Spark.
pub static SPARK_JOBS: Metrics<SparkJob> = Metrics {
    name: "spark jobs",
    what: "A job of Spark: what one action of the program ran.",
    file: None,
    metrics: &[
        figure("submit_s", "When the action submitted it.").optional_time(|job| job.submit),
        figure("finish_s", "When its last stage was done, or it failed.").optional_time(|job| job.finish),
        figure("failed", "Whether it failed.").flag(|job| job.failed),
    ],
};

/// Stages of Spark.
pub static SPARK_STAGES: Metrics<SparkStage> = Metrics {
    name: "spark stages",
    what: "A stage: tasks without a shuffle between them.",
    file: None,
    metrics: &[
        figure("name", "Its name.").text(|stage| stage.name.clone()),
        figure("job", "The job that it is of, from 0.").count("number", |stage| stage.job.into()),
        figure("tasks", "Its tasks.").count("tasks", |stage| stage.tasks.into()),
        figure("partitions", "Its partitions, which adaptive execution may have joined or split for its tasks.")
            .count("partitions", |stage| stage.partitions.into()),
        figure("done", "Tasks that are done.").count("tasks", |stage| stage.done.into()),
        figure(
            "attempts",
            "How often it was handed to the scheduler: again where output of it, or that it reads, was lost.",
        )
        .count("attempts", |stage| stage.attempts.into()),
        figure("excluded_executors", "Executors that got no more of its tasks as some failed there.")
            .count("executors", |stage| stage.excluded_executors.into()),
        figure("excluded_nodes", "Nodes that got no more of its tasks.")
            .count("nodes", |stage| stage.excluded_nodes.into()),
        figure("submit_s", "When its tasks were first handed to the scheduler.").optional_time(|stage| stage.submit),
        figure("finish_s", "When the last of them was done.").optional_time(|stage| stage.finish),
        figure("critical_path_s", "What it has of the application's critical path, split by what was waited for.")
            .entries("s", |stage| stage.breakdown.entries()),
    ],
};

/// Tasks of Spark.
pub static SPARK_TASKS: Metrics<SparkTask> = Metrics {
    name: "spark tasks",
    what: "A task of a stage.",
    file: Some("spark_tasks"),
    metrics: &[
        figure("stage", "Its stage, from 0.").count("number", |task| task.stage as u64),
        figure("task", "Its place among the stage's tasks, from 0.").count("number", |task| task.index as u64),
        figure("attempt", "Its stage's attempt, from 1.").count("number", |task| task.attempt.into()),
        figure(
            "ended",
            "`Success`, `ExceptionFailure`, `FetchFailed`, `ExecutorLostFailure`, `TaskKilled`; empty while it runs.",
        )
        .text(|task| task.ended.name().to_owned()),
        figure("speculative", "Whether it was launched beside another attempt that still ran.")
            .flag(|task| task.speculative),
        figure("executor", "The executor that ran it, from 0.").count("number", |task| task.executor as u64),
        figure("node", "Where that ran.").text(|task| task.node(task.node.0)),
        figure(
            "locality",
            "`PROCESS_LOCAL` (its executor keeps what it reads, or it prefers no node), `NODE_LOCAL` or `ANY`.",
        )
        .text(|task| task.locality.name().to_owned()),
        figure("launch_s", "When the driver launched it.").time(|task| task.launch),
        figure("start_s", "When its executor had it and what it needs to run.").optional_time(|task| task.start),
        figure("end_s", "When it was over on its executor.").optional_time(|task| task.end),
        figure("finish_s", "When the driver knew.").optional_time(|task| task.finish),
        figure("fetch_wait_s", "Time without a shuffle block to work on.").time(|task| task.fetch_wait),
        figure("input_wait_s", "Time without input to work on.").time(|task| task.input_wait),
        figure("warm_s", "Time of its process's start and warming up, which it was the first to need.")
            .time(|task| task.warm_time),
        figure("cpu_s", "Time of its work on the processor, which others may have shared.").time(|task| task.cpu_time),
        figure("disk_s", "Time for which it waited for its own node's disks alone.").time(|task| task.disk_time),
        figure("input_local", "Input from its own node's disks.").bytes(|task| task.input_local),
        figure("input_remote", "Input over the network.").bytes(|task| task.input_remote),
        figure("cached_local", "Of a kept data set, from its own executor.").bytes(|task| task.cached_local),
        figure("cached_remote", "Of a kept data set, from another executor.").bytes(|task| task.cached_remote),
        figure("shuffle_local", "Shuffle bytes of its own node.").bytes(|task| task.shuffle_local),
        figure("shuffle_remote", "Shuffle bytes over the network.").bytes(|task| task.shuffle_remote),
        figure("shuffle_write", "Written for its stage's shuffle.").bytes(|task| task.shuffle_write),
        figure("spilled", "Spilled to disk.").bytes(|task| task.spill),
        figure("output", "Written to files.").bytes(|task| task.output),
    ],
};
