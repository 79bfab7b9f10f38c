//! Metrics of a run: a path into its `result.json`, a figure of a link or of a client, or a sampled series.
//!
//! The figures are declared in `results`.

use super::metric_path::unknown;
use super::record::Measured;
use results::metrics::{Metrics, Row};
use results::{CLIENTS, DISKS, JOBS, LINKS, MASTER, NODES, RUN, RunResult, TRAFFIC, Value, summary};
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;

/// A metric that a run does not have.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the run of {scenario} has no metric `{path}`: {reason}")]
pub struct MetricError {
    /// The metric.
    pub path: String,
    /// The scenario's name.
    pub scenario: String,
    /// What is missing.
    pub reason: String,
}

/// Reads every metric of a run.
pub fn measure(result: &RunResult, paths: &BTreeSet<String>) -> Result<BTreeMap<String, Measured>, MetricError> {
    let summary = summary(result);
    let read = |path: &String| {
        let value = match path.split_once('.') {
            Some(("link", rest)) => of_link(result, rest),
            Some(("client", rest)) => of_clients(result, rest),
            Some(("series", rest)) => of_series(result, rest).map(Measured::List),
            _ => of_summary(&summary, path),
        };
        let scenario = result.name.clone();
        let value = value.map_err(|reason| MetricError { path: path.clone(), scenario, reason })?;
        Ok((path.clone(), value))
    };
    paths.iter().map(read).collect()
}

/// A path by key; entries of a list by number or by their `name`.
fn of_summary(summary: &Value, path: &str) -> Result<Measured, String> {
    let mut value = summary;
    for part in path.split('.') {
        let inner = match value {
            Value::Object(_) => value.get(part),
            Value::List(items) => part
                .parse()
                .ok()
                .and_then(|index: usize| items.get(index))
                .or_else(|| items.iter().find(|item| item.get("name").and_then(Value::text) == Some(part))),
            // A part that the run does not have is null; so are all figures inside it.
            Value::Null => return Ok(Measured::Missing(())),
            _ => None,
        };
        value = inner.ok_or_else(|| format!("nothing is called `{part}`"))?;
    }
    measured(value)
}

fn measured(value: &Value) -> Result<Measured, String> {
    match value {
        Value::Text(_) | Value::Object(_) => Err("it is not a number".to_owned()),
        Value::List(items) => {
            let numbers: Option<Vec<f64>> = items.iter().map(Value::number).collect();
            numbers.map(Measured::List).ok_or_else(|| "it is a list of other things than numbers".to_owned())
        }
        value => Ok(value.number().map_or(Measured::Missing(()), Measured::Number)),
    }
}

fn of_link(result: &RunResult, path: &str) -> Result<Measured, String> {
    let Some((name, field)) = path.rsplit_once('.') else {
        return Err("a link's metric is written link.FROM -> TO.drops".to_owned());
    };
    let Some(link) = result.links.iter().find(|link| link.name == name) else {
        let near = units::nearest(name, result.links.iter().map(|link| link.name.as_str()));
        return Err(match near {
            Some(near) => format!("there is no link `{name}`, but a link `{near}`"),
            None => format!("there is no link `{name}`"),
        });
    };
    let unknown = || unknown(field, &LINKS.paths());
    measured(&LINKS.at_path(field).ok_or_else(unknown)?.value(Row::new(link, result)))
}

/// A figure of each node that opened connections of a traffic.
fn of_clients(result: &RunResult, path: &str) -> Result<Measured, String> {
    let Some((name, field)) = path.rsplit_once('.') else {
        return Err("a client's metric is written client.TRAFFIC.drops".to_owned());
    };
    let Some(traffic) = result.traffic.iter().find(|traffic| traffic.name == name) else {
        return Err(format!("no traffic is called `{name}`"));
    };
    let unknown = || unknown(field, &CLIENTS.paths());
    let metric = CLIENTS.at_path(field).ok_or_else(unknown)?;
    measured(&Value::List(traffic.clients.iter().map(|client| metric.value(Row::new(client, result))).collect()))
}

/// A sampled series of a traffic, a node, a job or a disk, of what the master node sends and receives, or of the whole
/// network.
fn of_series(result: &RunResult, path: &str) -> Result<Vec<f64>, String> {
    let Some((name, field)) = path.rsplit_once('.') else {
        return Err("a series is written series.TRAFFIC.goodput or series.NODE.cpu".to_owned());
    };
    let master = result.master.as_ref().filter(|_| name == "master");
    let all = Some(result).filter(|_| name == "all");
    let named = [
        of_row("master node", &MASTER, result, master, field),
        of_row("traffic", &TRAFFIC, result, result.traffic.iter().find(|traffic| traffic.name == name), field),
        of_row("node", &NODES, result, result.nodes.iter().find(|node| node.name == name), field),
        of_row("job", &JOBS, result, result.jobs.iter().find(|job| job.name == name), field),
        of_row("disk", &DISKS, result, result.disks.iter().find(|disk| disk.name == name), field),
        of_row("sum over all connections", &RUN, result, all, field),
    ];
    if let Some(steps) = named.iter().find_map(|of| of.steps.clone()) {
        return Ok(steps);
    }
    if let Some(of) = named.iter().rfind(|of| of.known.contains(&field)) {
        return Err(format!("no {} is called `{name}`", of.kind));
    }
    Err(unknown(field, &named.map(|of| of.known).concat()))
}

/// A series of one kind of row.
struct OfRow {
    kind: &'static str,
    /// All series of such rows.
    known: Vec<&'static str>,
    /// The whole steps of the series; `None` without such a row or series.
    steps: Option<Vec<f64>>,
}

fn of_row<T>(kind: &'static str, of: &Metrics<T>, run: &RunResult, row: Option<&T>, series: &str) -> OfRow {
    // The step in which the run ends is shorter than the others: a rate over all of it would be too low.
    let whole = (run.ended_at.as_ps() / run.sample_interval.as_ps().max(1)) as usize;
    let values = row.zip(of.series_at_path(series)).map(|(row, metric)| metric.value(Row::new(row, run)));
    let steps = values.map(|values| match values {
        Value::List(steps) => steps.iter().take(whole).filter_map(Value::number).collect(),
        _ => Vec::new(),
    });
    OfRow { kind, known: of.series(), steps }
}
