//! The task of one connection: bytes between the session and the socket of a program or server.

use crate::keep_alive;
use crate::shared_session::SharedSession;
use crate::socket;
use socket2::SockRef;
use std::io::{self, IoSlice, IoSliceMut};
use std::net::Shutdown;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use stripe::session::State;
use stripe::wire::KeepAlive;
use tokio::io::Interest;
use tokio::net::TcpStream;

/// Rounds before other tasks have their turn.
const TURNS: usize = 16;
/// Pieces of the session's memory that one call writes or reads.
const PIECES: usize = 9;
/// Unsent bytes in a program's socket, at first and at most: enough until this task has its turn. By itself the kernel
/// takes megabytes for a program that does not read, and the peer sends on as if they were read: two hundred such
/// programs at once would have the path for ten seconds. So there are more only for who has taken `PART` times as many.
const UNSENT: [u32; 2] = [16 << 10, 256 << 10];
const PART: u64 = 4;
/// Bytes read at a time: at first, and at most. A call costs about as much as a few kilobytes.
const READ: [u64; 2] = [16 << 10, 256 << 10];

/// How a connection has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Both directions have ended properly.
    Properly,
    /// Ended by a reset, from the peer or at the socket here.
    Reset,
    /// It never reached its destination, for this reason (P-14).
    Refused(u32),
}

/// Carries a connection's bytes until both directions are over. A reset is passed on as one.
pub(crate) async fn carry(shared: Arc<SharedSession>, connection: u32, stream: TcpStream) -> Ended {
    close_as(&stream, Ended::Reset);
    socket::limit_unsent(&stream, UNSENT[0]);
    let stream = Arc::new(stream);
    shared.attach(connection, &stream);
    let mut program = Program {
        connection,
        stream,
        reading: true,
        writing: true,
        most: READ[0],
        unsent: UNSENT[0],
        taken: 0,
        kept_alive: None,
    };
    let ended = std::future::poll_fn(|cx| program.poll(&shared, cx)).await;
    close_as(&program.stream, ended);
    shared.forget(connection);
    ended
}

/// What closing a socket does. Until a connection has ended properly, closing is a reset, also when the kernel closes
/// because this process was killed: a program would take a FIN for the end of the data.
pub(crate) fn close_as(stream: &TcpStream, ended: Ended) {
    let linger = (ended != Ended::Properly).then_some(Duration::ZERO);
    // On failure the socket is closed already.
    let _ = SockRef::from(stream).set_linger(linger);
}

struct Program {
    connection: u32,
    stream: Arc<TcpStream>,
    /// Whether the program's stream is read, and whether the peer's is written to it.
    reading: bool,
    writing: bool,
    /// Bytes read at a time.
    most: u64,
    /// The limit of unsent bytes, and the bytes that the socket has taken.
    unsent: u32,
    taken: u64,
    /// As the other end's program has it.
    kept_alive: Option<KeepAlive>,
}

impl Program {
    fn poll(&mut self, shared: &SharedSession, cx: &mut Context<'_>) -> Poll<Ended> {
        match self.poll_both(shared, cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Ok(ended)) => Poll::Ready(ended),
            Poll::Ready(Err(error)) => {
                // The kernel has given the connection up; the peer's end is given up too (P-16).
                let code = error.raw_os_error().map_or(stripe::session::code::RESET, |errno| errno as u32);
                shared.work(|session, now| session.abandon(now, self.connection, code));
                Poll::Ready(Ended::Reset)
            }
        }
    }
    fn poll_both(&mut self, shared: &SharedSession, cx: &mut Context<'_>) -> Poll<io::Result<Ended>> {
        for _ in 0..TURNS {
            let connection = self.connection;
            let (state, room, readable) = shared.serve(connection, cx.waker(), |session| {
                (session.state(connection), session.room(connection), session.readable(connection).next().is_some())
            });
            let Some(state) = state else { return Poll::Ready(Ok(Ended::Reset)) };
            if let Some(code) = state.reset {
                return Poll::Ready(Ok(if state.opened { Ended::Reset } else { Ended::Refused(code) }));
            }
            if let Some(wanted) = state.keep_alive.filter(|wanted| self.kept_alive != Some(*wanted)) {
                keep_alive::apply(&self.stream, wanted);
                self.kept_alive = Some(wanted);
            }
            let mut moved = false;
            if self.writing
                && let Poll::Ready(done) = self.poll_write(shared, cx, &state, readable)?
            {
                moved |= done;
            }
            if self.reading
                && state.stopped.is_none()
                && room > 0
                && let Poll::Ready(done) = self.poll_read(shared, cx, room)?
            {
                moved |= done;
            }
            // The peer wants no more of what is written here. A program that writes on learns it as from any server
            // that has closed.
            if !self.writing && state.stopped.is_some() {
                return Poll::Ready(Ok(Ended::Reset));
            }
            if !self.reading && !self.writing {
                return Poll::Ready(Ok(Ended::Properly));
            }
            if !moved {
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Takes what the program has written. Returns whether there was anything.
    fn poll_read(&mut self, shared: &SharedSession, cx: &mut Context<'_>, room: u64) -> Poll<io::Result<bool>> {
        ready!(self.stream.poll_read_ready(cx))?;
        let most = self.most.min(room);
        let read = shared.give(|session| {
            let mut slices: [IoSliceMut<'_>; PIECES] = std::array::from_fn(|_| IoSliceMut::new(&mut []));
            let pieces = slices.iter_mut().zip(session.writable(self.connection, most));
            let count = pieces.map(|(slice, piece)| *slice = IoSliceMut::new(piece)).count();
            let read = read(&self.stream, &mut slices[..count]);
            session.wrote(self.connection, *read.as_ref().unwrap_or(&0) as u64);
            if count > 0 && matches!(read, Ok(0)) {
                self.reading = false;
                session.finish(self.connection);
            }
            read
        });
        match read {
            Ok(count) if count as u64 == self.most => self.most = (2 * self.most).min(READ[1]),
            // The next poll waits for readiness.
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Poll::Ready(Err(error)),
            _ => {}
        }
        Poll::Ready(Ok(true))
    }
    /// Hands the program the available bytes, or the end. Returns whether there was anything.
    fn poll_write(
        &mut self,
        shared: &SharedSession,
        cx: &mut Context<'_>,
        state: &State,
        readable: bool,
    ) -> Poll<io::Result<bool>> {
        if !readable {
            if state.finished {
                shutdown(&self.stream)?;
                self.writing = false;
                return Poll::Ready(Ok(true));
            }
            return Poll::Ready(Ok(false));
        }
        ready!(self.stream.poll_write_ready(cx))?;
        let written = shared.work(|session, now| {
            let mut slices = [IoSlice::new(&[]); PIECES];
            let pieces = slices.iter_mut().zip(session.readable(self.connection));
            let count = pieces.map(|(slice, piece)| *slice = IoSlice::new(piece)).count();
            let written = self.stream.try_write_vectored(&slices[..count])?;
            session.consume(now, self.connection, written as u64);
            Ok(written)
        });
        match written {
            Ok(written) => {
                self.taken += written as u64;
                if self.unsent < UNSENT[1] && self.taken >= 2 * PART * u64::from(self.unsent) {
                    self.unsent *= 2;
                    socket::limit_unsent(&self.stream, self.unsent);
                }
                Poll::Ready(Ok(true))
            }
            Err(error) if io::Error::kind(&error) == io::ErrorKind::WouldBlock => Poll::Ready(Ok(true)),
            Err(error) => Poll::Ready(Err(error)),
        }
    }
}

/// Shuts down writing to a socket.
pub(crate) fn shutdown(stream: &TcpStream) -> io::Result<()> {
    match SockRef::from(stream).shutdown(Shutdown::Write) {
        // The connection has been reset: reading from the socket reports it.
        Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(()),
        done => done,
    }
}

/// Reads once. A short read means an empty socket, which is not read again before more arrives. What was read is
/// acknowledged then: who has written it may wait for that before it writes the rest of an answer (Nagle's algorithm, a
/// small cwnd), and the kernel delays the acknowledgement by up to 40 ms where both ends take turns.
pub(crate) fn read(stream: &TcpStream, slices: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
    let room: usize = slices.iter().map(|slice| slice.len()).sum();
    let mut read = None;
    let outcome = stream.try_io(Interest::READABLE, || {
        let count = *read.insert(rustix::io::readv(stream, slices)?);
        if count < room {
            socket::acknowledge(stream);
            return Err(io::ErrorKind::WouldBlock.into());
        }
        Ok(count)
    });
    read.map_or(outcome, Ok)
}
