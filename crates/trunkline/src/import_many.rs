//! `trunkline import` of traces of many jobs, or of traffic.

use crate::args::Import;
use crate::failure::Failure;
use crate::screen::Screen;
use crate::table::Table;
use history::import::{Extent, ImportError, ImportedMany, Sources, all, coflows, workload};
use history::{JobHistory, coflow, swim};
use runs::Error;
use std::path::Path;
use units::Time;

/// Whether a file is such a trace.
pub fn is_many(bytes: &[u8]) -> bool {
    swim::is_swim(bytes) || coflow::is_coflow(bytes)
}

/// Turns such a trace into a scenario. `cluster` is the name and text of the cluster's scenario.
pub fn import_many(args: &Import, bytes: &[u8], cluster: Option<(&str, &str)>) -> Result<ImportedMany, Failure> {
    let extent = extent(args, cluster);
    let wrong = |message: &dyn std::fmt::Display| Failure::Input(format!("{}: {message}", args.file.display()));
    let name = named(&args.file);
    let imported = if coflow::is_coflow(bytes) {
        coflows(&name, &coflow::read(bytes).map_err(|error| wrong(&error))?, &extent)
    } else {
        workload(&name, &swim::read(bytes).map_err(|error| wrong(&error))?, &extent)
    };
    imported.map_err(|error| failure(args, error))
}

/// Turns all jobs of histories into one scenario.
pub fn import_all(args: &Import, jobs: &[JobHistory], sources: &Sources) -> Result<ImportedMany, Failure> {
    let extent = extent(args, sources.cluster);
    all(&named(&args.file), jobs, sources, &extent).map_err(|error| failure(args, error))
}

fn extent<'a>(args: &Import, cluster: Option<(&'a str, &'a str)>) -> Extent<'a> {
    Extent {
        cluster,
        nodes: args.nodes,
        recorded_nodes: args.recorded_nodes,
        from: args.from.unwrap_or(Time::ZERO),
        length: args.length,
    }
}

fn failure(args: &Import, error: ImportError) -> Failure {
    match error {
        ImportError::Scenario(error) => Failure::Runs(Error::Scenario(error)),
        other => Failure::Input(format!("{}: {other}", args.file.display())),
    }
}

/// The scenario's name: the trace's file, without what says how it is written.
fn named(file: &Path) -> String {
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let stem = [".gz", ".zst", ".bz2", ".tsv", ".txt", ".json", ".jhist"]
        .iter()
        .fold(name.as_str(), |name, end| name.strip_suffix(end).filter(|stem| !stem.is_empty()).unwrap_or(name));
    if stem == "-" { "workload".to_owned() } else { stem.to_owned() }
}

/// What was imported, and what the trace does not say, for standard error.
pub fn said(imported: &ImportedMany, screen: &Screen) -> String {
    let mut text = String::new();
    for sentence in &imported.heading {
        text.push_str(&screen.wrapped(sentence, 0));
        text.push('\n');
    }
    let mut table = Table::new(["assumed", "value", "because"]).of_texts().indented(2);
    for assumption in &imported.assumptions {
        table.row([assumption.what.clone(), assumption.value.clone(), assumption.why.clone()]);
    }
    if !imported.assumptions.is_empty() {
        text.push('\n');
        text.push_str(&table.shown(screen));
    }
    text
}
