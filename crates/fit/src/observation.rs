//! What a history says of a run, as far as a fit looks at it: stages in seconds, volumes by node.

use history::{Attempt, JobHistory, JobState, Task};
use scenario::Scenario;
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;

/// The cluster of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    /// Workers of the cluster.
    pub workers: f64,
    /// Cores of all workers together that one job may have.
    pub cores: f64,
    /// Maps that all workers together have room for beside the AppMaster.
    pub map_places: f64,
    /// Reduces that all workers together have room for beside the AppMaster.
    pub reduce_places: f64,
    /// Bytes of payload per second into or out of a worker.
    pub rate: f64,
    /// Bytes of a block of HDFS.
    pub block: f64,
    /// Replicas of what a job writes, where its configuration does not say otherwise.
    pub replication: f64,
    /// What the start of a task's JVM takes of a core, in seconds, as the cluster's scenario has it.
    pub start_cpu: f64,
    /// What a task takes of a core beside its records, in seconds, as the cluster's scenario has it.
    pub task_cpu: f64,
    /// Part of the maps that must be done before reducers start.
    pub slowstart: f64,
    /// The kinds of machine that its workers are.
    pub hardware: Vec<Hardware>,
}

/// A worker's machine, as far as rates are those of one kind of machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Hardware {
    /// Its cores.
    pub cores: u32,
    /// Cores of the physical machine, where workers share one.
    pub shared: Option<u32>,
    /// Its cores' speed, 1 being that to which costs refer.
    pub speed: f64,
    /// Its disks.
    pub disks: usize,
    /// Bytes per second that a disk reads and writes.
    pub disk: [f64; 2],
}

impl Hardware {
    /// Each kind once, in the order of the workers.
    fn of(scenario: &Scenario) -> Vec<Self> {
        let mut kinds = Vec::new();
        for (node, machine) in scenario.nodes().iter().skip(1).zip(sim::machines(scenario)) {
            let kind = Self {
                cores: node.hardware.cores,
                shared: scenario.cluster.host.as_ref().filter(|_| node.host.is_some()).map(|host| host.cores),
                speed: machine.speed,
                disks: node.disks.len(),
                disk: [machine.read, machine.write],
            };
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        kinds
    }
}

impl Site {
    /// Whether its workers are machines of the same kinds.
    pub fn is_like(&self, other: &Self) -> bool {
        let within = |these: &[Hardware], those: &[Hardware]| these.iter().all(|kind| those.contains(kind));
        within(&self.hardware, &other.hardware) && within(&other.hardware, &self.hardware)
    }

    /// Of a scenario that describes the cluster.
    pub fn of(scenario: &Scenario) -> Self {
        let config = sim::hadoop_config(scenario);
        let machines = sim::machines(scenario);
        let workers = machines.len().max(1) as f64;
        let places = |kind| f64::from(config.places(kind).max(1)) * workers;
        let master = f64::from(u8::from(scenario.cluster.generation == scenario::Generation::Yarn));
        let map_places = (places(hadoop::record::TaskKind::Map) - master).max(1.0);
        Self {
            workers,
            cores: machines.iter().map(|machine| machine.cores).sum::<f64>().max(1e-3),
            map_places,
            reduce_places: (places(hadoop::record::TaskKind::Reduce) - master).max(1.0),
            rate: sim::reach(scenario).node,
            block: scenario.hdfs.block.get() as f64,
            replication: f64::from(scenario.hdfs.replication.min(scenario.cluster.workers)),
            start_cpu: scenario.mapreduce.jvm_start.as_secs_f64(),
            task_cpu: scenario.mapreduce.task_overhead.as_secs_f64(),
            slowstart: scenario.mapreduce.slowstart,
            hardware: Hardware::of(scenario),
        }
    }
}

/// Volumes of a run, in bytes, CPU seconds and tasks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Volumes {
    /// Map tasks of the job.
    pub maps: f64,
    /// Reduce tasks of the job.
    pub reduces: f64,
    /// Bytes of input that maps read.
    pub input: f64,
    /// Bytes of input of the map that reads most.
    pub split: f64,
    /// CPU seconds of maps.
    pub map_cpu: f64,
    /// CPU seconds of reduces.
    pub reduce_cpu: f64,
    /// Bytes that maps write to local disks: spills and merges.
    pub map_spilled: f64,
    /// Bytes that reduces write to local disks: spills and merges.
    pub reduce_spilled: f64,
    /// Bytes of map output that reduces fetch.
    pub shuffled: f64,
    /// Bytes that maps write to HDFS; one replica.
    pub map_written: f64,
    /// Bytes that reduces write to HDFS; one replica.
    pub reduce_written: f64,
    /// Replicas of what is written.
    pub replicas: f64,
}

/// Bytes over the busiest link of a worker, one way, in each stage.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Links {
    /// While maps run: input from other nodes, and output to HDFS.
    pub maps: f64,
    /// The shuffle.
    pub shuffle: f64,
    /// Replicas of the output.
    pub output: f64,
}

/// Seconds of a job's stages.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stages {
    /// From launch to the end of the last map.
    pub maps: f64,
    /// From there to the end of the last fetch; nothing without reducers.
    pub shuffle: f64,
    /// From there to the finish.
    pub rest: f64,
}

impl Stages {
    /// Launch to finish.
    pub fn total(self) -> f64 {
        self.maps + self.shuffle + self.rest
    }
}

/// A run.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// Its name, for messages.
    pub name: String,
    /// The job: runs of one job are scaled from each other.
    pub job: String,
    /// Where it ran.
    pub site: Site,
    /// What it moved and computed.
    pub volumes: Volumes,
    /// CPU seconds of each map, in the order of their starts.
    pub map_cpus: Vec<f64>,
    /// CPU seconds of each reduce, in the order of their starts.
    pub reduce_cpus: Vec<f64>,
    /// What its busiest links had.
    pub links: Links,
    /// Seconds from the first reducer's start to the last map's end; negative where it came after it.
    pub lead: f64,
    /// Seconds from the map that let reducers start (slow-start) to the first of them; none without reducers.
    pub start_after: Option<f64>,
    /// Of the maps, those not on a node that holds their split.
    pub remote: f64,
    /// How long its stages took.
    pub stages: Stages,
}

/// Why a history is no observation.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unfit {
    /// The job did not succeed.
    #[error("the job did not succeed")]
    Unsuccessful,
    /// The history lacks what a fit needs.
    #[error("its history does not say {0}")]
    Lacks(&'static str),
    /// Its tasks ran on more hosts than its cluster is said to have.
    #[error("its tasks ran on {hosts} hosts, and the cluster that is described has {workers} workers")]
    OtherCluster {
        /// Hosts with tasks that succeeded.
        hosts: usize,
        /// Workers of the description.
        workers: usize,
    },
    /// Its tasks ran in its AppMaster.
    #[error("its tasks ran in its AppMaster (an uber job), one after the other: its stages are others")]
    Uber,
}

/// The replicas of a job's output, where its configuration says so itself.
const OUTPUT_REPLICATION: [&str; 2] = ["mapreduce.terasort.output.replication", "dfs.replication"];

impl Observation {
    /// Seconds that reducers ran beside maps.
    pub fn overlap(&self) -> f64 {
        self.lead.max(0.0)
    }

    /// Seconds from the last map's end to the first reducer's start; none without reducers.
    pub fn wait(&self) -> f64 {
        if self.volumes.reduces > 0.0 { (-self.lead).max(0.0) } else { 0.0 }
    }
}

fn attempts(tasks: &[Task]) -> impl Iterator<Item = (&Task, &Attempt)> {
    tasks.iter().filter_map(|task| Some((task, task.successful()?)))
}

fn sum(tasks: &[Task], counter: &str) -> f64 {
    attempts(tasks).map(|(_, attempt)| attempt.counters.count(counter) as f64).sum()
}

impl Observation {
    /// Of a history, on the cluster that a scenario describes. `configured` is the job's own configuration, by Hadoop's
    /// names.
    pub fn of(
        name: &str,
        job: &str,
        history: &JobHistory,
        site: Site,
        configured: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, Unfit> {
        if history.state != JobState::Succeeded {
            return Err(Unfit::Unsuccessful);
        }
        if history.uber {
            return Err(Unfit::Uber);
        }
        let finish = history.finish_ms.ok_or(Unfit::Lacks("when it ended"))?;
        let (maps, reduces) = (&history.maps, &history.reduces);
        if maps.is_empty() {
            return Err(Unfit::Lacks("of any map"));
        }
        if attempts(maps).next().is_none_or(|(_, attempt)| attempt.counters.is_empty()) {
            return Err(Unfit::Lacks("what its tasks counted"));
        }
        let hosts: BTreeSet<&str> = attempts(maps).chain(attempts(reduces)).map(|(_, a)| a.host.as_str()).collect();
        if hosts.len() as f64 > site.workers {
            return Err(Unfit::OtherCluster { hosts: hosts.len(), workers: site.workers as usize });
        }
        let seconds = |from: i64, to: i64| (to - from).max(0) as f64 / 1e3;
        let last = |ends: &mut dyn Iterator<Item = i64>| ends.max();
        let mapped = last(&mut attempts(maps).filter_map(|(_, attempt)| attempt.finish_ms))
            .ok_or(Unfit::Lacks("when its maps ended"))?;
        let fetched = last(&mut attempts(reduces).filter_map(|(_, attempt)| attempt.shuffle_finish_ms));
        let fetched = fetched.unwrap_or(mapped).max(mapped);
        let stages = Stages {
            maps: seconds(history.launch_ms, mapped),
            shuffle: seconds(mapped, fetched),
            rest: seconds(fetched, finish),
        };
        let began = attempts(reduces).filter_map(|(_, attempt)| attempt.start_ms).min();
        let lead = began.map_or(0.0, |began| (mapped - began) as f64 / 1e3);
        let mut site = site;
        let part = configured("mapreduce.job.reduce.slowstart.completedmaps").and_then(|part| part.parse().ok());
        site.slowstart = part.unwrap_or(site.slowstart);
        let mut ends: Vec<i64> = attempts(maps).filter_map(|(_, attempt)| attempt.finish_ms).collect();
        ends.sort_unstable();
        let enough = ends.get(enough_maps(ends.len(), site.slowstart) - 1);
        let start_after = began.zip(enough).map(|(began, enough)| seconds(*enough, began));
        let replicas = OUTPUT_REPLICATION.iter().find_map(|key| configured(key)?.parse::<f64>().ok());
        let terasort = history.name.contains("TeraSort");
        let replicas =
            replicas.or(terasort.then_some(1.0)).unwrap_or(site.replication).clamp(1.0, site.workers.max(1.0));
        let volumes = Volumes {
            maps: maps.len() as f64,
            reduces: reduces.len() as f64,
            input: sum(maps, "HDFS_BYTES_READ"),
            split: attempts(maps).map(|(_, a)| a.counters.count("HDFS_BYTES_READ")).max().unwrap_or(0) as f64,
            map_cpu: sum(maps, "CPU_MILLISECONDS") / 1e3,
            reduce_cpu: sum(reduces, "CPU_MILLISECONDS") / 1e3,
            map_spilled: sum(maps, "FILE_BYTES_WRITTEN"),
            reduce_spilled: sum(reduces, "FILE_BYTES_WRITTEN"),
            shuffled: sum(reduces, "REDUCE_SHUFFLE_BYTES"),
            map_written: sum(maps, "HDFS_BYTES_WRITTEN"),
            reduce_written: sum(reduces, "HDFS_BYTES_WRITTEN"),
            replicas,
        };
        let links = links(history, &volumes, &site);
        let remote = attempts(maps).filter(|(task, attempt)| is_remote(task, attempt)).count() as f64;
        Ok(Self {
            name: name.to_owned(),
            job: job.to_owned(),
            site,
            volumes,
            map_cpus: cpus(maps),
            reduce_cpus: cpus(reduces),
            links,
            lead,
            start_after,
            remote,
            stages,
        })
    }
}

/// How many of so many maps must be done before reducers start.
pub fn enough_maps(maps: usize, slowstart: f64) -> usize {
    ((maps as f64 * slowstart).ceil() as usize).clamp(1, maps.max(1))
}

/// CPU seconds of tasks, in the order of their starts.
fn cpus(tasks: &[Task]) -> Vec<f64> {
    let mut all: Vec<&Attempt> = attempts(tasks).map(|(_, attempt)| attempt).collect();
    all.sort_by_key(|attempt| attempt.start_ms);
    all.iter().map(|attempt| attempt.counters.count("CPU_MILLISECONDS") as f64 / 1e3).collect()
}

fn is_remote(task: &Task, attempt: &Attempt) -> bool {
    if !task.preferred_hosts.is_empty() {
        return !task.preferred_hosts.contains(&attempt.host);
    }
    !attempt.locality.is_empty() && attempt.locality != "NODE_LOCAL"
}

/// Bytes from node to node. One end of a transfer may not be recorded: it is any other node.
#[derive(Default)]
struct Load<'a>(Vec<(Option<&'a str>, Option<&'a str>, f64)>);

/// Draws of ends that are not recorded.
const DRAWS: u64 = 64;

impl<'a> Load<'a> {
    fn moved(&mut self, from: Option<&'a str>, to: Option<&'a str>, bytes: f64) {
        if from != to && bytes > 0.0 {
            self.0.push((from, to, bytes));
        }
    }

    /// What the busiest link has one way: the mean over draws.
    fn busiest(&self, workers: f64) -> f64 {
        let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
        for name in self.0.iter().flat_map(|(from, to, _)| [*from, *to]).flatten() {
            let next = numbers.len();
            numbers.entry(name).or_insert(next);
        }
        let nodes = numbers.len().max(workers as usize).max(2);
        let draws = if self.0.iter().all(|(from, to, _)| from.is_some() && to.is_some()) { 1 } else { DRAWS };
        let one = |draw: u64| {
            let mut loads = vec![[0.0; 2]; nodes];
            for (place, (from, to, bytes)) in (0..).zip(&self.0) {
                let known = |end: Option<&str>| end.map(|name| numbers[name]);
                let other = |node: usize| (node + 1 + any(draw, place, nodes as u64 - 1) as usize) % nodes;
                let (from, to) = match (known(*from), known(*to)) {
                    (Some(from), Some(to)) => (from, to),
                    (Some(from), None) => (from, other(from)),
                    (None, Some(to)) => (other(to), to),
                    (None, None) => continue,
                };
                loads[from][1] += bytes;
                loads[to][0] += bytes;
            }
            loads.into_iter().flatten().fold(0.0, f64::max)
        };
        (0..draws).map(one).sum::<f64>() / draws as f64
    }
}

/// A number below `below` for each place of each draw, always the same (SplitMix64: Steele, Lea and Flood, Fast
/// Splittable Pseudorandom Number Generators, 2014).
fn any(draw: u64, place: u64, below: u64) -> u64 {
    let mut z = (draw << 32 | place).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)) % below.max(1)
}

/// What went over the busiest link of each stage, from where tasks ran. Where replicas went is not recorded, nor from
/// where what a map opens itself came.
fn links(history: &JobHistory, volumes: &Volumes, site: &Site) -> Links {
    let (mut maps, mut shuffle, mut output) = (Load::default(), Load::default(), Load::default());
    let copies = (volumes.replicas - 1.0).max(0.0);
    let elsewhere = 1.0 - (site.replication / site.workers).min(1.0);
    for (task, attempt) in attempts(&history.maps) {
        let read = attempt.counters.count("HDFS_BYTES_READ") as f64;
        // What a map opens itself, beside its split, lies anywhere (TestDFSIO's files).
        let of_split = attempt.counters.get("BYTES_READ").map_or(read, |split| read.min(split as f64));
        let host = Some(attempt.host.as_str());
        maps.moved(None, host, (read - of_split) * elsewhere);
        if is_remote(task, attempt) {
            let from = task.preferred_hosts.len().max(1) as f64;
            for holder in &task.preferred_hosts {
                maps.moved(Some(holder), host, of_split / from);
            }
        }
        let written = attempt.counters.count("HDFS_BYTES_WRITTEN") as f64;
        maps.moved(host, None, written * copies);
    }
    let mut outputs: BTreeMap<&str, f64> = BTreeMap::new();
    for (_, map) in attempts(&history.maps) {
        *outputs.entry(&map.host).or_default() += map.counters.count("MAP_OUTPUT_MATERIALIZED_BYTES") as f64;
    }
    let whole = outputs.values().sum::<f64>().max(1.0);
    for (_, reduce) in attempts(&history.reduces) {
        let fetched = reduce.counters.count("REDUCE_SHUFFLE_BYTES") as f64;
        let host = Some(reduce.host.as_str());
        for (from, output) in &outputs {
            shuffle.moved(Some(from), host, fetched * output / whole);
        }
        output.moved(host, None, reduce.counters.count("HDFS_BYTES_WRITTEN") as f64 * copies);
    }
    let busiest = |load: Load<'_>| load.busiest(site.workers);
    Links { maps: busiest(maps), shuffle: busiest(shuffle), output: busiest(output) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn four(to: Option<&'static str>) -> Load<'static> {
        let mut load = Load::default();
        for from in ["w1", "w2", "w3", "w4"] {
            load.moved(Some(from), to, 1.0);
        }
        load
    }

    /// Four nodes each write a replica to any of the three others: 81 ways. In 9 no node gets two: the derangements of
    /// four. In 12 a node gets three: any of four, and its own goes to any of three. In 60 the most is two. So the
    /// busiest has (9 + 60 * 2 + 12 * 3) / 81 = 2.04 replicas in the mean.
    #[test]
    fn replicas_meet_at_nodes_by_chance() {
        let mean = four(None).busiest(4.0);
        assert!((mean - 165.0 / 81.0).abs() < 0.15, "{mean}");
    }

    /// Where both ends are known nothing is drawn, and what stays on a node is not on its link.
    #[test]
    fn known_ends_are_counted() {
        assert_eq!(four(Some("w1")).busiest(4.0), 3.0);
    }
}
