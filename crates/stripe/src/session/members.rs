//! The streams of a session: added, measured, replaced, closed and lost.

use super::Session;
use super::end::Opening;
use super::stream_state::{Gauge, StreamState};
use crate::optimizer::Law;
use crate::sender::Notified;
use crate::streams::{Measured, StreamId, Streams};
use units::{BitRate, Bytes, Time};

/// Patience with a session to which nobody is likely to come back (P-10).
pub(super) const ABANDONED: Time = Time::from_secs(30);
/// GONE is repeated for this many intervals of keep-alive. After three the peer finds the stream dead by itself (P-24);
/// one more, because it looks twice in an interval.
const GONE_FOR: u64 = 4;

/// A stream that was found dead (P-25).
#[derive(Clone, Copy, Debug)]
pub(super) struct Gone {
    /// Whether GONE is due, or on which stream it was sent.
    pub told: Notified,
    /// When the peer needs no GONE any more.
    pub until: Time,
}

impl Session {
    /// Adds a stream that is ready: both HELLOs have been read.
    pub fn add_stream(&mut self, now: Time, id: StreamId, path: u32, gauge: Gauge) {
        let state = StreamState::new(now, gauge);
        let measured = self.measured(&state);
        self.states.insert(id, state);
        self.streams.add(now, id, path, measured);
        self.rest();
        self.alone_until = None;
        self.tell_again();
        // What waited for a stream has one now.
        self.dirty.extend(self.ends.keys());
        self.effects.number = true;
    }
    /// Takes in a measurement of a stream's transport.
    pub fn measure(&mut self, now: Time, id: StreamId, gauge: Gauge) {
        if let Some(state) = self.states.get_mut(&id) {
            state.measure(gauge);
            self.refresh(now, id);
        }
    }
    /// A stream has died. What only it carried goes on others, and the peer is told (P-25).
    pub fn lose_stream(&mut self, now: Time, id: StreamId) {
        if self.remove(now, id) {
            let until = now.saturating_add(self.settings.keep_alive.saturating_mul(GONE_FOR));
            self.gone.insert(id, Gone { told: Notified::Due, until });
        }
    }
    /// The peer's system has ended a stream by a reset, or without close_notify. Most likely its process is gone.
    /// Nobody comes back then, unlike after a failure of the path, so that the session is not kept for long (P-10).
    pub fn break_stream(&mut self, now: Time, id: StreamId) {
        self.lose_stream(now, id);
        self.hurry(now);
    }
    /// From now on the session is kept without streams for 30 s at most.
    pub fn hurry(&mut self, now: Time) {
        let soon = now.saturating_add(ABANDONED);
        self.alone_until = self.alone_until.map(|until| until.min(soon));
    }
    /// A stream is to be replaced. It no longer counts, so that another is opened (P-27). It is used until there is a
    /// usable stream that counts, and is then closed.
    pub fn replace_stream(&mut self, now: Time, id: StreamId) {
        if let Some(state) = self.states.get_mut(&id) {
            state.replaced = true;
            self.effects.number = true;
            self.check_soon(now);
        }
    }
    /// Closes a stream once nothing needs it. Its transport then sees [`wants_shut`](Self::wants_shut).
    pub fn drain_stream(&mut self, now: Time, id: StreamId) {
        if let Some(state) = self.states.get_mut(&id) {
            state.draining = true;
            self.streams.drain(id);
            self.rest();
            self.effects.number = true;
            self.check_soon(now);
        }
    }
    /// The peer has closed its half of a stream properly (P-26).
    pub fn on_stream_end(&mut self, now: Time, id: StreamId) {
        let Some(state) = self.states.get_mut(&id) else { return };
        state.peer_shut = true;
        // If our half is open, its transport still has to close it and tell the peer.
        if state.closed {
            self.remove(now, id);
            self.effects.streams.insert(id);
        } else {
            self.drain_stream(now, id);
        }
    }
    /// Whether a stream's transport is to close its half now. It has nothing to send then, and nothing in flight.
    pub fn wants_shut(&self, id: StreamId) -> bool {
        self.states.get(&id).is_some_and(|state| state.shut)
    }
    /// A stream's transport has closed its half. If the peer's half is closed too, the stream is gone.
    pub fn on_shut(&mut self, now: Time, id: StreamId) {
        let Some(state) = self.states.get_mut(&id) else { return };
        state.closed = true;
        if state.peer_shut {
            self.remove(now, id);
            self.effects.streams.insert(id);
        }
    }
    /// Whether a stream is part of the session. If not, its transport closes it.
    pub fn has_stream(&self, id: StreamId) -> bool {
        !self.over && self.states.contains_key(&id)
    }
    pub(super) fn remove(&mut self, now: Time, id: StreamId) -> bool {
        let Some(state) = self.states.remove(&id) else { return false };
        self.tuning.bury(&state.gauge);
        self.streams.remove(id);
        self.rest();
        self.forsake(now, id);
        if self.states.is_empty() {
            self.alone_until = Some(now.saturating_add(self.settings.patience));
        }
        self.effects.number = true;
        true
    }
    /// Uses as many streams as are to be used. The latest ones rest: they are open because the peer wants them, or as
    /// spares.
    pub(super) fn rest(&mut self) {
        self.streams.rest_beyond(self.tuning.tuner.target());
    }
    /// Control frames of the session may have been lost with a stream: they are sent again (P-25, P-31).
    fn tell_again(&mut self) {
        (self.tell_credit, self.tell_wish, self.tell_carriage) = (true, true, true);
        self.tell_share |= self.share < self.settings.connection.credit.get();
        self.tell_leave |= self.leaving;
    }
    /// A stream is dead or suspect: what only it carried goes on others.
    pub(super) fn forsake(&mut self, now: Time, id: StreamId) {
        self.tell_again();
        self.gone.values_mut().for_each(|gone| gone.told.lost(id));
        for (number, end) in &mut self.ends {
            end.core.on_stream_lost(now, id);
            if let Opening::Asked(_, told) | Opening::Answered(told) = &mut end.opening {
                told.lost(id);
            }
            self.dirty.insert(*number);
        }
    }
    fn measured(&self, state: &StreamState) -> Measured {
        let gauge = &state.gauge;
        let segment = self.settings.connection.segmentation.longest(gauge.rate);
        Measured {
            rtt: gauge.rtt,
            rtt_min: if gauge.rtt_min > Time::ZERO { gauge.rtt_min } else { gauge.rtt },
            rto: gauge.rto,
            rate: gauge.rate.max(BitRate::from_bps(1)),
            window: Bytes::new(if gauge.law == Law::Bbr { 0 } else { gauge.window }),
            handed: state.handed(),
            acknowledged: state.acknowledged,
            room: state.room(segment),
        }
    }
    /// Brings the connections' view of a stream up to date.
    pub(super) fn refresh(&mut self, now: Time, id: StreamId) {
        if let Some(state) = self.states.get(&id) {
            let measured = self.measured(state);
            self.streams.update(now, id, measured);
        }
    }

    // === What they can be asked ===

    /// Number of streams that there should be: the larger of both ends' wishes, within the limits (P-27).
    pub fn number(&self) -> u32 {
        let here = self.tuning.tuner.open().max(self.settings.warm);
        here.max(self.peer_wish).min(self.settings.max_streams).max(1)
    }
    /// Number of streams that the peer would like (P-27).
    pub fn peer_wish(&self) -> u32 {
        self.peer_wish
    }
    /// Number of streams in use for sending.
    pub fn used_count(&self) -> u32 {
        self.streams.iter().filter(|stream| stream.is_used()).count() as u32
    }
    /// Number of streams that are neither being closed nor to be replaced.
    pub fn stream_count(&self) -> u32 {
        self.states.values().filter(|state| state.counts()).count() as u32
    }
    /// Whether a stream is one of the [`stream_count`](Self::stream_count).
    pub fn counts(&self, id: StreamId) -> bool {
        self.states.get(&id).is_some_and(StreamState::counts)
    }
    /// All streams with their measurements.
    pub fn streams(&self) -> &Streams {
        &self.streams
    }
}
