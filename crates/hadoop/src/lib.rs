//! HDFS and MapReduce as pure state machines.
#![warn(clippy::cast_possible_truncation)]

mod cluster;
mod connections;
mod context;
mod effect;
mod event;
pub mod hdfs;
mod ids;
pub mod mapreduce;
mod numbers;
mod pending;
pub mod record;
mod request;
pub mod rpc;
mod shuffle;
pub mod workload;
mod yarn;

pub use cluster::{Cluster, Config};
pub use connections::Connection;
pub use context::{Context, DiskTransfer, NodeInfo, Nodes};
pub use effect::{DiskOp, Effect, End, Input, Service};
pub use event::{Event, ReadNews, WriteNews};
pub use ids::{AttemptId, ConnId, DiskStream, JobId, NodeId, Tag};
pub use record::TaskKind;
pub use request::{Caller, Reader, Writer};
