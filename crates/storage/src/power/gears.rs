//! How many gears a load needs: with hysteresis, by the disks' own utilisation.

use units::Time;

/// When the number of gears changes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GearsSpec {
    /// All gears: one for each replica.
    pub most: u32,
    /// Above this utilisation of the disks in gear over a window, one gear more.
    pub up: f64,
    /// If one gear less would still be below this utilisation, one gear less.
    pub down: f64,
    /// The window.
    pub window: Time,
}

impl GearsSpec {
    /// A gear more above 60 % over a minute, a gear less below 30 %.
    pub const fn of(replicas: u32) -> Self {
        Self { most: replicas, up: 0.6, down: 0.3, window: Time::from_secs(60) }
    }
}

/// The gears of a cluster.
#[derive(Clone, Debug)]
pub struct Gears {
    spec: GearsSpec,
    /// Disks of one gear.
    disks: u32,
    engaged: u32,
    busy: Time,
    ends: Time,
}

impl Gears {
    /// One gear, of so many disks.
    pub fn new(spec: GearsSpec, disks: u32, now: Time) -> Self {
        Self { spec, disks: disks.max(1), engaged: 1, busy: Time::ZERO, ends: now + spec.window }
    }
    /// Gears in use.
    pub const fn gears(&self) -> u32 {
        self.engaged
    }
    /// A disk is asked for so much of its time.
    pub fn asked(&mut self, service: Time) {
        self.busy += service;
    }
    /// The end of the window.
    pub const fn deadline(&self) -> Time {
        self.ends
    }
    /// A window ends: the number of gears, if it changes.
    pub fn on_timer(&mut self, now: Time) -> Option<u32> {
        if now < self.ends {
            return None;
        }
        let of_one = self.busy.as_secs_f64() / self.spec.window.as_secs_f64() / f64::from(self.disks);
        (self.busy, self.ends) = (Time::ZERO, now + self.spec.window);
        let before = self.engaged;
        if of_one / f64::from(self.engaged) > self.spec.up {
            self.engaged = (self.engaged + 1).min(self.spec.most);
        } else if self.engaged > 1 && of_one / f64::from(self.engaged - 1) < self.spec.down {
            self.engaged -= 1;
        }
        (self.engaged != before).then_some(self.engaged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two disks that are busy for a half of a minute each: at the limit there is no gear more, just above there is one,
    /// and none beyond the last. A half of that is a quarter of two gears, and below 30 % of one.
    #[test]
    fn a_gear_more_above_the_limit_and_one_less_below() {
        let spec = GearsSpec { up: 0.5, ..GearsSpec::of(2) };
        let mut gears = Gears::new(spec, 2, Time::ZERO);
        let mut minute = |minutes: u64, busy: Time| {
            gears.asked(busy);
            assert_eq!(gears.on_timer(Time::from_secs(60 * minutes - 1)), None);
            (gears.on_timer(Time::from_secs(60 * minutes)), gears.gears())
        };
        assert_eq!(minute(1, Time::from_secs(60)), (None, 1));
        assert_eq!(minute(2, Time::from_secs(60) + Time::from_ms(1)), (Some(2), 2));
        assert_eq!(minute(3, Time::from_secs(1_000)), (None, 2));
        assert_eq!(minute(4, Time::from_secs(40)), (None, 2));
        assert_eq!(minute(5, Time::from_secs(30)), (Some(1), 1));
    }
}
