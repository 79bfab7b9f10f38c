//! Shortest paths, equal-cost choice, hosts that share a machine.

use crate::harness::{Change, Driver, Flow};
use des::EventQueue;
use net::{FlowKey, LinkId, LinkSpec, Network, Topology, VertexId};
use std::collections::BTreeMap;
use units::{BitRate, Time};

fn link() -> LinkSpec {
    LinkSpec::new(BitRate::from_gbps(1), Time::from_us(1))
}

fn path(
    topology: &Topology,
    network: &mut Network<usize>,
    from: VertexId,
    to: VertexId,
    port: u16,
) -> Option<Vec<String>> {
    let route = network.route(FlowKey { from, to, from_port: port, to_port: 80 })?;
    Some(network.route_links(route).map(|link| topology.link_name(link)).collect())
}

#[test]
fn leaf_spine_spreads_flows_over_the_spines_evenly() {
    let topology = Topology::leaf_spine(4, 2, 8, &link(), &link());
    let mut network = Network::new(&topology, 1).unwrap();
    let (from, to) = (topology.hosts()[0], topology.hosts()[7]);
    let mut used = BTreeMap::new();
    for port in 0..8_000 {
        let path = path(&topology, &mut network, from, to, port).unwrap();
        assert_eq!(path.len(), 4);
        assert_eq!((path[0].as_str(), path[3].as_str()), ("host-0->leaf-0", "leaf-3->host-7"));
        *used.entry(path[1].clone()).or_insert(0) += 1;
    }
    assert_eq!(used.len(), 8);
    // Binomial(8000, 1/8): mean 1000, standard deviation 30.
    assert!(used.values().all(|count| (880..1_120).contains(count)), "{used:?}");
    let twice = path(&topology, &mut network, from, to, 5);
    assert_eq!(twice, path(&topology, &mut network, from, to, 5));
    assert_eq!(path(&topology, &mut network, from, topology.hosts()[1], 5).unwrap().len(), 2);
    assert_eq!(path(&topology, &mut network, from, from, 5), None);
}

#[test]
fn routes_avoid_links_that_are_down() {
    let topology = Topology::leaf_spine(2, 1, 2, &link(), &link());
    let mut network: Network<usize> = Network::new(&topology, 1).unwrap();
    let events = &mut EventQueue::new();
    let (from, to) = (topology.hosts()[0], topology.hosts()[1]);
    // leaf-0 -> spine-0 is cable 0, leaf-0 -> spine-1 cable 1.
    network.set_up(Time::ZERO, LinkId(0), false, events);
    for port in 0..50 {
        assert_eq!(path(&topology, &mut network, from, to, port).unwrap()[1], "leaf-0->spine-1");
    }
    network.set_up(Time::ZERO, LinkId(2), false, events);
    assert_eq!(path(&topology, &mut network, from, to, 1), None);
    network.set_up(Time::ZERO, LinkId(0), true, events);
    assert_eq!(path(&topology, &mut network, from, to, 1).unwrap()[1], "leaf-0->spine-0");
}

#[test]
fn hosts_do_not_forward() {
    let mut topology = Topology::new();
    let hosts: Vec<_> = (0..3).map(|i| topology.add_host(format!("h{i}"))).collect();
    topology.connect(hosts[0], hosts[1], &link());
    topology.connect(hosts[1], hosts[2], &link());
    let mut network = Network::new(&topology, 1).unwrap();
    assert!(path(&topology, &mut network, hosts[0], hosts[1], 1).is_some());
    assert_eq!(path(&topology, &mut network, hosts[0], hosts[2], 1), None);
}

#[test]
fn nodes_of_one_host_share_its_network_card_but_not_for_each_other() {
    let mut topology = Topology::new();
    let switch = topology.add_switch("switch");
    let inside = LinkSpec::new(BitRate::from_gbps(10), Time::ZERO);
    let first = topology.add_shared_host("first", 2, &inside, switch, &link());
    let second = topology.add_shared_host("second", 2, &inside, switch, &link());
    let mut network = Network::new(&topology, 1).unwrap();
    assert_eq!(
        path(&topology, &mut network, first[0], first[1], 1).unwrap(),
        ["first/0->first/bridge", "first/bridge->first/1"]
    );
    let between = path(&topology, &mut network, first[1], second[0], 1).unwrap();
    assert_eq!(between[1..3], ["first/bridge->switch", "switch->second/bridge"]);
    assert_eq!(between.len(), 4);
}

#[test]
fn ready_made_topologies_have_their_distances() {
    let hops = |topology: &Topology, from: usize, to: usize| {
        let mut network: Network<usize> = Network::new(topology, 1).unwrap();
        path(topology, &mut network, topology.hosts()[from], topology.hosts()[to], 1).unwrap().len()
    };
    let two = Topology::two_racks([2, 3], &link(), &link());
    assert_eq!((two.hosts().len(), hops(&two, 0, 1), hops(&two, 1, 2)), (5, 2, 3));
    let racks = Topology::racks(3, 4, &link(), &link());
    assert_eq!((racks.hosts().len(), hops(&racks, 0, 3), hops(&racks, 0, 4)), (12, 2, 4));
    let tree = Topology::tree(&[2, 3, 4], &[link(), link(), link()]);
    assert_eq!((tree.hosts().len(), hops(&tree, 0, 3), hops(&tree, 0, 4), hops(&tree, 0, 23)), (24, 2, 4, 6));
    let dumbbell = Topology::dumbbell(2, &link(), &link(), &link());
    assert_eq!((dumbbell.hosts().len(), hops(&dumbbell, 0, 2)), (4, 3));
    let uplink = racks.uplink(racks.hosts()[5]).unwrap();
    assert_eq!(racks.link_name(uplink), "host-5->rack-1");
    assert_eq!(racks.link_name(uplink.reverse()), "rack-1->host-5");
    assert_eq!(racks.find("rack-1"), Some(racks.ends(uplink).1));
}

#[test]
fn packets_on_an_old_route_die_on_the_link_that_went_down() {
    let topology = Topology::two_racks([1, 1], &link(), &link());
    let mut driver = Driver::new(&topology, 1);
    let (from, to) = (topology.hosts()[0], topology.hosts()[1]);
    driver.send(Flow { at: Time::ZERO, from, to, bytes: 1_250 });
    // On its first link until 11 us.
    driver.change(Time::from_us(5), Change::Up(LinkId(0), false));
    let ledger = driver.run(Time::MAX);
    assert_eq!((ledger.lost_down, ledger.delivered), (1, 0));
    assert!(driver.events.is_empty());
}
