//! Measures paths between namespaces, with sockets alone.
#![allow(dead_code, reason = "no user needs all of it")]
#![expect(clippy::disallowed_methods, reason = "real packets take real time")]

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};
use testbed::link::Pair;

const PORT: u16 = 5_001;

/// Round-trip times of datagrams of 64 bytes, one after the other, sorted; in milliseconds.
pub fn round_trips(pair: &Pair, to: IpAddr, count: usize, gap: Duration) -> Vec<f64> {
    let bind = |address| move || UdpSocket::bind(address).expect("a socket");
    let server = pair.far().within(bind(SocketAddr::new(to, PORT))).expect("entered");
    let any: SocketAddr = if to.is_ipv4() { ([0, 0, 0, 0], 0).into() } else { ([0_u16; 8], 0).into() };
    let client = pair.near().within(bind(any)).expect("entered");
    server.set_read_timeout(Some(Duration::from_secs(3))).expect("set");
    client.set_read_timeout(Some(Duration::from_secs(3))).expect("set");
    let echo = thread::spawn(move || {
        let mut buffer = [0; 64];
        for _ in 0..count {
            let (length, from) = server.recv_from(&mut buffer).expect("a datagram");
            server.send_to(&buffer[..length], from).expect("sent");
        }
    });
    let mut times: Vec<f64> = (0..count)
        .map(|_| {
            thread::sleep(gap);
            let sent = Instant::now();
            client.send_to(&[0; 64], (to, PORT)).expect("sent");
            client.recv(&mut [0; 64]).expect("an echo");
            sent.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    echo.join().expect("echoed");
    times.sort_by(f64::total_cmp);
    times
}

/// Payload of one TCP connection from near to far, in bits per second: what arrives from `settle` after its begin, for so long.
pub fn goodput(pair: &Pair, to: IpAddr, settle: Duration, length: Duration) -> f64 {
    let listener = pair.far().within(|| TcpListener::bind((to, PORT)).expect("a listener")).expect("entered");
    let connect = move || TcpStream::connect((to, PORT)).expect("connected");
    let mut client = pair.near().within(connect).expect("entered");
    let (mut server, _) = listener.accept().expect("accepted");
    let sender = thread::spawn(move || {
        let block = vec![0_u8; 256 << 10];
        while client.write_all(&block).is_ok() {}
    });
    let mut buffer = vec![0_u8; 1 << 20];
    let mut receive_until = |end: Instant| {
        let mut bytes = 0;
        while let Some(left) = end.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
            server.set_read_timeout(Some(left)).expect("set");
            match server.read(&mut buffer) {
                Ok(length) => bytes += length,
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => break,
                Err(error) => panic!("{error}"),
            }
        }
        bytes
    };
    let begin = Instant::now();
    receive_until(begin + settle);
    let bytes = receive_until(begin + settle + length);
    drop(server);
    sender.join().expect("sent");
    bytes as f64 * 8.0 / length.as_secs_f64()
}

/// Sends so many datagrams at a steady rate; returns the numbers of those that arrive, in their order.
pub fn datagrams(pair: &Pair, to: IpAddr, count: u32, per_second: f64) -> Vec<u32> {
    let server = pair.far().within(|| UdpSocket::bind((to, PORT)).expect("a socket")).expect("entered");
    let client = pair.near().within(|| UdpSocket::bind("0.0.0.0:0").expect("a socket")).expect("entered");
    server.set_read_timeout(Some(Duration::from_millis(500))).expect("set");
    let receiver = thread::spawn(move || {
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
