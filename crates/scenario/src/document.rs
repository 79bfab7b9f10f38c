//! What a scenario may say, for editors and for people.

use super::key::{Key, KeyDoc, Section};
use super::{PowerDaemon, Scenario, StoragePlan};
use serde_json::{Value as Json, json};
use std::fmt::Write;

/// The JSON Schema of a scenario.
pub fn schema() -> Json {
    let mut schema = Scenario::schema(None);
    if let Json::Object(object) = &mut schema {
        object.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
        object.insert("title".to_owned(), json!("Trunkline scenario"));
    }
    schema
}

/// The reference of every key as Markdown: a table per section.
pub fn reference() -> String {
    let rows = Scenario::reference();
    let mut text = String::from(
        "# Scenario reference\n\n\
         One TOML file describes a run. Every key has a default; a value with a dimension is written with its unit.\n\
         Sizes: B, KB, MB, GB, TB (powers of 1,000), KiB, MiB, GiB, TiB (powers of 1,024). Durations: ps, ns, us, ms, \
         s, min, h, d. Rates: bit/s, Kbit/s, Mbit/s, Gbit/s, B/s, KB/s, MB/s, GB/s.\n\
         Any key may be set on the command line: `--set hdfs.block='64 MB'`, entries of a list by number: `--set \
         network.shape.0.rate='50 Mbit/s'`.\n\n\
         `trunkline schema` prints the same as JSON Schema; this page is what `trunkline schema --reference` prints.\n",
    );
    let (tables, texts): (Vec<_>, Vec<_>) =
        rows.iter().filter(|row| !row.path.contains('.')).partition(|row| is_table(row));
    section(&mut text, "Top level", "", texts.into_iter().cloned());
    for table in &tables {
        let list = table.kind.starts_with("list");
        let title = if list { format!("`[[{}]]`", table.path) } else { format!("`[{}]`", table.path) };
        section(&mut text, &title, &table.doc, collapsed(&rows, table, &tables).into_iter());
    }
    text
}

/// The reference of every key of a plan of `trunkline power plan`, as Markdown.
pub fn power_reference() -> String {
    let mut text = String::from(
        "# Plan of `trunkline power plan`\n\n\
         One TOML file describes the disks of a cluster, the requests of a day, and the policies to set side by side. \
         Values have units as in a [scenario](scenario.md). What the policies do, and by which source, is in \
         [energy.md](../models/energy.md#power-of-disks).\n",
    );
    tables(&mut text, &StoragePlan::reference(), true);
    text
}

/// The reference of every key of a configuration of `trunkline power daemon`, as Markdown.
pub fn power_daemon_reference() -> String {
    let mut text = String::from(
        "# Configuration of `trunkline power daemon`\n\n\
         One TOML file describes the backup disks of a machine and when they rest. Values have units as in a \
         [scenario](scenario.md). How to use it is in the [guide](../guide/power.md), what the policies do in \
         [energy.md](../models/energy.md#power-of-disks).\n",
    );
    tables(&mut text, &PowerDaemon::reference(), false);
    text
}

/// The keys at the top, then each table; `lists`: those that may be lists are shown as lists.
fn tables(text: &mut String, rows: &[KeyDoc], lists: bool) {
    let (tables, texts): (Vec<_>, Vec<_>) =
        rows.iter().filter(|row| !row.path.contains('.')).partition(|row| is_table(row));
    section(text, "Top level", "", texts.into_iter().cloned());
    for table in tables {
        let (path, inside) = (&table.path, inside(rows, table));
        let title =
            if lists || table.kind.starts_with("list") { format!("`[[{path}]]`") } else { format!("`[{path}]`") };
        section(text, &title, &table.doc, inside.into_iter());
    }
}

fn is_table(row: &KeyDoc) -> bool {
    matches!(row.kind.as_str(), "table" | "list of tables")
}

/// The rows inside a table, with paths from there.
fn inside(rows: &[KeyDoc], table: &KeyDoc) -> Vec<KeyDoc> {
    let prefix = format!("{}.", table.path);
    let strip = |row: &KeyDoc| Some(KeyDoc { path: row.path.strip_prefix(&prefix)?.to_owned(), ..row.clone() });
    rows.iter().filter_map(strip).collect()
}

/// The rows inside a table; a table in it that has the keys of a section, or of a table before, names that instead.
fn collapsed(rows: &[KeyDoc], table: &KeyDoc, sections: &[&KeyDoc]) -> Vec<KeyDoc> {
    let names = |rows: &[KeyDoc]| -> Vec<String> { rows.iter().map(|row| row.path.clone()).collect() };
    let mut known: Vec<(Vec<String>, String)> = sections
        .iter()
        .filter(|section| section.path != table.path)
        .map(|section| (names(&inside(rows, section)), format!("`[{}]`", section.path)))
        .collect();
    let all = inside(rows, table);
    let mut shown: Vec<KeyDoc> = Vec::new();
    let mut skip: Option<String> = None;
    for row in &all {
        if skip.as_ref().is_some_and(|prefix| row.path.starts_with(prefix)) {
            continue;
        }
        let mut row = row.clone();
        if is_table(&row) {
            let keys = names(&inside(&all, &row));
            if let Some((_, same)) = known.iter().find(|(known, _)| *known == keys) {
                row.kind = format!("{} as {same}", row.kind);
                skip = Some(format!("{}.", row.path));
            } else {
                known.push((keys, format!("`{}`", row.path)));
            }
        }
        shown.push(row);
    }
    shown
}

fn section(text: &mut String, title: &str, doc: &str, rows: impl Iterator<Item = KeyDoc>) {
    let _ = write!(text, "\n## {title}\n\n");
    if !doc.is_empty() {
        let _ = write!(text, "{doc}\n\n");
    }
    text.push_str("| key | default | kind and range | meaning |\n|---|---|---|---|\n");
    for row in rows {
        let default = if row.default.is_empty() { String::new() } else { format!("`{}`", row.default) };
        let _ = writeln!(text, "| `{}` | {default} | {} | {} |", row.path, row.kind, row.doc);
    }
}
