//! Path loss: mean attenuation by distance.

use super::PropagationError;
use crate::mobility::Position;
use std::f64::consts::PI;

/// The deterministic part of propagation: loss against distance between isotropic antennas.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum PathLoss {
    /// (4 pi d / lambda)^2: a clear line of sight and nothing else (Friis 1946).
    FreeSpace,
    /// A direct ray and one reflected by flat ground: d^4 / (ht hr)^2 beyond the crossover distance 4 pi ht hr /
    /// lambda, free space up to it (Rappaport, "Wireless Communications", 4.6). The two meet there, so that the loss is
    /// continuous.
    TwoRayGround,
    /// 10 `exponent` log10(d / `reference_m`) dB above the loss at the reference distance, which is `reference_db` or,
    /// without it, that of free space (Rappaport, 4.9). Nearer than the reference distance the loss is that at it.
    LogDistance {
        /// Path-loss exponent.
        exponent: f64,
        /// Reference distance in metres.
        reference_m: f64,
        /// Loss at the reference distance in decibels; free space where left out.
        reference_db: Option<f64>,
    },
}

impl PathLoss {
    pub(super) fn check(&self) -> Result<(), PropagationError> {
        let Self::LogDistance { exponent, reference_m, reference_db } = *self else { return Ok(()) };
        if !(exponent.is_finite() && exponent > 0.0) {
            return Err(PropagationError::Exponent(exponent));
        }
        if !(reference_m.is_finite() && reference_m > 0.0) {
            return Err(PropagationError::ReferenceDistance(reference_m));
        }
        match reference_db {
            Some(loss) if !(loss.is_finite() && loss >= 0.0) => Err(PropagationError::ReferenceLoss(loss)),
            _ => Ok(()),
        }
    }

    /// Loss in decibels between antennas at `a` and `b`. It is never below 0: in the near field, where no formula here
    /// holds, nothing is lost.
    pub(super) fn loss_db(&self, wavelength_m: f64, a: Position, b: Position) -> f64 {
        let distance = a.distance(b);
        let loss = match *self {
            Self::FreeSpace => free_space_db(wavelength_m, distance),
            Self::TwoRayGround if distance <= crossover_m(wavelength_m, a.z, b.z) => {
                free_space_db(wavelength_m, distance)
            }
            Self::TwoRayGround => 20.0 * libm::log10(distance * distance / (a.z * b.z)),
            Self::LogDistance { exponent, reference_m, reference_db } => {
                let reference_db = reference_db.unwrap_or_else(|| near_db(wavelength_m, reference_m));
                reference_db + 10.0 * exponent * libm::log10(distance.max(reference_m) / reference_m)
            }
        };
        loss.max(0.0)
    }

    /// The distance at which `loss_db` is lost between antennas at heights `ht` and `hr`.
    pub(super) fn distance_m(&self, wavelength_m: f64, loss_db: f64, ht: f64, hr: f64) -> f64 {
        let free_space = wavelength_m / (4.0 * PI) * libm::pow(10.0, loss_db / 20.0);
        match *self {
            Self::FreeSpace => free_space,
            Self::TwoRayGround if free_space <= crossover_m(wavelength_m, ht, hr) => free_space,
            Self::TwoRayGround => (ht * hr).sqrt() * libm::pow(10.0, loss_db / 40.0),
            Self::LogDistance { exponent, reference_m, reference_db } => {
                let beyond = loss_db - reference_db.unwrap_or_else(|| near_db(wavelength_m, reference_m));
                if beyond < 0.0 { 0.0 } else { reference_m * libm::pow(10.0, beyond / (10.0 * exponent)) }
            }
        }
    }

    /// This model with the loss at the reference distance filled in, so that it is not calculated for every frame.
    pub(super) fn with_reference(self, wavelength_m: f64) -> Self {
        match self {
            Self::LogDistance { exponent, reference_m, reference_db: None } => {
                let reference_db = Some(near_db(wavelength_m, reference_m));
                Self::LogDistance { exponent, reference_m, reference_db }
            }
            other => other,
        }
    }
}

/// Loss in free space at a reference distance.
fn near_db(wavelength_m: f64, distance: f64) -> f64 {
    free_space_db(wavelength_m, distance).max(0.0)
}

fn free_space_db(wavelength_m: f64, distance: f64) -> f64 {
    20.0 * libm::log10(4.0 * PI * distance / wavelength_m)
}

/// Where two-ray ground takes over from free space.
pub(super) fn crossover_m(wavelength_m: f64, ht: f64, hr: f64) -> f64 {
    4.0 * PI * ht * hr / wavelength_m
}
