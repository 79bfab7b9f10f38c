//! Minstrel-HT, the rate control of Linux: throughput by experience.
//!
//! Source, by behaviour: the documentation of mac80211's Minstrel (D. Smithies and F. Fietkau, linuxwireless.org) and
//! the redesign of its sampling in Linux 5.12 (F. Fietkau, "minstrel_ht: significantly redesign the rate probing
//! strategy", 2021). Since then it serves stations without HT as well.
//!
//! Every 50 ms the share of MPDUs that got through in each mode enters a moving average (three quarters of the old
//! value). A mode's throughput is that share, not more than 90 %, over the time of an MPDU; below 10 % it is nothing. A
//! frame is sent in the mode of the best throughput, then in the second best, then in the most reliable, at last in the
//! slowest. All but the first of these are announced by RTS, as the receiver may have missed the frame for another
//! reason than its mode (`minstrel_ht_set_rate` in Linux 6.15: `offset > 0`; ns-3's MinstrelHt announces none). Every
//! 20 ms a frame tries another mode first: of six samples three are the next faster mode, two a random faster one, one
//! a mode between the reliable and the best; they go round the numbers of streams. Left out: the second-order filter
//! that newer kernels have instead of the moving average; that since 5.12 a sample that fails is followed by the second
//! best mode, here by the best; the third best mode of chips that take a table of four.

use super::{Choice, airtime};
use crate::phy::{Mode, Settings};
use des::RandomStream;
use units::Time;

const UPDATE: Time = Time::from_ms(50);
const SAMPLE: Time = Time::from_ms(20);
/// Weight of the old average.
const OLD: f64 = 0.75;
const FRAME_BYTES: u32 = 1_200;
/// A stage of the chain may take so long, with so many transmissions at most.
const STAGE: f64 = 6e-3;
const MOST_TRANSMISSIONS: u8 = 7;

#[derive(Clone, Copy, Debug)]
enum Sample {
    /// The next faster mode.
    Increment,
    /// Any faster mode.
    Jump,
    /// One between the most reliable and the best.
    Slow,
}

const SAMPLES: [Sample; 6] =
    [Sample::Increment, Sample::Jump, Sample::Increment, Sample::Jump, Sample::Increment, Sample::Slow];

/// Statistics of one mode.
#[derive(Debug)]
struct Rate {
    mode: Mode,
    /// In this window.
    attempts: u32,
    successes: u32,
    /// Average share that got through; `None` before the first attempt.
    success: Option<f64>,
    /// Time of an MPDU, in seconds.
    airtime: f64,
    transmissions: u8,
}

impl Rate {
    fn success(&self) -> f64 {
        self.success.unwrap_or(0.0)
    }
    fn throughput(&self) -> f64 {
        if self.success() < 0.1 { 0.0 } else { self.success().min(0.9) / self.airtime }
    }
}

/// The state of Minstrel towards one peer.
#[derive(Debug)]
pub struct Minstrel {
    settings: Settings,
    rates: Vec<Rate>,
    /// Indices of best, second best, most reliable.
    best: usize,
    second: usize,
    reliable: usize,
    /// Modes of the present frame, with how many transmissions each; the slowest follows.
    chain: [(Mode, u8); 3],
    probe: bool,
    /// MPDUs per transmission, averaged.
    aggregate: f64,
    transmissions: u32,
    mpdus: u32,
    update_at: Time,
    sample_at: Time,
    /// The next kind of sample and the next number of streams.
    samples: usize,
    streams: u32,
    random: RandomStream,
}

impl Minstrel {
    /// Over these modes, slowest first, at least one; it begins with the slowest.
    pub fn new(settings: &Settings, modes: &[Mode], random: RandomStream) -> Self {
        let rate = |mode: &Mode| Rate {
            mode: *mode,
            attempts: 0,
            successes: 0,
            success: None,
            airtime: 0.0,
            transmissions: 0,
        };
        let mut minstrel = Self {
            settings: *settings,
            rates: modes.iter().map(rate).collect(),
            best: 0,
            second: 0,
            reliable: 0,
            chain: [(modes[0], 1); 3],
            probe: false,
            aggregate: 1.0,
            transmissions: 0,
            mpdus: 0,
            update_at: Time::ZERO,
            sample_at: Time::ZERO,
            samples: 0,
            streams: 1,
            random,
        };
        minstrel.measure();
        minstrel
    }

    /// The mode for transmission number `transmission` of a frame, from 0.
    pub fn select(&mut self, now: Time, transmission: u32) -> Choice {
        if transmission == 0 {
            self.begin(now);
        }
        let mut left = transmission;
        for (stage, (mode, transmissions)) in self.chain.into_iter().enumerate() {
            if left < u32::from(transmissions) {
                return Choice { mode, probe: self.probe && transmission == 0, announced: stage > 0 };
            }
            left -= u32::from(transmissions);
        }
        Choice { mode: self.rates[0].mode, probe: false, announced: true }
    }

    /// Takes in the result of a transmission.
    pub fn report(&mut self, mode: Mode, attempts: u32, successes: u32) {
        if let Some(rate) = self.rates.iter_mut().find(|rate| rate.mode == mode) {
            rate.attempts += attempts;
            rate.successes += successes;
            self.transmissions += 1;
            self.mpdus += attempts;
        }
    }

    /// Chooses the chain of the next frame.
    fn begin(&mut self, now: Time) {
        if now >= self.update_at {
            self.update();
            self.update_at = now + UPDATE;
        }
        let stage = |index: usize| (self.rates[index].mode, self.rates[index].transmissions);
        let [best, second, reliable] = [self.best, self.second, self.reliable].map(stage);
        (self.chain, self.probe) = ([best, second, reliable], false);
        if now >= self.sample_at {
            self.sample_at = now + SAMPLE;
            if let Some(sample) = self.sample() {
                (self.chain, self.probe) = ([(self.rates[sample].mode, 1), best, reliable], true);
            }
        }
    }

    /// Ends a window of statistics.
    fn update(&mut self) {
        if self.transmissions > 0 {
            let mean = f64::from(self.mpdus) / f64::from(self.transmissions);
            self.aggregate = OLD * self.aggregate + (1.0 - OLD) * mean;
            (self.transmissions, self.mpdus) = (0, 0);
        }
        self.measure();
        for rate in self.rates.iter_mut().filter(|rate| rate.attempts > 0) {
            let share = f64::from(rate.successes) / f64::from(rate.attempts);
            rate.success = Some(rate.success.map_or(share, |old| OLD * old + (1.0 - OLD) * share));
            (rate.attempts, rate.successes) = (0, 0);
        }
        let by = |value: &dyn Fn(&Rate) -> f64, but: Option<usize>| {
            // Ties go to the slowest.
            let others = (0..self.rates.len()).filter(|index| Some(*index) != but);
            others.reduce(|a, b| if value(&self.rates[b]) > value(&self.rates[a]) { b } else { a }).unwrap_or(0)
        };
        let best = by(&Rate::throughput, None);
        let second = by(&Rate::throughput, Some(best));
        // Among those that hardly ever fail the fastest.
        let reliability = |rate: &Rate| if rate.success() > 0.95 { 1.0 + rate.throughput() } else { rate.success() };
        let reliable = by(&reliability, None);
        (self.best, self.second, self.reliable) = (best, second, reliable);
    }

    /// Works out times with the present length of A-MPDUs.
    fn measure(&mut self) {
        for rate in &mut self.rates {
            rate.airtime = airtime(&self.settings, rate.mode, FRAME_BYTES, self.aggregate);
            let fit = STAGE / (rate.airtime * self.aggregate);
            rate.transmissions = (fit as u8).clamp(1, MOST_TRANSMISSIONS);
        }
    }

    /// The index of the mode to try, if there is any worth it.
    fn sample(&mut self) -> Option<usize> {
        let kind = SAMPLES[self.samples % SAMPLES.len()];
        self.samples += 1;
        let time = |index: usize| self.rates[index].airtime;
        let (best, reliable) = (self.best, self.reliable);
        let worth = |index: &usize| match kind {
            Sample::Increment | Sample::Jump => time(*index) < time(best),
            Sample::Slow => {
                let between = time(*index) > time(best) && time(*index) < time(reliable);
                between && ![best, self.second, reliable].contains(index)
            }
        };
        let most = self.rates.last().map_or(1, |rate| rate.mode.streams());
        for _ in 0..most {
            let streams = self.streams;
            self.streams = self.streams % most + 1;
            let candidates =
                || (0..self.rates.len()).filter(|i| self.rates[*i].mode.streams() == streams).filter(worth);
            let count = candidates().count();
            if count == 0 {
                continue;
            }
            return match kind {
                Sample::Increment => candidates().max_by(|a, b| time(*a).total_cmp(&time(*b))),
                Sample::Jump | Sample::Slow => {
                    let chosen = self.random.below(count as u64) as usize;
                    candidates().nth(chosen)
                }
            };
        }
        None
    }
}
