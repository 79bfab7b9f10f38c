//! Datagrams through real gateways on loopback: what programs see.

use crate::support::{self, LOOPBACK, Rig, echo, processor, server, until};
use jet::door::{Answer, Door, ForwardUdp, Front, Socks5};
use jet::handover::Inherited;
use jet::log::Log;
use jet::options::{Options, Udp};
use jet::status::SessionStatus;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket};
use tokio::time::{Instant, sleep, timeout};

const SOON: Duration = Duration::from_secs(5);

fn with_udp() -> Options {
    Options { udp: Some(Udp::default()), ..Options::default() }
}
/// Two gateways that carry datagrams, and TCP to an echo.
async fn rig() -> Rig {
    Rig::with(server(echo).await, [with_udp(), with_udp()], || Answer::Established).await
}
async fn open(rig: &Rig, front: Front) -> Door {
    front.open(rig.near.doors(), &Log::default(), &Inherited::default()).await.expect("it opens")
}
async fn forward(rig: &Rig, to: &str) -> (Door, SocketAddr) {
    let flows = rig.near.flows().expect("datagrams are carried");
    let forward = format!("0={to}").parse().expect("a forward");
    let door = open(rig, Front::ForwardUdp(ForwardUdp { forward, flows })).await;
    let address = door.addresses[0];
    (door, address)
}
async fn socks5(rig: &Rig) -> (Door, SocketAddr) {
    let door =
        open(rig, Front::Socks5(Socks5 { flows: rig.near.flows(), ..LOOPBACK.parse().expect("an address") })).await;
    let address = door.addresses[0];
    (door, address)
}
async fn socket() -> UdpSocket {
    UdpSocket::bind(LOOPBACK).await.expect("loopback")
}
/// A server that sends back what comes.
fn echoing(socket: UdpSocket) -> SocketAddr {
    let address = socket.local_addr().expect("bound");
    tokio::spawn(async move {
        let mut buffer = vec![0; 1 << 16];
        while let Ok((count, from)) = socket.recv_from(&mut buffer).await {
            let _ = socket.send_to(&buffer[..count], from).await;
        }
    });
    address
}
/// Asks, again if need be as programs that use UDP do, until there is an answer.
async fn answer(program: &UdpSocket, to: SocketAddr, question: &[u8]) -> Option<Vec<u8>> {
    let mut buffer = vec![0; 1 << 17];
    for _ in 0..10 {
        program.send_to(question, to).await.expect("loopback");
        if let Ok(Ok((count, _))) = timeout(Duration::from_millis(500), program.recv_from(&mut buffer)).await {
            return Some(buffer[..count].to_vec());
        }
    }
    None
}
/// Nothing comes.
async fn is_silent(program: &UdpSocket) -> bool {
    timeout(Duration::from_millis(300), program.recv(&mut [0; 100])).await.is_err()
}
fn pattern(length: usize) -> Vec<u8> {
    support::bytes(7, length)
}
fn near(rig: &Rig) -> SessionStatus {
    rig.near.status().sessions.swap_remove(0)
}
fn far(rig: &Rig) -> SessionStatus {
    rig.far.status().sessions.swap_remove(0)
}

/// P-42.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn datagrams_of_every_length_go_through_a_forward_and_back() {
    let rig = rig().await;
    let server = echoing(socket().await);
    let (_door, at) = forward(&rig, &server.to_string()).await;
    let program = socket().await;
    for length in [40, 0, 1, 512, 1472, 9000, 60_000, 65_507, 40] {
        let question = pattern(length);
        assert_eq!(answer(&program, at, &question).await, Some(question), "{length} bytes");
    }
    let (near, far) = (near(&rig), far(&rig));
    assert_eq!((near.flows, far.flows), (1, 1));
    assert!(near.datagrams_sent >= 9 && near.datagrams_received >= 9 && far.datagrams_received >= 9, "{near:?}");
    // Each program has its own flow, and hears its own answers.
    let other = socket().await;
    assert_eq!(answer(&other, at, b"other").await.as_deref(), Some(&b"other"[..]));
    assert!(is_silent(&program).await);
    assert_eq!(rig.far.status().sessions[0].flows, 2);
    let metrics = rig.near.status().metrics();
    assert!(metrics.lines().any(|line| line.starts_with("trunkline_jet_flows{") && line.ends_with(" 2")), "{metrics}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hundreds_of_programs_ask_at_once_and_each_hears_its_own() {
    let _alone = processor().await;
    let rig = rig().await;
    let server = echoing(socket().await);
    let (_door, at) = forward(&rig, &server.to_string()).await;
    let mut programs = tokio::task::JoinSet::new();
    for number in 0..300_u32 {
        programs.spawn(async move {
            let program = socket().await;
            for round in 0..5_u32 {
                let question = [number.to_be_bytes(), round.to_be_bytes()].concat();
                let mut got = answer(&program, at, &question).await;
                // Of a question that was asked twice there may be two answers.
                while got.as_ref().is_some_and(|got| *got != question) {
                    got = answer(&program, at, &question).await;
                }
                assert!(got.is_some());
            }
        });
    }
    while let Some(done) = programs.join_next().await {
        done.expect("no panic");
    }
    assert_eq!((near(&rig).flows, far(&rig).flows), (300, 300));
}

/// P-41: at the far end refusals end nothing; the same flow goes on when somebody listens.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_starts_late_is_heard() {
    let rig = rig().await;
    let gone = socket().await.local_addr().expect("bound");
    let (_door, at) = forward(&rig, &gone.to_string()).await;
    let program = socket().await;
    for _ in 0..5 {
        program.send_to(b"anyone?", at).await.expect("loopback");
        sleep(Duration::from_millis(20)).await;
    }
    assert!(is_silent(&program).await);
    echoing(UdpSocket::bind(gone).await.expect("it is free"));
    assert_eq!(answer(&program, at, b"now?").await.as_deref(), Some(&b"now?"[..]));
    assert_eq!((near(&rig).flows, far(&rig).flows), (1, 1));
}

/// P-13, P-41: the rules are those of connections.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_destination_that_no_rule_has_gets_nothing() {
    let rig = rig().await;
    let (_door, at) = forward(&rig, "192.0.2.1:53").await;
    let program = socket().await;
    program.send_to(b"question", at).await.expect("loopback");
    until(|| near(&rig).datagrams_sent == 1 && near(&rig).flows == 0).await;
    // It is not asked again for each datagram.
    for _ in 0..10 {
        program.send_to(b"question", at).await.expect("loopback");
    }
    assert!(is_silent(&program).await);
    assert_eq!((near(&rig).datagrams_sent, far(&rig).flows), (1, 0));
    // Nor does a name that leads nowhere.
    let (_other, at) = forward(&rig, "no-such-name.invalid:53").await;
    program.send_to(b"question", at).await.expect("loopback");
    until(|| near(&rig).datagrams_sent == 2 && near(&rig).flows == 0).await;
}

/// A client of SOCKS5: its connection, its socket for datagrams, and where these are to go.
struct Client {
    control: TcpStream,
    socket: UdpSocket,
    to: SocketAddr,
}

/// Asks for an association; the reply.
async fn associate(at: SocketAddr, port: u16) -> (TcpStream, Vec<u8>) {
    let mut control = TcpStream::connect(at).await.expect("the door is open");
    control.write_all(&[5, 1, 0]).await.expect("open");
    let mut method = [0; 2];
    control.read_exact(&mut method).await.expect("a method");
    assert_eq!(method, [5, 0]);
    let ask = [&[5, 3, 0, 1, 0, 0, 0, 0][..], &port.to_be_bytes()].concat();
    control.write_all(&ask).await.expect("open");
    let mut reply = vec![0; 10];
    timeout(Duration::from_secs(10), control.read_exact(&mut reply)).await.expect("in time").expect("a reply");
    (control, reply)
}

impl Client {
    async fn new(at: SocketAddr) -> Self {
        let (control, reply) = associate(at, 0).await;
        assert_eq!(reply[..8], [5, 0, 0, 1, 127, 0, 0, 1]);
        let port = u16::from_be_bytes([reply[8], reply[9]]);
        Self { control, socket: socket().await, to: SocketAddr::from(([127, 0, 0, 1], port)) }
    }
    async fn ask(&self, head: &[u8], question: &[u8]) -> Option<Vec<u8>> {
        let whole = [head, question].concat();
        answer(&self.socket, self.to, &whole).await
    }
}

/// A header of RFC 1928, section 7.
fn head(to: SocketAddr) -> Vec<u8> {
    let SocketAddr::V4(to) = to else { panic!("IPv4") };
    [&[0, 0, 0, 1][..], &to.ip().octets(), &to.port().to_be_bytes()].concat()
}
fn named(name: &str, port: u16) -> Vec<u8> {
    [&[0, 0, 0, 3, name.len() as u8][..], name.as_bytes(), &port.to_be_bytes()].concat()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn socks5_associations_carry_datagrams_to_several_servers() {
    let rig = rig().await;
    let (_door, at) = socks5(&rig).await;
    let servers = [echoing(socket().await), echoing(socket().await)];
    let client = Client::new(at).await;
    for length in [40, 60_000] {
        for server in servers {
            let heads = [head(server), named("localhost", server.port())];
            for head in heads {
                let question = pattern(length);
                let answer = client.ask(&head, &question).await.expect("an answer");
                // The answer says where it comes from, as the client has named it.
                assert!(answer == [head, question].concat(), "{length} bytes");
            }
        }
    }
    assert_eq!((near(&rig).flows, far(&rig).flows), (4, 4));
    // Fragments, and what makes no sense, are dropped without a word.
    for wrong in [&[0, 0, 1, 1][..], &[0, 0], &[1, 2, 3, 4, 5], &[]] {
        let whole = [wrong, &head(servers[0])[4..], b"?"].concat();
        client.socket.send_to(&whole, client.to).await.expect("loopback");
    }
    assert!(is_silent(&client.socket).await);
    // Another socket is not the client's.
    let thief = socket().await;
    thief.send_to(&[head(servers[0]), b"?".to_vec()].concat(), client.to).await.expect("loopback");
    assert!(is_silent(&thief).await && is_silent(&client.socket).await);
    assert_eq!(near(&rig).flows, 4);
    // It ends with the connection that asked for it.
    let Client { control, socket, to } = client;
    drop(control);
    until(|| near(&rig).flows == 0 && far(&rig).flows == 0).await;
    until(|| std::net::UdpSocket::bind(to).is_ok()).await;
    drop(socket);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_says_its_port_is_held_to_it() {
    let rig = rig().await;
    let (_door, at) = socks5(&rig).await;
    let server = echoing(socket().await);
    let program = socket().await;
    let (_control, reply) = associate(at, program.local_addr().expect("bound").port()).await;
    let to = SocketAddr::from(([127, 0, 0, 1], u16::from_be_bytes([reply[8], reply[9]])));
    let whole = [head(server), b"?".to_vec()].concat();
    let other = socket().await;
    other.send_to(&whole, to).await.expect("loopback");
    assert!(is_silent(&other).await);
    assert_eq!(answer(&program, to, &whole).await, Some(whole));
}

/// P-40: it is off where nobody has asked for it, at either end; programs that can be told are told.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_udp_at_both_ends_it_passes_by() {
    let neither = Rig::new(server(echo).await).await;
    assert!(neither.near.flows().is_none());
    let (_door, at) = socks5(&neither).await;
    assert_eq!(associate(at, 0).await.1, [5, 7, 0, 1, 0, 0, 0, 0, 0, 0]);

    let near_alone = Rig::with(server(echo).await, [with_udp(), Options::default()], || Answer::Established).await;
    let (_door, at) = socks5(&near_alone).await;
    assert_eq!(associate(at, 0).await.1, [5, 7, 0, 1, 0, 0, 0, 0, 0, 0]);
    let echo = echoing(socket().await);
    let (_door, at) = forward(&near_alone, &echo.to_string()).await;
    let program = socket().await;
    program.send_to(b"?", at).await.expect("loopback");
    until(|| near(&near_alone).datagrams_late == 1).await;
    assert!(is_silent(&program).await);
    assert_eq!((near(&near_alone).datagrams_sent, far(&near_alone).datagrams_received), (0, 0));
    talks(&near_alone).await;

    let far_alone =
        Rig::with(server(support::echo).await, [Options::default(), with_udp()], || Answer::Established).await;
    talks(&far_alone).await;
}

/// Connections work.
async fn talks(rig: &Rig) {
    let mut program = rig.program().await;
    program.write_all(b"!").await.expect("open");
    assert_eq!(program.read_u8().await.expect("an answer"), b'!');
}

/// P-22, P-43, P-46: a flood takes neither all of the streams, nor memory without end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_starves_no_connection_and_costs_bounded_memory() {
    let _alone = processor().await;
    let rig = rig().await;
    // A server that never reads costs no more than one that does.
    let deaf = socket().await;
    let (_door, at) = forward(&rig, &deaf.local_addr().expect("bound").to_string()).await;
    let flood = tokio::spawn(async move {
        let program = socket().await;
        let datagram = pattern(60_000);
        loop {
            for _ in 0..20 {
                let _ = program.send_to(&datagram, at).await;
            }
            tokio::task::yield_now().await;
        }
    });
    until(|| near(&rig).datagrams_sent > 100).await;
    let mut program = rig.program().await;
    let mut slowest = Duration::ZERO;
    for _ in 0..50 {
        let began = Instant::now();
        program.write_all(b"?").await.expect("open");
        timeout(SOON, program.read_u8()).await.expect("no starving").expect("open");
        slowest = slowest.max(began.elapsed());
        let held = near(&rig).held_bytes.max(far(&rig).held_bytes);
        // Two directions.
        assert!(held <= 16 << 20, "{held} bytes held");
    }
    assert!(slowest < Duration::from_secs(1), "{slowest:?}");
    flood.abort();
    until(|| near(&rig).held_bytes == 0 && far(&rig).held_bytes == 0).await;
}

/// Flows beyond the number of the far end: those that were silent for longest make room.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_flows_than_there_may_be_take_turns() {
    let few = Options { udp: Some(Udp { flows: 10, flows_in_all: 10, ..Udp::default() }), ..Options::default() };
    let rig = Rig::with(server(echo).await, [with_udp(), few], || Answer::Established).await;
    let server = echoing(socket().await);
    let (_door, at) = forward(&rig, &server.to_string()).await;
    for _ in 0..50 {
        assert!(answer(&socket().await, at, b"?").await.is_some());
        assert!(near(&rig).flows <= 10 && far(&rig).flows <= 10);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_that_break_lose_datagrams_and_no_flow() {
    let rig = rig().await;
    let server = echoing(socket().await);
    let (_door, at) = forward(&rig, &server.to_string()).await;
    let program = socket().await;
    assert!(answer(&program, at, b"before").await.is_some());
    for _ in 0..3 {
        rig.relay.kill(2);
        assert!(answer(&program, at, b"some are gone").await.is_some());
    }
    rig.relay.kill(100);
    assert!(answer(&program, at, b"all were gone").await.is_some());
    assert_eq!((near(&rig).flows, far(&rig).flows), (1, 1));
}

/// P-24: a stream on which nothing arrives, although TCP's acknowledgements do, is found out and left alone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_stands_still_does_not_hold_up_the_rest() {
    let _alone = processor().await;
    let rig = rig().await;
    let server = echoing(socket().await);
    let (_door, at) = forward(&rig, &server.to_string()).await;
    let program = socket().await;
    assert!(answer(&program, at, b"before").await.is_some());
    rig.streams(4).await;
    rig.relay.swallow(1);
    let mut answered = 0;
    for number in 0..100_u8 {
        program.send_to(&[number; 160], at).await.expect("loopback");
        if timeout(Duration::from_millis(200), program.recv(&mut [0; 200])).await.is_ok() {
            answered += 1;
        }
    }
    // Until the stream owes the answer to a PING for half a second, what goes there is lost: a second each way, of
    // which 200 ms are for one datagram.
    assert!(answered >= 50, "{answered} of 100");
}
