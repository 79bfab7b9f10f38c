//! Time series of a run: links, processors, disks and radios, sampled in equal steps.

use crate::air::station_name;
use crate::disk_series::DiskSeries;
use crate::world::World;
use des::Occupancy;
use hadoop::mapreduce::MapReduce;
use hadoop::object_store::ObjectStore;
use hadoop::{JobId, NodeId, TaskKind};
use net::{LinkId, Topology};
use results::{Job, Link, LinkEnd, Node, RunResult};
use tcp::SegmentCounts;
use traffic::TrafficLook;
use transport::{PacketTransport, StationCounts};
use units::{BitRate, Bytes, Energy, Time};
use wifi::mac::{MacConfig, Station, StationId};
use wifi::phy::Mode;
use wifi::rate::RateSpec;

/// The first step of a series whose scenario does not say one.
pub(crate) const FIRST_STEP: Time = Time::from_ms(1);
/// The most steps of a series. When it is full, every second step is dropped and the step doubles.
const STEPS: usize = 4096;
/// The most values of all series together: large networks are sampled less often.
const VALUES: usize = 1 << 24;

/// Jobs whose progress is sampled: the first ones.
const JOBS: usize = 16;

/// Counters of a link at the end of a step, cumulative since the start of the run.
#[derive(Debug, Clone, Copy)]
struct LinkReading {
    busy: Time,
    drops: u64,
    marks: u64,
    packets: u32,
    bytes: u32,
}

#[derive(Debug, Default)]
struct Step {
    links: Vec<LinkReading>,
    cores: Vec<Time>,
    /// Energy of radios so far, where their power is known.
    radios: Vec<Energy>,
    retransmissions: u64,
    timeouts: u64,
    traffic: Vec<Option<TrafficLook>>,
    master: SegmentCounts,
    /// Mean cwnd of each node's senders, in bytes.
    windows: Vec<u32>,
    /// Progress of the first jobs' maps and reduces, where it is kept.
    jobs: Vec<[Option<f32>; 2]>,
    store: StoreReading,
}

/// Counters of an object store at the end of a step, cumulative since the start of the run.
#[derive(Debug, Clone, Copy, Default)]
struct StoreReading {
    requests: u64,
    throttled: u64,
    connections: u64,
    first_bytes: u64,
    waited: Time,
}

/// Collects the steps.
#[derive(Debug)]
pub(crate) struct Sampler {
    interval: Time,
    steps: Vec<Step>,
    disks: DiskSeries,
    /// Links and stations.
    watched: usize,
    most: usize,
}

impl Sampler {
    pub fn new(interval: Time, world: &World) -> Self {
        let watched = world.packets().map_or(0, |packets| packets.links().len() + packets.stations().len());
        let most = (VALUES / (4 * watched.max(1))).clamp(64, STEPS);
        Self { interval, steps: Vec::new(), disks: DiskSeries::default(), watched, most }
    }

    /// End of the current step.
    pub fn next(&self) -> Time {
        Time::from_ps(self.interval.as_ps().saturating_mul(self.steps.len() as u64 + 1))
    }

    /// Samples the world: ends the current step.
    pub fn take(&mut self, world: &World, windows: Vec<u32>) {
        let (now, packets) = (world.now(), world.packets());
        let (retransmissions, timeouts) = packets.map_or((0, 0), PacketTransport::repairs);
        let links = packets.into_iter().flat_map(PacketTransport::links).map(|link| {
            let counters = link.counters();
            LinkReading {
                busy: busy(link, now),
                drops: counters.drops,
                marks: counters.marks,
                packets: units::count(link.waiting(now)),
                bytes: units::word(link.waiting_bytes(now)),
            }
        });
        let on_air = packets.into_iter().flat_map(stations).map(|(station, counts, occupancy)| {
            let waiting = units::count(occupancy.length());
            LinkReading {
                busy: station.counters().airtime,
                drops: counts.dropped,
                marks: 0,
                packets: waiting,
                bytes: 0,
            }
        });
        // An iterator over what may not be there does not say its length: the list would grow, and move, by and by.
        let mut readings = Vec::with_capacity(self.watched);
        readings.extend(links);
        readings.extend(on_air);
        let driver = world.driver();
        let hosts = world.transport().topology().hosts().len();
        // An object store is a host, and no node.
        let nodes = units::count(driver.map_or(hosts, |driver| driver.cluster.context().nodes.len()));
        self.steps.push(Step {
            links: readings,
            cores: driver
                .map_or_else(Vec::new, |driver| (0..nodes).map(|node| driver.hosts.used(now, NodeId(node))).collect()),
            radios: radios(world, nodes),
            retransmissions,
            timeouts,
            traffic: world.traffic_looks().collect(),
            master: packets.map_or_else(SegmentCounts::default, PacketTransport::segment_counts),
            windows,
            jobs: driver.map_or_else(Vec::new, |driver| progress(driver.cluster.mapreduce())),
            store: driver.map_or_else(StoreReading::default, |driver| store(driver.cluster.object_store())),
        });
        if let Some(driver) = driver {
            self.disks.take(self.steps.len(), &driver.hosts);
        }
        if self.steps.len() >= self.most {
            let mut ends_a_double_step = true;
            self.steps.retain(|_| {
                ends_a_double_step = !ends_a_double_step;
                ends_a_double_step
            });
            self.disks.double();
            self.interval = self.interval * 2;
        }
    }

    /// Puts the series into the result, whose links, nodes and disks are there already.
    pub fn fill(&self, world: &World, result: &mut RunResult) {
        result.sample_interval = self.interval;
        result.retransmissions = self.steps_of(|step| step.retransmissions).map(units::word).collect();
        result.timeouts = self.steps_of(|step| step.timeouts).map(units::word).collect();
        for (index, link) in result.links.iter_mut().enumerate() {
            let Link { utilisation, queue_bytes, queue_packets, drop_series, mark_series, .. } = link;
            *utilisation = self.shares(|step| step.links[index].busy, 1.0);
            *drop_series = self.steps_of(|step| step.links[index].drops).map(units::word).collect();
            *mark_series = self.steps_of(|step| step.links[index].marks).map(units::word).collect();
            *queue_bytes = self.steps.iter().map(|step| step.links[index].bytes).collect();
            *queue_packets = self.steps.iter().map(|step| step.links[index].packets).collect();
        }
        let seconds = self.interval.as_secs_f64();
        for (index, traffic) in result.traffic.iter_mut().enumerate() {
            let look = |step: &Step| step.traffic.get(index).copied().flatten();
            if self.steps.first().and_then(look).is_none() {
                continue;
            }
            let delivered = self.steps_of(|step| look(step).unwrap_or_default().delivered);
            traffic.goodput_series = delivered.map(|bytes| units::single(bytes as f64 * 8.0 / seconds)).collect();
            let window = |step| units::word(look(step).unwrap_or_default().window);
            traffic.window_series = self.steps.iter().map(window).collect();
        }
        if let Some(master) = &mut result.master {
            let pushed = |step: &Step| step.master.received_pushed + step.master.sent_pushed;
            master.pushed_series = self.steps_of(pushed).map(units::word).collect();
            master.zero_window_series = self.steps_of(|step| step.master.zero_windows).map(units::word).collect();
        }
        for (index, node) in result.nodes.iter_mut().enumerate() {
            let window = |step: &Step| step.windows.get(index).copied().unwrap_or(0);
            node.window_series = self.steps.iter().map(window).collect();
            node.radio_power = self.powers(|step| step.radios.get(index).copied());
        }
        if let Some(store) = &mut result.object_store {
            let counts = |read: fn(&StoreReading) -> u64| self.steps_of(move |step| read(&step.store));
            store.request_series = counts(|store| store.requests).map(units::word).collect();
            store.throttled_series = counts(|store| store.throttled).map(units::word).collect();
            store.connection_series = counts(|store| store.connections).map(units::word).collect();
            store.first_byte_series = counts(|store| store.first_bytes).map(units::word).collect();
            store.wait_series = counts(|store| store.waited.as_ps()).map(Time::from_ps).collect();
        }
        let Some(driver) = world.driver() else { return };
        for (index, node) in result.nodes.iter_mut().enumerate() {
            let Node { cpu_utilisation, .. } = node;
            *cpu_utilisation = self.shares(|step| step.cores[index], driver.hosts.cores(NodeId(units::count(index))));
        }
        for (index, job) in result.jobs.iter_mut().enumerate() {
            let Job { map_progress, reduce_progress, .. } = job;
            for (kind, series) in [map_progress, reduce_progress].into_iter().enumerate() {
                *series = self.steps.iter().filter_map(|step| step.jobs.get(index)?[kind]).collect();
            }
        }
        // The last step may be cut short by the end of the run.
        let end = |step: usize| (self.interval * step as u64).min(world.now());
        let ends: Vec<Time> = (1..=self.steps.len()).map(end).collect();
        for (index, disk) in result.disks.iter_mut().enumerate() {
            self.disks.fill(index, disk, (&ends, self.interval));
        }
    }

    /// Increments of a cumulative counter per step.
    fn steps_of<'a>(&'a self, read: impl Fn(&Step) -> u64 + 'a) -> impl Iterator<Item = u64> + 'a {
        let mut last = 0;
        self.steps.iter().map(move |step| {
            let now = read(step);
            now - std::mem::replace(&mut last, now)
        })
    }

    /// Mean power of each step in watts, from a cumulative energy that is known in all steps or in none.
    fn powers(&self, read: impl Fn(&Step) -> Option<Energy>) -> Vec<f32> {
        let length = self.interval.as_secs_f64();
        let mut last = 0;
        let power = |step| {
            let now = read(step)?.as_nj();
            let drawn = now - std::mem::replace(&mut last, now);
            Some(units::single(drawn as f64 * 1e-9 / length))
        };
        self.steps.iter().map(power).collect::<Option<_>>().unwrap_or_default()
    }

    /// Utilisation in each step, 0 to 1: growth of a busy time over the step, divided by `whole` parallel units.
    fn shares(&self, read: impl Fn(&Step) -> Time, whole: f64) -> Vec<f32> {
        let length = self.interval.as_ps() as f64 * whole;
        self.steps_of(|step| read(step).as_ps()).map(|busy| units::single(busy as f64 / length)).collect()
    }
}

/// Progress of the first jobs' maps and reduces.
fn progress(mapreduce: &MapReduce) -> Vec<[Option<f32>; 2]> {
    let jobs = mapreduce.config().jobs.len().min(JOBS);
    let of =
        |job| [TaskKind::Map, TaskKind::Reduce].map(|kind| mapreduce.progress_of(JobId(job), kind).map(units::single));
    (0..units::count(jobs)).map(of).collect()
}

fn store(store: &ObjectStore) -> StoreReading {
    let done = store.counters();
    StoreReading {
        requests: done.requests.iter().sum(),
        throttled: done.throttled,
        connections: done.connections,
        first_bytes: done.first_bytes,
        waited: done.waited_for_first_byte,
    }
}

/// Energy of all nodes' radios so far; empty where nodes are wired or their power is not known.
fn radios(world: &World, nodes: u32) -> Vec<Energy> {
    let Some(meters) = world.meters().filter(|_| world.packets().is_some_and(|packets| packets.air().is_some())) else {
        return Vec::new();
    };
    let radio =
        |node| meters.get(node).map_or_else(Energy::default, |meter| meter.radio(world.now(), world.used(node)));
    (0..nodes).map(radio).collect()
}

/// Busy time of a link. Behind a token bucket it is computed with the bucket's rate, not the wire's.
fn busy(link: &net::Link, now: Time) -> Time {
    link.shaper()
        .map_or_else(|| link.busy(now), |shaper| shaper.rate.transmission_time(Bytes::new(link.begun_bytes(now))))
}

/// Distribution of queue length over time: length and part of the time, without lengths that never occurred.
fn shares(times: &[u64]) -> Vec<(u64, f64)> {
    let all = times.iter().sum::<u64>().max(1) as f64;
    let share = |(length, time): (usize, &u64)| (length as u64, *time as f64 / all);
    times.iter().enumerate().filter(|(_, time)| **time > 0).map(share).collect()
}

/// Maps vertices of the topology to the ends of links in results.
pub(crate) struct Ends<'a> {
    topology: &'a Topology,
    /// By vertex.
    at: Vec<LinkEnd>,
}

impl<'a> Ends<'a> {
    pub fn new(topology: &'a Topology) -> Self {
        let mut at = vec![LinkEnd::Switch; topology.vertex_count()];
        let is_node = |(_, vertex): &(u32, &net::VertexId)| topology.name(**vertex) != results::STORE_NAME;
        for (node, vertex) in (0..).zip(topology.hosts()).filter(is_node) {
            at[vertex.0 as usize] = LinkEnd::Node(node);
        }
        Self { topology, at }
    }
    pub fn of(&self, link: LinkId) -> (LinkEnd, LinkEnd) {
        let (from, to) = self.topology.ends(link);
        (self.at[from.0 as usize], self.at[to.0 as usize])
    }
}

/// The links of a world, without their series.
pub(crate) fn links(now: Time, transport: &PacketTransport) -> Vec<Link> {
    let ends = Ends::new(transport.topology());
    let link = |(index, link): (usize, &net::Link)| {
        let counters = link.counters();
        let (from, to) = ends.of(LinkId(units::count(index)));
        Link {
            name: transport.topology().link_name(LinkId(units::count(index))).replace("->", " -> "),
            from,
            to,
            bond: transport
                .topology()
                .bond_of(LinkId(units::count(index)))
                .map_or_else(String::new, |(bond, _)| bond.name.clone()),
            rate: link.shaper().map_or(link.rate(), |shaper| shaper.rate.min(link.rate())),
            delay: link.delay(),
            packets: counters.packets,
            bytes: Bytes::new(counters.bytes),
            drops: counters.drops,
            marks: counters.marks,
            lost: counters.lost + counters.lost_down,
            queue_mean: link.queue_integral(now) as f64 / now.as_ps().max(1) as f64,
            queue_max: counters.longest_queue,
            queue_shares: link.occupancy(now).map_or_else(Vec::new, |times| shares(&times)),
            used: busy(link, now).as_secs_f64() / now.as_secs_f64().max(1e-12),
            ..Link::default()
        }
    };
    transport.links().iter().enumerate().map(link).chain(on_air(now, transport)).collect()
}

/// Each station as a link, "NAME -> air", with the transmit queue of its MAC or driver.
fn on_air(now: Time, transport: &PacketTransport) -> Vec<Link> {
    let nodes = transport.topology().hosts().len();
    let marks = |index| transport.air().map_or(0, |air| air.marks(StationId(units::count(index))));
    let link = |(index, (station, counts, occupancy)): (usize, (&Station, &StationCounts, &Occupancy))| {
        let (queue_mean, queue_max) = occupancy.mean_and_maximum(now);
        let mut times = occupancy.clone();
        times.set(now, 0);
        Link {
            name: format!("{} -> air", station_name(index, nodes)),
            from: if index < nodes { LinkEnd::Node(units::count(index)) } else { LinkEnd::Air },
            to: LinkEnd::Air,
            rate: fastest(station.config()),
            packets: counts.carried,
            bytes: Bytes::new(counts.carried_bytes),
            drops: counts.dropped,
            marks: marks(index),
            lost: counts.lost,
            queue_mean,
            queue_max: queue_max as u64,
            queue_shares: shares(&times.into_times()),
            used: station.counters().airtime.as_secs_f64() / now.as_secs_f64().max(1e-12),
            ..Link::default()
        }
    };
    stations(transport).enumerate().map(link).collect()
}

/// The rate of a host's station, if it is on the air.
pub(crate) fn on_air_rate(transport: &PacketTransport, host: usize) -> Option<BitRate> {
    stations(transport).nth(host).map(|(station, ..)| fastest(station.config()))
}

/// The fixed rate of a station, or the greatest that its rate control may choose.
fn fastest(config: &MacConfig) -> BitRate {
    match config.rate {
        RateSpec::Fixed(mode) => mode.rate(),
        _ => config.phy.modes().map(Mode::rate).max().unwrap_or_default(),
    }
}

/// All stations with their interfaces' counters and the lengths of their transmit queues.
fn stations(transport: &PacketTransport) -> impl Iterator<Item = (&Station, &StationCounts, &Occupancy)> {
    let counts = transport.stations().iter().zip(0..);
    transport.air().into_iter().flat_map(move |air| {
        let station = |(counts, id)| (air.station(StationId(id)), counts, air.occupancy(StationId(id)));
        counts.clone().map(station)
    })
}
