//! Files, their blocks, and where the blocks' replicas are: what the NameNode knows.

use super::erasure::ErasureCode;
use crate::ids::{BlockId, DiskStream, FileId, NodeId};
use des::Index;
use units::Bytes;

/// A file: its blocks in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Replicas that each block should have.
    pub replication: u32,
    /// Its blocks in order.
    pub blocks: Vec<BlockId>,
    /// Whether the run writes it; else it was there when the run began.
    pub written: bool,
    /// Whether it is closed.
    pub complete: bool,
}

/// A block and its finished replicas as reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The file that it is part of.
    pub file: FileId,
    /// Its length.
    pub length: Bytes,
    /// The DataNodes that are believed to hold a finished replica, in order of report.
    pub replicas: Vec<NodeId>,
    /// Whether its client has finished writing it.
    pub complete: bool,
    /// Its replica's stream on each DataNode that holds one.
    pub(crate) stream: DiskStream,
    pub(crate) kind: Kind,
}

/// What a block is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Replicas of it are alike.
    Replicated,
    /// A group of erasure-coded parts: it has no replicas of its own.
    Group { code: ErasureCode, parts: Vec<BlockId> },
    /// A part of a group, by its number, on one DataNode.
    Part { group: BlockId, number: usize },
}

/// What the NameNode holds in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Objects {
    /// Files, empty ones among them.
    pub files: u64,
    /// Blocks of files, whatever their replicas.
    pub blocks: u64,
}

impl Objects {
    /// Memory of a file's inode, and of a block (Cloudera, HDFS overview: "Disk space versus namespace").
    pub const EACH: Bytes = Bytes::new(150);

    /// Memory of all.
    pub fn memory(self) -> Bytes {
        Self::EACH * (self.files + self.blocks)
    }
}

/// The files and blocks of the file system.
#[derive(Debug, Default)]
pub struct Namespace {
    files: Vec<File>,
    blocks: Vec<Block>,
}

impl Namespace {
    pub(crate) fn create(&mut self, replication: u32, written: bool) -> FileId {
        let file = FileId::from_usize(self.files.len());
        self.files.push(File { replication, blocks: Vec::new(), written, complete: false });
        file
    }
    pub(crate) fn add_block(&mut self, file: FileId, length: Bytes, stream: DiskStream) -> BlockId {
        let block = BlockId::from_usize(self.blocks.len());
        self.blocks.push(Block { file, length, replicas: Vec::new(), complete: false, stream, kind: Kind::Replicated });
        self.files[file.0 as usize].blocks.push(block);
        block
    }
    /// A block group; its parts are blocks of no file.
    pub(crate) fn add_group(
        &mut self,
        file: FileId,
        code: ErasureCode,
        mut stream: impl FnMut() -> DiskStream,
    ) -> BlockId {
        let group = self.add_block(file, Bytes::ZERO, stream());
        let mut parts = Vec::with_capacity(code.parts());
        for number in 0..code.parts() {
            parts.push(BlockId::from_usize(self.blocks.len()));
            let (kind, stream) = (Kind::Part { group, number }, stream());
            self.blocks.push(Block { file, length: Bytes::ZERO, replicas: Vec::new(), complete: false, stream, kind });
        }
        self.block_mut(group).kind = Kind::Group { code, parts };
        group
    }
    /// A group has so many bytes of data, and no more will come.
    pub(crate) fn close_group(&mut self, group: BlockId, length: Bytes, code: ErasureCode) {
        for (number, part) in self.parts(group).into_iter().enumerate() {
            let part = self.block_mut(part);
            (part.length, part.complete) = (code.in_part(length, number), true);
        }
        let group = self.block_mut(group);
        (group.length, group.complete) = (length, true);
    }
    /// The parts of a group, in order; none of another block.
    pub fn parts(&self, group: BlockId) -> Vec<BlockId> {
        match &self.block(group).kind {
            Kind::Group { parts, .. } => parts.clone(),
            Kind::Replicated | Kind::Part { .. } => Vec::new(),
        }
    }
    /// The code of a group.
    pub fn code(&self, group: BlockId) -> Option<ErasureCode> {
        match &self.block(group).kind {
            Kind::Group { code, .. } => Some(*code),
            Kind::Replicated | Kind::Part { .. } => None,
        }
    }
    /// The group of a part, and its number there.
    pub fn group_of(&self, part: BlockId) -> Option<(BlockId, usize)> {
        match self.block(part).kind {
            Kind::Part { group, number } => Some((group, number)),
            Kind::Replicated | Kind::Group { .. } => None,
        }
    }
    /// The DataNodes that hold a block, or a part of it.
    pub fn holders(&self, block: BlockId) -> Vec<NodeId> {
        let parts = self.parts(block);
        if parts.is_empty() {
            return self.block(block).replicas.clone();
        }
        parts.iter().filter_map(|part| self.block(*part).replicas.first().copied()).collect()
    }
    /// Whether enough of a block is reported for its file to be closed: a replica, or as many parts as give the others
    /// (`dfs.namenode.replication.min`, `dfs.namenode.ec.system.default.policy`'s data units).
    pub(crate) fn is_reported(&self, block: BlockId) -> bool {
        let Some(code) = self.code(block) else { return !self.block(block).replicas.is_empty() };
        let length = self.block(block).length;
        let parts = self.parts(block);
        let held = parts.iter().filter(|part| !self.block(**part).replicas.is_empty()).count();
        // A short group has no more data parts than it has cells.
        let filled = (0..code.data).filter(|part| code.in_part(length, *part) > Bytes::ZERO).count();
        held >= filled.max(1)
    }
    /// How many replicas a block should have; a part has one.
    pub(crate) fn wanted(&self, block: BlockId) -> usize {
        match self.block(block).kind {
            Kind::Part { .. } => 1,
            Kind::Replicated | Kind::Group { .. } => self.file(self.block(block).file).replication as usize,
        }
    }
    /// The block is given up: no file has it any more.
    pub(crate) fn abandon(&mut self, block: BlockId) {
        let file = self.block(block).file;
        self.file_mut(file).blocks.retain(|other| *other != block);
    }
    /// A file.
    pub fn file(&self, file: FileId) -> &File {
        &self.files[file.0 as usize]
    }
    /// A block.
    pub fn block(&self, block: BlockId) -> &Block {
        &self.blocks[block.0 as usize]
    }
    pub(crate) fn file_mut(&mut self, file: FileId) -> &mut File {
        &mut self.files[file.0 as usize]
    }
    pub(crate) fn block_mut(&mut self, block: BlockId) -> &mut Block {
        &mut self.blocks[block.0 as usize]
    }
    /// All blocks in order of creation.
    pub fn blocks(&self) -> impl Iterator<Item = (BlockId, &Block)> {
        self.blocks.iter().enumerate().map(|(i, block)| (BlockId::from_usize(i), block))
    }
    /// Files that the NameNode holds, and their blocks; a block group is one.
    pub fn objects(&self) -> Objects {
        let blocks = self.files.iter().map(|file| file.blocks.len() as u64).sum();
        Objects { files: self.files.len() as u64, blocks }
    }
    /// A file's length.
    pub fn length(&self, file: FileId) -> Bytes {
        self.file(file).blocks.iter().map(|block| self.block(*block).length).sum()
    }
}
