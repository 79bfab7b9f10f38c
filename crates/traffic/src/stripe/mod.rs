//! One byte stream over many connections.
//!
//! A session is one pair of nodes: a `stripe::Connection` at either end, and the TCP connections that are its streams.
//! A frame is a message on one of them; what it says waits in its stream's queue `in_flight` until the transport
//! delivers it.

mod measure;
mod session;
mod tuner;

use super::state::{Kind, State};
use super::{FlowIndex, Flows, Net};
use ::stripe::optimizer::{Policy, Tuner};
use ::stripe::session::Census;
use ::stripe::wire::Frame;
use ::stripe::{Config, Connection, Output, StreamId, Streams};
use net::VertexId;
use results::{StreamCountAt, StreamOutcome, StripeOutcome};
use std::collections::{BTreeMap, VecDeque};
use tcp::control::Coupling;
use transport::{End, Handle};
use units::{Bytes, Time};

const ENDS: [End; 2] = [End::Client, End::Server];

/// Specification of a stripe: one byte stream over many connections.
#[derive(Clone, Debug)]
pub struct StripeSpec {
    /// Payload of each pair of nodes; `None` without end.
    pub bytes: Option<Bytes>,
    /// The traffic is MPTCP: results call it so.
    pub mptcp: bool,
    /// Coupling of its streams' congestion controls, which are then
    /// [`ControlKind::Coupled`](tcp::control::ControlKind).
    pub coupling: Option<Coupling>,
    /// The number of streams.
    pub number: StreamNumber,
    /// Settings of both ends.
    pub config: Config,
    /// Send buffer of each stream.
    pub send_buffer: Bytes,
    /// Switches that the streams cross, in turn; empty leaves the paths to routing.
    pub paths: Vec<VertexId>,
}

/// The number of streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamNumber {
    /// A fixed number.
    Fixed(u32),
    /// Tuned by this policy, up to a maximum.
    Tuned(Policy, u32),
    /// By the CloudJet paper's enumeration, up to a maximum.
    Paper(u32),
}

/// All sessions of a traffic.
#[derive(Debug)]
pub(super) struct Striped {
    sessions: Vec<Session>,
    /// Session and stream of each flow that is a stream.
    streams: BTreeMap<u32, (u32, u32)>,
}

#[derive(Debug)]
struct Side {
    connection: Connection,
    streams: Streams,
}

/// A TCP connection that is a stream.
#[derive(Debug)]
struct TcpStream {
    handle: Handle,
    path: u32,
    /// Frames on their way from the client and from the server.
    in_flight: [VecDeque<Frame>; 2],
    /// Payload that it has brought to the server, duplicates included.
    delivered: u64,
    /// Counters of its client's TCP.
    census: Census,
    /// Segments retransmitted and its congestion window one round trip ago.
    lost_before: u64,
    window_before: u64,
    /// Loss events of its sender; bytes acknowledged at the last one, and between the last two.
    losses: u64,
    acknowledged_at_loss: u64,
    between_losses: u64,
    connected: bool,
    closing: bool,
    closed: bool,
}

#[derive(Debug)]
struct Session {
    spec: StripeSpec,
    flow: FlowIndex,
    from: u32,
    to: u32,
    sides: [Side; 2],
    tcp_streams: BTreeMap<u32, TcpStream>,
    next_stream: u32,
    tuner: Tuner,
    began: Time,
    /// Whether it has begun and is not complete.
    running: bool,
    redial_at: Time,
    armed: Time,
    /// Counters of streams that are gone.
    census: Census,
    numbers: Vec<StreamCountAt>,
    gone: Vec<StreamOutcome>,
    /// Out-of-order bytes at the receiver: now, since when, integral over time (byte seconds), maximum.
    held: u64,
    held_since: Time,
    held_integral: f64,
    held_most: u64,
    buffered_most: u64,
    out: Output,
}

/// The surroundings of a session.
struct World<'a, 'b> {
    flows: &'a mut Flows,
    streams: &'a mut BTreeMap<u32, (u32, u32)>,
    net: &'a mut Net<'b>,
    traffic: u32,
    session: u32,
    port: u16,
    tcp: tcp::Config,
}

impl Striped {
    pub fn new(spec: &StripeSpec, pairs: &[(u32, u32)], first: u32) -> Self {
        let session =
            |(k, (from, to)): (usize, &(u32, u32))| Session::new(spec, FlowIndex(first + k as u32), *from, *to);
        Self { sessions: pairs.iter().enumerate().map(session).collect(), streams: BTreeMap::new() }
    }

    /// Results of all sessions together.
    pub fn outcome(&self, now: Time) -> StripeOutcome {
        let mut outcome = StripeOutcome::default();
        for session in &self.sessions {
            session.add_to(now, &mut outcome);
        }
        outcome
    }
}

/// Calls `act` with a session of the traffic and its surroundings, and then sets the session's timer.
fn with<'b>(
    state: &mut State,
    flows: &mut Flows,
    net: &mut Net<'b>,
    session: u32,
    act: impl FnOnce(&mut Session, &mut World<'_, 'b>),
) {
    let (traffic, port, tcp) = (state.number, state.port(), state.spec.tcp);
    let Kind::Striped(striped) = &mut state.kind else { return };
    let Some(one) = striped.sessions.get_mut(session as usize) else { return };
    let mut world = World { flows, streams: &mut striped.streams, net, traffic, session, port, tcp };
    act(one, &mut world);
    one.arm(&mut world);
}

/// Session and stream of a flow.
fn place(state: &State, index: FlowIndex) -> Option<(u32, u32)> {
    let Kind::Striped(striped) = &state.kind else { return None };
    striped.streams.get(&index.0).copied()
}

/// A session begins.
pub(super) fn begin(state: &mut State, flows: &mut Flows, index: FlowIndex, net: &mut Net) {
    state.begun += 1;
    if let Some(flow) = flows.get_mut(index) {
        flow.began = net.now;
    }
    let session = index.0 - state.first;
    with(state, flows, net, session, |session, world| session.begin(world));
}

/// A stream is connected.
pub(super) fn on_connected(state: &mut State, flows: &mut Flows, index: FlowIndex, net: &mut Net) {
    let Some((session, stream)) = place(state, index) else { return };
    with(state, flows, net, session, |session, world| session.on_connected(stream, world));
}

/// A frame has arrived.
pub(super) fn on_delivered(state: &mut State, flows: &mut Flows, index: FlowIndex, end: End, net: &mut Net) {
    let Some((number, stream)) = place(state, index) else { return };
    let mut complete = None;
    with(state, flows, net, number, |session, world| complete = session.on_delivered(stream, side(end), world));
    if let Some((began, bytes)) = complete {
        state.complete(net.now, began, Some((bytes, None)));
    }
}

/// A frame is acknowledged by TCP: its stream has room.
pub(super) fn on_acknowledged(state: &mut State, flows: &mut Flows, index: FlowIndex, end: End, net: &mut Net) {
    let Some((session, stream)) = place(state, index) else { return };
    with(state, flows, net, session, |session, world| {
        session.refresh(stream, side(end), world);
        if end == End::Client {
            session.couple(world);
        }
        session.pump(side(end), world);
    });
}

/// The client has closed a stream: the server's end follows, and says no more on it.
pub(super) fn on_closed(state: &mut State, flows: &mut Flows, index: FlowIndex, net: &mut Net) {
    let Some((session, stream)) = place(state, index) else { return };
    with(state, flows, net, session, |session, world| {
        let Side { connection, streams } = &mut session.sides[1];
        if streams.remove(StreamId(stream)) {
            connection.on_stream_lost(world.net.now, StreamId(stream));
            session.pump(1, world);
        }
    });
}

/// A stream is dead, or gone.
pub(super) fn on_lost(state: &mut State, flows: &mut Flows, index: FlowIndex, gone: bool, net: &mut Net) {
    let Some((session, stream)) = place(state, index) else { return };
    with(state, flows, net, session, |session, world| session.on_lost(stream, gone, world));
    if gone {
        flows.remove(index);
        if let Kind::Striped(striped) = &mut state.kind {
            striped.streams.remove(&index.0);
        }
    }
}

/// The timer of a session.
pub(super) fn on_timer(state: &mut State, flows: &mut Flows, session: u32, net: &mut Net) {
    with(state, flows, net, session, Session::on_timer);
}

fn side(end: End) -> usize {
    usize::from(end == End::Server)
}
