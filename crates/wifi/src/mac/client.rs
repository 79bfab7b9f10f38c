//! A client: scans for an access point, associates, roams to a better one, and dozes between beacons with power save
//! (IEEE Std 802.11-2012, 10.1.4, 10.2.1 and 10.3).

use super::frame::StationId;
use super::management::Management;
use crate::propagation::Dbm;
use units::Time;

/// Settings of a client.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ClientSpec {
    /// The client looks for a better access point when it receives its own with less than this,
    pub roam_below: Dbm,
    /// and takes one that it receives with at least this many decibels more.
    pub hysteresis_db: f64,
    /// Beacons from one waking to the next; `None`: the client never dozes.
    pub listen_interval: Option<u32>,
    /// Time without a packet in either direction after which the client dozes.
    pub awake_for: Time,
}

impl Default for ClientSpec {
    /// -70 dBm and 8 dB, about what drivers take; always awake.
    fn default() -> Self {
        Self { roam_below: Dbm(-70.0), hysteresis_db: 8.0, listen_interval: None, awake_for: Time::from_ms(100) }
    }
}

/// How long answers to a probe are collected.
const PROBE_WAIT: Time = Time::from_ms(20);
/// A client that has found no access point probes again after this time.
const PROBE_AGAIN: Time = Time::from_ms(100);
/// An answer to authentication or association comes within this time (mac80211: 200 ms, three times), or it is asked
/// for again.
const JOIN_WAIT: Time = Time::from_ms(200);
const JOIN_TRIES: u32 = 3;
/// Beacons missed in a row after which an access point is given up (mac80211: 7).
const BEACONS_LOST: u64 = 7;
/// A client that has neither sent nor received anything for so long shows its access point that it is there (mac80211:
/// IEEE80211_CONNECTION_IDLE_TIME).
const IDLE: Time = Time::from_secs(30);
/// Weight of a new sample in the mean signal strength, which is taken in decibels.
const WEIGHT: f64 = 0.25;
/// How long before a due beacon a station wakes.
const GUARD: Time = Time::from_us(500);
/// How long a station waits for a beacon that is late because the medium is busy.
const LATE: Time = Time::from_ms(20);

/// Effects of a client's or an access point's inputs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wish {
    /// Send this.
    Send(Management, StationId),
    /// The client has changed its access point, or lost it.
    Moved {
        /// The former access point.
        from: Option<StationId>,
        /// The new access point.
        to: Option<StationId>,
    },
    /// A station is gone: its state is to be removed.
    Forget(StationId),
}

/// Contents of an access point's frame beside its kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Told {
    /// Time at which its last beacon was due, however late it was sent.
    pub due: Time,
    /// Packets for this client are buffered, or the client is polled.
    pub waiting: bool,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Joining {
    /// Not joining: the client has an access point.
    No,
    /// Probes at that time, or takes the best of those who have answered.
    Probing { at: Time, asked: bool },
    /// Asks this one: whether already to associate, until when, how often.
    Asking { ap: StationId, associate: bool, until: Time, tries: u32 },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rest {
    Awake,
    /// Has announced dozing, and dozes when that is acknowledged.
    Announced,
    Dozing {
        until: Time,
    },
    /// Listens for a beacon.
    Listening {
        until: Time,
    },
    /// Fetches what the access point has.
    Fetching {
        until: Time,
    },
}

/// An access point whose frames were received.
#[derive(Clone, Copy, Debug)]
struct ScanResult {
    ap: StationId,
    /// Exponentially weighted mean of the received power.
    mean_dbm: f64,
    /// Time of the last frame.
    at: Time,
}

/// The state of a client.
#[derive(Clone, Debug)]
pub struct Client {
    spec: ClientSpec,
    beacon_interval: Time,
    ap: Option<StationId>,
    joining: Joining,
    scan: Vec<ScanResult>,
    /// When the last beacon received was due.
    last_beacon: Time,
    rest: Rest,
    /// When something last came or went.
    active: Time,
}

impl Client {
    /// Begins to look for an access point at `now`; beacons come every `beacon_interval`.
    pub fn new(spec: ClientSpec, beacon_interval: Time, now: Time) -> Self {
        let (joining, rest) = (Joining::Probing { at: now, asked: false }, Rest::Awake);
        let scan = Vec::new();
        Self { spec, beacon_interval, ap: None, joining, scan, last_beacon: now, rest, active: now }
    }
    /// A client of the same settings that starts at `now`.
    pub fn restarted(&self, now: Time) -> Self {
        Self::new(self.spec, self.beacon_interval, now)
    }
    /// The access point it is with.
    pub const fn access_point(&self) -> Option<StationId> {
        self.ap
    }
    /// Whether its radio is off.
    pub const fn dozes(&self) -> bool {
        matches!(self.rest, Rest::Dozing { .. })
    }

    /// When it wants [`Client::on_timer`] to be called.
    pub fn deadline(&self) -> Time {
        let joining = match self.joining {
            Joining::No => Time::MAX,
            Joining::Probing { at, .. } | Joining::Asking { until: at, .. } => at,
        };
        let lost = if self.ap.is_some() { self.last_beacon + self.patience() } else { Time::MAX };
        let idle = if self.ap.is_some() { self.active + IDLE } else { Time::MAX };
        let rest = match self.rest {
            Rest::Awake if self.may_doze() => self.active + self.spec.awake_for,
            Rest::Awake | Rest::Announced => Time::MAX,
            Rest::Dozing { until } | Rest::Listening { until } | Rest::Fetching { until } => until,
        };
        joining.min(lost).min(idle).min(rest)
    }
    /// Time has come to [`Client::deadline`]; early is harmless.
    pub fn on_timer(&mut self, now: Time, wishes: &mut Vec<Wish>) {
        if self.ap.is_some() && now >= self.last_beacon + self.patience() {
            self.lose(now, wishes);
        }
        if let Some(ap) = self.ap.filter(|_| now >= self.active + IDLE) {
            self.active = now;
            match self.rest {
                Rest::Awake => wishes.push(Wish::Send(Management::Null { dozes: false }, ap)),
                Rest::Announced => {}
                _ => self.retire(wishes),
            }
        }
        match self.joining {
            Joining::Probing { at, asked: false } if at <= now => {
                wishes.push(Wish::Send(Management::ProbeRequest, StationId::BROADCAST));
                self.joining = Joining::Probing { at: now + PROBE_WAIT, asked: true };
            }
            Joining::Probing { at, asked: true } if at <= now => match self.best(now) {
                Some((best, _)) => self.ask(now, best, wishes),
                None => self.joining = Joining::Probing { at: now + PROBE_AGAIN, asked: false },
            },
            Joining::Asking { ap, associate, until, tries } if until <= now => {
                if tries < JOIN_TRIES {
                    self.request(now, ap, associate, tries + 1, wishes);
                } else {
                    self.scan.retain(|result| result.ap != ap);
                    self.joining =
                        if self.ap.is_some() { Joining::No } else { Joining::Probing { at: now, asked: false } };
                }
            }
            _ => {}
        }
        match self.rest {
            Rest::Awake if self.may_doze() && self.active + self.spec.awake_for <= now => self.retire(wishes),
            Rest::Dozing { until } if until <= now => self.rest = Rest::Listening { until: until + GUARD + LATE },
            // The beacon has been missed, or the packet has not come: till the next one.
            Rest::Listening { until } | Rest::Fetching { until } if until <= now => self.doze(now),
            _ => {}
        }
    }
    /// A management frame of an access point has arrived with this strength.
    pub fn on_frame(
        &mut self,
        now: Time,
        from: StationId,
        frame: Management,
        power: Dbm,
        told: Told,
        wishes: &mut Vec<Wish>,
    ) {
        match frame {
            Management::Beacon | Management::ProbeResponse => {
                self.note(now, from, power);
                if self.ap == Some(from) && frame == Management::Beacon {
                    self.on_beacon(now, from, told, wishes);
                }
            }
            Management::AuthenticationGranted => {
                if matches!(self.joining, Joining::Asking { ap, associate: false, .. } if ap == from) {
                    self.request(now, from, true, 1, wishes);
                }
            }
            Management::AssociationGranted => {
                if matches!(self.joining, Joining::Asking { ap, associate: true, .. } if ap == from) {
                    self.joining = Joining::No;
                    wishes.push(Wish::Moved { from: self.ap.replace(from), to: Some(from) });
                    (self.last_beacon, self.active, self.rest) = (told.due, now, Rest::Awake);
                }
            }
            Management::Deauthentication if self.ap == Some(from) => self.lose(now, wishes),
            // A poll: its acknowledgement is the answer.
            Management::Null { .. } if matches!(self.rest, Rest::Fetching { .. }) => self.doze(now),
            _ => {}
        }
    }
    /// Data have arrived; `more` wait at the access point.
    pub fn on_data(&mut self, now: Time, more: bool, wishes: &mut Vec<Wish>) {
        self.active = now;
        if let (Rest::Fetching { .. }, Some(ap)) = (self.rest, self.ap) {
            if more {
                self.fetch(now, ap, wishes);
            } else {
                self.doze(now);
            }
        }
    }
    /// The client has a packet to send: it is awake from now on.
    pub fn on_send(&mut self, now: Time, wishes: &mut Vec<Wish>) {
        self.active = now;
        if self.rest != Rest::Awake
            && let Some(ap) = self.ap
        {
            self.rest = Rest::Awake;
            wishes.push(Wish::Send(Management::Null { dozes: false }, ap));
        }
    }
    /// Its announcement to doze was acknowledged, or given up; `idle`: it has nothing to send.
    pub fn on_announced(&mut self, now: Time, acknowledged: bool, idle: bool) {
        if self.rest == Rest::Announced {
            if acknowledged && idle {
                self.doze(now);
            } else {
                (self.rest, self.active) = (Rest::Awake, now);
            }
        }
    }

    /// The client has lost its access point and looks for one.
    fn lose(&mut self, now: Time, wishes: &mut Vec<Wish>) {
        wishes.push(Wish::Moved { from: self.ap.take(), to: None });
        self.rest = Rest::Awake;
        self.joining = Joining::Probing { at: now, asked: false };
    }
    fn on_beacon(&mut self, now: Time, ap: StationId, told: Told, wishes: &mut Vec<Wish>) {
        self.last_beacon = told.due;
        match self.rest {
            Rest::Listening { .. } if told.waiting => self.fetch(now, ap, wishes),
            Rest::Listening { .. } => self.doze(now),
            _ => {}
        }
        let own = self.strength(ap);
        if self.joining == Joining::No
            && own < self.spec.roam_below.0
            && let Some((best, power)) = self.best(now)
            && best != ap
            && power >= own + self.spec.hysteresis_db
        {
            self.ask(now, best, wishes);
        }
    }
    /// Takes in the received power of an access point's frame.
    fn note(&mut self, now: Time, from: StationId, power: Dbm) {
        if let Some(result) = self.scan.iter_mut().find(|result| result.ap == from) {
            // An old mean says nothing about the present distance.
            let old = now.saturating_sub(result.at) > self.beacon_interval * 10;
            result.mean_dbm += if old { 1.0 } else { WEIGHT } * (power.0 - result.mean_dbm);
            result.at = now;
        } else {
            self.scan.push(ScanResult { ap: from, mean_dbm: power.0, at: now });
        }
    }
    fn strength(&self, ap: StationId) -> f64 {
        self.scan.iter().find(|result| result.ap == ap).map_or(f64::NEG_INFINITY, |result| result.mean_dbm)
    }
    /// The strongest access point of the last three beacon intervals, and its mean power in dBm.
    fn best(&self, now: Time) -> Option<(StationId, f64)> {
        let fresh = self.scan.iter().filter(|result| now.saturating_sub(result.at) <= self.beacon_interval * 3);
        let best = fresh.reduce(|best, other| if other.mean_dbm > best.mean_dbm { other } else { best })?;
        Some((best.ap, best.mean_dbm))
    }
    fn ask(&mut self, now: Time, ap: StationId, wishes: &mut Vec<Wish>) {
        self.request(now, ap, false, 1, wishes);
    }
    fn request(&mut self, now: Time, ap: StationId, associate: bool, tries: u32, wishes: &mut Vec<Wish>) {
        let frame = if associate { Management::Association } else { Management::Authentication };
        wishes.push(Wish::Send(frame, ap));
        self.joining = Joining::Asking { ap, associate, until: now + JOIN_WAIT, tries };
    }
    fn may_doze(&self) -> bool {
        self.spec.listen_interval.is_some() && self.ap.is_some() && self.joining == Joining::No
    }
    /// Tells the access point that it dozes.
    fn retire(&mut self, wishes: &mut Vec<Wish>) {
        if let Some(ap) = self.ap {
            self.rest = Rest::Announced;
            wishes.push(Wish::Send(Management::Null { dozes: true }, ap));
        }
    }
    /// Dozes until the next beacon that it listens to.
    fn doze(&mut self, now: Time) {
        let step = self.beacon_interval * u64::from(self.spec.listen_interval.unwrap_or(1).max(1));
        let steps = (now + GUARD).saturating_sub(self.last_beacon) / step + 1;
        self.rest = Rest::Dozing { until: (self.last_beacon + step * steps).saturating_sub(GUARD) };
    }
    fn fetch(&mut self, now: Time, ap: StationId, wishes: &mut Vec<Wish>) {
        wishes.push(Wish::Send(Management::PsPoll, ap));
        self.rest = Rest::Fetching { until: now + self.beacon_interval };
    }
    /// Silence after which the access point is given up.
    fn patience(&self) -> Time {
        let listens = u64::from(self.spec.listen_interval.unwrap_or(1).max(1));
        self.beacon_interval * (BEACONS_LOST * listens)
    }
}
