//! Traffic without Hadoop.

use super::key::{choice, section};
use super::network::Nodes;
use super::run::{INTERVALS, MOMENTS};
use super::{Scenario, Stripe};
use units::{Bytes, Time};

const MESSAGES: std::ops::RangeInclusive<Bytes> = Bytes::new(1)..=Bytes::from_mib(1 << 40);

choice! {
    /// Kinds of traffic without Hadoop.
    pub enum TrafficKind {
        /// From each node of `from` to each of `to`, in pairs if there are as many: `flows` connections that send
        /// `bytes`, or without end.
        Long = "long",
        /// From every node of `from` to every other of `to`, `bytes` each.
        AllToAll = "all-to-all",
        /// Barrier-synchronised reads: the one of `to` asks each node of `from` for `bytes` per round; the next round
        /// starts when the last is in.
        Barrier = "barrier",
        /// From each node of `from`, sessions that begin by a Poisson process of mean interval `interval`, each to one
        /// of `to` at random.
        Poisson = "poisson",
        /// Each node of `to` asks `fan-out` nodes of `from` at once, by a Poisson process of mean interval `interval`,
        /// `rounds` times, and waits for their answers.
        PartitionAggregate = "partition-aggregate",
        /// Requests of `request` bytes and answers of `bytes`, one after the other, `rounds` times; or the same over
        /// message sizes up to `largest`.
        PingPong = "ping-pong",
        /// From each node of `from` to each of `to`, in pairs if there are as many: `bytes`, or without end, as one
        /// byte stream over many connections.
        Stripe = "stripe",
        /// The same as MPTCP has it: a subflow for each path, their congestion controls coupled.
        Mptcp = "mptcp",
        /// The flows of `file` and of `flow`.
        Csv = "csv",
    }
}

section! {
    /// Traffic without Hadoop, alone or beside a job.
    pub struct Traffic {
        /// Its name; its kind and number where left out.
        name: String = String::new();
        /// Its kind.
        kind: TrafficKind = TrafficKind::Long;
        /// Who sends.
        from: Nodes = Nodes::Workers;
        /// Who receives; left out, the master (all-to-all: the workers).
        to: Option<Nodes> = None;
        /// Connections of each pair (long).
        flows: u32 = 1, 1..=100_000;
        /// Payload of a flow, session, answer, or of one sender's share of a round; left out, long flows and stripes
        /// never end and others send 1 MB.
        bytes: Option<Bytes> = None, MESSAGES;
        /// Payload of a request; left out, ping-pong's has 100 B, a query's to each worker 1600 B, and a barrier's
        /// senders send without being asked, as with "0 B".
        request: Option<Bytes> = None, Bytes::ZERO..=Bytes::from_mib(1 << 40);
        /// Rounds (barrier, ping-pong: of each message size), queries of each aggregator (partition-aggregate).
        rounds: u32 = 100, 1..=100_000_000;
        /// Ping-pong over message sizes as NetPIPE does it, as much back as forth, up to this size; `bytes` and
        /// `request` are not used then.
        largest: Option<Bytes> = None, Bytes::new(1)..=Bytes::from_mb(64_000);
        /// The least of these sizes.
        smallest: Bytes = Bytes::new(1), Bytes::new(1)..=Bytes::from_mb(64_000);
        /// How far below and above each of these sizes is measured too; "0 B" for nothing but the sizes.
        perturbation: Bytes = Bytes::new(3), Bytes::ZERO..=Bytes::from_mb(1);
        /// How large sessions (poisson) or answers (partition-aggregate) are.
        sizes: Sizes = Sizes::default();
        /// Mean time between the beginnings of two sessions of a node (poisson), or of two queries of an aggregator
        /// (partition-aggregate).
        interval: Time = Time::from_ms(40), INTERVALS;
        /// In place of `interval` (poisson): payload that all nodes together offer, as a part of the rate of the
        /// receivers' own links together, or of `load-link`.
        load: Option<f64> = None, 0.000_001..=1_000.0;
        /// The link whose rate `load` is a part of: "worker-3" for that node's, "left -- right" for one between
        /// switches.
        load_link: Option<String> = None;
        /// How many workers a query asks, chosen at random; left out, all (partition-aggregate).
        fan_out: Option<u32> = None, 1..=100_000;
        /// A query whose last answer takes longer has missed its deadline (partition-aggregate).
        deadline: Option<Time> = None, INTERVALS;
        /// Whether all sessions of a node to another use one connection (poisson); else each opens its own.
        persistent: bool = false;
        /// One byte stream over many connections (stripe, mptcp).
        stripe: Stripe = Stripe::default();
        /// The name of another traffic: this one begins when that has ended, and its `start` and `stop` count from
        /// then.
        after: Option<String> = None;
        /// When it begins.
        start: Time = Time::ZERO, MOMENTS;
        /// When no more of it begins; left out, when the run ends.
        stop: Option<Time> = None, MOMENTS;
        /// Each flow begins later by a random time up to this.
        jitter: Time = Time::ZERO, MOMENTS;
        /// A file of flows, its path relative to the scenario's (csv): a line for each, `start,from,to,bytes` like
        /// `0.5,worker-1,worker-2,1000000`, start in seconds; a first line may name the columns, in any order; `#`
        /// begins a comment.
        file: String = String::new();
        /// Flows one by one (csv).
        flow: Vec<GivenFlow> = Vec::new();
    }
}

section! {
    /// One flow of a list.
    pub struct GivenFlow {
        /// When it begins, after the traffic's start.
        start: Time = Time::ZERO, MOMENTS;
        /// The node that sends.
        from: String = "worker-1".to_owned();
        /// The node that receives.
        to: String = "master".to_owned();
        /// Payload.
        bytes: Bytes = Bytes::from_mb(1), MESSAGES;
    }
}

choice! {
    /// Distributions of sizes.
    pub enum SizeKind {
        /// All have `bytes`.
        Fixed = "fixed",
        /// Every size from `least` to `most` is equally likely; without `most` the mean is `bytes`.
        Uniform = "uniform",
        /// Exponential of mean `bytes`.
        Exponential = "exponential",
        /// Pareto of `shape` and mean `bytes`, cut off at `most` where that is given.
        Pareto = "pareto",
        /// Web search, Figure 4 of the DCTCP paper: mean 1.7 MB, 53 % of at most 80 KB.
        WebSearch = "web-search",
        /// Data mining, Figure 2 of the VL2 paper: mean 12.7 MB, 80 % of at most 10 KB.
        DataMining = "data-mining",
        /// As `file` or `point` say, linear in between.
        Cdf = "cdf",
    }
}

section! {
    /// How large the sessions or answers of a traffic are.
    pub struct Sizes {
        /// The distribution.
        kind: SizeKind = SizeKind::Fixed;
        /// The least size (uniform).
        least: Bytes = Bytes::new(1), MESSAGES;
        /// The greatest size (uniform, pareto).
        most: Option<Bytes> = None, MESSAGES;
        /// The exponent of the tail (pareto): the lower, the heavier; 1 and less only with `most`.
        shape: f64 = 1.2, 0.05..=100.0;
        /// A file of the distribution, its path relative to the scenario's (cdf): a line for each point, size in bytes
        /// and share of sizes up to it, both growing; `#` begins a comment.
        file: String = String::new();
        /// Its points one by one (cdf).
        point: Vec<SizePoint> = Vec::new();
    }
}

section! {
    /// A point of a cumulative distribution.
    pub struct SizePoint {
        /// The size.
        bytes: Bytes = Bytes::ZERO, Bytes::ZERO..=Bytes::from_mib(1 << 40);
        /// The share of sizes up to it; 1 at the last point.
        share: f64 = 1.0, 0.0..=1.0;
    }
}

impl Traffic {
    /// Who receives, where it is left out too.
    pub fn to_or_default(&self) -> Nodes {
        match (&self.to, self.kind) {
            (Some(to), _) => to.clone(),
            (None, TrafficKind::AllToAll) => Nodes::Workers,
            (None, _) => Nodes::Master,
        }
    }

    /// Its name, or its kind and number, from 1, where it has none.
    pub fn name_or_default(&self, position: usize) -> String {
        if self.name.is_empty() { format!("{}-{}", self.kind.word(), position + 1) } else { self.name.clone() }
    }

    /// Whether it has an end: all its flows, rounds or queries are done, or it stops.
    pub fn has_end(&self) -> bool {
        match self.kind {
            TrafficKind::Long | TrafficKind::Stripe | TrafficKind::Mptcp => self.bytes.is_some(),
            TrafficKind::Poisson => self.stop.is_some(),
            _ => true,
        }
    }
}

impl Scenario {
    /// The position of the traffic of a name.
    pub fn traffic_number(&self, name: &str) -> Option<usize> {
        self.traffic.iter().enumerate().position(|(number, traffic)| traffic.name_or_default(number) == name)
    }
}
