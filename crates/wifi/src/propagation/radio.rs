//! Powers, and what a node's radio can do.

use std::ops::{Add, Sub};
use thiserror::Error;

/// A power in decibels above one milliwatt. Adding a number adds decibels; the difference of two is a ratio in
/// decibels.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct Dbm(pub f64);

impl Dbm {
    /// No power at all.
    pub const SILENCE: Self = Self(f64::NEG_INFINITY);

    /// From milliwatts; zero is [`Dbm::SILENCE`].
    pub fn from_milliwatts(milliwatts: f64) -> Self {
        Self(10.0 * libm::log10(milliwatts))
    }
    /// In milliwatts.
    pub fn milliwatts(self) -> f64 {
        libm::pow(10.0, self.0 / 10.0)
    }
}

impl Add<f64> for Dbm {
    type Output = Self;
    fn add(self, decibels: f64) -> Self {
        Self(self.0 + decibels)
    }
}

impl Sub<f64> for Dbm {
    type Output = Self;
    fn sub(self, decibels: f64) -> Self {
        Self(self.0 - decibels)
    }
}

impl Sub for Dbm {
    type Output = f64;
    fn sub(self, other: Self) -> f64 {
        self.0 - other.0
    }
}

/// Radio of a node.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Radio {
    /// Power fed to the antenna.
    pub transmit_power: Dbm,
    /// Gain of the antenna over an isotropic one, in decibels: added when it sends and when it receives.
    pub gain_db: f64,
    /// Height of the antenna above the node's position, in metres.
    pub height_m: f64,
    /// Noise figure of the receiver, in decibels.
    pub noise_figure_db: f64,
    /// The weakest signal whose preamble is recognised: a weaker one is interference only.
    pub sensitivity: Dbm,
    /// A signal whose preamble was recognised makes the channel busy from this power on.
    pub cca_signal: Dbm,
    /// Any energy, whatever it is, makes the channel busy from this power on.
    pub cca_energy: Dbm,
}

impl Default for Radio {
    /// A tablet: 40 mW, an isotropic antenna held at 1.5 m, 7 dB noise figure. The thresholds are those that IEEE
    /// 802.11-2016 asks of every 20 MHz OFDM receiver: minimum sensitivity at 6 Mbit/s and carrier sense -82 dBm
    /// (17.3.10.2, 17.3.10.6), energy detection 20 dB above.
    fn default() -> Self {
        Self {
            transmit_power: Dbm(16.0),
            gain_db: 0.0,
            height_m: 1.5,
            noise_figure_db: 7.0,
            sensitivity: Dbm(-82.0),
            cca_signal: Dbm(-82.0),
            cca_energy: Dbm(-62.0),
        }
    }
}

/// Why a radio cannot be as described.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum RadioError {
    /// Something is infinite or not a number.
    #[error("a radio's {0} must be a finite number")]
    NotFinite(&'static str),
    /// The antenna is in the ground.
    #[error("an antenna height of {0} m is below the ground: it must be at least 0 m")]
    Height(f64),
    /// A receiver that removes noise.
    #[error("a noise figure of {0} dB is impossible: it must be at least 0 dB")]
    NoiseFigure(f64),
}

impl Radio {
    /// Whether such a radio can be.
    pub fn check(&self) -> Result<(), RadioError> {
        let values = [
            ("transmit power", self.transmit_power.0),
            ("antenna gain", self.gain_db),
            ("antenna height", self.height_m),
            ("noise figure", self.noise_figure_db),
            ("sensitivity", self.sensitivity.0),
            ("carrier sense threshold", self.cca_signal.0),
            ("energy detection threshold", self.cca_energy.0),
        ];
        if let Some((name, _)) = values.iter().find(|(_, value)| !value.is_finite()) {
            return Err(RadioError::NotFinite(name));
        }
        if self.height_m < 0.0 {
            return Err(RadioError::Height(self.height_m));
        }
        if self.noise_figure_db < 0.0 {
            return Err(RadioError::NoiseFigure(self.noise_figure_db));
        }
        Ok(())
    }
    /// The noise this radio's receiver hears over `bandwidth_hz`.
    pub fn noise(&self, bandwidth_hz: f64) -> Dbm {
        thermal_noise(bandwidth_hz) + self.noise_figure_db
    }
}

/// Thermal noise k T B at 290 K: -173.98 dBm per Hz, -101 dBm over 20 MHz (Friis 1944 defines noise figures at that
/// temperature).
pub fn thermal_noise(bandwidth_hz: f64) -> Dbm {
    const BOLTZMANN: f64 = 1.380_649e-23;
    Dbm::from_milliwatts(1e3 * BOLTZMANN * 290.0 * bandwidth_hz)
}
