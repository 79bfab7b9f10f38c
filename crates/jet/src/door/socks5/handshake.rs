//! What a SOCKS5 client says before its bytes flow (RFC 1928, RFC 1929), without I/O.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::{Destination, DestinationError, Refusal, destination};

const VERSION: u8 = 5;
/// The version of the username/password exchange.
const PASSWORD_VERSION: u8 = 1;

const NO_AUTHENTICATION: u8 = 0;
const USERNAME_PASSWORD: u8 = 2;
const NO_METHOD: u8 = 0xff;

const CONNECT: u8 = 1;
const UDP_ASSOCIATE: u8 = 3;

const IPV4: u8 = 1;
const NAME: u8 = 3;
const IPV6: u8 = 4;

/// The server's side of the handshake. It takes bytes in portions of any size, and never one that belongs to the
/// program's own stream.
#[derive(Debug)]
pub struct Handshake {
    expect: Expect,
    authenticate: bool,
    received: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expect {
    Greeting,
    Password,
    Request,
    Nothing,
}

/// The outcome of a whole message from the client.
#[derive(Debug, PartialEq, Eq)]
pub enum ClientMessage {
    /// The client's greeting; these bytes answer it.
    Greeting([u8; 2]),
    /// A password; [`Handshake::judge`] answers it.
    Password {
        /// The user's name.
        name: Vec<u8>,
        /// The password.
        password: Vec<u8>,
    },
    /// CONNECT; [`reply`] answers it once the outcome is known.
    Connect(Destination),
    /// UDP ASSOCIATE: datagrams will come from this port, or 0 if it is not known yet. Answered by [`bound`],
    /// [`unsupported`] or [`reply`].
    Associate(u16),
    /// An error: these bytes answer it, and the connection ends.
    Unacceptable(Vec<u8>),
}

/// The client does not speak SOCKS5: it began a message with this byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not SOCKS5: a message begins with byte {0}")]
pub struct NotSocks5(u8);

impl Handshake {
    /// With `authenticate`, a client that gives no password is turned away.
    pub fn new(authenticate: bool) -> Self {
        Self { expect: Expect::Greeting, authenticate, received: Vec::new() }
    }

    /// The least number of bytes that are missing; 0 when nothing more is expected.
    pub fn wants(&self) -> usize {
        let byte = |at: usize| self.received.get(at).map_or(0, |byte| usize::from(*byte));
        let whole = match self.expect {
            Expect::Nothing => 0,
            // VER NMETHODS METHODS
            Expect::Greeting => 2 + byte(1),
            // VER ULEN UNAME PLEN PASSWD
            Expect::Password => 3 + byte(1) + byte(2 + byte(1)),
            // VER CMD RSV ATYP ADDR PORT
            Expect::Request => {
                // The length of an unknown kind of address is unknown too: the bytes that there are have to suffice.
                6 + address_length(byte(3) as u8, Some(byte(4) as u8)).unwrap_or(0)
            }
        };
        // A length that has not come yet reads as 0 above, and its byte is among those that are missing.
        whole.saturating_sub(self.received.len())
    }

    /// Takes at most [`Handshake::wants`] bytes off the front of `input`.
    pub fn read(&mut self, input: &mut &[u8]) -> Result<Option<ClientMessage>, NotSocks5> {
        while self.wants() > 0 {
            if input.is_empty() {
                return Ok(None);
            }
            let (taken, rest) = input.split_at(self.wants().min(input.len()));
            self.received.extend_from_slice(taken);
            *input = rest;
            let version = if self.expect == Expect::Password { PASSWORD_VERSION } else { VERSION };
            if self.received.first() != Some(&version) {
                self.expect = Expect::Nothing;
                return Err(NotSocks5(self.received[0]));
            }
        }
        if self.expect == Expect::Nothing {
            return Ok(None);
        }
        let message = std::mem::take(&mut self.received);
        Ok(Some(match self.expect {
            Expect::Greeting => self.greeting(&message[2..]),
            Expect::Password => self.password(&message),
            Expect::Request | Expect::Nothing => self.request(&message),
        }))
    }

    /// The answer to a name and password; unless they are right, the connection ends with it.
    pub fn judge(&mut self, right: bool) -> [u8; 2] {
        self.expect = if right { Expect::Request } else { Expect::Nothing };
        [PASSWORD_VERSION, u8::from(!right)]
    }

    fn greeting(&mut self, offered: &[u8]) -> ClientMessage {
        let method = if self.authenticate { USERNAME_PASSWORD } else { NO_AUTHENTICATION };
        if !offered.contains(&method) {
            self.expect = Expect::Nothing;
            return ClientMessage::Unacceptable(vec![VERSION, NO_METHOD]);
        }
        self.expect = if self.authenticate { Expect::Password } else { Expect::Request };
        ClientMessage::Greeting([VERSION, method])
    }

    fn password(&mut self, message: &[u8]) -> ClientMessage {
        self.expect = Expect::Nothing;
        let (name, password) = message[2..].split_at(usize::from(message[1]));
        ClientMessage::Password { name: name.to_vec(), password: password[1..].to_vec() }
    }

    fn request(&mut self, message: &[u8]) -> ClientMessage {
        self.expect = Expect::Nothing;
        let (address, port) = message[4..].split_at(message.len() - 6);
        let port = u16::from_be_bytes([port[0], port[1]]);
        match (message[1], destination_of(message[3], address, port)) {
            (CONNECT | UDP_ASSOCIATE, None) => ClientMessage::Unacceptable(numbered(ADDRESS_TYPE_NOT_SUPPORTED)),
            (CONNECT, Some(Ok(to))) => ClientMessage::Connect(to),
            (CONNECT, Some(Err(_))) => ClientMessage::Unacceptable(numbered(HOST_UNREACHABLE)),
            // The stated address may differ from the one that the proxy sees, or be absent: what the proxy sees counts.
            (UDP_ASSOCIATE, Some(_)) => ClientMessage::Associate(port),
            _ => ClientMessage::Unacceptable(unsupported()),
        }
    }
}

/// The length of an address of a kind, by its first byte. `None` for an unknown kind, or a name whose first byte has
/// not come.
pub(super) fn address_length(kind: u8, first: Option<u8>) -> Option<usize> {
    match kind {
        IPV4 => Some(4),
        IPV6 => Some(16),
        NAME => first.map(|length| 1 + usize::from(length)),
        _ => None,
    }
}
/// The destination of an address of a kind; `None` for an unknown kind.
pub(super) fn destination_of(kind: u8, address: &[u8], port: u16) -> Option<Result<Destination, DestinationError>> {
    let host = match (kind, address) {
        (IPV4, address) => Ipv4Addr::from(<[u8; 4]>::try_from(address).ok()?).to_string(),
        (IPV6, address) => Ipv6Addr::from(<[u8; 16]>::try_from(address).ok()?).to_string(),
        // A name that is not ASCII is refused.
        (NAME, [_, name @ ..]) => String::from_utf8_lossy(name).into_owned(),
        _ => return None,
    };
    Some(destination(&host, port))
}

// REP, the reply's code.
const SUCCEEDED: u8 = 0;
const GENERAL_FAILURE: u8 = 1;
const NOT_ALLOWED: u8 = 2;
const NETWORK_UNREACHABLE: u8 = 3;
const HOST_UNREACHABLE: u8 = 4;
const CONNECTION_REFUSED: u8 = 5;
/// "TTL expired" in the RFC; what servers say, and curl and ssh print, of a destination that does not answer.
const TTL_EXPIRED: u8 = 6;
const COMMAND_NOT_SUPPORTED: u8 = 7;
const ADDRESS_TYPE_NOT_SUPPORTED: u8 = 8;

/// The reply to a request (RFC 1928, section 6). Its bound address is unspecified: that is the far gateway's, and
/// useless here.
pub fn reply(refusal: Option<Refusal>) -> Vec<u8> {
    numbered(match refusal {
        None => SUCCEEDED,
        Some(Refusal::Denied) => NOT_ALLOWED,
        Some(Refusal::UnknownName | Refusal::HostUnreachable) => HOST_UNREACHABLE,
        Some(Refusal::ConnectionRefused) => CONNECTION_REFUSED,
        Some(Refusal::NetworkUnreachable) => NETWORK_UNREACHABLE,
        Some(Refusal::TimedOut) => TTL_EXPIRED,
        Some(Refusal::NoGateway | Refusal::Failed) => GENERAL_FAILURE,
    })
}

/// The reply to a request that is not served here.
pub fn unsupported() -> Vec<u8> {
    numbered(COMMAND_NOT_SUPPORTED)
}
/// The reply to a request that is granted, with the address to which datagrams are to be sent.
pub fn bound(to: SocketAddr) -> Vec<u8> {
    let (kind, ip) = match to.ip().to_canonical() {
        IpAddr::V4(ip) => (IPV4, ip.octets().to_vec()),
        IpAddr::V6(ip) => (IPV6, ip.octets().to_vec()),
    };
    [&[VERSION, SUCCEEDED, 0, kind][..], &ip, &to.port().to_be_bytes()].concat()
}
fn numbered(code: u8) -> Vec<u8> {
    vec![VERSION, code, 0, IPV4, 0, 0, 0, 0, 0, 0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Plays a whole dialogue in portions of the given sizes: the outcomes, and the rest of the input.
    fn play(
        authenticate: bool,
        mut input: &[u8],
        portions: &[usize],
    ) -> (Result<Vec<ClientMessage>, NotSocks5>, usize) {
        let mut handshake = Handshake::new(authenticate);
        let mut received = Vec::new();
        let mut portions = portions.iter().copied().chain(std::iter::repeat(1));
        while !input.is_empty() && handshake.wants() > 0 {
            let mut portion = &input[..portions.next().unwrap_or(1).min(input.len())];
            let before = portion.len();
            match handshake.read(&mut portion) {
                Ok(Some(message)) => {
                    if let ClientMessage::Password { password, .. } = &message {
                        handshake.judge(password == b"right");
                    }
                    received.push(message);
                }
                Ok(None) => {}
                Err(error) => return (Err(error), 0),
            }
            input = &input[before - portion.len()..];
        }
        (Ok(received), input.len())
    }

    fn connect(host: &str, port: u16) -> ClientMessage {
        ClientMessage::Connect(destination(host, port).unwrap())
    }

    #[test]
    fn each_kind_of_address() {
        let greeting = ClientMessage::Greeting([5, 0]);
        let v4 = [5, 1, 0, 5, 1, 0, 1, 192, 0, 2, 7, 0x0c, 0xea];
        assert_eq!(play(false, &v4, &[13]).0.unwrap(), [greeting, connect("192.0.2.7", 3306)]);
        let mut v6 = vec![5, 2, 1, 0, 5, 1, 0, 4];
        v6.extend("2001:db8::7".parse::<Ipv6Addr>().unwrap().octets());
        v6.extend([0, 80]);
        assert_eq!(play(false, &v6, &[]).0.unwrap()[1], connect("2001:db8::7", 80));
        let name = [&[5, 1, 0, 5, 1, 0, 3, 10][..], b"db.example", &[0, 80]].concat();
        assert_eq!(play(false, &name, &[]).0.unwrap()[1], connect("db.example", 80));
    }

    #[test]
    fn what_cannot_be_served_is_answered() {
        let last = |input: &[u8]| play(false, input, &[]).0.unwrap().pop();
        assert_eq!(last(&[5, 1, 2]), Some(ClientMessage::Unacceptable(vec![5, 0xff])), "no method in common");
        let bind = [5, 1, 0, 5, 2, 0, 1, 1, 2, 3, 4, 0, 1];
        assert_eq!(last(&bind), Some(ClientMessage::Unacceptable(numbered(7))));
        assert_eq!(last(&[5, 1, 0, 5, 1, 0, 9, 1, 1]), Some(ClientMessage::Unacceptable(numbered(8))));
        assert_eq!(
            last(&[5, 1, 0, 5, 1, 0, 1, 1, 2, 3, 4, 0, 0]),
            Some(ClientMessage::Unacceptable(numbered(4))),
            "port 0"
        );
        assert_eq!(
            last(&[5, 1, 0, 5, 1, 0, 3, 0, 0, 80]),
            Some(ClientMessage::Unacceptable(numbered(4))),
            "a name of no length"
        );
        assert_eq!(
            last(&[5, 1, 0, 5, 1, 0, 3, 1, 0xc3, 0, 80]),
            Some(ClientMessage::Unacceptable(numbered(4))),
            "half a letter"
        );
        assert_eq!(play(false, b"GET / HTTP/1.1", &[]).0, Err(NotSocks5(b'G')));
        assert_eq!(play(false, &[4, 1, 0, 80], &[]).0, Err(NotSocks5(4)));
    }

    #[test]
    fn associations_say_whence_datagrams_come_if_they_know() {
        let last = |input: &[u8]| play(false, input, &[]).0.unwrap().pop();
        assert_eq!(last(&[5, 1, 0, 5, 3, 0, 1, 127, 0, 0, 1, 0x0c, 0xea]), Some(ClientMessage::Associate(3306)));
        assert_eq!(last(&[5, 1, 0, 5, 3, 0, 1, 0, 0, 0, 0, 0, 0]), Some(ClientMessage::Associate(0)));
        assert_eq!(last(&[5, 1, 0, 5, 3, 0, 9, 1, 1]), Some(ClientMessage::Unacceptable(numbered(8))));
        assert_eq!(bound("192.0.2.7:3306".parse().unwrap()), [5, 0, 0, 1, 192, 0, 2, 7, 0x0c, 0xea]);
        let v6 = bound("[2001:db8::7]:80".parse().unwrap());
        assert_eq!((v6.len(), &v6[..8], &v6[20..]), (22, &[5, 0, 0, 4, 0x20, 1, 0x0d, 0xb8][..], &[0, 80][..]));
    }

    #[test]
    fn passwords() {
        let with = |password: &[u8]| {
            let head = [5, 2, 0, 2, 1, 2, b'm', b'e', password.len() as u8];
            [&head, password, &[5, 1, 0, 1, 192, 0, 2, 7, 0, 80]].concat()
        };
        let (received, left) = play(true, &with(b"right"), &[]);
        assert_eq!((received.unwrap().last(), left), (Some(&connect("192.0.2.7", 80)), 0));
        let (received, left) = play(true, &with(b"wrong"), &[]);
        assert_eq!(received.unwrap().len(), 2, "a greeting, a password, and nothing after it");
        assert_eq!(left, 10);
        assert_eq!(play(true, &with(b""), &[]).0.unwrap().len(), 2);
        assert_eq!(
            play(true, &[5, 1, 0], &[]).0.unwrap(),
            [ClientMessage::Unacceptable(vec![5, 0xff])],
            "it must be given"
        );
    }

    proptest! {
        #[test]
        fn no_byte_of_the_programs_own_is_taken(
            name in "[a-z0-9.-]{1,255}",
            port in 1..=u16::MAX,
            authenticate: bool,
            own in proptest::collection::vec(any::<u8>(), 0..40),
            portions in proptest::collection::vec(1..300_usize, 0..40),
        ) {
            let mut input = vec![5, 2, 0, 2];
            if authenticate {
                input.extend(b"\x01\x02me\x05right");
            }
            input.extend([5, 1, 0, 3, name.len() as u8]);
            input.extend(name.as_bytes());
            input.extend(port.to_be_bytes());
            input.extend(&own);
            let (received, left) = play(authenticate, &input, &portions);
            prop_assert_eq!(received.unwrap().pop(), Some(connect(&name, port)));
            prop_assert_eq!(left, own.len());
        }

        #[test]
        fn anything_at_all_is_survived_and_however_it_is_split_means_the_same(
            authenticate: bool,
            input in proptest::collection::vec(prop_oneof![0..=5_u8, any::<u8>()], 0..600),
            portions in proptest::collection::vec(1..300_usize, 0..40),
        ) {
            prop_assert_eq!(play(authenticate, &input, &portions), play(authenticate, &input, &[]));
        }
    }
}
