//! The serving side of the shuffle: a node answers with a thread for each request, output by output.

use super::{Content, HEADER_BYTES, Request, Shuffle, Wanted, message};
use crate::context::{Context, DiskTransfer};
use crate::effect::{DiskOp, End};
use crate::ids::{DiskStream, FetchId};
use units::{Bytes, scaled, word};

impl Shuffle {
    /// The server turns to the next output of the batch.
    pub(super) fn begin_output(&mut self, ctx: &mut Context, id: FetchId) {
        let Some(fetch) = self.fetches.get_mut(&id) else { return };
        let Some(&Wanted { output, outputs, .. }) = fetch.batch.wanted.get(fetch.serving) else {
            let conn = fetch.conn;
            if !self.config.keep_alive {
                ctx.close(conn, End::Server);
            }
            return self.server_leaves(id, Some(ctx));
        };
        fetch.offset = Bytes::ZERO;
        let output = self.outputs[output.0 as usize];
        if output.available && output.node == fetch.batch.host {
            ctx.send(
                fetch.conn,
                End::Server,
                Bytes::new(HEADER_BYTES * u64::from(outputs)),
                message(id, Content::Header(fetch.serving)),
                true,
            );
            self.serve(ctx, id);
        } else {
            ctx.send(fetch.conn, End::Server, Bytes::new(HEADER_BYTES), message(id, Content::Missing), true);
            fetch.serving = fetch.batch.wanted.len();
            self.begin_output(ctx, id);
        }
    }

    /// Reads the next chunk if the connection has taken enough of the last ones.
    pub(super) fn serve(&mut self, ctx: &mut Context, id: FetchId) {
        let Some(fetch) = self.fetches.get_mut(&id) else { return };
        let Some(&Wanted { output, start, bytes, outputs }) = fetch.batch.wanted.get(fetch.serving) else { return };
        if fetch.reading > Bytes::ZERO || fetch.unacknowledged >= 2 || fetch.server_gone {
            return;
        }
        if fetch.offset == bytes {
            fetch.serving += 1;
            return self.begin_output(ctx, id);
        }
        // What stands for many outputs is long: it goes in two parts, one read while the other is sent.
        let chunk = if outputs > 1 { self.config.chunk.max(bytes / 2) } else { self.config.chunk };
        fetch.reading = chunk.min(bytes - fetch.offset);
        let output = self.outputs[output.0 as usize];
        // Partitions of one file lie one after another; a reducer reads only its own, so each is a sequential stream of
        // its own to the disk.
        let transfer = DiskTransfer {
            disk: output.disk,
            op: DiskOp::Read,
            stream: DiskStream { part: fetch.batch.part, ..output.stream },
            offset: start + fetch.offset,
            bytes: fetch.reading,
            places: word(scaled(fetch.reading.get(), u64::from(outputs), bytes.get())).max(1),
        };
        ctx.disk(fetch.batch.host, transfer, Request::Disk(id));
    }

    pub(super) fn on_read(&mut self, id: FetchId, ctx: &mut Context) {
        let Some(fetch) = self.fetches.get_mut(&id) else { return };
        if fetch.server_gone {
            return;
        }
        let bytes = std::mem::take(&mut fetch.reading);
        fetch.offset += bytes;
        fetch.sent += bytes;
        fetch.unacknowledged += 1;
        self.totals.entry(fetch.batch.application).or_default().served += bytes;
        let last = fetch.offset == fetch.batch.wanted[fetch.serving].bytes;
        let content = if last { Content::Last } else { Content::Chunk };
        ctx.send(fetch.conn, End::Server, bytes, message(id, content), last);
        self.serve(ctx, id);
    }

    /// The host has done with a fetch; its thread takes the next.
    pub(super) fn server_leaves(&mut self, id: FetchId, next: Option<&mut Context>) {
        let Some(fetch) = self.fetches.get_mut(&id) else { return };
        let host = fetch.batch.host;
        let served = fetch.started && !fetch.server_gone;
        fetch.server_gone = true;
        if fetch.client_gone {
            self.forget(id);
        }
        let handler = &mut self.handlers[host.0 as usize];
        if let Some(place) = handler.waiting.iter().position(|&waiting| waiting == id) {
            handler.waiting.remove(place);
            return;
        }
        let Some(ctx) = next.filter(|_| served) else { return };
        match handler.waiting.pop_front() {
            Some(waiting) => self.begin_output(ctx, waiting),
            None => handler.active -= 1,
        }
    }
}
