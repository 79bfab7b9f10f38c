//! The task of one stream: frames between the session and a TLS connection.

use crate::hub::Hub;
use crate::records::Records;
use crate::scratch;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use stripe::StreamId;
use stripe::session::Session;
use stripe::wire::FrameReader;
use tokio::net::TcpStream;
use tokio_rustls::TlsStream;
use units::Time;

/// Reads in a row before others have their turn.
const TURNS: usize = 4;

/// Encrypted and written at a time: both fit a core's cache.
const WRITTEN: usize = 64 << 10;
/// What is kept to take into while nothing is sent.
const KEPT: usize = 4 << 10;

/// Carries a stream until it ends: properly, or with an error.
pub(crate) async fn carry(
    hub: Arc<Hub>,
    id: StreamId,
    tls: TlsStream<TcpStream>,
    reader: FrameReader,
    input: Vec<u8>,
) -> io::Result<()> {
    let records = Records::new(tls);
    let mut carrier =
        Carrier { id, records, reader, taken: Vec::new(), sent: 0, closing: false, shut: false, ended: false };
    let result = match carrier.begin(&hub, &input) {
        Ok(()) => std::future::poll_fn(|cx| carrier.poll(&hub, cx)).await,
        Err(error) => Err(error),
    };
    hub.lose_stream(id);
    result
}

struct Carrier {
    id: StreamId,
    records: Records,
    reader: FrameReader,
    /// Taken from the session, and how much of it TLS has.
    taken: Vec<u8>,
    sent: usize,
    /// The end of our half is written; our half is closed; the peer's is.
    closing: bool,
    shut: bool,
    ended: bool,
}

impl Carrier {
    /// What came with the handshake.
    fn begin(&mut self, hub: &Hub, input: &[u8]) -> io::Result<()> {
        let (id, reader) = (self.id, &mut self.reader);
        hub.tell(|session, now| hear(session, now, id, reader, input))?;
        let open = self.records.decrypt(&mut |bytes| hub.tell(|session, now| hear(session, now, id, reader, bytes)))?;
        self.heard(hub, open)
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
            let mut hear = |bytes: &[u8]| hub.tell(|session, now| hear(session, now, id, reader, bytes));
            let open = ready!(scratch::with(|scratch| records.poll_read(cx, scratch, &mut hear)))?;
            self.heard(hub, open)?;
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
    /// Something was heard, or the end.
    fn heard(&mut self, hub: &Hub, open: bool) -> io::Result<()> {
        if !open && !self.reader.is_between() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.ended = !open;
        hub.work(|session, now| {
            if !open {
                session.on_stream_end(now, self.id);
            }
        });
        Ok(())
    }

    fn poll_write(&mut self, hub: &Hub, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            if self.shut {
                return Poll::Pending;
            }
            let flushed = self.records.poll_flush(cx)?;
            if self.sent < self.taken.len() && flushed.is_ready() {
                let next = WRITTEN.min(self.taken.len() - self.sent);
                self.records.write(&self.taken[self.sent..self.sent + next])?;
                self.sent += next;
                continue;
            }
            hub.unwritten(self.id, self.records.unwritten() + (self.taken.len() - self.sent) as u64);
            ready!(flushed);
            if self.closing {
                ready!(self.records.poll_shutdown(cx))?;
                self.shut = true;
                hub.work(|session, now| session.on_shut(now, self.id));
                return Poll::Pending;
            }
            self.taken.clear();
            self.sent = 0;
            hub.take(self.id, &mut self.taken);
            if self.taken.is_empty() {
                if self.taken.capacity() > KEPT {
                    self.taken = Vec::new();
                }
                if !hub.look(|session| session.wants_shut(self.id)) {
                    return Poll::Pending;
                }
                self.records.end();
                self.closing = true;
            }
        }
    }
}

/// Frames have arrived. Whoever breaks the protocol loses the whole session: nothing it says can be relied on (P-6).
fn hear(session: &mut Session, now: Time, id: StreamId, reader: &mut FrameReader, mut input: &[u8]) -> io::Result<()> {
    let mut heard = || -> Result<(), String> {
        while let Some(item) = reader.next(&mut input).map_err(|error| error.to_string())? {
            session.on_item(now, id, &item).map_err(|violation| violation.to_string())?;
        }
        Ok(())
    };
    heard().map_err(|reason| {
        session.give_up();
        io::Error::new(io::ErrorKind::InvalidData, reason)
    })
}
