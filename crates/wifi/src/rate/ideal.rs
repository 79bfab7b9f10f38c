//! A rate control that knows the signal-to-noise ratio: an upper bound for the others where nothing interferes.

use super::airtime;
use crate::phy::{ErrorTable, Mode, Settings};

/// A frame's length by which modes are weighed, in bytes.
const FRAME_BYTES: u32 = 1_500;

/// The mode with the greatest goodput, by the same error rates as the receiver.
#[derive(Debug)]
pub struct Ideal {
    /// Modes, slowest first, with what a frame takes in them.
    modes: Vec<(Mode, f64)>,
    table: &'static ErrorTable,
    /// The ratio the choice was made for.
    snr: f64,
    current: Mode,
}

impl Ideal {
    /// Over these modes, at least one; the first until a ratio is known.
    pub fn new(settings: &Settings, modes: &[Mode], table: &'static ErrorTable) -> Self {
        Self {
            modes: modes.iter().map(|mode| (*mode, airtime(settings, *mode, FRAME_BYTES, 1.0))).collect(),
            table,
            snr: f64::NAN,
            current: modes[0],
        }
    }
    /// The mode of the next transmission.
    pub const fn mode(&self) -> Mode {
        self.current
    }
    /// The ratio of signal to noise, over all antennas of the receiver and 20 MHz.
    pub fn observe(&mut self, snr: f64) {
        if snr == self.snr {
            return;
        }
        self.snr = snr;
        let goodput = |(mode, airtime): &(Mode, f64)| {
            let sinr = snr * (20e6 / mode.bandwidth_hz()) / f64::from(mode.streams());
            self.table.success(*mode, sinr, 8.0 * f64::from(FRAME_BYTES)) / airtime
        };
        let best = self.modes.iter().map(|entry| (entry.0, goodput(entry))).max_by(|a, b| a.1.total_cmp(&b.1));
        // Where nothing gets through the slowest is as good as any.
        self.current = best.filter(|best| best.1 > 0.0).map_or(self.modes[0].0, |best| best.0);
    }
}
