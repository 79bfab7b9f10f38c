//! `trunkline import` of traces of many jobs, or of traffic.

use crate::args::Import;
use crate::failure::Failure;
use crate::screen::Screen;
use crate::table::Table;
use history::import::{Extent, ImportError, ImportedMany, Settings, Sources, all, coflows, workload};
use history::{coflow, swim};
use runs::{Error, Found};
use std::path::Path;
use units::Time;

/// Turns such a trace into a scenario. `cluster` is the name and text of the cluster's scenario.
pub fn import_many(
    args: &Import,
    file: &Path,
    bytes: &[u8],
    cluster: Option<(&str, &str)>,
) -> Result<ImportedMany, Failure> {
    let extent = extent(args, cluster);
    let wrong = |message: &dyn std::fmt::Display| Failure::Input(format!("{}: {message}", file.display()));
    let name = named(file);
    let imported = if coflow::is_coflow(bytes) {
        coflows(&name, &coflow::read(bytes).map_err(|error| wrong(&error))?, &extent)
    } else {
        workload(&name, &swim::read(bytes).map_err(|error| wrong(&error))?, &extent)
    };
    imported.map_err(|error| failure(file, error))
}

/// Turns all jobs of histories into one scenario. `settings` are those of each job.
pub fn import_all(
    args: &Import,
    file: &Path,
    found: &[Found],
    settings: Vec<Option<Settings>>,
    sources: &Sources,
) -> Result<ImportedMany, Failure> {
    let jobs: Vec<_> = found.iter().map(|found| &found.job).zip(settings).collect();
    all(&named(file), &jobs, sources, &extent(args, sources.cluster)).map_err(|error| failure(file, error))
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

fn failure(file: &Path, error: ImportError) -> Failure {
    match error {
        ImportError::Scenario(error) => Failure::Runs(Error::Scenario(error)),
        other => Failure::Input(format!("{}: {other}", file.display())),
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
    let mut table = Table::new(["assumed", "value", "why"]).of_texts().indented(2);
    for assumption in &imported.assumptions {
        table.row([assumption.key.clone(), assumption.value.clone(), assumption.why.clone()]);
    }
    if !imported.assumptions.is_empty() {
        text.push('\n');
        text.push_str(&table.shown(screen));
    }
    text
}
