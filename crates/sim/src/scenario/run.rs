//! Plain traffic, faults, and the run itself.

use super::key::{choice, section};
use super::network::Nodes;
use units::{Bytes, Time};

const MOMENTS: std::ops::RangeInclusive<Time> = Time::ZERO..=Time::from_secs(86_400 * 30);
const INTERVALS: std::ops::RangeInclusive<Time> = Time::from_ns(1)..=Time::from_secs(86_400 * 30);
const MESSAGES: std::ops::RangeInclusive<Bytes> = Bytes::new(1)..=Bytes::from_mib(1 << 40);

choice! {
    /// Kinds of traffic without Hadoop.
    pub enum TrafficKind {
        /// From each node of `from` to each of `to`, in pairs if there are as many: `flows` connections that send `bytes`, or without end.
        Long = "long",
        /// From every node of `from` to every other of `to`, `bytes` each.
        AllToAll = "all-to-all",
        /// Barrier-synchronised reads: the one of `to` asks each node of `from` for `bytes` per round; the next round starts when the last is in.
        Barrier = "barrier",
        /// From each node of `from`, sessions of `bytes` to `to` that begin by a Poisson process of mean interval `interval`.
        Poisson = "poisson",
        /// Requests of `request` bytes and answers of `bytes`, one after the other, `rounds` times; or the same over message sizes up to `largest`.
        PingPong = "ping-pong",
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
        /// Payload of a flow, session, answer, or of one sender's share of a round; left out, long flows never end and others send 1 MB.
        bytes: Option<Bytes> = None, MESSAGES;
        /// Payload of a request; left out, ping-pong's has 100 B, and a barrier's senders send without being asked, as with "0 B".
        request: Option<Bytes> = None, Bytes::ZERO..=Bytes::from_mib(1 << 40);
        /// Rounds (barrier, ping-pong: of each message size).
        rounds: u32 = 100, 1..=100_000_000;
        /// Ping-pong over message sizes as NetPIPE does it, as much back as forth, up to this size; `bytes` and `request` are not used then.
        largest: Option<Bytes> = None, Bytes::new(1)..=Bytes::from_mb(64_000);
        /// The least of these sizes.
        smallest: Bytes = Bytes::new(1), Bytes::new(1)..=Bytes::from_mb(64_000);
        /// How far below and above each of these sizes is measured too; "0 B" for nothing but the sizes.
        perturbation: Bytes = Bytes::new(3), Bytes::ZERO..=Bytes::from_mb(1);
        /// Mean time between the beginnings of sessions (poisson).
        interval: Time = Time::from_ms(40), INTERVALS;
        /// Whether all sessions of a node use one connection (poisson); else each opens its own.
        persistent: bool = false;
        /// When it begins.
        start: Time = Time::ZERO, MOMENTS;
        /// When no more of it begins; left out, when the run ends.
        stop: Option<Time> = None, MOMENTS;
        /// Each flow begins later by a random time up to this.
        jitter: Time = Time::ZERO, MOMENTS;
        /// A file of flows, its path relative to the scenario's (csv): a line for each, `start,from,to,bytes` like `0.5,worker-1,worker-2,1000000`, start in seconds; `#` begins a comment.
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

section! {
    /// Something that goes wrong at a given time.
    pub struct Fault {
        /// When.
        at: Time = Time::ZERO, MOMENTS;
        /// The node that crashes, or becomes slow.
        node: Option<String> = None;
        /// The link that goes down, both ways: "worker-3" for that node's, "rack-1 -- core" for one between switches; of a bond all members, or one: "worker-3 #2".
        link: Option<String> = None;
        /// The link does not go down: it carries nothing, and both ends see nothing of it but that; with `->` in its name only that way.
        silent: bool = false;
        /// How long it is down or silent; left out, for good.
        down_for: Option<Time> = None, INTERVALS;
        /// The node does not crash, its cores go on at this part of their speed.
        slow: Option<f64> = None, 0.0001..=1.0;
        /// How long it is slow; left out, for good.
        slow_for: Option<Time> = None, INTERVALS;
    }
}

section! {
    /// The run.
    pub struct Run {
        /// The seed of every random stream.
        seed: u64 = 1, 0..=(i64::MAX as u64);
        /// Simulated time at which the run ends, if all jobs and traffic have not ended before.
        until: Time = Time::from_secs(86_400), Time::from_ns(1)..=Time::from_secs(86_400 * 180);
        /// Step of the sampled series; doubled as often as needed to keep a series within 4,096 steps.
        sample: Time = Time::from_ms(100), Time::from_us(1)..=Time::from_secs(86_400);
        /// Time after which the figures called warm begin.
        warm_up: Time = Time::ZERO, MOMENTS;
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
}
