//! A model test: two sessions and an adversary. The adversary delays, repeats and kills streams, drops datagrams with
//! them, and stops programs from reading. What holds whatever it does:
//! - Delivery and order: each byte arrives once and in order, each datagram at most once.
//! - Memory: what a session holds, and what its peer may still make it hold, stays within what was promised.
//! - Fairness: a connection whose program reads makes progress, and a new one is served at once, whatever others leave
//!   unread.

use crate::support::sessions::{Net, Plan, destination, settings};
use proptest::prelude::*;
use proptest::sample::Index;
use std::collections::BTreeSet;
use stripe::session::{Arrived, Carriage, FIRST_ALLOWANCE, Pool, Settings};
use stripe::{Config, StreamId};
use units::{Bytes, Time};

/// Memory of a session in each direction, small beside what the adversary leaves unread.
const MEMORY: u64 = 8 << 20;
const NEAR: usize = 0;
const FAR: usize = 1;

/// Settings with the initial credit of gateways.
fn gateways() -> Settings {
    let settings = settings();
    let first = Bytes::from_mib(1);
    Settings {
        connection: Config { credit: first, peer_credit: first, ..settings.connection },
        memory: MEMORY,
        datagrams: Some(Carriage { wait: Time::from_ms(100), flows: 10 }),
        ..settings
    }
}

/// Actions of the adversary.
#[derive(Clone, Debug)]
enum Act {
    /// Opens a connection that writes so many kilobytes up and down.
    Open([u64; 2]),
    /// Sets the bytes that a program reads per millisecond: none, some, or without limit.
    Pace(Index, usize, Option<u64>),
    /// Adds a stream of so many Mbit/s and milliseconds.
    Add(u64, u64),
    Delay(Index, u64),
    Repeat(Index, bool),
    Break(Index, usize),
    Swallow(Index),
    Drain(Index),
    Datagrams(u8),
}

fn act() -> impl Strategy<Value = Act> {
    let pace = prop_oneof![4 => Just(Some(0)), 1 => (1_u64..100).prop_map(Some), 1 => Just(None)];
    prop_oneof![
        6 => prop::array::uniform2(0_u64..6_000).prop_map(Act::Open),
        6 => (any::<Index>(), 0_usize..2, pace).prop_map(|(which, side, pace)| Act::Pace(which, side, pace)),
        2 => (1_u64..200, 1_u64..60).prop_map(|(mbps, ms)| Act::Add(mbps, ms)),
        2 => (any::<Index>(), 1_u64..100).prop_map(|(which, ms)| Act::Delay(which, ms)),
        1 => any::<(Index, bool)>().prop_map(|(which, on)| Act::Repeat(which, on)),
        1 => (any::<Index>(), 0_usize..2).prop_map(|(which, side)| Act::Break(which, side)),
        1 => any::<Index>().prop_map(Act::Swallow),
        1 => any::<Index>().prop_map(Act::Drain),
        1 => any::<u8>().prop_map(Act::Datagrams),
    ]
}

/// The net, and what is recorded beside it.
struct Play {
    net: Net,
    pools: [std::sync::Arc<Pool>; 2],
    connections: Vec<u32>,
    flow: Option<u32>,
    datagrams_sent: u32,
    datagrams: BTreeSet<u32>,
}

impl Play {
    fn new() -> Self {
        let pools = [Pool::new(2 * MEMORY), Pool::new(2 * MEMORY)];
        let mut net = Net::with_pools([gateways(), gateways()], &pools);
        net.add(100, 10);
        net.run(50);
        Self { net, pools, connections: Vec::new(), flow: None, datagrams_sent: 0, datagrams: BTreeSet::new() }
    }
    fn open(&mut self, lengths: [u64; 2]) -> u32 {
        let connection = self.net.open(lengths);
        self.connections.push(connection);
        connection
    }
    fn plan(&mut self, connection: u32, side: usize) -> &mut Plan {
        self.net.sides[side].plans.get_mut(&connection).expect("opened")
    }
    fn do_act(&mut self, act: &Act) {
        let alive: Vec<StreamId> =
            self.net.pipes.iter().filter(|(_, pipe)| !pipe.swallows).map(|(id, _)| *id).collect();
        let stream = |which: &Index| (!alive.is_empty()).then(|| *which.get(&alive));
        match act {
            Act::Open(kilobytes) => drop(self.open(kilobytes.map(|length| length * 1000))),
            Act::Pace(which, side, pace) if !self.connections.is_empty() => {
                let connection = *which.get(&self.connections);
                self.plan(connection, *side).pace = *pace;
            }
            Act::Add(mbps, ms) => drop(self.net.add(*mbps, *ms)),
            Act::Delay(which, ms) => {
                if let Some(pipe) = stream(which).and_then(|id| self.net.pipes.get_mut(&id)) {
                    pipe.delay = Time::from_ms(*ms);
                }
            }
            Act::Repeat(which, on) => {
                if let Some(pipe) = stream(which).and_then(|id| self.net.pipes.get_mut(&id)) {
                    pipe.repeats = *on;
                }
            }
            Act::Break(which, side) => {
                if let Some(id) = stream(which) {
                    self.net.kill(id, *side);
                }
            }
            Act::Swallow(which) => {
                if let Some(pipe) = stream(which).and_then(|id| self.net.pipes.get_mut(&id)) {
                    pipe.swallows = true;
                }
            }
            Act::Drain(which) => {
                if let Some(id) = stream(which) {
                    self.net.sides[NEAR].session.drain_stream(self.net.now, id);
                }
            }
            Act::Datagrams(count) => {
                let (now, near) = (self.net.now, &mut self.net.sides[NEAR].session);
                self.flow = self.flow.or_else(|| near.open_flow(now, destination()).ok());
                for _ in 0..*count {
                    if let Some(flow) = self.flow {
                        near.send_datagram(now, flow, &self.datagrams_sent.to_be_bytes());
                        self.datagrams_sent += 1;
                    }
                }
            }
            Act::Pace(..) => {}
        }
    }
    /// Runs for `ms` milliseconds, and checks delivery, order and memory in each.
    fn run(&mut self, ms: u64) {
        for _ in 0..ms {
            // The net's programs check the order and value of bytes as they read them.
            self.net.run(1);
            while let Some(Arrived::Datagram(datagram)) =
                self.flow.map(|flow| self.net.sides[FAR].session.take_datagram(flow))
            {
                let number = u32::from_be_bytes(datagram.try_into().expect("as it was sent"));
                assert!(number < self.datagrams_sent && self.datagrams.insert(number), "datagram {number} again");
            }
            for side in [NEAR, FAR] {
                let (held, unread) = self.net.sides[side].session.memory();
                assert!(held.get() <= MEMORY && unread.get() <= MEMORY, "side {side} holds {held:?} and {unread:?}");
                // Both directions together are within the pool: what is promised to the peer, and what is held for
                // programs here.
                let taken = 2 * MEMORY - self.pools[side].free();
                assert!(taken <= held.get() + MEMORY.max(FIRST_ALLOWANCE), "side {side} has promised {taken}");
                assert!(taken >= held.get() + unread.get().min(MEMORY), "side {side} holds more than it has taken");
            }
        }
    }
    /// Milliseconds that a new connection takes to download so many bytes after a request.
    fn download(&mut self, bytes: u64) -> u64 {
        let connection = self.open([100, bytes]);
        for ms in 1..=10_000 {
            self.run(1);
            if self.plan(connection, NEAR).read == bytes {
                return ms;
            }
        }
        panic!("{} of {bytes} B after 10 s", self.plan(connection, NEAR).read);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_not_read_the_rest_goes_on(acts in prop::collection::vec((0_u64..60, act()), 1..60)) {
        let mut play = Play::new();
        for (wait, act) in &acts {
            play.do_act(act);
            play.run(*wait);
        }
        // From here on one stream carries 100 Mbit/s with a delay of 10 ms. The others break, and both ends find out.
        // How long that takes otherwise is not tested here.
        let streams: Vec<StreamId> = play.net.pipes.keys().copied().collect();
        play.net.add(100, 10);
        for id in streams {
            play.net.kill(id, NEAR);
            play.net.sides[FAR].session.lose_stream(play.net.now, id);
        }
        // What is read without limit ends after a while. What is read slowly goes on, and takes a small part of the
        // path.
        let is_read = |play: &Play| {
            let plans = play.net.sides.iter().flat_map(|side| side.plans.values());
            plans.filter(|plan| plan.pace.is_none()).all(|plan| plan.ended)
        };
        for _ in 0..100 {
            play.run(200);
            if is_read(&play) {
                break;
            }
        }
        prop_assert!(is_read(&play), "what is read makes no progress");
        // A request and its answer take a round trip of 20 ms. In each direction they may wait for 10 ms behind what
        // slow readers' data has put into the transport. The net's ticks add some milliseconds.
        let small = play.download(1000);
        prop_assert!(small < 45, "a small request takes {small} ms beside what is not read");
        // 3 MB take 240 ms at this rate, and two round trips.
        let large = play.download(3_000_000);
        prop_assert!(large < 500, "3 MB take {large} ms beside what is not read");
        // Everything is read now, and arrives.
        for side in [NEAR, FAR] {
            play.net.sides[side].plans.values_mut().for_each(|plan| plan.pace = None);
        }
        play.net.run_to_end(200_000);
        play.net.wait(130);
        play.net.check_end();
    }
}
