//! Session credit: flow control over all connections of a session, and a gateway's pool of memory.
//!
//! A limit over all connections holds up connections that are read when others are not, unless unread bytes are counted
//! apart (RFC 9000, section 4, leaves that to implementations). Three rules:
//! - The allowance is what has been received plus a window, while there is memory. So unread bytes use up memory, and
//!   not the window.
//! - A connection may hold a part of the memory that unread bytes leave ([`Credit::share`]). So memory is never used
//!   up, however many programs do not read (dynamic thresholds: Choudhury and Hahne, IEEE/ACM ToN 1998).
//! - A sender leaves the last of its allowance to connections whose bytes are taken ([`Credit::allowed`]).

use crate::share::Share;
use crate::window::{Progress, Window};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use units::Time;

/// Initial allowance of a session in bytes: what it may send of all connections before the first ALLOW (P-30).
pub const FIRST_ALLOWANCE: u64 = 4 << 20;
/// The last part of the allowance in bytes, for connections whose programs take what comes (P-34).
const RESERVE: u64 = 1 << 20;

/// Memory that sessions share, for credit granted to their peers and for data of their own programs. A pool may be a
/// part of a larger one.
#[derive(Debug)]
pub struct Pool {
    size: u64,
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
        let size = bytes.min(i64::MAX as u64);
        Arc::new(Self { size, free: AtomicI64::new(size as i64), whole })
    }
    /// The most bytes that can be free.
    fn size(&self) -> u64 {
        self.whole.as_ref().map_or(self.size, |whole| self.size.min(whole.size()))
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
    /// Takes up to `bytes` bytes, as many as are free. Returns how many; 0 if another session takes some at the same
    /// moment.
    fn take_some(&self, bytes: u64) -> u64 {
        let some = bytes.min(self.free());
        if self.take(some) { some } else { 0 }
    }
    /// Takes bytes that are held already, even if none are free: two programs may have used the same room.
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
/// connections of the highest position sent.
#[derive(Debug)]
pub(super) struct Credit {
    pool: Arc<Pool>,
    /// Our allowance from the peer, and how much of it is used; both cumulative.
    pub limit: u64,
    pub used: u64,
    /// Bytes received from the peer, and how many of these are taken or void; both cumulative.
    received: u64,
    returned: u64,
    /// Allowance announced to the peer, cumulative.
    granted: u64,
    /// Bytes that the peer should be able to have in flight, besides `RESERVE`.
    window: Window,
    /// Bytes taken from the pool for what the peer may make this end hold.
    charged: u64,
    /// Bytes taken from the pool for data of local programs.
    held: u64,
    /// Upper limit of `held`, and of what the peer may make this end hold.
    most: u64,
}

impl Credit {
    /// `None` if the pool has less than the first allowance.
    pub fn new(pool: &Arc<Pool>, most: u64) -> Option<Self> {
        let most = most.max(FIRST_ALLOWANCE);
        pool.take(FIRST_ALLOWANCE).then(|| Self {
            pool: Arc::clone(pool),
            limit: FIRST_ALLOWANCE,
            used: 0,
            received: 0,
            returned: 0,
            granted: FIRST_ALLOWANCE,
            window: Window::new(FIRST_ALLOWANCE - RESERVE, most - RESERVE),
            charged: FIRST_ALLOWANCE,
            held: 0,
            most,
        })
    }

    // === What is sent ===

    /// New bytes that a connection may send. `unproven` counts those that the peer's program is not known to take. The
    /// last of the allowance is for connections with few of them: each leaves the others as much as it has unproven, up
    /// to `RESERVE`.
    pub fn allowed(&self, unproven: u64) -> u64 {
        let left = self.limit.saturating_sub(self.used);
        left.saturating_sub(RESERVE).max(left.saturating_sub(unproven) / 2)
    }
    /// Bytes held for local programs.
    pub fn held(&self) -> u64 {
        self.held
    }
    /// Further bytes that may be held for local programs.
    pub fn room(&self) -> u64 {
        self.most.saturating_sub(self.held).min(self.pool.free())
    }
    /// The part of `bytes` that a connection may hold beyond what is in flight.
    pub fn ahead(&self, bytes: u64) -> u64 {
        Share::of(self.room(), self.whole()).part_of(bytes)
    }
    pub fn hold(&mut self, bytes: u64) {
        self.held += bytes;
        self.pool.take_anyway(bytes);
    }
    pub fn let_go(&mut self, bytes: u64) {
        self.held -= bytes;
        self.pool.give(bytes);
    }

    // === What is received ===

    /// Counts new bytes of the peer. Returns whether the allowance covers them.
    pub fn receive(&mut self, bytes: u64) -> bool {
        self.received = self.received.saturating_add(bytes);
        self.received <= self.granted
    }
    /// Counts bytes as taken by programs, or void. Their memory goes back to the pool. A new grant takes memory again.
    pub fn give_back(&mut self, bytes: u64) {
        self.returned = self.returned.saturating_add(bytes);
        let charge = self.promised().max(FIRST_ALLOWANCE).min(self.charged);
        self.pool.give(self.charged - charge);
        self.charged = charge;
    }
    /// Lets the window follow the rate of arrival, as a connection's does. `drained` says that a program has taken all
    /// bytes of its connection.
    pub fn tune(&mut self, now: Time, drained: bool, rtt: Time) {
        // Session credit has no order: both counts are the bytes received.
        let progress = Progress { arrived: self.received, end: self.received };
        let more = self.window.wants(now, progress, drained, rtt);
        self.window.grow(more);
        self.window.take_back(now);
    }
    /// The allowance to announce to the peer, if it has grown enough.
    pub fn grant(&mut self) -> Option<u64> {
        let (window, left) = (self.window.size() + RESERVE, self.left());
        let wanted = window.saturating_sub(left).min(self.most.saturating_sub(self.promised()));
        // A small step is worth its frame only where little is left.
        if wanted == 0 || wanted < (window / 4).min(left) {
            return None;
        }
        let free = self.charged.saturating_sub(self.promised());
        let taken = self.pool.take_some(wanted.saturating_sub(free));
        self.charged += taken;
        let more = wanted.min(free + taken);
        self.granted += more;
        (more > 0).then_some(self.granted)
    }
    /// Whether the pool lacks memory for the peer's allowance.
    pub fn is_short(&self) -> bool {
        self.left() < RESERVE && self.promised() < self.most && self.pool.free() == 0
    }
    /// The last announced allowance, for repetition.
    pub fn granted(&self) -> u64 {
        self.granted
    }
    /// Bytes that the peer may still send.
    fn left(&self) -> u64 {
        self.granted.saturating_sub(self.received)
    }
    /// Bytes that the peer may make this end hold, those held included.
    fn promised(&self) -> u64 {
        self.granted.saturating_sub(self.returned)
    }
    /// The share of memory that a connection may have.
    pub fn share(&self) -> Share {
        let unread = self.received.saturating_sub(self.returned);
        Share::of(self.most.min(self.pool.free() + self.charged).saturating_sub(unread), self.whole())
    }
    fn whole(&self) -> u64 {
        self.most.min(self.pool.size())
    }
}

impl Drop for Credit {
    fn drop(&mut self) {
        self.pool.give(self.charged + self.held);
    }
}
