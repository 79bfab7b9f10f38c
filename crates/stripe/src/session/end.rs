//! One end of a connection in a session: its state machine, its bytes, and the state of its opening.

use super::buffer::{Blocks, Buffer};
use crate::config::Config;
use crate::connection::{Connection, Notice, Output, Violation};
use crate::sender::Notified;
use crate::wire::{Data, Destination, Frame, KeepAlive};
use units::Time;

/// Bytes that a program may write ahead of what is in flight, so that no stream waits for the program to run. The
/// peer's credit lets 2 x rate x round-trip time be in flight (with losses up to 4 x), and the 256 KiB of slack of
/// [`Window`](crate::window::Window). So a connection holds 2 to 4 x rate x round-trip time + 640 KiB. The rest of a
/// MiB is for what streams of a path without losses bring out of order.
pub(super) const SLACK: u64 = 384 << 10;

/// State of the opening of a connection.
#[derive(Clone, Debug)]
pub(super) enum Opening {
    /// Opened here: OPEN is due or sent, and not answered.
    Asked(Destination, Notified),
    /// Opened by the peer: frames of the connection came before its OPEN.
    Awaited,
    /// Opened by the peer: the owner is connecting.
    Connecting,
    /// Opened by the peer: the destination has accepted. OPENED is sent again if its stream is lost.
    Answered(Notified),
    /// Opened here: the destination has accepted.
    Opened,
    /// The opening was refused.
    Refused,
}

/// One end of a connection.
#[derive(Clone, Debug)]
pub(super) struct End {
    pub core: Connection,
    pub opening: Opening,
    /// Send buffer: what was written and may have to be sent again.
    pub tx: Buffer,
    /// Receive buffer: what was received and has not been taken.
    pub rx: Buffer,
    /// Highest position of the peer's byte stream that was received.
    highest: u64,
    /// Bytes of the peer's byte stream that were given back to the session's credit.
    returned: u64,
    /// Of the peer: its byte stream is complete; the code of its RESET; the code of its STOP.
    pub finished: bool,
    pub reset: Option<u32>,
    pub stopped: Option<u32>,
    /// How the peer's program wants the connection kept alive (P-19).
    pub keep_alive: Option<KeepAlive>,
    /// The owner is done with the connection.
    pub released: bool,
    /// Holes of the connection that the session has counted.
    pub holes: usize,
    /// The connection's deadline in the session's list.
    pub due: Time,
}

impl End {
    pub fn new(config: &Config, opening: Opening) -> Self {
        Self {
            core: Connection::new(config),
            opening,
            tx: Buffer::default(),
            rx: Buffer::default(),
            highest: 0,
            returned: 0,
            finished: false,
            reset: None,
            stopped: None,
            keep_alive: None,
            released: false,
            holes: 0,
            due: Time::MAX,
        }
    }

    /// Takes in payload. In-order payload with nothing held before it is offered to `deliver`, which returns the bytes
    /// that the program has taken. Returns the bytes that count against the session's credit, and the bytes delivered.
    pub fn on_data(
        &mut self,
        now: Time,
        data: &Data,
        payload: &[u8],
        blocks: &mut Blocks,
        out: &mut Output,
        deliver: impl FnOnce(&[u8]) -> u64,
    ) -> Result<(u64, u64), Violation> {
        self.core.on_frame(now, &Frame::Data(*data), out)?;
        let (mut deliver, mut delivered) = (Some(deliver), 0);
        for piece in out.pieces.drain(..) {
            let (skip, len) = (piece.skip as usize, piece.len as usize);
            let mut bytes = &payload[skip..skip + len];
            if self.rx.len() == 0
                && piece.offset == self.core.readable().start
                && let Some(deliver) = deliver.take()
            {
                delivered = deliver(bytes);
                bytes = &bytes[delivered as usize..];
                self.rx.release(blocks, piece.offset + delivered);
            }
            self.rx.put(blocks, piece.offset + len as u64 - bytes.len() as u64, bytes);
        }
        self.note(blocks, out);
        Ok((self.reach(data.offset + u64::from(data.len)), delivered))
    }
    /// Takes in any other frame. Returns the bytes that count against the session's credit, and how many of our bytes
    /// are released.
    pub fn on_frame(
        &mut self,
        now: Time,
        frame: &Frame,
        blocks: &mut Blocks,
        out: &mut Output,
    ) -> Result<(u64, u64), Violation> {
        self.core.on_frame(now, frame, out)?;
        self.note(blocks, out);
        let counted = if let Frame::Reset { end, .. } = frame { self.reach(*end) } else { 0 };
        Ok((counted, self.let_go(blocks)))
    }
    /// The peer has forgotten the connection. Returns how many of our bytes are released.
    pub fn on_over(&mut self, now: Time, code: u32, blocks: &mut Blocks, out: &mut Output) -> u64 {
        self.core.on_over(now, code, out);
        self.note(blocks, out);
        if self.core.given_up().is_some() && self.stopped.is_none() {
            self.stopped = Some(code);
        }
        self.let_go(blocks)
    }
    fn reach(&mut self, position: u64) -> u64 {
        let counted = position.saturating_sub(self.highest);
        self.highest += counted;
        counted
    }
    fn note(&mut self, blocks: &mut Blocks, out: &mut Output) {
        for notice in out.notices.drain(..) {
            match notice {
                Notice::Finished => self.finished = true,
                Notice::Reset(code) => {
                    self.reset = Some(code);
                    self.rx.release(blocks, u64::MAX);
                }
                Notice::Stopped(code) => self.stopped = Some(code),
            }
        }
    }
    /// Releases our bytes that the peer has or never will have. Returns how many.
    pub fn let_go(&mut self, blocks: &mut Blocks) -> u64 {
        let before = self.tx.len();
        let position = if self.core.given_up().is_some() { u64::MAX } else { self.core.acknowledged() };
        self.tx.release(blocks, position);
        before - self.tx.len()
    }
    /// Bytes of the peer's that are taken or void since the last call.
    pub fn give_back(&mut self) -> u64 {
        let all = self.reset.is_some();
        let position = if all { self.highest } else { self.core.readable().start };
        let returned = position.saturating_sub(self.returned);
        self.returned += returned;
        returned
    }
    /// Bytes to give back when the connection ends.
    pub fn give_back_rest(&self) -> u64 {
        self.highest - self.returned
    }
    /// Bytes that may be written: `ahead` beyond what is in flight, while no more than `most` are held.
    pub fn room(&self, ahead: u64, most: u64) -> u64 {
        let under_way = self.core.taken() - self.core.acknowledged();
        (under_way + ahead).min(most).saturating_sub(self.tx.len())
    }
    /// Whether more streams would help: data waits that the peer's credit does not hold back.
    pub fn is_hungry(&self) -> bool {
        self.core.waiting() > self.core.blocked()
    }
    /// Whether the connection has ended.
    pub fn is_over(&self) -> bool {
        self.released && self.core.is_closed()
    }
}
