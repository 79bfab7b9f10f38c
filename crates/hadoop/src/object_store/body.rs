//! Bodies of requests and answers: pieces on a connection, at its rate, as far as they are there and wanted.

use super::client::{Owner, State};
use super::request::{Message, Request};
use super::{ObjectStore, wire};
use crate::context::{Context, DiskTransfer};
use crate::effect::{DiskOp, End};
use crate::ids::{ConnId, HttpId};
use units::Bytes;

/// Grain at which a part is read from its buffer on disk.
const LOAD: Bytes = Bytes::from_mib(1);

impl ObjectStore {
    /// Keeps a body moving: as far as it is there and wanted, the send buffer allows and the connection's rate.
    pub(super) fn pump(&mut self, ctx: &mut Context, id: HttpId) {
        let (now, rate, buffer) = (ctx.now, self.config.connection_rate, wire::SEND_BUFFER);
        loop {
            let Some(http) = self.https.get_mut(&id) else { return };
            let Some(conn) = http.conn else { return };
            let down = http.state == State::Answered;
            if !down && http.state != State::Asking {
                return;
            }
            let body = http.body();
            let bytes = http.piece(http.sent);
            if http.sent == body {
                return;
            }
            if !down && http.ask.buffer.is_some() {
                self.load(ctx, id);
            }
            let Some(http) = self.https.get_mut(&id) else { return };
            let there = match http.ask.buffer {
                Some(_) if !down => http.loaded,
                // At least a piece beyond what is taken, however little is wanted of it.
                _ if down => {
                    if http.sent < http.ask.limit {
                        body
                    } else {
                        http.sent
                    }
                }
                _ => body,
            };
            if http.sent + bytes > there || http.sent - http.acknowledged >= buffer {
                return;
            }
            if http.pace > now {
                if !std::mem::replace(&mut http.paced, true) {
                    ctx.timer(http.pace, Request::Paced { http: id, attempt: http.attempt });
                }
                return;
            }
            http.pace = now.saturating_add(rate.transmission_time(bytes));
            http.sent += bytes;
            let last = http.sent == body;
            let (end, message) = if down {
                self.counters.sent += bytes;
                (End::Server, Message::Download(id))
            } else {
                (End::Client, Message::Upload(id))
            };
            ctx.send(conn, end, bytes, message, last);
        }
    }
    pub(super) fn pace_due(&mut self, ctx: &mut Context, id: HttpId, attempt: u32) {
        if let Some(http) = self.https.get_mut(&id).filter(|http| http.attempt == attempt) {
            http.paced = false;
            self.pump(ctx, id);
        }
    }
    /// A piece of a body has left its sender.
    pub(super) fn acknowledged(&mut self, ctx: &mut Context, conn: ConnId, message: Message) {
        let (Message::Upload(id) | Message::Download(id)) = message else { return };
        let now = ctx.now;
        let Some(http) = self.of(id, conn) else { return };
        let down = matches!(message, Message::Download(_));
        if down != (http.state == State::Answered) {
            return; // of the request's body, after the answer has begun
        }
        http.acknowledged += http.piece(http.acknowledged);
        if !down {
            http.progress = now;
        }
        self.pump(ctx, id);
    }

    /// Reads on in the buffer of a part, a piece ahead of the connection.
    fn load(&mut self, ctx: &mut Context, id: HttpId) {
        let Some(http) = self.https.get_mut(&id) else { return };
        let Some((disk, stream, start)) = http.ask.buffer else { return };
        if http.loading || http.loaded == http.ask.up || http.loaded >= http.sent + LOAD * 2 {
            return;
        }
        let bytes = LOAD.min(http.ask.up - http.loaded);
        http.loading = true;
        let transfer = DiskTransfer::new(disk, DiskOp::Read, stream, start + http.loaded, bytes);
        ctx.disk(http.process.node, transfer, Request::Loaded { http: id, attempt: http.attempt });
    }
    pub(super) fn loaded(&mut self, ctx: &mut Context, id: HttpId, attempt: u32) {
        let Some(http) = self.https.get_mut(&id).filter(|http| http.attempt == attempt) else { return };
        http.loading = false;
        http.loaded += LOAD.min(http.ask.up - http.loaded);
        self.pump(ctx, id);
    }
    /// The disk with a part's buffer is gone: its stream cannot go on.
    pub(super) fn load_failed(&mut self, ctx: &mut Context, id: HttpId) {
        if let Some(Owner::Write(write)) = self.https.get(&id).map(|http| http.owner) {
            self.fail_write(ctx, write);
        }
    }
}
