//! The sockets of streams.

use crate::door::redirect;
use crate::options::Options;
use socket2::{SockRef, TcpKeepalive};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;
use tokio::net::{TcpSocket, TcpStream};

/// Data that nobody acknowledges for this long means that the stream is dead.
const USER_TIMEOUT: Duration = Duration::from_secs(10);
/// A stream takes more while less than this is unsent in its socket: what lies there can no longer go elsewhere, and whatever comes behind waits for it.
const NOTSENT_LOWAT: u32 = 128 << 10;

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
pub(crate) fn prepare(socket: &impl std::os::fd::AsFd, options: &Options) -> io::Result<()> {
    let socket = SockRef::from(socket);
    socket.set_tcp_nodelay(true)?;
    socket.set_tcp_user_timeout(Some(USER_TIMEOUT))?;
    socket.set_tcp_notsent_lowat(NOTSENT_LOWAT)?;
    socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(Duration::from_secs(15)))?;
    if let Some(control) = &options.congestion {
        socket.set_tcp_congestion(control.as_bytes())?;
    }
    Ok(())
}
/// Buffers of a fixed size have to be set before the connection is made, or its window scale is another's.
pub(crate) fn limit(socket: &impl std::os::fd::AsFd, options: &Options) -> io::Result<()> {
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
