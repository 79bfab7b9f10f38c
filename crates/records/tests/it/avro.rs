//! Avro files that Avro's own library has written (`tests/files/WriteAvro.java`).

use crate::support::{Scratch, each, file, keys, scan};
use placement::KeyType;
use std::fs;

fn one(records: usize, key: impl Fn(usize) -> Option<String>) -> Vec<Vec<String>> {
    (0..records).map(|record| key(record).into_iter().collect()).collect()
}

#[test]
fn columns_are_read_under_each_codec() {
    for name in ["null", "deflate", "snappy", "bzip2", "zstandard"] {
        let name = format!("{name}.avro");
        let user = |record: usize| format!("user-{}", record * 7919 % 37);
        assert_eq!(keys(&name, Some("column:user.name")), (KeyType::Text, each(600, user)), "{name}");
        let id = |record: usize| ((record as i64) << 33).to_string();
        assert_eq!(keys(&name, Some("column:id")), (KeyType::Long, each(600, id)), "{name}");
    }
    let error = scan(&file("xz.avro"), Some("column:id"), 1.0).err().expect("not read").to_string();
    assert!(error.contains("xz") && error.contains("zstandard"), "{error}");
}

#[test]
fn each_type_of_column_has_its_keys() {
    let found = |column: &str| keys("deflate.avro", Some(&format!("column:{column}")));
    let age = |record: usize| (!record.is_multiple_of(5)).then(|| (record % 90).to_string());
    assert_eq!(found("user.age"), (KeyType::Int, one(600, age)));
    let tags = |record: usize| (0..record % 3).map(|tag| format!("tag-{}", (record + tag) % 7)).collect::<Vec<_>>();
    assert_eq!(found("tags"), (KeyType::Text, (0..600).map(tags).collect()));
    let counts = |record: usize| (!record.is_multiple_of(2)).then(|| (record % 4).to_string());
    assert_eq!(found("counts"), (KeyType::Int, one(600, counts)));
    // 17486 days after 1970 are 2017-11-16.
    assert_eq!(found("day"), (KeyType::Date, each(600, |record| format!("2017-11-{}", 16 + record % 3))));
    let at = |record: usize| format!("2017-11-16T22:31:08.00000{}", 1 + record % 2);
    assert_eq!(found("at"), (KeyType::Timestamp, each(600, at)));
    let price = |record: usize| {
        let cents = 1420 - 300 * (record as i64 % 10);
        format!("{}{}.{:02}", if cents < 0 { "-" } else { "" }, cents.abs() / 100, cents.abs() % 100)
    };
    assert_eq!(found("price"), (KeyType::Decimal, each(600, price)));
    let kind = |record: usize| if record.is_multiple_of(4) { "BUY" } else { "VIEW" }.to_owned();
    assert_eq!(found("kind"), (KeyType::Text, each(600, kind)));
    assert_eq!(
        found("digest"),
        (KeyType::Bytes, each(600, |record| format!("\0\u{1}\u{2}{}", (record % 5) as u8 as char)))
    );
    let back = |record: usize| record.is_multiple_of(6).then(|| format!("back-{}", record % 9));
    assert_eq!(found("back.name"), (KeyType::Text, one(600, back)));
    assert_eq!(found("ratio"), (KeyType::Double, each(600, |record| ((record % 8) as f64 / 4.0).to_string())));
    assert_eq!(found("ok"), (KeyType::Boolean, each(600, |record| (record % 3 == 0).to_string())));
    // The second column from its left.
    assert_eq!(found("2"), found("user.name"));
}

#[test]
fn a_column_that_is_none_is_told_with_those_that_are() {
    let refused = |rule: Option<&str>| scan(&file("null.avro"), rule, 1.0).err().expect("refused").to_string();
    for (rule, words) in [
        (None, &["--key", "user.name (text)", "id (long)"][..]),
        (Some("column:users"), &["`users`", "user.name (text)"]),
        (Some("column:user"), &["several columns", "`user`"]),
        (Some("column:either"), &["either", "no key"]),
        (Some("tokens"), &["tokens", "column:NAME"]),
        (Some("column:99"), &["column:99"]),
    ] {
        let error = refused(rule);
        assert!(words.iter().all(|word| error.contains(word)), "{rule:?}: {error}");
    }
}

#[test]
fn a_sample_has_whole_blocks_from_all_over_the_file() {
    let bytes = fs::read(file("deflate.avro")).expect("read");
    let marker = b"sixteen bytes it";
    let begin = bytes.windows(16).position(|window| window == marker).expect("a marker") + 16;
    let (head, blocks) = bytes.split_at(begin);
    let scratch = Scratch::new("grown.avro", &[head, &blocks.repeat(400)].concat());
    let (_, all, bytes) = scan(&scratch.0, Some("column:id"), 1.0).expect("whole");
    assert_eq!(all.keys.len(), 240_000);
    let (_, part, estimate) = scan(&scratch.0, Some("column:id"), 0.1).expect("a sample");
    let share = part.keys.len() as f64 / all.keys.len() as f64;
    assert!((0.05..0.2).contains(&share), "{share}");
    assert!((estimate as f64 / bytes as f64 - 1.0).abs() < 0.02, "{estimate} of {bytes}");
}
