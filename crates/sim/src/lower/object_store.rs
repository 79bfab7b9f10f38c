//! The object store in the terms of `hadoop`, and its place in the network.

use ::hadoop::NodeId;
use ::hadoop::mapreduce::FileSystem;
use ::hadoop::object_store::{InputPolicy, ObjectStoreConfig, OutputCommitter, Stride};
use net::{Topology, VertexId, VertexKind};
use scenario::{Check, Committer, Job, Scenario, TopologyKind, node_number};
use units::Time;

/// Where a job's input or output is.
pub(super) const fn file_system(store: scenario::FileSystem) -> FileSystem {
    match store {
        scenario::FileSystem::Hdfs => FileSystem::Hdfs,
        scenario::FileSystem::ObjectStore => FileSystem::ObjectStore,
    }
}

/// Which bytes of its input a job reads.
pub(super) fn stride(job: &Job) -> Option<Stride> {
    job.read_range.map(|wanted| Stride { wanted, gap: job.read_gap })
}

/// The store and its clients; what is never used where the scenario has none.
pub(super) fn config(scenario: &Scenario) -> ObjectStoreConfig {
    let Some(store) = &scenario.object_store else { return ObjectStoreConfig::default() };
    let s3a = &store.s3a;
    let node = store.at.as_deref().and_then(node_number);
    ObjectStoreConfig {
        // Beyond the nodes: the last host of the topology.
        node: NodeId(node.unwrap_or(scenario.cluster.workers + 1)),
        latency: store.latency,
        latency_p99: if store.latency_p99 > store.latency { store.latency_p99 } else { Time::ZERO },
        connection_rate: store.connection_rate,
        copy_rate: store.copy_rate,
        read_limit: store.read_limit,
        write_limit: store.write_limit,
        limit_window: store.limit_window,
        prefixes: store.prefixes,
        start_cpu: s3a.start,
        write_start_cpu: s3a.write_start,
        request_cpu: s3a.request_cpu,
        block_size: s3a.block,
        input_policy: match s3a.input_policy {
            scenario::InputPolicy::Sequential => InputPolicy::Sequential,
            scenario::InputPolicy::Random => InputPolicy::Random,
            scenario::InputPolicy::Prefetch => InputPolicy::Prefetch,
        },
        readahead: s3a.readahead,
        prefetch_block: s3a.prefetch_block,
        prefetch_count: s3a.prefetch_count,
        least_seek: s3a.vectored_min_seek,
        most_merged: s3a.vectored_max_merged,
        active_ranges: s3a.vectored_active,
        connections: s3a.connections,
        tls: s3a.tls,
        idle_time: s3a.idle_time,
        timeout: s3a.timeout,
        multipart_size: s3a.multipart_size,
        multipart_threshold: s3a.multipart_threshold,
        disk_buffer: s3a.disk_buffer,
        active_blocks: s3a.active_blocks,
        sdk_attempts: s3a.attempts,
        retry_limit: s3a.retry_limit,
        retry_interval: s3a.retry_interval,
        throttle_limit: s3a.throttle_limit,
        throttle_interval: s3a.throttle_interval,
        committer: match s3a.committer {
            Committer::FileV1 => OutputCommitter::FileV1,
            Committer::FileV2 => OutputCommitter::FileV2,
            Committer::Directory => OutputCommitter::Directory,
            Committer::Magic => OutputCommitter::Magic,
        },
        committer_threads: s3a.committer_threads,
    }
}

/// The switch on which a store hangs that is no node: the one that is named, else the uppermost. None if there is none
/// of that name.
pub(super) fn switch(scenario: &Scenario, topology: &Topology) -> Option<VertexId> {
    let at = scenario.object_store.as_ref()?.at.as_deref();
    if at.is_some_and(|at| node_number(at).is_some()) {
        return None;
    }
    let is_switch = |vertex: &VertexId| topology.kind(*vertex) == VertexKind::Switch;
    if let Some(name) = at {
        return topology.find(name).filter(is_switch);
    }
    let uppermost = match scenario.network.topology {
        TopologyKind::Tree => topology.find("core"),
        TopologyKind::LeafSpine => topology.find("spine-1"),
        _ => None,
    };
    uppermost.or_else(|| (0..units::count(topology.vertex_count())).map(VertexId).find(is_switch))
}

/// Where the store hangs exists.
pub(super) fn check(check: &mut Check<'_>, topology: &Topology) {
    let Some(store) = &check.scenario.object_store else { return };
    let Some(at) = store.at.as_deref().filter(|at| node_number(at).is_none()) else { return };
    if switch(check.scenario, topology).is_none() {
        let vertices = (0..units::count(topology.vertex_count())).map(VertexId);
        let names: Vec<&str> = vertices
            .filter(|vertex| topology.kind(*vertex) == VertexKind::Switch)
            .map(|vertex| topology.name(vertex))
            .collect();
        let near = units::nearest(at, names.iter().copied()).or(names.first().copied()).unwrap_or("master");
        let message = format!("there is no switch `{at}`");
        check.says("object-store.at", message, format!("`{near}`, or a node (\"master\", \"worker-1\")"));
    }
}
