//! A wear budget: how often in a day a disk may be put to rest.
//!
//! Manuals promise 50,000 starts of a motor and 600,000 loads of the heads; over five years that is 27 and 329 a day. A
//! rest takes its token when it begins, because it ends with a start in any case. The bucket holds `burst` tokens and
//! gains `per_day - burst` in a day, so that no 24 hours see more than `per_day`.

use units::Time;

const DAY: Time = Time::from_secs(86_400);
const MILLION: u128 = 1_000_000;

/// How often in any 24 hours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    per_day: u32,
    burst: u32,
}

impl Budget {
    /// So many in any 24 hours, a third of them at once. Less than 2 is no budget: `None`.
    pub const fn per_day(per_day: u32) -> Option<Self> {
        if per_day < 2 {
            return None;
        }
        let burst = if per_day < 6 { 1 } else { per_day / 3 };
        Some(Self { per_day, burst })
    }
    /// The most in any 24 hours.
    pub const fn most(self) -> u32 {
        self.per_day
    }
    /// The most from the start until `at`.
    pub const fn until(self, at: Time) -> u32 {
        let gained = at.as_ps() as u128 * (self.per_day - self.burst) as u128 / DAY.as_ps() as u128;
        self.burst.saturating_add(if gained > u32::MAX as u128 { u32::MAX } else { gained as u32 })
    }
}

/// A bucket of a budget's tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bucket {
    budget: Budget,
    /// Tokens, each a day of picoseconds.
    level: u128,
    at: Time,
}

impl Bucket {
    /// A full bucket.
    pub const fn new(budget: Budget, now: Time) -> Self {
        Self { budget, level: budget.burst as u128 * DAY.as_ps() as u128, at: now }
    }
    fn fill(&mut self, now: Time) {
        let gain = u128::from(self.budget.per_day - self.budget.burst);
        let most = u128::from(self.budget.burst) * u128::from(DAY.as_ps());
        let passed = u128::from(now.saturating_sub(self.at).as_ps());
        self.level = (self.level + passed * gain).min(most);
        self.at = now.max(self.at);
    }
    /// Takes a token, if there is one.
    pub fn take(&mut self, now: Time) -> bool {
        self.fill(now);
        let token = u128::from(DAY.as_ps());
        let enough = self.level >= token;
        if enough {
            self.level -= token;
        }
        enough
    }
    /// A rest that nobody asked for has begun: takes a token, or what is there of one.
    pub fn spend(&mut self, now: Time) {
        self.fill(now);
        self.level = self.level.saturating_sub(u128::from(DAY.as_ps()));
    }
    /// What is there at `now`, in millionths of a token, rounded down: what a daemon keeps for its next start.
    pub fn millionths(mut self, now: Time) -> u64 {
        self.fill(now);
        u64::try_from(self.level * MILLION / u128::from(DAY.as_ps())).unwrap_or(u64::MAX)
    }
    /// Has at most so many millionths of a token from now on.
    pub fn limit(&mut self, now: Time, millionths: u64) {
        self.fill(now);
        self.level = self.level.min(u128::from(millionths) * u128::from(DAY.as_ps()) / MILLION);
    }
    /// When there is a token, from `now` on.
    pub fn next(&mut self, now: Time) -> Time {
        self.fill(now);
        let lacking = u128::from(DAY.as_ps()).saturating_sub(self.level);
        if lacking == 0 {
            return self.at;
        }
        let gain = u128::from(self.budget.per_day - self.budget.burst).max(1);
        self.at.saturating_add(Time::from_ps(lacking.div_ceil(gain).try_into().unwrap_or(u64::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten a day are three at once and seven over the day: after the three the next comes after a seventh of it.
    #[test]
    fn an_empty_bucket_says_when_there_is_a_token() {
        let mut bucket = Bucket::new(Budget::per_day(10).expect("a budget"), Time::ZERO);
        let taken = (0..4).filter(|_| bucket.take(Time::ZERO)).count();
        assert_eq!(taken, 3);
        let next = bucket.next(Time::ZERO);
        assert!((next.as_secs_f64() - 86_400.0 / 7.0).abs() < 1e-6, "{next}");
        assert!(!bucket.take(next.saturating_sub(Time::from_ms(1))) && bucket.take(next));
        assert_eq!(bucket.next(Time::from_secs(86_400)), Time::from_secs(86_400), "there are some");
    }
}
