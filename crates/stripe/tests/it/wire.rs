//! Frames as bytes: written by hand, encoded and decoded, and arbitrary.

use proptest::prelude::*;
use std::net::{Ipv6Addr, SocketAddrV4};
use stripe::Span;
use stripe::wire::{
    Ack, Data, Datagram, Decoded, Destination, Frame, FrameReader, HEADER, Hello, Item, KeepAlive, MAX_DATAGRAM,
    MAX_RANGES, Refusal, WireError, decode,
};

const MAX_PAYLOAD: u32 = 1 << 20;

/// Name, expectation and bytes of each line of the corpus.
fn corpus() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let bytes = |hex: &str| {
        (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("hexadecimal")).collect()
    };
    include_str!("../corpus/frames.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let mut words = line.split(' ');
            let mut word = || words.next().unwrap_or_default();
            (word(), word(), bytes(word()))
        })
        .collect()
}

fn encoded(frame: &Frame, connection: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    frame.encode(connection, &mut bytes);
    bytes
}

#[test]
fn every_line_of_the_corpus_is_judged_as_it_says() {
    let corpus = corpus();
    assert!(corpus.len() > 35);
    for (name, expected, bytes) in corpus {
        let result = decode(&bytes, MAX_PAYLOAD);
        let kind = match &result {
            Ok(Decoded::Frame { .. }) => "frame",
            Ok(Decoded::Incomplete(_)) => "incomplete",
            Ok(Decoded::Skip(_)) => "skip",
            Err(_) => "error",
        };
        assert_eq!(kind, expected, "{name}: {result:?}");
        if let Ok(Decoded::Frame { connection, frame, .. }) = result {
            assert_eq!(encoded(&frame, connection), bytes, "{name}");
        }
    }
}

#[test]
fn the_corpus_means_what_its_names_say() {
    let line = |name: &str| {
        let (_, _, bytes) = corpus().into_iter().find(|line| line.0 == name).expect("a line of this name");
        decode(&bytes, MAX_PAYLOAD)
    };
    let frame = |connection, frame, read| Ok(Decoded::Frame { connection, frame, read });
    let data = Data { offset: 1 << 33, len: 65_536, end: false };
    assert_eq!(line("data-header-alone"), frame(7, Frame::Data(data), 20));
    let data = Data { offset: 65_536, len: 0, end: true };
    assert_eq!(line("data-with-end"), frame(7, Frame::Data(data), 20));
    let ranges = vec![Span::new(8192, 12_288), Span::new(16_384, 20_480)];
    let ack = Ack { next: 4096, limit: 1 << 22, end: true, reset: true, ranges };
    assert_eq!(line("ack-ranges-and-flags"), frame(7, Frame::Ack(ack), 60));
    let hello = Hello {
        session: std::array::from_fn(|at| at as u8),
        stream: 3,
        credit: 4 << 20,
        max_payload: 256 << 10,
        max_streams: 128,
    };
    assert_eq!(line("hello"), frame(0, Frame::Hello(hello), 50));
    assert_eq!(line("reset"), frame(7, Frame::Reset { code: 104, end: 99 }, 24));
    assert_eq!(line("gone"), frame(0, Frame::Gone { stream: 17 }, 20));
    assert_eq!(line("extension"), Ok(Decoded::Skip(32)));
    let to = Destination::Address("192.0.2.7:53".parse().expect("an address"));
    let named = Datagram { to: Some(to), payload: b"datagram".to_vec() };
    assert_eq!(line("datagram-named-4"), frame(7, Frame::Datagram(named.clone()), 37));
    assert_eq!(line("datagram"), frame(7, Frame::Datagram(Datagram { to: None, ..named }), 28));
    assert_eq!(line("flows"), frame(0, Frame::Flows { most: 1024 }, 20));
    assert_eq!(line("share"), frame(0, Frame::Share { bytes: 64 << 10 }, 20));
    assert_eq!(line("forget"), frame(7, Frame::Forget { code: 111 }, 24));
    let keep_alive = KeepAlive { idle: 60, interval: 20, probes: 3 };
    assert_eq!(line("keepalive"), frame(7, Frame::KeepAlive(keep_alive), 32));
    assert_eq!(line("datagram-cut"), Ok(Decoded::Incomplete(28)));
    assert_eq!(line("datagram-too-long"), Err(WireError::Length(65_768)));
    assert_eq!(line("half-a-header"), Ok(Decoded::Incomplete(20)));
    assert_eq!(line("ack-cut-in-body"), Ok(Decoded::Incomplete(60)));
    assert_eq!(line("version-2"), Err(WireError::Version(2)));
    assert_eq!(line("data-too-long"), Err(WireError::Length((1 << 20) + 1)));
    assert_eq!(line("data-beyond-any-stream"), Err(WireError::Offset(u64::MAX)));
}

/// P-42: 65,507 bytes, and not one more, with a destination or without.
#[test]
fn the_longest_datagram_is_that_of_udp() {
    for to in [None, Some(Destination::Name("x".repeat(255), 53))] {
        let datagram = |length| Frame::Datagram(Datagram { to: to.clone(), payload: vec![7; length] });
        let longest = encoded(&datagram(MAX_DATAGRAM), 1);
        let read = longest.len();
        let decoded = Decoded::Frame { connection: 1, frame: datagram(65_507), read };
        assert_eq!(decode(&longest, MAX_PAYLOAD), Ok(decoded));
        let longer = encoded(&datagram(MAX_DATAGRAM + 1), 1);
        assert_eq!(decode(&longer, MAX_PAYLOAD), Err(WireError::Length(longer.len() as u32 - 20)));
    }
}

#[test]
fn more_ranges_than_fit_are_left_out() {
    let ranges: Vec<Span> = (1..=80).map(|at| Span::new(10 * at, 10 * at + 5)).collect();
    let frame = Frame::Ack(Ack { next: 3, limit: 9, ranges: ranges.clone(), ..Ack::default() });
    let bytes = encoded(&frame, 1);
    assert_eq!(bytes.len() as u64, frame.wire_bytes());
    let Ok(Decoded::Frame { frame: Frame::Ack(ack), .. }) = decode(&bytes, MAX_PAYLOAD) else { panic!("an ACK") };
    assert_eq!(ack.ranges, ranges[..MAX_RANGES]);
}

fn frame() -> impl Strategy<Value = Frame> {
    let ack = (
        0_u64..1 << 40,
        any::<u64>(),
        any::<[bool; 2]>(),
        proptest::collection::vec((1_u64..1000, 1_u64..1000), 0..=64),
    )
        .prop_map(|(next, limit, [end, reset], gaps)| {
            let mut at = next;
            let ranges = gaps.into_iter().map(|(gap, len)| {
                let start = at + gap;
                at = start + len;
                Span::new(start, at)
            });
            Frame::Ack(Ack { next, limit, end, reset, ranges: ranges.collect() })
        });
    let hello = (any::<[u8; 16]>(), any::<u32>(), any::<u64>(), any::<u32>(), any::<u16>()).prop_map(
        |(session, stream, credit, max_payload, max_streams)| {
            Frame::Hello(Hello { session, stream, credit, max_payload, max_streams })
        },
    );
    prop_oneof![
        (0_u64..u64::MAX - (1 << 20), 0_u32..=MAX_PAYLOAD, any::<bool>())
            .prop_map(|(offset, len, end)| Frame::Data(Data { offset, len, end })),
        ack,
        hello,
        any::<(u32, u64)>().prop_map(|(code, end)| Frame::Reset { code, end }),
        any::<u32>().prop_map(|code| Frame::Stop { code }),
        any::<u32>().prop_map(|stream| Frame::Gone { stream }),
        any::<[u8; 32]>().prop_map(|proof| Frame::Join { proof }),
        any::<(u32, u64, u64)>().prop_flat_map(|(streams, limit, token)| {
            proptest::sample::select(vec![
                Frame::Want { streams },
                Frame::Allow { limit },
                Frame::Share { bytes: limit },
                Frame::Ping { token },
                Frame::Pong { token },
                Frame::Start,
                Frame::Opened,
                Frame::Over,
                Frame::Leave,
                Frame::Refuse(Refusal::Busy),
                Frame::Flows { most: streams },
                Frame::Known,
                Frame::Forget { code: streams },
                Frame::KeepAlive(KeepAlive { idle: streams, interval: limit as u32, probes: token as u32 }),
            ])
        }),
        (proptest::option::of(destination()), proptest::collection::vec(any::<u8>(), 0..2000))
            .prop_map(|(to, payload)| Frame::Datagram(Datagram { to, payload })),
        destination().prop_map(Frame::Open),
    ]
}

fn destination() -> impl Strategy<Value = Destination> {
    prop_oneof![
        any::<SocketAddrV4>().prop_map(|address| Destination::Address(address.into())),
        any::<(Ipv6Addr, u16)>().prop_map(|(ip, port)| Destination::Address((ip, port).into())),
        ("[a-z0-9.-]{1,255}", any::<u16>()).prop_map(|(name, port)| Destination::Name(name, port)),
    ]
}

/// What holds of every result of the decoder.
fn check(input: &[u8]) {
    match decode(input, MAX_PAYLOAD) {
        Ok(Decoded::Frame { frame, read, connection }) => {
            assert!(read <= input.len());
            // The decoder accepts nothing that the encoder would say differently.
            assert_eq!(encoded(&frame, connection), input[..read]);
        }
        Ok(Decoded::Incomplete(needed)) => assert!(needed > input.len() && needed <= HEADER + MAX_DATAGRAM + 260),
        Ok(Decoded::Skip(bytes)) => assert!((HEADER..=HEADER + (1 << 24)).contains(&bytes)),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn there_and_back(frame in frame(), number in 1_u32.., behind in proptest::collection::vec(any::<u8>(), 0..40)) {
        let connection = if frame.is_of_session() { 0 } else { number };
        let mut bytes = encoded(&frame, connection);
        let read = bytes.len();
        let payload = if let Frame::Data(data) = &frame { u64::from(data.len) } else { 0 };
        prop_assert_eq!(read as u64 + payload, frame.wire_bytes());
        for cut in 0..read {
            prop_assert!(matches!(decode(&bytes[..cut], MAX_PAYLOAD), Ok(Decoded::Incomplete(needed)) if needed > cut));
        }
        bytes.extend(behind);
        prop_assert_eq!(decode(&bytes, MAX_PAYLOAD), Ok(Decoded::Frame { connection, frame, read }));
    }

    #[test]
    fn no_bytes_are_too_strange(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        check(&bytes);
    }

    #[test]
    fn nor_is_a_line_of_the_corpus_with_some_changed(
        line in any::<proptest::sample::Index>(),
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 0..6),
        cut in any::<proptest::sample::Index>(),
    ) {
        let mut bytes = line.get(&corpus()).2.clone();
        for (at, value) in changes {
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] = value;
            }
        }
        check(&bytes);
        check(&bytes[..cut.index(bytes.len() + 1)]);
    }

    /// The items of a stream do not depend on its cuts.
    #[test]
    fn cuts_make_no_difference(
        frames in proptest::collection::vec(frame(), 1..12),
        cuts in proptest::collection::vec(1_usize..200, 1..20),
    ) {
        let (mut bytes, mut expected) = (Vec::new(), Vec::new());
        for (number, frame) in frames.into_iter().enumerate() {
            let connection = if frame.is_of_session() { 0 } else { number as u32 + 1 };
            // Short payloads, and now and then an unknown extension.
            let frame = match frame {
                Frame::Data(data) => Frame::Data(Data { len: data.len % 700, ..data }),
                frame => frame,
            };
            frame.encode(connection, &mut bytes);
            if let Frame::Data(data) = &frame {
                bytes.extend((0..data.len).map(|at| at as u8));
            }
            if number % 3 == 1 {
                bytes.extend([0x90, 7, 1, 9, 0, 0, 0, 5]);
                bytes.extend([0; 17]);
            }
            expected.push((connection, frame));
        }
        let (mut reader, mut got, mut rest) = (FrameReader::new(MAX_PAYLOAD), Vec::new(), bytes.as_slice());
        let mut cuts = cuts.into_iter().cycle();
        while !rest.is_empty() {
            let (mut part, behind) = rest.split_at(cuts.next().unwrap_or(1).min(rest.len()));
            rest = behind;
            while let Some(item) = reader.next(&mut part).expect("they are right") {
                match item {
                    Item::Frame { connection, frame } => got.push((connection, frame)),
                    Item::Payload { connection, data, payload } => {
                        prop_assert_eq!(data.len as usize, payload.len());
                        if let Some((last, Frame::Data(before))) = got.last_mut()
                            && *last == connection
                            && before.offset + u64::from(before.len) == data.offset
                            && payload[0] == before.len as u8
                        {
                            prop_assert!(!before.end);
                            before.len += data.len;
                            before.end = data.end;
                        } else {
                            prop_assert_eq!(payload[0], 0);
                            got.push((connection, Frame::Data(data)));
                        }
                    }
                }
            }
            prop_assert!(part.is_empty());
        }
        prop_assert!(reader.is_between());
        prop_assert_eq!(got, expected);
    }
}
