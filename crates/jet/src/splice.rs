//! Bytes between two sockets, both ways, until both directions are over.

use crate::program::{read, shutdown};
use crate::scratch;
use std::io::{self, IoSliceMut};
use std::task::{Context, Poll, ready};
use tokio::net::TcpStream;

/// Rounds before other tasks have their turn.
const TURNS: usize = 16;
/// Bytes read at a time, and the most that is held of a direction.
const READ: usize = 64 << 10;

/// Carries bytes until both ends have ended properly, or one fails.
pub(crate) async fn run(one: &TcpStream, other: &TcpStream) -> io::Result<()> {
    let mut ways = [Way::new(one, other), Way::new(other, one)];
    std::future::poll_fn(|cx| {
        for way in &mut ways {
            if let Poll::Ready(Err(error)) = way.poll(cx) {
                return Poll::Ready(Err(error));
            }
        }
        if ways.iter().all(|way| way.over) { Poll::Ready(Ok(())) } else { Poll::Pending }
    })
    .await
}

/// One direction.
struct Way<'a> {
    from: &'a TcpStream,
    to: &'a TcpStream,
    /// Bytes that were read and that `to` has not taken.
    held: Vec<u8>,
    over: bool,
}

impl<'a> Way<'a> {
    fn new(from: &'a TcpStream, to: &'a TcpStream) -> Self {
        Self { from, to, held: Vec::new(), over: false }
    }
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        for _ in 0..TURNS {
            if self.over {
                return Poll::Ready(Ok(()));
            }
            // Nothing is read that cannot be written: a program that does not read holds its server up, as without us.
            ready!(self.to.poll_write_ready(cx))?;
            if !self.held.is_empty() {
                let count = written(self.to, &self.held)?;
                self.held.drain(..count);
                continue;
            }
            ready!(self.from.poll_read_ready(cx))?;
            scratch::with(|scratch| self.pass(&mut scratch[..READ]))?;
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
    /// Reads once, and writes what `to` takes of it.
    fn pass(&mut self, scratch: &mut [u8]) -> io::Result<()> {
        match read(self.from, &mut [IoSliceMut::new(scratch)]) {
            Ok(0) => {
                self.over = true;
                shutdown(self.to)
            }
            Ok(count) => {
                let taken = written(self.to, &scratch[..count])?;
                self.held = scratch[taken..count].to_vec();
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// Writes once. Returns how much the socket took.
fn written(to: &TcpStream, bytes: &[u8]) -> io::Result<usize> {
    match to.try_write(bytes) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
        done => done,
    }
}
