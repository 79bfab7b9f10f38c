//! Plain traffic: flows without Hadoop, alone or beside a job.

mod outcome;
mod spec;

pub use spec::{Exchange, FlowSpec, TrafficKind, TrafficSpec, netpipe_sizes};

use crate::results::TrafficOutcome;
use crate::transport::{Handle, Happened, Message, Open, Owner, Transport, Upcall};
use des::{Event, EventQueue, Histogram, RandomStream, Slab, define_index};
use hadoop::{End, Tag};
use std::collections::VecDeque;
use units::{Bytes, Time};

/// Event kind: a flow begins.
pub const FLOW_START: u8 = 3;
/// Event kind: a Poisson source begins a session.
pub const SESSION: u8 = 4;

/// A stream longer than any run can send.
const ENDLESS: Bytes = Bytes::new(1 << 60);

/// Port at which the first traffic's receivers accept; the next ones take the following ports.
pub const FIRST_PORT: u16 = 5_001;

define_index! {
    /// A flow of plain traffic: a connection to come, open, or done.
    FlowIndex
}

#[derive(Debug)]
struct Flow {
    traffic: u32,
    from: u32,
    to: u32,
    handle: Option<Handle>,
    /// What it sends in one go; zero for a source of sessions.
    bytes: Bytes,
    /// When it, or its request, began.
    began: Time,
    finished: Option<Time>,
    /// Bytes at the receiver when its connection was gone.
    received: u64,
    /// Of these, before the warm-up was over.
    received_cold: u64,
    rounds: u32,
    /// Beginnings of the sessions on their way (persistent Poisson sources).
    sessions: VecDeque<Time>,
    /// It is one session of a Poisson source, forgotten when it is gone.
    passing: bool,
}

/// How long the rounds of one exchange took.
#[derive(Clone, Copy, Debug)]
struct RoundTrips {
    count: u64,
    /// In picoseconds.
    sum: u128,
    least: Time,
    most: Time,
}

/// A traffic at run time.
#[derive(Debug)]
struct State {
    spec: TrafficSpec,
    random: RandomStream,
    /// Flows that exist from the beginning.
    first: u32,
    count: u32,
    begun: u64,
    completed: u64,
    failed: u64,
    rounds: u64,
    /// Of the round under way: who is still to be connected, or to have its bytes in.
    waiting: u32,
    round_began: Time,
    began: Option<Time>,
    last: Option<Time>,
    completions: Histogram,
    /// Round trips of each exchange (ping-pong).
    exchanges: Vec<RoundTrips>,
    /// Bytes received by sessions that are forgotten.
    received: u64,
    received_cold: u64,
}

/// All plain traffic of a run.
#[derive(Debug, Default)]
pub struct Traffic {
    states: Vec<State>,
    flows: Slab<FlowIndex, Flow>,
    warm_up: Time,
    warmed: bool,
}

impl Traffic {
    /// Prepares traffic; its first events go into the queue. Figures called warm begin at `warm_up`.
    pub fn new(specs: &[TrafficSpec], warm_up: Time, seed: u64, events: &mut EventQueue) -> Self {
        let mut traffic = Self { warm_up, ..Self::default() };
        for (number, spec) in specs.iter().enumerate() {
            traffic.add(number as u32, spec, seed, events);
        }
        traffic
    }

    fn add(&mut self, number: u32, spec: &TrafficSpec, seed: u64, events: &mut EventQueue) {
        let mut random = RandomStream::new(seed, "traffic", u64::from(number));
        let pairs = spec.pairs();
        let first = self.flows.len() as u32;
        for (k, (from, to)) in pairs.iter().enumerate() {
            let (start, bytes) = match &spec.kind {
                TrafficKind::Flows(flows) => (spec.start + flows[k].start, flows[k].bytes),
                TrafficKind::Long { bytes, .. } => (spec.start, bytes.unwrap_or(ENDLESS)),
                TrafficKind::AllToAll { bytes } => (spec.start, *bytes),
                _ => (spec.start, Bytes::ZERO),
            };
            let start = start + spec.jitter.mul_f64(random.uniform());
            let flow = self.flows.insert(Flow::new(number, *from, *to, bytes));
            match spec.kind {
                TrafficKind::Poisson { interval, persistent: false, .. } => {
                    events.push(start + exponential(&mut random, interval), SESSION, flow.0, 0);
                }
                TrafficKind::Poisson { interval, persistent: true, .. } => {
                    events.push(start, FLOW_START, flow.0, 0);
                    events.push(start + exponential(&mut random, interval), SESSION, flow.0, 0);
                }
                _ => events.push(start, FLOW_START, flow.0, 0),
            }
        }
        self.states.push(State {
            spec: spec.clone(),
            random,
            first,
            count: pairs.len() as u32,
            begun: 0,
            completed: 0,
            failed: 0,
            rounds: 0,
            waiting: pairs.len() as u32,
            round_began: spec.start,
            began: None,
            last: None,
            completions: Histogram::new(),
            exchanges: match &spec.kind {
                TrafficKind::PingPong { exchanges, .. } => vec![RoundTrips::default(); exchanges.len()],
                _ => Vec::new(),
            },
            received: 0,
            received_cold: 0,
        });
    }

    /// Whether all that has an end is done; traffic without end never is.
    pub fn is_finished(&self) -> bool {
        self.states.iter().all(State::is_finished)
    }

    // === Events ===

    /// Handles [`FLOW_START`].
    pub fn on_flow_start(&mut self, event: &Event, transport: &mut Transport, events: &mut EventQueue) {
        let now = event.time();
        let Some(flow) = self.flows.get_mut(FlowIndex(event.index)) else { return };
        let state = &mut self.states[flow.traffic as usize];
        if state.spec.stop.is_some_and(|stop| now >= stop) {
            state.failed += 1;
            return;
        }
        state.begin(now);
        flow.began = now;
        let handle = transport.open(now, &flow.open(event.index, &state.spec), events);
        flow.handle = Some(handle);
        if flow.bytes > Bytes::ZERO {
            state.begun += 1;
            transport.send(now, handle, End::Client, Message::new(flow.bytes, Tag(0)), events);
            if flow.bytes < ENDLESS {
                transport.close(now, handle, End::Client, events);
            }
        }
    }

    /// Handles [`SESSION`].
    pub fn on_session(&mut self, event: &Event, transport: &mut Transport, events: &mut EventQueue) {
        let now = event.time();
        let Some(source) = self.flows.get_mut(FlowIndex(event.index)) else { return };
        let state = &mut self.states[source.traffic as usize];
        let TrafficKind::Poisson { bytes, interval, persistent } = state.spec.kind else { return };
        if state.spec.stop.is_some_and(|stop| now >= stop) {
            return;
        }
        events.push(now + exponential(&mut state.random, interval), SESSION, event.index, 0);
        state.begin(now);
        state.begun += 1;
        if persistent {
            if let Some(handle) = source.handle {
                source.sessions.push_back(now);
                transport.send(now, handle, End::Client, Message::new(bytes, Tag(0)), events);
            }
            return;
        }
        let mut session = Flow::new(source.traffic, source.from, source.to, bytes);
        session.began = now;
        session.passing = true;
        let index = self.flows.insert(session);
        let Some(session) = self.flows.get_mut(index) else { return };
        let handle = transport.open(now, &session.open(index.0, &state.spec), events);
        session.handle = Some(handle);
        transport.send(now, handle, End::Client, Message::new(bytes, Tag(0)), events);
        transport.close(now, handle, End::Client, events);
    }

    /// Something happened to a connection of this traffic.
    pub fn on_upcall(&mut self, now: Time, upcall: &Upcall, transport: &mut Transport, events: &mut EventQueue) {
        let index = FlowIndex(upcall.user);
        let Some(flow) = self.flows.get_mut(index) else { return };
        let state = &mut self.states[flow.traffic as usize];
        match upcall.what {
            Happened::Connected => match state.spec.kind {
                TrafficKind::Barrier { rounds, .. } => {
                    state.waiting -= 1;
                    if state.waiting == 0 && rounds > 0 {
                        self.begin_round(now, upcall.user, transport, events);
                    }
                }
                TrafficKind::PingPong { .. } => {
                    if let Some(exchange) = state.exchange(flow.rounds) {
                        flow.began = now;
                        state.begun += 1;
                        transport.send(now, upcall.handle, End::Client, Message::new(exchange.request, Tag(0)), events);
                    }
                }
                _ => {}
            },
            Happened::Delivered(end, _) => self.on_delivered(now, upcall, end, transport, events),
            Happened::PeerClosed(End::Server) => transport.close(now, upcall.handle, End::Server, events),
            Happened::Gone { bytes, bytes_back } => {
                flow.handle = None;
                flow.received =
                    if matches!(state.spec.kind, TrafficKind::PingPong { .. }) { bytes_back } else { bytes };
                if flow.finished.is_none() {
                    state.failed += 1;
                }
                if flow.passing {
                    state.received += flow.received;
                    state.received_cold += if self.warmed { flow.received_cold } else { flow.received };
                    self.flows.remove(index);
                }
            }
            Happened::PeerClosed(End::Client) | Happened::Acknowledged(..) | Happened::Reset(_) => {}
        }
    }

    fn on_delivered(
        &mut self,
        now: Time,
        upcall: &Upcall,
        end: End,
        transport: &mut Transport,
        events: &mut EventQueue,
    ) {
        let Some(flow) = self.flows.get_mut(FlowIndex(upcall.user)) else { return };
        let state = &mut self.states[flow.traffic as usize];
        match state.spec.kind {
            TrafficKind::Long { .. } | TrafficKind::AllToAll { .. } | TrafficKind::Flows(_) => {
                flow.finished = Some(now);
                state.complete(now, flow.began);
            }
            TrafficKind::Poisson { persistent, .. } => {
                let began = if persistent { flow.sessions.pop_front() } else { Some(flow.began) };
                flow.finished = Some(now);
                state.complete(now, began.unwrap_or(now));
            }
            TrafficKind::Barrier { bytes, .. } if end == End::Client => {
                transport.send(now, upcall.handle, End::Client, Message::new(bytes, Tag(0)), events);
            }
            TrafficKind::Barrier { rounds, .. } => {
                state.waiting -= 1;
                if state.waiting == 0 {
                    let began = state.round_began;
                    state.rounds += 1;
                    state.complete(now, began);
                    if state.rounds < u64::from(rounds) {
                        self.begin_round(now, upcall.user, transport, events);
                    } else {
                        self.finish_barrier(now, upcall.user, transport, events);
                    }
                }
            }
            TrafficKind::PingPong { .. } if end == End::Server => {
                if let Some(exchange) = state.exchange(flow.rounds) {
                    transport.send(now, upcall.handle, End::Server, Message::new(exchange.answer, Tag(0)), events);
                }
            }
            TrafficKind::PingPong { .. } => {
                state.note_round_trip(flow.rounds, now - flow.began);
                flow.rounds += 1;
                state.rounds += 1;
                state.complete(now, flow.began);
                flow.began = now;
                if let Some(exchange) = state.exchange(flow.rounds) {
                    state.begun += 1;
                    transport.send(now, upcall.handle, End::Client, Message::new(exchange.request, Tag(0)), events);
                } else {
                    flow.finished = Some(now);
                    transport.close(now, upcall.handle, End::Client, events);
                }
            }
        }
    }

    /// The reader of a barrier asks every sender for its part of the next round; without requests they send at once.
    fn begin_round(&mut self, now: Time, flow: u32, transport: &mut Transport, events: &mut EventQueue) {
        for index in self.siblings(flow) {
            let Some(flow) = self.flows.get(FlowIndex(index)) else { continue };
            let state = &mut self.states[flow.traffic as usize];
            if index == state.first {
                state.begun += 1;
                state.round_began = now;
                state.waiting = state.count;
            }
            let TrafficKind::Barrier { request, bytes, .. } = state.spec.kind else { return };
            if let Some(handle) = flow.handle {
                let (end, bytes) = if request > Bytes::ZERO { (End::Server, request) } else { (End::Client, bytes) };
                transport.send(now, handle, end, Message::new(bytes, Tag(0)), events);
            }
        }
    }

    fn finish_barrier(&mut self, now: Time, flow: u32, transport: &mut Transport, events: &mut EventQueue) {
        for index in self.siblings(flow) {
            let Some(flow) = self.flows.get_mut(FlowIndex(index)) else { continue };
            flow.finished = Some(now);
            if let Some(handle) = flow.handle {
                transport.close(now, handle, End::Client, events);
            }
        }
    }

    /// The flows of the same traffic that exist from the beginning.
    fn siblings(&self, flow: u32) -> std::ops::Range<u32> {
        self.flows.get(FlowIndex(flow)).map_or(0..0, |flow| {
            let state = &self.states[flow.traffic as usize];
            state.first..state.first + state.count
        })
    }

    /// The warm-up is over: what is received from now on counts as warm.
    pub fn on_warm(&mut self, transport: &Transport) {
        self.warmed = true;
        let indices: Vec<_> = self.flows.iter().map(|(index, _)| index).collect();
        for index in indices {
            if let Some(flow) = self.flows.get_mut(index) {
                flow.received_cold = received(flow, &self.states[flow.traffic as usize].spec, transport);
            }
        }
    }

    /// What has become of each, at the end of a run.
    pub fn outcomes(&self, now: Time, transport: &Transport) -> Vec<TrafficOutcome> {
        self.states.iter().map(|state| self.outcome(state, now, transport)).collect()
    }
}

/// Payload that has arrived so far of what a flow is for.
fn received(flow: &Flow, spec: &TrafficSpec, transport: &Transport) -> u64 {
    let end = if matches!(spec.kind, TrafficKind::PingPong { .. }) { End::Client } else { End::Server };
    flow.handle.and_then(|handle| transport.received(handle, end)).unwrap_or(flow.received)
}

impl Flow {
    fn new(traffic: u32, from: u32, to: u32, bytes: Bytes) -> Self {
        Self {
            traffic,
            from,
            to,
            handle: None,
            bytes,
            began: Time::ZERO,
            finished: None,
            received: 0,
            received_cold: 0,
            rounds: 0,
            sessions: VecDeque::new(),
            passing: false,
        }
    }

    fn open(&self, user: u32, spec: &TrafficSpec) -> Open {
        Open {
            owner: Owner::Traffic,
            user,
            from: self.from,
            to: self.to,
            port: FIRST_PORT.wrapping_add(self.traffic as u16),
            client: spec.tcp,
            server: spec.tcp,
        }
    }
}

impl Default for RoundTrips {
    fn default() -> Self {
        Self { count: 0, sum: 0, least: Time::MAX, most: Time::ZERO }
    }
}

impl State {
    fn begin(&mut self, now: Time) {
        self.began.get_or_insert(now);
    }
    fn complete(&mut self, now: Time, began: Time) {
        self.completed += 1;
        self.last = Some(now);
        self.completions.record((now - began).as_ps());
    }
    /// What a ping-pong does in a round, counted from 0; none after the last.
    fn exchange(&self, round: u32) -> Option<Exchange> {
        let TrafficKind::PingPong { exchanges, rounds } = &self.spec.kind else { return None };
        exchanges.get((round / rounds) as usize).copied()
    }
    fn note_round_trip(&mut self, round: u32, time: Time) {
        let TrafficKind::PingPong { rounds, .. } = self.spec.kind else { return };
        if let Some(trips) = self.exchanges.get_mut((round / rounds) as usize) {
            trips.count += 1;
            trips.sum += u128::from(time.as_ps());
            trips.least = trips.least.min(time);
            trips.most = trips.most.max(time);
        }
    }
    fn is_finished(&self) -> bool {
        match self.spec.kind {
            TrafficKind::Long { bytes: None, .. } => false,
            TrafficKind::Long { .. } | TrafficKind::AllToAll { .. } | TrafficKind::Flows(_) => {
                self.completed + self.failed >= u64::from(self.count)
            }
            TrafficKind::Barrier { rounds, .. } => {
                self.rounds >= u64::from(rounds) || self.failed > 0 || self.count == 0
            }
            TrafficKind::PingPong { ref exchanges, rounds } => {
                let rounds = u64::from(rounds) * exchanges.len() as u64;
                self.failed >= u64::from(self.count) || self.rounds >= rounds * u64::from(self.count)
            }
            TrafficKind::Poisson { .. } => self.count == 0,
        }
    }
}

fn exponential(random: &mut RandomStream, mean: Time) -> Time {
    Time::from_secs_f64(random.exponential(mean.as_secs_f64()))
}
