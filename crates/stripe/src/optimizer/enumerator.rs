//! The paper's optimizer: it measures loss over the number of streams, fits its polynomial, and enumerates.

use super::models::{LossFit, Path, best_number};
use super::observed::Totals;
use units::Time;

/// The numbers that are measured first: three points determine the polynomial.
const PROBES: [u32; 3] = [1, 8, 32];
/// Measurements that are kept.
const KEPT: usize = 64;
/// Epochs per number; the first one is not measured.
const EPOCHS: u32 = 3;

/// The paper's optimizer (Wang et al. 2014, section 3.3). It fits loss as a second-order polynomial of n (eq. 1) to the
/// measurements, and picks the n from 1 to 128 with the best aggregate of PFTK's model (eq. 2). It looks neither at
/// throughput nor at the share of others.
#[derive(Clone, Debug)]
pub struct Enumerator {
    most: u32,
    target: u32,
    /// Measurements: number of streams, loss rate.
    points: Vec<(u32, f64)>,
    epoch: Time,
    deadline: Time,
    epochs: u32,
    /// Segments sent and lost when this number's measurement began.
    since: Option<(u64, u64)>,
}

impl Enumerator {
    /// Tunes up to `most` streams. An epoch is six round trips, at least `epoch`.
    pub fn new(most: u32, epoch: Time) -> Self {
        Self { most, target: 1, points: Vec::new(), epoch, deadline: Time::ZERO, epochs: 0, since: None }
    }
    /// The number of streams to use.
    pub fn target(&self) -> u32 {
        self.target
    }
    /// When [`on_epoch`](Self::on_epoch) is to be called next.
    pub fn deadline(&self) -> Time {
        self.deadline
    }
    /// The polynomial fitted to the measurements.
    pub fn fit(&self) -> Option<LossFit> {
        LossFit::new(&self.points)
    }
    /// Ends an epoch. `streams` is the number of streams, `path` what each of them measures (its loss is not used).
    pub fn on_epoch(&mut self, now: Time, totals: &Totals, path: &Path, streams: u32) -> bool {
        self.deadline = now.saturating_add((totals.rtt * 6).max(self.epoch));
        if totals.idle || streams != self.target {
            (self.epochs, self.since) = (0, None);
            return false;
        }
        self.epochs += 1;
        let (sent, lost) = *self.since.get_or_insert((totals.sent, totals.lost));
        if self.epochs < EPOCHS {
            return false;
        }
        let sent = totals.sent.saturating_sub(sent);
        if sent > 0 {
            if self.points.len() == KEPT {
                self.points.remove(0);
            }
            self.points.push((self.target, totals.lost.saturating_sub(lost) as f64 / sent as f64));
        }
        (self.epochs, self.since) = (0, None);
        let measured = |n: &u32| self.points.iter().any(|(measured, _)| measured == n);
        let probe = PROBES.iter().copied().find(|n| *n <= self.most && !measured(n));
        let number = probe.unwrap_or_else(|| self.fit().map_or(1, |fit| best_number(path, &fit).0));
        let old = std::mem::replace(&mut self.target, number.clamp(1, self.most));
        self.target != old
    }
}
