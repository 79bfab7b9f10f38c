//! A job as its tasks are counted: what there is of each, and what one takes.

use crate::machine::Cluster;
use crate::work::{Intake, Work};
use hadoop::mapreduce::{Generation, SET_UP_SHARE};
use hadoop::yarn::Policy;
use scenario::{PlacementKind, Scenario};

/// Of this many nodes all are counted whatever that takes; of more than `MOST_NODES` a part.
const FEWEST_NODES: usize = 12;
const MOST_NODES: usize = 300;
/// What all draws together may take: at each event of a map its running tasks are looked at, and what each reducer has
/// to fetch from each node. It is about a tenth of a second.
const MOST_LOOKS: f64 = 1e8;
const EVENTS: f64 = 5.0;
/// Draws of the places of many nodes differ little.
const DRAWS_NODES: usize = 1_000;
const MOST_DRAWS: u64 = 12;

/// What is counted.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// How many draws are counted.
    pub draws: u64,
    pub nodes: usize,
    pub racks: usize,
    pub maps: usize,
    /// Reducers, and how many of them can run at once.
    pub reducers: usize,
    pub at_once: usize,
    /// Room of a node for maps; reducers and the AppMaster take so much of it. Hadoop 1 has slots of their own for
    /// reducers, so many.
    pub room: f64,
    pub reducer_room: f64,
    pub master_room: f64,
    pub reduce_slots: Option<f64>,
    /// Seconds between two heartbeats of a node, and of the AppMaster (none in Hadoop 1).
    pub pace: f64,
    pub beat: Option<f64>,
    /// Maps that are done before reducers may begin, and the part of the job's resources for reducers while maps wait.
    pub slow_start: usize,
    pub ramp_up: f64,
    /// Replicas of a block; none if maps read nothing.
    pub replicas: usize,
    /// First replicas are spread evenly.
    pub even: bool,
    pub gives: Gives,
    /// The fair scheduler lets no offer pass.
    pub fair: bool,
    pub locality_delay: usize,
    pub speculative: bool,
    /// Seconds from one report of a map's progress to the next, and from the AppMaster's container to its launch of the
    /// job.
    pub report: f64,
    pub master_start: f64,
    pub map: Steps,
    /// Seconds until a reducer fetches: nobody's, and of a core.
    pub reducer_delay: f64,
    pub reducer_start: f64,
    pub cores: f64,
    pub disks: f64,
    /// Bytes of the mean split, and of its map's output.
    pub block: f64,
    pub output: f64,
    /// Each map's split in units of the mean.
    pub sizes: Vec<f64>,
    /// What the largest reducer has in units of the mean.
    pub largest: f64,
    pub copies: f64,
    /// Bytes per second of a node's link, and out of a rack.
    pub rate: f64,
    pub rack_rate: f64,
    /// How a reducer takes in its input where so many are on its node, from one on.
    pub intakes: Vec<Intake>,
}

/// A map's time alone: launch (nobody's), start, map function (core, disk, link), and what follows the last byte read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Steps {
    pub delay: f64,
    pub start: f64,
    pub cpu: f64,
    /// Of the map function's seconds, what a second core can take over.
    pub beside: f64,
    pub disk: f64,
    pub link: f64,
    pub tail: f64,
}

/// A job's tasks.
#[derive(Debug)]
pub(crate) struct Tasks<'a> {
    pub map: Work,
    /// Each map's split in units of the mean, which has so many bytes, and whether they read them from HDFS.
    pub sizes: Vec<f64>,
    pub split: f64,
    pub reads: bool,
    /// Bytes of the mean map's output.
    pub output: f64,
    /// Reducers, how many of them can run at once, and what the largest has in units of the mean.
    pub reducers: u32,
    pub at_once: f64,
    pub largest: f64,
    /// How a reducer takes in its input where so many are on its node, from one on.
    pub intakes: &'a [Intake],
}

/// When a node is given containers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Gives {
    /// At its heartbeats: so many, of which so many may be anywhere. One task of each kind in Hadoop 1.
    Heartbeat { most: u32, off_switch: u32 },
    /// At its heartbeats, until it has been given more than half of the room that it had.
    Half,
    /// At any time, by the ResourceManager's thread.
    Thread,
}

impl Gives {
    pub fn of(config: &hadoop::Config) -> Self {
        let yarn = &config.yarn;
        match config.mapreduce.generation {
            Generation::Yarn if yarn.asynchronous => Self::Thread,
            Generation::Yarn if yarn.half_per_heartbeat => Self::Half,
            Generation::Yarn => {
                Self::Heartbeat { most: yarn.containers_per_heartbeat, off_switch: yarn.off_switch_per_heartbeat }
            }
            Generation::Hadoop1 => Self::Heartbeat { most: 1, off_switch: 1 },
        }
    }
    /// The least time from one container of a node to its next one, for heartbeats so far apart, s.
    pub fn pace(self, heartbeat: f64) -> f64 {
        match self {
            Self::Heartbeat { most, .. } => heartbeat / f64::from(most),
            Self::Half | Self::Thread => 0.0,
        }
    }
}

/// The plan of a job's tasks.
pub(crate) fn plan(scenario: &Scenario, config: &hadoop::Config, cluster: &Cluster, tasks: Tasks) -> Plan {
    let Tasks { map, reducers, .. } = tasks;
    let mapreduce = &config.mapreduce;
    let master = &mapreduce.app_master;
    let yarn = mapreduce.generation == Generation::Yarn;
    let pace = if yarn { config.yarn.node_heartbeat } else { mapreduce.hadoop1.heartbeat };
    let set_up = mapreduce.jvm_start_cpu.as_secs_f64() + SET_UP_SHARE * mapreduce.task_overhead_cpu.as_secs_f64();
    let start = set_up / cluster.speed;
    let latency = mapreduce.launch_latency.as_secs_f64();
    // Of many nodes a part is counted, with its part of the tasks; reducers have the same input.
    let workers = cluster.workers as usize;
    let maps = tasks.sizes.len();
    let looks = |part: usize| {
        let part = part as f64;
        let running = cluster.workers * cluster.map_slots / part;
        let fetches = tasks.at_once / part * cluster.workers / part;
        EVENTS * maps as f64 / part * (running + fetches)
    };
    let mut part = workers.div_ceil(MOST_NODES);
    while 3.0 * looks(part) > MOST_LOOKS && workers / (part + 1) >= FEWEST_NODES {
        part += 1;
    }
    let nodes = workers / part;
    let draws = ((MOST_LOOKS / looks(part)) as u64).min((DRAWS_NODES / nodes) as u64).clamp(1, MOST_DRAWS);
    let racks = (cluster.racks as usize).min(nodes);
    let sizes: Vec<f64> = tasks.sizes.into_iter().step_by(part).collect();
    let of_reducers = |count: usize| if part > 1 { count.div_ceil(part) } else { count };
    let fewer = (maps as f64 / sizes.len() as f64) * of_reducers(reducers as usize) as f64 / f64::from(reducers.max(1));
    Plan {
        draws,
        nodes,
        racks,
        maps: sizes.len(),
        reducers: of_reducers(reducers as usize),
        at_once: of_reducers(tasks.at_once as usize),
        room: cluster.map_slots,
        reducer_room: cluster.map_slots / cluster.reduce_slots,
        master_room: cluster.master_slots.ceil(),
        reduce_slots: (!yarn).then_some(cluster.reduce_slots),
        pace: pace.as_secs_f64(),
        beat: yarn.then(|| master.heartbeat.as_secs_f64()),
        slow_start: (mapreduce.slow_start * sizes.len() as f64).ceil() as usize,
        ramp_up: master.reduce_rampup_limit,
        replicas: if tasks.reads { config.hdfs.replication as usize } else { 0 },
        even: scenario.hdfs.placement.kind == PlacementKind::Even,
        gives: Gives::of(config),
        fair: config.scheduler.policy == Policy::Fair,
        locality_delay: config.yarn.locality_delay as usize,
        speculative: yarn && mapreduce.speculative_maps,
        report: mapreduce.progress_interval().as_secs_f64(),
        master_start: latency + (mapreduce.jvm_start_cpu + master.init_cpu).as_secs_f64() / cluster.speed,
        map: Steps {
            delay: map.delay,
            start,
            cpu: (map.cpu - start - map.tail).max(0.0),
            beside: map.beside,
            disk: map.disk,
            link: map.link,
            tail: map.tail,
        },
        reducer_delay: latency,
        reducer_start: start,
        cores: cluster.cores,
        disks: cluster.disks,
        block: tasks.split,
        output: tasks.output * if part > 1 { fewer } else { 1.0 },
        sizes,
        largest: tasks.largest,
        copies: f64::from(mapreduce.parallel_copies),
        rate: cluster.rate,
        rack_rate: cluster.rack_rate * (nodes as f64 / racks as f64) * (cluster.racks / cluster.workers),
        intakes: tasks.intakes.to_vec(),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Nodes with links of 100 bytes per second in racks with so much out of each, and maps of a node's cores alone.
    pub(crate) fn small(nodes: usize, racks: usize, rack_rate: f64, maps: usize, replicas: usize) -> Plan {
        Plan {
            draws: 1,
            nodes,
            racks,
            maps,
            reducers: 0,
            at_once: 0,
            room: 8.0,
            reducer_room: 1.0,
            master_room: 2.0,
            reduce_slots: None,
            pace: 1.0,
            beat: Some(1.0),
            slow_start: 0,
            ramp_up: 0.5,
            replicas,
            even: false,
            gives: Gives::Heartbeat { most: 100, off_switch: 1 },
            fair: false,
            locality_delay: 40,
            speculative: false,
            report: 6.0,
            master_start: 2.9,
            map: Steps { delay: 0.5, cpu: 1.0, ..Steps::default() },
            reducer_delay: 0.0,
            reducer_start: 0.0,
            cores: 8.0,
            disks: 1.0,
            block: 1_000.0,
            output: 0.0,
            sizes: vec![1.0; maps],
            largest: 1.0,
            copies: 5.0,
            rate: 100.0,
            rack_rate,
            intakes: vec![Intake::default()],
        }
    }
}
