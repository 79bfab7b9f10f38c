//! Where a program wants to go, and how an OPEN frame says it.

use super::WireError;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Where a program wants to go, as it named it. The far gateway resolves names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Destination {
    /// An address and a port.
    Address(SocketAddr),
    /// A host name (at most 255 bytes, as in SOCKS5) and a port.
    Name(String, u16),
}

/// The longest host name in bytes.
pub const MAX_NAME: usize = 255;
const V4: u8 = 4;
const V6: u8 = 6;
const NAME: u8 = 3;

impl Destination {
    /// The length of its encoding.
    pub(super) fn wire_bytes(&self) -> usize {
        3 + match self {
            Self::Address(SocketAddr::V4(_)) => 4,
            Self::Address(SocketAddr::V6(_)) => 16,
            Self::Name(name, _) => name.len().min(MAX_NAME),
        }
    }
    /// Appends kind, port and address.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let (kind, port) = match self {
            Self::Address(SocketAddr::V4(address)) => (V4, address.port()),
            Self::Address(SocketAddr::V6(address)) => (V6, address.port()),
            Self::Name(_, port) => (NAME, *port),
        };
        out.push(kind);
        out.extend(port.to_be_bytes());
        match self {
            Self::Address(SocketAddr::V4(address)) => out.extend(address.ip().octets()),
            Self::Address(SocketAddr::V6(address)) => out.extend(address.ip().octets()),
            Self::Name(name, _) => out.extend(name.bytes().take(MAX_NAME)),
        }
    }
    /// Reads a whole body.
    pub(super) fn decode(body: &[u8]) -> Result<Self, WireError> {
        let length = WireError::Length(body.len() as u32);
        let Some(([kind, high, low], address)) = body.split_first_chunk::<3>() else { return Err(length) };
        let port = u16::from_be_bytes([*high, *low]);
        let ip = match *kind {
            V4 => IpAddr::V4(Ipv4Addr::from(<[u8; 4]>::try_from(address).map_err(|_| length)?)),
            V6 => IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(address).map_err(|_| length)?)),
            NAME if (1..=MAX_NAME).contains(&address.len()) => {
                let text = std::str::from_utf8(address).map_err(|_| WireError::Destination)?;
                if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
                    return Err(WireError::Destination);
                }
                return Ok(Self::Name(text.to_owned(), port));
            }
            NAME => return Err(length),
            _ => return Err(WireError::Destination),
        };
        Ok(Self::Address(SocketAddr::new(ip, port)))
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => address.fmt(f),
            Self::Name(host, port) => write!(f, "{host}:{port}"),
        }
    }
}
