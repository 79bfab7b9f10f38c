//! What nodes draw, and batteries that run out.
//!
//! A node that is on draws a constant power, more for its screen, and more for each core that works: energy is linear in the time that it was on and in the core
//! time that it used, so it needs no events of its own. (What a radio draws, by its states, is added by whoever simulates one.) A battery's end is found by
//! looking: no sooner than its charge lasts at full load is it worth another look.

use crate::scenario::{Node, Scenario};
use units::{Energy, Power, Time};

/// What a node draws.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub(crate) struct Draw {
    /// While it is on.
    pub idle: Power,
    /// For its screen, while it is on.
    pub screen: Power,
    /// For each core at work.
    pub core: Power,
    pub cores: u32,
    /// What its battery holds when the run begins; none where it is plugged in.
    pub battery: Option<Energy>,
}

impl Draw {
    /// None where the scenario does not say what this hardware draws.
    fn of(node: &Node) -> Option<Self> {
        let screen = if node.screen { node.screen_power } else { Power::default() };
        let idle = node.idle_power?;
        Some(Self { idle, screen, core: node.core_power, cores: node.cores, battery: node.battery })
    }
    fn on(&self) -> Power {
        self.idle + self.screen
    }
    fn most(&self) -> Power {
        self.on() + self.core * u64::from(self.cores)
    }
}

/// A node's meter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Meter {
    pub draw: Draw,
    /// Time for which it was on, up to `changed`.
    on: Time,
    changed: Time,
    up: bool,
    /// When its battery was found empty.
    pub empty: Option<Time>,
}

impl Meter {
    fn new(draw: Draw) -> Self {
        Self { draw, on: Time::ZERO, changed: Time::ZERO, up: true, empty: None }
    }
    fn on_for(&self, now: Time) -> Time {
        if self.up { self.on + now.saturating_sub(self.changed) } else { self.on }
    }
    /// For being on, its screen aside.
    pub fn idle(&self, now: Time) -> Energy {
        self.draw.idle.over(self.on_for(now))
    }
    /// For its screen.
    pub fn screen(&self, now: Time) -> Energy {
        self.draw.screen.over(self.on_for(now))
    }
    /// For the core time that it has used.
    pub fn processor(&self, used: Time) -> Energy {
        self.draw.core.over(used)
    }
    /// All of it.
    pub fn total(&self, now: Time, used: Time) -> Energy {
        self.idle(now) + self.screen(now) + self.processor(used)
    }
    /// What its battery still holds.
    pub fn left(&self, now: Time, used: Time) -> Option<Energy> {
        Some(self.draw.battery?.saturating_sub(self.total(now, used)))
    }
    fn set_up(&mut self, now: Time, up: bool) {
        self.on = self.on_for(now);
        (self.changed, self.up) = (now, up);
    }
}

/// What came of a look at a battery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// It is empty: the node goes down.
    Empty,
    /// Look again then.
    At(Time),
}

/// The meters of all nodes.
#[derive(Clone, Debug)]
pub(crate) struct Meters(Vec<Option<Meter>>);

impl Meters {
    /// Batteries are found empty with this error at most.
    const GRAIN: Time = Time::from_ms(10);

    /// None where no node's hardware says what it draws.
    pub fn new(scenario: &Scenario) -> Option<Self> {
        let meters: Vec<_> = scenario.nodes().iter().map(|node| Draw::of(&node.hardware).map(Meter::new)).collect();
        meters.iter().any(Option::is_some).then_some(Self(meters))
    }
    /// Nodes with a battery, and when to look at it first.
    pub fn batteries(&self) -> impl Iterator<Item = (u32, Time)> {
        let first = |(node, meter): (usize, &Option<Meter>)| {
            let draw = meter.as_ref()?.draw;
            Some((node as u32, draw.battery?.lasts(draw.most())))
        };
        self.0.iter().enumerate().filter_map(first)
    }
    /// Looks at a battery, of a node that has used so much core time.
    pub fn look(&mut self, now: Time, node: u32, used: Time) -> Option<Look> {
        let meter = self.0.get_mut(node as usize)?.as_mut()?;
        let left = meter.left(now, used)?;
        if meter.empty.is_some() {
            return None;
        }
        if left == Energy::default() {
            meter.empty = Some(now);
            return Some(Look::Empty);
        }
        // A node that is down draws nothing, but it may be back before that.
        Some(Look::At(now.saturating_add(left.lasts(meter.draw.most()).max(Self::GRAIN))))
    }
    /// A node goes down or comes back; false where it cannot, for its battery is empty.
    pub fn set_up(&mut self, now: Time, node: u32, up: bool) -> bool {
        let Some(Some(meter)) = self.0.get_mut(node as usize) else { return true };
        if up && meter.empty.is_some() {
            return false;
        }
        meter.set_up(now, up);
        true
    }
    /// A node's.
    pub fn get(&self, node: u32) -> Option<&Meter> {
        self.0.get(node as usize)?.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Time = Time::from_secs(1);

    fn meters(battery_j: f64) -> Meters {
        let draw = Draw {
            idle: Power::from_mw(500),
            screen: Power::from_mw(100),
            core: Power::from_mw(300),
            cores: 4,
            battery: Some(Energy::from_joules(battery_j)),
        };
        Meters(vec![Some(Meter::new(draw)), None])
    }

    #[test]
    fn energy_is_linear_in_time_and_core_time() {
        let mut meters = meters(1000.0);
        let meter = meters.get(0).unwrap();
        assert_eq!(meter.total(S * 10, S * 5).as_joules(), 0.6 * 10.0 + 0.3 * 5.0);
        // Off for 20 s.
        assert!(meters.set_up(S * 10, 0, false) && meters.set_up(S * 30, 0, true));
        let meter = meters.get(0).unwrap();
        assert_eq!((meter.idle(S * 40).as_joules(), meter.screen(S * 40).as_joules()), (10.0, 2.0));
        assert_eq!(meter.left(S * 40, S * 5), Some(Energy::from_joules(1000.0 - 12.0 - 1.5)));
        assert!(meters.get(1).is_none() && meters.set_up(S, 1, false));
    }

    /// The looks converge on the moment at which a battery with an idle node, or one with two busy cores, is empty.
    #[test]
    fn a_battery_is_found_empty_when_its_charge_is_used() {
        for busy in [0_u64, 2, 4] {
            let mut meters = meters(60.0);
            let expected = 60.0 / (0.6 + 0.3 * busy as f64);
            let (_, mut at) = meters.batteries().next().unwrap();
            assert_eq!(at, Energy::from_joules(60.0).lasts(Power::from_mw(1800)));
            let mut looks = 0;
            while let Some(Look::At(next)) = meters.look(at, 0, at * busy) {
                assert!(next > at);
                (at, looks) = (next, looks + 1);
            }
            assert!((at.as_secs_f64() - expected).abs() < 0.011, "{busy} cores: {at}, expected {expected} s");
            assert!(looks < 60, "{looks}");
            assert_eq!(meters.get(0).unwrap().empty, Some(at));
            assert!(!meters.set_up(at + S, 0, true), "an empty battery stays empty");
            assert_eq!(meters.look(at + S, 0, at * busy), None);
        }
    }
}
