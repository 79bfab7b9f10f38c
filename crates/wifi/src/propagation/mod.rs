//! How strong a signal arrives: path loss, shadowing, fading; and what distance a radio reaches.
//!
//! received = transmitted + both antennas' gains - path loss + shadowing + fading, in decibels. The first four are the
//! mean ([`Propagation::mean`]), which positions alone decide; the other two are [`Propagation::variation`].

mod fading;
mod links;
mod path_loss;
mod radio;
mod shadowing;

pub use fading::{Fading, WAVES};
pub use path_loss::PathLoss;
pub use radio::{Dbm, Radio, RadioError, thermal_noise};
pub use shadowing::Shadowing;

use crate::mobility::Position;
use fading::Fade;
use links::{Links, Pair};
use shadowing::Shadow;
use thiserror::Error;
use units::Time;

const LIGHT_MPS: f64 = 299_792_458.0;

/// Why propagation cannot be as described.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum PropagationError {
    /// Not above 0 Hz.
    #[error("a frequency of {0} Hz is impossible: it must be above 0 Hz")]
    Frequency(f64),
    /// Not above 0.
    #[error(
        "a path-loss exponent of {0} is impossible: power falls with distance, so it must be above 0 (free space: 2, \
         indoors: 3 to 6)"
    )]
    Exponent(f64),
    /// Not above 0 m.
    #[error("a reference distance of {0} m is impossible: it must be above 0 m")]
    ReferenceDistance(f64),
    /// Below 0 dB.
    #[error("a loss of {0} dB at the reference distance is impossible: it must be at least 0 dB")]
    ReferenceLoss(f64),
    /// Below 0 dB.
    #[error("a shadowing deviation of {0} dB is impossible: it must be at least 0 dB (outdoors: 4 to 12 dB)")]
    Sigma(f64),
    /// Not above 0 m.
    #[error(
        "a decorrelation distance of {0} m is impossible: it must be above 0 m (indoors: about 5 m, outdoors: 10 to \
         100 m)"
    )]
    DecorrelationDistance(f64),
    /// A decorrelation time of zero.
    #[error("shadowing cannot decorrelate in no time: its decorrelation time must be above 0 s")]
    DecorrelationTime,
    /// Below 1/2, or below 1 with correlated fading.
    #[error(
        "a Nakagami shape m of {0} is impossible: it must be at least 0.5, or 1 where fading is correlated (Rayleigh: \
         1)"
    )]
    Shape(f64),
    /// Below 0 m/s.
    #[error("surroundings that move at {0} m/s are impossible: the speed must be at least 0 m/s")]
    SpeedAround(f64),
    /// Not above 0 m.
    #[error("two-ray ground needs antennas above the ground: a height of {0} m leaves no reflected ray")]
    TwoRayHeight(f64),
    /// Not above 0 m.
    #[error("a range of {0} m is impossible: it must be above 0 m")]
    Range(f64),
    /// A radio's settings are wrong.
    #[error(transparent)]
    Radio(#[from] RadioError),
}

/// The air between all nodes of a run, on one frequency.
#[derive(Debug, Clone)]
pub struct Propagation {
    seed: u64,
    wavelength_m: f64,
    path_loss: PathLoss,
    shadowing: Shadowing,
    fading: Fading,
    shadows: Links<Shadow>,
    fades: Links<Fade>,
}

impl Propagation {
    /// Propagation at `frequency_hz`; `seed` decides what is random in it.
    pub fn new(
        seed: u64,
        frequency_hz: f64,
        path_loss: PathLoss,
        shadowing: Shadowing,
        fading: Fading,
    ) -> Result<Self, PropagationError> {
        if !(frequency_hz.is_finite() && frequency_hz > 0.0) {
            return Err(PropagationError::Frequency(frequency_hz));
        }
        path_loss.check()?;
        shadowing.check()?;
        fading.check()?;
        let wavelength_m = LIGHT_MPS / frequency_hz;
        let path_loss = path_loss.with_reference(wavelength_m);
        Ok(Self { seed, wavelength_m, path_loss, shadowing, fading, shadows: Links::new(), fades: Links::new() })
    }

    /// Whether this model can be asked about such a radio.
    pub fn check(&self, radio: &Radio) -> Result<(), PropagationError> {
        radio.check()?;
        if self.path_loss == PathLoss::TwoRayGround && radio.height_m == 0.0 {
            return Err(PropagationError::TwoRayHeight(radio.height_m));
        }
        Ok(())
    }

    /// The power that arrives of a frame sent now. `link` numbers transmitter and receiver; the way back is the same
    /// link. Call it once per frame and receiver, with times that do not run back.
    pub fn received(
        &mut self,
        now: Time,
        link: (u32, u32),
        transmitter: (&Radio, Position),
        receiver: (&Radio, Position),
    ) -> Dbm {
        self.mean(transmitter, receiver) + self.variation(now, link, (transmitter.1, receiver.1))
    }

    /// The power that arrives without shadowing and fading.
    pub fn mean(&self, transmitter: (&Radio, Position), receiver: (&Radio, Position)) -> Dbm {
        let loss_db = self.path_loss.loss_db(self.wavelength_m, antenna(transmitter), antenna(receiver));
        transmitter.0.transmit_power + (transmitter.0.gain_db + receiver.0.gain_db - loss_db)
    }

    /// Shadowing plus fading of a frame sent now, in decibels.
    pub fn variation(&mut self, now: Time, link: (u32, u32), places: (Position, Position)) -> f64 {
        if self.is_deterministic() {
            return 0.0;
        }
        let pair = Pair::new(link, places);
        let shadowing = self.shadowing.deviation_db(self.seed, &mut self.shadows, now, pair);
        let fading = match self.fading {
            Fading::None => 0.0,
            _ => 10.0 * libm::log10(self.fading.factor(self.seed, self.wavelength_m, &mut self.fades, now, pair)),
        };
        shadowing + fading
    }

    /// Whether a frame between nodes that rest always arrives with the mean power.
    pub fn is_deterministic(&self) -> bool {
        self.shadowing.sigma_db() == 0.0 && self.fading == Fading::None
    }

    /// The distance between antennas up to which the mean power of `transmitter` at `receiver`, both standing on the
    /// ground, is at least `threshold`.
    pub fn distance(&self, transmitter: &Radio, receiver: &Radio, threshold: Dbm) -> f64 {
        let loss_db = transmitter.transmit_power + (transmitter.gain_db + receiver.gain_db) - threshold;
        self.path_loss.distance_m(self.wavelength_m, loss_db, transmitter.height_m, receiver.height_m)
    }

    /// The distance beyond which fewer than one frame in ten thousand arrives with `threshold` or more: who is farther
    /// away need not be asked.
    pub fn reach(&self, transmitter: &Radio, receiver: &Radio, threshold: Dbm) -> f64 {
        const RARE: f64 = 1e-4;
        // A normal deviation exceeds 3.72 sigma that seldom; a gamma variable of mean 1 exceeds at most the given
        // factor: exactly for m = 1, less for others.
        let shadowing = 3.72 * self.shadowing.sigma_db();
        let fading = match self.fading {
            Fading::None => 0.0,
            Fading::PerFrame { m } => 10.0 * libm::log10(-libm::log(RARE) / m.min(1.0)),
            Fading::Correlated { .. } => 10.0 * libm::log10(-libm::log(RARE)),
        };
        self.distance(transmitter, receiver, threshold - shadowing - fading)
    }

    /// The mean power at `range_m`: as `receiver`'s sensitivity or carrier sense threshold it gives just that range.
    /// With shadowing half the frames arrive with more at that distance, with Rayleigh fading 1/e of them.
    pub fn threshold_for(&self, range_m: f64, transmitter: &Radio, receiver: &Radio) -> Result<Dbm, PropagationError> {
        self.check(transmitter)?;
        self.check(receiver)?;
        if !(range_m.is_finite() && range_m > 0.0) {
            return Err(PropagationError::Range(range_m));
        }
        // The antennas are `range_m` apart in the plane's sense of `distance`: along the slant where their heights
        // differ.
        let rise = receiver.height_m - transmitter.height_m;
        let apart = (range_m * range_m - rise * rise).max(0.0).sqrt();
        Ok(self.mean((transmitter, Position::ground(0.0, 0.0)), (receiver, Position::ground(apart, 0.0))))
    }

    /// The transmit power with which `transmitter` arrives at `range_m` with just `receiver`'s sensitivity on average.
    pub fn power_for(&self, range_m: f64, transmitter: &Radio, receiver: &Radio) -> Result<Dbm, PropagationError> {
        let arriving = self.threshold_for(range_m, transmitter, receiver)?;
        Ok(transmitter.transmit_power + (receiver.sensitivity - arriving))
    }

    /// Where two-ray ground takes over from free space between two radios on the ground, in metres.
    pub fn crossover(&self, transmitter: &Radio, receiver: &Radio) -> f64 {
        path_loss::crossover_m(self.wavelength_m, transmitter.height_m, receiver.height_m)
    }
}

/// Where a radio's antenna is.
fn antenna((radio, place): (&Radio, Position)) -> Position {
    Position { z: place.z + radio.height_m, ..place }
}
