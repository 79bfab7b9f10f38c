//! Links against closed forms: departure times, drop-tail, rate changes, loss, the M/D/1 queue.

use crate::harness::{Change, Driver, Flow};
use des::RandomStream;
use net::{Limit, LinkId, LinkSpec, Topology, VertexId};
use units::{BitRate, Bytes, Time};

const MBIT: BitRate = BitRate::from_mbps(1);

/// Two hosts and one cable; link 0 leads from the first to the second.
fn wire(spec: &LinkSpec) -> (Topology, VertexId, VertexId) {
    let mut topology = Topology::new();
    let (a, b) = (topology.add_host("a"), topology.add_host("b"));
    topology.connect(a, b, spec);
    (topology, a, b)
}

fn burst(driver: &mut Driver, from: VertexId, to: VertexId, at: Time, bytes: &[u32]) {
    for bytes in bytes {
        driver.send(Flow { at, from, to, bytes: *bytes });
    }
}

#[test]
fn packets_leave_back_to_back_and_arrive_one_delay_later() {
    let (topology, a, b) = wire(&LinkSpec::new(MBIT, Time::from_ms(5)));
    let mut driver = Driver::new(&topology, 1);
    burst(&mut driver, a, b, Time::from_ms(1), &[125, 250, 125]);
    driver.run(Time::MAX);
    // 125 B take 1 ms.
    assert_eq!(driver.arrivals, [(0, Time::from_ms(7)), (1, Time::from_ms(9)), (2, Time::from_ms(10))]);
    let link = driver.network.link(LinkId(0));
    assert_eq!(link.busy(Time::from_ms(10)), Time::from_ms(4));
    assert_eq!(link.busy(Time::from_ms(3)), Time::from_ms(4), "asked of a time past, the link knows only its end");
    // The second waits 1 ms, the third 3 ms.
    assert_eq!(link.queue_integral(Time::from_ms(10)), 4_000_000_000);
}

#[test]
fn a_switch_stores_and_forwards() {
    let topology = Topology::star(2, &LinkSpec::new(MBIT, Time::from_ms(5)));
    let mut driver = Driver::new(&topology, 1);
    burst(&mut driver, topology.hosts()[0], topology.hosts()[1], Time::ZERO, &[125, 125]);
    let ledger = driver.run(Time::MAX);
    assert_eq!(driver.arrivals, [(0, Time::from_ms(12)), (1, Time::from_ms(13))]);
    assert_eq!((ledger.sent, ledger.delivered, ledger.in_flight), (2, 2, 0));
    assert_eq!(driver.network.hops(), 4);
}

#[test]
fn drop_tail_counts_without_the_packet_in_transmission() {
    for (limit, bytes) in
        [(Limit::Packets(3), 1_500), (Limit::Bytes(Bytes::new(4_500)), 1_500), (Limit::Delay(Time::from_ms(36)), 1_500)]
    {
        let (topology, a, b) = wire(&LinkSpec::new(MBIT, Time::ZERO).with_limit(limit));
        let mut driver = Driver::new(&topology, 1);
        burst(&mut driver, a, b, Time::ZERO, &[bytes; 10]);
        let ledger = driver.run(Time::MAX);
        // One in transmission, three waiting (12, 24 and 36 ms).
        assert_eq!((ledger.delivered, ledger.dropped), (4, 6), "{limit:?}");
        assert_eq!(driver.network.link(LinkId(0)).counters().longest_queue, 3);
    }
}

#[test]
fn a_place_is_free_again_when_a_transmission_begins() {
    let (topology, a, b) = wire(&LinkSpec::new(MBIT, Time::ZERO).with_limit(Limit::Packets(1)));
    let mut driver = Driver::new(&topology, 1);
    burst(&mut driver, a, b, Time::ZERO, &[125, 125]);
    // A picosecond before the second begins: full. At that instant: room for one.
    burst(&mut driver, a, b, Time::from_ps(999_999_999), &[125]);
    burst(&mut driver, a, b, Time::from_ms(1), &[125, 125]);
    let ledger = driver.run(Time::MAX);
    assert_eq!(driver.arrivals.iter().map(|(packet, _)| *packet).collect::<Vec<_>>(), [0, 1, 3]);
    assert_eq!(ledger.dropped, 2);
}

#[test]
fn a_rate_change_retimes_what_is_not_yet_sent() {
    let (topology, a, b) = wire(&LinkSpec::new(MBIT, Time::from_ms(10)));
    let mut driver = Driver::new(&topology, 1);
    burst(&mut driver, a, b, Time::ZERO, &[125, 125, 125]);
    // At 1.5 ms the first is on the wire, half of the second is sent; ten times slower, its rest takes 5 ms, the third
    // 10 ms.
    driver.change(Time::from_us(1_500), Change::Rate(LinkId(0), BitRate::from_bps(100_000)));
    driver.run(Time::MAX);
    assert_eq!(driver.arrivals, [(0, Time::from_ms(11)), (1, Time::from_us(16_500)), (2, Time::from_us(26_500))]);
    // Waits: 0, 1 ms, 6.5 ms.
    let link = driver.network.link(LinkId(0));
    assert_eq!(link.queue_integral(driver.now), 7_500_000_000);
    assert_eq!(link.busy(driver.now), Time::from_us(16_500));
}

#[test]
fn a_faster_rate_pulls_arrivals_forward() {
    let (topology, a, b) = wire(&LinkSpec::new(MBIT, Time::from_ms(10)));
    let mut driver = Driver::new(&topology, 1);
    burst(&mut driver, a, b, Time::ZERO, &[1_250, 1_250]);
    driver.change(Time::from_ms(5), Change::Rate(LinkId(0), BitRate::from_mbps(10)));
    // Sent after the change, behind the two.
    burst(&mut driver, a, b, Time::from_ms(6), &[1_250]);
    driver.run(Time::MAX);
    assert_eq!(driver.arrivals, [(0, Time::from_us(15_500)), (1, Time::from_us(16_500)), (2, Time::from_us(17_500))]);
}

#[test]
fn a_link_that_goes_down_loses_what_is_on_it() {
    let (topology, a, b) = wire(&LinkSpec::new(MBIT, Time::from_ms(10)));
    let mut driver = Driver::new(&topology, 1);
    burst(&mut driver, a, b, Time::ZERO, &[125; 5]);
    driver.change(Time::from_us(11_500), Change::Up(LinkId(0), false));
    burst(&mut driver, a, b, Time::from_ms(20), &[125; 2]);
    driver.change(Time::from_ms(30), Change::Up(LinkId(0), true));
    burst(&mut driver, a, b, Time::from_ms(30), &[125]);
    let ledger = driver.run(Time::MAX);
    // The first arrived at 11 ms, four were lost; two found no route; the last came after the repair.
    assert_eq!(driver.arrivals, [(0, Time::from_ms(11)), (7, Time::from_ms(41))]);
    assert_eq!((ledger.sent, ledger.delivered, ledger.lost_down, ledger.no_route, ledger.in_flight), (8, 2, 4, 2, 0));
}

#[test]
fn random_loss_has_its_rate_and_its_own_stream() {
    let count = |seed, loss| {
        let (topology, a, b) =
            wire(&LinkSpec::new(BitRate::from_gbps(1), Time::ZERO).with_loss(loss).with_limit(Limit::Unlimited));
        let mut driver = Driver::new(&topology, seed);
        for i in 0..50_000 {
            driver.send(Flow { at: Time::from_us(i), from: a, to: b, bytes: 100 });
        }
        driver.run(Time::MAX).lost
    };
    // Binomial(50 000, 0.02): mean 1000, standard deviation 31.
    let lost = count(1, 0.02);
    assert!((900..1_100).contains(&lost), "{lost}");
    assert_eq!(count(1, 0.02), lost);
    assert_ne!(count(2, 0.02), lost);
    assert_eq!(count(1, 1.0), 50_000);
}

/// Pollaczek and Khinchine: with Poisson arrivals and constant service the mean number waiting is rho^2 / (2 (1 -
/// rho)).
#[test]
fn poisson_arrivals_queue_as_m_d_1() {
    let service = 1e-4;
    for rho in [0.3, 0.5, 0.8] {
        let rate = BitRate::from_mbps(100);
        let (topology, a, b) = wire(&LinkSpec::new(rate, Time::ZERO).with_limit(Limit::Unlimited));
        let mut driver = Driver::new(&topology, 1);
        let mut random = RandomStream::new(7, "arrivals", 0);
        let mut at = 0.0;
        for _ in 0..400_000 {
            at += random.exponential(service / rho);
            driver.send(Flow { at: Time::from_secs_f64(at), from: a, to: b, bytes: 1_250 });
        }
        let end = Time::from_secs_f64(at);
        driver.run(end);
        let mean = driver.network.link(LinkId(0)).queue_integral(end) as f64 / end.as_ps() as f64;
        let expected = rho * rho / (2.0 * (1.0 - rho));
        assert!((mean / expected - 1.0).abs() < 0.03, "rho {rho}: {mean} waiting, {expected} expected");
        let utilisation = driver.network.link(LinkId(0)).busy(end).as_secs_f64() / at;
        assert!((utilisation / rho - 1.0).abs() < 0.01, "rho {rho}: {utilisation}");
    }
}

#[test]
fn impossible_links_are_refused() {
    let good = LinkSpec::new(MBIT, Time::ZERO);
    assert!(good.check().is_ok());
    assert!(LinkSpec::new(BitRate::default(), Time::ZERO).check().is_err());
    assert!(good.clone().with_loss(1.5).check().is_err());
    assert!(good.clone().with_loss(f64::NAN).check().is_err());
    assert!(good.clone().with_limit(Limit::Packets(0)).check().is_err());
    assert!(good.with_limit(Limit::Bytes(Bytes::new(100))).check().is_err());
}
