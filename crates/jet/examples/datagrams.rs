//! Datagrams over an emulated path, directly or through two gateways: how many arrive, and how late.
//!
//!     cargo build --release -p trunkline && cargo build --release -p jet --example datagrams
//!     target/release/trunkline testbed link run --rate 100Mbit/s --delay 20ms --loss 1% -- \
//!       target/release/examples/datagrams plain
//!
//! In place of `plain` stands the congestion control of the gateways' streams, such as `bbr` or `cubic`.

use jet::allow::Allowed;
use jet::door::{ForwardUdp, Front};
use jet::far::{Far, FarOptions, listen};
use jet::handover::Inherited;
use jet::keys::{Identity, Peers};
use jet::limits::Limits;
use jet::log::Log;
use jet::near::{Near, NearOptions};
use jet::options::{Options, Udp};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::File;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::sync::mpsc;
use std::thread::{self, sleep};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::time::Instant;

/// What is sent.
const LENGTH: usize = 1200;
const BPS: u64 = 10_000_000;
const LASTS: Duration = Duration::from_secs(20);
/// What has not come by then will not come.
const SETTLES: Duration = Duration::from_secs(2);
/// The server and the far gateway.
const PORTS: [u16; 2] = [9000, 7608];

fn main() {
    let control = match std::env::args().skip(1).collect::<Vec<_>>().as_slice() {
        [one] => Some(one.clone()).filter(|one| one != "plain"),
        _ => panic!("one argument: plain, or a congestion control"),
    };
    let told = |name| {
        std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set: run it by `trunkline testbed link run`"))
    };
    let far: IpAddr = told("TRUNKLINE_FAR").parse().expect("an address");
    let namespace = File::open(told("TRUNKLINE_FAR_NAMESPACE")).expect("a namespace");
    let [server, gateway] = PORTS.map(|port| SocketAddr::new(far, port));
    let options = Options { congestion: control.clone(), udp: Some(Udp::default()), ..Options::default() };
    let [near_key, far_key] = std::array::from_fn(|_| Identity::generate().expect("randomness"));
    let pins = [pin(&far_key), pin(&near_key)];
    let [near_pins, far_pins] = pins;
    let began = Instant::now();
    let (up, is_up) = mpsc::channel();
    let far_options = options.clone();
    let receiving = thread::spawn(move || {
        move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network)).expect("root");
        let socket = UdpSocket::bind(server).expect("an address");
        let runtime = runtime();
        let _gateway = runtime.block_on(async {
            let listener = listen(gateway, &far_options).expect("an address");
            let allowed = Allowed::new(vec![server.to_string().parse().expect("a rule")]);
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
        receive(&socket, began)
    });
    is_up.recv().expect("the far side");
    let runtime = runtime();
    let (near, door) = runtime.block_on(async {
        let to = vec![gateway.to_string()];
        let told =
            NearOptions { identity: near_key, peers: near_pins, to, via: Vec::new(), direct: Vec::new(), options };
        let near = Near::start(told, Log::default()).expect("it starts");
        assert!(near.ready(Duration::from_secs(20)).await, "no session");
        let forward = format!("0={server}").parse().expect("a forward");
        let forward = ForwardUdp { forward, flows: near.flows().expect("datagrams are carried") };
        let door = Front::ForwardUdp(forward).open(near.doors(), &Log::default(), &Inherited::default()).await;
        (near, door.expect("loopback"))
    });
    sleep(Duration::from_secs(2));
    let sent = send(if control.is_some() { door.addresses[0] } else { server }, began);
    let mut delays = receiving.join().expect("no panic");
    delays.sort_unstable();
    let at = |part: f64| delays[(delays.len() as f64 * part) as usize].as_secs_f64() * 1e3;
    let arrived = 100.0 * delays.len() as f64 / sent as f64;
    println!(
        "{} of {sent} arrived ({arrived:.2} %), after {:.1} ms (median), {:.1} ms (99 %)",
        delays.len(),
        at(0.5),
        at(0.99)
    );
    if let Some(session) = near.status().sessions.first().filter(|_| control.is_some()) {
        println!(
            "{} streams; {} dropped late, {} for lack of room",
            session.streams.len(),
            session.datagrams_late,
            session.datagrams_full
        );
    }
}

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("threads")
}

fn pin(identity: &Identity) -> Peers {
    let mut peers = Peers::default();
    peers.pin(identity.fingerprint(), "peer").expect("a name");
    peers
}

/// Sends at the rate, each datagram with the time since `began`; says how many.
fn send(to: SocketAddr, began: Instant) -> u32 {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).expect("a socket");
    let gap = Duration::from_nanos(LENGTH as u64 * 8 * 1_000_000_000 / BPS);
    let (first, mut datagram) = (Instant::now(), vec![0; LENGTH]);
    let count = (LASTS.as_nanos() / gap.as_nanos()) as u32;
    for number in 0..count {
        sleep((first + gap * number).saturating_duration_since(Instant::now()));
        datagram[..8].copy_from_slice(&(began.elapsed().as_nanos() as u64).to_be_bytes());
        // A full socket loses it, as for any program.
        let _ = socket.send_to(&datagram, to);
    }
    count
}

/// How long each was on its way, until nothing comes any more.
fn receive(socket: &UdpSocket, began: Instant) -> Vec<Duration> {
    let (mut delays, mut datagram) = (Vec::new(), [0; LENGTH]);
    loop {
        socket.set_read_timeout(Some(if delays.is_empty() { LASTS } else { SETTLES })).expect("a time");
        if socket.recv(&mut datagram).is_err() {
            return delays;
        }
        let sent = u64::from_be_bytes(std::array::from_fn(|at| datagram[at]));
        delays.push(began.elapsed().saturating_sub(Duration::from_nanos(sent)));
    }
}
