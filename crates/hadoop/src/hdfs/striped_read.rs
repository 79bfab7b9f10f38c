//! Reading a range of a block group, and making a lost part of it again.
//!
//! The reader of a group reads row by row (`DFSStripedInputStream.readOneStripe`): the cells of a row come from their
//! DataNodes side by side, and the application has them when all are there. What DataNodes send beyond the row waits in
//! the sockets' receive buffers. Where a data part cannot be read, a parity part stands in for it: the reader takes k
//! whole cells of each row and computes the missing ones. A DataNode that makes a lost part again does the same with
//! all rows and writes what it computes to its disk (`StripedBlockReconstructor`; HDFS rebuilds several parts of a group
//! in one go, here each is rebuilt by itself).

use super::datanode::{Place, Replica, call_namenode};
use super::erasure::ErasureCode;
use super::{Call, Hdfs, Request, wire};
use crate::context::{Context, DiskTransfer};
use crate::effect::DiskOp;
use crate::event::{Event, ReadNews};
use crate::ids::{BlockId, NodeId, Process, ReadId};
use crate::request::Reader;
use units::Bytes;

/// Rows of a group on their way to a reader.
#[derive(Debug)]
pub(super) struct Gather {
    reader: Process,
    group: BlockId,
    code: ErasureCode,
    goal: Goal,
    /// The data that are wanted: where they begin and end in the group.
    start: Bytes,
    end: Bytes,
    /// The row that is being read.
    row: u64,
    /// Its cells are there, and what is missing of them is being computed, or the row is being written.
    busy: bool,
    /// Data parts of which cells must be computed.
    missing: Vec<usize>,
    /// The parts that are read.
    parts: Vec<PartRead>,
    /// Parts that could not be read.
    failed: Vec<usize>,
}

/// What the rows are for.
#[derive(Debug)]
enum Goal {
    /// A reader that has been told of `at` bytes from the beginning of the group on, and has taken them up to `taken`.
    Reader { owner: Reader, at: Bytes, taken: Bytes },
    /// A part to be made again.
    Part { number: usize, place: Place, written: Bytes },
}

/// A part that is read.
#[derive(Debug)]
struct PartRead {
    number: usize,
    read: ReadId,
    node: NodeId,
    /// Where in the part it ends; with the reader up to here, and taken from the socket up to here.
    end: Bytes,
    arrived: Bytes,
    taken: Bytes,
}

impl Gather {
    /// Where a row ends in the group, as far as data are wanted.
    fn row_end(&self, row: u64) -> Bytes {
        (self.code.row() * (row + 1)).min(self.end)
    }
    /// The data of a row that are wanted of a data part.
    fn wanted(&self, row: u64, part: usize) -> Bytes {
        let (from, to) = ((self.code.row() * row).max(self.start), self.row_end(row));
        self.code.in_part(to, part) - self.code.in_part(from, part)
    }
    /// Where the current row ends in a part that is read.
    fn end_in(&self, part: &PartRead) -> Bytes {
        let whole = self.code.cell * (self.row + 1);
        let wanted =
            if self.missing.is_empty() { self.code.in_part(self.row_end(self.row), part.number) } else { whole };
        wanted.min(part.end)
    }
    /// Whether the application lets the current row be read: it has taken all before.
    fn is_wanted(&self) -> bool {
        match &self.goal {
            Goal::Reader { at, taken, .. } => at == taken,
            Goal::Part { .. } => true,
        }
    }
    fn is_over(&self) -> bool {
        self.row >= self.code.rows(self.end)
    }
}

impl Hdfs {
    /// Begins to read a range of a group: asks the NameNode where its parts are.
    pub(super) fn gather(
        &mut self,
        ctx: &mut Context,
        id: ReadId,
        (reader, group): (Process, BlockId),
        (start, end): (Bytes, Bytes),
        owner: Reader,
    ) {
        let goal = Goal::Reader { owner, at: start, taken: start };
        self.insert_gather(id, (reader, group), (start, end), goal);
        call_namenode(ctx, reader, (wire::CLIENT_CALL, wire::LOCATED_BLOCK), Call::Locate(id));
    }

    /// A DataNode makes a part of a group again, as the NameNode has ordered.
    pub(super) fn rebuild_part(&mut self, ctx: &mut Context, node: NodeId, part: BlockId) {
        let Some((group, number)) = self.namespace.group_of(part) else { return };
        self.next += 1;
        let id = ReadId(self.next);
        let place = self.datanode(node).choose(&ctx.nodes.info(node).disks, false, 0);
        let goal = Goal::Part { number, place, written: Bytes::ZERO };
        let length = self.namespace.block(group).length;
        self.insert_gather(id, (Process::datanode(node), group), (Bytes::ZERO, length), goal);
        self.datanode(node).transfers += 1;
        self.open_gather(ctx, id);
    }

    fn insert_gather(
        &mut self,
        id: ReadId,
        (reader, group): (Process, BlockId),
        (start, end): (Bytes, Bytes),
        goal: Goal,
    ) {
        let Some(code) = self.namespace.code(group) else { return };
        let row = start.get() / code.row().get();
        let (missing, parts, failed) = (Vec::new(), Vec::new(), Vec::new());
        let gather = Gather { reader, group, code, goal, start, end, row, busy: false, missing, parts, failed };
        self.gathers.insert(id, gather);
    }

    /// Chooses the parts to read from the current row on, and begins to read them.
    pub(super) fn open_gather(&mut self, ctx: &mut Context, id: ReadId) {
        self.close_parts(ctx, id);
        let Some(gather) = self.gathers.get_mut(&id) else { return };
        if gather.is_over() {
            return self.finish_gather(ctx, id);
        }
        let (code, group, reader) = (gather.code, gather.group, gather.reader);
        let parts = self.namespace.parts(group);
        let namespace = &self.namespace;
        let held = |number: usize| namespace.block(parts[number]).replicas.first().copied();
        let is_there = |gather: &Gather, number: usize| {
            // A data part that a short group leaves empty is known to be zero.
            let empty = namespace.block(parts[number]).length == Bytes::ZERO;
            !gather.failed.contains(&number) && (empty || held(number).is_some())
        };
        let rows = gather.row..code.rows(gather.end);
        gather.missing = match &gather.goal {
            Goal::Part { number, .. } => vec![*number],
            Goal::Reader { .. } => {
                let is_wanted = |part: &usize| rows.clone().any(|row| gather.wanted(row, *part) > Bytes::ZERO);
                (0..code.data).filter(is_wanted).filter(|part| !is_there(gather, *part)).collect()
            }
        };
        let mut chosen = Vec::new();
        if gather.missing.is_empty() {
            // Data that are there are read as they are wanted.
            let from = (code.row() * gather.row).max(gather.start);
            chosen.extend((0..code.data).map(|part| (part, code.in_part(from, part), code.in_part(gather.end, part))));
        } else {
            let there = (0..code.parts()).filter(|part| !gather.missing.contains(part) && is_there(gather, *part));
            let from = code.cell * gather.row;
            let end = |part: usize| (code.cell * rows.end).min(namespace.block(parts[part]).length);
            chosen.extend(there.take(code.data).map(|part| (part, from, end(part))));
            if chosen.len() < code.data {
                return self.fail_gather(ctx, id);
            }
        }
        for (number, from, end) in chosen.into_iter().filter(|(_, from, end)| from < end) {
            let node = self.namespace.block(parts[number]).replicas.first().copied().unwrap_or(reader.node);
            let read = self.read_part(ctx, reader, parts[number], (from, end), id);
            if let Some(gather) = self.gathers.get_mut(&id) {
                gather.parts.push(PartRead { number, read, node, end, arrived: from, taken: from });
            }
        }
        self.advance_gather(ctx, id);
    }

    /// News of the read of a part.
    pub(crate) fn on_part(&mut self, ctx: &mut Context, id: ReadId, read: ReadId, news: ReadNews) {
        let Some(gather) = self.gathers.get_mut(&id) else { return };
        let Some(part) = gather.parts.iter_mut().find(|part| part.read == read) else { return };
        match news {
            ReadNews::Progress { source, bytes } => {
                part.arrived += bytes;
                part.node = source;
                self.advance_gather(ctx, id);
            }
            ReadNews::Done => {}
            ReadNews::Failed => {
                gather.failed.push(part.number);
                self.counters.read_failovers += 1;
                // The current row is read anew, with another part.
                if !gather.busy {
                    self.open_gather(ctx, id);
                }
            }
        }
    }

    /// Takes from the sockets what belongs to the current row, and goes on when the row is whole.
    fn advance_gather(&mut self, ctx: &mut Context, id: ReadId) {
        let cost = self.config.coding_cost;
        let Some(gather) = self.gathers.get_mut(&id) else { return };
        if gather.busy || !gather.is_wanted() || gather.is_over() {
            return;
        }
        let ends: Vec<Bytes> = gather.parts.iter().map(|part| gather.end_in(part)).collect();
        let mut takes = Vec::new();
        for (part, end) in gather.parts.iter_mut().zip(&ends) {
            let to = part.arrived.min(*end);
            if to > part.taken {
                takes.push((part.read, to - part.taken));
                part.taken = to;
            }
        }
        let whole = gather.parts.iter().zip(&ends).all(|(part, end)| part.arrived >= *end);
        if whole {
            gather.busy = true;
            let length = self.namespace.block(gather.group).length;
            let rest = length.saturating_sub(gather.code.row() * gather.row);
            let work = gather.code.work(gather.missing.len(), rest.min(gather.code.cell), cost);
            if gather.missing.is_empty() {
                self.row_decoded(ctx, id);
            } else {
                ctx.compute(gather.reader.node, work, Request::RowDecoded(id));
            }
        }
        for (read, bytes) in takes {
            self.take(ctx, read, bytes);
        }
    }

    /// All cells of the row are there.
    pub(super) fn row_decoded(&mut self, ctx: &mut Context, id: ReadId) {
        let Some(gather) = self.gathers.get_mut(&id) else { return };
        let row = gather.row;
        match &gather.goal {
            Goal::Part { number, place, written } => {
                let end = self.namespace.parts(gather.group).get(*number).map(|part| self.namespace.block(*part));
                let Some(block) = end else { return };
                let bytes = gather.code.cell.min(block.length - *written);
                let transfer = DiskTransfer::new(place.disk, DiskOp::Write, block.stream, *written, bytes);
                ctx.disk(gather.reader.node, transfer, Request::RowWritten(id));
            }
            Goal::Reader { owner, .. } => {
                let owner = *owner;
                // Cells that were computed count as come from a DataNode that stood in.
                let stand_in = gather.parts.last().map_or(gather.reader.node, |part| part.node);
                let node_of = |number: usize| {
                    let read = gather.parts.iter().find(|part| part.number == number);
                    read.map_or(stand_in, |part| part.node)
                };
                let news: Vec<(NodeId, Bytes)> =
                    (0..gather.code.data).map(|part| (node_of(part), gather.wanted(row, part))).collect();
                let end = gather.row_end(row);
                if let Goal::Reader { at, .. } = &mut gather.goal {
                    *at = end;
                }
                (gather.row, gather.busy) = (row + 1, false);
                for (source, bytes) in news.into_iter().filter(|(_, bytes)| *bytes > Bytes::ZERO) {
                    let news = ReadNews::Progress { source, bytes };
                    ctx.raise(Event::Read { read: id, news, reader: owner });
                }
                self.next_row(ctx, id);
            }
        }
    }

    /// A row of a part that is made again is on disk.
    pub(super) fn row_written(&mut self, ctx: &mut Context, id: ReadId) {
        let Some(gather) = self.gathers.get_mut(&id) else { return };
        let Goal::Part { number, written, .. } = &mut gather.goal else { return };
        let length = self.namespace.parts(gather.group).get(*number).map(|part| self.namespace.block(*part).length);
        *written = (*written + gather.code.cell).min(length.unwrap_or_default());
        (gather.row, gather.busy) = (gather.row + 1, false);
        self.next_row(ctx, id);
    }

    fn next_row(&mut self, ctx: &mut Context, id: ReadId) {
        let Some(gather) = self.gathers.get(&id) else { return };
        let lacks = |number: &usize| gather.parts.iter().any(|part| part.number == *number);
        if gather.is_over() {
            self.finish_gather(ctx, id);
        } else if gather.failed.iter().any(lacks) {
            self.open_gather(ctx, id);
        } else {
            self.advance_gather(ctx, id);
        }
    }

    /// Of a read by rows: what its application has been told of and has not taken. Nothing more comes before it has.
    pub fn untaken_row(&self, id: ReadId) -> Option<Bytes> {
        match self.gathers.get(&id)?.goal {
            Goal::Reader { at, taken, .. } => Some(at - taken),
            Goal::Part { .. } => None,
        }
    }

    /// The application has taken what it was told of.
    pub(super) fn take_gathered(&mut self, ctx: &mut Context, id: ReadId, bytes: Bytes) {
        if let Some(gather) = self.gathers.get_mut(&id)
            && let Goal::Reader { at, taken, .. } = &mut gather.goal
        {
            *taken = (*taken + bytes).min(*at);
            self.advance_gather(ctx, id);
        }
    }

    fn finish_gather(&mut self, ctx: &mut Context, id: ReadId) {
        self.close_parts(ctx, id);
        let Some(gather) = self.gathers.remove(&id) else { return };
        match gather.goal {
            Goal::Reader { owner, .. } => ctx.raise(Event::Read { read: id, news: ReadNews::Done, reader: owner }),
            Goal::Part { number, place, .. } => {
                let node = gather.reader.node;
                self.transfer_over(node);
                if let Some(part) = self.namespace.parts(gather.group).get(number) {
                    let length = self.namespace.block(*part).length;
                    self.replica_finished(ctx, node, *part, Replica { place, length });
                }
            }
        }
    }

    /// Too few parts can be read. A part that was to be made again is ordered again when its report is missed.
    pub(super) fn fail_gather(&mut self, ctx: &mut Context, id: ReadId) {
        let owner = match self.gathers.get(&id).map(|gather| &gather.goal) {
            Some(Goal::Reader { owner, .. }) => Some(*owner),
            _ => None,
        };
        self.drop_gather(ctx, id);
        if let Some(reader) = owner {
            ctx.raise(Event::Read { read: id, news: ReadNews::Failed, reader });
        }
    }

    /// Stops it; nothing more is told of it.
    pub(super) fn drop_gather(&mut self, ctx: &mut Context, id: ReadId) {
        self.close_parts(ctx, id);
        if let Some(Gather { goal: Goal::Part { .. }, reader, .. }) = self.gathers.remove(&id) {
            self.transfer_over(reader.node);
        }
    }

    fn close_parts(&mut self, ctx: &mut Context, id: ReadId) {
        let Some(gather) = self.gathers.get_mut(&id) else { return };
        for part in std::mem::take(&mut gather.parts) {
            self.cancel_read(ctx, part.read);
        }
    }

    /// The readers of a crashed node are gone.
    pub(super) fn gathers_node_down(&mut self, ctx: &mut Context, node: NodeId) {
        let of_node = |(_, gather): &(&ReadId, &Gather)| gather.reader.node == node;
        let gone: Vec<ReadId> = self.gathers.iter().filter(of_node).map(|(id, _)| *id).collect();
        for id in gone {
            self.drop_gather(ctx, id);
        }
    }
}
