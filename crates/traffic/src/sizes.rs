//! Distributions of the sizes of sessions and answers.

use des::RandomStream;
use thiserror::Error;
use units::Bytes;

/// A distribution of sizes, each at least one byte.
#[derive(Clone, PartialEq, Debug)]
pub enum Sizes {
    /// All of one size.
    Fixed(Bytes),
    /// Every size between the two equally likely.
    Uniform {
        /// The least.
        least: Bytes,
        /// The greatest.
        most: Bytes,
    },
    /// The exponential distribution.
    Exponential {
        /// The mean.
        mean: Bytes,
    },
    /// Pareto, bounded above where it has a cap.
    Pareto(Pareto),
    /// An empirical distribution.
    Empirical(Cdf),
}

impl Sizes {
    /// Draws a size by inversion of one uniform number; a fixed size takes none.
    pub fn draw(&self, random: &mut RandomStream) -> Bytes {
        match self {
            Self::Fixed(bytes) => *bytes,
            _ => self.quantile(random.uniform()),
        }
    }

    /// The `u`-quantile (0 to less than 1), in whole bytes.
    pub fn quantile(&self, u: f64) -> Bytes {
        let bytes = match self {
            Self::Fixed(bytes) => return *bytes,
            Self::Uniform { least, most } => {
                let (least, most) = (least.get() as f64, most.get() as f64);
                libm::floor(least + u * (most - least + 1.0))
            }
            Self::Exponential { mean } => -(mean.get() as f64) * libm::log(1.0 - u),
            Self::Pareto(pareto) => pareto.quantile(u),
            Self::Empirical(cdf) => cdf.quantile(u),
        };
        Bytes::new((bytes.round() as u64).max(1))
    }

    /// The mean in bytes, before rounding.
    pub fn mean(&self) -> f64 {
        match self {
            Self::Fixed(bytes) => bytes.get() as f64,
            Self::Uniform { least, most } => f64::midpoint(least.get() as f64, most.get() as f64),
            Self::Exponential { mean } => mean.get() as f64,
            Self::Pareto(pareto) => pareto.mean(),
            Self::Empirical(cdf) => cdf.mean(),
        }
    }
}

/// The Pareto distribution P(X > x) = (least / x)^shape from its least size on; with a cap, the same given that X does
/// not exceed it (the bounded Pareto distribution of Crovella and Bestavros' successors; Harchol-Balter, "Performance
/// Modeling and Design of Computer Systems", section 20.4).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pareto {
    shape: f64,
    least: f64,
    cap: f64,
}

impl Pareto {
    /// From shape and mean. Without a cap the shape must exceed 1, or the mean is infinite.
    pub fn new(shape: f64, mean: Bytes, cap: Option<Bytes>) -> Result<Self, SizesError> {
        let mean = mean.get() as f64;
        let Some(cap) = cap.map(|cap| cap.get() as f64) else {
            let least = mean * (shape - 1.0) / shape;
            return if shape > 1.0 { Ok(Self { shape, least, cap: f64::INFINITY }) } else { Err(SizesError::Shape) };
        };
        if mean >= cap {
            return Err(SizesError::Cap);
        }
        // The mean grows with the least size, from nearly none to the cap: halve the interval until no number lies
        // inside.
        let (mut below, mut above) = (0.0_f64, mean);
        loop {
            let least = f64::midpoint(below, above);
            if least <= below || least >= above {
                return Ok(Self { shape, least: above, cap });
            }
            if (Self { shape, least, cap }).mean() < mean {
                below = least;
            } else {
                above = least;
            }
        }
    }

    /// The part of the unbounded distribution up to the cap.
    fn kept(&self) -> f64 {
        if self.cap.is_finite() { 1.0 - libm::pow(self.least / self.cap, self.shape) } else { 1.0 }
    }

    fn quantile(&self, u: f64) -> f64 {
        self.least * libm::pow(1.0 - u * self.kept(), -1.0 / self.shape)
    }

    fn mean(&self) -> f64 {
        let Self { shape, least, cap } = *self;
        if !cap.is_finite() {
            return shape * least / (shape - 1.0);
        }
        // The integral of x times the density, shape * least^shape / kept * x^(-shape - 1), from the least size to the
        // cap.
        let ratio = cap / least;
        let power = if (shape - 1.0).abs() < 1e-9 {
            libm::log(ratio)
        } else {
            (1.0 - libm::pow(ratio, 1.0 - shape)) / (shape - 1.0)
        };
        shape * least / self.kept() * power
    }
}

/// A cumulative distribution by points (size in bytes, share of sizes up to it); in between it is linear, and a share
/// at the first point is that of sizes equal to it.
#[derive(Clone, PartialEq, Debug)]
pub struct Cdf(Vec<(f64, f64)>);

impl Cdf {
    /// Of points whose sizes and shares grow, the last share being 1.
    pub fn new(points: Vec<(f64, f64)>) -> Result<Self, SizesError> {
        let in_order = |pair: &[(f64, f64)]| pair[0].0 <= pair[1].0 && pair[0].1 <= pair[1].1;
        match points.as_slice() {
            [] => Err(SizesError::Empty),
            [first, ..] if first.0 < 0.0 || first.1 < 0.0 => Err(SizesError::Order(0)),
            [.., last] if (last.1 - 1.0).abs() > 1e-9 => Err(SizesError::End(last.1)),
            _ => match points.windows(2).position(|pair| !in_order(pair)) {
                Some(at) => Err(SizesError::Order(at + 1)),
                None => Ok(Self(points)),
            },
        }
    }

    /// Flows of web search: Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, Figure 4, at the points with
    /// which the flow generator of Bai et al. ("Information-Agnostic Flow Scheduling for Commodity Data Centers", NSDI
    /// 2015) replays it.
    pub fn web_search() -> Self {
        Self(vec![
            (0.0, 0.0),
            (10e3, 0.15),
            (20e3, 0.2),
            (30e3, 0.3),
            (50e3, 0.4),
            (80e3, 0.53),
            (200e3, 0.6),
            (1e6, 0.7),
            (2e6, 0.8),
            (5e6, 0.9),
            (10e6, 0.97),
            (30e6, 1.0),
        ])
    }

    /// Flows of data mining: Greenberg et al., "VL2: A Scalable and Flexible Data Center Network", SIGCOMM 2009, Figure
    /// 2, at the points with which the same generator replays it.
    pub fn data_mining() -> Self {
        Self(vec![
            (0.0, 0.0),
            (180.0, 0.1),
            (216.0, 0.2),
            (560.0, 0.3),
            (900.0, 0.4),
            (1_100.0, 0.5),
            (1_870.0, 0.6),
            (3_160.0, 0.7),
            (10e3, 0.8),
            (400e3, 0.9),
            (3.16e6, 0.95),
            (100e6, 0.98),
            (1e9, 1.0),
        ])
    }

    fn quantile(&self, u: f64) -> f64 {
        let at = self.0.partition_point(|(_, share)| *share <= u).min(self.0.len() - 1);
        let (size, share) = self.0[at];
        let Some((before, below)) = at.checked_sub(1).map(|at| self.0[at]) else { return size };
        if share > below { before + (size - before) * (u - below) / (share - below) } else { size }
    }

    fn mean(&self) -> f64 {
        let first = self.0[0].0 * self.0[0].1;
        let between = self.0.windows(2).map(|pair| (pair[1].1 - pair[0].1) * (pair[0].0 + pair[1].0) / 2.0);
        first + between.sum::<f64>()
    }
}

/// Why a distribution of sizes is impossible.
#[derive(Clone, Copy, PartialEq, Debug, Error)]
pub enum SizesError {
    /// An unbounded Pareto distribution without a mean.
    #[error("a Pareto distribution of shape 1 or less has no mean unless it has a cap")]
    Shape,
    /// A mean that is not below the cap.
    #[error("the mean must be below the cap")]
    Cap,
    /// No points.
    #[error("a distribution needs at least one point")]
    Empty,
    /// A point, counted from 0, that lies before the one before it.
    #[error("point {} lies below the one before it: sizes and shares grow", .0 + 1)]
    Order(usize),
    /// The share of the last point, which is not 1.
    #[error("the last share is {0}, and must be 1")]
    End(f64),
}
