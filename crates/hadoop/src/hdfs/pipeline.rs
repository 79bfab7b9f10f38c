//! A block on its way to a row of DataNodes: the replication pipeline.
//!
//! The client opens a connection to the first DataNode, which opens one to the second, and so on; when the last has
//! answered, the answer travels back and packets flow. Each DataNode passes a packet on before it writes it to its own
//! disk (`BlockReceiver.receivePacket`), and acknowledges it upstream when the nodes behind it have; the last, empty
//! packet is acknowledged only when the replica is on disk and finished (the HDFS paper, Shvachko et al., MSST 2010,
//! section III.A, figure 2). A hop on the client's own node uses no network.
//!
//! A DataNode that cannot write or pass on as fast as packets come stops taking them, and its sender stops when the
//! window between them is used up; as for reads, that limit acts at the sender. A copy that the NameNode has ordered is
//! the same pipeline, fed from the source's disk.

mod end;

pub use end::PipelineState;

use super::datanode::{Place, Replica};
use super::namenode::Copy;
use super::{Channel, Hdfs, Message, PipelineMessage, Request, wire};
use crate::context::{Context, DiskTransfer};
use crate::effect::{DiskOp, End, Purpose, Service};
use crate::ids::{BlockId, ConnId, NodeId, PipelineId, WriteId};
use std::collections::VecDeque;
use units::{Bytes, Time};

/// Who sends the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// An output stream.
    Stream(WriteId),
    /// An erasure-coded output stream, of which the block is a part.
    Part { write: WriteId, part: usize },
    /// A DataNode's replica, on this disk; asked of it up to here. The pieces of one that the Balancer moves wait for
    /// bandwidth.
    Replica { disk: u32, asked: Bytes, moved: bool },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Packet {
    data: Bytes,
    last: bool,
}

/// The way into one DataNode, and that DataNode's part of the work.
#[derive(Debug, Default)]
struct Hop {
    conn: Option<ConnId>,
    /// The set-up answer has come back to this hop's sender.
    ready: bool,
    /// Packets that the sender's TCP holds until they are acknowledged: their length on the wire.
    buffered: VecDeque<Bytes>,
    buffered_sum: Bytes,
    /// Packets on the way, then in the DataNode's hands, then taken.
    under_way: VecDeque<Packet>,
    inbox: VecDeque<Packet>,
    /// Bytes in both.
    backlog: Bytes,
    taken: usize,
    last_taken: bool,
    place: Place,
    /// Taken bytes on their way: to be checked, being checked, to be written, being written, written.
    unchecked: Bytes,
    checking: Bytes,
    checked: Bytes,
    writing: Bytes,
    written: Bytes,
    finished: bool,
    /// Its node has crashed.
    dead: bool,
    /// Acknowledgements that have come back to this DataNode, and that it has sent on.
    acks_in: usize,
    acks_out: usize,
}

impl Hop {
    /// Taken, and not on disk yet.
    fn unwritten(&self) -> Bytes {
        self.unchecked + self.checking + self.checked + self.writing
    }
}

/// A block being written to a row of DataNodes.
#[derive(Debug)]
pub(super) struct Pipeline {
    source: Source,
    client: NodeId,
    block: BlockId,
    nodes: Vec<NodeId>,
    hops: Vec<Hop>,
    /// Where in the block this pipeline begins: not 0 after a recovery.
    base: Bytes,
    /// The client may send up to here.
    available: Bytes,
    /// The block ends there.
    whole: bool,
    sent: Bytes,
    last_sent: bool,
    acknowledged: Bytes,
    unacknowledged: VecDeque<Packet>,
    progress: Time,
    watched: bool,
    /// A piece waits for the Balancer's bandwidth.
    paused: bool,
}

impl Pipeline {
    pub fn new(source: Source, client: NodeId, block: BlockId, nodes: Vec<NodeId>, base: Bytes, now: Time) -> Self {
        let hops = nodes.iter().map(|_| Hop::default()).collect();
        Self {
            source,
            client,
            block,
            nodes,
            hops,
            base,
            available: base,
            whole: false,
            sent: base,
            last_sent: false,
            acknowledged: base,
            unacknowledged: VecDeque::new(),
            progress: now,
            watched: false,
            paused: false,
        }
    }
    /// It need not wait for bandwidth any longer.
    pub const fn resume(&mut self) {
        self.paused = false;
    }
    pub fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }
    pub const fn block(&self) -> BlockId {
        self.block
    }
    pub const fn base(&self) -> Bytes {
        self.base
    }
    /// Whether it was set up.
    pub fn was_ready(&self) -> bool {
        self.hops.first().is_some_and(|hop| hop.ready)
    }
    fn sender(&self, hop: usize) -> NodeId {
        if hop == 0 { self.client } else { self.nodes[hop - 1] }
    }
    /// The client or DataNode before `hop` may put another packet into its connection.
    fn has_room(&self, hop: usize, send_buffer: Bytes, window: Bytes) -> bool {
        let hop = &self.hops[hop];
        hop.ready && hop.buffered_sum < send_buffer && hop.backlog < window
    }
    fn put(&mut self, ctx: &mut Context, hop: usize, packet: Packet, id: PipelineId) {
        let state = &mut self.hops[hop];
        state.backlog += packet.data;
        let Some(conn) = state.conn else { return state.inbox.push_back(packet) };
        let wire = wire::packet(packet.data);
        state.buffered.push_back(wire);
        state.buffered_sum += wire;
        state.under_way.push_back(packet);
        let message = Message::Pipeline { pipeline: id, hop, message: PipelineMessage::Packet };
        ctx.send(conn, End::Client, wire, message, packet.last);
    }
}

impl Hdfs {
    pub(super) fn start_pipeline(&mut self, ctx: &mut Context, mut pipeline: Pipeline) -> PipelineId {
        self.next += 1;
        let id = PipelineId(self.next);
        let written = self.namespace.file(self.namespace.block(pipeline.block).file).written;
        let mut taken = self.replica_numbers(pipeline.block);
        for (hop, node) in pipeline.nodes.iter().enumerate() {
            let disks = &ctx.nodes.info(*node).disks;
            let datanode = &mut self.datanodes[node.0 as usize];
            // A replica that is begun stays where it is.
            let begun = datanode.begun.get(&pipeline.block).copied();
            let free = (0..=units::count(taken.len())).find(|number| !taken.contains(number)).unwrap_or(0);
            let place = begun.unwrap_or_else(|| datanode.choose(disks, written, free));
            datanode.begun.insert(pipeline.block, place);
            pipeline.hops[hop].place = place;
            taken.push(place.replica);
            datanode.transfers += 1;
        }
        self.pipelines.insert(id, pipeline);
        self.set_up_hop(ctx, id, 0);
        self.watch_pipeline(ctx, id);
        id
    }

    /// The numbers of a block's finished replicas, as far as the NameNode knows of them.
    fn replica_numbers(&self, block: BlockId) -> Vec<u32> {
        let number = |node: &NodeId| Some(self.datanodes[node.0 as usize].replicas.get(&block)?.place.replica);
        self.namespace.block(block).replicas.iter().filter_map(number).collect()
    }

    /// The sender of a hop connects to its DataNode.
    fn set_up_hop(&mut self, ctx: &mut Context, id: PipelineId, hop: usize) {
        let Some(pipeline) = self.pipelines.get_mut(&id) else { return };
        if hop == pipeline.nodes.len() {
            return self.hop_ready(ctx, id, hop - 1);
        }
        let (from, to) = (pipeline.sender(hop), pipeline.nodes[hop]);
        if from == to {
            return self.set_up_hop(ctx, id, hop + 1);
        }
        let channel = Channel::Pipeline { pipeline: id, hop };
        pipeline.hops[hop].conn = Some(ctx.open(channel, from, to, Service::DataTransfer, false));
    }

    /// The DataNode of a hop and all behind it are set up: the answer goes upstream.
    fn hop_ready(&mut self, ctx: &mut Context, id: PipelineId, hop: usize) {
        let Some(pipeline) = self.pipelines.get_mut(&id) else { return };
        if let Some(conn) = pipeline.hops[hop].conn {
            let message = Message::Pipeline { pipeline: id, hop, message: PipelineMessage::Ready };
            ctx.send(conn, End::Server, wire::TRANSFER_REPLY, message, true);
        } else {
            self.sender_ready(ctx, id, hop);
        }
    }

    /// The sender of a hop has the answer.
    fn sender_ready(&mut self, ctx: &mut Context, id: PipelineId, hop: usize) {
        let Some(pipeline) = self.pipelines.get_mut(&id) else { return };
        pipeline.hops[hop].ready = true;
        pipeline.progress = ctx.now;
        if hop > 0 {
            return self.hop_ready(ctx, id, hop - 1);
        }
        self.pump(ctx, id);
    }

    /// The client may send the block up to here; with `whole`, that is all of it.
    pub(super) fn feed(&mut self, ctx: &mut Context, id: PipelineId, available: Bytes, whole: bool) {
        let Some(pipeline) = self.pipelines.get_mut(&id) else { return };
        if pipeline.sent == pipeline.acknowledged {
            pipeline.progress = ctx.now; // it stood still for want of data
        }
        pipeline.available = pipeline.available.max(available);
        pipeline.whole |= whole;
        self.pump(ctx, id);
    }

    /// Moves what can be moved: packets from the client and from DataNode to DataNode, bytes to disks, acknowledgements
    /// back.
    pub(super) fn pump(&mut self, ctx: &mut Context, id: PipelineId) {
        self.send_packets(ctx, id);
        self.take_packets(ctx, id);
        self.write_disks(ctx, id);
        self.send_acks(ctx, id);
        self.watch_pipeline(ctx, id);
    }

    /// A DataNode that sends a replica reads it ahead; a moved one no faster than the Balancer's bandwidth.
    fn read_replica(&mut self, ctx: &mut Context, id: PipelineId) {
        let (readahead, chunk) = (self.config.readahead, self.config.disk_chunk);
        loop {
            let Some(pipeline) = self.pipelines.get(&id) else { return };
            let Source::Replica { disk, asked, moved } = pipeline.source else { return };
            let block = self.namespace.block(pipeline.block);
            let bytes = chunk.min(block.length - asked);
            if bytes == Bytes::ZERO || asked >= pipeline.sent + readahead || pipeline.paused {
                return;
            }
            let (from, to, stream) = (pipeline.client, pipeline.nodes[0], block.stream);
            let leave = if moved { self.piece_may_leave(ctx.now, (from, to), bytes) } else { Ok(()) };
            let Some(pipeline) = self.pipelines.get_mut(&id) else { return };
            if let Err(due) = leave {
                pipeline.paused = true;
                return ctx.timer(due, Request::PieceDue(id));
            }
            pipeline.source = Source::Replica { disk, asked: asked + bytes, moved };
            let transfer = DiskTransfer::new(disk, DiskOp::Read, stream, asked, bytes);
            ctx.disk_for(from, transfer, Purpose::Recovery, Request::SourceDisk(id));
        }
    }

    fn send_packets(&mut self, ctx: &mut Context, id: PipelineId) {
        self.read_replica(ctx, id);
        let config = &self.config;
        let Some(pipeline) = self.pipelines.get_mut(&id) else { return };
        while !pipeline.last_sent
            && pipeline.unacknowledged.len() < config.max_packets as usize
            && pipeline.has_room(0, config.send_buffer, config.read_window)
        {
            let rest = pipeline.available - pipeline.sent;
            let packet = if rest >= config.packet_size || (pipeline.whole && rest > Bytes::ZERO) {
                Packet { data: rest.min(config.packet_size), last: false }
            } else if pipeline.whole {
                Packet { data: Bytes::ZERO, last: true }
            } else {
                return;
            };
            pipeline.sent += packet.data;
            pipeline.last_sent = packet.last;
            pipeline.unacknowledged.push_back(packet);
            pipeline.put(ctx, 0, packet, id);
        }
    }

    /// Each DataNode takes the packets that have come, if it can pass them on and its disk is not too far behind.
    fn take_packets(&mut self, ctx: &mut Context, id: PipelineId) {
        let config = &self.config;
        let Some(pipeline) = self.pipelines.get_mut(&id) else { return };
        for hop in 0..pipeline.hops.len() {
            let behind = hop + 1;
            while !pipeline.hops[hop].dead
                && pipeline.hops[hop].unwritten() < config.disk_chunk * 3
                && (behind == pipeline.hops.len() || pipeline.has_room(behind, config.send_buffer, config.read_window))
                && let Some(packet) = pipeline.hops[hop].inbox.pop_front()
            {
                let state = &mut pipeline.hops[hop];
                state.backlog -= packet.data;
                state.taken += 1;
                state.unchecked += packet.data;
                state.last_taken |= packet.last;
                if behind < pipeline.hops.len() {
                    pipeline.put(ctx, behind, packet, id);
                }
            }
        }
    }

    /// A DataNode receives and checks a piece (a whole one, or the rest of the block) while its disk writes the one
    /// before.
    fn write_disks(&mut self, ctx: &mut Context, id: PipelineId) {
        let (chunk, cost) = (self.config.disk_chunk, self.config.receive_cpu);
        let mut finished = Vec::new();
        let Some(pipeline) = self.pipelines.get_mut(&id) else { return };
        let stream = self.namespace.block(pipeline.block).stream;
        let purpose = match pipeline.source {
            Source::Stream(_) | Source::Part { .. } => Purpose::Replica,
            Source::Replica { .. } => Purpose::Recovery,
        };
        for (hop, state) in pipeline.hops.iter_mut().enumerate().filter(|(_, state)| !state.dead) {
            let node = pipeline.nodes[hop];
            let piece = state.unchecked.min(chunk);
            if state.checking == Bytes::ZERO && piece > Bytes::ZERO && (piece == chunk || state.last_taken) {
                state.unchecked -= piece;
                let work = Time::from_secs_f64(cost * piece.get() as f64);
                if work == Time::ZERO {
                    state.checked += piece;
                } else {
                    state.checking = piece;
                    ctx.compute(node, work, Request::PipelineWork { pipeline: id, hop });
                }
            }
            if state.writing == Bytes::ZERO && state.checked > Bytes::ZERO {
                let bytes = std::mem::take(&mut state.checked);
                state.writing = bytes;
                let offset = pipeline.base + state.written;
                let transfer = DiskTransfer::new(state.place.disk, DiskOp::Write, stream, offset, bytes);
                ctx.disk_for(node, transfer, purpose, Request::PipelineDisk { pipeline: id, hop });
            }
            if state.last_taken && !state.finished && state.unwritten() == Bytes::ZERO {
                state.finished = true;
                let replica = Replica { place: state.place, length: pipeline.base + state.written };
                finished.push((node, replica));
            }
        }
        let block = pipeline.block;
        for (node, replica) in finished {
            self.datanode(node).begun.remove(&block);
            self.replica_finished(ctx, node, block, replica);
        }
    }

    /// Acknowledgements go upstream, from the last DataNode on.
    fn send_acks(&mut self, ctx: &mut Context, id: PipelineId) {
        let Some(pipeline) = self.pipelines.get_mut(&id) else { return };
        let tail = pipeline.hops.len() - 1;
        let mut to_client = 0;
        for hop in (0..=tail).rev() {
            let state = &mut pipeline.hops[hop];
            if hop == tail {
                state.acks_in = state.taken;
            }
            let mut ready = state.taken.min(state.acks_in);
            if state.last_taken && ready == state.taken && !state.finished {
                ready -= 1;
            }
            let acks = if state.dead { 0 } else { ready.saturating_sub(state.acks_out) };
            state.acks_out += acks;
            match state.conn {
                Some(conn) => {
                    for _ in 0..acks {
                        let message = Message::Pipeline { pipeline: id, hop, message: PipelineMessage::Ack };
                        ctx.send(conn, End::Server, wire::PACKET_ACK, message, true);
                    }
                }
                None if hop == 0 => to_client = acks,
                None => pipeline.hops[hop - 1].acks_in += acks,
            }
        }
        self.client_acks(ctx, id, to_client);
    }

    /// The client has its acknowledgements.
    fn client_acks(&mut self, ctx: &mut Context, id: PipelineId, acks: usize) {
        let Some(pipeline) = self.pipelines.get_mut(&id) else { return };
        if acks == 0 {
            return;
        }
        pipeline.progress = ctx.now;
        let mut done = false;
        for packet in pipeline.unacknowledged.drain(..acks.min(pipeline.unacknowledged.len())) {
            pipeline.acknowledged += packet.data;
            done |= packet.last;
        }
        let (acknowledged, block, nodes) = (pipeline.acknowledged, pipeline.block, pipeline.nodes.len());
        let source = pipeline.source;
        if done {
            self.close_pipeline(ctx, id);
        } else {
            self.send_packets(ctx, id);
        }
        match source {
            Source::Stream(write) => {
                self.block_acknowledged(ctx, write, acknowledged);
                if done {
                    self.block_written(ctx, write, block, nodes);
                }
            }
            Source::Part { write, part } => self.part_acknowledged(ctx, write, part, acknowledged, done),
            Source::Replica { .. } => {}
        }
    }

    pub(super) fn pipeline_connected(&self, ctx: &mut Context, id: PipelineId, hop: usize, conn: ConnId) {
        if !self.pipelines.contains_key(&id) {
            return ctx.abort(conn, End::Client);
        }
        let message = Message::Pipeline { pipeline: id, hop, message: PipelineMessage::Header };
        ctx.send(conn, End::Client, wire::TRANSFER_HEADER, message, true);
    }

    pub(super) fn pipeline_delivered(
        &mut self,
        ctx: &mut Context,
        id: PipelineId,
        hop: usize,
        (conn, end): (ConnId, End),
        message: PipelineMessage,
    ) {
        let Some(pipeline) = self.pipelines.get_mut(&id) else { return ctx.abort(conn, end) };
        match message {
            PipelineMessage::Header => self.set_up_hop(ctx, id, hop + 1),
            PipelineMessage::Ready => self.sender_ready(ctx, id, hop),
            PipelineMessage::Packet => {
                let state = &mut pipeline.hops[hop];
                state.inbox.extend(state.under_way.pop_front());
                self.pump(ctx, id);
            }
            PipelineMessage::Ack if hop == 0 => self.client_acks(ctx, id, 1),
            PipelineMessage::Ack => {
                pipeline.hops[hop - 1].acks_in += 1;
                self.send_acks(ctx, id);
            }
        }
    }

    /// A packet has left the connection of its sender.
    pub(super) fn packet_acknowledged(&mut self, ctx: &mut Context, id: PipelineId, hop: usize) {
        if let Some(pipeline) = self.pipelines.get_mut(&id) {
            let state = &mut pipeline.hops[hop];
            let wire = state.buffered.pop_front().unwrap_or_default();
            state.buffered_sum -= wire;
            self.pump(ctx, id);
        }
    }

    pub(super) fn pipeline_work_done(&mut self, ctx: &mut Context, id: PipelineId, hop: usize) {
        if let Some(pipeline) = self.pipelines.get_mut(&id) {
            let state = &mut pipeline.hops[hop];
            state.checked += std::mem::take(&mut state.checking);
            self.pump(ctx, id);
        }
    }

    pub(super) fn pipeline_disk_done(&mut self, ctx: &mut Context, id: PipelineId, hop: usize) {
        if let Some(pipeline) = self.pipelines.get_mut(&id) {
            let state = &mut pipeline.hops[hop];
            state.written += std::mem::take(&mut state.writing);
            self.pump(ctx, id);
        }
    }

    pub(super) fn source_disk_done(&mut self, ctx: &mut Context, id: PipelineId) {
        if let Some(pipeline) = self.pipelines.get(&id) {
            let length = self.namespace.block(pipeline.block).length;
            let available = (pipeline.available + self.config.disk_chunk).min(length);
            self.feed(ctx, id, available, available == length);
        }
    }

    /// A DataNode does what the NameNode has ordered.
    pub(super) fn copy_block(&mut self, ctx: &mut Context, node: NodeId, copy: Copy) {
        if self.namespace.group_of(copy.block).is_some() {
            return self.rebuild_part(ctx, node, copy.block);
        }
        self.send_replica(ctx, node, copy, false);
    }
    /// A DataNode sends its replica to another for the Balancer. Returns whether it has one.
    pub(super) fn move_block(&mut self, ctx: &mut Context, node: NodeId, copy: Copy) -> bool {
        self.send_replica(ctx, node, copy, true)
    }
    fn send_replica(&mut self, ctx: &mut Context, node: NodeId, copy: Copy, moved: bool) -> bool {
        let Some(replica) = self.datanode(node).replicas.get(&copy.block).copied() else { return false };
        let source = Source::Replica { disk: replica.place.disk, asked: Bytes::ZERO, moved };
        let pipeline = Pipeline::new(source, node, copy.block, copy.targets, Bytes::ZERO, ctx.now);
        let id = self.start_pipeline(ctx, pipeline);
        self.pump(ctx, id);
        true
    }
}
