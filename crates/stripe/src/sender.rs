//! The sending half of a connection: the state of each byte.

use crate::ranges::{RangeSet, Span};
use crate::streams::StreamId;
use crate::wire::Ack;
use std::collections::BTreeMap;
use units::Time;

/// A segment in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flight {
    pub end: u64,
    pub stream: StreamId,
    /// The stream that has a second copy.
    pub copy: Option<StreamId>,
    /// Time after which it counts as late.
    pub due: Time,
}

/// Delivery state of the end of the byte stream, of a reset or of a stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Notified {
    /// Nothing to tell yet.
    #[default]
    None,
    /// The notice has to be sent.
    Due,
    /// The notice is in flight on this stream.
    Sent(StreamId),
    /// The peer has acknowledged it.
    Done,
}

impl Notified {
    /// A stream was lost: a notice in flight on it is due again.
    pub fn lost(&mut self, stream: StreamId) {
        if *self == Self::Sent(stream) {
            *self = Self::Due;
        }
    }
    /// A notice in flight on any stream is due again.
    pub fn again(&mut self) {
        if matches!(self, Self::Sent(_)) {
            *self = Self::Due;
        }
    }
    pub fn done(&mut self) {
        if *self != Self::None {
            *self = Self::Done;
        }
    }
    /// Whether the peer may not know it yet.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Due | Self::Sent(_))
    }
}

/// The sending half. Every position from `una` to `next` is in flight, lost, assigned by the scheduler, or acknowledged
/// out of order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sender {
    /// End of what the application has written.
    pub written: u64,
    /// Everything below is acknowledged (SND.UNA).
    pub una: u64,
    /// First position that has not been taken for sending (SND.NXT).
    pub next: u64,
    /// The peer's credit limit: it accepts positions below this.
    pub limit: u64,
    /// Bytes that have arrived, less twice the credit that the peer has granted since. It stays small while the peer's
    /// program takes at least half of what arrives.
    pub untaken: u64,
    /// All credit that the peer has granted, beside the initial one.
    pub granted: u64,
    /// Further new bytes that the owner lets go; `None` without a limit.
    pub allowance: Option<u64>,
    /// Lost spans, to be sent again.
    pub lost: RangeSet,
    /// Segments in flight by their first position; disjoint.
    pub flight: BTreeMap<u64, Flight>,
    /// Every segment in flight below this has a copy.
    pub copied: u64,
    /// The application has ended its byte stream.
    pub finishing: bool,
    pub end: Notified,
}

impl Sender {
    /// Bytes of which nothing shows that the peer's program takes them: those that have arrived and wait for it, or
    /// those under way beyond all that it has ever taken. A program that takes everything may have twice as much under
    /// way with each round trip.
    pub fn unproven(&self) -> u64 {
        self.untaken.max(self.next.saturating_sub(self.una).saturating_sub(self.granted))
    }
    /// Bytes of new data that can be sent now.
    pub fn sendable(&self) -> u64 {
        let sendable = self.written.min(self.limit).saturating_sub(self.next);
        sendable.min(self.allowance.unwrap_or(u64::MAX))
    }
    /// Whether new data waits for the peer's credit alone.
    pub fn is_blocked(&self) -> bool {
        self.next < self.written && self.next >= self.limit
    }
    /// Takes up to `most` bytes of new data.
    pub fn take(&mut self, most: u64) -> Option<Span> {
        let len = self.sendable().min(most);
        let span = Span::new(self.next, self.next + len);
        self.next += len;
        self.allowance = self.allowance.map(|left| left - len);
        (len > 0).then_some(span)
    }
    /// Notes that a segment was handed to a stream.
    pub fn sent(&mut self, span: Span, stream: StreamId, due: Time) {
        self.copied = self.copied.min(span.start);
        self.flight.insert(span.start, Flight { end: span.end, stream, copy: None, due });
    }
    /// The part of a span that is not below `una`. So a false ACK cannot make the owner read freed bytes.
    pub fn unacknowledged(&self, span: Span) -> Span {
        Span::new(span.start.max(self.una), span.end)
    }
    /// Marks a span as lost: it is to be sent again.
    pub fn lose(&mut self, span: Span) {
        self.lost.insert(self.unacknowledged(span), |_| {});
    }
    /// Whether everything that was written, and its end, has been acknowledged.
    pub fn is_done(&self) -> bool {
        self.finishing && self.una == self.written && self.end == Notified::Done
    }

    /// Whether a stream carries a segment that is not acknowledged.
    pub fn uses(&self, stream: StreamId) -> bool {
        self.flight.values().any(|flight| flight.stream == stream || flight.copy == Some(stream))
    }

    /// Takes in an ACK. Returns whether it brings news.
    pub fn on_ack(&mut self, ack: &Ack) -> bool {
        let raised = ack.limit.saturating_sub(self.limit);
        self.limit += raised;
        self.granted = self.granted.saturating_add(raised);
        self.untaken = (self.untaken + ack.next.saturating_sub(self.una)).saturating_sub(raised.saturating_mul(2));
        let mut news = raised > 0;
        if ack.next > self.una {
            news = true;
            self.forget(Span::new(self.una, ack.next));
            self.una = ack.next;
        }
        for range in &ack.ranges {
            news |= self.forget(*range);
        }
        if ack.end && self.end != Notified::Done {
            self.end.done();
            news = true;
        }
        news
    }
    /// Marks positions as acknowledged. Returns whether any of them was not before.
    fn forget(&mut self, span: Span) -> bool {
        let mut news = false;
        let before = self.flight.range(..span.start).next_back().map(|(start, flight)| (*start, *flight));
        if let Some((start, flight)) = before
            && flight.end > span.start
        {
            news = true;
            self.flight.insert(start, Flight { end: span.start, ..flight });
            if flight.end > span.end {
                self.flight.insert(span.end, flight);
            }
        }
        while let Some((start, flight)) =
            self.flight.range(span.start..span.end).next().map(|(start, flight)| (*start, *flight))
        {
            news = true;
            self.flight.remove(&start);
            if flight.end > span.end {
                self.flight.insert(span.end, flight);
            }
        }
        let lost = self.lost.total();
        self.lost.remove(span);
        news || self.lost.total() < lost
    }

    /// A stream is dead or suspect: what only it carried is lost.
    pub fn on_stream_lost(&mut self, stream: StreamId) {
        self.copied = self.una;
        let lost = &mut self.lost;
        self.flight.retain(|start, flight| {
            match flight.copy {
                Some(copy) if copy == stream => flight.copy = None,
                Some(copy) if flight.stream == stream => (flight.stream, flight.copy) = (copy, None),
                _ if flight.stream == stream => {
                    lost.insert(Span::new(*start, flight.end), |_| {});
                    return false;
                }
                _ => {}
            }
            true
        });
        self.end.lost(stream);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ACK that repeats a range brings no news, even if the segment below the range is still in flight.
    #[test]
    fn a_repeated_range_is_no_news() {
        let mut sender = Sender { written: 300, limit: 300, ..Sender::default() };
        while let Some(span) = sender.take(100) {
            sender.sent(span, StreamId(1), Time::MAX);
        }
        let ack = Ack { next: 0, limit: 300, end: false, reset: false, ranges: vec![Span::new(100, 200)] };
        assert!(sender.on_ack(&ack));
        assert!(!sender.on_ack(&ack));
        let in_flight: Vec<(u64, u64)> = sender.flight.iter().map(|(start, flight)| (*start, flight.end)).collect();
        assert_eq!(in_flight, [(0, 100), (200, 300)]);
    }
}
