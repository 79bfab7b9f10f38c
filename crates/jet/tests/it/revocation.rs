//! A key that is not trusted any more is of no use from that moment on, whatever it has opened before.

use crate::support::{LOOPBACK, Rig, echo, pinned, server, until};
use jet::far::{Far, FarOptions, listen};
use jet::keys::{Identity, Peers};
use jet::limits::Limits;
use jet::log::Log;
use jet::options::Options;
use jet::trust;
use std::fs;
use std::io::ErrorKind;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

/// A program with a connection that works.
async fn held(rig: &Rig) -> TcpStream {
    let mut program = rig.program().await;
    program.write_all(b"?").await.expect("open");
    assert_eq!(program.read_u8().await.expect("it answers"), b'?');
    program
}

/// The program is reset, and that within a second of this call.
async fn is_reset(mut program: TcpStream) {
    let began = Instant::now();
    let ended = timeout(Duration::from_secs(10), program.read_u8()).await.expect("it is told");
    assert_eq!(ended.expect_err("not an end").kind(), ErrorKind::ConnectionReset);
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_is_unpinned_at_the_far_end_loses_its_connections_within_a_second() {
    let rig = Rig::new(server(echo).await).await;
    let program = held(&rig).await;
    rig.far.trust(Peers::default());
    is_reset(program).await;
    // It comes back to nothing, and its log says why.
    assert!(!rig.near.ready(Duration::from_secs(1)).await);
    until(|| rig.far.status().sessions.is_empty()).await;
    assert!(rig.logs[0].lines().iter().any(|line| line.contains("does not know this gateway's key")));
    // Trusted again it is served again.
    rig.far.trust(pinned(&rig.near_key, "near"));
    assert!(rig.near.ready(Duration::from_secs(10)).await);
    drop(held(&rig).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_is_unpinned_at_the_near_end_gets_no_program_any_more() {
    let rig = Rig::new(server(echo).await).await;
    let program = held(&rig).await;
    rig.near.trust(Peers::default());
    is_reset(program).await;
    assert!(!rig.near.ready(Duration::from_secs(1)).await);
}

/// Another peer's sessions go on; a gateway that leaves ends those of the one that is unpinned, too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gateway_that_leaves_obeys_and_other_peers_go_on() {
    let rig = Rig::new(server(echo).await).await;
    let mut both = pinned(&rig.near_key, "near");
    let other_key = Identity::generate().expect("a key");
    both.pin(other_key.fingerprint(), "other").expect("a name");
    rig.far.trust(both);
    let told = jet::near::NearOptions {
        identity: other_key.clone(),
        peers: pinned(&rig.far_key, "far"),
        to: vec![rig.relay.address.to_string()],
        via: Vec::new(),
        direct: Vec::new(),
        options: Options::default(),
    };
    let other = jet::near::Near::start(told, Log::default()).expect("it starts");
    assert!(other.ready(Duration::from_secs(10)).await);
    let program = held(&rig).await;
    let far = Arc::clone(&rig.far);
    let leaving = tokio::spawn(async move { far.leave().await });
    // The process that has taken its place reads the same file.
    let options = Options::default();
    let listener = listen(LOOPBACK.parse().expect("an address"), &options).expect("loopback");
    rig.relay.redirect(listener.local_addr().expect("bound"));
    let (identity, peers) = (rig.far_key.clone(), pinned(&other_key, "other"));
    let told = FarOptions {
        identity,
        peers: peers.clone(),
        allowed: jet::allow::Allowed::default(),
        limits: Limits::default(),
        options,
    };
    let _second = Far::start(told, vec![listener], Log::default()).expect("it starts");
    rig.far.trust(peers);
    is_reset(program).await;
    until(|| rig.far.status().sessions.iter().all(|session| session.peer == "other")).await;
    drop(leaving);
}

/// The file, replaced or written in place, or gone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_peers_file_is_followed() {
    let folder = std::env::temp_dir().join(format!("trunkline-follow-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let (one, two) = (Identity::generate().expect("a key"), Identity::generate().expect("a key"));
    let mut peers = pinned(&one, "one");
    peers.save(&folder).expect("a folder");
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (log, kept) = (Log::default(), Arc::clone(&seen));
    let following = tokio::spawn(trust::follow(folder.clone(), log.clone(), move |peers| {
        kept.lock().expect("no panic").push(peers.iter().map(|(_, name)| name.to_owned()).collect::<Vec<_>>());
    }));
    let seen = |count: usize| seen.lock().expect("no panic").get(count - 1).cloned();
    until(|| seen(1).is_some()).await;
    let began = Instant::now();
    peers.pin(two.fingerprint(), "two").expect("a name");
    peers.save(&folder).expect("a folder");
    until(|| seen(2).is_some()).await;
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    // A line that is none changes nothing, and is said.
    fs::write(folder.join("peers"), "nobody").expect("a file");
    until(|| log.lines().iter().any(|line| line.contains("the peers are as before"))).await;
    assert_eq!(seen(3), None);
    fs::remove_file(folder.join("peers")).expect("it is there");
    until(|| seen(3).is_some()).await;
    following.abort();
    fs::remove_dir_all(&folder).expect("it is there");
    assert_eq!(seen(1), Some(vec!["one".to_owned()]));
    assert_eq!(seen(2).map(|names| names.len()), Some(2));
    assert_eq!(seen(3), Some(Vec::new()));
}

/// A gateway without peers does not start: it would serve nobody.
#[tokio::test]
async fn somebody_has_to_be_pinned_at_the_beginning() {
    let options = Options::default();
    let listener = listen(LOOPBACK.parse().expect("an address"), &options).expect("loopback");
    let identity = Identity::generate().expect("a key");
    let allowed = jet::allow::Allowed::default();
    let told = FarOptions { identity, peers: Peers::default(), allowed, limits: Limits::default(), options };
    assert!(Far::start(told, vec![listener], Log::default()).is_err());
}
