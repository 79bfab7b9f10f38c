//! How connections share memory.

/// What any connection may hold, in bytes, however little memory is left.
const LEAST: u64 = 4 << 10;

/// The share of memory that a connection may have: the square of the part that is free.
///
/// With the square, n connections that hold as much as they may leave 1 / (1 + n x first share / memory) of it, and each
/// next one still gets something.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Share(f64);

impl Share {
    /// All that is wanted.
    pub const WHOLE: Self = Self(1.0);
    pub fn of(free: u64, whole: u64) -> Self {
        let part = (free as f64 / whole.max(1) as f64).min(1.0);
        Self(part * part)
    }
    /// The share of so many bytes; of little, all.
    pub fn part_of(self, bytes: u64) -> u64 {
        ((bytes as f64 * self.0) as u64).max(LEAST.min(bytes))
    }
}
