//! The sockets of streams.

use crate::door::redirect;
use crate::options::Options;
use socket2::{SockRef, TcpKeepalive};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;
use std::time::Duration;
use stripe::optimizer::Law;
use tokio::net::{TcpSocket, TcpStream};
use units::{BitRate, Time};

/// Data that nobody acknowledges for this long means that the stream is dead.
const USER_TIMEOUT: Duration = Duration::from_secs(10);
/// A stream takes more while less than it sends in this time is unsent in its socket: what lies there can no longer go elsewhere, and whatever comes behind waits for it. It has to last until
/// the gateway has its turn on a busy host.
const UNSENT: Time = Time::from_ms(10);
const UNSENT_BYTES: [u64; 2] = [16 << 10, 256 << 10];

/// Whence a stream leaves: one of the paths between two gateways.
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

/// What every stream's socket gets, at both ends.
pub(crate) fn prepare(socket: &impl AsFd, options: &Options) -> io::Result<()> {
    let socket = SockRef::from(socket);
    socket.set_tcp_nodelay(true)?;
    socket.set_tcp_user_timeout(Some(USER_TIMEOUT))?;
    socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(Duration::from_secs(15)))?;
    if let Some(control) = &options.congestion {
        socket.set_tcp_congestion(control.as_bytes())?;
    }
    Ok(())
}
/// How the congestion control of a stream's socket shares, if there is a model of it.
pub(crate) fn law(socket: &impl AsFd) -> Law {
    match SockRef::from(socket).tcp_congestion() {
        Ok(name) if name.starts_with(b"cubic") => Law::Cubic,
        Ok(name) if name.starts_with(b"reno") => Law::Reno,
        _ => Law::Unknown,
    }
}
/// How much may be unsent in the socket of a stream of this rate.
pub(crate) fn unsent(rate: BitRate) -> u32 {
    rate.bytes_in(UNSENT).get().clamp(UNSENT_BYTES[0], UNSENT_BYTES[1]) as u32
}
/// Lets a socket take no more while so much is unsent.
pub(crate) fn limit_unsent(socket: &impl AsFd, bytes: u32) {
    // A kernel that does not know the option (Linux before 3.12) queues more: slower to change its mind, but right.
    let _ = SockRef::from(socket).set_tcp_notsent_lowat(bytes);
}
/// Buffers of a fixed size have to be set before the connection is made, or its window scale is another's.
pub(crate) fn limit(socket: &impl AsFd, options: &Options) -> io::Result<()> {
    if let Some(bytes) = options.buffer() {
        let socket = SockRef::from(socket);
        socket.set_send_buffer_size(bytes)?;
        socket.set_recv_buffer_size(bytes)?;
    }
    Ok(())
}

/// Connects a stream.
pub(crate) async fn dial(to: SocketAddr, via: Option<&Via>, options: &Options) -> io::Result<TcpStream> {
    let socket = if to.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    prepare(&socket, options)?;
    limit(&socket, options)?;
    // Who may not mark sockets may not redirect connections either.
    let _ = redirect::exempt(&socket);
    match via {
        Some(Via::Address(address)) => socket.bind(SocketAddr::new(*address, 0))?,
        Some(Via::Interface(name)) => SockRef::from(&socket).bind_device(Some(name.as_bytes()))?,
        None => {}
    }
    socket.connect(to).await
}
