//! Files, their blocks, and where the blocks' replicas are: what the NameNode knows.

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
        self.blocks.push(Block { file, length, replicas: Vec::new(), complete: false, stream });
        self.files[file.0 as usize].blocks.push(block);
        block
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
    /// A file's length.
    pub fn length(&self, file: FileId) -> Bytes {
        self.file(file).blocks.iter().map(|block| self.block(*block).length).sum()
    }
}
