//! What is due at some time: deadlines, keep-alive, and the closing of streams.

use super::members::ABANDONED;
use super::stream_state::StreamState;
use super::{Session, code};
use crate::streams::{Health, Stream, StreamId};
use crate::wire::Frame;
use std::collections::BTreeSet;
use units::Time;

/// Interval at which streams that are being closed are checked.
const DRAIN_CHECK: Time = Time::from_ms(50);
/// Silence after which a path is asked with PING while another path is heard or programs have connections, and after
/// which a stream is asked that has taken a datagram (P-24).
pub(super) const SILENCE: Time = Time::from_ms(500);

impl Session {
    /// When [`on_timer`](Self::on_timer) is to be called next; [`Time::MAX`] for never.
    pub fn deadline(&self) -> Time {
        let connections = self.due.first().map_or(Time::MAX, |(due, _)| *due);
        let alone = self.alone_until.unwrap_or(Time::MAX);
        let tuner = if self.states.is_empty() { Time::MAX } else { self.tuning.tuner.deadline() };
        let connections = connections.min(self.datagrams.deadline());
        connections.min(self.streams.deadline()).min(tuner).min(self.check_at).min(alone)
    }
    /// Whether the owner must measure the streams before [`on_timer`](Self::on_timer), which draws conclusions from the
    /// measurements.
    pub fn is_measuring(&self, now: Time) -> bool {
        self.streams.deadline() <= now
            || self.tuning.tuner.deadline() <= now
            || self.check_at <= now
            || self.datagrams.look_at.is_some_and(|at| at <= now)
    }
    /// Does what is due. To be followed by [`flush`](Self::flush).
    pub fn on_timer(&mut self, now: Time) {
        while let Some((due, connection)) = self.due.first().copied().filter(|(due, _)| *due <= now) {
            self.due.remove(&(due, connection));
            if let Some(end) = self.ends.get_mut(&connection) {
                end.due = Time::MAX;
            }
            self.dirty.insert(connection);
        }
        self.on_datagram_timer(now);
        if self.streams.deadline() <= now {
            let mut suspects = Vec::new();
            let stalls = self.streams.check(now, &mut suspects);
            // Other streams may have to be opened in their place.
            self.effects.number |= stalls || !suspects.is_empty();
            for id in suspects {
                self.forsake(now, id);
            }
            self.lose_drained(now);
            self.rest();
        }
        if !self.states.is_empty() && self.tuning.tuner.deadline() <= now {
            let queued = self.streams.have_queues();
            let app_limited = self.tuning.on_round(now, &mut self.states, &self.streams);
            if self.tuning.has_lost_few() && !queued {
                self.streams.on_random_loss(now);
            }
            self.streams.on_round(app_limited);
            self.rest();
        }
        if self.check_at <= now {
            self.keep_alive(now);
            self.replace(now);
            self.drain();
            let draining = self.states.values().any(|state| !state.counts() && !state.shut);
            let next = if draining { DRAIN_CHECK } else { Time::from_ps(self.settings.keep_alive.as_ps() / 2) };
            let unasked = self.states.values().filter(|state| state.asked_at.is_none());
            let soon = self.asks_soon();
            let heard = |state: &StreamState| (soon && !state.questioned).then_some(state.last_received);
            let since = unasked.flat_map(|state| [state.datagram_at, heard(state)]).flatten();
            let questions = since.map(|at| at.saturating_add(SILENCE)).filter(|at| *at > now);
            self.check_at = questions.min().unwrap_or(Time::MAX).min(now.saturating_add(next));
        }
        if self.alone_until.is_some_and(|until| until <= now) {
            self.give_up();
        }
    }
    /// Has streams that are being closed checked soon.
    pub(super) fn check_soon(&mut self, now: Time) {
        self.check_at = self.check_at.min(now.saturating_add(DRAIN_CHECK));
    }
    /// Asks the peer for no more connections. Connections whose OPEN is on its way are taken (P-28).
    pub fn leave(&mut self, now: Time) {
        (self.leaving, self.tell_leave) = (true, true);
        // New streams go to the process that has taken this one's place.
        self.settings.patience = self.settings.patience.min(ABANDONED);
        self.hurry(now);
    }

    /// Asks silent streams with PING, and gives up those that do not answer (P-24).
    fn keep_alive(&mut self, now: Time) {
        let interval = self.settings.keep_alive;
        let silent = |since: Time, time: Time| now.saturating_sub(since) >= time;
        let path = |id: StreamId| self.streams.get(id).map(Stream::path);
        let heard = self.states.iter().filter(|(_, state)| !silent(state.last_received, SILENCE));
        let heard: BTreeSet<Option<u32>> = heard.map(|(id, _)| path(*id)).collect();
        let may_wait = !heard.is_empty() || !self.ends.is_empty();
        let mut dead = Vec::new();
        let mut asked = Vec::new();
        for (id, state) in &mut self.states {
            match state.asked_at {
                Some(at) if now.saturating_sub(at) >= interval * 2 => dead.push(*id),
                None if silent(state.last_received, interval)
                    || state.datagram_at.is_some_and(|at| silent(at, SILENCE)) =>
                {
                    state.asked_at = Some(now);
                    asked.push(*id);
                }
                // An end that only receives on a path has nothing in flight there that would show its death.
                None if !state.questioned && may_wait && !heard.contains(&path(*id)) => {
                    (state.asked_at, state.questioned) = (Some(now), true);
                    asked.push(*id);
                }
                _ => {}
            }
        }
        for id in asked {
            self.send(id, 0, Frame::Ping { token: u64::from(id.0) });
        }
        for id in dead {
            self.lose_stream(now, id);
            self.effects.streams.insert(id);
        }
    }
    /// Whether silence on a path may soon mean something.
    pub(super) fn asks_soon(&self) -> bool {
        self.streams.take_several_paths() || !self.ends.is_empty()
    }
    /// Closes streams that are to be replaced, once there is another.
    fn replace(&mut self, now: Time) {
        let usable = |id: StreamId| self.streams.get(id).is_some_and(|stream| stream.health() == Health::Usable);
        if self.states.iter().any(|(id, state)| state.counts() && usable(*id)) {
            let replaced = self.states.iter().filter(|(_, state)| state.replaced && !state.draining);
            let replaced: Vec<StreamId> = replaced.map(|(id, _)| *id).collect();
            for id in replaced {
                self.drain_stream(now, id);
            }
        }
    }
    /// Gives up streams that are being closed on a path where all others stand still. They would never finish. The
    /// peer, which cannot know, would count them for as long as TCP retries.
    fn lose_drained(&mut self, now: Time) {
        let paths = |health: Health| -> BTreeSet<u32> {
            self.streams.iter().filter(|stream| stream.health() == health).map(Stream::path).collect()
        };
        let (dead, alive) = (paths(Health::Suspect), paths(Health::Usable));
        let lost = |stream: &&Stream| {
            stream.health() == Health::Draining && dead.contains(&stream.path()) && !alive.contains(&stream.path())
        };
        let lost: Vec<StreamId> = self.streams.iter().filter(lost).map(Stream::id).collect();
        for id in lost {
            self.lose_stream(now, id);
            self.effects.streams.insert(id);
        }
    }
    /// Shuts streams that are being closed and that nothing needs any more.
    fn drain(&mut self) {
        let idle = |id: StreamId| !self.ends.values().any(|end| end.core.uses(id));
        let shut: Vec<StreamId> = self
            .states
            .iter()
            .filter(|(id, state)| state.draining && !state.shut && state.is_empty() && idle(**id))
            .map(|(id, _)| *id)
            .collect();
        for id in shut {
            if let Some(state) = self.states.get_mut(&id) {
                state.shut = true;
                self.effects.streams.insert(id);
            }
        }
    }
    /// Gives the session up: all is void, and programs are told (P-6, P-10).
    pub fn give_up(&mut self) {
        self.over = true;
        self.alone_until = None;
        for (connection, end) in &mut self.ends {
            end.reset.get_or_insert(code::RESET);
            end.stopped.get_or_insert(code::RESET);
            self.effects.connections.insert(*connection);
        }
        self.end_flows();
        self.effects.number = true;
        self.effects.streams.extend(self.states.keys());
    }
}
