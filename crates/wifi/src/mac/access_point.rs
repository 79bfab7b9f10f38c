//! An access point: beacons, and associated clients (IEEE Std 802.11-2012, 10.1.3 and 10.3). Silent clients are polled
//! and removed as in hostapd: after `ap_max_inactivity` without a frame they get a null frame, and have [`ANSWER_WAIT`]
//! to answer.

use super::client::Wish;
use super::frame::StationId;
use super::management::Management;
use units::Time;

/// The usual interval between beacons: 100 time units of 1024 us.
pub const BEACON_INTERVAL: Time = Time::from_us(102_400);

/// A polled client that does not answer within this time is removed (hostapd: AP_DISASSOC_DELAY).
const ANSWER_WAIT: Time = Time::from_secs(3);

/// Settings of an access point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccessPointSpec {
    /// A client that is silent for this long is polled.
    pub max_inactivity: Time,
}

impl Default for AccessPointSpec {
    /// hostapd's 300 s.
    fn default() -> Self {
        Self { max_inactivity: Time::from_secs(300) }
    }
}

/// An associated client.
#[derive(Clone, Copy, Debug)]
struct Member {
    station: StationId,
    dozes: bool,
    /// Time of its last frame.
    last_received: Time,
    /// Time of the poll, if it has not answered yet.
    asked: Option<Time>,
}

/// The state of an access point.
#[derive(Clone, Debug)]
pub struct AccessPoint {
    spec: AccessPointSpec,
    interval: Time,
    next_beacon: Time,
    members: Vec<Member>,
    /// Stations that are not associated and whose deauthentication is not sent yet.
    refused: Vec<StationId>,
}

impl AccessPoint {
    /// Sends beacons every `interval` from `first` on.
    pub const fn new(spec: AccessPointSpec, interval: Time, first: Time) -> Self {
        Self { spec, interval, next_beacon: first, members: Vec::new(), refused: Vec::new() }
    }
    /// Restarts it without clients. Its beacons stay on their grid, so that two access points which restart together do
    /// not send beacons together.
    pub fn restart(&mut self, now: Time) {
        let missed = (now + self.interval).saturating_sub(self.next_beacon) / self.interval;
        self.next_beacon += self.interval * missed;
        self.members.clear();
        self.refused.clear();
    }
    /// Whether a station is associated.
    pub fn has(&self, station: StationId) -> bool {
        self.members.iter().any(|member| member.station == station)
    }
    /// Whether a dozing client is being polled: its bit in the beacon is set, so that it answers by a PS-Poll.
    pub fn asks(&self, station: StationId) -> bool {
        self.members.iter().any(|member| member.station == station && member.asked.is_some())
    }
    /// When its last beacon was due.
    pub fn last_beacon(&self) -> Time {
        self.next_beacon.saturating_sub(self.interval)
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
            self.look_after_members(now, wishes);
        }
    }
    /// A frame of a client has arrived: it is alive.
    pub fn refresh(&mut self, now: Time, from: StationId) {
        if let Some(member) = self.member(from) {
            (member.last_received, member.asked) = (now, None);
        }
    }
    /// Takes in a management frame. Returns whether it has associated its sender.
    pub fn on_frame(&mut self, now: Time, from: StationId, frame: Management, wishes: &mut Vec<Wish>) -> bool {
        match frame {
            Management::ProbeRequest => wishes.push(Wish::Send(Management::ProbeResponse, from)),
            Management::Authentication => wishes.push(Wish::Send(Management::AuthenticationGranted, from)),
            Management::Association => {
                wishes.push(Wish::Send(Management::AssociationGranted, from));
                self.leave(from);
                self.members.push(Member { station: from, dozes: false, last_received: now, asked: None });
                return true;
            }
            Management::Null { .. } | Management::PsPoll if !self.has(from) => self.refuse(from, wishes),
            Management::Null { dozes } => {
                if let Some(member) = self.member(from) {
                    member.dozes = dozes;
                }
            }
            _ => {}
        }
        false
    }
    /// Deauthenticates a station that sends frames of class 3 without being associated (10.3.3).
    pub fn refuse(&mut self, from: StationId, wishes: &mut Vec<Wish>) {
        if !self.refused.contains(&from) {
            self.refused.push(from);
            wishes.push(Wish::Send(Management::Deauthentication, from));
        }
    }
    /// The deauthentication of a station was sent, or given up.
    pub fn on_refused(&mut self, station: StationId) {
        self.refused.retain(|refused| *refused != station);
    }
    /// A station is with another access point now.
    pub fn leave(&mut self, station: StationId) {
        self.members.retain(|member| member.station != station);
    }

    /// Polls clients that have been silent for too long, and removes those that have not answered.
    fn look_after_members(&mut self, now: Time, wishes: &mut Vec<Wish>) {
        let mut gone = Vec::new();
        for member in &mut self.members {
            let silent = now.saturating_sub(member.last_received) >= self.spec.max_inactivity;
            match member.asked {
                None if silent => {
                    member.asked = Some(now);
                    // A dozing client is polled by the next beacon that it wakes for.
                    if !member.dozes {
                        wishes.push(Wish::Send(Management::Null { dozes: false }, member.station));
                    }
                }
                Some(asked) if asked + ANSWER_WAIT <= now => gone.push(member.station),
                _ => {}
            }
        }
        for station in gone {
            self.leave(station);
            wishes.push(Wish::Forget(station));
            self.refuse(station, wishes);
        }
    }
    fn member(&mut self, station: StationId) -> Option<&mut Member> {
        self.members.iter_mut().find(|member| member.station == station)
    }
}
