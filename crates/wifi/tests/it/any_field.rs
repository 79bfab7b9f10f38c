//! Any stations, any roles, any traffic: every packet is accounted for, none arrives twice or where it should not.

use des::{Ecn, EventQueue};
use proptest::prelude::*;
use std::collections::BTreeMap;
use units::{BitRate, Time};
use wifi::mac::{
    AccessPointSpec, Aggregation, Budget, ClientSpec, DriverSpec, DropPolicy, FairSpec, MacConfig, Scheduling,
    StationId,
};
use wifi::medium::{Medium, Role, StationSpec, Traffic, WireSpec};
use wifi::mobility::{Area, Mobility, RandomWaypoint, Start};
use wifi::phy::{AccessCategory, Settings, Standard};
use wifi::propagation::{Fading, PathLoss, Propagation, Radio, Shadowing};
use wifi::rate::RateSpec;

#[derive(Clone, Debug)]
struct Field {
    seed: u64,
    access_points: usize,
    stations: usize,
    standard: Standard,
    rate: RateSpec,
    policy: DropPolicy,
    aggregation: Aggregation,
    rts: u32,
    limit: u32,
    driver: Option<DriverSpec>,
    listen: Option<u32>,
    metres: f64,
    shadowing: f64,
    /// From, to (beyond the last: everyone), category, interval in us.
    flows: Vec<(usize, usize, usize, u64)>,
    /// Station, when it is switched off in us, for how long.
    outages: Vec<(usize, u64, u64)>,
}

fn field() -> impl Strategy<Value = Field> {
    let kinds = (
        any::<u64>(),
        0..3_usize,
        2..7_usize,
        prop::sample::select(vec![Standard::A, Standard::B, Standard::G, Standard::N5]),
        prop::sample::select(vec![RateSpec::Minstrel, RateSpec::Ideal, RateSpec::Arf]),
        prop::sample::select(vec![DropPolicy::Tail, DropPolicy::Head, DropPolicy::Fair(FairSpec::default())]),
    );
    let settings = (
        prop::sample::select(vec![1_u32, 8, 64]),
        prop::sample::select(vec![0_u32, 3_839]),
        prop::sample::select(vec![0_u32, 1_000, u32::MAX]),
        1..60_u32,
        prop::option::of(prop::sample::select(vec![Scheduling::ReceiveFirst, Scheduling::QueueLevel])),
        prop::option::of(1..4_u32),
        prop::sample::select(vec![20.0, 100.0, 400.0]),
        prop::sample::select(vec![0.0, 6.0]),
        prop::collection::vec((0..9_usize, 0..10_usize, 0..4_usize, 200..20_000_u64), 1..8),
    );
    let outages = prop::collection::vec((0..9_usize, 0..2_000_000_u64, 1..1_500_000_u64), 0..4);
    (kinds, settings, outages).prop_map(|(kinds, settings, outages)| {
        let (seed, access_points, stations, standard, rate, policy) = kinds;
        let (mpdus, amsdu, rts, limit, driver, listen, metres, shadowing, flows) = settings;
        let ht = standard.is_ht();
        let aggregation = if ht { Aggregation { mpdus, amsdu, ..Aggregation::AMPDU } } else { Aggregation::NONE };
        let policy = if driver.is_some() && matches!(policy, DropPolicy::Fair(_)) { DropPolicy::Tail } else { policy };
        let budget = Budget::Airtime(Time::from_ms(5));
        let driver = driver.map(|scheduling| DriverSpec { scheduling, budget, ..DriverSpec::default() });
        Field {
            seed,
            access_points,
            stations,
            standard,
            rate,
            policy,
            aggregation,
            rts,
            limit,
            driver,
            listen,
            metres,
            shadowing,
            flows,
            outages,
        }
    })
}

impl Field {
    fn medium(&self) -> Medium<u32> {
        let area = Area::new(self.metres, self.metres).unwrap();
        let phy = Settings::new(self.standard);
        let mac = MacConfig {
            rate: self.rate,
            drop_policy: self.policy,
            aggregation: self.aggregation,
            rts_threshold: self.rts,
            queue_limit: self.limit,
            lifetime: Time::from_ms(500),
            ..MacConfig::new(phy, phy.slowest())
        };
        let total = self.access_points + self.stations;
        let specs: Vec<StationSpec> = (0..total)
            .map(|station| {
                let walk = RandomWaypoint { speed_mps: (1.0, 20.0), pause: Time::from_secs(1), start: Start::Uniform };
                let mobility = Mobility::random_waypoint(self.seed, station as u32, area, &walk).unwrap();
                let role = match self.access_points {
                    0 => Role::AdHoc,
                    points if station < points => Role::AccessPoint(AccessPointSpec::default()),
                    _ => Role::Client(ClientSpec { listen_interval: self.listen, ..ClientSpec::default() }),
                };
                let driver = self.driver.filter(|_| !matches!(role, Role::AccessPoint(_)));
                StationSpec { radio: Radio::default(), role, driver, ..StationSpec::new(mobility, mac.clone()) }
            })
            .collect();
        let sigma_db = self.shadowing;
        let shadowing = if sigma_db > 0.0 { Shadowing::PerFrame { sigma_db } } else { Shadowing::None };
        let air = Propagation::new(self.seed, 5.18e9, PathLoss::FreeSpace, shadowing, Fading::None).unwrap();
        let wire = WireSpec { rate: BitRate::from_mbps(100), delay: Time::from_us(100) };
        Medium::new(&specs, &area, air, self.seed).unwrap().with_wire(wire).unwrap()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn packets_are_accounted_for(field in field()) {
        let total = field.access_points + field.stations;
        let (mut medium, mut events) = (field.medium(), EventQueue::new());
        medium.start(Time::ZERO, &mut events);
        let mut next: Vec<Time> = field.flows.iter().map(|(.., interval)| Time::from_us(*interval)).collect();
        let (mut sent, mut ended) = (Vec::new(), BTreeMap::new());
        let (busy, end) = (Time::from_secs(2), Time::from_secs(12));
        let mut switches: Vec<(Time, StationId, bool)> = Vec::new();
        for (station, at, length) in &field.outages {
            let station = StationId((station % total) as u32);
            switches.extend([(Time::from_us(*at), station, false), (Time::from_us(at + length), station, true)]);
        }
        switches.sort_by_key(|(at, ..)| std::cmp::Reverse(*at));
        loop {
            let due = next.iter().copied().min().unwrap_or(Time::MAX);
            let at = events.next_time().unwrap_or(Time::MAX);
            if due.min(at) > end {
                break;
            }
            if let Some((when, station, on)) = switches.pop_if(|(when, ..)| *when <= due.min(at)) {
                medium.set_power(when, station, on, &mut events);
                prop_assert!(medium.ledger().check().is_ok(), "{:?}", medium.ledger());
            } else if due <= at {
                let flow = next.iter().position(|next| *next == due).unwrap();
                let (from, to, category, interval) = field.flows[flow];
                next[flow] = due + Time::from_us(interval);
                if next[flow] > busy {
                    next[flow] = Time::MAX;
                }
                let from = from % total;
                let to = if to >= total || to == from { StationId::BROADCAST } else { StationId(to as u32) };
                let traffic = Traffic { bytes: 40 + 1_460 * (sent.len() as u32 % 2), category: AccessCategory::ALL[category], flow: flow as u32, ecn: Ecn::default() };
                medium.send(due, sent.len() as u32, (StationId(from as u32), to), traffic, &mut events);
                sent.push((StationId(from as u32), to));
            } else if let Some(event) = events.pop() {
                medium.on_event(&event, &mut events);
            }
            for delivered in medium.take_delivered() {
                let (from, to) = sent[delivered.packet as usize];
                prop_assert_eq!(delivered.from, from);
                if to.is_unicast() {
                    prop_assert_eq!(delivered.at, to);
                    let before = ended.insert(delivered.packet, "delivered");
                    prop_assert!(before != Some("delivered"), "packet {} twice", delivered.packet);
                }
            }
            for dropped in medium.take_dropped() {
                prop_assert_eq!(dropped.to, sent[dropped.packet as usize].1);
                if dropped.to.is_unicast() {
                    ended.entry(dropped.packet).or_insert("dropped");
                }
            }
        }
        let ledger = medium.ledger();
        prop_assert!(ledger.check().is_ok(), "{:?}", ledger);
        prop_assert_eq!(ledger.accepted, sent.len() as u64);
        // Ten seconds later nothing is on its way any more but what waits for a client that has dozed off or strayed,
        // and beacons.
        let unicast = sent.iter().filter(|(_, to)| to.is_unicast()).count();
        prop_assert!(unicast - ended.len() <= ledger.held as usize, "{:?}, {} of {} ended", ledger, ended.len(), unicast);
        if field.access_points == 0 {
            prop_assert_eq!(ledger.held, 0);
            prop_assert_eq!(ledger.slab, 0);
        }
    }
}
