//! One application's connection: a byte stream each way over the streams of a session.

use crate::config::Config;
use crate::ranges::Span;
use crate::receiver::Receiver;
use crate::sender::{Notified, Sender};
use crate::share::Share;
use crate::streams::{StreamId, Streams};
use crate::transmit::{Assigned, Timers};
use crate::wire::{Ack, Data, Frame};
use std::fmt;
use units::{Bytes, Time};

/// Output of a connection. Calls append to it. The owner carries it out and clears it.
#[derive(Clone, Debug, Default)]
pub struct Output {
    /// Frames to append to streams. The payload of a DATA frame is that range of what the application wrote.
    pub frames: Vec<(StreamId, Frame)>,
    /// New parts of the received segment.
    pub pieces: Vec<Piece>,
    /// Notices for the application.
    pub notices: Vec<Notice>,
}

impl Output {
    /// Empties it.
    pub fn clear(&mut self) {
        self.frames.clear();
        self.pieces.clear();
        self.notices.clear();
    }
}

/// New bytes of a received segment. The owner keeps them by offset until [`Connection::readable`] covers them. No
/// position is reported twice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece {
    /// Position in the byte stream.
    pub offset: u64,
    /// Number of bytes.
    pub len: u64,
    /// Bytes of the segment's payload before the piece.
    pub skip: u64,
}

impl Piece {
    pub(crate) fn of(data: &Data, span: Span) -> Self {
        Self { offset: span.start, len: span.len(), skip: span.start - data.offset }
    }
}

/// A notice for the application.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Notice {
    /// The peer's byte stream is complete. Its end follows the readable bytes.
    Finished,
    /// The peer has reset its byte stream with this code. Readable bytes are void.
    Reset(u32),
    /// The peer has stopped our byte stream with this code. It has been reset.
    Stopped(u32),
}

/// A violation of the protocol by the peer. The session cannot go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Violation {
    /// The peer sent beyond its credit.
    Credit {
        /// End of what it sent.
        end: u64,
        /// Credit limit that it was granted.
        limit: u64,
    },
    /// The peer stated two ends of one byte stream, or sent beyond the end.
    End {
        /// The end, or the highest position, that was known before.
        known: u64,
        /// The end that it stated.
        other: u64,
    },
    /// The peer acknowledged what was never sent.
    Ack {
        /// The position that it acknowledged.
        position: u64,
        /// The end of what was sent.
        sent: u64,
    },
    /// A frame does not belong where it came.
    Misplaced,
    /// The peer left more holes in byte streams than P-21 allows.
    Holes,
    /// The peer named a connection that nobody has opened.
    Unopened(u32),
    /// The peer opened far more connections than are accepted (P-32).
    TooManyConnections,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Credit { end, limit } => write!(f, "data up to {end} with credit up to {limit}"),
            Self::End { known, other } => write!(f, "the byte stream ends at {known}, and at {other}"),
            Self::Ack { position, sent } => write!(f, "{position} acknowledged, and only {sent} sent"),
            Self::Misplaced => write!(f, "a frame that does not belong here"),
            Self::Holes => write!(f, "too many holes in a byte stream"),
            Self::Unopened(connection) => write!(f, "connection {connection} was never opened"),
            Self::TooManyConnections => write!(f, "far more connections than are accepted"),
        }
    }
}

impl std::error::Error for Violation {}

/// Counters of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Segments handed to streams, copies and repetitions included.
    pub segments: u64,
    /// Payload handed to streams, copies and repetitions included.
    pub sent: u64,
    /// Payload sent again because its stream was lost, or after a timeout.
    pub repeated: u64,
    /// Payload sent on a second stream because it was late.
    pub copied: u64,
    /// Payload of short messages sent on a second stream at once, because streams lose segments now and then.
    pub twice: u64,
    /// Timeouts: retransmissions because no acknowledgement arrived.
    pub timeouts: u64,
    /// Acknowledgements sent.
    pub acks: u64,
}

/// One end of a connection.
#[derive(Clone, Debug)]
pub struct Connection {
    pub(crate) config: Config,
    pub(crate) tx: Sender,
    pub(crate) rx: Receiver,
    /// Reset of our byte stream, with its code.
    pub(crate) reset: (Notified, u32),
    /// Stop of the peer's byte stream, with its code.
    pub(crate) stop: (Notified, u32),
    /// One beyond the highest position that a stream was told of: of a segment, or the end.
    pub(crate) highest: u64,
    pub(crate) assigned: Assigned,
    /// The application has more to write than fits now.
    pub(crate) more: bool,
    /// The connection's own stream, on which small transfers go.
    pub(crate) pinned: Option<StreamId>,
    pub(crate) timers: Timers,
    pub(crate) counters: Counters,
}

impl Connection {
    /// A new connection, of which nothing has been sent.
    pub fn new(config: &Config) -> Self {
        Self {
            config: *config,
            tx: Sender { limit: config.peer_credit.get(), ..Sender::default() },
            rx: Receiver::new(config.credit.get().max(1), config.max_credit.get(), config.ack_delay),
            reset: (Notified::None, 0),
            stop: (Notified::None, 0),
            highest: 0,
            assigned: Assigned::default(),
            more: false,
            pinned: None,
            timers: Timers::default(),
            counters: Counters::default(),
        }
    }

    // === What the application does; `transmit` is to be called afterwards ===

    /// The application appends bytes to the byte stream. The owner holds them until
    /// [`acknowledged`](Self::acknowledged) has passed them.
    pub fn write(&mut self, bytes: u64) {
        if !self.tx.finishing && self.reset.0 == Notified::None {
            self.tx.written += bytes;
        }
    }
    /// Says whether the application fills its send buffer. Then more data is to come, and even a slow stream is of use.
    pub fn expect_more(&mut self, more: bool) {
        self.more = more;
    }
    /// Ends the byte stream after what was written. The application may go on reading (P-15).
    pub fn finish(&mut self) {
        if !self.tx.finishing && self.reset.0 == Notified::None {
            self.tx.finishing = true;
            self.tx.end = Notified::Due;
            self.more = false;
        }
    }
    /// Resets the byte stream: what the peer has not taken yet is void (P-17).
    pub fn reset(&mut self, code: u32) {
        if self.reset.0 == Notified::None && !self.tx.is_done() {
            self.reset = (Notified::Due, code);
            self.tx.lost.clear();
            self.tx.flight.clear();
            self.tx.end = Notified::None;
            self.tx.written = self.tx.next;
            self.assigned.clear();
        }
    }
    /// Stops the peer's byte stream: the application wants no more of it.
    pub fn stop(&mut self, now: Time, code: u32) {
        if !self.rx.stopped && !self.rx.is_done() {
            self.rx.stopped = true;
            if !self.rx.is_complete() {
                self.stop = (Notified::Due, code);
            }
            self.rx.discard_in_order(now);
        }
    }
    /// The application takes bytes that were [`readable`](Self::readable).
    pub fn consume(&mut self, now: Time, bytes: u64, streams: &Streams) {
        self.rx.consume(now, bytes, streams.window_rtt());
    }

    // === What streams bring; `transmit` is to be called afterwards ===

    /// Takes in a frame of this connection, or a part of a DATA frame. Only the last part may have `end` set.
    pub fn on_frame(&mut self, now: Time, frame: &Frame, out: &mut Output) -> Result<(), Violation> {
        match frame {
            Frame::Data(data) => {
                let before = out.pieces.len();
                let completed = self.rx.on_data(now, data, &mut out.pieces)?;
                if self.rx.stopped {
                    out.pieces.truncate(before);
                }
                if completed {
                    self.stop.0.done();
                    if !self.rx.stopped {
                        out.notices.push(Notice::Finished);
                    }
                }
            }
            Frame::Ack(ack) => self.on_ack(now, ack)?,
            Frame::Reset { code, end } => {
                // A byte stream that is complete stays complete.
                let complete = self.rx.is_complete();
                self.rx.learn_end(*end, true)?;
                if self.rx.reset.is_none() && !complete {
                    self.rx.reset = Some(*code);
                    out.notices.push(Notice::Reset(*code));
                    self.stop.0.done();
                    self.rx.discard(now);
                }
                self.rx.ack_at = now;
            }
            Frame::Stop { code } => {
                if self.reset.0 == Notified::None && !self.tx.is_done() {
                    out.notices.push(Notice::Stopped(*code));
                    self.reset(*code);
                }
            }
            _ => return Err(Violation::Misplaced),
        }
        Ok(())
    }
    fn on_ack(&mut self, now: Time, ack: &Ack) -> Result<(), Violation> {
        let position = ack.ranges.last().map_or(ack.next, |range| range.end);
        // A reset states an end too.
        let ends = self.tx.finishing || self.reset.0 != Notified::None;
        let end = ack.end && !(ends && ack.next == self.tx.written.min(self.highest));
        if position > self.highest || end {
            return Err(Violation::Ack { position, sent: self.highest });
        }
        let mut news = self.tx.on_ack(ack);
        // The peer knows of the reset, or has the whole byte stream and needs no reset.
        if (ack.reset || ack.end) && self.reset.0.is_open() {
            self.reset.0.done();
            news = true;
        }
        if news {
            self.timers.on_news(now);
        }
        Ok(())
    }
    /// The peer has forgotten this connection (OVER). It may do so once it has all of our byte stream, and our
    /// acknowledgement of its own. Otherwise what is missing is void.
    pub fn on_over(&mut self, now: Time, code: u32, out: &mut Output) {
        self.tx.flight.clear();
        self.tx.lost.clear();
        self.assigned.clear();
        self.tx.una = self.tx.next;
        if self.tx.finishing && self.tx.next == self.tx.written {
            self.tx.end = Notified::Done;
        } else {
            self.reset(code);
        }
        self.reset.0.done();
        self.stop.0.done();
        if !self.rx.is_complete() && self.rx.reset.is_none() {
            self.rx.reset = Some(code);
            self.rx.discard(now);
            out.notices.push(Notice::Reset(code));
        }
        // Nobody is left to acknowledge to.
        self.rx.ack_at = Time::MAX;
    }
    /// A stream is dead or suspect: what only it carried is sent again on others (P-20).
    pub fn on_stream_lost(&mut self, now: Time, stream: StreamId) {
        self.tx.on_stream_lost(stream);
        for span in self.assigned.take(stream) {
            self.tx.lose(span);
        }
        self.reset.0.lost(stream);
        self.stop.0.lost(stream);
        if self.pinned == Some(stream) {
            self.pinned = None;
        }
        // The last acknowledgement may have been lost with the stream.
        if self.rx.next() > 0 || self.rx.out_of_order() > 0 || self.rx.reset.is_some() || self.rx.is_complete() {
            self.rx.ack_at = now;
        }
    }

    /// Limits new data to `bytes` bytes from now on, besides the peer's credit. An owner uses it for an allowance that
    /// several connections share.
    pub fn allow(&mut self, bytes: u64) {
        self.tx.allowance = Some(bytes);
    }

    /// Sets the part of the credit that there is memory for, and takes back credit that is not used. An owner uses it
    /// for memory that several connections share.
    pub(crate) fn share(&mut self, now: Time, share: Share) {
        self.rx.share(now, share);
    }

    // === What it can be asked ===

    /// New data taken for sending so far, without retransmissions.
    pub fn taken(&self) -> u64 {
        self.tx.next
    }
    /// Final position of our byte stream, if it was reset.
    pub fn given_up(&self) -> Option<u64> {
        (self.reset.0 != Notified::None).then_some(self.highest)
    }

    /// Position below which the peer has everything. The owner need not keep those bytes.
    pub fn acknowledged(&self) -> u64 {
        self.tx.una
    }
    /// Bytes that the application has written.
    pub fn written(&self) -> u64 {
        self.tx.written
    }
    /// Bytes written that the peer's credit holds back.
    pub fn blocked(&self) -> Bytes {
        Bytes::new(self.tx.written.saturating_sub(self.tx.limit.max(self.tx.next)))
    }
    /// Whether new data waits only for the peer's credit, or for the owner's `allowance`.
    pub fn is_blocked(&self, allowance: u64) -> bool {
        self.tx.next < self.tx.written && (self.tx.is_blocked() || allowance == 0)
    }
    /// New bytes that the peer's program is not known to take.
    pub(crate) fn unproven(&self) -> u64 {
        self.tx.unproven()
    }
    /// Bytes written that are neither acknowledged nor in flight.
    pub fn waiting(&self) -> Bytes {
        Bytes::new(self.tx.written - self.tx.next + self.tx.lost.total() + self.assigned.total())
    }
    /// Whether a stream carries data or notices that are not acknowledged. Such a stream should not be closed.
    pub fn uses(&self, stream: StreamId) -> bool {
        let open = [self.tx.end, self.reset.0, self.stop.0].contains(&Notified::Sent(stream));
        open || self.tx.uses(stream)
    }
    /// The peer's in-order bytes that the application has not taken.
    pub fn readable(&self) -> Span {
        Span::new(self.rx.consumed(), self.rx.next())
    }
    /// The peer's bytes in the buffer, in order or not.
    pub fn buffered(&self) -> Bytes {
        Bytes::new(self.rx.buffered())
    }
    /// The peer's out-of-order bytes in the buffer.
    pub fn out_of_order(&self) -> Bytes {
        Bytes::new(self.rx.out_of_order())
    }
    /// Number of holes before out-of-order bytes.
    pub fn holes(&self) -> usize {
        self.rx.holes()
    }
    /// The present credit: the limit of the buffer.
    pub fn credit(&self) -> Bytes {
        Bytes::new(self.rx.window())
    }
    /// Duplicate payload received.
    pub fn duplicates(&self) -> u64 {
        self.rx.duplicates
    }
    /// The counters so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }
    /// Whether the peer has all that was written and its end, or our reset.
    pub fn is_sent(&self) -> bool {
        self.tx.is_done() || self.reset.0 == Notified::Done
    }
    /// Whether both byte streams are over. The owner keeps the connection for a while, so that repetitions of the peer
    /// are acknowledged.
    pub fn is_closed(&self) -> bool {
        self.is_sent() && self.rx.is_done()
    }
}
