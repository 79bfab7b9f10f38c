//! Which parts of a file are read.

/// Pieces of a sample: so many of each file at least, if it has them.
const PIECES: u64 = 200;
/// A piece's shortest and longest length.
const PIECE: [u64; 2] = [4 << 10, 256 << 10];

/// The part of the records that is read, evenly from all over a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample(f64);

impl Sample {
    /// All records.
    pub const WHOLE: Self = Self(1.0);

    /// A part above 0 and up to 1.
    pub const fn new(part: f64) -> Self {
        Self(part.clamp(1e-9, 1.0))
    }

    /// The part.
    pub const fn part(self) -> f64 {
        self.0
    }

    /// Whether it is all.
    pub const fn is_whole(self) -> bool {
        self.0 >= 1.0
    }

    /// The length of a file's pieces.
    pub const fn piece(self, length: u64) -> u64 {
        let piece = (length as f64 * self.0) as u64 / PIECES;
        if piece < PIECE[0] {
            PIECE[0]
        } else if piece > PIECE[1] {
            PIECE[1]
        } else {
            piece
        }
    }

    /// Of every 1/part pieces one, at a place of chance that is always the same.
    pub fn has(self, piece: u64) -> bool {
        let stride = (1.0 / self.0).round().max(1.0) as u64;
        piece % stride == chance(piece / stride) % stride
    }

    /// Of so many things these: at least one, each from another stretch of them.
    pub fn of(self, count: usize) -> Vec<usize> {
        let chosen = ((count as f64 * self.0).round() as usize).clamp(1, count.max(1)).min(count);
        let stretch = |number: usize| number * count / chosen;
        (0..chosen)
            .map(|number| {
                let (begin, end) = (stretch(number), stretch(number + 1));
                begin + (chance(number as u64) % (end - begin) as u64) as usize
            })
            .collect()
    }
}

/// SplitMix64's increment and finalizer.
const fn chance(number: u64) -> u64 {
    let word = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}
