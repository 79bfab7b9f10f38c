//! Two gateways on loopback, a relay between them that can break streams, and servers to go to.

use jet::allow::Allowed;
use jet::door::{Accepted, Answer};
use jet::far::{Far, FarOptions, listen};
use jet::keys::{Identity, Peers};
use jet::limits::Limits;
use jet::log::Log;
use jet::near::{Near, NearOptions};
use jet::options::Options;
use jet::{Destination, Via};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::MutexGuard;
use tokio::task::JoinHandle;

pub const LOOPBACK: &str = "127.0.0.1:0";

/// The processor, one test at a time: for tests that fill it, and for tests that measure how long something takes.
/// Others, which mostly wait, run beside them.
pub async fn processor() -> MutexGuard<'static, ()> {
    static PROCESSOR: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());
    PROCESSOR.lock().await
}

/// Passes bytes between near and far, until it is told to break, or to swallow.
pub struct Relay {
    pub address: SocketAddr,
    links: Arc<Mutex<Vec<Link>>>,
    pub refuses: Arc<AtomicBool>,
    to: Arc<Mutex<SocketAddr>>,
}

struct Link {
    task: JoinHandle<()>,
    swallows: Arc<AtomicBool>,
}

impl Relay {
    pub async fn new(to: SocketAddr) -> Self {
        let listener = TcpListener::bind(LOOPBACK).await.expect("loopback");
        let address = listener.local_addr().expect("bound");
        let (links, refuses) = (Arc::default(), Arc::new(AtomicBool::new(false)));
        let to = Arc::new(Mutex::new(to));
        let target = Arc::clone(&to);
        let (kept, refusing) = (Arc::clone(&links), Arc::clone(&refuses));
        tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                if refusing.load(Ordering::SeqCst) {
                    continue;
                }
                let swallows = Arc::new(AtomicBool::new(false));
                let link: &Mutex<Vec<Link>> = &kept;
                let to = *target.lock().expect("no panic");
                let task = tokio::spawn(relay(near, to, Arc::clone(&swallows)));
                link.lock().expect("no panic").push(Link { task, swallows });
            }
        });
        Self { address, links, refuses, to }
    }
    /// New streams go there from now on.
    pub fn redirect(&self, to: SocketAddr) {
        *self.to.lock().expect("no panic") = to;
    }
    /// Breaks the newest `count` streams: both ends see a reset or an end.
    pub fn kill(&self, count: usize) -> usize {
        let mut links = self.links.lock().expect("no panic");
        links.retain(|link| !link.task.is_finished());
        let keep = links.len().saturating_sub(count);
        let killed = links.split_off(keep);
        for link in &killed {
            link.task.abort();
        }
        killed.len()
    }
    /// From now on the oldest `count` streams pass nothing, and nobody is told.
    pub fn swallow(&self, count: usize) {
        for link in self.links.lock().expect("no panic").iter().take(count) {
            link.swallows.store(true, Ordering::SeqCst);
        }
    }
    pub fn count(&self) -> usize {
        let mut links = self.links.lock().expect("no panic");
        links.retain(|link| !link.task.is_finished());
        links.len()
    }
}

async fn relay(near: TcpStream, to: SocketAddr, swallows: Arc<AtomicBool>) {
    let Ok(far) = TcpStream::connect(to).await else { return };
    let _ = (near.set_nodelay(true), far.set_nodelay(true));
    let (near_read, near_write) = near.into_split();
    let (far_read, far_write) = far.into_split();
    let pass = |mut from: tokio::net::tcp::OwnedReadHalf, mut to: tokio::net::tcp::OwnedWriteHalf| {
        let swallows = Arc::clone(&swallows);
        async move {
            let mut buffer = vec![0; 64 << 10];
            loop {
                match from.read(&mut buffer).await {
                    Ok(0) | Err(_) => break,
                    Ok(_) if swallows.load(Ordering::SeqCst) => {}
                    Ok(count) => {
                        if to.write_all(&buffer[..count]).await.is_err() {
                            break;
                        }
                    }
                }
            }
            let _ = to.shutdown().await;
        }
    };
    tokio::join!(pass(near_read, far_write), pass(far_read, near_write));
}

pub struct Rig {
    pub near: Near,
    pub far: Arc<Far>,
    pub relay: Relay,
    /// Programs connect here and are taken to `server`.
    pub door: SocketAddr,
    pub near_key: Identity,
    pub far_key: Identity,
    /// What the near and the far gateway write.
    pub logs: [Log; 2],
}

pub fn pinned(identity: &Identity, name: &str) -> Peers {
    let mut peers = Peers::default();
    peers.pin(identity.fingerprint(), name).expect("a name");
    peers
}
pub fn allowed(rules: &[&str]) -> Allowed {
    Allowed::new(rules.iter().map(|rule| rule.parse().expect("a rule")).collect())
}

impl Rig {
    pub async fn new(server: SocketAddr) -> Self {
        Self::with(server, [Options::default(), Options::default()], || Answer::Established).await
    }
    pub async fn with(server: SocketAddr, options: [Options; 2], answer: fn() -> Answer) -> Self {
        Self::over(server, options, answer, Vec::new()).await
    }
    /// A rig whose far gateway has these rules.
    pub async fn allowing(server: SocketAddr, rules: &[&str]) -> Self {
        let options = [Options::default(), Options::default()];
        let listener = std::net::TcpListener::bind(LOOPBACK).expect("loopback");
        Self::build(server, options, || Answer::Established, Vec::new(), rules, listener).await
    }
    pub async fn over(server: SocketAddr, options: [Options; 2], answer: fn() -> Answer, via: Vec<Via>) -> Self {
        let rules = ["127.0.0.1:*", "[::1]:*", "localhost:*"];
        let listener = listen(LOOPBACK.parse().expect("an address"), &options[1]).expect("loopback");
        Self::build(server, options, answer, via, &rules, listener.into_std().expect("a listener")).await
    }
    /// A rig whose far gateway listens here, with no relay before it.
    pub async fn listening(server: SocketAddr, listener: std::net::TcpListener) -> Self {
        let options = [Options::default(), Options::default()];
        Self::build(server, options, || Answer::Established, Vec::new(), &["127.0.0.1:*"], listener).await
    }
    async fn build(
        server: SocketAddr,
        [near_options, far_options]: [Options; 2],
        answer: fn() -> Answer,
        via: Vec<Via>,
        rules: &[&str],
        listener: std::net::TcpListener,
    ) -> Self {
        let (near_key, far_key) = (Identity::generate().expect("a key"), Identity::generate().expect("a key"));
        listener.set_nonblocking(true).expect("a listener");
        let listener = TcpListener::from_std(listener).expect("a listener");
        let address = listener.local_addr().expect("bound");
        let told = FarOptions {
            identity: far_key.clone(),
            peers: pinned(&near_key, "near"),
            allowed: allowed(rules),
            limits: Limits::default(),
            options: far_options,
        };
        let logs = [Log::default(), Log::default()];
        let far = Far::start(told, vec![listener], logs[1].clone()).expect("it starts");
        let relay = Relay::new(address).await;
        let told = NearOptions {
            identity: near_key.clone(),
            peers: pinned(&far_key, "far"),
            to: vec![if address.ip().is_loopback() { relay.address } else { address }.to_string()],
            via,
            direct: Vec::new(),
            options: near_options,
        };
        let near = Near::start(told, logs[0].clone()).expect("it starts");
        let door = door(&near, Destination::Address(server), answer).await;
        assert!(near.ready(Duration::from_secs(10)).await, "no session");
        Self { near, far, relay, door, near_key, far_key, logs }
    }
    pub async fn program(&self) -> TcpStream {
        let stream = TcpStream::connect(self.door).await.expect("the door is open");
        // It may have been reset already.
        let _ = stream.set_nodelay(true);
        stream
    }
    /// Until there are so many streams.
    pub async fn streams(&self, count: usize) {
        until(|| self.near.status().sessions.first().is_some_and(|session| session.streams.len() == count)).await;
    }
    pub async fn idle(&self) {
        let idle = |status: jet::status::Status| status.sessions.iter().all(|session| session.connections == 0);
        until(|| idle(self.near.status()) && idle(self.far.status())).await;
    }
}

/// Takes every connection to one destination.
pub async fn door(near: &Near, to: Destination, answer: fn() -> Answer) -> SocketAddr {
    let listener = TcpListener::bind(LOOPBACK).await.expect("loopback");
    let address = listener.local_addr().expect("bound");
    let doors = near.doors();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            if doors.send(Accepted { stream, to: to.clone(), answer: answer() }).await.is_err() {
                return;
            }
        }
    });
    address
}

pub async fn until(done: impl Fn() -> bool) {
    for _ in 0..3000 {
        if done() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it does not come about within 30 s");
}

/// The byte at a position: a pattern that repeats nowhere near.
pub fn byte(position: u64) -> u8 {
    (position.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8
}
pub fn bytes(from: u64, count: usize) -> Vec<u8> {
    (from..from + count as u64).map(byte).collect()
}

/// Writes so many bytes of the pattern.
pub async fn write_pattern(stream: &mut (impl AsyncWriteExt + Unpin), length: u64) -> std::io::Result<()> {
    let mut at = 0;
    while at < length {
        let count = (length - at).min(256 << 10) as usize;
        stream.write_all(&bytes(at, count)).await?;
        at += count as u64;
        // While the socket takes all, tokio would let 32 MB be written before the task reads, which can take seconds.
        tokio::task::yield_now().await;
    }
    stream.flush().await
}
/// Reads to the end; each byte has to be the pattern's. Says how many.
pub async fn read_pattern(stream: &mut (impl AsyncReadExt + Unpin)) -> std::io::Result<u64> {
    let (mut at, mut buffer) = (0, vec![0; 256 << 10]);
    loop {
        let count = stream.read(&mut buffer).await?;
        if count == 0 {
            return Ok(at);
        }
        let wrong = buffer[..count].iter().enumerate().position(|(place, got)| *got != byte(at + place as u64));
        assert_eq!(wrong.map(|place| at + place as u64), None, "the first wrong byte");
        at += count as u64;
    }
}

/// A server that runs a task for each connection.
pub async fn server<F, T>(serve: F) -> SocketAddr
where
    F: Fn(TcpStream) -> T + Send + 'static,
    T: Future<Output = ()> + Send + 'static,
{
    server_at(LOOPBACK, serve).await
}
/// A server at an address of this host.
pub async fn server_at<F, T>(address: &str, serve: F) -> SocketAddr
where
    F: Fn(TcpStream) -> T + Send + 'static,
    T: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind(address).await.expect("an address of this host");
    let address = listener.local_addr().expect("bound");
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _ = stream.set_nodelay(true);
            tokio::spawn(serve(stream));
        }
    });
    address
}

/// Sends back what comes, to the end.
pub async fn echo(mut stream: TcpStream) {
    let (mut read, mut write) = stream.split();
    let _ = tokio::io::copy(&mut read, &mut write).await;
    let _ = write.shutdown().await;
}
