//! The task of one stream: frames between the session and a TLS connection.

use crate::hub::Hub;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use stripe::StreamId;
use stripe::wire::FrameReader;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsStream;

/// Taken from the session at a time: what is taken can no longer go elsewhere, and a call costs about as much as a few kilobytes.
const TAKEN: usize = 64 << 10;
/// Read at a time.
const READ: usize = 64 << 10;
/// Reads in a row before others have their turn.
const TURNS: usize = 16;

/// Carries a stream until it ends: properly, or with an error.
pub(crate) async fn carry(
    hub: Arc<Hub>,
    id: StreamId,
    tls: TlsStream<TcpStream>,
    reader: FrameReader,
    input: Vec<u8>,
) -> io::Result<()> {
    let mut carrier = Carrier { id, tls, reader, out: Vec::new(), sent: 0, flushed: true, shut: false, ended: false };
    let result = match carrier.hear(&hub, &input) {
        Ok(()) => {
            let mut scratch = vec![0; READ];
            std::future::poll_fn(|cx| carrier.poll(&hub, cx, &mut scratch)).await
        }
        Err(error) => Err(error),
    };
    hub.lose_stream(id);
    result
}

struct Carrier {
    id: StreamId,
    tls: TlsStream<TcpStream>,
    reader: FrameReader,
    /// Taken from the session, and how much of it TLS has.
    out: Vec<u8>,
    sent: usize,
    flushed: bool,
    /// Our half is closed; the peer's is.
    shut: bool,
    ended: bool,
}

impl Carrier {
    fn poll(&mut self, hub: &Hub, cx: &mut Context<'_>, scratch: &mut [u8]) -> Poll<io::Result<()>> {
        if let Poll::Ready(Err(error)) = self.poll_read(hub, cx, scratch) {
            return Poll::Ready(Err(error));
        }
        if let Poll::Ready(Err(error)) = self.poll_write(hub, cx) {
            return Poll::Ready(Err(error));
        }
        if hub.stays(self.id, cx.waker()) { Poll::Pending } else { Poll::Ready(Ok(())) }
    }

    fn poll_read(&mut self, hub: &Hub, cx: &mut Context<'_>, scratch: &mut [u8]) -> Poll<io::Result<()>> {
        for _ in 0..TURNS {
            if self.ended {
                return Poll::Pending;
            }
            let mut buffer = ReadBuf::new(scratch);
            ready!(Pin::new(&mut self.tls).poll_read(cx, &mut buffer))?;
            if buffer.filled().is_empty() {
                if !self.reader.is_between() {
                    return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into()));
                }
                self.ended = true;
                hub.work(|session, now| session.on_stream_end(now, self.id));
            } else {
                self.hear(hub, buffer.filled())?;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
    /// Frames have arrived. Whoever breaks the protocol loses the whole session: nothing it says can be relied on (P-6).
    fn hear(&mut self, hub: &Hub, mut input: &[u8]) -> io::Result<()> {
        hub.work(|session, now| {
            let mut heard = || -> Result<(), String> {
                while let Some(item) = self.reader.next(&mut input).map_err(|error| error.to_string())? {
                    session.on_item(now, self.id, &item).map_err(|violation| violation.to_string())?;
                }
                Ok(())
            };
            heard().map_err(|reason| {
                session.give_up();
                io::Error::new(io::ErrorKind::InvalidData, reason)
            })
        })
    }

    fn poll_write(&mut self, hub: &Hub, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            if self.shut {
                return Poll::Pending;
            }
            if self.sent < self.out.len() {
                let count = ready!(Pin::new(&mut self.tls).poll_write(cx, &self.out[self.sent..]))?;
                self.sent += count;
                self.flushed = false;
                hub.written(self.id, count);
                continue;
            }
            self.out.clear();
            self.sent = 0;
            hub.take(self.id, &mut self.out, TAKEN);
            if !self.out.is_empty() {
                continue;
            }
            if self.out.capacity() > 2 * TAKEN {
                self.out = Vec::new();
            }
            if !self.flushed {
                ready!(Pin::new(&mut self.tls).poll_flush(cx))?;
                self.flushed = true;
            }
            if hub.look(|session| session.wants_shut(self.id)) {
                ready!(Pin::new(&mut self.tls).poll_shutdown(cx))?;
                self.shut = true;
                hub.work(|session, now| session.on_shut(now, self.id));
            }
            return Poll::Pending;
        }
    }
}
