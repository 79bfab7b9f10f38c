//! Statistics against independent calculations.

use des::{Histogram, Interval, RandomStream, TimeWeighted};
use units::Time;

#[test]
fn time_weighted_mean_is_the_integral_over_the_time() {
    let mut queue = TimeWeighted::new(Time::from_secs(10));
    queue.set(Time::from_secs(11), 4);
    queue.set(Time::from_secs(13), 1);
    // 0 for 1 s, 4 for 2 s, 1 for 7 s.
    assert_eq!(queue.mean(Time::from_secs(20)), (8.0 + 7.0) / 10.0);
    assert_eq!((queue.maximum(), queue.value()), (4, 1));
    assert_eq!(TimeWeighted::new(Time::ZERO).mean(Time::ZERO), 0.0);
}

#[test]
fn histogram_quantiles_are_within_its_bucket_width() {
    let mut random = RandomStream::new(1, "values", 0);
    let mut values: Vec<u64> = (0..20_000).map(|_| random.next_u64() >> random.below(60)).collect();
    let mut histogram = Histogram::new();
    for value in &values {
        histogram.record(*value);
    }
    values.sort_unstable();
    for q in [0.01, 0.25, 0.5, 0.9, 0.99, 1.0] {
        let exact = values[((q * values.len() as f64).ceil() as usize).clamp(1, values.len()) - 1];
        let got = histogram.quantile(q);
        assert!(
            got >= exact && got as f64 <= exact as f64 * (1.0 + 1.0 / 128.0) + 1.0,
            "q {q}: {got}, exactly {exact}"
        );
    }
    assert_eq!(histogram.maximum(), values[values.len() - 1]);
    assert_eq!(histogram.count(), 20_000);
    let mean = values.iter().map(|v| u128::from(*v)).sum::<u128>() as f64 / 20_000.0;
    assert_eq!(histogram.mean(), mean);
}

#[test]
fn histogram_is_exact_for_small_values() {
    let mut histogram = Histogram::new();
    for value in 0..256 {
        histogram.record(value);
    }
    for value in 0..256_u64 {
        assert_eq!(histogram.quantile((value + 1) as f64 / 256.0), value);
    }
}

#[test]
fn a_histogram_accumulates_to_all_of_its_values() {
    let mut histogram = Histogram::new();
    assert_eq!(histogram.cumulative(10), []);
    for value in [3, 1, 10, 2, 3, 1, 3] {
        histogram.record(value);
    }
    assert_eq!(histogram.cumulative(100), [(1, 2), (2, 3), (3, 6), (10, 7)]);
    assert_eq!(histogram.cumulative(2), [(3, 6), (10, 7)], "half of them, all of them");
    let mut random = RandomStream::new(1, "values", 0);
    for _ in 0..10_000 {
        histogram.record(random.below(1 << 40));
    }
    let points = histogram.cumulative(50);
    assert!(points.len() <= 50 && points.is_sorted_by(|a, b| a.0 < b.0 && a.1 < b.1), "{points:?}");
    assert_eq!(points.last(), Some(&(histogram.maximum(), 10_007)));
    for (k, (bound, count)) in points.iter().enumerate() {
        assert_eq!(histogram.quantile((*count as f64 - 0.5) / 10_007.0), *bound);
        assert!(*count as usize * 50 >= 10_007 * (k + 1), "point {k} holds {count}");
    }
}

#[test]
fn interval_of_a_known_sample() {
    // Mean 5, standard deviation 2.1381 (n - 1), t(7) = 2.3646: half-width 2.3646 * 2.1381 / sqrt(8).
    let interval = Interval::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
    assert_eq!(interval.mean, 5.0);
    assert!((interval.half_width - 1.7875).abs() < 1e-3, "{}", interval.half_width);
    assert_eq!(Interval::of(&[]), None);
    assert_eq!(Interval::of(&[3.0]).unwrap().half_width, f64::INFINITY);
}

#[test]
fn interval_covers_the_mean_19_times_in_20() {
    let mut random = RandomStream::new(2, "coverage", 0);
    for n in [5, 50] {
        let covered = (0..4_000)
            .filter(|_| {
                let sample: Vec<f64> = (0..n).map(|_| 3.0 + random.normal()).collect();
                let interval = Interval::of(&sample).unwrap();
                (interval.mean - 3.0).abs() <= interval.half_width
            })
            .count();
        // Binomial(4000, 0.95): standard deviation 13.8.
        assert!((3_745..=3_855).contains(&covered), "n {n}: {covered} of 4000");
    }
}
