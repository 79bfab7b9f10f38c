//! Topologies against the closed forms of their papers: sizes, degrees, diameters, bisections; and how ECMP spreads
//! over them.

use net::{Dcell, FlowKey, LinkSpec, Network, Topology, TopologyError, VertexId, VertexKind};
use std::collections::{BTreeMap, VecDeque};
use units::{BitRate, Time};

fn link() -> LinkSpec {
    LinkSpec::new(BitRate::from_gbps(1), Time::from_us(1))
}

/// Neighbours of each vertex.
fn graph(topology: &Topology) -> Vec<Vec<usize>> {
    let mut neighbours = vec![Vec::new(); topology.vertex_count()];
    for cable in topology.cables() {
        let (a, b) = (cable.a.0 as usize, cable.b.0 as usize);
        neighbours[a].push(b);
        neighbours[b].push(a);
    }
    neighbours
}

fn is_host(topology: &Topology, vertex: usize) -> bool {
    topology.kind(VertexId(vertex as u32)) == VertexKind::Host
}

/// Links from a vertex to every other; entering a vertex costs what `cost` says.
fn distances(neighbours: &[Vec<usize>], from: usize, cost: impl Fn(usize) -> u32) -> Vec<u32> {
    let mut distances = vec![u32::MAX; neighbours.len()];
    distances[from] = 0;
    let mut queue = VecDeque::from([from]);
    while let Some(at) = queue.pop_front() {
        for next in &neighbours[at] {
            let distance = distances[at] + cost(*next);
            if distance < distances[*next] {
                distances[*next] = distance;
                queue.push_back(*next);
            }
        }
    }
    distances
}

fn diameter(topology: &Topology, cost: impl Fn(usize) -> u32) -> u32 {
    let neighbours = graph(topology);
    let hosts: Vec<_> = topology.hosts().iter().map(|host| host.0 as usize).collect();
    let farthest = |from: &usize| {
        let distances = distances(&neighbours, *from, &cost);
        hosts.iter().map(|to| distances[*to]).max().unwrap()
    };
    hosts.iter().map(farthest).max().unwrap()
}

/// Max flow (Ford and Fulkerson) from some hosts to the others, each host sending or receiving one, each cable carrying
/// one each way.
fn flow_between(topology: &Topology, senders: &[VertexId]) -> u32 {
    let (count, source, sink) = (topology.vertex_count(), topology.vertex_count(), topology.vertex_count() + 1);
    let mut capacity: Vec<BTreeMap<usize, u32>> = vec![BTreeMap::new(); count + 2];
    let mut add = |from: usize, to: usize, forth: u32, back: u32| {
        *capacity[from].entry(to).or_default() += forth;
        *capacity[to].entry(from).or_default() += back;
    };
    for cable in topology.cables() {
        add(cable.a.0 as usize, cable.b.0 as usize, 1, 1);
    }
    for host in topology.hosts() {
        let at = host.0 as usize;
        if senders.contains(host) { add(source, at, 1, 0) } else { add(at, sink, 1, 0) }
    }
    let mut flow = 0;
    loop {
        let mut from: Vec<Option<usize>> = vec![None; count + 2];
        let mut queue = VecDeque::from([source]);
        while let Some(at) = queue.pop_front() {
            for (next, room) in &capacity[at] {
                if *room > 0 && from[*next].is_none() && *next != source {
                    from[*next] = Some(at);
                    queue.push_back(*next);
                }
            }
        }
        if from[sink].is_none() {
            return flow;
        }
        let mut at = sink;
        while let Some(before) = from[at] {
            *capacity[before].get_mut(&at).unwrap() -= 1;
            *capacity[at].entry(before).or_default() += 1;
            at = before;
        }
        flow += 1;
    }
}

/// Al-Fares et al., section 2.2: k^3/4 hosts, 5k^2/4 switches of k ports, 3k^3/4 links, six links across, full
/// bisection.
#[test]
fn a_fat_tree_has_the_sizes_of_its_paper() {
    for k in [2, 4, 6, 8] {
        let topology = Topology::fat_tree(k, &link()).unwrap();
        let k = k as usize;
        assert_eq!(topology.hosts().len(), k * k * k / 4);
        assert_eq!(topology.vertex_count() - topology.hosts().len(), 5 * k * k / 4);
        assert_eq!(topology.cables().len(), 3 * k * k * k / 4);
        for (vertex, neighbours) in graph(&topology).iter().enumerate() {
            let ports = if is_host(&topology, vertex) { 1 } else { k };
            assert_eq!(neighbours.len(), ports, "{}", topology.name(VertexId(vertex as u32)));
        }
        assert_eq!(diameter(&topology, |_| 1), 6);
        // Half of the pods against the others: every host at full rate.
        let half = &topology.hosts()[..k * k * k / 8];
        assert_eq!(flow_between(&topology, half) as usize, k * k * k / 8);
    }
    assert_eq!(Topology::fat_tree(5, &link()).unwrap_err(), TopologyError::FatTree(5));
    assert_eq!(Topology::fat_tree(0, &link()).unwrap_err(), TopologyError::FatTree(0));
}

#[test]
fn a_fat_tree_spreads_flows_over_all_cores() {
    let k = 6;
    let topology = Topology::fat_tree(k, &link()).unwrap();
    let mut network: Network<usize> = Network::new(&topology, 1).unwrap();
    let hosts = topology.hosts();
    let mut spread = |from: usize, to: usize, flows: u16| {
        let mut used = BTreeMap::new();
        for from_port in 0..flows {
            let key = FlowKey { from: hosts[from], to: hosts[to], from_port, to_port: 80 };
            let route = network.route(key).unwrap();
            let path: Vec<_> = network.route_links(route).map(|link| topology.ends(link).1).collect();
            *used.entry(topology.name(path[path.len() / 2 - 1]).to_owned()).or_insert(0_u32) += 1;
        }
        used
    };
    // Between pods: the third vertex is one of the (k/2)^2 = 9 cores. 9000 flows: mean 1000, standard deviation 30.
    let used = spread(0, 53, 9_000);
    assert_eq!(used.len(), 9);
    assert!(used.iter().all(|(name, flows)| name.starts_with("core-") && (880..1_120).contains(flows)), "{used:?}");
    // Within a pod, edge to edge: one of its 3 aggregation switches. 3000 flows: standard deviation 26.
    let used = spread(0, 8, 3_000);
    assert_eq!(used.len(), 3);
    assert!(
        used.iter().all(|(name, flows)| name.starts_with("pod-1/agg-") && (896..1_104).contains(flows)),
        "{used:?}"
    );
}

#[test]
fn a_leaf_spine_has_the_sizes_of_its_parts() {
    for (leaves, hosts, spines) in [(4, 3, 2), (6, 8, 4), (2, 5, 8)] {
        let topology = Topology::leaf_spine(leaves, hosts, spines, &link(), &link());
        assert_eq!(topology.hosts().len(), leaves * hosts);
        assert_eq!(topology.cables().len(), leaves * hosts + leaves * spines);
        assert_eq!(diameter(&topology, |_| 1), 4);
        // Half of the leaves against the others: what their hosts send, or what their uplinks carry.
        let half = &topology.hosts()[..leaves * hosts / 2];
        assert_eq!(flow_between(&topology, half) as usize, (leaves / 2 * hosts).min(leaves / 2 * spines));
    }
}

/// Guo et al., section 3: t(k) = t(k-1) (t(k-1) + 1) servers with k + 1 links each, t(k) / n mini-switches; the
/// diameter, in servers (a mini-switch between two is no hop of its own), is at most 2^(k+1) - 1, the bisection more
/// than t / (4 log_n t).
#[test]
fn a_dcell_has_the_sizes_of_its_paper() {
    for (n, level, servers) in [(4, 0, 4), (2, 1, 6), (4, 1, 20), (6, 1, 42), (2, 2, 42), (3, 2, 156), (4, 2, 420)] {
        let topology = Topology::dcell(n, level, &link()).unwrap();
        assert_eq!(topology.hosts().len(), servers);
        assert_eq!(topology.vertex_count() - servers, servers / n as usize);
        assert_eq!(topology.cables().len(), servers + level as usize * servers / 2);
        for (vertex, neighbours) in graph(&topology).iter().enumerate() {
            let degree = if is_host(&topology, vertex) { level as usize + 1 } else { n as usize };
            assert_eq!(neighbours.len(), degree);
        }
        let hops = diameter(&topology, |vertex| u32::from(is_host(&topology, vertex)));
        assert!(hops < 1 << (level + 1), "DCell({n}, {level}): {hops} hops");
    }
    // The two lowest levels reach the bound.
    for (level, hops) in [(0, 1), (1, 3)] {
        let topology = Topology::dcell(4, level, &link()).unwrap();
        assert_eq!(diameter(&topology, |vertex| u32::from(is_host(&topology, vertex))), hops);
    }
    // Table 1 of the paper has DCell(6, 3) with 3,263,442 servers: more than are built here.
    assert_eq!(Dcell::new(6, 3), Err(TopologyError::Dcell { per_switch: 6, level: 3 }));
    assert!(Dcell::new(6, 9).is_err() && Dcell::new(0, 1).is_err() && Dcell::new(u32::MAX, 0).is_err());
    assert_eq!(Dcell::new(6, 2).unwrap().servers, 1_806);
}

#[test]
fn a_dcells_cells_are_fully_connected_and_its_servers_forward() {
    // Four cells of three servers: two cells against two are cut in 2 x 2 links.
    let topology = Topology::dcell(3, 1, &link()).unwrap();
    assert_eq!(flow_between(&topology, &topology.hosts()[..6]), 4);
    // Figure 1 of the paper is DCell(4, 1): server [0, 3] and server [4, 0] are connected; in order of number 3 and 16.
    let plan = Dcell::new(4, 1).unwrap();
    assert_eq!(plan.links.len(), 10);
    assert!(plan.links.contains(&(3, 16)) && plan.links.contains(&(0, 4)) && plan.links.contains(&(6, 13)));
    // From [0, 0] to [4, 1]: the paper's routing goes by the mini-switch to [0, 3], over to [4, 0] and by its
    // mini-switch on, five links. Through cell 1 four do: over to [1, 0], by its mini-switch to [1, 3], over to [4, 1].
    let topology = Topology::dcell(4, 1, &link()).unwrap();
    let mut network: Network<usize> = Network::new(&topology, 1).unwrap();
    let hosts = topology.hosts();
    let route = network.route(FlowKey { from: hosts[0], to: hosts[17], from_port: 1, to_port: 2 }).unwrap();
    let path: Vec<_> = network.route_links(route).map(|link| topology.name(topology.ends(link).1)).collect();
    assert_eq!(path, ["host-4", "switch-1", "host-7", "host-17"]);
}

#[test]
fn a_parking_lot_has_a_way_through_and_one_across_each_hop() {
    for hops in [1, 3, 10] {
        let topology = Topology::parking_lot(hops, &link(), &link());
        assert_eq!(topology.hosts().len(), 2 * (hops + 1));
        assert_eq!(topology.vertex_count(), 2 * (hops + 1) + hops + 1);
        assert_eq!(topology.cables().len(), hops + 2 * (hops + 1));
        assert_eq!(diameter(&topology, |_| 1) as usize, hops + 2);
        let mut network: Network<usize> = Network::new(&topology, 1).unwrap();
        let hosts = topology.hosts();
        let mut crossed = |pair: usize| {
            let key = FlowKey { from: hosts[2 * pair], to: hosts[2 * pair + 1], from_port: 1, to_port: 2 };
            let route = network.route(key).unwrap();
            let bottlenecks = 2 * hops as u32;
            network.route_links(route).map(|link| link.0).filter(|link| *link < bottlenecks).collect::<Vec<_>>()
        };
        assert_eq!(crossed(0), (0..hops as u32).map(|hop| 2 * hop).collect::<Vec<_>>());
        for pair in 1..=hops {
            assert_eq!(crossed(pair), [2 * (pair as u32 - 1)]);
        }
    }
}
