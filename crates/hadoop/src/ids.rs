//! Identifiers: what the parts of the cluster and the world call each other's things. This file imports no other of the
//! crate.

use des::define_index;

define_index! {
    /// A node of the cluster: 0 is the master, 1 and up are the workers.
    pub NodeId;
    /// A connection between two nodes, allocated by the cluster and reused after it is closed.
    pub ConnId;
    /// A file of HDFS.
    pub FileId;
    /// A block of a file of HDFS.
    pub BlockId;
    /// A read of HDFS under way; never used again.
    pub ReadId;
    /// An output stream of HDFS; never used again.
    pub WriteId;
    /// An object of the object store.
    pub ObjectId;
    /// A request to the object store; never used again.
    pub HttpId;
    /// A replication pipeline; never used again.
    pub PipelineId;
    /// A fetch of map outputs of one host; never used again.
    pub FetchId;
    /// A map output of the shuffle service, in order of creation; never used again.
    pub OutputId;
    /// An application of YARN, in order of creation; never used again.
    pub ApplicationId;
    /// A container of YARN, in order of allocation; never used again.
    pub ContainerId;
    /// A job, in order of submission.
    pub JobId;
    /// An attempt at a task, in order of creation over all jobs; never used again.
    pub AttemptId
}

/// A remote call; never used again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CallId(pub(crate) u64);

/// A client process's way to one server; never used again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LinkId(pub(crate) u64);

/// A process that makes calls: a daemon or a task's JVM.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Process {
    /// Where it runs.
    pub node: NodeId,
    /// Which one on that node: 0 is the DataNode, others are given by their owner.
    pub id: u32,
}

impl Process {
    /// The DataNode of a node.
    pub const fn datanode(node: NodeId) -> Self {
        Self { node, id: 0 }
    }
}

/// A server process: a node and a port that is unique on it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Server {
    /// Where it runs.
    pub node: NodeId,
    /// Its port.
    pub port: u32,
}

impl Server {
    /// The NameNode, on its usual port.
    pub const fn namenode(master: NodeId) -> Self {
        Self { node: master, port: 8020 }
    }
}

/// The cluster's name for a message, a piece of work, a disk request or a timer; opaque to the world.
///
/// For a message it is the position among all messages of its direction of the connection. For anything else it is the
/// place in the table of pending requests and a serial number, so that an answer to a request that was cancelled is
/// known.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Tag(pub u64);

/// A sequential stream of bytes on a node's disk: a file, or a part of a file that its reader takes for itself.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DiskStream {
    /// The file: a replica of a block, a spill, a merged run. Never used again.
    pub file: u64,
    /// Zero for the whole file. Partitions of a map output are read by different reducers, each as a stream of its own.
    pub part: u32,
}
