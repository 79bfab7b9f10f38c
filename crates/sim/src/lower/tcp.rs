//! TCP's settings.

use scenario::{
    BbrRule, Control, CubicRule, HyStart, IdleRule, IncreaseRule, Recovery, ReductionBase, RtoEstimator, ScalableRule,
    Scenario, Tcp,
};
use tcp::control::{CubicParameters, HyStartBounds, VegasParameters};
use transport::OwnTcp;
use units::Bytes;

/// TCP of every node of which nothing else is said.
pub fn tcp_config(scenario: &Scenario) -> tcp::Config {
    config(scenario, &scenario.tcp)
}

/// What each node's TCP has of its own, the master's first; empty where all are alike.
pub(super) fn own_tcp(scenario: &Scenario) -> Vec<OwnTcp> {
    if scenario.tcp.node.is_empty() {
        return Vec::new();
    }
    let common = tcp_config(scenario);
    let own = |node| OwnTcp::between(&common, &config(scenario, &scenario.tcp.of(node)));
    (0..=scenario.cluster.workers).map(own).collect()
}

fn config(scenario: &Scenario, tcp: &Tcp) -> tcp::Config {
    let network = &scenario.network;
    let mss = network.mss.unwrap_or_else(|| network.mtu.saturating_sub(Bytes::new(u64::from(tcp::BASE_HEADER))));
    let control = match tcp.control {
        Control::NewReno | Control::SackReno => tcp::control::ControlKind::Reno,
        Control::Vegas => tcp::control::ControlKind::Vegas,
        Control::Cubic => tcp::control::ControlKind::Cubic,
        Control::Bbr => match tcp.bbr_rule {
            BbrRule::Linux => tcp::control::ControlKind::Bbr,
            BbrRule::Draft => tcp::control::ControlKind::BbrDraft,
        },
        Control::Dctcp => tcp::control::ControlKind::Dctcp,
        Control::Tahoe => tcp::control::ControlKind::Tahoe,
        Control::Westwood => tcp::control::ControlKind::Westwood,
        Control::Scalable => match tcp.scalable_rule {
            ScalableRule::Linux => tcp::control::ControlKind::Scalable,
            ScalableRule::Kelly => tcp::control::ControlKind::ScalableKelly,
        },
        Control::Fast => tcp::control::ControlKind::Fast { alpha: tcp.fast_alpha },
    };
    tcp::Config {
        mss: u16::try_from(mss.get()).unwrap_or(u16::MAX),
        initial_window: tcp.initial_window,
        max_window: tcp.max_window,
        receive_buffer: tcp.receive_buffer,
        window_scaling: tcp.window_scaling,
        sack: tcp.uses_sack(),
        ecn: tcp.ecn,
        recovery: match tcp.recovery {
            Recovery::Rfc6675 => tcp::Recovery::Rfc6675,
            Recovery::FallFloyd => tcp::Recovery::FallFloyd,
            Recovery::Rack => tcp::Recovery::Rack,
        },
        proportional_reduction: tcp.proportional_reduction,
        reduction_base: match tcp.reduction_base {
            ReductionBase::Cwnd => tcp::ReductionBase::Cwnd,
            ReductionBase::Flight => tcp::ReductionBase::Flight,
            ReductionBase::Window => tcp::ReductionBase::Window,
        },
        undo_spurious: tcp.undo_spurious,
        start_at_ssthresh: tcp.start_at_ssthresh,
        timestamps: tcp.timestamps,
        count_options: tcp.count_options,
        nagle: tcp.nagle,
        delayed_ack: tcp.delayed_ack.then_some(tcp.delayed_ack_timeout),
        quick_acks: units::byte(tcp.quick_acks),
        limited_transmit: tcp.limited_transmit,
        rto_estimator: match tcp.rto_estimator {
            RtoEstimator::Linux => tcp::RtoEstimator::Linux,
            RtoEstimator::Rfc6298 => tcp::RtoEstimator::Rfc6298,
            RtoEstimator::Ns2 => tcp::RtoEstimator::Ns2,
        },
        min_rto: tcp.min_rto,
        initial_rto: tcp.initial_rto,
        max_rto: tcp.max_rto,
        max_retries: units::byte(tcp.retries),
        syn_retries: units::byte(tcp.syn_retries),
        abc_limit: (tcp.abc_limit > 0).then_some(tcp.abc_limit),
        idle_restart: match tcp.idle_rule {
            _ if !tcp.idle_restart => tcp::IdleRestart::Off,
            IdleRule::Linux => tcp::IdleRestart::Linux,
            IdleRule::Rfc5681 => tcp::IdleRestart::Rfc5681,
            IdleRule::Ns2 => tcp::IdleRestart::Ns2,
        },
        hystart: match tcp.hystart {
            HyStart::Off => tcp::StartRule::Off,
            HyStart::Linux => tcp::StartRule::Linux,
            HyStart::Rfc9406 => tcp::StartRule::Rfc9406,
        },
        pacing: tcp.pacing,
        window_validation: tcp.window_validation,
        push_flow_control: tcp.push_flow_control,
        control,
        increase: match tcp.increase {
            IncreaseRule::Counted => tcp::control::IncreaseRule::Counted,
            IncreaseRule::PerAck => tcp::control::IncreaseRule::PerAck,
        },
        cubic: CubicParameters {
            rule: match tcp.cubic_rule {
                CubicRule::Linux => tcp::control::CubicRule::Linux,
                CubicRule::Rfc9438 => tcp::control::CubicRule::Rfc9438,
            },
            c: tcp.cubic_c,
            beta: tcp.cubic_beta,
        },
        hystart_bounds: HyStartBounds {
            low_window: tcp.hystart_low_window,
            ack_delta: tcp.hystart_ack_delta,
            delay_min: tcp.hystart_delay_min,
            delay_max: tcp.hystart_delay_max,
        },
        vegas: VegasParameters { alpha: tcp.vegas_alpha, beta: tcp.vegas_beta, gamma: tcp.vegas_gamma },
        ..tcp::Config::default()
    }
}

/// How much TCP puts into each node's transmit queue, the master's first; empty where no node looks at its own.
pub(super) fn transmit_queue_limits(scenario: &Scenario) -> Vec<tcp::TransmitQueueLimits> {
    let limits = |tcp: Tcp| tcp::TransmitQueueLimits {
        packets: tcp.queue_threshold,
        restart: tcp.queue_restart,
        delay: tcp.queue_time,
        bytes: tcp.queue_bytes,
        per_flow: tcp.small_queue,
    };
    let all: Vec<_> = (0..=scenario.cluster.workers).map(|node| limits(scenario.tcp.of(node))).collect();
    if all.iter().all(|one| *one == tcp::TransmitQueueLimits::default()) { Vec::new() } else { all }
}
