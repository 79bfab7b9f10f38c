//! CUBIC in the set-up of ns-3's `src/test/ns3tcp/ns3tcp-cubic-test-suite.cc` (github `nsnam/ns-3-dev-git`, 3-dev of 23
//! July 2026, commit 1406464): one paced flow of 1,448-byte segments through CoDel, and how far cwnd may be from what
//! it is there. Of its four cases one is played: three are of a CUBIC without Reno-friendliness, which RFC 9438 does
//! not leave out.

use net::{Codel, CodelSpec, Ecn, Item, Limit, PacketId, Queue};
use std::collections::VecDeque;
use tcp::control::{ControlKind, CubicParameters, CubicRule};
use tcp::{Config, Endpoint, Output, ReductionBase, RtoEstimator, Segment};
use units::{BitRate, Bytes, Time};

/// Packets that wait in the network card, behind CoDel.
const CARD: usize = 2;

/// Data goes over the bottleneck; acknowledgements only take the delay.
struct Path {
    client: Endpoint,
    server: Endpoint,
    now: Time,
    delay: Time,
    rate: BitRate,
    queue: Codel,
    segments: Vec<Segment>,
    card: VecDeque<u32>,
    /// The packet in transmission, and when it is sent.
    sending: Option<(Time, u32)>,
    forth: VecDeque<(Time, Segment)>,
    back: VecDeque<(Time, Segment)>,
}

impl Path {
    fn new(config: &Config, rtt: Time, rate: BitRate) -> Self {
        Self {
            client: Endpoint::connect(config),
            server: Endpoint::listen(config),
            now: Time::ZERO,
            delay: rtt / 2,
            rate,
            queue: Codel::new(&CodelSpec { ecn: false, ..CodelSpec::default() }, Limit::Packets(10_240)),
            segments: Vec::new(),
            card: VecDeque::new(),
            sending: None,
            forth: VecDeque::new(),
            back: VecDeque::new(),
        }
    }
    fn with(&mut self, client: bool, call: impl FnOnce(&mut Endpoint, Time, &mut Output)) {
        let mut out = Output::default();
        call(if client { &mut self.client } else { &mut self.server }, self.now, &mut out);
        for segment in out.segments {
            if client {
                let number = PacketId(self.segments.len() as u32);
                self.segments.push(segment);
                let item = Item::new(number, 0, segment.wire_bytes() + 2, Ecn::NotEct);
                self.queue.enqueue(self.now, item, &mut Vec::new());
            } else {
                self.back.push_back((self.now + self.delay, segment));
            }
        }
        self.serve();
    }
    /// Fills the card, and starts a transmission if none is under way.
    fn serve(&mut self) {
        loop {
            while self.card.len() < CARD
                && let Some(item) = self.queue.dequeue(self.now, &mut Vec::new())
            {
                self.card.push_back(item.packet.0);
            }
            if self.sending.is_some() {
                return;
            }
            let Some(number) = self.card.pop_front() else { return };
            let length = Bytes::new(u64::from(self.segments[number as usize].wire_bytes()) + 2);
            self.sending = Some((self.now + self.rate.transmission_time(length), number));
        }
    }
    fn step(&mut self) {
        let sent = self.sending.map_or(Time::MAX, |(at, _)| at);
        let first = |wire: &VecDeque<(Time, Segment)>| wire.front().map_or(Time::MAX, |(at, _)| *at);
        let (forth, back) = (first(&self.forth), first(&self.back));
        let timers = [self.client.deadline(), self.server.deadline()];
        let next = sent.min(forth).min(back).min(timers[0]).min(timers[1]);
        self.now = next;
        if next == sent {
            if let Some((_, number)) = self.sending.take() {
                self.forth.push_back((self.now + self.delay, self.segments[number as usize]));
            }
            self.serve();
        } else if next == forth {
            if let Some((_, segment)) = self.forth.pop_front() {
                self.with(false, |endpoint, now, out| endpoint.on_segment(now, &segment, out));
            }
        } else if next == back {
            if let Some((_, segment)) = self.back.pop_front() {
                self.with(true, |endpoint, now, out| endpoint.on_segment(now, &segment, out));
            }
        } else {
            self.with(next == timers[0], Endpoint::on_timer);
        }
    }
}

/// RTT 20 ms; the bottleneck's rate doubles from 50 to 100 Mbit/s after 10 s. From 13 to 15 s cwnd is between 150 and
/// 220 segments in ns-3. Without Reno-friendliness it is still between 107 and 123 there.
#[test]
fn cubic_takes_up_a_doubled_rate_as_in_ns3() {
    let config = Config {
        control: ControlKind::Cubic,
        // Linux's rounding towards the plateau leaves 149 segments at the least, one below ns-3's bound.
        cubic: CubicParameters { rule: CubicRule::Rfc9438, ..CubicParameters::default() },
        mss: 1460,
        receive_buffer: Bytes::new(1_000_000),
        pacing: true,
        delayed_ack: Some(Time::from_ms(200)),
        quick_acks: 0,
        rto_estimator: RtoEstimator::Rfc6298,
        min_rto: Time::from_secs(1),
        reduction_base: ReductionBase::Flight,
        undo_spurious: false,
        ..Config::default()
    };
    let mut path = Path::new(&config, Time::from_ms(20), BitRate::from_mbps(50));
    path.now = Time::from_ms(100);
    path.with(true, Endpoint::open);
    path.with(true, |endpoint, now, out| endpoint.write(now, 1 << 40, false, out).unwrap());
    let (mut least, mut most) = (f64::MAX, 0.0_f64);
    while path.now < Time::from_secs(15) {
        if path.now >= Time::from_secs(10) {
            path.rate = BitRate::from_mbps(100);
        }
        path.step();
        if path.now >= Time::from_secs(13) {
            let window = path.client.window();
            let cwnd = window.cwnd as f64 / f64::from(window.mss);
            (least, most) = (least.min(cwnd), most.max(cwnd));
        }
    }
    assert!(least >= 150.0 && most <= 220.0, "{least} to {most}");
    assert!(path.client.counters().fast_recoveries > 3);
}
