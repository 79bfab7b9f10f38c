//! Conversions between widths of numbers that cannot fail where they are used.

use des::RandomStream;

/// A rounded, non-negative number of bytes or records; the largest of 64 bits for what is beyond.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a cast from floating point saturates, and the fraction is not wanted"
)]
pub(crate) const fn whole(value: f64) -> u64 {
    value as u64
}

/// `total * part / of`, exactly, for `part <= of`.
pub(crate) fn scaled(total: u64, part: u64, of: u64) -> u64 {
    let value = u128::from(total) * u128::from(part) / u128::from(of);
    u64::try_from(value).unwrap_or(u64::MAX)
}

/// A count of things in memory, for a field that holds 32 bits; the largest of these for what is beyond.
pub(crate) fn count(things: usize) -> u32 {
    u32::try_from(things).unwrap_or(u32::MAX)
}

/// A place drawn among so many.
pub(crate) fn draw(random: &mut RandomStream, places: usize) -> usize {
    usize::try_from(random.below(places as u64)).unwrap_or_default()
}
