//! Listeners, and the loop that every door has around its own.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use rustix::io::Errno;
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::sync::{Semaphore, watch};
use tokio::time;

use super::{Accepted, DoorError, Hall};
use crate::handover::Inherited;
use crate::refusals::Cause;
use crate::udp::Relay;
use crate::{Destination, Refusal};

/// Connections at a door whose destination is not known yet. More wait in the kernel's queue.
const STRANGERS: usize = 1024;

/// Time for a program to say where it wants to go.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// Pause after `accept` found no descriptor or memory.
pub const EXHAUSTED: Duration = Duration::from_millis(100);

/// A closing door still takes connections for this long: they were redirected before the rules went.
const SETTLE: Duration = Duration::from_secs(1);

/// Listens, or takes over the listener of a predecessor.
pub async fn bind(address: SocketAddr, inherited: &Inherited) -> Result<TcpListener, DoorError> {
    let bound = match inherited.tcp(address) {
        Some(listener) => TcpListener::from_std(listener),
        None => TcpListener::bind(address).await,
    };
    bound.map_err(|cause| DoorError::Listen { address: address.to_string(), cause })
}

/// Binds a socket for datagrams, or takes over a predecessor's.
pub async fn bind_udp(address: SocketAddr, inherited: &Inherited) -> Result<UdpSocket, DoorError> {
    let bound = match inherited.udp(address) {
        Some(socket) => UdpSocket::from_std(socket),
        None => UdpSocket::bind(address).await,
    };
    bound.map_err(|cause| DoorError::Listen { address: format!("{address} (UDP)"), cause })
}

/// Takes datagrams until the door closes. [`Relay::run`](Relay::run) says what `read` returns.
pub async fn relay(
    relay: Relay,
    mut closing: watch::Receiver<bool>,
    read: impl FnMut(SocketAddr, Option<SocketAddr>, &[u8]) -> Option<(Destination, usize)>,
) {
    tokio::select! {
        () = relay.run(read) => {}
        () = self::closing(&mut closing) => {}
    }
}

/// Waits until a door is being closed.
pub async fn closing(closing: &mut watch::Receiver<bool>) {
    let _ = closing.wait_for(|closing| *closing).await;
}

/// What has become of a connection at a door.
pub enum Recognised {
    /// Its destination is known.
    Accepted(Accepted),
    /// It is served otherwise, or its program has been told why not.
    Served,
    /// Its destination is not known, for this reason; it is closed.
    Unclear(&'static str),
}

/// Why a connection is closed that says nothing.
const SILENT: &str = "the program did not say within 10 s where to";

/// Accepts connections until the door closes, and returns when the accepted ones are dealt with. `recognise` finds a
/// connection's destination.
pub async fn serve<F, R>(listener: TcpListener, door: &'static str, hall: Hall, recognise: F)
where
    F: Fn(TcpStream) -> R,
    R: Future<Output = Recognised> + Send + 'static,
{
    let places = Arc::new(Semaphore::new(STRANGERS));
    let mut exhausted = false;
    let mut closing = hall.closing.clone();
    let mut closed = pin!(async {
        self::closing(&mut closing).await;
        time::sleep(SETTLE).await;
    });
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = hall.out.closed() => return,
            () = &mut closed => break,
        };
        match accepted {
            Ok((stream, _)) => {
                exhausted = false;
                let _ = stream.set_nodelay(true);
                let mut recognised = Box::pin(recognise(stream));
                // What is known at once is handed on in the order of arrival.
                match std::future::poll_fn(|cx| Poll::Ready(recognised.as_mut().poll(cx))).await {
                    Poll::Ready(recognised) => hand_on(recognised, door, &hall).await,
                    Poll::Pending => {
                        let hall = hall.clone();
                        tokio::spawn(async move {
                            let recognised = time::timeout(PATIENCE, recognised).await;
                            hand_on(recognised.unwrap_or(Recognised::Unclear(SILENT)), door, &hall).await;
                            drop(place);
                        });
                    }
                }
            }
            Err(error) if is_about_one_connection(&error) => {}
            Err(error) => {
                if !exhausted {
                    let what = format!("the {door} door cannot take connections for the moment");
                    hall.log.refused(Cause::of(&error), None, &what, &error.to_string());
                    exhausted = true;
                }
                time::sleep(EXHAUSTED).await;
            }
        }
    }
    drop(listener);
    let _ = places.acquire_many(STRANGERS as u32).await;
}

/// Hands a connection on to the gateway, or says why not.
async fn hand_on(recognised: Recognised, door: &'static str, hall: &Hall) {
    match recognised {
        Recognised::Accepted(accepted) => {
            // The receiver is gone when the gateway is ending.
            if let Err(left) = hall.out.send(accepted).await {
                left.0.refused(Refusal::NoGateway).await;
            }
        }
        Recognised::Unclear(why) => {
            let what = format!("a connection at the {door} door is closed");
            hall.log.refused(Cause::NoDestination, None, &what, why);
        }
        Recognised::Served => {}
    }
}

/// Whether `accept` failed for a reason of the next connection (accept(2)) rather than of this process or host.
fn is_about_one_connection(error: &io::Error) -> bool {
    !matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM))
}
