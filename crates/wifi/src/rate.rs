//! Rate control: which mode a station sends to a peer in. Pure state machines, one per (station, peer): asked before a
//! frame, told after each transmission.

mod arf;
mod ideal;
mod minstrel;

pub use arf::Arf;
pub use ideal::Ideal;
pub use minstrel::Minstrel;

use crate::phy::{ACK_BYTES, ErrorTable, Mode, Settings};
use des::RandomStream;
use units::Time;

/// How a transmission is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Choice {
    /// The mode.
    pub mode: Mode,
    /// A probe: sent to learn about the mode. One MPDU is enough; an A-MPDU is too much.
    pub probe: bool,
    /// Announced by an RTS, however short the frame is.
    pub announced: bool,
}

/// The rate control algorithm of a station.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum RateSpec {
    /// Always this mode.
    Fixed(Mode),
    /// Automatic rate fallback.
    Arf,
    /// Adaptive ARF.
    Aarf,
    /// Minstrel-HT, which serves older standards too.
    Minstrel,
    /// The mode with the greatest goodput at the signal-to-noise ratio last observed.
    Ideal,
}

/// The rate control of a station towards one peer.
#[derive(Debug)]
pub enum RateControl {
    /// One mode for all frames.
    Fixed(Mode),
    /// ARF and AARF.
    Arf(Arf),
    /// Minstrel-HT's statistics and samples.
    Minstrel(Box<Minstrel>),
    /// By signal-to-noise ratio.
    Ideal(Ideal),
}

impl RateControl {
    /// For a station with these settings, of whose modes the adaptive ones take those that `peer` allows too. `random`
    /// picks Minstrel's samples.
    pub fn new(
        spec: RateSpec,
        settings: &Settings,
        peer: &Settings,
        table: &'static ErrorTable,
        random: RandomStream,
    ) -> Self {
        let modes: Vec<Mode> = settings.modes().filter(|mode| mode.streams() <= u32::from(peer.streams)).collect();
        match spec {
            RateSpec::Fixed(mode) => Self::Fixed(mode),
            RateSpec::Arf => Self::Arf(Arf::new(modes)),
            RateSpec::Aarf => Self::Arf(Arf::adaptive(modes)),
            RateSpec::Minstrel => Self::Minstrel(Box::new(Minstrel::new(settings, &modes, random))),
            RateSpec::Ideal => Self::Ideal(Ideal::new(settings, &modes, table)),
        }
    }
    /// Before a transmission, the first of a frame being number 0: with what it goes.
    pub fn select(&mut self, now: Time, transmission: u32) -> Choice {
        let mode = match self {
            Self::Minstrel(minstrel) => return minstrel.select(now, transmission),
            Self::Fixed(mode) => *mode,
            Self::Arf(arf) => arf.mode(),
            Self::Ideal(ideal) => ideal.mode(),
        };
        Choice { mode, probe: false, announced: false }
    }
    /// After a transmission: of `attempts` MPDUs in it (one, or those of an A-MPDU) so many were acknowledged. ARF
    /// takes it for a success if half were.
    pub fn report(&mut self, mode: Mode, attempts: u32, successes: u32) {
        match self {
            Self::Fixed(_) | Self::Ideal(_) => {}
            Self::Arf(arf) => arf.report(2 * successes >= attempts),
            Self::Minstrel(minstrel) => minstrel.report(mode, attempts, successes),
        }
    }
    /// A frame of the peer's was heard with this ratio of signal to noise over 20 MHz: with powers alike, the peer
    /// hears this station as well.
    pub fn observe(&mut self, snr: f64) {
        if let Self::Ideal(ideal) = self {
            ideal.observe(snr);
        }
    }
}

/// What one MPDU of `bytes` costs in time, in seconds, as one of `count` in a PPDU: contention with nobody else,
/// preamble, payload, answer.
fn airtime(settings: &Settings, mode: Mode, bytes: u32, count: f64) -> f64 {
    let timing = settings.timing();
    let answer = settings.response(mode).duration(ACK_BYTES);
    let fixed = timing.difs + timing.slot * u64::from(timing.cw_min) / 2 + timing.sifs + answer + mode.preamble();
    fixed.as_secs_f64() / count + mode.payload(bytes).as_secs_f64()
}
