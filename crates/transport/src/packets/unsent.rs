//! The limit of unsent data in a socket: Linux' `TCP_NOTSENT_LOWAT`.
//!
//! An application that reaches the limit stops writing. It continues when TCP has sent data, up to the limit again. The
//! limit bounds data in sockets, not in the transmit queue: TCP still sends all that its window allows.

use super::PacketTransport;
use std::collections::{BTreeMap, VecDeque};
use tcp::WriteError;
use units::{Bytes, Time};

/// Data that applications wait to write, by endpoint.
#[derive(Debug)]
pub(super) struct Writers {
    limit: u64,
    waiting: BTreeMap<usize, Writer>,
}

#[derive(Debug, Default)]
struct Writer {
    /// Bytes of each message that are not written, and whether its end is pushed.
    messages: VecDeque<(u64, bool)>,
    bytes: u64,
    /// The application closes the stream after its last byte.
    closes: bool,
}

impl PacketTransport {
    /// Limits the unsent data of every connection from now on.
    pub fn set_unsent_limit(&mut self, limit: Bytes) {
        self.writers = Some(Box::new(Writers { limit: limit.get(), waiting: BTreeMap::new() }));
    }
    /// The most unsent data of any connection so far.
    pub fn most_unsent(&self) -> Bytes {
        Bytes::new(self.most_unsent)
    }

    /// Bytes that the application at an endpoint waits to write.
    pub(super) fn unwritten(&self, at: usize) -> u64 {
        self.writers.as_ref().and_then(|writers| writers.waiting.get(&at)).map_or(0, |writer| writer.bytes)
    }
    /// Writes a message, up to the limit now and the rest later. Fails on a stream that has ended.
    pub(super) fn write(&mut self, now: Time, at: usize, bytes: u64, push: bool) -> Result<(), WriteError> {
        match &mut self.writers {
            None => self.endpoints[at].write(now, bytes, push, &mut self.out)?,
            Some(writers) => {
                self.endpoints[at].may_write()?;
                let writer = writers.waiting.entry(at).or_default();
                if writer.closes {
                    return Err(WriteError::Closed);
                }
                writer.messages.push_back((bytes, push));
                writer.bytes += bytes;
                self.write_on(now, at);
            }
        }
        let endpoint = &self.endpoints[at];
        self.most_unsent = self.most_unsent.max(endpoint.written().saturating_sub(endpoint.sent()));
        Ok(())
    }
    /// Closes the stream after the last waiting byte.
    pub(super) fn finish_writing(&mut self, now: Time, at: usize) {
        match self.writers.as_mut().and_then(|writers| writers.waiting.get_mut(&at)) {
            Some(writer) => writer.closes = true,
            None => self.endpoints[at].close(now, &mut self.out),
        }
    }
    /// Discards the data that an application waits to write.
    pub(super) fn stop_writing(&mut self, at: usize) {
        if let Some(writers) = &mut self.writers {
            writers.waiting.remove(&at);
        }
    }
    /// Writes waiting data up to the limit, after TCP may have sent some.
    #[inline]
    pub(super) fn go_on_writing(&mut self, now: Time, at: usize) {
        if self.writers.is_some() {
            self.write_on(now, at);
        }
    }
    fn write_on(&mut self, now: Time, at: usize) {
        loop {
            let Some(writers) = &mut self.writers else { return };
            let limit = writers.limit;
            let Some(writer) = writers.waiting.get_mut(&at) else { return };
            let endpoint = &mut self.endpoints[at];
            let room = limit.saturating_sub(endpoint.written().saturating_sub(endpoint.sent()));
            let Some((left, push)) = writer.messages.front_mut() else {
                if writer.closes {
                    endpoint.close(now, &mut self.out);
                }
                writers.waiting.remove(&at);
                return;
            };
            let bytes = room.min(*left);
            if bytes == 0 {
                return;
            }
            *left -= bytes;
            writer.bytes -= bytes;
            let ends = *left == 0;
            let push = *push && ends;
            if ends {
                writer.messages.pop_front();
            }
            if endpoint.write(now, bytes, push, &mut self.out).is_err() {
                // The connection has ended: its waiting data is discarded.
                writers.waiting.remove(&at);
                return;
            }
        }
    }
}
