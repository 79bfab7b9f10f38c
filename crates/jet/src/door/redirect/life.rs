//! Whether the process that has set something up still lives.

use std::os::fd::{AsFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};

use crate::handover::Inherited;

/// A name that one process of a network namespace holds: an abstract Unix socket. The kernel frees it however the
/// process ends.
#[derive(Debug)]
pub struct Life(UnixListener);

impl Life {
    /// Takes the name, unless another process holds it.
    pub fn hold(name: &str) -> Option<Self> {
        UnixListener::bind_addr(&address(name)?).ok().map(Self)
    }
    /// The socket, for a successor.
    pub fn share(&self) -> Option<OwnedFd> {
        self.0.as_fd().try_clone_to_owned().ok()
    }
    /// Shares the name with a predecessor.
    pub fn inherit(name: &str, inherited: &Inherited) -> Option<Self> {
        let name = address(name)?;
        inherited.unix(|own| own.as_abstract_name() == name.as_abstract_name()).map(Self)
    }
}

/// Whether a process holds the name.
pub fn is_held(name: &str) -> bool {
    address(name).is_some_and(|address| UnixStream::connect_addr(&address).is_ok())
}

fn address(name: &str) -> Option<SocketAddr> {
    SocketAddr::from_abstract_name(format!("trunkline-jet-{name}")).ok()
}
