//! What whoever drives the cluster from outside may ask of the world: an engine beside MapReduce, which runs on the
//! same nodes and the same HDFS. Each request and each message carries a number of the driver's own choice; what becomes
//! of it is [news](crate::Cluster::take_news).

use crate::connections::Connection;
use crate::context::{Context, DiskTransfer};
use crate::effect::{Effect, End, Service};
use crate::ids::{ConnId, DiskStream, NodeId, Tag};
use crate::request::{Message, Request, User};
use units::{Bytes, Time};

impl Context {
    /// Opens a connection, over which messages may be sent at once. [`Event::Ended`](crate::Event::Ended) follows if it
    /// cannot be, or ends.
    pub fn drive_open(&mut self, from: NodeId, to: NodeId, service: Service) -> ConnId {
        let conn = self.connections.insert(Connection::new(User::Driver, from, to, service));
        self.effects.push(Effect::Open { conn, from, to, service, paced_reader: false });
        conn
    }
    /// Sends a message from an end of such a connection. [`Event::Delivered`](crate::Event::Delivered) follows.
    pub fn drive_send(&mut self, conn: ConnId, end: End, bytes: Bytes, message: u64) {
        self.send(conn, end, bytes, Message::Driver(message), true);
    }
    /// Runs `work` seconds of one core at speed 1. [`Event::Answered`](crate::Event::Answered) follows.
    pub fn drive_compute(&mut self, node: NodeId, work: Time, request: u64) -> Tag {
        self.compute(node, work, Request::Driver(request))
    }
    /// Stops such work; nothing more is told of it.
    pub fn drive_cancel(&mut self, node: NodeId, work: Tag) {
        self.cancel_compute(node, work);
    }
    /// Moves bytes at a disk of a node. [`Event::Answered`](crate::Event::Answered) follows, or
    /// [`Event::DiskFailed`](crate::Event::DiskFailed).
    pub fn drive_disk(&mut self, node: NodeId, transfer: DiskTransfer, request: u64) {
        self.disk(node, transfer, Request::Driver(request));
    }
    /// Asks to be woken at a time; never, if that is [`Time::MAX`]. [`Event::Answered`](crate::Event::Answered)
    /// follows.
    pub fn drive_timer(&mut self, at: Time, request: u64) {
        self.timer(at, Request::Driver(request));
    }
    /// Names a new file on a node's disk.
    pub fn drive_file(&mut self) -> DiskStream {
        self.new_file()
    }
}
