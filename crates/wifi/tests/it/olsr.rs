//! OLSR over given graphs: relays that cover, shortest ways everywhere, and news of what has changed.

use crate::graph::{Field, distances, geometric, line};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use units::{Bytes, Time};
use wifi::routing::{
    Hello, Link, LinkKind, Message, Node, Olsr, OlsrBody, OlsrMessage, OlsrSettings, Router, TopologyControl,
    Undelivered, Willingness, multipoint_relays,
};

fn field_with(nodes: Node, edges: &[(Node, Node)], settings: impl Fn(Node) -> OlsrSettings) -> Field {
    let routers = (0..nodes).map(|node| Router::Olsr(Box::new(Olsr::new(5, node, settings(node)))));
    Field::new(2, routers.collect(), edges)
}

fn field(nodes: Node, edges: &[(Node, Node)]) -> Field {
    field_with(nodes, edges, |_| OlsrSettings::default())
}

fn olsr(field: &Field, node: Node) -> &Olsr {
    match &field.routers[node as usize] {
        Router::Olsr(olsr) => olsr,
        _ => panic!("not OLSR"),
    }
}

/// Every node's number of hops to every other is that of a search in the graph.
fn assert_shortest(field: &Field, nodes: Node) {
    for source in 0..nodes {
        let expected = distances(nodes, &field.links, source);
        for destination in (0..nodes).filter(|destination| *destination != source) {
            let ours = olsr(field, source).hops(field.now, destination);
            assert_eq!(ours, expected[destination as usize], "{source} to {destination} at {:?}", field.now);
        }
    }
}

#[test]
fn messages_are_as_long_as_the_rfc_draws_them() {
    let message = |body| {
        Message::Olsr(OlsrMessage { originator: 0, sequence: 1, validity: Time::from_secs(6), ttl: 1, body })
            .wire_bytes()
    };
    let hello = |kinds: &[LinkKind]| {
        let links = kinds.iter().zip(1..).map(|(kind, neighbour)| Link { neighbour, kind: *kind });
        message(OlsrBody::Hello(Hello { willingness: Willingness::Default, links: links.collect() }))
    };
    let empty = 28 + 4 + 12 + 4;
    assert_eq!(hello(&[]), Bytes::new(empty));
    assert_eq!(hello(&[LinkKind::Symmetric; 3]), Bytes::new(empty + 4 + 12));
    assert_eq!(
        hello(&[LinkKind::Symmetric, LinkKind::Relay, LinkKind::Symmetric, LinkKind::Lost]),
        Bytes::new(empty + 12 + 16)
    );
    let control = TopologyControl { number: 1, advertised: vec![1, 2, 3] };
    assert_eq!(message(OlsrBody::TopologyControl(control)), Bytes::new(empty + 12));
}

#[test]
fn relays_by_hand() {
    let neighbours = |list: &[(Node, Willingness, &[Node])]| -> BTreeMap<Node, (Willingness, BTreeSet<Node>)> {
        list.iter()
            .map(|(node, willingness, theirs)| (*node, (*willingness, theirs.iter().copied().collect())))
            .collect()
    };
    let usual = Willingness::Default;
    let chosen =
        |list: &[(Node, Willingness, &[Node])]| multipoint_relays(0, &neighbours(list)).into_iter().collect::<Vec<_>>();
    // 12 is reached over 2 alone; 2 covers all.
    assert_eq!(chosen(&[(1, usual, &[0, 10, 11]), (2, usual, &[0, 10, 11, 12]), (3, usual, &[0, 11])]), [2]);
    // Whom one hears oneself needs no relay.
    assert_eq!(chosen(&[(1, usual, &[0, 2]), (2, usual, &[0, 1])]), []);
    // The more willing relays, though the other reaches more; who never relays does not.
    assert_eq!(
        chosen(&[(1, Willingness::High, &[10, 11]), (2, usual, &[10, 11]), (3, Willingness::Never, &[10, 11, 12])]),
        [1]
    );
    // Who always relays is chosen even for nobody.
    assert_eq!(chosen(&[(1, Willingness::Always, &[]), (2, usual, &[10])]), [1, 2]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn relays_reach_everyone_two_hops_away_and_none_is_superfluous(
        lists in prop::collection::btree_map(1..15_u32, (0..5_usize, prop::collection::btree_set(0..40_u32, 0..12)), 0..12)
    ) {
        let all = [Willingness::Never, Willingness::Low, Willingness::Default, Willingness::High, Willingness::Always];
        let neighbours: BTreeMap<Node, (Willingness, BTreeSet<Node>)> =
            lists.into_iter().map(|(node, (willingness, theirs))| (node, (all[willingness], theirs))).collect();
        let relays = multipoint_relays(0, &neighbours);
        let reached = |by: &mut dyn Iterator<Item = Node>| -> BTreeSet<Node> {
            by.flat_map(|node| neighbours[&node].1.iter().copied()).filter(|node| *node != 0 && !neighbours.contains_key(node)).collect()
        };
        let willing = |node: &Node| neighbours[node].0 != Willingness::Never;
        let everyone = reached(&mut neighbours.keys().copied().filter(|node| willing(node)));
        prop_assert_eq!(reached(&mut relays.iter().copied()), everyone.clone());
        for relay in &relays {
            prop_assert!(willing(relay));
            let without = reached(&mut relays.iter().copied().filter(|node| node != relay));
            prop_assert!(neighbours[relay].0 == Willingness::Always || without != everyone, "{} is superfluous", relay);
        }
        for (node, (willingness, _)) in &neighbours {
            prop_assert!(*willingness != Willingness::Always || relays.contains(node));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn all_nodes_come_to_know_the_shortest_ways(seed in 0..10_000_u64, nodes in 2..25_u32, range in 0.2..0.6_f64) {
        let mut field = field(nodes, &geometric(seed, nodes, range));
        field.run(Time::from_secs(40));
        assert_shortest(&field, nodes);
        // Packets go those ways.
        let expected = distances(nodes, &field.links, 0);
        for destination in 1..nodes {
            field.send(destination, 0, destination);
        }
        field.run(Time::from_secs(41));
        for destination in 1..nodes {
            let delivered = field.delivered.iter().find(|(packet, _)| *packet == destination).map(|(_, hops)| u32::from(*hops));
            prop_assert_eq!(delivered, expected[destination as usize]);
        }
        prop_assert_eq!(field.delivered.len() + field.dropped.len(), nodes as usize - 1);
    }

    #[test]
    fn what_has_changed_is_known_when_the_old_has_run_out(seed in 0..10_000_u64, nodes in 4..16_u32) {
        let before = geometric(seed, nodes, 0.5);
        let after = geometric(seed + 1, nodes, 0.5);
        let mut field = field(nodes, &before);
        field.run(Time::from_secs(30));
        field.links = after.iter().flat_map(|(a, b)| [(*a, *b), (*b, *a)]).collect();
        // Neighbours run out after 6 s, what TC said after 15 s; then new relays must be chosen (HELLO) and speak (TC).
        field.run(Time::from_secs(30 + 6 + 15 + 15));
        assert_shortest(&field, nodes);
        for destination in 0..nodes {
            prop_assert_eq!(field.circle(destination), None);
        }
    }
}

#[test]
fn lost_broadcasts_delay_but_do_not_mislead() {
    for seed in 0..5 {
        let edges = geometric(seed, 14, 0.5);
        let mut field = field(14, &edges);
        field.loss = 0.15;
        field.run(Time::from_secs(60));
        let (mut sent, mut reachable) = (0, 0);
        for _ in 0..20 {
            let expected = distances(14, &field.links, 0);
            for destination in 1..14 {
                field.send(sent, 0, destination);
                sent += 1;
                reachable += usize::from(expected[destination as usize].is_some());
            }
            let until = field.now + Time::from_secs(2);
            field.run(until);
        }
        assert_eq!(field.delivered.len() + field.dropped.len(), sent as usize);
        // A neighbour counts as gone after three HELLOs lost in a row, 0.3 %, and returns with two more.
        assert!(field.delivered.len() * 100 >= reachable * 95, "{} of {reachable}", field.delivered.len());
    }
}

#[test]
fn only_relays_speak_and_pass_on() {
    // All hear each other: no relays, no TC, once all know it.
    let complete: Vec<(Node, Node)> = (0..8).flat_map(|a| (0..a).map(move |b| (a, b))).collect();
    let mut dense = field(8, &complete);
    dense.run(Time::from_secs(60));
    assert!((0..8).all(|node| olsr(&dense, node).relays().is_empty()));
    let settled = Time::from_secs(40);
    let controls = |field: &Field| -> Vec<Node> {
        let of = |message: &Message| {
            matches!(message, Message::Olsr(OlsrMessage { body: OlsrBody::TopologyControl(_), .. }))
        };
        field
            .transmitted
            .iter()
            .filter(|(at, _, _, message)| *at > settled && of(message))
            .map(|(_, from, _, _)| *from)
            .collect()
    };
    assert_eq!(controls(&dense), []);
    // On a line all but the ends relay.
    let mut thin = field(5, &line(5));
    thin.run(Time::from_secs(60));
    let speakers: BTreeSet<Node> = controls(&thin).into_iter().collect();
    assert_eq!(speakers, BTreeSet::from([1, 2, 3]));
    assert_eq!(*olsr(&thin, 0).relays(), BTreeSet::from([1]));
    assert_eq!(*olsr(&thin, 2).relays(), BTreeSet::from([1, 3]));
    // Each TC of 1, 2 and 3 is sent by its originator and passed on once by the other two.
    let mut times: BTreeMap<(Node, u16), BTreeMap<Node, u32>> = BTreeMap::new();
    for (at, from, _, message) in &thin.transmitted {
        if let Message::Olsr(OlsrMessage { originator, sequence, body: OlsrBody::TopologyControl(_), .. }) = message
            && (Time::from_secs(20)..Time::from_secs(55)).contains(at)
        {
            *times.entry((*originator, *sequence)).or_default().entry(*from).or_default() += 1;
        }
    }
    assert!(times.len() >= 18);
    let whole = times.values().filter(|senders| senders.len() == 3).count();
    assert!(times.values().flat_map(BTreeMap::values).all(|count| *count == 1));
    assert!(whole + 3 >= times.len(), "{whole} of {}", times.len());
}

#[test]
fn the_unwilling_carry_nothing() {
    // 0 - 1 - 2 and 0 - 3 - 2, where 1 never relays; 4 hangs on 1 alone and cannot be reached from 0.
    let edges = [(0, 1), (1, 2), (0, 3), (3, 2), (1, 4)];
    let settings = |node| OlsrSettings {
        willingness: if node == 1 { Willingness::Never } else { Willingness::Default },
        ..OlsrSettings::default()
    };
    let mut field = field_with(5, &edges, settings);
    field.run(Time::from_secs(40));
    assert_eq!(field.routers[0].next_hop(field.now, 2), Some(3));
    assert_eq!(field.routers[0].next_hop(field.now, 4), None);
    field.send(0, 0, 4);
    assert_eq!(field.dropped, [(0, Undelivered::NoRoute)]);
}

#[test]
fn a_link_of_one_direction_is_not_used() {
    let mut field = field(3, &[(0, 2), (2, 1)]);
    field.links.insert((0, 1));
    field.run(Time::from_secs(40));
    assert_eq!(field.routers[0].next_hop(field.now, 1), Some(2));
    assert_eq!(field.routers[1].next_hop(field.now, 0), Some(2));
}

#[test]
fn the_mac_tells_sooner_than_silence() {
    let edges = [(0, 1), (1, 2), (0, 3), (3, 4), (4, 2)];
    let mut field = field(5, &edges);
    field.run(Time::from_secs(40));
    assert_eq!(field.routers[0].next_hop(field.now, 2), Some(1));
    field.cut(0, 1);
    field.send(0, 0, 2);
    field.run(Time::from_ms(40_100));
    assert_eq!(field.dropped, [(0, Undelivered::NoRoute)]);
    // 4 relays for 3 and has said so: the detour is known.
    assert_eq!(field.routers[0].next_hop(field.now, 2), Some(3));
    field.send(1, 0, 2);
    field.run(Time::from_ms(40_200));
    assert_eq!(field.delivered, [(1, 3)]);
}
