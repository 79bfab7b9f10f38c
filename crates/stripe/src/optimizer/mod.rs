//! The number of streams: models, curves through a few probes, and a controller that measures.

mod controller;
mod enumerator;
mod fits;
mod losses;
mod models;
mod newcomers;
mod observed;
mod rates;
mod reason;
mod tuner;

pub use controller::{Controller, Limits, Policy};
pub use enumerator::Enumerator;
pub use fits::{FullSecondOrder, PartialSecondOrder};
pub(crate) use losses::FEW;
pub use models::{LossFit, Path, best_number, hacker, streams_to_fill};
pub use newcomers::Newcomers;
pub(crate) use observed::has_queue;
pub use observed::{Law, Totals};
pub use reason::Reason;
pub use tuner::Tuner;

/// The most streams that are tried. With more the paper saw "instabilities and lower transfer rates" (Wang et al. 2014,
/// section 3.3).
pub const MOST_STREAMS: u32 = 128;
