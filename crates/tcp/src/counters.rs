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
    /// Retransmitted segments with data or a FIN; zero-window probes do not count.
    pub retransmissions: u64,
    /// Payload bytes sent again.
    pub bytes_retransmitted: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u32,
    /// Entries into fast recovery; with a control that has none, losses found without a timeout.
    pub fast_recoveries: u32,
    /// Duplicate acknowledgements received.
    pub duplicate_acks: u64,
    /// Segments received whose data had arrived before.
    pub duplicate_segments: u64,
    /// Times that the peer's window went to zero.
    pub zero_windows_seen: u32,
    /// Times that this side's window went to zero.
    pub zero_windows_announced: u32,
    /// Zero-window probes sent.
    pub window_probes: u32,
    /// Tail loss probes sent (RFC 8985).
    pub tail_probes: u32,
    /// Reductions undone because their loss was none (RFC 9438, section 4.9).
    pub undone: u32,
    /// Time spent in fast recovery.
    pub recovery_time: Time,
    /// Time lost to timeouts: the RTO itself, then the time until the data outstanding at the timeout is acknowledged.
    pub timeout_time: Time,
}

impl Counters {
    /// Adds the timeouts of SYNs. The timeout doubles from the initial one. After the last one no SYN follows if the
    /// endpoint gives up.
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

/// Counters that most connections never touch. 32 bits are enough for one connection.
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
    pub undone: u32,
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
        undone: 0,
    };

    /// As [`Counters`], all others zero.
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
            undone: self.undone,
            recovery_time: self.recovery_time,
            timeout_time: self.timeout_time,
            ..Counters::default()
        }
    }
}
