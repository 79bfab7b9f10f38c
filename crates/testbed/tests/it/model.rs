//! Pipes in virtual time: against closed forms, and against the simulator's links.

use des::{EventQueue, RandomStream};
use net::{
    ARRIVAL, CodelSpec, Discipline, Ecn, FlowKey, FqCodelSpec, GilbertElliott, Item, Limit, LinkSpec, Loss, Network,
    PacketId, PieSpec, RedSpec, TRANSMISSION_DONE, Topology,
};
use proptest::prelude::*;
use testbed::link::{Direction, Jitter, Pipe, Reorder, Trace};
use units::{BitRate, Bytes, Time};

const MBIT: BitRate = BitRate::from_mbps(1);

/// A frame that is offered at some time.
type Offer = (Time, u32);

/// What arrives, when and which, and the numbers of all that are dropped or lost: `in_steps` looks in between as often
/// as an owner might.
fn carried(direction: &Direction, seed: u64, offers: &[Offer], in_steps: bool) -> (Vec<(Time, u32)>, Vec<u32>) {
    let mut pipe = Pipe::new(direction, direction.delay * 2, seed, 0);
    let (mut arrived, mut gone) = (Vec::new(), Vec::new());
    let mut take = |pipe: &mut Pipe, until: Time, gone: &mut Vec<Item>| {
        loop {
            let next = pipe.deadline();
            let at = if in_steps { next.min(until) } else { until };
            pipe.advance(at, gone);
            while let Some((due, item)) = pipe.take_arrived(at) {
                assert!(due <= at && (!in_steps || due == at), "{due} taken at {at}");
                arrived.push((due, item.packet.0));
            }
            if at == until {
                break;
            }
        }
    };
    for (number, (at, bytes)) in offers.iter().enumerate() {
        take(&mut pipe, *at, &mut gone);
        pipe.offer(*at, Item::new(PacketId(number as u32), number as u32 % 5, *bytes, Ecn::NotEct), &mut gone);
    }
    let end = offers.last().map_or(Time::ZERO, |offer| offer.0) + Time::from_secs(3_600);
    take(&mut pipe, end, &mut gone);
    let counters = pipe.counters();
    assert_eq!(pipe.holds(), 0);
    assert_eq!(counters.offered, counters.dropped + counters.lost + counters.arrived);
    assert_eq!((counters.arrived, counters.dropped + counters.lost), (arrived.len() as u64, gone.len() as u64));
    let mut gone: Vec<u32> = gone.iter().map(|item| item.packet.0).collect();
    gone.sort_unstable();
    (arrived, gone)
}

fn burst(count: usize, bytes: u32) -> Vec<Offer> {
    vec![(Time::from_ms(1), bytes); count]
}

fn steady(count: u64, gap: Time, bytes: u32) -> Vec<Offer> {
    (0..count).map(|number| (gap * number, bytes)).collect()
}

#[test]
fn frames_leave_one_transmission_time_apart() {
    let direction = Direction::new(Some(MBIT), Time::from_ms(50));
    let (arrived, _) = carried(&direction, 1, &burst(3, 1_250), true);
    // 1250 B at 1 Mbit/s are 10 ms.
    assert_eq!(arrived, [(Time::from_ms(61), 0), (Time::from_ms(71), 1), (Time::from_ms(81), 2)]);
}

/// 1250 B at 1 Mbit/s are 10 ms. At half the rate from 5 ms on the rest of the first frame takes 10 ms, the second 20;
/// without a rate the third is out at once.
#[test]
fn a_rate_changes_under_a_frame() {
    let mut pipe = Pipe::new(&Direction::new(Some(MBIT), Time::ZERO), Time::ZERO, 1, 0);
    let mut gone = Vec::new();
    for number in 0..4 {
        pipe.offer(Time::ZERO, Item::new(PacketId(number), 0, 1_250, Ecn::NotEct), &mut gone);
    }
    pipe.set_rate(Time::from_ms(5), Some(BitRate::from_bps(500_000)), &mut gone);
    pipe.set_rate(Time::from_ms(40), None, &mut gone);
    pipe.advance(Time::from_ms(50), &mut gone);
    let arrived: Vec<_> = std::iter::from_fn(|| pipe.take_arrived(Time::from_ms(50))).map(|(at, _)| at).collect();
    assert_eq!(arrived, [15, 35, 40, 40].map(Time::from_ms));
    pipe.set_rate(Time::from_ms(60), Some(MBIT), &mut gone);
    pipe.offer(Time::from_ms(60), Item::new(PacketId(9), 0, 1_250, Ecn::NotEct), &mut gone);
    assert_eq!(pipe.deadline(), Time::from_ms(70));
}

#[test]
fn without_a_rate_only_the_delay_is_left() {
    let direction = Direction::new(None, Time::from_ms(50));
    let (arrived, gone) = carried(&direction, 1, &burst(1_000, 1_514), false);
    assert!(gone.is_empty() && arrived.iter().all(|(at, _)| *at == Time::from_ms(51)));
    assert!(arrived.is_sorted(), "equal times keep their order");
}

#[test]
fn the_queue_holds_its_limit_beside_the_frame_in_hand() {
    let mut direction = Direction::new(Some(MBIT), Time::ZERO);
    for (limit, held) in [
        (Some(Limit::Packets(7)), 8),
        (Some(Limit::Bytes(Bytes::new(5_000))), 5),
        (Some(Limit::Delay(Time::from_ms(30))), 4),
        (None, 101),
    ] {
        direction.limit = limit;
        let (arrived, gone) = carried(&direction, 1, &burst(200, 1_250), false);
        assert_eq!((arrived.len(), gone.len()), (held, 200 - held), "{limit:?}");
    }
    // What a path of 100 Mbit/s and 50 ms carries in a round trip of 100 ms: 1.25 MB, 826 frames.
    let wan = Direction::new(Some(BitRate::from_mbps(100)), Time::from_ms(50));
    assert_eq!(wan.limit(Time::from_ms(100)), Limit::Packets(826));
}

#[test]
fn a_table_changes_rate_delay_and_loss() {
    let table = "time, rate, delay, loss\n 25 ms, 500 Kbit/s,, \n 100 ms,, 5 ms, \n 200 ms, 0 bit/s,,\n 300 ms, 1 Mbit/s,,\n1 s,,,100 %\n";
    let mut direction = Direction::new(Some(MBIT), Time::from_ms(50));
    direction.trace = Some(Trace::parse(table).unwrap());
    let at = |ms, bytes| (Time::from_ms(ms), bytes);
    let offers =
        [at(0, 1_250), at(0, 1_250), at(0, 1_250), at(190, 1_250), at(200, 1_250), at(400, 1_250), at(1_100, 1_250)];
    let (arrived, gone) = carried(&direction, 1, &offers, true);
    let ms: Vec<_> = arrived.iter().map(|(at, number)| (at.as_ms(), *number)).collect();
    // Two at 1 Mbit/s; of the third half is sent when the rate falls to half. With a shorter delay none overtakes. The
    // fourth has half of its 20 ms left when everything halts at 200 ms, 5 ms of it at the new rate.
    assert_eq!(ms, [(60, 0), (70, 1), (85, 2), (310, 3), (320, 4), (415, 5)]);
    assert_eq!(gone, [6]);
}

#[test]
fn opportunities_carry_1500_bytes_each_over_and_over() {
    let mut direction = Direction::new(None, Time::from_ms(10));
    direction.trace = Some(Trace::parse("5\n5\n20\n").unwrap());
    let offers: Vec<_> = burst(6, 1_514);
    let (arrived, _) = carried(&direction, 1, &offers, true);
    let ms: Vec<_> = arrived.iter().map(|(at, _)| at.as_ms()).collect();
    // At 5, 5 and 20 ms, and 20 ms later again.
    assert_eq!(ms, [15, 15, 30, 35, 35, 50]);
    // Small packets share one: 3 x 500 bytes of IP; a chance that nobody uses is gone.
    let small: Vec<_> = (0..4).map(|_| (Time::from_ms(6), 514)).collect();
    let ms: Vec<_> = carried(&direction, 1, &small, true).0.iter().map(|(at, _)| at.as_ms()).collect();
    assert_eq!(ms, [30, 30, 30, 35]);
    // One that does not fit goes on in the next.
    let mixed = [(Time::from_ms(6), 1_014), (Time::from_ms(6), 1_014)];
    let ms: Vec<_> = carried(&direction, 1, &mixed, true).0.iter().map(|(at, _)| at.as_ms()).collect();
    assert_eq!(ms, [30, 35]);
}

#[test]
fn opportunities_far_ahead_are_found() {
    let mut direction = Direction::new(None, Time::ZERO);
    direction.trace = Some(Trace::parse("0\n3\n7\n").unwrap());
    let offer = Time::from_ms(7 * 1_000_000 + 4);
    let (arrived, _) = carried(&direction, 1, &[(offer, 100)], false);
    assert_eq!(arrived[0].0, Time::from_ms(7 * 1_000_000 + 7));
}

#[test]
fn jitter_is_uniform_around_the_delay() {
    let mut direction = Direction::new(None, Time::from_ms(50));
    direction.jitter = Jitter { by: Time::from_ms(10), reorders: true };
    let offers = steady(20_000, Time::from_ms(1), 100);
    let (arrived, _) = carried(&direction, 1, &offers, false);
    let delays: Vec<f64> =
        arrived.iter().map(|(at, number)| (*at - offers[*number as usize].0).as_secs_f64() * 1e3).collect();
    let mean = delays.iter().sum::<f64>() / delays.len() as f64;
    let variance = delays.iter().map(|delay| (delay - mean).powi(2)).sum::<f64>() / delays.len() as f64;
    // Uniform over 20 ms: deviation 20 / sqrt 12, of the mean of 20,000 a hundred-and-forty-first of it.
    assert!((mean - 50.0).abs() < 4.0 * 5.77 / 141.0, "{mean}");
    assert!((variance / (400.0 / 12.0) - 1.0).abs() < 0.05, "{variance}");
    assert!(delays.iter().all(|delay| (40.0..60.0).contains(delay)));
    assert!(!arrived.is_sorted_by_key(|(_, number)| *number), "frames overtake each other");

    direction.jitter.reorders = false;
    let (arrived, _) = carried(&direction, 1, &offers, false);
    assert!(arrived.is_sorted_by_key(|(_, number)| *number), "in order");
}

#[test]
fn a_share_of_frames_is_overtaken() {
    let mut direction = Direction::new(None, Time::from_ms(50));
    direction.reorder = Reorder { share: 0.02, by: Time::from_us(3_500) };
    let (arrived, _) = carried(&direction, 1, &steady(50_000, Time::from_ms(1), 100), false);
    // A frame held back by 3.5 ms comes after the three that left up to 3 ms later: RFC 4737's reordered packets and
    // their extents.
    let (mut highest, mut late) = (0, 0_u32);
    for (_, number) in &arrived {
        late += u32::from(*number < highest);
        highest = highest.max(*number);
    }
    // One is not overtaken only if the next three are held back too: 8 in a million.
    let (mean, deviation) = (1_000.0, (1_000.0_f64 * 0.98).sqrt());
    assert!((f64::from(late) - mean).abs() < 4.0 * deviation, "{late}");
}

#[test]
fn loss_has_its_share_and_its_stream() {
    let mut direction = Direction::new(None, Time::from_ms(1));
    let offers = steady(50_000, Time::from_us(10), 100);
    for loss in [Loss::Random(0.02), Loss::Bursts(GilbertElliott::bursts(0.02, 5.0))] {
        direction.loss = loss;
        let (_, lost) = carried(&direction, 1, &offers, false);
        // Of bursts of mean length L the deviation is below sqrt(2 L) of the binomial's.
        let deviation =
            (50_000.0_f64 * 0.02 * 0.98).sqrt() * if loss == Loss::Random(0.02) { 1.0 } else { 10.0_f64.sqrt() };
        assert!((lost.len() as f64 - 1_000.0).abs() < 4.0 * deviation, "{loss:?}: {}", lost.len());
        assert_eq!(carried(&direction, 1, &offers, true).1, lost, "whoever looks when");
        assert_ne!(carried(&direction, 2, &offers, false).1, lost);
    }
}

fn disciplines() -> impl Strategy<Value = Discipline> {
    let red = RedSpec { min: Some(Limit::Packets(3)), max: Some(Limit::Packets(9)), ..RedSpec::default() };
    let codel = CodelSpec { target: Time::from_us(50), interval: Time::from_us(300), ..CodelSpec::default() };
    let pie = PieSpec {
        target: Time::from_us(100),
        update: Time::from_us(100),
        burst: Time::from_us(200),
        ..PieSpec::default()
    };
    prop_oneof![
        Just(Discipline::DropTail),
        Just(Discipline::Threshold { mark_above: Limit::Packets(5) }),
        Just(Discipline::Red(red)),
        Just(Discipline::Codel(codel)),
        Just(Discipline::FqCodel(FqCodelSpec { codel, ..FqCodelSpec::default() })),
        Just(Discipline::Pie(pie)),
        Just(Discipline::Priority { classes: 2 }),
    ]
}

/// The same frames over a simulated link with the same queue, loss and seed: which arrive when.
fn simulated(spec: &LinkSpec, seed: u64, offers: &[Offer]) -> Vec<(Time, u32)> {
    const SEND: u8 = 50;
    let mut topology = Topology::new();
    let (from, to) = (topology.add_host("near"), topology.add_host("far"));
    topology.connect_both(from, to, spec.clone(), spec.clone());
    let (mut network, mut events) = (Network::<usize>::new(&topology, seed).unwrap(), EventQueue::new());
    let route = network.route(FlowKey { from, to, from_port: 1, to_port: 2 });
    for (number, (at, _)) in offers.iter().enumerate() {
        events.push(*at, SEND, number as u32, 0);
    }
    let mut arrived = Vec::new();
    while let Some(event) = events.pop() {
        match event.kind() {
            SEND => {
                let number = event.index;
                let (at, bytes) = offers[number as usize];
                network.send(at, &(number as usize), (number % 5, bytes), route, &mut events);
            }
            ARRIVAL => {
                if let Some((packet, _)) = network.on_arrival(&event, &mut events) {
                    arrived.push((event.time(), *network.packet(packet) as u32));
                    network.finish(packet);
                }
            }
            TRANSMISSION_DONE => network.on_transmission_done(&event, &mut events),
            kind => unreachable!("event {kind}"),
        }
    }
    arrived
}

proptest! {
    /// A pipe is the simulator's link: the same frames arrive at the same times, the same are dropped and lost.
    #[test]
    fn a_pipe_does_what_the_simulated_link_does(
        discipline in disciplines(),
        limit in 10_u32..30,
        loss in prop_oneof![
            Just(Loss::default()),
            Just(Loss::Random(0.1)),
            Just(Loss::Bursts(GilbertElliott::bursts(0.1, 3.0))),
        ],
        gaps in prop::collection::vec((0_u64..20, 1_u32..=12), 1..300),
        seed in any::<u64>(),
    ) {
        let mut at = Time::ZERO;
        let offers: Vec<Offer> = gaps.iter().map(|(gap, length)| { at += Time::from_us(*gap); (at, length * 125) }).collect();
        let (rate, delay, limit) = (BitRate::from_mbps(500), Time::from_us(40), Limit::Packets(limit));
        let spec = LinkSpec::new(rate, delay).with_limit(limit).with_discipline(discipline).with_loss(loss);
        let mut direction = Direction::new(Some(rate), delay);
        (direction.limit, direction.discipline, direction.loss) = (Some(limit), discipline, loss);
        prop_assert_eq!(carried(&direction, seed, &offers, false).0, simulated(&spec, seed, &offers));
    }

    /// However often and when its owner looks, the same happens.
    #[test]
    fn it_does_not_matter_when_a_pipe_is_looked_at(
        discipline in disciplines(),
        trace in prop_oneof![Just(None), Just(Some("1\n1\n4\n")), Just(Some("time,rate,delay\n1 ms,40 Mbit/s,3 ms\n2 ms,0 bit/s,\n5 ms,1 Gbit/s,1 ms\n"))],
        seed in any::<u64>(),
    ) {
        let mut direction = Direction::new(Some(BitRate::from_mbps(100)), Time::from_us(700));
        direction.jitter = Jitter { by: Time::from_us(300), reorders: seed % 2 == 0 };
        direction.reorder = Reorder { share: 0.05, by: Time::from_us(500) };
        direction.loss = Loss::Random(0.05);
        (direction.limit, direction.discipline) = (Some(Limit::Packets(20)), discipline);
        direction.trace = trace.map(|text| Trace::parse(text).unwrap());
        let mut random = RandomStream::new(seed, "offers", 0);
        let mut at = Time::ZERO;
        let offers: Vec<Offer> = (0..400).map(|_| { at += Time::from_us(random.below(120)); (at, 60 + random.below(1_455) as u32) }).collect();
        let (seldom, often) = (carried(&direction, seed, &offers, false), carried(&direction, seed, &offers, true));
        prop_assert_eq!(seldom, often);
    }
}
