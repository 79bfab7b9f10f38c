//! Max-min fair rates of a shuffle between all of some hosts on a star, from its first flow to its last: the solver of
//! flow level, and one that fills all links anew whenever a flow ends.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use std::time::Duration;
use transport::fluid::{Fluid, Hop, PRECISION, WHOLE};

/// Bytes per second of each host's link, in either direction.
const CAPACITY: f64 = 125e6;

/// Who sends to whom, and how many bytes: 5 to 15 MB by a linear congruential generator.
fn shuffle(hosts: u32) -> Vec<(u32, u32, f64)> {
    let pairs = (0..hosts).flat_map(|from| (0..hosts).filter(move |to| *to != from).map(move |to| (from, to)));
    let mut drawn = 1_u32;
    let sized = pairs.map(|(from, to)| {
        drawn = drawn.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (from, hosts + to, (1e7 * (0.5 + f64::from(drawn >> 8) / 16_777_216.0)).floor())
    });
    sized.collect()
}

fn by_levels(hosts: u32) -> f64 {
    let mut fluid = Fluid::new(vec![CAPACITY; 2 * hosts as usize], PRECISION);
    for (from, to, bytes) in shuffle(hosts) {
        fluid.start(0.0, &[from, to].map(|link| Hop { link, weight: WHOLE, ahead: false }), f64::INFINITY, bytes);
    }
    let mut now = 0.0;
    fluid.settle(now);
    while let Some(end) = fluid.next_end() {
        now = end;
        while let Some(id) = fluid.ended(now) {
            fluid.stop(now, id);
        }
        fluid.settle(now);
    }
    now
}

fn filled_anew(hosts: u32) -> f64 {
    let mut flows = shuffle(hosts);
    let links = 2 * hosts as usize;
    let mut now = 0.0;
    while !flows.is_empty() {
        let mut on: Vec<Vec<u32>> = vec![Vec::new(); links];
        for (number, (from, to, _)) in (0..).zip(&flows) {
            on[*from as usize].push(number);
            on[*to as usize].push(number);
        }
        let (mut rest, mut open) = (vec![CAPACITY; links], on.iter().map(Vec::len).collect::<Vec<_>>());
        let mut rates = vec![f64::NAN; flows.len()];
        loop {
            let shares = (0..links).filter(|link| open[*link] > 0).map(|link| (rest[link] / open[link] as f64, link));
            let Some((rate, link)) = shares.min_by(|a, b| a.0.total_cmp(&b.0)) else { break };
            for number in &on[link] {
                let number = *number as usize;
                if rates[number].is_nan() {
                    rates[number] = rate;
                    for link in [flows[number].0 as usize, flows[number].1 as usize] {
                        rest[link] -= rate;
                        open[link] -= 1;
                    }
                }
            }
        }
        let step = flows.iter().zip(&rates).map(|((.., left), rate)| left / rate).fold(f64::INFINITY, f64::min);
        now += step;
        for ((.., left), rate) in flows.iter_mut().zip(&rates) {
            *left -= rate * step;
        }
        // A thousandth of a byte is rounding.
        flows.retain(|(.., left)| *left > 1e-3);
    }
    now
}

fn max_min(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("max-min/shuffle");
    group.sample_size(10).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(4));
    for hosts in [50, 100, 200] {
        group.bench_function(BenchmarkId::new("levels", hosts), |bencher| bencher.iter(|| by_levels(black_box(hosts))));
        if hosts <= 100 {
            let name = BenchmarkId::new("filled anew", hosts);
            group.bench_function(name, |bencher| bencher.iter(|| filled_anew(black_box(hosts))));
        }
    }
    group.finish();
    let (levels, anew) = (by_levels(50), filled_anew(50));
    assert!((levels - anew).abs() <= 1e-6 * anew, "both end at the same time: {levels} s, {anew} s");
}

criterion_group!(benches, max_min);
criterion_main!(benches);
