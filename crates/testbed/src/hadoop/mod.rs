//! A real Hadoop cluster on this machine: HDFS, and YARN with the history server or Spark, on the hosts of a star of
//! links; jobs on it, and what they leave.
//!
//! A cluster is a scenario: [`Machine::check`] refuses what a testbed cannot be, [`Cluster::up`] starts the rest. Its
//! processes, mounts and networks are in namespaces that end with the process that called it. [`Running`] is a cluster
//! as another process sees it; [`Registry`] finds it.

mod check;
mod client;
mod cluster;
mod collect;
mod daemons;
mod error;
pub mod faults;
mod files;
mod hdfs;
mod http;
mod install;
mod job;
mod layout;
mod load;
mod pip;
mod prepare;
mod registry;
mod running;
mod s3a;
mod scenario;
mod settings;
mod spark;
mod store;
mod text;
mod tools;
mod words;

pub use self::scenario::{BASE, BASE_SPARK, Machine, word};
pub use check::Check;
pub use client::{Client, Ran};
pub use cluster::{Cluster, Plan, is_worker};
pub use collect::{event_logs, history};
pub use daemons::Engine;
pub use error::HadoopError;
pub use hdfs::{Entry, Hdfs};
pub use install::{Extras, Installation, SPARK_VERSION, SparkJars, StoreJars, VERSION, cache, install, lacking};
pub use job::{Application, Input, Job, Kind, NAMES};
pub use layout::{Layout, Owner, check_reachable};
pub use load::{Load, Sample, Share, now_ms};
pub use prepare::Prepared;
pub use registry::{Process, Record, Registry};
pub use running::{DaemonRecord, HostRecord, Place, Ready, Running};
pub use settings::locality;
pub use store::{RequestLog, Requests, check_folder as check_store_folder};
pub use text::Text;
pub use tools::Java;
