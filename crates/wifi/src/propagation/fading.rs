//! What waves over many paths make of a signal: Nakagami and Rayleigh fading.

use super::PropagationError;
use super::links::{Links, Pair};
use des::RandomStream;
use std::f64::consts::TAU;
use units::Time;

/// A random factor of mean 1 on the received power, constant during a frame.
///
/// With shape `m` it follows a gamma distribution with mean 1 and variance 1/m, the amplitude Nakagami's; `m` = 1 is
/// Rayleigh fading (no line of sight).
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Fading {
    /// No fading: a factor of 1.
    None,
    /// Drawn anew for every frame and receiver; `m` is at least 1/2.
    PerFrame {
        /// Nakagami's shape.
        m: f64,
    },
    /// As the nodes' ways and time make it: `m` independent sums of plane waves, each of which arrives and leaves in a
    /// direction of its own.
    ///
    /// Over scatterers all around both ends, two moments in which the ends have moved by d1 and d2 see complex gains
    /// correlated by J0(2 pi d1 / lambda) J0(2 pi d2 / lambda) (Clarke 1968; for two moving ends Akki and Haber, IEEE
    /// Transactions on Vehicular Technology 35, 1986). What moves around nodes that rest has the speed `around_mps` and
    /// multiplies by J0(2 pi v t / lambda); indoors 1.2 km/h is usual (Erceg et al., "TGn Channel Models", IEEE
    /// 802.11-03/940r4, with a spectrum of another shape). The coherence time, 9 lambda / (16 pi v) by a rule of thumb,
    /// follows and is not set.
    Correlated {
        /// Nakagami's shape; a whole number, as the power is the mean over `m` independent Rayleigh channels.
        m: u32,
        /// Speed of the surroundings in m/s.
        around_mps: f64,
    },
}

/// State of a pair of nodes.
#[derive(Debug, Clone)]
pub(super) enum Fade {
    Stream(RandomStream),
    Waves(Vec<Wave>),
}

/// How many plane waves add up: single digits suffice for the moments of second order (Zheng and Xiao, IEEE
/// Communications Letters 6, 2002); the variance of the power falls short of a Rayleigh channel's by one part in so
/// many.
pub const WAVES: usize = 16;

/// One plane wave: its phase at the origin, its directions at the two ends, and the share of the surroundings' speed
/// along it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wave {
    phase: f64,
    directions: [(f64, f64); 2],
    drift: f64,
}

impl Wave {
    fn draw(stream: &mut RandomStream) -> Self {
        let mut direction = || {
            let angle = TAU * stream.uniform();
            (libm::cos(angle), libm::sin(angle))
        };
        Self { directions: [direction(), direction()], drift: direction().0, phase: TAU * stream.uniform() }
    }
}

impl Fading {
    pub(super) fn check(&self) -> Result<(), PropagationError> {
        match *self {
            Self::PerFrame { m } if !(m.is_finite() && m >= 0.5) => Err(PropagationError::Shape(m)),
            Self::Correlated { m: 0, .. } => Err(PropagationError::Shape(0.0)),
            Self::Correlated { around_mps, .. } if !(around_mps.is_finite() && around_mps >= 0.0) => {
                Err(PropagationError::SpeedAround(around_mps))
            }
            _ => Ok(()),
        }
    }

    /// The factor on the power of a signal between the pair now.
    pub(super) fn factor(&self, seed: u64, wavelength_m: f64, fades: &mut Links<Fade>, now: Time, pair: Pair) -> f64 {
        let stream = |index| RandomStream::new(seed, "wifi/fading", index);
        match *self {
            Self::None => 1.0,
            Self::PerFrame { m } => match fades.of(pair, |index| Fade::Stream(stream(index))) {
                Fade::Stream(stream) => gamma(m, stream) / m,
                Fade::Waves(_) => 1.0,
            },
            Self::Correlated { m, around_mps } => {
                let draw = |index| {
                    let mut stream = stream(index);
                    Fade::Waves((0..m as usize * WAVES).map(|_| Wave::draw(&mut stream)).collect())
                };
                let drifted = around_mps * now.as_secs_f64();
                match fades.of(pair, draw) {
                    Fade::Waves(waves) => {
                        waves.chunks_exact(WAVES).map(|waves| power(waves, wavelength_m, drifted, pair)).sum::<f64>()
                            / f64::from(m)
                    }
                    Fade::Stream(_) => 1.0,
                }
            }
        }
    }
}

/// |sum of waves|^2, mean 1.
fn power(waves: &[Wave], wavelength_m: f64, drifted: f64, pair: Pair) -> f64 {
    let [low, high] = pair.places;
    let (mut real, mut imaginary) = (0.0, 0.0);
    for Wave { phase, directions: [at_low, at_high], drift } in waves {
        let path = at_low.0 * low.x + at_low.1 * low.y + at_high.0 * high.x + at_high.1 * high.y + drift * drifted;
        let (sin, cos) = libm::sincos(phase + TAU * path / wavelength_m);
        real += cos;
        imaginary += sin;
    }
    (real * real + imaginary * imaginary) / waves.len() as f64
}

/// A draw from the gamma distribution with shape `shape` and scale 1 (Marsaglia and Tsang, ACM Transactions on
/// Mathematical Software 26, 2000).
fn gamma(shape: f64, stream: &mut RandomStream) -> f64 {
    if shape == 1.0 {
        return stream.exponential(1.0);
    }
    if shape < 1.0 {
        return gamma(shape + 1.0, stream) * libm::pow(1.0 - stream.uniform(), 1.0 / shape);
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = stream.normal();
        let v = 1.0 + c * x;
        let v = v * v * v;
        if v > 0.0 && libm::log(1.0 - stream.uniform()) < 0.5 * x * x + d - d * v + d * libm::log(v) {
            return d * v;
        }
    }
}
