//! Requests to the daemons' web servers, from a host of the cluster.

use crate::link::Host;
use std::fmt::Write as _;
use std::io::{self, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;
use units::Bytes;

/// An answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// Where the `Location` header points.
    pub location: Option<String>,
    /// The content.
    pub body: Vec<u8>,
}

/// A request.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The method.
    pub method: &'a str,
    /// Path and query, encoded.
    pub path: &'a str,
    /// The length of the content that follows.
    pub length: u64,
    /// The content's type, where there is a content.
    pub content_type: &'a str,
}

/// How long a server may be silent.
const PATIENCE: Duration = Duration::from_secs(30);
/// The longest content: that of a history that an import takes.
const MOST_BYTES: u64 = 256 << 20;
/// The longest line of a header, and the most lines.
const LONGEST_HEADER: u64 = 1 << 16;

impl<'a> Request<'a> {
    /// A request without content.
    pub const fn new(method: &'a str, path: &'a str) -> Self {
        Self { method, path, length: 0, content_type: "application/octet-stream" }
    }
}

/// Asks a server; `write` writes the content. HTTP/1.0: the answer ends with the connection.
pub fn ask(
    from: &Host,
    to: (Ipv4Addr, u16),
    request: Request<'_>,
    write: impl FnOnce(&mut TcpStream) -> io::Result<()> + Send,
) -> io::Result<Answer> {
    from.within(|| {
        let mut stream = TcpStream::connect_timeout(&SocketAddr::from(to), PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let Request { method, path, length, content_type } = request;
        let mut head = format!("{method} {path} HTTP/1.0\r\nHost: {}:{}\r\n", to.0, to.1);
        if method != "GET" {
            // Writing to a string does not fail.
            let _ = write!(head, "Content-Length: {length}\r\nContent-Type: {content_type}\r\n");
        }
        stream.write_all(format!("{head}\r\n").as_bytes())?;
        write(&mut stream)?;
        stream.flush()?;
        answer(&mut BufReader::new(stream))
    })?
}

/// The content of a page that is there.
pub fn get(from: &Host, to: (Ipv4Addr, u16), path: &str) -> io::Result<Vec<u8>> {
    let answer = ask(from, to, Request::new("GET", path), |_| Ok(()))?;
    if answer.status == 200 { Ok(answer.body) } else { Err(io::Error::other(format!("status {}", answer.status))) }
}

fn answer<R: Read>(from: &mut R) -> io::Result<Answer> {
    let odd = || io::Error::new(io::ErrorKind::InvalidData, "that is no answer of a web server");
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() as u64 > LONGEST_HEADER || from.read(&mut byte)? == 0 {
            return Err(odd());
        }
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head);
    let status = head.split_ascii_whitespace().nth(1).and_then(|status| status.parse().ok()).ok_or_else(odd)?;
    if (100..200).contains(&status) {
        // The real answer follows.
        return answer(from);
    }
    let field = |name: &str| {
        head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
        })
    };
    let length = field("content-length").and_then(|length| length.parse::<u64>().ok());
    let mut body = Vec::new();
    from.take(length.unwrap_or(u64::MAX).min(MOST_BYTES + 1)).read_to_end(&mut body)?;
    if body.len() as u64 > MOST_BYTES {
        let most = Bytes::new(MOST_BYTES);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("the content is longer than {most}")));
    }
    if length.is_some_and(|length| (body.len() as u64) < length) {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Answer { status, location: field("location"), body })
}

/// A path as it stands in a request.
pub fn encoded(path: &str) -> String {
    let mut text = String::new();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' => text.push(byte as char),
            // Writing to a string does not fail.
            _ => {
                let _ = write!(text, "%{byte:02X}");
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_whole_or_not_at_all() {
        let read = |text: &str| answer(&mut text.as_bytes());
        let redirect = read("HTTP/1.1 307 Moved\r\nLocation: http://worker-1:9864/x?op=CREATE\r\n\r\n").expect("whole");
        assert_eq!((redirect.status, redirect.location.as_deref()), (307, Some("http://worker-1:9864/x?op=CREATE")));
        let page = read("HTTP/1.0 200 OK\r\ncontent-length: 3\r\n\r\nabcdef").expect("whole");
        assert_eq!(page.body, b"abc");
        assert_eq!(read("HTTP/1.0 200 OK\r\n\r\nto the end").expect("whole").body, b"to the end");
        // A DataNode says both although nobody has asked for the first.
        let created = read("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\n\r\n").expect("whole");
        assert_eq!(created.status, 201);
        for cut in ["", "HTTP/1.0 200 OK\r\n", "HTTP/1.0 200 OK\r\nContent-Length: 9\r\n\r\nabc", "SSH-2.0-x\r\n\r\n"] {
            assert!(read(cut).is_err(), "{cut:?}");
        }
        assert!(read(&"x".repeat(1 << 20)).is_err());
        let endless = &mut (&b"HTTP/1.0 200 OK\r\n\r\n"[..]).chain(io::repeat(0));
        assert_eq!(answer(endless).expect_err("too long").kind(), io::ErrorKind::FileTooLarge);
    }

    #[test]
    fn names_of_histories_are_encoded() {
        // Hadoop itself encodes a job's name in a history's.
        assert_eq!(encoded("/a/job_1-word+count-%3D.jhist"), "/a/job_1-word%2Bcount-%253D.jhist");
    }
}
