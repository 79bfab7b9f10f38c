//! Energy of nodes, and batteries that run out.
//!
//! The power of a node is a sum: a constant while it is on, its screen, each busy core, and its radio by state. Energy
//! is therefore linear in the time on, the core time, and the radio's time per state. It needs no events of its own. An
//! empty battery is found by polling: the next poll is due when the charge would be used up at full load.

use crate::throttle::{Governor, GovernorSpec};
use units::{Energy, Power, Time};
use wifi::energy::{RadioPower, RadioTimes};

/// Power of a node, by consumer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Draw {
    /// Constant power while the node is on.
    pub idle: Power,
    /// Power of the screen, while the node is on.
    pub screen: Power,
    /// Power of each busy core.
    pub core: Power,
    pub cores: u32,
    /// Power of the radio by state; unused where nodes are wired.
    pub radio: RadioPower,
    /// Capacity of the battery, and its charge at the start; `None` where the node is plugged in.
    pub battery: Option<(Energy, Energy)>,
    /// Power of each busy core while the processor is throttled.
    pub slow_core: Power,
    /// Efficiency of the power supply, 0 to 1.
    pub supply: f64,
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

/// What a node has used so far, as counted by the processor and the radio.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Used<'a> {
    /// Core time used.
    pub cores: Time,
    /// The radio's time by state; `None` where nodes are wired.
    pub radio: Option<&'a RadioTimes>,
}

/// The energy meter of a node.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Meter {
    pub draw: Draw,
    /// Time on, up to `changed`.
    on: Time,
    changed: Time,
    up: bool,
    /// When its battery was found empty.
    pub empty: Option<Time>,
    /// Throttles the processor, if anything does.
    governor: Option<Governor>,
    /// The processor is throttled: since when, and the core time used by then.
    slow: Option<(Time, Time)>,
    /// Earlier throttling: its time, its core time, and how often it began.
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
    /// Energy for being on, without the screen.
    pub fn idle(&self, now: Time) -> Energy {
        self.draw.idle.over(self.on_for(now))
    }
    /// Energy of the screen.
    pub fn screen(&self, now: Time) -> Energy {
        self.draw.screen.over(self.on_for(now))
    }
    /// Energy of busy cores.
    pub fn processor(&self, used: Used<'_>) -> Energy {
        let slow = self.slow_cores + self.slow.map_or(Time::ZERO, |(_, from)| used.cores.saturating_sub(from));
        self.draw.core.over(used.cores.saturating_sub(slow)) + self.draw.slow_core.over(slow)
    }
    /// Energy of the radio.
    pub fn radio(&self, now: Time, used: Used<'_>) -> Energy {
        used.radio.map(|times| times.energy(now, &self.draw.radio)).unwrap_or_default()
    }
    /// Energy of the whole node.
    pub fn total(&self, now: Time, used: Used<'_>) -> Energy {
        self.idle(now) + self.screen(now) + self.processor(used) + self.radio(now, used)
    }
    /// Charge left in the battery; `None` without one.
    pub fn left(&self, now: Time, used: Used<'_>) -> Option<Energy> {
        let (_, charge) = self.draw.battery?;
        Some(charge.saturating_sub(self.total(now, used)))
    }
    /// Charge left as a part of the capacity, 0 to 1; `None` without a battery.
    pub fn level(&self, now: Time, used: Used<'_>) -> Option<f64> {
        let (full, _) = self.draw.battery?;
        Some(self.left(now, used)?.as_joules() / full.as_joules())
    }
    /// Time for which the processor was throttled.
    pub fn slow_for(&self, now: Time) -> Time {
        self.slow_for + self.slow.map_or(Time::ZERO, |(since, _)| now.saturating_sub(since))
    }
    /// Polls the governor. Returns the processor's new speed as a part of its own, if it changes.
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

/// The result of polling a battery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// The battery is empty: the node goes down.
    Empty,
    /// Time of the next poll.
    At(Time),
}

/// The meters of all nodes.
#[derive(Clone, Debug)]
pub(crate) struct Meters(Vec<Option<Meter>>);

impl Meters {
    /// The least interval between polls: the greatest error of the time at which a battery is found empty.
    const GRAIN: Time = Time::from_ms(10);

    /// Meters by node; `None` for nodes whose power is not known.
    pub fn new(nodes: Vec<Option<(Draw, Option<GovernorSpec>)>>) -> Self {
        let meter = |(draw, governor): (Draw, Option<GovernorSpec>)| Meter::new(draw, governor.map(Governor::new));
        Self(nodes.into_iter().map(|node| node.map(meter)).collect())
    }
    /// Nodes with a battery, and the time of its first poll.
    pub fn batteries(&self) -> impl Iterator<Item = (u32, Time)> {
        let first = |(node, meter): (usize, &Option<Meter>)| {
            let draw = meter.as_ref()?.draw;
            let (_, charge) = draw.battery?;
            Some((units::count(node), charge.lasts(draw.most())))
        };
        self.0.iter().enumerate().filter_map(first)
    }
    /// Polls the battery of a node that has used `used`.
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
        // A node that is down draws nothing, but it may come back before the charge would be used up.
        Some(Look::At(now.saturating_add(left.lasts(meter.draw.most()).max(Self::GRAIN))))
    }
    /// Whether any node's processor may be throttled.
    pub fn has_governors(&self) -> bool {
        self.0.iter().flatten().any(|meter| meter.governor.is_some())
    }
    /// Polls a node's governor. Returns the processor's new speed as a part of its own, if it changes.
    pub fn govern(&mut self, now: Time, node: u32, used: Used<'_>) -> Option<f64> {
        self.0.get_mut(node as usize)?.as_mut()?.govern(now, used)
    }
    /// A node goes down or comes back. Returns false if it cannot come back because its battery is empty.
    pub fn set_up(&mut self, now: Time, node: u32, up: bool) -> bool {
        let Some(Some(meter)) = self.0.get_mut(node as usize) else { return true };
        if up && meter.empty.is_some() {
            return false;
        }
        meter.set_up(now, up);
        true
    }
    /// The meter of a node; `None` where its power is not known.
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
            supply: 1.0,
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
