//! HDFS and MapReduce as pure state machines.

mod effect;

pub use effect::{ConnId, DiskOp, Effect, End, Input, NodeId, Service, Tag};
