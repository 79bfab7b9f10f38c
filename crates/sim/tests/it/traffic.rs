//! Plain traffic on random networks under loss and faults: books balance, runs repeat, what can complete does. And each
//! kind does what it says.

use net::{Limit, LinkId, LinkSpec, TokenBucketSpec, Topology};
use proptest::prelude::*;
use results::TrafficOutcome;
use sim::bench::{digest, reference_tcp};
use sim::world::{Change, World, WorldSpec};
use tcp::control::ControlKind;
use tcp::{Config, StartRule};
use traffic::{Exchange, FlowSpec, Pareto, Sizes, TrafficKind, TrafficSpec, netpipe_sizes};
use units::{BitRate, Bytes, Time};

fn spec(kind: TrafficKind, from: &[u32], to: &[u32]) -> TrafficSpec {
    TrafficSpec { name: "test".to_owned(), kind, from: from.to_vec(), to: to.to_vec(), ..TrafficSpec::default() }
}

fn on_star(nodes: usize, traffic: TrafficSpec) -> WorldSpec {
    let link = LinkSpec::new(BitRate::from_mbps(100), Time::from_us(50));
    WorldSpec { topology: Topology::star(nodes, &link), traffic: vec![traffic], seed: 1, ..WorldSpec::default() }
}

fn run(spec: &WorldSpec, until: Time) -> (bool, TrafficOutcome, World) {
    let mut world = World::new(spec).unwrap();
    let finished = world.run(until);
    world.packets().unwrap().ledger().unwrap();
    let outcome = world.traffic_outcomes().remove(0);
    (finished, outcome, world)
}

const MB: Bytes = Bytes::from_mb(1);

#[test]
fn all_to_all_is_every_ordered_pair_once() {
    let (finished, outcome, world) = run(
        &on_star(5, spec(TrafficKind::AllToAll { bytes: MB }, &[0, 1, 2, 3, 4], &[0, 1, 2, 3, 4])),
        Time::from_secs(60),
    );
    assert!(finished);
    assert_eq!((outcome.begun, outcome.completed, outcome.delivered), (20, 20, Bytes::from_mb(20)));
    let mut pairs: Vec<_> = world.packets().unwrap().flows().map(|flow| (flow.from, flow.to)).collect();
    pairs.sort_unstable();
    pairs.dedup();
    assert!(pairs.len() == 20 && pairs.iter().all(|(from, to)| from != to));
}

#[test]
fn long_flows_share_a_link_fairly_and_fill_it() {
    let kind = TrafficKind::Long { flows: 2, bytes: None };
    let mut world = on_star(3, spec(kind, &[0, 1], &[2]));
    world.traffic[0].tcp = Config { abc_limit: Some(1), hystart: StartRule::Off, ..Config::default() };
    world.warm_up = Time::from_secs(3);
    let (finished, outcome, _) = run(&world, Time::from_secs(10));
    assert!(!finished, "flows without end do not end");
    // 1448 of 1500 bytes are payload. What waited behind a hole when the warm-up ended had arrived before and counts
    // after it: at most what the queue of 128 packets and the path hold, over the seven seconds that follow.
    let rate = outcome.goodput_warm.as_bps() as f64 / 1e6;
    let behind_a_hole = 130.0 * 1_448.0 * 8.0 / 7.0 / 1e6;
    assert!(rate > 93.0 && rate <= 100.0 * 1_448.0 / 1_500.0 + behind_a_hole, "{rate}");
    assert!(outcome.jain > 0.8 && outcome.jain <= 1.0, "{}", outcome.jain);
    assert!(outcome.delivered_warm < outcome.delivered);
}

#[test]
fn pairs_of_equal_lists_and_listed_flows_do_the_same() {
    let pairs = spec(TrafficKind::Long { flows: 1, bytes: Some(MB) }, &[0, 1], &[2, 3]);
    let flow = |from, to| FlowSpec { start: Time::ZERO, from, to, bytes: MB };
    let listed = spec(TrafficKind::Flows(vec![flow(0, 2), flow(1, 3)]), &[], &[]);
    let (_, a, world_a) = run(&on_star(4, pairs), Time::from_secs(10));
    let (_, b, world_b) = run(&on_star(4, listed), Time::from_secs(10));
    assert_eq!((a.completed, a.finish), (2, b.finish));
    assert_eq!(digest(&world_a), digest(&world_b));
}

#[test]
fn ping_pong_takes_a_round_trip_per_round() {
    let kind = TrafficKind::PingPong {
        exchanges: vec![Exchange { request: Bytes::new(100), answer: Bytes::new(1_000) }],
        rounds: 50,
    };
    let (finished, outcome, _) = run(&on_star(2, spec(kind, &[0], &[1])), Time::from_secs(10));
    assert!(finished);
    assert_eq!((outcome.completed, outcome.rounds, outcome.delivered), (50, 50, Bytes::new(50_000)));
    // Four links of 50 us; request of 152 B and answer of 1052 B, headers included, on two links each at 100 Mbit/s.
    let expected = Time::from_us(200) + Time::from_ns(2 * (152 + 1_052) * 80);
    assert!(
        outcome.completion_mean.as_ps().abs_diff(expected.as_ps()) < expected.as_ps() / 50,
        "{} {expected}",
        outcome.completion_mean
    );
}

/// The sizes that NetPIPE 3 prints for `-l 1 -u 64 -p 3`, and without perturbation.
#[test]
fn netpipe_sizes_are_netpipes() {
    let sizes = |smallest, largest, off| {
        let sizes = netpipe_sizes(Bytes::new(smallest), Bytes::new(largest), Bytes::new(off));
        sizes.into_iter().map(Bytes::get).collect::<Vec<_>>()
    };
    assert_eq!(
        sizes(1, 64, 3),
        [1, 2, 3, 4, 6, 8, 12, 13, 16, 19, 21, 24, 27, 29, 32, 35, 45, 48, 51, 61, 64, 67],
        "three around each from 16 on, where the step is 8"
    );
    assert_eq!(sizes(1, 64, 0), [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64]);
    assert_eq!(sizes(20, 64, 0), [24, 32, 48, 64]);
    assert_eq!(sizes(1, 1, 3), [1]);
}

/// A message's latency is its way over two links, store and forward; its throughput tends to the link's rate.
#[test]
fn ping_pong_over_sizes_gives_latency_and_throughput() {
    let sizes = [1, 1_000, 1_000_000].map(Bytes::new);
    let kind = TrafficKind::PingPong { exchanges: sizes.map(Exchange::equal).to_vec(), rounds: 5 };
    let mut traffic = spec(kind, &[0], &[1]);
    // No slow start: the window holds the largest message at once.
    traffic.tcp = Config { initial_window: 1_000, idle_restart: tcp::IdleRestart::Off, ..reference_tcp(10_000) };
    let mut world = on_star(2, traffic);
    for cable in 0..2 {
        world.topology.spec_mut(LinkId(2 * cable)).limit = Limit::Unlimited;
        world.topology.spec_mut(LinkId(2 * cable + 1)).limit = Limit::Unlimited;
    }
    let (finished, outcome, _) = run(&world, Time::from_secs(60));
    assert!(finished);
    assert_eq!((outcome.rounds, outcome.completed, outcome.messages.len()), (15, 15, 3));
    for (message, size) in outcome.messages.iter().zip([1_u64, 1_000, 1_000_000]) {
        assert_eq!((message.bytes, message.rounds), (Bytes::new(size), 5));
        // 80 ns a byte at 100 Mbit/s, twice for the last packet, whose 40 bytes of header all packets have; two links
        // of 50 us.
        let packets = size.div_ceil(1_460);
        let last = size - (packets - 1) * 1_460 + 40;
        let first = if packets > 1 { 1_500 } else { last };
        // Ahead of it goes the acknowledgement of what it answers, on the first link.
        let expected = (40 + size + packets * 40 + first) * 80 + 100_000;
        let latency = message.latency.as_ps() / 1_000;
        assert!(latency.abs_diff(expected) <= expected / 100, "{size}: {latency} ns, {expected} ns");
        assert!(message.latency_least <= message.latency && message.latency <= message.latency_most);
        let throughput = size as f64 * 8.0 / message.latency.as_secs_f64();
        assert!((message.throughput.as_bps() as f64 - throughput).abs() <= 1.0);
    }
}

/// With requests a round begins at the reader: its request takes one way, the senders' bytes the other.
#[test]
fn a_barrier_with_requests_begins_at_the_reader() {
    let mean = |request| {
        let kind = TrafficKind::Barrier {
            request: Bytes::new(request),
            bytes: Bytes::new(1_000),
            pause: Time::ZERO,
            spread: Time::ZERO,
            rounds: 10,
        };
        let mut traffic = spec(kind, &[0, 1, 2], &[3]);
        traffic.tcp = reference_tcp(100);
        let (finished, outcome, _) = run(&on_star(4, traffic), Time::from_secs(60));
        assert!(finished);
        assert_eq!((outcome.rounds, outcome.delivered), (10, Bytes::new(30_000)));
        outcome.completion_mean
    };
    // At once: two links of 50 us, a packet of 1040 B on the sender's and three of them on the reader's, at 80 ns a
    // byte.
    let at_once = Time::from_us(100) + Time::from_ns(4 * 1_040 * 80);
    assert_eq!(mean(0), at_once);
    // A request of 60 B of payload has 100 B on each link. The first one's answer leads; those of the others are behind
    // it when it ends. An acknowledgement of 40 B goes ahead of the request, and one ahead of the answer.
    let asked = at_once + Time::from_us(100) + Time::from_ns((2 * 100 + 2 * 40) * 80);
    // The first of the ten rounds begins when the last sender sees the connection; the reader sees the first one 100 us
    // later, and has nothing to acknowledge then.
    let handshake = Time::from_us(100) - Time::from_ns(40 * 80);
    assert_eq!(mean(60), asked + handshake / 10);
}

/// One segment each over links that are a thousandth of the spread: a round takes the latest of three starts, uniform up
/// to 10 ms, whose mean is 7.5 ms and whose standard deviation 1.94 ms.
#[test]
fn senders_of_a_barrier_start_up_to_the_spread_apart() {
    let spread = Time::from_ms(10);
    let kind = TrafficKind::Barrier {
        request: Bytes::ZERO,
        bytes: Bytes::new(1_000),
        pause: Time::ZERO,
        spread,
        rounds: 1_000,
    };
    let mut traffic = spec(kind, &[0, 1, 2], &[3]);
    traffic.tcp = reference_tcp(100);
    let (finished, outcome, _) = run(&on_star(4, traffic), Time::from_secs(60));
    assert!(finished);
    let way = Time::from_us(100) + Time::from_ns(2 * 1_040 * 80);
    let mean = (outcome.completion_mean - way).as_secs_f64();
    assert!((mean - 7.5e-3).abs() < 4.0 * 1.94e-3 / 1_000_f64.sqrt(), "{mean}");
}

#[test]
fn poisson_sessions_come_at_their_rate() {
    for persistent in [false, true] {
        let kind =
            TrafficKind::Poisson { sizes: Sizes::Fixed(Bytes::new(10_000)), interval: Time::from_ms(20), persistent };
        let mut traffic = spec(kind, &[0, 1, 2, 3], &[4]);
        traffic.stop = Some(Time::from_secs(20));
        let (_, outcome, world) = run(&on_star(5, traffic), Time::from_secs(30));
        // 4 sources, 20 s, 50 per second: 4000, standard deviation 63.
        assert!((3_800..4_200).contains(&outcome.begun), "{}", outcome.begun);
        assert_eq!((outcome.completed, outcome.delivered), (outcome.begun, Bytes::new(10_000) * outcome.begun));
        let connections = world.packets().unwrap().flows().count() as u64;
        assert_eq!(connections, if persistent { 4 } else { outcome.begun });
    }
}

#[test]
fn a_barrier_waits_for_the_last() {
    let mut world = on_star(
        4,
        spec(
            TrafficKind::Barrier {
                request: Bytes::ZERO,
                bytes: Bytes::new(100_000),
                pause: Time::ZERO,
                spread: Time::ZERO,
                rounds: 10,
            },
            &[0, 1, 2],
            &[3],
        ),
    );
    // The third server's link is ten times slower: it alone sets the pace.
    let slow = world.topology.uplink(world.topology.hosts()[2]).unwrap();
    world.topology.spec_mut(slow).rate = BitRate::from_mbps(10);
    let (finished, outcome, _) = run(&world, Time::from_secs(60));
    assert!(finished);
    assert_eq!((outcome.rounds, outcome.delivered), (10, Bytes::new(3_000_000)));
    let alone = 100_000.0 * 8.0 / 10e6 * 1_500.0 / 1_448.0;
    let mean = outcome.completion_mean.as_secs_f64();
    assert!(mean > alone && mean < alone * 1.1, "{mean} {alone}");
}

#[test]
fn a_shaped_node_sends_at_its_bucket_rate() {
    let mut world = on_star(2, spec(TrafficKind::Long { flows: 1, bytes: Some(Bytes::from_mb(10)) }, &[0], &[1]));
    let uplink = world.topology.uplink(world.topology.hosts()[0]).unwrap();
    let bucket = TokenBucketSpec { rate: BitRate::from_mbps(10), burst: Bytes::new(32_000) };
    let shaped = world.topology.spec(uplink).clone().with_shaper(bucket, Limit::Delay(Time::from_ms(400)));
    *world.topology.spec_mut(uplink) = shaped;
    let (finished, outcome, _) = run(&world, Time::from_secs(60));
    assert!(finished);
    let rate = outcome.goodput.as_bps() as f64 / 1e6;
    assert!(rate < 10.0 * 1_448.0 / 1_500.0 * 1.005 && rate > 9.3, "{rate}");
}

#[test]
fn traffic_to_a_node_that_never_answers_ends() {
    let mut world = on_star(3, spec(TrafficKind::AllToAll { bytes: MB }, &[0, 1, 2], &[0, 1, 2]));
    world.changes = vec![(Time::ZERO, Change::Node { node: 2, up: false })];
    let (finished, outcome, _) = run(&world, Time::from_secs(3_600));
    assert!(finished, "what cannot complete fails");
    assert_eq!(outcome.completed, 2);
}

fn sizes() -> impl Strategy<Value = Sizes> {
    let pareto = |mean| Sizes::Pareto(Pareto::new(1.1, Bytes::new(mean), Some(Bytes::new(1_000_000))).unwrap());
    prop_oneof![
        (1_u64..200_000).prop_map(|bytes| Sizes::Fixed(Bytes::new(bytes))),
        (1_u64..50_000).prop_map(|mean| Sizes::Exponential { mean: Bytes::new(mean) }),
        (100_u64..50_000).prop_map(pareto),
    ]
}

fn kinds() -> impl Strategy<Value = TrafficKind> {
    let bytes = || (1_u64..200_000).prop_map(Bytes::new);
    prop_oneof![
        (1_u32..3, prop::option::of(bytes())).prop_map(|(flows, bytes)| TrafficKind::Long { flows, bytes }),
        bytes().prop_map(|bytes| TrafficKind::AllToAll { bytes }),
        (bytes(), 0_u64..3_000, 1_u32..5).prop_map(|(bytes, request, rounds)| TrafficKind::Barrier {
            request: Bytes::new(request),
            bytes,
            pause: Time::from_us(request),
            spread: Time::from_us(request),
            rounds
        }),
        (sizes(), any::<bool>()).prop_map(|(sizes, persistent)| TrafficKind::Poisson {
            sizes,
            interval: Time::from_ms(50),
            persistent
        }),
        (bytes(), sizes(), prop::option::of(1_u32..6), 1_u32..20).prop_map(|(request, sizes, fan_out, queries)| {
            let deadline = Some(Time::from_ms(20));
            TrafficKind::PartitionAggregate { request, sizes, fan_out, interval: Time::from_ms(100), queries, deadline }
        }),
        (prop::collection::vec((bytes(), bytes()), 1..3), 1_u32..5).prop_map(|(both, rounds)| {
            let exchanges = both.into_iter().map(|(request, answer)| Exchange { request, answer }).collect();
            TrafficKind::PingPong { exchanges, rounds }
        }),
    ]
}

fn worlds() -> impl Strategy<Value = WorldSpec> {
    let spec = (1_u64..100, 0_u64..5_000, 2_u32..40, prop_oneof![Just(0.0), 0.0..0.05]).prop_map(
        |(mbps, delay, limit, loss)| {
            LinkSpec::new(BitRate::from_mbps(mbps), Time::from_us(delay))
                .with_limit(Limit::Packets(limit))
                .with_loss(loss)
        },
    );
    let config =
        (any::<bool>(), any::<bool>(), any::<bool>(), 0_usize..4).prop_map(|(sack, timestamps, delayed, control)| {
            Config {
                sack,
                timestamps,
                delayed_ack: delayed.then_some(Time::from_ms(40)),
                control: [ControlKind::Reno, ControlKind::Cubic, ControlKind::Vegas, ControlKind::Bbr][control],
                max_retries: 5,
                ..Config::default()
            }
        });
    (
        (spec.clone(), spec, 2_usize..5, 1_usize..4),
        prop::collection::vec((kinds(), config, 0_u64..2_000), 1..4),
        prop::collection::vec((0_u64..4_000, 0_u32..12, any::<bool>(), 0_u8..3), 0..6),
        any::<u64>(),
    )
        .prop_map(|((link, trunk, racks, per_rack), traffic, changes, seed)| {
            let topology = Topology::racks(racks, per_rack, &link, &trunk);
            let nodes: Vec<u32> = (0..topology.hosts().len() as u32).collect();
            let links = 2 * topology.cables().len() as u32;
            let traffic = traffic.into_iter().map(|(kind, tcp, start)| {
                let many = matches!(kind, TrafficKind::AllToAll { .. });
                let to = if many { nodes.clone() } else { vec![nodes[0]] };
                TrafficSpec { start: Time::from_ms(start), tcp, ..self::spec(kind, &nodes, &to) }
            });
            let changes = changes.into_iter().map(|(at, which, up, what)| {
                let link = LinkId(which % links);
                let change = match what {
                    0 => Change::Node { node: which % nodes.len() as u32, up },
                    1 => Change::Link { link, up },
                    _ => Change::Rate { link, rate: BitRate::from_mbps(u64::from(which) + 1) },
                };
                (Time::from_ms(at), change)
            });
            let (traffic, changes) = (traffic.collect(), changes.collect());
            WorldSpec { topology, traffic, changes, seed, warm_up: Time::from_ms(500), ..WorldSpec::default() }
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn books_balance_and_runs_repeat(spec in worlds()) {
        let until = Time::from_secs(5);
        let (finished, outcome, world) = run(&spec, until);
        // In slices, and again: the same to the bit.
        let mut again = World::new(&spec).unwrap();
        for slice in 1..=10 {
            again.run(Time::from_ms(500 * slice));
        }
        if !finished {
            prop_assert_eq!(digest(&world), digest(&again));
            prop_assert_eq!(&world.traffic_outcomes()[0], &again.traffic_outcomes()[0]);
        }
        prop_assert_eq!(outcome.delivered >= outcome.delivered_warm, true);
        // What receivers have in order is what flows say they delivered.
        let by_flows: u64 = world.packets().unwrap().flows().map(|flow| flow.bytes).sum();
        let ping_pong = spec.traffic.iter().any(|traffic| matches!(traffic.kind, TrafficKind::PingPong { .. }));
        if !ping_pong {
            let by_traffic: u64 = world.traffic_outcomes().iter().map(|outcome| outcome.delivered.get()).sum();
            prop_assert_eq!(by_flows, by_traffic);
        }
    }
}
