//! What the streams do together, for whoever decides how many there are to be.

use super::lane::{Gauge, Lane};
use crate::optimizer::{Path, Totals, Tuner};
use std::ops::{Add, Sub};
use units::{Bytes, Time};

/// What a stream's TCP has counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Census {
    /// Bytes acknowledged by the far end's kernel.
    pub delivered: u64,
    /// Segments with data sent, retransmissions included.
    pub sent: u64,
    /// Segments retransmitted.
    pub lost: u64,
    /// Time with data under way.
    pub busy: Time,
    /// Of it, the time that the peer's window or the send buffer was the limit.
    pub limited: Time,
}

impl Add for Census {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            delivered: self.delivered + other.delivered,
            sent: self.sent + other.sent,
            lost: self.lost + other.lost,
            busy: self.busy.saturating_add(other.busy),
            limited: self.limited.saturating_add(other.limited),
        }
    }
}

impl Sub for Census {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self {
            delivered: self.delivered.saturating_sub(other.delivered),
            sent: self.sent.saturating_sub(other.sent),
            lost: self.lost.saturating_sub(other.lost),
            busy: self.busy.saturating_sub(other.busy),
            limited: self.limited.saturating_sub(other.limited),
        }
    }
}

/// The part of an epoch in which nothing waits for a stream that makes the epoch an idle one: rates of such say nothing.
const IDLE: f64 = 0.2;
/// Until it is known.
const UNKNOWN_RTT: Time = Time::from_ms(100);

/// Measures epochs, and asks the tuner.
#[derive(Clone, Debug)]
pub(super) struct Tuning {
    pub tuner: Tuner,
    /// What streams that are gone had counted.
    gone: Census,
    /// At the end of the last epoch.
    last: Census,
    epoch_at: Time,
    /// Time in this epoch with nothing to send, and since when there has been nothing.
    idle: Time,
    idle_since: Option<Time>,
}

impl Tuning {
    pub fn new(now: Time, tuner: Tuner) -> Self {
        Self {
            tuner,
            gone: Census::default(),
            last: Census::default(),
            epoch_at: now,
            idle: Time::ZERO,
            idle_since: Some(now),
        }
    }
    /// Whether anything waits for a stream, from now on.
    pub fn note_hunger(&mut self, now: Time, hungry: bool) {
        match (hungry, self.idle_since) {
            (true, Some(since)) => {
                self.idle = self.idle.saturating_add(now.saturating_sub(since));
                self.idle_since = None;
            }
            (false, None) => self.idle_since = Some(now),
            _ => {}
        }
    }
    /// A stream is gone.
    pub fn bury(&mut self, gauge: &Gauge) {
        self.gone = self.gone + gauge.census;
    }
    /// What all streams have counted since the session began.
    pub fn census<'a>(&self, lanes: impl Iterator<Item = &'a Lane>) -> Census {
        lanes.fold(self.gone, |sum, lane| sum + lane.gauge.census)
    }

    /// An epoch is over. Returns whether there are to be more streams, or fewer.
    pub fn on_epoch<'a>(&mut self, now: Time, lanes: impl Iterator<Item = &'a Lane> + Clone) -> bool {
        let census = self.census(lanes.clone());
        let usable: Vec<&Gauge> = lanes.filter(|lane| !lane.draining).map(|lane| &lane.gauge).collect();
        let count = usable.len() as u64;
        let mean = |sum: Time| if count > 0 { sum / count } else { UNKNOWN_RTT };
        let sum = |of: fn(&Gauge) -> Time| usable.iter().fold(Time::ZERO, |sum, gauge| sum.saturating_add(of(gauge)));
        let since = census - self.last;
        self.note_hunger(now, true);
        let idle = self.idle.as_secs_f64() > IDLE * now.saturating_sub(self.epoch_at).as_secs_f64();
        let totals = Totals {
            delivered: census.delivered,
            sent: census.sent,
            lost: census.lost,
            rtt: mean(sum(|gauge| gauge.rtt)),
            // Diagnosis first: more streams lift the limit of a window, and no other.
            window_limited: since.busy > Time::ZERO && since.limited * 2 > since.busy,
            idle,
        };
        let path = Path {
            mss: Bytes::new(usable.iter().map(|gauge| gauge.mss).max().unwrap_or(0).max(1)),
            rtt: totals.rtt.max(Time::from_us(1)),
            loss: 0.0,
            rto: mean(sum(|gauge| gauge.rto)),
            window: Bytes::new(usable.iter().map(|gauge| gauge.window).sum::<u64>() / count.max(1)),
            per_ack: 2.0,
        };
        (self.last, self.epoch_at, self.idle) = (census, now, Time::ZERO);
        self.tuner.on_epoch(now, &totals, &path, count as u32)
    }
}
