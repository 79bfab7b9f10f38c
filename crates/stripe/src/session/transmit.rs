//! Sending: which frame goes on which stream.

use super::end::{Opening, SLACK};
use super::stream_state::StreamState;
use super::tuning::Waiting;
use super::{Session, StreamId};
use crate::ranges::Span;
use crate::sender::Notified;
use crate::streams::Stream;
use crate::wire::{Data, Frame};
use std::collections::BTreeSet;
use units::{BitRate, Bytes, Time};

/// A transport takes at once no more than its stream transmits in this time, or than `SHORTEST` bytes.
const AHEAD: Time = Time::from_ms(10);
const SHORTEST: u64 = 16 << 10;
/// Limit in bytes of frames without payload that wait for streams. More waits only for a peer that makes us answer and
/// does not read (P-22).
const UNREAD: u64 = 4 << 20;
/// A stream with fewer bytes of them is not given up.
const UNREAD_OF_ONE: u64 = 64 << 10;

/// New bytes that a connection sends like any other before the peer's program has taken some: a request or a small
/// answer (P-23), and about what TCP sends to a program that does not read.
const UNPROVEN: u64 = 64 << 10;

/// Connections among which an OPEN looks for one to the same destination.
const UNANSWERED: usize = 64;

impl Session {
    /// Decides what is to be sent, after anything has happened.
    pub fn flush(&mut self, now: Time) {
        // P-22: a stream that the peer does not read is of no use.
        for id in std::mem::take(&mut self.unread) {
            self.lose_stream(now, id);
            self.effects.streams.insert(id);
        }
        self.tell(now);
        while let Some(connection) = self.dirty.pop_first() {
            self.pump(now, connection, false);
        }
        self.feed(now);
        self.invite(now);
        self.note(now);
        if !self.starved.is_empty() && self.credit.room() > 0 {
            self.effects.connections.append(&mut self.starved);
        }
    }

    /// Sends the session's own control frames: new values, and the last values again after a stream was lost that may
    /// have carried them (P-31).
    fn tell(&mut self, now: Time) {
        if self.states.is_empty() {
            self.datagrams.news.clear();
            return;
        }
        if let Some(limit) = self.credit.grant() {
            self.tell_credit = false;
            self.say(0, Frame::Allow { limit });
        } else if std::mem::take(&mut self.tell_credit) {
            self.say(0, Frame::Allow { limit: self.credit.granted() });
        }
        if self.credit.is_short() {
            // Other sessions may free some.
            self.check_soon(now);
        }
        let share = self.credit.share().part_of(self.settings.connection.credit.get());
        if std::mem::take(&mut self.tell_share) || share.abs_diff(self.share) > self.share / 4 {
            self.share = share;
            self.say(0, Frame::Share { bytes: share });
        }
        let wish = self.tuning.tuner.open();
        if wish != self.wish || std::mem::take(&mut self.tell_wish) {
            self.wish = wish;
            self.effects.number = true;
            if self.role == super::Role::Far {
                self.say(0, Frame::Want { streams: wish });
            }
        }
        if std::mem::take(&mut self.tell_leave) {
            self.say(0, Frame::Leave);
        }
        self.gone.retain(|_, gone| gone.told == Notified::Due || now < gone.until);
        let due = self.gone.iter().filter(|(_, gone)| gone.told == Notified::Due).map(|(id, _)| *id);
        for id in due.collect::<Vec<_>>() {
            let carrier = self.say(0, Frame::Gone { stream: id.0 });
            if let (Some(carrier), Some(gone)) = (carrier, self.gone.get_mut(&id)) {
                gone.told = Notified::Sent(carrier);
            }
        }
        self.tell_flows();
    }
    /// Sends a control frame on the stream on which it arrives first.
    pub(super) fn say(&mut self, connection: u32, frame: Frame) -> Option<StreamId> {
        let stream = self.streams.soonest(frame.wire_bytes())?;
        self.send(stream, connection, frame);
        Some(stream)
    }
    pub(super) fn send(&mut self, stream: StreamId, connection: u32, frame: Frame) {
        let Some(state) = self.states.get_mut(&stream) else { return };
        state.push(connection, frame);
        self.effects.streams.insert(stream);
        if state.control_bytes > UNREAD_OF_ONE && self.unsent_control() > UNREAD {
            self.unread.insert(stream);
        }
    }
    /// Bytes of frames without payload that wait for streams.
    pub fn unsent_control(&self) -> u64 {
        self.states.values().map(|state| state.control_bytes).sum()
    }

    /// Lets a connection send what it can. While others wait for streams, a connection whose bytes are not taken sends
    /// new ones only in its turn: unread bytes must not take the path from bytes that are read (P-34).
    fn pump(&mut self, now: Time, connection: u32, in_turn: bool) {
        self.open(now, connection);
        let (ahead, most) = (self.credit.ahead(SLACK), self.settings.connection.max_credit.get());
        let others_wait = !in_turn && self.lack_streams(&self.hungry);
        let Some(end) = self.ends.get_mut(&connection) else { return };
        let mut out = std::mem::take(&mut self.out);
        end.core.share(now, self.credit.share());
        let waits = others_wait && end.core.unproven() > UNPROVEN;
        end.core.allow(if waits { 0 } else { self.credit.allowed(end.core.unproven()) });
        let was_full = end.room(ahead, most) == 0;
        let before = end.core.taken();
        end.core.transmit(now, &mut self.streams, &mut out);
        self.credit.used += end.core.taken() - before;
        let blocked = end.core.is_blocked(self.credit.allowed(end.core.unproven()));
        if was_full && end.room(ahead, most) > 0 {
            // Streams have taken some: the program can write again before anything is acknowledged.
            self.effects.connections.insert(connection);
        }
        let (hungry, over, due) = (end.is_hungry(), end.is_over(), end.core.deadline());
        let patient = end.core.unproven() > UNPROVEN;
        if due != end.due {
            self.due.remove(&(end.due, connection));
            end.due = due;
            if due < Time::MAX {
                self.due.insert((due, connection));
            }
        }
        for (stream, frame) in out.frames.drain(..) {
            self.send(stream, connection, frame);
        }
        self.out = out;
        put(&mut self.hungry, connection, hungry && !patient);
        put(&mut self.patient, connection, hungry && patient);
        put(&mut self.blocked, connection, blocked);
        if over {
            self.drop_end(connection);
        }
    }
    /// Sends OPEN or OPENED if it is due.
    fn open(&mut self, now: Time, connection: u32) {
        let behind = self.opens_behind(connection);
        let Some(end) = self.ends.get_mut(&connection) else { return };
        let (frame, told) = match &mut end.opening {
            Opening::Asked(destination, told) => (Frame::Open(destination.clone()), told),
            Opening::Answered(told) => (Frame::Opened, told),
            _ => return,
        };
        if *told != Notified::Due {
            return;
        }
        let bytes = frame.wire_bytes();
        let Some(stream) = behind.or_else(|| self.streams.soonest(bytes)) else { return };
        *told = Notified::Sent(stream);
        // As short messages do (P-23); what comes twice is answered twice.
        let short = self.settings.connection.twice > Bytes::ZERO;
        let second = self.streams.second(now, bytes, stream).filter(|_| short);
        for stream in [Some(stream), second].into_iter().flatten() {
            self.streams.hand(now, stream, bytes);
            self.send(stream, connection, frame.clone());
        }
    }
    /// The stream of an OPEN to the same destination that has not been answered: behind it this one arrives later, as
    /// the program's own SYN would (P-11).
    fn opens_behind(&self, connection: u32) -> Option<StreamId> {
        let Opening::Asked(to, Notified::Due) = &self.ends.get(&connection)?.opening else { return None };
        let before = self.ends.range(..connection).rev().take(UNANSWERED);
        let stream = before.into_iter().find_map(|(_, end)| match end.opening {
            Opening::Asked(ref other, Notified::Sent(stream)) if other == to => Some(stream),
            _ => None,
        })?;
        self.streams.get(stream).is_some_and(Stream::is_used).then_some(stream)
    }
    /// Removes a connection that has ended, and gives back what it held.
    pub(super) fn drop_end(&mut self, connection: u32) {
        let Some(end) = self.ends.remove(&connection) else { return };
        self.due.remove(&(end.due, connection));
        self.hungry.remove(&connection);
        self.patient.remove(&connection);
        self.blocked.remove(&connection);
        self.credit.let_go(end.tx.len());
        self.credit.give_back(end.give_back_rest());
        self.effects.connections.insert(connection);
    }
    /// Lets connections that wait for room on streams send, each in its turn.
    fn feed(&mut self, now: Time) {
        let has_room = |session: &Self| session.streams.soonest_with_room(1, None).is_some();
        for patient in [false, true] {
            let waiting = if patient { &self.patient } else { &self.hungry };
            if waiting.is_empty() || !has_room(self) || patient && self.lack_streams(&self.hungry) {
                continue;
            }
            let behind = waiting.range(..=self.turn).copied();
            let turns: Vec<u32> = waiting.range(self.turn + 1..).copied().chain(behind).collect();
            for connection in turns {
                self.turn = connection;
                self.pump(now, connection, true);
                if !has_room(self) {
                    break;
                }
            }
        }
    }

    // === What a transport takes ===

    /// Appends frames for a stream to `out`: at least `most` bytes, or what the stream transmits in 10 ms if that is
    /// less, or all there is. A transport calls it when it can send, and no sooner.
    pub fn take(&mut self, now: Time, stream: StreamId, out: &mut Vec<u8>, most: usize) {
        // What a slow stream takes too early other streams would send sooner, and what comes behind it waits.
        let rate = self.states.get(&stream).map_or(BitRate::from_bps(0), |state| state.gauge.rate);
        let most = most.min(rate.bytes_in(AHEAD).get().max(SHORTEST) as usize);
        while out.len() < most {
            let before = out.len();
            if !self.take_one(now, stream, out) {
                self.refresh(now, stream);
                self.feed(now);
                // Connections do not want the stream after all: datagrams may have it.
                if self.states.get(&stream).is_none_or(StreamState::is_empty) && !self.take_waiting(now, stream, out) {
                    break;
                }
            }
            if let Some(state) = self.states.get_mut(&stream) {
                state.given += (out.len() - before) as u64;
            }
        }
        self.count_datagrams();
        self.refresh(now, stream);
        self.feed(now);
        self.invite(now);
        self.note(now);
    }
    /// Notes what is waited for now.
    fn note(&mut self, now: Time) {
        // A connection that waits for streams counts, whatever credit others wait for.
        let for_streams = self.lack_streams(&self.hungry) || self.lack_streams(&self.patient);
        let waiting = if (for_streams || self.datagrams.is_waiting()) && !self.states.is_empty() {
            Waiting::Streams
        } else if !self.blocked.is_empty() || !self.starved.is_empty() {
            Waiting::Credit
        } else {
            Waiting::Application
        };
        self.tuning.note(now, waiting);
    }
    /// Appends one frame; returns false if there was none. Datagrams stand behind control frames (P-22) and share with
    /// payload (P-43).
    fn take_one(&mut self, now: Time, stream: StreamId, out: &mut Vec<u8>) -> bool {
        let Some(state) = self.states.get_mut(&stream) else { return false };
        if let Some((connection, frame)) = state.pop_control() {
            self.put(connection, &frame, out);
            return true;
        }
        if self.is_turn_of_datagrams(stream) && self.take_waiting(now, stream, out) {
            return true;
        }
        let Some((connection, data)) = self.states.get_mut(&stream).and_then(StreamState::pop_data) else {
            return false;
        };
        self.owe_datagrams(stream, u64::from(data.len));
        let Some(end) = self.ends.get(&connection) else { return true };
        if end.core.given_up().is_some() {
            return true;
        }
        // Data that another stream has brought meanwhile is acknowledged, and its bytes are released: it need not go.
        let whole = Span::new(data.offset, data.offset + u64::from(data.len));
        let span = Span::new(whole.start.max(end.core.acknowledged()), whole.end);
        if span.is_empty() && !data.end {
            return true;
        }
        let (offset, len) = if span.is_empty() { (whole.end, 0) } else { (span.start, span.len()) };
        let frame = Frame::Data(Data { offset, len: len as u32, end: data.end });
        self.put(connection, &frame, out);
        if len > 0
            && let Some(end) = self.ends.get(&connection)
        {
            end.tx.slices(span).for_each(|piece| out.extend_from_slice(piece));
        }
        true
    }
    pub(super) fn put(&mut self, connection: u32, frame: &Frame, out: &mut Vec<u8>) {
        self.encoded.clear();
        frame.encode(connection, &mut self.encoded);
        out.extend_from_slice(&self.encoded);
    }
    /// Whether a stream has something to send.
    pub fn has_output(&self, stream: StreamId) -> bool {
        self.states.get(&stream).is_some_and(|state| state.invited || !state.is_empty())
    }
    /// Whether anything waits for a stream to send it.
    pub fn is_hungry(&self) -> bool {
        self.wait_for_streams() || self.datagrams.is_waiting()
    }
    /// Whether one of these connections waits for streams and not for credit.
    fn lack_streams(&self, waiting: &BTreeSet<u32>) -> bool {
        waiting.iter().any(|connection| !self.blocked.contains(connection))
    }
    /// Whether connections wait for streams.
    pub(super) fn wait_for_streams(&self) -> bool {
        !self.hungry.is_empty() || !self.patient.is_empty()
    }
}

/// Puts a connection into a set or takes it out.
fn put(set: &mut BTreeSet<u32>, connection: u32, is_in: bool) {
    if is_in {
        set.insert(connection);
    } else {
        set.remove(&connection);
    }
}
