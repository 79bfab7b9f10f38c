//! Files of shuffles, and the nodes that reduce tasks prefer.

use hadoop::{DiskStream, NodeId};
use proptest::prelude::*;
use spark::shuffle::{MapOutput, Outputs, Partition};
use units::Bytes;

proptest! {
    /// The blocks of a file follow one another and make it up, whatever the shares.
    #[test]
    fn blocks_make_up_the_file(
        shares in prop::collection::vec(0.0_f64..1e6, 1..20), length in 0_u64..1 << 50, listed: bool,
    ) {
        let partition = Partition::new(if listed { &shares } else { &[] }, shares.len());
        let mut at = Bytes::ZERO;
        for reduce in 0..shares.len() {
            let (offset, bytes) = partition.block(Bytes::new(length), reduce);
            prop_assert_eq!(offset, at);
            at += bytes;
        }
        prop_assert_eq!(at, Bytes::new(length));
    }
}

#[test]
fn shares_divide_a_file() {
    let partition = Partition::new(&[1.0, 0.0, 3.0], 3);
    let block = |reduce| partition.block(Bytes::new(1_000), reduce);
    let bytes = Bytes::new;
    assert_eq!(
        [block(0), block(1), block(2)],
        [(bytes(0), bytes(250)), (bytes(250), bytes(0)), (bytes(250), bytes(750))]
    );
}

/// 6,000 bytes of each of so many executors, `each` of them on a node.
fn outputs(executors: u32, each: u32) -> Outputs {
    let of = |executor| MapOutput {
        executor: executor as usize,
        node: NodeId(executor / each + 1),
        disk: 0,
        file: DiskStream { file: u64::from(executor), part: 0 },
        length: Bytes::new(6_000),
    };
    Outputs((0..executors).map(|executor| Some(of(executor))).collect())
}

/// `REDUCER_PREF_LOCS_FRACTION` is 0.2: of five nodes with a fifth each all are preferred, of six none.
#[test]
fn a_node_with_a_fifth_is_preferred() {
    let outputs = |nodes: u32| outputs(nodes, 1);
    let even = Partition::new(&[], 2);
    assert_eq!(outputs(5).preferred(&even, 1).len(), 5);
    assert_eq!(outputs(6).preferred(&even, 1).len(), 0);
    // With 1,000 map tasks nobody computes it.
    let many = Outputs((0..1_000).map(|_| outputs(1).0[0]).collect());
    assert_eq!(many.preferred(&even, 0), []);
    let fewer = Outputs((0..999).map(|_| outputs(1).0[0]).collect());
    assert_eq!(fewer.preferred(&even, 0), [NodeId(1)]);
}

/// `getLocationsWithLargestOutputs` sums by block manager, which is an executor: of six with a sixth each none is
/// preferred, though two on a node have a third; of four, with a quarter each, the two nodes are.
#[test]
fn executors_of_a_node_do_not_count_together() {
    let even = Partition::new(&[], 2);
    assert_eq!(outputs(6, 2).preferred(&even, 0), []);
    assert_eq!(outputs(4, 2).preferred(&even, 0), [NodeId(1), NodeId(2)]);
}
