//! Faults, and the run itself.

use super::key::{choice, section};
use units::Time;

pub(super) const MOMENTS: std::ops::RangeInclusive<Time> = Time::ZERO..=Time::from_secs(86_400 * 30);
pub(super) const INTERVALS: std::ops::RangeInclusive<Time> = Time::from_ns(1)..=Time::from_secs(86_400 * 30);

section! {
    /// Something that goes wrong at a given time.
    pub struct Fault {
        /// When.
        at: Time = Time::ZERO, MOMENTS;
        /// The node that crashes, or becomes slow; or the access point that is switched off: "ap-1" is the first.
        node: Option<String> = None;
        /// The link that goes down, both ways: "worker-3" for that node's, "rack-1 -- core" for one between switches;
        /// of a bond all members, or one: "worker-3 #2".
        link: Option<String> = None;
        /// The link does not go down: it carries nothing, and both ends see nothing of it but that; with `->` in its
        /// name only that way.
        silent: bool = false;
        /// How long it is down or silent; left out, for good.
        down_for: Option<Time> = None, INTERVALS;
        /// The node does not crash, its cores go on at this part of their speed.
        slow: Option<f64> = None, 0.0001..=1.0;
        /// How long it is slow; left out, for good.
        slow_for: Option<Time> = None, INTERVALS;
    }
}

choice! {
    /// How finely messages between nodes are simulated.
    pub enum Fidelity {
        /// Packet by packet: TCP, queues, losses, the air.
        Packet = "packet",
        /// As whole messages that share nodes' interfaces: experimental, and much is not modelled
        /// (docs/architecture.md).
        Flow = "flow",
    }
}

section! {
    /// The run.
    pub struct Run {
        /// The seed of every random stream.
        seed: u64 = 1, 0..=(i64::MAX as u64);
        /// How finely messages between nodes are simulated.
        fidelity: Fidelity = Fidelity::Packet;
        /// Simulated time at which the run ends, if all jobs and traffic have not ended before.
        until: Time = Time::from_secs(86_400), Time::from_ns(1)..=Time::from_secs(86_400 * 180);
        /// A run whose jobs make no progress for this long fails with an account of who waits for what; 0 for never.
        no_progress: Time = Time::from_secs(2 * 3600), Time::ZERO..=Time::from_secs(86_400 * 180);
        /// Step of the sampled series; doubled as often as needed to keep a series within 4,096 steps.
        sample: Time = Time::from_ms(100), Time::from_us(1)..=Time::from_secs(86_400);
        /// Whether to keep, exactly, for how long each queue has each length; it takes about a third more time.
        occupancy: bool = false;
        /// Time after which the figures called warm begin.
        warm_up: Time = Time::ZERO, MOMENTS;
    }
}
