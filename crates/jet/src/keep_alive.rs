//! Keep-alive of programs' connections. The gateways end a program's TCP, so the probes of its kernel reach no further
//! than the door. The near gateway asks the kernel how the program's socket is kept alive, and the far gateway has the
//! server's connection kept alive likewise (P-19).

use socket2::{Domain, Protocol, SockRef, Socket, TcpKeepalive, Type};
use std::future::pending;
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;
use stripe::wire::{Destination, KeepAlive};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep};

/// When a program's socket is looked at: soon, since programs set options before they use a connection, then ever more
/// seldom. What was seen is said each time: it may have been lost with a stream.
const LOOKS: [Duration; 2] = [Duration::from_millis(100), Duration::from_mins(1)];
/// Two times of expiry that are closer than this are one: the kernel's clock ticks, and asking takes a while.
const TICK: Duration = Duration::from_millis(20);
/// Linux's defaults (tcp(7)): time between probes in seconds, and their number.
const INTERVAL: u32 = 75;
const PROBES: u32 = 9;
/// A third of the silence passes between probes, so that twice the silence is waited for.
const PART: u32 = 3;

/// Keeps a connection alive as the system does by default (two hours and eleven minutes on Linux, tcp(7)): what has
/// vanished does not stay for ever, and no outage that a program would sit out is too long.
pub(crate) fn by_default(stream: &TcpStream) {
    // On failure the connection is as it was.
    let _ = SockRef::from(stream).set_keepalive(true);
}
/// Keeps a connection alive as the program at the other end does.
pub(crate) fn apply(stream: &TcpStream, keep_alive: KeepAlive) {
    let seconds = |seconds: u32| Duration::from_secs(u64::from(seconds.clamp(1, MOST)));
    let options = TcpKeepalive::new().with_time(seconds(keep_alive.idle)).with_interval(seconds(keep_alive.interval));
    // The kernel takes up to 127 probes.
    let _ = SockRef::from(stream).set_tcp_keepalive(&options.with_retries(keep_alive.probes.clamp(1, 127)));
}
/// The most seconds that the kernel takes (MAX_TCP_KEEPIDLE).
const MOST: u32 = 32_767;

/// Tells `say` how a program's socket is kept alive, as long as this is polled: it never ends.
pub(crate) async fn mirror(ends: Option<Ends>, say: impl Fn(KeepAlive)) {
    let Some(ends) = ends else { return pending().await };
    let (mut pause, mut estimate) = (LOOKS[0], Estimate::default());
    loop {
        sleep(pause).await;
        pause = (2 * pause).min(LOOKS[1]);
        if let Some(expires) = ends.expires() {
            estimate.see(Instant::now(), expires);
        }
        if let Some(keep_alive) = estimate.keep_alive() {
            say(keep_alive);
        }
    }
}

/// What the times until probes say of a socket's options.
#[derive(Debug, Default)]
struct Estimate {
    /// The silence before the first probe, as far as it is known, and when the probe is due.
    idle: Option<Duration>,
    due: Option<Instant>,
}

impl Estimate {
    /// The next probe is due after this time. The timer runs from when it was armed, so silence before a probe is at
    /// least as long. A probe that is due earlier than before means that the program has set a shorter time.
    fn see(&mut self, now: Instant, expires: Duration) {
        let due = now + expires;
        let shorter = self.due.is_some_and(|before| due + TICK < before);
        self.idle = Some(if shorter { expires } else { self.idle.map_or(expires, |idle| idle.max(expires)) });
        self.due = Some(due);
    }
    /// The kernel does not tell the time between probes and their number.
    fn keep_alive(&self) -> Option<KeepAlive> {
        let idle = self.idle?.as_millis().div_ceil(1000).clamp(1, u128::from(MOST)) as u32;
        let interval = (idle / PART).clamp(1, INTERVAL);
        Some(KeepAlive { idle, interval, probes: idle.div_ceil(interval).min(PROBES) })
    }
}

/// A program's socket by its two addresses, as the program's kernel has them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    own: SocketAddr,
    /// The door's address; or the destination's, where the kernel has redirected the connection.
    others: [SocketAddr; 2],
}

impl Ends {
    /// Of the program behind a door's connection.
    pub fn of(stream: &TcpStream, to: &Destination) -> Option<Self> {
        let door = stream.local_addr().ok()?;
        let redirected = if let Destination::Address(address) = to { *address } else { door };
        Some(Self { own: stream.peer_addr().ok()?, others: [door, redirected] })
    }
    /// The time until the kernel sends a keep-alive probe; `None` if it sends none, is busy sending something else, or
    /// has no such socket: the program is on another host or in another network namespace.
    fn expires(&self) -> Option<Duration> {
        self.others.iter().find_map(|other| diagnose(self.own, *other))
    }
}

/// Asks the kernel for a TCP socket's time until a keep-alive probe (sock_diag(7)).
fn diagnose(own: SocketAddr, other: SocketAddr) -> Option<Duration> {
    let mut socket = Socket::new(Domain::from(libc::AF_NETLINK), Type::DGRAM, Some(Protocol::from(NETLINK))).ok()?;
    socket.write_all(&question(own, other)).ok()?;
    let mut answer = [0; 1024];
    let count = socket.read(&mut answer).ok()?;
    read(&answer[..count])
}

/// NETLINK_SOCK_DIAG, SOCK_DIAG_BY_FAMILY and NLM_F_REQUEST (linux/netlink.h, linux/sock_diag.h).
const NETLINK: i32 = 4;
const BY_FAMILY: u16 = 20;
const REQUEST: u16 = 1;
/// Lengths of struct nlmsghdr, and of it with struct inet_diag_req_v2 (linux/inet_diag.h).
const HEADER: usize = 16;
const QUESTION: u32 = 72;
/// Places in struct inet_diag_msg: state, timer, time in ms until it expires.
const STATE: usize = HEADER + 1;
const TIMER: usize = HEADER + 2;
const EXPIRES: usize = HEADER + 52;
/// States in which a keep-alive timer is one: ESTABLISHED and CLOSE-WAIT (net/tcp_states.h). In others the kernel uses
/// the same timer to close the socket.
const OPEN: [u8; 2] = [1, 8];
/// The value of `idiag_timer` for keep-alive.
const KEPT_ALIVE: u8 = 2;

fn question(own: SocketAddr, other: SocketAddr) -> Vec<u8> {
    // A socket for both families has IPv4-mapped addresses.
    let address = |address: SocketAddr| address.ip().to_canonical();
    let family = if address(own).is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
    let mut bytes = Vec::with_capacity(QUESTION as usize);
    bytes.extend(QUESTION.to_ne_bytes());
    bytes.extend(BY_FAMILY.to_ne_bytes());
    bytes.extend(REQUEST.to_ne_bytes());
    // Sequence and sender, which nobody else uses on this socket.
    bytes.extend([0; 8]);
    // Family, protocol, no extensions, padding; then all states.
    bytes.extend([family as u8, libc::IPPROTO_TCP as u8, 0, 0]);
    bytes.extend(u32::MAX.to_ne_bytes());
    bytes.extend(own.port().to_be_bytes());
    bytes.extend(other.port().to_be_bytes());
    for end in [own, other] {
        let mut field = [0; 16];
        match address(end) {
            IpAddr::V4(address) => field[..4].copy_from_slice(&address.octets()),
            IpAddr::V6(address) => field = address.octets(),
        }
        bytes.extend(field);
    }
    // Any interface, any cookie (INET_DIAG_NOCOOKIE).
    bytes.extend([0; 4]);
    bytes.extend([0xff; 8]);
    bytes
}

fn read(answer: &[u8]) -> Option<Duration> {
    let kind = u16::from_ne_bytes(answer.get(4..6)?.try_into().ok()?);
    let expires = u32::from_ne_bytes(answer.get(EXPIRES..EXPIRES + 4)?.try_into().ok()?);
    let kept_alive = kind == BY_FAMILY && OPEN.contains(&answer[STATE]) && answer[TIMER] == KEPT_ALIVE;
    kept_alive.then(|| Duration::from_millis(u64::from(expires)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    fn applied(stream: &TcpStream) -> KeepAlive {
        let socket = SockRef::from(stream);
        let seconds = |time: std::io::Result<Duration>| time.expect("a TCP socket").as_secs() as u32;
        KeepAlive {
            idle: seconds(socket.tcp_keepalive_time()),
            interval: seconds(socket.tcp_keepalive_interval()),
            probes: socket.tcp_keepalive_retries().expect("a TCP socket"),
        }
    }
    async fn pair(address: &str) -> [TcpStream; 2] {
        let listener = TcpListener::bind(address).await.expect("loopback");
        let program = TcpStream::connect(listener.local_addr().expect("bound")).await.expect("it listens");
        [program, listener.accept().await.expect("a connection").0]
    }

    #[tokio::test]
    async fn the_kernel_tells_when_a_program_on_this_host_probes() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let [program, door] = pair(address).await;
            let to = Destination::Name("db.example".to_owned(), 3306);
            let ends = Ends::of(&door, &to).expect("connected");
            assert_eq!(ends.expires(), None, "a socket that is not kept alive");
            let options = TcpKeepalive::new().with_time(Duration::from_secs(30));
            SockRef::from(&program).set_tcp_keepalive(&options).expect("a TCP socket");
            let expires = ends.expires().expect("it is kept alive");
            assert!(expires <= Duration::from_secs(30) && expires > Duration::from_secs(28), "{expires:?}");
            drop(program);
            assert_eq!(ends.expires(), None, "a socket that is closed");
        }
    }

    #[test]
    fn silence_is_the_longest_that_was_seen_since_it_was_set() {
        let began = Instant::now();
        let at = |ms| began + Duration::from_millis(ms);
        let ms = Duration::from_millis;
        let mut estimate = Estimate::default();
        assert_eq!(estimate.keep_alive(), None);
        // SO_KEEPALIVE alone: Linux's two hours, and its 75 s nine times.
        estimate.see(at(0), ms(7_199_900));
        assert_eq!(estimate.keep_alive(), Some(KeepAlive { idle: 7200, interval: 75, probes: 9 }));
        // TCP_KEEPIDLE of 3 s a moment later: 3 s, then 3 probes, as long again.
        estimate.see(at(200), ms(2_900));
        assert_eq!(estimate.keep_alive(), Some(KeepAlive { idle: 3, interval: 1, probes: 3 }));
        // The same timer, seen later, and armed again for what is left.
        estimate.see(at(1_100), ms(2_000));
        estimate.see(at(3_500), ms(1_500));
        assert_eq!(estimate.keep_alive(), Some(KeepAlive { idle: 3, interval: 1, probes: 3 }));
    }

    #[tokio::test]
    async fn what_a_peer_says_is_applied_within_what_the_kernel_takes() {
        let [stream, _other] = pair("127.0.0.1:0").await;
        apply(&stream, KeepAlive { idle: 60, interval: 20, probes: 3 });
        assert_eq!(applied(&stream), KeepAlive { idle: 60, interval: 20, probes: 3 });
        apply(&stream, KeepAlive { idle: 0, interval: u32::MAX, probes: u32::MAX });
        assert_eq!(applied(&stream), KeepAlive { idle: 1, interval: 32_767, probes: 127 });
    }
}
