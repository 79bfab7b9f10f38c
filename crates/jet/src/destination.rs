//! Where a program wants to go.

use std::fmt;
use std::net::SocketAddr;

/// A TCP destination as the program named it: resolved by the far gateway if it is a name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Destination {
    Address(SocketAddr),
    /// A host name (at most 255 bytes, as in SOCKS5) and a port.
    Name(String, u16),
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => address.fmt(f),
            Self::Name(host, port) => write!(f, "{host}:{port}"),
        }
    }
}
