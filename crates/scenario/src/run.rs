//! Faults, and the run itself.

use super::key::{choice, section};
use units::Time;

pub(super) const MOMENTS: std::ops::RangeInclusive<Time> = Time::ZERO..=Time::from_secs(86_400 * 30);
pub(super) const INTERVALS: std::ops::RangeInclusive<Time> = Time::from_ns(1)..=Time::from_secs(86_400 * 30);

section! {
    /// Something that goes wrong at a given time.
    pub struct Fault {
        /// Time of the fault.
        at: Time = Time::ZERO, MOMENTS;
        /// The node that crashes, or becomes slow with `slow`; or the access point that is switched off ("ap-1" is the
        /// first).
        node: Option<String> = None;
        /// The disk of `node` that fails, by its number in results, or becomes slow with `slow`. The DataNode goes on
        /// without it, as with `dfs.datanode.failed.volumes.tolerated`; attempts with files on it fail.
        disk: Option<u32> = None, 0..=999;
        /// The member of `disk`, an array, that fails or becomes slow, by its number. Left out: the first. Parity or
        /// mirrors answer for it; after `down-for` a spare takes its place and is filled.
        member: Option<u32> = None, 0..=63;
        /// The link that goes down, or becomes slow with `slow`, in both directions: "worker-3" for a node's link,
        /// "rack-1 -- core" for one between switches. A bond means all members; "worker-3 #2" is one of them.
        link: Option<String> = None;
        /// The link loses every packet, but keeps its carrier: its ends do not notice. With `->` in its name only in
        /// that direction.
        silent: bool = false;
        /// How long the node or link is down or silent. Left out: for good.
        down_for: Option<Time> = None, INTERVALS;
        /// The node does not crash: its cores run at this part of their speed; the disk or the link is not lost: it
        /// goes at this part of its rate.
        slow: Option<f64> = None, 0.0001..=1.0;
        /// How long the node, disk or link is slow. Left out: for good.
        slow_for: Option<Time> = None, INTERVALS;
    }
}

choice! {
    /// How finely messages between nodes are simulated.
    pub enum Fidelity {
        /// Packet by packet: TCP, queues, losses, the air.
        Packet = "packet",
        /// As streams that share links fairly, below what TCP lets them have: faster, but without queues, so without
        /// what they delay and drop (docs/models/flow.md).
        Flow = "flow",
    }
}

section! {
    /// The run.
    pub struct Run {
        /// Seed of all random streams.
        seed: u64 = 1, 0..=(i64::MAX as u64);
        /// How finely messages between nodes are simulated.
        fidelity: Fidelity = Fidelity::Packet;
        /// With flows: about how many map outputs a MapReduce job's reducers fetch one by one. Where there are more,
        /// each fetch stands for several, of maps that end one after another (docs/models/flow.md). 0 fetches each.
        most_fetches: Option<u64> = None, 0..=1_000_000_000_000;
        /// With flows: how many times as large as by packets the pieces are in which tasks and DataNodes read, compute,
        /// send and write, as far as blocks and sockets allow (docs/models/flow.md). Left out: 1.
        grain: Option<u32> = None, 1..=64;
        /// Simulated time at which the run ends at the latest. It ends earlier when all jobs and all bounded traffic
        /// are done.
        until: Time = Time::from_secs(86_400), Time::from_ns(1)..=Run::LATEST;
        /// A run whose jobs make no progress for this long fails; an account says who waits for what. 0 disables the
        /// check.
        no_progress: Time = Time::from_secs(2 * 3600), Time::ZERO..=Time::from_secs(86_400 * 180);
        /// Step of the sampled series. It doubles as often as needed to keep a series within 4,096 steps. Left out: 1
        /// ms to begin with, so that a run has thousands of steps however long it takes.
        sample: Option<Time> = None, Time::from_us(1)..=Time::from_secs(86_400);
        /// Whether to record exactly how long each queue has each length. Costs about a third more time.
        occupancy: bool = false;
        /// Figures named "warm" count from this time on.
        warm_up: Time = Time::ZERO, MOMENTS;
    }
}

impl Run {
    /// The latest end that a run may have.
    pub const LATEST: Time = Time::from_secs(86_400 * 180);
}
