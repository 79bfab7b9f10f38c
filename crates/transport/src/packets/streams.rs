//! Calls of owners on open connections.

use super::connection::Boundary;
use super::{ConnectionIndex, End, Handle, Message, PacketTransport, Upcall};
use des::EventQueue;
use tcp::WriteError;
use tcp::control::Weights;
use units::{Bytes, Time};

impl PacketTransport {
    /// Appends a message to the stream from `end`. One for a connection that is gone is lost, as its owner learns by
    /// [`Happened`](crate::Happened).
    pub fn send(&mut self, now: Time, handle: Handle, end: End, message: Message, events: &mut EventQueue) {
        let Some(at) = self.end(handle, end) else { return };
        let Message { bytes, tag, push } = message;
        let boundary = Boundary { end: self.endpoints[at].written() + self.unwritten(at) + bytes.get(), tag };
        self.before_call(now, at);
        let written = self.write(now, at, bytes.get(), push);
        debug_assert!(written != Err(WriteError::Closed), "an owner sends on a stream that it has closed");
        if written.is_ok() {
            self.ports[at].messages.push(boundary);
            self.ports[at ^ 1].next_delivery = self.ports[at ^ 1].next_delivery.min(boundary.end);
        }
        self.after_call(now, at, events);
    }

    /// Takes bytes out of the receive buffer of a paced reader.
    pub fn consume(&mut self, now: Time, handle: Handle, end: End, bytes: Bytes, events: &mut EventQueue) {
        let Some(at) = self.end(handle, end) else { return };
        self.before_call(now, at);
        self.endpoints[at].consume(now, bytes.get(), &mut self.out);
        self.after_call(now, at, events);
    }

    /// Gives an end's receive buffer another size.
    pub fn set_receive_buffer(&mut self, now: Time, handle: Handle, end: End, size: Bytes, events: &mut EventQueue) {
        let Some(at) = self.end(handle, end) else { return };
        self.endpoints[at].set_receive_buffer(now, size, &mut self.out);
        self.after_call(now, at, events);
    }

    /// Orderly end of the stream from `end`. The connection is gone when both ends have closed and know it of each
    /// other.
    pub fn close(&mut self, now: Time, handle: Handle, end: End, events: &mut EventQueue) {
        let Some(at) = self.end(handle, end) else { return };
        self.before_call(now, at);
        self.finish_writing(now, at);
        self.after_call(now, at, events);
    }

    /// Resets the connection; nothing more is told about it at `end`.
    pub fn abort(&mut self, now: Time, handle: Handle, end: End, events: &mut EventQueue) {
        let Some(at) = self.end(handle, end) else { return };
        self.stop_writing(at);
        self.endpoints[at].abort(now, &mut self.out);
        if let Some(connection) = self.connections.get_mut(ConnectionIndex(handle.index)) {
            connection.reset = true;
        }
        self.ports[at].done = true;
        self.after_call(now, at, events);
    }

    /// Keeps the time of the last in-order arrival at each end from now on.
    pub fn watch_arrivals(&mut self) {
        self.last_received.get_or_insert_default();
    }
    /// Time of the last in-order arrival at an end; zero for none, or before [`Self::watch_arrivals`].
    pub fn last_received(&self, handle: Handle, end: End) -> Time {
        let at = self.end(handle, end).and_then(|at| self.last_received.as_ref()?.get(at).copied());
        at.unwrap_or(Time::ZERO)
    }

    /// Hands an end's congestion control the weights that couple it to others.
    pub fn set_weights(&mut self, handle: Handle, end: End, weights: Weights) {
        if let Some(at) = self.end(handle, end) {
            self.endpoints[at].set_weights(weights);
        }
    }

    /// Moves the upcalls since the last call to `upcalls`.
    pub fn take_upcalls(&mut self, upcalls: &mut Vec<Upcall>) {
        upcalls.append(&mut self.upcalls);
    }
    /// Whether an owner has something to be told.
    #[inline]
    pub fn has_upcalls(&self) -> bool {
        !self.upcalls.is_empty()
    }
}
