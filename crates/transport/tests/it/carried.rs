//! Connections that go by packets for a while: nothing is lost or told twice on the way there and back.

use des::EventQueue;
use net::{Limit, LinkSpec, Topology};
use proptest::prelude::*;
use std::collections::BTreeMap;
use tcp::Config;
use transport::{End, FlowTransport, Handle, Happened, Message, Open, Owner, Tag, Transport, Upcall};
use units::{BitRate, Bytes, Time};

const SENDERS: u32 = 8;
const LONG: Time = Time::from_secs(10_000);

/// Eight senders and a receiver, node 0, whose port at the switch holds 16 packets.
struct Run {
    transport: Transport,
    events: EventQueue,
    now: Time,
    told: Vec<(Time, Upcall)>,
    handles: Vec<Handle>,
}

impl Run {
    fn new(receive_buffer: Option<Bytes>) -> Self {
        let link = LinkSpec::new(BitRate::from_mbps(100), Time::from_us(50)).with_limit(Limit::Packets(16));
        let flows = FlowTransport::new(Topology::star(SENDERS as usize + 1, &link), Bytes::ZERO, 1);
        let (transport, events) = (Transport::Flows(Box::new(flows)), EventQueue::new());
        let mut run = Self { transport, events, now: Time::ZERO, told: Vec::new(), handles: Vec::new() };
        let client = Config::default();
        let server = match receive_buffer {
            Some(receive_buffer) => Config { auto_consume: false, receive_buffer, ..client },
            None => client,
        };
        for user in 0..SENDERS {
            let (owner, from) = (Owner::Cluster, user + 1);
            let open = Open { owner, user, from, to: 0, port: 80, via: None, client, server };
            let handle = run.transport.open(run.now, &open, &mut run.events);
            run.handles.push(handle);
        }
        run
    }
    fn send(&mut self, sender: usize, end: End, bytes: u64, tag: u64) {
        let message = Message::new(Bytes::new(bytes), Tag(tag));
        self.transport.send(self.now, self.handles[sender], end, message, &mut self.events);
    }
    /// Runs to a time, or until nothing more happens. What is delivered to a paced reader is read.
    fn run_to(&mut self, until: Time, paced: &BTreeMap<u64, Bytes>) {
        let mut told = Vec::new();
        loop {
            self.transport.take_upcalls(&mut told);
            for upcall in std::mem::take(&mut told) {
                if let Happened::Delivered(End::Server, tag) = upcall.what
                    && let Some(bytes) = paced.get(&tag.0)
                {
                    self.transport.consume(self.now, upcall.handle, End::Server, *bytes, &mut self.events);
                }
                self.told.push((self.now, upcall));
            }
            if self.events.next_time().is_none_or(|next| next > until) {
                break;
            }
            let Some(event) = self.events.pop() else { break };
            self.now = event.time();
            self.transport.pass(self.now);
            self.transport.on_event(&event, &mut self.events);
        }
        self.now = self.now.max(until);
    }
    fn carried(&self) -> u64 {
        self.transport.overflow().map_or(0, |overflow| overflow.carried.get())
    }
    fn count(&self, what: impl Fn(&Happened) -> bool) -> usize {
        self.told.iter().filter(|(_, upcall)| what(&upcall.what)).count()
    }
}

/// Eight windows of ten segments do not fit into 16 places: they go by packets, and a loss waits for its timeout of
/// 200 ms.
#[test]
fn what_overflows_a_queue_goes_by_packets() {
    let mut run = Run::new(None);
    (0..8).for_each(|sender| run.send(sender, End::Client, 20_000, 1));
    run.run_to(LONG, &BTreeMap::new());
    assert_eq!(run.count(|what| *what == Happened::Delivered(End::Server, Tag(1))), 8);
    assert!(run.carried() >= 8 * 10_000, "{}", run.carried());
    let last = run.told.iter().filter(|(_, upcall)| matches!(upcall.what, Happened::Delivered(..))).map(|(at, _)| *at);
    assert!(last.max() > Some(Time::from_ms(200)));
}

/// A thousand rounds of larger messages are more than packets may take the time for: the later ones flow and wait for
/// no timeout. Nothing is lost on the way.
#[test]
fn what_packets_have_no_time_for_flows() {
    const ROUNDS: u64 = 1_000;
    let mut run = Run::new(None);
    let mut took = Time::ZERO;
    for round in 0..ROUNDS {
        let began = run.now;
        (0..8).for_each(|sender| run.send(sender, End::Client, 100_000, round));
        run.run_to(began + Time::from_secs(20), &BTreeMap::new());
        let delivered = |(_, upcall): &&(Time, Upcall)| upcall.what == Happened::Delivered(End::Server, Tag(round));
        let last = run.told.iter().rev().take(200).filter(delivered).map(|(at, _)| *at).max();
        took = last.map_or(Time::MAX, |last| last - began);
    }
    assert_eq!(run.count(|what| matches!(what, Happened::Delivered(..))), 8 * ROUNDS as usize);
    assert_eq!(run.count(|what| matches!(what, Happened::Acknowledged(..))), 8 * ROUNDS as usize);
    assert!(run.transport.overflow().is_some_and(|overflow| overflow.spent.is_some()));
    // 8 * 100,000 B in segments of 1,448 B are 560 segments of 52 B of headers: 66.3 ms.
    assert!(took < Time::from_ms(80), "{took}");
}

/// The receiver crashes while packets are under way: nobody hears of it, and the senders give up.
#[test]
fn a_crash_meets_packets_under_way() {
    let mut run = Run::new(None);
    (0..8).for_each(|sender| run.send(sender, End::Client, 400_000, 1));
    run.run_to(Time::from_ms(20), &BTreeMap::new());
    assert!(run.carried() > 0);
    run.transport.set_node(run.now, 0, false, &mut run.events);
    run.run_to(LONG, &BTreeMap::new());
    assert_eq!(run.count(|what| matches!(what, Happened::Delivered(..))), 0);
    assert_eq!(run.count(|what| *what == Happened::Reset(End::Client)), 8);
    assert!(run.transport.flows().iter().all(|record| record.ended.is_some()));
}

/// An abort while packets are under way resets the peer, and the others go on.
#[test]
fn an_abort_meets_packets_under_way() {
    let mut run = Run::new(None);
    (0..8).for_each(|sender| run.send(sender, End::Client, 200_000, 1));
    run.run_to(Time::from_ms(20), &BTreeMap::new());
    assert!(run.carried() > 0);
    run.transport.abort(run.now, run.handles[3], End::Client, &mut run.events);
    run.run_to(LONG, &BTreeMap::new());
    let reset: Vec<u32> =
        run.told.iter().filter(|(_, t)| t.what == Happened::Reset(End::Server)).map(|(_, t)| t.user).collect();
    assert_eq!(reset, [3]);
    assert_eq!(run.count(|what| *what == Happened::Delivered(End::Server, Tag(1))), 7);
}

/// A byte is sent while the last segment of the message before it is under way, and goes by packets: they are delivered
/// in order.
#[test]
fn packets_do_not_overtake_what_flowed_before() {
    let mut run = Run::new(None);
    run.send(3, End::Client, 121_505, 0);
    run.run_to(Time::from_us(9_901), &BTreeMap::new());
    run.send(3, End::Client, 1, 1);
    run.run_to(Time::from_us(9_901 + 389), &BTreeMap::new());
    (0..2).for_each(|number| run.send(0, End::Client, 1, 2 + number));
    run.run_to(LONG, &BTreeMap::new());
    let delivered = |(_, upcall): &(Time, Upcall)| match upcall.what {
        Happened::Delivered(End::Server, Tag(tag)) if upcall.user == 3 => Some(tag),
        _ => None,
    };
    assert_eq!(run.told.iter().filter_map(delivered).collect::<Vec<u64>>(), [0, 1]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever is sent when, each message is delivered and acknowledged once, in order; the bytes at the ends are
    /// those that were sent; and connections end. With a paced reader, too.
    #[test]
    fn bytes_are_conserved(
        sends in prop::collection::vec((0..8_usize, any::<bool>(), 1..400_000_u64, 0..20_000_u64), 1..60),
        buffer in prop::option::of(10_000..500_000_u64),
    ) {
        let mut run = Run::new(buffer.map(Bytes::new));
        let (mut sent, mut sizes) = (BTreeMap::<(usize, bool), Vec<u64>>::new(), BTreeMap::new());
        let none = BTreeMap::new();
        for (number, (sender, back, bytes, pause)) in (0..).zip(&sends) {
            let end = if *back { End::Server } else { End::Client };
            if !back && buffer.is_some() {
                sizes.insert(number, Bytes::new(*bytes));
            }
            sent.entry((*sender, *back)).or_default().push(number);
            run.send(*sender, end, *bytes, number);
            let until = run.now + Time::from_us(*pause);
            run.run_to(until, if buffer.is_some() { &sizes } else { &none });
        }
        run.run_to(LONG, &sizes);
        for sender in 0..8 {
            for end in [End::Client, End::Server] {
                run.transport.close(run.now, run.handles[sender], end, &mut run.events);
            }
        }
        run.run_to(LONG * 2, &sizes);
        for sender in 0..8_usize {
            let of = |want: fn(Happened) -> Option<u64>| -> Vec<u64> {
                let mine = run.told.iter().filter(|(_, upcall)| upcall.user as usize == sender);
                mine.filter_map(|(_, upcall)| want(upcall.what)).collect()
            };
            let numbers = |back| sent.get(&(sender, back)).cloned().unwrap_or_default();
            let there = of(|what| if let Happened::Delivered(End::Server, Tag(tag)) = what { Some(tag) } else { None });
            let back = of(|what| if let Happened::Delivered(End::Client, Tag(tag)) = what { Some(tag) } else { None });
            prop_assert_eq!(there, numbers(false));
            prop_assert_eq!(back, numbers(true));
            let sum = |back| numbers(back).iter().map(|number| sends[*number as usize].2).sum::<u64>();
            let gone = of(|what| if let Happened::Gone { bytes, .. } = what { Some(bytes) } else { None });
            prop_assert_eq!(gone, [sum(false)]);
        }
    }
}
