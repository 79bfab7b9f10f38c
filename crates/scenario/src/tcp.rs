//! TCP of every node.

use super::key::{choice, section};
use units::{Bytes, Time};

choice! {
    /// Congestion controls.
    pub enum Control {
        /// Reno with NewReno recovery (RFC 6582); it turns SACK off.
        NewReno = "newreno",
        /// Reno with SACK recovery (RFC 6675); it turns SACK on.
        SackReno = "sack-reno",
        /// Vegas.
        Vegas = "vegas",
        /// CUBIC (RFC 9438).
        Cubic = "cubic",
        /// BBR, version 1.
        Bbr = "bbr",
        /// DCTCP (RFC 8257); it turns ECN on. It needs queues that mark.
        Dctcp = "dctcp",
        /// Tahoe: slow start after every loss; it turns SACK off.
        Tahoe = "tahoe",
        /// Westwood+.
        Westwood = "westwood",
        /// Scalable TCP.
        Scalable = "scalable",
        /// FAST.
        Fast = "fast",
    }
}

choice! {
    /// How losses are repaired with SACK.
    pub enum Recovery {
        /// RFC 6675: a loss is found by counting SACKed segments above a hole.
        Rfc6675 = "rfc6675",
        /// Fall and Floyd 1996, as ns-2's Sack1 (without SACK its NewReno): a lost segment stays in *pipe* until its
        /// retransmission is acknowledged.
        FallFloyd = "fall-floyd",
        /// RACK-TLP (RFC 8985): a loss is found by time, a lost tail by a probe.
        Rack = "rack",
    }
}

choice! {
    /// How the retransmission timeout (RTO) is computed from round-trip times.
    pub enum RtoEstimator {
        /// SRTT + max(`min-rto`, 4 RTTVAR), with RTTVAR as Linux keeps it.
        Linux = "linux",
        /// max(`min-rto`, SRTT + max(1 ms, 4 RTTVAR)), as RFC 6298 and ns-3 have it.
        Rfc6298 = "rfc6298",
        /// max(`min-rto`, SRTT + 4 RTTVAR), as ns-2 has it.
        Ns2 = "ns2",
    }
}

choice! {
    /// What ends slow start before the queue overflows.
    pub enum HyStart {
        /// Nothing but a loss or an ECN mark.
        Off = "off",
        /// Linux's HyStart, with CUBIC alone: an ACK train that lasts half the minimum RTT, or RTTs that grow.
        Linux = "linux",
        /// HyStart++ (RFC 9406): when RTTs grow, the first slow start becomes conservative, then ends. Not with Vegas,
        /// BBR and FAST, which have a slow start of their own.
        Rfc9406 = "rfc9406",
    }
}

choice! {
    /// What becomes of the congestion window after an idle period.
    pub enum IdleRule {
        /// Linux: it halves for each RTO that has passed, down to the initial window; ssthresh keeps three quarters.
        Linux = "linux",
        /// It starts anew from the initial window (RFC 5681, 4.1).
        Rfc5681 = "rfc5681",
        /// ns-2: one segment, an RTO after the last acknowledgement.
        Ns2 = "ns2",
    }
}

choice! {
    /// Of what ssthresh is a part after a loss, a timeout or an ECN echo.
    pub enum ReductionBase {
        /// cwnd, as in Linux; with `window-validation = false` FlightSize all the same.
        Cwnd = "cwnd",
        /// FlightSize, as in RFC 5681 and ns-3.
        Flight = "flight",
        /// cwnd, or the peer's window if smaller, as in ns-2.
        Window = "window",
    }
}

choice! {
    /// How CUBIC counts.
    pub enum CubicRule {
        /// Linux: whole segments; before a loss and after a timeout at least a twentieth per round trip.
        Linux = "linux",
        /// The formulas in fractions of a segment.
        Rfc9438 = "rfc9438",
    }
}

choice! {
    /// How congestion avoidance opens cwnd by a segment per round trip.
    pub enum IncreaseRule {
        /// By a whole segment once a cwnd is acknowledged, as Linux.
        Counted = "counted",
        /// By a fraction with every acknowledgement (RFC 5681, equation 3), as ns-2 and ns-3.
        PerAck = "per-ack",
    }
}

choice! {
    /// Whose BBR.
    pub enum BbrRule {
        /// Linux: segments leave in groups of a millisecond, paced a hundredth below the bandwidth; cwnd is even, with
        /// room for acknowledgements that come in lumps; a path that loses a fifth at a steady rate counts as policed.
        Linux = "linux",
        /// draft-cardwell-iccrg-bbr-congestion-control-00, and ns-3: every segment is spaced.
        Draft = "draft",
    }
}

choice! {
    /// Which windows of Scalable TCP grow and shrink in proportion.
    pub enum ScalableRule {
        /// Linux: below 100 segments cwnd grows as Reno's; every loss and timeout takes an eighth.
        Linux = "linux",
        /// Kelly 2003: it is Reno while cwnd has at most 16 segments.
        Kelly = "kelly",
    }
}

const TIMEOUTS: std::ops::RangeInclusive<Time> = Time::from_us(1)..=Time::from_secs(3600);
const BUFFERS: std::ops::RangeInclusive<Bytes> = Bytes::new(1)..=Bytes::from_mib(16 << 10);

section! {
    /// TCP of every node.
    pub struct Tcp {
        /// Congestion control.
        control: Control = Control::Cubic;
        /// With `fast`: segments that a connection keeps queued in the network.
        fast_alpha: u32 = 20, 1..=100_000;
        /// With `newreno` and `sack-reno`: how congestion avoidance grows.
        increase: IncreaseRule = IncreaseRule::Counted;
        /// With `cubic`: how it counts.
        cubic_rule: CubicRule = CubicRule::Linux;
        /// With `cubic`: C of RFC 9438, the scaling of the cubic function in segments per second cubed.
        cubic_c: f64 = 0.4, 0.001..=100.0;
        /// With `cubic`: the part of the window that a loss leaves (beta of RFC 9438).
        cubic_beta: f64 = 0.7, 0.1..=0.99;
        /// With `vegas`: cwnd grows while fewer segments than this are queued in the network.
        vegas_alpha: u32 = 1, 0..=10_000;
        /// With `vegas`: cwnd shrinks while more segments than this are queued in the network.
        vegas_beta: u32 = 3, 0..=10_000;
        /// With `vegas`: slow start ends when more segments than this are queued in the network.
        vegas_gamma: u32 = 1, 0..=10_000;
        /// With `bbr`: whose.
        bbr_rule: BbrRule = BbrRule::Linux;
        /// With `scalable`: which windows grow and shrink in proportion.
        scalable_rule: ScalableRule = ScalableRule::Linux;
        /// Selective acknowledgement (RFC 2018).
        sack: bool = true;
        /// Explicit congestion notification (RFC 3168): queues may mark data instead of dropping it.
        ecn: bool = false;
        /// How losses are repaired with SACK.
        recovery: Recovery = Recovery::Rack;
        /// Proportional rate reduction (RFC 6937): during a recovery the window shrinks to ssthresh in step with
        /// deliveries. Off, it is cut at once. Not with `fall-floyd`, nor with BBR.
        proportional_reduction: bool = true;
        /// Of what ssthresh is a part after a loss, a timeout or an ECN echo.
        reduction_base: ReductionBase = ReductionBase::Cwnd;
        /// Whether a reduction for a loss that was none is undone: all that was retransmitted proves to be a duplicate
        /// (DSACK), or a timestamp shows that the original arrived. With CUBIC its curve is restored as well (RFC 9438,
        /// 4.9).
        undo_spurious: bool = true;
        /// Timestamps (RFC 7323).
        timestamps: bool = true;
        /// Whether TCP options lengthen headers, as in real packets. Off, every header is 40 bytes.
        count_options: bool = true;
        /// Whether a receiver acknowledges every second segment. Off, it acknowledges every segment.
        delayed_ack: bool = true;
        /// How long an acknowledgement waits for a second segment.
        delayed_ack_timeout: Time = Time::from_ms(40), Time::ZERO..=Time::from_ms(500);
        /// Segments at the start of a connection that are acknowledged without delay.
        quick_acks: u32 = 16, 0..=255;
        /// Nagle's algorithm (RFC 896): a partial segment waits while data is unacknowledged. Traffic alone has it:
        /// Hadoop's connections set `TCP_NODELAY`.
        nagle: bool = true;
        /// Limited transmit (RFC 3042).
        limited_transmit: bool = true;
        /// Most segments by which one acknowledgement opens the window in slow start (L of RFC 3465). 1 is RFC 5681,
        /// ns-2 and ns-3; 2 is FreeBSD; 0 is no limit, as in Linux.
        abc_limit: u32 = 0, 0..=65_535;
        /// Whether it is still slow start where cwnd equals ssthresh (RFC 5681 leaves it open), as in Linux before 4.2
        /// (RHEL 7) and in ns-2's copies of it. It needs `abc-limit`, 1 for these.
        start_at_ssthresh: bool = false;
        /// Whether a connection that was idle for one RTO restarts with a smaller window.
        idle_restart: bool = true;
        /// With `idle-restart`: what becomes of the window.
        idle_rule: IdleRule = IdleRule::Rfc5681;
        /// What ends slow start before the queue overflows.
        hystart: HyStart = HyStart::Linux;
        /// HyStart of Linux ignores windows below this many segments (`hystart_low_window`).
        hystart_low_window: u32 = 16, 0..=1_000_000;
        /// Acknowledgements further apart are no ACK train (`hystart_ack_delta_us` of Linux).
        hystart_ack_delta: Time = Time::from_ms(2), Time::ZERO..=Time::from_secs(1);
        /// The least growth of RTTs that ends slow start, with both HyStarts.
        hystart_delay_min: Time = Time::from_ms(4), Time::ZERO..=Time::from_secs(10);
        /// The growth of RTTs that ends slow start in any case, with both HyStarts.
        hystart_delay_max: Time = Time::from_ms(16), Time::ZERO..=Time::from_secs(10);
        /// Whether segments are paced: at 2 cwnd per RTT in slow start, at 1.2 cwnd per RTT after it. BBR always paces.
        pacing: bool = false;
        /// Congestion window validation, by Linux's rule: cwnd grows only while it limits the sender, in slow start to
        /// twice the most in flight. Off, every acknowledgement opens it, as in ns-2.
        window_validation: bool = true;
        /// TCP push flow control (Lee 2014, Algorithm 2). It starts when the peer closes its window. An acknowledgement
        /// of a pushed segment then gives no RTT sample and caps cwnd at the bytes that were in flight. It ends a round
        /// trip after the peer's window is half open again.
        push_flow_control: bool = false;
        /// Transmit queueing level control (Lee 2014, Algorithm 1): TCP stops sending while the transmit queue holds
        /// this many packets. The queue is that of the first link on the path, or of the wireless station. Left out, no
        /// limit in packets. `queue-threshold`, `queue-time`, `queue-bytes` and `small-queue` may be combined; the
        /// tightest limit holds.
        queue_threshold: Option<u32> = None, 1..=1_000_000;
        /// Once stopped by `queue-threshold`, TCP starts again when the queue holds fewer packets than this. Default:
        /// `queue-threshold`.
        queue_restart: Option<u32> = None, 1..=1_000_000;
        /// TCP stops sending while the transmit queue takes this long to drain at the link's present rate: a threshold
        /// that adapts, as airtime queue limits (AQL).
        queue_time: Option<Time> = None, Time::from_us(1)..=Time::from_secs(60);
        /// TCP stops sending while the transmit queue holds this many bytes, as with byte queue limits (BQL).
        queue_bytes: Option<Bytes> = None, BUFFERS;
        /// TCP small queues (TSQ): each connection has at most this much time at its own pace in the transmit queue,
        /// and at least two segments. Linux: 1 ms, on Wi-Fi 8 ms.
        small_queue: Option<Time> = None, Time::from_us(1)..=Time::from_secs(1);
        /// Most unsent bytes that an application may have written (`TCP_NOTSENT_LOWAT`, `net.ipv4.tcp_notsent_lowat`).
        /// It writes again once fewer are unsent. Default: `send-buffer`, or the application's own limit.
        notsent_lowat: Option<Bytes> = None, Bytes::new(4_096)..=Bytes::from_mib(1 << 10);
        /// How the retransmission timeout is computed from round-trip times.
        rto_estimator: RtoEstimator = RtoEstimator::Linux;
        /// Smallest retransmission timeout. With `rto-estimator = "linux"`: smallest variance term, which is added to
        /// SRTT.
        min_rto: Time = Time::from_ms(200), TIMEOUTS;
        /// Retransmission timeout before the first RTT sample.
        initial_rto: Time = Time::from_secs(1), TIMEOUTS;
        /// Largest retransmission timeout.
        max_rto: Time = Time::from_secs(120), TIMEOUTS;
        /// Initial congestion window, segments.
        initial_window: u32 = 10, 1..=1000;
        /// Most segments in flight, whatever the congestion window: the sender acts as if the peer's window were no
        /// larger.
        max_window: Option<u32> = None, 1..=10_000_000;
        /// Receive buffer: the largest window that a receiver announces.
        receive_buffer: Bytes = Bytes::from_mib(4), BUFFERS;
        /// Send buffer: most bytes that an application may have written and the peer not acknowledged.
        send_buffer: Bytes = Bytes::from_mib(1), BUFFERS;
        /// Window scaling (RFC 7323). Without it no window exceeds 65,535 bytes.
        window_scaling: bool = true;
        /// Retransmissions of one segment before the connection is given up.
        retries: u32 = 15, 0..=255;
        /// Retransmissions of a SYN before the attempt is given up.
        syn_retries: u32 = 6, 0..=255;
        /// Nodes whose TCP differs. Where several entries set a key for the same node, the last one counts.
        node: Vec<TcpOfNode> = Vec::new();
    }
}

section! {
    /// TCP settings that differ at some nodes: at their ends of connections and at their transmit queues.
    pub struct TcpOfNode {
        /// Which nodes.
        nodes: super::Nodes = super::Nodes::Workers;
        /// Their congestion control, with the SACK and ECN settings that it implies. Coupled streams keep their own.
        control: Option<Control> = None;
        /// Their initial congestion window, segments.
        initial_window: Option<u32> = None, 1..=1000;
        /// Their smallest retransmission timeout.
        min_rto: Option<Time> = None, TIMEOUTS;
        /// Whether they use TCP push flow control.
        push_flow_control: Option<bool> = None;
        /// Packets in their transmit queue at which TCP stops sending.
        queue_threshold: Option<u32> = None, 1..=1_000_000;
        /// Packets below which it starts again. Default: the threshold.
        queue_restart: Option<u32> = None, 1..=1_000_000;
        /// TCP stops sending while their transmit queue takes this long to drain.
        queue_time: Option<Time> = None, Time::from_us(1)..=Time::from_secs(60);
        /// TCP stops sending while their transmit queue holds this many bytes.
        queue_bytes: Option<Bytes> = None, BUFFERS;
        /// Each connection has at most this much time at its own pace in their transmit queue.
        small_queue: Option<Time> = None, Time::from_us(1)..=Time::from_secs(1);
    }
}

impl Tcp {
    /// Whether connections use SACK. Some controls fix it.
    pub const fn uses_sack(&self) -> bool {
        match self.control {
            Control::NewReno | Control::Tahoe => false,
            Control::SackReno => true,
            _ => self.sack,
        }
    }
    /// Whether TCP watches its node's transmit queue.
    pub const fn watches_queue(&self) -> bool {
        self.queue_threshold.is_some()
            || self.queue_restart.is_some()
            || self.queue_time.is_some()
            || self.queue_bytes.is_some()
            || self.small_queue.is_some()
    }
    /// The TCP settings of one node.
    pub fn of(&self, node: u32) -> Self {
        let mut own = Self { node: Vec::new(), ..self.clone() };
        for part in self.node.iter().filter(|part| part.nodes.contains(node)) {
            own.control = part.control.unwrap_or(own.control);
            own.initial_window = part.initial_window.unwrap_or(own.initial_window);
            own.min_rto = part.min_rto.unwrap_or(own.min_rto);
            own.push_flow_control = part.push_flow_control.unwrap_or(own.push_flow_control);
            own.queue_threshold = part.queue_threshold.or(own.queue_threshold);
            own.queue_restart = part.queue_restart.or(own.queue_restart);
            own.queue_time = part.queue_time.or(own.queue_time);
            own.queue_bytes = part.queue_bytes.or(own.queue_bytes);
            own.small_queue = part.small_queue.or(own.small_queue);
        }
        own
    }
}
