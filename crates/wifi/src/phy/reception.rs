//! What one station's receiver makes of the signals that reach it: which PPDU it follows, whether the channel is busy,
//! and how likely each MPDU is right.
//!
//! All signals in the air add up (cumulative interference). The PPDU that is followed is split at every change into
//! intervals of a constant ratio of signal to interference and noise (SINR), each with its own error rate (M. Lacage
//! and T. R. Henderson, WNS2 2006). A signal is followed if it is strong enough for its preamble to be detected and
//! nothing else is followed, or if it captures the receiver (J. Lee et al., An experimental study on the capture effect
//! in 802.11a networks, WiNTECH 2007). A station that sends is deaf: what begins meanwhile, or is cut off by it, is
//! interference only.
//!
//! Simplified: a preamble is detected by its first 4 us or not at all, by the least SINR in them; a PPDU whose
//! header is wrong is followed to its end, as if the header had said its length. With several antennas signals add as
//! by maximum-ratio combining, and streams of a mode with several of them share the sum; interference is white. Where
//! the noise is wider than 20 MHz the header's is too.

use super::error::ErrorModel;
use super::error_table::ErrorTable;
use super::link_curves::Frame;
use super::mode::{Class, Mode};
use super::rates::{Band, Code, DsssRate, OfdmRate, Preamble};
use super::timing::{Settings, Understands};
use crate::propagation::Radio;
use des::RandomStream;
use units::Time;

/// A PPDU as it arrives at one station.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Signal {
    /// Its number, unlike that of any other in the air.
    pub id: u32,
    /// How strong it is here.
    pub milliwatts: f64,
    /// How it is sent.
    pub mode: Mode,
}

/// When a stronger signal takes the receiver from the one it follows. In the first 4 us, before a preamble is detected,
/// the stronger one always does unless capture is off.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Capture {
    /// No capture: the receiver stays with the signal that it follows.
    Off,
    /// While preamble and header last, by so many decibels.
    Preamble(f64),
    /// At any time ("message in message"), by so many decibels.
    Anytime(f64),
}

/// What a station understood of a PPDU that has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// Nothing: it did not follow this one.
    Unheard,
    /// The header was wrong, the frame collided, or it is not of this station's kind: PHY-RXEND with an error, EIFS
    /// follows.
    Broken,
    /// The header was right: ask for each MPDU.
    Payload,
}

/// How long the strongest of several preambles is sought (aCCATime is less than 4 us).
const DETECTION: Time = Time::from_us(4);
/// The least SINR at which a preamble of OFDM or HT is detected; one of DSSS is spread over 11 chips.
const DETECTION_DB: f64 = 4.0;
const SPREADING_DB: f64 = 10.4;

/// One station's receiver.
#[derive(Debug)]
pub struct Reception {
    limits: Limits,
    phy: Settings,
    /// Every signal in the air here, and the sum of their powers in mW.
    air: Vec<(u32, f64)>,
    total: f64,
    sending: bool,
    followed: Option<Followed>,
    /// The PPDU that is followed or was followed last, by intervals.
    intervals: Vec<Interval>,
    last: Payload,
    table: &'static ErrorTable,
    random: RandomStream,
}

/// How a receiver that reckons with interference is made.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ReceptionSpec {
    /// How often bits are wrong.
    pub errors: ErrorModel,
    /// When a stronger signal takes over.
    pub capture: Capture,
}

impl Default for ReceptionSpec {
    /// Error rates of link simulation, capture in the preamble by 10 dB.
    fn default() -> Self {
        Self { errors: ErrorModel::default(), capture: Capture::Preamble(10.0) }
    }
}

#[derive(Debug)]
struct Limits {
    sensitivity: f64,
    cca_signal: f64,
    cca_energy: f64,
    /// Least SINR of a preamble: OFDM and HT, DSSS.
    detection: [f64; 2],
    /// Noise in 20, 22 and 40 MHz.
    noise: [f64; 3],
    antennas: f64,
    capture: Option<(f64, bool)>,
}

#[derive(Clone, Copy, Debug)]
struct Followed {
    signal: Signal,
    start: Time,
    noise: f64,
    /// Its preamble has stood out of what overlapped it. One that has not keeps the channel busy, and cannot be read:
    /// two preambles at once spoil timing and channel estimate.
    detected: bool,
}

/// Up to an instant since the start, in ps: the SINR, and the exponent per bit of payload of the kinds of frames that
/// [`Payload::exponents`] says.
#[derive(Clone, Copy, Debug)]
struct Interval {
    until: f64,
    sinr: f64,
    exponents: [f64; Frame::ALL.len()],
}

/// The last payload: how it was sent, when it began since the start, what it took per bit, the bits before the first
/// byte.
#[derive(Clone, Copy, Debug)]
struct Payload {
    mode: Mode,
    start: f64,
    ps_per_bit: f64,
    service: f64,
    snr: f64,
    /// The kinds of frames of which the intervals know the exponents. Most payloads need one.
    exponents: [bool; Frame::ALL.len()],
}

impl Reception {
    /// The receiver of a radio, with as many antennas as `phy` has streams; what is received is drawn from `random`.
    pub fn new(radio: &Radio, phy: &Settings, spec: &ReceptionSpec, random: RandomStream) -> Self {
        let ratio = |db: f64| libm::pow(10.0, db / 10.0);
        let limits = Limits {
            sensitivity: radio.sensitivity.milliwatts(),
            cca_signal: radio.cca_signal.milliwatts(),
            cca_energy: radio.cca_energy.milliwatts(),
            detection: [ratio(DETECTION_DB), ratio(DETECTION_DB - SPREADING_DB)],
            noise: [20e6, 22e6, 40e6].map(|hz| radio.noise(hz).milliwatts()),
            antennas: f64::from(phy.streams.max(1)),
            capture: match spec.capture {
                Capture::Off => None,
                Capture::Preamble(margin_db) => Some((ratio(margin_db), false)),
                Capture::Anytime(margin_db) => Some((ratio(margin_db), true)),
            },
        };
        Self {
            limits,
            phy: *phy,
            air: Vec::new(),
            total: 0.0,
            sending: false,
            followed: None,
            intervals: Vec::new(),
            last: Payload::NONE,
            table: ErrorTable::of(spec.errors),
            random,
        }
    }

    /// Clear channel assessment: sending, following a signal above its threshold, or energy above the other.
    pub fn busy(&self) -> bool {
        self.sending
            || self.total >= self.limits.cca_energy
            || self.followed.is_some_and(|followed| followed.signal.milliwatts >= self.limits.cca_signal)
    }
    /// The PPDU that is followed.
    pub fn following(&self) -> Option<u32> {
        self.followed.map(|followed| followed.signal.id)
    }

    /// The station begins or ends to send.
    pub fn send(&mut self, on: bool) {
        self.sending = on;
        if on {
            self.followed = None;
        }
    }

    /// A signal begins here; true if it is followed from now on.
    pub fn begin(&mut self, now: Time, signal: &Signal) -> bool {
        self.close_interval(now);
        let interference = self.total;
        self.air.push((signal.id, signal.milliwatts));
        self.total += signal.milliwatts;
        let noise = self.limits.noise(signal.mode);
        let detection = self.limits.detection[usize::from(signal.mode.class() == Class::Dsss)];
        let detected = signal.milliwatts >= self.limits.sensitivity
            && signal.milliwatts * self.limits.antennas >= detection * (noise + interference);
        let known = self.phy.understands(signal.mode) != Understands::Energy;
        let follows = known && detected && !self.sending && self.captures(now, signal.milliwatts);
        if follows {
            self.followed = Some(Followed { signal: *signal, start: now, noise, detected: true });
            self.intervals.clear();
        } else {
            self.overlap(now);
        }
        follows
    }

    /// Another signal has begun: a preamble whose detection is not over must stand out of it too.
    fn overlap(&mut self, now: Time) {
        let Some(followed) = &mut self.followed else { return };
        if now.saturating_sub(followed.start) < DETECTION {
            let own = followed.signal.milliwatts;
            let detection = self.limits.detection[usize::from(followed.signal.mode.class() == Class::Dsss)];
            followed.detected &= own * self.limits.antennas >= detection * (followed.noise + self.total - own);
        }
    }

    /// A signal ends here.
    pub fn end(&mut self, now: Time, id: u32) -> Ended {
        self.close_interval(now);
        self.air.retain(|(other, _)| *other != id);
        // Added up anew: rounding does not pile up.
        self.total = self.air.iter().map(|(_, milliwatts)| milliwatts).sum();
        match self.followed {
            Some(followed) if followed.signal.id == id => {
                self.followed = None;
                let header = self.conclude(&followed);
                let known = self.phy.understands(followed.signal.mode) == Understands::Payload;
                if self.random.chance(header) && known && followed.detected { Ended::Payload } else { Ended::Broken }
            }
            _ => Ended::Unheard,
        }
    }

    /// The probability that the MPDU at `offset` in the PSDU that ended last is right.
    pub fn probability(&mut self, offset: u32, bytes: u32) -> f64 {
        let Payload { mode, start, ps_per_bit, service, .. } = self.last;
        let frame = Frame::of(mode.code(), 8.0 * f64::from(bytes));
        self.reckon(frame);
        let at = |byte: u32| start + ps_per_bit * (service + 8.0 * f64::from(byte));
        // The service bits must be right with the first.
        let from = if offset == 0 { start } else { at(offset) };
        let exponent =
            integrate(&self.intervals, from, at(offset + bytes), |interval| interval.exponents[frame as usize])
                / ps_per_bit;
        libm::exp(-exponent)
    }
    /// Whether the MPDU at `offset` in the PSDU that ended last is right.
    pub fn mpdu(&mut self, offset: u32, bytes: u32) -> bool {
        let right = self.probability(offset, bytes);
        self.random.chance(right)
    }
    /// Signal to noise over 20 MHz of the PPDU that ended last, without interference, all antennas together.
    pub fn snr(&self) -> f64 {
        self.last.snr
    }

    fn captures(&self, now: Time, milliwatts: f64) -> bool {
        let Some(followed) = self.followed else { return true };
        let Some((margin, anytime)) = self.limits.capture else { return false };
        let (elapsed, power) = (now.saturating_sub(followed.start), followed.signal.milliwatts);
        if elapsed < DETECTION {
            milliwatts > power
        } else {
            (anytime || elapsed < followed.signal.mode.preamble()) && milliwatts >= margin * power
        }
    }

    /// Notes the SINR since the last change.
    fn close_interval(&mut self, now: Time) {
        let Some(followed) = self.followed else { return };
        let until = now.saturating_sub(followed.start).as_ps() as f64;
        if until <= self.intervals.last().map_or(0.0, |last| last.until) {
            return;
        }
        let others = self.air.iter().filter(|(id, _)| *id != followed.signal.id);
        let interference: f64 = others.map(|(_, milliwatts)| milliwatts).sum();
        let sinr = followed.signal.milliwatts / (followed.noise + interference);
        self.intervals.push(Interval { until, sinr, exponents: [0.0; Frame::ALL.len()] });
    }

    /// The probability that the header is right; notes what the payload was.
    fn conclude(&mut self, followed: &Followed) -> f64 {
        let mode = followed.signal.mode;
        let antennas = self.limits.antennas;
        let header = Header::of(mode);
        // Headers are sent in the convolutional code.
        let frame = Frame::of(Code::Convolutional, header.bits);
        let per_bit = |interval: &Interval| self.table.exponent(header.mode, frame, antennas * interval.sinr);
        let exponent = integrate(&self.intervals, header.start, header.end, per_bit) / header.ps_per_bit;

        self.last = Payload {
            mode,
            start: mode.preamble().as_ps() as f64,
            ps_per_bit: mode.ps_per_bit(),
            service: if mode.class() == Class::Dsss { 0.0 } else { 16.0 },
            snr: antennas * followed.signal.milliwatts / self.limits.noise[0],
            ..Payload::NONE
        };
        libm::exp(-exponent)
    }

    /// Sees to it that the intervals of the last payload know their exponents for this kind of frame.
    fn reckon(&mut self, frame: Frame) {
        let Payload { mode, start, .. } = self.last;
        if std::mem::replace(&mut self.last.exponents[frame as usize], true) {
            return;
        }
        let per_stream = self.limits.antennas / f64::from(mode.streams());
        for interval in self.intervals.iter_mut().filter(|interval| interval.until > start) {
            interval.exponents[frame as usize] = self.table.exponent(mode, frame, per_stream * interval.sinr);
        }
    }
}

impl Payload {
    /// Before the first.
    const NONE: Self = Self {
        mode: Mode::Ofdm(OfdmRate::R6, Band::Ghz5),
        start: 0.0,
        ps_per_bit: 1.0,
        service: 0.0,
        snr: 0.0,
        exponents: [false; Frame::ALL.len()],
    };
}

/// The integral of a value over the intervals between two instants.
fn integrate(intervals: &[Interval], from: f64, to: f64, value: impl Fn(&Interval) -> f64) -> f64 {
    let (mut sum, mut since) = (0.0, 0.0);
    for interval in intervals {
        let overlap = interval.until.min(to) - f64::max(since, from);
        if overlap > 0.0 {
            sum += overlap * value(interval);
        }
        since = interval.until;
    }
    sum
}

/// The bits that say how the payload is sent: PLCP header of 48 bits for DSSS, 24 of SIGNAL for OFDM, 24 of L-SIG and
/// 48 of HT-SIG for HT. But for the greenfield format, where HT-SIG comes alone, they begin when 16 us of training have
/// passed.
struct Header {
    mode: Mode,
    bits: f64,
    start: f64,
    end: f64,
    ps_per_bit: f64,
}

impl Header {
    fn of(mode: Mode) -> Self {
        let (mode, start_us, bits) = match mode {
            Mode::Dsss(_, Preamble::Long) => (Mode::Dsss(DsssRate::R1, Preamble::Long), 144.0, 48.0),
            Mode::Dsss(_, Preamble::Short) => (Mode::Dsss(DsssRate::R2, Preamble::Short), 72.0, 48.0),
            Mode::Ofdm(_, band) => (Mode::Ofdm(OfdmRate::R6, band), 16.0, 24.0),
            Mode::Ht(ht) => (Mode::Ofdm(OfdmRate::R6, ht.band()), 16.0, ht.header_bits()),
        };
        let (start, ps_per_bit) = (start_us * 1e6, mode.ps_per_bit());
        Self { mode, bits, start, end: start + bits * ps_per_bit, ps_per_bit }
    }
}

impl Limits {
    fn noise(&self, mode: Mode) -> f64 {
        let megahertz = mode.bandwidth_hz() / 1e6;
        self.noise[usize::from(megahertz > 20.0) + usize::from(megahertz > 22.0)]
    }
}
