//! The parts of the cluster by what they ask for: one variant for each part, and nothing of what a part means by it.
//!
//! [`crate::Cluster`] alone matches on these and hands what has come to the part that asked. A part that is added gets
//! its variants here and its arms there; the parts do not know one another's.

use crate::hdfs::request as hdfs;
use crate::ids::{AttemptId, JobId, LinkId, ReadId};
use crate::mapreduce::request as mapreduce;
use crate::object_store::request as object_store;
use crate::rpc::request as rpc;
use crate::shuffle::request as shuffle;
use crate::yarn::request as yarn;

/// Work, a disk request or a timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Request {
    Rpc(rpc::Request),
    Hdfs(hdfs::Request),
    Shuffle(shuffle::Request),
    ObjectStore(object_store::Request),
    Yarn(yarn::Request),
    MapReduce(mapreduce::Request),
    /// Whoever drives the cluster from outside, with a number of its own choice.
    Driver(u64),
}

/// A message on a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Message {
    Rpc(rpc::Message),
    Hdfs(hdfs::Message),
    Shuffle(shuffle::Message),
    ObjectStore(object_store::Message),
    /// Whoever drives the cluster from outside, with a number of its own choice.
    Driver(u64),
}

/// Who has opened a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum User {
    Rpc(LinkId),
    Hdfs(hdfs::Channel),
    ObjectStore(object_store::Channel),
    /// The fetches that follow one another on it.
    Shuffle,
    /// Whoever drives the cluster from outside.
    Driver,
}

/// Who makes a remote call, and what it says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Caller {
    /// The file system.
    Hdfs(hdfs::Call),
    /// YARN's daemons, and the clients and AppMasters of its applications.
    Yarn(yarn::Call),
    /// MapReduce's clients, masters, daemons and tasks.
    MapReduce(mapreduce::Call),
    /// Whoever drives the cluster from outside, with a number of its own choice.
    Driver(u64),
}

/// Who reads from HDFS, and for what.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reader {
    /// The file system itself: a part of a block group.
    Hdfs(ReadId),
    /// A part of MapReduce.
    MapReduce(mapreduce::Reader),
    /// Whoever drives the cluster from outside, with a number of its own choice.
    Driver(u64),
}

/// Who writes to HDFS, and for what.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Writer {
    /// A part of MapReduce.
    MapReduce(mapreduce::Writer),
    /// Whoever drives the cluster from outside, with a number of its own choice.
    Driver(u64),
}

/// Whose an application of YARN is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Framework {
    /// A job of MapReduce.
    MapReduce(JobId),
    /// Whoever drives the cluster from outside, with a number of its own choice.
    Driver(u64),
}

/// Who fetches map outputs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Fetcher {
    /// A reduce of MapReduce.
    MapReduce(AttemptId),
    /// Whoever drives the cluster from outside, with a number of its own choice.
    Driver(u64),
}

macro_rules! from {
    ($($whole:ident::$part:ident($inner:ty)),+ $(,)?) => {$(
        impl From<$inner> for $whole {
            fn from(inner: $inner) -> Self {
                Self::$part(inner)
            }
        }
    )+};
}

from! {
    Request::Rpc(rpc::Request),
    Request::Hdfs(hdfs::Request),
    Request::Shuffle(shuffle::Request),
    Request::ObjectStore(object_store::Request),
    Request::Yarn(yarn::Request),
    Request::MapReduce(mapreduce::Request),
    Message::Rpc(rpc::Message),
    Message::Hdfs(hdfs::Message),
    Message::Shuffle(shuffle::Message),
    Message::ObjectStore(object_store::Message),
    User::Hdfs(hdfs::Channel),
    User::ObjectStore(object_store::Channel),
    User::Rpc(LinkId),
    Caller::Hdfs(hdfs::Call),
    Caller::Yarn(yarn::Call),
    Caller::MapReduce(mapreduce::Call),
    Reader::MapReduce(mapreduce::Reader),
    Writer::MapReduce(mapreduce::Writer),
}
