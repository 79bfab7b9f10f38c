//! Connections past the far gateway, in the clear, to destinations for which the owner has allowed it.
//!
//! On a short path streams gain nothing, and each answer costs the time of two gateways. There the near gateway
//! connects to the server itself.

use crate::allow::{Allowed, Rule};
use crate::door::redirect;
use crate::keep_alive::{self, Ends};
use crate::program::{self, Ended};
use crate::shared_session::SharedSession;
use crate::splice;
use crate::status::DirectStatus;
use crate::tcp_info::TcpInfo;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use stripe::wire::Destination;
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

/// The longest round trip of a path on which connections go directly. There a new connection gains at most that much
/// through the gateways, and each answer comes 0.1 to 0.2 ms later (docs/development/performance.md). Losses are not
/// judged: those of the path cannot be told from those of a full queue, and in a millisecond they are repaired.
const SHORT: Duration = Duration::from_millis(1);
/// A server on a short path answers within this time.
const CONNECT: Duration = Duration::from_millis(100);
/// A server that did not answer directly is reached through the far gateway for this time.
const AVOIDED: Duration = Duration::from_mins(1);
/// A server that has answered directly is taken to do so for this time. After that one connection asks again.
const REACHED: Duration = Duration::from_mins(10);
/// The most servers that are remembered for either.
pub(crate) const MOST_SERVERS: usize = 1024;
/// TCP_CLOSE (net/tcp_states.h): a socket whose connection was reset, or is over in both directions.
const CLOSED: u8 = 7;
/// Time in which the other end of a connection that was reset may take what came before.
const LAST: Duration = Duration::from_secs(1);

/// Errors of the rules.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DirectError {
    /// A name means what the far gateway's host takes it for.
    #[error("\"{0}\": direct connections go to addresses, since names are resolved at the far gateway")]
    Name(String),
    /// All programs of a near gateway are served alike.
    #[error("\"{0}\": a near gateway has no rules for single peers")]
    Peer(String),
    /// Loopback and link-local addresses belong to one host or link.
    #[error("\"{0}\": at the far gateway these are addresses of another host or link")]
    Local(String),
}

/// The direct connections of a near gateway.
#[derive(Debug)]
pub(crate) struct Direct {
    rules: Allowed,
    connections: Mutex<Connections>,
    /// The servers that need no gateway at present.
    reached: watch::Sender<Reached>,
}

/// Servers that answered directly, on a path that is short: the kernel need not redirect connections to them.
pub(crate) type Reached = Arc<BTreeSet<SocketAddr>>;

#[derive(Debug, Default)]
struct Connections {
    open: usize,
    begun: u64,
    /// Servers that did not answer directly, and until when they are not tried.
    avoided: BTreeMap<SocketAddr, Instant>,
    /// Servers that did, and until when that is taken to hold.
    reached: BTreeMap<SocketAddr, Instant>,
}

impl Direct {
    /// Allows direct connections to these destinations and no others.
    pub fn new(rules: Vec<Rule>) -> Result<Self, DirectError> {
        for rule in &rules {
            let text = rule.to_string();
            match rule.network() {
                None => return Err(DirectError::Name(text)),
                Some(_) if rule.peer().is_some() => return Err(DirectError::Peer(text)),
                // The network of all addresses begins with the unspecified one.
                Some(network) if is_local(network) && !network.is_unspecified() => {
                    return Err(DirectError::Local(text));
                }
                Some(_) => {}
            }
        }
        Ok(Self { rules: Allowed::new(rules), connections: Mutex::default(), reached: watch::Sender::default() })
    }
    fn connections(&self) -> MutexGuard<'_, Connections> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection to a server, if one may and should go directly, and does.
    pub async fn connect(&self, to: &Destination, shared: &SharedSession) -> Option<TcpStream> {
        let Destination::Address(address) = *to else { return None };
        if !self.rules.has("", address) || is_local(address.ip()) || !is_short(least_round_trip(shared)) {
            return None;
        }
        let now = Instant::now();
        if self.connections().avoided.get(&address).is_some_and(|until| *until > now) {
            return None;
        }
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }.ok()?;
        // The mark keeps this gateway from redirecting its own connection.
        let _ = redirect::exempt(&socket);
        if let Ok(Ok(server)) = timeout(CONNECT, socket.connect(address)).await {
            remember(&mut self.connections().reached, address, now, REACHED);
            self.review(Some(shared));
            return Some(server);
        }
        // The far gateway may reach it, or tell why not.
        remember(&mut self.connections().avoided, address, now, AVOIDED);
        None
    }
    /// The servers that need no gateway, from now on; none if no rule allows any.
    pub fn reached(&self) -> Option<watch::Receiver<Reached>> {
        (!self.rules.is_empty()).then(|| self.reached.subscribe())
    }
    /// Looks which servers need no gateway at present. To be called now and then: a path may become longer or break.
    pub fn review(&self, shared: Option<&SharedSession>) {
        let mut connections = self.connections();
        if !is_short(shared.and_then(least_round_trip)) {
            connections.reached.clear();
        }
        let now = Instant::now();
        connections.reached.retain(|_, until| *until > now);
        let reached: BTreeSet<_> = connections.reached.keys().copied().collect();
        self.reached.send_if_modified(|known| {
            let changed = **known != reached;
            if changed {
                *known = Arc::new(reached);
            }
            changed
        });
    }
    /// Carries bytes between a program and its server until both directions are over.
    pub async fn carry(&self, program: TcpStream, server: TcpStream, ends: Option<Ends>) {
        for stream in [&program, &server] {
            program::close_as(stream, Ended::Reset);
            let _ = stream.set_nodelay(true);
            keep_alive::by_default(stream);
        }
        {
            let mut connections = self.connections();
            (connections.open, connections.begun) = (connections.open + 1, connections.begun + 1);
        }
        let ended = tokio::select! {
            ended = splice::run(&program, &server) => if ended.is_ok() { Ended::Properly } else { Ended::Reset },
            () = reset([&program, &server]) => Ended::Reset,
            () = keep_alive::mirror(ends, |keep_alive| keep_alive::apply(&server, keep_alive)) => Ended::Reset,
        };
        self.connections().open -= 1;
        program::close_as(&program, ended);
        program::close_as(&server, ended);
    }
    /// How direct connections stand, with the session that shows the path; none if no rule allows any.
    pub fn status(&self, shared: Option<&SharedSession>) -> Option<DirectStatus> {
        if self.rules.is_empty() {
            return None;
        }
        let round_trip = shared.and_then(least_round_trip);
        let connections = self.connections();
        Some(DirectStatus {
            connections: connections.open,
            begun: connections.begun,
            servers: connections.reached.len(),
            direct: is_short(round_trip),
            round_trip_s: round_trip.map(|time| time.as_secs_f64()),
        })
    }
}

/// Remembers a server for some time, if there is room.
fn remember(servers: &mut BTreeMap<SocketAddr, Instant>, server: SocketAddr, now: Instant, time: Duration) {
    servers.retain(|_, until| *until > now);
    if servers.len() < MOST_SERVERS {
        servers.insert(server, now + time);
    }
}

/// The least round trip of a session's streams. The kernel keeps the least of five minutes, so that a queue does not
/// count.
fn least_round_trip(shared: &SharedSession) -> Option<Duration> {
    let least = shared.tcp_infos().into_iter().map(|info| info.min_rtt).filter(|rtt| *rtt < u32::MAX).min();
    least.map(|rtt| Duration::from_micros(rtt.into()))
}
fn is_short(round_trip: Option<Duration>) -> bool {
    round_trip.is_some_and(|round_trip| round_trip <= SHORT)
}

/// Whether an address means another host or link at the far gateway than here.
fn is_local(ip: IpAddr) -> bool {
    let link_local = match ip {
        IpAddr::V4(ip) => ip.is_link_local() || ip.is_broadcast(),
        IpAddr::V6(ip) => ip.is_unicast_link_local(),
    };
    ip.is_loopback() || ip.is_unspecified() || ip.is_multicast() || link_local
}

/// Until one of two connections was reset, and the other end has had its time. What waits for an end that does not read
/// keeps the reset from being read.
async fn reset(ends: [&TcpStream; 2]) {
    let is_closed = |end: &TcpStream| TcpInfo::of(end).is_ok_and(|info| info.state == CLOSED);
    while !ends.into_iter().any(is_closed) {
        sleep(LAST).await;
    }
    sleep(LAST).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(rules: &[&str]) -> Result<Direct, DirectError> {
        Direct::new(rules.iter().map(|rule| rule.parse().expect("a rule")).collect())
    }

    #[test]
    fn a_rule_by_which_nothing_can_go_directly_is_refused() {
        assert!(told(&["10.0.0.0/8:*", "0.0.0.0/0:80", "[2001:db8::]/32:443"]).is_ok());
        let wrong = |rule: &str| told(&[rule]).expect_err(rule);
        assert!(matches!(wrong("db.example:80"), DirectError::Name(_)));
        assert!(matches!(wrong("laptop=10.0.0.1:80"), DirectError::Peer(_)));
        for local in ["127.0.0.1:80", "127.0.0.0/8:*", "[::1]:80", "169.254.0.0/16:80", "[fe80::]/10:80"] {
            assert!(matches!(wrong(local), DirectError::Local(_)), "{local}");
        }
    }

    #[test]
    fn servers_that_are_remembered_are_bounded_and_forgotten() {
        let (mut servers, now) = (BTreeMap::new(), Instant::now());
        for port in 1..=2000 {
            remember(&mut servers, ([10, 0, 0, 1], port).into(), now, AVOIDED);
        }
        assert_eq!(servers.len(), MOST_SERVERS);
        remember(&mut servers, ([10, 0, 0, 2], 1).into(), now + AVOIDED, AVOIDED);
        assert_eq!(servers.len(), 1);
    }
}
