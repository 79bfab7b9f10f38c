//! The network: topology, links, queues, shaping.

use super::bond::Bond;
use super::key::{Key, choice, section, wrong_kind};
use super::problem::Problems;
use super::queue::{Port, Queue, QueueLimit, SharedBuffer};
use super::tree::{Tree, Value};
use super::wifi::{Wifi, WifiMode};
use serde_json::{Value as Json, json};
use units::{BitRate, Bytes, Time};

/// The slowest and fastest link.
const RATES: std::ops::RangeInclusive<BitRate> = BitRate::from_bps(1)..=BitRate::from_gbps(10_000);
const DELAYS: std::ops::RangeInclusive<Time> = Time::ZERO..=Time::from_secs(100);

choice! {
    /// How nodes are wired.
    pub enum TopologyKind {
        /// All nodes on one switch.
        Star = "star",
        /// Two switches with a core link between them.
        TwoRacks = "two-racks",
        /// A switch per rack, each with a core link to a root switch.
        Tree = "tree",
        /// A switch per rack, each with a core link to every spine switch. ECMP by hash of the 5-tuple.
        LeafSpine = "leaf-spine",
        /// Two routers with a core link between them: `left` with the master and the first half of the workers, `right`
        /// with the others.
        Dumbbell = "dumbbell",
        /// A fat-tree: three layers of switches with `ports` ports (Al-Fares et al. 2008). Nodes fill its edge switches
        /// in order.
        FatTree = "fat-tree",
        /// DCell: mini-switches of `cell` servers, and links between servers, which forward, over `level` levels (Guo
        /// et al. 2008). Shortest paths.
        Dcell = "dcell",
        /// A chain of `hops` core links. Master and worker 1 are at its start, worker 2 is at its end. Each further
        /// pair of workers is at the ends of one hop, in turn.
        ParkingLot = "parking-lot",
        /// The links of `[[network.link]]`.
        Graph = "graph",
        /// Wireless: `[network.wifi]` and `[mobility]`.
        Wifi = "wifi",
    }
}

choice! {
    /// Bytes of a packet on the wire beyond its IP length.
    pub enum Framing {
        /// None: links count IP packets, as point-to-point links of ns-2 and ns-3 do.
        None = "none",
        /// Ethernet: header, checksum, preamble and gap, 38 bytes.
        Ethernet = "ethernet",
    }
}

section! {
    /// The network between the nodes.
    pub struct Network {
        /// The topology.
        topology: TopologyKind = TopologyKind::Star;
        /// Number of racks (tree, leaf-spine); two-racks always has two.
        racks: u32 = 2, 1..=10_000;
        /// Number of spine switches (leaf-spine).
        spines: u32 = 2, 1..=1_000;
        /// Ports of each switch (fat-tree); even. k ports have room for k^3 / 4 nodes.
        ports: u32 = 4, 2..=128;
        /// Servers on a mini-switch (dcell). Servers of the structure beyond the nodes only forward.
        cell: u32 = 4, 1..=1_000;
        /// Levels above the mini-switches (dcell).
        level: u32 = 1, 0..=4;
        /// Core links in a row (parking-lot).
        hops: u32 = 3, 1..=1_000;
        /// Rate of each link between a node and its switch.
        rate: BitRate = BitRate::from_gbps(1), RATES;
        /// Propagation delay of each link between a node and its switch, one way.
        delay: Time = Time::from_us(25), DELAYS;
        /// Probability that a packet is lost on a link between a node and its switch, independent of others.
        loss: f64 = 0.0, 0.0..=1.0;
        /// The queue of each switch port.
        queue: Queue = Queue::default();
        /// The queue of each node's interface.
        host_queue: Queue = Queue { limit: QueueLimit::Packets(1000), ..Queue::default() };
        /// Queues of single links. An entry overrides `queue` and `host-queue`; a later entry overrides an earlier one.
        port: Vec<Port> = Vec::new();
        /// A buffer that all ports of a switch share. Left out: each port has its own buffer.
        shared_buffer: Option<SharedBuffer> = None;
        /// Order of classes for queues of kind `priority`: services (`rpc`, `umbilical`, `data`, `shuffle`) or names of
        /// traffic, most urgent first. All others form the last class.
        priority: Vec<String> = Vec::new();
        /// The links between switches.
        core: Core = Core::default();
        /// Bytes of each packet on the wire beyond its IP length.
        framing: Framing = Framing::Ethernet;
        /// Largest IP packet.
        mtu: Bytes = Bytes::new(1500), Bytes::new(100)..=Bytes::new(65_535);
        /// Largest TCP payload of a packet. Left out: the MTU less headers and the options in use.
        mss: Option<Bytes> = None, Bytes::new(1)..=Bytes::new(65_495);
        /// Token buckets on nodes' links.
        shape: Vec<Shape> = Vec::new();
        /// The links of topology graph. A name that is no node's is a switch.
        link: Vec<GraphLink> = Vec::new();
        /// Bonds: several parallel links in the place of one.
        bond: Vec<Bond> = Vec::new();
        /// Radios and propagation (topology wifi).
        wifi: Option<Wifi> = None;
    }
}

section! {
    /// Links between switches.
    pub struct Core {
        /// Rate of each core link. Left out: the rates of a rack's nodes, summed, divided by `oversubscription` and by
        /// the number of spines. Dumbbell, fat-tree, dcell and parking-lot take the rate of the node links.
        rate: Option<BitRate> = None, RATES;
        /// Oversubscription: the rates of a rack's nodes, summed, over those of its core links. Unused with `rate`.
        oversubscription: f64 = 1.0, 0.01..=10_000.0;
        /// Propagation delay, one way. Left out: that of the node links.
        delay: Option<Time> = None, DELAYS;
        /// Probability that a packet is lost, independent of others.
        loss: f64 = 0.0, 0.0..=1.0;
        /// The queue at both ends. Left out: that of the switch ports.
        queue: Option<Queue> = None;
    }
}

section! {
    /// A full-duplex link of topology graph.
    pub struct GraphLink {
        /// One end: a node ("master", "worker-1"), a switch, or several nodes with a link each ("workers",
        /// "worker-1..worker-8").
        from: String = String::new();
        /// The other end: one node or switch if `from` is several nodes.
        to: String = String::new();
        /// Rate. Left out: `network.rate`.
        rate: Option<BitRate> = None, RATES;
        /// Propagation delay, one way. Left out: `network.delay`.
        delay: Option<Time> = None, DELAYS;
        /// Probability that a packet is lost, in each direction. Left out: `network.loss`.
        loss: Option<f64> = None, 0.0..=1.0;
        /// The queue at both ends. Left out: that of the network.
        queue: Option<Queue> = None;
    }
}

impl GraphLink {
    /// The nodes that `from` or `to` names, where it names several.
    pub(super) fn several(end: &str, workers: u32) -> Option<Vec<u32>> {
        match end {
            "workers" => Some((1..=workers).collect()),
            range if range.contains("..") => node_range(range),
            _ => None,
        }
    }
}

impl Network {
    /// The links of topology graph one by one.
    pub fn links(&self, workers: u32) -> Vec<GraphLink> {
        let names = |end: &str| match GraphLink::several(end, workers) {
            Some(numbers) => numbers.into_iter().map(node_name).collect(),
            None => vec![end.to_owned()],
        };
        let one = |link: &GraphLink| {
            let (from, to) = (names(&link.from), names(&link.to));
            let pairs: Vec<_> =
                from.iter().flat_map(|from| to.iter().map(move |to| (from.clone(), to.clone()))).collect();
            pairs.into_iter().map(|(from, to)| GraphLink { from, to, ..link.clone() }).collect::<Vec<_>>()
        };
        self.link.iter().flat_map(one).collect()
    }
}

choice! {
    /// A direction of a node's link.
    pub enum Direction {
        /// From the node.
        Egress = "egress",
        /// Towards the node.
        Ingress = "ingress",
        /// Each way with a bucket of its own.
        Both = "both",
    }
}

section! {
    /// A token bucket on the link of each of some nodes.
    pub struct Shape {
        /// The nodes with a token bucket.
        nodes: Nodes = Nodes::Workers;
        /// The direction of a node's link that the bucket limits.
        direction: Direction = Direction::Both;
        /// Rate at which tokens arrive.
        rate: BitRate = BitRate::from_mbps(10), RATES;
        /// Depth of the bucket.
        burst: Bytes = Bytes::new(32_000), Bytes::new(1)..=Bytes::from_mb(1_000_000);
        /// Limit of the queue in front of the bucket; packets beyond it are dropped.
        limit: QueueLimit = QueueLimit::Delay(Time::from_ms(400));
    }
}

/// Some of the nodes.
#[derive(Clone, Debug, PartialEq)]
pub enum Nodes {
    /// The master and the workers.
    All,
    /// The master.
    Master,
    /// All workers.
    Workers,
    /// These workers, by number from 1; with 0 the master.
    List(Vec<u32>),
}

impl Nodes {
    /// Their numbers: 0 is the master, 1 and up are the workers.
    pub fn numbers(&self, workers: u32) -> Vec<u32> {
        match self {
            Self::All => (0..=workers).collect(),
            Self::Master => vec![0],
            Self::Workers => (1..=workers).collect(),
            Self::List(list) => list.clone(),
        }
    }
    /// Whether a node is one of them.
    pub fn contains(&self, node: u32) -> bool {
        match self {
            Self::All => true,
            Self::Master => node == 0,
            Self::Workers => node > 0,
            Self::List(list) => list.contains(&node),
        }
    }
}

/// A node's number from its name: "master" is 0, "worker-3" is 3.
pub fn node_number(name: &str) -> Option<u32> {
    match name {
        "master" => Some(0),
        _ => name.strip_prefix("worker-")?.parse().ok().filter(|number| *number > 0),
    }
}

/// A node's name from its number.
pub fn node_name(number: u32) -> String {
    if number == 0 { "master".to_owned() } else { format!("worker-{number}") }
}

/// An access point's number from its name: "ap-1" is 0.
pub fn point_number(name: &str) -> Option<u32> {
    name.strip_prefix("ap-")?.parse::<u32>().ok()?.checked_sub(1)
}

/// An access point's name from its number.
pub fn point_name(number: u32) -> String {
    format!("ap-{}", number + 1)
}

/// The numbers of "worker-3" or "worker-3..worker-8".
fn node_range(text: &str) -> Option<Vec<u32>> {
    match text.split_once("..") {
        Some((first, last)) => {
            let (first, last) = (node_number(first.trim())?, node_number(last.trim())?);
            (first <= last && last - first <= 100_000).then(|| (first..=last).collect())
        }
        None => Some(vec![node_number(text)?]),
    }
}

impl Key for Nodes {
    type Range = ();

    fn read(tree: &Tree, _: Option<&()>, problems: &mut Problems) -> Option<Self> {
        match &tree.value {
            Value::String(text) => match text.as_str() {
                "all" => Some(Self::All),
                "master" => Some(Self::Master),
                "workers" => Some(Self::Workers),
                other => {
                    let range = node_range(other);
                    if range.is_none() {
                        problems.unknown(&tree.span, "a node or a set of nodes", other, NODE_WORDS);
                    }
                    range.map(Self::List)
                }
            },
            Value::Array(items) => {
                let mut numbers = Vec::new();
                for item in items {
                    match &item.value {
                        Value::String(name) => match node_range(name) {
                            Some(range) => numbers.extend(range),
                            None => problems.unknown(&item.span, "a node", name, NODE_WORDS),
                        },
                        _ => return wrong_kind(item, "a node's name", problems),
                    }
                }
                Some(Self::List(numbers))
            }
            _ => wrong_kind(tree, "\"workers\", \"master\", \"all\" or a list of names", problems),
        }
    }

    fn write(&self) -> Option<Value> {
        let text = |text: String| Value::String(text);
        Some(match self {
            Self::All => text("all".to_owned()),
            Self::Master => text("master".to_owned()),
            Self::Workers => text("workers".to_owned()),
            Self::List(list) => Value::Array(list.iter().map(|number| text(node_name(*number)).into()).collect()),
        })
    }

    fn schema(_: Option<&()>) -> Json {
        json!({ "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }] })
    }

    fn describe(_: Option<&()>) -> String {
        "`workers`, `master`, `all`, a name like `worker-3`, a range like `worker-1..worker-4`, or a list of these"
            .to_owned()
    }
}

const NODE_WORDS: [&str; 5] = ["workers", "master", "all", "worker-1", "worker-1..worker-4"];

impl Network {
    /// How many access points there are.
    pub fn points(&self) -> u32 {
        let wifi = self.wifi.iter().filter(|wifi| wifi.mode == WifiMode::Infrastructure);
        wifi.map(|wifi| wifi.access_point.len().max(1) as u32).sum()
    }
    /// All queues with their paths, and the rate of a link that they are in front of.
    pub fn queues(&self) -> Vec<(String, &Queue, BitRate)> {
        let core_rate = self.core.rate.unwrap_or(self.rate);
        let fixed = [
            ("network.queue", Some(&self.queue), self.rate),
            ("network.host-queue", Some(&self.host_queue), self.rate),
            ("network.core.queue", self.core.queue.as_ref(), core_rate),
        ];
        let fixed = fixed.into_iter().filter_map(|(path, queue, rate)| Some((path.to_owned(), queue?, rate)));
        let links = self.link.iter().enumerate().filter_map(|(i, link)| {
            Some((format!("network.link.{i}.queue"), link.queue.as_ref()?, link.rate.unwrap_or(self.rate)))
        });
        let ports = self.port.iter().enumerate();
        let ports = ports.map(|(i, port)| (format!("network.port.{i}.queue"), &port.queue, self.rate));
        fixed.chain(links).chain(ports).collect()
    }

    /// Fills in what follows from other keys.
    pub fn fill_defaults(&mut self) {
        if self.topology == TopologyKind::Wifi {
            self.wifi.get_or_insert_default();
        }
        let links = self.link.iter_mut().filter_map(|link| link.queue.as_mut());
        let ports = self.port.iter_mut().map(|port| &mut port.queue);
        let others = [Some(&mut self.queue), Some(&mut self.host_queue), self.core.queue.as_mut()];
        others.into_iter().flatten().chain(links).chain(ports).for_each(Queue::fill_defaults);
    }
}

impl super::Scenario {
    /// Bytes that a packet costs on the wire beyond its IP length.
    pub const fn framing(&self) -> Bytes {
        match self.network.framing {
            Framing::None => Bytes::ZERO,
            // Header 14, checksum 4, preamble 8, gap 12 (IEEE 802.3).
            Framing::Ethernet => Bytes::new(38),
        }
    }
}
