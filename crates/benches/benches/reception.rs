//! What it costs ten receivers to hear one PPDU, alone and with another over its second half.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use des::RandomStream;
use std::hint::black_box;
use units::Time;
use wifi::phy::{Band, Ended, Guard, Mode, Reception, ReceptionSpec, Settings, Signal, Standard, Width};
use wifi::propagation::Radio;

const HEARERS: u64 = 10;

fn ten_hear_one(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("reception");
    group.throughput(Throughput::Elements(HEARERS));
    let mode = Mode::ht(7, Width::Mhz20, Guard::Long, Band::Ghz5).expect("MCS 7");
    let spec = ReceptionSpec::default();
    let receiver = |node| {
        Reception::new(&Radio::default(), &Settings::new(Standard::N5), &spec, RandomStream::new(1, "bench/phy", node))
    };
    for (name, interferers) in [("alone", 0), ("with another", 1)] {
        let mut receivers: Vec<Reception> = (0..HEARERS).map(receiver).collect();
        let mut now = Time::ZERO;
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let length = mode.duration(black_box(1_538));
                for (receiver, milliwatts) in
                    receivers.iter_mut().zip([1e-6, 2e-6, 1e-5, 3e-6, 5e-7, 1e-7, 1e-5, 2e-7, 4e-7, 6e-7])
                {
                    receiver.begin(now, &Signal { id: 1, milliwatts, mode });
                }
                for _ in 0..interferers {
                    for receiver in &mut receivers {
                        receiver.begin(now + length / 2, &Signal { id: 2, milliwatts: 1e-9, mode });
                    }
                }
                for receiver in &mut receivers {
                    if receiver.end(now + length, 1) == Ended::Payload {
                        black_box(receiver.mpdu(0, 1_538));
                    }
                    if interferers > 0 {
                        receiver.end(now + length, 2);
                    }
                }
                now += length * 2;
            });
        });
    }
    group.finish();
}

criterion_group!(benches, ten_hear_one);
criterion_main!(benches);
