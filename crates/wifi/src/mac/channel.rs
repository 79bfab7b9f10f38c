//! Carrier sense: whether the medium is free for a station, and since when (IEEE Std 802.11-2012, 9.3.2).

use units::Time;

/// Carrier sense of one station: CCA, its own transmission, NAV and EIFS.
#[derive(Clone, Debug)]
pub struct Channel {
    /// The PHY senses a signal.
    sensed: bool,
    /// The station's own PPDU is on the air.
    transmitting: bool,
    /// Since when neither has been so.
    idle_since: Time,
    /// The last frame was received with errors: EIFS takes the place of DIFS.
    extended: bool,
    /// EIFS - DIFS.
    extension: Time,
    /// Others have reserved the medium up to here.
    nav: Time,
    /// The reservation stems from an RTS: nothing, if no frame begins before this time (9.3.2.4).
    nav_unless_silent: Option<Time>,
}

impl Channel {
    /// A free medium.
    pub const fn new(extension: Time) -> Self {
        Self {
            sensed: false,
            transmitting: false,
            idle_since: Time::ZERO,
            extended: false,
            extension,
            nav: Time::ZERO,
            nav_unless_silent: None,
        }
    }

    /// Whether there is a signal, one's own or another's.
    pub const fn is_busy(&self) -> bool {
        self.sensed || self.transmitting
    }
    /// NAV: when the reservation by others ends.
    pub fn nav(&self) -> Time {
        self.nav_unless_silent.map_or(self.nav, |silent| self.nav.min(silent))
    }
    /// From when on the interframe space before a backoff counts, EIFS beyond DIFS included; none while there is a
    /// signal.
    pub fn free_from(&self) -> Option<Time> {
        if self.is_busy() {
            return None;
        }
        let idle = if self.extended { self.idle_since + self.extension } else { self.idle_since };
        Some(idle.max(self.nav()))
    }

    /// The PHY's CCA changes.
    pub fn sense(&mut self, now: Time, busy: bool) {
        if busy {
            self.begin(now);
        } else if !self.transmitting && self.sensed {
            self.idle_since = now;
        }
        self.sensed = busy;
    }
    /// The station's own transmission begins or ends.
    pub fn transmit(&mut self, now: Time, on: bool) {
        if on {
            self.begin(now);
        } else if !self.sensed {
            self.idle_since = now;
        }
        self.transmitting = on;
        // EIFS ends with one's own transmission.
        self.extended = false;
    }
    /// A received frame has ended. One that was not `understood` is followed by EIFS.
    pub fn on_frame_end(&mut self, understood: bool) {
        self.extended = !understood;
    }
    /// A frame for others reserves the medium up to `until`; `silent` is set for an RTS: by then the answered sender
    /// must have begun.
    pub fn reserve(&mut self, until: Time, silent: Option<Time>) {
        let before = self.nav();
        if until > before {
            self.nav = until;
            self.nav_unless_silent = silent.map(|silent| silent.max(before));
        }
    }

    /// A signal begins: the reservation of an RTS, if any, has been taken up.
    fn begin(&mut self, now: Time) {
        if let Some(silent) = self.nav_unless_silent.take()
            && now > silent
        {
            self.nav = silent;
        }
    }
}
