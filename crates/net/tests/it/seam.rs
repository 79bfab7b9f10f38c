//! The two ways to transmit agree exactly on FIFO: one event per packet with departures known at once, and a discipline
//! object with transmission-done events.

use crate::harness::{Driver, schedules};
use net::{DropTail, Limit, LinkId, LinkSpec, Topology};
use proptest::prelude::*;
use units::{BitRate, Bytes, Time};

fn limits() -> impl Strategy<Value = Limit> {
    prop_oneof![
        (1_u32..8).prop_map(Limit::Packets),
        (1_538_u64..8_000).prop_map(|bytes| Limit::Bytes(Bytes::new(bytes))),
        Just(Limit::Unlimited),
    ]
}

proptest! {
    #[test]
    fn plain_and_managed_links_agree(
        limit in limits(),
        schedule in schedules(),
        loss in prop_oneof![Just(0.0), Just(0.1)],
        until in 0_u64..900,
    ) {
        let spec = LinkSpec::new(BitRate::from_gbps(1), Time::from_us(3)).with_limit(limit);
        let topology = Topology::dumbbell(3, &spec, &spec.clone().with_loss(loss), &spec);
        let run = |managed: bool| {
            let mut driver = Driver::new(&topology, 5);
            if managed {
                for link in 0..2 * topology.cables().len() as u32 {
                    driver.network.manage(LinkId(link), Box::new(DropTail::new(limit)));
                }
            }
            driver.schedule(&topology, &schedule);
            let end = Time::from_us(until);
            let ledger = driver.run(end);
            let links: Vec<_> = driver
                .network
                .links()
                .iter()
                .map(|link| {
                    let c = link.counters();
                    (c.packets - waiting_on_plain(link, end), c.drops, c.longest_queue, link.queue_integral(end), link.waiting(end))
                })
                .collect();
            (driver.arrivals, ledger.dropped, ledger.lost, ledger.lost_down, ledger.in_flight, links)
        };
        prop_assert_eq!(run(false), run(true));
    }
}

/// A plain link counts a packet as accepted when it is queued, a managed one when its transmission begins.
fn waiting_on_plain(link: &net::Link, now: Time) -> u64 {
    if link.is_managed() { 0 } else { link.waiting(now) as u64 }
}
