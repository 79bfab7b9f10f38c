//! What a cluster's nodes and links can do.

use hadoop::mapreduce::Generation;
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
        let (map_slots, reduce_slots, master_slots) = slots(config);
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
            map_slots,
            reduce_slots,
            master_slots,
            rate: network.node,
            rack_rate: network.rack,
            racks: f64::from(scenario.racks().max(1)),
        }
    }
}

/// Maps and reduces on a node, and how many maps an AppMaster takes the place of.
fn slots(config: &hadoop::Config) -> (f64, f64, f64) {
    let mapreduce = &config.mapreduce;
    if mapreduce.generation == Generation::Hadoop1 {
        let hadoop1 = &mapreduce.hadoop1;
        return (f64::from(hadoop1.map_slots), f64::from(hadoop1.reduce_slots), 0.0);
    }
    let memory = |bytes: units::Bytes| {
        let unit = config.yarn.minimum_allocation.get().max(1);
        (bytes.get().div_ceil(unit).max(1) * unit) as f64
    };
    let (node, master) = (config.yarn.node_memory.get() as f64, &mapreduce.app_master);
    let vcores = f64::from(config.yarn.node_vcores);
    let fits = |bytes| (node / memory(bytes)).floor().min(vcores).max(1.0);
    let map = memory(master.map_memory);
    (fits(master.map_memory), fits(master.reduce_memory), memory(master.memory) / map)
}
