//! The table of a sweep: a row for each run.

use crate::axis::Kind;
use crate::plan::Plan;
use crate::record::{Measured, Record};
use crate::varied::SweptValue;
use results::{Column, Table};
use serde_json::{Map, json};
use std::collections::BTreeMap;

/// The name of a key's column; keys and figures share names.
fn column_name(key: &str) -> String {
    format!("set.{key}")
}

/// A row for each run, in the order of the plan: the run, its seed, its keys, and all its figures. A key whose values
/// are quantities has a column of their texts and one of numbers in SI units, `set.network.rate_bps`. The file's
/// metadata `units` says the unit of every column that has one.
pub fn table(plan: &Plan, records: &[Record]) -> Table {
    let all: Vec<usize> = (0..plan.runs.len()).collect();
    table_of(plan, &all, records)
}

/// The rows of some runs, by their positions in the plan. A figure that none of them has is no column.
pub(crate) fn table_of(plan: &Plan, positions: &[usize], records: &[Record]) -> Table {
    let runs = || positions.iter().map(|position| &plan.runs[*position]);
    let mut columns: Vec<(String, Column)> = vec![
        ("run".to_owned(), Column::Text(runs().map(|run| run.name.clone()).collect())),
        ("point".to_owned(), Column::Integer(runs().map(|run| run.point as i64).collect())),
        ("seed".to_owned(), Column::Integer(runs().map(|run| i64::try_from(run.seed).unwrap_or(i64::MAX)).collect())),
        ("scenario_digest".to_owned(), Column::Text(runs().map(|run| run.digest.clone()).collect())),
    ];
    let mut units: Map<String, serde_json::Value> = Map::new();
    let points: Vec<_> = (0..plan.points()).map(|point| plan.values(point)).collect();
    for (place, key) in points.first().into_iter().flatten().map(|(key, _)| key).enumerate() {
        let kind = Kind::of(&key.values);
        let name = column_name(&key.key);
        let value = |point: usize| points[point][place].1;
        let texts = || Column::Text(runs().map(|run| value(run.point).text.clone()).collect());
        let numbers = || {
            let number = |value: &SweptValue| kind.number(value);
            Column::OptionalFloat(runs().map(|run| number(value(run.point))).collect())
        };
        match kind {
            Kind::Words => columns.push((name, texts())),
            Kind::Numbers => columns.push((name, numbers())),
            Kind::Packets => {
                units.insert(format!("{name}_packets"), "packets".into());
                columns.push((name.clone(), texts()));
                columns.push((format!("{name}_packets"), numbers()));
            }
            Kind::Of(quantity) => {
                let (suffix, _) = quantity.column();
                let number = format!("{name}{suffix}");
                units.insert(number.clone(), quantity.si().into());
                columns.push((name, texts()));
                columns.push((number, numbers()));
            }
        }
    }
    let failures = records.iter().map(|record| record.failure.clone().unwrap_or_default());
    columns.push(("failure".to_owned(), Column::Text(failures.collect())));
    for (path, unit) in figures(records) {
        if let Some(column) = of_figure(records, path) {
            if !matches!(unit, "" | "text" | "yes or no" | "number") {
                units.insert(path.to_owned(), unit.into());
            }
            columns.push((path.to_owned(), column));
        }
    }
    let about = vec![
        ("schema".to_owned(), "trunkline-sweep-table/1".to_owned()),
        ("sweep".to_owned(), plan.sweep.title().to_owned()),
        ("build".to_owned(), plan.build.clone()),
        ("units".to_owned(), json!(units).to_string()),
    ];
    Table::of("sweep", columns, about)
}

/// Paths and units of all figures, in the order of the first run that has each.
fn figures(records: &[Record]) -> Vec<(&str, &str)> {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut figures: Vec<(&str, &str)> = Vec::new();
    for figure in records.iter().flat_map(|record| &record.figures) {
        places.entry(&figure.path).or_insert_with(|| {
            figures.push((&figure.path, &figure.unit));
            figures.len()
        });
    }
    figures
}

/// The column of a figure; none of one that no run has.
fn of_figure(records: &[Record], path: &str) -> Option<Column> {
    let values: Vec<&Measured> = records
        .iter()
        .map(|record| record.figure(path).map_or(&Measured::Missing(()), |figure| &figure.value))
        .collect();
    let first = values.iter().find(|value| !matches!(value, Measured::Missing(())))?;
    Some(match first {
        Measured::Text(_) => {
            let text = |value: &&Measured| if let Measured::Text(text) = value { text.clone() } else { String::new() };
            Column::Text(values.iter().map(text).collect())
        }
        Measured::Flag(_) => {
            let flag = |value: &&Measured| if let Measured::Flag(flag) = value { Some(*flag) } else { None };
            Column::OptionalFlag(values.iter().map(flag).collect())
        }
        Measured::Number(_) | Measured::Missing(()) => {
            let number = |value: &&Measured| if let Measured::Number(number) = value { Some(*number) } else { None };
            Column::OptionalFloat(values.iter().map(number).collect())
        }
    })
}
