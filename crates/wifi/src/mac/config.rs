//! Settings of a station's MAC.

use super::backoff::Parameters;
use super::frame::mpdu_bytes;
use super::queue::DropPolicy;
use super::tid_queue::RetryLimits;
use crate::phy::{AccessCategory, Edca, ErrorModel, Mode, Settings, SettingsError};
use crate::rate::RateSpec;
use thiserror::Error;
use units::Time;

/// Aggregation of packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Aggregation {
    /// MPDUs in an A-MPDU, 1-64; 1: none, and no block ACK.
    pub mpdus: u32,
    /// Bytes of an A-MPDU: 8191, 16383, 32767 or 65535, as the receiver offers.
    pub bytes: u32,
    /// Bytes of an A-MSDU: 3839 or 7935 as the receiver offers; zero: none.
    pub amsdu: u32,
}

impl Aggregation {
    /// One packet per PPDU.
    pub const NONE: Self = Self { mpdus: 1, bytes: 65_535, amsdu: 0 };
    /// A-MPDUs as long as 802.11n allows; no A-MSDU.
    pub const AMPDU: Self = Self { mpdus: 64, ..Self::NONE };
}

/// The settings of a station's MAC.
#[derive(Clone, Debug)]
pub struct MacConfig {
    /// Its PHY.
    pub phy: Settings,
    /// QoS data and four access categories; without it one, with DCF.
    pub qos: bool,
    /// Contention parameters by category, lowest priority first; without QoS the first alone.
    pub access: [Parameters; 4],
    /// PSDUs longer than this are announced by an RTS.
    pub rts_threshold: u32,
    /// Attempts after which a packet is given up.
    pub retry_limits: RetryLimits,
    /// Packets a category's transmit queue takes.
    pub queue_limit: u32,
    /// The packet that a full queue drops.
    pub drop_policy: DropPolicy,
    /// DCTCP's threshold: an ECN-capable packet that finds as many packets in the queue is marked. Not for fair
    /// queueing, where CoDel marks.
    pub mark_above: Option<u32>,
    /// After this long a packet that has not been sent is given up; [`Time::MAX`]: never.
    pub lifetime: Time,
    /// A-MPDU and A-MSDU.
    pub aggregation: Aggregation,
    /// How the mode of data for one receiver is chosen.
    pub rate: RateSpec,
    /// The error rates that an ideal rate control goes by: those of the receivers.
    pub errors: ErrorModel,
    /// The mode of what goes to everyone: a basic rate.
    pub broadcast_mode: Mode,
}

/// Why a station's settings are impossible.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ConfigError {
    /// The PHY's settings are wrong.
    #[error(transparent)]
    Phy(#[from] SettingsError),
    /// A transmit queue without room.
    #[error("a transmit queue of 0 packets sends nothing: it must take at least 1")]
    EmptyQueue,
    /// A packet that is given up before it is sent.
    #[error("a retry limit of 0 sends nothing: it must allow at least 1 attempt")]
    NoAttempt,
    /// Aggregation out of range.
    #[error("an A-MPDU of {0} MPDUs: block ACK allows 1 to 64")]
    Mpdus(u32),
    /// Aggregation without HT.
    #[error("{0} does not aggregate: only 802.11n has A-MPDU and A-MSDU")]
    NoAggregation(crate::phy::Standard),
    /// Contention windows out of order.
    #[error("a contention window from {min} to {max}: the first must not exceed the second")]
    Window {
        /// The least contention window (CWmin), in slots.
        min: u32,
        /// The largest contention window (CWmax), in slots.
        max: u32,
    },
}

impl MacConfig {
    /// The usual settings: QoS, and A-MPDU, with 802.11n only; queues of 256 packets, no RTS, no lifetime, data in
    /// `mode`.
    pub fn new(phy: Settings, mode: Mode) -> Self {
        let timing = phy.timing();
        let qos = phy.standard.is_ht();
        let access = AccessCategory::ALL.map(|category| {
            let edca = Edca::station(phy.standard, &timing, category);
            let slot = timing.slot;
            if qos {
                let Edca { cw_min, cw_max, txop_limit, .. } = edca;
                Parameters { ifs: edca.aifs(&timing), slot, cw_min, cw_max, txop_limit }
            } else {
                let (cw_min, cw_max) = (timing.cw_min, timing.cw_max);
                Parameters { ifs: timing.difs, slot, cw_min, cw_max, txop_limit: Time::ZERO }
            }
        });
        Self {
            phy,
            qos,
            access,
            rts_threshold: u32::MAX,
            retry_limits: RetryLimits { short: 7, long: 4 },
            queue_limit: 256,
            drop_policy: DropPolicy::Tail,
            mark_above: None,
            lifetime: Time::MAX,
            aggregation: if qos { Aggregation::AMPDU } else { Aggregation::NONE },
            rate: RateSpec::Fixed(mode),
            errors: ErrorModel::default(),
            broadcast_mode: phy.slowest(),
        }
    }
    /// Checks the settings.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.phy.check()?;
        if self.queue_limit == 0 {
            return Err(ConfigError::EmptyQueue);
        }
        if self.retry_limits.short == 0 || self.retry_limits.long == 0 {
            return Err(ConfigError::NoAttempt);
        }
        if self.aggregation.mpdus == 0 || self.aggregation.mpdus > 64 {
            return Err(ConfigError::Mpdus(self.aggregation.mpdus));
        }
        if !self.qos && (self.aggregation.mpdus > 1 || self.aggregation.amsdu > 0) {
            return Err(ConfigError::NoAggregation(self.phy.standard));
        }
        let windows = self.access.iter().map(|access| (access.cw_min, access.cw_max));
        if let Some((min, max)) = windows.into_iter().find(|(min, max)| min > max) {
            return Err(ConfigError::Window { min, max });
        }
        Ok(())
    }
    /// Whether data goes with block ACK.
    pub const fn block_ack(&self) -> bool {
        self.aggregation.mpdus > 1
    }
    /// The length of the MPDU that carries a packet of `bytes`.
    pub const fn mpdu_bytes(&self, bytes: u32) -> u32 {
        mpdu_bytes(bytes, self.qos)
    }
}
