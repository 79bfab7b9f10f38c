//! Peers that know each other's keys and break the rules of docs/reference/protocol.md; and peers that are not known.

mod destinations;
mod flood;
mod peer;
mod udp;

use crate::support::{self, LOOPBACK, Rig, allowed, echo, processor, server, until};
use jet::door::Answer;
use jet::far::{Far, FarOptions, listen};
use jet::keys::{Identity, Peers};
use jet::limits::Limits;
use jet::log::Log;
use jet::near::{Near, NearOptions};
use jet::options::Options;
use peer::{
    ACK, ALLOW, DATA, GONE, HELLO, Heard, JOIN, Key, OPEN, OPENED, PING, Peer, REFUSE, RESET, START, frame, hello,
    open, usual_hello,
};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::{Instant, pause, resume, sleep, timeout};

/// A far gateway that knows an honest near one, and two hostile peers.
struct Site {
    far: Arc<Far>,
    at: SocketAddr,
    near: Near,
    server: SocketAddr,
    log: Log,
    hostile: Key,
    other: Key,
    /// The honest gateway's key, and the far one's.
    keys: (Identity, Identity),
    /// Memory that is free when nobody hostile has a session.
    free: u64,
}

impl Site {
    async fn new(options: Options) -> Self {
        let (near_key, far_key) = (Identity::generate().expect("a key"), Identity::generate().expect("a key"));
        let (hostile, other) = (Key::new(), Key::new());
        let mut peers = support::pinned(&near_key, "near");
        hostile.pinned("hostile", &mut peers);
        other.pinned("other", &mut peers);
        let listener = listen(LOOPBACK.parse().expect("an address"), &options).expect("loopback");
        let at = listener.local_addr().expect("bound");
        let told = FarOptions {
            identity: far_key.clone(),
            peers,
            allowed: allowed(&["127.0.0.1:*"]),
            limits: Limits::default(),
            options,
        };
        let log = Log::default();
        let far = Far::start(told, vec![listener], log.clone()).expect("it starts");
        let keys = (near_key.clone(), far_key.clone());
        let near = near(near_key, support::pinned(&far_key, "far"), at);
        let server = server(echo).await;
        assert!(near.ready(Duration::from_secs(10)).await);
        let free = far.status().free_bytes;
        Self { far, at, near, server, log, hostile, other, keys, free }
    }
    async fn start(&self, session: u8) -> Peer {
        Peer::start(self.at, &self.hostile, [session; 16]).await.expect("a session").0
    }
    /// Nothing is left of hostile peers, and the honest one goes on.
    async fn is_as_before(&self) {
        until(|| self.far.status().sessions.len() == 1).await;
        // The honest session's own window may have grown. Sockets of flows let go of their session when they have seen
        // that it is over.
        until(|| self.far.status().free_bytes + (1 << 20) > self.free).await;
        let door = support::door(&self.near, jet::Destination::Address(self.server), || Answer::Established).await;
        let mut program = TcpStream::connect(door).await.expect("the door is open");
        program.write_all(b"?").await.expect("open");
        assert_eq!(program.read_u8().await.expect("it answers"), b'?');
    }
}

fn near(identity: Identity, peers: Peers, to: SocketAddr) -> Near {
    let told = NearOptions {
        identity,
        peers,
        to: vec![to.to_string()],
        via: Vec::new(),
        direct: Vec::new(),
        options: Options::default(),
    };
    Near::start(told, Log::default()).expect("it starts")
}

fn refused(why: u32) -> Heard {
    Heard { kind: REFUSE, connection: 0, offset: 0, body: why.to_be_bytes().to_vec() }
}

/// What of the frames that are wrong is written down in `stripe`'s corpus.
fn wrong_frames() -> Vec<(&'static str, Vec<u8>)> {
    let bytes = |hex: &str| {
        (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("hex")).collect()
    };
    let lines = include_str!("../../../../stripe/tests/corpus/frames.txt").lines();
    lines
        .filter_map(|line| match line.split(' ').collect::<Vec<_>>()[..] {
            [name, "error", hex] => Some((name, bytes(hex))),
            _ => None,
        })
        .collect()
}

/// P-5, P-6.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_breaks_the_rules_loses_the_session_and_no_other_does() {
    let site = Site::new(Options::default()).await;
    let mut wrong = wrong_frames();
    assert!(wrong.len() > 25);
    let beyond = 5 << 20;
    wrong.extend([
        ("noise", (0..5000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect()),
        ("a second HELLO", usual_hello([1; 16], 1)),
        ("a second START", frame(START, 0, 0, &[])),
        ("DATA beyond the credit", [open(1, site.server), frame(DATA, 1, beyond, &[7; 100])].concat()),
        (
            "two ends",
            [open(1, site.server), frame(RESET, 1, 7, &[0, 0, 0, 1]), frame(RESET, 1, 9, &[0, 0, 0, 1])].concat(),
        ),
        ("an end beyond all credit", [open(1, site.server), frame(RESET, 1, u64::MAX, &[0, 0, 0, 1])].concat()),
    ]);
    for (number, (what, bytes)) in wrong.into_iter().enumerate() {
        let mut peer = site.start(number as u8).await;
        let _ = peer.say(&bytes).await;
        assert!(peer.is_cut_off().await, "{what}");
    }
    site.is_as_before().await;
}

#[tokio::test]
async fn half_a_frame_and_half_a_handshake_leave_nothing() {
    let site = Site::new(Options { patience: Duration::from_secs(1), ..Options::default() }).await;
    for (session, cut) in [(1, 3), (2, 19), (3, 25)] {
        let mut peer = site.start(session).await;
        peer.say(&open(1, site.server)[..cut]).await.expect("open");
        drop(peer);
    }
    // TLS without HELLO, and with half of one; TCP without TLS.
    let mut silent = Peer::connect(site.at, &site.hostile).await.expect("TLS");
    let mut half = Peer::connect(site.at, &site.hostile).await.expect("TLS");
    half.say(&usual_hello([9; 16], 1)[..30]).await.expect("open");
    let mut strange = TcpStream::connect(site.at).await.expect("it listens");
    // P-3: not waited for longer than 10 s. The clock runs ahead meanwhile: the runtime has one thread, and waits for
    // timers alone.
    pause();
    sleep(Duration::from_secs(10)).await;
    resume();
    assert!(silent.is_cut_off().await && half.is_cut_off().await);
    assert!(timeout(Duration::from_secs(2), strange.read(&mut [0; 1])).await.is_ok());
    site.is_as_before().await;
}

/// P-3: whoever has no key may begin handshakes and finish none, as fast as he can; from another address streams are
/// opened as before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_from_one_address_leaves_others_their_share() {
    let _alone = processor().await;
    let site = Site::new(Options::default()).await;
    let (session, at) = ([1; 16], site.at);
    let flooding = Arc::new(AtomicUsize::new(0));
    let waiting = Arc::clone(&flooding);
    let flood = tokio::spawn(async move {
        let mut all = Vec::new();
        loop {
            let socket = TcpSocket::new_v4().expect("a socket");
            socket.bind("127.0.0.2:0".parse().expect("an address")).expect("loopback");
            all.push(socket.connect(at).await.expect("it listens"));
            let is_open = |stream: &TcpStream| matches!(stream.try_read(&mut [0]), Err(error) if error.kind() == std::io::ErrorKind::WouldBlock);
            sleep(Duration::from_millis(1)).await;
            all.retain(is_open);
            waiting.store(all.len(), Ordering::Relaxed);
        }
    });
    // Each of its handshakes lasts until it is not waited for any more.
    until(|| flooding.load(Ordering::Relaxed) >= 1000).await;
    let began = Instant::now();
    let (first, secret) = Peer::start(at, &site.hostile, session).await.expect("a session");
    let mut streams = vec![first];
    for number in 2..=30 {
        let mut stream = Peer::connect(at, &site.hostile).await.expect("TLS");
        let proof = stream.proof(&secret, number);
        assert_eq!(stream.join(session, number, &proof).await.kind, HELLO);
        streams.push(stream);
    }
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    // It had all 1,024 places of the silent that others did not ask for, and no more.
    let most = flooding.load(Ordering::Relaxed);
    assert!((1000..=1030).contains(&most) && !flood.is_finished(), "{most}");
    flood.abort();
    drop(streams);
}

/// P-4, P-7, P-8, P-9.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn joins_that_are_replayed_or_forged_are_refused() {
    let site = Site::new(Options { most_streams: 3, ..Options::default() }).await;
    let session = [1; 16];
    let (first, secret) = Peer::start(site.at, &site.hostile, session).await.expect("a session");
    let connect = async |key: &Key| Peer::connect(site.at, key).await.expect("TLS");
    let mut second = connect(&site.hostile).await;
    let proof = second.proof(&secret, 2);
    assert_eq!(second.join(session, 2, &proof).await.kind, HELLO);
    // The same once more, on another connection; for another stream; by another key; with the session's number alone.
    assert_eq!(connect(&site.hostile).await.join(session, 2, &proof).await, refused(2));
    assert_eq!(connect(&site.hostile).await.join(session, 3, &proof).await, refused(2));
    let mut other = connect(&site.other).await;
    let right = other.proof(&secret, 3);
    assert_eq!(other.join(session, 3, &right).await, refused(2));
    let mut thief = connect(&site.other).await;
    thief.say(&[usual_hello(session, 1), frame(START, 0, 0, &[])].concat()).await.expect("open");
    assert_eq!(thief.hear().await.expect("an answer"), refused(2));
    // A number that was used, a session that is not there, and one stream too many.
    let mut again = connect(&site.hostile).await;
    let right = again.proof(&secret, 2);
    assert_eq!(again.join(session, 2, &right).await, refused(3));
    let mut nowhere = connect(&site.hostile).await;
    let right = nowhere.proof(&secret, 2);
    assert_eq!(nowhere.join([8; 16], 2, &right).await, refused(1));
    let mut third = connect(&site.hostile).await;
    let right = third.proof(&secret, 3);
    assert_eq!(third.join(session, 3, &right).await.kind, HELLO);
    let mut fourth = connect(&site.hostile).await;
    let right = fourth.proof(&secret, 4);
    assert_eq!(fourth.join(session, 4, &right).await, refused(4));
    // What is neither START nor JOIN is no beginning.
    let mut neither = connect(&site.hostile).await;
    neither.say(&[usual_hello([7; 16], 1), frame(PING, 0, 0, &[])].concat()).await.expect("open");
    assert!(neither.is_cut_off().await);
    let streams = |status: jet::status::Status| status.sessions.iter().map(|session| session.streams.len()).max();
    assert_eq!(streams(site.far.status()), Some(3));
    drop((first, second, third));
}

/// P-9: streams that are being closed do not count, but a peer that acknowledges nothing of what is on them has at most
/// as many again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_that_a_peer_does_not_let_go_are_bounded() {
    let endless =
        server(async |mut stream: TcpStream| while stream.write_all(&vec![7; 1 << 16]).await.is_ok() {}).await;
    let site = Site::new(Options { most_streams: 2, patience: Duration::from_secs(1), ..Options::default() }).await;
    let session = [1; 16];
    let (mut stream, secret) = Peer::start(site.at, &site.hostile, session).await.expect("a session");
    stream.say(&open(1, endless)).await.expect("open");
    let mut closed = Vec::new();
    let held = || site.far.status().sessions.iter().map(|session| session.streams.len()).max().unwrap_or(0);
    stream.hear_kind(DATA).await.expect("the server sends");
    stream.tls.shutdown().await.expect("open");
    closed.push(stream);
    for number in 2..=9 {
        let mut stream = Peer::connect(site.at, &site.hostile).await.expect("TLS");
        let proof = stream.proof(&secret, number);
        let answer = stream.join(session, number, &proof).await;
        assert!(held() <= 4, "{} streams", held());
        if answer.kind == HELLO {
            // Nothing has arrived, and a megabyte more may come.
            let limit = u64::from(number) << 20;
            stream.say(&frame(ACK, 1, 0, &limit.to_be_bytes())).await.expect("open");
            stream.hear_kind(DATA).await.expect("the server sends");
            stream.tls.shutdown().await.expect("open");
            closed.push(stream);
        } else {
            // Within a second what the first ones had may go elsewhere, and then they go.
            assert_eq!(answer, refused(4));
        }
    }
    assert!(closed.len() >= 4, "{} were taken", closed.len());
    drop(closed);
    site.is_as_before().await;
}

/// P-2: keys that a peer renews are renewed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_may_renew_its_keys() {
    let site = Site::new(Options { patience: Duration::from_secs(1), ..Options::default() }).await;
    let (mut peer, _) = Peer::start(site.at, &site.hostile, [1; 16]).await.expect("a session");
    peer.say(&open(1, site.server)).await.expect("open");
    for turn in 0..10 {
        peer.renew_keys().await.expect("open");
        peer.say(&frame(DATA, 1, 4 * turn, b"echo")).await.expect("open");
        assert_eq!(peer.hear_kind(DATA).await.expect("an echo").body, b"echo");
    }
    drop(peer);
    site.is_as_before().await;
}

/// Who renews keys and says nothing loses the stream, and keeps the session.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_only_renews_keys_loses_the_stream_and_keeps_the_session() {
    let site = Site::new(Options { patience: Duration::from_secs(1), ..Options::default() }).await;
    let session = [1; 16];
    let (mut first, secret) = Peer::start(site.at, &site.hostile, session).await.expect("a session");
    for number in 2..=4 {
        let mut stream = Peer::connect(site.at, &site.hostile).await.expect("TLS");
        let proof = stream.proof(&secret, number);
        assert_eq!(stream.join(session, number, &proof).await.kind, HELLO);
        stream.renew_keys_endlessly().await;
        assert_eq!(first.hear_kind(GONE).await.expect("P-25").offset, u64::from(number));
    }
    // Once, however often.
    let said = site.log.lines().into_iter().filter(|line| line.contains("KeyUpdate")).collect::<Vec<_>>();
    assert!(said.len() == 1 && said[0].contains("a stream from 127.0.0.1"), "{said:?}");
    first.say(&[open(1, site.server), frame(DATA, 1, 0, b"echo")].concat()).await.expect("open");
    assert_eq!(first.hear_kind(DATA).await.expect("an echo").body, b"echo");
    drop(first);
    site.is_as_before().await;
}

/// The same of a far gateway: the near one opens another stream of the same session.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_near_gateway_replaces_a_stream_whose_far_end_only_renews_keys() {
    let (own, far) = (Identity::generate().expect("a key"), Key::new());
    let mut peers = Peers::default();
    far.pinned("far", &mut peers);
    let listener = TcpListener::bind(LOOPBACK).await.expect("loopback");
    let near = near(own, peers, listener.local_addr().expect("bound"));
    // Of those that it keeps the third renews, when it is there.
    let (mut streams, mut session) = (Vec::new(), None);
    for number in 1..=5 {
        let accepted = timeout(Duration::from_secs(10), listener.accept()).await.expect("another stream");
        let mut peer = Peer::accept(accepted.expect("loopback").0, &far).await.expect("TLS");
        let (greeting, asks) = (peer.hear().await.expect("HELLO"), peer.hear().await.expect("START or JOIN"));
        assert_eq!(asks.kind, if number == 1 { START } else { JOIN });
        let id: [u8; 16] = greeting.body[..16].try_into().expect("16 bytes");
        assert_eq!(*session.get_or_insert(id), id);
        peer.say(&usual_hello(id, greeting.offset as u32)).await.expect("open");
        if number == 3 {
            until(|| near.status().sessions.iter().any(|session| session.streams.len() == 3)).await;
            peer.renew_keys_endlessly().await;
        } else {
            streams.push(peer);
        }
    }
    until(|| near.status().sessions.iter().any(|session| session.streams.len() == 4)).await;
}

/// P-13, P-32.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_are_bounded_and_go_where_they_may() {
    let site = Site::new(Options { connections: 10, patience: Duration::from_secs(1), ..Options::default() }).await;
    let mut peer = site.start(1).await;
    peer.say(&open(1, "192.0.2.1:80".parse().expect("an address"))).await.expect("open");
    let reset = peer.hear_kind(RESET).await.expect("refused");
    assert_eq!((reset.connection, reset.body), (1, 13_u32.to_be_bytes().to_vec()));
    drop(peer);
    let mut peer = site.start(2).await;
    let some: Vec<u8> = (1..=12).flat_map(|connection| open(connection, site.server)).collect();
    peer.say(&some).await.expect("open");
    for _ in 0..2 {
        let reset = peer.hear_kind(RESET).await.expect("refused");
        assert!(reset.connection > 10 && reset.body == 105_u32.to_be_bytes(), "{reset:?}");
    }
    let many: Vec<u8> = (13..=40).flat_map(|connection| open(connection, site.server)).collect();
    peer.say(&many).await.expect("open");
    assert!(peer.is_cut_off().await);
    // Nor may numbers be left out without end.
    let mut peer = site.start(3).await;
    let gaps: Vec<u8> = (1..=40).map(|number| 2 * number).flat_map(|number| frame(RESET, number, 0, &[0; 4])).collect();
    peer.say(&gaps).await.expect("open");
    assert!(peer.is_cut_off().await);
    site.is_as_before().await;
}

/// P-22.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_asks_and_does_not_read_is_cut_off() {
    let site = Site::new(Options { patience: Duration::from_secs(1), ..Options::default() }).await;
    let mut peer = site.start(1).await;
    let asks: Vec<u8> = (0..10_000).flat_map(|token| frame(PING, 0, token, &[])).collect();
    let mut asked = 0_u64;
    // Sockets hold some megabytes, the gateway four; then it has had enough.
    while let Ok(Ok(())) = timeout(Duration::from_secs(5), peer.say(&asks)).await {
        asked += asks.len() as u64;
        assert!(asked < 200 << 20, "nobody minds");
    }
    site.is_as_before().await;
}

/// P-21, P-30: a peer that takes as much as it likes and reads none of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_held_for_a_peer_that_does_not_read_is_bounded() {
    let endless =
        server(async |mut stream: TcpStream| while stream.write_all(&vec![7; 1 << 16]).await.is_ok() {}).await;
    let site =
        Site::new(Options { peer_memory: 8 << 20, patience: Duration::from_secs(1), ..Options::default() }).await;
    let mut peer = Peer::connect(site.at, &site.hostile).await.expect("TLS");
    let greedy = hello([1; 16], 1, u64::MAX, 1 << 18, 128);
    // Each connection holds a share of what is free: 60 that may hold 384 KiB leave 1 / (1 + 60 x 384 KiB / 8 MiB) of
    // it, a quarter.
    let opens: Vec<u8> = (1..=60).flat_map(|connection| open(connection, endless)).collect();
    peer.say(&[greedy, frame(START, 0, 0, &[]), frame(ALLOW, 0, u64::MAX, &[]), opens].concat()).await.expect("open");
    let held = || {
        let sessions = site.far.status().sessions;
        sessions.iter().find(|session| session.peer == "hostile").map_or(0, |session| session.held_bytes)
    };
    until(|| held() > 4 << 20).await;
    for _ in 0..20 {
        sleep(Duration::from_millis(50)).await;
        // Programs may each have been told of the same room: 64 KiB for each.
        assert!(held() <= (8 << 20) + 20 * (64 << 10), "{}", held());
    }
    drop(peer);
    site.is_as_before().await;
}

/// P-32: one peer's sessions leave room for another's.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_of_one_peer_are_bounded_together() {
    let site =
        Site::new(Options { peer_memory: 8 << 20, patience: Duration::from_secs(1), ..Options::default() }).await;
    let mut sessions = Vec::new();
    let mut refusal = None;
    for session in 1..=10 {
        match Peer::start(site.at, &site.hostile, [session; 16]).await {
            Ok((peer, _)) => sessions.push(peer),
            Err(error) => refusal = Some(error.to_string()),
        }
    }
    // 16 MiB both ways are four first allowances.
    assert_eq!(sessions.len(), 4);
    assert!(refusal.is_some_and(|refusal| refusal.contains(&format!("{:?}", refused(5)))));
    assert!(Peer::start(site.at, &site.other, [99; 16]).await.is_ok());
    drop(sessions);
    site.is_as_before().await;
}

/// A HELLO that takes nothing, and one that takes everything.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hello_may_say_what_it_likes() {
    let site = Site::new(Options { patience: Duration::from_secs(1), ..Options::default() }).await;
    for (session, (credit, payload, streams)) in
        [(0, 0, 0), (u64::MAX, u32::MAX, u16::MAX), (1, 1, 1)].into_iter().enumerate()
    {
        let mut peer = Peer::connect(site.at, &site.hostile).await.expect("TLS");
        let greeting = hello([session as u8 + 1; 16], 1, credit, payload, streams);
        let says = [greeting, frame(START, 0, 0, &[]), open(1, site.server), frame(DATA, 1, 0, b"echo")].concat();
        peer.say(&says).await.expect("open");
        assert_eq!(peer.hear().await.expect("an answer").kind, HELLO);
        // Longer than an epoch of the controller.
        sleep(Duration::from_millis(700)).await;
        assert!(site.far.status().sessions.iter().any(|session| session.peer == "hostile"));
    }
    site.is_as_before().await;
}

/// P-1, P-12: a far gateway with the right key that says what no far gateway says.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_near_gateway_outlives_a_far_one_that_is_mad() {
    let (own, far) = (Identity::generate().expect("a key"), Key::new());
    let mut peers = Peers::default();
    far.pinned("far", &mut peers);
    let listener = TcpListener::bind(LOOPBACK).await.expect("loopback");
    let near = near(own, peers, listener.local_addr().expect("bound"));
    let mut met = 0;
    let mut says = wrong_frames().into_iter().map(|(_, bytes)| bytes).step_by(6).collect::<Vec<_>>();
    says.push(frame(DATA, 7, 0, b"of a connection that was never opened"));
    says.push(open(1, LOOPBACK.parse().expect("an address")));
    for bytes in says {
        let peer = timeout(Duration::from_secs(10), async {
            loop {
                let (stream, _) = listener.accept().await.expect("loopback");
                // It gives up streams of a session that is over while they are opened.
                let Ok(mut peer) = Peer::accept(stream, &far).await else { continue };
                let (Ok(greeting), Ok(asks)) = (peer.hear().await, peer.hear().await) else { continue };
                assert!(greeting.kind == HELLO && matches!(asks.kind, START | JOIN));
                let session = greeting.body[..16].try_into().expect("16 bytes");
                if peer.say(&[usual_hello(session, greeting.offset as u32), bytes.clone()].concat()).await.is_ok() {
                    return peer;
                }
            }
        });
        let mut peer = peer.await.expect("it comes back");
        assert!(peer.is_cut_off().await);
        met += 1;
    }
    assert!(met > 5);
    // It waits for a better one, and tells its programs meanwhile.
    drop(listener);
    let door = support::door(&near, jet::Destination::Address("127.0.0.1:9".parse().expect("an address")), || {
        Answer::Established
    })
    .await;
    let mut program = TcpStream::connect(door).await.expect("the door is open");
    assert!(timeout(Duration::from_secs(15), program.read(&mut [0; 1])).await.expect("within 10 s").is_err());
}

/// P-9: of both ends' limits the lower.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_near_gateway_opens_no_more_streams_than_the_far_one_takes() {
    let (own, far) = (Identity::generate().expect("a key"), Key::new());
    let mut peers = Peers::default();
    far.pinned("far", &mut peers);
    let listener = TcpListener::bind(LOOPBACK).await.expect("loopback");
    // Left to itself it keeps four.
    let near = near(own, peers, listener.local_addr().expect("bound"));
    let mut streams = Vec::new();
    while let Ok(accepted) = timeout(Duration::from_secs(2), listener.accept()).await {
        let mut peer = Peer::accept(accepted.expect("loopback").0, &far).await.expect("TLS");
        let greeting = peer.hear().await.expect("HELLO");
        let session = greeting.body[..16].try_into().expect("16 bytes");
        peer.say(&hello(session, greeting.offset as u32, 1 << 20, 1 << 18, 2)).await.expect("open");
        streams.push(peer);
    }
    assert_eq!(streams.len(), 2);
    assert_eq!(near.status().sessions[0].streams.len(), 2);
}

/// A stream whose key is not pinned is at its end before it says anything (P-1).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_is_not_pinned_is_worth_nothing() {
    let site = Site::new(Options::default()).await;
    let stranger = Key::new();
    // With TLS 1.3 a client hears of its refusal after its own part is over.
    if let Ok(mut peer) = Peer::connect(site.at, &stranger).await {
        let _ = peer.say(&[usual_hello([1; 16], 1), frame(START, 0, 0, &[])].concat()).await;
        assert!(peer.hear().await.is_err());
    }
    site.is_as_before().await;
}

/// P-1: the right key, and another protocol or none.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_does_not_name_the_protocol_is_not_served() {
    let site = Site::new(Options::default()).await;
    for protocols in [&[][..], &[&b"http/1.1"[..]]] {
        let Ok(mut peer) = Peer::connect_speaking(site.at, &site.hostile, protocols).await else { continue };
        let _ = peer.say(&[usual_hello([1; 16], 1), frame(START, 0, 0, &[])].concat()).await;
        assert!(peer.hear().await.is_err(), "{protocols:?}");
    }
    assert!(site.log.lines().iter().any(|line| line.contains("ALPN")), "{:?}", site.log.lines());
    assert!(site.far.status().refusals["handshake"] >= 1);
    site.is_as_before().await;
    // The same the other way round.
    let (own, far) = (Identity::generate().expect("a key"), Key::new());
    let mut peers = Peers::default();
    far.pinned("far", &mut peers);
    let listener = TcpListener::bind(LOOPBACK).await.expect("loopback");
    let near = near(own, peers, listener.local_addr().expect("bound"));
    let (stream, _) = listener.accept().await.expect("a stream");
    if let Ok(mut peer) = Peer::accept_speaking(stream, &far, &[]).await {
        assert!(peer.hear().await.is_err(), "it says nothing to such a one");
    }
    assert!(!near.ready(Duration::ZERO).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_are_told_of_the_loss_of_a_session_by_a_reset() {
    let (told, mut heard) = tokio::sync::mpsc::channel(4);
    let server = server(move |mut stream: TcpStream| {
        let told = told.clone();
        async move {
            let _ = told.send(stream.read_to_end(&mut Vec::new()).await).await;
        }
    })
    .await;
    let short = Options { patience: Duration::from_secs(1), ..Options::default() };
    let rig = Rig::with(server, [short.clone(), short], || Answer::Established).await;
    let mut program = rig.program().await;
    program.write_all(b"half of it").await.expect("open");
    until(|| rig.far.status().sessions.iter().any(|session| session.connections == 1)).await;
    rig.relay.refuses.store(true, Ordering::SeqCst);
    rig.relay.kill(100);
    let end = timeout(Duration::from_secs(10), heard.recv()).await.expect("it is told").expect("a connection");
    assert_eq!(end.expect_err("not an end").kind(), std::io::ErrorKind::ConnectionReset);
}
