//! Saturation throughput of DCF in closed form: what the simulated MAC is held against.
//!
//! Source: G. Bianchi, Performance analysis of the IEEE 802.11 distributed coordination function, IEEE JSAC 18(3),
//! 2000. Every station always has a frame, hears all others, and collides with a probability p that does not depend on
//! the past. A limit of transmissions per frame is that of H. Wu et al., INFOCOM 2002; an A-MPDU counts as one long
//! frame whose answer is a block ACK.

use crate::phy::{ACK_BYTES, Mode, Settings};
use units::{BitRate, Bytes, Time};

/// The length of an RTS frame in bytes.
const RTS_BYTES: u32 = 20;
/// The length of a compressed block ACK in bytes.
const BLOCK_ACK_BYTES: u32 = 32;
/// The delimiter before each MPDU of an A-MPDU, in bytes.
const DELIMITER_BYTES: u32 = 4;

/// How stations back off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Backoff {
    /// Drawn from 0..=cw_min before the first transmission; doubled (2 cw + 1) after each failure,
    pub cw_min: u32,
    /// up to 0..=cw_max.
    pub cw_max: u32,
    /// A frame is given up after so many transmissions; `None`: never.
    pub transmissions: Option<u32>,
}

/// How long things take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exchange {
    /// The slot of backoff.
    pub slot: Time,
    /// A success, up to the next slot that may be counted down (DIFS or AIFS included).
    pub success: Time,
    /// A collision, likewise.
    pub collision: Time,
    /// Payload that a success delivers.
    pub payload: Bytes,
}

impl Exchange {
    /// Data and ACK. `mpdu` is the frame with header and FCS, of which `payload` counts; `ifs` is DIFS or AIFS. After a
    /// collision the others wait EIFS, which is `ifs` and the SIFS and ACK at the lowest rate that they may have
    /// missed.
    pub fn basic(settings: &Settings, mode: Mode, mpdu: u32, payload: Bytes, ifs: Time) -> Self {
        let ack = settings.response(mode).duration(ACK_BYTES);
        Self::new(settings, mode.duration(mpdu), ack, payload, ifs)
    }
    /// An A-MPDU of `count` MPDUs and its block ACK; `payload` is that of one MPDU.
    pub fn aggregate(settings: &Settings, mode: Mode, mpdu: u32, count: u32, payload: Bytes, ifs: Time) -> Self {
        let data = mode.duration(aggregate_bytes(mpdu, count));
        let answer = settings.response(mode).duration(BLOCK_ACK_BYTES);
        Self::new(settings, data, answer, payload * u64::from(count), ifs)
    }
    /// This exchange after an RTS and a CTS in the given modes: only RTS frames collide.
    pub fn after_rts(self, settings: &Settings, rts: Mode, cts: Mode, ifs: Time) -> Self {
        let sifs = settings.timing().sifs;
        let request = rts.duration(RTS_BYTES);
        Self {
            success: self.success + request + sifs + cts.duration(ACK_BYTES) + sifs,
            collision: request + eifs_after(settings, ifs),
            ..self
        }
    }

    fn new(settings: &Settings, data: Time, answer: Time, payload: Bytes, ifs: Time) -> Self {
        let timing = settings.timing();
        Self {
            slot: timing.slot,
            success: data + timing.sifs + answer + ifs,
            collision: data + eifs_after(settings, ifs),
            payload,
        }
    }
}

fn eifs_after(settings: &Settings, ifs: Time) -> Time {
    let timing = settings.timing();
    timing.eifs.saturating_sub(timing.difs) + ifs
}

/// The length of an A-MPDU: each MPDU after its delimiter, all but the last padded to four bytes.
pub fn aggregate_bytes(mpdu: u32, count: u32) -> u32 {
    let padded = (DELIMITER_BYTES + mpdu).next_multiple_of(4);
    padded * count.saturating_sub(1) + if count > 0 { DELIMITER_BYTES + mpdu } else { 0 }
}

/// The most MPDUs of a length that one A-MPDU in `mode` holds: 64 (the window of a block ACK), 65535 bytes, and the
/// longest PPDU.
pub fn aggregate_limit(mode: Mode, mpdu: u32) -> u32 {
    let fits = |count: &u32| {
        let bytes = aggregate_bytes(mpdu, *count);
        bytes <= mode.max_psdu() && mode.duration(bytes) <= mode.max_duration()
    };
    (1..=64).take_while(fits).last().unwrap_or(0)
}

/// The state that saturated stations settle in.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Saturation {
    /// The probability that a station transmits in a slot (tau).
    pub attempt: f64,
    /// The probability that a transmission collides (p).
    pub collision: f64,
    /// The share of frames given up.
    pub lost: f64,
    /// Payload delivered by all stations.
    pub throughput: BitRate,
}

impl Backoff {
    /// The probability of transmitting in a slot if every transmission collides with probability `p`: transmissions
    /// over slots in the life of a frame.
    pub fn attempt(&self, p: f64) -> f64 {
        // Beyond 4096 transmissions nothing is left of a frame for p < 1; at p = 1 the last window decides.
        let last = self.transmissions.unwrap_or(4096).max(1);
        let (mut window, mut reached) = (f64::from(self.cw_min) + 1.0, 1.0);
        let (mut transmissions, mut slots) = (0.0, 0.0);
        for _ in 0..last {
            transmissions += reached;
            slots += reached * f64::midpoint(window, 1.0);
            window = (2.0 * window).min(f64::from(self.cw_max) + 1.0);
            reached *= p;
        }
        transmissions / slots
    }

    /// Saturation with `stations` alike, at least one.
    pub fn saturation(&self, stations: u32, exchange: &Exchange) -> Saturation {
        let others = f64::from(stations.max(1)) - 1.0;
        let collides = |attempt: f64| 1.0 - libm::pow(1.0 - attempt, others);
        // What the others' attempts make of p falls with p: bisect.
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let p = f64::midpoint(low, high);
            if collides(self.attempt(p)) > p {
                low = p;
            } else {
                high = p;
            }
        }
        let collision = if others > 0.0 { f64::midpoint(low, high) } else { 0.0 };
        let attempt = self.attempt(collision);
        let idle = libm::pow(1.0 - attempt, others + 1.0);
        let success = (others + 1.0) * attempt * libm::pow(1.0 - attempt, others);
        let slot = idle * exchange.slot.as_secs_f64()
            + success * exchange.success.as_secs_f64()
            + (1.0 - idle - success) * exchange.collision.as_secs_f64();
        let bits = success * 8.0 * exchange.payload.get() as f64;
        let lost = self.transmissions.map_or(0.0, |limit| libm::pow(collision, f64::from(limit.max(1))));
        Saturation { attempt, collision, lost, throughput: BitRate::from_bps((bits / slot).round() as u64) }
    }
}
