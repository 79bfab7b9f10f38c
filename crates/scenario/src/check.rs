//! What no single key shows: values that contradict each other.

use super::network::{node_name, node_number, point_name, point_number};
use super::problem::Problems;
use super::tree::Tree;
use super::{
    Control, ErasureCoding, Fault, FileSystem, Generation, GraphLink, Job, NodeSpec, Nodes, PackingKind, PlacementKind,
    Plan, PlannedKind, Queue, QueueKind, QueueLimit, Scenario, Tcp, TopologyKind, WorkloadKind,
};
use units::{Bytes, Quantity};

/// Says what is wrong with a scenario whose keys are each right by themselves.
pub fn check(check: &mut Check<'_>) {
    let scenario = check.scenario;
    check.cluster();
    check.network();
    check.wireless();
    check.tcp();
    check.marks();
    if !scenario.job.is_empty() || scenario.spark.as_ref().is_some_and(super::Spark::uses_hdfs) {
        check.hdfs();
    }
    if !scenario.job.is_empty() {
        check.mapreduce();
    }
    super::object_store::check(check);
    super::spark_check::check(check);
    for (i, job) in scenario.job.iter().enumerate() {
        check.job(&format!("job.{i}"), job);
    }
    for (i, traffic) in scenario.traffic.iter().enumerate() {
        check.traffic(i, traffic);
    }
    for (i, fault) in scenario.faults.iter().enumerate() {
        check.fault(&format!("faults.{i}"), fault);
    }
    if !scenario.has_cluster() && scenario.traffic.is_empty() {
        check.says("job", "there is nothing to run", "add a [job], [spark], or [[traffic]]");
    }
}

/// What Hadoop's connections are for, as the results call it.
const SERVICES: [&str; 7] = ["rpc", "umbilical", "data", "shuffle", "store", "spark", "blocks"];

/// No more blocks of a job, and no more flows of a traffic, than memory holds.
pub(super) const MOST: u64 = 10_000_000;

/// A scenario under examination: what is wrong is said at a key's path.
#[derive(Debug)]
pub struct Check<'a> {
    /// What was read.
    pub scenario: &'a Scenario,
    pub(super) tree: &'a Tree,
    pub(super) problems: &'a mut Problems,
}

impl Check<'_> {
    /// Whether nothing is wrong so far.
    pub fn is_clean(&self) -> bool {
        self.problems.is_empty()
    }

    /// Whether the text has the key `path`.
    pub fn states(&self, path: &str) -> bool {
        self.tree.get(path).is_some()
    }

    /// The keys that the text has in the table `path`.
    pub fn keys(&self, path: &str) -> Vec<String> {
        match self.tree.get(path).map(|tree| &tree.value) {
            Some(super::tree::Value::Table(entries)) => entries.iter().map(|entry| entry.key.clone()).collect(),
            _ => Vec::new(),
        }
    }

    /// Something is wrong at the key `path`, as "network.bond.0.nodes".
    pub fn says(&mut self, path: &str, message: impl Into<String>, help: impl Into<String>) {
        let mut span = self.tree.span_of(path).clone();
        // Not the whole file for a key that is absent, only its first place.
        if span == self.tree.span {
            span.range.end = span.range.start;
        }
        self.problems.add_with_help(&span, message, help);
    }

    fn cluster(&mut self) {
        let cluster = &self.scenario.cluster;
        if cluster.workers > 100_000 {
            let message = format!("the groups have {} workers together", cluster.workers);
            self.says("cluster.group", message, "at most 100000");
        }
        let written = self.tree.get("cluster.workers").map(|tree| &tree.value);
        if written.is_some_and(|value| *value != super::tree::Value::Integer(i128::from(cluster.workers))) {
            let message = format!("the groups have {} workers together", cluster.workers);
            self.says("cluster.workers", message, "leave `workers` out where there are groups");
        }
        self.throttles();
        let racks = self.scenario.racks();
        let kind = self.scenario.network.topology;
        let places = matches!(kind, TopologyKind::FatTree | TopologyKind::Dcell | TopologyKind::ParkingLot);
        for (i, group) in cluster.group.iter().enumerate() {
            if places && group.rack.is_some() {
                let message = format!("topology {} has its nodes in order of their numbers", kind.word());
                self.says(&format!("cluster.group.{i}.rack"), message, "leave `rack` out");
                continue;
            }
            if let Some(rack) = group.rack.filter(|rack| *rack > racks) {
                let topology = self.scenario.network.topology.word();
                let message = format!("rack {rack} does not exist: topology {topology} has {racks}");
                self.says(&format!("cluster.group.{i}.rack"), message, "see `network.racks`");
            }
        }
    }

    /// What is hot by its power must say what it draws, and what is low on charge what it holds.
    fn throttles(&mut self) {
        for (path, node) in self.scenario.described() {
            let Some(throttle) = node.throttle.as_ref() else { continue };
            if throttle.sustained.is_none() && throttle.low_battery.is_none() {
                let message = "nothing says when the processor runs slower";
                self.says(&format!("{path}.throttle"), message, "add `sustained`, or `low-battery`");
            }
            if node.idle_power.is_none() {
                let message = "what the node draws is not known, so neither is when it is hot or low on charge";
                self.says(&format!("{path}.throttle"), message, "say what it draws: `idle-power`, `core-power`");
            } else if throttle.low_battery.is_some() && node.battery.is_none() {
                self.says(&format!("{path}.throttle.low-battery"), "the node has no battery", "add `battery`");
            }
        }
    }

    fn network(&mut self) {
        let network = &self.scenario.network;
        if u64::from(network.racks) * u64::from(network.spines) > 1_000_000 {
            let message = format!("{} racks and {} spines make too many links", network.racks, network.spines);
            self.says("network.spines", message, "at most 1000000 core links");
        }
        for (path, queue, _) in network.queues() {
            self.queue(&path, queue);
        }
        self.priority();
        if let Some(mss) = network.mss.filter(|mss| *mss + Bytes::new(40) > network.mtu) {
            let (mss, mtu) = (mss.exact(), network.mtu.exact());
            let message = format!("segments of {mss} do not fit into packets of {mtu}");
            self.says("network.mss", message, "at most the MTU less 40 B of headers");
        }
        for (i, shape) in network.shape.iter().enumerate() {
            let path = format!("network.shape.{i}");
            self.nodes(&format!("{path}.nodes"), &shape.nodes);
            self.limit(&format!("{path}.limit"), shape.limit);
            let frame = self.frame();
            if shape.burst < frame {
                let message = format!("a full packet of {} could never pass this bucket", frame.exact());
                self.says(&format!("{path}.burst"), message, "a burst of at least one packet, 32 KB say");
            }
        }
        match network.topology {
            TopologyKind::Graph => self.graph(),
            topology if !network.link.is_empty() => {
                let message = format!("topology {} has its own links", topology.word());
                self.says("network.link", message, "set `topology = \"graph\"`");
            }
            _ => {}
        }
        for (i, bond) in network.bond.iter().enumerate() {
            for misfit in bond.contradictions() {
                self.says(&format!("network.bond.{i}.{}", misfit.key), misfit.message, misfit.help);
            }
        }
    }

    /// A full packet on the wire, framing included.
    fn frame(&self) -> Bytes {
        (self.scenario.network.mtu + Bytes::new(38)).max(Bytes::new(1538))
    }

    fn queue(&mut self, path: &str, queue: &Queue) {
        self.limit(&format!("{path}.limit"), queue.limit);
        if let Some((key, message, help)) = queue.contradiction() {
            self.says(&format!("{path}.{key}"), message, help);
        }
    }

    /// Services that go first must exist, and some queue must look at them.
    fn priority(&mut self) {
        let network = &self.scenario.network;
        let traffic = self.scenario.traffic.iter().map(|traffic| traffic.name.as_str()).filter(|name| !name.is_empty());
        let known: Vec<_> = SERVICES.into_iter().chain(traffic).collect();
        for (i, service) in network.priority.iter().enumerate() {
            if !known.contains(&service.as_str()) {
                let span = self.tree.span_of(&format!("network.priority.{i}")).clone();
                self.problems.unknown(&span, "a service or the name of a [[traffic]]", service, known.iter().copied());
            }
        }
        if network.priority.len() > 254 {
            self.says("network.priority", "these are more than 254 services", "the first few matter");
        }
        let queues = network.queues();
        let first = queues.iter().find(|(_, queue, _)| queue.kind == QueueKind::Priority);
        match first {
            Some((path, ..)) if network.priority.is_empty() => {
                let help = "`network.priority = [\"rpc\"]`, say: what goes first";
                self.says(&format!("{path}.kind"), "all packets would be of one class", help);
            }
            None if !network.priority.is_empty() => {
                let help = "`network.queue = { kind = \"priority\" }`";
                self.says("network.priority", "no queue is of kind priority", help);
            }
            _ => {}
        }
    }

    fn limit(&mut self, path: &str, limit: QueueLimit) {
        let frame = self.frame();
        if matches!(limit, QueueLimit::Bytes(bytes) if bytes < frame) {
            let message = format!("a full packet of {} would never fit into this queue", frame.exact());
            self.says(path, message, "room for at least one packet");
        }
    }

    fn graph(&mut self) {
        let workers = self.scenario.cluster.workers;
        for (i, link) in self.scenario.network.link.iter().enumerate() {
            for (key, name) in [("from", &link.from), ("to", &link.to)] {
                let path = format!("network.link.{i}.{key}");
                if name.is_empty() {
                    self.says(&path, format!("this link has no `{key}`"), "a node, or a switch of any other name");
                } else if GraphLink::several(name, workers)
                    .map_or_else(|| node_number(name), |numbers| numbers.last().copied())
                    .is_some_and(|number| number > workers)
                {
                    self.says(&path, format!("there is no `{name}`"), format!("the last worker is worker-{workers}"));
                } else if name.contains("..") && GraphLink::several(name, workers).is_none() {
                    self.says(&path, format!("`{name}` is not a range of nodes"), "`worker-1..worker-8`");
                }
            }
            if GraphLink::several(&link.from, workers).is_some() && GraphLink::several(&link.to, workers).is_some() {
                let message = "a link between several nodes and several others says not which with which";
                self.says(&format!("network.link.{i}"), message, "one node or switch at one end");
            }
            if link.from == link.to {
                self.says(
                    &format!("network.link.{i}"),
                    "this link leads back to where it begins",
                    "two different ends",
                );
            }
        }
        if let Some((a, b)) = super::graph::apart(self.scenario) {
            let message = format!("there is no path from {a} to {b}");
            self.says("network.link", message, "links that connect all nodes; only switches forward");
        }
    }

    fn tcp(&mut self) {
        let tcp = &self.scenario.tcp;
        if tcp.min_rto > tcp.max_rto {
            let message = format!("it exceeds `max-rto`, {}", tcp.max_rto.exact());
            self.says("tcp.min-rto", message, "a minimum below the maximum");
        }
        if tcp.initial_rto > tcp.max_rto {
            let message = format!("it exceeds `max-rto`, {}", tcp.max_rto.exact());
            self.says("tcp.initial-rto", message, "an initial timeout below the maximum");
        }
        if tcp.vegas_alpha > tcp.vegas_beta {
            let message = format!("it exceeds `vegas-beta`, {} segments", tcp.vegas_beta);
            self.says("tcp.vegas-alpha", message, "at most `vegas-beta`: cwnd would grow and shrink at once");
        }
        if tcp.hystart_delay_min > tcp.hystart_delay_max {
            let message = format!("it exceeds `hystart-delay-max`, {}", tcp.hystart_delay_max.exact());
            self.says("tcp.hystart-delay-min", message, "a minimum below the maximum");
        }
        self.restart("tcp.queue-restart", tcp);
        let workers = self.scenario.cluster.workers;
        for (i, part) in tcp.node.iter().enumerate() {
            let path = format!("tcp.node.{i}");
            self.nodes(&format!("{path}.nodes"), &part.nodes);
            let Some(node) = part.nodes.numbers(workers).first().copied() else { continue };
            let own = tcp.of(node);
            if part.min_rto.is_some() && own.min_rto > own.max_rto {
                let message = format!("it exceeds `max-rto`, {}", own.max_rto.exact());
                self.says(&format!("{path}.min-rto"), message, "a minimum below the maximum");
            }
            if part.queue_restart.is_some() {
                self.restart(&format!("{path}.queue-restart"), &own);
            } else if part.queue_threshold.is_some() {
                self.restart(&format!("{path}.queue-threshold"), &own);
            }
        }
    }

    /// Who restarts must have stopped.
    fn restart(&mut self, path: &str, tcp: &Tcp) {
        match (tcp.queue_restart, tcp.queue_threshold) {
            (Some(_), None) => {
                let help = "set `queue-threshold` too, or leave it out";
                self.says(path, "TCP never stops, so it cannot restart", help);
            }
            (Some(restart), Some(threshold)) if restart > threshold => {
                let message = if path.ends_with("threshold") {
                    format!("it is below `queue-restart`, {restart}")
                } else {
                    format!("it exceeds `queue-threshold`, {threshold}")
                };
                self.says(path, message, "a level to restart at no higher than the one at which TCP stops");
            }
            _ => {}
        }
    }

    /// A control that lives on marks, where no queue marks.
    fn marks(&mut self) {
        let network = &self.scenario.network;
        let on_air = network.topology == TopologyKind::Wifi;
        let marked = match &network.wifi {
            Some(wifi) if on_air => wifi.queues().any(|(_, queue)| queue.marks()),
            _ => network.queues().iter().any(|(_, queue, _)| queue.marks()),
        };
        let tcp = &self.scenario.tcp;
        let of_nodes = tcp.node.iter().position(|part| part.control == Some(Control::Dctcp));
        let of_nodes = of_nodes.map(|i| format!("tcp.node.{i}.control"));
        let path = (tcp.control == Control::Dctcp).then(|| "tcp.control".to_owned()).or(of_nodes);
        if let (Some(path), false) = (path, marked) {
            let queue = if on_air {
                "network.wifi.queue = { mark-above = 20 }"
            } else {
                "network.queue = { kind = \"threshold\", mark-above = \"20 packets\" }"
            };
            let help = format!("`{queue}`; without marks it would be `sack-reno`");
            self.says(&path, "no queue marks packets, and dctcp lives on marks", help);
        }
    }

    fn hdfs(&mut self) {
        let (hdfs, workers) = (&self.scenario.hdfs, self.scenario.cluster.workers);
        if hdfs.replication > workers {
            let message = format!("{} replicas of each block do not fit on {workers} workers", hdfs.replication);
            self.says("hdfs.replication", message, format!("`hdfs.replication` of at most {workers}"));
        }
        if let Some(coding) = hdfs.erasure_coding {
            self.erasure_coding(coding);
        }
        if hdfs.packet > hdfs.block {
            let message = format!("a packet of {} exceeds the block of {}", hdfs.packet.exact(), hdfs.block.exact());
            self.says("hdfs.packet", message, "a packet of at most the block");
        }
    }

    /// Each part of a block group stands on a node of its own, and holds whole cells.
    fn erasure_coding(&mut self, coding: ErasureCoding) {
        let (hdfs, cluster) = (&self.scenario.hdfs, &self.scenario.cluster);
        let ((data, parity), cell) = (coding.parts(), Bytes::from_mib(1));
        let key = "hdfs.erasure-coding";
        if data + parity > cluster.workers {
            let (parts, workers) = (data + parity, cluster.workers);
            let message = format!("{data} data and {parity} parity parts do not fit on {workers} workers");
            self.says(key, message, format!("`cluster.workers` of at least {parts}, or a narrower code"));
        }
        if cluster.generation == Generation::Hadoop1 {
            self.says(key, "Hadoop 1 has no erasure coding", "`cluster.generation = \"yarn\"`");
        }
        if hdfs.placement.kind == PlacementKind::ByKey {
            self.says(key, "a record of an erasure-coded file is on no one node", "replicas for placement by key");
        }
        if hdfs.block.get() % cell.get() != 0 {
            let message = format!("a part of {} does not hold whole cells of {cell}", hdfs.block.exact());
            self.says("hdfs.block", message, format!("a multiple of {cell}"));
        }
    }

    fn mapreduce(&mut self) {
        let mapreduce = &self.scenario.mapreduce;
        let nodes = self.scenario.nodes();
        let has_battery = |node: &NodeSpec| node.hardware.battery.is_some() && node.hardware.idle_power.is_some();
        if mapreduce.spare_batteries.is_some() && !nodes.iter().skip(1).any(has_battery) {
            let help = "hardware with `battery` and `idle-power`, the preset \"nexus7\" say";
            self.says("mapreduce.spare-batteries", "no worker has a battery", help);
        }
        if self.scenario.cluster.generation != Generation::Yarn {
            return;
        }
        let largest = nodes.iter().skip(1).map(|node| self.scenario.node_memory(node)).max().unwrap_or_default();
        let by_default = mapreduce.bytes_per_reducer.is_some() || mapreduce.reducers > 0;
        let reduces = self.scenario.job.iter().any(|job| job.reducers.map_or(by_default, |reducers| reducers > 0));
        let containers = [
            ("map-memory", mapreduce.map_memory, true),
            ("reduce-memory", mapreduce.reduce_memory, reduces),
            ("am-memory", mapreduce.am_memory, true),
        ];
        for (key, memory, used) in containers {
            let granted = mapreduce.granted(memory);
            if used && granted > largest {
                let key_path = format!("mapreduce.{key}");
                let path = if self.tree.get(&key_path).is_some() { &key_path } else { "mapreduce.node-memory" };
                let message = format!(
                    "a container of `{key}` (granted {}) fits on no worker: the largest offers {}",
                    granted.exact(),
                    largest.exact()
                );
                self.says(path, message, format!("a smaller `mapreduce.{key}`, or more `mapreduce.node-memory`"));
            }
        }
        if mapreduce.io_sort >= mapreduce.map_memory {
            let (sort, map) = (mapreduce.io_sort.exact(), mapreduce.map_memory.exact());
            let message = format!("a sort buffer of {sort} does not fit into a map's {map}");
            self.says("mapreduce.io-sort", message, "less than `mapreduce.map-memory`");
        }
        if let Some(heap) = mapreduce.reduce_heap.filter(|heap| *heap > mapreduce.reduce_memory) {
            let (heap, memory) = (heap.exact(), mapreduce.reduce_memory.exact());
            let message = format!("a heap of {heap} does not fit into a reducer's {memory}");
            self.says("mapreduce.reduce-heap", message, "at most `mapreduce.reduce-memory`");
        }
    }

    fn job(&mut self, path: &str, job: &Job) {
        let workers = self.scenario.cluster.workers;
        if let Some(replicas) = job.output_replication.filter(|replicas| *replicas > workers) {
            let message = format!("{replicas} replicas of the output do not fit on {workers} workers");
            self.says(&format!("{path}.output-replication"), message, format!("at most {workers}"));
        }
        let block = self.scenario.hdfs.block;
        let (key, input, files) = if job.splits.is_empty() {
            ("input", job.input.get(), u64::from(job.files))
        } else {
            let sum = job.splits.iter().fold(0, |sum: u64, split| sum.saturating_add(split.get()));
            ("splits", sum, job.splits.len() as u64)
        };
        // A product beyond what a size holds is the greatest size.
        let input = (input as f64 * self.scenario.mapreduce.data_scale) as u64;
        let blocks = (input / block.get()).saturating_add(files);
        if blocks > MOST {
            let message = format!("{} in blocks of {} are {blocks} blocks", Bytes::new(input).exact(), block.exact());
            self.says(&format!("{path}.{key}"), message, format!("at most {MOST}: a larger `hdfs.block`"));
        }
        let reducers = job.reducers.unwrap_or(self.scenario.mapreduce.reducers);
        if !job.shares.is_empty() && job.reducers.is_none() && self.scenario.mapreduce.bytes_per_reducer.is_some() {
            let message = "the number of reducers follows from `mapreduce.bytes-per-reducer`";
            self.says(&format!("{path}.shares"), message, "`reducers`, as many as shares");
        } else if !job.shares.is_empty() && job.shares.len() != reducers as usize {
            let message = format!("{} shares for {reducers} reducers", job.shares.len());
            self.says(&format!("{path}.shares"), message, "one share for each reducer");
        }
        if !job.shares.is_empty() && job.shares.iter().all(|share| *share == 0.0) {
            self.says(&format!("{path}.shares"), "all shares are zero", "at least one above zero");
        }
        let has_combiner = matches!(job.workload, WorkloadKind::Wordcount | WorkloadKind::Grep);
        let has_keys = job.combine_keys.is_some() || job.keys.as_ref().is_some_and(|keys| keys.distinct.is_some());
        if job.combiner == Some(true) && !has_combiner && (!has_keys || job.combine_record.is_none()) {
            let message = format!("workload {} has no combiner of its own", job.workload.word());
            self.says(&format!("{path}.combiner"), message, "give `combine-keys` (or `keys`) and `combine-record`");
        }
        let named = job.workload == WorkloadKind::DfsioRead;
        let splits = if named && job.splits.is_empty() { job.files as usize } else { job.splits.len() };
        if !job.split_hosts.is_empty() && job.split_hosts.len() != splits {
            let message = format!("hosts of {} splits, and there are {splits}", job.split_hosts.len());
            self.says(&format!("{path}.split-hosts"), message, "the workers of each split of `splits`");
        }
        if !job.file_writers.is_empty() && (!named || job.file_writers.len() != splits) {
            let message = format!("writers of {} files", job.file_writers.len());
            self.says(&format!("{path}.file-writers"), message, "the worker that wrote each file of dfsio-read");
        }
        for (i, writer) in job.file_writers.iter().enumerate().filter(|(_, writer)| **writer > workers) {
            let path = format!("{path}.file-writers.{i}");
            self.says(&path, format!("there is no worker {writer}"), format!("1 to {workers}"));
        }
        for (i, hosts) in job.split_hosts.iter().enumerate() {
            self.nodes(&format!("{path}.split-hosts.{i}"), hosts);
        }
        if job.generated && job.workload != WorkloadKind::Generic {
            let message = format!("workload {} says itself where its input comes from", job.workload.word());
            self.says(&format!("{path}.generated"), message, "`workload = \"generic\"`");
        }
        if job.generated && !job.splits.is_empty() {
            self.says(
                &format!("{path}.splits"),
                "nothing is read that could be split",
                "`input`, in place of `splits`",
            );
        }
        self.packing(path, job);
        super::job_keys::check(self, path, job);
        if let Some(plan) = &job.plan {
            self.plan(&format!("{path}.plan"), plan);
        }
        if job.files > 1 && !job.splits.is_empty() {
            self.says(&format!("{path}.files"), "the splits are given one by one", "leave `files` out");
        }
    }

    /// Files that are read packed stand where HDFS puts them, one by one.
    fn packing(&mut self, path: &str, job: &Job) {
        if job.packing.kind == PackingKind::None {
            return;
        }
        let at = format!("{path}.packing.kind");
        let kind = job.packing.kind.word();
        let cut = job.input.get() as f64 * self.scenario.mapreduce.data_scale / job.packing.split.get() as f64;
        if job.generated || job.workload.makes_its_input() {
            self.says(&at, format!("nothing is read that could be packed: `{kind}`"), "leave `packing` out");
        } else if job.workload.reads_named_files() {
            let message = format!("dfsio-read reads the files that its control files name, not `{kind}`");
            self.says(&at, message, "leave `packing` out");
        } else if !job.splits.is_empty() {
            let message = format!("the splits are given one by one, and `{kind}` would make others");
            self.says(&at, message, "`input` and `files`, in place of `splits`");
        } else if job.input_store == FileSystem::ObjectStore {
            let message = format!("`{kind}` packs files in HDFS, and the job reads from an object store");
            self.says(&at, message, "leave `packing` out, or `input-store = \"hdfs\"`");
        } else if self.scenario.hdfs.placement.kind == PlacementKind::ByKey {
            self.says(&at, "blocks that are placed by key are not packed", "another `hdfs.placement.kind`");
        } else if job.packing.kind == PackingKind::Combine && cut > MOST as f64 {
            let message = format!("{} in parts of {} are {cut:.0}", job.input.exact(), job.packing.split.exact());
            let help = format!("at most {MOST}: a larger `packing.split`");
            self.says(&format!("{path}.packing.split"), message, help);
        } else if job.packing.kind == PackingKind::Archive && self.scenario.hdfs.erasure_coding.is_some() {
            let message = "an archive's files are parts of blocks, which a group of erasure-coded blocks has not";
            self.says(&at, message, "leave `hdfs.erasure-coding` out, or another `packing.kind`");
        }
    }

    fn plan(&mut self, path: &str, plan: &Plan) {
        if self.scenario.job.iter().any(|job| job.plan.is_none()) {
            let message = "attempts of a plan take no turn among those that the scheduler places";
            self.says(path, message, "a plan for each job, or for none");
        }
        for (i, attempt) in plan.attempt.iter().enumerate() {
            let path = |key: &str| format!("{path}.attempt.{i}.{key}");
            if attempt.succeeds() && attempt.after.is_some() {
                self.says(&path("after"), "this attempt succeeds", "`end = \"failed\"` or `end = \"killed\"`");
            }
            if attempt.kind == PlannedKind::Reduce && attempt.map.is_some() {
                self.says(&path("map"), "a reduce has no map function", "`reduce`");
            }
            for (key, time) in [("copy", attempt.copy), ("reduce", attempt.reduce)] {
                if attempt.kind == PlannedKind::Map && time.is_some() {
                    self.says(&path(key), format!("a map has no phase `{key}`"), "`map`, `sort`");
                }
            }
        }
        let workers = self.scenario.cluster.workers;
        let nodes = plan.attempt.iter().enumerate().map(|(i, a)| (format!("{path}.attempt.{i}.node"), &a.node));
        for (path, node) in nodes.chain(plan.master.iter().map(|node| (format!("{path}.master"), node))) {
            if node_number(node).is_none_or(|number| number == 0 || number > workers) {
                self.says(&path, format!("there is no worker `{node}`"), format!("worker-1 to worker-{workers}"));
            }
        }
    }

    pub(super) fn nodes(&mut self, path: &str, nodes: &Nodes) {
        let workers = self.scenario.cluster.workers;
        let Nodes::List(list) = nodes else { return };
        if list.is_empty() {
            self.says(path, "no node is named", "at least one");
        }
        if let Some(number) = list.iter().find(|number| **number > workers) {
            let message = format!("there is no `{}`", node_name(*number));
            self.says(path, message, format!("the last worker is worker-{workers}"));
        }
    }

    fn faulty_node(&mut self, path: &str, name: &str, fault: &Fault) {
        let (workers, points) = (self.scenario.cluster.workers, self.scenario.network.points());
        if point_number(name).is_some_and(|number| number < points) {
            if fault.slow.is_some() {
                self.says(&format!("{path}.slow"), "an access point has no cores that could be slow", "`down-for`");
            }
            return;
        }
        if node_number(name).is_none_or(|number| number > workers) {
            let names: Vec<_> = (0..=workers).map(node_name).chain((0..points).map(point_name)).collect();
            let span = self.tree.span_of(&format!("{path}.node")).clone();
            let near = units::nearest(name, names.iter().map(String::as_str)).unwrap_or("master");
            let points = if points > 0 { format!(", ap-1 to {}", point_name(points - 1)) } else { String::new() };
            let help = format!("did you mean `{near}`? (master, worker-1 to worker-{workers}{points})");
            self.problems.add_with_help(&span, format!("there is no node `{name}`"), help);
        }
    }

    fn fault(&mut self, path: &str, fault: &Fault) {
        match (&fault.node, &fault.link) {
            (Some(_), Some(_)) => self.says(path, "this fault names a node and a link", "one of the two"),
            (None, None) => self.says(path, "this fault names neither a node nor a link", "`node` or `link`"),
            (Some(name), None) => self.faulty_node(path, name, fault),
            (None, Some(_)) => {}
        }
        if fault.slow.is_some() && fault.down_for.is_some() {
            self.says(&format!("{path}.slow"), "only what is up can be slow", "`slow-for` in place of `down-for`");
        }
        if fault.slow.is_some() && fault.silent {
            self.says(&format!("{path}.slow"), "a silent link carries nothing, slowly or not", "one of the two");
        }
        if fault.member.is_some() && fault.disk.is_none() {
            self.says(&format!("{path}.member"), "it does not say of which disk", "`disk`");
        }
        if fault.disk.is_some() && fault.link.is_some() {
            self.says(&format!("{path}.disk"), "a link has no disks", "`node`");
        }
        if fault.silent && fault.link.is_none() {
            self.says(&format!("{path}.silent"), "only a link falls silent", "`link`");
        }
        if fault.slow.is_none() && fault.slow_for.is_some() {
            self.says(&format!("{path}.slow-for"), "it does not say how slow", "`slow = 0.5`, say");
        }
    }
}
