//! What traffic measures, against closed forms: slowdown, queueing, deadlines, fairness; and when one traffic begins
//! after another.

use net::{Limit, LinkSpec, Topology};
use results::{TrafficOutcome, jain};
use sim::bench::reference_tcp;
use sim::world::{Change, World, WorldSpec};
use tcp::Config;
use traffic::{FlowSpec, Pareto, Sizes, TrafficKind, TrafficSpec};
use units::{BitRate, Bytes, Time};

fn spec(kind: TrafficKind, from: &[u32], to: &[u32]) -> TrafficSpec {
    TrafficSpec { name: "test".to_owned(), kind, from: from.to_vec(), to: to.to_vec(), ..TrafficSpec::default() }
}

fn star(nodes: usize, mbps: u64) -> Topology {
    let link = LinkSpec::new(BitRate::from_mbps(mbps), Time::from_us(50)).with_limit(Limit::Unlimited);
    Topology::star(nodes, &link)
}

fn world(topology: Topology, traffic: Vec<TrafficSpec>) -> WorldSpec {
    WorldSpec { topology, traffic, seed: 1, ..WorldSpec::default() }
}

fn run(spec: &WorldSpec, until: Time) -> (bool, Vec<TrafficOutcome>, World) {
    let mut world = World::new(spec).unwrap();
    let finished = world.run(until);
    world.packets().unwrap().ledger().unwrap();
    (finished, world.traffic_outcomes(), world)
}

/// All of a flow at once, and nothing that holds it back.
fn unbounded() -> Config {
    Config { initial_window: 100_000, max_window: None, ..reference_tcp(0) }
}

#[test]
fn a_lone_flow_on_an_empty_path_has_a_slowdown_of_one() {
    let flow = |bytes| FlowSpec { start: Time::ZERO, from: 0, to: 1, bytes: Bytes::new(bytes) };
    // Slow first link, slow last link, equal links; with options counted and without; from one byte to many packets.
    let fast = LinkSpec::new(BitRate::from_gbps(1), Time::from_us(5)).with_limit(Limit::Unlimited);
    let slow = LinkSpec { rate: BitRate::from_mbps(30), ..fast.clone() };
    for (first, last) in [(&fast, &slow), (&slow, &fast), (&slow, &slow)] {
        for count_options in [false, true] {
            for bytes in [1, 1_460, 1_461, 3_000, 1_000_000] {
                let mut topology = Topology::star(2, first);
                let port = topology.uplink(topology.hosts()[1]).unwrap();
                *topology.spec_mut(port) = last.clone();
                *topology.spec_mut(port.reverse()) = last.clone();
                let mut traffic = spec(TrafficKind::Flows(vec![flow(bytes)]), &[], &[]);
                traffic.tcp = Config { count_options, timestamps: count_options, ..unbounded() };
                let (finished, outcomes, _) = run(&world(topology, vec![traffic]), Time::from_secs(60));
                assert!(finished);
                let slowdown = outcomes[0].slowdown.unwrap();
                assert!((slowdown.max - 1.0).abs() < 1e-6, "{bytes} B, {count_options}: {slowdown:?}");
            }
        }
    }
    // Ten segments of initial window: the second window waits for a round trip.
    let mut traffic = spec(TrafficKind::Flows(vec![flow(20_000)]), &[], &[]);
    traffic.tcp = Config { initial_window: 10, ..unbounded() };
    let (_, outcomes, _) = run(&world(star(2, 1_000), vec![traffic]), Time::from_secs(60));
    assert!(outcomes[0].slowdown.unwrap().mean > 1.1, "{:?}", outcomes[0].slowdown);
}

/// Messages of one packet on one connection are a queue with Poisson arrivals and a fixed service time, M/D/1, at the
/// sender's link: its mean wait is rho / (2 (1 - rho)) service times.
#[test]
fn messages_of_one_packet_wait_as_in_an_m_d_1_queue() {
    let service = 1_040.0 * 80e-9;
    for load in [0.3, 0.7] {
        let interval = Time::from_secs_f64(service / load);
        let kind = TrafficKind::Poisson { sizes: Sizes::Fixed(Bytes::new(1_000)), interval, persistent: true };
        let mut traffic = spec(kind, &[0], &[1]);
        traffic.stop = Some(Time::from_secs(40));
        traffic.tcp = unbounded();
        let mut topology = star(2, 100);
        // Behind the sender's link none waits: the receiver's is ten times as fast.
        let port = topology.uplink(topology.hosts()[1]).unwrap();
        topology.spec_mut(port.reverse()).rate = BitRate::from_gbps(1);
        let (finished, outcomes, _) = run(&world(topology, vec![traffic]), Time::from_secs(60));
        assert!(finished, "it stops, and what is under way completes");
        let outcome = &outcomes[0];
        assert!(outcome.completed > 100_000 && outcome.completed == outcome.begun);
        let wait = outcome.completion_mean.as_secs_f64() - service * 1.1 - 100e-6;
        let expected = service * load / (2.0 * (1.0 - load));
        // The relative standard error of a mean wait of 300,000 correlated customers is about 1 % at this load.
        assert!((wait / expected - 1.0).abs() < 0.04, "load {load}: {wait} s, {expected} s");
    }
}

#[test]
fn random_receivers_are_equally_likely_and_never_the_sender() {
    let kind =
        TrafficKind::Poisson { sizes: Sizes::Fixed(Bytes::new(100)), interval: Time::from_ms(1), persistent: false };
    for persistent in [false, true] {
        let TrafficKind::Poisson { sizes, interval, .. } = kind.clone() else { unreachable!() };
        let mut traffic = spec(TrafficKind::Poisson { sizes, interval, persistent }, &[0, 1, 2], &[0, 1, 2, 3]);
        traffic.stop = Some(Time::from_secs(4));
        let (finished, outcomes, world) = run(&world(star(4, 1_000), vec![traffic]), Time::from_secs(60));
        assert!(finished);
        let mut bytes = [[0_u64; 4]; 4];
        for flow in world.packets().unwrap().flows() {
            bytes[flow.from as usize][flow.to as usize] += flow.bytes;
        }
        let sessions: u64 = bytes.iter().flatten().sum::<u64>() / 100;
        assert_eq!(sessions, outcomes[0].completed);
        for (from, row) in bytes.iter().enumerate().take(3) {
            assert_eq!(row[from], 0);
            for (_, bytes) in row.iter().enumerate().filter(|(to, _)| *to != from) {
                // A third of 4000, standard deviation 35.
                assert!((*bytes / 100).abs_diff(1_333) < 140, "{bytes}");
            }
        }
    }
}

#[test]
fn one_traffic_begins_when_another_has_ended() {
    let mut first = spec(TrafficKind::Long { flows: 2, bytes: Some(Bytes::from_mb(1)) }, &[0], &[1]);
    first.start = Time::from_ms(3);
    let mut second = spec(TrafficKind::AllToAll { bytes: Bytes::new(50_000) }, &[0, 1, 2], &[0, 1, 2]);
    (second.after, second.start) = (Some(0), Time::from_ms(5));
    let mut third = spec(
        TrafficKind::Barrier {
            request: Bytes::ZERO,
            bytes: Bytes::new(1),
            pause: Time::ZERO,
            spread: Time::ZERO,
            rounds: 3,
        },
        &[0, 1],
        &[2],
    );
    third.after = Some(1);
    let poisson =
        TrafficKind::Poisson { sizes: Sizes::Fixed(Bytes::new(500)), interval: Time::from_ms(1), persistent: true };
    let mut fourth = spec(poisson, &[0], &[1]);
    (fourth.after, fourth.stop) = (Some(2), Some(Time::from_ms(50)));
    let mut fifth = spec(TrafficKind::Long { flows: 1, bytes: Some(Bytes::new(1)) }, &[0], &[1]);
    fifth.after = Some(3);
    // Listed the other way round, so that the order of the list is not what does it.
    let mut all = vec![first, second, third, fourth, fifth];
    all.reverse();
    for traffic in &mut all {
        traffic.after = traffic.after.map(|after| 4 - after);
    }
    let (finished, mut outcomes, _) = run(&world(star(3, 100), all), Time::from_secs(60));
    outcomes.reverse();
    assert!(finished);
    let ends: Vec<_> = outcomes.iter().map(|outcome| outcome.finish.unwrap()).collect();
    assert_eq!(outcomes[0].start, Time::from_ms(3));
    assert_eq!(outcomes[1].start, ends[0] + Time::from_ms(5));
    assert_eq!(outcomes[2].start, ends[1]);
    // The first session comes by chance; the last one before it stops is the end.
    let poisson = &outcomes[3];
    assert!(poisson.start >= ends[2] && poisson.begun > 20 && poisson.completed == poisson.begun);
    assert!(ends[3] > ends[2] + Time::from_ms(40) && ends[3] < ends[2] + Time::from_ms(52));
    assert!(outcomes[4].start >= ends[3] && outcomes[4].start < ends[2] + Time::from_ms(52));
    assert!(ends.is_sorted());
}

#[test]
fn what_cannot_complete_ends_too_and_lets_the_next_begin() {
    let first = spec(TrafficKind::Long { flows: 1, bytes: Some(Bytes::from_mb(1)) }, &[0], &[1]);
    let mut second = spec(TrafficKind::Long { flows: 1, bytes: Some(Bytes::new(1)) }, &[0], &[2]);
    second.after = Some(0);
    let mut spec = world(star(3, 100), vec![first, second]);
    spec.changes = vec![(Time::ZERO, Change::Node { node: 1, up: false })];
    let (finished, outcomes, _) = run(&spec, Time::from_secs(3_600));
    assert!(finished);
    assert_eq!((outcomes[0].failed, outcomes[1].completed), (1, 1));
}

fn queries(fan_out: Option<u32>, deadline: Time, workers: u32) -> TrafficSpec {
    let kind = TrafficKind::PartitionAggregate {
        request: Bytes::new(60),
        sizes: Sizes::Fixed(Bytes::new(1_000)),
        fan_out,
        // Long enough that hardly two overlap.
        interval: Time::from_secs(4),
        queries: 50,
        deadline: Some(deadline),
    };
    let workers: Vec<u32> = (0..workers).collect();
    let mut traffic = spec(kind, &workers, &[workers.len() as u32]);
    traffic.tcp = unbounded();
    traffic
}

#[test]
fn a_query_takes_its_requests_and_answers_and_meets_a_deadline_or_not() {
    // At 80 ns a byte: the first request of 100 B on two links, an acknowledgement of 40 B ahead of the answer, and
    // three answers of 1040 B behind each other on the aggregator's link, the first one's on its worker's too; four
    // times 50 us.
    let time = Time::from_ns((2 * 100 + 40 + 4 * 1_040) * 80) + Time::from_us(200);
    for (deadline, missed) in [(time, 0), (time - Time::from_ns(1), 50)] {
        let (finished, outcomes, _) =
            run(&world(star(4, 100), vec![queries(None, deadline, 3)]), Time::from_secs(3_600));
        let outcome = &outcomes[0];
        assert!(finished);
        assert_eq!((outcome.begun, outcome.completed, outcome.failed), (50, 50, 0));
        assert_eq!(outcome.delivered, Bytes::new(150_000));
        assert_eq!((outcome.completion_p50, outcome.completion_max), (time, time), "none overlaps another");
        let deadlines = outcome.deadlines.unwrap();
        // Only the last of the three answers is late.
        assert_eq!((deadlines.queries, deadlines.missed), (50, missed));
        assert_eq!((deadlines.answers, deadlines.late_answers), (150, missed));
    }
}

#[test]
fn a_query_asks_as_many_workers_as_it_says_all_equally_often() {
    let (_, outcomes, world) =
        run(&world(star(6, 1_000), vec![queries(Some(2), Time::from_ms(1), 5)]), Time::from_secs(3_600));
    assert_eq!((outcomes[0].completed, outcomes[0].delivered), (50, Bytes::new(100_000)));
    let asked: Vec<u64> = world.packets().unwrap().flows().map(|flow| flow.bytes / 1_000).collect();
    // Two fifths of 50 each, standard deviation 3.5.
    assert!(asked.len() == 5 && asked.iter().all(|count| count.abs_diff(20) < 11), "{asked:?}");
}

#[test]
fn a_worker_that_dies_breaks_its_queries() {
    let mut spec = world(star(4, 100), vec![queries(None, Time::from_ms(5), 3)]);
    spec.changes = vec![(Time::from_secs(100), Change::Node { node: 1, up: false })];
    let (finished, outcomes, _) = run(&spec, Time::from_secs(36_000));
    let outcome = &outcomes[0];
    assert!(finished, "what is lost is not waited for");
    let deadlines = outcome.deadlines.unwrap();
    assert_eq!(outcome.completed + outcome.failed, 50);
    assert!(outcome.completed > 10 && outcome.failed > 10, "{outcome:?}");
    assert_eq!((deadlines.missed, deadlines.answers), (outcome.failed, 150));
}

#[test]
fn jains_index_by_hand() {
    // (1 + 2 + 3)^2 / (3 (1 + 4 + 9)).
    assert!((jain([1.0, 2.0, 3.0].into_iter()) - 36.0 / 42.0).abs() < 1e-15);
    assert_eq!(jain([5.0; 7].into_iter()), 1.0);
    assert_eq!(jain([1.0, 0.0, 0.0, 0.0].into_iter()), 0.25);
    assert_eq!(jain(std::iter::empty()), 1.0);
    // Two flows alone on their links, one of a third of the other's rate: (4/3)^2 / (2 (1 + 1/9)) = 0.8.
    let mut topology = star(4, 90);
    let slow = topology.uplink(topology.hosts()[0]).unwrap();
    topology.spec_mut(slow).rate = BitRate::from_mbps(30);
    let mut traffic = spec(TrafficKind::Long { flows: 1, bytes: Some(Bytes::from_mb(10)) }, &[0, 1], &[2, 3]);
    traffic.tcp = unbounded();
    let (_, outcomes, _) = run(&world(topology, vec![traffic]), Time::from_secs(60));
    assert!((outcomes[0].jain - 0.8).abs() < 1e-3, "{}", outcomes[0].jain);
}

/// Drops are counted at the connection whose packet it was, and all of them.
#[test]
fn drops_and_throughput_of_clients_add_up() {
    let link = LinkSpec::new(BitRate::from_mbps(100), Time::from_us(50)).with_limit(Limit::Packets(10));
    let kind = TrafficKind::Poisson {
        sizes: Sizes::Pareto(Pareto::new(1.3, Bytes::new(40_000), Some(Bytes::from_mb(1))).unwrap()),
        interval: Time::from_ms(12),
        persistent: false,
    };
    let mut traffic = spec(kind, &[0, 1, 2, 3, 4], &[5]);
    traffic.stop = Some(Time::from_secs(3));
    let (_, outcomes, world) = run(&world(Topology::star(6, &link), vec![traffic]), Time::from_secs(3));
    let outcome = &outcomes[0];
    let ledger = world.packets().unwrap().ledger().unwrap();
    let of_flows: u64 = world.packets().unwrap().flows().map(|flow| u64::from(flow.drops)).sum();
    assert!(ledger.dropped > 100, "{ledger:?}");
    // A packet of a connection that is gone may have been dropped since; there is no such one here.
    assert_eq!((of_flows, outcome.drops), (ledger.dropped, ledger.dropped));
    let clients = &outcome.clients;
    assert_eq!(clients.iter().map(|client| client.node).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    assert_eq!(clients.iter().map(|client| client.drops).sum::<u64>(), ledger.dropped);
    assert_eq!(clients.iter().map(|client| client.connections).sum::<u64>(), outcome.begun);
    assert_eq!(clients.iter().map(|client| client.bytes).sum::<Bytes>(), outcome.delivered);
    let shares: f64 = clients.iter().map(|client| client.throughput_share).sum();
    assert!((shares - 1.0).abs() < 1e-12);
    assert_eq!(outcome.timeouts, world.packets().unwrap().totals().timeouts);
    assert_eq!(outcome.retransmissions, world.packets().unwrap().totals().retransmissions);
    // Where each loses as it sends the distance is zero; here it is what the shares say.
    let by_hand: f64 = clients.iter().map(|client| (client.throughput_share - client.drop_share).abs()).sum();
    assert!((outcome.unfairness() - by_hand).abs() < 1e-12 && by_hand > 0.0);
    // Large and small sessions are shown apart, and add up.
    assert_eq!(outcome.classes.iter().map(|class| class.completions.count).sum::<u64>(), outcome.completed);
    assert_eq!(outcome.classes[0].most, Some(Bytes::new(100_000)));
    assert!(outcome.classes[0].completions.mean < outcome.classes[1].completions.mean);
}
