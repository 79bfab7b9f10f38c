//! Sockets for datagrams that are for others: the kernel brings them here by TPROXY, and answers bear the expected
//! address.
//!
//! The kernel's side is in its Documentation/networking/tproxy.rst. The destination comes as a control message with
//! each datagram (ip(7), `IP_RECVORIGDSTADDR`).

use crate::door::redirect;
use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, SetSockOpt, SockaddrIn, SockaddrIn6, SockaddrStorage, recvmsg, sockopt,
};
use socket2::{Domain, Socket, Type};
use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use tokio::io::Interest;
use tokio::net::UdpSocket;

/// Has the kernel say of each datagram to whom it was sent.
pub fn ask_destinations(socket: &Socket, domain: Domain) -> io::Result<()> {
    let asked = if domain == Domain::IPV4 {
        sockopt::Ipv4OrigDstAddr.set(socket, &true)
    } else {
        sockopt::Ipv6OrigDstAddr.set(socket, &true)
    };
    Ok(asked?)
}

/// Reads a datagram: its length, who sent it and to whom.
pub fn try_receive(socket: &UdpSocket, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr, Option<SocketAddr>)> {
    let mut control = nix::cmsg_space!(libc::sockaddr_in6);
    socket.try_io(Interest::READABLE, || {
        let mut whole = [IoSliceMut::new(buffer)];
        let got =
            recvmsg::<SockaddrStorage>(socket.as_raw_fd(), &mut whole, Some(&mut control), MsgFlags::MSG_DONTWAIT)?;
        let from = got.address.as_ref().and_then(internet).ok_or(io::ErrorKind::InvalidData)?;
        let to = got.cmsgs()?.find_map(|message| match message {
            ControlMessageOwned::Ipv4OrigDstAddr(to) => Some(SocketAddr::V4(SockaddrIn::from(to).into())),
            ControlMessageOwned::Ipv6OrigDstAddr(to) => Some(SocketAddr::V6(SockaddrIn6::from(to).into())),
            _ => None,
        });
        Ok((got.bytes, from, to))
    })
}

fn internet(address: &SockaddrStorage) -> Option<SocketAddr> {
    let v4 = address.as_sockaddr_in().map(|address| SocketAddr::V4((*address).into()));
    v4.or_else(|| address.as_sockaddr_in6().map(|address| SocketAddr::V6((*address).into())))
}

/// A socket that sends from another host's address. It receives nothing: the kernel brings what is for that address to
/// the door.
pub fn speak_as(address: SocketAddr) -> io::Result<UdpSocket> {
    let domain = Domain::for_address(address);
    let socket = Socket::new(domain, Type::DGRAM, None)?;
    redirect::lend(&socket, domain)?;
    redirect::exempt(&socket)?;
    // Several programs may ask the same destination.
    socket.set_reuse_address(true)?;
    if domain == Domain::IPV6 {
        socket.set_only_v6(true)?;
    }
    socket.bind(&address.into())?;
    socket.set_nonblocking(true)?;
    UdpSocket::from_std(socket.into())
}
