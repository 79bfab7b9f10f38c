//! Bonds: which links of a topology a bond stands for, and what a link's name means.

use net::bond::{BondSpec, Distribution, EndSpec, HashPolicy, LacpRate};
use net::{LinkId, Topology, VertexId, VertexKind};
use scenario::{Bond, BondHash, BondMode, Lacp, Misfit, Scenario, node_name, node_number};

/// One end of a bond: of `from`, or of the `other`.
fn end_spec(bond: &Bond, other: bool) -> EndSpec {
    let (mode, hash, lacp, overhead) = bond.end(other);
    let policy = match hash {
        BondHash::Layer2 => HashPolicy::Layer2,
        BondHash::Layer23 => HashPolicy::Layer23,
        BondHash::Layer34 => HashPolicy::Layer34,
    };
    EndSpec {
        distribution: if mode == BondMode::BalanceRr { Distribution::RoundRobin } else { Distribution::Hash(policy) },
        lacp: match lacp {
            Lacp::Fast => Some(LacpRate::Fast),
            Lacp::Slow => Some(LacpRate::Slow),
            Lacp::Off => None,
        },
        overhead,
    }
}

/// The links in whose place it stands, with its name there; or why it cannot.
pub(super) fn places(
    bond: &Bond,
    number: usize,
    scenario: &Scenario,
    topology: &Topology,
) -> Result<Vec<(String, LinkId)>, Misfit> {
    let name = if bond.name.is_empty() { format!("bond-{}", number + 1) } else { bond.name.clone() };
    let Some(nodes) = &bond.nodes else {
        return Ok(vec![(name, between(bond, scenario, topology)?)]);
    };
    if !bond.from.is_empty() || !bond.to.is_empty() {
        return Err(Misfit::new("nodes", "this bond has `nodes` and an end", "`nodes`, or `from` and `to`"));
    }
    let numbers = nodes.numbers(scenario.cluster.workers);
    let mut places = Vec::new();
    for number in &numbers {
        let host = topology.find(&node_name(*number));
        let help = format!("the last worker is worker-{}", scenario.cluster.workers);
        let host = host.ok_or_else(|| Misfit::new("nodes", format!("there is no `{}`", node_name(*number)), help))?;
        if links_at(topology, host).len() != 1 {
            let message = format!("{} has several links", node_name(*number));
            return Err(Misfit::new("nodes", message, "say which with `from` and `to`"));
        }
        let name = if numbers.len() == 1 { name.clone() } else { format!("{name}-{}", node_name(*number)) };
        places.extend(topology.uplink(host).map(|link| (name, link)));
    }
    Ok(places)
}

fn between(bond: &Bond, scenario: &Scenario, topology: &Topology) -> Result<LinkId, Misfit> {
    let [from, to] = [("from", &bond.from), ("to", &bond.to)].map(|(key, name)| {
        if name.is_empty() {
            return Err(Misfit::new(key, format!("this bond has no `{key}`"), "two neighbours, or `nodes`"));
        }
        let vertex = topology.find(name);
        vertex.ok_or_else(|| {
            let known: Vec<_> =
                (0..units::count(topology.vertex_count())).map(|v| topology.name(VertexId(v))).collect();
            let what = if node_number(name).is_some() { "node" } else { "node or switch" };
            let help = match units::nearest(name, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("topology {} has: {}", scenario.network.topology.word(), some(&known)),
            };
            Misfit::new(key, format!("there is no {what} `{name}`"), help)
        })
    });
    let (from, to) = (from?, to?);
    let links: Vec<_> = links_at(topology, from).into_iter().filter(|link| topology.ends(*link).1 == to).collect();
    match links.as_slice() {
        [link] => Ok(*link),
        [] => {
            let names: Vec<_> =
                links_at(topology, from).into_iter().map(|link| topology.name(topology.ends(link).1)).collect();
            let message = format!("{} and {} are not neighbours", bond.from, bond.to);
            let help = if names.is_empty() {
                format!("a link between them in `network.link`, if the topology is a graph; {} has none", bond.from)
            } else {
                format!("the neighbours of {} are: {}", bond.from, some(&names))
            };
            Err(Misfit::new("to", message, help))
        }
        several => {
            let message = format!("there are {} links between {} and {} already", several.len(), bond.from, bond.to);
            Err(Misfit::new("members", message, "one [[network.link]], and `members` of them in the bond"))
        }
    }
}

/// Puts it in the place of a link.
pub(super) fn install(bond: &Bond, name: String, link: LinkId, topology: &mut Topology) {
    // The link in the direction from this bond's first end.
    if let Some(rate) = bond.rate {
        for way in [link, link.reverse()] {
            topology.spec_mut(way).rate = rate;
        }
    }
    let (from, to) = topology.ends(link);
    let (forth, back) = (topology.spec(link).clone(), topology.spec(link.reverse()).clone());
    let mut members = vec![link];
    for _ in 1..bond.members {
        members.push(topology.connect_both(from, to, forth.clone(), back.clone()));
    }
    let ends = [end_spec(bond, false), end_spec(bond, true)];
    topology.add_bond(BondSpec { name, members, ends, agreed: bond.agreed });
}

/// The links that begin at a vertex, its loopback aside.
fn links_at(topology: &Topology, vertex: VertexId) -> Vec<LinkId> {
    let links = (0..2 * units::count(topology.cables().len())).map(LinkId);
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

/// The links that a name means: a node's own, from it to its switch ("worker-3"), or those between two vertices ("a --
/// b"); of a bond all members, or one ("worker-3 #2").
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
            (0..2 * units::count(topology.cables().len())).map(LinkId).find(|link| topology.ends(*link) == ends)
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
