//! What a cluster's nodes and links can do.

use hadoop::mapreduce::Generation;
use hadoop::record::TaskKind;
use hadoop::yarn::Resources;
use scenario::Scenario;
use sim::Machine;

/// The nodes that do work, as one mean node, and the network between them.
#[derive(Clone, Debug)]
pub(crate) struct Cluster {
    pub workers: f64,
    /// Cores of a node that one job's tasks may have, their speed, and disks with bytes per second and seconds per
    /// access. Of nodes that share a machine each has its part.
    pub cores: f64,
    pub speed: f64,
    pub disks: f64,
    pub read: f64,
    pub write: f64,
    pub access: f64,
    /// Bytes of page cache, and of dirty pages before writers wait.
    pub cache: f64,
    pub dirty: f64,
    /// Maps, reduces that a node can run at once, where nothing else runs there.
    pub map_slots: f64,
    pub reduce_slots: f64,
    /// All containers' memory of a node in units of a map's, and what an AppMaster takes of it; slots of Hadoop 1 have no
    /// AppMaster.
    pub master_slots: f64,
    /// Bytes per second of payload into and out of a node.
    pub rate: f64,
    /// Bytes per second out of a rack, of all its nodes; infinite where nothing is narrower than the nodes' links.
    pub rack_rate: f64,
    pub racks: f64,
}

impl Cluster {
    pub fn new(scenario: &Scenario, config: &hadoop::Config) -> Self {
        let machines: Vec<Machine> = sim::machines(scenario);
        let workers = machines.len().max(1) as f64;
        let mean = |of: fn(&Machine) -> f64| machines.iter().map(of).sum::<f64>() / workers;
        let network = sim::reach(scenario);
        let places = |kind| f64::from(config.places(kind).max(1));
        Self {
            workers,
            cores: mean(|machine| machine.cores),
            speed: mean(|machine| machine.speed),
            disks: mean(|machine| machine.disks),
            read: mean(|machine| machine.read),
            write: mean(|machine| machine.write),
            access: mean(|machine| machine.access),
            cache: mean(|machine| machine.memory),
            dirty: mean(|machine| machine.memory) / 5.0,
            map_slots: places(TaskKind::Map),
            reduce_slots: places(TaskKind::Reduce),
            master_slots: master_slots(config),
            rate: network.node,
            rack_rate: network.rack,
            racks: f64::from(scenario.racks().max(1)),
        }
    }
}

/// How many maps an AppMaster takes the place of.
fn master_slots(config: &hadoop::Config) -> f64 {
    let mapreduce = &config.mapreduce;
    if mapreduce.generation == Generation::Hadoop1 {
        return 0.0;
    }
    let memory = |memory| config.yarn.normalized(Resources { memory, vcores: 1 }).memory.get() as f64;
    memory(mapreduce.app_master.memory) / memory(mapreduce.app_master.map_memory)
}
