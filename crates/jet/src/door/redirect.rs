//! The kernel redirects connections to the gateway: of this host's programs, of a control group or network namespace,
//! or of the hosts behind this router; of the latter also datagrams. Rules and routes are the door's own, and go with
//! it, except those of `--strict` (`redirect/strict.rs`).

mod bypass;
mod control_group;
mod life;
mod routing;
mod rules;
mod strict;
mod table;

use std::fmt;
use std::fs::File;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::thread;

use ipnet::IpNet;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use socket2::{Domain, SockRef, Socket, Type};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::task::{self, JoinSet};

use super::listen::Recognised;
use super::{Accepted, Answer, DoorError, Hall, Open, Trace, listen};
use crate::Destination;
use crate::handover::Inherited;
use crate::udp::{Flows, Relay, transparent};
pub use bypass::Bypass;
use control_group::Launched;
pub use control_group::join_launched;
use life::Life;
use routing::Routing;
use rules::{Ports, Site};
use strict::Refusing;
pub use strict::note_left_behind;
use table::Table;

/// `FROM=NETWORK[,NETWORK...]`: whose connections, to which destinations.
#[derive(Clone, Debug)]
pub struct Redirection {
    /// Whose connections are redirected.
    pub from: Source,
    /// Destinations that are redirected.
    pub take: Vec<IpNet>,
    /// Destinations that are not redirected though they are in `take`.
    pub direct: Vec<IpNet>,
    /// The gateway's way in for datagrams, if it carries them; TPROXY then takes datagrams too.
    pub flows: Option<Flows>,
    /// Servers that need no gateway, if there can be any. Programs of this host's own network namespace go there by
    /// themselves, unless `strict` is set.
    pub bypass: Option<Bypass>,
    /// Whether the kernel refuses what is to be redirected while no gateway is there to take it.
    pub strict: bool,
}

/// Whose connections are redirected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// `local`: every program of this host.
    Local,
    /// `run`: programs that root's `jet run` starts, whatever they are linked with.
    Launched,
    /// `cgroup:PATH`: programs in a control group (version 2) and below.
    ControlGroup(String),
    /// `netns:PATH`: every program in a network namespace; a name without a slash is one of `ip netns`.
    Namespace(PathBuf),
    /// `interface:NAME`, with REDIRECT: connections that arrive at an interface to be forwarded.
    Interface(String),
    /// `tproxy:NAME`, with TPROXY: likewise, without address translation and connection tracking. Takes datagrams too,
    /// where the gateway carries them.
    Transparent(String),
}

impl FromStr for Redirection {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let shape = "a redirection is local=NETWORKS, run=NETWORKS, cgroup:PATH=NETWORKS, netns:PATH=NETWORKS, \
                     interface:NAME=NETWORKS or tproxy:NAME=NETWORKS, where NETWORKS is any, or addresses and \
                     prefixes such as 10.0.0.0/8,2001:db8::/32";
        let (from, networks) = text.rsplit_once('=').ok_or(shape)?;
        let (kind, name) = from.split_once(':').unwrap_or((from, ""));
        let from = match (kind, name) {
            ("local", "") => Source::Local,
            ("run", "") => Source::Launched,
            ("cgroup", path) if path.starts_with('/') && !path.contains(|c: char| c == '"' || c.is_control()) => {
                Source::ControlGroup(path.to_owned())
            }
            ("cgroup", _) => {
                return Err(format!("{name}: a control group is a path from the root of them, as in /proc/PID/cgroup"));
            }
            ("netns", name) if name.contains('/') => Source::Namespace(name.into()),
            ("netns", name) if !name.is_empty() => Source::Namespace(Path::new("/run/netns").join(name)),
            ("interface", name) => Source::Interface(interface(name)?),
            ("tproxy", name) => Source::Transparent(interface(name)?),
            _ => return Err(shape.to_owned()),
        };
        Ok(Self { from, take: networks_of(networks)?, direct: Vec::new(), flows: None, bypass: None, strict: false })
    }
}

/// As `--redirect` takes it.
impl fmt::Display for Redirection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.from {
            Source::Local => f.write_str("local")?,
            Source::Launched => f.write_str("run")?,
            Source::ControlGroup(path) => write!(f, "cgroup:{path}")?,
            Source::Namespace(path) => write!(f, "netns:{}", path.display())?,
            Source::Interface(name) => write!(f, "interface:{name}")?,
            Source::Transparent(name) => write!(f, "tproxy:{name}")?,
        }
        let networks: Vec<_> = self.take.iter().map(ToString::to_string).collect();
        write!(f, "={}", networks.join(","))
    }
}

/// The kernel's rule for names of interfaces, without characters that nft interprets.
fn interface(name: &str) -> Result<String, String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '@');
    if (1..=15).contains(&name.len()) && name.chars().all(plain) {
        Ok(name.to_owned())
    } else {
        Err(format!("{name:?} is no name of an interface: 1 to 15 letters, digits, '-', '_', '.' or '@'"))
    }
}

/// `any`, or prefixes and single addresses.
pub fn networks_of(text: &str) -> Result<Vec<IpNet>, String> {
    let text = if text == "any" { "0.0.0.0/0,::/0" } else { text };
    let network = |text: &str| {
        let address = || text.parse().map(|address: IpAddr| IpNet::from(address));
        let network = text
            .parse()
            .or_else(|_| address())
            .map_err(|_| format!("{text:?} is neither an address nor a prefix such as 10.0.0.0/8"));
        network.map(|network: IpNet| network.trunc())
    };
    let networks = text.split(',').map(network).collect::<Result<Vec<_>, _>>()?;
    // The kernel refuses overlapping prefixes.
    Ok(IpNet::aggregate(&networks))
}

/// Marks a gateway's own socket, before it is connected, as one to be left alone by redirections on this host.
pub fn exempt(socket: &impl AsFd) -> io::Result<()> {
    SockRef::from(socket).set_mark(rules::EXEMPT)
}

/// Allows a socket, before it is bound, to have addresses that are not this host's.
pub(crate) fn lend(socket: &Socket, domain: Domain) -> io::Result<()> {
    if domain == Domain::IPV4 { socket.set_ip_transparent_v4(true) } else { socket.set_ip_transparent_v6(true) }
}

/// State outside of this process while the door is open.
#[derive(Debug)]
pub struct Installed {
    /// Removed first: what the door still takes need not be refused.
    refusing: Option<Refusing>,
    table: Table,
    #[expect(dead_code, reason = "held for its drop")]
    routing: Option<Routing>,
    launched: Option<Launched>,
}

impl Installed {
    /// Leaves to a successor what it uses too.
    pub fn leave(&mut self) {
        self.launched.iter_mut().for_each(Launched::leave);
        self.refusing.iter_mut().for_each(Refusing::leave);
    }
    /// Leaves nothing.
    pub fn end(&mut self) {
        self.refusing.iter_mut().for_each(Refusing::end);
    }
}

/// What a predecessor has handed over, beside listeners.
struct Held {
    group: Option<Life>,
    table: Option<Life>,
}

/// A door's sockets, one for each address family with redirected destinations.
#[derive(Debug)]
struct Sockets {
    connections: Vec<Socket>,
    /// Empty where datagrams are not taken.
    datagrams: Vec<Socket>,
}

impl Redirection {
    pub(super) async fn open(self, hall: Hall, inherited: &Inherited) -> Result<Open, DoorError> {
        let transparent = matches!(self.from, Source::Transparent(_));
        let flows = self.flows.clone();
        let bypass = self.bypass.clone().filter(|_| rules::bypasses(&self));
        let held = Held {
            // What another redirection is to inherit stays there.
            group: (self.from == Source::Launched).then(|| Launched::inherited(inherited)).flatten(),
            table: Refusing::inherited(&self, inherited),
        };
        // Blocking work: it waits for `nft` and `ip`, and a thread enters a namespace as a whole.
        let installed = task::spawn_blocking(move || thread::spawn(move || self.install(held)).join());
        let (sockets, installed) = match installed.await {
            Ok(Ok(installed)) => installed?,
            _ => return Err(DoorError::Redirection("the thread that sets it up has panicked".to_owned())),
        };
        let failed = |cause| DoorError::Listen { address: "loopback".to_owned(), cause };
        let mut tasks = JoinSet::new();
        let mut addresses = Vec::new();
        for listener in sockets.connections {
            let listener = TcpListener::from_std(listener.into()).map_err(failed)?;
            addresses.extend(listener.local_addr().ok());
            tasks.spawn(listen::serve(listener, "redirection", hall.clone(), move |stream| async move {
                let to = if transparent { own_destination(&stream) } else { original_destination(&stream) };
                let Some(to) = to else { return Recognised::Unclear("the kernel did not redirect it here") };
                Recognised::Accepted(Accepted { to: Destination::Address(to), stream, answer: Answer::Established })
            }));
        }
        for (socket, flows) in sockets.datagrams.into_iter().zip(flows.into_iter().cycle()) {
            let socket = UdpSocket::from_std(socket.into()).map_err(failed)?;
            addresses.extend(socket.local_addr().ok());
            let relay = Relay::transparent(socket, flows);
            let read = |_, to: Option<SocketAddr>, _: &[u8]| Some((Destination::Address(lent(to?)?), 0));
            tasks.spawn(listen::relay(relay, hall.closing.clone(), read));
        }
        if let Some(bypass) = bypass {
            tasks.spawn(bypass.keep(installed.table.orders()));
        }
        // Each process has its own rules and listeners; programs that are in a group stay in it.
        let group = installed.launched.iter().filter_map(Launched::life);
        let listeners = group.chain(installed.refusing.iter().filter_map(Refusing::life)).collect();
        Ok(Open { addresses, listeners, tasks, trace: Some(Trace::Redirection(installed)) })
    }

    /// Installs listeners, rules and routes. The calling thread may end up in another network namespace.
    fn install(&self, held: Held) -> Result<(Sockets, Installed), DoorError> {
        let namespace = match &self.from {
            Source::Namespace(path) => Some(enter_at(path)?),
            _ => None,
        };
        let connections = self.sockets(Type::STREAM)?;
        let datagrams = if rules::takes_datagrams(self) { self.sockets(Type::DGRAM)? } else { Vec::new() };
        let launched = if self.from == Source::Launched { Some(Launched::create(held.group)?) } else { None };
        let group = match (&self.from, &launched) {
            (Source::ControlGroup(path), _) => Some(control_group::locate(path)?),
            (_, launched) => launched.as_ref().map(|launched| launched.group.clone()),
        };
        let (tcp, udp) = (Ports::of(&connections), Ports::of(&datagrams));
        // A port belongs to one listener of a namespace, so it can identify the instance.
        let nothing = || DoorError::Redirection("it takes no network".to_owned());
        let site = Site { instance: tcp.v4.or(tcp.v6).ok_or_else(nothing)?, tcp, udp, group };
        let routing = match self.from {
            Source::Transparent(_) => Some(Routing::install(&site)?),
            _ => None,
        };
        let reserve = || Refusing::reserve(self, namespace, held.table);
        let refusing = if self.strict { Some(reserve()?) } else { None };
        let table = Table::install(&site.table(), &rules::commands(self, &site))?;
        Ok((Sockets { connections, datagrams }, Installed { refusing, table, routing, launched }))
    }

    /// One for each address family with redirected destinations.
    fn sockets(&self, kind: Type) -> Result<Vec<Socket>, DoorError> {
        let takes = |v4: bool| self.take.iter().any(|network| network.addr().is_ipv4() == v4);
        let mut sockets = Vec::new();
        if takes(true) {
            sockets.push(self.socket(kind, Ipv4Addr::LOCALHOST.into())?);
        }
        // A host without IPv6 has nothing to redirect there. (A transparent socket could be bound to an absent
        // address.)
        let lacks_v6 = || std::net::TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).is_err();
        if takes(false) && !(takes(true) && lacks_v6()) {
            sockets.push(self.socket(kind, Ipv6Addr::LOCALHOST.into())?);
        }
        Ok(sockets)
    }

    fn socket(&self, kind: Type, loopback: IpAddr) -> Result<Socket, DoorError> {
        let domain = if loopback.is_ipv4() { Domain::IPV4 } else { Domain::IPV6 };
        let address = match (&self.from, domain) {
            // REDIRECT sends a forwarded packet to the address of the interface at which it has arrived.
            (Source::Interface(_), Domain::IPV4) => Ipv4Addr::UNSPECIFIED.into(),
            (Source::Interface(_), _) => Ipv6Addr::UNSPECIFIED.into(),
            _ => loopback,
        };
        let address = SocketAddr::new(address, 0);
        let failed = |cause| DoorError::Listen { address: address.to_string(), cause };
        let socket = Socket::new(domain, kind, None).map_err(failed)?;
        if domain == Domain::IPV6 {
            socket.set_only_v6(true).map_err(failed)?;
        }
        if let Source::Transparent(_) = self.from {
            lend(&socket, domain).map_err(|cause| DoorError::Capability {
                what: "TPROXY",
                needs: "CAP_NET_ADMIN",
                cause: cause.to_string(),
            })?;
        }
        let prepared = if kind == Type::STREAM {
            socket.bind(&address.into()).and_then(|()| socket.listen(1024))
        } else {
            transparent::ask_destinations(&socket, domain).and_then(|()| socket.bind(&address.into()))
        };
        prepared.and_then(|()| socket.set_nonblocking(true)).map_err(failed)?;
        Ok(socket)
    }
}

/// Moves this thread into the network namespace at a path.
fn enter_at(path: &Path) -> Result<File, DoorError> {
    let failed = |cause| format!("cannot enter the network namespace {}: {cause}", path.display());
    let enter = || File::open(path).and_then(|namespace| enter(&namespace).map(|()| namespace));
    enter().map_err(|cause| DoorError::Redirection(failed(cause)))
}

fn enter(namespace: &File) -> io::Result<()> {
    Ok(move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))?)
}

/// The destination of a connection before the kernel redirected it; `None` for one that was not redirected.
fn original_destination(stream: &TcpStream) -> Option<SocketAddr> {
    let own = stream.local_addr().ok()?;
    let socket = SockRef::from(stream);
    let original = if own.is_ipv4() { socket.original_dst_v4() } else { socket.original_dst_v6() };
    let original = original.ok()?.as_socket()?;
    ((original.ip(), original.port()) != (own.ip(), own.port())).then_some(original)
}

/// The destination of a connection by TPROXY: the socket's own address.
fn own_destination(stream: &TcpStream) -> Option<SocketAddr> {
    lent(stream.local_addr().ok()?)
}

/// An address that is not the door's own; `None` for a connection to the door itself.
fn lent(to: SocketAddr) -> Option<SocketAddr> {
    (!to.ip().is_loopback()).then_some(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirections_are_read() {
        let redirection: Redirection = "local=10.1.2.3/8,192.0.2.1,2001:db8::/32,10.7.0.0/16".parse().unwrap();
        assert_eq!(redirection.from, Source::Local);
        let take: Vec<_> = redirection.take.iter().map(ToString::to_string).collect();
        assert_eq!(take, ["10.0.0.0/8", "192.0.2.1/32", "2001:db8::/32"], "without what is in another");
        let from = |text: &str| text.parse::<Redirection>().map(|redirection| redirection.from);
        assert_eq!(from("netns:web=any"), Ok(Source::Namespace("/run/netns/web".into())));
        assert_eq!(from("netns:/proc/7/ns/net=any"), Ok(Source::Namespace("/proc/7/ns/net".into())));
        assert_eq!(from("cgroup:/a=b.slice/c=any"), Ok(Source::ControlGroup("/a=b.slice/c".to_owned())));
        assert_eq!(from("interface:eth0.5=any"), Ok(Source::Interface("eth0.5".to_owned())));
        assert_eq!(from("tproxy:br-lan=any"), Ok(Source::Transparent("br-lan".to_owned())));
        let long = format!("interface:{}=any", "x".repeat(16));
        for wrong in [
            "local",
            "local=",
            "local=10.0.0.0/33",
            "local=db.example",
            "local:x=any",
            "netns:=any",
            "cgroup:a=any",
            "cgroup:/a\"b=any",
            "interface:=any",
            "interface:a b=any",
            "interface:eth*=any",
            "tproxy:\"=any",
            "bridge:x=any",
            &long,
        ] {
            assert!(wrong.parse::<Redirection>().is_err(), "{wrong}");
        }
    }
}
