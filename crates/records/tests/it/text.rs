//! Text under the codecs, written by Hadoop's (`tests/files/WriteSequenceFiles.java`) and by zstd and lz4 themselves.

use crate::support::{Scratch, each, keys, scan};
use placement::KeyType;
use records::Codec;

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
