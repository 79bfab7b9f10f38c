//! What became of a traffic.

use super::{Exchange, Flow, RoundTrips, State, Traffic, TrafficKind, received};
use crate::results::{MessageOutcome, TrafficOutcome};
use crate::transport::Transport;
use units::{BitRate, Bytes, Time};

impl Traffic {
    pub(super) fn outcome(&self, state: &State, now: Time, transport: &Transport) -> TrafficOutcome {
        let flows: Vec<&Flow> = (state.first..state.first + state.count)
            .filter_map(|index| self.flows.get(super::FlowIndex(index)))
            .collect();
        let passing = self.flows.iter().map(|(_, flow)| flow).filter(|flow| {
            flow.passing && std::ptr::eq(&raw const self.states[flow.traffic as usize], std::ptr::from_ref(state))
        });
        let (mut delivered, mut cold) = (state.received, state.received_cold);
        let mut rates = Vec::new();
        for flow in &flows {
            let bytes = received(flow, &state.spec, transport);
            delivered += bytes;
            cold += if self.warmed { flow.received_cold } else { bytes };
            let time = flow.finished.unwrap_or(now).saturating_sub(flow.began);
            if time > Time::ZERO {
                rates.push(bytes as f64 / time.as_secs_f64());
            }
        }
        for flow in passing {
            let bytes = received(flow, &state.spec, transport);
            delivered += bytes;
            cold += if self.warmed { flow.received_cold } else { bytes };
        }
        let start = state.began.unwrap_or(state.spec.start);
        let finish = if state.is_finished() { state.last } else { None };
        let end = finish.unwrap_or(now);
        let warm = delivered - cold;
        let quantile = |q| Time::from_ps(state.completions.quantile(q));
        TrafficOutcome {
            name: state.spec.name.clone(),
            kind: state.spec.kind.name().to_owned(),
            begun: state.begun,
            completed: state.completed,
            rounds: state.rounds,
            delivered: Bytes::new(delivered),
            delivered_warm: Bytes::new(warm),
            goodput: rate(delivered, end.saturating_sub(start)),
            goodput_warm: rate(warm, end.saturating_sub(start.max(self.warm_up))),
            start,
            finish,
            completion_mean: Time::from_ps(state.completions.mean() as u64),
            completion_p50: quantile(0.5),
            completion_p95: quantile(0.95),
            completion_p99: quantile(0.99),
            completion_max: Time::from_ps(state.completions.maximum()),
            messages: messages(state),
            jain: if matches!(state.spec.kind, TrafficKind::Poisson { .. }) { 1.0 } else { jain(&rates) },
        }
    }
}

/// A ping-pong as NetPIPE shows it: a message of each size takes half the round trip of an exchange that has as much back as forth.
fn messages(state: &State) -> Vec<MessageOutcome> {
    let TrafficKind::PingPong { exchanges, .. } = &state.spec.kind else { return Vec::new() };
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
    let both = exchanges.iter().zip(&state.exchanges);
    both.filter(|(exchange, trips)| exchange.request == exchange.answer && trips.count > 0).map(of).collect()
}

fn rate(bytes: u64, time: Time) -> BitRate {
    let seconds = time.as_secs_f64();
    if seconds > 0.0 { BitRate::from_bps((bytes as f64 * 8.0 / seconds).round() as u64) } else { BitRate::default() }
}

/// Jain's fairness index: the square of the sum over n times the sum of squares.
fn jain(rates: &[f64]) -> f64 {
    let sum: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
    if squares > 0.0 { sum * sum / (rates.len() as f64 * squares) } else { 1.0 }
}
