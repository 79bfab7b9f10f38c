//! For how long a queue has each length: the times add up to the run and to the integral of the length, plain and
//! managed links agree, and an M/D/1 queue has its closed form. Watching changes nothing.

use crate::harness::{Driver, Flow, schedules};
use des::RandomStream;
use net::{DropTail, Limit, LinkId, LinkSpec, TokenBucketSpec, Topology};
use proptest::prelude::*;
use units::{BitRate, Bytes, Time};

proptest! {
    #[test]
    fn times_add_up_and_watching_changes_nothing(
        limit in prop_oneof![(1_u32..9).prop_map(Limit::Packets), Just(Limit::Unlimited)],
        schedule in schedules(),
        loss in prop_oneof![Just(0.0), Just(0.1)],
        shaped in any::<bool>(),
        watched_from in 0_u64..200,
        until in 200_u64..900,
    ) {
        let spec = LinkSpec::new(BitRate::from_gbps(1), Time::from_us(3)).with_limit(limit);
        let trunk = spec.clone().with_loss(loss);
        let bucket = TokenBucketSpec { rate: BitRate::from_mbps(500), burst: Bytes::new(1_600) };
        let trunk = if shaped { trunk.with_shaper(bucket, limit) } else { trunk };
        let topology = Topology::dumbbell(3, &spec, &trunk, &spec);
        let (begin, end) = (Time::from_us(watched_from), Time::from_us(until));
        let run = |managed: bool, watched: bool| {
            let mut driver = Driver::new(&topology, 5);
            let links = (0..2 * topology.cables().len() as u32).map(LinkId);
            if managed {
                links.clone().for_each(|link| driver.network.manage(link, Box::new(DropTail::new(limit))));
            }
            driver.schedule(&topology, &schedule);
            driver.run(begin);
            let before: Vec<u128> = links.clone().map(|link| driver.network.link(link).queue_integral(begin)).collect();
            if watched {
                links.clone().for_each(|link| driver.network.watch(begin, link));
            }
            let ledger = driver.run(end);
            let mut lengths = Vec::new();
            for link in links {
                let state = driver.network.link(link);
                let Some(occupancy) = state.occupancy(end) else { continue };
                assert_eq!(occupancy.iter().sum::<u64>(), (end - begin).as_ps());
                let integral: u128 =
                    occupancy.iter().enumerate().map(|(length, time)| length as u128 * u128::from(*time)).sum();
                assert_eq!(integral, state.queue_integral(end) - before[link.0 as usize]);
                lengths.push(occupancy);
            }
            (driver.arrivals, ledger, lengths)
        };
        let plain = run(false, true);
        let unwatched = run(false, false);
        prop_assert_eq!(unwatched.0, plain.0.clone());
        prop_assert_eq!(unwatched.1, plain.1);
        if !shaped {
            // A managed queue lets a packet wait for its tokens outside.
            let managed = run(true, true);
            prop_assert_eq!((managed.0, managed.2), (plain.0, plain.2));
        }
    }
}

/// With Poisson arrivals and constant service none waits while at most one is there: the shares are those of zero and
/// one customer, together (1 - rho) e^rho where e^rho stands beside rho, and of two, (1 - rho) (e^2rho - e^rho (1 +
/// rho)) (Gross and Harris, "Fundamentals of Queueing Theory", section 5.1.3).
#[test]
fn an_m_d_1_queue_has_its_lengths_for_their_times() {
    let service = 1e-4;
    for (rho, e) in [(0.3, 1.349_858_807_576_003_f64), (0.7, 2.013_752_707_470_477_f64)] {
        let spec = LinkSpec::new(BitRate::from_mbps(100), Time::ZERO).with_limit(Limit::Unlimited);
        let mut topology = Topology::new();
        let (a, b) = (topology.add_host("a"), topology.add_host("b"));
        topology.connect(a, b, &spec);
        let mut driver = Driver::new(&topology, 1);
        driver.network.watch(Time::ZERO, LinkId(0));
        let mut random = RandomStream::new(7, "arrivals", 0);
        let mut at = 0.0;
        for _ in 0..400_000 {
            at += random.exponential(service / rho);
            driver.send(Flow { at: Time::from_secs_f64(at), from: a, to: b, bytes: 1_250 });
        }
        let end = Time::from_secs_f64(at);
        driver.run(end);
        let occupancy = driver.network.link(LinkId(0)).occupancy(end).unwrap();
        let share = |length: usize| occupancy[length] as f64 / end.as_ps() as f64;
        let (none, one) = ((1.0 - rho) * e, (1.0 - rho) * (e * e - e * (1.0 + rho)));
        assert!((share(0) / none - 1.0).abs() < 0.01, "rho {rho}: {} {none}", share(0));
        assert!((share(1) / one - 1.0).abs() < 0.02, "rho {rho}: {} {one}", share(1));
    }
}
