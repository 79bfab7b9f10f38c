//! What a job does to its data: bytes, records and CPU seconds of each phase. `docs/reference/workloads.md` tables the
//! presets with their sources.

use crate::numbers::{scaled, whole};
use des::RandomStream;
use std::sync::Arc;
use units::Bytes;

/// Bytes that Hadoop's intermediate file format adds to a record: its two lengths (`IFile`, one byte each below 128).
pub const RECORD_OVERHEAD: f64 = 2.0;
/// Bytes that it adds to a partition: the end marker and the checksum.
pub const PARTITION_OVERHEAD: u64 = 6;
/// Bytes of metadata per record in the map's sort buffer.
pub const RECORD_METADATA: u64 = 16;

/// Where the maps' input comes from.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Source {
    /// An HDFS file, a map per block.
    File,
    /// The maps make their data themselves: so many maps.
    Generated {
        /// The number of maps.
        maps: u32,
    },
}

/// What of the next block the reader of a split needs, whose last record may go on there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InputFormat {
    /// The end of the line that begins in the split; where a line ends with it, the next one (`LineRecordReader`).
    Text,
    /// The rest of a record of so many bytes, if the split does not end with one (`TeraInputFormat`).
    Fixed(u64),
    /// What comes before the next mark, of which there is one every 100 KB (`SequenceFileRecordReader`).
    SequenceFile,
    /// Nothing: its files' parts end with blocks.
    Binary,
}

impl InputFormat {
    /// Whether the reader of a split that ends there in its file reads on in the next block.
    pub const fn reads_on(self, end: Bytes) -> bool {
        match self {
            Self::Text | Self::SequenceFile => true,
            Self::Fixed(record) => record > 0 && !end.get().is_multiple_of(record),
            Self::Binary => false,
        }
    }
}

/// How the map output divides over the reducers.
#[derive(Clone, PartialEq, Debug)]
pub enum Skew {
    /// Equal shares.
    Even,
    /// The share of the k-th largest reducer is proportional to 1 / k^s; which reducer is the k-th is drawn.
    Zipf(f64),
    /// Shares given, one per reducer, in any unit.
    Explicit(Vec<f64>),
}

/// The keys that a combiner folds: so many different ones, the k-th with frequency proportional to 1 / k^s.
#[derive(Clone, PartialEq, Debug)]
pub struct Keys {
    distinct: u64,
    exponent: f64,
    /// They do not change, and every spill asks for them.
    groups: Arc<KeyGroups>,
}

/// A combiner: it leaves one record per different key of what it is given.
#[derive(Clone, PartialEq, Debug)]
pub struct Combiner {
    /// The keys.
    pub keys: Keys,
    /// Bytes of a combined record, serialised.
    pub record: f64,
    /// CPU seconds per byte that it reads.
    pub cpu: f64,
}

/// CPU seconds of one core at speed 1, per byte of what the phase takes in.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Costs {
    /// Reading a record, the map function and collecting its output; per byte of input.
    pub map: f64,
    /// Comparing in the sort of a spill; per record and per binary logarithm of the spill's records.
    pub sort: f64,
    /// Serialising a spill; per byte written.
    pub spill: f64,
    /// Merging into a file; per byte read.
    pub merge: f64,
    /// Receiving and checking a fetched map output; per byte.
    pub fetch: f64,
    /// The last merge, the reduce function and its output; per byte of input.
    pub reduce: f64,
}

/// What a job does to its data.
#[derive(Clone, PartialEq, Debug)]
pub struct Workload {
    /// The preset's name, or "generic".
    pub name: String,
    /// Where the input comes from.
    pub source: Source,
    /// How its input's records lie across blocks.
    pub input_format: InputFormat,
    /// Bytes of an input record.
    pub input_record: f64,
    /// Map output in serialised bytes per byte of input (without `IFile`'s overhead).
    pub map_ratio: f64,
    /// Bytes of a map output record, serialised.
    pub map_record: f64,
    /// The combiner, if any.
    pub combiner: Option<Combiner>,
    /// Job output per byte of the reducers' records in the intermediate format (of map output in a job without
    /// reducers).
    pub reduce_ratio: f64,
    /// Bytes that each map writes to HDFS itself, per byte of its input (TestDFSIO's write, TeraGen).
    pub side_output_ratio: f64,
    /// How the map output divides.
    pub skew: Skew,
    /// Replication of the output, if the job sets its own.
    pub output_replication: Option<u16>,
    /// CPU costs.
    pub costs: Costs,
}

/// Names of the presets, for messages.
pub const PRESETS: [&str; 9] =
    ["terasort", "teragen", "sort", "wordcount", "wordcount-nocombine", "grep", "dfsio-read", "dfsio-write", "generic"];

impl Workload {
    /// Sorts and passes on what it reads, at the cost of TeraSort: what a job given by its ratios starts from.
    pub fn generic() -> Self {
        Self {
            name: "generic".to_string(),
            source: Source::File,
            input_format: InputFormat::Text,
            input_record: 100.0,
            map_ratio: 1.0,
            map_record: 100.0,
            combiner: None,
            reduce_ratio: 1.0,
            side_output_ratio: 0.0,
            skew: Skew::Even,
            output_replication: None,
            costs: Costs { map: 18e-9, sort: 40e-9, spill: 8e-9, merge: 4e-9, fetch: 2e-9, reduce: 9e-9 },
        }
    }

    /// The preset of that name.
    pub fn preset(name: &str) -> Option<Self> {
        let base = Self { name: name.to_string(), ..Self::generic() };
        let word_costs = Costs { map: 100e-9, sort: 40e-9, spill: 16e-9, merge: 20e-9, fetch: 6e-9, reduce: 24e-9 };
        let file_costs = Costs { sort: 40e-9, ..Costs::NONE };
        Some(match name {
            "terasort" => Self {
                input_format: InputFormat::Fixed(100),
                map_ratio: 1.02,
                map_record: 102.0,
                reduce_ratio: 1.0 / 1.04,
                output_replication: Some(1),
                ..base
            },
            "teragen" => Self {
                source: Source::Generated { maps: 2 },
                map_ratio: 0.0,
                reduce_ratio: 0.0,
                side_output_ratio: 1.0,
                costs: Costs { map: 10e-9, ..Costs::NONE },
                ..base
            },
            "sort" => Self {
                input_format: InputFormat::SequenceFile,
                input_record: 10_510.0,
                map_record: 10_510.0,
                reduce_ratio: 10_510.0 / 10_512.0,
                ..base
            },
            "wordcount" => Self {
                input_record: 85.6,
                map_ratio: 1.5604,
                map_record: 11.136,
                combiner: Some(Combiner { keys: Keys::new(50_000, 1.0), record: 11.5, cpu: 6e-9 }),
                reduce_ratio: 0.1065,
                costs: word_costs,
                ..base
            },
            "wordcount-nocombine" => Self {
                input_record: 85.6,
                map_ratio: 1.5604,
                map_record: 11.136,
                reduce_ratio: 0.001_414,
                costs: word_costs,
                ..base
            },
            "grep" => Self {
                input_record: 85.6,
                map_ratio: 0.2708,
                map_record: 13.93,
                combiner: Some(Combiner { keys: Keys::new(6_836, 1.0), record: 14.77, cpu: 6e-9 }),
                reduce_ratio: 0.1758,
                costs: Costs { map: 35e-9, ..word_costs },
                ..base
            },
            "dfsio-read" => Self {
                input_format: InputFormat::Binary,
                map_ratio: 0.0,
                reduce_ratio: 0.0,
                costs: Costs { map: 1.5e-9, ..file_costs },
                ..base
            },
            "dfsio-write" => Self {
                source: Source::Generated { maps: 4 },
                map_ratio: 0.0,
                reduce_ratio: 0.0,
                side_output_ratio: 1.0,
                costs: Costs { map: 2e-9, ..file_costs },
                ..base
            },
            "generic" => base,
            _ => return None,
        })
    }

    /// What a map makes of `input` bytes: its output's records and serialised bytes.
    pub fn map_output(&self, input: Bytes) -> Data {
        let bytes = input.mul_f64(self.map_ratio);
        Data {
            bytes,
            records: if self.map_record > 0.0 { whole((bytes.get() as f64 / self.map_record).round()) } else { 0 },
        }
    }

    /// What the combiner leaves of `data`, and the CPU seconds that it takes; `data` itself and no time without a
    /// combiner.
    pub fn combine(&self, data: Data) -> (Data, f64) {
        let Some(combiner) = &self.combiner else { return (data, 0.0) };
        let records = whole(combiner.keys.expected_distinct(data.records).round()).min(data.records);
        let bytes = Bytes::new(whole((records as f64 * combiner.record).round())).min(data.bytes);
        (Data { bytes, records }, combiner.cpu * data.bytes.get() as f64)
    }

    /// As [`Self::combine`], for records of which a part has keys of one part of all keys only: so many fewer are
    /// different.
    pub fn combine_part(&self, data: Data, parts: Parts) -> (Data, f64) {
        self.combine_divided(data, parts.of_one, |combiner, records| {
            combiner.keys.expected_distinct_of_part(records, parts.parts)
        })
    }

    /// As [`Self::combine`], for records of which a part has some of the keys only.
    pub fn combine_some(&self, data: Data, part: f64, some: &KeyGroups) -> (Data, f64) {
        self.combine_divided(data, part, |_, records| some.expected_distinct(records))
    }

    /// `different`: how many different keys so many records have that are of the part.
    fn combine_divided(&self, data: Data, part: f64, different: impl Fn(&Combiner, u64) -> f64) -> (Data, f64) {
        let Some(combiner) = self.combiner.as_ref().filter(|_| part > 0.0) else { return self.combine(data) };
        let of_part = whole((data.records as f64 * part).round()).min(data.records);
        let keys = different(combiner, of_part) + combiner.keys.expected_distinct(data.records - of_part);
        let records = whole(keys.round()).min(data.records);
        let bytes = Bytes::new(whole((records as f64 * combiner.record).round())).min(data.bytes);
        (Data { bytes, records }, combiner.cpu * data.bytes.get() as f64)
    }

    /// CPU seconds to sort so many records.
    pub fn sort_cpu(&self, records: u64) -> f64 {
        if records < 2 { 0.0 } else { self.costs.sort * records as f64 * libm::log2(records as f64) }
    }

    /// The reducers' shares of a map's output, as the cumulative fractions at which each share ends.
    pub fn partitions(&self, reducers: u32, seed: u64) -> Partitions {
        let mut weights: Vec<f64> = match &self.skew {
            Skew::Even => vec![1.0; reducers as usize],
            Skew::Zipf(exponent) => (1..=reducers).map(|k| libm::pow(f64::from(k), -exponent)).collect(),
            Skew::Explicit(shares) => {
                (0..reducers as usize).map(|r| shares.get(r).copied().unwrap_or(0.0).max(0.0)).collect()
            }
        };
        if matches!(self.skew, Skew::Zipf(_)) {
            RandomStream::new(seed, "workload/skew", 0).shuffle(&mut weights);
        }
        Partitions::new(&weights)
    }
}

impl Costs {
    /// No work at all.
    pub const NONE: Self = Self { map: 0.0, sort: 0.0, spill: 0.0, merge: 0.0, fetch: 0.0, reduce: 0.0 };
}

/// Keys that are divided over nodes, and records that have those of one node.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Parts {
    /// This part of the records has keys of one part.
    pub of_one: f64,
    /// Parts of equal weight.
    pub parts: u32,
}

/// So many serialised bytes in so many records.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Data {
    /// Serialised bytes.
    pub bytes: Bytes,
    /// Number of records.
    pub records: u64,
}

impl Data {
    /// Its length in the intermediate file format, in `partitions` partitions.
    pub fn materialized(self, partitions: u32) -> Bytes {
        Bytes::new(
            self.bytes.get()
                + whole(self.records as f64 * RECORD_OVERHEAD)
                + u64::from(partitions) * PARTITION_OVERHEAD,
        )
    }
}

/// Of the length of so many map outputs before compression, what their records take: a partition takes a few bytes even
/// where it is empty.
pub(crate) fn records_of(plain: Bytes, outputs: u32, partitions: usize) -> Bytes {
    plain.saturating_sub(Bytes::new(u64::from(outputs) * partitions as u64 * PARTITION_OVERHEAD))
}

impl std::ops::AddAssign for Data {
    fn add_assign(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.records += other.records;
    }
}

/// Keys by how often they come.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct KeyGroups(Vec<KeyGroup>);

#[derive(Clone, Copy, PartialEq, Debug)]
struct KeyGroup {
    keys: f64,
    /// The chance that a record has one of them.
    chance: f64,
    /// The logarithm of the chance that it does not.
    missed: f64,
}

impl KeyGroups {
    /// Of (how many keys, the chance that a record has one of them).
    pub fn new(groups: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let group = |(keys, chance): (f64, f64)| KeyGroup { keys, chance, missed: missed(chance) };
        Self(groups.into_iter().map(group).collect())
    }
    /// The expected number of different keys among `records` drawn independently: the sum over the keys of 1 - (1 -
    /// p)^n.
    pub fn expected_distinct(&self, records: u64) -> f64 {
        let records = records as f64;
        self.0.iter().map(|group| group.keys * -libm::expm1(records * group.missed)).sum()
    }
}

/// The probability that a key that a record has with this chance is among so many records: 1 - (1 - p)^n.
pub fn met(chance: f64, records: f64) -> f64 {
    -libm::expm1(records * missed(chance))
}

/// ln(1 - p).
fn missed(chance: f64) -> f64 {
    libm::log1p(-chance.min(1.0 - 1e-12))
}

impl Keys {
    /// So many different keys, with the exponent s; 0 is uniform.
    pub fn new(distinct: u64, exponent: f64) -> Self {
        let weights = || bins(distinct).map(|(k, width)| (width, libm::pow(k, -exponent)));
        let norm: f64 = weights().map(|(width, weight)| width * weight).sum();
        let groups = KeyGroups::new(weights().map(|(width, weight)| (width, weight / norm)));
        Self { distinct, exponent, groups: Arc::new(groups) }
    }
    /// Different keys.
    pub fn distinct(&self) -> u64 {
        self.distinct
    }
    /// The exponent s.
    pub fn exponent(&self) -> f64 {
        self.exponent
    }
    /// The expected number of different keys among `records` drawn independently.
    pub fn expected_distinct(&self, records: u64) -> f64 {
        self.groups.expected_distinct(records)
    }
    /// The same where the records have the keys of one of `parts` parts only, among which keys are dealt so that the parts
    /// weigh the same: each key is drawn `parts` times as often, or, too heavy for one part, belongs to several.
    pub fn expected_distinct_of_part(&self, records: u64, parts: u32) -> f64 {
        let (parts, n) = (f64::from(parts.max(1)), records as f64);
        let of_group = |group: &KeyGroup| {
            // A key that fills more than a part is in as many parts as it fills.
            let weight = group.chance * parts;
            let (here, chance) = if weight > 1.0 { (weight, 1.0) } else { (1.0, weight) };
            group.keys * here / parts * met(chance, n)
        };
        self.groups.0.iter().map(of_group).sum()
    }
}

/// Ranks in bins of (middle, width): the first 64 one by one, then 5 % wide, so that a million keys cost 300 terms.
fn bins(distinct: u64) -> impl Iterator<Item = (f64, f64)> {
    let mut low = 1_u64;
    std::iter::from_fn(move || {
        if low > distinct {
            return None;
        }
        let width = if low <= 64 { 1 } else { (low / 20).min(distinct - low + 1) };
        let middle = low as f64 + (width - 1) as f64 / 2.0;
        low += width;
        Some((middle, width as f64))
    })
}

/// How a map output divides over the reducers, exactly: the parts of any number of bytes sum to it.
#[derive(Clone, PartialEq, Debug)]
pub struct Partitions {
    /// Where each share ends, in units of 2^-32.
    ends: Vec<u64>,
}

impl Partitions {
    const WHOLE: u64 = 1 << 32;

    /// Shares proportional to the weights; equal ones if all weights are zero.
    pub fn new(weights: &[f64]) -> Self {
        let total: f64 = weights.iter().sum();
        let mut sum = 0.0;
        let mut ends: Vec<u64> = weights
            .iter()
            .enumerate()
            .map(|(r, weight)| {
                sum += weight;
                let fraction = if total > 0.0 { sum / total } else { (r + 1) as f64 / weights.len() as f64 };
                whole((fraction * Self::WHOLE as f64).round())
            })
            .collect();
        if let Some(last) = ends.last_mut() {
            *last = Self::WHOLE;
        }
        Self { ends }
    }
    /// The number of reducers.
    pub fn len(&self) -> usize {
        self.ends.len()
    }
    /// Whether there is no reducer.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
    /// Reducer `r`'s share, of 1.
    pub fn share(&self, r: usize) -> f64 {
        let start = if r == 0 { 0 } else { self.ends[r - 1] };
        (self.ends[r] - start) as f64 / Self::WHOLE as f64
    }
    /// The part of `total` that is reducer `r`'s.
    pub fn part(&self, total: Bytes, r: usize) -> Bytes {
        Bytes::new(scaled(total.get(), self.ends[r], Self::WHOLE)) - self.start(total, r)
    }
    /// What is before it.
    pub fn start(&self, total: Bytes, r: usize) -> Bytes {
        let end = if r == 0 { 0 } else { self.ends[r - 1] };
        Bytes::new(scaled(total.get(), end, Self::WHOLE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_exist_under_their_names() {
        for name in PRESETS {
            assert_eq!(Workload::preset(name).map(|workload| workload.name).as_deref(), Some(name));
        }
        assert!(Workload::preset("pagerank").is_none());
    }

    #[test]
    fn distinct_of_uniform_keys_is_the_occupancy_formula() {
        let keys = Keys::new(1_000, 0.0);
        for n in [1, 10, 1_000, 5_000, 100_000] {
            let exact = 1_000.0 * (1.0 - libm::pow(0.999, n as f64));
            assert!((keys.expected_distinct(n) - exact).abs() < 1e-6 * exact, "{n}");
        }
    }

    #[test]
    fn distinct_of_zipf_keys_agrees_with_the_sum_over_every_key() {
        let keys = Keys::new(50_000, 1.0);
        let norm: f64 = (1..=50_000).map(|k| 1.0 / f64::from(k)).sum();
        for n in [1_000_u64, 594_000, 4_700_000] {
            let exact: f64 = (1..=50_000).map(|k| 1.0 - libm::pow(1.0 - 1.0 / (f64::from(k) * norm), n as f64)).sum();
            let binned = keys.expected_distinct(n);
            assert!((binned / exact - 1.0).abs() < 0.003, "{n}: {binned} against {exact}");
        }
    }

    /// The recorded word counts: 593,748 words of a 4.2 MB split combine to 42,160 records.
    #[test]
    fn combiner_selectivity_agrees_with_a_recorded_split() {
        let workload = Workload::preset("wordcount").expect("preset");
        let (combined, _) = workload.combine(Data { bytes: Bytes::new(6_610_014), records: 593_748 });
        assert!((combined.records as f64 / 42_160.0 - 1.0).abs() < 0.05, "{}", combined.records);
    }

    /// A recorded TeraSort map: 33,554,400 bytes in, 335,544 records and 34,225,488 bytes out, 34,896,600 on disk in 4
    /// partitions.
    #[test]
    fn map_output_agrees_with_a_recorded_terasort() {
        let output = Workload::preset("terasort").expect("preset").map_output(Bytes::new(33_554_400));
        assert_eq!(output, Data { bytes: Bytes::new(34_225_488), records: 335_544 });
        assert_eq!(output.materialized(4), Bytes::new(34_896_600));
    }

    #[test]
    fn partitions_sum_to_the_whole_and_follow_the_weights() {
        let partitions = Partitions::new(&[3.0, 1.0, 0.0, 4.0]);
        let total = Bytes::new(8_000_001);
        let parts: Vec<u64> = (0..4).map(|r| partitions.part(total, r).get()).collect();
        assert_eq!(parts.iter().sum::<u64>(), total.get());
        assert_eq!(parts, [3_000_000, 1_000_000, 0, 4_000_001]);
    }

    #[test]
    fn zipf_skew_draws_its_order_from_the_seed() {
        let workload = Workload { skew: Skew::Zipf(1.0), ..Workload::preset("sort").expect("preset") };
        let shares = |seed| -> Vec<u64> {
            let partitions = workload.partitions(8, seed);
            (0..8).map(|r| partitions.part(Bytes::from_mib(64), r).get()).collect()
        };
        assert_eq!(shares(1), shares(1));
        assert_ne!(shares(1), shares(2));
        let mut sorted = shares(1);
        sorted.sort_unstable();
        assert!((sorted[7] as f64 / sorted[6] as f64 - 2.0).abs() < 1e-3);
    }
}
