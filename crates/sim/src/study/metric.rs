//! What is measured of a run: a path into its `result.json`, a figure of one of its links or of its clients, or a series.

use super::record::Measured;
use crate::results::{Client, Link, RunResult, to_json};
use serde_json::Value;
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
    // `result.json` is what the paths are documented by, so it is what they are read from.
    let summary: Value = serde_json::from_str(&to_json(result)).unwrap_or_default();
    let read = |path: &String| {
        let value = match path.split_once('.') {
            Some(("link", rest)) => of_link(result, rest),
            Some(("client", rest)) => of_clients(result, rest),
            Some(("series", rest)) => of_series(result, rest),
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
            Value::Object(object) => object.get(part),
            Value::Array(items) => part
                .parse()
                .ok()
                .and_then(|index: usize| items.get(index))
                .or_else(|| items.iter().find(|item| item.get("name").and_then(Value::as_str) == Some(part))),
            // What a run does not have is null, with all that would be in it.
            Value::Null => return Ok(Measured::Missing(())),
            _ => None,
        };
        value = inner.ok_or_else(|| format!("nothing is called `{part}`"))?;
    }
    match value {
        Value::Null => Ok(Measured::Missing(())),
        Value::Bool(holds) => Ok(Measured::Number(f64::from(*holds))),
        Value::Number(number) => Ok(Measured::Number(number.as_f64().unwrap_or(f64::NAN))),
        Value::Array(items) => {
            let numbers: Option<Vec<f64>> = items.iter().map(Value::as_f64).collect();
            numbers.map(Measured::List).ok_or_else(|| "it is a list of other things than numbers".to_owned())
        }
        Value::String(_) | Value::Object(_) => Err("it is not a number".to_owned()),
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
    let widened = |values: &[u32]| Measured::List(values.iter().map(|value| f64::from(*value)).collect());
    Ok(match field {
        "drops" => Measured::Number(link.drops as f64),
        "marks" => Measured::Number(link.marks as f64),
        "lost" => Measured::Number(link.lost as f64),
        "packets" => Measured::Number(link.packets as f64),
        "bytes" => Measured::Number(link.bytes.get() as f64),
        "utilisation" => Measured::Number(busy(link, result)),
        "queue_mean" => Measured::Number(link.queue_mean),
        "queue_max" => Measured::Number(link.queue_max as f64),
        "queue_series" => widened(&link.queue_packets),
        "drop_series" => widened(&link.drop_series),
        "utilisation_series" => Measured::List(link.utilisation.iter().map(|value| f64::from(*value)).collect()),
        other => return Err(format!("a link has no `{other}`: {}", LINK_FIELDS.join(", "))),
    })
}

const LINK_FIELDS: [&str; 11] = [
    "drops",
    "marks",
    "lost",
    "packets",
    "bytes",
    "utilisation",
    "queue_mean",
    "queue_max",
    "queue_series",
    "drop_series",
    "utilisation_series",
];

/// A figure of each node that opened connections of a traffic.
fn of_clients(result: &RunResult, path: &str) -> Result<Measured, String> {
    let Some((name, field)) = path.rsplit_once('.') else {
        return Err("a client's metric is written client.TRAFFIC.drops".to_owned());
    };
    let Some(traffic) = result.traffic.iter().find(|traffic| traffic.name == name) else {
        return Err(format!("no traffic is called `{name}`"));
    };
    let value: fn(&Client) -> f64 = match field {
        "bytes" => |client| client.bytes.get() as f64,
        "drops" => |client| client.drops as f64,
        "retransmissions" => |client| client.retransmissions as f64,
        "timeouts" => |client| client.timeouts as f64,
        "throughput_share" => |client| client.throughput_share,
        "drop_share" => |client| client.drop_share,
        other => {
            let known = "bytes, drops, retransmissions, timeouts, throughput_share, drop_share";
            return Err(format!("a client has no `{other}`: {known}"));
        }
    };
    Ok(Measured::List(traffic.clients.iter().map(value).collect()))
}

/// A sampled series of a traffic or a node, or of what the master node sends and receives.
fn of_series(result: &RunResult, path: &str) -> Result<Measured, String> {
    let Some((name, field)) = path.rsplit_once('.') else {
        return Err("a series is written series.TRAFFIC.goodput or series.NODE.cpu".to_owned());
    };
    let traffic = result.traffic.iter().find(|traffic| traffic.name == name);
    let node = result.nodes.iter().find(|node| node.name == name);
    // The step in which the run ends is shorter than the others: a rate over all of it would be too low.
    let whole = (result.ended_at.as_ps() / result.sample_interval.as_ps().max(1)) as usize;
    let master = result.master.as_ref().filter(|_| name == "master");
    let step = result.sample_interval.as_secs_f64().max(1e-12);
    let a_second = |counts: &[u32]| counts.iter().take(whole).map(|count| f64::from(*count) / step).collect();
    let shares = |values: &[f32]| values.iter().take(whole).map(|value| f64::from(*value)).collect();
    match (field, master) {
        ("pushed", Some(master)) => return Ok(Measured::List(a_second(&master.pushed_series))),
        ("zero_windows", Some(master)) => return Ok(Measured::List(a_second(&master.zero_window_series))),
        _ => {}
    }
    Ok(Measured::List(match (field, traffic, node) {
        ("goodput", Some(traffic), _) => shares(&traffic.goodput_series),
        ("window", Some(traffic), _) => {
            traffic.window_series.iter().take(whole).map(|value| f64::from(*value)).collect()
        }
        ("cpu", _, Some(node)) => shares(&node.cpu_utilisation),
        ("goodput" | "window", None, _) => return Err(format!("no traffic is called `{name}`")),
        ("cpu", _, None) => return Err(format!("no node is called `{name}`")),
        (other, ..) => {
            return Err(format!(
                "there is no series `{other}`: goodput, window, cpu, and of the master pushed, zero_windows"
            ));
        }
    }))
}

/// The part of the run in which a link transmitted.
fn busy(link: &Link, result: &RunResult) -> f64 {
    let length = result.ended_at.as_secs_f64();
    if length > 0.0 { link.rate.transmission_time(link.bytes).as_secs_f64() / length } else { 0.0 }
}
