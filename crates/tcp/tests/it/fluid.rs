//! The fluid equations of Lee 2014, chapter 5, for the two queues between which TCP works, against packets.
//!
//! The equations let a queue grow at the difference of two rates and say when it is full; that its input follows its
//! output only after a round trip, they say in words. Here both stand: with that delay the level does not reach the
//! capacity but stops short of it by what the output takes in one round trip, and without it the printed equation comes
//! out.

use crate::support::{Side, Wire, plain};
use tcp::Config;
use units::{BitRate, Bytes, Time};

const MS: Time = Time::from_ms(1);
const DELAY: Time = Time::from_ms(10);

/// A sender with all the window it wants, and a receiver whose application reads only when told to. Segments are small,
/// for the model knows none: 1,000 bytes of payload a millisecond, in packets of 140.
fn toward_a_reader(buffer: u64) -> Wire {
    let client = Config { initial_window: 1000, mss: 100, ..plain() };
    let server = Config { receive_buffer: Bytes::new(buffer), auto_consume: false, mss: 100, ..plain() };
    let rate = BitRate::from_bps(11_200_000);
    let mut wire = Wire::new(&client, &server, DELAY).bottleneck(rate, usize::MAX).established();
    wire.write(Side::Client, 1 << 30);
    // Until the first segment is about to arrive.
    wire.run_until(wire.now + DELAY);
    wire
}

#[test]
fn the_receive_buffer_fills_at_the_difference_of_the_rates() {
    // Equations 5.6 to 5.9. Bytes a millisecond: the network brings 1,000, the application takes 400.
    let (buffer, arriving, taken) = (60_000.0, 1000.0, 400.0);
    let round_trip = 20.1;
    let plateau = buffer - taken * round_trip;
    let full_at = plateau / (arriving - taken);
    let mut wire = toward_a_reader(60_000);
    let mut received = 0;
    for t in 1..=400_u32 {
        wire.run_until(wire.now + MS);
        wire.with(Side::Server, |endpoint, now, out| endpoint.consume(now, 400, out));
        let level = wire.server.unread() as f64;
        let fluid = ((arriving - taken) * f64::from(t)).min(plateau);
        // The reader's grain is 400; arrivals, window updates and what the sender makes of them come in segments of
        // 100.
        assert!((level - fluid).abs() <= 400.0 + 3.0 * 100.0, "{t} ms: {level} bytes, the fluid model says {fluid}");
        if t == 200 {
            received = wire.server.received();
        }
    }
    assert!((80.0..100.0).contains(&full_at));
    // 5.9: the sender has come down to the application's rate; over 200 ms a millisecond's worth more or less.
    let rate = (wire.server.received() - received) as f64 / 200.0;
    assert!((rate - taken).abs() <= taken / 200.0, "{rate} bytes a millisecond");
    assert_eq!(wire.client.counters().zero_windows_seen, 0, "a steady reader leaves the window open");
}

#[test]
fn the_receive_buffer_empties_when_the_application_is_faster() {
    // As printed, 5.6 is 0 where the application is as fast as the network: a buffer that has filled once would stay
    // full for ever. Here the difference is negative then and holds while there is something in the buffer. The
    // application goes from 400 to 2,000 bytes a millisecond; what arrives stays at 400 for the round trip that the
    // sender takes to hear of it.
    let (slow, fast, round_trip) = (400.0, 2000.0, 20.0);
    let mut wire = toward_a_reader(60_000);
    let read = |wire: &mut Wire, bytes| {
        wire.run_until(wire.now + MS);
        wire.with(Side::Server, |endpoint, now, out| endpoint.consume(now, bytes, out));
        wire.server.unread() as f64
    };
    let full = (0..300).map(|_| read(&mut wire, 400)).last().unwrap_or_default();
    assert!(full > 50_000.0, "{full} bytes");
    for t in 1..=20_u32 {
        let level = read(&mut wire, 2000);
        let fluid = full - (fast - slow) * f64::from(t).min(round_trip);
        assert!((level - fluid).abs() <= 400.0 + 3.0 * 100.0, "{t} ms: {level} bytes, the fluid model says {fluid}");
    }
    // Then the network's 1,000 arrive, half of what is taken, and soon nothing is left but what has just come.
    let left = (0..60).map(|_| read(&mut wire, 2000)).last().unwrap_or_default();
    assert!(left <= 100.0, "{left} bytes");
}

#[test]
fn an_application_that_stops_closes_the_window_after_its_buffer_at_the_rate() {
    // 5.8: with nothing taken, the integral is the buffer after buffer / rate.
    for buffer in [8_000_u32, 20_000, 60_000] {
        let mut wire = toward_a_reader(u64::from(buffer));
        let start = wire.now;
        while wire.server.counters().zero_windows_announced == 0 {
            assert!(wire.step());
        }
        let took = (wire.now - start).as_secs_f64() * 1e3;
        let fluid = f64::from(buffer) / 1000.0;
        assert!((took - fluid).abs() <= 0.05, "{took} ms, the fluid model says {fluid}");
    }
}

#[test]
fn the_transmit_queue_grows_while_the_sender_does_not_know_of_the_slower_link() {
    // Equations 5.1 to 5.5: a window in balance at 1,000 bytes a millisecond, then the rate falls to 400 (as from 65 to
    // 26 Mbit/s). For one round trip acknowledgements of the old rate come in, so that the queue grows by the
    // difference; then TCP injects at the new rate.
    let (fast, slow) = (1000.0, 400.0);
    let window = 26;
    let config = Config { max_window: Some(window), initial_window: window, ..plain() };
    let mut wire =
        Wire::new(&config, &config, DELAY).bottleneck(BitRate::from_bps(8_320_000), usize::MAX).established();
    wire.write(Side::Client, 1 << 30);
    wire.run_until(wire.now + Time::from_ms(200));
    let before = wire.queued(Side::Client) as f64;
    wire.rate = Some(BitRate::from_bps(3_328_000));
    // The packets queued so far keep the departure that the faster rate gave them.
    let round_trip = 2.0 * DELAY.as_secs_f64() * 1e3 + 1.0;
    for t in 0..200_u32 {
        let since = (f64::from(t) - before).max(0.0);
        let fluid = before + (fast - slow) / 1000.0 * since.min(round_trip);
        let level = wire.queued(Side::Client) as f64;
        assert!((level - fluid).abs() <= 2.0, "{t} ms: {level} packets, the fluid model says {fluid}");
        wire.run_until(wire.now + MS);
    }
    // 5.2 and 5.3: what TCP injects, what the link sends and what arrives are one rate.
    let (from, at) = (wire.server.received(), wire.now);
    wire.run_until(at + Time::from_ms(500));
    let rate = (wire.server.received() - from) as f64 / 500.0;
    assert!((rate - slow).abs() <= 2.0, "{rate} bytes a millisecond");
}
