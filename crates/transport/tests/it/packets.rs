//! The message transport, driven by hand: messages, paced readers, closing, crashes, links that fail.

use des::EventQueue;
use net::{ARRIVAL, Limit, LinkId, LinkSpec, TRANSMISSION_DONE, Topology};
use tcp::Config;
use transport::{End, Handle, Happened, Message, Open, Owner, PacketTransport, TIMER, Tag, Upcall};
use units::{BitRate, Bytes, Time};

struct Driver {
    transport: PacketTransport,
    events: EventQueue,
    now: Time,
    log: Vec<(Time, Happened)>,
}

impl Driver {
    fn new(nodes: usize) -> Self {
        let mut topology = Topology::star(nodes, &LinkSpec::new(BitRate::from_mbps(100), Time::from_us(100)));
        // A loopback drops nothing.
        let loopback = LinkSpec::new(BitRate::from_gbps(10), Time::from_us(5)).with_limit(Limit::Unlimited);
        topology.add_loopbacks(&loopback);
        let transport = PacketTransport::new(topology, Bytes::new(38), 1).unwrap();
        Self { transport, events: EventQueue::new(), now: Time::ZERO, log: Vec::new() }
    }

    fn open(&mut self, from: u32, to: u32, server: Config) -> Handle {
        // Without Nagle's algorithm, which would hold last segments back for a delayed acknowledgement.
        let client = Config { nagle: false, ..Config::default() };
        let open = Open { owner: Owner::Cluster, user: 7, from, to, port: 80, via: None, client, server };
        self.transport.open(self.now, &open, &mut self.events)
    }
    fn send(&mut self, handle: Handle, end: End, bytes: u64, tag: u64) {
        let message = Message::new(Bytes::new(bytes), Tag(tag));
        self.transport.send(self.now, handle, end, message, &mut self.events);
    }
    fn close(&mut self, handle: Handle, end: End) {
        self.transport.close(self.now, handle, end, &mut self.events);
    }

    /// Runs until `until` or until nothing is left to happen, and balances the books.
    fn run(&mut self, until: Time) {
        loop {
            let mut upcalls: Vec<Upcall> = Vec::new();
            self.transport.take_upcalls(&mut upcalls);
            for upcall in upcalls {
                assert_eq!((upcall.owner, upcall.user), (Owner::Cluster, 7));
                self.log.push((self.now, upcall.what));
            }
            if self.events.next_time().is_none_or(|next| next > until) {
                break;
            }
            let Some(event) = self.events.pop() else { break };
            self.now = event.time();
            match event.kind() {
                ARRIVAL => self.transport.on_arrival(&event, &mut self.events),
                TRANSMISSION_DONE => self.transport.on_transmission_done(&event, &mut self.events),
                TIMER => self.transport.on_timer(&event, &mut self.events),
                kind => panic!("kind {kind}"),
            }
        }
        self.now = if until == Time::MAX { self.now } else { until };
        self.transport.ledger().unwrap();
    }

    fn happened(&self) -> Vec<Happened> {
        self.log.iter().map(|(_, what)| *what).collect()
    }
    fn when(&self, what: Happened) -> Time {
        self.log
            .iter()
            .find(|(_, happened)| *happened == what)
            .unwrap_or_else(|| panic!("no {what:?} in {:?}", self.log))
            .0
    }
}

const FAST: Time = Time::from_secs(1);

#[test]
fn messages_are_delivered_and_acknowledged_in_order_both_ways() {
    let mut driver = Driver::new(2);
    let handle = driver.open(0, 1, Config::default());
    for (tag, bytes) in [(1, 10), (2, 100_000), (3, 1)] {
        driver.send(handle, End::Client, bytes, tag);
    }
    driver.send(handle, End::Server, 5_000, 9);
    driver.run(FAST);
    assert_eq!(driver.log[0].1, Happened::Connected);
    // Two round trips of four links of 100 us, and what transmission takes.
    assert!(driver.log[0].0 > Time::from_us(400) && driver.log[0].0 < Time::from_us(450), "{}", driver.log[0].0);
    let happened = driver.happened();
    let delivered = happened.iter().filter(|what| matches!(what, Happened::Delivered(End::Server, _)));
    assert!(delivered.eq(&[1, 2, 3].map(|tag| Happened::Delivered(End::Server, Tag(tag)))));
    let acknowledged = happened.iter().filter(|what| matches!(what, Happened::Acknowledged(End::Client, _)));
    assert!(acknowledged.eq(&[1, 2, 3].map(|tag| Happened::Acknowledged(End::Client, Tag(tag)))));
    assert!(driver.happened().contains(&Happened::Delivered(End::Client, Tag(9))));
    // 100 kB at 100 Mbit/s: 8 ms and some.
    let took = driver.when(Happened::Delivered(End::Server, Tag(3)));
    assert!(took > Time::from_ms(8) && took < Time::from_ms(12), "{took}");
}

#[test]
fn closing_both_ends_frees_the_connection_and_leaves_a_record() {
    let mut driver = Driver::new(2);
    let handle = driver.open(0, 1, Config::default());
    driver.send(handle, End::Client, 20_000, 1);
    driver.close(handle, End::Client);
    driver.run(FAST);
    assert!(driver.happened().contains(&Happened::PeerClosed(End::Server)));
    driver.close(handle, End::Server);
    driver.run(FAST * 2);
    assert_eq!(*driver.happened().last().unwrap(), Happened::Gone { bytes: 20_000, bytes_back: 0 });
    let flow = driver.transport.flows().next().unwrap();
    assert_eq!((flow.from, flow.to, flow.port, flow.bytes, flow.reset), (0, 1, 80, 20_000, false));
    assert!(flow.ended.is_some() && flow.connected.is_some() && flow.rtt.unwrap() >= flow.least_rtt.unwrap());
    // The handle is stale: nothing happens to the connection that has taken the place.
    let next = driver.open(1, 0, Config::default());
    driver.close(handle, End::Client);
    driver.transport.abort(driver.now, handle, End::Client, &mut driver.events);
    driver.send(next, End::Client, 100, 5);
    driver.run(FAST * 3);
    assert!(driver.happened().contains(&Happened::Delivered(End::Server, Tag(5))));
    assert!(driver.transport.endpoint(handle, End::Client).is_none());
}

#[test]
fn a_paced_reader_closes_its_window_until_it_consumes() {
    let mut driver = Driver::new(2);
    let server = Config { auto_consume: false, receive_buffer: Bytes::new(65_536), ..Config::default() };
    let handle = driver.open(0, 1, server);
    driver.send(handle, End::Client, 200_000, 1);
    driver.run(FAST);
    let received = driver.transport.endpoint(handle, End::Server).unwrap().received();
    assert!(received <= 65_536 && received > 50_000, "{received}");
    for _ in 0..40 {
        let unread = driver.transport.endpoint(handle, End::Server).unwrap().unread();
        driver.transport.consume(driver.now, handle, End::Server, Bytes::new(unread), &mut driver.events);
        driver.run(driver.now + Time::from_ms(50));
    }
    assert!(driver.happened().contains(&Happened::Delivered(End::Server, Tag(1))));
    assert!(driver.transport.totals().zero_windows > 0);
}

#[test]
fn a_node_talks_to_itself_over_its_loopback() {
    let mut driver = Driver::new(2);
    let handle = driver.open(1, 1, Config::default());
    driver.send(handle, End::Client, 1_000_000, 1);
    driver.run(FAST);
    assert!(driver.when(Happened::Delivered(End::Server, Tag(1))) < Time::from_ms(5));
    let switch_port = driver.transport.topology().uplink(driver.transport.topology().hosts()[1]).unwrap();
    assert_eq!(driver.transport.link(switch_port).counters().packets, 0);
}

#[test]
fn an_abort_resets_the_peer_and_tells_only_it() {
    let mut driver = Driver::new(2);
    let handle = driver.open(0, 1, Config::default());
    driver.send(handle, End::Client, 10_000_000, 1);
    driver.run(Time::from_ms(20));
    driver.transport.abort(driver.now, handle, End::Client, &mut driver.events);
    driver.run(FAST);
    let after: Vec<_> = driver.happened().into_iter().skip(1).collect();
    assert!(matches!(after[..], [Happened::Reset(End::Server), Happened::Gone { .. }]), "{after:?}");
    assert!(driver.transport.flows().next().unwrap().reset);
}

#[test]
fn a_crashed_node_is_silent_and_after_its_return_resets_old_connections() {
    let mut driver = Driver::new(2);
    let handle = driver.open(0, 1, Config::default());
    driver.send(handle, End::Client, 10_000_000, 1);
    driver.run(Time::from_ms(50));
    driver.transport.node_down(driver.now, 1, &mut driver.events);
    let crashed = driver.now;
    driver.run(crashed + Time::from_secs(2));
    assert_eq!(driver.happened(), [Happened::Connected], "nobody notices at once");
    driver.transport.node_up(driver.now, 1, &mut driver.events);
    driver.run(crashed + Time::from_secs(10));
    assert!(
        matches!(driver.happened()[1..], [Happened::Reset(End::Client), Happened::Gone { .. }]),
        "{:?}",
        driver.log
    );
    // And a new connection works.
    let again = driver.open(0, 1, Config::default());
    driver.send(again, End::Client, 100, 2);
    driver.run(crashed + Time::from_secs(11));
    assert!(driver.happened().contains(&Happened::Delivered(End::Server, Tag(2))));
}

#[test]
fn opening_to_a_dead_node_fails_after_the_retries() {
    let mut driver = Driver::new(2);
    driver.transport.node_down(Time::ZERO, 1, &mut driver.events);
    driver.open(0, 1, Config { syn_retries: 6, ..Config::default() });
    driver.run(Time::MAX);
    assert!(matches!(driver.happened()[..], [Happened::Reset(End::Client), Happened::Gone { .. }]), "{:?}", driver.log);
    // 1 + 2 + 4 + 8 + 16 + 32 + 64 s.
    assert!(driver.now >= Time::from_secs(127) && driver.now < Time::from_secs(128), "{}", driver.now);
}

#[test]
fn a_connection_survives_a_short_outage_of_its_link() {
    let mut driver = Driver::new(2);
    let handle = driver.open(0, 1, Config::default());
    driver.send(handle, End::Client, 10_000_000, 1);
    driver.run(Time::from_ms(100));
    let link = LinkId(2);
    driver.transport.set_link_up(driver.now, link, false, &mut driver.events);
    driver.run(Time::from_ms(600));
    assert!(driver.transport.ledger().unwrap().lost_down > 0);
    driver.transport.set_link_up(driver.now, link, true, &mut driver.events);
    driver.run(Time::from_secs(5));
    let done = driver.when(Happened::Delivered(End::Server, Tag(1)));
    // 0.8 s of transmission, half a second of outage, and what is left of a backed-off timeout.
    assert!(done > Time::from_ms(1_300) && done < Time::from_ms(2_200), "{done}");
}

#[test]
fn captured_packets_tell_the_whole_conversation() {
    let mut driver = Driver::new(2);
    driver.transport.capture(LinkId(0));
    let handle = driver.open(0, 1, Config::default());
    driver.send(handle, End::Client, 5_000, 1);
    driver.close(handle, End::Client);
    driver.run(FAST);
    driver.close(handle, End::Server);
    driver.run(FAST * 2);
    let captured = driver.transport.take_captured();
    assert_eq!(captured.iter().map(|packet| u64::from(packet.segment.len)).sum::<u64>(), 5_000);
    assert!(captured.is_sorted_by_key(|packet| packet.at));
    assert!(captured[0].segment.flags.contains(tcp::Flags::SYN) && captured[0].at == Time::ZERO);
    assert!(captured.iter().all(|packet| (packet.from, packet.to, packet.to_port) == (0, 1, 80)));
    assert_eq!(captured.len() as u64, driver.transport.link(LinkId(0)).counters().packets);
}
