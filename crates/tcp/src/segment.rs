//! The segment, which travels between two endpoints.

use std::ops::{BitOr, BitOrAssign};

/// Control bits of a segment, its options without a value, and the two ECN bits of the IP header that carries it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Flags(u16);

impl Flags {
    /// No bit.
    pub const NONE: Self = Self(0);
    /// The sender has finished its stream.
    pub const FIN: Self = Self(1);
    /// Synchronise: takes stream position 0.
    pub const SYN: Self = Self(1 << 1);
    /// Reset the connection.
    pub const RST: Self = Self(1 << 2);
    /// Hand what has arrived to the application.
    pub const PSH: Self = Self(1 << 3);
    /// The acknowledgement field counts.
    pub const ACK: Self = Self(1 << 4);
    /// ECN echo (RFC 3168).
    pub const ECE: Self = Self(1 << 5);
    /// Congestion window reduced (RFC 3168).
    pub const CWR: Self = Self(1 << 6);
    /// The packet is ECN-capable (ECT, IP header).
    pub const ECT: Self = Self(1 << 7);
    /// The packet met congestion (CE, IP header).
    pub const CE: Self = Self(1 << 8);
    /// Option: SACK permitted (RFC 2018), on a SYN.
    pub const SACK_PERMITTED: Self = Self(1 << 9);
    /// Option: timestamps (RFC 7323); `ts_val` and `ts_ecr` count.
    pub const TIMESTAMPS: Self = Self(1 << 10);

    /// Whether all bits of `other` are set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
    /// Whether any bit of `other` is set.
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
    /// The bits of both; `|` for constants.
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOr for Flags {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        self.with(other)
    }
}

impl BitOrAssign for Flags {
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}

/// `window_scale` of a segment without that option.
pub const NO_WINDOW_SCALE: u8 = u8::MAX;

/// At most this many SACK blocks fit beside no other option (RFC 2018); three beside timestamps.
pub const MAX_SACK_BLOCKS: usize = 4;

/// Bytes of an IPv4 and a TCP header without options.
pub const BASE_HEADER: u32 = 40;

/// One TCP segment. Its payload is counted, not held; sequence numbers are stream positions that never wrap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Segment {
    /// Stream position of the first byte, or of the SYN or FIN if there is none.
    pub seq: u64,
    /// The next position that the sender of this segment expects.
    pub ack: u64,
    /// Bytes of payload.
    pub len: u32,
    /// The receive window in bytes, unscaled. It is a multiple of the scale.
    pub window: u32,
    /// Timestamp of this segment in microseconds, wrapping.
    pub ts_val: u32,
    /// The timestamp echoed.
    pub ts_ecr: u32,
    sack: [[u32; 2]; MAX_SACK_BLOCKS],
    /// Control bits and options without a value.
    pub flags: Flags,
    /// Option on a SYN: the largest payload the sender of this segment accepts; 0 for none.
    pub mss: u16,
    /// Option on a SYN: the shift of later windows, or [`NO_WINDOW_SCALE`].
    pub window_scale: u8,
    sack_blocks: u8,
    /// Bytes of IP and TCP header; see [`Segment::header_bytes`].
    pub(crate) header: u8,
}

const _: () = assert!(size_of::<Segment>() <= 72);

impl Segment {
    /// A segment of the given flags at `seq` that acknowledges up to `ack`, with nothing else.
    pub const fn new(flags: Flags, seq: u64, ack: u64) -> Self {
        Self {
            seq,
            ack,
            len: 0,
            window: 0,
            ts_val: 0,
            ts_ecr: 0,
            sack: [[0; 2]; MAX_SACK_BLOCKS],
            flags,
            mss: 0,
            window_scale: NO_WINDOW_SCALE,
            sack_blocks: 0,
            header: BASE_HEADER as u8,
        }
    }
    /// Bytes of IP and TCP header, options included if the connection counts them.
    pub const fn header_bytes(&self) -> u32 {
        self.header as u32
    }
    /// Length on the wire above the link layer: headers and payload.
    pub const fn wire_bytes(&self) -> u32 {
        self.header as u32 + self.len
    }
    /// The position after this segment: payload, SYN and FIN take stream space.
    pub const fn end(&self) -> u64 {
        let flags = self.flags.contains(Flags::SYN) as u64 + self.flags.contains(Flags::FIN) as u64;
        self.seq.saturating_add(self.len as u64 + flags)
    }
    /// The SACK blocks as (start, end) stream positions, most recent first (RFC 2018). A block below `ack` is a DSACK
    /// (RFC 2883).
    pub fn sack_blocks(&self) -> impl ExactSizeIterator<Item = (u64, u64)> + '_ {
        let position = |offset: u32| self.ack.wrapping_add_signed(i64::from(offset as i32));
        self.sack[..usize::from(self.sack_blocks).min(MAX_SACK_BLOCKS)]
            .iter()
            .map(move |[start, end]| (position(*start), position(*end)))
    }
    /// The first block if it is a DSACK (RFC 2883, section 4): it lies below the acknowledgement or within the second
    /// block.
    pub(crate) fn dsack(&self) -> Option<(u64, u64)> {
        let mut blocks = self.sack_blocks();
        let (start, end) = blocks.next()?;
        let within = blocks.next().is_some_and(|second| second.0 <= start && end <= second.1);
        (start < end && (end <= self.ack || within)).then_some((start, end))
    }
    /// How many SACK blocks it carries.
    pub const fn sack_count(&self) -> usize {
        self.sack_blocks as usize
    }
    /// Adds a SACK block; a fifth one does not fit and is left out.
    pub fn push_sack(&mut self, start: u64, end: u64) {
        if let Some(slot) = self.sack.get_mut(usize::from(self.sack_blocks)) {
            // Blocks lie within a window of the acknowledgement, and windows are below 2^30 (RFC 7323).
            *slot = [start.wrapping_sub(self.ack) as u32, end.wrapping_sub(self.ack) as u32];
            self.sack_blocks += 1;
        }
    }
    /// Bytes that its options take in a real header, padded to words.
    pub(crate) fn option_bytes(&self) -> u32 {
        let timestamps = self.flags.contains(Flags::TIMESTAMPS);
        let mut bytes = if timestamps { 12 } else { 0 };
        if self.sack_blocks > 0 {
            bytes += 4 + 8 * u32::from(self.sack_blocks);
        }
        if self.flags.contains(Flags::SYN) {
            bytes += 4 * u32::from(self.mss != 0) + 4 * u32::from(self.window_scale != NO_WINDOW_SCALE);
            // SACK-permitted fits in the padding of the timestamps option.
            bytes += 4 * u32::from(self.flags.contains(Flags::SACK_PERMITTED) && !timestamps);
        }
        bytes
    }
}
