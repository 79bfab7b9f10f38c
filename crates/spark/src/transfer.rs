//! Shuffle blocks between executors: a request opens the blocks, the answer names a stream, a message asks for all of
//! its chunks, and each block comes as one (`OneForOneBlockFetcher`, `ChunkFetchRequest`).

use crate::application::{Errand, Spark};
use crate::executor::Executor;
use crate::serve::{Fetch, FetchId};
use crate::task::Arrived;
use hadoop::{ConnId, DiskOp, DiskStream, DiskTransfer, End, NodeId, Platform, Service};
use units::Bytes;

/// A request to open blocks, in bytes, without their names: ours, of the order of its frame with the names of an
/// application and an executor (`FetchShuffleBlocks`).
pub const REQUEST: u64 = 100;
/// A block in it: the numbers of the map task and the reduce task, with their lengths, or a block's name; ours.
pub const BLOCK_NAME: u64 = 20;
/// Its answer, `StreamHandle` in an `RpcResponse`; ours.
pub const HANDLE: u64 = 40;
/// Of a chunk, and of the question for it, what is not its data: a frame of 8 (`MessageEncoder`), a type of 1, and
/// `StreamChunkId`, which is 8 for the stream and 4 for the chunk.
pub const CHUNK: u64 = 8 + 1 + 12;

impl Spark {
    /// A task asks for as much as it may.
    pub(crate) fn fetch_more(&mut self, platform: &mut Platform, id: usize) {
        while let Some(request) = self.tasks[id].fetches.as_mut().and_then(crate::fetch::Fetches::ask) {
            let fetch = self.fetches.insert(Fetch { task: id, request, conn: None, sent: 0, came: 0, failures: 0 });
            self.ask(platform, fetch);
        }
    }

    /// Asks for the blocks of a fetch that have not come.
    pub(crate) fn ask(&mut self, platform: &mut Platform, fetch: FetchId) {
        let Some(Fetch { task, request, came, .. }) = self.fetches.get(fetch) else { return };
        let (from, to, blocks) = (self.tasks[*task].record.executor, request.address, request.blocks.len() - came);
        let Executor { node, is_without_files, .. } = self.executors[to];
        let Executor { peers, services, .. } = &self.executors[from];
        let is_connected =
            if self.config.shuffle_service { services.contains_key(&node) } else { peers.contains_key(&to) };
        if is_without_files && !is_connected {
            return self.cannot_connect(platform, fetch);
        }
        let conn = if self.config.shuffle_service {
            self.service(platform, from, node)
        } else {
            self.peer(platform, from, to)
        };
        if let Some(fetch) = self.fetches.get_mut(fetch) {
            fetch.conn = Some(conn);
        }
        if is_without_files {
            self.await_silence(platform, fetch);
        }
        let bytes = Bytes::new(REQUEST + BLOCK_NAME * blocks as u64);
        let message = self.errands.send(Errand::Request(fetch));
        platform.ctx.drive_send(conn, End::Client, bytes, message);
    }

    /// The connection of an executor to another, or to the driver's block manager: one, which stays
    /// (`spark.shuffle.io.numConnectionsPerPeer`, 1).
    pub(crate) fn peer(&mut self, platform: &mut Platform, from: usize, to: usize) -> ConnId {
        let other = self.executors.get(to).map_or(self.driver_node(platform), |executor| executor.node);
        let node = self.executors[from].node;
        let open = || platform.ctx.drive_open(node, other, Service::SparkBlocks);
        *self.executors[from].peers.entry(to).or_insert_with(open)
    }

    /// The connection of an executor to the shuffle service of another node.
    fn service(&mut self, platform: &mut Platform, from: usize, node: NodeId) -> ConnId {
        let own = self.executors[from].node;
        let open = || platform.ctx.drive_open(own, node, Service::SparkBlocks);
        *self.executors[from].services.entry(node).or_insert_with(open)
    }

    /// At the serving executor: blocks are opened.
    pub(crate) fn on_request(&mut self, platform: &mut Platform, fetch: FetchId) {
        let Some(&Fetch { conn: Some(conn), .. }) = self.fetches.get(fetch) else { return };
        let message = self.errands.send(Errand::Handle(fetch));
        platform.ctx.drive_send(conn, End::Server, Bytes::new(HANDLE), message);
    }

    /// At the task's executor: it asks for all chunks.
    pub(crate) fn on_handle(&mut self, platform: &mut Platform, fetch: FetchId) {
        let Some(Fetch { conn: Some(conn), request, came, .. }) = self.fetches.get(fetch) else { return };
        let bytes = Bytes::new(CHUNK * (request.blocks.len() - came) as u64);
        let message = self.errands.send(Errand::Chunks(fetch));
        platform.ctx.drive_send(*conn, End::Client, bytes, message);
    }

    /// At the serving executor: all blocks of a fetch are wanted that have not come.
    pub(crate) fn on_chunks(&mut self, platform: &mut Platform, fetch: FetchId) {
        let Some(&Fetch { conn: Some(conn), came, .. }) = self.fetches.get(fetch) else { return };
        self.serving.add(conn, fetch, came);
        self.serve(platform, conn);
    }

    /// Reads the next block that a connection has to send.
    fn serve(&mut self, platform: &mut Platform, conn: ConnId) {
        let Some((fetch, block)) = self.serving.read(conn, &self.fetches) else { return };
        let Some(Fetch { task, request, .. }) = self.fetches.get(fetch) else { return };
        let (record, block) = (self.tasks[*task].record, request.blocks[block]);
        let stage = &self.stages[record.stage];
        let Some(output) = self.outputs(stage.spec.parents[block.parent]).0[block.map] else { return };
        let (offset, bytes) = stage.block(block.parent, output.length, record.index);
        let stream = DiskStream { part: units::count(record.index).saturating_add(1), ..output.file };
        let transfer = DiskTransfer::new(output.disk, DiskOp::Read, stream, offset, bytes);
        let errand = self.errands.send(Errand::Served(conn, fetch));
        platform.ctx.drive_disk(output.node, transfer, errand);
    }

    /// A block is read, and leaves.
    pub(crate) fn on_served(&mut self, platform: &mut Platform, conn: ConnId, id: FetchId) {
        let fetch = self.fetches.get_mut(id).filter(|fetch| fetch.conn == Some(conn));
        self.serving.has_read(conn, fetch.as_ref().map_or(0, |fetch| fetch.request.blocks.len()));
        if let Some(fetch) = fetch {
            let place = fetch.sent;
            fetch.sent += 1;
            let (block, stage) = (fetch.request.blocks[place], self.tasks[fetch.task].record.stage);
            let books = &mut self.stages[stage].books[block.parent];
            books.served += block.bytes;
            books.in_flight += block.bytes;
            let message = self.errands.send(Errand::Block(id, place));
            platform.ctx.drive_send(conn, End::Server, block.bytes + Bytes::new(CHUNK), message);
        }
        self.serve(platform, conn);
    }

    /// At the task's executor: a block is there.
    pub(crate) fn on_block(&mut self, platform: &mut Platform, fetch: FetchId, place: usize) {
        let Some(Fetch { task: id, request, came, .. }) = self.fetches.get_mut(fetch) else { return };
        // One that is asked for again has come after all.
        if place != *came {
            return;
        }
        *came += 1;
        let (id, address, block) = (*id, request.address, request.blocks[place]);
        let last = *came == request.blocks.len();
        if last {
            self.fetches.remove(fetch);
        }
        let record = &mut self.tasks[id].record;
        record.shuffle_remote += block.bytes;
        let (stage, index) = (record.stage, record.index);
        let stage = &mut self.stages[stage];
        let again = stage.got[block.parent].mark(block.map, index);
        let books = &mut stage.books[block.parent];
        *(if again { &mut books.again } else { &mut books.remote }) += block.bytes;
        books.in_flight = books.in_flight.saturating_sub(block.bytes);
        self.arrive(platform, id, Arrived::Remote { address, bytes: block.bytes, last });
    }
}
