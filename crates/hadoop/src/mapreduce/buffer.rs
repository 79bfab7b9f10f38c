//! The map's sort buffer, measured in bytes of input: when a spill begins, and when the mapper must wait for it.

use super::config::{Generation, MapReduceConfig};
use crate::numbers::whole;
use crate::workload::{RECORD_METADATA, Workload};
use units::Bytes;

/// `MapTask.MapOutputBuffer`. A spill begins when the records collected since the last one fill `soft`, unless one is
/// under way; the mapper waits when these and the ones being spilled fill `hard`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SortBuffer {
    soft: Bytes,
    hard: Bytes,
    /// Where the records collected since the last spill begin.
    pub start: Bytes,
    /// Of the input, how much is collected.
    pub end: Bytes,
    /// Input whose records are being spilled.
    pub spilling: Bytes,
}

impl SortBuffer {
    pub fn new(config: &MapReduceConfig, workload: &Workload) -> Self {
        let (ratio, record) = (workload.map_ratio, workload.map_record.max(1.0));
        let buffer = config.sort_buffer.get() as f64;
        let metadata = RECORD_METADATA as f64;
        let hard = match config.generation {
            // One circular buffer for both since Hadoop 2 (MAPREDUCE-64).
            Generation::Yarn => buffer / (ratio * (1.0 + metadata / record)),
            // Two areas, of which either may fill first.
            Generation::Hadoop1 => {
                let records = buffer * config.record_percent / metadata;
                let data = buffer * (1.0 - config.record_percent);
                (data / ratio).min(records * record / ratio)
            }
        };
        let bytes = |limit: f64| if ratio > 0.0 { Bytes::new(whole(limit).max(1)) } else { Bytes::new(u64::MAX >> 1) };
        Self {
            soft: bytes(hard * config.spill_percent),
            hard: bytes(hard),
            start: Bytes::ZERO,
            end: Bytes::ZERO,
            spilling: Bytes::ZERO,
        }
    }
    fn collected(&self) -> Bytes {
        self.end - self.start
    }
    /// How much more input the mapper may process before it must begin or await a spill.
    pub fn room(&self) -> Bytes {
        let limit = if self.spilling == Bytes::ZERO { self.soft } else { self.hard.saturating_sub(self.spilling) };
        limit.saturating_sub(self.collected())
    }
    /// Whether a spill is due.
    pub fn is_due(&self) -> bool {
        self.spilling == Bytes::ZERO && self.collected() >= self.soft
    }
    /// Begins a spill of what is collected: the input that it stands for.
    pub fn begin(&mut self) -> (Bytes, Bytes) {
        let range = (self.start, self.end);
        self.spilling = self.collected();
        self.start = self.end;
        range
    }
    /// What is collected must be spilled before the task can end.
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }
}

/// How many records of the map output of so much input the combiner has before it at a time: those of a spill, and all
/// where there are enough spills for it to run again in the merge.
pub fn records_at_once(config: &MapReduceConfig, workload: &Workload, input: Bytes) -> u64 {
    let spill = SortBuffer::new(config, workload).soft.min(input).max(Bytes::new(1));
    let spills = input.get().div_ceil(spill.get());
    let together = if spills >= u64::from(config.combine_min_spills) { input } else { spill };
    workload.map_output(together).records.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(mut buffer: SortBuffer, input: u64) -> Vec<u64> {
        let mut spills = Vec::new();
        while buffer.end.get() < input {
            let step = buffer.room().get().min(input - buffer.end.get());
            assert!(step > 0);
            buffer.end += Bytes::new(step);
            if buffer.is_due() {
                let (from, to) = buffer.begin();
                spills.push((to - from).get());
                buffer.spilling = Bytes::ZERO;
            }
        }
        if !buffer.is_empty() {
            let (from, to) = buffer.begin();
            spills.push((to - from).get());
        }
        spills
    }

    /// The recorded word count: a buffer of 64 MiB, a split of 33,554,432 bytes, 4.7 million records of 11.1 bytes:
    /// Hadoop's counters show three spills (combined records of three spills and their merge); TeraSort's 335,544
    /// records of 102 bytes fit in one.
    #[test]
    fn spills_agree_with_recorded_tasks() {
        let config = MapReduceConfig { sort_buffer: Bytes::from_mib(64), ..MapReduceConfig::default() };
        let spills =
            |name: &str| run(SortBuffer::new(&config, &Workload::preset(name).expect("preset")), 33_554_432).len();
        assert_eq!(spills("wordcount"), 3);
        assert_eq!(spills("terasort"), 1);
    }

    /// White's rule for Hadoop 1: with io.sort.mb = 100 the metadata area holds 327,680 records, so small records spill
    /// by their number.
    #[test]
    fn metadata_area_limits_hadoop1() {
        let config = MapReduceConfig { generation: Generation::Hadoop1, ..MapReduceConfig::default() };
        let workload = Workload { map_ratio: 1.0, map_record: 10.0, ..Workload::preset("generic").expect("preset") };
        let buffer = SortBuffer::new(&config, &workload);
        assert_eq!(buffer.hard, Bytes::new(327_680 * 10));
        assert_eq!(buffer.soft, Bytes::new(262_144 * 10));
    }

    #[test]
    fn mapper_waits_only_when_both_parts_are_full() {
        let config = MapReduceConfig { sort_buffer: Bytes::new(1_160), ..MapReduceConfig::default() };
        let workload = Workload::preset("generic").expect("preset");
        let mut buffer = SortBuffer::new(&config, &workload);
        assert_eq!((buffer.soft, buffer.hard), (Bytes::new(800), Bytes::new(1_000)));
        buffer.end = Bytes::new(800);
        assert!(buffer.is_due());
        assert_eq!(buffer.begin(), (Bytes::ZERO, Bytes::new(800)));
        assert_eq!(buffer.room(), Bytes::new(200));
        buffer.end = Bytes::new(1_000);
        assert_eq!(buffer.room(), Bytes::ZERO);
        buffer.spilling = Bytes::ZERO;
        assert_eq!(buffer.room(), Bytes::new(600));
    }
}
