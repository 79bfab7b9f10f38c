//! What TCP lets a connection have of an idle path: its window, and what losses leave of it.

use tcp::control::ControlKind;
use tcp::{BASE_HEADER, Config, Recovery};
use units::{Bytes, Time};

/// Bytes of the timestamps option, padded (RFC 7323, appendix A).
const TIMESTAMPS: u16 = 12;

/// What a stream's ends have agreed on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    /// Payload of a full segment.
    pub payload: f64,
    /// Bytes of a header on the wire, framing included: all that an acknowledgement is.
    pub header: f64,
    /// Segments for each acknowledgement.
    pub per_ack: f64,
}

impl Terms {
    /// The terms of a stream from an end with `config` to one with `peer`.
    pub fn new(config: &Config, peer: &Config, framing: Bytes) -> Self {
        let options = if config.timestamps && peer.timestamps && config.count_options { TIMESTAMPS } else { 0 };
        let mss = config.mss.min(peer.mss).saturating_sub(options).max(1);
        Self {
            payload: f64::from(mss),
            header: f64::from(BASE_HEADER + u32::from(options)) + framing.get() as f64,
            per_ack: if peer.delayed_ack.is_some() { 2.0 } else { 1.0 },
        }
    }
    /// Bytes on the wire for each byte of payload of full segments.
    pub fn expansion(&self) -> f64 {
        1.0 + self.header / self.payload
    }
    /// Bytes on the wire of so much payload.
    pub fn wire(&self, payload: u64) -> f64 {
        payload as f64 + libm::ceil(payload as f64 / self.payload) * self.header
    }
    /// Bytes of acknowledgements for each byte on the wire of data.
    pub fn acknowledgements(&self) -> f64 {
        self.header / (self.per_ack * (self.payload + self.header))
    }
}

/// The most that may be unacknowledged, whatever the network: the sender's own limit, and the largest window that the
/// receiver announces, in bytes of payload.
pub(super) fn window_limit(sender: &Config, receiver: &Config) -> f64 {
    let scaling = sender.window_scaling && receiver.window_scaling;
    let announced = if scaling { receiver.receive_buffer.get() } else { receiver.receive_buffer.get().min(65_535) };
    let own = sender.max_window.map_or(u64::MAX, |segments| u64::from(segments) * u64::from(sender.mss));
    announced.min(own).max(1) as f64
}

/// By how much a round trip of slow start multiplies the window: with delayed acknowledgements and one segment for each
/// (RFC 3465, L = 1) by half of it, else by all of it.
pub(super) fn growth(sender: &Config, receiver: &Config) -> f64 {
    if receiver.delayed_ack.is_some() && sender.abc_limit == Some(1) { 1.5 } else { 2.0 }
}

/// The retransmission timeout on a path, once it is known.
pub(super) fn timeout(config: &Config, rtt: Time) -> Time {
    (rtt + config.min_rto).min(config.max_rto)
}

/// How long a sender waits until it sees that the last segments of what it had are lost: the probe of RACK-TLP after
/// two round trips (RFC 8985, 7.2), or the retransmission timeout.
pub(super) fn tail_timeout(config: &Config, rtt: Time) -> Time {
    let timeout = timeout(config, rtt);
    if config.sack && config.recovery == Recovery::Rack { (rtt * 2).min(timeout) + rtt } else { timeout }
}

/// The mean window, in segments, that a control keeps on a path that loses a fraction `loss` of packets at random, by
/// its response function; infinite for those that such losses do not make yield.
fn mean_window(config: &Config, loss: f64, rtt: f64) -> f64 {
    // RFC 9438, section 4.3: the mean window of additive increase and multiplicative decrease.
    let aimd = |increase: f64, kept: f64| libm::sqrt(increase * (1.0 + kept) / (2.0 * (1.0 - kept) * loss));
    let reno = aimd(1.0, 0.5);
    match config.control {
        ControlKind::Reno | ControlKind::Dctcp | ControlKind::Coupled => reno,
        ControlKind::Cubic => {
            let (c, kept) = (config.cubic.c, config.cubic.beta);
            // RFC 9438, section 5.1, equation 5; below it the Reno-friendly region.
            let cubic = libm::pow(c * (3.0 + kept) / (4.0 * (1.0 - kept)), 0.25) * libm::pow(rtt / loss, 0.75);
            cubic.max(reno)
        }
        // A cycle of 1 / p segments has the rounds of Reno's, and those of a slow start to half its largest window.
        ControlKind::Tahoe => {
            let largest = libm::sqrt(8.0 / (3.0 * loss));
            let rounds = largest / 2.0 + libm::log2((largest / 2.0).max(1.0));
            1.0 / (loss * rounds)
        }
        // Kelly 2003, section 3: a / (b p) with a = 0.01, b = 0.125; Reno below its legacy window.
        ControlKind::Scalable => legacy(0.08 / loss, reno, 100.0),
        ControlKind::ScalableKelly => legacy(0.08 / loss, reno, 16.0),
        ControlKind::Vegas => aimd(1.0, 0.75),
        // Without a queue, cwnd grows by gamma alpha segments per round trip, gamma = 0.5.
        ControlKind::Fast { alpha } => aimd(0.5 * f64::from(alpha.max(1)), 0.5),
        // BBR does not look at losses. Westwood+ sets the window to the product of its estimates, which is what it had.
        ControlKind::Bbr | ControlKind::BbrDraft | ControlKind::Westwood => f64::INFINITY,
    }
}

fn legacy(own: f64, reno: f64, window: f64) -> f64 {
    if own > window { own.max(reno) } else { reno }
}

/// The rate, in bytes of payload per second, that random losses leave a long stream: the mean window per round trip, and
/// the time in timeouts by Padhye, Firoiu, Towsley and Kurose, "Modeling TCP Throughput" (SIGCOMM 1998), equation 30.
pub(super) fn lossy_rate(config: &Config, terms: &Terms, loss: f64, rtt: Time) -> f64 {
    if loss <= 0.0 {
        return f64::INFINITY;
    }
    let (loss, seconds) = (loss.min(0.999), rtt.as_secs_f64().max(1e-9));
    let window = mean_window(config, loss, seconds);
    if window == f64::INFINITY {
        return f64::INFINITY;
    }
    let per_segment = seconds / window.max(1.0);
    let in_timeout = (3.0 * libm::sqrt(3.0 * loss / 8.0)).min(1.0) * loss * (1.0 + 32.0 * loss * loss);
    terms.payload / (per_segment + timeout(config, rtt).as_secs_f64() * in_timeout)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms() -> Terms {
        Terms { payload: 1460.0, header: 40.0, per_ack: 1.0 }
    }
    fn close(found: f64, expected: f64, part: f64) {
        assert!((found - expected).abs() <= part * expected, "{found}, not {expected}");
    }

    /// The table of RFC 9438, section 5.1, for an RTT of 0.1 s and C = 0.4; at first it is in the Reno-friendly region.
    #[test]
    fn cubic_has_the_windows_of_its_rfc() {
        let config = Config { control: ControlKind::Cubic, ..Config::default() };
        for (loss, window) in [(1e-2, 12.0), (1e-3, 38.0), (1e-4, 187.0), (1e-5, 1054.0), (1e-6, 5926.0)] {
            close(mean_window(&config, loss, 0.1), window, 0.03);
        }
    }

    /// Mathis, Semke, Mahdavi and Ott 1997: 1.22 MSS / (RTT sqrt(p)), where timeouts are rare.
    #[test]
    fn reno_has_the_rate_of_mathis() {
        let config = Config { control: ControlKind::Reno, min_rto: Time::ZERO, ..Config::default() };
        let rate = lossy_rate(&config, &terms(), 1e-5, Time::from_ms(100));
        close(rate, 1460.0 / (0.1 * libm::sqrt(1e-5)) * 1.2247, 0.01);
    }

    /// Padhye et al. 1998, equation 30, with RTT 0.2 s, T0 2 s, b = 1: computed by hand for p = 0.02. The first term is
    /// 0.2 sqrt(2 x 0.02 / 3) = 0.023094; the second 2 x min(1, 3 sqrt(3 x 0.02 / 8)) x 0.02 x 1.0128 = 0.010525.
    #[test]
    fn timeouts_take_their_time() {
        let config = Config { control: ControlKind::Reno, min_rto: Time::from_ms(1800), ..Config::default() };
        close(lossy_rate(&config, &terms(), 0.02, Time::from_ms(200)), 1460.0 / (0.023_094 + 0.010_525), 0.001);
    }

    #[test]
    fn windows_are_limited_by_the_buffer_and_the_sender() {
        let receiver = Config { receive_buffer: Bytes::new(1_000_000), ..Config::default() };
        close(window_limit(&Config::default(), &receiver), 1e6, 0.0);
        let unscaled = Config { window_scaling: false, ..receiver };
        close(window_limit(&Config::default(), &unscaled), 65_535.0, 0.0);
        let sender = Config { max_window: Some(20), mss: 1000, ..Config::default() };
        close(window_limit(&sender, &receiver), 20_000.0, 0.0);
    }
}
