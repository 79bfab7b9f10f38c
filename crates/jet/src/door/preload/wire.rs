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
//!
//! A program whose socket is non-blocking cannot wait for a verdict. Its request has 1 in place of 0 and gets none: the
//! library reads where the door is in a file beside the socket, `.doors` behind its name. That has `TJ`, version, 0,
//! the ports for IPv4 and IPv6 (2 each, 0 for none), and the networks to be connected to directly (address of 16 bytes
//! as in a request, length in bits).

use ipnet::IpNet;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

const MAGIC: [u8; 4] = [b'T', b'J', 1, 0];
const ANNOUNCES: [u8; 4] = [b'T', b'J', 1, 1];

/// Length of a request in bytes.
pub const REQUEST: usize = 22;
/// Length of a claim in bytes.
pub const CLAIM: usize = 20;

/// A request of the library's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The destination.
    pub to: SocketAddr,
    /// Whether the library waits for a verdict.
    pub asks: bool,
}

/// Reads a request; `None` if it is none of this version.
pub fn request(bytes: &[u8; REQUEST]) -> Option<Request> {
    let (magic, address) = bytes.split_at(MAGIC.len());
    let asks = match magic {
        magic if magic == MAGIC => true,
        magic if magic == ANNOUNCES => false,
        _ => return None,
    };
    Some(Request { to: socket_address(address)?, asks })
}

/// What the file of the doors says.
pub fn doors(v4: Option<u16>, v6: Option<u16>, direct: &[IpNet]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(verdict(v4));
    bytes.extend(verdict(v6));
    for network in direct {
        let (address, bits) = match network {
            IpNet::V4(network) => (network.network().to_ipv6_mapped(), network.prefix_len() + 96),
            IpNet::V6(network) => (network.network(), network.prefix_len()),
        };
        bytes.extend(address.octets());
        bytes.push(bits);
    }
    bytes
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
            let mut bytes = ask(to.parse().unwrap());
            assert_eq!(request(&bytes), Some(Request { to: to.parse().unwrap(), asks: true }));
            bytes[3] = 1;
            assert_eq!(request(&bytes), Some(Request { to: to.parse().unwrap(), asks: false }));
            bytes[3] = 2;
            assert_eq!(request(&bytes), None);
        }
        assert_eq!(
            ask("192.0.2.1:80".parse().unwrap())[4..],
            [0, 80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1]
        );
        assert_eq!(request(&ask("[2001:db8::1]:0".parse().unwrap())), None);
        assert_eq!(verdict(Some(0x1234)), [0x12, 0x34]);
        assert_eq!(verdict(None), [0, 0]);
    }

    #[test]
    fn the_file_of_the_doors_is_as_the_library_reads_it() {
        let direct = ["10.1.0.0/16", "2001:db8::/32"].map(|network| network.parse().unwrap());
        let bytes = doors(Some(0x1234), None, &direct);
        let v4 = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 1, 0, 0, 112];
        let v6 = [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 32];
        assert_eq!(bytes, [&b"TJ\x01\x00\x12\x34\x00\x00"[..], &v4, &v6].concat());
    }

    proptest! {
        #[test]
        fn anything_at_all_is_survived(bytes: [u8; REQUEST], other: [u8; CLAIM]) {
            prop_assert!(request(&bytes).is_none() || bytes[..3] == MAGIC[..3]);
            prop_assert!(claim(&other).is_none_or(|claim| claim.from.port() != 0));
        }
    }
}
