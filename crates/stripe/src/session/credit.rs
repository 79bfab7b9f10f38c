//! What all connections of a session may have under way together, and what a gateway holds in all.

use crate::window::{Progress, Window};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use units::Time;

/// What a session may send of all its connections' bytes before the first ALLOW, in bytes (P-30).
pub const FIRST_ALLOWANCE: u64 = 4 << 20;

/// Memory that sessions share: what they promise to hold for their peers, and what they hold for their own programs. A
/// pool may be part of a larger one, of which it leaves the rest to others.
#[derive(Debug)]
pub struct Pool {
    free: AtomicI64,
    whole: Option<Arc<Pool>>,
}

impl Pool {
    /// A pool of this many bytes.
    pub fn new(bytes: u64) -> Arc<Self> {
        Self::part(bytes, None)
    }
    /// A part of this pool of at most this many bytes.
    pub fn within(self: &Arc<Self>, bytes: u64) -> Arc<Self> {
        Self::part(bytes, Some(Arc::clone(self)))
    }
    fn part(bytes: u64, whole: Option<Arc<Self>>) -> Arc<Self> {
        Arc::new(Self { free: AtomicI64::new(i64::try_from(bytes).unwrap_or(i64::MAX)), whole })
    }
    /// Bytes that nobody has.
    pub fn free(&self) -> u64 {
        let own = self.free.load(Ordering::Relaxed).max(0) as u64;
        self.whole.as_ref().map_or(own, |whole| own.min(whole.free()))
    }
    /// Takes bytes if there are as many.
    fn take(&self, bytes: u64) -> bool {
        if self.whole.as_ref().is_some_and(|whole| !whole.take(bytes)) {
            return false;
        }
        let enough = |free: i64| (free >= bytes as i64).then(|| free - bytes as i64);
        let taken = self.free.fetch_update(Ordering::Relaxed, Ordering::Relaxed, enough).is_ok();
        if let Some(whole) = self.whole.as_ref().filter(|_| !taken) {
            whole.give(bytes);
        }
        taken
    }
    /// Takes bytes that are there already: two programs may have been told of the same room.
    fn take_anyway(&self, bytes: u64) {
        self.free.fetch_sub(bytes as i64, Ordering::Relaxed);
        if let Some(whole) = &self.whole {
            whole.take_anyway(bytes);
        }
    }
    fn give(&self, bytes: u64) {
        self.free.fetch_add(bytes as i64, Ordering::Relaxed);
        if let Some(whole) = &self.whole {
            whole.give(bytes);
        }
    }
}

/// Credit of a whole session in both directions (P-30). It counts bytes sent for the first time: the sum over
/// connections of the end of what was sent.
#[derive(Debug)]
pub(super) struct Credit {
    pool: Arc<Pool>,
    /// The peer allows so much in all; so much of it is used.
    pub limit: u64,
    pub used: u64,
    /// The peer has sent so much, of which so much is taken or void.
    received: u64,
    returned: u64,
    /// The peer has been told that it may send so much in all.
    granted: u64,
    /// How much it may have under way: taken from the pool.
    window: Window,
    /// Bytes held for the programs here, from the pool too.
    held: u64,
    /// The most of it.
    most: u64,
}

impl Credit {
    /// None if the pool has not even the first allowance.
    pub fn new(pool: &Arc<Pool>, most: u64) -> Option<Self> {
        pool.take(FIRST_ALLOWANCE).then(|| Self {
            pool: Arc::clone(pool),
            limit: FIRST_ALLOWANCE,
            used: 0,
            received: 0,
            returned: 0,
            granted: FIRST_ALLOWANCE,
            window: Window::new(FIRST_ALLOWANCE, most),
            held: 0,
            most: most.max(FIRST_ALLOWANCE),
        })
    }
    /// What may be sent for the first time now.
    pub fn left(&self) -> u64 {
        self.limit.saturating_sub(self.used)
    }
    /// The peer has sent bytes for the first time; returns whether it was allowed to.
    pub fn receive(&mut self, bytes: u64) -> bool {
        self.received = self.received.saturating_add(bytes);
        self.window.hold(self.received.saturating_sub(self.returned));
        self.received <= self.granted
    }
    /// Returns bytes of the peer that programs have taken, or that nobody wants. The credit follows the rate of arrival
    /// as a connection's does, while the pool has memory. `drained`: a connection has taken all that it had.
    pub fn give_back(&mut self, now: Time, bytes: u64, drained: bool, rtt: Time) {
        self.returned = self.returned.saturating_add(bytes);
        // Session credit has no order: both are the bytes received.
        let progress = Progress { arrived: self.received, end: self.received };
        let more = self.window.wants(now, progress, drained, rtt);
        if more > 0 && self.pool.take(more) {
            self.window.grow(more);
        }
    }
    /// The limit to tell the peer, if it is worth telling.
    pub fn grant(&mut self) -> Option<u64> {
        let window = self.window.size();
        let limit = self.returned.saturating_add(window);
        if limit.saturating_sub(self.granted) >= window / 4 {
            self.granted = limit;
            return Some(limit);
        }
        None
    }
    /// What the peer was told last, for when that may have been lost.
    pub fn granted(&self) -> u64 {
        self.granted
    }
    /// Bytes held for the programs here.
    pub fn held(&self) -> u64 {
        self.held
    }
    /// How many more may be.
    pub fn room(&self) -> u64 {
        self.most.saturating_sub(self.held).min(self.pool.free())
    }
    pub fn hold(&mut self, bytes: u64) {
        self.held += bytes;
        self.pool.take_anyway(bytes);
    }
    pub fn let_go(&mut self, bytes: u64) {
        self.held -= bytes;
        self.pool.give(bytes);
    }
}

impl Drop for Credit {
    fn drop(&mut self) {
        self.pool.give(self.window.size() + self.held);
    }
}
