//! What nodes draw, and batteries that run out.
//!
//! A node that is on draws a constant power, more for its screen, more for each core that works, and more for its radio
//! by the state that this is in: energy is linear in the time that it was on, in the core time that it used, and in the
//! time in each of these states, so it needs no events of its own. A battery's end is found by looking: no sooner than
//! its charge lasts at full load is it worth another look.

use crate::throttle::{Governor, GovernorSpec};
use units::{Energy, Power, Time};
use wifi::energy::{RadioPower, RadioTimes};

/// What a node draws.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Draw {
    /// While it is on.
    pub idle: Power,
    /// For its screen, while it is on.
    pub screen: Power,
    /// For each core at work.
    pub core: Power,
    pub cores: u32,
    /// For its radio, where it is on the air.
    pub radio: RadioPower,
    /// What its battery holds when it is full, and when the run begins; none where it is plugged in.
    pub battery: Option<(Energy, Energy)>,
    /// For each core at work while the processor runs slower.
    pub slow_core: Power,
}

impl Draw {
    fn on(&self) -> Power {
        self.idle + self.screen
    }
    fn most(&self) -> Power {
        let radio = self.radio.states.iter().copied().max().unwrap_or_default();
        self.on() + self.core * u64::from(self.cores) + radio
    }
}

/// What a node has used up to now, as others count it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Used<'a> {
    /// Core time.
    pub cores: Time,
    /// Its radio's time by state; none where it is not on the air.
    pub radio: Option<&'a RadioTimes>,
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
    /// What slows its processor down.
    governor: Option<Governor>,
    /// Its processor runs slower since then, when it had used so much core time.
    slow: Option<(Time, Time)>,
    /// How long it has run slower before that, with so much core time, and how often in all.
    slow_for: Time,
    slow_cores: Time,
    pub slowdowns: u32,
}

impl Meter {
    fn new(draw: Draw, governor: Option<Governor>) -> Self {
        Self {
            draw,
            on: Time::ZERO,
            changed: Time::ZERO,
            up: true,
            empty: None,
            governor,
            slow: None,
            slow_for: Time::ZERO,
            slow_cores: Time::ZERO,
            slowdowns: 0,
        }
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
    pub fn processor(&self, used: Used<'_>) -> Energy {
        let slow = self.slow_cores + self.slow.map_or(Time::ZERO, |(_, from)| used.cores.saturating_sub(from));
        self.draw.core.over(used.cores.saturating_sub(slow)) + self.draw.slow_core.over(slow)
    }
    /// For its radio.
    pub fn radio(&self, now: Time, used: Used<'_>) -> Energy {
        used.radio.map(|times| times.energy(now, &self.draw.radio)).unwrap_or_default()
    }
    /// All of it.
    pub fn total(&self, now: Time, used: Used<'_>) -> Energy {
        self.idle(now) + self.screen(now) + self.processor(used) + self.radio(now, used)
    }
    /// What its battery still holds.
    pub fn left(&self, now: Time, used: Used<'_>) -> Option<Energy> {
        let (_, charge) = self.draw.battery?;
        Some(charge.saturating_sub(self.total(now, used)))
    }
    /// The part of its full battery that this is.
    pub fn level(&self, now: Time, used: Used<'_>) -> Option<f64> {
        let (full, _) = self.draw.battery?;
        Some(self.left(now, used)?.as_joules() / full.as_joules())
    }
    /// How long its processor has run slower.
    pub fn slow_for(&self, now: Time) -> Time {
        self.slow_for + self.slow.map_or(Time::ZERO, |(since, _)| now.saturating_sub(since))
    }
    /// Looks at what slows its processor down; its speed from now on as a part of its own, if that changes.
    fn govern(&mut self, now: Time, used: Used<'_>) -> Option<f64> {
        let (drawn, left) = (self.total(now, used), self.level(now, used));
        let governor = self.governor.as_mut()?;
        let (slow, speed) = (governor.look(now, drawn, left)?, governor.speed);
        if slow {
            self.slow = Some((now, used.cores));
            self.slowdowns += 1;
        } else if let Some((since, from)) = self.slow.take() {
            self.slow_for += now.saturating_sub(since);
            self.slow_cores += used.cores.saturating_sub(from);
        }
        Some(if slow { speed } else { 1.0 })
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

    /// A meter for each node of which is known what it draws, and what slows its processor down.
    pub fn new(nodes: Vec<Option<(Draw, Option<GovernorSpec>)>>) -> Self {
        let meter = |(draw, governor): (Draw, Option<GovernorSpec>)| Meter::new(draw, governor.map(Governor::new));
        Self(nodes.into_iter().map(|node| node.map(meter)).collect())
    }
    /// Nodes with a battery, and when to look at it first.
    pub fn batteries(&self) -> impl Iterator<Item = (u32, Time)> {
        let first = |(node, meter): (usize, &Option<Meter>)| {
            let draw = meter.as_ref()?.draw;
            let (_, charge) = draw.battery?;
            Some((node as u32, charge.lasts(draw.most())))
        };
        self.0.iter().enumerate().filter_map(first)
    }
    /// Looks at a battery, of a node that has used so much.
    pub fn look(&mut self, now: Time, node: u32, used: Used<'_>) -> Option<Look> {
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
    /// Nodes whose processors may run slower.
    pub fn has_governors(&self) -> bool {
        self.0.iter().flatten().any(|meter| meter.governor.is_some())
    }
    /// Looks at what slows a node's processor down; its speed from now on as a part of its own, if that changes.
    pub fn govern(&mut self, now: Time, node: u32, used: Used<'_>) -> Option<f64> {
        self.0.get_mut(node as usize)?.as_mut()?.govern(now, used)
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

    use wifi::energy::RadioState;

    const S: Time = Time::from_secs(1);

    fn meters(battery_j: f64) -> Meters {
        let draw = Draw {
            idle: Power::from_mw(500),
            screen: Power::from_mw(100),
            core: Power::from_mw(300),
            cores: 4,
            radio: RadioPower { states: [10, 200, 200, 250, 800, 0].map(Power::from_mw) },
            battery: Some((Energy::from_joules(2.0 * battery_j), Energy::from_joules(battery_j))),
            slow_core: Power::from_mw(150),
        };
        Meters(vec![Some(Meter::new(draw, None)), None])
    }

    const fn cores(cores: Time) -> Used<'static> {
        Used { cores, radio: None }
    }

    #[test]
    fn energy_is_linear_in_time_and_core_time() {
        let mut meters = meters(1000.0);
        let meter = meters.get(0).unwrap();
        assert_eq!(meter.total(S * 10, cores(S * 5)).as_joules(), 0.6 * 10.0 + 0.3 * 5.0);
        // Off for 20 s.
        assert!(meters.set_up(S * 10, 0, false) && meters.set_up(S * 30, 0, true));
        let meter = meters.get(0).unwrap();
        assert_eq!((meter.idle(S * 40).as_joules(), meter.screen(S * 40).as_joules()), (10.0, 2.0));
        assert_eq!(meter.left(S * 40, cores(S * 5)), Some(Energy::from_joules(1000.0 - 12.0 - 1.5)));
        assert_eq!(meter.level(S * 40, cores(S * 5)), Some((1000.0 - 12.0 - 1.5) / 2000.0));
        assert!(meters.get(1).is_none() && meters.set_up(S, 1, false));
    }

    /// Core time while the processor runs slower counts at its own power.
    #[test]
    fn a_slow_processor_draws_less_for_its_core_time() {
        let mut meters = meters(100.0);
        let spec = GovernorSpec { sustained: None, resume: 0.9, time: S * 60, low_battery: Some(0.45), speed: 0.5 };
        meters.0[0].as_mut().unwrap().governor = Some(Governor::new(spec));
        // 50 % are left at first, 44 % after 20 s: 12 J of 200 J.
        assert_eq!(meters.govern(S * 10, 0, cores(Time::ZERO)), None);
        assert_eq!(meters.govern(S * 20, 0, cores(S * 10)), Some(0.5));
        assert_eq!(meters.govern(S * 30, 0, cores(S * 50)), None);
        let meter = meters.get(0).unwrap();
        assert_eq!(meter.processor(cores(S * 50)).as_joules(), 0.3 * 10.0 + 0.15 * 40.0);
        assert_eq!((meter.slow_for(S * 30), meter.slowdowns), (S * 10, 1));
    }

    /// A radio adds what its states make; its battery is found empty at the moment that these decide.
    #[test]
    fn a_radio_draws_by_its_states() {
        let mut meters = meters(60.0);
        let mut times = RadioTimes::new(Time::ZERO, RadioState::Idle);
        times.set(S * 4, RadioState::Receive);
        times.set(S * 6, RadioState::Transmit);
        times.set(S * 7, RadioState::Sleep);
        let used = Used { cores: Time::ZERO, radio: Some(&times) };
        let meter = meters.get(0).unwrap();
        let radio = 4.0 * 0.2 + 2.0 * 0.25 + 0.8 + 3.0 * 0.01;
        assert!((meter.radio(S * 10, used).as_joules() - radio).abs() < 1e-9);
        assert!((meter.total(S * 10, used).as_joules() - 6.0 - radio).abs() < 1e-9);
        // Asleep from 7 s on: 60 J less what it has drawn by then, at 610 mW.
        let expected = 7.0 + (60.0 - 7.0 * 0.6 - (radio - 0.03)) / 0.61;
        let (_, mut at) = meters.batteries().next().unwrap();
        while let Some(Look::At(next)) = meters.look(at, 0, used) {
            at = next;
        }
        assert!((at.as_secs_f64() - expected).abs() < 0.011, "{at}, expected {expected} s");
    }

    /// The looks converge on the moment at which a battery with an idle node, or one with two busy cores, is empty.
    #[test]
    fn a_battery_is_found_empty_when_its_charge_is_used() {
        for busy in [0_u64, 2, 4] {
            let mut meters = meters(60.0);
            let expected = 60.0 / (0.6 + 0.3 * busy as f64);
            let (_, mut at) = meters.batteries().next().unwrap();
            assert_eq!(at, Energy::from_joules(60.0).lasts(Power::from_mw(2600)));
            let mut looks = 0;
            while let Some(Look::At(next)) = meters.look(at, 0, cores(at * busy)) {
                assert!(next > at);
                (at, looks) = (next, looks + 1);
            }
            assert!((at.as_secs_f64() - expected).abs() < 0.011, "{busy} cores: {at}, expected {expected} s");
            assert!(looks < 60, "{looks}");
            assert_eq!(meters.get(0).unwrap().empty, Some(at));
            assert!(!meters.set_up(at + S, 0, true), "an empty battery stays empty");
            assert_eq!(meters.look(at + S, 0, cores(at * busy)), None);
        }
    }
}
