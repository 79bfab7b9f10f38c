//! What a history says of a run, as far as a fit looks at it: stages in seconds, volumes by node.

use history::{Attempt, JobHistory, JobState, Task};
use scenario::Scenario;
use std::collections::BTreeMap;
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
}

impl Site {
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
    /// What its busiest links had.
    pub links: Links,
    /// Seconds of fetching that maps were still running beside.
    pub overlap: f64,
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
    /// Its tasks ran in its AppMaster.
    #[error("its tasks ran in its AppMaster (an uber job), one after the other: its stages are others")]
    Uber,
}

/// The replicas of a job's output, where its configuration says so itself.
const OUTPUT_REPLICATION: [&str; 2] = ["mapreduce.terasort.output.replication", "dfs.replication"];

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
        let first = attempts(maps).filter_map(|(_, attempt)| attempt.finish_ms).min();
        let overlap = began.zip(first).map_or(0.0, |(began, first)| seconds(began.max(first), mapped));
        let replicas = OUTPUT_REPLICATION.iter().find_map(|key| configured(key)?.parse::<f64>().ok());
        let terasort = history.name.contains("TeraSort");
        let replicas =
            replicas.or(terasort.then_some(1.0)).unwrap_or(site.replication).clamp(1.0, site.workers.max(1.0));
        let volumes = Volumes {
            maps: maps.len() as f64,
            reduces: reduces.len() as f64,
            input: sum(maps, "HDFS_BYTES_READ"),
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
        Ok(Self { name: name.to_owned(), job: job.to_owned(), site, volumes, links, overlap, remote, stages })
    }
}

fn is_remote(task: &Task, attempt: &Attempt) -> bool {
    if !task.preferred_hosts.is_empty() {
        return !task.preferred_hosts.contains(&attempt.host);
    }
    !attempt.locality.is_empty() && attempt.locality != "NODE_LOCAL"
}

/// Bytes into and out of nodes.
#[derive(Default)]
struct Load(BTreeMap<String, [f64; 2]>);

impl Load {
    fn moved(&mut self, from: &str, to: &str, bytes: f64) {
        if from != to {
            self.0.entry(from.to_owned()).or_default()[1] += bytes;
            self.0.entry(to.to_owned()).or_default()[0] += bytes;
        }
    }

    fn busiest(&self) -> f64 {
        self.0.values().flatten().copied().fold(0.0, f64::max)
    }
}

/// What went over the busiest link of each stage, from where tasks ran. Where replicas went is not recorded: they leave
/// their writer.
fn links(history: &JobHistory, volumes: &Volumes, site: &Site) -> Links {
    let (mut maps, mut shuffle, mut output) = (Load::default(), Load::default(), Load::default());
    let copies = f64::from(u8::from(volumes.replicas > 1.0));
    let elsewhere = 1.0 - (site.replication / site.workers).min(1.0);
    for (task, attempt) in attempts(&history.maps) {
        let read = attempt.counters.count("HDFS_BYTES_READ") as f64;
        // What a map opens itself, beside its split, lies anywhere (TestDFSIO's files).
        let of_split = attempt.counters.get("BYTES_READ").map_or(read, |split| read.min(split as f64));
        maps.moved("", &attempt.host, (read - of_split) * elsewhere);
        if is_remote(task, attempt) {
            let from = task.preferred_hosts.len().max(1) as f64;
            for host in &task.preferred_hosts {
                maps.moved(host, &attempt.host, of_split / from);
            }
        }
        let written = attempt.counters.count("HDFS_BYTES_WRITTEN") as f64;
        maps.moved(&attempt.host, "", written * copies);
    }
    let mut outputs: BTreeMap<&str, f64> = BTreeMap::new();
    for (_, map) in attempts(&history.maps) {
        *outputs.entry(&map.host).or_default() += map.counters.count("MAP_OUTPUT_MATERIALIZED_BYTES") as f64;
    }
    let whole = outputs.values().sum::<f64>().max(1.0);
    for (_, reduce) in attempts(&history.reduces) {
        let fetched = reduce.counters.count("REDUCE_SHUFFLE_BYTES") as f64;
        for (host, output) in &outputs {
            shuffle.moved(host, &reduce.host, fetched * output / whole);
        }
        output.moved(&reduce.host, "", reduce.counters.count("HDFS_BYTES_WRITTEN") as f64 * copies);
    }
    // The place beyond is no node.
    maps.0.remove("");
    output.0.remove("");
    Links { maps: maps.busiest(), shuffle: shuffle.busiest(), output: output.busiest() }
}
