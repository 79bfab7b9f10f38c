//! Results of a traffic.

use super::coflow;
use super::ping_pong::RoundTrips;
use super::state::{CLASSES, Kind, Moments, SLOWDOWN_UNIT, State, Times};
use super::{Exchange, Flow, Traffic, TrafficKind, received};
use des::Histogram;
use results::{Client, Completions, Deadlines, MessageOutcome, SizeClass, Spread, TrafficOutcome};
use transport::{End, Tally, Transport};
use units::{BitRate, Bytes, Time};

/// The most connections of a traffic whose series are sampled.
const MOST_WATCHED: u32 = 64;
/// Points of a distribution of completion times.
const CDF_POINTS: usize = 400;

impl Traffic {
    pub(super) fn outcome(&self, state: &State, now: Time, transport: &Transport) -> TrafficOutcome {
        let (mut delivered, mut cold) = (state.received, state.received_cold);
        let mut rates = Moments::default();
        let mut add = |flow: &Flow| {
            let bytes = received(flow, state, transport);
            delivered += bytes;
            cold += if self.warmed { flow.received_cold } else { bytes };
            bytes
        };
        for flow in state.flows().filter_map(|index| self.flows.get(index)) {
            let bytes = add(flow);
            let time = flow.finished.unwrap_or(now).saturating_sub(flow.began);
            if time > Time::ZERO {
                rates.add(bytes as f64 / time.as_secs_f64());
            }
        }
        if let Kind::Coflows(_) = state.kind {
            for (_, flow) in self.flows.iter().filter(|(_, flow)| flow.traffic == state.number) {
                add(flow);
            }
        }
        if let Kind::Sessions(_) = state.kind {
            for (index, session) in self.passing.iter().filter(|(_, session)| session.traffic == state.number) {
                let bytes = session.received(transport);
                delivered += bytes;
                cold += if self.warmed { self.passing_cold.get(&index.0).copied().unwrap_or(0) } else { bytes };
            }
        }
        if let Kind::Sessions(_) | Kind::Coflows(_) = state.kind {
            // Fairness is among sessions or coflows, not among the connections that carry them.
            rates = state.rates;
        }
        let start = state.began.unwrap_or_else(|| state.origin.unwrap_or_default().saturating_add(state.spec.start));
        let finish = if state.is_finished() { state.last } else { None };
        let end = finish.unwrap_or(now);
        let warm = delivered - cold;
        let all = completions(&state.times.completions);
        let tallies = transport.tallies(state.port());
        let sum = |count: fn(&Tally) -> u64| tallies.iter().map(|(_, tally)| count(tally)).sum();
        TrafficOutcome {
            name: state.spec.name.clone(),
            kind: state.spec.kind.name().to_owned(),
            begun: state.begun,
            completed: state.completed,
            failed: state.failed,
            rounds: state.rounds,
            delivered: Bytes::new(delivered),
            delivered_warm: Bytes::new(warm),
            goodput: rate(delivered, end.saturating_sub(start)),
            goodput_warm: rate(warm, end.saturating_sub(start.max(self.warm_up))),
            start,
            finish,
            completion_mean: all.mean,
            completion_p50: all.p50,
            completion_p95: all.p95,
            completion_p99: all.p99,
            // Below a thousand values it would be the greatest of them.
            completion_p999: (all.count >= 1000).then(|| Time::from_ps(state.times.completions.quantile(0.999))),
            completion_max: all.max,
            completion_cdf: state
                .times
                .completions
                .cumulative(CDF_POINTS)
                .into_iter()
                .map(|(time, count)| (Time::from_ps(time), count))
                .collect(),
            slowdown: slowdown(&state.times),
            classes: classes(state),
            deadlines: deadlines(state),
            retransmissions: sum(|tally| tally.totals.retransmissions),
            timeouts: sum(|tally| tally.totals.timeouts),
            drops: sum(|tally| tally.drops),
            messages: messages(state),
            coflows: coflow::outcomes(state),
            stripe: if let Kind::Striped(striped) = &state.kind { Some(striped.outcome(now)) } else { None },
            jain: rates.jain(),
            clients: clients(&tallies),
            ..TrafficOutcome::default()
        }
    }

    /// Readings of each traffic; `None` unless it has few connections, all open from the start.
    pub fn looks(&self, transport: &Transport) -> impl Iterator<Item = Option<TrafficLook>> {
        self.states.iter().map(move |state| {
            let watched = (1..=MOST_WATCHED).contains(&state.count) && matches!(state.kind, Kind::Flows);
            watched.then(|| {
                let flows = state.flows().filter_map(|index| self.flows.get(index));
                flows.fold(TrafficLook::default(), |look, flow| {
                    let sender = flow.handle.and_then(|handle| transport.packets()?.endpoint(handle, End::Client));
                    TrafficLook {
                        delivered: look.delivered + received(flow, state, transport),
                        window: look.window + sender.map_or(0, |sender| sender.window().cwnd),
                    }
                })
            })
        })
    }
}

/// A traffic at one instant.
#[derive(Clone, Copy, Debug, Default)]
pub struct TrafficLook {
    /// Payload delivered in order so far, bytes.
    pub delivered: u64,
    /// The congestion windows of its senders together, bytes.
    pub window: u64,
}

fn completions(times: &Histogram) -> Completions {
    let quantile = |q| Time::from_ps(times.quantile(q));
    Completions {
        count: times.count(),
        mean: Time::from_ps(times.mean() as u64),
        p50: quantile(0.5),
        p95: quantile(0.95),
        p99: quantile(0.99),
        max: Time::from_ps(times.maximum()),
    }
}

fn slowdown(times: &Times) -> Option<Spread> {
    let slowdowns = &times.slowdowns;
    let quantile = |q| slowdowns.quantile(q) as f64 / SLOWDOWN_UNIT;
    (slowdowns.count() > 0).then(|| Spread {
        mean: slowdowns.mean() / SLOWDOWN_UNIT,
        p50: quantile(0.5),
        p95: quantile(0.95),
        p99: quantile(0.99),
        max: slowdowns.maximum() as f64 / SLOWDOWN_UNIT,
    })
}

/// The classes of size, where there is more than one.
fn classes(state: &State) -> Vec<SizeClass> {
    let class = |(times, most): (&Times, &Bytes)| SizeClass {
        most: (most.get() < u64::MAX).then_some(*most),
        completions: completions(&times.completions),
        slowdown: slowdown(times),
    };
    let all: Vec<_> =
        state.classes.iter().zip(&CLASSES).map(class).filter(|class| class.completions.count > 0).collect();
    if all.len() > 1 { all } else { Vec::new() }
}

fn deadlines(state: &State) -> Option<Deadlines> {
    let (Kind::Aggregate(aggregate), TrafficKind::PartitionAggregate { deadline: Some(deadline), .. }) =
        (&state.kind, &state.spec.kind)
    else {
        return None;
    };
    Some(Deadlines {
        deadline: *deadline,
        queries: state.completed + state.failed,
        missed: aggregate.missed,
        answers: aggregate.answers,
        late_answers: aggregate.late_answers,
    })
}

/// Each client's part of delivered payload and of drops.
fn clients(tallies: &[(u32, Tally)]) -> Vec<Client> {
    let all = |of: fn(&Tally) -> u64| tallies.iter().map(|(_, tally)| of(tally)).sum::<u64>();
    let (bytes, drops) = (all(|tally| tally.bytes), all(|tally| tally.drops));
    let share = |part: u64, whole: u64| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
    let client = |(node, tally): &(u32, Tally)| Client {
        node: *node,
        connections: tally.connections,
        bytes: Bytes::new(tally.bytes),
        drops: tally.drops,
        retransmissions: tally.totals.retransmissions,
        timeouts: tally.totals.timeouts,
        throughput_share: share(tally.bytes, bytes),
        drop_share: share(tally.drops, drops),
    };
    tallies.iter().map(client).collect()
}

/// Symmetric exchanges of a ping-pong as NetPIPE reports them: a message takes half the round trip.
fn messages(state: &State) -> Vec<MessageOutcome> {
    let (TrafficKind::PingPong { exchanges, .. }, Kind::PingPong(trips)) = (&state.spec.kind, &state.kind) else {
        return Vec::new();
    };
    let of = |(exchange, trips): (&Exchange, &RoundTrips)| {
        let latency = Time::from_ps((trips.sum / u128::from(trips.count.max(1)) / 2) as u64);
        MessageOutcome {
            bytes: exchange.answer,
            rounds: trips.count,
            latency,
            latency_least: trips.least / 2,
            latency_most: trips.most / 2,
            throughput: rate(exchange.answer.get(), latency),
        }
    };
    let both = exchanges.iter().zip(trips);
    both.filter(|(exchange, trips)| exchange.request == exchange.answer && trips.count > 0).map(of).collect()
}

fn rate(bytes: u64, time: Time) -> BitRate {
    let seconds = time.as_secs_f64();
    if seconds > 0.0 { BitRate::from_bps((bytes as f64 * 8.0 / seconds).round() as u64) } else { BitRate::default() }
}
