//! Lines of many words: what placing whole lines can remove.

use crate::support::Zipf;
use des::RandomStream;
use placement::{PairCount, PairSample};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// The model of the anchors: 200,000 lines of ten words by Zipf's law with exponent 1 from a vocabulary of 50,000, on
/// eight nodes. Whole lines by their rarest word have 24 % fewer pairs of a word and a node than lines anywhere, by
/// their first word 2 %.
#[test]
fn whole_lines_of_ten_words_lose_a_quarter_of_their_pairs_at_best() {
    let (zipf, mut random) = (Zipf::new(50_000, 1.0), RandomStream::new(1, "placement/test", 0));
    let mut sample = PairSample::new();
    for _ in 0..200_000 {
        let words: [u64; 10] = std::array::from_fn(|_| {
            let word = zipf.draw(&mut random) as u64 + 1;
            word.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ word << 7
        });
        sample.record(&words);
    }
    assert_eq!(sample.records(), 200_000);
    let pairs = sample.count(8);
    let removed = |now: u64| 1.0 - now as f64 / pairs.native as f64;
    assert!((removed(pairs.rarest) - 0.24).abs() < 0.02, "{}", removed(pairs.rarest));
    assert!((removed(pairs.first) - 0.02).abs() < 0.01, "{}", removed(pairs.first));
    // Each word on one node: what a split layout needs.
    assert!(pairs.split <= 50_000 && removed(pairs.split) > 0.5);
}

/// With one key a record there is nothing to choose: each key on one node, as many pairs as keys.
#[test]
fn one_key_a_record_needs_one_pair_a_key() {
    let mut sample = PairSample::new();
    for record in 0..10_000_u64 {
        sample.record(&[(record % 100 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)]);
    }
    let pairs = sample.count(8);
    assert_eq!((pairs.native, pairs.first, pairs.rarest, pairs.split), (800, 100, 100, 100));
}

/// Each of 50,000 keys comes once in the first half of the records and once in the second: on eight nodes in order these
/// are nodes k and k + 4.
#[test]
fn many_keys_are_told_apart() {
    let mut sample = PairSample::new();
    for record in 0..50_000_u64 {
        sample.record(&[2 * record % 50_000, (2 * record + 1) % 50_000].map(mixed));
    }
    let pairs = sample.count(8);
    assert_eq!((pairs.native, pairs.split), (100_000, 50_000));
}

/// `SplitMix64`'s finalizer (Steele, Lea and Flood 2014), which says the node of a key.
fn mixed(word: u64) -> u64 {
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

/// The pairs as sets.
fn plainly(records: &[Vec<u64>], nodes: u64) -> PairCount {
    let records: Vec<&Vec<u64>> = records.iter().filter(|keys| !keys.is_empty()).collect();
    let mut frequency = BTreeMap::<u64, u32>::new();
    for key in records.iter().copied().flatten() {
        *frequency.entry(*key).or_default() += 1;
    }
    let count = |node: &dyn Fn(usize, &[u64]) -> u64| {
        let pairs = records.iter().enumerate().flat_map(|(number, keys)| {
            let node = node(number, keys);
            keys.iter().map(move |key| (*key, node))
        });
        pairs.collect::<BTreeSet<_>>().len() as u64
    };
    PairCount {
        native: count(&|number, _| number as u64 * nodes / records.len() as u64),
        first: count(&|_, keys| mixed(keys[0]) % nodes),
        rarest: count(&|_, keys| mixed(*keys.iter().min_by_key(|key| (frequency[key], **key)).expect("a key")) % nodes),
        split: frequency.len() as u64,
    }
}

proptest! {
    /// Whatever the hashes are like: few or many, even or all of the same highest bits.
    #[test]
    fn pairs_are_those_of_sets(
        records in prop::collection::vec(prop::collection::vec(0..60_u64, 0..9), 0..80),
        nodes in 1..90_u32,
        even in any::<bool>(),
    ) {
        let hash = |key: u64| if even { mixed(key) } else { key };
        let records: Vec<Vec<u64>> =
            records.into_iter().map(|keys| keys.into_iter().map(hash).collect()).collect();
        let mut sample = PairSample::new();
        for keys in &records {
            sample.record(keys);
        }
        prop_assert_eq!(sample.count(nodes), plainly(&records, u64::from(nodes)));
    }
}
