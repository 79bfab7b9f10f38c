//! Programs over emulated paths, as users of `trunkline testbed` start them.
//!
//! A program of its own, which `scripts/test` runs with nothing but the studies beside it, so that the emulated paths
//! have the processor, and frames are not late.

#[cfg(feature = "testbed")]
mod testbed;
#[cfg(feature = "testbed")]
mod testbed_hadoop;
#[cfg(all(feature = "testbed", feature = "jet"))]
mod testbed_study;
