//! A limit on requests a second: a token bucket, kept as the time at which it will be full again (the generic cell rate
//! algorithm, ITU-T I.371).

use units::Time;

/// What one prefix has left of one limit.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Limit {
    /// When the requests that were taken would have come, had they come evenly.
    due: Time,
}

impl Limit {
    /// Takes a request unless more have come than `rate` a second and what was saved up in `window`.
    pub fn take(&mut self, now: Time, rate: u32, window: Time) -> bool {
        let due = self.due.max(now);
        if due - now > window {
            return false;
        }
        self.due = due.saturating_add(Time::from_secs(1) / u64::from(rate.max(1)));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With 100 a second and 50 saved up: of requests that come 1,000 a second for 10 s, 50 + 100 x 10 are taken.
    #[test]
    fn a_limit_takes_its_rate_and_what_it_saved() {
        let mut limit = Limit::default();
        let window = Time::from_ms(500);
        let start = Time::from_secs(7);
        let taken = (0..10_000).filter(|n| limit.take(start + Time::from_ms(1) * *n, 100, window)).count();
        assert!((1_050..=1_051).contains(&taken), "{taken}");
    }
}
