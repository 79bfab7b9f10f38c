//! `src/internet/test/tcp-prr-recovery-test.cc`, and the RecoverFS of `tcp-prr-recovery.cc`, which RFC 9937, section
//! 6.1, defines.

use crate::support::plain;
use tcp::{Config, Endpoint, Flags, Output, Segment};
use units::Time;

const MSS: u64 = 1000;

/// A sender of segments of 1,000 bytes that is handed acknowledgements.
struct Sender {
    endpoint: Endpoint,
    out: Output,
}

impl Sender {
    /// `segments` in flight of many that are written.
    fn new(segments: u32) -> Self {
        let config = Config { initial_window: segments, limited_transmit: true, ..plain() };
        let mut sender = Self { endpoint: Endpoint::connect(&config), out: Output::default() };
        sender.endpoint.open(Time::ZERO, &mut sender.out);
        let mut syn = Segment::new(Flags::SYN | Flags::ACK | Flags::SACK_PERMITTED, 0, 1);
        (syn.mss, syn.window, syn.window_scale) = (MSS as u16, 65_535, 14);
        sender.endpoint.on_segment(Time::from_ms(100), &syn, &mut sender.out);
        sender.out.clear();
        sender.ack(100, 0, 0);
        sender.endpoint.write(Time::from_ms(100), 1000 * MSS, true, &mut sender.out).unwrap();
        sender
    }
    /// An acknowledgement of the first `una` segments, and the segments up to `sacked` after a hole of one. Returns how
    /// many segments it releases.
    fn ack(&mut self, ms: u64, una: u64, sacked: u64) -> usize {
        self.out.clear();
        let mut ack = Segment::new(Flags::ACK, 1, 1 + una * MSS);
        ack.window = 1 << 28;
        if sacked > una + 1 {
            ack.push_sack(1 + (una + 1) * MSS, 1 + sacked * MSS);
        }
        self.endpoint.on_segment(Time::from_ms(ms), &ack, &mut self.out);
        self.out.segments.iter().filter(|segment| segment.len > 0).count()
    }
}

/// The proportional part, in numbers whose product exceeds 32 bits: RecoverFS 200,000 bytes, ssthresh half of that.
/// When 51,000 are delivered, 25,500 may have been sent: 26 segments, as hosts count a part of one as a whole one
/// (`exchanges/ecn-cut-by-prr`, Linux 6.18).
#[test]
fn half_of_what_is_delivered_is_sent() {
    let mut sender = Sender::new(200);
    // One acknowledgement SACKs three segments and begins the recovery.
    let first = sender.ack(200, 0, 4);
    assert_eq!(sender.endpoint.window().ssthresh, 100 * MSS);
    assert_eq!(first + sender.ack(201, 0, 52), 26);
}

/// Two segments were SACKed by duplicates before the recovery, and released one each. Of 22 outstanding 20 are still to
/// be delivered, and ssthresh is 10: the recovery sends a segment for every two delivered. (With RecoverFS = 22, as RFC
/// 6937 had it, the sixth would follow the twelfth.) Linux 6.18 sends the same (Reno, these blocks through a TUN device):
/// one with the first, the third and so on to the 15th, then one with each from the 18th on.
#[test]
fn what_was_sacked_before_is_not_to_be_delivered() {
    let mut sender = Sender::new(20);
    assert_eq!([sender.ack(200, 0, 2), sender.ack(201, 0, 3)], [1, 1]);
    // The third duplicate. The fast retransmit goes in any case.
    let mut sent = sender.ack(202, 0, 4);
    assert_eq!((sent, sender.endpoint.window().ssthresh), (1, 10 * MSS));
    for delivered in 2..=20 {
        sent += sender.ack(203, 0, 3 + delivered);
        // With the 17th pipe is down to ssthresh; then one goes for one.
        let expected = if delivered < 17 { delivered.div_ceil(2) } else { delivered - 9 };
        assert_eq!(sent as u64, expected, "{delivered} delivered");
    }
    assert_eq!(sender.endpoint.pipe(), 10 * MSS);
}
