//! Lines of many words: what placing whole lines can remove.

use crate::support::Zipf;
use des::RandomStream;
use placement::PairSample;

/// The model of the anchors: 200,000 lines of ten words by Zipf's law with exponent 1 from a vocabulary of 50,000, on
/// eight nodes. Whole lines by their rarest word have 24 % fewer pairs of a word and a node than lines anywhere, by
/// their first word 2 %.
#[test]
fn whole_lines_of_ten_words_lose_a_quarter_of_their_pairs_at_best() {
    let (zipf, mut random) = (Zipf::new(50_000, 1.0), RandomStream::new(1, "placement/test", 0));
    let mut sample = PairSample::new();
    for _ in 0..200_000 {
        for _ in 0..10 {
            let word = zipf.draw(&mut random) as u64 + 1;
            sample.add(word.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ word << 7);
        }
        sample.end_record();
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
        sample.add((record % 100 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        sample.end_record();
    }
    let pairs = sample.count(8);
    assert_eq!((pairs.native, pairs.first, pairs.rarest, pairs.split), (800, 100, 100, 100));
}
