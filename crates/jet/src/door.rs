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
    /// The connection of the program with the door.
    pub stream: TcpStream,
    /// Where the program wants to go.
    pub to: Destination,
    /// How to report the outcome to the program.
    pub answer: Answer,
}

/// How the program learns whether its destination was reached.
#[derive(Debug)]
pub enum Answer {
    /// The kernel has told it already: success is silent, failure can only be a reset.
    Established,
    /// A SOCKS5 reply is due (RFC 1928, section 6), with the reason of a failure.
    Socks5,
    /// The program's `connect` waits in the preloaded library, for success or the reason of a failure.
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

/// The doors that can be opened.
#[derive(Debug)]
pub enum Front {
    /// A port that stands for one destination.
    Forward(Forward),
    /// A port for datagrams that stands for one destination.
    ForwardUdp(ForwardUdp),
    /// A SOCKS5 proxy.
    Socks5(Socks5),
    /// The door of programs that `jet run` starts.
    Preload(Preload),
    /// Connections that the kernel redirects.
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

/// What every door has behind it.
#[derive(Clone)]
struct Hall {
    out: Doors,
    log: Log,
    /// Whether the door is being closed.
    closing: watch::Receiver<bool>,
}

/// An open door: its task, its sockets, and what it has set up outside of the process.
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
    /// Duplicates of the listening sockets, for a process that takes this one's place.
    listeners: Vec<OwnedFd>,
    trace: Option<Trace>,
    closing: watch::Sender<bool>,
    tasks: JoinSet<()>,
}

impl Door {
    /// The sockets that a successor process inherits to open the same door.
    pub fn listeners(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.listeners.iter().map(AsFd::as_fd)
    }
    /// Accepts nothing new, and returns when the programs at the door are dealt with. What stands outside of this
    /// process is removed, or left to a `successor`.
    pub async fn close(mut self, successor: bool) {
        self.listeners.clear();
        if let Some(mut trace) = self.trace.take() {
            if successor {
                trace.leave();
            } else {
                trace.end();
            }
            // Dropping it waits for another process.
            let _ = spawn_blocking(move || drop(trace)).await;
        }
        self.closing.send_replace(true);
        while self.tasks.join_next().await.is_some() {}
    }
}

/// State outside of the process (rules, routes, files), removed when this is dropped.
#[derive(Debug)]
enum Trace {
    Preload(preload::SocketFile),
    Redirection(redirect::Installed),
}

impl Trace {
    /// Keeps what a successor uses too.
    fn leave(&mut self) {
        match self {
            Self::Preload(file) => file.leave(),
            Self::Redirection(installed) => installed.leave(),
        }
    }
    /// Keeps nothing, also of what a killed gateway had left.
    fn end(&mut self) {
        if let Self::Redirection(installed) = self {
            installed.end();
        }
    }
}

/// Why a door cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum DoorError {
    /// Anyone on the network could use the gateway.
    #[error("{address} is not a loopback address, and {door} there would serve anyone who reaches it: {remedy}")]
    Exposed {
        /// The kind of door.
        door: &'static str,
        /// Where it was to listen.
        address: SocketAddr,
        /// What to do instead.
        remedy: &'static str,
    },
    /// The listening socket failed.
    #[error("cannot listen on {address}: {cause}")]
    Listen {
        /// Where it was to listen.
        address: String,
        /// The system's error.
        cause: io::Error,
    },
    /// Another gateway has this Unix socket.
    #[error("another gateway listens on {}", .0.display())]
    Occupied(PathBuf),
    /// This host, or the caller's rights, do not suffice.
    #[error("{what} needs {needs}: {cause}")]
    Capability {
        /// What was to be done.
        what: &'static str,
        /// The missing capability.
        needs: &'static str,
        /// How its absence was seen.
        cause: String,
    },
    /// A redirection that cannot be set up.
    #[error("{0}")]
    Redirection(String),
}
