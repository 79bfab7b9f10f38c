//! Many small files as a job's input, and what may stand between the two: an archive, a sequence file, an input format
//! that combines them (Yang 2012, 3.3.2).

use super::combine;
use super::split::{Piece, Split, hosts_of, pieces_of};
use crate::context::Context;
use crate::hdfs::Hdfs;
use crate::ids::FileId;
use crate::numbers::whole;
use units::Bytes;

/// How a job reads the files of its input.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum Packing {
    /// Each by itself: a map for each block of a file (`FileInputFormat`).
    #[default]
    None,
    /// As they are, but maps have several (`CombineFileInputFormat`).
    Combined {
        /// `mapreduce.input.fileinputformat.split.maxsize`: a split with so many bytes is full.
        split: Bytes,
    },
    /// In a Hadoop archive, read through `har://`: each file has a map still.
    Archive(Archive),
    /// As the records of one sequence file, name by content: a map for each block.
    SequenceFile,
}

/// A Hadoop archive, as `hadoop archive` writes it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Archive {
    /// `har.partfile.size` (2 GiB): of its part files.
    pub part: Bytes,
    /// `har.block.size` (512 MiB): of their blocks.
    pub block: Bytes,
    /// The part of the files that were changed since. Their new content is in a part file of its own, and their new
    /// lines in the index: an archive that need not be made anew (Yang 2012, 3.3.2, names it as future work; Hadoop
    /// has none).
    pub changed: f64,
}

/// A line of an archive's `_index`: name, kind, part file, offset, length, and time, mode and owners, some 100 bytes.
const INDEX_LINE: u64 = 100;
/// Its `_masterindex` has a line for each 1,000 of them (`HadoopArchives.numIndexes`): two hashes, two offsets.
const LINES: u64 = 1_000;
const MASTER_LINE: u64 = 40;

/// Of a sequence file: its header; and beside each record's content its length and its key's, a name of some 30 bytes
/// with its own length, the content's length, and an escape and a mark of 16 bytes to find it by.
const SEQUENCE_HEADER: u64 = 100;
const SEQUENCE_RECORD: u64 = 4 + 4 + 31 + 4 + 4 + 16;

/// The length of a sequence file with these files.
pub(super) fn sequence_file(files: &[Bytes]) -> Bytes {
    let records: Bytes = files.iter().map(|file| *file + Bytes::new(SEQUENCE_RECORD)).sum();
    records + Bytes::new(SEQUENCE_HEADER)
}

/// The part file of each file of an archive, and where it begins in it; and the length of each part file.
///
/// The copying job has a map for each part file. A map's share ends before the file that would make it larger than the
/// total over the number of maps (`HArchiveInputFormat.getSplits`).
fn layout(files: &[Bytes], archive: &Archive) -> (Vec<(usize, Bytes)>, Vec<Bytes>) {
    let total: Bytes = files.iter().copied().sum();
    let maps = (total.get() / archive.part.get().max(1)).max(1);
    let target = total / maps;
    let mut parts = vec![Bytes::ZERO];
    let mut places = Vec::with_capacity(files.len());
    for file in files {
        let mut part = parts.len() - 1;
        if parts[part] > Bytes::ZERO && parts[part] + *file > target {
            parts.push(Bytes::ZERO);
            part += 1;
        }
        places.push((part, parts[part]));
        parts[part] += *file;
    }
    // Every so many files one has been written again, to the end.
    let before = |number: usize| whole((number as f64 * archive.changed).floor());
    let changed: Vec<usize> = (0..files.len()).filter(|file| before(file + 1) > before(*file)).collect();
    if !changed.is_empty() {
        let last = parts.len();
        parts.push(Bytes::ZERO);
        for file in changed {
            places[file] = (last, parts[last]);
            parts[last] += files[file];
        }
    }
    (places, parts)
}

/// The splits of files in an archive. A map opens the archive first: it reads the master index and the whole index
/// (`HarMetaData.parseMetaData`).
pub(super) fn archived(files: &[Bytes], archive: &Archive, ctx: &mut Context, hdfs: &mut Hdfs) -> Vec<Split> {
    let (places, parts) = layout(files, archive);
    let replication = hdfs.config().replication;
    let changed = whole((files.len() as f64 * archive.changed).floor());
    let lines = files.len() as u64 + changed;
    let master = Bytes::new(MASTER_LINE * lines.div_ceil(LINES).max(1));
    let mut add = |length: Bytes| hdfs.add_input(ctx, length, archive.block, replication, None);
    let indices = [add(master), add(Bytes::new(INDEX_LINE * lines))];
    let parts: Vec<FileId> = parts.into_iter().map(add).collect();
    let whole = |file: &FileId| range(hdfs, *file, Bytes::ZERO, hdfs.namespace().length(*file));
    let index: Vec<Piece> = indices.iter().flat_map(whole).collect();
    let split = |(file, &(part, offset)): (&Bytes, &(usize, Bytes))| {
        let blocks = range(hdfs, parts[part], offset, *file);
        let hosts = blocks.first().map(|piece| hosts_of(hdfs, piece.block)).unwrap_or_default();
        Split { blocks, bytes: *file, hosts, index: index.clone(), ..Split::default() }
    };
    files.iter().zip(&places).filter(|(file, _)| **file > Bytes::ZERO).map(split).collect()
}

/// A range of a file as ranges of its blocks.
fn range(hdfs: &Hdfs, file: FileId, offset: Bytes, length: Bytes) -> Vec<Piece> {
    let end = Bytes::new(offset.get().saturating_add(length.get()));
    let mut at = Bytes::ZERO;
    let mut pieces = Vec::new();
    for &block in &hdfs.namespace().file(file).blocks {
        let next = at + hdfs.namespace().block(block).length;
        let (from, to) = (offset.max(at), end.min(next));
        if from < to {
            pieces.push(Piece { block, offset: from - at, length: to - from });
        }
        at = next;
    }
    pieces
}

/// The splits of files that an input format combines.
pub(super) fn combined(files: &[FileId], split: Bytes, ctx: &Context, hdfs: &Hdfs) -> Vec<Split> {
    let block_size = hdfs.config().block_size;
    let blocks = files.iter().flat_map(|file| &hdfs.namespace().file(*file).blocks);
    let pieces = blocks.flat_map(|block| pieces_of(*block, block_size, hdfs));
    let held: Vec<combine::Held> =
        pieces.flat_map(|piece| combine::cut(piece, split)).map(|piece| (piece, hosts_of(hdfs, piece.block))).collect();
    let nodes: Vec<_> = ctx.nodes.workers().collect();
    let groups = combine::groups(&held, split, &nodes, |node| ctx.nodes.rack(node));
    let of = |group: combine::Group| {
        let blocks: Vec<Piece> = group.parts.into_iter().map(|part| held[part].0).collect();
        let bytes = blocks.iter().map(|piece| piece.length).sum();
        Split { blocks, bytes, hosts: group.hosts, ..Split::default() }
    };
    groups.into_iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn archive(part: u64, changed: f64) -> Archive {
        Archive { part: Bytes::new(part), block: Bytes::new(512), changed }
    }

    /// 100 bytes in files of 10, parts of 40: two maps (100 / 40), each up to 50 bytes.
    #[test]
    fn an_archives_part_files_are_the_shares_of_its_maps() {
        let files = [Bytes::new(10); 10];
        let (places, parts) = layout(&files, &archive(40, 0.0));
        assert_eq!(parts, [Bytes::new(50), Bytes::new(50)]);
        assert_eq!(places[4], (0, Bytes::new(40)));
        assert_eq!(places[5], (1, Bytes::ZERO));
        let (_, parts) = layout(&files, &archive(1_000, 0.0));
        assert_eq!(parts, [Bytes::new(100)]);
    }

    /// A fifth of ten files are new: the old ones' bytes stay where they were.
    #[test]
    fn changed_files_stand_in_a_part_of_their_own() {
        let files = [Bytes::new(10); 10];
        let (places, parts) = layout(&files, &archive(1_000, 0.2));
        assert_eq!(parts, [Bytes::new(100), Bytes::new(20)]);
        let moved: Vec<usize> = (0..10).filter(|file| places[*file].0 == 1).collect();
        assert_eq!(moved, [4, 9]);
        assert_eq!(places[9], (1, Bytes::new(10)));
        assert_eq!(places[8], (0, Bytes::new(80)));
    }
}
