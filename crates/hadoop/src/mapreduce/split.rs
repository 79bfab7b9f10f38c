//! What a job reads, and the splits of it that its maps get.

use super::file_system::{ObjectRange, object_splits};
use super::job::JobSpec;
use super::packing::{self, Packing};
use crate::context::Context;
use crate::hdfs::{Hdfs, ReadOrder};
use crate::ids::{BlockId, FileId, NodeId};
use crate::numbers::{count, scaled};
use crate::platform::Platform;
use crate::workload::{InputFormat, KeyGroups, Partitions, Source};
use units::{Bytes, Time};

/// A control file of TestDFSIO: a sequence file with a name and a length.
pub(super) const CONTROL_FILE: Bytes = Bytes::new(112);

/// What a job reads.
#[derive(Clone, PartialEq, Debug)]
pub enum JobInput {
    /// Files of these lengths, which exist in HDFS when the run begins (made data for a workload whose maps generate
    /// it: its volume).
    Files(Vec<Bytes>),
    /// Splits of these lengths with the nodes that hold their replicas (a recorded layout).
    Splits(Vec<(Bytes, Vec<NodeId>)>),
    /// Whole files that small control files name (TestDFSIO): a map runs near its control file, wherever its data is.
    Named(Vec<NamedFile>),
}

/// A file that a control file names.
#[derive(Clone, PartialEq, Debug)]
pub struct NamedFile {
    /// Its length.
    pub length: Bytes,
    /// The node on which it was written, which holds a replica of each of its blocks; none if it came from outside.
    pub writer: Option<NodeId>,
    /// The nodes that hold the control file; none if HDFS places it.
    pub named_on: Vec<NodeId>,
}

impl JobInput {
    /// All bytes of it.
    pub fn bytes(&self) -> Bytes {
        match self {
            Self::Files(files) => files.iter().copied().sum(),
            Self::Splits(splits) => splits.iter().map(|(bytes, _)| *bytes).sum(),
            Self::Named(files) => files.iter().map(|file| file.length).sum(),
        }
    }
}

/// Input that is placed by the keys of its map output (Yang 2012, chapter 3): each block holds records whose keys
/// belong to one node, on which it stands.
#[derive(Clone, PartialEq, Debug)]
pub struct Keyed {
    /// The part of a map's output whose keys belong to the node of its block: all of it where a record has one key. The
    /// rest belongs to any node.
    pub at_home: f64,
    /// How long a reduce waits for a container or slot on the node whose keys it has, before it takes any.
    pub patience: Time,
    /// Where which keys stand; none if every node and every reducer has as many, which no key outweighs.
    pub layout: Option<KeyLayout>,
}

/// Where the keys of a job's map output stand, and which reducer has them.
#[derive(Clone, PartialEq, Debug)]
pub struct KeyLayout {
    /// By worker, from the first.
    pub homes: Vec<KeyHome>,
    /// The node on which each reducer's keys stand; where they stand on several, the one that it is to run on.
    pub of_reducer: Vec<NodeId>,
}

/// The keys that stand on a node.
#[derive(Clone, PartialEq, Debug)]
pub struct KeyHome {
    /// The files that they stand in.
    pub files: Vec<KeyFile>,
    /// The reducers' shares of what a map makes of a split of it, in any unit.
    pub shares: Vec<f64>,
    /// How many they are and how often each comes, for a combiner.
    pub keys: KeyGroups,
}

/// A file of a bucket, or of a part of a split key, as `trunkline kat load` writes it.
#[derive(Clone, PartialEq, Debug)]
pub struct KeyFile {
    /// The part of the input that it is.
    pub input: f64,
    /// The nodes that have its copies, the keys' own first.
    pub nodes: Vec<NodeId>,
}

/// A range of a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece {
    pub block: BlockId,
    pub offset: Bytes,
    pub length: Bytes,
}

/// The input of one map.
#[derive(Debug, Clone, Default)]
pub(crate) struct Split {
    pub blocks: Vec<Piece>,
    /// In place of blocks, if it is of an object.
    pub object: Option<ObjectRange>,
    pub bytes: Bytes,
    /// What is in the splits before it, by their numbers: what is rounded over all of them loses nothing.
    pub before: Bytes,
    /// Where its file goes on, if its reader reads on to the end of its last record there.
    pub next: Option<(BlockId, Bytes)>,
    /// Nodes with a replica of its first block.
    pub hosts: Vec<NodeId>,
    /// What a map reads before it to find its bytes.
    pub index: Vec<Piece>,
    /// The node whose keys its records have, if it is placed by key.
    pub home: Option<NodeId>,
}

impl Split {
    /// The length of what is read first of it.
    pub fn first_piece(&self) -> Bytes {
        let block = self.blocks.first().map(|piece| piece.length);
        self.object.map(|range| range.length).or(block).unwrap_or_default()
    }
}

/// The blocks of files that are placed by key: the nodes take turns, and all blocks of a node's keys have their copies
/// on the same nodes, the first of which is the node itself.
fn place_by_key(files: &[Bytes], ctx: &mut Context, hdfs: &mut Hdfs) -> Vec<(FileId, NodeId)> {
    let (block_size, replication) = (hdfs.config().block_size, hdfs.config().replication);
    let homes: Vec<NodeId> = ctx.nodes.workers().collect();
    let groups: Vec<Vec<NodeId>> = homes.iter().map(|home| hdfs.group_of(ctx, *home, replication)).collect();
    let mut placed = Vec::new();
    let mut turn = 0;
    for file in files {
        let mut left = *file;
        while left > Bytes::ZERO {
            let length = left.min(block_size);
            let group = &groups[turn % groups.len()];
            placed.push((
                hdfs.place_file(ctx, count(group.len()), &[(length, group.clone())]),
                homes[turn % homes.len()],
            ));
            left -= length;
            turn += 1;
        }
    }
    placed
}

/// The splits of files that are laid out by key, as `PlacedTextInputFormat` (`hadoop/`) makes them: a node's files
/// follow one another and are cut into parts of one length.
fn laid_out(total: Bytes, layout: &KeyLayout, ctx: &mut Context, hdfs: &mut Hdfs) -> Vec<Split> {
    let block_size = hdfs.config().block_size;
    let shares: Vec<f64> = layout.homes.iter().flat_map(|home| &home.files).map(|file| file.input).collect();
    let shares = Partitions::new(&shares);
    let mut lengths = (0..shares.len()).map(|file| shares.part(total, file));
    let homes: Vec<NodeId> = ctx.nodes.workers().collect();
    let mut splits = Vec::new();
    for (home, keys) in homes.into_iter().zip(&layout.homes) {
        let mut pieces = Vec::new();
        for (file, length) in keys.files.iter().zip(&mut lengths).filter(|(_, length)| *length > Bytes::ZERO) {
            let blocks = (0..length.get().div_ceil(block_size.get()))
                .map(|block| (block_size.min(length - block_size * block), file.nodes.clone()));
            let id = hdfs.place_file(ctx, count(file.nodes.len()), &blocks.collect::<Vec<_>>());
            pieces
                .extend(hdfs.namespace().file(id).blocks.iter().flat_map(|block| pieces_of(*block, block_size, hdfs)));
        }
        splits.extend(joined(&pieces, block_size).into_iter().map(|blocks| Split {
            bytes: blocks.iter().map(|piece| piece.length).sum(),
            blocks,
            hosts: vec![home],
            home: Some(home),
            ..Split::default()
        }));
    }
    splits
}

/// How many splits the files of a node are: of equal length, as near a block as may be, and no more than 1.1 blocks, as
/// `FileInputFormat` has it of the last split of a file (`SPLIT_SLOP`).
pub fn joined_splits(bytes: Bytes, block: Bytes) -> u64 {
    let (bytes, block) = (bytes.get(), block.get().max(1));
    let at_least = bytes.saturating_mul(10).div_ceil(block.saturating_mul(11));
    let nearest = bytes.saturating_add(block / 2) / block;
    at_least.max(nearest)
}

/// Cuts pieces that follow one another into parts of equal length.
fn joined(pieces: &[Piece], block: Bytes) -> Vec<Vec<Piece>> {
    let total: Bytes = pieces.iter().map(|piece| piece.length).sum();
    let count = joined_splits(total, block);
    let end_of = |part: u64| Bytes::new(scaled(total.get(), part, count));
    let (mut parts, mut part, mut at) = (Vec::new(), Vec::new(), Bytes::ZERO);
    for piece in pieces {
        let mut offset = Bytes::ZERO;
        while offset < piece.length {
            let end = end_of(parts.len() as u64 + 1);
            let length = (end - at).min(piece.length - offset);
            part.push(Piece { offset: piece.offset + offset, length, ..*piece });
            offset += length;
            at += length;
            if at == end {
                parts.push(std::mem::take(&mut part));
            }
        }
    }
    parts
}

/// The nodes near which a block is read: those with a replica. Where disks rest, that of the first one, which does not.
pub(super) fn hosts_of(hdfs: &Hdfs, block: BlockId) -> Vec<NodeId> {
    let mut hosts = hdfs.namespace().holders(block);
    if hdfs.config().read_order == ReadOrder::Awake {
        hosts.truncate(1);
    }
    hosts
}

/// A block whole; of a block group, which holds several blocks' data, a piece for each.
pub(super) fn pieces_of(block: BlockId, block_size: Bytes, hdfs: &Hdfs) -> Vec<Piece> {
    let whole = hdfs.namespace().block(block).length;
    if hdfs.namespace().code(block).is_none() || whole <= block_size {
        return vec![Piece { block, offset: Bytes::ZERO, length: whole }];
    }
    let offsets = (0..whole.get().div_ceil(block_size.get())).map(|turn| block_size * turn);
    offsets.map(|offset| Piece { block, offset, length: block_size.min(whole - offset) }).collect()
}

/// Where splits go on whose last records may end in the next block of their file. Splits that are given one by one
/// follow each other in one file while they are whole blocks: what is shorter is the end of a file.
fn read_on(splits: &mut [Split], spec: &JobSpec, hdfs: &Hdfs) {
    let is_one_file = match spec.input {
        JobInput::Splits(_) => true,
        JobInput::Files(_) => spec.whole_files,
        JobInput::Named(_) => return,
    };
    let (block_size, namespace) = (hdfs.config().block_size.get(), hdfs.namespace());
    let format = match spec.packing {
        Packing::SequenceFile => InputFormat::SequenceFile,
        _ => spec.workload.input_format,
    };
    let mut end = Bytes::ZERO;
    for number in 1..splits.len() {
        let (split, following) = (&splits[number - 1], &splits[number]);
        let (Some(last), Some(next)) = (split.blocks.last(), following.blocks.first()) else { continue };
        let is_same = namespace.block(last.block).file == namespace.block(next.block).file;
        if !split.bytes.get().is_multiple_of(block_size) || !(is_same || is_one_file) {
            end = Bytes::ZERO;
            continue;
        }
        end += split.bytes;
        splits[number - 1].next = format.reads_on(end).then_some((next.block, next.offset));
    }
}

/// Splits of objects are near no node.
pub(super) fn of_objects(spec: &JobSpec, platform: &mut Platform) -> Vec<Split> {
    let lengths: Vec<Bytes> = match &spec.input {
        JobInput::Files(files) => files.clone(),
        JobInput::Splits(splits) => splits.iter().map(|(bytes, _)| *bytes).collect(),
        JobInput::Named(files) => files.iter().map(|file| file.length).collect(),
    };
    let ranges = object_splits(platform.store, lengths, spec.whole_files);
    let wanted = |bytes: Bytes| spec.stride.map_or(bytes, |stride| stride.of(bytes));
    let split = |range: ObjectRange| Split { bytes: wanted(range.length), object: Some(range), ..Split::default() };
    let mut splits: Vec<Split> = ranges.into_iter().map(split).collect();
    if !spec.whole_files && matches!(spec.input, JobInput::Files(_)) {
        splits.sort_by_key(|split| std::cmp::Reverse(split.bytes));
    }
    splits
}

/// The splits of what a job reads from HDFS, or makes; its files are put there.
pub(super) fn splits(spec: &JobSpec, ctx: &mut Context, hdfs: &mut Hdfs) -> Vec<Split> {
    if let Source::Generated { maps } = spec.workload.source {
        let total = spec.input.bytes();
        let share = |k: u64| total.get() * k / u64::from(maps.max(1));
        return (0..u64::from(maps))
            .map(|k| Split { bytes: Bytes::new(share(k + 1) - share(k)), ..Split::default() })
            .collect();
    }
    let (block_size, replication) = (hdfs.config().block_size, hdfs.config().replication);
    let by_key = match (&spec.input, &spec.keyed) {
        (JobInput::Files(_), Some(Keyed { layout: Some(layout), .. })) => {
            let mut splits = laid_out(spec.input.bytes(), layout, ctx, hdfs);
            splits.sort_by_key(|split| std::cmp::Reverse(split.bytes));
            return splits;
        }
        (JobInput::Files(files), Some(_)) => place_by_key(files, ctx, hdfs),
        _ => Vec::new(),
    };
    if let (JobInput::Files(files), Packing::Archive(archive), None) = (&spec.input, &spec.packing, &spec.keyed) {
        let mut splits = packing::archived(files, archive, ctx, hdfs);
        splits.sort_by_key(|split| std::cmp::Reverse(split.bytes));
        return splits;
    }
    let files: Vec<FileId> = match &spec.input {
        JobInput::Files(_) if spec.keyed.is_some() => by_key.iter().map(|(file, _)| *file).collect(),
        JobInput::Files(files) if spec.packing == Packing::SequenceFile => {
            vec![hdfs.add_input(ctx, packing::sequence_file(files), block_size, replication, None)]
        }
        JobInput::Files(files) => {
            files.iter().map(|&length| hdfs.add_input(ctx, length, block_size, replication, None)).collect()
        }
        JobInput::Named(files) => {
            files.iter().map(|file| hdfs.add_input(ctx, file.length, block_size, replication, file.writer)).collect()
        }
        JobInput::Splits(splits) => splits
            .iter()
            .map(|(bytes, hosts)| match hdfs.config().erasure {
                // Each a group of its own: a record does not say which splits are of one.
                Some(code) => hdfs.place_group(ctx, code, *bytes, hosts),
                None => hdfs.place_file(ctx, count(hosts.len()), &[(*bytes, hosts.clone())]),
            })
            .collect(),
    };
    if let (JobInput::Files(_), Packing::Combined { split }, None) = (&spec.input, spec.packing, &spec.keyed) {
        return packing::combined(&files, split, ctx, hdfs);
    }
    let mut splits: Vec<Split> = Vec::new();
    for file in files {
        let pieces: Vec<Piece> =
            hdfs.namespace().file(file).blocks.iter().flat_map(|block| pieces_of(*block, block_size, hdfs)).collect();
        let groups: Vec<Vec<Piece>> =
            if spec.whole_files { vec![pieces] } else { pieces.into_iter().map(|piece| vec![piece]).collect() };
        for blocks in groups.into_iter().filter(|blocks| !blocks.is_empty()) {
            let bytes = blocks.iter().map(|piece| piece.length).sum();
            let hosts = hosts_of(hdfs, blocks[0].block);
            splits.push(Split { blocks, bytes, hosts, ..Split::default() });
        }
    }
    read_on(&mut splits, spec, hdfs);
    // Each of these files is one block. Its map belongs where its keys do: on another node with a copy it would read
    // locally, and send all that it makes.
    for (split, (_, home)) in splits.iter_mut().zip(&by_key) {
        split.home = Some(*home);
        split.hosts = vec![*home];
    }
    if let JobInput::Named(files) = &spec.input {
        for (split, file) in splits.iter_mut().zip(files) {
            split.hosts = if file.named_on.is_empty() {
                let control = hdfs.add_file(ctx, CONTROL_FILE, block_size, replication, None);
                hdfs.namespace().block(hdfs.namespace().file(control).blocks[0]).replicas.clone()
            } else {
                file.named_on.clone()
            };
        }
    }
    // Hadoop numbers the splits largest first; a recorded layout has its numbers.
    if !spec.whole_files && matches!(spec.input, JobInput::Files(_)) {
        splits.sort_by_key(|split| std::cmp::Reverse(split.bytes));
    }
    splits
}
