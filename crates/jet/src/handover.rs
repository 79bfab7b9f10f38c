//! A gateway's new process takes the place of its old one, and nobody who comes meanwhile is turned away.
//!
//! The old process starts the new one with one end of a Unix socket as its standard input, and sends its listeners over it (SCM_RIGHTS, unix(7)): whoever waits in them waits for both. When the
//! new one has opened all that it was told to it says so there, and from then on the old one only brings to an end what it has. If the new one fails, the old one goes on.

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};
use std::env;
use std::io::{self, IoSlice, IoSliceMut, Write};
use std::mem::MaybeUninit;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::time::timeout;

/// Says to a process that it takes another's place.
const VARIABLE: &str = "TRUNKLINE_JET_SUCCESSOR";
/// Descriptors in a message; the kernel takes 253 (SCM_MAX_FD).
const AT_ONCE: usize = 128;
/// What messages say.
const LISTENERS: u8 = b'l';
const NO_MORE: u8 = b'.';
const READY: u8 = b'!';
/// A new process that has not opened everything by then is given up.
const PATIENCE: Duration = Duration::from_mins(1);

/// The listeners of the process whose place this one takes; none where it takes nobody's.
#[derive(Debug, Default)]
pub struct Inherited {
    listeners: Mutex<Vec<OwnedFd>>,
    predecessor: Option<UnixStream>,
}

impl Inherited {
    /// What this process was started with.
    pub fn receive() -> io::Result<Self> {
        if env::var_os(VARIABLE).is_none() {
            return Ok(Self::default());
        }
        let predecessor = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
        predecessor.set_read_timeout(Some(PATIENCE))?;
        let mut listeners = Vec::new();
        loop {
            let mut said = [0];
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(AT_ONCE))];
            let mut control = RecvAncillaryBuffer::new(&mut space);
            recvmsg(&predecessor, &mut [IoSliceMut::new(&mut said)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
            for message in control.drain() {
                if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                    listeners.extend(descriptors);
                }
            }
            match said {
                [LISTENERS] => {}
                [NO_MORE] => break,
                _ => return Err(io::ErrorKind::UnexpectedEof.into()),
            }
        }
        Ok(Self { listeners: Mutex::new(listeners), predecessor: Some(predecessor) })
    }

    /// The listener at an address, if it was inherited.
    pub fn tcp(&self, address: SocketAddr) -> Option<TcpListener> {
        let is = |listener: &TcpListener| listener.local_addr().is_ok_and(|own| own == address);
        self.take(TcpListener::from, is)
    }
    /// The Unix listener of which this holds.
    pub(crate) fn unix(&self, is: impl Fn(&std::os::unix::net::SocketAddr) -> bool) -> Option<UnixListener> {
        self.take(UnixListener::from, |listener| listener.local_addr().is_ok_and(|own| is(&own)))
    }
    fn take<T: AsFd>(&self, from: impl Fn(OwnedFd) -> T, is: impl Fn(&T) -> bool) -> Option<T> {
        let mut listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |descriptor: &OwnedFd| descriptor.try_clone().is_ok_and(|copy| is(&from(copy)));
        let place = listeners.iter().position(same)?;
        Some(from(listeners.swap_remove(place)))
    }

    /// All is open: the predecessor may go. What of its listeners nobody has asked for is closed.
    pub fn ready(self) -> io::Result<()> {
        self.predecessor.map_or(Ok(()), |mut predecessor| predecessor.write_all(&[READY]))
    }
}

/// Starts a process that is to take this one's place, with these listeners, and waits until it has; gives its number. After an error there is no such process.
pub async fn succeed(mut command: Command, listeners: &[BorrowedFd<'_>]) -> io::Result<u32> {
    let (link, theirs) = UnixStream::pair()?;
    let mut child = command.env(VARIABLE, "1").stdin(OwnedFd::from(theirs)).spawn()?;
    // So that nobody but the new process holds the other end.
    drop(command);
    let became = match send(&link, listeners) {
        Ok(()) => answer(link).await,
        Err(error) => Err(error),
    };
    if let Err(error) = became {
        let _ = child.kill();
        let ended = child.wait()?;
        return Err(io::Error::new(error.kind(), format!("the new process has not taken over ({error}; {ended})")));
    }
    Ok(child.id())
}

fn send(link: &UnixStream, listeners: &[BorrowedFd<'_>]) -> io::Result<()> {
    for some in listeners.chunks(AT_ONCE) {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(AT_ONCE))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        control.push(SendAncillaryMessage::ScmRights(some));
        sendmsg(link, &[IoSlice::new(&[LISTENERS])], &mut control, SendFlags::NOSIGNAL)?;
    }
    sendmsg(link, &[IoSlice::new(&[NO_MORE])], &mut SendAncillaryBuffer::default(), SendFlags::NOSIGNAL)?;
    Ok(())
}

async fn answer(link: UnixStream) -> io::Result<()> {
    link.set_nonblocking(true)?;
    let mut link = tokio::net::UnixStream::from_std(link)?;
    match timeout(PATIENCE, link.read_u8()).await {
        Ok(Ok(READY)) => Ok(()),
        Ok(Ok(_)) => Err(io::ErrorKind::InvalidData.into()),
        Ok(Err(error)) => Err(error),
        Err(_) => Err(io::ErrorKind::TimedOut.into()),
    }
}
