//! The receiving half of a connection: reassembly, credit, acknowledgements (P-21).

use crate::connection::{Piece, Violation};
use crate::ranges::{RangeSet, Span};
use crate::share::Share;
use crate::window::{Progress, Window};
use crate::wire::{Ack, Data, MAX_RANGES};
use units::Time;

/// The most holes in a byte stream (P-21). Segments of a sensible length never leave more; each hole costs memory that
/// the credit does not count.
const MAX_HOLES: usize = 1 << 14;

/// New bytes after which an ACK is sent at once: a sixteenth of the window, so that a sender that begins has nearly all
/// of its credit; bounded, so that a fast gateway does not send more ACKs than they are worth.
fn ack_threshold(window: u64) -> u64 {
    (window / 16).max(window.min(1 << 20) / 8)
}

/// The receiving half.
#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    /// The in-order edge: all below has arrived.
    next: u64,
    /// Out-of-order spans beyond it.
    held: RangeSet,
    /// The application has taken all below.
    consumed: u64,
    /// Bytes that may be held, in order or not.
    window: Window,
    /// What the owner has memory for.
    share: Share,
    /// The peer may send positions below this.
    granted: u64,
    /// The last ACK has said so. HELLO, which speaks for all connections, may have said more.
    told: u64,
    /// There has been an ACK.
    begun: bool,
    /// The end, once known.
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
    /// The peer may send `window` bytes until it is granted more, and never more than `max_window` ahead. An ACK waits
    /// for `delay` at most.
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
    /// All below has arrived.
    pub fn next(&self) -> u64 {
        self.next
    }
    /// The application has taken all below.
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
    /// Spans that are held out of order.
    pub fn holes(&self) -> usize {
        self.held.len()
    }
    /// The most that is to be held at once.
    pub fn window(&self) -> u64 {
        self.window.within(self.share)
    }
    /// What the owner of several connections has memory for. It takes windows back that are not used.
    pub fn share(&mut self, now: Time, share: Share) {
        self.share = share;
        self.window.take_back(now);
        if !self.begun {
            self.told = self.window();
        }
    }
    /// The end has arrived, and all before it.
    pub fn is_complete(&self) -> bool {
        self.end == Some(self.next)
    }
    /// The byte stream is complete or reset, and the application has taken all.
    pub fn is_done(&self) -> bool {
        self.reset.is_some() || (self.is_complete() && (self.stopped || self.consumed == self.next))
    }

    /// Takes a segment, or the beginning of one. Its new part is appended to `pieces`; returns whether the byte stream
    /// has become complete.
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
            // In order, and no hole: nothing to keep.
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
            // Nobody reads it any more: it does not stay.
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
    /// Discards what has arrived: nothing of it waits for the application.
    pub fn discard(&mut self, now: Time) {
        self.consumed = self.next;
        self.held.clear();
        self.ack_at = now;
    }

    /// Takes in-order bytes in place of an application that wants no more.
    pub fn discard_in_order(&mut self, now: Time) {
        self.consumed = self.next;
        self.grant(now);
    }

    /// The application takes `bytes` of what is in order. `rtt` is the streams' round-trip time, for the window's
    /// growth.
    pub fn consume(&mut self, now: Time, bytes: u64, rtt: Time) {
        self.consumed = self.next.min(self.consumed.saturating_add(bytes));
        let progress = Progress { arrived: self.next + self.held.total(), end: self.held.end().max(self.next) };
        let more = self.window.wants(now, progress, self.consumed == self.next, rtt);
        self.window.grow(more);
        self.grant(now);
    }
    /// Announces credit at once if it has grown by a quarter of the window; less waits for the next ACK.
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
