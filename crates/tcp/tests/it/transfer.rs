//! Bytes get across: in order, with losses, in both directions, and the connection closes.

use crate::support::{Fate, Side, Wire, plain};
use tcp::{Config, Notice, State};
use units::Time;

const DELAY: Time = Time::from_ms(5);

fn transfer(config: &Config, bytes: u64, lose: impl Fn(u64) -> bool + 'static) -> Wire {
    let mut wire = Wire::new(config, config, DELAY)
        .script(move |side, number, _| if side == Side::Client && lose(number) { Fate::Drop } else { Fate::Deliver });
    wire.with(Side::Client, tcp::Endpoint::open);
    wire.write(Side::Client, bytes);
    wire.close(Side::Client);
    while wire.step() {
        if wire.notices.iter().any(|(_, side, notice)| *side == Side::Server && *notice == Notice::PeerFinished) {
            wire.close(Side::Server);
        }
    }
    assert_eq!(wire.server.received(), bytes);
    assert_eq!(wire.client.acknowledged(), bytes);
    assert_eq!(wire.client.state(), State::TimeWait);
    assert_eq!(wire.server.state(), State::Closed);
    wire
}

#[test]
fn without_loss_nothing_is_sent_twice() {
    for config in [plain(), Config::default()] {
        let wire = transfer(&config, 3_000_000, |_| false);
        assert_eq!(wire.client.counters().retransmissions, 0);
        assert_eq!(wire.client.counters().timeouts, 0);
        let sent: u64 = wire.data(Side::Client).iter().map(|(_, _, len)| u64::from(*len)).sum();
        assert_eq!(sent, 3_000_000);
    }
}

#[test]
fn every_lost_segment_is_sent_again_once() {
    for sack in [true, false] {
        let config = Config { sack, ..plain() };
        let wire = transfer(&config, 3_000_000, |number| number % 97 == 50);
        let client = wire.client.counters();
        assert!(client.fast_recoveries > 10, "{client:?}");
        assert_eq!(client.retransmissions, wire.drops, "sack {sack}");
    }
}

#[test]
fn both_directions_at_once() {
    let mut wire = Wire::new(&Config::default(), &Config::default(), DELAY).established();
    wire.write(Side::Client, 1_000_000);
    wire.write(Side::Server, 2_000_000);
    wire.run();
    assert_eq!((wire.server.received(), wire.client.received()), (1_000_000, 2_000_000));
    assert_eq!(wire.client.counters().retransmissions + wire.server.counters().retransmissions, 0);
}
