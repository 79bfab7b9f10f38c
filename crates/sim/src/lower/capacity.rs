//! What a scenario's machines and links can do, in plain numbers: for who computes with them and does not simulate.

use super::disks::disk_spec;
use super::topology::topology;
use net::Topology;
use scenario::Scenario;
use storage::{DiskSpec, MediaRate};
use units::BitRate;

/// What a worker has of its machine; where several share one, its part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// Cores, less other work.
    pub cores: f64,
    /// Their speed, 1 being that to which costs refer.
    pub speed: f64,
    /// Disks.
    pub disks: f64,
    /// Bytes per second that a disk reads.
    pub read: f64,
    /// Bytes per second that a disk writes.
    pub write: f64,
    /// Seconds to the first byte of an access.
    pub access: f64,
    /// Bytes of memory.
    pub memory: f64,
}

/// What links let through between nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reach {
    /// Bytes of payload per second into a worker, or out of it: the least of all.
    pub node: f64,
    /// Bytes of payload per second out of a rack; infinite where there is one.
    pub rack: f64,
}

/// The workers' machines.
pub fn machines(scenario: &Scenario) -> Vec<Machine> {
    let nodes = scenario.nodes();
    let workers = nodes.iter().skip(1);
    let on_host = |host: Option<u32>| nodes.iter().skip(1).filter(|node| node.host == host).count().max(1) as f64;
    let machine = |node: &scenario::NodeSpec| {
        let hardware = &node.hardware;
        let (cores, uncounted, part, part_of_disks) = match (&scenario.cluster.host, node.host) {
            (Some(host), Some(_)) => {
                let part = on_host(node.host);
                (f64::from(host.cores), host.disks, part, if host.own_disks { 1.0 } else { part })
            }
            _ => (f64::from(hardware.cores), hardware.disks, 1.0, 1.0),
        };
        // Disks of several kinds count with their mean.
        let of = |disk: &scenario::Disk| {
            let count = f64::from(disk.count.unwrap_or(uncounted));
            let figures = match disk_spec(disk, &scenario.storage) {
                DiskSpec::Rotating(disk) => {
                    let access = disk.overhead + disk.seek.average + disk.revolution / 2;
                    [middle(disk.read), middle(disk.write), access.as_secs_f64()]
                }
                DiskSpec::Flash(disk) => {
                    let bytes = |rate: BitRate| rate.as_bps() as f64 / 8.0;
                    [bytes(disk.read_rate), bytes(disk.write_rate), disk.read_latency.as_secs_f64()]
                }
            };
            (count, figures)
        };
        let kinds: Vec<(f64, [f64; 3])> = hardware.disk.iter().map(of).collect();
        let disks: f64 = kinds.iter().map(|(count, _)| count).sum();
        let mean = |i: usize| kinds.iter().map(|(count, figures)| count * figures[i]).sum::<f64>() / disks.max(1.0);
        Machine {
            cores: (cores / part).min(f64::from(hardware.cores)),
            speed: hardware.speed,
            disks: disks / part_of_disks,
            read: mean(0),
            write: mean(1),
            access: mean(2),
            memory: hardware.memory.get() as f64 / part,
        }
    };
    workers.map(machine).collect()
}

/// Bytes per second in the middle of a disk.
fn middle(rate: MediaRate) -> f64 {
    (rate.outer.as_bps() as f64 + rate.inner.as_bps() as f64) / 16.0
}

/// What the links let through.
pub fn reach(scenario: &Scenario) -> Reach {
    let topology = topology(scenario);
    let tcp = super::tcp_config(scenario);
    let segment = f64::from(tcp.mss);
    let payload = segment / (segment + f64::from(tcp::BASE_HEADER) + scenario.framing().get() as f64);
    let rate = |link| {
        let spec = topology.spec(link);
        let rate = spec.shaper.map_or(spec.rate, |shaper| shaper.rate.min(spec.rate));
        let members = topology.bond_of(link).map_or(1, |(bond, _)| bond.members.len());
        rate.as_bps() as f64 / 8.0 * payload * members as f64
    };
    let hosts = topology.hosts();
    let workers = scenario.cluster.workers as usize;
    let links = hosts.iter().skip(1).take(workers).filter_map(|host| topology.uplink(*host));
    let node = links.map(|link| rate(link).min(rate(link.reverse()))).fold(f64::INFINITY, f64::min);
    Reach { node, rack: rack(scenario, &topology, rate) }
}

/// The links between switches that leave the switch of the first worker, together.
fn rack(scenario: &Scenario, topology: &Topology, rate: impl Fn(net::LinkId) -> f64) -> f64 {
    let first = topology.hosts().get(1).and_then(|host| topology.uplink(*host));
    let Some(switch) = first.map(|link| topology.ends(link).1).filter(|_| scenario.racks() > 1) else {
        return f64::INFINITY;
    };
    let links = (0..2 * units::count(topology.cables().len())).map(net::LinkId);
    let between = |link: &net::LinkId| {
        let (from, to) = topology.ends(*link);
        from == switch && topology.kind(to) == net::VertexKind::Switch
    };
    let sum: f64 = links.filter(between).map(rate).sum();
    if sum > 0.0 { sum } else { f64::INFINITY }
}
