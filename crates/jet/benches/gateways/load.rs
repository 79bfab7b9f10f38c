//! A server, and programs that load the way to it.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::time::Instant;

/// Bytes of a download.
pub const VOLUME: u64 = 1 << 30;
/// Questions, after some that warm everything up.
const QUESTIONS: usize = 3000;
const WARM: usize = 200;
const CHUNK: usize = 128 << 10;

/// The server. Byte 0 and a length (8 bytes) ask for that many bytes. Byte 1 and a length ask for an echo of every
/// message of that length.
pub async fn serve(listener: TcpListener) -> io::Result<()> {
    loop {
        let (mut stream, _) = listener.accept().await?;
        tokio::spawn(async move {
            stream.set_nodelay(true)?;
            let (kind, length) = (stream.read_u8().await?, stream.read_u64().await?);
            if kind == 0 {
                let chunk = vec![7; CHUNK];
                for _ in 0..length / CHUNK as u64 {
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
}

fn ask(way: SocketAddr, kind: u8, length: u64) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect(way)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    let mut request = vec![kind];
    request.extend(length.to_be_bytes());
    stream.write_all(&request)?;
    Ok(stream)
}

/// How long a download takes.
pub fn download(way: SocketAddr) -> io::Result<Duration> {
    let began = Instant::now();
    let mut stream = ask(way, 0, VOLUME)?;
    let (mut buffer, mut got) = (vec![0; CHUNK], 0);
    while got < VOLUME {
        match stream.read(&mut buffer)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => got += count as u64,
        }
    }
    Ok(began.elapsed())
}

/// Latency of questions of a size and their answers: median and 99th percentile, in seconds.
pub fn echo(way: SocketAddr, length: usize) -> io::Result<[f64; 2]> {
    let mut stream = ask(way, 1, length as u64)?;
    let (mut message, mut times) = (vec![1; length], Vec::new());
    for _ in 0..WARM + QUESTIONS {
        let began = Instant::now();
        stream.write_all(&message)?;
        stream.read_exact(&mut message)?;
        times.push(began.elapsed().as_secs_f64());
    }
    let mut times = times.split_off(WARM);
    times.sort_by(f64::total_cmp);
    Ok([times[QUESTIONS / 2], times[QUESTIONS * 99 / 100]])
}

/// A connection on which one byte has come back, and that is left alone from then on.
pub fn idle(way: SocketAddr) -> io::Result<TcpStream> {
    let mut stream = ask(way, 1, 1)?;
    stream.write_all(&[1])?;
    stream.read_exact(&mut [0])?;
    Ok(stream)
}

/// A download of which nobody reads a byte.
pub fn unread(way: SocketAddr) -> io::Result<TcpStream> {
    ask(way, 0, VOLUME)
}
