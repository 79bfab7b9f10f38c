//! The set-ups of the reference tables, and the tables.

#![allow(dead_code, reason = "no test file uses all of it")]

use des::RandomStream;
use net::{Discipline, Limit, LinkId, LinkSpec, Topology};
use sim::bench::reference_tcp;
use sim::world::{World, WorldSpec};
use tcp::Config;
use tcp::control::ControlKind;
use traffic::{TrafficKind, TrafficSpec};
use units::{BitRate, Bytes, Time};

/// A table with a header line; fields may be quoted.
pub struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// A line of a table.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    header: &'a [String],
    fields: &'a [String],
}

fn split(line: &str) -> Vec<String> {
    let (mut fields, mut quoted) = (vec![String::new()], false);
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            c => fields.last_mut().unwrap().push(c),
        }
    }
    fields
}

impl Table {
    pub fn read(text: &str) -> Self {
        let mut lines = text.lines().map(split);
        Self { header: lines.next().unwrap(), rows: lines.collect() }
    }
    pub fn header(&self) -> &[String] {
        &self.header
    }
    /// The rows in which each of these columns has this value.
    pub fn rows(&self, wanted: &[(&str, &str)]) -> Vec<Row<'_>> {
        let rows = self.rows.iter().map(|fields| Row { header: &self.header, fields });
        rows.filter(|row| wanted.iter().all(|(column, value)| row.text(column) == *value)).collect()
    }
    /// The mean of a column over such rows; there must be some.
    pub fn mean(&self, wanted: &[(&str, &str)], column: &str) -> f64 {
        let values: Vec<f64> = self.rows(wanted).iter().map(|row| row.number(column)).collect();
        assert!(!values.is_empty(), "no row with {wanted:?}");
        values.iter().sum::<f64>() / values.len() as f64
    }
}

impl Row<'_> {
    pub fn text(&self, column: &str) -> &str {
        let at = self.header.iter().position(|name| name == column).unwrap_or_else(|| panic!("no column {column}"));
        &self.fields[at]
    }
    pub fn number(&self, column: &str) -> f64 {
        self.text(column).parse().unwrap_or_else(|_| panic!("{column} is {:?}", self.text(column)))
    }
}

pub fn dumbbell_table() -> Table {
    Table::read(include_str!("dumbbell_long.csv"))
}
pub fn incast_table() -> Table {
    Table::read(include_str!("incast_barrier.csv"))
}
pub fn incast_short_table() -> Table {
    Table::read(include_str!("incast_short.csv"))
}
/// More set-ups and seeds, by `dumbbell.tcl` and `dumbbell.cc`.
pub fn dumbbell_more_table() -> Table {
    Table::read(include_str!("dumbbell_more.csv"))
}
/// The same by `incast.tcl`.
pub fn incast_more_table() -> Table {
    Table::read(include_str!("incast_more.csv"))
}
/// More seeds by `benches/shuffle.tcl` (in one set-up with `window_ 45`), and CUBIC: in ns-2 by the same with
/// `Agent/TCP/Linux` and `select_ca cubic`, in ns-3 `TcpCubic` with buffers of 262,144 bytes.
pub fn shuffle_more_table() -> Table {
    Table::read(include_str!("shuffle_more.csv"))
}
/// More seeds of `incast_barrier.csv`, by `incast.tcl` without a restart after pauses.
pub fn incast_seeds_table() -> Table {
    Table::read(include_str!("incast_seeds.csv"))
}
/// The same, and set-ups of `incast_more.csv`, with links of the servers whose rates differ by up to 100 ppm.
pub fn incast_clocks_table() -> Table {
    Table::read(include_str!("incast_clocks.csv"))
}
/// More seeds of `incast_short.csv` where the link is nearly full, by `incast_marks.tcl`.
pub fn incast_short_more_table() -> Table {
    Table::read(include_str!("incast_short_more.csv"))
}
/// The sessions of `incast_short.csv`'s kept connections, by `incast_kept.tcl`.
pub fn incast_kept_table() -> Table {
    Table::read(include_str!("incast_kept.csv"))
}
/// Long flows of a Linux host's own TCP, by `dumbbell_linux.py`.
pub fn dumbbell_linux_table() -> Table {
    Table::read(include_str!("dumbbell_linux.csv"))
}
/// 905 clients with and without marks: ns-2 alone, by `incast_marks.tcl`.
pub fn incast_marks_table() -> Table {
    Table::read(include_str!("incast_marks.csv"))
}
/// Four long flows through RED: ns-2 alone, by `red.tcl`.
pub fn red_table() -> Table {
    Table::read(include_str!("red.csv"))
}
pub fn shuffle_table() -> Table {
    Table::read(include_str!("shuffle_wired.csv"))
}

/// TCP as in the references, without a ceiling on the window, two segments of initial window.
pub fn tcp() -> Config {
    Config { max_window: None, initial_window: 2, ..reference_tcp(0) }
}

/// `flows` long flows over a bottleneck (`dumbbell_long.csv`).
#[derive(Clone, Debug)]
pub struct Dumbbell {
    pub flows: u32,
    pub mbps: u64,
    pub round_trip: Time,
    /// One-way delay of each access link.
    pub access: Time,
    pub loss: f64,
    /// Packets.
    pub queue: u32,
    /// How it is managed.
    pub discipline: Discipline,
    /// Seconds.
    pub length: u64,
    pub warm: u64,
    pub tcp: Config,
    pub seed: u64,
}

/// What a dumbbell did.
#[derive(Debug)]
pub struct DumbbellResult {
    /// Payload in Mbit/s after the warm-up.
    pub goodput: f64,
    /// Drops at the bottleneck in all.
    pub drops: u64,
    pub marks: u64,
    /// Mean packets in its queue after the warm-up.
    pub queue: f64,
    pub hops: u64,
    pub retransmissions: u64,
    pub timeouts: u64,
    pub lost: u64,
    pub rtt: Time,
}

impl Dumbbell {
    pub fn new(flows: u32, mbps: u64, rtt_ms: u64, length: u64) -> Self {
        // One bandwidth-delay product in packets of 1500 bytes.
        let queue = (mbps as f64 * 1e6 * rtt_ms as f64 * 1e-3 / 12_000.0) as u32;
        let (round_trip, access) = (Time::from_ms(rtt_ms), Time::from_ms(1));
        Self {
            flows,
            mbps,
            round_trip,
            access,
            loss: 0.0,
            queue,
            discipline: Discipline::DropTail,
            length,
            warm: 10,
            tcp: tcp(),
            seed: 1,
        }
    }
    /// Another round trip, with its bandwidth-delay product as the queue. Of less than 4 ms the access links take an
    /// eighth each way.
    pub fn set_round_trip(&mut self, round_trip: Time) {
        self.round_trip = round_trip;
        self.access = Time::from_ms(1).min(round_trip / 8);
        self.queue = (self.mbps as f64 * 1e6 * round_trip.as_secs_f64() / 12_000.0) as u32;
    }
    pub fn control(mut self, control: ControlKind) -> Self {
        self.tcp.control = control;
        self
    }
    pub fn window(mut self, segments: u32) -> Self {
        self.tcp.max_window = Some(segments);
        self
    }
    pub fn loss(mut self, loss: f64, seed: u64) -> Self {
        (self.loss, self.seed, self.warm) = (loss, seed, 20);
        self
    }

    pub fn run(&self) -> DumbbellResult {
        let access = BitRate::from_mbps((10 * self.mbps).max(1_000));
        let access = LinkSpec::new(access, self.access).with_limit(Limit::Packets(100_000));
        let delay = self.round_trip / 2 - self.access * 2;
        let bottleneck = LinkSpec::new(BitRate::from_mbps(self.mbps), delay).with_limit(Limit::Packets(self.queue));
        let back = bottleneck.clone().with_limit(Limit::Packets(100_000));
        let bottleneck = bottleneck.with_discipline(self.discipline);
        let pairs = self.flows;
        let spec = WorldSpec {
            topology: Topology::dumbbell(pairs as usize, &access, &bottleneck.with_loss(self.loss), &back),
            traffic: vec![TrafficSpec {
                name: "long".to_owned(),
                kind: TrafficKind::Long { flows: 1, bytes: None },
                from: (0..pairs).collect(),
                to: (pairs..2 * pairs).collect(),
                jitter: Time::from_ms(100),
                tcp: self.tcp,
                ..TrafficSpec::default()
            }],
            warm_up: Time::from_secs(self.warm),
            seed: self.seed,
            ..WorldSpec::default()
        };
        let (warm, end) = (Time::from_secs(self.warm), Time::from_secs(self.length));
        let mut world = World::new(&spec).unwrap();
        world.run(warm);
        let before = world.packets().unwrap().link(LinkId(0)).queue_integral(warm);
        world.run(end);
        let transport = world.packets().unwrap();
        let ledger = transport.ledger().unwrap();
        let link = transport.link(LinkId(0));
        let totals = transport.totals();
        let flow = transport.flows().next().unwrap();
        DumbbellResult {
            goodput: world.traffic_outcomes()[0].goodput_warm.as_bps() as f64 / 1e6,
            drops: link.counters().drops,
            marks: link.counters().marks,
            queue: (link.queue_integral(end) - before) as f64 / (end - warm).as_ps() as f64,
            hops: transport.hops(),
            retransmissions: totals.retransmissions,
            timeouts: totals.timeouts,
            lost: ledger.lost,
            rtt: flow.rtt.unwrap_or_default(),
        }
    }
}

/// What an incast did.
#[derive(Debug)]
pub struct IncastResult {
    /// Payload in Mbit/s while it ran.
    pub goodput: f64,
    pub blocks: u64,
    pub block_mean: f64,
    pub block_p50: f64,
    pub drops: u64,
    pub timeouts: u64,
}

/// `servers` send `bytes` each per block to one client (`incast_barrier.csv`), all at once.
pub fn incast(servers: u32, bytes: u64, blocks: u32, tcp: Config, seed: u64) -> IncastResult {
    incast_with_requests(servers, 0, bytes, blocks, tcp, seed)
}

/// The same, asked for with `request` bytes.
pub fn incast_with_requests(
    servers: u32,
    request: u64,
    bytes: u64,
    blocks: u32,
    tcp: Config,
    seed: u64,
) -> IncastResult {
    let (pause, spread) = (Time::ZERO, Time::ZERO);
    let request = Bytes::new(request);
    run_incast(
        servers,
        &TrafficKind::Barrier { request, bytes: Bytes::new(bytes), pause, spread, rounds: blocks },
        tcp,
        seed,
        0.0,
    )
}

/// In ns-2: from a block's last byte at the client to its acknowledgement at the server, when the next block begins.
/// Two links of 25 us, and 40 bytes on each at 1 Gbit/s.
pub const INCAST_ACKNOWLEDGED: Time = Time::from_ns(2 * 25_000 + 2 * 320);

/// The same as `incast.tcl` has it: servers send whole segments, start up to 10 us apart, and wait for a block's last
/// acknowledgement. The rates of the servers' links differ by up to the share `clocks` either way.
pub fn incast_with_clocks(servers: u32, bytes: u64, blocks: u32, tcp: Config, seed: u64, clocks: f64) -> IncastResult {
    let mss = u64::from(tcp.mss);
    let sent = bytes.div_ceil(mss) * mss;
    let kind = TrafficKind::Barrier {
        request: Bytes::ZERO,
        bytes: Bytes::new(sent),
        pause: INCAST_ACKNOWLEDGED,
        spread: Time::from_us(10),
        rounds: blocks,
    };
    let got = run_incast(servers, &kind, tcp, seed, clocks);
    IncastResult { goodput: got.goodput * bytes as f64 / sent as f64, ..got }
}

fn run_incast(servers: u32, kind: &TrafficKind, tcp: Config, seed: u64, clocks: f64) -> IncastResult {
    let link = LinkSpec::new(BitRate::from_gbps(1), Time::from_us(25)).with_limit(Limit::Packets(10_000));
    let mut topology = Topology::star(servers as usize + 1, &link);
    let port = topology.uplink(topology.hosts()[servers as usize]).unwrap().reverse();
    topology.spec_mut(port).limit = Limit::Packets(64);
    if clocks > 0.0 {
        let mut random = RandomStream::new(seed, "clocks", 0);
        for server in 0..servers as usize {
            let up = topology.uplink(topology.hosts()[server]).unwrap();
            let rate = BitRate::from_bps((1e9 * (1.0 + clocks * (2.0 * random.uniform() - 1.0))) as u64);
            topology.spec_mut(up).rate = rate;
            topology.spec_mut(up.reverse()).rate = rate;
        }
    }
    let spec = WorldSpec {
        topology,
        traffic: vec![TrafficSpec {
            name: "incast".to_owned(),
            kind: kind.clone(),
            from: (0..servers).collect(),
            to: vec![servers],
            jitter: Time::from_ms(1),
            tcp,
            ..TrafficSpec::default()
        }],
        seed,
        ..WorldSpec::default()
    };
    let mut world = World::new(&spec).unwrap();
    world.run(Time::from_ms(11_900));
    let outcome = &world.traffic_outcomes()[0];
    let ledger = world.packets().unwrap().ledger().unwrap();
    IncastResult {
        goodput: outcome.delivered.get() as f64 * 8e-6 / world.now().as_secs_f64(),
        blocks: outcome.rounds,
        block_mean: outcome.completion_mean.as_secs_f64(),
        block_p50: outcome.completion_p50.as_secs_f64(),
        drops: ledger.dropped,
        timeouts: world.packets().unwrap().totals().timeouts,
    }
}

/// What a shuffle did.
#[derive(Debug)]
pub struct ShuffleResult {
    /// When the last flow was complete, in seconds.
    pub completion: f64,
    pub median: f64,
    pub mean: f64,
    pub drops_host: u64,
    pub drops_switch: u64,
    pub hops: u64,
    pub timeouts: u64,
    pub retransmissions: u64,
    pub duplicates: u64,
    pub fast_recoveries: u64,
}

/// Everyone sends to everyone on one switch (`shuffle_wired.csv`).
pub fn shuffle(nodes: u32, megabytes: u64, seed: u64, tcp: impl Fn(&mut Config)) -> ShuffleResult {
    let mut spec = sim::bench::shuffle(nodes, Bytes::from_mb(megabytes));
    spec.seed = seed;
    tcp(&mut spec.traffic[0].tcp);
    let mut world = World::new(&spec).unwrap();
    world.run(Time::from_secs(600));
    let transport = world.packets().unwrap();
    transport.ledger().unwrap();
    let outcome = &world.traffic_outcomes()[0];
    // Cable k is that of host k; its even direction leaves the host.
    let drops = |parity| transport.links().iter().skip(parity).step_by(2).map(|link| link.counters().drops).sum();
    ShuffleResult {
        completion: outcome.finish.expect("all flows complete").as_secs_f64(),
        median: outcome.completion_p50.as_secs_f64(),
        mean: outcome.completion_mean.as_secs_f64(),
        drops_host: drops(0),
        drops_switch: drops(1),
        hops: transport.hops(),
        timeouts: transport.totals().timeouts,
        retransmissions: transport.totals().retransmissions,
        duplicates: transport.totals().duplicates,
        fast_recoveries: transport.totals().fast_recoveries,
    }
}
