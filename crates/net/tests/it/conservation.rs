//! Every packet is accounted for on random networks under loss, outages and rate changes; and two runs are the same.

use crate::harness::{Arrivals, Change, Driver, Flow};
use net::{DropTail, Ledger, Limit, LinkId, LinkSpec, TokenBucketSpec, Topology};
use proptest::prelude::*;
use units::{BitRate, Bytes, Time};

fn specs() -> impl Strategy<Value = LinkSpec> {
    (
        1_u64..1_000,
        0_u64..500,
        1_u32..20,
        prop_oneof![Just(0.0), 0.0..0.3],
        prop::option::of((1_u64..500, 1_538_u64..20_000)),
    )
        .prop_map(|(mbps, delay, limit, loss, shaper)| {
            let spec = LinkSpec::new(BitRate::from_mbps(mbps), Time::from_us(delay))
                .with_limit(Limit::Packets(limit))
                .with_loss(loss);
            match shaper {
                Some((mbps, burst)) => spec.with_shaper(
                    TokenBucketSpec { rate: BitRate::from_mbps(mbps), burst: Bytes::new(burst) },
                    Limit::Delay(Time::from_ms(5)),
                ),
                None => spec,
            }
        })
}

#[derive(Clone, Debug)]
struct Case {
    topology: Topology,
    managed: Vec<bool>,
    flows: Vec<(u64, usize, usize, u32)>,
    changes: Vec<(u64, usize, bool, u64)>,
    until: u64,
}

/// A random connected graph: each switch hangs on an earlier one, some extra cables, hosts anywhere.
fn cases() -> impl Strategy<Value = Case> {
    (1_usize..6, 2_usize..8, 0_usize..4).prop_flat_map(|(switches, hosts, extra)| {
        let cables = switches - 1 + hosts + extra;
        (
            prop::collection::vec((specs(), specs(), any::<(u8, u8)>()), cables),
            prop::collection::vec(prop::bool::weighted(0.2), 2 * cables),
            prop::collection::vec((0_u64..20_000, 0..hosts, 0..hosts, 40_u32..1_538), 1..200),
            prop::collection::vec((0_u64..20_000, 0..2 * cables, any::<bool>(), 0_u64..1_000), 0..12),
            prop_oneof![Just(u64::MAX), 0_u64..30_000],
        )
            .prop_map(move |(cables, managed, flows, changes, until)| {
                let mut topology = Topology::new();
                let vertices: Vec<_> = (0..switches).map(|i| topology.add_switch(format!("s{i}"))).collect();
                for (k, (forth, back, (x, y))) in cables.into_iter().enumerate() {
                    let (x, y) = (usize::from(x), usize::from(y));
                    let (a, b) = if k + 1 < switches {
                        (vertices[k + 1], vertices[x % (k + 1)])
                    } else if k + 1 < switches + hosts {
                        (topology.add_host(format!("h{k}")), vertices[x % switches])
                    } else {
                        (vertices[x % switches], vertices[y % switches])
                    };
                    topology.connect_both(a, b, forth, back);
                }
                Case { topology, managed, flows, changes, until }
            })
    })
}

fn run(case: &Case) -> (Arrivals, Ledger) {
    let mut driver = Driver::new(&case.topology, 3);
    for (link, managed) in case.managed.iter().enumerate() {
        if *managed {
            driver.network.manage(LinkId(link as u32), Box::new(DropTail::new(Limit::Packets(5))));
        }
    }
    for (at, from, to, bytes) in &case.flows {
        let (from, to) = (case.topology.hosts()[*from], case.topology.hosts()[*to]);
        driver.send(Flow { at: Time::from_us(*at), from, to, bytes: *bytes });
    }
    for (at, link, up, mbps) in &case.changes {
        let link = LinkId(*link as u32);
        let change =
            if *mbps > 0 && *up { Change::Rate(link, BitRate::from_mbps(*mbps)) } else { Change::Up(link, *up) };
        driver.change(Time::from_us(*at), change);
    }
    let until = if case.until == u64::MAX { Time::MAX } else { Time::from_us(case.until) };
    let ledger = driver.run(until);
    (driver.arrivals, ledger)
}

proptest! {
    #[test]
    fn every_packet_is_accounted_for_and_runs_repeat(case in cases()) {
        // `Driver::run` checks the ledger.
        let (arrivals, ledger) = run(&case);
        prop_assert_eq!(ledger.sent, case.flows.iter().filter(|(at, ..)| *at <= case.until).count() as u64);
        prop_assert_eq!(arrivals.len() as u64, ledger.delivered);
        prop_assert_eq!(ledger.in_flight == 0 || case.until < u64::MAX, true);
        prop_assert_eq!(run(&case), (arrivals, ledger));
    }
}
