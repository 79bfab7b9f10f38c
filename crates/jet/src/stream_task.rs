//! The task of one stream: frames between the session and a TLS connection.

use crate::records::Records;
use crate::scratch;
use crate::shared_session::SharedSession;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use stripe::StreamId;
use stripe::wire::FrameReader;
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::TlsStream;

/// Reads in a row before other tasks have their turn.
const TURNS: usize = 4;
/// Different ages at which streams are replaced.
const AGES: u32 = 8;

/// Errors by which the peer's system says that it has the stream no more. Others come from silence, or from the path.
const ENDED: [io::ErrorKind; 3] =
    [io::ErrorKind::ConnectionReset, io::ErrorKind::UnexpectedEof, io::ErrorKind::BrokenPipe];

/// Carries a stream until it ends: properly, or with an error. It is to be replaced when its keys are as old as
/// `keys_last`.
pub(crate) async fn run(
    shared: Arc<SharedSession>,
    id: StreamId,
    tls: TlsStream<TcpStream>,
    reader: FrameReader,
    input: Vec<u8>,
    keys_last: Duration,
) -> io::Result<()> {
    let replaced_at = Instant::now() + age(id, keys_last);
    let begun = Records::new(tls).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error));
    let result = match begun.and_then(|begun| StreamTask::begin(&shared, id, begun, reader, &input, replaced_at)) {
        Ok(mut task) => std::future::poll_fn(|cx| task.poll(&shared, cx)).await,
        Err(error) => Err(error),
    };
    let broken = result.as_ref().is_err_and(|error| ENDED.contains(&error.kind()));
    shared.lose_stream(id, broken);
    result
}

/// The age at which a stream is replaced: between half of `keys_last` and all of it, so that streams that were opened
/// together do not go together.
fn age(id: StreamId, keys_last: Duration) -> Duration {
    keys_last.mul_f64(1.0 - f64::from(id.0 % AGES) / f64::from(2 * AGES))
}

struct StreamTask {
    id: StreamId,
    records: Records,
    reader: FrameReader,
    /// When the stream is to be replaced. It is looked at when the stream has something to do; a stream that has
    /// nothing for 10 s is asked (P-24).
    replaced_at: Instant,
    replaced: bool,
    /// Our end is written; our half is closed; the peer's half is closed.
    closing: bool,
    shut: bool,
    ended: bool,
}

impl StreamTask {
    /// Bytes that came behind the handshake.
    fn begin(
        shared: &SharedSession,
        id: StreamId,
        (records, read, open): (Records, Vec<u8>, bool),
        reader: FrameReader,
        input: &[u8],
        replaced_at: Instant,
    ) -> io::Result<Self> {
        let mut task =
            Self { id, records, reader, replaced_at, replaced: false, closing: false, shut: false, ended: false };
        shared.receive(id, &mut task.reader, input)?;
        shared.receive(id, &mut task.reader, &read)?;
        task.after_read(shared, open)?;
        Ok(task)
    }
    fn poll(&mut self, shared: &SharedSession, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Poll::Ready(Err(error)) = self.poll_read(shared, cx) {
            return Poll::Ready(Err(error));
        }
        if let Poll::Ready(Err(error)) = self.poll_write(shared, cx) {
            return Poll::Ready(Err(error));
        }
        if shared.stays(self.id, cx.waker()) { Poll::Pending } else { Poll::Ready(Ok(())) }
    }

    fn poll_read(&mut self, shared: &SharedSession, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        for _ in 0..TURNS {
            if self.ended {
                return Poll::Pending;
            }
            let (id, reader, records) = (self.id, &mut self.reader, &mut self.records);
            let receive = |bytes: &[u8]| shared.receive(id, reader, bytes);
            let open = ready!(scratch::with(|scratch| records.poll_read(cx, scratch, receive)))?;
            self.after_read(shared, open)?;
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
    /// Bytes have arrived, or the end.
    fn after_read(&mut self, shared: &SharedSession, open: bool) -> io::Result<()> {
        if open {
            return Ok(());
        }
        if !self.reader.is_between() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.ended = true;
        shared.work(|session, now| session.on_stream_end(now, self.id));
        Ok(())
    }

    fn poll_write(&mut self, shared: &SharedSession, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            if self.shut {
                return Poll::Pending;
            }
            let flushed = self.records.poll_flush(cx)?;
            shared.unwritten(self.id, self.records.unwritten());
            ready!(flushed);
            if self.closing {
                ready!(self.records.poll_shutdown(cx))?;
                self.shut = true;
                shared.work(|session, now| session.on_shut(now, self.id));
                return Poll::Pending;
            }
            if !self.replaced && Instant::now() >= self.replaced_at {
                self.replaced = true;
                shared.work(|session, now| session.replace_stream(now, self.id));
            }
            shared.take(self.id, self.records.outgoing());
            if self.records.unwritten() == 0 {
                self.records.rest();
                if !shared.look(|session| session.wants_shut(self.id)) {
                    return Poll::Pending;
                }
                self.records.end();
                self.closing = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eight ages from 9/16 of the whole to the whole, one after the other.
    #[test]
    fn streams_opened_together_are_replaced_one_after_another() {
        let ages: Vec<_> = (1..=8).map(|id| age(StreamId(id), Duration::from_secs(16)).as_secs()).collect();
        assert_eq!(ages, [15, 14, 13, 12, 11, 10, 9, 16]);
    }
}
