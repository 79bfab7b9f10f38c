//! HDFS and MapReduce as pure state machines.

mod cluster;
mod connections;
mod context;
mod effect;
mod event;
pub mod hdfs;
pub mod history;
pub mod mapreduce;
pub mod record;
pub mod rpc;
pub mod workload;

pub use cluster::{Cluster, Config};
pub use connections::Connection;
pub use context::{Context, DiskTransfer, NodeInfo, Nodes, Part};
pub use effect::{ConnId, DiskOp, Effect, End, Input, NodeId, Service, Tag};
pub use event::Event;
pub use record::{AttemptId, JobId, TaskKind};
