//! A run as text.

use crate::estimates::number;
use crate::number::off_by;
use crate::screen::Screen;
use crate::summary_jobs::of_jobs;
use crate::summary_spark::of_spark;
use crate::table::Table;
use results::findings::{Finding, Rule, Severity};
use results::page::Comparison;
use results::{
    ArrayLosses, AttemptState, BlockLosses, Breakdown, Cost, DisksEnergy, EnergyUse, FEW_JOBS, Job, JobState, Losses,
    NodeEnergy, Offload, RunResult, TaskKind, TrafficOutcome, Waiting,
};
use std::collections::BTreeMap;
use std::fmt::Write;
use units::{Bytes, Energy, Time, many};

/// A client whose job takes so much longer than from submission on was held up before.
const LONG_BEFORE: Time = Time::from_secs(30);
/// At most this many events are listed.
const EVENTS: usize = 10;
/// At most this many links, and nodes by what they drew, are listed.
const ROWS: usize = 5;
/// At most this many findings of a job are listed, and of all jobs together.
const FINDINGS: usize = 5;
const ALL_FINDINGS: usize = 15;
/// Columns of the longest bar.
const BAR: f64 = 40.0;

/// The summary of a run.
pub fn of(result: &RunResult, screen: &Screen) -> String {
    let title = format!("{}, seed {}: simulated {:.1}", result.name, result.seed, result.ended_at);
    let mut text = format!("{}\n", screen.heading(&screen.wrapped(&title, 0)));
    if result.jobs.len() > FEW_JOBS {
        of_jobs(&mut text, result, screen);
    } else {
        for (i, job) in result.jobs.iter().enumerate() {
            of_job(&mut text, result, i as u32, job, screen);
        }
    }
    if let Some(spark) = &result.spark {
        of_spark(&mut text, spark, screen);
        breakdown(&mut text, result, &spark.breakdown(), "where the time went (critical path)", screen);
    }
    if !result.traffic.is_empty() {
        of_traffic(&mut text, &result.traffic, screen);
    }
    of_findings(&mut text, result, screen);
    of_network(&mut text, result, screen);
    if let Some(energy) = &result.energy {
        of_energy(&mut text, result, energy, screen);
    }
    if let Some(cost) = &result.cost {
        of_cost(&mut text, cost, screen);
    }
    if let Some(losses) = &result.losses {
        of_losses(&mut text, losses, screen);
    }
    if !result.events.is_empty() {
        let _ = writeln!(text, "\n{}", screen.heading("events"));
    }
    for event in result.events.iter().take(EVENTS) {
        line(&mut text, screen, &format!("at {:.1}: {}", event.at, event.detail));
    }
    if result.events.len() > EVENTS {
        line(&mut text, screen, &format!("and {} more", grouped((result.events.len() - EVENTS) as u64)));
    }
    text
}

/// Adds a sentence, indented and wrapped.
pub fn line(text: &mut String, screen: &Screen, sentence: &str) {
    let _ = writeln!(text, "{}", screen.wrapped(sentence, 2));
}

/// The causes of many jobs, by rule.
fn of_all_findings(text: &mut String, result: &RunResult, screen: &Screen) {
    let mut rules: BTreeMap<Rule, Vec<&Finding>> = BTreeMap::new();
    for finding in &result.findings {
        rules.entry(finding.rule).or_default().push(finding);
    }
    let mut rows: Vec<(Time, Rule, Vec<&Finding>)> =
        rules.into_iter().map(|(rule, found)| (found.iter().map(|finding| finding.cost).sum(), rule, found)).collect();
    rows.sort_by_key(|(cost, rule, _)| (std::cmp::Reverse(*cost), *rule));
    let heads = ["why jobs took so long", "jobs", "time", "worst"];
    let mut table = Table::new(heads);
    for (cost, rule, found) in rows {
        let worst = found.iter().max_by_key(|finding| (finding.cost, std::cmp::Reverse(finding.job)));
        let worst = worst.and_then(|finding| Some((result.jobs.get(finding.job? as usize)?, finding.cost)));
        let worst = worst.map(|(job, cost)| format!("{}, {}", job.name, seconds(cost))).unwrap_or_default();
        table.row([rule.name().to_owned(), found.len().to_string(), seconds(cost), worst]);
    }
    let _ = write!(text, "\n{}", table.shown(screen));
}

/// Why jobs took as long as they did.
fn of_findings(text: &mut String, result: &RunResult, screen: &Screen) {
    if result.jobs.len() > FEW_JOBS {
        if !result.findings.is_empty() {
            of_all_findings(text, result, screen);
        }
        return;
    }
    let mut shown: BTreeMap<Option<u32>, usize> = BTreeMap::new();
    let mut listed = 0;
    for finding in &result.findings {
        let count = shown.entry(finding.job).or_default();
        if *count == FINDINGS || listed == ALL_FINDINGS {
            continue;
        }
        if *count == 0 {
            let job = finding.job.and_then(|job| result.jobs.get(job as usize)).filter(|_| result.jobs.len() > 1);
            let of = job.map_or_else(|| "why".to_owned(), |job| format!("why {} took so long", job.name));
            let _ = writeln!(text, "\n{}", screen.heading(&of));
        }
        *count += 1;
        listed += 1;
        let paint = if finding.severity >= Severity::Severe { Screen::bad } else { Screen::doubtful };
        let head = format!("{} ({}, {})", finding.rule.name(), finding.severity.name(), seconds(finding.cost));
        let _ = writeln!(text, "{}", screen.wrapped_after(&head, paint, &format!(": {}", finding.summary), 0));
        let whose = if finding.job.is_some() { "Hadoop" } else { "Spark" };
        let settings =
            if finding.property.is_empty() { String::new() } else { format!(" {whose}: {}.", finding.property) };
        let _ = writeln!(text, "{}", screen.wrapped(&format!("{}.", finding.evidence), 2));
        let _ = writeln!(text, "{}", screen.wrapped(&format!("{}{settings} Key: {}.", finding.advice, finding.key), 2));
    }
    let left = result.findings.len() - listed;
    if left > 0 {
        line(text, screen, &format!("and {left} more, in result.json and on the page"));
    }
}

/// A run beside the recorded job that it re-does.
pub fn of_comparison(comparison: &Comparison, screen: &Screen) -> String {
    let mut text = format!("\n{}\n", screen.heading(&screen.wrapped(&comparison.title, 0)));
    let mut table = Table::new(["", "predicted", "recorded", "error"]).indented(2);
    for row in &comparison.rows {
        let value = |value: f64| match row.unit {
            "B" => format!("{:.1}", Bytes::new(value as u64)),
            unit => format!("{value:.1} {unit}"),
        };
        let error = off_by(row.predicted / row.actual - 1.0);
        table.row([row.name.clone(), value(row.predicted), value(row.actual), error]);
    }
    text.push_str(&table.shown(screen));
    line(&mut text, screen, &comparison.note);
    text
}

fn of_job(text: &mut String, result: &RunResult, index: u32, job: &Job, screen: &Screen) {
    let mut rest = String::new();
    if let Some(finish) = job.finish {
        let from_submission = finish.saturating_sub(job.submit);
        if let Some(launch) = job.launch {
            let _ = write!(rest, ", {:.1} from launch", finish.saturating_sub(launch));
        }
        let _ = write!(rest, ", {from_submission:.1} from submission");
        if let Some(client) = job.client_wall {
            let _ = write!(rest, ", {client:.1} for its client");
            // A client that is long to start has not waited for anybody.
            if client.saturating_sub(from_submission).min(job.submit) > LONG_BEFORE {
                let _ = write!(rest, ", which submitted it at {:.1}", job.submit);
            }
        }
    }
    let head = format!("job {}: {}", job.name, job.state.name());
    let paint = if job.state == JobState::Succeeded { Screen::good } else { Screen::bad };
    let _ = writeln!(text, "\n{}", screen.wrapped_after(&head, paint, &rest, 0));
    if !job.reason.is_empty() {
        line(text, screen, &job.reason);
    }
    let attempts = || result.attempts.iter().filter(move |attempt| attempt.job == index);
    let count = |kind, state| attempts().filter(|attempt| attempt.kind == kind && attempt.state == state).count();
    for (kind, one, tasks) in [(TaskKind::Map, "map", job.maps), (TaskKind::Reduce, "reducer", job.reduces)] {
        let (failed, killed) = (count(kind, AttemptState::Failed), count(kind, AttemptState::Killed));
        let tried = attempts().filter(|attempt| attempt.kind == kind).count();
        let (tasks, tried) = (many(tasks as usize, one), many(tried, "attempt"));
        line(text, screen, &format!("{tasks} in {tried}, {failed} failed, {killed} killed"));
    }
    let bytes = &job.bytes;
    if let Some(read) = bytes.store_read {
        line(text, screen, &format!("read {read:.1} from the object store"));
    } else {
        let (read, far) = (bytes.map_input, bytes.hdfs_read_remote);
        line(text, screen, &format!("read {read:.1} from HDFS, {far:.1} of it over the network"));
    }
    let shuffled = bytes.shuffle_local + bytes.shuffle_remote;
    line(text, screen, &format!("shuffled {shuffled:.1}, {:.1} of it over the network", bytes.shuffle_remote));
    let (map_output, written) = (bytes.map_output, bytes.written);
    // Only output in the object store has a commit.
    let place = if job.commit.is_some() { "to the object store" } else { "before replication" };
    line(text, screen, &format!("map output {map_output:.1}, job output {written:.1} {place}"));
    if !job.phases.is_empty() {
        let mut table = Table::new(["phase", "from", "to", "length"]).indented(2);
        for phase in &job.phases {
            let length = phase.finish.saturating_sub(phase.start);
            let times = [phase.start, phase.finish, length].map(seconds);
            table.row([phase.phase.name().to_owned()].into_iter().chain(times));
        }
        let _ = write!(text, "\n{}", table.shown(screen));
    }
    breakdown(text, result, &job.breakdown, "where the time went (critical path)", screen);
}

fn seconds(time: Time) -> String {
    format!("{:.2} s", time.as_secs_f64())
}

/// Adds a table of causes of waiting, the longest first.
pub fn breakdown(text: &mut String, result: &RunResult, of: &Breakdown, heading: &str, screen: &Screen) {
    let total = of.total().as_secs_f64();
    if total <= 0.0 {
        return;
    }
    let mut parts: Vec<_> = Waiting::ALL.iter().map(|waiting| (*waiting, of.of(*waiting))).collect();
    parts.retain(|(_, time)| *time > Time::ZERO);
    parts.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
    // What the other columns leave of a narrow screen.
    let longest = BAR.min(screen.width.saturating_sub(50) as f64).max(8.0);
    let mut table = Table::new(["", "time", "share", ""]).indented(2).bars(3);
    for (waiting, time) in parts {
        let share = time.as_secs_f64() / total;
        let bar = "#".repeat((share * longest).round() as usize);
        // Flows have no queues of packets: a message waits until an interface has done with those before it.
        let by_flows = waiting == Waiting::Queueing && !result.has_packets();
        let name = if by_flows { "waiting behind other messages" } else { waiting.name() };
        table.row([name.to_owned(), seconds(time), format!("{:.1} %", share * 100.0), bar]);
    }
    let heading = screen.heading(heading);
    let _ = write!(text, "\n  {heading}\n{}", table.shown(screen));
}

fn of_traffic(text: &mut String, traffic: &[TrafficOutcome], screen: &Screen) {
    let heads = ["traffic", "complete", "goodput", "mean", "median", "95 %", "99 %", "slowdown"];
    let mut table = Table::new(heads).optional(&[7, 5, 4, 3]);
    for one in traffic {
        let complete = format!("{}/{}", one.completed, one.begun);
        let times = [one.completion_mean, one.completion_p50, one.completion_p95, one.completion_p99];
        let times = times.map(|time| if one.completed == 0 { "-".to_owned() } else { format!("{time:.2}") });
        let slowdown = one.slowdown.map_or_else(|| "-".to_owned(), |slowdown| format!("{:.2}", slowdown.mean));
        let first = [one.name.clone(), complete, format!("{:.2}", one.goodput)];
        table.row(first.into_iter().chain(times).chain([slowdown]));
        for class in &one.classes {
            let name = class.most.map_or_else(|| "- larger".to_owned(), |most| format!("- up to {most:.0}"));
            let times = &class.completions;
            let count = times.count.to_string();
            let times = [times.mean, times.p50, times.p95, times.p99].map(|time| format!("{time:.2}"));
            let slowdown = class.slowdown.map_or_else(|| "-".to_owned(), |slowdown| format!("{:.2}", slowdown.mean));
            table.row([name, count, String::new()].into_iter().chain(times).chain([slowdown]));
        }
    }
    let _ = write!(text, "\n{}", table.shown(screen));
    for one in traffic {
        let mut notes = Vec::new();
        if let Some(finish) = one.finish {
            notes.push(format!("finished at {finish:.2}"));
        }
        if one.failed > 0 {
            notes.push(format!("{} failed", grouped(one.failed)));
        }
        if let Some(deadlines) = &one.deadlines {
            notes.push(format!(
                "{} of {} queries later than {:.1} ({:.1} %)",
                grouped(deadlines.missed),
                grouped(deadlines.queries),
                deadlines.deadline,
                deadlines.missed_share() * 100.0
            ));
        }
        if one.drops > 0 {
            notes.push(format!("{} drops, {} timeouts", grouped(one.drops), grouped(one.timeouts)));
        }
        notes.push(format!("Jain {:.3}", one.jain));
        line(text, screen, &format!("{}: {}", one.name, notes.join(", ")));
    }
    for one in traffic.iter().filter(|one| one.messages.len() > 1) {
        of_messages(text, one, screen);
    }
}

/// A ping-pong over message sizes: those that are powers of two; the table `messages` has all.
fn of_messages(text: &mut String, traffic: &TrafficOutcome, screen: &Screen) {
    let head = format!("{}: message", traffic.name);
    let mut table = Table::new([head.as_str(), "latency", "longest", "throughput"]).optional(&[2]);
    for message in traffic.messages.iter().filter(|message| message.bytes.get().is_power_of_two()) {
        let [latency, longest] = [message.latency, message.latency_most].map(|time| format!("{time:.2}"));
        let throughput = format!("{:.2}", message.throughput);
        table.row([format!("{} B", grouped(message.bytes.get())), latency, longest, throughput]);
    }
    let _ = write!(text, "\n{}", table.shown(screen));
}

fn of_network(text: &mut String, result: &RunResult, screen: &Screen) {
    let Some(totals) = &result.network else {
        let said = ": messages as flows; queues and what they drop only where bursts overflow them";
        let _ = writeln!(text, "\n{}", screen.wrapped_after("network", Screen::heading, said, 0));
        return;
    };
    let (carried, lost) = match result.field {
        Some(_) => ("frames on the air", "given up on the air"),
        None => ("packet-hops", "lost on links"),
    };
    let share = if totals.packets == 0 { 0.0 } else { totals.drops as f64 / totals.packets as f64 * 100.0 };
    let so_many = |count: u64, one: &str| format!("{} {one}{}", grouped(count), if count == 1 { "" } else { "s" });
    let packets = format!(
        ": {}, {} {carried}, {} dropped ({share:.2} %), {} {lost}, {}, {}, {}",
        so_many(totals.packets, "packet"),
        grouped(totals.hops),
        grouped(totals.drops),
        grouped(totals.lost),
        so_many(totals.retransmissions, "retransmission"),
        so_many(totals.timeouts, "timeout"),
        so_many(totals.zero_windows, "zero window"),
    );
    let _ = writeln!(text, "\n{}", screen.wrapped_after("network", Screen::heading, &packets, 0));
    let mut busiest: Vec<_> = result.links.iter().filter(|link| link.packets > 0).collect();
    busiest.sort_by(|a, b| b.used.total_cmp(&a.used));
    if busiest.is_empty() {
        return;
    }
    busiest.truncate(ROWS);
    // For how long a queue had which length is counted on the air, elsewhere with `run.occupancy`.
    let counted = busiest.iter().any(|link| link.queue_quantile(0.5).is_some());
    let mut heads = vec!["busiest links", "rate", "used", "dropped", "queue", "most"];
    if counted {
        heads.splice(5..5, ["median", "99 %"]);
    }
    let mut table = Table::new(heads).optional(if counted { &[5, 6, 7, 4] } else { &[5, 4] });
    for link in busiest {
        let quantile = |part| link.queue_quantile(part).map_or_else(|| "-".to_owned(), |packets| packets.to_string());
        let mut row = vec![
            link.name.clone(),
            format!("{:.1}", link.rate),
            format!("{:.1} %", link.used * 100.0),
            grouped(link.drops),
            format!("{:.1}", link.queue_mean),
            link.queue_max.to_string(),
        ];
        if counted {
            row.splice(5..5, [quantile(0.5), quantile(0.99)]);
        }
        table.row(row);
    }
    let _ = write!(text, "\n{}", table.shown(screen));
}

/// What nodes drew, in all and those that drew most; a job's part of it where there is one.
fn of_energy(text: &mut String, result: &RunResult, energy: &EnergyUse, screen: &Screen) {
    let joules = |energy: Energy| format!("{:.1}", energy.as_joules());
    let with_disks = energy.disks.is_some();
    let mut heads = vec!["energy in J", "total", "being on", "screen", "cores", "radio", "battery"];
    if with_disks {
        heads.insert(6, "disks");
    }
    let mut table = Table::new(heads).optional(if with_disks { &[3, 7, 5, 2] } else { &[3, 6, 2] });
    let mut row = |name: &str, parts: [Energy; 5], battery: String| {
        let total = joules(parts.into_iter().sum());
        let shown = if with_disks { 5 } else { 4 };
        let parts = parts.map(joules).into_iter().take(shown);
        table.row([name.to_owned(), total].into_iter().chain(parts).chain([battery]));
    };
    let parts =
        |node: &NodeEnergy| [node.idle, node.screen, node.processor, node.radio, node.disks.unwrap_or_default()];
    let sum = |all: [Energy; 5], node: &NodeEnergy| {
        let one = parts(node);
        std::array::from_fn(|part| all[part] + one[part])
    };
    if !energy.nodes.is_empty() {
        row("all nodes", energy.nodes.iter().fold([Energy::default(); 5], sum), String::new());
    }
    let mut most: Vec<&NodeEnergy> = energy.nodes.iter().collect();
    most.sort_by_key(|node| std::cmp::Reverse(node.total()));
    for node in most.into_iter().take(ROWS) {
        let left = |(whole, left): (Energy, Energy)| format!("{:.1} %", left.as_joules() / whole.as_joules() * 100.0);
        let battery = node.battery.map_or_else(String::new, left);
        row(&result.nodes[node.node as usize].name, parts(node), battery);
    }
    if !energy.nodes.is_empty() {
        let _ = write!(text, "\n{}", table.shown(screen));
    }
    for (job, drawn) in result.jobs.iter().zip(&energy.jobs).filter(|_| !energy.nodes.is_empty()) {
        if let Some(drawn) = drawn {
            line(text, screen, &format!("job {}: {} J from submission to finish", job.name, joules(*drawn)));
        }
    }
    if with_disks && !energy.nodes.is_empty() {
        let wall: Energy = energy.nodes.iter().map(NodeEnergy::wall).sum();
        line(text, screen, &format!("at the wall {} J", joules(wall)));
    }
    if let Some(disks) = &energy.disks {
        of_disks(text, result, disks, screen);
    }
    if let Some(empty) = energy.first_empty() {
        line(text, screen, &format!("the first battery was empty at {empty:.1}"));
    }
}

/// What it cost, and for what.
fn of_cost(text: &mut String, cost: &Cost, screen: &Screen) {
    let amount = |amount: f64| format!("{} {}", number(amount), cost.currency);
    let parts: Vec<String> = cost.parts().map(|(name, part)| format!("{name} {}", amount(part))).collect();
    let _ = writeln!(text, "\n{}", screen.heading(&format!("cost: {}", amount(cost.total()))));
    line(text, screen, &parts.join(", "));
}

/// How often data are to be expected lost, arrays that are alike together.
fn of_losses(text: &mut String, losses: &Losses, screen: &Screen) {
    let _ = writeln!(text, "\n{}", screen.heading("losses to be expected, by the failure rates of disks"));
    let mut kinds: Vec<(&ArrayLosses, usize)> = Vec::new();
    for array in &losses.arrays {
        let alike = |kind: &ArrayLosses| ArrayLosses { name: array.name.clone(), ..kind.clone() } == *array;
        match kinds.iter_mut().find(|(kind, _)| alike(kind)) {
            Some((_, count)) => *count += 1,
            None => kinds.push((array, 1)),
        }
    }
    for (array, count) in kinds {
        let which = if count == 1 { array.name.clone() } else { format!("{count} arrays such as {}", array.name) };
        let (members, hours, rate) = (array.members, array.repair.as_secs_f64() / 3600.0, array.losses_per_year);
        let each = if count == 1 { "" } else { " each" };
        let said =
            format!("{which}, of {members} disks, filled again in {hours:.2} h: lost {rate:.2e} times a year{each}");
        line(text, screen, &said);
    }
    if let Some(BlockLosses { blocks, sets, repair, losses_per_year, blocks_per_year }) = losses.blocks {
        let said = format!(
            "{} blocks of HDFS on {} sets of disks, made again in {repair:.1}: one or more lost {losses_per_year:.2e} times \
             a year, {blocks_per_year:.2e} blocks a year",
            grouped(blocks),
            grouped(sets)
        );
        line(text, screen, &said);
    }
}

/// What the disks drew, beside what they could have.
fn of_disks(text: &mut String, result: &RunResult, disks: &DisksEnergy, screen: &Screen) {
    let kwh = |energy: Energy| format!("{:.4} kWh", energy.as_joules() / 3.6e6);
    let (drawn, on) = (kwh(disks.drawn), kwh(disks.always_on));
    // Not "-0.0".
    let percent = |part: f64| (part * 1e3).round() / 10.0 + 0.0;
    let (saved, most) = (percent(disks.saved()), percent(disks.ceiling()));
    let _ = writeln!(text, "\n{}", screen.heading("disks"));
    let compared = format!("{} disks drew {drawn}, and without rest {on}: {saved:.1} % saved", disks.disks);
    line(text, screen, &compared);
    let ceiling = format!("at most {most:.1} % could be saved of this run's requests (oracle)");
    let part = disks.of_ceiling().map(|part| format!(": {:.1} % of that was", part * 100.0));
    line(text, screen, &format!("{ceiling}{}", part.unwrap_or_default()));
    let mut causes: BTreeMap<&str, u32> = BTreeMap::new();
    for power in result.disks.iter().filter_map(|disk| disk.power.as_ref()) {
        for (cause, wakes) in power.starts.iter().chain(&power.loads) {
            *causes.entry(cause).or_default() += wakes;
        }
    }
    let causes: Vec<String> = causes.iter().map(|(cause, wakes)| format!("{cause} {wakes}")).collect();
    if causes.is_empty() {
        line(text, screen, "no disk was woken");
    } else {
        let late = disks.late.as_secs_f64();
        let wakes = format!("wakes by cause: {}; requests waited {late:.1} s for disks", causes.join(", "));
        line(text, screen, &wakes);
    }
    let logs: Vec<_> = result.disks.iter().filter_map(|disk| disk.power.as_ref()?.offload).collect();
    if !logs.is_empty() {
        let sum = |of: fn(&Offload) -> Bytes| logs.iter().map(of).sum::<Bytes>();
        let (logged, owed, lost) = (sum(|one| one.logged), sum(|one| one.owed), sum(|one| one.lost));
        let lost = if lost > Bytes::ZERO { format!(", {lost} are lost with a log's disk") } else { String::new() };
        line(text, screen, &format!("{logged} went to logs in place of disks at rest; {owed} are there still{lost}"));
    }
}

/// A count with its thousands apart.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
