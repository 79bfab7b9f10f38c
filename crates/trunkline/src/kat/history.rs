//! Histories of jobs: which of their files, laid out by key, would save which of their shuffles.

use super::{nodes, report};
use crate::emit;
use crate::failure::Failure;
use crate::interrupt::STOP;
use crate::kat_args::KatPlan;
use crate::screen::Screen;
use crate::table::Table;
use history::{JobHistory, Properties};
use runs::{Inputs, Which};
use serde_json::json;

/// What a job's counters and configuration say of placement.
struct Advice {
    id: String,
    files: String,
    /// Bytes that its reduces fetched.
    shuffle: f64,
    /// Pairs for each record.
    pairs: f64,
    /// Bytes between nodes that a layout by the map output's key saves.
    saved: f64,
    /// The key, or why there is none.
    key: Result<String, String>,
}

/// Says it of all jobs in the histories.
pub fn plan(args: &KatPlan) -> Result<(), Failure> {
    let inputs = Inputs::new(&STOP);
    let count = nodes(&inputs, &args.nodes)?.len() as f64;
    let found = inputs.jobs(&args.history, Which::All)?;
    let advice: Vec<Advice> = found
        .iter()
        .map(|found| {
            let properties = found.configuration.as_ref().map_or(&found.job.properties, |(_, properties)| properties);
            advise(&found.job, properties, count)
        })
        .collect();
    if args.json {
        let jobs: Vec<_> = advice
            .iter()
            .map(|job| {
                json!({ "job": job.id, "files": job.files, "shuffle_bytes": job.shuffle as u64,
                        "pairs_per_record": job.pairs, "saved_bytes": job.saved as u64,
                        "key": job.key.as_ref().ok(), "why_not": job.key.as_ref().err() })
            })
            .collect();
        return emit(&format!("{:#}\n", json!({ "schema": 1, "nodes": count as u64, "jobs": jobs })));
    }
    let screen = Screen::of_output();
    let mut table = Table::new(["job", "shuffle", "saved", "pairs a record", "files", "by key"]).of_texts();
    for job in &advice {
        let (Ok(key) | Err(key)) = &job.key;
        table.row([
            job.id.clone(),
            report::bytes(job.shuffle),
            report::bytes(job.saved),
            format!("{:.2}", job.pairs),
            job.files.clone(),
            key.clone(),
        ]);
    }
    emit(&table.shown(&screen))
}

fn advise(job: &JobHistory, properties: &Properties, nodes: f64) -> Advice {
    let counter = |name: &str| job.counters.count(name) as f64;
    let shuffle = counter("REDUCE_SHUFFLE_BYTES");
    let records = counter("MAP_INPUT_RECORDS");
    let pairs = if records > 0.0 { counter("MAP_OUTPUT_RECORDS") / records } else { 0.0 };
    let property = |name: &str| properties.get(name).unwrap_or_default();
    let files = property("mapreduce.input.fileinputformat.inputdir");
    let key = key_of(job, &property, shuffle, records, pairs);
    let saved = if key.is_ok() { shuffle * (nodes - 1.0) / nodes } else { 0.0 };
    let files = if files.is_empty() { "not recorded".to_owned() } else { files };
    Advice { id: job.id.clone(), files, shuffle, pairs, saved, key }
}

fn key_of(
    job: &JobHistory,
    property: &dyn Fn(&str) -> String,
    shuffle: f64,
    records: f64,
    pairs: f64,
) -> Result<String, String> {
    /// More pairs than this for each record, and whole records cannot stand with their keys.
    const ONE: f64 = 1.01;
    let short = |class: &str| class.rsplit('.').next().unwrap_or_default().to_owned();
    if job.reduces.is_empty() || shuffle == 0.0 {
        return Err("nothing is shuffled".to_owned());
    }
    if records == 0.0 {
        return Err("records are not counted".to_owned());
    }
    let partitioner = property("mapreduce.job.partitioner.class");
    if !partitioner.is_empty() && short(&partitioner) != "HashPartitioner" {
        return Err(format!("it partitions by {}, not by a hash of the key", short(&partitioner)));
    }
    if pairs > ONE {
        return Err(format!("{pairs:.1} keys a record, which can stand with one"));
    }
    let format = short(&property("mapreduce.job.inputformat.class"));
    let key = if format == "KeyValueTextInputFormat" { "first-tab" } else { "the key that its map emits" };
    let known = if partitioner.is_empty() { ", if it partitions by a hash (not recorded)" } else { "" };
    Ok(format!("{key}{known}"))
}
