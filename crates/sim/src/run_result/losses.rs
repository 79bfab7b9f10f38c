//! How often data are to be expected lost, by the failure rates of disks and by what stands on which at the run's end.

use crate::cluster::Driver;
use crate::lower::disks::{fill_time, raid};
use hadoop::{NodeId, hdfs::Hdfs};
use results::{ArrayLosses, BlockLosses, Losses};
use scenario::{Disk, NodeSpec, Scenario};
use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};
use storage::Failing;
use units::{Bytes, Time};

const HOURS: f64 = 365.25 * 24.0;

/// A disk or array of a machine: the machine is a host, or a node by itself.
type Volume = (Option<u32>, u32, u32);

/// `None` where the scenario gives no disk a failure rate.
pub(super) fn of(scenario: &Scenario, driver: Option<&Driver>) -> Option<Losses> {
    let nodes = scenario.nodes();
    if !nodes.iter().flat_map(|node| &node.disks).any(|disk| disk.failure_rate.is_some()) {
        return None;
    }
    let mut arrays: BTreeMap<Volume, ArrayLosses> = BTreeMap::new();
    for (node, number) in nodes.iter().zip(0..) {
        for (disk, place) in node.disks.iter().zip(node.first_disk..) {
            let losses = |(own, repair): (f64, Time)| {
                let array = disk.array.as_ref()?;
                let members = array.members;
                let losses_per_year = raid(array).losses_per_hour(members, own / HOURS, hours(repair)) * HOURS;
                Some(ArrayLosses { name: format!("{} disk {place}", node.name), members, repair, losses_per_year })
            };
            if let Some(found) = member(scenario, disk).and_then(losses) {
                arrays.entry(volume(node, number, place)).or_insert(found);
            }
        }
    }
    let blocks = driver.and_then(|driver| of_blocks(scenario, &nodes, driver.cluster.hdfs()));
    Some(Losses { arrays: arrays.into_values().collect(), blocks })
}

fn hours(time: Time) -> f64 {
    time.as_secs_f64() / 3600.0
}

fn volume(node: &NodeSpec, number: u32, disk: u32) -> Volume {
    (node.host, if node.host.is_some() { 0 } else { number }, disk)
}

/// Failures a year of one disk, and until a spare has taken its place in its array.
fn member(scenario: &Scenario, disk: &Disk) -> Option<(f64, Time)> {
    let replace = disk.array.as_ref().map_or(Time::ZERO, |array| array.replace);
    Some((disk.failure_rate?, replace.saturating_add(fill_time(disk, &scenario.storage))))
}

/// Losses an hour of all that is on a disk, or on an array.
fn failures(scenario: &Scenario, disk: &Disk) -> Option<f64> {
    let (own, repair) = member(scenario, disk)?;
    Some(match &disk.array {
        None => own / HOURS,
        Some(array) => raid(array).losses_per_hour(array.members, own / HOURS, hours(repair)),
    })
}

/// Blocks of HDFS: lost when the disks of all their replicas, or of too many of their parts, are down together.
fn of_blocks(scenario: &Scenario, nodes: &[NodeSpec], hdfs: &Hdfs) -> Option<BlockLosses> {
    let place = |(node, disk): (NodeId, u32)| Some(volume(nodes.get(node.0 as usize)?, node.0, disk));
    // How many blocks each set of disks holds, and how many of the set have to be lost before they are.
    let mut exposed: BTreeMap<(Vec<Volume>, usize), u64> = BTreeMap::new();
    let mut stored: BTreeMap<Volume, (u64, Bytes)> = BTreeMap::new();
    let mut failing: BTreeMap<Volume, Failing> = BTreeMap::new();
    for (block, record) in hdfs.namespace().blocks() {
        let Some((disks, fatal)) = hdfs.exposure(block) else { continue };
        let piece = record.length / hdfs.namespace().code(block).map_or(1, |code| code.data as u64);
        for (node, disk) in &disks {
            let spec = nodes.get(node.0 as usize)?;
            let volume = volume(spec, node.0, *disk);
            let held = stored.entry(volume).or_default();
            *held = (held.0 + 1, held.1 + piece);
            let own = spec.disks.get(disk.checked_sub(spec.first_disk)? as usize)?;
            if let Entry::Vacant(first) = failing.entry(volume) {
                first.insert(Failing { failures: failures(scenario, own)?, repair: 0.0 });
            }
        }
        let mut set = disks.into_iter().map(place).collect::<Option<Vec<Volume>>>()?;
        set.sort_unstable();
        *exposed.entry((set, fatal)).or_default() += 1;
    }
    let others = scenario.cluster.workers.saturating_sub(1).max(1);
    let repair = |(blocks, bytes): (u64, Bytes)| {
        scenario.hdfs.repair.unwrap_or_else(|| {
            let config = hdfs.config();
            let looks = blocks.div_ceil(u64::from(config.replication_work_multiplier * others).max(1));
            let links = bytes.get() as f64 * 8.0 / (scenario.network.rate.as_bps() as f64 * f64::from(others));
            (config.redundancy_interval * looks).max(Time::from_secs_f64(links))
        })
    };
    let mut longest = Time::ZERO;
    for (volume, failing) in &mut failing {
        let repair = stored.get(volume).copied().map(repair).unwrap_or_default();
        failing.repair = hours(repair);
        longest = longest.max(repair);
    }
    let (mut losses_per_year, mut blocks_per_year) = (0.0, 0.0);
    for ((set, fatal), count) in &exposed {
        // Replicas of nodes that share a disk are one.
        let alike: BTreeSet<Volume> = set.iter().copied().collect();
        let shared = set.len() - alike.len();
        let places: Vec<Failing> = alike.iter().filter_map(|volume| failing.get(volume).copied()).collect();
        let rate = Failing::losses_per_hour(&places, fatal.saturating_sub(shared).max(1)) * HOURS;
        losses_per_year += rate;
        blocks_per_year += rate * *count as f64;
    }
    let blocks = exposed.values().sum();
    let sets = exposed.len() as u64;
    (blocks > 0).then_some(BlockLosses { blocks, sets, repair: longest, losses_per_year, blocks_per_year })
}
