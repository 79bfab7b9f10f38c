//! The share of memory that a connection may have.

/// Bytes that any connection may hold, however little memory is left.
const LEAST: u64 = 4 << 10;

/// The share of memory that a connection may have: the square of the free part. With the square, n connections that
/// hold as much as they may leave 1 / (1 + n x first share / memory) of the memory, and each further one still gets
/// some.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Share(f64);

impl Share {
    /// The whole: memory is not short.
    pub const WHOLE: Self = Self(1.0);
    pub fn of(free: u64, whole: u64) -> Self {
        let part = (free as f64 / whole.max(1) as f64).min(1.0);
        Self(part * part)
    }
    /// The share of `bytes`: at least `LEAST`, or all of less.
    pub fn part_of(self, bytes: u64) -> u64 {
        ((bytes as f64 * self.0) as u64).max(LEAST.min(bytes))
    }
}
