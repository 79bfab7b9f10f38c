//! Calls to a server whose rate is limited, against queueing theory and by hand.

use crate::support::{Spec, World, hdfs_only};
use hadoop::hdfs::HdfsConfig;
use hadoop::rpc::{self, Call, MasterConfig, Process, RpcConfig, Server, ServerConfig};
use hadoop::{Caller, Config, Event, NodeId, Service};
use units::{Bytes, Time};

const SERVER: Server = Server { node: NodeId(0), port: 9_000 };

/// A world without HDFS's own calls, in which the master serves calls.
fn world(workers: u32, server: ServerConfig, rpc: RpcConfig) -> World {
    let never = Time::from_secs(10_000_000);
    let hdfs = HdfsConfig { heartbeat_interval: never, block_report_interval: never, ..HdfsConfig::default() };
    let config = Config { rpc, ..hdfs_only(hdfs) };
    let mut world = World::new(config, Spec::new(workers, 1), 1);
    world.drive(|ctx, _| rpc::serve(ctx, SERVER, server));
    world
}

fn call(world: &mut World, node: u32, request: u64, value: u64) {
    let call = Call {
        from: Process { node: NodeId(node), id: 5 },
        to: SERVER,
        request: Bytes::new(request),
        reply: Bytes::new(100),
        caller: Caller::Driver(value),
    };
    world.drive(|ctx, _| rpc::call(ctx, call));
}

fn served(world: &World) -> Vec<(Time, u64)> {
    let value = |(at, event): &(Time, Event)| match event {
        Event::Served { caller: Caller::Driver(value), .. } => Some((*at, *value)),
        _ => None,
    };
    world.news.iter().filter_map(value).collect()
}

fn replied(world: &World) -> usize {
    world.news.iter().filter(|(_, event)| matches!(event, Event::Replied { .. })).count()
}

fn failed(world: &World) -> Vec<Time> {
    world.news.iter().filter(|(_, event)| matches!(event, Event::CallFailed { .. })).map(|(at, _)| *at).collect()
}

#[test]
fn a_call_takes_a_handshake_two_latencies_and_its_service() {
    let server = ServerConfig::new(1, Time::from_ms(2), Service::Rpc);
    let mut world = world(2, server, RpcConfig::default());
    call(&mut world, 1, 1_250, 7);
    world.run_to(Time::from_secs(1));
    // Handshake 100 us and 0.48 us for a SYN on each of four links, request of 1,290 bytes with its header 10.32 us on
    // both links and 50 us, service 2 ms.
    assert_eq!(served(&world), [(Time::from_ns(2_172_560), 7)]);
    assert_eq!(replied(&world), 1);
    call(&mut world, 1, 1_250, 8);
    world.run_to(Time::from_secs(2));
    // The connection stands.
    assert_eq!(served(&world)[1], (Time::from_ns(1_002_070_640), 8));
    assert_eq!(world.cluster.context().connection_count(Service::Rpc), 1);
}

/// M/D/1: Poisson arrivals at utilisation rho, service S: mean time in the system S (1 + rho / (2 (1 - rho)))
/// (Pollaczek and Khinchine).
#[test]
fn the_queue_of_one_handler_is_m_d_1() {
    for rho in [0.3, 0.6, 0.8] {
        let service = 1e-3;
        let server = ServerConfig::new(1, Time::from_secs_f64(service), Service::Rpc);
        let mut world = world(50, server, RpcConfig::default());
        let mut random = des::RandomStream::new(11, "test/arrivals", 0);
        let count = 60_000;
        let mut sent = Vec::new();
        let mut at = 0.0;
        // Connections first, so that no call waits for a handshake.
        for node in 1..=50 {
            call(&mut world, node, 100, 1 << 40);
        }
        world.run_to(Time::from_secs(1));
        world.news.clear();
        for i in 0..count {
            at += random.exponential(service / rho);
            let now = Time::from_secs(1) + Time::from_secs_f64(at);
            world.run_to(now);
            sent.push(now);
            call(&mut world, 1 + random.below(50) as u32, 100, i);
        }
        world.run_to(world.now + Time::from_secs(5));
        let served = served(&world);
        assert_eq!(served.len(), count as usize);
        let mean: f64 =
            served.iter().map(|(at, i)| (*at - sent[*i as usize]).as_secs_f64()).sum::<f64>() / count as f64;
        // 140 bytes with the header, 1.12 us on the wire, and 50 us of latency come on top.
        let expected = service * (1.0 + rho / (2.0 * (1.0 - rho))) + 51.12e-6;
        assert!((mean / expected - 1.0).abs() < 0.04, "rho {rho}: {mean} against {expected}");
    }
}

#[test]
fn handlers_work_side_by_side() {
    let server = ServerConfig::new(4, Time::from_ms(10), Service::Rpc);
    let mut world = world(8, server, RpcConfig::default());
    for node in 1..=8 {
        call(&mut world, node, 100, u64::from(node));
    }
    world.run_to(Time::from_secs(1));
    let times: Vec<_> = served(&world).iter().map(|(at, _)| at.as_ms()).collect();
    assert_eq!(times, [10, 10, 10, 10, 20, 20, 20, 20]);
}

/// A server at twice its capacity: heartbeats are acted upon later and later, its queue fills, and then bytes stay in
/// receive buffers and senders are blocked. Its rate stays at capacity and no call is lost.
#[test]
fn an_overloaded_server_delays_heartbeats_and_closes_windows() {
    let server = ServerConfig { queue: 20, ..ServerConfig::new(1, Time::from_ms(10), Service::Rpc) };
    let rpc = RpcConfig { call_timeout: Some(Time::from_secs(10_000)), ..RpcConfig::default() };
    let mut world = world(20, server, rpc);
    // 20 clients, 10 calls of 4 KB a second each: 200 offered, 100 served; each buffer has room for 16.
    for tick in 0..300 {
        world.run_to(Time::from_ms(100 * tick));
        for node in 1..=20 {
            call(&mut world, node, 4_000, tick);
        }
    }
    world.run_to(Time::from_secs(30));
    let so_far = served(&world);
    assert!((2_970..=3_000).contains(&so_far.len()), "{}", so_far.len());
    let (at, tick) = so_far[so_far.len() - 1];
    let age = at - Time::from_ms(100 * tick);
    assert!(age > Time::from_secs(14) && age < Time::from_secs(16), "{age}");
    assert!(world.blocked() > 0);
    let counters = world.cluster.context().server_counters(SERVER);
    assert_eq!(counters.queue_max, 20);
    assert!(counters.unread > 0);
    world.run_to(Time::from_secs(100));
    assert_eq!(served(&world).len(), 6_000);
    assert_eq!(replied(&world), 6_000);
}

#[test]
fn a_request_larger_than_the_receive_buffer_gets_through() {
    let server = ServerConfig::new(1, Time::from_ms(1), Service::Rpc);
    let mut world = world(1, server, RpcConfig::default());
    call(&mut world, 1, 1_000_000, 1);
    world.run_to(Time::from_secs(1));
    assert_eq!(replied(&world), 1);
    // 8 ms on the wire.
    let (at, _) = served(&world)[0];
    assert!(at > Time::from_ms(9) && at < Time::from_ms(14), "{at}");
}

#[test]
fn calls_to_a_dead_server_fail_after_the_connection_attempts() {
    let server = ServerConfig::new(1, Time::from_ms(1), Service::Rpc);
    let mut world = world(1, server, RpcConfig::default());
    world.kill(NodeId(0), Time::ZERO);
    world.run_to(Time::from_ms(1));
    call(&mut world, 1, 100, 1);
    world.run_to(Time::from_secs(1_000));
    // 11 attempts that are refused after 3 s, 10 pauses of 1 s.
    assert_eq!(failed(&world), [Time::from_ms(1) + Time::from_secs(43)]);
    assert_eq!(world.cluster.context().connection_count(Service::Rpc), 0);
}

#[test]
fn a_call_survives_a_server_that_is_back_soon() {
    let server = ServerConfig::new(1, Time::from_ms(1), Service::Rpc);
    let mut world = world(1, server, RpcConfig::default());
    world.kill(NodeId(0), Time::ZERO);
    world.revive(NodeId(0), Time::from_secs(10));
    world.run_to(Time::from_ms(1));
    call(&mut world, 1, 100, 1);
    world.run_to(Time::from_secs(60));
    assert_eq!((replied(&world), failed(&world)), (1, vec![]));
}

#[test]
fn a_call_that_the_server_took_to_its_grave_fails() {
    let server = ServerConfig::new(1, Time::from_secs(50), Service::Rpc);
    let mut world = world(2, server, RpcConfig::default());
    call(&mut world, 1, 100, 1);
    world.run_to(Time::from_secs(1));
    world.kill(NodeId(0), Time::from_secs(2));
    world.run_to(Time::from_secs(300));
    // Nothing is on its way that could be reset: the call's own timeout of 120 s ends it.
    assert_eq!(failed(&world), [Time::from_secs(120)]);
    assert!(served(&world).is_empty());
}

/// As in Hadoop 1: a call waits as long as its connection lives, and pings find out that.
#[test]
fn without_a_timeout_a_call_waits_for_a_slow_server_and_pings_find_a_dead_one() {
    let rpc = RpcConfig { call_timeout: None, ..RpcConfig::default() };
    let server = ServerConfig::new(1, Time::from_secs(200), Service::Rpc);
    let mut slow = world(2, server, rpc);
    call(&mut slow, 1, 100, 1);
    slow.run_to(Time::from_secs(290));
    assert_eq!((replied(&slow), failed(&slow)), (1, vec![]));

    let mut dead = world(2, server, rpc);
    call(&mut dead, 1, 100, 1);
    dead.kill(NodeId(0), Time::from_secs(2));
    dead.run_to(Time::from_secs(290));
    // Pinged after 60 s, which TCP gives up after 15 s.
    assert_eq!(failed(&dead), [Time::from_secs(75)]);
}

#[test]
fn a_server_that_does_not_answer_is_tried_more_often_than_one_that_refuses() {
    // A handshake with a dead node is refused after 3 s: too late here.
    let rpc = RpcConfig { connect_timeout: Time::from_secs(1), ..RpcConfig::default() };
    let server = ServerConfig::new(1, Time::from_ms(1), Service::Rpc);
    let mut world = world(1, server, rpc);
    world.kill(NodeId(0), Time::ZERO);
    world.run_to(Time::from_ms(1));
    call(&mut world, 1, 100, 1);
    world.run_to(Time::from_secs(1_000));
    assert_eq!(failed(&world), [Time::from_ms(1) + Time::from_secs(46)]);
}

#[test]
fn a_process_that_ends_takes_its_calls_with_it() {
    let server = ServerConfig::new(1, Time::from_ms(100), Service::Rpc);
    let mut world = world(2, server, RpcConfig::default());
    call(&mut world, 1, 100, 1);
    call(&mut world, 2, 100, 2);
    world.run_to(Time::from_ms(50));
    world.drive(|ctx, _| rpc::exit(ctx, Process { node: NodeId(1), id: 5 }));
    world.run_to(Time::from_secs(10));
    // The server has processed both, but only one caller is there to hear of it.
    assert_eq!(served(&world).len(), 2);
    assert_eq!(replied(&world), 1);
    assert_eq!(world.cluster.context().connection_count(Service::Rpc), 1);
}

#[test]
fn a_crashed_client_is_forgotten_and_may_come_back() {
    let server = ServerConfig::new(1, Time::from_ms(100), Service::Rpc);
    let mut world = world(2, server, RpcConfig::default());
    call(&mut world, 1, 100, 1);
    world.kill(NodeId(1), Time::from_ms(50));
    world.revive(NodeId(1), Time::from_secs(2));
    world.run_to(Time::from_secs(3));
    assert_eq!(replied(&world), 0);
    call(&mut world, 1, 100, 2);
    world.run_to(Time::from_secs(4));
    assert_eq!(replied(&world), 1);
    assert_eq!(served(&world).iter().map(|(_, value)| *value).collect::<Vec<_>>(), [1, 2]);
}

/// The master's one reader takes calls in one after the other: with 5 ms for each the rate is 200 a second, whatever
/// the handlers.
#[test]
fn a_slow_reader_bounds_the_rate_and_leaves_the_rest_in_the_buffers() {
    let master = MasterConfig { read: Time::from_ms(5), ..MasterConfig::default() };
    let rpc = RpcConfig { call_timeout: Some(Time::from_secs(10_000)), master, ..RpcConfig::default() };
    let server = ServerConfig::new(10, Time::from_us(10), Service::Rpc);
    let mut world = world(40, server, rpc);
    // 400 calls a second are offered for 20 s.
    for tick in 0..200 {
        world.run_to(Time::from_ms(100 * tick));
        for node in 1..=40 {
            call(&mut world, node, 4_000, tick);
        }
    }
    world.run_to(Time::from_secs(20));
    let so_far = served(&world).len();
    assert!((3_990..=4_000).contains(&so_far), "{so_far}");
    let counters = world.cluster.context().server_counters(SERVER);
    assert!(counters.queue_max <= 1, "handlers are faster than the reader: {}", counters.queue_max);
    assert!(counters.unread > 3_500 && world.blocked() > 0, "{} {}", counters.unread, world.blocked());
    world.run_to(Time::from_secs(60));
    assert_eq!((served(&world).len(), replied(&world)), (8_000, 8_000));
}

#[test]
fn a_reader_that_dies_in_a_call_reads_again_when_its_node_is_back() {
    let master = MasterConfig { read: Time::from_ms(500), ..MasterConfig::default() };
    let rpc = RpcConfig { call_timeout: Some(Time::from_secs(5)), master, ..RpcConfig::default() };
    let mut world = world(1, ServerConfig::new(1, Time::from_us(10), Service::Rpc), rpc);
    call(&mut world, 1, 100, 1);
    world.kill(NodeId(0), Time::from_ms(100));
    world.revive(NodeId(0), Time::from_secs(1));
    world.run_to(Time::from_secs(20));
    assert_eq!(failed(&world).len(), 1);
    call(&mut world, 1, 100, 2);
    world.run_to(Time::from_secs(40));
    assert_eq!(served(&world).last().map(|(_, value)| *value), Some(2));
}

#[test]
fn heartbeats_may_have_a_connection_of_their_own() {
    let connections = |heartbeat_connections| {
        let rpc = RpcConfig {
            master: MasterConfig { heartbeat_connections, ..MasterConfig::default() },
            ..RpcConfig::default()
        };
        let hdfs = HdfsConfig { block_report_interval: Time::from_secs(20), ..HdfsConfig::default() };
        let mut world = World::new(Config { rpc, ..hdfs_only(hdfs) }, Spec::new(3, 1), 1);
        world.run_to(Time::from_secs(30));
        world.cluster.context().connection_count(Service::Rpc)
    };
    // Block reports and heartbeats of three DataNodes.
    assert_eq!((connections(false), connections(true)), (3, 6));
}
