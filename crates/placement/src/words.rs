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
        let Masks { space, .. } = masks(text, first);
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

/// Where words and lines end in a text of whole lines.
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    /// Where each word begins and where it ends, in turns; room for a block more than there can be.
    begins_and_ends: Vec<u32>,
    found: usize,
    /// The lines, in their order.
    lines: Vec<Line>,
}

/// Where a line ends.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// Behind its LF.
    pub end: usize,
    /// How many words the text has up to it.
    pub words: usize,
}

impl Bounds {
    /// The longest text.
    pub const ROOM: usize = 4096;

    /// The lines of the text that was looked through.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// The words of the text that was looked through: where each begins and ends.
    pub fn words(&self) -> &[[u32; 2]] {
        self.begins_and_ends[..self.found].as_chunks().0
    }

    /// Looks through a text of at most [`Bounds::ROOM`] bytes that ends with a line.
    #[inline]
    pub fn find(&mut self, text: &[u8]) {
        self.begins_and_ends.resize(Self::ROOM + BLOCK, 0);
        self.lines.clear();
        let (mut found, mut before) = (0, 1);
        for first in (0..text.len().min(Self::ROOM)).step_by(BLOCK) {
            let Masks { space, mut line_end } = masks(text, first);
            let mut bounds = space ^ (space << 1 | before);
            before = space >> (BLOCK - 1);
            while line_end != 0 {
                let up_to = line_end ^ (line_end - 1);
                line_end &= line_end - 1;
                let words = (found + (bounds & up_to).count_ones() as usize) >> 1;
                self.lines.push(Line { end: first + up_to.count_ones() as usize, words });
            }
            let count = bounds.count_ones() as usize;
            let Some(room) = self.begins_and_ends[found..].first_chunk_mut::<BLOCK>() else { break };
            // Most blocks have no more: so many are written whatever there are, as a loop's end would be guessed wrong.
            let (usual, more) = room.split_at_mut(USUAL);
            let mut next = || {
                let at = first as u32 + bounds.trailing_zeros();
                bounds &= bounds.wrapping_sub(1);
                at
            };
            for bound in usual {
                *bound = next();
            }
            if count > USUAL {
                for bound in &mut more[..count - USUAL] {
                    *bound = next();
                }
            }
            found += count;
        }
        self.found = found;
    }
}

/// Bounds of words in most blocks.
const USUAL: usize = 24;

/// Which of the bytes of a block are white space, and which end a line.
struct Masks {
    space: u64,
    line_end: u64,
}

/// Of the bytes from `first` on. Behind the text there is white space.
#[inline]
fn masks(text: &[u8], first: usize) -> Masks {
    if let Some(block) = text[first..].first_chunk() {
        return of_block(block);
    }
    let rest = text.len() - first;
    let behind = u64::MAX << rest;
    if let Some(last) = text.last_chunk() {
        // What stands before them in the last block of the text has been seen.
        let Masks { space, line_end } = of_block(last);
        let only = |mask: u64| mask.checked_shr((BLOCK - rest) as u32).unwrap_or(0);
        return Masks { space: only(space) | behind, line_end: only(line_end) };
    }
    let mut block = [b' '; BLOCK];
    block[..rest].copy_from_slice(&text[first..]);
    of_block(&block)
}

#[inline]
fn of_block(block: &[u8; BLOCK]) -> Masks {
    let (pieces, _) = block.as_chunks();
    let before = Masks { space: 0, line_end: 0 };
    pieces.iter().rev().fold(before, |Masks { space, line_end }, piece| {
        let piece = u8x16::new(*piece);
        let is = |byte: u8| piece.simd_eq(u8x16::splat(byte));
        // Tab to CR are neighbours, with the vertical tab among them, which is none.
        let from_tab = piece - u8x16::splat(b'\t');
        let to_return = from_tab.min(u8x16::splat(b'\r' - b'\t')).simd_eq(from_tab);
        let is_space = is(b' ') | (to_return & !is(0x0b));
        Masks {
            space: space << 16 | u64::from(is_space.to_bitmask()),
            line_end: line_end << 16 | u64::from(is(b'\n').to_bitmask()),
        }
    })
}
