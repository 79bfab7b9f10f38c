//! Calibrates a workload on one job's history: volumes from its counters, CPU costs from its counters and the wall time
//! of its phases, per byte and record.

use super::busy::{Contention, contention, received, without_waits};
use super::hosts::Hosts;
use super::spills::TwoThreads;
use super::work::{Machines, Work, each_attempt, work};
use crate::{Attempt, AttemptState, JobHistory};
use hadoop::mapreduce::SET_UP_SHARE;
use hadoop::workload::{Keys, PARTITION_OVERHEAD, RECORD_METADATA, RECORD_OVERHEAD};
use units::{Bytes, Time};

/// What a history reveals of a job. Ratios are per byte. Costs are nanoseconds of a core of speed 1 per byte (or
/// record).
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// The kind of job, judged by the counters.
    pub shape: Shape,
    /// Bytes that each map reads (or generates), in the order of the maps.
    pub splits: Vec<Bytes>,
    /// The workers that hold each split, in the order of the maps.
    pub split_hosts: Vec<Vec<u32>>,
    /// Reduce tasks.
    pub reducers: u32,
    /// Bytes of an input record, if counted.
    pub input_record: Option<f64>,
    /// Map output per byte of input, before combining.
    pub map_ratio: f64,
    /// Bytes of a map output record.
    pub map_record: Option<f64>,
    /// The combiner, if one ran.
    pub combiner: Option<Combiner>,
    /// Bytes of map output that each reducer gets.
    pub shares: Vec<f64>,
    /// Output per byte of reduce input; zero in a job without reducers.
    pub reduce_ratio: f64,
    /// Bytes that maps write to HDFS themselves, per byte of their input.
    pub side_ratio: f64,
    /// CPU costs.
    pub costs: Costs,
    /// CPU time of a task's start, which the task's counters omit.
    pub start_up: Option<f64>,
    /// Relative standard deviation of the work of maps of equal size; zero if no two have equal size.
    pub variation: f64,
    /// Delays, in seconds, from the heartbeat that brought its container to an attempt's start, ascending: of the first
    /// attempts, and of later ones.
    pub start_delays: [Vec<f64>; 2],
    /// Seconds from the AppMaster's start to the job's launch.
    pub master_start: Option<f64>,
    /// Whether an attempt was speculative.
    pub speculative: bool,
    /// What kept the tasks from the cores.
    pub contention: Contention,
    /// What the history does not show and is assumed.
    pub assumed: Vec<&'static str>,
}

/// What a job reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Maps read splits of HDFS files.
    Splits,
    /// Maps read whole files that are not their splits (TestDFSIO read).
    WholeFiles,
    /// Maps generate data and write it to HDFS (TeraGen, TestDFSIO write).
    Generated,
}

/// A combiner that leaves one record per distinct key.
#[derive(Clone, Debug, PartialEq)]
pub struct Combiner {
    /// The keys and their frequencies.
    pub keys: Keys,
    /// Bytes of a combined record.
    pub record: f64,
}

/// CPU costs, as far as the history shows them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Costs {
    /// Map function, per byte of input.
    pub map: Option<f64>,
    /// Comparisons of a sort, per record and binary logarithm of the records.
    pub sort: Option<f64>,
    /// Writing a spill, per byte.
    pub spill: Option<f64>,
    /// The combiner, per byte read.
    pub combine: Option<f64>,
    /// Merging, per byte read.
    pub merge: Option<f64>,
    /// Fetching map output, per byte.
    pub fetch: Option<f64>,
    /// Reduce function and output, per byte of reduce input.
    pub reduce: Option<f64>,
}

/// Inputs beside the history: the machines, and the settings of the job.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    /// The machines.
    pub machines: Machines,
    /// Interval of an AppMaster's heartbeats, in seconds.
    pub heartbeat: f64,
    /// A map's sort buffer.
    pub sort_buffer: Bytes,
    /// Fill level at which a spill starts.
    pub spill_percent: f64,
    /// Counted CPU time of a task without work.
    pub overhead: Time,
    /// Assumed cost of a comparison, in nanoseconds.
    pub sort: f64,
    /// Assumed cost of writing a spill where a combiner hides it, in nanoseconds per byte.
    pub spill: f64,
    /// HDFS block size.
    pub block: Bytes,
    /// Replicas of the job's output.
    pub replication: u32,
    /// CPU seconds of a task's start, as the cluster's scenario has it.
    pub start: f64,
    /// CPU seconds from an AppMaster's start to the job's launch, as the cluster's scenario has it.
    pub master_start: f64,
    /// The least rate of a worker's link, in bit/s.
    pub rate: f64,
    /// The rate of the link before the object store that has the maps' input, in bit/s; none if it is elsewhere.
    pub store_rate: Option<f64>,
    /// CPU time of a DataNode to receive a replica, in nanoseconds per byte. It is simulated separately and is no cost
    /// of the job.
    pub receive: f64,
}

/// A counter above this is wrong: no map reads more.
const LARGEST: u64 = 1 << 44;
/// Maps are of one size if none has more than this times the bytes of the next smaller one.
const ONE_SIZE: f64 = 1.03;
/// A larger variation is no noise.
const MOST_VARIATION: f64 = 0.5;
/// Heartbeats after the launch whose times are still known.
const HEARTBEATS_KNOWN: f64 = 30.0;
/// Smallest volume of maps, in bytes, that shows a cost per byte. Below it fixed costs hide the cost.
const ENOUGH: f64 = 1e6;
/// Smallest volume of reducers, in bytes, that shows a cost per byte. The commit alone takes as much CPU time as
/// reducing some megabytes.
const ENOUGH_TO_REDUCE: f64 = 8e6;

/// Calibrates on one job.
pub fn calibrate(job: &JobHistory, hosts: &Hosts, given: &Given) -> Calibration {
    let maps: Vec<&Attempt> = job.maps.iter().filter_map(|t| t.successful()).collect();
    let reduces: Vec<&Attempt> = job.reduces.iter().filter_map(|t| t.successful()).collect();
    let m = |counter| sum(&maps, counter);
    let r = |counter| sum(&reduces, counter);
    let mut assumed = Vec::new();

    let shape = shape(&maps);
    let mut splits: Vec<Bytes> =
        job.maps.iter().map(|t| t.successful().map_or(Bytes::ZERO, |a| volume(shape, a))).collect();
    if splits.iter().copied().sum::<Bytes>() == Bytes::ZERO {
        assumed.push("the history counts no bytes that maps read: each has one block of input");
        splits.fill(given.block);
    }
    for split in &mut splits {
        // A split ends at a block, but its reader reads to the end of a record.
        if *split > given.block.mul_f64(0.999) && *split < given.block.mul_f64(1.001) {
            *split = given.block;
        }
        // A map that read nothing still has a split.
        *split = (*split).max(Bytes::new(1));
    }
    let input: f64 = splits.iter().map(|b| b.get() as f64).sum();
    let ratio = |a: f64, b: f64| if b > 0.0 { a / b } else { 0.0 };
    let positive = |value: f64| (value > 0.0).then_some(value);

    let shuffled = r("REDUCE_SHUFFLE_BYTES");
    let reduced = (shuffled - partitions(job)).max(0.0);
    let (mut map_ratio, mut reduce_ratio) =
        (ratio(m("MAP_OUTPUT_BYTES"), input), ratio(r("HDFS_BYTES_WRITTEN"), reduced));
    let mut side_ratio = 0.0;
    if job.reduces.is_empty() {
        (map_ratio, reduce_ratio, side_ratio) = (0.0, 0.0, ratio(m("HDFS_BYTES_WRITTEN"), input));
    } else if shape == Shape::Generated {
        side_ratio = 1.0;
    } else if m("HDFS_BYTES_WRITTEN") > ENOUGH {
        side_ratio = ratio(m("HDFS_BYTES_WRITTEN"), input);
    }
    if shuffled == 0.0 && !job.reduces.is_empty() {
        assumed.push("the history counts no shuffled bytes: the map output has the size of the input, in equal shares");
        (map_ratio, reduce_ratio) = (1.0, 1.0);
    }
    let combiner = combiner(job, &maps, &reduces);
    let mut fit = Fit {
        job,
        hosts,
        given,
        machines: given.machines.clone(),
        contention: Contention::None,
        maps: &maps,
        reduces: &reduces,
        input,
        combiner,
    };
    if sum(&maps, "CPU_MILLISECONDS") > 0.0 {
        fit.contention = contention(job, hosts, given);
        if let Contention::Load { per_core, .. } = fit.contention {
            fit.machines.load = per_core;
        }
    }
    let (costs, start_up) = fit.costs(&mut assumed);
    let variation = fit.variation(start_up.unwrap_or(0.0));
    Calibration {
        shape,
        splits,
        split_hosts: split_hosts(job, hosts),
        reducers: job.reduces.len() as u32,
        input_record: positive(ratio(input, m("MAP_INPUT_RECORDS"))),
        map_ratio,
        map_record: positive(ratio(m("MAP_OUTPUT_BYTES"), m("MAP_OUTPUT_RECORDS"))),
        combiner: fit.combiner,
        shares: if shuffled > 0.0 {
            reduces.iter().map(|a| a.counters.count("REDUCE_SHUFFLE_BYTES") as f64).collect()
        } else {
            Vec::new()
        },
        reduce_ratio,
        side_ratio,
        costs,
        start_up,
        variation,
        contention: fit.contention,
        start_delays: start_delays(job, given.heartbeat),
        master_start: job.masters.last().map(|master| (job.launch_ms - master.start_ms).max(0) as f64 / 1e3),
        speculative: each_attempt(job).any(|(_, a)| a.speculative),
        assumed,
    }
}

/// What partitions take of the shuffled bytes by themselves.
pub(super) fn partitions(job: &JobHistory) -> f64 {
    (job.maps.len() * job.reduces.len()) as f64 * PARTITION_OVERHEAD as f64
}

fn sum(attempts: &[&Attempt], counter: &str) -> f64 {
    attempts.iter().map(|a| a.counters.count(counter) as f64).sum()
}

fn shape(maps: &[&Attempt]) -> Shape {
    let (read, written) = (sum(maps, "HDFS_BYTES_READ"), sum(maps, "HDFS_BYTES_WRITTEN"));
    if written > 100.0 * read.max(1.0) {
        Shape::Generated
    } else if sum(maps, "BYTES_READ") > 0.0 && read > 2.0 * sum(maps, "BYTES_READ") + ENOUGH {
        Shape::WholeFiles
    } else {
        Shape::Splits
    }
}

/// Bytes that a map reads or generates. The description of its split is read from HDFS too, but is no input.
fn volume(shape: Shape, map: &Attempt) -> Bytes {
    let count = |counter| map.counters.count(counter);
    let bytes = match shape {
        Shape::Generated => count("HDFS_BYTES_WRITTEN"),
        _ => count("HDFS_BYTES_READ").saturating_sub(count("SPLIT_RAW_BYTES")),
    };
    Bytes::new(bytes.min(LARGEST))
}

fn split_hosts(job: &JobHistory, hosts: &Hosts) -> Vec<Vec<u32>> {
    job.maps.iter().map(|t| t.preferred_hosts.iter().filter_map(|h| hosts.number(h)).collect()).collect()
}

/// The AppMaster gets containers at its heartbeats. The first heartbeat leaves at the job's launch; the second brings
/// the containers of the first tasks. The delay is what exceeds a whole number of intervals. Each heartbeat is some
/// milliseconds late, so only those of the first half minute are known.
fn start_delays(job: &JobHistory, heartbeat: f64) -> [Vec<f64>; 2] {
    let mut delays = [Vec::new(), Vec::new()];
    if job.masters.is_empty() || heartbeat <= 0.0 {
        return delays;
    }
    let starts = each_attempt(job).filter_map(|(_, a)| a.start_ms).map(|ms| (ms - job.launch_ms) as f64 / 1e3);
    let starts: Vec<f64> = starts.filter(|s| *s > 0.0 && *s < HEARTBEATS_KNOWN * heartbeat).collect();
    let first = starts.iter().copied().fold(f64::INFINITY, f64::min);
    let beat = libm::floor(first / heartbeat) * heartbeat;
    for start in starts {
        // Attempts that start within an interval of the first came with the same heartbeat.
        let together = start - first < heartbeat;
        let delay = if together { start - beat } else { start - libm::floor(start / heartbeat) * heartbeat };
        delays[usize::from(!together)].push(delay);
    }
    for list in &mut delays {
        list.sort_by(f64::total_cmp);
    }
    delays
}

/// The combiner's keys: as many as the reducers counted groups, with the Zipf exponent that leaves as many records as
/// the reducers read.
fn combiner(job: &JobHistory, maps: &[&Attempt], reduces: &[&Attempt]) -> Option<Combiner> {
    let left = sum(reduces, "REDUCE_INPUT_RECORDS");
    let distinct = sum(reduces, "REDUCE_INPUT_GROUPS") as u64;
    if sum(maps, "COMBINE_INPUT_RECORDS") == 0.0 || left == 0.0 || distinct == 0 {
        return None;
    }
    let leaves = |exponent: f64| -> f64 {
        let keys = Keys::new(distinct, exponent);
        maps.iter().map(|a| keys.expected_distinct(a.counters.count("MAP_OUTPUT_RECORDS"))).sum()
    };
    // The more unequal the keys, the fewer of them occur.
    let (mut low, mut high) = (0.0, 4.0);
    for _ in 0..40 {
        let middle = f64::midpoint(low, high);
        if leaves(middle) > left { low = middle } else { high = middle }
    }
    let record = (sum(reduces, "REDUCE_SHUFFLE_BYTES") - partitions(job)) / left - RECORD_OVERHEAD;
    Some(Combiner { keys: Keys::new(distinct, low), record: record.max(1.0) })
}

// === CPU ===

struct Fit<'a> {
    job: &'a JobHistory,
    hosts: &'a Hosts,
    given: &'a Given,
    /// The machines, with the load that is seen.
    machines: Machines,
    contention: Contention,
    maps: &'a [&'a Attempt],
    reduces: &'a [&'a Attempt],
    input: f64,
    combiner: Option<Combiner>,
}

impl Fit<'_> {
    /// Costs, and the CPU seconds of a task's start.
    ///
    /// All work is measured by wall time, less the time of DataNodes to receive the output. What tasks count themselves
    /// is less: it omits the start of their JVM and other work of the machine for them. Reducers merge in their sort
    /// phase and reduce in the last phase. Maps spill the rest and merge in their sort phase; the map function gets
    /// what remains of all their work.
    fn costs(&self, assumed: &mut Vec<&'static str>) -> (Costs, Option<f64>) {
        let mut costs = Costs::default();
        if sum(self.maps, "CPU_MILLISECONDS") == 0.0 {
            assumed.push("the history counts no CPU time: costs are those of the generic workload");
            return (costs, None);
        }
        let (start_up, map_work, reduce_work) = self.start_up();
        let overhead = self.given.overhead.as_secs_f64();
        let (maps, reduces) = (self.maps.len() as f64, self.reduces.len() as f64);
        let received =
            |attempts: &[&Attempt]| -> f64 { attempts.iter().map(|attempt| received(attempt, self.given)).sum() };
        let worked: f64 = map_work.iter().map(|w| w.first + w.second).sum();
        let worked = worked - received(self.maps) - (overhead + start_up) * maps;
        if self.reduces.is_empty() {
            costs.map = Some(1e9 * worked.max(0.0) / self.input);
            return (costs, Some(start_up));
        }
        let shuffled = sum(self.reduces, "REDUCE_SHUFFLE_BYTES");
        let stated = self.reduces.iter().all(|a| a.sort_finish_ms.is_some());
        if shuffled > ENOUGH_TO_REDUCE * reduces && stated {
            // Reducers' merges delay the job's end, and nothing else runs in their sort phase.
            let merge: f64 = reduce_work.iter().map(|w| w.second).sum();
            let last = reduce_work.iter().map(|w| w.third).sum::<f64>()
                - received(self.reduces)
                - overhead * (1.0 - SET_UP_SHARE) * reduces;
            let counted = sum(self.reduces, "CPU_MILLISECONDS") / 1e3;
            costs.merge = Some(1e9 * merge / shuffled);
            costs.reduce = Some(1e9 * last.max(0.0) / shuffled);
            costs.fetch = Some(1e9 * (counted - overhead * reduces - merge - last).max(0.0) / shuffled);
        }
        let sorting = self.sort_phases(&map_work, worked, costs.merge);
        if costs.merge.is_none() && sorting.merged > 0.0 {
            costs.merge = Some(1e9 * sorting.merge_work.max(0.0) / sorting.merged);
        }
        (costs.sort, costs.spill, costs.combine) = (Some(sorting.sort), Some(sorting.spill), sorting.combine);
        if sorting.assumed {
            assumed.push("the history does not tell sorting and writing apart: both cost what they do in the presets");
        }
        let merging = costs.merge.unwrap_or(0.0) * 1e-9 * sorting.merged;
        costs.map = Some(1e9 * (worked - sorting.spilling - merging).max(0.0) / self.input);
        (costs, Some(start_up))
    }

    /// Variation of the work of maps of one size: deviations from each size's mean, pooled.
    fn variation(&self, start_up: f64) -> f64 {
        let all = work(self.job, self.hosts, &self.machines, start_up);
        let mut maps: Vec<(Bytes, f64)> = each_attempt(self.job)
            .zip(all)
            .filter(|((map, attempt), _)| *map && attempt.state == AttemptState::Succeeded)
            .map(|((_, attempt), work)| (volume(shape(self.maps), attempt), work.first + work.second))
            .collect();
        maps.sort_by_key(|(bytes, _)| *bytes);
        let same = |a: &(Bytes, f64), b: &(Bytes, f64)| b.0 <= a.0.mul_f64(ONE_SIZE);
        let (mut squares, mut freedom) = (0.0, 0.0);
        for group in maps.chunk_by(same) {
            let mean = group.iter().map(|(_, work)| work).sum::<f64>() / group.len() as f64;
            if mean > 0.0 {
                squares += group.iter().map(|(_, work)| (work / mean - 1.0) * (work / mean - 1.0)).sum::<f64>();
                freedom += group.len() as f64 - 1.0;
            }
        }
        if freedom > 0.0 { libm::sqrt(squares / freedom).min(MOST_VARIATION) } else { 0.0 }
    }

    /// CPU time of a start, and the work of successful attempts. How long a starting reducer shares the cores depends
    /// on the CPU time of its start, so both are iterated.
    fn start_up(&self) -> (f64, Vec<Work>, Vec<Work>) {
        let mut result = (1.0, Vec::new(), Vec::new());
        for _ in 0..4 {
            let all = work(self.job, self.hosts, &self.machines, result.0);
            let mut maps = Vec::new();
            let mut reduces = Vec::new();
            for ((map, attempt), work) in each_attempt(self.job).zip(all) {
                if attempt.state == AttemptState::Succeeded {
                    if map { maps.push(work) } else { reduces.push(work) }
                }
            }
            let start_up = match self.contention {
                Contention::None => self.reduce_start(&reduces, self.map_start(&maps)),
                // Beside other work, and among waits, a start is not seen apart.
                Contention::Load { .. } | Contention::Waits { .. } => self.given.start,
            };
            result = (start_up, maps, reduces);
        }
        if matches!(self.contention, Contention::Waits { .. }) {
            without_waits(&mut result.1, self.maps, &mut result.2, self.reduces, self.given);
        }
        result
    }

    /// CPU time of a map's start: the work that the map did not count. The longer a map, the more of its uncounted work
    /// is not its start. So with maps of different work, a straight line through them is extrapolated to no work.
    fn map_start(&self, work: &[Work]) -> f64 {
        let counted = self.maps.iter().map(|a| a.counters.count("CPU_MILLISECONDS") as f64 / 1e3);
        let points: Vec<(f64, f64)> = work
            .iter()
            .zip(counted)
            .zip(self.maps)
            .map(|((w, counted), map)| (counted, w.first + w.second - counted - received(map, self.given)))
            .collect();
        let n = points.len().max(1) as f64;
        let mean = |value: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(value).sum::<f64>() / n;
        let (x, y) = (mean(&|p| p.0), mean(&|p| p.1));
        let variance = mean(&|p| (p.0 - x) * (p.0 - x));
        let covariance = mean(&|p| (p.0 - x) * (p.1 - y));
        // Without a spread of a third of the mean, the line would fit a single cloud.
        let slope = if variance > x * x / 9.0 { (covariance / variance).max(0.0) } else { 0.0 };
        (y - slope * x).clamp(0.0, y.max(0.0))
    }

    /// CPU time of a start, of which the maps say that it is `of_maps`. A reducer's is over before its last fetch: its
    /// share of the cores until then, less its set-up, bounds it. Reducers that wait for maps bound it loosely;
    /// those that come with the last maps or after them say that a start takes less than what maps do not count, as
    /// that is also the work of others: daemons, the AppMaster, DataNodes that serve the input.
    fn reduce_start(&self, work: &[Work], of_maps: f64) -> f64 {
        if self.reduces.is_empty() || self.reduces.iter().any(|a| a.shuffle_finish_ms.is_none()) {
            return of_maps;
        }
        let set_up = self.given.overhead.as_secs_f64() * SET_UP_SHARE;
        let bounds = work.iter().map(|w| (w.most - set_up).clamp(0.0, of_maps));
        bounds.sum::<f64>() / self.reduces.len() as f64
    }

    /// Fits sorting, combining and spilling to the work of the maps' sort phases.
    ///
    /// A map with one spill shows the cost of spilling. In a map with several a merge follows: it shows the cost of
    /// merging if the cost of its spills is known. That is taken from the maps with one spill if these wrote more. If
    /// not, and the reducers have shown what merging costs (`merge`, in nanoseconds per byte), the rest of the sort
    /// phase is what the spill thread had not done beside the function. `worked` is the work of all maps without their
    /// overhead, in seconds.
    fn sort_phases(&self, work: &[Work], worked: f64, merge: Option<f64>) -> Sorting {
        let closing = self.given.overhead.as_secs_f64() * (1.0 - SET_UP_SHARE);
        let [mut single, mut several, mut beside] = [Piece::default(); 3];
        let (mut single_work, mut several_work, mut merged) = (0.0, 0.0, 0.0);
        for (map, work) in self.maps.iter().zip(work) {
            let second = (work.second - closing).max(0.0);
            let (full, rest) = self.spills(map);
            for piece in &full {
                beside.add(piece);
            }
            if map.map_finish_ms.is_none() {
                continue;
            }
            if full.is_empty() {
                single.add(&rest);
                single_work += second;
            } else {
                several.add(&rest);
                several_work += second;
                merged += full.iter().map(|p| p.written).sum::<f64>() + rest.written;
            }
        }
        let nano = 1e-9;
        let mut sorting = Sorting { sort: self.given.sort, spill: self.given.spill, ..Sorting::default() };
        if self.combiner.is_some() && single.bytes + several.bytes > ENOUGH {
            let all = sum_of([single, several, beside]);
            let measured = single_work + several_work;
            match self.combine_of_several(&all, worked, measured) {
                Some((sort, combine)) => (sorting.sort, sorting.combine) = (sort, Some(combine)),
                None => sorting.assumed = true,
            }
        } else if self.combiner.is_some() {
            // Too little was combined to see what it costs.
        } else if single.written > several.written.max(ENOUGH) {
            let left = single_work - nano * sorting.sort * single.comparisons;
            if left < 0.0 {
                // There is less work than the assumed comparisons alone would take.
                (sorting.sort, sorting.spill) = (single_work / nano / single.comparisons, 0.0);
            } else {
                sorting.spill = left / nano / single.written;
            }
        } else {
            let all = sum_of([single, several, beside]);
            match merge.and_then(|merge| self.sort_of_several(&all, worked, merge * nano, several_work)) {
                Some(sort) => sorting.sort = sort,
                None => sorting.assumed = true,
            }
        }
        let cost = |piece: &Piece| {
            let combine = sorting.combine.unwrap_or(0.0) * piece.bytes;
            nano * (sorting.sort * piece.comparisons + combine + sorting.spill * piece.written)
        };
        sorting.spilling = cost(&beside) + cost(&single) + cost(&several);
        if self.combiner.is_none() {
            sorting.merge_work = several_work - cost(&several);
            sorting.merged = merged;
        }
        sorting
    }

    /// The cost of a comparison with which maps of several spills leave as much work for their sort phases as these
    /// show (`measured`, in seconds). The dearer a spill, the more of it is left when the function ends. `merge` is in
    /// seconds per byte; `all` is what all maps spill. None if no cost does.
    fn sort_of_several(&self, all: &Piece, worked: f64, merge: f64, measured: f64) -> Option<f64> {
        let nano = 1e-9;
        let maps = self.maps.iter().filter(|map| map.map_finish_ms.is_some());
        let several: Vec<_> =
            maps.map(|map| (*map, self.spills(map))).filter(|(_, (full, _))| !full.is_empty()).collect();
        let written = |(full, rest): &(Vec<Piece>, Piece)| full.iter().map(|p| p.written).sum::<f64>() + rest.written;
        let merged: f64 = several.iter().map(|(_, spills)| written(spills)).sum();
        let of = |sort: f64| {
            let cost = move |piece: &Piece| nano * (sort * piece.comparisons + self.given.spill * piece.written);
            let function = worked - cost(all) - merge * merged;
            self.left(&several, function, &cost, merge)
        };
        // More than all that the maps did it cannot be.
        let high =
            (worked - nano * self.given.spill * all.written - merge * merged) / (nano * all.comparisons.max(1.0));
        crossing(high, measured, of)
    }

    /// The costs of a comparison and of combining a byte with which maps leave as much work for their sort phases as
    /// these show. What is left after combining is little: merging it is neglected. Where even a combiner that costs
    /// nothing leaves too much, comparisons cost less than they do in the presets.
    fn combine_of_several(&self, all: &Piece, worked: f64, measured: f64) -> Option<(f64, f64)> {
        let nano = 1e-9;
        let maps = self.maps.iter().filter(|map| map.map_finish_ms.is_some());
        let maps: Vec<_> = maps.map(|map| (*map, self.spills(map))).collect();
        let of = |sort: f64, combine: f64| {
            let cost = move |piece: &Piece| {
                nano * (sort * piece.comparisons + combine * piece.bytes + self.given.spill * piece.written)
            };
            self.left(&maps, worked - cost(all), &cost, 0.0)
        };
        let rest = worked - nano * self.given.spill * all.written;
        let sort = self.given.sort;
        let high = (rest - nano * sort * all.comparisons) / (nano * all.bytes.max(1.0));
        if let Some(combine) = crossing(high, measured, |combine| of(sort, combine)) {
            return Some((sort, combine));
        }
        let high = (rest / (nano * all.comparisons.max(1.0))).min(sort);
        crossing(high, measured, |sort| of(sort, 0.0)).map(|sort| (sort, 0.0))
    }

    /// The work that maps leave for their sort phases, in seconds, if their functions take `function` together and a
    /// spill takes `cost`. `merge` is in seconds per byte.
    fn left(
        &self,
        maps: &[(&Attempt, (Vec<Piece>, Piece))],
        function: f64,
        cost: &dyn Fn(&Piece) -> f64,
        merge: f64,
    ) -> f64 {
        let of_map = |(map, (full, rest)): &(&Attempt, (Vec<Piece>, Piece))| {
            let Some(first) = full.first() else { return cost(rest) };
            let held: f64 = (full.iter().map(|p| p.bytes).sum::<f64>() + rest.bytes).max(1.0);
            let written = full.iter().map(|p| p.written).sum::<f64>() + rest.written;
            let part = first.bytes / held;
            let input = volume(Shape::Splits, map).get() as f64 / self.input;
            TwoThreads {
                function: function * input,
                full: &full.iter().map(cost).collect::<Vec<f64>>(),
                rest: cost(rest) + merge * written,
                part,
                room: part / self.given.spill_percent.max(0.01),
            }
            .left()
        };
        maps.iter().map(of_map).sum()
    }

    /// The spills that run beside a map's function, and the last one. The buffer holds serialised bytes and metadata.
    fn spills(&self, map: &Attempt) -> (Vec<Piece>, Piece) {
        let count = |counter| map.counters.count(counter) as f64;
        let (bytes, records) = (count("MAP_OUTPUT_BYTES"), count("MAP_OUTPUT_RECORDS"));
        let held = bytes + records * RECORD_METADATA as f64;
        let full = self.given.sort_buffer.get() as f64 * self.given.spill_percent;
        let piece = |part: f64| {
            let (records, bytes) = (records * part, bytes * part);
            let written = match &self.combiner {
                Some(c) => c.keys.expected_distinct(records as u64).min(records) * (c.record + RECORD_OVERHEAD),
                None => bytes + records * RECORD_OVERHEAD,
            };
            let comparisons = if records < 2.0 { 0.0 } else { records * libm::log2(records) };
            Piece { bytes, written, comparisons }
        };
        let beside = ((held / full).ceil() as usize).saturating_sub(1);
        let part = full / held;
        (vec![piece(part); beside], piece(1.0 - if beside > 0 { part * beside as f64 } else { 0.0 }))
    }
}

/// What the sort phases of maps show: costs in nanoseconds, work in seconds.
#[derive(Default)]
struct Sorting {
    sort: f64,
    spill: f64,
    combine: Option<f64>,
    /// Whether the costs are the presets'.
    assumed: bool,
    /// Work of all spills.
    spilling: f64,
    /// Work of merging, and bytes merged.
    merge_work: f64,
    merged: f64,
}

/// Input of one or several spills: serialised bytes, bytes on disk, comparisons.
#[derive(Clone, Copy, Default)]
struct Piece {
    bytes: f64,
    written: f64,
    comparisons: f64,
}

fn sum_of(pieces: impl IntoIterator<Item = Piece>) -> Piece {
    pieces.into_iter().fold(Piece::default(), |mut all, piece| {
        all.add(&piece);
        all
    })
}

/// Where a function that rises from 0 to `high` has the wanted value; none where it has it nowhere.
fn crossing(high: f64, wanted: f64, of: impl Fn(f64) -> f64) -> Option<f64> {
    if high <= 0.0 || of(0.0) > wanted || of(high) < wanted {
        return None;
    }
    let (mut low, mut high) = (0.0, high);
    for _ in 0..40 {
        let middle = f64::midpoint(low, high);
        if of(middle) < wanted { low = middle } else { high = middle }
    }
    Some(low)
}

impl Piece {
    fn add(&mut self, other: &Self) {
        self.bytes += other.bytes;
        self.written += other.written;
        self.comparisons += other.comparisons;
    }
}
