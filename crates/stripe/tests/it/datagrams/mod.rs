//! Two sessions, the streams between them, and flows of datagrams. Whatever happens to streams, each datagram arrives
//! at most once and unaltered, none leaves after its deadline, no flow starves, and connections get their part.

mod net;

use net::{CARRIAGE, Net, POOL, settings, somewhere};
use proptest::prelude::*;
use stripe::optimizer::Tuner;
use stripe::session::{Arrived, Carriage, Gauge, Pool, Role, Session};
use stripe::wire::{Data, Datagram, Frame, FrameReader, Item, MAX_DATAGRAM};
use stripe::{StreamId, Violation};
use units::{Bytes, Time};

/// P-41: datagrams name the destination until it is known, so that whichever comes first opens the flow.
#[test]
fn a_flow_is_opened_by_its_first_datagram_and_answers_come_back() {
    let mut net = Net::both();
    net.echoes = true;
    net.add(100_000, 20);
    // A datagram waits until the peer has said that it carries datagrams.
    let flow = net.flow();
    assert!(net.offer(0, flow, 40));
    net.run(30);
    assert_eq!(net.sides[0].tally().sent, 1);
    net.run(10);
    assert!(net.offer(0, flow, MAX_DATAGRAM));
    // 65 KB take 5 ms in each direction, and the path takes 20 ms.
    net.run(55);
    assert_eq!((net.heard(1, flow), net.heard(0, flow)), (2, 2));
    let mut said = Vec::new();
    net.offer(0, flow, 1000);
    net.sides[0].flush(net.now);
    net.sides[0].take(net.now, StreamId(1), &mut said, 1 << 16);
    assert_eq!(said.len(), 1020, "the far end knows by now where the flow leads");
}

/// P-40: a peer that has not said that it carries datagrams is sent none. It would skip them.
#[test]
fn a_peer_that_carries_no_datagrams_hears_of_none() {
    let mut net = Net::new(Some(CARRIAGE), None);
    net.add(100_000, 20);
    let flow = net.flow();
    assert!(net.offer(0, flow, 100));
    net.run(150);
    let tally = net.sides[0].tally();
    assert_eq!((tally.sent, tally.late, net.sides[0].peer_flows()), (0, 1, None));
    // An end that does not carry datagrams skips those that arrive.
    let frame = Frame::Datagram(Datagram { to: Some(somewhere()), payload: vec![7; 100] });
    let known = [frame, Frame::Forget { code: 0 }];
    for frame in known {
        net.sides[1].on_item(net.now, StreamId(1), &Item::Frame { connection: 1, frame }).expect("skipped");
    }
    net.sides[1].flush(net.now);
    assert_eq!((net.sides[1].flow_count(), net.sides[1].unsent_control()), (0, 0));
    assert!(net.sides[1].open_flow(net.now, somewhere()).is_err() && net.sides[1].effects().flow_openings.is_empty());
    net.check_end();
}

/// P-42, P-43: a stream that stands still holds up only what it has taken.
#[test]
fn a_stream_that_stands_still_delays_only_what_it_has() {
    let mut net = Net::both();
    let streams = [net.add(20_000, 20), net.add(20_000, 20), net.add(20_000, 20), net.add(20_000, 20)];
    let flow = net.flow();
    net.offer(0, flow, 100);
    net.run(60);
    net.stall(streams[0], 400);
    // Voice: 160 bytes every 20 ms, for 200 ms.
    for _ in 0..10 {
        net.offer(0, flow, 160);
        net.run(20);
    }
    net.run(30);
    assert!(net.heard(1, flow) >= 10, "{} of 11 in time", net.heard(1, flow));
    net.run(300);
    assert_eq!((net.heard(1, flow), net.sides[0].tally().late), (11, 0));
    net.check_end();
}

/// P-24, P-43: a proxy acknowledges the bytes of one stream and passes nothing on. By TCP's measurements that stream is
/// the best. It is asked 0.5 s after the first datagram, and gets no more when it has not answered for another 0.5 s.
/// The far end finds out with its own answers, another second later.
#[test]
fn a_stream_that_acknowledges_and_delivers_nothing_loses_a_second_of_datagrams() {
    for echoes in [false, true] {
        let mut net = Net::both();
        net.echoes = echoes;
        net.add(20_000, 20);
        let best = net.add(20_000, 10);
        net.run(60);
        net.swallow(best);
        let flow = net.flow();
        // Voice: 160 bytes every 20 ms, for 4 s.
        for _ in 0..200 {
            net.offer(0, flow, 160);
            net.run(20);
        }
        net.run(100);
        // A second is 50 datagrams. A few milliseconds more may be one datagram.
        let heard = [net.heard(1, flow), net.heard(0, flow)];
        assert!((149..=151).contains(&heard[0]), "{heard:?}");
        assert!(!echoes || (98..=101).contains(&heard[1]), "{heard:?}");
        net.check_end();
    }
}

/// P-24: the only stream is used even if it does not answer.
#[test]
fn the_only_stream_is_used_though_it_does_not_answer() {
    let mut net = Net::both();
    let only = net.add(20_000, 10);
    net.run(60);
    net.swallow(only);
    let flow = net.flow();
    for _ in 0..200 {
        net.offer(0, flow, 160);
        net.run(20);
    }
    assert_eq!((net.sides[0].tally().sent, net.sides[0].tally().late), (200, 0));
}

/// P-42: what only a dead stream had is lost, and not sent again.
#[test]
fn a_dead_stream_takes_its_datagrams_with_it() {
    let mut net = Net::both();
    let first = net.add(1_000, 50);
    let flow = net.flow();
    net.run(120);
    for _ in 0..5 {
        net.offer(0, flow, 1000);
    }
    // The datagrams have left, and have a part of the delay still to go.
    net.run(45);
    net.kill(first);
    net.add(1_000, 50);
    net.offer(0, flow, 1000);
    net.run(300);
    assert_eq!(net.heard(1, flow), 1);
    assert_eq!(net.sides[0].tally().sent, 6);
    net.check_end();
}

/// P-43: a datagram that no stream takes in time is dropped and counted.
#[test]
fn what_waits_too_long_is_dropped() {
    let mut net = Net::both();
    let only = net.add(100_000, 5);
    let flow = net.flow();
    net.offer(0, flow, 100);
    net.run(30);
    net.stall(only, 500);
    for _ in 0..10 {
        net.offer(0, flow, 100);
    }
    net.run(99);
    assert_eq!(net.sides[0].tally().late, 0);
    net.run(2);
    assert_eq!(net.sides[0].tally().late, 10);
    assert_eq!(net.sides[0].memory().0, Bytes::ZERO);
    net.run(500);
    net.offer(0, flow, 100);
    net.run(20);
    assert_eq!(net.heard(1, flow), 2);
    net.check_end();
}

/// A flood of long datagrams in some flows offers many times the rate of the streams. A flow with few datagrams loses
/// none, and the others share equally.
#[test]
fn flows_share_by_bytes() {
    let mut net = Net::both();
    net.add(20_000, 20);
    net.add(20_000, 20);
    let quiet = net.flow();
    let floods = [net.flow(), net.flow(), net.flow()];
    let mut asked = 0;
    for ms in 0..3000 {
        for (place, flow) in floods.iter().enumerate() {
            // 80, 160 and 240 Mbit/s in datagrams of 10, 20 and 30 KB.
            net.offer(0, *flow, 10_000 * (place + 1));
        }
        if ms % 20 == 0 {
            asked += 1;
            net.offer(0, quiet, 60);
        }
        net.step();
    }
    net.run(200);
    assert_eq!(net.heard(1, quiet), asked, "{:?}", net.sides[0].tally());
    let got: Vec<usize> = (0..3).map(|place| net.heard(1, floods[place]) * (place + 1) * 10_000).collect();
    // 40 Mbit/s for three seconds are 15 MB.
    let all: usize = got.iter().sum();
    assert!((12_000_000..15_500_000).contains(&all), "{all}");
    for bytes in &got {
        assert!((bytes * 3).abs_diff(all) < all / 10, "{got:?}");
    }
    net.check_end();
}

/// P-43: connections have half of the streams where datagrams want more than half.
#[test]
fn a_flood_leaves_connections_their_half() {
    let carried = |floods: bool| {
        let mut net = Net::both();
        net.add(50_000, 10);
        net.add(50_000, 10);
        let connection = net.sides[0].connect(somewhere()).expect("room");
        let flow = net.flow();
        for _ in 0..2000 {
            let room = net.sides[0].room(connection).min(100_000);
            net.sides[0].write(connection, &vec![5; room as usize]);
            for _ in 0..if floods { 40 } else { 0 } {
                net.offer(0, flow, 1200);
            }
            net.step();
        }
        let pings = net.sides[0].unsent_control();
        assert!(pings < 1000, "control waits behind datagrams: {pings} B");
        (net.read[1], net.heard(1, flow) as u64 * 1200)
    };
    let (alone, _) = carried(false);
    let (beside, flood) = carried(true);
    assert!(alone > 22_000_000, "{alone}");
    assert!(beside * 100 > alone * 45 && flood * 100 > alone * 40, "{alone} alone, {beside} beside {flood}");
}

/// P-46: what no owner takes is dropped, and the streams are still read.
#[test]
fn an_owner_that_sleeps_costs_what_its_flow_may_hold() {
    let mut far = Session::new(Time::ZERO, Role::Far, settings(Some(CARRIAGE)), Tuner::Fixed(1), &Pool::new(POOL))
        .expect("memory");
    far.add_stream(Time::ZERO, StreamId(1), 0, Gauge::default());
    let frame = Frame::Datagram(Datagram { to: Some(somewhere()), payload: vec![1; 50_000] });
    for flow in (1..=19).cycle().take(1000) {
        let item = Item::Frame { connection: flow, frame: frame.clone() };
        far.on_item(Time::ZERO, StreamId(1), &item).expect("within the rules");
    }
    assert!(far.memory().0 <= Bytes::new(8 << 20), "{:?}", far.memory());
    // A late flow still finds room: a twentieth.
    let item = Item::Frame { connection: 20, frame };
    far.on_item(Time::ZERO, StreamId(1), &item).expect("within the rules");
    assert!(matches!(far.take_datagram(20), Arrived::Datagram(bytes) if bytes.len() == 50_000));
    let tally = far.tally();
    assert!(tally.received == 1001 && tally.full > 800, "{tally:?}");
}

/// P-41: datagrams that are dropped because their destination was refused are counted at the end that drops them.
#[test]
fn what_goes_to_a_refused_destination_is_counted() {
    let session = |role| {
        let mut session = Session::new(Time::ZERO, role, settings(Some(CARRIAGE)), Tuner::Fixed(1), &Pool::new(POOL))
            .expect("memory");
        session.add_stream(Time::ZERO, StreamId(1), 0, Gauge::default());
        session
    };
    let hears = |session: &mut Session, connection, frame| {
        session.on_item(Time::ZERO, StreamId(1), &Item::Frame { connection, frame }).expect("within the rules");
    };
    let (refused, gone) = (13, 104);
    // Datagrams that the far end holds for its owner.
    let mut far = session(Role::Far);
    let named = Frame::Datagram(Datagram { to: Some(somewhere()), payload: vec![1; 50] });
    for flow in [1, 1, 1, 2] {
        hears(&mut far, flow, named.clone());
    }
    far.close_flow(2, gone);
    assert_eq!(far.tally().refused, 0);
    far.close_flow(1, refused);
    assert_eq!((far.tally().refused, far.memory().0), (3, Bytes::ZERO));
    // Datagrams that wait for a stream at the near end, and those offered after the refusal.
    let mut near = session(Role::Near);
    let flows = [(); 2].map(|()| near.open_flow(Time::ZERO, somewhere()).expect("room"));
    for flow in flows {
        assert!(near.send_datagram(Time::ZERO, flow, &[1; 50]) && near.send_datagram(Time::ZERO, flow, &[2; 50]));
    }
    for (flow, code) in flows.into_iter().zip([refused, gone]) {
        hears(&mut near, flow, Frame::Forget { code });
        assert!(!near.send_datagram(Time::ZERO, flow, &[3; 50]));
    }
    assert_eq!((near.tally().refused, near.memory().0), (3, Bytes::ZERO));
}

/// P-41, P-44: the far end answers FORGET beyond its number of flows, and for unknown flows. The near end closes the
/// flow that was silent for longest.
#[test]
fn flows_are_bounded() {
    let mut net = Net::new(Some(CARRIAGE), Some(Carriage { flows: 3, ..CARRIAGE }));
    net.add(100_000, 5);
    net.run(15);
    let flows: Vec<u32> = (0..5).map(|_| net.flow()).collect();
    for flow in &flows {
        net.offer(0, *flow, 100);
        net.run(15);
    }
    assert_eq!((net.sides[0].flow_count(), net.sides[1].flow_count()), (3, 3));
    assert_eq!(net.sides[0].take_datagram(flows[0]), Arrived::Over(0));
    assert_eq!(net.heard(1, flows[0]), 0, "it was over before it began");
    assert_eq!(net.heard(1, flows[4]), 1);
    // A near end that opens more flows than it may.
    let mut far = Session::new(
        Time::ZERO,
        Role::Far,
        settings(Some(Carriage { flows: 3, ..CARRIAGE })),
        Tuner::Fixed(1),
        &Pool::new(POOL),
    )
    .expect("memory");
    far.add_stream(Time::ZERO, StreamId(1), 0, Gauge::default());
    let hears =
        |far: &mut Session, flow, frame| far.on_item(Time::ZERO, StreamId(1), &Item::Frame { connection: flow, frame });
    let named = Frame::Datagram(Datagram { to: Some(somewhere()), payload: vec![1; 50] });
    hears(&mut far, 0, Frame::Flows { most: 3 }).expect("it carries them");
    for flow in 1..=4 {
        hears(&mut far, flow, named.clone()).expect("refused, and no violation");
    }
    hears(&mut far, 9, Frame::Datagram(Datagram { to: None, payload: vec![1; 50] })).expect("no violation");
    assert_eq!(far.effects().flow_openings.len(), 3);
    far.flush(Time::ZERO);
    let mut said = Vec::new();
    far.take(Time::ZERO, StreamId(1), &mut said, 1 << 16);
    let (mut reader, mut input, mut forgets) = (FrameReader::new(1 << 18), said.as_slice(), Vec::new());
    while let Some(item) = reader.next(&mut input).expect("right") {
        if let Item::Frame { connection, frame: Frame::Forget { code } } = item {
            forgets.push((connection, code));
        }
    }
    assert_eq!(forgets, [(4, 105), (9, 0)]);
    // Frames and destinations that only a near end sends, or only a far end.
    assert_eq!(hears(&mut far, 1, Frame::Known), Err(Violation::Misplaced));
    assert_eq!(hears(&mut net.sides[0], flows[4], named), Err(Violation::Misplaced));
}

/// P-45: both ends forget a flow that was silent for two minutes.
#[test]
fn silent_flows_end() {
    let mut net = Net::both();
    net.add(100_000, 5);
    let (used, silent) = (net.flow(), net.flow());
    let asleep = |net: &mut Net, seconds: u64| {
        for _ in 0..seconds {
            net.now += Time::from_secs(1);
            net.step();
        }
        net.run(20);
    };
    net.run(20);
    for flow in [used, silent] {
        net.offer(0, flow, 100);
    }
    net.run(20);
    asleep(&mut net, 100);
    net.offer(0, used, 100);
    net.run(20);
    asleep(&mut net, 19);
    assert_eq!((net.sides[0].flow_count(), net.sides[1].flow_count()), (2, 2), "two minutes at least");
    asleep(&mut net, 3);
    assert_eq!((net.sides[0].flow_count(), net.sides[1].flow_count()), (1, 1), "and both ends know");
    assert_eq!(net.sides[0].take_datagram(silent), Arrived::Over(0));
    net.offer(0, used, 100);
    net.run(20);
    assert_eq!(net.heard(1, used), 3);
}

/// A flow that its owner has closed, or whose session is over, holds nothing.
#[test]
fn an_end_gives_everything_back() {
    let mut net = Net::both();
    let only = net.add(1_000, 5);
    let (closed, open) = (net.flow(), net.flow());
    net.run(20);
    net.stall(only, 1000);
    for flow in [closed, open, closed, open] {
        net.offer(0, flow, 10_000);
    }
    net.sides[0].close_flow(closed, 0);
    assert!(net.sides[0].memory().0 >= Bytes::new(20_000));
    net.sides[0].give_up();
    assert_eq!(net.sides[0].memory().0, Bytes::ZERO);
    assert_eq!(net.sides[0].take_datagram(open), Arrived::Over(104));
    assert!(net.sides[0].effects().flows.contains(&open) && net.sides[0].flow_count() == 0);
    assert!(net.sides[0].open_flow(net.now, somewhere()).is_err());
    let Net { sides, pools, .. } = net;
    drop(sides);
    assert!(pools.iter().all(|pool| pool.free() == POOL));
}

#[derive(Clone, Debug)]
enum Act {
    Burst(usize, usize, usize),
    Write(u64),
    Stall(usize, u64),
    Kill(usize),
    Add(u64, u64),
    Open,
    Close(usize),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        12 => (0_usize..6, 1_usize..30, prop_oneof![8_usize..1500, 8..=MAX_DATAGRAM]).prop_map(|(flow, count, length)| Act::Burst(flow, count, length)),
        3 => (1_u64..300_000).prop_map(Act::Write),
        4 => (0_usize..6, 1_u64..700).prop_map(|(place, ms)| Act::Stall(place, ms)),
        2 => (0_usize..6).prop_map(Act::Kill),
        2 => (500_u64..50_000, 1_u64..150).prop_map(|(rate, delay)| Act::Add(rate, delay)),
        1 => Just(Act::Open),
        1 => (0_usize..6).prop_map(Act::Close),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_to_streams(
        streams in proptest::collection::vec((500_u64..50_000, 1_u64..150), 1..5),
        acts in proptest::collection::vec((0_u64..60, act()), 1..40),
        echoes: bool,
    ) {
        let mut net = Net::both();
        net.echoes = echoes;
        for (rate, delay) in streams {
            net.add(rate, delay);
        }
        let mut flows = vec![net.flow(), net.flow()];
        let connection = net.sides[0].connect(somewhere()).expect("room");
        let (mut written, mut closes, mut kills) = (0, false, false);
        for (pause, act) in acts {
            net.run(pause);
            match act {
                Act::Burst(place, count, length) => {
                    if let Some(flow) = flows.get(place) {
                        for _ in 0..count {
                            net.offer(0, *flow, length);
                        }
                    }
                }
                Act::Write(bytes) => {
                    let bytes = bytes.min(net.sides[0].room(connection));
                    net.sides[0].write(connection, &vec![5; bytes as usize]);
                    written += bytes;
                }
                Act::Stall(place, ms) => {
                    if let Some(id) = net.streams().get(place).copied() {
                        net.stall(id, ms);
                    }
                }
                Act::Kill(place) => {
                    if let Some(id) = net.streams().get(place).copied() {
                        kills = true;
                        net.kill(id);
                    }
                }
                Act::Add(rate, delay) => {
                    if net.streams().len() < 6 {
                        net.add(rate, delay);
                    }
                }
                Act::Open => flows.push(net.flow()),
                Act::Close(place) => {
                    if place < flows.len() {
                        closes = true;
                        net.sides[0].close_flow(flows.remove(place), 0);
                    }
                }
            }
            let held = net.sides[0].memory().0;
            prop_assert!(held <= Bytes::new((8 << 20) + written), "{held:?} held");
        }
        net.add(20_000, 10);
        // All streams move again, and what was on its way arrives.
        net.run(4000);
        prop_assert_eq!(net.read[1], written, "connections lose nothing by it");
        if !closes {
            net.check_end();
            let (sent, received) = (net.sides[0].tally().sent, net.sides[1].tally().received);
            prop_assert!(kills || sent == received, "{sent} sent, {received} received");
        }
        // P-22: PONG does not wait behind datagrams or payload.
        net.offer(0, flows.first().copied().unwrap_or(1), 60_000);
        let last = *net.streams().last().expect("one");
        let ping = Item::Frame { connection: 0, frame: Frame::Ping { token: 7 } };
        net.sides[0].on_item(net.now, last, &ping).expect("fine");
        net.sides[0].flush(net.now);
        let mut said = Vec::new();
        net.sides[0].take(net.now, last, &mut said, 1 << 16);
        let (mut reader, mut input) = (FrameReader::new(1 << 18), said.as_slice());
        while let Some(item) = reader.next(&mut input).expect("right") {
            if let Item::Frame { frame: Frame::Pong { .. }, .. } = item {
                break;
            }
            let first = matches!(item, Item::Payload { data: Data { .. }, .. } | Item::Frame { frame: Frame::Datagram(_), .. });
            prop_assert!(!first, "{item:?} before the answer");
        }
    }
}
