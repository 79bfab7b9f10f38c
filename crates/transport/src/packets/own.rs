//! TCP settings of single nodes, which override those of the owners of connections.

use super::PacketTransport;
use tcp::Config;
use tcp::control::ControlKind;
use units::Time;

/// A node's own TCP settings; `None` leaves the common setting.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OwnTcp {
    /// The congestion control, and whether SACK is on.
    pub control: Option<(ControlKind, bool)>,
    /// Initial window in segments.
    pub initial_window: Option<u32>,
    /// Lower bound of the retransmission timeout.
    pub min_rto: Option<Time>,
    /// Whether push flow control is on.
    pub push_flow_control: Option<bool>,
}

impl OwnTcp {
    /// The settings in which `own` differs from `common`.
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

    /// Overrides `config` with the node's own settings. Coupled streams keep their control: their session sets its
    /// weights.
    pub(crate) fn over(&self, config: Config) -> Config {
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
    /// Sets the nodes' own TCP settings, by node, for connections opened from now on.
    pub fn set_own_tcp(&mut self, own: Vec<OwnTcp>) {
        self.own = own;
    }
    /// The settings of an endpoint at `node` for which the owner asks `config`.
    pub(super) fn config_at(&self, node: u32, config: Config) -> Config {
        self.own.get(node as usize).map_or(config, |own| own.over(config))
    }
}
