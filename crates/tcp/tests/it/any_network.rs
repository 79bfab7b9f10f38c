//! Whatever the network does, every byte arrives exactly once and in order, and nothing waits for ever.

use crate::support::{Fate, Side, Wire};
use proptest::prelude::*;
use tcp::control::ControlKind;
use tcp::{Config, Endpoint, Flags, IdleRestart, Notice, Output, Recovery, Segment, StartRule, State};
use units::{Bytes, Time};

fn config() -> impl Strategy<Value = Config> {
    let recovery = prop_oneof![Just(Recovery::Rfc6675), Just(Recovery::FallFloyd), Just(Recovery::Rack)];
    let hystart = prop_oneof![Just(StartRule::Off), Just(StartRule::Linux), Just(StartRule::Rfc9406)];
    let switches = (any::<[bool; 13]>(), 0_u64..3, recovery, hystart);
    let sizes = (1_u16..3000, 1_u32..20, proptest::option::of(1_u32..50), 1_u64..200_000);
    let control = prop_oneof![
        Just(ControlKind::Reno),
        Just(ControlKind::Vegas),
        Just(ControlKind::Cubic),
        Just(ControlKind::Bbr),
        Just(ControlKind::Dctcp),
        Just(ControlKind::Tahoe),
        Just(ControlKind::Westwood),
        Just(ControlKind::Scalable),
        (1_u32..100).prop_map(|alpha| ControlKind::Fast { alpha })
    ];
    (switches, sizes, control).prop_map(
        |((bits, delay, recovery, hystart), (mss, initial_window, max_window, buffer), control)| {
            let [
                auto_consume,
                window_scaling,
                sack,
                timestamps,
                count_options,
                nagle,
                limited_transmit,
                idle_restart,
                cork,
                proportional_reduction,
                ecn,
                pacing,
                window_validation,
            ] = bits;
            Config {
                mss,
                initial_window,
                max_window,
                receive_buffer: Bytes::new(buffer),
                auto_consume,
                window_scaling,
                sack,
                timestamps,
                count_options,
                nagle,
                cork,
                proportional_reduction,
                ecn,
                recovery,
                hystart,
                pacing,
                delayed_ack: (delay > 0).then(|| Time::from_ms(20 * delay)),
                quick_acks: delay as u8,
                limited_transmit,
                idle_restart: if idle_restart { IdleRestart::Linux } else { IdleRestart::Off },
                window_validation,
                control,
                // Linux gives a connection up after seven lost SYNs, which some stories have: here each byte is to arrive.
                syn_retries: 30,
                ..Config::default()
            }
        },
    )
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        6 => Just(Fate::Deliver),
        2 => Just(Fate::Drop),
        1 => (1_u64..60).prop_map(|ms| Fate::Late(Time::from_ms(ms))),
        1 => Just(Fate::Twice),
        1 => Just(Fate::Mark),
    ]
}

/// What must hold after every step.
fn check(endpoint: &Endpoint) {
    let connected = endpoint.state().is_synchronized() && endpoint.state() != State::TimeWait;
    if connected && endpoint.outstanding() > 0 {
        assert!(endpoint.deadline() < Time::MAX, "outstanding data without a deadline: {endpoint:?}");
    }
    assert!(endpoint.acknowledged() <= endpoint.sent() + 1);
    assert!(endpoint.sent() <= endpoint.written());
    assert!(endpoint.pipe() <= 2 * endpoint.outstanding());
    assert!(endpoint.peer_window_end() >= endpoint.acknowledged(), "the window ends before what is acknowledged");
}

/// What must hold for everything that was sent.
fn check_segments(wire: &Wire, client: &Config, server: &Config) {
    let mss = client.mss.min(server.mss);
    let mut edges = [0; 2];
    let mut new_from = [0; 2];
    for sent in &wire.log {
        let segment = &sent.segment;
        let (mine, peer) = (sent.from as usize, sent.from.other() as usize);
        // A probe may look one byte beyond the peer's window, and a FIN stands beside it.
        assert!(segment.len == 0 || segment.seq + u64::from(segment.len) <= edges[peer].max(1) + 1, "{sent:?}");
        edges[mine] = edges[mine].max(segment.ack + u64::from(segment.window));
        // RFC 3168: what carries no new data is not ECN-capable. With DCTCP everything is, as in hosts
        // (`ns3/dctcp.rs`).
        let config = if sent.from == Side::Client { client } else { server };
        if segment.flags.contains(Flags::ECT) && config.control != ControlKind::Dctcp {
            assert!(segment.len > 0 && segment.seq >= new_from[mine], "{sent:?}");
            new_from[mine] = segment.seq + u64::from(segment.len);
        }
        if !segment.flags.contains(Flags::SYN) && mss > 100 {
            assert!(segment.len <= u32::from(mss));
            assert!(
                !config.count_options || segment.len == 0 || segment.wire_bytes() <= u32::from(mss) + 40,
                "{sent:?}"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_arrives(
        client in config(),
        server in config(),
        fates in proptest::collection::vec(fate(), 0..120),
        answers in proptest::collection::vec(fate(), 0..120),
        writes in proptest::collection::vec((1_u64..40_000, 0_u64..500), 1..6),
        reply in 0_u64..60_000,
        pace in 1_u64..30_000,
    ) {
        let mut wire = Wire::new(&client, &server, Time::from_ms(10)).script(move |side, number, _| {
            let list = if side == Side::Client { &fates } else { &answers };
            list.get(number as usize).copied().unwrap_or(Fate::Deliver)
        });
        let total: u64 = writes.iter().map(|(bytes, _)| bytes).sum();
        wire.with(Side::Client, Endpoint::open);
        wire.write(Side::Server, reply);
        let mut at = Time::ZERO;
        for (bytes, pause) in writes {
            at += Time::from_ms(pause);
            wire.run_until(at);
            wire.write(Side::Client, bytes);
        }
        wire.close(Side::Client);
        let mut server_closed = false;
        // The applications read a piece every 3 ms until all is there.
        for _ in 0..2_000_000 {
            let tick = wire.now + Time::from_ms(3);
            let mut steps = 0;
            while wire.next_at() <= tick {
                wire.step();
                steps += 1;
                assert!(steps < 100_000, "time stands still");
                check(&wire.client);
                check(&wire.server);
            }
            wire.now = tick;
            if !server_closed && wire.server.state().is_synchronized() {
                server_closed = true;
                wire.close(Side::Server);
            }
            for side in [Side::Client, Side::Server] {
                if wire.side(side).unread() > 0 {
                    wire.with(side, |endpoint, now, out| endpoint.consume(now, pace, out));
                }
            }
            let idle = wire.next_at() == Time::MAX;
            if idle && wire.client.unread() == 0 && wire.server.unread() == 0 {
                break;
            }
        }
        check_segments(&wire, &client, &server);
        let done = |notice: Notice| wire.notices.iter().filter(|(_, _, other)| *other == notice).count();
        prop_assert_eq!(done(Notice::Reset), 0, "{:?}", wire.notices);
        prop_assert_eq!((wire.server.received(), wire.client.acknowledged()), (total, total));
        prop_assert_eq!((wire.client.received(), wire.server.acknowledged()), (reply, reply));
        prop_assert_eq!((done(Notice::Connected), done(Notice::PeerFinished), done(Notice::Closed)), (2, 2, 2));
    }

    #[test]
    fn no_segment_is_too_strange(
        config in config(),
        listens in any::<bool>(),
        inputs in proptest::collection::vec(input(), 1..80),
    ) {
        let mut endpoint = if listens { Endpoint::listen(&config) } else { Endpoint::connect(&config) };
        let (mut now, mut out) = (Time::ZERO, Output::default());
        if !listens {
            endpoint.open(now, &mut out);
        }
        for input in inputs {
            now += Time::from_ms(7);
            match input {
                Input::Segment(segment) => endpoint.on_segment(now, &segment, &mut out),
                // The stream may have ended before.
                Input::Write(bytes) => drop(endpoint.write(now, bytes, false, &mut out)),
                Input::Consume(bytes) => endpoint.consume(now, bytes, &mut out),
                Input::Close => endpoint.close(now, &mut out),
                Input::Wait => {
                    let at = endpoint.deadline();
                    if at < Time::MAX {
                        now = now.max(at);
                        endpoint.on_timer(now, &mut out);
                        prop_assert!(endpoint.deadline() > now, "on_timer left something due");
                    }
                }
            }
            check(&endpoint);
            prop_assert!(out.segments.len() < 100_000);
            out.clear();
        }
    }
}

#[derive(Debug, Clone)]
enum Input {
    Segment(Segment),
    Write(u64),
    Consume(u64),
    Close,
    Wait,
}

fn position() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0_u64..4, 8 => 0_u64..40_000, 1 => any::<u64>()]
}

fn flags() -> impl Strategy<Value = Flags> {
    let all = [
        Flags::FIN,
        Flags::SYN,
        Flags::RST,
        Flags::PSH,
        Flags::ECE,
        Flags::CWR,
        Flags::CE,
        Flags::SACK_PERMITTED,
        Flags::TIMESTAMPS,
    ];
    let some = proptest::collection::vec(proptest::bool::weighted(0.15), all.len());
    (some, proptest::bool::weighted(0.9)).prop_map(move |(set, ack)| {
        let chosen = all.iter().zip(set).filter(|(_, set)| *set).map(|(flag, _)| *flag);
        chosen.fold(if ack { Flags::ACK } else { Flags::NONE }, |flags, flag| flags | flag)
    })
}

fn input() -> impl Strategy<Value = Input> {
    let blocks = proptest::collection::vec((position(), position()), 0..6);
    let segment = (flags(), position(), position(), 0_u32..5000, 0_u32..100_000, blocks, any::<(u16, u8)>()).prop_map(
        |(flags, seq, ack, len, window, blocks, (mss, scale))| {
            let mut segment = Segment::new(flags, seq, ack);
            (segment.len, segment.window) = (len, window);
            (segment.mss, segment.window_scale) = (mss, scale);
            for (start, end) in blocks {
                segment.push_sack(start, end);
            }
            Input::Segment(segment)
        },
    );
    // The handshake's answers, so that most runs get beyond it.
    let opening = prop_oneof![
        Just((Flags::SYN, 0)),
        Just((Flags::SYN | Flags::ACK | Flags::SACK_PERMITTED, 1)),
        Just((Flags::ACK, 1))
    ]
    .prop_map(|(flags, ack)| {
        let mut segment = Segment::new(flags, u64::from(flags == Flags::ACK), ack);
        (segment.window, segment.mss) = (30_000, 1000);
        Input::Segment(segment)
    });
    prop_oneof![
        8 => segment,
        3 => opening,
        3 => (1_u64..50_000).prop_map(Input::Write),
        1 => (1_u64..50_000).prop_map(Input::Consume),
        1 => Just(Input::Close),
        3 => Just(Input::Wait),
    ]
}
