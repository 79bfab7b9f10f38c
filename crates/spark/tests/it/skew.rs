//! Which partitions are skewed and where they are split. Expectations are what `splitSizeListByTargetSize` and
//! `Utils.median` of Spark 4.1.1 themselves say; the first four are cases of `ShufflePartitionsUtilSuite`, too.

use spark::Skew;
use spark::skew::{limits, split};
use units::Bytes;

#[test]
fn map_tasks_are_parted_as_spark_parts_them() {
    let cases: &[(&[u64], u64, &[usize])] = &[
        (&[15, 90, 15, 15, 15, 90, 15], 100, &[0, 2, 5]),
        (&[30, 15, 90, 10, 90, 15, 30], 100, &[0, 2, 4, 5]),
        (&[15, 1_000, 15, 1_000], 100, &[0, 3]),
        (&[35, 75, 90, 20, 35, 25, 35], 100, &[0, 2, 3]),
        (&[50; 4], 100, &[0, 2]),
        (&[61; 4], 100, &[0, 1, 2, 3]),
        (&[59; 5], 100, &[0, 2, 4]),
        (&[300], 100, &[0]),
        (&[0; 4], 100, &[0]),
        (&[100, 100, 19, 100, 21, 100], 100, &[0, 1, 3, 4, 5]),
        (&[0, 120, 0, 0, 90, 30], 100, &[0, 2, 5]),
        (&[1; 10], 5, &[0, 5]),
        (&[20, 30, 40, 50, 10, 10, 55], 60, &[0, 2, 3, 6]),
    ];
    for (sizes, target, expected) in cases {
        let parts = split(sizes, *target);
        assert_eq!(parts.iter().map(|part| part.start).collect::<Vec<_>>(), *expected, "{sizes:?}");
        let ends: Vec<usize> = expected[1..].iter().copied().chain([sizes.len()]).collect();
        assert_eq!(parts.iter().map(|part| part.end).collect::<Vec<_>>(), ends, "{sizes:?}");
    }
}

/// More than five times the median, and than 256 MiB; a part has the mean of the others, or as much as is advised. Of
/// 5, 1, 9 the median is 5, with 8 it is 6, of nothing 1.
#[test]
fn a_partition_is_skewed_beside_the_median() {
    let skew = |threshold| Skew { threshold: Bytes::new(threshold), ..Skew::default() };
    let advised = Bytes::new;
    assert_eq!(limits(&[5, 1, 9], advised(2), &skew(1)), (25, 5));
    assert_eq!(limits(&[5, 1, 9, 8], advised(2), &skew(1)), (30, 5));
    assert_eq!(limits(&[0, 0], advised(2), &skew(1)), (5, 2));
    assert_eq!(limits(&[5, 1, 9], advised(2), &skew(8)), (25, 5));
    assert_eq!(limits(&[2, 2, 90], advised(10), &skew(40)), (40, 10));
    assert_eq!(limits(&[2, 2, 90], advised(1), &skew(40)), (40, 2));
    let mib = |size: u64| size << 20;
    assert_eq!(limits(&[mib(10), mib(20), mib(900)], Bytes::from_mib(64), &Skew::default()), (mib(256), mib(64)));
    assert_eq!(limits(&[mib(100), mib(120), mib(900)], Bytes::from_mib(64), &Skew::default()), (mib(600), mib(110)));
}
