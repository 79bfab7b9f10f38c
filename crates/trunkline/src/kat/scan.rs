//! Reads files of records: whole, or pieces from all over them.

use super::reading;
use crate::failure::Failure;
use crate::interrupt::STOP;
use crate::kat_args::KatPlan;
use crate::progress::ByteMeter;
use flate2::read::MultiGzDecoder;
use placement::{KeyRule, Profile, Records, ScanError};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Chain, Cursor, Read, Seek, SeekFrom};
use std::path::Path;

/// Bytes read at once.
const BUFFER: usize = 1 << 20;
/// Pieces of a sample: so many of each file at least, if it has them.
const PIECES: u64 = 200;
/// A piece's shortest and longest length.
const PIECE: [u64; 2] = [4 << 10, 256 << 10];
/// What is looked at to tell text from other files.
const LOOKED_AT: usize = 64 << 10;
/// Up to this size files are read whole where nobody says how much.
const WHOLE: u64 = 1_000_000_000;

/// What was read.
pub struct Scanned {
    /// Bytes of all files, after decompression.
    pub bytes: u64,
    /// The part of them that was asked for.
    pub sample: f64,
}

/// Reads the files into a profile.
pub fn scan(args: &KatPlan, profile: &mut Profile<KeyRule>) -> Result<Scanned, Failure> {
    let sizes = args.files.iter().map(|path| std::fs::metadata(path).map_or(0, |about| about.len()));
    let size: u64 = sizes.sum();
    let sample = args.sample.unwrap_or(if size <= WHOLE { 1.0 } else { 0.01 });
    let meter = ByteMeter::new(size, args.quiet);
    let mut bytes = 0;
    for path in &args.files {
        let mut file = Reader { path, profile, meter: &meter, sample };
        bytes += if path.as_os_str() == runs::STANDARD_INPUT {
            file.stream(io::stdin().lock())?
        } else {
            let opened = File::open(path).map_err(|error| reading(path, &error))?;
            let about = opened.metadata().map_err(|error| reading(path, &error))?;
            if about.is_dir() {
                return Err(Failure::Input(format!("{} is a folder: name its files", path.display())));
            }
            if about.is_file() { file.file(opened, about.len())? } else { file.stream(opened)? }
        };
    }
    meter.finish();
    Ok(Scanned { bytes, sample })
}

struct Reader<'a> {
    path: &'a Path,
    profile: &'a mut Profile<KeyRule>,
    meter: &'a ByteMeter,
    sample: f64,
}

impl Reader<'_> {
    /// A file, of which pieces can be read apart.
    fn file(&mut self, mut file: File, length: u64) -> Result<u64, Failure> {
        let mut head = vec![0; LOOKED_AT.min(length as usize)];
        file.read_exact(&mut head).map_err(|error| reading(self.path, &error))?;
        if is_gzip(&head) || self.sample >= 1.0 {
            file.rewind().map_err(|error| reading(self.path, &error))?;
            return self.stream(file);
        }
        self.text(&head)?;
        let piece = ((length as f64 * self.sample) as u64 / PIECES).clamp(PIECE[0], PIECE[1]);
        let mut input = BufReader::with_capacity(PIECE[0] as usize, file);
        for tile in 0..length.div_ceil(piece) {
            if is_chosen(tile, self.sample) {
                self.piece(&mut input, tile * piece, piece.min(length - tile * piece))?;
            }
            self.meter.add(piece);
        }
        Ok(length)
    }

    /// The records that begin in a piece of a file.
    fn piece(&mut self, input: &mut BufReader<File>, begin: u64, length: u64) -> Result<(), Failure> {
        STOP.look()?;
        let failed = |error: io::Error| reading(self.path, &error);
        // A record begins behind a line end, which may be the byte before the piece.
        let mut at = begin.saturating_sub(1);
        input.seek(SeekFrom::Start(at)).map_err(failed)?;
        let mut line = Vec::new();
        if begin > 0 {
            at += until_line_end(input, &mut line).map_err(failed)? as u64;
        }
        let end = begin + length;
        while at < end {
            line.clear();
            let read = until_line_end(input, &mut line).map_err(failed)?;
            if read == 0 {
                break;
            }
            at += read as u64;
            let record = line.strip_suffix(b"\n").unwrap_or(&line);
            let record = record.strip_suffix(b"\r").unwrap_or(record);
            self.profile.record(record, read as u64).map_err(|error| self.wrong(&error))?;
        }
        Ok(())
    }

    /// Bytes from first to last, compressed or not.
    fn stream(&mut self, mut input: impl Read) -> Result<u64, Failure> {
        let mut head = Vec::new();
        (&mut input).take(LOOKED_AT as u64).read_to_end(&mut head).map_err(|error| reading(self.path, &error))?;
        let gzip = is_gzip(&head);
        let input: Chain<Cursor<Vec<u8>>, _> = Cursor::new(head).chain(input);
        if gzip {
            self.records(MultiGzDecoder::new(Metered(input, self.meter)), false)
        } else {
            self.records(input, true)
        }
    }

    fn records(&mut self, mut input: impl Read, metered: bool) -> Result<u64, Failure> {
        let (mut buffer, mut records) = (vec![0; BUFFER], Records::new());
        let (mut bytes, mut at) = (0, 0);
        let (sample, profile) = (self.sample, &mut *self.profile);
        let mut take = |record: &[u8], length: u64| {
            // Of a stream's records those that begin in the chosen pieces.
            let chosen = sample >= 1.0 || is_chosen(at / PIECE[0], sample);
            at += length;
            if chosen { profile.record(record, length) } else { Ok(()) }
        };
        loop {
            STOP.look()?;
            let read = match input.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(reading(self.path, &error)),
            };
            if bytes == 0 {
                check_text(self.path, &buffer[..read.min(LOOKED_AT)])?;
            }
            records.feed(&buffer[..read], &mut take).map_err(|error| wrong(self.path, &error))?;
            bytes += read as u64;
            if metered {
                self.meter.add(read as u64);
            }
        }
        records.end(&mut take).map_err(|error: ScanError| wrong(self.path, &error))?;
        Ok(bytes)
    }

    fn text(&self, head: &[u8]) -> Result<(), Failure> {
        check_text(self.path, head)
    }

    fn wrong(&self, error: &ScanError) -> Failure {
        wrong(self.path, error)
    }
}

fn wrong(path: &Path, error: &ScanError) -> Failure {
    Failure::Input(format!("{}: {error}", path.display()))
}

/// Counts compressed bytes.
struct Metered<'a, R>(R, &'a ByteMeter);

impl<R: Read> Read for Metered<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(buffer)?;
        self.1.add(read as u64);
        Ok(read)
    }
}

/// A line with its end. Longer ones than records may be are cut, which the profile's next line then shows.
fn until_line_end(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<usize> {
    const LONGEST: u64 = 16 << 20;
    let read = input.take(LONGEST).read_until(b'\n', line)?;
    if read as u64 == LONGEST {
        return Err(io::Error::other("no end of line within 16 MiB: this is not text with one record a line"));
    }
    Ok(read)
}

/// Of every 1/sample pieces one, at a place of chance that is always the same.
fn is_chosen(tile: u64, sample: f64) -> bool {
    let stride = (1.0 / sample).round().max(1.0) as u64;
    let group = tile / stride;
    // SplitMix64's increment and finalizer.
    let word = group.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    tile % stride == (word ^ word >> 31) % stride
}

fn is_gzip(head: &[u8]) -> bool {
    head.starts_with(&[0x1f, 0x8b])
}

/// Refuses what is no text, and says what it is where that is known.
fn check_text(path: &Path, head: &[u8]) -> Result<(), Failure> {
    let known = [
        (&b"SEQ"[..], "a SequenceFile"),
        (b"Obj\x01", "an Avro file"),
        (b"PAR1", "a Parquet file"),
        (b"ORC", "an ORC file"),
        (b"\x28\xb5\x2f\xfd", "compressed by Zstandard"),
        (b"BZh", "compressed by bzip2"),
        (b"\x7fELF", "a program"),
        (b"PK\x03\x04", "a ZIP archive"),
    ];
    let Some(place) = head.iter().position(|byte| *byte == 0) else {
        // A text may begin with these letters.
        return match known.iter().find(|(magic, _)| head.starts_with(magic) && !head.is_ascii()) {
            Some((_, what)) => refuse(path, what),
            None => Ok(()),
        };
    };
    match known.iter().find(|(magic, _)| head.starts_with(magic)) {
        Some((_, what)) => refuse(path, what),
        None => refuse(path, &format!("binary: byte {place} is 0")),
    }
}

fn refuse(path: &Path, what: &str) -> Result<(), Failure> {
    let path = path.display();
    Err(Failure::Input(format!("{path} is {what}; records are read from text, a record a line, plain or in gzip")))
}
