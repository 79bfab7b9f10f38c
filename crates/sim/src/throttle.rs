//! Throttling: a processor runs slower while its node is hot, or when its battery is low.
//!
//! The thermal model is a lumped RC: one body with a heat capacity and a thermal resistance to its surroundings (the
//! element of Skadron et al., "Temperature-aware microarchitecture: modeling and implementation", ACM TACO 1(1), 2004).
//! Its excess temperature follows the power with the time constant R C. The state is that temperature divided by R, in
//! watts: the power that would keep the body as warm for ever. So no temperature has to be known, only the power that
//! the case sustains. A governor polls every second, as Linux' thermal zones do, with hysteresis.

use units::{Energy, Power, Time};

/// Polling interval of governors.
pub(crate) const LOOK: Time = Time::from_secs(1);

/// Conditions of throttling, and the speed that it leaves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct GovernorSpec {
    /// The power that the case dissipates in the steady state at its limit; `None` for no limit.
    pub sustained: Option<Power>,
    /// Hysteresis: throttling ends when the warmth is below this part of `sustained`.
    pub resume: f64,
    /// Thermal time constant of the case.
    pub time: Time,
    /// The state of charge, 0 to 1, below which the processor is throttled.
    pub low_battery: Option<f64>,
    /// Speed of a throttled processor as a part of its own.
    pub speed: f64,
}

/// The governor of a node's processor.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Governor {
    sustained: Option<Power>,
    resume: f64,
    time: Time,
    low_battery: Option<f64>,
    pub speed: f64,
    /// Excess temperature over thermal resistance, in watts.
    warmth: f64,
    at: Time,
    drawn: Energy,
    hot: bool,
    slow: bool,
}

impl Governor {
    pub fn new(spec: GovernorSpec) -> Self {
        Self {
            sustained: spec.sustained,
            resume: spec.resume,
            time: spec.time,
            low_battery: spec.low_battery,
            speed: spec.speed,
            warmth: 0.0,
            at: Time::ZERO,
            drawn: Energy::default(),
            hot: false,
            slow: false,
        }
    }
    /// Polls with the energy drawn so far and the state of charge. Returns whether the processor is throttled from now
    /// on, if that changes.
    pub fn look(&mut self, now: Time, drawn: Energy, left: Option<f64>) -> Option<bool> {
        let elapsed = now.saturating_sub(self.at).as_secs_f64();
        if elapsed > 0.0 {
            // The exact solution for a constant power; the mean since the last poll stands for it.
            let mean = drawn.saturating_sub(self.drawn).as_joules() / elapsed;
            let keep = libm::exp(-elapsed / self.time.as_secs_f64());
            self.warmth = mean + (self.warmth - mean) * keep;
        }
        (self.at, self.drawn) = (now, drawn);
        let limit = |power: Power| power.as_watts() * if self.hot { self.resume } else { 1.0 };
        self.hot = self.sustained.is_some_and(|power| self.warmth > limit(power));
        let low = self.low_battery.zip(left).is_some_and(|(low, left)| left < low);
        let slow = self.hot || low;
        (std::mem::replace(&mut self.slow, slow) != slow).then_some(slow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn governor(sustained_w: f64, low_battery: Option<f64>) -> Governor {
        let sustained = Some(Power::from_watts(sustained_w));
        Governor::new(GovernorSpec { sustained, time: Time::from_secs(100), resume: 0.9, low_battery, speed: 0.5 })
    }

    /// Under a load that stays, hot and slow alternate at the moments that the exponential says, to a look.
    #[test]
    fn a_node_warms_and_cools_as_a_lumped_body() {
        // 2 W warm it beyond 1.2 W; slowed down it draws 0.8 W and cools to 1.08 W.
        let (fast, slow, limit) = (2.0_f64, 0.8_f64, 1.2_f64);
        let mut governor = governor(limit, None);
        let (mut power, mut drawn, mut changes) = (fast, 0.0, Vec::new());
        for second in 1..=400_u64 {
            drawn += power;
            if let Some(now_slow) = governor.look(Time::from_secs(second), Energy::from_joules(drawn), None) {
                power = if now_slow { slow } else { fast };
                changes.push((second as f64, now_slow));
            }
        }
        // t = tau ln((P - from) / (P - to)).
        let to = |power: f64, from: f64, to: f64| 100.0 * libm::log((power - from) / (power - to));
        let first = to(fast, 0.0, limit);
        let (down, up) = (to(slow, limit, 0.9 * limit), to(fast, 0.9 * limit, limit));
        let mut expected = first;
        for (k, (at, now_slow)) in changes.iter().enumerate() {
            assert_eq!(*now_slow, k % 2 == 0);
            // Each look is up to a second late, and what is late begins beyond the limit.
            assert!(
                *at >= expected - 1e-6 && *at < expected + 2.5 * (k + 1) as f64,
                "{k}: {at} s, expected {expected} s"
            );
            expected = *at + if *now_slow { down } else { up };
        }
        assert!(changes.len() > 6, "{changes:?}");
    }

    #[test]
    fn what_a_case_gives_off_for_good_never_slows_it_and_little_charge_does() {
        let mut governor = governor(2.0, Some(0.3));
        let mut changes = Vec::new();
        for second in 1..=2_000_u64 {
            // 2 W of 5 kJ: 30 % are left after 1,750 s.
            let drawn = 2.0 * second as f64;
            let left = 1.0 - drawn / 5_000.0;
            let slow = governor.look(Time::from_secs(second), Energy::from_joules(drawn), Some(left));
            changes.extend(slow.map(|slow| (second, slow)));
        }
        let [(at, true)] = changes[..] else { panic!("{changes:?}") };
        assert!((1_750..=1_751).contains(&at), "{at}");
    }
}
