//! A field of routers over a given graph: broadcasts reach who hears and may be lost; what goes to one neighbour
//! arrives, or fails where it cannot be acknowledged.

use des::RandomStream;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use units::Time;
use wifi::routing::{Datagram, Failed, Message, Node, Output, Router, Undelivered};

pub const TTL: u8 = 64;
const HOP: Time = Time::from_ms(1);
const GIVES_UP: Time = Time::from_ms(10);

#[derive(Debug, Clone)]
enum Event {
    Message { from: Node, to: Node, message: Message },
    Data { from: Node, to: Node, datagram: Datagram<u32> },
    Failed { node: Node, neighbour: Node, message: Message },
    FailedData { node: Node, neighbour: Node, datagram: Datagram<u32> },
}

pub struct Field {
    pub now: Time,
    pub routers: Vec<Router<u32>>,
    /// Who hears whom: (sender, hearer).
    pub links: BTreeSet<(Node, Node)>,
    pub loss: f64,
    stream: RandomStream,
    events: BTreeMap<(Time, u64), Event>,
    order: u64,
    /// Packet and hops it took.
    pub delivered: Vec<(u32, u8)>,
    pub dropped: Vec<(u32, Undelivered)>,
    /// Every message transmitted: by whom, to whom.
    pub transmitted: Vec<(Time, Node, Option<Node>, Message)>,
}

impl Field {
    pub fn new(seed: u64, routers: Vec<Router<u32>>, edges: &[(Node, Node)]) -> Self {
        Self {
            now: Time::ZERO,
            routers,
            links: edges.iter().flat_map(|(a, b)| [(*a, *b), (*b, *a)]).collect(),
            loss: 0.0,
            stream: RandomStream::new(seed, "test/field", 0),
            events: BTreeMap::new(),
            order: 0,
            delivered: Vec::new(),
            dropped: Vec::new(),
            transmitted: Vec::new(),
        }
    }

    pub fn connect(&mut self, a: Node, b: Node) {
        self.links.extend([(a, b), (b, a)]);
    }
    pub fn cut(&mut self, a: Node, b: Node) {
        self.links.remove(&(a, b));
        self.links.remove(&(b, a));
    }

    pub fn send(&mut self, packet: u32, source: Node, destination: Node) {
        let datagram = Datagram { packet, source, destination, ttl: TTL };
        let mut out = Output::new();
        self.routers[source as usize].route(self.now, datagram, None, &mut out);
        self.carry(source, out);
    }

    /// The time of whatever comes next.
    pub fn next(&self) -> Time {
        let event = self.events.first_key_value().map_or(Time::MAX, |((at, _), _)| *at);
        self.routers.iter().map(Router::deadline).fold(event, Time::min)
    }

    /// Lets one thing happen.
    pub fn step(&mut self) {
        self.now = self.now.max(self.next());
        if let Some(event) = self.events.first_entry().filter(|event| event.key().0 <= self.now) {
            let event = event.remove();
            self.handle(event);
            return;
        }
        for node in 0..self.routers.len() {
            if self.routers[node].deadline() <= self.now {
                let mut out = Output::new();
                self.routers[node].on_timer(self.now, &mut out);
                assert!(self.routers[node].deadline() > self.now, "node {node} stands still at {:?}", self.now);
                self.carry(node as Node, out);
            }
        }
    }

    pub fn run(&mut self, until: Time) {
        while self.next() <= until {
            self.step();
        }
        self.now = until;
    }

    pub fn held(&self) -> usize {
        self.routers.iter().map(Router::held).sum()
    }
    /// Packets between two nodes now.
    pub fn flying(&self) -> usize {
        self.events.values().filter(|event| matches!(event, Event::Data { .. } | Event::FailedData { .. })).count()
    }

    fn handle(&mut self, event: Event) {
        let (now, mut out) = (self.now, Output::new());
        let node = match event {
            Event::Message { from, to, message } => {
                self.routers[to as usize].on_message(now, from, &message, &mut out);
                to
            }
            Event::Data { to, datagram, .. } if datagram.destination == to => {
                self.delivered.push((datagram.packet, TTL - datagram.ttl));
                to
            }
            Event::Data { from, to, datagram } => {
                self.routers[to as usize].route(now, datagram, Some(from), &mut out);
                to
            }
            Event::Failed { node, neighbour, message } => {
                self.routers[node as usize].on_failed(now, neighbour, Failed::Control(&message), &mut out);
                node
            }
            Event::FailedData { node, neighbour, datagram } => {
                self.routers[node as usize].on_failed(now, neighbour, Failed::Data(datagram), &mut out);
                node
            }
        };
        self.carry(node, out);
    }

    fn carry(&mut self, from: Node, out: Output<u32>) {
        for (to, message) in out.transmit {
            self.transmitted.push((self.now, from, to, message.clone()));
            match to {
                Some(to) if self.acknowledges(from, to) => self.at(HOP, Event::Message { from, to, message }),
                Some(to) => self.at(GIVES_UP, Event::Failed { node: from, neighbour: to, message }),
                None => {
                    let hearers: Vec<Node> =
                        self.links.range((from, 0)..=(from, Node::MAX)).map(|(_, to)| *to).collect();
                    for to in hearers {
                        if !self.stream.chance(self.loss) {
                            self.at(HOP, Event::Message { from, to, message: message.clone() });
                        }
                    }
                }
            }
        }
        for (to, datagram) in out.forward {
            if self.acknowledges(from, to) {
                self.at(HOP, Event::Data { from, to, datagram });
            } else {
                self.at(GIVES_UP, Event::FailedData { node: from, neighbour: to, datagram });
            }
        }
        self.dropped.extend(out.dropped.into_iter().map(|(datagram, why)| (datagram.packet, why)));
    }

    fn acknowledges(&self, from: Node, to: Node) -> bool {
        self.links.contains(&(from, to)) && self.links.contains(&(to, from))
    }

    fn at(&mut self, after: Time, event: Event) {
        self.order += 1;
        self.events.insert((self.now + after, self.order), event);
    }

    /// The nodes that a packet for `destination` would pass in a circle, if there are some.
    pub fn circle(&self, destination: Node) -> Option<Vec<Node>> {
        (0..self.routers.len() as Node).find_map(|start| {
            let mut way = vec![start];
            loop {
                let here = *way.last()?;
                if here == destination {
                    return None;
                }
                let next = self.routers[here as usize].next_hop(self.now, destination)?;
                if way.contains(&next) {
                    way.push(next);
                    return Some(way);
                }
                way.push(next);
            }
        })
    }
}

/// Hops from `source` to every node over links that work both ways: breadth first.
pub fn distances(nodes: Node, links: &BTreeSet<(Node, Node)>, source: Node) -> Vec<Option<u32>> {
    let mut distance = vec![None; nodes as usize];
    distance[source as usize] = Some(0);
    let mut queue = VecDeque::from([source]);
    while let Some(node) = queue.pop_front() {
        for (_, to) in links.range((node, 0)..=(node, Node::MAX)) {
            if distance[*to as usize].is_none() && links.contains(&(*to, node)) {
                distance[*to as usize] = distance[node as usize].map(|hops: u32| hops + 1);
                queue.push_back(*to);
            }
        }
    }
    distance
}

/// Nodes dropped on a unit square, with an edge where two are within `range`.
pub fn geometric(seed: u64, nodes: Node, range: f64) -> Vec<(Node, Node)> {
    let mut stream = RandomStream::new(seed, "test/graph", 0);
    let places: Vec<(f64, f64)> = (0..nodes).map(|_| (stream.uniform(), stream.uniform())).collect();
    let near = |a: Node, b: Node| {
        let ((ax, ay), (bx, by)) = (places[a as usize], places[b as usize]);
        (ax - bx) * (ax - bx) + (ay - by) * (ay - by) <= range * range
    };
    (0..nodes).flat_map(|a| (0..a).map(move |b| (a, b))).filter(|(a, b)| near(*a, *b)).collect()
}

/// 0 - 1 - 2 - ... .
pub fn line(nodes: Node) -> Vec<(Node, Node)> {
    (1..nodes).map(|node| (node - 1, node)).collect()
}
