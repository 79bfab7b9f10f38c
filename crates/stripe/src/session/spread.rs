//! The choice of the stream for each datagram.
//!
//! A datagram waits in its flow until a stream takes it, so that no datagram is tied to a stalled stream. The stream
//! with the earliest arrival is asked to take it. Another stream that takes something at that moment may have it if it
//! arrives there at most a little later, plus as long as it has waited. So the wait for a good stream never costs more
//! than a worse one would.
//!
//! Datagrams are not acknowledged, and TCP's acknowledgements are no proof of delivery: a proxy on the path may send
//! them and have lost the peer. So a stream that takes datagrams and brings nothing is asked with PING (P-24), and gets
//! no datagrams while it owes the answer.

use super::stream_state::StreamState;
use super::{Session, timers};
use crate::streams::{Stream, StreamId};
use crate::wire::Frame;
use std::collections::BTreeMap;
use units::Time;

/// How much later than on the best stream a datagram may arrive. Asking another stream for each datagram costs more.
const SLACK: Time = Time::from_ms(1);
/// Limit in bytes of the imbalance between datagrams and connections' payload that a stream makes up for.
const MOST_AHEAD: i64 = 256 << 10;

impl Session {
    /// Asks streams to take waiting datagrams: the stream with the earliest arrival, and another one when the datagram
    /// has waited for the difference.
    pub(super) fn invite(&mut self, now: Time) {
        let before = self.datagrams.look_at.take();
        let Some((since, bytes)) = self.datagrams.head() else {
            if before.is_some() {
                self.states.values_mut().for_each(|state| state.invited = false);
            }
            return;
        };
        let etas = self.etas(now, bytes);
        let best = etas.iter().min_by_key(|(id, eta)| (**eta, **id)).map(|(id, eta)| (*id, *eta));
        let mut next = Time::MAX;
        for (id, state) in &mut self.states {
            let due = match (best, etas.get(id)) {
                (Some((best, _)), _) if best == *id => now,
                (Some((_, best)), Some(eta)) => since.saturating_add(SLACK).saturating_add(eta.saturating_sub(best)),
                _ => Time::MAX,
            };
            let invited = due <= now;
            if invited && !state.invited {
                self.effects.streams.insert(*id);
            }
            state.invited = invited;
            if !invited {
                next = next.min(due);
            }
        }
        self.datagrams.look_at = Some(next);
    }
    /// Arrival times of `bytes` bytes on the streams that may take datagrams: those in use that answer, or all in use
    /// if none answers.
    fn etas(&self, now: Time, bytes: u64) -> BTreeMap<StreamId, Time> {
        let answers = |stream: &Stream| {
            let asked_at = self.states.get(&stream.id()).and_then(|state| state.asked_at);
            asked_at.is_none_or(|at| now.saturating_sub(at) < stream.patience())
        };
        let used = || self.streams.iter().filter(|stream| stream.is_used());
        let none_answers = !used().any(answers);
        let chosen = used().filter(|stream| none_answers || answers(stream));
        chosen.map(|stream| (stream.id(), stream.eta(bytes))).collect()
    }
    /// Whether a stream that takes something now may take the next datagram.
    fn suits(&self, now: Time, stream: StreamId) -> bool {
        let Some((since, bytes)) = self.datagrams.head() else { return false };
        let etas = self.etas(now, bytes);
        let (Some(eta), Some(best)) = (etas.get(&stream), etas.values().min()) else { return false };
        let waited = now.saturating_sub(since);
        *eta <= best.saturating_add(SLACK).saturating_add(waited)
    }
    /// Puts the next datagram on a stream if that suits. Returns whether it did. From then on the datagram is lost if
    /// the stream is (P-42).
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
            if state.datagram_at.is_none() {
                state.datagram_at = Some(now);
                self.check_at = self.check_at.min(now.saturating_add(timers::SILENCE));
            }
        }
        true
    }
    /// Whether connections want a stream too.
    fn is_contested(&self, stream: StreamId) -> bool {
        self.wait_for_streams() || self.states.get(&stream).is_some_and(StreamState::has_data)
    }
    /// Whether it is the datagrams' turn on a stream. If connections want it too, both get the same number of bytes
    /// (P-43).
    pub(super) fn is_turn_of_datagrams(&self, stream: StreamId) -> bool {
        let lead = self.states.get(&stream).map_or(0, |state| state.lead);
        self.datagrams.is_waiting() && (lead <= 0 || !self.is_contested(stream))
    }
    /// Counts payload of connections on a stream. Datagrams may then take as much.
    pub(super) fn owe_datagrams(&mut self, stream: StreamId, bytes: u64) {
        let waiting = self.datagrams.is_waiting();
        if let Some(state) = self.states.get_mut(&stream) {
            state.lead = if waiting { (state.lead - bytes as i64).max(-MOST_AHEAD) } else { 0 };
        }
    }
}
