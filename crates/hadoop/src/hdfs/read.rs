//! Reading a range of a block.
//!
//! The client asks the NameNode where the block is, sorts the replicas by distance (same node, same rack, elsewhere; at
//! random among equals: `DatanodeManager.sortLocatedBlocks`) and reads from the first. A replica on the reader's own
//! node is read from its disk; what the loopback interface would add is processor time and belongs to the workload's
//! cost per byte. Another DataNode reads ahead from its disk and sends packets as its send buffer allows. Either way
//! the reader runs at most a window ahead of what its application has taken. For remote reads that limit acts at the
//! sender, half a round trip earlier than the receive window that does it in truth. When a replica fails, the read goes
//! on with the next from where it is.
//!
//! A reader whose last record goes on in the next block opens that one, too ([`Hdfs::read_on`]). It asks for all of it
//! (`DFSInputStream.blockSeekTo`), takes the first packet, and closes its connection; what the DataNode has sent
//! meanwhile was sent in vain.

use super::datanode::call_namenode;
use super::{Call, Channel, Hdfs, HdfsConfig, Message, ReadMessage, ReadOrder, Request, wire};
use crate::context::{Context, DiskTransfer};
use crate::effect::{DiskOp, End, Purpose, Service};
use crate::event::{Event, ReadNews};
use crate::ids::{BlockId, ConnId, NodeId, Process, ReadId};
use crate::request::Reader;
use units::{Bytes, Time};

/// A read under way.
#[derive(Debug)]
pub(super) struct Read {
    pub reader: Process,
    block: BlockId,
    owner: Reader,
    end: Bytes,
    /// The reader wants no more than up to here, which the DataNode does not know.
    enough: Bytes,
    /// It may go on in another block when this range is read.
    held: bool,
    /// With the reader up to here.
    at: Bytes,
    /// Reported to the application up to here.
    reported: Bytes,
    /// Taken by the application up to here.
    taken: Bytes,
    source: Option<Source>,
    /// Replicas that failed in this round.
    dead: Vec<NodeId>,
    rounds: u32,
    /// Counts the sources tried, so that answers of an earlier one are known.
    attempt: u32,
    progress: Time,
    /// A timer is under way.
    watched: bool,
}

/// The replica that is being read.
#[derive(Debug)]
struct Source {
    node: NodeId,
    disk: u32,
    conn: Option<ConnId>,
    purpose: Purpose,
    /// The DataNode has the request.
    serving: bool,
    /// Asked of the disk up to here.
    asked: Bytes,
    /// In the DataNode's memory up to here.
    loaded: Bytes,
    /// Handed to the connection up to here.
    sent: Bytes,
    /// Acknowledged by the reader's TCP up to here.
    acknowledged: Bytes,
}

impl Read {
    /// How far it runs ahead of the application.
    fn window(&self, config: &HdfsConfig) -> Bytes {
        let remote = self.source.as_ref().is_some_and(|source| source.conn.is_some());
        if remote { config.remote_window } else { config.read_window }
    }
}

impl Hdfs {
    /// Reads a range of a block from the nearest replica. Progress is reported as it comes, up to the read window ahead
    /// of what has been taken with [`Hdfs::take`].
    pub fn read(
        &mut self,
        ctx: &mut Context,
        reader: Process,
        block: BlockId,
        offset: Bytes,
        length: Bytes,
        owner: impl Into<Reader>,
    ) -> ReadId {
        self.next += 1;
        let id = ReadId(self.next);
        let end = (offset + length).min(self.namespace.block(block).length).max(offset);
        if self.namespace.code(block).is_some() {
            self.gather(ctx, id, (reader, block), (offset, end), owner.into());
            return id;
        }
        self.insert_read(ctx, id, (reader, block), (offset, end), owner.into());
        self.locate(ctx, id);
        id
    }

    /// Reads a range of a part of a group, whose DataNode is known.
    pub(super) fn read_part(
        &mut self,
        ctx: &mut Context,
        reader: Process,
        part: BlockId,
        range: (Bytes, Bytes),
        gather: ReadId,
    ) -> ReadId {
        self.next += 1;
        let id = ReadId(self.next);
        self.insert_read(ctx, id, (reader, part), range, Reader::Hdfs(gather));
        self.located(ctx, id);
        id
    }

    /// The stream of a read stays open when its range is read, for [`Hdfs::read_on`].
    pub fn hold(&mut self, id: ReadId) {
        if let Some(read) = self.reads.get_mut(&id) {
            read.held = true;
        }
    }

    /// The stream of a read that was held, and is done, goes on at a place of another block of its file, for as much as
    /// comes at once: a packet, or a row of a group. Where the block is it has known since it was opened, as the NameNode
    /// tells of ten blocks (`dfs.client.read.prefetch.size`), and DataNodes that have failed it are not tried again
    /// (`DFSInputStream.deadNodes`).
    pub fn read_on(
        &mut self,
        ctx: &mut Context,
        id: ReadId,
        reader: Process,
        (block, offset): (BlockId, Bytes),
        owner: impl Into<Reader>,
    ) {
        let end = self.namespace.block(block).length;
        if let Some(code) = self.namespace.code(block) {
            let row_end = code.row() * (offset.get() / code.row().get() + 1);
            return self.gather(ctx, id, (reader, block), (offset, row_end.min(end)), owner.into());
        }
        let enough = end.min(offset + self.config.packet_size);
        let Some(read) = self.reads.get_mut(&id) else { return };
        (read.block, read.end, read.enough, read.held) = (block, end, enough, false);
        (read.at, read.reported, read.taken, read.rounds) = (offset, offset, offset, 0);
        self.located(ctx, id);
    }

    fn insert_read(
        &mut self,
        ctx: &Context,
        id: ReadId,
        (reader, block): (Process, BlockId),
        (offset, end): (Bytes, Bytes),
        owner: Reader,
    ) {
        self.reads.insert(
            id,
            Read {
                reader,
                block,
                owner,
                end,
                enough: end,
                held: false,
                at: offset,
                reported: offset,
                taken: offset,
                source: None,
                dead: Vec::new(),
                rounds: 0,
                attempt: 0,
                progress: ctx.now,
                watched: false,
            },
        );
    }

    /// The application has taken bytes out of its receive buffer; more may come.
    pub fn take(&mut self, ctx: &mut Context, id: ReadId, bytes: Bytes) {
        if self.gathers.contains_key(&id) {
            return self.take_gathered(ctx, id, bytes);
        }
        let Some(read) = self.reads.get_mut(&id) else { return };
        if read.taken + read.window(&self.config) <= read.at {
            read.progress = ctx.now; // the time of a full window is the application's, not the source's
        }
        read.taken = (read.taken + bytes).min(read.reported);
        self.advance_read(ctx, id);
    }

    /// Stops a read; nothing more is told of it.
    pub fn cancel_read(&mut self, ctx: &mut Context, id: ReadId) {
        self.drop_gather(ctx, id);
        self.drop_source(ctx, id);
        self.reads.remove(&id);
    }

    pub(super) fn locate(&mut self, ctx: &mut Context, id: ReadId) {
        let Some(read) = self.reads.get(&id) else { return };
        call_namenode(ctx, read.reader, (wire::CLIENT_CALL, wire::LOCATED_BLOCK), Call::Locate(id));
    }

    /// The NameNode has answered: connect to the nearest replica that has not failed.
    pub(super) fn located(&mut self, ctx: &mut Context, id: ReadId) {
        let Some(read) = self.reads.get_mut(&id) else { return };
        let reader = read.reader.node;
        let live = self.namespace.block(read.block).replicas.iter().copied().filter(|node| !read.dead.contains(node));
        let mut candidates: Vec<_> = live.collect();
        self.random.shuffle(&mut candidates);
        let (block, order) = (read.block, self.config.read_order);
        let depth = |node: NodeId| if order == ReadOrder::Awake { self.depth_of(block, node) } else { 0 };
        candidates.sort_by_key(|node| (depth(*node), ctx.nodes.distance(reader, *node)));
        let Some(&node) = candidates.first() else { return self.next_round(ctx, id) };
        let Some(read) = self.reads.get_mut(&id) else { return };
        let local = node == reader;
        let disk = self.datanodes[node.0 as usize].replicas.get(&read.block).map(|replica| replica.place.disk);
        let at = read.at;
        // Maps are local at first replicas: who reads another of its own helps the node whose block it is.
        let first =
            self.datanodes[node.0 as usize].replicas.get(&read.block).is_none_or(|replica| replica.place.is_first());
        let helps = order == ReadOrder::Awake && local && !first;
        read.attempt = read.attempt.wrapping_add(1);
        read.progress = ctx.now;
        let conn = (!local).then(|| ctx.open(Channel::Read(id), reader, node, Service::DataTransfer, false));
        read.source = Some(Source {
            node,
            disk: disk.unwrap_or(0),
            conn,
            purpose: if helps { Purpose::Helping } else { Purpose::Own },
            serving: local && disk.is_some(),
            asked: at,
            loaded: at,
            sent: at,
            acknowledged: at,
        });
        if local {
            self.datanode(node).transfers += 1;
            if disk.is_none() {
                return self.fail_over(ctx, id);
            }
        }
        self.watch_read(ctx, id);
        self.advance_read(ctx, id);
    }

    /// All replicas have failed: ask the NameNode again after a while, or give up.
    pub(super) fn next_round(&mut self, ctx: &mut Context, id: ReadId) {
        let Some(read) = self.reads.get_mut(&id) else { return };
        read.rounds += 1;
        read.dead.clear();
        // The reader of a group turns to another part at once.
        let is_part = matches!(read.owner, Reader::Hdfs(_));
        if is_part || read.rounds > self.config.acquire_failures {
            let reader = read.owner;
            self.reads.remove(&id);
            return ctx.raise(Event::Read { read: id, news: ReadNews::Failed, reader });
        }
        // `DFSInputStream.chooseDataNode`: a random pause within a window that grows with each failure.
        let window = self.config.retry_window.as_ps();
        let rounds = u64::from(read.rounds);
        let pause = window * (rounds - 1) + self.random.below((window * rounds).max(1));
        ctx.timer_in(Time::from_ps(pause), Request::ReadAgain(id));
    }

    /// The source is lost: the next replica goes on.
    pub(super) fn fail_over(&mut self, ctx: &mut Context, id: ReadId) {
        let Some(node) = self.drop_source(ctx, id) else { return };
        if let Some(read) = self.reads.get_mut(&id) {
            read.dead.push(node);
            self.counters.read_failovers += 1;
        }
        self.located(ctx, id);
    }

    fn drop_source(&mut self, ctx: &mut Context, id: ReadId) -> Option<NodeId> {
        let source = self.reads.get_mut(&id)?.source.take()?;
        if let Some(conn) = source.conn {
            ctx.abort(conn, End::Client);
        }
        if source.conn.is_none() || source.serving {
            self.transfer_over(source.node);
        }
        Some(source.node)
    }

    pub(super) fn transfer_over(&mut self, node: NodeId) {
        let datanode = self.datanode(node);
        datanode.transfers = datanode.transfers.saturating_sub(1);
    }

    /// Keeps the disk reading, the connection sending and the application informed.
    fn advance_read(&mut self, ctx: &mut Context, id: ReadId) {
        let config = &self.config;
        let Some(read) = self.reads.get_mut(&id) else { return };
        let ends = (read.enough, read.end);
        let Some(source) = &mut read.source else { return };
        if source.serving {
            let (chunk, limit) = match source.conn {
                None => (config.local_chunk.min(config.read_window), read.taken + config.read_window),
                Some(_) => (config.disk_chunk.min(config.readahead), source.sent + config.readahead),
            };
            while source.asked < read.end {
                let bytes = piece_at(chunk, source.asked, ends);
                if source.asked + bytes > limit {
                    break;
                }
                let stream = self.namespace.block(read.block).stream;
                let transfer = DiskTransfer::new(source.disk, DiskOp::Read, stream, source.asked, bytes);
                source.asked += bytes;
                let request = Request::ReadDisk { read: id, source: read.attempt };
                ctx.disk_for(source.node, transfer, source.purpose, request);
            }
        }
        if let Some(conn) = source.conn {
            let window = config.remote_window.max(config.packet_size);
            while source.sent < source.loaded && source.sent - source.acknowledged < config.send_buffer {
                let bytes = packet_at(config.packet_size, source.sent, read.end);
                if source.sent + bytes > source.loaded.min(read.taken + window) {
                    break;
                }
                source.sent += bytes;
                let last = source.sent == read.end;
                ctx.send(conn, End::Server, wire::packet(bytes), Message::Read(id, ReadMessage::Packet), last);
            }
        }
        // Packets are reported together, but none is held back when no more are on the way, or wanted.
        let local_or_last = source.conn.is_none() || read.at == source.sent || read.at >= read.enough;
        if local_or_last || read.at - read.reported >= config.disk_chunk.min(config.remote_window / 2) {
            let (bytes, source, reader) = (read.at - read.reported, source.node, read.owner);
            read.reported = read.at;
            if bytes > Bytes::ZERO {
                ctx.raise(Event::Read { read: id, news: ReadNews::Progress { source, bytes }, reader });
            }
        }
        if read.at >= read.enough {
            self.finish_read(ctx, id);
        }
    }

    fn finish_read(&mut self, ctx: &mut Context, id: ReadId) {
        let Some(read) = self.reads.get_mut(&id) else { return };
        let (owner, source, is_whole) = (read.owner, read.source.take(), read.at == read.end);
        if !read.held {
            self.reads.remove(&id);
        }
        if let Some(source) = source {
            match source.conn {
                Some(conn) if is_whole => ctx.close(conn, End::Client),
                // Data that nobody reads are answered with a reset.
                Some(conn) => ctx.abort(conn, End::Client),
                None => {}
            }
            self.transfer_over(source.node);
        }
        ctx.raise(Event::Read { read: id, news: ReadNews::Done, reader: owner });
    }

    /// Bytes have reached the reader.
    fn arrived(&mut self, ctx: &mut Context, id: ReadId, bytes: Bytes) {
        let Some(read) = self.reads.get_mut(&id) else { return };
        let Some(source) = &read.source else { return };
        read.at += bytes;
        // `DFSInputStream.read` counts failures from zero whenever it has been able to hand bytes to the application.
        (read.progress, read.rounds) = (ctx.now, 0);
        match ctx.nodes.distance(read.reader.node, source.node) {
            0 => self.counters.read_local += bytes,
            2 => self.counters.read_rack += bytes,
            _ => self.counters.read_remote += bytes,
        }
        self.advance_read(ctx, id);
    }

    pub(super) fn read_disk_done(&mut self, ctx: &mut Context, id: ReadId, attempt: u32) {
        let config = &self.config;
        let Some(read) = self.reads.get_mut(&id) else { return };
        let ends = (read.enough, read.end);
        let Some(source) = &mut read.source else { return };
        if read.attempt != attempt {
            return;
        }
        let local = source.conn.is_none();
        let chunk =
            if local { config.local_chunk.min(config.read_window) } else { config.disk_chunk.min(config.readahead) };
        let bytes = piece_at(chunk, source.loaded, ends);
        source.loaded += bytes;
        if local { self.arrived(ctx, id, bytes) } else { self.advance_read(ctx, id) }
    }

    /// The DataNode cannot read its replica: it closes the connection.
    pub(super) fn read_disk_failed(&mut self, ctx: &mut Context, id: ReadId, attempt: u32) {
        let Some(read) = self.reads.get_mut(&id).filter(|read| read.attempt == attempt) else { return };
        let Some(source) = &mut read.source else { return };
        source.asked = read.end;
        match source.conn {
            Some(conn) => ctx.close(conn, End::Server),
            None => self.fail_over(ctx, id),
        }
    }

    pub(super) fn read_connected(&mut self, ctx: &mut Context, id: ReadId, conn: ConnId) {
        let Some(read) = self.reads.get_mut(&id) else { return ctx.abort(conn, End::Client) };
        // Connecting may take as long as silence after it.
        read.progress = ctx.now;
        ctx.send(conn, End::Client, wire::TRANSFER_HEADER, Message::Read(id, ReadMessage::Header), true);
    }

    pub(super) fn read_delivered(
        &mut self,
        ctx: &mut Context,
        id: ReadId,
        (conn, end): (ConnId, End),
        message: ReadMessage,
    ) {
        let packet_size = self.config.packet_size;
        let source =
            self.reads.get_mut(&id).and_then(|read| Some((read.block, read.at, read.end, read.source.as_mut()?)));
        let Some((block, at, to, source)) = source.filter(|(.., source)| source.conn == Some(conn)) else {
            return ctx.abort(conn, end);
        };
        match message {
            ReadMessage::Packet => self.arrived(ctx, id, packet_at(packet_size, at, to)),
            ReadMessage::Header => {
                let node = source.node;
                let Some(disk) = self.datanodes[node.0 as usize].replicas.get(&block).map(|replica| replica.place.disk)
                else {
                    // The replica is not there: the DataNode refuses.
                    return ctx.close(conn, End::Server);
                };
                source.disk = disk;
                source.serving = true;
                self.datanode(node).transfers += 1;
                self.advance_read(ctx, id);
            }
        }
    }

    /// A packet has left the DataNode's connection.
    pub(super) fn read_acknowledged(&mut self, ctx: &mut Context, id: ReadId, conn: ConnId) {
        let packet_size = self.config.packet_size;
        if let Some(read) = self.reads.get_mut(&id)
            && let Some(source) = read.source.as_mut().filter(|source| source.conn == Some(conn))
        {
            source.acknowledged += packet_at(packet_size, source.acknowledged, read.end);
            self.advance_read(ctx, id);
        }
    }

    /// The connection of a read is lost, or closed by the DataNode before all was sent.
    pub(super) fn read_lost(&mut self, ctx: &mut Context, id: ReadId, conn: ConnId, end: End) {
        let source = self.reads.get(&id).and_then(|read| read.source.as_ref());
        if source.is_some_and(|source| source.conn == Some(conn)) {
            if end == End::Client {
                self.fail_over(ctx, id);
            }
        } else {
            ctx.close(conn, end);
        }
    }

    fn watch_read(&mut self, ctx: &mut Context, id: ReadId) {
        let timeout = self.config.socket_timeout;
        if let Some(read) = self.reads.get_mut(&id)
            && !read.watched
        {
            read.watched = true;
            ctx.timer(read.progress.saturating_add(timeout), Request::ReadDue(id));
        }
    }

    /// There may have been no progress for long.
    pub(super) fn read_due(&mut self, ctx: &mut Context, id: ReadId) {
        let (now, timeout) = (ctx.now, self.config.socket_timeout);
        let Some(read) = self.reads.get_mut(&id) else { return };
        read.watched = false;
        if read.source.is_none() {
            return; // watched again from the next source on
        }
        if read.reported - read.taken >= read.window(&self.config).min(read.end - read.taken) {
            read.progress = now; // the application is in no hurry
        }
        if read.progress.saturating_add(timeout) > now {
            return self.watch_read(ctx, id);
        }
        // The timeout is a socket's: part of a packet is progress too.
        match read.source.as_ref().and_then(|source| source.conn) {
            Some(conn) => ctx.ask_last_received(conn, End::Client),
            None => self.fail_over(ctx, id),
        }
    }

    /// When the reader's socket last had something to read, asked because no packet has become whole for long.
    pub(super) fn read_last_received(&mut self, ctx: &mut Context, id: ReadId, conn: ConnId, at: Time) {
        let timeout = self.config.socket_timeout;
        let asked = |read: &&mut Read| read.source.as_ref().is_some_and(|source| source.conn == Some(conn));
        let Some(read) = self.reads.get_mut(&id).filter(asked) else { return };
        read.progress = read.progress.max(at);
        if read.progress.saturating_add(timeout) <= ctx.now {
            self.fail_over(ctx, id);
        } else {
            self.watch_read(ctx, id);
        }
    }

    /// A node has crashed: its readers are gone, and so is what it was sending.
    pub(super) fn reads_node_down(&mut self, ctx: &mut Context, node: NodeId) {
        self.gathers_node_down(ctx, node);
        let gone: Vec<_> = self.reads.iter().filter(|(_, read)| read.reader.node == node).map(|(id, _)| *id).collect();
        for id in gone {
            self.cancel_read(ctx, id);
        }
        for read in self.reads.values_mut() {
            if let Some(source) = &mut read.source
                && source.node == node
            {
                source.serving = false;
                source.loaded = source.sent;
                read.attempt = read.attempt.wrapping_add(1);
            }
        }
    }
}

/// What a disk that reads at most so much at once reads at a place. What the reader wants is not held up by what follows.
fn piece_at(chunk: Bytes, at: Bytes, (enough, end): (Bytes, Bytes)) -> Bytes {
    let to = if at < enough { enough } else { end };
    chunk.min(to - at)
}

/// Packets begin at multiples of the packet size from where the read began or went on; both ends cut the same way.
fn packet_at(packet: Bytes, at: Bytes, end: Bytes) -> Bytes {
    packet.min(end - at)
}
