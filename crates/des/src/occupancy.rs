//! The time for which a queue has had each length.

use units::Time;

/// Longer queues are counted as this length.
const LONGEST: usize = (1 << 16) - 1;

/// Time for which each queue length lasted.
#[derive(Clone, Debug)]
pub struct Occupancy {
    /// The time up to which `times` counts.
    since: Time,
    length: usize,
    /// Picoseconds of each length.
    times: Vec<u64>,
}

impl Occupancy {
    /// The occupancy of a queue that holds `length` items from `now` on.
    pub const fn new(now: Time, length: usize) -> Self {
        Self { since: now, length, times: Vec::new() }
    }
    /// Sets the number of waiting items from `now` on.
    pub fn set(&mut self, now: Time, length: usize) {
        let at = self.length.min(LONGEST);
        if at >= self.times.len() {
            self.times.resize(at + 1, 0);
        }
        self.times[at] += now.saturating_sub(self.since).as_ps();
        self.since = self.since.max(now);
        self.length = length;
    }
    /// One more item waits from `now` on.
    pub fn enter(&mut self, now: Time) {
        self.set(now, self.length + 1);
    }
    /// One less waits from `now` on.
    pub fn leave(&mut self, now: Time) {
        self.set(now, self.length.saturating_sub(1));
    }
    /// The number of waiting items.
    pub const fn length(&self) -> usize {
        self.length
    }
    /// Mean and largest length over the time up to `now`; zero if none has passed.
    pub fn mean_and_maximum(&self, now: Time) -> (f64, usize) {
        let mut upto = self.clone();
        upto.set(now, 0);
        let total: u64 = upto.times.iter().sum();
        let weighted: f64 = upto.times.iter().enumerate().map(|(length, ps)| length as f64 * *ps as f64).sum();
        let maximum = upto.times.iter().rposition(|ps| *ps > 0).unwrap_or(0);
        (if total == 0 { 0.0 } else { weighted / total as f64 }, maximum)
    }
    /// Picoseconds of each length from 0 on.
    pub fn into_times(self) -> Vec<u64> {
        self.times
    }
}
