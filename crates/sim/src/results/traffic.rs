//! What became of plain traffic.

use super::StripeOutcome;
use units::{BitRate, Bytes, Time};

/// What became of one `[[traffic]]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrafficOutcome {
    /// Its name, else its kind and number.
    pub name: String,
    /// Its kind.
    pub kind: String,
    /// Flows, sessions or requests begun.
    pub begun: u64,
    /// Of these, complete.
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
    /// Its maximum.
    pub completion_max: Time,
    /// Its cumulative distribution: how many took no longer than this, right to 1/128, at a few hundred points.
    pub completion_cdf: Vec<(Time, u64)>,
    /// Completion time over that of the same flow alone on its path, sent at its link's rate; of flows and sessions.
    pub slowdown: Option<Spread>,
    /// Completion times and slowdowns by size, where there is more than one class of it: up to 100 KB, up to 10 MB, above.
    pub classes: Vec<SizeClass>,
    /// Of queries with a deadline.
    pub deadlines: Option<Deadlines>,
    /// Segments that its connections sent again.
    pub retransmissions: u64,
    /// Their retransmission timeouts.
    pub timeouts: u64,
    /// Their packets that queues dropped, acknowledgements included.
    pub drops: u64,
    /// Jain's fairness index over the payload rates of its flows or sessions.
    pub jain: f64,
    /// Throughput and drops of each node that opens its connections: the points of the scatter of one against the other.
    pub clients: Vec<Client>,
    /// Ping-pong with as much back as forth: each message size, in the order in which they were sent.
    pub messages: Vec<MessageOutcome>,
    /// One byte stream over many connections.
    pub stripe: Option<StripeOutcome>,
    /// Payload delivered in order in each step of the samples, bit/s; of a traffic with few connections that exist from the beginning.
    pub goodput_series: Vec<f32>,
    /// At the end of each step the congestion windows of its senders together, bytes; likewise.
    pub window_series: Vec<u32>,
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

/// How numbers are spread.
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
    /// Queries that are over.
    pub queries: u64,
    /// Of these, with an answer that came later or never.
    pub missed: u64,
    /// Answers that are in or will never be.
    pub answers: u64,
    /// Of these, later than the deadline of their query.
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
    /// Segments sent again.
    pub retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Its part of what all nodes' connections of the traffic delivered, 0 to 1.
    pub throughput_share: f64,
    /// Its part of their drops.
    pub drop_share: f64,
}

impl Deadlines {
    /// The part of the queries that missed it, 0 to 1.
    pub fn missed_share(&self) -> f64 {
        if self.queries == 0 { 0.0 } else { self.missed as f64 / self.queries as f64 }
    }
}

impl TrafficOutcome {
    /// How far its clients' points lie on average from the line on which a client's part of the drops is its part of the throughput, in units of an
    /// equal part: 0 where every client loses as it sends (the diagonal of Alsultani et al., 2018, Figures 11 and 12).
    pub fn unfairness(&self) -> f64 {
        if self.clients.iter().all(|client| client.drops == 0) {
            return 0.0;
        }
        self.clients.iter().map(|client| (client.throughput_share - client.drop_share).abs()).sum()
    }
}

/// Jain's fairness index (Jain, Chiu and Hawe, DEC-TR-301, 1984): the square of the sum over n times the sum of squares; 1 where there is nothing to
/// share.
pub fn jain(values: impl Iterator<Item = f64>) -> f64 {
    let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for value in values {
        count += 1.0;
        sum += value;
        squares += value * value;
    }
    if squares > 0.0 { sum * sum / (count * squares) } else { 1.0 }
}
