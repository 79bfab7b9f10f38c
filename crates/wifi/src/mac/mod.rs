//! The MAC of 802.11: stations that share a medium.

mod access_point;
mod backoff;
mod channel;
mod client;
mod config;
mod driver;
mod fair;
mod frame;
mod inbound;
mod management;
mod output;
mod queue;
mod station;
mod tid_queue;

pub use access_point::{AccessPoint, AccessPointSpec, BEACON_INTERVAL};
pub use backoff::{Contention, Parameters};
pub use channel::Channel;
pub use client::{Client, ClientSpec, Told, Wish};
pub use config::{Aggregation, ConfigError, MacConfig};
pub use driver::{Budget, Driver, DriverSpec, Move, Scheduling};
pub use fair::FairSpec;
pub use frame::{DELIMITER_BYTES, Kind, Mpdu, Offer, PacketId, Ppdu, StationId, ahead, mpdu_bytes};
pub use inbound::{REORDER_TIMEOUT, WINDOW};
pub use management::Management;
pub use output::{Output, Reason};
pub use queue::{DropPolicy, TransmitQueue};
pub use station::{Counters, Station};
pub use tid_queue::RetryLimits;
