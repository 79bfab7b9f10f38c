//! SOCKS5 (RFC 1928): CONNECT and UDP ASSOCIATE to IPv4 and IPv6 addresses and to names. Without authentication on
//! loopback only.

mod associate;
pub mod datagram;
pub mod handshake;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::str::FromStr;
use std::sync::Arc;

use tokio::io::{self, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use tokio::task::JoinSet;

use super::listen::Recognised;
use super::{Accepted, Answer, DoorError, Hall, Open, forward, listen};
use crate::handover::Inherited;
use crate::udp::Flows;
use crate::{Destination, Refusal};
use handshake::{ClientMessage, Handshake};

/// A SOCKS5 proxy at an address of this host.
#[derive(Debug)]
pub struct Socks5 {
    /// Where clients connect.
    pub listen: SocketAddr,
    /// Users and their passwords. `None` admits everyone, and is refused beyond loopback.
    pub users: Option<Users>,
    /// The gateway's way in for datagrams, if it carries them.
    pub flows: Option<Flows>,
}

impl FromStr for Socks5 {
    type Err = String;

    /// `[ADDRESS:]PORT`, without users, for connections alone.
    fn from_str(text: &str) -> Result<Self, String> {
        Ok(Self { listen: forward::listen_address(text)?, users: None, flows: None })
    }
}

/// Names and passwords (RFC 1929): one `NAME:PASSWORD` in each line, blank lines and lines that begin with `#` aside.
#[derive(Debug)]
pub struct Users(BTreeMap<Vec<u8>, Vec<u8>>);

impl FromStr for Users {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut users = BTreeMap::new();
        for (number, line) in (1..).zip(text.lines()) {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let (name, password) = line.split_once(':').ok_or(format!("line {number}: a user is NAME:PASSWORD"))?;
            for (what, text) in [("name", name), ("password", password)] {
                if text.is_empty() || text.len() > 255 {
                    return Err(format!("line {number}: a {what} has 1 to 255 bytes (RFC 1929)"));
                }
            }
            if users.insert(name.into(), password.into()).is_some() {
                return Err(format!("line {number}: {name} is there twice"));
            }
        }
        if users.is_empty() { Err("no user in it".to_owned()) } else { Ok(Self(users)) }
    }
}

impl Users {
    /// Whether the password is the name's, in constant time.
    fn know(&self, name: &[u8], password: &[u8]) -> bool {
        let Some(right) = self.0.get(name) else { return false };
        let wrong = right.iter().zip(password).fold(0, |wrong, (a, b)| wrong | (a ^ b));
        std::hint::black_box(wrong) == 0 && right.len() == password.len()
    }
}

impl Socks5 {
    pub(super) async fn open(self, hall: Hall, inherited: &Inherited) -> Result<Open, DoorError> {
        if self.users.is_none() && !self.listen.ip().is_loopback() {
            let remedy = "listen on a loopback address, or give it users";
            return Err(DoorError::Exposed { door: "a SOCKS5 proxy without users", address: self.listen, remedy });
        }
        let listener = listen::bind(self.listen, inherited).await?;
        let addresses = listener.local_addr().into_iter().collect();
        let listeners = listener.as_fd().try_clone_to_owned().into_iter().collect();
        let users = Arc::new(self.users);
        let mut tasks = JoinSet::new();
        tasks.spawn(listen::serve(listener, "socks5", hall, move |mut stream| {
            let (users, flows) = (Arc::clone(&users), self.flows.clone());
            async move {
                let Ok(Some(wish)) = converse(&mut stream, users.as_ref().as_ref()).await else {
                    return Recognised::Unclear("the program does not speak SOCKS5, or has no valid password");
                };
                match (wish, flows) {
                    (Wish::Connect(to), _) => Recognised::Accepted(Accepted { stream, to, answer: Answer::Socks5 }),
                    // The association is served by a task of its own.
                    (Wish::Associate(port), Some(flows)) => {
                        tokio::spawn(async move { associate::serve(stream, port, flows).await });
                        Recognised::Served
                    }
                    (Wish::Associate(_), None) => {
                        let _ = stream.write_all(&handshake::unsupported()).await;
                        Recognised::Served
                    }
                }
            }
        }));
        Ok(Open { addresses, listeners, tasks, trace: None })
    }
}

/// A client's request.
enum Wish {
    Connect(Destination),
    /// UDP ASSOCIATE: the client sends datagrams from this port, or from any if it is 0.
    Associate(u16),
}

/// Reads a client's request; `None` for a client that has been turned away.
async fn converse(stream: &mut TcpStream, users: Option<&Users>) -> io::Result<Option<Wish>> {
    let mut handshake = Handshake::new(users.is_some());
    let mut buffer = [0; 512];
    while handshake.wants() > 0 {
        let wanted = handshake.wants().min(buffer.len());
        let got = stream.read(&mut buffer[..wanted]).await?;
        if got == 0 {
            return Ok(None);
        }
        // A client that does not speak SOCKS5 gets no answer.
        let Ok(message) = handshake.read(&mut &buffer[..got]) else { return Ok(None) };
        match message {
            None => {}
            Some(ClientMessage::Greeting(answer)) => stream.write_all(&answer).await?,
            Some(ClientMessage::Password { name, password }) => {
                let right = users.is_some_and(|users| users.know(&name, &password));
                stream.write_all(&handshake.judge(right)).await?;
            }
            Some(ClientMessage::Unacceptable(answer)) => stream.write_all(&answer).await?,
            Some(ClientMessage::Connect(to)) => return Ok(Some(Wish::Connect(to))),
            Some(ClientMessage::Associate(port)) => return Ok(Some(Wish::Associate(port))),
        }
    }
    Ok(None)
}

/// Answers a request.
pub(super) async fn reply(stream: &mut TcpStream, refusal: Option<Refusal>) -> io::Result<()> {
    stream.write_all(&handshake::reply(refusal)).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_read_and_known() {
        let users: Users = "# who\nme:right\n\nyou:a:colon\n".parse().unwrap();
        assert!(users.know(b"me", b"right") && users.know(b"you", b"a:colon"));
        for (name, password) in
            [("me", "wrong"), ("me", "righ"), ("me", "rightt"), ("me", ""), ("you", "right"), ("", "")]
        {
            assert!(!users.know(name.as_bytes(), password.as_bytes()), "{name} {password}");
        }
        let long = format!("me:{}", "x".repeat(256));
        for wrong in ["", "me", "me:", ":right", "me:a\nme:b", &long] {
            assert!(wrong.parse::<Users>().is_err(), "{wrong}");
        }
    }

    #[tokio::test]
    async fn beyond_loopback_it_asks_who_comes() {
        let (out, _accepted) = tokio::sync::mpsc::channel(1);
        let closing = tokio::sync::watch::channel(false).1;
        let hall = Hall { out, log: crate::log::Log::default(), closing };
        let nothing = Inherited::default();
        let open: Socks5 = "0.0.0.0:0".parse().unwrap();
        assert!(matches!(open.open(hall.clone(), &nothing).await, Err(DoorError::Exposed { .. })));
        let asking = Socks5 { users: Some("me:right".parse().unwrap()), ..("0.0.0.0:0".parse::<Socks5>().unwrap()) };
        assert!(asking.open(hall, &nothing).await.is_ok());
    }
}
