//! What the nodes of a scenario draw.

use crate::energy::{Draw, Meters};
use crate::throttle::GovernorSpec;
use scenario::{Node, NodeSpec, Scenario, Throttle};
use units::{Energy, Power};
use wifi::energy::{RadioPower, RadioState};

/// None where no node's hardware says what it draws.
pub(super) fn meters(scenario: &Scenario) -> Option<Meters> {
    let meter = |node: &NodeSpec| Some((draw(&node.hardware)?, node.hardware.throttle.as_ref().map(governor)));
    let meters: Vec<_> = scenario.nodes().iter().map(meter).collect();
    meters.iter().any(Option::is_some).then(|| Meters::new(meters))
}

const fn governor(throttle: &Throttle) -> GovernorSpec {
    GovernorSpec {
        sustained: throttle.sustained,
        resume: throttle.resume,
        time: throttle.time,
        low_battery: throttle.low_battery,
        speed: throttle.speed,
    }
}

/// None where the scenario does not say what this hardware draws.
fn draw(node: &Node) -> Option<Draw> {
    let screen = if node.screen { node.screen_power } else { Power::default() };
    let idle = node.idle_power?;
    let power = |state: &RadioState| match state {
        RadioState::Sleep => node.radio_sleep_power,
        RadioState::Idle | RadioState::Busy => node.radio_listen_power,
        RadioState::Receive => node.radio_receive_power,
        RadioState::Transmit => node.radio_transmit_power,
        RadioState::Off => Power::default(),
    };
    let radio = RadioPower { states: RadioState::ALL.each_ref().map(power) };
    let battery = node.battery.map(|full| (full, Energy::from_joules(full.as_joules() * node.charge)));
    let slower = node.throttle.as_ref().map_or(1.0, |throttle| throttle.power);
    let slow_core = Power::from_watts(node.core_power.as_watts() * slower);
    let supply = node.supply.unwrap_or(1.0);
    Some(Draw { idle, screen, core: node.core_power, cores: node.cores, radio, battery, slow_core, supply })
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::NodePreset;

    /// The preset of a tablet has the figures of a tablet's radio.
    #[test]
    fn a_tablet_has_a_tablets_radio() {
        assert_eq!(draw(&NodePreset::Nexus7.node()).unwrap().radio, RadioPower::tablet());
    }
}
