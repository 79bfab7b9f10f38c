//! The choice of the stream for each datagram.
//!
//! A datagram waits in its flow until a stream takes it, so that none is tied to a stalled stream. The stream on which
//! it arrives first is asked to take it. A stream that takes something at that moment may have it if it arrives there
//! only a little later. The longer it waits, the later it may arrive: it never waits longer for a good stream than a
//! worse one would cost.

use super::Session;
use super::stream_state::StreamState;
use crate::streams::StreamId;
use crate::wire::Frame;
use units::Time;

/// How much later than on the best stream a datagram may arrive; asking another stream for each datagram costs more.
const SLACK: Time = Time::from_ms(1);
/// Bytes up to which a stream makes up for having sent more connections' payload than datagrams, or less.
const MOST_AHEAD: i64 = 256 << 10;

impl Session {
    /// Asks streams to take waiting datagrams: the stream on which the next one arrives first and, if that has waited,
    /// those on which it would arrive later by as much.
    pub(super) fn invite(&mut self, now: Time) {
        let before = self.datagrams.look_at.take();
        let Some((since, bytes)) = self.datagrams.head() else {
            if before.is_some() {
                self.states.values_mut().for_each(|state| state.invited = false);
            }
            return;
        };
        let best = self.best_for(bytes);
        let mut next = Time::MAX;
        for stream in self.streams.iter() {
            let Some(state) = self.states.get_mut(&stream.id()) else { continue };
            let due = match best {
                Some((id, _)) if id == stream.id() => now,
                Some((_, eta)) if stream.is_used() => {
                    since.saturating_add(SLACK).saturating_add(stream.eta(bytes).saturating_sub(eta))
                }
                _ => Time::MAX,
            };
            let invited = due <= now;
            if invited && !state.invited {
                self.effects.streams.insert(stream.id());
            }
            state.invited = invited;
            if !invited {
                next = next.min(due);
            }
        }
        self.datagrams.look_at = Some(next);
    }
    /// The stream on which so many bytes arrive first, and when.
    fn best_for(&self, bytes: u64) -> Option<(StreamId, Time)> {
        let used = self.streams.iter().filter(|stream| stream.is_used());
        used.map(|stream| (stream.id(), stream.eta(bytes))).min_by_key(|(id, eta)| (*eta, *id))
    }
    /// Whether a stream that takes something now may take the next datagram.
    fn suits(&self, now: Time, stream: StreamId) -> bool {
        let Some((since, bytes)) = self.datagrams.head() else { return false };
        let Some((_, best)) = self.best_for(bytes) else { return false };
        let eta = self.streams.get(stream).filter(|stream| stream.is_used()).map(|stream| stream.eta(bytes));
        let waited = now.saturating_sub(since);
        eta.is_some_and(|eta| eta <= best.saturating_add(SLACK).saturating_add(waited))
    }
    /// Puts the next datagram onto a stream if that is good enough; returns whether it did. From then on the datagram
    /// is lost if the stream is (P-42).
    pub(super) fn take_waiting(&mut self, now: Time, stream: StreamId, out: &mut Vec<u8>) -> bool {
        self.datagrams.drop_late(now);
        if !self.suits(now, stream) {
            return false;
        }
        let Some((flow, datagram)) = self.datagrams.pop() else { return false };
        let frame = Frame::Datagram(datagram);
        let bytes = frame.wire_bytes();
        self.put(flow, &frame, out);
        self.streams.hand(now, stream, bytes);
        let contested = self.is_contested(stream);
        if let Some(state) = self.states.get_mut(&stream) {
            state.lead = if contested { (state.lead + bytes as i64).min(MOST_AHEAD) } else { 0 };
        }
        true
    }
    /// Whether connections want a stream too.
    fn is_contested(&self, stream: StreamId) -> bool {
        self.wait_for_streams() || self.states.get(&stream).is_some_and(StreamState::has_data)
    }
    /// Whether it is datagrams' turn on a stream: where connections want it too, both get as many bytes of it (P-43).
    pub(super) fn is_turn_of_datagrams(&self, stream: StreamId) -> bool {
        let lead = self.states.get(&stream).map_or(0, |state| state.lead);
        self.datagrams.is_waiting() && (lead <= 0 || !self.is_contested(stream))
    }
    /// A stream has taken payload of connections, and owes datagrams as much.
    pub(super) fn owe_datagrams(&mut self, stream: StreamId, bytes: u64) {
        let waiting = self.datagrams.is_waiting();
        if let Some(state) = self.states.get_mut(&stream) {
            state.lead = if waiting { (state.lead - bytes as i64).max(-MOST_AHEAD) } else { 0 };
        }
    }
}
