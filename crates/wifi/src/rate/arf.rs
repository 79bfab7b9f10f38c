//! Automatic rate fallback: A. Kamerman and L. Monteban, WaveLAN-II: a high-performance wireless LAN for the unlicensed
//! band, Bell Labs Technical Journal 2(3), 1997; and its adaptive variant AARF: M. Lacage, M. H. Manshaei and T.
//! Turletti, IEEE 802.11 rate adaptation: a practical approach, MSWiM 2004.
//!
//! Up after ten successes in a row or fifteen transmissions, down after two failures in a row; the first transmission
//! after a step up is a probe, whose failure takes the step back. AARF doubles the successes asked for (up to 50) with
//! each probe that fails, and forgets that when two failures in a row take it down. The transmissions are always half
//! as many again as the successes: were they fifteen, AARF would never wait for longer.

use crate::phy::Mode;

const SUCCESSES: u32 = 10;
const FAILURES: u32 = 2;
const MOST_SUCCESSES: u32 = 50;

/// The state of ARF or AARF.
#[derive(Debug)]
pub struct Arf {
    modes: Vec<Mode>,
    current: usize,
    adaptive: bool,
    /// Successes in a row that take it up.
    wanted: u32,
    /// Since the mode last changed or should have: in a row, all, in a row.
    successes: u32,
    transmissions: u32,
    failures: u32,
    /// The next transmission is the first after a step up.
    probing: bool,
}

impl Arf {
    /// ARF over these modes, slowest first, at least one; it begins with the slowest.
    pub const fn new(modes: Vec<Mode>) -> Self {
        Self {
            modes,
            current: 0,
            adaptive: false,
            wanted: SUCCESSES,
            successes: 0,
            transmissions: 0,
            failures: 0,
            probing: false,
        }
    }
    /// AARF over these modes, slowest first.
    pub fn adaptive(modes: Vec<Mode>) -> Self {
        Self { adaptive: true, ..Self::new(modes) }
    }
    /// The mode of the next transmission.
    pub fn mode(&self) -> Mode {
        self.modes[self.current]
    }
    /// A transmission was acknowledged or not.
    pub fn report(&mut self, success: bool) {
        let probing = std::mem::take(&mut self.probing);
        self.transmissions += 1;
        if success {
            self.failures = 0;
            self.successes += 1;
            if self.successes >= self.wanted || self.transmissions >= self.wanted * 3 / 2 {
                self.step_up();
            }
            return;
        }
        self.successes = 0;
        self.failures += 1;
        if probing {
            if self.adaptive {
                self.wanted = (2 * self.wanted).min(MOST_SUCCESSES);
            }
            self.step_down();
        } else if self.failures >= FAILURES {
            self.wanted = SUCCESSES;
            self.step_down();
        }
    }

    fn step_up(&mut self) {
        (self.successes, self.transmissions) = (0, 0);
        if self.current + 1 < self.modes.len() {
            self.current += 1;
            self.probing = true;
        }
    }
    fn step_down(&mut self) {
        (self.successes, self.transmissions, self.failures) = (0, 0, 0);
        self.current = self.current.saturating_sub(1);
    }
}
