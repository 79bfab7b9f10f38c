//! The parts' own settings from a scenario's.

use super::{Control, Framing, Recovery, Scenario};
use units::Bytes;

impl Scenario {
    /// TCP of every node.
    pub fn tcp_config(&self) -> tcp::Config {
        let (tcp, network) = (&self.tcp, &self.network);
        let mss = network.mss.unwrap_or_else(|| network.mtu.saturating_sub(Bytes::new(u64::from(tcp::BASE_HEADER))));
        let control = match tcp.control {
            Control::NewReno | Control::SackReno => tcp::control::ControlKind::Reno,
            Control::Vegas => tcp::control::ControlKind::Vegas,
            Control::Cubic => tcp::control::ControlKind::Cubic,
            Control::Bbr => tcp::control::ControlKind::Bbr,
            Control::Dctcp => tcp::control::ControlKind::Dctcp,
            Control::Tahoe => tcp::control::ControlKind::Tahoe,
            Control::Westwood => tcp::control::ControlKind::Westwood,
            Control::Scalable => tcp::control::ControlKind::Scalable,
            Control::Fast => tcp::control::ControlKind::Fast { alpha: tcp.fast_alpha },
        };
        tcp::Config {
            mss: u16::try_from(mss.get()).unwrap_or(u16::MAX),
            initial_window: tcp.initial_window,
            max_window: tcp.max_window,
            receive_buffer: tcp.receive_buffer,
            window_scaling: tcp.window_scaling,
            sack: match tcp.control {
                Control::NewReno | Control::Tahoe => false,
                Control::SackReno => true,
                _ => tcp.sack,
            },
            ecn: tcp.ecn,
            recovery: match tcp.recovery {
                Recovery::Rfc6675 => tcp::Recovery::Rfc6675,
                Recovery::FallFloyd => tcp::Recovery::FallFloyd,
                Recovery::Rack => tcp::Recovery::Rack,
            },
            proportional_reduction: tcp.proportional_reduction,
            timestamps: tcp.timestamps,
            count_options: tcp.count_options,
            nagle: tcp.nagle,
            delayed_ack: tcp.delayed_ack.then_some(tcp.delayed_ack_timeout),
            quick_acks: tcp.quick_acks as u8,
            limited_transmit: tcp.limited_transmit,
            min_rto: tcp.min_rto,
            initial_rto: tcp.initial_rto,
            max_rto: tcp.max_rto,
            max_retries: tcp.retries as u8,
            syn_retries: tcp.syn_retries as u8,
            idle_restart: tcp.idle_restart,
            hystart: tcp.hystart,
            pacing: tcp.pacing,
            window_validation: tcp.window_validation,
            push_flow_control: tcp.push_flow_control,
            control,
            ..tcp::Config::default()
        }
    }

    /// How much TCP puts into its nodes' transmit queues; none where it does not look at them.
    pub fn injection_limits(&self) -> Option<tcp::InjectionLimits> {
        let tcp = &self.tcp;
        let limits = tcp::InjectionLimits {
            packets: tcp.queue_threshold,
            restart: tcp.queue_restart,
            delay: tcp.queue_time,
            bytes: tcp.queue_bytes,
            per_flow: tcp.small_queue,
        };
        (limits != tcp::InjectionLimits::default()).then_some(limits)
    }

    /// Bytes that a packet costs on the wire beyond its IP length.
    pub fn framing(&self) -> Bytes {
        match self.network.framing {
            Framing::None => Bytes::ZERO,
            // Header 14, checksum 4, preamble 8, gap 12 (IEEE 802.3).
            Framing::Ethernet => Bytes::new(38),
        }
    }
}
