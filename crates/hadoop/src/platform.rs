//! What a framework is handed: the context, and the services that all frameworks share.

use crate::context::Context;
use crate::hdfs::Hdfs;
use crate::object_store::ObjectStore;
use crate::shuffle::Shuffle;
use crate::yarn::Yarn;

/// What a framework runs on.
#[derive(Debug)]
pub struct Platform<'a> {
    /// The time, the nodes, calls, and the way to the world.
    pub ctx: &'a mut Context,
    /// The file system.
    pub hdfs: &'a mut Hdfs,
    /// The object store, with its client in every process.
    pub store: &'a mut ObjectStore,
    /// YARN: nodes with their containers, and applications.
    pub yarn: &'a mut Yarn,
    /// Map outputs and their fetches.
    pub shuffle: &'a mut Shuffle,
}
