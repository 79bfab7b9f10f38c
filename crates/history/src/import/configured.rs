//! What a job's configuration says beside the keys that carry over as they are: compressed map outputs, and small jobs
//! that run in their AppMaster.

use super::settings::{Codec, Settings};
use super::significant;
use crate::{JobHistory, JobState, Task};
use hadoop::workload::{PARTITION_OVERHEAD, RECORD_OVERHEAD};
use scenario::{JobCodec, Scenario};
use std::borrow::Cow;
use std::collections::BTreeMap;
use units::Bytes;

const SHUFFLED: &str = "REDUCE_SHUFFLE_BYTES";

/// Map outputs that were compressed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MapCompression {
    codec: JobCodec,
    /// Shuffled bytes by plain ones.
    ratio: f64,
}

impl MapCompression {
    /// Of a job whose configuration names a codec, and whose counters show its ratio: `REDUCE_SHUFFLE_BYTES` counts
    /// compressed bytes, and as many records as `REDUCE_INPUT_RECORDS` of the length that maps put out are plain.
    pub fn of(job: &JobHistory, settings: Option<&Settings>) -> Option<Self> {
        let word = settings?.map_compression.as_ref().filter(|codec| **codec != Codec::None)?.word()?;
        let codec = JobCodec::ALL.iter().copied().find(|codec| codec.word() == word)?;
        let sum = |tasks: &[Task], counter: &str| -> f64 {
            let done = tasks.iter().filter_map(Task::successful);
            done.map(|attempt| attempt.counters.count(counter) as f64).sum()
        };
        let record = sum(&job.maps, "MAP_OUTPUT_BYTES") / sum(&job.maps, "MAP_OUTPUT_RECORDS");
        let partitions = (job.maps.len() * job.reduces.len()) as f64;
        let plain = sum(&job.reduces, "REDUCE_INPUT_RECORDS") * (record + RECORD_OVERHEAD)
            + partitions * PARTITION_OVERHEAD as f64;
        let ratio = sum(&job.reduces, SHUFFLED) / plain;
        (ratio.is_finite() && ratio > 0.0).then_some(Self { codec, ratio })
    }

    /// The job with what its shuffle would have counted without compression: costs are per plain byte.
    pub fn plain<'a>(compression: Option<&Self>, job: &'a JobHistory) -> Cow<'a, JobHistory> {
        let Some(Self { ratio, .. }) = compression else { return Cow::Borrowed(job) };
        let mut job = job.clone();
        for attempt in job.reduces.iter_mut().flat_map(|task| &mut task.attempts) {
            attempt.counters.scale(SHUFFLED, 1.0 / ratio);
        }
        Cow::Owned(job)
    }

    /// Writes it into a job whose costs are calibrated: they hold the codec's processor time.
    pub fn write(&self, job: &mut scenario::Job, notes: &mut BTreeMap<String, String>) {
        job.map_compression = Some(self.codec);
        job.map_compression_ratio = Some(significant(self.ratio.clamp(0.0001, 2.0)));
        (job.map_compress_cpu, job.map_decompress_cpu) = (Some(0.0), Some(0.0));
        let mut note = |key: &str, text: &str| notes.insert(format!("job.{key}"), text.to_owned());
        note("map-compression", "mapreduce.map.output.compress.codec");
        note("map-compression-ratio", "REDUCE_SHUFFLE_BYTES by what REDUCE_INPUT_RECORDS have uncompressed");
        note("map-compress-cpu", "part of spill-cpu and merge-cpu");
        note("map-decompress-cpu", "part of fetch-cpu and merge-cpu");
    }
}

/// Whether the job ran in its AppMaster, and which jobs its cluster would let.
pub fn uber(
    scenario: &mut Scenario,
    job: &JobHistory,
    settings: Option<&Settings>,
    notes: &mut BTreeMap<String, String>,
) {
    let configured = settings.and_then(|settings| settings.uber).filter(|uber| uber.enabled);
    // One that failed is run by its plan, attempt by attempt.
    let ran_so = job.uber && job.state == JobState::Succeeded;
    if !ran_so && configured.is_none() {
        return;
    }
    let limits = &mut scenario.mapreduce.uber;
    if let Some(configured) = configured {
        limits.enable = true;
        (limits.max_maps, limits.max_reduces) = (configured.maps.min(1_000_000), configured.reduces.min(100_000));
        limits.max_bytes = configured.bytes.map(Bytes::new);
        notes.insert("mapreduce.uber.enable".into(), "mapreduce.job.ubertask.enable".into());
    }
    let Some(section) = scenario.job.first_mut() else { return };
    section.uber = Some(ran_so);
    notes.insert("job.uber".into(), "whether it did, by its history".into());
    if ran_so {
        // It did, so it was small enough: a history without configuration does not say how small that is.
        let input = section.splits.iter().copied().sum::<Bytes>().max(section.input);
        limits.max_maps = limits.max_maps.max(job.maps.len() as u32);
        limits.max_reduces = limits.max_reduces.max(job.reduces.len() as u32);
        limits.max_bytes = Some(limits.max_bytes.unwrap_or(scenario.hdfs.block).max(input));
        let settings = &mut scenario.mapreduce;
        settings.am_memory = settings.am_memory.max(settings.map_memory).max(settings.reduce_memory);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::{Hosts, Sources, import};

    /// A word count without a combiner, as it was recorded: its map outputs were not compressed.
    fn recorded() -> JobHistory {
        let name = "tests/traces/wordcount-nocombine-unshaped/job_1795217314114_0002.jhist";
        let bytes = std::fs::read(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).expect("a trace");
        crate::read(&bytes).expect("a history").1.remove(0)
    }

    fn gzip() -> Settings {
        Settings { map_compression: Some(Codec::Gzip), ..Settings::default() }
    }

    /// Uncompressed records have the length that the maps counted, two bytes each and six a partition: the real
    /// counters of a real shuffle agree with that to a thousandth.
    #[test]
    fn what_was_not_compressed_has_the_ratio_one() {
        let compression = MapCompression::of(&recorded(), Some(&gzip())).expect("counters");
        assert!((compression.ratio - 1.0).abs() < 1e-3, "{}", compression.ratio);
    }

    /// The same job, its shuffle half as long: a codec of ratio 0.5, and a job of the same volumes otherwise.
    #[test]
    fn a_shuffle_of_half_the_bytes_is_a_codec_of_one_half() {
        let whole = recorded();
        let mut half = whole.clone();
        for attempt in half.reduces.iter_mut().flat_map(|task| &mut task.attempts) {
            attempt.counters.scale(SHUFFLED, 0.5);
        }
        let cluster = format!("[cluster]\nworkers = {}\n", Hosts::of(&whole, None).workers());
        let of = |job: &JobHistory, settings: Settings| {
            let sources =
                Sources { cluster: Some(("c.toml", &cluster)), settings: Some(settings), ..Sources::default() };
            import(job, &sources).expect("imported").scenario.job.remove(0)
        };
        let (plain, compressed) = (of(&whole, Settings::default()), of(&half, gzip()));
        assert_eq!(compressed.map_compression, Some(JobCodec::Gzip));
        let ratio = compressed.map_compression_ratio.expect("a ratio");
        assert!((ratio - 0.5).abs() < 1e-3, "{ratio}");
        let near = |a: Option<f64>, b: Option<f64>| {
            let (a, b) = (a.unwrap_or(0.0), b.unwrap_or(0.0));
            assert!((a - b).abs() <= 2e-3 * a.max(b), "{a} and {b}");
        };
        near(plain.map_ratio, compressed.map_ratio);
        near(plain.reduce_ratio, compressed.reduce_ratio);
        near(plain.merge_cpu, compressed.merge_cpu);
        near(plain.reduce_cpu, compressed.reduce_cpu);
    }
}
