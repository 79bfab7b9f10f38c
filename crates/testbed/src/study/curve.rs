//! Arrived bytes over time, and the figures that follow from them.

use units::Time;

/// Arrived bytes over the time since the program's start.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Curve(Vec<(Time, u64)>);

/// Smallest distance between two points.
const STEP: Time = Time::from_ms(10);
/// A rate is reached if the average over an RTT, and over at least this time, has it.
const HELD: Time = Time::from_ms(500);

impl Curve {
    /// Records how many bytes have arrived by `now`. An earlier record of more bytes was wrong and is dropped.
    pub fn record(&mut self, now: Time, bytes: u64) {
        while self.0.pop_if(|(_, before)| *before > bytes).is_some() {}
        match self.0.as_mut_slice() {
            // The last point moves until it is a step away from the point before it.
            [.., (before, _), last] if last.0.saturating_sub(*before) < STEP => *last = (now, bytes),
            _ => self.0.push((now, bytes)),
        }
    }

    /// All bytes that arrived.
    pub fn bytes(&self) -> u64 {
        self.0.last().map_or(0, |(_, bytes)| *bytes)
    }

    /// When the last byte arrived.
    pub fn end(&self) -> Time {
        self.0.last().map_or(Time::ZERO, |(time, _)| *time)
    }

    /// Bytes that had arrived by `time`, interpolated linearly.
    fn at(&self, time: Time) -> f64 {
        let next = self.0.partition_point(|(at, _)| *at <= time);
        let (from, low) = if next == 0 { (Time::ZERO, 0) } else { self.0[next - 1] };
        let Some((to, high)) = self.0.get(next) else { return low as f64 };
        let part = (time - from).as_secs_f64() / (*to - from).as_secs_f64();
        low as f64 + part * (*high as f64 - low as f64)
    }

    /// Goodput between two times, in bits per second; `None` for an empty interval.
    pub fn goodput_bps(&self, from: Time, to: Time) -> Option<f64> {
        let length = to.saturating_sub(from);
        (length > Time::ZERO).then(|| (self.at(to) - self.at(from)) * 8.0 / length.as_secs_f64())
    }

    /// When a rate was first reached, averaged over the RTT that follows, and over at least 0.5 s. `None` if never.
    pub fn reached(&self, rate_bps: f64, round_trip: Time) -> Option<Time> {
        let window = round_trip.max(HELD);
        let starts = self.0.iter().map(|(time, _)| *time).take_while(|time| *time + window <= self.end());
        starts.into_iter().find(|time| self.goodput_bps(*time, *time + window).is_some_and(|got| got >= rate_bps))
    }

    /// Points about `step` apart, as seconds and bytes.
    pub fn points(&self, step: Time) -> Vec<(f64, u64)> {
        let mut points: Vec<(f64, u64)> = Vec::new();
        for (time, bytes) in &self.0 {
            let time = (time.as_secs_f64() * 1e3).round() / 1e3;
            if points.last().is_none_or(|(last, _)| time - last >= step.as_secs_f64()) {
                points.push((time, *bytes));
            }
        }
        points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nothing for a second, then 1 MB/s for four, then 2 MB/s for two.
    fn curve() -> Curve {
        let mut curve = Curve::default();
        for ms in (1_000..=7_000).step_by(20) {
            let bytes = if ms <= 5_000 { ms - 1_000 } else { 4_000 + 2 * (ms - 5_000) } * 1_000;
            curve.record(Time::from_ms(ms), bytes);
        }
        curve
    }

    #[test]
    fn goodput_is_what_came_between_two_times() {
        let curve = curve();
        assert_eq!((curve.bytes(), curve.end()), (8_000_000, Time::from_secs(7)));
        let mbps = |from, to| curve.goodput_bps(Time::from_ms(from), Time::from_ms(to)).map(|bps| (bps / 1e3).round());
        assert_eq!(mbps(0, 1_000), Some(0.0));
        assert_eq!(mbps(1_000, 5_000), Some(8_000.0));
        assert_eq!(mbps(4_010, 6_010), Some(12_040.0));
        assert_eq!(mbps(5_000, 9_000), Some(8_000.0), "after its end nothing came");
        assert_eq!(mbps(5_000, 5_000), None);
    }

    #[test]
    fn a_rate_is_reached_when_it_is_held() {
        let curve = curve();
        let reached = |rate, rtt| curve.reached(rate, Time::from_ms(rtt));
        assert_eq!(reached(7.9e6, 100), Some(Time::from_secs(1)));
        assert_eq!(reached(15.9e6, 100), Some(Time::from_secs(5)));
        // The second that starts at 4.2 s has 800 KB at the first rate and 400 KB at the other.
        assert_eq!(reached(9.6e6, 1_000), Some(Time::from_ms(4_200)));
        assert_eq!(reached(17e6, 100), None);
        assert_eq!(reached(15.9e6, 3_000), None, "it never had it for three seconds");
        assert_eq!(Curve::default().reached(1.0, Time::ZERO), None);
    }

    #[test]
    fn what_was_too_much_is_forgotten() {
        let mut curve = Curve::default();
        for (ms, bytes) in [(1_000, 1_000_000), (2_000, 9_000_000), (3_000, 9_000_000), (4_000, 4_000_000)] {
            curve.record(Time::from_ms(ms), bytes);
        }
        assert_eq!((curve.bytes(), curve.end()), (4_000_000, Time::from_secs(4)));
        assert_eq!(curve.goodput_bps(Time::from_secs(1), Time::from_secs(4)), Some(8e6));
    }

    #[test]
    fn points_are_some_way_apart() {
        let mut dense = Curve::default();
        for us in 0..5_000 {
            dense.record(Time::from_us(us * 10), us);
        }
        assert!((4..=7).contains(&dense.0.len()), "{:?}", dense.0);
        assert_eq!(dense.bytes(), 4_999);
        assert!(curve().points(Time::from_ms(500)).len() <= 13);
    }
}
