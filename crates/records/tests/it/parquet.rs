//! Parquet files that parquet-java has written (`tests/files/WriteParquet.java`).

use crate::support::{each, file, keys, scan};
use placement::KeyType;

const FILES: [&str; 6] = ["uncompressed-1", "snappy-1", "snappy-2", "gzip-2", "zstd-1", "lz4-raw-2"];

#[test]
fn columns_are_read_under_each_codec_and_page_version() {
    for name in FILES {
        let name = format!("{name}.parquet");
        let user = |record: usize| format!("user-{}", record * 7919 % 37);
        assert_eq!(keys(&name, Some("column:user.name")), (KeyType::Text, each(600, user)), "{name}");
        let id = |record: usize| ((record as i64) << 33).to_string();
        assert_eq!(keys(&name, Some("column:id")), (KeyType::Long, each(600, id)), "{name}");
        let age = |record: usize| (!record.is_multiple_of(5)).then(|| (record % 90).to_string()).into_iter().collect();
        assert_eq!(keys(&name, Some("column:user.age")), (KeyType::Int, (0..600).map(age).collect()), "{name}");
        // A list that is null, or empty, or of two.
        let tags = |record: usize| {
            let count = if record % 4 == 3 { 0 } else { record % 3 };
            (0..count).map(|tag| format!("tag-{}", (record + tag) % 7)).collect::<Vec<_>>()
        };
        assert_eq!(keys(&name, Some("column:tags")), (KeyType::Text, (0..600).map(tags).collect()), "{name}");
    }
}

#[test]
fn each_type_of_column_has_its_keys() {
    let found = |column: &str| keys("snappy-1.parquet", Some(&format!("column:{column}")));
    assert_eq!(found("day"), (KeyType::Date, each(600, |record| format!("2017-11-{}", 16 + record % 3))));
    let at = |record: usize| format!("2017-11-16T22:31:08.00000{}", 1 + record % 2);
    assert_eq!(found("at"), (KeyType::Timestamp, each(600, at)));
    let price = |record: usize| {
        let cents = 1420 - 300 * (record as i64 % 10);
        format!("{}{}.{:02}", if cents < 0 { "-" } else { "" }, cents.abs() / 100, cents.abs() % 100)
    };
    assert_eq!(found("price"), (KeyType::Decimal, each(600, price)));
    // Sixteen bytes: 0 to 6, or 255 of them and 0x80 to 0x86, which are -128 to -122.
    let large = |record: usize| match record % 2 {
        0 => format!("0.00{}", record % 7),
        _ => format!("-0.{}", 128 - record % 7),
    };
    assert_eq!(found("large"), (KeyType::Decimal, each(600, large)));
    // Bytes of 17 times their place, one or two more in some records, modulo 256.
    let token = |record: usize| {
        let digit = |place: usize| {
            let byte = (place / 2 * 17 + record % 3) as u8;
            char::from_digit(u32::from(if place.is_multiple_of(2) { byte >> 4 } else { byte & 15 }), 16)
        };
        let digits: String = (0..32).filter_map(digit).collect();
        [0..8, 8..12, 12..16, 16..20, 20..32].map(|range| digits[range].to_owned()).join("-")
    };
    assert_eq!(found("token"), (KeyType::Uuid, each(600, token)));
    // Julian day 2458074 is 2017-11-16, 81068.000001 s after midnight 22:31:08.000001.
    let legacy = |record: usize| format!("2017-11-{}T22:31:08.000001", 16 + record % 2);
    assert_eq!(found("legacy"), (KeyType::Timestamp, each(600, legacy)));
    assert_eq!(
        found("raw"),
        (KeyType::Bytes, each(600, |record| format!("\0\u{1}\u{2}{}", (record % 5) as u8 as char)))
    );
    assert_eq!(found("ratio"), (KeyType::Double, each(600, |record| ((record % 8) as f64 / 4.0).to_string())));
    assert_eq!(found("part"), (KeyType::Float, each(600, |record| ((record % 8) as f32 / 4.0).to_string())));
    assert_eq!(found("ok"), (KeyType::Boolean, each(600, |record| (record % 3 == 0).to_string())));
    assert_eq!(found("1"), found("id"));
    let error = scan(&file("snappy-1.parquet"), None, 1.0).err().expect("no column").to_string();
    assert!(error.contains("user.name (text)") && error.contains("tags.list.element (text)"), "{error}");
}

/// Row groups of a hundred rows: a third of them, whole, and the bytes of all by the file's own count.
#[test]
fn a_sample_has_whole_row_groups() {
    let (_, all, bytes) = scan(&file("snappy-2.parquet"), Some("column:id"), 1.0).expect("whole");
    let (_, part, estimate) = scan(&file("snappy-2.parquet"), Some("column:id"), 0.33).expect("a sample");
    assert_eq!((all.keys.len(), estimate), (600, bytes));
    assert!((1..600).contains(&part.keys.len()), "{}", part.keys.len());
    // Neighbours within a group are consecutive.
    let ids: Vec<i64> = part.keys.iter().map(|keys| keys[0].parse::<i64>().expect("a number") >> 33).collect();
    let jumps = ids.windows(2).filter(|pair| pair[1] != pair[0] + 1).count();
    assert!(jumps < ids.len() / 10, "{ids:?}");
}
