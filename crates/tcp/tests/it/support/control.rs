//! Feeds a congestion control by hand.

use tcp::control::{Ack, Window};
use units::Time;

pub const MSS: u32 = 1000;

/// A window of `segments` in congestion avoidance, or in slow start without a threshold.
pub fn window(segments: u64, slow_start: bool) -> Window {
    let cwnd = segments * u64::from(MSS);
    Window { ssthresh: if slow_start { u64::MAX } else { cwnd }, cwnd, ..Window::new(MSS, 1) }
}

/// An acknowledgement of `acked` bytes at `now`, with the window full and slow start of a segment at a time.
pub fn ack(now: Time, acked: u64, window: &Window) -> Ack {
    Ack {
        now,
        acked,
        delivered: acked,
        slow_start_limit: Some(u64::from(MSS)),
        flight: window.cwnd,
        una: 0,
        nxt: 0,
        cwnd_limited: true,
        smoothed_rtt: Time::from_ms(100),
        least_rtt: Time::from_ms(100),
    }
}
