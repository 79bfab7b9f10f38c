//! A run that re-does a recorded job, beside the record.

use super::data::{Comparison, ComparisonRow};
use crate::object_store::REQUESTS;
use crate::{AttemptState, Phase, RunResult, TaskKind};
use history::import::{Counted, Hosts};
use history::{Attempt, JobHistory, Task};
use units::Time;

/// What both sides tell of a job: seconds, from launch on where they are instants; none where a side does not tell.
#[derive(Default)]
struct Figures {
    job: Option<f64>,
    last_map: Option<f64>,
    mean_map: Option<f64>,
    last_shuffle: Option<f64>,
    mean_shuffle: Option<f64>,
    mean_reduce: Option<f64>,
    map_output: Option<f64>,
    shuffled: Option<f64>,
    received: Option<f64>,
    sent: Option<f64>,
}

impl Comparison {
    /// The run's first job beside the history of the job that it re-does; and what went through the interfaces of the
    /// workers that the history names, and what an object store was asked, beside what was counted there in its run, as
    /// far as it was.
    pub fn with_actual(result: &RunResult, history: &JobHistory, beside: &Counted, note: &str) -> Self {
        let (mut predicted, mut actual) = (simulated(result), recorded(history));
        let hosts = Hosts::of(history, Some(result.nodes.len().saturating_sub(1) as u32));
        let counted =
            || beside.interfaces.iter().filter_map(|interface| Some((interface, hosts.number(&interface.host)?)));
        for (interface, number) in counted() {
            let Some(node) = result.nodes.get(number as usize) else { continue };
            let add = |sum: &mut Option<f64>, bytes: u64| *sum = Some(sum.unwrap_or_default() + bytes as f64);
            add(&mut predicted.received, node.interface_received.get());
            add(&mut predicted.sent, node.interface_sent.get());
            add(&mut actual.received, interface.received);
            add(&mut actual.sent, interface.sent);
        }
        let row = |name: &str, unit, predicted: Option<f64>, actual: Option<f64>| {
            let (predicted, actual) = (predicted?, actual?);
            Some(ComparisonRow { name: name.to_owned(), unit, predicted, actual, interval: None })
        };
        let rows = [
            row("job, launch to finish", "s", predicted.job, actual.job),
            row("last map done, from launch", "s", predicted.last_map, actual.last_map),
            row("a map, mean", "s", predicted.mean_map, actual.mean_map),
            row("last shuffle done, from launch", "s", predicted.last_shuffle, actual.last_shuffle),
            row("a reducer's shuffle, mean", "s", predicted.mean_shuffle, actual.mean_shuffle),
            row("a reducer after its shuffle, mean", "s", predicted.mean_reduce, actual.mean_reduce),
            row("map output", "B", predicted.map_output, actual.map_output),
            row("bytes shuffled", "B", predicted.shuffled, actual.shuffled),
            row("workers' interfaces, received", "B", predicted.received, actual.received),
            row("workers' interfaces, sent", "B", predicted.sent, actual.sent),
        ];
        let rows = rows.into_iter().flatten().chain(of_store(result, beside)).collect();
        Self { title: "Predicted beside recorded".to_owned(), note: note.to_owned(), rows }
    }
}

/// What went through the object store's interface, and what it was asked.
fn of_store(result: &RunResult, beside: &Counted) -> Vec<ComparisonRow> {
    let Some(store) = &result.object_store else { return Vec::new() };
    let row = |name: String, unit, predicted: u64, actual: u64| ComparisonRow {
        name,
        unit,
        predicted: predicted as f64,
        actual: actual as f64,
        interval: None,
    };
    let mut rows = Vec::new();
    if let Some(interface) = beside.interfaces.iter().find(|interface| interface.host == crate::STORE_NAME) {
        for (way, predicted, actual) in [
            ("received", store.interface_received.get(), interface.received),
            ("sent", store.interface_sent.get(), interface.sent),
        ] {
            rows.push(row(format!("the object store's interface, {way}"), "B", predicted, actual));
        }
    }
    if !beside.store_requests.is_empty() {
        for (kind, predicted) in &store.requests {
            let actual = beside.store_requests.iter().find(|(known, _)| known == kind).map_or(0, |(_, count)| *count);
            if actual.max(*predicted) > 0 {
                rows.push(row(format!("requests to the object store, {kind}"), REQUESTS, *predicted, actual));
            }
        }
    }
    rows
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0_u32), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

fn latest(values: impl Iterator<Item = f64>) -> Option<f64> {
    values.max_by(f64::total_cmp)
}

fn recorded(history: &JobHistory) -> Figures {
    let since = |from: i64, to: i64| (to - from) as f64 / 1e3;
    let launched = |ms: i64| since(history.launch_ms, ms);
    let maps: Vec<&Attempt> = history.maps.iter().filter_map(Task::successful).collect();
    let reduces: Vec<&Attempt> = history.reduces.iter().filter_map(Task::successful).collect();
    let took = |a: &&Attempt| Some(since(a.start_ms?, a.finish_ms?));
    let counted = |name| history.counters.get(name).map(|bytes| bytes as f64);
    Figures {
        job: history.finish_ms.map(launched),
        last_map: latest(maps.iter().filter_map(|a| a.finish_ms.map(launched))),
        mean_map: mean(maps.iter().filter_map(took)),
        last_shuffle: latest(reduces.iter().filter_map(|a| a.shuffle_finish_ms.map(launched))),
        mean_shuffle: mean(reduces.iter().filter_map(|a| Some(since(a.start_ms?, a.shuffle_finish_ms?)))),
        mean_reduce: mean(reduces.iter().filter_map(|a| Some(since(a.shuffle_finish_ms?, a.finish_ms?)))),
        map_output: counted("MAP_OUTPUT_MATERIALIZED_BYTES"),
        shuffled: counted("REDUCE_SHUFFLE_BYTES"),
        ..Figures::default()
    }
}

fn simulated(result: &RunResult) -> Figures {
    let Some(job) = result.jobs.first() else { return Figures::default() };
    let launch = job.launch.unwrap_or(job.submit);
    let since = |from: Time, to: Time| to.saturating_sub(from).as_secs_f64();
    let launched = |time: Time| since(launch, time);
    let done = |kind: TaskKind| {
        let own = move |a: &&crate::Attempt| a.job == 0 && a.kind == kind && a.state == AttemptState::Succeeded;
        result.attempts.iter().filter(own)
    };
    // The shuffle is over when the last map output is in.
    let fetched = |a: &crate::Attempt| {
        a.intervals.iter().filter(|interval| interval.phase == Phase::Fetch).map(|interval| interval.finish).max()
    };
    let reduces = || done(TaskKind::Reduce).filter_map(|a| Some((a, fetched(a)?)));
    let bytes = &job.bytes;
    Figures {
        job: job.finish.map(launched),
        last_map: latest(done(TaskKind::Map).map(|a| launched(a.finish))),
        mean_map: mean(done(TaskKind::Map).map(|a| since(a.launched(), a.finish))),
        last_shuffle: latest(reduces().map(|(_, at)| launched(at))),
        mean_shuffle: mean(reduces().map(|(a, at)| since(a.launched(), at))),
        mean_reduce: mean(reduces().map(|(a, at)| since(at, a.finish))),
        map_output: Some(bytes.map_output.get() as f64),
        shuffled: Some((bytes.shuffle_local + bytes.shuffle_remote).get() as f64),
        ..Figures::default()
    }
}
