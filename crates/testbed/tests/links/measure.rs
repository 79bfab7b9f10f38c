//! Measures paths between namespaces, with sockets alone.
#![allow(dead_code, reason = "no user needs all of it")]
#![expect(clippy::disallowed_methods, reason = "real packets take real time")]

use nix::sys::socket::{setsockopt, sockopt};
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, TcpListener, TcpStream, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};
use testbed::link::{Namespace, Pair};
use thread_priority::{
    RealtimeThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy, set_thread_priority_and_policy,
    thread_native_id,
};

const PORT: u16 = 5_001;

/// So that the path is measured, and not for how long this thread waits for a processor. Without the right to it, both
/// are.
fn raise_priority() {
    let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    let priority = ThreadPriority::try_from(10).expect("below 100");
    let _ = set_thread_priority_and_policy(thread_native_id(), priority, policy);
}

/// Round-trip times in milliseconds, sorted: of handshakes, which the far kernel answers without waking anybody, as it
/// does a ping.
pub fn round_trips(pair: &Pair, to: IpAddr, count: usize, gap: Duration) -> Vec<f64> {
    round_trips_between(pair.near(), pair.far(), to, count, gap)
}

/// Round trips of TCP handshakes between any two namespaces, in milliseconds, sorted.
pub fn round_trips_between(near: &Namespace, far: &Namespace, to: IpAddr, count: usize, gap: Duration) -> Vec<f64> {
    let _listener = far.within(|| TcpListener::bind((to, PORT)).expect("a listener")).expect("entered");
    let connect = || {
        raise_priority();
        let mut times = Vec::new();
        for _ in 0..count {
            thread::sleep(gap);
            let sent = Instant::now();
            let connection = TcpStream::connect((to, PORT)).expect("connected");
            times.push(sent.elapsed().as_secs_f64() * 1e3);
            drop(connection);
        }
        times.sort_by(f64::total_cmp);
        times
    };
    near.within(connect).expect("entered")
}

/// Payload of one TCP connection from near to far, in bits per second: what arrives from `warm_up` after its begin, for
/// so long.
pub fn goodput(pair: &Pair, to: IpAddr, warm_up: Duration, length: Duration) -> f64 {
    goodput_between(pair.near(), pair.far(), to, warm_up, length)
}

/// The rate of one connection between any two namespaces after a warm-up, in bit/s.
pub fn goodput_between(near: &Namespace, far: &Namespace, to: IpAddr, warm_up: Duration, length: Duration) -> f64 {
    let listener = far.within(|| TcpListener::bind((to, PORT)).expect("a listener")).expect("entered");
    let connect = move || TcpStream::connect((to, PORT)).expect("connected");
    let mut client = near.within(connect).expect("entered");
    let (mut server, _) = listener.accept().expect("accepted");
    let sender = thread::spawn(move || {
        let block = vec![0_u8; 256 << 10];
        while client.write_all(&block).is_ok() {}
    });
    let receiver = thread::spawn(move || {
        raise_priority();
        let begin = Instant::now();
        receive_until(&mut server, begin + warm_up);
        receive_until(&mut server, begin + warm_up + length)
    });
    let bytes = receiver.join().expect("received");
    sender.join().expect("sent");
    bytes as f64 * 8.0 / length.as_secs_f64()
}

/// Reads until then; returns how many bytes came.
fn receive_until(server: &mut TcpStream, end: Instant) -> usize {
    let (mut buffer, mut bytes) = (vec![0_u8; 1 << 20], 0);
    while let Some(left) = end.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
        server.set_read_timeout(Some(left)).expect("set");
        match server.read(&mut buffer) {
            Ok(length) => bytes += length,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => break,
            Err(error) => panic!("{error}"),
        }
    }
    bytes
}

/// Sends so many datagrams at a steady rate; returns the numbers of those that arrive, in their order.
pub fn datagrams(pair: &Pair, to: IpAddr, count: u32, per_second: f64) -> Vec<u32> {
    let server = pair.far().within(|| UdpSocket::bind((to, PORT)).expect("a socket")).expect("entered");
    let client = pair.near().within(|| UdpSocket::bind("0.0.0.0:0").expect("a socket")).expect("entered");
    server.set_read_timeout(Some(Duration::from_millis(500))).expect("set");
    // The kernel drops what a socket has no room for. As large as this it holds them all, however late its thread
    // wakes.
    setsockopt(&server, sockopt::RcvBuf, &(4 << 20)).expect("set");
    let receiver = thread::spawn(move || {
        raise_priority();
        let (mut buffer, mut arrived) = ([0; 64], Vec::new());
        while server.recv(&mut buffer).is_ok() {
            arrived.push(u32::from_be_bytes([buffer[0], buffer[1], buffer[2], buffer[3]]));
        }
        arrived
    });
    let begin = Instant::now();
    for number in 0..count {
        // A few at a time: threads do not wake twenty thousand times a second.
        if number % 32 == 0 {
            let due = Duration::from_secs_f64(f64::from(number) / per_second);
            thread::sleep(due.saturating_sub(begin.elapsed()));
        }
        client.send_to(&number.to_be_bytes(), (to, PORT)).expect("sent");
    }
    receiver.join().expect("received")
}
