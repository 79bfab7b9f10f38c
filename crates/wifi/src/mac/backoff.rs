//! Contention of one access category: interframe space, contention window, slotted backoff (IEEE Std 802.11-2012, 9.3.3
//! and 9.19.2).

use super::channel::Channel;
use des::RandomStream;
use units::Time;

/// Contention parameters of a category. DCF is one category with DIFS.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parameters {
    /// DIFS or AIFS.
    pub ifs: Time,
    /// The slot.
    pub slot: Time,
    /// Backoff is drawn from 0..=cw_min at first,
    pub cw_min: u32,
    /// and never from beyond 0..=cw_max.
    pub cw_max: u32,
    /// How long the medium may be held once it has been won; zero: for one exchange.
    pub txop_limit: Time,
}

/// State of one category's contention. Backoff counts down only while the medium is free. It is computed when that
/// changes, not slot by slot.
#[derive(Clone, Debug)]
pub struct Contention {
    parameters: Parameters,
    cw: u32,
    /// Slots of backoff left at `since`, or when the medium was free for the interframe space, whichever is later.
    slots: u32,
    since: Time,
    /// There is something to send.
    wants: bool,
    /// The packet arrived at a free medium: it needs no backoff if the medium stays free for the interframe space.
    immediate: bool,
    /// Its slot began at the same instant as another station's signal, too late to sense it: a collision.
    committed: bool,
}

impl Contention {
    /// Nothing to send, no backoff.
    pub const fn new(parameters: Parameters) -> Self {
        let (slots, since) = (0, Time::ZERO);
        Self { parameters, cw: parameters.cw_min, slots, since, wants: false, immediate: false, committed: false }
    }

    /// Interframe space and contention window.
    pub const fn parameters(&self) -> &Parameters {
        &self.parameters
    }
    /// The window that the next backoff is drawn from: 0..=cw.
    pub const fn cw(&self) -> u32 {
        self.cw
    }
    /// Whether there is something to send.
    pub const fn wants(&self) -> bool {
        self.wants
    }

    /// When it may send, if the medium stays as it is (`free`: [`Channel::free_from`]).
    pub fn due(&self, free: Option<Time>) -> Option<Time> {
        match free {
            _ if !self.wants => None,
            _ if self.committed => Some(Time::ZERO),
            Some(free) => Some(self.begin(free) + self.parameters.slot * u64::from(self.slots)),
            None => None,
        }
    }
    /// There is something to send now. At an idle medium and with no backoff left it goes as soon as that has been idle
    /// for the interframe space.
    pub fn want(&mut self, now: Time, channel: &Channel, random: &mut RandomStream) {
        if self.wants {
            return;
        }
        self.count_down(now, channel.free_from());
        self.wants = true;
        if self.slots == 0 {
            self.immediate = !channel.is_busy() && channel.nav() <= now;
            if !self.immediate {
                self.draw(now, random);
            }
        }
    }
    /// There is nothing more to send; what is left of the backoff counts on.
    pub fn rest(&mut self) {
        self.wants = false;
        self.committed = false;
    }
    /// A signal begins at a medium that has been free since `free`. `contends`: the station is not in the middle of an
    /// exchange.
    pub fn freeze(&mut self, now: Time, free: Option<Time>, contends: bool, random: &mut RandomStream) {
        if contends && self.due(free).is_some_and(|due| due <= now) {
            self.committed = true;
        } else if self.wants && self.immediate {
            self.draw(now, random);
        } else {
            self.count_down(now, free);
        }
    }
    /// The station has won the medium.
    pub fn win(&mut self) {
        self.committed = false;
        self.immediate = false;
    }
    /// An exchange has succeeded, or its packet was given up: smallest window, backoff before the next one.
    pub fn succeed(&mut self, now: Time, random: &mut RandomStream) {
        self.cw = self.parameters.cw_min;
        self.draw(now, random);
    }
    /// An exchange has failed, or a higher category of the station was due in the same slot: a window twice as large.
    pub fn fail(&mut self, now: Time, random: &mut RandomStream) {
        self.cw = (2 * self.cw + 1).min(self.parameters.cw_max);
        self.draw(now, random);
    }
    /// Backoff from the window as it is.
    pub fn draw(&mut self, now: Time, random: &mut RandomStream) {
        self.slots = random.below(u64::from(self.cw) + 1) as u32;
        self.since = now;
        self.immediate = false;
        self.committed = false;
    }

    /// When the first slot begins.
    fn begin(&self, free: Time) -> Time {
        (free + self.parameters.ifs).max(self.since)
    }
    /// Takes off the slots that have passed.
    fn count_down(&mut self, now: Time, free: Option<Time>) {
        let Some(free) = free else { return };
        let begin = self.begin(free);
        if now < begin {
            return;
        }
        let passed = (now - begin) / self.parameters.slot;
        if passed >= u64::from(self.slots) {
            self.slots = 0;
            self.since = now;
        } else {
            self.slots -= passed as u32;
            self.since = begin + self.parameters.slot * passed;
        }
    }
}
