//! Opening: who sends what when, and what the options agree on.

use crate::support::{Fate, Side, Wire, plain};
use tcp::{Config, Endpoint, Flags, NO_WINDOW_SCALE, Notice, Output, Segment, State};
use units::{Bytes, Time};

const DELAY: Time = Time::from_ms(10);

fn open(client: &Config, server: &Config) -> Wire {
    let mut wire = Wire::new(client, server, DELAY);
    wire.with(Side::Client, Endpoint::open);
    wire
}

#[test]
fn three_segments() {
    let mut wire = open(&plain(), &plain());
    assert_eq!(wire.client.state(), State::SynSent);
    wire.step();
    assert_eq!(wire.server.state(), State::SynReceived);
    wire.step();
    assert_eq!(wire.client.state(), State::Established);
    wire.step();
    assert_eq!(wire.server.state(), State::Established);
    assert!(!wire.step());
    let sent: Vec<_> = wire.log.iter().map(|s| (s.segment.seq, s.segment.ack, s.segment.end())).collect();
    assert_eq!(sent, [(0, 0, 1), (0, 1, 1), (1, 1, 1)]);
    let flags: Vec<_> = wire.log.iter().map(|s| s.segment.flags).collect();
    let syn = Flags::SYN | Flags::SACK_PERMITTED;
    assert_eq!(flags, [syn, syn | Flags::ACK, Flags::ACK]);
    let connected = [(DELAY * 2, Side::Client, Notice::Connected), (DELAY * 3, Side::Server, Notice::Connected)];
    assert_eq!(wire.notices, connected);
    // The handshake is the first round trip measured.
    assert_eq!(wire.client.rtt().smoothed(), Some(DELAY * 2));
    assert_eq!(wire.server.rtt().smoothed(), Some(DELAY * 2));
}

#[test]
fn data_rides_on_the_last_segment_of_the_handshake() {
    let mut wire = open(&plain(), &plain());
    wire.write(Side::Client, 700);
    wire.run();
    assert_eq!(wire.log[2].segment.len, 700);
    assert_eq!(wire.server.received(), 700);
    assert_eq!(wire.log.len(), 4);
}

#[test]
fn a_lost_syn_is_sent_again_and_costs_the_initial_window() {
    let config = Config { initial_window: 10, ..plain() };
    let mut wire = Wire::new(&config, &config, DELAY)
        .script(|side, number, _| if side == Side::Client && number < 2 { Fate::Drop } else { Fate::Deliver });
    wire.with(Side::Client, Endpoint::open);
    wire.write(Side::Client, 100_000);
    wire.run_until(Time::from_ms(3015));
    let syns: Vec<u64> = wire.log.iter().filter(|s| s.from == Side::Client).map(|s| s.at.as_ms()).collect();
    assert_eq!(syns, [0, 1000, 3000]);
    wire.run_until(Time::from_ms(3020));
    // RFC 5681, section 3.1: one segment; RFC 6298, rule 5.7: three seconds.
    assert_eq!(wire.data(Side::Client).len(), 1);
    assert_eq!(wire.client.rto(), Time::from_secs(3));
    wire.run();
    assert_eq!(wire.server.received(), 100_000);
}

#[test]
fn a_lost_syn_ack_is_sent_again() {
    let mut wire = Wire::new(&plain(), &plain(), DELAY)
        .script(|side, number, _| if side == Side::Server && number < 1 { Fate::Drop } else { Fate::Deliver });
    wire.with(Side::Client, Endpoint::open);
    wire.write(Side::Client, 5000);
    wire.run();
    assert_eq!(wire.server.received(), 5000);
    assert_eq!(wire.notices.len(), 2);
}

#[test]
fn a_lost_last_acknowledgement_is_made_good_by_data_or_by_the_syn_ack() {
    for bytes in [0, 5000] {
        let mut wire = Wire::new(&plain(), &plain(), DELAY)
            .script(|side, number, _| if side == Side::Client && number == 1 { Fate::Drop } else { Fate::Deliver });
        wire.with(Side::Client, Endpoint::open);
        wire.write(Side::Client, bytes);
        wire.run();
        assert_eq!(wire.server.state(), State::Established);
        assert_eq!(wire.server.received(), bytes);
    }
}

#[test]
fn nobody_answers() {
    let config = Config { syn_retries: 3, ..plain() };
    let mut wire = Wire::new(&config, &config, DELAY).script(|_, _, _| Fate::Drop);
    wire.with(Side::Client, Endpoint::open);
    wire.run();
    // 1 + 2 + 4 + 8 s.
    assert_eq!(wire.notices, [(Time::from_secs(15), Side::Client, Notice::Reset)]);
    assert_eq!(wire.client.counters().retransmissions, 3);
}

#[test]
fn nobody_listens() {
    let mut wire = open(&plain(), &plain());
    wire.server = Endpoint::connect(&plain());
    wire.run();
    assert_eq!(wire.notices, [(DELAY * 2, Side::Client, Notice::Reset)]);
    assert_eq!(wire.client.state(), State::Closed);
}

#[test]
fn both_open_at_once() {
    let mut wire = open(&plain(), &plain());
    wire.server = Endpoint::connect(&plain());
    wire.with(Side::Server, Endpoint::open);
    wire.write(Side::Client, 3000);
    wire.write(Side::Server, 2000);
    wire.run();
    assert_eq!((wire.client.state(), wire.server.state()), (State::Established, State::Established));
    assert_eq!((wire.server.received(), wire.client.received()), (3000, 2000));
    assert_eq!(wire.client.counters().retransmissions, 0);
}

#[test]
fn the_smaller_segment_size_holds() {
    let mut wire = open(&Config { mss: 1460, ..plain() }, &Config { mss: 536, ..plain() });
    wire.write(Side::Client, 100_000);
    wire.write(Side::Server, 100_000);
    wire.run();
    assert!(wire.log.iter().all(|sent| sent.segment.len <= 536));
    assert_eq!((wire.client.window().mss, wire.server.window().mss), (536, 536));
}

#[test]
fn options_count_only_when_both_sides_offer_them() {
    for (mine, yours) in [(true, true), (true, false), (false, true), (false, false)] {
        let offer = |on| Config { sack: on, timestamps: on, window_scaling: on, count_options: true, ..plain() };
        let mut wire = open(&offer(mine), &offer(yours));
        wire.write(Side::Client, 50_000);
        wire.run();
        let both = mine && yours;
        let syn_ack = wire.log[1].segment;
        assert_eq!(syn_ack.flags.contains(Flags::SACK_PERMITTED | Flags::TIMESTAMPS), both);
        assert_eq!(syn_ack.window_scale != NO_WINDOW_SCALE, both);
        let data = wire.log.iter().find(|sent| sent.segment.len > 0).unwrap().segment;
        // 12 bytes of timestamps come out of the payload.
        assert_eq!((data.header_bytes(), data.len), if both { (52, 988) } else { (40, 1000) });
        assert_eq!(data.flags.contains(Flags::TIMESTAMPS), both);
        let widest = wire.log.iter().map(|sent| sent.segment.window).max().unwrap();
        assert_eq!(widest > 65_535, both);
    }
}

#[test]
fn headers_as_in_real_packets() {
    let config = Config { timestamps: true, count_options: true, ..plain() };
    let wire = open(&config, &config);
    // MSS 4, window scale 3 + 1, SACK-permitted 2 + timestamps 10: what Linux sends.
    assert_eq!(wire.log[0].segment.header_bytes(), 60);
    let wire = open(&Config { count_options: false, ..config }, &config);
    assert_eq!(wire.log[0].segment.header_bytes(), 40);
}

#[test]
fn windows_are_rounded_to_the_scale() {
    let config = Config { receive_buffer: Bytes::new(1_000_003), ..plain() };
    let mut wire = open(&config, &config);
    wire.write(Side::Client, 10_000);
    wire.run();
    // 1,000,003 >> 4 = 62,500 is the first that fits 16 bits.
    assert_eq!(wire.log[0].segment.window_scale, 4);
    assert_eq!(wire.log[0].segment.window, 65_535, "a SYN is not scaled");
    let last = wire.log.iter().rfind(|sent| sent.from == Side::Server).unwrap().segment;
    assert_eq!(last.window, 1_000_000);
}

#[test]
fn a_reset_counts_only_in_the_window() {
    let mut wire = Wire::new(&plain(), &plain(), DELAY).established();
    let mut out = Output::default();
    let at = wire.now;
    for (seq, state) in [(0, State::Established), (1 << 40, State::Established), (1, State::Closed)] {
        wire.client.on_segment(at, &Segment::new(Flags::RST | Flags::ACK, seq, 1), &mut out);
        assert_eq!(wire.client.state(), state, "seq {seq}");
    }
    assert_eq!(out.notices, [Notice::Reset]);
}
