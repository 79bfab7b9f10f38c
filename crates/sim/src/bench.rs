//! CPU time and memory of fixed workloads: packet-hops per second, and the cost of a worker.
//!
//! Each says enough about its outcome to be compared with a reference.

use crate::world::{World, WorldSpec};
use net::{Limit, LinkSpec, Topology};
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::process::{Command, Stdio};
use tcp::control::ControlKind;
use tcp::{Config, IdleRestart, Recovery, RtoEstimator, StartRule};
use traffic::{Sizes, TrafficKind, TrafficSpec};
use transport::fluid::{Fluid, Hop, PRECISION, WHOLE};
use transport::{FlowRecord, PacketTransport};
use units::{BitRate, Bytes, Time};

/// One workload's figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The workload, one of [`NAMES`].
    pub name: String,
    /// Packets accepted by transmitters, data and ACKs.
    pub hops: u64,
    /// CPU time of the run, user and system, in seconds.
    pub cpu_s: f64,
    /// Packet-hops per CPU second.
    pub hops_per_cpu_s: f64,
    /// The most memory that the process has had resident since the run's beginning, in bytes; zero where the system
    /// does not say.
    pub peak_bytes: u64,
    /// Packets dropped at full queues.
    pub drops: u64,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Connections that were still open at its end.
    pub open: u64,
    /// When the last flow's last byte arrived, in simulated seconds; for traffic without end, the simulated time.
    pub completion_s: f64,
    /// FNV-1a over what became of every flow and link: the same on every machine.
    pub digest: String,
    /// CPU time per worker in microseconds; none for plain traffic.
    pub cpu_us_per_worker: Option<f64>,
    /// CPU time that ns-2 takes for the same, where it is installed (and for shuffles: it has no ECMP by 5-tuple).
    pub ns2_cpu_s: Option<f64>,
    /// How many times faster than ns-2.
    pub times_ns2: Option<f64>,
    /// Flows that shared links max-min fairly, of workloads without packets.
    pub flows: Option<u64>,
}

/// The names of the workloads.
pub const NAMES: [&str; 11] = [
    "shuffle-8x64MB",
    "shuffle-16x16MB",
    "permutation-1024",
    "incast-short-2000",
    "long-path",
    "workers-1000",
    "workers-10000",
    "workers-100000",
    "fluid-100",
    "fluid-200",
    "incast-short-2000-100s",
];

/// The names of those that take seconds, not minutes.
pub const QUICK: [&str; 10] =
    [NAMES[0], NAMES[1], NAMES[2], NAMES[3], NAMES[4], NAMES[5], NAMES[6], NAMES[7], NAMES[8], NAMES[9]];

/// Runs a workload by its name; none for a name that is not in [`NAMES`].
pub fn run(name: &str) -> Option<Row> {
    let name = *NAMES.iter().find(|known| **known == name)?;
    let number = |prefix| name.strip_prefix(prefix)?.parse().ok();
    match (number("workers-"), number("fluid-")) {
        (Some(workers), _) => run_job(name, workers),
        (_, Some(hosts)) => Some(run_fluid(name, hosts)),
        _ => run_traffic(name),
    }
}

/// TeraSort on so many workers for one simulated second: the world is built, run and gathered, as `trunkline run` does.
fn run_job(name: &str, workers: u32) -> Option<Row> {
    let text = format!("[cluster]\nworkers = {workers}\n[job]\nworkload = \"terasort\"\n[run]\nuntil = \"1 s\"\n");
    forget_peak_memory();
    let before = cpu_seconds();
    let scenario = crate::parse(name, &text, &[]).ok()?;
    let result = crate::run(&scenario, &mut |_| ControlFlow::Continue(())).ok()?;
    let cpu_s = cpu_seconds() - before;
    let peak_bytes = peak_memory();
    let totals = result.network?;
    let mut digest = Digest::default();
    result.flows.iter().for_each(|flow| {
        let (ended, bytes) = (flow.finish.unwrap_or(Time::MAX), flow.bytes + flow.bytes_back);
        digest.add(&[flow.from.into(), flow.to.into(), ended.as_ps(), bytes.get()]);
    });
    digest.add(&[result.ended_at.as_ps(), totals.hops, totals.drops]);
    Some(Row {
        name: name.to_owned(),
        hops: totals.hops,
        cpu_s,
        hops_per_cpu_s: totals.hops as f64 / cpu_s,
        peak_bytes,
        drops: totals.drops,
        retransmissions: totals.retransmissions,
        open: result.flows.iter().filter(|flow| flow.finish.is_none()).count() as u64,
        completion_s: result.ended_at.as_secs_f64(),
        digest: digest.hex(),
        cpu_us_per_worker: Some(cpu_s * 1e6 / f64::from(workers)),
        ns2_cpu_s: None,
        times_ns2: None,
        flows: None,
    })
}

/// A flow from each of so many hosts on a star at 1 Gbit/s to each other one, of 5 to 15 MB each, at max-min fair rates.
/// Sizes are drawn by a linear congruential generator, so that other programs can have the same. With 100 hosts SimGrid
/// 3.32 (CM02, without cross traffic) ends at 8.4808 s.
fn run_fluid(name: &str, hosts: u32) -> Row {
    forget_peak_memory();
    let before = cpu_seconds();
    let mut fluid = Fluid::new(vec![125e6; 2 * hosts as usize], PRECISION);
    let mut drawn = 1_u32;
    for from in 0..hosts {
        for to in (0..hosts).filter(|to| *to != from) {
            drawn = drawn.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let amount = (1e7 * (0.5 + f64::from(drawn >> 8) / 16_777_216.0)).floor();
            fluid.start(
                0.0,
                &[from, hosts + to].map(|link| Hop { link, weight: WHOLE, ahead: false }),
                f64::INFINITY,
                amount,
            );
        }
    }
    let (mut now, mut flows, mut digest) = (0.0, 0, Digest::default());
    fluid.settle(now);
    while let Some(end) = fluid.next_end() {
        now = end;
        while let Some(id) = fluid.ended(now) {
            fluid.stop(now, id);
            digest.add(&[id.0.into(), now.to_bits()]);
            flows += 1;
        }
        fluid.settle(now);
    }
    Row {
        name: name.to_owned(),
        hops: 0,
        cpu_s: cpu_seconds() - before,
        hops_per_cpu_s: 0.0,
        peak_bytes: peak_memory(),
        drops: 0,
        retransmissions: 0,
        open: 0,
        completion_s: now,
        digest: digest.hex(),
        cpu_us_per_worker: None,
        ns2_cpu_s: None,
        times_ns2: None,
        flows: Some(flows),
    }
}

fn run_traffic(name: &str) -> Option<Row> {
    let end = Time::from_secs(3_600);
    let (spec, until, streams) = match name {
        "shuffle-8x64MB" => (shuffle(8, Bytes::from_mb(64)), end, false),
        "shuffle-16x16MB" => (shuffle(16, Bytes::from_mb(16)), end, false),
        "permutation-1024" => (permutation(), end, false),
        "incast-short-2000" => (incast_short(2_000, BitRate::from_mbps(100)), Time::from_secs(5), true),
        "long-path" => (long_path(), Time::from_secs(5), false),
        "incast-short-2000-100s" => (incast_short(2_000, BitRate::from_mbps(100)), Time::from_secs(100), true),
        _ => return None,
    };
    forget_peak_memory();
    let before = cpu_seconds();
    let Ok(mut world) = World::new(&spec) else { return None };
    let mut digest = Digest::default();
    // Records of connections that have ended are taken out every second, as a run that writes its tables does.
    for second in 1.. {
        let pause = Time::from_secs(second).min(until);
        let over = world.run(pause) || pause == until;
        if over {
            break;
        }
        if streams {
            world.transport_mut().0.take_ended().iter().for_each(|flow| digest.flow(flow));
        }
    }
    let cpu_s = cpu_seconds() - before;
    let peak_bytes = peak_memory();
    let transport = world.packets()?;
    let hops = transport.hops();
    let ns2_cpu_s = ns2_cpu_seconds(name);
    let completion = world.traffic_outcomes().iter().filter_map(|outcome| outcome.finish).max();
    Some(Row {
        name: name.to_owned(),
        hops,
        cpu_s,
        hops_per_cpu_s: hops as f64 / cpu_s,
        peak_bytes,
        drops: transport.ledger().map_or(0, |ledger| ledger.dropped),
        retransmissions: transport.totals().retransmissions,
        open: transport.open_connections() as u64,
        completion_s: completion.unwrap_or(world.now()).as_secs_f64(),
        digest: digest.of(&world),
        cpu_us_per_worker: None,
        ns2_cpu_s,
        times_ns2: ns2_cpu_s.map(|ns2| ns2 / cpu_s),
        flows: None,
    })
}

/// TCP as in the references: SACK, every segment acknowledged, no timestamps, ten segments of initial window, `window`
/// segments at most.
pub fn reference_tcp(window: u32) -> Config {
    Config {
        max_window: Some(window),
        receive_buffer: Bytes::from_mib(64),
        timestamps: false,
        count_options: false,
        delayed_ack: None,
        nagle: false,
        idle_restart: IdleRestart::Off,
        window_validation: false,
        rto_estimator: RtoEstimator::Ns2,
        abc_limit: Some(1),
        hystart: StartRule::Off,
        // Neither undoes a reduction.
        undo_spurious: false,
        control: ControlKind::Reno,
        recovery: Recovery::FallFloyd,
        ..Config::default()
    }
}

/// Every one of `nodes` on a 1 Gbit/s switch (50 us per link, drop-tail 128 packets everywhere) sends `bytes` to every
/// other at once.
pub fn shuffle(nodes: u32, bytes: Bytes) -> WorldSpec {
    let link = LinkSpec::new(BitRate::from_gbps(1), Time::from_us(50));
    let all: Vec<u32> = (0..nodes).collect();
    WorldSpec {
        topology: Topology::star(nodes as usize, &link),
        traffic: vec![TrafficSpec {
            name: "shuffle".to_owned(),
            kind: TrafficKind::AllToAll { bytes },
            from: all.clone(),
            to: all,
            start: Time::ZERO,
            stop: None,
            jitter: Time::from_ms(1),
            tcp: reference_tcp(180),
            after: None,
        }],
        seed: 1,
        ..WorldSpec::default()
    }
}

/// 32 racks of 32 hosts under 32 spines, every link 10 Gbit/s and 1 us; host i sends 2 MB to host (i + 517) mod 1024.
fn permutation() -> WorldSpec {
    let link = LinkSpec::new(BitRate::from_gbps(10), Time::from_us(1));
    WorldSpec {
        topology: Topology::leaf_spine(32, 32, 32, &link, &link),
        traffic: vec![TrafficSpec {
            name: "permutation".to_owned(),
            kind: TrafficKind::Long { flows: 1, bytes: Some(Bytes::from_mb(2)) },
            from: (0..1_024).collect(),
            to: (0..1_024).map(|i| (i + 517) % 1_024).collect(),
            start: Time::ZERO,
            stop: None,
            jitter: Time::ZERO,
            tcp: reference_tcp(180),
            after: None,
        }],
        seed: 1,
        ..WorldSpec::default()
    }
}

/// One flow of BBR without end from a host to another: 10 Gbit/s, a round trip of 100 ms, a packet in a thousand lost.
/// The path holds 86,000 segments, and RACK watches each.
fn long_path() -> WorldSpec {
    let link = LinkSpec::new(BitRate::from_gbps(10), Time::from_ms(25)).with_limit(Limit::Bytes(Bytes::from_mb(64)));
    let tcp = Config { control: ControlKind::Bbr, receive_buffer: Bytes::from_mb(256), ..Config::default() };
    WorldSpec {
        topology: Topology::star(2, &link.with_loss(0.001)),
        traffic: vec![TrafficSpec {
            name: "long".to_owned(),
            kind: TrafficKind::Long { flows: 1, bytes: None },
            from: vec![0],
            to: vec![1],
            start: Time::ZERO,
            stop: None,
            jitter: Time::ZERO,
            tcp,
            after: None,
        }],
        seed: 1,
        ..WorldSpec::default()
    }
}

/// `clients` on links of rate `access` and 1 ms, a router, and from there 2 Gbit/s and 25 us behind 128 packets to a
/// server. By a Poisson process of 40 ms mean each client opens another connection and sends ten segments of 1000 B on
/// it (`incast_short.csv`): 2,000 clients offer 208 % of the bottleneck.
pub fn incast_short(clients: u32, access: BitRate) -> WorldSpec {
    let access = LinkSpec::new(access, Time::from_ms(1)).with_limit(Limit::Packets(10_000));
    let bottleneck = LinkSpec::new(BitRate::from_gbps(2), Time::from_us(25)).with_limit(Limit::Packets(128));
    let mut topology = Topology::new();
    let router = topology.add_switch("router");
    topology.add_hosts(clients as usize, router, &access);
    let server = topology.add_host("server");
    let back = bottleneck.clone().with_limit(Limit::Packets(10_000));
    topology.connect_both(router, server, bottleneck, back);
    WorldSpec {
        topology,
        traffic: vec![TrafficSpec {
            name: "sessions".to_owned(),
            kind: TrafficKind::Poisson {
                sizes: Sizes::Fixed(Bytes::new(10_000)),
                interval: Time::from_ms(40),
                persistent: false,
            },
            from: (0..clients).collect(),
            to: vec![clients],
            start: Time::ZERO,
            stop: None,
            jitter: Time::ZERO,
            tcp: Config { mss: 1_000, initial_window: 2, max_window: None, ..reference_tcp(0) },
            after: None,
        }],
        seed: 1,
        ..WorldSpec::default()
    }
}

/// Names what became of every flow and link.
pub fn digest(world: &World) -> String {
    Digest::default().of(world)
}

/// FNV-1a.
struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Digest {
    fn add(&mut self, values: &[u64]) {
        for byte in values.iter().flat_map(|value| value.to_le_bytes()) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    fn flow(&mut self, flow: &FlowRecord) {
        let (ended, totals) = (flow.ended.unwrap_or(Time::MAX), flow.totals);
        let ends = [flow.from.into(), flow.to.into()];
        self.add(&[ends[0], ends[1], ended.as_ps(), flow.bytes, totals.retransmissions, totals.timeouts]);
    }
    /// Adds the rest: the flows still there, and the links.
    fn of(mut self, world: &World) -> String {
        self.add(&[world.now().as_ps()]);
        world.transport().flows().iter().for_each(|flow| self.flow(flow));
        for link in world.packets().into_iter().flat_map(PacketTransport::links) {
            let counters = link.counters();
            self.add(&[counters.packets, counters.bytes, counters.drops, counters.longest_queue]);
        }
        self.hex()
    }
    fn hex(&self) -> String {
        format!("{:016x}", self.0)
    }
}

fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Runs ns-2 on the same workload, if it is installed, and reads the CPU time that the shell has counted for it.
fn ns2_cpu_seconds(name: &str) -> Option<f64> {
    let arguments = match name {
        "shuffle-8x64MB" => "8 64",
        "shuffle-16x16MB" => "16 16",
        _ => return None,
    };
    let command = format!("ns /dev/stdin {arguments} >/dev/null 2>&1 && times");
    let mut shell =
        Command::new("sh").args(["-c", &command]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
    // Without ns-2 nobody reads the script, and the shell ends with an error.
    let _ = shell.stdin.take()?.write_all(include_bytes!("../../../benches/shuffle.tcl"));
    let output = shell.wait_with_output().ok().filter(|output| output.status.success())?;
    // The second line is user and system time of the shell's children, each like 0m2.527s.
    let text = String::from_utf8(output.stdout).ok()?;
    let seconds = |time: &str| {
        let (minutes, seconds) = time.trim_end_matches('s').split_once('m')?;
        Some(minutes.parse::<f64>().ok()? * 60.0 + seconds.parse::<f64>().ok()?)
    };
    text.lines().nth(1)?.split_whitespace().map(seconds).sum()
}

/// Linux forgets the peak when told to; elsewhere the peak is that of the whole process.
fn forget_peak_memory() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()).map_or(0, |kib| kib * 1_024)
}
