//! Who has no key may begin as many handshakes as he likes, from as many addresses: whoever has one gets in.

use super::{Peer, Site, frame, near, usual_hello};
use crate::doors::namespace::inside;
use crate::support;
use jet::keys::{Identity, Peers};
use jet::options::Options;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::{Instant, sleep};

/// Keeps so many connections open, each from an address of its own, whatever becomes of them; each says this.
struct Flood {
    opened: Arc<AtomicUsize>,
    task: tokio::task::JoinHandle<()>,
}

impl Flood {
    fn of(count: usize, at: SocketAddr, says: &'static [u8]) -> Self {
        let opened = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&opened);
        let task = tokio::spawn(async move {
            let mut all: Vec<Option<TcpStream>> = (0..count).map(|_| None).collect();
            loop {
                for (number, held) in all.iter_mut().enumerate() {
                    // Nothing to read yet: the connection is still there.
                    let lost = |stream: &TcpStream| {
                        stream.try_read(&mut [0]).map_err(|error| error.kind()) != Err(ErrorKind::WouldBlock)
                    };
                    if held.as_ref().is_none_or(lost) {
                        // 127.1.0.1 and on.
                        let own = Ipv4Addr::from_bits(0x7f01_0001 + number as u32);
                        let socket = TcpSocket::new_v4().expect("a socket");
                        socket.bind((own, 0).into()).expect("loopback");
                        let Ok(stream) = socket.connect(at).await else { continue };
                        let _ = stream.try_write(says);
                        *held = Some(stream);
                        counted.fetch_add(1, Ordering::Relaxed);
                    }
                }
                sleep(Duration::from_millis(1)).await;
            }
        });
        Self { opened, task }
    }
    fn opened(&self) -> usize {
        self.opened.load(Ordering::Relaxed)
    }
}

/// A gateway with a pinned key gets in, again and again, each time within two seconds.
async fn gets_in(site: &Site) {
    for _ in 0..5 {
        let began = Instant::now();
        let (key, far_key) = &site.keys;
        let own = near(key.clone(), support::pinned(far_key, "far"), site.at);
        assert!(own.ready(Duration::from_secs(2)).await, "locked out");
        println!("in after {:?}", began.elapsed());
    }
}

/// P-3. A TLS record that announces 512 bytes and has none of them: no whole first message.
#[test]
fn ten_thousand_silent_connections_keep_no_peer_out() {
    inside("hostile::flood::ten_thousand_silent_connections_keep_no_peer_out", async || {
        let site = Site::new(Options::default()).await;
        for says in [&b""[..], &[0x16, 3, 1, 2, 0]] {
            let flood = Flood::of(10_000, site.at, says);
            support::until(|| flood.opened() >= 10_000).await;
            gets_in(&site).await;
            println!("{} connections opened", flood.opened());
            assert!(!flood.task.is_finished());
            flood.task.abort();
        }
    });
}

/// Strangers who know how TLS begins, and no peer's hint.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn handshakes_of_strangers_take_no_place_of_a_peer() {
    let _alone = support::processor().await;
    let site = Site::new(Options::default()).await;
    let hello: &'static [u8] = Box::leak(first_message().await.into_boxed_slice());
    let flood = Flood::of(1000, site.at, hello);
    support::until(|| flood.opened() >= 1000).await;
    gets_in(&site).await;
    assert!(!flood.task.is_finished());
    flood.task.abort();
    // A stranger by its hint who has a pinned key is served when the flood is over.
    let mut peer = Peer::connect(site.at, &site.hostile).await.expect("TLS");
    peer.say(&[usual_hello([7; 16], 1), frame(super::START, 0, 0, &[])].concat()).await.expect("open");
    assert_eq!(peer.hear().await.expect("an answer").kind, super::HELLO);
}

/// What a client says first.
async fn first_message() -> Vec<u8> {
    let listener = tokio::net::TcpListener::bind(support::LOOPBACK).await.expect("loopback");
    let key = super::Key::new();
    let at = listener.local_addr().expect("bound");
    let client = tokio::spawn(async move { drop(Peer::connect(at, &key).await) });
    let (mut stream, _) = listener.accept().await.expect("a client");
    let mut message = vec![0; 4096];
    let count = stream.read(&mut message).await.expect("open");
    message.truncate(count);
    client.abort();
    message
}

/// A hint is no key.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_is_not_pinned_has_no_hint_that_helps() {
    let site = Site::new(Options::default()).await;
    let stranger = Identity::generate().expect("a key");
    let mut far = Peers::default();
    far.pin(site.keys.1.fingerprint(), "far").expect("a name");
    let own = near(stranger, far, site.at);
    assert!(!own.ready(Duration::from_secs(1)).await);
}
