//! HDFS, YARN and MapReduce as pure state machines.
#![warn(clippy::cast_possible_truncation)]

mod batteries;
mod cluster;
mod connections;
mod context;
mod disks;
mod driver;
mod effect;
mod event;
pub mod hdfs;
mod ids;
pub mod mapreduce;
mod numbers;
pub mod object_store;
mod pending;
mod platform;
pub mod record;
mod request;
pub mod rpc;
pub mod shuffle;
pub mod workload;
pub mod yarn;

pub use cluster::{Cluster, Config};
pub use connections::Connection;
pub use context::{Context, DiskTransfer, NodeInfo, Nodes};
pub use disks::{Data, Disks, Turns};
pub use effect::{DiskOp, Effect, End, Input, Purpose, Service};
pub use event::{Event, ReadNews, WriteNews};
pub use ids::{
    ApplicationId, AttemptId, ConnId, ContainerId, DiskStream, FetchId, JobId, NodeId, ObjectId, OutputId, Tag,
};
pub use platform::Platform;
pub use record::TaskKind;
pub use request::{Caller, Fetcher, Framework, Reader, Writer};
