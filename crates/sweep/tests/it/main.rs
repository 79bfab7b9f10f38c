//! Plans of sweeps, and sweeps as they are made.

mod make;
mod plan;
mod support;
