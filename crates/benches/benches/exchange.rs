//! What one data segment costs: sent, received, acknowledged, its acknowledgement processed.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::collections::VecDeque;
use std::hint::black_box;
use tcp::control::ControlKind;
use tcp::{Config, Endpoint, Output, Segment};
use units::Time;

const SEGMENTS: u64 = 20_000;
/// Half a round trip.
const DELAY: Time = Time::from_us(200);

/// A sender and a receiver; each lane is a queue of segments with their time of arrival.
struct Pair {
    ends: [Endpoint; 2],
    lanes: [VecDeque<(Time, Segment)>; 2],
    out: Output,
    now: Time,
    data_segments: u64,
    /// Every how manyth data segment is lost; 0 for none.
    loss: u64,
}

impl Pair {
    fn new(config: &Config, loss: u64) -> Self {
        let ends = [Endpoint::connect(config), Endpoint::listen(config)];
        let lanes = [VecDeque::with_capacity(1024), VecDeque::with_capacity(1024)];
        Self { ends, lanes, out: Output::default(), now: Time::ZERO, data_segments: 0, loss }
    }
    fn carry(&mut self, from: usize) {
        for segment in self.out.segments.drain(..) {
            if segment.len > 0 {
                self.data_segments += 1;
                if self.loss > 0 && self.data_segments.is_multiple_of(self.loss) {
                    continue;
                }
            }
            // 12 us a packet: 1 Gbit/s.
            let sent = self.lanes[from].back().map_or(self.now + DELAY, |(at, _)| *at + Time::from_us(12));
            self.lanes[from].push_back((sent.max(self.now + DELAY), segment));
        }
        self.out.notices.clear();
    }
    fn run(&mut self, bytes: u64) {
        self.ends[0].open(self.now, &mut self.out);
        self.ends[0].write(self.now, bytes, true, &mut self.out).unwrap();
        self.carry(0);
        while self.ends[0].acknowledged() < bytes {
            let arrivals = [0, 1].map(|lane| self.lanes[lane].front().map_or(Time::MAX, |(at, _)| *at));
            let lane = usize::from(arrivals[1] < arrivals[0]);
            let timer = self.ends[0].deadline().min(self.ends[1].deadline());
            if timer < arrivals[lane] {
                self.now = timer;
                let end = usize::from(self.ends[1].deadline() < self.ends[0].deadline());
                self.ends[end].on_timer(timer, &mut self.out);
                self.carry(end);
                continue;
            }
            let (at, segment) = self.lanes[lane].pop_front().expect("a segment or a timer is pending");
            self.now = at;
            self.ends[1 - lane].on_segment(at, &segment, &mut self.out);
            self.carry(1 - lane);
        }
    }
}

fn reference(control: ControlKind) -> Config {
    Config {
        timestamps: false,
        count_options: false,
        delayed_ack: None,
        max_window: Some(180),
        nagle: false,
        control,
        ..Config::default()
    }
}

fn exchange(c: &mut Criterion) {
    let mut group = c.benchmark_group("exchange");
    group.throughput(Throughput::Elements(SEGMENTS)).sample_size(20);
    let cases = [
        ("reno", reference(ControlKind::Reno), 0),
        ("reno, 1 % loss", reference(ControlKind::Reno), 100),
        ("cubic", reference(ControlKind::Cubic), 0),
        ("vegas", reference(ControlKind::Vegas), 0),
        ("bbr", reference(ControlKind::Bbr), 0),
        (
            "reno, delayed ACK, timestamps",
            Config { max_window: Some(180), control: ControlKind::Reno, ..Config::default() },
            0,
        ),
    ];
    for (name, config, loss) in cases {
        group.bench_function(name, |b| {
            b.iter(|| {
                let mut pair = Pair::new(&config, loss);
                pair.run(black_box(SEGMENTS * u64::from(config.mss)));
                pair.data_segments
            });
        });
    }
    group.finish();
}

criterion_group!(benches, exchange);
criterion_main!(benches);
