//! Keys by a law: their weights sum to the whole, and fall to buckets as the same keys do one by one.

use crate::support::Zipf;
use placement::{Bucketing, Engine, KeyLaw, KeyType};

fn bucketing(buckets: u32) -> Bucketing {
    Bucketing::new(Engine::MapReduce, None, KeyType::Text, buckets).expect("a bucketing")
}

/// `SplitMix64`'s finalizer of 1 is 0x5692161d100b05e5 (Steele, Lea and Flood's variant 13 of Stafford); the text is
/// that number in base 26, lowest digit first, as Python prints it.
#[test]
fn texts_are_twelve_letters() {
    assert_eq!(&KeyLaw::key(1), b"xdicbozijhpj");
    assert_eq!(&KeyLaw::key(100_000), b"eryxryurlybb");
}

/// By a sum over each key by itself, drawn up by the tests' own table of Zipf's law.
#[test]
fn buckets_have_the_keys_that_the_hash_gives_them() {
    for (keys, exponent, buckets) in [(1_000, 0.0, 7), (100_000, 1.2, 64), (30_000, 0.8, 100)] {
        let bucketing = bucketing(buckets);
        let mut one_by_one = vec![0.0; buckets as usize];
        for (rank, weight) in (1..).zip(Zipf::new(keys, exponent).weights(1e15)) {
            one_by_one[bucketing.bucket(&KeyLaw::key(rank)).expect("text") as usize] += weight as f64 / 1e15;
        }
        let weights = KeyLaw::new(keys as u64, exponent).classes(bucketing).weights(buckets);
        for (bucket, (law, sum)) in weights.iter().zip(&one_by_one).enumerate() {
            assert!((law - sum).abs() < 1e-9 * sum + 1e-11, "{keys} {exponent} bucket {bucket}: {law}, {sum}");
        }
    }
}

/// Riemann's zeta: zeta(2) = pi^2 / 6, so that of a billion keys with exponent 2 the first one weighs 6 / pi^2; of a
/// trillion equal ones each weighs 10^-12; of a billion with exponent 1 the first weighs 1 / (ln 10^9 + 0.57721566).
#[test]
fn the_weights_of_endless_tails_are_those_of_the_closed_forms() {
    let first = |keys: u64, exponent: f64| KeyLaw::new(keys, exponent).classes(bucketing(16)).head[0].weight;
    let pi = std::f64::consts::PI;
    assert!((first(1_000_000_000, 2.0) * pi * pi / 6.0 - 1.0).abs() < 1e-8);
    assert!((first(1_000_000_000_000, 0.0) * 1e12 - 1.0).abs() < 1e-9);
    let harmonic = 9.0 * std::f64::consts::LN_10 + 0.577_215_664_9;
    assert!((first(1_000_000_000, 1.0) * harmonic - 1.0).abs() < 1e-9);
}

#[test]
fn all_keys_weigh_the_whole_in_bounded_memory() {
    for (keys, exponent) in [(1, 1.2), (4096, 0.5), (1 << 20, 1.0), ((1 << 20) + 1, 1.0), (1_000_000_000_000, 0.9)] {
        let classes = KeyLaw::new(keys, exponent).classes(bucketing(1000));
        let sum: f64 = classes.weights(1000).iter().sum();
        assert!((sum - 1.0).abs() < 1e-9, "{keys}: {sum}");
        let count = classes.head.iter().map(|class| class.keys as f64).sum::<f64>()
            + classes.tail.iter().map(|(keys, _)| keys).sum::<f64>();
        assert!((count / keys as f64 - 1.0).abs() < 1e-12, "{keys}: {count}");
        assert!(classes.head.len() <= 1 << 17 && classes.tail.len() < 400, "{}", classes.head.len());
    }
}

/// Of ten keys by 1 / k those behind the second are the third to the tenth, which together weigh 2.929 - 1.5; those
/// behind a rank within a row of many are counted to the key.
#[test]
fn the_keys_behind_a_rank_are_the_others() {
    let behind = KeyLaw::new(10, 1.0).behind(2);
    assert_eq!(behind.len(), 8);
    assert!((behind[0].1 - 1.0 / 3.0 / 1.428_968_254).abs() < 1e-9, "{behind:?}");
    let many = KeyLaw::new(2_000_000, 0.0).behind(1_234_567);
    assert!((many.iter().map(|(keys, _)| keys).sum::<f64>() - 765_433.0).abs() < 1e-6);
    assert!(KeyLaw::new(10, 1.0).behind(10).is_empty());
}

/// A scan finds the heavy keys that the law names, with their weights.
#[test]
fn the_heaviest_keys_are_those_of_the_law() {
    let heavy = KeyLaw::new(10, 1.0).heaviest(2_929_000);
    // The tenth harmonic number is 2.929: the k-th key has 1,000,000 / k bytes, within the rounding of that number.
    assert_eq!(heavy.len(), 10);
    for (rank, key) in (1_u32..).zip(&heavy) {
        assert!((key.most as f64 * f64::from(rank) / 1e6 - 1.0).abs() < 1e-4, "{rank}: {}", key.most);
        assert_eq!(key.key, KeyLaw::key(rank.into()));
    }
}
