//! Peers that know each other's keys, and what they may make of datagrams.

use super::Site;
use super::peer::{Key, PING, Peer, START, frame, usual_hello};
use crate::support::{LOOPBACK, processor, until};
use jet::keys::{Identity, Peers};
use jet::log::Log;
use jet::near::{Near, NearOptions};
use jet::options::{Options, Udp};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::{TcpListener, UdpSocket};
use tokio::time::{sleep, timeout};

const PONG: u8 = 16;
const FLOWS: u8 = 128;
const DATAGRAM: u8 = 129;
const KNOWN: u8 = 130;
const FORGET: u8 = 131;

fn with_udp() -> Options {
    Options { udp: Some(Udp { flows: 20, ..Udp::default() }), patience: Duration::from_secs(1), ..Options::default() }
}
/// P-41: a datagram with its destination.
fn named(flow: u32, to: SocketAddr, payload: &[u8]) -> Vec<u8> {
    let SocketAddr::V4(to) = to else { panic!("IPv4") };
    let to = [&[4][..], &to.port().to_be_bytes(), &to.ip().octets()].concat();
    let body = [&(to.len() as u16).to_be_bytes()[..], &to, payload].concat();
    let mut frame = frame(DATAGRAM, flow, 0, &body);
    frame[1] = 1;
    frame
}
async fn server() -> (UdpSocket, SocketAddr) {
    let socket = UdpSocket::bind(LOOPBACK).await.expect("loopback");
    let address = socket.local_addr().expect("bound");
    (socket, address)
}
impl Peer {
    async fn is_there(&mut self) -> bool {
        self.say(&frame(PING, 0, 7, &[])).await.is_ok() && self.hear_kind(PONG).await.is_ok()
    }
}

/// P-40, P-41, P-44: an honest exchange, written after the protocol; datagrams for flows that nobody knows, and what
/// only far ends say.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_far_gateway_serves_what_the_protocol_has_and_answers_the_rest() {
    let site = Site::new(with_udp()).await;
    let (server, at) = server().await;
    let mut peer = site.start(1).await;
    let says = peer.hear_kind(FLOWS).await.expect("it carries datagrams");
    assert_eq!((says.offset, says.body.len()), (20, 0));
    peer.say(&[frame(FLOWS, 0, 20, &[]), named(1, at, b"question")].concat()).await.expect("open");
    assert_eq!(peer.hear_kind(KNOWN).await.expect("an answer").connection, 1);
    let mut buffer = [0; 100];
    let (count, from) =
        timeout(Duration::from_secs(5), server.recv_from(&mut buffer)).await.expect("soon").expect("open");
    assert_eq!(&buffer[..count], b"question");
    server.send_to(b"answer", from).await.expect("loopback");
    let answer = peer.hear_kind(DATAGRAM).await.expect("an answer");
    assert_eq!((answer.connection, answer.body), (1, b"answer".to_vec()));
    // Unknown flows, many of them; those that end before they are served; a destination that is not allowed.
    let unknown: Vec<u8> = (100..10_000).flat_map(|flow| frame(DATAGRAM, flow, 0, b"to whom?")).collect();
    peer.say(&unknown).await.expect("open");
    let forget = peer.hear_kind(FORGET).await.expect("an answer");
    assert_eq!((forget.connection, forget.body), (100, vec![0; 4]));
    let short: Vec<u8> =
        (200..5000).flat_map(|flow| [named(flow, at, b""), frame(FORGET, flow, 0, &[0; 4])].concat()).collect();
    peer.say(&short).await.expect("open");
    // Until the gateway has seen to all of these there is no room for another.
    for flow in 10_000.. {
        peer.say(&named(flow, "192.0.2.1:53".parse().expect("an address"), b"?")).await.expect("open");
        let mut forget = peer.hear_kind(FORGET).await.expect("an answer");
        while forget.connection != flow {
            forget = peer.hear_kind(FORGET).await.expect("an answer");
        }
        if forget.body == 13_u32.to_be_bytes() {
            break;
        }
        assert!(forget.body == 105_u32.to_be_bytes() && flow < 11_000, "{forget:?}");
        sleep(Duration::from_millis(10)).await;
    }
    assert!(peer.is_there().await, "none of this breaks a rule");
    until(|| site.far.status().sessions.iter().map(|session| session.flows).sum::<usize>() == 1).await;
    drop(peer);
    site.is_as_before().await;
    // What only a far end says does.
    let mut peer = site.start(2).await;
    peer.say(&frame(KNOWN, 1, 0, &[])).await.expect("open");
    assert!(peer.is_cut_off().await);
    site.is_as_before().await;
}

/// P-41: flows are bounded for a session, for all sessions of a peer, and in all.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn flows_of_one_peer_leave_room_for_another() {
    let site = Site::new(with_udp()).await;
    let (_server, at) = server().await;
    let mut peers = [site.start(1).await, site.start(2).await];
    for peer in &mut peers {
        let some: Vec<u8> = (1..=30).flat_map(|flow| named(flow, at, b"?")).collect();
        peer.say(&[frame(FLOWS, 0, 100, &[]), some].concat()).await.expect("open");
        let refused = peer.hear_kind(FORGET).await.expect("an answer");
        assert_eq!(refused.body, 105_u32.to_be_bytes());
    }
    let flows = || {
        let sessions = site.far.status().sessions;
        sessions.iter().filter(|session| session.peer == "hostile").map(|session| session.flows).sum::<usize>()
    };
    until(|| flows() == 20).await;
    let (mut other, _) = Peer::start(site.at, &site.other, [9; 16]).await.expect("a session");
    other.say(&[frame(FLOWS, 0, 100, &[]), named(1, at, b"?")].concat()).await.expect("open");
    until(|| site.far.status().sessions.iter().any(|session| session.peer == "other" && session.flows == 1)).await;
    drop((peers, other));
    site.is_as_before().await;
}

/// P-46: a peer that floods, and does not read the answers, costs what its flows may hold.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_that_is_not_read_costs_bounded_memory() {
    let _alone = processor().await;
    let site = Site::new(Options { peer_memory: 8 << 20, ..with_udp() }).await;
    let (server, at) = server().await;
    let echo = tokio::spawn(async move {
        let mut buffer = vec![0; 1 << 16];
        while let Ok((count, from)) = server.recv_from(&mut buffer).await {
            let _ = server.send_to(&buffer[..count], from).await;
        }
    });
    let mut peer = site.start(1).await;
    let flood: Vec<u8> = (1..=20).flat_map(|flow| named(flow, at, &vec![7; 30_000])).collect();
    peer.say(&frame(FLOWS, 0, 20, &[])).await.expect("open");
    for _ in 0..100 {
        // It may be cut off: what it does not read is answers.
        if !matches!(timeout(Duration::from_secs(5), peer.say(&flood)).await, Ok(Ok(()))) {
            break;
        }
        let hostile = site.far.status().sessions.into_iter().find(|session| session.peer == "hostile");
        let held = hostile.map_or(0, |session| session.held_bytes);
        assert!(held <= 8 << 20, "{held} bytes held");
    }
    drop(peer);
    echo.abort();
    site.is_as_before().await;
}

/// P-40: a gateway that does not carry datagrams skips them, and says nothing of them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gateway_without_udp_skips_datagrams() {
    let site = Site::new(Options { patience: Duration::from_secs(1), ..Options::default() }).await;
    let (server, at) = server().await;
    let mut peer = site.start(1).await;
    peer.say(&[frame(FLOWS, 0, 20, &[]), named(1, at, b"?"), frame(KNOWN + 10, 1, 0, b"later")].concat())
        .await
        .expect("open");
    peer.say(&[frame(PING, 0, 7, &[]), frame(FORGET, 1, 0, &[0; 4])].concat()).await.expect("open");
    loop {
        let heard = peer.hear().await.expect("open");
        assert!(heard.kind < FLOWS, "{heard:?}");
        if heard.kind == PONG {
            break;
        }
    }
    assert!(timeout(Duration::from_millis(300), server.recv(&mut [0; 9])).await.is_err());
    drop(peer);
    site.is_as_before().await;
}

/// P-12, P-41: a far gateway that sends datagrams of flows that nobody has opened is told so; one that opens flows
/// itself is no far gateway.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_near_gateway_serves_no_flows_of_the_far_ones() {
    let (own, far) = (Identity::generate().expect("a key"), Key::new());
    let mut peers = Peers::default();
    far.pinned("far", &mut peers);
    let listener = TcpListener::bind(LOOPBACK).await.expect("loopback");
    let to = vec![listener.local_addr().expect("bound").to_string()];
    let told = NearOptions { identity: own, peers, to, via: Vec::new(), direct: Vec::new(), options: with_udp() };
    let _near = Near::start(told, Log::default()).expect("it starts");
    let meet = async || {
        loop {
            let (stream, _) = listener.accept().await.expect("loopback");
            let Ok(mut peer) = Peer::accept(stream, &far).await else { continue };
            let greeting = peer.hear().await.expect("HELLO");
            if peer.hear().await.expect("START or JOIN").kind == START {
                let session = greeting.body[..16].try_into().expect("16 bytes");
                peer.say(&usual_hello(session, greeting.offset as u32)).await.expect("open");
                return peer;
            }
        }
    };
    let mut peer = meet().await;
    assert_eq!(peer.hear_kind(FLOWS).await.expect("it carries datagrams").offset, 20);
    peer.say(&[frame(FLOWS, 0, 20, &[]), frame(DATAGRAM, 7, 0, b"who?"), frame(FORGET, 9, 0, &[0; 4])].concat())
        .await
        .expect("open");
    assert_eq!(peer.hear_kind(FORGET).await.expect("an answer").connection, 7);
    assert!(peer.is_there().await);
    peer.say(&named(8, "127.0.0.1:53".parse().expect("an address"), b"go there")).await.expect("open");
    assert!(peer.is_cut_off().await);
    sleep(Duration::from_millis(10)).await;
}
