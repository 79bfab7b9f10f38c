//! The events of a log that are read, in the shapes of Spark's `JsonProtocol`. Fields that only some versions write
//! have defaults.

use serde::{Deserialize, Deserializer};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A count that is not below zero: Spark writes -1 for what it does not know.
fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    Ok(u64::try_from(Option::<i64>::deserialize(deserializer)?.unwrap_or(0)).unwrap_or(0))
}

/// The end of the year 9999: no time of a log is later.
const LATEST_MS: i64 = 253_402_300_799_999;

/// A time in milliseconds since 1970. Spark has -1 and 0 for what it does not know.
fn moment<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    within(i64::deserialize(deserializer)?).map(|ms| ms.max(0))
}

fn optional_moment<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    let ms = Option::<i64>::deserialize(deserializer)?.map(within).transpose()?;
    Ok(ms.filter(|ms| *ms >= 0))
}

fn within<E: serde::de::Error>(ms: i64) -> Result<i64, E> {
    if (-1..=LATEST_MS).contains(&ms) {
        return Ok(ms);
    }
    Err(E::custom(format!("a time of {ms} ms since 1970, where 0 to {LATEST_MS} are expected")))
}

/// What an event is; the rest is skipped.
#[derive(Deserialize)]
pub struct Kind<'a> {
    #[serde(borrow, rename = "Event")]
    pub event: Cow<'a, str>,
}

#[derive(Deserialize)]
pub struct LogStart {
    #[serde(rename = "Spark Version")]
    pub version: String,
}

#[derive(Deserialize)]
pub struct ApplicationStart {
    #[serde(rename = "App Name")]
    pub name: String,
    #[serde(rename = "App ID")]
    pub id: Option<String>,
    #[serde(rename = "Timestamp", deserialize_with = "moment")]
    pub at: i64,
}

#[derive(Deserialize)]
pub struct ApplicationEnd {
    #[serde(rename = "Timestamp", deserialize_with = "moment")]
    pub at: i64,
}

#[derive(Deserialize)]
pub struct EnvironmentUpdate {
    #[serde(default, rename = "Spark Properties")]
    pub properties: BTreeMap<String, String>,
    /// Since Spark 3.0.
    #[serde(default, rename = "Hadoop Properties")]
    pub hadoop: HadoopProperties,
}

/// Of Hadoop's thousand properties the one that is read.
#[derive(Deserialize, Default)]
pub struct HadoopProperties {
    #[serde(default, rename = "fs.defaultFS")]
    pub default_fs: Option<String>,
}

#[derive(Deserialize)]
pub struct BlockManagerAdded {
    #[serde(rename = "Block Manager ID")]
    pub manager: BlockManager,
    #[serde(default, rename = "Maximum Memory", deserialize_with = "count")]
    pub memory: u64,
}

#[derive(Deserialize)]
pub struct BlockManager {
    #[serde(rename = "Executor ID")]
    pub executor: String,
    #[serde(rename = "Host")]
    pub host: String,
}

#[derive(Deserialize)]
pub struct ExecutorAdded {
    #[serde(rename = "Timestamp", deserialize_with = "moment")]
    pub at: i64,
    #[serde(rename = "Executor ID")]
    pub id: String,
    #[serde(rename = "Executor Info")]
    pub info: ExecutorInfo,
}

#[derive(Deserialize)]
pub struct ExecutorInfo {
    #[serde(rename = "Host")]
    pub host: String,
    #[serde(rename = "Total Cores")]
    pub cores: u32,
}

/// A process beside driver and executors: on YARN the `ApplicationMaster`.
#[derive(Deserialize)]
pub struct MiscellaneousProcessAdded {
    #[serde(rename = "time", deserialize_with = "moment")]
    pub at: i64,
    #[serde(rename = "processId")]
    pub id: String,
}

#[derive(Deserialize)]
pub struct ExecutorRemoved {
    #[serde(rename = "Timestamp", deserialize_with = "moment")]
    pub at: i64,
    #[serde(rename = "Executor ID")]
    pub id: String,
    #[serde(default, rename = "Removed Reason")]
    pub reason: String,
}

/// An executor gets no tasks as some failed there.
#[derive(Deserialize)]
pub struct ExecutorExcluded {
    #[serde(rename = "executorId")]
    pub id: String,
    /// The stage of which it gets none, and its attempt; none where it is of the application.
    #[serde(rename = "stageId")]
    pub stage: Option<u32>,
    #[serde(default, rename = "stageAttemptId")]
    pub attempt: u32,
}

#[derive(Deserialize)]
pub struct JobStart {
    #[serde(rename = "Job ID")]
    pub id: u32,
    #[serde(default, rename = "Submission Time", deserialize_with = "moment")]
    pub at: i64,
    #[serde(default, rename = "Stage Infos")]
    pub stages: Vec<StageInfo>,
    #[serde(default, rename = "Stage IDs")]
    pub stage_ids: Vec<u32>,
    #[serde(rename = "Properties")]
    pub properties: Option<JobProperties>,
}

/// Of a job's properties the one that is read.
#[derive(Deserialize)]
pub struct JobProperties {
    #[serde(rename = "spark.sql.execution.id")]
    pub query: Option<String>,
}

/// `SparkListenerSQLExecutionStart` and `SparkListenerSQLAdaptiveExecutionUpdate`, without their plans.
#[derive(Deserialize)]
pub struct SqlExecution {
    #[serde(rename = "executionId")]
    pub id: u64,
}

/// `SparkListenerDriverAccumUpdates`: what the driver counted for a query.
#[derive(Deserialize)]
pub struct DriverAccumUpdates {
    /// Numbers of metrics, and their values.
    #[serde(rename = "accumUpdates")]
    pub updates: Vec<(u64, i64)>,
}

#[derive(Deserialize)]
pub struct JobEnd {
    #[serde(rename = "Job ID")]
    pub id: u32,
    #[serde(default, rename = "Completion Time", deserialize_with = "moment")]
    pub at: i64,
    #[serde(rename = "Job Result")]
    pub result: JobResult,
}

#[derive(Deserialize)]
pub struct JobResult {
    #[serde(rename = "Result")]
    pub result: String,
    #[serde(rename = "Exception")]
    pub exception: Option<Exception>,
}

#[derive(Deserialize)]
pub struct Exception {
    #[serde(default, rename = "Message")]
    pub message: String,
}

/// `SparkListenerStageSubmitted` and `SparkListenerStageCompleted`.
#[derive(Deserialize)]
pub struct StageEvent {
    #[serde(rename = "Stage Info")]
    pub info: StageInfo,
}

#[derive(Deserialize)]
pub struct StageInfo {
    #[serde(rename = "Stage ID")]
    pub id: u32,
    #[serde(default, rename = "Stage Attempt ID")]
    pub attempt: u32,
    #[serde(default, rename = "Stage Name")]
    pub name: String,
    #[serde(rename = "Number of Tasks")]
    pub tasks: u32,
    #[serde(default, rename = "RDD Info")]
    pub rdds: Vec<RddInfo>,
    #[serde(default, rename = "Parent IDs")]
    pub parents: Vec<u32>,
    #[serde(default, rename = "Submission Time", deserialize_with = "optional_moment")]
    pub submit: Option<i64>,
    #[serde(default, rename = "Completion Time", deserialize_with = "optional_moment")]
    pub finish: Option<i64>,
    #[serde(rename = "Failure Reason")]
    pub failure: Option<String>,
    #[serde(default, rename = "Accumulables")]
    pub accumulables: Vec<Accumulable>,
}

/// What tasks counted.
#[derive(Deserialize)]
pub struct Accumulable {
    #[serde(rename = "ID")]
    pub id: Option<u64>,
}

#[derive(Deserialize)]
pub struct RddInfo {
    #[serde(rename = "RDD ID")]
    pub id: u32,
    #[serde(default, rename = "Name")]
    pub name: String,
    #[serde(default, rename = "Parent IDs")]
    pub parents: Vec<u32>,
    #[serde(default, rename = "Storage Level")]
    pub level: StorageLevel,
}

#[derive(Deserialize, Default)]
pub struct StorageLevel {
    #[serde(default, rename = "Use Disk")]
    pub disk: bool,
    #[serde(default, rename = "Use Memory")]
    pub memory: bool,
}

#[derive(Deserialize)]
pub struct TaskStart {
    #[serde(rename = "Stage ID")]
    pub stage: u32,
    #[serde(default, rename = "Stage Attempt ID")]
    pub stage_attempt: u32,
    #[serde(rename = "Task Info")]
    pub info: TaskInfo,
}

#[derive(Deserialize)]
pub struct TaskEnd {
    #[serde(rename = "Stage ID")]
    pub stage: u32,
    #[serde(default, rename = "Stage Attempt ID")]
    pub stage_attempt: u32,
    #[serde(rename = "Task End Reason")]
    pub reason: EndReason,
    #[serde(rename = "Task Info")]
    pub info: TaskInfo,
    #[serde(rename = "Task Metrics")]
    pub metrics: Option<TaskMetrics>,
}

#[derive(Deserialize)]
pub struct EndReason {
    #[serde(rename = "Reason")]
    pub reason: String,
    #[serde(rename = "Class Name")]
    pub class: Option<String>,
    #[serde(rename = "Description")]
    pub description: Option<String>,
    #[serde(rename = "Kill Reason")]
    pub kill: Option<String>,
    #[serde(rename = "Loss Reason")]
    pub loss: Option<String>,
    #[serde(rename = "Message")]
    pub message: Option<String>,
    /// Of what could not be fetched, by whom it was kept.
    #[serde(rename = "Block Manager Address")]
    pub keeper: Option<Keeper>,
}

#[derive(Deserialize)]
pub struct Keeper {
    #[serde(default, rename = "Executor ID")]
    pub executor: Option<String>,
}

#[derive(Deserialize)]
pub struct TaskInfo {
    #[serde(rename = "Task ID")]
    pub id: u64,
    #[serde(rename = "Index")]
    pub index: u32,
    #[serde(default, rename = "Attempt")]
    pub attempt: u32,
    #[serde(default, rename = "Partition ID")]
    pub partition: Option<i64>,
    #[serde(rename = "Launch Time", deserialize_with = "moment")]
    pub launch: i64,
    #[serde(rename = "Executor ID")]
    pub executor: String,
    #[serde(rename = "Host")]
    pub host: String,
    #[serde(default, rename = "Locality")]
    pub locality: String,
    #[serde(default, rename = "Speculative")]
    pub speculative: bool,
    #[serde(default, rename = "Getting Result Time", deserialize_with = "moment")]
    pub result: i64,
    #[serde(default, rename = "Finish Time", deserialize_with = "moment")]
    pub finish: i64,
}

#[derive(Deserialize)]
pub struct TaskMetrics {
    #[serde(default, rename = "Executor Deserialize Time", deserialize_with = "count")]
    pub deserialize: u64,
    #[serde(default, rename = "Executor Deserialize CPU Time", deserialize_with = "count")]
    pub deserialize_cpu: u64,
    #[serde(default, rename = "Executor Run Time", deserialize_with = "count")]
    pub run: u64,
    #[serde(default, rename = "Executor CPU Time", deserialize_with = "count")]
    pub cpu: u64,
    #[serde(default, rename = "JVM GC Time", deserialize_with = "count")]
    pub gc: u64,
    #[serde(default, rename = "Result Serialization Time", deserialize_with = "count")]
    pub serialize: u64,
    #[serde(default, rename = "Result Size", deserialize_with = "count")]
    pub result: u64,
    #[serde(default, rename = "Memory Bytes Spilled", deserialize_with = "count")]
    pub memory_spilled: u64,
    #[serde(default, rename = "Disk Bytes Spilled", deserialize_with = "count")]
    pub disk_spilled: u64,
    #[serde(rename = "Shuffle Read Metrics")]
    pub read: Option<ReadMetrics>,
    #[serde(rename = "Shuffle Write Metrics")]
    pub write: Option<WriteMetrics>,
    #[serde(rename = "Input Metrics")]
    pub input: Option<InputMetrics>,
    #[serde(rename = "Output Metrics")]
    pub output: Option<OutputMetrics>,
}

#[derive(Deserialize)]
pub struct ReadMetrics {
    #[serde(default, rename = "Remote Blocks Fetched", deserialize_with = "count")]
    pub remote_blocks: u64,
    #[serde(default, rename = "Local Blocks Fetched", deserialize_with = "count")]
    pub local_blocks: u64,
    #[serde(default, rename = "Fetch Wait Time", deserialize_with = "count")]
    pub wait: u64,
    #[serde(default, rename = "Remote Bytes Read", deserialize_with = "count")]
    pub remote: u64,
    #[serde(default, rename = "Remote Bytes Read To Disk", deserialize_with = "count")]
    pub remote_to_disk: u64,
    #[serde(default, rename = "Local Bytes Read", deserialize_with = "count")]
    pub local: u64,
    #[serde(default, rename = "Total Records Read", deserialize_with = "count")]
    pub records: u64,
}

#[derive(Deserialize)]
pub struct WriteMetrics {
    #[serde(default, rename = "Shuffle Bytes Written", deserialize_with = "count")]
    pub bytes: u64,
    #[serde(default, rename = "Shuffle Write Time", deserialize_with = "count")]
    pub time: u64,
    #[serde(default, rename = "Shuffle Records Written", deserialize_with = "count")]
    pub records: u64,
}

#[derive(Deserialize)]
pub struct InputMetrics {
    #[serde(default, rename = "Bytes Read", deserialize_with = "count")]
    pub bytes: u64,
    #[serde(default, rename = "Records Read", deserialize_with = "count")]
    pub records: u64,
}

#[derive(Deserialize)]
pub struct OutputMetrics {
    #[serde(default, rename = "Bytes Written", deserialize_with = "count")]
    pub bytes: u64,
    #[serde(default, rename = "Records Written", deserialize_with = "count")]
    pub records: u64,
}
