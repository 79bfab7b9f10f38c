//! Congestion control: how much may be in the network.
//!
//! A control sees acknowledgements and losses and sets the [`Window`]; it decides nothing else. Which segments to
//! retransmit is the endpoint's affair (RFC 6675 with SACK, RFC 6582 without), so *NewReno* and *SACK-Reno* are the same control,
//! [`Reno`], with `Config::sack` off or on.

mod reno;

pub use reno::Reno;

use units::Time;

/// What a control sets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Congestion window in bytes.
    pub cwnd: u64,
    /// Slow start threshold in bytes.
    pub ssthresh: u64,
    /// Picoseconds between the starts of two segments, per byte on the wire; 0 sends without pacing.
    pub pace_ps_per_byte: f64,
    /// Payload of a full segment in bytes (SMSS).
    pub mss: u32,
}

impl Window {
    /// The initial window: no threshold known, no pacing.
    pub fn new(mss: u32, segments: u32) -> Self {
        Self { cwnd: u64::from(mss) * u64::from(segments), ssthresh: u64::MAX, pace_ps_per_byte: 0.0, mss }
    }
    /// In slow start.
    pub fn slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }
}

/// What one acknowledgement of new data says.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// When it came.
    pub now: Time,
    /// Bytes that it acknowledges cumulatively.
    pub acked: u64,
    /// Outstanding bytes before it came.
    pub flight: u64,
    /// The congestion window, and not the application or the peer, was what held data back: only then may it grow.
    pub cwnd_limited: bool,
    /// The smoothed round-trip time, zero before the first sample.
    pub smoothed_rtt: Time,
}

/// A congestion control.
pub trait Control {
    /// New data was acknowledged outside fast recovery.
    fn on_ack(&mut self, window: &mut Window, ack: &Ack);
    /// Duplicate acknowledgements tell of a loss; `flight` bytes were outstanding. Sets threshold and window.
    fn on_loss(&mut self, window: &mut Window, now: Time, flight: u64);
    /// The retransmission timer expired; `repeated` when it is the same data again. Sets threshold and window.
    fn on_timeout(&mut self, window: &mut Window, now: Time, flight: u64, repeated: bool);
    /// Nothing was sent for a timeout: `initial` is the initial window in bytes (RFC 5681, section 4.1).
    fn on_idle(&mut self, window: &mut Window, initial: u64) {
        window.cwnd = window.cwnd.min(initial);
    }
}

/// The controls, to choose from at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlKind {
    /// NewReno or SACK-Reno, by `Config::sack`.
    Reno,
}

/// A control chosen at run time.
#[derive(Clone, Debug)]
pub(crate) enum AnyControl {
    Reno(Reno),
}

impl AnyControl {
    pub fn new(kind: ControlKind) -> Self {
        match kind {
            ControlKind::Reno => Self::Reno(Reno::default()),
        }
    }
}

macro_rules! each {
    ($self:expr, $control:ident => $call:expr) => {
        match $self {
            AnyControl::Reno($control) => $call,
        }
    };
}

impl Control for AnyControl {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        each!(self, control => control.on_ack(window, ack));
    }
    fn on_loss(&mut self, window: &mut Window, now: Time, flight: u64) {
        each!(self, control => control.on_loss(window, now, flight));
    }
    fn on_timeout(&mut self, window: &mut Window, now: Time, flight: u64, repeated: bool) {
        each!(self, control => control.on_timeout(window, now, flight, repeated));
    }
    fn on_idle(&mut self, window: &mut Window, initial: u64) {
        each!(self, control => control.on_idle(window, initial));
    }
}
