//! What keeps a sender from sending more: each cause where it is the only one.

use crate::support::{Fate, Side, Wire, plain};
use tcp::{Config, Limit};
use units::{Bytes, Time};

const DELAY: Time = Time::from_ms(10);

/// Segments of 1,000 bytes, a first window of two of them.
fn wire(client: Config, server: Config) -> Wire {
    Wire::new(&client, &server, DELAY).established()
}

#[test]
fn an_application_that_has_no_more_to_say_limits() {
    let mut wire = wire(plain(), plain());
    assert_eq!(wire.client.limit(), Limit::Application);
    wire.write(Side::Client, 1500);
    assert_eq!(wire.client.limit(), Limit::Application, "both segments fit into the first window");
    assert!(wire.client.window_in_use().1, "and are in flight");
}

#[test]
fn a_full_cwnd_limits_until_it_has_grown() {
    let mut wire = wire(plain(), plain());
    wire.write(Side::Client, 50_000);
    assert_eq!(wire.client.limit(), Limit::Window);
    assert_eq!(wire.client.window_in_use(), (2000, true));
    wire.run_until(wire.now + Time::from_secs(5));
    assert_eq!((wire.client.limit(), wire.client.window_in_use().1), (Limit::Application, false));
}

#[test]
fn a_peer_that_does_not_read_limits() {
    let server = Config { receive_buffer: Bytes::new(8000), auto_consume: false, ..plain() };
    let mut wire = wire(Config { initial_window: 20, ..plain() }, server);
    wire.write(Side::Client, 50_000);
    assert_eq!(wire.client.limit(), Limit::Peer, "8,000 of 20,000 bytes are in flight");
    wire.run_until(wire.now + Time::from_ms(100));
    assert_eq!(wire.client.limit(), Limit::Peer);
}

#[test]
fn a_lost_segment_limits_until_it_is_repaired() {
    let mut wire = wire(Config { initial_window: 10, ..plain() }, plain());
    let mut lost = false;
    wire.set_script(move |side, _, segment| {
        let first = side == Side::Client && segment.len > 0 && !lost;
        lost |= first;
        if first { Fate::Drop } else { Fate::Deliver }
    });
    wire.write(Side::Client, 50_000);
    // The duplicate acknowledgements of the nine others are back after a round trip, the repair after two.
    wire.run_until(wire.now + Time::from_ms(30));
    assert_eq!(wire.client.limit(), Limit::Recovery);
    wire.run_until(wire.now + Time::from_ms(30));
    assert_ne!(wire.client.limit(), Limit::Recovery);
}

#[test]
fn silence_limits_until_the_timer_has_helped() {
    let mut wire = wire(plain(), plain());
    wire.set_script(|side, _, _| if side == Side::Client { Fate::Drop } else { Fate::Deliver });
    wire.write(Side::Client, 50_000);
    // The first RTO is a second, as no round trip but the handshake's is known.
    wire.run_until(wire.now + Time::from_secs(4));
    assert_eq!(wire.client.limit(), Limit::Timeout);
}
