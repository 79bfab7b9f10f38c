//! What two gateways on loopback cost beside direct TCP, measured in turn in one run: goodput, and how long a question of 1 byte or 16 KiB and its answer take.
//!
//!     cargo run --release -p jet --example loopback

use jet::Destination;
use jet::allow::Allowed;
use jet::door::{Accepted, Answer};
use jet::far::{Far, FarOptions, listen};
use jet::keys::{Identity, Peers};
use jet::log::Log;
use jet::near::{Near, NearOptions};
use jet::options::Options;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;

const VOLUME: u64 = 1 << 30;
const QUESTIONS: usize = 3000;
const ROUNDS: usize = 3;

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let server = serve().await?;
    let (near, _far) = gateways().await;
    let door = door(&near, server).await?;
    println!("{:<8} {:>14} {:>12} {:>12} {:>12} {:>12}", "", "goodput", "1 B p50", "p99", "16 KiB p50", "p99");
    for _ in 0..ROUNDS {
        for (name, address) in [("direct", server), ("jet", door)] {
            let rate = goodput(address).await?;
            let (small, large) = (echo(address, 1).await?, echo(address, 16 << 10).await?);
            let us = |time: Duration| format!("{:.0} us", time.as_secs_f64() * 1e6);
            println!(
                "{name:<8} {:>14} {:>12} {:>12} {:>12} {:>12}",
                format!("{:.2} Gbit/s", rate / 1e9),
                us(small.0),
                us(small.1),
                us(large.0),
                us(large.1)
            );
        }
    }
    Ok(())
}

/// Answers 0, 8 bytes of length: so many bytes. Answers 1, 8 bytes of length: every message of that length, by itself.
async fn serve() -> std::io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                stream.set_nodelay(true)?;
                let (kind, length) = (stream.read_u8().await?, stream.read_u64().await?);
                if kind == 0 {
                    let chunk = vec![7; 256 << 10];
                    for _ in 0..length / chunk.len() as u64 {
                        stream.write_all(&chunk).await?;
                    }
                    return stream.shutdown().await;
                }
                let mut message = vec![0; length as usize];
                loop {
                    stream.read_exact(&mut message).await?;
                    stream.write_all(&message).await?;
                }
            });
        }
    });
    Ok(address)
}

async fn gateways() -> (Near, std::sync::Arc<Far>) {
    let keys: [Identity; 2] = std::array::from_fn(|_| Identity::generate().expect("randomness"));
    let pin = |identity: &Identity| {
        let mut peers = Peers::default();
        peers.pin(identity.fingerprint(), "peer").expect("a name");
        peers
    };
    let options = Options::default();
    let listener = listen("127.0.0.1:0".parse().expect("an address"), &options).expect("loopback");
    let to = listener.local_addr().expect("bound").to_string();
    let far = FarOptions {
        identity: keys[1].clone(),
        peers: pin(&keys[0]),
        allowed: Allowed::new(vec!["127.0.0.1:*".parse().expect("a rule")]),
        options: options.clone(),
    };
    let far = Far::start(far, vec![listener], Log::default()).expect("it starts");
    let near = NearOptions { identity: keys[0].clone(), peers: pin(&keys[1]), to: vec![to], via: Vec::new(), options };
    let near = Near::start(near, Log::default()).expect("it starts");
    assert!(near.ready(Duration::from_secs(10)).await, "no session");
    tokio::time::sleep(Duration::from_millis(200)).await;
    (near, far)
}

async fn door(near: &Near, to: SocketAddr) -> std::io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let doors = near.doors();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let accepted = Accepted { stream, to: Destination::Address(to), answer: Answer::Established };
            if doors.send(accepted).await.is_err() {
                return;
            }
        }
    });
    Ok(address)
}

/// Bits per second of one download.
async fn goodput(address: SocketAddr) -> std::io::Result<f64> {
    let mut stream = TcpStream::connect(address).await?;
    let began = Instant::now();
    stream.write_u8(0).await?;
    stream.write_u64(VOLUME).await?;
    let (mut buffer, mut got) = (vec![0; 256 << 10], 0);
    while got < VOLUME {
        let count = stream.read(&mut buffer).await?;
        assert!(count > 0, "{got} bytes of {VOLUME}");
        got += count as u64;
    }
    Ok(VOLUME as f64 * 8.0 / began.elapsed().as_secs_f64())
}

/// Median and 99th percentile of the time from a question to its whole answer.
async fn echo(address: SocketAddr, length: usize) -> std::io::Result<(Duration, Duration)> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    stream.write_u8(1).await?;
    stream.write_u64(length as u64).await?;
    let (mut message, mut times) = (vec![1; length], Vec::new());
    for _ in 0..QUESTIONS {
        let began = Instant::now();
        stream.write_all(&message).await?;
        stream.read_exact(&mut message).await?;
        times.push(began.elapsed());
    }
    times.sort_unstable();
    Ok((times[QUESTIONS / 2], times[QUESTIONS * 99 / 100]))
}
