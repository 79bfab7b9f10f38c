//! Conversions between widths of numbers, and draws.

use des::RandomStream;

pub(crate) use units::{count, scaled, whole};

/// A place drawn among so many.
pub(crate) fn draw(random: &mut RandomStream, places: usize) -> usize {
    usize::try_from(random.below(places as u64)).unwrap_or_default()
}
