//! Text under the codecs, written by Hadoop's (`tests/files/WriteSequenceFiles.java`) and by zstd and lz4 themselves.

use crate::support::{Collected, Scratch, each, keys, scan};
use placement::{KeyRule, KeyType};
use proptest::prelude::*;
use records::{Codec, Error, Sample, read_stream};

#[test]
fn lines_are_read_under_each_codec() {
    for name in ["lines.gz", "lines.bz2", "lines.zst", "lines.deflate", "lines.snappy", "lines.lz4"] {
        let user = |record: usize| format!("user-{}", record * 7919 % 37);
        assert_eq!(keys(name, None), (KeyType::Text, each(600, user)), "{name}");
    }
}

#[test]
fn what_lines_do_not_have_is_told() {
    let scratch = Scratch::new("lines.tsv", b"a\tb\n");
    let refused = |rule: &str| scan(&scratch.0, Some(rule), 1.0).err().expect("refused").to_string();
    assert!(refused("column:user").contains("column:2"));
    assert!(refused("key").contains("first-tab"));
    for (name, bytes, word) in [
        ("x.orc", &b"ORC\0\0"[..], "an ORC file"),
        ("x.png", b"\x89PNG\r\n\x1a\n\0", "byte 8 is 0"),
        ("x.zip", b"PK\x03\x04\0", "a ZIP archive"),
    ] {
        let scratch = Scratch::new(name, bytes);
        let error = scan(&scratch.0, None, 1.0).err().expect("no text").to_string();
        assert!(error.contains(word), "{error}");
    }
    // A text may begin with the letters of a format.
    let scratch = Scratch::new("seq.txt", b"SEQ\t1\nPAR1\t2\n");
    assert_eq!(scan(&scratch.0, None, 1.0).expect("text").1.keys, [["SEQ"], ["PAR1"]]);
}

/// The lines of a text, or why it is none.
fn lines(bytes: &[u8]) -> Result<usize, Error> {
    let mut lines = Collected::by(KeyRule::Line);
    read_stream(bytes, None, Sample::WHOLE, &mut lines, &mut |_| true)?;
    Ok(lines.keys.len())
}

/// Of random bytes without a 0, 14 in 255 are control characters that no text has: of 4096 more than one in a hundred,
/// by twelve standard deviations.
#[test]
fn random_bytes_are_no_text() {
    let bytes = prop::collection::vec(1_u8.., 4096..8192);
    // Two bytes are the head of a gzip file, and one in 65,025 begins with them.
    let bytes = bytes.prop_filter("gzip", |bytes| !bytes.starts_with(b"\x1f\x8b"));
    proptest!(|(bytes in bytes, ascii in "[ -~\n]{0,80}")| {
        for bytes in [bytes.clone(), [ascii.as_bytes(), &bytes].concat()] {
            let error = lines(&bytes).expect_err("binary").to_string();
            prop_assert!(error.contains("it is binary (byte") && error.contains("not UTF-8"), "{}", error);
            prop_assert!(error.contains("SequenceFile"), "{}", error);
        }
    });
    // What a compressor has left, behind its head.
    let gzip = std::fs::read(crate::support::file("lines.gz")).expect("read");
    let packed: Vec<u8> = gzip[10..].iter().copied().filter(|byte| *byte != 0).collect();
    assert!(lines(&packed).is_err());
}

/// Whatever the character set: letters of one byte (ISO 8859, Windows-125x, KOI8), of two (Shift JIS, GBK), UTF-8 with
/// any control character, fields between Hive's delimiters or ASCII's, and a broken place here and there.
#[test]
fn text_in_any_character_set_is_text() {
    let one = prop::collection::vec(prop_oneof![0x20_u8..0x7f, 0x80_u8.., Just(b'\t'), Just(b'\n')], 0..5000);
    let two = prop::collection::vec((0x81_u8..0xff, prop_oneof![0x40_u8..0x7f, 0x80_u8..0xfd]), 0..3000);
    let delimited =
        prop::collection::vec(prop_oneof![b'a'..=b'z', 0xc0_u8.., 1_u8..9, 0x1c_u8..0x20, Just(b'\n')], 0..5000);
    proptest!(|(one in one, two in two, delimited in delimited, utf8 in "[^\0]{0,2000}", at in 0_usize..200)| {
        let two: Vec<u8> = two.into_iter().flat_map(|(lead, trail)| [lead, trail]).collect();
        for text in [one.clone(), two, delimited, utf8.into_bytes()] {
            prop_assert!(lines(&text).is_ok(), "{:?}", lines(&text));
        }
        // One byte in two hundred is damaged.
        let mut damaged = one;
        damaged.iter_mut().skip(at).step_by(200).for_each(|byte| *byte = 0x10);
        prop_assert!(damaged.len() < 200 || lines(&damaged).is_ok());
    });
    // A character that goes on behind the 64 KiB that are looked at.
    let mut long = vec![b'\x0f'; (64 << 10) - 1];
    long.extend("\u{e9}\n".as_bytes());
    assert_eq!(lines(&long).expect("UTF-8"), 1);
}

/// A few bytes that would become very many do not.
#[test]
fn what_is_unpacked_is_bounded() {
    // Snappy's length is a number of seven bits a byte: 2^32 - 1.
    assert!(Codec::Snappy.unpack(&[0xff, 0xff, 0xff, 0xff, 0x0f, 0], 1000).is_err());
    // A run of LZ4 that copies itself 255 times for each byte.
    let mut bomb = vec![0x1f, b'x', 1, 0];
    bomb.extend([0xff; 4000]);
    assert!(Codec::Lz4.unpack(&bomb, 100_000).is_err());
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    std::io::Write::write_all(&mut gzip, &vec![0; 1_000_000]).expect("in memory");
    let gzip = gzip.finish().expect("in memory");
    assert!(gzip.len() < 2000 && Codec::Gzip.unpack(&gzip, 100_000).is_err());
    assert_eq!(Codec::Gzip.unpack(&gzip, 1_000_000).expect("as many").len(), 1_000_000);
}
