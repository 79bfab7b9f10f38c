//! Measures one connection through two gateways over an emulated path: goodput of every round trip as a share of what
//! the path carries, bytes held by the gateways (by the far one until acknowledged, by the near one until in order and
//! taken), and each decision on the number of streams. The program's sockets have 64 KB.
//!
//!     cargo build --release -p trunkline && cargo build --release -p jet --example path
//!     target/release/trunkline testbed link run --rate 155Mbit/s --delay 50ms --loss 0.1% -- \
//!       target/release/examples/path rate=155 rtt=100 seconds=20 control=cubic
//!
//! Further settings: streams=N; policy=polite|fill|greedy; others=N, competing connections that begin 5 s earlier;
//! plain=1, one TCP connection in place of the gateways, to measure what the others keep beside it.

use jet::Destination;
use jet::allow::Allowed;
use jet::door::{Accepted, Answer};
use jet::far::{Far, FarOptions, listen};
use jet::keys::{Identity, Peers};
use jet::limits::Limits;
use jet::log::Log;
use jet::near::{Near, NearOptions};
use jet::options::{Options, Streams};
use jet::status::Status;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use socket2::SockRef;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;
use stripe::optimizer::Policy;
use tokio::time::Instant;

/// The sockets of the program and of its server.
const BUFFER: usize = 64 << 10;
/// Others begin so much earlier.
const AHEAD: Duration = Duration::from_secs(5);
/// The server of the program, that of others, and the far gateway.
const PORTS: [u16; 3] = [9000, 9001, 7608];

struct Settings(BTreeMap<String, String>);

/// Those that it cannot do without, and the others.
const NEEDED: [&str; 3] = ["rate", "rtt", "seconds"];
const FURTHER: [&str; 5] = ["control", "streams", "policy", "others", "plain"];

impl Settings {
    fn new(arguments: impl Iterator<Item = String>) -> Self {
        let pairs = arguments.map(|argument| {
            let (key, value) = argument.split_once('=').unwrap_or_else(|| panic!("{argument} is not KEY=VALUE"));
            assert!([&NEEDED[..], &FURTHER].concat().contains(&key), "{key} is none of {NEEDED:?} and {FURTHER:?}");
            (key.to_owned(), value.to_owned())
        });
        let settings = Self(pairs.collect());
        for key in NEEDED {
            assert!(settings.number(key) > 0.0, "{key}=... is missing: Mbit/s, milliseconds, seconds");
        }
        settings
    }
    fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }
    fn number(&self, key: &str) -> f64 {
        self.text(key).map_or(0.0, |value| value.parse().unwrap_or_else(|_| panic!("{key}={value} is no number")))
    }
    fn options(&self) -> Options {
        let policy = match self.text("policy") {
            None | Some("fill") => Policy::Fill,
            Some("polite") => Policy::Polite,
            Some("greedy") => Policy::Greedy,
            Some(other) => panic!("policy={other} is none of polite, fill and greedy"),
        };
        let streams = if self.text("streams").is_some() {
            Streams::Fixed(self.number("streams") as u32)
        } else {
            Streams::Tuned(policy)
        };
        Options { streams, congestion: self.text("control").map(str::to_owned), ..Options::default() }
    }
}

fn main() {
    let settings = Settings::new(std::env::args().skip(1));
    let told = |name| {
        std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set: run it by `trunkline testbed link run`"))
    };
    let far: IpAddr = told("TRUNKLINE_FAR").parse().expect("an address");
    let (control, options) = (settings.text("control").map(str::to_owned), settings.options());
    let namespace = File::open(told("TRUNKLINE_FAR_NAMESPACE")).expect("a namespace");
    let (up, is_up) = mpsc::channel();
    let keys: [Identity; 2] = std::array::from_fn(|_| Identity::generate().expect("randomness"));
    let pins = [pin(&keys[1]), pin(&keys[0])];
    let [near_key, far_key] = keys;
    let [near_pins, far_pins] = pins;
    let far_options = options.clone();
    let (status, asked) = mpsc::channel();
    thread::spawn(move || {
        move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network)).expect("root");
        serve(far, PORTS[0], Some(BUFFER), control.clone());
        serve(far, PORTS[1], None, control);
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("threads");
        let gateway = runtime.block_on(async {
            let listener = listen(SocketAddr::new(far, PORTS[2]), &far_options).expect("an address");
            let allowed = Allowed::new(vec!["0.0.0.0/0:*".parse().expect("a rule")]);
            let told = FarOptions {
                identity: far_key,
                peers: far_pins,
                allowed,
                limits: Limits::default(),
                options: far_options,
            };
            Far::start(told, vec![listener], Log::default()).expect("it starts")
        });
        up.send(()).expect("awaited");
        while let Ok(answer) = asked.recv() {
            let answer: mpsc::Sender<_> = answer;
            let _ = answer.send(gateway.status());
        }
    });
    is_up.recv().expect("the far side");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("threads");
    let to = SocketAddr::new(far, PORTS[0]);
    let (near, door) = runtime.block_on(gateway(near_key, near_pins, SocketAddr::new(far, PORTS[2]), options, to));
    let bytes = Arc::new(AtomicU64::new(0));
    for _ in 0..settings.number("others") as u32 {
        let (bytes, to) = (Arc::clone(&bytes), SocketAddr::new(far, PORTS[1]));
        thread::spawn(move || {
            download(to, None, |count| {
                bytes.fetch_add(count, Ordering::Relaxed);
            });
        });
    }
    if settings.number("others") > 0.0 {
        thread::sleep(AHEAD);
    }
    let target = if settings.text("plain").is_some() { to } else { door };
    let ask = move || {
        let (answer, answered) = mpsc::channel();
        status.send(answer).ok()?;
        Some([near.status(), answered.recv().ok()?])
    };
    measure(&settings, target, &bytes, ask);
}

fn pin(identity: &Identity) -> Peers {
    let mut peers = Peers::default();
    peers.pin(identity.fingerprint(), "peer").expect("a name");
    peers
}

/// Sends without end to whoever connects.
fn serve(at: IpAddr, port: u16, buffer: Option<usize>, control: Option<String>) {
    let listener = TcpListener::bind((at, port)).expect("a port");
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let socket = SockRef::from(&stream);
            if let Some(buffer) = buffer {
                socket.set_send_buffer_size(buffer).expect("set");
            }
            if let Some(control) = &control {
                socket.set_tcp_congestion(control.as_bytes()).expect("a control that the kernel has");
            }
            thread::spawn(move || {
                let block = vec![0; 256 << 10];
                while stream.write_all(&block).is_ok() {}
            });
        }
    });
}

/// A near gateway, and a port that stands for a server behind the far one.
async fn gateway(
    key: Identity,
    peers: Peers,
    to: SocketAddr,
    options: Options,
    server: SocketAddr,
) -> (Near, SocketAddr) {
    let told =
        NearOptions { identity: key, peers, to: vec![to.to_string()], via: Vec::new(), direct: Vec::new(), options };
    let near = Near::start(told, Log::default()).expect("it starts");
    assert!(near.ready(Duration::from_secs(20)).await, "no session");
    tokio::time::sleep(Duration::from_secs(4)).await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("loopback");
    let (address, doors) = (listener.local_addr().expect("bound"), near.doors());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let accepted = Accepted { stream, to: Destination::Address(server), answer: Answer::Established };
            doors.send(accepted).await.expect("the gateway is there");
        }
    });
    (near, address)
}

fn download(from: SocketAddr, buffer: Option<usize>, mut got: impl FnMut(u64)) {
    let domain = socket2::Domain::for_address(from);
    let socket = socket2::Socket::new(domain, socket2::Type::STREAM, None).expect("a socket");
    if let Some(buffer) = buffer {
        socket.set_recv_buffer_size(buffer).expect("set");
    }
    socket.connect(&from.into()).expect("connected");
    let (mut stream, mut block) = (TcpStream::from(socket), vec![0; 256 << 10]);
    while let Ok(count) = stream.read(&mut block) {
        if count == 0 {
            return;
        }
        got(count as u64);
    }
}

fn measure(settings: &Settings, from: SocketAddr, others: &AtomicU64, ask: impl Fn() -> Option<[Status; 2]>) {
    let (rtt, seconds) = (settings.number("rtt") / 1e3, settings.number("seconds"));
    let capacity = settings.number("rate") * 1e6 * 1448.0 / 1514.0;
    let bytes = Arc::new(AtomicU64::new(0));
    let plain = settings.text("plain").is_some();
    let counted = Arc::clone(&bytes);
    thread::spawn(move || {
        download(from, (!plain).then_some(BUFFER), |count| {
            counted.fetch_add(count, Ordering::Relaxed);
        });
    });
    let (began, mut rounds, mut said) = (Instant::now(), vec![0_u64], String::new());
    let (mut held, mut beside, mut next) = ([0; 2], Vec::new(), 0.0);
    while began.elapsed().as_secs_f64() < seconds {
        thread::sleep(Duration::from_secs_f64(rtt.max(0.02)));
        rounds.push(bytes.load(Ordering::Relaxed));
        beside.push((began.elapsed(), others.load(Ordering::Relaxed)));
        let Some([near, far]) = ask() else { continue };
        let (Some(here), Some(session)) = (near.sessions.first(), far.sessions.first()) else { continue };
        held = [held[0].max(session.held_bytes), held[1].max(here.unread_bytes)];
        let decision = format!("{} streams, {} used: {}", session.target, session.used, session.reason);
        let at = began.elapsed().as_secs_f64();
        if !plain && (decision != said || at >= next) {
            let why = if decision == said { String::new() } else { format!("; {}", session.why) };
            let lost = 100.0 * session.segments_lost as f64 / session.segments_sent.max(1) as f64;
            println!("{at:7.2} s  {decision} ({} open, {lost:.2} % sent again){why}", session.streams.len());
            (said, next) = (decision, at + 5.0);
        }
    }
    let took = began.elapsed().as_secs_f64();
    let round = took / (rounds.len() - 1) as f64;
    let parts: Vec<String> = rounds
        .windows(2)
        .map(|pair| (pair[1] - pair[0]) as f64 * 8.0 / round / capacity * 100.0)
        .map(|part| format!("{part:.0}"))
        .collect();
    println!("% of the path, by {:.0} ms: {}", round * 1e3, parts.join(" "));
    let since = |from: usize| {
        let from = from.min(rounds.len() - 2);
        (rounds[rounds.len() - 1] - rounds[from]) as f64 * 8.0 / (round * (rounds.len() - 1 - from) as f64) / capacity
            * 100.0
    };
    let twelve = (12.0 * rtt / round).round() as usize;
    println!(
        "{:.1} % of {:.1} Mbit/s in all, {:.1} % after 12 round trips, {:.1} % in the second half; held at most {:.1} MB by the far gateway, {:.1} by the near one",
        since(0),
        capacity / 1e6,
        since(twelve),
        since(rounds.len() / 2),
        held[0] as f64 / 1e6,
        held[1] as f64 / 1e6
    );
    let (first, last) = (beside[beside.len() / 3], beside[beside.len() - 1]);
    if last.1 > 0 {
        println!(
            "others: {:.1} Mbit/s in the last two thirds",
            (last.1 - first.1) as f64 * 8e-6 / last.0.saturating_sub(first.0).as_secs_f64()
        );
    }
}
