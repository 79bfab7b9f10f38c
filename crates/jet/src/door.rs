//! The front doors: each takes programs' connections its own way and hands them on as [`Accepted`].
//!
//! | door | takes | learns the destination from |
//! |---|---|---|
//! | [`Forward`] | connections to its own port | its configuration |
//! | [`ForwardUdp`] | datagrams to its own port | its configuration |
//! | [`Socks5`] | programs that speak SOCKS5, and their datagrams | their request, and each datagram |
//! | [`Preload`] | programs started by `jet run` | the library in them that redirects `connect` |
//! | [`Redirection`] | what the kernel redirects: this host's, a container's, a router's | the kernel |

mod forward;
mod listen;
pub mod preload;
pub mod redirect;
pub mod socks5;

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use tokio::net::TcpStream;
use tokio::sync::{oneshot, watch};
use tokio::task::{JoinSet, spawn_blocking};

use crate::handover::Inherited;
use crate::log::Log;
use crate::program::{self, Ended};
use crate::{Destination, Doors, Refusal};
pub use forward::{Forward, ForwardUdp};
pub use preload::Preload;
pub use redirect::Redirection;
pub use socks5::Socks5;

/// A program's connection that a door has taken, before anyone has tried to reach its destination.
#[derive(Debug)]
pub struct Accepted {
    pub stream: TcpStream,
    pub to: Destination,
    pub answer: Answer,
}

/// How the program learns whether its destination was reached.
#[derive(Debug)]
pub enum Answer {
    /// The kernel has told it already: success is silent, failure can only be a reset.
    Established,
    /// A SOCKS5 reply is due (RFC 1928, section 6), with the reason of a failure.
    Socks5,
    /// Its `connect` waits in the preloaded library, for nothing or the reason of a failure.
    Preload(oneshot::Sender<Option<Refusal>>),
}

impl Accepted {
    /// The destination was reached: tells the program, and gives its stream for bytes to flow.
    pub async fn opened(mut self) -> io::Result<TcpStream> {
        match self.answer {
            Answer::Established => {}
            Answer::Socks5 => socks5::reply(&mut self.stream, None).await?,
            // A program that has gone meanwhile is noticed at its stream.
            Answer::Preload(waiting) => {
                let _ = waiting.send(None);
            }
        }
        Ok(self.stream)
    }

    /// The destination was not reached: tells the program why, as far as it can be told, and ends its connection.
    pub async fn refused(mut self, why: Refusal) {
        let told = match self.answer {
            Answer::Socks5 => socks5::reply(&mut self.stream, Some(why)).await.is_ok(),
            Answer::Preload(waiting) => {
                let _ = waiting.send(Some(why));
                false
            }
            Answer::Established => false,
        };
        // Where nothing could be said a reset is the only word for a failure.
        program::close_as(&self.stream, if told { Ended::Properly } else { Ended::Reset });
    }
}

/// What can be opened.
#[derive(Debug)]
pub enum Front {
    Forward(Forward),
    ForwardUdp(ForwardUdp),
    Socks5(Socks5),
    Preload(Preload),
    Redirection(Redirection),
}

impl Front {
    /// Opens the door: from now on what it takes goes to `out`, and when that is full, programs wait.
    pub async fn open(self, out: Doors, log: &Log, inherited: &Inherited) -> Result<Door, DoorError> {
        let closing = watch::Sender::new(false);
        let hall = Hall { out, log: log.clone(), closing: closing.subscribe() };
        let open = match self {
            Self::Forward(forward) => forward.open(hall, inherited).await,
            Self::ForwardUdp(forward) => forward.open(hall, inherited).await,
            Self::Socks5(socks5) => socks5.open(hall, inherited).await,
            Self::Preload(preload) => preload.open(hall, inherited).await,
            Self::Redirection(redirection) => redirection.open(hall, inherited).await,
        }?;
        let Open { addresses, listeners, trace, tasks } = open;
        Ok(Door { addresses, listeners, trace, closing, tasks })
    }
}

/// What is behind every door.
#[derive(Clone)]
struct Hall {
    out: Doors,
    log: Log,
    /// Whether the door is being closed.
    closing: watch::Receiver<bool>,
}

/// What has come about by opening a door.
struct Open {
    addresses: Vec<SocketAddr>,
    listeners: Vec<OwnedFd>,
    trace: Option<Trace>,
    tasks: JoinSet<()>,
}

/// A door that is open; it closes, and leaves no trace, when this is dropped. What it has handed on goes on.
#[derive(Debug)]
pub struct Door {
    /// Where it listens.
    pub addresses: Vec<SocketAddr>,
    /// The same sockets once more, for a process that takes this one's place.
    listeners: Vec<OwnedFd>,
    trace: Option<Trace>,
    closing: watch::Sender<bool>,
    tasks: JoinSet<()>,
}

impl Door {
    /// What a process inherits that takes this one's place, and opens the same door.
    pub fn listeners(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.listeners.iter().map(AsFd::as_fd)
    }
    /// Takes nothing new; returns when those who are at the door have been seen to. What stands outside of this process is removed, or left to a `successor`.
    pub async fn close(mut self, successor: bool) {
        self.listeners.clear();
        if let Some(mut trace) = self.trace.take() {
            if successor {
                trace.leave();
            }
            // It waits for another process.
            let _ = spawn_blocking(move || drop(trace)).await;
        }
        self.closing.send_replace(true);
        while self.tasks.join_next().await.is_some() {}
    }
}

/// What a door has set up outside of its process, and takes away when it is dropped.
#[derive(Debug)]
enum Trace {
    Preload(preload::SocketFile),
    Redirection(redirect::Installed),
}

impl Trace {
    /// What a successor uses too stays.
    fn leave(&mut self) {
        match self {
            Self::Preload(file) => file.leave(),
            Self::Redirection(installed) => installed.leave(),
        }
    }
}

/// Why a door cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum DoorError {
    /// Anyone on the network could use the gateway.
    #[error("{address} is not a loopback address, and {door} there would serve anyone who reaches it: {remedy}")]
    Exposed { door: &'static str, address: SocketAddr, remedy: &'static str },
    #[error("cannot listen on {address}: {cause}")]
    Listen { address: String, cause: io::Error },
    #[error("another gateway listens on {}", .0.display())]
    Occupied(PathBuf),
    /// This host, or the caller's rights, do not suffice.
    #[error("{what} needs {needs}: {cause}")]
    Capability { what: &'static str, needs: &'static str, cause: String },
    #[error("{0}")]
    Redirection(String),
}
