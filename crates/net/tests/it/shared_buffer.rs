//! A shared buffer with dynamic thresholds against the closed forms of Choudhury and Hahne.

use crate::harness::{Driver, Flow};
use net::Ecn::NotEct;
use net::{
    DropTail, Item, Limit, LinkId, LinkSpec, PacketId, Queue, SharedBuffer, SharedBufferSpec, SharedPort, Topology,
};
use units::{BitRate, Bytes, Time};

const SIZE: u64 = 1_000_000;

fn ports(alpha: f64, count: usize) -> (SharedBuffer, Vec<SharedPort>) {
    let buffer = SharedBuffer::new(SharedBufferSpec { size: Bytes::new(SIZE), alpha });
    let ports = (0..count).map(|_| buffer.port(Box::new(DropTail::new(Limit::Unlimited)))).collect();
    (buffer, ports)
}

fn offer(port: &mut SharedPort) -> bool {
    let mut dropped = Vec::new();
    port.enqueue(Time::ZERO, Item::new(PacketId(0), 0, 1_000, NotEct), &mut dropped);
    dropped.is_empty()
}

/// Equations (3) and (4): S overloaded ports hold alpha B / (1 + alpha S) each; B / (1 + alpha S) stays free.
#[test]
fn overloaded_ports_share_as_the_closed_form_says() {
    for (alpha, busy) in [(1.0, 1), (1.0, 2), (1.0, 7), (0.5, 4), (2.0, 3), (8.0, 5), (0.0625, 16)] {
        let (buffer, mut ports) = ports(alpha, busy);
        for _ in 0..2_000 {
            for port in &mut ports {
                offer(port);
            }
        }
        let share = alpha * SIZE as f64 / (1.0 + alpha * busy as f64);
        for port in &ports {
            let off = port.bytes() as f64 - share;
            // A port stops within the packet that reaches its threshold; the threshold moves by alpha for each packet
            // of the others.
            let grain = 1_000.0 * (1.0 + alpha);
            assert!(off.abs() <= grain, "alpha {alpha}, {busy} busy: {} B, {share} expected", port.bytes());
        }
        assert_eq!(buffer.taken(), ports.iter().map(Queue::bytes).sum::<u64>());
    }
}

/// A port alone may take half of the buffer at alpha 1. When a second one becomes busy the first is above its threshold
/// and takes nothing until it has drained to a third, which the second is let in for.
#[test]
fn a_port_that_becomes_busy_finds_room_at_once() {
    let (buffer, mut ports) = ports(1.0, 2);
    while offer(&mut ports[0]) {}
    assert_eq!((ports[0].bytes(), buffer.threshold()), (500_000, 500_000.0));
    assert!(offer(&mut ports[1]), "half of the buffer is free");
    assert!(!offer(&mut ports[0]), "the first is above its threshold now");
    while offer(&mut ports[1]) {}
    assert_eq!(ports[1].bytes(), 250_000);
    // The first drains: with each of its packets gone the second gains half as much, until both hold a third.
    let mut dropped = Vec::new();
    while !offer(&mut ports[0]) {
        ports[0].dequeue(Time::ZERO, &mut dropped);
        while offer(&mut ports[1]) {}
    }
    let third = SIZE as f64 / 3.0;
    for port in &ports {
        assert!((port.bytes() as f64 - third).abs() <= 1_000.0, "{}", port.bytes());
    }
    for port in &mut ports {
        while port.dequeue(Time::ZERO, &mut dropped).is_some() {}
    }
    assert_eq!(buffer.taken(), 0);
}

#[test]
fn nothing_exceeds_the_buffer_however_large_alpha_is() {
    let (buffer, mut ports) = ports(1e9, 3);
    for _ in 0..600 {
        for port in &mut ports {
            offer(port);
        }
    }
    assert_eq!(buffer.taken(), SIZE);
}

/// In a network: 3 hosts send to one each over one switch at ten times the receivers' rate; each port's queue grows to
/// its share.
#[test]
fn the_ports_of_a_switch_share_its_buffer_and_nothing_else_does() {
    let fast = LinkSpec::new(BitRate::from_gbps(1), Time::ZERO).with_limit(Limit::Unlimited);
    let slow = LinkSpec { rate: BitRate::from_mbps(100), ..fast.clone() };
    let mut topology = Topology::new();
    let switch = topology.add_switch("switch");
    topology.share_buffer(switch, SharedBufferSpec { size: Bytes::new(100_000), alpha: 1.0 });
    let mut hosts = Vec::new();
    for i in 0..6 {
        let host = topology.add_host(format!("host-{i}"));
        topology.connect(switch, host, if i < 3 { &fast } else { &slow });
        hosts.push(host);
    }
    let mut driver = Driver::new(&topology, 1);
    for i in 0..300 {
        driver.send(Flow { at: Time::ZERO, from: hosts[i % 3], to: hosts[3 + i % 3], bytes: 1_000 });
    }
    // 100 packets each arrive within 800 us, of which ten are sent on; B / (1 + 3) are 25 kB.
    driver.run(Time::from_us(800));
    for port in 3..6 {
        let bytes = driver.network.link(LinkId(2 * port)).waiting_bytes(driver.now);
        assert!((24_000..=26_000).contains(&bytes), "{bytes}");
    }
    let ledger = driver.run(Time::MAX);
    // A port holds 25 packets when it has sent some; each takes another for each that it sends until all have come.
    let through = ledger.delivered as f64 / 3.0;
    assert!((33.0..=36.0).contains(&through), "{through}");
    let hosts_dropped: u64 = (0..6).map(|port| driver.network.link(LinkId(2 * port + 1)).counters().drops).sum();
    assert_eq!(hosts_dropped, 0);
    assert_eq!(ledger.dropped + ledger.delivered, 300);
}
