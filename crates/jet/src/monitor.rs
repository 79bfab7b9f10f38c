//! A gateway's status over HTTP on loopback: for Prometheus (`/metrics`) and `trunkline jet status` (`/status`, JSON).

use crate::status::Status;
use std::io;
use std::net::{IpAddr, SocketAddr};
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
    let text = String::from_utf8_lossy(&request);
    let (code, kind, body) = match text.split("\r\n").next().unwrap_or_default().split(' ').collect::<Vec<_>>()[..] {
        _ if !is_for_here(&text) => {
            ("421 Misdirected Request", "text/plain", "ask for localhost or a loopback address\n".to_owned())
        }
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

/// Whether a request names this host, once, as loopback. A web page's script can have its own name lead to a loopback
/// address (DNS rebinding), but the browser says that name here.
fn is_for_here(request: &str) -> bool {
    let fields = request.lines().skip(1).filter_map(|line| line.split_once(':'));
    let mut hosts = fields.filter(|(name, _)| name.eq_ignore_ascii_case("host")).map(|(_, host)| host.trim());
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
    // With a port or without (RFC 9110, section 7.2); a tunnel may have another one.
    let digits = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    let name = match host.rsplit_once(':') {
        Some((name, port)) if digits(port) && !name.ends_with(':') => name,
        _ => host,
    };
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    name.eq_ignore_ascii_case("localhost") || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_names_this_host() {
        let asks = |host: &str| is_for_here(&format!("GET /status HTTP/1.1\r\nHost: {host}\r\nAccept: */*\r\n\r\n"));
        for here in
            ["localhost", "LOCALHOST:7609", "127.0.0.1", "127.0.0.1:7609", "127.8.9.1:80", "[::1]", "[::1]:7609"]
        {
            assert!(asks(here), "{here}");
        }
        for elsewhere in [
            "",
            "evil.example",
            "evil.example:7609",
            "localhost.evil.example",
            "192.0.2.1:7609",
            "[2001:db8::1]",
            "0.0.0.0",
        ] {
            assert!(!asks(elsewhere), "{elsewhere}");
        }
        assert!(!is_for_here("GET /status HTTP/1.0\r\n\r\n"), "it names nobody");
        assert!(!is_for_here("GET /status HTTP/1.1\r\nHost: localhost\r\nhost: evil.example\r\n\r\n"), "two hosts");
    }

    #[tokio::test]
    async fn a_page_of_another_name_learns_nothing() {
        let status = || Status { role: "near".to_owned(), sessions: Vec::new(), free_bytes: 7, ..Status::default() };
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback");
        let at = listener.local_addr().expect("bound");
        tokio::spawn(serve(listener, status));
        for (path, host, code) in
            [("/status", "evil.example", "421"), ("/metrics", "evil.example", "421"), ("/status", "localhost", "200")]
        {
            let mut stream = TcpStream::connect(at).await.expect("it listens");
            let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n");
            stream.write_all(request.as_bytes()).await.expect("open");
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.expect("an answer");
            assert!(answer.starts_with(&format!("HTTP/1.1 {code} ")), "{answer}");
            assert_eq!(answer.contains("free_bytes"), code == "200", "{answer}");
        }
        assert_eq!(ask(at).await.expect("an answer"), status());
    }
}
