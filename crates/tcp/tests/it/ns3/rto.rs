//! `src/internet/test/tcp-rto-test.cc`. The values of `rtt-test.cc` are in `timeout.rs`.

use crate::support::{Fate, Side, Wire, plain};
use tcp::{Config, Notice, RtoEstimator, State};
use units::Time;

/// ns-3's defaults: RFC 6298, at least 1 s and at most 60 s, three seconds for a SYN.
fn config() -> Config {
    Config {
        mss: 500,
        initial_window: 1,
        rto_estimator: RtoEstimator::Rfc6298,
        min_rto: Time::from_secs(1),
        max_rto: Time::from_secs(60),
        initial_rto: Time::from_secs(3),
        window_validation: false,
        ..plain()
    }
}

/// The first segment is lost seven times. The timeout doubles after each expiry, from the one second that follows from
/// SRTT + max(G, 4 RTTVAR) over a round trip below a third of that; after six retransmissions the connection is given
/// up.
#[test]
fn the_timeout_doubles_and_six_retries_are_the_last() {
    let config = Config { max_retries: 6, ..config() };
    let mut wire = Wire::new(&config, &config, Time::from_ms(50)).established();
    let start = wire.now;
    wire.set_script(|side, number, _| if side == Side::Client && number < 7 { Fate::Drop } else { Fate::Deliver });
    wire.write(Side::Client, 500);
    let mut timeouts = Vec::new();
    while wire.client.state() != State::Closed {
        assert!(wire.step());
        let (count, rto) = (wire.client.counters().timeouts, wire.client.rto());
        if timeouts.len() < count as usize && wire.client.state() != State::Closed {
            timeouts.push(rto.as_ms());
        }
    }
    assert_eq!(timeouts, [2000, 4000, 8000, 16_000, 32_000, 60_000]);
    let sent: Vec<u64> = wire.data(Side::Client).iter().map(|(at, ..)| (*at - start).as_ms()).collect();
    assert_eq!(sent, [0, 1000, 3000, 7000, 15_000, 31_000, 63_000]);
    assert_eq!(wire.notices, [(start + Time::from_secs(123), Side::Client, Notice::Reset)]);
}

/// A SYN waits for `ConnTimeout`, three seconds.
#[test]
fn a_syn_is_sent_again_after_three_seconds() {
    let mut wire = Wire::new(&config(), &config(), Time::from_us(100));
    wire.set_script(|side, number, _| if (side, number) == (Side::Client, 0) { Fate::Drop } else { Fate::Deliver });
    wire.with(Side::Client, tcp::Endpoint::open);
    wire.run();
    let syns: Vec<u64> = wire.log.iter().filter(|sent| sent.from == Side::Client).map(|sent| sent.at.as_ms()).collect();
    assert_eq!(syns[..2], [0, 3000]);
}

/// The segment that starts at byte 25,001 is lost three times. ns-3 sets ssthresh to half of *pipe*, at least two
/// segments: two with a timeout of half a second, when *pipe* has drained. Here it is half of FlightSize, SACKed data
/// included (RFC 5681, equation 4).
#[test]
fn ssthresh_is_half_of_what_is_outstanding() {
    for min_rto in [Time::from_ms(500), Time::from_ms(5)] {
        let config = Config { min_rto, initial_window: 10, ..config() };
        let mut wire = Wire::new(&config, &config, Time::from_ms(1)).established();
        wire.set_script({
            let mut losses = 3;
            move |side, _, segment| {
                let lost = side == Side::Client && segment.len > 0 && segment.seq == 25_001 && losses > 0;
                losses -= i32::from(lost);
                if lost { Fate::Drop } else { Fate::Deliver }
            }
        });
        let mut first = None;
        let mut run = |wire: &mut Wire, until: Time| {
            while wire.next_at() <= until && wire.next_at() < Time::MAX {
                let (before, outstanding) = (wire.client.counters().timeouts, wire.client.outstanding());
                let flight = outstanding.min(wire.client.window().cwnd);
                wire.step();
                if wire.client.counters().timeouts > before && first.is_none() {
                    first = Some((flight, wire.client.window().ssthresh));
                }
            }
        };
        // A segment every 100 us, a hundred in all.
        let start = wire.now;
        for number in 1..=100 {
            wire.write(Side::Client, 500);
            let until = start + Time::from_us(100) * number;
            run(&mut wire, until);
            wire.run_until(until);
        }
        run(&mut wire, Time::from_secs(60));
        assert_eq!(wire.server.received(), 50_000);
        let (flight, threshold) = first.unwrap();
        assert_eq!(threshold, (flight / 2).max(1000), "{min_rto:?}");
    }
}
