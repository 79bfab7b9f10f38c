//! The destinations that a far gateway allows, to all peers or to one. Nothing is allowed by default.

use crate::keys::Peers;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::str::FromStr;
use stripe::wire::Destination;

/// One permission: hosts and ports, and for whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The peer's name; none for every peer.
    peer: Option<String>,
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
     [2001:db8::]/32:443, 192.0.2.7:*; with PEER= before it for one peer alone"
)]
pub struct RuleError {
    text: String,
    reason: &'static str,
}

impl FromStr for Rule {
    type Err = RuleError;
    fn from_str(text: &str) -> Result<Self, RuleError> {
        let wrong = |reason| RuleError { text: text.to_owned(), reason };
        let (peer, text) = match text.split_once('=') {
            Some((peer, _)) if !Peers::is_name(peer) => return Err(wrong("no peer can have that name")),
            Some((peer, rule)) => (Some(peer.to_owned()), rule),
            None => (None, text),
        };
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
        Ok(Self { peer, hosts, ports })
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(peer) = &self.peer {
            write!(f, "{peer}=")?;
        }
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

/// Whether an address is no public one: of this host, of its network or link, or where clouds keep their metadata. A
/// name may lead there for whoever has a word in the DNS, so a rule of names does not suffice.
fn is_special(ip: IpAddr) -> bool {
    let within = |network: &str, bits: u32| {
        let Ok(network) = network.parse() else { return false };
        let ((family, bits_of_ip), (other, bits_of_network)) = (bits_of(ip), bits_of(network));
        family == other && (bits_of_ip ^ bits_of_network) >> (128 - bits) == 0
    };
    SPECIAL.iter().any(|(network, bits)| within(network, *bits))
}

/// The IANA's registries of special-purpose addresses, less those of documentation and benchmarks. What carries an
/// IPv4 address within (NAT64, 6to4) could lead to any of these.
const SPECIAL: [(&str, u32); 18] = [
    ("0.0.0.0", 8),
    ("10.0.0.0", 8),
    // Shared by providers (RFC 6598); Alibaba's metadata.
    ("100.64.0.0", 10),
    ("127.0.0.0", 8),
    // Link-local; most clouds' metadata.
    ("169.254.0.0", 16),
    ("172.16.0.0", 12),
    // Oracle's metadata.
    ("192.0.0.0", 24),
    ("192.168.0.0", 16),
    // Multicast, reserved, broadcast.
    ("224.0.0.0", 3),
    // Unspecified, loopback, and what was once IPv4-compatible.
    ("::", 96),
    // NAT64 (RFC 6052, RFC 8215) and 6to4 (RFC 3056).
    ("64:ff9b::", 96),
    ("64:ff9b:1::", 48),
    ("2002::", 16),
    // Teredo (RFC 4380).
    ("2001::", 32),
    // Unique local; Amazon's metadata.
    ("fc00::", 7),
    ("fe80::", 10),
    // Site-local, once (RFC 3879).
    ("fec0::", 10),
    ("ff00::", 8),
];

impl Rule {
    /// The peer whose rule it is; none if it holds for every peer.
    pub fn peer(&self) -> Option<&str> {
        self.peer.as_deref()
    }
    /// An address of its network; none for a name.
    pub fn network(&self) -> Option<IpAddr> {
        if let Hosts::Network(ip, _) = self.hosts { Some(ip) } else { None }
    }
    fn is_for(&self, peer: &str) -> bool {
        self.peer.as_deref().is_none_or(|own| own == peer)
    }
    fn has_port(&self, port: u16) -> bool {
        matches!(self.hosts, Hosts::Network(..)) && self.ports.contains(&port)
    }
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
    /// Whether nothing is allowed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    /// The peers that rules name.
    pub fn peers(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|rule| rule.peer.as_deref())
    }
    fn of<'a>(&'a self, peer: &'a str) -> impl Iterator<Item = &'a Rule> {
        self.0.iter().filter(move |rule| rule.is_for(peer))
    }
    /// Whether a peer may go to a destination by its name, if it has a public address ([`by_name`](Self::by_name)).
    pub fn names(&self, peer: &str, destination: &Destination) -> bool {
        let Destination::Name(name, port) = destination else { return false };
        self.of(peer).any(|rule| rule.has_name(name, *port))
    }
    /// Whether a peer may connect to an address.
    pub fn has(&self, peer: &str, address: SocketAddr) -> bool {
        self.of(peer).any(|rule| rule.has_address(address))
    }
    /// Whether a peer may connect to an address that a name has which it may go to.
    pub fn by_name(&self, peer: &str, address: SocketAddr) -> bool {
        !is_special(address.ip()) || self.has(peer, address)
    }
    /// Whether a peer may connect to any address at all at this port.
    pub fn has_port(&self, peer: &str, port: u16) -> bool {
        self.of(peer).any(|rule| rule.has_port(port))
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
        assert!(!allowed(&[]).has("near", address("127.0.0.1:80")));
        let some = allowed(&["10.1.0.0/16:80-90", "[2001:db8::]/32:443", "192.0.2.7:*", "Db.Example:3306"]);
        for yes in ["10.1.255.3:85", "[2001:db8:7::1]:443", "192.0.2.7:9", "[::ffff:192.0.2.7]:9"] {
            assert!(some.has("near", address(yes)), "{yes}");
        }
        for no in ["10.2.0.0:85", "10.1.0.1:79", "10.1.0.1:91", "[2001:db9::1]:443", "192.0.2.8:9", "[a01::]:85"] {
            assert!(!some.has("near", address(no)), "{no}");
        }
        let name = |name: &str, port| some.names("near", &Destination::Name(name.to_owned(), port));
        assert!(name("db.example.", 3306) && !name("db.example", 3307) && !name("xdb.example", 3306));
        assert!(
            allowed(&["0.0.0.0/0:*"]).has("near", address("8.8.8.8:53"))
                && !allowed(&["0.0.0.0/0:*"]).has("near", address("[::1]:53"))
        );
    }

    #[test]
    fn a_rule_of_one_peer_is_no_others() {
        let some = allowed(&["laptop=db.example:3306", "laptop=10.0.0.0/8:22", "192.0.2.1:80"]);
        let name = Destination::Name("db.example".to_owned(), 3306);
        assert!(some.names("laptop", &name) && !some.names("phone", &name));
        assert!(some.has("laptop", address("10.0.0.1:22")) && !some.has("phone", address("10.0.0.1:22")));
        assert!(["laptop", "phone"].iter().all(|peer| some.has(peer, address("192.0.2.1:80"))));
        assert!(some.has_port("laptop", 22) && !some.has_port("phone", 22) && !some.has_port("laptop", 3306));
        assert_eq!(some.peers().collect::<Vec<_>>(), ["laptop", "laptop"]);
    }

    /// Addresses out of the registries and of clouds' manuals.
    #[test]
    fn a_name_leads_to_public_addresses_alone() {
        let none = allowed(&["db.example:3306"]);
        for special in [
            "127.0.0.1",
            "127.9.9.9",
            "0.0.0.0",
            "10.1.2.3",
            "172.31.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.100.100.200",
            "192.0.0.192",
            "255.255.255.255",
            "224.0.0.1",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "fe80::1",
            "fd00:ec2::254",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "ff02::1",
        ] {
            let at = SocketAddr::new(special.parse().expect("an address"), 3306);
            assert!(!none.by_name("near", at), "{special}");
            assert!(
                allowed(&["0.0.0.0/0:3306", "[::]/0:3306"]).by_name("near", at),
                "{special} with a rule of its own"
            );
        }
        for public in ["192.0.2.1", "8.8.8.8", "172.32.0.1", "100.128.0.1", "2001:db8::1", "2606:4700::1111"] {
            assert!(none.by_name("near", SocketAddr::new(public.parse().expect("an address"), 3306)), "{public}");
        }
    }

    #[test]
    fn what_is_no_rule_is_refused_with_the_reason() {
        let unnamed = [":80", ".:80", "10.0.0.1.:80"];
        let others = [
            "",
            "db",
            "db:",
            "db:0",
            "db:70000",
            "db:9-8",
            "10.0.0.0/33:80",
            "db/8:80",
            "::1:80:",
            "[::1:80",
            "a b=db:80",
            "=db:80",
        ];
        for wrong in unnamed.into_iter().chain(others) {
            let error = wrong.parse::<Rule>().expect_err(wrong);
            assert!(error.to_string().contains("a rule is HOST:PORTS"), "{error}");
        }
        for right in ["10.0.0.0/8:1-1024", "[2001:db8::]/32:443-443", "db.example:3306-3306", "laptop=db.example:1-2"] {
            assert_eq!(right.parse::<Rule>().expect("a rule").to_string(), right);
        }
    }
}
