//! Real gateways on loopback: what programs see.

use crate::support::{self, LOOPBACK, Rig, bytes, echo, processor, read_pattern, server, until, write_pattern};
use jet::door::{Answer, Front};
use jet::handover::Inherited;
use jet::options::{Options, Streams};
use std::io::ErrorKind;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Reads the pattern to its end, says how much there was, and writes as much of its own.
async fn mirror_length(mut stream: TcpStream) {
    let length = read_pattern(&mut stream).await.expect("whole");
    write_pattern(&mut stream, length).await.expect("wanted");
}
async fn both_ways(mut stream: TcpStream, length: u64) {
    let (mut read, mut write) = stream.split();
    let writing = async {
        write_pattern(&mut write, length).await.expect("wanted");
        write.shutdown().await.expect("open");
    };
    let (got, ()) = tokio::join!(read_pattern(&mut read), writing);
    assert_eq!(got.expect("whole"), length);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hundreds_of_megabytes_arrive_both_ways_at_once() {
    const LENGTH: u64 = 200_000_000;
    let _alone = processor().await;
    let rig = Rig::new(server(|stream| both_ways(stream, LENGTH)).await).await;
    both_ways(rig.program().await, LENGTH).await;
    rig.idle().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_end_leaves_the_other_direction_open() {
    let rig = Rig::new(server(mirror_length).await).await;
    for length in [0, 1, 70_000, 5_000_000] {
        let mut stream = rig.program().await;
        write_pattern(&mut stream, length).await.expect("open");
        stream.shutdown().await.expect("open");
        assert_eq!(read_pattern(&mut stream).await.expect("whole"), length);
    }
    rig.idle().await;
}

/// The median time of 25 exchanges over one connection, after one that is not counted. Both ends write each message in
/// two pieces, without `TCP_NODELAY`: the second piece waits for the acknowledgement of the first (RFC 896).
async fn exchange_in_pieces(mut stream: TcpStream) -> Duration {
    stream.set_nodelay(false).expect("open");
    let mut took = Vec::new();
    for _ in 0..26 {
        let began = tokio::time::Instant::now();
        stream.write_all(&[1; 100]).await.expect("open");
        stream.write_all(&[1; 100]).await.expect("open");
        stream.read_exact(&mut [0; 200]).await.expect("open");
        took.push(began.elapsed());
    }
    took.remove(0);
    took.sort();
    took[took.len() / 2]
}
async fn answer_in_pieces(mut stream: TcpStream) {
    stream.set_nodelay(false).expect("open");
    while stream.read_exact(&mut [0; 200]).await.is_ok() {
        for _ in 0..2 {
            stream.write_all(&[2; 100]).await.expect("open");
        }
    }
}

/// Linux delays an acknowledgement by at least 40 ms (`TCP_DELACK_MIN`) where both ends take turns. One such delay at
/// either gateway would show.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_in_pieces_do_not_wait_for_delayed_acknowledgements() {
    let rig = Rig::new(server(answer_in_pieces).await).await;
    let median = exchange_in_pieces(rig.program().await).await;
    assert!(median < Duration::from_millis(30), "{median:?}");
    rig.idle().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_connections_share_the_streams() {
    let _alone = processor().await;
    let rig = Rig::new(server(echo).await).await;
    let mut programs = tokio::task::JoinSet::new();
    for number in 0..300_u64 {
        let mut stream = rig.program().await;
        programs.spawn(async move {
            for round in 0..20 {
                let message = bytes(number * 1000 + round, 1 + (number * 37 % 3000) as usize);
                stream.write_all(&message).await.expect("open");
                let mut answer = vec![0; message.len()];
                stream.read_exact(&mut answer).await.expect("open");
                assert_eq!(answer, message);
            }
        });
    }
    while let Some(done) = programs.join_next().await {
        done.expect("no panic");
    }
    rig.idle().await;
    assert!(rig.relay.count() <= 16, "{}", rig.relay.count());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_connection_is_reset_or_answered() {
    // A port on which nobody listens.
    let gone = TcpListener::bind(LOOPBACK).await.expect("loopback").local_addr().expect("bound");
    let rig = Rig::new(gone).await;
    // The reset may be there before the program has seen that it is connected.
    let error = match TcpStream::connect(rig.door).await {
        Ok(mut stream) => stream.read_u8().await.expect_err("nobody there"),
        Err(error) => error,
    };
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);

    let rig = Rig::with(gone, Default::default(), || Answer::Socks5).await;
    let mut reply = [0; 10];
    rig.program().await.read_exact(&mut reply).await.expect("an answer");
    assert_eq!(reply[..4], [5, 5, 0, 1], "connection refused");
    // Not allowed: the far gateway's rules have loopback alone.
    let rig = Rig::with("192.0.2.1:80".parse().expect("an address"), Default::default(), || Answer::Socks5).await;
    rig.program().await.read_exact(&mut reply).await.expect("an answer");
    assert_eq!(reply[..4], [5, 2, 0, 1], "not allowed");
    rig.idle().await;

    let rig = Rig::with(server(echo).await, Default::default(), || Answer::Socks5).await;
    let mut stream = rig.program().await;
    stream.read_exact(&mut reply).await.expect("an answer");
    assert_eq!(reply[..4], [5, 0, 0, 1]);
    stream.write_all(b"?").await.expect("open");
    assert_eq!(stream.read_u8().await.expect("open"), b'?');
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_are_resolved_at_the_far_end() {
    let address = server(echo).await;
    let rig = Rig::new(address).await;
    let door = support::door(&rig.near, jet::Destination::Name("localhost".to_owned(), address.port()), || {
        Answer::Established
    })
    .await;
    let mut stream = TcpStream::connect(door).await.expect("open");
    stream.write_all(b"!").await.expect("open");
    assert_eq!(stream.read_u8().await.expect("open"), b'!');
}

/// Closes a connection by a reset.
fn reset(stream: TcpStream) {
    socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO)).expect("a TCP socket");
    drop(stream);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reset_arrives_as_a_reset() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&seen);
    let address = server(move |mut stream| {
        let noted = Arc::clone(&noted);
        async move {
            match stream.read_u8().await {
                Ok(b'r') => reset(stream),
                Ok(_) => {
                    let error = stream.read_u8().await.expect_err("the program is gone");
                    noted.lock().expect("no panic").push(error.kind());
                }
                Err(_) => {}
            }
        }
    })
    .await;
    let rig = Rig::new(address).await;
    let mut stream = rig.program().await;
    stream.write_all(b"r").await.expect("open");
    assert_eq!(stream.read_u8().await.expect_err("reset").kind(), ErrorKind::ConnectionReset);

    let mut stream = rig.program().await;
    stream.write_all(b"x").await.expect("open");
    tokio::time::sleep(Duration::from_millis(100)).await;
    reset(stream);
    until(|| seen.lock().expect("no panic").as_slice() == [ErrorKind::ConnectionReset]).await;
    rig.idle().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_that_sleeps_stops_the_writer_and_loses_nothing() {
    const LENGTH: u64 = 60_000_000;
    let _alone = processor().await;
    let small = Options { connection_memory: 4 << 20, peer_memory: 8 << 20, ..Options::default() };
    let (wake, asleep) = tokio::sync::watch::channel(false);
    let address = server(move |mut stream| {
        let mut asleep = asleep.clone();
        async move {
            asleep.wait_for(|awake| *awake).await.expect("the test is there");
            let got = read_pattern(&mut stream).await.expect("whole");
            stream.write_u64(got).await.expect("open");
        }
    })
    .await;
    let rig = Rig::with(address, [small.clone(), small], || Answer::Established).await;
    let (mut read, mut write) = rig.program().await.into_split();
    let writer = tokio::spawn(async move {
        write_pattern(&mut write, LENGTH).await.expect("open");
        write.shutdown().await.expect("open");
    });
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert!(!writer.is_finished());
    let (near, far) = (rig.near.status(), rig.far.status());
    assert!(near.sessions[0].held_bytes <= 8 << 20, "{}", near.sessions[0].held_bytes);
    assert!(far.sessions[0].unread_bytes <= 4 << 20, "{}", far.sessions[0].unread_bytes);
    wake.send(true).expect("the server waits");
    assert_eq!(read.read_u64().await.expect("an answer"), LENGTH);
    writer.await.expect("no panic");
    // Each end counts both directions, and each stream its own.
    for (status, forth) in [(rig.near.status(), true), (rig.far.status(), false)] {
        let session = &status.sessions[0];
        let (sent, received) = (session.delivered_bytes, session.received_bytes);
        let [much, little] = if forth { [sent, received] } else { [received, sent] };
        assert!(much >= LENGTH && (1..LENGTH / 10).contains(&little), "{}: {sent}, {received}", status.role);
        assert_eq!(session.streams.iter().map(|stream| stream.received_bytes).sum::<u64>(), received);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_papers_mode_and_a_fixed_number_carry_the_same() {
    let _alone = processor().await;
    for streams in [Streams::Paper(8), Streams::Fixed(3)] {
        let options = Options { streams, ..Options::default() };
        let count = if let Streams::Paper(count) | Streams::Fixed(count) = streams { count } else { 0 };
        let rig = Rig::with(server(mirror_length).await, [options.clone(), options], || Answer::Established).await;
        rig.streams(count as usize).await;
        let mut stream = rig.program().await;
        write_pattern(&mut stream, 20_000_000).await.expect("open");
        stream.shutdown().await.expect("open");
        assert_eq!(read_pattern(&mut stream).await.expect("whole"), 20_000_000);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_of_many_idle_connections_still_answers() {
    let _alone = processor().await;
    let rig = Rig::new(server(echo).await).await;
    let mut idle = Vec::new();
    for _ in 0..500 {
        idle.push(rig.program().await);
    }
    until(|| rig.far.status().sessions[0].connections == 500).await;
    for stream in &mut idle {
        stream.write_all(b".").await.expect("open");
        assert_eq!(stream.read_u8().await.expect("open"), b'.');
    }
    drop(idle);
    rig.idle().await;
}

/// Each refusal has its line, once, and is counted at both ends.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refusals_are_told_with_their_reason_and_counted() {
    let gone = TcpListener::bind(LOOPBACK).await.expect("loopback").local_addr().expect("bound");
    let rig = Rig::new(gone).await;
    let forbidden = jet::Destination::Address("192.0.2.1:80".parse().expect("an address"));
    let forbidden = support::door(&rig.near, forbidden, || Answer::Established).await;
    for _ in 0..20 {
        for door in [rig.door, forbidden] {
            if let Ok(mut program) = TcpStream::connect(door).await {
                assert!(program.read_u8().await.is_err());
            }
        }
    }
    let counts = |status: jet::status::Status, cause: &str| status.refusals.get(cause).copied().unwrap_or(0);
    for status in [&|| rig.near.status(), &|| rig.far.status()] as [&dyn Fn() -> jet::status::Status; 2] {
        until(|| counts(status(), "unreachable") == 20 && counts(status(), "not_allowed") == 20).await;
    }
    for log in &rig.logs {
        let lines = log.lines();
        let of = |what: &str| lines.iter().filter(|line| line.contains(what)).count();
        assert_eq!([of(&format!("no connection to {gone}")), of("192.0.2.1:80")], [1, 1], "{lines:?}");
        assert!(of("refused") >= 1, "{lines:?}");
    }
}

/// P-32.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_beyond_the_limit_are_counted_at_the_end_that_refuses() {
    let few = Options { connections: 2, ..Options::default() };
    let rig = Rig::with(server(echo).await, [Options::default(), few], || Answer::Established).await;
    let mut held = Vec::new();
    for _ in 0..2 {
        let mut program = rig.program().await;
        program.write_all(b"?").await.expect("open");
        assert_eq!(program.read_u8().await.expect("it answers"), b'?');
        held.push(program);
    }
    // The reset may be there before the program has seen that it is connected.
    if let Ok(mut third) = TcpStream::connect(rig.door).await {
        assert!(third.read_u8().await.is_err());
    }
    until(|| rig.far.status().refusals.get("too_many_connections") == Some(&1)).await;
    until(|| rig.near.status().refusals.get("too_many_connections") == Some(&1)).await;
    assert!(rig.logs[1].lines().iter().any(|line| line.contains("--connections")), "{:?}", rig.logs[1].lines());
}

/// `iperf3 --bidir` tells its two directions apart by which of two connections comes first. A program opens the second
/// as soon as the kernel has made the first, and the gateways' four streams and many tasks must not change their order.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn connections_reach_their_server_in_the_order_in_which_they_were_opened() {
    const GROUP: u8 = 4;
    let listener = std::net::TcpListener::bind(LOOPBACK).expect("loopback");
    let server = listener.local_addr().expect("bound");
    let rig = Rig::new(server).await;
    rig.streams(4).await;
    let log = jet::log::Log::default();
    let forward = Front::Forward(format!("0={server}").parse().expect("a forward"));
    let door = forward.open(rig.near.doors(), &log, &Inherited::default()).await.expect("it opens");
    let at = door.addresses[0];
    let orders = tokio::task::spawn_blocking(move || {
        let orders = (0..200).map(|_| {
            let programs = (0..GROUP).map(|number| {
                let mut program = std::net::TcpStream::connect(at).expect("the door is open");
                std::io::Write::write_all(&mut program, &[number]).expect("open");
                program
            });
            let programs: Vec<_> = programs.collect();
            let arrived = programs.iter().map(|_| {
                let (mut stream, _) = listener.accept().expect("a program");
                let mut number = [0];
                std::io::Read::read_exact(&mut stream, &mut number).expect("its number");
                number[0]
            });
            arrived.collect::<Vec<_>>()
        });
        orders.collect::<Vec<_>>()
    });
    let orders = orders.await.expect("no panic");
    let ordered: Vec<u8> = (0..GROUP).collect();
    let wrong = orders.iter().filter(|order| **order != ordered).count();
    assert_eq!(wrong, 0, "of {}", orders.len());
}
