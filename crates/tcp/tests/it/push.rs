//! TCP push flow control (Lee 2014, Algorithm 2): the corrected reading step by step, and what is wrong with the
//! printed one.

use crate::support::{Fate, Side, Wire, plain};
use tcp::Config;
use units::{Bytes, Time};

const MS: Time = Time::from_ms(1);
const DELAY: Time = Time::from_ms(10);
/// The server's buffer: eight segments.
const BUFFER: u64 = 8000;

/// The server's application reads only when told to; every acknowledgement may open the client's window.
fn established(push_flow_control: bool) -> Wire {
    let client = Config { initial_window: 20, window_validation: false, push_flow_control, ..plain() };
    let server = Config { receive_buffer: Bytes::new(BUFFER), auto_consume: false, ..plain() };
    Wire::new(&client, &server, DELAY).established()
}

fn consume(wire: &mut Wire, bytes: u64) {
    wire.with(Side::Server, |endpoint, now, out| endpoint.consume(now, bytes, out));
    wire.run_until(wire.now + wire.delay);
}

/// One pushed write, and its acknowledgement.
fn push(wire: &mut Wire, bytes: u64) {
    wire.write(Side::Client, bytes);
    wire.run_until(wire.now + wire.delay * 2);
}

/// Fills the server's buffer; the window goes to zero with the last acknowledgement.
fn filled(push_flow_control: bool) -> Wire {
    let mut wire = established(push_flow_control);
    push(&mut wire, BUFFER);
    assert_eq!((wire.server.unread(), wire.client.counters().zero_windows_seen), (BUFFER, 1));
    wire
}

/// RFC 6298 in milliseconds, from the handshake's sample on.
fn smoothed(samples: &[f64]) -> (f64, f64) {
    let (mut srtt, mut rttvar) = (samples[0], samples[0] / 2.0);
    for sample in &samples[1..] {
        rttvar = 0.75 * rttvar + 0.25 * (srtt - sample).abs();
        srtt = 0.875 * srtt + 0.125 * sample;
    }
    (srtt, rttvar)
}

fn assert_rtt(wire: &Wire, samples: &[f64]) {
    let (srtt, rttvar) = smoothed(samples);
    let rtt = wire.client.rtt();
    let is = (rtt.smoothed().unwrap().as_secs_f64() * 1e3, rtt.variance().as_secs_f64() * 1e3);
    assert!((is.0 - srtt).abs() < 1e-6 && (is.1 - rttvar).abs() < 1e-6, "{is:?}, expected {srtt} and {rttvar}");
}

#[test]
fn step_by_step() {
    let mut wire = filled(true);
    // Seven acknowledgements open the window by a segment each. The eighth closes the peer's window, and one segment
    // was in flight: the floor.
    assert!(wire.client.in_push_flow_control());
    assert_eq!(wire.client.window().cwnd, 2000);
    // One round trip was timed at a time: the handshake and the first segment.
    assert_rtt(&wire, &[20.0, 20.0]);

    // The receiver gets faster, and reads too little to end the mode: no sample is taken, no segment opens the window.
    wire.delay = MS;
    consume(&mut wire, 3000);
    for _ in 0..2 {
        push(&mut wire, 500);
        assert!(wire.client.in_push_flow_control());
        assert_eq!(wire.client.window().cwnd, 2000);
        assert_rtt(&wire, &[20.0, 20.0]);
    }

    // It reads all. What was sent before it said so does not end the mode; what is sent after it does, and is a sample.
    consume(&mut wire, BUFFER);
    assert!(wire.client.in_push_flow_control());
    push(&mut wire, 500);
    assert!(!wire.client.in_push_flow_control());
    assert_rtt(&wire, &[20.0, 20.0, 2.0]);
    assert_eq!(wire.client.window().cwnd, 2500);
}

#[test]
fn without_it_every_acknowledgement_counts() {
    let mut wire = filled(false);
    assert_eq!(wire.client.window().cwnd, 20_000 + BUFFER);
    wire.delay = MS;
    consume(&mut wire, 3000);
    push(&mut wire, 500);
    assert_rtt(&wire, &[20.0, 20.0, 2.0]);
    assert!(!wire.client.in_push_flow_control());
}

#[test]
fn what_was_in_flight_bounds_the_window() {
    let mut wire = filled(true);
    consume(&mut wire, 3000);
    // Two segments of one write, only the second of them pushed: the first is a sample and opens the window as ever.
    wire.write(Side::Client, 2000);
    wire.run_until(wire.now + DELAY * 2);
    assert_rtt(&wire, &[20.0, 20.0, 20.0]);
    assert_eq!(wire.client.window().cwnd, 2000, "3,000 after the first, one segment in flight at the second");

    // Pushed segments acknowledged together: all of them were in flight.
    let client = Config { initial_window: 20, window_validation: false, push_flow_control: true, ..plain() };
    let server = Config { receive_buffer: Bytes::new(BUFFER), auto_consume: false, ..plain() };
    let mut wire = Wire::new(&client, &server, DELAY).established();
    wire.set_script(|side, number, _| if side == Side::Server && number < 7 { Fate::Drop } else { Fate::Deliver });
    for _ in 0..8 {
        wire.write(Side::Client, 1000);
    }
    wire.run_until(wire.now + DELAY * 2);
    assert!(wire.client.in_push_flow_control());
    assert_eq!(wire.client.window().cwnd, 8000);
}

#[test]
fn backing_off_ends_in_the_mode_too() {
    let mut wire = filled(true);
    consume(&mut wire, 3000);
    let settled = wire.client.rto();
    let mut lost = 0;
    wire.set_script(move |side, _, segment| {
        lost += u32::from(side == Side::Client && segment.len > 0);
        if side == Side::Client && segment.len > 0 && lost <= 2 { Fate::Drop } else { Fate::Deliver }
    });
    wire.write(Side::Client, 500);
    wire.run_until(wire.now + Time::from_secs(2));
    assert_eq!(wire.client.rto(), settled * 4, "sent three times, so no sample");
    push(&mut wire, 500);
    assert!(wire.client.in_push_flow_control());
    assert_eq!(wire.client.rto(), settled);
    assert_eq!(wire.client.rtt().smoothed(), Some(DELAY * 2));
}

#[test]
fn a_closed_window_without_pushed_data_changes_nothing() {
    // The application corks: no segment but the last one of all is pushed, and that is not acknowledged here.
    let run = |push_flow_control| {
        let client = Config { initial_window: 20, window_validation: false, push_flow_control, ..plain() };
        let server = Config { receive_buffer: Bytes::new(BUFFER), auto_consume: false, ..plain() };
        let mut wire = Wire::new(&client, &server, DELAY).established();
        wire.write(Side::Client, 100_000);
        for _ in 0..200 {
            wire.run_until(wire.now + MS);
            wire.with(Side::Server, |endpoint, now, out| endpoint.consume(now, 100, out));
        }
        assert!(wire.client.counters().zero_windows_seen > 0 && wire.client.acknowledged() < 100_000);
        (*wire.client.window(), wire.client.rtt().smoothed(), wire.data(Side::Client))
    };
    assert_eq!(run(true), run(false));
}

/// The algorithm as it is printed, over a sender that counts whole segments: `packets_in_flight` is what the kernel's
/// variable of that name holds when an acknowledgement has been taken.
struct Printed {
    fc_mode: bool,
    cwnd: u64,
    packets_in_flight: u64,
}

impl Printed {
    fn on_ack(&mut self, zero_window: bool, psh_acked: bool) {
        self.packets_in_flight -= 1;
        self.cwnd += 1;
        if zero_window {
            self.fc_mode = true;
        }
        if self.fc_mode && psh_acked {
            self.cwnd = self.cwnd.min(self.packets_in_flight);
        }
    }
    /// Sends as many of `segments` as the window allows; returns how many.
    fn send(&mut self, segments: u64) -> u64 {
        let sent = segments.min(self.cwnd.saturating_sub(self.packets_in_flight));
        self.packets_in_flight += sent;
        sent
    }
}

#[test]
fn as_printed_the_window_goes_to_zero_for_good() {
    let mut sender = Printed { fc_mode: false, cwnd: 20, packets_in_flight: 0 };
    assert_eq!(sender.send(8), 8);
    for number in 1..=8 {
        sender.on_ack(number == 8, number == 8);
    }
    assert_eq!((sender.cwnd, sender.packets_in_flight), (0, 0));
    // Nothing is outstanding, so no acknowledgement and no timer will ever come to open it.
    assert_eq!(sender.send(1), 0);

    // The corrected reading at the same point: the next segment goes, and the connection lives.
    let mut wire = filled(true);
    consume(&mut wire, BUFFER);
    push(&mut wire, 1000);
    assert_eq!(wire.client.acknowledged(), BUFFER + 1000);
}

#[test]
fn as_printed_the_mode_never_ends() {
    let mut sender = Printed { fc_mode: false, cwnd: 20, packets_in_flight: 0 };
    sender.send(20);
    sender.on_ack(true, true);
    // The window is wide open from now on, and the sender always has something to send: it can only lose.
    for _ in 0..18 {
        let before = sender.cwnd;
        sender.send(1);
        sender.on_ack(false, true);
        assert!(sender.fc_mode && sender.cwnd <= before);
    }

    let mut wire = filled(true);
    consume(&mut wire, BUFFER);
    for _ in 0..18 {
        let before = wire.client.window().cwnd;
        push(&mut wire, 1000);
        consume(&mut wire, 1000);
        assert!(!wire.client.in_push_flow_control() && wire.client.window().cwnd == before + 1000);
    }
}

/// An application that pushes 18 messages of 1,000 bytes at once, three times a second, to one that takes what is there
/// ten times a second, so many milliseconds away there and back: how often the window closes in 30 s, how many bytes
/// get through, and how many segments are sent again.
fn bursts_to_a_slow_reader(push_flow_control: bool, round_trip: u64) -> (u32, u64, u64) {
    let client = Config { initial_window: 20, push_flow_control, ..plain() };
    let server = Config { receive_buffer: Bytes::new(BUFFER), auto_consume: false, ..plain() };
    let mut wire = Wire::new(&client, &server, MS * round_trip / 2).established();
    for t in 0..30_000_u64 {
        if t % 333 == 0 {
            for _ in 0..18 {
                wire.write(Side::Client, 1000);
            }
        }
        wire.run_until(wire.now + MS);
        if t % 100 == 0 {
            let unread = wire.server.unread();
            wire.with(Side::Server, |endpoint, now, out| endpoint.consume(now, unread, out));
        }
    }
    let counters = wire.client.counters();
    (counters.zero_windows_seen, wire.server.received(), counters.retransmissions)
}

/// What the algorithm is for: fewer closed windows, and nothing lost by it. From its floor of two segments cwnd needs
/// three round trips to admit a burst of 18 again (2, 4, 8, 16). The reader pauses for 100 ms: where three round trips
/// are shorter, the next burst is as large as ever; where they are longer, it is not.
#[test]
fn a_slow_reader_closes_its_window_less_often_where_round_trips_are_long() {
    let saved = |round_trip| {
        let (without, offered, _) = bursts_to_a_slow_reader(false, round_trip);
        let (with, carried, sent_again) = bursts_to_a_slow_reader(true, round_trip);
        assert!(carried as f64 > 0.99 * offered as f64 && sent_again == 0, "{carried} of {offered} bytes");
        1.0 - f64::from(with) / f64::from(without)
    };
    let short = [2, 5, 10, 20, 30].map(saved);
    let long = [40, 50, 60, 80, 100].map(saved);
    assert!(short.iter().all(|saved| *saved < 0.02), "{short:?}");
    assert!(long.iter().all(|saved| *saved > 0.15), "{long:?}");
}
