//! Reception by thresholds alone, as ns-2 has it (mac-802_11.cc and wireless-phy.cc of ns-2.35, by behaviour): the
//! studies of the 2000s are made with it.
//!
//! A signal below `carrier_sense` is not there. One below `reception` keeps the channel busy and is broken. Of two that
//! overlap the first survives if it is stronger by `capture`; else both are lost, also if the second is the stronger.
//! Interference does not add up, and noise does not matter.

use super::reception::{Ended, Signal};
use crate::propagation::Dbm;

/// The thresholds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Thresholds {
    /// The weakest signal that is received right (RXThresh).
    pub reception: Dbm,
    /// The weakest signal that is noticed (CSThresh).
    pub carrier_sense: Dbm,
    /// How much stronger than a later signal the first must be, in decibels (CPThresh: 10).
    pub capture_db: f64,
}

/// One station's receiver.
#[derive(Debug)]
pub struct ThresholdReception {
    reception: f64,
    carrier_sense: f64,
    capture: f64,
    /// Signals that are noticed.
    air: Vec<Sensed>,
    sending: bool,
}

#[derive(Clone, Copy, Debug)]
struct Sensed {
    id: u32,
    milliwatts: f64,
    fate: Fate,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    /// Followed so far, right or (too weak, cut off by sending) broken.
    Followed { right: bool },
    /// One of those that collided.
    Collided,
    /// Screened by a stronger one that came first.
    Screened,
}

impl ThresholdReception {
    /// A receiver with these thresholds.
    pub fn new(thresholds: &Thresholds) -> Self {
        Self {
            reception: thresholds.reception.milliwatts(),
            carrier_sense: thresholds.carrier_sense.milliwatts(),
            capture: libm::pow(10.0, thresholds.capture_db / 10.0),
            air: Vec::new(),
            sending: false,
        }
    }

    /// Whether the station sends or notices a signal.
    pub fn busy(&self) -> bool {
        self.sending || !self.air.is_empty()
    }
    /// The PPDU that is followed.
    pub fn following(&self) -> Option<u32> {
        self.air.iter().find(|sensed| matches!(sensed.fate, Fate::Followed { .. })).map(|sensed| sensed.id)
    }

    /// The station begins or ends to send: what it was receiving is broken.
    pub fn send(&mut self, on: bool) {
        self.sending = on;
        for sensed in &mut self.air {
            if let Fate::Followed { right } = &mut sensed.fate {
                *right &= !on;
            }
        }
    }

    /// A signal begins here; true if it is followed from now on.
    pub fn begin(&mut self, signal: &Signal) -> bool {
        let Signal { id, milliwatts, .. } = *signal;
        if milliwatts < self.carrier_sense {
            return false;
        }
        let right = milliwatts >= self.reception && !self.sending;
        let current = self.air.iter_mut().find(|sensed| sensed.fate != Fate::Screened);
        let fate = match current {
            None => Fate::Followed { right },
            Some(first) if first.milliwatts >= self.capture * milliwatts => Fate::Screened,
            Some(first) => {
                first.fate = Fate::Collided;
                Fate::Collided
            }
        };
        self.air.push(Sensed { id, milliwatts, fate });
        matches!(fate, Fate::Followed { .. })
    }

    /// A signal ends here. Of several that collided the last to end tells.
    pub fn end(&mut self, id: u32) -> Ended {
        let Some(place) = self.air.iter().position(|sensed| sensed.id == id) else { return Ended::Unheard };
        let colliding = |others: &[Sensed]| others.iter().any(|sensed| sensed.fate == Fate::Collided);
        match self.air.remove(place).fate {
            Fate::Followed { right: true } => Ended::Payload,
            Fate::Collided if colliding(&self.air) => Ended::Unheard,
            Fate::Followed { right: false } | Fate::Collided => Ended::Broken,
            Fate::Screened => Ended::Unheard,
        }
    }
}
