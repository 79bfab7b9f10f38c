//! Credit of a receiver: how many bytes its peer may have in flight.

use crate::share::Share;
use units::Time;

/// Credit beyond the measured rate, in bytes: what may arrive before the first round trip is over.
const SLACK: u64 = 256 << 10;
/// Credit that was not needed for this long is taken back by halves.
const UNUSED: Time = Time::from_secs(10);

/// Progress of a byte stream. `arrived` counts bytes in order or not; `end` is the highest position received. Progress
/// in a round trip is min(advance of `arrived`, advance of `end`). A stream that continues after a stall makes
/// `arrived` jump, but not `end`, which the other streams have advanced before.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    pub arrived: u64,
    pub end: u64,
}

impl Progress {
    fn since(self, before: Self) -> u64 {
        // A reset discards bytes, so that `arrived` may fall.
        self.arrived.saturating_sub(before.arrived).min(self.end.saturating_sub(before.end))
    }
}

/// Credit that follows the rate of arrival (Fisk and Feng, *Dynamic right-sizing in TCP*, 2001): 2 x (bytes per round
/// trip + bytes held out of order), at most 4 x the mean of two round trips. It grows only while the application keeps
/// up.
///
/// - Twice the bytes of a round trip: a sender whose rate doubles per round trip is not held back.
/// - Out of order: a stream that has lost a segment holds up what the others bring, for one or two round trips.
/// - The round trip is the path's without a queue (`Streams::window_rtt`). Otherwise the credit would grow with the
///   queue that it lets the sender build.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    size: u64,
    first: u64,
    most: u64,
    /// Progress 0.5, 1, 1.5 and 2 round trips ago.
    marks: [(Time, Progress); 4],
    /// The most that was held out of order since the last mark.
    held: u64,
    /// The application had everything at some time since the last mark.
    keeps_up: bool,
    /// The application had everything at some time between the last two marks.
    kept_up: bool,
    /// When more than half of the window was last needed.
    used_at: Time,
}

impl Window {
    /// Creates credit of `size` bytes that never grows beyond `most`.
    pub fn new(size: u64, most: u64) -> Self {
        Self {
            size,
            first: size,
            most: most.max(size),
            marks: [(Time::ZERO, Progress::default()); 4],
            held: 0,
            keeps_up: false,
            kept_up: false,
            used_at: Time::ZERO,
        }
    }
    pub fn size(&self) -> u64 {
        self.size
    }
    /// The window where memory is short. An application that keeps up gets what it needs, up to its share of the limit:
    /// its bytes do not stay. Another one gets its share of its window.
    pub fn within(&self, share: Share) -> u64 {
        let share = if self.keeps_up || self.kept_up { share.part_of(self.most) } else { share.part_of(self.size) };
        self.size.min(share)
    }
    /// Notes the bytes that are held out of order.
    pub fn hold(&mut self, bytes: u64) {
        self.held = self.held.max(bytes);
    }
    /// Bytes by which the credit should grow at this progress. `drained` says that no byte waits for the application.
    /// `rtt` is the streams' round-trip time.
    pub fn wants(&mut self, now: Time, progress: Progress, drained: bool, rtt: Time) -> u64 {
        self.keeps_up |= drained;
        if rtt == Time::ZERO {
            return 0;
        }
        let [last, .., first] = self.marks;
        let passed = now.saturating_sub(last.0);
        let brought = |since: (Time, Progress), least: Time| {
            let time = now.saturating_sub(since.0).max(least).as_secs_f64();
            (progress.since(since.1) as f64 * rtt.as_secs_f64() / time) as u64
        };
        // Bytes that arrived within the last round trip are a lower bound of what a round trip brings. A burst counts
        // at once; otherwise the credit would lag a round trip behind a sender that begins.
        let recent = self.marks.iter().filter(|(since, _)| now.saturating_sub(*since) <= rtt);
        let mut lately = recent.map(|(_, before)| progress.since(*before)).max().unwrap_or(0);
        let (average, held, keeps_up) = (brought(first, rtt.saturating_mul(2)), self.held, self.keeps_up);
        if passed >= rtt / 2 {
            // Measured over half a round trip: while credit limits the sender, a whole one brings no more than the
            // credit.
            lately = lately.max(brought(last, rtt / 2));
            self.marks.rotate_right(1);
            self.marks[0] = (now, progress);
            if passed > rtt.saturating_mul(2) {
                // A silence says nothing about the present rate.
                self.marks = [self.marks[0]; 4];
            }
            (self.held, self.keeps_up, self.kept_up) = (0, false, keeps_up);
        }
        if !keeps_up {
            return 0;
        }
        let size = lately.saturating_add(held).saturating_mul(2).min(average.saturating_mul(4));
        let size = size.saturating_add(SLACK).min(self.most);
        if size > self.size / 2 {
            self.used_at = now;
        }
        size.saturating_sub(self.size)
    }
    pub fn grow(&mut self, bytes: u64) {
        self.size += bytes;
    }
    /// Takes back half of the window if less would have done for 10 s, or if the application has not kept up. What the
    /// peer has been told stays; it is told no more until that is used up.
    pub fn take_back(&mut self, now: Time) {
        if now.saturating_sub(self.used_at) > UNUSED {
            self.size = (self.size / 2).max(self.first);
            self.used_at = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Time = Time::from_ms(100);

    /// Receives `rate` bytes in each of `tenths` tenths of a round trip.
    fn receive(window: &mut Window, at: &mut (Time, u64), tenths: u32, rate: u64, drained: bool) {
        for _ in 0..tenths {
            (at.0, at.1) = (at.0 + RTT / 10, at.1 + rate);
            let more = window.wants(at.0, Progress { arrived: at.1, end: at.1 }, drained, RTT);
            window.grow(more);
        }
    }

    #[test]
    fn it_is_twice_what_a_round_trip_brings_and_some() {
        let (mut window, mut at) = (Window::new(1 << 20, 64 << 20), (Time::from_secs(1), 0));
        receive(&mut window, &mut at, 30, 200_000, true);
        let round = 2_000_000;
        assert!(window.size().abs_diff(2 * round + SLACK) < round / 10, "{}", window.size());
        // A lower rate takes nothing back, and there is an upper limit.
        receive(&mut window, &mut at, 30, 100_000, true);
        assert!(window.size() > 2 * round);
        receive(&mut window, &mut at, 30, 20_000_000, true);
        assert_eq!(window.size(), 64 << 20);
    }

    #[test]
    fn it_keeps_ahead_of_a_rate_that_doubles() {
        let (mut window, mut at, mut sent) = (Window::new(1 << 20, 64 << 20), (Time::from_secs(1), 0), 50_000_u64);
        for _ in 0..8 {
            receive(&mut window, &mut at, 10, sent / 10, true);
            // The next round trip carries `sent`.
            assert!(window.size() > sent * 3 / 2, "{} for {sent}", window.size());
            sent *= 2;
        }
    }

    #[test]
    fn what_is_held_out_of_order_counts_twice_up_to_four_round_trips() {
        let hold = |held: u64| {
            let (mut window, mut at) = (Window::new(1 << 20, 64 << 20), (Time::from_secs(1), 0));
            for _ in 0..30 {
                window.hold(held);
                receive(&mut window, &mut at, 1, 200_000, true);
            }
            window.size()
        };
        let round = 2_000_000;
        assert!(hold(600_000).abs_diff(2 * round + 1_200_000 + SLACK) < round / 10, "{}", hold(600_000));
        assert!(hold(5_000_000).abs_diff(4 * round + SLACK) < round / 10, "{}", hold(5_000_000));
    }

    /// One stream carries half of the bytes. It stalls for two round trips and then delivers them all at once, while
    /// the others go on.
    #[test]
    fn what_comes_in_a_burst_is_no_rate() {
        let (mut window, mut at, mut so_far) =
            (Window::new(1 << 20, 64 << 20), Time::from_secs(1), Progress::default());
        for tenth in 1..=200 {
            at += RTT / 10;
            so_far.end += 200_000;
            so_far.arrived += if tenth % 20 == 0 { 2_100_000 } else { 100_000 };
            window.hold(so_far.end - so_far.arrived);
            let more = window.wants(at, so_far, true, RTT);
            window.grow(more);
        }
        assert_eq!(so_far.arrived, so_far.end);
        let round = 2_000_000;
        assert!((3 * round..=4 * round + SLACK).contains(&window.size()), "{}", window.size());
    }

    #[test]
    fn it_keeps_ahead_of_bursts_that_double() {
        let (mut window, mut at, mut sent) = (Window::new(1 << 20, 64 << 20), (Time::from_secs(1), 0), 500_000_u64);
        for _ in 0..6 {
            // All that is in flight arrives within a tenth of a round trip. The window has grown before the next burst.
            for _ in 0..10 {
                (at.0, at.1) = (at.0 + RTT / 100, at.1 + sent / 10);
                let more = window.wants(at.0, Progress { arrived: at.1, end: at.1 }, true, RTT);
                window.grow(more);
            }
            assert!(window.size() >= 2 * sent * 9 / 10 + SLACK, "{} for {sent}", window.size());
            assert!(window.size() <= (2 * sent + SLACK).max(1 << 20), "{} for {sent}", window.size());
            at.0 += RTT * 9 / 10;
            sent *= 2;
        }
    }

    #[test]
    fn it_stays_while_the_application_does_not_keep_up() {
        let (mut window, mut at) = (Window::new(1 << 20, 64 << 20), (Time::from_secs(1), 0));
        receive(&mut window, &mut at, 30, 200_000, false);
        assert_eq!(window.size(), 1 << 20);
    }
}
