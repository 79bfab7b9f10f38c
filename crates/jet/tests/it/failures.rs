//! What breaks, and who is hostile: nothing is lost without a word, nothing grows without a bound.

use crate::support::{
    self, LOOPBACK, Relay, Rig, allowed, echo, pinned, processor, read_pattern, server, until, write_pattern,
};
use jet::door::Answer;
use jet::far::{Far, FarOptions, listen};
use jet::keys::Identity;
use jet::limits::Limits;
use jet::log::Log;
use jet::near::{Near, NearOptions};
use jet::options::{Options, Streams};
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::Instant;

const LENGTH: u64 = 100_000_000;

async fn source(mut stream: TcpStream) {
    // The program may be gone before the end.
    if write_pattern(&mut stream, LENGTH).await.is_ok() {
        let _ = stream.shutdown().await;
    }
}

/// Reads the whole pattern while `harm` is done, and says the longest wait between two reads.
async fn download(rig: &Rig, harm: impl Future<Output = ()>) -> Duration {
    let mut stream = rig.program().await;
    let reading = async {
        let (mut at, mut buffer, mut longest) = (0, vec![0; 1 << 20], Duration::ZERO);
        loop {
            let began = Instant::now();
            let count = stream.read(&mut buffer).await.expect("not reset");
            longest = longest.max(began.elapsed());
            if count == 0 {
                assert_eq!(at, LENGTH);
                return longest;
            }
            assert_eq!(buffer[0], support::byte(at));
            assert_eq!(buffer[count - 1], support::byte(at + count as u64 - 1));
            at += count as u64;
            // Slow enough that harm comes in the middle.
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let (longest, ()) = tokio::join!(reading, harm);
    longest
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_streams_cost_no_byte_and_less_than_a_second() {
    let _alone = processor().await;
    let rig = Rig::new(server(source).await).await;
    rig.streams(4).await;
    let mut killed = 0;
    let longest = download(&rig, async {
        for _ in 0..3 {
            tokio::time::sleep(Duration::from_millis(200)).await;
            killed += rig.relay.kill(1);
        }
    })
    .await;
    assert_eq!(killed, 3);
    assert!(longest < Duration::from_secs(1), "{longest:?}");
    // What was killed is opened again.
    rig.streams(4).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_outlives_all_its_streams() {
    let _alone = processor().await;
    let rig = Rig::new(server(source).await).await;
    rig.streams(4).await;
    let longest = download(&rig, async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        rig.relay.refuses.store(true, Ordering::SeqCst);
        assert!(rig.relay.kill(100) >= 4);
        tokio::time::sleep(Duration::from_secs(3)).await;
        rig.relay.refuses.store(false, Ordering::SeqCst);
    })
    .await;
    assert!(longest > Duration::from_secs(2) && longest < Duration::from_secs(12), "{longest:?}");
    rig.idle().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_way_back_programs_are_told() {
    let _alone = processor().await;
    let short = Options { patience: Duration::from_secs(2), ..Options::default() };
    let rig = Rig::with(server(echo).await, [short.clone(), short], || Answer::Established).await;
    let mut stream = rig.program().await;
    stream.write_all(b"?").await.expect("open");
    assert_eq!(stream.read_u8().await.expect("open"), b'?');
    rig.relay.refuses.store(true, Ordering::SeqCst);
    rig.relay.kill(100);
    let began = Instant::now();
    assert_eq!(stream.read_u8().await.expect_err("reset").kind(), ErrorKind::ConnectionReset);
    assert!(began.elapsed() > Duration::from_secs(1) && began.elapsed() < Duration::from_secs(5));
    until(|| rig.far.status().sessions.is_empty()).await;
    // A new session begins when there is a way again.
    rig.relay.refuses.store(false, Ordering::SeqCst);
    let mut stream = rig.program().await;
    stream.write_all(b"!").await.expect("open");
    assert_eq!(stream.read_u8().await.expect("open"), b'!');
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_that_swallow_are_found_out() {
    let _alone = processor().await;
    let fixed = Options { streams: Streams::Fixed(4), keep_alive: Duration::from_secs(1), ..Options::default() };
    let rig = Rig::with(server(source).await, [fixed.clone(), fixed], || Answer::Established).await;
    rig.streams(4).await;
    let longest = download(&rig, async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        rig.relay.swallow(1);
    })
    .await;
    // What was on it is missed after two timeouts, half a second at least, and sent again.
    assert!(longest < Duration::from_secs(5), "{longest:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_far_gateway_that_forgets_is_an_honest_error() {
    let server = server(echo).await;
    let rig = Rig::new(server).await;
    let mut stream = rig.program().await;
    stream.write_all(b"?").await.expect("open");
    assert_eq!(stream.read_u8().await.expect("open"), b'?');
    // Another gateway with the same key stands where the first one was.
    let (address, _second) = second_far(&rig);
    rig.relay.redirect(address);
    rig.relay.kill(100);
    assert_eq!(stream.read_u8().await.expect_err("reset").kind(), ErrorKind::ConnectionReset);
    let mut stream = rig.program().await;
    stream.write_all(b"!").await.expect("open");
    assert_eq!(stream.read_u8().await.expect("open"), b'!');
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wrong_key_is_refused_at_both_ends() {
    let rig = Rig::new(server(echo).await).await;
    let (stranger, impostor) = (Identity::generate().expect("a key"), Identity::generate().expect("a key"));
    let near = |identity: Identity, trusts: &Identity| {
        let told = NearOptions {
            identity,
            peers: pinned(trusts, "far"),
            to: vec![rig.relay.address.to_string()],
            via: Vec::new(),
            direct: Vec::new(),
            options: Options::default(),
        };
        Near::start(told, Log::default()).expect("it starts")
    };
    // The far gateway does not know this one; this one does not know the far gateway.
    let unknown = near(stranger.clone(), &rig.far_key);
    let deceived = near(rig.near_key.clone(), &impostor);
    assert!(!unknown.ready(Duration::from_secs(2)).await && !deceived.ready(Duration::from_secs(1)).await);
    assert_eq!(rig.far.status().sessions.len(), 1);
    let right = near(rig.near_key.clone(), &rig.far_key);
    assert!(right.ready(Duration::from_secs(5)).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_speaks_no_tls_gets_nothing_and_leaves_nothing() {
    let rig = Rig::new(server(echo).await).await;
    let long = vec![0xff; 70_000];
    for garbage in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0; 3000], &[0x16, 3, 1, 0xff, 0xff, 1, 2, 3], &long] {
        let mut stream = TcpStream::connect(rig.relay.address).await.expect("it listens");
        let _ = stream.write_all(garbage).await;
        let _ = stream.shutdown().await;
        let mut answer = Vec::new();
        // An alert at most, and the end.
        let _ = tokio::time::timeout(Duration::from_secs(5), stream.read_to_end(&mut answer)).await.expect("the end");
        assert!(answer.len() < 100, "{}", answer.len());
    }
    let mut stream = rig.program().await;
    stream.write_all(b"?").await.expect("open");
    assert_eq!(stream.read_u8().await.expect("open"), b'?');
    assert_eq!(rig.far.status().sessions.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_beyond_the_memory_is_refused() {
    let few = Options { memory: 6 << 20, ..Options::default() };
    let rig = Rig::with(server(echo).await, [Options::default(), few], || Answer::Established).await;
    let told = NearOptions {
        identity: rig.near_key.clone(),
        peers: pinned(&rig.far_key, "far"),
        to: vec![rig.relay.address.to_string()],
        via: Vec::new(),
        direct: Vec::new(),
        options: Options::default(),
    };
    let second = Near::start(told, Log::default()).expect("it starts");
    assert!(!second.ready(Duration::from_secs(2)).await);
    assert_eq!(rig.far.status().sessions.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gateway_that_leaves_lets_connections_end_and_another_takes_its_place() {
    let rig = Rig::new(server(echo).await).await;
    let mut stream = rig.program().await;
    stream.write_all(b"?").await.expect("open");
    assert_eq!(stream.read_u8().await.expect("open"), b'?');
    let (address, second) = second_far(&rig);
    rig.relay.redirect(address);
    let far = Arc::clone(&rig.far);
    let leaving = tokio::spawn(async move { far.leave().await });
    until(|| second.status().sessions.len() == 1).await;
    // What is new goes to the second, what was there goes on with the first.
    let mut new = rig.program().await;
    new.write_all(b"+").await.expect("open");
    assert_eq!(new.read_u8().await.expect("open"), b'+');
    assert_eq!(second.status().sessions[0].connections, 1);
    stream.write_all(b"!").await.expect("open");
    assert_eq!(stream.read_u8().await.expect("open"), b'!');
    assert!(!leaving.is_finished());
    drop(stream);
    tokio::time::timeout(Duration::from_secs(5), leaving).await.expect("it ends").expect("no panic");
}

/// Another far gateway with the same key.
fn second_far(rig: &Rig) -> (SocketAddr, Arc<Far>) {
    let options = Options::default();
    let listener = listen(LOOPBACK.parse().expect("an address"), &options).expect("loopback");
    let address = listener.local_addr().expect("bound");
    let told = FarOptions {
        identity: rig.far_key.clone(),
        peers: pinned(&rig.near_key, "near"),
        allowed: allowed(&["127.0.0.1:*"]),
        limits: Limits::default(),
        options,
    };
    (address, Far::start(told, vec![listener], Log::default()).expect("it starts"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn downloads_go_on_while_streams_come_and_go() {
    let _alone = processor().await;
    let rig = Rig::new(server(source).await).await;
    rig.streams(4).await;
    let mut programs = Vec::new();
    for _ in 0..4 {
        programs.push(rig.program().await);
    }
    let readers: Vec<_> = programs
        .into_iter()
        .map(|mut stream| tokio::spawn(async move { read_pattern(&mut stream).await.expect("not reset") }))
        .collect();
    for _ in 0..10 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        rig.relay.kill(2);
    }
    for reader in readers {
        assert_eq!(reader.await.expect("no panic"), LENGTH);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_relay_is_no_gateway() {
    // The relay itself has to be right, or the tests above say nothing.
    let relay = Relay::new(server(echo).await).await;
    let address: SocketAddr = relay.address;
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    stream.write_all(b"?").await.expect("open");
    assert_eq!(stream.read_u8().await.expect("open"), b'?');
    relay.swallow(1);
    stream.write_all(b"!").await.expect("open");
    assert!(tokio::time::timeout(Duration::from_millis(200), stream.read_u8()).await.is_err());
    assert_eq!(relay.kill(1), 1);
    assert!(stream.read_u8().await.is_err());
}
