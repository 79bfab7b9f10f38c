//! Sessions that begin by a Poisson process at each of some nodes.

use super::state::{Kind, State, exponential};
use super::{FLOW_START, FlowIndex, Flows, Net, Passing, PassingSessions, SESSION, TrafficKind, TrafficSpec};
use des::{EventQueue, RandomStream};
use std::collections::VecDeque;
use transport::Handle;
use units::{Bytes, Time};

/// A node that begins sessions.
#[derive(Debug)]
struct Source {
    node: u32,
    /// Its position among the receivers, if it is one: it sends nothing to itself.
    own: Option<u32>,
    /// Its first persistent connection, counted from the traffic's first.
    first: u32,
}

impl Source {
    /// The receiver of this number, itself left out.
    fn target(&self, targets: &[u32], number: u32) -> u32 {
        let past_itself = self.own.is_some_and(|own| own <= number);
        targets[(number + u32::from(past_itself)) as usize]
    }
    fn targets(&self, targets: &[u32]) -> u32 {
        targets.len() as u32 - u32::from(self.own.is_some())
    }
}

/// Sources, and sessions in progress.
#[derive(Debug)]
pub(super) struct Sessions {
    sources: Vec<Source>,
    targets: Vec<u32>,
    /// Start and size of the sessions in progress on each persistent connection, in order; empty where each session has
    /// its own connection.
    queued: Vec<VecDeque<(Time, Bytes)>>,
    /// The traffic's first flow.
    first: u32,
    /// Sessions begun that are neither complete nor lost.
    open: u64,
    /// Sources that still begin sessions.
    active: u32,
}

impl Sessions {
    pub fn new(spec: &TrafficSpec, persistent: bool) -> Self {
        let (mut sources, mut connections) = (Vec::new(), 0);
        for node in &spec.from {
            let own = spec.to.iter().position(|to| to == node).map(|at| at as u32);
            let source = Source { node: *node, own, first: connections };
            let targets = source.targets(&spec.to);
            if targets > 0 {
                connections += if persistent { targets } else { 0 };
                sources.push(source);
            }
        }
        let queued = vec![VecDeque::new(); connections as usize];
        let active = sources.len() as u32;
        Self { sources, targets: spec.to.clone(), queued, first: 0, open: 0, active }
    }

    /// The ends of the persistent connections.
    pub fn connections(&self) -> Vec<(u32, u32)> {
        if self.queued.is_empty() {
            return Vec::new();
        }
        let of = |source: &Source| -> Vec<_> {
            let targets = 0..source.targets(&self.targets);
            targets.map(|number| (source.node, source.target(&self.targets, number))).collect()
        };
        self.sources.iter().flat_map(of).collect()
    }

    /// Schedules each source's first session and persistent connections.
    pub fn release(
        &mut self,
        spec: &TrafficSpec,
        start: Time,
        (number, first): (u32, u32),
        random: &mut RandomStream,
        events: &mut EventQueue,
    ) {
        let TrafficKind::Poisson { interval, .. } = spec.kind else { return };
        let stop = spec.stop.map(|stop| start.saturating_add(stop).saturating_sub(spec.start));
        self.first = first;
        for (k, source) in self.sources.iter().enumerate() {
            let start = start + spec.jitter.mul_f64(random.uniform());
            if !self.queued.is_empty() {
                for connection in 0..source.targets(&self.targets) {
                    events.push(start, FLOW_START, first + source.first + connection, 0);
                }
            }
            let begin = start + exponential(random, interval);
            if stop.is_none_or(|stop| begin < stop) {
                events.push(begin, SESSION, number, k as u32);
            } else {
                self.active -= 1;
            }
        }
    }

    /// A persistent connection is gone. Returns the number of sessions lost with it.
    pub fn lose(&mut self, flow: FlowIndex) -> u64 {
        let queue = self.queued.get_mut((flow.0 - self.first) as usize);
        let lost = queue.map_or(0, |queue| std::mem::take(queue).len() as u64);
        self.open -= lost;
        lost
    }
    /// The connection of a session is gone. Returns the number of sessions lost with it: 0 if it had `finished`, else
    /// 1.
    pub fn lose_passing(&mut self, finished: bool) -> u64 {
        let lost = u64::from(!finished);
        self.open -= lost;
        lost
    }

    pub fn are_over(&self) -> bool {
        self.active == 0 && self.open == 0
    }
}

/// Begins a session of a source, and schedules the next one.
pub(super) fn begin(state: &mut State, flows: &Flows, passing: &mut PassingSessions, number: u32, net: &mut Net) {
    let TrafficKind::Poisson { interval, .. } = state.spec.kind else { return };
    let more = state.schedule(interval, number, net.now, net.events);
    state.begin(net.now);
    state.begun += 1;
    let TrafficKind::Poisson { sizes, .. } = &state.spec.kind else { return };
    let bytes = sizes.draw(&mut state.random);
    let Kind::Sessions(sessions) = &mut state.kind else { return };
    sessions.active -= u32::from(!more);
    let source = &sessions.sources[number as usize];
    let targets = source.targets(&sessions.targets);
    let target = if targets > 1 { state.random.below(targets.into()) as u32 } else { 0 };
    if !sessions.queued.is_empty() {
        let connection = source.first + target;
        let handle = flows.get(FlowIndex(sessions.first + connection)).and_then(|flow| flow.handle);
        if let Some(handle) = handle {
            sessions.open += 1;
            sessions.queued[connection as usize].push_back((net.now, bytes));
            net.send(handle, transport::End::Client, bytes, 0);
        } else {
            state.failed += 1;
        }
        return;
    }
    sessions.open += 1;
    let (from, to) = (source.node, source.target(&sessions.targets, target));
    let index = passing.insert_with(|index| {
        let handle = net.transport.open(net.now, &state.open_passing(index, from, to), net.events);
        Passing { traffic: state.number, finished: false, handle, bytes }
    });
    if let Some(session) = passing.get(index) {
        net.send_all(session.handle, bytes);
    }
}

/// All bytes of a session on a persistent connection have arrived.
pub(super) fn on_delivered(state: &mut State, index: FlowIndex, handle: Handle, net: &Net) {
    let Kind::Sessions(sessions) = &mut state.kind else { return };
    let queue = sessions.queued.get_mut((index.0 - sessions.first) as usize);
    let (began, bytes) = queue.and_then(VecDeque::pop_front).unwrap_or((net.now, Bytes::ZERO));
    sessions.open -= 1;
    let ideal = net.ideal(handle, &state.spec, bytes, false);
    state.complete(net.now, began, Some((bytes, ideal)));
}

/// All bytes of a passing session have arrived.
pub(super) fn complete(state: &mut State, session: &mut Passing, handle: Handle, net: &Net) {
    let Kind::Sessions(sessions) = &mut state.kind else { return };
    sessions.open -= 1;
    session.finished = true;
    let ideal = net.ideal(handle, &state.spec, session.bytes, true);
    // It began with its connection.
    let began = net.transport.opened(handle).unwrap_or(net.now);
    state.complete(net.now, began, Some((session.bytes, ideal)));
}
