//! Barrier-synchronised reads.

use super::state::{Kind, State};
use super::{FlowIndex, Flows, Net, SESSION, TrafficKind};
use transport::End;
use units::{Bytes, Time};

/// In place of a sender: the round as a whole.
const ROUND: u32 = u32::MAX;

/// The round under way.
#[derive(Debug)]
pub(super) struct Barrier {
    /// Senders that are not connected yet, or whose bytes have not all arrived.
    waiting: u32,
    began: Time,
}

impl Barrier {
    pub fn new(senders: u32) -> Self {
        Self { waiting: senders, began: Time::ZERO }
    }
}

/// A sender is connected; with the last one the first round begins.
pub(super) fn on_connected(state: &mut State, flows: &Flows, net: &mut Net) {
    if arrived(state) {
        begin(state, flows, net);
    }
}

/// A request has come to a sender, or a sender's bytes to the reader.
pub(super) fn on_delivered(state: &mut State, flows: &mut Flows, index: FlowIndex, end: End, net: &mut Net) {
    let TrafficKind::Barrier { rounds, pause, .. } = state.spec.kind else { return };
    if end == End::Client {
        answer(state, flows, index, net);
        return;
    }
    if !arrived(state) {
        return;
    }
    let Kind::Barrier(barrier) = &state.kind else { return };
    let began = barrier.began;
    state.rounds += 1;
    state.complete(net.now, began, None);
    if state.rounds < u64::from(rounds) {
        if pause > Time::ZERO {
            net.events.push(net.now.saturating_add(pause), SESSION, state.number, ROUND);
        } else {
            begin(state, flows, net);
        }
        return;
    }
    for index in state.flows() {
        let Some(flow) = flows.get_mut(index) else { continue };
        flow.finished = Some(net.now);
        if let Some(handle) = flow.handle {
            net.close(handle, End::Client);
        }
    }
}

/// One sender less to wait for. Returns whether it was the last.
fn arrived(state: &mut State) -> bool {
    let Kind::Barrier(barrier) = &mut state.kind else { return false };
    barrier.waiting -= 1;
    barrier.waiting == 0
}

/// The reader asks every sender for its part of the next round; without requests they send at once.
fn begin(state: &mut State, flows: &Flows, net: &mut Net) {
    let TrafficKind::Barrier { request, .. } = state.spec.kind else { return };
    if let Kind::Barrier(barrier) = &mut state.kind {
        barrier.waiting = state.count;
        barrier.began = net.now;
    }
    state.begun += 1;
    for index in state.flows() {
        if request == Bytes::ZERO {
            answer(state, flows, index, net);
        } else if let Some(handle) = flows.get(index).and_then(|flow| flow.handle) {
            net.send(handle, End::Server, request, 0);
        }
    }
}

/// A sender is to send its bytes of the round: now, or a random time later.
fn answer(state: &mut State, flows: &Flows, index: FlowIndex, net: &mut Net) {
    let TrafficKind::Barrier { spread, .. } = state.spec.kind else { return };
    if spread > Time::ZERO {
        let at = net.now.saturating_add(spread.mul_f64(state.random.uniform()));
        net.events.push(at, SESSION, state.number, index.0);
    } else {
        send(state, flows, index, net);
    }
}

/// A pause is over and the next round begins, or a sender begins its part of the round: argument of the event.
pub(super) fn on_timer(state: &mut State, flows: &Flows, arg: u32, net: &mut Net) {
    if arg == ROUND {
        begin(state, flows, net);
    } else {
        send(state, flows, FlowIndex(arg), net);
    }
}

/// A sender sends its bytes of the round.
fn send(state: &State, flows: &Flows, index: FlowIndex, net: &mut Net) {
    let TrafficKind::Barrier { bytes, .. } = state.spec.kind else { return };
    if let Some(handle) = flows.get(index).and_then(|flow| flow.handle) {
        net.send(handle, End::Client, bytes, 0);
    }
}
