//! What the network and the masters' intervals cost.

use super::job::{JobView, Texts, mean, seconds};
use super::{Finding, Rule, Severity};
use crate::{CriticalSegment, Locality, Phase, TaskKind, Waiting};
use std::collections::BTreeMap;
use units::{Bytes, Time, many};

/// The part of the maps that read from their own node: Dr. Elephant's `node_locality_severity`.
const LOCAL: [f64; 4] = [0.5, 0.4, 0.3, 0.2];
/// Twice the mean time of the shuffle over that of the work after it: Dr. Elephant's `runtime_ratio_severity`.
const SHUFFLE: [f64; 4] = [1.0, 2.0, 4.0, 8.0];

pub const fn on_network(segment: &CriticalSegment) -> bool {
    segment.waiting.is_network()
}

/// Maps that read over the network.
pub fn locality(view: &JobView<'_>) -> Option<Finding> {
    let count = |of: Locality| view.maps.iter().filter(|map| map.attempt.locality == Some(of)).count();
    let (node, rack, remote) = (count(Locality::Node), count(Locality::Rack), count(Locality::Remote));
    let known = node + rack + remote;
    // Objects are near no node.
    if known == 0 || view.job.bytes.store_read.is_some() {
        return None;
    }
    let most = Severity::falling(node as f64 / known as f64, LOCAL)?;
    let far = |row: u32| view.attempt(row).locality.is_some_and(|locality| locality != Locality::Node);
    let cost = view.path(|segment| on_network(segment) && segment.attempt.is_some_and(far));
    let bytes: u64 = view.maps.iter().map(|map| map.attempt.remote.get()).sum();
    let worst = view.maps.iter().filter(|map| far(map.row)).max_by_key(|map| (view.on_path(map.row), map.took))?;
    let (property, key) = if view.is_yarn() {
        ("yarn.scheduler.capacity.node-locality-delay, dfs.replication", "mapreduce.locality-delay, hdfs.replication")
    } else {
        ("mapred.fairscheduler.locality.delay, dfs.replication", "mapreduce.locality-wait, hdfs.replication")
    };
    let texts = Texts {
        summary: format!("{node} of {} read their input from their own node.", many(known, "map")),
        evidence: format!(
            "{rack} read from their rack, {remote} from another, {:.1} over the network; {} took {}",
            Bytes::new(bytes),
            view.named(worst.row),
            seconds(worst.took)
        ),
        advice: format!(
            "Wait longer for a slot near the data, or keep more replicas. At most about {} less.",
            seconds(cost)
        ),
        property,
        key,
    };
    let found = view.finding(Rule::Locality, most, cost, texts)?;
    Some(Finding { attempt: Some(worst.row), ..found })
}

/// Reducers that wait for the network.
pub fn shuffle(view: &JobView<'_>) -> Option<Finding> {
    let fetched =
        |attempt: &crate::Attempt| attempt.intervals.iter().filter(|i| i.phase == Phase::Fetch).map(|i| i.finish).max();
    let ends: Vec<_> = view.reduces.iter().filter_map(|task| Some((task, fetched(task.attempt)?))).collect();
    // A reducer that starts once the maps are done fetches when its JVM is there.
    let started =
        |attempt: &crate::Attempt| attempt.intervals.iter().filter(|i| i.phase == Phase::Start).map(|i| i.finish).max();
    let from = |task: &super::job::Task<'_>| started(task.attempt).unwrap_or(task.attempt.start).max(view.maps_done);
    let shuffle = mean(ends.iter().map(|(task, end)| end.saturating_sub(from(task))));
    let work = mean(ends.iter().map(|(task, end)| task.attempt.finish.saturating_sub(*end)));
    let most = Severity::rising(2.0 * shuffle.as_secs_f64() / work.as_secs_f64().max(1e-3), SHUFFLE)?;
    let reduces = |row: u32| view.attempt(row).kind == TaskKind::Reduce;
    let fetches = |segment: &CriticalSegment| {
        on_network(segment)
            && segment.attempt.is_some_and(reduces)
            && segment.attempt.and_then(|row| fetched(view.attempt(row))).is_some_and(|end| segment.start < end)
    };
    let cost = view.path(fetches);
    let places = crate::page::places(&view.job.critical_path, view.run);
    let mut by_place: BTreeMap<&str, Time> = BTreeMap::new();
    for (segment, place) in view.job.critical_path.iter().zip(&places).filter(|(segment, _)| fetches(segment)) {
        *by_place.entry(place).or_default() += segment.finish - segment.start;
    }
    let place = by_place.into_iter().filter(|(place, _)| !place.is_empty()).max_by_key(|(_, time)| *time);
    let place = place.map(|(place, time)| format!("; most of it at {place}, {}", seconds(time))).unwrap_or_default();
    let parts = [
        (Waiting::Transfer, "the bytes took {} at the link's rate"),
        (Waiting::Queueing, "waiting elsewhere {}"),
        (Waiting::Recovery, "loss recovery {}"),
        (Waiting::TcpTimeout, "TCP timeouts {}"),
    ];
    let parts = parts.into_iter().filter_map(|(waiting, words)| {
        let time = view.path(|segment| fetches(segment) && segment.waiting == waiting);
        (time > Time::from_ms(5)).then(|| words.replace("{}", &seconds(time)))
    });
    let worst = view.reduces.iter().max_by_key(|task| (view.on_path(task.row), std::cmp::Reverse(task.row)))?;
    let start = start_of_reducers(view);
    let property = if start.is_some() {
        "mapreduce.map.output.compress, mapreduce.job.reduce.slowstart.completedmaps"
    } else {
        "mapreduce.map.output.compress"
    };
    let key = match (view.is_wireless(), start.is_some()) {
        (false, false) => "job.map-compression, job.combiner, network.rate",
        (false, true) => "job.map-compression, job.combiner, network.rate, mapreduce.slowstart",
        (true, false) => "job.map-compression, job.combiner, network.wifi.width, network.wifi.streams",
        (true, true) => {
            "job.map-compression, job.combiner, network.wifi.width, network.wifi.streams, mapreduce.slowstart"
        }
    };
    let (seen, advice) = start.unwrap_or_default();
    let texts = Texts {
        summary: format!("Reducers fetch for {} after the last map, and work {}, in the mean.", seconds(shuffle), {
            seconds(work)
        }),
        evidence: format!(
            "{:.1} crossed the network; on the longest chain {}{place}{seen}",
            view.job.bytes.shuffle_remote,
            parts.collect::<Vec<_>>().join(", "),
        ),
        advice: format!(
            "Less to move (a combiner, compressed map output), or a faster link there: at most {} less.{advice}",
            seconds(cost)
        ),
        property,
        key,
    };
    let found = view.finding(Rule::Shuffle, most, cost, texts)?;
    Some(Finding { attempt: Some(worst.row), ..found })
}

/// Reducers whose output waits for the network on its way to HDFS.
pub fn output(view: &JobView<'_>) -> Option<Finding> {
    // What goes to objects is told by the rule on their store.
    if view.scenario.job.get(view.number as usize).is_some_and(scenario::Job::writes_objects) {
        return None;
    }
    let writes = |row: u32| view.path_in_phases(row, &[Phase::Reduce, Phase::Write], on_network);
    let cost = view.reduces.iter().map(|task| writes(task.row)).sum();
    let worst = view.reduces.iter().max_by_key(|task| (writes(task.row), std::cmp::Reverse(task.row)))?;
    let places = crate::page::places(&view.job.critical_path, view.run);
    let mut by_place: BTreeMap<&str, Time> = BTreeMap::new();
    for (segment, place) in view.job.critical_path.iter().zip(&places) {
        if segment.attempt == Some(worst.row) && segment.source.is_none() && on_network(segment) {
            *by_place.entry(place).or_default() += segment.finish - segment.start;
        }
    }
    let place = by_place.into_iter().filter(|(place, _)| !place.is_empty()).max_by_key(|(_, time)| *time);
    let place = place.map(|(place, time)| format!(", {} of it at {place}", seconds(time))).unwrap_or_default();
    let texts = Texts {
        summary: format!("The job waited {} for the network to take its output.", seconds(cost)),
        evidence: format!(
            "{:.1} of output before replication; {} waited longest, {}{place}",
            view.job.bytes.written,
            view.named(worst.row),
            seconds(writes(worst.row))
        ),
        advice: format!(
            "Less to send (fewer replicas, compressed output), or a faster link there: at most {} less.",
            seconds(cost)
        ),
        property: "dfs.replication, mapreduce.output.fileoutputformat.compress",
        key: if view.is_wireless() {
            "job.output-replication, job.output-compression, network.wifi.width, network.wifi.streams"
        } else {
            "job.output-replication, job.output-compression, network.rate"
        },
    };
    let found = view.finding(Rule::Output, Severity::Critical, cost, texts)?;
    Some(Finding { attempt: Some(worst.row), ..found })
}

/// What speaks for another start of the reducers, and what to do about it; nothing where the run does not say it.
fn start_of_reducers(view: &JobView<'_>) -> Option<(String, &'static str)> {
    let reduces = view.attempts.iter().map(|row| view.attempt(*row)).filter(|attempt| attempt.kind == TaskKind::Reduce);
    let first: Vec<_> = reduces.filter(|attempt| attempt.attempt == 0).collect();
    if view.is_yarn() {
        // Maps and reducers share containers: reducers that start early go where maps leave room, and then share a link.
        // So nobody knows of late ones whether an earlier start would overlap or crowd them.
        let mut early: BTreeMap<u32, usize> = BTreeMap::new();
        for attempt in first.iter().filter(|attempt| attempt.start < view.maps_done) {
            *early.entry(attempt.node).or_default() += 1;
        }
        let (node, most) = early.into_iter().max_by_key(|(node, count)| (*count, std::cmp::Reverse(*node)))?;
        let share = first.len().div_ceil(view.workers() as usize);
        (most > share).then(|| {
            let node = view.node(node);
            let seen = format!("; {most} of {} began on {node} while maps ran", many(first.len(), "reducer"));
            (seen, " Reducers that start once the maps are done spread over the nodes.")
        })
    } else {
        // Slots of their own are free while the maps run, unless there are more reducers than slots.
        let mut ends: Vec<Time> = view.maps.iter().map(|map| map.attempt.finish).collect();
        ends.sort_unstable();
        // Of the first so many maps to end, the sum of when they did: jobs have millions of pairs of map and reducer.
        let sum = |sum: &mut f64, end: &Time| {
            *sum += end.as_secs_f64();
            Some(*sum)
        };
        let sums: Vec<f64> = std::iter::once(0.0).chain(ends.iter().scan(0.0, sum)).collect();
        let wait = mean(view.reduces.iter().map(|reduce| {
            let from = reduce.attempt.start.min(view.maps_done);
            let before = ends.partition_point(|end| *end < from);
            let waited = from.as_secs_f64() * before as f64 - sums[before];
            Time::from_secs_f64((waited / ends.len().max(1) as f64).max(0.0))
        }));
        let long = wait.as_secs_f64() >= Severity::SHARES[0] * view.length.as_secs_f64();
        (long && first.len() <= view.slots(TaskKind::Reduce) as usize).then(|| {
            let seen = format!("; map outputs waited {} for reducers, in the mean", seconds(wait));
            (seen, " Reducers that start earlier fetch while maps run.")
        })
    }
}

/// Time lost to retransmission timeouts.
pub fn tcp_timeouts(view: &JobView<'_>) -> Option<Finding> {
    let cost = view.path(|segment| segment.waiting == Waiting::TcpTimeout);
    let network = view.run.network?;
    let mut by_row: BTreeMap<u32, Time> = BTreeMap::new();
    for segment in view.job.critical_path.iter().filter(|segment| segment.waiting == Waiting::TcpTimeout) {
        if let Some(row) = segment.attempt {
            *by_row.entry(row).or_default() += segment.finish - segment.start;
        }
    }
    let (row, time) = by_row.into_iter().max_by_key(|(row, time)| (*time, std::cmp::Reverse(*row)))?;
    let texts = Texts {
        summary: format!("The longest chain of tasks stood still for {} in TCP's timeouts.", seconds(cost)),
        evidence: format!(
            "{} timeouts and {} segments sent again in the run, {} packets dropped; {} lost {}",
            network.timeouts,
            network.retransmissions,
            network.drops,
            view.named(row),
            seconds(time)
        ),
        advice: format!(
            "A lower minimum RTO (now {}), fewer fetches at once (now {}), or longer queues.",
            view.scenario.tcp.min_rto, view.scenario.mapreduce.parallel_copies
        ),
        property: "mapreduce.reduce.shuffle.parallelcopies",
        key: if view.is_wireless() {
            "tcp.min-rto, mapreduce.parallel-copies, network.wifi.queue"
        } else {
            "tcp.min-rto, mapreduce.parallel-copies, network.queue"
        },
    };
    let found = view.finding(Rule::TcpTimeouts, Severity::Critical, cost, texts)?;
    Some(Finding { attempt: Some(row), ..found })
}

/// Intervals of polling, outside of the spans in which a silent node was waited for.
pub fn heartbeats(view: &JobView<'_>, silent: &[(Time, Time)]) -> Option<Finding> {
    let polls = |segment: &CriticalSegment| segment.waiting == Waiting::Timeout;
    let explained =
        |segment: &CriticalSegment| silent.iter().any(|(from, to)| *from <= segment.start && segment.finish <= *to);
    let cost = view.path(polls).saturating_sub(view.path_within(silent, polls));
    let stretches = view.job.critical_path.iter().filter(|segment| polls(segment) && !explained(segment)).count();
    let settings = &view.scenario.mapreduce;
    let of_nodes = settings.heartbeat.unwrap_or(Time::from_ms(if view.is_yarn() { 1000 } else { 300 }));
    let masters = if view.is_yarn() { format!(", the AppMaster's {}", settings.am_heartbeat) } else { String::new() };
    let texts = Texts {
        summary: format!("Hadoop's own intervals take {}.", view.of_length(cost)),
        evidence: format!(
            "{} on the longest chain of tasks; a node's heartbeat comes every {of_nodes}{masters}",
            many(stretches, "such wait")
        ),
        advice: "Shorter intervals, or fewer tasks one after another.".to_owned(),
        property: if view.is_yarn() {
            "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms, \
             yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms"
        } else {
            "mapreduce.jobtracker.heartbeat.interval.min"
        },
        key: if view.is_yarn() { "mapreduce.heartbeat, mapreduce.am-heartbeat" } else { "mapreduce.heartbeat" },
    };
    view.finding(Rule::Heartbeats, Severity::Moderate, cost, texts)
}
