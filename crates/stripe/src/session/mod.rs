//! A session: two gateways, many connections, the streams that they share. Without I/O, clock, or cryptography; with the bytes.
//!
//! The owner tells it what streams and programs bring, and afterwards calls [`Session::flush`], which works out what is to be sent and says in [`Effects`] where something has changed.
//! Bytes for a stream are taken with [`Session::take`] when its carrier can send, as late as can be: what has not left may still go elsewhere. `docs/protocol.md` numbers the rules (P-1 ...)
//! that the code cites.

mod buffer;
mod connections;
mod credit;
mod end;
mod flow;
mod lane;
mod timers;
mod tuning;

pub use connections::{Exhausted, State};
pub use credit::{FIRST_ALLOWANCE, Pool};
pub use lane::Gauge;
pub use tuning::Census;

use crate::config::Config;
use crate::connection::{Output, Violation};
use crate::optimizer::Tuner;
use crate::ranges::{RangeSet, Span};
use crate::streams::{Measured, StreamId, Streams};
use crate::wire::{Destination, Frame, Hello, Item};
use buffer::Blocks;
use credit::Credit;
use end::{End, Opening};
use lane::Lane;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tuning::Tuning;
use units::{BitRate, Bytes, Time};

/// Codes of RESET and STOP are error numbers as Linux has them (P-14).
pub mod code {
    /// The peer is gone, or has reset the connection.
    pub const RESET: u32 = 104;
    /// Too many connections.
    pub const NO_ROOM: u32 = 105;
}

/// Holes of all connections together: each costs memory that no credit counts (P-21).
const MAX_HOLES: usize = 1 << 17;

/// Which end of a session this is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Opens streams and connections: beside the programs.
    Near,
    /// Takes them: beside the servers.
    Far,
}

/// How one end of a session behaves.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Of each connection; `peer_credit` is the peer's HELLO's.
    pub connection: Config,
    /// The longest payload that the peer takes.
    pub max_payload: u32,
    /// The most streams, of both ends' limits the lower.
    pub max_streams: u32,
    /// The most connections at once.
    pub connections: usize,
    /// Bytes held for the peer, and as many for the programs here.
    pub memory: u64,
    /// Without any stream the session is kept so long.
    pub patience: Time,
    /// A stream on which nothing was heard for this long is asked whether anyone is there; after twice as long without an answer it is dead.
    pub keep_alive: Time,
    /// Streams kept open while there is nothing to do.
    pub warm: u32,
}

/// What the owner has to look at.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// Connections on which something has changed: to be read, written, ended.
    pub connections: BTreeSet<u32>,
    /// Streams that have something to send, or are to be closed.
    pub streams: BTreeSet<StreamId>,
    /// Connections that the peer wants; each to be accepted or refused.
    pub openings: Vec<(u32, Destination)>,
    /// How many streams there are to be may have changed, or how many there are.
    pub number: bool,
}

/// One end of a session.
#[derive(Debug)]
pub struct Session {
    role: Role,
    settings: Settings,
    streams: Streams,
    lanes: BTreeMap<StreamId, Lane>,
    ends: BTreeMap<u32, End>,
    /// Numbers of connections that have been.
    used: RangeSet,
    next_connection: u32,
    credit: Credit,
    /// Connections that something has happened to since the last flush.
    dirty: BTreeSet<u32>,
    /// Connections that wait for streams, and which of them had its turn last.
    hungry: BTreeSet<u32>,
    /// Connections that wait for credit.
    blocked: BTreeSet<u32>,
    turn: u32,
    /// Connections that were told that there is no memory.
    starved: BTreeSet<u32>,
    /// Connections' deadlines.
    due: BTreeSet<(Time, u32)>,
    /// Streams that were lost and of which the peer has to be told.
    gone: Vec<StreamId>,
    /// Streams that the peer does not read.
    unread: BTreeSet<StreamId>,
    /// Holes in what the peer has sent, all connections together.
    holes: usize,
    /// The session's own numbers have to be told, again or for the first time.
    tell_credit: bool,
    tell_wish: bool,
    tell_leave: bool,
    leaving: bool,
    peer_leaves: bool,
    /// What the peer would like: it may have much to send.
    peer_wish: u32,
    /// What the peer was told.
    wish: u32,
    tuning: Tuning,
    /// When the last stream went.
    alone_since: Option<Time>,
    check_at: Time,
    over: bool,
    effects: Effects,
    out: Output,
    blocks: Blocks,
}

impl Session {
    /// A session whose first stream is still to be added. None if the pool has no memory for it.
    pub fn new(now: Time, role: Role, settings: Settings, tuner: Tuner, pool: &Arc<Pool>) -> Option<Self> {
        let credit = Credit::new(pool, settings.memory)?;
        Some(Self {
            role,
            streams: Streams::default(),
            lanes: BTreeMap::new(),
            ends: BTreeMap::new(),
            used: RangeSet::default(),
            next_connection: 1,
            credit,
            dirty: BTreeSet::new(),
            hungry: BTreeSet::new(),
            blocked: BTreeSet::new(),
            turn: 0,
            starved: BTreeSet::new(),
            due: BTreeSet::new(),
            gone: Vec::new(),
            unread: BTreeSet::new(),
            holes: 0,
            tell_credit: false,
            tell_wish: false,
            tell_leave: false,
            leaving: false,
            peer_leaves: false,
            peer_wish: 0,
            wish: 0,
            tuning: Tuning::new(now, tuner),
            alone_since: Some(now),
            check_at: now.saturating_add(settings.keep_alive),
            over: false,
            effects: Effects::default(),
            out: Output::default(),
            blocks: Blocks::default(),
            settings,
        })
    }

    // === Streams come and go ===

    /// A stream is ready: both HELLOs have been read.
    pub fn add_stream(&mut self, now: Time, id: StreamId, path: u32, gauge: Gauge) {
        let lane = Lane::new(now, gauge);
        let measured = self.measured(&lane);
        self.lanes.insert(id, lane);
        self.streams.add(now, id, path, measured);
        self.rest();
        self.alone_since = None;
        (self.tell_credit, self.tell_wish) = (true, true);
        self.tell_leave |= self.leaving;
        // Whatever waited for a stream has one now.
        self.dirty.extend(self.ends.keys());
        self.effects.number = true;
    }
    /// What a stream's carrier knows now.
    pub fn measure(&mut self, now: Time, id: StreamId, gauge: Gauge) {
        if let Some(lane) = self.lanes.get_mut(&id) {
            lane.measure(gauge);
            self.refresh(now, id);
        }
    }
    /// A stream has broken. What only it carried goes on others, and the peer is told (P-25).
    pub fn lose_stream(&mut self, now: Time, id: StreamId) {
        if self.remove(now, id) {
            self.gone.push(id);
        }
    }
    /// A stream is to be closed when nothing needs it any more: its carrier sees [`wants_shut`](Self::wants_shut).
    pub fn drain_stream(&mut self, now: Time, id: StreamId) {
        if let Some(lane) = self.lanes.get_mut(&id) {
            lane.draining = true;
            self.streams.drain(id);
            self.rest();
            self.check_soon(now);
        }
    }
    /// The peer has closed its half of a stream, properly: it needs it no more (P-26).
    pub fn on_stream_end(&mut self, now: Time, id: StreamId) {
        let Some(lane) = self.lanes.get_mut(&id) else { return };
        lane.peer_shut = true;
        if lane.shut {
            self.remove(now, id);
            self.effects.streams.insert(id);
        } else {
            self.drain_stream(now, id);
        }
    }
    /// Whether a stream's carrier is to close its half now. It has then nothing to send, and nothing that is not acknowledged.
    pub fn wants_shut(&self, id: StreamId) -> bool {
        self.lanes.get(&id).is_some_and(|lane| lane.shut)
    }
    /// A stream's carrier has closed its half. With the peer's closed too, the stream is gone.
    pub fn on_shut(&mut self, now: Time, id: StreamId) {
        if self.lanes.get(&id).is_some_and(|lane| lane.peer_shut) {
            self.remove(now, id);
            self.effects.streams.insert(id);
        }
    }
    /// Whether a stream is part of the session; its carrier closes it if not.
    pub fn has_stream(&self, id: StreamId) -> bool {
        !self.over && self.lanes.contains_key(&id)
    }
    fn remove(&mut self, now: Time, id: StreamId) -> bool {
        let Some(lane) = self.lanes.remove(&id) else { return false };
        self.tuning.bury(&lane.gauge);
        self.streams.remove(id);
        self.rest();
        self.forsake(now, id);
        (self.tell_credit, self.tell_wish) = (true, true);
        self.tell_leave |= self.leaving;
        if self.lanes.is_empty() {
            self.alone_since = Some(now);
        }
        self.effects.number = true;
        true
    }
    /// Of more streams than are to be used, the latest are not: they are open because the peer wants them, or to be there when one is missing.
    fn rest(&mut self) {
        self.streams.rest_beyond(self.tuning.tuner.target());
    }
    /// No connection relies on a stream any more.
    fn forsake(&mut self, now: Time, id: StreamId) {
        for (number, end) in &mut self.ends {
            end.core.on_stream_lost(now, id);
            if let Opening::Asked(_, told) | Opening::Answered(told) = &mut end.opening {
                told.lost(id);
            }
            self.dirty.insert(*number);
        }
    }
    fn measured(&self, lane: &Lane) -> Measured {
        let gauge = &lane.gauge;
        let segment = self.settings.connection.segmentation.longest(gauge.rate);
        Measured {
            rtt: gauge.rtt,
            rto: gauge.rto,
            rate: gauge.rate.max(BitRate::from_bps(1)),
            handed: lane.handed(),
            acknowledged: lane.acknowledged,
            room: lane.room(segment),
        }
    }
    /// Brings what the connections see of a stream up to date.
    fn refresh(&mut self, now: Time, id: StreamId) {
        if let Some(lane) = self.lanes.get(&id) {
            let measured = self.measured(lane);
            self.streams.update(now, id, measured);
        }
    }

    // === What streams bring ===

    /// Something has arrived on a stream. After a violation the session is to be given up.
    pub fn on_item(&mut self, now: Time, stream: StreamId, item: &Item<'_>) -> Result<(), Violation> {
        if let Some(lane) = self.lanes.get_mut(&stream) {
            (lane.heard_at, lane.asked_at) = (now, None);
        }
        let mut out = std::mem::take(&mut self.out);
        let mut blocks = std::mem::take(&mut self.blocks);
        let result = self.on_item_with(now, stream, item, &mut blocks, &mut out);
        out.clear();
        (self.out, self.blocks) = (out, blocks);
        let (counted, let_go) = result?;
        self.credit.let_go(let_go);
        if !self.credit.receive(counted) {
            return Err(Violation::Credit { end: counted, limit: self.credit.granted() });
        }
        if let Item::Payload { connection, .. } = item
            && let Some(end) = self.ends.get_mut(connection)
        {
            let new = end.core.holes();
            self.holes = self.holes + new - std::mem::replace(&mut end.holes, new);
            if self.holes > MAX_HOLES {
                return Err(Violation::Holes);
            }
        }
        if let Item::Payload { connection, .. } | Item::Frame { connection, .. } = item
            && self.ends.contains_key(connection)
        {
            self.settle(now, *connection);
            self.effects.connections.insert(*connection);
        }
        Ok(())
    }
    /// Returns how many bytes count against the session's allowance, and how many of ours the peer has.
    fn on_item_with(
        &mut self,
        now: Time,
        stream: StreamId,
        item: &Item<'_>,
        blocks: &mut Blocks,
        out: &mut Output,
    ) -> Result<(u64, u64), Violation> {
        match item {
            Item::Payload { connection, data, payload } => match self.end(*connection, true)? {
                Some(end) => end.on_data(now, data, payload, blocks, out).map(|counted| (counted, 0)),
                None => Ok((0, 0)),
            },
            Item::Frame { frame, .. } if frame.is_of_session() => {
                self.on_session_frame(now, stream, frame).map(|()| (0, 0))
            }
            Item::Frame { connection, frame } => self.on_connection_frame(now, *connection, frame, blocks, out),
        }
    }
    fn on_session_frame(&mut self, now: Time, stream: StreamId, frame: &Frame) -> Result<(), Violation> {
        match frame {
            Frame::Gone { stream } => {
                let id = StreamId(*stream);
                if self.remove(now, id) {
                    self.effects.streams.insert(id);
                }
            }
            Frame::Allow { limit } => self.credit.limit = self.credit.limit.max(*limit),
            Frame::Want { streams } => {
                self.peer_wish = (*streams).min(self.settings.max_streams);
                self.effects.number = true;
            }
            Frame::Ping { token } => self.send(stream, 0, Frame::Pong { token: *token }),
            Frame::Pong { .. } => {}
            Frame::Leave => (self.peer_leaves, self.effects.number) = (true, true),
            _ => return Err(Violation::Misplaced),
        }
        Ok(())
    }
    fn on_connection_frame(
        &mut self,
        now: Time,
        connection: u32,
        frame: &Frame,
        blocks: &mut Blocks,
        out: &mut Output,
    ) -> Result<(u64, u64), Violation> {
        let asks = matches!(frame, Frame::Data(_) | Frame::Open(_) | Frame::Reset { .. } | Frame::Stop { .. });
        let Some(end) = self.end(connection, asks)? else { return Ok((0, 0)) };
        match frame {
            Frame::Open(destination) => {
                match &mut end.opening {
                    Opening::Awaited => {
                        end.opening = Opening::Connecting;
                        self.effects.openings.push((connection, destination.clone()));
                    }
                    // The peer asks again: our answer may be lost.
                    Opening::Answered(told) => told.again(),
                    _ => {}
                }
                Ok((0, 0))
            }
            Frame::Opened => {
                if let Opening::Asked(..) = end.opening {
                    end.opening = Opening::Opened;
                }
                Ok((0, 0))
            }
            Frame::Over => Ok((0, end.on_over(now, code::RESET, blocks, out))),
            frame => end.on_frame(now, frame, blocks, out),
        }
    }
    /// The connection of a frame, made if it is the first of it (P-12). None for one that is over; the peer is told so if it seems to expect something (P-18).
    fn end(&mut self, connection: u32, asks: bool) -> Result<Option<&mut End>, Violation> {
        self.dirty.insert(connection);
        if !self.ends.contains_key(&connection) {
            let number = u64::from(connection);
            if self.used.contains(number) {
                if asks {
                    self.say(connection, Frame::Over);
                }
                return Ok(None);
            }
            if self.role == Role::Near {
                return Err(Violation::Unopened(connection));
            }
            if !asks {
                return Ok(None);
            }
            // P-32.
            if self.ends.len() >= 2 * self.settings.connections {
                return Err(Violation::TooManyConnections);
            }
            self.used.insert(Span::new(number, number + 1), |_| {});
            // Numbers are used one after the other: what is left out is on its way.
            if self.used.len() > 2 * self.settings.connections {
                return Err(Violation::TooManyConnections);
            }
            let mut end = End::new(&self.settings.connection, Opening::Awaited);
            if self.ends.len() >= self.settings.connections {
                end.opening = Opening::Refused;
                end.core.reset(code::NO_ROOM);
                end.core.stop(Time::ZERO, code::NO_ROOM);
                end.released = true;
            }
            self.ends.insert(connection, end);
        }
        Ok(self.ends.get_mut(&connection))
    }
    /// What the programs here have taken goes back to the session's credit.
    fn settle(&mut self, now: Time, connection: u32) {
        let Some(end) = self.ends.get_mut(&connection) else { return };
        let (returned, drained) = (end.give_back(), end.core.readable().is_empty());
        self.credit.give_back(now, returned, drained, self.streams.rtt());
    }

    // === What it can be asked ===

    /// What the owner has to look at since the last call.
    pub fn effects(&mut self) -> Effects {
        std::mem::take(&mut self.effects)
    }
    /// How many streams there are to be: what this end would like, or the other (P-27).
    pub fn number(&self) -> u32 {
        let here = self.tuning.tuner.open().max(self.settings.warm);
        here.max(self.peer_wish).min(self.settings.max_streams).max(1)
    }
    /// How many the peer would like (P-27).
    pub fn peer_wish(&self) -> u32 {
        self.peer_wish
    }
    /// How many of them are used for what is sent from here.
    pub fn used_count(&self) -> u32 {
        self.streams.iter().filter(|stream| stream.is_used()).count() as u32
    }
    /// Streams that are not being closed.
    pub fn stream_count(&self) -> u32 {
        self.lanes.values().filter(|lane| !lane.draining).count() as u32
    }
    /// The streams, and what is known of each.
    pub fn streams(&self) -> &Streams {
        &self.streams
    }
    /// What a stream's carrier said last.
    pub fn gauge(&self, id: StreamId) -> Option<&Gauge> {
        self.lanes.get(&id).map(|lane| &lane.gauge)
    }
    /// Who decides how many streams there are, and why.
    pub fn tuner(&self) -> &Tuner {
        &self.tuning.tuner
    }
    /// What all streams have counted.
    pub fn census(&self) -> Census {
        self.tuning.census(self.lanes.values())
    }
    /// Connections that are not over.
    pub fn connection_count(&self) -> usize {
        self.ends.len()
    }
    /// Bytes held: the programs' here, and the peer's.
    pub fn memory(&self) -> (Bytes, Bytes) {
        (Bytes::new(self.credit.held()), Bytes::new(self.ends.values().map(|end| end.rx.len()).sum()))
    }
    /// Without a stream for longer than is waited: all that it had is void.
    pub fn is_over(&self) -> bool {
        self.over
    }
    /// Whether the peer takes no more connections.
    pub fn peer_leaves(&self) -> bool {
        self.peer_leaves
    }
    /// The HELLO of a stream from this end.
    pub fn hello(settings: &Settings, session: [u8; 16], stream: StreamId) -> Hello {
        Hello {
            session,
            stream: stream.0,
            credit: settings.connection.credit.get(),
            max_payload: settings.max_payload,
            max_streams: settings.max_streams.min(u32::from(u16::MAX)) as u16,
        }
    }
}
