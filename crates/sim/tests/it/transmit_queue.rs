//! TCP that watches its node's transmit queue: against the queue's own limit, over plain and managed links, with many
//! connections, through failures.

use des::EventQueue;
use net::{ARRIVAL, Discipline, FqCodelSpec, Limit, LinkId, LinkSpec, TRANSMISSION_DONE, Topology};
use tcp::{Config, TransmitQueueLimits};
use transport::{End, Handle, Happened, Message, Open, Owner, PacketTransport, QUEUE_ROOM, TIMER, Tag};
use units::{BitRate, Bytes, Time};

/// Nodes whose own links send at 10 Mbit/s, a packet of 1,538 bytes in 1.23 ms, with a queue of `queue` packets; the
/// switch sends ten times as fast.
struct Run {
    transport: PacketTransport,
    events: EventQueue,
    now: Time,
    flows: Vec<Handle>,
    longest: usize,
}

/// The direction of node 0's cable that it sends over.
const UP: LinkId = LinkId(0);

impl Run {
    fn new(limits: TransmitQueueLimits, discipline: Discipline, queue: u32) -> Self {
        let fast = LinkSpec::new(BitRate::from_mbps(100), Time::from_ms(2)).with_limit(Limit::Packets(1000));
        let mut topology = Topology::star(3, &fast);
        let up = LinkSpec::new(BitRate::from_mbps(10), Time::from_ms(2));
        *topology.spec_mut(UP) = up.with_limit(Limit::Packets(queue)).with_discipline(discipline);
        let mut transport = PacketTransport::new(topology, Bytes::new(38), 1).unwrap();
        if limits != TransmitQueueLimits::default() {
            transport.set_transmit_queue_limits(vec![limits; 3]);
        }
        Self { transport, events: EventQueue::new(), now: Time::ZERO, flows: Vec::new(), longest: 0 }
    }
    /// A connection from node 0 that has `bytes` to send.
    fn send(&mut self, to: u32, bytes: u64) {
        let tcp = Config { nagle: false, ..Config::default() };
        let open = Open { owner: Owner::Cluster, user: 0, from: 0, to, port: 80, via: None, client: tcp, server: tcp };
        let handle = self.transport.open(self.now, &open, &mut self.events);
        let message = Message::new(Bytes::new(bytes), Tag(1));
        self.transport.send(self.now, handle, End::Client, message, &mut self.events);
        self.flows.push(handle);
    }
    fn run(&mut self, until: Time) {
        while self.events.next_time().is_some_and(|next| next <= until) {
            let Some(event) = self.events.pop() else { break };
            self.now = event.time();
            match event.kind() {
                ARRIVAL => self.transport.on_arrival(&event, &mut self.events),
                TRANSMISSION_DONE => self.transport.on_transmission_done(&event, &mut self.events),
                TIMER => self.transport.on_timer(&event, &mut self.events),
                QUEUE_ROOM => self.transport.on_queue_room(&event, &mut self.events),
                kind => panic!("kind {kind}"),
            }
            self.longest = self.longest.max(self.transport.link(UP).waiting(self.now));
        }
        self.now = until;
        self.transport.ledger().unwrap();
    }
    fn received(&self) -> Vec<u64> {
        self.flows.iter().map(|flow| self.transport.received(*flow, End::Server).unwrap()).collect()
    }
    fn drops(&self) -> u64 {
        self.transport.link(UP).counters().drops
    }
}

fn packets(threshold: u32) -> TransmitQueueLimits {
    TransmitQueueLimits { packets: Some(threshold), ..TransmitQueueLimits::default() }
}

/// Payload bytes that the link can carry in a time: 1,448 of 1,538.
fn capacity(time: Time) -> u64 {
    (BitRate::from_mbps(10).bytes_in(time).get() as f64 * 1448.0 / 1538.0) as u64
}

fn within(received: u64, expected: u64, part: f64) {
    let ratio = received as f64 / expected as f64;
    assert!((ratio - 1.0).abs() < part, "{received} of {expected}: {ratio}");
}

#[test]
fn a_queue_that_is_watched_never_overflows() {
    let second = Time::from_secs(1);
    for (limits, drops) in [(TransmitQueueLimits::default(), true), (packets(40), false)] {
        let mut run = Run::new(limits, Discipline::DropTail, 50);
        for _ in 0..4 {
            run.send(1, 1 << 30);
        }
        run.run(second * 20);
        assert_eq!(run.drops() > 0, drops);
        assert_eq!(run.transport.totals().retransmissions > 0, drops);
        within(run.received().iter().sum(), capacity(second * 20), 0.01);
        if !drops {
            assert_eq!(run.longest, 40);
        }
    }
}

#[test]
fn connections_share_a_watched_queue_fairly() {
    // All wait most of the time, and go on in turn: much fairer than their windows, which differ by when they began.
    let mut run = Run::new(packets(20), Discipline::DropTail, 50);
    for flow in 0..8 {
        run.run(Time::from_ms(500 * flow));
        run.send(1 + (flow as u32 % 2), 1 << 30);
    }
    run.run(Time::from_secs(10));
    let before = run.received();
    run.run(Time::from_secs(30));
    let shares: Vec<u64> = run.received().iter().zip(&before).map(|(now, before)| now - before).collect();
    for share in &shares {
        within(*share, capacity(Time::from_secs(20)) / 8, 0.03);
    }
}

#[test]
fn a_threshold_in_time_halves_its_packets_with_the_rate() {
    let limits = TransmitQueueLimits { delay: Some(Time::from_ms(50)), ..TransmitQueueLimits::default() };
    let mut run = Run::new(limits, Discipline::DropTail, 100);
    run.send(1, 1 << 30);
    run.run(Time::from_secs(5));
    // 62,500 bytes.
    assert_eq!(run.longest, 41);
    run.transport.set_link_rate(run.now, UP, BitRate::from_mbps(5), &mut run.events).unwrap();
    run.run(Time::from_secs(6));
    run.longest = 0;
    let before = run.received()[0];
    run.run(Time::from_secs(16));
    assert_eq!((run.longest, run.drops()), (21, 0));
    within(run.received()[0] - before, capacity(Time::from_secs(5)), 0.01);
}

#[test]
fn small_queues_hold_what_each_connection_needs() {
    let limits = TransmitQueueLimits { per_flow: Some(Time::from_ms(1)), ..TransmitQueueLimits::default() };
    let fq_codel = Discipline::FqCodel(FqCodelSpec::default());
    for discipline in [Discipline::DropTail, fq_codel] {
        let mut run = Run::new(limits, discipline, 100);
        for _ in 0..6 {
            run.send(1, 1 << 30);
        }
        run.run(Time::from_secs(10));
        run.longest = 0;
        run.run(Time::from_secs(20));
        // What each may have by its pace of now; of a managed queue what is in transmission has left it, of a plain one
        // not.
        let most = |flow: &Handle| {
            let pace = run.transport.endpoint(*flow, End::Client).and_then(tcp::Endpoint::pace).unwrap();
            (pace.as_bps() as f64 / 8.0 * 1e-3 / 1538.0).ceil().max(2.0) as usize
        };
        let most: usize = run.flows.iter().map(most).sum();
        assert!((6..=most).contains(&run.longest), "{} of {most}", run.longest);
        assert_eq!(run.drops(), 0);
        within(run.received().iter().sum(), capacity(Time::from_secs(20)), 0.01);
    }
}

#[test]
fn a_link_that_fails_empties_its_queue_and_holds_nobody_for_good() {
    for discipline in [Discipline::DropTail, Discipline::FqCodel(FqCodelSpec::default())] {
        for limits in [packets(30), TransmitQueueLimits { per_flow: Some(Time::from_ms(1)), ..packets(30) }] {
            let mut run = Run::new(limits, discipline, 100);
            for _ in 0..3 {
                run.send(1, 3_000_000);
            }
            run.run(Time::from_secs(1));
            run.transport.set_link_up(run.now, UP, false, &mut run.events);
            run.run(Time::from_ms(1500));
            run.transport.set_link_up(run.now, UP, true, &mut run.events);
            run.run(Time::from_secs(30));
            assert_eq!(run.received(), [3_000_000; 3]);
        }
    }
}

#[test]
fn acknowledgements_pass_a_full_queue_and_connections_end() {
    // Node 0 sends and receives at once; what it receives does not wait for what it sends.
    let mut run = Run::new(packets(10), Discipline::DropTail, 50);
    run.send(1, 5_000_000);
    let message = Message::new(Bytes::new(5_000_000), Tag(2));
    run.transport.send(run.now, run.flows[0], End::Server, message, &mut run.events);
    run.run(Time::from_secs(3));
    assert_eq!(run.transport.received(run.flows[0], End::Client), Some(5_000_000));
    run.transport.close(run.now, run.flows[0], End::Client, &mut run.events);
    run.transport.close(run.now, run.flows[0], End::Server, &mut run.events);
    run.run(Time::from_secs(30));
    assert_eq!(run.transport.open_connections(), 0);
}

/// What an application may write ahead of TCP bounds what stands in its socket, and nothing else: throughput, the queue
/// and its losses are the same.
#[test]
fn a_limit_on_what_is_not_sent_bounds_the_socket_and_not_the_queue() {
    let limit = Bytes::new(16_384);
    let run = |limited: bool, watched: TransmitQueueLimits| {
        let mut run = Run::new(watched, Discipline::DropTail, 50);
        if limited {
            run.transport.set_unsent_limit(limit);
        }
        for _ in 0..3 {
            run.send(1, 20_000_000);
        }
        run.run(Time::from_secs(10));
        run
    };
    let (free, limited) = (run(false, TransmitQueueLimits::default()), run(true, TransmitQueueLimits::default()));
    assert_eq!(free.transport.most_unsent(), Bytes::new(20_000_000));
    assert_eq!(limited.transport.most_unsent(), limit);
    assert!(free.longest == 50 && limited.longest == 50 && free.drops() > 0 && limited.drops() > 0);
    within(limited.received().iter().sum(), free.received().iter().sum(), 0.01);
    // Beside a limit on the queue each holds what it is for.
    let both = run(true, packets(20));
    assert_eq!((both.transport.most_unsent(), both.longest, both.drops()), (limit, 20, 0));
    within(both.received().iter().sum(), capacity(Time::from_secs(10)), 0.01);
}

/// Messages and the end of a stream wait their turn: all are delivered in order, and connections end; one whose node
/// goes down, or that is aborted, leaves nothing behind.
#[test]
fn what_waits_to_be_written_is_written_in_order_and_then_the_end() {
    let mut run = Run::new(TransmitQueueLimits::default(), Discipline::DropTail, 50);
    run.transport.set_unsent_limit(Bytes::new(4_096));
    for _ in 0..3 {
        run.send(1, 100_000);
    }
    let mut upcalls = Vec::new();
    for (flow, tag) in [(0, 2), (1, 2), (2, 2), (0, 3)] {
        let message = Message::new(Bytes::new(50_000), Tag(tag));
        run.transport.send(run.now, run.flows[flow], End::Client, message, &mut run.events);
    }
    run.transport.close(run.now, run.flows[0], End::Client, &mut run.events);
    run.run(Time::from_ms(50));
    run.transport.abort(run.now, run.flows[1], End::Client, &mut run.events);
    run.transport.node_down(run.now, 0, &mut run.events);
    run.transport.node_up(run.now, 0, &mut run.events);
    run.send(2, 60_000);
    run.transport.close(run.now, run.flows[3], End::Client, &mut run.events);
    run.run(Time::from_secs(5));
    assert_eq!(run.transport.received(run.flows[3], End::Server), Some(60_000));
    run.transport.take_upcalls(&mut upcalls);
    let mut again = Run::new(TransmitQueueLimits::default(), Discipline::DropTail, 50);
    again.transport.set_unsent_limit(Bytes::new(4_096));
    again.send(1, 100_000);
    for tag in [2, 3] {
        let message = Message::new(Bytes::new(50_000), Tag(tag));
        again.transport.send(again.now, again.flows[0], End::Client, message, &mut again.events);
    }
    again.transport.close(again.now, again.flows[0], End::Client, &mut again.events);
    again.run(Time::from_secs(5));
    upcalls.clear();
    again.transport.take_upcalls(&mut upcalls);
    let told: Vec<Happened> = upcalls.iter().map(|upcall| upcall.what).collect();
    let delivered = [1, 2, 3].map(|tag| Happened::Delivered(End::Server, Tag(tag)));
    let order: Vec<_> = told.iter().copied().filter(|what| matches!(what, Happened::Delivered(..))).collect();
    assert_eq!(order, delivered);
    let place = |what: Happened| told.iter().position(|other| *other == what).unwrap();
    assert!(place(Happened::PeerClosed(End::Server)) > place(delivered[2]));
    again.transport.close(again.now, again.flows[0], End::Server, &mut again.events);
    again.run(Time::from_secs(90));
    assert_eq!(again.transport.open_connections(), 0);
}
