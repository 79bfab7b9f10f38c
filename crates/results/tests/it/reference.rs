//! The tables of `docs/reference/results.md`, written from the declarations of figures.
//!
//!     TRUNKLINE_WRITE_DOCS=1 cargo test -p results --test it reference

use results::field::{FRAMES, POSITIONS};
use results::metrics::{Described, Doc, FIRST_VERSION};
use results::{
    ATTEMPTS, CLIENTS, CoflowOutcome, FLOWS, OCCUPANCY, QUEUES, RUN, RunResult, SAMPLES, SPARK_TASKS, SparkApplication,
    TrafficOutcome, tables,
};
use std::fmt::Write;

const MARK: &str = "<!-- From here on the page is written by the test `reference` of `results`. -->\n";

/// A kind of row, and its places in `result.json`.
pub struct Kind {
    pub of: &'static dyn Described,
    pub places: Vec<String>,
}

/// Every kind of row: those of `result.json` from the top down, then those that only tables have.
pub fn kinds() -> Vec<Kind> {
    let mut kinds = Vec::new();
    visit(&RUN, String::new(), &mut kinds);
    let others: [&'static dyn Described; 9] =
        [&ATTEMPTS, &SPARK_TASKS, &FLOWS, &CLIENTS, &QUEUES, &OCCUPANCY, &SAMPLES, &POSITIONS, &FRAMES];
    kinds.extend(others.map(|of| Kind { of, places: Vec::new() }));
    kinds
}

fn visit(of: &'static dyn Described, place: String, kinds: &mut Vec<Kind>) {
    let inner: Vec<_> = of.docs().iter().filter_map(|doc| Some((doc.key?, doc.inner?))).collect();
    let child = |key| if place.is_empty() { String::from(key) } else { format!("{place}.{key}") };
    let children: Vec<_> = inner.into_iter().map(|(key, of)| (child(key), of)).collect();
    match kinds.iter_mut().find(|kind| kind.of.name() == of.name()) {
        Some(kind) => kind.places.push(place),
        None => kinds.push(Kind { of, places: vec![place] }),
    }
    for (place, of) in children {
        visit(of, place, kinds);
    }
}

/// How studies name a row of a kind, and whether its numbers can be named so or its series alone.
fn in_studies(kind: &str) -> Option<(&'static str, bool)> {
    Some(match kind {
        "links" => ("link.FROM -> TO.", true),
        "clients" => ("client.TRAFFIC.", true),
        "traffic" => ("series.TRAFFIC.", false),
        "nodes" => ("series.NODE.", false),
        "disks" => ("series.DISK.", false),
        "master" => ("series.master.", false),
        "run" => ("series.all.", false),
        _ => return None,
    })
}

fn sentence(doc: &Doc) -> String {
    let since = if doc.since == FIRST_VERSION { String::new() } else { format!(" Since {}.", doc.since) };
    let inner =
        doc.inner.map_or(String::new(), |inner| format!(" See [{0}](#{1}).", inner.name(), anchor(inner.name())));
    format!("{}{inner}{since}", doc.what)
}

fn anchor(name: &str) -> String {
    name.replace(' ', "-")
}

fn name(name: Option<&str>) -> String {
    name.map_or(String::new(), |name| format!("`{name}`"))
}

/// A table of Markdown.
fn table(page: &mut String, head: &[&str], rows: &[Vec<String>]) {
    writeln!(page, "\n| {} |\n|{}", head.join(" | "), "---|".repeat(head.len())).unwrap();
    for row in rows {
        writeln!(page, "| {} |", row.join(" | ")).unwrap();
    }
}

fn section(page: &mut String, kind: &Kind) {
    let Kind { of, places } = kind;
    writeln!(page, "\n## {}\n\n{}", of.name(), of.what()).unwrap();
    let keys: Vec<_> = places.iter().filter(|place| !place.is_empty()).map(|place| format!("`{place}`")).collect();
    let mut stands = Vec::new();
    if !keys.is_empty() {
        stands.push(format!("in `result.json` under {}", keys.join(", ")));
    }
    stands.extend(of.file().map(|file| format!("as a row of `{file}.parquet`")));
    let studies = in_studies(of.name());
    stands.extend(studies.filter(|(_, numbers)| *numbers).map(|(prefix, _)| format!("in studies as `{prefix}…`")));
    if !stands.is_empty() {
        writeln!(page, "It stands {}.", stands.join("; ")).unwrap();
    }
    let (has_key, has_column) = (!places.is_empty(), of.file().is_some());
    let has_path = studies.is_some_and(|(_, numbers)| numbers);
    let docs = of.docs();
    let plain: Vec<_> = docs.iter().filter(|doc| !doc.is_series()).collect();
    let places = [("key", has_key), ("column", has_column), ("path", has_path)];
    let head: Vec<_> = places.iter().filter(|(_, has)| *has).map(|(head, _)| *head).chain(["unit", "what"]).collect();
    let row = |doc: &&Doc| {
        let names = [(doc.key, has_key), (doc.column, has_column), (doc.path, has_path)];
        let names = names.into_iter().filter(|(_, has)| *has).map(|(of, _)| name(of));
        names.chain([doc.unit.to_owned(), sentence(doc)]).collect()
    };
    table(page, &head, &plain.iter().map(row).collect::<Vec<_>>());
    let series: Vec<_> = docs.iter().filter(|doc| doc.is_series()).collect();
    if let (Some((prefix, _)), false) = (studies, series.is_empty()) {
        writeln!(page, "\nSeries, a value for each step of the samples:").unwrap();
        let row = |doc: &&Doc| {
            let path = doc.path.map(|path| format!("{prefix}{path}"));
            vec![name(path.as_deref()), name(doc.column), doc.unit.to_owned(), sentence(doc)]
        };
        table(page, &["path", "in `samples`", "unit", "what"], &series.iter().map(row).collect::<Vec<_>>());
    }
}

#[test]
fn the_reference_is_what_is_declared() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/results.md");
    let page = std::fs::read_to_string(&path).expect("docs/reference/results.md is part of the tree");
    let (by_hand, _) = page.split_once(MARK).expect("the mark after which the tables stand");
    let mut written = format!("{by_hand}{MARK}");
    for kind in kinds() {
        section(&mut written, &kind);
    }
    if std::env::var_os("TRUNKLINE_WRITE_DOCS").is_some() {
        std::fs::write(&path, &written).expect("written");
    }
    let page = std::fs::read_to_string(&path).expect("docs/reference/results.md is part of the tree");
    assert!(
        page == written,
        "docs/reference/results.md is out of date: TRUNKLINE_WRITE_DOCS=1 cargo test -p results --test it reference"
    );
}

#[test]
fn every_table_is_in_the_reference() {
    // Tables of wireless nodes, of coflows and of applications of Spark are written where there are some.
    let coflows = vec![CoflowOutcome::default()];
    let traffic = vec![TrafficOutcome { coflows, ..TrafficOutcome::default() }];
    let spark = Some(SparkApplication::default());
    let run = RunResult { field: Some(results::Field::default()), traffic, spark, ..RunResult::default() };
    let mut files: Vec<_> = kinds().iter().filter_map(|kind| kind.of.file()).collect();
    let mut written: Vec<_> = tables(&run).iter().map(|table| table.name).collect();
    files.sort_unstable();
    written.sort_unstable();
    assert_eq!(files, written);
}
