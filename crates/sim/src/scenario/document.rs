//! What a scenario may say, for editors and for people.

use super::Scenario;
use super::key::{Key, KeyDoc, Section};
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
         Sizes: B, KB, MB, GB, TB (powers of 1,000), KiB, MiB, GiB, TiB (powers of 1,024). Durations: ps, ns, us, ms, s, min, h, d. Rates: bit/s, Kbit/s, Mbit/s, Gbit/s, B/s, KB/s, MB/s, GB/s.\n\
         Any key may be set on the command line: `--set hdfs.block='64 MB'`, entries of a list by number: `--set network.shape.0.rate='50 Mbit/s'`.\n\n\
         `trunkline schema` prints the same as JSON Schema; this page is what `trunkline schema --reference` prints.\n",
    );
    section(&mut text, "Top level", None, rows.iter().filter(|row| !row.path.contains('.') && row.kind == "text"));
    for table in rows.iter().filter(|row| !row.path.contains('.') && row.kind != "text") {
        let list = table.kind.starts_with("list");
        let title = if list { format!("`[[{}]]`", table.path) } else { format!("`[{}]`", table.path) };
        let prefix = format!("{}.", table.path);
        let inside = rows.iter().filter(|row| row.path.starts_with(&prefix));
        section(&mut text, &title, Some((&prefix, &table.doc)), inside);
    }
    text
}

fn section<'a>(text: &mut String, title: &str, table: Option<(&str, &str)>, rows: impl Iterator<Item = &'a KeyDoc>) {
    let (prefix, doc) = table.unwrap_or_default();
    let _ = write!(text, "\n## {title}\n\n");
    if !doc.is_empty() {
        let _ = write!(text, "{doc}\n\n");
    }
    text.push_str("| key | default | kind and range | meaning |\n|---|---|---|---|\n");
    for row in rows {
        let key = row.path.trim_start_matches(prefix);
        let default = if row.default.is_empty() { String::new() } else { format!("`{}`", row.default) };
        let _ = writeln!(text, "| `{key}` | {default} | {} | {} |", row.kind.replace('|', "\\|"), row.doc);
    }
}
