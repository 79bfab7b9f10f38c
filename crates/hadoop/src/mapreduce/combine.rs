//! Splits of `CombineFileInputFormat`: blocks of many files, grouped by node, then by rack, then anyhow.

use super::split::Piece;
use crate::ids::NodeId;
use units::Bytes;

/// Blocks, or parts of them, with the nodes that hold each.
pub(super) type Held = (Piece, Vec<NodeId>);

/// A split: its parts by their numbers, and the nodes near which it is to run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Group {
    pub parts: Vec<usize>,
    pub hosts: Vec<NodeId>,
}

/// Cuts a file's range to parts that are no longer than a split: whole ones, but of the last two each the half
/// (`OneFileInfo`).
pub(super) fn cut(piece: Piece, most: Bytes) -> Vec<Piece> {
    let mut parts = Vec::new();
    let mut done = Bytes::ZERO;
    while done < piece.length {
        let left = piece.length - done;
        let length = if left > most && left < most * 2 { left / 2 } else { left.min(most) };
        parts.push(Piece { offset: piece.offset + done, length, ..piece });
        done += length;
    }
    parts
}

/// Groups blocks to splits of at least `most` bytes each, a split of a node or rack in turn; what is left over at a
/// node goes to its rack, and what is left there to the last splits (`createSplits`, with no least size of a node's or
/// rack's). Nodes take turns by their numbers, which in Hadoop is a hash map's order.
pub(super) fn groups(blocks: &[Held], most: Bytes, nodes: &[NodeId], rack: impl Fn(NodeId) -> u32) -> Vec<Group> {
    let mut pool = Pool { free: vec![true; blocks.len()], blocks, most };
    let mut groups = Vec::new();
    // By node.
    let held_by = |node: NodeId| (0..blocks.len()).filter(|block| blocks[*block].1.contains(&node)).collect::<Vec<_>>();
    let mut lists: Vec<(NodeId, Vec<usize>, usize)> = nodes.iter().map(|node| (*node, held_by(*node), 0)).collect();
    while !lists.is_empty() {
        lists.retain_mut(|(node, list, at)| {
            let Ok(parts) = pool.take(list, at) else { return false };
            groups.push(Group { parts, hosts: vec![*node] });
            true
        });
    }
    // By rack.
    let mut racks: Vec<u32> = nodes.iter().map(|node| rack(*node)).collect();
    racks.sort_unstable();
    racks.dedup();
    let hosts_of = |racks: &[u32]| nodes.iter().copied().filter(|node| racks.contains(&rack(*node))).collect();
    let in_rack = |number: u32| {
        let has = |block: &usize| blocks[*block].1.iter().any(|node| rack(*node) == number);
        (0..blocks.len()).filter(has).collect::<Vec<_>>()
    };
    let mut lists: Vec<(u32, Vec<usize>, usize)> = racks.iter().map(|rack| (*rack, in_rack(*rack), 0)).collect();
    let mut overflow = Vec::new();
    while !lists.is_empty() {
        lists.retain_mut(|(rack, list, at)| match pool.take(list, at) {
            Ok(parts) => {
                groups.push(Group { parts, hosts: hosts_of(&[*rack]) });
                true
            }
            Err(left) => {
                for block in &left {
                    pool.free[*block] = false;
                }
                overflow.extend(left);
                false
            }
        });
    }
    // What is left, and blocks that nobody holds.
    overflow.extend((0..blocks.len()).filter(|block| pool.free[*block]));
    let mut parts = Vec::new();
    let mut size = Bytes::ZERO;
    let finish = |parts: &mut Vec<usize>, groups: &mut Vec<Group>| {
        let parts = std::mem::take(parts);
        let mut racks: Vec<u32> = parts.iter().flat_map(|part| &blocks[*part].1).map(|node| rack(*node)).collect();
        racks.sort_unstable();
        racks.dedup();
        groups.push(Group { hosts: hosts_of(&racks), parts });
    };
    for block in overflow {
        parts.push(block);
        size += blocks[block].0.length;
        if size >= most {
            finish(&mut parts, &mut groups);
            size = Bytes::ZERO;
        }
    }
    if !parts.is_empty() {
        finish(&mut parts, &mut groups);
    }
    groups
}

/// Blocks that are in no split yet.
struct Pool<'a> {
    free: Vec<bool>,
    blocks: &'a [Held],
    most: Bytes,
}

impl Pool<'_> {
    /// Takes blocks of a list, from a place in it, until they make a split; if they do not, they stay free, and are
    /// named.
    fn take(&mut self, list: &[usize], at: &mut usize) -> Result<Vec<usize>, Vec<usize>> {
        let mut parts = Vec::new();
        let mut size = Bytes::ZERO;
        while let Some(&block) = list.get(*at) {
            *at += 1;
            if !self.free[block] {
                continue;
            }
            parts.push(block);
            size += self.blocks[block].0.length;
            if size >= self.most {
                for block in &parts {
                    self.free[*block] = false;
                }
                return Ok(parts);
            }
        }
        Err(parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::BlockId;

    fn held(length: u64, nodes: &[u32]) -> Held {
        let piece = Piece { block: BlockId(0), offset: Bytes::ZERO, length: Bytes::new(length) };
        (piece, nodes.iter().copied().map(NodeId).collect())
    }

    fn sizes(groups: &[Group]) -> Vec<usize> {
        groups.iter().map(|group| group.parts.len()).collect()
    }

    /// Hadoop's `TestCombineFileInputFormat.testSplitPlacement`: nine blocks of 1,024 bytes, each node a rack. A file
    /// of one block is on the first node, one of two on the first two, two of three on all. Splits of two blocks are
    /// five, on all racks; splits of three and of four are three.
    #[test]
    fn blocks_are_grouped_as_in_hadoops_own_test() {
        let mut blocks = vec![held(1_024, &[1])];
        blocks.extend(std::iter::repeat_n(held(1_024, &[1, 2]), 2));
        blocks.extend(std::iter::repeat_n(held(1_024, &[1, 2, 3]), 6));
        let nodes = [NodeId(1), NodeId(2), NodeId(3)];
        for (most, splits) in [(2, 5), (3, 3), (4, 3)] {
            let groups = groups(&blocks, Bytes::new(most * 1_024), &nodes, |node| node.0);
            assert_eq!(groups.len(), splits, "{most} blocks a split: {groups:?}");
            let mut parts: Vec<usize> = groups.iter().flat_map(|group| group.parts.clone()).collect();
            parts.sort_unstable();
            assert_eq!(parts, (0..9).collect::<Vec<_>>(), "each block once");
            for node in nodes {
                assert!(groups.iter().any(|group| group.hosts.contains(&node)), "{node:?} has a split");
            }
            for group in groups.iter().filter(|group| group.hosts.len() == 1) {
                let local = group.parts.iter().all(|part| blocks[*part].1.contains(&group.hosts[0]));
                assert!(local, "{group:?}");
            }
        }
    }

    /// Five files of 10 on one node, four on another, splits of 30: three each but one, which a last split of the rack
    /// has.
    #[test]
    fn what_is_left_at_a_node_goes_to_its_rack_and_then_anywhere() {
        let mut blocks = vec![held(10, &[1]); 5];
        blocks.extend(vec![held(10, &[2]); 4]);
        let nodes = [NodeId(1), NodeId(2), NodeId(3)];
        let one_rack = groups(&blocks, Bytes::new(30), &nodes, |_| 7);
        assert_eq!(sizes(&one_rack), [3, 3, 3], "two of the first node and one of the second are a split of the rack");
        assert_eq!(one_rack[2].hosts, nodes);
        let two_racks = groups(&blocks, Bytes::new(30), &nodes, |node| node.0);
        assert_eq!(sizes(&two_racks), [3, 3, 3]);
        assert_eq!(two_racks[2].hosts, nodes[..2], "it has blocks of two racks");
        let larger = groups(&blocks, Bytes::new(1_000), &nodes, |_| 7);
        assert_eq!(sizes(&larger), [9]);
        assert_eq!(groups(&[], Bytes::new(30), &nodes, |_| 7), []);
    }

    #[test]
    fn a_block_longer_than_a_split_is_cut() {
        let lengths = |length: u64| {
            let parts = cut(held(length, &[]).0, Bytes::new(100));
            let mut at = 0;
            for part in &parts {
                assert_eq!(part.offset.get(), at);
                at += part.length.get();
            }
            parts.iter().map(|part| part.length.get()).collect::<Vec<_>>()
        };
        assert_eq!(lengths(100), [100]);
        assert_eq!(lengths(150), [75, 75]);
        assert_eq!(lengths(200), [100, 100]);
        assert_eq!(lengths(230), [100, 65, 65]);
        assert_eq!(lengths(99), [99]);
    }
}
