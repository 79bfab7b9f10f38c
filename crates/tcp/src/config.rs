//! The settings of one endpoint.

use crate::RtoEstimator;
use crate::control::ControlKind;
use units::{Bytes, Time};

/// How losses are repaired when both sides offer SACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Recovery {
    /// RFC 6675: what is found lost counts as having left the network.
    #[default]
    Rfc6675,
    /// Fall and Floyd, "Simulation-based comparisons of Tahoe, Reno and SACK TCP", CCR 26(3), 1996, section 3.4, as
    /// ns-2's `Sack1` has it: *pipe* begins with what is outstanding less three segments, goes down by one with every
    /// acknowledgement and by two with one that moves the left edge, and up with everything sent. So every further
    /// segment that a window has lost keeps its place in *pipe* until its retransmission is acknowledged, and the
    /// sender is the more careful the more it has lost. What is halved, at once, is the window and not FlightSize.
    FallFloyd,
    /// RACK-TLP (RFC 8985): what is lost is found by the time since it was sent, and a lost tail by a probe after two
    /// round trips. The window is reduced as with RFC 6675.
    Rack,
}

/// What ends a slow start before the queue overflows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum StartRule {
    /// Nothing but a loss or a mark.
    Off,
    /// Linux's HyStart, with CUBIC alone ([`HyStart`](crate::control::HyStart)).
    #[default]
    Linux,
    /// HyStart++ (RFC 9406) in the first slow start, with any control whose slow start is that of RFC 5681.
    Rfc9406,
}

/// How an endpoint behaves. [`Config::default`] is a present-day host's: SACK, timestamps, window scaling, delayed
/// acknowledgements, CUBIC, ten segments of initial window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Largest payload of a segment in bytes, announced to the peer; both sides use the smaller one.
    pub mss: u16,
    /// Initial congestion window in segments (RFC 6928: 10).
    pub initial_window: u32,
    /// Send at most this many segments beyond what is acknowledged, as if the peer offered no more; `None` for no such
    /// ceiling.
    pub max_window: Option<u32>,
    /// Receive buffer: the largest window announced is this, rounded down to the window scale.
    pub receive_buffer: Bytes,
    /// The application takes received bytes at once; otherwise they stay in the buffer until `consume`.
    pub auto_consume: bool,
    /// Offer window scaling (RFC 7323); without it no window exceeds 65,535 bytes.
    pub window_scaling: bool,
    /// Offer selective acknowledgements (RFC 2018); if both sides do, `recovery` says how losses are repaired, else it
    /// is NewReno's (RFC 6582).
    pub sack: bool,
    /// How losses are repaired with SACK.
    pub recovery: Recovery,
    /// Reduce the window in step with what is delivered during a recovery with SACK (RFC 6937), as hosts do; off, it is
    /// cut at once (RFC 6675). A control that sets the window in recovery by itself, BBR, is not touched.
    pub proportional_reduction: bool,
    /// Offer explicit congestion notification (RFC 3168); the control DCTCP does in any case.
    pub ecn: bool,
    /// Offer timestamps (RFC 7323).
    pub timestamps: bool,
    /// Options lengthen headers and shorten payloads, as in real packets. Off, every header is 40 bytes.
    pub count_options: bool,
    /// Hold a partial segment back while data is unacknowledged (RFC 896).
    pub nagle: bool,
    /// Hold every partial segment back until the application pushes or closes.
    pub cork: bool,
    /// Delay acknowledgements up to this long or until a second segment (RFC 1122); `None` acknowledges every segment.
    pub delayed_ack: Option<Time>,
    /// This many first segments are acknowledged at once, so that slow start is not held up.
    pub quick_acks: u8,
    /// Send new data on the first two duplicate acknowledgements (RFC 3042).
    pub limited_transmit: bool,
    /// How the retransmission timeout follows from round-trip times.
    pub rto_estimator: RtoEstimator,
    /// Smallest retransmission timeout (RFC 6298 says 1 s; hosts use 200 ms); of Linux's estimator the smallest
    /// variance term.
    pub min_rto: Time,
    /// Retransmission timeout before the first round trip is known (RFC 6298: 1 s).
    pub initial_rto: Time,
    /// Largest retransmission timeout (RFC 6298: at least 60 s).
    pub max_rto: Time,
    /// Give the connection up after this many retransmissions of the same data.
    pub max_retries: u8,
    /// Give up opening after this many retransmissions of a SYN.
    pub syn_retries: u8,
    /// Segments by which one acknowledgement may open the window in slow start: L of appropriate byte counting (RFC
    /// 3465). `None` counts every byte delivered, up to the threshold, as Linux does; 2 is FreeBSD's, 1 that of RFC
    /// 5681, ns-2 and ns-3.
    pub abc_limit: Option<u32>,
    /// Start from the initial window again after an idle period of one timeout (RFC 5681, section 4.1).
    pub idle_restart: bool,
    /// What ends a slow start before the queue overflows.
    pub hystart: StartRule,
    /// Space segments: at twice the rate of a window per smoothed round trip in slow start, at 1.2 times it else, which
    /// are the ratios that Linux documents (`tcp_pacing_ss_ratio`, `tcp_pacing_ca_ratio`). A control that paces by
    /// itself, BBR, is not touched.
    pub pacing: bool,
    /// The congestion window grows only while it, and not the application, holds data back (RFC 7661, section 4.3, as
    /// hosts do). Off, every acknowledgement opens it, as RFC 5681 has it and as ns-2 does: after short answers it is
    /// wider than anything the network has carried.
    pub window_validation: bool,
    /// After the peer has closed its window, acknowledgements of pushed segments neither sample the round trip nor open
    /// the congestion window (Lee 2014, Algorithm 2).
    pub push_flow_control: bool,
    /// The congestion control.
    pub control: ControlKind,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            mss: 1460,
            initial_window: 10,
            max_window: None,
            receive_buffer: Bytes::from_mib(4),
            auto_consume: true,
            window_scaling: true,
            sack: true,
            recovery: Recovery::Rfc6675,
            proportional_reduction: true,
            ecn: false,
            timestamps: true,
            count_options: true,
            nagle: true,
            cork: false,
            delayed_ack: Some(Time::from_ms(40)),
            quick_acks: 16,
            limited_transmit: true,
            rto_estimator: RtoEstimator::Linux,
            min_rto: Time::from_ms(200),
            initial_rto: Time::from_secs(1),
            max_rto: Time::from_secs(120),
            max_retries: 15,
            syn_retries: 6,
            abc_limit: None,
            idle_restart: true,
            hystart: StartRule::Linux,
            pacing: false,
            window_validation: true,
            push_flow_control: false,
            control: ControlKind::Cubic,
        }
    }
}

impl Config {
    /// `max_window` in bytes.
    #[inline]
    pub(crate) fn ceiling(&self) -> u64 {
        self.max_window.map_or(u64::MAX, |segments| u64::from(segments.max(1)) * u64::from(self.mss.max(1)))
    }
    /// `abc_limit` in bytes. After a timeout a limit is one segment (RFC 3465, section 2.3): one acknowledgement may
    /// cover what was not lost at all.
    #[inline]
    pub(crate) fn slow_start_limit(&self, mss: u32, after_timeout: bool) -> Option<u64> {
        let segments = |limit: u32| if after_timeout { 1 } else { u64::from(limit.max(1)) };
        self.abc_limit.map(|limit| segments(limit) * u64::from(mss))
    }
    /// The window scale to offer: the smallest that lets the whole receive buffer be announced (at most 14).
    pub(crate) fn window_shift(&self) -> u8 {
        (0..14).find(|shift| self.receive_buffer.get() >> shift <= 65_535).unwrap_or(14)
    }
}
