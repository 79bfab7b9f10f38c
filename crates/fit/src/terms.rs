//! The terms of each stage: what its seconds are made of, per unit of what is fitted.

use crate::observation::Observation;
use crate::sharing::last_end;
use serde::Serialize;

/// A stage of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// Launch to the end of the last map.
    Maps,
    /// From there to the end of the last fetch.
    Shuffle,
    /// From there to the finish.
    Rest,
}

/// A term: what of a run is multiplied by the fitted rate.
#[derive(Clone, Copy, Debug)]
pub struct Term {
    /// The stage that it is part of.
    pub stage: Stage,
    /// Its name.
    pub name: &'static str,
    /// The unit of its rate.
    pub unit: &'static str,
    /// What it is, in words.
    pub what: &'static str,
    /// What physics says that the rate is, where it says so.
    pub expected: Option<f64>,
    of: fn(&Observation) -> f64,
}

const GB: f64 = 1e9;

/// How many rounds tasks take in so many places.
fn waves(tasks: f64, places: f64) -> f64 {
    (tasks / places).ceil().max(1.0)
}

/// How many tasks the last round has.
fn last_round(tasks: f64, places: f64) -> f64 {
    tasks - (waves(tasks, places) - 1.0) * places
}

/// The part of the reducers' starts that goes on while maps still run. All starts together last as long as their share
/// of the cores, which they have with the last round of maps.
fn early(run: &Observation) -> f64 {
    let maps = last_round(run.volumes.maps, run.site.map_places);
    let tasks = maps + run.volumes.reduces.min(run.site.reduce_places);
    let starting = run.site.start_cpu * (tasks / run.site.cores).max(1.0);
    (run.overlap() / starting.max(1e-3)).min(1.0)
}

/// JVMs' starts while maps run, each a core for a unit of time: the maps' own, and those of reducers beside the last
/// round, where these find no core free.
fn map_starts(run: &Observation) -> f64 {
    let own = last_end((0..run.volumes.maps as usize).map(|_| 1.0), run.site.map_places, run.site.cores);
    let reducers = early(run) * run.volumes.reduces.min(run.site.reduce_places);
    let free = (run.site.cores - last_round(run.volumes.maps, run.site.map_places)).max(0.0);
    own + (reducers - free).max(0.0) / run.site.cores
}

/// JVMs' starts of the reducers that start after the maps.
fn reduce_starts(run: &Observation) -> f64 {
    let all = last_end((0..run.volumes.reduces as usize).map(|_| 1.0), run.site.reduce_places, run.site.cores);
    (1.0 - early(run)) * all
}

/// Seconds of the shuffle over its busiest link that maps did not run beside; what the last round of maps brings is
/// fetched after it in any case.
fn fetching(run: &Observation) -> f64 {
    let whole = run.links.shuffle / run.site.rate;
    let last = whole / waves(run.volumes.maps, run.site.map_places);
    (whole - run.overlap()).max(last).min(whole)
}

/// All terms, stage by stage.
pub const TERMS: [Term; 16] = [
    Term {
        stage: Stage::Maps,
        name: "start",
        unit: "s",
        what: "the AppMaster's first containers",
        expected: None,
        of: |_| 1.0,
    },
    Term {
        stage: Stage::Maps,
        name: "waves",
        unit: "s each",
        what: "rounds of maps: containers, JVMs, heartbeats",
        expected: None,
        of: |run| waves(run.volumes.maps, run.site.map_places),
    },
    Term {
        stage: Stage::Maps,
        name: "cpu",
        unit: "s per CPU second",
        what: "CPU seconds of maps, over the cores that they share",
        expected: Some(1.0),
        of: |run| last_end(run.map_cpus.iter().copied(), run.site.map_places, run.site.cores),
    },
    Term {
        stage: Stage::Maps,
        name: "JVMs",
        unit: "s of a core each",
        what: "starts of JVMs, over the cores that they share",
        expected: None,
        of: map_starts,
    },
    Term {
        stage: Stage::Maps,
        name: "input disks",
        unit: "s per GB on a worker",
        what: "bytes that maps read, per worker",
        expected: None,
        of: |run| run.volumes.input / run.site.workers / GB,
    },
    Term {
        stage: Stage::Maps,
        name: "spill disks",
        unit: "s per GB on a worker",
        what: "bytes that maps spill and merge, per worker",
        expected: None,
        of: |run| run.volumes.map_spilled / run.site.workers / GB,
    },
    Term {
        stage: Stage::Maps,
        name: "network",
        unit: "s per second of the busiest link",
        what: "input from other nodes, and output to HDFS",
        expected: Some(1.0),
        of: |run| run.links.maps / run.site.rate,
    },
    Term {
        stage: Stage::Shuffle,
        name: "start",
        unit: "s per second",
        what: "from the last map to the reducers' containers",
        expected: Some(1.0),
        of: Observation::wait,
    },
    Term {
        stage: Stage::Shuffle,
        name: "JVMs",
        unit: "s of a core each",
        what: "starts of reducers' JVMs after the last map, over the cores that they share",
        expected: None,
        of: reduce_starts,
    },
    Term {
        stage: Stage::Shuffle,
        name: "waves",
        unit: "s each",
        what: "further rounds of reducers",
        expected: None,
        of: |run| {
            if run.volumes.reduces > 0.0 { waves(run.volumes.reduces, run.site.reduce_places) - 1.0 } else { 0.0 }
        },
    },
    Term {
        stage: Stage::Shuffle,
        name: "network",
        unit: "s per second of the busiest link",
        what: "the shuffle that maps did not run beside",
        expected: Some(1.0),
        of: fetching,
    },
    Term { stage: Stage::Rest, name: "end", unit: "s", what: "the job's commit", expected: None, of: |_| 1.0 },
    Term {
        stage: Stage::Rest,
        name: "reducers",
        unit: "s",
        what: "the reducers' end and commit",
        expected: None,
        of: |run| if run.volumes.reduces > 0.0 { 1.0 } else { 0.0 },
    },
    Term {
        stage: Stage::Rest,
        name: "cpu",
        unit: "s per CPU second",
        what: "CPU seconds of reducers, over the cores that they share",
        expected: None,
        of: |run| {
            // Half of what a task takes beside its records it takes before it has fetched.
            let after = |cpu: &f64| (cpu - run.site.task_cpu / 2.0).max(0.0);
            last_end(run.reduce_cpus.iter().map(after), run.site.reduce_places, run.site.cores)
        },
    },
    Term {
        stage: Stage::Rest,
        name: "disks",
        unit: "s per GB on a worker",
        what: "bytes that reducers spill and write, all replicas, per worker",
        expected: None,
        of: |run| {
            let written = run.volumes.reduce_written * run.volumes.replicas + run.volumes.reduce_spilled;
            written / run.site.workers / GB
        },
    },
    Term {
        stage: Stage::Rest,
        name: "network",
        unit: "s per second of the busiest link",
        what: "replicas of the output",
        expected: Some(1.0),
        of: |run| run.links.output / run.site.rate,
    },
];

/// The value of each term for a run; zero for those of other stages.
pub fn row(run: &Observation, stage: Stage) -> Vec<f64> {
    TERMS.iter().map(|term| if term.stage == stage { (term.of)(run) } else { 0.0 }).collect()
}

/// The stages, in order.
pub const STAGES: [Stage; 3] = [Stage::Maps, Stage::Shuffle, Stage::Rest];
