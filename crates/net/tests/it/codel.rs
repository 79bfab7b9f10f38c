//! CoDel against its control law, worked out apart from it.

use net::Ecn::{self, Ce, Ect, NotEct};
use net::{Codel, CodelSpec, Item, Limit, PacketId, Queue};
use units::{Bytes, Time};

fn codel() -> Codel {
    Codel::new(&CodelSpec::default(), Limit::Unlimited)
}

fn fill(codel: &mut Codel, now: Time, count: u32, bytes: u32, ecn: Ecn) {
    for number in 0..count {
        codel.enqueue(now, Item::new(PacketId(number), 0, bytes, ecn), &mut Vec::new());
    }
}

/// One packet leaves every millisecond from `from` until before `until`: when any was dropped or marked.
fn serve(codel: &mut Codel, from: u64, until: u64) -> Vec<u64> {
    let mut dropped = Vec::new();
    (from..until)
        .filter(|ms| {
            dropped.clear();
            let item = codel.dequeue(Time::from_ms(*ms), &mut dropped);
            assert!(dropped.len() <= 1);
            !dropped.is_empty() || item.is_some_and(|item| item.ecn == Ce)
        })
        .collect()
}

/// The first whole milliseconds at or after each time of the control law: one interval of 100 ms after `entered` and
/// then 100 / sqrt(count).
fn law(entered: f64, first_count: u32, drops: u32) -> Vec<u64> {
    let mut at = entered;
    let mut times = vec![entered as u64];
    for count in first_count..first_count + drops - 1 {
        at += 100.0 / f64::from(count).sqrt();
        times.push(at.ceil() as u64);
    }
    times
}

#[test]
fn drops_come_at_the_times_of_the_control_law() {
    // All wait since time zero: above the target of 5 ms from the fifth on, for an interval at 105 ms.
    let mut queue = codel();
    fill(&mut queue, Time::ZERO, 2_000, 1_500, NotEct);
    let expected = law(105.0, 1, 12);
    assert_eq!(expected[..7], [105, 205, 276, 334, 384, 429, 469]);
    let last = expected[11];
    assert_eq!(serve(&mut queue, 1, last + 1), expected);
    // One packet left each millisecond, and twelve were dropped beside.
    assert_eq!(queue.len() as u64, 2_000 - last - 12);
    assert_eq!(queue.bytes(), 1_500 * queue.len() as u64);
}

#[test]
fn packets_that_can_be_marked_are_and_none_is_dropped() {
    let mut queue = codel();
    fill(&mut queue, Time::ZERO, 2_000, 1_500, Ect);
    let expected = law(105.0, 1, 12);
    assert_eq!(serve(&mut queue, 1, expected[11] + 1), expected);
    assert_eq!(queue.len() as u64, 2_000 - expected[11]);
    let without = CodelSpec { ecn: false, ..CodelSpec::default() };
    let mut queue = Codel::new(&without, Limit::Unlimited);
    fill(&mut queue, Time::ZERO, 2_000, 1_500, Ect);
    serve(&mut queue, 1, 106);
    assert_eq!(queue.len(), 2_000 - 106);
}

#[test]
fn a_short_wait_ends_the_dropping_and_a_soon_return_goes_on_where_it_was() {
    let first = law(105.0, 1, 8);
    assert_eq!(first[7], 507);
    // Enough for every millisecond until just after the eighth drop, at 507 ms: the next one leaves one packet behind,
    // which ends it; or the drop itself does.
    for left in [2, 1] {
        let mut queue = codel();
        fill(&mut queue, Time::ZERO, 507 + 8 + left, 1_500, NotEct);
        assert_eq!(serve(&mut queue, 1, 508), first);
        assert_eq!(queue.len() as u32, left);
        assert_eq!(serve(&mut queue, 508, 510), []);
        // What comes at 510 ms waits long again from 515 on, and is above for an interval at 615.
        fill(&mut queue, Time::from_ms(510), 1_000, 1_500, NotEct);
        // The count stood at 8, the last drop counted too, and had begun at 1: it goes on with 7.
        let again = law(615.0, 7, 6);
        assert_eq!(again[..3], [615, 653, 689]);
        assert_eq!(serve(&mut queue, 510, again[5] + 1), again);
    }
    // After more than 16 intervals of quiet it begins at 1.
    let mut queue = codel();
    fill(&mut queue, Time::ZERO, 515, 1_500, NotEct);
    serve(&mut queue, 1, 510);
    fill(&mut queue, Time::from_ms(3_000), 1_000, 1_500, NotEct);
    assert_eq!(serve(&mut queue, 3_000, 3_350), law(3_105.0, 1, 4));
}

#[test]
fn a_queue_of_no_more_than_a_packet_is_left_alone() {
    let mut queue = codel();
    // Whatever leaves one packet of 1500 B behind never counts as a standing queue.
    for second in 0..20 {
        fill(&mut queue, Time::from_secs(second), 1, 1_500, NotEct);
        if second > 0 {
            let (mut dropped, now) = (Vec::new(), Time::from_secs(second));
            assert!(queue.dequeue(now, &mut dropped).is_some() && dropped.is_empty());
        }
    }
}

#[test]
fn it_holds_no_more_than_its_limit() {
    let mut dropped = Vec::new();
    let mut queue = Codel::new(&CodelSpec::default(), Limit::Bytes(Bytes::new(4_000)));
    for number in 0..4 {
        queue.enqueue(Time::ZERO, Item::new(PacketId(number), 0, 1_500, NotEct), &mut dropped);
    }
    assert_eq!((queue.len(), queue.bytes(), dropped.len()), (2, 3_000, 2));
}
