//! The block layer's counters of a disk: what `/sys/block/DISK/stat` and `inflight` say (Linux,
//! Documentation/block/stat.rst).
//!
//! Before Linux 6.13 these count commands that programs pass to a disk past the block layer, too: TEST UNIT READY as a
//! read of nothing, a page of SMART as a read of one sector. Whatever goes through the page cache reads 4 KiB or more.

use serde::{Deserialize, Serialize};

/// Sectors (of 512 bytes) from which reads are requests for data: a page.
const PAGE: u64 = 8;

/// A disk's counters, since its machine was started.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Counters {
    /// Reads that are done.
    pub reads: u64,
    /// Sectors of 512 bytes read.
    pub read_sectors: u64,
    /// Writes that are done.
    pub writes: u64,
    /// Sectors written.
    pub written_sectors: u64,
    /// Discards that are done.
    pub discards: u64,
    /// Flushes that are done.
    pub flushes: u64,
    /// Reads in flight.
    pub reading: u64,
    /// Writes in flight.
    pub writing: u64,
}

/// Why a text is no counters.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "field {field} is not a number: there are to be 11 numbers or more, as in /sys/block/DISK/stat, and 2 in \
     /sys/block/DISK/inflight"
)]
pub struct CountersError {
    field: usize,
}

/// What was done between two times.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Io {
    /// Reads of data that were done.
    pub reads: u64,
    /// Writes that were done.
    pub writes: u64,
    /// Discards that were done.
    pub discards: u64,
    /// Flushes that were done.
    pub flushes: u64,
    /// Bytes written.
    pub written_bytes: u64,
}

impl Io {
    /// Whether there was any.
    pub const fn any(&self) -> bool {
        self.reads > 0 || self.writes > 0 || self.discards > 0 || self.flushes > 0
    }
    /// What it was, in words. A flush goes with a write.
    pub fn name(&self) -> String {
        let kinds = [
            (self.reads > 0, "read"),
            (self.writes > 0, "write"),
            (self.discards > 0, "discard"),
            (self.flushes > 0 && self.writes == 0, "flush"),
        ];
        let kinds: Vec<_> = kinds.into_iter().filter(|(there, _)| *there).map(|(_, name)| name).collect();
        kinds.join(" and ")
    }
}

impl Counters {
    /// Out of the texts of `stat` and, where there is one, `inflight`.
    pub fn parse(stat: &str, inflight: Option<&str>) -> Result<Self, CountersError> {
        let field = |text: &str, field: usize| {
            text.split_ascii_whitespace().nth(field).and_then(|word| word.parse::<u64>().ok())
        };
        let of = |number: usize| field(stat, number).ok_or(CountersError { field: number + 1 });
        // The last of those that every Linux has.
        of(10)?;
        // Discards came with Linux 4.18, flushes with 5.5.
        let later = |number: usize| if field(stat, 10 + 1).is_none() { Ok(0) } else { of(number) };
        let flushes = if stat.split_ascii_whitespace().count() < 17 { Ok(0) } else { of(15) };
        let (reading, writing) = match inflight {
            Some(text) => {
                let of = |number: usize| field(text, number).ok_or(CountersError { field: number + 1 });
                (of(0)?, of(1)?)
            }
            None => (of(8)?, 0),
        };
        Ok(Self {
            reads: of(0)?,
            read_sectors: of(2)?,
            writes: of(4)?,
            written_sectors: of(6)?,
            discards: later(11)?,
            flushes: flushes?,
            reading,
            writing,
        })
    }
    /// Whether requests are in flight.
    pub const fn in_flight(&self) -> bool {
        self.reading > 0 || self.writing > 0
    }
    /// What was done since `before`; `None` where these are not the counters of a later time.
    pub fn since(&self, before: &Self) -> Option<Io> {
        let read = self.read_sectors.checked_sub(before.read_sectors)?;
        let written = self.written_sectors.checked_sub(before.written_sectors)?;
        let (reads, writes) = (self.reads.checked_sub(before.reads)?, self.writes.checked_sub(before.writes)?);
        Some(Io {
            reads: if read >= PAGE { reads } else { 0 },
            writes: if written > 0 { writes } else { 0 },
            discards: self.discards.checked_sub(before.discards)?,
            flushes: self.flushes.checked_sub(before.flushes)?,
            written_bytes: written.saturating_mul(512),
        })
    }
}
