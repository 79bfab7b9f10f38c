//! Session credit: flow control over all connections of a session, and a gateway's pool of memory.

use crate::window::{Progress, Window};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use units::Time;

/// What a session may send of all its connections' bytes before the first ALLOW, in bytes (P-30).
pub const FIRST_ALLOWANCE: u64 = 4 << 20;

/// Memory that sessions share: the credit granted to their peers, and data held for their own programs. A pool may be a
/// part of a larger one.
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
    /// Free bytes.
    pub fn free(&self) -> u64 {
        let own = self.free.load(Ordering::Relaxed).max(0) as u64;
        self.whole.as_ref().map_or(own, |whole| own.min(whole.free()))
    }
    /// Takes bytes if enough are free.
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
    /// Accounts for bytes that are held already, even if none are free: two programs may have used the same room.
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
    /// The peer's allowance, and how much of it is used; both cumulative.
    pub limit: u64,
    pub used: u64,
    /// Bytes received from the peer, and bytes of these that are taken or void; both cumulative.
    received: u64,
    returned: u64,
    /// The allowance announced to the peer, cumulative.
    granted: u64,
    /// Bytes that the peer may have outstanding; taken from the pool.
    window: Window,
    /// Bytes held for local programs; taken from the pool.
    held: u64,
    /// Upper limit of `held`.
    most: u64,
}

impl Credit {
    /// `None` if the pool has less than the first allowance.
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
    /// New data that may be sent now, in bytes.
    pub fn left(&self) -> u64 {
        self.limit.saturating_sub(self.used)
    }
    /// The peer has sent bytes for the first time; returns whether it was allowed to.
    pub fn receive(&mut self, bytes: u64) -> bool {
        self.received = self.received.saturating_add(bytes);
        self.window.hold(self.received.saturating_sub(self.returned));
        self.received <= self.granted
    }
    /// Returns credit for bytes that programs have taken, or that are void. The credit follows the rate of arrival, as
    /// a connection's does, while the pool has memory. `drained`: a connection's buffer is empty.
    pub fn give_back(&mut self, now: Time, bytes: u64, drained: bool, rtt: Time) {
        self.returned = self.returned.saturating_add(bytes);
        // Session credit has no order: both are the bytes received.
        let progress = Progress { arrived: self.received, end: self.received };
        let more = self.window.wants(now, progress, drained, rtt);
        if more > 0 && self.pool.take(more) {
            self.window.grow(more);
        }
    }
    /// The allowance to announce to the peer, if it has grown enough.
    pub fn grant(&mut self) -> Option<u64> {
        let window = self.window.size();
        let limit = self.returned.saturating_add(window);
        if limit.saturating_sub(self.granted) >= window / 4 {
            self.granted = limit;
            return Some(limit);
        }
        None
    }
    /// The last announced allowance, to repeat it if it may have been lost.
    pub fn granted(&self) -> u64 {
        self.granted
    }
    /// Bytes held for local programs.
    pub fn held(&self) -> u64 {
        self.held
    }
    /// Further bytes that may be held for local programs.
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
