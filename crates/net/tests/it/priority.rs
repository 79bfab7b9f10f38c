//! Strict priority: the order, and the mean waits of Cobham's formula.

use crate::harness::{Driver, Flow};
use des::RandomStream;
use net::Ecn::NotEct;
use net::{Discipline, Item, Limit, LinkSpec, PacketId, Priority, Queue, Topology};
use units::{BitRate, Time};

#[test]
fn earlier_classes_go_first_and_each_has_its_own_limit() {
    let mut queue = Priority::new(3, Limit::Packets(2));
    let mut dropped = Vec::new();
    for (number, class) in [(0, 2), (1, 1), (2, 9), (3, 0), (4, 1), (5, 1), (6, 2)] {
        let mut item = Item::new(PacketId(number), 0, 100, NotEct);
        item.class = class;
        queue.enqueue(Time::ZERO, item, &mut dropped);
    }
    // Class 9 is served with the last. Class 1 held two when packet 5 came, the last class two when 6 came.
    assert_eq!(dropped.iter().map(|item| item.packet.0).collect::<Vec<_>>(), [5, 6]);
    assert_eq!((queue.len(), queue.bytes()), (5, 500));
    let order: Vec<_> = std::iter::from_fn(|| queue.dequeue(Time::ZERO, &mut dropped)).map(|i| i.packet.0).collect();
    assert_eq!(order, [3, 1, 4, 0, 2]);
    assert_eq!((queue.len(), queue.bytes()), (0, 0));
}

/// Cobham 1954: with Poisson arrivals, and R the mean rest of the service under way, class k waits R / ((1 - s(k-1)) (1
/// - s(k))) in the mean, s(k) the load of the classes up to k. With constant service of one unit R is half the load.
#[test]
fn mean_waits_are_those_of_cobham() {
    // 1250 B at 100 Mbit/s: 0.1 ms.
    let service = 1e-4;
    let loads = [0.2, 0.3, 0.3];
    let spec = LinkSpec::new(BitRate::from_mbps(100), Time::ZERO)
        .with_limit(Limit::Unlimited)
        .with_discipline(Discipline::Priority { classes: 3 });
    let mut topology = Topology::new();
    let (from, to) = (topology.add_host("from"), topology.add_host("to"));
    topology.connect(from, to, &spec);
    let mut driver = Driver::new(&topology, 1);
    let mut sent: Vec<(Time, usize)> = Vec::new();
    for (class, load) in loads.iter().enumerate() {
        let mut random = RandomStream::new(11, "arrivals", class as u64);
        let mut at = 0.0;
        while at < 20.0 {
            at += random.exponential(service / load);
            sent.push((Time::from_secs_f64(at), class));
        }
    }
    sent.sort_unstable();
    for (flow, (at, class)) in sent.iter().enumerate() {
        driver.network.set_class(flow as u32, *class as u8);
        driver.send(Flow { at: *at, from, to, bytes: 1_250 });
    }
    driver.run(Time::MAX);
    let (mut waits, mut counts) = ([0.0; 3], [0.0; 3]);
    for (packet, arrival) in &driver.arrivals {
        let (at, class) = sent[*packet];
        waits[class] += (*arrival - at).as_secs_f64() - service;
        counts[class] += 1.0;
    }
    let rest = loads.iter().sum::<f64>() * service / 2.0;
    let mut before = 0.0;
    for class in 0..3 {
        let up_to = before + loads[class];
        let expected = rest / ((1.0 - before) * (1.0 - up_to));
        let got = waits[class] / counts[class];
        assert!((got / expected - 1.0).abs() < 0.03, "class {class}: {got}, {expected} expected");
        before = up_to;
    }
}
