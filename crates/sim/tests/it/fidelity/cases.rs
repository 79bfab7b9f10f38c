//! The set-ups of the tables, and how each is run.

use crate::reference::{
    Dumbbell, INCAST_ACKNOWLEDGED, Row, Table, dumbbell_linux_table, dumbbell_more_table, dumbbell_table,
    incast_clocks_table, incast_kept_table, incast_more_table, incast_seeds_table, incast_short_more_table,
    incast_short_table, incast_table, incast_with_clocks, shuffle, shuffle_more_table, shuffle_table, tcp,
};
use net::{Discipline, Limit, LinkId};
use sim::world::World;
use std::fmt::Write;
use tcp::control::{ControlKind, IncreaseRule};
use tcp::{Config, IdleRestart, Recovery, ReductionBase};
use traffic::TrafficKind;
use units::{BitRate, Time};

/// What is compared.
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    pub column: &'static str,
    pub name: &'static str,
    /// Differences up to this are none.
    pub resolution: f64,
}

const GOODPUT_WARM: Quantity = Quantity { column: "goodput_warm_mbps", name: "goodput, Mbit/s", resolution: 0.0 };
const QUEUE: Quantity = Quantity { column: "qmean_warm", name: "mean queue, packets", resolution: 0.5 };
const DROPS: Quantity = Quantity { column: "drops", name: "drops", resolution: 2.0 };
/// Where the wire loses: in ns-2 the monitor counts both.
const DROPS_AND_LOSSES: Quantity = Quantity { column: "drops", name: "drops and losses", resolution: 2.0 };
const MARKS: Quantity = Quantity { column: "marks", name: "marks", resolution: 2.0 };
const GOODPUT: Quantity = Quantity { column: "goodput_mbps", name: "goodput, Mbit/s", resolution: 0.0 };
const TIMEOUTS: Quantity = Quantity { column: "timeouts", name: "timeouts", resolution: 2.0 };
const BLOCK: Quantity = Quantity { column: "blk_p50", name: "median block, s", resolution: 0.0 };
const UTILISATION: Quantity = Quantity { column: "util", name: "utilisation", resolution: 0.0 };
const QUEUE_ALL: Quantity = Quantity { column: "qmean", name: "mean queue, packets", resolution: 0.5 };
const DONE: Quantity = Quantity { column: "done", name: "sessions done", resolution: 2.0 };
const SESSION_MEDIAN: Quantity = Quantity { column: "fct_p50", name: "median session, s", resolution: 0.0 };
const SESSION_MEAN: Quantity = Quantity { column: "fct_mean", name: "mean session, s", resolution: 0.0 };
const SESSION_P99: Quantity = Quantity { column: "fct_p99", name: "99 % of sessions, s", resolution: 0.0 };
const COMPLETION: Quantity = Quantity { column: "completion", name: "completion, s", resolution: 0.0 };
const MEDIAN: Quantity = Quantity { column: "fct_p50", name: "median flow, s", resolution: 0.0 };
const MEAN: Quantity = Quantity { column: "fct_mean", name: "mean flow, s", resolution: 0.0 };
const DROPS_HOST: Quantity = Quantity { column: "drops_host", name: "drops at hosts", resolution: 2.0 };
const DROPS_SWITCH: Quantity = Quantity { column: "drops_switch", name: "drops at the switch", resolution: 2.0 };
const HOPS: Quantity = Quantity { column: "hops", name: "packet-hops", resolution: 0.0 };

/// A number of ours.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    pub quantity: Quantity,
    pub ours: f64,
}

/// A change to the settings of TCP.
pub type Change = dyn Fn(&mut Config) + Sync;

/// A run of a set-up with a seed and a change.
type RunWith = dyn Fn(u64, &Change) -> Vec<Found> + Sync;

/// A row of a table.
struct Reference {
    sim: String,
    /// Of a table as given, not measured later.
    given: bool,
    values: Vec<(String, f64)>,
}

/// One set-up: the rows of all seeds of both simulators.
pub struct Case {
    pub family: &'static str,
    pub name: String,
    pub transport: &'static str,
    pub flows: u32,
    pub loss: f64,
    /// A set-up of the tables as given; others were measured later.
    pub given: bool,
    rows: Vec<Reference>,
    run: Box<RunWith>,
    seeds: u64,
}

impl Case {
    /// What a simulator says of a column, by seed; empty if it does not. A negative queue is none: ns-2's monitor takes
    /// off what the wire has lost a second time.
    pub fn reference(&self, sim: &str, column: &str) -> Vec<f64> {
        self.said(column, |row| row.sim == sim)
    }
    /// What both say.
    pub fn references(&self, column: &str) -> Vec<f64> {
        self.said(column, |_| true)
    }
    /// The same without seeds that were measured later.
    pub fn references_given(&self, column: &str) -> Vec<f64> {
        self.said(column, |row| row.given)
    }
    fn said(&self, column: &str, of: impl Fn(&Reference) -> bool) -> Vec<f64> {
        let rows = self.rows.iter().filter(|row| of(row));
        let values = rows.filter_map(|row| row.values.iter().find(|(name, _)| name == column).map(|(_, v)| *v));
        values.filter(|value| *value >= 0.0).collect()
    }
    /// Runs it, and takes the mean over the seeds.
    pub fn run(&self) -> Vec<Found> {
        self.run_with(&|_| {})
    }
    /// The same with another setting of TCP.
    pub fn run_with(&self, change: &Change) -> Vec<Found> {
        let runs: Vec<Vec<Found>> = (1..=self.seeds).map(|seed| (self.run)(seed, change)).collect();
        let mean = |at: usize| runs.iter().map(|run| run[at].ours).sum::<f64>() / runs.len() as f64;
        let said = |found: &Found| !self.references(found.quantity.column).is_empty();
        let means = runs[0].iter().enumerate().map(|(at, found)| Found { ours: mean(at), ..*found });
        means.filter(said).collect()
    }
}

/// Whose numbers a family's are held against.
pub fn simulators(family: &str) -> &'static [(&'static str, &'static str)] {
    match family {
        "hosts" => &[("linux", "Linux")],
        _ => &[("ns2", "ns-2"), ("ns3", "ns-3")],
    }
}

pub fn heading(family: &str) -> &'static str {
    match family {
        "hosts" => "Long flows of a Linux host (`dumbbell_linux.csv`): its own TCP over an emulated bottleneck",
        "dumbbell" => {
            "Long flows over a bottleneck (`dumbbell_long.csv`): goodput and queue after the warm-up, drops in all"
        }
        "incast" => "Barrier-synchronised reads (`incast_barrier.csv`): 1 Gbit/s, port of 64 packets",
        "short" => {
            "Short sessions (`incast_short.csv`): ten segments of 1000 B every 40 ms from each client, 2 Gbit/s, 128 packets"
        }
        _ => "All to all over a switch (`shuffle_wired.csv`): 1 Gbit/s, 50 us a link, 128 packets everywhere",
    }
}

type SetUp = fn(&mut Config);

/// What a table calls a transport, and what it is here. ns-2's plain Reno has no counterpart: RFC 6582 has replaced it.
/// Both simulators grow NewReno and SACK per acknowledgement, and halve ns-2's `window()`. The controls that they took
/// from Linux count segments, cut a part of cwnd, and recover as Linux did, not as Sack1; ns-2's are of before 4.2.
fn transport(name: &str) -> Option<(&'static str, SetUp)> {
    fn plain(tcp: &mut Config) {
        (tcp.increase, tcp.reduction_base) = (IncreaseRule::PerAck, ReductionBase::Window);
    }
    fn linux(tcp: &mut Config, control: ControlKind) {
        (tcp.control, tcp.recovery, tcp.reduction_base) = (control, Recovery::Rfc6675, ReductionBase::Window);
        tcp.start_at_ssthresh = true;
    }
    Some(match name {
        "NewReno" => ("NewReno", |tcp| {
            plain(tcp);
            tcp.sack = false;
        }),
        "Sack" | "Sack1" => ("SACK", plain),
        "Linux-reno" | "LinuxReno" => ("Linux Reno", |tcp| linux(tcp, ControlKind::Reno)),
        "Linux-cubic" | "Cubic" => ("CUBIC", |tcp| linux(tcp, ControlKind::Cubic)),
        "Linux-westwood" | "Westwood+" => ("Westwood+", |tcp| linux(tcp, ControlKind::Westwood)),
        "Vegas" => ("Vegas", |tcp| tcp.control = ControlKind::Vegas),
        "Bbr" => ("BBR", |tcp| linux(tcp, ControlKind::BbrDraft)),
        "Dctcp" => ("DCTCP", |tcp| {
            linux(tcp, ControlKind::Dctcp);
            // ns-3 alone has it, by the later rule.
            (tcp.ecn, tcp.start_at_ssthresh) = (true, false);
        }),
        _ => return None,
    })
}

fn numbers(table: &Table, row: Row<'_>) -> Reference {
    let values = table.header().iter().filter_map(|name| Some((name.clone(), row.text(name).parse().ok()?)));
    Reference { sim: row.text("sim").to_owned(), given: true, values: values.collect() }
}

/// Adds a row to the case of its name, or makes that case.
fn add(cases: &mut Vec<Case>, case: Case) {
    match cases.iter_mut().find(|other| other.family == case.family && other.name == case.name) {
        Some(other) => {
            other.rows.extend(case.rows);
            other.given |= case.given;
        }
        None => cases.push(case),
    }
}

type Family = fn(&Table, Row<'_>) -> Option<Case>;

pub fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    let families: [(Family, Table, bool); 12] = [
        (dumbbell, dumbbell_table(), true),
        (dumbbell, dumbbell_more_table(), false),
        (incast, incast_table(), true),
        (incast, incast_seeds_table(), false),
        (incast_with_restart, incast_more_table(), false),
        (incast_where_clocks_differ, incast_clocks_table(), false),
        (short_sessions, incast_short_table(), true),
        (short_sessions, incast_short_more_table(), false),
        (short_sessions, incast_kept_table(), false),
        (wired_shuffle, shuffle_table(), true),
        (wired_shuffle, shuffle_more_table(), false),
        (hosts, dumbbell_linux_table(), false),
    ];
    for (read, table, given) in families {
        for case in table.rows(&[]).into_iter().filter_map(|row| read(&table, row)) {
            let rows = case.rows.into_iter().map(|row| Reference { given, ..row }).collect();
            add(&mut cases, Case { given, rows, ..case });
        }
    }
    cases
}

fn dumbbell(table: &Table, row: Row<'_>) -> Option<Case> {
    let (name, set) = transport(row.text("proto"))?;
    let (flows, mbps) = (row.number("nf") as u32, row.number("bw") as u64);
    let (rtt_ms, loss, length) = (row.number("rtt"), row.number("loss"), row.number("T") as u64);
    // 44 segments are what 64 KB hold.
    let window = [44.0, 65_535.0].contains(&row.number("wnd")).then_some(44);
    let mark = row.text("ecnk").parse().ok().filter(|k: &u32| *k > 0);
    let plural = if flows == 1 { "flow" } else { "flows" };
    let mut title = format!("{flows} {name} {plural}, {mbps} Mbit/s, {rtt_ms} ms");
    if loss > 0.0 {
        write!(title, ", loss {} %", loss * 100.0).unwrap();
    }
    if window.is_some() {
        title += ", window 64 KB";
    }
    let run = move |seed, change: &Change| {
        let mut set_up = Dumbbell::new(flows, mbps, 40, length);
        set_up.seed = seed;
        set_up.set_round_trip(Time::from_secs_f64(rtt_ms * 1e-3));
        if loss > 0.0 {
            set_up = set_up.loss(loss, seed);
        }
        if let Some(k) = mark {
            (set_up.queue, set_up.warm) = (500, 1);
            set_up.discipline = Discipline::Threshold { mark_above: Limit::Packets(k) };
            set_up.tcp.initial_window = 10;
        }
        set(&mut set_up.tcp);
        if let Some(window) = window {
            set_up = set_up.window(window);
        }
        change(&mut set_up.tcp);
        let got = set_up.run();
        let drops = if loss > 0.0 { DROPS_AND_LOSSES } else { DROPS };
        let mut found = vec![
            Found { quantity: GOODPUT_WARM, ours: got.goodput },
            Found { quantity: QUEUE, ours: got.queue },
            Found { quantity: drops, ours: (got.drops + got.lost) as f64 },
        ];
        if mark.is_some() {
            found.push(Found { quantity: MARKS, ours: got.marks as f64 });
        }
        found
    };
    let mut numbers = numbers(table, row);
    if loss > 0.0 && numbers.sim == "ns3" {
        // ns-3's device tells them apart.
        let lost = numbers.values.iter().find(|(name, _)| name == "lossdrops").map(|(_, lost)| *lost);
        if let Some(lost) = lost {
            numbers.values.iter_mut().filter(|(name, _)| name == "drops").for_each(|(_, drops)| *drops += lost);
        } else {
            numbers.values.retain(|(name, _)| name != "drops");
        }
    }
    Some(Case {
        family: "dumbbell",
        name: title,
        transport: name,
        flows,
        loss,
        given: true,
        rows: vec![numbers],
        run: Box::new(run),
        // Where the wire loses, a few early losses decide.
        seeds: if loss > 0.0 { 8 } else { 3 },
    })
}

/// Hosts as they are by default, with RACK, as all of Linux's.
fn hosts(table: &Table, row: Row<'_>) -> Option<Case> {
    let (name, control) = match row.text("proto") {
        "bbr" => ("BBR", ControlKind::Bbr),
        "cubic" => ("CUBIC", ControlKind::Cubic),
        "reno" => ("Reno", ControlKind::Reno),
        _ => return None,
    };
    let (flows, mbps, length) = (row.number("nf") as u32, row.number("bw") as u64, row.number("T") as u64);
    let (rtt_ms, each) = (row.number("rtt") as u64, row.text("acks") == "each");
    let plural = if flows == 1 { "flow" } else { "flows" };
    let run = move |seed, change: &Change| {
        let mut set_up = Dumbbell::new(flows, mbps, rtt_ms, length);
        set_up.seed = seed;
        set_up.tcp = Config { control, recovery: Recovery::Rack, ..Config::default() };
        if each {
            set_up.tcp.delayed_ack = None;
        }
        change(&mut set_up.tcp);
        let got = set_up.run();
        vec![
            Found { quantity: GOODPUT_WARM, ours: got.goodput },
            Found { quantity: QUEUE, ours: got.queue },
            Found { quantity: DROPS, ours: got.drops as f64 },
        ]
    };
    Some(Case {
        family: "hosts",
        name: format!(
            "{flows} {name} {plural}, {mbps} Mbit/s, {rtt_ms} ms{}",
            if each { ", ACK per segment" } else { "" }
        ),
        transport: name,
        flows,
        loss: 0.0,
        given: false,
        rows: vec![numbers(table, row)],
        run: Box::new(run),
        seeds: 3,
    })
}

fn incast(table: &Table, row: Row<'_>) -> Option<Case> {
    barrier_reads(table, row, IdleRestart::Off, 0.0)
}

/// ns-2 by its own default, as `incast.tcl` runs it: what has waited for others' timeouts begins with one segment.
fn incast_with_restart(table: &Table, row: Row<'_>) -> Option<Case> {
    barrier_reads(table, row, IdleRestart::Ns2, 0.0)
}

/// The rates of the servers' links differ by up to 100 ppm either way.
fn incast_where_clocks_differ(table: &Table, row: Row<'_>) -> Option<Case> {
    let idle_restart = if row.text("restart") == "1" { IdleRestart::Ns2 } else { IdleRestart::Off };
    let case = barrier_reads(table, row, idle_restart, 1e-4)?;
    let idle = if idle_restart == IdleRestart::Ns2 { ", ns-2's idle rule" } else { "" };
    Some(Case { name: format!("{}, clocks to 100 ppm{idle}", case.name), ..case })
}

fn barrier_reads(table: &Table, row: Row<'_>, idle_restart: IdleRestart, clocks: f64) -> Option<Case> {
    let (name, set) = transport(row.text("proto"))?;
    let (servers, bytes) = (row.number("N") as u32, row.number("sru") as u64);
    let min_rto_ms = row.number("minrto") * 1e3;
    // The tables stop at 300 blocks or 12 s; those of a fine timeout at 200.
    let blocks = if min_rto_ms < 10.0 { 200 } else { 300 };
    let run = move |seed, change: &Change| {
        let mut tcp = Config { min_rto: Time::from_secs_f64(min_rto_ms * 1e-3), idle_restart, ..tcp() };
        set(&mut tcp);
        change(&mut tcp);
        let got = incast_with_clocks(servers, bytes, blocks, tcp, seed, clocks);
        vec![
            Found { quantity: GOODPUT, ours: got.goodput },
            Found { quantity: BLOCK, ours: got.block_p50 },
            Found { quantity: DROPS, ours: got.drops as f64 },
            Found { quantity: TIMEOUTS, ours: got.timeouts as f64 },
        ]
    };
    let mut numbers = numbers(table, row);
    if numbers.sim == "ns2" {
        let block = numbers.values.iter_mut().filter(|(name, _)| name == "blk_p50");
        block.for_each(|(_, value)| *value -= INCAST_ACKNOWLEDGED.as_secs_f64());
    }
    Some(Case {
        family: "incast",
        name: format!("{servers} servers, {} KB, {name}, minimum RTO {min_rto_ms} ms", bytes / 1_024),
        transport: name,
        flows: servers,
        loss: 0.0,
        given: true,
        rows: vec![numbers],
        run: Box::new(run),
        seeds: 5,
    })
}

/// From a sender's last byte at the receiver to its acknowledgement at the sender: where ns-2 alone stops the clock.
const ACKNOWLEDGED: f64 = 1.03e-3;

fn short_sessions(table: &Table, row: Row<'_>) -> Option<Case> {
    let (name, set) = transport(row.text("proto"))?;
    let (clients, access) = (row.number("N") as u32, row.number("access_mbps") as u64);
    let (length, persist) = (row.number("T"), row.text("mode") == "persist");
    let kept = if persist { ", connections kept" } else { "" };
    let run = move |seed, change: &Change| {
        let mut spec = sim::bench::incast_short(clients, BitRate::from_mbps(access));
        spec.seed = seed;
        set(&mut spec.traffic[0].tcp);
        change(&mut spec.traffic[0].tcp);
        if persist {
            // ns-2 opens each connection with its first session.
            spec.traffic[0].jitter = Time::from_ms(40);
        }
        if let TrafficKind::Poisson { persistent, .. } = &mut spec.traffic[0].kind {
            *persistent = persist;
        }
        let mut world = World::new(&spec).unwrap();
        let end = Time::from_secs_f64(length);
        world.run(end);
        let (link, sessions) = (world.packets().unwrap().link(LinkId(2 * clients)), &world.traffic_outcomes()[0]);
        vec![
            Found { quantity: DONE, ours: sessions.completed as f64 },
            Found { quantity: SESSION_MEDIAN, ours: sessions.completion_p50.as_secs_f64() },
            Found { quantity: SESSION_MEAN, ours: sessions.completion_mean.as_secs_f64() },
            Found { quantity: SESSION_P99, ours: sessions.completion_p99.as_secs_f64() },
            Found { quantity: DROPS, ours: link.counters().drops as f64 },
            Found { quantity: UTILISATION, ours: link.busy(end).as_secs_f64() / length },
            Found { quantity: QUEUE_ALL, ours: link.queue_integral(end) as f64 / end.as_ps() as f64 },
        ]
    };
    let mut numbers = numbers(table, row);
    if numbers.sim == "ns2" {
        numbers.values.iter_mut().filter(|(name, _)| name.starts_with("fct_")).for_each(|(_, v)| *v -= ACKNOWLEDGED);
    }
    if persist && table.header().iter().any(|name| name == "agents") {
        // That row counts connections with nothing left to send, not sessions; `incast_kept.csv` has the sessions.
        numbers.values.retain(|(name, _)| name != "done" && !name.starts_with("fct_"));
    }
    Some(Case {
        family: "short",
        name: format!("{clients} clients, {access} Mbit/s, {name}, {length} s{kept}"),
        transport: name,
        flows: clients,
        loss: 0.0,
        given: true,
        rows: vec![numbers],
        run: Box::new(run),
        // Where a link is nearly full a few moments decide what is dropped.
        seeds: if (800..1_000).contains(&clients) { 8 } else { 3 },
    })
}

fn wired_shuffle(table: &Table, row: Row<'_>) -> Option<Case> {
    let (nodes, megabytes) = (row.number("n") as u32, row.number("MB") as u64);
    let window =
        if [45.0].contains(&row.text("wnd").parse().unwrap_or(0.0)) || row.text("buf") == "65536" { 45 } else { 180 };
    let (name, set) = transport(row.text("proto"))?;
    let control = if name == "SACK" { String::new() } else { format!("{name}, ") };
    let run = move |seed, change: &Change| {
        let got = shuffle(nodes, megabytes, seed, |tcp| {
            set(tcp);
            tcp.max_window = Some(window);
            change(tcp);
        });
        vec![
            Found { quantity: COMPLETION, ours: got.completion },
            Found { quantity: MEDIAN, ours: got.median },
            Found { quantity: MEAN, ours: got.mean },
            Found { quantity: DROPS_HOST, ours: got.drops_host as f64 },
            Found { quantity: DROPS_SWITCH, ours: got.drops_switch as f64 },
            Found { quantity: HOPS, ours: got.hops as f64 },
        ]
    };
    let mut numbers = numbers(table, row);
    numbers.values.retain(|(name, value)| name != "hops" || *value > 0.0);
    Some(Case {
        family: "shuffle",
        name: format!("{nodes} nodes, {megabytes} MB, {control}window {window} segments"),
        transport: name,
        flows: nodes * (nodes - 1),
        loss: 0.0,
        given: true,
        rows: vec![numbers],
        run: Box::new(run),
        seeds: 3,
    })
}
