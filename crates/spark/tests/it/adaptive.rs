//! Which partitions adaptive execution joins. Expectations are what `ShufflePartitionsUtil.coalescePartitions` and
//! `MapStatus` of Spark 4.1.1 themselves say of these sizes; the first ones are cases of `ShufflePartitionsUtilSuite`, too.

use proptest::prelude::*;
use spark::Coalesce;
use spark::adaptive::{MapStatus, coalesced, target};
use units::Bytes;

/// Sizes of the partitions of each shuffle; the most that is advised, the parallelism, the least; the partitions at which
/// tasks begin and end.
type Case = (&'static [&'static [u64]], [u64; 3], &'static [(usize, usize)]);

/// The joined partitions of shuffles that are read together.
fn joined(shuffles: &[&[u64]], [advised, parallelism, least]: [u64; 3]) -> Vec<(usize, usize)> {
    let sizes: Vec<u64> = (0..shuffles[0].len()).map(|at| shuffles.iter().map(|sizes| sizes[at]).sum()).collect();
    let bytes = Bytes::new;
    let coalesce = Coalesce { min_size: bytes(least), parallelism_first: true };
    let target = target(sizes.iter().sum(), parallelism, bytes(advised), &coalesce);
    coalesced(&sizes, target, least).into_iter().map(|task| (task.start, task.end)).collect()
}

#[test]
fn partitions_are_joined_as_spark_joins_them() {
    let cases: &[Case] = &[
        // Of the suite, without a least size: empty partitions, large ones, two shuffles.
        (&[&[10, 0, 20, 0, 0]], [100, 1, 0], &[(0, 5)]),
        (&[&[10, 0, 90, 20, 0]], [100, 1, 0], &[(0, 3), (3, 5)]),
        (&[&[110, 10, 100, 110, 0]], [100, 1, 0], &[(0, 1), (1, 2), (2, 3), (3, 4)]),
        (&[&[100, 110, 100, 110, 110]], [100, 1, 0], &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]),
        (&[&[30, 30, 0, 40, 110]], [100, 1, 0], &[(0, 4), (4, 5)]),
        (&[&[0, 10, 0, 20, 0], &[30, 0, 20, 0, 20]], [100, 1, 0], &[(0, 5)]),
        (&[&[0, 10, 0, 20, 0], &[30, 0, 70, 0, 30]], [100, 1, 0], &[(0, 2), (2, 4), (4, 5)]),
        (&[&[0, 99, 0, 20, 0], &[30, 0, 70, 0, 30]], [100, 1, 0], &[(0, 1), (1, 2), (2, 4), (4, 5)]),
        // At least so many tasks, where there are bytes for them.
        (&[&[0, 0, 0, 0, 0], &[0, 0, 0, 0, 0]], [100, 2, 0], &[(0, 5)]),
        (&[&[200, 0, 0], &[100, 0, 0]], [100, 2, 0], &[(0, 1)]),
        (&[&[10, 5, 5, 0, 20], &[5, 10, 0, 10, 5]], [100, 2, 0], &[(0, 3), (3, 5)]),
        (&[&[10, 50, 20, 80, 20], &[40, 10, 0, 10, 30]], [100, 2, 0], &[(0, 1), (1, 3), (3, 4), (4, 5)]),
        // What is empty between tasks is nobody's.
        (&[&[200, 0, 0, 0, 0], &[100, 0, 300, 0, 0]], [100, 2, 0], &[(0, 1), (2, 3)]),
        // What is less than the least goes to the smaller neighbour, to the later one of two alike.
        (&[&[70, 3, 90]], [64, 1, 5], &[(0, 2), (2, 3)]),
        (&[&[90, 3, 70]], [64, 1, 5], &[(0, 1), (1, 3)]),
        (&[&[70, 3, 70]], [64, 1, 5], &[(0, 1), (1, 3)]),
        (&[&[3, 70, 3]], [64, 1, 5], &[(0, 3)]),
        (&[&[3, 3, 70]], [64, 1, 5], &[(0, 2), (2, 3)]),
        (&[&[64, 64, 1, 0, 0]], [64, 1, 2], &[(0, 1), (1, 5)]),
        (&[&[0, 0, 64, 64, 0, 1]], [64, 1, 2], &[(0, 3), (3, 6)]),
        (&[&[1, 2, 70, 3, 3, 90, 2]], [64, 1, 5], &[(0, 3), (3, 5), (5, 7)]),
        (&[&[6, 6, 45, 0, 55, 0]], [64, 4, 13], &[(0, 3), (3, 6)]),
        (&[&[28, 0, 24, 40, 42, 0, 34]], [64, 1, 14], &[(0, 3), (3, 4), (4, 6), (6, 7)]),
        (&[&[57, 56, 51, 35, 38, 21, 8, 0, 33]], [64, 3, 16], &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 6), (6, 9)]),
        (
            &[&[53, 33, 10, 41, 0, 0, 2, 1, 33, 34, 32, 0, 30]],
            [64, 3, 20],
            &[(0, 1), (1, 3), (3, 8), (8, 9), (9, 10), (10, 13)],
        ),
        (&[&[32, 0, 0, 0, 15, 30, 3, 28, 0, 0, 21, 53, 0, 18]], [64, 4, 21], &[(0, 5), (5, 7), (7, 11), (11, 14)]),
        // A core's part is rounded up; the least is more than that.
        (&[&[1_000; 8]], [65_536, 3, 1_000], &[(0, 2), (2, 4), (4, 6), (6, 8)]),
        (&[&[1_000; 8]], [65_536, 100, 2_500], &[(0, 3), (3, 8)]),
        (&[&[7; 7]], [14, 1, 1], &[(0, 2), (2, 4), (4, 6), (6, 7)]),
    ];
    for (shuffles, settings, expected) in cases {
        assert_eq!(joined(shuffles, *settings), *expected, "{shuffles:?}, {settings:?}");
    }
}

/// Without `parallelismFirst` as much as is advised, however many cores there are.
#[test]
fn as_much_as_is_advised_without_parallelism_first() {
    let coalesce = Coalesce { parallelism_first: false, ..Coalesce::default() };
    assert_eq!(target(1 << 40, 1_000, Bytes::from_mib(64), &coalesce), 64 << 20);
    assert_eq!(target(1 << 21, 1_000, Bytes::from_mib(64), &coalesce), 2 << 20);
    assert_eq!(target(1 << 21, 1_000, Bytes::from_mib(64), &Coalesce::default()), 1 << 20);
    assert_eq!(
        target(1 << 30, 1_000, Bytes::from_mib(64), &Coalesce { min_size: Bytes::new(1), ..Coalesce::default() }),
        1_073_742
    );
}

/// `MapStatus.decompressSize(MapStatus.compressSize(size))`. The sum is of all sizes that one byte can tell.
#[test]
fn a_byte_tells_a_size_as_spark_does() {
    let status = MapStatus::default();
    let sizes = [0, 1, 2, 10, 1_000, 5_000, 12_345, 65_536, 1_000_000, 2_500_000, 64 << 20, 1 << 40];
    let told = [0, 1, 2, 10, 1_051, 5_313, 12_527, 69_653, 1_004_475, 2_605_350, 73_216_704, 35_903_328_718];
    assert_eq!(sizes.map(|size| status.rounded(size)), told);
    let mut all = vec![0];
    while all.len() < 300 && all.last() != Some(&35_903_328_718) {
        all.extend(all.last().map(|size| status.rounded(size + 1)));
    }
    all.dedup();
    // Powers from 1.1 to 1.1^7 are told as 1.
    assert_eq!((all.len(), all.iter().sum::<u64>()), (241, 394_936_615_718));
}

/// `MapStatus.apply` of two statuses: of 2,001 blocks all but empty ones and those of 100 MiB and more are told as their
/// mean, of 2,000 each one by itself.
#[test]
fn of_very_many_blocks_the_mean_is_told() {
    let told = |blocks: u64| {
        let size = |block: u64| match block {
            7 => 200 << 20,
            8 => 100 << 20,
            10 => (100 << 20) - 1,
            _ if block.is_multiple_of(3) => 0,
            _ => 1_000 + block,
        };
        let told = MapStatus::default().told(&(0..blocks).map(size).collect::<Vec<_>>());
        [0, 1, 7, 8, 10, 1_999].map(|block| told[block])
    };
    assert_eq!(told(2_000), [0, 1_051, 229_785_384, 107_196_577, 107_196_577, 2_999]);
    assert_eq!(told(2_001), [0, 80_723, 229_785_384, 107_196_577, 80_723, 80_723]);
}

proptest! {
    /// Every partition with bytes is read by one task, and tasks follow one another; none but a single one is empty, and
    /// those but one are no less than the least.
    #[test]
    fn every_partition_with_bytes_is_read_once(
        sizes in prop::collection::vec(prop_oneof![Just(0), 1_u64..200], 1..60), target in 1_u64..400, least in 1_u64..100,
    ) {
        let tasks = coalesced(&sizes, target.max(least), least);
        let read = |at: usize| tasks.iter().filter(|task| task.contains(&at)).count();
        for (at, size) in sizes.iter().enumerate() {
            prop_assert!(read(at) == 1 || (*size == 0 && read(at) == 0), "{tasks:?}");
        }
        prop_assert!(tasks.windows(2).all(|two| two[0].end <= two[1].start));
        let small = tasks.iter().filter(|task| sizes[(*task).clone()].iter().sum::<u64>() < least);
        prop_assert!(small.count() <= usize::from(sizes.iter().sum::<u64>() < least), "{tasks:?}");
    }
}
