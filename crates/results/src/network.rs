//! Flows, links, nodes and disks.

use super::disk_power::{DISK_POWER, DiskPower};
use super::energy::{RADIO, RadioUse};
use super::imbalance::NodeLoad;
use super::metrics::{Metrics, Row, figure, widened};
use super::value::Value;
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
    /// Window reductions because of ECN-Echo.
    pub ecn_reductions: u64,
    /// Retransmitted segments.
    pub retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Zero windows announced by receivers.
    pub zero_windows: u64,
    /// The most unsent data of any connection.
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
    /// Retransmitted segments, both ways.
    pub retransmissions: u64,
    /// Retransmission timeouts, both ways.
    pub timeouts: u64,
    /// Zero windows announced by either end.
    pub zero_windows: u64,
    /// Its packets that queues dropped, both ways.
    pub drops: u64,
    /// Final smoothed round-trip time of the end that sent more.
    pub rtt: Option<Time>,
    /// The least round-trip time that this end saw: the path without queueing, as far as it met it so.
    pub least_rtt: Option<Time>,
    /// What kept that end from sending more, of connections of jobs that lasted until a sample.
    pub limits: Option<Limits>,
    /// Its largest cwnd at a sample; zero where none was seen.
    pub window_max: Bytes,
}

/// How often each cause kept a sender from sending more, looked at once a sample step: the application, cwnd, the
/// peer's window, loss recovery, a timeout, its own pace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits(pub [u32; Limits::NAMES.len()]);

impl Limits {
    /// Names of the causes in tables and on the page, in their order.
    pub const NAMES: [&'static str; 6] = ["application", "window", "peer", "recovery", "timeout", "pace"];

    /// The most frequent cause, and its part of the looks.
    pub fn main(&self) -> (usize, f64) {
        let all: u32 = self.0.iter().sum();
        let most = (0..self.0.len()).max_by_key(|at| (self.0[*at], std::cmp::Reverse(*at))).unwrap_or(0);
        (most, f64::from(self.0[most]) / f64::from(all.max(1)))
    }
}

/// What is at an end of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkEnd {
    /// A node: a row of `nodes`.
    Node(u32),
    /// A switch.
    #[default]
    Switch,
    /// The air, or an access point at it.
    Air,
}

/// One direction of a link and the queue at its head.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Link {
    /// "worker-1 -> switch"; "worker-1 -> switch #2" is the second member of a bond.
    pub name: String,
    /// What sends on it.
    pub from: LinkEnd,
    /// What receives from it.
    pub to: LinkEnd,
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
    /// Distribution of the queue length over time: length in packets, part of the run. Empty unless `run.occupancy` is
    /// set.
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
    /// Core time that it has used: seconds of its cores at their own speed.
    pub cpu_work: Time,
    /// Share of its cores busy in each step, 0 to 1.
    pub cpu_utilisation: Vec<f32>,
    /// What its radio did, where it is on the air.
    pub radio: Option<RadioUse>,
    /// Mean cwnd, in bytes, of its senders of jobs' data at the end of each step; zero where none had any in flight.
    pub window_series: Vec<u32>,
    /// What its radio drew in each step, in watts; empty where that is not known.
    pub radio_power: Vec<f32>,
    /// Of a worker of a run with jobs, what of their bytes is its own.
    pub load: Option<NodeLoad>,
}

/// A disk of a node or host.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Disk {
    /// "worker-1 disk 0", "host-0 disk 0"; "worker-1 disk 1 #2" for a member of an array.
    pub name: String,
    /// The node it belongs to, or the first one that shares it.
    pub node: u32,
    /// What it holds: the words of its `role`.
    pub role: String,
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
    /// Bytes written to flash cells for these writes, garbage collection included: wear.
    pub programmed: Bytes,
    /// Share of each step spent serving, 0 to 1.
    pub utilisation: Vec<f32>,
    /// Rate of its reads in each step, in bytes a second.
    pub read_rate: Vec<f32>,
    /// Rate of its writes in each step, in bytes a second.
    pub write_rate: Vec<f32>,
    /// What it drew and when it rested, where the scenario says what it draws.
    pub power: Option<DiskPower>,
}

impl Link {
    /// Whether it leads from a node to itself.
    pub fn is_loopback(&self) -> bool {
        matches!(self.from, LinkEnd::Node(_)) && self.from == self.to
    }

    /// The least length that the queue did not exceed for this part of the time (0 to 1): a quantile over time, not
    /// over packets.
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

/// Sums over the whole network.
pub static NETWORK: Metrics<NetworkTotals> = Metrics {
    name: "network",
    what: "Sums over the whole network.",
    file: None,
    metrics: &[
        figure("packets", "Packets that entered the network, data and ACKs.")
            .label("packets")
            .count("packets", |sum| sum.packets),
        figure("hops", "Packets accepted by a link's transmitter, summed over links.")
            .label("hops")
            .count("packets", |sum| sum.hops),
        figure("drops", "Packets dropped at full queues or by an AQM.")
            .label("drops")
            .count("packets", |sum| sum.drops),
        figure("lost", "Packets lost on links, at random or because the link went down.")
            .label_if_any("lost on links")
            .rank(1)
            .count("packets", |sum| sum.lost),
        figure("marks", "Packets marked with congestion experienced.")
            .label_if_any("marks")
            .rank(1)
            .count("packets", |sum| sum.marks),
        figure("ecn_reductions", "Times that an echo of such a mark made a sender reduce its window.")
            .count("times", |sum| sum.ecn_reductions),
        figure("retransmissions", "Segments sent again.")
            .label("retransmissions")
            .count("segments", |sum| sum.retransmissions),
        figure("timeouts", "Retransmission timeouts.").label("timeouts").count("times", |sum| sum.timeouts),
        figure("zero_windows", "Times that a receiver closed its window.")
            .label_if_any("zero windows")
            .rank(1)
            .count("times", |sum| sum.zero_windows),
        figure("most_unsent_bytes", "The most that an application had written to a connection and TCP had not sent.")
            .bytes(|sum| sum.most_unsent),
    ],
};

/// Figures of a connection.
pub static FLOWS: Metrics<Flow> = Metrics {
    name: "flows",
    what: "A TCP connection.",
    file: Some("flows"),
    metrics: &[
        figure("from", "The node that opened it.").text(|flow| flow.node(flow.from)),
        figure("to", "The node that accepted it.").text(|flow| flow.node(flow.to)),
        figure("service", "`rpc`, `umbilical`, `data`, `shuffle`, or the name of its traffic.")
            .text(|flow| flow.service.clone()),
        figure("start_s", "When it was opened.").time(|flow| flow.start),
        figure(
            "finish_s",
            "When its last byte was acknowledged and it closed; none if it was open at the end or died.",
        )
        .optional_time(|flow| flow.finish),
        figure("reset", "Whether it was reset or given up.").flag(|flow| flow.reset),
        figure("bytes", "Payload delivered in order at the node that accepted it.").bytes(|flow| flow.bytes),
        figure("bytes_back", "Payload delivered in order at the node that opened it.").bytes(|flow| flow.bytes_back),
        figure("retransmissions", "Segments sent again, both ways.").of_packets().count("segments", |flow| flow.retransmissions),
        figure("timeouts", "Retransmission timeouts, both ways.").of_packets().count("times", |flow| flow.timeouts),
        figure("zero_windows", "Times that either end closed its window.").of_packets().count("times", |flow| flow.zero_windows),
        figure("rtt_s", "The smoothed round-trip time at the end, as the busier sender saw it.")
            .optional_time(|flow| flow.rtt),
        figure("drops", "Its packets that queues dropped, both ways.").of_packets().count("packets", |flow| flow.drops),
        figure("least_rtt_s", "The least round-trip time that this sender saw.").optional_time(|flow| flow.least_rtt),
        figure(
            "limited_by",
            "Of jobs: what kept this sender from sending more at most samples: `application` (nothing more was written), \
             `window` (cwnd), `peer` (its window), `recovery`, `timeout`, `pace`; empty where no sample fell into it.",
        )
        .text(|flow| flow.limits.map_or_else(String::new, |limits| Limits::NAMES[limits.main().0].to_owned())),
        figure("limited_share", "At which part of the samples.")
            .number("share", |flow| flow.limits.map_or(0.0, |limits| limits.main().1)),
        figure("window_max_bytes", "Of jobs: its largest cwnd at a sample.").of_packets().bytes(|flow| flow.window_max),
    ],
};

/// Links. Studies read them as `link.FROM -> TO.drops`.
pub static LINKS: Metrics<Link> = Metrics {
    name: "links",
    what: "One direction of a link, with the queue at its head.",
    file: Some("links"),
    metrics: &[
        figure("name", "`FROM -> TO`; a bond's second member ends in ` #2`.")
            .column("link")
            .text(|link| link.name.clone()),
        figure("bond", "The bond that it is a member of, else nothing.").no_key().text(|link| link.bond.clone()),
        figure("rate_bps", "Its rate; behind a token bucket the bucket's.").rate(|link| link.rate),
        figure("delay_s", "Its propagation delay.").no_key().time(|link| link.delay),
        figure("utilisation", "The part of the run in which it transmitted.").rank(1).number("share", |link| link.used),
        figure("packets", "Packets accepted by its transmitter.").count("packets", |link| link.packets),
        figure("bytes", "Bytes on the wire.").no_key().bytes(|link| link.bytes),
        figure("drops", "Packets that its queue dropped.").count("packets", |link| link.drops),
        figure("marks", "Packets that its queue marked.").count("packets", |link| link.marks),
        figure("lost", "Packets lost on it.").no_key().count("packets", |link| link.lost),
        figure("queue_mean_packets", "Packets in its queue, mean over time.")
            .path("queue_mean")
            .number("packets", |link| link.queue_mean),
        figure("queue_p50_packets", "Packets in its queue, median over time; with `run.occupancy`.")
            .rank(2)
            .optional_count("packets", |link| link.queue_quantile(0.5)),
        figure("queue_p95_packets", "Packets in its queue, 95 % quantile over time.")
            .rank(2)
            .optional_count("packets", |link| link.queue_quantile(0.95)),
        figure("queue_p99_packets", "Packets in its queue, 99 % quantile over time.")
            .rank(2)
            .optional_count("packets", |link| link.queue_quantile(0.99)),
        figure("queue_max_packets", "The most packets in its queue.")
            .path("queue_max")
            .count("packets", |link| link.queue_max),
        figure("queue_series", "Packets in its queue at the end of each step.")
            .no_column()
            .series("packets", |link| widened(&link.queue_packets)),
        figure("queue_bytes_series", "Bytes in its queue at the end of each step.")
            .no_column()
            .series("B", |link| widened(&link.queue_bytes)),
        figure("drop_series", "Packets that its queue dropped in each step.")
            .no_column()
            .series("packets", |link| widened(&link.drop_series)),
        figure("utilisation_series", "The part of each step in which it transmitted.")
            .no_column()
            .series("share", |link| widened(&link.utilisation)),
    ],
};

/// How long the queue of a link had a length; the row's owner is the link.
pub static OCCUPANCY: Metrics<(u64, f64)> = Metrics {
    name: "occupancy",
    what: "A length that a queue had, with `run.occupancy`; a queue that was never used has no row.",
    file: Some("occupancy"),
    metrics: &[
        figure("link", "The link.").text(|row| row.run.links[row.owner].name.clone()),
        figure("packets", "How many packets waited.").count("packets", |row| row.0),
        figure("share", "Part of the run for which the queue had this length.").number("share", |row| row.1),
    ],
};

/// A step of the samples of a link, counted from 0; the row's owner is the link.
pub struct LinkStep(pub usize);

/// The sampled series of links.
pub static QUEUES: Metrics<LinkStep> = Metrics {
    name: "queues",
    what: "A link in one step of the samples, if anything was sent, queued, dropped or marked.",
    file: Some("queues"),
    metrics: &[
        figure("link", "The link.").text(|step| link_of(step).name.clone()),
        figure("time_s", "The end of the step.").time(|step| step.run.sample_interval * (step.0 as u64 + 1)),
        figure("utilisation", "The part of the step in which it transmitted.")
            .number("share", |step| link_of(step).utilisation[step.0].into()),
        figure("queue_bytes", "Bytes in its queue at the end of the step.")
            .count("B", |step| at(&link_of(step).queue_bytes, step)),
        figure("queue_packets", "Packets in its queue at the end of the step.")
            .count("packets", |step| at(&link_of(step).queue_packets, step)),
        figure("dropped", "Packets that its queue dropped.")
            .count("packets", |step| at(&link_of(step).drop_series, step)),
        figure("marked", "Packets that its queue marked.")
            .count("packets", |step| at(&link_of(step).mark_series, step)),
    ],
};

fn link_of(step: Row<'_, LinkStep>) -> &Link {
    &step.run.links[step.owner]
}

fn at(values: &[u32], step: Row<'_, LinkStep>) -> u64 {
    values.get(step.0).copied().unwrap_or(0).into()
}

impl Link {
    /// The steps of the samples in which anything happened.
    pub(crate) fn steps(&self) -> impl Iterator<Item = LinkStep> {
        let some = |values: &[u32], step| values.get(step).is_some_and(|value| *value > 0);
        let busy = move |step: &usize| {
            self.utilisation[*step] != 0.0
                || [&self.queue_packets, &self.drop_series, &self.mark_series].iter().any(|values| some(values, *step))
        };
        (0..self.utilisation.len()).filter(busy).map(LinkStep)
    }
}

/// Ends of bonds.
pub static BONDS: Metrics<Bond> = Metrics {
    name: "bonds",
    what: "One end of a bond.",
    file: None,
    metrics: &[
        figure("name", "The bond's name.").text(|bond| bond.name.clone()),
        figure("at", "The node or switch at this end.").text(|bond| bond.at.clone()),
        figure(
            "members",
            "The links on which this end sends, each with `link`, `packets`, `bytes`, `drops` and `lost`.",
        )
        .entries("as in `links`", |bond| {
            let links = bond.members.iter().filter_map(|link| bond.run.links.get(*link as usize));
            let member = |link| LINKS.pick(Row::new(link, bond.run), &["link", "packets", "bytes", "drops", "lost"]);
            Value::List(links.map(member).collect())
        }),
        figure("packets", "Packets handed to members.").count("packets", |bond| bond.packets),
        figure("drops", "Packets dropped because too many waited for the end's processor.")
            .count("packets", |bond| bond.drops),
        figure("lost", "Packets lost because no member was usable.").count("packets", |bond| bond.lost),
        figure("lacpdus_sent", "LACPDUs sent.").count("LACPDUs", |bond| bond.lacpdus_sent),
        figure("lacpdus_received", "LACPDUs received.").count("LACPDUs", |bond| bond.lacpdus_received),
        figure("lacpdus_lost", "LACPDUs sent from here that were lost on the way.")
            .count("LACPDUs", |bond| bond.lacpdus_lost),
        figure("churns", "Times that a port here was out of synchronization for 60 s.")
            .count("times", |bond| bond.churns),
    ],
};

/// The master and the workers.
pub static NODES: Metrics<Node> = Metrics {
    name: "nodes",
    what: "The master or a worker.",
    file: Some("nodes"),
    metrics: &[
        figure("name", "`master`, `worker-1`, ...").column("node").text(|node| node.name.clone()),
        figure("rack", "The rack it stands in, from 1.").count("number", |node| node.rack.into()),
        figure("host", "The physical machine it shares with others, from 0; -1 for none.")
            .no_key()
            .index(|node| node.host),
        figure("interface_received", "Bytes received through its interface, headers included.")
            .bytes(|node| node.interface_received),
        figure("interface_sent", "Bytes sent through its interface, headers included.")
            .bytes(|node| node.interface_sent),
        figure("cpu_work_s", "Core time that it has used: seconds of its cores at their own speed.")
            .time(|node| node.cpu_work),
        figure("radio_s", "Of a node on the air, what its radio did.")
            .may_be_absent()
            .inner(&RADIO, |node| RADIO.maybe(node.run, node.radio.as_ref())),
        figure("stored_at_start", "Of a worker of jobs, bytes of the HDFS replicas on it when the run began.")
            .may_be_absent()
            .rank(1)
            .optional_bytes(|node| Some(node.load?.stored_at_start)),
        figure("stored", "The same when the run ended.")
            .may_be_absent()
            .rank(1)
            .optional_bytes(|node| Some(node.load?.stored)),
        figure("map_input", "Input of the maps that succeeded on it.")
            .may_be_absent()
            .rank(1)
            .optional_bytes(|node| Some(node.load?.map_input)),
        figure("shuffle_received", "Map output that its reducers received whole over the network.")
            .may_be_absent()
            .rank(1)
            .optional_bytes(|node| Some(node.load?.shuffle_received)),
        figure("shuffle_sent", "Map output that reducers of other nodes received whole from it.")
            .may_be_absent()
            .rank(1)
            .optional_bytes(|node| Some(node.load?.shuffle_sent)),
        figure("reduce_input", "What the reduces that succeeded on it have taken in, from its own maps and others.")
            .may_be_absent()
            .rank(2)
            .optional_bytes(|node| Some(node.load?.reduce_input)),
        figure("cpu", "The part of its cores that was busy in each step.")
            .series("share", |node| widened(&node.cpu_utilisation)),
        figure("cwnd", "Mean cwnd of its senders of jobs' data at the end of each step.")
            .series("B", |node| widened(&node.window_series)),
        figure("radio-watts", "What its radio drew in each step.").series("W", |node| widened(&node.radio_power)),
    ],
};

/// Figures of a disk.
pub static DISKS: Metrics<Disk> = Metrics {
    name: "disks",
    what: "A disk of a node, or of a host that nodes share.",
    file: Some("disks"),
    metrics: &[
        figure("name", "`worker-1 disk 0`, `host-0 disk 0`; `worker-1 disk 1 #2` of an array.")
            .column("disk")
            .text(|disk| disk.name.clone()),
        figure("node", "The node it belongs to, or the first one that shares it.")
            .no_key()
            .text(|disk| disk.node(disk.node)),
        figure("read", "Bytes read.").column("read_bytes").bytes(|disk| disk.read),
        figure("written", "Bytes written.").column("written_bytes").bytes(|disk| disk.written),
        figure("requests", "Requests served.").count("requests", |disk| disk.requests),
        figure("seeks", "Times that it positioned.").count("times", |disk| disk.seeks),
        figure("busy_s", "Time spent serving.").time(|disk| disk.busy),
        figure("role", "What it holds: the words of its `role`.").text(|disk| disk.role.clone()),
        figure("programmed", "Bytes written to flash cells, garbage collection included: wear.")
            .column("programmed_bytes")
            .bytes(|disk| disk.programmed),
        figure("power", "What it drew and when it rested.")
            .may_be_absent()
            .inner(&DISK_POWER, |disk| DISK_POWER.maybe(disk.run, disk.power.as_ref())),
        figure("disk_power", "Mean power in each step, where it is known.")
            .no_column()
            .series("W", |disk| disk.power.as_ref().map(|power| widened(&power.series)).unwrap_or_default()),
        figure("disk", "The part of each step spent serving.").series("share", |disk| widened(&disk.utilisation)),
        figure("read-rate", "Rate of its reads in each step, each turn of the head counted at its end.")
            .series("B/s", |disk| widened(&disk.read_rate)),
        figure("write-rate", "The same of its writes.").series("B/s", |disk| widened(&disk.write_rate)),
    ],
};
