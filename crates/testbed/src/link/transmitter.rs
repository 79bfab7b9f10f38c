//! What empties a queue: a transmitter with a rate, or recorded opportunities to send.

use super::path::ETHERNET;
use super::trace::{OPPORTUNITY, Opportunities};
use net::Item;
use std::sync::Arc;
use units::{BitRate, Bytes, Time};

/// A transmitter and the frame that it sends.
#[derive(Debug)]
pub struct Transmitter {
    sending: Option<Item>,
    pace: Pace,
}

#[derive(Debug)]
enum Pace {
    /// As fast as frames arrive.
    Free,
    /// At a rate, until the current frame is out.
    Rate { rate: BitRate, done: Time },
    /// The rate is zero. `left` is the rest of the current frame, in bits times 10^12.
    Halted { left: u128 },
    /// Bytes of IP packets at recorded times.
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

    /// Whether it can start a frame.
    pub fn is_free(&self) -> bool {
        self.sending.is_none()
    }

    /// Whether it sends only at recorded times.
    pub fn has_opportunities(&self) -> bool {
        matches!(self.pace, Pace::Opportunities { .. })
    }

    /// The next event: the end of the current transmission, or, with a current frame or `waiting`, the next
    /// opportunity.
    pub fn next(&self, waiting: bool) -> Time {
        match &self.pace {
            Pace::Rate { done, .. } if self.sending.is_some() => *done,
            Pace::Opportunities { of, next, .. } if self.sending.is_some() || waiting => of.at(*next),
            Pace::Free | Pace::Rate { .. } | Pace::Halted { .. } | Pace::Opportunities { .. } => Time::MAX,
        }
    }

    /// Starts a frame at `now`. A frame that takes no time is returned at once.
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

    /// The current frame, if it is out by `now`.
    pub fn finish(&mut self, now: Time) -> Option<Item> {
        match self.pace {
            Pace::Rate { done, .. } if done <= now => self.sending.take(),
            _ => None,
        }
    }

    /// Takes the next opportunity if it is due at `now`; returns the bytes that it carries.
    pub fn take_opportunity(&mut self, now: Time) -> Option<u64> {
        let Pace::Opportunities { of, next, .. } = &mut self.pace else { return None };
        if of.at(*next) > now {
            return None;
        }
        *next += 1;
        Some(OPPORTUNITY.get())
    }

    /// Spends an opportunity on the current frame; returns the frame when it is out.
    pub fn spend(&mut self, bytes: &mut u64) -> Option<Item> {
        let Pace::Opportunities { left, .. } = &mut self.pace else { return None };
        let sent = (*left).min(*bytes);
        *left -= sent;
        *bytes -= sent;
        if *left == 0 { self.sending.take() } else { None }
    }

    /// Lets opportunities up to `now` pass unused, when there is neither a waiting nor a current frame.
    pub fn pass(&mut self, now: Time) {
        if let (Pace::Opportunities { of, next, .. }, None) = (&mut self.pace, &self.sending)
            && of.at(*next) <= now
        {
            *next = of.after(now);
        }
    }

    /// From now on it sends as fast as frames arrive. Returns the current frame, which is out.
    pub fn free(&mut self) -> Option<Item> {
        if self.has_opportunities() {
            return None;
        }
        self.pace = Pace::Free;
        self.sending.take()
    }

    /// Changes the rate at `now`. The rest of the current frame is sent at the new rate.
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

/// IP bytes of a frame, which Mahimahi counts.
fn packet_bytes(item: Item) -> u64 {
    u64::from(item.bytes).saturating_sub(ETHERNET).max(1)
}
