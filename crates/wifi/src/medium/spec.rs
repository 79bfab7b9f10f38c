//! Specification of a medium, and the packets that it hands back.

use super::Role;
use crate::mac::{ConfigError, DriverSpec, MacConfig, Reason, StationId};
use crate::mobility::Mobility;
use crate::phy::{AccessCategory, ReceiverModel};
use crate::propagation::{PropagationError, Radio};
use des::Ecn;
use thiserror::Error;

/// A station to be.
#[derive(Clone, Debug)]
pub struct StationSpec {
    /// Its radio.
    pub radio: Radio,
    /// Thresholds and capture of its receiver.
    pub receiver: ReceiverModel,
    /// Where it is when.
    pub mobility: Mobility,
    /// How its MAC is set.
    pub mac: MacConfig,
    /// Ad hoc, access point or client of one.
    pub role: Role,
    /// A driver between host and MAC, whose transmit queue takes the place of the MAC's; none: the host is the MAC.
    pub driver: Option<DriverSpec>,
}

impl StationSpec {
    /// An ad hoc station with a usual radio and receiver, without a driver.
    pub fn new(mobility: Mobility, mac: MacConfig) -> Self {
        let (radio, receiver) = (Radio::default(), ReceiverModel::default());
        Self { radio, receiver, mobility, mac, role: Role::AdHoc, driver: None }
    }
}

/// Why a medium cannot be as described.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum MediumError {
    /// A station's MAC.
    #[error("station {station}: {error}")]
    Mac {
        /// The station's number.
        station: usize,
        /// What is wrong.
        error: ConfigError,
    },
    /// Fair queueing behind a driver.
    #[error(
        "station {station}: a driver's transmit queue drops its tail or its head; fair queueing is for stations \
         without a driver"
    )]
    FairDriver {
        /// The station's number.
        station: usize,
    },
    /// A wire that carries nothing.
    #[error("the wire between access points has a rate of 0 bit/s: it must be above")]
    Wire,
    /// A station's radio.
    #[error("station {station}: {error}")]
    Radio {
        /// The station's number.
        station: usize,
        /// What is wrong.
        error: PropagationError,
    },
}

/// Properties of a packet that the medium needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Traffic {
    /// Its length with the headers of IP.
    pub bytes: u32,
    /// Its access category.
    pub category: AccessCategory,
    /// Names its flow, one direction of a connection, to queues that tell flows apart.
    pub flow: u32,
    /// Its ECN field.
    pub ecn: Ecn,
}

/// A packet that has arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delivered<P> {
    /// The packet.
    pub packet: P,
    /// Its origin, also if access points have relayed it.
    pub from: StationId,
    /// Where it is now.
    pub at: StationId,
    /// A queue on its way has marked it.
    pub marked: bool,
}

/// A packet that its sender has given up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dropped<P> {
    /// The packet.
    pub packet: P,
    /// The station that had it.
    pub at: StationId,
    /// The intended receiver.
    pub to: StationId,
    /// The reason.
    pub reason: Reason,
    /// The receiver got it all the same; the sender does not know.
    pub arrived: bool,
}
