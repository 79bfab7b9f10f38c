//! Fuzzing: any bytes are a file of records, or are refused. `scripts/fuzz records sequence 300` looks for inputs that
//! break a target; what it has found is in `__fuzz__` and is replayed here. The property at the end damages real files.

use crate::support::{Collected, Scratch, file};
use placement::{KeyRule, KeyType};
use proptest::prelude::*;
use records::{Codec, Error, Sample, Source, read_stream};
use std::fs;
use std::io::{self, Read, Write as _};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Reads bytes as a file, whole and in part: there are records, or an error that says something.
fn examine(name: &str, bytes: &[u8]) {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let scratch = Scratch::new(&format!("{number}-{name}"), bytes);
    for (rule, sample) in [(None, 1.0), (Some("column:1"), 1.0), (Some("column:1"), 0.3), (Some("line"), 1.0)] {
        let rule: Option<KeyRule> = rule.map(|rule| rule.parse().expect("a rule"));
        if let Err(error) = read(&scratch.0, rule.as_ref(), sample) {
            assert!(!error.to_string().is_empty());
        }
    }
}

fn read(path: &std::path::Path, rule: Option<&KeyRule>, sample: f64) -> Result<KeyType, Error> {
    let source = Source::open(path)?;
    let (rule, of) = source.key(rule)?;
    source.scan(&rule, Sample::new(sample), &mut Collected::by(rule.clone()), &mut |_| true)?;
    Ok(of)
}

/// SequenceFiles, behind heads of each packing.
#[test]
fn sequence() {
    let text = |class: &str| [&[class.len() as u8][..], class.as_bytes()].concat();
    let classes = [text("org.apache.hadoop.io.Text"), text("org.apache.hadoop.io.Text")].concat();
    let codec = text("org.apache.hadoop.io.compress.DefaultCodec");
    let tail = [&[0; 4][..], &[7; 16]].concat();
    bolero::check!().for_each(|input: &[u8]| {
        examine("any.seq", &[b"SEQ\x06", input].concat());
        for flags in [&[0, 0][..], &[1, 0], &[1, 1]] {
            let packed: &[u8] = if flags[0] == 1 { &codec } else { &[] };
            examine("headed.seq", &[b"SEQ\x06", &classes[..], flags, packed, &tail, input].concat());
        }
    });
}

/// Avro's heads, and blocks behind a head.
#[test]
fn avro() {
    let schema = br#"{"type":"record","name":"R","fields":[{"name":"a","type":{"type":"array","items":"null"}},{"name":"b","type":["null","string"]}]}"#;
    let head = [
        &b"Obj\x01\x02\x16avro.schema"[..],
        &[(schema.len() << 1) as u8 | 0x80, (schema.len() >> 6) as u8],
        schema,
        &[0],
        &[7; 16],
    ]
    .concat();
    bolero::check!().for_each(|input: &[u8]| {
        examine("any.avro", &[b"Obj\x01", input].concat());
        examine("headed.avro", &[&head[..], input].concat());
    });
}

/// Parquet's foot is the input.
#[test]
fn parquet() {
    bolero::check!().for_each(|input: &[u8]| {
        let length = (input.len() as u32).to_le_bytes();
        examine("any.parquet", &[b"PAR1\0", input, &length, b"PAR1"].concat());
    });
}

/// Bytes that come few at a time.
struct Few<'a>(&'a [u8]);

impl Read for Few<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let few = buffer.len().min(7);
        self.0.read(&mut buffer[..few])
    }
}

/// Any bytes are lines or are refused, in UTF-8 without a 0 always lines: as a file, as a stream that hands out few at a
/// time, and under a codec.
#[test]
fn text() {
    let lines = |from: &mut dyn Read| {
        let mut lines = Collected::by(KeyRule::Line);
        read_stream(from, None, Sample::WHOLE, &mut lines, &mut |_| true).map(|_| lines.keys).map_err(|e| e.to_string())
    };
    bolero::check!().for_each(|input: &[u8]| {
        // What is no format of its own, nor compressed.
        let bytes = [b"a", input].concat();
        examine("any.txt", &bytes);
        let read = lines(&mut &bytes[..]);
        assert_eq!(read, lines(&mut Few(&bytes)));
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&bytes).expect("in memory");
        assert_eq!(read, lines(&mut &gzip.finish().expect("in memory")[..]));
        match std::str::from_utf8(&bytes) {
            Ok(text) if !text.contains('\0') => assert_eq!(read.expect("lines").len(), text.lines().count()),
            _ => assert!(read.map_or_else(|error| error.contains("binary"), |lines| !lines.is_empty())),
        }
    });
}

/// Any bytes of each codec.
#[test]
fn codecs() {
    bolero::check!().for_each(|input: &[u8]| {
        for codec in [
            Codec::Zlib,
            Codec::Deflate,
            Codec::Gzip,
            Codec::Bzip2,
            Codec::Zstandard,
            Codec::HadoopSnappy,
            Codec::HadoopLz4,
            Codec::Snappy,
            Codec::Lz4,
        ] {
            if let Ok(bytes) = codec.unpack(input, 1 << 16) {
                assert!(bytes.len() <= 1 << 16);
            }
        }
        for name in ["x.gz", "x.deflate", "x.snappy", "x.lz4"] {
            examine(name, input);
        }
    });
}

const FILES: [&str; 12] = [
    "plain.seq",
    "values-default.seq",
    "blocks-default.seq",
    "blocks-snappy.seq",
    "null.avro",
    "deflate.avro",
    "zstandard.avro",
    "uncompressed-1.parquet",
    "snappy-1.parquet",
    "snappy-2.parquet",
    "lz4-raw-2.parquet",
    "lines.snappy",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Real files with some bytes overwritten, or cut off.
    #[test]
    fn damaged_files_are_read_or_refused(
        which in 0..FILES.len(),
        damages in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        near_the_end in any::<bool>(),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let name = FILES[which];
        let mut bytes = fs::read(file(name)).expect("an engine's file");
        let length = bytes.len();
        // A Parquet file's foot, which describes it, is at its end.
        let from = if near_the_end { length.saturating_sub(3000) } else { 0 };
        for (place, byte) in damages {
            bytes[from + place.index(length - from)] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(length));
        }
        examine(name, &bytes);
    }
}
