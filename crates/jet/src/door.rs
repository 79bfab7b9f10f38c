//! The front doors: each takes programs' connections its own way and hands them on as [`Accepted`].

use tokio::net::TcpStream;

use crate::Destination;

/// A program's connection that a door has taken, before anyone has tried to reach its destination.
#[derive(Debug)]
pub struct Accepted {
    pub stream: TcpStream,
    pub to: Destination,
    pub answer: Answer,
}

/// How the program learns whether its destination was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The kernel has told it already: success is silent, failure can only be a reset.
    Established,
    /// A SOCKS5 reply is due (RFC 1928, section 6), with the reason of a failure.
    Socks5,
}
