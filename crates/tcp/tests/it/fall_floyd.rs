//! What ns-2's Sack1 does beside its *pipe* (`tcp-sack1.cc`, `scoreboard-rq.cc` of 2.35). `sim/tests/it/fidelity` holds
//! it against ns-2's own numbers: 64 senders of three segments time out as often only with all of it.

use crate::support::{Fate, Side, Wire, plain};
use tcp::{Config, Recovery};
use units::Time;

const DELAY: Time = Time::from_ms(50);
const MSS: u64 = 1000;

fn established(recovery: Recovery) -> Wire {
    let config = Config { initial_window: 12, recovery, ..plain() };
    Wire::new(&config, &config, DELAY).established()
}

/// Loses each of these numbers of the stream's segments when it is first sent.
fn lose_once(wire: &mut Wire, numbers: &'static [u64]) {
    let mut left = numbers.to_vec();
    wire.set_script(move |side, _, segment| {
        let number = left.iter().position(|n| side == Side::Client && segment.len > 0 && segment.seq == 1 + MSS * n);
        if let Some(at) = number {
            left.remove(at);
            return Fate::Drop;
        }
        Fate::Deliver
    });
}

/// `ScoreBoardRQ::GetNextRetran` knows only holes below what is SACKed. RFC 6675 has a rescue retransmission (rule 4).
#[test]
fn a_lost_tail_waits_for_the_timer() {
    for (recovery, timeouts) in [(Recovery::FallFloyd, 1), (Recovery::Rfc6675, 0)] {
        let mut wire = established(recovery);
        lose_once(&mut wire, &[4, 11]);
        wire.write(Side::Client, 12 * MSS);
        wire.run();
        assert_eq!(wire.server.received(), 12 * MSS);
        let counters = wire.client.counters();
        assert_eq!((counters.fast_recoveries, counters.timeouts), (1, timeouts), "{recovery:?}");
    }
}

/// `Sack1TcpAgent::dupack_action`: fast retransmit needs `highest_ack_ > recover_`, and a timeout leaves the highest
/// segment sent in `recover_`. So does the timer that runs on over a pause. The first segment after either is lost, and
/// waits for the timer again; the second does not.
#[test]
fn the_first_segment_after_a_timeout_is_not_retransmitted_early() {
    for early in [false, true] {
        for pause in [Time::ZERO, Time::from_secs(1)] {
            let mut wire = established(Recovery::FallFloyd);
            if pause == Time::ZERO {
                // A lost tail brings the timer about.
                lose_once(&mut wire, &[11]);
            }
            wire.write(Side::Client, 12 * MSS);
            wire.run();
            let before = wire.client.counters();
            assert_eq!(before.timeouts, u32::from(pause == Time::ZERO));
            wire.run_until(wire.now + pause);
            lose_once(&mut wire, if early { &[13] } else { &[12] });
            wire.write(Side::Client, 12 * MSS);
            wire.run();
            let counters = wire.client.counters();
            assert_eq!(counters.fast_recoveries - before.fast_recoveries, u32::from(early), "{early} {pause}");
            assert_eq!(counters.timeouts - before.timeouts, u32::from(!early), "{early} {pause}");
        }
    }
}
