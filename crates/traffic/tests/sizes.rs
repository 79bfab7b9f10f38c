//! Distributions of sizes against their closed forms: means, quantiles, and the Kolmogorov-Smirnov distance of what is
//! drawn.

use des::RandomStream;
use traffic::{Cdf, Pareto, Sizes, SizesError};
use units::Bytes;

const DRAWS: usize = 40_000;

/// The largest distance of the drawn sizes' distribution from `cdf`, the share of sizes up to x.
fn distance(sizes: &Sizes, cdf: impl Fn(f64) -> f64) -> f64 {
    let mut random = RandomStream::new(7, "test/sizes", 0);
    let mut drawn: Vec<f64> = (0..DRAWS).map(|_| sizes.draw(&mut random).get() as f64).collect();
    drawn.sort_by(f64::total_cmp);
    let part = |count: usize| count as f64 / DRAWS as f64;
    let off = |(at, x): (usize, &f64)| (cdf(*x) - part(at)).abs().max((cdf(*x) - part(at + 1)).abs());
    drawn.iter().enumerate().map(off).fold(0.0, f64::max)
}

/// A distance that is exceeded once in a hundred times: 1.63 / sqrt(n).
fn holds(sizes: &Sizes, cdf: impl Fn(f64) -> f64) {
    let distance = distance(sizes, cdf);
    assert!(distance < 1.63 / (DRAWS as f64).sqrt(), "{sizes:?}: {distance}");
}

fn drawn_mean(sizes: &Sizes) -> f64 {
    let mut random = RandomStream::new(3, "test/sizes", 1);
    (0..DRAWS).map(|_| sizes.draw(&mut random).get() as f64).sum::<f64>() / DRAWS as f64
}

#[test]
fn uniform_sizes() {
    // Whole numbers: 1000 to 3000 are 2001 sizes.
    let sizes = Sizes::Uniform { least: Bytes::new(1_000), most: Bytes::new(3_000) };
    assert_eq!(sizes.mean(), 2_000.0);
    assert_eq!((sizes.quantile(0.0).get(), sizes.quantile(0.999_999).get()), (1_000, 3_000));
    holds(&sizes, |x| ((x - 999.5) / 2_001.0).clamp(0.0, 1.0));
}

#[test]
fn exponential_sizes() {
    let sizes = Sizes::Exponential { mean: Bytes::new(100_000) };
    assert_eq!(sizes.mean(), 100_000.0);
    // The median is the mean times ln 2.
    assert_eq!(sizes.quantile(0.5).get(), 69_315);
    holds(&sizes, |x| 1.0 - libm::exp(-x / 100_000.0));
    // The standard error of the mean is the mean over the root of n.
    assert!((drawn_mean(&sizes) / 100_000.0 - 1.0).abs() < 3.0 / (DRAWS as f64).sqrt());
}

#[test]
fn pareto_sizes_without_a_cap() {
    // Shape 2 and mean 20,000: the least is 10,000, and half exceed it by the root of 2.
    let sizes = Sizes::Pareto(Pareto::new(2.0, Bytes::new(20_000), None).unwrap());
    assert!((sizes.mean() - 20_000.0).abs() < 1e-6);
    assert_eq!(
        (sizes.quantile(0.0).get(), sizes.quantile(0.5).get(), sizes.quantile(0.99).get()),
        (10_000, 14_142, 100_000)
    );
    holds(&sizes, |x| 1.0 - (10_000.0 / x).powi(2));
    assert_eq!(Pareto::new(1.0, Bytes::new(20_000), None), Err(SizesError::Shape));
}

/// The mean by adding up x times the probability of many thin slices of the bounded distribution.
fn bounded_mean(shape: f64, least: f64, cap: f64) -> f64 {
    let share = |x: f64| (1.0 - libm::pow(least / x, shape)) / (1.0 - libm::pow(least / cap, shape));
    let slices = 400_000;
    let edge = |k: i32| least * libm::pow(cap / least, f64::from(k) / f64::from(slices));
    (0..slices).map(|k| (share(edge(k + 1)) - share(edge(k))) * (edge(k) + edge(k + 1)) / 2.0).sum()
}

#[test]
fn pareto_sizes_with_a_cap() {
    for shape in [0.5, 1.0, 1.2, 2.5] {
        let (mean, cap) = (50_000.0, 2_000_000.0);
        let sizes = Sizes::Pareto(Pareto::new(shape, Bytes::new(50_000), Some(Bytes::new(2_000_000))).unwrap());
        // The distribution has the mean that was asked for: by integration over what it draws at each share.
        let least = (0..100_000).map(|k| sizes.quantile(f64::from(k) / 1e5).get()).min().unwrap() as f64;
        let by_slices = bounded_mean(shape, least, cap);
        assert!((by_slices / mean - 1.0).abs() < 0.01, "{shape}: {by_slices} from {least}");
        assert!((sizes.mean() / mean - 1.0).abs() < 1e-9);
        assert!(sizes.quantile(0.999_999_999).get() <= 2_000_000);
        if least > 1_000.0 {
            holds(&sizes, |x| (1.0 - libm::pow(least / x, shape)) / (1.0 - libm::pow(least / cap, shape)));
        }
    }
    let too_low = Pareto::new(1.2, Bytes::new(50_000), Some(Bytes::new(50_000)));
    assert_eq!(too_low, Err(SizesError::Cap));
}

/// The published points, and means added up by hand from the middles of the pieces.
#[test]
fn web_search_and_data_mining() {
    let web = Sizes::Empirical(Cdf::web_search());
    assert!((web.mean() - 1_711_250.0).abs() < 1e-6, "{}", web.mean());
    for (bytes, share) in [(10_000, 0.15), (80_000, 0.53), (1_000_000, 0.7), (10_000_000, 0.97)] {
        assert_eq!(web.quantile(share).get(), bytes);
    }
    // Half-way between two points, half-way between their sizes.
    assert_eq!(web.quantile(0.65).get(), 600_000);
    let mining = Sizes::Empirical(Cdf::data_mining());
    assert!((mining.mean() - 12_658_199.6).abs() < 1.0, "{}", mining.mean());
    assert_eq!((mining.quantile(0.5).get(), mining.quantile(0.8).get()), (1_100, 10_000));
    // What is known of the two without their tables (Alizadeh et al., "pFabric", SIGCOMM 2013, on its workloads): of
    // web search more than 95 % of the bytes are in the 30 % of the flows above 1 MB (at these points 95.0); of data
    // mining 80 % of the flows are below 10 KB, and 95 % of the bytes in those few above 35 MB.
    let (flows, bytes) = above(&web, 1e6);
    assert!((flows - 0.3).abs() < 0.01 && (0.94..0.96).contains(&bytes), "{flows} {bytes}");
    let (flows, bytes) = above(&mining, 35e6);
    assert!((0.03..0.045).contains(&flows) && bytes > 0.95, "{flows} {bytes}");
    assert!((above(&mining, 10e3).0 - 0.2).abs() < 0.01);
}

/// Which share of what is drawn exceeds a size, in flows and in bytes.
fn above(sizes: &Sizes, least: f64) -> (f64, f64) {
    let mut random = RandomStream::new(5, "test/sizes", 2);
    let drawn: Vec<f64> = (0..DRAWS).map(|_| sizes.draw(&mut random).get() as f64).collect();
    let large: Vec<f64> = drawn.iter().copied().filter(|bytes| *bytes > least).collect();
    (large.len() as f64 / drawn.len() as f64, large.iter().sum::<f64>() / drawn.iter().sum::<f64>())
}

#[test]
fn points_that_are_no_distribution() {
    assert_eq!(Cdf::new(vec![]), Err(SizesError::Empty));
    assert_eq!(Cdf::new(vec![(1.0, 0.5), (2.0, 0.9)]), Err(SizesError::End(0.9)));
    assert_eq!(Cdf::new(vec![(10.0, 0.0), (5.0, 1.0)]), Err(SizesError::Order(1)));
    assert_eq!(Cdf::new(vec![(1.0, 0.6), (2.0, 0.5), (3.0, 1.0)]), Err(SizesError::Order(1)));
    // A first share above zero is that of sizes equal to the first.
    let sizes = Sizes::Empirical(Cdf::new(vec![(100.0, 0.4), (200.0, 1.0)]).unwrap());
    assert_eq!((sizes.quantile(0.1).get(), sizes.quantile(0.4).get(), sizes.quantile(0.7).get()), (100, 100, 150));
    assert!((sizes.mean() - 130.0).abs() < 1e-9);
}
