//! A station on the medium, and a packet in its MAC.

use super::Traffic;
use super::infrastructure::RoleState;
use super::links::Links;
use crate::energy::{RadioState, RadioTimes};
use crate::mac::{Driver, Management, Station, StationId};
use crate::phy::Receiver;
use units::Time;

/// Content of a packet.
#[derive(Clone, Copy, Debug)]
pub(super) enum Content<P> {
    /// The layer above's.
    Packet(P),
    /// A frame by which an infrastructure is run.
    Management(Management),
}

/// A packet in some MAC, or on the wire.
#[derive(Debug)]
pub(super) struct Held<P> {
    pub content: Content<P>,
    pub origin: StationId,
    pub destination: StationId,
    /// The receiver of this hop.
    pub to: StationId,
    pub traffic: Traffic,
    /// Its transmitter has it, the wire included.
    pub queued: bool,
    /// Its receiver keeps it until earlier ones have come.
    pub reordered: bool,
    /// Receivers whose drivers have it.
    pub waiting: u32,
    /// PPDUs on the air that carry it.
    pub flying: u32,
    /// Counted as delivered, dropped, or as relayed: another one goes on for it.
    pub ended: bool,
}

#[derive(Debug)]
pub(super) struct Node {
    pub station: Station,
    pub receiver: Receiver,
    pub links: Links,
    pub role: RoleState,
    pub driver: Option<Box<Driver>>,
    /// Its radio is off while it dozes.
    pub asleep: bool,
    /// Switched off: its node is down.
    pub off: bool,
    /// Packets that its queue has marked.
    pub marks: u64,
    /// Time of its radio in each state.
    pub radio_times: RadioTimes,
}

impl Node {
    /// Whether its radio hears nothing.
    pub(super) const fn is_deaf(&self) -> bool {
        self.asleep || self.off
    }
    pub(super) fn deadline(&self) -> Time {
        if self.off {
            return Time::MAX;
        }
        let driver = self.driver.as_ref().map_or(Time::MAX, |driver| driver.deadline());
        self.station.deadline().min(self.role.deadline()).min(driver)
    }
    pub(super) fn note_radio(&mut self, now: Time) {
        let state = if self.off {
            RadioState::Off
        } else if self.asleep {
            RadioState::Sleep
        } else if self.station.is_transmitting() {
            RadioState::Transmit
        } else if self.station.is_receiving() {
            RadioState::Receive
        } else if self.receiver.busy() {
            RadioState::Busy
        } else {
            RadioState::Idle
        };
        self.radio_times.set(now, state);
    }
}

impl<P> Held<P> {
    /// Whether a receiver has it that has not passed it up yet.
    pub(super) const fn is_received(&self) -> bool {
        self.reordered || self.waiting > 0
    }
    pub(super) const fn new(content: Content<P>, origin: StationId, destination: StationId, traffic: Traffic) -> Self {
        let (queued, reordered, waiting, flying, ended) = (true, false, 0, 0, false);
        Self { content, origin, destination, to: destination, traffic, queued, reordered, waiting, flying, ended }
    }
}
