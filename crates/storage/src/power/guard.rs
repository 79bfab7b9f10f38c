//! Backup disks stay ready while writes are many (Yang 2012, 4.4.4), with hysteresis.

use units::{BitRate, Bytes, Time};

/// What many writes are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GuardSpec {
    /// Above this rate over a window writes are many.
    pub on: BitRate,
    /// Below this rate over a window they are not any more; less than `on`.
    pub off: BitRate,
    /// The window.
    pub window: Time,
}

/// Watches the writes of a node.
#[derive(Clone, Debug)]
pub struct WriteGuard {
    spec: GuardSpec,
    written: Bytes,
    ends: Time,
    many: bool,
}

impl WriteGuard {
    /// Few writes so far. `None` where `off` is not below `on`: one rate for both would switch to and fro.
    pub fn new(spec: GuardSpec, now: Time) -> Option<Self> {
        (spec.off < spec.on).then(|| Self { spec, written: Bytes::ZERO, ends: now + spec.window, many: false })
    }
    /// Bytes are written.
    pub fn wrote(&mut self, bytes: Bytes) {
        self.written += bytes;
    }
    /// The end of the window.
    pub const fn deadline(&self) -> Time {
        self.ends
    }
    /// A window ends: whether writes are many now, if that has changed.
    pub fn on_timer(&mut self, now: Time) -> Option<bool> {
        if now < self.ends {
            return None;
        }
        let most = |rate: BitRate| rate.bytes_in(self.spec.window);
        let many = if self.many { self.written >= most(self.spec.off) } else { self.written > most(self.spec.on) };
        (self.written, self.ends) = (Bytes::ZERO, now + self.spec.window);
        (std::mem::replace(&mut self.many, many) != many).then_some(many)
    }
}
