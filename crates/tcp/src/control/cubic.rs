//! CUBIC (RFC 9438), as Linux counts it by default (`tcp_cubic.c`). HyStart is in files of its own.

use super::{Ack, Control, Window};
use crate::cold::{Blank, Cold};
use units::Time;

/// How CUBIC counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum CubicRule {
    /// Whole segments, as Linux (`bictcp_update`) and ns-2's copy of it. The cubic function is rounded towards its
    /// plateau, which a flow reaches earlier and leaves later: windows are up to a segment larger. Before a loss, and
    /// after a timeout, the window grows by a twentieth per round trip or more.
    #[default]
    Linux,
    /// The formulas of RFC 9438 in fractions of a segment. A curve without a loss before it starts at its plateau.
    Rfc9438,
}

/// What CUBIC is tuned by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CubicParameters {
    /// How it counts.
    pub rule: CubicRule,
    /// C: scaling of the cubic function, in segments per second cubed (section 5.1).
    pub c: f64,
    /// Multiplicative decrease (section 4.6).
    pub beta: f64,
}

impl CubicParameters {
    const DEFAULT: Self = Self { rule: CubicRule::Linux, c: 0.4, beta: 0.7 };

    /// Additive increase with which Reno with this beta is as fair as Reno with one half (section 4.3).
    const fn alpha(&self) -> f64 {
        3.0 * (1.0 - self.beta) / (1.0 + self.beta)
    }
}

impl Default for CubicParameters {
    fn default() -> Self {
        Self::DEFAULT
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
        if *parameters != CubicParameters::DEFAULT {
            cubic.curve.tuned = Some(Box::new(*parameters));
        }
        cubic
    }
}

/// How long Linux keeps a step while cwnd stays (`bictcp_update`: HZ / 32).
const STEP_KEPT: Time = Time::from_us(31_250);

/// Whole segments; a product like 60 x 0.7 is 42.
fn whole(segments: f64) -> u64 {
    (segments + 1e-9) as u64
}

/// The cubic function. Windows are in segments, as in the RFC.
#[derive(Clone, Debug)]
struct Curve {
    stage: Stage,
    last_ack: Time,
    /// Growth that is less than a byte.
    carry: f64,
    /// Linux's rule: segments to be acknowledged until cwnd grows by one (`cnt`), for this cwnd from then on.
    step: u64,
    stepped: (u64, Time),
    /// Linux's rule: bytes acknowledged since cwnd, and since `w_est`, last grew (`snd_cwnd_cnt`, `ack_cnt`).
    counted: u64,
    counted_est: u64,
    /// Parameters that are not the default ones.
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
    /// Linux's rule: the plateau, in segments (`bic_origin_point`).
    origin: u64,
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
        stage: Stage { w_max: 0.0, cwnd_prior: 0.0, epoch: None, k: 0.0, w_est: 0.0, origin: 0, after_loss: false },
        last_ack: Time::ZERO,
        carry: 0.0,
        step: 0,
        stepped: (0, Time::ZERO),
        counted: 0,
        counted_est: 0,
        tuned: None,
        before: None,
    };

    fn parameters(&self) -> &CubicParameters {
        self.tuned.as_deref().unwrap_or(&CubicParameters::DEFAULT)
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
        let cwnd = if self.parameters().rule == CubicRule::Linux { libm::trunc(cwnd) } else { cwnd };
        self.stage.cwnd_prior = cwnd;
        // Fast convergence (section 4.7): a flow that did not reach its old window again makes room for newcomers.
        self.stage.w_max = if cwnd < self.stage.w_max { cwnd * f64::midpoint(1.0, beta) } else { cwnd };
        let left = match self.parameters().rule {
            CubicRule::Linux => whole(flight as f64 / mss * beta) * u64::from(window.mss),
            CubicRule::Rfc9438 => (flight as f64 * beta) as u64,
        };
        window.ssthresh = left.max(2 * u64::from(window.mss));
        self.stage.epoch = None;
        // `tcp_init_cwnd_reduction`, `tcp_enter_loss`.
        self.counted = 0;
    }
    /// Congestion avoidance over `acked` bytes by Linux's rule.
    fn grow_in_segments(&mut self, window: &mut Window, ack: &Ack, acked: u64) {
        let mss = u64::from(window.mss);
        let cwnd = (window.cwnd / mss).max(1);
        self.counted_est += acked;
        let (stepped_at, last) = self.stepped;
        if self.stage.epoch.is_none() || stepped_at != cwnd || ack.now.saturating_sub(last) > STEP_KEPT {
            self.stepped = (cwnd, ack.now);
            self.step = self.next_step(ack, cwnd, mss, acked);
        }
        // `tcp_cong_avoid_ai`.
        let step = self.step * mss;
        if self.counted >= step {
            self.counted = 0;
            window.cwnd += mss;
        }
        self.counted += acked;
        if self.counted >= step {
            let grown = self.counted / step;
            self.counted -= grown * step;
            window.cwnd += grown * mss;
        }
    }
    /// `bictcp_update`: segments to be acknowledged until cwnd grows by one.
    fn next_step(&mut self, ack: &Ack, cwnd: u64, mss: u64, acked: u64) -> u64 {
        let CubicParameters { c, beta, .. } = *self.parameters();
        let w_max = self.stage.w_max as u64;
        let epoch = if let Some(epoch) = self.stage.epoch {
            epoch
        } else {
            self.stage.epoch = Some(ack.now);
            self.stage.w_est = cwnd as f64;
            self.counted_est = acked;
            self.stage.origin = w_max.max(cwnd);
            self.stage.k = libm::cbrt((self.stage.origin - cwnd) as f64 / c);
            ack.now
        };
        let t = (ack.now.saturating_sub(epoch) + ack.least_rtt).as_secs_f64() - self.stage.k;
        let distance = whole(c * (t * t * t).abs());
        let target = if t < 0.0 {
            self.stage.origin.saturating_sub(distance)
        } else {
            self.stage.origin.saturating_add(distance)
        };
        let mut step = if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd };
        if w_max == 0 {
            step = step.min(20);
        }
        // Reno-friendly region (section 4.3): `w_est` grows by one per so many segments acknowledged.
        let per_segment = (cwnd * whole(8.0 * (1.0 + beta) / (3.0 * (1.0 - beta))) / 8).max(1) * mss;
        let mut w_est = self.stage.w_est as u64;
        if self.counted_est > per_segment {
            // Strictly more than a step is counted, as there.
            let grown = (self.counted_est - 1) / per_segment;
            self.counted_est -= grown * per_segment;
            w_est += grown;
            self.stage.w_est = w_est as f64;
        }
        if w_est > cwnd {
            step = step.min(cwnd / (w_est - cwnd));
        }
        step.max(2)
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
            let curve = &mut *self.curve;
            match curve.parameters().rule {
                CubicRule::Linux => curve.grow_in_segments(window, ack, acked),
                CubicRule::Rfc9438 => curve.grow(window, ack, acked),
            }
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
        let curve = &mut *self.curve;
        curve.stage.epoch = None;
        window.cwnd = u64::from(window.mss);
        curve.stage.after_loss = false;
        if curve.parameters().rule == CubicRule::Linux {
            // `bictcp_reset`.
            curve.stage.w_max = 0.0;
        }
    }
    fn on_undo(&mut self) {
        if let Some(curve) = self.curve.written()
            && let Some(before) = curve.before.take()
        {
            curve.stage = *before;
        }
    }
    fn on_idle(&mut self, window: &mut Window, most: u64) {
        window.cwnd = window.cwnd.min(most);
        if let Some(curve) = self.curve.written() {
            curve.stage.epoch = None;
            curve.stage.after_loss = false;
        }
    }
}
