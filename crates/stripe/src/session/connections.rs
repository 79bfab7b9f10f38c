//! What programs do with their connections.

use super::end::{End, Opening, SLACK};
use super::{Role, Session, code};
use crate::ranges::Span;
use crate::sender::Notified;
use crate::wire::{Destination, Frame, KeepAlive};
use units::Time;

/// The session takes no further connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exhausted;

/// State of a connection, as a program sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct State {
    /// Its destination has accepted it.
    pub opened: bool,
    /// The end of the byte stream follows the readable bytes.
    pub finished: bool,
    /// The peer has reset its byte stream with this code. Before OPENED: the reason why the connection could not be
    /// opened.
    pub reset: Option<u32>,
    /// The peer has stopped our byte stream with this code.
    pub stopped: Option<u32>,
    /// The peer has all that was written and the end, or our reset.
    pub sent: bool,
    /// How the peer's program wants the connection kept alive (P-19).
    pub keep_alive: Option<KeepAlive>,
}

impl Session {
    /// Opens a connection to `destination`. The program may write at once: 0-RTT data follows the OPEN (P-11).
    pub fn connect(&mut self, destination: Destination) -> Result<u32, Exhausted> {
        let full = self.ends.len() >= self.settings.connections || self.next_connection == u32::MAX;
        if full || !self.takes_connections() {
            return Err(Exhausted);
        }
        let connection = self.next_connection;
        self.next_connection += 1;
        self.used.insert(Span::new(u64::from(connection), u64::from(connection) + 1), |_| {});
        let end = self.new_end(Opening::Asked(destination, Notified::Due));
        self.ends.insert(connection, end);
        self.dirty.insert(connection);
        Ok(connection)
    }
    /// Whether connections can be opened here while there is room.
    pub fn takes_connections(&self) -> bool {
        self.role == Role::Near && !self.peer_leaves && !self.leaving && !self.over
    }
    /// Accepts a connection that the peer has asked for: the destination has taken it.
    pub fn accept(&mut self, connection: u32) {
        if let Some(end) = self.touch(connection)
            && let Opening::Connecting = end.opening
        {
            end.opening = Opening::Answered(Notified::Due);
        }
    }
    /// Refuses a connection that the peer has asked for, with an error number (P-13).
    pub fn refuse(&mut self, now: Time, connection: u32, code: u32) {
        if let Some(end) = self.touch(connection) {
            end.opening = Opening::Refused;
        }
        self.abandon(now, connection, code);
    }

    /// Bytes that may be written now: a little more than is in flight, within the memory of all connections.
    pub fn room(&mut self, connection: u32) -> u64 {
        let Some(end) = self.ends.get(&connection) else { return 0 };
        if end.core.given_up().is_some() {
            return 0;
        }
        let own = self.room_of(end);
        let all = self.credit.room();
        if own > 0 && all == 0 {
            self.starved.insert(connection);
        }
        own.min(all)
    }
    fn room_of(&self, end: &End) -> u64 {
        end.room(self.credit.ahead(SLACK), self.settings.connection.max_credit.get())
    }
    /// Memory in pieces for up to `most` bytes that a program is about to write. The caller then says by
    /// [`wrote`](Self::wrote) how many it has written. Empty if the byte stream takes no more.
    pub fn writable(&mut self, connection: u32, most: u64) -> impl Iterator<Item = &mut [u8]> {
        let end = self.ends.get_mut(&connection).filter(|end| end.core.given_up().is_none());
        end.map(|end| end.tx.spare(&mut self.blocks, most)).into_iter().flatten()
    }
    /// A program has written `bytes` bytes into the memory of [`writable`](Self::writable).
    pub fn wrote(&mut self, connection: u32, bytes: u64) {
        self.dirty.insert(connection);
        let Some(end) = self.ends.get_mut(&connection) else { return };
        if end.core.given_up().is_none() {
            end.core.write(bytes);
            end.tx.extend(&mut self.blocks, bytes);
            self.credit.hold(bytes);
        }
        let is_full = self.ends.get(&connection).is_some_and(|end| self.room_of(end) == 0);
        if let Some(end) = self.ends.get_mut(&connection).filter(|end| end.core.given_up().is_none()) {
            end.core.expect_more(is_full);
        }
    }
    /// Writes bytes of a program by copying them.
    pub fn write(&mut self, connection: u32, bytes: &[u8]) {
        let mut rest = bytes;
        for memory in self.writable(connection, bytes.len() as u64) {
            let (here, behind) = rest.split_at(memory.len());
            memory.copy_from_slice(here);
            rest = behind;
        }
        self.wrote(connection, bytes.len() as u64);
    }
    /// Ends the program's byte stream.
    pub fn finish(&mut self, connection: u32) {
        if let Some(end) = self.touch(connection) {
            end.core.finish();
        }
    }
    /// Resets both directions: a program or its kernel has aborted the connection.
    pub fn abandon(&mut self, now: Time, connection: u32, code: u32) {
        self.dirty.insert(connection);
        let Some(end) = self.ends.get_mut(&connection) else { return };
        end.core.reset(code);
        end.core.stop(now, code);
        end.rx.release(&mut self.blocks, u64::MAX);
        let let_go = end.let_go(&mut self.blocks);
        self.credit.let_go(let_go);
        self.return_credit(now, connection);
    }
    /// The peer's in-order bytes that the program has not taken, in pieces.
    pub fn readable(&self, connection: u32) -> impl Iterator<Item = &[u8]> {
        let held = |end: &&End| end.reset.is_none() && end.rx.start() == end.core.readable().start;
        let end = self.ends.get(&connection).filter(held);
        end.into_iter().flat_map(|end| end.rx.slices(end.core.readable()))
    }
    /// A program has taken bytes.
    pub fn consume(&mut self, now: Time, connection: u32, bytes: u64) {
        self.dirty.insert(connection);
        let Some(end) = self.ends.get_mut(&connection) else { return };
        end.core.consume(now, bytes, &self.streams);
        end.rx.release(&mut self.blocks, end.core.readable().start);
        self.return_credit(now, connection);
    }
    /// State of a connection; `None` for one that is over.
    pub fn state(&self, connection: u32) -> Option<State> {
        let end = self.ends.get(&connection)?;
        Some(State {
            opened: matches!(end.opening, Opening::Opened | Opening::Answered(_)),
            finished: end.finished,
            reset: end.reset,
            stopped: end.stopped,
            sent: end.core.is_sent(),
            keep_alive: end.keep_alive,
        })
    }
    /// Tells the peer how the program here has its connection kept alive (P-19). The frame may be lost with its stream.
    pub fn have_kept_alive(&mut self, connection: u32, keep_alive: KeepAlive) {
        if self.ends.contains_key(&connection) {
            self.say(connection, Frame::KeepAlive(keep_alive));
        }
    }
    /// The owner is done with a connection. What is still open is reset. The connection is removed when the peer is
    /// done too.
    pub fn release(&mut self, now: Time, connection: u32) {
        let Some(end) = self.touch(connection) else { return };
        end.released = true;
        let state = self.state(connection).unwrap_or_default();
        if !state.sent && state.reset.is_none() && !state.finished {
            self.abandon(now, connection, code::RESET);
        }
    }
    fn touch(&mut self, connection: u32) -> Option<&mut End> {
        self.dirty.insert(connection);
        self.ends.get_mut(&connection)
    }
}
