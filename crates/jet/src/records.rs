//! A stream's TLS after the handshake. The library has the keys and makes the records; here is what lies between it and
//! the socket.
//!
//! One call reads all that has arrived, and one call writes what has been sealed. The library takes what was read some
//! kilobytes at a time.

use rustls::{Connection, Error};
use std::io::{self, BufRead, IoSlice, Write};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsStream;

/// The most content of a record (RFC 8446, section 5.1).
const CONTENT: usize = 1 << 14;
/// What sealing adds to a record: header, content type and tag (section 5.2).
const ADDED: usize = 5 + 1 + 16;
/// Content that is sealed and written at a time; it fits a core's cache.
const AT_ONCE: usize = 4 * CONTENT;
/// Capacity of the send buffer that is kept while nothing is sent.
const KEPT: usize = 4 << 10;
/// The library keeps the beginning of a record, so more may come out of it than has just been read: less than a record
/// and its expansion of at most 256 bytes (section 5.2).
const BEGUN: usize = 2 * CONTENT;

/// A TLS connection and its socket.
pub(crate) struct Records {
    socket: TcpStream,
    tls: Connection,
    /// What is to be sent. The first `sealed` bytes are in the library's hands.
    outgoing: Vec<u8>,
    sealed: usize,
    /// Length of the records that the library has and the socket has not taken.
    unsent: usize,
}

impl Records {
    /// A connection after its handshake. Returns what the library has read, and whether more may come.
    pub fn new(stream: TlsStream<TcpStream>) -> Result<(Self, Vec<u8>, bool), Error> {
        let (socket, mut tls) = apart(stream);
        // What is sealed at a time is bounded here.
        tls.set_buffer_limit(None);
        let state = tls.process_new_packets()?;
        let mut plaintext = Vec::with_capacity(state.plaintext_bytes_to_read());
        take_plaintext(&mut tls, |piece| plaintext.extend_from_slice(piece));
        let records = Self { socket, tls, outgoing: Vec::new(), sealed: 0, unsent: 0 };
        Ok((records, plaintext, !state.peer_has_closed()))
    }

    /// Reads once. Returns what has come, in one piece, and whether more may come. An end without close_notify is an
    /// error (P-26).
    pub fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        scratch: &mut [u8],
        consume: impl FnOnce(&[u8]) -> io::Result<()>,
    ) -> Poll<io::Result<bool>> {
        let mut buffer = ReadBuf::new(&mut scratch[BEGUN..]);
        ready!(Pin::new(&mut self.socket).poll_read(cx, &mut buffer))?;
        let end = BEGUN + buffer.filled().len();
        if end == BEGUN {
            return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into()));
        }
        // Contents go to the front, where the records have been taken from.
        let (mut at, mut plain, mut open) = (BEGUN, 0, true);
        while at < end && open {
            at += match self.tls.read_tls(&mut &scratch[at..end])? {
                0 => return Poll::Ready(Err(io::ErrorKind::InvalidData.into())),
                count => count,
            };
            open = match self.tls.process_new_packets() {
                Ok(state) => !state.peer_has_closed(),
                Err(error) => {
                    // The alert that says what is wrong, if the socket takes it now.
                    let _ = self.tls.write_tls(&mut Writing { socket: &mut self.socket, cx });
                    return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, error)));
                }
            };
            take_plaintext(&mut self.tls, |piece| {
                scratch[plain..plain + piece.len()].copy_from_slice(piece);
                plain += piece.len();
            });
        }
        if plain > 0 {
            consume(&scratch[..plain])?;
        }
        Poll::Ready(Ok(open))
    }

    /// Where what is to be sent is put, once all before is; [`poll_flush`](Self::poll_flush) sends it.
    pub fn outgoing(&mut self) -> &mut Vec<u8> {
        &mut self.outgoing
    }
    /// Ends what is written here (`close_notify`).
    pub fn end(&mut self) {
        self.tls.send_close_notify();
    }
    /// Until the socket has taken all that was written.
    pub fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            while self.tls.wants_write() {
                match self.tls.write_tls(&mut Writing { socket: &mut self.socket, cx }) {
                    Ok(count) => self.unsent = self.unsent.saturating_sub(count),
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Poll::Pending,
                    Err(error) => return Poll::Ready(Err(error)),
                }
            }
            let left = &self.outgoing[self.sealed..];
            let piece = &left[..left.len().min(AT_ONCE)];
            if piece.is_empty() {
                self.outgoing.clear();
                (self.sealed, self.unsent) = (0, 0);
                return Poll::Ready(Ok(()));
            }
            self.tls.writer().write_all(piece)?;
            self.sealed += piece.len();
            self.unsent = piece.len() + piece.len().div_ceil(CONTENT) * ADDED;
        }
    }
    /// Bytes that the socket has not taken yet.
    pub fn unwritten(&self) -> u64 {
        (self.outgoing.len() - self.sealed + self.unsent) as u64
    }
    /// Nothing is to be sent for a while.
    pub fn rest(&mut self) {
        if self.outgoing.is_empty() && self.outgoing.capacity() > KEPT {
            self.outgoing = Vec::new();
        }
    }
    /// Closes our half of the socket.
    pub fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}

/// The socket, and the TLS library's state.
fn apart(stream: TlsStream<TcpStream>) -> (TcpStream, Connection) {
    match stream {
        TlsStream::Client(stream) => {
            let (socket, tls) = stream.into_inner();
            (socket, tls.into())
        }
        TlsStream::Server(stream) => {
            let (socket, tls) = stream.into_inner();
            (socket, tls.into())
        }
    }
}

/// Takes all that the library has opened. It reads no more while it has more than a record.
fn take_plaintext(tls: &mut Connection, mut piece: impl FnMut(&[u8])) {
    let mut reader = tls.reader();
    // An error says that there is nothing now.
    while let Ok(bytes) = reader.fill_buf()
        && !bytes.is_empty()
    {
        piece(bytes);
        let count = bytes.len();
        reader.consume(count);
    }
}

/// The socket as the library writes to it: records in one call.
struct Writing<'a, 'b> {
    socket: &'a mut TcpStream,
    cx: &'a mut Context<'b>,
}

impl Write for Writing<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(bytes)])
    }
    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        match Pin::new(&mut *self.socket).poll_write_vectored(self.cx, slices) {
            Poll::Ready(result) => result,
            Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::{Identity, Peers};
    use crate::trust::Trusted;
    use crate::{scratch, tls};
    use rustls::pki_types::ServerName;
    use std::future::poll_fn;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio_rustls::{TlsAcceptor, TlsConnector};

    /// Both ends of a connection on loopback, hands shaken.
    async fn pair() -> (TlsStream<TcpStream>, TlsStream<TcpStream>) {
        let keys: [Identity; 2] = std::array::from_fn(|_| Identity::generate().expect("a key"));
        let peers = keys.each_ref().map(|identity| {
            let mut peers = Peers::default();
            peers.pin(identity.fingerprint(), "peer").expect("a name");
            peers
        });
        let connector = TlsConnector::from(tls::client(&keys[0], &Trusted::new(peers[1].clone())).expect("right"));
        let acceptor = TlsAcceptor::from(tls::server(&keys[1], &Trusted::new(peers[0].clone())).expect("right"));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback");
        let address = listener.local_addr().expect("bound");
        let near = async {
            let socket = TcpStream::connect(address).await.expect("it listens");
            let name = ServerName::try_from("trunkline-jet").expect("a name");
            connector.connect(name, socket).await.expect("they know each other")
        };
        let far = async {
            let (socket, _) = listener.accept().await.expect("it comes");
            acceptor.accept(socket).await.expect("they know each other")
        };
        let (near, far) = tokio::join!(near, far);
        (near.into(), far.into())
    }
    /// Bytes in no order.
    fn noise(count: usize) -> Vec<u8> {
        (0..count as u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
    }
    /// Reads this many bytes, or up to the end.
    async fn read(records: &mut Records, already: Vec<u8>, count: usize) -> io::Result<(Vec<u8>, bool)> {
        let (mut all, mut open) = (already, true);
        while open && all.len() < count {
            open = poll_fn(|cx| {
                scratch::with(|scratch| {
                    records.poll_read(cx, scratch, |bytes| {
                        all.extend_from_slice(bytes);
                        Ok(())
                    })
                })
            })
            .await?;
        }
        Ok((all, open))
    }

    /// Against tokio-rustls as the other end, in either role: what it sent before and after the handshake, in pieces of
    /// any size, and its end.
    #[tokio::test]
    async fn what_one_end_writes_the_other_reads() {
        for swapped in [false, true] {
            let (mut ours, mut other) = pair().await;
            if swapped {
                (ours, other) = (other, ours);
            }
            let sizes = [1, 16_383, 16_384, 16_385, 70_000, 300_000];
            let all = noise(sizes.iter().sum());
            // The TLS library of this end reads the beginning of what comes, and of a record only a part.
            other.write_all(&all[..40_000]).await.expect("it reads");
            other.flush().await.expect("it reads");
            let mut first = [0; 10];
            ours.read_exact(&mut first).await.expect("it writes");
            assert_eq!(first, all[..10]);
            let (mut records, read_before, open) = Records::new(ours).expect("hands are shaken");
            assert!(open);
            let rest = all[40_000..].to_vec();
            let theirs = tokio::spawn(async move {
                other.write_all(&rest).await.expect("it reads");
                other.shutdown().await.expect("it reads");
                let mut received = Vec::new();
                other.read_to_end(&mut received).await.expect("an end that is announced");
                received
            });
            let (received, open) = read(&mut records, read_before, usize::MAX).await.expect("right");
            assert!(!open && received == all[10..], "{} bytes", received.len());
            let mut left = all.as_slice();
            for size in sizes {
                let (piece, rest) = left.split_at(size);
                records.outgoing().extend_from_slice(piece);
                left = rest;
            }
            poll_fn(|cx| records.poll_flush(cx)).await.expect("it reads");
            assert_eq!(records.unwritten(), 0);
            records.end();
            poll_fn(|cx| records.poll_flush(cx)).await.expect("it reads");
            poll_fn(|cx| records.poll_shutdown(cx)).await.expect("it reads");
            assert!(theirs.await.expect("no panic") == all);
        }
    }

    /// A record that is not what was sent: the peer is told why, and an end that is not announced is none.
    #[tokio::test]
    async fn what_is_not_the_peers_ends_the_connection() {
        let (ours, other) = pair().await;
        let (mut records, already, _) = Records::new(ours).expect("hands are shaken");
        let (mut socket, _) = apart(other);
        let mut forged = vec![23, 3, 3, 0, 100];
        forged.extend(noise(100));
        socket.write_all(&forged).await.expect("it reads");
        let error = read(&mut records, already, usize::MAX).await.expect_err("a forged record");
        assert_eq!(error.to_string(), Error::DecryptError.to_string());
        // An alert: two bytes in a record, which adds a header of 5, their type and a tag of 16.
        let mut answer = [0; 5 + 2 + 1 + 16];
        socket.read_exact(&mut answer).await.expect("an answer");
        assert_eq!(answer[..5], [23, 3, 3, 0, 19]);
        drop(socket);
        let error = read(&mut records, Vec::new(), usize::MAX).await.expect_err("nothing was announced");
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }

    /// P-2.
    #[tokio::test]
    async fn keys_that_the_peer_renews_are_renewed() {
        let (ours, other) = pair().await;
        let (mut records, already, _) = Records::new(ours).expect("hands are shaken");
        let TlsStream::Server(mut other) = other else { panic!("the far end") };
        for turn in 0..40 {
            other.get_mut().1.refresh_traffic_keys().expect("hands are shaken");
            other.write_all(b"question").await.expect("it reads");
            other.flush().await.expect("it reads");
            let before = if turn == 0 { already.clone() } else { Vec::new() };
            assert_eq!(read(&mut records, before, 8).await.expect("right").0, b"question");
            records.outgoing().extend_from_slice(b"answer");
            poll_fn(|cx| records.poll_flush(cx)).await.expect("it reads");
            let mut answer = [0; 6];
            other.read_exact(&mut answer).await.expect("renewed keys");
            assert_eq!(&answer, b"answer");
        }
    }

    /// Without a byte in between it is a waste of this end's time.
    #[tokio::test]
    async fn keys_are_not_renewed_without_end() {
        let (ours, other) = pair().await;
        let (mut records, already, _) = Records::new(ours).expect("hands are shaken");
        let (mut socket, mut tls) = apart(other);
        let mut bytes = Vec::new();
        for _ in 0..40 {
            tls.refresh_traffic_keys().expect("hands are shaken");
            tls.write_tls(&mut bytes).expect("memory");
        }
        socket.write_all(&bytes).await.expect("it reads");
        let error = read(&mut records, already, usize::MAX).await.expect_err("too many");
        assert!(error.to_string().contains("TooManyKeyUpdateRequests"), "{error}");
    }
}
