//! The way from here to the far gateway: from a local address or interface to one of the named hosts.

use crate::bond::{self, Bond, Found};
use crate::options::Options;
use crate::race::race;
use crate::socket::{self, Via};
use ring::rand::{SecureRandom, SystemRandom};
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::net::{TcpStream, lookup_host};
use tokio::time::{Instant, timeout};

/// Where Linux describes devices.
const DEVICES: &str = "/sys/class/net";
/// The number of ports that are tried for a stream; most are free.
const PORTS: usize = 8;

/// Time of a probe beside its round trips, and the most that is given to these.
const PROMPT: Duration = Duration::from_millis(300);
const LONGEST: Duration = Duration::from_secs(3);

/// A path between two gateways.
#[derive(Debug)]
pub(crate) struct Route {
    /// The far gateway, as HOST:PORT.
    pub to: String,
    /// Whence; none for as the system routes.
    pub via: Option<Via>,
    /// Streams so far: members of a bond are taken in turn.
    turn: AtomicU32,
    /// How long the last stream took to connect, in milliseconds: about a round trip.
    connected_ms: AtomicU32,
}

impl Route {
    /// Each way out with each host.
    pub fn all(to: &[String], via: &[Via]) -> Vec<Self> {
        let out: Vec<Option<Via>> = if via.is_empty() { vec![None] } else { via.iter().cloned().map(Some).collect() };
        let hosts = |via: Option<Via>| {
            to.iter().map(move |to| Self {
                to: to.clone(),
                via: via.clone(),
                turn: AtomicU32::new(0),
                connected_ms: AtomicU32::new(0),
            })
        };
        out.into_iter().flat_map(hosts).collect()
    }
    /// Connects to the host's addresses in turn, to `known` first if it is one of them: other addresses of a name may
    /// be other gateways. Over a bond the connection takes the next member.
    pub async fn connect(&self, known: Option<SocketAddr>, options: &Options) -> io::Result<TcpStream> {
        let mut addresses = alternating(lookup_host(&self.to).await?.filter(|address| self.fits(*address)));
        addresses.sort_by_key(|address| Some(*address) != known);
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let attempts = addresses.into_iter().map(|address| {
            let (via, options, ports) = (self.via.clone(), options.clone(), self.ports(turn, address, options));
            async move { socket::dial(address, via.as_ref(), &ports, &options).await }
        });
        let began = Instant::now();
        let none = io::Error::other("no address of the far gateway can be reached from here");
        let stream = race(attempts.collect(), none).await?;
        self.connected_ms.store(began.elapsed().as_millis() as u32, Ordering::Relaxed);
        Ok(stream)
    }
    /// Connects to what answers at once, or not at all. A SYN that was lost in an outage is sent again ever more seldom
    /// (RFC 6298); after an outage a new attempt finds the path sooner.
    pub async fn probe(&self, known: Option<SocketAddr>, options: &Options) -> io::Result<TcpStream> {
        let round_trips = 2 * Duration::from_millis(self.connected_ms.load(Ordering::Relaxed).into());
        let most = PROMPT + round_trips.min(LONGEST);
        timeout(most, self.connect(known, options)).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    }
    /// Source ports by which a stream takes its member of a bond to this address; none where any will do.
    fn ports(&self, turn: u32, to: SocketAddr, options: &Options) -> Vec<u16> {
        let Ok(own) = socket::own_address(to, self.via.as_ref()) else { return Vec::new() };
        let bond = match (options.members.and_then(Bond::of), self.bond(own)) {
            (Some(told), _) => told,
            (None, Found::Bond(seen)) => seen,
            (None, Found::Nothing | Found::Blind(_)) => return Vec::new(),
        };
        let mut random = [0; 4];
        let _ = SystemRandom::new().fill(&mut random);
        bond.ports(own, to, turn, bond::port_range(), u32::from_ne_bytes(random)).take(PORTS).collect()
    }
    /// The bond by which what has that address leaves.
    fn bond(&self, own: IpAddr) -> Found {
        let device = match &self.via {
            Some(Via::Interface(name)) => Some(name.clone()),
            _ => socket::device_of(own),
        };
        device.map_or(Found::Nothing, |device| Bond::under(Path::new(DEVICES), &device))
    }
    /// Why streams cannot be spread over the bond by which they leave to that address.
    pub fn blind(&self, to: SocketAddr) -> Option<String> {
        match self.bond(socket::own_address(to, self.via.as_ref()).ok()?) {
            Found::Blind(policy) => Some(policy),
            Found::Bond(_) | Found::Nothing => None,
        }
    }
    fn fits(&self, address: SocketAddr) -> bool {
        !matches!(self.via, Some(Via::Address(local)) if local.is_ipv4() != address.is_ipv4())
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.via {
            Some(via) => write!(f, "{} via {via}", self.to),
            None => write!(f, "{}", self.to),
        }
    }
}

/// Alternates IPv6 and IPv4, beginning with the system's preference (RFC 8305, section 4): a dead family costs one head
/// start, however many addresses it has.
pub(crate) fn alternating(addresses: impl Iterator<Item = SocketAddr>) -> Vec<SocketAddr> {
    let addresses: Vec<SocketAddr> = addresses.collect();
    let Some(first) = addresses.first().map(SocketAddr::is_ipv4) else { return addresses };
    let (mut preferred, mut other) = (0, 0);
    let mut placed: Vec<((usize, bool), SocketAddr)> = Vec::new();
    for address in addresses {
        let count = if address.is_ipv4() == first { &mut preferred } else { &mut other };
        placed.push(((*count, address.is_ipv4() != first), address));
        *count += 1;
    }
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, address)| address).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_out_leads_to_every_host() {
        let [a, b] = ["a:1", "b:2"].map(str::to_owned);
        let names = |routes: Vec<Route>| routes.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(names(Route::all(std::slice::from_ref(&a), &[])), ["a:1"]);
        let via = ["eth0".parse().expect("an interface"), "192.0.2.1".parse().expect("an address")];
        assert_eq!(
            names(Route::all(&[a, b], &via)),
            ["a:1 via eth0", "b:2 via eth0", "a:1 via 192.0.2.1", "b:2 via 192.0.2.1"]
        );
    }

    #[test]
    fn families_alternate() {
        let parse = |text: &[&str]| text.iter().map(|text| text.parse().expect("an address")).collect::<Vec<_>>();
        let given = parse(&["[2001:db8::1]:1", "[2001:db8::2]:1", "[2001:db8::3]:1", "192.0.2.1:1", "192.0.2.2:1"]);
        let order = parse(&["[2001:db8::1]:1", "192.0.2.1:1", "[2001:db8::2]:1", "192.0.2.2:1", "[2001:db8::3]:1"]);
        assert_eq!(alternating(given.into_iter()), order);
        assert_eq!(alternating(std::iter::empty()), []);
    }

    #[tokio::test]
    async fn streams_take_the_members_of_a_bond_in_turn() {
        let bond = Bond::of(4).expect("more than one");
        let options = Options { members: Some(4), ..Options::default() };
        for host in ["127.0.0.1:0", "[::1]:0"] {
            let listener = tokio::net::TcpListener::bind(host).await.expect("loopback");
            let to = listener.local_addr().expect("bound");
            let route =
                Route { to: to.to_string(), via: None, turn: AtomicU32::default(), connected_ms: AtomicU32::default() };
            let (mut counts, mut kept) = ([0; 4], Vec::new());
            for _ in 0..12 {
                kept.push(route.connect(None, &options).await.expect("it listens"));
                let (stream, from) = listener.accept().await.expect("connected");
                counts[bond.member(from, to) as usize] += 1;
                kept.push(stream);
            }
            assert_eq!(counts, [3; 4]);
        }
    }

    #[test]
    fn a_local_address_reaches_its_own_family() {
        let route = Route {
            to: "a:1".to_owned(),
            via: Some("2001:db8::9".parse().expect("an address")),
            turn: AtomicU32::default(),
            connected_ms: AtomicU32::default(),
        };
        assert!(route.fits("[2001:db8::1]:1".parse().expect("an address")));
        assert!(!route.fits("192.0.2.1:1".parse().expect("an address")));
    }
}
