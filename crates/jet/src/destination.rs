//! Where a program wants to go: what OPEN says (docs/reference/protocol.md).

use std::net::{IpAddr, SocketAddr};

pub use stripe::wire::Destination;

/// Errors of a destination.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DestinationError {
    /// Port 0.
    #[error("port 0 cannot be connected to")]
    PortZero,
    /// A host name that is too long, empty or not printable ASCII.
    #[error("a host name has 1 to 255 characters of printable ASCII (names in other scripts in their xn-- form)")]
    Name,
    /// Not of the form HOST:PORT.
    #[error("a destination is HOST:PORT, ADDRESS:PORT or [IPV6]:PORT")]
    Shape,
}

/// The address or name `host`, and a port.
pub fn destination(host: &str, port: u16) -> Result<Destination, DestinationError> {
    if port == 0 {
        return Err(DestinationError::PortZero);
    }
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(Destination::Address(SocketAddr::new(address.to_canonical(), port)));
    }
    let plain = |c: u8| c.is_ascii_graphic() && !matches!(c, b':' | b'/' | b'[' | b']' | b'@');
    if host.is_empty() || host.len() > 255 || !host.bytes().all(plain) {
        return Err(DestinationError::Name);
    }
    Ok(Destination::Name(host.to_owned(), port))
}

/// Reads `HOST:PORT`, `ADDRESS:PORT` or `[IPV6]:PORT`.
pub fn parse_destination(text: &str) -> Result<Destination, DestinationError> {
    let (host, port) = text.rsplit_once(':').ok_or(DestinationError::Shape)?;
    let port = port.parse().map_err(|_| DestinationError::Shape)?;
    match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(host) => match host.parse::<IpAddr>() {
            Ok(IpAddr::V6(_)) => destination(host, port),
            _ => Err(DestinationError::Shape),
        },
        None if host.contains(':') => Err(DestinationError::Shape),
        None => destination(host, port),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_and_addresses() {
        let parse = parse_destination;
        assert_eq!(parse("db.example:3306"), Ok(Destination::Name("db.example".to_owned(), 3306)));
        assert_eq!(parse("192.0.2.1:80"), Ok(Destination::Address("192.0.2.1:80".parse().unwrap())));
        assert_eq!(parse("[2001:db8::1]:80"), Ok(Destination::Address("[2001:db8::1]:80".parse().unwrap())));
        assert_eq!(parse("[::ffff:192.0.2.1]:80"), parse("192.0.2.1:80"), "one destination, one name");
        assert_eq!(parse("db.example:0"), Err(DestinationError::PortZero));
        assert_eq!(parse(":80"), Err(DestinationError::Name));
        assert_eq!(parse("a b:80"), Err(DestinationError::Name));
        for wrong in ["db.example", "db.example:http", "2001:db8::1:80", "[192.0.2.1]:80", "[::1:80", "x:65536"] {
            assert_eq!(parse(wrong), Err(DestinationError::Shape), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_back(text in "\\PC{0,30}(:[0-9]{1,5})?") {
            if let Ok(destination) = parse_destination(&text) {
                prop_assert_eq!(parse_destination(&destination.to_string()), Ok(destination));
            }
        }
    }
}
