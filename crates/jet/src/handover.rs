//! A new process takes the place of a gateway, and nobody who connects meanwhile is turned away.
//!
//! The old process starts the new one with one end of a Unix socket as its standard input, and passes its listeners
//! over it (SCM_RIGHTS, unix(7)). Connections that wait in the listeners wait for both. When the new process has opened
//! all that it was told to, it says so on the socket; from then on the old one only finishes what it has. If the new
//! process fails, the old one continues.
//!
//! The new process is a child of the supervisor of both, because a process between the two has ended: systemd kills a
//! service at once whose main process is not its own child.

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use rustix::process::{Pid, Signal, kill_process};
use socket2::{SockRef, Type};
use std::env;
use std::io::{self, IoSlice, IoSliceMut, Write};
use std::mem::MaybeUninit;
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{self, Command};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::time::timeout;

/// Tells a process, in its environment, that it takes another's place or starts the one that does.
const VARIABLE: &str = "TRUNKLINE_JET_SUCCESSOR";
const STARTS: &str = "starts";
const SERVES: &str = "serves";
/// Descriptors in a message; the kernel takes 253 (SCM_MAX_FD).
const AT_ONCE: usize = 128;
/// Types of messages.
const LISTENERS: u8 = b'l';
const NO_MORE: u8 = b'.';
const READY: u8 = b'!';
/// Time for a new process to open everything.
const PATIENCE: Duration = Duration::from_mins(1);

/// The listeners inherited from a predecessor; empty without one.
#[derive(Debug, Default)]
pub struct Inherited {
    listeners: Mutex<Vec<OwnedFd>>,
    predecessor: Option<UnixStream>,
}

impl Inherited {
    /// What this process was started with. A process whose only task was to start the successor has done so, and ends
    /// here.
    pub fn receive() -> io::Result<Self> {
        match env::var_os(VARIABLE) {
            None => return Ok(Self::default()),
            Some(role) if role == STARTS => {
                Command::new(env::current_exe()?).args(env::args_os().skip(1)).env(VARIABLE, SERVES).spawn()?;
                process::exit(0);
            }
            Some(_) => {}
        }
        let mut predecessor = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
        predecessor.set_read_timeout(Some(PATIENCE))?;
        predecessor.write_all(&process::id().to_be_bytes())?;
        let mut listeners = Vec::new();
        loop {
            let mut said = [0];
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(AT_ONCE))];
            let mut control = RecvAncillaryBuffer::new(&mut space);
            let flags = RecvFlags::CMSG_CLOEXEC;
            let message = recvmsg(&predecessor, &mut [IoSliceMut::new(&mut said)], &mut control, flags)?;
            if message.flags.contains(ReturnFlags::CTRUNC) {
                // The kernel has dropped descriptors beyond the limit, without an error.
                return Err(io::Error::other(
                    "no room for the listeners that are handed over: raise the limit of descriptors (RLIMIT_NOFILE)",
                ));
            }
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
        self.take(TcpListener::from, |listener| is_of(listener, Type::STREAM) && is(listener))
    }
    /// The socket for datagrams at an address, if it was inherited.
    pub fn udp(&self, address: SocketAddr) -> Option<UdpSocket> {
        let is = |socket: &UdpSocket| socket.local_addr().is_ok_and(|own| own == address);
        self.take(UdpSocket::from, |socket| is_of(socket, Type::DGRAM) && is(socket))
    }
    /// Takes the inherited Unix listener whose address satisfies `is`.
    pub(crate) fn unix(&self, is: impl Fn(&std::os::unix::net::SocketAddr) -> bool) -> Option<UnixListener> {
        self.take(UnixListener::from, |listener| listener.local_addr().is_ok_and(|own| is(&own)))
    }
    fn take<T: AsFd>(&self, from: impl Fn(OwnedFd) -> T, is: impl Fn(&T) -> bool) -> Option<T> {
        let mut listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |descriptor: &OwnedFd| descriptor.try_clone().is_ok_and(|copy| is(&from(copy)));
        let place = listeners.iter().position(same)?;
        Some(from(listeners.swap_remove(place)))
    }

    /// Everything is open: the predecessor may go. Inherited listeners that nobody asked for are closed. Returns
    /// whether there is a predecessor; an error if it has given this process up.
    pub fn ready(self) -> io::Result<bool> {
        let Some(mut predecessor) = self.predecessor else { return Ok(false) };
        predecessor.write_all(&[READY])?;
        Ok(true)
    }
}

/// A TCP and a UDP socket may have the same address.
fn is_of(socket: &impl AsFd, kind: Type) -> bool {
    SockRef::from(socket).r#type().is_ok_and(|own| own == kind)
}

/// Starts the successor process with these listeners and waits until it is ready. Returns its process id. After an
/// error there is no successor.
pub async fn succeed(mut command: Command, listeners: &[BorrowedFd<'_>]) -> io::Result<u32> {
    let (link, theirs) = UnixStream::pair()?;
    let mut starter = command.env(VARIABLE, STARTS).stdin(OwnedFd::from(theirs)).spawn()?;
    // Closed here, so that only the new process holds the other end.
    drop(command);
    let became = match send(&link, listeners) {
        Ok(()) => answer(link).await,
        Err(error) => Err(error),
    };
    // The process between has ended long since, unless it does nothing at all.
    if became.is_err() {
        let _ = starter.kill();
    }
    let ended = starter.wait()?;
    became
        .map_err(|error| io::Error::new(error.kind(), format!("the new process has not taken over ({error}; {ended})")))
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

/// The new process' number, once it is ready.
async fn answer(link: UnixStream) -> io::Result<u32> {
    link.set_nonblocking(true)?;
    let mut link = tokio::net::UnixStream::from_std(link)?;
    let mut process = None;
    let ready = async {
        process = Some(link.read_u32().await?);
        link.read_u8().await
    };
    let failed = match (timeout(PATIENCE, ready).await, process) {
        (Ok(Ok(READY)), Some(process)) => return Ok(process),
        // The other process has closed its end, so it has ended.
        (Ok(Err(error)), _) => return Err(error),
        (Ok(Ok(_)), _) => io::ErrorKind::InvalidData,
        (Err(_), _) => io::ErrorKind::TimedOut,
    };
    if let Some(process) = process.and_then(|process| Pid::from_raw(process.cast_signed())) {
        let _ = kill_process(process, Signal::KILL);
    }
    Err(failed.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listeners_and_sockets_for_datagrams_at_one_address_are_told_apart() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let socket = UdpSocket::bind(address).unwrap();
        let inherited = Inherited { listeners: Mutex::new(vec![listener.into(), socket.into()]), predecessor: None };
        assert!(inherited.udp(address).is_some_and(|socket| is_of(&socket, Type::DGRAM)));
        assert!(inherited.udp(address).is_none());
        assert!(inherited.tcp(address).is_some_and(|listener| is_of(&listener, Type::STREAM)));
        assert!(inherited.tcp(address).is_none());
    }
}
