//! The layout of a log-structured file system (Rosenblum and Ousterhout, "The design and implementation of a
//! log-structured file system", TOCS 10(1), 1992): what is written goes to the end of one log, wherever the other
//! bytes of its file are. Writes of many files follow one another without a seek; a file that was written beside
//! others is in as many pieces as turns were taken, and reading it seeks to each.
//!
//! Only what a run writes is in the log. Cleaning is not modelled: disks are not told of deleted files, and a run
//! writes less than a disk holds; beyond that the log begins anew.

use crate::disk::Stream;
use std::collections::BTreeMap;
use units::Bytes;

/// Where a piece of a file is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Piece {
    length: u64,
    /// Its first byte on the disk.
    at: u64,
}

/// The log, and the map of files in it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    end: u64,
    /// By file, then by offset in it.
    files: BTreeMap<Stream, BTreeMap<u64, Piece>>,
}

impl Log {
    /// Where the next byte will be written.
    pub const fn end(&self) -> u64 {
        self.end
    }

    /// Where a byte of a file is, and how many follow it there; none if it was not written to the log.
    pub fn find(&self, stream: Stream, offset: Bytes) -> Option<(u64, Bytes)> {
        let (start, piece) = self.files.get(&stream.file())?.range(..=offset.get()).next_back()?;
        let within = offset.get() - start;
        (within < piece.length).then(|| (piece.at + within, Bytes::new(piece.length - within)))
    }

    /// How many bytes from an offset on are not in the log, if that one is not: at most `bytes`.
    pub fn gap(&self, stream: Stream, offset: Bytes, bytes: Bytes) -> Bytes {
        let next = self.files.get(&stream.file()).and_then(|pieces| pieces.range(offset.get()..).next());
        next.map_or(bytes, |(start, _)| bytes.min(Bytes::new(start - offset.get())))
    }

    /// Writes bytes of a file to the end. What was there of them before is dead.
    pub fn append(&mut self, stream: Stream, offset: Bytes, bytes: Bytes) {
        let (from, to) = (offset.get(), offset.get() + bytes.get());
        let at = self.end;
        self.end += bytes.get();
        let pieces = self.files.entry(stream.file()).or_default();
        // Pieces that begin before the new one's end and reach into it.
        let overlap = |(start, piece): &(u64, Piece)| start + piece.length > from;
        let before = pieces.range(..to).next_back().map(|(start, piece)| (*start, *piece)).filter(overlap);
        let first = pieces.range(..from).next_back().map(|(start, piece)| (*start, *piece)).filter(overlap);
        if let Some((start, piece)) = before
            && start + piece.length > to
        {
            let cut = to - start;
            pieces.insert(to, Piece { length: piece.length - cut, at: piece.at + cut });
        }
        if let Some((start, piece)) = first {
            pieces.insert(start, Piece { length: from - start, ..piece });
        }
        let dead: Vec<u64> = pieces.range(from..to).map(|(start, _)| *start).collect();
        for start in dead {
            pieces.remove(&start);
        }
        // It goes on where the file's bytes before it end.
        if let Some((start, piece)) = pieces.range_mut(..from).next_back()
            && start + piece.length == from
            && piece.at + piece.length == at
        {
            piece.length += bytes.get();
        } else {
            pieces.insert(from, Piece { length: bytes.get(), at });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FILE: Stream = Stream { node: 0, id: 7, part: 0 };

    proptest! {
        /// Byte by byte against an array of where each byte was written last.
        #[test]
        fn a_byte_is_where_it_was_written_last(writes in prop::collection::vec((0_u64..60, 1_u64..20), 0..40)) {
            let mut log = Log::default();
            let mut bytes = [None; 80];
            let mut end = 0;
            for (offset, length) in writes {
                log.append(FILE, Bytes::new(offset), Bytes::new(length));
                for byte in 0..length {
                    bytes[(offset + byte) as usize] = Some(end);
                    end += 1;
                }
            }
            prop_assert_eq!(log.end(), end);
            for (offset, at) in bytes.iter().enumerate() {
                let found = log.find(FILE, Bytes::new(offset as u64));
                prop_assert_eq!(found.map(|(at, _)| at), *at);
                if let Some((at, run)) = found {
                    for byte in 0..run.get() {
                        prop_assert_eq!(bytes[offset + byte as usize], Some(at + byte));
                    }
                } else {
                    let gap = log.gap(FILE, Bytes::new(offset as u64), Bytes::new(100)).get() as usize;
                    prop_assert!(bytes[offset..].iter().take(gap).all(Option::is_none));
                    prop_assert!(gap == 100 || bytes[offset + gap].is_some());
                }
            }
        }
    }

    #[test]
    fn files_that_are_written_by_turns_are_in_pieces() {
        let other = Stream { id: 8, ..FILE };
        let mut log = Log::default();
        for turn in 0..3 {
            log.append(FILE, Bytes::new(turn * 10), Bytes::new(10));
            log.append(other, Bytes::new(turn * 10), Bytes::new(10));
        }
        assert_eq!(log.find(FILE, Bytes::new(10)), Some((20, Bytes::new(10))));
        assert_eq!(log.find(other, Bytes::new(25)), Some((55, Bytes::new(5))));
        // Alone it stays whole.
        log.append(FILE, Bytes::new(30), Bytes::new(10));
        log.append(FILE, Bytes::new(40), Bytes::new(10));
        assert_eq!(log.find(FILE, Bytes::new(30)), Some((60, Bytes::new(20))));
    }
}
