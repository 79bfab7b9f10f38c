//! Bounded histograms beside exact ones.

use crate::support::Zipf;
use des::RandomStream;
use placement::{CountMin, Distinct, HeavyKeys};
use std::collections::BTreeMap;

/// A hash for tests: FNV-1a and a mixing step, not the crate's own.
fn hash(key: u64) -> u64 {
    let hash = key
        .to_le_bytes()
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    let hash = (hash ^ hash >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash ^ hash >> 32
}

/// The bounds of the paper hold for each key: the true weight lies between `least` and `most`, every key that weighs
/// more than 1/counters of the whole has a counter, and the heaviest come in their order.
#[test]
fn heavy_keys_are_found_with_their_weights() {
    let (zipf, mut random) = (Zipf::new(100_000, 1.2), RandomStream::new(1, "placement/test", 0));
    let (mut heavy, mut exact) = (HeavyKeys::new(512), BTreeMap::<u64, u64>::new());
    let mut whole = 0;
    for _ in 0..400_000 {
        let (key, weight) = (zipf.draw(&mut random) as u64, 50 + random.below(100));
        heavy.add(hash(key), &key.to_le_bytes(), weight);
        *exact.entry(key).or_default() += weight;
        whole += weight;
    }
    let found = heavy.heaviest();
    assert_eq!(found.len(), 512);
    let key_of = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
    for one in &found {
        let weight = exact[&key_of(&one.key)];
        assert!(one.least <= weight && weight <= one.most, "{one:?}: {weight}");
    }
    let names: Vec<u64> = found.iter().map(|one| key_of(&one.key)).collect();
    assert_eq!(names[..8], [0, 1, 2, 3, 4, 5, 6, 7]);
    for (key, weight) in exact.iter().filter(|(_, weight)| **weight > whole / 512) {
        assert!(names.contains(key), "{key} weighs {weight} of {whole}");
    }
    // A third of the top key's own weight would be a poor histogram: the bound is 1/512 of the whole.
    assert!(found.iter().take(100).all(|one| one.most - one.least <= whole / 512));
}

/// Counters go on beyond 32 bits, in whatever steps, and those that are below stay as they are.
#[test]
fn the_sketch_counts_beyond_32_bits() {
    let (mut sketch, most) = (CountMin::new(), u64::from(u32::MAX));
    for (key, weight) in [(1, 3), (2, most), (3, most + 1), (4, 1 << 40)] {
        assert_eq!(sketch.add(hash(key), weight), weight);
        assert_eq!(sketch.estimate(hash(key)), weight);
    }
    for (key, sum) in [(1, 5), (2, most + 2), (3, most + 3), (4, (1 << 40) + 2)] {
        assert_eq!(sketch.add(hash(key), 2), sum);
    }
    assert_eq!([1, 2, 3, 4].map(|key| sketch.estimate(hash(key))), [5, most + 2, most + 3, (1 << 40) + 2]);
    assert_eq!(sketch.estimate(hash(5)), 0);
}

#[test]
fn the_sketch_never_thinks_too_little() {
    let (mut sketch, mut exact) = (CountMin::new(), BTreeMap::<u64, u64>::new());
    let mut random = RandomStream::new(2, "placement/test", 0);
    for _ in 0..200_000 {
        let key = random.below(50_000);
        sketch.add(hash(key), 1);
        *exact.entry(key).or_default() += 1;
    }
    // Cormode and Muthukrishnan: above the truth by e/width of the whole with probability e^-rows; width 2^15, rows 4.
    let bound = (std::f64::consts::E / 32_768.0 * 200_000.0) as u64;
    let over = exact.iter().filter(|(key, count)| {
        let estimate = sketch.estimate(hash(**key));
        assert!(estimate >= **count);
        estimate > **count + bound
    });
    assert!(over.count() as f64 <= 0.0183 * exact.len() as f64);
}

/// Two rows of a key share a line, which tells where single keys are heavy: the most of them that can each spoil a row
/// (Markov's inequality) weigh just more than the bound. The sketch's own bound still holds.
#[test]
fn keys_just_above_the_bound_spoil_no_more_than_it_says() {
    const HEAVY: u64 = 12_054;
    let mut over = 0;
    for round in 0..8 {
        let mut sketch = CountMin::new();
        let of = |key: u64| hash(round << 32 | key);
        (0..HEAVY).for_each(|key| {
            sketch.add(of(key), 1_000_001);
        });
        let bound = std::f64::consts::E / 32_768.0 * (HEAVY * 1_000_001) as f64;
        over += (HEAVY..HEAVY + 20_000).filter(|key| sketch.estimate(of(*key)) as f64 > bound).count();
    }
    let part = over as f64 / 160_000.0;
    assert!((0.005..0.0183).contains(&part), "{part}");
}

/// Three standard errors of HyperLogLog with 2^14 registers are 2.4 %.
#[test]
fn different_keys_are_counted_within_three_standard_errors() {
    for keys in [10_u64, 1_000, 30_000, 100_000, 2_000_000] {
        let mut distinct = Distinct::new();
        (0..keys).for_each(|key| distinct.add(hash(key)));
        (0..keys.min(1000)).for_each(|key| distinct.add(hash(key)));
        let error = distinct.count() / keys as f64 - 1.0;
        assert!(error.abs() < 0.0244, "{keys}: {error}");
    }
}
