//! A stream's TLS once hands are shaken: as many records at a time as there are.
//!
//! tokio-rustls reads a socket a few kilobytes at a time. Here one call reads all that has arrived, and one writes all that was taken from the session; the TLS library does the rest as ever.

use rustls::Connection;
use std::io::{self, BufRead, IoSlice, Write};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsStream;

/// The most plaintext in a record (RFC 8446, section 5.1), and what a record adds to it: header, type and tag.
const RECORD: u64 = 1 << 14;
const OVERHEAD: u64 = 5 + 1 + 16;

/// A TLS connection and its socket.
pub(crate) struct Records {
    socket: TcpStream,
    tls: Connection,
    /// Encrypted bytes that the socket has not taken.
    unwritten: u64,
}

impl Records {
    pub fn new(stream: TlsStream<TcpStream>) -> Self {
        let (socket, mut tls) = match stream {
            TlsStream::Client(stream) => {
                let (socket, tls) = stream.into_inner();
                (socket, Connection::Client(tls))
            }
            TlsStream::Server(stream) => {
                let (socket, tls) = stream.into_inner();
                (socket, Connection::Server(tls))
            }
        };
        // Whoever writes bounds it.
        tls.set_buffer_limit(None);
        Self { socket, tls, unwritten: 0 }
    }

    /// Reads once, and tells what has come. Says whether more may come; an end that the peer has not announced is an error (P-26).
    pub fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        scratch: &mut [u8],
        hear: &mut impl FnMut(&[u8]) -> io::Result<()>,
    ) -> Poll<io::Result<bool>> {
        let mut buffer = ReadBuf::new(scratch);
        ready!(Pin::new(&mut self.socket).poll_read(cx, &mut buffer))?;
        let mut input = buffer.filled();
        if input.is_empty() {
            return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into()));
        }
        let mut open = true;
        while open && !input.is_empty() {
            self.tls.read_tls(&mut input)?;
            open = self.decrypt(hear)?;
        }
        Poll::Ready(Ok(open))
    }
    /// Tells what can be read without the socket. Says whether more may come.
    pub fn decrypt(&mut self, hear: &mut impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<bool> {
        let state = self.tls.process_new_packets().map_err(|error| {
            // The alert that says why, if the socket takes it now.
            let _ = self.tls.write_tls(&mut Taking(&self.socket));
            io::Error::new(io::ErrorKind::InvalidData, error)
        })?;
        let mut left = state.plaintext_bytes_to_read();
        while left > 0 {
            let mut reader = self.tls.reader();
            let plaintext = reader.fill_buf()?;
            let count = plaintext.len();
            hear(plaintext)?;
            reader.consume(count);
            left -= count;
        }
        Ok(!state.peer_has_closed())
    }

    /// Encrypts; [`poll_flush`](Self::poll_flush) sends.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.unwritten += bytes.len() as u64 + (bytes.len() as u64).div_ceil(RECORD) * OVERHEAD;
        self.tls.writer().write_all(bytes)
    }
    /// Ends what is written here (close_notify).
    pub fn end(&mut self) {
        self.tls.send_close_notify();
    }
    /// Until the socket has taken all that was written.
    pub fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.tls.wants_write() {
            match self.tls.write_tls(&mut Polling(&mut self.socket, cx)) {
                Ok(count) => self.unwritten = self.unwritten.saturating_sub(count as u64),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Poll::Pending,
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        self.unwritten = 0;
        Poll::Ready(Ok(()))
    }
    /// What of that the socket has not taken yet, in bytes.
    pub fn unwritten(&self) -> u64 {
        self.unwritten
    }
    /// Closes our half of the socket.
    pub fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}

/// A socket that the task is woken for when it takes no more.
struct Polling<'a, 'c, 'w>(&'a mut TcpStream, &'c mut Context<'w>);

impl Write for Polling<'_, '_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(bytes)])
    }
    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        match Pin::new(&mut *self.0).poll_write_vectored(self.1, slices) {
            Poll::Ready(result) => result,
            Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A socket that takes what it can now.
struct Taking<'a>(&'a TcpStream);

impl Write for Taking<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.try_write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
