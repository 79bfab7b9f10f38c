//! The receiving half of a connection: reassembly, credit, acknowledgements (P-21).

use crate::connection::{Piece, Violation};
use crate::ranges::{RangeSet, Span};
use crate::share::Share;
use crate::window::{Progress, Window};
use crate::wire::{Ack, Data, MAX_RANGES};
use units::Time;

/// The most holes in a byte stream (P-21). Segments of a sensible length never leave more. Each hole costs memory that
/// the credit does not count.
const MAX_HOLES: usize = 1 << 14;

/// New bytes after which an ACK is sent at once (P-21): a sixteenth of the window, but of windows below 2 MiB an eighth
/// up to 128 KiB. So a sender that begins has nearly all of its credit, and a fast gateway sends no more ACKs than they
/// are worth.
fn ack_threshold(window: u64) -> u64 {
    (window / 16).max(window.min(1 << 20) / 8)
}

/// The receiving half.
#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    /// In-order edge (RCV.NXT): everything below has arrived.
    next: u64,
    /// Out-of-order spans above the edge.
    held: RangeSet,
    /// Everything below has been taken by the application.
    consumed: u64,
    /// Bytes that may be held, in order or not.
    window: Window,
    /// The share of memory that the owner gives it.
    share: Share,
    /// Credit limit: the peer may send positions below this.
    granted: u64,
    /// Credit limit that the last ACK announced. HELLO, which speaks for all connections, may have granted more.
    told: u64,
    /// An ACK has been sent.
    begun: bool,
    /// Position of the end, once known.
    end: Option<u64>,
    /// The peer has reset its byte stream with this code.
    pub reset: Option<u32>,
    /// The application has stopped the byte stream.
    pub stopped: bool,
    /// New bytes since the last acknowledgement.
    unacknowledged: u64,
    /// When the next acknowledgement is due.
    pub ack_at: Time,
    delay: Time,
    pub duplicates: u64,
}

impl Receiver {
    /// `window` is the initial credit and `max_window` its upper limit. An ACK is delayed by at most `delay`.
    pub fn new(window: u64, max_window: u64, delay: Time) -> Self {
        Self {
            next: 0,
            held: RangeSet::default(),
            consumed: 0,
            window: Window::new(window, max_window),
            share: Share::WHOLE,
            granted: window,
            told: window,
            begun: false,
            end: None,
            reset: None,
            stopped: false,
            unacknowledged: 0,
            ack_at: Time::MAX,
            delay,
            duplicates: 0,
        }
    }
    /// In-order edge: everything below has arrived.
    pub fn next(&self) -> u64 {
        self.next
    }
    /// Everything below has been taken by the application.
    pub fn consumed(&self) -> u64 {
        self.consumed
    }
    /// Bytes held, in order and not.
    pub fn buffered(&self) -> u64 {
        self.next - self.consumed + self.held.total()
    }
    /// Bytes held out of order.
    pub fn out_of_order(&self) -> u64 {
        self.held.total()
    }
    /// Number of out-of-order spans.
    pub fn holes(&self) -> usize {
        self.held.len()
    }
    /// The most bytes to hold at once.
    pub fn window(&self) -> u64 {
        self.window.within(self.share)
    }
    /// Sets the share of memory, and takes back credit that is not used.
    pub fn share(&mut self, now: Time, share: Share) {
        self.share = share;
        self.window.take_back(now);
        if !self.begun {
            self.told = self.window();
        }
    }
    /// Whether the byte stream has arrived up to its end.
    pub fn is_complete(&self) -> bool {
        self.end == Some(self.next)
    }
    /// Whether the byte stream is reset, or is complete and taken by the application.
    pub fn is_done(&self) -> bool {
        self.reset.is_some() || (self.is_complete() && (self.stopped || self.consumed == self.next))
    }

    /// Takes a segment, or the beginning of one. Appends its new parts to `pieces`. Returns whether the byte stream has
    /// become complete.
    pub fn on_data(&mut self, now: Time, data: &Data, pieces: &mut Vec<Piece>) -> Result<bool, Violation> {
        let was_complete = self.is_complete();
        let span = Span::new(data.offset, data.offset.saturating_add(u64::from(data.len)));
        if span.end > self.granted {
            return Err(Violation::Credit { end: span.end, limit: self.granted });
        }
        self.learn_end(span.end, data.end)?;
        if self.reset.is_some() {
            return Ok(false);
        }
        let before = self.next + self.held.total();
        let fresh = Span::new(span.start.max(self.next), span.end);
        if fresh.start == self.next && !fresh.is_empty() && self.held.is_empty() {
            // In order and without a hole: there is nothing to keep here.
            self.next = fresh.end;
            pieces.push(Piece::of(data, fresh));
        } else {
            self.held.insert(fresh, |piece| pieces.push(Piece::of(data, piece)));
            if let Some(first) = self.held.first()
                && first.start == self.next
            {
                self.held.remove(first);
                self.next = first.end;
            }
            if self.held.len() > MAX_HOLES {
                return Err(Violation::Holes);
            }
        }
        self.window.hold(self.held.total());
        let new = self.next + self.held.total() - before;
        self.duplicates += span.len() - new;
        self.unacknowledged += new;
        if self.stopped {
            // Nobody reads a stopped byte stream: its bytes do not stay.
            self.consumed = self.next;
        }
        let completed = self.is_complete() && !was_complete;
        // A probe or a duplicate segment shows that the peer lacks an ACK.
        let asked = new == 0 && !completed;
        if completed || asked || self.unacknowledged >= ack_threshold(self.window()) {
            self.ack_at = now;
        } else {
            self.ack_at = self.ack_at.min(now.saturating_add(self.delay));
        }
        self.grant(now);
        Ok(completed)
    }
    /// Checks the final length that a segment or a reset states.
    pub fn learn_end(&mut self, end: u64, is_end: bool) -> Result<(), Violation> {
        let highest = self.held.end().max(self.next);
        match self.end {
            Some(known) if end > known || (is_end && end != known) => Err(Violation::End { known, other: end }),
            None if is_end && end < highest => Err(Violation::End { known: highest, other: end }),
            None if is_end => {
                self.end = Some(end);
                Ok(())
            }
            _ => Ok(()),
        }
    }
    /// Discards everything that the application has not taken.
    pub fn discard(&mut self, now: Time) {
        self.consumed = self.next;
        self.held.clear();
        self.ack_at = now;
    }

    /// Discards the in-order bytes of a stopped byte stream.
    pub fn discard_in_order(&mut self, now: Time) {
        self.consumed = self.next;
        self.grant(now);
    }

    /// The application takes `bytes` in-order bytes. `rtt` is the streams' round-trip time, by which the window grows.
    pub fn consume(&mut self, now: Time, bytes: u64, rtt: Time) {
        self.consumed = self.next.min(self.consumed.saturating_add(bytes));
        let progress = Progress { arrived: self.next + self.held.total(), end: self.held.end().max(self.next) };
        let more = self.window.wants(now, progress, self.consumed == self.next, rtt);
        self.window.grow(more);
        self.grant(now);
    }
    /// Announces credit at once if it has grown by a quarter of the window. Less waits for the next ACK.
    fn grant(&mut self, now: Time) {
        let window = self.window();
        if self.end.is_none() && (self.consumed + window).saturating_sub(self.told) >= (window / 4).max(1) {
            self.ack_at = now;
        }
    }
    /// Builds the ACK to send now.
    pub fn ack(&mut self) -> Ack {
        self.ack_at = Time::MAX;
        self.unacknowledged = 0;
        self.told = self.told.max(self.consumed + self.window());
        self.granted = self.granted.max(self.told);
        self.begun = true;
        Ack {
            next: self.next,
            limit: self.told,
            end: self.is_complete(),
            reset: self.reset.is_some(),
            ranges: self.held.iter().take(MAX_RANGES).collect(),
        }
    }
}
