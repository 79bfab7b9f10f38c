//! What a scan finds, and what a sample says of the whole.

use crate::support::Zipf;
use des::RandomStream;
use placement::{
    Bucketing, Combiner, Engine, Exchange, Filled, HeavyKey, KeyRule, KeyType, Keys, KeysPerRecord, Layout, Node, Plan,
    Profile, Records, Saving, ScanError, best_host_share, node_of_record, pairs_of_a_key,
};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

fn bucketing(buckets: u32) -> Bucketing {
    Bucketing::new(Engine::MapReduce, None, KeyType::Text, buckets).expect("a bucketing")
}

fn rule(text: &str) -> KeyRule {
    text.parse().expect("a rule")
}

#[test]
fn a_scan_counts_records_keys_and_bytes() {
    let mut profile = Profile::new(rule("tokens"), bucketing(16), Layout::Whole, Some(4));
    for line in ["the cat", "", "the dog and the cat", "cat"] {
        profile.record(line.as_bytes(), line.len() as u64 + 1).expect("keys");
    }
    assert_eq!((profile.records, profile.bytes, profile.unkeyed, profile.several), (4, 33, 1, 2));
    assert_eq!((profile.pairs, profile.most_keys), (8, 5));
    // Eight words of 3 letters, each with a value of 4 bytes.
    assert_eq!(profile.exchange, 56);
    assert_eq!(profile.stored, 32);
    assert_eq!(profile.weights.iter().sum::<u64>(), 32);
    assert!((profile.keys_per_record() - 8.0 / 3.0).abs() < 1e-9);
    assert_eq!(profile.distinct().round() as u64, 4);
    assert_eq!(profile.without_key.as_deref(), Some(""));
}

/// Weights of buckets are exact, and the bounds of the heaviest keys hold, whether a key comes again soon, late, or
/// never, and however long it is.
#[test]
fn weights_are_exact_however_keys_come_and_go() {
    let (zipf, mut random) = (Zipf::new(200_000, 0.9), RandomStream::new(7, "placement/test", 0));
    let mut profile = Profile::new(rule("first-tab"), bucketing(64), Layout::Whole, None);
    let (mut exact, mut whole) = (BTreeMap::<String, u64>::new(), 0);
    for _ in 0..300_000 {
        let key = zipf.draw(&mut random);
        let name = if key % 5 == 0 { format!("{key}-{}", "long".repeat(key % 30)) } else { format!("{key}") };
        let record = format!("{name}\t{}", "x".repeat(random.below(90) as usize));
        profile.record(record.as_bytes(), record.len() as u64 + 1).expect("text");
        *exact.entry(name).or_default() += record.len() as u64 + 1;
        whole += record.len() as u64 + 1;
    }
    let mut weights = vec![0; 64];
    for (key, weight) in &exact {
        weights[bucketing(64).bucket(key.as_bytes()).expect("text") as usize] += weight;
    }
    assert_eq!(profile.weights, weights);
    let heaviest = profile.heaviest();
    for key in &heaviest {
        let weight = exact[std::str::from_utf8(&key.key).expect("text")];
        assert!(key.least <= weight && weight <= key.most, "{key:?}: {weight}");
    }
    // Every key that weighs more than 1/4096 of the whole has a counter.
    for (key, _) in exact.iter().filter(|(_, weight)| **weight > whole / 4096) {
        assert!(heaviest.iter().any(|heavy| heavy.key == key.as_bytes()), "{key}");
    }
    assert!((profile.distinct() / exact.len() as f64 - 1.0).abs() < 0.0244);
}

/// A key's weight is whole beyond 32 bits, in whatever steps it comes.
#[test]
fn weights_are_exact_beyond_32_bits() {
    const VALUE: u64 = (1 << 31) + 12_345;
    for value in [VALUE, VALUE << 10] {
        let mut profile = Profile::new(rule("tokens"), bucketing(16), Layout::Split, Some(value));
        for _ in 0..5 {
            profile.record(b"one two one", 12).expect("words");
        }
        let of = |key: &[u8], count: u64| HeavyKey {
            key: key.to_vec(),
            most: count * (value + 5),
            least: count * (value + 5),
        };
        assert_eq!(profile.heaviest(), [of(b"one", 10), of(b"two", 5)]);
    }
}

#[test]
fn a_word_of_another_type_is_shown_with_its_line() {
    let of_ints = Bucketing::new(Engine::Spark, None, KeyType::Int, 8).expect("a bucketing");
    let mut profile = Profile::new(rule("tokens"), of_ints, Layout::Whole, None);
    let error = profile.lines(b"12 13\n\n14 1x\t15\r\n16\n").expect_err("no number");
    let expected = ScanError::Type { key: "1x".to_owned(), of: KeyType::Int, record: "14 1x\t15".to_owned() };
    assert_eq!(error, expected);
    assert_eq!((profile.records, profile.unkeyed, profile.without_key.as_deref()), (3, 1, Some("")));
}

/// What a profile shows.
fn shown<H: placement::Hint>(profile: &Profile<H>) -> String {
    let counts = (profile.records, profile.bytes, profile.unkeyed, profile.several, profile.most_keys, profile.pairs);
    let bytes = (profile.exchange, profile.at_home, profile.stored, &profile.weights);
    let sample = (profile.sample().records(), profile.sample().count(5));
    format!("{counts:?} {bytes:?} {:?} {sample:?} {:?}", profile.without_key, profile.distinct())
}

/// So many keys that most have no place of their own and many take another's counter: whole lines leave what they leave
/// one by one. Which light keys have counters depends on their order, which lines that are taken together change; the
/// bounds of all hold, and each key that weighs more than 1/2^12 of the whole has one.
#[test]
fn many_words_in_whole_lines_are_those_of_the_records() {
    let (zipf, mut random) = (Zipf::new(60_000, 0.8), RandomStream::new(11, "placement/test", 0));
    let mut text = String::new();
    for _ in 0..60_000 {
        for _ in 0..random.below(12) {
            let word = zipf.draw(&mut random);
            text.push_str(&"x".repeat(if word % 700 == 0 { 50 } else { word % 5 }));
            let _ = write!(text, "{word} ");
        }
        text.push('\n');
    }
    for layout in Layout::ALL {
        let profile = || Profile::new(rule("tokens"), bucketing(64), layout, Some(4));
        let (mut whole, mut single) = (profile(), profile());
        text.as_bytes().chunks(10_007).fold(Records::new(), |mut records, piece| {
            records.feed_lines(piece, |lines| whole.lines(lines)).expect("words");
            records
        });
        text.lines().for_each(|line| single.record(line.as_bytes(), line.len() as u64 + 1).expect("words"));
        assert_eq!(shown(&whole), shown(&single), "{layout:?}");
        let mut exact = BTreeMap::<&[u8], u64>::new();
        for line in text.lines() {
            for (number, word) in line.split_whitespace().enumerate() {
                *exact.entry(word.as_bytes()).or_default() += match layout {
                    Layout::Whole => {
                        if number == 0 {
                            line.len() as u64 + 1
                        } else {
                            0
                        }
                    }
                    Layout::Split => word.len() as u64 + 6,
                    Layout::Projected => word.len() as u64 + 1,
                };
            }
        }
        for heaviest in [whole.heaviest(), single.heaviest()] {
            assert_eq!(heaviest.len(), 4096);
            for key in &heaviest {
                let weight = exact[key.key.as_slice()];
                assert!(key.least <= weight && weight <= key.most, "{layout:?} {key:?}: {weight}");
            }
            for (key, _) in exact.iter().filter(|(_, weight)| **weight > whole.stored / 4096) {
                assert!(heaviest.iter().any(|heavy| heavy.key == *key), "{layout:?} {key:?}");
            }
        }
    }
}

/// What a combiner leaves is counted by hand as sets: of each block one pair for a key natively, by key one for each
/// other key in the file of a bucket. More pairs than are kept are estimated: three standard errors of 1/128.
#[test]
fn a_combiner_leaves_a_pair_for_each_key_and_map() {
    const BLOCK: u64 = 40_000;
    let (zipf, mut random) = (Zipf::new(40_000, 0.8), RandomStream::new(9, "placement/test", 0));
    for lines in [400, 60_000] {
        let profile = || {
            Profile::new(rule("tokens"), bucketing(8), Layout::Whole, Some(4))
                .with_combiner(Some(Combiner::new(BLOCK, true)))
        };
        let (mut single, mut whole, mut text) = (profile(), profile(), String::new());
        let (mut native, mut away) = (BTreeSet::new(), BTreeSet::new());
        let bucket_of_8 = |word: &str| bucket_of_64(word) as usize % 8;
        let mut files = [0; 8];
        for _ in 0..lines {
            let words: Vec<String> = (0..random.below(9)).map(|_| zipf.draw(&mut random).to_string()).collect();
            let line = words.join(" ");
            let task = text.len() as u64 / BLOCK;
            let home = words.first().map_or(0, |word| bucket_of_8(word));
            for word in &words {
                native.insert((task, word.clone()));
                if bucket_of_8(word) != home {
                    away.insert((home, files[home] / BLOCK, word.clone()));
                }
            }
            files[home] += if words.is_empty() { 0 } else { line.len() as u64 + 1 };
            single.record(line.as_bytes(), line.len() as u64 + 1).expect("words");
            text.push_str(&line);
            text.push('\n');
        }
        whole.lines(text.as_bytes()).expect("words");
        let bytes = |length: usize| length as f64 + 4.0;
        let native = (native.len() as f64, native.iter().map(|(_, word)| bytes(word.len())).sum::<f64>());
        let away = (away.len() as f64, away.iter().map(|(_, _, word)| bytes(word.len())).sum::<f64>());
        let [single, whole] = [single, whole].map(|profile| profile.combiner.expect("it has one"));
        assert!(lines == 400 || files.iter().all(|bytes| *bytes > 2 * BLOCK), "{files:?}");
        for (found, (pairs, bytes)) in [(&single.native(), native), (single.away(), away)] {
            let error = if pairs <= 16_384.0 { 1e-9 } else { 3.0 / 128.0 };
            assert!((found.pairs() / pairs - 1.0).abs() <= error, "{} of {pairs}", found.pairs());
            assert!((found.bytes() / bytes - 1.0).abs() <= error, "{} of {bytes}", found.bytes());
        }
        let shown = |combiner: &Combiner| (combiner.native().bytes().to_bits(), combiner.away().bytes().to_bits());
        assert_eq!(shown(&single), shown(&whole), "line by line and at once");
    }
}

/// Pairs of a key and its value that take 8 MiB of the sort buffer each with their metadata of 16 bytes: a spill begins
/// at ten, 80 of 100 MiB. A key of both of two spills leaves two pairs. Three spills are combined again in their merge
/// (`MapTask.mergeParts`: `numSpills < minSpillsForCombine` copies). Spark's buffers merge all that they have spilled.
#[test]
fn a_combiner_runs_by_spill_and_in_the_merge_of_three() {
    let left = |lines: &str, block: u64, spills: bool| {
        let mut profile = Profile::new(rule("line"), bucketing(8), Layout::Whole, Some((8 << 20) - 16 - 1))
            .with_combiner(Some(Combiner::new(block, spills)));
        lines.chars().for_each(|key| profile.record(key.to_string().as_bytes(), 2).expect("text"));
        profile.combiner.expect("it has one").native().pairs()
    };
    // A map for each block of 30 bytes: one of two spills, of which the second has no b; one of one spill.
    assert_eq!(left("baaaaaaaaaaaaaaabaaa", 30, true), 3.0 + 2.0);
    assert_eq!(left("baaaaaaaaaaaaaaabaaa", 30, false), 2.0 + 2.0);
    // Of two spills each, in both of which b is; of three spills; of three in the first map, and of two in the
    // last, the second of which has one pair.
    assert_eq!(left("aaaaabaaaaaab", 26, true), 4.0);
    assert_eq!(left("aaaaabaaaaaabaaaaaabaaab", 100, true), 2.0);
    assert_eq!(left(&"ab".repeat(18), 50, true), 2.0 + 3.0);
    assert_eq!([pairs_of_a_key(80e6, 1e5), pairs_of_a_key(84e6, 1e5), pairs_of_a_key(170e6, 1e5)], [1.0, 2.0, 1.0]);
}

/// `Text.hashCode` and `HashPartitioner` of Hadoop, for 64 buckets.
fn bucket_of_64(key: &str) -> i32 {
    let hash = key.bytes().fold(1_i32, |hash, byte| hash.wrapping_mul(31).wrapping_add(i32::from(byte as i8)));
    (hash & i32::MAX) % 64
}

#[test]
fn a_key_of_another_type_is_shown_with_its_record() {
    let of_ints = Bucketing::new(Engine::Spark, None, KeyType::Int, 8).expect("a bucketing");
    let mut profile = Profile::new(rule("column:1:,"), of_ints, Layout::Whole, None);
    profile.record(b"12,x", 5).expect("a number");
    let error = profile.record(b"1x,y", 5).expect_err("no number");
    let expected = ScanError::Type { key: "1x".to_owned(), of: KeyType::Int, record: "1x,y".to_owned() };
    assert_eq!(error, expected);
}

/// A hundredth of the records, in pieces from all over the file, plans what all of them would: the bytes that it says a
/// run saves are within 2 % of what is counted record by record, partitioned by the engine's hash.
#[test]
fn a_sample_plans_what_the_whole_file_saves() {
    const NODES: usize = 16;
    let (zipf, mut random) = (Zipf::new(20_000, 1.1), RandomStream::new(3, "placement/test", 0));
    let mut records: Vec<String> = Vec::new();
    for number in 0..400_000 {
        let (key, more) = (zipf.draw(&mut random), random.below(80) as usize);
        records.push(format!("user-{key}\t{number}{}", "x".repeat(more)));
    }
    let buckets = bucketing(64 * NODES as u32);
    let mut sample = Profile::new(rule("first-tab"), buckets, Layout::Whole, None);
    let (mut sampled, mut whole) = (0, 0);
    for (number, record) in records.iter().enumerate() {
        let length = record.len() as u64 + 1;
        whole += length;
        // Forty neighbours of every four thousand.
        if number % 4000 < 40 {
            sample.record(record.as_bytes(), length).expect("a key");
            sampled += length;
        }
    }
    let factor = whole as f64 / sampled as f64;
    let nodes: Vec<Node> = (0..NODES).map(|node| Node::named(format!("n{node}"))).collect();
    // A job without a combiner: no key is split.
    let plan = Plan::place(buckets, nodes, 3, &sample.weights, &[]).expect("a plan").plan;
    let saving = Saving::of(&Exchange {
        bytes: sample.exchange as f64 * factor,
        away: (sample.exchange - sample.at_home) as f64 * factor,
        partials: 0.0,
        stored: sample.stored as f64 * factor,
        replicas: 3,
        nodes: NODES,
        present: false,
    });
    // The count: natively a record stands on any node, and its pair is reduced where its bucket is.
    let (reducers, mut filled) = (plan.reducers(plan.bucketing().buckets()), Filled::new(&plan));
    let (mut native, mut placed) = (0, 0);
    for record in &records {
        let key = record.split('\t').next().expect("a key").as_bytes();
        let pair = key.len() as u64 + record.len() as u64 + 1;
        let reducer = reducers[buckets.bucket(key).expect("text") as usize];
        native += if random.below(NODES as u64) == u64::from(reducer) { 0 } else { pair };
        let stands = node_of_record(&plan, &rule("first-tab"), record.as_bytes(), &mut Keys::new(), &mut filled);
        placed += if stands == Some(reducer) { 0 } else { pair };
    }
    assert_eq!(placed, 0);
    let error = saving.saved() / native as f64 - 1.0;
    assert!(error.abs() < 0.02, "{error}");
}

/// k* = D (N-1)/N / (S (N-1)/N): a job that exchanges half of its data has paid after two runs.
#[test]
fn runs_to_break_even_follow_from_what_is_routed_and_what_is_saved() {
    let exchange =
        Exchange { bytes: 5e9, away: 0.0, partials: 0.0, stored: 1e10, replicas: 3, nodes: 8, present: false };
    let new = Saving::of(&exchange);
    assert_eq!((new.native, new.placed, new.import, new.runs), (4.375e9, 0.0, 8.75e9, Some(2)));
    // Data that are there already are written anew with all copies: 8.75 and 20 GB.
    let present = Saving::of(&Exchange { present: true, ..exchange });
    assert_eq!((present.import, present.runs), (28.75e9, Some(7)));
    // Each pair travels, and partial results besides: a run exchanges more than natively.
    let worse = Saving::of(&Exchange { away: 5e9, partials: 1e8, ..exchange });
    assert_eq!((worse.saved(), worse.runs), (-1e8, None));
    let useless = Saving::of(&Exchange { away: 5e9, ..exchange });
    assert_eq!((useless.saved(), useless.runs), (0.0, None));
    let alone = Saving::of(&Exchange { nodes: 1, ..exchange });
    assert_eq!((alone.native, alone.runs), (0.0, None));
}

/// The anchors' model: the best node has 57, 38, 21 and 14 % of a bucket of 16 blocks on 8, 16, 64 and 256 nodes.
#[test]
fn without_placement_the_best_node_has_a_part_of_a_bucket() {
    for (nodes, share) in [(8, 0.57), (16, 0.38), (64, 0.21), (256, 0.14)] {
        let found = best_host_share(16, 3, nodes);
        assert!((found - share).abs() < 0.01, "{nodes}: {found}");
    }
}

/// `Text.hashCode` and `HashPartitioner` of Hadoop, for 16 buckets.
fn bucket(key: &str) -> usize {
    let hash = key.bytes().fold(1_i32, |hash, byte| hash.wrapping_mul(31).wrapping_add(i32::from(byte as i8)));
    (hash & i32::MAX) as usize % 16
}

/// `xxx` shares a line of the sketch with each of the others, so that this thinks 18 B of it. Each key has had its counter
/// from the first, and is known exactly.
#[test]
fn keys_that_share_all_counters_of_the_sketch_are_told_apart() {
    let mut profile = Profile::new(rule("tokens"), bucketing(16), Layout::Whole, None);
    for line in [" axaxbcxaxxx", "\txxxxxxbxxcxaaxxx", " xxx"] {
        profile.record(line.as_bytes(), line.len() as u64 + 1).expect("words");
    }
    let known = profile.heaviest().into_iter().map(|key| (key.least, key.most)).collect::<Vec<_>>();
    assert_eq!(known, [(18, 18), (13, 13), (5, 5)]);
}

proptest! {
    /// Quantiles of keys per record are those of the sorted list, and at most a sixteenth above; counters hold all.
    #[test]
    fn keys_per_record_have_their_quantiles(
        records in prop::collection::vec(prop_oneof![0..40_u64, 0..5000_u64, any::<u64>()], 1..300),
        part in 0.01..=1.0_f64,
    ) {
        let (mut histogram, mut sorted) = (KeysPerRecord::new(), records.clone());
        for keys in &records {
            histogram.add(*keys);
        }
        sorted.sort_unstable();
        let exact = sorted[(part * sorted.len() as f64).ceil() as usize - 1];
        let found = histogram.at_most(part);
        prop_assert!(exact <= found && (exact >= 32 || found == exact), "{exact}, {found}");
        prop_assert!(found - exact <= exact / 16, "{exact}, {found}");
        let mut behind = None;
        for (least, most, count) in histogram.counts() {
            prop_assert!(behind.is_none_or(|behind| behind < least) && least <= most);
            prop_assert_eq!(count, records.iter().filter(|keys| (least..=most).contains(*keys)).count() as u64);
            behind = Some(most);
        }
    }

    /// What a scan of lines of words counts is what the lines have, word by word, in each layout and whether a pair has
    /// a value of its own or the whole line.
    #[test]
    fn a_scan_of_words_is_exact(
        lines in prop::collection::vec("[a-c\u{e9}]{0,5}([ \t][a-cx]{0,20}){0,12}", 1..60),
        layout in prop::sample::select(vec![Layout::Whole, Layout::Split, Layout::Projected]),
        value in prop::option::of(0..100_u64),
        at_once in any::<bool>(),
    ) {
        let mut profile = Profile::new(rule("tokens"), bucketing(16), layout, value);
        let (mut exchange, mut at_home, mut stored, mut weights) = (0, 0, 0, vec![0; 16]);
        let (mut pairs, mut most, mut several, mut unkeyed) = (0, 0, 0, 0);
        let mut of_key = BTreeMap::<&str, u64>::new();
        let mut different = BTreeSet::new();
        for line in &lines {
            let length = line.len() as u64 + 1;
            if !at_once {
                profile.record(line.as_bytes(), length).expect("words");
            }
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            pairs += words.len() as u64;
            most = most.max(words.len() as u64);
            several += u64::from(words.len() > 1);
            unkeyed += u64::from(words.is_empty());
            for (number, word) in words.iter().enumerate() {
                let own = word.len() as u64;
                let pair = own + value.unwrap_or(length);
                let kept = match layout {
                    Layout::Whole => if number == 0 { length } else { 0 },
                    // Key, tab and value, each a line; the whole record has its line's end already.
                    Layout::Split => own + 1 + value.map_or(length, |value| value + 1),
                    Layout::Projected => own + 1,
                };
                exchange += pair;
                let is_home = layout != Layout::Whole || bucket(word) == bucket(words[0]);
                at_home += if is_home { pair } else { 0 };
                stored += kept;
                weights[bucket(word)] += kept;
                *of_key.entry(word).or_default() += kept;
                different.insert(*word);
            }
        }
        if at_once {
            profile.lines(format!("{}\n", lines.join("\n")).as_bytes()).expect("words");
        }
        prop_assert_eq!((profile.exchange, profile.at_home, profile.stored), (exchange, at_home, stored));
        prop_assert_eq!(&profile.weights, &weights);
        prop_assert_eq!((profile.pairs, profile.most_keys), (pairs, most));
        prop_assert_eq!((profile.several, profile.unkeyed), (several, unkeyed));
        // Keys that share a register of 16,384 are counted once.
        let keys = different.len() as f64;
        prop_assert!((profile.distinct() - keys).abs() <= 3.0 + 0.03 * keys, "{} of {keys}", profile.distinct());
        // Fewer keys than counters: all are known exactly.
        let known: BTreeMap<String, (u64, u64)> = profile
            .heaviest()
            .into_iter()
            .map(|key| (String::from_utf8(key.key).expect("text"), (key.least, key.most)))
            .collect();
        let expected: BTreeMap<String, (u64, u64)> =
            of_key.into_iter().filter(|(_, kept)| *kept > 0).map(|(key, kept)| (key.into(), (kept, kept))).collect();
        prop_assert_eq!(known, expected);
    }
}

/// White space and its neighbours, words of every length, bytes beyond ASCII.
fn text() -> impl Strategy<Value = Vec<u8>> {
    let any_byte = prop::sample::select(b" \t\r\n\x0c\x0b\x00!az\x7f\x80\xc3\xff".as_slice());
    let piece = prop_oneof![
        8 => prop::collection::vec(any_byte, 0..200),
        4 => prop::collection::vec(any::<u8>(), 0..80),
        4 => "[a-z]{1,18}( [a-zäß日]{1,9}){0,40}\r?\n".prop_map(String::into_bytes),
        2 => (0..40_usize).prop_map(|lines| b"\n".repeat(lines)),
        1 => (0..9000_usize).prop_map(|word| vec![b'w'; word]),
        1 => (0..5000_usize).prop_map(|words| b"x ".repeat(words)),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    /// Whole lines leave what they leave one by one, wherever the pieces of a stream end: any bytes, lines that fit the
    /// bounds of words and such that do not, and for keys of any rule.
    #[test]
    fn whole_lines_are_their_records(
        text in text(),
        layout in prop::sample::select(vec![Layout::Whole, Layout::Split, Layout::Projected]),
        value in prop::option::of(0..100_u64),
        piece in 1..6000_usize,
        key in prop::sample::select(vec!["tokens", "tokens", "first-tab", "line", "regex:[a-z]"]),
        engine in prop::sample::select(vec![Engine::MapReduce, Engine::Spark]),
    ) {
        let buckets = Bucketing::new(engine, None, KeyType::Text, 48).expect("a bucketing");
        let profile = || Profile::new(rule(key), buckets, layout, value);
        let (mut whole, mut single, mut records) = (profile(), profile(), Records::new());
        for piece in text.chunks(piece) {
            records.feed_lines(piece, |lines| whole.lines(lines)).expect("text");
        }
        records.end_lines(|lines| whole.lines(lines)).expect("text");
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            let record = line.strip_suffix(b"\n").unwrap_or(line);
            single.record(record.strip_suffix(b"\r").unwrap_or(record), line.len() as u64).expect("text");
        }
        prop_assert_eq!(shown(&whole), shown(&single));
    }
}
