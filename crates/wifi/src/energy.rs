//! Energy of a radio: the time in each state, times the state's power.

use units::{Energy, Power, Time};

/// State of a radio.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum RadioState {
    /// Off but for a clock: power save.
    Sleep,
    /// Listening to an idle channel.
    Idle,
    /// The channel is busy, but there is nothing to follow.
    Busy,
    /// Following a frame.
    Receive,
    /// Sending a frame.
    Transmit,
    /// Without power: its node is down.
    Off,
}

impl RadioState {
    /// All, in the order of their numbers.
    pub const ALL: [Self; 6] = [Self::Sleep, Self::Idle, Self::Busy, Self::Receive, Self::Transmit, Self::Off];
}

/// Power of a radio in each state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RadioPower {
    /// By [`RadioState`].
    pub states: [Power; 6],
}

impl RadioPower {
    /// A tablet's radio of 2012: 802.11n with one stream, 16 dBm.
    ///
    /// Tablets' chips are documented by integrators only; a single-chip radio of their class is the ATWILC3000A
    /// (Microchip, data sheet, 8.2.2), here with its currents at 3.3 V: 258 mA sending 54 Mbit/s at 16 dBm, 84 mA
    /// receiving; a receiver that listens is as awake as one that receives. Asleep but associated it draws 2.9 mA at
    /// the battery's 3.7 V, as the Nexus 7's own power profile says (Android, asus/grouper, `wifi.on`).
    pub const fn tablet() -> Self {
        let (sending, receiving) = (Power::from_mw(851), Power::from_mw(278));
        Self { states: [Power::from_nw(10_730_000), receiving, receiving, receiving, sending, Power::from_nw(0)] }
    }
    /// Power in a state.
    pub const fn of(&self, state: RadioState) -> Power {
        self.states[state as usize]
    }
}

/// How long a radio has been in which state.
#[derive(Clone, Debug)]
pub struct RadioTimes {
    state: RadioState,
    since: Time,
    times: [Time; 6],
}

impl RadioTimes {
    /// From `now` on in `state`.
    pub const fn new(now: Time, state: RadioState) -> Self {
        Self { state, since: now, times: [Time::ZERO; 6] }
    }
    /// The present state.
    pub const fn state(&self) -> RadioState {
        self.state
    }
    /// Goes over to `state`; times do not run back.
    pub fn set(&mut self, now: Time, state: RadioState) {
        if state == self.state {
            return;
        }
        self.times[self.state as usize] += now.saturating_sub(self.since);
        self.since = self.since.max(now);
        self.state = state;
    }
    /// How long it has been in `state` until `now`.
    pub fn time(&self, now: Time, state: RadioState) -> Time {
        let present = if state == self.state { now.saturating_sub(self.since) } else { Time::ZERO };
        self.times[state as usize] + present
    }
    /// Energy until `now`: the sum of power times time over the states, each rounded down to a nanojoule.
    pub fn energy(&self, now: Time, power: &RadioPower) -> Energy {
        RadioState::ALL.into_iter().map(|state| power.of(state).over(self.time(now, state))).sum()
    }
    /// When a store of so much, full at the beginning, is empty if the state stays; [`Time::MAX`] for never.
    pub fn empty_at(&self, now: Time, power: &RadioPower, store: Energy) -> Time {
        now.saturating_add(store.saturating_sub(self.energy(now, power)).lasts(power.of(self.state)))
    }
}
