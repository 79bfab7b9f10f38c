//! Requests and answers, one after the other.

use super::state::{Kind, State};
use super::{Exchange, FlowIndex, Flows, Net, TrafficKind};
use transport::End;
use units::Time;

/// How long the rounds of one exchange took.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoundTrips {
    pub count: u64,
    /// In picoseconds.
    pub sum: u128,
    pub least: Time,
    pub most: Time,
}

impl Default for RoundTrips {
    fn default() -> Self {
        Self { count: 0, sum: 0, least: Time::MAX, most: Time::ZERO }
    }
}

/// The exchange of a round (from 0), and its number; `None` after the last round.
fn exchange(state: &State, round: u32) -> Option<(usize, Exchange)> {
    let TrafficKind::PingPong { exchanges, rounds } = &state.spec.kind else { return None };
    let number = (round / rounds) as usize;
    Some((number, *exchanges.get(number)?))
}

/// The first request leaves.
pub(super) fn on_connected(state: &mut State, flows: &mut Flows, index: FlowIndex, net: &mut Net) {
    ask(state, flows, index, net);
}

/// A request has come, or its answer.
pub(super) fn on_delivered(state: &mut State, flows: &mut Flows, index: FlowIndex, end: End, net: &mut Net) {
    let Some(flow) = flows.get_mut(index) else { return };
    let Some((number, exchange)) = exchange(state, flow.rounds) else { return };
    if end == End::Server {
        if let Some(handle) = flow.handle {
            net.send(handle, End::Server, exchange.answer, 0);
        }
        return;
    }
    let time = net.now - flow.began;
    if let Kind::PingPong(trips) = &mut state.kind {
        let trips = &mut trips[number];
        trips.count += 1;
        trips.sum += u128::from(time.as_ps());
        trips.least = trips.least.min(time);
        trips.most = trips.most.max(time);
    }
    flow.rounds += 1;
    state.rounds += 1;
    state.complete(net.now, flow.began, None);
    ask(state, flows, index, net);
}

/// The next request leaves; after the last answer the connection closes.
fn ask(state: &mut State, flows: &mut Flows, index: FlowIndex, net: &mut Net) {
    let Some(flow) = flows.get_mut(index) else { return };
    let Some(handle) = flow.handle else { return };
    flow.began = net.now;
    if let Some((_, exchange)) = exchange(state, flow.rounds) {
        state.begun += 1;
        net.send(handle, End::Client, exchange.request, 0);
    } else {
        flow.finished = Some(net.now);
        net.close(handle, End::Client);
    }
}
