//! Plain traffic in `result.json`.

use super::stripe::{StripeView, stripe_view};
use super::{Client, Completions, Deadlines, MessageOutcome, SizeClass, Spread, TrafficOutcome};
use serde::Serialize;

#[derive(Serialize)]
pub struct TrafficView<'a> {
    name: &'a str,
    kind: &'a str,
    begun: u64,
    completed: u64,
    failed: u64,
    rounds: u64,
    start_s: f64,
    finish_s: Option<f64>,
    delivered: u64,
    goodput_bps: u64,
    goodput_warm_bps: u64,
    completion_mean_s: f64,
    completion_p50_s: f64,
    completion_p95_s: f64,
    completion_p99_s: f64,
    completion_max_s: f64,
    slowdown: Option<SpreadView>,
    classes: Vec<ClassView>,
    deadlines: Option<DeadlinesView>,
    retransmissions: u64,
    timeouts: u64,
    drops: u64,
    jain: f64,
    /// How far the clients' parts of the drops follow their parts of the throughput.
    fairness: FairnessView,
    messages: Vec<MessageView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stripe: Option<StripeView<'a>>,
}

#[derive(Serialize)]
struct SpreadView {
    mean: f64,
    p50: f64,
    p95: f64,
    p99: f64,
    max: f64,
}

#[derive(Serialize)]
struct ClassView {
    most_bytes: Option<u64>,
    count: u64,
    completion_mean_s: f64,
    completion_p50_s: f64,
    completion_p95_s: f64,
    completion_p99_s: f64,
    completion_max_s: f64,
    slowdown: Option<SpreadView>,
}

#[derive(Serialize)]
struct DeadlinesView {
    deadline_s: f64,
    queries: u64,
    missed: u64,
    missed_share: f64,
    answers: u64,
    late_answers: u64,
}

#[derive(Serialize)]
struct FairnessView {
    clients: u64,
    jain_throughput: f64,
    jain_drops: f64,
    mean_distance: f64,
}

#[derive(Serialize)]
struct MessageView {
    bytes: u64,
    rounds: u64,
    latency_s: f64,
    latency_least_s: f64,
    latency_most_s: f64,
    throughput_bps: u64,
}

pub fn traffic_view(traffic: &TrafficOutcome) -> TrafficView<'_> {
    TrafficView {
        name: &traffic.name,
        kind: &traffic.kind,
        begun: traffic.begun,
        completed: traffic.completed,
        failed: traffic.failed,
        rounds: traffic.rounds,
        start_s: traffic.start.as_secs_f64(),
        finish_s: traffic.finish.map(units::Time::as_secs_f64),
        delivered: traffic.delivered.get(),
        goodput_bps: traffic.goodput.as_bps(),
        goodput_warm_bps: traffic.goodput_warm.as_bps(),
        completion_mean_s: traffic.completion_mean.as_secs_f64(),
        completion_p50_s: traffic.completion_p50.as_secs_f64(),
        completion_p95_s: traffic.completion_p95.as_secs_f64(),
        completion_p99_s: traffic.completion_p99.as_secs_f64(),
        completion_max_s: traffic.completion_max.as_secs_f64(),
        slowdown: traffic.slowdown.as_ref().map(spread_view),
        classes: traffic.classes.iter().map(class_view).collect(),
        deadlines: traffic.deadlines.as_ref().map(deadlines_view),
        retransmissions: traffic.retransmissions,
        timeouts: traffic.timeouts,
        drops: traffic.drops,
        jain: traffic.jain,
        fairness: fairness_view(traffic),
        messages: traffic.messages.iter().map(message_view).collect(),
        stripe: traffic.stripe.as_ref().map(stripe_view),
    }
}

fn spread_view(spread: &Spread) -> SpreadView {
    let Spread { mean, p50, p95, p99, max } = *spread;
    SpreadView { mean, p50, p95, p99, max }
}

fn class_view(class: &SizeClass) -> ClassView {
    let Completions { count, mean, p50, p95, p99, max } = class.completions;
    ClassView {
        most_bytes: class.most.map(units::Bytes::get),
        count,
        completion_mean_s: mean.as_secs_f64(),
        completion_p50_s: p50.as_secs_f64(),
        completion_p95_s: p95.as_secs_f64(),
        completion_p99_s: p99.as_secs_f64(),
        completion_max_s: max.as_secs_f64(),
        slowdown: class.slowdown.as_ref().map(spread_view),
    }
}

fn deadlines_view(deadlines: &Deadlines) -> DeadlinesView {
    DeadlinesView {
        deadline_s: deadlines.deadline.as_secs_f64(),
        queries: deadlines.queries,
        missed: deadlines.missed,
        missed_share: deadlines.missed_share(),
        answers: deadlines.answers,
        late_answers: deadlines.late_answers,
    }
}

fn fairness_view(traffic: &TrafficOutcome) -> FairnessView {
    let jain = |value: fn(&Client) -> f64| super::jain(traffic.clients.iter().map(value));
    FairnessView {
        clients: traffic.clients.len() as u64,
        jain_throughput: jain(|client| client.throughput_share),
        jain_drops: jain(|client| client.drop_share),
        mean_distance: traffic.unfairness(),
    }
}

fn message_view(message: &MessageOutcome) -> MessageView {
    MessageView {
        bytes: message.bytes.get(),
        rounds: message.rounds,
        latency_s: message.latency.as_secs_f64(),
        latency_least_s: message.latency_least.as_secs_f64(),
        latency_most_s: message.latency_most.as_secs_f64(),
        throughput_bps: message.throughput.as_bps(),
    }
}
