//! Where peers may go: each by its own rules, by names to public addresses alone, and none learns what exists.

use super::{Key, OPEN, OPENED, Peer, RESET, frame};
use crate::support::{LOOPBACK, allowed, echo, server};
use jet::far::{Far, FarOptions, listen};
use jet::keys::{Identity, Peers};
use jet::limits::Limits;
use jet::log::Log;
use jet::options::Options;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// A far gateway with these rules, for the peers `one` and `other`.
struct Gateway {
    far: Arc<Far>,
    at: SocketAddr,
    keys: [Key; 2],
    log: Log,
}

fn gateway(rules: &[&str]) -> Gateway {
    limited(rules, &[])
}
/// With limits of peers' own.
fn limited(rules: &[&str], limits: &[&str]) -> Gateway {
    let (keys, options) = ([Key::new(), Key::new()], Options::default());
    let mut peers = Peers::default();
    keys[0].pinned("one", &mut peers);
    keys[1].pinned("other", &mut peers);
    let listener = listen(LOOPBACK.parse().expect("an address"), &options).expect("loopback");
    let at = listener.local_addr().expect("bound");
    let identity = Identity::generate().expect("a key");
    let log = Log::default();
    let limits = Limits::new(limits.iter().map(|limit| limit.parse().expect("a limit")).collect());
    let told = FarOptions { identity, peers, allowed: allowed(rules), limits, options };
    let far = Far::start(told, vec![listener], log.clone()).expect("it starts");
    Gateway { far, at, keys, log }
}

/// P-11: OPEN to a name.
fn named(connection: u32, name: &str, port: u16) -> Vec<u8> {
    frame(OPEN, connection, 0, &[&[3][..], &port.to_be_bytes(), name.as_bytes()].concat())
}
/// What becomes of an OPEN: none if it is opened, or the code of its RESET; and how long that took.
async fn outcome(peer: &mut Peer, open: &[u8]) -> (Option<u32>, Duration) {
    let began = Instant::now();
    peer.say(open).await.expect("open");
    loop {
        let heard = peer.hear().await.expect("an answer");
        match heard.kind {
            OPENED => return (None, began.elapsed()),
            RESET => return (Some(u32::from_be_bytes(heard.body.try_into().expect("a code"))), began.elapsed()),
            _ => {}
        }
    }
}
const NOT_ALLOWED: Option<u32> = Some(13);

/// P-13.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rule_of_a_name_does_not_lead_to_this_host() {
    let server = server(echo).await;
    let by_name = format!("localhost:{}", server.port());
    let by_address = format!("127.0.0.1:{}", server.port());
    for (rules, expected) in [(vec![&by_name[..]], NOT_ALLOWED), (vec![&by_name, &by_address], None)] {
        let gateway = gateway(&rules);
        let (mut peer, _) = Peer::start(gateway.at, &gateway.keys[0], [1; 16]).await.expect("a session");
        let (told, _) = outcome(&mut peer, &named(1, "localhost", server.port())).await;
        assert_eq!(told, expected, "{rules:?}");
        let said = gateway.log.lines().iter().any(|line| line.contains("rule of its own"));
        assert_eq!(said, expected.is_some(), "{:?}", gateway.log.lines());
    }
}

/// P-13: by their codes and by time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forbidden_names_that_exist_and_others_are_refused_alike() {
    let gateway = gateway(&["192.0.2.0/24:80", "db.example:443"]);
    let (mut peer, _) = Peer::start(gateway.at, &gateway.keys[0], [1; 16]).await.expect("a session");
    // A rule of addresses has this port, so that names are asked for.
    for (connection, name) in [(1, "localhost"), (2, "nobody.invalid")] {
        let (told, took) = outcome(&mut peer, &named(connection, name, 80)).await;
        assert_eq!(told, NOT_ALLOWED, "{name}");
        assert!(took >= Duration::from_millis(990), "{name} after {took:?}");
    }
    // None has this one: nobody is asked.
    let (told, took) = outcome(&mut peer, &named(3, "localhost", 443)).await;
    assert!(told == NOT_ALLOWED && took < Duration::from_millis(500), "{told:?} after {took:?}");
}

/// P-13: one list for all, and one for each.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_goes_where_its_own_rules_allow() {
    let [ours, everybodys] = [server(echo).await, server(echo).await];
    let gateway = gateway(&[&format!("one={ours}"), &everybodys.to_string(), "nobody=192.0.2.1:80"]);
    for (key, expected) in [(&gateway.keys[0], None), (&gateway.keys[1], NOT_ALLOWED)] {
        let (mut peer, _) =
            Peer::start(gateway.at, key, [if expected.is_none() { 1 } else { 2 }; 16]).await.expect("a session");
        assert_eq!(outcome(&mut peer, &super::open(1, ours)).await.0, expected);
        assert_eq!(outcome(&mut peer, &super::open(2, everybodys)).await.0, None);
    }
    assert!(gateway.log.lines().iter().any(|line| line.contains("nobody=") && line.contains("no pinned peer")));
}

const NO_ROOM: Option<u32> = Some(105);

/// P-32: a limit of connections is the peer's, however many sessions it begins, and a place that is free is given
/// again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peers_connections_are_limited_over_all_its_sessions() {
    let server = server(echo).await;
    let gateway = limited(&[&server.to_string()], &["one=connections:3", "nobody=memory:1MiB"]);
    let (mut first, _) = Peer::start(gateway.at, &gateway.keys[0], [1; 16]).await.expect("a session");
    let (mut second, _) = Peer::start(gateway.at, &gateway.keys[0], [2; 16]).await.expect("a session");
    for connection in [1, 2] {
        assert_eq!(outcome(&mut first, &super::open(connection, server)).await.0, None);
    }
    assert_eq!(outcome(&mut second, &super::open(1, server)).await.0, None);
    assert_eq!(outcome(&mut second, &super::open(2, server)).await.0, NO_ROOM);
    let said = |what: &str| gateway.log.lines().iter().any(|line| line.contains(what));
    assert!(said("--limit)") && said("--limit nobody="), "{:?}", gateway.log.lines());
    // The other peer has the common limit.
    let (mut other, _) = Peer::start(gateway.at, &gateway.keys[1], [3; 16]).await.expect("a session");
    for connection in 1..=5 {
        assert_eq!(outcome(&mut other, &super::open(connection, server)).await.0, None);
    }
    // A session that ends gives its places back.
    drop(first);
    gateway.far.trust(Peers::default());
    let mut again = Peers::default();
    gateway.keys[0].pinned("one", &mut again);
    gateway.far.trust(again);
    let (mut third, _) = Peer::start(gateway.at, &gateway.keys[0], [4; 16]).await.expect("a session");
    for connection in 1..=3 {
        let mut told = outcome(&mut third, &super::open(connection, server)).await.0;
        for later in 0..100 {
            if told.is_none() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
            told = outcome(&mut third, &super::open(10 + 100 * connection + later, server)).await.0;
        }
        assert_eq!(told, None);
    }
}
