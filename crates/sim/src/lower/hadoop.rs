//! A scenario's jobs and Hadoop settings in the terms of `hadoop`.

use super::{disks, grain, power};
use crate::cluster::SURE_OF_SHARED;
use hadoop::hdfs::{BalancerConfig, ErasureCode, HdfsConfig};
use hadoop::mapreduce::{
    AppMasterConfig, Archive, Codec, Compression, FetchLimit, Hadoop1Config, JobCompression, JobInput, JobSpec, Keyed,
    MapReduceConfig, NamedFile, Packing, Recorded, Replay, ReplayAttempt, ReplayEnd, UberConfig,
};
use hadoop::record::TaskKind;
use hadoop::rpc::{MasterConfig, RpcConfig};
use hadoop::workload::{Combiner, Keys, Skew, Source, Workload};
use hadoop::yarn::{Policy, SchedulerConfig, SpareConfig, YarnConfig};
use hadoop::{JobId, NodeId, NodeInfo};
use scenario::{
    Fidelity, Generation, InputFormat, Job, JobCodec, MapReduce, Nodes, PackingKind, PlacementKind, Plan,
    PlannedAttempt, PlannedEnd, PlannedKind, Scenario, Scheduler, WorkloadKind, node_number,
};
use units::{Bytes, Time};

/// Where a scenario does not say: so many fetches of a job are followed one by one, and so many of one that has more.
const FOLLOWED: FetchLimit = FetchLimit { above: 10_000_000, about: 1_000_000 };

/// From how many map outputs on a fetch stands for several, and how many fetches there are then.
fn fetches(scenario: &Scenario) -> Option<FetchLimit> {
    let run = &scenario.run;
    match run.most_fetches {
        _ if run.fidelity == Fidelity::Packet => None,
        Some(0) => None,
        Some(most) => Some(FetchLimit { above: most, about: most }),
        None => Some(FOLLOWED),
    }
}

/// Where every node stands and what it has.
pub(super) fn node_infos(scenario: &Scenario) -> Vec<NodeInfo> {
    let nodes = scenario.nodes();
    // A node with a machine of its own gets a host number above those that are shared.
    let shared = nodes.iter().filter_map(|node| node.host).max().map_or(0, |host| host + 1);
    let info = |(number, node): (usize, &scenario::NodeSpec)| NodeInfo {
        rack: node.rack - 1,
        host: node.host.unwrap_or(shared + units::count(number)),
        disks: disks::places(&node.disks, node.first_disk).with_gears(power::gears_of_disks(scenario, node)),
    };
    nodes.iter().enumerate().map(info).collect()
}

/// All settings of the cluster and its jobs, in the terms of `hadoop`.
pub fn config(scenario: &Scenario) -> hadoop::Config {
    let master = &scenario.master;
    let mut config = hadoop::Config {
        rpc: RpcConfig {
            fragment: fragment(scenario),
            call_timeout: match scenario.cluster.generation {
                Generation::Hadoop1 => None,
                Generation::Yarn => RpcConfig::default().call_timeout,
            },
            master: MasterConfig {
                read: master.read_cost,
                calls_per_handler: master.queue,
                heartbeat_connections: master.heartbeat_connections,
            },
            ..RpcConfig::default()
        },
        hdfs: hdfs(scenario),
        object_store: super::object_store::config(scenario),
        scheduler: scheduler(scenario),
        yarn: yarn(scenario),
        mapreduce: MapReduceConfig {
            jobs: scenario.job.iter().map(|job| job_spec(scenario, job)).collect(),
            ..mapreduce(scenario)
        },
        without_yarn: scenario.job.is_empty() && scenario.spark.as_ref().is_none_or(|spark| spark.yarn.is_none()),
    };
    grain::coarsen(&mut config, grain::grain(scenario));
    config
}

/// Long calls leave in parts that fit into the receive buffers twice; of a buffer that is shared each connection is
/// sure of 2 KB.
fn fragment(scenario: &Scenario) -> Bytes {
    let master = &scenario.master;
    let shared = master.shared_buffer.map(|_| SURE_OF_SHARED);
    let least =
        scenario.tcp.receive_buffer.min(shared.or(master.receive_buffer).unwrap_or(scenario.tcp.receive_buffer));
    (least / 2).max(Bytes::new(1)).min(RpcConfig::default().fragment)
}

fn hdfs(scenario: &Scenario) -> HdfsConfig {
    let hdfs = &scenario.hdfs;
    HdfsConfig {
        block_size: hdfs.block,
        replication: hdfs.replication,
        erasure: hdfs.erasure_coding.map(|coding| {
            let (data, parity) = coding.parts();
            ErasureCode::reed_solomon(data as usize, parity as usize)
        }),
        coding_cost: hdfs.coding_cost.as_secs_f64() / 1e6,
        packet_size: hdfs.packet,
        heartbeat_interval: hdfs.heartbeat,
        block_report_interval: hdfs.block_report,
        recheck_interval: hdfs.recheck,
        socket_timeout: hdfs.socket_timeout,
        handlers: hdfs.handlers,
        call_service: hdfs.call_cost,
        read_order: power::read_order(scenario),
        even_input: scenario.hdfs.placement.kind == PlacementKind::Even,
        send_buffer: scenario.tcp.send_buffer,
        balancer: hdfs.balancer.as_ref().map(|balancer| BalancerConfig {
            start: balancer.start,
            threshold: balancer.threshold,
            bandwidth: balancer.bandwidth,
            moves: balancer.moves,
            capacity: scenario.nodes().iter().map(|node| room_for_blocks(scenario, node)).collect(),
        }),
        ..HdfsConfig::default()
    }
}

/// What a DataNode can store.
pub(super) fn room_for_blocks(scenario: &Scenario, node: &scenario::NodeSpec) -> Bytes {
    let said = scenario.hdfs.balancer.as_ref().and_then(|balancer| balancer.capacity);
    said.unwrap_or_else(|| node.disks.iter().map(|disk| disks::room_for_blocks(disk, &scenario.storage)).sum())
}

fn scheduler(scenario: &Scenario) -> SchedulerConfig {
    let settings = &scenario.mapreduce;
    SchedulerConfig {
        policy: match settings.scheduler {
            Scheduler::Fifo => Policy::Fifo,
            Scheduler::Fair => Policy::Fair,
        },
        spare: settings.spare_batteries.map(|part| units::whole((part * 1000.0).round())).map(|permille| SpareConfig {
            reserve: u16::try_from(permille).unwrap_or(u16::MAX),
            patience: settings.spare_patience,
        }),
        handlers: scenario.master.handlers,
        call_service: scenario.master.call_cost,
    }
}

fn yarn(scenario: &Scenario) -> YarnConfig {
    let settings = &scenario.mapreduce;
    let defaults = YarnConfig::default();
    let half_per_heartbeat = settings.scheduler == Scheduler::Fair && settings.half_per_heartbeat;
    YarnConfig {
        node_memory: settings.node_memory.unwrap_or_else(|| scenario.node_memory(&scenario.nodes()[1])),
        node_vcores: settings.node_vcores,
        minimum_allocation: settings.minimum_allocation,
        asynchronous: settings.asynchronous,
        node_heartbeat: settings.heartbeat.unwrap_or(defaults.node_heartbeat),
        node_expiry: settings.node_expiry,
        locality_delay: settings.locality_delay,
        containers_per_heartbeat: match (settings.containers_per_heartbeat, settings.scheduler) {
            _ if half_per_heartbeat => u32::MAX,
            (Some(0), _) => u32::MAX,
            (Some(most), _) => most,
            (None, Scheduler::Fifo) => defaults.containers_per_heartbeat,
            (None, Scheduler::Fair) => 1,
        },
        // The fair scheduler asks no container where it may be.
        off_switch_per_heartbeat: match settings.scheduler {
            Scheduler::Fifo => settings.off_switch_per_heartbeat,
            Scheduler::Fair => u32::MAX,
        },
        half_per_heartbeat,
    }
}

pub(super) fn mapreduce(scenario: &Scenario) -> MapReduceConfig {
    let settings: &MapReduce = &scenario.mapreduce;
    let yarn = scenario.cluster.generation == Generation::Yarn;
    let heap =
        settings.reduce_heap.unwrap_or(if yarn { settings.reduce_memory.mul_f64(0.8) } else { Bytes::from_mib(200) });
    let defaults = MapReduceConfig::default();
    MapReduceConfig {
        fetches: fetches(scenario),
        generation: match scenario.cluster.generation {
            Generation::Yarn => hadoop::mapreduce::Generation::Yarn,
            Generation::Hadoop1 => hadoop::mapreduce::Generation::Hadoop1,
        },
        sort_buffer: settings.io_sort,
        spill_percent: settings.spill_percent,
        sort_factor: settings.sort_factor,
        parallel_copies: settings.parallel_copies,
        shuffle_buffer_percent: settings.shuffle_buffer_percent,
        shuffle_merge_percent: settings.shuffle_merge_percent,
        merge_in_memory_threshold: settings.merge_in_memory_threshold,
        reduce_buffer_percent: settings.reduce_buffer_percent,
        reduce_heap: heap,
        slow_start: settings.slowstart,
        speculative_maps: settings.speculative,
        speculative_reduces: settings.speculative,
        task_timeout: settings.task_timeout,
        max_attempts: settings.max_attempts,
        node_failures: settings.node_failures,
        job_jar: settings.job_jar,
        job_conf: settings.job_conf,
        submit_replication: settings.submit_replication,
        client_start: settings.client_start,
        client_poll: settings.client_poll,
        jvm_start_cpu: settings.jvm_start,
        launch_latency: settings.launch_latency,
        task_overhead_cpu: settings.task_overhead,
        task_variation: settings.task_variation,
        uber: UberConfig {
            max_maps: settings.uber.max_maps,
            max_reduces: settings.uber.max_reduces,
            max_bytes: settings.uber.max_bytes,
        },
        hadoop1: Hadoop1Config {
            map_slots: settings.map_slots,
            reduce_slots: settings.reduce_slots,
            heartbeat: settings.heartbeat.unwrap_or(defaults.hadoop1.heartbeat),
            expiry: settings.node_expiry,
            locality_delay: settings.locality_wait,
            tasks_per_jvm: settings.jvm_tasks,
            ..defaults.hadoop1.clone()
        },
        app_master: AppMasterConfig {
            memory: settings.am_memory,
            heap: settings.am_heap.unwrap_or(settings.am_memory.mul_f64(2.0 / 3.0)),
            map_memory: settings.map_memory,
            reduce_memory: settings.reduce_memory,
            heartbeat: settings.am_heartbeat,
            first_start_delays: ascending(&settings.first_start_delays),
            start_delays: ascending(&settings.start_delays),
            init_cpu: settings.am_start,
            ..defaults.app_master.clone()
        },
        replays: (0..)
            .zip(&scenario.job)
            .filter_map(|(number, job)| Some((JobId(number), replay(job.plan.as_ref()?))))
            .collect(),
        ..defaults
    }
}

fn ascending(times: &[Time]) -> Vec<Time> {
    let mut times = times.to_vec();
    times.sort_unstable();
    times
}

fn replay(plan: &Plan) -> Replay {
    let node = |name: &str| node_number(name).map(NodeId);
    let attempt = |attempt: &PlannedAttempt| {
        let kind = match attempt.kind {
            PlannedKind::Map => TaskKind::Map,
            PlannedKind::Reduce => TaskKind::Reduce,
        };
        let recorded = Recorded {
            end: replay_end(attempt.end),
            after: attempt.after.unwrap_or_default(),
            map: attempt.map.unwrap_or_default(),
            copy: attempt.copy.unwrap_or_default(),
            sort: attempt.sort.unwrap_or_default(),
            reduce: attempt.reduce.unwrap_or_default(),
            output: attempt.output,
        };
        Some(ReplayAttempt { kind, task: attempt.task, node: node(&attempt.node)?, start: attempt.start, recorded })
    };
    Replay {
        master: plan.master.as_deref().and_then(node).map(|node| (node, plan.master_start)),
        launch: plan.launch,
        waits: plan.wait,
        end: replay_end(plan.end),
        reason: plan.reason.clone(),
        commit: plan.commit,
        attempts: plan.attempt.iter().filter_map(attempt).collect(),
    }
}

fn replay_end(end: Option<PlannedEnd>) -> ReplayEnd {
    match end {
        None | Some(PlannedEnd::Succeeded) => ReplayEnd::Succeeded,
        Some(PlannedEnd::Failed) => ReplayEnd::Failed,
        Some(PlannedEnd::Killed) => ReplayEnd::Killed,
    }
}

pub(super) fn job_spec(scenario: &Scenario, job: &Job) -> JobSpec {
    let preset = match (job.workload, job.combiner) {
        (WorkloadKind::Wordcount, Some(false)) => "wordcount-nocombine",
        (kind, _) => kind.word(),
    };
    let mut workload = Workload::preset(preset).unwrap_or_else(Workload::generic);
    refine(&mut workload, job);
    let whole_files = matches!(job.workload, WorkloadKind::DfsioRead | WorkloadKind::DfsioWrite);
    let mut files = if job.splits.is_empty() { even(job.input, job.files) } else { job.splits.clone() };
    scale(&mut files, scenario.mapreduce.data_scale, &mut workload);
    let input: Bytes = files.iter().copied().sum();
    if job.generated {
        let blocks = input.get().div_ceil(scenario.hdfs.block.get()).max(files.len() as u64);
        workload.source = Source::Generated { maps: units::word(blocks) };
    } else if let Source::Generated { maps } = &mut workload.source {
        *maps = units::count(files.len());
    }
    let reducers = reducers(scenario, job, input, &workload);
    let keys = super::keys::keys(scenario, job, &workload, &files, reducers);
    let layout = keys.and_then(|keys| {
        workload.skew = Skew::Explicit(keys.shares);
        keys.layout
    });
    let hosts = |nodes: &Nodes| nodes.numbers(scenario.cluster.workers).into_iter().map(NodeId).collect();
    JobSpec {
        name: if job.name.is_empty() { job.workload.word().to_owned() } else { job.name.clone() },
        workload,
        input: if job.workload == WorkloadKind::DfsioRead {
            let named = |(i, length): (usize, Bytes)| NamedFile {
                length,
                writer: job.file_writers.get(i).map(|&worker| NodeId(worker)),
                named_on: job.split_hosts.get(i).map(hosts).unwrap_or_default(),
            };
            JobInput::Named(files.into_iter().enumerate().map(named).collect())
        } else if job.split_hosts.is_empty() {
            JobInput::Files(files)
        } else {
            JobInput::Splits(files.into_iter().zip(job.split_hosts.iter().map(hosts)).collect())
        },
        whole_files: whole_files || !job.splits.is_empty(),
        reducers,
        submit: job.submit,
        sample: job.sample.unwrap_or(Bytes::ZERO),
        weight: 1.0,
        uber: job.uber.unwrap_or(scenario.mapreduce.uber.enable),
        compression: compression(job),
        packing: packing(job),
        keyed: keyed(scenario, job).map(|keyed| Keyed { layout, ..keyed }),
        input_store: super::object_store::file_system(job.input_store),
        output_store: super::object_store::file_system(job.output_store),
        stride: super::object_store::stride(job),
    }
}

const fn input_format(format: InputFormat) -> hadoop::workload::InputFormat {
    use hadoop::workload::InputFormat as Hadoop;
    match format {
        InputFormat::Text => Hadoop::Text,
        InputFormat::SequenceFile => Hadoop::SequenceFile,
        InputFormat::Binary => Hadoop::Binary,
    }
}

fn packing(job: &Job) -> Packing {
    let scenario::Packing { kind, split, part, block, changed } = job.packing;
    match kind {
        PackingKind::None => Packing::None,
        PackingKind::Combine => Packing::Combined { split },
        PackingKind::Archive => Packing::Archive(Archive { part, block, changed }),
        PackingKind::SequenceFile => Packing::SequenceFile,
    }
}

/// How a job's input is placed by key. Of a record with several keys one has the node where the record stands, and each
/// of the others has it with the probability of any node.
pub(super) fn keyed(scenario: &Scenario, job: &Job) -> Option<Keyed> {
    let placement = &scenario.hdfs.placement;
    // Splits with hosts stand where they were recorded; files that control files name are read as a whole.
    let stands_elsewhere =
        job.reads_objects() || !job.split_hosts.is_empty() || job.workload.reads_named_files() || job.generated;
    if placement.kind != PlacementKind::ByKey || stands_elsewhere {
        return None;
    }
    Some(Keyed { at_home: 1.0 / job.keys_per_record, patience: placement.patience, layout: None })
}

/// What of a job is compressed: a codec as published, with what the scenario knows better. Costs are nanoseconds there,
/// seconds here.
fn compression(job: &Job) -> JobCompression {
    let codec = |codec: Option<JobCodec>, ratio: Option<f64>, compress: Option<f64>, decompress: Option<f64>| {
        let published = Codec::named(codec?.word())?.compression();
        Some(Compression {
            ratio: ratio.unwrap_or(published.ratio),
            frame: published.frame,
            compress: compress.map_or(published.compress, |ns| ns * 1e-9),
            decompress: decompress.map_or(published.decompress, |ns| ns * 1e-9),
        })
    };
    JobCompression {
        map: codec(job.map_compression, job.map_compression_ratio, job.map_compress_cpu, job.map_decompress_cpu),
        // `TeraOutputFormat` knows no codec.
        output: codec(job.output_compression, job.output_compression_ratio, job.output_compress_cpu, None)
            .filter(|_| !job.workload.writes_as_it_is()),
    }
}

/// Scales the sizes of files. They stay whole bytes, at least one; ratios make up for that, so that the bytes that
/// follow are the written ones times the factor.
fn scale(files: &mut [Bytes], factor: f64, workload: &mut Workload) {
    let written: Bytes = files.iter().copied().sum();
    if factor.to_bits() == 1.0_f64.to_bits() || written == Bytes::ZERO {
        return;
    }
    for file in &mut *files {
        *file = file.mul_f64(factor).max(Bytes::new(1));
    }
    let scaled: Bytes = files.iter().copied().sum();
    let correction = written.get() as f64 * factor / scaled.get() as f64;
    workload.map_ratio *= correction;
    workload.side_output_ratio *= correction;
}

/// How many reducers a job has: its own number, or by the bytes that they take in and give out.
fn reducers(scenario: &Scenario, job: &Job, input: Bytes, workload: &Workload) -> u32 {
    let settings = &scenario.mapreduce;
    match (job.reducers, settings.bytes_per_reducer) {
        (Some(reducers), _) => reducers,
        (None, None) => settings.reducers,
        (None, Some(each)) => {
            let shuffle = input.get() as f64 * workload.map_ratio;
            let both = shuffle * (1.0 + workload.reduce_ratio);
            let most = f64::from(scenario.cluster.workers);
            units::word(units::whole((both / each.get() as f64).round().clamp(1.0, most)))
        }
    }
}

/// `total` in `files` parts that differ by at most a byte.
fn even(total: Bytes, files: u32) -> Vec<Bytes> {
    let files = u64::from(files.max(1));
    (0..files).map(|i| Bytes::new(total.get() / files + u64::from(i < total.get() % files))).collect()
}

/// Lays what the scenario says of a job over its workload. Costs are nanoseconds there, seconds here.
fn refine(workload: &mut Workload, job: &Job) {
    let set = |field: &mut f64, value: Option<f64>| *field = value.unwrap_or(*field);
    let cost = |field: &mut f64, value: Option<f64>| *field = value.map_or(*field, |ns| ns * 1e-9);
    workload.input_format = job.input_format.map_or(workload.input_format, input_format);
    set(&mut workload.input_record, job.input_record);
    set(&mut workload.map_ratio, job.map_ratio);
    set(&mut workload.map_record, job.map_record);
    set(&mut workload.reduce_ratio, job.reduce_ratio);
    set(&mut workload.side_output_ratio, job.side_ratio);
    cost(&mut workload.costs.map, job.map_cpu);
    cost(&mut workload.costs.sort, job.sort_cpu);
    cost(&mut workload.costs.spill, job.spill_cpu);
    cost(&mut workload.costs.merge, job.merge_cpu);
    cost(&mut workload.costs.fetch, job.fetch_cpu);
    cost(&mut workload.costs.reduce, job.reduce_cpu);
    if let Some(replication) = job.output_replication {
        workload.output_replication = Some(u16::try_from(replication).unwrap_or(u16::MAX));
    }
    if job.combiner == Some(true) && workload.combiner.is_none() {
        let keys = Keys::new(50_000, 1.0);
        workload.combiner = Some(Combiner { keys, record: workload.map_record, cpu: 0.0 });
    }
    if job.combiner == Some(false) {
        workload.combiner = None;
    }
    if let Some(combiner) = &mut workload.combiner {
        let law = job.keys.as_ref().and_then(|keys| Some((keys.distinct?, keys.exponent)));
        let distinct = law.map(|law| law.0).or(job.combine_keys).unwrap_or(combiner.keys.distinct());
        let exponent = law.map(|law| law.1).or(job.combine_exponent).unwrap_or(combiner.keys.exponent());
        combiner.keys = Keys::new(distinct, exponent);
        set(&mut combiner.record, job.combine_record);
        cost(&mut combiner.cpu, job.combine_cpu);
    }
    if !job.shares.is_empty() {
        workload.skew = Skew::Explicit(job.shares.clone());
    } else if job.skew > 0.0 {
        workload.skew = Skew::Zipf(job.skew);
    }
}
