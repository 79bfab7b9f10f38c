//! Log-normal shadowing by obstacles.

use super::PropagationError;
use super::links::{Links, Pair};
use crate::mobility::Position;
use des::RandomStream;
use units::Time;

/// A normal deviation from the mean power, in decibels, with standard deviation `sigma_db`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Shadowing {
    /// No shadowing: 0 dB.
    None,
    /// Drawn once for each pair of nodes, wherever they go.
    PerLink {
        /// Standard deviation in decibels.
        sigma_db: f64,
    },
    /// Drawn anew for every frame and receiver, as ns-2's and ns-3's models do: it stands for everything that varies,
    /// and neighbouring frames know nothing of each other.
    PerFrame {
        /// Standard deviation in decibels.
        sigma_db: f64,
    },
    /// Correlated along the way and over time: exp(-(distance both ends moved) / `distance_m` - (time passed) /
    /// `time`). The exponential in distance is Gudmundson's (Electronics Letters 27, 1991), for two ends that move a
    /// product of two (Wang, Tameh and Nix, IEEE Transactions on Vehicular Technology 57, 2008); the one in time stands
    /// for people and doors that move while nodes rest.
    Correlated {
        /// Standard deviation in decibels.
        sigma_db: f64,
        /// Decorrelation distance in metres.
        distance_m: f64,
        /// Decorrelation time.
        time: Time,
    },
}

/// The deviation of one pair, and where and when it was drawn.
#[derive(Debug, Clone)]
pub(super) struct Shadow {
    stream: RandomStream,
    deviation_db: f64,
    at: Time,
    places: [Position; 2],
}

impl Shadowing {
    pub(super) fn check(&self) -> Result<(), PropagationError> {
        if let Self::Correlated { distance_m, time, .. } = *self {
            if distance_m.is_nan() || distance_m <= 0.0 {
                return Err(PropagationError::DecorrelationDistance(distance_m));
            }
            if time == Time::ZERO {
                return Err(PropagationError::DecorrelationTime);
            }
        }
        let sigma_db = self.sigma_db();
        if sigma_db.is_finite() && sigma_db >= 0.0 { Ok(()) } else { Err(PropagationError::Sigma(sigma_db)) }
    }

    pub(super) const fn sigma_db(&self) -> f64 {
        match *self {
            Self::None => 0.0,
            Self::PerLink { sigma_db } | Self::PerFrame { sigma_db } | Self::Correlated { sigma_db, .. } => sigma_db,
        }
    }

    /// The deviation that a signal between the pair has now, in decibels.
    pub(super) fn deviation_db(&self, seed: u64, shadows: &mut Links<Shadow>, now: Time, pair: Pair) -> f64 {
        let sigma_db = self.sigma_db();
        if sigma_db == 0.0 {
            return 0.0;
        }
        let shadow = shadows.of(pair, |index| {
            let mut stream = RandomStream::new(seed, "wifi/shadowing", index);
            Shadow { deviation_db: sigma_db * stream.normal(), stream, at: now, places: pair.places }
        });
        match *self {
            Self::None | Self::PerLink { .. } => {}
            Self::PerFrame { .. } => shadow.deviation_db = sigma_db * shadow.stream.normal(),
            Self::Correlated { distance_m, time, .. } => {
                let moved = shadow.places[0].distance(pair.places[0]) + shadow.places[1].distance(pair.places[1]);
                let passed = if time == Time::MAX {
                    0.0
                } else {
                    now.saturating_sub(shadow.at).as_secs_f64() / time.as_secs_f64()
                };
                let apart = moved / distance_m + passed;
                if apart > 0.0 {
                    let innovation = sigma_db * (-libm::expm1(-2.0 * apart)).sqrt();
                    shadow.deviation_db = libm::exp(-apart) * shadow.deviation_db + innovation * shadow.stream.normal();
                    (shadow.at, shadow.places) = (now, pair.places);
                }
            }
        }
        shadow.deviation_db
    }
}
