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
        /// RFC 6675: losses are found by counting what is SACKed.
        Rfc6675 = "rfc6675",
        /// Fall and Floyd 1996, as ns-2's Sack1: what is lost counts as under way until its retransmission is acknowledged.
        FallFloyd = "fall-floyd",
        /// RACK-TLP (RFC 8985): losses are found by time, a lost tail by a probe.
        Rack = "rack",
    }
}

choice! {
    /// How the retransmission timeout (RTO) follows from round-trip times.
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
    /// What ends a slow start before the queue overflows.
    pub enum HyStart {
        /// Nothing but a loss or a mark.
        Off = "off",
        /// Linux's HyStart, with CUBIC alone: an ACK train of half a round trip, or round trips that grow.
        Linux = "linux",
        /// HyStart++ (RFC 9406): the first slow start slows down when round trips grow. Not with Vegas, BBR and FAST,
        /// whose slow start is their own.
        Rfc9406 = "rfc9406",
    }
}

const TIMEOUTS: std::ops::RangeInclusive<Time> = Time::from_us(1)..=Time::from_secs(3600);
const BUFFERS: std::ops::RangeInclusive<Bytes> = Bytes::new(1)..=Bytes::from_mib(16 << 10);

section! {
    /// TCP of every node.
    pub struct Tcp {
        /// Congestion control.
        control: Control = Control::Cubic;
        /// With `fast`: segments that a connection keeps waiting in the network.
        fast_alpha: u32 = 20, 1..=100_000;
        /// Selective acknowledgement (RFC 2018).
        sack: bool = true;
        /// Explicit congestion notification (RFC 3168): data can be marked by queues instead of dropped.
        ecn: bool = false;
        /// How losses are repaired with SACK.
        recovery: Recovery = Recovery::Rfc6675;
        /// Whether the window goes down in the course of a recovery, in step with what is delivered (RFC 6937); else at once. Not with `fall-floyd`,
        /// nor with BBR.
        proportional_reduction: bool = true;
        /// Timestamps (RFC 7323).
        timestamps: bool = true;
        /// Whether options lengthen headers, as in real packets; else every header is 40 bytes.
        count_options: bool = true;
        /// Whether a receiver acknowledges every second segment; else every one.
        delayed_ack: bool = true;
        /// How long an acknowledgement waits for a second segment.
        delayed_ack_timeout: Time = Time::from_ms(40), Time::ZERO..=Time::from_ms(500);
        /// Segments acknowledged at once at the start of a connection.
        quick_acks: u32 = 16, 0..=255;
        /// Whether small segments wait for outstanding ones (RFC 896). Messages that are pushed do not wait.
        nagle: bool = true;
        /// Limited transmit (RFC 3042).
        limited_transmit: bool = true;
        /// Most segments by which one acknowledgement opens the window in slow start (L of RFC 3465): 1 as RFC 5681,
        /// ns-2 and ns-3 have it, 2 as FreeBSD, 0 for no limit, as Linux.
        abc_limit: u32 = 0, 0..=65_535;
        /// Whether an idle connection starts again from the initial window (RFC 5681, 4.1).
        idle_restart: bool = true;
        /// What ends a slow start before the queue overflows.
        hystart: HyStart = HyStart::Linux;
        /// Whether segments are spaced: at twice a window per round trip in slow start, at 1.2 times it else. BBR does so in any case.
        pacing: bool = false;
        /// Whether the congestion window grows only while it holds data back (RFC 7661); else with every acknowledgement, as in ns-2.
        window_validation: bool = true;
        /// TCP push flow control (Lee 2014, Algorithm 2): once the peer has closed its window, acknowledgements of pushed segments do not tell the
        /// round-trip time and leave the congestion window no larger than what was in flight, until a round trip has gone well.
        push_flow_control: bool = false;
        /// Transmit queueing level control (Lee 2014, Algorithm 1): TCP stops injecting while so many packets wait in its node's transmit queue, the one of
        /// the first link on the way. Left out, it looks at no queue. With `queue-bytes`, `queue-time` and `small-queue` each of them holds.
        queue_threshold: Option<u32> = None, 1..=1_000_000;
        /// Once stopped by `queue-threshold`, TCP starts again when fewer wait than this; left out, than the threshold.
        queue_restart: Option<u32> = None, 1..=1_000_000;
        /// TCP stops injecting while as much waits as the link sends in this time at its rate of the moment: a threshold that adapts.
        queue_time: Option<Time> = None, Time::from_us(1)..=Time::from_secs(60);
        /// TCP stops injecting while so many bytes wait, as with byte queue limits.
        queue_bytes: Option<Bytes> = None, BUFFERS;
        /// TCP small queues: each connection has no more in the transmit queue than it sends in this time at its own pace, but two segments in any
        /// case. Linux has 1 ms, on Wi-Fi 8 ms.
        small_queue: Option<Time> = None, Time::from_us(1)..=Time::from_secs(1);
        /// How much an application may have written and TCP not sent (`TCP_NOTSENT_LOWAT`, `net.ipv4.tcp_notsent_lowat`): it writes no more before that is
        /// less; left out, as much as `send-buffer`, or the application, allows.
        notsent_lowat: Option<Bytes> = None, Bytes::new(4_096)..=Bytes::from_mib(1 << 10);
        /// How the retransmission timeout follows from round-trip times.
        rto_estimator: RtoEstimator = RtoEstimator::Linux;
        /// Smallest retransmission timeout; with `rto-estimator = "linux"` the smallest variance term, which the round trip is added to.
        min_rto: Time = Time::from_ms(200), TIMEOUTS;
        /// Retransmission timeout before a round trip is measured.
        initial_rto: Time = Time::from_secs(1), TIMEOUTS;
        /// Largest retransmission timeout.
        max_rto: Time = Time::from_secs(120), TIMEOUTS;
        /// Initial congestion window, segments.
        initial_window: u32 = 10, 1..=1000;
        /// Largest congestion window, segments.
        max_window: Option<u32> = None, 1..=10_000_000;
        /// Receive buffer: the largest window that a receiver offers.
        receive_buffer: Bytes = Bytes::from_mib(4), BUFFERS;
        /// Send buffer: how much the application may write ahead of the acknowledgements.
        send_buffer: Bytes = Bytes::from_mib(1), BUFFERS;
        /// Window scaling (RFC 7323); without it no window exceeds 65,535 bytes.
        window_scaling: bool = true;
        /// Retransmissions of one segment before the connection is given up.
        retries: u32 = 15, 0..=255;
        /// Retransmissions of a SYN before the attempt is given up.
        syn_retries: u32 = 6, 0..=255;
        /// Nodes whose TCP differs; of what is said of a node several times the last counts.
        node: Vec<TcpOfNode> = Vec::new();
    }
}

section! {
    /// What differs at the TCP of some nodes: at their ends of connections, and where they look at their transmit queues.
    pub struct TcpOfNode {
        /// Which nodes.
        nodes: super::Nodes = super::Nodes::Workers;
        /// Their congestion control, with what it turns on and off. Streams that are coupled keep theirs.
        control: Option<Control> = None;
        /// Their initial congestion window, segments.
        initial_window: Option<u32> = None, 1..=1000;
        /// Their smallest retransmission timeout.
        min_rto: Option<Time> = None, TIMEOUTS;
        /// Whether they have TCP push flow control.
        push_flow_control: Option<bool> = None;
        /// Packets in their transmit queues at which they stop injecting.
        queue_threshold: Option<u32> = None, 1..=1_000_000;
        /// Packets below which they start again; left out, the threshold.
        queue_restart: Option<u32> = None, 1..=1_000_000;
        /// They stop injecting while as much waits as the link sends in this time.
        queue_time: Option<Time> = None, Time::from_us(1)..=Time::from_secs(60);
        /// They stop injecting while so many bytes wait.
        queue_bytes: Option<Bytes> = None, BUFFERS;
        /// Each of their connections has no more in the transmit queue than it sends in this time at its own pace.
        small_queue: Option<Time> = None, Time::from_us(1)..=Time::from_secs(1);
    }
}

impl Tcp {
    /// Whether connections use SACK: some controls are defined with it, some without.
    pub const fn uses_sack(&self) -> bool {
        match self.control {
            Control::NewReno | Control::Tahoe => false,
            Control::SackReno => true,
            _ => self.sack,
        }
    }
    /// Whether TCP looks at its node's transmit queue.
    pub const fn watches_queue(&self) -> bool {
        self.queue_threshold.is_some()
            || self.queue_restart.is_some()
            || self.queue_time.is_some()
            || self.queue_bytes.is_some()
            || self.small_queue.is_some()
    }
    /// TCP of one node.
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
