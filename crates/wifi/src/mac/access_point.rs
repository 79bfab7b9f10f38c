//! An access point: beacons, and who is with it (IEEE Std 802.11-2012, 10.1.3 and 10.3).

use super::client::Wish;
use super::frame::StationId;
use super::management::Management;
use units::Time;

/// The usual interval between beacons: 100 time units of 1024 us.
pub const BEACON_INTERVAL: Time = Time::from_us(102_400);

/// The state of an access point.
#[derive(Clone, Debug)]
pub struct AccessPoint {
    interval: Time,
    next_beacon: Time,
    members: Vec<StationId>,
    dozing: Vec<StationId>,
}

impl AccessPoint {
    /// Sends beacons every `interval` from `first` on.
    pub const fn new(interval: Time, first: Time) -> Self {
        Self { interval, next_beacon: first, members: Vec::new(), dozing: Vec::new() }
    }
    /// Whether a station is with it.
    pub fn has(&self, station: StationId) -> bool {
        self.members.contains(&station)
    }
    /// The stations that are with it.
    pub fn members(&self) -> &[StationId] {
        &self.members
    }
    /// Whether some of its stations doze: then broadcasts would have to wait for a beacon.
    pub fn is_dozing(&self, station: StationId) -> bool {
        self.dozing.contains(&station)
    }
    /// When the next beacon is due.
    pub const fn deadline(&self) -> Time {
        self.next_beacon
    }
    /// Time has come to [`AccessPoint::deadline`].
    pub fn on_timer(&mut self, now: Time, wishes: &mut Vec<Wish>) {
        if now >= self.next_beacon {
            wishes.push(Wish::Send(Management::Beacon, StationId::BROADCAST));
            // Times of beacons are a grid: one that goes late does not shift the next.
            self.next_beacon += self.interval;
        }
    }
    /// A management frame of a station has arrived. True if that has joined by it.
    pub fn on_frame(&mut self, from: StationId, frame: Management, wishes: &mut Vec<Wish>) -> bool {
        match frame {
            Management::ProbeRequest => wishes.push(Wish::Send(Management::ProbeResponse, from)),
            Management::Authentication => wishes.push(Wish::Send(Management::AuthenticationGranted, from)),
            Management::Association => {
                wishes.push(Wish::Send(Management::AssociationGranted, from));
                self.leave(from);
                self.members.push(from);
                return true;
            }
            Management::Null { dozes } if self.has(from) => {
                self.dozing.retain(|other| *other != from);
                if dozes {
                    self.dozing.push(from);
                }
            }
            _ => {}
        }
        false
    }
    /// A station is with another access point now.
    pub fn leave(&mut self, station: StationId) {
        self.members.retain(|other| *other != station);
        self.dozing.retain(|other| *other != station);
    }
}
