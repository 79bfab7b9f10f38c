//! How much a receiver lets its peer have under way.

use units::Time;

/// Held beside what two round trips bring: as much as may come before the first is over.
const SLACK: u64 = 256 << 10;

/// A window that follows what arrives, as a receive buffer is tuned (Fisk and Feng, *Dynamic right-sizing in TCP*, 2001): twice what comes in a round trip, so that a sender whose
/// rate doubles with every round trip is not held back, nor one whose streams wait a round trip for what they have lost. It grows only while the application keeps up.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    size: u64,
    most: u64,
    /// What had arrived half a round trip ago.
    mark: (Time, u64),
    /// The application has had everything since the last mark.
    keeps_up: bool,
}

impl Window {
    /// Of this size now, and never of more than `most`.
    pub fn new(size: u64, most: u64) -> Self {
        Self { size, most: most.max(size), mark: (Time::ZERO, 0), keeps_up: false }
    }
    pub fn size(&self) -> u64 {
        self.size
    }
    /// How much more it should be: so much has arrived in all, in order or not. `drained` says that nothing of it waits for the application now. `rtt` is the streams' round-trip time.
    pub fn wants(&mut self, now: Time, arrived: u64, drained: bool, rtt: Time) -> u64 {
        self.keeps_up |= drained;
        if rtt == Time::ZERO || now.saturating_sub(self.mark.0) < rtt / 2 {
            return 0;
        }
        let (since, before) = std::mem::replace(&mut self.mark, (now, arrived));
        if !std::mem::take(&mut self.keeps_up) {
            return 0;
        }
        // Over half of one: while the window holds the sender back, what comes in a whole one is no more than the window. What was thrown away with a reset has not arrived any more.
        let time = now.saturating_sub(since).max(rtt / 2).as_secs_f64();
        let round = arrived.saturating_sub(before) as f64 * rtt.as_secs_f64() / time;
        ((2.0 * round) as u64).saturating_add(SLACK).min(self.most).saturating_sub(self.size)
    }
    pub fn grow(&mut self, bytes: u64) {
        self.size += bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Time = Time::from_ms(100);

    /// Receives `rate` bytes in each of so many tenths of a round trip.
    fn receive(window: &mut Window, at: &mut (Time, u64), tenths: u32, rate: u64, drained: bool) {
        for _ in 0..tenths {
            (at.0, at.1) = (at.0 + RTT / 10, at.1 + rate);
            let more = window.wants(at.0, at.1, drained, RTT);
            window.grow(more);
        }
    }

    #[test]
    fn it_is_twice_what_a_round_trip_brings_and_some() {
        let (mut window, mut at) = (Window::new(1 << 20, 64 << 20), (Time::from_secs(1), 0));
        receive(&mut window, &mut at, 30, 200_000, true);
        let round = 2_000_000;
        assert!(window.size().abs_diff(2 * round + SLACK) < round / 10, "{}", window.size());
        // Less rate takes nothing back, and there is a limit.
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
            // What is to be under way next.
            assert!(window.size() > sent * 3 / 2, "{} for {sent}", window.size());
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
