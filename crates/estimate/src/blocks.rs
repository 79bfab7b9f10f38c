//! Where a drawn input stands.

use crate::plan::Plan;
use des::RandomStream;

/// The nodes that have each map's block, by HDFS's default policy for a writer outside the cluster: the first replica
/// anywhere, the second in another rack, the third in the second's, all others anywhere.
pub(crate) fn drawn(plan: &Plan, random: &mut RandomStream) -> Vec<Vec<usize>> {
    let rack = |node: usize| node % plan.racks;
    let mut block = |map: usize| {
        let mut held: Vec<usize> = Vec::new();
        while held.len() < plan.replicas.min(plan.nodes) {
            let near = |node: usize| match held[..] {
                [first] => rack(node) != rack(first),
                [first, second] if rack(first) != rack(second) => rack(node) == rack(second),
                [_, second] => rack(node) != rack(second),
                _ => true,
            };
            let free: Vec<usize> = (0..plan.nodes).filter(|node| !held.contains(node)).collect();
            let nearer: Vec<usize> = free.iter().copied().filter(|node| near(*node)).collect();
            let choice = if nearer.is_empty() { free } else { nearer };
            let first = plan.even && held.is_empty();
            held.push(if first { map % plan.nodes } else { choice[random.below(choice.len() as u64) as usize] });
        }
        held
    };
    (0..plan.maps).map(&mut block).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::small;

    /// Three balls in three bins: all apart in 6 of 27 ways, all together in 3, else two: (6 + 3 x 3 + 18 x 2) / 27.
    #[test]
    fn the_node_with_most_of_three_blocks() {
        let plan = small(3, 1, f64::INFINITY, 3, 1);
        let draws = 20_000;
        let most = |draw: u64| {
            let blocks = drawn(&plan, &mut RandomStream::new(draw, "test", 0));
            (0..3).map(|node| blocks.iter().filter(|block| block.contains(&node)).count()).max().unwrap_or(0)
        };
        let mean = (0..draws).map(most).sum::<usize>() as f64 / draws as f64;
        assert!((mean - 51.0 / 27.0).abs() < 0.02, "{mean}");
    }

    #[test]
    fn the_second_replica_is_in_another_rack_and_the_third_beside_it() {
        let plan = small(10, 2, 100.0, 200, 3);
        for block in drawn(&plan, &mut RandomStream::new(1, "test", 0)) {
            let [first, second, third] = block[..] else { panic!("{block:?}") };
            assert!(first % 2 != second % 2 && second % 2 == third % 2 && second != third, "{block:?}");
        }
    }
}
