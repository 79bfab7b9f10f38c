//! A gateway's status over HTTP on loopback: for Prometheus (`/metrics`) and `trunkline jet status` (`/status`, JSON).

use crate::status::Status;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

/// Limits of a request: its length, and the time in which it comes.
const REQUEST: usize = 4096;
const PATIENCE: Duration = Duration::from_secs(5);
/// Pause after a listener has failed.
const PAUSE: Duration = Duration::from_millis(100);

/// Answers until it is dropped. The listener has to be on loopback, because nobody is authenticated.
pub async fn serve(listener: TcpListener, status: impl Fn() -> Status) -> io::Result<()> {
    let address = listener.local_addr()?;
    if !address.ip().is_loopback() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{address} is not a loopback address")));
    }
    loop {
        match listener.accept().await {
            // Requests are served one after the other; a slow client is cut off.
            Ok((stream, _)) => drop(timeout(PATIENCE, answer(stream, &status)).await),
            Err(_) => sleep(PAUSE).await,
        }
    }
}

async fn answer(mut stream: TcpStream, status: &impl Fn() -> Status) -> io::Result<()> {
    let mut request = Vec::new();
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        if request.len() >= REQUEST || stream.read_buf(&mut request).await? == 0 {
            return Ok(());
        }
    }
    let line = String::from_utf8_lossy(&request);
    let (code, kind, body) = match line.split("\r\n").next().unwrap_or_default().split(' ').collect::<Vec<_>>()[..] {
        ["GET", "/metrics", _] => ("200 OK", "text/plain; version=0.0.4; charset=utf-8", status().metrics()),
        ["GET", "/status", _] => match serde_json::to_string(&status()) {
            Ok(body) => ("200 OK", "application/json", body),
            Err(error) => ("500 Internal Server Error", "text/plain", error.to_string()),
        },
        ["GET", ..] => ("404 Not Found", "text/plain", "there are /metrics and /status\n".to_owned()),
        _ => ("405 Method Not Allowed", "text/plain", "only GET\n".to_owned()),
    };
    let head = format!(
        "HTTP/1.1 {code}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    stream.shutdown().await
}

/// Asks a gateway for its status.
pub async fn ask(at: SocketAddr) -> io::Result<Status> {
    let asked = async {
        let mut stream = TcpStream::connect(at).await?;
        stream.write_all(b"GET /status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        let body = answer.split_once("\r\n\r\n").map(|(_, body)| body);
        let status = body.and_then(|body| serde_json::from_str(body).ok());
        status.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "what answers there is no gateway"))
    };
    timeout(PATIENCE, asked).await.unwrap_or(Err(io::ErrorKind::TimedOut.into()))
}
