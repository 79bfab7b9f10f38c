//! The clock of the emulator: real frames take real time.

use std::time::Instant;
use units::Time;

/// Time since the links came up, by the monotonic clock.
#[derive(Clone, Copy, Debug)]
pub struct Clock(Instant);

impl Clock {
    #[expect(
        clippy::disallowed_methods,
        reason = "the model in `Pipe` is handed the time; this is where it comes from"
    )]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    pub fn now(&self) -> Time {
        Time::from_ns(self.0.elapsed().as_nanos() as u64)
    }
}
