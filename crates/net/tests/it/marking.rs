//! ECN marks: threshold marking, step by step, and their way from a queue back to the packet and the counters.

use des::EventQueue;
use net::Ecn::{self, Ce, Ect, NotEct};
use net::{
    ARRIVAL, Discipline, FlowKey, Item, Limit, LinkId, LinkSpec, Network, Packet, PacketId, Queue, SpecError,
    TRANSMISSION_DONE, Threshold, Topology,
};
use units::{BitRate, Bytes, Time};

#[derive(Clone, Copy)]
struct Numbered {
    number: u32,
    ecn: Ecn,
}

impl Packet for Numbered {
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    fn mark(&mut self) {
        assert_eq!(self.ecn, Ect, "only what can be marked is");
        self.ecn = Ce;
    }
}

fn item(number: u32, bytes: u32, ecn: Ecn) -> Item {
    Item::new(PacketId(number), 0, bytes, ecn)
}

/// Puts packets into a queue without taking any out, then empties it: which came back with which field, and which were
/// dropped.
fn through(queue: &mut Threshold, items: &[Item]) -> (Vec<(u32, Ecn)>, Vec<u32>) {
    let mut dropped = Vec::new();
    for item in items {
        queue.enqueue(Time::ZERO, *item, &mut dropped);
    }
    let mut out = Vec::new();
    while let Some(item) = queue.dequeue(Time::ZERO, &mut dropped) {
        out.push((item.packet.0, item.ecn));
    }
    assert_eq!((queue.len(), queue.bytes(), queue.is_empty()), (0, 0, true));
    (out, dropped.iter().map(|item| item.packet.0).collect())
}

#[test]
fn a_threshold_marks_when_the_queue_with_the_packet_exceeds_it() {
    let items: Vec<_> = (0..6).map(|i| item(i, 1_500, Ect)).collect();
    // K of 3 packets, or of anything from 4500 to 5999 B: the fourth packet is the first above it. The sixth finds
    // five, and is dropped.
    for (limit, mark_above) in [
        (Limit::Packets(5), Limit::Packets(3)),
        (Limit::Bytes(Bytes::new(7_500)), Limit::Bytes(Bytes::new(4_500))),
        (Limit::Packets(5), Limit::Bytes(Bytes::new(5_999))),
    ] {
        let (out, dropped) = through(&mut Threshold::new(limit, mark_above), &items);
        assert_eq!(out, [(0, Ect), (1, Ect), (2, Ect), (3, Ce), (4, Ce)], "{limit:?} {mark_above:?}");
        assert_eq!(dropped, [5]);
    }
}

#[test]
fn what_cannot_be_marked_is_not_and_marks_stay() {
    let items = [item(0, 100, Ce), item(1, 100, NotEct), item(2, 100, NotEct), item(3, 100, Ect), item(4, 100, Ce)];
    let (out, dropped) = through(&mut Threshold::new(Limit::Packets(9), Limit::Packets(1)), &items);
    assert_eq!(out, [(0, Ce), (1, NotEct), (2, NotEct), (3, Ce), (4, Ce)]);
    assert_eq!(dropped, []);
}

/// Two switches in a row mark: what arrives, what each has counted.
#[test]
fn marks_reach_the_packet_and_each_is_counted_where_it_happened() {
    let rate = BitRate::from_mbps(1);
    let marking = |k| {
        LinkSpec::new(rate, Time::ZERO)
            .with_limit(Limit::Packets(6))
            .with_discipline(Discipline::Threshold { mark_above: Limit::Packets(k) })
    };
    let mut topology = Topology::new();
    let from = topology.add_host("from");
    let (first, second) = (topology.add_switch("first"), topology.add_switch("second"));
    let to = topology.add_host("to");
    topology.connect(from, first, &LinkSpec::new(BitRate::from_gbps(1), Time::ZERO));
    topology.connect(first, second, &marking(3));
    // Half the rate of the first: its queue grows too.
    let mut slower = marking(1);
    slower.rate = BitRate::from_bps(500_000);
    topology.connect(second, to, &slower);
    let mut network = Network::new(&topology, 1).unwrap();
    let mut events = EventQueue::new();
    let route = network.route(FlowKey { from, to, from_port: 1, to_port: 2 });
    // Ten packets at once, 0 and 5 of them not capable, reach the first switch back to back, 1 us apart: 1 ms each on
    // its link.
    for number in 0..10 {
        let ecn = if number % 5 == 0 { NotEct } else { Ect };
        network.send(Time::ZERO, &Numbered { number, ecn }, (number, 125), route, &mut events);
    }
    let mut arrived = Vec::new();
    while let Some(event) = events.pop() {
        match event.kind() {
            ARRIVAL => {
                if let Some((packet, _)) = network.on_arrival(&event, &mut events) {
                    let Numbered { number, ecn } = *network.packet(packet);
                    arrived.push((number, ecn, event.time().as_ms()));
                    network.finish(packet);
                }
            }
            TRANSMISSION_DONE => network.on_transmission_done(&event, &mut events),
            other => panic!("event {other}"),
        }
        network.ledger().check().unwrap();
    }
    // First switch: packet 0 is in transmission when 1 to 6 come to wait; of these 4, 5 and 6 exceed K = 3 (5 is not
    // capable), 7 to 9 the limit. They leave it every millisecond and take two each on the next link. With packet 0 in
    // transmission 1 waits (no more than K = 1); when 2 comes 1 has begun; 3 finds 2: marked. 4, marked already, finds
    // 3; 5 finds 3 and 4 and is not capable; 6, marked already, finds 4 and 5.
    let expected = [(0, NotEct), (1, Ect), (2, Ect), (3, Ce), (4, Ce), (5, NotEct), (6, Ce)];
    assert_eq!(arrived.iter().map(|(number, ecn, _)| (*number, *ecn)).collect::<Vec<_>>(), expected);
    assert_eq!(arrived.iter().map(|(_, _, ms)| *ms).collect::<Vec<_>>(), [3, 5, 7, 9, 11, 13, 15]);
    let counters = |link| network.link(LinkId(link)).counters();
    assert_eq!((counters(0).marks, counters(2).marks, counters(4).marks), (0, 2, 1));
    assert_eq!((counters(2).drops, counters(4).drops), (3, 0));
}

/// The seam's promise that a rate gives a delay its meaning, and that thresholds lie within the queue.
#[test]
fn thresholds_are_checked_against_the_queue() {
    let spec = |limit, mark_above| {
        LinkSpec::new(BitRate::from_gbps(1), Time::ZERO)
            .with_limit(limit)
            .with_discipline(Discipline::Threshold { mark_above })
            .check()
    };
    let kb = |kb: u64| Limit::Bytes(Bytes::new(kb * 1_000));
    assert_eq!(spec(Limit::Packets(100), Limit::Packets(99)), Ok(()));
    assert!(matches!(spec(Limit::Packets(100), Limit::Packets(100)), Err(SpecError::Discipline(_))));
    assert_eq!(spec(Limit::Packets(100), kb(100)), Ok(()));
    assert!(spec(Limit::Packets(100), kb(154)).is_err());
    // 1 Gbit/s sends 125 KB in a millisecond.
    assert_eq!(spec(Limit::Delay(Time::from_ms(1)), kb(124)), Ok(()));
    assert!(spec(Limit::Delay(Time::from_ms(1)), kb(125)).is_err());
    assert!(spec(Limit::Unlimited, Limit::Unlimited).is_err());
}
