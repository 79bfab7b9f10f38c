//! Bonds on a network: which member a packet takes, in what order packets arrive, and what failures cost.

use crate::harness::{Change, Driver, Flow};
use net::bond::{Address, BondError, BondSpec, Distribution, EndSpec, HashPolicy, Headers, LacpRate};
use net::{LinkId, LinkSpec, Network, SpecError, Topology, VertexId};
use proptest::prelude::*;
use units::{BitRate, Time};

fn gigabit() -> LinkSpec {
    LinkSpec::new(BitRate::from_gbps(1), Time::from_us(5))
}

fn end(distribution: Distribution, lacp: Option<LacpRate>) -> EndSpec {
    EndSpec { distribution, lacp, overhead: Time::ZERO }
}

const BY_PORT: Distribution = Distribution::Hash(HashPolicy::Layer34);

/// Two hosts that a bond connects, and its members from the first to the second.
fn pair(members: usize, end: EndSpec) -> (Topology, [VertexId; 2], Vec<LinkId>) {
    let mut topology = Topology::new();
    let hosts = [topology.add_host("a"), topology.add_host("b")];
    let members: Vec<_> = (0..members).map(|_| topology.connect(hosts[0], hosts[1], &gigabit())).collect();
    topology.add_bond(BondSpec { name: "bond".to_owned(), members: members.clone(), ends: [end, end], agreed: true });
    (topology, hosts, members)
}

fn packets(driver: &Driver, links: &[LinkId]) -> Vec<u64> {
    links.iter().map(|link| driver.network.link(*link).counters().packets).collect()
}

#[test]
fn hashes_are_those_of_the_documented_formulas() {
    // 10.0.0.1 to 10.0.0.3, ports 32768 to 50010, hardware addresses that end in 1 and 3.
    let near = Headers {
        source: Address::of_host(0),
        destination: Address::of_host(2),
        source_port: 32_768,
        destination_port: 50_010,
    };
    assert_eq!(near.source, Address { mac: [2, 0, 0, 0, 0, 1], ip: 0x0a00_0001 });
    // 01 ^ 03 ^ 0800.
    assert_eq!(HashPolicy::Layer2.hash(&near), 0x0802);
    // 0802 ^ 2 = 0800; 0800 ^ 0; 0800 ^ 08.
    assert_eq!(HashPolicy::Layer23.hash(&near), 0x0808);
    // 8000c35a ^ 2 = 8000c358; ^ 8000 = 80004358; ^ 800043 = 8080431b; halved.
    assert_eq!(HashPolicy::Layer34.hash(&near), 0x4040_218d);

    // 10.1.2.3 to 172.16.254.1, ports 443 to 51234, hardware addresses that end in 2a and 7f.
    let far = Headers {
        source: Address { mac: [2, 0, 0, 9, 9, 0x2a], ip: 0x0a01_0203 },
        destination: Address { mac: [2, 0, 7, 0, 0, 0x7f], ip: 0xac10_fe01 },
        source_port: 443,
        destination_port: 51_234,
    };
    // 2a ^ 7f ^ 0800.
    assert_eq!(HashPolicy::Layer2.hash(&far), 0x0855);
    // ^ a611fc02 = a611f457; ^ a611 = a6115246; ^ a61152 = a6b74314.
    assert_eq!(HashPolicy::Layer23.hash(&far), 0xa6b7_4314);
    // 01bbc822 ^ a611fc02 = a7aa3420; ^ a7aa = a7aa938a; ^ a7aa93 = a70d3919; halved.
    assert_eq!(HashPolicy::Layer34.hash(&far), 0x5386_9c8c);
}

#[test]
fn each_flow_takes_the_member_that_its_hash_names() {
    for count in 1..=8 {
        for policy in [HashPolicy::Layer2, HashPolicy::Layer23, HashPolicy::Layer34] {
            let (topology, [a, b], members) = pair(count, end(Distribution::Hash(policy), None));
            let mut driver = Driver::new(&topology, 1);
            let mut expected = vec![0; count];
            // The harness numbers source ports from 0; all go to port 80.
            for port in 0..300_u16 {
                driver.send(Flow { at: Time::from_us(20 * u64::from(port)), from: a, to: b, bytes: 1_000 });
                let hash = policy.hash(&Headers {
                    source: Address::of_host(0),
                    destination: Address::of_host(1),
                    source_port: port,
                    destination_port: 80,
                });
                expected[hash as usize % count] += 1;
            }
            driver.run(Time::MAX);
            assert_eq!(packets(&driver, &members), expected, "{policy:?} over {count}");
            assert_eq!(driver.arrivals.len(), 300);
        }
    }
}

#[test]
fn round_robin_takes_members_in_turn_and_lets_short_packets_overtake_long_ones() {
    let (topology, [a, b], members) = pair(3, end(Distribution::RoundRobin, None));
    let mut driver = Driver::new(&topology, 1);
    // A long packet, then five short ones at the same instant.
    for bytes in [1_500, 100, 100, 100, 100, 100] {
        driver.send(Flow { at: Time::from_us(1), from: a, to: b, bytes });
    }
    driver.run(Time::MAX);
    assert_eq!(packets(&driver, &members), [2, 2, 2]);
    let order: Vec<usize> = driver.arrivals.iter().map(|(packet, _)| *packet).collect();
    // Members 1 and 2 take 0.8 us for a short packet; member 0 takes 12 us for the long one and then sends the fourth.
    assert_eq!(order, [1, 2, 4, 5, 0, 3]);
    assert_eq!(driver.arrivals[5].1, Time::from_us(1) + Time::from_ns(12_800) + Time::from_us(5));
}

#[test]
fn a_bonds_processor_takes_packets_one_after_the_other() {
    let overhead = Time::from_us(20);
    let (topology, [a, b], _) = pair(2, EndSpec { overhead, ..end(Distribution::RoundRobin, None) });
    let mut driver = Driver::new(&topology, 1);
    for _ in 0..1_500 {
        driver.send(Flow { at: Time::from_us(1), from: a, to: b, bytes: 1_000 });
    }
    let ledger = driver.run(Time::MAX);
    // 1,000 wait, the one at work among them; 8 us to transmit, 5 us on the wire.
    assert_eq!((ledger.delivered, ledger.dropped), (1_000, 500));
    for (i, (_, at)) in driver.arrivals.iter().enumerate() {
        assert_eq!(*at, Time::from_us(1) + overhead * (i as u64 + 1) + Time::from_us(13));
    }
    assert_eq!(driver.network.bond_counters(0, 0).drops, 500);
}

/// Sends from `a` to `b` every 100 us, each packet with a port of its own, until `until`.
fn stream(driver: &mut Driver, [from, to]: [VertexId; 2], until: Time) -> u64 {
    let step = Time::from_us(100);
    let count = until.as_ps() / step.as_ps();
    for i in 0..count {
        driver.send(Flow { at: step * i, from, to, bytes: 1_000 });
    }
    count
}

#[test]
fn lost_carrier_costs_only_what_the_member_holds() {
    for lacp in [None, Some(LacpRate::Fast), Some(LacpRate::Slow)] {
        let (topology, hosts, members) = pair(2, end(BY_PORT, lacp));
        let mut driver = Driver::new(&topology, 1);
        let sent = stream(&mut driver, hosts, Time::from_secs(4));
        // 4 us after packet 10,000 has begun its 8 us on whichever member: at most one packet is on it.
        driver.change(Time::from_secs(1) + Time::from_us(4), Change::Up(members[1], false));
        driver.change(Time::from_secs(2), Change::Up(members[1], true));
        let ledger = driver.run(Time::from_secs(10));
        assert!(ledger.lost_down <= 1, "{ledger:?}");
        assert_eq!((ledger.sent, ledger.delivered, ledger.dropped), (sent, sent - ledger.lost_down, 0));
        let changes = driver.network.member_changes();
        let lost: Vec<_> =
            changes.iter().filter(|change| !change.usable).map(|change| (change.at, change.end)).collect();
        let at = Time::from_secs(1) + Time::from_us(4);
        assert_eq!(lost, [(at, 0), (at, 1)]);
        let back = changes.iter().filter(|change| change.usable).map(|change| change.at).max().unwrap();
        // A static bond uses the link as soon as it is up; LACP's ports speak a second later.
        let latest = if lacp.is_some() { Time::from_ms(3_001) } else { Time::from_secs(2) };
        assert!(back >= Time::from_secs(2) && back <= latest, "{back:?}");
        assert!(packets(&driver, &members)[1] > 9_900);
    }
}

#[test]
fn a_silent_member_costs_its_flows_until_lacp_notices() {
    let silent_from = Time::from_ms(5_300);
    for (lacp, least, most) in [(Some(LacpRate::Fast), 2.0, 3.1), (Some(LacpRate::Slow), 60.0, 90.1), (None, 1e6, 1e6)]
    {
        let (topology, hosts, members) = pair(2, end(BY_PORT, lacp));
        let mut driver = Driver::new(&topology, 1);
        let until = Time::from_secs(if lacp == Some(LacpRate::Slow) { 110 } else { 20 });
        stream(&mut driver, hosts, until);
        driver.change(silent_from, Change::Silent(members[0], true));
        let ledger = driver.run(until);
        let noticed = driver.network.member_changes().iter().find(|change| change.end == 0 && !change.usable);
        let end = noticed.map_or(until, |change| change.at);
        // Packets go every 100 us, half of them to each member: what goes to the silent one until then is lost, nothing
        // else.
        let expected = (end - silent_from).as_secs_f64() * 10_000.0 / 2.0;
        assert!((ledger.lost_down as f64 - expected).abs() < 200.0, "{ledger:?}, {expected}");
        assert_eq!((ledger.dropped, ledger.lost, ledger.no_route), (0, 0, 0));
        match noticed {
            Some(change) => {
                let after = (change.at - silent_from).as_secs_f64();
                assert!(after > least && after < most, "{after}");
                assert_eq!(change.usable_now, 1);
            }
            None => assert_eq!(lacp, None),
        }
        // The other direction suffers nothing but the loss of the member.
        let counters = driver.network.bond_counters(0, 0);
        assert_eq!(counters.lacpdus_lost > 0, lacp.is_some());
    }
}

/// A host that crashes keeps its carrier and falls silent: its neighbour gives it up after its timeout, and without
/// LACP never. Back, it agrees anew.
#[test]
fn a_crashed_host_is_missed_by_its_lacp() {
    let (down, back) = (Time::from_secs(5), Time::from_secs(120));
    for (lacp, least, most) in [(Some(LacpRate::Fast), 2.0, 3.1), (Some(LacpRate::Slow), 60.0, 90.1), (None, 0.0, 0.0)]
    {
        let (topology, hosts, _) = pair(2, end(BY_PORT, lacp));
        let mut driver = Driver::new(&topology, 1);
        driver.change(down, Change::Halted(hosts[1], true));
        driver.change(back, Change::Halted(hosts[1], false));
        driver.run(down);
        let sent = driver.network.bond_counters(0, 1).lacpdus_sent;
        driver.run(back - Time::from_ps(1));
        assert_eq!(driver.network.bond_counters(0, 1).lacpdus_sent, sent, "{lacp:?}");
        let gone: Vec<_> = driver.network.member_changes().to_vec();
        if lacp.is_none() {
            assert!(gone.is_empty(), "{gone:?}");
            continue;
        }
        let of = |end| gone.iter().filter(move |change| change.end == end);
        assert!(gone.iter().all(|change| !change.usable) && of(0).count() == 2 && of(1).count() == 2, "{gone:?}");
        assert!(of(1).all(|change| change.at == down));
        for change in of(0) {
            let after = (change.at - down).as_secs_f64();
            assert!(after > least && after < most, "{lacp:?}: {after}");
        }
        // Every LACPDU of the neighbour is heard by nobody meanwhile.
        let counters = [0, 1].map(|end| driver.network.bond_counters(0, end));
        assert!(counters[0].lacpdus_lost > 0 && counters[1].lacpdus_lost == 0, "{counters:?}");
        // Two seconds of waiting, and up to one where three LACPDUs in a second are not enough.
        driver.run(back + Time::from_ms(3_100));
        for end in [0, 1] {
            assert_eq!(driver.network.usable_members(0, end).count(), 2, "{lacp:?}");
        }
    }
}

#[test]
fn a_bond_without_members_is_no_path_and_lacp_makes_it_one() {
    let rate = Some(LacpRate::Fast);
    let (mut topology, hosts, _) = pair(2, end(BY_PORT, rate));
    let mut bond = topology.bonds()[0].clone();
    bond.agreed = false;
    topology = {
        let mut fresh = Topology::new();
        let ends = [fresh.add_host("a"), fresh.add_host("b")];
        for _ in 0..2 {
            fresh.connect(ends[0], ends[1], &gigabit());
        }
        fresh.add_bond(bond);
        fresh
    };
    let mut driver = Driver::new(&topology, 1);
    let sent = stream(&mut driver, hosts, Time::from_secs(5));
    let ledger = driver.run(Time::from_secs(6));
    // LACP waits 2 s for all ports, and up to one more because it says no more than three things a second.
    let down = ledger.no_route as f64 / 10_000.0;
    assert!((2.0..3.01).contains(&down), "{down} s");
    assert_eq!(ledger.delivered + ledger.no_route, sent);
}

#[test]
fn bonds_that_cannot_be_are_refused() {
    let refused = |change: &dyn Fn(&mut Topology, &mut BondSpec)| {
        let (topology, ..) = pair(2, end(BY_PORT, Some(LacpRate::Fast)));
        let mut bond = topology.bonds()[0].clone();
        let mut fresh = Topology::new();
        let ends = [fresh.add_host("a"), fresh.add_host("b"), fresh.add_switch("c")];
        for _ in 0..2 {
            fresh.connect(ends[0], ends[1], &gigabit());
        }
        fresh.connect(ends[0], ends[2], &gigabit());
        change(&mut fresh, &mut bond);
        fresh.add_bond(bond);
        match Network::<usize>::new(&fresh, 1) {
            Err(SpecError::Bond(error)) => Some(error),
            _ => None,
        }
    };
    let name = || "bond".to_owned();
    assert_eq!(refused(&|_, _| {}), None);
    assert_eq!(refused(&|_, bond| bond.members.clear()), Some(BondError::Members(name(), 0)));
    assert_eq!(refused(&|_, bond| bond.members.push(LinkId(4))), Some(BondError::Ends(name())));
    assert_eq!(refused(&|_, bond| bond.members[1] = LinkId(3)), Some(BondError::Ends(name())));
    assert_eq!(refused(&|_, bond| bond.ends[1].lacp = None), Some(BondError::Lacp(name())));
    let slower =
        |topology: &mut Topology, _: &mut BondSpec| topology.spec_mut(LinkId(2)).rate = BitRate::from_mbps(100);
    assert_eq!(refused(&slower), Some(BondError::Rates(name())));
    let twice = |topology: &mut Topology, bond: &mut BondSpec| topology.add_bond(bond.clone());
    assert_eq!(refused(&twice), Some(BondError::Shared(name())));
}

fn ends() -> impl Strategy<Value = EndSpec> {
    let policy = prop::sample::select(vec![HashPolicy::Layer2, HashPolicy::Layer23, HashPolicy::Layer34]);
    let distribution = prop_oneof![policy.prop_map(Distribution::Hash), Just(Distribution::RoundRobin)];
    (distribution, prop_oneof![Just(0_u64), 1_u64..50]).prop_map(|(distribution, overhead)| EndSpec {
        distribution,
        lacp: None,
        overhead: Time::from_us(overhead),
    })
}

proptest! {
    /// Whatever happens to members, every packet is accounted for, every LACPDU is, and the same happens again.
    #[test]
    fn every_packet_over_bonds_is_accounted_for_and_runs_repeat(
        counts in prop::array::uniform3(1_usize..=8),
        specs in prop::array::uniform6(ends()),
        lacp in prop::array::uniform3(prop::option::of(any::<(bool, bool, bool)>())),
        loss in prop_oneof![Just(0.0), 0.0..0.3],
        sends in prop::collection::vec((0_u64..9_000_000, 0_usize..3, 0_usize..3, 40_u32..1_538), 1..300),
        changes in prop::collection::vec((0_u64..9_000_000, 0_usize..64, 0_usize..4, any::<bool>()), 0..20),
    ) {
        // Two hosts, a switch between them, a third host; every cable is a bond.
        let mut topology = Topology::new();
        let switch = topology.add_switch("s");
        let hosts: Vec<_> = (0..3).map(|i| topology.add_host(format!("h{i}"))).collect();
        for (i, count) in counts.into_iter().enumerate() {
            let spec = gigabit().with_loss(loss);
            let members = (0..count).map(|_| topology.connect(hosts[i], switch, &spec)).collect();
            let mut ends = [specs[2 * i], specs[2 * i + 1]];
            if let Some((first, second, _)) = lacp[i] {
                let rate = |fast| Some(if fast { LacpRate::Fast } else { LacpRate::Slow });
                (ends[0].lacp, ends[1].lacp) = (rate(first), rate(second));
            }
            let agreed = lacp[i].is_some_and(|(.., agreed)| agreed);
            topology.add_bond(BondSpec { name: format!("b{i}"), members, ends, agreed });
        }
        let links = 2 * topology.cables().len();
        let run = || {
            let mut driver = Driver::new(&topology, 9);
            for (at, from, to, bytes) in &sends {
                driver.send(Flow { at: Time::from_us(*at), from: hosts[*from], to: hosts[*to], bytes: *bytes });
            }
            for (at, which, what, on) in &changes {
                let link = LinkId((*which % links) as u32);
                driver.change(Time::from_us(*at), match what {
                    0 => Change::Up(link, *on),
                    1 => Change::Silent(link, *on),
                    2 => Change::Halted(hosts[which % hosts.len()], *on),
                    _ => Change::Rate(link, BitRate::from_mbps(if *on { 1_000 } else { 10 })),
                });
            }
            // `Driver::run` checks the packets' ledger.
            let ledger = driver.run(Time::from_secs(12));
            let sums = (0..3).flat_map(|bond| [0, 1].map(|end| driver.network.bond_counters(bond, end)));
            let sum = |count: fn(&net::bond::EndCounters) -> u64| sums.clone().map(|end| count(&end)).sum::<u64>();
            let lacpdus = (sum(|end| end.lacpdus_sent), sum(|end| end.lacpdus_received) + sum(|end| end.lacpdus_lost));
            (driver.arrivals, ledger, lacpdus, driver.network.lacpdus_in_flight(), driver.network.member_changes().to_vec())
        };
        let first = run();
        prop_assert_eq!(first.0.len() as u64, first.1.delivered);
        prop_assert_eq!(first.2.0, first.2.1 + first.3);
        prop_assert_eq!(run(), first);
    }
}

#[test]
fn a_route_names_the_member_that_its_packets_take() {
    let (topology, [from, to], members) = pair(3, end(BY_PORT, None));
    for from_port in 0..30 {
        let mut driver = Driver::new(&topology, 1);
        // The harness numbers ports by flows: earlier ones are sent too late to count.
        for port in 0..=from_port {
            let at = if port == from_port { Time::ZERO } else { Time::from_secs(10) };
            driver.send(Flow { at, from, to, bytes: 100 });
        }
        driver.run(Time::from_secs(1));
        let key = net::FlowKey { from, to, from_port, to_port: 80 };
        let route = driver.network.route(key).unwrap();
        let named: Vec<_> = driver.network.route_links(route).collect();
        let taken: Vec<_> =
            members.iter().copied().filter(|m| driver.network.link(*m).counters().packets > 0).collect();
        assert_eq!(named, taken);
    }
}
