//! An application of Spark, standalone or on YARN, as a pure state machine beside `hadoop`'s: it drives a
//! [`hadoop::Cluster`] from outside, on whose nodes, disks, connections and HDFS it runs.
//!
//! [`Spark::on_start`], [`Spark::on_down`], [`Spark::on_up`] and [`Spark::on_news`] take the cluster's
//! [`Platform`](hadoop::Platform) and what has happened there; what they ask for comes back as news.
//! `docs/models/spark.md` has the sources.

pub mod adaptive;
mod allocating;
pub mod allocation;
mod anew;
mod app_master;
mod application;
mod blocks;
mod broadcast;
mod cache;
mod config;
mod driver;
mod errand;
mod excluding;
pub mod exclusion;
mod executor;
mod failing;
pub mod fetch;
mod killing;
mod listed;
mod localise;
mod loss;
mod planned;
mod reading;
mod reads;
mod record;
mod registration;
mod running;
mod serve;
pub mod shuffle;
pub mod skew;
mod speculation;
mod stage;
mod standalone;
mod store;
mod task;
pub mod task_set;
mod transfer;
mod yarn;

pub use allocation::Allocation;
pub use application::Spark;
pub use blocks::Sent;
pub use broadcast::Spread;
pub use cache::Kept;
pub use config::{
    Coalesce, Config, Failing, Failure, JobSpec, Level, Listed, Moment, Place, Skew, Speculation, StageSpec, TaskSpec,
};
pub use exclusion::Exclusion;
pub use record::{
    Exchange, ExclusionRecord, ExecutorRecord, JobRecord, StageRecord, TaskEnd, TaskRecord, WantedRecord,
};
pub use task_set::Locality;
pub use yarn::OnYarn;
