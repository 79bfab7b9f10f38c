//! What a job's configuration says beside the keys that carry over as they are: compression, the combiner, and small
//! jobs that run in their AppMaster.

use super::calibrate::partitions;
use super::settings::{Codec, Settings};
use super::{Assumption, printable, significant};
use crate::{JobHistory, JobState, Task};
use hadoop::workload::RECORD_OVERHEAD;
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
        let Some(Codec::Known(codec)) = settings?.map_compression else { return None };
        let sum = |tasks: &[Task], counter: &str| -> f64 {
            let done = tasks.iter().filter_map(Task::successful);
            done.map(|attempt| attempt.counters.count(counter) as f64).sum()
        };
        let record = sum(&job.maps, "MAP_OUTPUT_BYTES") / sum(&job.maps, "MAP_OUTPUT_RECORDS");
        let plain = sum(&job.reduces, "REDUCE_INPUT_RECORDS") * (record + RECORD_OVERHEAD) + partitions(job);
        let ratio = sum(&job.reduces, SHUFFLED) / plain;
        (codec != JobCodec::None && ratio.is_finite() && ratio > 0.0).then_some(Self { codec, ratio })
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

/// What the configuration says of a compression that the scenario does not have: map outputs stay as they were
/// shuffled.
pub fn not_compressed(settings: Option<&Settings>, found: Option<&MapCompression>, assumed: &mut Vec<Assumption>) {
    let why = match settings.and_then(|settings| settings.map_compression.as_ref()) {
        Some(Codec::Unknown(class)) => format!("its codec, {}, is none of Hadoop's", printable(class)),
        Some(Codec::Known(codec)) if *codec != JobCodec::None && found.is_none() => {
            format!("the counters do not show what {} left of the map outputs", codec.word())
        }
        _ => return,
    };
    assumed.push(Assumption::new("job.map-compression", "none", format!("{why}: they are as they were shuffled")));
}

/// The job's output as it is compressed. HDFS counts compressed bytes: what they were before is by the codec's
/// published ratio, and the work of compressing is part of the reduce function's.
pub fn output_compression(
    job: &mut scenario::Job,
    settings: Option<&Settings>,
    notes: &mut BTreeMap<String, String>,
    assumed: &mut Vec<Assumption>,
) {
    const KEY: &str = "job.output-compression";
    let mut none = |why: String| {
        assumed.push(Assumption::new(KEY, "none", format!("{why}: output is as HDFS counted it")));
    };
    let codec = match settings.and_then(|settings| settings.output_compression.as_ref()) {
        Some(Codec::Known(codec)) => *codec,
        Some(Codec::Unknown(class)) => {
            return none(format!("its codec, {}, is none of Hadoop's", printable(class)));
        }
        None => return,
    };
    let Some(published) = hadoop::mapreduce::Codec::named(codec.word()) else { return };
    if job.reducers == Some(0) || job.workload.writes_as_it_is() {
        return none(format!("{} is for what reduces write, and there are none", codec.word()));
    }
    let ratio = published.compression().ratio;
    job.output_compression = Some(codec);
    job.output_compress_cpu = Some(0.0);
    job.reduce_ratio = job.reduce_ratio.map(|counted| significant(counted / ratio));
    let property = "mapreduce.output.fileoutputformat.compress.codec";
    notes.insert(KEY.into(), property.into());
    notes.insert("job.output-compress-cpu".into(), "part of what the reduce function took".into());
    notes.insert(
        "job.reduce-ratio".into(),
        format!("output before {}, by REDUCE_SHUFFLE_BYTES less 6 B of each partition", codec.word()),
    );
    let value = significant(ratio).to_string();
    assumed.push(Assumption::new("job.output-compression-ratio", value, "no counter has the output's plain size"));
}

/// What the configuration says of a combiner beside the counters, which decide.
pub fn combiner(
    job: &JobHistory,
    settings: Option<&Settings>,
    notes: &mut BTreeMap<String, String>,
    assumed: &mut Vec<Assumption>,
) {
    let Some(class) = settings.and_then(|settings| settings.combiner.as_deref()).map(printable) else { return };
    let read: Vec<u64> = job
        .maps
        .iter()
        .filter_map(Task::successful)
        .filter_map(|attempt| attempt.counters.get("COMBINE_INPUT_RECORDS"))
        .collect();
    if read.iter().any(|records| *records > 0) {
        if let Some(note) = notes.get_mut("job.combiner") {
            *note = format!("{class}, and {note}");
        }
        return;
    }
    let why = if read.is_empty() { "no counter says what it read" } else { "by the counters it read nothing" };
    assumed.push(Assumption::new("job.combiner", "false", format!("the configuration names {class}, but {why}")));
}

/// Records of which TeraSort's client takes a sample by default (`mapreduce.terasort.partitions.sample`).
const SAMPLED: f64 = 100_000.0;
/// Bytes of a record of TeraSort.
const TERA_RECORD: f64 = 100.0;

/// The sample that TeraSort's client takes before it submits its job. TeraSort names its jobs, and sorts records of 100
/// bytes.
pub fn sample(section: &mut scenario::Job, job: &JobHistory, notes: &mut BTreeMap<String, String>) {
    let sum = |counter: &str| -> f64 {
        let done = job.maps.iter().filter_map(Task::successful);
        done.map(|attempt| attempt.counters.count(counter) as f64).sum()
    };
    let record = section.splits.iter().map(|split| split.get() as f64).sum::<f64>() / sum("MAP_INPUT_RECORDS");
    if job.name == "TeraSort" && !job.reduces.is_empty() && (record / TERA_RECORD - 1.0).abs() < 0.01 {
        section.sample = Some(Bytes::new((SAMPLED * TERA_RECORD) as u64).min(section.input));
        notes
            .insert("job.sample".into(), "TeraSort's client reads 100,000 records, unless it is told otherwise".into());
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
        Settings { map_compression: Some(Codec::Known(JobCodec::Gzip)), ..Settings::default() }
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

    #[test]
    fn each_codec_of_a_scenario_has_published_figures() {
        for codec in JobCodec::ALL {
            assert_eq!(hadoop::mapreduce::Codec::named(codec.word()).is_none(), *codec == JobCodec::None, "{codec:?}");
        }
    }

    /// What HDFS counted is what the simulated job leaves there, whatever the codec's ratio is taken to be.
    #[test]
    fn compressed_output_keeps_its_volume() {
        let job = recorded();
        for cluster in [None, Some(format!("[cluster]\nworkers = {}\n", Hosts::of(&job, None).workers()))] {
            let cluster = cluster.as_ref().map(|text| ("c.toml", text.as_str()));
            let of = |settings: Settings| {
                import(&job, &Sources { cluster, settings: Some(settings), ..Sources::default() }).expect("imported")
            };
            let compressed =
                Settings { output_compression: Some(Codec::Known(JobCodec::Snappy)), ..Settings::default() };
            let (plain, packed) = (of(Settings::default()), of(compressed));
            let (a, b) = (&plain.scenario.job[0], &packed.scenario.job[0]);
            assert_eq!((a.output_compression, b.output_compression), (None, Some(JobCodec::Snappy)));
            assert_eq!((b.output_compression_ratio, b.output_compress_cpu), (None, Some(0.0)));
            // Snappy leaves 48.19 % of the Silesia corpus (lzbench).
            let written = 0.4819 * b.reduce_ratio.expect("a ratio");
            assert!((written / a.reduce_ratio.expect("a ratio") - 1.0).abs() < 1e-3, "{written}");
            assert!(packed.assumed.iter().any(|of| of.key == "job.output-compression-ratio" && of.value == "0.4819"));
        }
    }

    #[test]
    fn what_the_configuration_says_and_the_scenario_has_not_is_said() {
        let unknown = || Some(Codec::Unknown("org.example.Squeeze".to_owned()));
        let settings = Settings {
            map_compression: unknown(),
            output_compression: unknown(),
            combiner: Some("org.example.Fold".to_owned()),
            ..Settings::default()
        };
        let imported =
            import(&recorded(), &Sources { settings: Some(settings), ..Sources::default() }).expect("imported");
        let why = |key: &str| imported.assumed.iter().find(|of| of.key == key).map_or("", |of| of.why.as_str());
        assert!(why("job.map-compression").contains("org.example.Squeeze"), "{:?}", imported.assumed);
        assert!(why("job.output-compression").contains("org.example.Squeeze"), "{:?}", imported.assumed);
        let combiner = "the configuration names org.example.Fold, but by the counters it read nothing";
        assert_eq!(why("job.combiner"), combiner);
    }
}
