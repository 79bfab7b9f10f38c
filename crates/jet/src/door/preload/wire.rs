//! The messages between the preloaded library and its door, over a Unix stream for each `connect`.
//!
//! | | direction | bytes |
//! |---|---|---|
//! | request | to the door | `TJ`, version, 0, port (2), the destination's address (16; IPv4 as `::ffff:a.b.c.d`) |
//! | verdict | to the library | port (2) of the door on loopback for that family of addresses, 0 to connect directly |
//! | claim | to the door, after `connect` to it | 1 if the library waits for the outcome, 0, port (2), own address (16)
//! |
//! | outcome | to the library, if it waits | an errno of this kernel (4 bytes, below 65,536), 0 for success |
//!
//! Numbers are big-endian. `shim/connect.c` is the other side.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

const MAGIC: [u8; 4] = [b'T', b'J', 1, 0];

/// Length of a request in bytes.
pub const REQUEST: usize = 22;
/// Length of a claim in bytes.
pub const CLAIM: usize = 20;

/// The destination in a request; `None` if it is no request of this version.
pub fn request(bytes: &[u8; REQUEST]) -> Option<SocketAddr> {
    let (magic, address) = bytes.split_at(MAGIC.len());
    (magic == MAGIC).then(|| socket_address(address))?
}

/// The request for a destination, as the library writes it.
pub fn ask(to: SocketAddr) -> [u8; REQUEST] {
    let address = match to.ip() {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    };
    let mut request = [0; REQUEST];
    request[..4].copy_from_slice(&MAGIC);
    request[4..6].copy_from_slice(&to.port().to_be_bytes());
    request[6..].copy_from_slice(&address.octets());
    request
}

/// The answer to a request: the door's port on loopback, or 0 to connect directly.
pub fn verdict(door: Option<u16>) -> [u8; 2] {
    door.unwrap_or(0).to_be_bytes()
}

/// The connection at the door that a request has become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The socket's own address.
    pub from: SocketAddr,
    /// Whether the library waits for the outcome.
    pub waits: bool,
}

/// Reads a claim.
pub fn claim(bytes: &[u8; CLAIM]) -> Option<Claim> {
    let (flags, address) = bytes.split_at(2);
    Some(Claim { from: socket_address(address)?, waits: flags == [1, 0] })
}

/// A port and the 16 bytes of an address.
fn socket_address(bytes: &[u8]) -> Option<SocketAddr> {
    let (port, address) = bytes.split_first_chunk::<2>()?;
    let address = Ipv6Addr::from(<[u8; 16]>::try_from(address).ok()?);
    let port = u16::from_be_bytes(*port);
    (port != 0).then(|| SocketAddr::new(IpAddr::V6(address).to_canonical(), port))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn destinations_of_both_families() {
        for to in ["192.0.2.1:3306", "[2001:db8::1]:80"] {
            assert_eq!(request(&ask(to.parse().unwrap())), to.parse().ok());
        }
        assert_eq!(
            ask("192.0.2.1:80".parse().unwrap())[4..],
            [0, 80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1]
        );
        assert_eq!(request(&ask("[2001:db8::1]:0".parse().unwrap())), None);
        assert_eq!(verdict(Some(0x1234)), [0x12, 0x34]);
        assert_eq!(verdict(None), [0, 0]);
    }

    proptest! {
        #[test]
        fn anything_at_all_is_survived(bytes: [u8; REQUEST], other: [u8; CLAIM]) {
            prop_assert!(request(&bytes).is_none() || bytes[..4] == MAGIC);
            prop_assert!(claim(&other).is_none_or(|claim| claim.from.port() != 0));
        }
    }
}
