//! The fit: rates of a cluster over all its runs, volumes of each job by its size, and what follows for other runs.

use crate::linear::{Matrix, dot};
use crate::nnls::nnls;
use crate::observation::{Links, Observation, Stages, Volumes, enough_maps};
use crate::sharing::ends;
use crate::terms::{STAGES, Stage, TERMS, Term, row};

/// How much a rate that physics expects counts beside runs relative to their times: what runs scatter by, a
/// twentieth, over what such a rate may be off by, a half.
const EXPECTED_WEIGHT: f64 = 0.05 / 0.5;

/// The rates of a cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Rates(Vec<f64>);

impl Rates {
    /// Of runs, by non-negative least squares over the terms of all their stages, each relative to its run's time. A
    /// rate that physics expects is a weak observation of its own: who has only seen fast links knows no better of
    /// slow ones.
    pub fn of(runs: &[&Observation]) -> Self {
        let (mut matrix, mut right) = (Matrix::new(TERMS.len()), Vec::new());
        for run in runs {
            let whole = run.stages.total().max(1e-3);
            for stage in STAGES {
                matrix.push(row(run, stage).into_iter().map(|value| value / whole).collect());
                right.push(seconds(&run.stages, stage) / whole);
            }
        }
        for (column, term) in TERMS.iter().enumerate() {
            let Some(expected) = term.expected else { continue };
            let mut row = vec![0.0; TERMS.len()];
            row[column] = EXPECTED_WEIGHT;
            matrix.push(row);
            right.push(EXPECTED_WEIGHT * expected);
        }
        Self(nnls(&matrix, &right).0)
    }

    /// The rate of each of [`TERMS`].
    pub fn values(&self) -> &[f64] {
        &self.0
    }

    /// The stages of a run with these terms.
    pub fn stages(&self, run: &Observation) -> Stages {
        let of = |stage| dot(&self.0, &row(run, stage));
        Stages { maps: of(Stage::Maps), shuffle: of(Stage::Shuffle), rest: of(Stage::Rest) }
    }

    /// The rate of a term of the maps.
    fn of_maps(&self, name: &str) -> f64 {
        let is = |(term, _): &(&Term, &f64)| term.stage == Stage::Maps && term.name == name;
        TERMS.iter().zip(&self.0).find(is).map_or(0.0, |(_, rate)| *rate)
    }

    /// Seconds between the map after which reducers may start and the last one, by what maps compute.
    fn gap(&self, run: &Observation) -> f64 {
        let (start, cpu) = (self.of_maps("JVMs"), self.of_maps("cpu"));
        let ends = ends(run.map_cpus.iter().map(|work| start + cpu * work), run.site.map_places, run.site.cores);
        let enough = ends.get(enough_maps(ends.len(), run.site.slowstart) - 1);
        ends.last().zip(enough).map_or(0.0, |(last, enough)| last - enough)
    }
}

/// Bytes of each map's split: whole ones and what is left, where splits are of blocks.
fn splits(near: &Observation, maps: f64, asked: f64) -> Vec<f64> {
    let split = near.volumes.split;
    let left = asked - (maps - 1.0) * split;
    let of_blocks = left > 0.0 && left <= 1.1 * split;
    let whole = if of_blocks { split } else { asked / maps };
    let mut splits = vec![whole; maps as usize];
    if let Some(last) = splits.last_mut().filter(|_| of_blocks) {
        *last = left;
    }
    splits
}

/// CPU seconds of each reduce: as they were spread in a run with as many, else evenly.
fn spread(near: &Observation, reduces: f64, cpu: f64) -> Vec<f64> {
    if reduces == near.volumes.reduces && near.volumes.reduce_cpu > 0.0 {
        return near.reduce_cpus.iter().map(|own| own / near.volumes.reduce_cpu * cpu).collect();
    }
    vec![cpu / reduces.max(1.0); reduces as usize]
}

fn seconds(stages: &Stages, stage: Stage) -> f64 {
    match stage {
        Stage::Maps => stages.maps,
        Stage::Shuffle => stages.shuffle,
        Stage::Rest => stages.rest,
    }
}

/// What is asked of a job; what is left out is as it was.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Question {
    /// Bytes of input, or of output where a job has no input.
    pub size: Option<f64>,
    /// Bytes of payload per second into and out of each worker.
    pub rate: Option<f64>,
    /// Workers of the cluster.
    pub workers: Option<f64>,
    /// Reduce tasks of the job.
    pub reduces: Option<f64>,
}

/// Bytes by which a run is large: its input, or what its maps write where they read nothing.
pub fn size(run: &Observation) -> f64 {
    run.volumes.input.max(run.volumes.map_written)
}

/// A line through nothing: per task, and per byte. Neither is negative.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Line {
    task: f64,
    byte: f64,
}

impl Line {
    fn of(
        runs: &[&Observation],
        tasks: fn(&Volumes) -> f64,
        bytes: fn(&Observation) -> f64,
        value: fn(&Volumes) -> f64,
        alone: f64,
    ) -> Self {
        let (mut matrix, mut right) = (Matrix::new(2), Vec::new());
        if let Some(run) = runs.iter().find(|run| value(&run.volumes) > 0.0) {
            // Runs of one size do not tell tasks from bytes: what is expected of a task does.
            let part = tasks(&run.volumes) / value(&run.volumes);
            matrix.push(vec![EXPECTED_WEIGHT * part, 0.0]);
            right.push(EXPECTED_WEIGHT * part * alone);
        }
        for run in runs {
            let scale = value(&run.volumes).max(1e-9);
            // Bytes in MB, so that neither column dwarfs the other.
            matrix.push(vec![tasks(&run.volumes) / scale, bytes(run) / 1e6 / scale]);
            right.push(value(&run.volumes) / scale);
        }
        let (x, _) = nnls(&matrix, &right);
        Self { task: x[0], byte: x[1] / 1e6 }
    }

    fn at(self, tasks: f64, bytes: f64) -> f64 {
        self.task * tasks + self.byte * bytes
    }
}

/// A job's runs scaled to another size, rate, or cluster.
#[derive(Clone, Debug)]
pub struct Profile<'a> {
    /// The runs of the job.
    runs: Vec<&'a Observation>,
    /// All runs of the cluster: where tasks come to lie is the cluster's affair.
    all: &'a [&'a Observation],
}

/// Maps are those of blocks if they have between these parts of a block.
const OF_BLOCKS: std::ops::RangeInclusive<f64> = 0.3..=1.1;

impl<'a> Profile<'a> {
    /// Of a job; none without a run of it.
    pub fn of(job: &str, all: &'a [&'a Observation]) -> Option<Self> {
        let runs: Vec<&Observation> = all.iter().copied().filter(|run| run.job == job).collect();
        (!runs.is_empty()).then_some(Self { runs, all })
    }

    /// The job's runs.
    pub fn runs(&self) -> &[&'a Observation] {
        &self.runs
    }

    /// The run nearest in size to a question: what is not asked is as there.
    fn nearest(&self, size_asked: Option<f64>) -> &'a Observation {
        let far = |run: &&&Observation| {
            let ratio = size_asked.unwrap_or_else(|| size(run)) / size(run).max(1.0);
            libm::fabs(libm::log(ratio.max(1e-12)))
        };
        let nearest = self.runs.iter().min_by(|a, b| far(a).total_cmp(&far(b)));
        nearest.copied().unwrap_or(self.runs[0])
    }

    /// How many maps there are at a size: as many as blocks, or always as many.
    fn maps(near: &Observation, asked: f64) -> f64 {
        let part = near.volumes.input / near.volumes.maps / near.site.block;
        if OF_BLOCKS.contains(&part) { (asked / near.volumes.split - 0.1).ceil().max(1.0) } else { near.volumes.maps }
    }

    /// The run that a question is about, without its times.
    pub fn project(&self, question: &Question) -> Observation {
        let near = self.nearest(question.size);
        let asked = question.size.unwrap_or_else(|| size(near));
        let mut site = near.site.clone();
        if let Some(workers) = question.workers {
            let factor = workers / site.workers;
            let master = 1.0;
            site.cores *= factor;
            site.map_places = ((site.map_places + master) * factor - master).max(1.0);
            site.reduce_places = ((site.reduce_places + master) * factor - master).max(1.0);
            site.replication = site.replication.min(workers);
            site.workers = workers;
        }
        site.rate = question.rate.unwrap_or(site.rate);
        let maps = Self::maps(near, asked);
        let reduces = question.reduces.unwrap_or(near.volumes.reduces);
        let line = |value: fn(&Volumes) -> f64, alone: f64| Line::of(&self.runs, |v| v.maps, size, value, alone);
        let by_maps = |value: fn(&Volumes) -> f64| line(value, 0.0).at(maps, asked);
        let map_cpu = line(|v| v.map_cpu, site.task_cpu);
        let map_cpus = splits(near, maps, asked).into_iter().map(|bytes| map_cpu.at(1.0, bytes)).collect();
        let shuffled = by_maps(|v| v.shuffled);
        let by_reduces = |value: fn(&Volumes) -> f64, alone: f64| {
            Line::of(&self.runs, |v| v.reduces, |run| run.volumes.shuffled, value, alone).at(reduces, shuffled)
        };
        let reduce_cpu = by_reduces(|v| v.reduce_cpu, site.task_cpu);
        let volumes = Volumes {
            maps,
            reduces,
            input: by_maps(|v| v.input),
            split: near.volumes.split,
            map_cpu: map_cpu.at(maps, asked),
            map_spilled: by_maps(|v| v.map_spilled),
            map_written: by_maps(|v| v.map_written),
            shuffled,
            reduce_cpu,
            reduce_spilled: by_reduces(|v| v.reduce_spilled, 0.0),
            reduce_written: by_reduces(|v| v.reduce_written, 0.0),
            replicas: near.volumes.replicas.min(site.workers),
        };
        let mut run = Observation {
            name: near.name.clone(),
            job: near.job.clone(),
            site,
            reduce_cpus: spread(near, reduces, reduce_cpu),
            map_cpus,
            volumes,
            links: Links::default(),
            lead: 0.0,
            start_after: None,
            remote: 0.0,
            stages: Stages::default(),
        };
        run.links = self.links(&run);
        run.remote = self.mean(maps, reduces, &|run| Some(run.remote / run.volumes.maps)) * maps;
        run
    }

    /// What the busiest links are expected to have: what they had of the volumes of runs with as many tasks, in units
    /// of what each worker has on average. Where maps and reducers come to lie is the cluster's affair, and chance:
    /// runs of all jobs tell it.
    fn links(&self, run: &Observation) -> Links {
        let (maps, reduces) = (run.volumes.maps, run.volumes.reduces);
        Links {
            maps: self.mean(maps, reduces, &|run| Shares::of(run).maps),
            shuffle: self.mean(maps, reduces, &|run| Shares::of(run).shuffle),
            output: self.mean(maps, reduces, &|run| Shares::of(run).output),
        }
        .of(run)
    }

    /// A question's answer, with the rates of a cluster.
    pub fn predict(&self, rates: &Rates, question: &Question) -> Predicted {
        let mut run = self.project(question);
        let extra = self.extra(rates);
        // Maps end apart by what they compute, or as in the job's own runs: chance, and waits for other nodes.
        let apart = |run: &&Observation| Some((run.lead + run.start_after?) / run.stages.maps.max(1e-3));
        let own: Vec<f64> = self.runs.iter().filter_map(apart).collect();
        let part = own.iter().sum::<f64>() / own.len().max(1) as f64;
        let gap = rates.gap(&run);
        let lead = |run: &Observation| (part * rates.stages(run).maps).max(gap) - self.start_after();
        let with = |run: &Observation| {
            let mut run = run.clone();
            run.lead = lead(&run);
            extra.beside(rates.stages(&run))
        };
        run.lead = lead(&run);
        run.stages = extra.beside(rates.stages(&run));
        let (maps, reduces) = (run.volumes.maps, run.volumes.reduces);
        let (mut least, mut most) = (run.stages.total(), run.stages.total());
        for other in self.alike(maps, reduces) {
            let shares = Shares::of(other);
            let links = Links {
                maps: shares.maps.map_or(run.links.maps, |share| share * volume_of_maps(&run) / run.site.workers),
                shuffle: shares
                    .shuffle
                    .map_or(run.links.shuffle, |share| share * run.volumes.shuffled / run.site.workers),
                output: run.links.output,
            };
            let total = with(&Observation { links, ..run.clone() }).total();
            (least, most) = (least.min(total), most.max(total));
        }
        Predicted { stages: run.stages, run, least, most }
    }

    /// What this job takes beside what the cluster's terms say, in seconds of each stage: the mean of what is left
    /// over its runs, each as a part of its time, and one run more with nothing left.
    pub fn extra(&self, rates: &Rates) -> Extra {
        let weight = |run: &Observation| 1.0 / (run.stages.total() * run.stages.total()).max(1e-6);
        let weights: f64 = self.runs.iter().map(|run| weight(run)).sum();
        let whole = weights * (1.0 + 1.0 / self.runs.len() as f64);
        let mean = |of: fn(&Stages) -> f64| {
            let left = |run: &&Observation| weight(run) * (of(&run.stages) - of(&rates.stages(run)));
            self.runs.iter().map(left).sum::<f64>() / whole.max(1e-12)
        };
        Extra([mean(|stages| stages.maps), mean(|stages| stages.shuffle), mean(|stages| stages.rest)])
    }

    /// Seconds until reducers start after they may: the mean over all runs with reducers.
    fn start_after(&self) -> f64 {
        let all: Vec<f64> = self.all.iter().filter_map(|run| run.start_after).collect();
        all.iter().sum::<f64>() / all.len().max(1) as f64
    }

    /// Runs with as many tasks: of any job that reads, or writes, by its maps as this one does; else this job's.
    fn alike(&self, maps: f64, reduces: f64) -> Vec<&'a Observation> {
        let reads = reads(self.runs[0]);
        let same = |run: &&Observation| {
            run.volumes.maps == maps && run.volumes.reduces == reduces && self::reads(run) == reads
        };
        let any: Vec<&Observation> = self.all.iter().copied().filter(same).collect();
        if any.is_empty() { self.runs.clone() } else { any }
    }

    /// The mean of something over such runs.
    fn mean(&self, maps: f64, reduces: f64, of: &dyn Fn(&Observation) -> Option<f64>) -> f64 {
        let values: Vec<f64> = self.alike(maps, reduces).into_iter().filter_map(of).collect();
        values.iter().sum::<f64>() / values.len().max(1) as f64
    }
}

/// Seconds of each stage that a job takes beside what the cluster's terms say; fewer than none where it takes less.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extra([f64; 3]);

impl Extra {
    /// Together with the terms; no stage takes less than nothing.
    #[must_use]
    pub fn beside(self, stages: Stages) -> Stages {
        let [maps, shuffle, rest] = self.0;
        let shuffle = if stages.shuffle > 0.0 { shuffle } else { 0.0 };
        Stages {
            maps: (stages.maps + maps).max(0.0),
            shuffle: (stages.shuffle + shuffle).max(0.0),
            rest: (stages.rest + rest).max(0.0),
        }
    }
}

/// Whether a run's maps read more than they write to HDFS.
fn reads(run: &Observation) -> bool {
    run.volumes.input >= run.volumes.map_written
}

/// What is predicted of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Predicted {
    /// The run that was asked about.
    pub run: Observation,
    /// Its stages: what is expected.
    pub stages: Stages,
    /// The least, and the most, launch to finish takes with tasks where they came to lie in runs with as many.
    pub least: f64,
    /// See `least`.
    pub most: f64,
}

/// What the busiest links had of a run's volumes, in units of what each worker had on average; none of no volume.
struct Shares {
    maps: Option<f64>,
    shuffle: Option<f64>,
    output: Option<f64>,
}

/// What maps read from HDFS or write there.
fn volume_of_maps(run: &Observation) -> f64 {
    run.volumes.input.max(run.volumes.map_written)
}

impl Shares {
    fn of(run: &Observation) -> Self {
        Self {
            maps: share(run.links.maps, volume_of_maps(run), run),
            shuffle: share(run.links.shuffle, run.volumes.shuffled, run),
            output: share(run.links.output, run.volumes.reduce_written, run),
        }
    }
}

impl Links {
    /// Shares of a run's volumes as bytes.
    fn of(self, run: &Observation) -> Self {
        Self {
            maps: self.maps * volume_of_maps(run) / run.site.workers,
            shuffle: self.shuffle * run.volumes.shuffled / run.site.workers,
            output: self.output * run.volumes.reduce_written / run.site.workers,
        }
    }
}

/// What the busiest link had of a volume, in units of what each worker had of it on average; none of no volume.
fn share(link: f64, volume: f64, run: &Observation) -> Option<f64> {
    (volume > 0.0).then(|| link / volume * run.site.workers)
}
