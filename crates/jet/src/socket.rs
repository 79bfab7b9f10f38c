//! The sockets of streams.

use crate::door::redirect;
use crate::options::Options;
use crate::startup::Pacing;
use nix::setsockopt_impl;
use nix::sys::socket::{
    setsockopt,
    sockopt::{SetStruct, SndBufForce},
};
use socket2::{Domain, Protocol, SockRef, Socket, TcpKeepalive, Type};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::AsFd;
use std::time::Duration;
use stripe::optimizer::Law;
use tokio::net::{TcpSocket, TcpStream};
use units::{BitRate, Time};

/// A stream is dead when data is not acknowledged for this long.
const USER_TIMEOUT: Duration = Duration::from_secs(10);
/// A stream takes more while its socket has less unsent than it sends in this time. Unsent bytes can no longer go on
/// another stream, and delay what comes behind them; but they have to last until the gateway has its turn on a busy
/// host.
const UNSENT: Time = Time::from_ms(10);
const UNSENT_BYTES: [u64; 2] = [16 << 10, 256 << 10];

/// Send buffer of a stream, as set: the kernel doubles it in its own accounting, which has room for about 10 MB of
/// payload, 155 Mbit/s over half a second. Faster paths get more streams.
const SEND_BUFFER: usize = 8 << 20;

/// The local end of a path: an address or an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Via {
    /// A local address.
    Address(IpAddr),
    /// A network interface.
    Interface(String),
}

impl std::str::FromStr for Via {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(address) = text.parse() {
            return Ok(Self::Address(address));
        }
        // The kernel's rule for names of interfaces (IFNAMSIZ, dev_valid_name).
        let fits =
            !text.is_empty() && text.len() < 16 && !text.contains(['/', ':']) && !text.contains(char::is_whitespace);
        if fits {
            Ok(Self::Interface(text.to_owned()))
        } else {
            Err(format!("\"{text}\" is neither a local address nor the name of an interface"))
        }
    }
}

impl std::fmt::Display for Via {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Address(address) => address.fmt(f),
            Self::Interface(name) => name.fmt(f),
        }
    }
}

/// Sets the options of every stream's socket, at both ends.
pub(crate) fn prepare(owner: &impl AsFd, options: &Options) -> io::Result<()> {
    let socket = SockRef::from(owner);
    socket.set_tcp_nodelay(true)?;
    socket.set_tcp_user_timeout(Some(USER_TIMEOUT))?;
    socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(Duration::from_secs(15)))?;
    if let Some(control) = &options.congestion {
        socket.set_tcp_congestion(control.as_bytes())?;
    }
    if options.buffer().is_none() {
        // By itself the kernel goes up to the last number of `net.ipv4.tcp_wmem`, 4 MB. A full socket takes nothing
        // until a third of it is free, and what it has taken waits that long. Setting more needs CAP_NET_ADMIN; without
        // it more streams are used.
        let _ = setsockopt(owner, SndBufForce, &SEND_BUFFER);
    }
    Ok(())
}
/// How the congestion control of a stream's socket shares a bottleneck, if there is a model of it.
pub(crate) fn law(socket: &impl AsFd) -> Law {
    let name = SockRef::from(socket).tcp_congestion().unwrap_or_default();
    match name.split(|byte| *byte == 0).next().unwrap_or_default() {
        b"cubic" => Law::Cubic,
        b"reno" => Law::Reno,
        b"bbr" => Law::Bbr,
        _ => Law::Unknown,
    }
}
/// Limit of unsent bytes for a stream of this rate.
pub(crate) fn unsent(rate: BitRate) -> u32 {
    rate.bytes_in(UNSENT).get().clamp(UNSENT_BYTES[0], UNSENT_BYTES[1]) as u32
}
/// Limits the bytes unsent in a socket (`TCP_NOTSENT_LOWAT`).
pub(crate) fn limit_unsent(socket: &impl AsFd, bytes: u32) {
    // A kernel without the option (Linux before 3.12) queues more: slower to change its mind, but correct.
    let _ = SockRef::from(socket).set_tcp_notsent_lowat(bytes);
}
/// Sends an acknowledgement that the kernel delays (`TCP_QUICKACK`, which does not last).
pub(crate) fn acknowledge(socket: &impl AsFd) {
    // On failure it is sent when its delay is over.
    let _ = SockRef::from(socket).set_tcp_quickack(true);
}
nix::sockopt_impl!(
    /// The socket option `SO_MAX_PACING_RATE`, in bytes a second.
    MaxPacingRate, SetOnly, libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, u64, SetStruct<u64>
);
/// Limits the pacing rate of a socket.
pub(crate) fn pace(socket: &impl AsFd, pacing: Pacing) {
    let rate = match pacing {
        Pacing::Limited(rate) => rate.as_bps() / 8,
        Pacing::Free => u64::MAX,
    };
    // On failure the stream sends as before.
    let _ = setsockopt(socket, MaxPacingRate, &rate);
}
/// Sets buffers of a fixed size. That has to be before the connection is made, which fixes the window scale.
pub(crate) fn limit(socket: &impl AsFd, options: &Options) -> io::Result<()> {
    if let Some(bytes) = options.buffer() {
        let socket = SockRef::from(socket);
        socket.set_send_buffer_size(bytes)?;
        socket.set_recv_buffer_size(bytes)?;
    }
    Ok(())
}

/// Connects a stream, from the first free one of the source ports; from any port if there are none.
pub(crate) async fn dial(to: SocketAddr, via: Option<&Via>, ports: &[u16], options: &Options) -> io::Result<TcpStream> {
    for port in ports {
        match bound(to, via, *port, options) {
            Ok(socket) => match socket.connect(to).await {
                // Such as a connection in TIME-WAIT to the same address and port.
                Err(error) if error.kind() == io::ErrorKind::AddrNotAvailable => {}
                connected => return connected,
            },
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
            Err(error) => return Err(error),
        }
    }
    bound(to, via, 0, options)?.connect(to).await
}
fn bound(to: SocketAddr, via: Option<&Via>, port: u16, options: &Options) -> io::Result<TcpSocket> {
    let socket = if to.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    prepare(&socket, options)?;
    limit(&socket, options)?;
    // A process that may not mark sockets may not redirect connections either.
    let _ = redirect::exempt(&socket);
    let any = || if to.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let local = match via {
        Some(Via::Address(address)) => Some(*address),
        _ => (port > 0).then(any),
    };
    if let Some(Via::Interface(name)) = via {
        SockRef::from(&socket).bind_device(Some(name.as_bytes()))?;
    }
    if let Some(local) = local {
        socket.bind(SocketAddr::new(local, port))?;
    }
    Ok(socket)
}
/// The own address of connections to `to`.
pub(crate) fn own_address(to: SocketAddr, via: Option<&Via>) -> io::Result<IpAddr> {
    if let Some(Via::Address(address)) = via {
        return Ok(*address);
    }
    // Connecting a UDP socket sends nothing; the kernel only looks up the route.
    let socket = Socket::new(Domain::for_address(to), Type::DGRAM, Some(Protocol::UDP))?;
    if let Some(Via::Interface(name)) = via {
        socket.bind_device(Some(name.as_bytes()))?;
    }
    socket.connect(&to.into())?;
    socket.local_addr()?.as_socket().map(|address| address.ip()).ok_or_else(|| io::ErrorKind::Unsupported.into())
}
/// The device that has an address of this host.
pub(crate) fn device_of(address: IpAddr) -> Option<String> {
    let mut all = nix::ifaddrs::getifaddrs().ok()?;
    let has = |storage: &nix::sys::socket::SockaddrStorage| {
        storage.as_sockaddr_in().is_some_and(|own| IpAddr::V4(own.ip()) == address)
            || storage.as_sockaddr_in6().is_some_and(|own| IpAddr::V6(own.ip()) == address)
    };
    all.find(|entry| entry.address.as_ref().is_some_and(has)).map(|entry| entry.interface_name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp_info::TcpInfo;

    #[test]
    fn pacing_is_limited_and_free_again() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback");
        let stream = std::net::TcpStream::connect(listener.local_addr().expect("bound")).expect("loopback");
        let most = || TcpInfo::of(&stream).expect("a TCP socket").max_pacing_rate;
        let free = most();
        pace(&stream, Pacing::Limited(BitRate::from_bps(80_000_000_000)));
        assert_eq!(most(), 10_000_000_000, "more than 32 bits have");
        pace(&stream, Pacing::Free);
        assert_eq!(most(), free);
    }
}
