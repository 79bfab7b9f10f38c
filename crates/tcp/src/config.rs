//! The settings of one endpoint.

use crate::RtoEstimator;
use crate::control::{ControlKind, CubicParameters, HyStartBounds, IncreaseRule, VegasParameters};
use units::{Bytes, Time};

/// How losses are found and repaired when both sides offer SACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Recovery {
    /// RFC 6675: a segment that IsLost() finds lost has left the network.
    Rfc6675,
    /// Fall and Floyd, "Simulation-based comparisons of Tahoe, Reno and SACK TCP", CCR 26(3), 1996, section 3.4, as
    /// ns-2's `Sack1`. *pipe* starts at the outstanding data less three segments. A duplicate acknowledgement takes off
    /// one segment, a partial one two; everything sent is added. So a lost segment stays in *pipe* until its
    /// retransmission is acknowledged: the more losses, the more careful the sender. The usable window is halved, at
    /// once, instead of FlightSize.
    FallFloyd,
    /// RACK-TLP (RFC 8985): a loss is found by the time since sending, a lost tail by a probe after two RTTs. The
    /// window is reduced as with RFC 6675.
    #[default]
    Rack,
}

/// What ends slow start before the queue overflows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum StartRule {
    /// Nothing but a loss or an ECN mark.
    Off,
    /// Linux's HyStart, with CUBIC alone ([`HyStart`](crate::control::HyStart)).
    #[default]
    Linux,
    /// HyStart++ (RFC 9406) in the first slow start, with any control whose slow start is that of RFC 5681.
    Rfc9406,
}

/// What becomes of cwnd when an endpoint sends again after a pause of more than an RTO with nothing outstanding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum IdleRestart {
    /// It stays.
    Off,
    /// Linux (`tcp_cwnd_restart`): it halves for each RTO that has passed, but keeps the initial window. ssthresh keeps
    /// three quarters of it, so that slow start soon leads back.
    Linux,
    /// It is the initial window at most (RFC 5681, section 4.1).
    #[default]
    Rfc5681,
    /// It is one segment, an RTO after the last acknowledgement: ns-2's retransmission timer runs on when nothing is
    /// outstanding (`TcpAgent::newtimer`), and closes cwnd when it expires (`TcpAgent::timeout`).
    Ns2,
}

/// Of what a loss, a timeout or an ECN echo leaves a part as ssthresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ReductionBase {
    /// cwnd, as in Linux. Only with `window_validation`, which keeps cwnd near what is in flight (RFC 9438, section
    /// 4.6); otherwise it is FlightSize. A timeout during a recovery does not reduce ssthresh again (`tcp_enter_loss`).
    #[default]
    Cwnd,
    /// FlightSize (RFC 5681, equation 4), at most cwnd.
    Flight,
    /// The usable window: cwnd, or the peer's window if smaller, as in ns-2.
    Window,
}

/// How an endpoint behaves. [`Config::default`] is a present-day host: SACK, timestamps, window scaling, delayed
/// acknowledgements, CUBIC, an initial window of ten segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Largest payload of a segment in bytes (MSS), announced to the peer; both sides use the smaller one.
    pub mss: u16,
    /// Initial congestion window in segments (RFC 6928: 10).
    pub initial_window: u32,
    /// Most segments in flight, whatever cwnd: the sender acts as if the peer's window were no larger. `None` for no
    /// limit.
    pub max_window: Option<u32>,
    /// Receive buffer: the largest window announced is this, rounded down to the window scale.
    pub receive_buffer: Bytes,
    /// The application takes received bytes at once. Off, they stay in the buffer until `consume`.
    pub auto_consume: bool,
    /// Offer window scaling (RFC 7323). Without it no window exceeds 65,535 bytes.
    pub window_scaling: bool,
    /// Offer selective acknowledgements (RFC 2018). If both sides do, `recovery` says how losses are repaired.
    /// Otherwise it is NewReno (RFC 6582).
    pub sack: bool,
    /// How losses are found and repaired with SACK.
    pub recovery: Recovery,
    /// Proportional rate reduction (RFC 6937), as hosts have it: during a recovery with SACK, cwnd shrinks to ssthresh
    /// in step with deliveries. Off, it is cut at once (RFC 6675). BBR sets cwnd in recovery itself and is not
    /// affected.
    pub proportional_reduction: bool,
    /// Of what ssthresh is a part after a reduction.
    pub reduction_base: ReductionBase,
    /// A reduction for a loss that was none is undone: every retransmission was reported as a duplicate (RFC 3708), or
    /// a timestamp shows that the original arrived (RFC 3522). cwnd and ssthresh are restored, with CUBIC also its
    /// curve (RFC 9438, section 4.9).
    pub undo_spurious: bool,
    /// Offer explicit congestion notification (RFC 3168). DCTCP always offers it.
    pub ecn: bool,
    /// Offer timestamps (RFC 7323).
    pub timestamps: bool,
    /// Options lengthen headers and shorten payloads, as in real packets. Off, every header is 40 bytes.
    pub count_options: bool,
    /// Nagle's algorithm: hold a partial segment while data is unacknowledged (RFC 896).
    pub nagle: bool,
    /// Cork: hold every partial segment until the application pushes or closes.
    pub cork: bool,
    /// Delay acknowledgements by up to this time or until a second segment (RFC 1122). `None` acknowledges every
    /// segment.
    pub delayed_ack: Option<Time>,
    /// The first segments are acknowledged at once, so that delayed acknowledgements do not slow slow start.
    pub quick_acks: u8,
    /// Send new data on the first two duplicate acknowledgements (RFC 3042).
    pub limited_transmit: bool,
    /// How the retransmission timeout is computed from RTT samples.
    pub rto_estimator: RtoEstimator,
    /// Smallest retransmission timeout (RFC 6298: 1 s; hosts: 200 ms). With Linux's estimator: the smallest variance
    /// term.
    pub min_rto: Time,
    /// Retransmission timeout before the first RTT sample (RFC 6298: 1 s).
    pub initial_rto: Time,
    /// Largest retransmission timeout (RFC 6298: at least 60 s).
    pub max_rto: Time,
    /// Give the connection up after this many retransmissions of the same data.
    pub max_retries: u8,
    /// Give up opening after this many retransmissions of a SYN.
    pub syn_retries: u8,
    /// Most segments by which one acknowledgement opens the window in slow start: L of appropriate byte counting (RFC
    /// 3465). `None` counts every byte delivered, up to ssthresh, as Linux does. FreeBSD has 2; RFC 5681, ns-2 and ns-3
    /// have 1.
    pub abc_limit: Option<u32>,
    /// At cwnd = ssthresh it is still slow start, of which RFC 5681 (section 3.1) leaves the choice. Linux before 4.2
    /// had it so (`tcp_reno_cong_avoid`), and with it ns-2's copies: with `abc_limit` each congestion avoidance begins
    /// with a segment more.
    pub start_at_ssthresh: bool,
    /// What becomes of cwnd after a pause of an RTO.
    pub idle_restart: IdleRestart,
    /// What ends slow start before the queue overflows.
    pub hystart: StartRule,
    /// Pace segments: at 2 cwnd per SRTT in slow start, at 1.2 cwnd per SRTT after it, Linux's ratios
    /// (`tcp_pacing_ss_ratio`, `tcp_pacing_ca_ratio`). BBR paces itself and is not affected.
    pub pacing: bool,
    /// Congestion window validation (RFC 7661, section 4.3) by Linux's rule (`tcp_is_cwnd_limited`): cwnd grows only
    /// while it limits the sender, in slow start to twice the most in flight. Off, every acknowledgement opens it, as
    /// in RFC 5681 and ns-2. After short answers it then exceeds anything the network has carried.
    pub window_validation: bool,
    /// TCP push flow control (Lee 2014, Algorithm 2): after the peer has closed its window, acknowledgements of pushed
    /// segments neither sample the RTT nor open cwnd.
    pub push_flow_control: bool,
    /// The congestion control.
    pub control: ControlKind,
    /// How congestion avoidance grows, with [`ControlKind::Reno`].
    pub increase: IncreaseRule,
    /// How CUBIC counts, its C and its beta.
    pub cubic: CubicParameters,
    /// Bounds of HyStart and HyStart++.
    pub hystart_bounds: HyStartBounds,
    /// Vegas' alpha, beta and gamma.
    pub vegas: VegasParameters,
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
            recovery: Recovery::Rack,
            proportional_reduction: true,
            reduction_base: ReductionBase::Cwnd,
            undo_spurious: true,
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
            start_at_ssthresh: false,
            idle_restart: IdleRestart::default(),
            hystart: StartRule::Linux,
            pacing: false,
            window_validation: true,
            push_flow_control: false,
            control: ControlKind::Cubic,
            increase: IncreaseRule::default(),
            cubic: CubicParameters::default(),
            hystart_bounds: HyStartBounds::default(),
            vegas: VegasParameters::default(),
        }
    }
}

impl Config {
    /// `max_window` in bytes.
    #[inline]
    pub(crate) fn ceiling(&self) -> u64 {
        self.max_window.map_or(u64::MAX, |segments| u64::from(segments.max(1)) * u64::from(self.mss.max(1)))
    }
    /// ns-2's retransmission timer runs on when nothing is outstanding.
    pub(crate) fn timer_runs_on(&self) -> bool {
        self.recovery == Recovery::FallFloyd || self.idle_restart == IdleRestart::Ns2
    }
    /// A reduction leaves a part of cwnd, not of FlightSize.
    pub(crate) fn reduces_cwnd(&self) -> bool {
        self.reduction_base == ReductionBase::Cwnd && self.window_validation
    }
    /// `abc_limit` in bytes. After a timeout it is one segment (RFC 3465, section 2.3): one acknowledgement may cover
    /// data that was not lost at all.
    #[inline]
    pub(crate) fn slow_start_limit(&self, mss: u32, after_timeout: bool) -> Option<u64> {
        let segments = |limit: u32| if after_timeout { 1 } else { u64::from(limit.max(1)) };
        self.abc_limit.map(|limit| segments(limit) * u64::from(mss))
    }
    /// The window scale to offer: the smallest with which the whole receive buffer can be announced (at most 14).
    pub(crate) fn window_shift(&self) -> u8 {
        (0..14).find(|shift| self.receive_buffer.get() >> shift <= 65_535).unwrap_or(14)
    }
}
