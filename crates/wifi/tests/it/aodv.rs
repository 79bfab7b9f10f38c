//! AODV over given graphs: shortest ways, rings, repair, and no loops whatever breaks or is lost.

use crate::graph::{Field, distances, geometric, line};
use des::RandomStream;
use proptest::prelude::*;
use units::{Bytes, Time};
use wifi::routing::{Aodv, AodvSettings, Broken, Message, Node, Reply, Request, Router, Undelivered};

fn field(nodes: Node, edges: &[(Node, Node)], settings: AodvSettings) -> Field {
    let routers = (0..nodes).map(|node| Router::Aodv(Box::new(Aodv::new(11, node, settings))));
    Field::new(1, routers.collect(), edges)
}

/// Without jitter the first copy of a request has come the shortest way.
fn orderly() -> AodvSettings {
    AodvSettings { jitter: Time::ZERO, ..AodvSettings::default() }
}

fn requests(field: &Field, from: Node) -> Vec<(Time, Request)> {
    let sent = field.transmitted.iter().filter(|(_, node, _, _)| *node == from);
    let request = |message: &Message| if let Message::Request(request) = message { Some(*request) } else { None };
    sent.filter_map(|(at, _, _, message)| Some((*at, request(message)?)))
        .filter(|(_, request)| request.originator == from)
        .collect()
}

#[test]
fn messages_are_as_long_as_the_rfc_draws_them() {
    let request = Request {
        originator: 0,
        originator_sequence: 1,
        id: 1,
        destination: 2,
        destination_sequence: None,
        hops: 0,
        ttl: 1,
    };
    let reply = Reply { destination: 2, destination_sequence: 1, originator: 0, hops: 0, lifetime: Time::from_secs(6) };
    assert_eq!(Message::Request(request).wire_bytes(), Bytes::new(28 + 24));
    assert_eq!(Message::Reply(reply).wire_bytes(), Bytes::new(28 + 20));
    for count in 1..4 {
        let broken = Broken { unreachable: vec![(1, 1); count as usize] };
        assert_eq!(Message::Broken(broken).wire_bytes(), Bytes::new(28 + 4 + 8 * count));
    }
}

#[test]
fn a_request_goes_out_in_rings_until_it_arrives() {
    let mut field = field(6, &line(6), orderly());
    field.send(7, 0, 5);
    assert_eq!(field.held(), 1);
    field.run(Time::from_secs(3));
    assert_eq!(field.delivered, [(7, 5)]);
    // Radius 1, 3, 5, after 2 x 40 ms x (radius + 2) each.
    let asked: Vec<_> = requests(&field, 0).iter().map(|(at, request)| (at.as_ms(), request.ttl)).collect();
    assert_eq!(asked, [(0, 1), (240, 3), (640, 5)]);
    // The way back is known: the destination asks nobody.
    field.send(8, 5, 0);
    field.run(Time::from_secs(4));
    assert_eq!(field.delivered[1..], [(8, 5)]);
    assert_eq!(requests(&field, 5), []);
}

#[test]
fn who_cannot_be_found_is_given_up_after_all_rings_and_retries() {
    let mut field = field(4, &line(3), orderly());
    for packet in 0..70 {
        field.send(packet, 0, 3);
    }
    // The buffer holds 64.
    assert_eq!(field.dropped, (64..70).map(|packet| (packet, Undelivered::BufferFull)).collect::<Vec<_>>());
    let waits = [240, 400, 560, 720, 2800, 5600, 11_200];
    let total: u64 = waits.iter().sum();
    field.run(Time::from_ms(total - 1));
    assert_eq!((field.dropped.len(), field.held()), (6, 64));
    field.run(Time::from_ms(total));
    assert_eq!((field.dropped.len(), field.held()), (70, 0));
    assert!(field.dropped[6..].iter().all(|(_, why)| *why == Undelivered::NoRoute));
    let asked: Vec<_> = requests(&field, 0).iter().map(|(at, request)| (at.as_ms(), request.ttl)).collect();
    assert_eq!(asked, [(0, 1), (240, 3), (640, 5), (1200, 7), (1920, 35), (4720, 35), (10_320, 35)]);
}

#[test]
fn a_broken_way_is_told_to_its_source_and_another_is_found() {
    // 0 - 1 - 2 - 3, and the detour 0 - 4 - 5 - 6 - 3.
    let edges = [(0, 1), (1, 2), (2, 3), (0, 4), (4, 5), (5, 6), (6, 3)];
    let mut field = field(7, &edges, orderly());
    field.send(0, 0, 3);
    field.run(Time::from_secs(2));
    assert_eq!(field.delivered, [(0, 3)]);
    field.cut(2, 3);
    field.send(1, 0, 3);
    field.run(Time::from_ms(2100));
    // Node 2 has dropped what it had; the news has come back to 0.
    assert_eq!(field.dropped, [(1, Undelivered::NoRoute)]);
    assert_eq!(field.routers[0].next_hop(field.now, 3), None);
    let told: Vec<_> = field
        .transmitted
        .iter()
        .filter(|(_, _, _, message)| matches!(message, Message::Broken(_)))
        .map(|(_, from, to, _)| (*from, *to))
        .collect();
    assert_eq!(told, [(2, Some(1)), (1, Some(0))]);
    field.send(2, 0, 3);
    field.run(Time::from_secs(6));
    assert_eq!(field.delivered[1..], [(2, 4)]);
    // A source that loses its own next hop keeps the packet; the vain attempt counts as a hop.
    field.cut(0, 4);
    field.connect(2, 3);
    field.send(3, 0, 3);
    field.run(Time::from_secs(9));
    assert_eq!(field.delivered[2..], [(3, 1 + 3)]);
}

#[test]
fn routes_live_while_they_are_used() {
    let mut field = field(4, &line(4), orderly());
    for second in 0..12 {
        field.send(second, 0, 3);
        field.run(Time::from_secs(2 * u64::from(second) + 2));
    }
    assert_eq!(field.delivered.len(), 12);
    let asked = requests(&field, 0).len();
    assert_eq!(asked, 2, "rings of 1 and 3");
    // A route made by a reply lives 6 s at first; unused it ends, and the next packet asks again in one ring two wider
    // than it was far.
    field.run(Time::from_secs(60));
    field.send(99, 0, 3);
    field.run(Time::from_secs(63));
    let again: Vec<_> = requests(&field, 0)[asked..].iter().map(|(_, request)| request.ttl).collect();
    assert_eq!(again, [5]);
    assert_eq!(field.delivered.last(), Some(&(99, 3)));
}

#[test]
fn an_intermediate_node_that_knows_a_way_replies() {
    let mut field = field(5, &line(5), orderly());
    field.send(0, 1, 4);
    field.run(Time::from_secs(2));
    field.transmitted.clear();
    field.send(1, 0, 4);
    field.run(Time::from_ms(2500));
    assert_eq!(field.delivered, [(0, 3), (1, 4)]);
    // One request of radius 1, answered by node 1: nobody passed it on.
    let asked = field.transmitted.iter().filter(|(_, _, _, message)| matches!(message, Message::Request(_)));
    assert_eq!(asked.map(|(_, from, _, _)| *from).collect::<Vec<_>>(), [0]);
}

#[test]
fn a_link_of_one_direction_is_noticed_and_gone_around() {
    // 1 hears 0 and not the other way; 0 - 2 - 1 works.
    let mut field = field(3, &[(0, 2), (2, 1)], orderly());
    field.links.insert((0, 1));
    field.send(0, 0, 1);
    field.run(Time::from_secs(5));
    assert_eq!(field.delivered, [(0, 2)]);
}

#[test]
fn a_neighbour_that_is_heard_and_does_not_hear_is_not_tried_for_ever() {
    for hello in [None, Some(Time::from_secs(1))] {
        let mut field = field(3, &[(1, 2)], AodvSettings { hello, ..orderly() });
        field.links.insert((1, 0));
        for second in 0..60 {
            // What 1 asks for is heard by 0.
            field.send(second, 1, 2);
            field.run(Time::from_secs(u64::from(second) + 1));
            if second == 5 {
                field.send(100, 0, 1);
            }
        }
        assert!(field.dropped.contains(&(100, Undelivered::NoRoute)), "{hello:?}: {:?}", field.dropped);
        // Once it hears, one search finds it.
        field.connect(0, 1);
        field.send(101, 0, 1);
        field.run(Time::from_secs(70));
        assert_eq!(field.delivered.last(), Some(&(101, 1)));
    }
}

#[test]
fn hello_misses_a_neighbour_without_the_mac() {
    let settings = AodvSettings { hello: Some(Time::from_secs(1)), ..orderly() };
    let mut field = field(3, &line(3), settings);
    field.run(Time::from_secs(3));
    assert_eq!(field.routers[0].next_hop(field.now, 1), Some(1));
    assert_eq!(field.routers[1].next_hop(field.now, 2), Some(2));
    field.send(0, 0, 2);
    field.run(Time::from_secs(4));
    assert_eq!(field.delivered, [(0, 2)]);
    field.cut(1, 2);
    field.run(Time::from_ms(6100));
    assert_eq!(field.routers[1].next_hop(field.now, 2), None);
    assert_eq!(field.routers[0].next_hop(field.now, 2), None, "0 has not been told");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn the_way_found_is_the_shortest(seed in 0..10_000_u64, nodes in 2..30_u32, range in 0.2..0.6_f64) {
        let edges = geometric(seed, nodes, range);
        // Asking the whole network at once; rings find the same.
        for settings in [orderly(), AodvSettings { ttl_start: 35, ..orderly() }] {
            let mut field = field(nodes, &edges, settings);
            let (source, destination) = (0, nodes - 1);
            field.send(1, source, destination);
            field.run(Time::from_secs(25));
            if let Some(hops) = distances(nodes, &field.links, source)[destination as usize] {
                prop_assert_eq!(&field.delivered, &[(1, hops as u8)]);
            } else {
                prop_assert_eq!(&field.dropped, &[(1, Undelivered::NoRoute)]);
            }
            prop_assert_eq!(field.held(), 0);
        }
    }

    #[test]
    fn no_way_is_a_circle_whatever_breaks_and_is_lost(
        seed in 0..100_000_u64,
        nodes in 3..14_u32,
        range in 0.25..0.7_f64,
        loss in prop_oneof![Just(0.0), 0.0..0.7_f64],
        hello in any::<bool>(),
    ) {
        let settings = AodvSettings { hello: hello.then_some(Time::from_secs(1)), ..AodvSettings::default() };
        let mut field = field(nodes, &geometric(seed, nodes, range), settings);
        field.loss = loss;
        let mut stream = RandomStream::new(seed, "test/change", 0);
        let mut sent = 0;
        let mut change = Time::ZERO;
        while field.now < Time::from_secs(60) {
            if field.next() >= change {
                field.now = field.now.max(change);
                change += Time::from_secs_f64(stream.exponential(0.3));
                let (a, b) = (stream.below(u64::from(nodes)) as Node, stream.below(u64::from(nodes)) as Node);
                if a == b {
                    continue;
                }
                match stream.below(6) {
                    0 => field.cut(a, b),
                    1 if stream.chance(0.3) => field.connect(a, b),
                    2 if stream.chance(0.3) => { field.links.insert((a, b)); }
                    _ => {
                        field.send(sent, a, b);
                        sent += 1;
                    }
                }
            } else {
                field.step();
            }
            for destination in 0..nodes {
                prop_assert_eq!(field.circle(destination), None, "for {} at {:?}", destination, field.now);
            }
        }
        // Every packet is somewhere.
        prop_assert_eq!(sent as usize, field.delivered.len() + field.dropped.len() + field.held() + field.flying());
        prop_assert!(field.dropped.iter().all(|(_, why)| *why != Undelivered::TtlExpired));
        // A search takes 22 s; what is found may be broken, and one node's search may mislead another.
        let end = field.now + Time::from_secs(100);
        field.run(end);
        prop_assert_eq!((field.held(), field.flying()), (0, 0), "searches end");
    }

    #[test]
    fn packets_arrive_over_lossy_broadcasts_while_there_is_a_way(seed in 0..1000_u64) {
        let edges = geometric(seed, 12, 0.55);
        let mut field = field(12, &edges, AodvSettings::default());
        field.loss = 0.2;
        let reachable = distances(12, &field.links, 0)[11].is_some();
        for packet in 0..20 {
            field.send(packet, 0, 11);
            let until = field.now + Time::from_secs(1);
            field.run(until);
        }
        field.run(Time::from_secs(60));
        // One search asks seven times, the last three of everyone.
        prop_assert!(!reachable || field.delivered.len() >= 18, "{} of 20", field.delivered.len());
    }
}

#[test]
fn the_same_seed_gives_the_same_messages() {
    let run = || {
        let mut field = field(15, &geometric(3, 15, 0.4), AodvSettings::default());
        field.loss = 0.1;
        for packet in 0..10 {
            field.send(packet, packet % 15, (packet * 7 + 3) % 15);
        }
        field.run(Time::from_secs(30));
        (field.transmitted, field.delivered, field.dropped)
    };
    assert_eq!(run(), run());
}
