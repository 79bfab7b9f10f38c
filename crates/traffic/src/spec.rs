//! Specification of plain traffic.

use super::{CoflowSpec, Sizes, StripeSpec};
use tcp::Config;
use units::{Bytes, Time};

/// One `[[traffic]]`. Nodes are positions in the topology's hosts.
#[derive(Clone, Debug)]
pub struct TrafficSpec {
    /// Its name in results.
    pub name: String,
    /// Its kind.
    pub kind: TrafficKind,
    /// Who sends (ping-pong: who asks). The sender opens its connections.
    pub from: Vec<u32>,
    /// Who receives (ping-pong: who answers).
    pub to: Vec<u32>,
    /// When it begins.
    pub start: Time,
    /// Time after which nothing more begins.
    pub stop: Option<Time>,
    /// Each flow begins later by a random time up to this.
    pub jitter: Time,
    /// TCP at both ends.
    pub tcp: Config,
    /// The traffic, by its number, after whose end this one begins; `start` and `stop` count from then.
    pub after: Option<u32>,
}

impl Default for TrafficSpec {
    fn default() -> Self {
        Self {
            name: String::new(),
            kind: TrafficKind::Flows(Vec::new()),
            from: Vec::new(),
            to: Vec::new(),
            start: Time::ZERO,
            stop: None,
            jitter: Time::ZERO,
            tcp: Config::default(),
            after: None,
        }
    }
}

/// Kinds of traffic without Hadoop.
#[derive(Clone, Debug)]
pub enum TrafficKind {
    /// From each node of `from` to each of `to`, in pairs if there are as many: `flows` connections that send `bytes`,
    /// or without end.
    Long {
        /// Connections of each pair.
        flows: u32,
        /// Payload of each; none for no end.
        bytes: Option<Bytes>,
    },
    /// From every node of `from` to every other of `to`, `bytes` each.
    AllToAll {
        /// Payload of each flow.
        bytes: Bytes,
    },
    /// Barrier-synchronised reads (Phanishayee et al., FAST 2008, section 2): over persistent connections every node of
    /// `from` sends `bytes` to the first of `to`; when the last has arrived, the next round begins.
    Barrier {
        /// Payload of the reader's request to each sender, which begins a round. With zero, senders begin without a
        /// request.
        request: Bytes,
        /// One sender's payload in a round.
        bytes: Bytes,
        /// From the arrival of a round's last byte to the beginning of the next round.
        pause: Time,
        /// A sender begins up to this long after a round does, or after its request has come; uniformly distributed.
        spread: Time,
        /// Number of rounds.
        rounds: u32,
    },
    /// From each node of `from` sessions that begin by a Poisson process, each to one of `to` other than itself, all
    /// equally likely.
    Poisson {
        /// Payload of a session.
        sizes: Sizes,
        /// Mean time between the beginnings of two sessions of a node.
        interval: Time,
        /// Whether all sessions from one node to another share a connection. Else each opens its own.
        persistent: bool,
    },
    /// Partition and aggregate (Alizadeh et al., DCTCP, SIGCOMM 2010, section 2.1): each node of `to` is an aggregator
    /// that by a Poisson process asks some nodes of `from` over persistent connections and waits for all their answers.
    PartitionAggregate {
        /// Payload of a request to one worker.
        request: Bytes,
        /// Payload of an answer.
        sizes: Sizes,
        /// How many workers a query asks, chosen at random; none for all.
        fan_out: Option<u32>,
        /// Mean time between the beginnings of two queries of an aggregator.
        interval: Time,
        /// Queries of each aggregator.
        queries: u32,
        /// A query misses its deadline if its last answer takes longer.
        deadline: Option<Time>,
    },
    /// From each node of `from` to the first of `to`: requests and answers, one after the other, all rounds of the
    /// first exchange, then of the next.
    PingPong {
        /// Requests and answers.
        exchanges: Vec<Exchange>,
        /// Rounds of each exchange.
        rounds: u32,
    },
    /// From each node of `from` to each of `to`, in pairs if there are as many: one byte stream over many connections.
    Stripe(StripeSpec),
    /// The flows of a list; `from` and `to` are not used.
    Flows(Vec<FlowSpec>),
    /// The coflows of a list; `from` and `to` are not used.
    Coflows(Vec<CoflowSpec>),
}

/// A round of ping-pong: a request and its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Payload of the request.
    pub request: Bytes,
    /// Payload of the answer.
    pub answer: Bytes,
}

impl Exchange {
    /// A symmetric exchange: an answer as long as the request.
    pub const fn equal(bytes: Bytes) -> Self {
        Self { request: bytes, answer: bytes }
    }
}

/// The message sizes of NetPIPE (Snell, Mikler and Gustafson, 1996) from 1 B up to `largest`: three steps of one byte,
/// from then on two of each length, which doubles (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, ...). Where the step exceeds
/// `perturbation` by more than a byte, each size less and plus the perturbation is measured too, to hit what is just
/// below and above a buffer. Sizes below `smallest` are left out.
pub fn netpipe_sizes(smallest: Bytes, largest: Bytes, perturbation: Bytes) -> Vec<Bytes> {
    let (off, mut size, mut step) = (perturbation.get(), 1, 1_u64);
    let mut sizes = Vec::new();
    for number in 0_u32.. {
        if size > largest.get() {
            break;
        }
        if number > 2 && number % 2 == 1 {
            step *= 2;
        }
        if off > 0 && step > off + 1 {
            sizes.extend([size - off, size, size + off]);
        } else {
            sizes.push(size);
        }
        size += step;
    }
    sizes.into_iter().filter(|size| *size >= smallest.get()).map(Bytes::new).collect()
}

/// One flow of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowSpec {
    /// When it begins, after the traffic's start.
    pub start: Time,
    /// The sender.
    pub from: u32,
    /// The receiver.
    pub to: u32,
    /// Payload of the flow.
    pub bytes: Bytes,
}

impl TrafficKind {
    /// Its name in scenarios and results.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Long { .. } => "long",
            Self::AllToAll { .. } => "all-to-all",
            Self::Barrier { .. } => "barrier",
            Self::Poisson { .. } => "poisson",
            Self::PartitionAggregate { .. } => "partition-aggregate",
            Self::PingPong { .. } => "ping-pong",
            Self::Stripe(spec) if spec.mptcp => "mptcp",
            Self::Stripe(_) => "stripe",
            Self::Flows(_) => "csv",
            Self::Coflows(_) => "coflow",
        }
    }
}

impl TrafficSpec {
    /// Sender and receiver of each connection that exists from the beginning, flows to oneself left out.
    pub(super) fn pairs(&self) -> Vec<(u32, u32)> {
        let product = || self.from.iter().flat_map(|from| self.to.iter().map(|to| (*from, *to)));
        let paired = || -> Vec<(u32, u32)> {
            if self.from.len() == self.to.len() {
                self.from.iter().copied().zip(self.to.iter().copied()).collect()
            } else {
                product().collect()
            }
        };
        let to_first = || self.to.first().map(|to| self.from.iter().map(|from| (*from, *to)).collect::<Vec<_>>());
        let pairs: Vec<(u32, u32)> = match &self.kind {
            TrafficKind::Long { flows, .. } => {
                paired().into_iter().flat_map(|pair| std::iter::repeat_n(pair, *flows as usize)).collect()
            }
            TrafficKind::Stripe(_) => paired(),
            TrafficKind::AllToAll { .. } | TrafficKind::PartitionAggregate { .. } => product().collect(),
            TrafficKind::Barrier { .. } | TrafficKind::PingPong { .. } => to_first().unwrap_or_default(),
            // Connections belong to sessions or coflows, or to sources.
            TrafficKind::Poisson { .. } | TrafficKind::Coflows(_) => Vec::new(),
            TrafficKind::Flows(flows) => flows.iter().map(|flow| (flow.from, flow.to)).collect(),
        };
        pairs.into_iter().filter(|(from, to)| from != to || matches!(self.kind, TrafficKind::Flows(_))).collect()
    }
}
