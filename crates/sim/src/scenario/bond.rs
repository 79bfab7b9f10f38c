//! Bonds: several links between two neighbours used as one.

use super::key::{choice, section};
use super::network::{node_name, node_number};
use super::{Nodes, Scenario};
use net::bond::{BondSpec, Distribution, EndSpec, HashPolicy, LacpRate};
use net::{LinkId, Topology, VertexId, VertexKind};
use units::{BitRate, Time};

choice! {
    /// How an end of a bond uses its members (as the Linux bonding driver calls it).
    pub enum BondMode {
        /// By hash of the headers, over the members that LACP has agreed on with the other end.
        Ieee8023ad = "802.3ad",
        /// By hash of the headers, over all members that have carrier.
        BalanceXor = "balance-xor",
        /// Packet by packet in turn over all members that have carrier: packets of one flow overtake each other.
        BalanceRr = "balance-rr",
    }
}

choice! {
    /// Which headers choose the member.
    pub enum BondHash {
        /// Ethernet addresses.
        Layer2 = "layer2",
        /// Ethernet and IP addresses.
        Layer23 = "layer2+3",
        /// IP addresses and ports.
        Layer34 = "layer3+4",
    }
}

choice! {
    /// How often an end wants to hear from the other.
    pub enum Lacp {
        /// Every second; it gives up after 3 s.
        Fast = "fast",
        /// Every 30 s; it gives up after 90 s.
        Slow = "slow",
        /// No LACP.
        Off = "off",
    }
}

section! {
    /// A bond in place of a link of the topology; keys that begin with `to-` are for the other end where it differs.
    pub struct Bond {
        /// Its name; `bond-1` and so on where left out. Of several nodes each has its name behind it.
        name: String = String::new();
        /// The link of each of these nodes to its switch becomes a bond. In place of `from` and `to`.
        nodes: Option<Nodes> = None;
        /// One end: a node or a switch.
        from: String = String::new();
        /// The other end, a neighbour.
        to: String = String::new();
        /// Links in it.
        members: u32 = 2, 1..=8;
        /// Rate of each; that of the link in whose place it stands where left out.
        rate: Option<BitRate> = None, BitRate::from_bps(1)..=BitRate::from_gbps(10_000);
        /// How the end `from`, or the node, uses the members.
        mode: BondMode = BondMode::Ieee8023ad;
        /// Which headers choose the member (802.3ad, balance-xor).
        hash: BondHash = BondHash::Layer2;
        /// How often that end wants to hear from the other; left out, slow (802.3ad), off (others).
        lacp: Option<Lacp> = None;
        /// Time that the processor of that end takes for each packet it sends over the bond, one packet after the other; 1,000 may wait.
        overhead: Time = Time::ZERO, Time::ZERO..=Time::from_secs(1);
        /// Whether LACP has come to an agreement before the run; else it begins with the run.
        agreed: bool = true;
        /// Rate at the other end; it must be the same.
        to_rate: Option<BitRate> = None, BitRate::from_bps(1)..=BitRate::from_gbps(10_000);
        /// Mode of the other end.
        to_mode: Option<BondMode> = None;
        /// Which headers choose the member at the other end.
        to_hash: Option<BondHash> = None;
        /// How often the other end wants to hear.
        to_lacp: Option<Lacp> = None;
        /// Time that the processor of the other end takes for each packet.
        to_overhead: Option<Time> = None, Time::ZERO..=Time::from_secs(1);
    }
}

/// What is wrong with a bond.
#[derive(Debug)]
pub struct Misfit {
    /// The key of the bond that it shows at.
    pub key: &'static str,
    pub message: String,
    pub help: String,
}

fn misfit(key: &'static str, message: impl Into<String>, help: impl Into<String>) -> Misfit {
    Misfit { key, message: message.into(), help: help.into() }
}

impl Bond {
    /// Mode, hash, LACP and overhead of an end.
    fn end(&self, other: bool) -> (BondMode, BondHash, Lacp, Time) {
        let (mode, hash, lacp, overhead) = (self.mode, self.hash, self.lacp, self.overhead);
        let (mode, hash, lacp, overhead) = if other {
            let lacp = self.to_lacp.or(lacp.filter(|_| self.to_mode.is_none_or(|to| to == mode)));
            (self.to_mode.unwrap_or(mode), self.to_hash.unwrap_or(hash), lacp, self.to_overhead.unwrap_or(overhead))
        } else {
            (mode, hash, lacp, overhead)
        };
        let usual = if mode == BondMode::Ieee8023ad { Lacp::Slow } else { Lacp::Off };
        (mode, hash, lacp.unwrap_or(usual), overhead)
    }

    fn end_spec(&self, other: bool) -> EndSpec {
        let (mode, hash, lacp, overhead) = self.end(other);
        let policy = match hash {
            BondHash::Layer2 => HashPolicy::Layer2,
            BondHash::Layer23 => HashPolicy::Layer23,
            BondHash::Layer34 => HashPolicy::Layer34,
        };
        EndSpec {
            distribution: if mode == BondMode::BalanceRr {
                Distribution::RoundRobin
            } else {
                Distribution::Hash(policy)
            },
            lacp: match lacp {
                Lacp::Fast => Some(LacpRate::Fast),
                Lacp::Slow => Some(LacpRate::Slow),
                Lacp::Off => None,
            },
            overhead,
        }
    }

    /// What its own keys say against each other.
    pub fn contradictions(&self) -> Vec<Misfit> {
        let mut found = Vec::new();
        let (here, there) = (self.end(false), self.end(true));
        for ((mode, _, lacp, _), keys) in [(here, ["lacp", "mode"]), (there, ["to-lacp", "to-mode"])] {
            // What the other end has from this one has been said of this one.
            if keys[0] == "to-lacp" && self.to_lacp.is_none() && self.to_mode.is_none() {
                continue;
            }
            let key = if keys[0] == "lacp" || self.to_lacp.is_some() { keys[0] } else { keys[1] };
            match (mode, lacp) {
                (BondMode::Ieee8023ad, Lacp::Off) => {
                    found.push(misfit(key, "802.3ad without LACP", "mode \"balance-xor\" uses the members without it"));
                }
                (BondMode::BalanceXor | BondMode::BalanceRr, Lacp::Fast | Lacp::Slow) => {
                    let message = format!("{} does not speak LACP", mode.word());
                    found.push(misfit(key, message, "mode \"802.3ad\", or `lacp = \"off\"`"));
                }
                _ => {}
            }
        }
        if found.is_empty() && (here.2 == Lacp::Off) != (there.2 == Lacp::Off) {
            let [speaks, does_not] = if here.2 == Lacp::Off { [there.0, here.0] } else { [here.0, there.0] };
            let message = format!("one end is {}, the other {}: LACP finds no partner", speaks.word(), does_not.word());
            found.push(misfit("to-mode", message, "802.3ad at both ends or at neither"));
        }
        if let Some(rate) = self.to_rate.filter(|rate| self.rate.is_some_and(|here| here != *rate)) {
            let here = self.rate.unwrap_or(rate);
            let message = format!("members at {here} at one end and {rate} at the other");
            found.push(misfit("to-rate", message, "the same rate at both ends"));
        }
        found
    }

    /// The links in whose place it stands, with its name there; or why it cannot.
    pub fn places(
        &self,
        number: usize,
        scenario: &Scenario,
        topology: &Topology,
    ) -> Result<Vec<(String, LinkId)>, Misfit> {
        let name = if self.name.is_empty() { format!("bond-{}", number + 1) } else { self.name.clone() };
        let Some(nodes) = &self.nodes else {
            return Ok(vec![(name, self.between(scenario, topology)?)]);
        };
        if !self.from.is_empty() || !self.to.is_empty() {
            return Err(misfit("nodes", "this bond has `nodes` and an end", "`nodes`, or `from` and `to`"));
        }
        let numbers = nodes.numbers(scenario.cluster.workers);
        let mut places = Vec::new();
        for number in &numbers {
            let host = topology.find(&node_name(*number));
            let help = format!("the last worker is worker-{}", scenario.cluster.workers);
            let host = host.ok_or_else(|| misfit("nodes", format!("there is no `{}`", node_name(*number)), help))?;
            if links_at(topology, host).len() != 1 {
                let message = format!("{} has several links", node_name(*number));
                return Err(misfit("nodes", message, "say which with `from` and `to`"));
            }
            let name = if numbers.len() == 1 { name.clone() } else { format!("{name}-{}", node_name(*number)) };
            places.extend(topology.uplink(host).map(|link| (name, link)));
        }
        Ok(places)
    }

    fn between(&self, scenario: &Scenario, topology: &Topology) -> Result<LinkId, Misfit> {
        let [from, to] = [("from", &self.from), ("to", &self.to)].map(|(key, name)| {
            if name.is_empty() {
                return Err(misfit(key, format!("this bond has no `{key}`"), "two neighbours, or `nodes`"));
            }
            let vertex = topology.find(name);
            vertex.ok_or_else(|| {
                let known: Vec<_> = (0..topology.vertex_count() as u32).map(|v| topology.name(VertexId(v))).collect();
                let what = if node_number(name).is_some() { "node" } else { "node or switch" };
                let help = match units::nearest(name, known.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("topology {} has: {}", scenario.network.topology.word(), some(&known)),
                };
                misfit(key, format!("there is no {what} `{name}`"), help)
            })
        });
        let (from, to) = (from?, to?);
        let links: Vec<_> = links_at(topology, from).into_iter().filter(|link| topology.ends(*link).1 == to).collect();
        match links.as_slice() {
            [link] => Ok(*link),
            [] => {
                let names: Vec<_> =
                    links_at(topology, from).into_iter().map(|link| topology.name(topology.ends(link).1)).collect();
                let message = format!("{} and {} are not neighbours", self.from, self.to);
                let help = if names.is_empty() {
                    format!("a link between them in `network.link`, if the topology is a graph; {} has none", self.from)
                } else {
                    format!("the neighbours of {} are: {}", self.from, some(&names))
                };
                Err(misfit("to", message, help))
            }
            several => {
                let message =
                    format!("there are {} links between {} and {} already", several.len(), self.from, self.to);
                Err(misfit("members", message, "one [[network.link]], and `members` of them in the bond"))
            }
        }
    }

    /// Puts it in the place of a link.
    pub fn install(&self, name: String, link: LinkId, topology: &mut Topology) {
        // The link in the direction from this bond's first end.
        if let Some(rate) = self.rate {
            for way in [link, link.reverse()] {
                topology.spec_mut(way).rate = rate;
            }
        }
        let (from, to) = topology.ends(link);
        let (forth, back) = (topology.spec(link).clone(), topology.spec(link.reverse()).clone());
        let mut members = vec![link];
        for _ in 1..self.members {
            members.push(topology.connect_both(from, to, forth.clone(), back.clone()));
        }
        let ends = [self.end_spec(false), self.end_spec(true)];
        topology.add_bond(BondSpec { name, members, ends, agreed: self.agreed });
    }
}

/// The links that begin at a vertex, its loopback aside.
fn links_at(topology: &Topology, vertex: VertexId) -> Vec<LinkId> {
    let links = (0..2 * topology.cables().len() as u32).map(LinkId);
    let begins = |link: &LinkId| {
        let (from, to) = topology.ends(*link);
        from == vertex && to != vertex
    };
    links.filter(begins).collect()
}

fn some(names: &[&str]) -> String {
    let more = names.len().saturating_sub(8);
    let listed = names[..names.len() - more].join(", ");
    if more == 0 { listed } else { format!("{listed} and {more} more") }
}

impl Scenario {
    /// The links that a name means: a node's own, from it to its switch ("worker-3"), or those between two vertices ("a -- b"); of a bond all
    /// members, or one ("worker-3 #2").
    pub fn links(topology: &Topology, name: &str) -> Vec<LinkId> {
        let (ends, member) = match name.rsplit_once('#') {
            Some((ends, number)) => match number.trim().parse::<usize>() {
                Ok(number) if number > 0 => (ends, Some(number - 1)),
                _ => return Vec::new(),
            },
            None => (name, None),
        };
        let first = if let Some((from, to)) = ends.split_once("--").or_else(|| ends.split_once("->")) {
            let ends = topology.find(from.trim()).zip(topology.find(to.trim()));
            ends.and_then(|ends| {
                (0..2 * topology.cables().len() as u32).map(LinkId).find(|link| topology.ends(*link) == ends)
            })
        } else {
            let node = topology.find(ends.trim()).filter(|node| topology.kind(*node) == VertexKind::Host);
            node.and_then(|node| topology.uplink(node))
        };
        let Some(first) = first else { return Vec::new() };
        match (topology.bond_of(first), member) {
            (None, None) => vec![first],
            (None, Some(_)) => Vec::new(),
            (Some((bond, _)), member) => {
                let forth = topology.ends(bond.members[0]) == topology.ends(first);
                let way = |link: &LinkId| if forth { *link } else { link.reverse() };
                match member {
                    Some(member) => bond.members.get(member).map(way).into_iter().collect(),
                    None => bond.members.iter().map(way).collect(),
                }
            }
        }
    }
}
