//! What empties a queue: a transmitter of some rate, or recorded opportunities to send.

use super::path::ETHERNET;
use super::trace::{OPPORTUNITY, Opportunities};
use net::Item;
use std::sync::Arc;
use units::{BitRate, Bytes, Time};

/// A transmitter, with the frame that it sends.
#[derive(Debug)]
pub struct Transmitter {
    sending: Option<Item>,
    pace: Pace,
}

#[derive(Debug)]
enum Pace {
    /// As fast as frames come.
    Free,
    /// Bits at a rate, until the frame in hand is out.
    Rate { rate: BitRate, done: Time },
    /// The rate is zero. So much of the frame in hand is left, in bits times 10^12.
    Halted { left: u128 },
    /// Bytes of IP packets at given times.
    Opportunities { of: Arc<Opportunities>, next: u64, left: u64 },
}

const PS_PER_S: u128 = 1_000_000_000_000;

impl Transmitter {
    pub fn new(rate: Option<BitRate>, opportunities: Option<Arc<Opportunities>>) -> Self {
        let pace = match (opportunities, rate) {
            (Some(of), _) => Pace::Opportunities { of, next: 0, left: 0 },
            (None, Some(rate)) => Pace::Rate { rate, done: Time::ZERO },
            (None, None) => Pace::Free,
        };
        Self { sending: None, pace }
    }

    /// Whether it can begin with a frame.
    pub fn is_free(&self) -> bool {
        self.sending.is_none()
    }

    /// Whether it sends at recorded times only.
    pub fn has_opportunities(&self) -> bool {
        matches!(self.pace, Pace::Opportunities { .. })
    }

    /// The next event: the end of the current transmission, or, with a frame in hand or `waiting`, the next
    /// opportunity.
    pub fn next(&self, waiting: bool) -> Time {
        match &self.pace {
            Pace::Rate { done, .. } if self.sending.is_some() => *done,
            Pace::Opportunities { of, next, .. } if self.sending.is_some() || waiting => of.at(*next),
            Pace::Free | Pace::Rate { .. } | Pace::Halted { .. } | Pace::Opportunities { .. } => Time::MAX,
        }
    }

    /// Begins with a frame at `now`. One that needs no time is out at once, and handed back.
    pub fn begin(&mut self, now: Time, item: Item) -> Option<Item> {
        match &mut self.pace {
            Pace::Free => return Some(item),
            Pace::Rate { rate, done } => {
                *done = now.saturating_add(rate.transmission_time(Bytes::new(item.bytes.into())));
            }
            Pace::Halted { left } => *left = u128::from(item.bytes) * 8 * PS_PER_S,
            Pace::Opportunities { left, .. } => *left = packet_bytes(item),
        }
        self.sending = Some(item);
        None
    }

    /// The frame in hand is out, if its time has come.
    pub fn finish(&mut self, now: Time) -> Option<Item> {
        match self.pace {
            Pace::Rate { done, .. } if done <= now => self.sending.take(),
            _ => None,
        }
    }

    /// Takes the next recorded opportunity if it is due at `now`. Returns the bytes that it carries.
    pub fn take_opportunity(&mut self, now: Time) -> Option<u64> {
        let Pace::Opportunities { of, next, .. } = &mut self.pace else { return None };
        if of.at(*next) > now {
            return None;
        }
        *next += 1;
        Some(OPPORTUNITY.get())
    }

    /// Spends an opportunity on the frame in hand, which is handed back when it is out.
    pub fn spend(&mut self, bytes: &mut u64) -> Option<Item> {
        let Pace::Opportunities { left, .. } = &mut self.pace else { return None };
        let sent = (*left).min(*bytes);
        *left -= sent;
        *bytes -= sent;
        if *left == 0 { self.sending.take() } else { None }
    }

    /// Nothing waits and none is in hand: opportunities up to `now` pass unused.
    pub fn pass(&mut self, now: Time) {
        if let (Pace::Opportunities { of, next, .. }, None) = (&mut self.pace, &self.sending)
            && of.at(*next) <= now
        {
            *next = of.after(now);
        }
    }

    /// Sets another rate from `now` on; the rest of the frame in hand is sent at that rate.
    pub fn change_rate(&mut self, now: Time, rate: BitRate) {
        let left = match &self.pace {
            Pace::Rate { rate, done } => u128::from(done.saturating_sub(now).as_ps()) * u128::from(rate.as_bps()),
            Pace::Halted { left } => *left,
            Pace::Free => 0,
            Pace::Opportunities { .. } => return,
        };
        self.pace = if rate == BitRate::default() {
            Pace::Halted { left }
        } else {
            let rest = Time::from_ps(u64::try_from(left.div_ceil(rate.as_bps().into())).unwrap_or(u64::MAX));
            Pace::Rate { rate, done: now.saturating_add(rest) }
        };
    }
}

/// Mahimahi counts IP packets.
fn packet_bytes(item: Item) -> u64 {
    u64::from(item.bytes).saturating_sub(ETHERNET).max(1)
}
