//! SequenceFiles that Hadoop has written (`tests/files/WriteSequenceFiles.java`), and ones that it would not write.

use crate::support::{Scratch, each, file, keys, scan};
use placement::{Bucketing, Engine, KeyType, Keys, ScanError};
use records::{Sample, Sink, Source};
use std::fs;

fn user(record: usize) -> String {
    format!("user-{}", record * 7919 % 37)
}

const PACKINGS: [&str; 7] =
    ["plain", "values-default", "values-snappy", "blocks-default", "blocks-bzip2", "blocks-snappy", "blocks-lz4"];

#[test]
fn keys_are_read_whatever_the_packing() {
    for name in PACKINGS {
        let (of, found) = keys(&format!("{name}.seq"), None);
        assert_eq!((of, found), (KeyType::Text, each(600, user)), "{name}");
    }
}

#[test]
fn a_rule_for_text_finds_keys_in_values() {
    for name in PACKINGS {
        let (of, found) = keys(&format!("{name}.seq"), Some("column:2"));
        // Every fiftieth value is empty.
        let expected: Vec<Vec<String>> = (0..600)
            .map(|record| if record % 50 == 49 { Vec::new() } else { vec![format!("item-{}", record % 13)] })
            .collect();
        assert_eq!((of, found), (KeyType::Text, expected), "{name}");
    }
}

#[test]
fn each_writable_is_a_key_of_its_type() {
    let numbers = [0_i64, 1, -1, 127, -112, -113, 300, -70_000];
    let expected = |key: &dyn Fn(i64) -> String| numbers.iter().map(|n| vec![key(*n)]).collect::<Vec<_>>();
    for (name, of, key) in [
        ("bytes", KeyType::Bytes, &(|n: i64| format!("k{n}")) as &dyn Fn(i64) -> String),
        ("byte", KeyType::Int, &|n| (n as i8).to_string()),
        ("short", KeyType::Int, &|n| (n as i16).to_string()),
        ("int", KeyType::Int, &|n| n.to_string()),
        ("long", KeyType::Long, &|n| (n << 33).to_string()),
        ("vint", KeyType::Int, &|n| n.to_string()),
        ("vlong", KeyType::Long, &|n| (n << 33).to_string()),
        ("float", KeyType::Float, &|n| (n as f32 / 4.0).to_string()),
        ("double", KeyType::Double, &|n| (n as f64 / 4.0).to_string()),
        ("boolean", KeyType::Boolean, &|n| (n > 0).to_string()),
    ] {
        assert_eq!(keys(&format!("key-{name}.seq"), None), (of, expected(key)), "{name}");
    }
    let error = scan(&file("key-null.seq"), None, 1.0).err().expect("no key").to_string();
    assert!(error.contains("NullWritable") && error.contains("LongWritable") && error.contains("Text"), "{error}");
    assert_eq!(keys("key-null.seq", Some("line")), (KeyType::Text, expected(&|n| format!("n{n}"))));
    let error = scan(&file("key-int.seq"), Some("column:2"), 1.0).err().expect("no text").to_string();
    assert!(error.contains("NullWritable") && error.contains("--key key"), "{error}");
    let error = scan(&file("plain.seq"), Some("column:user"), 1.0).err().expect("no columns").to_string();
    assert!(error.contains("no column `user`"), "{error}");
}

/// The bucket of each record's key.
struct Buckets(Bucketing, Vec<Option<u32>>);

impl Sink for Buckets {
    fn record(&mut self, _: &[u8], _: u64) -> Result<(), ScanError> {
        unreachable!("keys stand beside their records")
    }
    fn keyed(&mut self, keys: &Keys, _: u64) -> Result<(), ScanError> {
        self.1.extend(keys.iter(&[]).map(|key| self.0.bucket(key)));
        Ok(())
    }
}

/// `tests/files/buckets.tsv` was printed by Hadoop's `HashPartitioner` over the keys that its reader hands out.
#[test]
fn each_writable_is_in_the_bucket_where_hadoop_has_it() {
    let mut classes = Vec::new();
    for line in include_str!("../files/buckets.tsv").lines() {
        let cells: Vec<&str> = line.split('\t').collect();
        let [name, class, buckets, printed @ ..] = &cells[..] else { panic!("four columns: {line}") };
        let source = Source::open(&file(name)).expect("it opens");
        // All are in one bucket of a job, of which there is nothing to place.
        if *class == "NullWritable" {
            assert!(source.key(None).is_err() && printed.iter().all(|bucket| *bucket == "0"));
            continue;
        }
        let (rule, of) = source.key(None).expect("its keys");
        let buckets = buckets.parse().expect("a number");
        let bucketing = Bucketing::new(Engine::MapReduce, None, of, buckets).expect("MapReduce's");
        let mut found = Buckets(bucketing, Vec::new());
        source.scan(&rule, Sample::new(1.0), &mut found, &mut |_| true).expect("its records");
        let printed: Vec<Option<u32>> = printed.iter().map(|bucket| bucket.parse().ok()).collect();
        assert_eq!(found.1, printed, "{line}");
        classes.push((*class).to_owned());
    }
    classes.sort_unstable();
    classes.dedup();
    assert_eq!(classes.len(), 11, "{classes:?}");
}

/// Hadoop's `SequenceFileInputFormat` cuts a file into splits by the same rule: each record belongs to one piece.
#[test]
fn a_sample_has_whole_runs_from_all_over_the_file() {
    for name in ["plain", "blocks-default"] {
        // Many copies of the file's records behind one head: a marker stands before each.
        let bytes = fs::read(file(&format!("{name}.seq"))).expect("read");
        let copies = grown(&bytes, 400);
        let scratch = Scratch::new(&format!("grown-{name}.seq"), &copies);
        let (_, all, bytes) = scan(&scratch.0, None, 1.0).expect("whole");
        assert_eq!(all.keys.len(), 240_000, "{name}");
        let (_, part, estimate) = scan(&scratch.0, None, 0.1).expect("a sample");
        let share = part.keys.len() as f64 / all.keys.len() as f64;
        assert!((0.05..0.2).contains(&share), "{name}: {share}");
        assert!((estimate as f64 / bytes as f64 - 1.0).abs() < 0.02, "{name}: {estimate} of {bytes}");
    }
}

/// The file's records over and over. The head ends where the first marker stands in it: what begins a run of records is
/// that marker behind an escape, which plain files have none of before their first record.
fn grown(bytes: &[u8], times: usize) -> Vec<u8> {
    // Version 6: two class names, two flags, perhaps a codec, no metadata, a marker.
    let text = |at: usize| at + 1 + bytes[at] as usize;
    let flags = text(text(4));
    let metadata = if bytes[flags] == 1 { text(flags + 2) } else { flags + 2 };
    let begin = metadata + 4 + 16;
    let escape = [&[0xff; 4], &bytes[metadata + 4..begin]].concat();
    let (head, body) = bytes.split_at(begin);
    let mut grown = head.to_vec();
    for _ in 0..times {
        if !body.starts_with(&escape) {
            grown.extend_from_slice(&escape);
        }
        grown.extend_from_slice(body);
    }
    grown
}

#[test]
fn what_is_broken_is_refused_at_its_byte() {
    let plain = fs::read(file("plain.seq")).expect("read");
    let cut = Scratch::new("cut.seq", &plain[..plain.len() - 3]);
    let error = scan(&cut.0, None, 1.0).err().expect("cut").to_string();
    assert!(error.contains("the file ends after"), "{error}");
    let mut version = plain.clone();
    version[3] = 4;
    let old = Scratch::new("old.seq", &version);
    assert!(scan(&old.0, None, 1.0).err().expect("old").to_string().contains("version 4"));
    let blocks = fs::read(file("blocks-default.seq")).expect("read");
    // The codec's name, with another letter.
    let at = blocks.windows(12).position(|window| window == b"DefaultCodec").expect("its codec");
    let mut unknown = blocks.clone();
    unknown[at] = b'X';
    let unknown = Scratch::new("unknown.seq", &unknown);
    let error = scan(&unknown.0, None, 1.0).err().expect("unknown").to_string();
    assert!(error.contains("XefaultCodec") && error.contains("SnappyCodec"), "{error}");
}
