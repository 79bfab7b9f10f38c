//! A scenario: the one TOML file that says which machines, network, settings, job, traffic and faults a run has.
//!
//! [`Scenario::parse`] reads and checks it, and fills in every default; what it returns can run. All that is wrong is
//! said at once, each with its place in the file or in the `--set` that brought it.

mod bond;
mod check;
mod cluster;
mod cost;
mod disk;
mod document;
mod elsewhere;
mod file_kind;
mod flows;
mod graph;
mod hadoop;
mod job_keys;
pub mod key;
mod mobility;
mod network;
mod nodes;
mod object_store;
mod plan;
mod power;
mod power_daemon;
mod power_warn;
pub mod problem;
mod queue;
mod run;
mod scheduling;
mod spark;
mod spark_adaptive;
mod spark_allocation;
mod spark_check;
mod spark_exclusion;
pub mod spark_properties;
mod spark_yarn;
mod stripe;
mod syntax;
mod tcp;
mod traffic;
mod traffic_check;
pub mod tree;
mod warn;
mod wifi;
mod wifi_check;

pub use bond::{Bond, BondHash, BondMode, Lacp, Misfit};
pub use check::Check;
pub use cluster::{Cluster, Generation, Group, Host, Node, NodePreset, Throttle};
pub use cost::Cost;
pub use disk::{Array, Disk, DiskLayout, DiskPreset, DiskRole, DiskScheduler, RaidLevel, Storage};
pub use document::{power_daemon_reference, power_reference, reference, schema};
pub use file_kind::FileKind;
pub use hadoop::{
    Balancer, ErasureCoding, Hdfs, InputFormat, Job, JobCodec, MapReduce, Master, Packing, PackingKind, Placement,
    PlacementKind, ReadOrder, Scheduler, Uber, WorkloadKind,
};
pub use job_keys::JobKeys;
pub use mobility::{Mobility, MobilityKind, Place, PlaceKind};
pub use network::{
    Core, Direction, Framing, GraphLink, Network, Nodes, Shape, TopologyKind, node_name, node_number, point_name,
    point_number,
};
pub use nodes::NodeSpec;
pub use object_store::{Committer, FileSystem, InputPolicy, ObjectStore, S3a};
pub use plan::{Plan, PlannedAttempt, PlannedEnd, PlannedKind};
pub use power::{
    BackgroundWork, Contradiction, DriveProfile, Power, PowerGuard, PowerPolicy, ReplicaOrder, RestDepth, StartCost,
    StoragePlan,
};
pub use power_daemon::{PowerDaemon, PowerDisk, PowerDriver, PowerEnd};
pub use problem::{Problem, ScenarioError, ScenarioWarnings, Source, Span};
pub use queue::{Codel, FqCodel, Pie, PieDelay, Port, Queue, QueueKind, QueueLimit, Red, SharedBuffer};
pub use run::{Fault, Fidelity, Run};
pub use spark::{Spark, SparkAttempt, SparkEnd, SparkExecutor, SparkFormat, SparkLevel, SparkPlace, SparkStage};
pub use spark_allocation::SparkAllocation;
pub use spark_exclusion::SparkExclusion;
pub use spark_properties::{SparkGroup, SparkProperty, SparkUnit};
pub use spark_yarn::{SparkDeployMode, SparkYarn};
pub use stripe::{StreamCount, StreamCoupling, StreamPolicy, StreamScheduler, Stripe};
pub use tcp::{
    BbrRule, Control, CubicRule, HyStart, IdleRule, IncreaseRule, Recovery, ReductionBase, RtoEstimator, ScalableRule,
    Tcp, TcpOfNode,
};
pub use traffic::{GivenCoflow, GivenFlow, SizeKind, SizePoint, Sizes, Traffic, TrafficKind};
pub use wifi::{
    AccessPoint, Aggregation, ChannelWidth, Driver, DriverPreset, DriverScheduling, ErrorKind, FadingKind, Gain, Level,
    PathLossKind, PowerSave, Propagation, Radio, RateControlKind, ReceiverKind, RoutingKind, ShadowingKind, Wifi,
    WifiDrop, WifiMode, WifiNode, WifiQueue, WifiQueueKind, WifiStandard, Wire,
};

use key::{Key, Section};
use problem::Problems;
use tree::{Entry, Tree};

section! {
    /// A cluster, a network, and what happens on them.
    pub struct Scenario {
        /// The scenario's name in results. Left out: the name of its file.
        name: String = String::new();
        /// The machines: master, workers, and what they share.
        cluster: Cluster = Cluster::default();
        /// The hardware of each node without an entry of its own: a preset's name, or a table.
        node: Node = Node::default();
        /// Overrides of the disk preset's figures, and what disks do besides jobs.
        storage: Storage = Storage::default();
        /// What disks draw and when they rest. Left out: their power is part of `node.idle-power`, and none rests.
        power: Option<Power> = None;
        /// What a run costs besides the hours of its nodes. Left out: nothing.
        cost: Option<Cost> = None;
        /// The network between the nodes.
        network: Network = Network::default();
        /// Positions and movement of nodes (topology wifi).
        mobility: Option<Mobility> = None;
        /// TCP settings of all nodes.
        tcp: Tcp = Tcp::default();
        /// Settings of HDFS, named after Hadoop's own keys.
        hdfs: Hdfs = Hdfs::default();
        /// An object store under the jobs. Left out: there is none.
        object_store: Option<ObjectStore> = None;
        /// The RPC servers of the master node.
        master: Master = Master::default();
        /// Settings of MapReduce and YARN, named after Hadoop's own keys.
        mapreduce: MapReduce = MapReduce::default();
        /// The job, or a list of jobs.
        job: Vec<Job> = Vec::new();
        /// An application of Spark, in place of jobs. Left out: there is none.
        spark: Option<Spark> = None;
        /// Traffic without Hadoop, alone or beside jobs.
        traffic: Vec<Traffic> = Vec::new();
        /// Faults: what fails, and when.
        faults: Vec<Fault> = Vec::new();
        /// The run: seed, length, sampling.
        run: Run = Run::default();
    }
}

impl Scenario {
    /// Whether something runs on the nodes: jobs, or an application of Spark.
    pub fn has_cluster(&self) -> bool {
        !self.job.is_empty() || self.spark.is_some()
    }

    /// Reads a scenario's text, lays `assignments` ("section.key=value") over it, and checks what the language knows.
    ///
    /// What an engine knows besides (names of links, rates of a PHY) is checked by who has one: see
    /// [`Self::parse_with`].
    pub fn parse(file: &str, text: &str, assignments: &[String]) -> Result<Self, ScenarioError> {
        Self::parse_with(file, text, assignments, |_| {}).map(|(scenario, _)| scenario)
    }

    /// Like [`Self::parse`], and then asks `further` for what else is wrong. Beside the scenario stands what it will do
    /// against expectation.
    pub fn parse_with(
        file: &str,
        text: &str,
        assignments: &[String],
        further: impl FnOnce(&mut Check<'_>),
    ) -> Result<(Self, ScenarioWarnings), ScenarioError> {
        let mut sources = vec![Source { name: file.to_owned(), text: text.to_owned() }];
        sources
            .extend(assignments.iter().map(|assignment| Source { name: "--set".to_owned(), text: assignment.clone() }));
        let mut problems = Problems::of_keys(elsewhere::elsewhere);
        let mut tree = Tree::parse(text, 0, &mut problems);
        FileKind::Scenario.expect(&tree, &mut problems);
        for (i, source) in sources.iter().enumerate().skip(1) {
            tree.set(source, i, &mut problems);
        }
        // A text that is not TOML is half a tree: its keys would only bring problems that follow from the first.
        let scenario = if problems.is_empty() { Self::read(&tree, None, &mut problems) } else { None };
        if let (Some(mut scenario), true) = (scenario, problems.is_empty()) {
            if scenario.name.is_empty() {
                let stem = std::path::Path::new(file).file_stem().and_then(|stem| stem.to_str());
                stem.unwrap_or(file).clone_into(&mut scenario.name);
            }
            scenario.fill_defaults();
            let mut check = Check { scenario: &scenario, tree: &tree, problems: &mut problems };
            check::check(&mut check);
            further(&mut check);
            if problems.is_empty() {
                warn::warn(&scenario, &tree, &mut problems);
                problems.sort();
                return Ok((scenario, ScenarioWarnings { sources, problems: problems.0 }));
            }
        }
        problems.sort();
        Err(ScenarioError { sources, problems: problems.0 })
    }

    /// The scenario as resolved: every key, so that it means the same whatever the defaults become.
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        tree::print(&self.entries(), "", &mut text);
        text
    }

    /// The scenario with only the keys that differ from the defaults, for a person to read and edit.
    pub fn to_short_toml(&self) -> String {
        let mut text = String::new();
        tree::print(&changed(self.entries(), &Self::default().entries()), "", &mut text);
        text
    }

    /// Names the scenario, seed aside: the first 128 bits of the BLAKE3 hash of its resolved text, in hexadecimal. Kept
    /// results of a study are found by it.
    pub fn digest(&self) -> String {
        let mut seedless = self.clone();
        seedless.run.seed = 0;
        let mut hex = blake3::hash(seedless.to_toml().as_bytes()).to_hex().to_string();
        hex.truncate(32);
        hex
    }

    /// Fills in what follows from other keys.
    fn fill_defaults(&mut self) {
        if !self.cluster.group.is_empty() {
            self.cluster.workers = self.cluster.group.iter().map(|group| group.count).fold(0, u32::saturating_add);
        }
        self.network.fill_defaults();
        if self.network.topology == TopologyKind::Wifi {
            self.mobility.get_or_insert_default();
        }
    }
}

fn changed(entries: Vec<Entry>, defaults: &[Entry]) -> Vec<Entry> {
    let differs = |mut entry: Entry| {
        let default = defaults.iter().find(|default| default.key == entry.key).map(|default| &default.tree);
        if default == Some(&entry.tree) {
            return None;
        }
        // What a job or a traffic does not say is the default: lists of many stay readable.
        if let tree::Value::Array(items) = &mut entry.tree.value {
            let blank = match entry.key.as_str() {
                "job" => Job::default().entries(),
                "traffic" => Traffic::default().entries(),
                "disk" => Disk::default().entries(),
                "stage" => SparkStage::default().entries(),
                "executor" => SparkExecutor { node: String::new(), ..SparkExecutor::default() }.entries(),
                "attempt" => SparkAttempt::default().entries(),
                _ => return Some(entry),
            };
            for item in items {
                if let tree::Value::Table(inner) = &mut item.value {
                    *inner = changed(std::mem::take(inner), &blank);
                }
            }
            return Some(entry);
        }
        if let ("spark", tree::Value::Table(inner)) = (entry.key.as_str(), &mut entry.tree.value) {
            *inner = changed(std::mem::take(inner), &Spark::default().entries());
            return Some(entry);
        }
        if let (tree::Value::Table(inner), Some(Tree { value: tree::Value::Table(default), .. })) =
            (&mut entry.tree.value, default)
        {
            *inner = changed(std::mem::take(inner), default);
        }
        Some(entry)
    };
    entries.into_iter().filter_map(differs).collect()
}
