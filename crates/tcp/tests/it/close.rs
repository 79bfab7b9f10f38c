//! Every way for a connection to end.

use crate::support::{Fate, Side, Wire, plain};
use tcp::{Endpoint, Notice, Output, State, WriteError};
use units::Time;

const DELAY: Time = Time::from_ms(10);

fn established() -> Wire {
    Wire::new(&plain(), &plain(), DELAY).established()
}

fn states(wire: &Wire) -> (State, State) {
    (wire.client.state(), wire.server.state())
}

fn notices(wire: &Wire, side: Side) -> Vec<Notice> {
    wire.notices.iter().filter(|(_, from, _)| *from == side).map(|(_, _, notice)| *notice).collect()
}

#[test]
fn one_side_then_the_other() {
    let mut wire = established();
    wire.write(Side::Client, 2500);
    wire.close(Side::Client);
    assert_eq!(states(&wire), (State::FinWait1, State::Established));
    wire.run();
    assert_eq!(states(&wire), (State::FinWait2, State::CloseWait));
    assert_eq!(notices(&wire, Side::Server), [Notice::PeerFinished]);
    // The other direction stays open.
    wire.write(Side::Server, 4000);
    wire.run();
    assert_eq!(wire.client.received(), 4000);
    wire.close(Side::Server);
    assert_eq!(wire.server.state(), State::LastAck);
    wire.run();
    assert_eq!(states(&wire), (State::TimeWait, State::Closed));
    assert_eq!(notices(&wire, Side::Client), [Notice::PeerFinished, Notice::Closed]);
    assert_eq!(notices(&wire, Side::Server), [Notice::PeerFinished, Notice::Closed]);
    assert_eq!((wire.server.received(), wire.client.acknowledged()), (2500, 2500));
    // The FIN rode on the last data.
    assert_eq!(wire.data(Side::Client).len(), 3);
    assert_eq!(
        wire.pure_acks(Side::Client).iter().filter(|sent| sent.segment.flags.contains(tcp::Flags::FIN)).count(),
        0
    );
}

#[test]
fn both_at_once() {
    let mut wire = established();
    wire.close(Side::Client);
    wire.close(Side::Server);
    wire.run_until(wire.now + DELAY);
    assert_eq!(states(&wire), (State::Closing, State::Closing));
    wire.run();
    assert_eq!(states(&wire), (State::TimeWait, State::TimeWait));
    assert_eq!(notices(&wire, Side::Client), [Notice::PeerFinished, Notice::Closed]);
    assert_eq!(notices(&wire, Side::Server), [Notice::PeerFinished, Notice::Closed]);
}

/// Each segment of an orderly close is lost in turn; the close completes all the same.
#[test]
fn whatever_is_lost() {
    for lost in 0..6 {
        let mut seen = 0;
        let mut wire = established();
        wire.set_script(move |_, _, _| {
            seen += 1;
            if seen == lost + 1 { Fate::Drop } else { Fate::Deliver }
        });
        wire.write(Side::Client, 1500);
        wire.close(Side::Client);
        while wire.server.state() != State::CloseWait {
            assert!(wire.step());
        }
        wire.close(Side::Server);
        wire.run();
        assert_eq!(states(&wire), (State::TimeWait, State::Closed), "lost {lost}");
        assert_eq!(notices(&wire, Side::Client), [Notice::PeerFinished, Notice::Closed]);
        assert_eq!(wire.server.received(), 1500);
    }
}

#[test]
fn a_fin_out_of_order_waits_for_the_data_before_it() {
    let mut wire = established();
    wire.set_script(|side, number, _| if side == Side::Client && number == 0 { Fate::Drop } else { Fate::Deliver });
    wire.write(Side::Client, 1500);
    wire.close(Side::Client);
    wire.run_until(wire.now + DELAY);
    assert_eq!(wire.server.state(), State::Established);
    wire.run();
    assert_eq!((wire.server.state(), wire.server.received()), (State::CloseWait, 1500));
}

#[test]
fn abort_resets_the_peer() {
    let mut wire = established();
    wire.write(Side::Client, 1500);
    wire.with(Side::Client, Endpoint::abort);
    assert_eq!(wire.client.deadline(), Time::MAX);
    wire.run();
    assert_eq!(states(&wire), (State::Closed, State::Closed));
    assert_eq!(notices(&wire, Side::Server), [Notice::Reset]);
    assert_eq!(notices(&wire, Side::Client), []);
}

#[test]
fn data_for_a_gone_endpoint_is_refused() {
    let mut wire = established();
    wire.client = Endpoint::connect(&plain());
    wire.write(Side::Server, 1500);
    wire.run();
    assert_eq!(notices(&wire, Side::Server), [Notice::Reset]);
}

#[test]
fn closing_before_there_is_a_connection() {
    let mut wire = Wire::new(&plain(), &plain(), DELAY);
    wire.with(Side::Client, Endpoint::open);
    wire.close(Side::Client);
    assert_eq!(notices(&wire, Side::Client), [Notice::Closed]);
    wire.run_until(DELAY * 4);
    // The SYN-ACK that comes now finds nobody.
    assert_eq!(notices(&wire, Side::Server), [Notice::Reset]);
}

#[test]
fn a_stream_that_has_ended_takes_no_bytes() {
    let write = |endpoint: &mut Endpoint| endpoint.write(Time::from_secs(1), 500, true, &mut Output::default());
    let mut wire = established();
    wire.close(Side::Client);
    assert_eq!(write(&mut wire.client), Err(WriteError::Closed));
    assert_eq!(write(&mut wire.server), Ok(()), "the other direction is open");
    wire.run();
    assert_eq!((wire.client.written(), wire.server.received()), (0, 0));

    let mut wire = established();
    wire.with(Side::Client, Endpoint::abort);
    wire.run();
    assert_eq!((write(&mut wire.client), write(&mut wire.server)), (Err(WriteError::Gone), Err(WriteError::Gone)));

    let mut unopened = Endpoint::listen(&plain());
    unopened.close(Time::ZERO, &mut Output::default());
    assert_eq!(write(&mut unopened), Err(WriteError::Closed));
}
