//! Text with one record a line, plain or compressed.

use crate::{Codec, Error, Sample, Sink, Step};
use placement::{Records, each_line};
use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Chain, Cursor, Read, Seek, SeekFrom};

/// Bytes read at once: what a core's second cache has room for beside the histograms.
const BUFFER: usize = 1 << 16;
/// What is looked at to tell text from other files.
pub const LOOKED_AT: usize = 64 << 10;
/// Of a stream's records those that begin in the chosen pieces of this length are read.
const STREAM_PIECE: u64 = 4 << 10;

/// Hands out the records of a file of plain text, or a sample of them. Returns its bytes.
pub fn scan(
    mut file: File,
    length: u64,
    sample: Sample,
    sink: &mut impl Sink,
    step: &mut Step<'_>,
) -> Result<u64, Error> {
    if sample.is_whole() {
        return lines(file, sample, sink, &mut |read| step(read));
    }
    let mut head = Vec::new();
    (&mut file).take(LOOKED_AT as u64).read_to_end(&mut head)?;
    check(&head)?;
    let length_of_piece = sample.piece(length);
    let mut input = BufReader::with_capacity(STREAM_PIECE as usize, file);
    for number in 0..length.div_ceil(length_of_piece) {
        if sample.has(number) {
            let begin = number * length_of_piece;
            piece(&mut input, begin, length_of_piece.min(length - begin), sink)?;
        }
        if !step(length_of_piece) {
            return Err(Error::Stopped);
        }
    }
    Ok(length)
}

/// The records that begin in a piece of a file.
fn piece(input: &mut BufReader<File>, begin: u64, length: u64, sink: &mut impl Sink) -> Result<(), Error> {
    // A record begins behind a line end, which may be the byte before the piece.
    let mut at = begin.saturating_sub(1);
    input.seek(SeekFrom::Start(at))?;
    let mut line = Vec::new();
    if begin > 0 {
        at += until_line_end(input, &mut line)? as u64;
    }
    let end = begin + length;
    while at < end {
        line.clear();
        let read = until_line_end(input, &mut line)?;
        if read == 0 {
            break;
        }
        at += read as u64;
        let record = line.strip_suffix(b"\n").unwrap_or(&line);
        let record = record.strip_suffix(b"\r").unwrap_or(record);
        sink.record(record, read as u64)?;
    }
    Ok(())
}

/// A line with its end.
fn until_line_end(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<usize> {
    const LONGEST: u64 = 16 << 20;
    let read = input.take(LONGEST).read_until(b'\n', line)?;
    if read as u64 == LONGEST {
        return Err(io::Error::other("no end of line within 16 MiB: this is not text with one record a line"));
    }
    Ok(read)
}

/// Hands out the records of a stream of text from first to last, plain or compressed so that its first bytes say so, or
/// by the codec. Returns its bytes, uncompressed.
///
/// # Errors
///
/// If it is no text, or what the sink answers.
pub fn read_stream(
    mut input: impl Read,
    codec: Option<Codec>,
    sample: Sample,
    sink: &mut impl Sink,
    step: &mut Step<'_>,
) -> Result<u64, Error> {
    let mut head = Vec::new();
    (&mut input).take(LOOKED_AT as u64).read_to_end(&mut head)?;
    let codec = codec.or_else(|| Codec::of_bytes(&head));
    let input: Chain<Cursor<Vec<u8>>, _> = Cursor::new(head).chain(input);
    let Some(codec) = codec else { return lines(input, sample, sink, step) };
    // Steps count bytes of the file, which are the compressed ones.
    let read = Cell::new(0);
    let packed = BufReader::with_capacity(BUFFER, Counted(input, &read));
    lines(codec.stream(packed), sample, sink, &mut |_| step(read.take()))
}

struct Counted<'a, R>(R, &'a Cell<u64>);

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(buffer)?;
        self.1.set(self.1.get() + read as u64);
        Ok(read)
    }
}

fn lines(mut input: impl Read, sample: Sample, sink: &mut impl Sink, step: &mut Step<'_>) -> Result<u64, Error> {
    // As much as of a file, however little a stream or a codec hands out at once.
    let mut head = Vec::new();
    (&mut input).take(LOOKED_AT as u64).read_to_end(&mut head)?;
    check(&head)?;
    let mut input = Cursor::new(head).chain(input);
    let (mut buffer, mut records) = (vec![0; BUFFER], Records::new());
    let (mut bytes, mut at) = (0, 0);
    let mut take = |lines: &[u8]| {
        if sample.is_whole() {
            return sink.lines(lines);
        }
        each_line(lines, |record, length| {
            let chosen = sample.has(at / STREAM_PIECE);
            at += length;
            if chosen { sink.record(record, length) } else { Ok(()) }
        })
    };
    loop {
        let read = fill(&mut input, &mut buffer)?;
        if read == 0 {
            break;
        }
        records.feed_lines(&buffer[..read], &mut take)?;
        bytes += read as u64;
        if !step(read as u64) {
            return Err(Error::Stopped);
        }
    }
    records.end_lines(&mut take)?;
    Ok(bytes)
}

/// Reads as much as there is room for, or all that is left: what a scan finds does not depend on how a pipe cuts its
/// bytes.
fn fill(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match input.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Refuses what is no text, and says what it is where that is known.
pub fn check(head: &[u8]) -> Result<(), Error> {
    let known = [
        (&b"SEQ"[..], "a SequenceFile"),
        (b"Obj\x01", "an Avro file"),
        (b"PAR1", "a Parquet file"),
        (b"ORC", "an ORC file"),
        (b"\x7fELF", "a program"),
        (b"PK\x03\x04", "a ZIP archive"),
    ];
    let refused = |what: &str| {
        Err(Error::Unread(format!(
            "it is {what}; records are read from text, a record a line, and from SequenceFile, Avro and Parquet files, \
             whose keys and values may be any bytes"
        )))
    };
    let found = known.iter().find(|(magic, _)| head.starts_with(magic));
    match (head.iter().position(|byte| *byte == 0), found) {
        (Some(_), Some((_, what))) => refused(what),
        (Some(place), None) => refused(&format!("binary (byte {place} is 0)")),
        // A text may begin with these letters.
        (None, Some((_, what))) if !head.is_ascii() => refused(what),
        (None, _) => match strange(head) {
            Some(what) => refused(&format!("binary ({what})")),
            None => Ok(()),
        },
    }
}

/// Why bytes without a 0 are no text, if they are none. Text in UTF-8 is text; text in another character set has hardly
/// any of those control characters that neither end nor space lines, switch modes of a terminal, or stand between
/// fields: Hive has 1 to 8 for that, ASCII 28 to 31. Of random bytes they are one in eighteen.
fn strange(head: &[u8]) -> Option<String> {
    /// A text with a damaged place here and there is a text.
    const MOST: usize = 100;
    let broken = std::str::from_utf8(head).err()?;
    // A character may go on behind what is looked at.
    broken.error_len()?;
    let is_strange = |byte: &u8| matches!(byte, 0x0e..=0x1a | 0x7f);
    let count = head.iter().filter(|byte| is_strange(byte)).count();
    (count * MOST > head.len()).then(|| {
        let first = head.iter().position(is_strange).unwrap_or(0);
        format!(
            "byte {} is not UTF-8, and {count} of {} bytes are control characters that no text has, the first at byte \
             {first}",
            broken.valid_up_to(),
            head.len()
        )
    })
}
