//! Modifications, and a second key.

use placement::{Redistribution, Repair, SecondLayout};

#[test]
fn modified_records_wait_until_there_are_enough() {
    let mut redistribution = Redistribution::after(1000);
    assert_eq!(redistribution.modify(999), None);
    assert_eq!(redistribution.pending(), 999);
    assert_eq!(redistribution.modify(5), Some(1004));
    assert_eq!((redistribution.pending(), redistribution.modify(999)), (0, None));
}

/// Eight nodes, blocks of 128 MB, records of 100 bytes: 1.28 million records fill a block, 10.24 million one on each.
#[test]
fn redistribution_is_due_once_each_node_has_a_block_of_it() {
    assert_eq!(Redistribution::after_blocks(8, 128e6, 100.0).due_after(), 10_240_000);
}

/// By hand, 80 GB on 8 nodes: a node has 10 GB of each copy.
#[test]
fn a_file_with_one_copy_is_repaired_from_the_other_by_reading_it_whole() {
    let layout = |first, second| SecondLayout { bytes: 80e9, nodes: 8, first, second };
    // Three copies in one order: what is lost is copied.
    assert_eq!(layout(3, 0).repair(), Some(Repair { read: 30e9, transfer: 30e9 }));
    // Two and one: 20 GB are copied, and 80 GB are read for the 10 GB of the single copy.
    assert_eq!(layout(2, 1).repair(), Some(Repair { read: 100e9, transfer: 30e9 }));
    assert_eq!(layout(1, 1).repair(), Some(Repair { read: 160e9, transfer: 20e9 }));
    assert_eq!(layout(1, 0).repair(), None);
}
