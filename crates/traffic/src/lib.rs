//! Plain traffic: flows without Hadoop, alone or beside a job.
//!
//! Each `[[traffic]]` has a `State`: the part that all kinds share, and inside it the state of its own kind. Each kind
//! has a file with its handlers: a connection is ready, a message has arrived, a connection is gone.

mod aggregate;
mod barrier;
mod coflow;
mod ideal;
mod outcome;
mod ping_pong;
mod sessions;
mod sizes;
mod spec;
mod state;
mod stripe;

pub use coflow::CoflowSpec;
pub use outcome::TrafficLook;
pub use sizes::{Cdf, Pareto, Sizes, SizesError};
pub use spec::{Exchange, FlowSpec, TrafficKind, TrafficSpec, netpipe_sizes};
pub use stripe::{StreamNumber, StripeSpec};

use des::{Event, EventQueue, Slab, define_index};
use results::TrafficOutcome;
use state::{Kind, State};
use std::collections::BTreeMap;
use tcp::Endpoint;
use transport::{End, Handle, Happened, Message, Tag, Transport, Upcall};
use units::{Bytes, Time};

/// Event kind: a flow begins.
pub const FLOW_START: u8 = 3;
/// Event kind: a Poisson process begins a session of a node, or a query of an aggregator; a coflow arrives; or a
/// round begins, or a sender's part of it.
pub const SESSION: u8 = 4;

/// A stream longer than any run can send.
const ENDLESS: Bytes = Bytes::new(1 << 60);

/// Port at which the first traffic's receivers accept; the next ones take the following ports.
pub const FIRST_PORT: u16 = 5_001;

define_index! {
    /// A flow of plain traffic: a connection to come, open, or done.
    FlowIndex
}

type Flows = Slab<FlowIndex, Flow>;

define_index! {
    /// A session on a connection of its own.
    PassingIndex
}

type PassingSessions = Slab<PassingIndex, Passing>;

/// A session of a Poisson source on a connection of its own. It is removed with the connection. It is small, as
/// millions may be open.
#[derive(Debug)]
struct Passing {
    traffic: u32,
    finished: bool,
    handle: Handle,
    bytes: Bytes,
}

const _: () = assert!(size_of::<Option<Passing>>() <= 24);

/// The bit of a connection's user number that marks a passing session.
const PASSING: u32 = 1 << 31;

#[derive(Debug)]
struct Flow {
    traffic: u32,
    from: u32,
    to: u32,
    handle: Option<Handle>,
    /// Bytes to send; zero for a connection that carries messages.
    bytes: Bytes,
    /// Start of the flow, or of its request.
    began: Time,
    finished: Option<Time>,
    /// Bytes received in order by the end of the connection.
    received: u64,
    /// Bytes received in order during the warm-up.
    received_cold: u64,
    rounds: u32,
    /// The coflow that it is part of.
    group: u32,
}

/// The surroundings of a traffic: the transport, events, and the present time.
struct Net<'a> {
    now: Time,
    transport: &'a mut Transport,
    events: &'a mut EventQueue,
}

impl Net<'_> {
    /// An end of a connection, where TCP is modelled.
    fn endpoint(&self, handle: Handle, end: End) -> Option<&Endpoint> {
        self.transport.packets()?.endpoint(handle, end)
    }
    fn send(&mut self, handle: Handle, end: End, bytes: Bytes, tag: u64) {
        self.transport.send(self.now, handle, end, Message::new(bytes, Tag(tag)), self.events);
    }
    fn close(&mut self, handle: Handle, end: End) {
        self.transport.close(self.now, handle, end, self.events);
    }
    /// Opens a flow's connection.
    fn open(&mut self, index: FlowIndex, flow: &mut Flow, state: &State) -> Handle {
        let handle = self.transport.open(self.now, &state.open(index, flow), self.events);
        flow.handle = Some(handle);
        flow.began = self.now;
        handle
    }
    /// Sends a flow's bytes and closes its stream.
    fn send_all(&mut self, handle: Handle, bytes: Bytes) {
        self.send(handle, End::Client, bytes, 0);
        if bytes < ENDLESS {
            self.close(handle, End::Client);
        }
    }
}

/// All plain traffic of a run.
#[derive(Debug, Default)]
pub struct Traffic {
    states: Vec<State>,
    flows: Flows,
    passing: PassingSessions,
    /// Bytes received during the warm-up by passing sessions that were open at its end.
    passing_cold: BTreeMap<u32, u64>,
    warm_up: Time,
    warmed: bool,
}

impl Traffic {
    /// Prepares traffic and pushes its first events. Figures named "warm" count from `warm_up`.
    pub fn new(specs: &[TrafficSpec], warm_up: Time, seed: u64, events: &mut EventQueue) -> Self {
        let mut traffic = Self { warm_up, ..Self::default() };
        for (number, spec) in specs.iter().enumerate() {
            traffic.states.push(State::new(number as u32, spec, seed, &mut traffic.flows));
        }
        for (number, spec) in specs.iter().enumerate() {
            match spec.after.map(|after| after as usize) {
                Some(after) => {
                    if let Some(state) = traffic.states.get_mut(after) {
                        state.followers.push(number as u32);
                    }
                }
                None => traffic.states[number].release(Time::ZERO, events),
            }
        }
        // A traffic without any flow has ended already; its followers begin.
        for number in 0..traffic.states.len() {
            traffic.note_end(number, Time::ZERO, events);
        }
        traffic
    }

    /// Whether all bounded traffic is done; unbounded traffic never is.
    pub fn is_finished(&self) -> bool {
        self.states.iter().all(State::is_finished)
    }

    /// Starts the followers of a traffic that has ended.
    fn note_end(&mut self, number: usize, now: Time, events: &mut EventQueue) {
        let mut ended = vec![number];
        while let Some(number) = ended.pop() {
            let Some(state) = self.states.get_mut(number).filter(|state| !state.ended && state.is_finished()) else {
                continue;
            };
            state.ended = true;
            for follower in std::mem::take(&mut state.followers) {
                self.states[follower as usize].release(now, events);
                ended.push(follower as usize);
            }
        }
    }

    // === Events ===

    /// Handles [`FLOW_START`].
    pub fn on_flow_start(&mut self, event: &Event, transport: &mut Transport, events: &mut EventQueue) {
        let now = event.time();
        let index = FlowIndex(event.index);
        let Some(flow) = self.flows.get_mut(index) else { return };
        let number = flow.traffic as usize;
        let state = &mut self.states[number];
        if state.stops_at().is_some_and(|stop| now >= stop) {
            state.failed += 1;
            aggregate::one_less(state, &mut Net { now, transport, events });
            self.note_end(number, now, events);
            return;
        }
        state.begin(now);
        let mut net = Net { now, transport, events };
        if let Kind::Striped(_) = state.kind {
            stripe::begin(state, &mut self.flows, index, &mut net);
            return;
        }
        let handle = net.open(index, flow, state);
        if flow.bytes > Bytes::ZERO {
            state.begun += 1;
            net.send_all(handle, flow.bytes);
        }
    }

    /// Handles [`SESSION`].
    pub fn on_session(&mut self, event: &Event, transport: &mut Transport, events: &mut EventQueue) {
        let now = event.time();
        let number = event.index as usize;
        let Some(state) = self.states.get_mut(number) else { return };
        let mut net = Net { now, transport, events };
        match state.kind {
            Kind::Sessions(_) => sessions::begin(state, &self.flows, &mut self.passing, event.arg, &mut net),
            Kind::Aggregate(_) => aggregate::ask(state, &self.flows, event.arg, &mut net),
            Kind::Striped(_) => stripe::on_timer(state, &mut self.flows, event.arg, &mut net),
            Kind::Coflows(_) => coflow::begin(state, &mut self.flows, event.arg, &mut net),
            Kind::Barrier(_) => barrier::on_timer(state, &self.flows, event.arg, &mut net),
            _ => {}
        }
        self.note_end(number, now, events);
    }

    /// Something happened to a connection of this traffic.
    pub fn on_upcall(&mut self, now: Time, upcall: &Upcall, transport: &mut Transport, events: &mut EventQueue) {
        if upcall.user & PASSING != 0 {
            return self.on_passing(now, upcall, transport, events);
        }
        let index = FlowIndex(upcall.user);
        let Some(flow) = self.flows.get(index) else { return };
        let number = flow.traffic as usize;
        let state = &mut self.states[number];
        let mut net = Net { now, transport, events };
        match upcall.what {
            Happened::Connected => match state.kind {
                Kind::Barrier(_) => barrier::on_connected(state, &self.flows, &mut net),
                Kind::PingPong(_) => ping_pong::on_connected(state, &mut self.flows, index, &mut net),
                Kind::Aggregate(_) => aggregate::on_connected(state, index, &mut net),
                Kind::Striped(_) => stripe::on_connected(state, &mut self.flows, index, &mut net),
                Kind::Flows | Kind::Sessions(_) | Kind::Coflows(_) => {}
            },
            Happened::Delivered(end, tag) => match state.kind {
                Kind::Flows => {
                    if let Some(flow) = self.flows.get_mut(index) {
                        flow.finished = Some(now);
                        let ideal = net.ideal(upcall.handle, &state.spec, flow.bytes, true);
                        state.complete(now, flow.began, Some((flow.bytes, ideal)));
                    }
                }
                Kind::Sessions(_) => sessions::on_delivered(state, index, upcall.handle, &net),
                Kind::Coflows(_) => coflow::on_delivered(state, &mut self.flows, index, now),
                Kind::Barrier(_) => barrier::on_delivered(state, &mut self.flows, index, end, &mut net),
                Kind::PingPong(_) => ping_pong::on_delivered(state, &mut self.flows, index, end, &mut net),
                Kind::Aggregate(_) => aggregate::on_delivered(state, &mut self.flows, index, (end, tag.0), &mut net),
                Kind::Striped(_) => stripe::on_delivered(state, &mut self.flows, index, end, &mut net),
            },
            Happened::PeerClosed(End::Server) => {
                stripe::on_closed(state, &mut self.flows, index, &mut net);
                net.close(upcall.handle, End::Server);
            }
            Happened::Acknowledged(end, _) => stripe::on_acknowledged(state, &mut self.flows, index, end, &mut net),
            Happened::Reset(_) => stripe::on_lost(state, &mut self.flows, index, false, &mut net),
            Happened::Gone { bytes, bytes_back } => self.on_gone(index, (bytes, bytes_back), &mut net),
            Happened::PeerClosed(End::Client) => {}
        }
        self.note_end(number, now, events);
    }

    fn on_gone(&mut self, index: FlowIndex, (bytes, bytes_back): (u64, u64), net: &mut Net) {
        let Some(flow) = self.flows.get_mut(index) else { return };
        let state = &mut self.states[flow.traffic as usize];
        if let Kind::Striped(_) = state.kind {
            return stripe::on_lost(state, &mut self.flows, index, true, net);
        }
        if let Kind::Coflows(_) = state.kind {
            return coflow::on_gone(state, &mut self.flows, index, bytes, self.warmed);
        }
        flow.handle = None;
        flow.received = if state.counts_answers() { bytes_back } else { bytes };
        let finished = flow.finished.is_some();
        match &mut state.kind {
            Kind::Sessions(sessions) => state.failed += sessions.lose(index),
            Kind::Aggregate(_) => aggregate::on_gone(state, index, net),
            _ => state.failed += u64::from(!finished),
        }
    }

    /// Something happened to the connection of a passing session.
    fn on_passing(&mut self, now: Time, upcall: &Upcall, transport: &mut Transport, events: &mut EventQueue) {
        let index = PassingIndex(upcall.user & !PASSING);
        let Some(session) = self.passing.get_mut(index) else { return };
        let number = session.traffic as usize;
        let state = &mut self.states[number];
        let mut net = Net { now, transport, events };
        match upcall.what {
            Happened::Delivered(..) => sessions::complete(state, session, upcall.handle, &net),
            Happened::PeerClosed(End::Server) => net.close(upcall.handle, End::Server),
            Happened::Gone { bytes, .. } => {
                if let Kind::Sessions(sessions) = &mut state.kind {
                    state.failed += sessions.lose_passing(session.finished);
                }
                let cold = self.passing_cold.remove(&index.0);
                state.received += bytes;
                state.received_cold += if self.warmed { cold.unwrap_or(0) } else { bytes };
                self.passing.remove(index);
            }
            _ => {}
        }
        self.note_end(number, now, events);
    }

    /// The warm-up is over: what is received from now on counts as warm.
    pub fn on_warm(&mut self, transport: &Transport) {
        self.warmed = true;
        let indices: Vec<_> = self.flows.iter().map(|(index, _)| index).collect();
        for index in indices {
            if let Some(flow) = self.flows.get_mut(index) {
                flow.received_cold = received(flow, &self.states[flow.traffic as usize], transport);
            }
        }
        for (index, session) in self.passing.iter() {
            self.passing_cold.insert(index.0, session.received(transport));
        }
    }

    /// Results of each traffic, at the end of a run.
    pub fn outcomes(&self, now: Time, transport: &Transport) -> Vec<TrafficOutcome> {
        self.states.iter().map(|state| self.outcome(state, now, transport)).collect()
    }
}

impl Net<'_> {
    /// Ideal completion time of a flow of `bytes`; `None` without a path.
    fn ideal(&self, handle: Handle, spec: &TrafficSpec, bytes: Bytes, handshake: bool) -> Option<Time> {
        ideal::completion(self.transport.packets()?, handle, &spec.tcp, bytes, handshake)
    }
}

impl Passing {
    /// Payload that has arrived so far.
    fn received(&self, transport: &Transport) -> u64 {
        transport.received(self.handle, End::Server).unwrap_or(0)
    }
}

/// Payload that has arrived so far of what a flow is for.
fn received(flow: &Flow, state: &State, transport: &Transport) -> u64 {
    let end = if state.counts_answers() { End::Client } else { End::Server };
    flow.handle.and_then(|handle| transport.received(handle, end)).unwrap_or(flow.received)
}
