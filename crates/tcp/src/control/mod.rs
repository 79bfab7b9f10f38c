//! Congestion control: how much may be in flight.
//!
//! A control sees acknowledgements and losses, and sets the [`Window`]; it decides nothing else. The endpoint decides
//! which segments to retransmit (RFC 6675 with SACK, RFC 6582 without). So *NewReno* and *SACK-Reno* are the same
//! control, [`Reno`], with `Config::sack` off or on.

mod bbr;
mod coupled;
mod cubic;
mod dctcp;
mod fast;
mod hystart;
mod hystart_plus_plus;
mod reno;
mod scalable;
mod tahoe;
mod vegas;
mod westwood;

pub use bbr::{Bbr, BbrRule};
pub use coupled::{Coupled, Coupling, Subflow, Weights};
pub use cubic::{Cubic, CubicParameters, CubicRule};
pub use dctcp::Dctcp;
pub use fast::Fast;
pub use hystart::{HyStart, HyStartBounds};
pub use hystart_plus_plus::HyStartPlusPlus;
pub use reno::{IncreaseRule, Reno};
pub use scalable::{Scalable, ScalableRule};
pub use tahoe::Tahoe;
pub use vegas::{Vegas, VegasParameters};
pub use westwood::Westwood;

use crate::Config;
use units::Time;

/// What a control sets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Congestion window in bytes.
    pub cwnd: u64,
    /// Slow start threshold in bytes.
    pub ssthresh: u64,
    /// Pacing: picoseconds between the starts of two segments, per byte of payload; 0 for no pacing.
    pub pace_ps_per_byte: f64,
    /// Pacing as Linux's: this many segments leave together, and what leaves late is followed up to half a group sooner.
    /// 0 spaces every segment.
    pub pace_group: u16,
    /// Payload of a full segment in bytes (SMSS).
    pub mss: u32,
    /// Slow start still at cwnd = ssthresh ([`Config::start_at_ssthresh`]).
    pub start_at_ssthresh: bool,
}

impl Window {
    /// The initial window: ssthresh unknown, no pacing.
    pub fn new(mss: u32, segments: u32) -> Self {
        let cwnd = u64::from(mss) * u64::from(segments);
        Self { cwnd, ssthresh: u64::MAX, pace_ps_per_byte: 0.0, pace_group: 0, mss, start_at_ssthresh: false }
    }
    /// In slow start.
    pub fn slow_start(&self) -> bool {
        self.cwnd < self.ssthresh || self.start_at_ssthresh && self.cwnd == self.ssthresh
    }
}

/// What one acknowledgement of new data says.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// When it came.
    pub now: Time,
    /// Bytes that it acknowledges cumulatively.
    pub acked: u64,
    /// Bytes that it newly delivers, cumulatively or by SACK.
    pub delivered: u64,
    /// Most bytes by which it opens the window in slow start: L segments of RFC 3465; `None` for no limit.
    pub slow_start_limit: Option<u64>,
    /// Outstanding bytes before it came.
    pub flight: u64,
    /// The first position not acknowledged, now.
    pub una: u64,
    /// The next position to send.
    pub nxt: u64,
    /// cwnd limited the sender, not the application or the peer: only then may cwnd grow.
    pub cwnd_limited: bool,
    /// The smoothed round-trip time, zero before the first sample.
    pub smoothed_rtt: Time,
    /// The smallest round-trip time, zero before the first sample.
    pub least_rtt: Time,
}

impl Ack {
    /// Slow start by appropriate byte counting (RFC 3465): cwnd grows by the bytes acknowledged, at most L segments.
    /// Without a limit it grows by the bytes delivered, up to ssthresh, as in Linux. Returns the bytes left for
    /// congestion avoidance.
    #[inline]
    pub fn slow_start(&self, window: &mut Window) -> u64 {
        let room = window.ssthresh - window.cwnd;
        let growth = self.slow_start_limit.map_or(self.delivered.min(room), |limit| self.acked.min(limit));
        let left = if self.slow_start_limit.is_none() { self.delivered - growth } else { 0 };
        window.cwnd += growth;
        left
    }
    /// The bytes that congestion avoidance counts, once slow start has taken its part.
    #[inline]
    pub fn avoidance(&self, window: &mut Window) -> u64 {
        if window.slow_start() { self.slow_start(window) } else { self.acked }
    }
}

/// What one acknowledgement has delivered, cumulatively or by SACK, in order or not.
#[derive(Clone, Copy, Debug, Default)]
pub struct Delivery {
    /// When it came.
    pub now: Time,
    /// Bytes delivered since the connection began.
    pub delivered: u64,
    /// Bytes that this acknowledgement delivers.
    pub newly_delivered: u64,
    /// Bytes found lost since the last delivery.
    pub newly_lost: u64,
    /// `delivered` when the newest segment now delivered was sent; `None` if none is delivered.
    pub prior_delivered: Option<u64>,
    /// Delivery rate in bytes per picosecond, if the sample is sound.
    pub rate: Option<f64>,
    /// The sample is application-limited.
    pub app_limited: bool,
    /// RTT of the newest delivered segment that was sent once.
    pub rtt: Option<Time>,
    /// Bytes in flight before this acknowledgement.
    pub prior_pipe: u64,
    /// Bytes in flight after it.
    pub pipe: u64,
    /// When pacing lets the next segment go.
    pub departure: Time,
}

/// A congestion control.
pub trait Control {
    /// Whether [`on_delivery`](Self::on_delivery) is to be called. It costs a record per segment in flight.
    fn watches_deliveries(&self) -> bool {
        false
    }
    /// The handshake is over, `window` is the initial one.
    fn on_connected(&mut self, _window: &mut Window, _now: Time, _smoothed_rtt: Option<Time>) {}
    /// Something was delivered, in any phase. Comes before the other calls for the same acknowledgement.
    fn on_delivery(&mut self, _window: &mut Window, _delivery: &Delivery) {}
    /// New data was acknowledged outside fast recovery.
    fn on_ack(&mut self, window: &mut Window, ack: &Ack);
    /// A loss was found without a timeout; `flight` bytes were outstanding. Sets ssthresh and cwnd.
    fn on_loss(&mut self, window: &mut Window, now: Time, flight: u64);
    /// With ECN, in any phase: an acknowledgement of `acked` new bytes up to `una` arrived, `marked` if it has ECE;
    /// `nxt` is SND.NXT. Comes before the other calls for the same acknowledgement.
    fn on_marks(&mut self, _acked: u64, _marked: bool, _una: u64, _nxt: u64) {}
    /// The first echo of congestion since the outstanding data (`flight` bytes) was sent. Sets ssthresh and cwnd, by
    /// default as for a loss (RFC 3168, section 6.1.2).
    fn on_echo(&mut self, window: &mut Window, now: Time, flight: u64) {
        self.on_loss(window, now, flight);
    }
    /// Whether it reacts to echoes.
    fn answers_echoes(&self) -> bool {
        true
    }
    /// The retransmission timer expired; `repeated` if for the same data again. Sets ssthresh and cwnd.
    fn on_timeout(&mut self, window: &mut Window, now: Time, flight: u64, repeated: bool);
    /// All that was outstanding at the loss or timeout has been acknowledged.
    fn on_recovered(&mut self, _window: &mut Window, _now: Time) {}
    /// The last reduction for a loss was spurious: cwnd and ssthresh are what they were before, and so is what else the
    /// reduction has changed (RFC 9438, section 4.9.2).
    fn on_undo(&mut self) {}
    /// The application writes again after everything was acknowledged.
    fn on_restart(&mut self, _window: &mut Window) {}
    /// As [`on_restart`](Self::on_restart), after an RTO without sending: cwnd is to be `most` bytes at most (RFC 5681,
    /// section 4.1).
    fn on_idle(&mut self, window: &mut Window, most: u64) {
        window.cwnd = window.cwnd.min(most);
    }
    /// Whether recovery may shrink cwnd to ssthresh step by step (RFC 6937) instead of at once.
    fn reduces_proportionally(&self) -> bool {
        true
    }
    /// Whether its slow start is that of RFC 5681, so that HyStart++ may replace it.
    fn starts_as_reno(&self) -> bool {
        true
    }
    /// Whether it sets the pacing rate itself.
    fn paces(&self) -> bool {
        false
    }
    /// Whether a loss leads to fast recovery. Otherwise everything outstanding is retransmitted in slow start, as after
    /// a timeout.
    fn recovers_fast(&self) -> bool {
        true
    }
    /// Whether one duplicate acknowledgement is enough to retransmit a segment older than SRTT + 4 RTTVAR.
    fn retransmits_early(&self) -> bool {
        false
    }
}

/// The controls, to choose from at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlKind {
    /// NewReno or SACK-Reno, by `Config::sack`.
    Reno,
    /// Vegas (Brakmo and Peterson 1994).
    Vegas,
    /// CUBIC (RFC 9438).
    Cubic,
    /// BBR, version 1, by [`BbrRule::Linux`].
    Bbr,
    /// BBR by [`BbrRule::Draft`].
    BbrDraft,
    /// DCTCP (RFC 8257); it turns ECN on.
    Dctcp,
    /// Tahoe (Jacobson 1988).
    Tahoe,
    /// Westwood+ (Grieco and Mascolo 2004).
    Westwood,
    /// Scalable TCP (Kelly 2003), by [`ScalableRule::Linux`].
    Scalable,
    /// Scalable TCP by [`ScalableRule::Kelly`].
    ScalableKelly,
    /// FAST (Wei, Jin, Low and Hegde 2006).
    Fast {
        /// Segments that a flow keeps queued in the network.
        alpha: u32,
    },
    /// Reno with weights from outside ([`Endpoint::set_weights`](crate::Endpoint::set_weights)): subflows coupled by
    /// LIA, OLIA or BALIA.
    Coupled,
}

/// A control chosen at run time. State larger than a word is boxed: every endpoint has a control, and most of millions
/// send little.
#[derive(Clone, Debug)]
pub(crate) enum AnyControl {
    Reno(Reno),
    Vegas(Box<Vegas>),
    Cubic(Cubic),
    Bbr(Box<Bbr>),
    Dctcp(Box<Dctcp>),
    Tahoe(Tahoe),
    Westwood(Box<Westwood>),
    Scalable(Box<Scalable>),
    Fast(Box<Fast>),
    Coupled(Box<Coupled>),
}

impl AnyControl {
    pub fn new(config: &Config) -> Self {
        match config.control {
            ControlKind::Reno => Self::Reno(Reno::of(config)),
            ControlKind::Vegas => Self::Vegas(Box::new(Vegas::new(config.vegas))),
            ControlKind::Cubic => Self::Cubic(Cubic::new(&config.cubic)),
            ControlKind::Bbr => Self::Bbr(Box::new(Bbr::new(BbrRule::Linux))),
            ControlKind::BbrDraft => Self::Bbr(Box::new(Bbr::new(BbrRule::Draft))),
            ControlKind::Dctcp => Self::Dctcp(Box::default()),
            ControlKind::Tahoe => Self::Tahoe(Tahoe::default()),
            ControlKind::Westwood => Self::Westwood(Box::default()),
            ControlKind::Scalable => Self::Scalable(Box::default()),
            ControlKind::ScalableKelly => Self::Scalable(Box::new(Scalable::new(ScalableRule::Kelly))),
            ControlKind::Fast { alpha } => Self::Fast(Box::new(Fast::new(alpha))),
            ControlKind::Coupled => Self::Coupled(Box::default()),
        }
    }
}

macro_rules! each {
    ($self:expr, $control:ident => $call:expr) => {
        match $self {
            AnyControl::Reno($control) => $call,
            AnyControl::Vegas($control) => $call,
            AnyControl::Cubic($control) => $call,
            AnyControl::Bbr($control) => $call,
            AnyControl::Dctcp($control) => $call,
            AnyControl::Tahoe($control) => $call,
            AnyControl::Westwood($control) => $call,
            AnyControl::Scalable($control) => $call,
            AnyControl::Fast($control) => $call,
            AnyControl::Coupled($control) => $call,
        }
    };
}

impl Control for AnyControl {
    fn watches_deliveries(&self) -> bool {
        each!(self, control => control.watches_deliveries())
    }
    fn on_connected(&mut self, window: &mut Window, now: Time, smoothed_rtt: Option<Time>) {
        each!(self, control => control.on_connected(window, now, smoothed_rtt));
    }
    fn on_delivery(&mut self, window: &mut Window, delivery: &Delivery) {
        each!(self, control => control.on_delivery(window, delivery));
    }
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        each!(self, control => control.on_ack(window, ack));
    }
    fn on_loss(&mut self, window: &mut Window, now: Time, flight: u64) {
        each!(self, control => control.on_loss(window, now, flight));
    }
    fn on_marks(&mut self, acked: u64, marked: bool, una: u64, nxt: u64) {
        each!(self, control => control.on_marks(acked, marked, una, nxt));
    }
    fn on_echo(&mut self, window: &mut Window, now: Time, flight: u64) {
        each!(self, control => control.on_echo(window, now, flight));
    }
    fn answers_echoes(&self) -> bool {
        each!(self, control => control.answers_echoes())
    }
    fn on_timeout(&mut self, window: &mut Window, now: Time, flight: u64, repeated: bool) {
        each!(self, control => control.on_timeout(window, now, flight, repeated));
    }
    fn on_recovered(&mut self, window: &mut Window, now: Time) {
        each!(self, control => control.on_recovered(window, now));
    }
    fn on_undo(&mut self) {
        each!(self, control => control.on_undo());
    }
    fn on_restart(&mut self, window: &mut Window) {
        each!(self, control => control.on_restart(window));
    }
    fn on_idle(&mut self, window: &mut Window, most: u64) {
        each!(self, control => control.on_idle(window, most));
    }
    fn reduces_proportionally(&self) -> bool {
        each!(self, control => control.reduces_proportionally())
    }
    fn starts_as_reno(&self) -> bool {
        each!(self, control => control.starts_as_reno())
    }
    fn paces(&self) -> bool {
        each!(self, control => control.paces())
    }
    fn recovers_fast(&self) -> bool {
        each!(self, control => control.recovers_fast())
    }
    fn retransmits_early(&self) -> bool {
        each!(self, control => control.retransmits_early())
    }
}
