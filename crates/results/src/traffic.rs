//! Results of plain traffic.

use super::metrics::{Metrics, figure, widened};
use super::stripe::{STRIPE, StripeOutcome};
use units::{BitRate, Bytes, Time};

/// Results of one `[[traffic]]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrafficOutcome {
    /// Its name, else its kind and number.
    pub name: String,
    /// Its kind.
    pub kind: String,
    /// Flows, sessions or requests begun.
    pub begun: u64,
    /// Flows, sessions or requests completed.
    pub completed: u64,
    /// Flows, sessions or queries that will never be complete.
    pub failed: u64,
    /// Blocks completed (barrier reads), rounds (ping-pong).
    pub rounds: u64,
    /// Payload delivered in order.
    pub delivered: Bytes,
    /// Payload delivered in order after the warm-up.
    pub delivered_warm: Bytes,
    /// Payload rate over the time in which it ran.
    pub goodput: BitRate,
    /// Payload rate after the warm-up.
    pub goodput_warm: BitRate,
    /// When its first flow began.
    pub start: Time,
    /// When its last flow was complete.
    pub finish: Option<Time>,
    /// Completion time of a flow, session, block or round: mean.
    pub completion_mean: Time,
    /// Its median.
    pub completion_p50: Time,
    /// Its 95th percentile.
    pub completion_p95: Time,
    /// Its 99th percentile.
    pub completion_p99: Time,
    /// Its 99.9th percentile, where a thousand or more are complete.
    pub completion_p999: Option<Time>,
    /// Its maximum.
    pub completion_max: Time,
    /// Its cumulative distribution: how many took no longer than this, right to 1/128, at a few hundred points.
    pub completion_cdf: Vec<(Time, u64)>,
    /// Slowdown of flows and sessions: completion time over that of the same flow alone on its path. Of coflows: over
    /// what their busiest link needs.
    pub slowdown: Option<Spread>,
    /// Completion times and slowdowns by size, where there is more than one class of it: up to 100 KB, up to 10 MB,
    /// above.
    pub classes: Vec<SizeClass>,
    /// Missed deadlines of queries, if they have one.
    pub deadlines: Option<Deadlines>,
    /// Retransmitted segments of its connections.
    pub retransmissions: u64,
    /// Their retransmission timeouts.
    pub timeouts: u64,
    /// Their packets that queues dropped, acknowledgements included.
    pub drops: u64,
    /// Jain's fairness index over the payload rates of its flows or sessions.
    pub jain: f64,
    /// Throughput and drops of each node that opens its connections: the points of a scatter plot of both.
    pub clients: Vec<Client>,
    /// Symmetric ping-pong: each message size, in the order of measurement.
    pub messages: Vec<MessageOutcome>,
    /// Coflows: each of them, in the order of the scenario.
    pub coflows: Vec<CoflowOutcome>,
    /// One byte stream over many connections.
    pub stripe: Option<StripeOutcome>,
    /// Goodput in each step of the samples, in bit/s. Only of traffic with few connections that exist from the start.
    pub goodput_series: Vec<f32>,
    /// Sum of its senders' congestion windows at the end of each step, in bytes. Only of such traffic.
    pub window_series: Vec<u32>,
}

/// One coflow: flows that belong together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CoflowOutcome {
    /// Its name.
    pub name: String,
    /// Its arrival, if it came to that.
    pub start: Option<Time>,
    /// When its last flow was complete.
    pub finish: Option<Time>,
    /// Nodes that send.
    pub senders: u32,
    /// Nodes that receive.
    pub receivers: u32,
    /// Its flows over the network.
    pub flows: u64,
    /// Their payload.
    pub bytes: Bytes,
    /// What its busiest link to a node needs for its payload; zero where that is not known.
    pub least: Time,
}

impl CoflowOutcome {
    /// Its completion time.
    pub fn completion(&self) -> Option<Time> {
        Some(self.finish?.saturating_sub(self.start?))
    }
}

/// One message size of a ping-pong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageOutcome {
    /// The message's length.
    pub bytes: Bytes,
    /// Round trips.
    pub rounds: u64,
    /// Half the mean round trip.
    pub latency: Time,
    /// Half the shortest.
    pub latency_least: Time,
    /// Half the longest.
    pub latency_most: Time,
    /// The message's length over `latency`.
    pub throughput: BitRate,
}

/// Completion times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Completions {
    /// How many.
    pub count: u64,
    /// Their mean.
    pub mean: Time,
    /// Their median; quantiles are right to 1/128.
    pub p50: Time,
    /// Their 95th percentile.
    pub p95: Time,
    /// Their 99th percentile.
    pub p99: Time,
    /// The longest.
    pub max: Time,
}

/// Mean, quantiles and maximum of a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    /// Their mean.
    pub mean: f64,
    /// Their median; quantiles are right to 1/128.
    pub p50: f64,
    /// Their 95th percentile.
    pub p95: f64,
    /// Their 99th percentile.
    pub p99: f64,
    /// The greatest.
    pub max: f64,
}

/// Flows or sessions of a class of size.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SizeClass {
    /// The greatest size in it; none for the last, which has no end.
    pub most: Option<Bytes>,
    /// Their completion times.
    pub completions: Completions,
    /// Their slowdowns.
    pub slowdown: Option<Spread>,
}

/// Queries and their deadline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deadlines {
    /// How long a query may take.
    pub deadline: Time,
    /// Queries that have ended.
    pub queries: u64,
    /// Queries with an answer after the deadline, or never.
    pub missed: u64,
    /// Answers that have arrived or never will.
    pub answers: u64,
    /// Answers after the deadline of their query, or never.
    pub late_answers: u64,
}

/// A node's connections of one traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Client {
    /// The node that opened them.
    pub node: u32,
    /// How many.
    pub connections: u64,
    /// Payload delivered in order, both ways.
    pub bytes: Bytes,
    /// Packets that queues dropped, both ways.
    pub drops: u64,
    /// Retransmitted segments.
    pub retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Its part of the traffic's delivered payload, 0 to 1.
    pub throughput_share: f64,
    /// Its part of the traffic's drops, 0 to 1.
    pub drop_share: f64,
}

impl Deadlines {
    /// Part of the queries that missed their deadline, 0 to 1.
    pub fn missed_share(&self) -> f64 {
        if self.queries == 0 { 0.0 } else { self.missed as f64 / self.queries as f64 }
    }
}

impl TrafficOutcome {
    /// Mean distance of its clients' points from the diagonal of a scatter plot, in units of an equal part. On the
    /// diagonal a client's part of the drops equals its part of the throughput (Alsultani et al., 2018, Figures 11 and
    /// 12).
    pub fn unfairness(&self) -> f64 {
        if self.clients.iter().all(|client| client.drops == 0) {
            return 0.0;
        }
        self.clients.iter().map(|client| (client.throughput_share - client.drop_share).abs()).sum()
    }
}

/// Jain's fairness index (Jain, Chiu and Hawe, DEC-TR-301, 1984): the square of the sum over n times the sum of
/// squares; 1 where there is nothing to share.
pub fn jain(values: impl Iterator<Item = f64>) -> f64 {
    let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for value in values {
        count += 1.0;
        sum += value;
        squares += value * value;
    }
    if squares > 0.0 { sum * sum / (count * squares) } else { 1.0 }
}

/// Figures of a traffic.
pub static TRAFFIC: Metrics<TrafficOutcome> = Metrics {
    name: "traffic",
    what: "What became of one `[[traffic]]`.",
    file: None,
    metrics: &[
        figure("name", "Its name, else its kind and number.").text(|traffic| traffic.name.clone()),
        figure("kind", "Its kind.").text(|traffic| traffic.kind.clone()),
        figure("begun", "Flows, sessions or requests begun.").count("flows", |traffic| traffic.begun),
        figure("completed", "Flows, sessions or requests completed.").count("flows", |traffic| traffic.completed),
        figure("failed", "Flows, sessions or queries that will never be complete.")
            .count("flows", |traffic| traffic.failed),
        figure("rounds", "Blocks completed (barrier reads), rounds (ping-pong).")
            .count("rounds", |traffic| traffic.rounds),
        figure("start_s", "When its first flow began.").time(|traffic| traffic.start),
        figure("finish_s", "When its last flow was complete.").optional_time(|traffic| traffic.finish),
        figure("delivered", "Payload delivered in order.").bytes(|traffic| traffic.delivered),
        figure("goodput_bps", "Payload rate over the time in which it ran.").rate(|traffic| traffic.goodput),
        figure("goodput_warm_bps", "Payload rate after the warm-up.").rate(|traffic| traffic.goodput_warm),
        figure("completion_mean_s", "Completion time of a flow, session, block or round: mean.")
            .time(|traffic| traffic.completion_mean),
        figure("completion_p50_s", "Median of the completion time; quantiles are right to 1/128.")
            .time(|traffic| traffic.completion_p50),
        figure("completion_p95_s", "95th percentile of the completion time.").time(|traffic| traffic.completion_p95),
        figure("completion_p99_s", "99th percentile of the completion time.").time(|traffic| traffic.completion_p99),
        figure("completion_p999_s", "99.9th percentile of the completion time, of a thousand or more.")
            .rank(1)
            .optional_time(|traffic| traffic.completion_p999),
        figure("completion_max_s", "Greatest completion time.").time(|traffic| traffic.completion_max),
        figure(
            "slowdown",
            "Completion time over that of the same flow alone on its path (of coflows: over `least_s`).",
        )
        .inner(&SPREAD, |traffic| SPREAD.maybe(traffic.run, traffic.slowdown.as_ref())),
        figure("classes", "Completion times and slowdowns by size, where there is more than one class of it.")
            .inner(&CLASSES, |traffic| CLASSES.list(traffic.run, &traffic.classes)),
        figure("deadlines", "Of queries with a deadline; else null.")
            .inner(&DEADLINES, |traffic| DEADLINES.maybe(traffic.run, traffic.deadlines.as_ref())),
        figure("retransmissions", "Segments that its connections sent again.")
            .of_packets()
            .count("segments", |traffic| traffic.retransmissions),
        figure("timeouts", "Retransmission timeouts of its connections.")
            .of_packets()
            .count("times", |traffic| traffic.timeouts),
        figure("drops", "Its packets that queues dropped, acknowledgements included.")
            .of_packets()
            .count("packets", |traffic| traffic.drops),
        figure("jain", "Jain's fairness index over the payload rates of its flows or sessions.")
            .number("index", |traffic| traffic.jain),
        figure("fairness", "How far the clients' parts of the drops follow their parts of the throughput.")
            .inner(&FAIRNESS, |traffic| FAIRNESS.maybe(traffic.run, Some(&*traffic))),
        figure("messages", "Of a ping-pong with as much back as forth, each message size.")
            .inner(&MESSAGES, |traffic| MESSAGES.list(traffic.run, &traffic.messages)),
        figure("coflows", "Of coflows, each of them.")
            .may_be_absent()
            .inner(&COFLOWS, |traffic| COFLOWS.list(traffic.run, &traffic.coflows)),
        figure("stripe", "Of one byte stream over many connections.")
            .may_be_absent()
            .inner(&STRIPE, |traffic| STRIPE.maybe(traffic.run, traffic.stripe.as_ref())),
        figure("goodput", "Payload rate in each step, of at most 64 connections that exist from the beginning.")
            .series("bit/s", |traffic| widened(&traffic.goodput_series)),
        figure("window", "At the end of each step the congestion windows of its senders together; likewise.")
            .series("B", |traffic| widened(&traffic.window_series)),
    ],
};

/// Mean, quantiles and maximum of a sample.
pub static SPREAD: Metrics<Spread> = Metrics {
    name: "slowdown",
    what: "How slowdowns are spread.",
    file: None,
    metrics: &[
        figure("mean", "Their mean.").number("ratio", |spread| spread.mean),
        figure("p50", "Their median; quantiles are right to 1/128.").number("ratio", |spread| spread.p50),
        figure("p95", "Their 95th percentile.").number("ratio", |spread| spread.p95),
        figure("p99", "Their 99th percentile.").number("ratio", |spread| spread.p99),
        figure("max", "The greatest.").number("ratio", |spread| spread.max),
    ],
};

/// Classes of size.
pub static CLASSES: Metrics<SizeClass> = Metrics {
    name: "classes",
    what: "Flows or sessions of a class of size: up to 100 KB, up to 10 MB, above.",
    file: None,
    metrics: &[
        figure("most_bytes", "The greatest size in it; null for the last, which has no end.")
            .optional_bytes(|class| class.most),
        figure("count", "How many are complete.").count("flows", |class| class.completions.count),
        figure("completion_mean_s", "Their completion time: mean.").time(|class| class.completions.mean),
        figure("completion_p50_s", "Median of the completion time; quantiles are right to 1/128.")
            .time(|class| class.completions.p50),
        figure("completion_p95_s", "95th percentile of the completion time.").time(|class| class.completions.p95),
        figure("completion_p99_s", "99th percentile of the completion time.").time(|class| class.completions.p99),
        figure("completion_max_s", "Greatest completion time.").time(|class| class.completions.max),
        figure("slowdown", "Their slowdowns.").inner(&SPREAD, |class| SPREAD.maybe(class.run, class.slowdown.as_ref())),
    ],
};

/// Queries and their deadline.
pub static DEADLINES: Metrics<Deadlines> = Metrics {
    name: "deadlines",
    what: "Queries and their deadline.",
    file: None,
    metrics: &[
        figure("deadline_s", "How long a query may take.").time(|queries| queries.deadline),
        figure("queries", "Queries that are over.").count("queries", |queries| queries.queries),
        figure("missed", "Queries with an answer after the deadline, or never.")
            .count("queries", |queries| queries.missed),
        figure("missed_share", "The part of the queries that missed it.")
            .number("share", |queries| queries.missed_share()),
        figure("answers", "Answers that are in or will never be.").count("answers", |queries| queries.answers),
        figure("late_answers", "Answers after the deadline of their query, or never.")
            .count("answers", |queries| queries.late_answers),
    ],
};

/// Fairness among the clients of a traffic.
pub static FAIRNESS: Metrics<TrafficOutcome> = Metrics {
    name: "fairness",
    what: "How far the clients' parts of the drops follow their parts of the throughput.",
    file: None,
    metrics: &[
        figure("clients", "Nodes that opened connections.").count("nodes", |traffic| traffic.clients.len() as u64),
        figure("jain_throughput", "Jain's index over the clients' parts of the throughput.")
            .number("index", |traffic| jain(traffic.clients.iter().map(|client| client.throughput_share))),
        figure("jain_drops", "Jain's index over the clients' parts of the drops.")
            .of_packets()
            .number("index", |traffic| jain(traffic.clients.iter().map(|client| client.drop_share))),
        figure("mean_distance", "How far throughput and drops of a client lie apart, mean, in units of an equal part.")
            .of_packets()
            .number("ratio", |traffic| traffic.unfairness()),
    ],
};

/// Message sizes of ping-pongs; the row's owner is the traffic.
pub static MESSAGES: Metrics<MessageOutcome> = Metrics {
    name: "messages",
    what: "A message size of a ping-pong.",
    file: Some("messages"),
    metrics: &[
        figure("traffic", "The traffic.").no_key().text(|message| message.run.traffic[message.owner].name.clone()),
        figure("bytes", "The message's length.").bytes(|message| message.bytes),
        figure("rounds", "Round trips.").count("rounds", |message| message.rounds),
        figure("latency_s", "Half the mean round trip.").time(|message| message.latency),
        figure("latency_least_s", "Half the shortest.").time(|message| message.latency_least),
        figure("latency_most_s", "Half the longest.").time(|message| message.latency_most),
        figure("throughput_bps", "The message's length over `latency_s`.").rate(|message| message.throughput),
    ],
};

/// Coflows; the row's owner is the traffic.
pub static COFLOWS: Metrics<CoflowOutcome> = Metrics {
    name: "coflows",
    what: "Flows that belong together.",
    file: Some("coflows"),
    metrics: &[
        figure("traffic", "The traffic.").no_key().text(|coflow| coflow.run.traffic[coflow.owner].name.clone()),
        figure("name", "Its name.").text(|coflow| coflow.name.clone()),
        figure("start_s", "Its arrival, if it came to that.").optional_time(|coflow| coflow.start),
        figure("finish_s", "When its last flow was complete.").optional_time(|coflow| coflow.finish),
        figure("completion_s", "From its arrival to its finish: the coflow completion time.")
            .optional_time(|coflow| coflow.completion()),
        figure("least_s", "What its busiest link to a node needs for its payload: no schedule is faster.")
            .time(|coflow| coflow.least),
        figure("senders", "Nodes that send.").count("nodes", |coflow| coflow.senders.into()),
        figure("receivers", "Nodes that receive.").count("nodes", |coflow| coflow.receivers.into()),
        figure("flows", "Its flows over the network.").count("flows", |coflow| coflow.flows),
        figure("bytes", "Their payload.").bytes(|coflow| coflow.bytes),
    ],
};

/// Nodes that open connections of a traffic; the row's owner is the traffic. Studies read them as
/// `client.TRAFFIC.drops`.
pub static CLIENTS: Metrics<Client> = Metrics {
    name: "clients",
    what: "A node's connections of one traffic.",
    file: Some("clients"),
    metrics: &[
        figure("traffic", "The traffic.").text(|client| client.run.traffic[client.owner].name.clone()),
        figure("node", "The node that opened them.").text(|client| client.node(client.node)),
        figure("connections", "How many.").count("connections", |client| client.connections),
        figure("bytes", "Payload delivered in order, both ways.").bytes(|client| client.bytes),
        figure("drops", "Packets that queues dropped, both ways.").of_packets().count("packets", |client| client.drops),
        figure("retransmissions", "Segments sent again.")
            .of_packets()
            .count("segments", |client| client.retransmissions),
        figure("timeouts", "Retransmission timeouts.").of_packets().count("times", |client| client.timeouts),
        figure("throughput_share", "Its part of the traffic's delivered payload.")
            .number("share", |client| client.throughput_share),
        figure("drop_share", "Its part of the traffic's drops.")
            .of_packets()
            .number("share", |client| client.drop_share),
    ],
};
