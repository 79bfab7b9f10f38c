//! Every figure of a run that is one value, by its path in `result.json`.

use crate::metrics::Described;
use crate::{RUN, RunResult, Value, summary};

/// A figure of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct FlatFigure {
    /// Its path: `job.finish_s`, `job.phases.fetch.start_s`, `traffic.0.goodput_bps`.
    pub path: String,
    /// Its unit.
    pub unit: &'static str,
    /// Its value: neither a list nor an object.
    pub value: Value,
}

/// What names the run, and what stands in its first job, too.
const LEFT_OUT_OF_RUN: [&str; 6] = ["schema", "name", "scenario_digest", "seed", "phases", "bytes"];
/// Lists that are as long as the cluster is large or the run is eventful, and what points into such.
const LEFT_OUT: [&str; 10] =
    ["links", "nodes", "disks", "bonds", "coflows", "events", "findings", "ledger", "stalled", "task_row"];
/// Lists whose entries have names of the program's; others are counted from 0.
const NAMED: [&str; 2] = ["phases", "servers"];
/// The most entries of a list.
const MOST: usize = 16;

/// The figures of the run as a whole, of its jobs and of its traffic, 16 of each at most. The first job is `job`, the
/// second `jobs.1`. Those of links, nodes and disks are in their tables.
pub fn flat(run: &RunResult) -> Vec<FlatFigure> {
    let mut figures = Vec::new();
    visit(&RUN, &summary(run), "", &mut figures);
    figures
}

fn visit(of: &dyn Described, value: &Value, place: &str, figures: &mut Vec<FlatFigure>) {
    for doc in of.docs() {
        let Some((key, value)) = doc.key.and_then(|key| Some((key, value.get(key)?))) else { continue };
        if LEFT_OUT.contains(&key) || place.is_empty() && LEFT_OUT_OF_RUN.contains(&key) {
            continue;
        }
        let path = if place.is_empty() { key.to_owned() } else { format!("{place}.{key}") };
        match (doc.inner, value) {
            (Some(inner), Value::List(items)) => {
                // The first of the jobs stands by itself.
                let first = usize::from(place.is_empty() && key == "jobs");
                for (number, item) in items.iter().enumerate().take(MOST).skip(first) {
                    let name = item.get("name").and_then(Value::text).filter(|_| NAMED.contains(&key));
                    let entry = name.map_or_else(|| number.to_string(), str::to_owned);
                    let path = format!("{path}.{entry}");
                    visit(inner, item, &path, figures);
                    if name.is_some() {
                        // Its path says it.
                        figures.retain(|figure| figure.path.strip_prefix(&path) != Some(".name"));
                    }
                }
            }
            (Some(inner), value) => visit(inner, value, &path, figures),
            (None, Value::Object(entries)) => {
                for (name, value) in entries {
                    push(format!("{path}.{name}"), doc.unit, value, figures);
                }
            }
            (None, Value::List(items)) => {
                for (number, value) in items.iter().enumerate().take(MOST) {
                    push(format!("{path}.{number}"), doc.unit, value, figures);
                }
            }
            (None, value) => push(path, doc.unit, value, figures),
        }
    }
}

fn push(path: String, unit: &'static str, value: &Value, figures: &mut Vec<FlatFigure>) {
    if !matches!(value, Value::List(_) | Value::Object(_)) {
        figures.push(FlatFigure { path, unit, value: value.clone() });
    }
}

/// The unit of the figure at a path in `result.json`; of a link, a client or a series, of that.
pub fn unit_of(path: &str) -> Option<&'static str> {
    if let Some((of, rest)) = path.split_once('.').filter(|(of, _)| matches!(*of, "link" | "client" | "series")) {
        let (_, figure) = rest.rsplit_once('.')?;
        let units = match of {
            "link" => vec![crate::LINKS.unit(figure)],
            "client" => vec![crate::CLIENTS.unit(figure)],
            _ => [
                crate::MASTER.unit(figure),
                crate::TRAFFIC.unit(figure),
                crate::NODES.unit(figure),
                crate::DISKS.unit(figure),
                RUN.unit(figure),
            ]
            .to_vec(),
        };
        return units.into_iter().find(|unit| !unit.is_empty());
    }
    let mut rows: &dyn Described = &RUN;
    let mut unit = None;
    for part in path.split('.') {
        if let Some(doc) = rows.docs().into_iter().find(|doc| doc.key == Some(part)) {
            match doc.inner {
                Some(inner) => rows = inner,
                None => unit = Some(doc.unit),
            }
        }
    }
    unit
}
