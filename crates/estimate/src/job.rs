//! A job's stages from its volumes and costs.

use crate::count::{Counted, counted};
use crate::machine::Cluster;
use crate::mva::{Station, cycle, longest_of};
use crate::plan::{Gives, Tasks, plan};
use crate::work::{Intake, Work, intake, map_work, reduce_work, with_writes};
use crate::{JobEstimate, Span, Unable, unable};
use hadoop::mapreduce::{Generation, JobInput, JobSpec, MapReduceConfig, SET_UP_SHARE};
use hadoop::workload::{PARTITION_OVERHEAD, Source};
use scenario::Scenario;
use units::Bytes;

/// The stages of a job.
#[derive(Debug)]
pub(crate) struct Stages<'a> {
    config: &'a MapReduceConfig,
    cluster: &'a Cluster,
    maps: f64,
    reducers: f64,
    map: Work,
    /// By how many reducers are on the node, from one on: a reduce's work, and what a reducer needs to take its part in.
    reduce: Vec<Work>,
    intakes: Vec<Intake>,
    /// Seconds before the first task starts, and between a task's end and the next one's start in its place.
    begin: f64,
    turn: f64,
    /// The least time between two starts on a node, s.
    pace: f64,
    /// How many reducers run at once on the node and in the rack that have most, in the mean of the draws.
    spread: (f64, f64),
    /// Bytes of the whole shuffle.
    shuffled: f64,
    /// Bytes that a reduce writes, and into how many replicas.
    written: f64,
    replicas: f64,
    /// What the largest reducer has, in units of the mean.
    largest: f64,
    /// Seconds after the last task, which YARN's AppMaster ends the job with.
    end: f64,
    /// What was counted of each draw.
    counted: Vec<Counted>,
}

impl<'a> Stages<'a> {
    pub fn new(
        scenario: &Scenario,
        config: &'a hadoop::Config,
        cluster: &'a Cluster,
        spec: &JobSpec,
    ) -> Result<Self, Unable> {
        let mapreduce = &config.mapreduce;
        let JobInput::Files(files) = &spec.input else {
            return unable("a job with files named one by one", "where its splits lie decides; simulate it");
        };
        let input: f64 = files.iter().map(|file| file.get() as f64).sum();
        let block = config.hdfs.block_size.get();
        let maps = match spec.workload.source {
            Source::Generated { maps } => f64::from(maps),
            Source::File if spec.whole_files => files.len() as f64,
            Source::File => files.iter().map(|file| file.get().div_ceil(block)).sum::<u64>() as f64,
        }
        .max(1.0);
        let reads = !matches!(spec.workload.source, Source::Generated { .. });
        let split = input / maps;
        let yarn = mapreduce.generation == Generation::Yarn;
        let reducers = spec.reducers;
        let (map, output) = map_work(mapreduce, cluster, spec, (split, (maps / cluster.workers).ceil()), reads);
        let replicas = f64::from(
            spec.workload.output_replication.map_or(config.hdfs.replication, u32::from).min(scenario.cluster.workers),
        );
        let side = split * spec.workload.side_output_ratio
            + if reducers == 0 { output * spec.workload.reduce_ratio } else { 0.0 };
        let map = with_writes(map, cluster, (side, replicas), (maps, (maps / cluster.workers).ceil()));
        let per_reducer = if reducers > 0 { output * maps / f64::from(reducers) } else { 0.0 };
        let partitions = maps * PARTITION_OVERHEAD as f64;
        let written = (per_reducer - partitions).max(0.0) * spec.workload.reduce_ratio;
        let heartbeat = if yarn { config.yarn.node_heartbeat } else { mapreduce.hadoop1.heartbeat }.as_secs_f64();
        let master = mapreduce.app_master.heartbeat.as_secs_f64();
        // YARN: the AppMaster's first heartbeat asks for nothing, its second asks, its third is given containers. That a
        // container has ended is told at once, and the place is given at the AppMaster's next heartbeat.
        let (begin, turn) = if yarn { (2.0 * master, master / 2.0) } else { (heartbeat, heartbeat / 2.0) };
        let mut stages = Self {
            config: mapreduce,
            cluster,
            maps,
            reducers: f64::from(reducers),
            map,
            reduce: Vec::new(),
            intakes: Vec::new(),
            begin,
            turn,
            pace: Gives::of(config).pace(heartbeat),
            shuffled: output * maps,
            spread: (1.0, 1.0),
            written,
            replicas,
            largest: largest(spec, reducers),
            end: if yarn { 0.0 } else { heartbeat },
            counted: Vec::new(),
        };
        for on_node in (1..=cluster.reduce_slots.max(1.0) as u32).map(f64::from) {
            // A node has the first replica of what its reducers write, and its part of all others.
            let here = 1.0 + (replicas - 1.0).max(0.0) * f64::from(reducers) / cluster.workers / on_node;
            let reduce = reduce_work(mapreduce, cluster, spec, (per_reducer, maps), (on_node, written * here));
            stages.reduce.push(with_writes(reduce, cluster, (written, replicas), (f64::from(reducers), on_node)));
            stages.intakes.push(intake(mapreduce, cluster, spec, (per_reducer, maps), on_node));
        }
        let at_once = stages.reducers.min(libm::floor(stages.reduce_places()));
        let tasks = Tasks {
            map: stages.map,
            sizes: sizes(spec, files, block, split),
            split,
            reads,
            output,
            reducers,
            at_once,
            largest: stages.largest,
            intakes: &stages.intakes,
        };
        let plan = plan(scenario, config, cluster, tasks);
        stages.counted = (1..=plan.draws).map(|draw| counted(&plan, draw)).collect();
        stages.spread = (stages.mean(|counted| counted.on_node), stages.mean(|counted| counted.in_rack));
        Ok(stages)
    }

    /// The mean over the draws.
    fn mean(&self, of: impl Fn(&Counted) -> f64) -> f64 {
        self.counted.iter().map(of).sum::<f64>() / self.counted.len() as f64
    }
    /// Bounds, widened to what was found in the draws, with their mean.
    fn found(&self, bounds: Span, of: impl Fn(&Counted) -> f64) -> Span {
        let found = self.counted.iter().map(&of);
        let (least, most) = found.fold((bounds.least, bounds.most), |(low, high), s| (low.min(s), high.max(s)));
        Span { least, mean: self.mean(of), most }
    }

    pub fn estimate(&self, name: &str) -> JobEstimate {
        let held = self.held();
        let all = self.map_places();
        // Reducers take places only when the first maps are done; as many more as there are places have begun by then.
        let before = (self.config.slow_start + all / self.maps).min(1.0);
        let slots = (before / all.max(1.0) + (1.0 - before) / (all - held).max(1.0)).recip();
        let (first, bounds) = self.stage(self.maps, slots, &self.map, 0.0, self.pace);
        let maps = self.found(Span::exactly(self.begin).plus(bounds), |counted| counted.mapped);
        let name = name.to_owned();
        let mva = self.begin + self.by_mva(self.maps, slots, &self.map) + self.end;
        if self.reducers == 0.0 {
            return JobEstimate { name, maps, shuffle: Span::default(), reduces: Span::exactly(self.end), mva };
        }
        let whole = self.shuffle(self.at_once(), self.spread);
        // What is left after the last map is its wave's outputs at the least.
        let last = whole * (slots / self.maps).min(1.0);
        let poll = self.config.event_poll.as_secs_f64() / 2.0;
        let bounds = Span {
            least: (whole - (bounds.most - first).max(0.0)).max(last),
            mean: 0.0,
            most: whole + self.start() + self.turn + 2.0 * poll,
        };
        let waits = |counted: &Counted| if counted.polls { poll } else { 0.0 };
        let shuffle = self.found(bounds, |counted| counted.fetched - counted.mapped + waits(counted));
        let reduces = |counted: &Counted| self.reduces((counted.on_node, counted.in_rack)).mean;
        let reduces = self.found(self.reduces(self.spread), reduces);
        let mva = mva + last + self.by_mva(self.reducers, self.reduce_places(), on_node(&self.reduce, self.spread.0));
        JobEstimate { name, maps, shuffle, reduces, mva }
    }

    /// The reduces after their first wave's last fetch, with so many reducers on the node and in the rack with most.
    fn reduces(&self, spread: (f64, f64)) -> Span {
        let work = on_node(&self.reduce, spread.0);
        let (places, waves, at_once) = (self.reduce_places(), self.waves(), self.at_once());
        let whole = self.shuffle(at_once, spread);
        let (_, reduces) = self.stage(self.reducers, places, work, waves * spread.0, 0.0);
        // Later waves fetch everything when they start.
        let again = (waves - 1.0) * (whole + self.start());
        let crowded = self.crowded(at_once);
        // The second replica goes to another rack.
        let across = if self.replicas < 2.0 { 0.0 } else { self.written * spread.1 / self.cluster.rack_rate };
        let across = waves * (across - work.link * spread.0).max(0.0);
        let largest = (self.largest - 1.0) * self.alone(work, 1.0);
        Span {
            least: reduces.least + again,
            mean: reduces.mean + again + self.end + largest + across + waves * crowded,
            most: reduces.most
                + again
                + self.end
                + self.largest * self.alone(work, 1.0)
                + across
                + 2.0 * waves * crowded,
        }
    }

    /// Places of maps in the cluster, and of reducers.
    fn map_places(&self) -> f64 {
        self.cluster.workers * self.cluster.map_slots - self.cluster.master_slots.ceil()
    }
    fn reduce_places(&self) -> f64 {
        (self.cluster.workers * self.cluster.reduce_slots - self.cluster.master_slots).max(1.0)
    }

    /// Waves of reducers, and how many run at once.
    fn waves(&self) -> f64 {
        (self.reducers / self.reduce_places()).ceil().max(1.0)
    }
    fn at_once(&self) -> f64 {
        self.reducers / self.waves()
    }

    /// Places of maps that reducers take while maps run: those that slow start lets begin, up to half of what there is.
    fn held(&self) -> f64 {
        if self.config.generation == Generation::Hadoop1 || self.config.slow_start >= 1.0 {
            return 0.0;
        }
        let all = self.cluster.workers * self.cluster.map_slots;
        if self.maps <= all { 0.0 } else { self.reducers.min(all / 2.0) }
    }

    /// How long a task takes with so many on its node.
    fn alone(&self, work: &Work, beside: f64) -> f64 {
        let Work { delay, cpu, disk, link, .. } = *work;
        delay
            + (cpu * (beside / self.cluster.cores).max(1.0))
                .max(disk * (beside / self.cluster.disks).max(1.0))
                .max(link * beside)
    }

    /// How long a task's turn takes where its node has always so many: of the busiest resource, or its own.
    fn cycle(&self, work: &Work, beside: f64) -> f64 {
        let busiest = (work.cpu / self.cluster.cores).max(work.disk / self.cluster.disks).max(work.link);
        let own = work.delay + work.cpu.max(work.disk).max(work.link);
        (busiest.max(self.pace) * beside).max(own + self.turn)
    }

    /// Seconds from a container's launch until its task's own work begins.
    fn start(&self) -> f64 {
        let cpu = self.config.jvm_start_cpu.as_secs_f64() + SET_UP_SHARE * self.config.task_overhead_cpu.as_secs_f64();
        self.config.launch_latency.as_secs_f64() + cpu / self.cluster.speed
    }

    /// How long the network takes for all of a shuffle: into the nodes of so many reducers, out of all, or between racks.
    fn shuffle(&self, reducers: f64, (here, in_rack): (f64, f64)) -> f64 {
        let cluster = self.cluster;
        let remote = self.shuffled * (1.0 - 1.0 / cluster.workers);
        let per_reducer = remote / self.reducers * self.largest;
        let into = per_reducer * here;
        let between = self.shuffled / self.reducers * in_rack * (1.0 - 1.0 / cluster.racks);
        let crowd = self.largest * (here / cluster.cores).max(1.0);
        // A reducer does not fetch while it merges in memory. Others on its node do.
        let intake = on_node(&self.intakes, here);
        let alone = per_reducer / cluster.rate + intake.merged * crowd;
        let bounds = [into / cluster.rate, alone, self.sent(reducers), between / cluster.rack_rate];
        bounds.into_iter().fold(intake.beside * crowd, f64::max)
    }

    /// How long the node that has most maps sends to so many reducers.
    fn sent(&self, reducers: f64) -> f64 {
        let remote = self.shuffled * (1.0 - 1.0 / self.cluster.workers) * (reducers / self.reducers);
        remote * (self.maps / self.cluster.workers).ceil() / self.maps / self.cluster.rate
    }

    /// How much longer writers take that choose the same nodes for their replicas: one shares a node on average with
    /// (r - 1)(n - 1) / (W - 1) others, although the nodes' links would do for (r - 1) n / W.
    fn crowded(&self, writers: f64) -> f64 {
        if self.replicas < 2.0 || self.cluster.workers < 2.0 {
            return 0.0;
        }
        let others = (self.replicas - 1.0) * (writers - 1.0) / (self.cluster.workers - 1.0);
        let even = ((self.replicas - 1.0) * writers / self.cluster.workers).max(1.0);
        self.written / self.cluster.rate * (1.0 + others - even).max(0.0)
    }

    /// When the first task ends, and how long all take. A node is given a task every `pace` seconds at most, and has its
    /// tasks one after the other in each of its places.
    fn stage(&self, tasks: f64, slots: f64, work: &Work, on_node: f64, pace: f64) -> (f64, Span) {
        let on_node = on_node.max((tasks / self.cluster.workers).ceil()).max(1.0);
        let places = (slots / self.cluster.workers).max(1.0);
        let beside = places.min(on_node);
        let slots = slots.min(tasks).max(1.0);
        let (alone, cycle) = (self.alone(work, beside), self.cycle(work, beside));
        let turn = 0.5 * (cycle + alone + self.turn);
        // Full rounds, and what is left for the last one.
        let rounds = ((tasks / slots).ceil() - 1.0).max(0.0);
        let last =
            ((tasks - rounds * slots) / self.cluster.workers).ceil().max(if rounds > 0.0 { 1.0 } else { beside });
        let mean = rounds * turn + (last - 1.0) * pace + self.alone(work, last);
        let least = (tasks * (cycle - self.turn) / slots).max(self.alone(work, 1.0)).min(mean);
        let most = ((tasks - 1.0) * (alone + self.turn).max(cycle) / slots + (beside - 1.0) * pace + alone).max(mean);
        (alone, Span { least, mean, most })
    }

    /// The same by mean value analysis: rounds of as many tasks as there are places, each as long as the longest of its
    /// node's.
    fn by_mva(&self, tasks: f64, slots: f64, work: &Work) -> f64 {
        let slots = slots.min(tasks).max(1.0);
        let beside = (slots / self.cluster.workers).ceil().max(1.0);
        let stations = [
            Station { demand: work.delay + self.turn, servers: f64::INFINITY },
            Station { demand: work.cpu, servers: self.cluster.cores.max(1.0) },
            Station { demand: work.disk, servers: self.cluster.disks.max(1.0) },
            Station { demand: work.link, servers: 1.0 },
        ];
        let customers = beside as u32;
        let time = cycle(&stations, customers);
        (tasks / slots - 1.0).max(0.0) * time + time * longest_of(customers) / longest_of(customers).max(1.0)
    }
}

/// Of what there is by how many reducers are on a node, from one on.
fn on_node<T>(of: &[T], reducers: f64) -> &T {
    &of[(reducers.ceil() as usize).clamp(1, of.len()) - 1]
}

/// Each map's split in units of the mean.
fn sizes(spec: &JobSpec, files: &[Bytes], block: u64, split: f64) -> Vec<f64> {
    let of_file = |file: &Bytes| {
        let whole = (0..file.get() / block).map(|_| block);
        whole.chain(Some(file.get() % block).filter(|rest| *rest > 0)).collect::<Vec<u64>>()
    };
    let sizes: Vec<f64> = match spec.workload.source {
        Source::Generated { maps } => vec![1.0; maps.max(1) as usize],
        Source::File if spec.whole_files => files.iter().map(|file| file.get() as f64 / split).collect(),
        Source::File => files.iter().flat_map(of_file).map(|bytes| bytes as f64 / split).collect(),
    };
    if sizes.is_empty() || split <= 0.0 { vec![1.0; sizes.len().max(1)] } else { sizes }
}

/// The largest share of a reducer over the mean.
fn largest(spec: &JobSpec, reducers: u32) -> f64 {
    if reducers == 0 {
        return 1.0;
    }
    let whole = Bytes::new(1 << 40);
    let parts = spec.workload.partitions(reducers, 1);
    let most = (0..reducers as usize).map(|r| parts.part(whole, r).get()).max().unwrap_or(0);
    (most as f64 / whole.get() as f64 * f64::from(reducers)).max(1.0)
}
