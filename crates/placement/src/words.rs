//! Words between white space, 64 bytes of text at a time: a branch for each byte would often be guessed wrong.

use std::ops::Range;
use wide::u8x16;

/// Bytes that are looked at together, each a bit of a mask.
const BLOCK: usize = 64;

/// Appends the words between the white space of Java's `StringTokenizer`: blank, tab, LF, CR, form feed.
#[inline]
pub fn words<T>(text: &[u8], found: &mut Vec<T>, word: impl Fn(Range<usize>) -> T) {
    let (mut begin, mut within) = (0, false);
    // Behind the text there is white space, for which a block is left where the text fills its last one.
    for first in (0..=text.len()).step_by(BLOCK) {
        let space = spaces(text, first);
        let before = space << 1 | u64::from(!within);
        let (mut begins, mut ends) = (!space & before, space & !before);
        let mut next_begin = || {
            let at = first + begins.trailing_zeros() as usize;
            begins &= begins.wrapping_sub(1);
            at
        };
        if !within {
            begin = next_begin();
        }
        found.extend((0..ends.count_ones()).map(|_| {
            let end = first + ends.trailing_zeros() as usize;
            ends &= ends - 1;
            word(std::mem::replace(&mut begin, next_begin())..end)
        }));
        within = space >> (BLOCK - 1) == 0;
    }
}

/// Which of the bytes from `first` on are white space, or behind the text.
#[inline]
fn spaces(text: &[u8], first: usize) -> u64 {
    if let Some(block) = text[first..].first_chunk() {
        return mask(block);
    }
    let rest = text.len() - first;
    let behind = u64::MAX << rest;
    if let Some(last) = text.last_chunk() {
        // What stands before them in the last block of the text has been seen.
        return mask(last).checked_shr((BLOCK - rest) as u32).unwrap_or(0) | behind;
    }
    let mut block = [0; BLOCK];
    block[..rest].copy_from_slice(&text[first..]);
    mask(&block) | behind
}

#[inline]
fn mask(block: &[u8; BLOCK]) -> u64 {
    let is = |piece: u8x16, byte: u8| piece.simd_eq(u8x16::splat(byte));
    let (pieces, _) = block.as_chunks();
    pieces.iter().rev().fold(0, |mask, piece| {
        let piece = u8x16::new(*piece);
        // Tab to CR are neighbours, with the vertical tab among them, which is none.
        let from_tab = piece - u8x16::splat(b'\t');
        let to_return = from_tab.min(u8x16::splat(b'\r' - b'\t')).simd_eq(from_tab);
        let space = is(piece, b' ') | (to_return & !is(piece, 0x0b));
        mask << 16 | u64::from(space.to_bitmask())
    })
}
