//! What an endpoint counts.

use crate::Config;
use units::Time;

/// Totals since the endpoint was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Segments sent, of every kind.
    pub segments_sent: u64,
    /// Segments received, of every kind.
    pub segments_received: u64,
    /// Segments with data or a FIN that were sent again, probes of a zero window not among them.
    pub retransmissions: u64,
    /// Payload bytes sent again.
    pub bytes_retransmitted: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u32,
    /// Times that fast recovery was entered, or with a control that has none, that a loss was found without it.
    pub fast_recoveries: u32,
    /// Duplicate acknowledgements received.
    pub duplicate_acks: u64,
    /// Segments received whose data was already there.
    pub duplicate_segments: u64,
    /// Times that the peer's window went to zero.
    pub zero_windows_seen: u32,
    /// Times that this side's window went to zero.
    pub zero_windows_announced: u32,
    /// Probes of a closed window.
    pub window_probes: u32,
    /// Tail loss probes (RFC 8985).
    pub tail_probes: u32,
    /// Time spent in fast recovery.
    pub recovery_time: Time,
    /// Time lost to timeouts: waiting for the timer to expire, and then until what was outstanding is acknowledged.
    pub timeout_time: Time,
}

impl Counters {
    /// With what handshakes have cost: the timeout doubles from the initial one, and the last one is not followed by
    /// another SYN if that gives up.
    pub(crate) fn with_syns(mut self, timeouts: u8, config: &Config) -> Self {
        self.timeouts += u32::from(timeouts);
        self.retransmissions += u64::from(timeouts.min(config.syn_retries));
        let mut wait = config.initial_rto.min(config.max_rto);
        for _ in 0..timeouts {
            self.timeout_time = self.timeout_time.saturating_add(wait);
            wait = Time::from_ps(wait.as_ps().saturating_mul(2)).min(config.max_rto);
        }
        self
    }
}

/// What most connections never count; 4 G of each is enough for any one connection.
#[derive(Clone, Debug)]
pub(crate) struct Rare {
    pub bytes_retransmitted: u64,
    pub recovery_time: Time,
    pub timeout_time: Time,
    pub retransmissions: u32,
    pub timeouts: u32,
    pub fast_recoveries: u32,
    pub duplicate_acks: u32,
    pub zero_windows_seen: u32,
    pub zero_windows_announced: u32,
    pub window_probes: u32,
    pub tail_probes: u32,
}

impl Rare {
    pub const NONE: Self = Self {
        bytes_retransmitted: 0,
        recovery_time: Time::ZERO,
        timeout_time: Time::ZERO,
        retransmissions: 0,
        timeouts: 0,
        fast_recoveries: 0,
        duplicate_acks: 0,
        zero_windows_seen: 0,
        zero_windows_announced: 0,
        window_probes: 0,
        tail_probes: 0,
    };

    /// Among all the others, which are zero here.
    pub fn counters(&self) -> Counters {
        Counters {
            retransmissions: u64::from(self.retransmissions),
            bytes_retransmitted: self.bytes_retransmitted,
            timeouts: self.timeouts,
            fast_recoveries: self.fast_recoveries,
            duplicate_acks: u64::from(self.duplicate_acks),
            zero_windows_seen: self.zero_windows_seen,
            zero_windows_announced: self.zero_windows_announced,
            window_probes: self.window_probes,
            tail_probes: self.tail_probes,
            recovery_time: self.recovery_time,
            timeout_time: self.timeout_time,
            ..Counters::default()
        }
    }
}
