//! How many streams Hadoop merges at once, and in which passes.

use units::Bytes;

/// A merge of sorted segments into one, in passes of at most `factor` streams (`org.apache.hadoop.mapred.Merger`): the
/// first pass takes just so many that every later one is full, each pass takes the smallest segments, and the last one
/// feeds the consumer without being written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MergePlan {
    /// The intermediate passes: indices into the segments (an index at or above the number of segments is the output of
    /// an earlier pass).
    pub passes: Vec<Pass>,
    /// What the last pass reads.
    pub last: Vec<usize>,
}

/// One intermediate pass.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pass {
    /// The segments merged.
    pub inputs: Vec<usize>,
    /// The length of the result.
    pub bytes: Bytes,
}

/// Streams of pass number `pass` (from 0) over `segments`.
pub fn pass_factor(factor: u32, pass: usize, segments: usize) -> usize {
    let factor = (factor as usize).max(2);
    if pass > 0 || segments <= factor {
        return factor;
    }
    match (segments - 1) % (factor - 1) {
        0 => factor,
        remainder => remainder + 1,
    }
}

impl MergePlan {
    /// Plans the merge of segments of these lengths.
    pub fn new(segments: &[Bytes], factor: u32) -> Self {
        let mut order: Vec<(Bytes, usize)> = segments.iter().copied().zip(0..).collect();
        order.sort_unstable();
        let mut passes = Vec::new();
        loop {
            let streams = pass_factor(factor, passes.len(), order.len());
            if order.len() <= streams {
                return Self { passes, last: order.into_iter().map(|(_, index)| index).collect() };
            }
            let inputs: Vec<(Bytes, usize)> = order.drain(..streams).collect();
            let result = (inputs.iter().map(|&(bytes, _)| bytes).sum(), segments.len() + passes.len());
            let place = order.partition_point(|other| *other < result);
            order.insert(place, result);
            passes.push(Pass { inputs: inputs.into_iter().map(|(_, index)| index).collect(), bytes: result.0 });
        }
    }
    /// Bytes written, and read again, by the intermediate passes.
    pub fn intermediate(&self) -> Bytes {
        self.passes.iter().map(|pass| pass.bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn equal(count: usize) -> Vec<Bytes> {
        vec![Bytes::from_mib(1); count]
    }

    #[test]
    fn up_to_factor_segments_need_one_pass() {
        for count in 1..=10 {
            let plan = MergePlan::new(&equal(count), 10);
            assert!(plan.passes.is_empty());
            assert_eq!(plan.last.len(), count);
        }
    }

    #[test]
    fn first_pass_is_such_that_the_last_is_full() {
        // 40 segments: (40 - 1) mod 9 = 3, so 4 first; 37 left: 10, 10, 10 leave 7 + 3 = 10 for the last (White,
        // Hadoop: The Definitive Guide, figure 7-5).
        let plan = MergePlan::new(&equal(40), 10);
        assert_eq!(plan.passes.iter().map(|pass| pass.inputs.len()).collect::<Vec<_>>(), [4, 10, 10, 10]);
        assert_eq!(plan.last.len(), 10);
        assert_eq!(plan.intermediate(), Bytes::from_mib(34));
    }

    #[test]
    fn every_segment_is_read_once_as_itself_and_the_total_is_kept() {
        let segments: Vec<Bytes> = (1..=123).map(|i| Bytes::new(i * i % 97 + 1)).collect();
        let plan = MergePlan::new(&segments, 7);
        let mut seen = vec![0; segments.len() + plan.passes.len()];
        for index in plan.passes.iter().flat_map(|pass| &pass.inputs).chain(&plan.last) {
            seen[*index] += 1;
        }
        assert!(seen.iter().all(|&times| times == 1));
        let length = |index: usize| {
            if index < segments.len() { segments[index] } else { plan.passes[index - segments.len()].bytes }
        };
        assert_eq!(plan.last.iter().map(|&index| length(index)).sum::<Bytes>(), segments.iter().copied().sum());
    }
}
