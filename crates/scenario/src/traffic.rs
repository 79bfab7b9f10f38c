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
        /// `flows` connections from each node of `from` to each of `to` (in pairs if both are as many). Each sends
        /// `bytes`, or without end.
        Long = "long",
        /// `bytes` from each node of `from` to each other node of `to`.
        AllToAll = "all-to-all",
        /// Barrier-synchronised reads: in each round the one node of `to` asks each node of `from` for `bytes`. The
        /// next round starts when all have arrived.
        Barrier = "barrier",
        /// Sessions from each node of `from`, each to a random node of `to`. They begin by a Poisson process with mean
        /// interval `interval`.
        Poisson = "poisson",
        /// Queries of each node of `to`, each to `fan-out` nodes of `from` at once, `rounds` times. They begin by a
        /// Poisson process with mean interval `interval`.
        PartitionAggregate = "partition-aggregate",
        /// Requests of `request` bytes and answers of `bytes` in turn, `rounds` times; or both over message sizes up to
        /// `largest`.
        PingPong = "ping-pong",
        /// One byte stream over many connections, from each node of `from` to each of `to` (in pairs if both are as
        /// many): `bytes`, or without end.
        Stripe = "stripe",
        /// As `stripe`, with MPTCP's subflows: one for each path, with coupled congestion controls.
        Mptcp = "mptcp",
        /// The flows of `file` and of `flow`.
        Csv = "csv",
        /// The coflows of `coflow`: flows that belong together, and are over when the last of them is.
        Coflow = "coflow",
    }
}

section! {
    /// Traffic without Hadoop, alone or beside a job.
    pub struct Traffic {
        /// Its name. Left out: kind and number.
        name: String = String::new();
        /// The pattern of the traffic.
        kind: TrafficKind = TrafficKind::Long;
        /// The nodes that send.
        from: Nodes = Nodes::Workers;
        /// The nodes that receive. Left out: the master (all-to-all: the workers).
        to: Option<Nodes> = None;
        /// Connections of each pair (long).
        flows: u32 = 1, 1..=100_000;
        /// Payload of a flow, session or answer, or of one sender's share of a round. Left out: long flows and stripes
        /// never end, others send 1 MB.
        bytes: Option<Bytes> = None, MESSAGES;
        /// Payload of a request. Left out: 100 B for ping-pong, 1600 B for each request of a query (DCTCP paper, 2.2),
        /// none for a barrier, whose senders then need no request, as with "0 B".
        request: Option<Bytes> = None, Bytes::ZERO..=Bytes::from_mib(1 << 40);
        /// Rounds (barrier, ping-pong: of each message size), or queries of each aggregator (partition-aggregate).
        rounds: u32 = 100, 1..=100_000_000;
        /// Time from the last byte of a round to the beginning of the next one (barrier).
        pause: Time = Time::ZERO, MOMENTS;
        /// Each sender begins its part of a round later by a random time, uniform up to this (barrier).
        spread: Time = Time::ZERO, MOMENTS;
        /// Ping-pong over message sizes as in NetPIPE, with answers as long as requests, up to this size. Replaces
        /// `bytes` and `request`.
        largest: Option<Bytes> = None, Bytes::new(1)..=Bytes::from_mb(64_000);
        /// The least of these sizes.
        smallest: Bytes = Bytes::new(1), Bytes::new(1)..=Bytes::from_mb(64_000);
        /// Distance of additional sizes below and above each size; "0 B" for none. Default: NetPIPE's.
        perturbation: Bytes = Bytes::new(3), Bytes::ZERO..=Bytes::from_mb(1);
        /// Distribution of the sizes of sessions (poisson) or answers (partition-aggregate).
        sizes: Sizes = Sizes::default();
        /// Mean time between two sessions of a node (poisson) or two queries of an aggregator (partition-aggregate).
        interval: Time = Time::from_ms(40), INTERVALS;
        /// Offered load (poisson), in place of `interval`: payload of all nodes per second, as a part of the receivers'
        /// own links, summed, or of `load-link`.
        load: Option<f64> = None, 0.000_001..=1_000.0;
        /// The link whose rate `load` refers to: "worker-3" for a node's, "left -- right" for one between switches.
        load_link: Option<String> = None;
        /// Workers asked by a query, chosen at random (partition-aggregate). Left out: all.
        fan_out: Option<u32> = None, 1..=100_000;
        /// A query misses its deadline if its last answer takes longer (partition-aggregate).
        deadline: Option<Time> = None, INTERVALS;
        /// Whether all sessions from one node to another share a connection (poisson). Else each opens its own.
        persistent: bool = false;
        /// Settings of stripes (stripe, mptcp).
        stripe: Stripe = Stripe::default();
        /// The name of another traffic. This one begins when that one has ended; `start` and `stop` count from there.
        after: Option<String> = None;
        /// Time at which it begins.
        start: Time = Time::ZERO, MOMENTS;
        /// Time after which nothing more begins. Left out: the end of the run.
        stop: Option<Time> = None, MOMENTS;
        /// Each flow begins later by a random time, uniform up to this.
        jitter: Time = Time::ZERO, MOMENTS;
        /// A file of flows (csv), its path relative to the scenario's. A line has `start,from,to,bytes`, like
        /// `0.5,worker-1,worker-2,1000000`, with start in seconds. A first line may name the columns, in any order. `#`
        /// begins a comment.
        file: String = String::new();
        /// The flows one by one (csv).
        flow: Vec<GivenFlow> = Vec::new();
        /// The coflows one by one (coflow).
        coflow: Vec<GivenCoflow> = Vec::new();
        /// Factor on the bytes of all coflows.
        data_scale: f64 = 1.0, 1e-6..=1e6;
    }
}

section! {
    /// Flows that belong together: from each node of `from` to each of `to`.
    pub struct GivenCoflow {
        /// Its name in results. Left out: its number.
        name: String = String::new();
        /// Its arrival, after the start of the traffic.
        start: Time = Time::ZERO, MOMENTS;
        /// The nodes that send. What a node has for itself does not cross the network.
        from: Nodes = Nodes::Workers;
        /// The nodes that receive.
        to: Nodes = Nodes::Workers;
        /// Payload of each receiver, in the order of `to`, or one for all; each sender has the same part of it.
        bytes: Vec<Bytes> = vec![Bytes::from_mb(1)], Bytes::ZERO..=Bytes::from_mib(1 << 40);
    }
}

section! {
    /// One flow of a list.
    pub struct GivenFlow {
        /// Its start, after that of the traffic.
        start: Time = Time::ZERO, MOMENTS;
        /// The node that sends.
        from: String = "worker-1".to_owned();
        /// The node that receives.
        to: String = "master".to_owned();
        /// Its payload.
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
        /// Exponent of the tail (pareto); a lower one is heavier. 1 and less need `most`: the mean would be infinite.
        shape: f64 = 1.2, 0.05..=100.0;
        /// A file of the distribution (cdf), its path relative to the scenario's. A line has a size in bytes and the
        /// share of sizes up to it, both increasing. `#` begins a comment.
        file: String = String::new();
        /// The points of the distribution one by one (cdf).
        point: Vec<SizePoint> = Vec::new();
    }
}

section! {
    /// A point of a cumulative distribution.
    pub struct SizePoint {
        /// The size.
        bytes: Bytes = Bytes::ZERO, Bytes::ZERO..=Bytes::from_mib(1 << 40);
        /// Share of sizes up to it; 1 at the last point.
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
