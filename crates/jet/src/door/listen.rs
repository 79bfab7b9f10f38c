//! Listeners, and the loop that every door has around its own.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use rustix::io::Errno;
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::sync::{Semaphore, watch};
use tokio::time;

use super::{Accepted, DoorError, Hall};
use crate::handover::Inherited;
use crate::udp::Relay;
use crate::{Destination, Refusal};

/// Connections at a door that have not said yet where they want to go. More wait in the kernel's queue.
const STRANGERS: usize = 1024;

/// How long they have for it.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// How long a door rests that gets no descriptor or memory for a connection.
pub const EXHAUSTED: Duration = Duration::from_millis(100);

/// How long a door that closes takes what comes: it was sent here before the way was shut.
const SETTLE: Duration = Duration::from_secs(1);

/// Listens, or goes on listening where another process has.
pub async fn bind(address: SocketAddr, inherited: &Inherited) -> Result<TcpListener, DoorError> {
    let bound = match inherited.tcp(address) {
        Some(listener) => TcpListener::from_std(listener),
        None => TcpListener::bind(address).await,
    };
    bound.map_err(|cause| DoorError::Listen { address: address.to_string(), cause })
}

/// Takes datagrams at an address, or goes on where another process has.
pub async fn bind_udp(address: SocketAddr, inherited: &Inherited) -> Result<UdpSocket, DoorError> {
    let bound = match inherited.udp(address) {
        Some(socket) => UdpSocket::from_std(socket),
        None => UdpSocket::bind(address).await,
    };
    bound.map_err(|cause| DoorError::Listen { address: format!("{address} (UDP)"), cause })
}

/// Takes datagrams until the door closes; what `read` does the [relay](Relay::run) says.
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

/// Takes connections until the door closes, and returns when those that have come are dealt with: `recognise` finds out where one wants to go, or gives `None` for one to be closed.
pub async fn serve<F, R>(listener: TcpListener, door: &'static str, hall: Hall, recognise: F)
where
    F: Fn(TcpStream) -> R,
    R: Future<Output = Option<Accepted>> + Send + 'static,
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
                let recognised = recognise(stream);
                let out = hall.out.clone();
                tokio::spawn(async move {
                    if let Ok(Some(accepted)) = time::timeout(PATIENCE, recognised).await {
                        // Nobody takes it when the gateway is ending.
                        if let Err(left) = out.send(accepted).await {
                            left.0.refused(Refusal::NoGateway).await;
                        }
                    }
                    drop(place);
                });
            }
            Err(error) if is_about_one_connection(&error) => {}
            Err(error) => {
                if !exhausted {
                    hall.log
                        .note(&format!("the {door} door cannot take connections for the moment"), &error.to_string());
                    exhausted = true;
                }
                time::sleep(EXHAUSTED).await;
            }
        }
    }
    drop(listener);
    let _ = places.acquire_many(STRANGERS as u32).await;
}

/// Whether `accept` failed for a reason of the connection that was next (accept(2)), rather than of this process or host.
fn is_about_one_connection(error: &io::Error) -> bool {
    !matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM))
}
