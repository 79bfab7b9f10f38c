//! The controller on a shared path whose streams have congestion windows: they begin small, grow, and are cut by losses,
//! by chance and by a queue that overflows. Round trip by round trip, after RFC 5681 (Reno) and RFC 9438 (CUBIC).

use stripe::optimizer::{Controller, Law, Limits, Newcomers, Policy, Totals};
use units::{Bytes, Time};

const MSS: u64 = 1448;

/// A bottleneck with a drop-tail queue.
#[derive(Clone, Copy)]
struct Road {
    rtt: f64,
    /// Segments per second, and segments of the queue.
    capacity: f64,
    queue: f64,
    /// Probability that chance takes a segment.
    loss: f64,
    others: usize,
    /// Largest window, in segments.
    most: f64,
    law: Law,
}

#[derive(Clone, Copy)]
struct Stream {
    window: f64,
    threshold: f64,
    /// CUBIC's window at the last loss, and the time since.
    top: f64,
    since: f64,
    grown: bool,
}

impl Stream {
    fn new() -> Self {
        Self { window: 2.0, threshold: f64::INFINITY, top: 0.0, since: 0.0, grown: true }
    }
    fn on_round(&mut self, road: &Road, time: f64, lost: bool) {
        self.since += time;
        let before = self.window;
        let beta = if road.law == Law::Cubic { 0.7 } else { 0.5 };
        if lost {
            self.top = if self.window < self.top { self.window * (1.0 + beta) / 2.0 } else { self.window };
            self.window = (self.window * beta).max(2.0);
            (self.threshold, self.since) = (self.window, 0.0);
        } else if self.window < self.threshold {
            // Half of the segments are acknowledged by themselves.
            self.window *= 1.5;
        } else if road.law == Law::Cubic {
            let edge = libm::cbrt(self.top * (1.0 - beta) / 0.4);
            let cubic = 0.4 * (self.since - edge).powi(3) + self.top;
            self.window = cubic.clamp(self.window + 0.5, self.window * 1.5);
        } else {
            self.window += 0.5;
        }
        self.window = self.window.min(road.most);
        self.grown = self.window < self.threshold && self.window > 1.1 * before;
    }
}

/// The streams of a path.
struct Traffic {
    road: Road,
    ours: Vec<Stream>,
    others: Vec<Stream>,
    state: u64,
}

/// What a round trip has brought.
struct Round {
    time: f64,
    queued: f64,
    ours: f64,
    lost: u64,
    lost_most: u64,
}

impl Traffic {
    fn new(road: Road, seed: u64) -> Self {
        Self { road, ours: Vec::new(), others: vec![Stream::new(); road.others], state: seed }
    }
    fn uniform(&mut self) -> f64 {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 11) as f64 / (1_u64 << 53) as f64
    }
    /// A round trip with the first `n` of our streams.
    fn round(&mut self, n: usize) -> Round {
        let road = self.road;
        while self.ours.len() < n {
            self.ours.push(Stream::new());
        }
        let sum = |streams: &[Stream]| streams.iter().map(|stream| stream.window).sum::<f64>();
        let (ours, others) = (sum(&self.ours[..n]), sum(&self.others));
        let pipe = road.capacity * road.rtt;
        let all = ours + others;
        let excess = (all - pipe - road.queue).max(0.0);
        let inside = all - excess;
        let time = road.rtt.max(inside / road.capacity);
        let queued = (inside - pipe).max(0.0) / road.capacity;
        let part = 1.0 - excess / all;
        let (mut lost, mut lost_most) = (0, 0);
        let p = 1.0 - (1.0 - road.loss) * part;
        let count = n + self.others.len();
        for which in 0..count {
            let window = if which < n { self.ours[which].window } else { self.others[which - n].window };
            let is_lost = self.uniform() < 1.0 - libm::pow(1.0 - p, window);
            if which < n && is_lost {
                let more = ((window * p).round() as u64).max(1);
                lost += more;
                lost_most = more.max(lost_most);
            }
            let stream = if which < n { &mut self.ours[which] } else { &mut self.others[which - n] };
            stream.on_round(&road, time, is_lost);
        }
        Round { time, queued, ours: ours * part, lost, lost_most }
    }
}

/// Our rate with a fixed number, in segments per second, from `warm` on.
fn fixed(road: Road, n: usize, warm: f64, until: f64, seed: u64) -> f64 {
    let mut traffic = Traffic::new(road, seed);
    let (mut now, mut ours, mut time) = (0.0, 0.0, 0.0);
    while now < until {
        let round = traffic.round(n);
        now += round.time;
        if now > warm {
            (ours, time) = (ours + round.ours, time + round.time);
        }
    }
    ours / time
}

/// Our rate from `warm` on where the controller decides the number under `greedy`, in segments per second; and the numbers
/// that it chose, each with when, in seconds, and why.
fn tuned(road: Road, warm: f64, until: f64, seed: u64) -> (f64, Vec<(f64, u32, &'static str)>) {
    let mut traffic = Traffic::new(road, seed);
    let mut controller = Controller::new(Policy::Greedy, Limits::default(), 4);
    let (mut now, mut ours, mut time, mut delivered) = (0.0, 0.0, 0.0, 0.0);
    let mut totals = Totals { mss: Bytes::new(MSS), law: road.law, ..Totals::default() };
    totals.rtt_min = Time::from_secs_f64(road.rtt);
    let mut numbers = vec![(0.0, controller.target(), controller.reason().name())];
    while now < until {
        let n = controller.target() as usize;
        // Streams beyond `open` are closed.
        traffic.ours.truncate(controller.open() as usize);
        let round = traffic.round(n);
        now += round.time;
        if now > warm {
            (ours, time) = (ours + round.ours, time + round.time);
        }
        delivered += round.ours * MSS as f64;
        totals.delivered = delivered as u64;
        totals.sent += round.ours as u64 + round.lost;
        totals.lost += round.lost;
        totals.lost_most = totals.lost_most.max(round.lost_most);
        let used = &traffic.ours[..n];
        totals.rtt = Time::from_secs_f64(road.rtt + round.queued);
        totals.starting = used.iter().filter(|stream| stream.grown).count() * 4 > n;
        let mut newcomers = Newcomers::beyond(controller.compared().map(|(before, _)| before));
        for stream in used {
            newcomers.add((stream.window * MSS as f64) as u64);
        }
        totals.newcomers = newcomers.part();
        totals.window_limited = used.iter().filter(|stream| stream.window >= road.most).count() * 2 > n;
        let at = Time::from_secs_f64(now);
        if at >= controller.deadline() {
            controller.on_round(at, &totals, n as u32);
            totals.lost_most = 0;
            if controller.target() as usize != n {
                numbers.push((now, controller.target(), controller.reason().name()));
            }
        }
    }
    (ours / time, numbers)
}

/// Newcomers take tens of round trips to get their part of a full path, and the rates of a few streams vary by more than
/// a step gains: neither keeps `greedy` from what the best number carries on the same path. (A try judged after three
/// epochs whatever these say: 0.83 to 0.93 of it in the mean, 0.52 at worst.)
#[test]
fn greedy_finds_what_the_best_number_carries() {
    // Round trip in ms, Mbit/s, control, random loss, others, largest window.
    let roads = [
        (100.0, 50.0, Law::Cubic, 1e-4, 40, 45.0),
        (250.0, 100.0, Law::Reno, 0.0, 10, 1e9),
        (539.0, 82.0, Law::Reno, 1e-4, 0, 1e9),
        (539.0, 82.0, Law::Reno, 0.0, 10, 1e9),
        (600.0, 300.0, Law::Cubic, 0.0, 40, 1e9),
        (600.0, 300.0, Law::Cubic, 1e-4, 10, 1e9),
    ];
    for (rtt, mbps, law, loss, others, most) in roads {
        let (rtt, capacity) = (rtt / 1e3, mbps * 1e6 / 8.0 / 1500.0);
        let road = Road { rtt, capacity, queue: capacity * rtt / 2.0, loss, others, most, law };
        let (warm, until) = ((450.0 * rtt).max(40.0), (900.0 * rtt).max(100.0));
        let rate = |n| (1..=3).map(|seed| fixed(road, n, warm, until, seed)).sum::<f64>() / 3.0;
        let best = [1, 2, 4, 8, 16, 32, 64, 128].map(rate).into_iter().fold(0.0, f64::max);
        let runs = [1, 2, 3, 4, 5, 6].map(|seed| tuned(road, warm, until, seed * 7));
        let mean = runs.iter().map(|(rate, _)| rate / best / 6.0).sum::<f64>();
        let case = format!("{rtt} s, {mbps} Mbit/s, {law:?}, {loss}, {others} others");
        assert!(mean > 0.95, "{case}: {mean}");
        for (rate, numbers) in runs {
            assert!(rate > 0.85 * best, "{case}: {}, {numbers:?}", rate / best);
        }
    }
}
