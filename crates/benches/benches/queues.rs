//! The event queue and its rivals under the hold model: take the earliest event, add one a random time later, with a
//! fixed number pending.
//!
//! Two distributions of that time: exponential, and the simulator's own mix, in which one event in eight is a timer a
//! thousand times further away than a packet's hop.

mod rejected;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use des::{Event, EventQueue, RandomStream};
use rejected::{BinaryHeapQueue, CalendarQueue, LadderQueue};
use std::hint::black_box;
use std::time::Duration;
use units::Time;

const DRAWS: usize = 1 << 16;
const HOLDS: usize = 100_000;

fn exponential() -> Vec<u64> {
    let mut random = RandomStream::new(1, "bench/exponential", 0);
    (0..DRAWS).map(|_| random.exponential(1e7) as u64).collect()
}

fn hops_and_timers() -> Vec<u64> {
    let mut random = RandomStream::new(1, "bench/mix", 0);
    (0..DRAWS).map(|_| if random.below(8) == 0 { 20_000_000_000 } else { random.exponential(2e7) as u64 }).collect()
}

fn hold(criterion: &mut Criterion, name: &str, delays: &[u64]) {
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Elements(HOLDS as u64));
    group.sample_size(10).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    for pending in [100, 10_000, 1_000_000] {
        macro_rules! contender {
            ($queue:ty) => {
                let mut queue = <$queue>::default();
                let mut draw = 0;
                for index in 0..pending {
                    queue.push(Time::from_ps(delays[draw % DRAWS]), 0, index, 0);
                    draw += 1;
                }
                let mut turn = |holds: usize| {
                    for _ in 0..holds {
                        let Some(event): Option<Event> = queue.pop() else { return };
                        queue.push(event.time() + Time::from_ps(delays[draw % DRAWS]), 0, event.index, black_box(0));
                        draw += 1;
                    }
                };
                // Past the start, in which every event is equally far away.
                turn(3 * pending as usize);
                let name = stringify!($queue);
                group.bench_function(BenchmarkId::new(name, pending), |bencher| bencher.iter(|| turn(HOLDS)));
            };
        }
        contender!(EventQueue);
        contender!(BinaryHeapQueue);
        contender!(CalendarQueue);
        contender!(LadderQueue);
    }
    group.finish();
}

fn queues(criterion: &mut Criterion) {
    hold(criterion, "exponential", &exponential());
    hold(criterion, "hops-and-timers", &hops_and_timers());
}

criterion_group!(benches, queues);
criterion_main!(benches);
