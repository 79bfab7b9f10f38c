//! The message transport: connections between nodes and the messages on them, behind one seam.
//!
//! A message is a length and a tag. Owners (Hadoop, plain traffic) open connections, send messages and are told as
//! [`Upcall`]s what becomes of them. Two implementations stand behind [`Transport`]: [`PacketTransport`] simulates TCP
//! packet by packet, [`FlowTransport`] shares links between streams max-min fairly. What exists only for packets
//! (queues, marks, captures, TCP's windows) is reached through [`Transport::packets`], which is none for flows: "not
//! modelled".

mod flow;
mod owner;
mod packets;
mod record;

pub use flow::{DUE, FlowTransport, Interface, Overflow, Sockets, fluid};
pub use owner::{End, Handle, Happened, Message, Open, Owner, Tag, Upcall};
pub use packets::{
    Association, Captured, Classes, Looks, OwnTcp, Packet, PacketTransport, QUEUE_ROOM, StationCounts, TIMER, Wireless,
};
pub use record::{FlowRecord, Tally, Totals};

use des::{Event, EventQueue};
use net::{LinkId, SpecError, Topology};
use units::{BitRate, Bytes, Time};

/// The two implementations of the message transport.
#[derive(Debug)]
pub enum Transport {
    /// TCP over simulated packets.
    Packets(Box<PacketTransport>),
    /// Streams that share links max-min fairly.
    Flows(Box<FlowTransport>),
}

impl Transport {
    // === Connections and messages ===

    /// Opens a connection. An upcall tells its owner that it is connected, or that the attempt has failed.
    pub fn open(&mut self, now: Time, open: &Open, events: &mut EventQueue) -> Handle {
        match self {
            Self::Packets(packets) => packets.open(now, open, events),
            Self::Flows(flows) => flows.open(now, open, events),
        }
    }
    /// Sets the nodes' own TCP settings, by node, for connections opened from now on.
    pub fn set_own_tcp(&mut self, own: Vec<OwnTcp>) {
        match self {
            Self::Packets(packets) => packets.set_own_tcp(own),
            Self::Flows(flows) => flows.set_own_tcp(own),
        }
    }
    /// Appends a message to the stream from `end`.
    pub fn send(&mut self, now: Time, handle: Handle, end: End, message: Message, events: &mut EventQueue) {
        match self {
            Self::Packets(packets) => packets.send(now, handle, end, message, events),
            Self::Flows(flows) => flows.send(now, handle, end, message, events),
        }
    }
    /// Takes bytes out of the receive buffer of a paced reader.
    pub fn consume(&mut self, now: Time, handle: Handle, end: End, bytes: Bytes, events: &mut EventQueue) {
        match self {
            Self::Packets(packets) => packets.consume(now, handle, end, bytes, events),
            Self::Flows(flows) => flows.consume(now, handle, end, bytes, events),
        }
    }
    /// Time has come to `now`: what has arrived of a flow is asked of the present, without an event of its own.
    #[inline]
    pub fn pass(&mut self, now: Time) {
        if let Self::Flows(flows) = self {
            flows.pass(now);
        }
    }
    /// When bytes last arrived in order at an end; zero for never.
    pub fn last_received(&self, handle: Handle, end: End) -> Time {
        match self {
            Self::Packets(packets) => packets.last_received(handle, end),
            Self::Flows(flows) => flows.last_received(handle, end),
        }
    }
    /// Orderly end of the stream from `end`. The connection is gone when both ends have closed and know it of each
    /// other.
    pub fn close(&mut self, now: Time, handle: Handle, end: End, events: &mut EventQueue) {
        match self {
            Self::Packets(packets) => packets.close(now, handle, end, events),
            Self::Flows(flows) => flows.close(now, handle, end, events),
        }
    }
    /// Resets the connection; nothing more is told about it at `end`.
    pub fn abort(&mut self, now: Time, handle: Handle, end: End, events: &mut EventQueue) {
        match self {
            Self::Packets(packets) => packets.abort(now, handle, end, events),
            Self::Flows(flows) => flows.abort(now, handle, end, events),
        }
    }
    /// When an open connection was opened.
    pub fn opened(&self, handle: Handle) -> Option<Time> {
        match self {
            Self::Packets(packets) => packets.opened(handle),
            Self::Flows(flows) => flows.opened(handle),
        }
    }
    /// Bytes that have arrived in order at an end of an open connection.
    pub fn received(&self, handle: Handle, end: End) -> Option<u64> {
        match self {
            Self::Packets(packets) => packets.received(handle, end),
            Self::Flows(flows) => flows.received(handle, end),
        }
    }

    // === Faults ===

    /// A node crashes or is back. It knows no connection from before.
    pub fn set_node(&mut self, now: Time, node: u32, up: bool, events: &mut EventQueue) {
        match self {
            Self::Packets(packets) if up => packets.node_up(now, node, events),
            Self::Packets(packets) => packets.node_down(now, node, events),
            Self::Flows(flows) => flows.set_node(now, node, up, events),
        }
    }
    /// Takes both directions of a cable down or up.
    pub fn set_link_up(&mut self, now: Time, link: LinkId, up: bool, events: &mut EventQueue) {
        match self {
            Self::Packets(packets) => packets.set_link_up(now, link, up, events),
            Self::Flows(flows) => flows.set_link_up(now, link, up, events),
        }
    }
    /// Changes the rate of one direction of a link.
    pub fn set_link_rate(
        &mut self,
        now: Time,
        link: LinkId,
        rate: BitRate,
        events: &mut EventQueue,
    ) -> Result<(), SpecError> {
        match self {
            Self::Packets(packets) => packets.set_link_rate(now, link, rate, events),
            Self::Flows(flows) => flows.set_link_rate(now, link, rate, events),
        }
    }

    // === Events and upcalls ===

    /// Handles an event of one of the transport's kinds.
    #[inline]
    pub fn on_event(&mut self, event: &Event, events: &mut EventQueue) {
        match self {
            Self::Packets(packets) => packets.on_event(event, events),
            Self::Flows(flows) => flows.on_event(event, events),
        }
    }
    /// Moves the upcalls since the last call to `upcalls`.
    pub fn take_upcalls(&mut self, upcalls: &mut Vec<Upcall>) {
        match self {
            Self::Packets(packets) => packets.take_upcalls(upcalls),
            Self::Flows(flows) => flows.take_upcalls(upcalls),
        }
    }
    /// Whether an owner has something to be told.
    #[inline]
    pub fn has_upcalls(&self) -> bool {
        match self {
            Self::Packets(packets) => packets.has_upcalls(),
            Self::Flows(flows) => flows.has_upcalls(),
        }
    }

    // === What became of connections ===

    /// Connections that have ended and were not taken, in the order of their ends, then those still open.
    pub fn flows(&self) -> Vec<FlowRecord> {
        match self {
            Self::Packets(packets) => packets.flows().collect(),
            Self::Flows(flows) => flows.flows(),
        }
    }
    /// How many connections have ended whose records were not taken.
    pub fn ended_connections(&self) -> usize {
        match self {
            Self::Packets(packets) => packets.ended_connections(),
            Self::Flows(flows) => flows.ended_connections(),
        }
    }
    /// Takes out the records of connections that have ended since the last call, so that they need not all be held.
    pub fn take_ended(&mut self) -> Vec<FlowRecord> {
        match self {
            Self::Packets(packets) => packets.take_ended().collect(),
            Self::Flows(flows) => flows.take_ended(),
        }
    }
    /// Sums over the connections of plain traffic at a port, ended and open, by the node that opens them.
    pub fn tallies(&self, port: u16) -> Vec<(u32, Tally)> {
        match self {
            Self::Packets(packets) => packets.tallies(port),
            Self::Flows(flows) => flows.tallies(port),
        }
    }
    /// Bytes on the wire that came into each node through its interfaces and that went out, headers included.
    pub fn interfaces(&self) -> Vec<Interface> {
        match self {
            Self::Packets(packets) => packets.interfaces(),
            Self::Flows(flows) => flows.interfaces(),
        }
    }
    /// Whether bursts have overflowed queues where messages are flows, and what went by packets therefore.
    pub fn overflow(&self) -> Option<Overflow> {
        match self {
            Self::Packets(_) => None,
            Self::Flows(flows) => flows.overflow(),
        }
    }
    /// The network's topology; its hosts are the nodes.
    pub fn topology(&self) -> &Topology {
        match self {
            Self::Packets(packets) => packets.topology(),
            Self::Flows(flows) => flows.topology(),
        }
    }

    // === What only packets have ===

    /// The packet-level transport: links, queues, TCP's windows, stations on the air. `None` where messages are flows.
    pub fn packets(&self) -> Option<&PacketTransport> {
        match self {
            Self::Packets(packets) => Some(packets),
            Self::Flows(_) => None,
        }
    }
    /// [`Self::packets`], mutable.
    pub fn packets_mut(&mut self) -> Option<&mut PacketTransport> {
        match self {
            Self::Packets(packets) => Some(packets),
            Self::Flows(_) => None,
        }
    }
}
