//! A session: two gateways, many connections, the streams that they share. It holds the bytes, and has no I/O, clock or
//! cryptography.
//!
//! The owner passes in what streams and programs bring, then calls [`Session::flush`]. That decides what is to be sent
//! and reports changes in [`Effects`]. A transport takes bytes by [`Session::take`] as late as possible, when it can
//! send: bytes that have not left may still go on another stream. The code cites the rules of
//! `docs/reference/protocol.md` (P-1 ...).

mod buffer;
mod connections;
mod credit;
mod datagrams;
mod end;
mod flows;
mod members;
mod spread;
mod stream_state;
mod timers;
mod transmit;
mod tuning;

pub use connections::{Exhausted, State};
pub use credit::{FIRST_ALLOWANCE, Pool};
pub use datagrams::{Arrived, Carriage, Tally};
pub use stream_state::Gauge;
pub use tuning::Census;

use crate::config::Config;
use crate::connection::{Output, Violation};
use crate::optimizer::Tuner;
use crate::ranges::{RangeSet, Span};
use crate::streams::{StreamId, Streams};
use crate::wire::{Destination, Frame, Hello, Item};
use buffer::Blocks;
use credit::Credit;
use datagrams::Datagrams;
use end::{End, Opening};
use members::Gone;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use stream_state::StreamState;
use tuning::Tuning;
use units::{Bytes, Time};

/// Codes of RESET and STOP are error numbers as Linux has them (P-14).
pub mod code {
    /// The peer is gone, or has reset the connection.
    pub const RESET: u32 = 104;
    /// Too many connections.
    pub const NO_ROOM: u32 = 105;
    /// Whether a flow ended with this code because of its destination, which could not be reached or was not allowed.
    pub fn is_refusal(code: u32) -> bool {
        !matches!(code, 0 | RESET | NO_ROOM)
    }
}

/// Limit of the holes of all connections together: each costs memory that no credit counts (P-21).
const MAX_HOLES: usize = 1 << 17;

/// Role of an end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// The near end, beside the programs. It opens streams and connections.
    Near,
    /// The far end, beside the servers. It accepts streams and connections.
    Far,
}

/// Settings of one end of a session.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Settings of each connection. `peer_credit` comes from the peer's HELLO.
    pub connection: Config,
    /// Longest payload that the peer takes.
    pub max_payload: u32,
    /// Most streams: the lower of both ends' limits.
    pub max_streams: u32,
    /// Most connections at once.
    pub connections: usize,
    /// Memory in bytes for the peer's data, and as much for local programs' data.
    pub memory: u64,
    /// How long the session is kept without any stream.
    pub patience: Time,
    /// Silence after which a stream is asked with PING. It is dead after twice as long without an answer (P-24).
    pub keep_alive: Time,
    /// Streams kept open while there is nothing to do.
    pub warm: u32,
    /// Settings of datagrams; `None` if none are carried.
    pub datagrams: Option<Carriage>,
}

/// What the owner has to look at.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// Connections on which something has changed.
    pub connections: BTreeSet<u32>,
    /// Streams that have something to send, or are to be closed.
    pub streams: BTreeSet<StreamId>,
    /// Connections that the peer wants. The owner accepts or refuses each.
    pub openings: Vec<(u32, Destination)>,
    /// Number of connections that were refused for lack of room.
    pub refused: u32,
    /// Flows of datagrams in which something has come, or that are over.
    pub flows: BTreeSet<u32>,
    /// Flows that the peer has opened. The owner serves or closes each.
    pub flow_openings: Vec<(u32, Destination)>,
    /// The number of streams, existing or wanted, may have changed.
    pub number: bool,
}

/// One end of a session.
#[derive(Debug)]
pub struct Session {
    role: Role,
    settings: Settings,
    streams: Streams,
    states: BTreeMap<StreamId, StreamState>,
    ends: BTreeMap<u32, End>,
    /// Numbers of connections that have been used.
    used: RangeSet,
    next_connection: u32,
    credit: Credit,
    /// Initial credit of connections that the peer was asked to use, and that the peer asks us to use (P-33).
    share: u64,
    peer_share: u64,
    /// Connections on which something has happened since the last flush.
    dirty: BTreeSet<u32>,
    /// Connections that wait for streams. Those in `patient`, whose bytes the peer's programs do not take, come after
    /// those in `hungry`. `turn` is the connection that had the last turn.
    hungry: BTreeSet<u32>,
    patient: BTreeSet<u32>,
    /// Connections that wait for credit.
    blocked: BTreeSet<u32>,
    turn: u32,
    /// Connections that were told that there is no memory.
    starved: BTreeSet<u32>,
    /// Deadlines of connections.
    due: BTreeSet<(Time, u32)>,
    /// Streams that were found dead, and whether the peer has been told.
    gone: BTreeMap<StreamId, Gone>,
    /// Streams that the peer does not read.
    unread: BTreeSet<StreamId>,
    /// Holes in what the peer has sent, all connections together. A connection that ends has none: its byte stream is
    /// complete or reset.
    holes: usize,
    /// Control frames of the session that are due, for the first time or again.
    tell_credit: bool,
    tell_share: bool,
    tell_wish: bool,
    tell_leave: bool,
    tell_carriage: bool,
    leaving: bool,
    peer_leaves: bool,
    /// Number of streams that the peer would like.
    peer_wish: u32,
    /// Number of streams that the peer was told we would like.
    wish: u32,
    tuning: Tuning,
    /// Until when the session is kept without streams.
    alone_until: Option<Time>,
    check_at: Time,
    over: bool,
    effects: Effects,
    out: Output,
    /// Buffer for the frame that is being encoded.
    encoded: Vec<u8>,
    blocks: Blocks,
    datagrams: Datagrams,
}

impl Session {
    /// A session without streams. `None` if the pool has no memory for it.
    pub fn new(now: Time, role: Role, settings: Settings, tuner: Tuner, pool: &Arc<Pool>) -> Option<Self> {
        let credit = Credit::new(pool, settings.memory)?;
        Some(Self {
            role,
            streams: Streams::default(),
            states: BTreeMap::new(),
            ends: BTreeMap::new(),
            used: RangeSet::default(),
            next_connection: 1,
            credit,
            share: settings.connection.credit.get(),
            peer_share: settings.connection.peer_credit.get(),
            dirty: BTreeSet::new(),
            hungry: BTreeSet::new(),
            patient: BTreeSet::new(),
            blocked: BTreeSet::new(),
            turn: 0,
            starved: BTreeSet::new(),
            due: BTreeSet::new(),
            gone: BTreeMap::new(),
            unread: BTreeSet::new(),
            holes: 0,
            tell_credit: false,
            tell_share: false,
            tell_wish: false,
            tell_leave: false,
            tell_carriage: false,
            leaving: false,
            peer_leaves: false,
            peer_wish: 0,
            wish: 0,
            tuning: Tuning::new(now, tuner),
            alone_until: Some(now.saturating_add(settings.patience)),
            check_at: now.saturating_add(settings.keep_alive),
            over: false,
            effects: Effects::default(),
            out: Output::default(),
            encoded: Vec::new(),
            blocks: Blocks::default(),
            datagrams: Datagrams::new(settings.datagrams, role == Role::Far),
            settings,
        })
    }

    // === What streams bring ===

    /// Takes in an item of a stream. After a violation the session has to be given up.
    pub fn on_item(&mut self, now: Time, stream: StreamId, item: &Item<'_>) -> Result<(), Violation> {
        self.on_item_for(now, stream, item, |_, _| 0)
    }
    /// [`on_item`](Self::on_item) with direct delivery: in-order payload is offered to `deliver`, which returns the
    /// bytes that the program has taken. Only the rest is held.
    pub fn on_item_for(
        &mut self,
        now: Time,
        stream: StreamId,
        item: &Item<'_>,
        deliver: impl FnOnce(u32, &[u8]) -> u64,
    ) -> Result<(), Violation> {
        if let Some(state) = self.states.get_mut(&stream) {
            (state.last_received, state.asked_at, state.datagram_at) = (now, None, None);
            state.questioned &= matches!(item, Item::Frame { frame: Frame::Pong { .. }, .. });
        }
        if self.asks_soon() {
            self.check_at = self.check_at.min(now.saturating_add(timers::SILENCE));
        }
        if let Item::Frame { connection, frame } = item
            && frame.is_of_flow()
        {
            return self.on_flow_frame(now, *connection, frame);
        }
        let mut out = std::mem::take(&mut self.out);
        let mut blocks = std::mem::take(&mut self.blocks);
        let mut delivered = 0;
        let result = match item {
            Item::Payload { connection, data, payload } => match self.end(*connection, true) {
                Ok(Some(end)) => {
                    let deliver = |bytes: &[u8]| deliver(*connection, bytes);
                    end.on_data(now, data, payload, &mut blocks, &mut out, deliver).map(|(counted, taken)| {
                        delivered = taken;
                        (counted, 0)
                    })
                }
                Ok(None) => Ok((0, 0)),
                Err(violation) => Err(violation),
            },
            Item::Frame { frame, .. } if frame.is_of_session() => {
                self.on_session_frame(now, stream, frame).map(|()| (0, 0))
            }
            Item::Frame { connection, frame } => {
                self.on_connection_frame(now, *connection, frame, &mut blocks, &mut out)
            }
        };
        out.clear();
        (self.out, self.blocks) = (out, blocks);
        let (counted, let_go) = result?;
        self.credit.let_go(let_go);
        if !self.credit.receive(counted) {
            return Err(Violation::Credit { end: counted, limit: self.credit.granted() });
        }
        let mut changed = true;
        if let Item::Payload { connection, payload, .. } = item
            && let Some(end) = self.ends.get_mut(connection)
            && delivered > 0
        {
            end.core.consume(now, delivered, &self.streams);
            // The program has all of it: its task has nothing to look at.
            changed = delivered < payload.len() as u64 || end.finished;
        }
        if let Item::Payload { connection, .. } | Item::Frame { connection, .. } = item
            && let Some(end) = self.ends.get_mut(connection)
        {
            let new = end.core.holes();
            self.holes = self.holes + new - std::mem::replace(&mut end.holes, new);
            if self.holes > MAX_HOLES {
                return Err(Violation::Holes);
            }
            self.return_credit(now, *connection);
            if changed {
                self.effects.connections.insert(*connection);
            }
        }
        Ok(())
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
            // P-33: SHARE takes nothing back of HELLO's credit.
            Frame::Share { bytes } => self.peer_share = *bytes,
            Frame::Want { streams } => {
                self.peer_wish = (*streams).min(self.settings.max_streams);
                self.effects.number = true;
            }
            Frame::Ping { token } => self.send(stream, 0, Frame::Pong { token: *token }),
            Frame::Pong { .. } => {}
            Frame::Flows { most } => self.datagrams.peer_flows = Some(*most),
            Frame::Leave => (self.peer_leaves, self.effects.number) = (true, true),
            _ => return Err(Violation::Misplaced),
        }
        Ok(())
    }
    /// Returns the bytes that count against the session's allowance, and how many of our bytes are released.
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
            Frame::KeepAlive(keep_alive) => {
                end.keep_alive = Some(*keep_alive);
                Ok((0, 0))
            }
            Frame::Over => Ok((0, end.on_over(now, code::RESET, blocks, out))),
            frame => end.on_frame(now, frame, blocks, out),
        }
    }
    /// The connection of a frame. Its first frame creates it (P-12). `None` for a forgotten connection; the peer is
    /// told so if it seems to expect an answer (P-18).
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
            // P-32: far more connections than the limit.
            if self.ends.len() >= 2 * self.settings.connections {
                return Err(Violation::TooManyConnections);
            }
            self.used.insert(Span::new(number, number + 1), |_| {});
            // Connections are numbered in order: gaps are numbers on their way.
            if self.used.len() > 2 * self.settings.connections {
                return Err(Violation::TooManyConnections);
            }
            let mut end = self.new_end(Opening::Awaited);
            if self.ends.len() >= self.settings.connections {
                end.opening = Opening::Refused;
                end.core.reset(code::NO_ROOM);
                end.core.stop(Time::ZERO, code::NO_ROOM);
                self.effects.refused += 1;
                end.released = true;
            }
            self.ends.insert(connection, end);
        }
        Ok(self.ends.get_mut(&connection))
    }
    /// Returns credit to the session for bytes that programs have taken.
    fn return_credit(&mut self, now: Time, connection: u32) {
        let Some(end) = self.ends.get_mut(&connection) else { return };
        let returned = end.give_back();
        let drained = returned > 0 && end.core.readable().is_empty();
        self.credit.give_back(returned);
        self.credit.tune(now, drained, self.streams.window_rtt());
    }
    /// A new end. Its credit is that of HELLO, or less if the peer has asked for less (P-33).
    fn new_end(&self, opening: Opening) -> End {
        let connection = &self.settings.connection;
        let peer_credit = connection.peer_credit.min(Bytes::new(self.peer_share));
        End::new(&Config { peer_credit, ..*connection }, opening)
    }

    // === What it can be asked ===

    /// Takes what the owner has to look at since the last call.
    pub fn effects(&mut self) -> Effects {
        std::mem::take(&mut self.effects)
    }
    /// The last measurement of a stream's transport.
    pub fn gauge(&self, id: StreamId) -> Option<&Gauge> {
        self.states.get(&id).map(|state| &state.gauge)
    }
    /// The policy that decides the number of streams, with its reason.
    pub fn tuner(&self) -> &Tuner {
        &self.tuning.tuner
    }
    /// Counters of all streams together.
    pub fn census(&self) -> Census {
        self.tuning.census(self.states.values())
    }
    /// Number of connections that have not ended.
    pub fn connection_count(&self) -> usize {
        self.ends.len()
    }
    /// Bytes held for local programs, with datagrams of both directions; and bytes held of the peer's.
    pub fn memory(&self) -> (Bytes, Bytes) {
        (Bytes::new(self.credit.held()), Bytes::new(self.ends.values().map(|end| end.rx.len()).sum()))
    }
    /// Until when the session is kept without a stream.
    pub fn alone_until(&self) -> Option<Time> {
        self.alone_until
    }
    /// Whether the session was given up, so that all that it had is void.
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
