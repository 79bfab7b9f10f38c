//! Where bytes stay for a moment between a socket and the session. Each thread has one: connections and streams that are idle have none.

use std::cell::RefCell;

/// Read at a time: a call costs about as much as a few kilobytes, and this still fits a core's cache.
const LENGTH: usize = 256 << 10;

thread_local! {
    static SCRATCH: RefCell<Vec<u8>> = RefCell::new(vec![0; LENGTH]);
}

/// Lends it. Not to be called by whoever has it.
pub(crate) fn with<T>(on: impl FnOnce(&mut [u8]) -> T) -> T {
    SCRATCH.with_borrow_mut(|scratch| on(scratch))
}
