//! Send and receive buffers: the bytes behind stream positions.

use crate::ranges::Span;
use std::collections::VecDeque;

/// Size of a block. A buffer is a list of blocks: it wastes at most a block at either end, and growth copies nothing.
const BLOCK: usize = 32 << 10;
/// Free blocks that a session keeps. An allocator would return them to the system, which would fault new ones in page
/// by page.
const SPARE: usize = 64;

/// Free blocks of a session.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks(Vec<Vec<u8>>);

impl Blocks {
    fn take(&mut self) -> Vec<u8> {
        self.0.pop().unwrap_or_else(|| vec![0; BLOCK])
    }
    fn keep(&mut self, block: Vec<u8>) {
        if self.0.len() < SPARE && !block.is_empty() {
            self.0.push(block);
        }
    }
}

/// A run of a byte stream, from position `start` to `end`.
#[derive(Clone, Debug, Default)]
pub(super) struct Buffer {
    start: u64,
    /// One beyond the last byte.
    end: u64,
    /// Position of the first block's first byte.
    base: u64,
    /// Blocks of one length. A block that lies in a hole has no memory.
    blocks: VecDeque<Vec<u8>>,
}

impl Buffer {
    /// Bytes held; in a receive buffer, with holes.
    pub fn len(&self) -> u64 {
        self.end - self.start
    }
    /// The position of the first byte held.
    pub fn start(&self) -> u64 {
        self.start
    }
    /// Memory for `bytes` bytes after the last one. The caller then says by [`extend`](Self::extend) how many it has
    /// written.
    pub fn spare(&mut self, blocks: &mut Blocks, bytes: u64) -> impl Iterator<Item = &mut [u8]> {
        let (from, to) = ((self.end - self.base) as usize, (self.end + bytes - self.base) as usize);
        self.blocks.resize_with(self.blocks.len().max(to.div_ceil(BLOCK)), Vec::new);
        let pieces =
            self.blocks.iter_mut().enumerate().skip(from / BLOCK).take_while(move |(index, _)| index * BLOCK < to);
        pieces.map(move |(index, block)| {
            let first = index * BLOCK;
            &mut memory(blocks, block)[from.saturating_sub(first)..(to - first).min(BLOCK)]
        })
    }
    /// Appends `bytes` bytes that were written into that memory. Memory that is left over goes back to `blocks`.
    pub fn extend(&mut self, blocks: &mut Blocks, bytes: u64) {
        self.end += bytes;
        let used = ((self.end - self.base) as usize).div_ceil(BLOCK);
        self.blocks.drain(used.min(self.blocks.len())..).for_each(|block| blocks.keep(block));
    }
    /// Writes bytes at a position that is not below the start. Missing bytes before it become a hole.
    pub fn put(&mut self, blocks: &mut Blocks, position: u64, mut bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let mut at = (position - self.base) as usize;
        self.end = self.end.max(position + bytes.len() as u64);
        while !bytes.is_empty() {
            let (index, within) = (at / BLOCK, at % BLOCK);
            if index >= self.blocks.len() {
                self.blocks.resize_with(index + 1, Vec::new);
            }
            let count = bytes.len().min(BLOCK - within);
            let (here, rest) = bytes.split_at(count);
            memory(blocks, &mut self.blocks[index])[within..within + count].copy_from_slice(here);
            (at, bytes) = (at + count, rest);
        }
    }
    /// Frees all bytes below a position.
    pub fn release(&mut self, blocks: &mut Blocks, position: u64) {
        if position >= self.end {
            for block in std::mem::take(&mut self.blocks) {
                blocks.keep(block);
            }
            self.start = self.start.max(position);
            (self.end, self.base) = (self.start, self.start);
            return;
        }
        self.start = self.start.max(position);
        while self.start - self.base >= BLOCK as u64 {
            if let Some(block) = self.blocks.pop_front() {
                blocks.keep(block);
            }
            self.base += BLOCK as u64;
        }
    }
    /// The bytes of a span in order. The buffer holds all of them.
    pub fn slices(&self, span: Span) -> impl Iterator<Item = &[u8]> {
        let (from, to) = ((span.start - self.base) as usize, (span.end - self.base) as usize);
        let blocks = if span.is_empty() { 0..0 } else { from / BLOCK..to.div_ceil(BLOCK) };
        self.blocks.range(blocks.clone()).zip(blocks).map(move |(block, index)| {
            let first = index * BLOCK;
            &block[from.saturating_sub(first)..(to - first).min(BLOCK)]
        })
    }
}

/// The memory of a block, allocated if it has none.
fn memory<'a>(blocks: &mut Blocks, block: &'a mut Vec<u8>) -> &'a mut Vec<u8> {
    if block.is_empty() {
        *block = blocks.take();
    }
    block
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes(buffer: &Buffer, span: Span) -> Vec<u8> {
        buffer.slices(span).flatten().copied().collect()
    }

    #[test]
    fn a_session_keeps_sixty_four_free_blocks() {
        let mut blocks = Blocks::default();
        // Blocks of holes have no memory, and are not kept.
        (0..10).for_each(|_| blocks.keep(Vec::new()));
        assert_eq!(blocks.0.len(), 0);
        (0..70).for_each(|_| blocks.keep(vec![0; BLOCK]));
        assert_eq!(blocks.0.len(), 64);
    }

    /// A block is freed with its last byte.
    #[test]
    fn a_block_without_bytes_is_freed() {
        let (mut buffer, mut blocks) = (Buffer::default(), Blocks::default());
        buffer.put(&mut blocks, 0, &vec![7; 2 * BLOCK]);
        buffer.release(&mut blocks, BLOCK as u64 - 1);
        assert_eq!((buffer.blocks.len(), blocks.0.len()), (2, 0));
        buffer.release(&mut blocks, BLOCK as u64);
        assert_eq!((buffer.blocks.len(), blocks.0.len()), (1, 1));
    }

    proptest! {
        /// Compares with a plain array. Pieces come in any order; reading releases the front.
        #[test]
        fn agrees_with_an_array(
            unit in prop::sample::select(vec![1_u64, 997, 20_000]),
            pieces in prop::collection::vec((0_u64..64, 0_u64..24, 0_u64..24), 1..40),
        ) {
            let (mut buffer, mut blocks, mut value) = (Buffer::default(), Blocks::default(), 0_u8);
            let mut plain = vec![0_u8; 4096 * unit as usize];
            for (ahead, len, released) in pieces {
                let piece: Vec<u8> = (0..len * unit).map(|_| { value = value.wrapping_add(37); value }).collect();
                let at = buffer.start() + ahead * unit;
                buffer.put(&mut blocks, at, &piece);
                plain[at as usize..at as usize + piece.len()].copy_from_slice(&piece);
                let span = Span::new(buffer.start(), buffer.start() + buffer.len());
                // Nobody reads holes, which have no memory.
                let arrived = Span::new(at.min(span.end), (at + piece.len() as u64).min(span.end));
                prop_assert_eq!(bytes(&buffer, arrived), &plain[arrived.start as usize..arrived.end as usize]);
                let third = arrived.len() / 3;
                let inner = Span::new(arrived.start + third, arrived.end - third);
                prop_assert_eq!(bytes(&buffer, inner), &plain[inner.start as usize..inner.end as usize]);
                let held: usize = buffer.blocks.iter().map(Vec::capacity).sum();
                prop_assert!(held as u64 <= buffer.len() + 2 * BLOCK as u64);
                let to = buffer.start() + (released * unit).min(buffer.len());
                buffer.release(&mut blocks, to);
                prop_assert_eq!(buffer.start(), to);
            }
        }
        /// What is appended is there, whatever has been released.
        #[test]
        fn what_is_appended_is_there(pieces in prop::collection::vec((0_u64..70_000, 0_u64..70_000, 0_u64..100_000), 1..20)) {
            let (mut buffer, mut blocks, mut all) = (Buffer::default(), Blocks::default(), Vec::new());
            for (len, unused, released) in pieces {
                let piece: Vec<u8> = (0..len).map(|at| (at * 7 + all.len() as u64) as u8).collect();
                let mut rest = piece.as_slice();
                for memory in buffer.spare(&mut blocks, len + unused) {
                    let count = memory.len().min(rest.len());
                    memory[..count].copy_from_slice(&rest[..count]);
                    rest = &rest[count..];
                }
                prop_assert!(rest.is_empty());
                buffer.extend(&mut blocks, len);
                all.extend(piece);
                let span = Span::new(buffer.start(), buffer.start() + buffer.len());
                prop_assert_eq!(bytes(&buffer, span), &all[span.start as usize..]);
                prop_assert_eq!(span.end, all.len() as u64);
                let held: usize = buffer.blocks.iter().map(Vec::capacity).sum();
                prop_assert!(held as u64 <= buffer.len() + 2 * BLOCK as u64);
                buffer.release(&mut blocks, span.start + released.min(span.len()));
            }
        }
    }
}
