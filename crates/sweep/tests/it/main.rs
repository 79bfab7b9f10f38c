//! Plans of sweeps, and sweeps as they are made.

mod handed_out;
mod make;
mod plan;
mod support;
