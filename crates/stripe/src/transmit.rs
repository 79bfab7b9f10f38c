//! Sending, in this order: control frames, lost segments, new segments, copies of late segments.

use crate::config::Scheduler;
use crate::connection::{Connection, Output};
use crate::ranges::Span;
use crate::sender::{Flight, Notified, Sender};
use crate::streams::{Stream, StreamId, Streams};
use crate::wire::{Data, Frame};
use std::collections::{BTreeMap, VecDeque};
use units::{Bytes, Time};

/// Bytes of copies that are always allowed, so that short transfers have some too.
const FREE_COPIES: u64 = 256 << 10;
/// Timeout: time without news from the peer after which something is sent again. It doubles with each repetition.
const TIMEOUT: Time = Time::from_secs(1);
const MAX_BACKOFF: u8 = 6;

/// Segments that round robin has assigned to streams without room.
#[derive(Clone, Debug, Default)]
pub(crate) struct Assigned {
    queues: BTreeMap<StreamId, VecDeque<Span>>,
    total: u64,
    /// The stream that had the last turn.
    last: Option<StreamId>,
}

impl Assigned {
    pub fn total(&self) -> u64 {
        self.total
    }
    pub fn clear(&mut self) {
        self.queues.clear();
        self.total = 0;
    }
    /// Takes back the segments that are assigned to a stream.
    pub fn take(&mut self, stream: StreamId) -> VecDeque<Span> {
        let spans = self.queues.remove(&stream).unwrap_or_default();
        self.total -= spans.iter().map(Span::len).sum::<u64>();
        spans
    }
    /// Takes back the segments of streams that are no longer in use.
    fn take_strays(&mut self, streams: &Streams) -> Vec<Span> {
        let used = |id: &StreamId| streams.get(*id).is_some_and(Stream::is_used);
        let strays: Vec<StreamId> = self.queues.keys().filter(|id| !used(id)).copied().collect();
        strays.into_iter().flat_map(|id| self.take(id)).collect()
    }
    fn pop(&mut self, stream: StreamId) -> Option<Span> {
        let span = self.queues.get_mut(&stream)?.pop_front()?;
        self.total -= span.len();
        Some(span)
    }
    fn push(&mut self, stream: StreamId, span: Span) {
        self.total += span.len();
        self.queues.entry(stream).or_default().push_back(span);
    }
    /// The stream whose turn it is: the next one in use after the last.
    fn turn(&mut self, streams: &Streams) -> Option<StreamId> {
        let usable = || streams.iter().filter(|stream| stream.is_used()).map(Stream::id);
        let next = usable().find(|id| Some(*id) > self.last).or_else(|| usable().next());
        self.last = next;
        next
    }
}

/// Deadlines of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timers {
    /// The earliest deadline; [`Time::MAX`] while there is no stream.
    deadline: Time,
    /// When the oldest segment becomes late.
    late_at: Time,
    /// When the peer last sent news, or nothing was waited for.
    news_at: Time,
    /// When the timeout expires.
    timeout_at: Time,
    backoff: u8,
}

impl Default for Timers {
    fn default() -> Self {
        Self { deadline: Time::MAX, late_at: Time::MAX, news_at: Time::ZERO, timeout_at: Time::MAX, backoff: 0 }
    }
}

impl Timers {
    pub fn on_news(&mut self, now: Time) {
        (self.news_at, self.backoff) = (now, 0);
    }
}

impl Connection {
    /// When [`transmit`](Self::transmit) is to be called next unless something happens before; [`Time::MAX`] for never.
    pub fn deadline(&self) -> Time {
        self.timers.deadline
    }

    /// Sends what can be sent and what is due. The owner calls it after every other call, when a stream has got room,
    /// is new or is gone, and at the [`deadline`](Self::deadline). More calls do no harm.
    pub fn transmit(&mut self, now: Time, streams: &mut Streams, out: &mut Output) {
        if self.timers.timeout_at == Time::MAX {
            // Nothing was waited for until now.
            self.timers.on_news(now);
        }
        if streams.iter().next().is_some() {
            // The set of streams may have changed, and with it the timeout.
            self.arm(streams);
            if now >= self.timers.timeout_at {
                self.on_timeout(now, streams, out);
            }
            self.send_control(now, streams, out);
            for span in self.assigned.take_strays(streams) {
                self.tx.lose(span);
            }
            self.send_lost(now, streams, out);
            match self.config.scheduler {
                Scheduler::RoundRobin => self.send_in_turn(now, streams, out),
                Scheduler::EarliestDelivery => self.send_earliest(now, streams, out),
            }
            self.send_end(now, streams, out);
            self.send_copies(now, streams, out);
        }
        self.arm(streams);
    }

    fn arm(&mut self, streams: &Streams) {
        let open = [self.tx.end, self.reset.0, self.stop.0].into_iter().any(Notified::is_open);
        let head = self.tx.flight.first_key_value().map(|(_, flight)| flight.due);
        self.timers.timeout_at = Time::MAX;
        if head.is_some() || open || self.tx.is_blocked() {
            let rtt = streams.iter().map(|stream| stream.measured().rtt).max().unwrap_or(Time::ZERO);
            let patience = TIMEOUT.max(rtt.saturating_mul(4)).saturating_mul(1 << self.timers.backoff);
            // A segment is not missed before it has been late for a timeout.
            let head = head.filter(|due| *due < Time::MAX).map_or(Time::ZERO, |due| due.saturating_add(TIMEOUT));
            self.timers.timeout_at = self.timers.news_at.saturating_add(patience).max(head);
        }
        let due = self.rx.ack_at.min(self.timers.late_at).min(self.timers.timeout_at);
        self.timers.deadline = if streams.iter().next().is_some() { due } else { Time::MAX };
    }

    // === Control ===

    fn control(now: Time, streams: &mut Streams, frame: Frame, out: &mut Output) -> Option<StreamId> {
        let stream = streams.soonest(frame.wire_bytes())?;
        streams.hand(now, stream, frame.wire_bytes());
        out.frames.push((stream, frame));
        Some(stream)
    }
    fn send_control(&mut self, now: Time, streams: &mut Streams, out: &mut Output) {
        if self.rx.ack_at <= now {
            let ack = Frame::Ack(self.rx.ack());
            self.counters.acks += 1;
            Self::control(now, streams, ack, out);
        }
        if self.reset.0 == Notified::Due {
            let frame = Frame::Reset { code: self.reset.1, end: self.highest };
            self.reset.0 = Self::control(now, streams, frame, out).map_or(Notified::Due, Notified::Sent);
        }
        if self.stop.0 == Notified::Due {
            let frame = Frame::Stop { code: self.stop.1 };
            self.stop.0 = Self::control(now, streams, frame, out).map_or(Notified::Due, Notified::Sent);
        }
    }
    /// Sends the end of the byte stream alone, if no segment carries it.
    fn send_end(&mut self, now: Time, streams: &mut Streams, out: &mut Output) {
        if self.tx.end == Notified::Due && self.tx.next == self.tx.written && self.assigned.total() == 0 {
            let frame = Frame::Data(Data { offset: self.tx.written, len: 0, end: true });
            if let Some(stream) = Self::control(now, streams, frame, out) {
                self.tx.end = Notified::Sent(stream);
                // Segments before it may wait to be handed on, if their stream has died: a reset ends no earlier.
                self.highest = self.tx.written;
            }
        }
    }

    // === Segments ===

    /// Hands a segment to a stream. Returns when the segment becomes late.
    fn hand(&mut self, now: Time, streams: &mut Streams, id: StreamId, span: Span, out: &mut Output) -> Time {
        let eta = streams.get(id).map_or(Time::MAX, |stream| stream.eta(span.len()));
        let end = self.tx.finishing && span.end == self.tx.written && self.tx.end != Notified::Done;
        if end {
            self.tx.end = Notified::Sent(id);
        }
        let frame = Frame::Data(Data { offset: span.start, len: span.len() as u32, end });
        streams.hand(now, id, frame.wire_bytes());
        out.frames.push((id, frame));
        self.highest = self.highest.max(span.end);
        self.counters.segments += 1;
        self.counters.sent += span.len();
        now.saturating_add(eta.saturating_mul(2)).saturating_add(self.config.ack_delay)
    }
    fn longest(&self, streams: &Streams, id: StreamId) -> u64 {
        streams.get(id).map_or(1, |stream| self.config.segmentation.longest(stream.measured().rate))
    }

    /// Sends lost segments again, each on the stream on which it arrives first.
    fn send_lost(&mut self, now: Time, streams: &mut Streams, out: &mut Output) {
        let shortest = self.config.segmentation.shortest();
        while let Some(first) = self.tx.lost.first() {
            let bytes = first.len().min(shortest);
            // The peer has granted credit for it already. It may be better to wait for a faster stream than to take
            // any.
            let choice = match self.config.scheduler {
                Scheduler::RoundRobin => streams.soonest_with_room(bytes, None).map(Stream::id),
                Scheduler::EarliestDelivery => streams.earliest(bytes, Some(self.tx.lost.total()), u64::MAX),
            };
            let Some(id) = choice else { return };
            let Some(span) = self.tx.lost.take_first(self.longest(streams, id)) else { return };
            let due = self.hand(now, streams, id, span, out);
            self.counters.repeated += span.len();
            self.tx.sent(span, id, due);
        }
    }
    fn send_earliest(&mut self, now: Time, streams: &mut Streams, out: &mut Output) {
        let shortest = self.config.segmentation.shortest();
        loop {
            let sendable = self.tx.sendable();
            if sendable == 0 {
                return;
            }
            let outstanding = self.tx.next - self.tx.una;
            let little = outstanding + sendable <= self.config.pin.get();
            let bytes = if little { sendable } else { sendable.min(shortest) };
            let choice = if let Some(own) = self.own(little, streams, bytes) {
                Some(own).filter(|stream| stream.has_room()).map(Stream::id)
            } else {
                let credit = self.tx.limit.saturating_sub(self.tx.next);
                let remaining = (!self.more).then_some(self.tx.written - self.tx.next);
                streams.earliest(bytes, remaining, credit)
            };
            let Some(id) = choice else { return };
            let Some(span) = self.tx.take(self.longest(streams, id)) else { return };
            let due = self.hand(now, streams, id, span, out);
            self.tx.sent(span, id, due);
            self.send_twice(now, streams, span, out);
        }
    }
    /// Sends a short message on a second stream too, where streams lose segments now and then (P-23). What is lost
    /// holds up what its stream carries behind it, also of other connections: with few streams for many programs that
    /// would be several messages for each loss.
    fn send_twice(&mut self, now: Time, streams: &mut Streams, span: Span, out: &mut Output) {
        if self.tx.written - self.tx.una > self.config.twice.get() {
            return;
        }
        let Some(flight) = self.tx.flight.get(&span.start) else { return };
        let Some(id) = streams.second(now, span.len(), flight.stream) else { return };
        self.hand(now, streams, id, span, out);
        self.counters.twice += span.len();
        if let Some(flight) = self.tx.flight.get_mut(&span.start) {
            flight.copy = Some(id);
        }
    }
    /// The connection's own stream, if the next bytes go there. While at most 64 KiB are in flight all bytes go there
    /// (P-23), which keeps them in order. Beyond that as many go there as its congestion window takes at once.
    ///
    /// An application-limited connection waits for its own stream's window if one more window is enough and the path
    /// has a queue. Another stream would only lengthen the queue. Answers longer than one window, spread over all
    /// streams, would grow all windows together beyond the queue's length, and a loss halves only one of them.
    fn own<'s>(&mut self, little: bool, streams: &'s Streams, bytes: u64) -> Option<&'s Stream> {
        let used = |id| streams.get(id).filter(|stream| stream.is_used());
        let soonest = streams.soonest(bytes).and_then(used);
        let is_near = |stream: &&Stream| soonest.is_some_and(|soonest| soonest.path() == stream.path());
        let outstanding = self.tx.next > self.tx.una;
        let kept = self.pinned.and_then(used);
        let kept = kept.filter(|stream| outstanding || stream.has_window(bytes) && is_near(stream));
        let own = kept.or(soonest);
        self.pinned = own.map(Stream::id);
        let rest = Bytes::new(self.tx.written - self.tx.next);
        let app_limited = streams.are_app_limited();
        let waits = |stream: &&Stream| app_limited && stream.has_queue() && rest <= stream.measured().window;
        own.filter(|stream| little || (stream.has_window(bytes) || waits(stream)) && is_near(stream))
    }
    fn send_in_turn(&mut self, now: Time, streams: &mut Streams, out: &mut Output) {
        loop {
            let ready = streams.iter().find_map(|stream| {
                let queued = self.assigned.queues.get(&stream.id()).is_some_and(|queue| !queue.is_empty());
                (stream.has_room() && queued).then_some(stream.id())
            });
            let (id, span) = if let Some(id) = ready {
                let Some(span) = self.assigned.pop(id) else { return };
                (id, span)
            } else {
                if streams.soonest_with_room(1, None).is_none() || self.tx.sendable() == 0 {
                    return;
                }
                let Some(id) = self.assigned.turn(streams) else { return };
                let Some(span) = self.tx.take(self.longest(streams, id)) else { return };
                if !streams.get(id).is_some_and(Stream::has_room) {
                    self.assigned.push(id, span);
                    continue;
                }
                (id, span)
            };
            let span = self.tx.unacknowledged(span);
            if !span.is_empty() {
                let due = self.hand(now, streams, id, span, out);
                self.tx.sent(span, id, due);
            }
        }
    }

    // === What is late ===

    /// Sends late segments on a second stream too, when no new data can be sent because all is sent or the credit is
    /// used up (opportunistic retransmission: Raiciu et al., NSDI 2012, section 4.2; copies at a transfer's tail: DEMS,
    /// Guo et al., MobiCom 2017).
    fn send_copies(&mut self, now: Time, streams: &mut Streams, out: &mut Output) {
        self.timers.late_at = Time::MAX;
        if self.tx.sendable() > 0 || !self.tx.lost.is_empty() || self.assigned.total() > 0 {
            return;
        }
        let allowed = (self.counters.sent as f64 * self.config.copies) as u64;
        let allowed = if self.config.copies > 0.0 { allowed + FREE_COPIES } else { 0 };
        let next = |tx: &Sender| tx.flight.range(tx.copied..).next().map(|(start, flight)| (*start, *flight));
        while let Some((start, flight)) = next(&self.tx) {
            let span = Span::new(start, flight.end);
            if flight.copy.is_some() {
                self.tx.copied = start + 1;
                continue;
            }
            if self.counters.copied + span.len() > allowed {
                return;
            }
            if flight.due > now {
                self.timers.late_at = flight.due;
                return;
            }
            let Some(id) = streams.soonest_with_room(span.len(), Some(flight.stream)).map(Stream::id) else {
                return;
            };
            let due = self.hand(now, streams, id, span, out);
            self.counters.copied += span.len();
            if let Some(flight) = self.tx.flight.get_mut(&start) {
                (flight.copy, flight.due) = (Some(id), due);
            }
        }
    }

    /// Sends the oldest segment again after a timeout, or asks for credit. Live streams lose nothing, but a grant of
    /// credit may have died with its stream.
    fn on_timeout(&mut self, now: Time, streams: &mut Streams, out: &mut Output) {
        self.timers.backoff = (self.timers.backoff + 1).min(MAX_BACKOFF);
        self.timers.news_at = now;
        self.counters.timeouts += 1;
        for notified in [&mut self.tx.end, &mut self.reset.0, &mut self.stop.0] {
            notified.again();
        }
        if let Some((start, flight)) = self.tx.flight.first_key_value().map(|(start, flight)| (*start, *flight)) {
            let span = Span::new(start, flight.end);
            let stream = streams
                .soonest_with_room(span.len(), Some(flight.stream))
                .or_else(|| streams.soonest_with_room(span.len(), None));
            if let Some(id) = stream.map(Stream::id) {
                let due = self.hand(now, streams, id, span, out);
                self.counters.repeated += span.len();
                if let Some(flight) = self.tx.flight.get_mut(&start) {
                    let other = if id == flight.stream { flight.copy } else { Some(flight.stream) };
                    *flight = Flight { end: flight.end, stream: id, copy: other, due };
                    self.tx.copied = self.tx.copied.min(start);
                }
            }
        } else if self.tx.is_blocked() {
            let frame = Frame::Data(Data { offset: self.tx.una, len: 0, end: false });
            Self::control(now, streams, frame, out);
        }
    }

    /// Length of the next segment for a stream, for an owner that sizes its buffers by it.
    pub fn segment(&self, streams: &Streams, id: StreamId) -> Bytes {
        Bytes::new(self.longest(streams, id))
    }
}
