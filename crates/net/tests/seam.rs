//! The two ways to transmit agree exactly on FIFO: one event per packet with departures known at once, and a discipline object with
//! transmission-done events.

mod harness;

use harness::{Change, Driver, Flow};
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
        // Whole multiples of 1 us at 1 Gbit/s and 125 B: arrivals and ends of transmissions often coincide.
        sends in prop::collection::vec((0_u64..14, 1_u32..=12, 0_usize..3), 1..120),
        rate_change in prop::option::of((0_u64..600, 100_u64..4_000)),
        outage in prop::option::of((0_u64..600, 0_u64..100)),
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
            let mut at = Time::ZERO;
            for (gap, length, pair) in &sends {
                at += Time::from_us(*gap);
                driver.send(Flow { at, from: topology.hosts()[*pair], to: topology.hosts()[pair + 3], bytes: length * 125 });
            }
            if let Some((at, mbps)) = rate_change {
                driver.change(Time::from_us(at), Change::Rate(LinkId(0), BitRate::from_mbps(mbps)));
            }
            if let Some((at, length)) = outage {
                driver.change(Time::from_us(at), Change::Up(LinkId(0), false));
                driver.change(Time::from_us(at + length), Change::Up(LinkId(0), true));
            }
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
