//! The states that Open vSwitch's own test expects of LACP: `tests/lacp.at`, "lacp - negotiation" and "lacp - config",
//! of github `openvswitch/ovs`, 23 July 2026 (commit d6a632a9b).
//!
//! Open vSwitch has no separate mux machine: a port that is attached says that it collects and distributes, also while
//! it has lost its partner or has not found one. It sends nothing there (`may_enable: false`). By IEEE 802.1AX, figure
//! 6-21, as here, the port goes back to ATTACHED, and its LACPDUs say so.

use crate::lacp::{FAST, Pair, seconds};
use net::bond::{Group, Info, Mux, Port, Receive, State};

/// Activity, short timeout, aggregation.
const SETTINGS: State = FAST.with(State::AGGREGATION);
/// What a port says that works.
const WORKING: State = SETTINGS.with(State::SYNCHRONIZATION).with(State::COLLECTING).with(State::DISTRIBUTING);

fn system(address: [u8; 6], key: u16, ports: [u16; 2]) -> Group {
    let port = |port: u16| Info {
        system_priority: 65_534,
        system: address,
        key,
        port_priority: 65_535,
        port,
        state: SETTINGS,
    };
    Group::new(ports.map(port))
}

/// The port works at both ends, and they know it of each other.
fn works(pair: &Pair, port: usize) {
    for (end, other) in [(0, 1), (1, 0)] {
        let (mine, theirs): (&Port, &Port) = (&pair.ends[end].ports()[port], &pair.ends[other].ports()[port]);
        assert_eq!((mine.receive_state(), mine.mux_state()), (Receive::Current, Mux::Distributing));
        assert_eq!(mine.actor().state, WORKING);
        assert_eq!(mine.partner(), theirs.actor());
        assert!(pair.distributes(end).contains(&port));
    }
}

#[test]
fn negotiation_silence_and_return() {
    let bond0 = system([0xaa, 0x55, 0xaa, 0x55, 0, 0], 2, [1, 2]);
    let bond1 = system([0xaa, 0x66, 0xaa, 0x66, 0, 0], 4, [3, 4]);
    let mut pair = Pair::connected([bond0, bond1]);
    pair.run(seconds(5.0));
    works(&pair, 0);
    works(&pair, 1);

    // The first link carries nothing any more, and keeps its carrier. After 4.1 s both its ends have expired, and no
    // longer believe their partner synchronized.
    for end in 0..2 {
        pair.silent[end][0] = true;
    }
    pair.run(pair.now + seconds(4.1));
    for end in 0..2 {
        let port = &pair.ends[end].ports()[0];
        assert_eq!((port.receive_state(), port.mux_state()), (Receive::Expired, Mux::Attached));
        let partner = SETTINGS.with(State::COLLECTING).with(State::DISTRIBUTING);
        assert_eq!((port.partner().state, port.partner().key), (partner, [4, 2][end]));
        // In Open vSwitch also collecting and distributing.
        assert_eq!(port.actor().state, SETTINGS.with(State::SYNCHRONIZATION).with(State::EXPIRED));
        assert_eq!(pair.distributes(end), [1]);
    }
    works(&pair, 1);

    // 4.1 s later they have given their partner up.
    pair.run(pair.now + seconds(4.1));
    for end in 0..2 {
        let port = &pair.ends[end].ports()[0];
        assert_eq!((port.receive_state(), port.mux_state()), (Receive::Defaulted, Mux::Detached));
        assert_eq!(*port.partner(), Info::default());
        assert_eq!(port.actor().state, SETTINGS.with(State::DEFAULTED));
        assert_eq!(pair.distributes(end), [1]);
    }
    works(&pair, 1);

    // The link carries again: within 30.1 s, the period of a port without a partner, and 3 s all is as before. Open
    // vSwitch needs no more than the former: by the standard a port waits 2 s for others to aggregate with, and says
    // within another second that it distributes.
    for end in 0..2 {
        pair.silent[end][0] = false;
    }
    pair.run(pair.now + seconds(33.1));
    works(&pair, 0);
    works(&pair, 1);
}

/// Active, long timeout, and nobody at the other end: 300 ms later it has heard nothing and wants to be told often. In
/// Open vSwitch it is attached all the same and says that it collects and distributes; here it waits for a partner, and
/// says that it uses defaults (6.4.12: INITIALIZE records them).
#[test]
fn a_port_without_a_partner() {
    let info = Info {
        system_priority: 65_535,
        system: [0xaa, 0x55, 0xaa, 0x55, 0, 0],
        key: 1,
        port_priority: 65_535,
        port: 1,
        state: State::ACTIVITY,
    };
    let mut group = Group::new([info]);
    group.start(seconds(0.0), &mut Vec::new());
    group.on_timer(seconds(0.3), &mut Vec::new());
    let port = &group.ports()[0];
    assert_eq!((port.receive_state(), port.mux_state()), (Receive::Expired, Mux::Detached));
    assert_eq!(port.actor().state, State::ACTIVITY.with(State::EXPIRED).with(State::DEFAULTED));
    assert_eq!(*port.partner(), Info { state: State::SHORT_TIMEOUT, ..Info::default() });
    assert!(!group.distributes(0));
}
