//! Conversions between widths of numbers. What does not fit becomes the largest that does.

use std::fmt::Display;

/// A non-negative number without its fraction.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a cast from floating point saturates, and the fraction is not wanted"
)]
pub const fn whole(value: f64) -> u64 {
    value as u64
}

/// A number in single precision, for series that are only looked at.
#[expect(clippy::cast_possible_truncation, reason = "the precision is not wanted")]
pub const fn single(value: f64) -> f32 {
    value as f32
}

/// `total * part / of`, exactly, for `part <= of` and `of > 0`.
pub fn scaled(total: u64, part: u64, of: u64) -> u64 {
    let value = u128::from(total) * u128::from(part) / u128::from(of);
    u64::try_from(value).unwrap_or(u64::MAX)
}

/// The number of things in memory in 32 bits, or the place of one among them.
pub fn count(things: usize) -> u32 {
    u32::try_from(things).unwrap_or(u32::MAX)
}

/// A number in 32 bits.
pub fn word(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// So many of something, in the singular or the plural.
pub fn many<N: Copy + Display + PartialEq + From<u8>>(count: N, one: &str) -> String {
    let plural = if count == N::from(1) { "" } else { "s" };
    format!("{count} {one}{plural}")
}

/// A number in 8 bits.
pub fn byte(value: u32) -> u8 {
    u8::try_from(value).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_becomes_the_largest_that_does() {
        assert_eq!([whole(-1.5), whole(2.9), whole(1e300), whole(f64::NAN)], [0, 2, u64::MAX, 0]);
        assert_eq!([count(7), word(1 << 32), word(u64::from(u32::MAX))], [7, u32::MAX, u32::MAX]);
        assert_eq!([byte(255), byte(256)], [255, 255]);
        // 2^63 * 3 / 4 without a product of 65 bits.
        assert_eq!(scaled(1 << 63, 3, 4), 3 << 61);
    }
}
