//! From a run's results to the page's data.

use super::data::{
    Attempts, Balance, Count, Drawn, Fact, Finding, Flows, Happening, Imbalance, Job, Node, Phase, ReportData, Segment,
    Stalled, Traffic, Waits,
};
use super::{SCHEMA, connections, disks, field, many, place, series, setup, spark};
use crate::job::JOB_BYTES;
use crate::metrics::Row;
use crate::network::NETWORK;
use crate::{AttemptState, Cost, JobState, LinkEnd, NodeLoad, RunResult, TaskKind, Waiting};
use scenario::Scenario;
use units::{Bytes, Energy, Time};

/// Points of the distribution of completion times.
const COMPLETION_POINTS: usize = 400;
/// Events listed; a run with more has them in its Parquet table.
const MOST_EVENTS: usize = 2_000;

/// Parts of a run that are too short to see.
const INVISIBLE: u64 = 5_000;

impl From<&RunResult> for ReportData {
    fn from(result: &RunResult) -> Self {
        Self::new(result, None)
    }
}

impl ReportData {
    /// What the page shows of a run; the scenario adds how it was set up.
    pub fn new(result: &RunResult, scenario: Option<&Scenario>) -> Self {
        let carried = connections::Carried::new(result);
        Self {
            schema: SCHEMA,
            title: result.name.clone(),
            changes: Vec::new(),
            setup: setup::setup(result, scenario),
            scenario: scenario.map(Scenario::to_short_toml).unwrap_or_default(),
            fidelity: if result.has_packets() { "packet" } else { "flow" },
            end_s: result.ended_at.as_secs_f64(),
            jobs: many::jobs(result, &carried),
            spark: result.spark.as_ref().map(|app| spark::spark(app, result)),
            job_classes: many::classes(result),
            stalled: result.stall.as_ref().map(stalled),
            network: network(result),
            cost: result.cost.as_ref().map(cost).unwrap_or_default(),
            ledger: many::ledger(result).iter().map(balance).collect(),
            comparison: None,
            traffic: result.traffic.iter().map(traffic).collect(),
            nodes: result
                .nodes
                .iter()
                .enumerate()
                .map(|(number, node)| node_of_page(node, number as u32, result))
                .collect(),
            imbalance: result.imbalance.iter().map(imbalance).collect(),
            disks: disks::disks(result),
            field: field::field(result),
            attempts: attempts(result),
            recorded: None,
            charts: series::charts(result),
            flows: flows(result, &carried),
            events: events(result),
        }
    }
}

fn cost(cost: &Cost) -> Vec<Fact> {
    let fact = |(name, amount): (&str, f64)| {
        let value = format!("{amount:.4} {}", cost.currency);
        Fact { label: name.to_owned(), value }
    };
    std::iter::once(("all", cost.total())).chain(cost.parts()).map(fact).collect()
}

/// Seconds to the microsecond: short in JSON, and finer than a pixel.
pub(super) fn seconds(time: Time) -> f64 {
    ((time.as_ps() + 500_000) / 1_000_000) as f64 / 1e6
}

pub fn milliseconds(time: Time) -> u64 {
    (time.as_ps() + 500_000_000) / 1_000_000_000
}

fn count(label: &str, value: u64) -> Count {
    Count { label: label.to_owned(), value }
}

fn counts(of: Vec<(&str, u64)>) -> Vec<Count> {
    of.into_iter().map(|(label, value)| count(label, value)).collect()
}

/// What an attempt's phases are, in the page's order: start-up, read, compute, spill, fetch, merge, reduce, write.
const PHASE_KINDS: usize = 8;

const fn phase_number(phase: crate::Phase) -> u8 {
    use crate::Phase;
    match phase {
        Phase::Start => 0,
        Phase::Read => 1,
        Phase::Compute => 2,
        Phase::Spill => 3,
        Phase::Fetch => 4,
        Phase::Merge => 5,
        Phase::Reduce => 6,
        Phase::Write => 7,
    }
}

pub(super) const fn state(state: JobState) -> &'static str {
    match state {
        JobState::Succeeded => "succeeded",
        JobState::Failed => "failed",
        JobState::Unfinished => "unfinished",
    }
}

pub(super) const fn cause(waiting: Waiting) -> &'static str {
    match waiting {
        Waiting::Cpu => "cpu",
        Waiting::Disk => "disk",
        Waiting::Transfer => "transfer",
        Waiting::Queueing => "queueing",
        Waiting::Recovery => "recovery",
        Waiting::TcpTimeout => "tcp_timeout",
        Waiting::Timeout => "timeout",
        Waiting::SecondAttempt => "second_attempt",
        Waiting::Slot => "slot",
        Waiting::StartUp => "startup",
        Waiting::Locality => "locality",
        Waiting::Driver => "driver",
    }
}

pub(super) fn job_of(job: &crate::Job, number: usize, result: &RunResult, carried: &connections::Carried) -> Job {
    let places = place::places(&job.critical_path, result);
    let path = job.critical_path.iter().zip(places).filter(|(segment, _)| segment.finish > segment.start);
    let segment = |(segment, place): (&crate::CriticalSegment, String)| Segment {
        cause: cause(segment.waiting),
        start_s: seconds(segment.start),
        end_s: seconds(segment.finish),
        place,
        detail: segment.detail.clone(),
        flow: carried.row(segment, result),
    };
    Job {
        name: job.name.clone(),
        state: state(job.state),
        reason: job.reason.clone(),
        submit_s: seconds(job.submit),
        launch_s: job.launch.map(seconds),
        finish_s: seconds(job.finish.unwrap_or(result.ended_at)),
        phases: phases(number, result),
        bytes: counts(JOB_BYTES.labelled(Row::new(&job.bytes, result))),
        critical_path: path.map(segment).collect(),
        findings: result
            .findings
            .iter()
            .filter(|finding| finding.job == Some(units::count(number)))
            .map(finding_of)
            .collect(),
    }
}

pub(super) fn finding_of(finding: &crate::findings::Finding) -> Finding {
    Finding {
        rule: finding.rule.name(),
        severity: finding.severity.name(),
        cost_s: seconds(finding.cost),
        summary: finding.summary.clone(),
        evidence: finding.evidence.clone(),
        advice: finding.advice.clone(),
        property: finding.property.clone(),
        key: finding.key,
        attempt: finding.attempt.map_or(-1, i64::from),
        node: finding.node.map_or(-1, i64::from),
    }
}

/// The job's three phases over its successful attempts; they overlap, as the shuffle begins while maps run.
fn phases(job: usize, result: &RunResult) -> Vec<Phase> {
    let own = result.attempts.iter().filter(|a| a.job as usize == job && a.state == AttemptState::Succeeded);
    let mut spans = [("map", None), ("shuffle", None), ("reduce", None)];
    let widen = |span: &mut Option<(Time, Time)>, start: Time, finish: Time| {
        *span = Some(span.map_or((start, finish), |(first, last)| (first.min(start), last.max(finish))));
    };
    for attempt in own {
        if attempt.kind == TaskKind::Map {
            widen(&mut spans[0].1, attempt.start, attempt.finish);
            continue;
        }
        for interval in &attempt.intervals {
            match interval.phase {
                crate::Phase::Fetch => widen(&mut spans[1].1, interval.start, interval.finish),
                crate::Phase::Reduce => widen(&mut spans[2].1, interval.start, attempt.finish),
                _ => {}
            }
        }
    }
    let phase = |(name, span): (&'static str, Option<(Time, Time)>)| {
        span.map(|(start, finish)| Phase { name, start_s: seconds(start), end_s: seconds(finish) })
    };
    spans.into_iter().filter_map(phase).collect()
}

fn network(result: &RunResult) -> Vec<Count> {
    let Some(totals) = &result.network else { return Vec::new() };
    let mut counts = counts(NETWORK.labelled(Row::new(totals, result)));
    for count in counts.iter_mut().filter(|_| result.field.is_some()) {
        match count.label.as_str() {
            "hops" => "frames on the air".clone_into(&mut count.label),
            "lost on links" => "given up on the air".clone_into(&mut count.label),
            _ => {}
        }
    }
    counts
}

fn balance(law: &crate::Balance) -> Balance {
    Balance {
        what: law.what.clone(),
        holds: law.holds(),
        offered: law.offered,
        accounted: law.accounted.iter().map(|(label, value)| count(label, *value)).collect(),
    }
}

fn traffic(outcome: &crate::TrafficOutcome) -> Traffic {
    let all = outcome.completion_cdf.last().map_or(1.0, |(_, count)| *count as f64);
    let point = |(time, count): &(Time, u64)| (time.as_secs_f64(), *count as f64 / all);
    Traffic {
        name: outcome.name.clone(),
        begun: outcome.begun,
        completed: outcome.completed,
        delivered: outcome.delivered.get(),
        goodput: outcome.goodput.as_bps(),
        completion_p50_s: outcome.completion_p50.as_secs_f64(),
        completion_p95_s: outcome.completion_p95.as_secs_f64(),
        completion_p99_s: outcome.completion_p99.as_secs_f64(),
        completion_p999_s: outcome.completion_p999.map(Time::as_secs_f64),
        completion_max_s: outcome.completion_max.as_secs_f64(),
        completion: outcome.completion_cdf.iter().map(point).collect(),
        jain: outcome.jain,
    }
}

fn stalled(stall: &crate::Stall) -> Stalled {
    let waits = stall.waits.iter().map(|wait| Waits {
        who: wait.who.clone(),
        what: wait.what.clone(),
        since_s: seconds(wait.since),
    });
    Stalled { since_s: seconds(stall.since), waits: waits.collect() }
}

fn node_of_page(node: &crate::Node, number: u32, result: &RunResult) -> Node {
    // Nodes of which is known what they draw stand in order of their numbers.
    let energy = result.energy.as_ref().and_then(|energy| {
        let at = energy.nodes.binary_search_by_key(&number, |energy| energy.node).ok()?;
        energy.nodes.get(at)
    });
    Node {
        name: node.name.clone(),
        rack: node.rack,
        received: node.interface_received.get(),
        sent: node.interface_sent.get(),
        cpu_work_s: seconds(node.cpu_work),
        loads: node.load.iter().flat_map(NodeLoad::values).map(Bytes::get).collect(),
        energy: energy.map(drawn),
    }
}

fn imbalance(row: &crate::Imbalance) -> Imbalance {
    // To the thousandth: finer than is shown, and short in JSON.
    let short = |ratio: f64| (ratio * 1e3).round() / 1e3;
    Imbalance {
        label: row.words.to_owned(),
        max_over_mean: row.greatest_over_mean().map(short),
        variation: row.variation().map(short),
    }
}

fn drawn(energy: &crate::NodeEnergy) -> Drawn {
    // To the millijoule: more than is seen, and short in JSON.
    let joules = |energy: Energy| (energy.as_joules() * 1e3).round() / 1e3;
    Drawn {
        total_j: joules(energy.total()),
        idle_j: joules(energy.idle),
        screen_j: joules(energy.screen),
        cpu_j: joules(energy.processor),
        radio_j: joules(energy.radio),
        disks_j: energy.disks.map(joules),
        battery: energy.battery.map(|(whole, left)| left.as_joules() / whole.as_joules()),
        empty_s: energy.empty.map(seconds),
    }
}

fn attempts(result: &RunResult) -> Attempts {
    let mut out = Attempts { phase_at: vec![0], ..Attempts::default() };
    let tolerance = Time::from_ps(result.ended_at.as_ps() / INVISIBLE);
    for (i, attempt) in result.attempts.iter().enumerate() {
        let name = attempt.title();
        out.name.push(if result.jobs.len() > 1 { format!("job {} {name}", attempt.job + 1) } else { name });
        out.node.push(attempt.node);
        out.kind.push(u8::from(attempt.kind == TaskKind::Reduce));
        out.outcome.push(match attempt.state {
            AttemptState::Succeeded => 0,
            AttemptState::Failed => 1,
            AttemptState::Killed => 2,
            AttemptState::Running => 3,
        });
        out.speculative.push(u8::from(attempt.speculative));
        out.start_ms.push(milliseconds(attempt.start));
        out.end_ms.push(milliseconds(attempt.finish));
        out.bytes_in.push(attempt.input.get());
        out.bytes_out.push(attempt.output.get());
        for interval in joined(&attempt.intervals, tolerance) {
            out.phase_kind.push(phase_number(interval.phase));
            out.phase_start_ms.push(milliseconds(interval.start));
            out.phase_end_ms.push(milliseconds(interval.finish));
        }
        out.phase_at.push(out.phase_kind.len() as u32);
        if !attempt.reason.is_empty() {
            out.note.insert(i, attempt.reason.clone());
        }
    }
    out
}

/// Intervals with those of one phase joined where the gap between them could not be seen: a reducer may fetch thousands
/// of times.
fn joined(intervals: &[crate::Interval], tolerance: Time) -> Vec<crate::Interval> {
    let mut out: Vec<crate::Interval> = Vec::new();
    let mut last_of = [None; PHASE_KINDS];
    for interval in intervals {
        let last: &mut Option<usize> = &mut last_of[usize::from(phase_number(interval.phase))];
        match last.and_then(|i| out.get_mut(i)) {
            Some(earlier) if interval.start <= earlier.finish.saturating_add(tolerance) => {
                earlier.finish = earlier.finish.max(interval.finish);
            }
            _ => {
                *last = Some(out.len());
                out.push(*interval);
            }
        }
    }
    out
}

fn flows(result: &RunResult, carried: &connections::Carried) -> Flows {
    let payload = |flow: &crate::Flow| flow.bytes.get() + flow.bytes_back.get();
    let name = |node: u32| result.nodes.get(node as usize).map(|node| node.name.clone()).unwrap_or_default();
    let mut out = Flows { total: result.flow_count, ..Flows::default() };
    for flow in carried.rows.iter().filter_map(|number| result.flows.get(*number)) {
        // What counts is which way the payload went: a fetch is opened by its receiver.
        let (from, to) = if flow.bytes_back > flow.bytes { (flow.to, flow.from) } else { (flow.from, flow.to) };
        out.from.push(name(from));
        out.to.push(name(to));
        out.service.push(flow.service.clone());
        out.start_us.push(flow.start.as_us());
        out.end_us.push(flow.finish.unwrap_or(result.ended_at).as_us());
        out.end_kind.push(if flow.reset { 2 } else { u8::from(flow.finish.is_none()) });
        out.bytes.push(payload(flow));
        out.retransmissions.push(flow.retransmissions);
        out.timeouts.push(flow.timeouts);
        out.drops.push(flow.drops);
        let us = |time: Option<Time>| time.map_or(-1, |time| i64::try_from(time.as_us()).unwrap_or(i64::MAX));
        out.rtt_us.push(us(flow.rtt));
        out.least_rtt_us.push(us(flow.least_rtt));
        let (limit, share) = flow.limits.map_or((-1, 0.0), |limits| (limits.main().0 as i8, limits.main().1));
        out.limit.push(limit);
        out.limit_share.push((share * 1000.0).round() as u16);
        out.window_max.push(flow.window_max.get());
    }
    // Heartbeats and status calls are not what a completion time is asked of.
    let moves_data = |flow: &&crate::Flow| !matches!(flow.service.as_str(), "rpc" | "umbilical") && !flow.reset;
    let took = |flow: &crate::Flow| flow.finish.map(|finish| finish.saturating_sub(flow.start));
    let mut times: Vec<Time> = result.flows.iter().filter(moves_data).filter_map(took).collect();
    times.sort_unstable();
    let n = times.len();
    out.completed = n as u64;
    let points = n.min(COMPLETION_POINTS);
    let mut ranks: Vec<usize> = (1..=points).map(|k| (k * n).div_ceil(points)).collect();
    // The tail is what the even points are too coarse for.
    ranks.extend([0.995, 0.999].map(|part| (part * n as f64).ceil() as usize).into_iter().filter(|rank| *rank > 0));
    ranks.sort_unstable();
    ranks.dedup();
    out.completion = ranks.into_iter().map(|rank| (times[rank - 1].as_secs_f64(), rank as f64 / n as f64)).collect();
    out
}

/// The node that an event concerns: its own, or that at an end of its link.
pub fn node_of(event: &crate::Event, result: &RunResult) -> Option<u32> {
    let link = event.link.and_then(|link| result.links.get(link as usize));
    let at_link = link.and_then(|link| match (link.from, link.to) {
        (LinkEnd::Node(node), _) | (_, LinkEnd::Node(node)) => Some(node),
        _ => None,
    });
    event.node.or(at_link)
}

fn events(result: &RunResult) -> Vec<Happening> {
    // Attempts say themselves how they ended, in the Gantt and its table.
    let of_machines = result.events.iter().filter(|event| !event.kind.starts_with("attempt-"));
    of_machines
        .take(MOST_EVENTS)
        .map(|event| Happening {
            at_s: seconds(event.at),
            node: node_of(event, result).map_or(-1, i64::from),
            kind: event.kind.clone(),
            text: event.detail.clone(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::joined;
    use crate::{Interval, Phase};
    use units::Time;

    #[test]
    fn intervals_of_one_phase_join_over_gaps_that_cannot_be_seen() {
        let of = |phase, start, finish| Interval { phase, start: Time::from_ms(start), finish: Time::from_ms(finish) };
        let fetches = [
            of(Phase::Start, 0, 10),
            of(Phase::Fetch, 10, 20),
            of(Phase::Fetch, 15, 18),
            of(Phase::Merge, 19, 30),
            of(Phase::Fetch, 22, 40),
            of(Phase::Fetch, 50, 60),
        ];
        let want =
            [of(Phase::Start, 0, 10), of(Phase::Fetch, 10, 40), of(Phase::Merge, 19, 30), of(Phase::Fetch, 50, 60)];
        assert_eq!(joined(&fetches, Time::from_ms(3)), want);
    }
}
