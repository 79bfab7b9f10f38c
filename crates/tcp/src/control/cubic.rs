//! CUBIC (RFC 9438). HyStart is in files of its own.

use super::{Ack, Control, Window};
use crate::cold::{Blank, Cold};
use units::Time;

/// What CUBIC is tuned by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CubicParameters {
    /// C: scaling of the cubic function, in segments per second cubed (section 5.1).
    pub c: f64,
    /// Multiplicative decrease (section 4.6).
    pub beta: f64,
}

impl CubicParameters {
    const RFC9438: Self = Self { c: 0.4, beta: 0.7 };

    /// Additive increase with which Reno with this beta is as fair as Reno with one half (section 4.3).
    const fn alpha(&self) -> f64 {
        3.0 * (1.0 - self.beta) / (1.0 + self.beta)
    }
}

impl Default for CubicParameters {
    fn default() -> Self {
        Self::RFC9438
    }
}

/// Window growth as a cubic function of the time since the last loss.
#[derive(Clone, Debug)]
pub struct Cubic {
    /// A receiver needs none, nor does a sender in its first slow start.
    curve: Cold<Curve>,
}

impl Default for Cubic {
    fn default() -> Self {
        Self { curve: Cold::new() }
    }
}

impl Cubic {
    /// CUBIC with parameters of its own.
    pub fn new(parameters: &CubicParameters) -> Self {
        let mut cubic = Self::default();
        if *parameters != CubicParameters::RFC9438 {
            cubic.curve.tuned = Some(Box::new(*parameters));
        }
        cubic
    }
}

/// The cubic function. Windows are in segments, as in the RFC.
#[derive(Clone, Debug)]
struct Curve {
    stage: Stage,
    last_ack: Time,
    /// Growth that is less than a byte.
    carry: f64,
    /// Parameters that are not the RFC's.
    tuned: Option<Box<CubicParameters>>,
    /// The stage before the last reduction, for an undo (section 4.9.2).
    before: Option<Box<Stage>>,
}

/// What a reduction changes.
#[derive(Clone, Copy, Debug)]
struct Stage {
    /// Window before the last reduction, lowered by fast convergence.
    w_max: f64,
    /// Window before the last reduction.
    cwnd_prior: f64,
    /// When the present congestion avoidance stage began. Application-limited time moves it forward.
    epoch: Option<Time>,
    /// Seconds from the epoch to `w_max`.
    k: f64,
    /// W_est: Reno's window (section 4.3).
    w_est: f64,
    /// The present stage follows a loss, not a timeout or a slow start that ended without loss.
    after_loss: bool,
}

impl Blank for Curve {
    const BLANK: &'static Self = &Self::NONE;
    fn blank() -> Self {
        Self::NONE
    }
}

impl Curve {
    const NONE: Self = Self {
        stage: Stage { w_max: 0.0, cwnd_prior: 0.0, epoch: None, k: 0.0, w_est: 0.0, after_loss: false },
        last_ack: Time::ZERO,
        carry: 0.0,
        tuned: None,
        before: None,
    };

    fn parameters(&self) -> &CubicParameters {
        self.tuned.as_deref().unwrap_or(&CubicParameters::RFC9438)
    }
    fn begin_epoch(&mut self, now: Time, cwnd: f64) {
        self.stage.epoch = Some(now);
        self.stage.w_est = cwnd;
        self.carry = 0.0;
        if self.stage.after_loss && self.stage.w_max > cwnd {
            self.stage.k = libm::cbrt((self.stage.w_max - cwnd) / self.parameters().c);
        } else {
            // Sections 4.8 and 4.10: after a timeout, or a slow start that ended without loss, the curve starts at its
            // plateau.
            self.stage.k = 0.0;
            self.stage.w_max = cwnd;
        }
    }
    /// Equation 1.
    fn w_cubic(&self, seconds: f64) -> f64 {
        let t = seconds - self.stage.k;
        self.parameters().c * t * t * t + self.stage.w_max
    }
    fn reduce(&mut self, window: &mut Window, flight: u64) {
        let mss = f64::from(window.mss);
        let cwnd = window.cwnd as f64 / mss;
        self.before = Some(Box::new(self.stage));
        let beta = self.parameters().beta;
        self.stage.cwnd_prior = cwnd;
        // Fast convergence (section 4.7): a flow that did not reach its old window again makes room for newcomers.
        self.stage.w_max = if cwnd < self.stage.w_max { cwnd * f64::midpoint(1.0, beta) } else { cwnd };
        window.ssthresh = ((flight as f64 * beta) as u64).max(2 * u64::from(window.mss));
        self.stage.epoch = None;
    }
    /// Congestion avoidance over `acked` bytes.
    fn grow(&mut self, window: &mut Window, ack: &Ack, acked: u64) {
        let mss = f64::from(window.mss);
        let cwnd = window.cwnd as f64 / mss;
        let epoch = if let Some(epoch) = self.stage.epoch {
            epoch
        } else {
            self.begin_epoch(ack.now, cwnd);
            ack.now
        };
        let seconds = ack.now.saturating_sub(epoch).as_secs_f64();
        let alpha = if self.stage.w_est >= self.stage.cwnd_prior { 1.0 } else { self.parameters().alpha() };
        // Equation 4.
        self.stage.w_est += alpha * (acked as f64 / mss) / cwnd;
        let growth = if self.w_cubic(seconds) < self.stage.w_est {
            // Reno-friendly region (section 4.3).
            (self.stage.w_est - cwnd).max(0.0)
        } else {
            // Concave and convex regions (sections 4.4 and 4.5).
            let target = self.w_cubic(seconds + ack.smoothed_rtt.as_secs_f64()).clamp(cwnd, 1.5 * cwnd);
            (target - cwnd) / cwnd
        };
        self.carry += growth * mss;
        let whole = self.carry as u64;
        self.carry -= whole as f64;
        window.cwnd += whole;
    }
}

impl Control for Cubic {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if let Some(curve) = self.curve.written() {
            // Section 4.2: the clock stands still while the application, not cwnd, limits the sender.
            if !ack.cwnd_limited
                && let Some(epoch) = &mut curve.stage.epoch
            {
                *epoch += ack.now.saturating_sub(curve.last_ack.max(*epoch));
            }
            curve.last_ack = ack.now;
        }
        if !ack.cwnd_limited {
            return;
        }
        let acked = ack.avoidance(window);
        if acked > 0 {
            self.curve.grow(window, ack, acked);
        }
    }
    fn on_loss(&mut self, window: &mut Window, _: Time, flight: u64) {
        self.curve.reduce(window, flight);
        window.cwnd = window.ssthresh;
        self.curve.stage.after_loss = true;
    }
    fn on_timeout(&mut self, window: &mut Window, _: Time, flight: u64, repeated: bool) {
        if !repeated {
            self.curve.reduce(window, flight);
        }
        self.curve.stage.epoch = None;
        window.cwnd = u64::from(window.mss);
        self.curve.stage.after_loss = false;
    }
    fn on_undo(&mut self) {
        if let Some(curve) = self.curve.written()
            && let Some(before) = curve.before.take()
        {
            curve.stage = *before;
        }
    }
    fn on_idle(&mut self, window: &mut Window, initial: u64) {
        window.cwnd = window.cwnd.min(initial);
        if let Some(curve) = self.curve.written() {
            curve.stage.epoch = None;
            curve.stage.after_loss = false;
        }
    }
}
