//! TCP push flow control: Lee, "Adaptive TCP flow control for improving performance of mobile cloud clusters", 2014,
//! section 5.2.2, Algorithm 2.
//!
//! A receiver that hands pushed segments straight to its application acknowledges them sooner than others. The mode
//! starts when such a receiver has closed its window. From then on an acknowledgement of a pushed segment is no RTT
//! sample, and caps cwnd at the bytes that were in flight.
//!
//! Where the printed algorithm is silent, it is read thus ([tcp.md](../../../docs/models/tcp.md)):
//! - *Packets in flight* are counted before the acknowledgement is taken off: they are what the path has just carried.
//!   Counted after it, the last acknowledgement finds none, and a window of 0 is never acknowledged again.
//! - cwnd stays at [`FLOOR`] segments or more.
//! - cwnd is left alone during recovery, which sets it by its own rules.
//! - The mode ends when data is acknowledged that was sent after the peer last offered less than half of its largest
//!   window. As printed it never ends.
//! - An acknowledgement that would have been a sample still ends RTO back-off. Otherwise the timeout would stay doubled
//!   as long as the mode lasts.
//! - A receiver here does not estimate how long to delay an acknowledgement, so there is no such estimation to skip.

use crate::{Endpoint, Segment};
use std::collections::VecDeque;

/// The smallest cwnd of the mode, in segments. The loss window is one, but a single segment waits for a delayed
/// acknowledgement.
pub(crate) const FLOOR: u64 = 2;

/// Beside the control of a sender whose segments are pushed.
#[derive(Clone, Debug, Default)]
pub(crate) struct PushControl {
    /// Ends of the pushed segments in flight, ascending; some may be acknowledged already.
    ends: VecDeque<u64>,
    /// The mode is on, until more than `until` is acknowledged.
    on: bool,
    until: u64,
}

impl PushControl {
    /// A pushed segment that ends at `end` was sent; everything below `una` is acknowledged.
    fn on_sent(&mut self, end: u64, una: u64) {
        while self.ends.front().is_some_and(|first| *first <= una) {
            self.ends.pop_front();
        }
        if self.ends.back().is_none_or(|last| *last < end) {
            self.ends.push_back(end);
        }
    }
    /// Whether an acknowledgement that moves the left edge from `una` to `ack` is one of a pushed segment.
    fn acknowledges_pushed(&mut self, una: u64, ack: u64) -> bool {
        let mut pushed = false;
        while let Some(end) = self.ends.front().copied().filter(|end| *end <= ack) {
            pushed |= end > una;
            self.ends.pop_front();
        }
        pushed
    }
}

impl Endpoint {
    fn push(&mut self) -> &mut PushControl {
        self.special.push.get_or_insert_default()
    }
    /// The mode is on.
    pub fn in_push_flow_control(&self) -> bool {
        self.special.there().and_then(|special| special.push.as_ref()).is_some_and(|push| push.on)
    }
    /// A segment with PSH that ends at `end` is being sent.
    pub(crate) fn note_pushed(&mut self, end: u64) {
        let una = self.tx.una;
        self.push().on_sent(end, una);
    }
    /// The peer has closed its window.
    #[cold]
    pub(crate) fn begin_push_flow_control(&mut self) {
        let until = self.tx.nxt;
        let push = self.push();
        (push.on, push.until) = (true, until);
    }
    /// Whether the mode goes on after this segment.
    #[cold]
    pub(crate) fn judge_push_flow_control(&mut self, segment: &Segment) {
        if !self.in_push_flow_control() {
            return;
        }
        let (small, nxt) = (segment.window < self.tx.max_window / 2, self.tx.nxt);
        let push = self.push();
        if small {
            push.until = nxt;
        } else if segment.ack > push.until {
            push.on = false;
        }
    }
    /// In the mode: whether this, which moves the left edge, acknowledges a pushed segment.
    #[cold]
    pub(crate) fn acknowledges_pushed(&mut self, segment: &Segment) -> bool {
        let una = self.tx.una;
        self.in_push_flow_control() && self.push().acknowledges_pushed(una, segment.ack)
    }
    /// It did: `flight` bytes were outstanding before.
    pub(crate) fn clamp_pushed(&mut self, flight: u64) {
        let window = &mut self.tx.window;
        window.cwnd = window.cwnd.min(flight.max(FLOOR * u64::from(window.mss)));
    }
}
