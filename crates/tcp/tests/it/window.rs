//! The peer's window: full, closed, probed, reopened, never silly (RFC 9293 section 3.8.6, RFC 1122 section 4.2.3).

use crate::support::{Fate, Side, Wire, plain};
use tcp::{Config, Flags, Notice, Segment};
use units::{Bytes, Time};

const DELAY: Time = Time::from_ms(10);

/// The server's application reads only when told to.
fn established(buffer: u64) -> Wire {
    let client = Config { initial_window: 20, ..plain() };
    let server = Config { receive_buffer: Bytes::new(buffer), auto_consume: false, ..plain() };
    Wire::new(&client, &server, DELAY).established()
}

fn consume(wire: &mut Wire, bytes: u64) {
    wire.with(Side::Server, |endpoint, now, out| endpoint.consume(now, bytes, out));
}

#[test]
fn no_more_than_the_buffer_is_sent() {
    let mut wire = established(8000);
    wire.write(Side::Client, 50_000);
    wire.run_until(wire.now + Time::from_ms(100));
    assert_eq!((wire.server.received(), wire.server.unread()), (8000, 8000));
    assert_eq!(wire.client.outstanding(), 0);
    assert_eq!(wire.client.counters().zero_windows_seen, 1);
    assert_eq!(wire.server.counters().zero_windows_announced, 1);
}

#[test]
fn reading_reopens_the_window() {
    let mut wire = established(8000);
    wire.write(Side::Client, 50_000);
    wire.run_until(wire.now + Time::from_ms(50));
    let before = wire.log.len();
    consume(&mut wire, 1000);
    assert_eq!(wire.log.len(), before, "one segment's room is not worth an update of its own");
    consume(&mut wire, 1000);
    assert_eq!(wire.log[before].segment.window, 2000);
    wire.run_until(wire.now + Time::from_ms(30));
    assert_eq!(wire.server.received(), 10_000);
    let lengths: Vec<u32> = wire.data(Side::Client).iter().map(|(_, _, len)| *len).collect();
    assert!(lengths.iter().all(|len| *len == 1000), "{lengths:?}");
}

#[test]
fn a_paced_reader_gets_everything_at_its_own_rate() {
    let mut wire = established(8000);
    let start = wire.now;
    wire.write(Side::Client, 200_000);
    // 100 bytes per millisecond, through a window of 8,000.
    while wire.server.received() < 200_000 || wire.server.unread() > 0 {
        wire.run_until(wire.now + Time::from_ms(1));
        consume(&mut wire, 100);
    }
    let took = (wire.now - start).as_ms();
    assert!((2000..2060).contains(&took), "{took} ms for 200,000 bytes at 100 a millisecond");
    assert_eq!(wire.client.counters().retransmissions, 0);
    assert_eq!(wire.client.counters().window_probes, 0);
    // Silly window avoidance: full segments all along.
    let data = wire.data(Side::Client);
    assert!(data.iter().all(|(_, _, len)| *len == 1000));
}

#[test]
fn a_closed_window_is_probed_with_growing_pauses() {
    let config = Config { max_rto: Time::from_secs(4), ..plain() };
    let server = Config { receive_buffer: Bytes::new(2000), auto_consume: false, ..plain() };
    let mut wire = Wire::new(&config, &server, DELAY).established();
    wire.write(Side::Client, 5000);
    wire.run_until(wire.now + DELAY * 2);
    let start = wire.now;
    let rto = wire.client.rto();
    assert_eq!(rto, Time::from_ms(200));
    wire.log.clear();
    wire.run_until(start + Time::from_secs(20));
    let probes: Vec<(u64, u32)> = wire
        .data(Side::Client)
        .iter()
        .map(|(at, seq, len)| (((*at - start).as_ms() * 10 + seq - 2001), *len))
        .collect();
    let expected: Vec<(u64, u32)> =
        [200, 600, 1400, 3000, 6200, 10_200, 14_200, 18_200].map(|at| (at * 10, 1)).to_vec();
    assert_eq!(probes, expected);
    assert!(
        wire.notices.iter().all(|(_, _, notice)| *notice != Notice::Reset),
        "a receiver that answers is not given up"
    );
    consume(&mut wire, 2000);
    wire.run_until(wire.now + Time::from_secs(1));
    assert_eq!(wire.server.received(), 4000);
    // The long pauses are forgotten with the reopening.
    assert_eq!(wire.client.rto(), rto);
}

#[test]
fn a_lost_window_update_is_found_by_a_probe() {
    let mut wire = established(4000);
    wire.write(Side::Client, 8000);
    wire.run_until(wire.now + Time::from_ms(50));
    wire.set_script(|side, _, segment| {
        if side == Side::Server && segment.window == 4000 && segment.ack == 4001 { Fate::Drop } else { Fate::Deliver }
    });
    consume(&mut wire, 4000);
    wire.run_until(wire.now + Time::from_secs(2));
    assert_eq!(wire.server.received(), 8000);
    assert_eq!(wire.client.counters().window_probes, 1);
}

#[test]
fn a_receiver_that_vanishes_is_given_up() {
    let config = Config { max_retries: 3, ..plain() };
    let server = Config { receive_buffer: Bytes::new(2000), auto_consume: false, ..plain() };
    let mut wire = Wire::new(&config, &server, DELAY).established();
    wire.write(Side::Client, 5000);
    wire.run_until(wire.now + Time::from_ms(50));
    wire.set_script(|_, _, _| Fate::Drop);
    wire.run();
    assert_eq!(wire.notices.last().map(|(_, side, notice)| (*side, *notice)), Some((Side::Client, Notice::Reset)));
}

#[test]
fn a_window_below_half_waits_for_the_timer_then_is_used() {
    // The receiver can never offer a full segment: half of its window is worth sending at once.
    let mut wire = established(700);
    let start = wire.now;
    wire.write(Side::Client, 2000);
    wire.run_until(start + DELAY);
    assert_eq!(wire.data(Side::Client), [(start, 1, 700)]);
    wire.run_until(start + Time::from_ms(30));
    consume(&mut wire, 350);
    wire.run_until(wire.now + DELAY * 2);
    assert_eq!(wire.server.received(), 1050);
}

#[test]
fn the_right_edge_is_never_taken_back() {
    let mut wire = established(10_000);
    wire.write(Side::Client, 100_000);
    let mut edge = 0;
    for _ in 0..200 {
        wire.run_until(wire.now + Time::from_ms(2));
        consume(&mut wire, 777);
    }
    for sent in wire.log.iter().filter(|sent| sent.from == Side::Server) {
        let new = sent.segment.ack + u64::from(sent.segment.window);
        assert!(new >= edge);
        assert!(new == edge || new - edge >= 1000, "inched forward by {}", new - edge);
        edge = new;
    }
}

#[test]
fn a_buffer_that_grows_opens_the_window_and_one_that_shrinks_takes_nothing_back() {
    let mut wire = established(4000);
    wire.write(Side::Client, 50_000);
    wire.run_until(wire.now + Time::from_ms(50));
    assert_eq!((wire.server.unread(), wire.client.counters().zero_windows_seen), (4000, 1));
    let resize = |wire: &mut Wire, size| {
        wire.with(Side::Server, |endpoint, now, out| endpoint.set_receive_buffer(now, Bytes::new(size), out));
    };
    resize(&mut wire, 10_000);
    wire.run_until(wire.now + DELAY);
    assert_eq!(wire.client.peer_window_end(), 10_000);
    // Smaller again while 6,000 bytes are under way: all of them are taken, and the window opens when there is room
    // below the new size.
    resize(&mut wire, 3000);
    wire.run_until(wire.now + Time::from_ms(50));
    assert_eq!((wire.server.unread(), wire.client.outstanding()), (10_000, 0));
    consume(&mut wire, 7000);
    wire.run_until(wire.now + Time::from_ms(50));
    assert_eq!(wire.server.received(), 10_000, "3,000 are as many as it may hold now");
    consume(&mut wire, 2000);
    wire.run_until(wire.now + Time::from_ms(50));
    assert_eq!((wire.server.received(), wire.server.unread()), (12_000, 3000));
    assert_eq!(wire.client.counters().retransmissions, 0);
}

/// A retransmission carries the newest acknowledgement and window at an old sequence number. Hosts take both (Linux,
/// `tcp_may_update_window`: what acknowledges something new updates the window, whatever its sequence number).
#[test]
fn a_retransmission_is_news_of_the_window() {
    let mut wire = established(8000);
    wire.write(Side::Client, 5000);
    let mut hear = |seq, ack, window| {
        let mut segment = Segment::new(Flags::ACK, seq, ack);
        (segment.len, segment.window) = (1000, window);
        wire.with(Side::Client, |endpoint, now, out| endpoint.on_segment(now, &segment, out));
    };
    // The peer's first segment is lost, its second arrives before any of ours does there.
    hear(1001, 1, 3000);
    hear(1, 5001, 8000);
    assert_eq!((wire.client.acknowledged(), wire.client.peer_window_end()), (5000, 13_000));
}
