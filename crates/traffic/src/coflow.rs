//! Coflows: flows that belong together (Chowdhury and Stoica, HotNets 2012). A coflow is complete when the last of its
//! flows is.
//!
//! Its flows exist from its arrival until their connections are gone, so that a long list costs little.

use super::state::{Kind, State};
use super::{Flow, FlowIndex, Flows, Net, TrafficKind};
use results::CoflowOutcome;
use units::{Bytes, Time};

/// A coflow of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoflowSpec {
    /// Its name in results.
    pub name: String,
    /// When it arrives, after the traffic's start.
    pub start: Time,
    /// The senders. What a sender has for itself does not cross the network.
    pub from: Vec<u32>,
    /// The receivers, and what each receives: the same part from each sender.
    pub to: Vec<(u32, Bytes)>,
    /// What its busiest link to a node needs for its bytes; zero where that is not known.
    pub least: Time,
}

impl CoflowSpec {
    /// Its flows over the network: sender, receiver, payload.
    pub fn flows(&self) -> impl Iterator<Item = (u32, u32, Bytes)> {
        let senders = self.from.len() as u64;
        self.to.iter().flat_map(move |&(to, bytes)| {
            let end = move |k: u64| Bytes::new(units::scaled(bytes.get(), k, senders.max(1)));
            let parts = (0_u64..).zip(&self.from).map(move |(k, &from)| (from, to, end(k + 1) - end(k)));
            parts.filter(|(from, to, bytes)| from != to && *bytes > Bytes::ZERO)
        })
    }
}

/// A sum, or the greatest size: a coflow may have more bytes on paper than any run can carry.
const fn plus(a: Bytes, b: Bytes) -> Bytes {
    Bytes::new(a.get().saturating_add(b.get()))
}

/// The coflows of a traffic.
#[derive(Debug)]
pub(super) struct Coflows(Vec<Coflow>);

#[derive(Clone, Debug, Default)]
struct Coflow {
    began: Option<Time>,
    finished: Option<Time>,
    /// Flows begun, and those that are neither complete nor lost.
    flows: u64,
    open: u64,
    bytes: Bytes,
    /// One of its flows is lost: it will never be complete.
    lost: bool,
}

impl Coflows {
    pub fn new(count: usize) -> Self {
        Self(vec![Coflow::default(); count])
    }
    pub fn count(&self) -> u64 {
        self.0.len() as u64
    }
}

/// A coflow arrives: its flows begin.
pub(super) fn begin(state: &mut State, flows: &mut Flows, number: u32, net: &mut Net) {
    let (Kind::Coflows(_), TrafficKind::Coflows(specs)) = (&state.kind, &state.spec.kind) else { return };
    let Some(spec) = specs.get(number as usize).cloned() else { return };
    if state.stops_at().is_some_and(|stop| net.now >= stop) {
        state.failed += 1;
        return;
    }
    state.begin(net.now);
    state.begun += 1;
    let mut coflow = Coflow { began: Some(net.now), ..Coflow::default() };
    for (from, to, bytes) in spec.flows() {
        coflow.flows += 1;
        coflow.bytes = plus(coflow.bytes, bytes);
        let index = flows.insert(Flow { group: number, ..Flow::new(state.number, from, to, bytes) });
        if let Some(flow) = flows.get_mut(index) {
            let handle = net.open(index, flow, state);
            net.send_all(handle, bytes);
        }
    }
    coflow.open = coflow.flows;
    let Kind::Coflows(coflows) = &mut state.kind else { return };
    coflows.0[number as usize] = coflow;
    end_if_over(state, number, net.now);
}

/// All bytes of a flow have arrived.
pub(super) fn on_delivered(state: &mut State, flows: &mut Flows, index: FlowIndex, now: Time) {
    let Some(flow) = flows.get_mut(index) else { return };
    flow.finished = Some(now);
    let number = flow.group;
    let Kind::Coflows(coflows) = &mut state.kind else { return };
    coflows.0[number as usize].open -= 1;
    end_if_over(state, number, now);
}

/// The connection of a flow is gone, and the flow with it. `warmed`: the warm-up is over.
pub(super) fn on_gone(state: &mut State, flows: &mut Flows, index: FlowIndex, bytes: u64, warmed: bool) {
    let Some(flow) = flows.remove(index) else { return };
    state.received += bytes;
    state.received_cold += if warmed { flow.received_cold } else { bytes };
    if flow.finished.is_some() {
        return;
    }
    let Kind::Coflows(coflows) = &mut state.kind else { return };
    if !std::mem::replace(&mut coflows.0[flow.group as usize].lost, true) {
        state.failed += 1;
    }
}

/// The last flow of a coflow may have been complete just now.
fn end_if_over(state: &mut State, number: u32, now: Time) {
    let (Kind::Coflows(coflows), TrafficKind::Coflows(specs)) = (&mut state.kind, &state.spec.kind) else { return };
    let coflow = &mut coflows.0[number as usize];
    if coflow.open > 0 || coflow.lost {
        return;
    }
    coflow.finished = Some(now);
    let (began, bytes, least) = (coflow.began.unwrap_or(now), coflow.bytes, specs[number as usize].least);
    state.complete(now, began, Some((bytes, Some(least))));
}

/// What became of each coflow.
pub(super) fn outcomes(state: &State) -> Vec<CoflowOutcome> {
    let (Kind::Coflows(coflows), TrafficKind::Coflows(specs)) = (&state.kind, &state.spec.kind) else {
        return Vec::new();
    };
    let of = |(coflow, spec): (&Coflow, &CoflowSpec)| CoflowOutcome {
        name: spec.name.clone(),
        start: coflow.began,
        finish: coflow.finished,
        senders: units::count(spec.from.len()),
        receivers: units::count(spec.to.len()),
        flows: coflow.flows,
        bytes: coflow.bytes,
        least: spec.least,
    };
    coflows.0.iter().zip(specs).map(of).collect()
}
