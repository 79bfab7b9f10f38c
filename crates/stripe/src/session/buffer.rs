//! The bytes behind the positions: what may have to be sent again, and what is to be read.

use crate::ranges::Span;
use std::collections::VecDeque;

/// A buffer that has been emptied keeps no more than this.
const KEPT: usize = 16 << 10;

/// A run of a byte stream: the byte at `start` is the first one held.
#[derive(Clone, Debug, Default)]
pub(super) struct Buffer {
    start: u64,
    bytes: VecDeque<u8>,
}

impl Buffer {
    /// Bytes held; of a receiver's, holes included.
    pub fn len(&self) -> u64 {
        self.bytes.len() as u64
    }
    /// The position of the first byte held.
    pub fn start(&self) -> u64 {
        self.start
    }
    /// Appends what the application has written.
    pub fn append(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
    }
    /// Puts bytes where they belong; what lies before them and has not come is a hole. Nothing is put below the start.
    pub fn put(&mut self, position: u64, bytes: &[u8]) {
        let at = (position - self.start) as usize;
        if at >= self.bytes.len() {
            self.bytes.resize(at, 0);
            self.bytes.extend(bytes);
            return;
        }
        let over = (at + bytes.len()).min(self.bytes.len()) - at;
        let (front, back) = self.bytes.as_mut_slices();
        let cut = front.len().saturating_sub(at).min(over);
        if cut > 0 {
            front[at..at + cut].copy_from_slice(&bytes[..cut]);
        }
        if cut < over {
            let at = at + cut - front.len();
            back[at..at + over - cut].copy_from_slice(&bytes[cut..over]);
        }
        self.bytes.extend(&bytes[over..]);
    }
    /// Lets go of all below a position.
    pub fn release(&mut self, position: u64) {
        let count = (position.saturating_sub(self.start) as usize).min(self.bytes.len());
        self.bytes.drain(..count);
        self.start = self.start.max(position);
        if self.bytes.is_empty() && self.bytes.capacity() > KEPT {
            self.bytes = VecDeque::new();
        }
    }
    /// The bytes of a span, as two slices; all of it is held.
    pub fn slices(&self, span: Span) -> (&[u8], &[u8]) {
        let (from, to) = ((span.start - self.start) as usize, (span.end - self.start) as usize);
        let (front, back) = self.bytes.as_slices();
        let split = front.len();
        (&front[from.min(split)..to.min(split)], &back[from.max(split) - split..to.max(split) - split])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a plain array: pieces in any order, and what is read lets go of the front.
        #[test]
        fn agrees_with_an_array(pieces in prop::collection::vec((0_u64..64, 0_usize..24, 0_u64..24), 1..40)) {
            let (mut buffer, mut plain, mut value) = (Buffer::default(), vec![0_u8; 4096], 0_u8);
            for (ahead, len, released) in pieces {
                let bytes: Vec<u8> = (0..len).map(|_| { value = value.wrapping_add(37); value }).collect();
                let at = buffer.start() + ahead;
                buffer.put(at, &bytes);
                plain[at as usize..at as usize + len].copy_from_slice(&bytes);
                let span = Span::new(buffer.start(), buffer.start() + buffer.len());
                let (front, back) = buffer.slices(span);
                prop_assert_eq!([front, back].concat(), &plain[span.start as usize..span.end as usize]);
                let inner = Span::new(span.start + span.len() / 3, span.end - span.len() / 3);
                let (front, back) = buffer.slices(inner);
                prop_assert_eq!([front, back].concat(), &plain[inner.start as usize..inner.end as usize]);
                let to = buffer.start() + released.min(buffer.len());
                buffer.release(to);
                prop_assert_eq!(buffer.start(), to);
            }
        }
    }
}
