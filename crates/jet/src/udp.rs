//! Datagrams between sockets and the session. The far end has one socket for each flow, connected to its destination;
//! the near end's part is `relay`.

mod relay;
pub(crate) mod transparent;

pub use relay::Flows;
pub(crate) use relay::{PROGRAMS, Relay};

use crate::by_peer::ByPeer;
use crate::door::redirect;
use crate::far::errno;
use crate::keys::Fingerprint;
use crate::log::Log;
use crate::options::Udp;
use crate::refusals::Cause;
use crate::scratch;
use crate::shared_session::SharedSession;
use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use stripe::session::Arrived;
use stripe::wire::Destination;
use tokio::net::UdpSocket;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// Datagrams read in a row before others have their turn.
const TURNS: usize = 32;
/// A flow that has ended leaves its place to another within this.
const MAKE_ROOM: Duration = Duration::from_secs(1);

/// The next datagram of a flow, or why there is none any more.
async fn arrived(shared: &SharedSession, flow: u32) -> Result<Vec<u8>, u32> {
    poll_fn(|cx| match shared.serve_flow(flow, cx.waker(), |session| session.take_datagram(flow)) {
        Arrived::Datagram(bytes) => Poll::Ready(Ok(bytes)),
        Arrived::Nothing => Poll::Pending,
        Arrived::Over(code) => Poll::Ready(Err(code)),
    })
    .await
}
/// Until a flow is over.
async fn over(shared: &SharedSession, flow: u32) {
    let is_over =
        |cx: &mut std::task::Context<'_>| shared.serve_flow(flow, cx.waker(), |session| session.is_flow_over(flow));
    poll_fn(|cx| if is_over(cx) { Poll::Ready(()) } else { Poll::Pending }).await;
}

// === The far end ===

/// Permits for flows at a far gateway, in all and for each peer: each flow takes a socket.
#[derive(Debug)]
pub(crate) struct FlowPlaces {
    each: usize,
    all: Arc<Semaphore>,
    peers: ByPeer<Semaphore>,
}

impl FlowPlaces {
    pub fn new(udp: Udp) -> Self {
        let all = Arc::new(Semaphore::new(udp.flows_in_all as usize));
        Self { each: udp.flows as usize, all, peers: ByPeer::default() }
    }
    /// The permits of a peer: its own, and everyone's.
    pub fn of(&self, peer: Fingerprint) -> [Arc<Semaphore>; 2] {
        [self.peers.of(peer, || Arc::new(Semaphore::new(self.each))), Arc::clone(&self.all)]
    }
}

/// Serves a flow that the peer has opened: to `reached` if there is room for it, until it is over.
pub(crate) async fn serve(
    shared: &SharedSession,
    flow: u32,
    to: &Destination,
    places: &[Arc<Semaphore>; 2],
    reached: impl Future<Output = io::Result<UdpSocket>>,
    log: &Log,
) {
    let served = async {
        let [own, all] = places;
        let room = timeout(MAKE_ROOM, async { (own.acquire().await, all.acquire().await) });
        let Ok((Ok(_own), Ok(_all))) = room.await else {
            return Err(io::Error::from_raw_os_error(libc::ENOBUFS));
        };
        carry(shared, flow, &reached.await?).await;
        Ok(())
    };
    let ended = tokio::select! {
        ended = served => ended,
        () = over(shared, flow) => Ok(()),
    };
    // P-41: the error as the system's number.
    let code = ended.as_ref().err().map_or(0, errno);
    if let Err(error) = &ended {
        match error.kind() {
            io::ErrorKind::PermissionDenied => {
                let what = format!("UDP to {to} is not allowed");
                log.refused(Cause::NotAllowed, Some(&shared.peer), &what, "no --allow rule has it");
            }
            _ => log.refused(Cause::of(error), Some(&shared.peer), &format!("no UDP to {to}"), &error.to_string()),
        }
    }
    shared.close_flow(flow, code);
}

/// A socket for one destination: the first of its addresses to which there is a route. The kernel lets in only what
/// comes from there.
pub(crate) async fn connect(addresses: Vec<SocketAddr>) -> io::Result<UdpSocket> {
    // A flow has one other end.
    let one = |address: &SocketAddr| !address.ip().is_multicast() && address.ip() != IpAddr::V4(Ipv4Addr::BROADCAST);
    let mut failed = io::Error::from_raw_os_error(libc::EACCES);
    for address in addresses.into_iter().filter(one) {
        let any: IpAddr = if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        let socket = UdpSocket::bind(SocketAddr::new(any, 0)).await?;
        // The mark keeps a near gateway on this host from redirecting the datagrams.
        let _ = redirect::exempt(&socket);
        match socket.connect(address).await {
            Ok(()) => return Ok(socket),
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

/// Both directions of a flow, until it is over. An ICMP refusal from the destination ends nothing: somebody may listen
/// there a moment later.
async fn carry(shared: &SharedSession, flow: u32, socket: &UdpSocket) {
    let outwards = async {
        while let Ok(bytes) = arrived(shared, flow).await {
            // UDP may lose it.
            let _ = socket.send(&bytes).await;
        }
    };
    let inwards = async {
        while socket.readable().await.is_ok() {
            shared.work(|session, now| {
                scratch::with(|scratch| {
                    for _ in 0..TURNS {
                        match socket.try_recv(scratch) {
                            Ok(count) => drop(session.send_datagram(now, flow, &scratch[..count])),
                            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                            // An ICMP error for an earlier datagram.
                            Err(_) => {}
                        }
                    }
                });
            });
        }
    };
    tokio::select! {
        () = outwards => {}
        () = inwards => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_flow_has_one_other_end() {
        for many in ["224.0.0.251:5353", "255.255.255.255:9", "[ff02::fb]:5353"] {
            let error = connect(vec![many.parse().unwrap()]).await.unwrap_err();
            assert_eq!(error.raw_os_error(), Some(libc::EACCES), "{many}");
        }
        let socket = connect(vec!["224.0.0.251:5353".parse().unwrap(), "127.0.0.1:9".parse().unwrap()]).await.unwrap();
        assert_eq!(socket.peer_addr().unwrap(), "127.0.0.1:9".parse().unwrap());
    }

    #[test]
    fn a_peer_keeps_its_places_as_long_as_it_has_sessions() {
        let room = FlowPlaces::new(Udp { flows: 2, flows_in_all: 3, ..Udp::default() });
        let (one, other) = (Fingerprint::of(b"one"), Fingerprint::of(b"other"));
        let [own, all] = room.of(one);
        assert!(own.try_acquire_many(2).is_ok() && all.try_acquire_many(4).is_err());
        let held = own.try_acquire_many(2).unwrap();
        assert!(room.of(one)[0].try_acquire().is_err() && room.of(other)[0].try_acquire().is_ok());
        drop(held);
        drop(own);
        assert_eq!(room.of(one)[0].available_permits(), 2);
    }
}
