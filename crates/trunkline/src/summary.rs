//! A run in a hundred columns.

use crate::compare::fit;
use sim::report::Comparison;
use sim::results::{AttemptState, EnergyUse, Job, NodeEnergy, RunResult, TaskKind, TrafficOutcome, Waiting};
use std::fmt::Write;
use units::{Bytes, Energy, Time};

/// The summary of a run.
pub fn of(result: &RunResult) -> String {
    let mut text = format!("{}, seed {}: simulated {:.1}\n", result.name, result.seed, result.ended_at);
    for (i, job) in result.jobs.iter().enumerate() {
        of_job(&mut text, result, i as u32, job);
    }
    if !result.traffic.is_empty() {
        of_traffic(&mut text, &result.traffic);
    }
    of_network(&mut text, result);
    if let Some(energy) = &result.energy {
        of_energy(&mut text, result, energy);
    }
    for event in result.events.iter().take(10) {
        let _ = writeln!(text, "  at {:<12} {}", format!("{:.1}", event.at), fit(&event.detail, 80));
    }
    if result.events.len() > 10 {
        let _ = writeln!(text, "  and {} more events", result.events.len() - 10);
    }
    text
}

/// A run beside the recorded job that it re-does.
pub fn of_comparison(comparison: &Comparison) -> String {
    let mut text = format!("\n{}\n", comparison.title);
    let _ = writeln!(text, "  {:<34} {:>12} {:>12} {:>8}", "", "predicted", "actual", "error");
    for row in &comparison.rows {
        let value = |value: f64| match row.unit {
            "B" => format!("{:.1}", Bytes::new(value as u64)),
            unit => format!("{value:.1} {unit}"),
        };
        let (predicted, actual) = (value(row.predicted), value(row.actual));
        let error = (row.predicted / row.actual - 1.0) * 100.0;
        let _ = writeln!(text, "  {:<34} {predicted:>12} {actual:>12} {error:>+6.1} %", row.name);
    }
    let _ = writeln!(text, "  {}", fit(&comparison.note, 97));
    text
}

fn of_job(text: &mut String, result: &RunResult, index: u32, job: &Job) {
    let _ = write!(text, "\njob {}: {}", job.name, job.state.name());
    if let Some(finish) = job.finish {
        let from_launch = job.launch.map(|launch| finish.saturating_sub(launch));
        let from_submission = finish.saturating_sub(job.submit);
        let _ = match from_launch {
            Some(time) => write!(text, ", {time:.1} from launch, {from_submission:.1} from submission"),
            None => write!(text, ", {from_submission:.1} from submission"),
        };
    }
    text.push('\n');
    if !job.reason.is_empty() {
        let _ = writeln!(text, "  {}", fit(&job.reason, 97));
    }
    let attempts = || result.attempts.iter().filter(move |attempt| attempt.job == index);
    let count = |kind, state| attempts().filter(|attempt| attempt.kind == kind && attempt.state == state).count();
    for (kind, name, tasks) in [(TaskKind::Map, "maps", job.maps), (TaskKind::Reduce, "reducers", job.reduces)] {
        let (failed, killed) = (count(kind, AttemptState::Failed), count(kind, AttemptState::Killed));
        let tried = attempts().filter(|attempt| attempt.kind == kind).count();
        let _ = writeln!(text, "  {tasks} {name} in {tried} attempts, {failed} failed, {killed} killed");
    }
    let bytes = &job.bytes;
    let _ =
        writeln!(text, "  read {:.1} from HDFS, {:.1} of it over the network", bytes.map_input, bytes.hdfs_read_remote);
    let shuffled = bytes.shuffle_local + bytes.shuffle_remote;
    let _ = writeln!(text, "  shuffled {shuffled:.1}, {:.1} of it over the network", bytes.shuffle_remote);
    let _ = writeln!(text, "  map output {:.1}, job output {:.1} before replication", bytes.map_output, bytes.written);
    if !job.phases.is_empty() {
        let _ = writeln!(text, "\n  {:<10} {:>12} {:>12} {:>12}", "phase", "from", "to", "length");
    }
    for phase in &job.phases {
        let length = phase.finish.saturating_sub(phase.start);
        let (start, finish, length) = (seconds(phase.start), seconds(phase.finish), seconds(length));
        let _ = writeln!(text, "  {:<10} {start:>12} {finish:>12} {length:>12}", phase.phase.name());
    }
    of_breakdown(text, job);
}

fn seconds(time: Time) -> String {
    format!("{:.2} s", time.as_secs_f64())
}

fn of_breakdown(text: &mut String, job: &Job) {
    let total = job.breakdown.total().as_secs_f64();
    if total <= 0.0 {
        return;
    }
    let _ = writeln!(text, "\n  where the time went (critical path)");
    let mut parts: Vec<_> = Waiting::ALL.iter().map(|waiting| (*waiting, job.breakdown.of(*waiting))).collect();
    parts.retain(|(_, time)| *time > Time::ZERO);
    parts.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
    for (waiting, time) in parts {
        let share = time.as_secs_f64() / total;
        let bar = "#".repeat((share * 40.0).round() as usize);
        let _ = writeln!(text, "  {:<24} {:>10} {:>6.1} %  {bar}", waiting.name(), seconds(time), share * 100.0);
    }
}

fn of_traffic(text: &mut String, traffic: &[TrafficOutcome]) {
    let _ = writeln!(
        text,
        "\n{:<18} {:>13} {:>14} {:>10} {:>10} {:>10} {:>10} {:>8}",
        "traffic", "complete", "goodput", "mean", "median", "95 %", "99 %", "slowdown"
    );
    for one in traffic {
        let complete = format!("{}/{}", one.completed, one.begun);
        let times = [one.completion_mean, one.completion_p50, one.completion_p95, one.completion_p99];
        let times = times.map(|time| if one.completed == 0 { "-".to_owned() } else { format!("{time:.2}") });
        let slowdown = one.slowdown.map_or_else(|| "-".to_owned(), |slowdown| format!("{:.2}", slowdown.mean));
        row_of_traffic(text, &one.name, &complete, &format!("{:.2}", one.goodput), &times, &slowdown);
        for class in &one.classes {
            let name = class.most.map_or_else(|| "  larger".to_owned(), |most| format!("  up to {most:.0}"));
            let times = &class.completions;
            let times = [times.mean, times.p50, times.p95, times.p99].map(|time| format!("{time:.2}"));
            let slowdown = class.slowdown.map_or_else(|| "-".to_owned(), |slowdown| format!("{:.2}", slowdown.mean));
            row_of_traffic(text, &name, &class.completions.count.to_string(), "", &times, &slowdown);
        }
    }
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
        of_notes(text, &one.name, &notes);
    }
    for one in traffic.iter().filter(|one| one.messages.len() > 1) {
        of_messages(text, one);
    }
}

/// What else there is to say of a traffic, in as many lines as that takes.
fn of_notes(text: &mut String, name: &str, notes: &[String]) {
    let mut line = format!("  {}:", fit(name, 40));
    for (i, note) in notes.iter().enumerate() {
        if line.len() + note.len() > 97 {
            let _ = writeln!(text, "{line}");
            "   ".clone_into(&mut line);
        }
        let comma = if i + 1 < notes.len() { "," } else { "" };
        let _ = write!(line, " {note}{comma}");
    }
    let _ = writeln!(text, "{line}");
}

fn row_of_traffic(text: &mut String, name: &str, count: &str, goodput: &str, times: &[String; 4], slowdown: &str) {
    let [mean, median, most, tail] = times;
    let name = fit(name, 18);
    let _ = writeln!(
        text,
        "{name:<18} {count:>13} {goodput:>14} {mean:>10} {median:>10} {most:>10} {tail:>10} {slowdown:>8}"
    );
}

/// A ping-pong over message sizes: those that are powers of two; the table `messages` has all.
fn of_messages(text: &mut String, traffic: &TrafficOutcome) {
    let title = format!("{}: message", fit(&traffic.name, 28));
    let _ = writeln!(text, "\n{title:<40} {:>14} {:>14} {:>16}", "latency", "longest", "throughput");
    for message in traffic.messages.iter().filter(|message| message.bytes.get().is_power_of_two()) {
        let [latency, longest] = [message.latency, message.latency_most].map(|time| format!("{time:.2}"));
        let throughput = format!("{:.2}", message.throughput);
        let _ = writeln!(
            text,
            "{:<40} {latency:>14} {longest:>14} {throughput:>16}",
            format!("  {} B", grouped(message.bytes.get()))
        );
    }
}

fn of_network(text: &mut String, result: &RunResult) {
    let totals = &result.network;
    let (carried, lost) = match result.field {
        Some(_) => ("frames on the air", "given up on the air"),
        None => ("packet-hops", "lost on links"),
    };
    let share = if totals.packets == 0 { 0.0 } else { totals.drops as f64 / totals.packets as f64 * 100.0 };
    let _ = writeln!(
        text,
        "\nnetwork: {} packets, {} {carried}, {} dropped ({share:.2} %), {} {lost}",
        grouped(totals.packets),
        grouped(totals.hops),
        grouped(totals.drops),
        grouped(totals.lost),
    );
    let _ = writeln!(
        text,
        "         {} retransmissions, {} timeouts, {} zero windows",
        grouped(totals.retransmissions),
        grouped(totals.timeouts),
        grouped(totals.zero_windows),
    );
    let mut busiest: Vec<_> = result.links.iter().filter(|link| link.packets > 0).collect();
    busiest.sort_by(|a, b| b.used.total_cmp(&a.used));
    if !busiest.is_empty() {
        let _ = writeln!(
            text,
            "\n{:<34} {:>14} {:>8} {:>11} {:>8} {:>6} {:>6} {:>6}",
            "busiest links", "rate", "used", "dropped", "queue", "median", "99 %", "most"
        );
    }
    for link in busiest.into_iter().take(5) {
        let (rate, drops) = (format!("{:.1}", link.rate), grouped(link.drops));
        let used = format!("{:.1} %", link.used * 100.0);
        let quantile = |part| link.queue_quantile(part).map_or_else(|| "-".to_owned(), |packets| packets.to_string());
        let _ = writeln!(
            text,
            "{:<34} {rate:>14} {used:>8} {drops:>11} {:>8.1} {:>6} {:>6} {:>6}",
            fit(&link.name, 34),
            link.queue_mean,
            quantile(0.5),
            quantile(0.99),
            link.queue_max
        );
    }
}

/// What nodes drew, in all and those that drew most; a job's part of it where there is one.
fn of_energy(text: &mut String, result: &RunResult, energy: &EnergyUse) {
    let joules = |energy: Energy| format!("{:.1}", energy.as_joules());
    let _ = writeln!(
        text,
        "\n{:<34} {:>10} {:>10} {:>10} {:>10} {:>10} {:>8}",
        "energy in J", "total", "being on", "screen", "cores", "radio", "battery"
    );
    let mut row = |name: &str, parts: [Energy; 4], battery: &str| {
        let [idle, screen, cores, radio] = parts.map(joules);
        let total = joules(parts.into_iter().sum());
        let name = fit(name, 34);
        let _ = writeln!(text, "{name:<34} {total:>10} {idle:>10} {screen:>10} {cores:>10} {radio:>10} {battery:>8}");
    };
    let parts = |node: &NodeEnergy| [node.idle, node.screen, node.processor, node.radio];
    let sum = |all: [Energy; 4], node: &NodeEnergy| {
        let one = parts(node);
        std::array::from_fn(|part| all[part] + one[part])
    };
    row("all nodes", energy.nodes.iter().fold([Energy::default(); 4], sum), "");
    let mut most: Vec<&NodeEnergy> = energy.nodes.iter().collect();
    most.sort_by_key(|node| std::cmp::Reverse(node.total()));
    for node in most.into_iter().take(5) {
        let left = |(whole, left): (Energy, Energy)| format!("{:.1} %", left.as_joules() / whole.as_joules() * 100.0);
        let battery = node.battery.map_or_else(String::new, left);
        row(&result.nodes[node.node as usize].name, parts(node), &battery);
    }
    for (job, drawn) in result.jobs.iter().zip(&energy.jobs) {
        if let Some(drawn) = drawn {
            let _ = writeln!(text, "  job {}: {} J from submission to finish", fit(&job.name, 40), joules(*drawn));
        }
    }
    if let Some(empty) = energy.first_empty() {
        let _ = writeln!(text, "  the first battery was empty at {empty:.1}");
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
