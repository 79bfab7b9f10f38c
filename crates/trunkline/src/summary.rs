//! A run in a hundred columns.

use crate::compare::fit;
use sim::report::Comparison;
use sim::results::{AttemptState, Job, Link, RunResult, TaskKind, TrafficOutcome, Waiting};
use std::fmt::Write;
use units::{Bytes, Time};

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
        "\n{:<20} {:>10} {:>14} {:>12} {:>12} {:>12} {:>12}",
        "traffic", "complete", "goodput", "mean", "median", "99 %", "finished"
    );
    for one in traffic {
        let complete = format!("{}/{}", one.completed, one.begun);
        let finish = one.finish.map_or_else(|| "-".to_owned(), |finish| format!("{finish:.2}"));
        let times = [one.completion_mean, one.completion_p50, one.completion_p99];
        let times = times.map(|time| if one.completed == 0 { "-".to_owned() } else { format!("{time:.2}") });
        let [mean, median, tail] = times;
        let goodput = format!("{:.2}", one.goodput);
        let _ = writeln!(
            text,
            "{:<20} {complete:>10} {goodput:>14} {mean:>12} {median:>12} {tail:>12} {finish:>12}",
            fit(&one.name, 20)
        );
    }
}

fn of_network(text: &mut String, result: &RunResult) {
    let totals = &result.network;
    let share = if totals.packets == 0 { 0.0 } else { totals.drops as f64 / totals.packets as f64 * 100.0 };
    let _ = writeln!(
        text,
        "\nnetwork: {} packets, {} packet-hops, {} dropped ({share:.2} %), {} lost on links",
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
    let load = |link: &Link| link.rate.transmission_time(link.bytes).as_secs_f64() / result.ended_at.as_secs_f64();
    let mut busiest: Vec<_> =
        result.links.iter().filter(|link| link.packets > 0).map(|link| (load(link), link)).collect();
    busiest.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    if !busiest.is_empty() {
        let _ = writeln!(
            text,
            "\n{:<40} {:>14} {:>8} {:>12} {:>10} {:>10}",
            "busiest links", "rate", "used", "dropped", "queue", "most"
        );
    }
    for (load, link) in busiest.into_iter().take(5) {
        let (rate, drops) = (format!("{:.1}", link.rate), grouped(link.drops));
        let used = format!("{:.1} %", load * 100.0);
        let _ = writeln!(
            text,
            "{:<40} {rate:>14} {used:>8} {drops:>12} {:>10.1} {:>10}",
            fit(&link.name, 40),
            link.queue_mean,
            link.queue_max
        );
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
