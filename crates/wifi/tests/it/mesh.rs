//! Routers over the simulated MAC and air: chains, moving nodes, and what single hops cannot do.

use des::{Ecn, EventQueue, RandomStream};
use units::{BitRate, Time};
use wifi::mac::{MacConfig, Reason, StationId};
use wifi::medium::{Medium, StationSpec, Traffic};
use wifi::mesh::{Lost, Mesh, MeshLedger};
use wifi::mobility::{Area, Mobility, Position, RandomWaypoint, Start};
use wifi::phy::{AccessCategory, Settings, Standard};
use wifi::propagation::{Fading, PathLoss, Propagation, Radio, Shadowing};
use wifi::routing::{Aodv, AodvSettings, Olsr, OlsrSettings, Router};

#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    SingleHop,
    Aodv,
    Olsr,
}

struct Net {
    mesh: Mesh<u32>,
    events: EventQueue,
    now: Time,
    delivered: Vec<(u32, StationId, StationId)>,
    failures: Vec<(u32, Lost)>,
}

impl Net {
    /// Stations that hear each other up to 100 m.
    fn new(mobility: Vec<Mobility>, area: &Area, kind: Kind, seed: u64) -> Self {
        let phy = Settings::new(Standard::A);
        let mac = MacConfig::new(phy, phy.at_rate(BitRate::from_mbps(12)).unwrap());
        Self::with_mac(mobility, area, kind, seed, &mac)
    }
    fn with_mac(mobility: Vec<Mobility>, area: &Area, kind: Kind, seed: u64, mac: &MacConfig) -> Self {
        let air = Propagation::new(seed, 5.18e9, PathLoss::FreeSpace, Shadowing::None, Fading::None).unwrap();
        let usual = Radio::default();
        let threshold = air.threshold_for(100.0, &usual, &usual).unwrap();
        let radio = Radio { sensitivity: threshold, cca_signal: threshold, ..usual };
        let specs: Vec<_> = mobility
            .into_iter()
            .map(|mobility| StationSpec { radio, ..StationSpec::new(mobility, mac.clone()) })
            .collect();
        let medium = Medium::new(&specs, area, air, seed).unwrap();
        let mut mesh = Mesh::new(medium, |node| match kind {
            Kind::SingleHop => Router::SingleHop,
            Kind::Aodv => Router::Aodv(Box::new(Aodv::new(seed, node, AodvSettings::default()))),
            Kind::Olsr => Router::Olsr(Box::new(Olsr::new(seed, node, OlsrSettings::default()))),
        });
        let mut events = EventQueue::new();
        mesh.start(Time::ZERO, &mut events);
        Self { mesh, events, now: Time::ZERO, delivered: Vec::new(), failures: Vec::new() }
    }
    /// Stations 80 m apart on a line.
    fn chain(stations: u32, kind: Kind) -> Self {
        let area = Area::new(1000.0, 10.0).unwrap();
        let place = |station| Mobility::fixed(Position::ground(80.0 * f64::from(station), 5.0), &area).unwrap();
        Self::new((0..stations).map(place).collect(), &area, kind, 3)
    }
    fn send(&mut self, packet: u32, from: u32, to: u32) {
        let traffic = Traffic { bytes: 1000, category: AccessCategory::BestEffort, flow: 0, ecn: Ecn::default() };
        self.mesh.send(self.now, packet, (StationId(from), StationId(to)), traffic, &mut self.events);
        self.collect();
    }
    fn run(&mut self, until: Time) {
        while self.events.next_time().is_some_and(|next| next <= until)
            && let Some(event) = self.events.pop()
        {
            self.mesh.on_event(&event, &mut self.events);
            self.collect();
        }
        self.now = until;
    }
    fn collect(&mut self) {
        self.delivered
            .extend(self.mesh.take_delivered().map(|delivered| (delivered.packet, delivered.from, delivered.at)));
        self.failures.extend(self.mesh.take_failures().map(|failure| (failure.packet, failure.why)));
    }
    /// The ledgers, which balance.
    fn ledger(&self) -> MeshLedger {
        let ledger = self.mesh.ledger();
        ledger.check().unwrap();
        self.mesh.medium().ledger().check().unwrap();
        assert_eq!((ledger.delivered, ledger.dropped), (self.delivered.len() as u64, self.failures.len() as u64));
        ledger
    }
}

#[test]
fn a_chain_delivers_over_as_many_hops_as_it_takes() {
    for kind in [Kind::Aodv, Kind::Olsr] {
        let mut net = Net::chain(6, kind);
        // OLSR has to hear of everyone first.
        net.run(Time::from_secs(30));
        for packet in 0..100 {
            let (from, to) = if packet % 2 == 0 { (0, 5) } else { (4, 1) };
            net.send(packet, from, to);
            let until = net.now + Time::from_ms(50);
            net.run(until);
        }
        net.run(Time::from_secs(60));
        let ledger = net.ledger();
        assert_eq!(ledger.held, 0);
        assert_eq!(net.delivered.len(), 100, "{kind:?}: {:?}", net.failures);
        for (packet, from, at) in &net.delivered {
            let expected = if packet % 2 == 0 { (0, 5) } else { (4, 1) };
            assert_eq!((from.0, at.0), expected);
        }
        assert_eq!(ledger.hops, 50 * 5 + 50 * 3, "{kind:?}");
        assert!(ledger.control > 0 && ledger.control_bytes >= 48 * ledger.control);
    }
}

/// Every packet departs once where it began, sent or given up for want of a way, and once more at each station that
/// passes it on.
#[test]
fn departures_are_told_of_own_packets_and_of_others() {
    for kind in [Kind::SingleHop, Kind::Aodv, Kind::Olsr] {
        let mut net = Net::chain(4, kind);
        net.mesh.watch_departures();
        net.run(Time::from_secs(30));
        let (mut own, mut forwarded) = (Vec::new(), 0);
        for packet in 0..50 {
            net.send(packet, 0, if packet % 2 == 0 { 1 } else { 3 });
            assert!(net.mesh.transmit_queue(StationId(0)) > 0 || kind != Kind::Aodv || packet % 2 == 0);
            let until = net.now + Time::from_ms(50);
            net.run(until);
        }
        net.run(Time::from_secs(90));
        for departed in net.mesh.take_departed() {
            assert_ne!(departed.at.0, 3, "the last one receives only");
            if departed.forwarded {
                forwarded += 1;
            } else {
                assert_eq!(departed.at.0, 0);
                own.push(departed.packet);
            }
        }
        own.sort_unstable();
        assert_eq!(own, (0..50).collect::<Vec<_>>(), "{kind:?}");
        assert_eq!(forwarded, if kind == Kind::SingleHop { 0 } else { 25 * 2 }, "{kind:?}");
        assert!(
            (0..4).all(|id| net.mesh.forwarding(StationId(id)) == 0 && net.mesh.transmit_queue(StationId(id)) == 0)
        );
    }
}

#[test]
fn a_single_hop_reaches_neighbours_and_no_farther() {
    let mut net = Net::chain(3, Kind::SingleHop);
    net.send(0, 0, 1);
    net.send(1, 0, 2);
    net.run(Time::from_secs(1));
    assert_eq!(net.delivered, [(0, StationId(0), StationId(1))]);
    assert_eq!(net.failures.len(), 1);
    assert_eq!(net.failures[0].0, 1);
    let ledger = net.ledger();
    assert_eq!((ledger.control, ledger.held), (0, 0));
    assert!(matches!(net.failures[0].1, Lost::Router(_) | Lost::Mac(Reason::RetryLimit)));
}

/// A relay that is switched off takes with it what it had; a way around it is found, where there is one, and over it
/// when it is back. OLSR knows the shorter way. AODV takes the one on which its request came first, which is at times
/// the longer: what is said of a relay in use is asked of the seeds where it is.
#[test]
fn a_relay_that_is_off_is_gone_around() {
    for (kind, short_ways) in [(Kind::Aodv, 3), (Kind::Olsr, 10)] {
        let (mut before, mut after, mut held) = (0, 0, 0);
        for seed in 1..=10 {
            let area = Area::new(1000.0, 1000.0).unwrap();
            let place = |x: f64, y: f64| Mobility::fixed(Position::ground(x, y), &area).unwrap();
            // From 0 to 2 over 1; else over 3 and 4.
            let places =
                vec![place(0.0, 0.0), place(80.0, 0.0), place(160.0, 0.0), place(20.0, 90.0), place(110.0, 80.0)];
            let mut net = Net::new(places, &area, kind, seed);
            net.run(Time::from_secs(30));
            let phase = |net: &mut Net, first: u32| {
                let before = net.ledger().hops;
                for packet in first..first + 100 {
                    net.send(packet, 0, 2);
                    let until = net.now + Time::from_ms(100);
                    net.run(until);
                }
                let arrived = net.delivered.iter().filter(|(packet, ..)| (first..first + 100).contains(packet)).count();
                (arrived, net.ledger().hops - before)
            };
            let (arrived, hops) = phase(&mut net, 0);
            if hops > 200 {
                continue;
            }
            before += 1;
            assert_eq!((arrived, hops), (100, 200), "{kind:?}, seed {seed}");
            // With packets in its queue, on their way to the destination.
            for packet in 900..920 {
                net.send(packet, 0, 2);
            }
            let now = net.now + Time::from_ms(5);
            net.run(now);
            net.mesh.set_power(now, StationId(1), false, &mut net.events);
            net.collect();
            held += net.failures.iter().filter(|(_, why)| *why == Lost::Mac(Reason::Off)).count();
            let (arrived, hops) = phase(&mut net, 1_000);
            // OLSR sends into the void until three Hellos are missing, or the MAC says so.
            assert!(
                arrived >= 80 && hops >= 3 * arrived as u64,
                "{kind:?}, {seed}: {arrived} arrived over {hops} hops"
            );
            net.mesh.set_power(net.now, StationId(1), true, &mut net.events);
            net.collect();
            let until = net.now + Time::from_secs(30);
            net.run(until);
            let (arrived, hops) = phase(&mut net, 2_000);
            assert_eq!(arrived, 100, "{kind:?}, seed {seed}: back");
            after += u32::from(hops == 200);
            let until = net.now + Time::from_secs(5);
            net.run(until);
            assert_eq!(net.ledger().held, 0);
        }
        assert!(before >= short_ways && 2 * after > before, "{kind:?}: {before} of 10 seeds, then {after}, go over it");
        assert!(held > 0, "{kind:?}: no relay had packets when it went off");
        assert!(kind == Kind::Aodv || after == before, "OLSR knows the shorter way, and took it {after} times");
    }
}

/// Whether there is a way of hops up to 100 m.
fn is_connected(places: &[Position], from: u32, to: u32) -> bool {
    let mut reached = vec![from as usize];
    let mut next = 0;
    while let Some(&here) = reached.get(next) {
        next += 1;
        let near = (0..places.len()).filter(|other| places[here].distance(places[*other]) <= 100.0);
        let new: Vec<usize> = near.filter(|other| !reached.contains(other)).collect();
        reached.extend(new);
    }
    reached.contains(&(to as usize))
}

/// Twelve nodes that walk about in a square of 300 m and send ten packets a second: the share delivered, and the share
/// that had a way when it was sent.
fn walkers(kind: Kind, seed: u64) -> (f64, f64, MeshLedger) {
    let area = Area::new(300.0, 300.0).unwrap();
    let spec = RandomWaypoint { speed_mps: (1.0, 5.0), pause: Time::from_secs(2), start: Start::Stationary };
    let mobility = (0..12).map(|node| Mobility::random_waypoint(seed, node, area, &spec).unwrap());
    let mut net = Net::new(mobility.collect(), &area, kind, seed);
    net.run(Time::from_secs(20));
    let mut stream = RandomStream::new(seed, "test/traffic", 0);
    let mut connected = 0;
    // A few pairs that talk for a while, as connections do.
    for packet in 0..1200_u32 {
        let pair = u64::from(packet / 200 * 2 + packet % 2);
        let from = (pair * 5 % 12) as u32;
        let to = ((pair * 5 + 1 + pair % 11) % 12) as u32;
        let now = net.now;
        let places: Vec<Position> = (0..12).map(|node| net.mesh.medium_mut().position(now, StationId(node))).collect();
        connected += u32::from(is_connected(&places, from, to));
        net.send(packet, from, to);
        let until = now + Time::from_secs_f64(stream.exponential(0.1));
        net.run(until);
    }
    let end = net.now + Time::from_secs(30);
    net.run(end);
    let ledger = net.ledger();
    assert_eq!(ledger.held, 0, "{kind:?}");
    (net.delivered.len() as f64 / 1200.0, f64::from(connected) / 1200.0, ledger)
}

#[test]
fn routing_finds_most_ways_that_moving_nodes_have() {
    let share = |kind| {
        let runs: Vec<_> = (1..=6).map(|seed| walkers(kind, seed)).collect();
        let mean = |of: fn(&(f64, f64, MeshLedger)) -> f64| runs.iter().map(of).sum::<f64>() / 6.0;
        println!("{kind:?}: delivered {:.3}, had a way {:.3}", mean(|run| run.0), mean(|run| run.1));
        mean(|run| run.0) / mean(|run| run.1)
    };
    let (single, aodv, olsr) = (share(Kind::SingleHop), share(Kind::Aodv), share(Kind::Olsr));
    // AODV holds packets until a way appears; OLSR knows of a broken link after it has failed, of a new one after
    // HELLOs and TC.
    assert!(single < 0.6, "{single}");
    assert!(aodv > 0.95, "{aodv}");
    assert!(olsr > 0.8, "{olsr}");
}

#[test]
fn the_same_seed_gives_the_same_run() {
    assert_eq!(walkers(Kind::Aodv, 9), walkers(Kind::Aodv, 9));
    assert_eq!(walkers(Kind::Olsr, 9), walkers(Kind::Olsr, 9));
}

/// Stations of a mesh with block ACK are switched off and on while they talk: every packet is accounted for.
#[test]
fn a_mesh_whose_stations_go_off_and_on_accounts_for_every_packet() {
    for kind in [Kind::SingleHop, Kind::Aodv, Kind::Olsr] {
        let mut delivered = 0;
        for seed in 0..8 {
            let area = Area::new(150.0, 150.0).unwrap();
            let mut random = RandomStream::new(seed, "test", 0);
            let place =
                |random: &mut RandomStream| Position::ground(150.0 * random.uniform(), 150.0 * random.uniform());
            let places = (0..6).map(|_| Mobility::fixed(place(&mut random), &area).unwrap()).collect();
            let phy = Settings::new(Standard::N5);
            let mut net = Net::with_mac(places, &area, kind, seed, &MacConfig::new(phy, phy.mcs(2).unwrap()));
            net.run(Time::from_secs(15));
            let mut on = [true; 6];
            for packet in 0..6_000 {
                let (from, to) = (random.below(6) as u32, random.below(6) as u32);
                if from != to {
                    net.send(packet, from, to);
                }
                if random.chance(0.01) {
                    let station = random.below(6) as usize;
                    on[station] = !on[station];
                    net.mesh.set_power(net.now, StationId(station as u32), on[station], &mut net.events);
                    net.collect();
                    net.ledger();
                }
                let until = net.now + Time::from_us(300 + random.below(1_500));
                net.run(until);
            }
            let until = net.now + Time::from_secs(30);
            net.run(until);
            assert_eq!(net.ledger().held, 0, "{kind:?}, seed {seed}");
            delivered += net.delivered.len();
        }
        // Both ends are on a quarter of the time; a HELLO of OLSR comes every two seconds, which most stations do not
        // stay on for.
        assert!(delivered > 1_000, "{kind:?}: {delivered} delivered");
    }
}
