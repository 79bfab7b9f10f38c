//! Flows, links, nodes and disks.

use super::energy::RadioUse;
use units::{BitRate, Bytes, Time};

/// Sums over the whole network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NetworkTotals {
    /// Packets that entered the network, data and ACKs.
    pub packets: u64,
    /// Packets accepted by a link's transmitter, summed over links.
    pub hops: u64,
    /// Packets dropped at full queues or by an AQM.
    pub drops: u64,
    /// Packets lost on links, at random or because the link went down.
    pub lost: u64,
    /// Packets marked with congestion experienced.
    pub marks: u64,
    /// Times that an echo of such marks made a sender reduce its window.
    pub ecn_reductions: u64,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Times that a receiver closed its window.
    pub zero_windows: u64,
    /// The most that an application had written to a connection and TCP had not sent.
    pub most_unsent: Bytes,
}

/// One TCP connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// The node that opened it.
    pub from: u32,
    /// The node that accepted it.
    pub to: u32,
    /// What it was for: `rpc`, `umbilical`, `data`, `shuffle`, or the name of its `[[traffic]]`.
    pub service: String,
    /// When it was opened.
    pub start: Time,
    /// When its last byte was acknowledged and it closed; none if it was open at the end or died.
    pub finish: Option<Time>,
    /// Whether it was reset or given up.
    pub reset: bool,
    /// Payload delivered in order at the node that accepted.
    pub bytes: Bytes,
    /// Payload delivered in order at the node that opened.
    pub bytes_back: Bytes,
    /// Segments sent again, both ways.
    pub retransmissions: u64,
    /// Retransmission timeouts, both ways.
    pub timeouts: u64,
    /// Times that either end closed its window.
    pub zero_windows: u64,
    /// Its packets that queues dropped, both ways.
    pub drops: u64,
    /// The smoothed round-trip time at the end, as the busier sender saw it.
    pub rtt: Option<Time>,
}

/// One direction of a link and the queue at its head.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Link {
    /// "worker-1 -> switch"; "worker-1 -> switch #2" is the second member of a bond.
    pub name: String,
    /// The bond that it is a member of, else nothing.
    pub bond: String,
    /// Its rate.
    pub rate: BitRate,
    /// Its propagation delay.
    pub delay: Time,
    /// Packets accepted by its transmitter.
    pub packets: u64,
    /// Bytes on the wire.
    pub bytes: Bytes,
    /// Packets that its queue dropped.
    pub drops: u64,
    /// Packets that its queue marked.
    pub marks: u64,
    /// Packets lost on it.
    pub lost: u64,
    /// Mean packets in the queue over time.
    pub queue_mean: f64,
    /// Most packets in the queue.
    pub queue_max: u64,
    /// For which part of the run so many packets waited, of each number that did; empty where that was not kept.
    pub queue_shares: Vec<(u64, f64)>,
    /// The part of the run in which it transmitted, 0 to 1.
    pub used: f64,
    /// Share of each step in which it transmitted, 0 to 1.
    pub utilisation: Vec<f32>,
    /// Bytes in the queue at the end of each step.
    pub queue_bytes: Vec<u32>,
    /// Packets in the queue at the end of each step.
    pub queue_packets: Vec<u32>,
    /// Packets dropped in each step.
    pub drop_series: Vec<u32>,
    /// Packets marked in each step.
    pub mark_series: Vec<u32>,
}

/// One end of a bond; what its members carried stands with the links.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bond {
    /// Its name.
    pub name: String,
    /// The node or switch at this end.
    pub at: String,
    /// The links on which this end sends: rows of `links`.
    pub members: Vec<u32>,
    /// Packets handed to members.
    pub packets: u64,
    /// Packets dropped because too many waited for the end's processor.
    pub drops: u64,
    /// Packets lost because no member was usable.
    pub lost: u64,
    /// LACPDUs sent.
    pub lacpdus_sent: u64,
    /// LACPDUs received.
    pub lacpdus_received: u64,
    /// LACPDUs sent from here that were lost on the way.
    pub lacpdus_lost: u64,
    /// Times that a port here was out of synchronization for 60 s.
    pub churns: u64,
}

/// The master or a worker.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node {
    /// "master", "worker-1".
    pub name: String,
    /// The rack it stands in, from 1.
    pub rack: u32,
    /// The physical machine it shares with others, if any, from 0.
    pub host: Option<u32>,
    /// Bytes received through its interface, headers included.
    pub interface_received: Bytes,
    /// Bytes sent through its interface, headers included.
    pub interface_sent: Bytes,
    /// Work done by its processor, in seconds of one core at speed 1.
    pub cpu_work: Time,
    /// Share of its cores busy in each step, 0 to 1.
    pub cpu_utilisation: Vec<f32>,
    /// What its radio did, where it is on the air.
    pub radio: Option<RadioUse>,
    /// What its radio drew in each step, in watts; empty where that is not known.
    pub radio_power: Vec<f32>,
}

/// A disk of a node or host.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Disk {
    /// "worker-1 disk 0", "host-0 disk 0".
    pub name: String,
    /// The node it belongs to, or the first one that shares it.
    pub node: u32,
    /// Bytes read.
    pub read: Bytes,
    /// Bytes written.
    pub written: Bytes,
    /// Requests served.
    pub requests: u64,
    /// Times that it positioned.
    pub seeks: u64,
    /// Time spent serving.
    pub busy: Time,
    /// Share of each step spent serving, 0 to 1.
    pub utilisation: Vec<f32>,
}

impl Link {
    /// The least length that the queue did not exceed for this part of the time (0 to 1): a quantile over time, not over packets.
    pub fn queue_quantile(&self, part: f64) -> Option<u64> {
        let mut sum = 0.0;
        let within = |share: f64| share >= part - 1e-12;
        let reached = self.queue_shares.iter().find(|(_, share)| {
            sum += share;
            within(sum)
        });
        reached.or(self.queue_shares.last()).map(|(packets, _)| *packets)
    }
}
