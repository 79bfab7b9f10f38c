//! Linux's policer detection (`tcp_bbr.c`, "long-term" bandwidth; Flach et al. 2016, "An Internet-Wide Analysis of
//! Traffic Policing"). A token bucket first lets a burst through, then drops all that is above its rate. Two intervals
//! in a row that lose a fifth and deliver at the same rate count as policed: BBR keeps to that rate for a while and
//! does not probe.

use units::Time;

/// Round trips of an interval at least; after four times as many without heavy loss sampling starts afresh.
const INTERVAL_ROUNDS: u32 = 4;
/// Lost over delivered bytes that make an interval lossy.
const LOSS: f64 = 50.0 / 256.0;
/// Two rates agree within this share of the earlier,
const SAME_SHARE: f64 = 0.125;
/// or within 4 kbit/s, in bytes per picosecond.
const SAME_RATE: f64 = 500e-12;
/// Round trips for which the policed rate is kept.
const KEPT_ROUNDS: u32 = 48;

/// The connection's counts, in bytes, at a time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub at: Time,
    pub delivered: u64,
    pub lost: u64,
}

/// What an acknowledgement says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub counts: Counts,
    /// It found segments lost.
    pub lossy: bool,
    pub round_start: bool,
    pub app_limited: bool,
    /// BBR is in ProbeBW.
    pub probing: bool,
}

/// What BBR has to do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Nothing,
    /// The policed rate has been kept for long enough: the cycle of gains starts anew.
    Probe,
}

/// Sampling of the rate that gets through.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LongTerm {
    sampling: bool,
    /// Round trips of the interval, or for which the rate has been kept.
    rounds: u32,
    /// Where the interval began.
    begun: Counts,
    /// Rate of the last lossy interval in bytes per picosecond, 0 for none.
    rate: f64,
    policed: bool,
}

impl LongTerm {
    /// The rate to keep to, in bytes per picosecond, while the path is taken for policed.
    pub fn policed_rate(&self) -> Option<f64> {
        self.policed.then_some(self.rate)
    }
    pub fn take(&mut self, sample: &Sample) -> Verdict {
        if self.policed {
            self.rounds += u32::from(sample.probing && sample.round_start);
            if self.rounds < KEPT_ROUNDS {
                return Verdict::Nothing;
            }
            *self = Self::default();
            return Verdict::Probe;
        }
        // The bucket's first burst is no measure: an interval begins with a loss, and ends with one.
        if !self.sampling {
            if !sample.lossy {
                return Verdict::Nothing;
            }
            self.begin(sample.counts);
            self.sampling = true;
        }
        if sample.app_limited {
            *self = Self::default();
            return Verdict::Nothing;
        }
        self.rounds += u32::from(sample.round_start);
        if self.rounds > 4 * INTERVAL_ROUNDS {
            *self = Self::default();
        } else if self.rounds >= INTERVAL_ROUNDS && sample.lossy {
            self.judge(sample.counts);
        }
        Verdict::Nothing
    }
    fn begin(&mut self, counts: Counts) {
        self.begun = counts;
        self.rounds = 0;
    }
    /// An interval of enough round trips may end here.
    fn judge(&mut self, counts: Counts) {
        let delivered = (counts.delivered - self.begun.delivered) as f64;
        let lost = (counts.lost - self.begun.lost) as f64;
        let length = counts.at.saturating_sub(self.begun.at);
        if delivered == 0.0 || lost < LOSS * delivered || length < Time::from_ms(1) {
            return;
        }
        let rate = delivered / length.as_ps() as f64;
        let difference = (rate - self.rate).abs();
        if self.rate > 0.0 && (difference <= SAME_SHARE * self.rate || difference <= SAME_RATE) {
            self.rate = f64::midpoint(self.rate, rate);
            self.policed = true;
            self.rounds = 0;
        } else {
            self.rate = rate;
            self.begin(counts);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Counts, LongTerm, Sample, Verdict};
    use units::Time;

    /// Round trips of 100 ms that deliver and lose so many bytes each, over a path that BBR probes.
    #[derive(Default)]
    struct Path {
        term: LongTerm,
        counts: Counts,
    }

    impl Path {
        fn round(&mut self, delivered: u64, lost: u64) -> Verdict {
            self.counts.at += Time::from_ms(100);
            self.counts.delivered += delivered;
            self.counts.lost += lost;
            let counts = self.counts;
            self.term.take(&Sample { counts, lossy: lost > 0, round_start: true, app_limited: false, probing: true })
        }
        /// In bytes per second.
        fn rate(&self) -> Option<f64> {
            self.term.policed_rate().map(|rate| (rate * 1e12).round())
        }
    }

    /// The first loss begins an interval. Its own round counts, so that the fourth round ends it, with 300 KB in 300
    /// ms; the next takes four more.
    #[test]
    fn two_lossy_intervals_of_the_same_rate_are_policed() {
        let mut path = Path::default();
        for _ in 0..20 {
            path.round(200_000, 0);
        }
        for _ in 0..7 {
            path.round(100_000, 30_000);
            assert_eq!(path.rate(), None);
        }
        path.round(100_000, 30_000);
        assert_eq!(path.rate(), Some(1e6));
    }

    #[test]
    fn rates_an_eighth_apart_are_the_same_and_their_mean_is_kept() {
        for (second, expected) in [(112_400, Some(1.062e6)), (112_600, None)] {
            let mut path = Path::default();
            for _ in 0..4 {
                path.round(100_000, 30_000);
            }
            for _ in 0..4 {
                path.round(second, 40_000);
            }
            assert_eq!(path.rate(), expected, "{second}");
        }
    }

    /// 50/256 of what is delivered: 19.53 %.
    #[test]
    fn less_than_a_fifth_is_no_policer() {
        for (lost, policed) in [(19_500, false), (19_600, true)] {
            let mut path = Path::default();
            // The loss that begins an interval is not part of it.
            path.round(100_000, 100);
            for _ in 0..11 {
                path.round(100_000, lost);
            }
            assert_eq!(path.rate().is_some(), policed, "{lost}");
        }
    }

    #[test]
    fn the_rate_is_kept_for_48_round_trips() {
        let mut path = Path::default();
        for _ in 0..8 {
            path.round(100_000, 30_000);
        }
        for _ in 0..47 {
            assert_eq!(path.round(100_000, 0), Verdict::Nothing);
            assert!(path.rate().is_some());
        }
        assert_eq!(path.round(100_000, 0), Verdict::Probe);
        assert_eq!(path.rate(), None);
    }

    #[test]
    fn an_application_that_runs_out_of_data_starts_the_sampling_afresh() {
        let mut path = Path::default();
        for _ in 0..7 {
            path.round(100_000, 30_000);
        }
        let counts = path.counts;
        let limited = Sample { counts, lossy: true, round_start: false, app_limited: true, probing: true };
        path.term.take(&limited);
        for _ in 0..7 {
            path.round(100_000, 30_000);
            assert_eq!(path.rate(), None);
        }
        path.round(100_000, 30_000);
        assert_eq!(path.rate(), Some(1e6));
    }

    /// Seventeen rounds without heavy loss: what was lost before them is forgotten.
    #[test]
    fn an_interval_has_sixteen_round_trips_at_most() {
        let mut path = Path::default();
        for _ in 0..4 {
            path.round(100_000, 30_000);
        }
        for _ in 0..17 {
            path.round(100_000, 0);
        }
        for _ in 0..7 {
            path.round(100_000, 30_000);
            assert_eq!(path.rate(), None);
        }
        path.round(100_000, 30_000);
        assert!(path.rate().is_some());
    }
}
