//! Memory for bytes between a socket and the session, one for each thread: idle connections and streams hold none.

use std::cell::RefCell;

/// Read at a time: a call costs about as much as a few kilobytes, and this still fits a core's cache.
const LENGTH: usize = 256 << 10;

thread_local! {
    static SCRATCH: RefCell<Vec<u8>> = RefCell::new(vec![0; LENGTH]);
}

/// Lends this thread's memory. Calls must not nest.
pub(crate) fn with<T>(on: impl FnOnce(&mut [u8]) -> T) -> T {
    SCRATCH.with_borrow_mut(|scratch| on(scratch))
}
