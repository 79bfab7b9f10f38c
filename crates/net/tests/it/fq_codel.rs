//! FQ-CoDel against RFC 8290's rules, step by step.

use net::Ecn::NotEct;
use net::{FqCodel, FqCodelSpec, Item, Limit, PacketId, Queue};
use units::{Bytes, Time};

fn queue(quantum: u64, limit: Limit) -> FqCodel {
    let spec = FqCodelSpec { quantum: Bytes::new(quantum), ..FqCodelSpec::default() };
    FqCodel::new(&spec, limit, 3)
}

fn put(queue: &mut FqCodel, flow: u32, number: u32, bytes: u32) -> Vec<u32> {
    let mut dropped = Vec::new();
    queue.enqueue(Time::ZERO, Item::new(PacketId(number), flow, bytes, NotEct), &mut dropped);
    dropped.iter().map(|item| item.packet.0).collect()
}

fn take(queue: &mut FqCodel) -> Option<u32> {
    let mut dropped = Vec::new();
    let item = queue.dequeue(Time::ZERO, &mut dropped);
    assert!(dropped.is_empty());
    item.map(|item| item.packet.0)
}

#[test]
fn turns_are_taken_in_bytes_and_new_flows_go_first() {
    let mut queue = queue(1_500, Limit::Unlimited);
    assert_eq!([1, 2, 3].map(|flow| queue.queue_of(flow)).iter().collect::<std::collections::BTreeSet<_>>().len(), 3);
    for number in 0..4 {
        put(&mut queue, 1, 100 + number, 1_500);
        put(&mut queue, 2, 200 + number, 500);
    }
    // Both are new: flow 1 spends its quantum on one packet and goes to the old list when it comes up again. Flow 2
    // sends three of 500 B.
    assert_eq!([(); 4].map(|()| take(&mut queue)), [100, 200, 201, 202].map(Some));
    // Flow 3 is new: it goes before both, which are old by the time it has sent.
    put(&mut queue, 3, 300, 100);
    assert_eq!([(); 2].map(|()| take(&mut queue)), [300, 101].map(Some));
    // Flow 3 has sent all it had and stays among the old: a packet of it now is not new, and waits for flow 2's turn.
    put(&mut queue, 3, 301, 100);
    assert_eq!([(); 5].map(|()| take(&mut queue)), [Some(203), Some(301), Some(102), Some(103), None]);
    assert_eq!((queue.len(), queue.bytes()), (0, 0));
}

/// Two flows that always have packets get the same bytes, whatever the lengths: apart by no more than a quantum and a
/// packet.
#[test]
fn bytes_are_shared_evenly() {
    let mut queue = queue(1_538, Limit::Unlimited);
    for number in 0..3_000 {
        put(&mut queue, 1, number, 1_500);
        put(&mut queue, 2, 10_000 + number, 300);
        put(&mut queue, 3, 20_000 + number, 999);
    }
    let mut sent = [0_u64; 3];
    for _ in 0..1_500 {
        let number = take(&mut queue).unwrap();
        let (flow, bytes) = [(0, 1_500), (1, 300), (2, 999)][number as usize / 10_000];
        sent[flow] += bytes;
        let (least, most) = (sent.iter().min().unwrap(), sent.iter().max().unwrap());
        assert!(most - least <= 1_538 + 1_500, "{sent:?}");
    }
}

#[test]
fn above_the_limit_the_fattest_queue_loses_half_but_no_more_than_a_batch() {
    let mut queue = queue(1_500, Limit::Packets(210));
    for number in 0..200 {
        assert_eq!(put(&mut queue, 1, number, 1_500), []);
    }
    for number in 0..10 {
        assert_eq!(put(&mut queue, 2, 1_000 + number, 1_500), []);
    }
    // The 211th, of the thin flow, costs the fat one 64, from its head.
    assert_eq!(put(&mut queue, 2, 1_010, 1_500), (0..64).collect::<Vec<_>>());
    assert_eq!((queue.len(), queue.bytes()), (147, 147 * 1_500));
    assert_eq!(take(&mut queue), Some(64));
    // Fewer packets, but more bytes, make the fattest: 30 of 1500 B against 31 of 1000 B lose 15.
    let mut queue = self::queue(1_500, Limit::Packets(60));
    for number in 0..30 {
        put(&mut queue, 1, number, 1_500);
        put(&mut queue, 2, 1_000 + number, 1_000);
    }
    assert_eq!(put(&mut queue, 2, 1_030, 1_000), (0..15).collect::<Vec<_>>());
}

/// Each queue has its own CoDel: the flow with the standing queue is dropped from, the one that never waits is not.
#[test]
fn only_the_standing_queue_is_dropped_from() {
    let mut queue = queue(1_538, Limit::Unlimited);
    for number in 0..2_000 {
        put(&mut queue, 1, number, 1_500);
    }
    let (mut dropped, mut thin) = (Vec::new(), 0);
    // A packet leaves every millisecond; every 10 ms the thin flow sends one of 100 B. The fat flow's wait from the
    // first is what CoDel sees.
    for ms in 1..1_000 {
        let now = Time::from_ms(ms);
        if ms % 10 == 0 {
            queue.enqueue(now, Item::new(PacketId(9_000), 2, 100, NotEct), &mut dropped);
        }
        thin += u32::from(queue.dequeue(now, &mut dropped).unwrap().flow == 2);
    }
    assert_eq!(thin, 99);
    assert!(dropped.iter().all(|item| item.flow == 1));
    // The control law's times, 105 ms and then 100 / sqrt(n) apart, come to that many drops before one second (served
    // at most 1 ms later each).
    let mut at = 105.0;
    let mut expected = 0;
    while at < 1_000.0 {
        expected += 1;
        at += 100.0 / f64::from(expected).sqrt();
    }
    assert!(dropped.len().abs_diff(expected as usize) <= 1, "{} dropped, {expected} expected", dropped.len());
}
