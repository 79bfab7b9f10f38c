//! The destinations that a far gateway allows. Nothing is allowed by default.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::str::FromStr;
use stripe::wire::Destination;

/// One permission: hosts and ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    hosts: Hosts,
    ports: RangeInclusive<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Hosts {
    /// A prefix of addresses.
    Network(IpAddr, u32),
    /// A host name, whatever it resolves to.
    Name(String),
}

/// Errors of a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{text}\": {reason}; a rule is HOST:PORTS or NETWORK/BITS:PORTS, as db.example:3306, 10.0.0.0/8:1-1024, \
     [2001:db8::]/32:443, 192.0.2.7:*"
)]
pub struct RuleError {
    text: String,
    reason: &'static str,
}

impl FromStr for Rule {
    type Err = RuleError;
    fn from_str(text: &str) -> Result<Self, RuleError> {
        let wrong = |reason| RuleError { text: text.to_owned(), reason };
        let (host, ports) = text.rsplit_once(':').ok_or_else(|| wrong("it has no port"))?;
        let port = |text: &str| {
            text.parse::<u16>().ok().filter(|port| *port > 0).ok_or_else(|| wrong("a port is a number from 1 to 65535"))
        };
        let ports = match ports.split_once('-') {
            _ if ports == "*" => 1..=u16::MAX,
            Some((first, last)) => port(first)?..=port(last)?,
            None => port(ports)?..=port(ports)?,
        };
        if ports.is_empty() {
            return Err(wrong("the last port is below the first"));
        }
        let (host, bits) = match host.split_once('/') {
            Some((host, bits)) => {
                (host, Some(bits.parse::<u32>().map_err(|_| wrong("the bits of a network are a number"))?))
            }
            None => (host, None),
        };
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let hosts = match (bare.parse::<IpAddr>(), bits) {
            (Ok(ip), bits) => {
                let most = if ip.is_ipv4() { 32 } else { 128 };
                let bits = bits.unwrap_or(most);
                if bits > most {
                    return Err(wrong("a network has at most 32 bits, of IPv6 128"));
                }
                Hosts::Network(ip, bits)
            }
            (Err(_), Some(_)) => return Err(wrong("a network is an address and a number of bits")),
            (Err(_), None) => {
                let name = host.trim_end_matches('.');
                // An address with a dot behind it is neither an address nor a name.
                if name.is_empty() || name.contains(['[', ']', ' ', ':']) || name.parse::<IpAddr>().is_ok() {
                    return Err(wrong("no host"));
                }
                Hosts::Name(name.to_ascii_lowercase())
            }
        };
        Ok(Self { hosts, ports })
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.hosts {
            Hosts::Network(IpAddr::V4(ip), bits) => write!(f, "{ip}/{bits}:")?,
            Hosts::Network(IpAddr::V6(ip), bits) => write!(f, "[{ip}]/{bits}:")?,
            Hosts::Name(name) => write!(f, "{name}:")?,
        }
        write!(f, "{}-{}", self.ports.start(), self.ports.end())
    }
}

/// The bits of an address, and its family.
fn bits_of(ip: IpAddr) -> (bool, u128) {
    // An IPv4-mapped IPv6 address counts as the IPv4 address.
    match ip.to_canonical() {
        IpAddr::V4(ip) => (true, u128::from(u32::from(ip)) << 96),
        IpAddr::V6(ip) => (false, u128::from(ip)),
    }
}

impl Rule {
    fn has_name(&self, name: &str, port: u16) -> bool {
        let name = name.trim_end_matches('.');
        self.ports.contains(&port) && matches!(&self.hosts, Hosts::Name(known) if known.eq_ignore_ascii_case(name))
    }
    fn has_address(&self, address: SocketAddr) -> bool {
        let Hosts::Network(network, length) = &self.hosts else { return false };
        let ((family, bits), (network_family, network)) = (bits_of(address.ip()), bits_of(*network));
        let same = bits ^ network;
        let agrees = *length == 0 || same >> (128 - length) == 0;
        self.ports.contains(&address.port()) && family == network_family && agrees
    }
}

/// The destinations that peers' programs may reach.
#[derive(Clone, Debug, Default)]
pub struct Allowed(Vec<Rule>);

impl Allowed {
    /// Allows these destinations and nothing else.
    pub fn new(rules: Vec<Rule>) -> Self {
        Self(rules)
    }
    /// Whether a destination is allowed by its own name.
    pub fn names(&self, destination: &Destination) -> bool {
        let Destination::Name(name, port) = destination else { return false };
        self.0.iter().any(|rule| rule.has_name(name, *port))
    }
    /// Whether an address may be connected to.
    pub fn has(&self, address: SocketAddr) -> bool {
        self.0.iter().any(|rule| rule.has_address(address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(rules: &[&str]) -> Allowed {
        Allowed::new(rules.iter().map(|rule| rule.parse().expect("a rule")).collect())
    }
    fn address(text: &str) -> SocketAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn nothing_is_allowed_that_no_rule_has() {
        assert!(!allowed(&[]).has(address("127.0.0.1:80")));
        let some = allowed(&["10.1.0.0/16:80-90", "[2001:db8::]/32:443", "192.0.2.7:*", "Db.Example:3306"]);
        for yes in ["10.1.255.3:85", "[2001:db8:7::1]:443", "192.0.2.7:9", "[::ffff:192.0.2.7]:9"] {
            assert!(some.has(address(yes)), "{yes}");
        }
        for no in ["10.2.0.0:85", "10.1.0.1:79", "10.1.0.1:91", "[2001:db9::1]:443", "192.0.2.8:9", "[a01::]:85"] {
            assert!(!some.has(address(no)), "{no}");
        }
        let name = |name: &str, port| some.names(&Destination::Name(name.to_owned(), port));
        assert!(name("db.example.", 3306) && !name("db.example", 3307) && !name("xdb.example", 3306));
        assert!(
            allowed(&["0.0.0.0/0:*"]).has(address("8.8.8.8:53")) && !allowed(&["0.0.0.0/0:*"]).has(address("[::1]:53"))
        );
    }

    #[test]
    fn what_is_no_rule_is_refused_with_the_reason() {
        let unnamed = [":80", ".:80", "10.0.0.1.:80"];
        let others = ["", "db", "db:", "db:0", "db:70000", "db:9-8", "10.0.0.0/33:80", "db/8:80", "::1:80:", "[::1:80"];
        for wrong in unnamed.into_iter().chain(others) {
            let error = wrong.parse::<Rule>().expect_err(wrong);
            assert!(error.to_string().contains("a rule is HOST:PORTS"), "{error}");
        }
        for right in ["10.0.0.0/8:1-1024", "[2001:db8::]/32:443-443", "db.example:3306-3306"] {
            assert_eq!(right.parse::<Rule>().expect("a rule").to_string(), right);
        }
    }
}
