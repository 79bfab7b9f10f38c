//! Buckets beside those that the engines' own classes have printed.
//!
//! `tests/vectors/engines.tsv` has hash, type, key, number of buckets and bucket. It was printed by the programs beside
//! it: `tests/vectors/README.md` says how.

use placement::{
    Bucketing, BucketingError, Engine, Hash, KeyRule, KeyType, Layout, Profile, Value, python_hash_of_text,
};
use std::collections::BTreeMap;

fn hash_of(name: &str) -> Hash {
    Hash::ALL.into_iter().find(|hash| hash.name() == name).expect("a known hash")
}

fn engine_of(hash: Hash) -> Engine {
    Engine::ALL.into_iter().find(|engine| engine.hashes().contains(&hash)).expect("some engine's")
}

fn type_of(name: &str) -> KeyType {
    KeyType::ALL.into_iter().find(|of| of.name() == name).expect("a known type")
}

#[test]
fn buckets_are_those_of_the_engines_own_classes() {
    let mut seen: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for line in include_str!("../vectors/engines.tsv").lines() {
        let cells: Vec<&str> = line.split('\t').collect();
        let [hash, of, key, buckets, bucket] = cells[..] else { panic!("five columns: {line}") };
        let name = hash_of(hash);
        let (buckets, bucket) = (buckets.parse().expect("a number"), bucket.parse().expect("a number"));
        let bucketing = Bucketing::new(engine_of(name), Some(name), type_of(of), buckets).expect("the engine's");
        assert_eq!(bucketing.bucket(key.as_bytes()), Some(bucket), "{line}");
        // A scan reads a key within its text. Each word of the line stands elsewhere in it.
        if !key.is_empty() && !key.contains([' ', '\t', '\n', '\r', '\u{c}']) {
            let text = format!("{key} {key}\n{}", format!("{key}\n").repeat(20));
            let mut profile = Profile::new(KeyRule::Tokens, bucketing, Layout::Projected, None);
            profile.lines(text.as_bytes()).expect("values");
            let mut weights = vec![0; bucketing.buckets() as usize];
            weights[bucket as usize] = 22 * (key.len() as u64 + 1);
            assert!(profile.weights == weights, "{line}");
        }
        *seen.entry((hash, of)).or_default() += 1;
    }
    // Each hash with each of its types has been printed by its engine.
    for hash in Hash::ALL {
        for of in hash.types() {
            assert!(seen.contains_key(&(hash.name(), of.name())), "{hash} of {of}");
        }
    }
}

/// Iceberg's table specification, appendix B, has these hashes before the remainder: all of its table of types that
/// buckets are made of.
#[test]
fn icebergs_hashes_are_those_of_its_specification() {
    for (of, key, hash) in [
        (KeyType::Int, "34", 2_017_239_379),
        (KeyType::Long, "34", 2_017_239_379),
        (KeyType::Decimal, "14.20", -500_754_589),
        (KeyType::Date, "2017-11-16", -653_330_422),
        (KeyType::Time, "22:31:08", -662_762_989),
        (KeyType::Timestamp, "2017-11-16T22:31:08", -2_047_944_441),
        (KeyType::Timestamp, "2017-11-16T22:31:08.000001", -1_207_196_810),
        (KeyType::Timestamp, "2017-11-16T14:31:08-08:00", -2_047_944_441),
        (KeyType::Timestamp, "2017-11-16T14:31:08.000001-08:00", -1_207_196_810),
        // Nanoseconds are cut to microseconds.
        (KeyType::Timestamp, "2017-11-16T22:31:08.000001001", -1_207_196_810),
        (KeyType::Timestamp, "2017-11-16T14:31:08.000001001-08:00", -1_207_196_810),
        (KeyType::Text, "iceberg", 1_210_000_089),
        (KeyType::Uuid, "f79c3e09-677c-4bbd-a479-3f349cb785e7", 1_488_055_340),
        // Of type fixed and of type binary.
        (KeyType::Bytes, "\u{0}\u{1}\u{2}\u{3}", -188_683_207),
    ] {
        let value = of.value(key.as_bytes()).expect("a value");
        assert_eq!(Hash::IcebergBucket.of(value), Some(hash), "{of} {key}");
    }
    // Buckets of what its second table has are not valid.
    for of in [KeyType::Boolean, KeyType::Float, KeyType::Double] {
        assert!(!Hash::IcebergBucket.types().contains(&of), "{of}");
    }
}

/// The empty string is 0 in every version, whatever the seed. A NaN's hash is its place in memory.
#[test]
fn pythons_empty_string_is_zero_and_broken_text_and_nan_have_no_hash() {
    assert_eq!(python_hash_of_text(b""), Some(0));
    assert_eq!(python_hash_of_text(b"\xff\xfe"), None);
    assert_eq!(Hash::PySpark.of(Value::Double(f64::NAN)), None);
}

#[test]
fn another_engines_hash_is_refused_and_so_is_a_type_without_a_bucket() {
    let error = Bucketing::new(Engine::Spark, Some(Hash::HiveV1), KeyType::Text, 8).expect_err("Hive's is not Spark's");
    assert!(matches!(&error, BucketingError::NotOfEngine { known, .. } if known.contains("murmur3")), "{error}");
    let error = Bucketing::new(Engine::Hive, None, KeyType::Uuid, 8).expect_err("Hive has no UUIDs");
    assert!(matches!(&error, BucketingError::Type { known, .. } if known.contains("text")), "{error}");
}

#[test]
fn what_is_no_value_of_the_type_has_no_bucket() {
    for (of, key) in [
        (KeyType::Int, "12a"),
        (KeyType::Int, "2147483648"),
        (KeyType::Long, ""),
        (KeyType::Boolean, "yes"),
        (KeyType::Date, "2023-02-29"),
        (KeyType::Date, "1900-02-29"),
        (KeyType::Date, "2023-13-01"),
        (KeyType::Date, "202-01-01"),
        (KeyType::Date, "2023-+1-01"),
        (KeyType::Time, "24:00:00"),
        (KeyType::Time, "22:31"),
        (KeyType::Time, "22:31:08."),
        (KeyType::Timestamp, "2017-11-16"),
        (KeyType::Timestamp, "2017-11-16T22:31:08+8"),
        (KeyType::Timestamp, "2017-11-16T22:31:08\u{e9}08:00"),
        (KeyType::Uuid, "f79c3e09-677c-4bbd-a479-3f349cb785e"),
        (KeyType::Uuid, "f79c3e09-677c-4bbd-a479-3f349cb785eg"),
        (KeyType::Decimal, "1.2.3"),
        (KeyType::Decimal, "."),
    ] {
        assert_eq!(of.value(key.as_bytes()), None, "{of} {key}");
    }
}
