//! A stream's TLS after the handshake: as many records at a time as there are, opened and sealed in place.
//!
//! The TLS library does the handshake and agrees keys. With records it would copy each byte twice on its way in, a few
//! kilobytes at a time, and once on its way out. Here one call reads all that has arrived, and what is to be sent is
//! put at its place in a record.

use crate::handshake::Shaking;
use crate::protection::{CONTENT, HEADER, Protection, TRAILER, Wrong};
use rustls::{AlertDescription, Connection, ContentType, HandshakeType};
use std::io::{self, BufRead};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use stripe::session::Sink;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsStream;

/// The length of a full record.
const RECORD: usize = HEADER + CONTENT + TRAILER;
/// Records that are sealed and written at a time; they fit a core's cache.
const AT_ONCE: usize = 4;
/// Capacity of the send buffer that is kept while nothing is sent.
const KEPT: usize = 4 << 10;

/// A TLS connection and its socket.
pub(crate) struct Records {
    socket: TcpStream,
    opener: Protection,
    sealer: Protection,
    /// The number of records that a key may protect before it is worn.
    lasts: u64,
    /// The beginning of a record whose rest has not come.
    begun: Vec<u8>,
    outgoing: Outgoing,
}

impl Records {
    /// Takes over from the TLS library. The keys are worn after `lasts` records. Returns what the library has read, and
    /// whether more may come.
    pub fn new(stream: TlsStream<Shaking>, lasts: u64) -> Result<(Self, Vec<u8>, bool), rustls::Error> {
        let (socket, mut tls) = apart(stream);
        let state = tls.process_new_packets()?;
        let mut plaintext = Vec::with_capacity(state.plaintext_bytes_to_read());
        while plaintext.len() < state.plaintext_bytes_to_read() {
            let mut reader = tls.reader();
            let Ok(piece) = reader.fill_buf() else { break };
            let count = piece.len();
            plaintext.extend_from_slice(piece);
            reader.consume(count);
        }
        let secrets = tls.dangerous_extract_secrets()?;
        let (opener, sealer) = (Protection::new(secrets.rx)?, Protection::new(secrets.tx)?);
        let (socket, begun) = socket.into_parts();
        let records = Self { socket, opener, sealer, lasts, begun, outgoing: Outgoing::default() };
        Ok((records, plaintext, !state.peer_has_closed()))
    }
    /// Whether the keys are worn, so that the stream is to be replaced.
    pub fn is_worn(&self) -> bool {
        self.opener.records().max(self.sealer.records()) >= self.lasts
    }

    /// Reads once. Returns what has come, in one piece, and whether more may come. An end without close_notify is an
    /// error (P-26).
    pub fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        scratch: &mut [u8],
        consume: impl FnOnce(&[u8]) -> io::Result<()>,
    ) -> Poll<io::Result<bool>> {
        let begun = self.begun.len();
        let mut buffer = ReadBuf::new(&mut scratch[begun..]);
        ready!(Pin::new(&mut self.socket).poll_read(cx, &mut buffer))?;
        let count = buffer.filled().len();
        if count == 0 {
            return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into()));
        }
        scratch[..begun].copy_from_slice(&self.begun);
        self.begun.clear();
        let (plain, open) = self.open(&mut scratch[..begun + count]).inspect_err(|wrong| self.complain(*wrong))?;
        if plain > 0 {
            consume(&scratch[..plain])?;
        }
        Poll::Ready(Ok(open))
    }
    /// Opens all whole records, so that their contents stand one behind the other at the front. Returns their length,
    /// and whether more may come.
    fn open(&mut self, bytes: &mut [u8]) -> Result<(usize, bool), Wrong> {
        let (mut at, mut plain) = (0, 0);
        while let Some(length) = Protection::length(&bytes[at..])?.filter(|length| at + length <= bytes.len()) {
            let end = at + length;
            let (kind, content) = self.opener.open(&mut bytes[plain..end], at - plain)?;
            let content = plain..plain + content;
            match kind {
                ContentType::ApplicationData => plain = content.end,
                ContentType::Alert => {
                    // The alert's level, which carries no meaning, and its description (section 6).
                    let [_, said] = bytes[content] else { return Err(Wrong::Here(AlertDescription::DecodeError)) };
                    let said = AlertDescription::from(said);
                    return if said == AlertDescription::CloseNotify {
                        Ok((plain, false))
                    } else {
                        Err(Wrong::There(said))
                    };
                }
                // P-2: keys are not updated; a new stream brings new ones.
                ContentType::Handshake => {
                    let message = bytes[content].first().copied().unwrap_or_default();
                    return Err(Wrong::Handshake(HandshakeType::from(message)));
                }
                _ => return Err(Wrong::Here(AlertDescription::UnexpectedMessage)),
            }
            at = end;
        }
        self.begun.extend_from_slice(&bytes[at..]);
        Ok((plain, true))
    }
    /// The alert that says what is wrong, if the socket takes it now.
    fn complain(&mut self, wrong: Wrong) {
        if let Some(description) = wrong.alert()
            && self.unwritten() == 0
            && self.outgoing.alert(&mut self.sealer, 2, description).is_ok()
        {
            let _ = self.socket.try_write(&self.outgoing.bytes);
        }
    }

    /// Where what is to be sent is put, once all before is; [`poll_flush`](Self::poll_flush) sends it.
    pub fn outgoing(&mut self) -> &mut Outgoing {
        &mut self.outgoing
    }
    /// Ends what is written here (`close_notify`).
    pub fn end(&mut self) -> io::Result<()> {
        Ok(self.outgoing.alert(&mut self.sealer, 1, AlertDescription::CloseNotify)?)
    }
    /// Until the socket has taken all that was written.
    pub fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            let sealed = self.outgoing.sealed(&mut self.sealer)?;
            if sealed.is_empty() {
                self.outgoing.clear();
                return Poll::Ready(Ok(()));
            }
            let count = ready!(Pin::new(&mut self.socket).poll_write(cx, sealed))?;
            self.outgoing.written += count;
        }
    }
    /// Bytes that the socket has not taken yet.
    pub fn unwritten(&self) -> u64 {
        self.outgoing.len() as u64
    }
    /// Nothing is to be sent for a while.
    pub fn rest(&mut self) {
        if self.unwritten() == 0 && self.outgoing.bytes.capacity() > KEPT {
            self.outgoing = Outgoing::default();
        }
    }
    /// Closes our half of the socket.
    pub fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}

/// The socket, and the TLS library's state.
fn apart(stream: TlsStream<Shaking>) -> (Shaking, Connection) {
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

/// Records on their way out. The first `written` bytes are written, those up to `sealed` are sealed; the rest stands
/// where it will be sealed, with room for headers and trailers.
#[derive(Default)]
pub(crate) struct Outgoing {
    bytes: Vec<u8>,
    written: usize,
    sealed: usize,
}

impl Sink for Outgoing {
    fn len(&self) -> usize {
        self.bytes.len() - self.written
    }
    fn extend_from_slice(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let mut within = (self.bytes.len() - self.sealed) % RECORD;
            if within == 0 {
                self.bytes.extend_from_slice(&[0; HEADER]);
                within = HEADER;
            }
            let (here, rest) = bytes.split_at(bytes.len().min(HEADER + CONTENT - within));
            self.bytes.extend_from_slice(here);
            if within + here.len() == HEADER + CONTENT {
                self.bytes.extend_from_slice(&[0; TRAILER]);
            }
            bytes = rest;
        }
    }
}

impl Outgoing {
    /// The sealed bytes to be written next.
    fn sealed(&mut self, sealer: &mut Protection) -> Result<&[u8], Wrong> {
        let records = if self.written == self.sealed { AT_ONCE } else { 0 };
        for _ in 0..records {
            self.seal(sealer, ContentType::ApplicationData)?;
        }
        Ok(&self.bytes[self.written..self.sealed])
    }
    /// Seals the next record, if there is one.
    fn seal(&mut self, sealer: &mut Protection, kind: ContentType) -> Result<(), Wrong> {
        let left = self.bytes.len() - self.sealed;
        if left == 0 {
            return Ok(());
        }
        if left < RECORD {
            self.bytes.extend_from_slice(&[0; TRAILER]);
        }
        let end = self.bytes.len().min(self.sealed + RECORD);
        sealer.seal(kind, &mut self.bytes[self.sealed..end])?;
        self.sealed = end;
        Ok(())
    }
    /// An alert, behind which nothing comes; all before it is written.
    fn alert(&mut self, sealer: &mut Protection, level: u8, description: AlertDescription) -> Result<(), Wrong> {
        self.clear();
        self.extend_from_slice(&[level, description.into()]);
        self.seal(sealer, ContentType::Alert)
    }
    fn clear(&mut self) {
        self.bytes.clear();
        (self.written, self.sealed) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::{Identity, Peers};
    use crate::protection::WORN;
    use crate::trust::Trusted;
    use crate::{scratch, tls};
    use rustls::pki_types::ServerName;
    use std::future::poll_fn;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio_rustls::{TlsAcceptor, TlsConnector};

    /// Both ends of a connection on loopback, hands shaken.
    async fn pair() -> (TlsStream<Shaking>, TlsStream<Shaking>) {
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
            connector.connect(name, Shaking::new(socket)).await.expect("they know each other")
        };
        let far = async {
            let (socket, _) = listener.accept().await.expect("it comes");
            acceptor.accept(Shaking::new(socket)).await.expect("they know each other")
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

    /// Against the TLS library as the other end, in either role: what it sent before and after the handshake, in pieces
    /// of any size, and its end.
    #[tokio::test]
    async fn the_tls_library_is_understood_and_understands() {
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
            let (mut records, read_before, open) = Records::new(ours, WORN).expect("hands are shaken");
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
            records.end().expect("a fresh key");
            poll_fn(|cx| records.poll_flush(cx)).await.expect("it reads");
            poll_fn(|cx| records.poll_shutdown(cx)).await.expect("it reads");
            assert!(theirs.await.expect("no panic") == all);
        }
    }

    /// A record that is not what was sent: the peer is told why, and an end that is not announced is none.
    #[tokio::test]
    async fn what_is_not_the_peers_ends_the_connection() {
        let (ours, other) = pair().await;
        let (mut records, already, _) = Records::new(ours, WORN).expect("hands are shaken");
        let (mut socket, _) = apart(other).0.into_parts();
        let mut forged = vec![23, 3, 3, 0, 100];
        forged.extend(noise(100));
        socket.write_all(&forged).await.expect("it reads");
        let error = read(&mut records, already, usize::MAX).await.expect_err("a forged record");
        assert_eq!(error.to_string(), "TLS: BadRecordMac");
        // An alert: two bytes in a record.
        let mut answer = [0; HEADER + 2 + TRAILER];
        socket.read_exact(&mut answer).await.expect("an answer");
        assert_eq!(answer[..HEADER], [23, 3, 3, 0, 2 + TRAILER as u8]);
        drop(socket);
        let error = read(&mut records, Vec::new(), usize::MAX).await.expect_err("nothing was announced");
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }

    /// P-2: a peer that renews its keys is not followed.
    #[tokio::test]
    async fn keys_are_not_renewed() {
        let (ours, other) = pair().await;
        let (mut records, already, _) = Records::new(ours, WORN).expect("hands are shaken");
        let (mut socket, mut tls) = apart(other);
        tls.refresh_traffic_keys().expect("hands are shaken");
        let mut bytes = Vec::new();
        tls.write_tls(&mut bytes).expect("memory");
        socket.write_all(&bytes).await.expect("it reads");
        let error = read(&mut records, already, usize::MAX).await.expect_err("a renewal");
        assert!(error.to_string().starts_with("TLS: the peer sends KeyUpdate, "), "{error}");
    }
}
