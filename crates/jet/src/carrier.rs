//! The task of one stream: frames between the session and a TLS connection.

use crate::handshake::Shaking;
use crate::hub::Hub;
use crate::records::Records;
use crate::scratch;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use stripe::StreamId;
use stripe::wire::FrameReader;
use tokio_rustls::TlsStream;

/// Reads in a row before other tasks have their turn.
const TURNS: usize = 4;

/// Carries a stream until it ends: properly, or with an error.
pub(crate) async fn carry(
    hub: Arc<Hub>,
    id: StreamId,
    tls: TlsStream<Shaking>,
    reader: FrameReader,
    input: Vec<u8>,
    key_lasts: u64,
) -> io::Result<()> {
    let begun = Records::new(tls, key_lasts).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error));
    let result = match begun.and_then(|begun| Carrier::begin(&hub, id, begun, reader, &input)) {
        Ok(mut carrier) => std::future::poll_fn(|cx| carrier.poll(&hub, cx)).await,
        Err(error) => Err(error),
    };
    hub.lose_stream(id);
    result
}

struct Carrier {
    id: StreamId,
    records: Records,
    reader: FrameReader,
    /// The stream is to be replaced.
    worn: bool,
    /// Our end is written; our half is closed; the peer's half is closed.
    closing: bool,
    shut: bool,
    ended: bool,
}

impl Carrier {
    /// Bytes that came behind the handshake.
    fn begin(
        hub: &Hub,
        id: StreamId,
        (records, read, open): (Records, Vec<u8>, bool),
        reader: FrameReader,
        input: &[u8],
    ) -> io::Result<Self> {
        let mut carrier = Self { id, records, reader, worn: false, closing: false, shut: false, ended: false };
        hub.hear(id, &mut carrier.reader, input)?;
        hub.hear(id, &mut carrier.reader, &read)?;
        carrier.heard(hub, open)?;
        Ok(carrier)
    }
    fn poll(&mut self, hub: &Hub, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Poll::Ready(Err(error)) = self.poll_read(hub, cx) {
            return Poll::Ready(Err(error));
        }
        if let Poll::Ready(Err(error)) = self.poll_write(hub, cx) {
            return Poll::Ready(Err(error));
        }
        if hub.stays(self.id, cx.waker()) { Poll::Pending } else { Poll::Ready(Ok(())) }
    }

    fn poll_read(&mut self, hub: &Hub, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        for _ in 0..TURNS {
            if self.ended {
                return Poll::Pending;
            }
            let (id, reader, records) = (self.id, &mut self.reader, &mut self.records);
            let hear = |bytes: &[u8]| hub.hear(id, reader, bytes);
            let open = ready!(scratch::with(|scratch| records.poll_read(cx, scratch, hear)))?;
            self.heard(hub, open)?;
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
    /// Bytes have arrived, or the end.
    fn heard(&mut self, hub: &Hub, open: bool) -> io::Result<()> {
        if open {
            return Ok(());
        }
        if !self.reader.is_between() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.ended = true;
        hub.work(|session, now| session.on_stream_end(now, self.id));
        Ok(())
    }

    fn poll_write(&mut self, hub: &Hub, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            if self.shut {
                return Poll::Pending;
            }
            let flushed = self.records.poll_flush(cx)?;
            hub.unwritten(self.id, self.records.unwritten());
            ready!(flushed);
            if self.closing {
                ready!(self.records.poll_shutdown(cx))?;
                self.shut = true;
                hub.work(|session, now| session.on_shut(now, self.id));
                return Poll::Pending;
            }
            if self.records.is_worn() && !self.worn {
                self.worn = true;
                hub.work(|session, now| session.replace_stream(now, self.id));
            }
            hub.take(self.id, self.records.outgoing());
            if self.records.unwritten() == 0 {
                self.records.rest();
                if !hub.look(|session| session.wants_shut(self.id)) {
                    return Poll::Pending;
                }
                self.records.end()?;
                self.closing = true;
            }
        }
    }
}
