//! Measurements of all streams together, for the tuner.

use super::stream_state::{Gauge, StreamState};
use crate::optimizer::{FEW, Law, Newcomers, Path, Totals, Tuner};
use crate::streams::{StreamId, Streams};
use std::collections::BTreeMap;
use std::ops::{Add, Sub};
use units::{Bytes, Time};

/// Counters of a stream's TCP.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Census {
    /// Bytes acknowledged by the far end's kernel.
    pub delivered: u64,
    /// Bytes received from the peer.
    pub received: u64,
    /// Segments with data sent, retransmissions included.
    pub sent: u64,
    /// Segments retransmitted.
    pub lost: u64,
    /// Time with data in flight (`tcpi_busy_time`).
    pub busy: Time,
    /// Of that time, how long the peer's window or the send buffer was the limit.
    pub limited: Time,
}

impl Add for Census {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            delivered: self.delivered + other.delivered,
            received: self.received + other.received,
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
            received: self.received.saturating_sub(other.received),
            sent: self.sent.saturating_sub(other.sent),
            lost: self.lost.saturating_sub(other.lost),
            busy: self.busy.saturating_sub(other.busy),
            limited: self.limited.saturating_sub(other.limited),
        }
    }
}

/// What keeps streams from carrying more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Waiting {
    /// Nothing is there to send.
    Application,
    /// The peer's credit is used up.
    Credit,
    /// Something waits for room on a stream.
    Streams,
}

/// Part of a round trip from which on the application or the credit counts as its limit.
const PART: f64 = 0.5;
/// Round-trip time while none is known.
const UNKNOWN_RTT: Time = Time::from_ms(100);
/// Growth of the window per round trip from which on a stream in slow start counts as growing.
const GROWTH: f64 = 1.1;

/// Counters of a stream at the end of the last round trip.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    lost: u64,
    window: u64,
}

/// Measures round trips and asks the tuner.
#[derive(Clone, Debug)]
pub(super) struct Tuning {
    pub tuner: Tuner,
    /// Counters of streams that are gone.
    gone: Census,
    /// Counters at the end of the last round trip.
    last: Census,
    round_at: Time,
    /// What is waited for and since when; and for how long it was the application, and the credit, in this round trip.
    waiting: Waiting,
    since: Time,
    idle: Time,
    withheld: Time,
    /// Some stream has lost segments in the last round trip, but not more than a few.
    lost_few: bool,
}

impl Tuning {
    pub fn new(now: Time, tuner: Tuner) -> Self {
        Self {
            tuner,
            gone: Census::default(),
            last: Census::default(),
            round_at: now,
            waiting: Waiting::Application,
            since: now,
            idle: Time::ZERO,
            withheld: Time::ZERO,
            lost_few: false,
        }
    }
    /// Notes what is waited for from now on.
    pub fn note(&mut self, now: Time, waiting: Waiting) {
        if waiting != self.waiting {
            self.count(now);
            self.waiting = waiting;
        }
    }
    fn count(&mut self, now: Time) {
        let time = now.saturating_sub(std::mem::replace(&mut self.since, now));
        match self.waiting {
            Waiting::Application => self.idle = self.idle.saturating_add(time),
            Waiting::Credit => self.withheld = self.withheld.saturating_add(time),
            Waiting::Streams => {}
        }
    }
    /// Keeps the counters of a stream that is gone.
    pub fn bury(&mut self, gauge: &Gauge) {
        self.gone = self.gone + gauge.census;
    }
    /// Counters of all streams since the session began.
    pub fn census<'a>(&self, states: impl Iterator<Item = &'a StreamState>) -> Census {
        states.fold(self.gone, |sum, state| sum + state.gauge.census)
    }

    /// Whether a stream has lost a few segments in the last round trip.
    pub fn has_lost_few(&self) -> bool {
        self.lost_few
    }
    /// Ends a round trip. Returns whether the session was application-limited for most of it.
    pub fn on_round(&mut self, now: Time, states: &mut BTreeMap<StreamId, StreamState>, streams: &Streams) -> bool {
        let census = self.census(states.values());
        let since = census - self.last;
        let mut sums = Sums::default();
        self.lost_few = false;
        let floors = streams.floors();
        let mut newcomers = Newcomers::beyond(self.tuner.before());
        for stream in streams.iter().filter(|stream| stream.is_used()) {
            let Some(state) = states.get_mut(&stream.id()) else { continue };
            let floor = floors.get(&stream.path()).copied().unwrap_or(state.gauge.rtt);
            self.look_at(state, &mut sums);
            sums.add(&state.gauge, floor);
            newcomers.add(state.gauge.window);
        }
        self.count(now);
        let part = |time: Time| time.as_secs_f64() > PART * now.saturating_sub(self.round_at).as_secs_f64();
        let totals = Totals {
            delivered: census.delivered,
            sent: census.sent,
            lost: census.lost,
            lost_most: sums.lost_most,
            rtt: sums.mean(sums.rtt),
            rtt_min: sums.mean(sums.rtt_min),
            mss: Bytes::new(sums.mss),
            law: sums.law,
            starting: sums.starting * 4 > sums.count,
            newcomers: newcomers.part(),
            // Diagnosis first: more streams lift the limits of windows and buffers, and no others.
            window_limited: (since.busy > Time::ZERO && since.limited * 2 > since.busy)
                || sums.starved * 2 > sums.count,
            credit_limited: part(self.withheld),
            idle: part(self.idle),
        };
        let path = Path {
            mss: Bytes::new(sums.mss.max(1)),
            rtt: totals.rtt.max(Time::from_us(1)),
            loss: 0.0,
            rto: sums.mean(sums.rto),
            window: Bytes::new(sums.window / u64::from(sums.count.max(1))),
            per_ack: 2.0,
        };
        (self.last, self.round_at, self.idle, self.withheld) = (census, now, Time::ZERO, Time::ZERO);
        self.tuner.on_round(now, &totals, &path, sums.count);
        totals.idle
    }
    fn look_at(&mut self, state: &mut StreamState, sums: &mut Sums) {
        let lost = state.gauge.census.lost;
        let window = state.gauge.window;
        let before = std::mem::replace(&mut state.seen, Seen { lost, window });
        let lost = lost.saturating_sub(before.lost);
        sums.lost_most = sums.lost_most.max(lost);
        self.lost_few |= (1..=FEW).contains(&lost);
        let grows = state.gauge.starting && window as f64 > GROWTH * before.window as f64;
        sums.starting += u32::from(grows && !state.gauge.starved);
        sums.starved += u32::from(state.gauge.starved);
    }
}

/// Sums over all streams in use.
#[derive(Default)]
struct Sums {
    count: u32,
    starting: u32,
    starved: u32,
    lost_most: u64,
    rtt: Time,
    rtt_min: Time,
    rto: Time,
    window: u64,
    mss: u64,
    law: Law,
}

impl Sums {
    fn add(&mut self, gauge: &Gauge, floor: Time) {
        self.count += 1;
        self.rtt = self.rtt.saturating_add(gauge.rtt);
        self.rtt_min = self.rtt_min.saturating_add(floor);
        self.rto = self.rto.saturating_add(gauge.rto);
        self.window += gauge.window;
        self.mss = self.mss.max(gauge.mss);
        self.law = gauge.law;
    }
    fn mean(&self, sum: Time) -> Time {
        if self.count > 0 { sum / u64::from(self.count) } else { UNKNOWN_RTT }
    }
}
