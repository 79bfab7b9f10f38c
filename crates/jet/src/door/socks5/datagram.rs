//! What stands before each datagram between a SOCKS5 client and its proxy (RFC 1928, section 7), without I/O.

use super::handshake::{address_length, destination_of};
use crate::Destination;

/// RSV, FRAG, ATYP.
const FIXED: usize = 4;

/// Destination and header length of a client's datagram. `None` for a fragment or a malformed one: the RFC drops those
/// silently.
pub fn read(datagram: &[u8]) -> Option<(Destination, usize)> {
    let (&[0, 0, 0, kind], rest) = datagram.split_first_chunk::<FIXED>()? else { return None };
    let length = address_length(kind, rest.first().copied())?;
    let (address, rest) = rest.split_at_checked(length)?;
    let port = rest.first_chunk::<2>()?;
    let to = destination_of(kind, address, u16::from_be_bytes(*port))?.ok()?;
    Some((to, FIXED + length + port.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::destination;
    use proptest::prelude::*;

    #[test]
    fn each_kind_of_address() {
        let is = |head: &[u8], host: &str| {
            let whole = [head, &[0, 53], b"query"].concat();
            assert_eq!(read(&whole), Some((destination(host, 53).unwrap(), whole.len() - 5)), "{host}");
        };
        is(&[0, 0, 0, 1, 192, 0, 2, 7], "192.0.2.7");
        is(&[&[0, 0, 0, 3, 11][..], b"dns.example"].concat(), "dns.example");
        let v6: std::net::Ipv6Addr = "2001:db8::7".parse().unwrap();
        is(&[&[0, 0, 0, 4][..], &v6.octets()].concat(), "2001:db8::7");
        // A datagram may be empty.
        assert_eq!(read(&[0, 0, 0, 1, 192, 0, 2, 7, 0, 53]).map(|(_, start)| start), Some(10));
    }

    #[test]
    fn what_is_no_datagram_of_a_client_is_dropped() {
        let right = [0, 0, 0, 1, 192, 0, 2, 7, 0, 53, b'?'];
        assert!(read(&right).is_some());
        for (at, value, what) in [
            (0, 1, "RSV"),
            (1, 1, "RSV"),
            (2, 1, "a fragment"),
            (2, 0x81, "the last fragment"),
            (3, 2, "no kind of address"),
            (3, 3, "a name of 192 bytes"),
            (3, 4, "half an address"),
            (9, 0, "port 0"),
        ] {
            let mut wrong = right;
            wrong[at] = value;
            assert_eq!(read(&wrong), None, "{what}");
        }
        assert_eq!(read(&[0, 0, 0, 3, 0, 0, 53]), None, "a name of no length");
        assert_eq!(read(&[0, 0, 0, 3, 2, b'a', b'/', 0, 53]), None, "no name");
        assert_eq!(read(b""), None);
    }

    proptest! {
        #[test]
        fn anything_at_all_is_survived(bytes in proptest::collection::vec(prop_oneof![0..=4_u8, any::<u8>()], 0..300)) {
            if let Some((_, start)) = read(&bytes) {
                prop_assert!(start <= bytes.len());
            }
        }
    }
}
