//! Partition and aggregate: an aggregator asks some workers at once and waits for all their answers, or for a deadline.

use super::state::{Kind, State};
use super::{FlowIndex, Flows, Net, TrafficKind};
use des::{Slab, define_index};
use std::collections::VecDeque;
use transport::End;
use units::Time;

define_index! {
    /// A query on its way.
    QueryIndex
}

#[derive(Debug)]
struct Query {
    began: Time,
    /// Answers still to come.
    waiting: u32,
    /// Whether an answer was lost with its connection.
    broken: bool,
}

#[derive(Debug)]
struct Aggregator {
    /// Its connections, those of its last query first.
    members: Vec<FlowIndex>,
    /// Queries that it has begun.
    begun: u32,
}

/// Aggregators and their queries.
#[derive(Debug)]
pub(super) struct Aggregate {
    aggregators: Vec<Aggregator>,
    queries: Slab<QueryIndex, Query>,
    /// Outstanding queries of each connection, in order. Indexed by flow number less `first`.
    owed: Vec<VecDeque<QueryIndex>>,
    first: u32,
    /// Which connections have been opened.
    connected: Vec<bool>,
    /// Connections that are neither open nor lost yet.
    pub waiting: u32,
    /// Aggregators that still begin queries.
    active: u32,
    /// Queries that took longer than the deadline, or lost an answer.
    pub missed: u64,
    pub answers: u64,
    /// Answers that came after the deadline, or never.
    pub late_answers: u64,
}

impl Aggregate {
    /// For the connections (worker, aggregator), whose flows are numbered from `first`.
    pub fn new(pairs: &[(u32, u32)], first: u32) -> Self {
        let mut nodes: Vec<u32> = Vec::new();
        let mut aggregators: Vec<Aggregator> = Vec::new();
        for (k, (_, to)) in pairs.iter().enumerate() {
            let at = nodes.iter().position(|node| node == to).unwrap_or_else(|| {
                nodes.push(*to);
                aggregators.push(Aggregator { members: Vec::new(), begun: 0 });
                nodes.len() - 1
            });
            aggregators[at].members.push(FlowIndex(first + k as u32));
        }
        let active = aggregators.len() as u32;
        let owed = vec![VecDeque::new(); pairs.len()];
        let waiting = pairs.len() as u32;
        Self {
            aggregators,
            queries: Slab::new(),
            connected: vec![false; owed.len()],
            owed,
            first,
            waiting,
            active,
            missed: 0,
            answers: 0,
            late_answers: 0,
        }
    }

    pub fn is_over(&self) -> bool {
        self.active == 0 && self.queries.is_empty()
    }
}

/// A worker is connected. With the last one the aggregators begin to ask.
pub(super) fn on_connected(state: &mut State, index: FlowIndex, net: &mut Net) {
    let Kind::Aggregate(aggregate) = &mut state.kind else { return };
    aggregate.connected[(index.0 - aggregate.first) as usize] = true;
    one_less(state, net);
}

/// A connection is open or lost. When none is left to wait for, queries begin.
pub(super) fn one_less(state: &mut State, net: &mut Net) {
    let Kind::Aggregate(aggregate) = &mut state.kind else { return };
    aggregate.waiting -= 1;
    if aggregate.waiting == 0 {
        for number in 0..aggregate.aggregators.len() as u32 {
            next(state, number, net);
        }
    }
}

/// Sets an aggregator's next query, if it has one.
fn next(state: &mut State, number: u32, net: &mut Net) {
    let TrafficKind::PartitionAggregate { interval, queries, .. } = state.spec.kind else { return };
    let Kind::Aggregate(aggregate) = &state.kind else { return };
    let more = aggregate.aggregators[number as usize].begun < queries;
    if (!more || !state.schedule(interval, number, net.now, net.events))
        && let Kind::Aggregate(aggregate) = &mut state.kind
    {
        aggregate.active -= 1;
    }
}

/// An aggregator asks as many workers as a query has, chosen at random where these are not all.
pub(super) fn ask(state: &mut State, flows: &Flows, number: u32, net: &mut Net) {
    let TrafficKind::PartitionAggregate { request, fan_out, .. } = state.spec.kind else { return };
    let Kind::Aggregate(aggregate) = &mut state.kind else { return };
    let aggregator = &mut aggregate.aggregators[number as usize];
    aggregator.begun += 1;
    let all = aggregator.members.len();
    let asked = fan_out.map_or(all, |fan_out| (fan_out as usize).min(all));
    if asked < all {
        // The first steps of Fisher and Yates: every choice is equally likely, whatever the order before.
        for place in 0..asked {
            let other = place + state.random.below((all - place) as u64) as usize;
            aggregator.members.swap(place, other);
        }
    }
    let query = Query { began: net.now, waiting: asked as u32, broken: false };
    let query = aggregate.queries.insert(query);
    let mut lost = 0;
    for index in &aggregator.members[..asked] {
        match flows.get(*index).and_then(|flow| flow.handle) {
            Some(handle) => {
                aggregate.owed[(index.0 - aggregate.first) as usize].push_back(query);
                net.send(handle, End::Server, request, u64::from(query.0));
            }
            None => lost += 1,
        }
    }
    state.begun += 1;
    next(state, number, net);
    for _ in 0..lost {
        answered(state, query, false, net);
    }
}

/// A request has come to a worker, or an answer to the aggregator.
pub(super) fn on_delivered(
    state: &mut State,
    flows: &mut Flows,
    index: FlowIndex,
    (end, tag): (End, u64),
    net: &mut Net,
) {
    let TrafficKind::PartitionAggregate { sizes, .. } = &state.spec.kind else { return };
    if end == End::Client {
        if let Some(handle) = flows.get(index).and_then(|flow| flow.handle) {
            let bytes = sizes.draw(&mut state.random);
            net.send(handle, End::Client, bytes, tag);
        }
        return;
    }
    let Kind::Aggregate(aggregate) = &mut state.kind else { return };
    if let Some(query) = aggregate.owed[(index.0 - aggregate.first) as usize].pop_front() {
        answered(state, query, true, net);
    }
    close_if_over(state, flows, net);
}

/// A connection is gone, and with it the answers that were to come on it.
pub(super) fn on_gone(state: &mut State, index: FlowIndex, net: &mut Net) {
    let Kind::Aggregate(aggregate) = &mut state.kind else { return };
    let at = (index.0 - aggregate.first) as usize;
    let owed = std::mem::take(&mut aggregate.owed[at]);
    if !std::mem::replace(&mut aggregate.connected[at], true) {
        one_less(state, net);
    }
    for query in owed {
        answered(state, query, false, net);
    }
}

/// An answer has arrived (`here`) or was lost. With its last answer a query ends.
fn answered(state: &mut State, index: QueryIndex, here: bool, net: &mut Net) {
    let TrafficKind::PartitionAggregate { deadline, .. } = state.spec.kind else { return };
    let Kind::Aggregate(aggregate) = &mut state.kind else { return };
    let Some(query) = aggregate.queries.get_mut(index) else { return };
    let late = deadline.is_some_and(|deadline| net.now - query.began > deadline);
    aggregate.answers += 1;
    aggregate.late_answers += u64::from(late || !here);
    query.waiting -= 1;
    query.broken |= !here;
    if query.waiting > 0 {
        return;
    }
    let (began, broken) = (query.began, query.broken);
    aggregate.missed += u64::from(late || broken);
    aggregate.queries.remove(index);
    if broken {
        state.failed += 1;
    } else {
        state.complete(net.now, began, None);
    }
}

/// After the last query the connections close.
fn close_if_over(state: &State, flows: &mut Flows, net: &mut Net) {
    let Kind::Aggregate(aggregate) = &state.kind else { return };
    if !aggregate.is_over() {
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
