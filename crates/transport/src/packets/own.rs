//! TCP settings of single nodes, in place of what the owners of connections say.

use super::PacketTransport;
use tcp::Config;
use tcp::control::ControlKind;
use units::Time;

/// What the TCP of a node has of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OwnTcp {
    /// The congestion control, and whether it goes with SACK.
    pub control: Option<(ControlKind, bool)>,
    /// Segments of the initial window.
    pub initial_window: Option<u32>,
    /// The smallest retransmission timeout.
    pub min_rto: Option<Time>,
    /// Whether it has push flow control.
    pub push_flow_control: Option<bool>,
}

impl OwnTcp {
    /// In what `own` differs from `common`.
    pub fn between(common: &Config, own: &Config) -> Self {
        fn differing<T: Copy + PartialEq>(common: T, own: T) -> Option<T> {
            (common != own).then_some(own)
        }
        Self {
            control: differing((common.control, common.sack), (own.control, own.sack)),
            initial_window: differing(common.initial_window, own.initial_window),
            min_rto: differing(common.min_rto, own.min_rto),
            push_flow_control: differing(common.push_flow_control, own.push_flow_control),
        }
    }

    /// These settings with its own in their place; coupled streams keep their control, whose weights are another's.
    fn over(&self, config: Config) -> Config {
        let given = (config.control, config.sack);
        let (control, sack) = self.control.filter(|_| config.control != ControlKind::Coupled).unwrap_or(given);
        Config {
            control,
            sack,
            initial_window: self.initial_window.unwrap_or(config.initial_window),
            min_rto: self.min_rto.unwrap_or(config.min_rto),
            push_flow_control: self.push_flow_control.unwrap_or(config.push_flow_control),
            ..config
        }
    }
}

impl PacketTransport {
    /// Connections opened from now on have at each node what its TCP has of its own; by node.
    pub fn set_own_tcp(&mut self, own: Vec<OwnTcp>) {
        self.own = own;
    }
    /// What a node makes of the settings that the owner of a connection gives it.
    pub(super) fn config_at(&self, node: u32, config: Config) -> Config {
        self.own.get(node as usize).map_or(config, |own| own.over(config))
    }
}
