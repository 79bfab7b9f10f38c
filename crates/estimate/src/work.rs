//! What a task asks of its node, from its volumes and costs.

use crate::cache::missed;
use crate::machine::Cluster;
use hadoop::mapreduce::{JobSpec, MapReduceConfig, SET_UP_SHARE};
use hadoop::workload::Data;
use units::Bytes;

/// What one task asks of its node: seconds at nobody, of a core, of a disk, of its link.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Work {
    pub delay: f64,
    pub cpu: f64,
    pub disk: f64,
    pub link: f64,
    /// Of the core's seconds, those after the last byte of input, and those that another core can take over.
    pub tail: f64,
    pub beside: f64,
}

/// A map's work but for what it writes to HDFS, and the bytes of its output. So many maps are on its node in all.
pub(crate) fn map_work(
    config: &MapReduceConfig,
    cluster: &Cluster,
    spec: &JobSpec,
    (split, here): (f64, f64),
    reads: bool,
) -> (Work, f64) {
    let (workload, costs) = (&spec.workload, &spec.workload.costs);
    let data = workload.map_output(Bytes::new(units::whole(split)));
    let per_record = 1.0 + hadoop::workload::RECORD_METADATA as f64 / workload.map_record.max(1.0);
    let soft = config.sort_buffer.get() as f64 * config.spill_percent;
    let spills = (data.bytes.get() as f64 * per_record / soft).ceil().max(1.0);
    let sorted = spec.reducers > 0 && data.records > 0;
    let part = Data {
        bytes: Bytes::new(units::whole(data.bytes.get() as f64 / spills)),
        records: units::whole(data.records as f64 / spills),
    };
    let (kept, combine) = if sorted { workload.combine(part) } else { (data, 0.0) };
    let spilled = if sorted { kept.materialized(spec.reducers).get() as f64 * spills } else { 0.0 };
    let mut cpu = costs.map * split;
    let (mut tail, mut beside) = (0.0, 0.0);
    let mut output = data.bytes.get() as f64;
    if sorted {
        cpu += spills * (workload.sort_cpu(part.records) + combine) + costs.spill * spilled;
        let each = workload.sort_cpu(part.records) + combine + costs.spill * spilled / spills;
        tail += each;
        // While a thread spills the map function fills the rest of the buffer, and then waits.
        let fill = costs.map * split * soft / (data.bytes.get() as f64 * per_record);
        beside = (spills - 1.0) * each.min(fill * (1.0 - config.spill_percent) / config.spill_percent);
        output = spilled;
        if spills > 1.0 {
            let (merged, again) = workload.combine(Data {
                bytes: Bytes::new(units::whole(kept.bytes.get() as f64 * spills)),
                records: units::whole(kept.records as f64 * spills),
            });
            let combines = spills >= f64::from(config.combine_min_spills) && workload.combiner.is_some();
            let merge = costs.merge * spilled + if combines { again } else { 0.0 };
            cpu += merge;
            tail += merge;
            output = if combines { merged.materialized(spec.reducers).get() as f64 } else { spilled };
        }
    }
    let ratio = spec.compression.map.as_ref().map_or(1.0, |codec| codec.ratio);
    cpu += spec.compression.map.as_ref().map_or(0.0, |codec| codec.compress * spilled);
    let overhead = config.task_overhead_cpu.as_secs_f64();
    let start = config.jvm_start_cpu.as_secs_f64() + overhead;
    let read = if reads { split / cluster.read + split / 4_194_304.0 * cluster.access } else { 0.0 };
    // Files that fit into the cache go to the disk later.
    let written = if spills > 1.0 { spilled + output } else { output } * ratio;
    let behind = (written - cluster.dirty / here).max(0.0) / cluster.write;
    let work = Work {
        delay: config.launch_latency.as_secs_f64(),
        cpu: (start + cpu) / cluster.speed,
        disk: read + behind,
        link: 0.0,
        tail: (tail + (1.0 - SET_UP_SHARE) * overhead) / cluster.speed,
        beside: beside / cluster.speed,
    };
    (work, output * ratio)
}

/// A reduce's work after its last fetch but for its output: the merges, and the reduce function.
pub(crate) fn reduce_work(
    config: &MapReduceConfig,
    cluster: &Cluster,
    spec: &JobSpec,
    (input, maps): (f64, f64),
    (on_node, written): (f64, f64),
) -> Work {
    let costs = &spec.workload.costs;
    let plain = plain_input(spec, input);
    let merges = Merges::of(config, plain, maps);
    let after = merges.after;
    // What is in memory at the end goes to disk first.
    let left = if merges.in_memory { plain.min(merges.at_once) } else { 0.0 };
    let cpu = costs.merge * (left + after * plain) + costs.reduce * plain;
    let set_up = config.task_overhead_cpu.as_secs_f64() * (1.0 - SET_UP_SHARE);
    // What the page cache does not hold is read for each pass, and written by all but the last.
    let cache = cluster.cache / on_node;
    let (beyond, missed) = ((input - cache).max(0.0), missed(input, cache, written));
    let disk = missed * (1.0 + after) / cluster.read + beyond * after / cluster.write;
    Work { cpu: (set_up + cpu) / cluster.speed, disk, ..Work::default() }
}

/// The files of a reducer (`MergeManagerImpl`).
#[derive(Clone, Copy, Debug)]
struct Merges {
    /// Whether map outputs go to memory first; those of more than a part of it go to disk at once.
    in_memory: bool,
    /// Bytes of a file: what is merged in memory at once, or a map's output.
    at_once: f64,
    /// Times that the input is merged on disk while it comes (`OnDiskMerger`, of twice as many files as one merge takes
    /// but one), and after that until one merge takes what is left.
    during: f64,
    after: f64,
}

impl Merges {
    fn of(config: &MapReduceConfig, plain: f64, maps: f64) -> Self {
        let memory = config.reduce_heap.get() as f64 * config.shuffle_buffer_percent;
        let output = plain / maps;
        let in_memory = output <= memory * config.shuffle_memory_limit_percent;
        let at_once = if in_memory { memory * config.shuffle_merge_percent } else { output };
        let files = (plain / at_once).ceil().max(1.0);
        let factor = f64::from(config.sort_factor.max(2));
        let at_end = files.min(2.0 * factor - 1.0);
        // A merge of `factor` files leaves `factor - 1` fewer.
        let during = factor / (factor - 1.0) * (files - at_end) / files;
        let after = if at_end > factor { (at_end - factor + 1.0) / at_end } else { 0.0 };
        Self { in_memory, at_once, during, after }
    }
}

/// Bytes of a reducer's input without compression.
fn plain_input(spec: &JobSpec, input: f64) -> f64 {
    spec.compression.map.as_ref().map_or(input, |codec| input / codec.ratio.max(1e-9))
}

/// How a reducer takes in its input, in seconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Intake {
    /// While memory is merged no fetch begins (`MergeManagerImpl.waitForResource`), so this adds to the transfer.
    pub merged: f64,
    /// What goes on beside the transfer: fetchers check what comes, one thread merges on disk, and the disks have what
    /// the page cache does not hold.
    pub beside: f64,
}

/// How a reducer takes in its input of so many maps, with so many reducers on its node.
pub(crate) fn intake(
    config: &MapReduceConfig,
    cluster: &Cluster,
    spec: &JobSpec,
    (input, maps): (f64, f64),
    on_node: f64,
) -> Intake {
    let costs = &spec.workload.costs;
    let plain = plain_input(spec, input);
    let merges = Merges::of(config, plain, maps);
    let fetch = costs.fetch * input / f64::from(config.parallel_copies).min(cluster.cores).max(1.0);
    let merged = if merges.in_memory { costs.merge * (plain - merges.at_once).max(0.0) } else { 0.0 };
    let on_disk = costs.merge * plain * merges.during;
    let cpu = fetch.max(merged).max(on_disk) / cluster.speed;
    let spilled = if plain > merges.at_once { input } else { 0.0 };
    let written = (spilled * (1.0 + merges.during) - cluster.dirty / on_node).max(0.0);
    let read = (input - cluster.cache / on_node).max(0.0) * merges.during;
    let disk = (written / cluster.write + read / cluster.read) * (on_node / cluster.disks);
    Intake { merged: merged / cluster.speed, beside: cpu.max(disk) }
}

/// Adds what each of so many tasks, of which so many are on its node, writes to HDFS: to disks, over its own link once,
/// and into others' links.
///
/// A writer's node has the first replica of all that it writes, the other replicas are spread over the cluster. Disks
/// make writers wait for what exceeds the dirty pages that memory may hold (`vm.dirty_ratio`).
pub(crate) fn with_writes(
    work: Work,
    cluster: &Cluster,
    (bytes, replicas): (f64, f64),
    (tasks, on_node): (f64, f64),
) -> Work {
    let others = (replicas - 1.0).max(0.0) * tasks / cluster.workers;
    let forwarded = if replicas > 1.0 { (others / on_node).max(1.0) } else { 0.0 };
    let behind = (bytes * (on_node + others) - cluster.dirty).max(0.0);
    Work {
        disk: work.disk + behind / on_node / cluster.write / (cluster.disks / on_node).max(1.0),
        link: work.link + bytes * forwarded / cluster.rate,
        ..work
    }
}
