//! What a task has under way, as Spark's documentation of `spark.reducer.*` and `ShuffleBlockFetcherIterator` have it.

use des::RandomStream;
use proptest::prelude::*;
use spark::fetch::{Block, FetchRequest, Fetches, Limits};
use std::collections::BTreeMap;
use units::Bytes;

const LIMITS: Limits = Limits { size: Bytes::from_mib(48), requests: u32::MAX, blocks_per_address: u32::MAX };

fn blocks(addresses: usize, each: usize, bytes: Bytes) -> BTreeMap<usize, Vec<Block>> {
    let of = |_| (0..each).map(|map| Block { parent: 0, map, bytes }).collect();
    (0..addresses).map(|address| (address, of(address))).collect()
}

fn fetches(blocks: BTreeMap<usize, Vec<Block>>, limits: Limits) -> Fetches {
    Fetches::new(blocks, limits, &mut RandomStream::new(1, "test", 0))
}

fn leave(fetches: &mut Fetches) -> Vec<FetchRequest> {
    std::iter::from_fn(|| fetches.ask()).collect()
}

/// 48 MiB in flight, in requests of a fifth of that or the block that exceeds it: from ten executors with blocks of
/// 1 MiB, requests of 10 MiB, of which four fit; a fifth would exceed the 48 MiB.
#[test]
fn requests_have_a_fifth_of_what_may_be_in_flight() {
    let mut fetches = fetches(blocks(10, 20, Bytes::from_mib(1)), LIMITS);
    let first = leave(&mut fetches);
    assert!(first.iter().all(|request| request.bytes == Bytes::from_mib(10)), "{first:?}");
    assert_eq!((first.len(), fetches.in_flight()), (4, Bytes::from_mib(40)));
    // Blocks that are taken make room: not two of 1 MiB, as 38 + 10 is just within, but three and more.
    let address = first[0].address;
    fetches.taken(address, Bytes::from_mib(1), false);
    assert_eq!(leave(&mut fetches).len(), 0);
    fetches.taken(address, Bytes::from_mib(1), false);
    assert_eq!(leave(&mut fetches).len(), 1);
}

/// A block larger than all that may be in flight is asked for when nothing else is.
#[test]
fn a_block_that_exceeds_the_limit_goes_alone() {
    let mut fetches = fetches(blocks(2, 1, Bytes::from_mib(100)), LIMITS);
    let first = leave(&mut fetches);
    assert_eq!(first.len(), 1);
    fetches.taken(first[0].address, Bytes::from_mib(100), true);
    assert_eq!(leave(&mut fetches).len(), 1);
    assert!(fetches.is_empty());
}

#[test]
fn requests_in_flight_are_bounded() {
    let mut fetches = fetches(blocks(6, 1, Bytes::new(1_000)), Limits { requests: 2, ..LIMITS });
    let first = leave(&mut fetches);
    assert_eq!(first.len(), 2);
    fetches.taken(first[0].address, Bytes::new(1_000), true);
    assert_eq!(leave(&mut fetches).len(), 1);
}

/// Five blocks of one executor, two at once: requests of two, two and one, each after the one before; those to another
/// executor do not wait for them.
#[test]
fn blocks_of_an_executor_in_flight_are_bounded() {
    let mut fetches = fetches(blocks(2, 5, Bytes::new(1_000)), Limits { blocks_per_address: 2, ..LIMITS });
    let mut under_way = leave(&mut fetches);
    assert_eq!(under_way.iter().map(|request| request.blocks.len()).max(), Some(2));
    let mut sizes = vec![Vec::new(); 2];
    let mut asked = 0;
    while let Some(request) = under_way.pop() {
        asked += 1;
        sizes[request.address].push(request.blocks.len());
        assert!(under_way.iter().all(|other| other.address != request.address), "two at once of one executor");
        for (number, block) in request.blocks.iter().enumerate() {
            fetches.taken(request.address, block.bytes, number + 1 == request.blocks.len());
        }
        under_way.extend(leave(&mut fetches));
    }
    assert_eq!(asked, 6);
    for mut sizes in sizes {
        sizes.sort_unstable();
        assert_eq!(sizes, [1, 2, 2]);
    }
    assert!(fetches.is_empty());
}

#[test]
fn empty_blocks_are_not_asked_for() {
    assert!(fetches(blocks(3, 3, Bytes::ZERO), LIMITS).is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Every block is asked for once, whatever the limits, and they hold at any time.
    #[test]
    fn every_block_is_asked_for_once(
        addresses in 1_usize..6, each in 1_usize..8, kb in 1_u64..200,
        size in 1_u64..400, requests in 1_u32..5, per_address in 1_u32..9,
    ) {
        let bytes = Bytes::new(kb * 1_000);
        let limits = Limits { size: Bytes::new(size * 1_000), requests, blocks_per_address: per_address };
        let mut fetches = fetches(blocks(addresses, each, bytes), limits);
        let mut asked = Vec::new();
        let mut under_way = leave(&mut fetches);
        while let Some(request) = under_way.pop() {
            let all = under_way.len() + 1;
            prop_assert!(all as u32 <= requests);
            prop_assert!(fetches.in_flight() <= limits.size || all == 1);
            for (number, block) in request.blocks.iter().enumerate() {
                asked.push((request.address, block.map));
                fetches.taken(request.address, block.bytes, number + 1 == request.blocks.len());
            }
            under_way.extend(leave(&mut fetches));
        }
        asked.sort_unstable();
        let expected: Vec<_> = (0..addresses).flat_map(|address| (0..each).map(move |map| (address, map))).collect();
        prop_assert_eq!(asked, expected);
        prop_assert!(fetches.is_empty() && fetches.in_flight() == Bytes::ZERO);
    }
}
