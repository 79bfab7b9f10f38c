//! Flow-level carriage, against times worked out by hand.
//!
//! Nodes hang on one switch by links of 100 Mbit/s and 1 ms. A message of 1,000,000 bytes in segments of 1,000 B of
//! payload is 1,000 segments of 40 B of headers each: 1,040,000 bytes on the wire, 83.2 ms at 100 Mbit/s. A segment
//! takes 83.2 us on each of the two links, an acknowledgement 3.2 us, a SYN of 60 B 4.8 us. So a handshake takes
//! 4.0192 ms, and a round trip of a segment 4.1728 ms: at 100 Mbit/s that is 50.2 segments. The last segment of a
//! message takes 83.2 us more on the second link. No queue overflows.

use des::EventQueue;
use net::{Limit, LinkSpec, Topology};
use tcp::Config;
use transport::{End, FlowTransport, Handle, Happened, Message, Open, Owner, Tag, Transport, Upcall};
use units::{BitRate, Bytes, Time};

struct Driver {
    transport: Transport,
    events: EventQueue,
    now: Time,
    told: Vec<(Time, Upcall)>,
}

impl Driver {
    fn new(hosts: usize) -> Self {
        Self::on(hosts, LinkSpec::new(BitRate::from_mbps(100), Time::from_ms(1)))
    }
    fn on(hosts: usize, link: LinkSpec) -> Self {
        let link = link.with_limit(Limit::Unlimited);
        let flows = FlowTransport::new(Topology::star(hosts, &link), Bytes::ZERO, 1);
        let transport = Transport::Flows(Box::new(flows));
        Self { transport, events: EventQueue::new(), now: Time::ZERO, told: Vec::new() }
    }
    fn open(&mut self, from: u32, to: u32, paced: Option<Bytes>) -> Handle {
        self.open_with(from, to, paced, 1_000)
    }
    fn open_with(&mut self, from: u32, to: u32, paced: Option<Bytes>, initial_window: u32) -> Handle {
        let client = Config { mss: 1_000, timestamps: false, initial_window, ..Config::default() };
        let server = match paced {
            Some(receive_buffer) => Config { auto_consume: false, receive_buffer, ..client },
            None => client,
        };
        let open = Open { owner: Owner::Cluster, user: 3, from, to, port: 80, via: None, client, server };
        self.transport.open(self.now, &open, &mut self.events)
    }
    fn send(&mut self, handle: Handle, end: End, bytes: u64, tag: u64) {
        let message = Message::new(Bytes::new(bytes), Tag(tag));
        self.transport.send(self.now, handle, end, message, &mut self.events);
    }
    /// Runs until nothing more happens, or to a time.
    fn run_to(&mut self, until: Time) {
        let mut told = Vec::new();
        loop {
            self.transport.take_upcalls(&mut told);
            self.told.extend(told.drain(..).map(|upcall| (self.now, upcall)));
            if self.events.next_time().is_none_or(|next| next > until) {
                break;
            }
            let Some(event) = self.events.pop() else { break };
            self.now = event.time();
            self.transport.on_event(&event, &mut self.events);
        }
        self.now = self.now.max(until);
        self.transport.pass(self.now);
    }
    fn when(&self, what: Happened) -> Option<Time> {
        self.told.iter().find(|(_, upcall)| upcall.what == what).map(|(at, _)| *at)
    }
}

const LONG: Time = Time::from_secs(10_000);

fn ms(ms: f64) -> Time {
    Time::from_secs_f64(ms / 1e3)
}

impl Driver {
    /// That something has happened at a time, to a microsecond.
    fn expect(&self, what: Happened, at: f64) {
        let found = self.when(what).map_or(f64::NAN, |at| at.as_secs_f64() * 1e3);
        assert!((found - at).abs() < 1e-3, "{what:?} at {found} ms, not {at}");
    }
}

/// The handshake, the bytes on the wire, the last segment's second link, and the delay.
#[test]
fn a_message_takes_its_handshake_its_bytes_and_the_delay() {
    let mut run = Driver::new(2);
    let handle = run.open(0, 1, None);
    run.send(handle, End::Client, 1_000_000, 7);
    run.run_to(LONG);
    run.expect(Happened::Connected, 4.0192);
    run.expect(Happened::Delivered(End::Server, Tag(7)), 4.0192 + 83.2 + 0.0832 + 2.0);
    run.expect(Happened::Acknowledged(End::Client, Tag(7)), 4.0192 + 83.2 + 0.0832 + 2.0 + 2.0064);
    let interfaces = run.transport.interfaces();
    assert_eq!((interfaces[0].sent.get(), interfaces[1].received.get()), (1_040_000, 1_040_000));
    // An acknowledgement of 40 B for every second segment.
    assert_eq!((interfaces[1].sent.get(), interfaces[0].received.get()), (20_000, 20_000));
    assert!(run.transport.packets().is_none(), "queues are not modelled");
}

/// From ten segments the window doubles with each round trip: 10, 20 and 40 segments take one each. The next, 80, is
/// more than the path holds: 930 segments go at its rate.
#[test]
fn slow_start_takes_its_rounds() {
    let mut run = Driver::new(2);
    let handle = run.open_with(0, 1, None, 10);
    run.send(handle, End::Client, 1_000_000, 7);
    run.run_to(LONG);
    run.expect(Happened::Delivered(End::Server, Tag(7)), 4.0192 + 3.0 * 4.1728 + 930.0 * 0.0832 + 0.0832 + 2.0);
}

/// A receiver's buffer of 20,000 B is 20 segments per round trip: a million bytes take 50 of 4.1728 ms, the last of them
/// only until its segments have left.
#[test]
fn a_receive_buffer_sets_the_rate() {
    let mut run = Driver::new(2);
    let config = Config { mss: 1_000, timestamps: false, initial_window: 1_000, ..Config::default() };
    let server = Config { receive_buffer: Bytes::new(20_000), window_scaling: false, ..config };
    let open = Open { owner: Owner::Cluster, user: 3, from: 0, to: 1, port: 80, via: None, client: config, server };
    let handle = run.transport.open(run.now, &open, &mut run.events);
    run.send(handle, End::Client, 1_000_000, 7);
    run.run_to(LONG);
    run.expect(Happened::Delivered(End::Server, Tag(7)), 4.0192 + 50.0 * 4.1728 + 0.0832 + 2.0);
}

/// What has arrived of a stream without end is asked at any time: at 1 s that of 1 s less the handshake at 100 Mbit/s.
#[test]
fn a_stream_without_end_arrives_as_time_passes() {
    let mut run = Driver::new(2);
    let handle = run.open(0, 1, None);
    run.send(handle, End::Client, 1 << 60, 7);
    run.run_to(Time::from_secs(1));
    let received = run.transport.received(handle, End::Server).map_or(0.0, |bytes| bytes as f64);
    let expected = (1.0 - 0.004_019_2) * 12.5e6 / 1.04;
    assert!((received / expected - 1.0).abs() < 1e-4, "{received}, not {expected}");
    assert_eq!(run.transport.last_received(handle, End::Server), run.now);
}

/// Beside a stream that fills the receiver's link, four segments go by themselves, one after the other: 332.8 us. Five
/// have a half of the link.
#[test]
fn a_message_of_a_few_segments_takes_no_share() {
    for (segments, takes) in [(4, 4.0), (5, 10.0)] {
        let mut run = Driver::new(3);
        let stream = run.open(0, 1, None);
        run.send(stream, End::Client, 1 << 60, 1);
        let handle = run.open(2, 1, None);
        run.run_to(Time::from_secs(1));
        run.send(handle, End::Client, segments * 1_000, 7);
        run.run_to(Time::from_secs(2));
        run.expect(Happened::Delivered(End::Server, Tag(7)), 1_000.0 + takes * 0.0832 + 0.0832 + 2.0);
    }
}

/// At 1 Mbit/s and 50 us a segment takes 8.32 ms on a link, and a round trip of it 17.48 ms, in which 2,185 B leave: two
/// segments, 2,080 B. Of three the first is acknowledged before the last leaves, and they have a half of the link.
#[test]
fn a_message_that_outlasts_a_round_trip_has_its_share() {
    for (segments, takes) in [(2, 2.0), (3, 6.0)] {
        let mut run = Driver::on(3, LinkSpec::new(BitRate::from_mbps(1), Time::from_us(50)));
        let stream = run.open_with(0, 1, None, 10);
        run.send(stream, End::Client, 1 << 60, 1);
        let handle = run.open(2, 1, None);
        run.run_to(Time::from_secs(1));
        run.send(handle, End::Client, segments * 1_000, 7);
        run.run_to(Time::from_secs(2));
        run.expect(Happened::Delivered(End::Server, Tag(7)), 1_000.0 + takes * 8.32 + 8.32 + 0.1);
    }
}

/// Two senders to one node share its link: both messages arrive when it has taken in two million bytes.
#[test]
fn what_comes_together_shares_the_receivers_link() {
    let mut run = Driver::new(3);
    for (from, tag) in [(0, 1), (1, 2)] {
        let handle = run.open(from, 2, None);
        run.send(handle, End::Client, 1_000_000, tag);
    }
    run.run_to(LONG);
    run.expect(Happened::Delivered(End::Server, Tag(1)), 4.0192 + 166.4 + 0.0832 + 2.0);
    run.expect(Happened::Delivered(End::Server, Tag(2)), 4.0192 + 166.4 + 0.0832 + 2.0);
}

/// Messages each way between two nodes share no link but for their acknowledgements: 40 B for 2,080 B take 1.923 %.
#[test]
fn acknowledgements_take_their_part() {
    let mut run = Driver::new(2);
    for (from, to, tag) in [(0, 1, 1), (1, 0, 2)] {
        let handle = run.open(from, to, None);
        run.send(handle, End::Client, 1_000_000, tag);
    }
    run.run_to(LONG);
    for tag in [1, 2] {
        run.expect(Happened::Delivered(End::Server, Tag(tag)), 4.0192 + 83.2 * (1.0 + 20.0 / 1_040.0) + 0.0832 + 2.0);
    }
}

/// A paced reader with room for one message gets the second when it has taken the first.
#[test]
fn a_paced_reader_holds_its_sender_back() {
    let mut run = Driver::new(2);
    let handle = run.open(0, 1, Some(Bytes::new(1_000_000)));
    run.send(handle, End::Client, 1_000_000, 1);
    run.send(handle, End::Client, 1_000_000, 2);
    run.run_to(Time::from_secs(1));
    assert_eq!(run.when(Happened::Delivered(End::Server, Tag(2))), None);
    run.transport.consume(run.now, handle, End::Server, Bytes::new(1_000_000), &mut run.events);
    run.run_to(LONG);
    run.expect(Happened::Delivered(End::Server, Tag(2)), 1_000.0 + 83.2 + 0.0832 + 2.0);
}

/// Both ends close after their last message, and the connection is gone with what it carried.
#[test]
fn a_connection_ends_when_both_streams_have() {
    let mut run = Driver::new(2);
    let handle = run.open(0, 1, None);
    run.send(handle, End::Client, 1_000_000, 1);
    run.transport.close(run.now, handle, End::Client, &mut run.events);
    run.run_to(Time::from_secs(1));
    run.expect(Happened::PeerClosed(End::Server), 4.0192 + 83.2 + 0.0832 + 2.0);
    run.send(handle, End::Server, 1_000, 2);
    run.transport.close(run.now, handle, End::Server, &mut run.events);
    run.run_to(LONG);
    assert!(run.when(Happened::Gone { bytes: 1_000_000, bytes_back: 1_000 }).is_some(), "{:?}", run.told);
    assert!(run.transport.received(handle, End::Server).is_none(), "the handle is stale");
}

/// What was sent before both ends closed arrives, though the end of the other stream has come long before.
#[test]
fn closing_both_ends_cuts_nothing_off() {
    let mut run = Driver::new(2);
    let handle = run.open(0, 1, None);
    run.send(handle, End::Client, 1_000_000, 1);
    run.transport.close(run.now, handle, End::Client, &mut run.events);
    run.transport.close(run.now, handle, End::Server, &mut run.events);
    run.run_to(LONG);
    run.expect(Happened::PeerClosed(End::Client), 4.0192 + 2.0);
    let there = 4.0192 + 83.2 + 0.0832 + 2.0;
    run.expect(Happened::Delivered(End::Server, Tag(1)), there);
    run.expect(Happened::PeerClosed(End::Server), there);
    run.expect(Happened::Acknowledged(End::Client, Tag(1)), there + 2.0064);
    run.expect(Happened::Gone { bytes: 1_000_000, bytes_back: 0 }, there + 2.0064);
}

/// What both ends sent before both closed arrives. Each way carries 1,040,000 B until the shorter message has left, and
/// 40 B of acknowledgements for every 2,080 B of the other's; then the longer one has its link for itself, with
/// 2,000,000 B in all.
#[test]
fn closing_both_ends_cuts_nothing_off_either_way() {
    let mut run = Driver::new(2);
    let handle = run.open(0, 1, None);
    for (end, bytes) in [(End::Client, 1_000_000), (End::Server, 2_000_000)] {
        run.send(handle, end, bytes, 1);
        run.transport.close(run.now, handle, end, &mut run.events);
    }
    run.run_to(LONG);
    let shared = 83.2 * (1.0 + 40.0 / 2_080.0);
    run.expect(Happened::Delivered(End::Server, Tag(1)), 4.0192 + shared + 0.0832 + 2.0);
    run.expect(Happened::Delivered(End::Client, Tag(1)), 4.0192 + shared + 83.2 + 0.0832 + 2.0);
    assert!(run.when(Happened::Gone { bytes: 1_000_000, bytes_back: 2_000_000 }).is_some(), "{:?}", run.told);
}

/// Nobody answers a SYN to a node that is down: after 1 + 2 + 4 + 8 + 16 + 32 + 64 s the connection is given up
/// (RFC 6298 with six retries of the SYN, as Linux has them).
#[test]
fn a_node_that_is_down_refuses_nothing_and_answers_nothing() {
    let mut run = Driver::new(2);
    run.transport.set_node(run.now, 1, false, &mut run.events);
    let handle = run.open(0, 1, None);
    run.send(handle, End::Client, 1_000, 1);
    run.run_to(LONG);
    assert_eq!(run.when(Happened::Reset(End::Client)), Some(Time::from_secs(127)));
}

/// A node that crashes takes its ends with it; what was on the way to it is not delivered, and its peer gives up.
#[test]
fn a_crash_ends_connections_without_a_word() {
    let mut run = Driver::new(2);
    let handle = run.open(0, 1, None);
    run.send(handle, End::Client, 1_000_000, 1);
    run.run_to(Time::from_ms(50));
    run.transport.set_node(run.now, 1, false, &mut run.events);
    run.run_to(LONG);
    assert_eq!(run.when(Happened::Delivered(End::Server, Tag(1))), None);
    assert!(run.when(Happened::Reset(End::Client)).is_some(), "{:?}", run.told);
    let records = run.transport.flows();
    assert!(records.len() == 1 && records[0].reset && records[0].ended.is_some(), "{records:?}");
}

/// A reset reaches the other end a delay later.
#[test]
fn an_abort_resets_the_peer() {
    let mut run = Driver::new(2);
    let handle = run.open(0, 1, None);
    run.run_to(Time::from_ms(10));
    run.transport.abort(run.now, handle, End::Server, &mut run.events);
    run.run_to(LONG);
    assert_eq!(run.when(Happened::Reset(End::Client)), Some(ms(12.0)));
}
